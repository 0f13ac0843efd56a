"""
Read a system: its files, below another root if wanted, and the output of commands, none of which
may hang.

Nothing here raises for what a system lacks: odd files become remarks, and commands that fail have a
problem.
"""

import glob
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections import OrderedDict

from osu_container.base import streams
from osu_container.base.files import read_text
from osu_container.image.elf import MACHINE_NAMES, ElfError, read_elf

#: s for all commands together: they run at the same time
COMMAND_TIMEOUT = 5.0
#: Folders of commands below --sysroot; PATH comes behind them
COMMAND_FOLDERS = ('/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin')


def sort_newest_first(paths):
    """Return paths (list of str) by the numbers in them, the highest first."""
    return sorted(
        paths, key=lambda path: [int(part) for part in re.findall(r'\d+', path)], reverse=True
    )


class CommandResult(object):
    """
    What a command printed: words (list of str), output (str, both streams), problem (str, None
    where it ran).
    """

    def __init__(self, words):
        self.words, self.output, self.problem = words, '', None
        self.command = ' '.join(words)

    @property
    def is_successful(self):
        """Whether it ran and ended with 0."""
        return self.problem is None


class SurveyedHost(object):
    """
    A system: files by the paths that they have there, commands, environment.

    root: str, folder that stands in for its /, '' on the real one; remarks: list of str, what was
    odd
    """

    def __init__(self, root='', environment=None):
        self.root = os.path.abspath(root).rstrip('/') if root else ''
        self.environment = dict(os.environ if environment is None else environment)
        self.remarks = []
        self.command_results = OrderedDict()

    # files

    def add_root(self, path):
        """Return where a path of the system really lies."""
        return self.root + path

    def strip_root(self, path):
        """Return the system's name of a real path: without root, where it has that in front."""
        if self.root and (path + '/').startswith(self.root + '/'):
            return path[len(self.root) :] or '/'
        return path

    def add_remark(self, text):
        """Keep a sentence about something odd, once."""
        if text not in self.remarks:
            self.remarks.append(text)

    def list_names(self, folder):
        """
        Return the sorted names in a folder, [] where it does not exist; one that may not be read
        is remarked.
        """
        try:
            return sorted(os.listdir(self.add_root(folder)))
        except OSError as err:
            if os.path.isdir(self.add_root(folder)) or isinstance(err, PermissionError):
                self.add_remark(
                    "the folder %s cannot be read (%s): what is in it is not known"
                    % (folder, err.strerror)
                )
            return []

    def read_text(self, path):
        """Return the text of a file, '' where it cannot be read."""
        return read_text(self.add_root(path))

    def exists(self, path):
        """Return whether there is something at a path."""
        return os.path.exists(self.add_root(path))

    def list_matching_paths(self, pattern):
        """
        Return the paths that a pattern matches; the folder in front of it that may not be read
        is remarked.
        """
        if '*' in pattern:
            self.list_names(pattern.split('*')[0].rpartition('/')[0] or '/')
        return sorted(self.strip_root(path) for path in glob.glob(self.add_root(pattern)))

    def resolve_links(self, path):
        """
        Return the path that a path is in the end (links followed), the same where it is no link.
        """
        return self.strip_root(os.path.realpath(self.add_root(path)))

    def find_library_problem(self, path, soname=None):
        """
        Return why path is no library of this system that can be used (str), None if it is one, ''
        if it does not exist.

        :param soname: str, what the library must be called inside; None: anything
        """
        if not os.path.lexists(self.add_root(path)):
            return ''
        if re.search(r'[\s,:|{}%]', path):
            return (
                "%s has a character in its path that lists of paths cannot hold (blank , : | { } %%)"
                % path
            )
        try:
            facts = read_elf(self.add_root(path))
        except ElfError as err:
            return str(err)
        if soname and facts.soname not in (soname, None):
            return "%s calls itself %s, wanted %s" % (path, facts.soname, soname)
        machine = os.uname().machine
        if MACHINE_NAMES.get(machine, facts.machine) != facts.machine:
            return "%s is for %s, this machine is %s" % (path, facts.machine, machine)
        return None

    # commands

    def find_command(self, name):
        """Return the path of a command: below root first, then on PATH; None."""
        folders = [self.add_root(folder) for folder in COMMAND_FOLDERS] if self.root else []
        return shutil.which(
            name, path=os.pathsep.join(folders + [self.environment.get('PATH', '')])
        )

    def run_commands(self, commands):
        """
        Run commands ({key: list of str}) at the same time; keep their Answers under their keys.

        After PATIENCE each is killed, with its children. Raises OSError if a limit leaves no room
        for one.
        """
        running, end = [], time.monotonic() + COMMAND_TIMEOUT
        for key, words in commands.items():
            answer = self.command_results[key] = CommandResult(words)
            path = self.find_command(words[0])
            if path is None:
                answer.problem = 'not on PATH'
                continue
            output = tempfile.TemporaryFile()
            try:
                running.append(
                    (
                        answer,
                        output,
                        subprocess.Popen(
                            [path] + words[1:],
                            stdin=subprocess.DEVNULL,
                            stdout=output,
                            stderr=subprocess.STDOUT,
                            env=dict(self.environment, LC_ALL='C'),
                            start_new_session=True,
                        ),
                    )
                )
            except OSError as err:
                if err.errno in streams.LIMIT_COMMANDS:  # says nothing of the host
                    raise
                answer.problem = 'cannot be run: %s' % (err.strerror or err)
        for answer, output, process in running:
            try:
                code = process.wait(max(0, end - time.monotonic()))
            except subprocess.TimeoutExpired:  # not waited for: it may hang on a dead file server
                answer.problem = 'no answer within %g s' % COMMAND_TIMEOUT
                os.killpg(process.pid, signal.SIGKILL)
                continue
            with output:
                output.seek(0)
                answer.output = output.read().decode('utf-8', 'replace')
            if code:
                lines = [line for line in answer.output.splitlines() if line.strip()]
                answer.problem = 'exit code %d%s' % (
                    code,
                    ': ' + lines[-1].strip()[:160] if lines else '',
                )

    def get_variable(self, name):
        """Return a variable of the environment ('' where it is not set), paths without root."""
        value = self.environment.get(name, '')
        return value.replace(self.root + '/', '/') if self.root else value

    def list_variable_folders(self, name):
        """Return the folders in a variable that is a list of paths."""
        return [
            folder.rstrip('/')
            for folder in self.get_variable(name).split(':')
            if folder.startswith('/')
        ]
