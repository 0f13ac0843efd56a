"""The module osu-container-tools: all commands, man pages and completion for all users of a site."""
import json
import re

import pytest

from osu_container import __version__
from osu_container.cli import COMMANDS
from tests.helpers.machine import PROJECT, run

pytestmark = pytest.mark.long

LMOD = '. /usr/share/lmod/lmod/init/bash'


def in_a_shell(eb, *lines, **variables):
    """Run lines of bash as a user has them with the module loaded, and no other part of this project."""
    text = '\n'.join([LMOD, f'module use {eb.prefix}/modules/all', 'module load osu-container-tools', *lines])
    return run(['bash', '--norc', '-c', text], cwd='/', env={
        'PATH': '/usr/local/bin:/usr/bin:/bin', 'HOME': str(eb.prefix), 'LC_ALL': 'C.UTF-8', **variables})


def test_one_command_brings_all_commands_with_their_pages_and_completion(any_eb):
    done = any_eb('osu-container-tools.eb')
    assert done.returncode == 0, done.stdout[-3000:]
    root = any_eb.prefix / 'software' / 'osu-container-tools' / __version__
    shown = in_a_shell(any_eb, 'osu-container --version', 'echo "$EASYBUILD_INCLUDE_EASYBLOCKS"', 'echo "$MANPATH"',
                       'osu-container why --list | head -1; type -P osu-container')
    assert shown.stdout.startswith(f'osu-container {__version__} ({root})\n{root}/easyblocks/generic/*.py\n'), shown
    assert f'{root}/share/man' in shown.stdout and shown.stdout.endswith(f'{root}/bin/osu-container\n')
    pages = {path.name for path in (root / 'share/man/man1').iterdir()}
    assert pages == {'osu-container.1', *(f'osu-container-{name}.1' for name in COMMANDS)}
    words = in_a_shell(any_eb, f'. {root}/share/bash-completion/completions/osu-container',
                       'COMP_WORDS=(osu-container ch) COMP_CWORD=1; $(complete -p osu-container | '
                       'sed "s/.*-F \\([^ ]*\\) .*/\\1/"); echo "${COMPREPLY[@]}"')
    assert words.stdout == 'check\n', words.stderr
    # what needs no library works at once, away from the clone
    facts = in_a_shell(any_eb, 'osu-container check osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0 --site frontier '
                       '--json')
    assert json.loads(facts.stdout)['recommended'], facts.stderr
    named = in_a_shell(any_eb, 'osu-container compare lumi-g-2025-03:opensource',
                       OSU_CONTAINER_PYTHON=str(PROJECT / '.workstation/venv/bin/python'))
    assert named.returncode in (0, 1) and 'osu_latency' in named.stdout, named.stderr
    missing = in_a_shell(any_eb, 'osu-container compare lumi-g-2025-03:opensource')
    if missing.returncode not in (0, 1):
        assert missing.returncode == 3
        assert re.search('pip install -r .* && export OSU_CONTAINER_PYTHON=', missing.stderr)
    assert not [path for path in root.rglob('*') if path.suffix == '.bak' or path.name == '.workstation']
