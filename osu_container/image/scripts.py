"""
Find the ELF program that a command line in a container finally starts.

A command line may start a script, env, a shell or another program, which then starts the ELF
program. This module executes nothing: it evaluates scripts with image/environment.py. The kernel
starts a script as described in execve(2), section "Interpreter scripts".
"""

import posixpath
import re
import shlex
from typing import Any, Dict, Iterable, List, Match, NamedTuple, NoReturn, Optional, Tuple

from osu_container.base.shell import quote as quoted
from osu_container.image import environment as shells
from osu_container.image.elf import MACHINE_NAMES
from osu_container.image.environment import Environment, Node, Part, Variable
from osu_container.image.image import Image

#: Pattern for the file name of a Python interpreter
PYTHON_NAME = r'python\d*(\.\d+)?$'
#: Pattern for the first line of a script. Its groups are the path of the interpreter and the first
#: argument. As for the kernel, a carriage return is part of the path
FIRST_LINE = re.compile(r'#!\s*([^ \t\n]+)[ \t]*(\S*)')


class LaunchedProgram(NamedTuple):
    """The ELF program that a command line finally starts."""

    program: Optional[str]  #: path of the ELF file, None if unknown
    #: words of the command line: program and arguments; an unknown argument is not a str
    words: List[Any]
    environment: Environment  #: environment of the program
    reason: Optional[str]  #: reason why the program is unknown, None if the program is known
    scripts: List[Tuple[str, str]]  #: (path, text) of each script that runs before the program
    #: command such as `env -i` that removes the variables with the rank of the process, or None
    isolating_command: Optional[str] = None


def find_interpreter(image: Image, text: Optional[str]) -> Tuple[Optional[str], Optional[str]]:
    """
    Find the interpreter of a script, and return (path of the interpreter, missing name).

    text: text of the script, whose first line names the interpreter. If the image contains the
    interpreter, the missing name is None. Otherwise the path is None. If `text` is not a script,
    the result is (None, None).
    """
    first = FIRST_LINE.match(text or '')
    if not first:
        return None, None
    path, argument = first.groups()
    if not image.exists(path):
        return None, path
    if posixpath.basename(path) != 'env' or not argument or argument.startswith('-'):
        return path, None
    paths = [folder + '/' + argument for folder in image.list_path_folders()]
    interpreter = next((path for path in paths if image.exists(path)), None)
    return interpreter, None if interpreter else argument


#: Patterns for the expressions by which a shell script computes its own folder. Such an expression
#: uses $0 or BASH_SOURCE, and may use `cd` or resolve links
_SELF = r'"?\$(?:0|\{0\}|BASH_SOURCE|\{BASH_SOURCE(?:\[0\])?\})"?'
_REAL = r'(?:%s|"?\$\(\s*(?:readlink -f|realpath) %s\s*\)"?)' % (_SELF, _SELF)
_DIRNAME = r'\$\(\s*dirname (?:-- )?%s\s*\)' % _REAL
_OWN_FOLDER = re.compile(
    r'\$\(\s*cd (?:-- )?"?%s(?P<below>[/.\w-]*)"?( &>/dev/null| >/dev/null( 2>&1)?)?\s*(?:&&|;)\s*'
    r'pwd(?: -P)?\s*\)|%s|\$\{0%%/\*\}' % (_DIRNAME, _DIRNAME)
)
#: Pattern for commands that print the name of the processor. The result is the processor of the
#: image, because an image for another processor does not run at all
_MACHINE = re.compile(r'\$\((?:uname -[mp]|arch)\)|`(?:uname -[mp]|arch)`')
#: Pattern for the expressions that expand to all arguments of a script
_ARGUMENTS = re.compile(r'"\$[@*]"|"\$\{[@*]\}"|\$[@*]|\$\{[@*]\}|\$\{1\+"\$@"\}')
#: Pattern for a script with `set --`, which replaces the arguments, after assignments and comments
_SET_ARGUMENTS = re.compile(
    r'((?:(?:#[^\n]*|(?:export )?\w+=[^\n;&|()`]*)?\n)*)set -- ([^\n;&|<>()`#]+)(\n.*)', re.S
)
#: Maximum number of nested wrapper scripts that start each other
_MAX_DEPTH = 6
#: Commands that this module ignores when it searches for the program that a script starts
_SIDE_COMMANDS = frozenset(
    'cd echo : true false printf mkdir rm cp mv ln touch cat ls grep sed awk date hostname sleep '
    'wait umask ulimit mktemp head tail tr cut sort wc chmod basename dirname uname id pwd command '
    'type which'.split()
)
#: Pattern for the names of the variables $1, $2, ... and $#
_POSITIONAL_PARAMETERS = re.compile(r'[0-9]+$|#$')


class _WrapperEvaluator(shells._ShellEvaluator):
    """An evaluator of a wrapper script, which starts a program in a container."""

    def __init__(
        self, image: Image, environment: Environment, path: str, arguments: List[str]
    ) -> None:
        super().__init__(image)
        self.variables = {
            name: variable
            for name, variable in environment.variables.items()
            if variable.exported is not False
        }
        self.default, self.file = environment.default, path
        #: (words of the command line, variables) of each program that the script starts. The words
        #: are None if unknown
        self.calls: List[Tuple[Optional[List[Any]], Dict[str, Optional[Variable]]]] = []
        if not self.default:  # If no script sets LD_LIBRARY_PATH, the runtime sets the variable.
            default = Variable(shells.RUNTIME_LIBRARIES, True, None)
            self.variables.setdefault('LD_LIBRARY_PATH', default)
        for number, value in enumerate([path] + arguments):
            self.variables[str(number)] = Variable(value, False, path)

    def get(self, name: str) -> Optional[Variable]:
        """
        Return the variable `name`.

        If the image does not set the variable, the value is unknown, because the host may set the
        variable. The result does not depend on the host for the variables of the loader (LD_*).
        """
        if name in self.variables or name.startswith('LD_'):
            return self.variables.get(name, self.default)
        return (
            Variable('', False, self.file)
            if _POSITIONAL_PARAMETERS.match(name)
            else Variable(
                None, True, None, f'the value of ${name} is unknown before the program runs'
            )
        )

    def is_exported(self, name: str) -> Optional[bool]:
        """
        Return whether the variable `name` is exported after an assignment.

        The result is None if the export is unknown, because the host may have set the variable.
        """
        is_set_here = name in self.variables or name.startswith('LD_')
        return super().is_exported(name) if is_set_here else None

    def stop_evaluation(self, line: int, command: str) -> NoReturn:
        """
        Stop the evaluation of the script at the statement `command`.

        If `command` is not `exit`, the effect of the statement is unknown, and the method raises
        UnsupportedSyntaxError.
        """
        if command != 'exit':
            raise shells.UnsupportedSyntaxError(line, f'{command} cannot be evaluated')
        raise shells._ScriptExit()

    def mark_changes_unknown(self, node: Node, reason: str) -> None:
        """Stop the evaluation, because it is unknown whether the statement starts a program."""
        raise shells.UnsupportedSyntaxError(node.line, reason)

    def run_simple(self, node: Node) -> Optional[bool]:
        """Evaluate a command, or record the program that the command starts."""
        assignments, words, _ = node.parts
        command = shells.find_literal(words[0]) if words else ''
        if command == 'exec' and len(words) > 1:
            self.record_call(node, words[1:])
            raise shells._ScriptExit()
        if command == 'set' and re.match(
            r'( [-+][euxo]+)+( pipefail)?$',
            ''.join(' ' + (shells.find_literal(word) or '?') for word in words[1:]),
        ):
            return True
        # If the file of `.` does not exist, some shells exit and other shells continue.
        if command in ('.', 'source'):
            path = (self.split_fields(words[1:2], node.line) or [None])[0]
            if isinstance(path, str) and self.is_file(path) is False:
                raise shells.UnsupportedSyntaxError(
                    node.line, f'the script sources {path}, which does not exist'
                )
        if command in _SIDE_COMMANDS and not assignments:
            for word in words[1:]:
                self.expand_value(word, node.line)
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
            and not assignments
            or shells._NAMING_COMMAND.match(command or '')
        ):
            return super().run_simple(node)
        self.record_call(node, words)
        return None

    def record_call(self, node: Node, words: List[List[Part]]) -> None:
        """
        Record that the statement `node` starts a program with the command line `words`.

        The assignments at the beginning of the statement apply to this program only.
        """
        before = dict(self.variables)
        for name, word in node.parts[0]:
            self.assign(name, word, node.line, True)
        self.calls.append((self.split_fields(words, node.line), dict(self.variables)))
        self.variables = before


def _substitute_arguments(image: Image, path: str, text: str, arguments: List[str]) -> str:
    """
    Return the text of a script in which values replace some expressions.

    The replaced expressions compute the folder of the script, the name of the processor, and all
    arguments of the script.
    """

    def substitute_folder(match: Match[str]) -> str:
        is_real = re.search('readlink|realpath', match.group())
        script = image.resolve(path) or path if is_real else path
        return posixpath.normpath(posixpath.dirname(script) + (match.group('below') or ''))

    def substitute_machine(match: Match[str]) -> str:
        machine = image.read_loader_config(None).machine
        return next((name for name, elf in MACHINE_NAMES.items() if elf == machine), match.group())

    line = ' '.join(quoted(argument) for argument in arguments)
    text = _OWN_FOLDER.sub(substitute_folder, _MACHINE.sub(substitute_machine, text))
    match = _SET_ARGUMENTS.match(text)
    if match and not re.search(r'\$\{?[1-9#]', match.group(3)):
        before, words, after = match.groups()
        words = _ARGUMENTS.sub(lambda _: line, words)
        return before + _ARGUMENTS.sub(lambda _: words, after)
    return _ARGUMENTS.sub(lambda _: line, text)


def resolve_program(
    image: Image, words: List[Any], environment: Environment, depth: int = _MAX_DEPTH
) -> LaunchedProgram:
    """
    Return the LaunchedProgram that a command line finally starts.

    words: the words of the command line. The first word is a path, or a name that the shell finds
    on PATH. depth: maximum number of scripts that start each other.
    """
    name, arguments = words[0], words[1:]

    def make_unknown(reason: str, scripts: Iterable[Tuple[str, str]] = ()) -> LaunchedProgram:
        return LaunchedProgram(None, words, environment, reason, list(scripts))

    if not isinstance(name, str) or not depth:
        return make_unknown('the name of the started program is unknown before the run')
    path = find_program(image, environment, name)
    if not path:
        variable = find_unknown_path(environment, name)
        return make_unknown(
            f'the value of PATH in the image is unknown ({variable.location}: {variable.reason})'
            if variable
            else f'the image has no program {name}'
        )
    if path in image.read_elf_files([path]):
        return _resolve_elf_program(image, path, arguments, environment, depth)
    text = image.read_text(path) or ''
    interpreter, missing = find_interpreter(image, text)
    scripts = [(path, text)]
    if missing or not interpreter:
        return make_unknown(
            f'{path} is a script for the interpreter {missing}, which the image does not contain'
            if missing
            else f'{path} is neither an ELF program nor a script with an interpreter '
            'in the first line',
            scripts,
        )
    launched = _resolve_script(image, interpreter, path, text, arguments, environment, depth)
    return launched._replace(scripts=scripts + launched.scripts)


def find_unknown_path(environment: Environment, name: str) -> Optional[Variable]:
    """
    Return the variable PATH if the program `name` depends on an unknown value of PATH.

    The result is None if `name` is a path, or if the value of PATH is known.
    """
    variable = environment.variables.get('PATH', environment.default)
    return variable if '/' not in name and variable and variable.value is None else None


def find_program(image: Image, environment: Environment, name: str) -> Optional[str]:
    """
    Return the absolute path of the program `name` in the image, None if not found.

    name: an absolute path, or a name that the function looks for in the folders of PATH.
    """
    if name.startswith('/'):
        return posixpath.normpath(name) if image.exists(name) else None
    if not name or '/' in name or find_unknown_path(environment, name):
        return None
    path = environment.variables.get('PATH', environment.default)
    folders = shells.parse_folder_list(path)[0] + shells.DEFAULT_PATH
    paths = [folder + '/' + name for folder in folders]
    return next((path for path in paths if image.exists(path)), None)


def _resolve_script(
    image: Image,
    interpreter: str,
    path: str,
    text: str,
    arguments: List[Any],
    environment: Environment,
    depth: int,
) -> LaunchedProgram:
    """Return the LaunchedProgram that a script starts; see resolve_program()."""

    def make_unknown(words: List[str], reason: str) -> LaunchedProgram:
        return LaunchedProgram(None, words, environment, reason, [])

    if re.match(r'(ba|da|k|z)?sh$|busybox$', posixpath.basename(interpreter)):
        if 'BASH_SOURCE' in text and posixpath.basename(interpreter) != 'bash':
            return make_unknown([path], f'{interpreter} runs the bash script {path}')
        return _resolve_shell_script(image, path, text, arguments, environment, depth)
    if re.match(PYTHON_NAME, posixpath.basename(interpreter)):
        return resolve_program(image, [interpreter, path] + arguments, environment, depth - 1)
    return make_unknown([interpreter, path], f'cannot evaluate {path}, a script for {interpreter}')


def _resolve_shell_script(
    image: Image,
    path: str,
    text: str,
    arguments: List[Any],
    environment: Environment,
    depth: int,
) -> LaunchedProgram:
    """Return the LaunchedProgram that a shell script starts; see resolve_program()."""

    def make_unknown(reason: str) -> LaunchedProgram:
        return LaunchedProgram(None, [path], environment, reason, [])

    if not all(isinstance(argument, str) for argument in arguments):
        return make_unknown(f'the arguments of {path} are unknown')
    # A shell may split a path with other characters into several words, if the script does not
    # quote the path.
    if not re.match(r'[\w./+@%=:,-]+$', path + (image.resolve(path) or '')):
        return make_unknown(
            f'the path {path} contains characters that have a special meaning in a shell'
        )
    shell = _WrapperEvaluator(image, environment, path, arguments)
    try:
        shell.run_script(path, _substitute_arguments(image, path, text, arguments))
    except shells._ScriptExit:
        pass
    except shells.UnsupportedSyntaxError as err:
        return make_unknown(f'{err.location}: {err}')
    except RecursionError as err:
        return make_unknown(f'{path}: {err}')
    words, calls = None, shell.calls
    if len(calls) == 1:
        words, variables = calls[0]
    if not words:
        return make_unknown(
            f'{path} starts several programs, or starts a program that is unknown before the run'
            if calls
            else f'cannot find the program that {path} starts'
        )
    inherited = {
        name: variable or Variable('', True, path)
        for name, variable in variables.items()
        if not _POSITIONAL_PARAMETERS.match(name) and (variable or name not in shells._NO_APP)
    }
    return resolve_program(image, words, environment._replace(variables=inherited), depth - 1)


#: Program that starts a command without changing its environment -> (options of the program that
#: have an argument, number of words between the options and the command). Sources: coreutils,
#: util-linux, numactl(8), time(1)
_PASSING_PROGRAMS = {
    'nice': ('-n', 0),
    'nohup': ('', 0),
    'time': ('-f -o', 0),
    'stdbuf': ('-i -o -e', 0),
    'timeout': ('-k -s', 1),
    'taskset': ('', 1),
    'numactl': ('-N -m -C -i -P -p', 0),
}
#: Pattern for the variables by which srun passes the rank to a process (PMI-1, PMI-2, PMIx, PALS)
_RANK_VARIABLES = re.compile(r'PMI|PALS|SLURM|MPI')


def _resolve_loader_call(
    image: Image, path: str, arguments: List[Any], environment: Environment
) -> LaunchedProgram:
    """
    Return the LaunchedProgram of a command line such as `ld.so PROGRAM`.

    path: path of the loader. If the command line has the option --library-path of the loader, the
    value of the option replaces LD_LIBRARY_PATH.
    """
    variables, rest = dict(environment.variables), arguments
    while len(rest) > 2 and rest[0] in ('--library-path', '--argv0') and isinstance(rest[1], str):
        if rest[0] == '--library-path':
            variables['LD_LIBRARY_PATH'] = Variable(rest[1], True, path)
        rest = rest[2:]
    facts = (
        image.read_elf_files(rest[:1]).get(rest[0])
        if rest and str(rest[0]).startswith('/')
        else None
    )
    if facts is None or image.resolve(facts.interpreter or '/') != image.resolve(path):
        return LaunchedProgram(
            None, [path] + rest, environment, f'{path} starts an unknown program', []
        )
    return LaunchedProgram(rest[0], rest, environment._replace(variables=variables), None, [])


def _resolve_elf_program(
    image: Image, path: str, arguments: List[Any], environment: Environment, depth: int
) -> LaunchedProgram:
    """
    Return the LaunchedProgram of a command line whose first word is the ELF program `path`.

    The result is the program `path`, or another program if `path` is a shell, a loader, env or a
    similar program that starts other programs.
    """
    kind, rest = posixpath.basename(path), list(arguments)

    def make_unknown(reason: str) -> LaunchedProgram:
        return LaunchedProgram(None, [path] + arguments, environment, reason, [])

    if re.match(r'(ba|da|k|z)?sh$', kind) and rest:
        if rest[0] == '-c' and len(rest) > 1 and isinstance(rest[1], str):
            return _resolve_shell_script(image, path, rest[1], rest[3:], environment, depth)
        if isinstance(rest[0], str) and not rest[0].startswith('-') and image.exists(rest[0]):
            return _resolve_shell_script(
                image, rest[0], image.read_text(rest[0]) or '', rest[1:], environment, depth
            )
        return make_unknown(f'the arguments of {path} do not name a script in the image')
    if re.match(r'ld-(linux|musl)|ld64', kind):
        return _resolve_loader_call(image, path, rest, environment)
    if kind != 'env' and kind not in _PASSING_PROGRAMS or not rest:
        return LaunchedProgram(path, [path] + arguments, environment, None, [])
    variables, isolating_command = dict(environment.variables), None
    value_options, operands = _PASSING_PROGRAMS.get(kind, ('', 0))
    while (
        rest
        and isinstance(rest[0], str)
        and (rest[0].startswith('-') or kind == 'env' and '=' in rest[0])
    ):
        name, _, value = rest.pop(0).partition('=')
        if kind != 'env':
            if name in value_options.split() and rest:
                rest.pop(0)
        elif name in ('-u', '--unset') and (value or rest):
            variables[value or rest.pop(0)] = Variable('', True, path)
        elif name in ('-i', '-', '--ignore-environment'):
            variables, isolating_command = {}, f'{path} {name}'
        elif name.startswith('-'):
            return make_unknown(f'{path} {name} cannot be evaluated')
        else:
            variables[name] = Variable(value, True, path)
    if (
        len(rest) <= operands
        or isolating_command
        and (
            not all(isinstance(word, str) for word in rest)
            or any(_RANK_VARIABLES.match(name) for name in variables)
        )
    ):
        return make_unknown(f'{path} starts an unknown program')
    environment = environment._replace(
        variables=variables, default=shells.UNSET if isolating_command else environment.default
    )
    launched = resolve_program(image, rest[operands:], environment, depth - 1)
    return launched._replace(isolating_command=launched.isolating_command or isolating_command)


def split_command(line: str) -> List[str]:
    """
    Split a command line into words in the same way as a shell.

    If the quotes in `line` are unbalanced, the result is [line].
    """
    try:
        return shlex.split(line) or ['']
    except ValueError:
        return [line]
