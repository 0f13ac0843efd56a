"""
osu-container why names the right cause of what programs really printed, and none of what it does not know: then it
shows the lines that look like an error, and who says them.

messages.tsv has the texts on which it is tried, a line for each: the message that is to be named first (- for none),
where the text is from (the thread that found its cause, the source code that prints it, or a run here), the text.
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
from tests.helpers.machine import LMODS, PROJECT, STATE, clean_shell, compile_library, run

NAMES = [entry['name'] for entry in messages.MESSAGES]
#: What srun, mpirun, colours and other systems do to a line
FORMS = ('{}', '0: {}', ' 12: {}', 'nid001234: {}', 'srun: error: {}', '[1,0]<stderr>:{}', '{}\r', '{}   ',
         '\x1b[1;31m{}\x1b[0m\x1b[K', '\x1b]0;title\x07\x1b(B{}')
BASH_COMMANDS = [PROJECT / 'scripts' / name for name in ('run-in-container', 'osu-gpu-bind')]


def names(text):
    return [each['name'] for each in search.explain(text)]


# ---- the table

def test_names_are_unique_and_every_pattern_is_shown_by_a_text_of_its_message():
    assert len(set(NAMES)) == len(NAMES)
    assert set(NAMES) == {name for name, _, _ in TEXTS} - {'-'}
    for entry, _, parts in search.PATTERNS:
        own = [text for name, _, text in TEXTS if name == entry['name']]
        assert [part.pattern for part, _ in parts if not any(map(part.search, own))] == [], entry['name']


def test_what_an_entry_names_exists():
    for entry in messages.MESSAGES:
        assert set(entry.get('unless', [])) <= set(NAMES), entry['name']
        for path in re.findall(r'(?<![\w/-])(?:docs|easyconfigs|osu_container)/[\w./-]*\w',
                               entry['source'] + ' ' + entry['remedy']):
            assert (PROJECT / path).exists(), (entry['name'], path)


# ---- hits, and silence

def test_each_message_is_named_first_whatever_stands_around_it():
    for name, source, text in TEXTS:
        for form in FORMS if name != '-' else ():
            found = search.explain('\n'.join(form.format(line) for line in text.splitlines()) + '\n')
            assert found and found[0]['name'] == name, (form, source, text)
            assert not re.search(r'\{\w+\}', found[0]['cause'] + found[0]['remedy'])


def test_every_text_gets_its_own_message_and_no_other():
    """The oracle: a good run, another program's text or that of another rule is none of a rule's business."""
    wrong = [(names(text), name, source, text) for name, source, text in TEXTS
             if names(text) != ([] if name == '-' else [name])]
    assert wrong == [] and sum(name == '-' for name, _, _ in TEXTS) > 80


AMDS_WORDS = re.compile(r'RCCL|rccl|ROC[mM]|rocm|\bHIP|\bhip|amdgpu|/dev/kfd|gfx9|rocminfo')
NVIDIAS_WORDS = re.compile(r'(?<!R)NCCL(?!_)|libnccl|CUDA|cuda|NVIDIA|nvidia|--nv\b')


def test_what_is_said_is_of_the_vendor_whose_message_it_is():
    for _, _, text in TEXTS:
        for each in search.explain(text):
            said = json.dumps([each['cause'], each['remedy'], each['also']])
            amd, nvidia = bool(search.AMD.search(text)), bool(search.NVIDIA.search(text))
            assert amd or not nvidia or not AMDS_WORDS.search(said), said
            assert nvidia or not amd or not NVIDIAS_WORDS.search(said), said


@pytest.mark.parametrize('written', [
    *(lambda text, name=name: text.encode(name) for name in ('utf-16', 'utf-8-sig', 'latin-1')),
    lambda text: gzip.compress(text.encode()), lambda text: lzma.compress(text.encode('utf-16'))], ids=range(5))
def test_what_other_systems_write_is_read(written):
    text = 'fine\n' * 100_000 + "./m: libfabric.so.1: version `FABRIC_1.7' not found (required by ./m)\n"
    found = search.search_in(io.BytesIO(written(text))).found()
    assert [(each['name'], each['number']) for each in found] == [('libfabric too old', 100_001)]


def test_of_a_long_line_the_part_with_the_message_is_shown():
    text = 'a' * 5000 + ' x: undefined symbol: f7 ' + 'b' * 5000
    found, = search.explain(text)
    assert len(found['line']) <= search.SHOWN and 'undefined symbol: f7' in found['line']
    found, = search.explain('progress 1 %\rprogress 2 %\rx: undefined symbol: f7\rprogress 3 %\n')
    assert found['line'] == 'x: undefined symbol: f7'
    found, = search.explain('x: undefined symbol: ' + 'f' * 5000)
    assert len(found['cause']) < 500


def test_no_pattern_costs_the_square_of_the_length_of_a_line():
    for entry, _, parts in search.PATTERNS:
        for (part, text), filler in itertools.product(parts, ('a', ' ', '0', 'a ', '/a', '-', '[0] ')):
            line = filler * (10_000 // len(filler)) + text + filler * (10_000 // len(filler))
            begin = time.process_time()
            part.search(line)
            assert time.process_time() - begin < 0.4, (entry['name'], part.pattern, filler)


def test_causes_come_in_the_order_of_their_lines():
    text = ("a: undefined symbol: f7\n./b: error while loading shared libraries: libx.so.1: "
            "cannot open shared object file")
    assert names(text) == ['undefined symbol', 'library not in the image']
    assert names('\n'.join(reversed(text.splitlines()))) == ['library not in the image', 'undefined symbol']


# ---- our own messages, read from the programs that print them

@pytest.mark.parametrize('path', BASH_COMMANDS, ids=lambda path: path.name)
def test_every_message_of_the_wrapper_and_of_the_binding_is_known(path):
    texts = re.findall(r'fail "(.+)"', path.read_text())
    assert len(texts) >= 5
    for message in texts:
        text = re.sub(r'\$\{#lines\[@\]\}|\$SLURM_LOCALID|\$SLURM_GPUS_ON_NODE|\$SLURM_STEP_NUM_TASKS', '4', message)
        text = re.sub(r'\$\{[^}]*\}|\$\w+', 'X', text)
        found = names(f'osu_bw: {text}')
        assert len(found) == 1, message


# ---- the loader, really

@pytest.mark.parametrize('soname, linked, found, wanted, word', [
    ('libfabric.so.1', 'FABRIC_1.7', 'FABRIC_1.6', 'libfabric too old', 'FABRIC_1.7'),
    ('libgrape.so.1', 'GRAPE_2', 'GRAPE_1', 'library of another version', 'GRAPE_2'),
    ('libgrape.so.1', 'GRAPE_1', None, 'library not in the image', 'libgrape.so.1'),
])
def test_what_the_loader_says_is_known(tmp_path, soname, linked, found, wanted, word):
    """A program that was linked with one version of a library meets another one, or none."""
    for folder, version in (('linked', linked), ('found', found)):
        if version:
            compile_library(tmp_path / folder / soname, version_script=f'{version} {{ global: f7; }};\n',
                            source='int f7(void) { return 7; }\n')
    (tmp_path / 'main.c').write_text('int f7(void);\nint main(void) { return f7() - 7; }\n')
    assert run(['gcc', '-o', tmp_path / 'main', tmp_path / 'main.c', tmp_path / 'linked' / soname]).returncode == 0
    done = run([tmp_path / 'main'], env={'LD_LIBRARY_PATH': str(tmp_path / 'found'), 'LC_ALL': 'C'})
    each, = search.explain(done.stderr)
    assert each['name'] == wanted and word in each['cause'], done.stderr


# ---- Lmod, really: it breaks its messages into lines of 80 letters

SETTINGS = SimpleNamespace(at_load=SimpleNamespace(image_folders=(), of_site=None))


@pytest.fixture
def lmod(tmp_path):
    """Function (script, name of LMODS) that runs bash with modules of all kinds of trouble; what it says."""
    for name, text in {
            'ours.lua': '\n'.join(["local root = '/project/' .. string.rep('long/', 30)",
                                   *module_text.image_lines(SETTINGS, 'x.sif', 'cp a b')]),
            'host.lua': "local other = { '/opt/cray/libfabric/1.22.0/lib64/libfabric.so.1' }\n"
                        + module_text.CHECK_TEXT % "'eb'",
            'one.lua': "conflict('other')", 'other.lua': "setenv('OTHER', '1')",
            'stack.lua': f"prepend_path('MODULEPATH', '{tmp_path}/inner')"}.items():
        (tmp_path / 'modules').mkdir(exist_ok=True)
        (tmp_path / 'modules' / name).write_text(text + '\n')
    (tmp_path / 'inner').mkdir()
    (tmp_path / 'inner' / 'within.lua').write_text("setenv('WITHIN', '1')\n")

    def call(script, version):
        done = clean_shell(script, version, MODULEPATH=str(tmp_path / 'modules'), HOME=str(tmp_path))
        return done.stdout + done.stderr
    return call


@pytest.mark.parametrize('version', LMODS)
@pytest.mark.parametrize('script, wanted, word', [
    ('module load nonesuch/1', 'unknown module', 'nonesuch/1'),
    ('module load ours', 'image gone', '/long/x.sif'),
    ('module load host', 'host has changed', '--rebuild'),
    ('module load other one', 'modules that exclude each other', 'other'),
    ('module spider within >/dev/null 2>&1; module load within', 'module of another stack', 'within'),
])
def test_what_lmod_says_is_known(lmod, version, script, wanted, word):
    text = lmod(script, version)
    found = search.explain(text)
    assert [each['name'] for each in found] == [wanted], text
    assert word in found[0]['cause'] + found[0]['remedy'], found


# ---- the command

def command(*arguments, **kwargs):
    return run([PROJECT / 'scripts' / 'osu-container', 'why', *arguments], **kwargs)


def test_the_command_reads_a_file_and_a_pipe_and_says_cause_remedy_and_source(tmp_path):
    text = "fine\n./m: old/libfabric.so.1: version `FABRIC_1.7' not found (required by ./m)\n"
    log = tmp_path / 'job.out'
    log.write_text(text)
    done = command(log)
    assert done.returncode == 0, done.stderr
    each, = search.explain(text)
    assert all(each[key] in ' '.join(done.stdout.split()) for key in ('name', 'line', 'cause', 'remedy', 'source'))
    assert command('-', input=text).stdout == command(input=text).stdout == done.stdout
    found = json.loads(command('--json', log).stdout)
    assert found == [dict(each, file=str(log))]


@pytest.mark.parametrize('text', ['nothing that is known\n', ''])
def test_the_command_ends_with_1_when_it_knows_nothing(text):
    done = command('--json', input=text)
    assert (done.returncode, json.loads(done.stdout)) == (1, [])


@pytest.fixture
def logs(tmp_path):
    """Names (list of str) of seven logs with one trouble, one with another, one with none known and an empty one."""
    old = "./m: libfabric.so.1: version `FABRIC_1.7' not found (required by ./m)\n"
    texts = [old, 'fine\n' + 2 * old] + 5 * [old] + ['x: undefined symbol: f7\n', 'fine\n', '']
    for number, text in enumerate(texts):
        (tmp_path / f'slurm-{number}.out').write_text(text)
    return [f'slurm-{number}.out' for number in range(len(texts))]


def test_of_several_files_each_message_is_named_once_with_the_files_that_have_it(logs, tmp_path):
    done = command(*logs, cwd=tmp_path)
    assert done.returncode == 0 and done.stderr == ''
    assert re.findall('^(libfabric too old|undefined symbol)', done.stdout, re.M) == [
        'libfabric too old', 'undefined symbol']
    assert re.search(r'\nlibfabric too old.*slurm-0\.out\D+1\b.*slurm-1\.out\D+2\D+1\b.*slurm-2\.out', done.stdout)
    assert re.findall(r'(slurm-[89]\.out)\b.*?(docs/support\.md|$)', done.stdout, re.M) == [
        ('slurm-8.out', 'docs/support.md'), ('slurm-9.out', '')]
    found = json.loads(command('--json', *logs, cwd=tmp_path).stdout)
    assert [each['file'] for each in found] == logs[:8]


@pytest.mark.parametrize('name', ['none', 'folder', 'log.gz', 'log.zst'])
def test_what_cannot_be_read_is_named_and_the_other_files_are_read(logs, tmp_path, name):
    (tmp_path / 'folder').mkdir()
    (tmp_path / 'log.gz').write_bytes(gzip.compress(b'x: undefined symbol: f7\n')[:-9])
    (tmp_path / 'log.zst').write_bytes(b'\x28\xb5\x2f\xfd1')
    done = command(name, logs[7], cwd=tmp_path)
    assert done.returncode == 1 and 'slurm-7.out' in done.stdout
    assert done.stderr.startswith(f'osu-container why: error: {name}: ') and done.stderr.count('\n') == 1
    assert ('zstdcat' in done.stderr) == (name == 'log.zst'), 'the command of the remedy'


def test_what_else_it_may_be_comes_with_a_command_that_tells():
    text = next(text for name, _, text in TEXTS if name == 'no provider')
    found, = json.loads(command('--json', input=text).stdout)
    assert found['also'] and all(each['command'] in ' '.join(command(input=text).stdout.split())
                                 for each in found['also'])


def test_letters_that_the_terminal_does_not_have_are_no_error(tmp_path):
    (tmp_path / 'log').write_bytes('\u201e\u00e4\u201c x: undefined symbol: f7\n'.encode())
    for locale in ('C', 'POSIX', 'C.UTF-8'):
        done = command(tmp_path / 'log', env={'PATH': '/usr/bin:/bin', 'LC_ALL': locale,
                                              'PYTHONIOENCODING': 'ascii:strict'})
        assert done.returncode == 0 and 'x: undefined symbol: f7' in done.stdout, done.stderr


# ---- long logs

@pytest.mark.parametrize('end', [b'\n', b'\r\n', b''])
@pytest.mark.parametrize('block', [1, 7, 41])
def test_where_a_log_is_cut_into_parts_makes_no_difference(monkeypatch, block, end):
    text = b"a\r\nx: undefined symbol: f7\n\nb \xc3\xa4\nsrun: error: n: task 0: Exited with exit code 1\n" \
           b"y: undefined symbol: f8" + end
    wanted = search.search_in(io.BytesIO(text))
    monkeypatch.setattr(search, 'BLOCK', block)
    found = search.search_in(io.BytesIO(text))
    if block >= 41:  # the longest line; a longer one is searched in parts
        assert found.found() == wanted.found() and wanted.found()[0]['times'] == 2
    assert found.lines == wanted.lines == 6


def test_of_a_very_long_log_the_beginning_and_the_end_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(search, 'HEAD', 4 * search.BLOCK)
    monkeypatch.setattr(search, 'TAIL', 2 * search.BLOCK)
    with open(tmp_path / 'log', 'w+b') as handle:
        handle.write(b'all well\n' * 2_000_000 + b'x: undefined symbol: f7\n')
        handle.seek(3 << 30)  # a hole, as a file system full of them leaves
        handle.write(b'y: undefined symbol: f8\n')
        handle.seek(0)
        done = search.search_in(handle)
    each, = done.found()
    assert each['part'] and (each['number'], each['cause'].count('f8')) == (1, 1)
    assert done.passed >> 20 == 3072 - 6 and len(done.not_read()) == 1


def test_a_program_is_refused_and_junk_hides_no_message():
    assert command(sys.executable).stderr.startswith(f'osu-container why: error: {sys.executable}: ')
    junk = pathlib.Path(sys.executable).read_bytes()[1:500_000]
    found = search.search_in(io.BytesIO(junk + b'\nx: undefined symbol: f7\n' + junk)).found()
    assert [each['name'] for each in found] == ['undefined symbol']


# ---- Slurm, really

@pytest.fixture(scope='module')
def slurm_shell(slurm):
    """Function (script) that runs bash with the private Slurm and returns its output and errors as one text."""
    environment = {'PATH': f"{STATE / 'bin'}:/usr/bin:/bin:/usr/sbin:/sbin", 'HOME': os.environ['HOME'],
                   'SLURM_CONF': str(STATE / 'slurm' / 'slurm.conf'), 'LC_ALL': 'C.UTF-8'}
    return lambda script: run(['bash', '--norc', '-c', script], env=environment, stderr=subprocess.STDOUT,
                              timeout=120).stdout


@pytest.mark.system
@pytest.mark.parametrize('script, wanted', [
    ('srun --mpi=nonesuch true', 'unknown MPI type'),
    ('srun -N1 -n1 --mem=900000G true', 'memory that a node does not have'),
    ('salloc -Q -N1 -n1 srun -n40 true', 'more than the job has'),
    ('srun -N1 -n1 osu_nonesuch', 'program not found'),
    ("srun -N1 -n1 sh -c 'exit 7'", 'program failed'),
    ("srun -N1 -n1 sh -c 'kill -KILL $$'", 'task killed'),
    ("salloc -Q -N1 -n1 sh -c 'srun -n1 --exact sleep 3 & sleep 1; srun -n1 --exact true; wait'",
     'step waits for another'),
    ('SLURM_CONF=/nonesuch timeout 3 srun true', 'no controller'),
])
def test_what_slurm_says_is_known(slurm_shell, script, wanted):
    text = slurm_shell(script)
    assert names(text) == [wanted], text


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


def test_what_an_error_says_of_itself_and_where_a_crash_was_is_shown_with_it():
    said = '\n'.join(' '.join(each[2]) for name, _, text in TEXTS if name == '-' for each in shown(text + '\n'))
    for word in ('what():  cannot open input deck run.in', 'Error: Invalid argument (22)', 'libuct.so.0, uct_md_query'):
        assert word in said


def test_an_unknown_error_is_shown_once_with_its_program_and_how_to_learn_more():
    log = 'Hello\n' * 3 + ''.join(f'{rank}: {UNKNOWN}' for rank in range(64)) + '[node2] Fatal quux\n'
    done = command(input=log)
    assert done.returncode == 1 and 'docs/support.md' in done.stdout and 'export FI_LOG_LEVEL=warn' in done.stdout
    assert done.stdout.count('quux():18') == 1 and re.search(r'\b4\n(.*\n)+.*\b68\n', done.stdout)
    first, second = json.loads(command('--json', input=log).stdout)
    assert (first['name'], first['number'], first['program'], second['number']) == (None, 4, 'libfabric', 68)


def test_beside_a_consequence_unknown_errors_are_shown_and_beside_a_cause_none():
    done = command(input=UNKNOWN + CONSEQUENCE)
    assert done.returncode == 0 and re.search(r'^program failed\b.*\b2\n', done.stdout, re.M)
    assert 'failed: wibbled' in done.stdout
    assert done.stdout.count('Exited with exit code') == 1, 'what is named is no clue'
    cause = next(text for name, _, text in TEXTS if name == 'PSM3 opens no card')
    known = search.Search()
    known.add(UNKNOWN + cause + '\n')
    assert known.not_known() == []


def test_what_others_wrote_is_shown_and_not_obeyed(tmp_path):
    for name in ('a\x1b]0;title\x07', 'b'):
        (tmp_path / name).write_text('error: \x1b[2J\x07quux\u202e\n')
    done = command(*tmp_path.iterdir())
    assert done.stdout.count('quux') == 2 and not any(order in done.stdout for order in '\x1b\x07\u202e')


def test_lines_are_counted_over_the_parts_of_a_long_log_and_few_are_kept(monkeypatch):
    found = search.Search()
    for part in range(50):
        found.add('all well\n' * 10 + UNKNOWN.replace('quux', 'quux' + 'abcdefghij'[part % 10] * (part + 1)))
    lines = found.not_known()
    assert [one['number'] for one in lines] == [11, 22, 33, 44, 55, 66]
    assert len(found.clues.seen) <= sum(clues.KEPT.values())


@pytest.mark.parametrize('text', ['12 tests, 0 failures', 'Finished without errors', 'errors: 0', 'no error was found',
                                  '    raise ValueError(text)', 'sbatch --no-fail-fast',
                                  'VERBOSE [U=0,P=1]  wait_child()  failed, rpc server exited',
                                  'libfabric:1:2::tcp:ep_ctrl:xnet():106<info> Connection refused from remote',
                                  'openat(AT_FDCWD, "/x/libmpi.so", 0) = -1 ENOENT (No such file or directory)'])
def test_what_counts_or_names_errors_is_none(text):
    assert shown(text + '\n') == []


_ESCAPED = {'n': '\n', 't': '\t', '\\': '\\'}
#: (name of a message or -, where the text is from, text)
TEXTS = [(name, source, re.sub(r'\\(.)', lambda found: _ESCAPED[found[1]], text)) for name, source, text in (
    line.split('\t') for line in (PROJECT / 'tests/why/messages.tsv').read_text().splitlines())]
