"""
Compare two curves at every message size, by more than noise. docs/compare.md describes the method.

cli.py              the command line of `osu-container compare`
statistics.py       compare two curves, or all curves of two datasets
thresholds.py       the margin of each benchmark
numbers.py          NumPy and SciPy, imported at their first use
troubles.py         recognize known troubles by the shape of a curve, with remedy
comparison_text.py  text and JSON
"""
