"""
Turn output files of benchmarks into a run; outputs.py reads the output files.

The commands compare and report use such a run in memory. The command `osu-container import` writes
the run to disk.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from osu_container.base.files import name_file_errors, open_plain_file
from osu_container.bench.results import model, outputs, run_files
from osu_container.bench.results.osu_output import BenchmarkTable
from osu_container.data.records import RESULTS, RESULTS_VERSION

#: Fields of a BenchmarkTable that options of `osu-container import` can set
ADDABLE_FACTS = ('nodes', 'ranks', 'buffers')


class ConflictError(run_files.ResultsError):
    """
    Results in output files contradict each other or contradict the user's options.

    The text of the error names both sides of the conflict.
    """


def looks_like_results(path: Path) -> bool:
    """
    Return whether `path` is the folder or the results file of a run, not program output.

    A results file begins with '{', but program output does not.
    """
    if path.is_dir() or path.suffix == '.jsonl':
        return True
    try:
        with open_plain_file(path) as handle:
            return handle.read(64).lstrip()[:1] == b'{'
    except OSError:
        return True  # reading the file as results reports the error


def parse_sources(paths: list[str]) -> list[tuple[str, Path]]:
    """
    Return (name, path) for each command-line argument of the form NAME=FILE or FILE.

    If an argument has no NAME, the name is the file name without its extension.
    """
    sources = []
    for text in paths:
        name, equals, rest = text.partition('=')
        has_name = equals and name and rest and '/' not in name and not Path(text).exists()
        path = Path(rest if has_name else text)
        sources.append((name if has_name else path.stem or path.name, path))
    return sources


def read_measurements(
    sources: list[tuple[str, Path]],
    *,
    benchmark: str | None = None,
    extra_facts: Mapping[str, Any] | None = None,
) -> tuple[list[dict[str, Any]], list[outputs.Output], list[str]]:
    """
    Read output files; return (measurements, output files, notes for the user).

    The measurements are lines of results.jsonl of the kind `measurement`. Raises NoFiguresError or
    ConflictError if the files cannot be imported.

    :param sources: (name of the curves, path) of each output file
    :param benchmark: the program of all tables whose title is missing or unknown
    :param extra_facts: {one of ADDABLE_FACTS: value} for facts that an output file does not report
    """
    entries: list[dict[str, Any]] = []
    outputs_by_hash: dict[str, outputs.Output] = {}
    problems: list[str] = []
    groups: dict[tuple[str, model.Case], list[BenchmarkTable]] = {}
    for name, path in sources:
        output = outputs.read_output(path, benchmark)
        if output.sha256 in outputs_by_hash:
            raise ConflictError(
                f"{path} and {outputs_by_hash[output.sha256].path} have the same content. Name "
                "each output file only once"
            )
        outputs_by_hash[output.sha256] = output
        for table in output.tables:
            if table.benchmark is None:
                problems.append(table.reason or '')
                continue
            _add_facts(table, extra_facts or {})
            groups.setdefault((table.series or name, table.case), []).append(table)
        problems += _format_unknown_facts(path, output)
    for (name, _), tables in list(groups.items()):
        common = set.intersection(*(set(table.context) for table in tables))
        repeats: dict[model.Case, list[BenchmarkTable]] = {}
        for table in tables:  # different command lines are different cases
            differences = ' '.join(word for word in table.context if word not in common)[:200]
            table.variant = ', '.join(filter(None, (table.variant, differences)))
            repeats.setdefault(table.case, []).append(table)
        for case, same_case_tables in repeats.items():
            programs = {
                _format_programs(table): table.location
                for table in same_case_tables
                if table.reason is None
            }
            if len(programs) > 1:
                raise ConflictError(
                    f"{name} {case.title} has results of several programs, and these results "
                    "cannot be compared "
                    f"({'; '.join(f'{key}: {place}' for key, place in programs.items())}). Give "
                    "the output file of each program a different name: NAME=FILE"
                )
            entries += [
                _build_measurement(name, case, number, table)
                for number, table in enumerate(same_case_tables, 1)
            ]
            if len(same_case_tables) > 1:
                problems.append(
                    f"{name} {case.title} has {len(same_case_tables)} tables, which are imported "
                    "as repeats of a single measurement. If the tables are different measurements, "
                    "put each table into a separate file, and give each file a name: NAME=FILE"
                )
    return entries, list(outputs_by_hash.values()), problems


def _format_programs(table: BenchmarkTable) -> str:
    return ' '.join(filter(None, (table.programs, table.release))) or 'unknown programs'


def _add_facts(table: BenchmarkTable, facts: Mapping[str, Any]) -> None:
    """
    Add the user's facts to a table if the table lacks these facts.

    Raises ConflictError if a fact contradicts the table.
    """
    for key, value in facts.items():
        reported = getattr(table, key)
        if value is None or key == 'buffers' and reported == '':
            continue
        if reported not in (None, value) and not table.reason:
            raise ConflictError(
                f"{table.location}: --{key} {value} contradicts the output of {table.benchmark}: "
                f"{reported}"
            )
        setattr(table, key, value)


def _build_measurement(
    name: str, case: model.Case, repeat: int, table: BenchmarkTable
) -> dict[str, Any]:
    """Return a line of results.jsonl (kind `measurement`) with the values of a table."""
    entry: dict[str, Any] = {
        'kind': 'measurement',
        'module': name,
        'approach': name,
        'repeat': repeat,
        'raw': table.location,
        'typed': None,
        'case': vars(case),
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
        values=table.values,
        zeros=table.zeros,
        comments=table.comments,
        foreign=table.foreign_lines,
        broken=table.broken_lines,
    )


def _format_unknown_facts(path: Path, output: outputs.Output) -> list[str]:
    """Return notes on missing facts and on unread columns of an output file."""
    names = [
        name
        for name in ('programs', 'release', 'nodes', 'ranks', 'buffers')
        if any(name in table.unknown_fields for table in output.tables if table.reason is None)
    ]
    titles = dict.fromkeys(title for table in output.tables for title in table.unread_columns)
    unread = [title for title in titles if title not in ('Validation', '#repetitions')]
    return [
        f"{path} does not report: {', '.join([*names, *['site'] * (not output.site), 'libraries'])}"
    ] + [f"{path}: import does not read the columns: {', '.join(unread)}"] * bool(unread)


def _build_header(
    name: str,
    sources: list[tuple[str, Path]],
    outputs_read: list[outputs.Output],
    problems: list[str],
    site: str | None,
    command: str | None = None,
) -> dict[str, Any]:
    """Return the first line of results.jsonl of an imported run (docs/benchmarks.md)."""
    from osu_container.bench import record  # slow to import, and compare rarely needs it

    site = site or next((output.site for output in outputs_read if output.site), outputs.UNKNOWN)
    return {
        'kind': 'run',
        'format': RESULTS,
        'version': RESULTS_VERSION,
        'run': name,
        'started': record.get_timestamp(),
        'site': site,
        'tag': 'import',
        'command': command,
        'imported': [
            {'series': series, 'file': str(path), 'checksum': output.sha256, 'bytes': output.size}
            for (series, path), output in zip(sources, outputs_read)
        ],
        'not_said': problems,
    }


def read_output_dataset(path: str) -> model.Dataset:
    """
    Return the dataset of an output file that a user names instead of a run.

    Raises NoFiguresError or ConflictError if the output file cannot be read.
    """
    sources = parse_sources([path])
    entries, outputs_read, problems = read_measurements(sources)
    header = _build_header(path, sources, outputs_read, problems, None)
    dataset = run_files.assemble_dataset(Path(path), header, enumerate(entries, 2), [])
    dataset.path, dataset.title = None, f'output {path}'
    return dataset


def write_run(
    folder: Path,
    sources: list[tuple[str, Path]],
    *,
    site: str | None,
    benchmark: str | None,
    extra_facts: Mapping[str, Any],
    command: str,
) -> model.Dataset:
    """
    Write output files of benchmarks as a run into the folder `folder`; return the dataset.

    Raises ResultsError if the folder exists. Raises NoFiguresError, ConflictError or OSError if the
    output files cannot be imported.

    :param site: name of the site, None if the site is unknown
    :param command: the command line of the user

    The other parameters are described at read_measurements().
    """
    entries, outputs_read, problems = read_measurements(
        sources, benchmark=benchmark, extra_facts=extra_facts
    )
    try:
        folder.mkdir(parents=True)
    except FileExistsError as err:
        raise run_files.ResultsError(
            f"the folder {folder} exists and is not overwritten. Choose another folder with --output DIR"
        ) from err
    path = folder / run_files.RESULTS_FILE
    try:
        header = _build_header(folder.name, sources, outputs_read, problems, site, command)
        counts = Counter(entry['status'] for entry in entries)
        end = {
            'kind': 'end',
            'ended': header['started'],
            **{status: counts[status] for status in run_files.STATUS},
        }
        written = []
        with name_file_errors(path), open(path, 'xb') as handle:
            for entry in (header, *entries, end):
                redacted, line = run_files.encode_entry(entry)
                handle.write(line)
                written.append(redacted)
            handle.flush()
            os.fsync(handle.fileno())
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return run_files.assemble_dataset(path, written[0], enumerate(written[1:], 2), [])
