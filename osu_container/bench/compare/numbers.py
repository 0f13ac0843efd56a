"""
Import NumPy and SciPy at the first use, so that other commands need fewer resources.

Both packages contain OpenBLAS. OpenBLAS starts a thread for each core, and terminates the process
if `ulimit -u` allows no further thread or `ulimit -v` allows no further memory. If the memory is
too small for the tables of OpenBLAS, OpenBLAS retries forever (measured with 200 MB).
"""

import importlib
import os
import resource
from typing import Any

#: Address space in bytes that both packages need with one thread; 300 MB were measured
_ROOM = 400 << 20


class LazyModule:
    """A proxy object that imports a Python module when an attribute is first read."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> Any:
        """
        Return an attribute of the imported Python module.

        Raises MemoryError if `ulimit -v` is too small for the import.
        """
        # A second thread would not help: all arrays are small.
        os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
        if -1 < resource.getrlimit(resource.RLIMIT_AS)[0] < _ROOM:
            raise MemoryError(f'`ulimit -v` allows less than {_ROOM >> 20} MB')
        vars(self)[name] = value = getattr(importlib.import_module(self.name), name)
        return value


# Importing scipy.stats takes two seconds, scipy.special a tenth.
np, special = LazyModule('numpy'), LazyModule('scipy.special')
