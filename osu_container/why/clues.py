"""
Find the lines of a log that look like an error, if the log contains no known message.

For each line found, name the program that printed the line, and a command or setting with which
the program prints more details.
"""

import re
from typing import Dict, Iterable, List, Set, Tuple

#: Weight of a line (see weigh_line()) -> number of lines of this weight that are kept; number of
#: characters of a line that are read
KEPT_PER_WEIGHT, MAX_LETTERS = {2: 6, 1: 2}, 400
#: Maximum number of lines with the same word that are read in one part of a text: most are alike
MAX_TRIES = 50
_SMALL = {ord(letter): letter.lower() for letter in 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'}

#: Words, in lower case, that mark a line as an error; WARNING_WORDS mark a line as a warning
ERROR_WORDS = [
    'error',
    'fatal',
    'fail',
    'abort',
    'cannot',
    "can't",
    'could not',
    "couldn't",
    'unable',
    'not found',
    'not supported',
    'not permitted',
    'no such',
    'denied',
    'refused',
    'invalid',
    'timed out',
    'time out',
    'killed',
    'panic',
    'exception',
    'undefined',
    'unrecognized',
    'unknown',
    'assert',
    'not available',
    'does not exist',
    'missing',
    'errno',
    'not enough',
    'no space',
    'exceeded',
    'mismatch',
    'illegal',
    'corrupt',
    'unsupported',
    'broken pipe',
    'segmentation',
    'sigsegv',
    'sigkill',
    'sigbus',
    'violation',
    'unreachable',
    'must be',
    'is not a',
    'reset by',
    'bad address',
    'unexpected',
    'no usable',
    'duplicate',
    'went wrong',
    'lost',
    'exhausted',
    'terminate called',
    'access fault',
    '= backtrace',
    'not be able',
    'were able',
    'insufficient',
]
WARNING_WORDS = [
    'warn',
    'timeout',
    'not set',
    'ignor',
    'skipp',
    'retry',
    'deprecated',
    'disabled',
    'no version',
    'not be',
    'has detected',
    'has to be',
]
#: Lines that are no errors: source code, tracebacks, strace output, and informational lines of
#: libfabric, Apptainer, EasyBuild and NCCL
_CODE = re.compile(
    r'\s*(?:File "|at \S+\(|raise |if |return |except |try:)|(?:(?:\[pid +\d+\]|\d+) +)?'
    r'(?:\w+\(|<\.\.\. ).*(?:\) += +-?\w+|<unfinished \.\.\.>)|[^<\n]{0,200}<(?:info|debug)>'
    r'|(?:DEBUG|VERBOSE) +\[U=|== [^\n]{1,80}\.py:\d+ (?:INFO|DEBUG) |[^\n]{0,60} NCCL INFO '
)
#: Phrases that are no errors: counts of zero errors, and options or settings with such a word in
#: their name
_NO_ERROR = re.compile(
    r"\b(?:no|0|without|any)\s+(?:\w+\s+)?(?:errors?|failures?|failed|exceptions?)\b"
    r"|\b(?:errors?|failures|failed)\b\s*[:=]?\s*0\b|\berror[_ ](?:norm|bars?|estimate|rate)"
    r"|--?[\w-]*(?:error|fail|abort)[\w-]*",
    re.IGNORECASE,
)

#: For each program: name, expression that matches the program's lines, advice on how to make the
#: program print more, source of the advice. The first matching expression counts. The advice
#: completes the sentence 'to get more details, ...'.
MESSAGE_PROGRAMS = [
    (
        'the shell',
        r'^(?:\S*/)?(?:ba|z|da|k)?sh: |(?:^|[/\w]: )line \d+: |slurm_script: line \d+: ',
        'run `bash -x SCRIPT`: bash then prints each command before the command runs',
        'bash(1)',
    ),
    (
        'enroot or pyxis',
        r'\bpyxis: |\benroot(?:-\w+)?: ',
        'run `export ENROOT_DEBUG=yes` before you start the container',
        'github.com/NVIDIA/enroot, bin/common.h',
    ),
    (
        'the linker',
        r'^(?:\S*/)?(?:ld(?:\.\w+)?|collect2)(?:: |$)',
        'run `make V=1`, which prints the linker command, or add -Wl,--trace, which prints the input files',
        'ld(1)',
    ),
    (
        'UCX',
        r'\bUCX\s+(?:ERROR|WARN|FATAL|DIAG)',
        'run `export UCX_LOG_LEVEL=info` before the program; `ucx_info -d` lists the network devices',
        'openucx.readthedocs.io, FAQ',
    ),
    (
        'RCCL',
        r'\bRCCL\b',
        'run export NCCL_DEBUG=INFO before the program',
        'rocm.docs.amd.com, RCCL',
    ),
    (
        'NCCL',
        r'\bNCCL (?:WARN|ERROR)|\bnccl[A-Z]\w+Error|\bncclComm',
        'run export NCCL_DEBUG=INFO before the program',
        'docs.nvidia.com, NCCL, Environment Variables',
    ),
    (
        'libfabric',
        r'\blibfabric:\w|^fi_[a-z]\w+|^libcxi: |\bcxip_\w+\(',
        'run `export FI_LOG_LEVEL=warn` before the program; `fi_info` lists the libfabric providers',
        'libfabric, fabric(7)',
    ),
    (
        'Cray MPICH',
        r'\bMPICH ERROR \[|\bPE_?\d* ?MPICH|\bMPIDI_CRAY|_cray_',
        'run `export MPICH_ENV_DISPLAY=1 MPICH_OFI_VERBOSE=1` before the program',
        'Cray MPICH, intro_mpi(3)',
    ),
    (
        'Intel MPI',
        r'MPI startup\(\)',
        'run `export I_MPI_DEBUG=10` before the program',
        'Intel MPI Library, Developer Reference',
    ),
    (
        'Hydra, the mpiexec of MPICH',
        r'\[(?:mpiexec|proxy)[@:]|\bHYD[TU_]\w+ \(|^= {3}|^YOUR APPLICATION TERM',
        'run `mpiexec -verbose PROGRAM`',
        'MPICH, mpiexec -help',
    ),
    (
        'MPICH',
        r'\bAbort\(-?\d+\)|\b(?:MPIDI|MPIDU|MPIR)_\w+|\b(?:MPID|PMPI|internal)_\w+\(\d+\)'
        r'|Fatal error in (?:P?MPI|internal)_|^Assertion failed in file \S+ at line \d+|^internal ABORT',
        'run `export MPIR_CVAR_DEBUG_SUMMARY=1` before the program',
        'MPICH, README.envvar',
    ),
    (
        'PMIx',
        r'\bPMIX[ _]ERROR|^PMIx ',
        'run `export PMIX_MCA_ptl_base_verbose=10` before the program; `srun --mpi=list` prints the PMI types',
        'OpenPMIx, pmix_info',
    ),
    (
        'Open MPI',
        r'^\*\*\* |^(?:WARNING: )?Open (?:MPI|RTE) |^(?:mpirun|prterun|orted|prted)\b'
        r'|^(?:\[[^\]]+\] ?){1,2}(?:\w+: )?(?:mca|opal|ompi|orte|prte|btl|pml|mtl|plm|OPAL|ORTE|PRTE)\b'
        r'|\b(?:ORTE|PRTE|OPAL|OMPI)_?[ _]?ERROR|\b(?:pml|btl|mtl|osc|coll)_\w+\.c:\d',
        'run `mpirun --mca pml_base_verbose 10 --mca btl_base_verbose 30 PROGRAM`; '
        'for messages of libfabric, run `export FI_LOG_LEVEL=warn` before mpirun',
        'docs.open-mpi.org, MCA',
    ),
    (
        'Slurm',
        r'^(?:\w+: )?(?:srun|sbatch|salloc|slurmstepd|slurmd|scancel|sacct|squeue|slurm_load\w+)\b[^:]{0,60}:',
        'run `srun -vv PROGRAM`, `sacct -j JOB -o State,ExitCode,MaxRSS` or `scontrol show job JOB`',
        'srun(1), sacct(1)',
    ),
    (
        'Apptainer or Singularity',
        r'^(?:FATAL|ERROR|ABORT|WARNING)(?:: {3}| {1,3}: | {3}\[U=)\S|^apptainer: ',
        'run `apptainer --debug exec IMAGE PROGRAM`, or run `export APPTAINER_DEBUG=1` before the commands of a '
        'container module',
        'Apptainer 1.4.5, tried here',
    ),
    (
        'podman or Docker',
        r'^(?:podman|docker|crun|runc|conmon)\b|OCI runtime|Error response from daemon',
        'run `podman --log-level=debug run IMAGE PROGRAM`',
        'podman(1)',
    ),
    (
        'the kernel',
        r'\bNVRM: |\bOut of memory: Kill|\bkernel: |\boom_kill|^\[ *\d+\.\d{6}\] (?!\[)',
        'run `dmesg -T` on the node; if you have no permission to run dmesg, ask the administrators',
        'dmesg(1)',
    ),
    (
        'the NVIDIA driver or CUDA runtime',
        r'^nvidia-[\w-]+|\bNVIDIA-SMI\b|\bcuda[A-Z]\w+|\bCUDA(?:_ERROR_| (?i:error'
        r'|driver|failure|runtime))|\bNVML\b|\bcu[A-Z]\w+\(',
        'run `nvidia-smi` on the node and in the container, and `export CUDA_LAUNCH_BLOCKING=1` before the program',
        'docs.nvidia.com, CUDA',
    ),
    (
        'the ROCm runtime',
        r'\bhip[A-Z]\w*|\bHIP (?i:error|runtime)|\bHSA_STATUS_\w+|Memory access fault by GPU',
        'run `rocminfo` on the node and in the container, and `export AMD_LOG_LEVEL=3` before the program',
        'rocm.docs.amd.com, HIP, Logging',
    ),
    (
        'the dynamic loader',
        r'loading shared librar|cannot open shared object|symbol lookup|: undefined symbol'
        r'|\bld\.so\b|version `\S+. not found',
        'run `LD_DEBUG=libs PROGRAM 2>&1 | less` to see where the loader searches for libraries',
        'ld.so(8)',
    ),
    (
        'Lmod',
        r'\bLmod\b|\bmodule\(s\)',
        'run `module -D load NAME` for debug output, or `module spider NAME`',
        'lmod.readthedocs.io',
    ),
    (
        'EasyBuild',
        r'^== |^eb: |\bbuild_log\.py\b|\bEasyBuild\b',
        'run `less $(eb --last-log)` to read the log of the last build',
        'docs.easybuild.io',
    ),
    (
        'Python',
        r'^(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Exit|Interrupt)\b|^Traceback',
        'read the Python traceback: the last line names the error, and the lines above name the '
        'place in the code',
        'docs.python.org, traceback',
    ),
    (
        "the program's C++ runtime",
        r'^terminate called|^\s*what\(\): ',
        'run `gdb -batch -ex run -ex bt --args PROGRAM` to see in which function the program fails',
        'gdb(1)',
    ),
]
_MESSAGE_PROGRAMS = [
    (name, re.compile(expression), more) for name, expression, more, _ in MESSAGE_PROGRAMS
]
#: Labels that srun, mpirun and nodes put at the start of a line; program names at the start of a
#: line
_LABEL = re.compile(r'^\s*(?:(?:\d+|[a-z]+[\w-]*\d[\w.-]*): +|\[\d+,\d+\]<\w+>: ?)?')
_OTHER_PROGRAM = re.compile(
    r'(?!error|fatal|warning|info|note|open|m\w*map|fork|bind|connect|read|write|socket|mount|exec'
    r'|posix_|shm|sem|ibv_|rdma_|inotify|io_|get|set)([a-z][\w+-]{1,24})(?:\[\d+\])?: +\S'
)
#: Lines after an error that explain the error or propose a remedy; a frame of a stack trace;
#: functions that report a crash and are not its cause
_EXPLANATION = re.compile(
    r'\s*what\(\): |\s*(?:Location|Error|Reason|Cause|Node|Path|File|Component|System call)\s*: '
    r'|.*\b(?:[Tt]ry|[Hh]int|[Pp]lease|[Cc]onsider|[Rr]ecommend\w*|[Ss]uggest\w*|make sure'
    r'|[Yy]ou (?:can|should|need)|workarounds?|to fix)\b'
    r'|\s*\d\) \S'
)
_FRAME = re.compile(
    r'\[?\s*\d+\]?\s+(?:0x[0-9a-f]{8,} (?P<call>\w+)\(\)|(?:/\S*/(?=\S+\()|(?=\S+\.so\S*\())'
    r'(?P<library>[\w.+-]+)\((?P<function>[\w.@:~]*)\+?[^)]*\))'
)
_HANDLER = re.compile(
    r'libucs|ucs_|linux-vdso|libc\.so|libc-2|libpthread|sig|kill|libopen-pal|libasan|_handler'
)


#: Parts that may differ between equal messages: numbers, addresses, and the rank or node in front
_VARIES = re.compile(r'^\s*(?:\[?[\w.-]*\d+[\w.:,-]*\]?\s*:?\s*)|0x[0-9a-f]+|\d+', re.IGNORECASE)


def identify_program(line: str) -> Tuple[str, str]:
    """
    Return the name of the program that printed `line`, and advice on the program.

    The advice explains how to make the program print more details. The name and the advice are ''
    if unknown.
    """
    line = _LABEL.sub('', line[:MAX_LETTERS])
    for name, expression, more in _MESSAGE_PROGRAMS:
        if expression.search(line):
            return name, more
    program = _OTHER_PROGRAM.match(line)
    return (program.group(1) if program else ''), ''


def weigh_line(line: str) -> int:
    """Return 2 if a line looks like an error, 1 for a warning, and 0 for any other line."""
    if _CODE.match(line) or _FRAME.match(_LABEL.sub('', line[:MAX_LETTERS]).lstrip()):
        return 0
    lowered = _NO_ERROR.sub(' ', line[:MAX_LETTERS]).lower()
    if any(word in lowered for word in ERROR_WORDS):
        return 2
    return 1 if any(word in lowered for word in WARNING_WORDS) else 0


def extract_explanations(lines: Iterable[str]) -> List[str]:
    """
    Return explanations of an error from the log lines that follow the error.

    The list contains at most three log lines that explain the error: lines with what() of C++, with
    a label such as 'Reason: ...', or with a hint such as 'try ...'. If the log lines contain a
    stack trace, the last item is a sentence that names the function in which the program crashed.
    """
    explanations: List[str] = []
    frames: List[str] = []
    for line in [_LABEL.sub('', line[:MAX_LETTERS]) for line in lines]:
        frame = _FRAME.match(line.lstrip())
        where = ', '.join(group for group in frame.groups() if group) if frame else ''
        if where and not _HANDLER.search(where.split(',')[0]) and not frames:
            frames.append(
                "the program crashed in %s (the first stack frame outside the crash handler)"
                % where
            )
        elif not frame and len(explanations) < 3 and _EXPLANATION.match(line):
            explanations.append(line.strip())
    return explanations + frames


class Clues:
    """
    Collect the first lines of a log that look like an error or a warning.

    KEPT_PER_WEIGHT limits the number of collected errors and the number of collected warnings.
    """

    def __init__(self) -> None:
        #: weight -> list of (line number, line, explanations that follow the line)
        self.lines: Dict[int, List[Tuple[int, str, List[str]]]] = {1: [], 2: []}
        self.seen: Set[str] = set()

    def add(self, text: str, words: str, ended_lines: int) -> None:
        """
        Collect lines that look like an error or a warning from the next part of a log.

        text: the next part of the log
        words: the distinct words of `text` (see search.split_words()), joined with newlines
        ended_lines: number of complete lines of the log before `text`
        """
        lowered = words.lower()
        for begin in sorted(self._find_line_starts(text, lowered)):
            end = text.find('\n', begin)
            line = text[begin : end if end >= 0 else None]
            weight = weigh_line(line)
            if not weight or len(self.lines[weight]) >= KEPT_PER_WEIGHT[weight]:
                continue
            message = _VARIES.sub('', line[:MAX_LETTERS]).strip()
            if message not in self.seen:
                following = (
                    text[begin + len(line) + 1 : begin + len(line) + 4000].split('\n')[:12]
                    if weight == 2
                    else []
                )
                explanations = extract_explanations(following)
                self.seen.update(
                    [message] + [_VARIES.sub('', text_line).strip() for text_line in explanations]
                )
                self.lines[weight].append(
                    (ended_lines + text.count('\n', 0, begin) + 1, line, explanations)
                )

    def _find_line_starts(self, text: str, lowered: str) -> Set[int]:
        """
        Return the start positions of lines in `text` with an error word or a warning word.

        lowered: the words of `text` in lower case; if `lowered` lacks an error word or a warning
            word, `text` is not searched for this word
        """
        lower = text.lower()
        if len(lower) != len(text):  # a few characters become two in lower case
            lower = text.translate(_SMALL)
        starts = set()
        for word in [
            word
            for weight, group in ((2, ERROR_WORDS), (1, WARNING_WORDS))
            for word in group
            if len(self.lines[weight]) < KEPT_PER_WEIGHT[weight] and word.split()[-1] in lowered
        ]:
            position, tries = lower.find(word), 0
            while position >= 0 and tries < MAX_TRIES:
                starts.add(lower.rfind('\n', 0, position) + 1)
                end, tries = lower.find('\n', position), tries + 1
                position = lower.find(word, end) if end >= 0 else -1
        return starts

    def list_lines(self) -> List[Tuple[int, str, List[str], str, str]]:
        """
        Return the collected lines in the order of the log, each as a tuple of five items.

        The five items are the line number, the line, the explanations after the line, the name of
        the program that printed the line, and advice on how to make the program print more details.
        """
        return [
            entry + identify_program(entry[1]) for entry in sorted(self.lines[1] + self.lines[2])
        ]
