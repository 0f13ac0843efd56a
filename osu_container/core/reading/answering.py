"""
Files that never answer: a mount whose server is gone holds whoever asks for a file of it, and no signal ends that.

So a child looks at the files that a command line names, or at an image, before this process does; where it gets no
answer, who called reads which file it is. Works on Python 3.6 with the standard library only.
"""
import os
import select
import signal
import stat

#: Seconds in which each file must answer, and the variable for more of them: a server of Lustre or NFS that was started
#: again answers after some minutes
PATIENCE, VARIABLE = 60.0, 'OSU_CONTAINER_PATIENCE'


class NoAnswer(Exception):
    """A file that does not answer; the text names it and says what to do."""


def patience():
    """Return the seconds (float) in which a file must answer."""
    try:
        wanted = float(os.environ.get(VARIABLE) or PATIENCE)
    except ValueError:
        wanted = PATIENCE
    return wanted if 0 < wanted < 1e6 else PATIENCE


def ask_for(words):
    """Look, as touch(), at each file that words (list of str, of a command line) may name: FILE, --option=FILE."""
    touch(*[path for word in words for path in (word, word.partition('=')[2], word.rpartition(':')[0]) if path])


def touch(*paths):
    """
    Have a child look at paths (str) and read the first byte of each. Raises NoAnswer.

    What else is wrong with one says who reads it. Without a second process (ulimit -u) nothing is done.
    """
    ours, theirs = os.pipe()
    try:
        child = os.fork()
    except OSError:
        os.close(ours)
        os.close(theirs)
        return
    if child == 0:
        try:
            _look_at(paths, theirs)
        finally:
            os._exit(0)
    os.close(theirs)
    try:
        for path in paths:
            if not select.select([ours], [], [], patience())[0]:
                os.kill(child, signal.SIGKILL)
                raise NoAnswer("%s does not answer: nothing came for %g s. Its file system may be down (NFS, Lustre or "
                               "FUSE whose server is gone): try `stat` on it in another shell. To wait longer: export "
                               "%s=600" % (path, patience(), VARIABLE))
            os.read(ours, 1)
        os.waitpid(child, 0)
    finally:
        os.close(ours)


def _look_at(paths, pipe):
    """Look at paths (list of str), one byte to the pipe (int) for each; it may stay for ever and holds nothing else."""
    os.dup2(pipe, 3)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):  # what others read to its end
        os.dup2(nothing, number)
    os.closerange(4, 1024)
    for path in paths:
        try:
            if stat.S_ISREG(os.stat(path).st_mode):
                number = os.open(path, os.O_RDONLY)
                os.read(number, 1)
                os.close(number)
        except (OSError, ValueError):
            pass
        os.write(3, b'.')
