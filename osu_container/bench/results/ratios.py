"""
Compute and format the ratio of two curves at a message size.

The table of the demo, compare and report use these functions, so that they print the same ratios.
"""

from __future__ import annotations

import math
import statistics


def compute_paired_ratios(a: dict[int, float], b: dict[int, float]) -> list[float]:
    """
    Return a / b within each common repeat, ordered by the number of the repeat.

    :param a, b: {repeat: value (> 0)} of one run, which measures its modules in turn in each repeat
    """
    return [a[repeat] / b[repeat] for repeat in sorted(set(a) & set(b))]


def compute_ratio(a: dict[int, float], b: dict[int, float], *, paired: bool) -> float:
    """
    Return the ratio a / b, which is above 0.

    Within one run it is the median of the ratios of its repeats, because an effect on a whole
    repeat slows both sides. The middle of an even number is the mean of logarithms, so that b / a
    is the inverse of a / b. Between two runs it is the ratio of the medians. A single slow repeat
    changes neither.
    :param a, b: {repeat: value (> 0)} at one message size
    :param paired: both are of one run; ignored below two common repeats
    """
    ratios = compute_paired_ratios(a, b) if paired else []
    if len(ratios) > 1:
        return math.exp(statistics.median(map(math.log, ratios)))
    return statistics.median(a.values()) / statistics.median(b.values())


def format_ratio(value: float) -> str:
    """Return a ratio with its significant digits: '0.0047', '0.98', '12.3', '348'."""
    if value >= 9.995:
        return f'{value:.0f}' if value >= 99.95 else f'{value:.1f}'
    return f'{value:.2f}' if value >= 0.0995 else f'{value:.2g}'
