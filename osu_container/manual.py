"""
Man pages of the commands and their completion: python3 -m osu_container.manual FOLDER writes both into FOLDER/share.

A page is what --help says, so that nothing stands twice. A command that lacks a Python package, or a newer Python, has
a page of one line. Python 3.6 and its standard library only: the installation of osu-container-tools runs it.
"""
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from osu_container import __version__
from osu_container.cli import COMMANDS

HERE = os.path.dirname(os.path.realpath(__file__))
COMMAND = os.path.join(os.path.dirname(HERE), 'bin', 'osu-container')
COMPLETION = os.path.join(HERE, 'completion.bash')
#: A subcommand in the help of a command
BELOW = re.compile(r'^    ([a-z][a-z-]+)(?: .*)?$', re.M)
SUMMARY = 'MPI containers as EasyBuild modules'


def help_of(*words):
    """Return what `osu-container WORDS --help` prints (str), '' where it cannot."""
    done = subprocess.run([COMMAND] + list(words) + ['--help'], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, env=dict(os.environ, COLUMNS='78'))
    return done.stdout if done.returncode == 0 else ''


def roff(text):
    """Return text (str) as lines of a man page that stay as they are."""
    text = text.replace('\\', '\\e').replace('-', '\\-')
    return '.nf\n' + re.sub(r"(?m)^(?=[.'])", r'\\&', text).strip('\n') + '\n.fi\n'


def page(name):
    """Return the man page (str) of a command (str, '' for osu-container itself)."""
    full = 'osu-container' + ('-' + name if name else '')
    said = help_of(name) if name else help_of()
    summary, escaped = COMMANDS[name][1] if name else SUMMARY, full.replace('-', '\\-')
    text = f'.TH "{full.upper()}" "1" "" "osu-container {__version__}" "User commands"\n'
    text += f'.SH NAME\n{escaped} \\- {summary}\n.SH HELP\n'
    text += roff(said or f'osu-container {name} --help says more.')
    for below in BELOW.findall(said) if name and '\n  WHAT\n' in said else ():
        text += f'.SH {name.upper()} {below.upper()}\n{roff(help_of(name, below))}'
    others = ['osu\\-container(1)'] * bool(name) + [f'osu\\-container\\-{one}(1)' for one in COMMANDS if one != name]
    return text + f".SH SEE ALSO\n{', '.join(others)}\n"


def write(folder):
    """Write the pages and the completion below folder (str)."""
    pages, bash, zsh = (os.path.join(folder, 'share', *place) for place in (
        ('man', 'man1'), ('bash-completion', 'completions'), ('zsh', 'site-functions')))
    for place in (pages, bash, zsh):
        os.makedirs(place, exist_ok=True)
    names = [''] + list(COMMANDS)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, text in zip(names, pool.map(page, names)):
            with open(os.path.join(pages, 'osu-container%s.1' % ('-' + name if name else '')), 'w') as target:
                target.write(text)
    shutil.copy(COMPLETION, os.path.join(bash, 'osu-container'))
    with open(COMPLETION) as source, open(os.path.join(zsh, '_osu-container'), 'w') as target:
        target.write('#compdef osu-container\nautoload -U +X bashcompinit && bashcompinit\n' + source.read())


if __name__ == '__main__':
    write(sys.argv[1])
