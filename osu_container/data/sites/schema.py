"""
What an entry of a site holds: one entry for one system with one software stack.

Every fact is a dict: value; why (what it is for); source (how it was found, so that it can be found
again); date (when that was seen or read, ISO 8601); evidence: 'measured' (seen on such a system, by
whom the source says), 'derived' (follows from a rule, which why names), 'untested'.

Keys of a site
    based_on           str, optional: the entry that has the facts which are not named here. 'libraries' and 'files' are
                       completed name by name, every other key replaces that of the other entry
    title              str, what the site is
    recognised_by      dict: hostnames (list of regular expressions, one must match) and environment (dict of variable
                       -> regular expression, all must match; an unset variable counts as empty)
    default_approach   which approach `module load osu-container` takes
    runtime            commands of the container runtime, the first one on PATH is used
    provider           libfabric provider of the fast network; on a machine without one, the best there is
    network            optional: kind (key of data/networks.py) and drivers (list of str, the kernel's, of its
                       cards); without it Slingshot where provider is cxi, else Ethernet
    launcher           optional: what starts ranks, key of data/launchers.py; without it srun
    pmi                the kind of PMI (srun's --mpi=), by whose MPI of the MPICH ABI runs ('image', 'host') and for
                       'Open MPI'; what is not named cannot run there; {} where nothing shows how
                       ranks find each other
    pmi_variables      by --mpi=: the variable that this PMI puts into the environment of every rank
    slingshot          optional: release of the Slingshot Host Software (SHS) of the nodes, with the driver of the cards
    gpu                architecture of the GPUs, None without
    gpu_userland       optional: [oldest, newest] release of ROCm in an image that the GPUs' driver works with
    gpu_driver         optional: release of NVIDIA's driver on the nodes, or the oldest that can be there
    gpu_binding        None, or by GPU a dict: gcd (int), mask (str, cores), nic (str, name of the card)
    libraries          host libraries that an approach may inject: name -> path on the host, None where it is not there;
                       opened_as: other names (str) by which libraries open it themselves (dlopen),
                       e.g. Cray MPICH and libfabric the ones of ROCm without a version; release: of
                       libmpi and libfabric; serves: the function that opens it, where nothing else
                       needs it; folders: of libompi, the host's Open MPI (libmpi.so.40): folders
                       with its plug-ins and parameters, by their place below /opt/host-mpi
                       ('lib/openmpi', 'lib/pmix', 'lib/ucx', 'etc'), bound where they are there
    library_folders    folders that the host's ld.so searches by default, for the dependencies of those libraries
    one_build          folders whose libraries are one build: if one comes from the host, so do those that it needs
    files              name -> paths that an approach may bind under their own names where they exist: bound 'install'
                       (looked for when the module is made), 'run' (on the node that runs the
                       program; {kernel} is its kernel's release) or 'step' (as 'run', and never
                       below --sysroot: {NAME} is the rank's variable NAME, {tmpfs} Slurm's TmpFS;
                       where one is not set, nothing is bound); otherwise: variables to set where
                       the path is not there
    lnx_links          optional: what libfabric's provider lnx (LINKx) links, as in FI_LNX_PROV_LINKS; without it the
                       there is no module osu-settings/linkx
    conflicts          modules that cannot be loaded beside these
    family             optional: Lmod's family of these modules, where the system has a name for modules of that kind;
                       without it slurm_mpi. Of a family one module is loaded at a time
    stack              optional: which of a system's software stacks: of (what its stacks have in common, such as
                       'perlmutter'), name, and the variable by which the system's modules tell,
                       with its values ('' is where it is not set). A module that finds its host
                       changed names the stack that is loaded
    shell              optional: what the system's modules set in a shell, list of dict: name of a variable, fits (list:
                       if it is set, it must have one of these values, or `module load` warns)
    variables          variables for every approach (see data/approaches.py for the keys)
    images             by approach: file name of the SIF, as it lies in EasyBuild's source path
    image_folders      folders below which the site keeps images for all. Such an image is linked to, never copied; one
                       named without a folder is looked for in them, also by a module whose own copy
                       was deleted. {NAME} at the beginning of one is the value of that variable;
                       without a value there is no such folder
    images_there       optional: images with osu_latency and osu_bw that lie on the system, for `osu-container try`:
                       paths with wildcards, what is read fastest first
    image_help         where to read how a machine like this comes by an image
    jobs               how a job is asked for: partition (str or None), account (bool, one must be named), options (list
                       of str, of a job; {nodes} is filled in), step (list of str, for the
                       launcher); optional: batch (key of BATCH of data/launchers.py; without it
                       slurm)
    native             what a native build uses: mpicc, mpicxx (path on the host, or a command that the modules bring),
                       libmpi, python; optional: prgenv ('amd' or 'gnu', of Cray's programming
                       environment), modules, plugin (RCCL's: name, version, suffix of an
                       easyconfig), configopts, needed (sonames that programs must need)
    wrapper_modules    modules that may have wrap-container (easyconfig parameter wrapper)
    architecture       optional: of the processors, as uname -m says it; without it x86_64
    engine             optional: a container engine of the system that cannot start modules ('podman-hpc',
                       'container-engine'); docs/contributions has files for it

Host paths are written as on the real system. EasyBuild's --sysroot (or ROOT in a local file, see
mpicontainer.py) is put in front of them, so that a folder with the same tree stands in for the
system.
"""

#: Keys that every entry has, once the entry that it is based on is added
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
#: Keys whose value is no fact
PLAIN_KEYS = TABLES + ('title', 'variables')
#: Keys of a fact; some have name, only, when, bound, otherwise or opened_as beside them
FACT = ('value', 'why', 'source', 'date', 'evidence')
#: How sure a fact is
EVIDENCE = ('measured', 'derived', 'untested')

#: What the value of a fact is like: a type; a tuple of what it may be; [like]: a list of such;
#: {str: like}: a dict by name; {'key': like}: a dict with these keys, those with a ? may be left
#: out
_VARIABLES = {str: str}
SHAPES = {
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
#: Those of an entry of a table, and of what a fact may have beside FACT
TABLE_SHAPES = {'libraries': str, 'files': [str]}
OPTIONAL_SHAPES = {
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


def matches_shape(value, shape):
    """Return whether value is like shape, of SHAPES."""
    if isinstance(shape, tuple):
        return any(matches_shape(value, one) for one in shape)
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
            matches_shape(value[key.rstrip('?')], like)
            if key.rstrip('?') in value
            else key.endswith('?')
            for key, like in shape.items()
        )
    return (
        value is None
        if shape is None
        else isinstance(value, shape)
        and (shape is not int or value is not True and value is not False)
    )


#: What Slurm's plugin mpi/pmix leaves on a node for the ranks of a step: below TmpFS the folder in
#: which ranks of Open MPI meet, below SlurmdSpoolDir that of the PMIx server (`scontrol show
#: config` prints both). With the user's number as Slurm has it since 20.11, and without it as
#: before
RANK_FOLDERS = [
    'spmix_appdir_{SLURM_JOB_UID}_{SLURM_JOB_ID}.{SLURM_STEP_ID}',
    'spmix_appdir_{SLURM_JOB_ID}.{SLURM_STEP_ID}',
]


def list_rank_folders(tmpfs):
    """
    Return the folders (list of str) of a step below tmpfs (str, a path or '{tmpfs}'), those that
    may be there.
    """
    return ['%s/%s' % (tmpfs.rstrip('/'), name) for name in RANK_FOLDERS]


_HOOK = 'github.com/sarus-suite/sarus-hooks, src/pmix/PMIxHook.cpp, 2025-10-24'

#: As seen on the workstation
PMIX_FILES = {
    'pmix_ranks': {
        'value': list_rank_folders('{tmpfs}'),
        'why': 'ranks of Open MPI meet in this folder, which Slurm\'s PMIx makes below TmpFS: without it MPI_Init ends '
        'with a segmentation fault. /tmp is in the container, another TmpFS is not',
        'source': 'steps of Slurm 22.05 with Open MPI 5.0.11 and --no-mount tmp, 2026-11-21; '
        + _HOOK,
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

#: The same on a system that nobody of this project has seen: its Slurm has the plugin, so it has
#: the folders
PMIX_FILES_DERIVED = dict(
    (name, dict(fact, source=_HOOK + '; steps of Slurm 22.05 on a workstation', evidence='derived'))
    for name, fact in PMIX_FILES.items()
)
