"""
Read the files of a system, below another root if requested, and the output of commands.

If a system lacks something, nothing here raises an error: unusual files result in remarks, and the
results of failed commands name the problem. No command can block the survey.
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
from typing import Dict, List, Mapping, Optional

from osu_container.base import streams
from osu_container.base.files import read_text
from osu_container.image.elf import MACHINE_NAMES, ElfError, read_elf

#: Time limit in seconds for the commands, which run at the same time
COMMAND_TIMEOUT = 5.0
#: Folders below --sysroot that are searched for commands before PATH
COMMAND_FOLDERS = ('/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin')


def sort_newest_first(paths: List[str]) -> List[str]:
    """Return paths sorted by the numbers in them, with the highest first."""
    return sorted(
        paths, key=lambda path: [int(part) for part in re.findall(r'\d+', path)], reverse=True
    )


class CommandResult:
    """The output of a command (stdout and stderr), and its problem if it failed."""

    def __init__(self, words: List[str]) -> None:
        self.words, self.output = words, ''
        self.problem: Optional[str] = None
        self.command = ' '.join(words)

    @property
    def is_successful(self) -> bool:
        """Whether the command ran and exited with 0."""
        return self.problem is None


class SurveyedHost:
    """A system to survey: its files, commands and environment, and remarks on unusual files."""

    def __init__(self, root: str = '', environment: Optional[Mapping[str, str]] = None) -> None:
        """Set up a system; root: folder to read in place of /, '' on the real system."""
        self.root = os.path.abspath(root).rstrip('/') if root else ''
        self.environment = dict(os.environ if environment is None else environment)
        self.remarks: List[str] = []
        self.command_results: Dict[str, CommandResult] = OrderedDict()

    # Files

    def add_root(self, path: str) -> str:
        """Return the path on this machine of a path on the system."""
        return self.root + path

    def strip_root(self, path: str) -> str:
        """Return the path on the system of a path on this machine; unchanged if not below root."""
        if self.root and (path + '/').startswith(self.root + '/'):
            return path[len(self.root) :] or '/'
        return path

    def add_remark(self, text: str) -> None:
        """Add a remark, a sentence on something unusual, unless it was added before."""
        if text not in self.remarks:
            self.remarks.append(text)

    def list_names(self, folder: str) -> List[str]:
        """Return the sorted names in a folder, [] if it does not exist or cannot be read."""
        try:
            return sorted(os.listdir(self.add_root(folder)))
        except OSError as err:
            if os.path.isdir(self.add_root(folder)) or isinstance(err, PermissionError):
                self.add_remark(
                    "cannot read the folder %s (%s): its content is unknown"
                    % (folder, err.strerror)
                )
            return []

    def read_text(self, path: str) -> str:
        """Return the text of a file, '' if it cannot be read."""
        return read_text(self.add_root(path))

    def exists(self, path: str) -> bool:
        return os.path.exists(self.add_root(path))

    def list_matching_paths(self, pattern: str) -> List[str]:
        """Return the paths that match a pattern."""
        if '*' in pattern:
            self.list_names(pattern.split('*')[0].rpartition('/')[0] or '/')
        return sorted(self.strip_root(path) for path in glob.glob(self.add_root(pattern)))

    def resolve_links(self, path: str) -> str:
        """Return a path of the system after following all links."""
        return self.strip_root(os.path.realpath(self.add_root(path)))

    def find_library_problem(self, path: str, soname: Optional[str] = None) -> Optional[str]:
        """
        Return why a file is not a usable library, None if it is usable, '' if it does not exist.

        soname: the required soname, None for any soname
        """
        if not os.path.lexists(self.add_root(path)):
            return ''
        if re.search(r'[\s,:|{}%]', path):
            return (
                "the path %s has a character that path lists must not contain (blank , : | { } %%)"
                % path
            )
        try:
            facts = read_elf(self.add_root(path))
        except ElfError as err:
            return str(err)
        if soname and facts.soname not in (soname, None):
            return "%s has the soname %s instead of %s" % (path, facts.soname, soname)
        machine = os.uname().machine
        if MACHINE_NAMES.get(machine, facts.machine) != facts.machine:
            return "%s is for %s, but this machine is %s" % (path, facts.machine, machine)
        return None

    # Commands

    def find_command(self, name: str) -> Optional[str]:
        """Return the path of a command, searched below root and then on PATH, else None."""
        folders = [self.add_root(folder) for folder in COMMAND_FOLDERS] if self.root else []
        return shutil.which(
            name, path=os.pathsep.join(folders + [self.environment.get('PATH', '')])
        )

    def run_commands(self, commands: Mapping[str, List[str]]) -> None:
        """
        Run commands at the same time and store their CommandResults by key.

        A command that exceeds COMMAND_TIMEOUT is killed together with its children. Raises OSError if a
        resource limit allows no further process.
        """
        running, end = [], time.monotonic() + COMMAND_TIMEOUT
        for key, words in commands.items():
            result = self.command_results[key] = CommandResult(words)
            path = self.find_command(words[0])
            if path is None:
                result.problem = 'not on PATH'
                continue
            output = tempfile.TemporaryFile()
            try:
                running.append(
                    (
                        result,
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
                if err.errno in streams.LIMIT_COMMANDS:  # a limit of the user's shell
                    raise
                result.problem = 'cannot be run: %s' % (err.strerror or err)
        for result, output, process in running:
            try:
                code = process.wait(max(0, end - time.monotonic()))
            except (
                subprocess.TimeoutExpired
            ):  # do not wait: the process may hang on a dead file server
                result.problem = 'did not finish within %g s' % COMMAND_TIMEOUT
                os.killpg(process.pid, signal.SIGKILL)
                continue
            with output:
                output.seek(0)
                result.output = output.read().decode('utf-8', 'replace')
            if code:
                lines = [line for line in result.output.splitlines() if line.strip()]
                result.problem = 'exit code %d%s' % (
                    code,
                    ': ' + lines[-1].strip()[:160] if lines else '',
                )

    def get_variable(self, name: str) -> str:
        """Return an environment variable with root removed from its paths, '' if it is not set."""
        value = self.environment.get(name, '')
        return value.replace(self.root + '/', '/') if self.root else value

    def list_variable_folders(self, name: str) -> List[str]:
        """Return the absolute folders in an environment variable that is a list of paths."""
        return [
            folder.rstrip('/')
            for folder in self.get_variable(name).split(':')
            if folder.startswith('/')
        ]
