"""Compute and format the ratio of two curves at a message size."""

from __future__ import annotations


def compute_paired_ratios(a: dict[int, float], b: dict[int, float]) -> list[float]:
    """
    Return the ratios a / b of all repeats that both a and b have, in order of the repeats.

    :param a, b: {repeat: value (> 0)} from the same run; in each repeat, a run measures its modules
        one after the other
    """
    return [a[repeat] / b[repeat] for repeat in sorted(set(a) & set(b))]


def format_ratio(value: float) -> str:
    """Return a ratio as text with its significant digits, e.g. '0.0047', '0.98' or '348'."""
    if value >= 9.995:
        return f'{value:.0f}' if value >= 99.95 else f'{value:.1f}'
    return f'{value:.2f}' if value >= 0.0995 else f'{value:.2g}'
