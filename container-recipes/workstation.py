"""OSU Micro-Benchmarks with MPICH {mpich}, for a Linux machine without special network

Contents:
  Debian 12 with Python 3
  MPICH {mpich} with libfabric {libfabric} (PyPI wheel), in /opt/mpich
  {osu}

Building, in the top folder of the repository, with the sources in sources/:
  Apptainer      container-recipes/build     (fetches the sources, checks them and makes the base)
  or by hand     apptainer build --fakeroot osu.sif container-recipes/rendered/{name}.def
    a registry is not reached: make a folder with Debian 12 and Python 3, for example by mmdebstrap, and add
                 --build-arg BOOTSTRAP=localimage --build-arg BASE=FOLDER
  Docker         docker build -f container-recipes/rendered/{name}.Dockerfile -t osu .

Running, two ranks on two nodes:
  as modules     module load osu-container/pure; srun -N2 -n2 osu_bw H H
  by hand        srun -N2 -n2 --mpi=pmi2 apptainer exec osu.sif {latency}
"""
# ruff: noqa: F821  HPCCM provides USERARG, Stage0 and Stage1
import os
import sys

import hpccm

# HPCCM runs a recipe by exec: the path of this folder is known to its include only.
sys.path.insert(0, os.path.abspath(hpccm.include.prepend_path or '.'))

import common  # noqa: E402
from versions import DEBIAN, DEFAULT_MPICH, MPICH_LIBFABRIC, SOURCES  # noqa: E402

mpich = USERARG.get('mpich', DEFAULT_MPICH)
osu = USERARG.get('osu', 'c')
if mpich not in MPICH_LIBFABRIC:
    raise ValueError(f"mpich={mpich}: no such wheel in versions.py, known are {', '.join(MPICH_LIBFABRIC)}")
if osu not in ('c', 'mpi4py'):
    raise ValueError(f"osu={osu}: must be c (the C programs) or mpi4py (its ports of them)")

python = DEBIAN['python']
bases = {'BOOTSTRAP': 'docker', 'BASE': DEBIAN['image']}
if osu == 'c':
    latency = '/opt/osu/libexec/osu-micro-benchmarks/mpi/pt2pt/osu_latency'
    contents = f"OSU Micro-Benchmarks {SOURCES['osu']['version']}, built in C, in /opt/osu"
    osu_label, licence = f"{SOURCES['osu']['version']} C", SOURCES['osu']['licence']
else:
    latency = '/opt/osu/bin/osu_latency'
    contents = f"mpi4py {SOURCES['mpi4py-source']['version']} and its ports of the OSU Micro-Benchmarks, in /opt/osu"
    osu_label, licence = f"mpi4py {SOURCES['mpi4py-source']['version']} ports", SOURCES['mpi4py-source']['licence']
licences = ' AND '.join(sorted({*SOURCES[f'mpich-{mpich}']['licence'].split(' AND '), licence}))

Stage0 += hpccm.primitives.comment(__doc__.strip().format(
    mpich=mpich, libfabric=MPICH_LIBFABRIC[mpich], osu=contents, latency=latency,
    name=f"workstation-mpich-{mpich}{'' if osu == 'c' else '-mpi4py'}"), reformat=False)

# Build stage: what is only needed to build stays here.
Stage0 += common.debian('build')
if osu == 'c':
    Stage0 += common.arguments(OSU_SHA256=SOURCES['osu']['sha256'], **bases)
    Stage0 += common.debian_packages('g++', ['gcc', 'g++', 'libc6-dev', 'make', 'python3'])
    Stage0 += common.files(f'mpich-{mpich}', 'osu')
    Stage0 += common.mpich_from_wheel(mpich)
    Stage0 += common.osu_in_c(common.argument('OSU_SHA256', SOURCES['osu']['sha256']))
else:
    Stage0 += common.arguments(**bases)
    Stage0 += common.debian_packages('python3', ['python3'])
    Stage0 += common.files(f'mpich-{mpich}', 'mpi4py-source', f'mpi4py-{python}',
                           also=['easyconfigs/o/osu-native/osu-port'])
    Stage0 += common.mpich_from_wheel(mpich)
    Stage0 += common.osu_ports(python)

# Runtime stage
Stage1 += common.debian('runtime')
Stage1 += common.arguments(**({'OSU': osu_label} if osu == 'c' else {}), **bases)
Stage1 += hpccm.primitives.copy(_from='build', files={'/opt/mpich': '/opt/mpich', '/opt/osu': '/opt/osu'})
Stage1 += common.debian_packages('python3', ['python3'])
Stage1 += common.library_path()
Stage1 += common.creation_time()
Stage1 += common.labels(mpich, common.argument('OSU', osu_label) if osu == 'c' else osu_label, licences)
if osu == 'c':
    Stage1 += common.test(mpich, "/opt/osu/libexec -type f -name 'osu_*'", f'{latency} -m 1:8 -i 10 -x 2')
else:
    Stage1 += common.test(mpich, "/opt/osu/lib/python/mpi4py -name 'MPI.mpich.*.so'", f'{latency} -m 8 -i 10 -x 2')
