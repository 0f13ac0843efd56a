"""
Every value as CSV, for other programs; the picture for a paper: values of one case and their ratio to native, as wide
as a column, with its caption.

SVG and PDF have the same size and type. The caption stands in a text file beside the picture, and in the SVG itself,
where programs that read pages aloud look for it.
"""
from __future__ import annotations

import csv
import io
import re

from osu_container.core.terminal import visible

from . import ReportError, charts, first

#: Columns of the CSV: one row for each value of each repeat
CSV = ('dataset', 'series', 'benchmark', 'buffers', 'nodes', 'ranks', 'variant', 'size', 'repeat', 'value', 'unit')


def csv_text(report):
    """Return every value of a content.Report as CSV (str), those of the curves behind included."""
    handle = io.StringIO()
    writer = csv.writer(handle, lineterminator='\n')
    writer.writerow(CSV)
    written = set()
    for view in report.views:
        case = view.case
        for curve in view.curves:
            key = curve.dataset.name, curve.series.name, case
            if key in written:  # a publication can stand behind others and have a section of its own
                continue
            written.add(key)
            head = tuple(map(_cell, (curve.dataset.name, curve.series.name, case.benchmark, case.buffers, case.nodes,
                                     case.ranks, case.variant)))
            writer.writerows((*head, size, repeat, value, case.unit) for size in curve.series.sizes
                             for repeat, value in sorted(curve.series.values[size].items()))
    return handle.getvalue()


def _cell(value):
    """Return a value as a cell of the CSV: text that a spreadsheet would take for a formula gets ' in front (OWASP)."""
    if not isinstance(value, str):
        return value
    text = re.sub(r'\s+', ' ', visible(value))
    return "'" + text if text[:1] in ('=', '+', '-', '@') else text


#: Endings of the names that a picture can have
KINDS = ('.svg', '.pdf')


def check_picture(path):
    """Raise ReportError if path (Path) does not end in one of KINDS."""
    if path.suffix.lower() not in KINDS:
        raise ReportError(f"--picture {path}: the name says what is written, so it must end in {' or '.join(KINDS)}")


def caption_path(path):
    """Return where the caption of a picture at path (Path) stands (Path): lumi.svg has lumi.caption.txt."""
    return path.with_suffix('.caption.txt')  # an output.txt may be what the picture is made of


def drawn(section, pattern=None):
    """
    Return (SVG, caption) of the case of a content.Section that fits pattern, see first.view_of() (two str).

    Raises ReportError if no case fits, or the one that does has no message sizes.
    """
    view = first.view_of(section, pattern)
    if not view.sized or not any(curve.drawn() for curve in view.curves):
        raise ReportError(f"{view.case.title} has one number and no message sizes: a picture shows values by size. "
                          "Choose another case by --case")
    case, drawn = view.case, [curve for curve in view.curves if curve.drawn()]
    named = charts.classes(curve.style for curve in drawn)
    ratios = [(named[curve.style], curve.ratios()) for curve in drawn if curve.ratios()]
    told = visible('\n'.join(first.caption(section, view))) + '\n'
    return charts.column(
        [(curve.name, named[curve.style], curve.drawn()) for curve in drawn], f'{charts.UNITS[case.unit]} (log)',
        ratios, 'ratio to native (log)', max((one.comparison.margin for one in drawn if one.comparison), default=0),
        named=named, told=(case.title, told.strip())), told


def picture_files(section, path, pattern=None):
    """Return [(path, bytes)] of the picture at path (Path) and of its caption; see drawn(). Raises ReportError."""
    text, caption = drawn(section, pattern)
    try:
        data = charts.pdf(text) if path.suffix.lower() == '.pdf' else text.encode()
    except ValueError as err:  # it cannot open a file or start a thread; its own words are on stderr by then
        raise ReportError(f"{path} could not be made: {' '.join(str(err).split())}. Does a limit of the shell leave "
                          "vl-convert too few files, threads or memory? Look at them: ulimit -a") from err
    return [(path, data), (caption_path(path), caption.encode())]
