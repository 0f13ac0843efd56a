"""
Compare predictions with published measurements of twelve images on LUMI.

Source of the table: DeiC-HPC/BitBulldozersLab, "Docker build pipeline for 4 different container
approaches on LUMI", 2025-03: LUMI-G, host libfabric 1.15.2.0, Cray MPICH 8.1.29, ROCm 6.0.3
(osu_container/check/compatibility.csv). The images differ in the releases of libcxi,
libfabric and MPICH.
"""

import re
from typing import Dict, List, NamedTuple, Tuple

from osu_container.base import columns, streams
from osu_container.base.files import read_table
from osu_container.check.described import describe_published_image
from osu_container.check.public_hosts import find_host_description
from osu_container.discover.host_facts import DescribedHost
from osu_container.verdict.rules.finding import NOTE, Finding
from osu_container.verdict.settings import resolve_approach
from osu_container.verdict.site_choice import resolve_described_site
from osu_container.verdict.verdict import Verdict, find_worst_level, judge_approach

PUBLISHED_APPROACHES = ['pure', 'bind', 'hybrid', 'opensource']
#: The site of the published runs, and the ROCm release of the images
PUBLISHED_SITE, PUBLISHED_ROCM = 'lumi-24.03', '6.0.3'
#: Release of libcxi in the published images: the Docker build used the newest sources
PUBLISHED_LIBCXI = 'main of March 2025'

#: Marks of measured runs in the table -> level
MARKS = {'Y': 'works', '(Y)': 'works slowly', 'N': 'fails'}

#: Full bandwidths of the network and of RCCL in GB/s: the best values of the table. A slower run
#: 'works slowly', whatever its mark, because the marks are inconsistent: the table has Y for one run
#: with RCCL at 3 GB/s and (Y) for another, and Y for TCP with pure.
FULL_BANDWIDTHS = {r'(?<!RCCL )\b(\d+) GB/s': 22, r'RCCL (\d+) GB/s': 13}

#: (approach or None for any, text in the published note, rules for this cause). The first match counts.
#: A prediction names the cause if a finding is from one of these rules.
CAUSES = [
    ('pure', '', ['TCP only']),
    (None, 'RCCL 5 GB/s', ['RCCL plugin']),
    (None, 'RCCL 3 GB/s', ['RCCL plugin']),
    (None, 'not compiled with channel 4', ['no libfabric']),
    (None, 'TCP/IP', ['no libfabric']),
    (None, 'higher libfabric version', ['symbol version']),
    (None, 'no cxi provider', ['no provider']),
    # This is MPI's message if libfabric does not offer what MPI requests from cxi.
    (None, 'open_fabric:No data available', ['no provider', 'capability set']),
    (None, 'incompatible with libcxi', ['no provider', 'capability set']),
]


class Cell(NamedTuple):
    """The measurement and the prediction for an image and an approach of the published table."""

    image: str
    approach: str
    #: mark and note in the published table
    mark: str
    note: str
    verdict: Verdict
    #: 'right', 'unknown', 'wrong' or 'not measured'
    outcome: str
    #: reason of the outcome, one sentence
    reason: str


def read_published_table() -> List[Dict[str, str]]:
    """Return the rows of the published table as dicts, with the column names as keys."""
    return read_table(__file__, 'compatibility.csv')


def classify_published_run(mark: str, note: str) -> str:
    """Translate the mark and the note of a published run to a level such as 'works slowly'."""
    level = MARKS[mark]
    slow = any(
        int(figure) < full
        for pattern, full in FULL_BANDWIDTHS.items()
        for figure in re.findall(pattern, note)
    )
    return 'works slowly' if level == 'works' and slow else level


def grade_prediction(
    mark: str, approach: str, note: str, findings: List[Finding]
) -> Tuple[str, str]:
    """
    Compare the predicted findings with a published run, and return (outcome, reason).

    The class Cell explains outcome and reason. The outcome is 'right' if prediction and publication
    have the same level, such as 'works slowly', and if a finding names the published cause. Some
    publications name no cause.
    """
    level = find_worst_level(findings)
    reasons = [finding for finding in findings if finding.level != NOTE]
    reason = reasons[0].reason if reasons else 'no rule speaks against it'
    if mark not in MARKS or level == 'unknown':
        return 'unknown' if mark in MARKS else 'not measured', reason
    if level == 'no use':  # The published table has no mark for an approach without effect.
        level = 'works slowly'
    causes: List[str] = next(
        (rules for name, text, rules in CAUSES if name in (None, approach) and text in note), []
    )
    matching = [finding.reason for finding in reasons if finding.rule in causes]
    if level != classify_published_run(mark, note):
        return 'wrong', reason
    if causes and not matching:
        return (
            'wrong',
            'the predicted verdict is right, but the predicted cause is not the published cause: '
            + reason,
        )
    return 'right', (matching or [reason])[0]


def examine_published_combinations() -> List[Cell]:
    """Predict each run of the published table, and return a Cell for each image and approach."""
    site = resolve_described_site(PUBLISHED_SITE)
    host = DescribedHost(find_host_description(site))
    cells = []
    for row in read_published_table():
        for approach in PUBLISHED_APPROACHES:
            # For hybrid, the published run_libfabric_hybrid_rccl.sh sets LD_LIBRARY_PATH without
            # /opt/aws-ofi-rccl. The script for bind and this project's modules add this folder.
            image = describe_published_image(
                row['libcxi'] == 'yes',
                row['libfabric'],
                row['mpich'],
                PUBLISHED_ROCM,
                approach != 'hybrid',
                PUBLISHED_LIBCXI,
            )
            verdict = judge_approach(resolve_approach(approach), site, image, host)
            mark, note = row[approach], row[approach + '_note']
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


def main(progress: streams.Progress) -> int:
    """
    Print a line for each cell and the counts; return 1 if a prediction is wrong, else 0.

    progress: the progress line on the terminal, which is removed before the table is printed.
    """
    cells = [cell for cell in examine_published_combinations() if cell.outcome != 'not measured']
    progress.stop()
    print(
        '\n'.join(
            columns.format_table(
                [('outcome', 'image', 'approach', 'published', 'predicted', 'reason')]
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
    right, unknown, wrong = (
        sum(cell.outcome == outcome for cell in cells) for outcome in ('right', 'unknown', 'wrong')
    )
    print('%d right, %d unknown, %d wrong' % (right, unknown, wrong))
    return 1 if wrong else 0
