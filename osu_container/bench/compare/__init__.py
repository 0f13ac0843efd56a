"""
Compare two curves at every message size; report only differences above the noise.

docs/compare.md describes the method.

cli.py              define the command line of `osu-container compare`
statistics.py       compare two curves, or all curves of two datasets
thresholds.py       define the margin of each benchmark
numbers.py          import NumPy and SciPy at their first use
troubles.py         recognize known performance problems by the shape of a curve
comparison_text.py  format the result as text and as JSON
"""
