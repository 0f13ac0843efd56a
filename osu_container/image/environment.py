"""
Evaluate the environment scripts of an image without executing anything.

The evaluator supports assignments, `export`, `unset`, `.`, `if`, `test`, `&&` and `||`. The meaning
of these constructs follows POSIX (Shell Command Language, 2.10) and mvdan.cc/sh, the shell
interpreter of the container runtimes. The evaluator treats the output of a command as unknown. At
any other construct (loop, `case`, function, pipe, `eval`) the evaluation of the script stops, and
every variable is unknown until a later script sets the variable. On the host itself, the dry run
reports the real values (osu_container/verdict/dry_run.py). image/scripts.py evaluates the wrapper
script of a program with the same class.

The evaluator runs the scripts in the order of Apptainer 1.4.5, whose source is
internal/pkg/util/fs/files/action_script.sh; test runs of Apptainer 1.4.5 confirmed this order.
SingularityCE uses the same order. Apptainer 1.5.3 differs only for LD_LIBRARY_PATH, see
osu_container/verdict/trial.py.

1. The scripts start without any variable of the host.
2. The runtime runs all files /.singularity.d/env/*.sh in the byte order of their names, including
   files that the user binds there. After 99-base.sh the runtime sets the variables that the user
   gives as APPTAINERENV_NAME or by --env. This module does not evaluate these variables.
3. If the image has no folder /.singularity.d/env, and the user binds no file to this folder, the
   runtime runs /environment.
4. The program gets each variable of the host that no script has set. The program does not get
   variables that a script has set to the empty string or without `export`.
"""

import posixpath
import re
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    Iterable,
    List,
    NamedTuple,
    Optional,
    Tuple,
)

# image.py imports this module, so an import of image.py at run time would be circular.
if TYPE_CHECKING:
    from osu_container.image.image import Image

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
    problems: List[Tuple[str, str]]  #: (path, reason) of each script that the runtime skips


#: Value of a field that is unknown but certainly not empty, see split_fields()
_NONEMPTY = object()
#: Pattern for variables that the user, the shell or the runtime sets, and not the image
_FOREIGN_NAME = re.compile(
    r'(HOME|(OLD)?PWD|[E]?[UG]ID|PPID|IFS|OPT(IND|ARG|ERR)|LINENO|DIRSTACK|S?RANDOM|SECONDS|SHELL|'
    r'HOSTNAME|HOSTTYPE|MACHTYPE|OSTYPE|SHLVL|PIPESTATUS|BASH\w*|EPOCH\w*|_|e|key|__\w+|'
    r'(APPTAINER|SINGULARITY)_(?!APPNAME$)\w+|SING_\w+|[0-9@*?$!#-]+)$'
)
#: Pattern for variables that are read-only in bash
_READ_ONLY_NAME = re.compile(r'(E?[UG]ID|PPID|BASHOPTS|BASH_VERSINFO|SHELLOPTS)$')
#: Pattern for paths that the runtime may mount from the host (apptainer.conf: mount proc, sys, dev,
#: home, tmp), and for folders where this project or a site binds files of the host
_MOUNTED_PATH = re.compile(
    r'/(proc|sys|dev|home|root|tmp|var/tmp|var/spool|run|host|opt/host-mpi|opt/cray|users|etc/('
    r'passwd|group|hosts|hostname|localtime|resolv\.conf))(/|$)'
)
#: The option --app of the runtime selects an app with its own environment. This module assumes that
#: the user selects no app
_NO_APP = {'APPTAINER_APPNAME': None, 'SINGULARITY_APPNAME': None}
#: Commands that may stop the container, and other commands of the shell with effects that this
#: module does not evaluate
STOPPING_COMMANDS = frozenset('exit exec shift set readonly declare typeset'.split())
UNSUPPORTED_COMMANDS = frozenset(
    'eval command builtin shopt enable trap let break continue read getopts printf mapfile '
    'readarray local alias unalias { } ! [['.split()
)
#: Maximum number of nested scripts that source each other
_MAX_DEPTH = 20
#: Maximum number of characters of one script. The largest known script has 60 KB (a script of Spack
#: for 400 packages)
_MAX_SCRIPT_LENGTH = 1 << 18
#: Maximum number of characters of a value. execve(2) does not accept a longer string
#: (MAX_ARG_STRLEN)
_MAX_VALUE_LENGTH = 1 << 17
#: Maximum work for one environment: characters of scripts plus statements. Known images need at
#: most 50,000 steps; 500,000 steps take a few seconds
_MAX_STEPS = 500000


# ---- Syntax: text -> statements


class Command(NamedTuple):
    """A simple command of a shell script: assignments, words and redirections."""

    line: int  #: number of the line in the script, from 1
    assignments: List[Tuple[str, str]]  #: (name, source text of the value)
    words: List[str]  #: source texts of the words
    redirected: bool  #: whether a redirection may fail: to any file except /dev/null


class Conditional(NamedTuple):
    """The statement `if` of a shell script."""

    line: int  #: number of the line in the script, from 1
    branches: List[Tuple[Any, Any]]  #: (Body of the condition, Body) of `if` and of each `elif`
    otherwise: Any  #: Body after `else`


#: Statements of a script: a list of chains. A chain is a list of (operator, Command or
#: Conditional); the operator is '&&', '||', or '' for the first statement of the chain
Body = List[List[Tuple[str, Any]]]

# Patterns for the pieces of a word. No text matches two alternatives, so that a search never
# backtracks.
_BACKTICKS = r'`(?:[^`\\]|\\.)*`'
_COMMAND = r"""\$\((?!\()(?:[^()"'`\\]|"[^"`\\]*"|'[^']*'|\([^()"'`\\]*\))*\)"""
_ARITHMETIC = r'\$\(\([^()]*(?:\([^()]*\)[^()]*)*\)\)'
_PLAIN_BRACES = r'\$\{(?:[^{}`$\\]|\\.|\$(?![{(]))*\}'
_INNER_BRACES = _PLAIN_BRACES.replace(')*', '|%s|%s)*' % (_COMMAND, _PLAIN_BRACES))
_BRACES = _PLAIN_BRACES.replace(')*', '|%s|%s)*' % (_COMMAND, _INNER_BRACES))
_DOUBLE = r'"(?:[^"`$\\]|\\.|\$(?![{(])|%s)*"' % '|'.join(
    (_BACKTICKS, _COMMAND, _ARITHMETIC, _BRACES)
)
_PIECES = (
    r"(?P<escape>\\.)|(?P<single>'[^']*')|(?P<double>%s)|(?P<command>%s|%s)|"
    r"(?P<arithmetic>%s)|(?P<braces>%s)|"
    r"\$(?P<name>[A-Za-z_]\w*|[0-9@*#?$!-])|(?P<odd>\$'(?:[^'\\]|\\.)*')|(?P<plain>%%s)"
    % (_DOUBLE, _BACKTICKS, _COMMAND, _ARITHMETIC, _BRACES)
)
_PIECE = re.compile(_PIECES % r"""\$(?![{('"])|~|[^\\'"`$~]+""", re.S)
#: Single quotes and ~ have no special meaning inside double quotes.
_QUOTED_PIECE = re.compile(
    _PIECES.replace("(?P<single>'[^']*')|", '').replace(r"(?P<odd>\$'(?:[^'\\]|\\.)*')|", '')
    % r"""\$(?![{(])|[^\\"`$]+""",
    re.S,
)
_TOKEN = re.compile(
    r'(?P<blank>(?:[ \t]|\\\n)+|#[^\n]*)|(?P<to>(?:\d+|&)?(?:>>|>\||>&|<&|<>|[<>]))|'
    r'(?P<end>\n|&&|\|\||;;|[;&|()])|(?P<word>(?:%s)+)'
    % re.sub(r'\?P<\w+>', '?:', _PIECES % r"""\$(?![{('"])|[^\s;&|<>()\\'"`$]"""),
    re.S,
)
#: Pattern for a piece whose end these patterns may miss, and for an expansion that assigns or exits
_MISLEADING = re.compile(
    r"""\$\{[^}]*'|\$\{[^"}]*(?:"[^"}]*"[^"}]*)*"[^"}]*\}|(?:\$\(|`)[^)`]*(?:\bcase\b|#|<<)|"""
    r'\$\{\w+:?[=?]'
)
_EXPANSION = re.compile(r'([A-Za-z_]\w*|[0-9]+|[@*?$!-])(?:(:?[-+])(.*))?$', re.S)
_ASSIGNMENT = re.compile(r'([A-Za-z_]\w*)=(.*)', re.S)
#: Pattern for the name of a command without quotes and expansions
_COMMAND_NAME = re.compile(r'[\w./+:@%,-]+$|\[$')
_RESERVED_WORDS = frozenset(
    'then else elif fi do done esac in coproc time function for while until select case'.split()
)


class UnsupportedSyntaxError(Exception):
    """
    The evaluation of a script stops, because the script has an unsupported construct.

    The message names the construct.
    """

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f'the evaluation of the script stops at this line: {reason}')
        self.line = line
        self.location: Optional[str] = None  #: 'FILE:LINE', None until run_script() sets it


def _tokenize(script: str) -> List[Tuple[Optional[str], str, int]]:
    """
    Return the tokens [(kind, text, line)] of a script.

    kind: 'word', 'to' for a redirection, or 'end' for a separator, which ends a command. The last
    token has the kind 'end' and an empty text. Raises UnsupportedSyntaxError.
    """
    tokens: List[Tuple[Optional[str], str, int]] = []
    position, line = 0, 1
    while position < len(script):
        token = _TOKEN.match(script, position)
        if (
            not token
            or token.lastgroup == 'blank'
            and re.match(r'#.*\\$', token.group())
            or token.lastgroup == 'word'
            and _MISLEADING.search(token.group())
        ):
            text = script[position:].split('\n', 1)[0][:40]
            raise UnsupportedSyntaxError(line, f'this syntax is not supported: {text}')
        if token.lastgroup != 'blank':
            tokens.append((token.lastgroup, token.group(), line))
        position, line = token.end(), line + token.group().count('\n')
    return tokens + [('end', '', line)]


class _ScriptParser:
    """
    The parser of one script. The methods raise UnsupportedSyntaxError at unsupported constructs.
    """

    def __init__(self, script: str) -> None:
        script = script.replace('\r\n', '\n')  # mvdan.cc/sh replaces CRLF in the same way.
        if '\r' in script or '\0' in script:
            raise UnsupportedSyntaxError(1, 'the script is not a text file')
        self.tokens, self.position = _tokenize(script), 0  # position: index of the next token

    def peek(self) -> str:
        """Return the text of the next token, '' at the end of the script."""
        return self.tokens[self.position][1]

    def consume(self, is_expected: bool = True) -> str:
        """Consume the next token and return its text; raise an error if it is not expected."""
        kind, text, line = self.tokens[self.position]
        if not is_expected or not text:
            raise UnsupportedSyntaxError(
                line, f"this syntax is not supported: {text.strip() or 'unexpected end'}"
            )
        self.position += 1
        return text

    def skip_newlines(self) -> None:
        while self.peek() == '\n':
            self.position += 1

    def parse_body(self, *ends: str) -> Body:
        """Parse statements until the next token is one of `ends`, which is not consumed."""
        body: Body = []
        self.skip_newlines()
        while self.peek() not in ends:
            chain = [('', self.parse_statement())]
            while self.peek() in ('&&', '||'):
                operator = self.consume()
                self.skip_newlines()
                chain.append((operator, self.parse_statement()))
            body.append(chain)
            if self.peek() not in ends:
                self.consume(self.peek() in (';', '\n'))
            self.skip_newlines()
        return body

    def parse_statement(self) -> Any:
        """Parse a Command or a Conditional."""
        line = self.tokens[self.position][2]
        if self.peek() == 'if':
            branches, otherwise, word = [], [], 'elif'
            self.consume()
            while word == 'elif':
                condition = self.parse_body('then')
                self.consume(bool(condition))
                branches.append((condition, self.parse_body('elif', 'else', 'fi')))
                word = self.consume(bool(branches[-1][1]))
            if word == 'else':
                otherwise = self.parse_body('fi')
                self.consume(bool(otherwise))
            return Conditional(line, branches, otherwise)
        command, redirected = Command(line, [], [], False), False
        begin = self.position
        while self.tokens[self.position][0] != 'end':
            is_redirection = self.tokens[self.position][0] == 'to'
            text = self.consume(bool(command.words) or self.peek() not in _RESERVED_WORDS)
            assignment = None if command.words else _ASSIGNMENT.match(text)
            if is_redirection:
                file = self.consume(self.tokens[self.position][0] == 'word')
                is_descriptor = text[-1] == '&' and re.match(r'\d+$|-$', file)
                redirected = redirected or file != '/dev/null' and not is_descriptor
            elif assignment:
                command.assignments.append((assignment.group(1), assignment.group(2)))
            else:
                command.words.append(text)
        if self.position == begin:
            self.consume(False)
        return command._replace(redirected=redirected)


# ---- Evaluation


class _ScriptReturn(Exception):
    """The current script executes `return`; the script that sources it continues."""


class ScriptExit(Exception):
    """A script exits, so the runtime will not start the program."""


#: (reason, 'FILE:LINE') of an unknown value
Origin = Tuple[Optional[str], str]


class _Piece(NamedTuple):
    """A piece of a word after the expansion of variables."""

    value: Optional[str]  #: text of the piece, None if unknown
    quoted: bool  #: whether the piece is inside quotes
    origin: Optional[Origin] = None  #: origin of an unknown value, None if the value is known
    expanded: bool = True  #: whether the piece is the result of a variable or a command


class ShellEvaluator:
    """
    An evaluator of shell scripts in an image.

    In the attribute `variables`, the value None stands for a variable that a script has unset. Each
    method that evaluates a statement returns whether the statement succeeds, or None if the result
    of the statement is unknown.
    """

    def __init__(self, files: 'Image', bound_texts: Iterable[Any] = ()) -> None:
        """Create an evaluator; see evaluate_environment() for `files` and `bound_texts`."""
        self.files = files
        self.bound_texts: Dict[str, str] = dict(bound_texts)
        self.variables: Dict[str, Optional[Variable]] = dict(_NO_APP)
        self.default: Optional[Variable] = None
        self.exit_point: Optional[Tuple[bool, str, str]] = None
        self.file, self.depth, self.steps = '', 0, 0
        #: Why the shell may skip the current statement, '' if the shell certainly runs it. In such
        #: a statement, the evaluator makes each variable unknown that the statement sets
        self.doubt = ''

    # ---- methods for variables

    def locate(self, line: int) -> str:
        """Return 'FILE:LINE' for a line of the current script."""
        return f'{self.file}:{line}'

    def get(self, name: str) -> Optional[Variable]:
        """Return the variable `name`, None if the variable is unset."""
        if name in self.variables:
            return self.variables[name]
        if _FOREIGN_NAME.match(name):
            return Variable(
                None, True, None, f'the value of ${name} is unknown before the program runs'
            )
        return self.default

    def is_exported(self, name: str) -> Optional[bool]:
        """Return whether the variable `name` is exported after an assignment, None if unknown."""
        variable = self.variables.get(name, self.default)
        return variable.exported if variable else False

    def mark_unknown(self, name: str, line: int, reason: str) -> None:
        """Make the value and the export state of the variable `name` unknown."""
        self.variables[name] = Variable(None, None, self.locate(line), reason)

    def mark_all_unknown(self, location: str, reason: str) -> None:
        """Make the values of all variables unknown; location: 'FILE:LINE' of the cause."""
        self.variables = dict(_NO_APP)
        self.default = Variable(None, None, location, reason)

    # ---- methods for words

    def expand(
        self, text: str, line: int, quoted: bool = False, in_braces: bool = False
    ) -> List[_Piece]:
        """
        Expand the variables in the source text of a word and return the pieces of the word.

        quoted: whether the text is inside double quotes. in_braces: whether the text is inside
        ${ }, where the shell removes quotes even inside double quotes.
        """
        pieces: List[_Piece] = []
        for match in (_QUOTED_PIECE if quoted and not in_braces else _PIECE).finditer(text):
            kind, value = match.lastgroup, match.group()
            if kind == 'plain' and (quoted or value != '~'):
                pieces.append(_Piece(value, quoted, None, False))
            elif kind == 'single':
                pieces.append(_Piece(value[1:-1], True, None, False))
            elif kind == 'double':
                pieces += self.expand(value[1:-1], line, True) + [_Piece('', True)]
            elif kind == 'escape' and (quoted or value[1] == '\n'):
                is_removed = value[1] in '$`"\\\n' or in_braces and value[1] == '}'
                kept = value.strip('\n')[is_removed:]
                pieces += [_Piece(kept, True, None, False)] if kept else []
            elif kind == 'name' or kind == 'braces' and _EXPANSION.match(value[2:-1]):
                parts = _EXPANSION.match(value[1:] if kind == 'name' else value[2:-1])
                name, operator, word = parts.groups() if parts else (value[1:], '', '')
                pieces += self.expand_parameter(name, operator or '', word or '', line, quoted)
            else:  # mvdan.cc/sh keeps some backslashes that POSIX removes.
                pieces.append(
                    _Piece(None, quoted, (_UNKNOWN_PIECES[kind or ''], self.locate(line)))
                )
        return pieces

    def expand_parameter(
        self, name: str, operator: str, word: str, line: int, quoted: bool
    ) -> List[_Piece]:
        """Expand ${NAME OPERATOR WORD} and return its pieces."""
        variable = self.get(name)
        if variable is not None and variable.value is None:
            origin = (variable.reason, variable.location or self.locate(line))
            prefix = variable.known_prefix if operator[-1:] != '+' else ''
            return [_Piece(prefix, quoted), _Piece(None, quoted, origin)]
        value = variable.value or '' if variable else ''
        is_set = variable is not None and (value != '' or operator[:1] != ':')
        pieces = [_Piece('' if operator[-1:] == '+' else value, quoted)]
        if operator and is_set == (operator[-1] == '+'):
            pieces = [
                piece._replace(expanded=True) for piece in self.expand(word, line, quoted, True)
            ]
        # A quoted expansion is a field even if its value is empty.
        return pieces + [_Piece('', True)] * quoted

    @staticmethod
    def join_pieces(pieces: List[_Piece]) -> Tuple[Optional[str], Optional[Origin], str]:
        """
        Join the pieces of a word and return (text, origin, known prefix).

        If all pieces are known, the result is (text, None, ''). Otherwise `text` is None, `origin`
        is the field of the first unknown piece, and the known prefix is the text before this piece.
        """
        text = ''
        for piece in pieces:
            if piece.value is None:
                return None, piece.origin, text
            text += piece.value
            if len(text) > _MAX_VALUE_LENGTH:
                raise UnsupportedSyntaxError(1, 'a value is longer than a program accepts')
        return text, None, ''

    def split_fields(self, words: List[str], line: int) -> Optional[List[Any]]:
        """
        Expand `words` and return the list of fields, None if the number of fields is unknown.

        A field is a str if the value is known, _NONEMPTY if the value is unknown but certainly not
        empty, and None for any other unknown value.
        """
        fields: List[Any] = []
        for word in words:
            pieces = self.expand(word, line)
            value, _, prefix = self.join_pieces(pieces)
            for piece in pieces:
                # The shell may split the piece, replace a pattern by file names, or expand {a,b}.
                special = r'[*?\[\s]' if piece.expanded else r'[*?\[{]'
                if not piece.quoted and (piece.value is None or re.search(special, piece.value)):
                    return None
            if value != '' or any(piece.quoted for piece in pieces):
                fields.append(_NONEMPTY if value is None and prefix else value)
        return None if 'IFS' in self.variables else fields

    # ---- methods for statements

    def run_body(self, body: Body, doubt: str = '') -> Optional[bool]:
        """Evaluate statements in order and return the status of the last statement."""
        outer, self.doubt = self.doubt, self.doubt or doubt
        status: Optional[bool] = True
        for chain in body:
            status = self.run_chain(chain)
        self.doubt = outer
        return None if doubt else status

    def run_chain(self, chain: List[Tuple[str, Any]]) -> Optional[bool]:
        """Evaluate statements that `&&` and `||` join."""
        status: Optional[bool] = True
        for operator, statement in chain:
            self.steps += 1
            if self.steps > _MAX_STEPS:
                raise UnsupportedSyntaxError(1, 'the scripts of the image are too long')
            if operator and status is None:
                doubt = f'the value depends on the result of a command before {operator}'
                self.run_body([[('', statement)]], doubt)
            elif not operator or status == (operator == '&&'):
                is_command = isinstance(statement, Command)
                status = self.run_command(statement) if is_command else self.run_if(statement)
        return status

    def run_condition(self, body: Body) -> Optional[bool]:
        """Evaluate the condition of `if`."""
        return self.run_body(body)

    def run_if(self, node: Conditional) -> Optional[bool]:
        for number, (condition, body) in enumerate(node.branches):
            status = self.run_condition(condition)
            if status:
                return self.run_body(body)
            if status is None:
                location = self.locate(node.line)
                doubt = f'the value depends on a condition that cannot be evaluated ({location})'
                rest = [part for branch in node.branches[number + 1 :] for part in branch]
                for part in [body] + rest + [node.otherwise]:
                    self.run_body(part, doubt)
                return None
        return self.run_body(node.otherwise)

    def run_command(self, command: Command) -> Optional[bool]:
        """Evaluate a statement that consists of assignments or of one command."""
        line, words = command.line, command.words
        if (command.redirected or command.assignments and words) and not self.doubt:
            doubt = 'the command may fail, or sets the variable for one command only'
            return self.run_body([[('', command)]], doubt)
        for name, text in command.assignments:
            self.assign(name, text, line)
        if not words:
            texts = ' '.join(text for _, text in command.assignments)
            return None if re.search(r'`|\$\((?!\()', texts) else True
        name = words[0]
        if name in BUILTINS:
            return getattr(self, BUILTINS[name])(line, words)
        if name in STOPPING_COMMANDS:
            return self.stop(line, words)
        # After a stopped evaluation, any command may be a function that the script has defined.
        if (
            self.default
            or not _COMMAND_NAME.match(name)
            or name in UNSUPPORTED_COMMANDS
            and words[:2] != ['command', '-v']
        ):
            raise UnsupportedSyntaxError(line, f'{name} cannot be evaluated')
        return {'echo': True, ':': True, 'true': True, 'false': False}.get(name)

    def stop(self, line: int, words: List[str]) -> Optional[bool]:
        """
        Record that the script may exit or replace the program.

        After `shift` the runtime does not start the program, because `shift` removes the first
        argument of the script, which is the path of the program.
        """
        if words == ['exec'] and not self.doubt:
            return True
        is_certain = words[0] in ('exit', 'exec', 'shift') and not self.doubt
        why = f"`{words[0]}` {'runs' if is_certain else 'may run'}"
        self.exit_point = self.exit_point or (is_certain, self.locate(line), why)
        if is_certain:
            raise ScriptExit()
        raise UnsupportedSyntaxError(line, f'{words[0]} cannot be evaluated')

    def assign(self, name: str, text: str, line: int, exported: bool = False) -> None:
        """Evaluate the assignment of the word `text` to the variable `name`."""
        value, origin, prefix = self.join_pieces(self.expand(text, line))
        if _READ_ONLY_NAME.match(name):  # The shell skips the rest of the script at this error.
            raise UnsupportedSyntaxError(line, f'{name} may be a read-only variable')
        reason, location = origin or (None, self.locate(line))
        self.variables[name] = Variable(
            value, exported or self.is_exported(name), location, reason, prefix
        )
        if self.doubt:
            self.mark_unknown(name, line, self.doubt)

    def export(self, line: int, words: List[str]) -> Optional[bool]:
        for word in words[1:]:
            assignment = _ASSIGNMENT.match(word)
            if assignment:
                self.assign(assignment.group(1), assignment.group(2), line, True)
                continue
            if not re.match(r'[A-Za-z_]\w*$', word):
                # The runtime skips the whole script at an invalid name.
                raise UnsupportedSyntaxError(line, f'`export {word}` is not supported')
            variable = self.variables.get(word)
            if variable and not self.doubt:
                self.variables[word] = variable._replace(exported=True)
            elif variable or self.get(word) is None:
                reason = self.doubt or 'the script exports the variable before setting it'
                self.mark_unknown(word, line, reason)
        # Shells differ in whether the status of `$(command)` becomes the status of `export`.
        return None if re.search(r'`|\$\(', ' '.join(words)) else True

    def unset(self, line: int, words: List[str]) -> Optional[bool]:
        for name in words[1:]:
            if not re.match(r'[A-Za-z_]\w*$', name):
                raise UnsupportedSyntaxError(line, f'`unset {name}` is not supported')
            self.variables[name] = None
            if self.doubt:
                self.mark_unknown(name, line, self.doubt)
        return True

    def source(self, line: int, words: List[str]) -> Optional[bool]:
        """Evaluate `. FILE` or `source FILE`."""
        path = (self.split_fields(words[1:2], line) or [None])[0]
        if not isinstance(path, str) or not path.startswith('/') or self.doubt:
            raise UnsupportedSyntaxError(line, f"cannot tell which file `{' '.join(words)}` reads")
        if self.is_file(path) is False:
            return False  # The runtime prints a message and continues with the script.
        text = self.read_text(path) if self.is_file(path) else None
        if text is None:
            raise UnsupportedSyntaxError(line, f'the script sources {path}, which cannot be read')
        return self.run_script(path, text, line)

    def return_(self, line: int, words: List[str]) -> Optional[bool]:
        if self.doubt:
            raise UnsupportedSyntaxError(line, 'it is unknown whether `return` runs')
        raise _ScriptReturn()

    def read_text(self, path: str) -> Optional[str]:
        """Return the text of a file in the container, None if the file cannot be read."""
        return self.bound_texts[path] if path in self.bound_texts else self.files.read_text(path)

    def run_script(self, path: str, text: str, line: int = 1) -> Optional[bool]:
        """
        Evaluate the script with the path `path` and the text `text`.

        line: if another script sources this script, the line number of the sourcing statement.
        """
        self.steps += 100 + len(text)
        if self.depth >= _MAX_DEPTH or len(text) > _MAX_SCRIPT_LENGTH or self.steps > _MAX_STEPS:
            raise UnsupportedSyntaxError(
                line, f'{path} is too long, or too many scripts source each other'
            )
        caller, self.file = self.file, path
        self.depth += 1
        try:
            return self.run_body(_ScriptParser(text).parse_body(''))
        except UnsupportedSyntaxError as err:
            err.location = err.location or self.locate(err.line)
            raise
        except _ScriptReturn:
            return None
        finally:
            self.depth, self.file, self.doubt = self.depth - 1, caller, ''

    # ---- methods for tests

    def run_test(self, line: int, words: List[str]) -> Optional[bool]:
        """Evaluate the command `test` or `[`."""
        fields = self.split_fields(words[1:], line)
        if fields is not None and words[0] == '[':
            fields = fields[:-1] if fields[-1:] == [']'] else None
        return None if fields is None else self.evaluate_test(fields)

    def evaluate_test(self, fields: List[Any]) -> Optional[bool]:
        """
        Return whether the test with the arguments `fields` is true, None if unknown.

        fields: result of split_fields() for the arguments of `test`.
        """
        if len(fields) > 1 and fields[0] == '!':
            status = self.evaluate_test(fields[1:])
            return None if status is None else not status
        if fields and fields[-1] is _NONEMPTY:  # 99-base.sh of the runtime has such tests.
            return {('-n',): True, ('-z',): False, (): True}.get(tuple(fields[:-1]))
        if None in fields or _NONEMPTY in fields:
            return None
        if len(fields) < 2:
            return None if fields[:1] in (['!'], ['(']) else fields[:1] not in ([], [''])
        if len(fields) == 2:
            return self.evaluate_unary_test(*fields)
        if len(fields) == 3 and fields[1] in ('=', '==', '!='):
            is_operand = not {fields[0], fields[2]} & {'!', '(', ')'}
            return (fields[0] == fields[2]) == (fields[1] != '!=') if is_operand else None
        return None

    def evaluate_unary_test(self, operator: str, operand: str) -> Optional[bool]:
        """Return whether a test such as `-d FOLDER` is true, None if the result is unknown."""
        if operator in ('-z', '-n'):
            return (operand == '') == (operator == '-z')
        kind = self.find_file_type(operand) if operand else ''
        if kind is None or operator not in ('-d', '-e', '-f'):
            return None
        return {'-d': kind == 'd', '-e': bool(kind), '-f': kind == '-'}[operator]

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
        is_known = self.files.find_file_type('/' + path.strip('/').split('/')[0])
        return self.files.find_file_type(path) or ('' if is_known else None)

    def is_file(self, path: str) -> Optional[bool]:
        """Return whether a path is a plain file in the container, None if unknown."""
        kind = self.find_file_type(path)
        return None if kind is None else kind == '-'


#: Command that the evaluator supports -> name of the method that evaluates the command
BUILTINS = {
    'export': 'export',
    'unset': 'unset',
    '.': 'source',
    'source': 'source',
    '[': 'run_test',
    'test': 'run_test',
    'return': 'return_',
}
#: Kind of a piece of a word -> reason why the value is unknown
_UNKNOWN_PIECES = {
    'plain': 'the value contains the home folder ~',
    'escape': 'the value contains a backslash outside quotes',
    'command': 'the value contains the output of a command',
    'arithmetic': 'the value contains an arithmetic expression',
    'braces': 'the value contains an unsupported ${ } expansion',
    'odd': "the value contains the unsupported quotes $'...'",
}


def evaluate_environment(files: Any, bound_texts: Iterable[Any] = ()) -> Environment:
    """
    Return the Environment that results from the environment scripts of an image.

    files: an Image, or an object with the same methods (osu_container/check/described.py).
    bound_texts: {path in the container: text} of files that the user binds into the container.
    """
    shell = ShellEvaluator(files, bound_texts)
    problems: List[Tuple[str, str]] = []
    try:
        _run_scripts(shell, problems)
    except ScriptExit:
        pass
    variables = {
        name: variable
        for name, variable in shell.variables.items()
        # SING_*: variables that the runtime uses in its own scripts.
        if variable and not name.startswith('SING_')
    }
    return Environment(variables, shell.default, shell.exit_point, problems)


def _extend_path(shell: ShellEvaluator) -> None:
    """Append the default folders that PATH does not contain to PATH, as the runtime does."""
    path, shell.file = shell.get('PATH'), 'the runtime'
    if path is None or path.value is not None:
        folders = path.value.split(':') if path and path.value else []
        folders += [folder for folder in DEFAULT_PATH if folder not in folders]
        shell.variables['PATH'] = Variable(':'.join(folders), True, shell.locate(0))


def _run_scripts(shell: ShellEvaluator, problems: List[Tuple[str, str]]) -> None:
    """
    Evaluate the environment scripts of an image in the order of the runtime.

    The function appends (path, reason) to `problems` for each script that the runtime skips.
    """
    bound = [path for path in shell.bound_texts if posixpath.dirname(path) == SCRIPTS_FOLDER]
    has_folder = bound or shell.files.find_file_type(SCRIPTS_FOLDER) == 'd'
    names = [posixpath.basename(path) for path in bound]
    names += shell.files.list_folder(SCRIPTS_FOLDER) if has_folder else []
    for path in [f'{SCRIPTS_FOLDER}/{name}' for name in sorted(set(names))] or ['/environment']:
        name = posixpath.basename(path)
        kind = '-' if path in bound else shell.files.find_file_type(path)
        if has_folder and not re.match(r'(?!\.|99-runtimevars\.sh$).*\.sh$', name):
            continue
        if kind != '-':
            problems += [(path, 'is a broken link')] if has_folder and kind is None else []
            continue
        if name == '90-environment.sh' and shell.get('PATH') is None:
            _extend_path(shell)
        shell.file, text = path, shell.read_text(path)
        try:
            if text is None:
                problems.append((path, 'cannot be read'))
                raise UnsupportedSyntaxError(1, f'{path} cannot be read')
            shell.run_script(path, text)
        except UnsupportedSyntaxError as err:
            shell.mark_all_unknown(err.location or f'{path}:1', str(err))
        except RecursionError:
            shell.mark_all_unknown(f'{path}:1', 'commands are nested too deeply')
        if name in ('10-docker2singularity.sh', '10-docker.sh', 'environment'):
            _extend_path(shell)
        if name == '99-base.sh' and shell.get('PATH') is None:
            _extend_path(shell)
    # If no script sets PATH, the program gets the PATH that the runtime itself uses.
    if shell.get('PATH') is None:
        _extend_path(shell)


def merge_observed_environment(values: Dict[str, str], evaluated: Environment) -> Environment:
    """
    Return the Environment that a dry run observed, completed with facts from `evaluated`.

    values: exported variables that the dry run observed after the runtime ran the scripts. The
    result takes the locations and the variables without `export` from `evaluated`.
    """
    variables = {
        name: variable
        for name, variable in evaluated.variables.items()
        if variable.exported is False
    }
    for name, value in values.items():
        if not _FOREIGN_NAME.match(name):
            predicted = evaluated.variables.get(name)
            location = predicted and predicted.location or 'the scripts of the image'
            variables[name] = (
                predicted
                if predicted and predicted.value == value and predicted.exported
                else Variable(value, True, location)
            )
    return Environment(variables, None, None, evaluated.problems)


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
        return variable._replace(
            value=None, reason=variable.reason or 'it is unknown whether the variable is exported'
        )
    if variable.value is None:
        return variable if variable.exported else None
    return variable if variable.exported and (variable.value or host_value is None) else None


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
    value, separators = variable.value, '[:;]' if is_loader_path else ':'
    parts = (
        re.split(separators, variable.known_prefix)[:-1]
        if value is None
        else re.split(separators, value)
    )
    starts = ('/', '$') if is_loader_path else ('/',)
    return [part for part in parts if part.startswith(starts)], value is not None
