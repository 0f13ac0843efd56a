"""
Outputs of programs (outputs.py) as a run: in memory for compare and report, on disk for
`osu-container import`.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from osu_container.base.files import open_plain_file
from osu_container.bench import record
from osu_container.bench.results import outputs, run_files

#: Facts that the options of `osu-container import` can add: (name, value) of a Table
ADDABLE_FACTS = ('nodes', 'ranks', 'buffers')


class ConflictError(run_files.ResultsError):
    """Figures that contradict each other or what was said of them; the text names both."""


def looks_like_results(path):
    """
    Return True if a path (Path) is a folder or a results file; outputs of programs begin with
    anything but '{'.
    """
    if path.is_dir() or path.suffix == '.jsonl':
        return True
    try:
        with open_plain_file(path) as handle:
            return handle.read(64).lstrip()[:1] == b'{'
    except OSError:
        return True  # whoever reads it says why that is not possible


def parse_sources(paths):
    """
    Return [(name, Path)] of what was typed (list of str): NAME=FILE, or FILE, which is named as
    its file.
    """
    found = []
    for text in paths:
        name, equals, rest = text.partition('=')
        named = equals and name and rest and '/' not in name and not Path(text).exists()
        path = Path(rest if named else text)
        found.append((name if named else path.stem or path.name, path))
    return found


def read_measurements(sources, *, benchmark=None, extra_facts=None):
    """
    Return (entries, read, problems): lines of kind measurement (list of dict), the Outputs, what
    must be said.

    :param sources: [(name of the series (str), Path)]
    :param benchmark: str, the program where a text does not say it
    :param added: {one of ADDED: value}, where a text does not say it
    Raises OutputFailure, Conflict.
    """
    entries, read, problems, groups = [], {}, [], {}
    for name, path in sources:
        output = outputs.read_output(path, benchmark)
        if output.sha256 in read:
            raise ConflictError(
                f"{path} and {read[output.sha256].path} are the same, byte for byte: name each output once"
            )
        read[output.sha256] = output
        for table in output.tables:
            if table.benchmark is None:
                problems.append(table.reason)
                continue
            _add_facts(table, extra_facts or {})
            groups.setdefault((table.series or name, table.case), []).append(table)
        problems += _format_unknown_facts(path, output)
    for (name, _), tables in list(groups.items()):
        common = set.intersection(*(set(table.context) for table in tables))
        repeats = {}
        for table in tables:  # of one case: what differs in their command lines makes several
            differs = ' '.join(word for word in table.context if word not in common)[:200]
            table.variant = ', '.join(filter(None, (table.variant, differs)))
            repeats.setdefault(table.case, []).append(table)
        for case, some in repeats.items():
            programs = {
                _format_programs(table): table.location for table in some if table.reason is None
            }
            if len(programs) > 1:
                raise ConflictError(
                    f"{name} {case.title} is by several programs, which do not compare "
                    f"({'; '.join(f'{key}: {where}' for key, where in programs.items())}): give each a name "
                    "of its own, NAME=FILE"
                )
            entries += [
                _build_measurement(name, case, number, table)
                for number, table in enumerate(some, 1)
            ]
            if len(some) > 1:
                problems.append(
                    f"{name} {case.title} stands {len(some)} times: taken as repeats. If they differ in "
                    "something that the text does not say, give each a file and a name of its own"
                )
    return entries, list(read.values()), problems


def _format_programs(table):
    """Return the programs of a Table (str)."""
    return ' '.join(filter(None, (table.programs, table.release))) or 'programs that are not known'


def _add_facts(table, added):
    """
    Add facts (dict, see lines_of) that a Table does not say. Raises Conflict where it says
    something else.
    """
    for key, value in added.items():
        said = getattr(table, key)
        if value is None or key == 'buffers' and said == '':
            continue
        if said not in (None, value) and not table.reason:
            raise ConflictError(
                f"{table.location}: {key} {value} were asked for, and {table.benchmark} says {said}"
            )
        setattr(table, key, value)


def _build_measurement(name, case, repeat, table):
    """Return the line of kind measurement (dict) of a Table."""
    entry = {
        'module': name,
        'approach': name,
        'repeat': repeat,
        'raw': table.location,
        'typed': None,
        'case': {
            'benchmark': case.benchmark,
            'buffers': case.buffers,
            'nodes': case.nodes,
            'ranks': case.ranks,
            'variant': case.variant,
        },
    }
    if table.reason is not None:
        return dict(entry, status='failed', reason=table.reason)
    return dict(
        entry,
        status='ok',
        unit=case.unit,
        programs=table.programs,
        release=table.release,
        checked=table.is_checked,
        values={str(size): value for size, value in sorted(table.values.items())},
        zeros=table.zeros,
        comments=table.comments,
        foreign=table.foreign_lines,
        broken=table.broken_lines,
    )


def _format_unknown_facts(path, output):
    """Return what the file of an Output does not say, as notes (list of str)."""
    names = [
        name
        for name in ('programs', 'release', 'nodes', 'ranks', 'buffers')
        if any(name in table.unknown_fields for table in output.tables if table.reason is None)
    ]
    return [
        f"{path} does not say: {', '.join([*names, *['site'] * (not output.site), 'libraries'])}"
    ]


def _build_header(name, sources, read, problems, site, command=None):
    """Return the first line of an imported run (dict); see docs/benchmarks.md."""
    site = site or next((one.site for one in read if one.site), outputs.UNKNOWN)
    return {
        'run': name,
        'started': record.get_timestamp(),
        'site': site,
        'tag': 'import',
        'command': command,
        'imported': [
            {'series': series, 'file': str(path), 'sha256': one.sha256, 'bytes': one.size}
            for (series, path), one in zip(sources, read)
        ],
        'not_said': problems,
    }


def read_output_dataset(path):
    """
    Return the Dataset of an output that a user names in place of a run (str). Raises
    OutputFailure, Conflict.
    """
    sources = parse_sources([path])
    entries, found, problems = read_measurements(sources)
    header = _build_header(path, sources, found, problems, None)
    numbered = (
        (number, dict(entry, kind='measurement')) for number, entry in enumerate(entries, 2)
    )
    dataset = run_files.assemble_dataset(path, header, numbered, [])
    dataset.path, dataset.title = None, f'output {path}'
    return dataset


def write_run(folder, sources, *, site=None, benchmark=None, extra_facts=None, command=None):
    """
    Write outputs as a run into a new folder (Path) and return its Dataset.

    :param site: str, name of the site, None where it is not known; command: str, what the user
        typed
    Others as for read_measurements(). Raises OutputFailure, Conflict, ResultsError, OSError, also
    where the folder is there.
    """
    entries, found, problems = read_measurements(
        sources, benchmark=benchmark, extra_facts=extra_facts
    )
    try:
        folder.mkdir(parents=True)
    except FileExistsError as err:
        raise run_files.ResultsError(
            f"{folder} is there already, and stays as it is. Choose another name"
        ) from err
    try:
        writer = run_files.Writer(folder / run_files.RESULTS_FILE)
        header = _build_header(folder.name, sources, found, problems, site, command)
        writer.write_header(**header)
        for entry in entries:
            writer.add('measurement', **entry)
        counts = {
            status: sum(entry['status'] == status for entry in entries)
            for status in run_files.STATUS
        }
        writer.add('end', ended=header['started'], **counts)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return run_files.read_results(folder)
