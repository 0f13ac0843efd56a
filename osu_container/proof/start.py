"""
Started by rank-proof on the node of a rank: python3 -I -S start.py PID DIR

A file of its own, so that Python keeps the compiled form of the rest.
"""
import os
import sys
import types

try:  # a rank is bound to its cores, and its sampler inherits that: any other core of the job will do, the rank's not
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
except OSError:  # not allowed here: then they share
    pass

HERE = os.path.dirname(os.path.realpath(__file__))
# The package without its __init__.py, which reads all that judges as well: the rank waits for this start.
package = types.ModuleType('osu_container.proof')
package.__path__ = [HERE]
sys.path.insert(0, os.path.dirname(os.path.dirname(HERE)))
sys.modules[package.__name__] = package

from osu_container.proof.sample import main

if __name__ == '__main__':
    main(int(sys.argv[1]), sys.argv[2])
