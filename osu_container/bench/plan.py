"""
What is run: every case of a tag with every module, and the exact line that starts each; or why one
is left out.

The order is that of the runs: case by case, and within a case module by module, so that what is
compared was measured within seconds of each other. A machine that gets slower or faster for a
minute then changes all modules alike. Each repeat begins with another module, so that none always
follows the same neighbour.
"""

from __future__ import annotations

import fnmatch
import os
import re
import shlex
import shutil
from dataclasses import asdict, dataclass, field

from osu_container.bench import BenchError, cases
from osu_container.bench.installed_modules import ROOT_VARIABLE
from osu_container.bench.results.model import (
    COMMAND_PREFIX,
    SINGLE_VALUE_BENCHMARKS,
    Case,
    is_command,
)
from osu_container.verdict import launching

#: What is said of a case whose data is checked: that writes and reads every buffer anew for each
#: message, which a network sees in other caches, so its figures are no others'
CHECKED_VARIANT = 'data checked (-c)'
#: What the buffers of the Python benchmarks are: their figures are no others' (lumi-mpi4py-2025-07
#: is named alike)
ARRAYS = {'H H': 'numpy', 'D D': 'cupy'}
#: What the programs call the GPU library of a site, by how the architecture's name begins; for the
#: option -d
ACCELERATORS = {'gfx': 'rocm', 'sm_': 'cuda'}


@dataclass(frozen=True)
class PlannedRun:
    """
    One run of a benchmark under a module, the same in every repeat.

    module   name of the module; series: what its figures are called ('native', 'hybrid', 'hybrid-c')
    case     Case
    options  arguments of the program, before the buffers
    start    the site's launcher with its options, and the command that binds ranks to GPUs where there is one (tuple
             of str)
    program  the benchmark with its arguments (tuple of str)
    largest  message in bytes at which the table must end, None where the program decides
    skip     why it is left out, None if it is run
    tags     set of str
    figure   regular expression whose group is the number, for a command of a user's; None: it is the time that it takes
    check    the program compares what arrives with what was sent (-c), and says Pass or Fail at every size
    """

    module: str
    series: str
    case: Case
    launch_command: tuple
    program: tuple
    largest_size: int | None = None
    skip_reason: str | None = None
    tags: tuple = field(default=())
    figure_pattern: str | None = None
    check: bool = False

    @property
    def name(self):
        """Return a name without blanks (str), the same in every repeat: 'osu_bw-HH-2x1-hybrid'."""
        where = f'{self.case.nodes}x{self.case.ranks // self.case.nodes}'
        first = self.case.benchmark
        if is_command(first):  # of the whole command what fits into names of files
            first = re.sub(r'[^\w.+=-]+', '_', first).strip('_-')[:60]
        parts = [first, self.case.buffers.replace(' ', ''), where, self.series]
        return '-'.join(part for part in parts if part)

    @property
    def command_line(self):
        """Return the command as a user types it after `module load` (str)."""
        return shlex.join(self.launch_command + self.program)

    def serialize(self):
        """Return it as a dict for JSON; deserialize_run() reads it back."""
        return asdict(self)


def deserialize_run(entry):
    """Return the Run of a dict that Run.entry() made."""
    return PlannedRun(
        entry['module'],
        entry['series'],
        Case(**entry['case']),
        tuple(entry['launch_command']),
        tuple(entry['program']),
        entry['largest_size'],
        entry['skip_reason'],
        tuple(entry['tags']),
        entry.get('figure_pattern'),
        entry.get('check', False),
    )


def build_proof_command(start, program, rank_proof, proofs):
    """
    Return the command (list of str) that starts a program under rank-proof.

    :param start, program: as for Run; rank_proof: Path of the command; proofs: Path, folder for
        what the ranks loaded
    """
    binding = start[-1:] if start[-1] == 'osu-gpu-bind' else ()  # of the program, not of the proof
    return [*start[: len(start) - len(binding)], str(rank_proof), str(proofs), *binding, *program]


def resolve_placement(name, site):
    """Return (nodes, ranks) of a placement (str) on a site (dict, entry of the site data)."""
    nodes, per_node = cases.PLACEMENTS[name]
    if per_node is None:
        per_node = len(site['gpu_binding']['value'] or [None])
    return nodes, nodes * per_node


def build_start_command(nodes, ranks, site, *, bind, kind=None, folder=None):
    """
    Return the site's launcher with its options (tuple of str) for ranks on nodes of a site.

    What a module chooses by a variable is not here (SLURM_MPI_TYPE, SLURM_NETWORK, PALS_PMI).
    :param bind: bool, put the command in front that brings ranks next to their GPU, where the site
        has a map of them
    :param kind: str or None, of PMI that the module's MPI wants; folder: str or None, where the
        program runs
    """
    behind = ['osu-gpu-bind'] if bind and site['gpu_binding']['value'] else []
    return tuple(
        launching.build_launch_command(
            launching.select_launcher(site),
            nodes,
            ranks,
            folder=folder,
            unbound=bool(behind),
            step_options=site['jobs']['value']['step'],
            kind=kind,
        )
        + behind
    )


def build_program_command(benchmark, buffers, options, site, *, check=False):
    """
    Return the benchmark with its arguments (tuple of str). check: bool, it is to compare what
    arrives.
    """
    kind = cases.BENCHMARKS[benchmark]['kind']
    words = [
        benchmark,
        *([] if benchmark in SINGLE_VALUE_BENCHMARKS else options),
        *(['-c'] if check else []),
    ]
    if (
        kind in cases.COLLECTIVE
    ):  # they have the same buffers on every rank, host memory unless -d says otherwise
        return tuple(words + (['-d', find_accelerator(site)] if buffers == 'D D' else []))
    return tuple(words + buffers.split())


def find_accelerator(site):
    """
    Return what the option -d of the programs calls the GPUs of a site (dict); '' where it has
    none.
    """
    gpu = site['gpu']['value'] or ''
    return next((name for start, name in ACCELERATORS.items() if gpu.startswith(start)), '')


def explain_skip(run_case, module, site, nodes_there, *, check=False):
    """
    Return why a case is left out (str), None if it is run.

    :param module: modules.Module; nodes_there: int, how many nodes the job has
    :param check: bool, its data is to be checked
    """
    if 'D' in run_case.buffers and not site['gpu']['value']:
        return f"site {site['name']} has no GPU for buffers {run_case.buffers}"
    if 'M' in run_case.buffers and find_accelerator(site) != 'cuda':
        return f"managed memory (M M) is CUDA's; site {site['name']} has {site['gpu']['value'] or 'no GPU'}"
    if run_case.nodes > nodes_there:
        return f"wants {run_case.nodes} nodes, the job has {nodes_there} (--nodes)"
    if module.is_python and run_case.buffers and run_case.buffers not in ARRAYS:
        return f"the Python benchmarks have buffers {' or '.join(ARRAYS)}, not {run_case.buffers}"
    if run_case.benchmark not in module.programs:
        return f"the module has no {run_case.benchmark}"
    if check and module.is_python:
        return "the Python benchmarks cannot check their data (they have no -c)"
    if check and not cases.checks_data(run_case.benchmark):
        return f"{run_case.benchmark} cannot check its data (it has no -c)"
    if set(run_case.buffers) & {'D', 'M'}:
        return module.explain_missing_gpu_support(run_case.benchmark)
    return None


def plan_tag_runs(tag, modules, site, *, nodes, patterns=(), check=False):
    """
    Return the runs (list of Run) of a tag, in order, those included that are left out.

    :param tag: str, key of cases.TAGS
    :param modules: list of modules.Module; site: dict, their site
    :param nodes: int, how many nodes the job has
    :param patterns: keep the runs whose name fits one of these shell patterns (list of str), all if
        it is empty
    :param check: bool, the programs compare what arrives with what was sent
    Raises BenchError if the tag is unknown, a pattern fits no run, or no run is left.
    """
    if tag not in cases.TAGS:
        raise BenchError(f"unknown tag '{tag}'; known tags: {', '.join(cases.TAGS)}")
    runs, names = {}, name_series(modules)  # name of a run -> Run
    for benchmark, buffers, place, options, _ in cases.TAGS[tag]:
        count, ranks = resolve_placement(place, site)
        for kind in buffers or cases.BENCHMARKS[benchmark]['buffers']:
            largest = int(options[options.index('-m') + 1]) if '-m' in options else None
            for module in modules:
                variant = [
                    ARRAYS.get(kind, '') if module.is_python else '',
                    CHECKED_VARIANT if check else '',
                ]
                case = Case(benchmark, kind, count, ranks, ', '.join(filter(None, variant)))
                run = PlannedRun(
                    module.name,
                    names[module.name],
                    case,
                    build_start_command(count, ranks, site, bind='D' in kind, kind=module.pmi),
                    build_program_command(benchmark, kind, options, site, check=check),
                    None if benchmark in SINGLE_VALUE_BENCHMARKS else largest,
                    explain_skip(case, module, site, nodes, check=check),
                    (tag,),
                    check=check,
                )
                runs.setdefault(run.name, run)
    runs = list(runs.values())
    if patterns:
        strange = [
            pattern
            for pattern in patterns
            if not any(_matches_pattern(run.name, pattern) for run in runs)
        ]
        if (
            strange
        ):  # of several too: a slip beside a right name would measure less, or more, than was meant
            raise BenchError(
                f"no run of tag {tag} fits {' or '.join(strange)}; its runs are named "
                f"{', '.join(run.name for run in runs[:4])}, ... (--dry-run lists all)"
                + ('. Options stand in front of --' if strange[0].startswith('-') else '')
            )
        runs = [
            run for run in runs if any(_matches_pattern(run.name, pattern) for pattern in patterns)
        ]
    if not any(run.skip_reason is None for run in runs):
        raise BenchError(
            f"nothing of tag {tag} can be run: "
            + '; '.join(dict.fromkeys(run.skip_reason for run in runs))
        )
    return runs


def plan_runs(wanted, modules, site):
    """
    Return the runs (list of Run) of what is wanted (session.Wanted): those of its tag, or of a
    user's command.
    """
    if wanted.run:
        return plan_command_runs(wanted.run, modules, site, nodes=wanted.nodes)
    return plan_tag_runs(
        wanted.tag, modules, site, nodes=wanted.nodes, patterns=wanted.patterns, check=wanted.check
    )


def plan_command_runs(what, modules, site, *, nodes):
    """
    Return the runs (list of Run) of a command of a user's, one under each module.

    :param what: dict: words (list of str), ranks (int), folder (str, where it runs), variant (of
        the case, says what is measured), figure (see Run)
    :param modules: list of modules.Module; site: dict, their site; nodes: int
    Raises BenchError if no module has the command, or the ranks do not fit the nodes.
    """
    words, ranks = what['words'], what['ranks']
    if ranks % nodes:
        raise BenchError(
            f"{ranks} ranks on {nodes} nodes: the same number on every node is wanted. Give --ranks a "
            f"multiple of {nodes}, or other --nodes"
        )
    names = name_series(modules)
    case = Case(COMMAND_PREFIX + shlex.join(words), '', nodes, ranks, what['variant'])
    runs = [
        PlannedRun(
            module.name,
            names[module.name],
            case,
            build_start_command(
                nodes, ranks, site, bind=True, kind=module.pmi, folder=what['folder']
            ),
            tuple(words),
            None,
            explain_missing_command(words[0], module),
            ('run',),
            what['figure'],
        )
        for module in modules
    ]
    if not any(run.skip_reason is None for run in runs):
        raise BenchError('; '.join(dict.fromkeys(run.skip_reason for run in runs)))
    return runs


def explain_missing_command(name, module):
    """
    Return why a command (str) is none of a module (modules.Module), None if it is: it would not
    run in its image.
    """
    if name in module.programs:
        return None
    path = shutil.which(name, path=module.environment.get('PATH', ''))
    root = os.path.realpath(module.environment.get(ROOT_VARIABLE, '/nonexistent'))
    if path and (not module.is_container or os.path.realpath(path).startswith(root + '/')):
        return None
    others = ' '.join(sorted(module.programs)) or 'none'
    return (
        f"module {module.name} has no command {name}, only {others}; what else is in its image can be run by its "
        "command ...-exec"
    )


def _matches_pattern(name, pattern):
    """Return True if a pattern, or *pattern* where it has no wildcard, fits name."""
    return fnmatch.fnmatchcase(name, pattern if re.search(r'[*?\[]', pattern) else f'*{pattern}*')


def name_series(modules):
    """
    Return {module name: name of its series}: the approach, or the version where two modules have
    the same approach, or the whole name where they have the same version too.
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


def rotate_runs(runs, repeat):
    """
    Return the runs (list of Run) of a repeat (int, from 1): within each case they begin with
    another module.
    """
    by_case = {}
    for run in runs:
        by_case.setdefault(run.case, []).append(run)
    ordered = []
    for group in by_case.values():
        turn = (repeat - 1) % len(group)
        ordered += group[turn:] + group[:turn]
    return ordered
