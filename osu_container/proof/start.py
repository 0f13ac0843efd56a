"""
Started by rank-proof on the node of a rank: python3 -I -S start.py PID DIR [NAME OF THE RUN]

A file of its own, so that Python keeps the compiled form of the rest.
"""

import os
import resource
import sys

try:  # a rank is bound to its cores, and its sampler inherits that: any other core of the job will do, the rank's not
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
except OSError:  # not allowed here: then they share
    pass

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))))
limit, room = (
    resource.getrlimit(resource.RLIMIT_FSIZE)[0],
    os.statvfs(os.path.dirname(os.path.realpath(__file__))),
)
if limit != resource.RLIM_INFINITY or room.f_bavail * room.f_frsize < 1 << 24:
    sys.dont_write_bytecode = (
        True  # one that is cut off is taken for whole until Python 3.12.8: scripts/osu-container
    )

from osu_container.proof.sample import main  # noqa: E402, the lines above are needed first

if __name__ == '__main__':
    main(int(sys.argv[1]), *sys.argv[2:])
