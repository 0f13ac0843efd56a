"""
Evaluate the environment scripts of an image without executing anything.

Supported are assignments, `export`, `unset`, `.`, `if`, `test`, `&&` and `||`, as POSIX (Shell
Command Language, 2.10) and the interpreter of the container runtimes (mvdan.cc/sh) define them. The
output of a command is unknown. At any other construct (loop, `case`, function, pipe, `eval`) the
evaluation of a script stops, and every variable is unknown until a later script sets it. On the
system itself the dry run reports these values (osu_container/verdict/dry_run.py).

The runtime's order is that of the action script of Apptainer 1.4.5
(internal/pkg/util/fs/files/action_script.sh), confirmed by runs of that release. SingularityCE has
the same order, and Apptainer 1.5.3 but for LD_LIBRARY_PATH (osu_container/verdict/trial.py):

1. The scripts see none of the host's variables.
2. The runtime runs /.singularity.d/env/*.sh in the byte order of their names, bound files included.
   After 99-base.sh it sets the variables given as APPTAINERENV_NAME or by --env. These belong to
   the user and are not modelled here.
3. Without that folder, and with nothing bound there, the runtime runs /environment.
4. Host variables that no script has set return. Variables that a script has set to nothing, or has
   set without `export`, are absent.
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

if TYPE_CHECKING:  # image.py imports this module
    from osu_container.image.image import Image

SCRIPTS_FOLDER = '/.singularity.d/env'
#: The runtime appends this folder to the LD_LIBRARY_PATH that it is given
RUNTIME_LIBRARIES = '/.singularity.d/libs'
#: PATH in a container where the image sets none (Apptainer, internal/pkg/util/env, DefaultPath)
DEFAULT_PATH = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']


class Variable(NamedTuple):
    """A variable that is set, perhaps to an unknown value."""

    value: Optional[str]  #: None if unknown
    exported: Optional[bool]  #: None if unknown
    location: Optional[str]  #: 'FILE:LINE' that set the variable or made it unknown
    reason: Optional[str] = None  #: why the value is unknown, None if it is known
    known_prefix: str = ''  #: the text with which an unknown value certainly begins


#: Behind `env -i`: no other variable is set
UNSET = Variable('', False, None)


class Environment(NamedTuple):
    """The variables that environment scripts leave to a program."""

    variables: Dict[str, Variable]  #: those that the scripts leave set
    #: any other variable: unknown after an evaluation that stopped, UNSET, or None if the host's
    #: value counts
    default: Optional[Variable]
    #: where the start of the program ends (certain or possible, 'FILE:LINE', reason), or None
    exit_point: Optional[Tuple[bool, str, str]]
    problems: List[Tuple[str, str]]  #: (path, reason) of each script that the runtime skips


#: A field that is unknown, but not empty
_NONEMPTY = object()
#: Variables that the image does not control: the user's, the shell's, the runtime's
_FOREIGN_NAME = re.compile(
    r'(HOME|(OLD)?PWD|[E]?[UG]ID|PPID|IFS|OPT(IND|ARG|ERR)|LINENO|DIRSTACK|S?RANDOM|SECONDS|SHELL|'
    r'HOSTNAME|HOSTTYPE|MACHTYPE|OSTYPE|SHLVL|PIPESTATUS|BASH\w*|EPOCH\w*|_|e|key|__\w+|'
    r'(APPTAINER|SINGULARITY)_(?!APPNAME$)\w+|SING_\w+|[0-9@*?$!#-]+)$'
)
#: Variables that are read-only in bash
_READ_ONLY_NAME = re.compile(r'(E?[UG]ID|PPID|BASHOPTS|BASH_VERSINFO|SHELLOPTS)$')
#: Folders that come from the host in a container (apptainer.conf: mount proc, sys, dev, home, tmp;
#: user binds below /), or where this project and sites bind files
_MOUNTED_PATH = re.compile(
    r'/(proc|sys|dev|home|root|tmp|var/tmp|var/spool|run|host|opt/host-mpi|opt/cray|users|etc/('
    r'passwd|group|hosts|hostname|localtime|resolv\.conf))(/|$)'
)
#: An app of an image has an environment of its own (--app); no app is selected
_NO_APP = {'APPTAINER_APPNAME': None, 'SINGULARITY_APPNAME': None}
#: Commands that may set any variable, and an element of an array
_UNBOUNDED_EFFECT = re.compile(
    r'(?<![\w$./-])(eval|source|command(?!\s+-[vV])|builtin|exec|shopt|enable|trap|readonly|'
    r'declare|typeset|let|set|break|continue)\b|(?:^|[;&|(){}\n]|\b(?:then|else|do)\b)\s*\.\s|\w\[|\(\('
)
#: Names that a text may set: NAME=, ${NAME:=...}, and all words behind the commands that take names
_ASSIGNED_NAME = re.compile(r'([A-Za-z_]\w*)(?:\+?=|:=)')
_NAMING_COMMAND = re.compile(
    r'\b(?:export|local|unset|read|getopts|printf|mapfile|readarray)\b([^\n;|&]*)'
)
#: ${NAME:=...} assigns, and ${NAME:?} exits
_ASSIGNING_EXPANSION = re.compile(r'\$\{\w+:?[=?]')
#: Scripts that source each other
_MAX_DEPTH = 20
#: Characters of one script. The largest seen has 60 KB (Spack's, of 400 packages)
_MAX_SCRIPT_LENGTH = 1 << 18
#: Characters of a value: execve(2) accepts no longer string (MAX_ARG_STRLEN)
_MAX_VALUE_LENGTH = 1 << 17
#: Work for one environment: characters of scripts, statements that are evaluated or skipped. Real
#: images need at most 50,000; this limit is reached after some seconds
_MAX_STEPS = 500000


# ---- Syntax: text -> statements


class Part(NamedTuple):
    """One part of a word."""

    kind: str  #: 'text', 'variable' or 'unknown'
    value: str  #: the text, the variable's name, or a description of what is unknown
    quoted: bool = False  #: quoted parts are neither split into fields nor patterns
    operator: str = ''  #: of ${NAME...}: '', or - + = ? with or without a colon
    word: Optional[List['Part']] = None  #: the word behind the operator


class Node(NamedTuple):
    """
    A statement.

    The parts of 'simple' are [(name, word)], [word], and whether output is redirected to a file
    other than /dev/null; of 'and', '&&' or '||' and two statements; of 'if', [(condition, body)]
    and the body of `else`. A body is a list of statements, a word a list of Part.
    """

    kind: str  #: 'simple', 'and' or 'if'
    line: int  #: the first line is 1
    source: str  #: the whole script
    begin: int  #: where the statement begins in source
    end: int  #: where the statement ends in source
    parts: Tuple[Any, ...]


# The pieces of a word. No text matches two alternatives, so that the search never backtracks.
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
    r"(?P<escape>\\.)|(?P<single>'[^']*')|(?P<double>%s)|(?P<command>%s|%s)|(?P<arithmetic>%s)|(?P<braces>%s)|"
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
#: Words that begin no command, or a command that is not supported
_NO_COMMAND = frozenset(
    'then else elif fi do done esac } ]] in coproc time function '
    'for while until select case { [[ !'.split()
)


class UnsupportedSyntaxError(Exception):
    """A construct at which the evaluation of a script stops; the text is the reason."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f'evaluation of the script stops there: {reason}')
        self.line = line
        self.location: Optional[str] = None  #: 'FILE:LINE', once the file is known


def make_text_part(text: str, quoted: bool = False) -> Part:
    """Return the Part of a piece of text."""
    return Part('text', text, quoted)


def parse_script(script: str) -> List[Node]:
    """Return the statements of a script. Raises UnsupportedSyntaxError."""
    script = script.replace('\r\n', '\n')  # as mvdan.cc/sh does
    if '\r' in script or '\0' in script:
        raise UnsupportedSyntaxError(1, 'it is not a text file')
    parser = _ScriptParser(script)
    try:
        return parser.parse_body(('',))
    except RecursionError:
        raise UnsupportedSyntaxError(parser.get_line(), 'commands are nested too deeply')


def _tokenize(script: str) -> List[Tuple[Optional[str], str, int, int, int]]:
    """
    Return the tokens of a script: (kind, text, line, begin, end).

    The kind is 'end' (of a command), 'to' (a redirection) or 'word'. The last token has no text.
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
            raise UnsupportedSyntaxError(line, f'unsupported syntax: {text}')
        if token.lastgroup != 'blank':
            tokens.append((token.lastgroup, token.group(), line, position, token.end()))
        position, line = token.end(), line + token.group().count('\n')
    return tokens + [('end', '', line, position, position)]


class _ScriptParser:
    """The state of one parse_script(). Its methods raise UnsupportedSyntaxError."""

    def __init__(self, script: str) -> None:
        self.script, self.tokens, self.position = script, _tokenize(script), 0

    def get_line(self) -> int:
        """Return the number of the current line."""
        return self.tokens[self.position][2]

    def peek(self) -> str:
        """Return the text of the next token, '' at the end."""
        return self.tokens[self.position][1]

    def make_node(self, kind: str, begin: int, *parts: Any) -> Node:
        """Return the Node from the token number `begin` up to the current one."""
        first, last = self.tokens[begin], self.tokens[self.position - 1]
        return Node(kind, first[2], self.script, first[3], last[4], parts)

    def raise_unsupported(self) -> NoReturn:
        raise UnsupportedSyntaxError(
            self.get_line(),
            f"unsupported syntax: {self.peek().strip() or 'unexpected end of a command'}",
        )

    def expect(self, *expected: str) -> str:
        """Consume the next token, which must be one of `expected`, and return its text."""
        if self.peek() not in expected:
            self.raise_unsupported()
        self.position += 1
        return self.tokens[self.position - 1][1]

    def skip_newlines(self) -> None:
        while self.peek() == '\n':
            self.position += 1

    def parse_body(self, ends: Tuple[str, ...], empty: bool = True) -> List[Node]:
        """Return the statements up to one of `ends`, which is not consumed."""
        statements: List[Node] = []
        self.skip_newlines()
        while self.peek() not in ends:
            statements.append(self.parse_and_or())
            if self.peek() not in ends:
                self.expect(';', '\n')
            self.skip_newlines()
        return statements if statements or empty else self.raise_unsupported()

    def parse_and_or(self) -> Node:
        """Return a statement with all statements that && and || join to it."""
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
        """Consume a redirection; return whether its file may fail to open."""
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
                if not value and self.peek() == '(':  # an array
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
    Return the parts of a piece of a script.

    `quoted`: within double quotes; `brace`: within ${ }, where quotes in quotes are removed.
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
            parts.append(Part('unknown', '~'))
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
                'command': 'the output of a command',
                'arithmetic': 'an arithmetic expression',
            }.get(kind or '', "$'...'")
            # after these the end of the command is uncertain
            if kind == 'command' and re.search(r'\bcase\b|#|<<', value):
                raise UnsupportedSyntaxError(line, description)
            parts.append(Part('unknown', description, quoted))
        # one part for each letter would be a long list
        if (
            len(parts) > 1
            and parts[-1].kind == parts[-2].kind == 'text'
            and parts[-1].quoted == parts[-2].quoted
        ):
            parts[-2:] = [make_text_part(parts[-2].value + parts[-1].value, parts[-1].quoted)]
    return parts


#: Within double quotes single ones, and ~, are as any other letter
_QUOTED_PIECE = re.compile(
    _PIECE_PATTERN.replace("(?P<single>'[^']*')|", '').replace(r"(?P<odd>\$'(?:[^'\\]|\\.)*')|", '')
    % r"""\$(?![{(])|[^\\"`$]""",
    re.S,
)


def _unescape(letter: str, quoted: bool, brace: bool) -> List[Part]:
    """Return the parts of a backslash and the letter behind it; see _parse_parts()."""
    if letter == '\n':
        return []
    if not quoted:  # mvdan.cc/sh keeps the backslash in some places
        return [Part('unknown', 'a backslash outside quotes')]
    is_removed = letter in '$`"\\' or brace and letter == '}'
    return [make_text_part(letter if is_removed else '\\' + letter, True)]


def _parse_expansion(content: str, quoted: bool, line: int) -> Part:
    """Return the Part of ${content}."""
    match = _EXPANSION.match(content)
    # with quotes the expansion may end elsewhere
    if "'" in content or content.count('"') % 2 or not match and '=' in content:
        raise UnsupportedSyntaxError(line, f'unsupported expansion: ${{{content}}}')
    if not match:
        return Part('unknown', 'an unsupported ${ } expansion', quoted)
    name, operator, word = match.groups()
    return Part(
        'variable',
        name,
        quoted,
        operator or '',
        _parse_parts(word, quoted, line, True) if operator else None,
    )


def _get_unquoted_prefix(word: List[Part]) -> str:
    """Return the unquoted text with which a word begins."""
    return word[0].value if word and word[0].kind == 'text' and not word[0].quoted else ''


def find_literal(word: List[Part]) -> Optional[str]:
    """Return the text of a word, or None if the word has an expansion."""
    return (
        ''.join(part.value for part in word) if all(part.kind == 'text' for part in word) else None
    )


def split_assignment(word: List[Part]) -> Tuple[Optional[str], List[Part]]:
    """Return (name, word of the value) of a word NAME=VALUE, (None, []) of another word."""
    match = _ASSIGNMENT.match(_get_unquoted_prefix(word))
    if not match:
        return None, []
    rest = word[0].value[match.end() :]
    return match.group(1), ([make_text_part(rest)] if rest else []) + word[1:]


# ---- Evaluation


class _ScriptReturn(Exception):
    """The current script ends."""


class _ScriptExit(Exception):
    """The program is not started."""


class _Piece(NamedTuple):
    """A piece of an expanded word."""

    value: Optional[str]  #: None if unknown
    quoted: bool
    origin: Optional[Tuple[Optional[str], str]] = None  #: of an unknown value: reason, 'FILE:LINE'
    expanded: bool = True  #: the piece stems from a variable or a command


class _ShellEvaluator:
    """
    The state of one evaluation. A variable that is None in `variables` is unset.

    The methods of statements return whether the statement succeeds, None if that is unknown.
    """

    def __init__(self, files: 'Image', bound: Iterable[Any] = ()) -> None:
        """`bound`: {path: text} of files that are bound into the container."""
        self.files = files
        self.bound: Dict[str, str] = dict(bound)
        self.variables: Dict[str, Optional[Variable]] = dict(_NO_APP)
        self.default: Optional[Variable] = None
        self.exit_point: Optional[Tuple[bool, str, str]] = None
        self.file, self.depth, self.steps = '', 0, 0

    def count_steps(self, steps: int = 1) -> None:
        """Count steps of work. Raises UnsupportedSyntaxError above the limit."""
        self.steps += steps
        if self.steps > _MAX_STEPS:
            raise UnsupportedSyntaxError(
                1, 'the scripts of the image are too long, or source each other too often'
            )

    # Variables

    def format_location(self, line: int) -> str:
        """Return 'FILE:LINE' in the current script."""
        return f'{self.file}:{line}'

    def get(self, name: str) -> Optional[Variable]:
        """Return the variable, None if it is not set."""
        if name in self.variables:
            return self.variables[name]
        if _FOREIGN_NAME.match(name):
            return Variable(None, True, None, f'${name} is unknown before the program runs')
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
        Set a variable; `exported` False keeps it exported or not.

        `origin` and `known_prefix` of an unknown value are those of a _Piece and a Variable.
        """
        reason, location = origin or (None, self.format_location(line))
        self.variables[name] = Variable(
            value, exported or self.is_exported(name), location, reason, known_prefix
        )

    def is_exported(self, name: str) -> Optional[bool]:
        """Return whether an assignment to the variable is exported, None if unknown."""
        variable = self.variables.get(name, self.default)
        return variable.exported if variable else False

    def mark_unknown(self, name: str, line: int, reason: str) -> None:
        """Make the value of a variable unknown, and whether it is exported."""
        self.variables[name] = Variable(None, None, self.format_location(line), reason)

    def mark_all_unknown(self, location: str, reason: str) -> None:
        """Make all variables unknown from a location 'FILE:LINE' on."""
        self.variables = dict(_NO_APP)
        self.default = Variable(None, None, location, reason)

    # Words

    def expand(self, word: List[Part], line: int) -> List[_Piece]:
        """Return the pieces of a word after expansion."""
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
                # quotes make a field even if it is empty
                pieces += [_Piece('', True)] if part.quoted else []
        return pieces

    def expand_parameter(self, part: Part, line: int) -> List[_Piece]:
        """Return the pieces of a part that is a variable."""
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
        """Return (text, None, '') of known pieces, else (None, origin, known prefix)."""
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
        """Expand a word that is not split into fields, such as an assigned value."""
        return self.join_expansion(self.expand(word, line))

    def split_fields(self, words: List[List[Part]], line: int) -> Optional[List[Any]]:
        """
        Return the fields of words, None if their number is unknown.

        A field is a str, None if unknown, or _NONEMPTY if unknown but not empty.
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
                    return None  # several words, names of files, or {a,b} of bash
            if value != '' or any(piece.quoted for piece in pieces):
                fields.append(_NONEMPTY if value is None and prefix else value)
        if 'IFS' in self.variables:
            return None
        return fields

    # Statements

    def run(self, statements: List[Node]) -> Optional[bool]:
        """Evaluate statements in their order."""
        status: Optional[bool] = True
        for node in statements:
            self.count_steps()
            status = getattr(self, 'run_' + node.kind)(node)
        return status

    def mark_changes_unknown(self, node: Node, reason: str) -> None:
        """
        Make every variable unknown that a statement may change.

        Callers use it where it is unknown whether the statement runs. Raises UnsupportedSyntaxError
        if the statement may change any variable.
        """
        text = node.source[node.begin : node.end]
        self.count_steps(1 + len(text) // 10)
        # an assignment to a read-only variable exits as well
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
            raise UnsupportedSyntaxError(node.line, '`return` may run or not')
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

    def stop_evaluation(self, line: int, reason: str) -> NoReturn:
        """End all scripts: the program is not started."""
        self.exit_point = (True, self.format_location(line), reason)
        raise _ScriptExit()

    def run_and(self, node: Node) -> Optional[bool]:
        """Evaluate two statements joined by && or ||."""
        operator, first, second = node.parts
        status = self.run([first])
        if status is None:
            self.mark_changes_unknown(
                second, f'it depends on a command before {operator} that cannot be evaluated'
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
                    'it depends on a condition that cannot be evaluated '
                    f'({self.format_location(node.line)})',
                )
                return None
        return self.run(node.parts[1])

    def run_simple(self, node: Node) -> Optional[bool]:
        """Evaluate assignments or one command."""
        assignments, words, redirected = node.parts
        command = find_literal(words[0]) if words else ''
        text = node.source[node.begin : node.end]
        if redirected or assignments and words or _ASSIGNING_EXPANSION.search(text):
            self.mark_changes_unknown(
                node, 'the command that sets it may fail, or sets it for one command only'
            )
            return None
        for name, word in assignments:
            self.assign(name, word, node.line)
        if not words:
            return None if any(_has_unknown(word) for _, word in assignments) else True
        method = _BUILTINS.get(command or '')
        if method:
            return method(self, node.line, words)
        # after a stop, a script may have defined any command as a function
        if command is None or self.default:
            raise UnsupportedSyntaxError(
                node.line, f"{command or 'a command with an unknown name'} cannot be evaluated"
            )
        if _UNBOUNDED_EFFECT.search(text) or _NAMING_COMMAND.match(text):
            self.mark_changes_unknown(node, f'{command} cannot be evaluated')
        return True if command in ('echo', ':', 'true') else False if command == 'false' else None

    def assign(self, name: str, word: List[Part], line: int, exported: bool = False) -> None:
        """Evaluate NAME=VALUE."""
        value, origin, prefix = self.expand_value(word, line)
        if _READ_ONLY_NAME.match(name):  # the shell then skips what follows
            raise UnsupportedSyntaxError(line, f'{name} may be read-only')
        self.set_variable(name, value, line, origin, exported, prefix)

    def export(self, line: int, words: List[List[Part]]) -> Optional[bool]:
        for word in words[1:]:
            name, value = split_assignment(word)
            if name:
                self.assign(name, value, line, True)
                continue
            name = find_literal(word)
            if name is None or not re.match(r'[A-Za-z_]\w*$', name):
                # at an invalid name the runtime skips the whole script
                raise UnsupportedSyntaxError(line, '`export` of an option or an invalid name')
            variable = self.variables.get(name)
            if variable:
                self.variables[name] = variable._replace(exported=True)
            elif self.get(name) is None:
                self.mark_unknown(name, line, 'it is exported before it is set')
        # shells differ in whether a command in a word decides the status
        return None if any(_has_unknown(word) for word in words) else True

    def unset(self, line: int, words: List[List[Part]]) -> Optional[bool]:
        for field in self.split_fields(words[1:], line) or [None]:
            if not isinstance(field, str) or field.startswith('-'):
                raise UnsupportedSyntaxError(line, '`unset` of an unknown name')
            self.variables[field] = None
        return True

    def source(self, line: int, words: List[List[Part]]) -> Optional[bool]:
        """Evaluate `. FILE`."""
        path = (self.split_fields(words[1:2], line) or [None])[0]
        if not isinstance(path, str) or not path.startswith('/'):
            raise UnsupportedSyntaxError(line, 'it sources a script with an unknown path')
        if self.is_file(path) is False:
            return False  # the runtime prints a message and continues
        text = self.read_text(path) if self.is_file(path) else None
        if text is None:
            raise UnsupportedSyntaxError(line, f'it sources {path}, which cannot be read')
        return self.run_script(path, text, line)

    def read_text(self, path: str) -> Optional[str]:
        """Return the text of a file in the container, None if it cannot be read."""
        return self.bound[path] if path in self.bound else self.files.read_text(path)

    def run_script(self, path: str, text: str, line: int = 1) -> Optional[bool]:
        """Evaluate the text of a script; `line` of the current script sources it."""
        if self.depth >= _MAX_DEPTH:
            raise UnsupportedSyntaxError(
                line, f'scripts source each other in more than {_MAX_DEPTH} levels'
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
        """Evaluate return, exit, exec, or shift, which removes the program from the arguments."""
        command = find_literal(words[0]) or ''
        if command == 'return':
            raise _ScriptReturn()
        if command == 'exec' and len(words) == 1:
            return True
        self.stop_evaluation(line, command)

    # Tests

    def run_test(self, line: int, words: List[List[Part]]) -> Optional[bool]:
        """Evaluate `test` or `[`."""
        fields = self.split_fields(words[1:], line)
        if fields is not None and find_literal(words[0]) == '[':
            fields = fields[:-1] if fields[-1:] == [']'] else None
        return None if fields is None else self.evaluate_test(fields)

    def evaluate_test(self, fields: List[Any]) -> Optional[bool]:
        """Return whether a test holds, None if unknown; fields: see split_fields()."""
        if len(fields) > 1 and fields[0] == '!':
            status = self.evaluate_test(fields[1:])
            return None if status is None else not status
        if len(fields) == 0:
            return False
        if _NONEMPTY in fields:  # 99-base.sh has such tests
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
        """Return whether a test with one operand holds, None if unknown."""
        if operator in ('-z', '-n'):
            return (operand == '') == (operator == '-z')
        if operator not in ('-d', '-e', '-f'):
            return None
        kind = self.find_file_type(operand) if operand else ''
        if not kind:
            return None if kind is None else False
        return {'-d': kind == 'd', '-e': True, '-f': kind == '-'}[operator]

    def find_file_type(self, path: str) -> Optional[str]:
        """Return the type letter of a path in a container, '' if absent, None if unknown."""
        if path in self.bound:
            return '-'
        if (
            not path.startswith('/')
            or _MOUNTED_PATH.match(re.sub('/+', '/', path))
            or '/..' in path
        ):
            return None
        kind = self.files.find_file_type(path)
        if kind is None:  # a bind may add the path, but not below a folder of the image
            return '' if self.files.find_file_type('/' + path.strip('/').split('/')[0]) else None
        return kind

    def is_file(self, path: str) -> Optional[bool]:
        """Return whether a path is a plain file in a container, None if unknown."""
        kind = self.find_file_type(path)
        return None if kind is None else kind == '-'


#: Commands that are evaluated
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
    """Return whether a word has a command or an unsupported expansion."""
    return any(part.kind == 'unknown' or _has_unknown(part.word or []) for part in word)


def evaluate_environment(files: Any, bound: Iterable[Any] = ()) -> Environment:
    """
    Return the environment that the runtime makes of an image.

    `files` is an Image, or an object with the same methods (osu_container/check/described.py).
    `bound`: {path: text} of files that are bound into the container.
    """
    shell = _ShellEvaluator(files, bound)
    problems: List[Tuple[str, str]] = []
    try:
        _run_scripts(shell, problems)
        if shell.get('PATH') is None:  # the runtime itself was started with PATH
            shell.set_variable('PATH', ':'.join(DEFAULT_PATH), 0, exported=True)
    except _ScriptExit:
        pass
    variables = {
        name: variable
        for name, variable in shell.variables.items()
        if variable and not name.startswith('SING_')  # the runtime's own variables
    }
    return Environment(variables, shell.default, shell.exit_point, problems)


def _run_scripts(shell: _ShellEvaluator, problems: List[Tuple[str, str]]) -> None:
    """Evaluate the scripts in the runtime's order; add the skipped ones to `problems`."""

    def set_default_path() -> None:
        """Set PATH if no script has set it."""
        shell.file = 'the runtime'
        if not shell.get('PATH'):
            shell.set_variable('PATH', ':'.join(DEFAULT_PATH), 0, exported=True)

    def extend_path() -> None:
        """Append the default folders to PATH."""
        path = shell.get('PATH')
        if path is None or path.value is not None:
            folders = path.value.split(':') if path and path.value else []
            folders += [folder for folder in DEFAULT_PATH if folder not in folders]
            shell.set_variable('PATH', ':'.join(folders), 0, exported=True)

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
        for path in shell.bound
        if path.startswith(SCRIPTS_FOLDER + '/')
    ]
    if names or shell.files.find_file_type(SCRIPTS_FOLDER) == 'd':
        for name in sorted(set(names + shell.files.list_folder(SCRIPTS_FOLDER))):
            path = f'{SCRIPTS_FOLDER}/{name}'
            if not name.endswith('.sh') or name.startswith('.') or name == '99-runtimevars.sh':
                continue
            shell.file = path
            kind = '-' if path in shell.bound else shell.files.find_file_type(path)
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
    Return the environment of an image whose scripts the runtime has run.

    `values` are the exported variables after that run. Locations, and the variables that are not
    exported, come from the evaluated environment.
    """
    variables = {
        name: variable
        for name, variable in evaluated.variables.items()
        if variable.exported is False
    }
    for name, value in values.items():
        if not _FOREIGN_NAME.match(name):
            static = evaluated.variables.get(name)
            location = static and static.location or 'the scripts of the image'
            variables[name] = (
                static
                if static and static.value == value and static.exported
                else Variable(value, True, location)
            )
    return Environment(variables, None, None, evaluated.problems)


def resolve_process_variable(
    environment: Environment, name: str, host_value: Optional[str] = None
) -> Optional[Variable]:
    """
    Return a variable as a program's process has it, None if the process has none.

    `host_value` is the value with which the runtime is called.
    """
    if name not in environment.variables:
        if host_value is not None and environment.default is None:
            return Variable(host_value, True, None)
        return None if environment.default is UNSET else environment.default
    variable = environment.variables[name]
    if variable.exported is None:
        return variable._replace(value=None, reason=variable.reason or 'it may be exported or not')
    if variable.value is None:
        return variable if variable.exported else None
    return variable if variable.exported and (variable.value or host_value is None) else None


def get_exported_value(environment: Environment, name: str) -> Optional[str]:
    """Return the value of an exported variable, None if it is unset or unknown."""
    variable = environment.variables.get(name)
    return variable.value if variable and variable.exported else None


def parse_folder_list(
    variable: Optional[Variable], is_loader_path: bool = False
) -> Tuple[List[str], bool]:
    """
    Return the folders of a list such as LD_LIBRARY_PATH, and whether the list is complete.

    Of an unknown value the folders are those with which the value certainly begins.
    """
    if variable is None:
        return [], True
    # ld.so also accepts ; and $ORIGIN (elf/dl-load.c)
    value, separators = variable.value, '[:;]' if is_loader_path else ':'
    parts = (
        re.split(separators, variable.known_prefix)[:-1]
        if value is None
        else re.split(separators, value)
    )
    starts = ('/', '$') if is_loader_path else ('/',)
    return [part for part in parts if part.startswith(starts)], value is not None
