"""make figures: what is made of measured pairs, and every group for real with one pair."""
import os
import re
import sys

import pytest

from osu_container import figures
from tests.helpers.machine import PROJECT, run


def test_median_and_quartiles():
    assert figures.summary([1.0, 2.0, 3.0, 4.0, 5.0]) == (3.0, 1.5, 4.5)
    assert figures.summary([7.0]) == (7.0, 7.0, 7.0)


def test_differences_and_ratios_are_made_pair_by_pair():
    made = figures.line('x', [(0.002, 0.001), (0.020, 0.010)])
    assert '2 [2 .. 2]' in made and '5.5 [' in made, made


def test_a_first_pair_warms_caches_and_what_is_compared_takes_turns():
    called = []
    pairs = figures.in_pairs(lambda: called.append('a') or len(called), lambda: called.append('b') or len(called), 2)
    assert called == ['a', 'b'] * 3 and pairs == [(3, 4), (5, 6)]


def test_a_command_that_fails_says_why():
    with pytest.raises(figures.FiguresError, match='(?s)exit 3.*failed.*no luck'):
        figures.seconds(['sh', '-c', 'echo no luck >&2; exit 3'], dict(os.environ))


@pytest.mark.parametrize('arguments, said', [(['nonesuch'], 'unknown group nonesuch; known: wrapper'),
                                             (['--repeats', '0'], 'is 0, wanted 1 or more')])
def test_wrong_arguments_are_refused_before_anything_runs(arguments, said):
    done = run([sys.executable, '-m', 'osu_container.figures', *arguments], cwd=PROJECT)
    assert done.returncode == 2 and said in done.stderr and 'Traceback' not in done.stderr


@pytest.mark.full
@pytest.mark.apptainer
@pytest.mark.slurm
def test_every_group_runs(shell):
    """No figure is judged: only that there are all, from real runs."""
    done = shell(f'cd {PROJECT}; {sys.executable} -m osu_container.figures --repeats 1', timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(re.findall(r'\S+ \[\S+ \.\. \S+\]', done.stdout)) == 3 * (4 + 4), done.stdout
