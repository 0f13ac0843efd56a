"""
Find the lines of a log that look like an error, if the log contains no known message.

For each line found, name the program that printed the line, and a command or setting with which
the program prints more details.
"""

import os
import re
from typing import Dict, Iterable, List, Set, Tuple

from osu_container.why.messages import read_blocks

#: Weight of a line (see weigh_line()) -> number of lines of this weight that are kept; number of
#: characters of a line that are read
KEPT_PER_WEIGHT, MAX_LETTERS = {3: 2, 2: 6, 1: 3}, 400
#: Maximum number of lines with the same word that are read in one part of a text: most are alike
MAX_TRIES = 200
_SMALL = {ord(letter): letter.lower() for letter in 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'}

#: Words, in lower case, that mark a line as an error; WARNING_WORDS mark a line as a warning
ERROR_WORDS = (
    "error|fatal|fail|abort|cannot|can't|could not|couldn't|unable|not found|"
    'not supported|not permitted|no such|no module named|denied|refused|invalid|'
    'timed out|time out|killed|panic|exception|undefined|unrecognized|unknown option|'
    'assert|does not exist|errno|not enough|no space|exceeded|mismatch|illegal|'
    'corrupt|broken pipe|segmentation|sigsegv|sigkill|sigbus|violation|unreachable|'
    'reset by|bad address|unexpected|no usable|went wrong|exhausted|terminate called|'
    'access fault|= backtrace|not be able|were able|returned -|err!|insufficient'
).split('|')
WARNING_WORDS = (
    'warn|timeout|not set|ignor|retry|deprecated|no version|not be|has detected|'
    'has to be|unknown|unsupported|missing|not available|must be|is not a|has lost|'
    'lost connection|did not|was not |fewer|incomplete|cut off|duplicate'
).split('|')
#: Notices of this project's scripts, which are never the cause of an error
NOTICE = re.compile(
    r"[^\n]{0,80}osu-entrypoint: [^\n]{0,80}(?:the libfabric of the image is used|WARNING: the plugin of RCCL)"
)
#: Lines that are no errors: source code, tracebacks, strace output, and the barrier of PMI-2, which
#: asks for a key that does not exist (github.com/pmodels/mpich, issue 6687)
_CODE = re.compile(
    r'\s*(?:File "|at \S+\(|raise |if |return |except |try:|import |#SBATCH )|\+{1,3} |-- '
    r'|GROMACS reminds|Solving environment: |debconf: |invoke-rc\.d: |checking \w+ '
    r'|\[ +(?:RUN|OK|PASSED|SKIP\w*) +\]|# X?FAIL: *\d|(?:PASS|OK|XFAIL|SKIP|ok)\b'
    r'|(?:PMI2_KVS_Get:)?_pmi2_kvs_get(?: failed$|:key \[-NONEXIST-KEY\])'
    r'|.*Unable to register cu\w+ factory|\[\d+\] MPI startup\(\): File |.*\bmore process\w* ha\w+ sent help'
    r'|(?:(?:\[pid +\d+\]|\d+) +)?(?:\w+\(|<\.\.\. ).*(?:\) += +-?\w+|<unfinished \.\.\.>)'
)
#: Level that a program prints with a line. libfabric and NCCL print errors with the level 'warn';
#: only libfabric's search for GPU libraries that the machine does not need is a mere warning.
_LEVEL = re.compile(
    r'(?<![\w=/.$"\'`<-])(?:(?P<quiet>(?i:info|debug|trace|verbose|notice|note|diag|req))'
    r'|(?P<warning>(?:[A-Z]\w*(?=W))?(?i:warn(?:ing)?))|(?P<error>(?i:error|fatal|critical|severe)))'
    r'(?=[\]>|]| *:(?!:)| - | {2}| *\[U=)'
    r'|<(?P<QUIET>info|debug|trace)>|\bNCCL (?P<Quiet>INFO|TRACE) '
    r'|(?P<WarninG>\bofi_hmem_init\(\):\d+<warn>|\[W(?= \w+\.(?:cpp|cc):))'
    r'|(?:^\W*|\d |\]:\[)(?:(?P<QuieT>INFO|DEBUG|TRACE|VERBOSE|I\d{4})'
    r'|(?P<Warning>W(?:ARN(?:ING)?|arning|\d{4}))|(?P<Error>ERROR|FATAL))(?=[ !,])'
)
#: Label of a program that passes on the log of another program
_RELAY = re.compile(r'^(?:[\w.-]+: )?(?:\w+: error: )?pyxis: +')
_COUNTED = (
    r'(?:errors?|fail(?:ed|ures?)?|abort(?:s|ed)?|exceptions?|time-?outs?|kill(?:s|ed)?|warnings?'
    r'|mismatch(?:es)?|retries|denied|refused|corrupt\w*|invalid|illegal)(?:\(s\))?'
)
#: Phrases that are no errors: counts of zero errors, numerical errors, and paths, options or
#: settings with such a word in their name
_NO_ERROR = re.compile(
    r'(?<![^\s"\'(=])[\w.+@%~-]*/[\w./+@%~-]*'
    r'|(?<!\S)-[\w,=+-]*(?:error|fail|abort|exception|undefined)[\w,=+-]*'
    r'|(?<![\w:])[a-z][a-z0-9+._-]*(?:error|fail)[\w.+-]*|\b(?:error|fail(?:ed)?|abort)[_.-][a-z][\w.+-]*'
    r'|\b(?=[A-Z0-9]*_)[A-Z][A-Z0-9_]*\s*=\s*\S*'
    r'|(?i:\b(?:no|without|any|zero|nothing)\s+(?:[\w-]+\s+)?' + _COUNTED + r'(?!\w)'
    r'|(?:^|[\[({,;:|=]|\b(?:with|and))\s*0+\s+(?:[\w-]+\s+){0,6}' + _COUNTED + r'(?!\w)'
    r'|\b'
    + _COUNTED
    + r'(?: [^\s:=]+){0,4}?\s*[:=]+\s*(?:0(?:\.0*)?(?![\w.])|(?:none?|off|false)\s*(?:$|[,;|)]))'
    r'|\berrors?\b(?: \([\w ,]+\)| \w+)?\s*[:=<~]*\s*(?:[:\w ]{0,20}= *)?'
    r'[-+]?(?:\d*\.\d+|\d+(?=e))(?:e[-+]?\d+)?(?![\w.])'
    r'|\b(?:relative|absolute|max(?:imum)?|min|mean|rms|average|avg|l[12]|numerical|standard|truncation)[ -]'
    r'(?:\w+ )?errors?\b'
    r'|\berror[_ ](?:norm|bars?|estimat\w+|rates?|messages?|handl\w+|check\w*|correct\w+|toleranc\w+'
    r'|analysis|control|threshold|signals?|mode))'
)
#: Errors that follow from an earlier error and do not tell its cause
_CONSEQUENCE = re.compile(
    r'Exited with exit code|child \d+ failed with error code|couldn\'t start container|failed to import'
    r'|spank: required plugin|Failed to invoke spank|error occurred in MPI_|MPI_ERRORS_ARE_FATAL'
    r'|Local abort before MPI|Job step aborted|FORCE-TERMINATE|BAD TERMINATION|PRIMARY JOB TERMINATED'
    r'|ERROR: [Bb]uild failed|Traceback \(most recent'
)

#: For each program in clues.txt: name, expression that matches the program's lines, advice on how to
#: make the program print more. The first matching expression counts. The advice completes the
#: sentence 'to get more details, ...'.
MESSAGE_PROGRAMS = [
    (fields['name'][0], re.compile(fields['pattern'][0]), fields['advice'][0])
    for fields in read_blocks(os.path.join(os.path.dirname(__file__), 'clues.txt'))
]
#: Labels that srun, mpirun and nodes put at the start of a line
_LABEL = re.compile(
    r'^\s*(?:(?:\d+|[a-z][\w-]{0,60}\d[\w.-]{0,60}): +|\[\d+,\d+\]<\w+>: ?|\[\d{1,6}\] )?'
)
#: Lines after an error that explain the error or propose a remedy; a frame of a stack trace;
#: functions that report a crash, or that copy or free memory for the function that crashed
_EXPLANATION = re.compile(
    r'\s*what\(\): |\s*(?:Location|Error|Reason|Cause|Node|Path|File|Component|System call)\s*: '
    r'|.*\b(?:[Tt]ry|[Hh]int|[Pp]lease|[Cc]onsider|[Rr]ecommend\w*|[Ss]uggest\w*|make sure'
    r'|[Yy]ou (?:can|should|need)|workarounds?|to fix)\b'
)
_FRAME = re.compile(
    r'(?:\[[\w.-]+:\d+\] +)?[\[#(]?\s*\d+[\]):]?\s+(?:0x[0-9a-f]{8,} (?P<call>\w+)\(\)'
    r'|(?:0x[0-9a-f]{6,} )?in (?P<gdb>[\w:~?]+)(?: ?\(| at |$)|(?:\S*/(?=\S+\()|(?=\S+\.so\S*\())'
    r'(?P<library>[\w.+-]+)\((?P<function>[\w.@:~]*)\+?[^)]*\))'
)
_HANDLER = re.compile(
    r'(?:libucs[^,]*(?:$|, ))?ucs_(?:handle|debug|error|fatal|log)|libucs[^,]*$|linux-vdso|libc(?:\.so|-2)'
    r'|libpthread|libopen-pal|lib[alt]san|\w*_handler|__(?!\w+_MOD_)|restore_rt|g?signal|sig\w+'
    r'|raise|abort|killpg|kill$|_int_free|\?\?'
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
    return next(
        ((name, more) for name, expression, more in MESSAGE_PROGRAMS if expression.search(line)),
        ('', ''),
    )


def read_level(line: str) -> str:
    """Return the level that a program prints with a line: 'quiet', 'warning', 'error' or ''."""
    match = _LEVEL.search(_RELAY.sub('', line[:MAX_LETTERS]))
    if line.rstrip().endswith('(ignored)'):
        return 'warning'
    return (match.lastgroup or '').lower() if match else ''


def weigh_line(line: str) -> int:
    """
    Return the weight of a line: 2 for a possible error, 1 for a warning, 0 for any other line.

    The weight is 3 for an error that follows from an earlier error.
    """
    line = _RELAY.sub('', line[:MAX_LETTERS])
    level = read_level(line)
    if (
        level == 'quiet'
        or NOTICE.match(line)
        or _CODE.match(line)
        or _FRAME.match(_LABEL.sub('', line).lstrip())
    ):
        return 0
    if _CONSEQUENCE.search(line):
        return 3
    lowered = _NO_ERROR.sub(' ', line).lower()
    if any(word in lowered for word in ERROR_WORDS):
        return 1 if level == 'warning' else 2
    return int(level == 'warning' or any(word in lowered for word in WARNING_WORDS))


def extract_explanations(line: str, following: Iterable[str]) -> List[str]:
    """
    Return explanations of an error, from the log lines that follow the line of the error.

    The list contains at most three lines. Explanations are the two lines after an error line
    that ends with ':', and lines with what() of C++, a label such as 'Reason: ...', or a hint such
    as 'try ...'. If the lines contain a stack trace, the last item is a sentence that names the
    function in which the program crashed.
    """
    explanations: List[str] = []
    frames: List[str] = []
    announced = 2 * line.rstrip().endswith(':')
    for text in [_LABEL.sub('', text[:MAX_LETTERS]) for text in following]:
        frame = _FRAME.match(text.lstrip())
        where = ', '.join(group for group in frame.groups() if group) if frame else ''
        if where and not _HANDLER.match(where) and not frames:
            frames.append(
                "the program crashed in %s (the first stack frame outside the crash handler)"
                % where
            )
        elif not frame and read_level(text) in ('quiet', 'warning'):
            break
        elif not text.strip():
            announced = announced if not explanations else 0
        elif not frame and len(explanations) < 3 and not _CODE.match(text):
            if announced or _EXPLANATION.match(text):
                explanations.append(text.strip())
            announced = max(announced - 1, 0)
    return explanations + frames


def is_in_warning(text: str, begin: int) -> bool:
    """
    Return whether the line at `begin` continues a warning.

    The result is True if the line begins with a lower-case word and the previous line is a warning,
    or if the line is in a block that begins with a row of dashes and the word WARNING.
    """
    before = text[max(0, begin - 2000) : begin]
    block = re.split(r'-{30,}\n', before)
    return (len(block) > 1 and block[-1].lstrip().startswith('WARNING')) or bool(
        re.match('[a-z]+ ', text[begin : begin + 30])
        and read_level(before[:-1].rpartition('\n')[2]) == 'warning'
    )


class Clues:
    """
    Collect the first lines of a log that look like an error or a warning.

    KEPT_PER_WEIGHT limits the number of collected errors and the number of collected warnings.
    """

    def __init__(self) -> None:
        #: weight -> list of (line number, line, explanations that follow the line)
        self.lines: Dict[int, List[Tuple[int, str, List[str]]]] = {
            weight: [] for weight in KEPT_PER_WEIGHT
        }
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
            if weight == 2 and is_in_warning(text, begin):
                weight = 1
            if not weight or len(self.lines[weight]) >= KEPT_PER_WEIGHT[weight]:
                continue
            message = _VARIES.sub('', line[:MAX_LETTERS]).strip()
            if message not in self.seen:
                following = (
                    text[begin + len(line) + 1 : begin + len(line) + 4000].split('\n')[:12]
                    if weight > 1
                    else []
                )
                explanations = extract_explanations(line, following)
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

    def has_errors(self) -> bool:
        """Return whether at least one line of the log looks like an error."""
        return bool(self.lines[2] or self.lines[3])

    def list_lines(self) -> List[Tuple[int, str, List[str], int]]:
        """
        Return (line number, line, explanations that follow, weight) for each collected line.

        The lines are in the order of the log, but errors that follow from another error come last.
        """
        lines = [(*entry, weight) for weight, group in self.lines.items() for entry in group]
        return sorted(lines, key=lambda entry: (entry[3] == 3, entry[0]))
