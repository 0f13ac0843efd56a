"""
Plan the runs of a tag, which is a named selection of benchmark cases.

A case is a benchmark with its buffers, nodes and ranks. Each case is run with each module, or is
skipped for a recorded reason. Runs are ordered by case, and within a case by module. In this way,
results that will be compared are measured within seconds of each other: if a machine gets slower or
faster for a minute, all modules are affected alike. The first module of each case changes from
repeat to repeat, so that the order of the modules does not bias the results.
"""

from __future__ import annotations

import fnmatch
import os
import re
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from osu_container.bench import BenchError, cases
from osu_container.bench.installed_modules import ROOT_VARIABLE, Module
from osu_container.bench.results.model import (
    COMMAND_PREFIX,
    SINGLE_VALUE_BENCHMARKS,
    Case,
    is_command,
)
from osu_container.verdict import launching

if TYPE_CHECKING:
    from osu_container.bench.session import RunSpec

#: Variant of a case whose data is checked. A check writes and reads every buffer for each message,
#: which changes the state of the caches, so its figures compare only with those of checked runs.
CHECKED_VARIANT = 'data checked (-c)'
#: Buffers -> array library of the Python benchmarks, a variant of their cases, as in the published
#: figures lumi-mpi4py-2025-07
ARRAYS = {'H H': 'numpy', 'D D': 'cupy'}
#: Prefix of a GPU architecture -> name of its GPU library in option -d of the programs
ACCELERATORS = {'gfx': 'rocm', 'sm_': 'cuda'}


@dataclass(frozen=True)
class PlannedRun:
    """One run of a benchmark with a module; every repeat includes the same planned runs."""

    #: Name of the module
    module: str
    #: Name of its curve: 'native', 'hybrid', 'hybrid-c'
    series: str
    case: Case
    #: The site's launcher with its options, and osu-gpu-bind where ranks are bound to GPUs
    launch_command: tuple[str, ...]
    #: The benchmark with its arguments
    program: tuple[str, ...]
    #: Message size in bytes at which the table must end, None if the program decides
    largest_size: int | None = None
    #: Why the run is skipped, None if it is measured
    skip_reason: str | None = None
    tags: tuple[str, ...] = ()
    #: Regular expression whose group is the measured number, None to measure the time of a command
    figure_pattern: str | None = None
    #: The program compares received with sent data (-c) and prints Pass or Fail at every size
    check: bool = False
    #: The last column of the table, a percentile (-z), replaces the mean
    is_percentile: bool = False
    #: The runs of a case run at the same time, in turns
    takes_turns: bool = False

    @property
    def ranks(self) -> int:
        """Return the number of MPI ranks of the run."""
        return self.case.ranks or 0

    @property
    def name(self) -> str:
        """Return the name of the run without blanks, e.g. 'osu_bw-HH-2x1-hybrid'."""
        placement = f'{self.case.nodes}x{self.ranks // (self.case.nodes or 1)}'
        first = self.case.benchmark
        if is_command(first):  # a command may contain characters that file names cannot
            first = re.sub(r'[^\w.+=-]+', '_', first).strip('_-')[:60]
        parts = [first, self.case.buffers.replace(' ', ''), placement, self.series]
        return '-'.join(part for part in parts if part)

    @property
    def command_line(self) -> str:
        """Return the command line that a user runs after `module load`."""
        return shlex.join(self.launch_command + self.program)

    def serialize(self) -> dict[str, Any]:
        """Return this run as a dict for JSON; deserialize_run() converts the dict back."""
        return asdict(self)


def deserialize_run(entry: dict[str, Any]) -> PlannedRun:
    """Return the PlannedRun that PlannedRun.serialize() converted to the dict `entry`."""
    tuples = {key: tuple(entry[key]) for key in ('launch_command', 'program', 'tags')}
    return PlannedRun(**{**entry, **tuples, 'case': Case(**entry['case'])})


def build_proof_command(
    start: tuple[str, ...], program: tuple[str, ...], rank_proof: Path, proofs: Path
) -> list[str]:
    """
    Return a launch command that records which libraries each rank of a program loads.

    The command rank-proof starts the program on each rank and records the libraries.

    :param start: the launch command
    :param rank_proof: path of the command rank-proof
    :param proofs: folder for the records of the ranks
    """
    # rank-proof comes before osu-gpu-bind, so that only the program is bound
    binding = start[-1:] if start[-1] == 'osu-gpu-bind' else ()
    return [*start[: len(start) - len(binding)], str(rank_proof), str(proofs), *binding, *program]


def resolve_placement(name: str, site: dict[str, Any]) -> tuple[int, int]:
    """Return (number of nodes, number of ranks) of a placement on a site, e.g. of 'two-nodes'."""
    nodes, per_node = cases.PLACEMENTS[name]
    if per_node is None:
        per_node = len(site['gpu_binding']['value'] or [None])
    return nodes, nodes * per_node


def build_start_command(
    nodes: int,
    ranks: int,
    site: dict[str, Any],
    *,
    bind: bool,
    kind: str | None = None,
    folder: str | None = None,
) -> tuple[str, ...]:
    """
    Return a site's launch command for a number of ranks on a number of nodes.

    If a module sets one of the variables SLURM_MPI_TYPE, SLURM_NETWORK and PALS_PMI, the launch
    command does not repeat this setting as an option.

    :param bind: append osu-gpu-bind, which binds each rank to a GPU, if the site data map ranks to
        GPUs
    :param kind: the PMI that the MPI of the module uses
    :param folder: the working directory of the program
    """
    binding = ['osu-gpu-bind'] if bind and site['gpu_binding']['value'] else []
    return tuple(
        launching.build_launch_command(
            launching.select_launcher(site),
            nodes,
            ranks,
            folder=folder,
            unbound=bool(binding),
            step_options=site['jobs']['value']['step'],
            kind=kind,
        )
        + binding
    )


def build_program_command(
    benchmark: str,
    buffers: str,
    options: tuple[str, ...],
    site: dict[str, Any],
    *,
    check: bool = False,
) -> tuple[str, ...]:
    """
    Return the command of a benchmark with its arguments.

    :param check: add the option -c, so that the benchmark compares received data with sent data
    """
    kind = cases.BENCHMARKS[benchmark]['kind']
    words = [
        benchmark,
        *([] if benchmark in SINGLE_VALUE_BENCHMARKS else options),
        *(['-c'] if check else []),
    ]
    # A collective uses host memory on every rank unless -d names a GPU library.
    if kind in cases.COLLECTIVE:
        return tuple(words + (['-d', find_accelerator(site)] if buffers == 'D D' else []))
    return tuple(words + buffers.split())


def find_accelerator(site: dict[str, Any]) -> str:
    """
    Return the value of the benchmark option -d for a site's GPUs: 'rocm' or 'cuda'.

    The result is '' if the site has no GPUs.
    """
    gpu = site['gpu']['value'] or ''
    return next((name for start, name in ACCELERATORS.items() if gpu.startswith(start)), '')


def explain_skip(
    run_case: Case, module: Module, site: dict[str, Any], job_nodes: int, *, check: bool = False
) -> str | None:
    """Return why bench skips a benchmark case with a module, None if bench measures the case."""
    if 'D' in run_case.buffers and not site['gpu']['value']:
        return f"site {site['name']} has no GPU, but buffers {run_case.buffers} need GPU memory"
    if 'M' in run_case.buffers and find_accelerator(site) != 'cuda':
        return (
            f"managed memory (buffers M M) needs a GPU with CUDA, but the GPU architecture of site {site['name']} "
            f"is: {site['gpu']['value'] or 'no GPU'}"
        )
    if (run_case.nodes or 0) > job_nodes:
        return (
            f"the benchmark needs {run_case.nodes} nodes, but the job has {job_nodes}. Set the "
            "number of nodes with --nodes N"
        )
    if module.is_python and run_case.buffers and run_case.buffers not in ARRAYS:
        return (
            f"the Python benchmarks support only buffers {' or '.join(ARRAYS)}, not "
            f"{run_case.buffers}"
        )
    if run_case.benchmark not in module.programs:
        return f"the module has no {run_case.benchmark}"
    if check and module.is_python:
        return (
            "the Python benchmarks cannot check received data, because these programs lack the "
            "option -c"
        )
    if check and not cases.checks_data(run_case.benchmark):
        return (
            f"{run_case.benchmark} cannot check received data, because the program lacks the "
            "option -c"
        )
    if set(run_case.buffers) & {'D', 'M'}:
        return module.explain_missing_gpu_support(run_case.benchmark)
    return None


def plan_tag_runs(
    tag: str,
    modules: list[Module],
    site: dict[str, Any],
    *,
    nodes: int,
    patterns: Sequence[str] = (),
    check: bool = False,
) -> list[PlannedRun]:
    """
    Return the runs of a tag, which is a named selection of benchmarks.

    The runs are in the order of the measurements and include the skipped runs. Raises BenchError if
    the tag is unknown, if a pattern matches no run, or if all runs are skipped.

    :param nodes: number of nodes of the job
    :param patterns: shell patterns for names of runs; without patterns, all runs are returned
    :param check: whether the benchmarks compare received data with sent data
    """
    if tag not in cases.TAGS:
        raise BenchError(f"unknown tag '{tag}', expected one of {', '.join(cases.TAGS)}")
    runs_by_name: dict[str, PlannedRun] = {}
    names = name_series(modules)
    takes_turns = tag in cases.TURN_OPTIONS and all(module.has_ports for module in modules)
    for benchmark, buffers, place, options, _ in cases.TAGS[tag]:
        options = cases.TURN_OPTIONS[tag] if takes_turns else options
        count, ranks = resolve_placement(place, site)
        for kind in buffers or cases.BENCHMARKS[benchmark]['buffers']:
            largest = (
                int(options[options.index('-m') + 1].split(':')[:2][-1])
                if '-m' in options
                else None
            )
            percentile = next((word[2:] for word in options if word.startswith('-z')), '')
            for number, module in enumerate(modules):
                turn = ('--turn', f'{number}:{len(modules)}') if takes_turns else ()
                variant = [
                    ARRAYS.get(kind, '') if module.is_python else '',
                    CHECKED_VARIANT if check else '',
                    f'percentile {percentile}' if percentile else '',
                ]
                case = Case(benchmark, kind, count, ranks, ', '.join(filter(None, variant)))
                run = PlannedRun(
                    module.name,
                    names[module.name],
                    case,
                    build_start_command(count, ranks, site, bind='D' in kind, kind=module.pmi),
                    build_program_command(benchmark, kind, options + turn, site, check=check),
                    None if benchmark in SINGLE_VALUE_BENCHMARKS else largest,
                    explain_skip(case, module, site, nodes, check=check),
                    (tag,),
                    check=check,
                    is_percentile=bool(percentile),
                    takes_turns=takes_turns,
                )
                runs_by_name.setdefault(run.name, run)
    runs = list(runs_by_name.values())
    if patterns:
        unmatched = [
            pattern
            for pattern in patterns
            if not any(_matches_pattern(run.name, pattern) for run in runs)
        ]
        # One mistyped pattern among several is an error: fewer runs than intended would match.
        if unmatched:
            raise BenchError(
                f"no run of tag {tag} matches {' or '.join(unmatched)}. The first runs of this tag are: "
                f"{', '.join(run.name for run in runs[:4])}. To list all runs, use --dry-run"
                + ('. Put options before the argument --' if unmatched[0].startswith('-') else '')
            )
        runs = [
            run for run in runs if any(_matches_pattern(run.name, pattern) for pattern in patterns)
        ]
    return _require_possible_run(runs, f"bench would skip all runs of tag {tag}: ")


def plan_runs(spec: RunSpec, modules: list[Module], site: dict[str, Any]) -> list[PlannedRun]:
    """Return the planned runs of a RunSpec, which has either a tag or a user's command."""
    if spec.run:
        return plan_command_runs(spec.run, modules, site, nodes=spec.nodes)
    return plan_tag_runs(
        spec.tag, modules, site, nodes=spec.nodes, patterns=spec.patterns, check=spec.check
    )


def plan_command_runs(
    command: dict[str, Any], modules: list[Module], site: dict[str, Any], *, nodes: int
) -> list[PlannedRun]:
    """
    Return the planned runs of a user's command: one run with each module.

    Raises BenchError if no module provides the command, or if the ranks cannot be spread evenly
    over the nodes.

    :param command: dict with the keys `words` (list), `ranks` (int), `folder` (working directory of
        the command), `variant` (of the case) and `figure` (see PlannedRun.figure_pattern)
    """
    words, ranks = command['words'], command['ranks']
    if ranks % nodes:
        raise BenchError(
            f"{ranks} ranks cannot be spread evenly over {nodes} nodes. Set --ranks to a multiple "
            f"of {nodes}, or change --nodes"
        )
    names = name_series(modules)
    case = Case(COMMAND_PREFIX + shlex.join(words), '', nodes, ranks, command['variant'])
    runs = [
        PlannedRun(
            module.name,
            names[module.name],
            case,
            build_start_command(
                nodes, ranks, site, bind=True, kind=module.pmi, folder=command['folder']
            ),
            tuple(words),
            None,
            explain_missing_command(words[0], module),
            ('run',),
            command['figure'],
        )
        for module in modules
    ]
    return _require_possible_run(runs)


def _require_possible_run(runs: list[PlannedRun], problem: str = '') -> list[PlannedRun]:
    """
    Return `runs` unchanged, but raise BenchError if all runs are skipped.

    problem: first words of the error message
    """
    reasons = [run.skip_reason for run in runs]
    if all(reasons):
        raise BenchError(problem + '; '.join(dict.fromkeys(filter(None, reasons))))
    return runs


def explain_missing_command(name: str, module: Module) -> str | None:
    """Return why a module cannot run the command `name`, None if the module has the command."""
    if name in module.programs:
        return None
    path = shutil.which(name, path=module.environment.get('PATH', ''))
    root = os.path.realpath(module.environment.get(ROOT_VARIABLE, '/nonexistent'))
    if path and (not module.is_container or os.path.realpath(path).startswith(root + '/')):
        return None
    others = ' '.join(sorted(module.programs)) or 'none'
    return (
        f"module {module.name} has no command {name}, only {others}. To run another program in "
        "the image of the module, use the command NAME-exec of the module"
    )


def _matches_pattern(name: str, pattern: str) -> bool:
    """
    Return whether the name of a run matches a pattern.

    A pattern with wildcards must match the whole name. A pattern without wildcards must be a part
    of the name.
    """
    return fnmatch.fnmatchcase(name, pattern if re.search(r'[*?\[]', pattern) else f'*{pattern}*')


def name_series(modules: list[Module]) -> dict[str, str]:
    """
    Return {module name: name of the module's curve in the results}.

    The name of a curve is the approach of the module. If several modules have the same approach,
    the name of the curve is the version of the module. If several modules also have the same
    version, the name of the curve is the whole module name with '-' for '/'.
    """
    versions = [module.name.partition('/')[2] for module in modules]
    approaches = [module.approach for module in modules]
    return {
        module.name: module.approach
        if approaches.count(module.approach) == 1
        else version
        if version and versions.count(version) == 1
        else module.name.replace('/', '-')
        for module, version in zip(modules, versions)
    }


def rotate_runs(runs: list[PlannedRun], repeat: int) -> list[PlannedRun]:
    """
    Return the runs in the order of the measurements in repeat number `repeat` (from 1).

    The first module of each benchmark case changes from repeat to repeat.
    """
    by_case: dict[Case, list[PlannedRun]] = {}
    for run in runs:
        by_case.setdefault(run.case, []).append(run)
    ordered: list[PlannedRun] = []
    for group in by_case.values():
        turn = (repeat - 1) % len(group)
        ordered += group[turn:] + group[:turn]
    return ordered
