"""
Looking: which libraries, commands, networks and file systems a system has, each with what showed
it.

Survey keeps what is found; what is looked for is in host_*.py beside this file.

A fact is a dict as the site data have it (value, why, source, date, evidence), with two more keys
for who reads the report: section and note. A part that a system of this kind should have becomes an
entry of missing: what, consequence.
"""

import os
import re
from collections import OrderedDict

from osu_container.discover import host_gpu, host_mpi, host_network, host_system
from osu_container.image.libraries import read_library

#: What is asked, all at once
COMMANDS = OrderedDict(
    [
        ('apptainer', ['apptainer', '--version']),
        ('singularity', ['singularity', '--version']),
        ('mpi', ['srun', '--mpi=list']),
        ('slurm', ['scontrol', 'show', 'config']),
        ('partitions', ['sinfo', '-h', '-o', '%P|%G']),
        ('libfabric', ['pkg-config', '--variable=libdir', 'libfabric']),
        ('mpicc', ['mpicc', '-show']),
        ('glibc', ['getconf', 'GNU_LIBC_VERSION']),
        ('libraries', ['ldconfig', '-p']),
        ('nvidia', ['nvidia-smi', '--query-gpu=name,compute_cap', '--format=csv,noheader']),
    ]
)
#: What is looked for, in this order: some of it depends on what was found before
SUBJECTS = (
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


class Survey(object):
    """
    What was found: facts (OrderedDict), missing (list of dict), libraries ({name: dict path,
    family, release}).
    """

    def __init__(self, host, today):
        """host: Host; today: str, ISO date."""
        self.host, self.today = host, today
        self.facts, self.missing, self.libraries = OrderedDict(), [], OrderedDict()
        #: what decides whether an absence matters
        self.cray = host.exists('/opt/cray/pe')
        self.slingshot = self.amd = self.nvidia = False
        #: by approach: sonames that the libraries which it injects need, and that are nowhere
        self.unresolved = {}
        #: why the host's libfabric does not drive the cards (str), None where it does
        self.provider_problem = None
        self._searched = None

    def add_fact(
        self, key, value, source, evidence='measured', section='', note='', why='', **more
    ):
        """Keep a fact; return its value."""
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

    def get_value(self, key, default=None):
        """Return the value of a fact, default where it was not found."""
        return self.facts[key]['value'] if key in self.facts else default

    def add_missing(self, what, consequence):
        """Keep that something is missing, which a system of this kind should have."""
        self.missing.append({'what': what, 'consequence': consequence})

    def select_library(self, name, candidates, why, section, soname=None, **more):
        """
        Keep the first of candidates ([(path, source)]) that is a library of soname; return its
        path, None without.

        Others that exist but cannot be used are remarked.
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
                is_in = self.host.resolve_links(path)
                note = ', '.join(
                    filter(
                        None,
                        [
                            self.format_library_release(name),
                            'leads to %s' % is_in if is_in != path else '',
                        ],
                    )
                )
                return self.add_fact(
                    'libraries.' + name, path, source, section=section, note=note, why=why, **more
                )
        return None

    def format_library_release(self, name):
        """Return what a library says of itself (str), '' if it says nothing."""
        return ' '.join(
            filter(None, [self.libraries[name]['family'], self.libraries[name]['release']])
        )

    # what commands and ld.so say

    def get_command_output(self, key):
        """Return what a command printed, without root in paths; '' where it failed."""
        answer = self.host.command_results.get(key)
        text = answer.output if answer is not None and answer.is_successful else ''
        return text.replace(self.host.root + '/', '/') if self.host.root else text

    def list_loader_folders(self):
        """Return the folders (list of str) that the host's ld.so searches."""
        if self._searched is None:
            self._searched = host_system.list_loader_folders(self.host)
        return self._searched

    def list_library_candidates(self, soname):
        """
        Return [(path, source)] where ld.so may find soname: its cache, then the folders that it
        searches.
        """
        cached = re.findall(
            r'^\s*%s \(.*\) => (/\S+)$' % re.escape(soname),
            self.get_command_output('libraries'),
            re.M,
        )
        return [(path, '`ldconfig -p`') for path in cached] + [
            (os.path.join(folder, soname), 'folder that ld.so searches')
            for folder in self.list_loader_folders()
        ]

    def survey_system(self):
        """Look at everything; return self."""
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
