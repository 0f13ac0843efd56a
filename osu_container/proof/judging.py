"""
Judges what the ranks of a run left: are all there, are they alike, is it what was promised?

Every contradiction is one sentence with the ranks in it. What does not show is no contradiction: of
a provider that cannot be told it is said that it cannot.

Python 3.6 and its standard library only.
"""

import glob
import json
import os
import re
import time
from collections import namedtuple

from osu_container.base.files import parse_json, read_plain_file
from osu_container.data.approaches import INJECTION_SCRIPT, NAMESPACE_VARIABLES, NO_LIBFABRIC
from osu_container.proof import layout
from osu_container.proof.loaded import LATE_LIBRARIES, PROCESS_ENDED
from osu_container.proof.opened_network import TCP, parse_allowed_providers
from osu_container.proof.sample import FORMAT

#: directory: str; proofs: list of dict, by rank, of the ranks whose MPI was found; tasks: int, how
#: many ranks there were (None if nothing says it); missing: list of int, ranks without a file;
#: without: [(rank, reason)], ranks in which no MPI was seen
WatchedRun = namedtuple('Run', 'directory proofs tasks missing_ranks ranks_without_mpi')

#: approach: str or None; container: bool or None; comes_from: {'libmpi': 'host' | 'image', ...};
#: provider: str or None; pmi: the --mpi= of srun (str) or None; asked: bool, the provider is what
#: the user has asked the proof for: it counts more than FI_PROVIDER of a rank
Expectation = namedtuple('Promise', 'approach container library_origins provider pmi is_explicit')
NO_EXPECTATION = Expectation(None, None, {}, None, None, False)

#: Without a promise: the --mpi= that the MPI of a family wants. Names of plugins as `srun
#: --mpi=list` has them
PMI_BY_FAMILY = {
    'MPICH': 'pmi2',
    'Intel MPI': 'pmi2',
    'Cray MPICH': 'cray_shasta',
    'Open MPI': 'pmix',
}
#: Seconds that complete files are waited for after a run: samplers notice the end within a moment
COMPLETION_TIMEOUT = 5.0
#: Seconds without a change after which the samplers of a run that has ended are gone
SAMPLER_EXIT_SECONDS = 1.5
#: Settings that keep an MPI from reading the memory of other ranks: another value of the same
#: variable may allow it
NO_CMA_SETTINGS = sorted((entry['name'], entry['value']) for entry in NAMESPACE_VARIABLES)
#: How a problem begins that is no contradiction
UNPROVED = 'Nothing is proved'


class ProofError(Exception):
    """Files of a run's ranks that are missing, damaged or contradict each other."""


# ---- reading ---------------------------------------------------------------------------------------------------------


def _load_proof(path, rank):
    """
    Return the proof (dict) in the file path: each key has its type, what is not there is None.
    Raises ProofError.
    """
    try:
        proof = parse_json(read_plain_file(path, 'rank').decode('utf-8'))
    except OSError as err:
        raise ProofError(
            "rank %d left no proof of what it loaded: %s: %s. Is python3 on the nodes, and the folder "
            "visible from them?" % (rank, path, err.strerror)
        )
    except ValueError as err:
        raise ProofError("%s is damaged: %s. Run it again, or copy the folder again" % (path, err))
    if not isinstance(proof, dict) or proof.get('format') != FORMAT:
        found = repr(proof.get('format'))[:20] if isinstance(proof, dict) else 'none'
        raise ProofError("%s has format %s, wanted %s" % (path, found, FORMAT))
    try:
        return layout.check_proof(proof, rank)
    except ValueError as err:
        raise ProofError("%s is damaged: %s. Run it again, or copy the folder again" % (path, err))


def read_proofs(directory, ranks):
    """
    Return the proofs (list of dict, by rank) that the ranks of a run left in the folder directory.

    :param ranks: int, how many ranks the run had
    Raises ProofError if the file of a rank is missing, damaged, or holds no facts.
    """
    proofs = []
    for rank in range(ranks):
        path = os.path.join(str(directory), 'rank-%d.json' % rank)
        proof = _load_proof(path, rank)
        if not proof['found']:
            raise ProofError("%s: %s" % (path, proof['reason']))
        proofs.append(proof)
    return proofs


def _list_rank_files(directory):
    """Return {rank: path} of the files of ranks in a folder."""
    found = {}
    for path in glob.glob(os.path.join(glob.escape(str(directory)), 'rank-*.json')):
        match = re.match(r'rank-(\d+)\.json$', os.path.basename(path))
        if match:
            found[int(match.group(1))] = path
    return found


def has_run_token(directory, token):
    """Return whether the ranks of a step were watched by the proof with this token (str)."""
    for path in _list_rank_files(directory).values():
        try:
            proof = parse_json(read_plain_file(path, 'rank').decode('utf-8'))
            return isinstance(proof, dict) and proof.get('run') == token
        except (OSError, ValueError):
            pass
    return False


def list_step_folders(directory):
    """
    Return the folders (list of str) with files of ranks: directory itself, or those in it, as
    they were made.
    """
    if _list_rank_files(directory):
        return [str(directory)]
    below = [os.path.join(str(directory), name) for name in sorted(os.listdir(str(directory)))]
    return sorted(
        [path for path in below if os.path.isdir(path) and _list_rank_files(path)],
        key=_split_step_name,
    )


def _split_step_name(path):
    """Return what sorts the folders of steps: 9.0 before 10.0."""
    return [
        int(part) if part.isdigit() else part for part in re.split(r'(\d+)', os.path.basename(path))
    ]


def read_run(directory):
    """
    Return the Run that left its files in the folder directory. Raises ProofError if one is
    damaged.
    """
    files = _list_rank_files(directory)
    if not files:
        raise ProofError("%s holds no file of a rank (rank-0.json, ...)" % directory)
    everything = [_load_proof(files[rank], rank) for rank in sorted(files)]
    runs = _group_by_key(everything, lambda proof: proof.get('run'))
    if len(runs) > 1:
        raise ProofError(
            "%s holds files of several runs: %s. Remove those of the older one"
            % (
                directory,
                '; '.join(
                    _format_rank_numbers([proof['rank'] for proof in group]) for group in runs[:4]
                ),
            )
        )
    tasks = max([(proof.get('step') or {}).get('tasks') or 0 for proof in everything]) or None
    missing = [rank for rank in range(tasks or 0) if rank not in files]
    return WatchedRun(
        str(directory),
        [proof for proof in everything if proof['found']],
        tasks,
        missing,
        [(proof['rank'], proof['reason']) for proof in everything if not proof['found']],
    )


def wait_for_files(directory, ranks=None, seconds=COMPLETION_TIMEOUT):
    """
    Wait until the files of all ranks are there and complete, at most some seconds (float).

    :param ranks: int, None: as many as the files themselves say
    A file stays incomplete where Slurm has killed the sampler with the step; it holds what was
    known by then.
    """
    end = time.monotonic() + seconds
    changed, last, done, tasks = time.monotonic(), None, set(), ranks or 0
    while time.monotonic() < end:
        begin = time.monotonic()
        files = _list_rank_files(directory)
        for rank in set(files) - done:
            try:
                proof = _load_proof(files[rank], rank)
            except ProofError:
                continue
            tasks = tasks or (proof.get('step') or {}).get('tasks') or 0
            if proof.get('complete', True):
                done.add(rank)
        if done and len(done) >= max(tasks, len(files)):
            return
        if (len(files), len(done)) != last:
            changed, last = time.monotonic(), (len(files), len(done))
        if files and len(files) >= tasks and time.monotonic() - changed > SAMPLER_EXIT_SECONDS:
            return
        time.sleep(max(0.02, 4 * (time.monotonic() - begin)))


# ---- promises --------------------------------------------------------------------------------------------------------


def parse_expectation(text, is_explicit=False):
    """
    Return the Promise in the text of OSU_PROMISE, 'approach=hybrid container=yes libmpi=image
    provider=cxi'.

    :param asked: bool, it is that of --expect: commas separate as well as blanks
    Raises ProofError if it is none.
    """
    values = {}
    for part in (text.replace(',', ' ') if is_explicit else text).split():
        name, sign, value = part.partition('=')
        if not sign or name not in (
            'approach',
            'container',
            'libmpi',
            'libfabric',
            'provider',
            'pmi',
        ):
            raise ProofError(
                "'%s' is no promise: wanted approach=, container=yes|no, libmpi=host|image, "
                "libfabric=host|image|none, provider=NAME or pmi=NAME, as in "
                "libmpi=image,libfabric=host,provider=cxi" % part
            )
        allowed = {
            'container': ('yes', 'no'),
            'libmpi': ('host', 'image'),
            'libfabric': ('host', 'image', NO_LIBFABRIC),
        }.get(name)
        if allowed and value not in allowed:
            raise ProofError(
                "%s=%s: %s can be promised to be %s" % (name, value, name, ' or '.join(allowed))
            )
        values[name] = value
    container = {'yes': True, 'no': False}.get(values.get('container'))
    return Expectation(
        values.get('approach'),
        container,
        {name: values[name] for name in ('libmpi', 'libfabric') if name in values},
        values.get('provider') or None,
        values.get('pmi') or None,
        is_explicit and bool(values.get('provider')),
    )


def find_expectation(proofs):
    """
    Return the Promise that the module of these ranks (list of dict) made, None without one.
    Raises ProofError.
    """
    texts = [
        proof.get('promise') or proof.get('variables', {}).get('OSU_PROMISE') for proof in proofs
    ]
    text = next((text for text in texts if text), None)
    return parse_expectation(text) if text else None


# ---- judging ---------------------------------------------------------------------------------------------------------


def format_ranges(numbers):
    """Return numbers (iterable of int) as text: '0-255, 300'."""
    parts = []
    for number in sorted(set(numbers)):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ', '.join(
        '%d' % first if first == last else '%d-%d' % (first, last) for first, last in parts
    )


def _format_rank_numbers(numbers):
    """Return 'rank 3' or 'ranks 0-255' of numbers (list of int)."""
    return '%s %s' % ('rank' if len(numbers) == 1 else 'ranks', format_ranges(numbers))


def format_ranks(proofs):
    """Return which ranks (list of dict) these are: 'rank 3 on node1', 'ranks 0-255'."""
    numbers = [proof['rank'] for proof in proofs]
    if len(numbers) == 1:
        return 'rank %d on %s' % (numbers[0], proofs[0]['node'])
    text = format_ranges(numbers)
    return 'ranks %s' % (
        text
        if len(text) < 60
        else '%s ... (%d ranks)' % (text[:50].rpartition(',')[0] or text[:50], len(numbers))
    )


def summarize_library(proof, name):
    """
    Return one library of a proof as text, e.g. 'MPICH 4.2.3 (image)', 'libfabric of unknown
    release (host)'.
    """
    library = proof['libraries'].get(name)
    if library is None:
        return 'no %s' % name
    family = library['family'] or name
    release = ' %s' % library['release'] if library['release'] else ' of unknown release'
    return '%s%s (%s)' % (family, release, library['where'] or 'of unknown origin')


def _identify_build(library):
    """
    Return which build a library (dict) is (str): its build id, else its contents, else its path.
    """
    return library['build_id'] or library['sha256'] or library['path']


def _make_identity_key(proofs):
    """
    Return a function (proof) -> what must be equal on all ranks: for each library which build it
    is, and from where.

    A file that could not be read, because the process had ended by then, is taken for the one that
    another rank has under the same path.
    """
    readable = {}
    for proof in proofs:
        for name, library in proof['libraries'].items():
            if _is_identified(library):
                readable.setdefault(
                    (proof['container'], name, library['path']),
                    [_identify_build(library), library['where']],
                )

    def identity(proof):
        return {
            name: [_identify_build(library), library['where']]
            if _is_identified(library)
            else readable.get(
                (proof['container'], name, library['path']), [library['path'], library['where']]
            )
            for name, library in proof['libraries'].items()
            if name not in LATE_LIBRARIES
        }

    return identity


def _is_identified(library):
    """Return whether it is known which build a library (dict) is, and from where."""
    return bool(library['where'] and (library['build_id'] or library['sha256']))


def _group_by_key(proofs, key):
    """
    Return [[proof, ...], ...]: proofs with an equal key (function), in the order of their first
    ones.
    """
    groups = {}
    for proof in proofs:
        groups.setdefault(json.dumps(key(proof), sort_keys=True), []).append(proof)
    return list(groups.values())


def find_disagreement(proofs):
    """
    Return the sentence (str) that ranks loaded different libraries, None if all loaded the same.
    """
    identity = _make_identity_key(proofs)
    groups = sorted(_group_by_key(proofs, identity), key=len, reverse=True)
    if len(groups) < 2:
        return None
    names = sorted(
        {name for group in groups for name in group[0]['libraries'] if name not in LATE_LIBRARIES}
    )
    differing = [
        name
        for name in names
        if len({json.dumps(identity(group[0]).get(name)) for group in groups}) > 1
    ]
    parts = []
    for group in groups[:4]:
        told = []
        for name in differing:
            text, library = summarize_library(group[0], name), group[0]['libraries'].get(name)
            alike = [
                other
                for other in groups
                if other is not group and summarize_library(other[0], name) == text
            ]
            told.append(
                '%s [%s]' % (text, _identify_build(library)[:12]) if alike and library else text
            )
        nodes = sorted({proof['node'] for proof in group})
        at = '' if len(group) == 1 or len(nodes) > 2 else ' on %s' % ', '.join(nodes)
        parts.append('%s%s loaded %s' % (format_ranks(group), at, ', '.join(told)))
    more = '; and %d more kinds' % (len(groups) - 4) if len(groups) > 4 else ''
    return 'ranks disagree: %s%s' % ('; '.join(parts), more)


def list_contradictions(proofs, comes_from, container, provider=None, is_explicit=False):
    """
    Return what contradicts the promise of an approach, as a list of str; [] if all ranks loaded
    what it promises.

    :param proofs: list of dict, from read_proofs()
    :param comes_from: {'libmpi': 'host' | 'image', 'libfabric': ...}: the approach's promise
    :param container: bool, the approach runs in a container; None: nothing is promised
    :param provider: str, libfabric's, None: nothing is promised but what FI_PROVIDER says
    :param asked: bool, the provider counts more than FI_PROVIDER
    """
    problems = []
    for group in _group_by_key(
        [proof for proof in proofs if container is not None and proof['container'] != container],
        lambda proof: proof['container'],
    ):
        problems.append(
            "%s ran %s a container; promised: %s one"
            % (
                format_ranks(group),
                'in' if group[0]['container'] else 'outside of',
                'in' if container else 'outside of',
            )
        )
    for name, promised in sorted(comes_from.items()):
        wrong = [(proof['libraries'].get(name), proof) for proof in proofs]
        wrong = [
            (library, proof)
            for library, proof in wrong
            if (library['where'] if library else NO_LIBFABRIC) != promised
        ]
        gone = [
            proof for library, proof in wrong if library and library['problem'] == PROCESS_ENDED
        ]
        wrong = [
            (library, proof)
            for library, proof in wrong
            if not library or library['problem'] != PROCESS_ENDED
        ]
        if gone:
            problems.append(
                "%s of the %s that %s loaded: %s"
                % (UNPROVED, name, format_ranks(gone), PROCESS_ENDED)
            )
        for found in _group_by_key(wrong, lambda entry: entry[0] and entry[0]['path']):
            library, group = found[0][0], [proof for _, proof in found]
            if library is None:
                problems.append(
                    "%s loaded no %s; promised: that of the %s"
                    % (format_ranks(group), name, promised)
                )
            else:
                problems.append(
                    "%s loaded %s from %s (%s); promised: %s%s"
                    % (
                        format_ranks(group),
                        name,
                        library['where'] or 'an unknown place',
                        library['path'],
                        NO_LIBFABRIC if promised == NO_LIBFABRIC else 'that of the ' + promised,
                        _explain_missing_injection(group)
                        if promised == 'host' and library['where'] == 'image'
                        else '',
                    )
                )
    if comes_from.get('libfabric') != NO_LIBFABRIC:
        problems += list_wrong_providers(proofs, provider, is_explicit)
    differ = find_disagreement(proofs)
    return problems + ([differ] if differ else [])


def _explain_missing_injection(proofs):
    """
    Return why the host's library is not in the processes of ranks (list of dict) in a container.
    """
    if any(proof.get('injection') for proof in proofs):
        return ", which was not injected: the image's own is found before it"
    return (
        ", which was not injected: the module's binds are not there, its %s among them"
        % INJECTION_SCRIPT
    )


def _list_allowed_providers(proof, promised, is_explicit=False):
    """
    Return the providers (list of str) of which a rank may use one: FI_PROVIDER as it had it, else
    the promise.

    :param promised: str or None; asked: bool, it counts more than FI_PROVIDER
    """
    variable, links = (
        proof.get('variables', {}).get(name) for name in ('FI_PROVIDER', 'FI_LNX_PROV_LINKS')
    )
    return parse_allowed_providers(
        promised if is_explicit else variable, links
    ) or parse_allowed_providers(promised, links)


def list_wrong_providers(proofs, promised=None, is_explicit=False):
    """
    Return sentences (list of str) on ranks that use another provider than was promised (str or
    None).
    """
    wrong = []
    for proof in proofs:
        network, wanted = (
            proof.get('network'),
            _list_allowed_providers(proof, promised, is_explicit),
        )
        if not network or not wanted or network['layer'] is None:
            continue
        if network['layer'] == 'libfabric':
            same = (
                network['provider'] in wanted
                or network['provider'] in TCP
                and set(wanted) & set(TCP)
                or network['provider'] == 'psm2 or opx'
                and set(wanted) & {'psm2', 'opx'}
            )
            if not same:
                wrong.append((proof, wanted, network))
        elif not (network['layer'] == 'mpi' and set(wanted) & set(TCP)):
            wrong.append((proof, wanted, network))
    problems = []
    for group in _group_by_key(
        wrong, lambda entry: (entry[1], entry[2]['layer'], entry[2]['provider'])
    ):
        _, wanted, network = group[0]
        used = {
            'libfabric': "libfabric's provider %s" % network['provider'],
            'ucx': 'UCX, not libfabric',
            'mpi': "MPI's own TCP, not libfabric",
        }[network['layer']]
        slow = network['provider'] in TCP and not set(wanted) & set(TCP)
        problems.append(
            "%s use %s%s (%s); promised: %s"
            % (
                format_ranks([entry[0] for entry in group]),
                used,
                ', the slow network' if slow else '',
                _format_network_evidence([entry[0] for entry in group]),
                ' or '.join(wanted),
            )
        )
    return [
        text.replace(' use ', ' uses ', 1) if text.startswith('rank ') else text
        for text in problems
    ]


def _format_network_evidence(proofs):
    """
    Return how the network of ranks was seen (str); ports differ, so that of the first stands for
    all.
    """
    first = proofs[0]['network']['how']
    return (
        first
        if len({proof['network']['how'] for proof in proofs}) == 1
        else 'rank %d: %s' % (proofs[0]['rank'], first)
    )


def find_singletons(proofs, pmi=None):
    """
    Return the sentence (str) that ranks do not see each other, None if nothing shows it.

    :param pmi: str, the --mpi= of srun that the module names, None without
    """
    alone = [
        proof
        for proof in proofs
        if (proof.get('world') or {}).get('size') == 1
        and ((proof['world']['tasks'] or 1) > 1 or len(proofs) > 1)
    ]
    if not alone:
        return None
    families = sorted(
        {(proof['libraries'].get('libmpi') or {}).get('family') or '' for proof in alone}
    )
    right = pmi or next(
        (PMI_BY_FAMILY[family] for family in families if family in PMI_BY_FAMILY), None
    )
    tasks = alone[0]['world']['tasks'] or len(proofs)
    used = sorted({proof.get('variables', {}).get('SLURM_MPI_TYPE') or 'none' for proof in alone})
    who = (
        "%d ranks are %d times rank 0" % (len(alone), len(alone))
        if len(alone) > 1
        else "a rank is alone"
    )
    return "%s: the MPI of %s sees 1 rank, srun started %d (%s; --mpi=%s of srun). %s" % (
        who,
        format_ranks(alone),
        tasks,
        alone[0]['world']['how'],
        ' and '.join(used),
        "Use srun --mpi=%s%s" % (right, ', or no --mpi= at all: the module sets it' if pmi else '')
        if right
        else "`srun --mpi=list` names the kinds of PMI; take that of this MPI",
    )


def judge_run(run, promise=None):
    """
    Return (contradictions, notes) of a Run as lists of str.

    :param promise: Promise, None: only what needs no promise is judged
    A contradiction makes the proof fail; a note says what could not be shown.
    """
    problems, notes = [], []
    if run.missing_ranks:
        problems.append(
            "%s of %s: of %d ranks these left no file. Is python3 on their nodes, and %s visible from them?"
            % (
                UNPROVED,
                _format_rank_numbers(run.missing_ranks),
                run.tasks,
                os.path.abspath(run.directory),
            )
        )
    reasons = {}
    for rank, reason in run.ranks_without_mpi:
        reasons.setdefault(reason, []).append(rank)
    for reason, ranks in sorted(reasons.items()):
        problems.append("%s of %s: %s" % (UNPROVED, _format_rank_numbers(ranks), reason))
    alone = find_singletons(run.proofs, promise.pmi if promise else None)
    if alone:
        problems.append(alone)
    if run.proofs:
        told = promise or NO_EXPECTATION
        problems += list_contradictions(
            run.proofs, told.library_origins, told.container, told.provider, told.is_explicit
        )
        notes += _list_notes(run, told)
    return problems, notes


def _list_notes(run, promise):
    """Return what could not be shown of a run (list of str)."""
    notes = [
        _note_unseen_network(run.proofs, promise),
        _note_user_provider(run.proofs, promise),
        _note_unseen_world(run.proofs),
        _note_separate_memory(run.proofs),
    ]
    return [note for note in notes if note]


def _note_unseen_network(proofs, promise):
    """
    Return the note (str or None) on ranks of proofs (list of dict) whose network did not show.
    """
    dark = [proof for proof in proofs if not (proof.get('network') or {}).get('layer')]
    if not dark:
        return None
    wanted = sorted(
        {
            name
            for proof in dark
            for name in _list_allowed_providers(proof, promise.provider, promise.is_explicit)
        }
    )
    why = (
        "it ended before its network was open, or it needs none"
        if all(proof.get('complete', True) for proof in dark)
        else "the sampler was ended, mostly with the step"
    )
    return "the provider of %s was not seen%s: %s" % (
        format_ranks(dark),
        ' (promised: %s)' % ' or '.join(wanted) if wanted else '',
        why,
    )


def _note_user_provider(proofs, promise):
    """
    Return the note (str or None) on a FI_PROVIDER of the ranks that is not the one of promise
    (Promise).
    """
    own = sorted(
        {proof.get('variables', {}).get('FI_PROVIDER') or '' for proof in proofs}
        - {'', promise.provider}
    )
    if not own or not promise.provider or promise.is_explicit:
        return None
    return "FI_PROVIDER is %s for the ranks, the module had set %s: what you set counts" % (
        ' and '.join(own),
        promise.provider,
    )


def _note_unseen_world(proofs):
    """
    Return the note (str or None) on ranks of proofs (list of dict) of which it does not show how
    many they see.
    """
    unknown = [proof for proof in proofs if (proof.get('world') or {}).get('size') is None]
    if not unknown:
        return None
    how = (unknown[0].get('world') or {}).get('how') or 'it ended too early'
    return "how many ranks the MPI of %s sees cannot be told: %s" % (format_ranks(unknown), how)


def _collect_node_namespaces(proofs, space):
    """
    Return {node: set of namespaces} of the nodes on which several ranks of proofs (list of dict)
    run in containers.

    :param space: 'user' or 'mnt'
    Nodes of which a rank's namespace could not be read are left out.
    """
    nodes = {}
    for proof in proofs:
        if proof['container']:
            nodes.setdefault(proof['node'], []).append((proof.get('spaces') or {}).get(space))
    return {node: set(found) for node, found in nodes.items() if len(found) > 1 and all(found)}


def _note_separate_memory(proofs):
    """
    Return the note (str or None) on ranks of proofs (list of dict) that may not read each
    other's memory.
    """
    apart = {
        node for node, found in _collect_node_namespaces(proofs, 'user').items() if len(found) > 1
    }
    if not apart:
        return None
    group = [proof for proof in proofs if proof['node'] in apart]
    told = [
        '%s=%s' % (name, value)
        for name, value in NO_CMA_SETTINGS
        if all(proof['variables'].get(name) == value for proof in group)
    ]
    return (
        "%s on %s have a user namespace each, so none may read the memory of another on its node (CMA): %s. "
        "Is OSU_SHARE=0 set, was the container started by hand, or is the runtime older than Apptainer 1.3? Else "
        "commands of a module share one"
        % (
            format_ranks(group),
            ', '.join(sorted(apart)),
            'the MPI is told so (%s), which is slower' % ', '.join(told)
            if told
            else 'an MPI that does not know it ends with an error',
        )
    )


# ---- together --------------------------------------------------------------------------------------------------------


def merge_proofs(proofs):
    """
    Return what the ranks of a run loaded, ranks that are alike together: list of dict, by the
    lowest rank.

    Each has ranks (list of int), nodes (list of str), container, image, executable, libraries as in
    a proof, variables that are the same on all of these ranks, differing (list of str): names of
    variables that are not, and network: how many ranks use which provider over which domains (list
    of dict: layer, provider, domains, ranks (int), how of the first), world: how many see how many
    (list of dict: size, pmi, ranks (int), how of the first).
    """
    found, identity = [], _make_identity_key(proofs)
    for alike in _group_by_key(
        proofs,
        lambda proof: [identity(proof), proof['container'], proof['image'], proof['executable']],
    ):
        first = alike[0]
        names = set().union(*(proof['variables'] for proof in alike))
        same = {
            name for name in names if len({proof['variables'].get(name) for proof in alike}) == 1
        }
        late = {
            name: library
            for proof in reversed(alike)
            for name, library in proof['libraries'].items()
            if name in LATE_LIBRARIES
        }
        spaces = _collect_node_namespaces(alike, 'mnt')
        found.append(
            {
                'shared': all(len(one) == 1 for one in spaces.values()) if spaces else None,
                'ranks': [proof['rank'] for proof in alike],
                'nodes': sorted({proof['node'] for proof in alike}),
                'container': first['container'],
                'image': first['image'],
                'executable': first['executable'],
                'libraries': dict(first['libraries'], **late),
                'differing': sorted(names - same),
                'variables': {name: first['variables'][name] for name in sorted(same)},
                'network': _count_variants(alike, 'network', ('layer', 'provider', 'domains')),
                'world': _count_variants(alike, 'world', ('size', 'pmi')),
            }
        )
    return found


def _count_variants(proofs, part, keys):
    """
    Return what a part of proofs says (list of dict), equal ones together: keys, ranks (int), how
    of the first.
    """
    groups = _group_by_key(proofs, lambda proof: [(proof.get(part) or {}).get(key) for key in keys])
    found = []
    for group in groups:
        first = group[0].get(part) or {}
        found.append(
            dict({key: first.get(key) for key in keys}, ranks=len(group), how=first.get('how'))
        )
    return found
