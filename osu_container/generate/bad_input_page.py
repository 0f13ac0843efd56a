"""The tables of docs/bad-input.md, from tests/bad_input.json, which tests/test_bad_input.py records."""
import html
import json

from osu_container.places import PROJECT

RECORD = PROJECT / 'tests' / 'bad_input.json'
#: Name of the table of faults in it; the others are commands
FAULTS = 'faults'
#: Letters of a message that are shown: some list every image
SHOWN = 420


def _code(text):
    """Return text (str) as code of a cell: nothing of it is markup."""
    text = text if len(text) <= SHOWN else text[:SHOWN] + ' ...'
    shown = html.escape(text, quote=False)
    for mark in '|`*_[]\\':
        shown = shown.replace(mark, f'&#{ord(mark)};')
    return '<code>{}</code>'.format('<br>'.join(' '.join(line.split()) for line in shown.splitlines()))


def _table(rows):
    """Return a table (str, Markdown) of rows (list of lists of str)."""
    rows = [rows[0], ['---'] * len(rows[0]), *rows[1:]]
    return ''.join('| {} |\n'.format(' | '.join(row)) for row in rows)


def read():
    """Return what was recorded (dict: command or FAULTS -> {case: typed, said, code, left}, of faults fault too)."""
    return json.loads(RECORD.read_text())


def bad_input():
    """Return a table for each command (str, Markdown)."""
    text = ''
    for command, cases in read().items():
        if command != FAULTS:
            rows = [[what, _code(case['typed']), _code(case['said']), str(case['code']), case['left']]
                    for what, case in cases.items()]
            text += f"### {command}\n\n{_table([['input', 'typed', 'says', 'exit code', 'leaves'], *rows])}\n"
    return text.rstrip('\n') + '\n'


def faults():
    """Return the table of faults (str, Markdown)."""
    rows = [[case['fault'], _code(case['typed']), _code(case['said']) if case['said'] else 'the same as without',
             str(case['code']), case['left']] for case in read()[FAULTS].values()]
    return _table([['fault', 'typed', 'says', 'exit code', 'leaves'], *rows])


def count():
    """Return how many cases there are (str, Markdown)."""
    numbers = {name: len(cases) for name, cases in read().items()}
    found = numbers.pop(FAULTS)
    return f"{sum(numbers.values())} bad inputs of {len(numbers)} commands, and {found} faults.\n"
