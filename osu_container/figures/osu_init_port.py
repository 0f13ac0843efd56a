#!/usr/bin/python3 -I
"""
Time of MPI_Init over ranks, as osu_init of the OSU Micro-Benchmarks prints it. This project's port, not the C program.

mpi4py has no port of osu_init, so this one is here; it uses the mpi4py of the ports that are installed: natively and in
the image it is found by `osu_bw` on PATH. Python is started and libmpi is loaded before the clock starts: in the C
program the loader has done the same before main().

    srun -N1 -n4 /usr/bin/python3 -I osu_init_port.py             natively, after `module load osu-native`
    srun -N1 -n4 osu-exec /usr/bin/python3 -I osu_init_port.py    in the container of a module

Printed by rank 0: the line of osu_init (whole milliseconds), then the same with fractions, and what MPI_Finalize took
on rank 0 alone, since nothing can be sent afterwards. Exit codes: 0 done, 1 no ports or no MPI.
"""
import importlib.machinery
import os
import shutil
import sys
import time


def ports():
    """Return (folder of the installed ports, module of their command). Ends the program if they are not there."""
    command = shutil.which('osu_bw')
    path = os.path.realpath(command) if command else ''
    if os.path.basename(path) != 'osu-port':
        sys.exit(f"osu_init (port): error: osu_bw on PATH is no port of mpi4py: {command}. Load a module with the "
                 "ports, or use the C program osu_init")
    loader = importlib.machinery.SourceFileLoader('osu_port', path)
    module = type(sys)('osu_port')
    module.__file__ = path
    exec(loader.get_code('osu_port'), module.__dict__)
    return os.path.dirname(os.path.dirname(path)), module


def main():
    """Start MPI, gather the times of all ranks, print, end MPI."""
    folder, port = ports()
    sys.path.insert(0, os.path.join(folder, 'lib', 'python'))
    import mpi4py
    mpi4py.rc.initialize = mpi4py.rc.finalize = False
    mpi = port.start_mpi('osu_init (port)')  # loads libmpi as the other ports do

    start = time.perf_counter()
    mpi.Init()
    taken = 1000 * (time.perf_counter() - start)

    comm = mpi.COMM_WORLD
    least, most, total = (comm.reduce(taken, op=op) for op in (mpi.MIN, mpi.MAX, mpi.SUM))
    rank, size = comm.Get_rank(), comm.Get_size()
    if rank == 0:
        average = total / size
        print(f"# osu_init: mpi4py {mpi4py.__version__} port, made by this project, not the C program of the OSU "
              "Micro-Benchmarks")
        print(f'nprocs: {size}, min: {least:.0f} ms, max: {most:.0f} ms, avg: {average:.0f} ms')
        print(f'# MPI_Init: min {least:.3f} ms, max {most:.3f} ms, avg {average:.3f} ms', flush=True)
    start = time.perf_counter()
    mpi.Finalize()
    if rank == 0:
        print(f'# MPI_Finalize on rank 0: {1000 * (time.perf_counter() - start):.3f} ms')


if __name__ == '__main__':
    main()
