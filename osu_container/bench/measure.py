"""
Turn the output and the proof of a completed run into a line of results.jsonl.

The proof of a run lists the libraries that each rank loaded.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from osu_container.bench import record
from osu_container.bench.plan import PlannedRun
from osu_container.bench.results import model, osu_output
from osu_container.proof import judging

#: Length of the tail of the output that is searched for messages
SEARCHED_CHARACTERS = 200000


def build_measurement(
    run: PlannedRun,
    repeat: int,
    *,
    stdout: Path,
    stderr: Path,
    code: int | None,
    proofs: Path,
    expectation: dict[str, Any],
    seconds: float,
    folder: Path,
    command: str,
) -> dict[str, Any]:
    """
    Return the measurement of a completed run, as a line of results.jsonl.

    :param stdout, stderr: files below `folder` with the output of the run
    :param proofs: folder in which each rank of the run recorded the libraries that the rank loaded
    :param expectation: {'comes_from': dict, 'container': bool}, the libraries expected by the
        module
    :param folder: the folder that contains results.jsonl
    :param command: the command line as executed
    """
    text, errors = read_optional_text(stdout), read_optional_text(stderr)
    entry: dict[str, Any] = {
        'module': run.module,
        'approach': run.series,
        'case': asdict(run.case),
        'repeat': repeat,
        'typed': run.command_line,
        'command': command,
        'raw': str(stdout.relative_to(folder)),
        'errors': str(stderr.relative_to(folder)),
        'seconds': round(seconds, 3),
        'ended': record.get_timestamp(),
        'slurm': read_slurm_facts(os.environ),
    }
    problem, output = None, None
    try:
        if model.is_command(run.case.benchmark):
            value = (
                seconds
                if run.figure_pattern is None
                else extract_figure(text, run.figure_pattern, entry['raw'])
            )
            entry.update(unit=run.case.unit, values={'0': round(value, 9)})
        else:
            output = osu_output.parse(
                replace_mean(text) if run.is_percentile else text,
                benchmark=run.case.benchmark,
                source=entry['raw'],
                largest_size=run.largest_size,
                buffers=run.case.buffers,
                check=run.check,
            )
    except osu_output.OutputError as err:
        problem = str(err)
    if output:
        entry.update(
            unit=run.case.unit,
            programs=output.programs,
            release=output.release,
            checked=output.is_checked,
            comments=output.comments,
            foreign=output.foreign_lines,
            broken=output.broken_lines,
            zeros=output.zeros,
            values={str(k): v for k, v in output.values.items()},
        )
    if code not in (0, None):
        problem = f"exit code {code}" + (f"; {problem}" if problem else '')
    if problem is None:
        problem = _check_proof(entry, run, proofs, expectation)
    if problem is None:
        return dict(entry, status='ok')
    entry.pop('values', None)  # a failed run has figures only in its raw output
    return dict(entry, status='failed', reason=format_failure_reason(problem, text + '\n' + errors))


def replace_mean(text: str) -> str:
    """
    Return the output of a benchmark, with a percentile in place of the mean in each row.

    The mean is in column 2, and the percentile is in the last column.
    """
    return re.sub(r'^(\d+\s+)\S+(.*?)\s(\S+)$', r'\1\3\2', text, flags=re.M)


def extract_figure(text: str, pattern: str, source: str) -> float:
    """
    Return the last number in `text` that the regular expression `pattern` matches.

    Raises OutputError if nothing matches, or if the match is not a number above 0.

    :param pattern: regular expression with a group that matches the number
    :param source: name of the text in error messages
    """
    numbers = [match.group(1) for match in re.finditer(pattern, text, re.M)]
    if not numbers:
        raise osu_output.OutputError(
            f"{source}: nothing in {len(text.splitlines())} line(s) matches --figure '{pattern}'"
        )
    try:
        value = float(numbers[-1])
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value <= 0:
        raise osu_output.OutputError(
            f"{source}: --figure '{pattern}' found '{numbers[-1]}', expected a number above 0"
        )
    return value


def _check_proof(
    entry: dict[str, Any], run: PlannedRun, folder: Path, expectation: dict[str, Any]
) -> str | None:
    """
    Add the libraries that the ranks loaded to `entry`, a line for results.jsonl.

    Return a text on the problem if the ranks loaded other libraries than the approach expects,
    otherwise None.
    """
    judging.wait_for_files(folder, run.ranks)
    try:
        proofs = judging.read_proofs(folder, run.ranks)
    except judging.ProofError as err:
        return str(err)
    entry['proof'] = judging.merge_proofs(proofs)
    contradictions = judging.list_contradictions(
        proofs, expectation['comes_from'], expectation['container']
    )
    if not contradictions:
        return None
    shown = '; '.join(contradictions[:3]) + (
        f'; and {len(contradictions) - 3} more' if len(contradictions) > 3 else ''
    )
    return f"the ranks loaded other libraries than the approach requires: {shown}"


def format_failure_reason(problem: str, text: str) -> str:
    """
    Return `problem` with the cause and the remedy of the first known message in `text`.

    `problem` says why a run failed, and `text` is the output of the run. If `osu-container why`
    knows no message in `text`, the last line of `text` replaces the cause and the remedy.
    """
    # Only a failed run needs this import, which compiles hundreds of regular expressions.
    from osu_container.why import search

    messages = search.find_messages(text[-SEARCHED_CHARACTERS:])
    if messages:
        first = messages[0]
        return f"{problem}. {first['cause']} {first['remedy']}"
    lines = [line.strip() for line in text.splitlines() if line.strip() and line[0] != '#']
    return f"{problem}. " + (
        f"Its last line: {lines[-1][:300]}" if lines else 'It printed nothing.'
    )


def read_slurm_facts(env: Mapping[str, str]) -> dict[str, Any]:
    """
    Return the job number, partition, cluster and nodes of the current Slurm job as a dict.

    Outside of a job, `nodes` is an empty list and the other values are None.

    env: environment variables of the job
    """
    # Part of ReFrame's installation, which a machine without Slurm need not have.
    from ClusterShell.NodeSet import NodeSet

    names = {
        'job': 'SLURM_JOB_ID',
        'partition': 'SLURM_JOB_PARTITION',
        'cluster': 'SLURM_CLUSTER_NAME',
    }
    return dict(
        {key: env.get(name) for key, name in names.items()},
        nodes=list(NodeSet(env.get('SLURM_JOB_NODELIST', ''))),
    )


def read_optional_text(path: str | Path) -> str:
    """Return the text of a file, '' if the file is missing."""
    try:
        return Path(path).read_text(errors='replace')
    except OSError:
        return ''
