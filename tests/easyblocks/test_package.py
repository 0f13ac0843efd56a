"""
The easyblocks find their package: in a clone, linked, installed by pip; and say what to do where
they cannot.

The module osu-container-tools: all commands and their completion for all users of a site.
"""

import json
import shutil
from pathlib import Path

import pytest

from osu_container import __version__
from tests.helpers.machine import (
    EASYBUILD_VERSIONS,
    PROJECT,
    STATE,
    EasyBuild,
    assert_success,
    fold_whitespace,
    run,
)

pytestmark = pytest.mark.system


def install_easybuild(version, folder, sources):
    """
    Return an EasyBuild of a version (str) in a virtual environment of its own, into which pip has
    installed sources.

    EasyBuild itself, and pip, are those of the set-up, which the new environment finds by a .pth
    file.
    """
    made = EasyBuild(version, folder / 'prefix')
    done = run([made.python, '-m', 'venv', '--without-pip', folder / 'venv'])
    assert_success(done)
    theirs = next(made.python.parent.parent.glob('lib/python3*/site-packages'))
    ours = next((folder / 'venv').glob('lib/python3*/site-packages'))
    (ours / 'easybuild-of-the-set-up.pth').write_text(f'{theirs}\n')
    shutil.copy(made.command, folder / 'venv' / 'bin' / 'eb')
    (folder / 'venv' / 'easybuild').mkdir()
    (folder / 'venv' / 'easybuild' / 'scripts').symlink_to(
        made.python.parent.parent / 'easybuild' / 'scripts'
    )
    made.python = folder / 'venv' / 'bin' / 'python'
    done = run([made.python, '-m', 'pip', 'install', '--no-deps', sources], timeout=600)
    assert_success(done)
    made.command = folder / 'venv' / 'bin' / 'eb'
    made.environment['EB_PYTHON'] = str(made.python)
    for name in ('EASYBUILD_ROBOT_PATHS', 'EASYBUILD_INCLUDE_EASYBLOCKS'):
        del made.environment[name]
    return made


@pytest.fixture(scope='module')
def sources(tmp_path_factory):
    """
    A folder with what a clone has and pip needs; pip builds in it, so it is not the clone
    itself.
    """
    folder = tmp_path_factory.mktemp('sources')
    for name in ('container-recipes', 'osu_container', 'easyblocks', 'easyconfigs', 'scripts'):
        shutil.copytree(
            PROJECT / name,
            folder / name,
            ignore=shutil.ignore_patterns('__pycache__', '*.egg-info'),
        )
    for name in ('LICENSE', 'README.md', 'pyproject.toml'):
        shutil.copy(PROJECT / name, folder)
    return folder


@pytest.mark.nightly
@pytest.mark.parametrize('version', EASYBUILD_VERSIONS)
def test_pip_install_is_enough(version, sources, tmp_path):
    eb = install_easybuild(version, tmp_path, sources)
    # all that is left of env.sh: which machine this is, which `make demo` wrote
    eb.environment['EASYBUILD_INCLUDE_EASYBLOCKS'] = f'{STATE}/local/*.py'
    done = eb('osu-container-hybrid.eb', '-r')
    assert_success(done)
    root = eb.prefix / 'software' / 'osu-container' / 'hybrid'
    commands = {path.name for path in (root / 'bin').iterdir()}
    assert {'run-in-container', 'osu-explain', 'osu-proof', 'osu_bw'} <= commands
    shown = run([root / 'bin' / 'osu-proof', '--help'])
    assert_success(shown)
    image = 'osu-workstation-mpich-4.2.3-libfabric-1.22.0'
    shown = run([eb.python, '-m', 'osu_container', 'image', 'recipe', image], cwd='/')
    assert shown.returncode == 0 and 'Bootstrap' in shown.stdout, shown.stderr


def test_copied_easyblock_reports_the_remedy(eb, tmp_path):
    copied = tmp_path / 'copy' / 'mpicontainer.py'
    copied.parent.mkdir()
    shutil.copy(PROJECT / 'easyblocks/generic/mpicontainer.py', copied)
    eb.environment['EASYBUILD_INCLUDE_EASYBLOCKS'] = str(copied)
    done = eb('osu-container-hybrid.eb', '--dry-run')
    said = fold_whitespace(done.stdout)
    assert done.returncode != 0 and str(copied) in said, said
    assert (
        "No module named 'osu_container'" in said and 'make lumi' in said and 'pip install' in said
    ), said
    assert eb.list_leftovers() == []


def test_linked_easyblock_imports_the_package_of_its_clone(tmp_path):
    """A link leads to its clone, whatever other osu_container Python would find."""
    other = tmp_path / 'other' / 'osu_container'
    other.mkdir(parents=True)
    (other / '__init__.py').write_text('raise SystemExit("the wrong package")\n')
    (tmp_path / 'mpicontainer.py').symlink_to(PROJECT / 'easyblocks/generic/mpicontainer.py')
    done = run(
        [
            STATE / 'venv' / 'bin' / 'python',
            '-c',
            f'import sys; sys.path[:0] = [{str(tmp_path)!r}, '
            f'{str(other.parent)!r}]; import mpicontainer, osu_container; print(osu_container.__file__)',
        ],
        cwd='/',
    )
    assert (done.returncode, Path(done.stdout.strip())) == (
        0,
        PROJECT / 'osu_container/__init__.py',
    ), done.stderr


LMOD = '. /usr/share/lmod/lmod/init/bash'


def run_in_shell(eb, *lines, **variables):
    """
    Run lines of bash as a user has them with the module loaded, and no other part of this
    project.
    """
    text = '\n'.join(
        [LMOD, f'module use {eb.prefix}/modules/all', 'module load osu-container-tools', *lines]
    )
    return run(
        ['bash', '--norc', '-c', text],
        cwd='/',
        env={
            'PATH': '/usr/local/bin:/usr/bin:/bin',
            'HOME': str(eb.prefix),
            'LC_ALL': 'C.UTF-8',
            **variables,
        },
    )


def test_one_command_brings_all_commands_and_completion(any_eb):
    done = any_eb('osu-container-tools.eb')
    assert_success(done)
    root = any_eb.prefix / 'software' / 'osu-container-tools' / __version__
    shown = run_in_shell(
        any_eb,
        'osu-container --version',
        'echo "$EASYBUILD_INCLUDE_EASYBLOCKS"',
        'osu-container why --help | head -1; type -P osu-container',
    )
    assert shown.stdout.startswith(
        f'osu-container {__version__} ({root})\n{root}/easyblocks/generic/*.py\n'
    ), shown
    assert shown.stdout.endswith(f'{root}/bin/osu-container\n')
    words = run_in_shell(
        any_eb,
        f'. {root}/share/bash-completion/completions/osu-container',
        'COMP_WORDS=(osu-container ch) COMP_CWORD=1; $(complete -p osu-container | '
        'sed "s/.*-F \\([^ ]*\\) .*/\\1/"); echo "${COMPREPLY[@]}"',
    )
    assert words.stdout == 'check\n', words.stderr
    # what needs no library works at once, away from the clone
    facts = run_in_shell(
        any_eb,
        'osu-container check osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0 --site frontier '
        '--json',
    )
    assert json.loads(facts.stdout)['recommended'], facts.stderr
    assert not [
        path for path in root.rglob('*') if path.suffix == '.bak' or path.name == '.workstation'
    ]
