"""Define `osu-container import`, which turns output files of benchmarks into a run."""

from __future__ import annotations

import argparse
import json
import re
import shlex
import sys
from pathlib import Path

from osu_container.base import shell
from osu_container.bench import record
from osu_container.bench.results import imported, model, run_files, select
from osu_container.data.sites import SITES

EPILOG = """
FILE is the output of the OSU Micro-Benchmarks (C 5 to 7.5, Python, mpi4py ports), of the Intel MPI
Benchmarks, or of nccl-tests. FILE may contain several tables, and other lines between the tables.
Tables of the same case become repeats.

  osu-container import slurm-123.out
  osu-container import native=bare.txt hybrid=container.txt --site lumi-25.03 --nodes 2
  osu-container compare mine.txt theirs.txt     compare and report also read such files directly

`import` lists the facts that a file does not report. Such facts remain unknown unless the user sets
them for all files with an option.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `osu-container import` to the parser."""
    parser.epilog = EPILOG
    parser.set_defaults(
        function=import_outputs,
        prog='osu-container import',
        after_interrupt="nothing was written",
        errors=(run_files.ResultsError, select.SelectError, OSError),
    )
    add = parser.add_argument
    add(
        'files',
        nargs='+',
        metavar='[NAME=]FILE',
        help="output file of a benchmark program. NAME is the name of the curves in this file "
        "(default: the name of the file)",
    )
    add(
        '-o',
        '--output',
        type=Path,
        metavar='DIR',
        help="new folder for the run (default: a new folder in the results folder)",
    )
    add(
        '--site',
        choices=sorted(SITES),
        metavar='NAME',
        help="site of the measurement, e.g. lumi-25.03",
    )
    add(
        '--nodes',
        type=parse_whole_number,
        help="number of nodes of the measurement, if the output file does not report this number",
    )
    add(
        '--ranks',
        type=parse_whole_number,
        help="number of ranks of the measurement, if the output file does not report this number",
    )
    add(
        '--buffers',
        choices=[buffers for buffers in model.BUFFERS if buffers],
        metavar="'D D'",
        help="kind of memory of the send and receive buffers, if the output file does not report "
        "the buffers: H for host memory, D for device memory, M for managed memory",
    )
    add(
        '--benchmark',
        type=_parse_benchmark,
        metavar='PROGRAM',
        help="benchmark program that printed the output file, if the file lacks the title of the "
        "table, e.g. osu_bw",
    )
    add('--json', action='store_true', help="machine-readable output")


def parse_whole_number(text: str) -> int:
    """
    Return `text` as a whole number.

    Raises ArgumentTypeError if `text` is not a whole number of at least 1.
    """
    if not re.fullmatch(r'[1-9]\d{0,8}', text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def _parse_benchmark(text: str) -> str:
    """
    Return `text` unchanged if `text` can be the name of a benchmark.

    Otherwise ArgumentTypeError is raised.
    """
    if not re.fullmatch(r'osu_\w+|IMB [\w-]+|\w+_perf', text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not the name of a benchmark. Give a name such as osu_bw, 'IMB PingPong' "
            "or all_reduce_perf"
        )
    return text


def import_outputs(options: argparse.Namespace) -> int:
    """Convert output files of benchmarks to a run, print the results, return the exit code."""
    sources = imported.parse_sources(options.files)
    folder = options.output or select.resolve_results_folder() / record.get_timestamp().replace(
        '-', ''
    ).replace(':', '')
    run = imported.write_run(
        folder,
        sources,
        site=options.site,
        benchmark=options.benchmark,
        command=shlex.join(['osu-container', *sys.argv[1:]]),
        extra_facts={key: getattr(options, key) for key in imported.ADDABLE_FACTS},
    )
    if options.json:
        series = [
            {
                'name': entry.name,
                'case': vars(entry.case),
                'programs': entry.programs,
                'release': entry.facts.get('release'),
                'repeats': entry.repeats,
                'sizes': entry.sizes,
            }
            for entry in run.series
        ]
        failed = [
            {'name': entry.name, 'case': vars(entry.case), 'reason': entry.reason}
            for entry in run.failures
        ]
        print(
            json.dumps(
                {
                    'format': 'osu-container import',
                    'version': 1,
                    'run': run.name,
                    'folder': str(folder.absolute()),
                    'series': series,
                    'failed': failed,
                    'not_said': run.problems,
                },
                indent=1,
            )
        )
        return 0
    for entry in run.series:
        print(
            f"{entry.name}: {entry.case.title}: {len(entry.sizes)} sizes, repeats: "
            f"{entry.repeats}; {entry.program_release or 'unknown programs'}"
        )
    for failure in run.failures:
        print(f"{failure.name}: {failure.case.title}: no results: {failure.reason}")
    for note in run.problems:
        print(f"* {note}")
    print(
        f"\n{folder}: {len(run.series)} curve{'s' * (len(run.series) != 1)}. To compare: "
        f"osu-container compare {shell.quote_path(folder)} OTHER"
    )
    return 0
