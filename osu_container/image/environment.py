"""
Evaluate the shell scripts of an image without executing anything.

There are two kinds of scripts: the environment scripts of the image, and wrapper scripts, which
start the program of a command line. The evaluator supports assignments, `export`, `unset`, `.`,
`if`, `test`, `&&` and `||`. The meaning of these constructs follows POSIX (Shell Command Language,
2.10) and mvdan.cc/sh, the shell interpreter of the container runtimes. The evaluator treats the
output of a command as unknown. At any other construct (loop, `case`, function, pipe, `eval`,
redirection to a file) the evaluation of the script stops. Then every variable is unknown until a
later script sets the variable, and the program of a wrapper script is unknown. On the host itself,
`check --dry-run` (osu_container/verdict/dry_run.py) and `check --start`
(osu_container/check/start.py) report the real values and programs.

The evaluator runs the environment scripts in the order of Apptainer 1.4.5, whose source is
internal/pkg/util/fs/files/action_script.sh; test runs of Apptainer 1.4.5 confirmed this order.
SingularityCE uses the same order. Apptainer 1.5.3 differs only for LD_LIBRARY_PATH with
--nv (docs/check.md, Limits).

1. The scripts start without any variable of the host.
2. The runtime runs all files /.singularity.d/env/*.sh in the byte order of their names, including
   files that the user binds there. After 99-base.sh the runtime sets the variables that the user
   gives as APPTAINERENV_NAME or by --env. This module does not evaluate these variables.
3. If the image has no folder /.singularity.d/env, and the user binds no file to this folder, the
   runtime runs /environment.
4. The program gets each variable of the host that no script has set. The program does not get
   variables that a script has set to the empty string or without `export`.

The kernel starts a script as described in execve(2), section "Interpreter scripts".
"""

import posixpath
import re
import shlex
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

#: An Image, or an object with the same methods (osu_container/check/described.py). The module
#: image.py imports this module, so an import of the class Image would be circular
AnyImage = Any

SCRIPTS_FOLDER = '/.singularity.d/env'
#: Folder that the runtime appends to LD_LIBRARY_PATH
RUNTIME_LIBRARIES = '/.singularity.d/libs'
#: Folders of PATH in a container if the image does not set PATH (DefaultPath in Apptainer,
#: internal/pkg/util/env)
DEFAULT_PATH = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']


class Variable(NamedTuple):
    """A variable that a shell script has set, with a known or unknown value."""

    value: Optional[str]  #: value of the variable, None if unknown
    exported: Optional[bool]  #: whether the variable is exported, None if unknown
    location: Optional[str]  #: 'FILE:LINE' that set the variable or made its value unknown
    reason: Optional[str] = None  #: reason why the value is unknown, None if the value is known
    known_prefix: str = ''  #: the text with which an unknown value certainly begins


class Environment(NamedTuple):
    """The variables that a program gets from the environment scripts of an image."""

    variables: Dict[str, Variable]  #: variables that are set after the last script
    #: State of all variables that are not in `variables`. None: the program gets the host's value.
    #: Otherwise the value is unknown, because the evaluation of a script stopped
    default: Optional[Variable]
    #: (whether the exit is certain, 'FILE:LINE', reason) if a script exits and prevents the start
    #: of the program, otherwise None
    exit_point: Optional[Tuple[bool, str, str]]


class LaunchedProgram(NamedTuple):
    """The ELF program that a command line finally starts."""

    program: Optional[str]  #: path of the ELF file, None if unknown
    #: words of the command line: program and arguments; an unknown argument is not a str
    words: List[Any]
    environment: Environment  #: environment of the program
    reason: Optional[str] = None  #: reason why the program is unknown, None if it is known
    #: (path, text) of each script that runs before the program
    scripts: Sequence[Tuple[str, str]] = ()


#: Pattern for variables that the user, the shell or the runtime sets, and not the image
_FOREIGN_NAME = re.compile(
    r'(HOME|(OLD)?PWD|[E]?[UG]ID|PPID|IFS|OPT(IND|ARG|ERR)|LINENO|DIRSTACK|S?RANDOM|SECONDS|SHELL|'
    r'HOSTNAME|HOSTTYPE|MACHTYPE|OSTYPE|SHLVL|PIPESTATUS|BASH\w*|EPOCH\w*|_|e|key|__\w+|'
    r'(APPTAINER|SINGULARITY)_(?!APPNAME$)\w+|SING_\w+|[0-9@*?$!#-]+)$'
)
#: Pattern for variables that are read-only in bash, or that change the meaning of later lines
_SPECIAL_NAME = re.compile(r'(E?[UG]ID|PPID|BASHOPTS|BASH_VERSINFO|SHELLOPTS|IFS)$')
#: Pattern for paths that the runtime may mount from the host (apptainer.conf: mount proc, sys, dev,
#: home, tmp), and for folders where this project or a site binds files of the host
_MOUNTED_PATH = re.compile(
    r'/(proc|sys|dev|home|root|tmp|var/tmp|var/spool|run|host|opt/host-mpi|opt/cray|users|etc/('
    r'passwd|group|hosts|hostname|localtime|resolv\.conf))(/|$)'
)
#: The option --app of the runtime selects an app with its own environment. This module assumes that
#: the user selects no app
_NO_APP = {'APPTAINER_APPNAME': None, 'SINGULARITY_APPNAME': None}
#: Commands that a method run_NAME of ShellEvaluator evaluates, and other names of such commands
_BUILTINS = frozenset('export unset source . test ['.split())
_ALIASES = {'.': 'source', '[': 'test', 'unset': 'export'}
#: Command whose status is known -> whether the command succeeds
_KNOWN_STATUS = {'echo': True, ':': True, 'true': True, 'false': False, 'cd': None}
#: Commands that may end the script, or stop the container
_STOPPING_COMMANDS = frozenset('exec exit return shift set readonly declare typeset'.split())
#: Reserved words and commands of the shell that this module does not evaluate
_UNSUPPORTED_COMMANDS = frozenset(
    'then elif else fi do done esac coproc time function for while until select case eval command '
    'builtin shopt enable trap let break continue read getopts printf mapfile readarray local alias '
    'unalias { } ! [['.split()
)
#: Pattern for the names of the environment scripts whose variables belong to the image
_SCRIPT_NAME = re.compile(r'(?!\.|99-runtimevars\.sh$).*\.sh$', re.S)
#: Type of a file as the letter that `ls -l` prints -> option of `test`
_TESTS = {'d': '-d', '-': '-f'}
#: Maximum number of characters of a value. execve(2) does not accept a longer string
#: (MAX_ARG_STRLEN)
_MAX_VALUE_LENGTH = 1 << 17
#: Maximum number of characters of all scripts of one environment. The largest known script has
#: 60 KB (a script of Spack for 400 packages)
_MAX_LENGTH = 1 << 18


# ---- Patterns for the syntax of a shell script

#: Pattern for a line that continues, or a comment. Shells differ in the meaning of a comment that
#: ends with a backslash
_COMMENT = r'\\\n|#(?:[^\n]*[^\n\\])?(?![^\n])'
#: Blanks, comments, and redirections that cannot fail
_BLANK = rf'(?:[ \t]|{_COMMENT}|\d?(?:>>?[ \t]*/dev/null|[<>]&(?:\d|-))(?=[\s;&|]|\Z))*'
#: The line ends and comments after an operator have no meaning
_OPERATOR = rf'(\n|&&|\|\|)(?:[ \t\n]|{_COMMENT})*'
_NAME = r'[A-Za-z_]\w*'
#: Pattern for $NAME, ${NAME}, and a plain command substitution, whose end is certain
_PARAMETER = (
    rf'\$(?:{_NAME}|[0-9@*?!-]|\{{(?:{_NAME}|[0-9]+|[@*])\}})|'
    r"""\$\((?!\()(?:(?!\bcase\b)[^()"'`\\#<]|"[^()"`\\]*")*\)|`(?:(?!\bcase\b)[^'"`\\#<])*`"""
)
#: Pattern for an expansion. WORD in ${NAME:-WORD} may contain expansions of _PARAMETER. Shells
#: differ in the meaning of single quotes, and of quoted braces, inside ${ }
_EXPANSION = (
    rf"""\$\{{{_NAME}:?[-+](?:[^{{}}"'\\`$~]|"(?:[^"'}}\\`$]|\\[$`"\\]|{_PARAMETER})*"|"""
    rf"""{_PARAMETER})*\}}|{_PARAMETER}"""
)
_DOUBLE_QUOTES = rf'"(?:[^"\\`$]|\\.|{_EXPANSION})*"'
_WORD = rf"""(?!#)(?:[^\s;&|<>()\\'"`$~]|'[^']*'|{_DOUBLE_QUOTES}|\\\n|{_EXPANSION})+"""
#: The groups are an operator before optional line ends, another token, and the end of the script or
#: unsupported syntax
_TOKEN = re.compile(rf'{_BLANK}(?:{_OPERATOR}|(;(?!;)|{_WORD})|(\Z|.))', re.S)
#: Patterns for a part of a word: outside of quotes, and inside double quotes
_PIECE = re.compile(rf"""{_EXPANSION}|\\.|{_DOUBLE_QUOTES}|'[^']*'|[^\\`$"']+""", re.S)
_QUOTED_PIECE = re.compile(rf"""{_EXPANSION}|\\.|{_DOUBLE_QUOTES}|[^\\`$"]+""", re.S)
_PARAMETER_PARTS = re.compile(r'\$(?:\{(\w+|[@*])(?:(:?[-+])(.*))?\}|(\w+|[@*?!-]))$', re.S)
_ASSIGNMENT = re.compile(rf'({_NAME})=')
#: Pattern for the name of a command without quotes and expansions
_COMMAND_NAME = re.compile(r'[\w./+:@%,-]+$|\[$')


class UndeterminedError(Exception):
    """
    The evaluator cannot tell what a script does, or which program a command line starts.

    The arguments are 'FILE:LINE' of the cause, if there is such a line, and the reason.
    """


class Word(NamedTuple):
    """A word of a command after the expansion of variables."""

    text: str  #: expanded text; if `unknown` is set, the text before the unknown part
    #: the first variable or command with an unknown value, None if the whole text is known
    unknown: Optional[Variable] = None
    is_one_field: bool = True  #: whether the shell certainly neither splits nor removes the word

    @property
    def value(self) -> Optional[str]:
        """The text of the word, None if unknown."""
        return None if self.unknown else self.text


class ShellEvaluator:
    """
    An evaluator of shell scripts in an image, which parses and evaluates in one pass.

    In the attribute `variables`, the value None stands for a variable that a script has unset. Each
    method that evaluates a statement returns whether the statement succeeds, or None if the result
    of the statement is unknown.
    """

    def __init__(self, image: AnyImage, bound_texts: Iterable[Any] = ()) -> None:
        """Create an evaluator; the parameters are those of evaluate_environment()."""
        self.image = image
        self.bound_texts: Dict[str, str] = dict(bound_texts)
        self.variables: Dict[str, Optional[Variable]] = dict(_NO_APP)
        self.default: Optional[Variable] = None
        self.words: List[Any] = []  #: values of $0, $1, ... in a wrapper script
        self.exit_point: Optional[Tuple[bool, str, str]] = None
        #: path and text of the current script, and position of the current statement
        self.file, self.text, self.position = '', '', 0
        #: remaining (token, position) of the current script in reverse order. The token is '' at
        #: the end of the script and at unsupported syntax
        self.tokens: List[Tuple[str, int]] = []
        self.length = 0  #: number of characters of all scripts that the evaluator has read
        self.end = ''  #: 'return', 'exit' or 'exec' after this command has ended the script
        #: Why the shell may skip the current statement, '' if the shell certainly runs it. In such
        #: a statement, the evaluator makes each variable unknown that the statement sets
        self.doubt = ''

    # ---- methods for variables

    def locate(self) -> str:
        """Return 'FILE:LINE' for the current statement of the current script."""
        return f"{self.file}:{self.text.count(chr(10), 0, self.position) + 1}"

    def fail(self, reason: str = '') -> UndeterminedError:
        """
        Return the UndeterminedError that stops the evaluation.

        reason: cause of the error. If `reason` is '', the error says that the evaluator does not
        support the syntax at the next token.
        """
        if not reason:
            self.position = self.tokens[-1][1]
            rest = self.text[self.position :].split('\n', 1)[0][:40]
            reason = f"this syntax is not supported: {rest or 'unexpected end'}"
        return UndeterminedError(self.locate(), f'the evaluation of the script stops: {reason}')

    def get(self, name: str) -> Optional[Variable]:
        """Return the variable or argument `name`, None if the variable is unset."""
        if name in self.variables:
            return self.variables[name]
        if self.words and name.isdigit():
            value = (self.words[int(name) :] or [''])[0]
            return Variable(value, False, self.file, 'the argument is unknown')
        # The host may set and export all variables of a wrapper script except LD_*.
        if not name.startswith('LD_') if self.words else _FOREIGN_NAME.match(name):
            reason = f'the value of ${name} is unknown before the program runs'
            return Variable(None, None if self.words else True, self.locate(), reason)
        return self.default

    def set_variable(self, name: str, variable: Optional[Variable]) -> None:
        """Set a variable. If the shell may skip the statement, the variable becomes unknown."""
        if _SPECIAL_NAME.match(name):  # The shell skips the rest of the script at this error.
            raise self.fail(f'the shell treats the variable {name} in a special way')
        unknown = Variable(None, None, self.locate(), self.doubt)
        self.variables[name] = unknown if self.doubt else variable

    def stop_script(self, location: str, reason: str) -> None:
        """Make the values of all variables unknown; location: 'FILE:LINE' of the cause."""
        self.variables, self.end, self.doubt = dict(_NO_APP), '', ''
        self.default = Variable(None, None, location, reason)
        if self.exit_point:  # The script may also fail before the line with `exit`.
            self.exit_point = (False,) + self.exit_point[1:]

    # ---- methods for words

    def expand(self, source: str, is_quoted: bool = False) -> Word:
        """
        Return `source` as a Word, with the values of variables and arguments.

        is_quoted: whether `source` is in quotes.
        """
        text, unknown, is_one_field = '', None, True
        for match in (_QUOTED_PIECE if is_quoted else _PIECE).finditer(source):
            piece, kind = match.group(), match.group()[0]
            part = Word(piece)
            if kind == '"':
                part = self.expand(piece[1:-1], True)
            elif kind == "'" and not is_quoted:
                part = Word(piece[1:-1])
            elif kind == '\\':
                part = Word(piece.strip('\n')[piece[1] in '$`"\\\n' :])
            else:
                if kind in '$`':
                    part = self.expand_parameter(piece, is_quoted)
                # The shell may split the text, replace a pattern by file names, or expand {a,b}.
                is_one_field = is_one_field and (
                    is_quoted or not part.unknown and not re.search(r'[*?\[{\s]|^$', part.text)
                )
            if not unknown:
                text, unknown = text + part.text, part.unknown
            if len(text) > _MAX_VALUE_LENGTH:
                raise self.fail('a value is longer than a program accepts')
        return Word(text, unknown, is_one_field)

    def expand_parameter(self, piece: str, is_quoted: bool) -> Word:
        """Return the value of $NAME, ${NAME}, ${NAME:-WORD} or of a command substitution."""
        match = _PARAMETER_PARTS.match(piece)
        if not match:
            reason = 'the value contains the output of a command'
            return Word('', Variable(None, True, self.locate(), reason))
        name, operator = match.group(1) or match.group(4), match.group(2) or ''
        variable, uses_word = self.get(name), operator[-1:] == '+'
        if variable and variable.value is None:
            return Word('' if uses_word else variable.known_prefix, variable)
        is_set = variable is not None and (variable.value != '' or operator[:1] != ':')
        if operator and is_set == uses_word:
            return self.expand(match.group(3), is_quoted)
        return Word(variable.value or '' if variable and not uses_word else '')

    # ---- methods for statements

    def take(self, *tokens: str) -> str:
        """Remove and return the next token if it is one of `tokens`, otherwise return ''."""
        return self.tokens.pop()[0] if self.tokens[-1][0] in tokens else ''

    def run_body(self, is_active: bool, ends: Iterable[str] = ()) -> Tuple[Optional[bool], str]:
        """
        Evaluate the statements before the next reserved word in `ends`, such as 'fi'.

        Return (status of the last statement, the reserved word). If `ends` is empty, evaluate all
        statements up to the end of the script. If `is_active` is False (a branch that the shell
        does not take), the statements are read, but not evaluated.
        """
        status: Optional[bool] = None
        word = ''
        self.take('\n')
        while not word and (ends or self.tokens[-1][1] < len(self.text)):
            outer, operator, status = self.doubt, '&&', True
            while operator:
                if status is None:
                    self.doubt = self.doubt or 'the value depends on a command before && or ||'
                is_run = is_active and status in (None, operator == '&&')
                result = self.run_statement(is_run)
                status = result if is_run and status is not None else status
                operator = self.take('&&', '||')
            self.doubt = outer
            if not self.take(';', '\n') and self.tokens[-1][1] < len(self.text):
                raise self.fail()
            self.take('\n')
            word = self.take(*ends)
        return status, word

    def run_statement(self, is_active: bool) -> Optional[bool]:
        """Evaluate a command or the statement `if`."""
        self.position = self.tokens[-1][1]
        keyword, outer = self.take('if'), self.doubt
        if not keyword:
            if self.tokens[-1][0] in _UNSUPPORTED_COMMANDS:
                raise self.fail()
            words = []
            while self.tokens[-1][0] not in ('', ';', '\n', '&&', '||'):
                words.append(self.tokens.pop()[0])
            token, position = self.tokens[-1]
            if not words or not token and position < len(self.text):
                raise self.fail()
            return self.run_command(words) if is_active and not self.end else None
        result: Optional[bool] = True
        while keyword != 'fi':
            status: Optional[bool] = True
            ends = ['fi']
            if keyword != 'else':
                status, ends = self.run_body(is_active, ['then'])[0], ['elif', 'else', 'fi']
            if is_active and status is None and not self.end:
                self.doubt = self.doubt or f'the condition at {self.locate()} is unknown'
            is_run = is_active and status is not False
            body_status, keyword = self.run_body(is_run, ends)
            result = body_status if is_run else result
            is_active = is_active and not status
        result = None if self.doubt else result
        self.doubt = outer
        return result

    def run_command(self, sources: List[str]) -> Optional[bool]:
        """Evaluate a statement that consists of assignments or of one command."""
        words = list(sources)
        names: List[str] = []  # names of the variables that are assigned before the first word
        while words and _ASSIGNMENT.match(words[0]):
            names.append(self.assign(words.pop(0), False))
        if words and (names or words[0] not in _BUILTINS):
            return self.run_program(words, names)
        status = getattr(self, 'run_' + _ALIASES.get(words[0], words[0]))(words) if words else True
        # Shells differ in whether the status of `$(command)` becomes the status of `export`.
        has_command = re.search(r'`|\$\(', ' '.join(sources))
        return None if has_command and words[:1] in ([], ['export']) else status

    def run_program(self, words: List[str], names: List[str]) -> Optional[bool]:
        """Evaluate a command that is no builtin; names: variables that the command line sets."""
        if words[0] in _STOPPING_COMMANDS:
            self.stop(words)
        # After a stopped evaluation, any command may be a function that the script has defined.
        if self.default or names or not _COMMAND_NAME.match(words[0]):
            raise self.fail(f'{words[0]} cannot be evaluated')
        return _KNOWN_STATUS.get(words[0])

    def stop(self, words: List[str]) -> None:
        """
        Record that a command such as `exit`, `exec` or `return` ends the script.

        `exit` and `exec` may also keep the user's program from starting. Raises UndeterminedError
        if the script may go on after the command.
        """
        is_exec = words[0] == 'exec' and len(words) > 1
        is_certain = not self.doubt and (words[0] in ('exit', 'return') or is_exec)
        if words[0] != 'return':
            self.exit_point = self.exit_point or (is_certain, self.locate(), f'`{words[0]}`')
        if not is_certain:
            raise self.fail(f"`{' '.join(words)}` cannot be evaluated")
        self.end = words[0]

    def assign(self, source: str, is_export: bool) -> str:
        """Evaluate the assignment `source`, such as NAME=VALUE, and return the name."""
        name, _, value = source.partition('=')
        word, previous = self.expand(value), self.get(name)
        exported = is_export or (previous.exported if previous else False)
        variable = Variable(word.text, exported, self.locate())
        if word.unknown:
            _, _, location, reason, _ = word.unknown
            variable = Variable(None, exported, location, reason, word.text)
        self.set_variable(name, variable)
        return name

    def run_export(self, words: List[str]) -> Optional[bool]:
        """Evaluate `export` or `unset`."""
        for name in words[1:]:
            variable: Optional[Variable] = None
            if _ASSIGNMENT.match(name) and words[0] == 'export':
                self.assign(name, True)
                continue
            if not re.match(_NAME + '$', name):
                # The runtime skips the whole script at an invalid name.
                raise self.fail(f'`{words[0]} {name}` is not supported')
            if words[0] == 'export':
                reason, known = 'the script exports an unset variable', self.variables.get(name)
                unknown = Variable(None, None, self.locate(), reason)
                variable = known._replace(exported=True) if known else unknown
            self.set_variable(name, variable)
        return True

    def run_source(self, words: List[str]) -> Optional[bool]:
        """Evaluate `. FILE` or `source FILE`."""
        field = self.expand((words[1:] or [''])[0])
        path = field.value if field.is_one_field and not self.doubt else None
        text = self.read_text(path) if path and self.find_file_type(path) == '-' else None
        if not path or text is None:
            raise self.fail(f"cannot tell what `{' '.join(words)}` reads")
        return self.run_script(path, text)

    def read_text(self, path: str) -> Optional[str]:
        """Return the text of a file in the container, None if the file cannot be read."""
        return self.bound_texts[path] if path in self.bound_texts else self.image.read_text(path)

    def run_script(self, path: str, text: str) -> Optional[bool]:
        """Evaluate the script with the path `path` and the text `text`."""
        self.length += 100 + len(text)
        if self.length > _MAX_LENGTH or '\r' in text or '\0' in text:
            raise self.fail(
                f'cannot evaluate the script {path}: the script contains carriage returns or NUL, '
                'is too long, or sources itself'
            )
        caller = self.file, self.text, self.position, self.tokens
        self.file, self.text = path, text
        matches = list(_TOKEN.finditer(text))[::-1]
        self.tokens = [
            (item[1] or item[2] or '', item.start(item.lastindex or 0)) for item in matches
        ]
        try:
            status, _ = self.run_body(True)
        except RecursionError:
            raise self.fail('the commands are nested too deeply')
        self.file, self.text, self.position, self.tokens = caller
        if self.end == 'return':
            self.end, status = '', None
        return status

    # ---- methods for tests

    def run_test(self, words: List[str]) -> Optional[bool]:
        """Evaluate the command `test` or `[`."""
        if words[0] == '[' and words.pop() != ']':
            return None
        fields = [self.expand(word) for word in words[1:]]
        if not all(field.is_one_field for field in fields):
            return None
        is_negated = len(fields) > 1 and fields[0].value == '!'
        fields = [Word('-n')] * (len(fields) == 1) + fields[is_negated:]
        values = [field.value for field in fields]
        status: Optional[bool] = None
        if len(values) == 3 and values[1] in ('=', '==', '!=') and None not in values:
            status = (values[0] == values[2]) == (values[1] != '!=')
        elif len(values) == 2 and values[0] in ('-z', '-n'):
            # An unknown value with a known beginning is not empty: 99-base.sh has such a test.
            if fields[-1].text or not fields[-1].unknown:
                status = (fields[-1].text == '') == (values[0] == '-z')
        elif len(values) == 2 and values[0] in ('-d', '-e', '-f'):
            kind = self.find_file_type(values[1]) if values[1] else values[1]
            status = kind if kind is None else kind != '' and values[0] in ('-e', _TESTS.get(kind))
        return None if status is None else status != is_negated

    def find_file_type(self, path: str) -> Optional[str]:
        """
        Return the type of a file in the container as the letter that `ls -l` prints.

        The result is '' if the path does not exist, and None if the type is unknown.
        """
        if path in self.bound_texts:
            return '-'
        mounted = _MOUNTED_PATH.match(re.sub('/+', '/', path))
        if not path.startswith('/') or mounted or '/..' in path:
            return None
        # The user may bind a folder to a new path. Such a bind adds no path below a folder of the
        # image.
        is_known = self.image.find_file_type('/' + path.strip('/').split('/')[0])
        return self.image.find_file_type(path) or ('' if is_known else None)


def evaluate_environment(image: AnyImage, bound_texts: Iterable[Any] = ()) -> Environment:
    """
    Return the Environment that results from the environment scripts of an image.

    bound_texts: {path in the container: text} of files that the user binds into the container.
    """
    shell = ShellEvaluator(image, bound_texts)
    shell.variables['PATH'] = Variable(':'.join(DEFAULT_PATH), True, 'the runtime')
    names = {
        name for folder, name in map(posixpath.split, shell.bound_texts) if folder == SCRIPTS_FOLDER
    }
    names.update(image.list_folder(SCRIPTS_FOLDER))
    paths = [f'{SCRIPTS_FOLDER}/{name}' for name in sorted(names) if _SCRIPT_NAME.match(name)]
    if not names and image.find_file_type(SCRIPTS_FOLDER) != 'd':
        paths = ['/environment']
    for path in paths:
        name = posixpath.basename(path)
        if shell.find_file_type(path) != '-':  # The runtime skips the file.
            continue
        text = shell.read_text(path)
        try:
            if text is None:
                raise UndeterminedError(path, f'{path} cannot be read')
            shell.run_script(path, text.replace('\r\n', '\n'))  # as mvdan.cc/sh does
        except UndeterminedError as err:
            shell.stop_script(*err.args)
        if shell.end:
            break
        path_variable = shell.get('PATH')
        is_docker = name in ('10-docker2singularity.sh', '10-docker.sh', 'environment')
        if is_docker and path_variable and path_variable.value is not None:
            # The runtime appends the default folders that PATH does not contain.
            folders = path_variable.value.split(':')
            folders += [folder for folder in DEFAULT_PATH if folder not in folders]
            shell.variables['PATH'] = path_variable._replace(value=':'.join(folders))
    variables = {name: variable for name, variable in shell.variables.items() if variable}
    return Environment(variables, shell.default, shell.exit_point)


def merge_observed_environment(values: Dict[str, str], evaluated: Environment) -> Environment:
    """
    Return the Environment that a dry run observed, completed with facts from `evaluated`.

    values: exported variables that the dry run observed after the runtime ran the scripts.
    evaluated: the predicted Environment. The result takes from `evaluated` the location of each
    variable, and the variables without `export`.
    """
    predicted = evaluated.variables.items()
    variables = {name: variable for name, variable in predicted if variable.exported is False}
    for name, value in values.items():
        if not _FOREIGN_NAME.match(name):
            known = evaluated.variables.get(name, Variable('', True, 'the scripts of the image'))
            variables[name] = Variable(value, True, known.location)
    return Environment(variables, None, None)


def resolve_process_variable(
    environment: Environment, name: str, host_value: Optional[str] = None
) -> Optional[Variable]:
    """
    Return the variable `name` as the program gets it, None if the variable is unset.

    host_value: value of the variable on the host, None if the host does not set the variable.
    """
    if name not in environment.variables:
        if host_value is not None and environment.default is None:
            return Variable(host_value, True, None)
        return environment.default
    variable = environment.variables[name]
    if variable.exported is None:
        reason = variable.reason or 'it is unknown whether the variable is exported'
        return variable._replace(value=None, reason=reason)
    return variable if variable.exported and (variable.value != '' or host_value is None) else None


def get_exported_value(environment: Environment, name: str) -> Optional[str]:
    """
    Return the value of the variable `name`.

    The result is None if the variable is unset or not exported, or if the value is unknown.
    """
    variable = environment.variables.get(name)
    return variable.value if variable and variable.exported else None


def parse_folder_list(
    variable: Optional[Variable], is_loader_path: bool = False
) -> Tuple[List[str], bool]:
    """
    Return (folders, whether the list is complete) for a variable such as LD_LIBRARY_PATH.

    If only the beginning of the value is known, the result contains the folders in this beginning,
    and the list is not complete. is_loader_path: whether ld.so uses the variable, and therefore
    also splits the value at semicolons.
    """
    if variable is None:
        return [], True
    # ld.so also accepts ; as a separator, and folders that begin with $ORIGIN (glibc,
    # elf/dl-load.c).
    is_complete = variable.value is not None
    parts = re.split('[:;]' if is_loader_path else ':', variable.value or variable.known_prefix)
    parts = parts if is_complete else parts[:-1]
    starts = ('/', '$') if is_loader_path else ('/',)
    return [part for part in parts if part.startswith(starts)], is_complete


#: Pattern for the file name of a Python interpreter
PYTHON_NAME = r'python\d*(\.\d+)?$'
#: Pattern for the first line of a script. Its groups are the path of the interpreter and the text
#: that the kernel passes as one argument. As for the kernel, a carriage return is part of the path
FIRST_LINE = re.compile(r'#!\s*([^ \t\n]+)[ \t]*([^\n]*)')
#: Programs that start another program. check does not read their options
_STARTER = re.compile(r'((ba|da|a)?sh|env|nice|timeout|taskset|numactl)$|ld-(linux|musl)|ld64')
#: Maximum number of programs and scripts that start each other
_MAX_DEPTH = 6
#: Commands of the shell, which are not programs
_SHELL_COMMANDS = _STOPPING_COMMANDS | _UNSUPPORTED_COMMANDS | _BUILTINS | set(_KNOWN_STATUS)


def find_interpreter(
    image: AnyImage, text: Optional[str]
) -> Tuple[Optional[str], Optional[str], str]:
    """
    Return (path, missing, option) of the interpreter in the first line of a script.

    If the image contains the interpreter, `path` is the path of the interpreter, and `missing` is
    None. Otherwise `path` is None, and `missing` is the name of the interpreter. `option` is the
    option of the interpreter, '' without an option. If `text` is not the text of a script, the
    result is (None, None, '').
    """
    first = FIRST_LINE.match(text or '')
    if not first:
        return None, None, ''
    path, option = first.group(1), first.group(2).strip()
    if not image.exists(path):
        return None, path, option
    if posixpath.basename(path) != 'env' or not re.match(r'[\w.+-]+$', option):
        return path, None, option
    paths = [folder + '/' + option for folder in image.list_path_folders()]
    interpreter = next((path for path in paths if image.exists(path)), None)
    return interpreter, None if interpreter else option, ''


class _WrapperEvaluator(ShellEvaluator):
    """An evaluator of a plain wrapper script, which starts one program as its last command."""

    #: words of the program's command line, None before the script starts the program
    call: Optional[List[Any]] = None

    def run_program(self, words: List[str], names: List[str]) -> Optional[bool]:
        """Evaluate a command, or record the program that the command starts."""
        name, is_exec = words[0], words[0] == 'exec'
        if self.call and name not in ('echo', 'exit'):
            raise self.fail(f'the script runs `{self.call[0]}`, and then `{name}`')
        if name in _KNOWN_STATUS and not names:
            return _KNOWN_STATUS[name]
        if name in _STOPPING_COMMANDS and name != 'exec' and not names:
            self.stop(words)
            return None
        words = words[is_exec:]
        # The shell expands the words before the assignments of the same command.
        is_plain = words and not (names and '$' in ''.join(words)) and words[0][0] != '-'
        if self.doubt or not is_plain or words[0] in _SHELL_COMMANDS:
            raise self.fail(f'`{name}` cannot be evaluated')
        self.call = []
        for word in words:
            field = self.expand(word)
            if not field.is_one_field:
                raise self.fail(f'the shell may split `{word}`')
            self.call += self.words[1:] if word == '"$@"' else [field.value]
        self.call_variables = dict(self.variables)
        for variable in names:
            value = self.get(variable)
            self.call_variables[variable] = value and value._replace(exported=True)
        self.end = 'exec' if is_exec else ''
        return None


def find_unknown_path(environment: Environment, name: str) -> Optional[Variable]:
    """
    Return the variable PATH if the program `name` depends on an unknown value of PATH.

    The result is None if `name` is a path, or if the value of PATH is known.
    """
    variable = environment.variables.get('PATH', environment.default)
    return variable if '/' not in name and variable and variable.value is None else None


def find_program(image: AnyImage, environment: Environment, name: str) -> Optional[str]:
    """
    Return the absolute path of the program `name` in the image, None if not found.

    name: an absolute path, or a name that the function looks for in the folders of PATH.
    """
    if name.startswith('/'):
        return posixpath.normpath(name) if image.exists(name) else None
    if not name or '/' in name or find_unknown_path(environment, name):
        return None
    path = environment.variables.get('PATH', environment.default)
    paths = [folder + '/' + name for folder in parse_folder_list(path)[0] + DEFAULT_PATH]
    return next((path for path in paths if image.exists(path)), None)


def _follow_wrapper(
    image: AnyImage, path: str, text: str, words: List[Any], environment: Environment
) -> Tuple[List[Any], Environment]:
    """Return (command line, environment) of the program that the shell script `text` starts."""
    shell, startup = _WrapperEvaluator(image), resolve_process_variable(environment, 'BASH_ENV')
    inherited = environment.variables.items()
    shell.variables = {name: item for name, item in inherited if item.exported is not False}
    shell.default, shell.words = environment.default, words
    # If no script sets LD_LIBRARY_PATH, the runtime sets the variable.
    default = shell.default or Variable(RUNTIME_LIBRARIES, True, None)
    shell.variables.setdefault('LD_LIBRARY_PATH', default)
    if startup and startup.value != '':
        raise UndeterminedError(f'{startup.location}: bash reads BASH_ENV before {path}')
    shell.run_script(path, text)
    if not shell.call:
        raise UndeterminedError(f'{path}: the script starts no program')
    called = shell.call_variables.items()
    variables = {name: variable or Variable('', True, path) for name, variable in called}
    return shell.call, environment._replace(variables=variables)


def _follow_env(words: List[Any], environment: Environment) -> Tuple[List[Any], Environment]:
    """Return (command line, environment) of the program that the command `env` starts."""
    rest, variables = words[1:], dict(environment.variables)
    if rest[:1] == ['-i']:
        rest, variables = rest[1:], {}
        environment = environment._replace(default=Variable('', True, words[0]))
    while rest and isinstance(rest[0], str):
        name, is_assignment, value = rest[0].partition('=')
        if name == '-u' and isinstance((rest + [None])[1], str):
            name, rest = rest[1], rest[1:]  # The value is empty: the variable is unset.
        elif name[:1] == '-':
            break
        elif not is_assignment:
            return rest, environment._replace(variables=variables)
        variables[name], rest = Variable(value, True, words[0]), rest[1:]
    raise UndeterminedError(f'cannot tell which program {words[0]} starts')


def resolve_program(image: AnyImage, words: List[Any], environment: Environment) -> LaunchedProgram:
    """
    Return the LaunchedProgram that a command line finally starts.

    words: the words of the command line. The first word is a path, or a name that the shell finds
    on PATH.
    """
    scripts: List[Tuple[str, str]] = []
    try:
        for _ in range(_MAX_DEPTH):
            path = _require_program(image, environment, words[0])
            words, kind = [path, *words[1:]], posixpath.basename(path)
            text, option = None, ''
            if path not in image.read_elf_files([path]):
                text = image.read_text(path) or ''
                scripts.append((path, text))
                interpreter, _, option = find_interpreter(image, text)
                kind = posixpath.basename(interpreter or '')
                if re.match(PYTHON_NAME, kind):
                    words = [interpreter, *[option] * bool(option), *words]
                    continue
            elif len(words) == 1 or not _STARTER.match(kind):
                return LaunchedProgram(path, words, environment, None, scripts)
            elif words[1] == '-c' and isinstance((words + [None])[2], str):
                text, words = words[2], words[3:] or [path]
            if kind == 'env' and text is None:
                words, environment = _follow_env(words, environment)
            elif kind.endswith('sh') and _STARTER.match(kind) and not option and text:
                words, environment = _follow_wrapper(image, path, text, words, environment)
            else:
                reason = f'cannot tell which program {path} starts: '
                raise UndeterminedError(reason + (text or path)[:80].split('\n')[0])
        raise UndeterminedError('the name of the started program is unknown before the run')
    except UndeterminedError as err:
        return LaunchedProgram(None, words, environment, ': '.join(err.args), scripts)


def _require_program(image: AnyImage, environment: Environment, name: Any) -> str:
    """Return the path of the program `name`, or raise UndeterminedError."""
    if not isinstance(name, str):
        raise UndeterminedError('the name of the started program is unknown before the run')
    path, variable = find_program(image, environment, name), find_unknown_path(environment, name)
    reason = f'the image has no program {name}'
    if variable:
        reason = f'PATH in the image is unknown ({variable.location}: {variable.reason})'
    elif '/' in name and name[0] != '/':
        reason = f'{name} depends on the current folder'
    if not path:
        raise UndeterminedError(reason)
    return path


def split_command(line: str) -> List[str]:
    """
    Split a command line into words in the same way as a shell.

    If the quotes in `line` are unbalanced, the result is [line].
    """
    try:
        return shlex.split(line) or ['']
    except ValueError:
        return [line]
