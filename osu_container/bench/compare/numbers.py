"""
Import NumPy and SciPy at their first use, so that other commands need less memory and threads.

The OpenBLAS in both packages starts a thread per core and terminates the process if `ulimit -u`
allows no further thread or `ulimit -v` no further memory. With too little memory for its tables
OpenBLAS retries forever (measured with 200 MB).
"""

import importlib
import os
import resource
from typing import Any

#: Address space in bytes that both packages need with one thread; 300 MB were measured
_ROOM = 400 << 20


class LazyModule:
    """Import a module when the first of its attributes is read."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the module. Raises MemoryError if `ulimit -v` is too small."""
        # A second thread would not help: all arrays are small.
        os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
        if -1 < resource.getrlimit(resource.RLIMIT_AS)[0] < _ROOM:
            raise MemoryError(f'`ulimit -v` allows less than {_ROOM >> 20} MB')
        vars(self)[name] = value = getattr(importlib.import_module(self.name), name)
        return value


# Importing scipy.stats takes two seconds, scipy.special a tenth.
np, special = LazyModule('numpy'), LazyModule('scipy.special')
