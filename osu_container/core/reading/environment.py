"""
The environment that the container runtime makes for a program: the scripts of an image, evaluated in their order.

Nothing is run. What cannot be followed (a command's output, a loop without known turns, eval) makes unknown what it may
have set, never a guess. The order, and where the runtime adds its own, is that of the action script of Apptainer 1.4.5
(internal/pkg/util/fs/files/action_script.sh), seen in runs of that release as well; SingularityCE's is the same:

1. Nothing of the host is there: the scripts see none of the variables with which the runtime was called.
2. /.singularity.d/env/*.sh by the bytes of their names, files that are bound there among them. After 99-base.sh come
   the variables given as APPTAINERENV_NAME or by --env, which are the user's, and of which nothing is known here.
3. Without that folder, and nothing bound there: /environment.
4. Variables of the host that the scripts have not set come back; those that they have set to nothing are taken away.
   One that a script sets without export is in neither way there.
"""
import fnmatch
import re
from collections import namedtuple

from osu_container.core.reading import shell_syntax as syntax

FOLDER = '/.singularity.d/env'
#: The runtime writes it behind the LD_LIBRARY_PATH that it is given
RUNTIME_LIBRARIES = '/.singularity.d/libs'
#: PATH in a container where the image sets none (Apptainer, internal/pkg/util/env, DefaultPath)
USUAL_PATH = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

#: One variable. value: str, None where it is unknown; exported: bool, None where that is unknown; at: 'FILE:LINE' of
#: what set it, or made it unknown; why: why its value is unknown, None where it is known; head: str,
#: with what an unknown value begins for certain
Variable = namedtuple('Variable', 'value exported at why head')

#: variables: {name: Variable}, of those that the scripts leave set; lost: Variable or None: any other one may be set to
#: anything; ends: (bool: for certain, 'FILE:LINE', why) or None: the program does not start; problems: list of
#: (path, why) of scripts that are passed over
Environment = namedtuple('Environment', 'variables lost ends problems')

#: Variables that are not the image's own: the user's, the shell's, the runtime's
_FOREIGN = re.compile(r'(HOME|(OLD)?PWD|[E]?[UG]ID|PPID|IFS|OPT(IND|ARG|ERR)|LINENO|DIRSTACK|S?RANDOM|SECONDS|SHELL|'
                      r'HOSTNAME|HOSTTYPE|MACHTYPE|OSTYPE|SHLVL|PIPESTATUS|BASH\w*|EPOCH\w*|_|e|key|__\w+|'
                      r'(APPTAINER|SINGULARITY)_(?!APPNAME$)\w+|SING_\w+|[0-9@*?$!#-]+)$')
#: Folders that are the host's in a container (apptainer.conf: mount proc, sys, dev, home, tmp; user binds below /), or
#: where binds of this project and of sites appear
_MOUNTED = re.compile(r'/(proc|sys|dev|home|root|tmp|var/tmp|var/spool|run|host|opt/host-mpi|opt/cray|users|etc/('
                      r'passwd|group|hosts|hostname|localtime|resolv\.conf))(/|$)')
#: Of the apps of an image, with environments of their own (--app), none is asked for
_NO_APP = {'APPTAINER_APPNAME': None, 'SINGULARITY_APPNAME': None}
#: What is exported stays so
_AS_BEFORE = object()
#: A field that is unknown, but not empty
_SOMETHING = object()
#: Commands that nobody makes a function of
_NO_FUNCTIONS = frozenset(['echo', ':', 'true', 'false', 'printf', 'mkdir', 'grep', 'sed', 'awk', 'cat', 'ls'])
#: Scripts within scripts
_DEEPEST = 20
#: Characters of a script that is followed. The largest seen has 60 KB (Spack's, of 400 packages)
_MOST_TEXT = 1 << 18
#: Characters of a value: execve(2) takes no longer string (MAX_ARG_STRLEN)
_LONGEST = 1 << 17
#: The same of one that a pattern is looked for in, and stars of that pattern: both decide how long it takes
_LONGEST_MATCHED, _MOST_STARS = 4096, 2
#: Work for one environment: characters of scripts, statements that run or are passed over. Those of real images take
#: 50,000 at most; so many take some seconds at most
_MOST_STEPS = 500000
#: Why nothing is known of what the scripts set from there on
_TOO_LONG = "the scripts of the image are too long, or call each other too often, to be followed"
_TOO_LARGE = "a value with more than %d characters" % _LONGEST


class _Return(Exception):
    """A script ends here."""


class _Exit(Exception):
    """The program is not started."""


class _TooMuch(Exception):
    """What is left of the scripts is not followed; the text says why."""


class _Shell(object):
    """The state of one evaluation. A variable that is None in variables is known to be unset."""

    def __init__(self, files, bound=()):
        """
        files: has kind(path) -> type letter or None, mode(path), script(path) -> str or None, and names(folder);
        bound: dict of str, files that are bound into the container, and their text.
        """
        self.files, self.bound, self.functions = files, dict(bound), {}
        self.variables = dict(_NO_APP)
        self.lost, self.ends, self.allexport, self.doubt = None, None, False, None
        self.fixed = False  # some variables are read-only
        self.called = []    # names of functions that are looked into
        self.file, self.depth, self.steps = '', 0, 0

    def tick(self, steps=1):
        """Count steps (int) of work. Raises _TooMuch where it is too much for any image that works."""
        self.steps += steps
        if self.steps > _MOST_STEPS:
            raise _TooMuch(_TOO_LONG)

    # Variables

    def at(self, line):
        """Return where something stands: 'FILE:LINE'."""
        return '%s:%d' % (self.file, line)

    def get(self, name):
        """Return the Variable name (str), None if it is not set."""
        if name in self.variables:
            return self.variables[name]
        if _FOREIGN.match(name):
            return Variable(None, True, None, '$%s is not known beforehand' % name, '')
        return self.lost

    def put(self, name, value, line, why=None, exported=_AS_BEFORE, head=''):
        """Give the variable name (str) a value (str, None for an unknown one, which begins with head)."""
        if exported is _AS_BEFORE:
            exported = self.is_exported(name)
        # of an unknown value the place that counts is where it became unknown
        why, at = why if isinstance(why, tuple) else (why, self.at(line))
        self.variables[name] = Variable(value, exported, at, why, head) if value is None else \
            Variable(value, exported, self.at(line), None, '')

    def is_exported(self, name):
        """Return whether the variable name (str) is exported when it is assigned, None where that is not known."""
        old = self.variables.get(name, self.lost)
        if self.allexport or old and old.exported:
            return True
        return None if self.allexport is None or old and old.exported is None else False

    def spoil(self, name, line, why):
        """Make the variable name (str) unknown, and whether it is exported."""
        self.variables[name] = Variable(None, None, self.at(line), why, '')

    def lose(self, line, why):
        """Make all variables unknown."""
        self.variables = dict(_NO_APP)
        self.lost = Variable(None, None, self.at(line), why, '')

    def may_end(self, line, why):
        """Keep that the program may not be started."""
        self.ends = self.ends or (False, self.at(line), why)

    # Words

    def expand(self, word, line):
        """Return [(text (str or None), quoted, (why it is unknown, where), whether it is of a variable)] of a word."""
        found = []
        for part in word:
            if part.kind == 'text':
                found.append((part.value, part.quoted, None, False))
            elif part.kind == 'unknown':
                found.append((None, part.quoted, (part.value, self.at(line)), True))
            else:
                found += [(value, part.quoted or quoted, why, True)
                          for value, quoted, why, _ in self.parameter(part, line)]
                found += [('', True, None, True)] if part.quoted else []  # a field, although there may be nothing in it
        return found

    def parameter(self, part, line):
        """Return as expand() does for a Part that is a variable."""
        variable, operator = self.get(part.value), part.operator
        if variable is not None and variable.value is None:
            why = (variable.why, variable.at or self.at(line))
            if operator[-1:] == '?':
                self.may_end(line, '${%s%s} where it is unknown' % (part.value, operator))
            if operator[-1:] == '=':
                self.spoil(part.value, line, why)
            head = variable.head if operator[-1:] != '+' else ''
            return ([(head, part.quoted, None, True)] if head else []) + [(None, part.quoted, why, True)]
        if not operator:
            return [(variable.value if variable else '', part.quoted, None, True)]
        there = variable is not None and (variable.value != '' or operator[0] != ':')
        if operator[-1] == '+':
            return self.expand(part.word, line) if there else [('', part.quoted, None, True)]
        if there:
            return [(variable.value, part.quoted, None, True)]
        if operator[-1] == '?':
            self.leave(line, '${%s%s}, and it is not set' % (part.value, operator))
        default = self.expand(part.word, line)
        if operator[-1] == '=':
            text, why, head = self.joined(default)
            # in mvdan.cc/sh this takes export away
            self.put(part.value, text, line, why, None if self.is_exported(part.value) is not False else False, head)
        return default

    @staticmethod
    def joined(expanded):
        """Return (text or None, (why it is unknown, where), how it begins for certain) of what expand() found."""
        text = ''
        for value, _, why, _ in expanded:
            if value is None:
                return None, why, text
            text += value
            if len(text) > _LONGEST:
                raise _TooMuch(_TOO_LARGE)
        return text, None, ''

    def value(self, word, line):
        """Return as joined() does for a word that is not split: that of an assignment, of case."""
        return self.joined(self.expand(word, line))

    def fields(self, words, line):
        """
        Return the fields (list) of words, None where their number is not known.

        One that is unknown is None, or _SOMETHING where it is not empty.
        """
        found = []
        for word in words:
            expanded = self.expand(word, line)
            value, _, head = self.joined(expanded)
            for piece, quoted, _, of_variable in expanded:
                if not quoted and (piece is None or re.search(r'[*?\[]' + r'|\s' * of_variable, piece) or
                                   not of_variable and '{' in piece):
                    return None  # it may be several words, or names of files; {a,b} of bash
            if value != '' or any(quoted for _, quoted, _, _ in expanded):
                found.append(_SOMETHING if value is None and head else value)
        if 'IFS' in self.variables:
            return None
        return found

    # Statements. Each returns whether it succeeds: True, False, None where that is not known

    def run(self, statements):
        """Run statements (list)."""
        status = True
        for one in statements:
            self.tick()
            if self.doubt:  # a return before it may have been meant
                status = self.spoil_all([one], self.doubt)
            else:
                status = getattr(self, '_' + type(one).__name__.lower())(one)
        return status

    def spoil_all(self, statements, why):
        """Make unknown what statements (list) may change, which may be run or not, once or often."""
        for line, name in list(syntax.names_in(statements)):
            self.tick()
            if name is None:
                self.lose(line, why)
            elif not name.startswith('!'):
                self.spoil(name, line, why)
            elif name[1:] in self.functions:
                self.spoil_function(name[1:], line, why)
            elif name[1:] in self.called:
                self.may_end(line, 'the function %s calls itself, perhaps without end' % name[1:])
            elif name in ('!exit', '!exec', '!shift', '!set'):
                self.may_end(line, name[1:])
                self.allexport = None if name == '!set' else self.allexport
            elif name == '!return':
                self.doubt = self.doubt or 'a return that may be reached or not (%s)' % self.at(line)
            elif name in ('!readonly', '!declare', '!typeset'):
                self.fixed = True

    def spoil_function(self, name, line, why):
        """The same for a function (str), which may call itself."""
        body, doubt = self.functions.pop(name), self.doubt
        self.called.append(name)
        self.spoil_all(body, why)
        self.called.remove(name)
        self.functions[name], self.doubt = body, doubt

    def leave(self, line, why):
        """End all."""
        self.ends = (True, self.at(line), why)
        raise _Exit()

    def _andor(self, one):
        """Run an AndOr."""
        status = self.run([one.first])
        if status is None:
            return self.spoil_all([one.second], 'what comes before it cannot be followed')
        return self.run([one.second]) if status == (one.word == '&&') else status

    def _not(self, one):
        """Run a Not."""
        status = self.run([one.body])
        return None if status is None else not status

    def _if(self, one):
        """Run an If."""
        for number, (condition, body) in enumerate(one.branches):
            status = self.run(condition)
            if status:
                return self.run(body)
            if status is None:
                rest = syntax.If(one.line, [([], body)] + one.branches[number + 1:], one.other)
                return self.spoil_all([rest], 'it depends on a condition that cannot be followed (%s)'
                                      % self.at(one.line))
        return self.run(one.other)

    def _case(self, one):
        """Run a Case."""
        value, why, _ = self.value(one.word, one.line)
        for number, (patterns, body) in enumerate(one.cases):
            for word in patterns:
                pattern = None if value is None else self.pattern(word, value, one.line)
                if pattern is None:
                    rest = [body for _, body in one.cases[number:]]
                    return self.spoil_all([syntax.Group(one.line, sum(rest, []))],
                                          'it depends on a case that cannot be followed (%s): %s'
                                          % (self.at(one.line), why[0] if why else 'a pattern'))
                if pattern.match(value):
                    return self.run(body)
        return True

    def pattern(self, word, value, line):
        """Return the regular expression of a pattern (a word) for value (str), None where it cannot be told."""
        found = ''
        for text, quoted, _, _ in self.expand(word, line):
            if text is None:
                return None
            # fnmatch knows no \ and takes ! in [ ] as the shell does
            found += ''.join('[%s]' % char if char in '*?[' else char for char in text) if quoted else text
        if len(value) + len(found) > _LONGEST_MATCHED or found.count('*') - found.count('[*]') > _MOST_STARS or \
                re.search(r'\[\^|\[\[:|[@!+*?]\(', found):
            return None
        return re.compile(fnmatch.translate(found))

    def _loop(self, one):
        """Pass over a Loop."""
        return self.spoil_all([one], 'it is set in a loop, or through a pipe, that cannot be followed')

    def _group(self, one):
        """Run a Group."""
        return self.run(one.body)

    def _apart(self, one):
        """Pass over what runs in a process of its own: it changes nothing here."""

    def _function(self, one):
        """Keep a function, for when it is called."""
        self.functions[one.name] = one.body
        return True

    def _simple(self, one):
        """Run a Simple."""
        command = syntax.plain_name(one.words[0]) if one.words else ''
        if one.redirected or one.assigns and one.words:
            return self.spoil_all([one], 'it is set by a command that may fail, or for one command')
        for name, more, word in one.assigns:
            self.assign(name, more, word, one.line)
        if not one.words:
            return None if any(_has_unknown(word) for _, _, word in one.assigns) else True
        if command in self.functions:
            return self.spoil_function(command, one.line, 'it is set by the function %s' % command)
        method = _BUILTINS.get(command)
        if method:
            return method(self, one)
        for word in one.words[1:]:
            self.value(word, one.line)  # ${X:=...} in it
        if self.lost and command and '/' not in command and command not in _NO_FUNCTIONS:
            self.variables = dict(_NO_APP)  # what could not be followed may have made it a function
        if command is None or '[' in command[1:] or command in syntax.UNBOUNDED or command in syntax.NAMING:
            self.spoil_all([one], '%s cannot be followed' % (command or 'a command whose name is not known'))
        return True if command in ('echo', ':', 'true') else False if command == 'false' else None

    def assign(self, name, more, word, line, exported=_AS_BEFORE):
        """Run NAME=VALUE; more: bool, it is NAME+=VALUE."""
        value, why, head = self.value(word, line)
        old = self.get(name) if more else None
        if old and old.value is None:
            value, why, head = None, (old.why, old.at), old.head
        elif old:
            value, head = None if value is None else old.value + value, old.value + head
        if _FOREIGN.match(name) or self.fixed:  # it may be read-only: what follows is then not run
            why = '%s may be read-only' % name
            self.lose(line, why)
            value = None
        self.put(name, value, line, why, exported, head)

    def export(self, one):
        """Run export."""
        for word in one.words[1:]:
            name, more, value = syntax.split_assignment(word)
            if name:
                self.assign(name, more, value, one.line, True)
                continue
            name = syntax.name_of(word)
            if name and all(part.quoted for part in word) and not _FOREIGN.match(name) and not self.fixed:
                value, why, _ = self.value(word, one.line)  # "NAME=VALUE"
                self.put(name, value and value.partition('=')[2], one.line, why, True)
                continue
            name = syntax.plain_name(word)
            if name is None or not re.match(r'[A-Za-z_]\w*$', name):
                # an option, or a name that is none: the runtime then passes over the whole script
                return self.lose(one.line, 'export of what is no plain name')
            if self.variables.get(name):
                self.variables[name] = self.variables[name]._replace(exported=True)
            elif self.get(name) is None:
                self.spoil(name, one.line, 'exported before it is set')
        # whether a command within it decides the status is not the same in all shells
        return None if any(_has_unknown(word) for word in one.words) else True

    def unset(self, one):
        """Run unset."""
        for field in self.fields(one.words[1:], one.line) or [None]:
            if not isinstance(field, str) or field.startswith('-') or self.fixed:
                self.lose(one.line, 'unset of a name that is not known')
            else:
                self.variables[field] = None
        return True

    def set(self, one):
        """Run set: of its options only a (allexport) changes what is set, e, u and the like may end all."""
        for field in self.fields(one.words[1:], one.line) or [None]:
            if not isinstance(field, str) or not re.match(r'[-+][a-zA-Z]+$', field):
                self.leave(one.line, 'set gives other arguments, so that another program is started')
            if 'a' in field:
                self.allexport = field[0] == '-'
            if 'o' in field or field[0] == '-' and set(field) & set('enu'):
                self.may_end(one.line, 'set %s ends the start where a command fails or a variable is not set' % field)
        return True

    def source(self, one):
        """Run . FILE."""
        path = (self.fields(one.words[1:2], one.line) or [None])[0]
        if not isinstance(path, str) or not path.startswith('/'):
            return self.lose(one.line, 'it reads a script whose path is not known')
        if self.is_file(path) is False:
            return False  # a message; the runtime goes on
        text = self.text(path) if self.is_file(path) else None
        if text is None:
            return self.lose(one.line, 'it reads %s, which cannot be read here' % path)
        return self.script(path, text, one.line)

    def text(self, path):
        """Return the text of the file path (str) in the container, None if it may not be read."""
        return self.bound[path] if path in self.bound else self.files.script(path)

    def script(self, path, text, line=1):
        """Run the text (str) of the script path (str)."""
        if self.depth >= _DEEPEST:
            return self.lose(line, 'scripts that read each other')
        if len(text) > _MOST_TEXT:
            return self.lose(line, '%s has more than %d characters, and is not followed' % (path, _MOST_TEXT))
        self.tick(100 + len(text))
        kept, self.file, self.doubt = (self.file, self.doubt), path, None
        self.depth += 1
        try:
            return self.run(syntax.parse(text))
        except syntax.SyntaxProblem as err:
            self.lose(err.line, 'the script cannot be followed from there: %s' % err)
        except _Return:
            return None
        finally:
            self.depth -= 1
            self.file, self.doubt = kept

    def leaves(self, one):
        """Run return, exit, exec or shift, which takes away the program that is to be started."""
        command = syntax.plain_name(one.words[0])
        if command == 'return':
            raise _Return()
        if command == 'exec' and len(one.words) == 1:
            return True
        self.leave(one.line, command)

    def jumps(self, one):
        """Run break or continue outside of a loop."""
        self.lose(one.line, syntax.plain_name(one.words[0]))

    # Tests

    def tests(self, one):
        """Run test or [."""
        fields = self.fields(one.words[1:], one.line)
        if fields is not None and syntax.plain_name(one.words[0]) == '[':
            fields = fields[:-1] if fields[-1:] == [']'] else None
        return None if fields is None else self.test(fields)

    def test(self, fields):
        """Return whether a test holds. fields: as fields() gives them."""
        if len(fields) > 1 and fields[0] == '!':
            status = self.test(fields[1:])
            return None if status is None else not status
        if len(fields) == 0:
            return False
        if _SOMETHING in fields:
            sure = {('-n',): True, ('-z',): False, (): True}
            return sure.get(tuple(fields[:-1])) if fields[-1] is _SOMETHING else None
        if None in fields:
            return None
        if len(fields) == 1:
            return None if fields[0] in ('!', '(') else fields[0] != ''
        if len(fields) == 2:
            return self.test_one(*fields)
        if len(fields) == 3 and fields[1] in ('=', '==', '!=') and not set(fields[::2]) & {'!', '(', ')'}:
            return (fields[0] == fields[2]) == (fields[1] != '!=')
        return None

    def test_one(self, operator, operand):
        """Return whether a test with one operand holds."""
        if operator in ('-z', '-n'):
            return (operand == '') == (operator == '-z')
        if operator not in ('-d', '-e', '-f', '-r', '-s', '-x'):
            return None
        there = self.kind(operand) if operand else ''
        if not there:  # nothing is there, or it is not known
            return None if there is None else False
        if operator in ('-d', '-e', '-f'):
            return {'-d': there == 'd', '-e': True, '-f': there == '-'}[operator]
        if operator == '-s' or there == 'd':
            return None
        bits = set(self.files.mode(operand)[{'-x': 2, '-r': 0}[operator]::3])
        return None if len(bits) > 1 else bits != {'-'}

    def kind(self, path):
        """Return the type letter (str) of what path leads to in a container, '' for nothing, None where unknown."""
        if path in self.bound:
            return '-'
        if not path.startswith('/') or _MOUNTED.match(re.sub('/+', '/', path)) or '/..' in path:
            return None
        found = self.files.kind(path)
        if found is None:  # a bind may bring it; below a folder of the image's own none is expected
            return '' if self.files.kind('/' + path.strip('/').split('/')[0]) else None
        return found

    def is_file(self, path):
        """Return whether path (str) is a plain file in a container, None where it is not known."""
        found = self.kind(path)
        return None if found is None else found == '-'


#: Commands that are followed
_BUILTINS = {'export': _Shell.export, 'unset': _Shell.unset, 'set': _Shell.set, '.': _Shell.source,
             'source': _Shell.source, '[': _Shell.tests, 'test': _Shell.tests, 'return': _Shell.leaves,
             'exit': _Shell.leaves, 'exec': _Shell.leaves, 'shift': _Shell.leaves,
             'break': _Shell.jumps, 'continue': _Shell.jumps}


def _has_unknown(word):
    """Return whether something in a word is a command, or cannot be followed."""
    return any(part.kind == 'unknown' or _has_unknown(part.word or []) for part in word)


def evaluate(files, bound=()):
    """
    Return the Environment that the runtime makes of an image.

    :param files, bound: as for _Shell: what the image holds, and what is bound into it
    """
    shell, problems = _Shell(files, bound), []
    try:
        _run_all(shell, problems)
        if shell.get('PATH') is None:  # the runtime itself was started with it
            shell.put('PATH', ':'.join(USUAL_PATH), 0, None, True)
    except _Exit:
        pass
    # of the runtime's own variables nothing is said
    variables = {name: one for name, one in shell.variables.items() if one and not name.startswith('SING_')}
    return Environment(variables, shell.lost, shell.ends, problems)


def _run_all(shell, problems):
    """Run what the runtime runs, in its order."""
    def usual_path():
        """The runtime sets PATH where nobody has."""
        shell.file = 'the runtime'
        if not shell.get('PATH'):
            shell.put('PATH', ':'.join(USUAL_PATH), 0, None, True)

    def fix_path():
        """The usual folders come behind those of PATH."""
        path = shell.get('PATH')
        if path is None or path.value is not None:
            own = path.value.split(':') if path and path.value else []
            shell.put('PATH', ':'.join(own + [folder for folder in USUAL_PATH if folder not in own]), 0, None, True)

    def run(path):
        """Run a script of the image."""
        text = shell.text(path)
        if text is None:
            problems.append((path, 'cannot be read'))
            shell.lose(1, '%s cannot be read here' % path)
            return
        try:
            shell.script(path, text)
        except (_TooMuch, RecursionError) as err:
            shell.lose(1, str(err) if isinstance(err, _TooMuch) else 'it is too deeply nested to be followed')

    if shell.files.kind(FOLDER) == 'd' or any(path.startswith(FOLDER + '/') for path in shell.bound):
        bound = [path[len(FOLDER) + 1:] for path in shell.bound if path.startswith(FOLDER + '/')]
        for name in sorted(set(shell.files.names(FOLDER)) | set(bound)):
            path = '%s/%s' % (FOLDER, name)
            if not name.endswith('.sh') or name.startswith('.') or name == '99-runtimevars.sh':
                continue
            shell.file = path
            if path not in shell.bound and shell.files.kind(path) != '-':
                if shell.files.kind(path) is None:
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
        if shell.files.kind('/environment') == '-':
            run('/environment')
            shell.file = 'the runtime'
            fix_path()
        usual_path()


def seen_environment(values, evaluated):
    """
    Return the Environment of an image whose scripts the runtime has run.

    :param values: {name: value}, what they left exported; evaluated: Environment, as evaluate() has it: where a value
                   is set, and what is set without export
    """
    known_before = evaluated.variables
    variables = dict((name, one) for name, one in known_before.items() if one.exported is False)
    for name, value in values.items():
        if not _FOREIGN.match(name):
            old = known_before.get(name)
            same = old and old.value == value and old.exported
            variables[name] = old if same else Variable(value, True, old and old.at or 'the scripts of the image', None,
                                                        '')
    return Environment(variables, None, None, evaluated.problems)


def in_process(environment, name, of_host=None):
    """
    Return the Variable name (str) of a program's process, None if it is not there.

    :param of_host: str or None, the value with which the runtime is called
    """
    if name not in environment.variables:
        if of_host is not None and environment.lost is None:
            return Variable(of_host, True, None, None, '')
        return environment.lost
    one = environment.variables[name]
    if one.exported is None:
        return one._replace(value=None, why=one.why or 'it may be exported or not')
    if one.value is None:
        return one if one.exported else None
    return one if one.exported and (one.value or of_host is None) else None


def known(environment, name):
    """Return the value (str) of the exported variable name, None where there is none or it is unknown."""
    one = environment.variables.get(name)
    return one.value if one and one.exported else None


def folders(one):
    """
    Return (folders, complete): the folders (list of str) of a list such as LD_LIBRARY_PATH, a Variable or None.

    complete: False where the value is unknown, and the folders are those with which it begins for certain.
    """
    if one is None:
        return [], True
    parts = one.head.split(':')[:-1] if one.value is None else one.value.split(':')
    return [part for part in parts if part.startswith('/')], one.value is not None
