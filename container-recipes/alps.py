"""OSU Micro-Benchmarks with Open MPI {openmpi} and CUDA {cuda}, for Alps: GH200 and Slingshot 11

Contents:
  {image}
{contents}

Building, in the top folder of the repository:
  ours           bin/osu-container image build {name}
  or by hand, with the sources in sources/ (bin/osu-container image fetch {name}):
  the file       bin/osu-container image recipe {name}, with --docker the Dockerfile
  Apptainer      apptainer build --fakeroot osu.sif THIS_FILE
  Docker         docker build -f THIS_FILE -t {name} .
  The processor of the machine that builds is that of the image: Alps needs aarch64. A GPU is not needed.

Running on Alps, two ranks on two nodes:
  once           enroot import -x mount -o FILE.sqsh podman://{name}
                 copy docs/contributions/osu-container-openmpi.toml to ~/.edf/ and name FILE.sqsh there
  then           srun --mpi=pmix -N2 -n2 --environment=osu-container-openmpi {latency} D D

Never built by this project: it has no GH200, and its test machines reach no registry.
"""
# ruff: noqa: F821  HPCCM provides Stage0, Stage1 and stages
import hpccm

from osu_container.recipes import common, slingshot
from osu_container.recipes.images import ALPS_CUDA, ALPS_NAME, ALPS_PARTS, ALPS_SHS, NEWEST_LIBFABRIC, libcxi_version
from osu_container.recipes.versions import CUDA, SOURCES

images = CUDA[ALPS_CUDA]
contents = [
    f"libfabric {NEWEST_LIBFABRIC} with cxi, lnx and efa, in /opt/libfabric, and libcxi "
    f"{libcxi_version(ALPS_SHS)}, in /opt/libcxi",
    f"Open MPI {SOURCES['openmpi-source']['version']}, PMIx {SOURCES['pmix']['version']} and UCX "
    f"{SOURCES['ucx']['version']}, each in a folder of its name in /opt",
    f"OSU Micro-Benchmarks {SOURCES['osu']['version']}, built in C with CUDA, in /opt/osu",
]

Stage0 += hpccm.primitives.comment(__doc__.strip().format(
    openmpi=SOURCES['openmpi-source']['version'], cuda=ALPS_CUDA, name=ALPS_NAME, latency=slingshot.LATENCY,
    image=f"CUDA on Ubuntu 24.04 ({images['runtime']})", contents='\n'.join(map('  {}'.format, contents))),
    reformat=False)

# The stages: HPCCM makes two, this needs four.
network, mpi, benchmarks, runtime = stages[:] = [Stage0, Stage1, hpccm.Stage(), hpccm.Stage()]

network += slingshot.base('network', images['build'], 'ubuntu24')
network += slingshot.packages(*slingshot.ALPS_BUILD)
network += slingshot.alps_part('network')
network += common.packed(*ALPS_PARTS['network'])

mpi += slingshot.base('mpi', images['build'], 'ubuntu24')
mpi += slingshot.packages(*slingshot.ALPS_BUILD)
mpi += common.copied('network', *ALPS_PARTS['network'])
mpi += slingshot.alps_part('mpi')
mpi += common.packed(*ALPS_PARTS['mpi'])

benchmarks += slingshot.base('benchmarks', images['build'], 'ubuntu24')
benchmarks += slingshot.packages(*slingshot.ALPS_BUILD)
benchmarks += common.copied('network', *ALPS_PARTS['network'])
benchmarks += common.copied('mpi', *ALPS_PARTS['mpi'])
benchmarks += slingshot.alps_part('benchmarks')
benchmarks += common.packed(*ALPS_PARTS['benchmarks'])

# another base than that of the builds, so another build argument
runtime += slingshot.base('runtime', images['runtime'], 'ubuntu24', name='RUNTIME_BASE')
runtime += slingshot.packages(*slingshot.ALPS_RUN)
runtime += common.copied('network', *slingshot.to_run(*ALPS_PARTS['network']))
runtime += common.copied('mpi', *ALPS_PARTS['mpi'])
runtime += common.copied('benchmarks', *ALPS_PARTS['benchmarks'])
runtime += slingshot.found_by_loader(*slingshot.ALPS_FOUND)
runtime += slingshot.alps_description(ALPS_CUDA)
