"""
NumPy and SciPy, loaded when something is first reckoned, so that they keep to the limits of the
shell.

Their OpenBLAS starts a thread for each core, and ends the process where `ulimit -u` or `-v` leaves
no room for them; with too little memory for its own tables it asks for them again and again, for
ever (measured with 200 MB).
"""

import importlib
import os
import resource

#: Bytes of address space that both take at most with one thread: 300 MB were measured
_ROOM = 400 << 20


class LazyModule:
    """A module that is imported when it is first asked for something: --help needs none."""

    def __init__(self, name):
        """name: str, of the module."""
        self.name = name

    def __getattr__(self, name):
        """
        Return what the module has under name (str), from now on as an attribute of this one's.
        """
        os.environ.setdefault(
            'OPENBLAS_NUM_THREADS', '1'
        )  # nothing is so large that a second thread would help
        if -1 < resource.getrlimit(resource.RLIMIT_AS)[0] < _ROOM:
            raise MemoryError(f'less than {_ROOM >> 20} MB')
        vars(self)[name] = found = getattr(importlib.import_module(self.name), name)
        return found


np, scipy = LazyModule('numpy'), LazyModule('scipy')
