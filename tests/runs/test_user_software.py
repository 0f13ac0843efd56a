"""Software of the user's own in a container: pip installs it, make-squashfs packs it, unmake-squashfs unpacks it."""
import os
import shutil
import zipfile
from pathlib import Path

import pip
import pytest

from tests.helpers import foreign_images
from tests.helpers.machine import PROJECT, run

pytestmark = pytest.mark.apptainer

WHEEL = {
    'mine.py': 'VALUE = 42\ndef main():\n    print("mine", VALUE)\n',
    'mine-1.0.dist-info/METADATA': 'Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n',
    'mine-1.0.dist-info/WHEEL': 'Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    'mine-1.0.dist-info/entry_points.txt': '[console_scripts]\nmine = mine:main\n',
}


@pytest.fixture(scope='module')
def typed(tmp_path_factory, apptainer):
    """Function (script) that runs bash where the module lammps/pure is installed, whose image has Python and no pip."""
    folder = tmp_path_factory.mktemp('own')
    (folder / 'lammps.sif').symlink_to(foreign_images.make('lammps', apptainer))
    with zipfile.ZipFile(folder / 'mine-1.0-py3-none-any.whl', 'w') as wheel:
        for path, text in WHEEL.items():
            wheel.writestr(path, text)
        wheel.writestr('mine-1.0.dist-info/RECORD', ''.join(f'{path},,\n' for path in WHEEL))
    environment = {'PATH': f'{PROJECT}/bin:/usr/local/bin:/usr/bin:/bin', 'HOME': os.environ['HOME'],
                   'LC_ALL': 'C.UTF-8', 'EASYBUILD_PREFIX': str(folder / 'prefix')}

    def call(script):
        text = f'set -eu; . {PROJECT}/env.sh; set +eu; PATH={PROJECT}/bin:$PATH\ncd {folder}\n{script}\n'
        return run(['bash', '--norc', '-c', text], env=environment, timeout=280)

    done = call('osu-container new lammps.sif --approach pure --command lmp --command python3 && eb lammps-pure.eb')
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    call.root = folder / 'prefix' / 'software' / 'lammps' / 'pure'
    packages, = call.root.glob('user-software/venv/lib/python3*/site-packages')
    shutil.copytree(Path(pip.__file__).parent, packages / 'pip', ignore=shutil.ignore_patterns('__pycache__'))
    done = call('module load lammps/pure && lammps-exec pip install -q --no-index ./mine-1.0-py3-none-any.whl')
    assert done.returncode == 0, done.stdout + done.stderr
    return call


#: By the module's commands, by start-shell, by the runtime itself, by what pip has made; then without the module
USES = '''module load lammps/pure
python3 -c 'import mine; print("mine", mine.VALUE)'; start-shell -c 'mine'; apptainer exec $SIF mine
lammps-exec mine; module unload lammps; echo "${APPTAINER_BIND-unbound}"
%s/bin/lammps-exec mine
'''


def test_packages_are_there_packed_unpacked_and_after_another_installation(typed):
    def used():
        done = typed(USES % typed.root)
        assert done.stdout.split('\n') == [*['mine 42'] * 4, 'unbound', 'mine 42', ''], done.stdout + done.stderr

    used()
    # the module was loaded before the folder was packed, and is unloaded afterwards
    done = typed('module load lammps/pure; make-squashfs && lammps-exec mine; module unload lammps; '
                 'echo "${APPTAINER_BIND-unbound}"')
    assert 'mine 42\nunbound' in done.stdout, done.stdout + done.stderr
    assert [path.name for path in typed.root.glob('user-software*')] == ['user-software.squashfs']
    done = typed('module load lammps/pure; lammps-exec pip install -q --no-index --force-reinstall ./mine*.whl')
    assert done.returncode and 'WARNING: Data image' not in done.stderr, done.stderr
    done = typed('eb lammps-pure.eb --rebuild')
    assert done.returncode == 0, done.stdout[-3000:]
    used()
    done = typed('module load lammps/pure; unmake-squashfs')
    assert done.returncode == 0, done.stderr
    assert [path.name for path in typed.root.glob('user-software*')] == ['user-software']
    done = typed('module load lammps/pure; mine; lammps-exec pip install -q --no-index --force-reinstall ./mine*.whl')
    assert done.returncode == 0 and 'mine 42' in done.stdout, done.stderr
