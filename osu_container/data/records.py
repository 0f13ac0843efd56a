"""
Define the files that this project writes and reads back, check them, and keep secrets out of them.

RECORDS describes the expected content of each file as a shape. A shape is one of these values:

    a type                       such as str; the type int does not accept True and False
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

parse_shapes() defines the notation in which this module and data/sites/schema.py write shapes.
read_record() checks a value that was read. VARIABLES names the environment variables whose values
this project records, and redact() prepares a value for an output.

This module needs only Python 3.6 and its standard library, so that it runs on any compute node.
"""

import json
import re
import time
from typing import Any, Dict, Mapping, NamedTuple, Union

from osu_container.base.terminal import REDACTED, mask_secrets, may_have_secret

# ---- reading ---------------------------------------------------------------------------------------------------------


class Range(NamedTuple):
    """An expected value in a file: any number from `lowest` to `highest`."""

    lowest: Union[int, float]
    highest: Union[int, float]


class Time(NamedTuple):
    """An expected value in a file: a time as text, in the `format` of time.strftime()."""

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
    """Return a description of an expected value for error messages, e.g. 'a list of text'."""
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
    Check that `value` has the structure `shape`, and return a copy of `value`.

    In the copy, each optional key that a dict lacks has the value None. name: key under which the
    file contains `value`. Raises ValueError if `value` has another structure. The text of the error
    contains the key, the value and the expected structure.
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
    """Return whether `value` is the number, the text or the null that `shape` expects."""
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
    """Return whether `value` has the structure and the types that `shape` describes."""
    try:
        read_record(value, shape)
    except ValueError:
        return False
    return True


# ---- the records of each file ----------------------------------------------------------------------------------------


def parse_shapes(text: str, names: Mapping[str, Any]) -> Dict[str, Dict[str, Any]]:
    """
    Return {name: shape} of the dicts that the paragraphs of `text` define.

    The first line of a paragraph is the name of the dict, or 'NAME < BASE' if the dict also
    has all keys of the dict BASE. Each other line has the form 'KEY KEY ...: SHAPE'. The key *
    stands for all keys that are not listed. SHAPE is a name in `names` or of an earlier paragraph,
    a value in JSON, [SHAPE], {SHAPE: SHAPE}, or several of these separated by ' | '.
    """
    all_names, shapes = dict(names), {}
    for paragraph in text.strip().split('\n\n'):
        head, *lines = paragraph.splitlines()
        name, _, base = head.partition(' < ')
        shape = all_names[name] = shapes[name] = dict(all_names.get(base, {}))
        for line in lines:
            keys, _, below = line.partition(': ')
            value = _parse_shape(below, all_names)
            shape.update((str if key == '*' else key, value) for key in keys.split())
    return shapes


def _parse_shape(text: str, names: Mapping[str, Any]) -> Any:
    if text in names:
        return names[text]
    # Text before a closing bracket belongs to an inner shape.
    parts = re.split(r' \| (?![^[{]*[]}])', text)
    if len(parts) > 1:
        return tuple(_parse_shape(part, names) for part in parts)
    if text.startswith('['):
        return [_parse_shape(text[1:-1], names)]
    if text.startswith('{'):
        key, _, below = text[1:-1].partition(': ')
        return {_parse_shape(key, names): _parse_shape(below, names)}
    return json.loads(text)


UTC = Time('%Y-%m-%dT%H:%M:%SZ')
#: A value in any unit: ratios and squares of values beyond the limits overflow
FIGURE = Range(1e-30, 1e30)
#: Buffers of sender and receiver, as in the arguments of the programs: H host, D device, M managed
#: memory. Collectives have one kind for all ranks, written twice; '' if there are no buffers
BUFFERS = ('H H', 'H D', 'D H', 'D D', 'M M', '')
#: Name and version of results.jsonl
RESULTS, RESULTS_VERSION = 'osu-container results', 2
#: Possible values of the key evidence of a fact
EVIDENCE = ('measured', 'derived', 'untested')
#: Versions of the file of a rank, of a host description, of the file of `osu-container try`
RANK_FORMAT = HOST_FORMAT = TRY_FORMAT = 1

#: Name of a shape in parse_shapes() -> shape
SHAPE_NAMES: Dict[str, Any] = {
    'text': str,
    'flag': bool,
    'integer': int,
    'dict': dict,
    'evidence': EVIDENCE,
    'utc': UTC,
    # No value fits: a record must not have the key.
    'nothing': (),
    # A positive number of things; more than this is damage
    'count': Range(1, 10**9 - 1),
    # More ranks than a step has on any machine. A greater number means damage, and a list of that
    # many ranks would not fit into memory
    'rank number': Range(0, 1 << 20),
    'whole': Range(0, 1 << 63),
    # A message size in bytes
    'size': re.compile('0|[1-9][0-9]{0,17}'),
    'figure': FIGURE,
    'seconds': Range(0.0, 1e30),
    'glibc release': re.compile(r'2\.\d+'),
    'buffers': BUFFERS,
    'results': RESULTS,
    'results version': RESULTS_VERSION,
    'rank format': RANK_FORMAT,
    'host format': HOST_FORMAT,
}
#: Dicts in the records. A group has equal ranks of a measurement, as judging.merge_proofs() groups
#: ranks
_PARTS = """
library
where? host_path? family? release? release_from? build_id? sha256? problem?: text | null
path: text

job
job? partition? cluster?: text | null
nodes?: [text] | null

networks of group
provider?: text | null
domains?: [text] | null
layer: "libfabric" | "ucx" | "mpi" | null

world of group
size?: whole | null
pmi?: text | null

group
ranks: [rank number]
nodes: [text]
libraries: {text: library}
container? shared?: flag | null
image? executable?: text | null
variables?: {text: text} | null
differing?: [text] | null
network?: [networks of group] | null
world?: [world of group] | null

step
job? step?: text | null
tasks?: rank number | null

network of rank
provider? how?: text | null
domains?: [text] | null
opened?: dict | null
layer?: "libfabric" | "ucx" | "mpi" | null

world of rank
size? tasks?: rank number | null
pmi? how?: text | null

spaces
user? mnt?: text | null

file of rank
rank?: rank number | null
format: rank format
node? image? executable? promise? run? reason?: text | null
container? complete?: flag | null
variables?: {text: text} | null
command?: [text] | null
libraries?: {text: library} | null
step?: step | null
network?: network of rank | null
world?: world of rank | null
spaces?: spaces | null
time?: utc | null

program
figure?: text | null
words: [text]
ranks: count
folder: text
variant: text
limit: count

wanted
partition? account?: text | null
tag: text
modules: [text]
repeats: count
patterns: [text]
nodes: count
check?: flag | null
run?: program | null

imported file
checksum?: text | null
series file: text
bytes: whole

module file
text?: text | null
path sha256: text

image of module
labels?: {text: text} | null
path sha256: text

network of module
netmod? provider?: text | null

case
benchmark: text
buffers: buffers
nodes ranks: count | null
variant: text
*: nothing

injected library
path sha256: text

host of facts
root: text
injected?: [injected library]

runtime
command name: text

host and runtime < host of facts
runtime: runtime

image of facts
file mpi libfabric: text
programs: dict
library_path: [text]

unset variable
name why source date evidence origin: text

setting < unset variable
value: text

bind
path target why origin: text

statement
evidence: evidence
source date: text

glibc < statement
value: glibc release

symbols
now later: [text]

traits
asks?: {text: [integer]} | null
api?: [integer] | null
providers? pmi? opens?: [text]
device? folders?: [text] | null

host library < statement
there?: flag
unreadable? same_as? soname? machine?: text
needed? rpath? runpath?: [text]
nodeflib?: flag
verneed?: {text: [text] | null}
verdef?: [text]
undefined?: symbols
defined?: [text]
functions?: text
traits?: traits
"""
#: The kinds of records. run, module, measurement and end are lines of results.jsonl. 'rank' and 'rank
#: with MPI' are the file that the sampler writes for a rank, without and with an MPI. 'facts' is
#: facts.json of an installation with a container, 'native facts' without a container. 'settings' is
#: settings.json of an installation, which osu-explain prints. 'host' is a host description:
#: glibc       no library of the host needs a newer glibc than the release in `value`
#: names       {library: all paths on the host}, [] if the host lacks the library
#: there       False if the library is missing
#: unreadable  why the file is not a library
#: same_as     another path of the same file
#: soname      '' without a soname
#: verneed     {soname: versions}, null for unknown versions (libc.so.6 stands for all libraries of
#:             glibc)
#: functions   release of the MPI standard whose functions the library has
#: traits      result of image/traits.py
#: A case must have no other key: an unknown key would be a difference that no comparison knows.
_KINDS = """
run
tag?: text | null
kind: "run"
format: results
version: results version
run: text
started: utc
site: text
repeats?: count | null
command?: [text] | text | null
wanted?: wanted | null
inputs?: {text: text} | null
project? machine?: {text: text | flag | whole | null} | null
versions?: {text: text | null} | null
slurm?: job | null
imported?: [imported file] | null
not_said?: [text] | null

module
problem?: text | null
kind: "module"
name approach: text
container: flag
comes_from? variables?: {text: text} | null
module_file?: module file | null
image?: image of module | null
network?: network of module | null

measurement
reason? unit? programs? release? typed? command? raw? errors?: text | null
kind: "measurement"
module approach: text
case: case
repeat: count
status: "ok" | "failed" | "skipped"
values?: {size: figure} | null
zeros?: [whole] | null
checked?: flag | null
comments? foreign? broken?: [text] | null
seconds?: seconds | null
started? ended?: utc | null
slurm?: job | null
proof?: [group] | null

end
ok? failed? skipped?: whole | null
kind: "end"
ended: utc

rank < file of rank
found: false

rank with MPI < file of rank
found: true
rank: rank number
node: text
container: flag
libraries: {text: library}

native facts
host: host of facts

facts
image: image of facts
host: host and runtime

settings
module site title mpi libfabric pmi: text
variables in_container inside: [setting]
unset: [unset variable]
binds: [bind]
apart: [setting]
settings: {text: [setting]}

host
format: host format
site: text
node?: text | null
machine: text
glibc: glibc | null
names?: {text: [text]}
cached?: {text: text}
libraries: {text: [host library]}
"""
RECORDS = parse_shapes(_KINDS, {**SHAPE_NAMES, **parse_shapes(_PARTS, SHAPE_NAMES)})


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

    VARIABLES lists the names of these variables, and the expected form of each value. REDACTED
    replaces a value that does not have the expected form, or that contains a secret.
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

    select_variables() processes the dicts under the key `variables`. In all texts, and in the words
    of command lines, REDACTED replaces each secret that terminal.mask_secrets() finds.
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
    Return a copy of `value` without secrets, like redact(), but in less time.

    text: `value` as JSON text. If `text` has no hint of a secret, `value` itself is returned.
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
