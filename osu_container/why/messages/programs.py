"""How a program ended, and what many programs print."""

ENTRIES = [
    {'name': "memory damaged",
     'patterns': ["double free or corruption", "glibc detected"],
     'cause': "A program or library has damaged its own memory (a write beyond the end of an array, memory freed "
              "twice), or two builds of one library are in one process. With LINKx (FI_PROVIDER=lnx): it was told "
              "to link a provider that it cannot link, such as tcp.",
     'remedy': "The same with one rank, and with the image's own libraries alone (pure), tells whether it is the "
               "program: a newer release of it, or valgrind PROGRAM. What was loaded: srun osu_container/rank-proof "
               "FOLDER PROGRAM. LINKx: unset OSU_LINKX and load the module again, or let FI_LNX_PROV_LINKS name shm "
               "and cxi alone.",
     'source': "Open MPI 5.0.11 over libfabric 2.5.1 with lnx over shm+tcp, seen by this project, 2026-11; glibc, "
               "malloc/malloc.c", 'last': True},
    {'name': "MPI stopped the job",
     'patterns': [("Fatal error in ", r"Fatal error in (?:\w+)")],
     'cause': "MPI or the program has ended the job; the lines behind say in which call.",
     'remedy': "Look at the last line of MPI's list: it is the first cause. FI_LOG_LEVEL=warn says more.",
     'source': "MPICH 4.2.3, seen by this project, 2026-11", 'last': True},
    {'name': "task killed",
     'patterns': [(" Killed", r"tasks? \S+ Killed\b"), (" Terminated", r"task \S+ Terminated\b"),
                  (" died by signal: ", r"task \d+ died by signal: (?:9|15)\b")],
     'cause': "A rank was killed from outside: memory, time, or because another rank had failed.",
     'remedy': "Look for the first error of any rank. If there is none, it was mostly memory: --mem=0, or fewer "
               "ranks.",
     'source': "Slurm 22.05, seen by this project, 2026-11", 'last': True},
    {'name': "program failed",
     'patterns': [(" Exited with exit code ", r"tasks? \S+ Exited with exit code (?P<code>\d+)"),
                  ("FAILED (non-zero exit code", r"\*\*\* STEP \S{1,40} ON \S{1,60} FAILED \(non-zero exit code"),
                  ("returned non-zero exit status ", r"returned non-zero exit status (?P<code>\d+)")],
     'cause': "A rank has ended with exit code {code}; nothing in this text that is known says why.",
     'remedy': "Look at what the program itself has printed. Exit code 127: not found, 126: not executable, 143: "
               "killed because another rank had failed.",
     'source': "Slurm 22.05, seen by this project, 2026-11", 'last': True},
    {'name': "output cut off",
     'patterns': ["the run was cut off"],
     'cause': "The benchmark has stopped before its last message size, or has printed no numbers at all.",
     'remedy': "The reason is on its other output: look at the .err file beside it.",
     'source': "osu_container/osu_output.py", 'last': True},
    {'name': "instruction of another processor",
     'patterns': ["Illegal instruction"],
     'cause': "The program was compiled for a newer processor than this node's (AVX-512, for example): where the "
              "image was built, -march=native took that machine's.",
     'remedy': "Build with -march=x86-64-v3 (LUMI, most systems) or the node's own, e.g. -march=znver3.",
     'source': "signal(7), SIGILL; github.com/lpereira/lwan, issue 346",
     'also': [("another library is at fault", "gdb -batch -ex run -ex 'x/i $pc' PROGRAM names the instruction"),
              ("the node is older than you think", "srun lscpu")]},
    {'name': "shared memory full",
     'patterns': [("us error", r"(?:Signal: |\(|tasks? \S{1,40} |signal |signal: )[Bb]us error"),
                  "nexpected bus error encountered in worker", "insufficient shared memory (shm)",
                  ("Bus error", r"(?:^|: (?:line \d+: )?(?:\d+ )?)Bus error(?: |\b)"),
                  "Error while creating shared memory segment", "NCCL WARN Call to posix_fallocate failed",
                  ("failed to extend /dev/shm/", r"failed to extend /dev/shm/\S+ to"),
                  "mmap: an error occurred while determining whether or not"],
     'cause': "A program touched memory that the system could not give it: mostly shared memory, because /dev/shm "
              "(or the folder of Open MPI's session) is full, or smaller than the ranks need. Containers of Docker "
              "have 64 MB.",
     'remedy': "df -h /dev/shm in the container, and remove what earlier runs have left there. Docker: "
               "--shm-size=2g or --ipc=host. Apptainer shows the host's, unless --contain is given.",
     'source': "mmap(2), SIGBUS; github.com/GlobalArrays/ga, issues 160 and 254",
     'also': [("a file that was mapped was cut off: a disk is full", "df -h . /tmp"),
              ("the memory that the job asked for is used up", "sacct -j JOB -o maxrss,reqmem,state")]},
    {'name': "limit of System V shared memory",
     'patterns': [(" failed: No space left", r"shmget\(.{0,200} failed: No space left")],
     'cause': "The node allows no more segments, or bytes, of System V shared memory (kernel.shmmni, shmall); "
              "earlier runs may have left theirs.",
     'remedy': "ipcs -m lists segments, ipcrm removes yours. export UCX_TLS=^sysv takes posix instead. For the "
               "administrators: sysctl kernel.shmmni=32768.",
     'source': "github.com/openucx/ucx, issues 5280 and 9347; shmget(2), ENOSPC"},
    {'name': "shared memory of Python's workers",
     'patterns': [("_multiprocessing.SemLock(",
                   r"_multiprocessing\.SemLock\((?:[^\n]{0,200}\n){1,4}?[^\n]{0,60}(?P<why>No space left on "
                   r"device|Permission denied|No such file or directory|Function not implemented|Read-only file "
                   r"system)"),
                  "normally caused by lack of access to /dev/shm"],
     'cause': "Python's multiprocessing keeps its locks in /dev/shm, and cannot: it is not there in the container, "
              "is full, or may not be written. {why}",
     'remedy': "ls -ld /dev/shm (drwxrwxrwt) and df -h /dev/shm in the same place; rm what earlier runs have left "
               "there. Apptainer: no --contain, or --bind /dev/shm. Docker: --shm-size=2g or --ipc=host. chroot: "
               "mount -t tmpfs tmpfs /dev/shm.",
     'source': "shm_overview(7), sem_overview(7); github.com/travis-ci/travis-cookbooks, issue 241"},
]
