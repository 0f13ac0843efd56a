"""
Define the launchers, which start the ranks of a job, and the batch systems.

A new launcher is one entry more. A site names its launcher in its key launcher (default: srun), and
its batch system in its key jobs.

Keys of a launcher
    title        description
    command      the command; also: list of its other names
    nodes, ranks, per_node, hosts, folder   options of its command line, with the placeholders {nodes}, {ranks},
                 {per_node} (ranks on each node), {hosts} (separated by commas) and {folder} (in
                 which the program runs). [] if the launcher lacks the option: it uses the nodes of
                 the job, or the number follows from the other options
    unbound      options with which the launcher binds no rank to cores, so that osu-gpu-bind can do this
    pmi          how ranks find each other: kind -> (protocol of the MPI, as in image/traits.py; variable that every
                 rank then has)
    pmi_words    options that select the {kind}, [] if there is only one
    pmi_variable variable with the same effect, which a module can set; None if only the options select the kind
    rank, size, local_rank, local_size      variables with the number of the rank and the number of ranks, in the job
                 and on the node; local_size may be a quotient of two variables

why, source, date and evidence are those of a fact (sites/schema.py). The order matters: in a step
of Slurm, daemons of other launchers also have the variables of srun, so the variables of the other
launchers are checked first.
"""

from typing import Any, Dict, Mapping, Optional, Tuple

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
        'why': (
            'mpiexec starts its daemons by srun, PBS, LSF or ssh, depending on the job, and '
            'passes the whole environment to the ranks'
        ),
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
        'why': (
            'in a job of Slurm, srun starts the daemons of mpirun, which have the whole '
            'environment. Daemons that ssh starts pass only the variables that -x names'
        ),
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
        'why': (
            'a module cannot select the kind of PMI, because Flux reads the kind only from its '
            'command line'
        ),
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
        'why': 'the plugin that --mpi= selects lets the ranks find each other',
        'source': 'srun(1); Slurm 22.05 on two nodes (pmi2, pmix); cray_shasta as on LUMI; pspmix: pages of JSC on '
        'JUPITER and JURECA, untested',
        'date': '2026-11-21',
        'evidence': 'measured',
    },
}
#: The launcher of a site that names none
DEFAULT_LAUNCHER = 'srun'

#: Batch systems: directive (prefix of a line with an option in a job script), options for partition,
#: account, nodes and time, submit (command that submits a script with the current environment), job
#: and nodes_file (variables of a job: its number, a file with one line per rank), count (variable:
#: number of its nodes). Options of a site's jobs may contain {nodes}
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


def detect_launcher(
    environment: Mapping[str, str],
) -> Tuple[Optional[str], Optional[Dict[str, Any]]]:
    """
    Return (name, entry) of the launcher that set `environment`, or (None, None).

    The number of a rank on its node is the evidence: the shell of an outer step may have set
    PMI_RANK.
    """
    for name, launcher in LAUNCHERS.items():
        evidence = (
            ('SLURM_STEP_ID', launcher['size'])
            if name == DEFAULT_LAUNCHER
            else (launcher['local_rank'],)
        )
        if launcher['rank'] in environment and any(
            variable in environment for variable in evidence
        ):
            return name, launcher
    return None, None
