"""
Build one page of runs and of published figures: verdicts, curves, values, proof, environment.

cli.py        the command line of `osu-container report`
content.py    sections, cases and curves with their comparison to native; commands and proofs of runs
tables.py     tables as data
charts.py     curves as SVG
page.py       the page: template.html.j2 and style.css in one file, without a script
"""


class ReportError(Exception):
    """A report cannot be built; the text names the problem, the value found and the remedy."""
