"""
Test the evaluation of an image's environment scripts.

The tests compare the evaluated environment with the environment in bash and in the runtime.
"""

import os
import random
import re
import shutil
import subprocess
import sys

import pytest

from osu_container.image.environment import (
    SCRIPTS_FOLDER,
    Environment,
    Variable,
    get_exported_value,
    parse_folder_list,
    resolve_process_variable,
    resolve_program,
)
from osu_container.image.image import Image
from osu_container.verdict.injection import TARGET, render_injection
from tests.helpers.elf_folder import ElfFolder
from tests.helpers.machine import PROJECT, STATE, assert_success, mark_repeats_nightly, run

#: The script 99-base.sh that `apptainer build` writes, without comments
BASE = '''if [ -z "${LD_LIBRARY_PATH:-}" ]; then
    LD_LIBRARY_PATH="/.singularity.d/libs"
else
    LD_LIBRARY_PATH="$LD_LIBRARY_PATH:/.singularity.d/libs"
fi
export LD_LIBRARY_PATH
'''
SHOWS = '''#include <stdio.h>
extern char **environ;
int main(void)
{
    for (char **line = environ; *line; line++) { fputs(*line, stdout); putchar(0); }
    return 0;
}
'''


@pytest.fixture(scope='module')
def box(tmp_path_factory):
    """Return an ElfFolder with a program that prints its environment, and with some files."""
    folder = ElfFolder(tmp_path_factory.mktemp('box') / 'image').add_libc()
    folder.executable('/bin/shows', SHOWS)
    for name in ('proc', 'sys', 'dev', 'tmp', 'var/tmp', 'etc', 'root', 'home'):
        (folder.root / name).mkdir(parents=True, exist_ok=True)
    folder.write('/opt/a/lib/liba.so', '')
    folder.write('/opt/b/b.sh', 'export B=sourced LD_LIBRARY_PATH=/opt/b:$LD_LIBRARY_PATH\n')
    return folder


def write_scripts(box, scripts, base=True):
    """
    Write the environment scripts of the image and remove all others.

    scripts: {name: text, or Path of the target for a link}. base: whether to add 99-base.sh.
    """
    folder = box.resolve_path(SCRIPTS_FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        path.unlink()
    for name, text in dict({'99-base.sh': BASE} if base else {}, **scripts).items():
        if isinstance(text, str):
            box.write(f'{SCRIPTS_FOLDER}/{name}', text)
        else:
            (folder / name).symlink_to(text)


def evaluate_environment(box, bound=()):
    """Return the Environment that this project evaluates for the image `box`."""
    with Image(str(box), '') as image:
        return image.evaluate_environment(bound)


def evaluate_text(box, text, bound=()):
    """Return the evaluated Environment for an image whose %environment section is `text`."""
    write_scripts(box, {'90-environment.sh': text})
    return evaluate_environment(box, bound)


def run_in_runtime(box, bound=(), of_host=()):
    """
    Return {name: value} of the environment of a program that Apptainer starts in the image.

    The result is empty if Apptainer does not start the program. bound: {path: text} of files that
    are bound into the container. of_host: variables of the host.
    """
    environment = {
        'PATH': f"{STATE / 'bin'}:{os.environ['PATH']}",
        'HOME': '/root',
        **dict(of_host),
    }
    binds = []
    for number, (path, text) in enumerate(sorted(dict(bound).items())):
        file = box.root.parent / f'bound-{number}'
        file.write_text(text)
        binds += ['--bind', f'{file}:{path}']
    done = subprocess.run(
        ['apptainer', '--quiet', 'exec', *binds, box.root, '/bin/shows'],
        env=environment,
        timeout=60,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    lines = [line for line in done.stdout.decode().split('\0') if '=' in line]
    return dict(line.split('=', 1) for line in lines)


#: (usual text of an %environment section, value of LD_LIBRARY_PATH after this text)
USUAL = [
    ('export LD_LIBRARY_PATH="/opt/a/lib:${LD_LIBRARY_PATH}"', '/opt/a/lib:'),
    ('DIR=/opt/a\nexport LD_LIBRARY_PATH="$DIR/lib:$LD_LIBRARY_PATH"', '/opt/a/lib:'),
    ('export LD_LIBRARY_PATH=/opt/a/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}', '/opt/a/lib'),
    ('export LD_LIBRARY_PATH="/opt/a/lib${LD_LIBRARY_PATH:+:${LD_LIBRARY_PATH}}"', '/opt/a/lib'),
    (
        'export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:-"/opt/a/lib"}"',
        '/opt/a/lib',
    ),  # `apptainer build` writes this line for ENV in a Dockerfile.
    ('export PREFIX=/opt/a LD_LIBRARY_PATH=/opt/a/lib', '/opt/a/lib'),
    (
        'if [ -z "$LD_LIBRARY_PATH" ]; then export LD_LIBRARY_PATH=/x; '
        'else export LD_LIBRARY_PATH=/y; fi',
        '/x',
    ),
    (
        '[ -d /opt/none ] && export LD_LIBRARY_PATH=/opt/none || export LD_LIBRARY_PATH=/opt/a',
        '/opt/a',
    ),
    ('if [ -f /opt/b/b.sh ]; then . /opt/b/b.sh; fi', '/opt/b:'),
    ('export LD_LIBRARY_PATH=/opt/a:\\\n/opt/b  # two', '/opt/a:/opt/b'),
    ('ulimit -s unlimited\nexport FOO=$(hostname) LD_LIBRARY_PATH=/opt/a', '/opt/a'),
    ('which python3 >/dev/null 2>&1 && export PY=1\nexport LD_LIBRARY_PATH=/opt/a', '/opt/a'),
    ('export LD_LIBRARY_PATH=/opt/a\r\n', '/opt/a'),
    ('LD_LIBRARY_PATH=/opt/a', '/opt/a'),  # 99-base.sh exports LD_LIBRARY_PATH.
]


@pytest.mark.system
@pytest.mark.parametrize('text, value', mark_repeats_nightly(USUAL))
def test_usual_spellings_evaluate_as_in_the_runtime(box, text, value):
    environment = evaluate_text(box, text)
    assert (
        run_in_runtime(box)['LD_LIBRARY_PATH']
        == get_exported_value(environment, 'LD_LIBRARY_PATH')
        == f'{value}:/.singularity.d/libs'
    )


@pytest.mark.parametrize(
    'text, expected_location, expected_reason',
    [
        ('\nexport X=$(hostname)', '90-environment.sh:2', 'command'),
        ('export X=`hostname`', '90-environment.sh:1', 'command'),
        ('Y=$(hostname)\nexport X=/opt/$Y', '90-environment.sh:1', 'command'),
        ('export X=$HOME/lib', '90-environment.sh:1', '$HOME'),
        ('export X=~/lib', '90-environment.sh:1', '~'),
        ('export X=$((1+1))', '90-environment.sh:1', '$((1+1))'),
        ('[ -n "$HOME" ] && export X=1', '90-environment.sh:1', ''),
        ('case $HOME in /root) X=1;; esac', '90-environment.sh:1', 'case'),
        ('A=1\nfor X in a b; do echo; done', '90-environment.sh:2', 'for'),
        ('[[ -n $A ]] || export X=1', '90-environment.sh:1', '[['),
        ('\nexport Y\n. ~/x', '90-environment.sh:3', '~/x'),
        ('set -u', '90-environment.sh:1', 'set'),
        ('f() {\n X=1\n}\nf', '90-environment.sh:1', '('),
        ('echo 1 | read X', '90-environment.sh:1', '|'),
        ('eval "X=1"', '90-environment.sh:1', 'eval'),
        ('. /opt/b/none.sh\nX=1', '90-environment.sh:1', '/opt/b/none.sh'),
        ('hostname >/etc/none\nX=1', '90-environment.sh:1', '/etc/none'),
        ('if [ -d /tmp/x ]; then export X=1; fi', '90-environment.sh:1', 'condition'),
        ('[ -d "$HOME" ] && return\nexport X=1', '90-environment.sh:1', 'return'),
        ('export X=a\\:b', '90-environment.sh:1', ':b'),
        ('X=1\nif true; then', '90-environment.sh:2', 'script'),
    ],
)
def test_unsupported_syntax_is_unknown_with_file_and_line(
    box, text, expected_location, expected_reason
):
    environment = evaluate_text(box, text)
    variable = resolve_process_variable(environment, 'X')
    assert (
        variable.value is None
        and variable.location == f'{SCRIPTS_FOLDER}/{expected_location}'
        and expected_reason in variable.reason
    ), variable


@pytest.mark.parametrize(
    'text',
    [
        'export X=$(hostname)',
        'if hostname; then export X=1; fi',
        'hostname && export X=1',
    ],
)
def test_unsupported_syntax_affects_only_its_possible_variables(box, text):
    environment = evaluate_text(
        box, f'export LD_LIBRARY_PATH=/opt/a\n{text}\nexport FI_PROVIDER=tcp'
    )
    assert environment.default is None and environment.exit_point is None
    assert (
        get_exported_value(environment, 'LD_LIBRARY_PATH') == '/opt/a:/.singularity.d/libs'
        and get_exported_value(environment, 'FI_PROVIDER') == 'tcp'
    )


def test_known_beginning_of_an_unknown_list_is_kept(box):
    variable = evaluate_text(
        box, 'export LD_LIBRARY_PATH=/opt/a:/opt/b:$(hostname):/opt/c'
    ).variables['LD_LIBRARY_PATH']
    assert parse_folder_list(variable) == (['/opt/a', '/opt/b'], False)
    variable = evaluate_text(box, 'export LD_LIBRARY_PATH=$(hostname)', INJECTION).variables[
        'LD_LIBRARY_PATH'
    ]
    assert parse_folder_list(variable) == (['/opt/host', '/opt/it is'], False)


#: Name of a case -> (scripts of the image, whether the image has 99-base.sh)
ORDERS = {
    'byte order of the names': (
        {
            name: f'O=${{O}}{name},\nexport O'
            for name in (
                '9-a.sh 10-b.sh a.sh 90a.sh Z.sh 100-x.sh 99-Base.sh 99_x.sh _x.sh .hidden.sh '
                'text.txt'
            ).split()
        },
        True,
    ),
    'the injection comes last': (
        {
            '90-environment.sh': 'export G=image LD_LIBRARY_PATH=/i LD_PRELOAD=/p',
            '99-z.sh': 'export G=last PATH=/opt/a',
        },
        True,
    ),
    'the injection keeps an unknown variable': (
        {'90-environment.sh': 'export G=$(hostname) PATH="/opt/b b:/x"'},
        True,
    ),
    'without 99-base.sh': ({'90-environment.sh': 'export LD_LIBRARY_PATH=/i'}, False),
    'a folder without scripts': ({}, False),
    'a link to nothing': ({'91-x.sh': '/nowhere', '92-y.sh': 'export Y=1'}, True),
    'folders of PATH': ({'10-docker2singularity.sh': 'export PATH=/opt/x:/usr/bin'}, True),
    'PATH of the user': ({'90-environment.sh': 'export PATH=/opt/x:$PATH'}, True),
    'variables of the host': (
        {
            '90-environment.sh': 'export H1=image\nH2=image\nexport H3=\nunset H4\n'
            'export H5=${H5:-image}'
        },
        True,
    ),
    'return': (
        {'90-environment.sh': 'export X=1\nreturn\nexport X=2', '91-x.sh': 'export Y=1'},
        True,
    ),
    'exit': ({'90-environment.sh': 'export X=1\nexit 0'}, True),
    'other arguments': ({'90-environment.sh': 'set -- a b'}, True),
}
#: Files that a module binds into the container: the injection script and a preloaded library
INJECTION = {
    TARGET: render_injection(
        ['/opt/host', '/opt/it is'], ['/opt/host-mpi/lib/liba.so'], [], ['G', 'H']
    ),
    '/opt/host-mpi/lib/liba.so': '',
}
OF_HOST = dict.fromkeys(('H', 'H1', 'H2', 'H3', 'H4', 'H5', 'H6'), 'host')


def list_differences(environment, real, of_host=()):
    """
    Compare an evaluated Environment with the real variables of a program.

    The result is ([(name, evaluated value, real value)] of the differences, [name] of the variables
    with an unknown value). Variables of the runtime and of the shell are left out.
    """
    of_host = dict(of_host)
    foreign_names = (
        'APPTAINER',
        'SINGULARITY',
        'SING_',
        'PROMPT_COMMAND',
        'PS1',
        'PWD',
        'OLDPWD',
        'HOME',
        'USER_PATH',
        'SHLVL',
        'LANG',
        'LC_ALL',
        '_',
        'BASH',
        'e',
        'key',
    )
    wrong, unknown = [], []
    for name in sorted(set(environment.variables) | set(real) | set(of_host)):
        variable = resolve_process_variable(environment, name, of_host.get(name))
        if name.startswith(foreign_names[:-2]) or name in foreign_names:
            continue
        if variable and variable.value is None:
            unknown.append(name)
        elif (variable.value if variable else None) != real.get(name):
            wrong.append((name, variable.value if variable else None, real.get(name)))
    return wrong, unknown


@pytest.mark.system
@pytest.mark.parametrize('name', ORDERS)
def test_runtime_runs_the_scripts_in_the_expected_order(box, name):
    scripts, base = ORDERS[name]
    write_scripts(
        box,
        {
            key: text if not text.startswith('/') else box.resolve_path(text)
            for key, text in scripts.items()
        },
        base,
    )
    environment, real = (
        evaluate_environment(box, INJECTION),
        run_in_runtime(box, INJECTION, OF_HOST),
    )
    assert bool(environment.exit_point) == (not real)
    if real:
        assert list_differences(environment, real, OF_HOST) == ([], [])


def test_unreadable_script_is_reported_and_all_is_unknown(box, monkeypatch):
    write_scripts(box, {'91-x.sh': 'export X=1'})
    monkeypatch.setattr(
        Image,
        'read_text',
        lambda self, path, real=Image.read_text: None if '91' in path else real(self, path),
    )
    environment = evaluate_environment(box)
    variable = resolve_process_variable(environment, 'X')
    assert (variable.value, variable.location) == (None, f'{SCRIPTS_FOLDER}/91-x.sh')


# ---- random scripts

#: Kind of text in a random script -> templates, in which <KIND> stands for a random text of a kind.
#: The evaluator supports all of these templates
SUPPORTED = {
    'name': ['A', 'B', 'C', 'LD_LIBRARY_PATH'],
    'text': ['/opt/a', '/opt/b/lib', 'x', 'y:z', 'a.b-c_d', '1', 'tcp', ''],
    'parameter': [
        '$<name>',
        '${<name>}',
        '${<name>:-<text>}',
        '${<name>-<text>}',
        '${<name>:+<text>:$<name>}',
        '${<name>+<text>}',
        '${<name>:-"<text>"}',
    ],
    'piece': ['<text>', '<parameter>', '"<text> <parameter>"', '\'<text> $A\'', '"<parameter>"'],
    'value': ['<piece>', '<piece><piece>'],
    'quoted': ['"<text>"', '"<parameter>"', '"<text><parameter>"'],
    'test': [
        '[ -n <quoted> ]',
        '[ -z <quoted> ]',
        'test <quoted>',
        '[ <quoted> = <quoted> ]',
        '[ "x$<name>" != x ]',
        '[ ! -z <quoted> ]',
        'true',
        'false',
    ],
    'simple': [
        'export <name>=<value>',
        '<name>=<value>',
        'unset <name>',
        'A=<value>; export A',
        'export <name>=<value> <name>=<text>',
        ': "<parameter>"',
        '<test> && export <name>=<value>',
        '<test> || <name>=<value>',
        '<name>=<value>  # a comment "',
        'export <name>=\\\n<value>',
        'echo <quoted> >/dev/null',
    ],
    'nested': [
        '<simple>',
        'if <test>; then\n<body>\nfi',
        'if <test>\nthen <body>\nelif <test>; then <body>\nelse\n<body>\nfi',
    ],
    'body': ['<nested>', '<simple>\n<nested>', '<nested>\n<simple>\n<simple>'],
    'script': ['<body>\n', '<body>\n<nested>\n', '<body>\n<body>\n'],
}
#: Further templates, some of which the evaluator does not support
UNSUPPORTED = {
    'parameter': [
        '${<name>:-${<name>:-<text>}}',
        '${<name>#*/}',
        '${<name>%%:*}',
        '${#<name>}',
        '${<name>:=<text>}',
    ],
    'piece': ['$(echo q)', '`echo q`', '$((1+2))', '${A/x/y}', '${A:0:1}', '"$(echo q)"'],
    'test': ['[[ $<name> == *opt* ]]', '[ -v <name> ]', '[ ${#A} -gt 3 ]', '[ -n $A ]'],
    'simple': ['export <name>', '<name>+=<value>', 'f', '! <test> && <name>=1'],
    'nested': [
        'for <name> in <value> <quoted> b; do <body>\ndone',
        'set -u; <body>\nset +u',
        'f() { <body>\n}',
        'g() {\n<body>\n}; g',
        'while <test>; do <body>\nbreak; done',
        'eval "<name>=q"',
        'case <quoted> in\n  n<text>|*opt*) <body>\n ;;\nesac',
        '<test> && { <body>\n} || <name>=<value>',
        'set -a; <body>\nset +a',
        'export "<name>=<parameter>"',
    ],
}


def draw_text(rng, kind, grammar, more=(), depth=3):
    """
    Return a random text of a kind.

    grammar: {kind: templates}. more: {kind: further templates}. depth: maximum number of nested
    statements.
    """
    kind = 'simple' if kind == 'nested' and not depth else kind
    return re.sub(
        '<([a-z ]+)>',
        lambda match: draw_text(rng, match.group(1), grammar, more, depth - (kind == 'nested')),
        rng.choice(grammar[kind] + dict(more).get(kind, [])),
    )


def run_in_bash(scripts):
    """Return {name: value} of the variables that bash exports after it has sourced `scripts`."""
    done = subprocess.run(
        [
            'bash',
            '--norc',
            '-c',
            ''.join(f'source "{script}"\n' for script in scripts) + '/usr/bin/env -0',
        ],
        env={},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=10,
    )
    return dict(line.split('=', 1) for line in done.stdout.decode().split('\0') if '=' in line)


@pytest.mark.parametrize('seed', range(20))
@pytest.mark.parametrize('supported', [True, False])
def test_random_scripts_evaluate_as_in_bash_or_unknown(box, supported, seed):
    """
    Every evaluated value must be the value in bash.

    An evaluator that reports each value as unknown would pass this check. Therefore no value may be
    unknown in a script that has only supported syntax.
    """
    for number in range(seed * 1000, seed * 1000 + 20):
        rng = random.Random(number)
        texts = {
            name: draw_text(rng, 'script', SUPPORTED, {} if supported else UNSUPPORTED)
            for name in ('90-environment.sh', '91-environment.sh')
        }
        write_scripts(box, texts)
        environment = evaluate_environment(box)
        environment.variables.pop('PATH', None)  # The runtime sets PATH, but bash does not.
        try:
            real = run_in_bash(
                [box.resolve_path(f'{SCRIPTS_FOLDER}/{name}') for name in [*texts, '99-base.sh']]
            )
        except subprocess.TimeoutExpired:  # The random script has an endless loop.
            continue
        exit_reason, text = (
            (environment.exit_point or ('', '', ''))[2],
            '\n--\n'.join(texts.values()),
        )
        if not real:  # bash has exited because of `set -u` or of endless recursion.
            assert exit_reason or environment.default, (number, text)
            continue
        assert not supported or ': $' not in exit_reason, (number, exit_reason, text)
        wrong, unknown = list_differences(environment, real)
        assert not wrong and not (supported and unknown), (
            number,
            wrong,
            unknown,
            '\n--\n'.join(texts.values()),
        )


# ---- hostile scripts that take very long to evaluate

ENDLESS = {
    'a value that doubles': 'A=xxxxxxxx\n' + 'A=$A$A\n' * 40,
    'a script that sources itself twice': '. /.singularity.d/env/90-environment.sh\n' * 2,
    'a script of megabytes': 'export A=1\n' * 500_000,
    'commands nested deeply': 'if a; then\n' * 9_000 + 'b\n' + 'fi\n' * 9_000,
}


@pytest.mark.parametrize('kind', ENDLESS)
def test_endless_script_is_abandoned_and_reported(tmp_path, kind):
    """
    The evaluation must finish within two minutes and within 1 GB of memory.

    It runs in a process of its own, so that a failure does not exhaust this machine.
    """
    (tmp_path / 'usr').mkdir()
    folder = tmp_path / '.singularity.d' / 'env'
    folder.mkdir(parents=True)
    (folder / '90-environment.sh').write_text(ENDLESS[kind])
    code = (
        'import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)); '
        'from osu_container.image.image import Image; '
        'print(Image(sys.argv[1], "").evaluate_environment().default.reason)'
    )
    done = run([sys.executable, '-c', code, tmp_path], cwd=PROJECT, timeout=120)
    assert done.returncode == 0 and done.stdout not in ('\n', 'None\n'), done


# ---- scripts that start a program

#: Source of a program that prints the path of its file and the variables in READ
PROGRAM = r'''#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
    char path[4096], *names[] = {"LD_LIBRARY_PATH", "FI_PROVIDER", "X"};
    path[readlink("/proc/self/exe", path, sizeof path - 1)] = 0;
    puts(path);
    for (int one = 0; one < 3; one++)
        puts(getenv(names[one]) ? getenv(names[one]) : "");
}
'''
READ = ['LD_LIBRARY_PATH', 'FI_PROVIDER', 'X']
#: Kind of text in a random wrapper script -> templates; {folder} stands for the folder of the script
WRAPPERS = {
    'wrapper': [
        '<shell>\n<before>\n<before>\n<start>\n<after>\n',
        '<shell>\n<before>\n<before>\nDIR=<folder>\n<start>\n<after>\n',
        '<shell>\n<before>\nLD_LIBRARY_PATH="<folder>"\n<start>\n<after>\n',
    ],
    'shell': ['#!/bin/sh', '#!/bin/bash', '#!/bin/sh', '#!/usr/bin/env bash', '#!/bin/bash -e'],
    'before': ['', '', 'set -e', '# a comment', 'export X=1', '<setup>'],
    'setup': [
        'set -eu',
        'x=1',
        'exit 3',
        'cd /',
        'other=$0',
        'shift',
        'export LD_LIBRARY_PATH=/x:$LD_LIBRARY_PATH',
        '[ -n "$X" ] || exit 4',
        'LD_LIBRARY_PATH=/opt/x',
        'echo begins >&2',
        '. /etc/hostname.sh',
        'unset LD_LIBRARY_PATH',
        'if [ -d /usr ]; then export X=2; else exec /bin/true; fi',
        'export FI_PROVIDER',
        'case $1 in a*) export X=3;; esac',
        '[ "$#" -eq 0 ] && echo "$0 needs a file"',
        'export X=${X:-4}',
        'for one in a b; do export X=$one; done',
        '{folder}/other',
        'set -- a',
        'unset X',
        'mkdir -p /tmp || exit 4',
    ],
    'folder': ['{folder}', '{folder}', '{folder}', '{folder}/../bin', '$PWD', '$(dirname "$0")'],
    'place': ['<folder>', '<folder>', '$DIR', '${DIR}'],
    'call': [
        '<place>/.program.real "$@"',
        '"<place>/.program.real" "$@"',
        '"<place>"/.program.real "$@"',
        '"<place>/.program.real" $*',
        '"<place>/.program.real" --option "$@"',
        '.program.real "$@"',
        '/usr/bin/nice .program.real "$@"',
        '"<place>/.program.real"',
    ],
    'start': ['exec <call>', 'exec <call>', 'exec <call>', '<call>', '<other start>'],
    'other start': [
        'exec -a name <call>',
        'env <call>',
        '<call> &',
        'env --unset=LD_LIBRARY_PATH <call>',
        'X=1 <call>',
        'exec <call> | cat',
        '<call>; true',
        '<call>; exit $?',
        'env -u LD_LIBRARY_PATH <call>',
        'env X=5 FI_PROVIDER=tcp <call>',
        'env -i <call>',
        'FI_PROVIDER=tcp exec <call>',
        'sh -c "<call>"',
        'if true; then exec <call>; fi',
        'test -e /none && exec <call>',
        '<call> 2>/dev/null',
        '( <call> )',
        'run() { <call>; }; run',
    ],
    'after': ['', '', '', 'echo ends >&2'],
}


class Files:
    """The files of this machine, with the methods of Image."""

    def __init__(self, path):
        """Create the object; path: folders of PATH."""
        self.path = path

    def read_text(self, path):
        with open(path, encoding='utf-8', errors='replace') as stream:
            return stream.read()

    def resolve(self, path):
        return os.path.realpath(path)

    def exists(self, path):
        return os.path.isfile(path)

    def read_elf_files(self, paths):
        return {path: True for path in paths if '#!' not in self.read_text(path)[:2]}

    def find_file_type(self, path):
        return 'd' if os.path.isdir(path) else '-' if os.path.isfile(path) else None

    def list_path_folders(self):
        return self.path


@pytest.fixture(scope='module')
def printing_program(tmp_path_factory):
    """Compile PROGRAM and return the path of the file."""
    code = tmp_path_factory.mktemp('says') / 'says.c'
    code.write_text(PROGRAM)
    done = run(['gcc', '-o', code.with_suffix(''), code])
    assert_success(done)
    return code.with_suffix('')


@pytest.mark.parametrize('name, least', [('bin', 50), ('with blank', 0), ('bin-$x', 0)])
def test_script_starts_the_program_that_is_predicted(tmp_path, printing_program, name, least):
    folder, usual = (
        tmp_path / name / 'bin',
        {'LD_LIBRARY_PATH': '/.singularity.d/libs', 'FI_PROVIDER': 'cxi', 'X': '9'},
    )
    folder.mkdir(parents=True)
    for program in ('.program.real', 'other'):
        shutil.copy2(printing_program, folder / program)
    (tmp_path / 'links').mkdir()
    usual['PATH'] = f'{folder}:/usr/bin:/bin'
    image, followed = Files([str(folder), '/usr/bin', '/bin']), 0
    environment = Environment(
        {
            variable_name: Variable(value, True, None, None, '')
            for variable_name, value in usual.items()
            if variable_name not in ('FI_PROVIDER', 'X')
        },
        None,
        None,
    )  # FI_PROVIDER and X are variables of the host.
    for seed in range(150):
        script, link = folder / f'program{seed}', tmp_path / 'links' / f'program{seed}'
        script.write_text(
            draw_text(random.Random(seed), 'wrapper', WRAPPERS).replace('{folder}', str(folder))
        )
        script.chmod(0o755)
        link.symlink_to(script)
        for path in (script, link):
            launched = resolve_program(image, [str(path)], environment)
            if launched.program is None:
                assert launched.reason
                continue
            done = subprocess.run(
                [path],
                env=usual,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
                timeout=60,
            )
            lines = (['none'] * 5 + done.stdout.split('\n'))[-5:]
            assert os.path.realpath(lines[0]) == os.path.realpath(launched.program), (
                seed,
                script.read_text(),
                done.stderr,
            )
            for variable_name, value in zip(READ, lines[1:]):
                variable = resolve_process_variable(
                    launched.environment, variable_name, usual.get(variable_name)
                )
                assert (variable.value if variable else '') in (None, value), (
                    variable_name,
                    seed,
                    script.read_text(),
                    launched,
                )
            followed += 1
    assert followed >= least, 'too few scripts were evaluated for a meaningful test'
