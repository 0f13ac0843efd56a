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
from typing import Any, List, NamedTuple, Optional, Tuple

from osu_container.image.environment import (
    BUILTINS,
    DEFAULT_PATH,
    KNOWN_STATUS,
    RUNTIME_LIBRARIES,
    STOPPING_COMMANDS,
    UNSUPPORTED_COMMANDS,
    Environment,
    ShellEvaluator,
    UnsupportedSyntaxError,
    Variable,
    Word,
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


def find_interpreter(image: Image, text: Optional[str]) -> Tuple[Optional[str], Optional[str], str]:
    """
    Return (path of the interpreter, missing name, option) for a script.

    text: text of the script. The first line names the interpreter and its option, '' for no option.
    If the image contains the interpreter, the missing name is None. Otherwise the path is None. If
    `text` is not a script, the result is (None, None, '').
    """
    first = FIRST_LINE.match(text or '')
    if not first:
        return None, None, ''
    path, option = first.group(1), first.group(2).strip()
    if not image.exists(path):
        return None, path, option
    if posixpath.basename(path) != 'env' or not re.match(r'[\w.+-]+$', option):
        return path, None, option
    paths = [folder + '/' + option for folder in image.list_path_folders()]
    interpreter = next((path for path in paths if image.exists(path)), None)
    return interpreter, None if interpreter else option, ''


#: Shells whose scripts this module evaluates
_SHELL_NAME = re.compile(r'(ba|da|a)?sh$')
#: Pattern for a path that the shell does not split if a script does not quote the path
_PLAIN_WORD = re.compile(r'[\w./+@%=:,-]+$')
#: Maximum number of programs and scripts that start each other
_MAX_DEPTH = 6
#: Commands of the shell, which are not programs
_SHELL_COMMANDS = (
    STOPPING_COMMANDS | UNSUPPORTED_COMMANDS | set(BUILTINS) | set(KNOWN_STATUS) | {'cd'}
)


#: Redirection to a file at the end of a script
_LAST_REDIRECTION = re.compile(r'>>?[ \t]*(/[\w./-]+)\s*\Z')


class _WrapperEvaluator(ShellEvaluator):
    """
    An evaluator of a plain wrapper script, which starts one program as its last command.

    The methods raise UnsupportedSyntaxError at any other command.
    """

    def __init__(self, image: Image, environment: Environment, path: str, words: List[Any]) -> None:
        """
        Create an evaluator.

        path: path of the script, for messages. words: values of $0, $1, ...
        """
        super().__init__(image)
        self.variables = {
            name: variable
            for name, variable in environment.variables.items()
            if variable.exported is not False
        }
        self.default, self.file = environment.default, path
        self.words = words
        #: words of the program's command line, None before the script starts the program
        self.call: Optional[List[Any]] = None
        if not self.default:  # If no script sets LD_LIBRARY_PATH, the runtime sets the variable.
            default = Variable(RUNTIME_LIBRARIES, True, None)
            self.variables.setdefault('LD_LIBRARY_PATH', default)

    def get(self, name: str) -> Optional[Variable]:
        """
        Return the variable `name`.

        If the image does not set the variable, the value is unknown, because the host may set the
        variable. The result does not depend on the host for the variables of the loader (LD_*).
        """
        if name.isdigit():
            value = (self.words[int(name) :] or [''])[0]
            return Variable(value, False, self.file, 'the argument is unknown')
        if name in self.variables or name.startswith('LD_'):
            return self.variables.get(name, self.default)
        reason = f'the value of ${name} is unknown before the program runs'
        return Variable(None, True, self.locate(), reason)

    def is_exported(self, name: str) -> Optional[bool]:
        """Return None for a variable that the host may have exported."""
        is_set_here = name in self.variables or name.startswith('LD_')
        return super().is_exported(name) if is_set_here else None

    def fail(self, reason: str = '') -> UnsupportedSyntaxError:
        """Record that a last command fails which writes into a folder of the read-only image."""
        file = _LAST_REDIRECTION.match(self.text, self.position)
        if file and self.is_running and not self.doubt and not reason:
            folder = self.files.resolve(posixpath.dirname(file.group(1)))
            if folder and self.find_file_type(folder) == 'd':
                why = f'the image is read-only, so the shell cannot write {file.group(1)}'
                self.exit_point = self.exit_point or (True, self.locate(), why)
        return super().fail(reason)

    def stop(self, words: List[str]) -> Optional[bool]:
        """Evaluate `exit` and `set`; other commands have an unknown effect on the program."""
        if words[0] == 'exit' and not self.doubt:
            self.end = 'exit'
        elif words == ['set', '-e'] and not self.doubt:
            self.stops_at_errors = True
        else:
            raise self.fail(f"`{' '.join(words)}` cannot be evaluated")
        return True

    def run_program(self, words: List[Word], names: List[str]) -> Optional[bool]:
        """Evaluate a command, or record the program that the command starts."""
        texts = [word.source for word in words]
        name = texts[0]
        if self.call and name not in ('echo', 'exit'):
            raise self.fail(f'the script runs `{self.call[0]}`, and then `{name}`')
        if name in KNOWN_STATUS and not names:
            return KNOWN_STATUS[name]
        if name == 'cd' and not names:
            return None
        if name in STOPPING_COMMANDS and name != 'exec' and not names:
            return self.stop(texts)
        if self.doubt:
            raise self.fail(f'it is unknown whether `{name}` runs')
        is_exec = name == 'exec'
        words, texts = words[is_exec:], texts[is_exec:]
        if not texts or texts[0] in _SHELL_COMMANDS or texts[0][0] == '-':
            raise self.fail(f'`{name}` cannot be evaluated')
        for word in words:
            if word.source in ('$@', '$*', '${1+"$@"}'):
                word.is_one_field = all(_PLAIN_WORD.match(str(text)) for text in self.words[1:])
        fields = self.split_fields(words)
        # The shell expands the words before the assignments of the same command.
        if not fields or names and any('$' in text for text in texts):
            raise self.fail(f'cannot tell which program {texts[0]} is')
        self.call = []
        for field in fields:
            is_all = re.match(r'("\$@"|"\$\{@\}"|\$[@*]|\$\{1\+"\$@"\})$', field.source)
            self.call += self.words[1:] if is_all else [field.value]
        self.call_variables = dict(self.variables)
        for variable in names:
            value = self.get(variable)
            self.call_variables[variable] = value and value._replace(exported=True)
        self.stops_at_errors, self.end = False, 'exec' if is_exec else ''
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
        reason = f'the image has no program {name}'
        variable = find_unknown_path(environment, name)
        if variable:
            reason = f'the value of PATH in the image is unknown ({variable.location}: '
            reason += f'{variable.reason})'
        elif '/' in name and name[0] != '/':
            reason = f'{name} depends on the current folder'
        return make_unknown(reason)
    if path in image.read_elf_files([path]):
        return _resolve_elf_program(image, path, arguments, environment, depth)
    text = image.read_text(path) or ''
    interpreter, missing, option = find_interpreter(image, text)
    kind = posixpath.basename(interpreter or '')
    if missing:
        launched = make_unknown(
            f'{path} is a script for the interpreter {missing}, which the image does not contain'
        )
    elif _SHELL_NAME.match(kind) and not option:
        launched = _resolve_shell_script(
            image, kind, path, text, [path] + arguments, environment, depth
        )
    elif re.match(PYTHON_NAME, kind):
        python_words = [interpreter] + [option] * bool(option) + [path] + arguments
        launched = resolve_program(image, python_words, environment, depth - 1)
    else:
        launched = make_unknown(
            f"{path} is neither an ELF program nor a plain script: its first line is "
            f"{text.splitlines()[0][:80] if interpreter else 'not #!'}"
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
) -> LaunchedProgram:
    """
    Return the LaunchedProgram that a shell script starts.

    path: path of the script or of the shell. words: values of $0, $1, ...
    """

    startup = resolve_process_variable(environment, 'BASH_ENV')
    shell = _WrapperEvaluator(image, environment, path, words)
    try:
        if shell_name == 'bash' and startup and startup.value != '':
            reason = f'bash reads the file in BASH_ENV before {path}'
            raise UnsupportedSyntaxError(startup.location or path, reason)
        shell.run_script(path, text)
        if not shell.call:
            raise shell.fail('the script starts no program')
    except (UnsupportedSyntaxError, RecursionError) as err:
        reason = f"{getattr(err, 'location', path)}: {err}"
        environment = environment._replace(exit_point=environment.exit_point or shell.exit_point)
        return LaunchedProgram(None, words, environment, reason, [])
    inherited = {
        name: variable or Variable('', True, path)
        for name, variable in shell.call_variables.items()
    }
    return resolve_program(image, shell.call, environment._replace(variables=inherited), depth - 1)


#: Program that starts a command -> pattern for the words between the program and the command.
#: Sources: coreutils, taskset(1), numactl(8)
_LAUNCHERS = {
    'env': r'(-i )?(-u [A-Za-z_]\w* |[A-Za-z_]\w*=\S* )*',
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
        words = [word for word in rest[:3] if isinstance(word, str)]
        if loads and len(words) == 3 and words[0] == '--library-path' and words[2][:1] == '/':
            path_variable = Variable(words[1], True, path)
            variables = dict(environment.variables, LD_LIBRARY_PATH=path_variable)
            environment = environment._replace(variables=variables)
            launched = resolve_program(image, rest[2:], environment, depth - 1)
            # The loader starts an ELF program, and no script.
            return unknown if launched.scripts or launched.program != words[2] else launched
        return unknown if loads and rest else unknown._replace(program=path, reason=None)
    texts = [word if isinstance(word, str) else '-?' for word in rest]
    if kind not in _LAUNCHERS:
        if texts[0] != '-c' or len(rest) < 2:
            return unknown
        words = rest[2:] or [path]
        return _resolve_shell_script(image, kind, path, texts[1], words, environment, depth)
    match = re.match(_LAUNCHERS[kind], ''.join(re.sub(r'\s', '_', text) + ' ' for text in texts))
    count = match.group().count(' ') if match else 0
    if not match or not texts[count:] or texts[count].startswith('-'):
        return unknown
    variables = dict(environment.variables)
    if kind == 'env' and texts[0] == '-i':  # All other variables are unset.
        variables, environment = {}, environment._replace(default=Variable('', True, path))
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
