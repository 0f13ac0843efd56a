"""Every value as CSV, for other programs."""
from __future__ import annotations

import csv
import io
import re

from osu_container.core.terminal import visible

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
