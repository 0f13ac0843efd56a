"""Scripts that start a program: what core/reading/scripts.py says of random ones, and what a shell does with them."""
import os
import random
import re
import shutil
import subprocess

import pytest

from osu_container.core.reading.scripts import started_by

#: This program prints the path of its own file when it gets this argument
PROGRAM, ASKED = shutil.which('readlink'), '/proc/self/exe'
#: How a script names its folder
FOLDERS = ['$(dirname "$0")', '$(dirname $0)', '${0%/*}', '$(cd "$(dirname "$0")" && pwd)',
           '$(cd "$(dirname "$0")" && pwd -P)', '$(cd "$(dirname "$0")/.." && pwd)/bin', '$(cd $(dirname $0); pwd)',
           '$(dirname "$(readlink -f "$0")")', '$(dirname "$(realpath "$0")")', '$(dirname "${BASH_SOURCE[0]}")',
           '$(cd "$(dirname "${BASH_SOURCE[0]}")" >/dev/null 2>&1 && pwd)', '$(dirname -- "$0")', '{whole}', '$PWD',
           '$(dirname "$1")']
BEFORE = ['', '', '', '', '', '', '', '', 'set -e', 'set -e', 'set -eu', '# a comment',
          'x=1', 'export X=1', 'exit 3', 'cd /', 'other=$0', 'shift',
          '[ -n "$X" ] || exit 4', 'HERE=/nowhere', 'LD_LIBRARY_PATH=/opt/x', 'echo begins >&2']
START = ['exec {}', '{}', 'exec -a name {}', 'env {}', '{} &', 'nice {}', 'X=1 {}', 'exec {} | cat', '{}; true']
LAST = ['{folder}/{name} "$@"', '"{folder}/{name}" "$@"', '"{folder}"/{name} "$@"', '"{folder}/{name}" $*',
        '"{folder}/../bin/{name}" "$@"', '"{folder}/{name}" --option "$@"',
        '{name} "$@"', '/usr/bin/nice {name} "$@"', '"{folder}/{name}"']
NAMED = ['here', 'DIR', 'SCRIPT_DIR', 'LD_LIBRARY_PATH']


class Files:
    """The files of this machine, as those of an image."""

    def __init__(self, path):
        """path: list of str, folders in which commands are searched."""
        self.path = path

    def script(self, path):
        with open(path, encoding='utf-8', errors='replace') as stream:
            return stream.read()

    def real(self, path):
        return os.path.realpath(path)

    def exists(self, path):
        return os.path.isfile(path)

    def elf_facts(self, paths):
        return {path: True for path in paths if '#!' not in self.script(path)[:2]}


def drawn(seed, folder):
    """Return the text of a random script that lies in folder (str)."""
    chance = random.Random(seed)
    where = chance.choice(FOLDERS).replace('{whole}', folder) if chance.random() < 0.9 else folder + '/../bin'
    lines = [chance.choice(['#!/bin/sh', '#!/bin/bash', '#!/bin/sh -e', '#!/usr/bin/env bash', '#!/bin/bash -eu']),
             chance.choice(BEFORE), chance.choice(BEFORE)]
    if chance.random() < 0.5:
        name = chance.choice(NAMED)
        lines.append(f'{name}={chance.choice([where, f"{chr(34)}{where}{chr(34)}"])}')
        where = chance.choice([f'${name}', f'${{{name}}}'])
    line = chance.choice(LAST).replace('{folder}', where).replace('{name}', '.program.real')
    lines += [(chance.choice(START) if chance.random() < 0.2 else 'exec {}').replace('{}', line)]
    lines += [chance.choice(['', '', '', 'echo ends >&2'])]
    return '\n'.join(lines) + '\n'


@pytest.mark.parametrize('name, least', [('bin', 20), ('with blank', 0), ('bin-$x', 0)])
def test_a_script_starts_the_program_that_is_said_or_none_is_said(tmp_path, name, least):
    folder = tmp_path / name / 'bin'
    folder.mkdir(parents=True)
    shutil.copy2(PROGRAM, folder / '.program.real')
    (tmp_path / 'links').mkdir()
    followed = 0
    for seed in range(60):
        script, link = folder / f'program{seed}', tmp_path / 'links' / f'program{seed}'
        script.write_text(drawn(seed, str(folder)))
        script.chmod(0o755)
        link.symlink_to(script)
        for path in (script, link):
            said = started_by(Files([str(folder), '/usr/bin', '/bin']), str(path))
            if said is None:
                continue
            done = subprocess.run([path, ASKED], env={'PATH': f'{folder}:/usr/bin:/bin'}, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, check=False, timeout=60)
            # without the argument, or with another one, it complains, and says who it is
            complains = re.search(r'^(\S.*): (unrecognized option|missing operand)', done.stderr, re.M)
            found = complains.group(1) if complains else done.stdout.rstrip('\n')
            assert os.path.realpath(found) == os.path.realpath(said), (seed, script.read_text(), done.stderr)
            followed += 1
    assert followed >= least, 'too few were followed for this to tell anything'
