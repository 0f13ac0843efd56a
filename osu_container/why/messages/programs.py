"""How a program ended, and what many programs print."""
from .common import SLURM

ENTRIES = [
    {'name': 'segmentation fault',
     'text': "srun: error: ...: task 0: Segmentation fault",
     'patterns': [(" Segmentation fault", r"tasks? \S+ Segmentation fault"),
                  "] Signal: Segmentation fault", "exit signal Segmentation fault", "Process received signal"],
     'cause': "A rank has crashed. With Open MPI in a container: ranks meet in a folder below Slurm's TmpFS, which "
              "the container does not show. Else often two libraries that do not fit each other.",
     'remedy': "Open MPI: the module binds that folder; with a runtime of your own, or where slurm.conf cannot be read "
               "on the node, export APPTAINER_BIND=FOLDER with what scontrol show config shows as TmpFS. Else see what "
               "was loaded: srun osu_container/rank-proof FOLDER PROGRAM.",
     'source': SLURM, 'evidence': 'measured', 'last': True},
    {'name': 'memory damaged',
     'text': "double free or corruption (out)",
     'patterns': ["double free or corruption", "malloc(): corrupted", "glibc detected",
                  "free(): invalid ", "free(): double free detected", "corrupted size vs. prev_size",
                  "corrupted double-linked list",
                  ("malloc(): ", r"malloc\(\): (?:invalid|unsorted|unaligned|memory|mism)"),
                  "realloc(): invalid", "munmap_chunk(): invalid pointer", "malloc_consolidate(): ",
                  ("sysmalloc: Assertion", "sysmalloc: Assertion"),
                  "*** buffer overflow detected ***"],
     'cause': "A program or library has damaged its own memory (a write beyond the end of an array, memory freed "
              "twice), or two builds of one library are in one process. With LINKx (FI_PROVIDER=lnx): it was told to "
              "link a provider that it cannot link, such as tcp.",
     'remedy': "The same with one rank, and with the image's own libraries alone (pure), tells whether it is the "
               "program: a newer release of it, or valgrind PROGRAM. What was loaded: srun osu_container/rank-proof "
               "FOLDER PROGRAM. LINKx: unset OSU_LINKX and load the module again, or let FI_LNX_PROV_LINKS name shm "
               "and cxi alone.",
     'source': 'Open MPI 5.0.11 over libfabric 2.5.1 with lnx over shm+tcp, seen by this project, 2026-11; '
               'glibc, malloc/malloc.c', 'evidence': 'measured', 'last': True},
    {'name': 'MPI stopped the job',
     'text': "Abort(...): Fatal error in internal_Init: Other MPI error, error stack:",
     'patterns': [("Fatal error in ", r"Fatal error in (?P<call>\w+)"),
                  "MPI_ABORT was invoked", "application called MPI_Abort"], 'last': True,
     'unless': ['rank on the other side has gone'],
     'cause': "MPI or the program has ended the job; the lines behind say in which call.",
     'remedy': "Look at the last line of MPI's list: it is the first cause. FI_LOG_LEVEL=warn says more.",
     'source': 'MPICH 4.2.3, seen by this project, 2026-11', 'evidence': 'derived'},
    {'name': 'task killed',
     'text': "srun: error: ...: task 0: Killed",
     'patterns': [(" Killed", r"tasks? \S+ Killed\b"),
                  (" Terminated", r"task \S+ Terminated\b"),
                  ("died by signal", r"task \d+ died by signal: (?:9|15)\b")], 'last': True,
     'cause': "A rank was killed from outside: memory, time, or because another rank had failed.",
     'remedy': "Look for the first error of any rank. If there is none, it was mostly memory: --mem=0, or fewer "
               "ranks.",
     'source': SLURM, 'evidence': 'derived'},
    {'name': 'program failed',
     'text': "srun: error: ...: task 0: Exited with exit code 1",
     'patterns': [(" Exited with exit code ", r"tasks? \S+ Exited with exit code (?P<code>\d+)"),
                  ("FAILED (non-zero exit code", r"\*\*\* STEP \S{1,40} ON \S{1,60} FAILED \(non-zero exit code"),
                  ("non-zero exit status", r"returned non-zero exit status (?P<code>\d+)")], 'last': True,
     'cause': "A rank has ended with exit code {code}; nothing in this text that is known says why.",
     'remedy': "Look at what the program itself has printed. Exit code 127: not found, 126: not executable, 143: "
               "killed because another rank had failed.",
     'source': SLURM, 'evidence': 'measured'},
    {'name': 'output cut off',
     'text': "the table of ... ends at ... bytes, wanted ...: the run was cut off",
     'patterns': ["the run was cut off",
                  ("no number from ", "no number from .{0,200} in .{0,200} line")], 'last': True,
     'cause': "The benchmark has stopped before its last message size, or has printed no numbers at all.",
     'remedy': "The reason is on its other output: look at the .err file beside it.",
     'source': 'osu_container/osu_output.py', 'evidence': 'measured'},
    {'name': 'instruction of another processor',
     'text': "Illegal instruction (core dumped)",
     'patterns': ["Illegal instruction", "Program Exception - illegal instruction"],
     'cause': "The program was compiled for a newer processor than this node's (AVX-512, for example): where the "
              "image was built, -march=native took that machine's.",
     'remedy': "Build with -march=x86-64-v3 (LUMI, most systems) or the node's own, e.g. -march=znver3.",
     'also': [("another library is at fault", "gdb -batch -ex run -ex 'x/i $pc' PROGRAM names the instruction"),
              ("the node is older than you think", "srun lscpu")],
     'source': 'signal(7), SIGILL; github.com/lpereira/lwan, issue 346', 'evidence': 'derived'},
    {'name': 'shared memory full',
     'text': "KILLED BY SIGNAL: 7 (Bus error)",
     'patterns': [("us error", r"(?:Signal: |\(|tasks? \S{1,40} |signal |signal: )[Bb]us error"),
                  "nexpected bus error encountered in worker", "insufficient shared memory (shm)",
                  ("Bus error", r"(?:^|: (?:line \d+: )?(?:\d+ )?)Bus error(?: |\b)"),
                  ("out of shared memory", "dataloader's workers are out of shared memory"),
                  ("/torch_", r"unable to (?:write to file|mmap|open shared memory object) </torch_[^\n]{1,80}"
                   r"(?:No space left|Cannot allocate)"),
                  ("SIGBUS", r"(?:signal|Signal|interrupted by|received|got)[^\n]{0,30}\bSIGBUS\b"),
                  ("shmget(", r"shmget\(.{0,200} failed(?!: No space left)"),
                  "Error while creating shared memory segment", "NCCL WARN Call to posix_fallocate failed",
                  ("failed to extend /dev/shm", r"failed to extend /dev/shm/\S+ to"),
                  "mmap: an error occurred while determining whether or not"],
     'cause': "A program touched memory that the system could not give it: mostly shared memory, because /dev/shm "
              "(or the folder of Open MPI's session) is full, or smaller than the ranks need. Containers of Docker "
              "have 64 MB.",
     'remedy': "df -h /dev/shm in the container, and remove what earlier runs have left there. Docker: --shm-size=2g "
               "or --ipc=host. Apptainer shows the host's, unless --contain is given.",
     'also': [("a file that was mapped was cut off: a disk is full", "df -h . /tmp"),
              ("the memory that the job asked for is used up", "sacct -j JOB -o maxrss,reqmem,state")],
     'source': 'mmap(2), SIGBUS; github.com/GlobalArrays/ga, issues 160 and 254', 'evidence': 'derived'},
    {'name': 'limit of System V shared memory',
     'text': "UCX ERROR shmget(size=... flags=0x7b0) for mm_recv_desc failed: No space left on device, ...",
     'patterns': [("shmget(", r"shmget\(.{0,200} failed: No space left")],
     'cause': "The node allows no more segments, or bytes, of System V shared memory (kernel.shmmni, shmall); earlier "
              "runs may have left theirs.",
     'remedy': "ipcs -m lists segments, ipcrm removes yours. export UCX_TLS=^sysv takes posix instead. For the "
               "administrators: sysctl kernel.shmmni=32768.",
     'source': 'github.com/openucx/ucx, issues 5280 and 9347; shmget(2), ENOSPC', 'evidence': 'derived'},
    {'name': "memory that the system does not give",
     'text': "... Cannot allocate memory / std::bad_alloc / MemoryError",
     'patterns': ["std::bad_alloc", ("MemoryError", "^MemoryError"),
                  ("numpy.core._exceptions.", r"numpy\.core\._exceptions\._?(?:ArrayMemoryError|MemoryError)"),
                  ("Unable to allocate ", r"Unable to allocate [\d.]+ [KMGTP]iB"),
                  ("mmap", r"\bmmap\b[^\n]{0,60}(?:failed|Cannot allocate memory)"),
                  ("malloc", r"\bmalloc\b[^\n]{0,60}(?:failed|Cannot allocate memory)"),
                  ("calloc", r"\bcalloc\b[^\n]{0,60}(?:failed|Cannot allocate memory)"),
                  ("failed", r"\bbrk\b[^\n]{0,60}failed"),
                  ("Cannot allocate memory", r"\bbrk\b[^\n]{0,60}Cannot allocate memory"),
                  ("fork", r"\bfork\b[^\n]{0,60}(?:failed|Cannot allocate memory)"), "ENOMEM",
                  ("cannot allocate ", "cannot allocate (?:vector of (?:size|length)|buffer|memory block)"),
                  ("OutOfMemoryError", r"java\.lang\.OutOfMemoryError"),
                  ("Error allocating ", r"^Error allocating \d+ bytes"),
                  "Cannot allocate array - overflow on array size", "insufficient memory for the Java Runtime",
                  ("errno", r"errno[ =:]+12\b"), ("insufficient virtual memory", "insufficient virtual memory"),
                  ("Allocation ", r"Allocation (?:would exceed|of \S{1,20} failed)")],
     'unless': ["out of memory", "NCCL stopped"],
     'cause': "The system gave the program no more memory: the job, the node or a limit (ulimit -v, a cgroup) has no "
              "more.",
     'remedy': "sacct -j JOB -o maxrss,reqmem; ask for more (--mem=0 is all of the node), fewer ranks a node, or a "
               "smaller case. srun bash -c 'ulimit -a; free -g'.",
     'source': "malloc(3), ENOMEM", 'evidence': 'derived', 'general': 1},
    {'name': "quota used up",
     'text': "Disk quota exceeded",
     'patterns': [("isk quota exceeded", "[Dd]isk quota exceeded"), "EDQUOT",
                  ("quota", r"exceeding \w{1,20} quota\b"),
                  ("failed with -122", r"operation \w{1,30}_\w{1,30}[^\n]{0,60} failed with -122"),
                  ("quota ", r"quota (?:limit|exceeded)[^\n]{0,60}"), ("over ", "over (?:your )?quota")],
     'cause': "Your quota of bytes or of files on that file system is used up: the cache of images "
              "(~/.apptainer/cache, ~/.singularity), pip and conda in the home folder are the usual ones.",
     'remedy': "lfs quota -hu $USER FOLDER or quota -s (LUMI: lumi-workspaces) shows both. apptainer cache clean; "
               "export APPTAINER_CACHEDIR and APPTAINER_TMPDIR (SINGULARITY_...) to a folder of the project.",
     'source': "Apptainer user guide, Build environment, cache", 'evidence': 'derived'},
    {'name': "file system in trouble",
     'text': "... Input/output error / Transport endpoint is not connected / Cannot send after transport endpoint "
             "shutdown",
     'patterns': ["Transport endpoint is not connected", "Cannot send after transport endpoint shutdown",
                  (": Input/output error", r"(?:\S{1,200}): Input/output error"),
                  ("LustreError", r"LustreError[^\n]{0,150}"),
                  ("] Input/output error", r"Errno 5\] Input/output error"), "sqlite3.OperationalError: disk I/O error",
                  ("Remote", r"Remote[^\n]{0,10}(?:I/O error|needs cleaning)"),
                  "Structure needs cleaning", "Communication error on send",
                  ("Host is down", r"\bHost is down\b")],
     'unless': ["message over EFA that failed",
                "card that does not answer its driver",
                "read of another completion failed",
                "GPU library that libfabric does not find",
                "image damaged",
                "image mounted in vain",
                "memory that the card cannot take",
                "no endpoint on the card",
                "no provider"],
     'cause': "A file system (Lustre, NFS, FUSE, a disk) did not answer or has lost this node.",
     'remedy': "The same on another node (srun --exclude=NODE) tells. ls of the folder; tell the administrators. A "
               "FUSE mount (squashfuse, sshfs) that died: fusermount -u FOLDER.",
     'source': "errno(3), EIO, ENOTCONN, ESHUTDOWN", 'evidence': 'derived', 'general': 1},
    {'name': "file that the Fortran program cannot read or write",
     'text': "forrtl: severe (29): file not found, unit 10, file /home/me/in.dat",
     'patterns': [("forrtl: severe (", r"forrtl: severe \((?:9|2[1-9]|3[0-9]|4[2-9]|5[0-9]|6[0-9])\): (?P<why>[^\n]"
                   "{1,200})"), ("forrtl: ", "forrtl: (?P<why>No such file or directory|Permission denied)"),
                  ("Fortran runtime error: ", r"Fortran runtime error: (?P<other>[^\n]{1,200})"),
                  (" : UNRECOVERABLE library error", r"lib-(?P<third>\d{4}) : UNRECOVERABLE library error")],
     'cause': "The program, in Fortran, cannot open, read or write a file, or does not understand what is in it: "
              "{why}{other}{third}",
     'remedy': "ls -l the file in the same place (in the container, on the node); a full disk or quota (df -h, quota "
               "-s) ends it likewise. Input from < FILE goes to all ranks with srun, to rank 0 alone with mpirun: name "
               "the file as an argument, or srun --input=0.",
     'source': "Intel Fortran, run-time errors; gfortran, runtime messages", 'evidence': 'derived', 'general': 2},
    {'name': "right to a file missing",
     'text': "... Permission denied",
     'patterns': [("ermission denied", "[Pp]ermission denied"), "EACCES", "PermissionError"],
     'cause': "You may not read, write or start this file or folder, or not here: in a container an image is "
              "read-only, root of a container is you, and folders of other projects stay closed.",
     'remedy': "ls -ld of the file and of each folder above it; id in the same place. A script needs chmod +x; a disk "
               "mounted noexec (findmnt -T FOLDER) starts nothing. SELinux or root-squash of NFS can forbid it too "
               "(ls -Z).",
     'source': "errno(3), EACCES", 'evidence': 'derived', 'general': 2},
    {'name': "file that is not there",
     'text': "... No such file or directory",
     'patterns': [("o such file or directory", "[Nn]o such file or directory"), "FileNotFoundError", "ENOENT"],
     'cause': "A file or folder is not there, or not there in the container or on that node: what is not bound (home, "
              "project, scratch) does not exist inside.",
     'remedy': "ls it in the same place: srun apptainer exec IMAGE ls -l FILE. --bind FOLDER (APPTAINER_BIND, "
               "SINGULARITY_BIND) brings it in. If the file is there: the interpreter in its first line, or a library "
               "that it needs, is not.",
     'unless': ["names of GPUs of AMD not there"],
     'source': "execve(2), ENOENT; github.com/RemiAllio/MitoFinder, issue 34", 'evidence': 'derived', 'general': 2},
    {'name': "program that is not on PATH",
     'text': "bash: foo: command not found",
     'patterns': [(": command not found", r"(?P<command>[\w.+/-]{1,80}): command not found"),
                  (": not found", r"(?:: line \d+|\b(?:sh|dash|ash): (?:line )?\d+|(?:^|[\s:>])(?:/bin/)?(?:sh|dash|"
                   "ash))"
                   r": (?P<command>[\w.+/-]{1,80}): not found")],
     'unless': ["unknown command of Slurm",
                "mpirun that is not there",
                "module command not there",
                "runtime that is not there"],
     'cause': "{command} is not on PATH there: its module is not loaded, it is not in the image, or a container has "
              "another PATH than the host.",
     'remedy': "which NAME in the same place; call it by its whole path. In a container the image's PATH counts: "
               "apptainer exec IMAGE sh -c 'echo $PATH'.",
     'source': "bash(1), EXIT STATUS", 'evidence': 'derived', 'general': 1},
    {'name': "address of another computer not reached",
     'text': "... Connection refused / No route to host / Connection timed out / Name or service not known",
     'patterns': [("Connection refused", "(?P<why>Connection refused)"),
                  ("No route to host", "(?P<why>No route to host)"),
                  ("Connection timed out", "(?P<why>Connection timed out)"),
                  ("Network is unreachable", "(?P<why>Network is unreachable)"),
                  ("Name or service not known", "(?P<why>Name or service not known)"),
                  ("Temporary failure in name resolution", "(?P<why>Temporary failure in name resolution)"),
                  ("Connection reset by peer", "(?P<why>Connection reset by peer)")],
     'cause': "Another computer or program did not answer: {why}. 'refused': nothing listens there; 'timed out' and "
              "'no route': a firewall, a wrong address or a node that is down; 'not known' and 'resolution': its "
              "name; 'reset': the other side has ended.",
     'remedy': "getent hosts NAME, ping NAME and nc -z NAME PORT from the node and from the container. Compute nodes "
               "often have no way to the internet.",
     'source': "errno(3), connect(2)", 'evidence': 'derived', 'general': 2},
    {'name': "Python package not there",
     'text': "ModuleNotFoundError: No module named 'foo'",
     'patterns': [(": No module named ", "(?:ModuleNotFoundError|ImportError): No module named '?(?P<name>["
                   r"\w.]{1,60})")],
     'unless': ["mpi4py not installed", "Python packages that do not fit each other", "Python without its own files",
                "Python built in part"],
     'cause': "The Python that runs has no package {name}: it is another Python than the one it was installed for, or "
              "the image lacks it.",
     'remedy': "which python; python -c 'import sys; print(sys.path)'. In a container a virtual environment of your "
               "own (docs/mpi4py.md), or PYTHONPATH; with --contain and --cleanenv ~/.local and PYTHONPATH are not "
               "seen.",
     'source': "docs.python.org, ModuleNotFoundError", 'evidence': 'derived', 'general': 1},
    {'name': "Python packages that do not fit each other",
     'text': "ImportError: numpy.core.multiarray failed to import / numpy.ndarray size changed, may indicate binary "
             "incompatibility",
     'patterns': [("numpy.core.multiarray failed to import", r"numpy\.core\.multiarray failed to import"),
                  ("may indicate binary incompatibility", "may indicate binary incompatibility"),
                  ("compiled using NumPy 1.x cannot be run in", r"compiled using NumPy 1\.x cannot be run in"),
                  ("A module that was compiled using NumPy", "A module that was compiled using NumPy"),
                  ("_multiarray_umath", r"No module named '?numpy\.\w{1,10}\._multiarray_umath"),
                  ("cannot import name ", r"cannot import name '?(?P<name>\w{1,60})")],
     'cause': "A package was compiled for another NumPy or Python than the one that is loaded: often ~/.local of your "
              "home comes into the container.",
     'remedy': "export PYTHONNOUSERSITE=1 (or --no-home); pip list shows what is there; pip install --force-reinstall "
               "of the one that is named, in an environment of its own.",
     'source': "numpy.org, Troubleshooting ImportError", 'evidence': 'derived', 'general': 1},
    {'name': "signal that ended a program",
     'text': "Aborted (core dumped) / Floating point exception / Terminated",
     'patterns': [("Aborted", r"(?P<what>Aborted)(?: +\(core dumped\)| {2,}\S)"),
                  ("Floating point exception", r"(?P<what>Floating point exception)(?: +\(core dumped\)| {2,}\S)"),
                  ("Killed", r"(?P<what>Killed)(?: +\(core dumped\)| {2,}\S)"),
                  ("Terminated", r"(?P<what>Terminated)(?: +\(core dumped\)| {2,}\S)"),
                  ("Bus error", r"(?P<what>Bus error)(?: +\(core dumped\)| {2,}\S)"),
                  ("Quit", r"(?P<what>Quit)(?: +\(core dumped\)| {2,}\S)"),
                  ("Hangup", r"(?P<what>Hangup)(?: +\(core dumped\)| {2,}\S)"),
                  ("process killed", r"forrtl: error \(78\): (?P<what>process killed)"),
                  ("Trace/breakpoint trap", "(?P<what>Trace/breakpoint trap)"),
                  ("User defined signal", r"^(?P<what>User defined signal \d)"),
                  ("Hangup", "^(?P<what>Hangup)$"), ("Fatal Python error: ", "Fatal Python error: (?P<what>Aborted)"),
                  ("Abort trap signal", r"forrtl: error \(76\): (?P<what>Abort trap signal)"),
                  ("process interrupted", r"forrtl: error \(69\): (?P<what>process interrupted)"),
                  (": task", r": tasks? \S{1,60}: (?P<what>Floating point exception|Aborted|Hangup|Quit|User defined "
                   r"signal \d|Interrupt|Trace/breakpoint trap)"),
                  ("CPU time limit exceeded", "(?P<what>CPU time limit exceeded)"),
                  ("terminate called ", r"terminate called (?:after throwing an instance of '(?P<what>[^'\n]{1,80})'"
                   "|without an active exception)"),
                  (" Killed ", r"line \d+: +\d+ (?P<what>Killed) "), ("Killed", "^(?P<what>Killed)$"),
                  ("Terminated", "^(?P<what>Terminated)$"), ("Aborted", "^(?P<what>Aborted)$")],
     'cause': "A program was ended by a signal: {what}. Killed is mostly memory, Terminated another program (scancel, "
              "time), Aborted an error that the program told before, Floating point exception a division by "
              "zero.",
     'remedy': "Look at the lines before it. Memory: sacct -j JOB -o maxrss,state, dmesg. A core file or ulimit -c "
               "unlimited and gdb PROGRAM core tell where.",
     'source': "signal(7), manual", 'evidence': 'derived', 'last': True},
    {'name': "stack too small",
     'text': "stack overflow / ulimit -s",
     'patterns': [("tack ", r"[Ss]tack (?:overflow|smashing|size)[^\n]{0,60}(?:detected|exceeded|exhausted|overflow"
                   "|limit)"), ("stack smashing detected", "stack smashing detected"),
                  ("OMP: Error", "OMP: Error #34: ")],
     'cause': "A thread or rank has used more stack than it has, or has written over it.",
     'remedy': "ulimit -s unlimited in the job script, export OMP_STACKSIZE=512M.",
     'source': "getrlimit(2), RLIMIT_STACK; OpenMP, OMP_STACKSIZE", 'evidence': 'derived', 'general': 1},
    {'name': "folder removed under the shell",
     'text': "shell-init: error retrieving current directory: getcwd: cannot access parent directories: No such file "
             "or directory",
     'patterns': ["error retrieving current directory",
                  ("getcwd", r"getcwd(?:\(\))? (?:failed|error)|getcwd: cannot access parent directories"),
                  ("getcwd", r"os\.getcwd\(\)\n?[^\n]{0,40}(?:FileNotFoundError|No such file)"),
                  "Job cannot be submitted without the current working directory"],
     'unless': ["stale file handle"],
     'cause': "The folder that the shell stands in was removed, or made anew, while it stood there, or it is not there "
              "(not bound, not mounted, closed to you) in the container or on the node.",
     'remedy': "cd to a folder that is there (cd; cd - enters the new one), and submit again. In a container: --pwd /, "
               "or --bind the folder; in a job --chdir=FOLDER.",
     'source': "getcwd(3), ENOENT; github.com/alphagov/govuk-puppet, pull request 5050", 'evidence': 'measured'},
    {'name': "program ended by a signal, seen from outside",
     'text': "Process finished with exit code 139 (interrupted by signal 11: SIGSEGV)",
     'patterns': [("interrupted by signal", r"exit code \d+ \(interrupted by signal (?P<signal>\d+)"),
                  ("xit code", r"[Ee]xit code\W{1,4}(?P<code>137|139|13[456]|143)\b"),
                  ("killed by signal ", r"exit status of rank \d+: killed by signal (?P<killed>\d+)"),
                  ("Command terminated by signal ", r"Command terminated by signal (?P<killed>\d+)"),
                  ("Caught signal number ", r"PETSC ERROR: Caught signal number (?P<signal>\d+)"),
                  ("*** caught ", r"\*\*\* caught (?P<killed>segfault) \*\*\*"),
                  (") at pc=", r"^# {1,3}(?P<killed>SIG\w{2,5}) \(0x\w+\) at pc="),
                  ("eceived signal 15", "[Rr]eceived signal (?P<signal>15)"),
                  ("signal (15)", r"signal \((?P<signal>15)\): Terminated"),
                  ("Exited with signal termination: ", r"Exited with signal termination: (?P<signal>\d+)"),
                  ("WTERMSIG ", r"_job_complete: JobId=\S{1,30} WTERMSIG (?P<signal>\d+)"),
                  ("died by signal: ", r"task \d+ died by signal: (?P<signal>\d+)"),
                  ("exited on", r"exited on\s{1,3}signal (?P<on>\d+) \("),
                  ("xit status", r"[Ee]xit status\W{1,4}(?P<status>137|139|13[456]|143)\b")],
     'unless': ["rank killed", "rank crashed", "program failed", "signal that ended a program", "task killed"],
     'cause': "The program was ended by a signal ({signal}{code}{status}{killed}{on}): 9 (code 137) is mostly memory, "
              "15 (143) scancel or the time limit, 11 (139) a crash, 6 (134) an abort after an error, 7 (135) a bus "
              "error.",
     'remedy': "sacct -j JOB -o jobid,state,exitcode,maxrss,reqmem tells memory from time; for a crash the lines "
               "before, and gdb PROGRAM core with ulimit -c unlimited.",
     'source': "signal(7); bash(1), EXIT STATUS", 'evidence': 'derived', 'last': True},
    {'name': "two OpenMP libraries",
     'text': "OMP: Error #15: Initializing libiomp5.so, but found libomp.so already initialized.",
     'patterns': [("OMP: Error", r"OMP: Error #15: Initializing (?P<one>[^\s,]{1,80}), but found (?P<two>\S{1,80})"),
                  ("is incompatible with libgomp", r"MKL_THREADING_LAYER=INTEL is incompatible with libgomp\S*")],
     'cause': "Two libraries for threads (OpenMP of Intel, LLVM, GNU) are in one process: packages of conda and of "
              "pip, or of a module, are mixed. {one} {two}",
     'remedy': "All of them from one place: conda install ... nomkl, or pip alone in a fresh environment; import numpy "
               "before torch. export MKL_THREADING_LAYER=GNU for MKL; KMP_DUPLICATE_LIB_OK=TRUE lets it go on, with "
               "wrong results possible.",
     'source': "Intel, MKL, threading layer; LLVM OpenMP, messages", 'evidence': 'derived'},
    {'name': "OpenMP without /dev/shm",
     'text': "OMP: Error #178: Function Can't open SHM failed:",
     'patterns': [("OMP: Error", r"OMP: Error #179?\d?: Function (?:Can't open SHM|\w*pthread\w*|shm_open)"),
                  ("Can't open SHM", "Can't open SHM")],
     'cause': "The OpenMP library marks itself in /dev/shm (or /tmp), and may not write there: it is not in the "
              "container, is full, or has a file of another user.",
     'remedy': "ls -ld /dev/shm (drwxrwxrwt) in the container; --bind /dev/shm; rm /dev/shm/__KMP_REGISTERED_LIB_* of "
               "yours.",
     'source': "LLVM OpenMP, runtime/src/kmp_runtime.cpp", 'evidence': 'derived'},
    {'name': "MKL that does not find its parts",
     'text': "Intel MKL FATAL ERROR: Cannot load libmkl_avx2.so or libmkl_def.so.",
     'patterns': [("MKL FATAL ERROR", r"MKL FATAL ERROR: (?:Cannot load|Error on loading) (?:function )?(?P<what>[^\n]"
                   "{1,100})"), ("MKL ERROR", r"INTEL MKL ERROR: (?P<why>[^\n]{1,120})")],
     'cause': "MKL opens its libraries for this processor while it runs, and does not find them, or finds those of "
              "another release. {what} {why}",
     'remedy': "unset LD_PRELOAD and LD_LIBRARY_PATH to other MKLs; source setvars.sh, or load one module of MKL; "
               "conda install mkl of one release for all packages. Linked by hand: libmkl_rt alone, or all by -Wl,"
               "--no-as-needed.",
     'source': "Intel, MKL link line advisor", 'evidence': 'derived'},
    {'name': "Python without its own files",
     'text': "Fatal Python error: init_fs_encoding: ... ModuleNotFoundError: No module named 'encodings'",
     'patterns': ["Could not find platform independent libraries <prefix>",
                  ("No module named ", r"No module named '?encodings\b"),
                  ("Fatal Python error: ", "Fatal Python error: (?:init_fs_encoding|initfsencoding|Py_Initialize)")],
     'cause': "Python searches its own files in a wrong folder: PYTHONHOME (or PYTHONPATH) of the host's module or of "
              "conda came into the container, or its installation is incomplete there.",
     'remedy': "unset PYTHONHOME PYTHONPATH, or apptainer exec --cleanenv; python -c 'import sys; print(sys.prefix)'. "
               "If its files lie outside of what is bound: --bind that folder.",
     'source': "docs.python.org, PYTHONHOME", 'evidence': 'derived'},
    {'name': "Python built in part",
     'text': "ModuleNotFoundError: No module named '_ctypes'",
     'patterns': [("No module named ", r"No module named '?(?P<name>_ctypes|_ssl|_sqlite3|_bz2|_lzma|_tkinter|"
                   r"_hashlib|readline|_curses)'?"),
                  "because the SSL module is not available"],
     'cause': "This Python was built on a system that lacked the library behind the module {name}.",
     'remedy': "Install its -dev package (libffi, OpenSSL, SQLite, bzip2, xz, tk) and build Python again, or take the "
               "Python of the distribution, of a module or of conda.",
     'source': "docs.python.org, Using Python on Unix, Building", 'evidence': 'derived'},
    {'name': "call of the system forbidden",
     'text': "Bad system call (core dumped)",
     'patterns': [("Bad system call", r"\bBad system call\b"), ("SIGSYS", r"\bSIGSYS\b")],
     'cause': "A filter (seccomp of Docker, podman or Apptainer) forbids a call of the system that the program makes, "
              "or the kernel of the node does not have it.",
     'remedy': "Docker, podman: --security-opt seccomp=unconfined, and a newer runtime. Apptainer: leave out "
               "--security seccomp:... dmesg | grep -i seccomp on the node names the call.",
     'source': "seccomp(2), SIGSYS", 'evidence': 'derived'},
    {'name': "file too large",
     'text': "File size limit exceeded (core dumped)",
     'patterns': [("File size limit exceeded", r"\bFile size limit exceeded\b"), ("File too large", r"\bFile too "
                  r"large\b"), ("SIGXFSZ", r"\bSIGXFSZ\b")],
     'cause': "A file became larger than the limit of the shell (ulimit -f) or than the file system takes.",
     'remedy': "ulimit -f unlimited; df -T of the folder: FAT, some /tmp and old quotas end at 2 or 4 GB; on Lustre "
               "lfs setstripe -c 8 FOLDER for very large files.",
     'source': "setrlimit(2), RLIMIT_FSIZE; write(2), EFBIG", 'evidence': 'derived'},
    {'name': "file in use",
     'text': "bash: ./a.out: Text file busy / rm: cannot remove '.nfs0001': Device or resource busy",
     'patterns': [("Text file busy", r"(?:(?P<file>\S{1,200}): )?Text file busy"), (".nfs", r"\.nfs\w+['\u2019]?: "
                  "Device or resource busy"), ("resource busy: ", r"resource busy: '[^'\n]{0,200}\.nfs\w+")],
     'cause': "A program that runs, here or on another node, still has the file open. {file}",
     'remedy': "lsof FILE (fuser -v FILE) on the nodes where it may run, and end it; cp to a new name and mv over the "
               "old one instead of writing into it. .nfs files vanish when the program ends.",
     'source': "execve(2), ETXTBSY; NFS, silly rename", 'evidence': 'derived'},
    {'name': "interpreter of a script not there",
     'text': "bash: ./run: cannot execute: required file not found / /usr/bin/env: 'python': No such file or directory",
     'patterns': ["cannot execute: required file not found",
                  ("/usr/bin/env: ", r"/usr/bin/env: ['\u2018]?(?P<name>[^'\u2019:\n]{1,60})['\u2019]?: No such file")],
     'cause': "The file is there, and what starts it is not: the interpreter in its first line, or the loader that it "
              "was built for, is not on this machine or in this image. {name}",
     'remedy': "head -1 FILE for a script ('python' is python3 in newer images; lines that end in \\r name a program "
               "that does not exist: dos2unix FILE); file FILE for a program: another architecture, or musl and glibc.",
     'source': "bash(1); execve(2), ENOENT", 'evidence': 'derived'},
    {'name': "file descriptors of PyTorch's workers",
     'text': "RuntimeError: received 0 items of ancdata",
     'patterns': [("items of ancdata", r"received \d+ items of ancdata")],
     'cause': "Workers of PyTorch (DataLoader) pass open files to each other, one for each tensor, and have no more: "
              "the limit of open files is reached.",
     'remedy': "ulimit -n 65536 in the job script; or torch.multiprocessing.set_sharing_strategy('file_system'); fewer "
               "workers.",
     'source': "pytorch.org, Multiprocessing package, Sharing strategies", 'evidence': 'derived'},
    {'name': "file moved between two file systems",
     'text': "OSError: [Errno 18] Invalid cross-device link",
     'patterns': ["Invalid cross-device link"],
     'cause': "A program renames or links a file from one file system to another (home and scratch, /tmp, or the "
              "layers of a container's overlay), which the system cannot do.",
     'remedy': "Put its cache, TMPDIR and target on one file system (conda: CONDA_PKGS_DIRS beside the environment, or "
               "conda config --set always_copy true); cp and rm instead of mv -T or ln.",
     'source': "rename(2), EXDEV", 'evidence': 'derived'},
    {'name': "program crashed",
     'text': "slurm_script: line 10: 1763903 Segmentation fault      (core dumped) ./a.out",
     'patterns': [("segmentation fault", r"\d segmentation fault +(?:\(core dumped\) +)?(?P<program>\S{0,100})"),
                  (" Segmentation fault ", r": (?:line )?\d+: +\d+ Segmentation fault +(?:\(core dumped\) )?"
                   r"(?P<program>\S{0,100})"),
                  ("]: segfault at", r"(?P<other>\S{1,60})\[\d+\]: segfault at")],
     'unless': ["rank crashed"],
     'cause': "A program has crashed: a fault of its own, libraries that do not fit each other, or a stack that is too "
              "small (Slurm brings the limits of the shell that submitted the job). {program}{other}",
     'remedy': "ulimit -s unlimited in the job script (where that crashes: ulimit -s 8192), OMP_STACKSIZE=512M; unset "
               "LD_LIBRARY_PATH and PYTHONPATH; the same on another node (srun --exclude=NODE). ulimit -c unlimited "
               "and gdb PROGRAM core tell where.",
     'source': "signal(7), SIGSEGV; github.com/DeltaGroupNJUPT/Vina-GPU, issue 31; github.com/AMDResearch/hpcfund, "
               "issue 3", 'evidence': 'derived', 'last': True},
    {'name': "file of another user in /tmp",
     'text': "IOError: [Errno 13] Permission denied: '/tmp/trq-lastjob.in'",
     'patterns': [("Permission denied: '/", r"Permission denied: '(?P<file>/(?:tmp|dev/shm|var/tmp)/[^'\n]{1,200})'"),
                  (": Permission denied", r"['\u2018 ](?P<other>/(?:tmp|dev/shm|var/tmp)/[^'\u2019:\s]{1,200})"
                   r"['\u2019]?: Permission denied")],
     'cause': "A file or folder in /tmp or /dev/shm belongs to another user, who ran the same program on this node "
              "before: {file}{other}",
     'remedy': "ls -ld of it. export TMPDIR=/tmp/$USER (mkdir -p it on each node), or the program's own setting for "
               "its folder.",
     'also': [("it is a program, and /tmp is mounted noexec", "findmnt -T /tmp")],
     'source': "github.com/cBio/cbio-cluster, issue 169", 'evidence': 'derived', 'general': 1},
    {'name': "folder at the root of the disk",
     'text': "mkdir: cannot create directory '/me': Permission denied",
     'patterns': [("cannot create directory", r"mkdir: cannot create directory ['\u2018](?P<folder>/[^/'\u2019\n]{1,80}"
                   r"(?:/[^'\u2019\n]{0,100})?)['\u2019]: Permission denied")],
     'cause': "The program wants to make {folder}, where you may not write. Mostly a variable before it is empty in "
              "the job ($SCRATCH/me becomes /me), or that file system is not there.",
     'remedy': "echo the variable in the job script (set -u stops at empty ones), and set it: sbatch --export=ALL, "
               "or by its module. In a container --bind the folder.",
     'source': "github.com/VirtualFlow/VFVS, issue 12", 'evidence': 'derived', 'general': 1},
    {'name': "shared memory of Python's workers",
     'text': "Unable to use multiprocessing, this is normally caused by lack of access to /dev/shm: [Errno 30] "
             "Read-only file system",
     'patterns': [("_multiprocessing.SemLock(", r"_multiprocessing\.SemLock\((?:[^\n]{0,200}\n){1,4}?[^\n]{0,60}"
                   r"(?P<why>No space left on device|Permission denied|No such file or directory|Function not "
                   "implemented|Read-only file system)"),
                  "normally caused by lack of access to /dev/shm", "lacks a functioning sem_open implementation"],
     'cause': "Python's multiprocessing keeps its locks in /dev/shm, and cannot: it is not there in the container, is "
              "full, or may not be written. {why}",
     'remedy': "ls -ld /dev/shm (drwxrwxrwt) and df -h /dev/shm in the same place; rm what earlier runs have left "
               "there. Apptainer: no --contain, or --bind /dev/shm. Docker: --shm-size=2g or --ipc=host. chroot: mount "
               "-t tmpfs tmpfs /dev/shm.",
     'source': "shm_overview(7), sem_overview(7); github.com/travis-ci/travis-cookbooks, issue 241",
     'evidence': 'measured'},
    {'name': "kernel or hardware of the node in trouble",
     'text': "kernel: watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [python:123]",
     'patterns': ["BUG: soft lockup", "Kernel panic - not syncing",
                  ("blocked for more than", r"INFO: task \S{1,60} blocked for more than \d+ seconds"),
                  ("achine ", r"(?:\[Hardware Error\]|mce: )[^\n]{0,120}[Mm]achine [Cc]heck"),
                  ("EDAC ", r"EDAC \w{1,8}: \d+ UE"), "rcu_sched detected stalls"],
     'cause': "The kernel of the node tells of trouble: a processor, its memory or a disk that does not answer. The "
              "job is not at fault.",
     'remedy': "srun --exclude=NODE, and tell the administrators with that line. 'blocked for more than' is mostly a "
               "file system that hangs: ls of its folders, another one for the job.",
     'source': "Linux, lockup watchdogs, hung task detector, machine check", 'evidence': 'derived'},
    {'name': "ticket of the file system expired",
     'text': "ls: cannot access '/home/me': Key has expired / Required key not available",
     'patterns': [("Key has expired", r"\bKey has expired\b"), "Required key not available",
                  "Key was rejected by service",
                  ("o Kerberos credentials", "[Nn]o Kerberos credentials (?:available|cache)"),
                  ("redentials cache", r"[Nn]o credentials cache (?:file )?found"),
                  ("icket expired", r"\b[Tt]icket expired\b")],
     'unless': ["Singularity Hub closed"],
     'cause': "That file system (NFS, AFS, CIFS with Kerberos) wants a valid ticket, and yours has expired or is not "
              "on that node or in the container.",
     'remedy': "kinit (aklog for AFS), klist shows how long it lasts. In jobs: the site's way to renew it (auks, "
               "krenew), or data on a file system without Kerberos. In a container: --bind the file that KRB5CCNAME "
               "names.",
     'source': "errno(3), EKEYEXPIRED, ENOKEY; kinit(1)", 'evidence': 'derived'},
    {'name': "conda not set up in the job's shell",
     'text': "CommandNotFoundError: Your shell has not been properly configured to use 'conda activate'.",
     'patterns': ["has not been properly configured to use 'conda activate'",
                  (" init' before '", r"Run '(?P<name>conda|mamba|micromamba) init' before '"),
                  "Shell not initialized",
                  "is running as a subprocess and can't modify the parent shell",
                  ("Could not find conda environment", r"Could not find conda environment: (?P<env>\S{1,120})")],
     'cause': "conda activate is a function of the shell, which a job's script does not have (it reads no .bashrc), or "
              "there is no environment of that name for you there. {env}",
     'remedy': "source $(conda info --base)/etc/profile.d/conda.sh before conda activate NAME, or #!/bin/bash -l; "
               "conda run -n NAME PROGRAM; conda env list. In a container: the image's own conda by its path.",
     'source': "docs.conda.io, Managing environments, conda init; github.com/conda/conda, issues 7804 and 13002",
     'evidence': 'measured'},
    {'name': "threads not to be had",
     'text': "libgomp: Thread creation failed: Resource temporarily unavailable",
     'patterns': ["libgomp: Thread creation failed",
                  ("OMP: System error", r"OMP: System error #11\b"), "unable to create new native thread",
                  ("unable to create native thread", "unable to create native thread"),
                  ("what(): ", r"what\(\):  (?:thread: )?Resource temporarily unavailable"),
                  ("Resource temporarily unavailable", r"(?i:thread|fork|clone|spawn|exception|system_error)[^\n]{0,80}"
                   "Resource temporarily unavailable"),
                  ("] Resource temporarily unavailable", r"Errno 11\] Resource temporarily unavailable"),
                  "fork rejected by pids controller"],
     'unless': ["processes used up"],
     'cause': "The system gave the program no more threads: the limit of processes and threads (ulimit -u, the pids of "
              "a cgroup or container) is reached, by ranks x threads or by many workers; or their stacks need more "
              "memory than there is.",
     'remedy': "export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1; ulimit -u; a "
               "smaller OMP_STACKSIZE (64M). Docker and podman: --pids-limit=-1; a new image on an old Docker, whose "
               "seccomp does not know clone3: --security-opt seccomp=unconfined.",
     'source': "pthread_create(3), EAGAIN; LLVM OpenMP, messages", 'evidence': 'derived'},
    {'name': "worker process ended by the system",
     'text': "RuntimeError: DataLoader worker (pid 1234) is killed by signal: Killed.",
     'patterns': [("is killed by signal: ", r"DataLoader worker \(pid \S{1,12}\) is killed by signal: (?P<what>Killed|"
                   "Terminated|Aborted|Segmentation fault)"),
                  ("exited unexpectedly", r"DataLoader worker \(pid\(s\) [^)\n]{1,200}\) exited unexpectedly"),
                  ("terminated abruptly", "process in the process pool was terminated abruptly"),
                  ("terminated with signal", r"process \d+ terminated with signal (?P<other>SIG\w+)"),
                  "TerminatedWorkerError: A worker process", "BrokenProcessPool: A "],
     'unless': ["shared memory full", "out of memory"],
     'cause': "A worker (a process that Python started beside the program) was ended from outside, mostly because the "
              "memory of the job is used up; else it has crashed. {what} {other}",
     'remedy': "Fewer workers (num_workers=, max_workers=) or more memory (--mem=0); sacct -j JOB -o maxrss,reqmem,"
               "state and dmesg tell. With num_workers=0 an error of its own is shown. df -h /dev/shm in the "
               "container: workers exchange data there.",
     'source': "pytorch.org, torch.utils.data; docs.python.org, concurrent.futures", 'evidence': 'derived',
     'general': 1},
    {'name': "rank of torchrun that failed",
     'text': "torch.distributed.elastic.multiprocessing.api: failed (exitcode: -9) local_rank: 0 (pid: 123) of binary: "
             "python",
     'patterns': [("failed (exitcode: ", r"failed \(exitcode: (?P<code>-?\d+)\) local_rank: (?P<rank>\d+)"),
                  ("exitcode", r"^ *exitcode +: (?P<code>-?\d+) \(pid: \d+\)"),
                  "torch.distributed.elastic.multiprocessing.errors.ChildFailedError",
                  ("got signal: ", r"SignalException: Process \d+ got signal: (?P<signal>\d+)")],
     'cause': "torchrun ended the others, because rank {rank} failed (exit code {code}{signal}): 1 is an error of "
              "Python above, -9 was killed (mostly the memory of the host), -11 a crash, -7 /dev/shm, -6 an abort "
              "(NCCL's watchdog), 15 and 1 a signal from outside (scancel, a terminal that was closed).",
     'remedy': "The first Traceback of any rank is the cause; torchrun --redirects 3 --log-dir LOGS keeps the output "
               "of each apart. -9: --mem=0, fewer workers; -11: the same with one rank.",
     'source': "pytorch.org, torchrun, Error propagation; signal(7)", 'evidence': 'derived', 'last': True},
    {'name': "error of arithmetic",
     'text': "forrtl: error (65): floating invalid",
     'patterns': [("forrtl: error (", r"forrtl: error \((?:65|7[1-5])\): (?P<what>[^\n]{1,40})"),
                  ("SIGFPE", r"\bSIGFPE\b[^\n]{0,80}")],
     'cause': "The program divides by zero or computes with a number that is none, and was compiled or told to stop "
              "there. {what}",
     'remedy': "It is the program or its input, seldom the system: the same with fewer ranks, another compiler or "
               "lower optimization (-O1, without -ffast-math) tells. Compile with -g -traceback (-fbacktrace).",
     'source': "Intel Fortran, run-time errors; signal(7), SIGFPE", 'evidence': 'derived', 'general': 1},
    {'name': "locks of files that the disk does not give",
     'text': "OSError: [Errno 37] No locks available / sqlite3.OperationalError: database is locked",
     'patterns': ["No locks available", ("database is locked", "database is locked"),
                  ("Function not implemented", r"Errno 38\] Function not implemented"),
                  ("lock", r"lock\b[^\n]{0,100}(?:Function not implemented|Operation not supported)")],
     'unless': ["file that MPI-IO cannot lock", "file of HDF5 that another program holds"],
     'cause': "The program locks a file on a file system of the network that gives no locks (Lustre without -o flock, "
              "NFS without its lock daemon), or many processes want the same one (SQLite).",
     'remedy': "Put the file or cache on the node's own disk: export TMPDIR=/tmp/$USER, HF_HOME, XDG_CACHE_HOME, or "
               "the program's own setting. HDF5: export HDF5_USE_FILE_LOCKING=FALSE. One process alone that writes "
               "to SQLite.",
     'source': "fcntl(2), ENOLCK; flock(2); sqlite.org, FAQ, network file systems", 'evidence': 'derived'},
    {'name': "port that another program has",
     'text': "bind: Address already in use",
     'patterns': [("ddress already in use", "[Aa]ddress already in use")],
     'unless': ["rendezvous of PyTorch failed"],
     'cause': "A program wants a port (or a socket file) of this node that another one has: an earlier run that has "
              "not ended, or another job.",
     'remedy': "ss -ltnp (ss -lxp for files) shows who has it; end what is left of an earlier run (ps -u $USER), or "
               "another port: 20000 + SLURM_JOB_ID % 20000.",
     'source': "bind(2), EADDRINUSE", 'evidence': 'derived', 'general': 2},
]
