"""
The verdict: whether an approach will work with an image on a site, from facts read before anything runs.

verdict_of() puts a Trial (trial.py) before all rules (rules/): the worst of what they find is the verdict.

Pure functions on the Trial; Python 3.6 and its standard library.
"""
from collections import namedtuple

from osu_container.image.loader import of_name
from osu_container.verdict.dry_run import with_listing
from osu_container.verdict.evidence import untested
from osu_container.verdict.rules import RULES
from osu_container.verdict.rules.abi import REMEDY, no_program, other_mpi, other_mpi_family
from osu_container.verdict.rules.finding import LEVELS, NOTE, Finding
from osu_container.verdict.rules.gpu_fit import gpu_vendor, other_vendor
from osu_container.verdict.rules.image_environment import doubted
from osu_container.verdict.settings import families, pmi_for
from osu_container.verdict.site_choice import SettingsError
from osu_container.verdict.trial import NoMpi, image_mpi, trial_of

#: approach: its name; level: one of LEVELS; findings: list of Finding, the worst first; mpi: what MPI runs (str), from
#: where; libfabric: the same; launch: the --mpi= of srun, None if the site has none for it; untested: list of names of
#: facts, of the site and of a host that is described, that the verdict rests on and that nobody has shown there;
#: alone: where the program's MPI is not known, the level that the image's MPI by itself would have, else None;
#: program: what was judged (str), scripts on the way first, or None
Verdict = namedtuple('Verdict', 'approach level findings mpi libfabric launch untested alone program')
Verdict.__new__.__defaults__ = ([], None, None)

#: After these nothing else is worth saying
_DECISIVE = ('other MPI', 'architecture', 'GPU vendor')


def verdict_of(trial):
    """Return the Verdict on a Trial."""
    said_by = [finding for rule in RULES for finding in rule(trial)]
    findings = doubted(trial, said_by)
    decisive = [finding for finding in findings if finding.rule in _DECISIVE and finding.level == 'fails']
    # of an image whose files are not known nothing else is; of a host, what has nothing to do with it
    unread = [finding for finding in findings if finding.rule == 'overlay']
    unread = unread or decisive or [finding for finding in findings if finding.rule == 'host not described']
    findings = unread or findings
    order = [NOTE] + LEVELS
    findings.sort(key=lambda finding: -order.index(finding.level))  # stable: of equals the order of RULES
    level = level_of(findings)
    alone = level_of([finding for finding in said_by if finding.rule != 'no program']) if trial.start.why else None
    return Verdict(trial.approach['name'], level, findings,
                   _described(trial, trial.soname, trial.mpi), _described(trial, 'libfabric.so.1', trial.fabric),
                   pmi_for(trial.approach, trial.site),
                   untested(trial, level, [finding.rule for finding in findings if finding.level == level]), alone,
                   _judged(trial.start))


def _judged(start):
    """Return what was judged (str), scripts on the way first, None where that is no program."""
    names = [path for path, _ in start.begun.scripts] + [start.program] * bool(start.program)
    return ' -> '.join(names) or None


def said(verdict):
    """Return the level of a Verdict as it is printed (str): with what it rests on that nobody has shown."""
    of_host = [name for name in verdict.untested if name.startswith('host.')]
    names = [name for name in verdict.untested if name not in of_host]
    names += of_host if len(of_host) < 4 else ['host.* (%d)' % len(of_host)]
    alone = ', its MPI by itself: ' + verdict.alone if verdict.alone else ''
    return verdict.level + alone + (', untested: ' + ', '.join(names) if names else '')


def level_of(findings):
    """Return the worst level (str, one of LEVELS) of findings (list of Finding)."""
    return max([finding.level for finding in findings if finding.level != NOTE] or LEVELS[:1], key=LEVELS.index)


def _described(trial, soname, traits):
    """Return what a library of the process is and whose (str), e.g. 'MPICH 4.2.3 of the image'; 'none' without."""
    one = of_name(trial.process, soname)
    if one is None:
        return 'none'
    family = (traits or {}).get('family') or ('libfabric' if soname == 'libfabric.so.1' else soname)
    return '%s %s of the %s' % (family, (traits or {}).get('release') or 'of unknown release', one.origin)


#: Where the first of them says that it fails, no loader is asked
_ON_PAPER = _DECISIVE + ('host path missing', 'entrypoint', 'overlay')


def judged(approach, site, image, host, program=None, runtime=None, dry=False):
    """
    Return (Trial, Verdict) of an approach (dict) on a site (dict): trial_of() and verdict_of() in one.

    dry: bool, the image's own loader is asked too (dry_run.py); others, and what is raised: see trial_of().
    """
    trial = trial_of(approach, site, image, host, program, runtime)
    verdict = verdict_of(trial)
    # an entrypoint takes the image's own where the host's does not fit: that loads, and is not what was promised
    dry = dry and not (approach.get('entrypoint') and verdict.level == 'fails')
    if dry and not any(one.rule in _ON_PAPER and one.level != NOTE for one in verdict.findings):
        trial = with_listing(trial, approach, program)
        verdict = verdict_of(trial)
    return trial, verdict


def ask(approach, site, image, host, program=None, runtime=None, dry=False):
    """
    Return the Verdict on an approach (dict) on a site (dict), see judged().

    An approach that the site cannot have (no PMI for its MPI, no such library) fails, with that as the reason; an image
    in which no MPI is seen is unknown. Raises ImageError and ElfError as trial_of() does.
    """
    try:
        return judged(approach, site, image, host, program, runtime, dry)[1]
    except NoMpi as err:
        finding = _of_rule(no_program, Finding('', 'unknown', str(err), [(image.path, 'no libmpi')], REMEDY, ''))
        return Verdict(approach['name'], 'unknown', [finding], 'none', 'none', None)
    except SettingsError as err:
        finding = Finding('site', 'fails', str(err), [('site ' + site['name'], 'has no such fact')],
                          'take another approach, or add the fact to the site', 'site data')
        family, soname, _ = image_mpi(image, families(approach))
        if family and family not in families(approach):  # of two reasons the one that no site can change
            finding = _of_rule(other_mpi_family, next(other_mpi(family, soname, approach, image, site)))
        vendor = [_of_rule(gpu_vendor, other) for other in other_vendor(site, image) if other.level == 'fails']
        return Verdict(approach['name'], 'fails', vendor + [finding], 'none', 'none', None)


def _of_rule(rule, finding):
    """Return the finding under the name of a rule, with its source."""
    return finding._replace(rule=rule.name, source=rule.source)


def recommended(verdicts, site):
    """
    Return the name (str) of the approach to take of verdicts (list of Verdict) on site (dict), None if none will do.

    Among equals what rests on nothing untested wins, then the site's default, then what takes less from the host.
    """
    order = [site['default_approach']['value'], 'opensource', 'openmpi', 'hybrid', 'bind', 'pure']
    usable = [one for one in verdicts if one.level in ('works', 'works slowly')]
    # what all of them rest on makes none the better one
    always = set(usable[0].untested).intersection(*(one.untested for one in usable)) if usable else set()
    # where MPI has no use for libfabric, what only helps libfabric comes last
    best = sorted(usable, key=lambda one: (
        LEVELS.index(one.level), 'no libfabric' in [finding.rule for finding in one.findings],
        bool(set(one.untested) - always),
        order.index(one.approach) if one.approach in order else len(order)))
    return best[0].approach if best else None
