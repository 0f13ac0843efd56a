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

    Cells of a column begin below each other, those of right (numbers of columns) end so. What has no room stands below,
    further in: the last cell folded where its column has some width, else all cells that do not fit.
    """
    most = width() - len(indent)
    sizes = [max(len(row[number]) for row in rows) for number in range(len(rows[0]))] if rows else []
    ends = [sum(sizes[:number + 1]) + len(GAP) * number for number in range(len(sizes))]
    longest = max([len(word) for row in rows for word in row[-1].split()] or [0])
    lines = []
    for row in rows:
        cells = [cell.rjust(size) if number in right else cell.ljust(size)
                 for number, (cell, size) in enumerate(zip(row, sizes))]
        lead = GAP.join(cells[:-1]) + GAP if cells[1:] else ''
        if ends[-1] <= most or most - len(lead) >= max(_LEAST, longest) or len((lead + row[-1]).rstrip()) <= most:
            text, follow = lead + row[-1], len(lead)
            lines += _folded(text.rstrip(), indent, lead, follow, most)
            continue
        fits = max([number + 1 for number, end in enumerate(ends) if end <= most] or [1])
        lines.append((indent + GAP.join(cells[:fits])).rstrip())
        lines.append(fill(GAP.join(filter(None, (cell.strip() for cell in row[fits:]))), indent + ' ' * _IN,
                          indent + ' ' * _IN, most + len(indent)))
    return [line for each in lines for line in each.split('\n') if line.strip()]


def _folded(text, indent, lead, follow, most):
    """Return the lines (list of str) of a row, its last cell behind lead (str): text (str), folded to most (int)."""
    if len(text) <= most:
        return [indent + text]
    return [fill(text[len(lead):], indent + lead, indent + ' ' * follow, most + len(indent))]
