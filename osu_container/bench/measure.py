"""
One run that has ended: its output, its ranks' proof and, if it failed, the reason -> a line of
results.jsonl.
"""

from __future__ import annotations

import math
import os
import re
from dataclasses import asdict
from pathlib import Path

from osu_container.bench import record
from osu_container.bench.results import model, osu_output
from osu_container.proof import judging

#: Characters of output that are searched for known messages, from the end
SEARCHED_CHARACTERS = 200000


def build_measurement(
    run, repeat, *, stdout, stderr, code, proofs, expectation, seconds, folder, command, slurm=None
):
    """
    Return the measurement (dict, a line of results.jsonl) of a run that has ended.

    :param run: plan.Run; repeat: int
    :param stdout, stderr: Path, what it printed; kept files, below folder (Path of the run)
    :param code: int or None, its exit code
    :param proofs: Path, folder in which its ranks left what they loaded
    :param promise: {'comes_from': dict, 'container': bool} of its module
    :param seconds: float, how long it took; command: str, the line as it was run
    :param slurm: dict as read_slurm_facts() gives it, None: those of this process
    """
    text, errors = read_optional_text(stdout), read_optional_text(stderr)
    entry = {
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
        'slurm': slurm or read_slurm_facts(os.environ),
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
                text,
                benchmark=run.case.benchmark,
                source=entry['raw'],
                largest_size=run.largest_size,
                buffers=run.case.buffers,
                check=run.check,
            )
    except osu_output.TableError as err:
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
    entry.pop(
        'values', None
    )  # numbers of a run that is not what it should be are in its raw output only
    return dict(entry, status='failed', reason=format_failure_reason(problem, text + '\n' + errors))


def extract_figure(text, pattern, source):
    """
    Return the number (float) that a user's command printed, the last one if there are several.

    :param text: str, what it printed; pattern: str, regular expression whose group is the number
    :param source: str, where the text is from, for messages
    Raises OutputError if it is not there, or is no number above 0.
    """
    found = [one.group(1) for one in re.finditer(pattern, text, re.M)]
    if not found:
        raise osu_output.TableError(
            f"{source}: nothing in {len(text.splitlines())} line(s) fits --figure '{pattern}'"
        )
    try:
        value = float(found[-1])
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value <= 0:
        raise osu_output.TableError(
            f"{source}: --figure '{pattern}' found '{found[-1]}', wanted a number above 0"
        )
    return value


def _check_proof(entry, run, folder, expectation):
    """
    Add what the ranks loaded to entry; return what is wrong with it (str), None if it is as
    promised.
    """
    judging.wait_for_files(folder, run.case.ranks)
    try:
        proofs = judging.read_proofs(folder, run.case.ranks)
    except judging.ProofError as err:
        return str(err)
    entry['proof'] = judging.merge_proofs(proofs)
    broken = judging.list_contradictions(
        proofs, expectation['comes_from'], expectation['container']
    )
    if not broken:
        return None
    shown = '; '.join(broken[:3]) + (f'; and {len(broken) - 3} more' if len(broken) > 3 else '')
    return f"it did not run what it promises: {shown}"


def format_failure_reason(problem, text):
    """
    Return why a run failed (str): what was seen, then cause and remedy of the messages in its
    output that are known.

    :param problem: str, what was seen; text: str, what it printed
    """
    from osu_container.why import (
        search,  # hundreds of regular expressions: a run that ends well needs none
    )

    known = search.find_messages(text[-SEARCHED_CHARACTERS:])
    if known:
        first = known[0]
        return f"{problem}. {first['cause']} {first['remedy']}"
    last = [one.strip() for one in text.splitlines() if one.strip() and not one.startswith('#')][
        -1:
    ]
    return f"{problem}. " + (f"Its last words: {last[0][:300]}" if last else 'It printed nothing.')


def read_slurm_facts(env):
    """
    Return what Slurm says of the job that env (dict) belongs to: job, partition, cluster (str or
    None), nodes (list of str, their names; [] outside of a job).
    """
    from ClusterShell.NodeSet import (
        NodeSet,  # comes with ReFrame; a machine without Slurm need not have it
    )

    names = {
        'job': 'SLURM_JOB_ID',
        'partition': 'SLURM_JOB_PARTITION',
        'cluster': 'SLURM_CLUSTER_NAME',
    }
    return dict(
        {key: env.get(name) for key, name in names.items()},
        nodes=list(NodeSet(env.get('SLURM_JOB_NODELIST', ''))),
    )


def read_optional_text(path):
    """Return the text of a file, '' if it is missing."""
    try:
        return Path(path).read_text(errors='replace')
    except OSError:
        return ''
