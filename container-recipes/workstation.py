"""OSU Micro-Benchmarks with MPICH {mpich}, for a Linux machine without special network

Contents:
  Debian {number} with Python 3
  MPICH {mpich} with libfabric {libfabric} ({origin}), in /opt/mpich
  {osu}
{note}
Building, in the top folder of the repository:
  ours           bin/osu-container image build {name}
  or by hand, with the sources in sources/ (bin/osu-container image fetch {name}):
  the file       bin/osu-container image recipe {name} --osu {kind}, with --docker the Dockerfile
  Apptainer      apptainer build --fakeroot osu.sif THIS_FILE
  SingularityCE  singularity build osu.sif THIS_FILE, by an ordinary user, with proot on PATH
    a registry is not reached: make a folder with Debian {number} and Python 3, for example by mmdebstrap, and add
                 --build-arg BOOTSTRAP=localimage --build-arg BASE=FOLDER
  Docker         docker build -f THIS_FILE -t osu .

Running, two ranks on two nodes:
  as modules     module load osu-container/pure; srun -N2 -n2 osu_bw H H
  by hand        srun -N2 -n2 --mpi=pmi2 apptainer exec osu.sif {latency}
"""
# ruff: noqa: F821  HPCCM provides USERARG, Stage0 and Stage1
import hpccm

from osu_container.recipes import common
from osu_container.recipes.versions import (
    DEBIAN,
    DEFAULT_DEBIAN,
    DEFAULT_MPICH,
    LIBFABRIC_HAS,
    MPICH_LIBFABRIC,
    MPICH_NEEDS,
    SOURCES,
    newer,
)

mpich = USERARG.get('mpich', DEFAULT_MPICH)
osu = USERARG.get('osu', 'c')
if mpich not in MPICH_LIBFABRIC:
    raise ValueError(f"mpich={mpich}: no such wheel in versions.py, known are {', '.join(MPICH_LIBFABRIC)}")
if osu not in ('c', 'mpi4py'):
    raise ValueError(f"osu={osu}: must be c (the C programs) or mpi4py (its ports of them)")
of_debian = {facts['libfabric']: release for release, facts in DEBIAN.items()}
libfabric = USERARG.get('libfabric', MPICH_LIBFABRIC[mpich])
of_wheel = libfabric == MPICH_LIBFABRIC[mpich]
if not of_wheel and libfabric not in of_debian:
    raise ValueError(f"libfabric={libfabric}: must be {MPICH_LIBFABRIC[mpich]} (of the wheel) or one of Debian's: "
                     f"{', '.join(of_debian)}")
release = DEFAULT_DEBIAN if of_wheel else of_debian[libfabric]
python, number = DEBIAN[release]['python'], DEBIAN[release]['number']
missing = f'FABRIC_{MPICH_NEEDS[mpich]}' if newer(MPICH_NEEDS[mpich], LIBFABRIC_HAS[libfabric]) else None

bases = {'BOOTSTRAP': 'docker', 'BASE': DEBIAN[release]['image']}
if osu == 'c':
    latency = '/opt/osu/libexec/osu-micro-benchmarks/mpi/pt2pt/osu_latency'
    contents = f"OSU Micro-Benchmarks {SOURCES['osu']['version']}, built in C, in /opt/osu"
    osu_label, licence = f"{SOURCES['osu']['version']} C", SOURCES['osu']['licence']
else:
    latency = '/opt/osu/bin/osu_latency'
    contents = f"mpi4py {SOURCES['mpi4py-source']['version']} and its ports of the OSU Micro-Benchmarks, in /opt/osu"
    osu_label, licence = f"mpi4py {SOURCES['mpi4py-source']['version']} ports", SOURCES['mpi4py-source']['licence']
licences = ' AND '.join(sorted({*SOURCES[f'mpich-{mpich}']['licence'].split(' AND '), licence}))
name = f'osu-workstation-mpich-{mpich}-libfabric-{libfabric}'

note = f"""
This image runs with the host's libfabric only (approaches bind and hybrid): libmpi.so.12 asks for {missing},
libfabric {libfabric} ends at FABRIC_{LIBFABRIC_HAS[libfabric]}. It shows that this is known before a job fails.
""" if missing else ''
Stage0 += hpccm.primitives.comment(__doc__.strip().format(
    mpich=mpich, libfabric=libfabric, number=number, osu=contents, latency=latency, name=name, note=note,
    origin='PyPI wheel' if of_wheel else f'PyPI wheel, and Debian {number}',
    kind=osu), reformat=False)

# Build stage: what is only needed to build stays here.
Stage0 += common.debian('build', release)
if osu == 'c':
    Stage0 += common.arguments(OSU_SHA256=SOURCES['osu']['sha256'], **bases)
    Stage0 += common.debian_packages('g++', ['gcc', 'g++', 'libc6-dev', 'make', 'python3'])
    Stage0 += common.files(f'mpich-{mpich}', 'osu')
    Stage0 += common.mpi_from_wheel('mpich', mpich)
    Stage0 += common.osu_in_c(common.argument('OSU_SHA256', SOURCES['osu']['sha256']))
else:
    Stage0 += common.arguments(**bases)
    Stage0 += common.debian_packages('python3', ['python3'])
    Stage0 += common.files(f'mpich-{mpich}', 'mpi4py-source', f'mpi4py-{python}',
                           also=['easyconfigs/o/osu-native/osu-port'])
    Stage0 += common.mpi_from_wheel('mpich', mpich)
    Stage0 += common.osu_ports(python)
Stage0 += common.packed('/opt/mpich', '/opt/osu')

# Runtime stage
Stage1 += common.debian('runtime', release)
Stage1 += common.arguments(**({'OSU': osu_label} if osu == 'c' else {}), **bases)
Stage1 += common.copied('build', '/opt/mpich', '/opt/osu')
Stage1 += common.debian_packages('python3', ['python3'])
if not of_wheel:
    Stage1 += common.libfabric_from_debian(release)
Stage1 += common.library_path('/opt/mpich', '/opt/mpich/lib/mpich/libfabric.so.1' if of_wheel else None)
Stage1 += common.entrypoint()
Stage1 += common.creation_time()
Stage1 += common.labels(f'MPICH {mpich}', common.argument('OSU', osu_label) if osu == 'c' else osu_label, licences,
                        libfabric)
programs = ("/opt/osu/libexec -type f -name 'osu_*'" if osu == 'c' else
            "/opt/osu/lib/python/mpi4py -name 'MPI.mpich.*.so'")
options = '-m 1:8 -i 10 -x 2' if osu == 'c' else '-m 8 -i 10 -x 2'
Stage1 += common.test(programs, f'/opt/mpich/bin/mpiexec -n 2 {latency} {options}', libfabric,
                      f'/opt/mpich/bin/mpichversion | grep "MPICH Version:[[:space:]]*{mpich}$"', missing)
