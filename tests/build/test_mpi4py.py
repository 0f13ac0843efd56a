"""Test osu-mpi4py without a container: the launcher, the recipes, the image of each site."""

import os
import shutil

import pytest

from osu_container.build.catalogue import load_recipe
from osu_container.build.recipes.images import IMAGES
from osu_container.data.sites import SITES
from osu_container.verdict.site_choice import resolve_site
from tests.build.test_images_run import map_described_verdicts
from tests.helpers.machine import PROJECT, run

RECIPES = PROJECT / 'container-recipes' / 'mpi4py'


# ---- the launcher, with a program in place of OMB-Py that prints its arguments


@pytest.fixture
def launch(tmp_path):
    """
    Return a function that runs osu-python through a link with the name of the command.

    Arguments of the function: the command, then its arguments. NumPy is an almost empty module.
    """
    libexec, packages = tmp_path / 'libexec', tmp_path / 'lib/python'
    for folder in (libexec / 'omb-py' / 'mpi' / 'pt2pt', packages / 'mpi4py', tmp_path / 'bin'):
        folder.mkdir(parents=True)
    shutil.copy(RECIPES / 'osu-python', libexec / 'osu-python')
    (packages / 'numpy.py').write_text('__version__ = "2.4.6"\n')
    (packages / 'mpi4py' / '__init__.py').write_text('')
    (packages / 'mpi4py' / 'MPI.py').write_text('class COMM_WORLD:\n    def Get_rank(): return 0\n')
    for name in ('osu_bw', 'osu_latency'):
        (libexec / 'omb-py' / 'mpi' / 'pt2pt' / f'{name}.py').write_text('')
    (libexec / 'omb-py' / 'run.py').write_text(
        'import os, sys\nprint(sys.argv[1:], os.environ["MPI4PY_LIBMPI"])\n'
    )

    def call(command, *arguments):
        link = tmp_path / 'bin' / command
        if not link.is_symlink():
            link.symlink_to('../libexec/osu-python')
        return run(
            [link, *arguments],
            env={name: value for name, value in os.environ.items() if name != 'MPI4PY_LIBMPI'},
        )

    return call


@pytest.mark.parametrize(
    'command, buffers',
    [
        ('osu_bw', []),
        ('osu_py_bw', ['--buffer', 'numpy', 'H', 'H']),
        ('osu_bw', ['--buffer=numpy']),
    ],
)
def test_every_numpy_option_selects_the_same_buffers(launch, command, buffers):
    result = launch(command, *buffers, '-m', '8')
    assert result.stdout == (
        '# osu_bw: of the OSU Micro-Benchmarks in Python, buffers: numpy 2.4.6\n'
        "['--benchmark=bw', '--buffer=numpy', '--max=8'] libmpi.so.12:libmpi.so.40:libmpi.so\n"
    ), result.stderr


@pytest.mark.parametrize(
    'arguments, omb_options',
    [
        (['-m', '65536'], ['--max=65536']),
        (['-m8:'], ['--min=8']),
        (['--message-size=4:8'], ['--min=4', '--max=8']),
        (['-i', '100', '--warmup', '3'], ['--iterations=100', '--skip=3']),
        (['--min', '1', '--max=8', '--pickle'], ['--min', '1', '--max=8', '--pickle']),
    ],
)
def test_launcher_translates_options_of_python_benchmarks(launch, arguments, omb_options):
    """
    OMB-Py has --min, --max, --iterations and --skip; the C benchmarks have -m, -i and -x.
    """
    result = launch('osu_latency', *arguments, 'H', 'H')
    assert f"{['--benchmark=latency', '--buffer=numpy', *omb_options]}" in result.stdout, result


def test_each_osu_python_benchmark_has_a_command(tmp_path):
    """
    Run the recipe's commands in a folder: each benchmark of the archive gets a command.
    """
    name = next(name for name, entry in IMAGES.items() if 'python' in entry['variants'])
    prefix = tmp_path / 'opt' / 'mpi4py'
    for path in (
        'libexec/omb-py/mpi/pt2pt/osu_latency.py',
        'libexec/omb-py/mpi/collective/osu_bcast.py',
        'libexec/omb-py/util/osu_util_mpi.py',
        'libexec/omb-py/run.py',
        'bin/osu_get_bw',
        'bin/osu_latency',
    ):
        (prefix / path).parent.mkdir(parents=True, exist_ok=True)
        (prefix / path).write_text('')
    text = load_recipe(name, 'python').replace('/opt/mpi4py', str(prefix))
    lines = text[text.index(f'    rm {prefix}/bin/osu_*') :].partition('\n%')[0].splitlines()
    script = '\n'.join(
        line for line in lines if f'{prefix}/bin/osu_' in line or 'omb-py/mpi/' in line
    )
    result = run(['bash', '-e', '-c', script])
    assert result.returncode == 0, (script, result.stderr)
    assert {path.name for path in (prefix / 'bin').iterdir()} == {
        'osu_latency',
        'osu_bcast',
        'osu_py_latency',
        'osu_py_bcast',
    }


@pytest.mark.parametrize(
    'arguments, text',
    [
        (['-m', 'x'], '-m x'),
        (['-m'], '-m '),
        (['-d', 'rocm'], 'GPU'),
        (['D', 'D'], 'D D'),
        (['--buffer', 'cupy'], 'CuPy'),
        (['H', 'D'], 'H D'),
        (['--buffer', 'numpy', 'D', 'D'], '--buffer numpy D D'),
        (['--buffer', 'numba'], '--buffer numba'),
    ],
)
def test_impossible_arguments_are_errors(launch, arguments, text):
    result = launch('osu_py_latency', *arguments)
    assert (result.returncode, result.stdout) == (2, '')
    assert result.stderr.startswith('osu_py_latency: error: ') and text in result.stderr


# ---- images


@pytest.mark.parametrize('site', SITES)
def test_images_of_a_site_fit_its_gpu_and_their_approach(site):
    entry = resolve_site(site)
    for key, file in entry['images']['value'].items():
        module, _, approach = key.rpartition('/')
        name = file[: -len('.sif')]
        # The description of an image has no entrypoint, which swap needs.
        assert map_described_verdicts(name, site)[approach] != 'fails' or approach == 'swap', key
        if module and '-lumi-' in name:
            assert name.endswith('-cupy') == bool(entry['gpu']['value']), key


def test_python_of_the_host_stays_out_of_every_image():
    variants = [
        (name, kind)
        for name, entry in IMAGES.items()
        if entry['family'] == 'mpi4py'
        for kind in entry['variants']
    ]
    assert variants
    for name, kind in variants:
        text = load_recipe(name, kind)
        assert 'export PYTHONPATH=\n' in text and 'export PYTHONNOUSERSITE=1\n' in text, name
        libmpi = 'libmpi.so.40' if 'openmpi' in name else 'libmpi.so.12'
        assert f'export MPI4PY_LIBMPI={libmpi}\n' in text, name
