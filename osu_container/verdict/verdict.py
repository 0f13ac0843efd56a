"""
Predict whether an approach works with an image on a site, before anything runs.

judge_trial() applies all rules (rules/) to a Trial (trial.py); the level of the worst finding is
the level of the verdict.
"""

import re
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Set, Tuple

from osu_container.image.elf import ElfError
from osu_container.image.loader import find_loaded_file
from osu_container.image.sif import ImageError
from osu_container.verdict.dry_run import add_listing
from osu_container.verdict.evidence import list_untested_facts
from osu_container.verdict.layers import (
    LIBFABRIC,
    find_network_layer,
)
from osu_container.verdict.rules import RULES
from osu_container.verdict.rules.abi import no_program, other_mpi_family
from osu_container.verdict.rules.finding import (
    LEVELS,
    NOTE,
    OTHER_APPROACHES,
    START_REMEDY,
    Finding,
    Remedy,
    format_remedy,
    report_problem,
)
from osu_container.verdict.rules.image_environment import downgrade_uncertain
from osu_container.verdict.rules.machine import check_host_paths
from osu_container.verdict.rules.start import is_superseded
from osu_container.verdict.settings import list_mpi_families, resolve_approach, select_pmi
from osu_container.verdict.site_choice import SettingsError
from osu_container.verdict.started import Start
from osu_container.verdict.trial import (
    AnyImage,
    Change,
    ChangedImage,
    Host,
    NoMpiError,
    Trial,
    build_trial,
    select_image_mpi,
)


class Verdict(NamedTuple):
    """The prediction for one approach with one image on one site."""

    #: name of the approach
    approach: str
    #: one of LEVELS
    level: str
    #: the worst first
    findings: List[Finding]
    #: the MPI that runs and its owner, e.g. 'MPICH 4.2.3 of the image'; 'none' without an MPI
    mpi: str
    #: the libfabric that is loaded and its owner; 'none' without a libfabric
    libfabric: str
    #: kind of PMI (srun --mpi=), None if the site has no PMI for this MPI
    pmi: Optional[str]
    #: names of untested facts on site and host on which the verdict depends
    untested_facts: List[str] = []
    #: level of the image's MPI without a program, if the program's MPI is unknown
    standalone_level: Optional[str] = None
    #: the judged program after the scripts that start it: 'run.sh -> /opt/app'
    program: Optional[str] = None
    #: library that MPI uses between nodes: 'libfabric', 'UCX' or 'TCP', None if unknown
    network: Optional[str] = None
    #: result of a start of the user's command, None without a start
    start: Optional[Start] = None


#: Function that starts the user's command for a Trial and returns (Trial, Verdict) from the result
Starter = Callable[[Trial], Tuple[Trial, Verdict]]

#: Rules: if one of them reports a failure, all other findings are irrelevant
_DECISIVE = ('other MPI', 'architecture', 'GPU vendor')


def judge_trial(trial: Trial) -> Verdict:
    """Apply all rules to a Trial and return the Verdict."""
    all_findings = [
        finding for rule in RULES for finding in rule(trial) if not is_superseded(trial, finding)
    ]
    findings = downgrade_uncertain(trial, all_findings)
    if trial.start:
        findings = [
            finding._replace(remedy='', remedies=()) if finding.remedy == START_REMEDY else finding
            for finding in findings
        ]
    # An overlay hides the files of the image, and an undescribed host the injected libraries: other
    # findings are then uncertain, except failures that do not depend on the host.
    findings = (
        [finding for finding in findings if finding.rule == 'overlay']
        or [
            finding
            for finding in findings
            if finding.rule in _DECISIVE and finding.level == 'fails'
        ]
        or [finding for finding in findings if finding.rule == 'host not described']
        or findings
    )
    order = [NOTE] + LEVELS
    # The sort is stable, so findings of one level stay in the order of RULES.
    findings.sort(key=lambda finding: -order.index(finding.level))
    level = find_worst_level(findings)
    standalone_level = (
        find_worst_level([finding for finding in all_findings if finding.rule != 'no program'])
        if trial.unknown_reason
        else None
    )
    paths = [script for script, _ in trial.launched.scripts]
    path = (trial.started.program if trial.started else trial.program) or ''
    return Verdict(
        trial.approach['name'],
        level,
        findings,
        _describe_library(trial, trial.soname, trial.mpi),
        _describe_library(trial, 'libfabric.so.1', trial.fabric),
        select_pmi(trial.approach, trial.site),
        list_untested_facts(
            trial, level, [finding.rule for finding in findings if finding.level == level]
        ),
        standalone_level,
        ' -> '.join(paths + [path] * bool(path)) or None,
        find_network_layer(trial),
        trial.start,
    )


def format_level(verdict: Verdict) -> str:
    """Return the level as text, preceded by 'probably' if the verdict has untested facts."""
    return 'probably ' * (bool(verdict.untested_facts) and verdict.level != 'unknown') + (
        verdict.level
    )


def format_verdict(verdict: Verdict) -> str:
    """Return the level with the untested facts: 'probably works (untested: host.libcxi)'."""
    names = ', '.join(verdict.untested_facts)
    return format_level(verdict) + (' (untested: %s)' % names if names else '')


def format_stack(verdict: Verdict) -> str:
    """
    Return the MPI that would run: 'MPICH 4.2.3 (image) over libfabric 1.22.0 (host)'.

    If the program's MPI is unknown, return a text with the level for the image's MPI: 'if the
    program uses MPICH 4.2.3 (image): works'. Return '' for a verdict without an MPI.
    """
    mpi, libfabric = (
        re.sub(r' of the (image|host)$', r' (\1)', text)
        for text in (verdict.mpi, verdict.libfabric)
    )
    if verdict.standalone_level:
        return 'if the program uses %s: %s' % (mpi, verdict.standalone_level)
    network = libfabric if verdict.network in (None, LIBFABRIC) else verdict.network
    if libfabric == 'none':
        network = '%s, no libfabric' % (verdict.network or 'an unknown network library')
    return '' if mpi == 'none' else '%s over %s' % (mpi, network)


def find_worst_level(findings: Iterable[Finding]) -> str:
    """Return the worst level of the findings, 'works' if all findings are notes."""
    return max(
        [finding.level for finding in findings if finding.level != NOTE] or LEVELS[:1],
        key=LEVELS.index,
    )


def _describe_library(trial: Trial, soname: str, traits: Dict[str, Any]) -> str:
    """Return a text such as 'MPICH 4.2.3 of the image', 'none' if the library is not loaded."""
    library = find_loaded_file(trial.process, soname)
    if library is None:
        return 'none'
    family = traits.get('family') or ('libfabric' if soname == 'libfabric.so.1' else soname)
    return f"{family} {traits.get('release') or 'of unknown release'} of the {library.origin}"


#: Rules: if one of them reports a failure, a dry run of the image's loader shows nothing new
_STATIC_RULES = _DECISIVE + ('host path missing', 'entrypoint', 'overlay')


def evaluate_approach(
    approach: Dict[str, Any],
    site: Dict[str, Any],
    image: AnyImage,
    host: Host,
    program: Optional[str] = None,
    runtime: Optional[Dict[str, Any]] = None,
    dry_run: bool = False,
    starter: Optional[Starter] = None,
) -> Tuple[Trial, Verdict]:
    """
    Build the Trial of an approach on a site, and return (Trial, Verdict).

    dry_run: whether to run the image's loader, and compare the libraries that the loader lists with
    the predicted libraries (dry_run.py). starter: function that starts the user's command; the
    started process replaces the predicted process. With None, the function only
    predicts. The other parameters and the errors are those of build_trial().
    """
    trial = build_trial(approach, site, image, host, program, runtime, requires_mpi=starter is None)
    if starter and not trial.soname:
        return starter(trial)
    verdict = judge_trial(trial)
    is_certain = any(
        finding.rule in _STATIC_RULES and finding.level != NOTE for finding in verdict.findings
    )
    if starter and not is_certain:
        trial, verdict = starter(trial)
    # A command that loaded no MPI answers nothing: the image's loader is asked instead.
    if (starter or dry_run) and not is_certain and not trial.started:
        trial = add_listing(trial, approach, program)._replace(start=trial.start)
        verdict = judge_trial(trial)
    return trial, verdict


def judge_approach(
    approach: Dict[str, Any],
    site: Dict[str, Any],
    image: AnyImage,
    host: Host,
    program: Optional[str] = None,
    runtime: Optional[Dict[str, Any]] = None,
    dry_run: bool = False,
    starter: Optional[Starter] = None,
) -> Verdict:
    """
    Return the Verdict on an approach.

    The parameters are those of evaluate_approach(). The verdict is 'fails' if the site lacks a PMI
    or a library that the approach needs, or if a library of the host is damaged. The verdict is
    'unknown' if the image has no visible MPI. Raises ImageError as build_trial() does.
    """
    try:
        return evaluate_approach(approach, site, image, host, program, runtime, dry_run, starter)[1]
    except NoMpiError as err:
        finding = no_program.label_finding(
            report_problem('unknown', str(err), image.path, 'no libmpi', START_REMEDY)
        )
    except ElfError as err:
        finding = check_host_paths.label_finding(
            report_problem(
                'fails',
                "ld.so cannot load a library of the host, which approach '%s' injects: %s"
                % (approach['name'], err),
                str(err).partition(': ')[0],
                'not a valid library',
                'run `osu-container discover`, which finds the current paths of the libraries',
            )
        )
    except SettingsError as err:
        finding = Finding('site', 'fails', str(err), [('site ' + site['name'], '')], '', '')
        family, soname, _ = select_image_mpi(image, list_mpi_families(approach))
        # No change of the site helps an image with another MPI.
        if family and family not in list_mpi_families(approach):
            finding = other_mpi_family.label_finding(
                report_problem(
                    'fails',
                    "the image's MPI is %s (%s), but approach '%s' needs %s"
                    % (family, soname, approach['name'], approach['mpi']),
                    image.path,
                    soname,
                    OTHER_APPROACHES,
                )
            )
    return Verdict(approach['name'], finding.level, [finding], 'none', 'none', None)


def judge_approaches(
    names: Iterable[str],
    site: Dict[str, Any],
    image: AnyImage,
    host: Host,
    program: Optional[str],
    runtime: Optional[Dict[str, Any]],
    dry_run: bool,
    starter: Optional[Starter],
    progress: Callable[[str], Any],
) -> List[Verdict]:
    """
    Return the Verdict on each approach in `names`, with remedies that were tested.

    judge_remedies() tests the remedies. progress: function that prints a progress line. The other
    parameters are those of judge_approach().
    """
    verdicts = []
    for name in names:
        progress('judging %s with %s' % (name, image.path))
        verdicts.append(
            judge_approach(
                resolve_approach(name), site, image, host, program, runtime, dry_run, starter
            )
        )
    return judge_remedies(verdicts, site, image, host, program, runtime)


def judge_remedies(
    verdicts: List[Verdict],
    site: Dict[str, Any],
    image: AnyImage,
    host: Host,
    program: Optional[str] = None,
    runtime: Optional[Dict[str, Any]] = None,
) -> List[Verdict]:
    """
    Test the remedies on copies of the image, and return the verdicts with useful remedies.

    The result omits a remedy that does not remove the finding. If a remedy offers several
    approaches, the remedy omits the approaches that fail. If a problem remains after a remedy, the
    text of the remedy contains the problem. `check` cannot test some remedies, such as remedies for
    findings that only a dry run or a started command shows; the result contains these remedies
    unchanged. The other parameters are those of judge_approach().
    """
    judged = {verdict.approach: verdict for verdict in verdicts}
    predicted: Dict[str, Verdict] = {}

    def judge(name: str, change: Optional[Change] = None) -> Verdict:
        return judge_approach(
            resolve_approach(name),
            site,
            ChangedImage(image, change) if change else image,
            host,
            program,
            runtime,
        )

    def apply_remedy(verdict: Verdict, finding: Finding, remedy: Remedy) -> Optional[str]:
        """Return the text of a remedy, None if the remedy does not remove the finding."""
        if isinstance(remedy, str):
            return remedy
        observed, name = identify_finding(finding), verdict.approach
        findings, refuted = identify_findings(verdict), set()
        for other in remedy.approaches:
            judged[other] = judged.get(other) or judge(other)
        outcomes = [judged[other] for other in remedy.approaches]
        if not outcomes:
            predicted[name] = predicted.get(name) or judge(name)
            if observed not in identify_findings(predicted[name]):
                return format_remedy(remedy)
            try:
                outcomes = [judge(name, remedy)]
            except (
                ImageError
            ):  # Without the line that the remedy removes, the program is not found.
                return None
            refuted = identify_findings(predicted[name]) - findings
        outcomes = [each for each in outcomes if observed not in identify_findings(each)]
        if len(remedy.approaches) > 1:
            outcomes = [each for each in outcomes if each.level != 'fails']
        if not outcomes:
            return None
        names = [each.approach for each in outcomes if remedy.approaches]
        text = format_remedy(remedy._replace(approaches=names))
        for each in outcomes[0].findings:
            if each.level in ('unknown', 'fails') and identify_finding(each) not in refuted:
                reason = '' if identify_finding(each) in findings else ': ' + each.reason
                return text + ' (afterwards the verdict is %s%s)' % (each.level, reason)
        return text

    def select_remedies(verdict: Verdict, finding: Finding) -> Finding:
        texts = [apply_remedy(verdict, finding, remedy) for remedy in finding.remedies]
        return finding._replace(remedy='; or '.join(filter(None, texts))) if texts else finding

    return [
        verdict._replace(findings=[select_remedies(verdict, each) for each in verdict.findings])
        for verdict in verdicts
    ]


def identify_findings(verdict: Verdict) -> Set[Tuple[str, str, Any]]:
    """Return the results of identify_finding() for all findings of a verdict."""
    return set(map(identify_finding, verdict.findings))


def identify_finding(finding: Finding) -> Tuple[str, str, Any]:
    """
    Return a key by which `check` recognises the same finding in two verdicts.

    The key is (rule, level, first evidence). Without evidence, the last item is the reason.
    """
    return finding.rule, finding.level, finding.evidence[0] if finding.evidence else finding.reason


def recommend_approach(verdicts: Iterable[Verdict], site: Dict[str, Any]) -> Optional[str]:
    """
    Return the name of the best approach on a site, None if no approach is recommended.

    On a site with Slingshot, an approach is not recommended if MPI uses another network. Among
    equally good approaches, this function prefers, in this order: an approach whose verdict depends
    on no untested fact, the default approach of the site, and the approach that injects fewer host
    libraries.
    """
    order = [site['default_approach']['value'], 'opensource', 'openmpi', 'hybrid', 'bind', 'pure']
    usable = [
        verdict
        for verdict in verdicts
        if verdict.level in LEVELS[:2]
        # The findings say that MPI sends over TCP, or over a UCX that drives no card of the site.
        and not (
            site['provider']['value'] == 'cxi'
            and {'TCP only', 'UCX'} & {finding.rule for finding in verdict.findings}
        )
    ]
    # Untested facts that all verdicts share do not distinguish these verdicts.
    shared_facts = (
        set(usable[0].untested_facts).intersection(*(verdict.untested_facts for verdict in usable))
        if usable
        else set()
    )
    best = sorted(
        usable,
        key=lambda verdict: (
            LEVELS.index(verdict.level),
            bool(set(verdict.untested_facts) - shared_facts),
            order.index(verdict.approach) if verdict.approach in order else len(order),
        ),
    )
    return best[0].approach if best else None
