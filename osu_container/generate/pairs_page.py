"""The tables of docs/pairs.md, from stand-in/pairs.json, which `stand-in/pairs --record` wrote."""
import json
import re
from collections import Counter

from osu_container.places import PROJECT
from osu_container.stand_in.pairs.cases import PLAIN, family
from osu_container.stand_in.pairs.parts import SUITES

RECORD = PROJECT / 'stand-in' / 'pairs.json'
WORDS = ('right', 'unknown', 'wrong')

#: Field of a Case -> its class in the table; other fields are shown by their values
CLASSES = {
    'approach': 'approach', 'mpi': 'MPI of the image', 'base': 'base', 'libfabric': 'libfabric of the image',
    'host': "host's libfabric", 'folder': 'folder of MPI', 'found': 'how the program finds MPI',
    'setting': 'what else the image sets', 'program': 'program', 'cache': 'ld.so.cache', 'form': 'form of the image',
}


def read():
    """Return what was recorded (dict: 'random' and 'grid', see as_record() of stand_in/pairs/cli.py)."""
    return json.loads(RECORD.read_text())


def case_of(pair):
    """Return the Case of a recorded pair (dict)."""
    return PLAIN._replace(**pair['case'])


def _table(lines):
    """Return a table (str, Markdown) of lines (list of lists), a bar in a cell quoted."""
    lines = [lines[0], ['---'] * len(lines[0]), *lines[1:]]
    return ''.join('| {} |\n'.format(' | '.join(str(cell).replace('|', '\\|') for cell in line)) for line in lines)


def _of_class(field, case):
    """Return what a Case is of the class of field (str)."""
    value = getattr(case, field)
    if field == 'mpi':
        return family(value) + (', of Debian' if value.startswith('debian') else '')
    return SUITES.get(value, value)


def _counts(pairs):
    """Return how many of pairs (list of dict) are right, unknown, wrong (list of int)."""
    found = Counter(pair['agrees'] for pair in pairs)
    return [found[word] for word in WORDS]


def by_class():
    """Return the counts by class (str, Markdown), and a line on where, when and with which seeds."""
    record = read()['random']
    lines = [['class', 'which', *WORDS]]
    for field, title in CLASSES.items():
        values = {}
        for pair in record['pairs']:
            values.setdefault(_of_class(field, case_of(pair)), []).append(pair)
        for number, value in enumerate(sorted(values, key=lambda value: -len(values[value]))):
            lines.append([title if not number else '', f'`{value}`', *_counts(values[value])])
    seeds = [int(pair['name'].split()[1]) for pair in record['pairs']]
    right, unknown, wrong = _counts(record['pairs'])
    machine = record['machine']
    return (f"**{right} right, {unknown} unknown, {wrong} wrong**, of {len(seeds)}; seeds {min(seeds)} to "
            f"{max(seeds)}.\n"
            f"Measured on {record['date']}: {machine['system']}, {machine['cpu']}, {machine['cores']} cores; "
            f"{machine['runtime']}, {machine['slurm']}; {machine['network']}.\n\n{_table(lines)}")


def left_unknown():
    """Return what stayed unknown (str, Markdown): the rule, how often, an example."""
    found = {}
    for pair in read()['random']['pairs']:
        if pair['agrees'] == 'unknown':
            found.setdefault(pair['rules'][0], []).append(pair)
    lines = [['rule', 'pairs', 'example', 'what happened']]
    for rule, pairs in sorted(found.items(), key=lambda item: -len(item[1])):
        happened = Counter(pair['happened'] for pair in pairs)
        lines.append([rule, len(pairs), pairs[0]['because'][0],
                      ', '.join(f'{count} {word}' for word, count in happened.items())])
    return _table(lines)


def _cell(pair):
    """Return what happened to a recorded pair (dict), with its cause (str)."""
    if pair['happened'] == 'runs':
        text = 'runs'
    else:
        version = re.search(r"version `([^']+)' not found", pair['text'])
        api = 'newer than library' in pair['text'] or 'libfabric API' in pair['rules']
        text = f'`{version.group(1)}`' if version else 'its API' if api else 'fails'
    return text if pair['agrees'] == 'right' else f"{text} ({pair['agrees']})"


def over_every_libfabric():
    """Return MPI against the libfabric of the host (str, Markdown): what happened."""
    record = read()['grid']
    cells = {tuple(pair['name'].split(' over ')): _cell(pair) for pair in record['pairs']}
    mpis, hosts = ([*dict.fromkeys(names)] for names in zip(*cells))
    lines = [['MPI', *(SUITES.get(host, host) for host in hosts)],
             *([mpi, *(cells.get((mpi, host), '') for host in hosts)] for mpi in mpis)]
    right, unknown, wrong = _counts(record['pairs'])
    return f"{_table(lines)}\n{right} right, {unknown} unknown, {wrong} wrong; measured on {record['date']}.\n"
