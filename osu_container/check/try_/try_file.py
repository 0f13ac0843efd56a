"""
The text that `osu-container try` leaves, to be attached to an issue: how it is written, and how
other commands read it.

    # osu-container try, format 1
    site: lumi-25.03
    ==== figures ====
    ---- hybrid ----
    $ srun -N2 -n2 osu_bw H H
    # OSU MPI Bandwidth Test v7.5

compare, report and import take the figures of each approach (results/outputs.py). Its last part is
a site file. Nothing in it says who the user is: see Discretion.

Python 3.6 and its standard library only.
"""

import grp
import os
import pwd
import re
from collections import OrderedDict

from osu_container.base.terminal import REDACTED, SECRET_NAME, escape_text, redact_secrets

HEAD = '# osu-container try, format 1'
#: Bytes of a file, and of each part; what is longer loses its middle
LIMIT = 200000
#: A site file of the system, as `osu-container discover -o` writes it: whole or not there
SITE_PART = 'site'
PARTS = OrderedDict(
    [
        ('summary', 8000),
        ('errors', 30000),
        ('verdict', 25000),
        ('figures', 50000),
        ('proof', 35000),
        ('facts', 12000),
        (SITE_PART, 38000),
    ]
)
_PART, _SERIES = re.compile(r'==== ([\w ]+) ====\s*$'), re.compile(r'---- ([\w.-]+) ----\s*$')
#: What a program prints that would be a head line of ours
_FORGED = re.compile(r'^(?====|----)', re.M)


class TryFile(object):
    """The parts of a file while they come in."""

    def __init__(self, path, redactor):
        """path: str, of the file; discretion: Discretion."""
        self.path, self.redactor = path, redactor
        self.parts = OrderedDict((name, []) for name in PARTS)

    def add(self, part, text, series=None):
        """Add text (str) to a part (str); series: str, of whose figures it is."""
        self.parts[part].append(
            (series, _FORGED.sub('| ', escape_text(self.redactor(text)).strip('\n')))
        )

    def render(self):
        """Return the file (str)."""
        lines = [HEAD]
        for name, limit in PARTS.items():
            blocks = []
            for series in OrderedDict.fromkeys(series for series, _ in self.parts[name]):
                blocks += ['---- %s ----' % series] * bool(series)
                blocks += [text for other, text in self.parts[name] if other == series]
            text = '\n'.join(blocks)
            if name == SITE_PART and len(text.encode('utf-8')) > limit:
                text = 'left out: it has more than %d bytes' % limit
            lines += [] if name == 'summary' else ['', '==== %s ====' % name]
            lines.append(cut_middle(text, limit) or 'nothing')
        return '\n'.join(lines) + '\n'


def cut_middle(text, limit):
    """
    Return text (str), or its beginning and end where it has more bytes than limit (int), and
    what was left out.
    """
    data, room = text.encode('utf-8'), limit - 100
    if len(data) <= limit:
        return text
    first, last = (
        data[: room * 2 // 3].rpartition(b'\n')[0],
        data[-(room // 3) :].partition(b'\n')[2],
    )
    left_out = '[%d bytes left out here: %d are the most]' % (
        len(data) - len(first) - len(last),
        limit,
    )
    return '\n'.join([first.decode('utf-8'), left_out, last.decode('utf-8')])


class Redactor(object):
    """
    Takes out of a text who the user is, and what opens doors: names, accounts, projects,
    folders, tokens.
    """

    #: What begins with the folder of a user or project, on the systems of data/sites
    FOLDERS = (
        r'/(?:home|users|homes|project|projappl|scratch|flash|ccs/(?:home|proj)|lustre/orion|global/homes/\w|'
        r'(?:global/cfs|cfs)/cdirs|pscratch/sd/\w|software/projects|capstor/(?:scratch|store)/\w+|iopsstor/\w+/\w+|'
        r'pfs/lustre\w*/(?:users|projappl|scratch|project|flash))/'
    )
    #: project_465000000 of LUMI; words of GitHub, GitLab, Hugging Face, AWS, JSON web tokens, keys;
    #: addresses of people
    SHAPES = [
        (r'\bproject_\d+', '(project)'),
        (FOLDERS + r'(?:\(\w+\)|[\w.~-]+)', '(folder)'),
        (r'\b(?:gh[pousr]_|github_pat_|glpat-|hf_|AKIA|xox[abp]-)[\w-]{8,}', REDACTED),
        (r'\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?', REDACTED),
        (r'(?i)\b(bearer|basic) [\w.~+/=-]{8,}', REDACTED),
        (r'-----BEGIN [A-Z ]*KEY-----[\s\S]*?(?:-----END [A-Z ]*KEY-----|\Z)', REDACTED),
        (r'\b[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\b', '(address)'),
    ]

    def __init__(self, environ, folders=()):
        """
        environ: dict, the variables of the user; folders: [(path, what stands for it)] of str,
        others of ours.
        """
        paths, names = list(folders), {}
        for name in (
            'HOME',
            'EBU_USER_PREFIX',
            'MYSOFTWARE',
            'MYSCRATCH',
            'SCRATCH',
            'TMPDIR',
            'SLURM_SUBMIT_DIR',
            'PWD',
        ):
            paths.append((environ.get(name, ''), '~' if name == 'HOME' else '$' + name))
        try:
            mine = pwd.getpwuid(os.getuid())
            paths.append((mine.pw_dir, '~'))
            names.update(dict.fromkeys([mine.pw_name, mine.pw_gecos.partition(',')[0]], '(user)'))
        except KeyError:  # nobody knows this user's number
            pass
        for name in ('USER', 'LOGNAME', 'SLURM_JOB_USER'):
            names[environ.get(name, '')] = '(user)'
        for name in (
            'SLURM_JOB_ACCOUNT',
            'SBATCH_ACCOUNT',
            'SLURM_ACCOUNT',
            'SALLOC_ACCOUNT',
            'PAWSEY_PROJECT',
        ):
            names[environ.get(name, '')] = '(account)'
        for number in os.getgroups():
            try:
                names.setdefault(
                    grp.getgrgid(number).gr_name, '(group)'
                ) if number >= 1000 else None
            except KeyError:
                pass
        paths = [
            (one, word)
            for path, word in paths
            for one in (path.rstrip('/'), os.path.realpath(path or '/'))
        ]
        paths = sorted(
            {(path, word) for path, word in paths if path.count('/') > 1 or path == '/root'},
            key=lambda pair: -len(pair[0]),
        )
        secrets = [
            value
            for name, value in environ.items()
            if len(value) > 5
            and (SECRET_NAME.fullmatch(name) or name == 'SLURM_JWT')
            and '/' not in value[:1]
        ]
        #: [(compiled, what stands for it)], in their order
        self.patterns = [
            (re.compile(re.escape(value)), REDACTED)
            for value in sorted(secrets, key=len, reverse=True)
        ]
        self.patterns += [
            (re.compile(re.escape(path) + r'(?![\w.-])'), word) for path, word in paths
        ]
        self.patterns += [
            (re.compile(r'(?<![A-Za-z0-9])%s(?![A-Za-z0-9])' % re.escape(name)), word)
            for name, word in sorted(names.items(), key=lambda pair: -len(pair[0]))
            if len(name) > 2 and name.lower() not in COMMON_NAMES
        ]
        self.patterns += [(re.compile(pattern), word) for pattern, word in self.SHAPES]

    def __call__(self, value):
        """Return value (data of JSON) without that."""
        if isinstance(value, dict):
            return type(value)((self(key), self(one)) for key, one in redact_secrets(value).items())
        if isinstance(value, (list, tuple)):
            return [self(one) for one in value]
        if not isinstance(value, str):
            return value
        value = redact_secrets(value)
        for pattern, word in self.patterns:
            value = pattern.sub(lambda _, word=word: word, value)
        return value


#: Names that say nothing of anybody, and that texts of this project have
COMMON_NAMES = (
    'root',
    'users',
    'user',
    'normal',
    'default',
    'osu',
    'mpi',
    'native',
    'pure',
    'bind',
    'hybrid',
    'opensource',
    'swap',
    'openmpi',
    'host',
    'image',
    'test',
    'none',
    'slurm',
    'nobody',
    'container',
    'lumi',
    'debian',
    'ubuntu',
)


# ---- reading ---------------------------------------------------------------------------------------------------------


def is_try_file(text):
    """Return whether text (str, the beginning will do) is that of such a file."""
    return text.lstrip('\ufeff').startswith(HEAD.rpartition(' ')[0])


def parse_parts(lines):
    """
    Return [(part, series)] of lines (list of str) of a file: in which part each stands, and of
    whose figures it is.

    Both None for a head line, and series for what is no figure.
    """
    found, part, series = [], 'summary', None
    for line in lines:
        heads = _PART.match(line), _SERIES.match(line)
        if heads[0]:
            part, series = heads[0].group(1), None
        elif heads[1]:
            series = heads[1].group(1)
        found.append((None, None) if any(heads) else (part, series if part == 'figures' else None))
    return found


def find_summary_field(lines, key):
    """
    Return what the summary in lines (list of str) says of a key (str), 'site' for one; None
    where nothing.
    """
    parts = parse_parts(lines)
    found = [
        line.partition(':')[2].strip()
        for line, (part, _) in zip(lines, parts)
        if part == 'summary' and line.startswith(key + ':')
    ]
    return found[0] if found else None
