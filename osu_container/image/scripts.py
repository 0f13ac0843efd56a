"""
Find the ELF program that a command line in a container finally starts.

A command line may start a script, env, a shell or a launcher such as taskset, which then starts the
ELF program. This module executes nothing: it evaluates plain wrapper scripts with
image/environment.py. Whatever else a script does makes the program unknown. The kernel starts a
script as described in execve(2), section "Interpreter scripts".
"""

import posixpath
import re
import shlex
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from osu_container.image.environment import (
    BUILTINS,
    DEFAULT_PATH,
    RUNTIME_LIBRARIES,
    STOPPING_COMMANDS,
    UNSUPPORTED_COMMANDS,
    Body,
    Command,
    Environment,
    ScriptExit,
    ShellEvaluator,
    UnsupportedSyntaxError,
    Variable,
    parse_folder_list,
    resolve_process_variable,
)
from osu_container.image.image import Image

#: Pattern for the file name of a Python interpreter
PYTHON_NAME = r'python\d*(\.\d+)?$'
#: Pattern for the first line of a script. Its groups are the path of the interpreter and the text
#: that the kernel passes as one argument. As for the kernel, a carriage return is part of the path
FIRST_LINE = re.compile(r'#!\s*([^ \t\n]+)[ \t]*([^\n]*)')


class LaunchedProgram(NamedTuple):
    """The ELF program that a command line finally starts."""

    program: Optional[str]  #: path of the ELF file, None if unknown
    #: words of the command line: program and arguments; an unknown argument is not a str
    words: List[Any]
    environment: Environment  #: environment of the program
    reason: Optional[str]  #: reason why the program is unknown, None if the program is known
    scripts: List[Tuple[str, str]]  #: (path, text) of each script that runs before the program


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
    path, argument = first.group(1), first.group(2).strip()
    if not image.exists(path):
        return None, path
    if posixpath.basename(path) != 'env' or not re.match(r'[\w.+-]+$', argument):
        return path, None
    paths = [folder + '/' + argument for folder in image.list_path_folders()]
    interpreter = next((path for path in paths if image.exists(path)), None)
    return interpreter, None if interpreter else argument


#: Shells whose scripts this module evaluates
_SHELL_NAME = re.compile(r'(ba|da|a)?sh$')
#: Pattern for a path that the shell does not split if a script does not quote the path
_PLAIN_WORD = re.compile(r'[\w./+@%=:,-]+$')
#: Maximum number of programs and scripts that start each other
_MAX_DEPTH = 6
#: Commands that a wrapper script may run before it starts the program
_SIDE_COMMANDS = frozenset(BUILTINS) - {'return'} | {'exit', 'echo', ':', 'true', 'false'}
#: Commands of the shell, which are not programs
_SHELL_COMMANDS = _SIDE_COMMANDS | STOPPING_COMMANDS | UNSUPPORTED_COMMANDS | {'cd', 'return'}


class _WrapperEvaluator(ShellEvaluator):
    """
    An evaluator of a plain wrapper script, which starts one program as its last command.

    The methods raise UnsupportedSyntaxError at any other command.
    """

    def __init__(
        self, image: Image, environment: Environment, path: str, words: List[Any], options: str
    ) -> None:
        """
        Create an evaluator.

        path: path of the script, for messages. words: values of $0, $1, ... options: letters of
        the shell's options, as in `set -eu`.
        """
        super().__init__(image)
        self.variables = {
            name: variable
            for name, variable in environment.variables.items()
            if variable.exported is not False
        }
        self.default, self.file = environment.default, path
        self.words, self.options = words, set(options)
        #: words of the program's command line, None before the script starts the program
        self.call: Optional[List[Any]] = None
        self.call_variables: Dict[str, Optional[Variable]] = {}
        if not self.default:  # If no script sets LD_LIBRARY_PATH, the runtime sets the variable.
            default = Variable(RUNTIME_LIBRARIES, True, None)
            self.variables.setdefault('LD_LIBRARY_PATH', default)

    def get(self, name: str) -> Optional[Variable]:
        """
        Return the variable `name`.

        If the image does not set the variable, the value is unknown, because the host may set the
        variable. The result does not depend on the host for the variables of the loader (LD_*).
        """
        if re.match('[0-9]+$', name):
            value = (self.words[int(name) :] or [''])[0]
            return Variable(value, False, self.file, 'the argument is unknown')
        if name in self.variables or name.startswith('LD_'):
            return self.variables.get(name, self.default)
        reason = f'the value of ${name} is unknown before the program runs'
        return Variable(None, True, None, reason)

    def is_exported(self, name: str) -> Optional[bool]:
        """Return None for a variable that the host may have exported."""
        is_set_here = name in self.variables or name.startswith('LD_')
        return super().is_exported(name) if is_set_here else None

    def expand_parameter(self, name: str, operator: str, *parts: Any) -> Any:
        """Expand a variable. With `set -u`, an unset variable ends the script."""
        variable = self.get(name)
        if 'u' in self.options and not operator and not (variable and variable.value):
            raise UnsupportedSyntaxError(
                parts[1], f'with `set -u` the script ends if ${name} is unset'
            )
        return super().expand_parameter(name, operator, *parts)

    def split_fields(self, words: List[str], line: int) -> Optional[List[Any]]:
        """Expand `words`; replace "$@" by the arguments of the script."""
        fields: List[Any] = []
        is_plain = all(_PLAIN_WORD.match(str(argument)) for argument in self.words[1:])
        for word in words:
            if word in ('"$@"', '"${@}"', '${1+"$@"}') or is_plain and word in ('$@', '$*'):
                fields += self.words[1:]
                continue
            expanded = super().split_fields([word], line)
            if expanded is None:
                return None
            fields += expanded
        return fields

    def run_chain(self, chain: List[Tuple[str, Any]]) -> Optional[bool]:
        """Evaluate a chain of statements. With `set -e`, a statement that fails ends the script."""
        status = super().run_chain(chain)
        if 'e' in self.options and status is not True and self.call is None:
            line = chain[-1][1].line
            raise UnsupportedSyntaxError(line, 'the command may fail, and `set -e` ends the script')
        return status

    def stop(self, line: int, words: List[str]) -> Optional[bool]:
        """Evaluate `exit`; the effect of the other commands on the program is unknown."""
        if words[0] == 'exit' and not self.doubt:
            raise ScriptExit()
        raise UnsupportedSyntaxError(line, f'{words[0]} cannot be evaluated')

    def run_condition(self, body: Body) -> Optional[bool]:
        """Evaluate the condition of `if`, which may fail in spite of `set -e`."""
        options, self.options = self.options, self.options - {'e'}
        status = super().run_condition(body)
        self.options = options
        return status

    def run_command(self, command: Command) -> Optional[bool]:
        """Evaluate a command, or record the program that the command starts."""
        name, line = (command.words or [''])[0], command.line
        is_last = self.call is None or name in ('echo', 'exit')
        if not is_last or command.redirected:
            reason = f'the redirection of `{name}` may fail'
            if not is_last and self.call:
                reason = f'the script runs `{self.call[0]}`, and then `{name}`'
            raise UnsupportedSyntaxError(line, reason)
        if not command.words or name in _SIDE_COMMANDS and not command.assignments:
            if name in ('.', 'source'):  # Some shells exit if the file does not exist.
                path = (self.split_fields(command.words[1:2], line) or [''])[0]
                if self.is_file(str(path)) is not True:
                    raise UnsupportedSyntaxError(line, f'cannot read the file {path}')
            return super().run_command(command)
        if name == 'cd' and not command.assignments:
            return None
        if self.doubt:
            raise UnsupportedSyntaxError(line, f'it is unknown whether `{name}` runs')
        if re.match(r'set( [-+][eux]+)+$', ' '.join(command.words)):
            for word in command.words[1:]:
                self.options -= set(word)
                self.options |= set(word if word[0] == '-' else '')
            return True
        words = command.words[name == 'exec' :]
        if not words or words[0] in _SHELL_COMMANDS or words[0].startswith('-'):
            raise UnsupportedSyntaxError(line, f"`{' '.join(command.words)}` cannot be evaluated")
        before = dict(self.variables)
        for variable, text in command.assignments:
            self.assign(variable, text, line, True)
        self.call = self.split_fields(words, line)
        self.call_variables, self.variables = self.variables, before
        if not self.call:
            raise UnsupportedSyntaxError(line, f'cannot tell which program {words[0]} is')
        if name == 'exec':
            raise ScriptExit()
        return None


def resolve_program(
    image: Image, words: List[Any], environment: Environment, depth: int = _MAX_DEPTH
) -> LaunchedProgram:
    """
    Return the LaunchedProgram that a command line finally starts.

    words: the words of the command line. The first word is a path, or a name that the shell finds
    on PATH. depth: maximum number of programs and scripts that start each other.
    """
    name, arguments = words[0], words[1:]

    def make_unknown(reason: str) -> LaunchedProgram:
        return LaunchedProgram(None, words, environment, reason, [])

    if not isinstance(name, str) or not depth:
        return make_unknown('the name of the started program is unknown before the run')
    path = find_program(image, environment, name)
    if not path:
        variable = find_unknown_path(environment, name)
        if variable:
            return make_unknown(
                f'the value of PATH in the image is unknown ({variable.location}: '
                f'{variable.reason})'
            )
        is_relative = '/' in name and not name.startswith('/')
        return make_unknown(
            f'{name} depends on the current folder'
            if is_relative
            else f'the image has no program {name}'
        )
    if path in image.read_elf_files([path]):
        return _resolve_elf_program(image, path, arguments, environment, depth)
    text = image.read_text(path) or ''
    interpreter, missing = find_interpreter(image, text)
    first = FIRST_LINE.match(text)
    option = first.group(2).strip(' \t') if first and first.group(1) == interpreter else ''
    kind = posixpath.basename(interpreter or '')
    if missing:
        launched = make_unknown(
            f'{path} is a script for the interpreter {missing}, which the image does not contain'
        )
    elif _SHELL_NAME.match(kind) and re.match(r'(-[eux]+)?$', option):
        launched = _resolve_shell_script(
            image, kind, path, text, [path] + arguments, environment, depth, option[1:]
        )
    elif re.match(PYTHON_NAME, kind):
        python_words = [interpreter] + [option] * bool(option) + [path] + arguments
        launched = resolve_program(image, python_words, environment, depth - 1)
    else:
        launched = make_unknown(
            f"{path} is neither an ELF program nor a plain script: its first line is "
            f"{text.splitlines()[0][:80] if first else 'not #!'}"
        )
    return launched._replace(scripts=[(path, text)] + launched.scripts)


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
    paths = [folder + '/' + name for folder in parse_folder_list(path)[0] + DEFAULT_PATH]
    return next((path for path in paths if image.exists(path)), None)


def _resolve_shell_script(
    image: Image,
    shell_name: str,
    path: str,
    text: str,
    words: List[Any],
    environment: Environment,
    depth: int,
    options: str = '',
) -> LaunchedProgram:
    """
    Return the LaunchedProgram that a shell script starts.

    path: path of the script or of the shell. words: values of $0, $1, ...
    """

    def make_unknown(reason: str) -> LaunchedProgram:
        return LaunchedProgram(None, words, environment, reason, [])

    startup = resolve_process_variable(environment, 'BASH_ENV')
    if shell_name == 'bash' and startup and startup.value != '':
        return make_unknown(f'bash reads the file in BASH_ENV ({startup.location}) before {path}')
    shell = _WrapperEvaluator(image, environment, path, words, options)
    try:
        shell.run_script(path, text)
    except ScriptExit:
        pass
    except (UnsupportedSyntaxError, RecursionError) as err:
        return make_unknown(f"{getattr(err, 'location', None) or path}: {err}")
    if not shell.call:
        return make_unknown(f'{path} starts no program')
    inherited = {
        name: variable or Variable('', True, path)
        for name, variable in shell.call_variables.items()
    }
    return resolve_program(image, shell.call, environment._replace(variables=inherited), depth - 1)


#: Program that starts a command -> pattern for the words between the program and the command.
#: Sources: coreutils, taskset(1), numactl(8)
_LAUNCHERS = {
    'env': r'(-u [A-Za-z_]\w* |[A-Za-z_]\w*=\S* )*',
    'nice': r'(-n -?\d+ |--adjustment=\S+ |--?\d+ )?',
    'timeout': r'((-k|-s) \S+ |--?\S+ )*[\d.]+[smhd]? ',
    'taskset': r'(-c |--cpu-list )?[\w,:-]+ ',
    'numactl': r'(-[NmCip] \S+ |--(cpunodebind|membind|physcpubind|interleave|preferred)[ =]\S+ |'
    r'-l |--localalloc )*',
}


def _resolve_elf_program(
    image: Image, path: str, arguments: List[Any], environment: Environment, depth: int
) -> LaunchedProgram:
    """
    Return the LaunchedProgram of a command line whose first word is the ELF program `path`.

    The result is the program `path`, or another program if `path` is a shell, env or a launcher.
    """
    kind, rest = posixpath.basename(path), list(arguments)
    unknown = LaunchedProgram(
        None, [path] + arguments, environment, f'cannot tell which program {path} starts', []
    )
    if not rest or not _SHELL_NAME.match(kind) and kind not in _LAUNCHERS:
        loads = re.match(r'ld-(linux|musl)|ld64', kind)
        return unknown if loads and rest else unknown._replace(program=path, reason=None)
    texts = [word if isinstance(word, str) else '-?' for word in rest]
    if kind not in _LAUNCHERS:
        if texts[0] == '-c' and len(rest) > 1:
            words = rest[2:] or [path]
            return _resolve_shell_script(image, kind, path, texts[1], words, environment, depth)
        if texts[0].startswith('/') and image.exists(texts[0]):
            text = image.read_text(texts[0]) or ''
            return _resolve_shell_script(image, kind, texts[0], text, rest, environment, depth)
        return unknown
    match = re.match(_LAUNCHERS[kind], ''.join(re.sub(r'\s', '_', text) + ' ' for text in texts))
    count = match.group().count(' ') if match else 0
    if not match or not texts[count:] or texts[count].startswith('-'):
        return unknown
    variables = dict(environment.variables)
    for text in texts[:count] if kind == 'env' else ():
        name, _, value = text.partition('=')  # After -u, the value is empty: the variable is unset.
        variables[name] = Variable(value, True, path)
    environment = environment._replace(variables=variables)
    return resolve_program(image, rest[count:], environment, depth - 1)


def split_command(line: str) -> List[str]:
    """
    Split a command line into words in the same way as a shell.

    If the quotes in `line` are unbalanced, the result is [line].
    """
    try:
        return shlex.split(line) or ['']
    except ValueError:
        return [line]
