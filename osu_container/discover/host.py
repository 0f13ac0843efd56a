"""
Read the files of the surveyed system, and run commands on this machine.

The files of the surveyed system can be below another folder than /. A missing file or command
raises no error. An unusual file results in a remark. The result of a failed command contains the
reason of the failure. A command that hangs cannot block the survey, because each command has a time
limit.
"""

import glob
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from typing import Dict, List, Mapping, Optional, Tuple

from osu_container.base import streams
from osu_container.base.files import read_text
from osu_container.image.elf import MACHINE_NAMES, ElfError, read_elf

#: Time limit in seconds for the commands, which run at the same time
COMMAND_TIMEOUT = 5.0
#: Folders below --sysroot that are searched for commands before PATH
COMMAND_FOLDERS = ('/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin')


def parse_numbers(text: str) -> List[int]:
    """Return all numbers in a text, such as those of a release in a path."""
    return [int(number) for number in re.findall(r'\d+', text)]


def find_root_problem(folder: str) -> Optional[str]:
    """
    Return why `folder` cannot replace the host's root folder (--sysroot), otherwise None.

    A folder that this process may not read is a problem, because every file below the folder would
    seem to be missing.
    """
    if os.access(folder, os.R_OK | os.X_OK):
        return None
    return (
        '--sysroot: %s is not a readable folder. Give the folder that the command will read in '
        "place of the host's root folder /" % folder
    )


class CommandResult:
    """The output of a command (stdout and stderr), and the reason if the command failed."""

    def __init__(self, words: List[str]) -> None:
        self.words, self.output = words, ''
        self.problem: Optional[str] = None
        self.command = ' '.join(words)

    @property
    def is_successful(self) -> bool:
        """Return whether the command ran and exited with 0."""
        return self.problem is None


class SurveyedHost:
    """A system to survey: its files, commands and environment, and remarks on unusual files."""

    def __init__(self, root: str = '', environment: Optional[Mapping[str, str]] = None) -> None:
        """
        Remember which system to survey.

        root: folder that contains the files of the system, '' for the real root folder /.
        """
        self.root = os.path.abspath(root).rstrip('/') if root else ''
        self.environment = dict(os.environ if environment is None else environment)
        self.remarks: List[str] = []
        self.command_results: Dict[str, CommandResult] = {}

    # Files

    def add_root(self, path: str) -> str:
        """Return `path`, a path on the surveyed system, with `root` in front: a path on this machine."""
        return self.root + path

    def strip_root(self, path: str) -> str:
        """
        Return `path`, a path on this machine, without `root`: the path on the surveyed system.

        A path that is not below `root` is returned unchanged.
        """
        if self.root and (path + '/').startswith(self.root + '/'):
            return path[len(self.root) :] or '/'
        return path

    def add_remark(self, text: str) -> None:
        """Add `text`, a sentence on an unusual file, to the remarks; omit repeated remarks."""
        if text not in self.remarks:
            self.remarks.append(text)

    def list_names(self, folder: str) -> List[str]:
        """Return the sorted names in a folder, [] if the folder is missing or unreadable."""
        try:
            return sorted(os.listdir(self.add_root(folder)))
        except OSError as err:
            if os.path.isdir(self.add_root(folder)) or isinstance(err, PermissionError):
                self.add_remark(
                    "cannot read the folder %s (%s), so the content of the folder is unknown"
                    % (folder, err.strerror)
                )
            return []

    def read_text(self, path: str) -> str:
        """Return the text of a file, '' if the file cannot be read."""
        return read_text(self.add_root(path))

    def exists(self, path: str) -> bool:
        return os.path.exists(self.add_root(path))

    def list_matching_paths(self, pattern: str) -> List[str]:
        """Return the sorted paths of the surveyed system that match a shell pattern."""
        if '*' in pattern:
            self.list_names(pattern.split('*')[0].rpartition('/')[0] or '/')
        return sorted(self.strip_root(path) for path in glob.glob(self.add_root(pattern)))

    def list_newest_paths(self, pattern: str, source: str) -> List[Tuple[str, str]]:
        """
        Return (path, source) for each path that matches `pattern`, the newest version first.

        source: text that tells how the paths were found.
        """
        # The path with the highest numbers is the newest.
        paths = sorted(self.list_matching_paths(pattern), key=parse_numbers, reverse=True)
        return [(path, source) for path in paths]

    def resolve_links(self, path: str) -> str:
        """Follow all symbolic links of a path, and return the real path on the surveyed system."""
        return self.strip_root(os.path.realpath(self.add_root(path)))

    def find_library_problem(self, path: str, soname: Optional[str] = None) -> Optional[str]:
        """
        Return why a file is not a usable library, None for a usable library.

        The result is '' if the file does not exist.

        soname: the required soname, None for any soname.
        """
        if not os.path.lexists(self.add_root(path)):
            return ''
        if re.search(r'[\s,:|{}%]', path):
            return (
                "the path %s contains one of the characters that path lists must not contain (blank , : | { } %%)"
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
            return "%s is a library for the processor %s, but this machine has the processor %s" % (
                path,
                facts.machine,
                machine,
            )
        return None

    # Commands

    def find_command(self, name: str) -> Optional[str]:
        """
        Return the path of a command below `root` or on PATH, None if the command is missing.

        A command below `root` takes precedence over a command on PATH.
        """
        folders = [self.add_root(folder) for folder in COMMAND_FOLDERS] if self.root else []
        return shutil.which(
            name, path=os.pathsep.join(folders + [self.environment.get('PATH', '')])
        )

    def run_commands(self, commands: Mapping[str, List[str]]) -> None:
        """
        Run all commands at the same time, and store the results in `command_results`.

        commands: {key of the result: words of the command}. A command that exceeds COMMAND_TIMEOUT
        is killed together with its children.

        Raises OSError if a resource limit of the user's shell allows no further process.
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
        """
        Return the value of an environment variable, '' if the variable is not set.

        The function removes `root` from the paths in the value.
        """
        value = self.environment.get(name, '')
        return value.replace(self.root + '/', '/') if self.root else value

    def list_variable_folders(self, *names: str) -> List[Tuple[str, str]]:
        """
        Return a list of (folder, name) for the absolute paths in environment variables.

        names: names of variables such as LD_LIBRARY_PATH or ROCM_PATH, in the order of the result.
        """
        return [
            (folder.rstrip('/'), name)
            for name in names
            for folder in self.get_variable(name).split(':')
            if folder.startswith('/')
        ]
