"""
What Slurm's plugin mpi/pmix leaves on a node for the ranks of a step, for the files of sites that have it. Data only.

The keys are explained in schema.py. Names and places are those of the plugin: below TmpFS the folder in
which ranks of Open MPI meet (its session directory), below SlurmdSpoolDir that of the PMIx server. Both settings are
printed by `scontrol show config`.
"""

#: With the user's number as Slurm has it since 20.11, and without it as before
RANKS = ['spmix_appdir_{SLURM_JOB_UID}_{SLURM_JOB_ID}.{SLURM_STEP_ID}', 'spmix_appdir_{SLURM_JOB_ID}.{SLURM_STEP_ID}']


def rank_folders(tmpfs):
    """Return the folders (list of str) of a step below tmpfs (str, a path or '{tmpfs}'), those that may be there."""
    return ['%s/%s' % (tmpfs.rstrip('/'), name) for name in RANKS]


_HOOK = 'github.com/sarus-suite/sarus-hooks, src/pmix/PMIxHook.cpp, 2025-10-24'

#: As seen on the workstation
PMIX_FILES = {
    'pmix_ranks': {
        'value': rank_folders('{tmpfs}'),
        'why': 'ranks of Open MPI meet in this folder, which Slurm\'s PMIx makes below TmpFS: without it MPI_Init ends '
               'with a segmentation fault. /tmp is in the container, another TmpFS is not',
        'source': 'steps of Slurm 22.05 with Open MPI 5.0.11 and --no-mount tmp, 2026-11-21; ' + _HOOK,
        'date': '2026-11-21',
        'evidence': 'measured',
        'bound': 'step',
    },
    'pmix_server': {
        'value': ['{PMIX_SERVER_TMPDIR}'],
        'why': 'folder of Slurm\'s PMIx below SlurmdSpoolDir, for shared memory with the ranks; not needed while '
               'PMIX_MCA_gds is hash',
        'source': _HOOK,
        'date': '2026-11-21',
        'evidence': 'derived',
        'bound': 'step',
    },
}

#: The same on a system that nobody of this project has seen: its Slurm has the plugin, so it has the folders
PMIX_FILES_DERIVED = dict((name, dict(fact, source=_HOOK + '; steps of Slurm 22.05 on a workstation',
                                      evidence='derived')) for name, fact in PMIX_FILES.items())
