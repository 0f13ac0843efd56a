"""What the command osu-container answers to a wrong word, to none, and to --version."""
import ast
import os
import re

import pytest

from osu_container import __version__
from osu_container.cli import COMMANDS, main
from tests.helpers.machine import PROJECT, PYTHON_36, run

COMMAND = PROJECT / 'bin' / 'osu-container'


@pytest.mark.parametrize('arguments, usage, meant', [
    (['chek', 'x.sif'], 'osu-container', 'check'),
    (['repport'], 'osu-container', 'report'),
    (['why', '--jsn'], 'osu-container why', '--json'),
    (['check', '--pblished'], 'osu-container check', '--published'),
    (['image', 'lst'], 'osu-container image', 'list'),
    (['image', 'list', '--jsn'], 'osu-container image list', '--json'),
    (['bench', '--tag', 'quik'], 'osu-container bench', 'quick'),
    (['bench', '--dryrun=1'], 'osu-container bench', '--dry-run')])
def test_a_wrong_word_is_answered_by_the_one_that_may_have_been_meant(capsys, arguments, usage, meant):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    said = capsys.readouterr()
    assert ended.value.code == 2 and said.out == ''
    assert re.match(rf'usage: {usage} ', said.err) and said.err.endswith(f' Did you mean {meant}?\n'), said.err


@pytest.mark.parametrize('arguments', [['nonsense'], ['why', '--xyzzy'], ['image', 'list', '--xyzzy']])
def test_nothing_is_guessed_where_nothing_is_like_it(capsys, arguments):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    said = capsys.readouterr().err
    assert ended.value.code == 2 and arguments[-1] in said and 'Did you mean' not in said


def test_without_a_command_the_help_is_shown(capsys):
    assert main([]) == 2
    said = capsys.readouterr()
    assert said.err == '' and all(f'\n    {name}' in said.out for name in COMMANDS)


def test_the_version_is_that_of_the_package_and_of_setup(capsys, monkeypatch):
    with pytest.raises(SystemExit) as ended:
        main(['--version'])
    assert ended.value.code == 0 and capsys.readouterr().out == f'osu-container {__version__} ({PROJECT})\n'
    monkeypatch.chdir(PROJECT)  # as pip builds it; setup() itself would look at every folder
    only, = (node for node in ast.parse((PROJECT / 'setup.py').read_text()).body
             if isinstance(node, ast.FunctionDef) and node.name == 'version')
    names = {'os': os, 're': re}
    exec(compile(ast.Module([only], []), 'setup.py', 'exec'), names)
    assert names['version']() == __version__


@pytest.mark.skipif(PYTHON_36 is None, reason='no Python 3.6 on this machine')
def test_it_guesses_on_the_python_of_compute_nodes_too():
    done = run([PYTHON_36, COMMAND, 'why', '--jsn'])
    assert done.returncode == 2 and done.stderr.endswith('Did you mean --json?\n')
