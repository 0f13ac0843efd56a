"""
Define the files that this project writes and reads back, check them, and keep secrets out of them.

RECORDS has the shape of the records of each file. A shape is one of these values:

    a type                       such as str; the type int accepts neither True nor False
    Range(lowest, highest)       a number; a whole number if `lowest` is an int
    Time(format)                 a time as text, in a format of time.strftime()
    a regular expression         text that matches completely
    a text or a number           exactly this value, such as a version
    None                         null
    (shape, ...)                 one of several shapes
    [shape]                      a list
    {'key': shape, 'key?': ...}  a dict with these keys. A ? at the end marks an optional key, and is
                                 not a part of the key. Other keys can have any value
    {key shape: shape}           a dict with any keys; a dict that also lists keys has the shape for
                                 all other keys

read_record() checks a value that was read. VARIABLES names the environment variables whose values
this project records, and redact() prepares a value for an output.

This module needs only Python 3.6 and its standard library, so that it runs on any compute node.
"""

import re
import time
from typing import Any, Dict, Mapping, NamedTuple, Union

from osu_container.base.terminal import REDACTED, mask_secrets, may_have_secret

# ---- reading ---------------------------------------------------------------------------------------------------------


class Range(NamedTuple):
    """A shape that allows each number from `lowest` to `highest` as the value in a record."""

    lowest: Union[int, float]
    highest: Union[int, float]


class Time(NamedTuple):
    """A shape that allows a time as text, in the `format` of time.strftime()."""

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
        return '%s from %s to %s' % (_WORDS.get(type(shape.lowest), 'a number'), *shape)
    if isinstance(shape, Time):
        return 'a time in the format %s' % shape.format
    if isinstance(shape, tuple):
        return ' or '.join(map(format_shape, shape)) or 'no such key'
    if isinstance(shape, list):
        return 'a list of %s' % format_shape(shape[0]).replace('a dict', 'dicts', 1)
    if isinstance(shape, dict):
        names = ', '.join(sorted(key.rstrip('?') for key in shape if isinstance(key, str)))
        return 'a dict with %s' % names if names else 'a dict'
    if hasattr(shape, 'pattern'):
        return 'text such as %s' % shape.pattern
    return _WORDS.get(shape) or repr(shape)


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
    """Return whether `value` matches `shape`, which is no list, dict or tuple of shapes."""
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
    """Return whether read_record() accepts `value` as a record with the types in `shape`."""
    try:
        read_record(value, shape)
    except ValueError:
        return False
    return True


# ---- the records of each file ----------------------------------------------------------------------------------------


def _list_optional(shape: Any, names: str) -> Dict[str, Any]:
    """Return {'NAME?': (shape, None)} for the words in `names`: optional keys of a dict."""
    return {name + '?': (shape, None) for name in names.split()}


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

_LIBRARIES = {
    str: dict(
        _list_optional(str, 'where host_path family release release_from build_id sha256 problem'),
        path=str,
    )
}
_LAYER = ('libfabric', 'ucx', 'mpi', None)
_JOB = dict(_list_optional(str, 'job partition cluster'), **_list_optional([str], 'nodes'))
#: Equal ranks of a measurement, as judging.merge_proofs() groups ranks
_GROUP = dict(
    ranks=[_RANK],
    nodes=[str],
    libraries=_LIBRARIES,
    **_list_optional(bool, 'container shared'),
    **_list_optional(str, 'image executable'),
    **_list_optional({str: str}, 'variables'),
    **_list_optional([str], 'differing'),
    **_list_optional(
        [dict(_list_optional(str, 'provider'), **_list_optional([str], 'domains'), layer=_LAYER)],
        'network',
    ),
    **_list_optional([{'size?': (_WHOLE, None), 'pmi?': (str, None)}], 'world'),
)
_RANK_FILE: Dict[str, Any] = dict(
    _list_optional(_RANK, 'rank'),
    format=RANK_FORMAT,
    **_list_optional(str, 'node image executable promise run reason'),
    **_list_optional(bool, 'container complete'),
    **_list_optional({str: str}, 'variables'),
    **_list_optional([str], 'command'),
    **_list_optional(_LIBRARIES, 'libraries'),
    **_list_optional(
        dict(_list_optional(str, 'job step'), **_list_optional(_RANK, 'tasks')), 'step'
    ),
    **_list_optional(
        dict(
            _list_optional(str, 'provider how'),
            **_list_optional([str], 'domains'),
            **_list_optional(dict, 'opened'),
            **{'layer?': _LAYER},
        ),
        'network',
    ),
    **_list_optional(
        dict(_list_optional(_RANK, 'size tasks'), **_list_optional(str, 'pmi how')), 'world'
    ),
    **_list_optional(_list_optional(str, 'user mnt'), 'spaces'),
    **_list_optional(UTC, 'time'),
)
_HOST = {'root': str, 'injected?': [{'path': str, 'sha256': str}]}
_UNSET = dict.fromkeys(['name', 'why', 'source', 'date', 'evidence', 'origin'], str)
_SETTING = dict(_UNSET, value=str)
_STATEMENT = {'evidence': EVIDENCE, 'source': str, 'date': str}
#: Kind of a record -> shape. The kinds run, module, measurement and end are lines of results.jsonl
RECORDS: Dict[str, Dict[Any, Any]] = {
    'run': dict(
        _list_optional(str, 'tag'),
        kind='run',
        format=RESULTS,
        version=RESULTS_VERSION,
        run=str,
        started=UTC,
        site=str,
        **_list_optional(_COUNT, 'repeats'),
        **{'command?': ([str], str, None)},
        **_list_optional(
            dict(
                _list_optional(str, 'partition account'),
                tag=str,
                modules=[str],
                repeats=_COUNT,
                patterns=[str],
                nodes=_COUNT,
                **_list_optional(bool, 'check'),
                **_list_optional(
                    dict(
                        _list_optional(str, 'figure'),
                        words=[str],
                        ranks=_COUNT,
                        folder=str,
                        variant=str,
                        limit=_COUNT,
                    ),
                    'run',
                ),
            ),
            'wanted',
        ),
        **_list_optional({str: str}, 'inputs'),
        **_list_optional({str: (str, bool, _WHOLE, None)}, 'project machine'),
        **_list_optional({str: (str, None)}, 'versions'),
        **_list_optional(_JOB, 'slurm'),
        **_list_optional(
            [dict(_list_optional(str, 'checksum'), series=str, file=str, bytes=_WHOLE)], 'imported'
        ),
        **_list_optional([str], 'not_said'),
    ),
    'module': dict(
        _list_optional(str, 'problem'),
        kind='module',
        name=str,
        approach=str,
        container=bool,
        **_list_optional({str: str}, 'comes_from variables'),
        **_list_optional(dict(_list_optional(str, 'text'), path=str, sha256=str), 'module_file'),
        **_list_optional(dict(_list_optional({str: str}, 'labels'), path=str, sha256=str), 'image'),
        **_list_optional(_list_optional(str, 'netmod provider'), 'network'),
    ),
    'measurement': dict(
        _list_optional(str, 'reason unit programs release typed command raw errors'),
        kind='measurement',
        module=str,
        approach=str,
        case={
            'benchmark': str,
            'buffers': BUFFERS,
            'nodes': (_COUNT, None),
            'ranks': (_COUNT, None),
            'variant': str,
            str: (),  # an unknown key would be a difference that no comparison knows
        },
        repeat=_COUNT,
        status=('ok', 'failed', 'skipped'),
        **_list_optional({_SIZE: FIGURE}, 'values'),
        **_list_optional([_WHOLE], 'zeros'),
        **_list_optional(bool, 'checked'),
        **_list_optional([str], 'comments foreign broken'),
        **_list_optional(Range(0.0, 1e30), 'seconds'),
        **_list_optional(UTC, 'started ended'),
        **_list_optional(_JOB, 'slurm'),
        **_list_optional([_GROUP], 'proof'),
    ),
    'end': dict(_list_optional(_WHOLE, 'ok failed skipped'), kind='end', ended=UTC),
    # The file that the sampler writes for a rank, without and with an MPI
    'rank': dict(_RANK_FILE, found=False),
    'rank with MPI': dict(
        _RANK_FILE, found=True, rank=_RANK, node=str, container=bool, libraries=_LIBRARIES
    ),
    # facts.json of an installation
    'native facts': {'host': _HOST},
    'facts': {
        'image': {
            'file': str,
            'mpi': str,
            'libfabric': str,
            'programs': dict,
            'library_path': [str],
        },
        'host': dict(_HOST, runtime={'command': str, 'name': str}),
    },
    # settings.json of an installation, which osu-explain prints
    'settings': dict(
        dict.fromkeys(['module', 'site', 'title', 'mpi', 'libfabric', 'pmi'], str),
        **dict.fromkeys(['variables', 'in_container', 'inside'], [_SETTING]),
        unset=[_UNSET],
        binds=[dict.fromkeys(['path', 'target', 'why', 'origin'], str)],
        apart=[_SETTING],
        settings={str: [_SETTING]},
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
        'node?': (str, None),
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
_WORDS_OF_LIST = r'[\w.,:;|+^~!*/()\[\]=% -]*'
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
            r'FI_(TCP|SOCKETS|VERBS|EFA)_IFACE FI_LOG_LEVEL MPICH_(OFI_NIC_POLICY|SMP_SINGLE_COPY_MODE|FABRIC_ABI) '
            r'MPIR_CVAR_(CH4_NETMOD|OFI_USE_PROVIDER|DEVICE_COLLECTIVES) I_MPI_(FABRICS|OFI_PROVIDER|HYDRA_BOOTSTRAP) '
            r'(OMPI|PMIX|PRTE)_MCA_(pml|btl|mtl|osc|coll|smsc|plm|ras|gds|psec|accelerator) '
            r'OMPI_MCA_(btl_tcp_if|oob_tcp_if|opal_common_ofi_provider|mtl_ofi_provider)_(include|exclude) '
            r'OMPI_MCA_(pml_ucx_tls|pml_ucx_devices|btl_vader_single_copy_mechanism|mtl_ofi_av) '
            r'UCX_(TLS|NET_DEVICES|RNDV_SCHEME|LOG_LEVEL|IB_REG_METHODS|POSIX_USE_PROC_LINK|IB_GPU_DIRECT_RDMA) '
            r'NCCL_(NET|NET_PLUGIN|SOCKET_IFNAME|PROTO|ALGO|DEBUG|DEBUG_SUBSYS|NET_GDR_LEVEL|P2P_LEVEL|IB_HCA) '
            r'(ROCR|HIP|CUDA)_VISIBLE_DEVICES PMIX_NAMESPACE PALS_(APID|PMI) MPI4PY_MPIABI '
            r'SLURM_(MPI_TYPE|NETWORK|DISTRIBUTION|CPU_BIND|MEM_BIND|GRES_FLAGS|TRES_PER_TASK|TASKS_PER_NODE) '
            r'OSU_(PROMISE|LAUNCHER|GPU_MAP|SWAP|SHARE|CONTAINER_APPROACH) LOADEDMODULES',
            _WORDS_OF_LIST,
        ),
        (
            r'LD_LIBRARY_PATH LD_PRELOAD CONTAINERROOT SIF([A-Z]*MIN[A-Z]*)? MPI4PY_LIBMPI OSU_MODULE_ROOT '
            r'(APPTAINER|SINGULARITY)_(BIND|BINDPATH|CONTAINER) FI_PROVIDER_PATH UCX_MODULE_DIR NCCL_TOPO_FILE '
            r'MPI_CONTAINER_IMAGE (OMPI|PMIX)_MCA_mca_base_component_path I_MPI_ROOT',
            _PATHS,
        ),
        # All other variables of these groups have numbers and switches as values.
        (
            r'(MPIR_CVAR|MPICH|OMPI_MCA|PMIX_MCA|PRTE_MCA|I_MPI|UCX|NCCL|HSA|CXI|PALS|PMI|PMIX)_\w+ '
            r'FI_(CXI|HMEM|MR|SHM|TCP|VERBS|EFA|OPX|PSM3|UNIVERSE|LNX|OFI|VERSION)\w* '
            r'SLURM_(JOB_NUM_NODES|NTASKS|CPUS_PER_TASK|GPUS_ON_NODE) '
            r'(APPTAINER|SINGULARITY)_(FAKEROOT|CLEANENV|NV|ROCM)',
            _NUMBER,
        ),
        # Only the names of these variables are recorded.
        (r'(FI|OMPI|PMIX|PRTE|MPI4PY|MPI_CONTAINER|OSU|APPTAINER|SINGULARITY)_\w+', ''),
    )
]


def select_variables(environment: Mapping[str, str]) -> Dict[str, str]:
    """
    Return the environment variables that affect MPI, the network and the launch of ranks.

    VARIABLES lists the names of these variables, and the shape of each variable's value. REDACTED
    replaces a value that does not have this shape, or that contains a secret.
    """
    selected = {}
    for name, value in sorted(environment.items()):
        shape = next((shape for names, shape in VARIABLES if names.fullmatch(name)), None)
        line = '%s=%s' % (name, value)
        if shape:
            may_record = shape.fullmatch(value) and mask_secrets(line) == line
            selected[name] = value if may_record else REDACTED
    return selected


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


def redact_line(value: Any, text: str) -> Any:
    """
    Return redact(value) for a value with the JSON text `text`.

    A text without a hint of a secret is searched only once, not once for each part of the value.
    """
    # A backslash may hide a letter of a secret from the search.
    needs_search = may_have_secret(text) or '"variables"' in text or '\\' in text
    return redact(value) if needs_search else value


def _redact_item(key: str, item: Any) -> Any:
    if key == 'variables' and matches_shape(item, {str: str}):
        return select_variables(item)
    if isinstance(item, str):
        name = '%s=' % (key,)
        return mask_secrets(name + item)[len(name) :]
    return redact(item)
