"""
Define the files that this project writes and reads back, check them, and keep secrets out of them.

RECORDS has the shape of the records of each file. A shape is one of these values:

    a type                       such as str; an int is not a bool
    Range(lowest, highest)       a number; a whole number if `lowest` is an int
    Time(format)                 a time as text, in a format of time.strftime()
    a regular expression         text that matches completely
    a text or a number           exactly this value, such as a version
    None                         null
    (shape, ...)                 one of several shapes
    [shape]                      a list
    {'key': shape, 'key?': ...}  a dict with these keys, of which keys that end in ? are optional;
                                 other keys can have any value
    {key shape: shape}           a dict with any keys; a dict that also lists keys has the shape for
                                 all other keys

read_record() checks a value that was read. VARIABLES names the environment variables whose values
this project records, and redact() prepares a value for an output.

This module needs only Python 3.6 and its standard library, so that it runs on any compute node.
"""

import re
import time
from typing import Any, Dict, Mapping, NamedTuple, Union

from osu_container.base.terminal import REDACTED, mask_secrets

# ---- reading ---------------------------------------------------------------------------------------------------------


class Range(NamedTuple):
    """The shape of a number with limits."""

    lowest: Union[int, float]
    highest: Union[int, float]


class Time(NamedTuple):
    """The shape of a time as text."""

    format: str


#: Names of shapes in messages
_WORDS = {
    str: 'text',
    int: 'a whole number',
    bool: 'True or False',
    list: 'a list',
    dict: 'a dict',
    None: 'None',
}


def format_shape(shape: Any) -> str:
    """Return the text for an expected shape, e.g. 'a list of text'."""
    if isinstance(shape, Range):
        kind = 'a whole number' if isinstance(shape.lowest, int) else 'a number'
        return '%s from %s to %s' % (kind, shape.lowest, shape.highest)
    if isinstance(shape, Time):
        return 'a time such as %s' % time.strftime(shape.format, time.gmtime(1764000000))
    if isinstance(shape, tuple):
        return ' or '.join(map(format_shape, shape)) or 'no such key'
    if isinstance(shape, list):
        return 'a list of %s' % format_shape(shape[0]).replace('a dict', 'dicts', 1)
    if isinstance(shape, dict):
        keys = [key for key in shape if isinstance(key, str)]
        required = [key for key in keys if not key.endswith('?')]
        names = ', '.join(sorted(required or [key[:-1] for key in keys]))
        return 'a dict with %s' % names if names else 'a dict'
    if hasattr(shape, 'pattern'):
        return 'text such as %s' % shape.pattern
    return _WORDS.get(shape) or '%r' % (shape,)


def read_record(value: Any, shape: Any, name: str = '') -> Any:
    """
    Return a copy of `value`, in which each missing optional key of a dict has the value None.

    name: key of the value in the file. Raises ValueError if `value` does not have the shape. The
    text of the error contains the key, the value and the expected shape.
    """
    if isinstance(shape, tuple) and not isinstance(shape, (Range, Time)):
        for choice in shape:
            # The error about a part of a dict or list names the key of the part.
            if isinstance(value, (dict, list)) and isinstance(choice, type(value)):
                return read_record(value, choice, name)
            if matches_shape(value, choice):
                return value
    elif isinstance(shape, dict):
        if isinstance(value, dict):
            return _read_dict(value, shape, name)
    elif isinstance(shape, list):
        if isinstance(value, (list, tuple)):
            return [
                read_record(item, shape[0], _join(name, number))
                for number, item in enumerate(value)
            ]
    elif _is_single_value(value, shape):
        return value
    text = ascii(value)
    raise ValueError(
        '%s is %s, expected: %s'
        % (
            name or 'the record',
            text if len(text) < 80 else text[:76] + ' ...',
            format_shape(shape),
        )
    )


def _join(name: str, key: object) -> str:
    return '%s.%.60s' % (name, key) if name else '%.60s' % (key,)


def _read_dict(value: Dict[str, Any], shape: Dict[Any, Any], name: str) -> Dict[str, Any]:
    other = next((key for key in shape if not isinstance(key, str)), None)
    result: Dict[str, Any] = {}
    for key, item in value.items():
        listed: Any = key if key in shape else '%s?' % (key,)
        if listed not in shape:
            listed = other
            if not _is_single_value(key, other or str):
                read_record(key, other or str, 'a key of %s' % (name or 'the record'))
        below = shape.get(listed, object)
        is_right = not isinstance(below, (dict, list)) and _is_single_value(item, below)
        result[key] = item if is_right else read_record(item, below, _join(name, key))
    for key, below in shape.items():
        if isinstance(key, str) and key.rstrip('?') not in value:
            if not key.endswith('?'):
                raise ValueError(
                    '%s is missing, expected: %s' % (_join(name, key), format_shape(below))
                )
            result[key[:-1]] = None
    return result


def _is_single_value(value: Any, shape: Any) -> bool:
    """Return whether a text, number, boolean or None has a shape without parts."""
    if isinstance(shape, Range):
        kinds = (int,) if isinstance(shape.lowest, int) else (int, float)
        return type(value) in kinds and shape.lowest <= value <= shape.highest
    if isinstance(shape, Time):
        try:
            return time.strftime(shape.format, time.strptime(value, shape.format)) == value
        except (TypeError, ValueError):
            return False
    if isinstance(shape, type):
        return isinstance(value, shape) and (shape is not int or not isinstance(value, bool))
    if hasattr(shape, 'fullmatch'):
        return isinstance(value, str) and bool(shape.fullmatch(value))
    return type(value) is type(shape) and bool(value == shape)


def matches_shape(value: Any, shape: Any) -> bool:
    """Return whether `value` has the shape `shape`."""
    try:
        read_record(value, shape)
    except ValueError:
        return False
    return True


# ---- the records of each file ----------------------------------------------------------------------------------------

_TEXT, _FLAG = (str, None), (bool, None)
#: A positive number of things; more than this is damage
_COUNT = Range(1, 10**9 - 1)
#: More ranks than a step has on any machine. A greater number means damage, and a list of that many
#: ranks would not fit into memory
_RANK = Range(0, 1 << 20)
_WHOLE = Range(0, 1 << 63)
UTC = Time('%Y-%m-%dT%H:%M:%SZ')
#: A message size in bytes, and a value in any unit: ratios and squares of values beyond the limits
#: overflow
_SIZE, FIGURE = re.compile('0|[1-9][0-9]{0,17}'), Range(1e-30, 1e30)
#: Buffers of sender and receiver, as in the arguments of the programs: H host, D device, M managed
#: memory. Collectives have one kind for all ranks, written twice; '' if there are no buffers
BUFFERS = ('H H', 'H D', 'D H', 'D D', 'M M', '')
#: Name and version of results.jsonl
RESULTS, RESULTS_VERSION = 'osu-container results', 2
#: Possible values of the key evidence of a fact
EVIDENCE = ('measured', 'derived', 'untested')
#: Versions of the file of a rank, of a host description, of the file of `osu-container try`
RANK_FORMAT = HOST_FORMAT = TRY_FORMAT = 1

_LIBRARY = {
    'path': str,
    'where?': _TEXT,
    'host_path?': _TEXT,
    'family?': _TEXT,
    'release?': _TEXT,
    'release_from?': _TEXT,
    'build_id?': _TEXT,
    'sha256?': _TEXT,
    'problem?': _TEXT,
}
_LAYER = ('libfabric', 'ucx', 'mpi', None)
_JOB = ({'job?': _TEXT, 'partition?': _TEXT, 'cluster?': _TEXT, 'nodes?': [str]}, None)
#: Equal ranks of a measurement, as judging.merge_proofs() groups ranks
_GROUP = {
    'ranks': [_RANK],
    'nodes': [str],
    'container?': _FLAG,
    'image?': _TEXT,
    'executable?': _TEXT,
    'shared?': _FLAG,
    'libraries': {str: _LIBRARY},
    'variables?': ({str: str}, None),
    'differing?': ([str], None),
    'network?': ([{'layer?': _LAYER, 'provider?': _TEXT, 'domains?': ([str], None)}], None),
    'world?': ([{'size?': (_WHOLE, None), 'pmi?': _TEXT}], None),
}
_CASE = {
    'benchmark': str,
    'buffers': BUFFERS,
    'nodes': (_COUNT, None),
    'ranks': (_COUNT, None),
    'variant': str,
    str: (),  # an unknown key would be a difference that no comparison knows
}
_RANK_FILE = {
    'format': RANK_FORMAT,
    'found': bool,
    'rank?': (_RANK, None),
    'node?': _TEXT,
    'container?': _FLAG,
    'image?': _TEXT,
    'executable?': _TEXT,
    'promise?': _TEXT,
    'run?': _TEXT,
    'reason?': _TEXT,
    'complete?': _FLAG,
    'variables?': ({str: str}, None),
    'command?': ([str], None),
    'libraries?': ({str: _LIBRARY}, None),
    'step?': ({'job?': _TEXT, 'step?': _TEXT, 'tasks?': (_RANK, None)}, None),
    'network?': (
        {
            'layer?': _LAYER,
            'provider?': _TEXT,
            'domains?': ([str], None),
            'how?': _TEXT,
            'opened?': (dict, None),
        },
        None,
    ),
    'world?': (
        {'size?': (_RANK, None), 'tasks?': (_RANK, None), 'pmi?': _TEXT, 'how?': _TEXT},
        None,
    ),
    'spaces?': ({'user?': _TEXT, 'mnt?': _TEXT}, None),
    'time?': (UTC, None),
}
_STATEMENT = {'evidence': EVIDENCE, 'source': str, 'date': str}
#: Kind of a record -> shape. The kinds run, module, measurement and end are lines of results.jsonl
RECORDS: Dict[str, Dict[Any, Any]] = {
    'run': {
        'kind': 'run',
        'format': RESULTS,
        'version': RESULTS_VERSION,
        'run': str,
        'started': UTC,
        'site': str,
        'tag?': _TEXT,
        'repeats?': (_COUNT, None),
        'command?': ([str], str, None),
        'wanted?': (
            {
                'tag': str,
                'modules': [str],
                'repeats': _COUNT,
                'patterns': [str],
                'nodes': _COUNT,
                'partition?': _TEXT,
                'account?': _TEXT,
                'run?': (
                    {
                        'words': [str],
                        'ranks': _COUNT,
                        'folder': str,
                        'figure?': _TEXT,
                        'variant': str,
                        'limit': _COUNT,
                    },
                    None,
                ),
                'check?': _FLAG,
            },
            None,
        ),
        'inputs?': ({str: str}, None),
        'project?': ({'commit?': _TEXT, 'changed?': _FLAG}, None),
        'machine?': (
            {
                'kernel?': _TEXT,
                'architecture?': _TEXT,
                'cpu?': _TEXT,
                'cores?': (_WHOLE, None),
                'memory_bytes?': (_WHOLE, None),
                'system?': _TEXT,
            },
            None,
        ),
        'versions?': ({str: _TEXT}, None),
        'slurm?': _JOB,
        'imported?': (
            [{'series': str, 'file': str, 'sha256': str, 'bytes': _WHOLE}],
            None,
        ),
        'not_said?': ([str], None),
    },
    'module': {
        'kind': 'module',
        'name': str,
        'approach': str,
        'container': bool,
        'comes_from?': ({str: str}, None),
        'variables?': ({str: str}, None),
        'module_file?': ({'path': str, 'sha256': str, 'text?': _TEXT}, None),
        'image?': ({'path': str, 'sha256': str, 'labels?': ({str: str}, None)}, None),
        'network?': ({'netmod?': _TEXT, 'provider?': _TEXT}, None),
        'problem?': _TEXT,
    },
    'measurement': {
        'kind': 'measurement',
        'module': str,
        'approach': str,
        'case': _CASE,
        'repeat': _COUNT,
        'status': ('ok', 'failed', 'skipped'),
        'reason?': _TEXT,
        'values?': ({_SIZE: FIGURE}, None),
        'unit?': _TEXT,
        'zeros?': ([_WHOLE], None),
        'programs?': _TEXT,
        'release?': _TEXT,
        'checked?': _FLAG,
        'typed?': _TEXT,
        'command?': _TEXT,
        'raw?': _TEXT,
        'errors?': _TEXT,
        'comments?': ([str], None),
        'foreign?': ([str], None),
        'broken?': ([str], None),
        'seconds?': (Range(0.0, 1e30), None),
        'started?': (UTC, None),
        'ended?': (UTC, None),
        'slurm?': _JOB,
        'proof?': ([_GROUP], None),
    },
    'end': {
        'kind': 'end',
        'ended': UTC,
        'ok?': (_WHOLE, None),
        'failed?': (_WHOLE, None),
        'skipped?': (_WHOLE, None),
    },
    # The file that the sampler writes for a rank, without and with an MPI
    'rank': dict(_RANK_FILE, found=False),
    'rank with MPI': dict(
        {
            key: shape
            for key, shape in _RANK_FILE.items()
            if key[:-1] not in ('rank', 'node', 'container', 'libraries')
        },
        found=True,
        rank=_RANK,
        node=str,
        container=bool,
        libraries={str: _LIBRARY},
    ),
    # A host description. glibc: no library of the host needs a newer glibc than the release in
    # value. names: {library: all paths on the host}, [] if the host lacks the library. there: False
    # if the library is missing; unreadable: why the file is not a library; same_as: another path of
    # the same file; soname: '' without a soname; verneed: {soname: versions}, None for unknown
    # versions (libc.so.6 stands for all libraries of glibc); functions: release of the MPI standard
    # whose functions the library has; traits: result of image/traits.py
    'host': {
        'format': HOST_FORMAT,
        'site': str,
        'node?': _TEXT,
        'machine': str,
        'glibc': (dict(_STATEMENT, value=re.compile(r'2\.\d+')), None),
        'names?': {str: [str]},
        'cached?': {str: str},
        'libraries': {
            str: [
                dict(
                    _STATEMENT,
                    **{
                        'there?': bool,
                        'unreadable?': str,
                        'same_as?': str,
                        'soname?': str,
                        'machine?': str,
                        'needed?': [str],
                        'rpath?': [str],
                        'runpath?': [str],
                        'nodeflib?': bool,
                        'verneed?': {str: ([str], None)},
                        'verdef?': [str],
                        'undefined?': {'now': [str], 'later': [str]},
                        'defined?': [str],
                        'functions?': str,
                        'traits?': {
                            'asks?': ({str: [int]}, None),
                            'api?': ([int], None),
                            'providers?': [str],
                            'pmi?': [str],
                            'opens?': [str],
                            'device?': ([str], None),
                            'folders?': ([str], None),
                        },
                    },
                )
            ]
        },
    },
}


# ---- what is recorded ------------------------------------------------------------------------------------------------

#: Shapes of the values of environment variables
_NUMBER = r'-?\d{0,12}(\.\d{1,9})?([kmgt]?i?b?|[mu]?s)|0x[\da-f]{1,16}|true|false|yes|no|on|off|[ynt]|auto|try|all|none'
_WORDS_OF_LIST = r'[\w.,:;|+^~!*/\[\]=% -]*'
_PATHS = r'(?!.*://)[\w.,:+@%=~/ -]*'
#: Names of environment variables -> shape of the value. The first pattern that matches a whole name
#: decides. These are the variables that the data of sites, approaches and launchers name, and the
#: settings of MPI, libfabric, UCX, GPUs, Slurm and PMI that decide which network a rank uses
VARIABLES = [
    (
        re.compile(r'(?:(?:APPTAINER|SINGULARITY)ENV_)?(?:%s)' % '|'.join(names.split())),
        re.compile(shape, re.I),
    )
    for names, shape in (
        (
            r'FI_PROVIDER FI_LNX_PROV_LINKS FI_CXI_(RDZV_PROTO|RX_MATCH_MODE|DEVICE_NAME) FI_MR_CACHE_MONITOR '
            r'FI_\w+_IFACE FI_LOG_LEVEL MPICH_(OFI_NIC_POLICY|SMP_SINGLE_COPY_MODE|FABRIC_ABI) '
            r'MPIR_CVAR_(CH4_NETMOD|OFI_USE_PROVIDER|DEVICE_COLLECTIVES) I_MPI_(FABRICS|OFI_PROVIDER|HYDRA_BOOTSTRAP) '
            r'(OMPI|PMIX|PRTE)_MCA_(pml|btl|mtl|osc|coll|smsc|plm|ras|gds|psec|accelerator)(_base_include)? '
            r'OMPI_MCA_\w+_(include|exclude|tls|devices|mechanism|av) UCX_TLS UCX_NET_DEVICES UCX_\w+_SCHEME '
            r'UCX_(LOG_LEVEL|IB_REG_METHODS|POSIX_USE_PROC_LINK|IB_GPU_DIRECT_RDMA) '
            r'NCCL_(NET|NET_PLUGIN|SOCKET_IFNAME|PROTO|ALGO|DEBUG|DEBUG_SUBSYS|NET_GDR_LEVEL|P2P_LEVEL|IB_HCA) '
            r'(ROCR|HIP|CUDA)_VISIBLE_DEVICES PMIX_NAMESPACE PALS_(APID|PMI) MPI4PY_MPIABI '
            r'SLURM_(MPI_TYPE|NETWORK|CLUSTER_NAME|JOB_PARTITION|DISTRIBUTION|MEM_BIND|TASKS_PER_NODE) '
            r'SLURM_(JOB_|STEP_)?NODELIST SLURM_(JOB_CPUS_PER_NODE|STEP_TASKS_PER_NODE|CPU_BIND\w*|GRES_FLAGS) '
            r'SLURM_(JOB|STEP)_GPUS SLURM_TRES_PER_TASK OSU_(PROMISE|LAUNCHER|GPU_MAP|SWAP|SHARE) '
            r'OSU_CONTAINER_APPROACH LOADEDMODULES',
            _WORDS_OF_LIST,
        ),
        (
            r'LD_LIBRARY_PATH LD_PRELOAD PATH MODULEPATH CONTAINERROOT SIF([A-Z]*MIN[A-Z]*)? MPI4PY_LIBMPI '
            r'(APPTAINER|SINGULARITY)_(BIND|BINDPATH|CONTAINER|NAME) FI_PROVIDER_PATH UCX_MODULE_DIR NCCL_TOPO_FILE '
            r'MPI_CONTAINER_IMAGE (OMPI|PMIX)_MCA_mca_base_component_path I_MPI_ROOT',
            _PATHS,
        ),
        # Slurm, PMI and the libraries give numbers and switches to all other names of these groups.
        (
            r'(MPIR_CVAR|MPICH|OMPI_MCA|PMIX_MCA|PRTE_MCA|I_MPI|UCX|NCCL|HSA|CXI|PALS|PMI|PMIX|SLURM)_\w+ '
            r'FI_(CXI|HMEM|MR|SHM|TCP|VERBS|EFA|OPX|PSM3|UNIVERSE|LNX|OFI|VERSION)_?\w* APPTAINER_\w+ SINGULARITY_\w+',
            _NUMBER,
        ),
    )
]
#: Names of variables that are recorded without a value if no pattern of VARIABLES allows the value
_NAMED = re.compile(
    r'(FI|MPIR_CVAR|MPICH|OMPI|PMIX|PMI|PRTE|I_MPI|UCX|PALS|CXI|NCCL|HSA|MPI4PY|MPI_CONTAINER|SLURM|OSU)_'
    r'|APPTAINER|SINGULARITY'
)


def select_variables(environment: Mapping[str, str]) -> Dict[str, str]:
    """
    Return the environment variables that affect MPI, the network and the launch of ranks.

    The value of a variable is REDACTED unless VARIABLES lists the name, and the value has the shape
    in VARIABLES.
    """
    return {
        name: value if _may_record(name, value) else REDACTED
        for name, value in sorted(environment.items())
        if _NAMED.match(name) or any(names.fullmatch(name) for names, _ in VARIABLES)
    }


def _may_record(name: str, value: str) -> bool:
    shape = next((shape for names, shape in VARIABLES if names.fullmatch(name)), None)
    line = '%s=%s' % (name, value)
    return bool(shape and shape.fullmatch(value)) and mask_secrets(line) == line


def redact(value: Any) -> Any:
    """
    Return a copy of JSON data without secrets, for a file or an output of this project.

    The values under the key `variables` are those of select_variables(). In all texts, and in the
    words of command lines, REDACTED replaces what terminal.mask_secrets() finds.
    """
    if isinstance(value, str):
        return mask_secrets(value)
    if isinstance(value, dict):
        return type(value)((key, _redact_item(key, item)) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        words = [redact(item) for item in value]
        for number, option in enumerate(words[:-1], 1):
            # An option and its value may be two words: ['--token', VALUE].
            if isinstance(option, str) and option[:1] == '-' and isinstance(words[number], str):
                line = '%s x' % option
                words[number] = words[number] if mask_secrets(line) == line else REDACTED
        return tuple(words) if isinstance(value, tuple) else words
    return value


def _redact_item(key: str, item: Any) -> Any:
    if key == 'variables' and matches_shape(item, {str: str}):
        return select_variables(item)
    if isinstance(item, str):
        name = '%s=' % (key,)
        return mask_secrets(name + item)[len(name) :]
    return redact(item)
