"""
The examination: what the rules say of the twelve published combinations, beside what was seen on LUMI.

Source of the table: DeiC-HPC/BitBulldozersLab, "Docker build pipeline for 4 different container approaches on LUMI",
2025-03: LUMI-G, host libfabric 1.15.2.0, Cray MPICH 8.1.29, ROCm 6.0.3 (osu_container/check/compatibility.csv).
"""
import csv
import json
import os
from collections import namedtuple

from osu_container.core.deciding.rules.finding import NOTE
from osu_container.core.deciding.settings import approach_entry
from osu_container.core.deciding.site_choice import site_entry
from osu_container.core.deciding.verdict import ask

from .described import SP5_GLIBC, lumi_host, published_image

TABLE = os.path.join(os.path.dirname(os.path.realpath(__file__)), 'compatibility.csv')
APPROACHES = ['pure', 'bind', 'hybrid', 'opensource']
#: The site of the published runs, and the one that LUMI has become
THEN, NOW = 'lumi-24.03', 'lumi-25.03'
#: site -> libfabric, Cray MPICH, glibc of its host (see lumi_host), ROCm of the images. Now: the same images, made
#: with the ROCm of today's stack, since its driver does not know 6.0 any more. What LUMI's libraries need of glibc
#: since January 2026 was not seen; its release is 2.38, the images' 2.35.
HOSTS = {THEN: ('1.15.2.0', '8.1.29', SP5_GLIBC, '6.0.3'), NOW: ('1.22.0', '8.1.32', None, '6.3.4')}

#: Marks of the table that were measured -> whether the run ended with figures, and what the mark means
MARKS = {'Y': (True, 'works'), '(Y)': (True, 'works slowly'), 'N': (False, 'fails')}

#: (approach or None for any, text in the published note, rules that name that cause). First match counts; a prediction
#: must have one of them among its reasons. Where the table gives no cause, none is asked for.
CAUSES = [
    ('pure', '', ['TCP only']),
    ('bind', 'RCCL 5 GB/s', ['RCCL plugin']),
    ('bind', 'RCCL 3 GB/s', ['RCCL plugin']),
    (None, 'not compiled with channel 4', ['no libfabric']),
    (None, 'TCP/IP', ['no libfabric']),
    (None, 'higher libfabric version', ['symbol version']),
    (None, 'no cxi provider', ['no provider']),
    # what MPI says when libfabric offers nothing for FI_PROVIDER=cxi
    (None, 'open_fabric:No data available', ['no provider', 'not seen over cxi']),
    (None, 'incompatible with libcxi', ['no provider', 'not seen over cxi']),
]

#: image: str; approach: str; mark: as published; note: str; verdict: Verdict; outcome: 'right', 'unknown', 'wrong' or
#: 'not measured'; why: str, one sentence
Cell = namedtuple('Cell', 'image approach mark note verdict outcome why')


def rows():
    """Return the rows (list of dict of str) of the published table, keys as in the head of the file."""
    with open(TABLE, newline='') as stream:
        return list(csv.DictReader(stream))


def wanted_causes(approach, note):
    """Return the names of rules (list of str) one of which must be among the reasons; [] where none is asked for."""
    return next((rules for name, text, rules in CAUSES if name in (None, approach) and text in note), [])


def judged(mark, approach, note, verdict):
    """Return (outcome, why) of a prediction (Verdict) beside what was published."""
    reasons = [finding for finding in verdict.findings if finding.level != NOTE]
    why = reasons[0].reason if reasons else 'nothing speaks against it'
    if mark not in MARKS:
        return 'not measured', why
    if verdict.level == 'unknown':
        return 'unknown', why
    runs, _ = MARKS[mark]
    if runs != (verdict.level in ('works', 'works slowly')):
        return 'wrong', why
    causes = wanted_causes(approach, note)
    named = [finding for finding in reasons if finding.rule in causes]
    if causes and not named:
        return 'wrong', 'right for another reason than the published one: ' + why
    return 'right', named[0].reason if named else why


def examination(site_name=THEN):
    """
    Return the Cells (list) of the published combinations on a site of HOSTS.

    On NOW nothing was measured: the marks are those of the table all the same, the outcome is 'not measured'.
    """
    site = site_entry(site_name)
    libfabric, cray_mpich, glibc, rocm = HOSTS[site_name]
    host = lumi_host(site, libfabric, cray_mpich, glibc)
    cells = []
    for row in rows():
        image = published_image(row['libcxi'] == 'yes', row['libfabric'], row['mpich'], rocm)
        for approach in APPROACHES:
            verdict = ask(approach_entry(approach), site, image, host)
            mark = row[approach] if site_name == THEN else ''
            note = row[approach + '_note'] if site_name == THEN else ''
            cells.append(Cell(image.path, approach, mark, note, verdict, *judged(mark, approach, note, verdict)))
    return cells


def as_data(cell):
    """Return a Cell as plain data (dict)."""
    return {'image': cell.image, 'approach': cell.approach, 'published': cell.mark or None, 'note': cell.note or None,
            'predicted': cell.verdict.level, 'outcome': cell.outcome, 'why': cell.why,
            'rules': [finding.rule for finding in cell.verdict.findings if finding.level != NOTE]}


def main(options):
    """Print a line a cell and the counts; return 0, or 1 if a prediction was wrong."""
    site = options.site or THEN
    if site not in HOSTS:
        from .cli import CheckError
        raise CheckError("--published: site %s is not described; described are %s" % (site, ', '.join(sorted(HOSTS))))
    cells = examination(site)
    count = {word: sum(cell.outcome == word for cell in cells) for word in ('right', 'unknown', 'wrong')}
    if options.json:
        print(json.dumps({'site': site, 'measured': site == THEN, 'counts': count,
                          'cells': [as_data(cell) for cell in cells]}, indent=1))
        return 1 if count['wrong'] else 0
    if site != THEN:
        print("A prediction for %s; nobody has run these images there (untested)." % site)
        cells = [cell._replace(mark='') for cell in cells]
    for cell in cells:
        if site != THEN:
            print('%-40s %-11s %-13s %s' % (cell.image, cell.approach, cell.verdict.level, cell.why))
        elif cell.outcome != 'not measured':
            print('%-8s %-40s %-11s seen %-4s predicted %-13s %s' % (
                cell.outcome, cell.image, cell.approach, cell.mark, cell.verdict.level, cell.why))
    if site != THEN:
        return 0
    print('%d right, %d unknown, %d wrong' % (count['right'], count['unknown'], count['wrong']))
    return 1 if count['wrong'] else 0
