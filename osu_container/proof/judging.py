"""
Judge whether the ranks of a run used the MPI, libfabric and network that are expected.

The sampler has written one file for each rank. This module checks that all files exist, that all
ranks loaded the same libraries, and that the ranks match the expectation. Each contradiction is
reported in a sentence that names the ranks. If the sampler could not see a value, such as the
libfabric provider, this module reports a note and not a contradiction.

This module needs only Python 3.6 and its standard library.
"""

import glob
import json
import os
import re
import time
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from osu_container.base.files import AnyPath, read_json
from osu_container.data.approaches import INJECTION_SCRIPT, NAMESPACE_VARIABLES, NO_LIBFABRIC
from osu_container.data.records import RECORDS, read_record, redact
from osu_container.proof.loaded import LATE_LIBRARIES, PROCESS_ENDED
from osu_container.proof.opened_network import SIMULATED_CXI, TCP, parse_allowed_providers

#: Content of a rank's file, see data/records.py
Proof = Dict[str, Any]


class WatchedRun(NamedTuple):
    """The content of all files that the sampler wrote for the ranks of a run."""

    #: folder of the files
    directory: str
    #: proofs of the ranks with an MPI library, ordered by rank
    proofs: List[Proof]
    #: number of ranks, None if no file names it
    tasks: Optional[int]
    #: ranks without a file
    missing_ranks: List[int]
    #: (rank, reason) of ranks in which no MPI library was seen
    ranks_without_mpi: List[Tuple[int, str]]


class Expectation(NamedTuple):
    """The MPI, libfabric and network that ranks should use; None allows any value of a field."""

    approach: Optional[str]
    #: whether the ranks run in a container
    container: Optional[bool]
    #: {library: 'host', 'image' or NO_LIBFABRIC}
    library_origins: Dict[str, str]
    #: libfabric provider
    provider: Optional[str]
    #: value of srun's --mpi=
    pmi: Optional[str]
    #: whether the user named the provider, which then takes precedence over FI_PROVIDER of a rank
    is_explicit: bool


NO_EXPECTATION = Expectation(None, None, {}, None, None, False)

#: {key of an expectation: its allowed values; () allows any value}
EXPECTATIONS: Dict[str, Tuple[str, ...]] = {
    'approach': (),
    'container': ('yes', 'no'),
    'libmpi': ('host', 'image'),
    'libfabric': ('host', 'image', NO_LIBFABRIC),
    'provider': (),
    'pmi': (),
}
#: {MPI family: value of srun's --mpi= that it needs}, for runs without a module. The values are those
#: of `srun --mpi=list`
PMI_BY_FAMILY = {
    'MPICH': 'pmi2',
    'Intel MPI': 'pmi2',
    'Cray MPICH': 'cray_shasta',
    'Open MPI': 'pmix',
}
#: Time limit in seconds for complete files after a run; samplers notice its end within a moment
COMPLETION_TIMEOUT = 5.0
#: Time in seconds without a change after which no sampler of an ended run can be left
SAMPLER_EXIT_SECONDS = 1.5
#: (name, value) of the variables that keep an MPI from reading the memory of other ranks
NO_CMA_SETTINGS = sorted((entry['name'], entry['value']) for entry in NAMESPACE_VARIABLES)
#: Prefix of a problem that is not a contradiction
UNPROVED = 'No proof'


class ProofError(Exception):
    """The ranks of a run cannot be judged; the message contains the reason and the remedy."""


# ---- reading ---------------------------------------------------------------------------------------------------------


def _load_proof(path: str, rank: int) -> Proof:
    """
    Read the file of a rank and return the content, with all keys that data/records.py defines.

    A part of the content such as network is {} if the file does not contain the part. Raises
    ProofError if the file is missing or damaged.
    """
    try:
        proof = read_json(path, 'rank')
        has_mpi = isinstance(proof, dict) and proof.get('found') is True
        proof = redact(read_record(proof, RECORDS['rank with MPI' if has_mpi else 'rank']))
        if proof['rank'] not in (None, rank):
            raise ValueError("the file belongs to rank %d" % proof['rank'])
        parts = ('libraries', 'variables', 'network', 'world', 'spaces', 'step')
        return dict(
            proof,
            rank=rank,
            complete=proof['complete'] is not False,
            reason=proof['reason'] or 'no reason was recorded',
            **{part: proof[part] or {} for part in parts},
        )
    except OSError as err:
        raise ProofError(
            "rank %d left no file: %s: %s. Check that all nodes have python3 and can access the folder of the file"
            % (rank, path, err.strerror)
        )
    except ValueError as err:
        raise ProofError(
            "the file %s is damaged: %s. Repeat the run, or copy the folder of the run again"
            % (path, err)
        )


def read_proofs(directory: AnyPath, ranks: int) -> List[Proof]:
    """
    Return the contents of the files of the ranks 0 to `ranks` - 1, ordered by rank.

    Raises ProofError if the file of a rank is missing or damaged, or if a rank has loaded no MPI.
    """
    proofs = []
    for rank in range(ranks):
        path = os.path.join(str(directory), 'rank-%d.json' % rank)
        proof = _load_proof(path, rank)
        if not proof['found']:
            raise ProofError("%s: %s" % (path, proof['reason']))
        proofs.append(proof)
    return proofs


def _list_rank_files(directory: AnyPath) -> Dict[int, str]:
    """Return {number of a rank: path of the rank's file} for all files of ranks in a folder."""
    paths = glob.glob(os.path.join(glob.escape(str(directory)), 'rank-*.json'))
    matches = [re.search(r'/rank-(\d+)\.json$', path) for path in paths]
    return {int(match.group(1)): match.string for match in matches if match}


def has_run_token(directory: str, token: str) -> bool:
    """
    Return whether the files of ranks in a folder contain `token`.

    The token identifies one call of `osu-container proof`.
    """
    for path in _list_rank_files(directory).values():
        try:
            proof = read_json(path, 'rank')
            return isinstance(proof, dict) and proof.get('run') == token
        except (OSError, ValueError):
            pass
    return False


def list_step_folders(directory: str) -> List[str]:
    """
    Return the folders that contain files of ranks, ordered by the number of the Slurm step.

    If `directory` itself contains such files, the result is [directory]. Otherwise the result
    contains subfolders of `directory`.
    """
    if _list_rank_files(directory):
        return [directory]
    below = [os.path.join(directory, name) for name in os.listdir(directory)]
    steps = [path for path in below if os.path.isdir(path) and _list_rank_files(path)]
    # Step 9.0 precedes step 10.0.
    return sorted(steps, key=lambda path: re.sub(r'\d+', lambda m: m.group().zfill(12), path))


def read_run(directory: str) -> WatchedRun:
    """
    Read the files of ranks in a folder, and return the content as a WatchedRun.

    Raises ProofError if no file exists, if a file is damaged, or if the files come from several runs.
    """
    files = _list_rank_files(directory)
    if not files:
        raise ProofError("the folder %s contains no file of a rank (rank-0.json, ...)" % directory)
    everything = [_load_proof(files[rank], rank) for rank in sorted(files)]
    runs = _group_by_key(everything, lambda proof: proof['run'])
    if len(runs) > 1:
        raise ProofError(
            "the folder %s contains files of several runs: %s. Remove the files of the older run"
            % (
                directory,
                '; '.join(
                    format_rank_numbers([proof['rank'] for proof in group]) for group in runs[:4]
                ),
            )
        )
    tasks = max(proof['step'].get('tasks') or 0 for proof in everything) or None
    missing = [rank for rank in range(tasks or 0) if rank not in files]
    return WatchedRun(
        str(directory),
        [proof for proof in everything if proof['found']],
        tasks,
        missing,
        [(proof['rank'], proof['reason']) for proof in everything if not proof['found']],
    )


def wait_for_files(
    directory: AnyPath, ranks: Optional[int] = None, seconds: float = COMPLETION_TIMEOUT
) -> None:
    """
    Wait at most `seconds` until the files of all ranks exist and are complete.

    ranks: number of ranks; if `ranks` is None, the function reads the number of ranks from the
    files. If Slurm kills a sampler together with the step, the file of the sampler's rank stays
    incomplete. An incomplete file contains the facts that the sampler had recorded before.
    """
    end = time.monotonic() + seconds
    changed, last_counts, tasks = time.monotonic(), (0, 0), ranks or 0
    complete: Set[int] = set()
    while time.monotonic() < end:
        begin = time.monotonic()
        files = _list_rank_files(directory)
        for rank in set(files) - complete:
            try:
                proof = _load_proof(files[rank], rank)
            except ProofError:
                continue
            tasks = tasks or proof['step'].get('tasks') or 0
            if proof['complete']:
                complete.add(rank)
        if complete and len(complete) >= max(tasks, len(files)):
            return
        if (len(files), len(complete)) != last_counts:
            changed, last_counts = time.monotonic(), (len(files), len(complete))
        if files and len(files) >= tasks and time.monotonic() - changed > SAMPLER_EXIT_SECONDS:
            return
        time.sleep(max(0.02, 4 * (time.monotonic() - begin)))


# ---- expectations ----------------------------------------------------------------------------------------------------


def parse_expectation(text: str, is_explicit: bool = False) -> Expectation:
    """
    Parse a text such as 'approach=hybrid container=yes provider=cxi' to an Expectation.

    text: value of the variable OSU_PROMISE. If `is_explicit` is True, `text` is the value of the
    option --expect, in which commas may separate the parts. Raises ProofError if a part of the text
    is invalid.
    """
    values: Dict[str, str] = {}
    for part in (text.replace(',', ' ') if is_explicit else text).split():
        name, sign, value = part.partition('=')
        if not sign or name not in EXPECTATIONS:
            raise ProofError(
                "invalid expectation '%s'. Use approach=NAME, container=yes|no, libmpi=host|image, "
                "libfabric=host|image|none, provider=NAME or pmi=NAME, as in "
                "libmpi=image,libfabric=host,provider=cxi" % part
            )
        if EXPECTATIONS[name] and value not in EXPECTATIONS[name]:
            raise ProofError(
                "invalid expectation %s=%s: the value of %s must be one of %s"
                % (name, value, name, ', '.join(EXPECTATIONS[name]))
            )
        values[name] = value
    provider = values.get('provider') or None
    return Expectation(
        values.get('approach'),
        values['container'] == 'yes' if 'container' in values else None,
        {name: values[name] for name in ('libmpi', 'libfabric') if name in values},
        provider,
        values.get('pmi') or None,
        bool(is_explicit and provider),
    )


def find_expectation(proofs: Iterable[Proof]) -> Optional[Expectation]:
    """
    Return the Expectation that a module has set for ranks, None if no module was loaded.

    The module sets the variable OSU_PROMISE. Raises ProofError if the value of OSU_PROMISE is
    invalid.
    """
    texts = [proof['promise'] or proof['variables'].get('OSU_PROMISE') for proof in proofs]
    text = next(filter(None, texts), '')
    return parse_expectation(text) if text else None


# ---- judging ---------------------------------------------------------------------------------------------------------


def format_ranges(numbers: Iterable[int]) -> str:
    """Return numbers as text with ranges of consecutive numbers, such as '0-255, 300'."""
    parts: List[List[int]] = []
    for number in sorted(set(numbers)):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ', '.join(
        '%d' % first if first == last else '%d-%d' % (first, last) for first, last in parts
    )


def format_rank_numbers(numbers: Sequence[int]) -> str:
    """Return the numbers of ranks as text, such as 'rank 3' or 'ranks 0-255'."""
    return '%s %s' % ('rank' if len(numbers) == 1 else 'ranks', format_ranges(numbers))


def format_ranks(proofs: Sequence[Proof]) -> str:
    """Return ranks as abbreviated text, such as 'rank 3 on node1' or 'ranks 0-255'."""
    numbers = [proof['rank'] for proof in proofs]
    if len(numbers) == 1:
        return 'rank %d on %s' % (numbers[0], proofs[0]['node'])
    text = format_ranges(numbers)
    return 'ranks %s' % (
        text
        if len(text) < 60
        else '%s ... (%d ranks)' % (text[:50].rpartition(',')[0] or text[:50], len(numbers))
    )


def summarize_library(proof: Proof, name: str) -> str:
    """Return a library of a rank as text, such as 'MPICH 4.2.3 (image)' or 'no libfabric'."""
    library = proof['libraries'].get(name)
    if library is None:
        return 'no %s' % name
    family = library['family'] or name
    release = ' %s' % library['release'] if library['release'] else ' of unknown release'
    return '%s%s (%s)' % (family, release, library['where'] or 'of unknown origin')


def _identify_build(library: Proof) -> str:
    """Return the build id of a library, or else its sha256, or else its path."""
    return library['build_id'] or library['sha256'] or library['path']


def _make_identity_key(proofs: Iterable[Proof]) -> Callable[[Proof], Dict[str, List[str]]]:
    """
    Return a function that maps the file content of a rank to {library: [build, origin]}.

    The ranks of a run agree if the returned function gives equal values for all ranks. The process
    of a rank may terminate before the sampler has read a library. In this case the value contains
    the build and the origin that another rank has recorded for the same path.
    """
    readable: Dict[Tuple[bool, str, str], List[str]] = {}
    for proof in proofs:
        for name, library in proof['libraries'].items():
            if _is_identified(library):
                readable.setdefault(
                    (proof['container'], name, library['path']),
                    [_identify_build(library), library['where']],
                )

    def identity(proof: Proof) -> Dict[str, List[str]]:
        builds = {}
        for name, library in proof['libraries'].items():
            if name not in LATE_LIBRARIES:
                build = [_identify_build(library), library['where']]
                key = proof['container'], name, library['path']
                builds[name] = build if _is_identified(library) else readable.get(key, build)
        return builds

    return identity


def _is_identified(library: Proof) -> bool:
    return bool(library['where'] and (library['build_id'] or library['sha256']))


def _group_by_key(proofs: Iterable[Any], key: Callable[[Any], Any]) -> List[List[Any]]:
    """
    Split `proofs` into lists of proofs for which the function `key` returns equal values.

    A proof is the content of the file of a rank. The lists are in the order in which their first
    proofs occur in `proofs`.
    """
    groups: Dict[str, List[Any]] = {}
    for proof in proofs:
        groups.setdefault(json.dumps(key(proof), sort_keys=True), []).append(proof)
    return list(groups.values())


def find_disagreement(proofs: Sequence[Proof]) -> Optional[str]:
    """
    Return a sentence that names the ranks with different libraries, or None.

    The result is None if all ranks have loaded the same libraries.
    """
    identity = _make_identity_key(proofs)
    groups = sorted(_group_by_key(proofs, identity), key=len, reverse=True)
    if len(groups) < 2:
        return None
    builds = [identity(group[0]) for group in groups]
    differing = [
        name
        for name in sorted(set().union(*builds))
        if any(build.get(name) != builds[0].get(name) for build in builds)
    ]
    parts = []
    for group in groups[:4]:
        texts = [
            '%s [%s]' % (summarize_library(group[0], name), _identify_build(library)[:12])
            if library
            else 'no ' + name
            for name in differing
            for library in [group[0]['libraries'].get(name)]
        ]
        nodes = sorted({proof['node'] for proof in group})
        place = '' if len(group) == 1 or len(nodes) > 2 else ' on %s' % ', '.join(nodes)
        parts.append('%s%s loaded %s' % (format_ranks(group), place, ', '.join(texts)))
    more = '; and %d more kinds' % (len(groups) - 4) if len(groups) > 4 else ''
    return 'ranks disagree: %s%s' % ('; '.join(parts), more)


def list_contradictions(
    proofs: Sequence[Proof],
    library_origins: Dict[str, str],
    container: Optional[bool],
    provider: Optional[str] = None,
    is_explicit: bool = False,
) -> List[str]:
    """
    Return one sentence for each group of ranks that contradicts the expectation.

    The parameters after `proofs` have the names and meanings of the fields of Expectation.
    """
    problems = []
    strays = [proof for proof in proofs if container not in (None, proof['container'])]
    if strays:
        places = ('outside', 'in') if container else ('in', 'outside')
        problems.append(
            "%s ran %s a container; expected: %s a container" % (format_ranks(strays), *places)
        )
    for name, origin in sorted(library_origins.items()):
        unread: List[Proof] = []
        wrong: List[Tuple[Any, Proof]] = []
        for proof in proofs:
            library = proof['libraries'].get(name)
            if library and library['problem'] == PROCESS_ENDED and library['where'] != origin:
                unread.append(proof)
            elif (library['where'] if library else NO_LIBFABRIC) != origin:
                wrong.append((library, proof))
        if unread:
            problems.append(
                "%s for the %s that %s loaded: %s"
                % (UNPROVED, name, format_ranks(unread), PROCESS_ENDED)
            )
        for entries in _group_by_key(wrong, lambda entry: entry[0] and entry[0]['path']):
            library, group = entries[0][0], [proof for _, proof in entries]
            expected = 'none' if origin == NO_LIBFABRIC else '%s of the %s' % (name, origin)
            found = 'no ' + name
            if library:
                place = 'the ' + library['where'] if library['where'] else 'an unknown place'
                found = '%s from %s (%s)' % (name, place, library['path'])
                if (origin, library['where']) == ('host', 'image'):
                    expected += (
                        ". The host's library was injected, but the loader finds the image's library first"
                        if any(proof.get('injection') for proof in group)
                        else ". The host's library was not injected: the bind mounts of the module are missing, "
                        "for example " + INJECTION_SCRIPT
                    )
            problems.append('%s loaded %s; expected: %s' % (format_ranks(group), found, expected))
    if library_origins.get('libfabric') != NO_LIBFABRIC:
        problems += list_wrong_providers(proofs, provider, is_explicit)
    return problems + list(filter(None, [find_disagreement(proofs)]))


def _list_allowed_providers(proof: Proof, expected: Optional[str], is_explicit: bool) -> List[str]:
    """
    Return the libfabric providers that a rank may use; an empty list allows any provider.

    The variable FI_PROVIDER of the rank lists the allowed providers. If FI_PROVIDER is not set, or
    if the option --expect sets the provider (`is_explicit`), the result is the expected provider.
    """
    variable, links = map(proof['variables'].get, ('FI_PROVIDER', 'FI_LNX_PROV_LINKS'))
    return parse_allowed_providers(
        expected if is_explicit else variable, links
    ) or parse_allowed_providers(expected, links)


def list_wrong_providers(
    proofs: Iterable[Proof], expected: Optional[str], is_explicit: bool
) -> List[str]:
    """Return one sentence for each group of ranks that use an unexpected provider."""
    wrong = []
    for proof in proofs:
        network, allowed = proof['network'], _list_allowed_providers(proof, expected, is_explicit)
        if not network.get('layer') or not allowed:
            continue
        # The TCP providers cannot be told apart, and psm2 and opx use the same device.
        is_tcp = network['layer'] == 'mpi' or network['provider'] in TCP
        provider = 'cxi' if network['provider'] == SIMULATED_CXI else network['provider'] or ''
        matching = TCP if is_tcp else provider.split(' or ')
        if set(allowed).isdisjoint(matching):
            wrong.append((allowed, network, proof))
    problems = []
    for group in _group_by_key(
        wrong, lambda entry: (entry[0], entry[1]['layer'], entry[1]['provider'])
    ):
        allowed, network, first = group[0]
        used = {
            'libfabric': "libfabric's provider %s" % network['provider'],
            'ucx': 'UCX, not libfabric',
            'mpi': "MPI's own TCP, not libfabric",
        }[network['layer']]
        slow = network['provider'] in TCP and set(allowed).isdisjoint(TCP)
        problems.append(
            "%s used %s%s (rank %d: %s); expected: %s"
            % (
                format_ranks([proof for _, _, proof in group]),
                used,
                ', the slow network' if slow else '',
                first['rank'],
                network['how'],
                ' or '.join(allowed),
            )
        )
    return problems


def _find_singletons(proofs: Sequence[Proof], pmi: Optional[str] = None) -> Optional[str]:
    """
    Return a sentence that names the ranks whose MPI sees no other rank, or None.

    The result is None if the MPI of each rank sees other ranks. pmi: value of srun's option --mpi=
    that the module expects.
    """
    alone = [
        proof
        for proof in proofs
        if proof['world'].get('size') == 1 and max(proof['world']['tasks'] or 1, len(proofs)) > 1
    ]
    if not alone:
        return None
    families = {proof['libraries'].get('libmpi', {}).get('family') for proof in alone}
    right = pmi or next((kind for name, kind in PMI_BY_FAMILY.items() if name in families), None)
    tasks = alone[0]['world']['tasks'] or len(proofs)
    used = sorted({proof['variables'].get('SLURM_MPI_TYPE') or 'none' for proof in alone})
    return "the MPI of %s sees 1 rank, but srun started %d ranks (%s; srun used --mpi=%s). %s" % (
        format_ranks(alone),
        tasks,
        alone[0]['world']['how'],
        ' and '.join(used),
        "Use srun --mpi=%s%s"
        % (
            right,
            ', or omit the option --mpi=, because the module selects the PMI type' if pmi else '',
        )
        if right
        else "List the PMI types with `srun --mpi=list`, and choose the type that the MPI of the ranks supports",
    )


def judge_run(
    run: WatchedRun, expectation: Optional[Expectation] = None
) -> Tuple[List[str], List[str]]:
    """
    Return a list of problems and a list of notes on a run; each entry is a sentence.

    Each problem makes the proof fail. A note reports an undetermined fact or an unusual setting. If
    `expectation` is None, the function only compares the ranks with each other.
    """
    problems = []
    if run.missing_ranks:
        problems.append(
            "%s for %s of %d: the sampler left no file for these ranks. Check that all nodes have python3 and see %s"
            % (
                UNPROVED,
                format_rank_numbers(run.missing_ranks),
                run.tasks or 0,
                os.path.abspath(run.directory),
            )
        )
    for group in _group_by_key(run.ranks_without_mpi, lambda entry: entry[1]):
        ranks = format_rank_numbers([rank for rank, _ in group])
        problems.append("%s for %s: %s" % (UNPROVED, ranks, group[0][1]))
    expected = expectation or NO_EXPECTATION
    alone = _find_singletons(run.proofs, expected.pmi)
    if alone:
        problems.append(alone)
    if not run.proofs:
        return problems, []
    problems += list_contradictions(
        run.proofs,
        expected.library_origins,
        expected.container,
        expected.provider,
        expected.is_explicit,
    )
    return problems, list(_list_notes(run.proofs, expected))


def _list_notes(proofs: Sequence[Proof], expectation: Expectation) -> Iterator[str]:
    """Yield one sentence for each fact that is undetermined, and for each unusual setting."""
    unseen = [proof for proof in proofs if not proof['network'].get('layer')]
    if unseen:
        allowed = {
            name
            for proof in unseen
            for name in _list_allowed_providers(
                proof, expectation.provider, expectation.is_explicit
            )
        }
        yield "cannot tell which libfabric provider was used by %s%s: %s" % (
            format_ranks(unseen),
            ' (expected: %s)' % ' or '.join(sorted(allowed)) if allowed else '',
            "the program terminated before the program opened a network, or the program needs no network"
            if all(proof['complete'] for proof in unseen)
            else "the sampler, which watches a rank, was terminated, usually together with the job step",
        )
    providers = {proof['variables'].get('FI_PROVIDER', '') for proof in proofs}
    changed = sorted(providers - {'', expectation.provider})
    if changed and expectation.provider and not expectation.is_explicit:
        yield (
            "FI_PROVIDER of the ranks is %s: your setting replaces the value that the module sets, %s"
            % (' and '.join(changed), expectation.provider)
        )
    unknown = [proof for proof in proofs if proof['world'].get('size') is None]
    if unknown:
        yield "cannot tell how many ranks of the run are visible to the MPI library of %s: %s" % (
            format_ranks(unknown),
            unknown[0]['world'].get('how') or 'the program terminated too early',
        )
    spaces = _collect_node_namespaces(proofs, 'user')
    apart = sorted(node for node, namespaces in spaces.items() if len(namespaces) > 1)
    if apart:
        group = [proof for proof in proofs if proof['node'] in apart]
        settings = [
            '%s=%s' % (name, value)
            for name, value in NO_CMA_SETTINGS
            if all(proof['variables'].get(name) == value for proof in group)
        ]
        yield (
            "%s on %s each have their own user namespace, so these ranks cannot read each other's memory (CMA): %s. "
            "Start the program with a command of the module, do not set OSU_SHARE=0, and use Apptainer 1.3 or newer"
            % (
                format_ranks(group),
                ', '.join(apart),
                'CMA is disabled in the MPI (%s), so messages within a node are slower'
                % ', '.join(settings)
                if settings
                else 'programs fail if their MPI uses CMA',
            )
        )


def _collect_node_namespaces(proofs: Iterable[Proof], space: str) -> Dict[str, Set[str]]:
    """
    Return {name of a node: set of the namespaces of the ranks on this node}.

    The result contains only nodes on which several ranks run in containers. If the namespace of a
    rank could not be read, the result does not contain the rank's node. space: type of the
    namespaces, 'user' or 'mnt'.
    """
    nodes: Dict[str, List[Any]] = {}
    for proof in proofs:
        if proof['container']:
            nodes.setdefault(proof['node'], []).append(proof['spaces'].get(space))
    return {
        node: set(namespaces)
        for node, namespaces in nodes.items()
        if len(namespaces) > 1 and all(namespaces)
    }


# ---- merging ---------------------------------------------------------------------------------------------------------


def merge_proofs(proofs: List[Proof]) -> List[Dict[str, Any]]:
    """
    Return one dict for each group of equal ranks, ordered by the lowest rank of each group.

    Keys of the dict:

        ranks, nodes     list of the numbers of the ranks, and list of the names of their nodes
        container, image, executable, libraries    values of these keys in the proofs of the ranks
        shared           whether the ranks of a node share a container, None if unknown
        variables        {name: value} of the variables that are equal on all ranks of the group
        differing        names of all other variables
        network, world   list with a dict for each different value, see _count_variants()
    """
    merged, identity = [], _make_identity_key(proofs)
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
        merged.append(
            {
                'shared': all(len(containers) == 1 for containers in spaces.values())
                if spaces
                else None,
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
    return merged


def _count_variants(
    proofs: Iterable[Proof], part: str, keys: Sequence[str]
) -> List[Dict[str, Any]]:
    """
    Count how many ranks have each value of `part` in their proofs.

    part: 'network' or 'world'. keys: keys of this part to compare. The result is a list with one
    dict for each different value. Each dict contains `keys`, the number of ranks as `ranks`, and
    the evidence of the first rank as `how`.
    """
    groups = _group_by_key(proofs, lambda proof: [proof[part].get(key) for key in keys])
    return [
        dict({key: group[0][part].get(key) for key in [*keys, 'how']}, ranks=len(group))
        for group in groups
    ]
