"""
What a user may type, or give to a command, that is wrong: the cases of tests/test_bad_input.py and docs/bad-input.md.

A case is run as it is typed, by bash, in an empty folder that holds what the case puts there and no more.
"""
import hashlib
import json
import os
import re
import struct
from typing import Callable, NamedTuple

from osu_container.core.installing.staged import install_proof
from osu_container.places import PROJECT
from osu_container.results import files as results_files
from osu_container.results.example_runs import make_run
from tests.helpers.verdict_cases import CPU

#: Lines of the terminal that change what stands there already: a title, a colour, a cleared screen
ESCAPES = '\033]0;title\007\033[31mred\033[2J'
#: Bytes of a file that is no text
BINARY = bytes(range(256)) * 4
#: A site and its host, as most cases need them
HOST = f'--site {CPU} --sysroot host'


class Case(NamedTuple):
    """
    A bad input.

    :param what: what is wrong, for the table; typed: the line, for bash
    :param files: {path: text or bytes} that the user has; a path that ends in / is a folder
    :param make: function of a Place that makes what is more than a file, or None
    :param names: texts that the message must have: the thing and what was found
    :param code: the exit code
    :param answer: True where stdout says it: the line asks whether something is right
    :param needs: marks of pytest
    """

    what: str
    typed: str
    files: dict = {}
    make: Callable = None
    names: tuple = ()
    code: int = 1
    answer: bool = False
    needs: tuple = ()


# ---- how the input is made

def good(place):
    """A SIF that is right, good.sif, and the host of the site that it is for."""
    place.has('good.sif')
    place.has('host')


def sif(change=None, **labels):
    """Return what makes bad.sif, good.sif changed by change (function of a bytearray), and the host."""
    def make(place):
        place.has('host')
        data = bytearray((place.samples / 'good.sif').read_bytes())
        if change:
            change(data)
        (place.folder / 'bad.sif').write_bytes(data)
    return make


def cut(length):
    """Cut a file behind length bytes."""
    return sif(lambda data: data.__delitem__(slice(length, None)))


def header(**fields):
    """Put other numbers into the header of a SIF, by the names of what stands there."""
    places = {'descriptors': (88, '<q'), 'table': (96, '<q')}

    def change(data):
        for name, value in fields.items():
            place, form = places[name]
            struct.pack_into(form, data, place, value)
    return sif(change)


def in_squashfs(offset, content):
    """Put content (bytes) at offset into the file system of a SIF."""
    def change(data):
        start = data.index(b'hsqs')
        data[start + offset:start + offset + len(content)] = content
    return sif(change)


def labelled(**labels):
    """Return what makes bad.sif with labels, whose names have _ for . and -- , and the host."""
    def make(place):
        from tests.helpers.sif import write_sif
        place.has('host')
        write_sif(place.folder / 'bad.sif', (place.samples / 'squashfs').read_bytes(),
                  {name.replace('__', '.'): value for name, value in labels.items()})
    return make


def special(name, kind='fifo'):
    """Return what makes a named pipe, a link to itself or to a device, or a file of 1 TB, and the host."""
    def make(place):
        path = place.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not (place.folder / 'host').exists():
            place.has('host')
        if kind == 'fifo':
            os.mkfifo(path)
        elif kind == 'loop':
            path.symlink_to(path.name)
        elif kind == 'device':
            path.symlink_to('/dev/zero')
        elif kind == 'sparse':
            with open(path, 'wb') as handle:
                handle.truncate(1 << 40)
    return make


def both(*makes):
    """Return what makes all that the functions makes do."""
    return lambda place: [make(place) for make in makes]


def shared(name, text):
    """Return what makes a file name of text that everybody may write, and good.sif."""
    def make(place):
        good(place)
        (place.folder / name).write_text(text)
        (place.folder / name).chmod(0o666)
    return make


def run_with(change=None, lines=None):
    """
    Return what makes the run `run` of two approaches.

    :param change: function of the first measurement (dict), which may change it; lines: function of its lines (list)
    """
    def make(place):
        folder = make_run(place.folder / 'run', approaches=('native', 'pure'), repeats=2, sizes=(1, 64, 4096))
        path = folder / results_files.NAME
        rows = path.read_text().splitlines()
        if change:
            number = next(n for n, line in enumerate(rows) if json.loads(line)['kind'] == 'measurement')
            entry = json.loads(rows[number])
            change(entry)
            rows[number] = json.dumps(entry)
        if lines:
            rows = lines(rows)
        path.write_text('\n'.join(rows) + '\n')
    return make


def rank_file(text):
    """Return the files of a step of one rank whose file holds text."""
    return {'step/rank-0.json': text}


def explain(content):
    """Return what makes the installation of a module, of which osu-explain is tried; content: of settings.json."""
    def make(place):
        target = place.folder / 'module' / 'bin' / 'osu-explain'
        target.parent.mkdir(parents=True)
        target.write_bytes((PROJECT / 'easyconfigs' / 'o' / 'osu-container' / 'osu-explain').read_bytes())
        target.chmod(0o755)
        install_proof(str(place.folder / 'module'))
        if content is not None:
            (place.folder / 'module' / 'settings.json').write_text(content)
    return make


DEEP = '[' * 100_000

#: What a shell has where Lmod is set up
LMOD = '. /usr/share/lmod/lmod/init/bash; '
#: The easyconfig of approach pure
PURE = PROJECT / 'easyconfigs' / 'o' / 'osu-container' / 'osu-container-pure.eb'
#: The installation that most cases of eb try
EB = 'eb osu-container-pure.eb --try-amend=site=workstation '


def with_sum(place):
    """Write the sum of good.sif beside it."""
    path = place.folder / 'good.sif'
    path.with_name('good.sif.sha256').write_text(hashlib.sha256(path.read_bytes()).hexdigest() + '  good.sif\n')


#: By command, in the order of the table
CASES = {
    'check': [
        Case('no image', f'osu-container check {HOST}', make=good, names=('osu-container check IMAGE.sif',),
             code=2),
        Case('a file that is not there', f'osu-container check none.sif {HOST}', make=good, names=('none.sif',)),
        Case('an empty file', f'osu-container check empty.sif {HOST}', {'empty.sif': ''}, good, ('empty.sif',)),
        Case('a text', f'osu-container check text.sif {HOST}', {'text.sif': 'FROM debian\n'}, good, ('text.sif',)),
        Case('a program', f'osu-container check program.sif {HOST}', {'program.sif': b'\x7fELF' + bytes(200)}, good,
             ('program.sif',)),
        Case('a device', f'osu-container check /dev/zero {HOST}', make=good, names=('/dev/zero',)),
        Case('a named pipe', f'osu-container check pipe.sif {HOST}', make=special('pipe.sif'), names=('pipe.sif',)),
        Case('a link to itself', f'osu-container check loop.sif {HOST}', make=special('loop.sif', 'loop'),
             names=('loop.sif',)),
        Case('a SIF that ends in its header', f'osu-container check bad.sif {HOST}', make=cut(60), names=('bad.sif',)),
        Case('a SIF that ends in its table', f'osu-container check bad.sif {HOST}', make=cut(700),
             names=('bad.sif',)),
        Case('a SIF of which the second half was not copied', f'osu-container check bad.sif {HOST}',
             make=cut(6000), names=('bad.sif',)),
        Case('a SIF that says it has 2^62 objects', f'osu-container check bad.sif {HOST}',
             make=header(descriptors=1 << 62), names=('bad.sif',)),
        Case('a SIF whose table is said to be behind its end', f'osu-container check bad.sif {HOST}',
             make=header(table=1 << 40), names=('bad.sif',)),
        Case('a squashfs with blocks of no bytes', f'osu-container check bad.sif {HOST}',
             make=in_squashfs(12, bytes(4)), names=('bad.sif',)),
        Case('a squashfs of a compression that nobody has', f'osu-container check bad.sif {HOST}',
             make=in_squashfs(20, b'\x63\0'), names=('bad.sif',)),
        Case('a file of 1 TB that holds nothing', f'osu-container check large.sif {HOST}',
             make=special('large.sif', 'sparse'), names=('large.sif',)),
        Case('an empty folder', f'osu-container check empty {HOST}', {'empty/': ''}, good, ('empty',)),
        Case('a name with control characters',
             "osu-container check $'\\033]0;title\\007\\033[31mred\\033[2J.sif' " + HOST, make=good, names=('red',)),
        Case('a name that is no text', rf"osu-container check $'\xff\xfe.sif' {HOST}", make=good, names=('.sif',)),
        Case('a name of 300 letters', f'osu-container check {"a" * 300} {HOST}', make=good, names=('aaa',)),
        Case('a program that is not in the image', f'osu-container check good.sif {HOST} --program /opt/none',
             make=good, names=('/opt/none',)),
        Case('an approach that is not known', f'osu-container check good.sif {HOST} --approach magic', make=good,
             names=('magic', 'hybrid'), code=2),
        Case('a site that is not known', 'osu-container check good.sif --site nowhere', make=good,
             names=('nowhere', 'lumi-25.03')),
        Case('a folder of a host that is not there', f'osu-container check good.sif --site {CPU} --sysroot none',
             make=good, names=('none',)),
        Case('a site file that is no Python', 'osu-container check good.sif --site-file site.py',
             {'site.py': 'SITE = \n'}, good, ('site.py',)),
        Case('a site file that names no site', 'osu-container check good.sif --site-file site.py',
             {'site.py': 'A = 1\n'}, good, ('site.py',)),
        Case('a site file that ends the program', 'osu-container check good.sif --site-file site.py',
             {'site.py': 'raise SystemExit(0)\n'}, good, ('site.py',)),
        Case('a site file that everybody may write', 'osu-container check good.sif --site-file site.py', make=shared(
            'site.py', "SITE = 'workstation'\n"), names=('site.py', 'chmod')),
        Case('a site file that is a device', 'osu-container check good.sif --site-file zero',
             make=both(good, special('zero', 'device')), names=('/dev/zero',)),
        Case('a site that is based on itself', 'osu-container check good.sif --site-file site.py',
             {'site.py': "SITE = 'a'\nSITES = {'a': {'based_on': 'b'}, 'b': {'based_on': 'a'}}\n"}, good,
             ('based_on', 'a -> b -> a')),
        Case('a site that lacks facts', 'osu-container check good.sif --site-file site.py',
             {'site.py': "SITE = 'a'\nSITES = {'a': {'libraries': {}}}\n"}, good, ("'a' lacks", 'runtime')),
        Case('a description of a host that is no JSON', f'osu-container check good.sif --site {CPU} --facts host.json',
             {'host.json': '{'}, good, ('host.json',)),
        Case('a description of a host of another format',
             f'osu-container check good.sif --site {CPU} --facts host.json', {'host.json': '{"format": 7}'}, good,
             ('host.json', '7', '1')),
        *(Case('a description of a host ' + what, f'osu-container check good.sif --site {CPU} --facts host.json',
               {'host.json': text}, good, ('host.json',))
          for what, text in (('of brackets without end', DEEP),
                             ('with a number of 100 digits', '{"format": 1' + '0' * 100 + '}'),
                             ('with no number for one', '{"format": NaN}'))),
        Case('a description of a host that is a named pipe',
             f'osu-container check good.sif --site {CPU} --facts pipe', make=lambda place: (
                 place.has('good.sif'), special('pipe')(place)), names=('pipe',)),
        Case('an image beside --published', 'osu-container check good.sif --published', make=good,
             names=('image',), code=2),
    ],
    'new': [
        Case('a site that is not known', 'osu-container new good.sif --site nowhere', make=good,
             names=('nowhere', 'lumi-25.03')),
        Case('an approach that is not known', f'osu-container new good.sif {HOST} --approach magic', make=good,
             names=('magic', 'hybrid'), code=2),
        Case('a folder', f'osu-container new host {HOST}', make=good, names=('host',)),
        Case('a text', f'osu-container new text.sif {HOST}', {'text.sif': 'FROM debian\n'}, good, ('text.sif',)),
        Case('a name of this project', f'osu-container new good.sif {HOST} --name osu-native', make=good,
             names=('osu-native',)),
        Case('a name with code of Lua in it', rf"""osu-container new good.sif {HOST} --name 'a" .. os.exit() .. "'""",
             make=good, names=('os.exit()',)),
        Case('a command that is not in the image', f'osu-container new good.sif {HOST} --command lmp', make=good,
             names=('lmp',)),
        Case('a command that the module has for itself', f'osu-container new good.sif {HOST} --command osu-explain',
             make=good, names=('osu-explain',)),
        Case('a folder for the easyconfig that is not there', f'osu-container new good.sif {HOST} -o none', make=good,
             names=('none',)),
        Case('an easyconfig that is there', f'osu-container new good.sif {HOST} --approach pure',
             {'good-pure.eb': 'mine'}, good, ('good-pure.eb', '--force')),
        Case('an easyconfig whose name a device has', f'osu-container new good.sif {HOST} --approach pure --force',
             make=both(good, special('good-pure.eb', 'device')), names=('good-pure.eb', 'a device')),
        Case('an approach that cannot run here', f'osu-container new good.sif {HOST} --approach openmpi', make=good,
             names=('openmpi',)),
    ],
    'image': [
        Case('a word that is no command', 'osu-container image magic', names=('magic', 'build'), code=2),
        Case('build: no name', 'osu-container image build', names=('NAME',), code=2),
        Case('show: a name that has no end', 'osu-container image show osu-workstation-mpich-4.2.3',
             names=('Did you mean osu-workstation-mpich-4.2.3-libfabric-',)),
        Case('build: an image that is not known', 'osu-container image build nothing', names=('nothing',)),
        Case('build: one file for several images', 'osu-container image build workstation --output one.sif',
             names=('--output',)),
        Case('build: an archive that is not there', 'osu-container image build OSU_IMAGE --osu-archive none.tar.gz '
             '--output one.sif --log log', names=('none.tar.gz',)),
        Case('build: a key that is not there', 'osu-container image build OSU_IMAGE --no-download --key none.pem '
             '--output one.sif', names=('none.pem',)),
        Case('build: an argument without a value', 'osu-container image build OSU_IMAGE --build-arg MIRROR '
             '--output one.sif', names=('MIRROR',)),
        Case('build: less time than it takes', 'osu-container image build osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-'
             '1.22.0 --within 1 --output one.sif --log log', names=('--within', '120', '1')),
        Case('recipe: a name that means several', 'osu-container image recipe workstation', names=('workstation',)),
        Case('show: a name that is not known', "osu-container image show $'a\\033[31m'", names=('31m',)),
        Case('fetch: a source that is not known', 'osu-container image fetch --source nothing', names=('nothing',),
             code=2),
        Case('build: a device in place of the image', 'osu-container image build OSU_IMAGE --force --output zero '
             '--log log', make=special('zero', 'device'), names=('zero', '--output')),
        Case('pull: a device in place of the image', 'osu-container image pull oras://127.0.0.1:1/a:1 zero --force',
             make=special('zero', 'device'), names=('zero', 'a device')),
        Case('verify: a file that is not there', 'osu-container image verify none.sif', names=('none.sif',),
             answer=True),
        Case('verify: an empty file', 'osu-container image verify empty.sif', {'empty.sif': ''},
             names=('empty.sif',), answer=True),
        Case('verify: a text', 'osu-container image verify text.sif', {'text.sif': 'FROM debian\n'},
             names=('text.sif',), answer=True),
        Case('verify: another sum beside it', 'osu-container image verify good.sif',
             {'good.sif.sha256': 'a' * 64 + '  good.sif\n'}, good, ('aaaa', 'good.sif.sha256'), answer=True),
        Case('verify: a sum that is none', 'osu-container image verify good.sif', {'good.sif.sha256': 'sum\n'}, good,
             ('good.sif.sha256',), answer=True),
        Case('verify: a sum that is no text', 'osu-container image verify good.sif', {'good.sif.sha256': BINARY},
             good, ('good.sif.sha256',), answer=True),
        Case('sign: a text', 'osu-container image sign text.sif', {'text.sif': 'FROM debian\n'}, names=('text.sif',),
             needs=('apptainer',)),
        Case('push: a file that is not there', 'osu-container image push none.sif oras://localhost/a:1',
             names=('none.sif',)),
        Case('push: an address that is none', 'osu-container image push good.sif localhost/a:1', make=good,
             names=('localhost/a:1', 'oras://REGISTRY/osu/NAME:1')),
        Case('pull: an address that is none', 'osu-container image pull nonsense one.sif', names=('nonsense',)),
        Case('pull: a sum that is none', 'osu-container image pull oras://127.0.0.1:1/a:1 one.sif --sha256 abc',
             names=('abc',)),
    ],
    'discover': [
        Case('a name with a slash', 'osu-container discover --name a/b', names=('a/b',), code=2),
        Case('a folder of a host that is not there', 'osu-container discover --sysroot none', names=('none',), code=2),
        Case('a file that is there', 'osu-container discover -o site.py', {'site.py': 'mine'},
             names=('site.py', '--force')),
        Case('a folder that is not there', 'osu-container discover --sysroot host -o none/site.py', make=good,
             names=('none',)),
        Case('a folder in place of a file', 'osu-container discover --sysroot host -o host --force', make=good,
             names=('host',)),
        Case('a device in place of a file', 'osu-container discover --sysroot host -o zero --force',
             make=special('zero', 'device'), names=('zero', 'a device')),
        Case('a named pipe in place of a file', 'osu-container discover --sysroot host --facts pipe --force',
             make=special('pipe'), names=('pipe',)),
        Case('--facts and -o', 'osu-container discover --facts a.json -o b.py', names=('--facts',), code=2),
        Case('--compare: a file that is no look', 'osu-container discover --compare a.json', {'a.json': '{"a": 1}'},
             names=('a.json',), code=2),
        Case('--compare: a file that is no JSON', 'osu-container discover --compare a.json', {'a.json': DEEP},
             names=('a.json',), code=2),
        Case('--force without a file', 'osu-container discover --force', names=('--force', '-o FILE'), code=2),
        Case('--patience that is no number', 'osu-container discover --patience x', names=('--patience', 'x'), code=2),
        Case('--compare and -o', 'osu-container discover --compare a -o b', names=('--compare', '-o'), code=2),
        Case('--compare: what is not there', 'osu-container discover --compare none', names=('none',), code=2),
        Case('--compare: a folder without a module', 'osu-container discover --compare .', names=('facts.json',),
             code=2),
        Case('--compare: a text', 'osu-container discover --compare text.md', {'text.md': '# A text\n'},
             names=('text.md', 'Python'), code=2),
        Case('--compare: Python that is no look', 'osu-container discover --compare look.py', {'look.py': 'A = 1\n'},
             names=('look.py',), code=2),
        Case('--compare: a named pipe', 'osu-container discover --compare pipe.json', make=special('pipe.json'),
             names=('pipe.json',), code=2),
        Case('--compare: brackets of Python without end', 'osu-container discover --compare look.py',
             {'look.py': 'A = ' + DEEP}, names=('look.py',), code=2),
        Case('--compare: three files', 'osu-container discover --compare a b c', names=('3',), code=2),
    ],
    'bench': [
        Case('no repeats', 'osu-container bench --repeats 0', names=('--repeats', '0'), code=2),
        Case('a tag that is not known', 'osu-container bench --tag nothing', names=('nothing', 'quick'), code=2),
        Case('no module is installed', 'osu-container bench', names=('osu-native',)),
        Case('a module that is not installed', 'osu-container bench --module nothing/here', names=('nothing/here',)),
        Case('a run that is not there', 'osu-container bench --resume none', names=('none',)),
        Case('a run that has not begun', 'osu-container bench --resume run', {'run/results.jsonl': ''},
             names=('run',)),
        Case('a run of which a line is damaged', 'osu-container bench --resume run',
             make=run_with(lines=lambda rows: [rows[0], '{"kind', *rows[1:]]), names=('results.jsonl:2',)),
        Case('a command with an open quote', """osu-container bench --module a/b --run "lmp 'in" """,
             names=("lmp 'in",)),
        Case('a command and no module', 'osu-container bench --run lmp', names=('--module',)),
        Case('a figure without a group', 'osu-container bench --module a/b --run lmp --figure time',
             names=('time', '0')),
        Case('a figure that is no regular expression', "osu-container bench --module a/b --run lmp --figure '(time'",
             names=('(time',)),
        Case('an empty command', "osu-container bench --module a/b --run ' '", names=('--run',)),
        Case('a command without quotes', 'osu-container bench --module a/b --run lmp in.lj', names=('in.lj', '--run')),
        Case('a unit of two words', "osu-container bench --module a/b --run lmp --figure '(x)' --unit 'a b'",
             names=('a b',)),
        Case('a figure without a command', "osu-container bench --figure '(x)' --more-is-better",
             names=('--figure', '--more-is-better', '--run')),
        Case('a unit without a figure', 'osu-container bench --module a/b --run lmp --unit s', names=('--unit',)),
        Case('ranks without a command', 'osu-container bench --ranks 4', names=('--ranks',)),
        Case('a budget that is no number', 'osu-container bench --budget long', names=('long',), code=2),
    ],
    'compare': [
        Case('a run that is not there', 'osu-container compare none lumi-g-2025-03', names=('none',), code=3),
        Case('a run that measured nothing', 'osu-container compare run lumi-g-2025-03', {'run/results.jsonl': ''},
             names=('run/results.jsonl',), code=3),
        Case('results that are no text', 'osu-container compare run lumi-g-2025-03', {'run/results.jsonl': BINARY},
             names=('run/results.jsonl',), code=3),
        Case('a named pipe', 'osu-container compare pipe lumi-g-2025-03', make=special('pipe'), names=('pipe',),
             code=3),
        Case('a run whose results are a named pipe', 'osu-container compare run lumi-g-2025-03',
             make=special('run/results.jsonl'), names=('run',), code=3),
        Case('a file of something else', 'osu-container compare other.json lumi-g-2025-03', {'other.json': '{}'},
             names=('other.json',), code=3),
        Case('a value below zero', 'osu-container compare run:pure run:native',
             make=run_with(lambda entry: entry['values'].update({'64': -1.5})), names=('-1.5',), code=3),
        Case('a number of 5,000 digits', 'osu-container compare run:pure run:native',
             make=run_with(lines=lambda rows: [re.sub(r'"64": [\d.]+', '"64": 1' + '0' * 5000, row) for row in rows]),
             names=('run/results.jsonl',), code=3),
        Case('brackets without end', 'osu-container compare run:pure run:native',
             make=run_with(lines=lambda rows: [rows[0], DEEP]), names=('run/results.jsonl:2',), code=3),
        Case('results of a later version', 'osu-container compare run:pure run:native', make=run_with(
             lines=lambda rows: [json.dumps(dict(json.loads(rows[0]), version=99)), *rows[1:]]), names=('99',), code=3),
        Case('a series that is not there', 'osu-container compare lumi-g-2025-03:magic lumi-g-2025-03:native',
             names=('magic',), code=3),
    ],
    'report': [
        Case('a folder that is not there', 'osu-container report run -o none/page.html', make=run_with(),
             names=('none',)),
        Case('a folder in place of a page', 'osu-container report run -o page', {'page/': ''}, run_with(), ('page',)),
        Case('a device in place of a page', 'osu-container report run -o zero --force', make=both(
            run_with(), special('zero', 'device')), names=('zero', 'a device')),
        Case('a run whose unit is another one', 'osu-container report run -o page.html',
             make=run_with(lambda entry: entry.update(unit='furlongs')), names=('furlongs',)),
    ],
    'reference': [
        Case('a name with a slash', 'osu-container reference add run --name ../x', make=run_with(), names=('../x',)),
        Case('the name of a published one', 'osu-container reference add run --name lumi-g-2025-03', make=run_with(),
             names=('lumi-g-2025-03',)),
        Case('what is no run', 'osu-container reference add lumi-g-2025-03 --name mine', names=('lumi-g-2025-03',)),
        Case('for all users, and no folder for that', 'osu-container reference add run --name mine --system',
             make=run_with(), names=('OSU_CONTAINER_REFERENCES',)),
        Case('a run of which a line is damaged', 'osu-container reference add run --name mine',
             make=run_with(lines=lambda rows: [rows[0], '{"kind', *rows[1:]]), names=('results.jsonl:2',)),
        Case('no name', 'osu-container reference add run', make=run_with(), names=('--name',), code=2),
        Case('a series that was not measured', 'osu-container reference add run --name mine --series swap',
             make=run_with(), names=('swap',)),
        Case('remove: a published one', 'osu-container reference remove lumi-g-2025-03', names=('lumi-g-2025-03',)),
        Case('show: one that is not there', 'osu-container reference show none', names=('none',)),
    ],
    'proof': [
        Case('nothing', 'osu-container proof', names=('srun',), code=2),
        Case('--json and a command', 'osu-container proof --json -- true x', names=('--json',), code=2),
        Case('a command without a step', 'osu-container proof -- true x', names=('true x', 'srun')),
        Case('a command that fails', "osu-container proof -- sh -c 'exit 7'", names=('7',), code=7),
        Case('a command that is killed', "osu-container proof -- sh -c 'kill -TERM $$'", names=('143',), code=143),
        Case('a whole path that is not there', 'osu-container proof -- /nowhere/x y', names=('/nowhere/x',)),
        Case('a rank that is a list', 'osu-container proof step', rank_file('[1]'), names=('rank-0.json',)),
        Case('a folder that is not there', 'osu-container proof none', names=('none',)),
        Case('a folder without a rank', 'osu-container proof empty', {'empty/': ''}, names=('empty',)),
        Case('a rank that is no JSON', 'osu-container proof step', rank_file('{"form'), names=('rank-0.json',)),
        Case('a rank of brackets without end', 'osu-container proof step', rank_file(DEEP), names=('rank-0.json',)),
        Case('a rank that says it is one of 10^9', 'osu-container proof step',
             rank_file('{"format": 1, "found": true, "rank": 0, "tasks": 1000000000}'), names=('rank-0.json',)),
        Case('a command that is not there', 'osu-container proof -- nothing', names=('nothing',)),
        Case('a file where the folder shall be', 'osu-container proof -o file -- true x', {'file': 'mine'},
             names=('file',)),
        Case('a rank of another format', 'osu-container proof step', rank_file('{"format": 7}'),
             names=('rank-0.json', '7', '1')),
    ],
    'why': [
        Case('a file that is not there', 'osu-container why none.out', names=('none.out',)),
        Case('a folder', 'osu-container why logs', {'logs/': ''}, names=('logs',)),
        Case('a device', 'osu-container why zero', make=special('zero', 'device'), names=('zero', 'a device')),
        Case('a compressed file', 'osu-container why job.out.gz', {'job.out.gz': b'\x1f\x8b\x08' + BINARY},
             names=('job.out.gz',)),
    ],
    'contribute': [
        Case('a place that is not known', 'osu-container contribute nowhere', names=('nowhere',), code=2),
        Case('a stack that LUMI does not have', 'osu-container contribute lumi --stack 99.99', names=('99.99',)),
        Case('a date that is none', 'osu-container contribute lumi --date tomorrow', names=('tomorrow',)),
        Case('a folder that is there', 'osu-container contribute easybuild -o mine', {'mine/file': 'mine'},
             names=('mine',)),
    ],
    'run-in-container': [
        Case('no module is loaded', '$CLONE/easyconfigs/o/osu-container/run-in-container', names=('module load',)),
        Case('the image is gone', 'MPI_CONTAINER_IMAGE=$PWD/gone.sif MPI_CONTAINER_RUNTIME=apptainer '
             '$CLONE/easyconfigs/o/osu-container/run-in-container', names=('gone.sif',)),
        Case('the runtime is gone', 'MPI_CONTAINER_IMAGE=$PWD/good.sif MPI_CONTAINER_RUNTIME=magic '
             '$CLONE/easyconfigs/o/osu-container/run-in-container', make=good, names=('magic',)),
        Case('two tasks without a PMI', "MPI_CONTAINER_IMAGE=$PWD/good.sif MPI_CONTAINER_RUNTIME=true "
             "MPI_CONTAINER_PMI='pmi2 PMI_FD' SLURM_STEP_NUM_TASKS=2 "
             '$CLONE/easyconfigs/o/osu-container/run-in-container', make=good, names=('PMI_FD', '--mpi=pmi2')),
    ],
    'osu-gpu-bind': [
        Case('no module is loaded', '$CLONE/easyconfigs/o/osu-container/osu-gpu-bind true', names=('OSU_GPU_MAP',)),
        Case('an option that is not known', "OSU_GPU_MAP=0:0x1:cxi0 "
             "$CLONE/easyconfigs/o/osu-container/osu-gpu-bind --magic", names=('--magic',)),
        Case('without srun', 'OSU_GPU_MAP=0:0x1:cxi0 $CLONE/easyconfigs/o/osu-container/osu-gpu-bind true',
             names=('SLURM_LOCALID',)),
        Case('a part of a node, and not which', "OSU_GPU_MAP='0:0x1:cxi0 1:0x2:cxi1' SLURM_LOCALID=0 "
             'SLURM_GPUS_ON_NODE=1 $CLONE/easyconfigs/o/osu-container/osu-gpu-bind true', names=('SLURM_STEP_GPUS',)),
    ],
    'osu-explain': [
        Case('settings that are gone', 'module/bin/osu-explain', make=explain(None), names=('settings.json',)),
        Case('settings of something else', 'module/bin/osu-explain', make=explain('[1, 2]'),
             names=('settings.json', 'eb')),
        Case('settings that are a named pipe', 'module/bin/osu-explain', make=lambda place: (
            explain(None)(place), special('module/settings.json')(place)), names=('settings.json',)),
        Case('settings that are no JSON', 'module/bin/osu-explain', make=explain('{"modu'),
             names=('settings.json',)),
    ],
    'module load': [
        Case('the image is gone', LMOD + 'module use $CLONE/modules/workstation; module load osu-container/pure',
             names=('osu-workstation', 'eb osu-container-pure.eb')),
        Case("a library of the host is gone", LMOD + 'module use $CLONE/modules/lumi-25.03; '
             'module load osu-container/hybrid', names=('libfabric',)),
        Case('a module that is not installed', LMOD + 'module use $CLONE/modules/workstation; '
             'module load osu-container/magic', names=('osu-container/magic',)),
    ],
    'eb': [
        Case('a site that is not known', 'eb osu-container-hybrid.eb --try-amend=site=nowhere',
             names=('nowhere', 'lumi-25.03')),
        Case('a site file that is no Python', 'eb osu-container-hybrid.eb --try-amend=site=$PWD/site.py',
             {'site.py': 'SITE = \n'}, names=('site.py',)),
        Case('an approach that is not known', "sed s/pure/magic/ $CLONE/easyconfigs/o/osu-container/osu-container-pure"
             ".eb >bad.eb; eb bad.eb --try-amend=site=workstation; code=$?; rm bad.eb; exit $code",
             names=('magic', 'hybrid')),
        Case('a wrapper that is not known', EB + '--try-amend=wrapper=magic', names=('magic', 'run-in-container')),
        Case('another word than yes, no or auto', EB + '--try-amend=build_image=maybe', names=('maybe', 'auto')),
        Case('no image', EB + '--try-amend=build_image=no', names=('osu-container image build',)),
        Case('an easyconfig that everybody may write', 'eb bad.eb', make=shared('bad.eb', PURE.read_text()),
             names=('bad.eb', 'chmod')),
        Case('an image in the folder above', EB + '--try-amend=image=../x.sif', names=('../x.sif',)),
        Case('an image that is a text', EB + '--try-amend=image=$PWD/text.sif '
             '--try-amend=image_sha256=$(sha256sum text.sif | cut -c1-64)', {'text.sif': 'FROM debian\n'},
             names=('text.sif',)),
        Case('an image without its sum', EB + '--try-amend=image=$PWD/good.sif', make=good, names=('good.sif',)),
        Case('an image with another sum', EB + '--try-amend=image=$PWD/good.sif',
             {'good.sif.sha256': 'a' * 64 + '  good.sif\n'}, good, ('good.sif', 'aaaa')),
        Case('programs that are a text and no list', EB + '--try-amend=image=$PWD/good.sif --try-amend=programs=lmp',
             {}, lambda place: (good(place), with_sum(place)), ("'lmp'", "['lmp']")),
    ],
    'workstation and lumi': [
        Case('a clone in a folder with a blank', "mkdir 'a b'; cp $CLONE/Makefile 'a b'; make -C 'a b' help; code=$?; "
             "rm -r 'a b'; exit $code", names=('a b',), code=2),
        *(Case(f'python_env.sh: the version {version}', '$CLONE/workstation/python_env.sh ' + version, names=(version,),
               answer=True) for version in ('newest', '5.1', '../x')),
        Case('lumi/link: an option that is not known', '$CLONE/lumi/link --all', names=('--all',)),
        Case('lumi/link: a word too many', '$CLONE/lumi/link --remove more', names=('--remove more',)),
        Case('lumi/link: a prefix that is no whole path', 'EBU_USER_PREFIX=here $CLONE/lumi/link', names=('here',)),
        Case('lumi/link: an empty prefix', 'EBU_USER_PREFIX= $CLONE/lumi/link', names=('EBU_USER_PREFIX',)),
        Case('lumi/link: a prefix with a colon', 'EBU_USER_PREFIX=/tmp/a:b $CLONE/lumi/link', names=('/tmp/a:b',)),
        Case('stand-in/make: a site that is not known', '$CLONE/stand-in/make nowhere tree', names=('nowhere',),
             code=2),
        Case('stand-in/make: a part that is not known', '$CLONE/stand-in/make lumi-c-25.03 tree --without magic',
             names=('magic', 'libmpi')),
        Case('stand-in/make: a folder with a blank', "$CLONE/stand-in/make lumi-25.03 'a b'", names=('a b',)),
        Case('stand-in/make: --update and --force', '$CLONE/stand-in/make lumi-25.03 tree --update libfabric=1 --force',
             names=('--update', '--force'), code=2),
        Case('stand-in/make: a folder that is in use', '$CLONE/stand-in/make lumi-25.03 mine', {'mine/file': 'mine'},
             names=('mine',)),
        Case('a step of the demo that is not known', 'PYTHONPATH=$CLONE $CLONE/.workstation/venv/bin/python -m '
             'osu_container.demo --from nothing', names=('nothing',), code=2),
        Case('a step that make modules does not have', 'PYTHONPATH=$CLONE $CLONE/.workstation/venv/bin/python -m '
             'osu_container.generate nothing', names=('nothing',), code=2),
    ],
}
