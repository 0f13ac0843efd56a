"""Rules on the ranks of a job: how ranks find each other, and share memory."""

from typing import Iterator

from osu_container.verdict.rules.finding import (
    OTHER_APPROACHES,
    Finding,
    make_finding,
    report_problem,
    rule,
)
from osu_container.verdict.rules.questions import (
    find_mpi_path,
    find_required_pmi,
    format_site_pmi,
)
from osu_container.verdict.settings import has_own_namespaces, shares_container
from osu_container.verdict.trial import Change, Trial


@rule(
    'ranks apart',
    source='user_namespaces(7), process_vm_readv(2); measured with two ranks of one node, '
    'each in its own user namespace, 2026-11-23: MPICH 5.0.2 fails at messages of 16 '
    "KiB; without reads of the other rank's memory MPICH runs, at 9.7 instead of 13.6 "
    'GB/s (messages of 4 MiB, one run of each, busy machine)',
    facts=('host',),
)
def check_rank_namespaces(trial: Trial) -> Iterator[Finding]:
    """
    Check that the ranks of a node can read each other's memory.

    If the runtime has no setuid program, each container has its own user namespace, and a rank may
    not read the memory of ranks in other namespaces. Either the ranks of a node share one
    container, or the module disables reads of other ranks' memory in the MPI.
    """
    variable, runtime = trial.mpi.get('single_copy'), trial.runtime
    if not variable or not runtime or not has_own_namespaces(runtime) or shares_container(runtime):
        return
    yield make_finding(
        'works slowly',
        '%s %s starts containers without setuid and cannot start the ranks of a node in one '
        "container, so the module disables reads of other ranks' memory (%s). MPI copies messages "
        'within a node one more time; messages between nodes are not affected'
        % (runtime['name'], runtime['release'] or 'of unknown release', variable),
        [(runtime['command'], 'no setuid'), (find_mpi_path(trial), variable)],
        'use Apptainer 1.3 or newer, which starts the ranks of a node in one container',
    )


@rule('PMI', source='srun(1), --mpi', facts=('pmi', 'host'), needs_process=True)
def check_pmi(trial: Trial) -> Iterator[Finding]:
    """Check that the MPI supports the site's PMI."""
    protocol, protocols = find_required_pmi(trial), trial.mpi.get('pmi')
    if protocols and protocol not in protocols:
        yield report_problem(
            'fails',
            '`%s` of this site does not match the PMI of the MPI (%s), so every rank would run '
            'alone' % (format_site_pmi(trial), ', '.join(protocols)),
            find_mpi_path(trial),
            'PMI ' + ', '.join(protocols),
            OTHER_APPROACHES,
            'use an image whose MPI supports ' + protocol,
        )
    elif not protocols and trial.family == 'Open MPI' and protocol != 'pmix' and trial.libmpi:
        yield report_problem(
            'unknown',
            'cannot tell which PMI this Open MPI supports: most builds support only PMIx, '
            'and the ranks of such a build would not find each other under `%s`'
            % format_site_pmi(trial),
            find_mpi_path(trial),
            'no release',
            Change('', ['openmpi']),
        )
