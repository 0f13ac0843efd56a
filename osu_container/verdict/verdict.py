"""
The verdict: whether an approach will work with an image on a site, from facts read before anything
runs.

judge_trial() puts a Trial (trial.py) before all rules (rules/): the worst of what they find is the
verdict.

Pure functions on the Trial; Python 3.6 and its standard library.
"""

from collections import namedtuple

from osu_container.image.loader import find_loaded_file
from osu_container.verdict.dry_run import add_listing
from osu_container.verdict.evidence import list_untested_facts
from osu_container.verdict.rules import RULES
from osu_container.verdict.rules.abi import (
    PROGRAM_REMEDY,
    no_program,
    other_mpi_family,
    report_other_mpi,
)
from osu_container.verdict.rules.finding import LEVELS, NOTE, Finding
from osu_container.verdict.rules.gpu_fit import check_gpu_vendor, report_other_vendor
from osu_container.verdict.rules.image_environment import downgrade_uncertain
from osu_container.verdict.settings import list_mpi_families, select_pmi
from osu_container.verdict.site_choice import SettingsError
from osu_container.verdict.trial import NoMpiError, build_trial, select_image_mpi

#: approach: its name; level: one of LEVELS; findings: list of Finding, the worst first; mpi: what
#: MPI runs (str), from where; libfabric: the same; launch: the --mpi= of srun, None if the site has
#: none for it; untested: list of names of facts, of the site and of a host that is described, that
#: the verdict rests on and that nobody has shown there; alone: where the program's MPI is not
#: known, the level that the image's MPI by itself would have, else None; program: what was judged
#: (str), scripts on the way first, or None
Verdict = namedtuple(
    'Verdict', 'approach level findings mpi libfabric pmi untested_facts standalone_level program'
)
Verdict.__new__.__defaults__ = ([], None, None)

#: After these nothing else is worth saying
_DECISIVE = ('other MPI', 'architecture', 'GPU vendor')


def judge_trial(trial):
    """Return the Verdict on a Trial."""
    said_by = [finding for rule in RULES for finding in rule(trial)]
    findings = downgrade_uncertain(trial, said_by)
    decisive = [
        finding for finding in findings if finding.rule in _DECISIVE and finding.level == 'fails'
    ]
    # of an image whose files are not known nothing else is; of a host, what has nothing to do with
    # it
    unread = [finding for finding in findings if finding.rule == 'overlay']
    unread = (
        unread
        or decisive
        or [finding for finding in findings if finding.rule == 'host not described']
    )
    findings = unread or findings
    order = [NOTE] + LEVELS
    findings.sort(
        key=lambda finding: -order.index(finding.level)
    )  # stable: of equals the order of RULES
    level = find_worst_level(findings)
    alone = (
        find_worst_level([finding for finding in said_by if finding.rule != 'no program'])
        if trial.program.unknown_reason
        else None
    )
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
        alone,
        _format_program(trial.program),
    )


def _format_program(start):
    """Return what was judged (str), scripts on the way first, None where that is no program."""
    names = [path for path, _ in start.launched_program.scripts] + [start.path] * bool(start.path)
    return ' -> '.join(names) or None


def format_verdict(verdict):
    """
    Return the level of a Verdict as it is printed (str): with what it rests on that nobody has
    shown.
    """
    of_host = [name for name in verdict.untested_facts if name.startswith('host.')]
    names = [name for name in verdict.untested_facts if name not in of_host]
    names += of_host if len(of_host) < 4 else ['host.* (%d)' % len(of_host)]
    alone = ', its MPI by itself: ' + verdict.standalone_level if verdict.standalone_level else ''
    return verdict.level + alone + (', untested: ' + ', '.join(names) if names else '')


def find_worst_level(findings):
    """Return the worst level (str, one of LEVELS) of findings (list of Finding)."""
    return max(
        [finding.level for finding in findings if finding.level != NOTE] or LEVELS[:1],
        key=LEVELS.index,
    )


def _describe_library(trial, soname, traits):
    """
    Return what a library of the process is and whose (str), e.g. 'MPICH 4.2.3 of the image';
    'none' without.
    """
    one = find_loaded_file(trial.process, soname)
    if one is None:
        return 'none'
    family = (traits or {}).get('family') or ('libfabric' if soname == 'libfabric.so.1' else soname)
    return '%s %s of the %s' % (
        family,
        (traits or {}).get('release') or 'of unknown release',
        one.origin,
    )


#: Where the first of them says that it fails, no loader is asked
_STATIC_RULES = _DECISIVE + ('host path missing', 'entrypoint', 'overlay')


def evaluate_approach(approach, site, image, host, program=None, runtime=None, dry_run=False):
    """
    Return (Trial, Verdict) of an approach (dict) on a site (dict): build_trial() and judge_trial()
    in one.

    dry: bool, the image's own loader is asked too (dry_run.py); others, and what is raised: see
    build_trial().
    """
    trial = build_trial(approach, site, image, host, program, runtime)
    verdict = judge_trial(trial)
    # an entrypoint takes the image's own where the host's does not fit: that loads, and is not what
    # was promised
    dry_run = dry_run and not (approach.get('entrypoint') and verdict.level == 'fails')
    if dry_run and not any(
        one.rule in _STATIC_RULES and one.level != NOTE for one in verdict.findings
    ):
        trial = add_listing(trial, approach, program)
        verdict = judge_trial(trial)
    return trial, verdict


def judge_approach(approach, site, image, host, program=None, runtime=None, dry_run=False):
    """
    Return the Verdict on an approach (dict) on a site (dict), see evaluate_approach().

    An approach that the site cannot have (no PMI for its MPI, no such library) fails, with that as
    the reason; an image in which no MPI is seen is unknown. Raises ImageError and ElfError as
    build_trial() does.
    """
    try:
        return evaluate_approach(approach, site, image, host, program, runtime, dry_run)[1]
    except NoMpiError as err:
        finding = _label_finding(
            no_program,
            Finding('', 'unknown', str(err), [(image.path, 'no libmpi')], PROGRAM_REMEDY, ''),
        )
        return Verdict(approach['name'], 'unknown', [finding], 'none', 'none', None)
    except SettingsError as err:
        finding = Finding(
            'site',
            'fails',
            str(err),
            [('site ' + site['name'], 'has no such fact')],
            'take another approach, or add the fact to the site',
            'site data',
        )
        family, soname, _ = select_image_mpi(image, list_mpi_families(approach))
        if family and family not in list_mpi_families(
            approach
        ):  # of two reasons the one that no site can change
            finding = _label_finding(
                other_mpi_family, next(report_other_mpi(family, soname, approach, image, site))
            )
        vendor = [
            _label_finding(check_gpu_vendor, other)
            for other in report_other_vendor(site, image)
            if other.level == 'fails'
        ]
        return Verdict(approach['name'], 'fails', vendor + [finding], 'none', 'none', None)


def _label_finding(rule, finding):
    """Return the finding under the name of a rule, with its source."""
    return finding._replace(rule=rule.name, source=rule.source)


def recommend_approach(verdicts, site):
    """
    Return the name (str) of the approach to take of verdicts (list of Verdict) on site (dict), None
    if none will do.

    Among equals what rests on nothing untested wins, then the site's default, then what takes less
    from the host.
    """
    order = [site['default_approach']['value'], 'opensource', 'openmpi', 'hybrid', 'bind', 'pure']
    usable = [one for one in verdicts if one.level in ('works', 'works slowly')]
    # what all of them rest on makes none the better one
    always = (
        set(usable[0].untested_facts).intersection(*(one.untested_facts for one in usable))
        if usable
        else set()
    )
    # where MPI has no use for libfabric, what only helps libfabric comes last
    best = sorted(
        usable,
        key=lambda one: (
            LEVELS.index(one.level),
            'no libfabric' in [finding.rule for finding in one.findings],
            bool(set(one.untested_facts) - always),
            order.index(one.approach) if one.approach in order else len(order),
        ),
    )
    return best[0].approach if best else None
