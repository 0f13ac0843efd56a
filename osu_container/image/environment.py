"""
The environment that the container runtime makes for a program: the scripts of an image, evaluated
in their order.

Nothing is run. Followed is what the environment scripts of most images hold: assignments, export,
unset, `.`, if and test, && and ||. Of a command's output, and what depends on one, the value is
unknown. All else (loops, case, functions, pipes, eval) ends the reading of a script: every variable
may then be anything, and only what later scripts set is known again. Never a guess: on the system
itself the dry run tells it (deciding/dry_run.py). The syntax is a part of POSIX (Shell Command
Language, 2.10) and bash, as the runtimes' own interpreter takes it (mvdan.cc/sh). The order, and
where the runtime adds its own, is that of the action script of Apptainer 1.4.5
(internal/pkg/util/fs/files/action_script.sh), seen in runs of that release as well; SingularityCE's
is the same, and that of 1.5.3 but for what _library_path() in deciding/trial.py does:

1. Nothing of the host is there: the scripts see none of the variables with which the runtime was
    called.
2. /.singularity.d/env/*.sh by the bytes of their names, files that are bound there among them.
    After 99-base.sh come
   the variables given as APPTAINERENV_NAME or by --env, which are the user's, and of which nothing
   is known here.
3. Without that folder, and nothing bound there: /environment.
4. Variables of the host that the scripts have not set come back; those that they have set to
    nothing are taken away.
   One that a script sets without export is in neither way there.
"""

import re
from collections import namedtuple

SCRIPTS_FOLDER = '/.singularity.d/env'
#: The runtime writes it behind the LD_LIBRARY_PATH that it is given
RUNTIME_LIBRARIES = '/.singularity.d/libs'
#: PATH in a container where the image sets none (Apptainer, internal/pkg/util/env, DefaultPath)
DEFAULT_PATH = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

#: One variable. value: str, None where it is unknown; exported: bool, None where that is unknown;
#: at: 'FILE:LINE' of what set it, or made it unknown; why: why its value is unknown, None where it
#: is known; head: str, with what an unknown value begins for certain
Variable = namedtuple('Variable', 'value exported location reason known_prefix')

#: Behind `env -i`: no other variable is set
UNSET = Variable('', False, None, None, '')
#: variables: {name: Variable}, of those that the scripts leave set; lost: Variable or None: any
#: other one may be set to anything, or is GONE; ends: (bool: for certain, 'FILE:LINE', why) or
#: None: the program does not start; problems: list of (path, why) of scripts that are passed over
Environment = namedtuple('Environment', 'variables default exit_point problems')

#: A field that is unknown, but not empty
_NONEMPTY = object()
#: Variables that are not the image's own: the user's, the shell's, the runtime's
_FOREIGN = re.compile(
    r'(HOME|(OLD)?PWD|[E]?[UG]ID|PPID|IFS|OPT(IND|ARG|ERR)|LINENO|DIRSTACK|S?RANDOM|SECONDS|SHELL|'
    r'HOSTNAME|HOSTTYPE|MACHTYPE|OSTYPE|SHLVL|PIPESTATUS|BASH\w*|EPOCH\w*|_|e|key|__\w+|'
    r'(APPTAINER|SINGULARITY)_(?!APPNAME$)\w+|SING_\w+|[0-9@*?$!#-]+)$'
)
#: Of these bash has values that may not be changed
_READ_ONLY = re.compile(r'(E?[UG]ID|PPID|BASHOPTS|BASH_VERSINFO|SHELLOPTS)$')
#: Folders that are the host's in a container (apptainer.conf: mount proc, sys, dev, home, tmp; user
#: binds below /), or where binds of this project and of sites appear
_MOUNTED = re.compile(
    r'/(proc|sys|dev|home|root|tmp|var/tmp|var/spool|run|host|opt/host-mpi|opt/cray|users|etc/('
    r'passwd|group|hosts|hostname|localtime|resolv\.conf))(/|$)'
)
#: Of the apps of an image, with environments of their own (--app), none is asked for
_NO_APP = {'APPTAINER_APPNAME': None, 'SINGULARITY_APPNAME': None}
#: What is exported stays so
_UNCHANGED = object()
#: What may be set to anything: these words as commands in a text, and an element of an array
_UNBOUNDED = re.compile(
    r'(?<![\w$./-])(eval|source|command(?!\s+-[vV])|builtin|exec|shopt|enable|trap|readonly|'
    r'declare|typeset|let|set|break|continue)\b|(?:^|[;&|(){}\n]|\b(?:then|else|do)\b)\s*\.\s|\w\[|\(\('
)
#: Names that a text may set: NAME=, ${NAME:=...}, and behind these commands all that stands there
_SETS = re.compile(r'([A-Za-z_]\w*)(?:\+?=|:=)')
_NAMING = re.compile(r'\b(?:export|local|unset|read|getopts|printf|mapfile|readarray)\b([^\n;|&]*)')
#: ${NAME:=...} sets, and ${NAME:?} ends
_DEFAULT = re.compile(r'\$\{\w+:?[=?]')
#: Scripts within scripts
_DEEPEST = 20
#: Characters of a script that is followed. The largest seen has 60 KB (Spack's, of 400 packages)
_MOST_TEXT = 1 << 18
#: Characters of a value: execve(2) takes no longer string (MAX_ARG_STRLEN)
_LONGEST = 1 << 17
#: Work for one environment: characters of scripts, statements that run or are passed over. Those of
#: real images take 50,000 at most; so many take some seconds at most
_MOST_STEPS = 500000
#: Why nothing is known of what the scripts set from there on
_TOO_LONG = "the scripts of the image are too long, or call each other too often, to be followed"
_TOO_LARGE = "a value with more than %d characters" % _LONGEST


# ---- Syntax: text -> statements

#: kind: 'simple' (parts: list of (name, word), list of words, whether it is redirected to somewhere
#: else than /dev/null), 'and' (parts: '&&' or '||', two statements), 'if' (list of (condition,
#: body), body). A body is a list of statements, a word one of Part. line: int, first is 1; source,
#: begin, end: the script, and where
Node = namedtuple('Node', 'kind line source begin end parts')
#: kind: 'text' (value: str), 'variable' (value: name; operator: '', or - + = ? with or without a
#: colon; word: what follows the operator) or 'unknown' (value: str, what it is); quoted: bool, no
#: field is split, nothing is a pattern
Part = namedtuple('Part', 'kind value quoted operator word')

# What a word is made of. No text fits two of the alternatives, so that nothing is tried twice.
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
#: Words that begin no command of their own, and those of what is not parsed
_NO_COMMAND = frozenset(
    [
        'then',
        'else',
        'elif',
        'fi',
        'do',
        'done',
        'esac',
        '}',
        ']]',
        'in',
        'coproc',
        'time',
        'function',
        'for',
        'while',
        'until',
        'select',
        'case',
        '{',
        '[[',
        '!',
    ]
)


class UnsupportedSyntaxError(Exception):
    """
    From here on nothing is known of what a script does. at: 'FILE:LINE', None before that is
    told; the text: why.
    """

    def __init__(self, line, why):
        """line: int; why: str."""
        super(UnsupportedSyntaxError, self).__init__(
            'the script cannot be followed from there: %s' % why
        )
        self.line, self.at = line, None


def make_text_part(value, quoted=False):
    """Return the Part of a piece of text (str)."""
    return Part('text', value, quoted, '', None)


def parse_script(script):
    """Return the statements (list) of a script (str). Raises Unfollowed."""
    script = script.replace('\r\n', '\n')  # as mvdan.cc/sh does
    if '\r' in script or '\0' in script:
        raise UnsupportedSyntaxError(1, 'it is no text')
    parser = _ScriptParser(script)
    try:
        return parser.parse_body(('',))
    except RecursionError:
        raise UnsupportedSyntaxError(parser.get_line(), 'too deeply nested')


def _tokenize(script):
    """
    Return [(kind: 'end', 'to' or 'word', text, line, begin, end)] of a script (str), '' with the
    last line.
    """
    found, at, line = [], 0, 1
    while at < len(script):
        token = _TOKEN.match(script, at)
        if (
            not token
            or token.lastgroup == 'blank'
            and token.group().startswith('#')
            and token.group()[-1] == '\\'
        ):
            raise UnsupportedSyntaxError(
                line, 'what begins with %s' % script[at : at + 20].split('\n')[0]
            )
        if token.lastgroup != 'blank':
            found.append((token.lastgroup, token.group(), line, at, token.end()))
        at, line = token.end(), line + token.group().count('\n')
    return found + [('end', '', line, at, at)]


class _ScriptParser(object):
    """The state of one parse_script()."""

    def __init__(self, script):
        """script: str."""
        self.script, self.tokens, self.at = script, _tokenize(script), 0

    def get_line(self):
        """Return the number (int) of the line that is read."""
        return self.tokens[self.at][2]

    def peek(self):
        """Return the text (str) of the next token, '' at the end."""
        return self.tokens[self.at][1]

    def make_node(self, kind, begin, *parts):
        """Return the Node of what was read from the token number begin (int) on."""
        return Node(
            kind,
            self.tokens[begin][2],
            self.script,
            self.tokens[begin][3],
            self.tokens[self.at - 1][4],
            parts,
        )

    def raise_unsupported(self):
        """Raise Unfollowed."""
        raise UnsupportedSyntaxError(
            self.get_line(), '%s is not understood' % (self.peek().strip() or 'the end')
        )

    def expect(self, *expected):
        """
        Go past the next token and return it (str), which is one of expected. Raises Unfollowed
        if it is not.
        """
        if self.peek() not in expected:
            self.raise_unsupported()
        self.at += 1
        return self.tokens[self.at - 1][1]

    def skip_newlines(self):
        """Go past ends of lines."""
        while self.peek() == '\n':
            self.at += 1

    def parse_body(self, ends, empty=True):
        """
        Return statements (list) up to one of ends (tuple of str), which stays. Raises
        Unfollowed.
        """
        found = []
        self.skip_newlines()
        while self.peek() not in ends:
            found.append(self.parse_and_or())
            if self.peek() not in ends:
                self.expect(';', '\n')
            self.skip_newlines()
        return found if found or empty else self.raise_unsupported()

    def parse_and_or(self):
        """Return a statement with all that && and || add to it."""
        begin, found = self.at, self.parse_command()
        while self.peek() in ('&&', '||'):
            word = self.expect('&&', '||')
            self.skip_newlines()
            found = self.make_node('and', begin, word, found, self.parse_command())
        return found

    def parse_command(self):
        """Return a command."""
        return self.parse_if() if self.peek() == 'if' else self.parse_simple()

    def parse_if(self):
        """Return an 'if'."""
        begin, branches, other, word = self.at, [], [], 'elif'
        self.at += 1
        while word == 'elif':
            condition = self.parse_body(('then',), False)
            self.expect('then')
            branches.append((condition, self.parse_body(('elif', 'else', 'fi'), False)))
            word = self.expect('elif', 'else', 'fi')
        if word == 'else':
            other = self.parse_body(('fi',), False)
            self.expect('fi')
        return self.make_node('if', begin, branches, other)

    def parse_redirection(self):
        """Go past a redirection; return whether its file may fail to open (bool)."""
        kind = self.expect(self.peek()).lstrip('0123456789')
        name = find_literal(self.parse_word())
        return name != '/dev/null' and not (
            kind in ('>&', '<&') and re.match(r'\d+$|-$', name or '')
        )

    def parse_simple(self):
        """Return a 'simple'."""
        assigns, words, redirected, begin = [], [], False, self.at
        if self.peek() in _NO_COMMAND:
            self.raise_unsupported()
        while self.tokens[self.at][0] != 'end':
            if self.tokens[self.at][0] == 'to':
                redirected = self.parse_redirection() or redirected
                continue
            if not words and re.match(r'\w+\+=', self.peek()):
                self.raise_unsupported()
            word = self.parse_word()
            name, value = split_assignment(word)
            if name and not words:
                assigns.append((name, value))
                if not value and self.peek() == '(':  # an array
                    self.raise_unsupported()
                continue
            words.append(word)
        return (
            self.make_node('simple', begin, assigns, words, redirected)
            if self.at > begin
            else self.raise_unsupported()
        )

    def parse_word(self):
        """Return the word (list of Part) that is next. Raises Unfollowed where there is none."""
        kind, raw, line = self.tokens[self.at][:3]
        if kind != 'word':
            self.raise_unsupported()
        self.at += 1
        return _parse_parts(raw, False, line)


def _parse_parts(raw, quoted, line, brace=False):
    """
    Return the parts (list of Part) of a piece of a script (raw: str).

    quoted: bool, within double quotes; brace: bool, within ${ }, where quotes in quotes are taken
    off.
    """
    found = []
    for piece in _PIECE.finditer(raw) if not quoted or brace else _QUOTED_PIECE.finditer(raw):
        kind, value = piece.lastgroup, piece.group()
        if (
            kind == 'plain'
            and value == '~'
            and not quoted
            and _get_unquoted_prefix(found[-1:])[-1:] in ('', '=', ':')
        ):
            found.append(Part('unknown', '~', False, '', None))
        elif kind == 'plain':
            found.append(make_text_part(value, quoted))
        elif kind == 'escape':
            found += _unescape(value[1], quoted, brace)
        elif kind == 'single':
            found.append(make_text_part(value[1:-1], True))
        elif kind == 'double':
            found += _parse_parts(value[1:-1], True, line) or [make_text_part('', True)]
        elif kind == 'name':
            found.append(Part('variable', value[1:], quoted, '', None))
        elif kind == 'braces':
            found.append(_parse_expansion(value[2:-1], quoted, line))
        else:
            what = {'command': 'the output of a command', 'arithmetic': 'an expression'}.get(
                kind, "$'...'"
            )
            if kind == 'command' and re.search(
                r'\bcase\b|#|<<', value
            ):  # where that ends is not known
                raise UnsupportedSyntaxError(line, what)
            found.append(Part('unknown', what, quoted, '', None))
        # letter after letter would be a long list
        if (
            len(found) > 1
            and found[-1].kind == found[-2].kind == 'text'
            and found[-1].quoted == found[-2].quoted
        ):
            found[-2:] = [make_text_part(found[-2].value + found[-1].value, found[-1].quoted)]
    return found


#: Within double quotes single ones, and ~, are as any other letter
_QUOTED_PIECE = re.compile(
    _PIECE_PATTERN.replace("(?P<single>'[^']*')|", '').replace(r"(?P<odd>\$'(?:[^'\\]|\\.)*')|", '')
    % r"""\$(?![{(])|[^\\"`$]""",
    re.S,
)


def _unescape(letter, quoted, brace):
    """
    Return the Parts of a backslash and the letter (str) behind it; arguments: as of
    _parse_parts().
    """
    if letter == '\n':
        return []
    if not quoted:  # mvdan.cc/sh keeps it in some places
        return [Part('unknown', 'a backslash outside of quotes', False, '', None)]
    taken_off = letter in '$`"\\' or brace and letter == '}'
    return [make_text_part(letter if taken_off else '\\' + letter, True)]


def _parse_expansion(content, quoted, line):
    """
    Return the Part of ${content}. Raises Unfollowed where quotes may mean that it ends
    elsewhere.
    """
    found = _EXPANSION.match(content)
    if "'" in content or content.count('"') % 2 or not found and '=' in content:
        raise UnsupportedSyntaxError(line, '${%s}' % content)
    if not found:
        return Part('unknown', '${ } of other kinds', quoted, '', None)
    name, operator, word = found.groups()
    return Part(
        'variable',
        name,
        quoted,
        operator or '',
        _parse_parts(word, quoted, line, True) if operator else None,
    )


def _get_unquoted_prefix(word):
    """Return the text (str) with which a word (list of Part) begins, as far as it is not quoted."""
    return word[0].value if word and word[0].kind == 'text' and not word[0].quoted else ''


def find_literal(word):
    """
    Return the word (list of Part) as it stands where nothing in it is to be expanded (str), else
    None.
    """
    return (
        ''.join(part.value for part in word) if all(part.kind == 'text' for part in word) else None
    )


def split_assignment(word):
    """Return (name, word of the value) of a word NAME=VALUE, (None, []) where it is none."""
    found = _ASSIGNMENT.match(_get_unquoted_prefix(word))
    if not found:
        return None, []
    rest = word[0].value[found.end() :]
    return found.group(1), ([make_text_part(rest)] if rest else []) + word[1:]


# ---- Evaluation


class _ScriptReturn(Exception):
    """A script ends here."""


class _ScriptExit(Exception):
    """The program is not started."""


class _ShellEvaluator(object):
    """The state of one evaluation. A variable that is None in variables is known to be unset."""

    def __init__(self, files, bound=()):
        """
        files: has kind(path) -> type letter or None, mode(path), script(path) -> str or None, and
        names(folder); bound: dict of str, files that are bound into the container, and their text.
        """
        self.files, self.bound = files, dict(bound)
        self.variables = dict(_NO_APP)
        self.default, self.exit_point = None, None
        self.file, self.depth, self.steps = '', 0, 0

    def count_steps(self, steps=1):
        """
        Count steps (int) of work. Raises Unfollowed where it is too much for any image that
        works.
        """
        self.steps += steps
        if self.steps > _MOST_STEPS:
            raise UnsupportedSyntaxError(1, _TOO_LONG)

    # Variables

    def format_location(self, line):
        """Return where something stands: 'FILE:LINE'."""
        return '%s:%d' % (self.file, line)

    def get(self, name):
        """Return the Variable name (str), None if it is not set."""
        if name in self.variables:
            return self.variables[name]
        if _FOREIGN.match(name):
            return Variable(None, True, None, '$%s is not known beforehand' % name, '')
        return self.default

    def set_variable(self, name, value, line, why=None, exported=_UNCHANGED, head=''):
        """
        Give the variable name (str) a value (str, None for an unknown one, which begins with
        head).
        """
        if exported is _UNCHANGED:
            exported = self.is_exported(name)
        # of an unknown value the place that counts is where it became unknown
        why, at = why if isinstance(why, tuple) else (why, self.format_location(line))
        self.variables[name] = (
            Variable(value, exported, at, why, head)
            if value is None
            else Variable(value, exported, self.format_location(line), None, '')
        )

    def is_exported(self, name):
        """
        Return whether the variable name (str) is exported when it is assigned, None where that
        is not known.
        """
        old = self.variables.get(name, self.default)
        return old.exported if old else False

    def mark_unknown(self, name, line, why):
        """Make the variable name (str) unknown, and whether it is exported."""
        self.variables[name] = Variable(None, None, self.format_location(line), why, '')

    def mark_all_unknown(self, at, why):
        """Make all variables unknown; at: 'FILE:LINE'."""
        self.variables, self.default = dict(_NO_APP), Variable(None, None, at, why, '')

    # Words

    def expand(self, word, line):
        """
        Return [(text (str or None), quoted, (why it is unknown, where), whether it is of a
        variable)] of a word.
        """
        found = []
        for part in word:
            if part.kind == 'text':
                found.append((part.value, part.quoted, None, False))
            elif part.kind == 'unknown':
                found.append((None, part.quoted, (part.value, self.format_location(line)), True))
            else:
                found += [
                    (value, part.quoted or quoted, why, True)
                    for value, quoted, why, _ in self.expand_parameter(part, line)
                ]
                found += (
                    [('', True, None, True)] if part.quoted else []
                )  # a field, although there may be nothing in it
        return found

    def expand_parameter(self, part, line):
        """Return as expand() does for a Part that is a variable."""
        variable, operator = self.get(part.value), part.operator
        if variable is not None and variable.value is None:
            head = variable.known_prefix if operator[-1:] != '+' else ''
            return ([(head, part.quoted, None, True)] if head else []) + [
                (
                    None,
                    part.quoted,
                    (variable.reason, variable.location or self.format_location(line)),
                    True,
                )
            ]
        if not operator:
            return [(variable.value if variable else '', part.quoted, None, True)]
        if (variable is not None and (variable.value != '' or operator[0] != ':')) == (
            operator[-1] == '+'
        ):
            return self.expand(part.word, line)
        return [('' if operator[-1] == '+' else variable.value, part.quoted, None, True)]

    @staticmethod
    def join_expansion(expanded):
        """
        Return (text or None, (why it is unknown, where), how it begins for certain) of what
        expand() found.
        """
        text = ''
        for value, _, why, _ in expanded:
            if value is None:
                return None, why, text
            text += value
            if len(text) > _LONGEST:
                raise UnsupportedSyntaxError(1, _TOO_LARGE)
        return text, None, ''

    def expand_value(self, word, line):
        """
        Return as join_expansion() does for a word that is not split: that of an assignment, of
        case.
        """
        return self.join_expansion(self.expand(word, line))

    def split_fields(self, words, line):
        """
        Return the fields (list) of words, None where their number is not known.

        One that is unknown is None, or _SOMETHING where it is not empty.
        """
        found = []
        for word in words:
            expanded = self.expand(word, line)
            value, _, head = self.join_expansion(expanded)
            for piece, quoted, _, of_variable in expanded:
                if not quoted and (
                    piece is None
                    or re.search(r'[*?\[]' + r'|\s' * of_variable, piece)
                    or not of_variable
                    and '{' in piece
                ):
                    return None  # it may be several words, or names of files; {a,b} of bash
            if value != '' or any(quoted for _, quoted, _, _ in expanded):
                found.append(_NONEMPTY if value is None and head else value)
        if 'IFS' in self.variables:
            return None
        return found

    # Statements. Each returns whether it succeeds: True, False, None where that is not known

    def run(self, statements):
        """Run statements (list)."""
        status = True
        for one in statements:
            self.count_steps()
            status = getattr(self, '_' + one.kind)(one)
        return status

    def mark_changes_unknown(self, one, why):
        """
        Make unknown what a statement may change, which may be run or not. Raises Unfollowed
        where that is all.
        """
        text = one.source[one.begin : one.end]
        self.count_steps(1 + len(text) // 10)
        # where a variable may be read-only, to set it ends all as well
        ends = re.search(
            r'(?<![\w$./-])(exit|exec|shift|set|readonly|declare|typeset)(?![\w.=-])|\$\{\w+:?\?',
            text,
        )
        if ends:
            self.exit_point = self.exit_point or (
                False,
                self.format_location(one.line),
                'there is a `%s` that may be reached' % ends.group(),
            )
        if re.search(r'(?<![\w$./-])return\b', text):
            raise UnsupportedSyntaxError(one.line, 'a return that may be reached or not')
        names = set(_SETS.findall(text))
        for more in _NAMING.findall(text):
            more = re.sub(r'(?<=[=:/\w])("[^"]*"|\'[^\']*\'|\$\w+|\$\{\w+\})', '', more)
            names.update(re.findall(r'[A-Za-z_]\w*', more) + [None] * ('$' in more or '`' in more))
        if None in names or _UNBOUNDED.search(text):
            raise UnsupportedSyntaxError(one.line, why)
        for name in sorted(names):
            self.mark_unknown(name, one.line, why)

    def stop_evaluation(self, line, why):
        """End all."""
        self.exit_point = (True, self.format_location(line), why)
        raise _ScriptExit()

    def _and(self, one):
        """Run an 'and'."""
        word, first, second = one.parts
        status = self.run([first])
        if status is None:
            return self.mark_changes_unknown(second, 'what comes before it cannot be followed')
        return self.run([second]) if status == (word == '&&') else status

    def _if(self, one):
        """Run an 'if'."""
        for condition, body in one.parts[0]:
            status = self.run(condition)
            if status:
                return self.run(body)
            if status is None:
                return self.mark_changes_unknown(
                    one,
                    'it depends on a condition that cannot be followed (%s)'
                    % self.format_location(one.line),
                )
        return self.run(one.parts[1])

    def _simple(self, one):
        """Run a 'simple'."""
        assigns, words, redirected = one.parts
        command = find_literal(words[0]) if words else ''
        text = one.source[one.begin : one.end]
        if redirected or assigns and words or _DEFAULT.search(text):
            return self.mark_changes_unknown(
                one, 'it is set by a command that may fail, or for one command'
            )
        for name, word in assigns:
            self.assign(name, word, one.line)
        if not words:
            return None if any(_has_unknown(word) for _, word in assigns) else True
        method = _BUILTINS.get(command)
        if method:
            return method(self, one.line, words)
        if (
            command is None or self.default
        ):  # what could not be followed may have made it a function
            raise UnsupportedSyntaxError(
                one.line, '%s cannot be followed' % (command or 'a command whose name is not known')
            )
        if _UNBOUNDED.search(text) or _NAMING.match(text):
            self.mark_changes_unknown(one, '%s cannot be followed' % command)
        return True if command in ('echo', ':', 'true') else False if command == 'false' else None

    def assign(self, name, word, line, exported=_UNCHANGED):
        """Run NAME=VALUE."""
        value, why, head = self.expand_value(word, line)
        if _READ_ONLY.match(name):  # what follows is then not run
            raise UnsupportedSyntaxError(line, '%s may be read-only' % name)
        self.set_variable(name, value, line, why, exported, head)

    def export(self, line, words):
        """Run export."""
        for word in words[1:]:
            name, value = split_assignment(word)
            if name:
                self.assign(name, value, line, True)
                continue
            name = find_literal(word)
            if name is None or not re.match(r'[A-Za-z_]\w*$', name):
                # an option, or a name that is none: the runtime then passes over the whole script
                raise UnsupportedSyntaxError(line, 'export of what is no plain name')
            if self.variables.get(name):
                self.variables[name] = self.variables[name]._replace(exported=True)
            elif self.get(name) is None:
                self.mark_unknown(name, line, 'exported before it is set')
        # whether a command within it decides the status is not the same in all shells
        return None if any(_has_unknown(word) for word in words) else True

    def unset(self, line, words):
        """Run unset."""
        for field in self.split_fields(words[1:], line) or [None]:
            if not isinstance(field, str) or field.startswith('-'):
                raise UnsupportedSyntaxError(line, 'unset of a name that is not known')
            self.variables[field] = None
        return True

    def source(self, line, words):
        """Run . FILE."""
        path = (self.split_fields(words[1:2], line) or [None])[0]
        if not isinstance(path, str) or not path.startswith('/'):
            raise UnsupportedSyntaxError(line, 'it reads a script whose path is not known')
        if self.is_file(path) is False:
            return False  # a message; the runtime goes on
        text = self.read_text(path) if self.is_file(path) else None
        if text is None:
            raise UnsupportedSyntaxError(line, 'it reads %s, which cannot be read here' % path)
        return self.run_script(path, text, line)

    def read_text(self, path):
        """Return the text of the file path (str) in the container, None if it may not be read."""
        return self.bound[path] if path in self.bound else self.files.read_text(path)

    def run_script(self, path, text, line=1):
        """Run the text (str) of the script path (str)."""
        if self.depth >= _DEEPEST:
            raise UnsupportedSyntaxError(line, 'scripts that read each other')
        if len(text) > _MOST_TEXT:
            raise UnsupportedSyntaxError(
                line, '%s has more than %d characters, and is not followed' % (path, _MOST_TEXT)
            )
        self.count_steps(100 + len(text))
        kept, self.file = self.file, path
        self.depth += 1
        try:
            return self.run(parse_script(text))
        except UnsupportedSyntaxError as err:
            err.at = err.at or self.format_location(err.line)
            raise
        except _ScriptReturn:
            return None
        finally:
            self.depth -= 1
            self.file = kept

    def run_exit_command(self, line, words):
        """Run return, exit, exec or shift, which takes away the program that is to be started."""
        command = find_literal(words[0])
        if command == 'return':
            raise _ScriptReturn()
        if command == 'exec' and len(words) == 1:
            return True
        self.stop_evaluation(line, command)

    # Tests

    def run_test(self, line, words):
        """Run test or [."""
        fields = self.split_fields(words[1:], line)
        if fields is not None and find_literal(words[0]) == '[':
            fields = fields[:-1] if fields[-1:] == [']'] else None
        return None if fields is None else self.evaluate_test(fields)

    def evaluate_test(self, fields):
        """Return whether a test holds. fields: as split_fields() gives them."""
        if len(fields) > 1 and fields[0] == '!':
            status = self.evaluate_test(fields[1:])
            return None if status is None else not status
        if len(fields) == 0:
            return False
        if _NONEMPTY in fields:  # as 99-base.sh asks
            sure = {('-n',): True, ('-z',): False, (): True}
            return sure.get(tuple(fields[:-1])) if fields[-1] is _NONEMPTY else None
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

    def evaluate_unary_test(self, operator, operand):
        """Return whether a test with one operand holds."""
        if operator in ('-z', '-n'):
            return (operand == '') == (operator == '-z')
        if operator not in ('-d', '-e', '-f'):
            return None
        there = self.find_file_type(operand) if operand else ''
        if not there:  # nothing is there, or it is not known
            return None if there is None else False
        return {'-d': there == 'd', '-e': True, '-f': there == '-'}[operator]

    def find_file_type(self, path):
        """
        Return the type letter (str) of what path leads to in a container, '' for nothing, None
        where unknown.
        """
        if path in self.bound:
            return '-'
        if not path.startswith('/') or _MOUNTED.match(re.sub('/+', '/', path)) or '/..' in path:
            return None
        found = self.files.find_file_type(path)
        if found is None:  # a bind may bring it; below a folder of the image's own none is expected
            return '' if self.files.find_file_type('/' + path.strip('/').split('/')[0]) else None
        return found

    def is_file(self, path):
        """Return whether path (str) is a plain file in a container, None where it is not known."""
        found = self.find_file_type(path)
        return None if found is None else found == '-'


#: Commands that are followed
_BUILTINS = {
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


def _has_unknown(word):
    """Return whether something in a word is a command, or cannot be followed."""
    return any(part.kind == 'unknown' or _has_unknown(part.word or []) for part in word)


def evaluate_environment(files, bound=()):
    """
    Return the Environment that the runtime makes of an image.

    :param files, bound: as for _Shell: what the image holds, and what is bound into it
    """
    shell, problems = _ShellEvaluator(files, bound), []
    try:
        _run_scripts(shell, problems)
        if shell.get('PATH') is None:  # the runtime itself was started with it
            shell.set_variable('PATH', ':'.join(DEFAULT_PATH), 0, None, True)
    except _ScriptExit:
        pass
    # of the runtime's own variables nothing is said
    variables = {
        name: one for name, one in shell.variables.items() if one and not name.startswith('SING_')
    }
    return Environment(variables, shell.default, shell.exit_point, problems)


def _run_scripts(shell, problems):
    """Run what the runtime runs, in its order."""

    def usual_path():
        """The runtime sets PATH where nobody has."""
        shell.file = 'the runtime'
        if not shell.get('PATH'):
            shell.set_variable('PATH', ':'.join(DEFAULT_PATH), 0, None, True)

    def fix_path():
        """The usual folders come behind those of PATH."""
        path = shell.get('PATH')
        if path is None or path.value is not None:
            own = path.value.split(':') if path and path.value else []
            shell.set_variable(
                'PATH',
                ':'.join(own + [folder for folder in DEFAULT_PATH if folder not in own]),
                0,
                None,
                True,
            )

    def run(path):
        """Run a script of the image."""
        text = shell.read_text(path)
        if text is None:
            problems.append((path, 'cannot be read'))
            shell.mark_all_unknown(shell.format_location(1), '%s cannot be read here' % path)
            return
        try:
            shell.run_script(path, text)
        except UnsupportedSyntaxError as err:
            shell.mark_all_unknown(err.at or shell.format_location(1), str(err))
        except RecursionError:
            shell.mark_all_unknown(
                shell.format_location(1), 'it is too deeply nested to be followed'
            )

    if shell.files.find_file_type(SCRIPTS_FOLDER) == 'd' or any(
        path.startswith(SCRIPTS_FOLDER + '/') for path in shell.bound
    ):
        bound = [
            path[len(SCRIPTS_FOLDER) + 1 :]
            for path in shell.bound
            if path.startswith(SCRIPTS_FOLDER + '/')
        ]
        for name in sorted(set(shell.files.list_folder(SCRIPTS_FOLDER)) | set(bound)):
            path = '%s/%s' % (SCRIPTS_FOLDER, name)
            if not name.endswith('.sh') or name.startswith('.') or name == '99-runtimevars.sh':
                continue
            shell.file = path
            if path not in shell.bound and shell.files.find_file_type(path) != '-':
                if shell.files.find_file_type(path) is None:
                    problems.append((path, 'is a link to nothing'))
                continue
            if name == '90-environment.sh' and not shell.get('PATH'):
                fix_path()
            run(path)
            if name in ('10-docker2singularity.sh', '10-docker.sh'):
                shell.file = 'the runtime'
                fix_path()
            if name == '99-base.sh':
                usual_path()
    else:
        if shell.files.find_file_type('/environment') == '-':
            run('/environment')
            shell.file = 'the runtime'
            fix_path()
        usual_path()


def merge_observed_environment(values, evaluated):
    """
    Return the Environment of an image whose scripts the runtime has run.

    :param values: {name: value}, what they left exported; evaluated: Environment, as
        evaluate_environment() has it: where a value is set, and what is set without export
    """
    known_before = evaluated.variables
    variables = dict((name, one) for name, one in known_before.items() if one.exported is False)
    for name, value in values.items():
        if not _FOREIGN.match(name):
            old = known_before.get(name)
            same = old and old.value == value and old.exported
            variables[name] = (
                old
                if same
                else Variable(
                    value, True, old and old.location or 'the scripts of the image', None, ''
                )
            )
    return Environment(variables, None, None, evaluated.problems)


def resolve_process_variable(environment, name, host_value=None):
    """
    Return the Variable name (str) of a program's process, None if it is not there.

    :param of_host: str or None, the value with which the runtime is called
    """
    if name not in environment.variables:
        if host_value is not None and environment.default is None:
            return Variable(host_value, True, None, None, '')
        return None if environment.default is UNSET else environment.default
    one = environment.variables[name]
    if one.exported is None:
        return one._replace(value=None, reason=one.reason or 'it may be exported or not')
    if one.value is None:
        return one if one.exported else None
    return one if one.exported and (one.value or host_value is None) else None


def get_exported_value(environment, name):
    """
    Return the value (str) of the exported variable name, None where there is none or it is
    unknown.
    """
    one = environment.variables.get(name)
    return one.value if one and one.exported else None


def parse_folder_list(variable, is_loader_path=False):
    """
    Return (folders, complete): the folders (list of str) of a list such as LD_LIBRARY_PATH, a
    Variable or None.

    complete: False where the value is unknown, and the folders are those with which it begins for
    certain.
    """
    if variable is None:
        return [], True
    # ld.so takes ; as well, and $ORIGIN (elf/dl-load.c)
    parts = re.split(
        '[:;]' if is_loader_path else ':',
        variable.known_prefix if variable.value is None else variable.value,
    )
    parts = parts[:-1] if variable.value is None else parts
    return [
        part for part in parts if part.startswith(('/', '$') if is_loader_path else '/')
    ], variable.value is not None
