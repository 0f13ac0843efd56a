"""
The layout of the file of a rank: what each key holds.

A file may be damaged, or made by somebody else: who reads it finds each key with a value of its type, or None.

Python 3.6 and its standard library only.
"""

#: More ranks than any machine runs in a step. A number above it is damage, and a list of them would not fit in memory
MOST_RANKS = 1 << 20


def _count(value):
    """Return True if value is a number of ranks, or of one."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_RANKS


def _of(kind):
    """Return a function that tells if a value is of a type."""
    return lambda value: isinstance(value, kind)


def _texts(value):
    """Return True if value is a list of text."""
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _variables(value):
    """Return True if value is a dict of text."""
    return isinstance(value, dict) and all(isinstance(one, str) for one in value.values())


_TEXT = _of(str)
#: key -> what its value must be, beside None
LIBRARY = {'path': _TEXT, 'where': ('host', 'image').__contains__, 'host_path': _TEXT, 'family': _TEXT,
           'release': _TEXT, 'release_from': _TEXT, 'build_id': _TEXT, 'sha256': _TEXT, 'problem': _TEXT}
STEP = {'job': _TEXT, 'step': _TEXT, 'tasks': _count}
NETWORK = {'layer': ('libfabric', 'ucx', 'mpi').__contains__, 'provider': _TEXT, 'domains': _texts, 'how': _TEXT,
           'opened': _of(dict)}
WORLD = {'size': _count, 'tasks': _count, 'pmi': _TEXT, 'how': _TEXT}
SPACES = {'user': _TEXT, 'mnt': _TEXT}
PROOF = {'rank': _count, 'node': _TEXT, 'container': _of(bool), 'image': _TEXT, 'executable': _TEXT,
         'promise': _TEXT, 'run': _TEXT, 'reason': _TEXT, 'complete': _of(bool), 'found': _of(bool),
         'variables': _variables, 'command': _texts, 'libraries': _of(dict), 'step': _of(dict), 'network': _of(dict),
         'world': _of(dict), 'spaces': _of(dict)}
#: Parts of a proof, which have keys of their own
PARTS = {'step': STEP, 'network': NETWORK, 'world': WORLD, 'spaces': SPACES}
#: Keys without which nothing can be said: of every proof, of one whose MPI was found, of a library
NEEDED = ('found',)
NEEDED_FOUND = ('libraries', 'node', 'rank', 'container')
NEEDED_LIBRARY = ('path',)


def _filled(what, entry, keys, needed):
    """Return entry (dict) with all of keys; what: str, what it is called. Raises ValueError."""
    if not isinstance(entry, dict):
        raise ValueError("%s is no object" % what)
    missing = [key for key in needed if entry.get(key) is None]
    if missing:
        raise ValueError("%s lacks keys: %s" % (what, ', '.join(missing)))
    for key, fits in keys.items():
        value = entry.get(key)
        try:
            good = value is None or fits(value)
        except TypeError:  # a list is in no tuple of text, and cannot be looked for in one of other kinds
            good = False
        if not good:
            raise ValueError("%s of %s is %.60r" % (key, what, value))
    return dict(dict.fromkeys(keys), **entry)


def checked(proof, rank):
    """
    Return a proof (dict) with all keys of the layout.

    :param rank: int, the rank of whose file it is
    Raises ValueError, with what is wrong, if a key has a value that it cannot have, or one is missing.
    """
    found = _filled('the proof', proof, PROOF, NEEDED + (NEEDED_FOUND if proof.get('found') else ()))
    for name, keys in PARTS.items():
        if found[name] is not None:
            found[name] = _filled(name, found[name], keys, ())
    found['libraries'] = {name: _filled('library %.60s' % name, library, LIBRARY, NEEDED_LIBRARY)
                          for name, library in (found['libraries'] or {}).items()}
    if found['rank'] not in (None, rank):
        raise ValueError("it is that of rank %d" % found['rank'])
    found.update(rank=rank, variables=found['variables'] or {}, command=found['command'] or [],
                 complete=proof.get('complete', True))
    if not found['found']:
        found['reason'] = found['reason'] or 'no reason was recorded'
    return found
