"""Scripts among the programs of an image: what interprets them (execve(2), Interpreter scripts). Python 3.6."""
import posixpath
import re
import shlex

#: The line of a script by which the kernel finds its interpreter: (path, first argument)
FIRST_LINE = re.compile(r'#!\s*(\S+)[ \t]*(\S*)')


def first_program(image):
    """Return (path, text or None if it may not be read) of the first program of an Image that has one."""
    name = sorted(image.programs)[0]
    path = image.programs[name] + '/' + name
    return path, image.script(path)


def find_interpreter(image, text):
    """
    Return (path or None, missing or None) of what the first line of the script text names: the interpreter in image,
    or what of it the image lacks. (None, None) if text (str or None) is no script.
    """
    first = FIRST_LINE.match(text or '')
    if not first:
        return None, None
    path, argument = first.groups()
    if not image.exists(path):
        return None, path
    if posixpath.basename(path) != 'env' or not argument or argument.startswith('-'):
        return path, None
    found = next((folder + '/' + argument for folder in image.program_path() if image.exists(folder + '/' + argument)),
                 None)
    return found, None if found else argument


#: What a shell script calls the folder that it lies in: by $0 or BASH_SOURCE, with or without cd, links followed or not
_SELF = r'"?\$(?:0|\{0\}|BASH_SOURCE|\{BASH_SOURCE(?:\[0\])?\})"?'
_REAL = r'(?:%s|"?\$\(\s*(?:readlink -f|realpath) %s\s*\)"?)' % (_SELF, _SELF)
_DIRNAME = r'\$\(\s*dirname (?:-- )?%s\s*\)' % _REAL
_OWN_FOLDER = re.compile(r'\$\(\s*cd (?:-- )?"?%s(?P<below>[/.\w-]*)"?( &>/dev/null| >/dev/null( 2>&1)?)?\s*(?:&&|;)\s*'
                         r'pwd(?: -P)?\s*\)|%s|\$\{0%%/\*\}' % (_DIRNAME, _DIRNAME))
#: Variables of a script itself; others may be meant for the program
_OWN_NAME = re.compile(r'[a-z_]\w*$|(\w*_)?(DIR|HERE|ROOT|SELF|PREFIX|HOME_DIR)$')
#: Wrappers of wrappers
_DEEPEST = 4


def started_by(image, path, depth=_DEEPEST):
    """
    Return the path in image of the program that the shell script path (str) starts, None where that cannot be told.

    Followed are scripts that name it and do nothing else that counts: `set -e`, a folder kept in a variable, then the
    program with its arguments, by exec or not. A script that exports a variable, asks something or calls anything more
    is not followed: what it starts may run otherwise.
    """
    text = image.script(path) or ''
    shell = re.match(r'#!\s*(?:/usr)?/bin/(?:env\s+)?((?:ba|da)?sh)\b', text)
    if not shell or not depth or not re.match(r'[\w./+@%=:,-]+$', path + (image.real(path) or '')) or \
            shell.group(1) != 'bash' and 'BASH_SOURCE' in text:
        return None
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith('#')]
    values = {}
    for number, line in enumerate(lines):
        if re.match(r'set -[euo]+( pipefail)?$', line):
            continue
        line = _OWN_FOLDER.sub(lambda found: _folder_meant(image, path, found), line)
        for name, value in values.items():
            line = re.sub(r'\$(?:%s\b|\{%s\})' % (name, name), lambda _, value=value: value, line)
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            return None
        assigned = re.match(r'(\w+)=([^$`]*)$', words[0]) if len(words) == 1 else None
        if assigned and _OWN_NAME.match(assigned.group(1)):
            values[assigned.group(1)] = assigned.group(2)
            continue
        ends = words[0] == 'exec'  # what comes behind it is never reached
        words = [word for word in words[ends:] if word not in ('$@', '$*')]
        if not (ends or number + 1 == len(lines)) or not words or any(
                re.search(r'[$`;|&<>*?()]', word) for word in words) or any(
                    not word.startswith('-') for word in words[1:]):  # else it may start another one
            return None
        return _program_named(image, words[0], depth)
    return None


def _folder_meant(image, path, found):
    """Return the folder (str) that a match of _OWN_FOLDER means in the script path (str) of image."""
    own = image.real(path) or path if re.search('readlink|realpath', found.group()) else path
    return posixpath.normpath(posixpath.dirname(own) + (found.group('below') or ''))


def _program_named(image, name, depth):
    """Return the program (path) of image that a command by its path (str) starts, through further scripts, or None."""
    if not name.startswith('/') or not image.exists(name):
        return None
    path = posixpath.normpath(name)
    return path if path in image.elf_facts([path]) else started_by(image, path, depth - 1)


def _text(image, program):
    """Return the text (str) of a program (path, or None for the first of the image), '' if it is not known."""
    if program is None and not image.programs:
        return ''
    return (image.script(program) if program else first_program(image)[1]) or ''


def interpreter_of(image, program):
    """Return the path (str) of the interpreter of a program as for _text(), None if that is no script."""
    return find_interpreter(image, _text(image, program))[0]


def uses_mpi4py(image, program):
    """Return whether a program as for _text() is a script of Python that names mpi4py."""
    return bool(re.match(r'python\d*', posixpath.basename(interpreter_of(image, program) or ''))
                and re.search(r'\bmpi4py\b', _text(image, program)))
