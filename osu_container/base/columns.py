"""
Text for a terminal: how wide it is, and tables and paragraphs that fit.

Python 3.6 and its standard library only: the commands of installed modules use it too.
"""
import shutil
import textwrap

#: Columns of a paragraph at most: longer lines are hard to read
_PROSE = 100
#: Columns below which the last cell of a row is put on lines of its own, and how far in
_LEAST, _IN = 24, 6
GAP = '  '


def width():
    """Return how many columns (int) a line may have: $COLUMNS, else those of the terminal, else 80; 40 at least."""
    return max(40, shutil.get_terminal_size((80, 24)).columns)


def prose():
    """Return how many columns (int) a paragraph may have."""
    return min(_PROSE, width())


def fill(text, first='', follow='', room=None):
    """
    Return text (str) as lines with first (str) in front of the first and follow (str) in front of the others.

    Words, such as paths, are never cut. room: int, columns, those of a paragraph without it.
    """
    return textwrap.fill(text, room or prose(), initial_indent=first, subsequent_indent=follow, break_on_hyphens=False,
                         break_long_words=False)


def table(rows, right=(), indent=''):
    """
    Return rows (list of sequences of str, of one length) as lines (list of str) that fit the terminal.

    Cells of a column begin below each other, those of right (numbers of columns) end so. A last cell without room is
    folded within its column, or the row is folded with its further lines indented.
    """
    sizes = [max(map(len, cells)) for cells in zip(*rows)]
    lines = []
    for row in rows:
        cells = [cell.rjust(size) if number in right else cell.ljust(size)
                 for number, (cell, size) in enumerate(zip(row, sizes))]
        lead = indent + ''.join(cell + GAP for cell in cells[:-1])
        text = (lead + cells[-1]).rstrip()
        if len(text) > width():
            beside = width() - len(lead) >= max([_LEAST, *map(len, row[-1].split())])
            text = fill(row[-1], lead, ' ' * len(lead), width()) if beside else fill(
                text[len(indent):], indent, indent + ' ' * _IN, width())
        lines += text.split('\n')
    return lines
