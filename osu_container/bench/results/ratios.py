"""
Compute and format the ratio of two curves at a message size.

`make demo` and the commands compare and report use these functions, so that all of them print the
same ratios.
"""

from __future__ import annotations

import math
import statistics


def compute_paired_ratios(a: dict[int, float], b: dict[int, float]) -> list[float]:
    """
    Return the ratios a / b of all repeats that both a and b have, in order of the repeats.

    :param a, b: {repeat: value (> 0)} from the same run; in each repeat, a run measures its modules
        one after the other
    """
    return [a[repeat] / b[repeat] for repeat in sorted(set(a) & set(b))]


def compute_ratio(a: dict[int, float], b: dict[int, float], *, paired: bool) -> float:
    """
    Return the ratio a / b at one message size, a number above 0.

    If a and b are from one run, the ratio is the median of the ratios within each repeat, because a
    disturbance during a repeat slows both a and b. For an even number of repeats, the median is
    computed from logarithms, so that b / a is the inverse of a / b. If a and b are from two runs,
    the ratio is the median of a divided by the median of b. A single slow repeat changes neither
    result.

    :param a, b: {repeat: value (> 0)} at one message size
    :param paired: whether a and b are from one run; ignored if there are fewer than two common
        repeats
    """
    ratios = compute_paired_ratios(a, b) if paired else []
    if len(ratios) > 1:
        return math.exp(statistics.median(map(math.log, ratios)))
    return statistics.median(a.values()) / statistics.median(b.values())


def format_ratio(value: float) -> str:
    """Return a ratio as text with its significant digits, e.g. '0.0047', '0.98' or '348'."""
    if value >= 9.995:
        return f'{value:.0f}' if value >= 99.95 else f'{value:.1f}'
    return f'{value:.2f}' if value >= 0.0995 else f'{value:.2g}'
