"""
Evaluate the environment scripts of an image without executing anything.

The evaluator supports assignments, `export`, `unset`, `.`, `if`, `test`, `&&` and `||`. The meaning
of these constructs follows POSIX (Shell Command Language, 2.10) and mvdan.cc/sh, the shell
interpreter of the container runtimes. The evaluator treats the output of a command as unknown. At
any other construct (loop, `case`, function, pipe, `eval`) the evaluation of the script stops, and
every variable is unknown until a later script sets the variable. On the host itself, the dry run
reports the real values (osu_container/verdict/dry_run.py).

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

import re
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Iterable,
    List,
    NamedTuple,
    NoReturn,
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


#: Value of Environment.default for a program that `env -i` starts: all other variables are unset
UNSET = Variable('', False, None)


class Environment(NamedTuple):
    """The variables that a program gets from the environment scripts of an image."""

    variables: Dict[str, Variable]  #: variables that are set after the last script
    #: State of all variables that are not in `variables`. None: the program gets the host's value.
    #: UNSET: the variable is unset. Otherwise: the value is unknown, because the evaluation stopped
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
#: Pattern for commands that may set any variable, and for an assignment to an array element
_UNBOUNDED_EFFECT = re.compile(
    r'(?<![\w$./-])(eval|source|command(?!\s+-[vV])|builtin|exec|shopt|enable|trap|readonly|'
    r'declare|typeset|let|set|break|continue)\b|(?:^|[;&|(){}\n]|\b(?:then|else|do)\b)\s*\.\s|'
    r'\w\[|\(\('
)
#: Patterns for the names that a statement may set: NAME=, ${NAME:=...}, and the arguments of the
#: commands that take names of variables
_ASSIGNED_NAME = re.compile(r'([A-Za-z_]\w*)(?:\+?=|:=)')
_NAMING_COMMAND = re.compile(
    r'\b(?:export|local|unset|read|getopts|printf|mapfile|readarray)\b([^\n;|&]*)'
)
#: Pattern for expansions with a side effect: ${NAME:=...} assigns, and ${NAME:?} exits
_ASSIGNING_EXPANSION = re.compile(r'\$\{\w+:?[=?]')
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


class Part(NamedTuple):
    """One part of a word in a shell script: a text, a variable or an unsupported construct."""

    kind: str  #: kind of the part: 'text', 'variable' or 'unknown'
    value: str  #: the text, the name of the variable, or a description of the construct
    quoted: bool = False  #: the shell neither splits a quoted part nor uses it as a pattern
    operator: str = ''  #: operator in ${NAME...}: '-', '+', ':-' or ':+', '' if there is none
    word: Optional[List['Part']] = None  #: the word after the operator


class Node(NamedTuple):
    """
    A statement of a shell script.

    The content of the field `parts` depends on the field `kind`. In the following list, a body is
    a list of statements, and a word is a list of Part.

    'simple': (assignments [(name, word)], words [word], whether the statement redirects output to a
    file other than /dev/null)
    'and': (operator '&&' or '||', first statement, second statement)
    'if': (branches [(body of the condition, body)], body of `else`)
    """

    kind: str  #: kind of the statement: 'simple', 'and' or 'if'
    line: int  #: number of the line in the script, from 1
    source: str  #: text of the whole script
    begin: int  #: index of the first character of the statement in `source`
    end: int  #: index after the last character of the statement in `source`
    parts: Tuple[Any, ...]  #: parts of the statement, see the class


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
_PIECE_PATTERN = (
    r"(?P<escape>\\.)|(?P<single>'[^']*')|(?P<double>%s)|(?P<command>%s|%s)|"
    r"(?P<arithmetic>%s)|(?P<braces>%s)|"
    r"\$(?P<name>[A-Za-z_]\w*|[0-9@*#?$!-])|(?P<odd>\$'(?:[^'\\]|\\.)*')|(?P<plain>%%s)"
    % (_DOUBLE, _BACKTICKS, _COMMAND, _ARITHMETIC, _BRACES)
)
_PIECE = re.compile(_PIECE_PATTERN % r"""\$(?![{('"])|[^\\'"`$]""", re.S)
_TOKEN = re.compile(
    r'(?P<blank>(?:[ \t]|\\\n)+|#[^\n]*)|(?P<to>(?:\d+|&)?(?:>>|>\||>&|<&|<>|[<>]))|'
    r'(?P<end>\n|&&|\|\||;;|\(\(|[;&|()])|(?P<word>(?:%s)+)'
    % re.sub(r'\?P<\w+>', '?:', _PIECE_PATTERN % r"""\$(?![{('"])|[^\s;&|<>()\\'"`$]"""),
    re.S,
)

_EXPANSION = re.compile(r'([A-Za-z_]\w*|[0-9]+|[@*?$!-])(?:(:?[-+])(.*))?$', re.S)
_ASSIGNMENT = re.compile(r'([A-Za-z_]\w*)=')
#: Reserved words that cannot begin a command, and reserved words of unsupported constructs
_NO_COMMAND = frozenset(
    'then else elif fi do done esac } ]] in coproc time function '
    'for while until select case { [[ !'.split()
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


def make_text_part(text: str, quoted: bool = False) -> Part:
    """Return a Part of kind 'text'."""
    return Part('text', text, quoted)


def parse_script(script: str) -> List[Node]:
    """
    Parse a shell script and return its statements.

    Raises UnsupportedSyntaxError if the script has an unsupported construct.
    """
    script = script.replace('\r\n', '\n')  # mvdan.cc/sh replaces CRLF in the same way.
    if '\r' in script or '\0' in script:
        raise UnsupportedSyntaxError(1, 'the script is not a text file')
    parser = _ScriptParser(script)
    try:
        return parser.parse_body(('',))
    except RecursionError:
        raise UnsupportedSyntaxError(parser.get_line(), 'commands are nested too deeply')


def _tokenize(script: str) -> List[Tuple[Optional[str], str, int, int, int]]:
    """
    Return the tokens [(kind, text, line, begin, end)] of a script.

    kind: 'word', 'to' for a redirection, or 'end' for a separator, which ends a command. begin,
    end: the token is script[begin:end]. The last token has the kind 'end' and an empty text.
    """
    tokens: List[Tuple[Optional[str], str, int, int, int]] = []
    position, line = 0, 1
    while position < len(script):
        token = _TOKEN.match(script, position)
        if (
            not token
            or token.lastgroup == 'blank'
            and token.group().startswith('#')
            and token.group()[-1] == '\\'
        ):
            text = script[position : position + 20].split('\n')[0]
            raise UnsupportedSyntaxError(line, f'this syntax is not supported: {text}')
        if token.lastgroup != 'blank':
            tokens.append((token.lastgroup, token.group(), line, position, token.end()))
        position, line = token.end(), line + token.group().count('\n')
    return tokens + [('end', '', line, position, position)]


class _ScriptParser:
    """
    The parser of one script. The attribute `position` is the index of the next token.

    The methods raise UnsupportedSyntaxError if the script has an unsupported construct.
    """

    def __init__(self, script: str) -> None:
        self.script, self.tokens, self.position = script, _tokenize(script), 0

    def get_line(self) -> int:
        """Return the line number of the next token."""
        return self.tokens[self.position][2]

    def peek(self) -> str:
        """Return the text of the next token, '' at the end of the script."""
        return self.tokens[self.position][1]

    def make_node(self, kind: str, begin: int, *parts: Any) -> Node:
        """Return a Node for the tokens from index `begin` to the last consumed token."""
        first, last = self.tokens[begin], self.tokens[self.position - 1]
        return Node(kind, first[2], self.script, first[3], last[4], parts)

    def raise_unsupported(self) -> NoReturn:
        raise UnsupportedSyntaxError(
            self.get_line(),
            f"this syntax is not supported: {self.peek().strip() or 'unexpected end of a command'}",
        )

    def expect(self, *expected: str) -> str:
        """Consume the next token and return its text, which must be one of `expected`."""
        if self.peek() not in expected:
            self.raise_unsupported()
        self.position += 1
        return self.tokens[self.position - 1][1]

    def skip_newlines(self) -> None:
        while self.peek() == '\n':
            self.position += 1

    def parse_body(self, ends: Tuple[str, ...], empty: bool = True) -> List[Node]:
        """
        Parse statements until the next token is one of `ends`, and return the statements.

        The parser does not consume the token of `ends`. empty: whether the body may contain no
        statement.
        """
        statements: List[Node] = []
        self.skip_newlines()
        while self.peek() not in ends:
            statements.append(self.parse_and_or())
            if self.peek() not in ends:
                self.expect(';', '\n')
            self.skip_newlines()
        return statements if statements or empty else self.raise_unsupported()

    def parse_and_or(self) -> Node:
        """Parse a chain of statements that `&&` and `||` join, and return its Node."""
        begin, node = self.position, self.parse_command()
        while self.peek() in ('&&', '||'):
            operator = self.expect('&&', '||')
            self.skip_newlines()
            node = self.make_node('and', begin, operator, node, self.parse_command())
        return node

    def parse_command(self) -> Node:
        return self.parse_if() if self.peek() == 'if' else self.parse_simple()

    def parse_if(self) -> Node:
        branches: List[Tuple[List[Node], List[Node]]] = []
        begin, other, word = self.position, [], 'elif'
        self.position += 1
        while word == 'elif':
            condition = self.parse_body(('then',), False)
            self.expect('then')
            branches.append((condition, self.parse_body(('elif', 'else', 'fi'), False)))
            word = self.expect('elif', 'else', 'fi')
        if word == 'else':
            other = self.parse_body(('fi',), False)
            self.expect('fi')
        return self.make_node('if', begin, branches, other)

    def parse_redirection(self) -> bool:
        """Consume a redirection; return whether opening the file of the redirection may fail."""
        kind = self.expect(self.peek()).lstrip('0123456789')
        name = find_literal(self.parse_word())
        return name != '/dev/null' and not (
            kind in ('>&', '<&') and re.match(r'\d+$|-$', name or '')
        )

    def parse_simple(self) -> Node:
        assignments: List[Tuple[str, List[Part]]] = []
        words: List[List[Part]] = []
        redirected, begin = False, self.position
        if self.peek() in _NO_COMMAND:
            self.raise_unsupported()
        while self.tokens[self.position][0] != 'end':
            if self.tokens[self.position][0] == 'to':
                redirected = self.parse_redirection() or redirected
                continue
            if not words and re.match(r'\w+\+=', self.peek()):
                self.raise_unsupported()
            word = self.parse_word()
            name, value = split_assignment(word)
            if name and not words:
                assignments.append((name, value))
                if not value and self.peek() == '(':  # The value is an array.
                    self.raise_unsupported()
                continue
            words.append(word)
        return (
            self.make_node('simple', begin, assignments, words, redirected)
            if self.position > begin
            else self.raise_unsupported()
        )

    def parse_word(self) -> List[Part]:
        kind, text, line = self.tokens[self.position][:3]
        if kind != 'word':
            self.raise_unsupported()
        self.position += 1
        return _parse_parts(text, False, line)


def _parse_parts(text: str, quoted: bool, line: int, brace: bool = False) -> List[Part]:
    """
    Return the parts of a word, or of a text inside a word.

    quoted: whether the text is inside double quotes. brace: whether the text is inside ${ }, where
    the shell removes quotes even inside double quotes. line: line number for an
    UnsupportedSyntaxError.
    """
    parts: List[Part] = []
    for piece in _PIECE.finditer(text) if not quoted or brace else _QUOTED_PIECE.finditer(text):
        kind, value = piece.lastgroup, piece.group()
        if (
            kind == 'plain'
            and value == '~'
            and not quoted
            and _get_unquoted_prefix(parts[-1:])[-1:] in ('', '=', ':')
        ):
            parts.append(Part('unknown', 'the value contains the home folder ~'))
        elif kind == 'plain':
            parts.append(make_text_part(value, quoted))
        elif kind == 'escape':
            parts += _unescape(value[1], quoted, brace)
        elif kind == 'single':
            parts.append(make_text_part(value[1:-1], True))
        elif kind == 'double':
            parts += _parse_parts(value[1:-1], True, line) or [make_text_part('', True)]
        elif kind == 'name':
            parts.append(Part('variable', value[1:], quoted))
        elif kind == 'braces':
            parts.append(_parse_expansion(value[2:-1], quoted, line))
        else:
            description = {
                'command': 'the value contains the output of a command',
                'arithmetic': 'the value contains an arithmetic expression',
            }.get(kind or '', "the value contains the unsupported quotes $'...'")
            # With these constructs inside $( ), _COMMAND may have found the wrong end.
            if kind == 'command' and re.search(r'\bcase\b|#|<<', value):
                raise UnsupportedSyntaxError(line, description)
            parts.append(Part('unknown', description, quoted))
        # Join adjacent parts of text, because each letter was a part of its own.
        if (
            len(parts) > 1
            and parts[-1].kind == parts[-2].kind == 'text'
            and parts[-1].quoted == parts[-2].quoted
        ):
            parts[-2:] = [make_text_part(parts[-2].value + parts[-1].value, parts[-1].quoted)]
    return parts


#: Pattern for a piece inside double quotes. Single quotes and ~ have no special meaning there
_QUOTED_PIECE = re.compile(
    _PIECE_PATTERN.replace("(?P<single>'[^']*')|", '').replace(r"(?P<odd>\$'(?:[^'\\]|\\.)*')|", '')
    % r"""\$(?![{(])|[^\\"`$]""",
    re.S,
)


def _unescape(letter: str, quoted: bool, brace: bool) -> List[Part]:
    """
    Return the parts that a backslash and the following `letter` become.

    quoted, brace: see _parse_parts().
    """
    if letter == '\n':
        return []
    if not quoted:  # mvdan.cc/sh keeps some backslashes that POSIX removes.
        return [Part('unknown', 'the value contains a backslash outside quotes')]
    is_removed = letter in '$`"\\' or brace and letter == '}'
    return [make_text_part(letter if is_removed else '\\' + letter, True)]


def _parse_expansion(content: str, quoted: bool, line: int) -> Part:
    """Return the Part for the expansion ${...} whose braces contain the text `content`."""
    match = _EXPANSION.match(content)
    # If the content has such quotes, _BRACES may have found the wrong end of the expansion.
    if "'" in content or content.count('"') % 2 or not match and '=' in content:
        raise UnsupportedSyntaxError(line, f'the expansion ${{{content}}} is not supported')
    if not match:
        return Part('unknown', 'the value contains an unsupported ${ } expansion', quoted)
    name, operator, word = match.groups()
    return Part(
        'variable',
        name,
        quoted,
        operator or '',
        _parse_parts(word, quoted, line, True) if operator else None,
    )


def _get_unquoted_prefix(word: List[Part]) -> str:
    """Return the unquoted text at the beginning of a word, '' if there is none."""
    return word[0].value if word and word[0].kind == 'text' and not word[0].quoted else ''


def find_literal(word: List[Part]) -> Optional[str]:
    """Return the text of a word, None if the word contains an expansion."""
    return (
        ''.join(part.value for part in word) if all(part.kind == 'text' for part in word) else None
    )


def split_assignment(word: List[Part]) -> Tuple[Optional[str], List[Part]]:
    """
    Split a word of the form NAME=VALUE into (name, word of the value).

    For any other word the result is (None, []).
    """
    match = _ASSIGNMENT.match(_get_unquoted_prefix(word))
    if not match:
        return None, []
    rest = word[0].value[match.end() :]
    return match.group(1), ([make_text_part(rest)] if rest else []) + word[1:]


# ---- Evaluation


class _ScriptReturn(Exception):
    """The current script executes `return`; the script that sources it continues."""


class _ScriptExit(Exception):
    """A script exits, so the runtime will not start the program."""


class _Piece(NamedTuple):
    """A piece of a word after the expansion of variables."""

    value: Optional[str]  #: text of the piece, None if unknown
    quoted: bool  #: whether the piece is inside quotes
    #: (reason, 'FILE:LINE') of an unknown value, None if the value is known
    origin: Optional[Tuple[Optional[str], str]] = None
    expanded: bool = True  #: whether the piece is the result of a variable or a command


class _ShellEvaluator:
    """
    An evaluator of the environment scripts of one image.

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

    def count_steps(self, steps: int = 1) -> None:
        """Count steps of work. Raises UnsupportedSyntaxError after more than _MAX_STEPS steps."""
        self.steps += steps
        if self.steps > _MAX_STEPS:
            raise UnsupportedSyntaxError(
                1,
                'the environment scripts of the image are too long, or source each other too often',
            )

    # ---- methods for variables

    def format_location(self, line: int) -> str:
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

    def set_variable(
        self,
        name: str,
        value: Optional[str],
        line: int,
        origin: Optional[Tuple[Optional[str], str]] = None,
        exported: bool = False,
        known_prefix: str = '',
    ) -> None:
        """
        Set the variable `name` to `value`, or to an unknown value if `value` is None.

        exported: True exports the variable, False keeps the export state. origin: reason and
        location of an unknown value, as in _Piece. known_prefix: known beginning of an unknown
        value.
        """
        reason, location = origin or (None, self.format_location(line))
        self.variables[name] = Variable(
            value, exported or self.is_exported(name), location, reason, known_prefix
        )

    def is_exported(self, name: str) -> Optional[bool]:
        """Return whether the variable `name` is exported after an assignment, None if unknown."""
        variable = self.variables.get(name, self.default)
        return variable.exported if variable else False

    def mark_unknown(self, name: str, line: int, reason: str) -> None:
        """Make the value and the export state of the variable `name` unknown."""
        self.variables[name] = Variable(None, None, self.format_location(line), reason)

    def mark_all_unknown(self, location: str, reason: str) -> None:
        """
        Make the values of all variables unknown.

        location: 'FILE:LINE' of the cause. reason: text about the cause.
        """
        self.variables = dict(_NO_APP)
        self.default = Variable(None, None, location, reason)

    # ---- methods for words

    def expand(self, word: List[Part], line: int) -> List[_Piece]:
        """Expand the variables in a word and return the pieces of the word."""
        pieces: List[_Piece] = []
        for part in word:
            if part.kind == 'text':
                pieces.append(_Piece(part.value, part.quoted, None, False))
            elif part.kind == 'unknown':
                pieces.append(_Piece(None, part.quoted, (part.value, self.format_location(line))))
            else:
                pieces += [
                    _Piece(piece.value, part.quoted or piece.quoted, piece.origin)
                    for piece in self.expand_parameter(part, line)
                ]
                # A quoted part is a field even if its value is empty.
                pieces += [_Piece('', True)] if part.quoted else []
        return pieces

    def expand_parameter(self, part: Part, line: int) -> List[_Piece]:
        """Expand a part of kind 'variable' and return its pieces."""
        variable, operator = self.get(part.value), part.operator
        if variable is not None and variable.value is None:
            prefix = variable.known_prefix if operator[-1:] != '+' else ''
            location = variable.location or self.format_location(line)
            return ([_Piece(prefix, part.quoted)] if prefix else []) + [
                _Piece(None, part.quoted, (variable.reason, location))
            ]
        value = variable.value if variable else ''
        if not operator:
            return [_Piece(value, part.quoted)]
        if (variable is not None and (value != '' or operator[0] != ':')) == (operator[-1] == '+'):
            return self.expand(part.word or [], line)
        return [_Piece('' if operator[-1] == '+' else value, part.quoted)]

    @staticmethod
    def join_expansion(
        pieces: List[_Piece],
    ) -> Tuple[Optional[str], Optional[Tuple[Optional[str], str]], str]:
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
                raise UnsupportedSyntaxError(
                    1, f'a value has more than {_MAX_VALUE_LENGTH} characters'
                )
        return text, None, ''

    def expand_value(
        self, word: List[Part], line: int
    ) -> Tuple[Optional[str], Optional[Tuple[Optional[str], str]], str]:
        """Expand a word without splitting, such as an assigned value; see join_expansion()."""
        return self.join_expansion(self.expand(word, line))

    def split_fields(self, words: List[List[Part]], line: int) -> Optional[List[Any]]:
        """
        Expand `words` and return the list of fields, None if the number of fields is unknown.

        A field is a str if the value is known, _NONEMPTY if the value is unknown but certainly not
        empty, and None for any other unknown value.
        """
        fields: List[Any] = []
        for word in words:
            pieces = self.expand(word, line)
            value, _, prefix = self.join_expansion(pieces)
            for piece in pieces:
                if not piece.quoted and (
                    piece.value is None
                    or re.search(r'[*?\[]' + r'|\s' * piece.expanded, piece.value)
                    or not piece.expanded
                    and '{' in piece.value
                ):
                    # The shell may split the piece, replace a pattern by file names, or expand
                    # {a,b}.
                    return None
            if value != '' or any(piece.quoted for piece in pieces):
                fields.append(_NONEMPTY if value is None and prefix else value)
        if 'IFS' in self.variables:
            return None
        return fields

    # ---- methods for statements

    def run(self, statements: List[Node]) -> Optional[bool]:
        """Evaluate `statements` in order and return the status of the last statement."""
        status: Optional[bool] = True
        for node in statements:
            self.count_steps()
            status = getattr(self, 'run_' + node.kind)(node)
        return status

    def mark_changes_unknown(self, node: Node, reason: str) -> None:
        """
        Make every variable unknown that the statement `node` may change.

        The caller does not know whether the shell runs this statement. Raises
        UnsupportedSyntaxError if the statement may change any variable.
        """
        text = node.source[node.begin : node.end]
        self.count_steps(1 + len(text) // 10)
        # These commands may exit the shell. An assignment to a variable that `readonly`, `declare`
        # or `typeset` has made read-only exits the shell, too.
        match = re.search(
            r'(?<![\w$./-])(exit|exec|shift|set|readonly|declare|typeset)(?![\w.=-])|\$\{\w+:?\?',
            text,
        )
        if match:
            self.exit_point = self.exit_point or (
                False,
                self.format_location(node.line),
                f'`{match.group()}` may run',
            )
        if re.search(r'(?<![\w$./-])return\b', text):
            raise UnsupportedSyntaxError(
                node.line, 'it is unknown whether the script executes `return` at this line'
            )
        names = set(_ASSIGNED_NAME.findall(text))
        is_unbounded = bool(_UNBOUNDED_EFFECT.search(text))
        for words in _NAMING_COMMAND.findall(text):
            words = re.sub(r'(?<=[=:/\w])("[^"]*"|\'[^\']*\'|\$\w+|\$\{\w+\})', '', words)
            names.update(re.findall(r'[A-Za-z_]\w*', words))
            is_unbounded = is_unbounded or '$' in words or '`' in words
        if is_unbounded:
            raise UnsupportedSyntaxError(node.line, reason)
        for name in sorted(names):
            self.mark_unknown(name, node.line, reason)

    def stop_evaluation(self, line: int, command: str) -> NoReturn:
        """Record that the script exits with the statement `command`, and raise _ScriptExit."""
        self.exit_point = (True, self.format_location(line), f'`{command}` runs')
        raise _ScriptExit()

    def set_path(self, folders: List[str]) -> None:
        """Set and export PATH, as the runtime does."""
        self.set_variable('PATH', ':'.join(folders), 0, exported=True)

    def run_and(self, node: Node) -> Optional[bool]:
        """Evaluate a statement of the form `FIRST && SECOND` or `FIRST || SECOND`."""
        operator, first, second = node.parts
        status = self.run([first])
        if status is None:
            self.mark_changes_unknown(
                second,
                f'the value depends on the result of an unsupported command before {operator}',
            )
            return None
        return self.run([second]) if status == (operator == '&&') else status

    def run_if(self, node: Node) -> Optional[bool]:
        for condition, body in node.parts[0]:
            status = self.run(condition)
            if status:
                return self.run(body)
            if status is None:
                self.mark_changes_unknown(
                    node,
                    'the value depends on a condition that cannot be evaluated '
                    f'({self.format_location(node.line)})',
                )
                return None
        return self.run(node.parts[1])

    def run_simple(self, node: Node) -> Optional[bool]:
        """Evaluate a statement that consists of assignments or of one command."""
        assignments, words, redirected = node.parts
        command = find_literal(words[0]) if words else ''
        text = node.source[node.begin : node.end]
        if redirected or assignments and words or _ASSIGNING_EXPANSION.search(text):
            self.mark_changes_unknown(
                node,
                'the command that sets the variable may fail, or sets the variable '
                'for one command only',
            )
            return None
        for name, word in assignments:
            self.assign(name, word, node.line)
        if not words:
            return None if any(_has_unknown(word) for _, word in assignments) else True
        method = _BUILTINS.get(command or '')
        if method:
            return method(self, node.line, words)
        # After a stopped evaluation, any command may be a function that the script has defined.
        if command is None or self.default:
            raise UnsupportedSyntaxError(
                node.line, f"{command or 'a command with an unknown name'} cannot be evaluated"
            )
        if _UNBOUNDED_EFFECT.search(text) or _NAMING_COMMAND.match(text):
            self.mark_changes_unknown(node, f'{command} cannot be evaluated')
        return True if command in ('echo', ':', 'true') else False if command == 'false' else None

    def assign(self, name: str, word: List[Part], line: int, exported: bool = False) -> None:
        """Evaluate the assignment of `word` to the variable `name`."""
        value, origin, prefix = self.expand_value(word, line)
        if _READ_ONLY_NAME.match(name):  # The shell skips the rest of the script at this error.
            raise UnsupportedSyntaxError(line, f'{name} may be a read-only variable')
        self.set_variable(name, value, line, origin, exported, prefix)

    def export(self, line: int, words: List[List[Part]]) -> Optional[bool]:
        for word in words[1:]:
            name, value = split_assignment(word)
            if name:
                self.assign(name, value, line, True)
                continue
            name = find_literal(word)
            if name is None or not re.match(r'[A-Za-z_]\w*$', name):
                # The runtime skips the whole script at an invalid name.
                raise UnsupportedSyntaxError(
                    line, 'the script calls `export` with an option or an invalid name'
                )
            variable = self.variables.get(name)
            if variable:
                self.variables[name] = variable._replace(exported=True)
            elif self.get(name) is None:
                self.mark_unknown(name, line, 'the script exports the variable before setting it')
        # Shells differ in whether the status of `$(command)` in a word becomes the status of
        # `export`.
        return None if any(_has_unknown(word) for word in words) else True

    def unset(self, line: int, words: List[List[Part]]) -> Optional[bool]:
        for field in self.split_fields(words[1:], line) or [None]:
            if not isinstance(field, str) or field.startswith('-'):
                raise UnsupportedSyntaxError(
                    line, 'the script calls `unset` with an option or an unknown name'
                )
            self.variables[field] = None
        return True

    def source(self, line: int, words: List[List[Part]]) -> Optional[bool]:
        """Evaluate `. FILE` or `source FILE`."""
        path = (self.split_fields(words[1:2], line) or [None])[0]
        if not isinstance(path, str) or not path.startswith('/'):
            raise UnsupportedSyntaxError(
                line, 'the script sources a file, and the path of this file is unknown'
            )
        if self.is_file(path) is False:
            return False  # The runtime prints a message and continues with the script.
        text = self.read_text(path) if self.is_file(path) else None
        if text is None:
            raise UnsupportedSyntaxError(line, f'the script sources {path}, which cannot be read')
        return self.run_script(path, text, line)

    def read_text(self, path: str) -> Optional[str]:
        """Return the text of a file in the container, None if the file cannot be read."""
        return self.bound_texts[path] if path in self.bound_texts else self.files.read_text(path)

    def run_script(self, path: str, text: str, line: int = 1) -> Optional[bool]:
        """
        Evaluate the script with the path `path` and the text `text`.

        line: if another script sources this script, the line number of the sourcing statement, for
        error messages.
        """
        if self.depth >= _MAX_DEPTH:
            raise UnsupportedSyntaxError(
                line, f'more than {_MAX_DEPTH} scripts source each other in a chain'
            )
        if len(text) > _MAX_SCRIPT_LENGTH:
            raise UnsupportedSyntaxError(
                line, f'{path} has more than {_MAX_SCRIPT_LENGTH} characters'
            )
        self.count_steps(100 + len(text))
        caller, self.file = self.file, path
        self.depth += 1
        try:
            return self.run(parse_script(text))
        except UnsupportedSyntaxError as err:
            err.location = err.location or self.format_location(err.line)
            raise
        except _ScriptReturn:
            return None
        finally:
            self.depth -= 1
            self.file = caller

    def run_exit_command(self, line: int, words: List[List[Part]]) -> Optional[bool]:
        """
        Evaluate a statement with the command `return`, `exit`, `exec` or `shift`.

        After `shift` the runtime does not start the program, because `shift` removes the first
        argument of the script, which is the path of the program.
        """
        command = find_literal(words[0]) or ''
        if command == 'return':
            raise _ScriptReturn()
        if command == 'exec' and len(words) == 1:
            return True
        self.stop_evaluation(line, command)

    # ---- methods for tests

    def run_test(self, line: int, words: List[List[Part]]) -> Optional[bool]:
        """Evaluate the command `test` or `[`."""
        fields = self.split_fields(words[1:], line)
        if fields is not None and find_literal(words[0]) == '[':
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
        if len(fields) == 0:
            return False
        if _NONEMPTY in fields:  # 99-base.sh, which the runtime adds, contains such tests.
            results = {('-n',): True, ('-z',): False, (): True}
            return results.get(tuple(fields[:-1])) if fields[-1] is _NONEMPTY else None
        if None in fields:
            return None
        if len(fields) == 1:
            return None if fields[0] in ('!', '(') else fields[0] != ''
        if len(fields) == 2:
            return self.evaluate_unary_test(*fields)
        if (
            len(fields) == 3
            and fields[1] in ('=', '==', '!=')
            and not set(fields[::2]) & {'!', '(', ')'}
        ):
            return (fields[0] == fields[2]) == (fields[1] != '!=')
        return None

    def evaluate_unary_test(self, operator: str, operand: str) -> Optional[bool]:
        """Return whether a test such as `-d FOLDER` is true, None if the result is unknown."""
        if operator in ('-z', '-n'):
            return (operand == '') == (operator == '-z')
        if operator not in ('-d', '-e', '-f'):
            return None
        kind = self.find_file_type(operand) if operand else ''
        if not kind:
            return None if kind is None else False
        return {'-d': kind == 'd', '-e': True, '-f': kind == '-'}[operator]

    def find_file_type(self, path: str) -> Optional[str]:
        """
        Return the type of a file in the container as the letter that `ls -l` prints.

        The result is '' if the path does not exist, and None if the type is unknown.
        """
        if path in self.bound_texts:
            return '-'
        if (
            not path.startswith('/')
            or _MOUNTED_PATH.match(re.sub('/+', '/', path))
            or '/..' in path
        ):
            return None
        kind = self.files.find_file_type(path)
        # The user may bind a folder to a new path. Such a bind adds no path
        # below a folder of the image.
        if kind is None:
            return '' if self.files.find_file_type('/' + path.strip('/').split('/')[0]) else None
        return kind

    def is_file(self, path: str) -> Optional[bool]:
        """Return whether a path is a plain file in the container, None if unknown."""
        kind = self.find_file_type(path)
        return None if kind is None else kind == '-'


#: Command that the evaluator supports -> method that evaluates the command
_BUILTINS: Dict[str, Callable[..., Optional[bool]]] = {
    'export': _ShellEvaluator.export,
    'unset': _ShellEvaluator.unset,
    '.': _ShellEvaluator.source,
    'source': _ShellEvaluator.source,
    '[': _ShellEvaluator.run_test,
    'test': _ShellEvaluator.run_test,
    'return': _ShellEvaluator.run_exit_command,
    'exit': _ShellEvaluator.run_exit_command,
    'exec': _ShellEvaluator.run_exit_command,
    'shift': _ShellEvaluator.run_exit_command,
}


def _has_unknown(word: List[Part]) -> bool:
    """Return whether `word` contains $(command) or an unsupported expansion."""
    return any(part.kind == 'unknown' or _has_unknown(part.word or []) for part in word)


def evaluate_environment(files: Any, bound_texts: Iterable[Any] = ()) -> Environment:
    """
    Return the Environment that results from the environment scripts of an image.

    files: an Image, or an object with the same methods (osu_container/check/described.py).
    bound_texts: {path in the container: text} of files that the user binds into the container.
    """
    shell = _ShellEvaluator(files, bound_texts)
    problems: List[Tuple[str, str]] = []
    try:
        _run_scripts(shell, problems)
        # If no script sets PATH, the program gets the PATH that the runtime itself uses.
        if shell.get('PATH') is None:
            shell.set_path(DEFAULT_PATH)
    except _ScriptExit:
        pass
    variables = {
        name: variable
        for name, variable in shell.variables.items()
        # SING_*: variables that the runtime uses in its own scripts.
        if variable and not name.startswith('SING_')
    }
    return Environment(variables, shell.default, shell.exit_point, problems)


def _run_scripts(shell: _ShellEvaluator, problems: List[Tuple[str, str]]) -> None:
    """
    Evaluate the environment scripts of an image in the order of the runtime.

    The function appends (path, reason) to `problems` for each script that the runtime skips.
    """

    def set_default_path() -> None:
        """Set PATH to the default folders if PATH is unset or empty."""
        shell.file = 'the runtime'
        if not shell.get('PATH'):
            shell.set_path(DEFAULT_PATH)

    def extend_path() -> None:
        """Append the default folders that PATH does not contain to PATH."""
        path = shell.get('PATH')
        if path is None or path.value is not None:
            folders = path.value.split(':') if path and path.value else []
            folders += [folder for folder in DEFAULT_PATH if folder not in folders]
            shell.set_path(folders)

    def run(path: str) -> None:
        text = shell.read_text(path)
        if text is None:
            problems.append((path, 'cannot be read'))
            shell.mark_all_unknown(shell.format_location(1), f'{path} cannot be read')
            return
        try:
            shell.run_script(path, text)
        except UnsupportedSyntaxError as err:
            shell.mark_all_unknown(err.location or shell.format_location(1), str(err))
        except RecursionError:
            shell.mark_all_unknown(shell.format_location(1), 'commands are nested too deeply')

    names = [
        path[len(SCRIPTS_FOLDER) + 1 :]
        for path in shell.bound_texts
        if path.startswith(SCRIPTS_FOLDER + '/')
    ]
    if names or shell.files.find_file_type(SCRIPTS_FOLDER) == 'd':
        for name in sorted(set(names + shell.files.list_folder(SCRIPTS_FOLDER))):
            path = f'{SCRIPTS_FOLDER}/{name}'
            if not name.endswith('.sh') or name.startswith('.') or name == '99-runtimevars.sh':
                continue
            shell.file = path
            kind = '-' if path in shell.bound_texts else shell.files.find_file_type(path)
            if kind != '-':
                if kind is None:
                    problems.append((path, 'is a broken link'))
                continue
            if name == '90-environment.sh' and not shell.get('PATH'):
                extend_path()
            run(path)
            if name in ('10-docker2singularity.sh', '10-docker.sh'):
                shell.file = 'the runtime'
                extend_path()
            if name == '99-base.sh':
                set_default_path()
    else:
        if shell.files.find_file_type('/environment') == '-':
            run('/environment')
            shell.file = 'the runtime'
            extend_path()
        set_default_path()


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
        return None if environment.default is UNSET else environment.default
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
