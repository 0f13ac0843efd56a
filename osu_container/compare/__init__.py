"""
Which of two curves is better, at every message size, and by more than noise. docs/compare.md has the method.

compare_series(a, b)      two curves -> Comparison
compare_datasets(a, b)    all curves of two datasets that measured the same -> list of Comparison
against_native(dataset)   every approach of a run against its native
same_run(a, b)            whether the repeats of two datasets alternate
troubles                  what a curve looks like: the shapes of known troubles, with remedy
"""
from .statistics import (
                         ALPHA,
                         CompareError,
                         Comparison,
                         Point,
                         against_native,
                         compare_datasets,
                         compare_series,
                         same_run,
)

__all__ = ['ALPHA', 'Comparison', 'CompareError', 'Point', 'against_native', 'compare_datasets', 'compare_series',
           'same_run']
