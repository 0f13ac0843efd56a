"""
How a system is looked at: its files, below another root if wanted, and what commands say, none of which may hang.

Nothing here raises for what a system lacks: files that are odd and commands that fail become sentences.
"""
import glob
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from collections import OrderedDict

from osu_container.core.reading.elf import ElfError, elf_facts
from osu_container.core.reading.files import open_plain, text_of

from .. import streams

#: s that one command may take. All run at the same time, so that a system on which each hangs is done in this time.
PATIENCE = 5.0
#: Folders of commands below --sysroot; PATH comes behind them
COMMAND_FOLDERS = ('/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin')
#: In front of a library that is a text for the linker (ld(1), implicit linker scripts)
SCRIPT = re.compile(br'\s*(/\*.*?\*/\s*)*(OUTPUT_FORMAT|GROUP|INPUT)\b', re.S)


def newest_first(paths):
    """Return paths (list of str) by the numbers in them, the highest first."""
    return sorted(paths, key=lambda path: [int(part) for part in re.findall(r'\d+', path)], reverse=True)


class Said(object):
    """What a command said: output (str, both streams), code (int or None), problem (str or None), seconds (float)."""

    def __init__(self, words):
        self.words, self.output, self.code, self.problem, self.seconds = words, '', None, None, 0.0
        self.command = ' '.join(words)

    @property
    def good(self):
        """Whether it ran and ended with 0."""
        return self.problem is None


def run(words, path, environment, patience):
    """
    Return what a command said (Said). It is ended, with its children, after patience (s). Raises OSError if a limit of
    this shell or machine leaves no room for it.

    :param words: list of str; path: of the program or None; environment: dict
    """
    said, begin = Said(words), time.monotonic()
    if path is None:
        said.problem = 'not on PATH'
        return said
    try:
        with open(os.devnull) as nothing:
            process = subprocess.Popen([path] + words[1:], stdin=nothing, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, env=dict(environment, LC_ALL='C'),
                                       start_new_session=True)
    except OSError as err:
        if err.errno in streams.SCARCE:  # says nothing of the host: what it would have said is not "not found"
            raise
        said.problem = 'cannot be run: %s' % (err.strerror or err)
        return said
    try:
        output = process.communicate(timeout=patience)[0]
        said.output, said.code = output.decode('utf-8', 'replace'), process.returncode
        if said.code:
            lines = [line for line in said.output.splitlines() if line.strip()]
            said.problem = 'exit code %d%s' % (said.code, ': ' + lines[-1].strip()[:160] if lines else '')
    except subprocess.TimeoutExpired:
        said.problem = 'no answer within %g s, ended' % patience
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except OSError:
            process.kill()
        process.wait()
        process.stdout.close()  # a child of it in a session of its own may still hold the other end
    said.seconds = time.monotonic() - begin
    return said


class Host(object):
    """
    A system: files by the paths that they have there, commands, environment.

    root: str, folder that stands in for its /, '' on the real one; remarks: list of str, what was odd
    """

    def __init__(self, root='', environment=None, patience=PATIENCE):
        self.root = os.path.abspath(root).rstrip('/') if root else ''
        self.environment = dict(os.environ if environment is None else environment)
        self.patience = patience
        self.remarks = []
        self.said = OrderedDict()

    # files

    def at(self, path):
        """Return where a path of the system really lies."""
        return self.root + path

    def inside(self, path):
        """Return the system's name of a real path: without root, where it has that in front."""
        if self.root and (path + '/').startswith(self.root + '/'):
            return path[len(self.root):] or '/'
        return path

    def remark(self, text):
        """Keep a sentence about something odd, once."""
        if text not in self.remarks:
            self.remarks.append(text)

    def names(self, folder):
        """Return the sorted names in a folder, [] where it is not there; one that may not be read is remarked."""
        try:
            return sorted(os.listdir(self.at(folder)))
        except OSError as err:
            if os.path.isdir(self.at(folder)) or isinstance(err, PermissionError):
                self.remark("the folder %s cannot be read (%s): what is in it is not known" % (folder, err.strerror))
            return []

    def text(self, path):
        """Return the text of a file, '' where it cannot be read."""
        return text_of(self.at(path))

    def exists(self, path):
        """Return whether there is something at a path."""
        return os.path.exists(self.at(path))

    def is_file(self, path):
        """Return whether there is a file at a path."""
        return os.path.isfile(self.at(path))

    def matching(self, pattern):
        """Return the paths that a pattern matches; the folders in front of it that may not be read are remarked."""
        stem = pattern.split('*')[0].rpartition('/')[0] or '/'
        if '*' in pattern:
            self.names(stem)
        return sorted(self.inside(path) for path in glob.glob(self.at(pattern)))

    def leads_to(self, path):
        """Return the path that a path is in the end (links followed), the same where it is no link."""
        return self.inside(os.path.realpath(self.at(path)))

    def library_problem(self, path, soname=None):
        """
        Return why path is no library of this system that can be used (str), None if it is one, '' if it is not there.

        :param soname: str, what the library must be called inside; None: anything
        """
        real = self.at(path)
        if not os.path.lexists(real):
            try:
                os.stat(real)
            except PermissionError as err:
                return "%s cannot be read (%s)" % (path, err.strerror)
            except OSError:
                pass
            return ''
        if not os.path.exists(real):
            return "%s is a link to %s, which is not there" % (path, os.readlink(real))
        if not os.path.isfile(real):
            return "%s is no file" % path
        if re.search(r'[\s,:|{}%]', path):
            return "%s has a character in its path that lists of paths cannot hold (blank , : | { } %%)" % path
        try:
            with open_plain(real) as handle:
                begin = handle.read(4096)
        except OSError as err:
            return "%s cannot be read (%s)" % (path, err.strerror)
        if begin[:4] != b'\x7fELF':
            if SCRIPT.match(begin):
                return "%s is a linker script, a text for the linker, and not the library itself" % path
            return "%s is no ELF file" % path
        try:
            facts = elf_facts(real)
        except ElfError as err:
            return str(err)
        if soname and facts.soname not in (soname, None):
            return "%s calls itself %s, wanted %s" % (path, facts.soname, soname)
        word = {'x86_64': 'X86-64', 'aarch64': 'AArch64'}.get(os.uname().machine)
        if word and word not in facts.machine:
            return "%s is for %s, this machine is %s" % (path, facts.machine, os.uname().machine)
        return None

    # commands

    def find(self, name):
        """Return the path of a command: below root first, then on PATH; None."""
        folders = [self.at(folder) for folder in COMMAND_FOLDERS] if self.root else []
        return shutil.which(name, path=os.pathsep.join(folders + [self.environment.get('PATH', '')]))

    def ask(self, commands):
        """
        Run commands ({key: list of str}) at the same time; keep what they said under their keys.

        Where a limit leaves no room for all of them, one runs after the other. Raises OSError without room for one.
        """
        def one(key, words):
            path = words[0] if '/' in words[0] else self.find(words[0])
            answers[key] = run(words, path, self.environment, self.patience)

        def work(*item):
            try:
                one(*item)
            except OSError:
                left.append(item)

        answers, left = {}, []
        threads = [threading.Thread(target=work, args=item, daemon=True) for item in commands.items()]
        for thread, item in zip(threads, commands.items()):
            try:
                thread.start()
            except RuntimeError:  # too little memory, or too many processes: one after the other then
                work(*item)
        for thread in threads:
            if thread.ident:
                thread.join(self.patience + 2)
        for item in left:
            one(*item)
        for key, words in commands.items():
            if key not in answers:  # not even to be ended, as a process that waits for a dead file server
                answers[key] = Said(words)
                answers[key].problem = 'no answer within %g s, and it cannot be ended' % self.patience
            self.said[key] = answers[key]

    def variable(self, name):
        """Return a variable of the environment ('' where it is not set), paths without root."""
        value = self.environment.get(name, '')
        return value.replace(self.root + '/', '/') if self.root else value

    def folders_of(self, name):
        """Return the folders in a variable that is a list of paths."""
        return [folder.rstrip('/') for folder in self.variable(name).split(':') if folder.startswith('/')]
