"""
Fit text to the terminal: its width, tables and paragraphs.

Python 3.6 and its standard library only: the commands of installed modules import it.
"""

import shutil
import textwrap
from typing import Collection, List, Optional, Sequence

#: Maximum width of a paragraph: longer lines are hard to read
_PARAGRAPH_WIDTH = 100
#: Width below which the last cell of a row moves to the next lines, and their indentation
_MIN_CELL_WIDTH, _FOLD_INDENT = 24, 6
GAP = '  '


def get_line_width() -> int:
    """Return the columns of a line: $COLUMNS, else the terminal's, else 80; at least 40."""
    return max(40, shutil.get_terminal_size((80, 24)).columns)


def get_paragraph_width() -> int:
    """Return the columns of a paragraph: those of a line, but at most 100."""
    return min(_PARAGRAPH_WIDTH, get_line_width())


def fill_text(
    text: str,
    initial_indent: str = '',
    subsequent_indent: str = '',
    columns: Optional[int] = None,
) -> str:
    """
    Return `text` wrapped to `columns`, by default the width of a paragraph.

    Words, such as paths, are never cut.
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
    Return rows of equal length as lines with aligned columns that fit the terminal.

    right_aligned: numbers of columns. A last cell that is too long is folded within its column; if
    the column is too narrow, the row is folded and its further lines are indented.
    """
    sizes = [max(map(len, cells)) for cells in zip(*rows)]
    lines: List[str] = []
    for row in rows:
        cells = [
            cell.rjust(size) if number in right_aligned else cell.ljust(size)
            for number, (cell, size) in enumerate(zip(row, sizes))
        ]
        lead = indent + ''.join(cell + GAP for cell in cells[:-1])
        text = (lead + cells[-1]).rstrip()
        if len(text) > get_line_width():
            fits_column = get_line_width() - len(lead) >= max(
                [_MIN_CELL_WIDTH, *map(len, row[-1].split())]
            )
            text = (
                fill_text(row[-1], lead, ' ' * len(lead), get_line_width())
                if fits_column
                else fill_text(
                    text[len(indent) :], indent, indent + ' ' * _FOLD_INDENT, get_line_width()
                )
            )
        lines += text.split('\n')
    return lines
