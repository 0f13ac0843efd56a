"""
Build images, install them as modules, and run them on two nodes.

One test process builds images while another runs the tests with Slurm (tests/conftest.py). `make
test` builds one image of each kind, except the images with ROCm or CUDA from Debian, whose builds
take long.
"""

import contextlib
import fcntl
import itertools
import os
import re
import shutil

import pytest

from osu_container.build.recipes.images import IMAGES
from osu_container.build.recipes.versions import MPI4PY_VERSION, SOURCES
from osu_container.check.described import describe_catalogue_image
from osu_container.check.public_hosts import find_host_description
from osu_container.data.approaches import APPROACHES
from osu_container.discover.host_facts import DescribedHost
from osu_container.image.image import Image
from osu_container.verdict.settings import resolve_approach
from osu_container.verdict.site_choice import SettingsError, resolve_site
from osu_container.verdict.verdict import judge_approach
from tests.helpers.machine import (
    PROJECT,
    STATE,
    assert_success,
    fold_whitespace,
    mark_repeats_nightly,
    run,
)
from tests.runs.test_approaches import parse_table

#: Folder in which images are kept between runs of the tests; the builder rebuilds outdated images.
FOLDER = STATE / 'images-of-tests'
BUILT = [name for name, entry in IMAGES.items() if not entry['unbuilt']]
#: Image that the set-up builds
DEFAULT = 'osu-workstation-mpich-4.2.3-libfabric-1.22.0'
#: Image on which an image of tests/runs/test_abi.py is based
STANDARD_ABI = 'osu-workstation-mpich-5.0.2-libfabric-2.5.1'
FAILING = [name for name in BUILT if IMAGES[name]['fails']]
OPENMPI = next(name for name in BUILT if name.startswith('osu-abi-openmpi'))
WITH_PYTHON = [name for name in BUILT if IMAGES[name]['family'] == 'mpi4py']
FILES = PROJECT / 'container-recipes' / 'mpi4py'


def uses_gpu_stack(name):
    """Return whether an image has ROCm or CUDA, so that its build takes long."""
    return '-rocm-' in name or '-cuda-' in name


def mark_two_node_test(test):
    """Mark a test that runs containers on two nodes."""
    return pytest.mark.system(pytest.mark.usefixtures('slurm')(test))


def choose_approaches():
    """Return {image: approach that must work}; the approaches alternate between the images."""
    any_network = itertools.cycle(['pure', 'bind', 'opensource', 'hybrid'])
    with_host = itertools.cycle(['hybrid', 'bind'])
    return {
        name: 'openmpi'
        if 'openmpi' in name
        else next(with_host if name in FAILING else any_network)
        for name in BUILT
    }


APPROACH_OF = choose_approaches()


@pytest.fixture(scope='session')
def build_image():
    """Return a function that builds an image, by its name, and returns the path of its SIF."""
    FOLDER.mkdir(parents=True, exist_ok=True)

    def build(name):
        sif = FOLDER / f'{name}.sif'
        if name == DEFAULT:
            for path in (PROJECT / 'sources').glob(f'{name}.sif*'):
                shutil.copy2(path, FOLDER)
            return sif
        with open(FOLDER / f'{name}.lock', 'w') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # two test processes may build the same image
            result = run(
                [PROJECT / 'scripts' / 'osu-container', 'image', 'build', name, '--output', sif],
                timeout=7200,
            )
        assert_success(result)
        return sif

    return build


@pytest.fixture
def run_user_script(tmp_path):
    """
    Return a function that runs a script in a user's shell after `. ./env.sh`.

    eb installs to a folder of the test.
    """
    environment = {
        'PATH': '/usr/local/bin:/usr/bin:/bin',
        'HOME': os.environ['HOME'],
        'LC_ALL': 'C.UTF-8',
        'EASYBUILD_PREFIX': str(tmp_path / 'prefix'),
        'EASYBUILD_SOURCEPATH': str(FOLDER),
    }

    def call(script):
        text = f'set -eu; . {PROJECT}/env.sh; set +eu\n{script}\n'
        return run(['bash', '--norc', '-c', text], env=environment, timeout=300)

    return call


def format_install_command(approach, image):
    """Return the command that installs the module of an approach with an image."""
    return f'eb osu-container-{approach}.eb -r --try-amend=image={image}.sif --try-amend=build_image=no'


def assert_refused(result, folder, *texts):
    """Assert that the installation failed, printed all texts, and left no files."""
    assert result.returncode != 0, result
    for text in texts:
        assert text in fold_whitespace(result.stdout), result
    assert not [path for path in folder.rglob('osu-container*') if path.suffix in ('.lua', '.sif')]


#: Images that `make test` builds in addition to DEFAULT: one with Open MPI and one with Python
TWO = (OPENMPI, next(name for name in WITH_PYTHON if 'workstation' in name))
IN_TURN = [pytest.param(name, marks=[] if name in TWO else pytest.mark.nightly) for name in BUILT]


@pytest.mark.system
@pytest.mark.parametrize('name', IN_TURN)
def test_image_is_built_and_small(build_image, name):
    assert build_image(name).stat().st_size / 1e6 < (400 if uses_gpu_stack(name) else 200)


@mark_two_node_test
@pytest.mark.nightly  # tests/runs tests the modules with the two images of TWO
@pytest.mark.parametrize('name', BUILT)
def test_image_runs_on_two_nodes(build_image, run_user_script, name):
    approach = APPROACH_OF[name]
    build_image(name)
    result = run_user_script(
        f'{format_install_command(approach, name)} || exit; module load osu-container/{approach} && '
        'srun -N2 -n2 osu_latency H H -m 64 -i 20 -x 2; module help osu-container'
    )
    values = parse_table(result.stdout)
    assert {1, 64} <= set(values) and all(value > 0 for value in values.values()), result
    mpi, libfabric = (
        re.search(r'(openmpi|mpich|intel-mpi)-[\d.]+\d(?=-libfabric)', name).group(),
        name.split('-')[-1],
    )
    description = re.search(
        r'^MPI: +(.*?) of the (\w+) over libfabric (\S+) of the (\w+)', result.stderr, re.M
    )
    assert description, result
    if approach != 'bind':
        assert description.group(1).lower().replace('open mpi', 'openmpi').replace(' ', '-') == mpi
    if approach not in ('bind', 'hybrid'):
        assert description.group(3) == libfabric
    assert description.group(2, 4) == {'bind': ('host', 'host'), 'hybrid': ('image', 'host')}.get(
        approach, ('image', 'image')
    )


@pytest.mark.system
@pytest.mark.nightly
@pytest.mark.parametrize('name', FAILING)
def test_unloadable_mpi_without_host_libfabric_is_refused(
    build_image, run_user_script, tmp_path, name
):
    build_image(name)
    missing = re.search(r'asks for (\S+),', IMAGES[name]['fails']).group(1)
    assert_refused(
        run_user_script(format_install_command('pure', name)),
        tmp_path / 'prefix',
        f'needs {missing} of libfabric.so.1, but image:',
    )


@pytest.mark.system
@pytest.mark.parametrize('approach', mark_repeats_nightly(['pure', 'hybrid', 'opensource']))
def test_open_mpi_is_refused_by_approaches_of_another_mpi(
    build_image, run_user_script, tmp_path, approach
):
    build_image(OPENMPI)
    assert_refused(
        run_user_script(format_install_command(approach, OPENMPI)),
        tmp_path / 'prefix',
        'libmpi.so.40',
        'libmpi.so.12',
    )


@mark_two_node_test
@pytest.mark.nightly
@pytest.mark.parametrize('name', WITH_PYTHON)
def test_buffers_of_python_benchmarks_are_arrays(build_image, run_user_script, name, tmp_path):
    approach = APPROACH_OF[name]
    build_image(name)
    program = tmp_path / 'program.py'
    program.write_text(
        'from mpi4py import MPI\nimport numpy\nprint("sum", MPI.COMM_WORLD.allreduce(numpy.ones(2))[1])'
    )
    result = run_user_script(
        f'{format_install_command(approach, name)} || exit; module load osu-container/{approach}; '
        'srun osu_bw H H -m 8 -i 5; '
        f'APPTAINER_BIND={tmp_path} srun osu-exec python3 {program}; srun osu_bw D D'
    )
    assert re.search(r'^# osu_bw: mpi4py .* numpy [\d.]+$', result.stdout, re.M), result
    assert len(parse_table(result.stdout)) == 4, result
    assert result.stdout.count('sum 2.0') == 2, result
    assert 'CuPy' in result.stderr, result


# Files for other tools


def test_files_of_other_tools_name_our_versions():
    yaml = pytest.importorskip('yaml')
    environment = yaml.safe_load((FILES / 'environment.yml').read_text())
    label = 'conda-forge/label/mpi-external'
    # The empty package mpich must come first, so that conda does not install conda-forge's own
    # MPICH.
    assert environment['channels'] == [label, 'conda-forge']
    values = dict(line.split('=', 1) for line in environment['dependencies'])
    python, mpi4py = values['python'], MPI4PY_VERSION
    assert values == {
        'python': python,
        'mpi4py': mpi4py,
        'numpy': SOURCES[f'numpy-{python}']['version'],
        f'{label}::mpich': '4.3.*',
    }
    lines = (FILES / 'requirements.txt').read_text().splitlines()
    assert dict(line.split('==') for line in lines if not line.startswith('#')) == {
        'mpi4py': mpi4py,
        'numpy': SOURCES['numpy-3.11']['version'],
    }


BUILT_GPU_IMAGES = mark_repeats_nightly([case for case in IN_TURN if uses_gpu_stack(*case.values)])
#: Library of NVIDIA's driver, which only a host with such a GPU has
DRIVER = 'libcuda.so.1'


def find_gpu_vendor(name):
    """Return the vendor, 'AMD' or 'NVIDIA', whose GPUs an image supports."""
    return 'AMD' if '-rocm-' in name else 'NVIDIA'


@pytest.fixture
def run_in_image(build_image, apptainer):  # noqa: F811, a fixture
    """Return a function (image, script, runtime options) that runs a script in an image."""

    def call(name, script, *options):
        return run(
            [
                apptainer,
                'exec',
                '--cleanenv',
                '--containall',
                *options,
                build_image(name),
                'bash',
                '-c',
                script,
            ]
        )

    return call


@pytest.mark.system
@pytest.mark.parametrize('name', BUILT_GPU_IMAGES)
def test_every_library_of_the_image_loads_with_all_its_symbols(run_in_image, name):
    script = '''for library in $(find /opt/*/lib -name '*.so*' ! -path '/opt/osu/*'; find /usr/lib/x86_64-linux-gnu \
            -name '*.so.*' | grep -E '/lib(amd|hsa|roc|rccl|nccl|cuda)'); do
        LD_BIND_NOW=1 python3 -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1])' "$library" 2>&1 | tail -n 1
    done'''
    result = run_in_image(name, script)
    assert_success(result)
    missing = {
        line
        for line in result.stdout.splitlines()
        if DRIVER not in line and 'libnvidia-ml.so.1' not in line
    }
    assert not missing, missing
    assert find_gpu_vendor(name) == 'NVIDIA' or not result.stdout, result


@mark_two_node_test
@pytest.mark.parametrize('name', BUILT_GPU_IMAGES)
def test_device_buffers_without_a_gpu_are_refused_with_reason(build_image, run_user_script, name):  # noqa: F811, fixtures
    build_image(name)
    approach = APPROACH_OF[name]
    result = run_user_script(
        f'{format_install_command(approach, name)} >&2 || exit 77; module load osu-container/{approach}; '
        'srun -N2 -n2 osu_bw D D'
    )
    error_text = fold_whitespace(result.stderr)
    assert result.returncode not in (0, 77) and not re.search(
        r'^\d+ +[\d.]+$', result.stdout, re.M
    ), result
    driver_of = {'NVIDIA': DRIVER, 'AMD': '/dev/kfd'}[find_gpu_vendor(name)]
    assert driver_of in error_text and 'Traceback' not in error_text, error_text


def map_verdicts(image, site):
    """
    Return {approach: verdict of check} for an Image on the described host of a site.
    """
    entry, values = resolve_site(site), {}
    host = DescribedHost(find_host_description(entry))
    for approach in APPROACHES:
        with contextlib.suppress(SettingsError):
            values[approach] = judge_approach(resolve_approach(approach), entry, image, host).level
    return values


def map_described_verdicts(name, site):
    """Return map_verdicts() for the description of a catalogue image, by its name."""
    machine = resolve_site(site).get('architecture', {}).get('value', 'x86_64')
    return map_verdicts(describe_catalogue_image(name, machine), site)


DEBIAN_CUDA = 'osu-debian-cuda-12.4.1-mpich-4.0.2-libfabric-2.1.0'


@pytest.mark.parametrize(
    'name, site, approach, level',
    [
        (DEBIAN_CUDA, 'perlmutter', 'bind', 'works'),
        (DEBIAN_CUDA, 'perlmutter', 'hybrid', 'fails'),  # the image's MPICH does not support cxi
        (DEBIAN_CUDA, 'workstation', 'hybrid', 'works'),  # no GPU driver is needed
        (DEBIAN_CUDA, 'lumi-25.03', 'bind', 'fails'),  # GPUs of another vendor
        (DEBIAN_CUDA.replace('cuda-12.4.1', 'rocm-5.7.1'), 'perlmutter', 'bind', 'fails'),
    ],
)
def test_check_judges_the_image_by_its_description(name, site, approach, level):
    assert map_described_verdicts(name, site)[approach] == level


@pytest.mark.system
@pytest.mark.parametrize('name', BUILT_GPU_IMAGES)
def test_check_judges_image_and_description_alike(build_image, name):  # noqa: F811, a fixture
    """An image gives more facts than its description: its verdict may be worse, but not better."""
    by_name = map_described_verdicts(name, 'workstation')
    with Image(str(build_image(name)), 'osu_') as image:
        real = map_verdicts(image, 'workstation')
    assert 'works' in real.values()
    assert {key for key in real if real[key] == 'works'} <= {
        key for key in by_name if by_name[key] != 'fails'
    }
