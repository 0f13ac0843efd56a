"""
Write and parse the report file of `osu-container try`, which users attach to an issue.

    # osu-container try, format 1
    site: lumi-25.03
    ==== figures ====
    ---- hybrid ----
    $ srun -N2 -n2 osu_bw H H
    # OSU MPI Bandwidth Test v7.5

The commands compare, report and import read the figures of each approach from the report file
(results/outputs.py). The last part of the report is a site file. A Redactor removes all data that
identify the user.

This module uses only Python 3.6 and its standard library.
"""

import contextlib
import grp
import os
import pwd
import re
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple

from osu_container.base.terminal import REDACTED, escape_text, mask_secrets
from osu_container.data.records import TRY_FORMAT, read_record, redact

HEAD = '# osu-container try, format %d' % TRY_FORMAT
#: Maximum sizes in bytes of the file and of each part; cut_middle() shortens longer parts
LIMIT = 200000
#: Part with the site file that `osu-container discover -o` writes; it is complete or left out
SITE_PART = 'site'
PARTS = {
    'summary': 8000,
    'errors': 30000,
    'verdict': 25000,
    'figures': 42000,
    'patterns': 8000,
    'proof': 35000,
    'facts': 12000,
    SITE_PART: 38000,
}
_PART, _SERIES = re.compile(r'==== ([\w ]+) ====\s*$'), re.compile(r'---- ([\w.-]+) ----\s*$')
#: Beginning of an output line that readers would take for a heading of the report
_FORGED = re.compile(r'^(?====|----)', re.M)


class TryFile:
    """A report file: add() collects the texts of its parts, and render() joins these texts."""

    def __init__(self, path: str, redactor: 'Redactor') -> None:
        self.path, self.redactor = path, redactor
        self.parts: Dict[str, List[Tuple[Optional[str], str]]] = {name: [] for name in PARTS}

    def add(self, part: str, text: str, series: Optional[str] = None) -> None:
        """Add `text` to a part of the report; series: the approach of the figures in `text`."""
        self.parts[part].append(
            (series, _FORGED.sub('| ', escape_text(self.redactor(text)).strip('\n')))
        )

    def render(self) -> str:
        """Return the complete text of the report file."""
        lines = [HEAD]
        for name, limit in PARTS.items():
            blocks: List[str] = []
            for series in dict.fromkeys(series for series, _ in self.parts[name]):
                blocks += ['---- %s ----' % series] * bool(series)
                blocks += [text for other, text in self.parts[name] if other == series]
            text = '\n'.join(blocks)
            if name == SITE_PART and len(text.encode('utf-8')) > limit:
                text = 'left out: larger than %d bytes' % limit
            lines += [] if name == 'summary' else ['', '==== %s ====' % name]
            lines.append(cut_middle(text, limit) or 'nothing')
        return '\n'.join(lines) + '\n'


def cut_middle(text: str, limit: int) -> str:
    """Return the text; if the text has more than `limit` bytes, leave out the middle."""
    data, room = text.encode('utf-8'), limit - 100
    if len(data) <= limit:
        return text
    first, last = (
        data[: room * 2 // 3].rpartition(b'\n')[0],
        data[-(room // 3) :].partition(b'\n')[2],
    )
    note = '[%d bytes are left out here, because the limit is %d bytes]' % (
        len(data) - len(first) - len(last),
        limit,
    )
    return '\n'.join([first.decode('utf-8'), note, last.decode('utf-8')])


class Redactor:
    """Replace names, accounts, projects, folders and tokens of the user in a text."""

    #: Parents of the folders of users and projects, on the systems of data/sites
    FOLDERS = (
        r'/(?:home|users|homes|project|projappl|scratch|flash|ccs/(?:home|proj)|lustre/orion|global/homes/\w|'
        r'(?:global/cfs|cfs)/cdirs|pscratch/sd/\w|software/projects|capstor/(?:scratch|store)/\w+|iopsstor/\w+/\w+|'
        r'pfs/lustre\w*/(?:users|projappl|scratch|project|flash))/'
    )
    #: LUMI's project_465000000; folders; mail addresses
    SHAPES = [
        (r'\bproject_\d+', '(project)'),
        (FOLDERS + r'(?:\(\w+\)|[\w.~-]+)', '(folder)'),
        (r'\b[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\b', '(address)'),
    ]

    def __init__(self, environ: Mapping[str, str], folders: Iterable[Tuple[str, str]] = ()) -> None:
        """
        Collect the user's data that placeholders will replace.

        environ: environment variables, some of which identify the user.
        folders: more paths to replace, as (path, placeholder).
        """
        names: Dict[str, str] = {}
        variables = 'EBU_USER_PREFIX MYSOFTWARE MYSCRATCH SCRATCH TMPDIR SLURM_SUBMIT_DIR PWD'
        places = [(environ.get(name, ''), '$' + name) for name in variables.split()]
        places += [(environ.get('HOME', ''), '~'), *folders]
        for gid in os.getgroups():
            with contextlib.suppress(KeyError):
                names[grp.getgrgid(gid).gr_name if gid >= 1000 else ''] = '(group)'
        with contextlib.suppress(KeyError):  # The system has no entry for this user id.
            user = pwd.getpwuid(os.getuid())
            places.append((user.pw_dir, '~'))
            names.update(dict.fromkeys([user.pw_name, user.pw_gecos.partition(',')[0]], '(user)'))
        for word, variables in (
            ('(user)', 'USER LOGNAME SLURM_JOB_USER'),
            (
                '(account)',
                'SLURM_JOB_ACCOUNT SBATCH_ACCOUNT SLURM_ACCOUNT SALLOC_ACCOUNT PAWSEY_PROJECT',
            ),
        ):
            names.update((environ.get(variable, ''), word) for variable in variables.split())
        paths = {
            (path, word)
            for place, word in places
            for path in (place.rstrip('/'), os.path.realpath(place or '/'))
            if path.count('/') > 1 or path == '/root'
        }
        secrets = [
            (value, REDACTED)
            for name, value in environ.items()
            if len(value) > 5
            and (mask_secrets(name + '=x') != name + '=x' or name == 'SLURM_JWT')
            and '/' not in value[:1]
        ]
        known_names = [
            (name, word)
            for name, word in names.items()
            if len(name) > 2 and name.lower() not in COMMON_NAMES
        ]
        #: [(pattern, placeholder)], in the order of replacement: a longer text precedes its parts
        self.patterns = [
            (re.compile(shape % re.escape(text)), word)
            for shape, texts in (
                ('%s', secrets),
                (r'%s(?![\w.-])', paths),
                (r'(?<![A-Za-z0-9])%s(?![A-Za-z0-9])', known_names),
            )
            for text, word in sorted(texts, key=lambda pair: -len(pair[0]))
        ]
        self.patterns += [(re.compile(pattern), word) for pattern, word in self.SHAPES]

    def __call__(self, value: Any) -> Any:
        """Return a copy of JSON data in which placeholders replace the user's data."""
        return self._replace(redact(value))

    def _replace(self, value: Any) -> Any:
        if isinstance(value, dict):
            return type(value)(
                (self._replace(key), self._replace(item)) for key, item in value.items()
            )
        if isinstance(value, (list, tuple)):
            return list(map(self._replace, value))
        for pattern, word in self.patterns if isinstance(value, str) else ():
            value = pattern.sub(word, value)
        return value


#: Names that identify nobody, because texts of this project contain them
COMMON_NAMES = (
    'root users user normal default osu mpi native pure bind hybrid opensource swap openmpi host '
    'image test none slurm nobody container lumi debian ubuntu'
).split()


# ---- reading ---------------------------------------------------------------------------------------------------------


def is_try_file(first_line: str) -> bool:
    """
    Return whether `first_line` is the first line of a report of `osu-container try`.

    Raises ValueError if the format number of the report is not TRY_FORMAT.
    """
    head, _, version = first_line.lstrip('\ufeff').rstrip().rpartition(' ')
    if head != HEAD.rpartition(' ')[0]:
        return False
    read_record(version, str(TRY_FORMAT), 'format')
    return True


def parse_parts(lines: List[str]) -> List[Tuple[Optional[str], Optional[str]]]:
    """
    Return a list with (part, series) for each line of a report file.

    part: name of the part of the report that contains the line. series: name of the approach whose
    figures the line shows, None outside of the part with figures. Both are None for a heading.
    """
    places: List[Tuple[Optional[str], Optional[str]]] = []
    part: str = 'summary'
    series: Optional[str] = None
    for line in lines:
        part_heading, series_heading = _PART.match(line), _SERIES.match(line)
        if part_heading:
            part, series = part_heading.group(1), None
        elif series_heading:
            series = series_heading.group(1)
        places.append(
            (None, None)
            if part_heading or series_heading
            else (part, series if part == 'figures' else None)
        )
    return places


def find_site_name(lines: List[str]) -> Optional[str]:
    """Return the value of the summary key 'site', None if the summary lacks the key."""
    parts = parse_parts(lines)
    values = [
        line.partition(':')[2].strip()
        for line, (part, _) in zip(lines, parts)
        if part == 'summary' and line.startswith('site:')
    ]
    return values[0] if values else None
