"""
Bad input, and a fault around a command, end in a plain message and a right exit code, and leave all as it was.

tests/bad_input.json holds what is said of each case. To take what is said now:
OSU_APPROVE=1 pytest -n 0 tests/test_bad_input.py, then read the difference, then `make modules` for docs/bad-input.md.
"""
import functools
import hashlib
import itertools
import json
import os
import random
import re
import shutil
import tempfile
from pathlib import Path

import pytest

from osu_container import cli
from osu_container.core.deciding.site_choice import site_entry
from tests.helpers.bad_inputs import CASES, HOST, explain, good, run_with
from tests.helpers.elf_folder import ElfFolder, good_host, good_image
from tests.helpers.faults import AROUND, FAULTS
from tests.helpers.killed import changes, killed
from tests.helpers.machine import LMODS, PROJECT, STATE, run
from tests.helpers.sif import pack, write_sif
from tests.helpers.verdict_cases import CPU
from tests.proof.test_judging import rank

SAID = Path(__file__).with_name('bad_input.json')
#: Name of the table of faults, and what most cases leave
FAULT, NOTHING = 'faults', 'nothing'
IMAGE = 'osu-workstation-mpich-4.2.3-libfabric-1.22.0'


#: What programs of others leave: the runtime its keyring and cache, EasyBuild its log (and empty folders)
OF_OTHERS = re.compile(r'home/\.apptainer|tmp/eb-')


#: The clock of a program by a library in front of the C library
CLOCK = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t which, struct timespec *found)
{
    static int (*real)(clockid_t, struct timespec *);
    if (!real)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int code = real(which, found);
    if (which == CLOCK_REALTIME)
        found->tv_sec -= 365 * 86400;
    return code;
}
"""


class Place:
    """A folder in which a case is tried; samples: Path, with the files that several cases need."""

    def __init__(self, folder, samples):
        self.folder, self.samples = folder / 'here', samples
        for name in ('here', 'home', 'tmp'):
            (folder / name).mkdir()
        self.above = folder

    def has(self, name):
        """Have the sample name (str) here."""
        target = self.folder / name
        if (self.samples / name).is_dir():
            target.symlink_to(self.samples / name)
        else:
            shutil.copy(self.samples / name, target)

    def kept(self):
        """Return {path: what is there} of all files, folders and links of the user, and of temporary ones."""
        found = {}
        for path in sorted(self.above.rglob('*')):
            name, status = str(path.relative_to(self.above)), path.lstat()
            if OF_OTHERS.match(name) or re.match('prefix', name) and path.is_dir():
                continue
            if path.is_symlink():
                found[name] = os.readlink(path)
            elif path.is_file() and status.st_size < 1 << 30:
                found[name] = oct(status.st_mode) + hashlib.sha256(path.read_bytes()).hexdigest()
            else:
                found[name] = oct(status.st_mode)
        return found

    def run(self, typed, **variables):
        """Run a line (str) as a user who has typed it."""
        environment = {'PATH': f"{PROJECT / 'bin'}:{STATE / 'bin'}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
                       'HOME': str(self.above / 'home'), 'TMPDIR': str(self.above / 'tmp'), 'LC_ALL': 'C.UTF-8',
                       'CLONE': str(PROJECT), 'OSU_CONTAINER_RESULTS': str(self.above / 'results'),
                       'EB_PYTHON': str(STATE / 'venv/bin/python'),
                       'EASYBUILD_PREFIX': str(self.above / 'prefix'),
                       'EASYBUILD_ROBOT_PATHS': f'{PROJECT}/easyconfigs',
                       'EASYBUILD_INCLUDE_EASYBLOCKS': f'{PROJECT}/easyblocks/generic/*.py',
                       'EASYBUILD_SOURCEPATH': str(self.above / 'prefix/sources'), 'LMOD_CMD': LMODS['own'],
                       'EASYBUILD_ALLOW_USE_AS_ROOT_AND_ACCEPT_CONSEQUENCES': '1', **variables}
        return run(['bash', '--norc', '-c', typed], cwd=self.folder, env=environment, timeout=60,
                   errors='backslashreplace')

    def plain(self, text):
        """Return text (str) without what is another one each time."""
        text = text.replace(str(self.samples), 'SAMPLES').replace(str(self.folder) + '/', '').replace(
            str(self.folder), 'HERE').replace(str(self.above), 'ABOVE').replace(str(PROJECT), 'CLONE')
        text = re.sub(r'^(\nWARNING: Using EasyBuild as root.*?)?^ERROR: ', '', text, flags=re.M | re.S)
        text = re.sub(r'^usage: .*?(?=^\S+( \w+)*: error: )', '', text, flags=re.M | re.S)  # Python wraps it
        # of files that are made here
        text = re.sub(r'\b(says|byte|of|has) \d{4,}', r'\1 N', re.sub(r'\b(?!a{64})[0-9a-f]{64}\b', 'SUM', text))
        # Python quotes choices until 3.12
        return re.sub(r'\(choose from ([^)]*)\)', lambda match: f"(choose from {_some(match.group(1))})", text)


def _some(names):
    """Return names (str, by commas) without quotes, of many the first three: the list of all sources grows."""
    found = names.replace("'", '').split(', ')
    return ', '.join(found if len(found) <= 12 else [*found[:3], '...'])


@pytest.fixture(scope='session')
def samples(tmp_path_factory, parts):
    folder = tmp_path_factory.mktemp('samples')
    image = good_image(ElfFolder(folder / 'image'), parts)
    good_host(ElfFolder(folder / 'host'), parts, site_entry(CPU))
    image.copy(parts.program(parts.mpi()), '/usr/bin/app')
    write_sif(folder / 'good.sif', pack(image.root, folder / 'squashfs').read_bytes(), {'label': 'text'})
    return folder


@pytest.fixture
def place(tmp_path, samples):
    return Place(tmp_path, samples)


@pytest.fixture(scope='session')
def clock(tmp_path_factory):
    folder = tmp_path_factory.mktemp('clock')
    (folder / 'clock.c').write_text(CLOCK)
    done = run(['gcc', '-shared', '-fPIC', '-o', folder / 'clock.so', folder / 'clock.c', '-ldl'])
    assert done.returncode == 0, done.stderr
    return folder / 'clock.so'


def approved(table, name, entry):
    """Assert that entry (dict) is what is recorded of a case; with OSU_APPROVE record it."""
    known = json.loads(SAID.read_text()) if SAID.exists() else {}
    if os.environ.get('OSU_APPROVE'):
        known.setdefault(table, {})[name] = entry
        known = {table: {name: known[table][name] for name in names if name in known.get(table, {})}
                 for table, names in cases().items()}
        SAID.write_text(json.dumps(known, indent=1, ensure_ascii=False) + '\n')
    else:
        assert entry == known.get(table, {}).get(name), f'{name}: not as in {SAID.name}'


def cases():
    """Return {table: names of its cases (list of str)}, in the order of docs/bad-input.md."""
    return {**{command: [case.what for case in found] for command, found in CASES.items()},
            FAULT: [name_of(case) for case in FAULTS]}


def name_of(case):
    """Return the name (str) of a Fault."""
    return f'{case.fault}: {case.typed}'


def test_every_case_is_recorded_and_no_other():
    """A hundred and more of bad input, 25 and more of faults."""
    recorded = {table: list(found) for table, found in json.loads(SAID.read_text()).items()}
    assert recorded == cases()
    faults = recorded.pop(FAULT)
    assert sum(map(len, recorded.values())) >= 100 and len(faults) >= 25 and len(set(faults)) == len(faults)


def parameters(table):
    """Return pytest's parameters of a table (dict) of cases: its name and the Case."""
    return [pytest.param(command, case, id=f'{command}: {case.what}', marks=marks(case))
            for command, cases in table.items() for case in cases]


def marks(case):
    """Return the marks (list) of what a Case or Fault needs."""
    return [getattr(pytest.mark, mark) for mark in case.needs]


@pytest.mark.parametrize('command, case', parameters(CASES))
def test_bad_input_is_refused_plainly_and_leaves_nothing(command, case, place):
    for name, content in case.files.items():
        path = place.folder / name
        (path if name.endswith('/') else path.parent).mkdir(parents=True, exist_ok=True)
        if not name.endswith('/'):
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
    if case.make:
        case.make(place)
    typed = case.typed.replace('OSU_IMAGE', IMAGE)
    before = place.kept()
    done = place.run(typed)
    after = place.kept()
    said = place.plain((done.stdout if case.answer else '') + done.stderr)
    assert done.returncode == case.code, done.stdout + done.stderr
    assert {name: after.get(name) for name in {*before, *after} if before.get(name) != after.get(name)} == {}, said
    check_said(said, case.names)
    approved(command, case.what, {'typed': case.typed, 'code': done.returncode, 'said': said.strip('\n'),
                                  'left': NOTHING})


def check_said(said, names):
    """Assert that a message (str) is one for people, with names (tuple of str) in it."""
    assert said.strip(), 'nothing was said'
    assert 'Traceback' not in said
    assert not re.search(r'[\x00-\x09\x0b-\x1f\x7f-\x9f]', said), repr(said)
    for name in names:
        assert name in said, said


@pytest.mark.parametrize('case', [
    pytest.param(case, id=name_of(case), marks=marks(case))
    for case in FAULTS])
def test_a_fault_is_told_plainly_and_nothing_is_lost(case, place, clock):
    if case.make:
        case.make(place)
    before = place.kept()
    done = place.run(AROUND[case.fault].format(typed=case.typed), CLOCK=str(clock))
    after = place.kept()
    on_disk = place.above / 'disk'
    if on_disk.exists():
        del after['disk']
        assert on_disk.read_text() == '', 'left on the disk'
    said = place.plain(done.stderr)
    assert done.returncode == case.code, done.stdout + done.stderr
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    assert {name for name in changed if not re.search('|'.join(case.made) or '^$', name)} == set(), said
    assert all(re.search(made, ' '.join(changed)) for made in case.made), changed
    if case.works:
        assert said == '', said
    else:
        check_said(said, case.names)
    approved(FAULT, name_of(case), {
        'fault': case.fault, 'typed': case.typed, 'code': done.returncode,
        'said': '' if case.works else said.strip('\n'),
        'left': ', '.join(case.made) or NOTHING})


#: A clause that says what to do begins with one of these verbs
VERBS = ('add|allow|ask|build|call|choose|close|convert|copy|correct|did you mean|export|fetch|free|get|give|go|'
         'install|keep|leave|load|look|make|measure|move|name|pack|put|read|remove|replace|run|send|set|start|submit|take|try|'
         'use|wait|write')
REMEDY = re.compile('|'.join((
    rf'(?:^|[.:;,?(] |[.:;,?]\n|\n *| or | and |then )(?:to )?(?:{VERBS})\b',
    # or what would have been right: what is wanted, what is known, what there is
    r'\b(?:wanted|must|needs|only for|takes one or two|invalid \w+ value|required|usage)\b',
    r'\b(?:known(?: \w+)?|it has|there are(?: those of)?): ', r'\bchoose from ', r'^  \w+: \S',
    # or the command, or the option with its kind of value, to type
    r"(?::| by:?| with| such as|\n) [`']?\S*(?:osu-container|eb|zcat|apptainer|rmdir|chmod|srun) ",
    r"`osu-container [a-z]+ ", r"-[a-z-]+ '?[A-Z]{3,}", '--force', '--help lists', 'makes one', 'check the spelling')),
    re.I | re.M)
#: Said of one that the user has ended: there is nothing to do
ENDED = re.compile(r'ended by SIG|: interrupted; ')
#: EasyBuild's own words, before it asks anything of this project
OF_EASYBUILD = re.compile('Failed to create directory ')


def recorded():
    """Yield pytest's parameters of all that is recorded: what is typed and what is said (str)."""
    for table, found in json.loads(SAID.read_text()).items():
        for name, case in found.items():
            if case['said'] and not ENDED.search(case['said']) and not OF_EASYBUILD.match(case['said']):
                yield pytest.param(case['typed'], case['said'], id=f'{table}: {name}')


@pytest.mark.parametrize('typed, said', recorded())
def test_every_message_says_what_to_do_and_names_options_that_there_are(typed, said):
    assert REMEDY.search(said), said
    named = set(re.findall(r'(?<![\w-])--[a-z][a-z_-]+', said)) - set(typed.split())
    assert named <= options(), named - options()


@functools.lru_cache
def options():
    """Return the options (set of str) that the sources of this project know, with those of eb, srun and sbatch."""
    known = {'--rebuild', '--try-amend', '--installpath', '--mem', '--mpi', '--gpus-per-node', '--ignore_cache',
             '--task-prolog'}
    for path in [*PROJECT.glob('osu_container/**/*.py'), *PROJECT.glob('easyconfigs/o/*/osu-*'),
                 PROJECT / 'lumi/link', PROJECT / 'Makefile']:
        if path.is_file() and path.suffix != '.eb':
            known |= set(re.findall(r"(?:add_argument\(|[(\[,] *|\| *|^ *)'?(--[a-z][a-z-]+)", path.read_text(), re.M))
    return known


def step(place):
    """The files of two ranks, the installation of a module, an output, and what `good` and `run_with` make."""
    good(place)
    run_with()(place)
    explain(None)(place)
    (place.folder / 'job.out').write_text('cxip_gen_auth_key failed: -38\n')
    (place.folder / '7.0').mkdir()
    for number in range(2):
        (place.folder / '7.0' / f'rank-{number}.json').write_text(json.dumps(rank(number)))


#: Commands that are tried under limits of the shell, and the file or folder that each writes
LIMITED = {f'check good.sif {HOST}': None, f'new good.sif {HOST} --approach pure': 'good-pure.eb', 'why job.out': None,
           'compare run': None, 'report run -o page.html': 'page.html', 'discover --sysroot host -o site.py': 'site.py',
           'bench --dry-run': None, 'proof 7.0': None, 'proof -o proof -- true': None, 'image list': None,
           'image verify good.sif': None, 'reference add run --name mine': r'\.local', 'osu-explain': None,
           'osu-proof 7.0': None}
#: Options of ulimit: open files, KB of a file, KB of memory
LIMITS = [*(f'-n {number}' for number in (5, 6, 8, 12, 20)), *(f'-f {number}' for number in (0, 1, 8)),
          *(f'-v {number}' for number in (25000, 40000, 60000, 90000, 130000, 200000))]
#: The one limit of each command that is tried in each run of the tests
OFTEN = dict(zip(LIMITED, itertools.cycle(['-n 5', '-f 1', '-v 60000', '-n 8'])))


def test_a_limit_leaves_no_half_of_a_compiled_module(tmp_path):
    """Python takes it for a whole one, and each later command ended with a traceback."""
    for name in ('bin', 'osu_container'):
        shutil.copytree(PROJECT / name, tmp_path / name, ignore=shutil.ignore_patterns('__pycache__'))
    for limit in ('-f 1', '-f 8', '-f unlimited'):
        done = run(['bash', '-c', f'unset PYTHONDONTWRITEBYTECODE; ulimit {limit}; '
                    f'{tmp_path}/bin/osu-container why --list'])
        assert done.returncode == 0 and 'Traceback' not in done.stderr, done.stderr
    assert list(tmp_path.glob('osu_container/__pycache__/*')), 'without a limit they are kept'


@pytest.mark.parametrize('line, limit', [
    pytest.param(line, limit, marks=() if OFTEN[line] == limit else pytest.mark.full)
    for line in LIMITED for limit in LIMITS])
def test_a_limit_of_the_shell_is_told_plainly_and_leaves_no_half_file(place, line, limit):
    step(place)
    typed = {'osu-explain': 'module/bin/osu-explain',
             'osu-proof 7.0': f'{PROJECT}/osu_container/proof/osu-proof 7.0'}.get(line, f'osu-container {line}')
    before, writes = place.kept(), LIMITED[line]
    done = place.run(f'ulimit {limit}; {typed}')
    after = place.kept()
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    assert 'Traceback' not in done.stderr and 'Fatal Python' not in done.stderr, done.stderr
    assert done.returncode < 127, done.stderr
    if done.returncode not in (0, 4):
        assert done.stderr.strip(), 'nothing was said'
        assert {name for name in changed if not (place.above / name).is_dir()} == set(), done.stderr
    elif writes is None:
        assert changed == set(), done.stderr
    else:
        assert all(re.search(writes, name) for name in changed), changed


#: What writes files over older ones: the words, what makes the place, a file that it writes
WRITERS = [
    (f'new good.sif {HOST} --approach pure --force', good, 'here/good-pure.eb'),
    ('discover --sysroot host -o site.py --force', good, 'here/site.py'),
    ('discover --sysroot host --facts facts.json --force', good, 'here/facts.json'),
    ('report run -o page.html --force --markdown page.md --csv page.csv', run_with(), 'here/page.html'),
    ('reference add run --name mine --force', run_with(), 'home/osu-container/references/mine/results.jsonl'),
]
#: What a killed one leaves: hidden, with the name of what it wrote
LEFT = re.compile(r'(here|home/osu-container/references)/\.(good-pure|site|facts|page|mine)\.')
#: Moments of each
MOMENTS = 20


@pytest.mark.parametrize('line, make, writes, moments', [pytest.param(
    *writer, moments, id=' '.join(writer[0].split()[:4]) + f': {moments} moments',
    marks=pytest.mark.full if moments == MOMENTS or 'page' in writer[0] else ())  # pages take seconds
    for writer in WRITERS for moments in (3, MOMENTS)])
def test_a_killed_command_leaves_the_older_file_or_the_newer(place, monkeypatch, line, make, writes, moments):
    """By kill -9, at moments that chance has chosen, of a command that writes over what it wrote before."""
    if make:
        make(place)
    monkeypatch.chdir(place.folder)
    for name, folder in (('HOME', 'home'), ('XDG_DATA_HOME', 'home'), ('TMPDIR', 'tmp')):
        monkeypatch.setenv(name, str(place.above / folder))
    monkeypatch.setattr(tempfile, 'tempdir', None)
    folders, written = (f'{place.folder}/', f"{place.above / 'home'}/"), place.above / writes

    def command():  # its words on stdout are none of this test's
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        assert cli.main(line.split()) in (0, None)

    def is_whole():
        return written.read_bytes().count(b'\n') == lines
    assert changes(folders, command)
    before, lines = set(place.kept()), written.read_bytes().count(b'\n')
    number = changes(folders, command)
    for moment in random.Random(line).sample(range(number), min(moments, number)):
        assert killed(moment, folders, command)
        after = set(place.kept())
        assert before <= after and is_whole(), f'lost at change {moment}'
        assert {name for name in after - before if not name.startswith('tmp/') and not LEFT.match(name)} == set()
    assert changes(folders, command) and is_whole()
