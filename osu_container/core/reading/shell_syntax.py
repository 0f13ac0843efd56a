"""
The syntax of shell scripts, as far as the environment scripts of images use it: text -> tree of statements.

What is parsed is a part of POSIX (Shell Command Language, 2.10) and bash, which is what the runtimes' own interpreter
takes (mvdan.cc/sh). Nothing is run. What is not known ends in SyntaxProblem, never in another reading.
"""
import re
from collections import namedtuple

#: Statements. line: int, first is 1. A word is a list of Part; a body is a list of statements
#: assigns: list of (name, True for +=, word); words: list of words; redirected: bool, to somewhere else than /dev/null
Simple = namedtuple('Simple', 'line assigns words redirected')
#: first, second: statements; word: '&&' or '||'
AndOr = namedtuple('AndOr', 'line first word second')
Not = namedtuple('Not', 'line body')
#: branches: list of (condition, body); other: body, what else holds
If = namedtuple('If', 'line branches other')
#: cases: list of (list of words, body)
Case = namedtuple('Case', 'line word cases')
#: What runs an unknown number of times, or ends unknown: for (names: list with its variable), while, until, [[ ]], the
#: end of a pipe, what is redirected; words: list of words that are expanded
Loop = namedtuple('Loop', 'line names words body')
Function = namedtuple('Function', 'line name body')
Group = namedtuple('Group', 'line body')
#: in a process of its own: ( ), &
Apart = namedtuple('Apart', 'line body')

#: kind: 'text' (value: str), 'variable' (value: name; operator: '', or - + = ? with or without a colon; word: what
#: follows the operator) or 'unknown' (value: str, what it is); quoted: bool, no field is split, nothing is a pattern
Part = namedtuple('Part', 'kind value quoted operator word')

# What a word is made of. No text fits two of the alternatives, so that nothing is tried twice.
_BACKTICKS = r'`(?:[^`\\]|\\.)*`'
_COMMAND = r"""\$\((?!\()(?:[^()"'`\\]|"[^"`\\]*"|'[^']*'|\([^()"'`\\]*\))*\)"""
_ARITHMETIC = r'\$\(\([^()]*(?:\([^()]*\)[^()]*)*\)\)'
_PLAIN_BRACES = r'\$\{(?:[^{}`$\\]|\\.|\$(?![{(]))*\}'
_INNER_BRACES = _PLAIN_BRACES.replace(')*', '|%s|%s)*' % (_COMMAND, _PLAIN_BRACES))
_BRACES = _PLAIN_BRACES.replace(')*', '|%s|%s)*' % (_COMMAND, _INNER_BRACES))
_DOUBLE = r'"(?:[^"`$\\]|\\.|\$(?![{(])|%s)*"' % '|'.join((_BACKTICKS, _COMMAND, _ARITHMETIC, _BRACES))
_PIECES = (r"(?P<escape>\\.)|(?P<single>'[^']*')|(?P<double>%s)|(?P<command>%s|%s)|(?P<arithmetic>%s)|(?P<braces>%s)|"
           r"\$(?P<name>[A-Za-z_]\w*|[0-9@*#?$!-])|(?P<odd>\$'(?:[^'\\]|\\.)*')|(?P<plain>%%s)"
           % (_DOUBLE, _BACKTICKS, _COMMAND, _ARITHMETIC, _BRACES))
_PIECE = re.compile(_PIECES % r"""\$(?![{('"])|[^\\'"`$]""", re.S)
_TOKEN = re.compile(r'(?P<blank>(?:[ \t]|\\\n)+|#[^\n]*)|(?P<to>(?:\d+|&)?(?:>>|>\||>&|<&|<>|[<>]))|'
                    r'(?P<end>\n|&&|\|\||;;|\(\(|[;&|()])|(?P<word>(?:%s)+)'
                    % re.sub(r'\?P<\w+>', '?:', _PIECES % r"""\$(?![{('"])|[^\s;&|<>()\\'"`$]"""), re.S)

_EXPANSION = re.compile(r'([A-Za-z_]\w*|[0-9]+|[@*?$!-])(?:(:?[-+=?])(.*))?$', re.S)
_NAME = re.compile(r'[A-Za-z_]\w*')
_ASSIGNMENT = re.compile(r'([A-Za-z_]\w*)(\+?)=')
#: Words that begin no command of their own, and those of what is not parsed
_NO_COMMAND = frozenset(['then', 'else', 'elif', 'fi', 'do', 'done', 'esac', '}', ']]', 'in', 'select', 'coproc',
                         'time', 'function'])


class SyntaxProblem(Exception):
    """A script with something that is not parsed. line: int; the text says what."""

    def __init__(self, line, what):
        super(SyntaxProblem, self).__init__(what)
        self.line = line


def text(value, quoted=False):
    """Return the Part of a piece of text (str)."""
    return Part('text', value, quoted, '', None)


def parse(script):
    """Return the statements (list) of a script (str). Raises SyntaxProblem."""
    script = script.replace('\r\n', '\n')  # as mvdan.cc/sh does
    if '\r' in script or '\0' in script:
        raise SyntaxProblem(1, 'it is no text')
    parser = _Parser(_tokens(script))
    try:
        return parser.body(('',))
    except RecursionError:
        raise SyntaxProblem(parser.line(), 'too deeply nested')


def _tokens(script):
    """Return [(kind: 'end', 'to' or 'word', text, line)] of a script (str), the last one '' with the last line."""
    found, at, line = [], 0, 1
    while at < len(script):
        token = _TOKEN.match(script, at)
        if not token or token.lastgroup == 'blank' and token.group().startswith('#') and token.group()[-1] == '\\':
            raise SyntaxProblem(line, 'what begins with %s' % script[at:at + 20].split('\n')[0])
        if token.lastgroup != 'blank':
            found.append((token.lastgroup, token.group(), line))
        at, line = token.end(), line + token.group().count('\n')
    return found + [('end', '', line)]


class _Parser(object):
    """The state of one parse()."""

    def __init__(self, tokens):
        """tokens: as _tokens() gives them."""
        self.tokens, self.at = tokens, 0

    def line(self):
        """Return the number (int) of the line that is read."""
        return self.tokens[self.at][2]

    def next(self):
        """Return the text (str) of the next token, '' at the end."""
        return self.tokens[self.at][1]

    def fail(self):
        """Raise SyntaxProblem."""
        raise SyntaxProblem(self.line(), '%s here' % (self.next().strip() or 'the end'))

    def take(self, *expected):
        """Go past the next token and return it (str), which is one of expected. Raises SyntaxProblem if it is not."""
        if self.next() not in expected:
            self.fail()
        self.at += 1
        return self.tokens[self.at - 1][1]

    def newlines(self):
        """Go past ends of lines."""
        while self.next() == '\n':
            self.at += 1

    def body(self, ends, empty=True):
        """Return statements (list) up to one of ends (tuple of str), which stays. Raises SyntaxProblem."""
        found = []
        self.newlines()
        while self.next() not in ends:
            line, one = self.line(), self.and_or()
            found.append(Apart(line, [one]) if self.next() == '&' else one)
            if self.next() not in ends:
                self.take(';', '&', '\n')
            self.newlines()
        return found if found or empty else self.fail()

    def and_or(self):
        """Return a statement with all that && and || add to it."""
        found = self.pipeline()
        while self.next() in ('&&', '||'):
            line, word = self.line(), self.take('&&', '||')
            self.newlines()
            found = AndOr(line, found, word, self.pipeline())
        return found

    def pipeline(self):
        """Return a command, or what stands for a pipe: its last one, as the others are in processes of their own."""
        line, negated = self.line(), False
        while self.next() == '!':
            self.at += 1
            negated = not negated
        found = self.command()
        while self.next() == '|':
            self.at += 1
            self.newlines()
            found = Loop(line, [], [], [self.command()])
        return Not(line, found) if negated else found

    def command(self):
        """Return a command."""
        line = self.line()
        compound = {'if': self.if_, 'case': self.case, 'for': self.for_, 'while': self.loop, 'until': self.loop,
                    '{': self.group, '[[': self.bracket, '(': self.apart}.get(self.next())
        if not compound:
            return self.simple(line)
        self.at += 1
        found, to = compound(line), self.redirections()
        return found if to is None else Loop(line, [], [], [found])  # whether it can be opened is not known

    def if_(self, line):
        """Return an If."""
        branches, other, word = [], [], 'elif'
        while word == 'elif':
            condition = self.body(('then',), False)
            self.take('then')
            branches.append((condition, self.body(('elif', 'else', 'fi'), False)))
            word = self.take('elif', 'else', 'fi')
        if word == 'else':
            other = self.body(('fi',), False)
            self.take('fi')
        return If(line, branches, other)

    def case(self, line):
        """Return a Case."""
        word, cases = self.word(), []
        self.newlines()
        self.take('in')
        self.newlines()
        while self.next() != 'esac':
            if self.next() == '(':
                self.at += 1
            patterns = [self.word()]
            while self.take('|', ')') == '|':
                patterns.append(self.word())
            cases.append((patterns, self.body((';;', 'esac'))))
            if self.next() != 'esac':
                self.take(';;')
                self.newlines()
        self.take('esac')
        return Case(line, word, cases)

    def for_(self, line):
        """Return the Loop of a for."""
        name, words = self.next(), []
        if not _NAME.match(name):
            self.fail()
        self.at += 1
        self.newlines()
        if self.next() == 'in':
            self.at += 1
            while self.next() not in (';', '\n'):
                words.append(self.word())
        if self.next() == ';':
            self.at += 1
        self.newlines()
        self.take('do')
        return Loop(line, [name], words, self.done())

    def done(self):
        """Return the body up to done, and go past it."""
        body = self.body(('done',), False)
        self.take('done')
        return body

    def loop(self, line):
        """Return the Loop of a while or until."""
        condition = self.body(('do',), False)
        self.take('do')
        return Loop(line, [], [], condition + self.done())

    def group(self, line):
        """Return a Group."""
        body = self.body(('}',), False)
        self.take('}')
        return Group(line, body)

    def apart(self, line):
        """Return the Apart of ( )."""
        body = self.body((')',), False)
        self.take(')')
        return Apart(line, body)

    def bracket(self, line):
        """Return what stands for [[ ]]: whether it holds is not known."""
        words = []
        while self.next() != ']]':
            if self.tokens[self.at][0] == 'word':
                words.append(self.word())
            else:
                self.take('&&', '||', '(', ')', '<', '>', '\n')
        self.at += 1
        return Loop(line, [], words, [])

    def redirections(self):
        """Go past redirections; return whether there was one whose file may fail to open (bool), None without any."""
        found = None
        while self.tokens[self.at][0] == 'to':
            kind = self.next().lstrip('0123456789')
            self.at += 1
            name = plain_name(self.word())
            plain = name == '/dev/null' or kind in ('>&', '<&') and re.match(r'\d+$|-$', name or '')
            found = bool(found) or not plain
        return found

    def simple(self, line):
        """Return a Simple, or a Function."""
        assigns, words, redirected, begin = [], [], False, self.at
        if self.next() in _NO_COMMAND:
            self.fail()
        while self.tokens[self.at][0] != 'end':
            if self.tokens[self.at][0] == 'to':
                redirected = self.redirections() or redirected
                continue
            word = self.word()
            name, more, value = split_assignment(word)
            if name and not words:
                assigns.append((name, more, value))
                if not value and self.next() == '(':  # an array
                    self.fail()
                continue
            words.append(word)
            if self.next() == '(' and self.at == begin + 1:
                return self.function(line, plain_name(word))
        return Simple(line, assigns, words, redirected) if self.at > begin else self.fail()

    def function(self, line, name):
        """Return the Function name (str or None), whose name is read."""
        self.take('(')
        self.take(')')
        self.newlines()
        return Function(line, name, [self.command()])

    def word(self):
        """Return the word (list of Part) that is next. Raises SyntaxProblem where there is none."""
        kind, raw, line = self.tokens[self.at]
        if kind != 'word':
            self.fail()
        self.at += 1
        return _parts(raw, False, line)


def _parts(raw, quoted, line, brace=False):
    """
    Return the parts (list of Part) of a piece of a script (raw: str).

    quoted: bool, within double quotes; brace: bool, within ${ }, where quotes in quotes are taken off.
    """
    found = []
    for piece in _PIECE.finditer(raw) if not quoted or brace else _QUOTED_PIECE.finditer(raw):
        kind, value = piece.lastgroup, piece.group()
        if kind == 'plain' and value == '~' and not quoted and _plain(found[-1:])[-1:] in ('', '=', ':'):
            found.append(Part('unknown', '~', False, '', None))
        elif kind == 'plain':
            found.append(text(value, quoted))
        elif kind == 'escape':
            found += _escaped(value[1], quoted, brace)
        elif kind == 'single':
            found.append(text(value[1:-1], True))
        elif kind == 'double':
            found += _parts(value[1:-1], True, line) or [text('', True)]
        elif kind == 'name':
            found.append(Part('variable', value[1:], quoted, '', None))
        elif kind == 'braces':
            found.append(_expansion(value[2:-1], quoted, line))
        else:
            what = {'command': 'the output of a command', 'arithmetic': 'an expression'}.get(kind, "$'...'")
            if kind == 'command' and re.search(r'\bcase\b|#|<<', value):  # where that ends is not known
                raise SyntaxProblem(line, what)
            found.append(Part('unknown', what, quoted, '', None))
        # letter after letter would be a long list
        if len(found) > 1 and found[-1].kind == found[-2].kind == 'text' and found[-1].quoted == found[-2].quoted:
            found[-2:] = [text(found[-2].value + found[-1].value, found[-1].quoted)]
    return found


#: Within double quotes single ones, and ~, are as any other letter
_QUOTED_PIECE = re.compile(_PIECES.replace("(?P<single>'[^']*')|", '').replace(r"(?P<odd>\$'(?:[^'\\]|\\.)*')|", '')
                           % r"""\$(?![{(])|[^\\"`$]""", re.S)


def _escaped(letter, quoted, brace):
    """Return the Parts of a backslash and the letter (str) behind it; arguments: as of _parts()."""
    if letter == '\n':
        return []
    if not quoted:  # mvdan.cc/sh keeps it in some places
        return [Part('unknown', 'a backslash outside of quotes', False, '', None)]
    taken_off = letter in '$`"\\' or brace and letter == '}'
    return [text(letter if taken_off else '\\' + letter, True)]


def _expansion(content, quoted, line):
    """Return the Part of ${content}. Raises SyntaxProblem where quotes may mean that it ends elsewhere."""
    found = _EXPANSION.match(content)
    if "'" in content or content.count('"') % 2 or not found and '=' in content:
        raise SyntaxProblem(line, '${%s}' % content)
    if not found:
        return Part('unknown', '${ } of other kinds', quoted, '', None)
    name, operator, word = found.groups()
    return Part('variable', name, quoted, operator or '', _parts(word, quoted, line, True) if operator else None)


def _plain(word):
    """Return the text (str) with which a word (list of Part) begins, as far as it is not quoted."""
    return word[0].value if word and word[0].kind == 'text' and not word[0].quoted else ''


def plain_name(word):
    """Return the word (list of Part) as it stands where nothing in it is to be expanded (str), else None."""
    return ''.join(part.value for part in word) if all(part.kind == 'text' for part in word) else None


def split_assignment(word):
    """Return (name, True for +=, word of the value) of a word NAME=VALUE, (None, False, []) where it is none."""
    found = _ASSIGNMENT.match(_plain(word))
    if not found:
        return None, False, []
    rest = word[0].value[found.end():]
    return found.group(1), bool(found.group(2)), ([text(rest)] if rest else []) + word[1:]


def name_of(word):
    """Return the name (str) in a word NAME=VALUE, also where it is quoted as a whole, None where it is none."""
    found = _ASSIGNMENT.match(word[0].value) if word and word[0].kind == 'text' else None
    return found.group(1) if found else None


def names_in(statements):
    """
    Yield (line, name or None) of what statements (list) may change, once each is run: None for what cannot be told.

    A name with ! in front is a command: return, exit, or the name of a function, whose body changes what it changes.
    """
    for one in statements:
        if isinstance(one, Simple):
            for item in _names_of_simple(one):
                yield item
            continue
        if isinstance(one, Function):  # what it is called for later is not kept
            yield one.line, None
        for name in getattr(one, 'names', ()):
            yield one.line, name
        for word in [one.word] if isinstance(one, Case) else getattr(one, 'words', ()):
            for name in _defaults(word):
                yield one.line, name
        for body in _bodies(one):
            for item in names_in(body):
                yield item


def _bodies(one):
    """Return the bodies (list of lists of statements) within a statement. What runs apart changes nothing."""
    if isinstance(one, AndOr):
        return [[one.first], [one.second]]
    if isinstance(one, If):
        return [body for pair in one.branches for body in pair] + [one.other]
    if isinstance(one, Case):
        return [body for _, body in one.cases]
    if isinstance(one, Not):
        return [[one.body]]
    return [one.body] if isinstance(one, (Loop, Group)) else []


def _defaults(word):
    """Yield the names (str) to which ${NAME:=value} in a word gives a value."""
    for part in word:
        if part.kind == 'variable' and part.operator in (':=', '='):
            yield part.value
        for name in _defaults(part.word or []):
            yield name


#: Commands that change nothing but what their arguments name
NAMING = frozenset(['export', 'local', 'unset', 'read', 'getopts', 'printf', 'mapfile', 'readarray', 'let'])
#: Commands that may change anything, or how it is changed
UNBOUNDED = frozenset(['eval', '.', 'source', 'alias', 'unalias', 'command', 'builtin', 'exec', 'set', 'shopt',
                       'enable', 'trap', 'readonly', 'declare', 'typeset'])


def _names_of_simple(one):
    """Yield as names_in() does for a Simple."""
    for name, _, _ in one.assigns:
        yield one.line, name
    for value in [value for _, _, value in one.assigns] + one.words:
        for name in _defaults(value):
            yield one.line, name
    if not one.words:
        return
    command = plain_name(one.words[0])
    if command == 'command' and len(one.words) > 1 and plain_name(one.words[1]) in ('-v', '-V'):
        return
    if command is None or command in UNBOUNDED or '[' in command[1:]:  # NAME[0]=...
        yield one.line, None
    elif command in NAMING:
        for word in one.words[1:]:
            name = name_of(word) or plain_name(word)
            if name is None or _NAME.match(name):
                yield one.line, name and _NAME.match(name).group()
    if command:
        yield one.line, '!' + command
