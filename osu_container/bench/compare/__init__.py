"""
Which of two curves is better, at every message size, and by more than noise. docs/compare.md has
the method.

cli.py              the command line of `osu-container compare`
statistics.py       two curves, or all curves of two datasets -> Comparison
thresholds.py       when a difference counts
troubles.py         what a curve looks like: the shapes of known troubles, with remedy
comparison_text.py  text and JSON
"""
