"""
Survey a system: collect facts on its libraries, commands, networks and file systems.

The functions survey_* in host_*.py find the facts, and an object of class Survey collects the
facts. A fact is a dict with the keys of the site data (value, why, source, date, evidence) and with
the keys section and note for the report. If the system lacks a part that similar systems usually
have, the functions add a dict to the list `missing`. The dict has the keys what (the missing part)
and consequence.
"""

import os
import re
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

from osu_container.discover import host_gpu, host_mpi, host_network, host_system
from osu_container.discover.host import SurveyedHost
from osu_container.image.libraries import read_library

#: {key of the result: command}; all commands run at the same time
COMMANDS = {
    'apptainer': 'apptainer --version',
    'singularity': 'singularity --version',
    'mpi': 'srun --mpi=list',
    'slurm': 'scontrol show config',
    'partitions': 'sinfo -h -o %P|%G',
    'libfabric': 'pkg-config --variable=libdir libfabric',
    'mpicc': 'mpicc -show',
    'glibc': 'getconf GNU_LIBC_VERSION',
    'libraries': 'ldconfig -p',
    'nvidia': 'nvidia-smi --query-gpu=name,compute_cap --format=csv,noheader',
}
#: The parts of a survey; the order matters, because parts use facts of earlier parts
SUBJECTS: Tuple[Callable[['Survey'], None], ...] = (
    host_system.survey_runtime,
    host_network.survey_network_cards,
    host_mpi.survey_libmpi,
    host_mpi.survey_open_mpi,
    host_network.survey_libfabric,
    host_mpi.survey_cray_libraries,
    host_gpu.survey_gpus,
    host_gpu.survey_rocm,
    host_gpu.survey_cuda,
    host_gpu.survey_gtl,
    host_mpi.survey_pmi,
    host_system.survey_slurm,
    host_system.survey_file_systems,
    host_system.survey_modules,
    host_system.survey_node,
    host_system.survey_library_folders,
)


class Survey:
    """Collects what a survey finds on a system: facts, missing parts and libraries."""

    def __init__(self, host: SurveyedHost, today: str) -> None:
        """
        Begin a survey of a host.

        today: the current day as ISO date.
        """
        self.host, self.today = host, today
        self.facts: Dict[str, Dict[str, Any]] = {}
        self.missing: List[Dict[str, str]] = []
        #: {name: {path, family, release}}
        self.libraries: Dict[str, Dict[str, Any]] = {}
        #: whether the system has these products, which decides whether a missing part matters
        self.cray = host.exists('/opt/cray/pe')
        self.slingshot = self.amd = self.nvidia = False
        #: {approach: sonames that its injected libraries need and the host lacks}
        self.unresolved: Dict[str, List[str]] = {}
        #: why the host's libfabric cannot use the network cards, None if it can
        self.provider_problem: Optional[str] = None
        self._loader_folders: Optional[List[str]] = None

    def add_fact(
        self,
        key: str,
        value: Any,
        source: str,
        evidence: str = 'measured',
        section: str = '',
        note: str = '',
        why: str = '',
        **more: Any,
    ) -> Any:
        """Add a fact under `key` and return the value of the fact."""
        self.facts[key] = dict(
            more,
            value=value,
            why=why,
            source=source,
            date=self.today,
            evidence=evidence,
            section=section,
            note=note,
        )
        return value

    def get_value(self, key: str, default: Any = None) -> Any:
        """Return the value of a fact, or `default` if the survey does not contain the fact."""
        return self.facts[key]['value'] if key in self.facts else default

    def uses_cxi(self) -> bool:
        """Return whether the libfabric provider of the site is cxi."""
        return self.get_value('provider') == 'cxi'

    def add_missing(self, part: str, consequence: str) -> None:
        """Record a missing part of the system, such as Lmod, and the consequence for the user."""
        self.missing.append({'what': part, 'consequence': consequence})

    def select_library(
        self,
        name: str,
        candidates: Iterable[Tuple[str, str]],
        why: str,
        section: str,
        soname: Optional[str] = None,
        **more: Any,
    ) -> Optional[str]:
        """
        Record the first usable library of `candidates` in the survey, and return the library's path.

        candidates: pairs (path, source). The result is None if no candidate is usable. For each
        candidate that exists but is not usable, the function adds a remark.
        """
        for path, source in candidates:
            problem = self.host.find_library_problem(path, soname)
            if problem:
                self.host.add_remark(problem)
            if problem is None:
                try:
                    family, release = read_library(self.host.add_root(path))[0]
                except (OSError, ValueError):
                    family = release = None
                self.libraries[name] = {'path': path, 'family': family, 'release': release}
                target = self.host.resolve_links(path)
                note = ', '.join(
                    filter(
                        None,
                        [
                            self.format_library_release(name),
                            'a link to %s' % target if target != path else '',
                        ],
                    )
                )
                return self.add_fact(
                    'libraries.' + name, path, source, section=section, note=note, why=why, **more
                )
        return None

    def format_library_release(self, name: str) -> str:
        """Return the family and the release of a library as text, '' if both are unknown."""
        return ' '.join(
            filter(None, [self.libraries[name]['family'], self.libraries[name]['release']])
        )

    # Commands and the dynamic loader

    def get_command_output(self, key: str) -> str:
        """
        Return the output of a command, '' if the command failed.

        The function removes `root` from the paths in the output.
        """
        result = self.host.command_results.get(key)
        text = result.output if result is not None and result.is_successful else ''
        return text.replace(self.host.root + '/', '/') if self.host.root else text

    def list_loader_folders(self) -> List[str]:
        """Return the folders that the host's ld.so searches."""
        if self._loader_folders is None:
            self._loader_folders = host_system.list_loader_folders(self.host)
        return self._loader_folders

    def list_library_candidates(self, soname: str) -> List[Tuple[str, str]]:
        """
        Return a list of (path, source) for each file that may be a library with this soname.

        Paths in the cache of ld.so come first, then paths in the folders that ld.so searches.
        source: text that tells how the path was found.
        """
        cached = re.findall(
            r'^\s*%s \(.*\) => (/\S+)$' % re.escape(soname),
            self.get_command_output('libraries'),
            re.M,
        )
        return [(path, '`ldconfig -p`') for path in cached] + [
            (os.path.join(folder, soname), 'a folder that ld.so searches')
            for folder in self.list_loader_folders()
        ]

    def list_path_candidates(self, soname: str) -> List[Tuple[str, str]]:
        """
        Return a list of (path, source) for a library in each folder of LD_LIBRARY_PATH.

        soname: file name of the library. source: name of the environment variable.
        """
        return [
            ('%s/%s' % (folder, soname), name)
            for folder, name in self.host.list_variable_folders('LD_LIBRARY_PATH')
        ]

    def survey_system(self) -> 'Survey':
        """Run all commands and all parts of the survey, and return the completed Survey."""
        host = self.host
        commands = {key: command.split() for key, command in COMMANDS.items()}
        if host.root:  # ldconfig reads the cache of this machine
            del commands['libraries']
        if host.environment.get('LMOD_CMD'):
            commands['modules'] = [host.environment['LMOD_CMD'], 'bash', '-t', 'avail']
        host.run_commands(commands)
        for subject in SUBJECTS:
            subject(self)
        return self
