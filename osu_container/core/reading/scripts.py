"""Scripts among the programs of an image: what interprets them (execve(2), Interpreter scripts). Python 3.6."""
import posixpath
import re

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
