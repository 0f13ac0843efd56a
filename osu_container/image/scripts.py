"""
What a command line of a container comes to: the program behind scripts, env and shells (execve(2),
Interpreter scripts). Nothing is run: a script is followed as environment.py follows those of the
runtime. Python 3.6.
"""

import posixpath
import re
import shlex
from collections import namedtuple

from osu_container.base.shell import quote as quoted
from osu_container.image import environment as shells
from osu_container.image.elf import MACHINE_NAMES

#: How a Python is called
PYTHON_NAME = r'python\d*(\.\d+)?$'
#: The line of a script by which the kernel finds its interpreter: (path, first argument)
FIRST_LINE = re.compile(r'#!\s*([^ \t\n]+)[ \t]*(\S*)')  # a \r is part of it

#: program: path (str) of the ELF file in which a command line ends, None where that cannot be told;
#: words: list, it and its arguments, None for one that is not known; environment: Environment that
#: it gets; why: str, why it cannot be told, None where it can; scripts: list of (path, text) of the
#: scripts on the way; alone: str, what on the way takes away all that srun tells a rank, or None
LaunchedProgram = namedtuple(
    'Started', 'program words environment reason scripts isolating_command'
)
LaunchedProgram.__new__.__defaults__ = (None,)


def find_interpreter(image, text):
    """
    Return (path or None, missing or None) of what the first line of the script text names: the
    interpreter in image, or what of it the image lacks. (None, None) if text (str or None) is no
    script.
    """
    first = FIRST_LINE.match(text or '')
    if not first:
        return None, None
    path, argument = first.groups()
    if not image.exists(path):
        return None, path
    if posixpath.basename(path) != 'env' or not argument or argument.startswith('-'):
        return path, None
    found = next(
        (
            folder + '/' + argument
            for folder in image.list_path_folders()
            if image.exists(folder + '/' + argument)
        ),
        None,
    )
    return found, None if found else argument


#: What a shell script calls the folder that it lies in: by $0 or BASH_SOURCE, with or without cd,
#: links followed or not
_SELF = r'"?\$(?:0|\{0\}|BASH_SOURCE|\{BASH_SOURCE(?:\[0\])?\})"?'
_REAL = r'(?:%s|"?\$\(\s*(?:readlink -f|realpath) %s\s*\)"?)' % (_SELF, _SELF)
_DIRNAME = r'\$\(\s*dirname (?:-- )?%s\s*\)' % _REAL
_OWN_FOLDER = re.compile(
    r'\$\(\s*cd (?:-- )?"?%s(?P<below>[/.\w-]*)"?( &>/dev/null| >/dev/null( 2>&1)?)?\s*(?:&&|;)\s*'
    r'pwd(?: -P)?\s*\)|%s|\$\{0%%/\*\}' % (_DIRNAME, _DIRNAME)
)
#: The processor: an image for another one does not run at all
_MACHINE = re.compile(r'\$\((?:uname -[mp]|arch)\)|`(?:uname -[mp]|arch)`')
_ARGUMENTS = re.compile(r'"\$[@*]"|"\$\{[@*]\}"|\$[@*]|\$\{[@*]\}|\$\{1\+"\$@"\}')
#: Other arguments, before which stand plain lines alone
_SET_ARGUMENTS = re.compile(
    r'((?:(?:#[^\n]*|(?:export )?\w+=[^\n;&|()`]*)?\n)*)set -- ([^\n;&|<>()`#]+)(\n.*)', re.S
)
#: Wrappers of wrappers
_DEEPEST = 6
#: Commands beside the program that is started: they start none
_SIDE_COMMANDS = frozenset(
    'cd echo : true false printf mkdir rm cp mv ln touch cat ls grep sed awk date hostname sleep wait '
    'umask ulimit mktemp head tail tr cut sort wc chmod basename dirname uname id pwd command type '
    'which'.split()
)
#: Names of a script's own arguments
_POSITIONAL_PARAMETERS = re.compile(r'[0-9]+$|#$')


class _WrapperEvaluator(shells._ShellEvaluator):
    """
    A script that starts a program, in the environment of a container. calls: list of (words or
    None, variables).
    """

    def __init__(self, image, environment, path, arguments):
        """path: str, of the script; arguments: list of str."""
        super(_WrapperEvaluator, self).__init__(image)
        self.variables = dict(
            item for item in environment.variables.items() if item[1].exported is not False
        )
        self.default, self.calls, self.file = environment.default, [], path
        if not self.default:  # the runtime sets it where nobody does
            usual = shells.Variable(shells.RUNTIME_LIBRARIES, True, None, None, '')
            self.variables.setdefault('LD_LIBRARY_PATH', usual)
        for number, value in enumerate([path] + arguments):
            self.variables[str(number)] = shells.Variable(value, False, path, None, '')

    def get(self, name):
        """See _Shell: the host's variables are there as well, but for those of the loader."""
        if name in self.variables or name.startswith('LD_'):
            return self.variables.get(name, self.default)
        return (
            shells.Variable('', False, self.file, None, '')
            if _POSITIONAL_PARAMETERS.match(name)
            else shells.Variable(None, True, None, '$%s is not known beforehand' % name, '')
        )

    def is_exported(self, name):
        """See _Shell: a variable of the host is exported."""
        known = name in self.variables or name.startswith('LD_')
        return super(_WrapperEvaluator, self).is_exported(name) if known else None

    def stop_evaluation(self, line, why):
        """End all: after exit nothing is started."""
        if why != 'exit':
            raise shells.UnsupportedSyntaxError(line, '%s cannot be followed' % why)
        raise shells._ScriptExit()

    def mark_changes_unknown(self, one, why):
        """See _Shell: a program that may be started or not cannot be told."""
        raise shells.UnsupportedSyntaxError(one.line, why)

    def run_simple(self, one):
        """Run a 'simple', or keep that it starts a program."""
        assigns, words, _ = one.parts
        command = shells.find_literal(words[0]) if words else ''
        if command == 'exec' and len(words) > 1:
            self.record_call(one, words[1:])
            raise shells._ScriptExit()
        if command == 'set' and re.match(
            r'( [-+][euxo]+)+( pipefail)?$',
            ''.join(' ' + (shells.find_literal(word) or '?') for word in words[1:]),
        ):
            return True
        if command in ('.', 'source'):  # what is not there ends some shells
            path = (self.split_fields(words[1:2], one.line) or [None])[0]
            if isinstance(path, str) and self.is_file(path) is False:
                raise shells.UnsupportedSyntaxError(
                    one.line, '%s, which it reads, is not there' % path
                )
        if command in _SIDE_COMMANDS and not assigns:
            for word in words[1:]:
                self.expand_value(word, one.line)
            return (
                True
                if command in ('echo', ':', 'true', 'printf')
                else False
                if command == 'false'
                else None
            )
        if (
            not words
            or command in shells._BUILTINS
            and not assigns
            or shells._NAMING_COMMAND.match(command or '')
        ):
            return super(_WrapperEvaluator, self).run_simple(one)
        self.record_call(one, words)
        return None

    def record_call(self, one, words):
        """
        Keep that words (list) of a 'simple' start a program, with the variables that stand
        before it.
        """
        before = dict(self.variables)
        for name, word in one.parts[0]:
            self.assign(name, word, one.line, True)
        self.calls.append((self.split_fields(words, one.line), dict(self.variables)))
        self.variables = before


def _substitute_arguments(image, path, text, arguments):
    """
    Return the text (str) of a script path (str) with its own folder and its arguments (list of
    str) put in.
    """

    def folder(found):
        own = image.resolve(path) or path if re.search('readlink|realpath', found.group()) else path
        return posixpath.normpath(posixpath.dirname(own) + (found.group('below') or ''))

    line = ' '.join(quoted(one) for one in arguments)

    def machine(found):
        elf = image.read_loader_config(None).machine
        return next((name for name, one in MACHINE_NAMES.items() if one == elf), found.group())

    text = _OWN_FOLDER.sub(folder, _MACHINE.sub(machine, text))
    anew = _SET_ARGUMENTS.match(text)
    if anew and not re.search(r'\$\{?[1-9#]', anew.group(3)):
        text, line, after = (
            anew.group(1),
            _ARGUMENTS.sub(lambda _: line, anew.group(2)),
            anew.group(3),
        )
        return text + _ARGUMENTS.sub(lambda _: line, after)
    return _ARGUMENTS.sub(lambda _: line, text)


def resolve_program(image, words, environment, depth=_DEEPEST):
    """
    Return the Started of a command line.

    :param image: as Image; words: list of str, a path or a name on PATH, and arguments;
        environment: Environment
    """
    name, arguments = words[0], words[1:]

    def unknown(why, scripts=()):
        return LaunchedProgram(None, words, environment, why, list(scripts))

    if not isinstance(name, str) or not depth:
        return unknown('the name of a program is not known before it runs')
    path = find_program(image, environment, name)
    if not path:
        one = find_unknown_path(environment, name)
        return unknown(
            'PATH of the image is not known (%s: %s)' % (one.location, one.reason)
            if one
            else '%s is not found in the image' % name
        )
    if path in image.read_elf_files([path]):
        return _resolve_elf_program(image, path, arguments, environment, depth)
    text = image.read_text(path) or ''
    interpreter, missing = find_interpreter(image, text)
    scripts = [(path, text)]
    if missing or not interpreter:
        return unknown(
            '%s is %s'
            % (
                path,
                'a script for %s, which is not in the image' % missing
                if missing
                else 'no program, and its first line names none',
            ),
            scripts,
        )
    found = _resolve_script(image, interpreter, path, text, arguments, environment, depth)
    return found._replace(scripts=scripts + found.scripts)


def find_unknown_path(environment, name):
    """
    Return PATH of an Environment (Variable) where a program name (str) is looked up in it and it
    is not known.
    """
    one = environment.variables.get('PATH', environment.default)
    return one if '/' not in name and one and one.value is None else None


def find_program(image, environment, name):
    """
    Return the path (str) of a program by its whole path, or its name on PATH in the container,
    None without.
    """
    if name.startswith('/'):
        return posixpath.normpath(name) if image.exists(name) else None
    if not name or '/' in name or find_unknown_path(environment, name):
        return None
    found = (
        shells.parse_folder_list(environment.variables.get('PATH', environment.default))[0]
        + shells.DEFAULT_PATH
    )
    return next(
        (folder + '/' + name for folder in found if image.exists(folder + '/' + name)), None
    )


def _resolve_script(image, interpreter, path, text, arguments, environment, depth):
    """Return the Started of the script path (str) with text, for an interpreter (path)."""
    if re.match(r'(ba|da|k|z)?sh$|busybox$', posixpath.basename(interpreter)):
        if 'BASH_SOURCE' in text and posixpath.basename(interpreter) != 'bash':
            return LaunchedProgram(
                None,
                [path],
                environment,
                '%s is for bash, and is read by %s' % (path, interpreter),
                [],
            )
        return _resolve_shell_script(image, path, text, arguments, environment, depth)
    if re.match(PYTHON_NAME, posixpath.basename(interpreter)):
        return resolve_program(image, [interpreter, path] + arguments, environment, depth - 1)
    return LaunchedProgram(
        None, [interpreter, path], environment, '%s is a script for %s' % (path, interpreter), []
    )


def _resolve_shell_script(image, path, text, arguments, environment, depth):
    """Return the Started of a shell script path (str) with text."""

    def unknown(why):
        return LaunchedProgram(None, [path], environment, why, [])

    if not all(isinstance(one, str) for one in arguments):
        return unknown('the arguments of %s are not known' % path)
    if not re.match(
        r'[\w./+@%=:,-]+$', path + (image.resolve(path) or '')
    ):  # it may become several words
        return unknown('the path %s has characters that mean something to a shell' % path)
    shell = _WrapperEvaluator(image, environment, path, arguments)
    try:
        shell.run_script(path, _substitute_arguments(image, path, text, arguments))
    except shells._ScriptExit:
        pass
    except shells.UnsupportedSyntaxError as err:
        return unknown('%s: %s' % (err.location, err))
    except RecursionError as err:
        return unknown('%s: %s' % (path, err))
    if len(shell.calls) != 1 or not shell.calls[0][0]:
        return unknown(
            '%s starts %s'
            % (
                path,
                'nothing that can be seen'
                if not shell.calls
                else 'more than one program, or one that depends on what runs',
            )
        )
    words, variables = shell.calls[0]
    taken = dict(
        (name, one or shells.Variable('', True, path, None, ''))
        for name, one in variables.items()
        if not _POSITIONAL_PARAMETERS.match(name) and (one or name not in shells._NO_APP)
    )
    return resolve_program(image, words, environment._replace(variables=taken), depth - 1)


#: Programs that start what they are given and change nothing for it -> options with an argument,
#: and how many words come before the command: coreutils, util-linux, numactl(8), time(1)
_PASSING_PROGRAMS = {
    'nice': ('-n', 0),
    'nohup': ('', 0),
    'time': ('-f -o', 0),
    'stdbuf': ('-i -o -e', 0),
    'timeout': ('-k -s', 1),
    'taskset': ('', 1),
    'numactl': ('-N -m -C -i -P -p', 0),
}
#: Variables by which srun tells a rank which one it is: PMI-1, PMI-2, PMIx, PALS
_RANK_VARIABLES = re.compile(r'PMI|PALS|SLURM|MPI')


def _resolve_loader_call(image, path, rest, environment):
    """
    Return the Started of the arguments rest (list) of ld.so path (str): --library-path is its
    LD_LIBRARY_PATH.
    """
    variables = dict(environment.variables)
    while len(rest) > 2 and rest[0] in ('--library-path', '--argv0') and isinstance(rest[1], str):
        if rest[0] == '--library-path':
            variables['LD_LIBRARY_PATH'] = shells.Variable(rest[1], True, path, None, '')
        rest = rest[2:]
    facts = (
        image.read_elf_files(rest[:1]).get(rest[0])
        if rest and str(rest[0]).startswith('/')
        else None
    )
    if facts is None or image.resolve(facts.interpreter or '/') != image.resolve(path):
        return LaunchedProgram(
            None, [path] + rest, environment, '%s starts a program itself' % path, []
        )
    return LaunchedProgram(rest[0], rest, environment._replace(variables=variables), None, [])


def _resolve_elf_program(image, path, arguments, environment, depth):
    """
    Return the Started of an ELF file path (str) in image: that file, or what env or a shell
    starts in turn.
    """
    kind, rest = posixpath.basename(path), list(arguments)

    def unknown(why):
        return LaunchedProgram(None, [path] + arguments, environment, why, [])

    if re.match(r'(ba|da|k|z)?sh$', kind) and rest:
        if rest[0] == '-c' and len(rest) > 1 and isinstance(rest[1], str):
            return _resolve_shell_script(image, path, rest[1], rest[3:], environment, depth)
        if isinstance(rest[0], str) and not rest[0].startswith('-') and image.exists(rest[0]):
            return _resolve_shell_script(
                image, rest[0], image.read_text(rest[0]) or '', rest[1:], environment, depth
            )
        return unknown('%s reads more than a script' % path)
    if re.match(r'ld-(linux|musl)|ld64', kind):
        return _resolve_loader_call(image, path, rest, environment)
    if kind != 'env' and kind not in _PASSING_PROGRAMS or not rest:
        return LaunchedProgram(path, [path] + arguments, environment, None, [])
    variables, alone, (with_value, operands) = (
        dict(environment.variables),
        None,
        _PASSING_PROGRAMS.get(kind, ('', 0)),
    )
    while (
        rest
        and isinstance(rest[0], str)
        and (rest[0].startswith('-') or kind == 'env' and '=' in rest[0])
    ):
        name, _, value = rest.pop(0).partition('=')
        if kind != 'env':
            if name in with_value.split() and rest:
                rest.pop(0)
        elif name in ('-u', '--unset') and (value or rest):
            variables[value or rest.pop(0)] = shells.Variable('', True, path, None, '')
        elif name in ('-i', '-', '--ignore-environment'):
            variables, alone = {}, '%s %s' % (path, name)
        elif name.startswith('-'):
            return unknown('%s %s does more than set variables' % (path, name))
        else:
            variables[name] = shells.Variable(value, True, path, None, '')
    if (
        len(rest) <= operands
        or alone
        and (
            not all(isinstance(one, str) for one in rest)
            or any(_RANK_VARIABLES.match(name) for name in variables)
        )
    ):
        return unknown('%s starts nothing that can be told' % path)
    environment = environment._replace(
        variables=variables, default=alone and shells.UNSET or environment.default
    )
    found = resolve_program(image, rest[operands:], environment, depth - 1)
    return found._replace(isolating_command=found.isolating_command or alone)


def split_command(line):
    """Return the words (list of str) of a command line (str), [line] where it cannot be split."""
    try:
        return shlex.split(line) or ['']
    except ValueError:
        return [line]
