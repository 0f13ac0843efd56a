"""Files of ranks that are damaged or made by somebody else, and folders in which none can be written."""
import json
import os
import random
import re
import sys
import time

import pytest

from osu_container.core.reading import files
from osu_container.proof import judging, layout
from osu_container.proof import text as report
from tests.helpers.machine import PROJECT, PYTHON_36, run
from tests.proof.test_judging import command, keep, rank
from tests.proof.test_loaded import RANK_PROOF

ODD = [None, True, False, 0, 1, -1, 2, 10 ** 9, 10 ** 30, 0.5, '', 'x', 'host', 'a b', '\x1b[2J', '\udce4', [], {}, [1],
       ['x'], [[]], {'x': 1}, {'': None}, 'approach=hybrid', 'libmpi=here']


def places(value):
    """All (container, key) of a JSON value."""
    found = []
    for key in (list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()):
        found += [(value, key), *places(value[key])]
    return found


def mutant(chance):
    """The proofs of two ranks with some damage by chance."""
    proofs = json.loads(json.dumps([rank(0), rank(1)]))
    for _ in range(chance.choice([1, 1, 1, 2, 4, 16])):
        where, key = chance.choice(places(proofs)[2:])
        if isinstance(where, dict) and chance.random() < 0.2:
            where.pop(key, None)
        elif isinstance(where, dict) and chance.random() < 0.1:
            where[chance.choice(['x', 'libmpi', 'tasks', ''])] = chance.choice(ODD)
        else:
            where[key] = chance.choice(ODD)
    return proofs


@pytest.mark.parametrize('count', [300, pytest.param(20000, marks=pytest.mark.full)])
def test_whatever_a_file_says_the_answer_is_a_verdict_or_a_plain_error(tmp_path, count):
    plain = 0
    for seed in range(count):
        for number, proof in enumerate(mutant(random.Random(seed))):
            (tmp_path / f'rank-{number}.json').write_text(json.dumps(proof))
        try:
            judging.wait_for(tmp_path, seconds=0)
            found = judging.read_run(tmp_path)
            promise = judging.promise_of(found.proofs)
            told = judging.judge(found, promise)
            report.text('step', found, promise, *told).encode(errors='backslashreplace')
            json.dumps(report.content(found, promise, *told), sort_keys=True)
        except judging.ProofError as err:
            assert len(str(err)) < 600, f'seed {seed}: {err}'
            plain += 1
        except Exception as err:
            raise AssertionError(f'seed {seed}: {err!r}') from err
    assert 0.2 < plain / count < 0.9, 'most damage is found, and some files are whole'


def big(path):
    with open(path, 'w') as handle:
        handle.truncate(files.MOST['rank'] + 1)


ROUND = json.dumps(rank(0))
BAD = [
    (lambda path: os.mkfifo(path), 'is damaged: it is no plain file'),
    (lambda path: path.symlink_to('/dev/zero'), 'is damaged: it is no plain file'),
    (lambda path: path.mkdir(), 'is damaged: Is a directory'),
    (lambda path: path.symlink_to('nowhere'), 'rank 0 left no proof'),
    (big, f"is damaged: it has {files.MOST['rank'] + 1} bytes, at most"),
    (lambda path: path.write_text('[' * 200000), 'is damaged: it is nested too deep'),
    (lambda path: path.write_text('{"format": ' + '9' * 5000 + '}'), 'rank-0.json'),
    (lambda path: path.write_text(ROUND.replace('"tasks": 2', '"tasks": 1000000000')),
     'is damaged: tasks of step is 1000000000'),
    (lambda path: path.write_text(ROUND.replace('"tasks": 2', '"tasks": Infinity')), 'Infinity is no number'),
    (lambda path: path.write_bytes(b'\xff\xfe\x00'), "is damaged: 'utf-8' codec can't decode"),
    (lambda path: path.write_text(ROUND.replace('"rank": 0', '"rank": 5')), 'is damaged: it is that of rank 5'),
    (lambda path: path.write_text(ROUND.replace('"/opt/MPICH.so"', '7')), 'is damaged: path of library libmpi is 7'),
]


@pytest.mark.parametrize('make, says', BAD)
def test_a_file_that_is_none_is_named_and_read_no_further(tmp_path, make, says):
    make(tmp_path / 'rank-0.json')
    begin = time.monotonic()
    with pytest.raises(judging.ProofError, match=re.escape(str(tmp_path))) as caught:
        judging.read_run(tmp_path)
    assert says in str(caught.value) and len(str(caught.value)) < 400
    assert time.monotonic() - begin < 20


def test_many_ranks_without_a_file_are_one_sentence(tmp_path):
    keep(tmp_path, [rank(0, layout.MOST_RANKS)])
    done = command(tmp_path)
    assert done.returncode == 1
    assert f'Nothing is proved of ranks 1-{layout.MOST_RANKS - 1}' in ' '.join(done.stdout.split())


@pytest.mark.parametrize('python', [sys.executable, pytest.param(PYTHON_36, marks=pytest.mark.skipif(
    not PYTHON_36, reason='no Python 3.6 here'))])
def test_names_that_are_no_ascii_are_read_and_shown_everywhere(tmp_path, python):
    proofs = [dict(rank(number), executable='/opt/pr\u00fcf/osu_\u65e5\udce4') for number in range(2)]
    keep(tmp_path / '7.0', proofs)
    for words in ([PROJECT / 'bin' / 'osu-container', 'proof'], [PROJECT / 'osu_container' / 'proof' / 'osu-proof']):
        done = run([python, '-I', '-S', *words, tmp_path / '7.0'],
                   env={'PATH': '/usr/bin:/bin', 'LC_ALL': 'C', 'PYTHONCOERCECLOCALE': '0', 'PYTHONUTF8': '0'})
        assert (done.returncode, done.stderr) == (0, ''), done.stderr
        assert re.search(r'osu_(\u65e5|\\u65e5)\\(udc|x)e4', done.stdout)


# ---- what the command does not take ----------------------------------------------------------------------------------

@pytest.mark.parametrize('options, says', [
    (['--expect', 'colour=red'], "'colour=red' is no promise"), (['--approach', 'native-x'], "unknown approach"),
    (['--json'], '--json is for a folder')])
def test_options_are_checked_before_anything_runs(tmp_path, options, says):
    done = command(*options, '--', 'touch', 'ran', cwd=tmp_path)
    assert done.returncode in (1, 2) and says in done.stderr
    assert list(tmp_path.iterdir()) == []


# ---- no proof can be written -----------------------------------------------------------------------------------------

@pytest.mark.parametrize('number, times', [('0', 1), ('1', 0)])
def test_a_proof_that_cannot_be_written_is_said_by_one_rank(tmp_path, number, times):
    (tmp_path / 'file').write_text('')
    done = run([RANK_PROOF, tmp_path / 'file' / 'folder', 'sh', '-c', 'sleep 1; echo ran'],
               env={**os.environ, 'SLURM_PROCID': number})
    assert (done.returncode, done.stdout) == (0, 'ran\n')
    assert done.stderr.splitlines() == [
        f'Nothing is proved: {tmp_path}/file/folder cannot be written: Not a directory. Name another folder, which the '
        'nodes see as well: OSU_PROOF=FOLDER'] * times


def test_a_full_disk_under_the_proof_is_said_and_leaves_no_part_of_a_file(tmp_path):
    done = run(['bash', '-c', 'ulimit -f 0; exec "$@"', '-', RANK_PROOF, tmp_path / 'proof', 'sleep', '1'],
               env={**os.environ, 'SLURM_PROCID': '0'})
    assert done.returncode == 0
    assert f'Nothing is proved: {tmp_path}/proof cannot be written: File too large' in done.stderr
    assert list((tmp_path / 'proof').iterdir()) == []


def test_a_program_with_closed_streams_is_proved_as_well(tmp_path):
    done = run(['bash', '-c', 'exec "$@" 2>&- <&-', '-', RANK_PROOF, tmp_path / 'proof', 'sh', '-c',
                'sleep 1; echo ran'],
               env={**os.environ, 'SLURM_PROCID': '0'})
    assert (done.returncode, done.stdout) == (0, 'ran\n')
    judging.wait_for(tmp_path / 'proof', 1)
    found = judging.read_run(tmp_path / 'proof')
    assert found.without[0][1].startswith('the program ended before it had loaded an MPI library')
