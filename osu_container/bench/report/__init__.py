"""
One page of runs and of published figures: verdicts, curves, values, proof, environment, how to
repeat.

cli.py        the command line of `osu-container report`
content.py    what there is to show: sections, cases and curves, with their comparison to native; what
              only the lines of a run have: commands as typed, proof
tables.py     tables as data
charts.py     curves as SVG
page.py       the page: template.html.j2 and style.css in one file, without a script
"""


class ReportError(Exception):
    """A report that cannot be made; the text names the thing, the value found and what to do."""
