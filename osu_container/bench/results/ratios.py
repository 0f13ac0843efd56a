"""
The one way to take the ratio of two curves at a message size, and to write it.

The table of the demo, compare and report call it, so that a ratio is the same number wherever it
stands.
"""

from __future__ import annotations

import math
import statistics


def compute_paired_ratios(a, b):
    """
    Return a / b within each repeat that both have (list of float), by the number of the repeat.

    :param a, b: {repeat (int): value (float, > 0)} of one run, which measures its modules in turn
        in each repeat
    """
    return [a[repeat] / b[repeat] for repeat in sorted(set(a) & set(b))]


def compute_ratio(a, b, *, paired):
    """
    Return the ratio of a to b (float, > 0).

    Of one run: the median of the ratios within its repeats, as what slows a whole repeat meets both
    sides. The middle of an even number is taken on logarithms, so that b / a is the reverse of a /
    b. Of two runs: the ratio of the medians. A single slow repeat moves neither.
    :param a, b: {repeat (int): value (float, > 0)} at one message size
    :param paired: bool, both are of one run; counts from two repeats that both have
    """
    found = compute_paired_ratios(a, b) if paired else []
    if len(found) > 1:
        return math.exp(statistics.median(map(math.log, found)))
    return statistics.median(a.values()) / statistics.median(b.values())


def format_ratio(value):
    """
    Return a ratio (float) as text with the digits that mean something: '0.0047', '0.98', '12.3',
    '348'.
    """
    if value >= 9.995:
        return f'{value:.0f}' if value >= 99.95 else f'{value:.1f}'
    return f'{value:.2f}' if value >= 0.0995 else f'{value:.2g}'
