"""What was published about the twelve combinations on LUMI: osu_container/check/compatibility.csv, and in words."""
from __future__ import annotations

import re

from ..check.examination import APPROACHES
from ..check.examination import MARKS as MEASURED
from .catalogue import published_rows

#: The marks of the published table, in words
MARKS = dict({mark: word for mark, (_, word) in MEASURED.items()},
             **{'?': 'not tested', '??': 'not tested', 'NA': 'does not apply'})


def row_of(entry):
    """Return the row of an image's entry in the catalogue, None if it is not a published combination."""
    return next((row for row in published_rows()
                 if (row['libcxi'], row['libfabric'], row['mpich']) == entry['published']), None)


def sentence(entry):
    """Return a line an approach on what was published about an image, '' if nothing was."""
    row = row_of(entry)
    if row is None:
        return ''
    lines = ["2025-03, host libfabric 1.15.2.0" + (", built by default" if entry['default'] else '')]
    for approach in APPROACHES:
        word = MARKS[row[approach]]
        note = re.sub(r'^(works|fails|not tested)[:;]? *', '', row[f'{approach}_note'])
        lines.append(f"{approach}: {word}{note and f': {note}'}")
    return '\n'.join(lines)
