"""What only the lines of a run know and a Dataset does not: commands as typed, proof, lines that were foreign."""
from __future__ import annotations

from dataclasses import dataclass, field

from ..results import run_files
from ..results.model import Case

#: Libraries in the order of the proof table; others follow
LIBRARIES = ('libmpi', 'libfabric', 'libcxi', 'libmpi_gtl')


@dataclass
class Loaded:
    """A library as some ranks of a module loaded it: facts, and which ranks on which nodes in how many measurements."""

    facts: dict
    ranks: set = field(default_factory=set)
    nodes: set = field(default_factory=set)
    measurements: int = 0


@dataclass
class Details:
    """
    The lines of one run.

    typed       {approach: list of commands as typed}, each once
    loaded      {approach: {library: {identity: Loaded}}}; facts {} for ranks that did not load it
    containers  {approach: set of bool}: whether its ranks ran in a container
    measured    {approach: number of measurements with a proof}
    unproved    {approach: number of measurements that succeeded without a proof}
    counts      {status: number of measurements}
    foreign     [(approach, Case, repeat, lines, broken lines)] where the output held what is not the program's
    programs    {programs: list of approaches}
    nodes       names of all nodes, in order
    seconds     of all measurements together
    """

    typed: dict = field(default_factory=dict)
    loaded: dict = field(default_factory=dict)
    containers: dict = field(default_factory=dict)
    measured: dict = field(default_factory=dict)
    unproved: dict = field(default_factory=dict)
    counts: dict = field(default_factory=lambda: dict.fromkeys(run_files.STATUS, 0))
    foreign: list = field(default_factory=list)
    programs: dict = field(default_factory=dict)
    nodes: list = field(default_factory=list)
    seconds: float = 0.0


def of(dataset):
    """Return the Details of a run (Dataset with a path). Raises ResultsError as run_files.read() does."""
    found = Details()
    wanted = {entry['approach'] for entry in dataset.modules.values()} | set(dataset.names) | {
        one.name for one in dataset.failures}
    for _, entry in run_files.lines(dataset.path)[0]:
        if entry['kind'] == 'measurement' and entry['approach'] in wanted:
            _add(found, entry)
    return found


def _add(found, entry):
    """Add one measurement to the Details."""
    approach = entry['approach']
    found.counts[entry['status']] += 1
    found.seconds += entry.get('seconds') or 0
    if entry.get('typed'):
        typed = found.typed.setdefault(approach, {})
        typed[entry['typed']] = None
    for node in (entry.get('slurm') or {}).get('nodes') or []:
        if node not in found.nodes:
            found.nodes.append(node)
    if entry.get('foreign') or entry.get('broken'):
        found.foreign.append((approach, Case(**entry['case']), entry['repeat'], entry.get('foreign') or [],
                              entry.get('broken') or []))
    if entry['status'] != 'ok':
        return
    if entry.get('programs'):
        users = found.programs.setdefault(' '.join(filter(None, (entry['programs'], entry.get('release')))), [])
        if approach not in users:
            users.append(approach)
    if not entry.get('proof'):
        found.unproved[approach] = found.unproved.get(approach, 0) + 1
        return
    found.measured[approach] = found.measured.get(approach, 0) + 1
    libraries = found.loaded.setdefault(approach, {})
    for group in entry['proof']:
        found.containers.setdefault(approach, set()).add(group.get('container'))
        for name, facts in group['libraries'].items():
            identity = tuple(facts.get(key) for key in ('where', 'path', 'family', 'release', 'build_id', 'sha256',
                                                        'problem'))
            one = libraries.setdefault(name, {}).get(identity)
            if one is None:
                one = libraries[name][identity] = Loaded(facts)
            one.ranks.update(group['ranks'])
            one.nodes.update(group['nodes'])
            one.measurements += 1
