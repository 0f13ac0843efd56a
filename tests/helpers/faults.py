"""What may fail around a command, which is not wrong itself: the cases of tests/test_bad_input.py."""
from typing import Callable, NamedTuple

from tests.helpers.bad_inputs import EB, HOST, good, run_with, with_sum


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
    '25 MB of memory': 'ulimit -v 25000; {typed}',
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

CHECK, NEW = f'osu-container check good.sif {HOST}', f'osu-container new good.sif {HOST} --approach pure'
LOOK, ADD = 'osu-container discover --sysroot host ', 'osu-container reference add run --name mine'
FAULTS = [
    Fault('a full disk', NEW + ' -o disk', good, ('disk',)),
    Fault('a disk that has no inode left', LOOK + '-o disk/site.py', good, ('disk',)),
    Fault('a read-only disk', LOOK + '-o disk/site.py', good, ('disk',)),
    Fault('a full disk', 'osu-container report run -o disk/page.html', run_with(), ('disk',)),
    Fault('a full disk', 'TMPDIR=$PWD/disk ' + CHECK, good, works=True, code=0),
    Fault('a full disk', 'HOME=$PWD/disk ' + ADD, run_with(), ('disk',)),
    Fault('a full disk', 'osu-container proof -o disk/proof -- true x', None, ('disk',)),
    *(Fault(fault, f'EASYBUILD_PREFIX=$PWD/disk {EB}image=$PWD/good.sif', with_sum)
      for fault in ('a full disk', 'a read-only disk')),
    Fault('stdout on a full disk', CHECK, good, ('No space left',)),
    Fault('a closed stdout', CHECK, good, works=True, code=0),
    Fault('all three closed', NEW, good, works=True, code=0, made=('good-pure.eb',)),
    Fault('no HOME', NEW, good, works=True, code=0, made=('good-pure.eb',)),
    Fault('a HOME that is not there', CHECK, good, works=True, code=0),
    Fault('a HOME that is not there', ADD, run_with(), ('/proc/nowhere',)),
    *(Fault('a closed folder', line, make, ('closed',)) for line, make in (
        ('osu-container check closed ' + HOST, good), (NEW + ' -o closed', good),
        (LOOK + '-o closed/site.py', good), ('osu-container proof -o closed/proof -- true x', None))),
    Fault('a deleted current folder', 'osu-container discover -o site.py'),
    Fault('umask 077', NEW, good, works=True, code=0, made=('good-pure.eb',)),
    Fault('eight open files', CHECK, good),
    Fault('files of at most 1 KB', NEW, good, ('ulimit -f',)),
    Fault('files of at most 1 KB', 'osu-container report run -o page.html', run_with(), ('page.html',)),
    Fault('25 MB of memory', 'osu-container image list', None, ('ulimit -v',)),
    Fault('no room for a thread', LOOK + '-o site.py', good, works=True, code=0, made=('site.py',)),
    Fault('two at once', ADD, run_with(), ('mine',), made=(r'\.local',)),
    Fault('two at once', NEW, good, works=True, code=0, made=('good-pure.eb',)),  # they write the same
    *(Fault(fault, NEW, good, code=code) for fault, code in (('SIGTERM', 143), ('SIGINT', 130))),
]
