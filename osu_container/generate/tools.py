"""
Write what the module osu-container-tools brings beside the commands: man pages, completion, its easyconfig's version.

    share/man/man1/osu-container*.1                        a page a command
    share/bash-completion/completions/osu-container        for bash
    share/zsh/site-functions/_osu-container                for zsh

All of it from the parsers of the commands, by argparse-manpage and shtab. The files are checked in: a system whose
Python is 3.6 and which has no network cannot make them.
"""
from __future__ import annotations

import argparse
import importlib
import os
import re
import sys

import shtab
from argparse_manpage.manpage import Manpage

from osu_container import __version__, cli
from osu_container.places import PROJECT

SHARE = PROJECT / 'share'
EASYCONFIG = PROJECT / 'easyconfigs' / 'o' / 'osu-container-tools' / 'osu-container-tools.eb'
#: Lines of a help are as wide as man pages usually are, whatever the terminal is
COLUMNS = '80'


def parsers():
    """Return {command: its parser}: osu-container itself under '', and every command with its options."""
    top = cli.Parser(prog='osu-container', description="MPI containers as EasyBuild modules: check, install, prove, "
                     "measure and compare.")
    top.add_argument('--version', action=cli.Version, help="print the version and where it is")
    commands = top.add_subparsers(dest='command', metavar='COMMAND')
    found = {'': top}
    for name, (module, text) in cli.COMMANDS.items():
        found[name] = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + '.')
        importlib.import_module(module).add_arguments(found[name])
        found[name].say_codes(name)
    return found


def plain(text):
    """Return text (str) without the folder of this clone."""
    return text.replace(str(PROJECT), 'CLONE').replace(os.path.expanduser('~/'), '~/')


def man_page(name, parser):
    """Return the man page (str) of a command (str), as its parser says it."""
    full = 'osu-container' + (f'-{name}' if name else '')
    about = cli.COMMANDS[name][1] if name else 'MPI containers as EasyBuild modules'
    parser.man_short_description = about
    page = Manpage(parser, {
        'prog': full, 'project_name': 'osu-container', 'version': __version__, 'date': '',
        'manual_title': 'osu-container', 'manual_section': '1', 'description': parser.description,
    })
    # .TH has the day; of a page that is checked in it would be another one each day
    text = re.sub(r'^(\.TH [^"]*"1") "[^"]*"', r'\1 ""', str(page), count=1)
    escaped = full.replace('-', '\\-')
    text = re.sub(r'(?m)^(\.SH NAME\n).*?( \\- )', lambda found: found[1] + escaped + found[2], text, count=1)
    if not name:  # the pages of the commands say the rest
        text = text.partition('\n.SH COMMAND ')[0]
        text += '\n.SH SEE ALSO\n' + ', '.join(f'osu\\-container\\-{one}(1)' for one in cli.COMMANDS)
    return plain(text).rstrip('\n') + '\n'


def files():
    """Return {path: text} of all that is written."""
    os.environ['COLUMNS'] = COLUMNS
    found = parsers()
    written = {SHARE / 'man' / 'man1' / f"osu-container{'-' * bool(name)}{name}.1": man_page(name, parser)
               for name, parser in found.items()}
    top = found['']
    for parser in found.values():
        parser.formatter_class = argparse.HelpFormatter
    written[SHARE / 'bash-completion' / 'completions' / 'osu-container'] = plain(shtab.complete(top, 'bash'))
    written[SHARE / 'zsh' / 'site-functions' / '_osu-container'] = plain(shtab.complete(top, 'zsh'))
    written[EASYCONFIG] = re.sub(r"^version = .*$", f"version = '{__version__}'", EASYCONFIG.read_text(), flags=re.M)
    return written


def main():
    """Write the files, or with --check compare; return the exit code: 1 if one is stale."""
    check, stale = '--check' in sys.argv[1:], []
    for path, text in files().items():
        if path.exists() and path.read_text() == text:
            continue
        stale.append(path)
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        word, stream = ('stale', sys.stderr) if check else ('written', sys.stdout)
        print(f"{word}: {path.relative_to(PROJECT)}", file=stream)
    return 1 if check and stale else 0


if __name__ == '__main__':
    sys.exit(main())
