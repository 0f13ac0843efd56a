"""
NumPy and SciPy, loaded so that they keep to the limits of the shell.

Their OpenBLAS starts a thread for each core, and ends the process where `ulimit -u` or `-v` leaves no room for them;
with too little memory for its own tables it asks for them again and again, for ever (measured with 200 MB).
"""
import os
import resource

#: Bytes of address space that both take at most with one thread: 300 MB were measured
_ROOM = 400 << 20

os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')  # nothing here is so large that a second thread would help
if -1 < resource.getrlimit(resource.RLIMIT_AS)[0] < _ROOM:
    raise MemoryError(f'less than {_ROOM >> 20} MB')

import numpy as np  # noqa: E402
import scipy  # noqa: E402

__all__ = ['np', 'scipy']
