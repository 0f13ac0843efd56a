"""
Launchers: what starts the ranks of a job, and what each is told. A new launcher is one entry more.

A site names its launcher by the key launcher (srun without it), and its batch system in its key
jobs.

Keys of a launcher
    title        str, what it is
    command      str, as it is typed; also: other names (list of str) of the same
    nodes, ranks, per_node, hosts, folder   words (list of str) of its command line; {nodes}, {ranks}, {per_node} (ranks
                 on each node), {hosts} (by commas) and {folder} (in which the program runs) are
                 filled in. [] where it has none: it takes the nodes of the job, or follows from the
                 others
    unbound      words with which it leaves the cores of each rank to osu-gpu-bind
    pmi          how ranks find each other: kind -> (what an MPI must speak, as image/traits.py calls it;
                 variable that every rank has then)
    pmi_words    words that choose the {kind}, [] where there is one alone
    pmi_variable the same by a variable, which a module can set; None: the words are typed
    rank, size, local_rank, local_size      variables of a rank: its number, how many there are, the same on its node;
                 local_size may be a quotient of two

why, source, date and evidence are as of a fact of a site (sites/schema.py). The order counts: in a
step of Slurm the variables of srun are those of the other launchers' daemons, so who finds others
of them takes these first.
"""

from typing import Any, Dict

_READ_DATE = '2026-11-26'
_FLUX = 'flux-run(1), flux-environment(7) of flux-core'

LAUNCHERS: Dict[str, Dict[str, Any]] = {
    'hydra': {
        'title': 'Hydra, the mpiexec of MPICH and Intel MPI',
        'command': 'mpiexec',
        'also': ['mpiexec.hydra', 'mpiexec.mpich', 'mpirun.mpich'],
        'nodes': [],
        'ranks': ['-n', '{ranks}'],
        'per_node': ['-ppn', '{per_node}'],
        'hosts': ['-hosts', '{hosts}'],
        'folder': ['-wdir', '{folder}'],
        'unbound': [],
        # PMI-1 over a socket, as what MPICH speaks to the plugin pmi2 of Slurm
        'pmi': {'pmi2': ('pmi2', 'PMI_FD')},
        'pmi_words': [],
        'pmi_variable': None,
        'rank': 'PMI_RANK',
        'size': 'PMI_SIZE',
        'local_rank': 'MPI_LOCALRANKID',
        'local_size': 'MPI_LOCALNRANKS',
        'why': 'it starts its daemons by srun, PBS, LSF or ssh, as the job has it, and hands on the whole environment',
        'source': 'mpiexec of MPICH 5.0.2 in a job of Slurm 22.05 on two nodes',
        'date': _READ_DATE,
        'evidence': 'measured',
    },
    'prrte': {
        'title': "PRRTE, the mpirun of Open MPI",
        'command': 'mpirun',
        'also': ['mpiexec.openmpi', 'mpirun.openmpi', 'prterun'],
        'nodes': [],
        'ranks': ['-n', '{ranks}'],
        'per_node': ['--map-by', 'ppr:{per_node}:node'],
        'hosts': ['--host', '{hosts}'],
        'folder': ['--wdir', '{folder}'],
        'unbound': ['--bind-to', 'none'],
        'pmi': {'pmix': ('pmix', 'PMIX_RANK')},
        'pmi_words': [],
        'pmi_variable': None,
        'rank': 'OMPI_COMM_WORLD_RANK',
        'size': 'OMPI_COMM_WORLD_SIZE',
        'local_rank': 'OMPI_COMM_WORLD_LOCAL_RANK',
        'local_size': 'OMPI_COMM_WORLD_LOCAL_SIZE',
        'why': 'in a job of Slurm its daemons are started by srun and have the whole environment; started by ssh, they '
        'hand on what -x names',
        'source': 'mpirun of Open MPI 5.0.11 in a job of Slurm 22.05 on two nodes',
        'date': _READ_DATE,
        'evidence': 'measured',
    },
    'pals': {
        'title': "PALS, HPE's mpiexec on systems with PBS",
        'command': 'mpiexec',
        'also': [],
        'nodes': [],
        'ranks': ['-n', '{ranks}'],
        'per_node': ['--ppn', '{per_node}'],
        'hosts': ['--hosts', '{hosts}'],
        'folder': ['--wdir', '{folder}'],
        'unbound': ['--cpu-bind', 'none'],
        'pmi': {'cray': ('cray_shasta', 'PALS_APID'), 'pmix': ('pmix', 'PMIX_RANK')},
        'pmi_words': ['--pmi={kind}'],
        'pmi_variable': 'PALS_PMI',
        # PALS_SIZE is never set (the same sources), PMI_SIZE is Cray PMI's
        'rank': 'PALS_RANKID',
        'size': 'PMI_SIZE',
        'local_rank': 'PALS_LOCAL_RANKID',
        'local_size': 'PALS_LOCAL_SIZE',
        'why': 'Cray MPICH finds its ranks by Cray PMI, the MPICH of Aurora by PMIx',
        'source': 'ALCF user guides, Running Jobs on Aurora and Polaris (mpiexec -n, --ppn, --hosts, --cpu-bind, '
        '--pmi=pmix); github.com/NCAR/mpibind (--cpu-bind none); public job scripts export PALS_PMI=pmix and '
        'PALS_PMI=cray, and read PALS_RANKID, PALS_LOCAL_RANKID, PALS_LOCAL_SIZE and PMI_SIZE',
        'date': _READ_DATE,
        'evidence': 'derived',
    },
    'flux': {
        'title': 'Flux, the resource manager of El Capitan and Tuolumne',
        'command': 'flux run',
        'also': [],
        'nodes': ['-N{nodes}'],
        'ranks': ['-n{ranks}'],
        'per_node': [],
        'hosts': ['--requires=host:{hosts}'],
        'folder': ['--cwd={folder}'],
        'unbound': ['-o', 'cpu-affinity=off'],
        'pmi': {
            'simple': ('pmi2', 'PMI_FD'),
            'cray-pals': ('cray_shasta', 'PALS_APINFO'),
            'pmix': ('pmix', 'PMIX_RANK'),
        },
        'pmi_words': ['-o', 'pmi={kind}'],
        'pmi_variable': None,
        'rank': 'FLUX_TASK_RANK',
        'size': 'FLUX_JOB_SIZE',
        'local_rank': 'FLUX_TASK_LOCAL_ID',
        'local_size': 'FLUX_JOB_SIZE/FLUX_JOB_NNODES',
        'why': 'a module cannot choose the kind of PMI: Flux takes it from its command line alone',
        'source': _FLUX + '; cray-pals and pmix are plugins of flux-coral2 and flux-pmix',
        'date': _READ_DATE,
        'evidence': 'untested',
    },
    'srun': {
        'title': "Slurm's srun",
        'command': 'srun',
        'also': [],
        'nodes': ['-N{nodes}'],
        'ranks': ['-n{ranks}'],
        'per_node': ['--ntasks-per-node={per_node}'],
        'hosts': ['--nodelist={hosts}'],
        'folder': ['--chdir={folder}'],
        'unbound': [],
        'pmi': {
            'pmi2': ('pmi2', 'PMI_FD'),
            'pmix': ('pmix', 'PMIX_RANK'),
            'pspmix': ('pmix', 'PMIX_RANK'),
            'cray_shasta': ('cray_shasta', 'PALS_APINFO'),
        },
        'pmi_words': ['--mpi={kind}'],
        'pmi_variable': 'SLURM_MPI_TYPE',
        'rank': 'SLURM_PROCID',
        'size': 'SLURM_STEP_NUM_TASKS',
        'local_rank': 'SLURM_LOCALID',
        'local_size': 'SLURM_STEP_TASKS_PER_NODE',  # of every node: 2(x3),1
        'why': 'the plugin of --mpi= tells ranks of each other',
        'source': 'srun(1); Slurm 22.05 on two nodes (pmi2, pmix); cray_shasta as on LUMI; pspmix: pages of JSC on '
        'JUPITER and JURECA, untested',
        'date': '2026-11-21',
        'evidence': 'measured',
    },
}
#: The launcher of a site that names none
DEFAULT_LAUNCHER = 'srun'

#: Batch systems: directive (how a line of a script begins that asks for something), words that ask
#: for partition, account, nodes and time, submit (the command that hands a script in with this
#: environment), job and nodes_file (variables of a job: its number, a file with a line a rank),
#: count (variable: how many nodes it has). In options of a site's jobs {nodes} is filled in
BATCH_SYSTEMS: Dict[str, Dict[str, Any]] = {
    'slurm': {
        'directive': '#SBATCH ',
        'partition': '--partition={}',
        'account': '--account={}',
        'nodes': ['--nodes={nodes}', '--ntasks-per-node=1'],
        'time': '--time={}',
        'submit': 'sbatch',
        'job': 'SLURM_JOB_ID',
        'count': 'SLURM_JOB_NUM_NODES',
        'nodes_file': None,
        'source': 'sbatch(1)',
        'date': '2026-11-21',
        'evidence': 'measured',
    },
    'pbs': {
        'directive': '#PBS ',
        'partition': '-q {}',
        'account': '-A {}',
        'nodes': [],
        'time': '-l walltime={}',
        'submit': 'qsub -V',
        'job': 'PBS_JOBID',
        'count': None,
        'nodes_file': 'PBS_NODEFILE',
        'source': 'job scripts of ALCF and NCAR; qsub(1B) of OpenPBS',
        'date': _READ_DATE,
        'evidence': 'derived',
    },
    'flux': {
        'directive': '#flux: ',
        'partition': '-q {}',
        'account': '--bank={}',
        'nodes': ['-N{nodes}'],
        'time': '-t {}',
        'submit': 'flux batch',
        'job': 'FLUX_ENCLOSING_ID',
        'count': None,
        'nodes_file': None,
        'source': _FLUX + ', flux-batch(1)',
        'date': _READ_DATE,
        'evidence': 'untested',
    },
}


def detect_launcher(environment):
    """
    Return (name, launcher) of what has started the rank with this environment (dict), (None, None)
    where nothing shows.

    The number of a rank on its node shows it: PMI_RANK alone may be left from the shell of an outer
    step.
    """
    for name, launcher in LAUNCHERS.items():
        shown = (
            ('SLURM_STEP_ID', launcher['size'])
            if name == DEFAULT_LAUNCHER
            else (launcher['local_rank'],)
        )
        if launcher['rank'] in environment and any(variable in environment for variable in shown):
            return name, launcher
    return None, None
