# The program of images whose programs are Python's, of the pairs: what says.c does, by mpi4py. It
# asks the kernel (/proc/self/maps), nothing of this project.
import os
import sys

from mpi4py import MPI

LARGEST = 256 * 1024
world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
peer = 1 - rank
for turn in range(40 if size == 2 else 0):
    count = 8 if turn % 2 else LARGEST
    mine, other = bytearray([97 + (turn + rank) % 20]) * count, bytearray(count)
    world.Sendrecv(mine, peer, turn, other, peer, turn)
    if other != bytearray([97 + (turn + peer) % 20]) * count:
        print(f'rank {rank}: wrong data in a message of {count} bytes', file=sys.stderr)
        world.Abort(1)
with open('/proc/self/maps') as maps:
    paths = sorted({'/' + line.rstrip('\n').partition('/')[2] for line in maps if '/' in line})
for path in paths:
    if '.so' in path or '/lib' in path:
        print(f'LOADED {rank} {path}')
library = MPI.Get_library_version().replace('\n', ' ').replace('\t', ' ')
print(
    f'RANK {rank} of {size} on {os.environ.get("SLURMD_NODENAME", "")}: {library:.60}', flush=True
)
MPI.Finalize()
print(f'ENDED {rank}', flush=True)
