"""
The examination: what the rules say of the twelve published combinations, beside what was seen on
LUMI.

Source of the table: DeiC-HPC/BitBulldozersLab, "Docker build pipeline for 4 different container
approaches on LUMI", 2025-03: LUMI-G, host libfabric 1.15.2.0, Cray MPICH 8.1.29, ROCm 6.0.3
(osu_container/check/compatibility.csv).
"""

import csv
import os
import re
from collections import namedtuple

from osu_container.base import columns
from osu_container.check.described import describe_published_image
from osu_container.check.public_hosts import find_host_description
from osu_container.discover.host_facts import DescribedHost
from osu_container.verdict.rules.finding import NOTE
from osu_container.verdict.settings import resolve_approach
from osu_container.verdict.site_choice import resolve_described_site, resolve_site
from osu_container.verdict.verdict import find_worst_level, judge_approach

TABLE = os.path.join(os.path.dirname(os.path.realpath(__file__)), 'compatibility.csv')
PUBLISHED_APPROACHES = ['pure', 'bind', 'hybrid', 'opensource']
#: The site of the published runs, and the one that LUMI has become
PUBLISHED_SITE, CURRENT_SITE = 'lumi-24.03', 'lumi-25.03'
#: site -> ROCm of the images. Now: the same images, made with the ROCm of today's stack, since its
#: driver does not know 6.0 any more. The hosts are those of public_hosts.py: what LUMI's libraries
#: need of glibc since January 2026 was not seen; its release is 2.38, the images' 2.35.
ROCM_RELEASES = {PUBLISHED_SITE: '6.0.3', CURRENT_SITE: '6.3.4'}

#: libcxi of the published images: Docker's build took the newest
PUBLISHED_LIBCXI = 'main of March 2025'

#: Marks of the table that were measured -> what they mean
MARKS = {'Y': 'works', '(Y)': 'works slowly', 'N': 'fails'}

#: What the network and RCCL give there, GB/s: the best of the same table. A run with less is one
#: that works slowly, whatever its mark: of two runs with RCCL at 3 GB/s the table calls one Y and
#: one (Y), and with pure Y is the faster TCP.
FULL_BANDWIDTHS = {r'(?<!RCCL )\b(\d+) GB/s': 22, r'RCCL (\d+) GB/s': 13}

#: (approach or None for any, text in the published note, rules that name that cause). First match
#: counts; a prediction must have one of them among its reasons. Where the table gives no cause,
#: none is asked for.
CAUSES = [
    ('pure', '', ['TCP only']),
    (None, 'RCCL 5 GB/s', ['RCCL plugin']),
    (None, 'RCCL 3 GB/s', ['RCCL plugin']),
    (None, 'not compiled with channel 4', ['no libfabric']),
    (None, 'TCP/IP', ['no libfabric']),
    (None, 'higher libfabric version', ['symbol version']),
    (None, 'no cxi provider', ['no provider']),
    # what MPI says when libfabric offers nothing for what it asks of cxi
    (None, 'open_fabric:No data available', ['no provider', 'capability set']),
    (None, 'incompatible with libcxi', ['no provider', 'capability set']),
]

#: image: str; approach: str; mark: as published; note: str; verdict: Verdict; outcome: 'right',
#: 'unknown', 'wrong' or 'not measured'; why: str, one sentence; cause: bool, a cause was published
#: and a reason of the verdict names it, None where none was published or nothing is predicted
Cell = namedtuple('Cell', 'image approach mark note verdict outcome reason names_cause')


def read_published_table():
    """
    Return the rows (list of dict of str) of the published table, keys as in the head of the
    file.
    """
    with open(TABLE, newline='') as stream:
        return list(csv.DictReader(stream))


def list_cause_rules(approach, note):
    """
    Return the names of rules (list of str) one of which must be among the reasons; [] where none
    is asked for.
    """
    return next(
        (rules for name, text, rules in CAUSES if name in (None, approach) and text in note), []
    )


def classify_published_run(mark, note):
    """
    Return how a published run went (str, one of LEVELS): by its mark, and by its figures where
    it has any.
    """
    level = MARKS[mark]
    slow = any(
        int(figure) < full
        for pattern, full in FULL_BANDWIDTHS.items()
        for figure in re.findall(pattern, note)
    )
    return 'works slowly' if level == 'works' and slow else level


def grade_prediction(mark, approach, note, findings):
    """
    Return (outcome, why, cause) of what findings (list of Finding) predict, beside what was
    published; see Cell.

    Right is who says that it runs, runs slowly, or fails, as it did, and for the published cause
    where there is one.
    """
    level, reasons = (
        find_worst_level(findings),
        [finding for finding in findings if finding.level != NOTE],
    )
    why = reasons[0].reason if reasons else 'nothing speaks against it'
    if mark not in MARKS:
        return 'not measured', why, None
    if level == 'unknown':
        return 'unknown', why, None
    causes = list_cause_rules(approach, note)
    named = [finding for finding in reasons if finding.rule in causes]
    cause = bool(named) if causes else None
    if level != classify_published_run(mark, note):
        return 'wrong', why, cause
    if cause is False:
        return 'wrong', 'right for another reason than the published one: ' + why, cause
    return 'right', named[0].reason if named else why, cause


def examine_published_combinations(site_name=PUBLISHED_SITE):
    """
    Return the Cells (list) of the published combinations on a site of HOSTS.

    On NOW nothing was measured: the marks are those of the table all the same, the outcome is 'not
    measured'.
    """
    site = (
        resolve_described_site(site_name)
        if site_name == PUBLISHED_SITE
        else resolve_site(site_name)
    )
    rocm, host = ROCM_RELEASES[site_name], DescribedHost(find_host_description(site))
    cells = []
    for row in read_published_table():
        for approach in PUBLISHED_APPROACHES:
            # run_libfabric_hybrid_rccl.sh of the published runs replaces LD_LIBRARY_PATH by a list
            # without /opt/aws-ofi-rccl, which the script of bind has; this project's modules name
            # the plugin by its path
            found = site_name != PUBLISHED_SITE or approach != 'hybrid'
            image = describe_published_image(
                row['libcxi'] == 'yes',
                row['libfabric'],
                row['mpich'],
                rocm,
                found,
                PUBLISHED_LIBCXI if site_name == PUBLISHED_SITE else None,
            )
            verdict = judge_approach(resolve_approach(approach), site, image, host)
            mark = row[approach] if site_name == PUBLISHED_SITE else ''
            note = row[approach + '_note'] if site_name == PUBLISHED_SITE else ''
            cells.append(
                Cell(
                    image.path,
                    approach,
                    mark,
                    note,
                    verdict,
                    *grade_prediction(mark, approach, note, verdict.findings),
                )
            )
    return cells


def main(progress):
    """
    Print a line a published cell and the counts; return 0, or 1 if a prediction was wrong.

    progress: streams.Progress, which ends before something is printed
    """
    cells = [cell for cell in examine_published_combinations() if cell.outcome != 'not measured']
    progress.stop()
    count = {
        word: sum(cell.outcome == word for cell in cells) for word in ('right', 'unknown', 'wrong')
    }
    print(
        '\n'.join(
            columns.format_table(
                [('outcome', 'image', 'approach', 'seen', 'predicted', 'why')]
                + [
                    (
                        cell.outcome,
                        cell.image,
                        cell.approach,
                        classify_published_run(cell.mark, cell.note),
                        cell.verdict.level,
                        cell.reason,
                    )
                    for cell in cells
                ]
            )
        )
    )
    print('%d right, %d unknown, %d wrong' % (count['right'], count['unknown'], count['wrong']))
    return 1 if count['wrong'] else 0
