"""
What may fail around a command: the cases of tests/test_bad_input.py and of docs/bad-input.md.

As the cases of bad_inputs.py, but for what is wrong with the machine.
"""
from typing import Callable, NamedTuple

from tests.helpers.bad_inputs import CPU, EB, HOST, good, run_with, with_sum


class Fault(NamedTuple):
    """
    A command under a fault.

    :param fault: key of AROUND; typed: the line, for bash
    :param make, names, code: as of a Case
    :param works: True where the command does what it does without the fault; made: names of files that it makes then
    """

    fault: str
    typed: str
    make: Callable = None
    names: tuple = ()
    code: int = 1
    works: bool = False
    made: tuple = ()
    needs: tuple = ()


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
    'a closed stdin': '{typed} <&-',
    'a closed stderr': '{typed} 2>&-',
    'all three closed': '{typed} <&- >&- 2>&-',
    'no HOME': 'unset HOME; {typed}',
    'a HOME that is not there': 'HOME=/proc/nowhere; {typed}',
    'a TMPDIR that is not there': 'TMPDIR=/nowhere; {typed}',
    'a deleted current folder': 'mkdir gone; cd gone; rmdir ../gone; {typed}',
    'umask 077': 'umask 077; {typed}',
    'eight open files': 'ulimit -n 8; {typed}',
    'files of at most 1 KB': 'ulimit -f 1; {typed}',
    '25 MB of memory': 'ulimit -v 25000; {typed}',
    'no room for a thread': 'ulimit -s 4000000 -v 3000000; {typed}',  # a thread takes as much as the stack
    'files of tomorrow': 'find -L . -type f -exec touch -d tomorrow {{}} +; {typed}',
    'two at once': '{{ {typed}; }} >/dev/null 2>../first & one=$!; {{ {typed}; }} >/dev/null 2>../second; two=$?\n'
                   'wait $one; one=$?; cat ../first ../second >&2; rm ../first ../second; exit $((one + two))',
    # while the image is read: unsquashfs sends the signal to who has started it
    **{signal: f'mkdir bin; printf "#!/bin/sh\\nkill -{signal[3:]} \\$PPID; sleep 1; exec /usr/bin/unsquashfs \\$*"'
               ' >bin/unsquashfs; chmod +x bin/unsquashfs; PATH=$PWD/bin:$PATH {typed}; code=$?; rm -r bin; exit $code'
       for signal in ('SIGTERM', 'SIGHUP', 'SIGINT', 'SIGKILL')},
    # root may not do more than its owner either
    'a closed folder': "mkdir closed; chmod 0 closed; rights=; [[ $UID != 0 ]] || rights='setpriv --inh-caps=-all "
                       "--bounding-set=-dac_override,-dac_read_search'; $rights {typed}; code=$?; chmod 700 closed; "
                       "rmdir closed; exit $code",
    'a clock set back by a year': 'export LD_PRELOAD=$CLOCK; {typed}',
}

NEW = f'osu-container new good.sif {HOST} --approach pure'
MORE = {'needs': ('apptainer',)}
FAULTS = [
    *(Fault(fault, line, good, ('disk',)) for fault in ('a full disk', 'a disk that has no inode left',
                                                        'a read-only disk')
      for line in (NEW + ' -o disk', 'osu-container discover --sysroot host -o disk/site.py')),
    *(Fault(fault, 'osu-container report run -o disk/page.html', run_with(), ('disk',))
      for fault in ('a full disk', 'a read-only disk')),
    *(Fault(fault, 'TMPDIR=$PWD/disk osu-container check good.sif ' + HOST, good, works=True, code=0)
      for fault in ('a full disk', 'a read-only disk')),
    Fault('a full disk', 'HOME=$PWD/disk osu-container reference add run --name mine', run_with(), ('disk',)),
    Fault('a full disk', 'osu-container proof -o disk/proof -- true x', None, ('disk',)),
    Fault('stdout on a full disk', f'osu-container check good.sif {HOST}', good, ('No space left',)),
    Fault('stdout on a full disk', 'osu-container image list', None, ('No space left',)),
    Fault('a closed stdout', f'osu-container check good.sif {HOST}', good, works=True, code=0),
    Fault('a closed stdin', 'osu-container why', None, works=True, code=1),
    Fault('all three closed', NEW, good, works=True, code=0, made=('good-pure.eb',)),
    Fault('stdout on a full disk', 'osu-container why --list', None, ('No space left',)),
    Fault('a closed stdin', f'osu-container check good.sif {HOST}', good, works=True, code=0),
    Fault('a closed stderr', NEW, good, works=True, code=0, made=('good-pure.eb',)),
    *(Fault(fault, line, make, works=True, code=code, made=made)
      for fault in ('no HOME', 'a HOME that is not there')
      for line, make, code, made in (
          (f'osu-container check good.sif {HOST}', good, 0, ()), (NEW, good, 0, ('good-pure.eb',)),
          ('osu-container reference list', None, 0, ()))),
    Fault('a HOME that is not there', 'osu-container reference add run --name mine', run_with(), ('/proc/nowhere',)),
    Fault('a TMPDIR that is not there', f'osu-container check good.sif {HOST}', good, works=True, code=0),
    Fault('a closed folder', 'osu-container discover --sysroot closed -o site.py', None, ('closed',), 2),
    Fault('a deleted current folder', 'osu-container discover -o site.py', None, ()),
    *(Fault('a closed folder', line, make, ('closed',)) for line, make in (
        (f'osu-container check good.sif --site {CPU} --sysroot closed', good), (NEW + ' -o closed', good),
        ('osu-container check closed ' + HOST, good), ('osu-container discover --sysroot host -o closed/site.py', good),
        ('osu-container proof -o closed/proof -- true x', None),
        ('osu-container proof closed', None))),
    Fault('a deleted current folder', f'osu-container check $OLDPWD/good.sif --site {CPU} --sysroot $OLDPWD/host', good,
          works=True, code=0),
    Fault('umask 077', NEW, good, works=True, code=0, made=('good-pure.eb',)),
    Fault('eight open files', f'osu-container check good.sif {HOST}', good, ()),
    Fault('files of at most 1 KB', NEW, good, ('ulimit -f',)),
    Fault('files of at most 1 KB', 'osu-container report run -o page.html', run_with(), ('page.html',)),
    Fault('two at once', 'osu-container reference add run --name mine', run_with(), ('mine',),
          made=(r'\.local',)),
    Fault('two at once', NEW, good, works=True, code=0, made=('good-pure.eb',)),  # they write the same
    Fault('two at once', 'osu-container discover --sysroot host -o site.py', good, ('site.py',), made=('site.py',)),
    *(Fault(fault, NEW, good, code=code) for fault, code in (('SIGTERM', 143), ('SIGHUP', 129), ('SIGINT', 130))),
    Fault('a clock set back by a year', 'osu-container report run -o page.html', run_with(), works=True, code=0,
          made=('page.html',)),
    Fault('25 MB of memory', 'osu-container image list', None, ('ulimit -v',)),
    Fault('no room for a thread', 'osu-container discover --sysroot host -o site.py', good, works=True, code=0,
          made=('site.py',)),
    Fault('files of tomorrow', 'osu-container report run -o page.html', run_with(), works=True, code=0,
          made=('page.html',)),
    Fault('umask 077', 'osu-container reference add run --name mine', run_with(), works=True, code=0,
          made=(r'\.local',)),
    *(Fault(fault, 'EASYBUILD_PREFIX=$PWD/disk ' + EB + '--try-amend=image=$PWD/good.sif',
            lambda place: (good(place), with_sum(place)), ())
      for fault in ('a full disk', 'a read-only disk')),
]
