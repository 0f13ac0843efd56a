"""Where osu-container why knows no cause, it shows the lines that look like an error, and who says them."""
import json

import pytest

from osu_container.why import clues, search
from tests.helpers.machine import PROJECT, run
from tests.why.texts import TEXTS

WHY = PROJECT / 'bin' / 'osu-container'
UNKNOWN = 'libfabric:77:1700000000::core:core:quux():18<warn> failed: wibbled\n'
CONSEQUENCE = 'srun: error: node1: task 0: Exited with exit code 1\n'


def shown(text):
    """Return what is shown of text (str) as if no message were known: [(number, line, program, more)]."""
    found = clues.Clues()
    found.add(text, '\n'.join(search.words_of(text)), 0)
    return found.found()


def test_the_line_that_tells_the_cause_is_among_those_that_are_shown():
    known = [(text, search.explain(text + '\n')[0]['number']) for name, _, text in TEXTS if name != '-']
    missed = [text for text, number in known if number not in [line[0] for line in shown(text)]]
    assert len(missed) < 0.2 * len(known), missed


@pytest.mark.parametrize('program', [name for name, *_ in clues.SPEAKERS])
def test_each_program_is_known_by_what_it_printed_somewhere(program):
    assert program in {clues.speaker_of(line)[0] for _, _, text in TEXTS for line in text.splitlines()}


@pytest.mark.parametrize('line', ['.deps/libucm_rocm_la-rocmmem.Plo:1: warning: NUL character seen',
                                  'Cannot open configuration file /build/hpcx-cuda12/ompi/mpicc-wrapper-data.txt'])
def test_a_word_in_a_path_says_nothing_of_who_speaks(line):
    assert clues.speaker_of(line) == ('', '')


def test_an_unknown_error_is_shown_once_with_its_program_and_how_to_learn_more():
    log = 'Hello\n' * 3 + ''.join(f'{rank}: {UNKNOWN}' for rank in range(64)) + '[node2] Fatal quux\n'
    done = run([WHY, 'why'], input=log)
    assert done.returncode == 1 and 'None of the ' in done.stdout and 'No cause is known' in done.stdout
    assert done.stdout.count('quux():18') == 1 and 'line 4\n' in done.stdout and 'line 68\n' in done.stdout
    assert 'said by libfabric; to let it say more: export FI_LOG_LEVEL=warn' in done.stdout
    first, second = json.loads(run([WHY, 'why', '--json'], input=log).stdout)
    assert (first['name'], first['number'], first['program'], second['number']) == (None, 4, 'libfabric', 68)


def test_beside_a_consequence_unknown_errors_are_shown_and_beside_a_cause_none():
    done = run([WHY, 'why'], input=UNKNOWN + CONSEQUENCE)
    assert done.returncode == 0 and 'program failed, line 2' in done.stdout
    assert 'No cause is known' in done.stdout and 'failed: wibbled' in done.stdout
    assert done.stdout.count('Exited with exit code') == 1, 'what is named is no clue'
    cause = next(text for name, _, text in TEXTS if name == 'PSM3 opens no card')
    known = search.Search()
    known.add(UNKNOWN + cause + '\n')
    assert known.not_known() == []


def test_what_others_wrote_is_shown_and_not_obeyed(tmp_path):
    for name in ('a\x1b]0;title\x07', 'b'):
        (tmp_path / name).write_text('error: \x1b[2J\x07quux\n')
    done = run([WHY, 'why', *tmp_path.iterdir()])
    assert done.stdout.count('quux') == 2 and '\x1b' not in done.stdout and '\x07' not in done.stdout


def test_lines_are_counted_over_the_parts_of_a_long_log_and_few_are_kept(monkeypatch):
    found = search.Search()
    for part in range(50):
        found.add('all well\n' * 10 + UNKNOWN.replace('quux', 'quux' + 'abcdefghij'[part % 10] * (part + 1)))
    lines = found.not_known()
    assert [one['number'] for one in lines] == [11, 22, 33, 44]
    assert len(found.clues.seen) <= sum(clues.KEPT.values())


@pytest.mark.parametrize('text', ['12 tests, 0 failures', 'Finished without errors', 'errors: 0', 'no error was found',
                                  '    raise ValueError(text)', 'sbatch --no-fail-fast',
                                  'VERBOSE [U=0,P=1]  wait_child()  failed, rpc server exited',
                                  'libfabric:1:2::tcp:ep_ctrl:xnet():106<info> Connection refused from remote',
                                  'openat(AT_FDCWD, "/x/libmpi.so", 0) = -1 ENOENT (No such file or directory)'])
def test_what_counts_or_names_errors_is_none(text):
    assert shown(text + '\n') == []
