"""
Define the keys and shapes of a site entry: one system with one software stack.

Every fact is a dict: value; why (its purpose); source (where it was found, so that it can be found
again); date (when it was seen or read, ISO 8601); evidence: 'measured' (seen on such a system, by
the author of the source), 'derived' (follows from a rule, which why names), 'untested'.

Keys of a site
    based_on           optional: the entry with the facts that are not named here. 'libraries' and 'files' are completed
                       name by name, every other key replaces that of the other entry
    title              description of the site
    recognised_by      dict: hostnames (list of regular expressions, one must match) and environment (variable ->
                       regular expression, all must match; an unset variable counts as empty)
    default_approach   the approach that `module load osu-container` loads
    runtime            commands of the container runtime, the first one on PATH is used
    provider           libfabric provider of the high-speed network; on a machine without one, the best available
    network            optional: kind (key of data/networks.py) and drivers (kernel drivers of its cards); default:
                       Slingshot if provider is cxi, else Ethernet
    launcher           optional: launcher of the ranks, key of data/launchers.py; default: srun
    pmi                kind of PMI (srun's --mpi=) for an MPI of the MPICH ABI from the 'image' or the 'host', and
                       for 'Open MPI'; an MPI without a key cannot run on the site; {} if no source
                       shows how ranks find each other
    pmi_variables      by --mpi=: the variable that this PMI sets in the environment of every rank
    slingshot          optional: release of the Slingshot Host Software (SHS) of the nodes, with the driver of the cards
    gpu                architecture of the GPUs, None without
    gpu_userland       optional: [oldest, newest] release of ROCm in an image that the driver of the GPUs supports
    gpu_driver         optional: release of NVIDIA's driver on the nodes, or the oldest possible
    gpu_binding        None, or by GPU a dict: gcd (number), mask (of cores), nic (name of the card)
    libraries          host libraries that an approach may inject: name -> path on the host, None if it does not exist;
                       opened_as: other names by which libraries open it (dlopen), such as those of ROCm
                       without a version for Cray MPICH and libfabric; release: of libmpi and
                       libfabric; serves: the function that opens it, if nothing else needs it;
                       folders: of libompi, the host's Open MPI (libmpi.so.40): folders with its
                       plug-ins and parameters, by their path below /opt/host-mpi ('lib/openmpi',
                       'lib/pmix', 'lib/ucx', 'etc'), bound if they exist
    library_folders    folders that the host's ld.so searches by default, for the dependencies of those libraries
    one_build          folders whose libraries are of one build: if one of these libraries is injected, the libraries
                       of the folder that it needs are injected, too
    files              name -> paths that an approach may bind under their own names if they exist: bound 'install'
                       (checked at installation), 'run' (on the node that runs the program; {kernel} is
                       the release of the node's kernel) or 'step' (as 'run', and never below --sysroot:
                       {NAME} is the rank's variable NAME, {tmpfs} Slurm's TmpFS; if one is not
                       set, nothing is bound); otherwise: variables to set if the path does not exist
    lnx_links          optional: providers that libfabric's provider lnx (LINKx) links, as in FI_LNX_PROV_LINKS;
                       without this key there is no module osu-settings/linkx
    conflicts          modules that cannot be loaded beside these
    family             optional: Lmod's family of these modules, if the system has a name for modules of that kind;
                       default: slurm_mpi. Only one module of a family is loaded at a time
    stack              optional: the software stack: of (common name of the system's stacks, such as 'perlmutter'),
                       name, and the variable that the system's modules set, with its values ('' if it
                       is not set). A module that finds its host changed names the loaded stack
    shell              optional: variables that the system's modules set in a shell, list of dict: name, fits (list of
                       values: `module load` warns if the variable has another)
    variables          variables for every approach (see data/approaches.py for the keys)
    images             by approach: file name of the SIF in EasyBuild's source path
    image_folders      folders below which the site keeps images for all users. Such an image is linked, never copied;
                       an image named without a folder is searched in them, also by a module whose
                       copy was deleted. {NAME} at the beginning of a folder is the value of that
                       variable; without a value the folder is ignored
    images_there       optional: images with osu_latency and osu_bw on the system, for `osu-container try`: paths with
                       wildcards, the fastest to read first
    image_help         page that explains how to get an image for the site
    jobs               how to request a job: partition (or None), account (whether it must be named), options (of a
                       job, with {nodes}), step (options of the launcher); optional: batch (key of
                       BATCH_SYSTEMS of data/launchers.py; default: slurm)
    native             settings of a native build: mpicc, mpicxx (path on the host, or a command of the modules),
                       libmpi, python; optional: prgenv ('amd' or 'gnu', of Cray's programming
                       environment), modules, plugin (of RCCL: name, version, suffix of an
                       easyconfig), configopts, needed (sonames that programs must need)
    wrapper_modules    modules that may have wrap-container (easyconfig parameter wrapper)
    architecture       optional: of the processors, as in uname -m; default: x86_64
    engine             optional: a container engine of the system that cannot start modules ('podman-hpc',
                       'container-engine'); docs/contributions has files for it

Host paths are those of the real system. EasyBuild's --sysroot (or ROOT in a local file, see
mpicontainer.py) is prepended to them, so that a folder with the same tree can stand in for the
system.
"""

from typing import Any, Dict, List

#: Keys that every entry has, together with the entry that it is based on
KEYS = (
    'title',
    'recognised_by',
    'default_approach',
    'runtime',
    'provider',
    'pmi',
    'pmi_variables',
    'gpu',
    'gpu_binding',
    'libraries',
    'library_folders',
    'one_build',
    'files',
    'conflicts',
    'variables',
    'images',
    'image_folders',
    'image_help',
    'jobs',
    'native',
    'wrapper_modules',
)
#: Keys that an entry may have
OPTIONAL = (
    'gpu_userland',
    'gpu_driver',
    'slingshot',
    'lnx_links',
    'engine',
    'architecture',
    'network',
    'family',
    'shell',
    'stack',
    'images_there',
    'launcher',
)
#: Keys whose value is a dict of facts by name; 'based_on' completes them name by name
TABLES = ('libraries', 'files')
#: Keys whose value is not a fact
PLAIN_KEYS = TABLES + ('title', 'variables')
#: Keys of every fact; some facts also have name, only, when, bound, otherwise or opened_as
FACT = ('value', 'why', 'source', 'date', 'evidence')
#: Values of the key evidence
EVIDENCE = ('measured', 'derived', 'untested')

#: Shape of the value of a fact: a type; a tuple of alternatives; [shape]: a list; {str: shape}: a dict
#: by name; {'key': shape}: a dict with these keys, of which those with a ? are optional
_VARIABLES = {str: str}
SHAPES: Dict[str, Any] = {
    'recognised_by': {'hostnames?': [str], 'environment?': _VARIABLES},
    'default_approach': str,
    'runtime': [str],
    'provider': (str, None),
    'network': {'kind': str, 'drivers': [str]},
    'pmi': {str: str},
    'pmi_variables': {str: str},
    'slingshot': str,
    'gpu': (str, None),
    'gpu_userland': [str],
    'gpu_driver': str,
    'gpu_binding': ([{'gcd': int, 'mask': str, 'nic': str}], None),
    'library_folders': [str],
    'one_build': [str],
    'lnx_links': (str, None),
    'conflicts': [str],
    'family': str,
    'stack': {'of': str, 'name': str, 'variable': str, 'values': [str]},
    'shell': [{'name': str, 'fits': [str]}],
    'images': {str: str},
    'image_folders': [str],
    'images_there': [str],
    'image_help': str,
    'jobs': {
        'partition': (str, None),
        'account': bool,
        'options': [str],
        'step': [str],
        'batch?': str,
    },
    'launcher': str,
    'native': (
        {
            'mpicc': str,
            'mpicxx': str,
            'libmpi': str,
            'python': str,
            'prgenv?': str,
            'modules?': [str],
            'plugin?': ([str], None),
            'configopts?': str,
            'needed?': [str],
        },
        None,
    ),
    'wrapper_modules': [str],
    'architecture': str,
    'engine': str,
}
#: Shapes of an entry of a table, and of the optional keys of a fact
TABLE_SHAPES: Dict[str, Any] = {'libraries': str, 'files': [str]}
OPTIONAL_SHAPES: Dict[str, Any] = {
    'opened_as': [str],
    'release': str,
    'bound': str,
    'otherwise': _VARIABLES,
    'name': str,
    'only': [str],
    'setting': str,
    'inside': bool,
    'folders': _VARIABLES,
}


def matches_shape(value: Any, shape: Any) -> bool:
    """Return whether `value` has the shape (see SHAPES)."""
    if isinstance(shape, tuple):
        return any(matches_shape(value, alternative) for alternative in shape)
    if isinstance(shape, list):
        return isinstance(value, (list, tuple)) and all(
            matches_shape(item, shape[0]) for item in value
        )
    if isinstance(shape, dict):
        if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
            return False
        if str in shape:
            return all(matches_shape(item, shape[str]) for item in value.values())
        return all(
            matches_shape(value[key.rstrip('?')], item_shape)
            if key.rstrip('?') in value
            else key.endswith('?')
            for key, item_shape in shape.items()
        )
    return (
        value is None
        if shape is None
        else isinstance(value, shape)
        and (shape is not int or value is not True and value is not False)
    )


#: Folders below TmpFS that Slurm's plugin mpi/pmix creates for the ranks of a step, and in which ranks
#: of Open MPI meet; that of the PMIx server is below SlurmdSpoolDir (`scontrol show config` prints
#: both). With the user's number since Slurm 20.11, without it before
RANK_FOLDERS = [
    'spmix_appdir_{SLURM_JOB_UID}_{SLURM_JOB_ID}.{SLURM_STEP_ID}',
    'spmix_appdir_{SLURM_JOB_ID}.{SLURM_STEP_ID}',
]


def list_rank_folders(tmpfs: str) -> List[str]:
    """Return the possible folders of a step below `tmpfs`, a path or '{tmpfs}'."""
    return ['%s/%s' % (tmpfs.rstrip('/'), name) for name in RANK_FOLDERS]


_HOOK = 'github.com/sarus-suite/sarus-hooks, src/pmix/PMIxHook.cpp, 2025-10-24'

#: As seen on the workstation
PMIX_FILES: Dict[str, Dict[str, Any]] = {
    'pmix_ranks': {
        'value': list_rank_folders('{tmpfs}'),
        'why': (
            'ranks of Open MPI find each other through this folder, which Slurm\'s PMIx creates '
            'below TmpFS. Without the folder MPI_Init ends with a segmentation fault. The '
            'container has /tmp, but no other TmpFS'
        ),
        'source': 'steps of Slurm 22.05 with Open MPI 5.0.11 and --no-mount tmp, 2026-11-21; '
        + _HOOK,
        'date': '2026-11-21',
        'evidence': 'measured',
        'bound': 'step',
    },
    'pmix_server': {
        'value': ['{PMIX_SERVER_TMPDIR}'],
        'why': (
            'Slurm\'s PMIx shares memory with the ranks in this folder below SlurmdSpoolDir. With '
            'PMIX_MCA_gds=hash the ranks do not need the folder'
        ),
        'source': _HOOK,
        'date': '2026-11-21',
        'evidence': 'derived',
        'bound': 'step',
    },
}

#: The same on systems that this project has not inspected: if Slurm has the plugin, the folders exist
PMIX_FILES_DERIVED = {
    name: dict(fact, source=_HOOK + '; steps of Slurm 22.05 on a workstation', evidence='derived')
    for name, fact in PMIX_FILES.items()
}
