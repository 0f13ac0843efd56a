"""osu-container import: outputs of programs become a run."""

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
FILE is the output of programs of the OSU Micro-Benchmarks (C 5 to 7.5, Python, mpi4py's ports), of the
Intel MPI Benchmarks, or of nccl-tests. It may hold several tables, and lines of others between them.
Tables of one case are taken as repeats.

  osu-container import slurm-123.out
  osu-container import native=bare.txt hybrid=container.txt --site lumi-25.03 --nodes 2
  osu-container compare mine.txt theirs.txt     compare and report take such files as they are

What a file does not say is named, and stays unknown. The options say it for all of them.
"""


def add_arguments(parser):
    """Add the arguments of `osu-container import` to a parser."""
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
        help="what is read; NAME is what its curves are called (default: the name of the file)",
    )
    add(
        '-o',
        '--output',
        type=Path,
        metavar='DIR',
        help="folder of the run (default: a new one beside those of bench)",
    )
    add(
        '--site',
        choices=sorted(SITES),
        metavar='NAME',
        help="where it was measured, lumi-25.03 for one",
    )
    add('--nodes', type=parse_whole_number, help="on how many nodes, where a file does not say it")
    add(
        '--ranks', type=parse_whole_number, help="with how many ranks, where a file does not say it"
    )
    add(
        '--buffers',
        choices=[one for one in model.BUFFERS if one],
        metavar="'D D'",
        help="where the buffers were, where a file does not say it: H host, D device, M managed memory",
    )
    add(
        '--benchmark',
        type=_parse_benchmark,
        metavar='PROGRAM',
        help="which program printed figures whose title is not there, osu_bw for one",
    )
    add('--json', action='store_true', help="what was read, for programs")


def parse_whole_number(text):
    """Return the whole number from 1 in text. Raises ArgumentTypeError."""
    if not re.fullmatch(r'[1-9]\d{0,8}', text):
        raise argparse.ArgumentTypeError(f"{text!r}, wanted a whole number from 1")
    return int(text)


def _parse_benchmark(text):
    """Return text if it can be the name of a program. Raises ArgumentTypeError."""
    if not re.fullmatch(r'osu_\w+|IMB [\w-]+|\w+_perf', text):
        raise argparse.ArgumentTypeError(
            f"{text!r}, wanted the name of a program, such as osu_bw, 'IMB PingPong' or "
            "all_reduce_perf"
        )
    return text


def import_outputs(options):
    """Write the run and say what is in it; return the exit code."""
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
                'name': one.name,
                'case': vars(one.case),
                'programs': one.programs,
                'release': one.facts.get('release'),
                'repeats': one.repeats,
                'sizes': one.sizes,
            }
            for one in run.series
        ]
        failed = [
            {'name': one.name, 'case': vars(one.case), 'reason': one.reason} for one in run.failures
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
    for one in run.series:
        print(
            f"{one.name}: {one.case.title}: {len(one.sizes)} sizes, repeats: {one.repeats}; "
            f"{one.program_release or 'programs not known'}"
        )
    for failure in run.failures:
        print(f"{failure.name}: {failure.case.title}: no figures: {failure.reason}")
    for note in run.problems:
        print(f"* {note}")
    print(
        f"\n{folder}: {len(run.series)} curve{'s' * (len(run.series) != 1)}. To compare: osu-container compare "
        f"{shell.quote_path(folder)} OTHER"
    )
    return 0
