"""
Modules, srun and salloc for tests of `osu-container bench` that need neither Slurm nor a container.

ReFrame, Lmod, the proof of the ranks and the libraries that they load are the real ones. In place
of srun stands a script that starts the ranks on this machine, in place of a benchmark a program
that loads MPI and prints a table.
"""

import json
import os

from tests.proof.test_loaded import compile_libfabric, compile_mpich

SRUN = r'''#!/bin/bash
# In place of srun: the ranks of a program (-n) on this machine.
set -u
before=
for word; do [[ $before != */rank-proof ]] || export PROOFS=$word; before=$word; done
ranks=2
while [[ $1 == -* ]]; do case $1 in -n*) ranks=${1#-n} ;; esac; shift; done
echo "$*" >>"$ROOT/srun.calls"
trap 'kill "${pids[@]}" 2>/dev/null' TERM INT
pids=()
for ((rank = 0; rank < ranks; rank++)); do
    SLURM_PROCID=$rank SLURMD_NODENAME=node$((rank + 1)) "$@" & pids+=($!)
done
code=0
for pid in "${pids[@]}"; do wait "$pid" || code=$?; done
exit $code
'''
SALLOC = r'''#!/bin/bash
# In place of salloc: a job is where SLURM_JOB_ID is set.
set -u
echo "$*" >>"$ROOT/salloc.calls"
while [[ $1 == -* ]]; do shift; done
SLURM_JOB_ID=7 SLURM_JOB_PARTITION=main SLURM_JOB_NODELIST='node[1-2]' SLURM_JOB_NUM_NODES=2 exec "$@"
'''
ANSWER = r'''#!/bin/bash
# In place of squeue: answers what the file squeue.answer says, as Slurm does where all is well.
set -u
[[ ! -e $ROOT/squeue.answer ]] || . "$ROOT/squeue.answer"
echo RUNNING
'''
PROGRAM = r'''#!/usr/bin/env python3
# In place of a benchmark: loads the libraries of the module and prints a table, by the rules of what it imitates.
import ctypes, os, pathlib, sys, time
ctypes.CDLL(os.environ['LIBMPI'])
name, size = os.path.basename(sys.argv[0]), 4194304
special = pathlib.Path(os.environ['ROOT'], 'special', f"{os.environ['MODULE']}-{name}")
if '-m' in sys.argv:
    size = int(sys.argv[sys.argv.index('-m') + 1].rpartition(':')[2])
def stay():
    """Be there until the sampler has seen the libraries: how soon is for the machine to say, a benchmark runs on."""
    proof = pathlib.Path(os.environ.get('PROOFS', '/nonexistent'), f"rank-{os.environ['SLURM_PROCID']}.json")
    end = time.monotonic() + 60
    while 'PROOFS' in os.environ and time.monotonic() < end:
        if proof.exists() and '"found": true' in proof.read_text():
            break
        time.sleep(0.02)
if special.exists() and 'MPIR_CVAR_DEBUG_SUMMARY' not in os.environ:
    exec(special.read_text())
if os.environ['SLURM_PROCID'] == '0':
    if 'MPIR_CVAR_DEBUG_SUMMARY' in os.environ:
        print('libfabric provider: tcp - 127.0.0.0/8')
    print(f'# {name}: mpi4py 4.1.2 port, not the C program\n# MPI Test\n# Size [B]  Latency [us]')
    sizes = [2 ** n for n in range(23) if 2 ** n <= size]
    tail = f'{1:18.2f}' if any(word.startswith('-z') for word in sys.argv) else ''
    print('\n'.join(f'{one:<10d}{one / 2 + 1:18.2f}{tail}' for one in sizes), flush=True)
stay()
'''
PROGRAMS = ('osu_bw', 'osu_latency', 'osu_alltoall')
#: The modules: two versions of osu-native, since a program outside of a container is no
#: osu-container
MODULES = ('osu-native/1', 'osu-native/2')


def write_script(path, text):
    """Write an executable script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def make_native(root, version, site='workstation'):
    """
    Make the module osu-native/<version> below root (Path): module file, settings.json, programs,
    MPI.
    """
    folder = root / 'software' / 'osu-native' / version
    fabric = compile_libfabric(folder / 'lib' / 'libfabric.so.1', '2.5.1', (2, 5))
    compile_mpich(folder / 'lib' / 'libmpi.so.12', '5.0.2', needed=[fabric], rpath='$ORIGIN')
    for name in PROGRAMS:
        write_script(folder / 'bin' / name, PROGRAM)
    (folder / 'settings.json').write_text(
        json.dumps(
            {
                'site': site,
                'module': f'osu-native/{version}',
                'approach': 'native',
                'programs': sorted(PROGRAMS),
                'binds': [],
            }
        )
    )
    module = root / 'modules' / 'osu-native' / f'{version}.lua'
    module.parent.mkdir(parents=True, exist_ok=True)
    module.write_text(
        f'family("slurm_mpi")\nsetenv("OSU_MODULE_ROOT", "{folder}")\n'
        f'setenv("LIBMPI", "{folder}/lib/libmpi.so.12")\nprepend_path("PATH", "{folder}/bin")\n'
        f'setenv("MODULE", "{version}")\nsetenv("FI_PROVIDER", "tcp")\n'
    )
    return module


def add_program_text(root, version, program, text):
    """Let a program of a module run text (Python) before it prints its table, in measured runs."""
    path = root / 'special' / f'{version}-{program}'
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def make_environment(root):
    """Return the environment (dict) in which the modules below root can be loaded and run."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(
            ('LMOD', '_LM', '__LMOD', 'MODULE', 'LOADEDMODULES', 'SLURM_', 'SALLOC', 'RFM_')
        )
    }
    return dict(
        kept,
        ROOT=str(root),
        MODULEPATH=f'{root}/modules',
        LMOD_CMD='/usr/share/lmod/lmod/libexec/lmod',
        PATH=f"{root}/bin:{os.environ['PATH']}",
        OSU_CONTAINER_RESULTS=f'{root}/results',
    )


def make(root):
    """Make the modules MODULES, srun and salloc below root; return environment(root)."""
    for name in MODULES:
        make_native(root, name.partition('/')[2])
    write_script(root / 'bin' / 'srun', SRUN)
    write_script(root / 'bin' / 'salloc', SALLOC)
    write_script(root / 'bin' / 'squeue', ANSWER)
    return make_environment(root)
