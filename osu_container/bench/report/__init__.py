"""
Build an HTML page of runs or of published figures: verdicts, curves, values, proof, environment.

cli.py        the command line of `osu-container report`
content.py    sections, cases and curves, each compared with native; commands and proofs of runs
tables.py     tables as data
charts.py     plots as SVG
page.py       the HTML text, from template.html.j2 and style.css
"""


class ReportError(Exception):
    """A report cannot be built; the text names the problem, the value found and the remedy."""
