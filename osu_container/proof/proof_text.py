"""
Format the judgement of a run as text, with one block for each group of equal ranks.

This module needs only Python 3.6 and its standard library.
"""

import os
from typing import Any, Dict, Iterable, List, Optional, Sequence

from osu_container.base import columns
from osu_container.data.approaches import NO_LIBFABRIC
from osu_container.proof.judging import (
    UNPROVED,
    Expectation,
    Proof,
    WatchedRun,
    format_rank_numbers,
    merge_proofs,
)
from osu_container.proof.opened_network import SIMULATED_CXI

#: Maximum number of groups of ranks, and of lines on networks, so that a report fits on a screen
KINDS, DOMAINS = 3, 4
#: Libraries in the order of the report; all others follow
LIBRARY_ORDER = (
    'libmpi',
    'libfabric',
    'libcxi',
    'libxpmem',
    'libmpi_gtl',
    'libhsa-runtime64',
    'librccl-net',
)
#: The PyPI wheels of MPICH always load libucp; the line `network` names UCX if MPICH uses it
HIDDEN_LIBRARIES = ('libucp',)


def format_count(number: int, noun: str) -> str:
    """Return a number with its noun in singular or plural, such as '1 rank' or '2 ranks'."""
    return '%d %s%s' % (number, noun, '' if number == 1 else 's')


def _format_nodes(names: Iterable[str]) -> str:
    """Return the names of nodes as text; for more than four nodes, only three names."""
    names = sorted(names)
    return ', '.join(names) if len(names) <= 4 else '%s, ... %s' % (', '.join(names[:2]), names[-1])


def _format_library(facts: Dict[str, Any], name: str) -> str:
    """
    Return a text on a library: release, origin, path and build.

    An example is 'MPICH 4.2.3 of the image: /lib/libmpi.so.12 (build id 1a2b)'.
    """
    family = facts['family'] + ' ' if facts['family'] and facts['family'] != name else ''
    release = facts['release'] or 'of unknown release'
    if facts.get('release_from') == 'file name':
        release += ' (by its file name)'
    return '%s%s %s: %s (%s)' % (
        family,
        release,
        'of the ' + facts['where'] if facts['where'] else 'from an unknown place',
        facts['host_path'] or facts['path'],
        'build id %s' % facts['build_id'][:12]
        if facts['build_id']
        else 'sha256 %s' % facts['sha256'][:12]
        if facts['sha256']
        else facts['problem']
        or 'the process terminated before the checksum of the library was computed',
    )


def _format_network(entries: Sequence[Dict[str, Any]], ranks: int) -> List[str]:
    """
    Return the lines of the report that describe the networks of a group of ranks.

    entries: value of the key network in a result of merge_proofs(); ranks: number of ranks
    """
    lines = []
    for entry in entries[:DOMAINS]:
        prefix = '' if entry['ranks'] == ranks else '%s: ' % format_count(entry['ranks'], 'rank')
        if entry['how'] is None:
            lines.append(prefix + 'not seen')
            continue
        transport = {
            'libfabric': 'provider %s' % entry['provider'],
            'ucx': 'UCX, not libfabric',
            'mpi': "MPI's own TCP, not libfabric",
        }.get(entry['layer'], 'libfabric or UCX')
        domains = ', domain %s' % ', '.join(entry['domains']) if entry['domains'] else ''
        lines.append('%s%s%s: %s' % (prefix, transport, domains, entry['how']))
    if len(entries) > DOMAINS:
        lines.append('and %d more kinds' % (len(entries) - DOMAINS))
    return lines


def _format_world(entries: Sequence[Dict[str, Any]], ranks: int) -> List[str]:
    """
    Return the lines of the report that tell how many ranks the MPI of each rank sees.

    entries: value of the key world in a result of merge_proofs(); ranks: number of ranks
    """
    lines = []
    for entry in entries[:DOMAINS]:
        subject = (
            'each'
            if entry['ranks'] == ranks and ranks > 1
            else format_count(entry['ranks'], 'rank')
        )
        if entry['size'] is None:
            lines.append('%s: unknown%s' % (subject, ': ' + entry['how'] if entry['how'] else ''))
        else:
            lines.append('%s sees %d, derived: %s' % (subject, entry['size'], entry['how']))
    return lines


def _format_group(group: Dict[str, Any]) -> List[str]:
    """Return the lines of the report on one group of ranks with equal libraries and network."""
    number = len(group['ranks'])
    inside = (
        'in the container %s' % os.path.basename(group['image'])
        if group['image']
        else 'in a container'
        if group['container']
        else 'outside any container'
    )
    rows = [('program', '%s, %s' % (group['executable'] or 'unknown', inside))]
    if group['shared'] is not None:
        rows.append(
            (
                'container',
                'all ranks of a node share one container'
                if group['shared']
                else 'each rank has its own container',
            )
        )
    names = [name for name in LIBRARY_ORDER if name in group['libraries']]
    names += sorted(
        name for name in group['libraries'] if name not in names and name not in HIDDEN_LIBRARIES
    )
    rows += [(name, _format_library(group['libraries'][name], name)) for name in names]
    rows += [('network', text) for text in _format_network(group['network'], number)]
    rows += [('ranks', text) for text in _format_world(group['world'], number)]
    lines, previous = [], None
    for name, text in rows:
        lines.append('  %-10s %s' % ('' if name == previous else name, text))
        previous = name
    return lines


def format_matched_expectation(expectation: Expectation, proofs: Sequence[Proof]) -> str:
    """
    Return the expectation that all ranks match, such as 'in a container, provider tcp'.

    The text contains the provider only if the sampler saw the network of every rank.
    """
    parts = []
    if expectation.container is not None:
        parts.append('in a container' if expectation.container else 'outside any container')
    parts += [
        'no ' + name if origin == NO_LIBFABRIC else '%s of the %s' % (name, origin)
        for name, origin in sorted(expectation.library_origins.items(), reverse=True)
    ]
    networks = [proof['network'] for proof in proofs]
    if expectation.provider and all(network.get('layer') for network in networks):
        is_simulated = any(network['provider'] == SIMULATED_CXI for network in networks)
        parts.append('provider %s' % (SIMULATED_CXI if is_simulated else expectation.provider))
    return ', '.join(parts)


def _wrap_sentences(label: Optional[str], texts: Iterable[str]) -> List[str]:
    """Return each text as wrapped lines that begin with `label` and a colon."""
    lines = []
    for text in texts:
        lines += columns.fill_text(
            '%s: %s' % (label, text) if label else text, subsequent_indent='  '
        ).split('\n')
    return lines


def format_report(
    name: str,
    run: WatchedRun,
    expectation: Optional[Expectation],
    problems: Sequence[str],
    notes: Iterable[str],
) -> str:
    """Return the report on a step as text; problems and notes come from judge_run()."""
    groups = merge_proofs(run.proofs)
    number = len(run.proofs)
    lines = []
    if len(groups) == 1:
        nodes = groups[0]['nodes']
        lines.append(
            '%s: %s on %s (%s)%s'
            % (
                name,
                format_count(number, 'rank'),
                format_count(len(nodes), 'node'),
                _format_nodes(nodes),
                ', all alike' if number > 1 else '',
            )
        )
        lines += _format_group(groups[0])
    elif groups:
        lines.append('%s: %s of %d kinds' % (name, format_count(number, 'rank'), len(groups)))
        for group in groups[:KINDS]:
            lines.append(
                ' %s on %s:' % (format_rank_numbers(group['ranks']), _format_nodes(group['nodes']))
            )
            lines += _format_group(group)
        if len(groups) > KINDS:
            lines.append(
                ' and %d more groups of ranks: `osu-container proof FOLDER --json` lists all groups'
                % (len(groups) - KINDS)
            )
    else:
        lines.append('%s: no rank has loaded an MPI library' % name)
    lines += _wrap_sentences('note', notes)
    if problems:
        for problem in problems:
            label = None if problem.startswith(UNPROVED) else 'CONTRADICTION'
            lines += _wrap_sentences(label, [problem])
        return '\n'.join(lines) + '\n'
    matched = expectation and format_matched_expectation(expectation, run.proofs)
    if groups and expectation and matched:
        name = 'approach ' + expectation.approach if expectation.approach else 'the expectation'
        lines += _wrap_sentences('matches ' + name, [matched])
    elif groups:
        lines.append(
            'the ranks were not compared with an expectation: load a module, or add --approach or --expect'
        )
    return '\n'.join(lines) + '\n'


def build_report_data(
    run: WatchedRun, expectation: Optional[Expectation], problems: List[str], notes: List[str]
) -> Dict[str, Any]:
    """Return the judgement of a step as a dict; the option --json prints this dict."""
    return {
        'directory': os.path.abspath(run.directory),
        'tasks': run.tasks,
        'missing': run.missing_ranks,
        'without_mpi': [{'rank': rank, 'reason': reason} for rank, reason in run.ranks_without_mpi],
        'promise': dict(
            zip(('approach', 'container', 'comes_from', 'provider', 'pmi', 'asked'), expectation)
        )
        if expectation
        else None,
        'contradictions': problems,
        'notes': notes,
        'kinds': merge_proofs(run.proofs),
    }
