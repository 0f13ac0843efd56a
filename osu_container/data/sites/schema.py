"""
Define the keys and value types of a site entry, which describes one software stack.

Every fact is a dict with the keys
    value      the value itself
    why        purpose of the value, or the rule from which the value follows
    source     page, file or run that shows the value, so that readers can find the value again
    date       day on which the source was read or the value was seen, in ISO 8601
    evidence   'measured' (the author of the source saw the value on such a system), 'derived' (the value follows from
               the rule in the key `why`) or 'untested'

Keys of a site
    based_on           optional: name of another entry. The other entry supplies every key that this entry lacks, and
                       every name that this entry lacks in the keys 'libraries' and 'files'
    title              description of the site
    recognised_by      dict with two keys. `hostnames`: list of regular expressions; at least one expression must match
                       the host name. `environment`: dict {environment variable: regular expression}; all
                       expressions must match, and an unset variable counts as empty
    default_approach   name of the approach that `module load osu-container` loads
    runtime            commands of the container runtime; the first command on PATH is used
    provider           libfabric provider of the high-speed network. If the system has no high-speed network: the
                       fastest libfabric provider
    network            optional: dict with `kind` (key of data/networks.py) and `drivers` (kernel drivers of the network
                       cards). Default kind: Slingshot if the provider is cxi, otherwise Ethernet
    launcher           optional: key of data/launchers.py for the launcher of the ranks; default: srun
    pmi                dict with the kind of PMI (srun's --mpi=) for each MPI: 'image' (an MPI with the MPICH ABI in the
                       image), 'host' (the host's MPI) and 'Open MPI'. An MPI without a key cannot run on
                       the system. {} if no source shows how ranks find each other
    pmi_variables      dict {kind of PMI: environment variable that this kind of PMI sets for every rank}
    slingshot          optional: release of the Slingshot Host Software (SHS) on the nodes, which includes the driver
    gpu                architecture of the GPUs, None for nodes without GPUs
    gpu_userland       optional: [oldest, newest] version of ROCm that the GPU driver of the nodes supports. The ROCm
                       of an image must be in this range
    gpu_driver         optional: version of NVIDIA's driver on the nodes, or the oldest possible version
    gpu_binding        None, or a list with a dict for each GPU: `gcd` (number), `mask` (of cores), `nic` (network card)
    libraries          host libraries that an approach may inject: dict {name: fact}. The value of the fact is the path
                       of the library on the host, or None if the host lacks the library. Optional keys of
                       the fact: `opened_as` (other file names under which programs open the library by
                       dlopen, such as ROCm's names without a version), `release` (version of libmpi,
                       libfabric or ROCm), `serves` (the only MPI function that needs the library) and `folders`. Only
                       libompi, the host's Open MPI, has the key `folders`: a dict {path below
                       /opt/host-mpi, such as 'lib/openmpi', 'lib/pmix', 'lib/ucx' or 'etc': host folder
                       with plug-ins or parameters}. Host folders that do not exist are ignored. If the
                       site has built mpi_abi_wrapper for libmpi, libmpi_abi is the wrapper's libmpi_abi.so.1,
                       and libmpiwrapper is the wrapper's libmpiwrapper.so
    glibc              optional: newest release of glibc that a library of the host may need. With this key, `check`
                       can describe the host of a site without `discover`
    libfabric_needs    sonames that the host's libfabric needs. With this key, `check` can describe the host of a site
                       without `discover`. Every site that has the key `glibc` also has this key
    library_folders    folders that the host's ld.so searches by default for libraries
    one_build          folders with libraries that come from one build. An approach that injects a library of such a
                       folder also injects the libraries of the folder that the injected library needs
    files              dict {name: fact}. The value of the fact is a list of host paths that an approach may bind-mount
                       under the same path, if the path exists. The fact's key `bound` tells when the path is
                       searched: 'install' (at the installation), 'run' (when a program starts, on the node
                       of the program; {kernel} is the version of the kernel) or 'step' (also when a program
                       starts, but on the real host even with --sysroot; {NAME} is the environment variable
                       NAME of the rank, {tmpfs} is Slurm's TmpFS; paths with an unset variable are ignored).
                       The optional key `otherwise` has the environment variables to set if no such path exists
    lnx_links          optional: value of FI_LNX_PROV_LINKS for libfabric's provider lnx (LINKx); without this key there
                       is no module osu-settings/linkx
    conflicts          modules that cannot be loaded together with the modules of this project
    family             optional: Lmod family of the modules; default: slurm_mpi. Only one module of a family can be
                       loaded at a time. A site has this key if the system has a family for similar modules
    stack              optional: the software stack, as a dict with the keys `of` (common name of all stacks of
                       the system, such as 'perlmutter'), `name` (of this stack), `variable` (name of an
                       environment variable that the system's modules set) and `values` (list of the
                       variable's values in this stack; '' if the variable is unset). A module that warns of a
                       changed host names the loaded stack
    shell              optional: environment variables that the system's modules set in a shell, as a list of dicts
                       with the keys `name` (of the variable) and `fits` (list of values). `module load`
                       warns if the variable has any other value
    variables          list of environment variables that every approach sets; data/approaches.py explains the keys of
                       each variable
    images             dict {approach: file name of the image for the approach in EasyBuild's source path}
    image_folders      folders below which the site keeps images for all users. An installation links to an image in
                       such a folder and never copies the image. If a user names an image without a
                       folder, or if the image of a module was deleted, the image is searched below
                       these folders. {NAME} at the beginning of a folder is the value of the
                       environment variable NAME; a folder with an unset variable is ignored
    images_there       optional: list of images on the system that contain osu_latency and osu_bw, as paths with
                       wildcards. `osu-container try` uses these images. The list begins with the image that is fastest
                       to read
    image_help         page that explains how to get an image for the system
    jobs               how to request a job, as a dict: `partition` (or None), `account` (True if a job must name
                       an account), `options` (of a job, may contain {nodes}), `step` (options of the
                       launcher). Optional key: `batch` (key of BATCH_SYSTEMS in data/launchers.py; default: slurm)
    native             settings of a native build, as a dict: `mpicc` and `mpicxx` (each a path on the host, or a
                       command from the modules), `libmpi`, `python`. Optional keys: `prgenv` ('amd' or
                       'gnu', Cray's programming environment), `modules`, `plugin` (name, version and
                       suffix of the easyconfig of the RCCL plugin), `configopts`, `needed` (sonames of
                       libraries that the built programs must need)
    wrapper_modules    modules that may provide the command wrap-container (easyconfig parameter `wrapper`)
    architecture       optional: architecture of the processors, as `uname -m` prints it; default: x86_64
    engine             optional: container engine of the system ('podman-hpc', 'container-engine') that cannot run the
                       images of the modules; docs/contributions has files for this engine

Host paths are the paths on the real system. In a simulation, EasyBuild's --sysroot (or ROOT in a local
file, see mpicontainer.py) names a folder with the same tree, which is prepended to all host paths.
"""

from typing import Any, Dict, List

from osu_container.data.records import SHAPE_NAMES, parse_shapes

#: Keys whose value is a dict {name: fact}; from the entry in 'based_on', missing names are taken
TABLES = ('libraries', 'files')
#: Keys of every fact; some facts also have keys of OPTIONAL_SHAPES
FACT = ('value', 'why', 'source', 'date', 'evidence')
#: Shapes in the form of parse_shapes() in data/records.py: of the value of each key's fact (`site`), of
#: the values in a table, and of the optional keys of a fact
_VALUES = parse_shapes(
    """
recognition
hostnames?: [text]
environment?: {text: text}

network
kind: text
drivers: [text]

gpu
gcd: integer
mask nic: text

stack
of name variable: text
values: [text]

variable of shell
name: text
fits: [text]

jobs
partition: text | null
account: flag
options step: [text]
batch?: text

native
mpicc mpicxx libmpi python: text
prgenv?: text
modules?: [text]
plugin?: [text] | null
configopts?: text
needed?: [text]

site
recognised_by: recognition
default_approach: text
runtime: [text]
provider: text | null
network?: network
pmi: {text: text}
pmi_variables: {text: text}
slingshot?: text
gpu: text | null
gpu_userland?: [text]
gpu_driver?: text
gpu_binding: [gpu] | null
glibc?: text
libfabric_needs?: [text]
library_folders: [text]
one_build: [text]
lnx_links?: text | null
conflicts: [text]
family?: text
stack?: stack
shell?: [variable of shell]
images: {text: text}
image_folders: [text]
images_there?: [text]
image_help: text
jobs: jobs
launcher?: text
native: native | null
wrapper_modules: [text]
architecture?: text
engine?: text

tables
libraries: text
files: [text]

fact
opened_as?: [text]
release?: text
bound?: text
otherwise?: {text: text}
name?: text
only?: [text]
setting?: text
inside?: flag
serves?: text
folders?: {text: text}
""",
    SHAPE_NAMES,
)
#: Keys that an entry may have
OPTIONAL = [key[:-1] for key in _VALUES['site'] if key.endswith('?')]
#: Keys that every entry must have, itself or through the entry on which it is based
KEYS = [
    'title',
    'variables',
    *TABLES,
    *(key for key in _VALUES['site'] if not key.endswith('?')),
]
#: Key -> shape of the value of its fact
SHAPES = {key.rstrip('?'): shape for key, shape in _VALUES['site'].items()}
#: Optional key of a fact -> shape
OPTIONAL_SHAPES = {key.rstrip('?'): shape for key, shape in _VALUES['fact'].items()}


def _build_fact_shape(shape: Any, mark: str) -> Dict[str, Any]:
    """
    Return the expected structure of a fact, for records.read_record().

    shape: the expected value under the key `value` of the fact.
    mark: '?' if the keys why, source, date and evidence of the fact are optional, otherwise ''.
    """
    return {
        **{key + mark: str for key in FACT if key != 'value'},
        'value': shape,
        **_VALUES['fact'],
    }


#: Shape of an entry. Modules print the reasons of facts in tables, of variables, and of checks of
#: the shell
ENTRY: Dict[str, Any] = {
    **{
        key: _build_fact_shape(shape, '?' * (key != 'shell?'))
        for key, shape in _VALUES['site'].items()
    },
    'title': str,
    'variables': [dict(_build_fact_shape(str, ''), name=str)],
    **{
        table: {str: (_build_fact_shape(shape, ''), None)}
        for table, shape in _VALUES['tables'].items()
    },
}

#: Folders below TmpFS that Slurm's plugin mpi/pmix creates for the ranks of a job step, and through
#: which ranks of Open MPI find each other. The folder of the PMIx server is below SlurmdSpoolDir
#: (`scontrol show config` prints TmpFS and SlurmdSpoolDir). Since Slurm 20.11 the name contains the
#: user's number.
RANK_FOLDERS = [
    'spmix_appdir_{SLURM_JOB_UID}_{SLURM_JOB_ID}.{SLURM_STEP_ID}',
    'spmix_appdir_{SLURM_JOB_ID}.{SLURM_STEP_ID}',
]


def list_rank_folders(tmpfs: str) -> List[str]:
    """
    Return the paths below `tmpfs` at which Slurm may create the PMIx folder of a job step.

    `tmpfs`: a path, or the placeholder '{tmpfs}'.
    """
    return ['%s/%s' % (tmpfs.rstrip('/'), name) for name in RANK_FOLDERS]


_HOOK = 'github.com/sarus-suite/sarus-hooks, src/pmix/PMIxHook.cpp, 2025-10-24'

#: Facts about PMIx's folders, as measured on the workstation
PMIX_FILES: Dict[str, Dict[str, Any]] = {
    'pmix_ranks': {
        'value': list_rank_folders('{tmpfs}'),
        'why': "Slurm's PMIx creates this folder below TmpFS, and ranks of Open MPI find each other "
        'through the folder. MPI_Init crashes with a segmentation fault if the folder is '
        'missing in the container. The container contains /tmp, but no other TmpFS',
        'source': 'steps of Slurm 22.05 with Open MPI 5.0.11 and --no-mount tmp, 2026-11-21; '
        + _HOOK,
        'date': '2026-11-21',
        'evidence': 'measured',
        'bound': 'step',
    },
    'pmix_server': {
        'value': ['{PMIX_SERVER_TMPDIR}'],
        'why': 'Slurm\'s PMIx shares memory with the ranks through this folder below '
        'SlurmdSpoolDir; the folder is not needed while PMIX_MCA_gds is hash',
        'source': _HOOK,
        'date': '2026-11-21',
        'evidence': 'derived',
        'bound': 'step',
    },
}

#: The same facts for systems that this project has not inspected: if Slurm has the plugin, the
#: folders exist
PMIX_FILES_DERIVED = {
    name: dict(fact, source=_HOOK + '; steps of Slurm 22.05 on a workstation', evidence='derived')
    for name, fact in PMIX_FILES.items()
}
