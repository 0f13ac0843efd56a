"""
Fit tables and paragraphs to the width of the terminal.

This module uses only the standard library of Python 3.6, because the commands of installed modules
import columns.py.
"""

import shutil
import textwrap
from typing import Collection, List, Optional, Sequence

#: Maximum width of a paragraph: longer lines are hard to read
_PARAGRAPH_WIDTH = 100
#: If the last column is narrower than this width, the row is wrapped as a whole; its second and
#: later lines then have this indentation
_MIN_CELL_WIDTH, _FOLD_INDENT = 24, 6
#: Text between two columns
GAP = '  '


def get_line_width() -> int:
    """
    Return the width of the terminal in columns, but at least 40.

    The environment variable COLUMNS overrides the width of the terminal. Without a terminal the
    result is 80.
    """
    return max(40, shutil.get_terminal_size((80, 24)).columns)


def get_paragraph_width() -> int:
    """Return the width for paragraphs in columns: the terminal's width, but at most 100."""
    return min(_PARAGRAPH_WIDTH, get_line_width())


def fill_text(
    text: str,
    initial_indent: str = '',
    subsequent_indent: str = '',
    columns: Optional[int] = None,
) -> str:
    """
    Return `text` with line breaks, so that no line is longer than `columns` characters.

    The default of `columns` is the result of get_paragraph_width(). A word that is longer than
    `columns`, such as a path, is not split. The indents are the arguments of textwrap.fill().
    """
    return textwrap.fill(
        text,
        columns or get_paragraph_width(),
        initial_indent=initial_indent,
        subsequent_indent=subsequent_indent,
        break_on_hyphens=False,
        break_long_words=False,
    )


def format_table(
    rows: Sequence[Sequence[str]], right_aligned: Collection[int] = (), indent: str = ''
) -> List[str]:
    """
    Return the lines of a table that has aligned columns and fits the terminal.

    All rows must have the same number of cells. right_aligned: indices of the right-aligned
    columns, beginning with 0. If a row is longer than a line of the terminal, the function wraps
    the last cell within the last column. If the last column is too narrow for wrapped text, the
    function wraps the whole row and indents the second and later lines of the row.
    """
    width = get_line_width()
    columns = []
    for number, column in enumerate(zip(*rows)):
        size = max(map(len, column))
        pad = str.rjust if number in right_aligned else str.ljust
        columns.append([pad(cell, size) for cell in column])
    lines: List[str] = []
    for row, cells in zip(rows, zip(*columns)):
        text = (indent + GAP.join(cells)).rstrip()
        if len(text) > width:
            lead = indent + ''.join(cell + GAP for cell in cells[:-1])
            fits_column = width - len(lead) >= max([_MIN_CELL_WIDTH, *map(len, row[-1].split())])
            text = (
                fill_text(row[-1], lead, ' ' * len(lead), width)
                if fits_column
                else fill_text(text[len(indent) :], indent, indent + ' ' * _FOLD_INDENT, width)
            )
        lines += text.split('\n')
    return lines
