"""
The layout of the file of a rank: what each key holds.

A file may be damaged, or made by somebody else: who reads it finds each key with a value of its
type, or None.

Python 3.6 and its standard library only.
"""

#: More ranks than any machine runs in a step. A number above it is damage, and a list of them would
#: not fit in memory
MOST_RANKS = 1 << 20

#: key -> type of its value, beside None; a list and a dict of str have the type of their values
LIBRARY = dict.fromkeys(
    (
        'path',
        'where',
        'host_path',
        'family',
        'release',
        'release_from',
        'build_id',
        'sha256',
        'problem',
    ),
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
#: Keys without which nothing can be said of a rank whose MPI was found
NEEDED = ('libraries', 'node', 'rank', 'container')


def _complete_value(name, value, shape):
    """
    Return value with all keys of a shape, None for those that are missing. Raises ValueError if
    it does not fit.
    """
    kind = shape if isinstance(shape, type) else type(shape)
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
    found = {
        key: None if value.get(key) is None else _complete_value(key, value[key], below)
        for key, below in shape.items()
    }
    return dict(value, **found)


def check_proof(proof, rank):
    """
    Return a proof (dict) with all keys of the layout.

    :param rank: int, the rank of whose file it is
    Raises ValueError, with what is wrong, if a key has a value that it cannot have, or one is
    missing.
    """
    found = _complete_value('the proof', proof, PROOF)
    missing = [key for key in ('found',) + (NEEDED if found['found'] else ()) if found[key] is None]
    missing += [
        'path' for library in (found['libraries'] or {}).values() if library['path'] is None
    ]
    if missing:
        raise ValueError("the proof lacks keys: %s" % ', '.join(missing))
    if found['network'] and found['network']['layer'] not in (None, 'libfabric', 'ucx', 'mpi'):
        raise ValueError("the layer of network is %.60r" % found['network']['layer'])
    if found['rank'] not in (None, rank):
        raise ValueError("it is that of rank %d" % found['rank'])
    found.update(
        rank=rank,
        libraries=found['libraries'] or {},
        variables=found['variables'] or {},
        command=found['command'] or [],
        complete=found['complete'] is not False,
    )
    if not found['found']:
        found['reason'] = found['reason'] or 'no reason was recorded'
    return found
