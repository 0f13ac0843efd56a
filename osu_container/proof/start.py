"""
Start the sampler, which watches a rank: python3 -I -S start.py PID DIR [TOKEN]

PID is the process of the rank, and DIR is the folder for the file of the rank. Python does not cache
the bytecode of a started script. Therefore start.py is short and imports the sampler from sample.py.
"""

import os
import resource
import sys

# The sampler inherits the cores of the rank. Allow all cores, so that it does not slow the rank.
try:
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
except OSError:  # Slurm does not allow other cores
    pass

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))))
limit, file_system = (
    resource.getrlimit(resource.RLIMIT_FSIZE)[0],
    os.statvfs(os.path.dirname(os.path.realpath(__file__))),
)
if limit != resource.RLIM_INFINITY or file_system.f_bavail * file_system.f_frsize < 1 << 24:
    # Before 3.12.8 Python uses truncated bytecode files, see scripts/osu-container.
    sys.dont_write_bytecode = True

from osu_container.proof.sample import main  # noqa: E402, the lines above are needed first

if __name__ == '__main__':
    main(int(sys.argv[1]), *sys.argv[2:])
