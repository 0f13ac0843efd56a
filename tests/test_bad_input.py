"""
Bad input, and a fault around a command, end in a plain message and a right exit code, and leave
all as it was.
"""

import copy
import hashlib
import itertools
import json
import os
import random
import re
import shutil
import tempfile

import pytest
from hypothesis import strategies as st

from osu_container import cli
from osu_container.data.records import RECORDS, matches_shape
from osu_container.data.sites.schema import ENTRY
from osu_container.verdict.site_choice import resolve_site
from tests.helpers.bad_inputs import AROUND, CASES, FAULTS, HOST, make_good_sif, make_small_run
from tests.helpers.elf_folder import ElfFolder, fill_good_host, fill_good_image, pack, write_sif
from tests.helpers.hostile import (
    VALUES,
    build_values,
    check_examples,
    list_shaped_places,
)
from tests.helpers.machine import (
    LMODS,
    PROJECT,
    STATE,
    count_changes,
    restore_sigint,
    run,
    run_killed,
)
from tests.helpers.verdict_cases import CPU
from tests.test_cli import ALL, find_parser
from tests.test_hostile_text import CONTROL, capture_command, mark_examples

IMAGE = 'osu-workstation-mpich-4.2.3-libfabric-1.22.0'
#: What programs of others leave: the runtime its keyring and cache, EasyBuild its log (and empty
#: folders)
OF_OTHERS = re.compile(r'home/\.apptainer|tmp/eb-')


class Place:
    """A folder in which a case is tried; samples: Path, with the files that several cases need."""

    def __init__(self, folder, samples):
        self.folder, self.samples = folder / 'here', samples
        for name in ('here', 'home', 'tmp'):
            (folder / name).mkdir()
        self.above = folder

    def add_sample(self, name):
        """Have the sample name (str) here."""
        target = self.folder / name
        if (self.samples / name).is_dir():
            target.symlink_to(self.samples / name)
        else:
            shutil.copy(self.samples / name, target)

    def list_files(self):
        """
        Return {path: what is there} of all files, folders and links of the user, and of
        temporary ones.
        """
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

    def run(self, typed, timeout=60):
        """
        Run a line (str) as a user who has typed it; return the CompletedProcess and the names
        that it changed.
        """
        environment = {
            'PATH': f"{PROJECT / 'scripts'}:{STATE / 'bin'}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:"
            f"{self.samples / 'runtime'}",
            'HOME': str(self.above / 'home'),
            'TMPDIR': str(self.above / 'tmp'),
            'LC_ALL': 'C.UTF-8',
            'CLONE': str(PROJECT),
            'OSU_CONTAINER_RESULTS': str(self.above / 'results'),
            'EB_PYTHON': str(STATE / 'venv/bin/python'),
            'EASYBUILD_PREFIX': str(self.above / 'prefix'),
            'EASYBUILD_ROBOT_PATHS': f'{PROJECT}/easyconfigs',
            'EASYBUILD_INCLUDE_EASYBLOCKS': f'{PROJECT}/easyblocks/generic/*.py',
            'EASYBUILD_SOURCEPATH': str(self.above / 'prefix/sources'),
            'LMOD_CMD': LMODS['own'],
            'EASYBUILD_ALLOW_USE_AS_ROOT_AND_ACCEPT_CONSEQUENCES': '1',
        }
        before = self.list_files()
        done = run(
            ['bash', '--norc', '-c', typed],
            cwd=self.folder,
            env=environment,
            timeout=timeout,
            errors='backslashreplace',
            preexec_fn=restore_sigint,
        )
        after = self.list_files()
        return done, {name for name in {*before, *after} if before.get(name) != after.get(name)}


@pytest.fixture(scope='session')
def samples(tmp_path_factory, parts):
    folder = tmp_path_factory.mktemp('samples')
    image = fill_good_image(ElfFolder(folder / 'image'), parts)
    fill_good_host(ElfFolder(folder / 'host'), parts, resolve_site(CPU))
    image.copy(parts.program(parts.mpi()), '/usr/bin/app')
    runtime = (
        folder / 'runtime' / 'apptainer'
    )  # where there is no other; none of these inputs comes to a start
    runtime.parent.mkdir()
    runtime.write_text('#!/bin/sh\necho apptainer version 1.4.5\n')
    runtime.chmod(0o755)
    write_sif(
        folder / 'good.sif', pack(image.root, folder / 'squashfs').read_bytes(), {'label': 'text'}
    )
    return folder


@pytest.fixture
def place(tmp_path, samples):
    return Place(tmp_path, samples)


# ---- what is said


def check_message(said, names):
    """Assert that a message (str) is one for people, with names (tuple of str) in it."""
    assert said.strip() and 'Traceback' not in said
    assert not re.search(r'[\x00-\x09\x0b-\x1f\x7f-\x9f]', said), repr(said)
    for name in names:
        assert name in said, said


@pytest.mark.parametrize(
    'case',
    [
        pytest.param(case, id=f'{command} {number}: {case.typed[:70]}')
        for command, cases in CASES.items()
        for number, case in enumerate(cases, 1)
    ],
)
def test_bad_input_is_refused_plainly_and_leaves_nothing(case, place):
    for name, content in case.files.items():
        path = place.folder / name
        (path if name.endswith('/') else path.parent).mkdir(parents=True, exist_ok=True)
        if not name.endswith('/'):
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
    if case.make:
        case.make(place)
    done, changed = place.run(case.typed)
    assert (done.returncode, changed) == (case.code, set()), done.stdout + done.stderr
    check_message((done.stdout if case.answer else '') + done.stderr, case.names)


@pytest.mark.parametrize(
    'case', [pytest.param(case, id=f'{case.fault}: {case.typed[:70]}') for case in FAULTS]
)
def test_fault_is_reported_plainly_and_nothing_is_lost(case, place):
    if case.make:
        case.make(place)
    done, changed = place.run(AROUND[case.fault].format(typed=case.typed))
    if (place.above / 'disk').exists():
        changed.discard('disk')
        assert (place.above / 'disk').read_text() == '', 'left on the disk'
    assert done.returncode == case.code, done.stdout + done.stderr
    assert {
        name for name in changed if not re.search('|'.join(case.made) or '^$', name)
    } == set(), done.stderr
    assert all(re.search(made, ' '.join(changed)) for made in case.made), changed
    if case.works:
        assert done.stderr == ''
    else:
        check_message(done.stderr, case.names)


# ---- killed


def test_a_killed_command_leaves_the_older_file_or_the_newer(place, monkeypatch):
    """
    By kill -9, at moments that chance has chosen, of a command that writes over what it wrote
    before.
    """
    make_good_sif(place)
    monkeypatch.chdir(place.folder)
    for name, folder in (('HOME', 'home'), ('XDG_DATA_HOME', 'home'), ('TMPDIR', 'tmp')):
        monkeypatch.setenv(name, str(place.above / folder))
    monkeypatch.setattr(tempfile, 'tempdir', None)
    folders, written = (
        (f'{place.folder}/', f"{place.above / 'home'}/"),
        place.folder / 'good-pure.eb',
    )

    def command():  # its words on stdout are none of this test's
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        assert cli.main(f'new good.sif {HOST} --approach pure --force'.split()) in (0, None)

    def differs():  # in one letter: what is there already would not be written
        written.write_bytes(written.read_bytes().replace(b'e', b'E', 1))

    def is_whole():
        return written.read_bytes().count(b'\n') == lines

    assert count_changes(folders, command)
    before, lines = set(place.list_files()), written.read_bytes().count(b'\n')
    differs()
    number = count_changes(folders, command)
    for moment in random.Random(1).sample(range(number), min(3, number)):
        differs()
        assert run_killed(moment, folders, command)
        after = set(place.list_files())
        assert before <= after and is_whole(), f'lost at change {moment}'
        assert all(name.startswith(('tmp/', 'here/.good-pure.')) for name in after - before)
    differs()
    assert count_changes(folders, command) and is_whole()


# ---- what a command writes

#: A command with its subcommand -> (a line that does something, what makes the place). Every
#: command has one
LINES = {
    'check': (f'check good.sif {HOST}', make_good_sif),
    'discover': ('discover --sysroot host', make_good_sif),
    'proof': ('proof -- true', None),
    'why': ('why notes.txt', None),
    'new': (f'new good.sif {HOST} --approach pure', make_good_sif),
    'image list': ('image list', None),
    'image recipe': (f'image recipe {IMAGE}', None),
    'image fetch': ('image fetch --source osu', None),
    'image build': (f'image build {IMAGE} --check', None),
    'image verify': ('image verify good.sif', make_good_sif),
    'bench': ('bench --dry-run', None),
    'import': ('import osu.txt', None),
    'compare': ('compare run:pure run:native', make_small_run),
    'report': ('report run -o page.html', make_small_run),
    'reference list': ('reference list', None),
    'try': (f'try good.sif {HOST}', make_good_sif),
}
#: What a user may have, with names that are like those of ours
THEIRS = (
    'thesis.txt build-thesis/chapter.txt build-notes.txt base-data/values.csv '
    'stages/one/a.txt kept/stages/one/a.txt log/image-fetch.log cache/page.html'
).split()
OSU = '# OSU MPI Latency Test v7.5\n# Size          Latency (us)\n1                       1.50\n'


def list_path_options(command):
    """
    Return the options (list of str) of a command (str) whose value may be the name of a file or
    a folder.
    """
    return [
        action.option_strings[-1]
        for action in find_parser(command)._actions
        if action.option_strings
        and action.nargs != 0
        and not action.choices
        and action.metavar not in ('N', 'SECONDS')
    ]


def furnish(place, command, names=()):
    """
    Make the place of a command (str): its input, the user's own files and, under names (str),
    more of them.
    """
    _, make = LINES[command]
    for name, text in (('notes.txt', 'MPICH ERROR: an error'), ('osu.txt', OSU)):
        (place.folder / name).write_text(text)
    if make:
        make(place)
    for name in (*THEIRS, *names):
        path = place.folder / name
        if not any(parent.is_file() for parent in path.parents) and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f'mine: {name}')


@pytest.mark.parametrize('command', ALL)
@pytest.mark.parametrize(
    'folders', [(), pytest.param(('.', 'build-thesis'), marks=pytest.mark.nightly)]
)
def test_no_command_loses_a_file_of_the_user(command, folders, tmp_path, samples):
    """
    Each option that may name a file or a folder, with the user's, with an input and with --force;
    and names of its own.

    The options are those of the parsers: a new one is tried without a word here.
    """
    line, numbers = LINES[command][0], itertools.count()
    force = ' --force' * ('--force' in find_parser(command)._option_string_actions)

    def tried(more, names=()):
        (tmp_path / f'{next(numbers)}').mkdir()
        place = Place(max(tmp_path.iterdir(), key=lambda path: int(path.name)), samples)
        furnish(place, command, names)
        before = place.list_files()
        done, changed = place.run(
            'export PIP_RETRIES=0 https_proxy=http://127.0.0.1:9; osu-container ' + line + more, 600
        )
        assert 'Traceback' not in done.stdout + done.stderr
        lost = {
            name
            for name in changed & set(before)
            if (place.above / name).is_file() or not os.path.lexists(place.above / name)
        }
        return lost, sorted(
            name.partition('here/')[2] for name in changed - set(before) if name.startswith('here/')
        )

    lost, made = tried('')
    assert not lost
    for option in list_path_options(command):
        for value in ('thesis.txt', *folders):
            lost, _ = tried(f' {option} {value}')
            assert not lost, f'{option} {value}'
        lost, more = tried(f' {option} fresh')
        made += more
        for value in [
            name
            for name in ('good.sif', 'run/results.jsonl', 'osu.txt', 'notes.txt')
            if name.partition('/')[0] in line
        ]:
            lost, _ = tried(f' {option} {value}{force}')
            assert not lost, f'{option} {value}{force}'
    options = list_path_options(command) if folders else ()
    for option in ['', *(f' {option} fresh' for option in options)] if made else ():
        lost, _ = tried(option, made)
        assert not lost, f'{option} among its own names'


# ---- any input

#: What is done to the bytes of a file
CUTS = st.one_of(st.none(), st.tuples(st.integers(0, 1 << 20), st.binary(max_size=3)))


def write_cut_text(path, text, cut):
    """Write text (str) to path (Path) with cut (of CUTS): bytes (bytes) in place of one."""
    data = text.encode('utf-8', 'surrogatepass')
    if cut:
        at = cut[0] % (len(data) + 1)
        data = data[:at] + cut[1] + data[at + 1 :]
    path.write_bytes(data)


@pytest.fixture
def prepared_place(place, monkeypatch):
    """The place with all that is changed below, as the current folder."""
    make_good_sif(place)
    make_small_run(place)
    monkeypatch.chdir(place.folder)
    for name, folder in (
        ('HOME', 'home'),
        ('XDG_DATA_HOME', 'home'),
        ('OSU_CONTAINER_RESULTS', 'results'),
    ):
        monkeypatch.setenv(name, str(place.above / folder))
    (place.folder / 'job.out').write_text('MPICH ERROR: an error')
    (place.folder / 'osu.txt').write_text(OSU)
    (place.folder / 'step').mkdir()
    return place.folder


def check_plain_message(*words):
    """Run a command; assert that it says what it says in words, whatever it was given."""
    told, code = capture_command(*words)  # an exception comes through
    assert 'Traceback' not in told and not CONTROL.search(told), told
    return told, code


@pytest.fixture
def write_record(prepared_place):
    """
    Return a function that puts a record into the file of its kind, and returns the place of the
    record in messages, and the commands that read the file; and {kind: record that was there}.
    """
    path = prepared_place / 'run/results.jsonl'
    lines = path.read_text().splitlines()
    samples = list(map(json.loads, lines))
    kinds = [sample['kind'] for sample in samples]

    def write(kind, record, cut=None):
        text = json.dumps(record)
        if kind in kinds:
            number = kinds.index(kind)
            text = '\n'.join([*lines[:number], text, *lines[number + 1 :]])
            write_cut_text(path, text + '\n', cut)
            typed = ['report run -o p.html --force', 'compare run:pure run:native']
            return f'results.jsonl:{number + 1}', typed
        name, typed = {
            'rank': ('step/rank-0.json', ['proof step', 'proof --json step']),
            'host': ('host.json', [f'check good.sif --site {CPU} --facts host.json']),
        }[kind.partition(' ')[0]]
        write_cut_text(prepared_place / name, text, cut)
        return name, typed

    return write, dict(zip(reversed(kinds), reversed(samples)))


@mark_examples(8, 150)
@pytest.mark.parametrize(
    'kind', [kind for kind in RECORDS if kind not in ('facts', 'native facts', 'settings')]
)
def test_wrong_value_in_a_record_is_named(write_record, kind, number):
    """With the file, the line and the key; a right value ends in no traceback."""
    write, samples = write_record
    # What must agree with other lines is that of a real run.
    kept = 'case approach module repeat status unit values programs release'.split()
    kept = {key: item for key, item in samples.get(kind, {}).items() if key in kept}

    def check(record, place, value, cut):
        places = list_shaped_places(record, RECORDS[kind])
        part, key, shape = places[place % len(places)]
        right = matches_shape(value, shape)
        part[key] = value
        where, typed = write(kind, record, cut)
        for line in typed:
            told, code = check_plain_message(*line.split())
            if not right and not cut:
                assert code and where in told, told
                assert not str(key).isidentifier() or key == 'found' or key in told, told

    check_examples(
        check,
        number,
        record=build_values(RECORDS[kind]).map(lambda record: copy.deepcopy({**record, **kept})),
        place=st.integers(0, 1 << 20),
        value=VALUES,
        cut=CUTS,
    )


@mark_examples(15, 150)
def test_any_site_file_ends_in_a_message(prepared_place, number):
    entry = {key: value for key, value in resolve_site(CPU).items() if key != 'name'}

    def check(place, value, cut):
        new = copy.deepcopy(entry)
        places = list_shaped_places(new, ENTRY)
        part, key, _ = places[place % len(places)]
        part[key] = value
        text = f"SITE = 'mine'\nSITES = {{'mine': {new!r}}}\n"
        write_cut_text(prepared_place / 'site.py', text, cut)
        check_plain_message('check', 'good.sif', '--site', 'site.py', '--sysroot', 'host')

    check_examples(check, number, place=st.integers(0, 1 << 20), value=VALUES, cut=CUTS)
