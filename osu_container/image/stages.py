"""Definition files in stages: each stage as a text of its own, with what it copies in, so that it can be kept."""
import hashlib
import re
from pathlib import Path
from typing import NamedTuple

from . import ImageError
from .catalogue import SOURCES, sha256_of

#: What HPCCM writes in front of every stage but the first, and the head for people: no image depends on it
COMMENT = re.compile(r'(?m)^#.*\n?')
ARGUMENT = re.compile(r'\{\{ *(\w+) *\}\}')
FROM_STAGE = re.compile(r'%files from (\S+)')


class Stage(NamedTuple):
    """One stage of a definition file, build arguments filled in.

    text: from its Bootstrap line to its end. files: paths (list of str) in the build folder that it copies in. uses:
    stage -> paths (list of str) in that stage that it copies in.
    """

    name: str
    text: str
    files: list
    uses: dict

    def key(self, folder, base, keys):
        """Return 16 hex digits that differ when the stage does.

        folder: build folder (Path). base: what its Bootstrap lines really lead to. keys: of the stages before, by name.
        Raises ImageError if a file to copy in is not there.
        """
        digest = hashlib.sha256(f'{self.text}\0{base}'.encode())
        for name in sorted(self.files):
            path = Path(folder) / name
            if not path.exists():
                raise ImageError(f"stage {self.name} copies {name} in, which is not in {folder}. {_cure(name)}")
            inside = sorted(item for item in path.rglob('*') if item.is_file()) if path.is_dir() else [path]
            for item in inside:
                digest.update(f'\0{name}\0{item.name}\0{sha256_of(item)}'.encode())
        for name in sorted(self.uses):
            digest.update(f'\0{name}\0{keys[name]}'.encode())
        return digest.hexdigest()[:16]


def sum_of(text):
    """Return the sha256 of a definition file without its comments: another comment is no other image."""
    return hashlib.sha256(COMMENT.sub('', text).encode()).hexdigest()


def read(text, arguments):
    """Return the stages (list of Stage) of a definition file, in order; the last one is the image.

    text: the file. arguments: values (dict of str) that stand before the defaults of its %arguments sections.
    Raises ImageError for an argument that has no value.
    """
    # A stage begins at its Bootstrap line.
    starts = [found.start() for found in re.finditer(r'(?im)^bootstrap:', text)]
    parts = [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)])]
    return [_stage(part, arguments, number) for number, part in enumerate(parts, 1)]


def _stage(text, arguments, number):
    """Return the Stage of one part of a definition file."""
    defaults = dict(re.findall(r'(?m)^\s+(\w+)=(.*)$', _section(text, 'arguments')))
    text = re.sub(r'(?ms)^%arguments\n.*?(?=^%|\Z)', '', text)
    text = COMMENT.sub('', text).strip() + '\n'

    def value(found):
        name = found.group(1)
        if name not in arguments and name not in defaults:
            raise ImageError(f"the definition file uses the argument {name}, which has no value. Give it "
                             "one below %arguments")
        return arguments.get(name, defaults.get(name))

    text = ARGUMENT.sub(value, text)
    found = re.search(r'(?im)^stage: *(\S+)', text)
    files, uses = [], {}
    for source, body in re.findall(r'(?m)^%files(?: from (\S+))?\n((?:[ \t]+.*\n|\n)*)', text):
        paths = [line.split()[0] for line in body.splitlines() if line.strip()]
        if source:
            uses.setdefault(source, []).extend(paths)
        else:
            files += paths
    return Stage(found.group(1) if found else f'stage-{number}', text, files, uses)


def _section(text, name):
    """Return the lines of all sections of a name, '' if there are none."""
    return ''.join(re.findall(rf'(?ms)^%{name}\n(.*?)(?=^%|\Z)', text))


def _cure(name):
    """Return what to do about a file (path in the build folder) that a definition file names and that is not there."""
    if name.startswith('sources/') and name.rpartition('/')[2] not in {source['file'] for source in SOURCES.values()}:
        return ("The definition file is older than osu_container/recipes/versions.py, which names no such archive: run "
                "`make modules`")
    return "Its entry in osu_container/recipes/images.py must name it under 'sources' or 'files'"


def test_section(text):
    """Return the script (str) of the %test section of a stage's text, '' if there is none."""
    lines = _section(text, 'test').splitlines()
    return '\n'.join(line[4:] if line.startswith('    ') else line for line in lines).strip()


def outputs(stages):
    """Return stage -> paths (sorted list) that later stages copy from it. Nothing else of a stage needs to be kept."""
    wanted = {}
    for stage in stages:
        for name, paths in stage.uses.items():
            wanted.setdefault(name, set()).update(paths)
    return {name: sorted(paths) for name, paths in wanted.items()}


def with_kept(stage, kept):
    """Return the text of a definition file that makes one stage of files of others, which are kept in folders.

    kept: stage name -> path from the build folder to the folder with what is copied from it, laid out as in the stage.
    """
    lines, folder = [], ''
    for line in stage.text.splitlines():
        if line.startswith('%'):
            source = FROM_STAGE.match(line)
            folder, line = (kept[source.group(1)], '%files') if source else ('', line)
        elif folder and line.strip():
            line = f"    {folder}/{line.strip().lstrip('/')}"
        lines.append(line)
    return '\n'.join(lines) + '\n'
