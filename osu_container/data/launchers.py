"""
Define the launchers (programs that start the ranks of a job) and the batch systems.

To support another launcher, add an entry to LAUNCHERS. In the data of a site, the
key `launcher` contains the name of the site's launcher (default: srun), and the key `jobs` contains
the batch system.

Keys of a launcher
    command      name of the command
    also         list of other names of the command
    nodes, ranks, per_node, folder   options of the command line, with the placeholders {nodes}, {ranks},
                 {per_node} (number of ranks on each node) and {folder} (working folder of the program). [] if the
                 launcher has no such option. In this case the launcher uses all nodes of the job, or derives the
                 number from the other options
    unbound      options that stop the launcher from binding ranks to cores. osu-gpu-bind binds the ranks instead
    pmi          kinds of PMI that the launcher supports, as a dict: kind -> (protocol of the MPI, as in
                 image/traits.py; name of the variable that this kind of PMI sets for every rank)
    pmi_words    options that select a kind of PMI, with the placeholder {kind}. [] if the launcher has only one kind
    pmi_variable name of an environment variable with which a module can select the kind of PMI. None if only
                 options can select the kind
    rank, size   names of two environment variables that every rank has: number of the rank, and number of all ranks
    local_rank, local_size   names of two more environment variables that every rank has: number of the rank on its
                 node, and number of ranks on this node. local_size may be a quotient of two variables

sites/schema.py explains the keys why, source, date and evidence. The order of the entries
matters. Inside a Slurm step, the ranks of the other launchers also have the variables of
srun, so detect_launcher() must test the other launchers before srun.
"""

from typing import Any, Dict, Mapping, Optional, Tuple

_READ_DATE = '2026-11-26'
_FLUX = 'flux-run(1), flux-environment(7) of flux-core'

LAUNCHERS: Dict[str, Dict[str, Any]] = {
    # Hydra (mpiexec of MPICH and Intel MPI)
    'hydra': {
        'command': 'mpiexec',
        'also': ['mpiexec.hydra', 'mpiexec.mpich', 'mpirun.mpich'],
        'nodes': [],
        'ranks': ['-n', '{ranks}'],
        'per_node': ['-ppn', '{per_node}'],
        'folder': ['-wdir', '{folder}'],
        'unbound': [],
        # PMI-1 over a socket: the protocol that MPICH also uses with Slurm's plugin pmi2
        'pmi': {'pmi2': ('pmi2', 'PMI_FD')},
        'pmi_words': [],
        'pmi_variable': None,
        'rank': 'PMI_RANK',
        'size': 'PMI_SIZE',
        'local_rank': 'MPI_LOCALRANKID',
        'local_size': 'MPI_LOCALNRANKS',
        'why': 'Hydra starts its daemons with srun, PBS, LSF or ssh, depending on the job, and '
        'passes the whole environment to the ranks',
        'source': 'mpiexec of MPICH 5.0.2 in a job of Slurm 22.05 on two nodes',
        'date': _READ_DATE,
        'evidence': 'measured',
    },
    # PRRTE (mpirun of Open MPI)
    'prrte': {
        'command': 'mpirun',
        'also': ['mpiexec.openmpi', 'mpirun.openmpi', 'prterun'],
        'nodes': [],
        'ranks': ['-n', '{ranks}'],
        'per_node': ['--map-by', 'ppr:{per_node}:node'],
        'folder': ['--wdir', '{folder}'],
        'unbound': ['--bind-to', 'none'],
        'pmi': {'pmix': ('pmix', 'PMIX_RANK')},
        'pmi_words': [],
        'pmi_variable': None,
        'rank': 'OMPI_COMM_WORLD_RANK',
        'size': 'OMPI_COMM_WORLD_SIZE',
        'local_rank': 'OMPI_COMM_WORLD_LOCAL_RANK',
        'local_size': 'OMPI_COMM_WORLD_LOCAL_SIZE',
        'why': 'in a Slurm job, PRRTE starts its daemons with srun, and the ranks get the whole '
        'environment. If PRRTE starts its daemons with ssh, the ranks get only the variables '
        'that -x names',
        'source': 'mpirun of Open MPI 5.0.11 in a job of Slurm 22.05 on two nodes',
        'date': _READ_DATE,
        'evidence': 'measured',
    },
    # PALS (HPE's mpiexec on systems with PBS)
    'pals': {
        'command': 'mpiexec',
        'also': [],
        'nodes': [],
        'ranks': ['-n', '{ranks}'],
        'per_node': ['--ppn', '{per_node}'],
        'folder': ['--wdir', '{folder}'],
        'unbound': ['--cpu-bind', 'none'],
        'pmi': {'cray': ('cray_shasta', 'PALS_APID'), 'pmix': ('pmix', 'PMIX_RANK')},
        'pmi_words': ['--pmi={kind}'],
        'pmi_variable': 'PALS_PMI',
        # PALS_SIZE is never set, according to the same sources; PMI_SIZE is set by Cray PMI
        'rank': 'PALS_RANKID',
        'size': 'PMI_SIZE',
        'local_rank': 'PALS_LOCAL_RANKID',
        'local_size': 'PALS_LOCAL_SIZE',
        'why': 'the ranks of Cray MPICH find each other through Cray PMI; the ranks of MPICH on '
        'Aurora find each other through PMIx',
        'source': 'ALCF user guides, Running Jobs on Aurora and Polaris (mpiexec -n, --ppn, '
        '--hosts, --cpu-bind, --pmi=pmix); github.com/NCAR/mpibind (--cpu-bind none); public job '
        'scripts export PALS_PMI=pmix and PALS_PMI=cray, and read PALS_RANKID, PALS_LOCAL_RANKID, '
        'PALS_LOCAL_SIZE and PMI_SIZE',
        'date': _READ_DATE,
        'evidence': 'derived',
    },
    # Flux (resource manager of El Capitan and Tuolumne)
    'flux': {
        'command': 'flux run',
        'also': [],
        'nodes': ['-N{nodes}'],
        'ranks': ['-n{ranks}'],
        'per_node': [],
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
        'why': 'a module cannot select the kind of PMI, because Flux reads the kind only from its '
        'command line',
        'source': _FLUX
        + '; the PMI kind cray-pals is a plugin of flux-coral2, and the PMI kind pmix is a '
        'plugin of flux-pmix',
        'date': _READ_DATE,
        'evidence': 'untested',
    },
    # Slurm's srun
    'srun': {
        'command': 'srun',
        'also': [],
        'nodes': ['-N{nodes}'],
        'ranks': ['-n{ranks}'],
        'per_node': ['--ntasks-per-node={per_node}'],
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
        'local_size': 'SLURM_STEP_TASKS_PER_NODE',  # a list for all nodes, such as 2(x3),1
        'why': 'the ranks find each other through the Slurm plugin that the option --mpi= selects',
        'source': 'srun(1); runs of Slurm 22.05 on two nodes for pmi2 and pmix; pages about LUMI for '
        'cray_shasta; pages of JSC about JUPITER and JURECA for pspmix, which is untested',
        'date': '2026-11-21',
        'evidence': 'measured',
    },
}
#: Beginnings of the names of variables that a rank keeps if the user requests a clean environment
#: (--cleanenv): of the launchers and their PMI, of MPI, of the network (the provider cxi reads the
#: VNI of a step from SLINGSHOT_VNIS), of RCCL and NCCL, and of the GPUs that a rank may use
KEPT_PREFIXES = (
    'PMI SLURM_ PALS_ FLUX_ OMPI_ PRTE_ HYDRA_ MPI FI_ SLINGSHOT_ UCX_ NCCL_ RCCL_ OSU_ HSA_ '
    'ROCR_VISIBLE_ HIP_VISIBLE_ CUDA_VISIBLE_ GPU_DEVICE_ORDINAL'
).split()
#: Launcher of a site whose entry names no launcher
DEFAULT_LAUNCHER = 'srun'

#: Batch systems. Keys: submit (command that submits a script with the current environment); job, count
#: and nodes_file (variables of a job with its number, the number of its nodes, and the path of a file
#: with one line per rank; None if the batch system has no such variable).
BATCH_SYSTEMS: Dict[str, Dict[str, Any]] = {
    'slurm': {
        'submit': 'sbatch',
        'job': 'SLURM_JOB_ID',
        'count': 'SLURM_JOB_NUM_NODES',
        'nodes_file': None,
        'source': 'sbatch(1)',
        'date': '2026-11-21',
        'evidence': 'measured',
    },
    'pbs': {
        'submit': 'qsub -V',
        'job': 'PBS_JOBID',
        'count': None,
        'nodes_file': 'PBS_NODEFILE',
        'source': 'job scripts of ALCF and NCAR; qsub(1B) of OpenPBS',
        'date': _READ_DATE,
        'evidence': 'derived',
    },
    'flux': {
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
    Return (name, entry of LAUNCHERS) of the launcher of a rank, (None, None) if unknown.

    `environment`: the environment variables of the rank. The launcher must have set the variables
    for the number of the rank and for the number of the rank on the node. One variable alone, such as
    PMI_RANK, may come from the shell of an outer job step.
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
