"""
Build an HTML page on benchmark results: the command `osu-container report`.

The results come from runs or from publications. The page shows verdicts, curves, measured values,
the libraries that the ranks loaded (the proof), and the environment.

cli.py        define the command line of `osu-container report`
content.py    build sections, cases and curves, and compare each curve with the native curve
tables.py     build the tables as data
charts.py     draw the plots as SVG
page.py       render the HTML text from template.html.j2 and style.css
"""


class ReportError(Exception):
    """
    A report cannot be built.

    The text of the error names the problem, the found value and the remedy.
    """
