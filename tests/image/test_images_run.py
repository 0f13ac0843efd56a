"""
Every image that can be built here is built, installed as a module, and runs on two nodes or is refused.

Tests in the process of the container runtime build them while that of Slurm has other work (tests/conftest.py).
"""
import fcntl
import itertools
import os
import re
import shutil

import pytest

from osu_container.recipes.images import IMAGES
from osu_container.recipes.versions import SOURCES
from tests.helpers.machine import PROJECT, STATE, folded, run
from tests.helpers.samples import one_of_each
from tests.runs.test_approaches import table

#: Images stay from one run of the tests to the next; the builder makes anew what is not current.
FOLDER = STATE / 'images-of-tests'
BUILT = [name for name, entry in IMAGES.items() if not entry['unbuilt']]
#: Built by the set-up
DEFAULT = 'osu-workstation-mpich-4.2.3-libfabric-1.22.0'
#: tests/runs/test_abi.py makes an image from it
STANDARD_ABI = 'osu-workstation-mpich-5.0.2-libfabric-2.5.1'
FAILING = [name for name in BUILT if IMAGES[name]['fails']]
OPENMPI = next(name for name in BUILT if name.startswith('osu-abi-openmpi'))
WITH_PYTHON = [name for name in BUILT if IMAGES[name]['family'] == 'mpi4py']
FILES = PROJECT / 'container-recipes' / 'mpi4py'


def with_gpu(name):
    """Return whether an image (str) has ROCm or CUDA: its build takes long."""
    return '-rocm-' in name or '-cuda-' in name


def on_two_nodes(test):
    """Mark a test that runs in containers of two nodes."""
    return pytest.mark.apptainer(pytest.mark.slurm(test))


def chosen_approaches():
    """Return {image: approach}: one for each that ought to work, all approaches in turn."""
    any_network = itertools.cycle(['pure', 'bind', 'opensource', 'hybrid'])
    with_host = itertools.cycle(['hybrid', 'bind'])
    return {name: 'openmpi' if 'openmpi' in name else next(with_host if name in FAILING else any_network)
            for name in BUILT}


APPROACH_OF = chosen_approaches()


@pytest.fixture(scope='session')
def built():
    """Function (name) that builds the image and returns the path of its SIF."""
    FOLDER.mkdir(parents=True, exist_ok=True)

    def build(name):
        sif = FOLDER / f'{name}.sif'
        if name == DEFAULT:
            for path in (PROJECT / 'sources').glob(f'{name}.sif*'):
                shutil.copy2(path, FOLDER)
            return sif
        with open(FOLDER / f'{name}.lock', 'w') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # two processes of the tests want it
            done = run([PROJECT / 'bin' / 'osu-container', 'image', 'build', name, '--output', sif, '--log',
                        FOLDER / f'{name}.log'], timeout=240 * IMAGES[name]['minutes'] + 600)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr
        return sif
    return build


@pytest.fixture
def typed(tmp_path):
    """Function (script) that runs bash as a user has it after `. ./env.sh`; eb installs into the test's own folder."""
    started = run([PROJECT / 'workstation' / 'slurm.sh', 'start'])
    assert started.returncode == 0, started.stdout + started.stderr
    environment = {'PATH': '/usr/local/bin:/usr/bin:/bin', 'HOME': os.environ['HOME'], 'LC_ALL': 'C.UTF-8',
                   'EASYBUILD_PREFIX': str(tmp_path / 'prefix'), 'EASYBUILD_SOURCEPATH': str(FOLDER)}

    def call(script):
        text = f'set -eu; . {PROJECT}/env.sh; set +eu\n{script}\n'
        return run(['bash', '--norc', '-c', text], env=environment, timeout=300)
    return call


def install(approach, image):
    """Return the command line that installs the module of an approach with an image."""
    return f'eb osu-container-{approach}.eb -r --try-amend=image={image}.sif --try-amend=build_image=no'


def assert_refused(done, folder, *texts):
    """The installation failed, said all texts, and left neither software nor modules."""
    assert done.returncode != 0, done.stdout
    for text in texts:
        assert text in folded(done.stdout), done.stdout[-3000:]
    assert not [path for path in folder.rglob('osu-container*') if path.suffix in ('.lua', '.sif')]


def test_all_approaches_are_tried():
    assert set(APPROACH_OF.values()) == {'pure', 'bind', 'opensource', 'hybrid', 'openmpi'}


#: What `make test` builds beside DEFAULT: one with Open MPI and one with Python
TWO = (OPENMPI, next(name for name in WITH_PYTHON if 'workstation' in name))
IN_TURN = [pytest.param(name, marks=[] if name in TWO else pytest.mark.full) for name in BUILT]


@pytest.mark.apptainer
@pytest.mark.parametrize('name', IN_TURN)
def test_image_is_built_and_as_small_as_the_catalogue_says(built, name):
    megabytes, known = built(name).stat().st_size / 1e6, IMAGES[name].get('built')
    assert megabytes < (2500 if with_gpu(name) else 200)
    assert known or not with_gpu(name), f'{megabytes:.0f} MB; say so in osu_container/recipes/images_debian.py'
    assert not known or abs(megabytes - known['megabytes']) < 0.2 * known['megabytes'], known


@on_two_nodes
@pytest.mark.full  # of the two, tests/runs has the modules
@pytest.mark.parametrize('name', BUILT)
def test_image_runs_on_two_nodes(built, typed, name):
    approach = APPROACH_OF[name]
    built(name)
    done = typed(f'{install(approach, name)} || exit; module load osu-container/{approach} && '
                 'srun -N2 -n2 osu_latency H H -m 64 -i 20 -x 2; module help osu-container')
    found = table(done.stdout)
    assert {1, 64} <= set(found) and all(value > 0 for value in found.values()), done.stdout[-3000:] + done.stderr
    mpi, libfabric = re.search(r'(openmpi|mpich|intel-mpi)-[\d.]+\d(?=-libfabric)', name).group(), name.split('-')[-1]
    says = re.search(r'^MPI: +(.*?) of the (\w+) over libfabric (\S+) of the (\w+)', done.stderr, re.M)
    assert says, done.stderr
    if approach != 'bind':
        assert says.group(1).lower().replace('open mpi', 'openmpi').replace(' ', '-') == mpi
    if approach not in ('bind', 'hybrid'):
        assert says.group(3) == libfabric
    assert says.group(2, 4) == {'bind': ('host', 'host'), 'hybrid': ('image', 'host')}.get(approach, ('image', 'image'))


@pytest.mark.apptainer
@pytest.mark.full
@pytest.mark.parametrize('name', FAILING)
def test_image_whose_mpi_does_not_load_is_refused_without_the_hosts_libfabric(built, typed, tmp_path, name):
    built(name)
    lacking = re.search(r'asks for (\S+),', IMAGES[name]['fails']).group(1)
    assert_refused(typed(install('pure', name)), tmp_path / 'prefix', f'needs {lacking} of libfabric.so.1, but image:')


@pytest.mark.apptainer
@pytest.mark.parametrize('approach', one_of_each(['bind', 'pure', 'hybrid', 'opensource']))
def test_open_mpi_is_refused_by_every_other_approach(built, typed, tmp_path, approach):
    built(OPENMPI)
    assert_refused(typed(install(approach, OPENMPI)), tmp_path / 'prefix', 'is Open MPI (libmpi.so.40)', 'libmpi.so.12')


@on_two_nodes
@pytest.mark.full
@pytest.mark.parametrize('name', WITH_PYTHON)
def test_buffers_of_python_benchmarks_are_arrays(built, typed, name, tmp_path):
    approach = APPROACH_OF[name]
    built(name)
    program = tmp_path / 'program.py'
    program.write_text('from mpi4py import MPI\nimport numpy\nprint("sum", MPI.COMM_WORLD.allreduce(numpy.ones(2))[1])')
    done = typed(f'{install(approach, name)} || exit; module load osu-container/{approach}; srun osu_bw H H -m 8 -i 5; '
                 f'APPTAINER_BIND={tmp_path} srun osu-exec python3 {program}; srun osu_bw D D')
    said = done.stdout + done.stderr
    assert re.search(r'^# osu_bw: mpi4py \S+ port, .*, buffers: numpy [\d.]+$', done.stdout, re.M), said
    assert len(table(done.stdout)) == 4, said
    assert done.stdout.count('sum 2.0') == 2, said
    assert 'GPU memory, and this image has no CuPy' in done.stderr, said


# The same by other tools

def version_of(key):
    """Return the version of a source as versions.py has it."""
    return SOURCES[key]['version']


def test_conda_environment_has_our_versions_and_leaves_mpi_to_the_image():
    yaml = pytest.importorskip('yaml')
    environment = yaml.safe_load((FILES / 'environment.yml').read_text())
    label = 'conda-forge/label/mpi-external'
    # the empty package comes first, by the order of channels and by name: conda-forge's own MPICH must not be taken
    assert set(environment) == {'name', 'channels', 'dependencies'}
    assert environment['channels'] == [label, 'conda-forge']
    found = dict(line.split('=', 1) for line in environment['dependencies'])
    python = found['python']
    assert found == {'python': python, 'mpi4py': version_of('mpi4py-source'), 'numpy': version_of(f'numpy-{python}'),
                     f'{label}::mpich': '4.3.*'}


def test_requirements_have_our_versions():
    lines = (FILES / 'requirements.txt').read_text().splitlines()
    found = dict(line.split('==') for line in lines if not line.startswith('#'))
    assert found == {'mpi4py': version_of('mpi4py-source'), 'numpy': version_of('numpy-3.11')}
