"""
Start the sampler on the node of a rank: python3 -I -S start.py PID DIR [TOKEN]

This file is separate from sample.py so that Python can cache the compiled form of the rest.
"""

import os
import resource
import sys

# The sampler inherits the cores of the rank: it must not compete with the rank for them.
try:
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
except OSError:  # not allowed: then they share the cores
    pass

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))))
limit, file_system = (
    resource.getrlimit(resource.RLIMIT_FSIZE)[0],
    os.statvfs(os.path.dirname(os.path.realpath(__file__))),
)
if limit != resource.RLIM_INFINITY or file_system.f_bavail * file_system.f_frsize < 1 << 24:
    # Until Python 3.12.8 a truncated cache file is taken for complete, see scripts/osu-container.
    sys.dont_write_bytecode = True

from osu_container.proof.sample import main  # noqa: E402, the lines above are needed first

if __name__ == '__main__':
    main(int(sys.argv[1]), *sys.argv[2:])
