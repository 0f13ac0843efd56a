"""
The syntax of shell scripts, as far as the environment scripts of images use it: text -> tree of statements.

What is parsed is the common part of POSIX (Shell Command Language, 2.10) and bash, which is what the runtimes' own
interpreter takes (mvdan.cc/sh). Nothing is run. What is not known ends in SyntaxProblem, never in another reading.
"""
import re
from collections import namedtuple

#: Statements. line: int, first is 1. A word is a list of Part; a body is a list of statements
#: assigns: list of (name, True for +=, word); words: list of words; redirected: bool, to somewhere else than /dev/null
Simple = namedtuple('Simple', 'line assigns words redirected')
#: words between [[ and ]]
Bracket = namedtuple('Bracket', 'line words')
#: first, second: statements; word: '&&' or '||'
AndOr = namedtuple('AndOr', 'line first word second')
Not = namedtuple('Not', 'line body')
#: branches: list of (condition, body); other: body, what else holds
If = namedtuple('If', 'line branches other')
#: cases: list of (list of words, body)
Case = namedtuple('Case', 'line word cases')
#: words: list of words, None for "$@"
For = namedtuple('For', 'line name words body')
#: while and until, whose number of turns is never known
Loop = namedtuple('Loop', 'line body')
Function = namedtuple('Function', 'line name body')
Group = namedtuple('Group', 'line body')
#: in a process of its own: ( ), a pipe's parts but the last, &
Apart = namedtuple('Apart', 'line body')

#: kind: 'text' (value: str), 'variable' (value: name; operator: '' or one of _OPERATORS or 'length'; word: what follows
#: the operator) or 'unknown' (value: str, what it is); quoted: bool, no field is split, nothing in it is a pattern
Part = namedtuple('Part', 'kind value quoted operator word')

_OPERATORS = re.compile(r':?[-+=?]|##?|%%?')
_NAME = re.compile(r'[A-Za-z_]\w*')
_ASSIGNMENT = re.compile(r'([A-Za-z_]\w*)(\+?)=')
_ENDS = frozenset(['then', 'else', 'elif', 'fi', 'do', 'done', 'esac', '}'])


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
    parser = _Parser(script.replace('\r\n', '\n'))  # as mvdan.cc/sh does
    if '\r' in parser.script or '\0' in script:
        raise SyntaxProblem(1, 'it is no text')
    try:
        found = parser.body()
        return found if parser.at == len(parser.script) else parser.fail('%s here' % (parser.reserved() or ';;'))
    except RecursionError:
        raise SyntaxProblem(parser.line(), 'too deeply nested')


class _Parser(object):
    """The state of one parse()."""

    def __init__(self, script):
        """See parse()."""
        self.script, self.at, self.here, self.counted = script, 0, [], (0, 1)

    def line(self):
        """Return the number (int) of the line that is read."""
        place, number = self.counted
        # from where it was counted last: from the begin a script of n lines takes n * n
        number += self.script.count('\n', place, self.at) - self.script.count('\n', self.at, place)
        self.counted = self.at, number
        return number

    def fail(self, what):
        """Raise SyntaxProblem."""
        raise SyntaxProblem(self.line(), what)

    def next(self, several=1):
        """Return the next characters (str, '' at the end)."""
        return self.script[self.at:self.at + several]

    def take(self, expected):
        """Go past expected (str). Raises SyntaxProblem if it is not there."""
        if not self.script.startswith(expected, self.at):
            self.fail('%s is missing' % expected)
        self.at += len(expected)

    def blank(self):
        """Go past blanks, continued lines and a comment."""
        self.at = re.compile(r'(?:[ \t]|\\\n)*(?:#[^\n]*)?').match(self.script, self.at).end()
        if self.script[self.at - 1:self.at] == '\\':  # mvdan.cc/sh goes on with the next line
            self.fail('a comment that ends in \\')

    def newline(self):
        """Go past the end of a line and the here-documents that begin there."""
        self.at += 1
        for end, stripped in self.here:
            found = re.compile(r'^%s%s$' % ('\t*' if stripped else '', re.escape(end)), re.M).search(
                self.script, self.at)
            if not found:
                self.fail('a here-document without end')
            self.at = found.end() + 1
        self.here = []

    def gap(self):
        """Go past blanks and ends of lines."""
        self.blank()
        while self.next() == '\n':
            self.newline()
            self.blank()

    def reserved(self):
        """Return the plain word (str) that is next, without going past it; '' where there is none."""
        found = re.compile(r'[A-Za-z_!{}\[\]]+(?=[\s;&|()<>]|$)').match(self.script, self.at)
        return found.group() if found else ''

    def body(self, end=''):
        """Return statements (list) up to the end of the script, a reserved word or the character end (str)."""
        found = []
        while True:
            self.gap()
            if not self.next() or self.next() == end or self.next(2) == ';;' or self.reserved() in _ENDS:
                if not self.next() and end:
                    self.fail('%s is missing' % end)
                return found
            line, one = self.line(), self.and_or()
            self.blank()
            if self.next(2) not in (';;', '&&') and self.next() in (';', '&'):
                one = Apart(line, [one]) if self.next() == '&' else one
                self.at += 1
            elif self.next() not in ('', '\n', end) and self.next(2) != ';;':
                self.fail('%s here' % self.next())
            found.append(one)

    def full_body(self):
        """Return as body() does, what must not be empty."""
        return self.body() or self.fail('a statement is missing')

    def and_or(self):
        """Return a statement with all that && and || add to it."""
        found = self.pipeline()
        while True:
            self.blank()
            word, line = self.next(2), self.line()
            if word not in ('&&', '||'):
                return found
            self.at += 2
            self.gap()
            found = AndOr(line, found, word, self.pipeline())

    def pipeline(self):
        """Return a command, or a pipe of several."""
        line, negated = self.line(), False
        while self.reserved() == '!':
            self.take('!')
            self.blank()
            negated = not negated
        found = self.command()
        self.blank()
        while self.next() == '|' and self.next(2) != '||':
            self.at += 2 if self.next(2) == '|&' else 1
            self.gap()
            # the status is that of the last, which is not followed: what comes through the pipe is not known
            found = Group(line, [Apart(line, [found]), Loop(line, [self.command()])])
            self.blank()
        return Not(line, found) if negated else found

    def command(self):
        """Return a command."""
        word, line = self.reserved(), self.line()
        if word in _ENDS:
            self.fail('%s here' % word)
        if self.next(2) == '((' or word in ('select', 'coproc', 'time'):
            self.fail('(( or %s' % (word or 'an expression'))
        compound = {'if': self.if_, 'case': self.case, 'for': self.for_, 'while': self.loop, 'until': self.loop,
                    '{': self.group, '[[': self.bracket, 'function': self.function}.get(word)
        if self.next() == '(':
            compound = self.apart
        if not compound:
            return self.simple(line)
        found = compound(line)
        self.blank()
        return Loop(line, [found]) if self.redirections() else found  # whether it can be opened is not known

    def if_(self, line):
        """Return an If."""
        branches, other = [], []
        self.take('if')
        while True:
            condition = self.full_body()
            self.take('then')
            branches.append((condition, self.full_body()))
            if self.reserved() != 'elif':
                break
            self.take('elif')
        if self.reserved() == 'else':
            self.take('else')
            other = self.full_body()
        self.take('fi')
        return If(line, branches, other)

    def case(self, line):
        """Return a Case."""
        self.take('case')
        self.blank()
        word, cases = self.word(), []
        self.gap()
        self.take('in')
        self.gap()
        while self.reserved() != 'esac':
            if self.next() == '(':
                self.at += 1
            patterns = []
            while True:
                self.blank()
                patterns.append(self.word() or self.fail('a pattern is missing'))
                self.blank()
                if self.next() != '|':
                    break
                self.at += 1
            self.take(')')
            body = self.body()
            cases.append((patterns, body))
            if self.next(3) in (';;&',) or self.next(2) == ';&':
                self.fail(';& in case')
            if self.reserved() != 'esac':
                self.take(';;')
                self.gap()
        self.take('esac')
        return Case(line, word, cases)

    def for_(self, line):
        """Return a For."""
        self.take('for')
        self.blank()
        name = _NAME.match(self.script, self.at)
        if not name:
            self.fail('for without a name')
        self.at, words = name.end(), None
        self.gap()
        if self.reserved() == 'in':
            self.take('in')
            self.blank()
            words = []
            while self.next() not in ('', '\n', ';'):
                words.append(self.word() or self.fail('%s here' % self.next()))
                self.blank()
        if self.next() == ';':
            self.at += 1
        self.gap()
        return For(line, name.group(), words, self.do())

    def do(self):
        """Return the body between do and done."""
        self.take('do')
        body = self.full_body()
        self.take('done')
        return body

    def loop(self, line):
        """Return a Loop."""
        self.take(self.reserved())
        return Loop(line, self.full_body() + self.do())

    def group(self, line):
        """Return a Group."""
        self.take('{')
        body = self.full_body()
        self.take('}')
        return Group(line, body)

    def apart(self, line):
        """Return the Apart of ( )."""
        self.take('(')
        body = self.body(')')
        self.take(')')
        return Apart(line, body)

    def bracket(self, line):
        """Return a Bracket."""
        self.take('[[')
        words = []
        while True:
            self.gap()
            if self.reserved() == ']]':
                self.take(']]')
                return Bracket(line, words)
            found = re.compile(r'&&|\|\||[()<>]').match(self.script, self.at)
            if found:
                self.at = found.end()
                words.append([Part('unknown', 'an operator in [[ ]]', False, '', None)])
            else:
                words.append(self.word() or self.fail('%s here' % (self.next() or 'the end')))

    def function(self, line):
        """Return a Function of bash's spelling."""
        self.take('function')
        self.blank()
        name = self.word()
        return self.function_body(line, ''.join(part.value for part in name or []))

    def function_body(self, line, name):
        """Return the Function name (str)."""
        self.blank()
        if self.next() == '(':
            self.take('(')
            self.blank()
            self.take(')')
        self.gap()
        return Function(line, name, [self.command()])

    def redirections(self):
        """Go past redirections; return whether there was one whose file may fail to open."""
        found = False
        while True:
            self.blank()
            operator = re.compile(r'(?:\d*|&)(?:>>|>\||>&|<&|<<<|<<-?|<>|[<>])').match(self.script, self.at)
            if not operator:
                return found
            if self.next(2) in ('<(', '>('):
                self.fail('a process as a file')
            self.at = operator.end()
            self.blank()
            target = self.word() or self.fail('a file is missing')
            name = ''.join(part.value if part.kind == 'text' else '?' for part in target)
            kind = operator.group().lstrip('0123456789&')
            if kind in ('<<', '<<-'):
                self.here.append((name, kind == '<<-'))
            elif kind != '<<<' and name != '/dev/null' and not (kind in ('>&', '<&') and re.match(r'\d+$|-$', name)):
                found = True

    def simple(self, line):
        """Return a Simple, or a Function."""
        assigns, words, redirected = [], [], False
        while True:
            redirected = self.redirections() or redirected
            word = self.word()
            if not word:
                if not (words or assigns or redirected) and self.next() not in ('<', '>'):
                    self.fail('%s here' % (self.next() or 'the end'))
                return Simple(line, assigns, words, redirected)
            name, more, value = split_assignment(word)
            if name and not words:
                assigns.append((name, more, value))
                continue
            words.append(word)
            self.blank()
            if self.next() == '(' and len(words) == 1 and not assigns:
                return self.function_body(line, ''.join(part.value for part in word))

    def word(self):
        """Return the word (list of Part) that is next, [] where there is none."""
        return self.parts(' \t\n;&|<>()', False)

    def parts(self, stop, quoted, brace=False):
        """
        Return the parts (list of Part) up to a character of stop (str), which stays.

        quoted: bool, within double quotes; brace: bool, within ${ }, where quotes in quotes are taken off.
        """
        found, plain = [], not quoted and not brace
        while self.next() and self.next() not in stop:
            char = self.next()
            if char == '\\':
                following = self.script[self.at + 1:self.at + 2]
                keep = quoted and following not in ('$', '`', '"', '\\', '\n') and not (brace and following == '}')
                self.at += 2
                if following != '\n' and not quoted:  # mvdan.cc/sh keeps it in some places
                    found.append(Part('unknown', 'a backslash outside of quotes', False, '', None))
                elif following != '\n':
                    found.append(text(char + following if keep else following, True))
            elif char == "'" and not quoted:
                end = self.script.find("'", self.at + 1)
                if end < 0:
                    self.fail("' is missing")
                found.append(text(self.script[self.at + 1:end], True))
                self.at = end + 1
            elif char == "'" and brace:  # POSIX keeps the quote, mvdan.cc/sh takes it off
                found.append(Part('unknown', "' within double quotes", quoted, '', None))
                self.at += 1
            elif char == '"':
                self.at += 1
                found += self.parts('"', True) or [text('', True)]
                self.take('"')
            elif char == '$':
                found.append(self.dollar(quoted))
            elif char == '`':
                end = re.compile(r'`(?:[^`\\]|\\.)*`', re.S).match(self.script, self.at)
                self.at = end.end() if end else self.fail('` is missing')
                found.append(Part('unknown', 'the output of a command', quoted, '', None))
            elif char == '~' and not quoted and (not found or found[-1].kind == 'text' and not found[-1].quoted and
                                                 found[-1].value[-1:] in ('=', ':')):
                self.at += 1
                found.append(Part('unknown', '~', False, '', None))
            else:
                found.append(text(char, quoted))
                self.at += 1
            # letter after letter would be a long list
            if len(found) > 1 and found[-1].kind == found[-2].kind == 'text' and found[-1].quoted == found[-2].quoted:
                found[-2:] = [text(found[-2].value + found[-1].value, found[-1].quoted)]
            if plain and char == '=' and self.next() == '(' and len(found) == 1 and _ASSIGNMENT.match(_plain(found)):
                found.append(self.array())
        return found

    def array(self):
        """Go past (...) behind NAME=."""
        self.at += 1
        while True:
            self.gap()
            if self.next() == ')':
                self.at += 1
                return Part('unknown', 'an array', False, '', None)
            if not self.word():
                self.fail('%s in an array' % (self.next() or 'the end'))

    def dollar(self, quoted):
        """Return the Part that begins with $."""
        self.at += 1
        name = re.compile(r'[A-Za-z_]\w*|[0-9@*#?$!-]').match(self.script, self.at)
        if name:
            self.at = name.end()
            return Part('variable', name.group(), quoted, '', None)
        if self.next() == '(':
            arithmetic = self.next(2) == '(('
            self.at += 2 if arithmetic else 1
            if arithmetic:
                depth = 2
                while depth:
                    depth += {'(': 1, ')': -1, '': 0}.get(self.next(), 0) if self.next() else self.fail(')) is missing')
                    self.at += 1
            else:
                self.body(')')
                self.take(')')
            return Part('unknown', 'an expression' if arithmetic else 'the output of a command', quoted, '', None)
        if self.next() == '{':
            return self.braces(quoted)
        if self.next() == "'" and not quoted:
            end = re.compile(r"'(?:[^'\\]|\\.)*'", re.S).match(self.script, self.at)
            self.at = end.end() if end else self.fail("' is missing")
            return Part('unknown', "$'...'", True, '', None)
        return text('$' if self.next() != '"' or quoted else '', quoted)

    def braces(self, quoted):
        """Return the Part of ${ }."""
        found = re.compile(r'\{(#?)([A-Za-z_]\w*|[0-9]+|[@*?$!-])').match(self.script, self.at)
        if found:
            end = found.end()
            operator = _OPERATORS.match(self.script, end)
            if self.script[end:end + 1] == '}':
                self.at = end + 1
                return Part('variable', found.group(2), quoted, 'length' if found.group(1) else '', None)
            if operator and not found.group(1):
                self.at = operator.end()
                # in a pattern quotes within quotes count anew
                word = self.parts('}', quoted and operator.group()[0] not in '#%', True)
                self.take('}')
                return Part('variable', found.group(2), quoted, operator.group(), word)
        self.at += 1
        self.parts('}', quoted, True)
        self.take('}')
        return Part('unknown', '${ } of bash', quoted, '', None)


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
        if isinstance(one, For):
            yield one.line, one.name
        if isinstance(one, Function):  # what it is called for later is not kept
            yield one.line, None
        for word in _words(one):
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
    return [one.body] if isinstance(one, (For, Loop, Group)) else []


def _words(one):
    """Return the words (list) that belong to a compound statement itself."""
    return [one.word] if isinstance(one, Case) else list(getattr(one, 'words', None) or [])


def _defaults(word):
    """Yield the names (str) to which ${NAME:=value} in a word gives a value."""
    for part in word:
        if part.kind == 'variable' and part.operator in (':=', '='):
            yield part.value
        for name in _defaults(part.word or []):
            yield name


#: Commands that change nothing but what their arguments name
NAMING = frozenset(['export', 'readonly', 'declare', 'typeset', 'local', 'unset', 'read', 'getopts', 'printf',
                    'mapfile', 'readarray', 'let'])
#: Commands that may change anything
UNBOUNDED = frozenset(['eval', '.', 'source', 'alias', 'unalias', 'command', 'builtin', 'exec', 'set', 'shopt',
                       'enable', 'trap'])


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
    if command is None or command in UNBOUNDED:
        yield one.line, None
    elif command in NAMING:
        for word in one.words[1:]:
            name = name_of(word) or plain_name(word)
            if name is None:
                yield one.line, None
            elif _NAME.match(name):
                yield one.line, re.match(r'\w+', name).group()
    elif '[' in command and _NAME.match(command):  # NAME[0]=...
        yield one.line, re.match(r'\w+', command).group()
    if command:
        yield one.line, '!' + command
