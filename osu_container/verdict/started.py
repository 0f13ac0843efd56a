"""
Define the classes for processes that `check --start` (check/start.py) has observed.

build_trial() uses an observed process in place of a predicted process, and the rule "start"
(rules/start.py) compares the owners of the loaded libraries with the approach.
"""

import re
from typing import Any, Dict, List, NamedTuple, Optional

from osu_container.image.elf import ElfFacts
from osu_container.image.loader import ContainerFiles, LoadedFile, Process


class MappedFile(NamedTuple):
    """A file that an observed process has loaded."""

    path: str  #: path in the container
    origin: Optional[str]  #: 'image' or 'host', None if unknown
    host_path: Optional[str]  #: path on the host of a file of the host


class StartedProcess(NamedTuple):
    """A process with MPI that the user's command has started."""

    program: str  #: path or name of the executable in the container
    libmpi: List[MappedFile]  #: more than one file if the process has several MPIs
    libfabric: Optional[MappedFile]
    files: List[MappedFile]  #: all loaded files
    environment: Optional[Dict[str, str]]  #: variables at the start of the process, None if unknown

    @property
    def is_loader(self) -> bool:
        """Whether the process executes ld.so itself, as in the command `ld.so PROGRAM`."""
        return bool(re.search(r'/ld(-|64)[^/]*$', self.program))


class Start(NamedTuple):
    """The result of running the user's command once with the settings of one approach."""

    command: List[str]
    processes: List[StartedProcess]  #: in the order of their start
    exit_code: Optional[int]  #: None if osu-container terminated the command
    waiting: List[str]  #: programs without MPI that were running when osu-container terminated it
    output: List[str]  #: last lines that the command printed
    seconds: float


#: The digits that auditwheel adds to the name of a library in a wheel
_WHEEL_DIGITS = re.compile(r'-[0-9a-f]{8}(?=\.so\b)')
_SONAME = re.compile(r'(?:.*/)?([^/]+?\.so(?:\.\d+)?)[^/]*$')


def read_loaded_process(started: StartedProcess, container: ContainerFiles, host: Any) -> Process:
    """
    Convert an observed process to a Process without missing libraries.

    container, host: the Container and the Host of the trial. Raises ElfError if a file of the host
    is not a valid ELF file.
    """
    paths = {
        file: container.resolve(file.path) or file.path
        for file in started.files
        if not file.host_path
    }
    facts = container.read_elf_files(list(filter(container.exists, paths.values())))
    loaded = []
    for file in started.files:
        path = paths.get(file, file.path)
        origin, elf = (
            ('host', host.read_elf(file.host_path))
            if file.host_path
            else facts.get(path, (None, None))
        )
        if elf is not None:
            loaded.append(_name_file(path, file.origin or origin or 'image', elf))
    return Process(loaded, [], [], any('/ld-musl-' in file.path for file in started.files))


def _name_file(path: str, origin: str, elf: ElfFacts) -> LoadedFile:
    """Return a LoadedFile with the soname that the file had before auditwheel renamed the file."""
    elf = elf._replace(needed=[_WHEEL_DIGITS.sub('', name) for name in elf.needed])
    match = _SONAME.match(_WHEEL_DIGITS.sub('', elf.soname or path))
    return LoadedFile(match.group(1) if match else path, path, origin, elf, None)
