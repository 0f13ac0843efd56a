"""
What a user may type, or give to a command, that is wrong, and faults around it: the cases of
tests/test_bad_input.py.

A case is run as it is typed, by bash, in an empty folder that holds what the case puts there and no
more.
"""

import hashlib
import os
import struct
from typing import Callable, NamedTuple

from tests.helpers.example_runs import make_run
from tests.helpers.verdict_cases import CPU

#: A site and its host, as most cases need them
HOST = f'--site {CPU} --sysroot host'


class Case(NamedTuple):
    """
    A bad input.

    :param typed: the line, for bash; names: texts that the message must have: the thing, what was
        found and wanted
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


def make_good_sif(place):
    """A SIF that is right, good.sif, and the host of the site that it is for."""
    place.add_sample('good.sif')
    place.add_sample('host')


def change_sif(change):
    """
    Return what makes bad.sif, good.sif changed by change (function of a bytearray), and the
    host.
    """

    def make(place):
        place.add_sample('host')
        data = bytearray((place.samples / 'good.sif').read_bytes())
        change(data)
        (place.folder / 'bad.sif').write_bytes(data)

    return make


def replace_by_special_file(name, kind='fifo'):
    """
    Return what makes a named pipe, a link to itself or to a device, or a file of 1 TB; good.sif
    and the host.
    """

    def make(place):
        make_good_sif(place)
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


def make_small_run(place):
    """The run `run` of two approaches."""
    make_run(place.folder / 'run', approaches=('native', 'pure'), repeats=2, sizes=(1, 64, 4096))


def make_sif_and_checksum(place):
    """Make good.sif, its sum beside it, and the host."""
    make_good_sif(place)
    path = place.folder / 'good.sif'
    path.with_name('good.sif.sha256').write_text(
        hashlib.sha256(path.read_bytes()).hexdigest() + '  good.sif\n'
    )


#: The installation that most cases of eb try
EB = 'eb osu-container-pure.eb --try-amend=site=workstation --try-amend='
CHECK, NEW = (
    f'osu-container check {HOST} ',
    f'osu-container new {HOST} ',
)
IMAGE, LOOK = 'osu-container image ', 'osu-container discover '
PROOF, SITE_FILE = 'osu-container proof ', 'osu-container check good.sif --site '

#: By command
CASES = {
    'check': [
        Case(CHECK + 'none.sif', ('none.sif', 'No such file'), make=make_good_sif),
        Case(
            CHECK + 'text.sif',
            ('text.sif',),
            files={'text.sif': 'FROM debian\n'},
            make=make_good_sif,
        ),
        Case(CHECK + 'pipe.sif', ('pipe.sif',), make=replace_by_special_file('pipe.sif')),
        Case(
            CHECK + 'loop.sif',
            ('loop.sif', 'symbolic links'),
            make=replace_by_special_file('loop.sif', 'loop'),
        ),
        Case(
            CHECK + 'bad.sif',
            ('bad.sif', '6000 bytes'),
            make=change_sif(lambda data: data.__delitem__(slice(6000, None))),
        ),
        Case(
            CHECK + 'bad.sif',
            ('bad.sif',),
            make=change_sif(lambda data: struct.pack_into('<q', data, 96, 1 << 40)),
        ),
        Case(
            CHECK + 'large.sif', ('large.sif',), make=replace_by_special_file('large.sif', 'sparse')
        ),
        Case(CHECK + 'empty', ('empty', 'usr'), files={'empty/': ''}, make=make_good_sif),
        Case(
            CHECK + r"$'\033]0;title\007\033[31mred\033[2J\xff.sif'", ('red',), make=make_good_sif
        ),
        Case(
            f'osu-container check good.sif --site {CPU} --sysroot none',
            ('none',),
            make=make_good_sif,
        ),
        Case(
            SITE_FILE + 'site.py',
            ('site.py', 'E: '),
            make=make_good_sif,
            files={'site.py': 'class E(BaseException):\n    pass\nraise E("\033[2J")\n'},
        ),
        Case(
            SITE_FILE + 'site.py',
            ('site.py', '1048576'),
            files={'site.py': '#' * (1 << 21)},
            make=make_good_sif,
        ),
        Case(CHECK + "good.sif --facts ''", ('--facts',), 2, make=make_good_sif),
        Case(
            f'osu-container check good.sif --site {CPU} --facts pipe',
            ('pipe',),
            make=replace_by_special_file('pipe'),
        ),
    ],
    'new': [
        Case(NEW + 'good.sif --approach magic', ('magic', 'hybrid'), 2, make=make_good_sif),
        Case(NEW + 'good.sif --approach openmpi', ('openmpi',), make=make_good_sif),
        Case(
            NEW + """good.sif --name 'a" .. os.exit() .. "'""", ('os.exit()',), make=make_good_sif
        ),
        Case(NEW + 'good.sif --command lmp', ('lmp',), make=make_good_sif),
        Case(
            NEW + 'good.sif --approach pure --force',
            ('good-pure.eb',),
            make=replace_by_special_file('good-pure.eb', 'device'),
        ),
    ],
    'image': [
        Case(
            IMAGE + 'recipe osu-workstation-mpich-4.2.3',
            ('osu-workstation-mpich-4.2.3-libfabric-',),
        ),
        Case(IMAGE + "build $'a\\033[31m'", ('31m',)),
        Case(
            IMAGE + 'verify good.sif',
            ('aaaa', 'good.sif.sha256'),
            files={'good.sif.sha256': 'a' * 64 + '  good.sif\n'},
            make=make_good_sif,
            answer=True,
        ),
    ],
    'discover': [
        Case(LOOK + '--sysroot none', ('none',), 2),
        Case(LOOK + '-o site.py', ('site.py', '--force'), files={'site.py': 'mine'}),
    ],
    'report': [
        Case('osu-container report run -o none/page.html', ('none',), make=make_small_run),
    ],
    'proof': [
        Case(PROOF + '-- true x', ('true x', 'srun')),
        Case(PROOF + "-- sh -c 'kill -TERM $$'", ('143',), 143),
        Case(PROOF + '-o file -- true x', ('file',), files={'file': 'mine'}),
    ],
    'why': [
        Case('osu-container why none.out', ('none.out',)),
        Case('osu-container why zero', ('zero',), make=replace_by_special_file('zero', 'device')),
    ],
    'eb': [
        Case(EB + 'wrapper=magic', ('magic', 'run-in-container')),
        Case(EB + 'image=../x.sif', ('../x.sif',)),
        Case(
            EB + 'image=$PWD/good.sif --try-amend=programs=lmp',
            ("'lmp'", "['lmp']"),
            make=make_sif_and_checksum,
        ),
    ],
}


# ---- faults around a command


class Fault(NamedTuple):
    """
    A command under a fault.

    :param fault: key of AROUND; typed: the line, for bash; make, names, code: as of a Case
    :param works: True where the command does what it does without the fault; made: names of files
        that it makes then
    """

    fault: str
    typed: str
    make: Callable = None
    names: tuple = ()
    code: int = 1
    works: bool = False
    made: tuple = ()


def run_on_small_disk(options, fill=''):
    """
    Return what runs {typed} where the folder disk is a file system of its own; ../disk lists the
    files in that.
    """
    return (
        f"mkdir disk; unshare -rm bash -c 'mount -t tmpfs -o {options} none disk || exit 99; {fill}\n"
        "{typed}\ncode=$?; find disk -type f ! -name filler >../disk; exit $code'; code=$?; rmdir disk; exit $code"
    )


#: A fault -> how a line (typed) is run under it
AROUND = {
    'a full disk': run_on_small_disk('size=64k', 'cat /dev/zero >disk/filler 2>/dev/null;'),
    'a read-only disk': run_on_small_disk('size=64k', 'mount -o remount,bind,ro disk;'),
    'stdout on a full disk': '{typed} >/dev/full',
    'a closed stdout': '{typed} >&-',
    'all three closed': '{typed} <&- >&- 2>&-',
    'no HOME': 'unset HOME; {typed}',
    'a deleted current folder': 'mkdir gone; cd gone; rmdir ../gone; {typed}',
    'umask 777': 'umask 777; {typed}',
    'eight open files': 'ulimit -n 8; {typed}',
    'files of at most 1 KB': 'ulimit -f 1; {typed}',
    'two at once': '{{ {typed}; }} >/dev/null 2>../first & one=$!; {{ {typed}; }} >/dev/null 2>../second; two=$?\n'
    'wait $one; one=$?; cat ../first ../second >&2; rm ../first ../second; exit $((one + two))',
    # while the image is read: unsquashfs sends the signal to who has started it
    **{
        signal: f'mkdir bin; printf "#!/bin/sh\\nkill -{signal[3:]} \\$PPID; sleep 1; exec /usr/bin/unsquashfs \\$*"'
        ' >bin/unsquashfs; chmod +x bin/unsquashfs; PATH=$PWD/bin:$PATH {typed}; code=$?; rm -r bin; exit $code'
        for signal in ('SIGTERM', 'SIGINT')
    },
    # root may not do more than its owner either
    'a closed folder': "mkdir closed; chmod 0 closed; rights=; [[ $UID != 0 ]] || rights='setpriv --inh-caps=-all "
    "--bounding-set=-dac_override,-dac_read_search'; $rights {typed}; code=$?; chmod 700 closed; "
    "rmdir closed; exit $code",
}

GOOD, WRITE = (
    f'osu-container check good.sif {HOST}',
    f'osu-container new good.sif {HOST} --approach pure',
)
FAULTS = [
    Fault('a full disk', WRITE + ' -o disk', make_good_sif, ('disk',)),
    Fault(
        'a read-only disk',
        'osu-container discover --sysroot host -o disk/site.py',
        make_good_sif,
        ('disk',),
    ),
    Fault('a full disk', 'TMPDIR=$PWD/disk ' + GOOD, make_good_sif, works=True, code=0),
    Fault(
        'a full disk', f'EASYBUILD_PREFIX=$PWD/disk {EB}image=$PWD/good.sif', make_sif_and_checksum
    ),
    Fault('stdout on a full disk', GOOD, make_good_sif, ('No space left',)),
    Fault('a closed stdout', GOOD, make_good_sif, works=True, code=0),
    Fault('all three closed', WRITE, make_good_sif, works=True, code=0, made=('good-pure.eb',)),
    Fault('no HOME', WRITE, make_good_sif, works=True, code=0, made=('good-pure.eb',)),
    Fault('a closed folder', 'osu-container check closed ' + HOST, make_good_sif, ('closed',)),
    Fault('a closed folder', WRITE + ' -o closed', make_good_sif, ('closed',)),
    Fault('a deleted current folder', 'osu-container discover -o site.py'),
    Fault('umask 777', WRITE, make_good_sif, works=True, code=0, made=('good-pure.eb',)),
    Fault('eight open files', GOOD, make_good_sif),
    Fault('files of at most 1 KB', WRITE, make_good_sif, ('ulimit -f',)),
    Fault(
        'two at once', WRITE, make_good_sif, works=True, code=0, made=('good-pure.eb',)
    ),  # they write the same
    Fault('SIGTERM', WRITE, make_good_sif, code=143),
    Fault('SIGINT', WRITE, make_good_sif, code=130),
]
