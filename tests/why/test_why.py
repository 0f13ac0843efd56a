"""
Test that `osu-container why` names the right message for texts of real programs.

For a text without a known message, the command must show the lines that look like an error, with
the program that printed them.

messages.tsv has one text per line, in three columns: the message that must be named first (- for
none); the origin of the text (the thread that found its cause, the source code that prints the
text, or a run of this project); the text.

answers.tsv has texts for which a right cause or the telling line must be shown, and nothing wrong:
an expression that the answer must match, one that it must not match, the origin, the text.
good_runs.tsv has the origin and the text of runs that succeeded.
"""

import gzip
import io
import itertools
import json
import lzma
import os
import pathlib
import re
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from osu_container.install import module_text
from osu_container.why import clues, messages, search
from tests.helpers.machine import (
    LMODS,
    PROJECT,
    STATE,
    assert_success,
    compile_library,
    run,
    run_clean_shell,
)

_ESCAPED = {'n': '\n', 't': '\t', '\\': '\\'}
NAMES = [entry['name'] for entry in messages.MESSAGES]
#: Forms that srun, mpirun, colours and other systems give to a line
FORMS = (
    '{}',
    '0: {}',
    ' 12: {}',
    'nid001234: {}',
    'srun: error: {}',
    '[1,0]<stderr>:{}',
    '{}\r',
    '{}   ',
    '\x1b[1;31m{}\x1b[0m\x1b[K',
    '\x1b]0;title\x07\x1b(B{}',
)
BASH_COMMANDS = [PROJECT / 'scripts' / name for name in ('run-in-container', 'osu-gpu-bind')]


def read_table(name):
    """Return the rows of a table in this folder; the last column is a text with escapes."""
    lines = (PROJECT / 'tests' / 'why' / name).read_text().splitlines()
    return [
        [*row[:-1], re.sub(r'\\(.)', lambda match: _ESCAPED[match[1]], row[-1])]
        for row in (line.split('\t') for line in lines)
    ]


def search_text(text):
    """Return (messages, clues) of a text."""
    log_search = search.Search()
    log_search.add(text)
    return log_search.list_messages(), log_search.list_clues()


#: (name of a message or -, origin of the text, text)
TEXTS = read_table('messages.tsv')


def list_names(text):
    return [each['name'] for each in search.find_messages(text)]


# ---- the table


def test_names_are_unique_and_every_pattern_matches_a_text():
    assert len(set(NAMES)) == len(NAMES)
    assert set(NAMES) == {name for name, _, _ in TEXTS} - {'-'}
    for entry, _, parts in search.PATTERNS:
        entry_texts = [text for name, _, text in TEXTS if name == entry['name']]
        assert [
            part.pattern for part, _ in parts if not any(map(part.search, entry_texts))
        ] == [], entry['name']


def test_files_named_by_an_entry_exist():
    for entry in messages.MESSAGES:
        assert set(entry['unless']) <= set(NAMES), entry['name']
        for path in re.findall(
            r'(?<![\w/-])(?:docs|easyconfigs|osu_container)/[\w./-]*\w',
            entry['source'] + ' ' + entry['remedy'],
        ):
            assert (PROJECT / path).exists(), (entry['name'], path)


# ---- texts with and without a known message


def test_each_message_is_named_first_in_any_context():
    for name, source, text in TEXTS:
        for form in FORMS if name != '-' else ():
            hits = search.find_messages(
                '\n'.join(form.format(line) for line in text.splitlines()) + '\n'
            )
            assert hits and hits[0]['name'] == name, (form, source, text)
            assert not re.search(r'\{\w+\}', hits[0]['cause'] + hits[0]['remedy'])


def test_every_text_matches_only_its_message():
    """
    No entry may match the text of a good run, of another program or of another entry.
    """
    wrong = [
        (list_names(text), name, source, text)
        for name, source, text in TEXTS
        if list_names(text) != ([] if name == '-' else [name])
    ]
    assert wrong == [] and sum(name == '-' for name, _, _ in TEXTS) > 80


@pytest.mark.parametrize('must, must_not, source, text', read_table('answers.tsv'))
def test_answer_names_the_cause_or_the_telling_line(must, must_not, source, text):
    answer = json.dumps(search_text(text))
    assert answer != '[[], []]' and re.search(must, answer), answer
    assert not must_not or not re.search(must_not, answer), answer


@pytest.mark.parametrize('source, text', read_table('good_runs.tsv'))
def test_good_run_is_not_accused(source, text):
    hits, lines = search_text(text)
    assert (hits, [clue for clue in lines if clue['level'] == 'error']) == ([], [])


def test_empty_placeholder_leaves_no_hole():
    for entry, names, _ in search.PATTERNS:
        for name in {*names} - {'by'}:
            groups = {**dict.fromkeys(names, 'X'), name: ''}
            advice = search.fill_advice(entry, groups, '')
            assert len(advice['cause']) > 20, entry['name']
            assert not re.search(
                r'\(\)|\(;| [.,;)](?:\s|$)|  |[:,]$', advice['cause'] + advice['remedy']
            )


AMDS_WORDS = re.compile(r'RCCL|rccl|ROC[mM]|rocm|\bHIP|\bhip|amdgpu|/dev/kfd|gfx9|rocminfo')
NVIDIAS_WORDS = re.compile(r'(?<!R)NCCL(?!_)|libnccl|CUDA|cuda|NVIDIA|nvidia|--nv\b')


def test_advice_fits_the_vendor_of_the_message():
    for _, _, text in TEXTS:
        for each in search.find_messages(text):
            shown_text = json.dumps([each['cause'], each['remedy'], each['also']])
            amd, nvidia = bool(search.AMD.search(text)), bool(search.NVIDIA.search(text))
            assert amd or not nvidia or not AMDS_WORDS.search(shown_text), shown_text
            assert nvidia or not amd or not NVIDIAS_WORDS.search(shown_text), shown_text


@pytest.mark.parametrize(
    'encode',
    [
        *(lambda text, name=name: text.encode(name) for name in ('utf-16', 'utf-8-sig', 'latin-1')),
        lambda text: gzip.compress(text.encode()),
        lambda text: lzma.compress(text.encode('utf-16')),
    ],
    ids=range(5),
)
def test_messages_of_other_systems_are_recognized(encode):
    text = (
        'fine\n' * 100_000
        + "./m: libfabric.so.1: version `FABRIC_1.7' not found (required by ./m)\n"
    )
    hits = search.search_file(io.BytesIO(encode(text))).list_messages()
    assert [(each['name'], each['number']) for each in hits] == [
        ('the loaded libfabric is too old', 100_001)
    ]


def test_long_line_is_shortened_around_the_message():
    text = 'a' * 5000 + ' x: undefined symbol: f7 ' + 'b' * 5000
    (hit,) = search.find_messages(text)
    assert len(hit['line']) <= search.SHOWN_LINE and 'undefined symbol: f7' in hit['line']
    (hit,) = search.find_messages(
        'progress 1 %\rprogress 2 %\rx: undefined symbol: f7\rprogress 3 %\n'
    )
    assert hit['line'] == 'x: undefined symbol: f7'
    (hit,) = search.find_messages('x: undefined symbol: ' + 'f' * 5000)
    assert 'f' * 500 not in hit['cause']


def test_no_pattern_takes_quadratic_time():
    for entry, _, parts in search.PATTERNS:
        for (part, text), filler in itertools.product(
            parts, ('a', ' ', '0', 'a ', '/a', '-', '[0] ')
        ):
            line = filler * (10_000 // len(filler)) + text + filler * (10_000 // len(filler))
            begin = time.process_time()
            part.search(line)
            assert time.process_time() - begin < 0.4, (entry['name'], part.pattern, filler)


def test_causes_follow_the_order_of_lines():
    text = (
        "a: undefined symbol: f7\n./b: error while loading shared libraries: libx.so.1: "
        "cannot open shared object file"
    )
    assert list_names(text) == [
        'a loaded library lacks a function',
        'the loader does not find a library',
    ]
    assert list_names('\n'.join(reversed(text.splitlines()))) == [
        'the loader does not find a library',
        'a loaded library lacks a function',
    ]


# ---- messages of this project's scripts, read from the scripts


@pytest.mark.parametrize('path', BASH_COMMANDS, ids=lambda path: path.name)
def test_every_wrapper_and_binding_message_is_recognized(path):
    texts = re.findall(r'fail "(.+)"', path.read_text())
    assert len(texts) >= 5
    for message in texts:
        text = re.sub(
            r'\$\{#lines\[@\]\}|\$SLURM_LOCALID|\$SLURM_GPUS_ON_NODE|\$SLURM_STEP_NUM_TASKS',
            '4',
            message,
        )
        text = re.sub(r'\$\{[^}]*\}|\$\w+', 'X', text)
        hits = list_names(f'osu_bw: {text}')
        assert len(hits) == 1, message


# ---- messages of the real loader


@pytest.mark.parametrize(
    'soname, linked_version, present_version, expected, word',
    [
        (
            'libfabric.so.1',
            'FABRIC_1.7',
            'FABRIC_1.6',
            'the loaded libfabric is too old',
            'FABRIC_1.7',
        ),
        (
            'libgrape.so.1',
            'GRAPE_2',
            'GRAPE_1',
            'a loaded library has the wrong version',
            'GRAPE_2',
        ),
        ('libgrape.so.1', 'GRAPE_1', None, 'the loader does not find a library', 'libgrape.so.1'),
    ],
)
def test_loader_messages_are_recognized(
    tmp_path, soname, linked_version, present_version, expected, word
):
    """Start a program whose library has another version than at link time, or is missing."""
    for folder, version in (('linked', linked_version), ('found', present_version)):
        if version:
            compile_library(
                tmp_path / folder / soname,
                version_script=f'{version} {{ global: f7; }};\n',
                source='int f7(void) { return 7; }\n',
            )
    (tmp_path / 'main.c').write_text('int f7(void);\nint main(void) { return f7() - 7; }\n')
    assert (
        run(
            ['gcc', '-o', tmp_path / 'main', tmp_path / 'main.c', tmp_path / 'linked' / soname]
        ).returncode
        == 0
    )
    result = run(
        [tmp_path / 'main'], env={'LD_LIBRARY_PATH': str(tmp_path / 'found'), 'LC_ALL': 'C'}
    )
    (each,) = search.find_messages(result.stderr)
    assert each['name'] == expected and word in each['cause'], result.stderr


# ---- messages of the real Lmod, which wraps them to lines of 80 characters

SETTINGS = SimpleNamespace(load_checks=SimpleNamespace(image_folders=(), site_image=None))


@pytest.fixture
def lmod(tmp_path):
    """
    Return a function that runs a script with faulty modules and returns its output.

    Arguments of the function: the script, and a name of LMODS.
    """
    for name, text in {
        'ours.lua': '\n'.join(
            [
                "local root = '/project/' .. string.rep('long/', 30)",
                *module_text.render_image_lines(SETTINGS, 'x.sif', 'cp a b'),
            ]
        ),
        'host.lua': "local changes = { '/opt/cray/libfabric/1.22.0/lib64/libfabric.so.1' }\n"
        + module_text.CHECK_TEXT % "'eb'",
        'one.lua': "conflict('other')",
        'other.lua': "setenv('OTHER', '1')",
        'stack.lua': f"prepend_path('MODULEPATH', '{tmp_path}/inner')",
    }.items():
        (tmp_path / 'modules').mkdir(exist_ok=True)
        (tmp_path / 'modules' / name).write_text(text + '\n')
    (tmp_path / 'inner').mkdir()
    (tmp_path / 'inner' / 'within.lua').write_text("setenv('WITHIN', '1')\n")

    def call(script, version):
        result = run_clean_shell(
            script, version, MODULEPATH=str(tmp_path / 'modules'), HOME=str(tmp_path)
        )
        return result.stdout + result.stderr

    return call


@pytest.mark.parametrize('version', LMODS)
@pytest.mark.parametrize(
    'script, expected_name, word',
    [
        ('module load nonesuch/1', 'Lmod does not find the module', 'nonesuch/1'),
        ('module load ours', 'the image of the module was deleted', '/long/x.sif'),
        ('module load host', 'the host has changed since the module was installed', '--rebuild'),
        ('module load other one', 'two modules cannot be loaded together', 'other'),
        (
            'module spider within >/dev/null 2>&1; module load within',
            'the module belongs to a software stack that is not loaded',
            'within',
        ),
    ],
)
def test_lmod_messages_are_recognized(lmod, version, script, expected_name, word):
    text = lmod(script, version)
    hits = search.find_messages(text)
    assert [each['name'] for each in hits] == [expected_name], text
    assert word in hits[0]['cause'] + hits[0]['remedy'], hits


# ---- the command


def command(*arguments, **kwargs):
    return run([PROJECT / 'scripts' / 'osu-container', 'why', *arguments], **kwargs)


def test_why_reads_files_and_pipes_and_prints_the_remedy(tmp_path):
    text = "fine\n./m: old/libfabric.so.1: version `FABRIC_1.7' not found (required by ./m)\n"
    log = tmp_path / 'job.out'
    log.write_text(text)
    result = command(log)
    assert_success(result)
    (each,) = search.find_messages(text)
    assert all(
        each[key] in ' '.join(result.stdout.split())
        for key in ('name', 'line', 'cause', 'remedy', 'source')
    )
    assert command('-', input=text).stdout == command(input=text).stdout == result.stdout
    hits = json.loads(command('--json', log).stdout)
    assert hits == [dict(each, file=str(log))]


@pytest.mark.parametrize('text', ['nothing that is known\n', ''])
def test_exit_code_is_1_without_a_recognized_message(text):
    result = command('--json', input=text)
    assert (result.returncode, json.loads(result.stdout)) == (1, [])


@pytest.fixture
def logs(tmp_path):
    """
    Write ten logs and return their names.

    Seven logs have the same message, one has another message, one has no known message, one is
    empty.
    """
    old = "./m: libfabric.so.1: version `FABRIC_1.7' not found (required by ./m)\n"
    texts = [old, 'fine\n' + 2 * old] + 5 * [old] + ['x: undefined symbol: f7\n', 'fine\n', '']
    for number, text in enumerate(texts):
        (tmp_path / f'slurm-{number}.out').write_text(text)
    return [f'slurm-{number}.out' for number in range(len(texts))]


def test_repeated_message_is_named_once_with_all_its_files(logs, tmp_path):
    result = command(*logs, cwd=tmp_path)
    assert result.returncode == 0 and result.stderr == ''
    assert re.findall(
        '^(the loaded libfabric is too old|a loaded library lacks a function)', result.stdout, re.M
    ) == [
        'the loaded libfabric is too old',
        'a loaded library lacks a function',
    ]
    assert re.search(
        r'\nthe loaded libfabric is too old.*slurm-0\.out\D+1\b.*slurm-1\.out\D+2\D+1\b.*slurm-2\.out',
        result.stdout,
    )
    assert re.findall(r'(slurm-[89]\.out)\b.*?(docs/support\.md|$)', result.stdout, re.M) == [
        ('slurm-8.out', 'docs/support.md'),
        ('slurm-9.out', ''),
    ]
    hits = json.loads(command('--json', *logs, cwd=tmp_path).stdout)
    assert [each['file'] for each in hits] == logs[:8]


@pytest.mark.parametrize('name', ['none', 'folder', 'log.gz', 'log.zst'])
def test_unreadable_file_is_named_and_other_files_are_read(logs, tmp_path, name):
    (tmp_path / 'folder').mkdir()
    (tmp_path / 'log.gz').write_bytes(gzip.compress(b'x: undefined symbol: f7\n')[:-9])
    (tmp_path / 'log.zst').write_bytes(b'\x28\xb5\x2f\xfd1')
    result = command(name, logs[7], cwd=tmp_path)
    assert result.returncode == 1 and 'slurm-7.out' in result.stdout
    assert (
        result.stderr.startswith(f'osu-container why: error: {name}: ')
        and result.stderr.count('\n') == 1
    )
    assert ('zstdcat' in result.stderr) == (name == 'log.zst'), 'the remedy must name the command'


def test_alternative_cause_has_a_deciding_command():
    text = next(text for name, _, text in TEXTS if name == 'MPI finds no libfabric provider')
    (hit,) = json.loads(command('--json', input=text).stdout)
    assert hit['also'] and all(
        each['command'] in ' '.join(command(input=text).stdout.split()) for each in hit['also']
    )


def test_unencodable_characters_are_no_error(tmp_path):
    (tmp_path / 'log').write_bytes('\u201e\u00e4\u201c x: undefined symbol: f7\n'.encode())
    for locale in ('C', 'POSIX', 'C.UTF-8'):
        result = command(
            tmp_path / 'log',
            env={'PATH': '/usr/bin:/bin', 'LC_ALL': locale, 'PYTHONIOENCODING': 'ascii:strict'},
        )
        assert result.returncode == 0 and 'x: undefined symbol: f7' in result.stdout, result.stderr


# ---- long logs


@pytest.mark.parametrize('end', [b'\n', b'\r\n', b''])
@pytest.mark.parametrize('block', [1, 7, 41])
def test_chunk_borders_do_not_change_the_result(monkeypatch, block, end):
    text = (
        b"a\r\nx: undefined symbol: f7\n\nb \xc3\xa4\nsrun: error: n: task 0: Exited with exit code 1\n"
        b"y: undefined symbol: f8" + end
    )
    expected_search = search.search_file(io.BytesIO(text))
    monkeypatch.setattr(search, 'BLOCK', block)
    log_search = search.search_file(io.BytesIO(text))
    if block >= 41:  # the length of the longest line; longer lines are searched in parts
        assert (
            log_search.list_messages() == expected_search.list_messages()
            and expected_search.list_messages()[0]['times'] == 2
        )
    assert log_search.line_count == expected_search.line_count == 6


def test_beginning_and_end_of_a_very_long_log_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(search, 'HEAD', 4 * search.BLOCK)
    monkeypatch.setattr(search, 'TAIL', 2 * search.BLOCK)
    with open(tmp_path / 'log', 'w+b') as handle:
        handle.write(b'all well\n' * 2_000_000 + b'x: undefined symbol: f7\n')
        handle.seek(3 << 30)  # a hole of NUL bytes, as some file systems leave in logs
        handle.write(b'y: undefined symbol: f8\n')
        handle.seek(0)
        result = search.search_file(handle)
    (each,) = result.list_messages()
    assert each['part'] and (each['number'], each['cause'].count('f8')) == (1, 1)
    assert result.skipped_bytes >> 20 == 3072 - 6 and len(result.list_skipped_parts()) == 1


def test_binary_is_refused_and_junk_hides_no_message():
    assert command(sys.executable).stderr.startswith(
        f'osu-container why: error: {sys.executable}: '
    )
    junk = pathlib.Path(sys.executable).read_bytes()[1:500_000]
    hits = search.search_file(
        io.BytesIO(junk + b'\nx: undefined symbol: f7\n' + junk)
    ).list_messages()
    assert [each['name'] for each in hits] == ['a loaded library lacks a function']


# ---- messages of the real Slurm


@pytest.fixture(scope='module')
def slurm_shell(slurm):
    """
    Return a function that runs a script with the private Slurm and returns its output.
    """
    environment = {
        'PATH': f"{STATE / 'bin'}:/usr/bin:/bin:/usr/sbin:/sbin",
        'HOME': os.environ['HOME'],
        'SLURM_CONF': str(STATE / 'slurm' / 'slurm.conf'),
        'LC_ALL': 'C.UTF-8',
    }
    return lambda script: (
        run(
            ['bash', '--norc', '-c', script], env=environment, stderr=subprocess.STDOUT, timeout=120
        ).stdout
    )


@pytest.mark.system
@pytest.mark.parametrize(
    'script, expected_name',
    [
        ('srun --mpi=nonesuch true', 'Slurm does not have the requested MPI type'),
        ('srun -N1 -n1 --mem=900000G true', 'the job requests more memory than a node has'),
        ('salloc -Q -N1 -n1 srun -n40 true', 'srun requests more than the job has'),
        ('srun -N1 -n1 osu_nonesuch', 'the node does not find the program'),
        ("srun -N1 -n1 sh -c 'exit 7'", 'the program failed'),
        ("srun -N1 -n1 sh -c 'kill -KILL $$'", 'a rank was killed'),
        (
            "salloc -Q -N1 -n1 sh -c 'srun -n1 --exact sleep 3 & sleep 1; srun -n1 --exact true; wait'",
            'the job step waits for an earlier step of the job',
        ),
        ('SLURM_CONF=/nonesuch timeout 3 srun true', "Slurm's controller does not answer"),
    ],
)
def test_slurm_messages_are_recognized(slurm_shell, script, expected_name):
    text = slurm_shell(script)
    assert list_names(text) == [expected_name], text


UNKNOWN = 'libfabric:77:1700000000::core:core:quux():18<warn> failed: wibbled\n'
CONSEQUENCE = 'srun: error: node1: task 0: Exited with exit code 1\n'


def list_shown_lines(text):
    """
    Return the lines of a text that look like an error, as Clues.list_lines() does.
    """
    collection = clues.Clues()
    collection.add(text, '\n'.join(search.split_words(text)), 0)
    return collection.list_lines()


def test_shown_lines_include_the_line_of_the_cause():
    known_texts = [
        (text, search.find_messages(text + '\n')[0]['number'])
        for name, _, text in TEXTS
        if name != '-'
    ]
    missed_texts = [
        text
        for text, number in known_texts
        if number not in [line[0] for line in list_shown_lines(text)]
    ]
    assert len(missed_texts) < 0.2 * len(known_texts), missed_texts


@pytest.mark.parametrize('program', [name for name, *_ in clues.MESSAGE_PROGRAMS])
def test_each_program_is_identified_by_its_output(program):
    assert program in {
        clues.identify_program(line)[0] for _, _, text in TEXTS for line in text.splitlines()
    }


def test_unknown_error_is_shown_once_with_program_and_advice():
    log = (
        'Hello\n' * 3 + ''.join(f'{rank}: {UNKNOWN}' for rank in range(64)) + '[node2] Fatal quux\n'
    )
    result = command(input=log)
    assert (
        result.returncode == 1
        and 'docs/support.md' in result.stdout
        and 'FI_LOG_LEVEL=warn' in result.stdout
    )
    assert result.stdout.count('quux():18') == 1 and re.search(
        r'\b4\n(.*\n)+.*\b68\n', result.stdout
    )
    first, second = json.loads(command('--json', input=log).stdout)
    assert (first['name'], first['number'], first['program'], second['number']) == (
        None,
        4,
        'libfabric',
        68,
    )


def test_unknown_errors_are_shown_unless_a_cause_is_known():
    result = command(input=UNKNOWN + CONSEQUENCE)
    assert result.returncode == 0 and re.search(
        r'^the program failed\b.*\b2\n', result.stdout, re.M
    )
    assert 'failed: wibbled' in result.stdout
    assert result.stdout.count('Exited with exit code') == 1, (
        'a line with a known message must not be a clue'
    )
    cause = next(
        text for name, _, text in TEXTS if name == 'provider psm3 cannot open a network card'
    )
    log_search = search.Search()
    log_search.add(UNKNOWN + cause + '\n')
    assert log_search.list_clues() == []


def test_control_characters_of_logs_are_shown_not_obeyed(tmp_path):
    for name in ('a\x1b]0;title\x07', 'b'):
        (tmp_path / name).write_text('error: \x1b[2J\x07quux\u202e\n')
    result = command(*tmp_path.iterdir())
    assert result.stdout.count('quux') == 2 and not any(
        order in result.stdout for order in '\x1b\x07\u202e'
    )


def test_line_numbers_span_chunks_and_few_lines_are_kept(monkeypatch):
    log_search = search.Search()
    for part in range(50):
        log_search.add(
            'all well\n' * 10
            + UNKNOWN.replace('quux', 'quux' + 'abcdefghij'[part % 10] * (part + 1))
        )
    lines = log_search.list_clues()
    assert [clue['number'] for clue in lines] == [11, 22, 33, 44, 55, 66]
    assert len(log_search.clues.seen) <= sum(clues.KEPT_PER_WEIGHT.values())
