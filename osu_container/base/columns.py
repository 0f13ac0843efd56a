"""
Text for a terminal: how wide it is, and tables and paragraphs that fit.

Python 3.6 and its standard library only: the commands of installed modules use it too.
"""

import shutil
import textwrap

#: Columns of a paragraph at most: longer lines are hard to read
_PARAGRAPH_WIDTH = 100
#: Columns below which the last cell of a row is put on lines of its own, and how far in
_MIN_CELL_WIDTH, _FOLD_INDENT = 24, 6
GAP = '  '


def get_line_width():
    """
    Return how many columns (int) a line may have: $COLUMNS, else those of the terminal, else 80;
    40 at least.
    """
    return max(40, shutil.get_terminal_size((80, 24)).columns)


def get_paragraph_width():
    """Return how many columns (int) a paragraph may have."""
    return min(_PARAGRAPH_WIDTH, get_line_width())


def fill_text(text, initial_indent='', subsequent_indent='', columns=None):
    """
    Return text (str) as lines with first (str) in front of the first and follow (str) in front of
    the others.

    Words, such as paths, are never cut. room: int, columns, those of a paragraph without it.
    """
    return textwrap.fill(
        text,
        columns or get_paragraph_width(),
        initial_indent=initial_indent,
        subsequent_indent=subsequent_indent,
        break_on_hyphens=False,
        break_long_words=False,
    )


def format_table(rows, right_aligned=(), indent=''):
    """
    Return rows (list of sequences of str, of one length) as lines (list of str) that fit the
    terminal.

    Cells of a column begin below each other, those of right (numbers of columns) end so. A last
    cell without room is folded within its column, or the row is folded with its further lines
    indented.
    """
    sizes = [max(map(len, cells)) for cells in zip(*rows)]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(size) if number in right_aligned else cell.ljust(size)
            for number, (cell, size) in enumerate(zip(row, sizes))
        ]
        lead = indent + ''.join(cell + GAP for cell in cells[:-1])
        text = (lead + cells[-1]).rstrip()
        if len(text) > get_line_width():
            beside = get_line_width() - len(lead) >= max(
                [_MIN_CELL_WIDTH, *map(len, row[-1].split())]
            )
            text = (
                fill_text(row[-1], lead, ' ' * len(lead), get_line_width())
                if beside
                else fill_text(
                    text[len(indent) :], indent, indent + ' ' * _FOLD_INDENT, get_line_width()
                )
            )
        lines += text.split('\n')
    return lines
