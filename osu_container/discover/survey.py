"""
Survey a system: libraries, commands, networks and file systems, each with its source.

Survey collects the results; the survey_* functions of host_*.py find them. A fact is a dict like
those of the site data (value, why, source, date, evidence) with two keys for the report: section
and note. A part that a system of this kind should have is an entry of `missing`: what, consequence.
"""

import os
import re
from collections import OrderedDict
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

from osu_container.discover import host_gpu, host_mpi, host_network, host_system
from osu_container.discover.host import SurveyedHost
from osu_container.image.libraries import read_library

#: Commands that run at the same time
COMMANDS = {
    'apptainer': ['apptainer', '--version'],
    'singularity': ['singularity', '--version'],
    'mpi': ['srun', '--mpi=list'],
    'slurm': ['scontrol', 'show', 'config'],
    'partitions': ['sinfo', '-h', '-o', '%P|%G'],
    'libfabric': ['pkg-config', '--variable=libdir', 'libfabric'],
    'mpicc': ['mpicc', '-show'],
    'glibc': ['getconf', 'GNU_LIBC_VERSION'],
    'libraries': ['ldconfig', '-p'],
    'nvidia': ['nvidia-smi', '--query-gpu=name,compute_cap', '--format=csv,noheader'],
}
#: The parts of a survey in this order, because some depend on the results of others
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
    """The results on a system: facts, missing parts, and libraries by name."""

    def __init__(self, host: SurveyedHost, today: str) -> None:
        """Begin a survey of a host; today: ISO date."""
        self.host, self.today = host, today
        self.facts: Dict[str, Dict[str, Any]] = OrderedDict()
        self.missing: List[Dict[str, str]] = []
        #: {name: {path, family, release}}
        self.libraries: Dict[str, Dict[str, Any]] = OrderedDict()
        #: properties of the system that decide whether an absence matters
        self.cray = host.exists('/opt/cray/pe')
        self.slingshot = self.amd = self.nvidia = False
        #: {approach: sonames that its injected libraries need and the host lacks}
        self.unresolved: Dict[str, List[str]] = {}
        #: why the host's libfabric does not drive the cards, None if it does
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
        """Add a fact and return its value."""
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
        """Return the value of a fact, or the default without the fact."""
        return self.facts[key]['value'] if key in self.facts else default

    def add_missing(self, part: str, consequence: str) -> None:
        """Add a missing part that a system of this kind should have."""
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
        Add the first usable library among (path, source) candidates; return its path or None.

        A candidate that exists but cannot be used becomes a remark.
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
                            'leads to %s' % target if target != path else '',
                        ],
                    )
                )
                return self.add_fact(
                    'libraries.' + name, path, source, section=section, note=note, why=why, **more
                )
        return None

    def format_library_release(self, name: str) -> str:
        """Return family and release of a library as it reports them, '' if it reports neither."""
        return ' '.join(
            filter(None, [self.libraries[name]['family'], self.libraries[name]['release']])
        )

    # Commands and the dynamic loader

    def get_command_output(self, key: str) -> str:
        """Return the output of a command without the root in paths, '' if it failed."""
        result = self.host.command_results.get(key)
        text = result.output if result is not None and result.is_successful else ''
        return text.replace(self.host.root + '/', '/') if self.host.root else text

    def list_loader_folders(self) -> List[str]:
        """Return the folders that the host's ld.so searches."""
        if self._loader_folders is None:
            self._loader_folders = host_system.list_loader_folders(self.host)
        return self._loader_folders

    def list_library_candidates(self, soname: str) -> List[Tuple[str, str]]:
        """Return (path, source) of a library in the cache and then the folders of ld.so."""
        cached = re.findall(
            r'^\s*%s \(.*\) => (/\S+)$' % re.escape(soname),
            self.get_command_output('libraries'),
            re.M,
        )
        return [(path, '`ldconfig -p`') for path in cached] + [
            (os.path.join(folder, soname), 'folder that ld.so searches')
            for folder in self.list_loader_folders()
        ]

    def survey_system(self) -> 'Survey':
        """Survey everything and return self."""
        host = self.host
        commands = OrderedDict(
            item for item in COMMANDS.items() if not (item[0] == 'libraries' and host.root)
        )
        if host.environment.get('LMOD_CMD'):
            commands['modules'] = [host.environment['LMOD_CMD'], 'bash', '-t', 'avail']
        host.run_commands(commands)
        for subject in SUBJECTS:
            subject(self)
        return self
