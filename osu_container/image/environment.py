"""
Evaluate the environment scripts of an image without executing anything.

The evaluator supports assignments, `export`, `unset`, `.`, `if`, `test`, `&&` and `||`. The meaning
of these constructs follows POSIX (Shell Command Language, 2.10) and mvdan.cc/sh, the shell
interpreter of the container runtimes. The evaluator treats the output of a command as unknown. At
any other construct (loop, `case`, function, pipe, `eval`, redirection to a file) the evaluation of
the script stops, and every variable is unknown until a later script sets the variable. On the host
itself, the dry run reports the real values (osu_container/verdict/dry_run.py). image/scripts.py
evaluates the wrapper script of a program with the same class.

The evaluator runs the scripts in the order of Apptainer 1.4.5, whose source is
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
"""

import posixpath
import re
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    Iterable,
    List,
    Match,
    NamedTuple,
    Optional,
    Pattern,
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
#: Maximum number of characters of one script. The largest known script has 60 KB (a script of Spack
#: for 400 packages)
_MAX_SCRIPT_LENGTH = 1 << 18
#: Maximum number of characters of a value. execve(2) does not accept a longer string
#: (MAX_ARG_STRLEN)
_MAX_VALUE_LENGTH = 1 << 17
#: Maximum work for one environment: characters of scripts plus statements. Known images need at
#: most 50,000 steps; 500,000 steps take a few seconds
_MAX_STEPS = 500000


# ---- Patterns for the syntax of a shell script

#: Blanks, comments, and redirections that cannot fail. Shells differ in the meaning of a comment
#: that ends with a backslash
_BLANK = re.compile(
    r'(?:[ \t]|\\\n|#(?:[^\n]*[^\n\\])?(?![^\n])|'
    r'\d?(?:>>?[ \t]*/dev/null|[<>]&(?:\d|-))(?=[\s;&|]|\Z))*'
)
_EMPTY_LINES = re.compile(r'(?:[ \t\n]|\\\n|#(?:[^\n]*[^\n\\])?(?![^\n]))*')
_SEPARATOR = re.compile(r'\n|;(?!;)')
_OPERATOR = re.compile(r'&&|\|\|')
_COMMAND_END = re.compile(r'\Z|\n|;|&&|\|\|')
_ASSIGNMENT = re.compile(r'([A-Za-z_]\w*)=')
#: Character that ends a part of a word -> pattern for text without special meaning in this part
_PLAIN_TEXT = {
    '': re.compile(r"""[^\s;&|<>()\\'"`$~]+"""),
    '"': re.compile(r'[^"\\`$]+'),
    '}': re.compile(r"""[^{}"'\\`$~]+"""),
}
_SINGLE_QUOTES = re.compile(r"'[^']*'")
_DOUBLE_QUOTE = re.compile('"')
_CLOSING_BRACE = re.compile('}')
_ESCAPE = re.compile(r'\\.', re.S)
_CONTINUATION = re.compile(r'\\\n')
#: Pattern for a plain command substitution, whose end is certain
_SUBSTITUTION = re.compile(
    r"""\$\((?!\()(?:(?!\bcase\b)[^()"'`\\#<]|"[^()"`\\]*")*\)|`(?:(?!\bcase\b)[^'"`\\#<])*`"""
)
#: Pattern for $NAME, ${NAME and the beginning of ${NAME:-WORD}
_PARAMETER = re.compile(r'\$(?:([A-Za-z_]\w*|[0-9@*?!-])|\{([A-Za-z_]\w*|[0-9]+|[@*])(:?[-+])?)')
_NAME = re.compile(r'[A-Za-z_]\w*$')
#: Pattern for the name of a command without quotes and expansions
_COMMAND_NAME = re.compile(r'[\w./+:@%,-]+$|\[$')
_RESERVED_WORD = re.compile(
    r'(if|then|elif|else|fi|do|done|esac|in|coproc|time|function|for|while|until|select|case)'
    r'(?=[\s;&|()<>]|\Z)'
)


class UnsupportedSyntaxError(Exception):
    """
    The evaluation of a script stops, because the script has an unsupported construct.

    The message names the construct. location: 'FILE:LINE' of the construct.
    """

    def __init__(self, location: str, reason: str) -> None:
        super().__init__(f'the evaluation of the script stops at this line: {reason}')
        self.location = location


class Word:
    """A word of a command after the expansion of variables."""

    def __init__(self) -> None:
        self.source = ''  #: text of the word in the script
        self.text = ''  #: expanded text; if `unknown` is set, the text before the unknown part
        #: the first variable or command with an unknown value, None if the whole text is known
        self.unknown: Optional[Variable] = None
        self.is_quoted = False  #: whether a part of the word is quoted
        self.is_one_field = (
            True  #: whether the shell certainly neither splits nor replaces the word
        )

    @property
    def value(self) -> Optional[str]:
        """The text of the word, None if unknown."""
        return None if self.unknown else self.text

    def add(self, text: str, quoted: bool, unknown: Optional[Variable] = None) -> None:
        """
        Append a text to the word.

        If `unknown` is given, the value of this variable or command follows the text, and the rest
        of the word is unknown.
        """
        if not self.unknown:
            self.text += text
            self.unknown = unknown
        self.is_quoted = self.is_quoted or quoted
        # The shell may split the text, replace a pattern by file names, or expand {a,b}.
        if not quoted and (unknown or re.search(r'[*?\[{\s]', text)):
            self.is_one_field = False


class ShellEvaluator:
    """
    An evaluator of shell scripts in an image, which parses a script while running the script.

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
        self.stops_at_errors = False  #: whether a command that fails ends the script (`set -e`)
        #: path and text of the current script, index of the next character, number of its line
        self.file, self.text, self.position, self.line = '', '', 0, 1
        self.steps = self.braces = 0
        self.is_active = True  #: False in a branch that the shell skips
        self.end = ''  #: 'return', 'exit' or 'exec' after this command has ended the script
        #: Why the shell may skip the current statement, '' if the shell certainly runs it. In such
        #: a statement, the evaluator makes each variable unknown that the statement sets
        self.doubt = ''

    # ---- methods for variables

    def locate(self) -> str:
        """Return 'FILE:LINE' for the current line of the current script."""
        return f'{self.file}:{self.line}'

    def fail(self, reason: str = '') -> UnsupportedSyntaxError:
        """Return the error that stops the evaluation; reason: '' for unsupported syntax."""
        rest = self.text[self.position :].split('\n', 1)[0][:40]
        return UnsupportedSyntaxError(
            self.locate(), reason or f"this syntax is not supported: {rest or 'unexpected end'}"
        )

    def get(self, name: str) -> Optional[Variable]:
        """Return the variable `name`, None if the variable is unset."""
        if name in self.variables:
            return self.variables[name]
        if _FOREIGN_NAME.match(name):
            reason = f'the value of ${name} is unknown before the program runs'
            return Variable(None, True, self.locate(), reason)
        return self.default

    def is_exported(self, name: str) -> Optional[bool]:
        """Return whether the variable `name` is exported after an assignment, None if unknown."""
        variable = self.variables.get(name, self.default)
        return variable.exported if variable else False

    def set_variable(self, name: str, variable: Optional[Variable]) -> None:
        """Set a variable. If the shell may skip the statement, the variable becomes unknown."""
        if _READ_ONLY_NAME.match(name):  # The shell skips the rest of the script at this error.
            raise self.fail(f'{name} may be a read-only variable')
        self.variables[name] = (
            Variable(None, None, self.locate(), self.doubt) if self.doubt else variable
        )

    def stop_script(self, location: str, reason: str) -> None:
        """Make the values of all variables unknown; location: 'FILE:LINE' of the cause."""
        self.variables, self.end = dict(_NO_APP), ''
        self.default = Variable(None, None, location, reason)
        if self.exit_point:  # The script may also fail before the line with `exit`.
            self.exit_point = (False,) + self.exit_point[1:]

    # ---- methods for words

    def take(self, pattern: Pattern[str]) -> Optional[Match[str]]:
        """Match a pattern at the current position and move the position behind the match."""
        match = pattern.match(self.text, self.position)
        if match:
            self.position = match.end()
            self.line += match.group().count('\n')
        return match

    def read_word(self) -> Word:
        """Read and expand the word at the current position, which may be empty."""
        word, begin = Word(), self.position
        self.read_pieces(word, '')
        word.source = self.text[begin : self.position]
        return word

    def read_pieces(self, word: Word, end: str, quoted: bool = False) -> None:
        """
        Append the expanded text at the current position to `word`.

        end: '"' inside double quotes, '}' inside ${ }, otherwise ''. The function stops before this
        character.
        """
        while len(word.text) <= _MAX_VALUE_LENGTH:
            plain = self.take(_PLAIN_TEXT[end])
            if plain:
                # Shells differ in the meaning of single quotes, and of quoted braces, inside ${ }.
                if self.braces and re.search("[}']", plain.group()):
                    raise self.fail()
                word.add(plain.group(), quoted)
                continue
            single = None if end else self.take(_SINGLE_QUOTES)
            escape = self.take(_ESCAPE) if quoted else self.take(_CONTINUATION)
            if single:
                word.add(single.group()[1:-1], True)
            elif escape:
                text = escape.group()
                is_removed = text[1] in '$`"\\\n' or self.braces and text[1] == '}'
                word.add(text.strip('\n')[is_removed:], quoted)
            elif end != '"' and self.take(_DOUBLE_QUOTE):
                self.read_pieces(word, '"', True)
                if not self.take(_DOUBLE_QUOTE):
                    raise self.fail()
                word.is_quoted = True
            elif self.take(_SUBSTITUTION):
                reason = 'the value contains the output of a command'
                word.add('', quoted, Variable(None, True, self.locate(), reason))
            else:
                parameter = self.take(_PARAMETER)
                if not parameter:
                    return
                self.expand_parameter(word, parameter, quoted)
        raise self.fail('a value is longer than a program accepts')

    def expand_parameter(self, word: Word, match: Match[str], quoted: bool) -> None:
        """Append the value of $NAME or ${NAME} to `word`, or read the rest of ${NAME:-WORD}."""
        name, operator, other = match.group(1) or match.group(2), match.group(3) or '', Word()
        if match.group(2):
            self.braces += 1
            if operator:
                self.read_pieces(other, '}', quoted)
            self.braces -= 1
            if not self.take(_CLOSING_BRACE):
                raise self.fail()
        variable = self.get(name)
        is_set = variable is not None and (variable.value != '' or operator[:1] != ':')
        word.is_quoted = word.is_quoted or quoted  # Then the word is a field even if it is empty.
        if variable and variable.value is None:
            prefix = '' if operator[-1:] == '+' else variable.known_prefix
            word.add(prefix, quoted, variable)
        elif operator and is_set == (operator[-1] == '+'):
            word.add(other.text, quoted or other.is_quoted and other.is_one_field, other.unknown)
        elif variable and operator[-1:] != '+':
            word.add(variable.value or '', quoted)

    def split_fields(self, words: List[Word]) -> Optional[List[Word]]:
        """Return the words that the shell does not remove, None if the shell may split a word."""
        if 'IFS' in self.variables or not all(word.is_one_field for word in words):
            return None
        return [word for word in words if word.text or word.unknown or word.is_quoted]

    # ---- methods for statements

    @property
    def is_running(self) -> bool:
        """Whether the shell runs the current statement."""
        return self.is_active and not self.end

    def take_keyword(self, *keywords: str) -> str:
        """Read one of the reserved words `keywords`; return '' at any other word."""
        self.take(_BLANK)
        match = _RESERVED_WORD.match(self.text, self.position)
        if match and match.group() in keywords:
            self.position = match.end()
            return match.group()
        return ''

    def run_body(self, *ends: str) -> Tuple[Optional[bool], str]:
        """
        Evaluate statements until one of the reserved words `ends`.

        The result is (status of the last statement, reserved word). Without `ends`, the statements
        end with the script.
        """
        status: Optional[bool] = True
        is_first = True
        while True:
            self.take(_EMPTY_LINES)
            end = self.take_keyword(*ends)
            if end or not ends and self.position == len(self.text):
                if end and is_first:
                    raise self.fail()
                return status, end
            status, is_first = self.run_chain(), False
            self.take(_BLANK)
            if not self.take(_SEPARATOR) and self.position < len(self.text):
                raise self.fail()
            if self.stops_at_errors and 'then' not in ends and not status and self.is_running:
                raise self.fail('the command may fail, and `set -e` ends the script')

    def run_chain(self) -> Optional[bool]:
        """Evaluate statements that `&&` and `||` join."""
        outer = self.is_active, self.doubt
        status = self.run_statement()
        while True:
            self.take(_BLANK)
            operator = self.take(_OPERATOR)
            if not operator:
                return status
            self.take(_EMPTY_LINES)
            if status is None:
                self.doubt = self.doubt or 'the value depends on a command before && or ||'
                self.run_statement()
            elif status == (operator.group() == '&&'):
                status = self.run_statement()
            else:
                self.is_active = False
                self.run_statement()
            self.is_active, self.doubt = outer

    def run_statement(self) -> Optional[bool]:
        """Evaluate a command or the statement `if`."""
        self.steps += 1
        if self.steps > _MAX_STEPS:
            raise self.fail('the scripts of the image are too long')
        if not self.take_keyword('if'):
            return self.run_command()
        outer = self.is_active, self.doubt
        result: Optional[bool] = True
        keyword = 'if'
        while keyword != 'fi':
            status: Optional[bool] = True
            if keyword != 'else':
                status, _ = self.run_body('then')
            if status is None and self.is_running:
                self.doubt = self.doubt or (
                    f'the value depends on a condition that cannot be evaluated ({self.locate()})'
                )
            was_active, self.is_active = self.is_active, self.is_active and status is not False
            ends = ('fi',) if keyword == 'else' else ('elif', 'else', 'fi')
            body_status, keyword = self.run_body(*ends)
            if self.is_active:
                result = None if self.doubt else body_status
            # After a certain branch, the shell skips the other branches.
            self.is_active = was_active and (status is not True or bool(self.doubt))
        self.is_active, self.doubt = outer
        return result

    def run_command(self) -> Optional[bool]:
        """Evaluate a statement that consists of assignments or of one command."""
        begin = self.position
        words: List[Word] = []
        names: List[str] = []  # names of the variables that are assigned before the first word
        if _RESERVED_WORD.match(self.text, begin):
            raise self.fail()
        while True:
            self.take(_BLANK)
            start = self.position
            if _COMMAND_END.match(self.text, start):
                break
            if not words or words[0].source == 'export':
                assignment = self.take(_ASSIGNMENT)
                word = self.read_word()
                if assignment:
                    self.assign(assignment.group(1), word, bool(words))
                    names += [] if words else [assignment.group(1)]
                else:
                    words.append(word)
            else:
                words.append(self.read_word())
            if self.position == start or self.text[start] == '#':
                raise self.fail()
        if self.position == begin:
            raise self.fail()
        if not self.is_running:
            return None
        name = words[0].source if words else ''
        if words and (names or name not in BUILTINS):
            return self.run_program(words, names)
        # Shells differ in whether the status of `$(command)` becomes the status of `export`.
        has_command = re.search(r'`|\$\(', self.text[begin : self.position])
        status = getattr(self, BUILTINS[name])(words) if words else True
        return None if has_command and name in ('', 'export') else status

    def run_program(self, words: List[Word], names: List[str]) -> Optional[bool]:
        """Evaluate a command that is no builtin; names: variables that the command line sets."""
        name = words[0].source
        if name in STOPPING_COMMANDS:
            return self.stop([word.source for word in words])
        # After a stopped evaluation, any command may be a function that the script has defined.
        if (
            self.default
            or names
            or not _COMMAND_NAME.match(name)
            or name in UNSUPPORTED_COMMANDS
            and [word.source for word in words[:2]] != ['command', '-v']
        ):
            raise self.fail(f'{name} cannot be evaluated')
        return KNOWN_STATUS.get(name)

    def stop(self, words: List[str]) -> Optional[bool]:
        """
        Record that the script may exit or replace the program.

        After `shift` the runtime does not start the program, because `shift` removes the first
        argument of the script, which is the path of the program.
        """
        if words == ['exec'] and not self.doubt:
            return True
        is_certain = words[0] in ('exit', 'exec', 'shift') and not self.doubt
        why = f"`{words[0]}` {'runs' if is_certain else 'may run'}"
        self.exit_point = self.exit_point or (is_certain, self.locate(), why)
        if not is_certain:
            raise self.fail(f'{words[0]} cannot be evaluated')
        self.end = 'exit'
        return None

    def assign(self, name: str, word: Word, exported: bool) -> None:
        """Evaluate the assignment of `word` to the variable `name`."""
        if not self.is_running:
            return
        is_exported = exported or self.is_exported(name)
        variable = Variable(word.text, is_exported, self.locate())
        if word.unknown:
            _, _, location, reason, _ = word.unknown
            variable = Variable(None, is_exported, location, reason, word.text)
        self.set_variable(name, variable)

    def export(self, words: List[Word]) -> Optional[bool]:
        for word in words[1:]:
            name = word.source
            if not _NAME.match(name):
                # The runtime skips the whole script at an invalid name.
                raise self.fail(f'`export {name}` is not supported')
            variable = self.variables.get(name)
            if variable:
                self.set_variable(name, variable._replace(exported=True))
            elif self.get(name) is None:
                reason = 'the script exports the variable before setting it'
                self.set_variable(name, Variable(None, None, self.locate(), reason))
        return True

    def unset(self, words: List[Word]) -> Optional[bool]:
        for word in words[1:]:
            if not _NAME.match(word.source):
                raise self.fail(f'`unset {word.source}` is not supported')
            self.set_variable(word.source, None)
        return True

    def source(self, words: List[Word]) -> Optional[bool]:
        """Evaluate `. FILE` or `source FILE`."""
        fields = self.split_fields(words[1:2])
        path = fields[0].value if fields else None
        if not path or path[0] != '/' or self.doubt:
            command = ' '.join(word.source for word in words)
            raise self.fail(f'cannot tell which file `{command}` reads')
        text = self.read_text(path) if self.find_file_type(path) == '-' else None
        if text is None:
            raise self.fail(f'the script sources {path}, which cannot be read')
        return self.run_script(path, text)

    def return_(self, words: List[Word]) -> Optional[bool]:
        if self.doubt:
            raise self.fail('it is unknown whether `return` runs')
        self.end = 'return'
        return None

    def read_text(self, path: str) -> Optional[str]:
        """Return the text of a file in the container, None if the file cannot be read."""
        return self.bound_texts[path] if path in self.bound_texts else self.files.read_text(path)

    def run_script(self, path: str, text: str) -> Optional[bool]:
        """Evaluate the script with the path `path` and the text `text`."""
        self.steps += 100 + len(text)
        if len(text) > _MAX_SCRIPT_LENGTH or self.steps > _MAX_STEPS:
            raise self.fail(f'{path} is too long, or too many scripts source each other')
        caller = self.file, self.text, self.position, self.line
        self.file, self.position, self.line = path, 0, 1
        self.text = text.replace('\r\n', '\n')  # mvdan.cc/sh replaces CRLF in the same way.
        try:
            if '\r' in self.text or '\0' in self.text:
                raise self.fail('the script is not a text file')
            status, _ = self.run_body()
        finally:
            self.file, self.text, self.position, self.line = caller
            self.is_active, self.braces, self.doubt = True, 0, ''
        if self.end == 'return':
            self.end, status = '', None
        return status

    # ---- methods for tests

    def run_test(self, words: List[Word]) -> Optional[bool]:
        """Evaluate the command `test` or `[`."""
        fields = self.split_fields(words[1:])
        if fields is None or words[0].source == '[' and (not fields or fields.pop().text != ']'):
            return None
        is_negated = len(fields) > 1 and fields[0].value == '!'
        fields = fields[is_negated:]
        if any(field.value in ('!', '(', ')') for field in fields):
            return None
        status = self.evaluate_test(fields)
        return None if status is None else status != is_negated

    def evaluate_test(self, fields: List[Word]) -> Optional[bool]:
        """Return whether a test with the arguments `fields` is true, None if unknown."""
        values = [field.value for field in fields]
        if len(values) == 3 and values[1] in ('=', '==', '!=') and None not in values:
            return (values[0] == values[2]) == (values[1] != '!=')
        if len(values) not in (1, 2):
            return None
        operator = values[0] if len(values) == 2 else '-n'
        if operator in ('-z', '-n'):
            # An unknown value with a known beginning is not empty: 99-base.sh has such a test.
            is_known = bool(fields[-1].text) or not fields[-1].unknown
            return (fields[-1].text == '') == (operator == '-z') if is_known else None
        kind = self.find_file_type(values[-1]) if values[-1] else values[-1]
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
#: Command whose status is known -> whether the command succeeds
KNOWN_STATUS = {'echo': True, ':': True, 'true': True, 'false': False}


def evaluate_environment(files: Any, bound_texts: Iterable[Any] = ()) -> Environment:
    """
    Return the Environment that results from the environment scripts of an image.

    files: an Image, or an object with the same methods (osu_container/check/described.py).
    bound_texts: {path in the container: text} of files that the user binds into the container.
    """
    shell = ShellEvaluator(files, bound_texts)
    problems: List[Tuple[str, str]] = []
    _run_scripts(shell, problems)
    variables = {
        name: variable
        for name, variable in shell.variables.items()
        # SING_*: variables that the runtime uses in its own scripts.
        if variable and not name.startswith('SING_')
    }
    return Environment(variables, shell.default, shell.exit_point, problems)


def _extend_path(shell: ShellEvaluator) -> None:
    """Append the default folders that PATH does not contain to PATH, as the runtime does."""
    path = shell.get('PATH')
    if path is None or path.value is not None:
        folders = path.value.split(':') if path and path.value else []
        folders += [folder for folder in DEFAULT_PATH if folder not in folders]
        shell.variables['PATH'] = Variable(':'.join(folders), True, 'the runtime')


def _run_scripts(shell: ShellEvaluator, problems: List[Tuple[str, str]]) -> None:
    """
    Evaluate the environment scripts of an image in the order of the runtime.

    The function appends (path, reason) to `problems` for each script that the runtime skips.
    """
    bound = [path for path in shell.bound_texts if posixpath.dirname(path) == SCRIPTS_FOLDER]
    has_folder = bound or shell.files.find_file_type(SCRIPTS_FOLDER) == 'd'
    names = {posixpath.basename(path) for path in bound}.union(
        shell.files.list_folder(SCRIPTS_FOLDER) if has_folder else []
    )
    paths = [
        f'{SCRIPTS_FOLDER}/{name}'
        for name in sorted(names)
        if re.match(r'(?!\.|99-runtimevars\.sh$).*\.sh$', name)
    ]
    for path in paths if has_folder else ['/environment']:
        name, kind = posixpath.basename(path), shell.find_file_type(path)
        if kind != '-':
            problems += [(path, 'is a broken link')] if has_folder and not kind else []
            continue
        if name == '90-environment.sh' and shell.get('PATH') is None:
            _extend_path(shell)
        text = shell.read_text(path)
        try:
            if text is None:
                problems.append((path, 'cannot be read'))
                raise UnsupportedSyntaxError(path, f'{path} cannot be read')
            shell.run_script(path, text)
        except (UnsupportedSyntaxError, RecursionError) as err:
            shell.stop_script(getattr(err, 'location', path), str(err))
        if shell.end:
            return
        if name in ('10-docker2singularity.sh', '10-docker.sh', 'environment'):
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
    is_complete = variable.value is not None
    parts = re.split('[:;]' if is_loader_path else ':', variable.value or variable.known_prefix)
    parts = parts if is_complete else parts[:-1]
    starts = ('/', '$') if is_loader_path else ('/',)
    return [part for part in parts if part.startswith(starts)], is_complete
