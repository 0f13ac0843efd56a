"""
NumPy and SciPy, imported at their first use, so that other commands keep to the limits of the
shell.

Their OpenBLAS starts a thread per core, and ends the process if `ulimit -u` or `-v` leaves no room
for it; with too little memory for its tables it retries forever (measured with 200 MB).
"""

import importlib
import os
import resource
from typing import Any

#: Address space that both need with one thread, in bytes: 300 MB were measured
_ROOM = 400 << 20


class LazyModule:
    """A module that is imported at its first use: --help needs none."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the module and store it as an attribute of this object."""
        # A second thread would not help: all arrays are small.
        os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
        if -1 < resource.getrlimit(resource.RLIMIT_AS)[0] < _ROOM:
            raise MemoryError(f'less than {_ROOM >> 20} MB')
        vars(self)[name] = value = getattr(importlib.import_module(self.name), name)
        return value


np, scipy = LazyModule('numpy'), LazyModule('scipy')
