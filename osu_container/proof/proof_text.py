"""
The proof of a run as text for people: one block for all ranks that are alike, whatever their
number.

Python 3.6 and its standard library only.
"""

import os

from osu_container.base import columns
from osu_container.data.approaches import NO_LIBFABRIC
from osu_container.proof.judging import UNPROVED, format_ranges, merge_proofs

#: Kinds of ranks and lines of domains that are shown; a report fits on a screen
KINDS, DOMAINS = 3, 4
#: Order of the libraries, others follow
LIBRARY_ORDER = (
    'libmpi',
    'libfabric',
    'libcxi',
    'libxpmem',
    'libmpi_gtl',
    'libhsa-runtime64',
    'librccl-net',
)
#: Loaded by the wheels of MPICH beside libfabric, whichever runs: worth a line only where it is
#: used
HIDDEN_LIBRARIES = ('libucp',)


def format_count(number, what):
    """Return '1 rank', '2 ranks'."""
    return '%d %s%s' % (number, what, '' if number == 1 else 's')


def _format_nodes(names):
    """Return the names of nodes (list of str) as text, a few of them."""
    names = sorted(names)
    return ', '.join(names) if len(names) <= 4 else '%s, ... %s' % (', '.join(names[:2]), names[-1])


def _format_library(facts, name):
    """
    Return one library (dict) as text: 'MPICH 4.2.3 of the image: /opt/mpich/lib/libmpi.so.12
    (build id 1a2b...)'.
    """
    words = [facts['family']] if facts['family'] and facts['family'] != name else []
    words.append(facts['release'] or 'of unknown release')
    if facts.get('release_from') == 'file name':
        words.append('(by its file name)')
    words.append(
        {'host': 'of the host', 'image': 'of the image'}.get(
            facts['where'], 'from an unknown place'
        )
    )
    build = (
        'build id %s' % facts['build_id'][:12]
        if facts['build_id']
        else 'sha256 %s' % facts['sha256'][:12]
        if facts['sha256']
        else facts['problem'] or 'it ended before its sum'
    )
    return '%s: %s (%s)' % (' '.join(words), facts['host_path'] or facts['path'], build)


def _format_network(entries, ranks):
    """
    Return the lines (list of str) of what the ranks (int, how many) have opened; entries:
    'network' of merge_proofs().
    """
    lines = []
    for entry in entries[:DOMAINS]:
        who = '' if entry['ranks'] == ranks else '%s: ' % format_count(entry['ranks'], 'rank')
        if entry['how'] is None:
            lines.append(who + 'not seen')
            continue
        what = {
            'libfabric': 'provider %s' % entry['provider'],
            'ucx': 'UCX, not libfabric',
            'mpi': "MPI's own TCP, not libfabric",
        }.get(entry['layer'], 'libfabric or UCX')
        over = ', domain %s' % ', '.join(entry['domains']) if entry['domains'] else ''
        lines.append('%s%s%s: %s' % (who, what, over, entry['how']))
    if len(entries) > DOMAINS:
        lines.append('and %d more kinds' % (len(entries) - DOMAINS))
    return lines


def _format_world(entries, ranks):
    """Return the lines (list of str) of how many ranks MPI sees."""
    lines = []
    for entry in entries[:DOMAINS]:
        who = (
            'each'
            if entry['ranks'] == ranks and ranks > 1
            else format_count(entry['ranks'], 'rank')
        )
        if entry['size'] is None:
            lines.append(
                '%s: cannot be told%s' % (who, ': ' + entry['how'] if entry['how'] else '')
            )
        else:
            lines.append('%s sees %d, derived: %s' % (who, entry['size'], entry['how']))
    return lines


def _format_group(group):
    """Return the lines (list of str) about ranks that are alike (dict of merge_proofs())."""
    number = len(group['ranks'])
    inside = (
        'in the container %s' % os.path.basename(group['image'])
        if group['image']
        else 'in a container'
        if group['container']
        else 'outside of any container'
    )
    rows = [('program', '%s, %s' % (group['executable'] or 'unknown', inside))]
    if group['shared'] is not None:
        rows.append(
            ('container', 'one for the ranks of a node' if group['shared'] else 'one for each rank')
        )
    names = [name for name in LIBRARY_ORDER if name in group['libraries']]
    names += sorted(
        name for name in group['libraries'] if name not in names and name not in HIDDEN_LIBRARIES
    )
    rows += [(name, _format_library(group['libraries'][name], name)) for name in names]
    rows += [('network', text) for text in _format_network(group['network'], number)]
    rows += [('ranks', text) for text in _format_world(group['world'], number)]
    shown, before = [], None
    for name, text in rows:
        shown.append('  %-10s %s' % ('' if name == before else name, text))
        before = name
    return shown


def format_matched_expectation(promise, proofs):
    """
    Return what of a Promise the proofs show as text: 'in a container, libmpi of the image, provider
    tcp'.

    A provider that was not seen on every rank is left out.
    """
    parts = (
        []
        if promise.container is None
        else ['in a container' if promise.container else 'outside of any container']
    )
    owners = [
        (name, promise.library_origins[name])
        for name in ('libmpi', 'libfabric')
        if name in promise.library_origins
    ]
    parts += [
        'no ' + name if owner == NO_LIBFABRIC else '%s of the %s' % (name, owner)
        for name, owner in owners
    ]
    seen = proofs and all((proof.get('network') or {}).get('layer') for proof in proofs)
    return ', '.join(
        parts + (['provider %s' % promise.provider] if promise.provider and seen else [])
    )


def _wrap_sentences(word, texts):
    """Return texts (list of str) as wrapped lines, each behind a word (str or None)."""
    lines = []
    for text in texts:
        lines += columns.fill_text(
            '%s: %s' % (word, text) if word else text, subsequent_indent='  '
        ).split('\n')
    return lines


def format_report(name, run, promise, problems, notes):
    """
    Return the report (str) of one step.

    :param name: str, what the step is called; run: Run; promise: Promise or None
    :param problems, notes: lists of str, from judge()
    """
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
                ' %s %s on %s:'
                % (
                    'rank' if len(group['ranks']) == 1 else 'ranks',
                    format_ranges(group['ranks']),
                    _format_nodes(group['nodes']),
                )
            )
            lines += _format_group(group)
        if len(groups) > KINDS:
            lines.append(
                ' and %d more kinds of ranks: osu-container proof --json has them all'
                % (len(groups) - KINDS)
            )
    else:
        lines.append('%s: no rank with MPI' % name)
    lines += _wrap_sentences('note', notes)
    if problems:
        lines += _wrap_sentences(None, [one for one in problems if one.startswith(UNPROVED)])
        lines += _wrap_sentences(
            'CONTRADICTION', [one for one in problems if not one.startswith(UNPROVED)]
        )
        return '\n'.join(lines) + '\n'
    if groups and promise and format_matched_expectation(promise, run.proofs):
        by = ' by %s' % promise.approach if promise.approach else ''
        lines += _wrap_sentences(
            'as promised%s' % by, [format_matched_expectation(promise, run.proofs)]
        )
    elif groups:
        lines.append('no promise to compare with: load a module, or give --approach or --expect')
    return '\n'.join(lines) + '\n'


def build_report_data(run, promise, problems, notes):
    """Return the same as data (dict, for --json)."""
    return {
        'directory': os.path.abspath(run.directory),
        'tasks': run.tasks,
        'missing': run.missing_ranks,
        'without_mpi': [{'rank': rank, 'reason': reason} for rank, reason in run.ranks_without_mpi],
        'promise': dict(
            zip(('approach', 'container', 'comes_from', 'provider', 'pmi', 'asked'), promise)
        )
        if promise
        else None,
        'contradictions': problems,
        'notes': notes,
        'kinds': merge_proofs(run.proofs),
    }
