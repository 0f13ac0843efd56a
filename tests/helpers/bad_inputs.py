"""
What a user may type, or give to a command, that is wrong, and faults around it: the cases of tests/test_bad_input.py.

A case is run as it is typed, by bash, in an empty folder that holds what the case puts there and no more.
"""
import hashlib
import json
import os
import struct
from typing import Callable, NamedTuple

from osu_container.core.installing.staged import install_proof
from osu_container.places import PROJECT
from osu_container.results import run_files
from tests.helpers.example_runs import make_run
from tests.helpers.verdict_cases import CPU

#: Bytes of a file that is no text; brackets that no reader can follow
BINARY, DEEP = bytes(range(256)) * 4, '[' * 100_000
#: A site and its host, as most cases need them
HOST = f'--site {CPU} --sysroot host'


class Case(NamedTuple):
    """
    A bad input.

    :param typed: the line, for bash; names: texts that the message must have: the thing, what was found and wanted
    :param code: the exit code
    :param files: {path: text or bytes} that the user has; a path that ends in / is a folder
    :param make: function of a Place that makes what is more than a file
    :param answer: True where stdout says it: the line asks whether something is right
    """

    typed: str
    names: tuple
    code: int = 1
    files: dict = {}
    make: Callable = None
    answer: bool = False


# ---- how the input is made

def good(place):
    """A SIF that is right, good.sif, and the host of the site that it is for."""
    place.has('good.sif')
    place.has('host')


def sif(change):
    """Return what makes bad.sif, good.sif changed by change (function of a bytearray), and the host."""
    def make(place):
        place.has('host')
        data = bytearray((place.samples / 'good.sif').read_bytes())
        change(data)
        (place.folder / 'bad.sif').write_bytes(data)
    return make


def cut(length):
    """Return what makes bad.sif, cut behind length bytes."""
    return sif(lambda data: data.__delitem__(slice(length, None)))


def in_squashfs(offset, content):
    """Return what makes bad.sif with content (bytes) at offset of its file system."""
    def change(data):
        start = data.index(b'hsqs')
        data[start + offset:start + offset + len(content)] = content
    return sif(change)


def special(name, kind='fifo'):
    """Return what makes a named pipe, a link to itself or to a device, or a file of 1 TB; good.sif and the host."""
    def make(place):
        good(place)
        path = place.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if kind == 'fifo':
            os.mkfifo(path)
        elif kind == 'loop':
            path.symlink_to(path.name)
        elif kind == 'device':
            path.symlink_to('/dev/zero')
        else:
            with open(path, 'wb') as handle:
                handle.truncate(1 << 40)
    return make


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
        path = folder / run_files.NAME
        rows = path.read_text().splitlines()
        if change:
            number = next(n for n, line in enumerate(rows) if json.loads(line)['kind'] == 'measurement')
            entry = json.loads(rows[number])
            change(entry)
            rows[number] = json.dumps(entry)
        path.write_text('\n'.join(lines(rows) if lines else rows) + '\n')
    return make


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


def wrapper(*settings):
    """Return what makes the installation of a module with lines of call-settings (str), whose wrapper is tried."""
    def make(place):
        good(place)
        target = place.folder / 'module' / 'bin' / 'run'
        target.parent.mkdir(parents=True)
        target.symlink_to(PROJECT / 'easyconfigs' / 'o' / 'osu-container' / 'run-in-container')
        (place.folder / 'module' / 'call-settings').write_text('\n'.join(settings) + '\n')
    return make


def with_sum(place):
    """Make good.sif, its sum beside it, and the host."""
    good(place)
    path = place.folder / 'good.sif'
    path.with_name('good.sif.sha256').write_text(hashlib.sha256(path.read_bytes()).hexdigest() + '  good.sif\n')


#: What a shell has where Lmod is set up
LMOD = '. /usr/share/lmod/lmod/init/bash; module use $CLONE/modules/'
#: The installation that most cases of eb try
EB = 'eb osu-container-pure.eb --try-amend=site=workstation --try-amend='
CHECK, NEW, BENCH = f'osu-container check {HOST} ', f'osu-container new {HOST} ', 'osu-container bench '
IMAGE, LOOK, COMPARE = 'osu-container image ', 'osu-container discover ', 'osu-container compare '
ADD, PROOF = 'osu-container reference add run ', 'osu-container proof '
SITE_FILE, FACTS = 'osu-container check good.sif --site-file ', f'osu-container check good.sif --site {CPU} --facts '

#: By command
CASES = {
    'check': [
        Case(CHECK, ('osu-container check IMAGE.sif',), 2, make=good),
        Case(CHECK + 'none.sif', ('none.sif', 'No such file'), make=good),
        Case(CHECK + 'text.sif', ('text.sif is not a SIF',), files={'text.sif': 'FROM debian\n'}, make=good),
        Case(CHECK + 'pipe.sif', ('pipe.sif', 'no plain file'), make=special('pipe.sif')),
        Case(CHECK + 'loop.sif', ('loop.sif', 'symbolic links'), make=special('loop.sif', 'loop')),
        Case(CHECK + 'bad.sif', ('bad.sif is truncated',), make=cut(700)),
        Case(CHECK + 'bad.sif', ('bad.sif is truncated', '6000 bytes'), make=cut(6000)),
        Case(CHECK + 'bad.sif', ('bad.sif is damaged',), make=sif(
            lambda data: struct.pack_into('<q', data, 96, 1 << 40))),
        Case(CHECK + 'bad.sif', ('squashfs in bad.sif',), make=in_squashfs(20, b'\x63\0')),
        Case(CHECK + 'large.sif', ('large.sif is not a SIF',), make=special('large.sif', 'sparse')),
        Case(CHECK + 'empty', ('empty is a folder', '/usr'), files={'empty/': ''}, make=good),
        Case(CHECK + r"$'\033]0;title\007\033[31mred\033[2J\xff.sif'", ('red',), make=good),
        Case(CHECK + 'good.sif --program /opt/none', ('no program /opt/none',), make=good),
        Case(CHECK + 'good.sif --approach magic', ('magic', 'hybrid'), 2, make=good),
        Case('osu-container check good.sif --site nowhere', ('nowhere', 'lumi-25.03'), make=good),
        Case(f'osu-container check good.sif --site {CPU} --sysroot none', ('none',), make=good),
        Case('osu-container check good.sif --published', ('image',), 2, make=good),
        Case(SITE_FILE + 'site.py', ('site.py is not valid Python',), files={'site.py': 'SITE = \n'}, make=good),
        Case(SITE_FILE + 'site.py', ('site.py', 'SITES'), files={'site.py': 'A = 1\n'}, make=good),
        Case(SITE_FILE + 'site.py', ('site.py',), files={'site.py': 'raise SystemExit(0)\n'}, make=good),
        Case(SITE_FILE + 'site.py', ('site.py', 'chmod'), make=shared('site.py', "SITE = 'workstation'\n")),
        Case(SITE_FILE + 'zero', ('/dev/zero',), make=special('zero', 'device')),
        Case(SITE_FILE + 'site.py', ('based_on', 'a -> b -> a'), make=good, files={
            'site.py': "SITE = 'a'\nSITES = {'a': {'based_on': 'b'}, 'b': {'based_on': 'a'}}\n"}),
        Case(SITE_FILE + 'site.py', ("'a' lacks", 'runtime'), make=good, files={
            'site.py': "SITE = 'a'\nSITES = {'a': {'libraries': {}}}\n"}),
        *(Case(SITE_FILE + 'site.py', ('site.py', says), files={'site.py': text}, make=good) for text, says in (
            ('class E(BaseException):\n    pass\nraise E("\033[2J")\n', 'E: '), ('#' * (1 << 21), '1048576'))),
        *(Case(CHECK + f"good.sif {option} ''", (option, 'empty value'), 2, make=good)
          for option in ('--site', '--site-file', '--sysroot', '--program', '--facts')),
        Case("OSU_CONTAINER_RESULTS= osu-container compare a b", ('OSU_CONTAINER_RESULTS', 'empty'), 2),
        Case("HOME= osu-container reference list", ('HOME', 'empty'), 2),
        Case(FACTS + 'pipe', ('pipe',), make=special('pipe')),
    ],
    'new': [
        Case(NEW + 'good.sif --approach magic', ('magic', 'hybrid'), 2, make=good),
        Case(NEW + 'good.sif --approach openmpi', ('openmpi',), make=good),
        Case(NEW + 'text.sif', ('text.sif',), files={'text.sif': 'FROM debian\n'}, make=good),
        Case(NEW + 'good.sif --name osu-native', ('osu-native',), make=good),
        Case(NEW + """good.sif --name 'a" .. os.exit() .. "'""", ('os.exit()',), make=good),
        Case(NEW + 'good.sif --command lmp', ('lmp',), make=good),
        Case(NEW + 'good.sif --command osu-explain', ('osu-explain',), make=good),
        Case(NEW + 'good.sif --approach pure', ('good-pure.eb', '--force'), files={'good-pure.eb': 'mine'}, make=good),
        Case(NEW + 'good.sif --approach pure --force', ('good-pure.eb', 'a device'), make=special(
            'good-pure.eb', 'device')),
    ],
    'image': [
        Case(IMAGE + 'magic', ('magic', 'build'), 2),
        Case(IMAGE + 'show osu-workstation-mpich-4.2.3', ('Did you mean osu-workstation-mpich-4.2.3-libfabric-',)),
        Case(IMAGE + "build $'a\\033[31m'", ('31m',)),
        Case(IMAGE + 'build workstation --output one.sif', ('--output',)),
        Case(IMAGE + 'build OSU_IMAGE --osu-archive none.tar.gz --output one.sif', ('none.tar.gz',)),
        Case(IMAGE + 'fetch --source nothing', ('nothing',), 2),
        Case(IMAGE + 'clean --all --work none', ('none',)),
        Case(IMAGE + 'verify none.sif', ('none.sif',), answer=True),
        Case(IMAGE + 'verify good.sif', ('aaaa', 'good.sif.sha256'), files={
            'good.sif.sha256': 'a' * 64 + '  good.sif\n'}, make=good, answer=True),
        Case(IMAGE + 'verify good.sif', ('good.sif.sha256',), files={'good.sif.sha256': BINARY}, make=good,
             answer=True),
    ],
    'discover': [
        Case(LOOK + '--name a/b', ('a/b',), 2),
        Case(LOOK + '--sysroot none', ('none',), 2),
        Case(LOOK + '-o site.py', ('site.py', '--force'), files={'site.py': 'mine'}),
        Case(LOOK + '--facts a.json -o b.py', ('--facts',), 2),
        Case(LOOK + '--compare none', ('none',), 2),
        Case(LOOK + '--compare .', ('facts.json',), 2),
        Case(LOOK + '--compare pipe.json', ('pipe.json',), 2, make=special('pipe.json')),
    ],
    'bench': [
        *(Case(BENCH + f'--repeats {number}', ('--repeats', number), 2) for number in ('0', '999999')),
        Case(BENCH + '--tag nothing', ('nothing', 'quick'), 2),
        Case(BENCH, ('osu-native',)),
        Case(BENCH + '--module nothing/here', ('nothing/here',)),
        Case(BENCH + '--resume none', ('none',)),
        Case(BENCH + '--resume run', ('results.jsonl:2',), make=run_with(
            lines=lambda rows: [rows[0], '{"kind', *rows[1:]])),
        Case(BENCH + """--module a/b --run "lmp 'in" """, ("lmp 'in",)),
        Case(BENCH + '--run lmp', ('--module',)),
        Case(BENCH + '--module a/b --run lmp --figure time', ('time', '0')),
        Case(BENCH + "--module a/b --run lmp --figure '(time'", ('(time',)),
        Case(BENCH + '--module a/b --run lmp in.lj', ('in.lj', '--run')),
    ],
    'compare': [
        Case(COMPARE + 'none lumi-g-2025-03', ('none',), 3),
        *(Case(COMPARE + 'run lumi-g-2025-03', ('run/results.jsonl',), 3, files={'run/results.jsonl': text})
          for text in ('', BINARY)),
        Case(COMPARE + 'run lumi-g-2025-03', ('run',), 3, make=special('run/results.jsonl')),
        Case(COMPARE + 'run:pure run:native', ('-1.5',), 3, make=run_with(
            lambda entry: entry['values'].update({'64': -1.5}))),
        Case(COMPARE + 'run:pure run:native', ('run/results.jsonl:2',), 3, make=run_with(
            lines=lambda rows: [rows[0], DEEP])),
        Case(COMPARE + 'run:pure run:native', ('99',), 3, make=run_with(
            lines=lambda rows: [json.dumps(dict(json.loads(rows[0]), version=99)), *rows[1:]])),
        Case(COMPARE + 'lumi-g-2025-03:magic lumi-g-2025-03:native', ('magic',), 3),
    ],
    'report and reference': [
        Case('osu-container report run -o none/page.html', ('none',), make=run_with()),
        Case('osu-container report run -o page.html', ('furlongs',), make=run_with(
            lambda entry: entry.update(unit='furlongs'))),
        Case(ADD + '--name ../x', ('../x',), make=run_with()),
        Case(ADD + '--name lumi-g-2025-03', ('lumi-g-2025-03',), make=run_with()),
        Case(ADD + '--name mine --series swap', ('swap',), make=run_with()),
        Case('osu-container reference remove lumi-g-2025-03', ('lumi-g-2025-03',)),
    ],
    'proof': [
        Case(PROOF, ('srun',), 2),
        Case(PROOF + '-- true x', ('true x', 'srun')),
        Case(PROOF + "-- sh -c 'kill -TERM $$'", ('143',), 143),
        Case(PROOF + '-- nothing', ('nothing',)),
        Case(PROOF + '-o file -- true x', ('file',), files={'file': 'mine'}),
        Case(PROOF + 'none', ('none',)),
        *(Case(PROOF + 'step', ('rank-0.json', *names), files={'step/rank-0.json': text}) for text, *names in (
            ('{"format": 1, "found": true, "rank": 0, "tasks": 1000000000}',),)),
    ],
    'why': [
        Case('osu-container why none.out', ('none.out',)),
        Case('osu-container why zero', ('zero', 'a device'), make=special('zero', 'device')),
        Case('osu-container why job.out.gz', ('job.out.gz',), files={'job.out.gz': b'\x1f\x8b\x08' + BINARY}),
    ],
    'contribute': [
        Case('osu-container contribute nowhere', ('nowhere',), 2),
        Case('osu-container contribute lumi --stack 99.99', ('99.99',)),
        Case('osu-container contribute easybuild -o mine', ('mine',), files={'mine/file': 'mine'}),
    ],
    'a module and its scripts': [
        Case('$CLONE/easyconfigs/o/osu-container/run-in-container', ('module load',)),
        Case('module/bin/run', ('gone.sif',), make=wrapper('image gone.sif', 'runtime true')),
        Case('module/bin/run', ('magic',), make=wrapper('image ./good.sif', 'runtime magic')),
        Case('SLURM_STEP_NUM_TASKS=2 module/bin/run', ('PMI_FD', '--mpi=pmi2'),
             make=wrapper('image ./good.sif', 'runtime true', 'pmi pmi2 PMI_FD')),
        Case('$CLONE/easyconfigs/o/osu-container/osu-gpu-bind true', ('OSU_GPU_MAP',)),
        Case("OSU_GPU_MAP='0:0x1:cxi0 1:0x2:cxi1' SLURM_LOCALID=0 SLURM_GPUS_ON_NODE=1 "
             '$CLONE/easyconfigs/o/osu-container/osu-gpu-bind true', ('SLURM_STEP_GPUS',)),
        *(Case('module/bin/osu-explain', ('settings.json',), make=explain(content))
          for content in (None, '[1, 2]', '{"modu')),
        Case(LMOD + 'lumi-25.03; module load osu-container/hybrid', ('libfabric',)),
    ],
    'eb': [
        Case('eb osu-container-hybrid.eb --try-amend=site=$PWD/site.py', ('site.py',), files={'site.py': 'SITE = \n'}),
        Case(EB + 'wrapper=magic', ('magic', 'run-in-container')),
        Case(EB + 'build_image=maybe', ('maybe', 'auto')),
        Case(EB + 'image=../x.sif', ('../x.sif',)),
        Case(EB + 'image=$PWD/good.sif', ('good.sif',), make=good),
        Case(EB + 'image=$PWD/good.sif --try-amend=programs=lmp', ("'lmp'", "['lmp']"), make=with_sum),
    ],
    'workstation and lumi': [
        Case("mkdir 'a b'; cp $CLONE/Makefile 'a b'; make -C 'a b' help; code=$?; rm -r 'a b'; exit $code",
             ('a b',), 2),
        Case('$CLONE/workstation/python_env.sh newest', ('newest',), answer=True),
        Case('$CLONE/lumi/link --all', ('--all',)),
        Case('EBU_USER_PREFIX=here $CLONE/lumi/link', ('here',)),
        Case('EBU_USER_PREFIX=/tmp/a:b $CLONE/lumi/link', ('/tmp/a:b',)),
    ],
}


# ---- faults around a command

class Fault(NamedTuple):
    """
    A command under a fault.

    :param fault: key of AROUND; typed: the line, for bash; make, names, code: as of a Case
    :param works: True where the command does what it does without the fault; made: names of files that it makes then
    """

    fault: str
    typed: str
    make: Callable = None
    names: tuple = ()
    code: int = 1
    works: bool = False
    made: tuple = ()


def on_disk(options, fill=''):
    """Return what runs {typed} where the folder disk is a file system of its own; ../disk lists the files in that."""
    return (f"mkdir disk; unshare -rm bash -c 'mount -t tmpfs -o {options} none disk || exit 99; {fill}\n"
            "{typed}\ncode=$?; find disk -type f ! -name filler >../disk; exit $code'; code=$?; rmdir disk; exit $code")


#: A fault -> how a line (typed) is run under it
AROUND = {
    'a full disk': on_disk('size=64k', 'cat /dev/zero >disk/filler 2>/dev/null;'),
    'a disk that has no inode left': on_disk('nr_inodes=1'),
    'a read-only disk': on_disk('size=64k', 'mount -o remount,bind,ro disk;'),
    'stdout on a full disk': '{typed} >/dev/full',
    'a closed stdout': '{typed} >&-',
    'all three closed': '{typed} <&- >&- 2>&-',
    'no HOME': 'unset HOME; {typed}',
    'a HOME that is not there': 'HOME=/proc/nowhere; {typed}',
    'a deleted current folder': 'mkdir gone; cd gone; rmdir ../gone; {typed}',
    'umask 077': 'umask 077; {typed}',
    'eight open files': 'ulimit -n 8; {typed}',
    'files of at most 1 KB': 'ulimit -f 1; {typed}',
    '20 MB of memory': 'ulimit -v 20000; {typed}',
    'no room for a thread': 'ulimit -s 4000000 -v 3000000; {typed}',  # a thread takes as much as the stack
    'two at once': '{{ {typed}; }} >/dev/null 2>../first & one=$!; {{ {typed}; }} >/dev/null 2>../second; two=$?\n'
                   'wait $one; one=$?; cat ../first ../second >&2; rm ../first ../second; exit $((one + two))',
    # while the image is read: unsquashfs sends the signal to who has started it
    **{signal: f'mkdir bin; printf "#!/bin/sh\\nkill -{signal[3:]} \\$PPID; sleep 1; exec /usr/bin/unsquashfs \\$*"'
               ' >bin/unsquashfs; chmod +x bin/unsquashfs; PATH=$PWD/bin:$PATH {typed}; code=$?; rm -r bin; exit $code'
       for signal in ('SIGTERM', 'SIGINT')},
    # root may not do more than its owner either
    'a closed folder': "mkdir closed; chmod 0 closed; rights=; [[ $UID != 0 ]] || rights='setpriv --inh-caps=-all "
                       "--bounding-set=-dac_override,-dac_read_search'; $rights {typed}; code=$?; chmod 700 closed; "
                       "rmdir closed; exit $code",
}

GOOD, WRITE = f'osu-container check good.sif {HOST}', f'osu-container new good.sif {HOST} --approach pure'
SEEN, MINE = 'osu-container discover --sysroot host ', 'osu-container reference add run --name mine'
FAULTS = [
    Fault('a full disk', WRITE + ' -o disk', good, ('disk',)),
    Fault('a disk that has no inode left', SEEN + '-o disk/site.py', good, ('disk',)),
    Fault('a read-only disk', SEEN + '-o disk/site.py', good, ('disk',)),
    Fault('a full disk', 'osu-container report run -o disk/page.html', run_with(), ('disk',)),
    Fault('a full disk', 'TMPDIR=$PWD/disk ' + GOOD, good, works=True, code=0),
    Fault('a full disk', 'HOME=$PWD/disk ' + MINE, run_with(), ('disk',)),
    Fault('a full disk', 'osu-container proof -o disk/proof -- true x', None, ('disk',)),
    *(Fault(fault, f'EASYBUILD_PREFIX=$PWD/disk {EB}image=$PWD/good.sif', with_sum)
      for fault in ('a full disk', 'a read-only disk')),
    Fault('stdout on a full disk', GOOD, good, ('No space left',)),
    Fault('a closed stdout', GOOD, good, works=True, code=0),
    Fault('all three closed', WRITE, good, works=True, code=0, made=('good-pure.eb',)),
    Fault('no HOME', WRITE, good, works=True, code=0, made=('good-pure.eb',)),
    Fault('a HOME that is not there', GOOD, good, works=True, code=0),
    Fault('a HOME that is not there', MINE, run_with(), ('/proc/nowhere',)),
    *(Fault('a closed folder', line, make, ('closed',)) for line, make in (
        ('osu-container check closed ' + HOST, good), (WRITE + ' -o closed', good),
        (SEEN + '-o closed/site.py', good), ('osu-container proof -o closed/proof -- true x', None))),
    Fault('a deleted current folder', 'osu-container discover -o site.py'),
    Fault('umask 077', WRITE, good, works=True, code=0, made=('good-pure.eb',)),
    Fault('eight open files', GOOD, good),
    Fault('files of at most 1 KB', WRITE, good, ('ulimit -f',)),
    Fault('files of at most 1 KB', 'osu-container report run -o page.html', run_with(), ('page.html',)),
    Fault('20 MB of memory', 'osu-container image list', None, ('ulimit -v',)),
    Fault('no room for a thread', SEEN + '-o site.py', good, works=True, code=0, made=('site.py',)),
    Fault('two at once', MINE, run_with(), ('mine',), made=(r'\.local',)),
    Fault('two at once', WRITE, good, works=True, code=0, made=('good-pure.eb',)),  # they write the same
    *(Fault(fault, WRITE, good, code=code) for fault, code in (('SIGTERM', 143), ('SIGINT', 130))),
]
