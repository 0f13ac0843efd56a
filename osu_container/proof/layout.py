"""
Define and validate the keys and types of the file that the sampler writes for a rank.

The file of a rank may be damaged, or another program may have written the file. check_proof()
returns a dict with all keys of the layout. Each value in the dict has the type that the layout
requires, or is None.

This module needs only Python 3.6 and its standard library.
"""

from typing import Any, Dict

#: More ranks than a step has on any machine. A greater number means damage, and a list of that many
#: ranks would not fit into memory
MOST_RANKS = 1 << 20

#: {key: type of its value}; each value may also be None. [T] is a list and {str: T} a dict with values
#: of type T
LIBRARY = dict.fromkeys(
    [
        'path',
        'where',
        'host_path',
        'family',
        'release',
        'release_from',
        'build_id',
        'sha256',
        'problem',
    ],
    str,
)
PROOF = {
    'rank': int,
    'node': str,
    'container': bool,
    'image': str,
    'executable': str,
    'promise': str,
    'run': str,
    'reason': str,
    'complete': bool,
    'found': bool,
    'variables': {str: str},
    'command': [str],
    'libraries': {str: LIBRARY},
    'step': {'job': str, 'step': str, 'tasks': int},
    'network': {'layer': str, 'provider': str, 'domains': [str], 'how': str, 'opened': dict},
    'world': {'size': int, 'tasks': int, 'pmi': str, 'how': str},
    'spaces': {'user': str, 'mnt': str},
}
#: Keys that must have a value for a rank with an MPI
NEEDED = ('libraries', 'node', 'rank', 'container')


def _complete_value(name: str, value: Any, shape: Any) -> Any:
    """
    Return a copy of a value in which all missing keys of its layout have the value None.

    shape: part of the layout. name: name of the value in error messages. Raises ValueError if the
    value does not have the type that `shape` requires.
    """
    kind: Any = shape if isinstance(shape, type) else type(shape)
    if (
        not isinstance(value, kind)
        or kind is int
        and (isinstance(value, bool) or not 0 <= value <= MOST_RANKS)
    ):
        raise ValueError("%s is %.60r" % (name, value))
    if kind is list:
        return [_complete_value(name, each, shape[0]) for each in value]
    if kind is not dict or shape is dict:
        return value
    if str in shape:
        return {
            key: _complete_value('%.60s of %s' % (key, name), each, shape[str])
            for key, each in value.items()
        }
    completed = {
        key: None if value.get(key) is None else _complete_value(key, value[key], below)
        for key, below in shape.items()
    }
    return dict(value, **completed)


def check_proof(proof: Dict[str, Any], rank: int) -> Dict[str, Any]:
    """
    Return the content of a rank's file with all keys; missing keys get the value None.

    Raises ValueError, with the reason, if a key has an invalid value or a required key is missing.
    """
    completed = _complete_value('the proof', proof, PROOF)
    missing = [
        key for key in ('found',) + (NEEDED if completed['found'] else ()) if completed[key] is None
    ]
    missing += [
        'path' for library in (completed['libraries'] or {}).values() if library['path'] is None
    ]
    if missing:
        raise ValueError("the proof lacks keys: %s" % ', '.join(missing))
    if completed['network'] and completed['network']['layer'] not in (
        None,
        'libfabric',
        'ucx',
        'mpi',
    ):
        raise ValueError("the layer of network is %.60r" % completed['network']['layer'])
    if completed['rank'] not in (None, rank):
        raise ValueError("the file belongs to rank %d" % completed['rank'])
    completed.update(
        rank=rank,
        libraries=completed['libraries'] or {},
        variables=completed['variables'] or {},
        command=completed['command'] or [],
        complete=completed['complete'] is not False,
    )
    if not completed['found']:
        completed['reason'] = completed['reason'] or 'no reason was recorded'
    return completed
