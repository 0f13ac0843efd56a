"""
Module osu-mpi4py over the private Slurm of two nodes: Python with the approach's MPI, packages.

Software of the user's own in a container: pip installs it, make-squashfs packs it, unmake-squashfs
unpacks it.
"""

import json
import os
import re
import shutil
import zipfile
from pathlib import Path

import pip
import pytest

from osu_container.build.recipes.versions import SOURCES
from osu_container.data.approaches import APPROACHES
from osu_container.proof.judging import find_expectation
from tests.build.test_images_run import FOLDER, WITH_PYTHON, build_image  # noqa: F401, a fixture
from tests.helpers import foreign_images
from tests.helpers.machine import PROJECT, assert_success, run
from tests.runs.test_approaches import parse_table

pytestmark = pytest.mark.system

NAMES = sorted(
    path.stem.rpartition('-')[2] for path in (PROJECT / 'easyconfigs/o/osu-mpi4py').glob('*.eb')
)
IMAGE = next(name for name in WITH_PYTHON if 'workstation' in name)
SRUN = 'srun -N2 -n2'
#: Prints what MPI says of itself, and lives for a second, long enough to be watched
TELL = '''import time
from mpi4py import MPI
import numpy
world = MPI.COMM_WORLD
print('rank', world.rank, 'of', world.size, 'sum', world.allreduce(numpy.ones(2))[1],
      MPI.Get_library_version().split('\\n')[0].replace('\\t', ' '), flush=True)
world.barrier()
time.sleep(1)
'''


@pytest.fixture(scope='module')
def python_shell(build_image, tmp_path_factory):  # noqa: F811, a fixture
    """
    Function (script, folder) that runs bash in folder with osu-mpi4py/bind, hybrid and pure
    installed.
    """
    build_image(IMAGE)
    environment = {
        'PATH': '/usr/local/bin:/usr/bin:/bin',
        'HOME': os.environ['HOME'],
        'LC_ALL': 'C.UTF-8',
        'EASYBUILD_PREFIX': str(tmp_path_factory.mktemp('mpi4py') / 'prefix'),
        'EASYBUILD_SOURCEPATH': f'{FOLDER}:{PROJECT / "sources"}',
    }

    def call(script, folder, timeout=180, **variables):
        text = f'set -eu; . {PROJECT}/env.sh; set +eu\ncd {folder}\n{script}\n'
        return run(
            ['bash', '--norc', '-c', text], env={**environment, **variables}, timeout=timeout
        )

    done = call(
        'eb osu-mpi4py-bind.eb osu-mpi4py-hybrid.eb osu-mpi4py-pure.eb -r', '/', timeout=600
    )
    assert_success(done)
    return call


@pytest.fixture
def make_approach_shell(python_shell, build_image):  # noqa: F811, a fixture
    """
    Function (approach) that returns python_shell after the module of this approach was installed
    too.
    """

    def shell(approach):
        for name in WITH_PYTHON if approach == 'openmpi' else ():
            build_image(name)
        done = python_shell(f'eb osu-mpi4py-{approach}.eb -r', '/', timeout=600)
        assert_success(done)
        return python_shell

    return shell


@pytest.mark.usefixtures('slurm')
@pytest.mark.parametrize(
    'approach',
    [pytest.param(name, marks=() if name == 'hybrid' else pytest.mark.nightly) for name in NAMES],
)
def test_python_has_the_mpi_of_the_approach_on_both_nodes(make_approach_shell, tmp_path, approach):
    (tmp_path / 'tell.py').write_text(TELL)
    done = make_approach_shell(approach)(
        f'module load osu-mpi4py/{approach} && osu-container proof -o out -- {SRUN} python tell.py',
        tmp_path,
    )
    assert_success(done)
    version = {'bind': 'MPICH Version: 5.0.2', 'openmpi': 'Open MPI v5.0.11'}.get(
        approach, 'MPICH Version: 4.2.3'
    )
    found = re.findall(
        rf'rank [01] of 2 sum 2\.0 .*{re.escape(version)}', re.sub(' +', ' ', done.stdout)
    )
    assert len(found) == 2, done.stdout
    proofs = [json.loads(path.read_text()) for path in (tmp_path / 'out').glob('*/rank-*.json')]
    assert find_expectation(proofs).approach == approach and {one['node'] for one in proofs} == {
        'node1',
        'node2',
    }
    for one in proofs:
        assert one['libraries']['libmpi']['where'] == APPROACHES[approach]['comes_from']['libmpi']
        assert one['container'] is True


@pytest.mark.usefixtures('slurm')
@pytest.mark.parametrize(
    'approach, benchmark',
    [('hybrid', 'allgather'), pytest.param('openmpi', 'latency', marks=pytest.mark.nightly)],
)
def test_python_benchmarks_run_by_name(make_approach_shell, tmp_path, approach, benchmark):
    done = make_approach_shell(approach)(
        f'module load osu-mpi4py/{approach} && '
        f'{SRUN} osu_py_{benchmark} --buffer numpy -m 64 -i 20 -x 2',
        tmp_path,
    )
    head = rf'^# osu_{benchmark}: mpi4py \S+ port\b.* numpy [\d.]+$'
    assert re.search(head, done.stdout, re.M), done.stdout + done.stderr
    found = parse_table(done.stdout)
    assert {1, 64} <= set(found) and found[64] > 0
    assert all(value > 0 for value in found.values())


@pytest.mark.usefixtures('slurm')
def test_host_commands_work_beside_container_python(python_shell, tmp_path):
    done = python_shell(
        '''module load osu-mpi4py/pure
type -P python python3 pip; python --version; pip list
eb --version && osu-explain | head -n 1 && osu-proof --help | head -n 1 && osu-container why --help | head -n 1
module unload osu-mpi4py; type -P python3; type -P pip || echo no pip''',
        tmp_path,
        PYTHONPATH='/of/the/host',
    )
    lines = done.stdout.splitlines()
    assert [line.rpartition('/')[2] for line in lines[:3]] == ['python', 'python3', 'pip']
    assert all('/osu-mpi4py/pure/bin/' in line for line in lines[:3])
    versions = {key: SOURCES[key]['version'] for key in ('numpy-3.11', 'pip', 'mpi4py-3.11')}
    for name, version in zip(('numpy', 'pip', 'mpi4py'), versions.values()):
        assert re.search(rf'^{name} +{re.escape(version)}$', done.stdout, re.M), done.stdout
    assert (
        'This is EasyBuild' in done.stdout
        and 'usage: osu-proof' in done.stdout
        and 'usage: osu-container why' in done.stdout
    ), done.stdout + done.stderr
    assert '/osu-mpi4py/' not in lines[-2]


def write_wheel(folder):
    """Write a small package as a wheel, so that pip needs no network, and return its path."""
    path, info = folder / 'tiny_stats-1.0-py3-none-any.whl', 'tiny_stats-1.0.dist-info'
    with zipfile.ZipFile(path, 'w') as archive:
        archive.writestr(
            'tiny_stats.py', 'def mean(values):\n    return sum(values) / len(values)\n'
        )
        archive.writestr(
            f'{info}/METADATA', 'Metadata-Version: 2.1\nName: tiny-stats\nVersion: 1.0\n'
        )
        archive.writestr(
            f'{info}/WHEEL', 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n'
        )
        archive.writestr(
            f'{info}/RECORD',
            f'tiny_stats.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n',
        )
    return path


#: As docs/mpi4py.md has it; LUMI's singularity has the same variable under its own name
VENV = 'python -m venv --without-pip --system-site-packages env'
PUT_FIRST = 'export {0}ENV_PREPEND_PATH=$PWD/env/bin:${0}ENV_PREPEND_PATH'


@pytest.mark.usefixtures('slurm')
def test_virtual_environment_adds_packages_and_keeps_module_mpi(python_shell, tmp_path):
    page = (PROJECT / 'docs' / 'mpi4py.md').read_text()
    assert f'    {VENV}\n' in page and f"    {PUT_FIRST.format('SINGULARITY')}\n" in page
    (tmp_path / 'use.py').write_text(
        'import tiny_stats\n' + TELL + 'print("mean", tiny_stats.mean([world.rank, 1]))\n'
    )
    done = python_shell(
        f'''module load osu-mpi4py/bind
{VENV}
{PUT_FIRST.format('APPTAINER')}
pip install --no-index {write_wheel(tmp_path)} && pip list
{SRUN} python use.py
osu-exec env/bin/python -c 'import tiny_stats, sys; print("prefix", sys.prefix)'
pip install --user --no-index {write_wheel(tmp_path)} || echo "no user site: $?"''',
        tmp_path,
    )
    for line in (r'^tiny-stats +1\.0$', '^mpi4py '):
        assert re.search(line, done.stdout, re.M), done.stdout + done.stderr
    assert done.stdout.count('mean 0.5') == done.stdout.count('mean 1.0') == 1
    assert done.stdout.count('5.0.2') == 2, 'the MPI of the host, which bind injects'
    assert f'prefix {tmp_path}/env' in done.stdout
    assert 'no user site: 1' in done.stdout and "'--user' install" in done.stderr


WHEEL = {
    'mine.py': 'VALUE = 42\ndef main():\n    print("mine", VALUE)\n',
    'mine-1.0.dist-info/METADATA': 'Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n',
    'mine-1.0.dist-info/WHEEL': 'Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    'mine-1.0.dist-info/entry_points.txt': '[console_scripts]\nmine = mine:main\n',
}


@pytest.fixture(scope='module')
def run_lammps_shell(tmp_path_factory, apptainer):
    """
    Function (script) that runs bash where the module lammps/pure is installed, whose image has
    Python and no pip.
    """
    folder = tmp_path_factory.mktemp('own')
    (folder / 'lammps.sif').symlink_to(foreign_images.make('lammps', apptainer))
    with zipfile.ZipFile(folder / 'mine-1.0-py3-none-any.whl', 'w') as wheel:
        for path, text in WHEEL.items():
            wheel.writestr(path, text)
        wheel.writestr('mine-1.0.dist-info/RECORD', ''.join(f'{path},,\n' for path in WHEEL))
    environment = {
        'PATH': f'{PROJECT}/scripts:/usr/local/bin:/usr/bin:/bin',
        'HOME': os.environ['HOME'],
        'LC_ALL': 'C.UTF-8',
        'EASYBUILD_PREFIX': str(folder / 'prefix'),
    }

    def call(script):
        text = f'set -eu; . {PROJECT}/env.sh; set +eu; PATH={PROJECT}/scripts:$PATH\ncd {folder}\n{script}\n'
        return run(['bash', '--norc', '-c', text], env=environment, timeout=280)

    done = call(
        'osu-container new lammps.sif --approach pure --command lmp --command python3 && eb lammps-pure.eb'
    )
    assert_success(done)
    call.root = folder / 'prefix' / 'software' / 'lammps' / 'pure'
    (packages,) = call.root.glob('user-software/venv/lib/python3*/site-packages')
    shutil.copytree(
        Path(pip.__file__).parent, packages / 'pip', ignore=shutil.ignore_patterns('__pycache__')
    )
    done = call(
        'module load lammps/pure && lammps-exec pip install -q --no-index ./mine-1.0-py3-none-any.whl'
    )
    assert_success(done)
    return call


#: By the module's commands, by start-shell, by the runtime itself, by what pip has made; then
#: without the module
USES = '''module load lammps/pure
python3 -c 'import mine; print("mine", mine.VALUE)'; start-shell -c 'mine'; apptainer exec $SIF mine
lammps-exec mine; module unload lammps; echo "${APPTAINER_BIND-unbound}"
%s/bin/lammps-exec mine
'''


@pytest.mark.nightly
def test_user_packages_survive_packing_and_reinstallation(run_lammps_shell):
    def used():
        done = run_lammps_shell(USES % run_lammps_shell.root)
        assert done.stdout.split('\n') == [*['mine 42'] * 4, 'unbound', 'mine 42', ''], (
            done.stdout + done.stderr
        )

    used()
    # the module was loaded before the folder was packed, and is unloaded afterwards
    done = run_lammps_shell(
        'module load lammps/pure; make-squashfs && lammps-exec mine; module unload lammps; '
        'echo "${APPTAINER_BIND-unbound}"'
    )
    assert 'mine 42\nunbound' in done.stdout, done.stdout + done.stderr
    assert [path.name for path in run_lammps_shell.root.glob('user-software*')] == [
        'user-software.squashfs'
    ]
    done = run_lammps_shell(
        'module load lammps/pure; lammps-exec pip install -q --no-index --force-reinstall ./mine*.whl'
    )
    assert done.returncode and 'WARNING: Data image' not in done.stderr, done.stderr
    done = run_lammps_shell('eb lammps-pure.eb --rebuild')
    assert_success(done)
    used()
    done = run_lammps_shell('module load lammps/pure; unmake-squashfs')
    assert_success(done)
    assert [path.name for path in run_lammps_shell.root.glob('user-software*')] == ['user-software']
    done = run_lammps_shell(
        'module load lammps/pure; lammps-exec mine; '
        'lammps-exec pip install -q --no-index --force-reinstall ./mine*.whl'
    )
    assert done.returncode == 0 and 'mine 42' in done.stdout, done.stderr
