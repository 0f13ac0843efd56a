"""The tables of pairs in docs/examination.md, from stand-in/pairs.json, which `stand-in/pairs --record` wrote."""
import json
import re

from osu_container.places import PROJECT

RECORD = PROJECT / 'stand-in' / 'pairs.json'


def read():
    """Return what was recorded (dict)."""
    return json.loads(RECORD.read_text())


def _table(lines):
    """Return a table (str, Markdown) of lines (list of lists of str), a bar in a cell quoted."""
    return ''.join('| {} |\n'.format(' | '.join(cell.replace('|', '\\|') for cell in line)) for line in lines)


def _cause(text):
    """Return the symbol version (str) that a run lacked, by the line that it printed; the line where it is another."""
    found = re.search(r"version `([^']+)' not found", text)
    return f'`{found.group(1)}`' if found else text


def summary():
    """Return MPI against the libfabric of the host (str, Markdown): what happened, and a line on where and when."""
    record = read()
    over = [one for one in record['pairs'] if one['owner'] == 'host']
    names = list(record['libfabrics'])
    lines = [['MPI', 'image', *(f"{name} ({record['libfabrics'][name]})" for name in names)],
             ['---'] * (len(names) + 2)]
    for mpi, debian in dict.fromkeys((one['mpi'], one['debian']) for one in over):
        cells = {one['libfabric']: 'runs' if one['happened'] == 'runs' else f"fails: {_cause(one['text'])}"
                 for one in over if (one['mpi'], one['debian']) == (mpi, debian)}
        lines.append([mpi, f'Debian {debian}', *(cells.get(name, '') for name in names)])
    words = [one['agrees'] for one in record['pairs']]
    silent = f", {words.count('no claim')} without a claim" if 'no claim' in words else ''
    machine = record['machine']
    return (f"{_table(lines)}\n**{words.count('yes')} pairs agree, {words.count('no')} disagree{silent}**, of "
            f"{len(words)}.\n"
            f"Measured on {record['date']}: {machine['system']}, {machine['cpu']}, {machine['cores']} cores; "
            f"{machine['runtime']}, {machine['slurm']}; {machine['network']}.\n")


def every_pair():
    """
    Return the table (str, Markdown) of all pairs: the verdict with its reason beside what happened.

    Pairs that differ in the release of the MPI alone are one row; a verdict that does not agree is marked.
    """
    rows = {}
    for one in read()['pairs']:
        reasons = [reason.replace('image:', '') for reason in one['because'][:1]]
        more = len(one['because']) - 1
        name, _, release = one['mpi'].rpartition(' ')
        because = f": {reasons[0]}{f'; and {more} more' if more > 0 else ''}" if reasons else ''
        differs = '' if one['agrees'] == 'yes' else f" (agrees: {one['agrees']})"
        key = (f"Debian {one['debian']}", f"{one['libfabric']} of the {one['owner']}", one['verdict'] + because,
               (f"``{one['text']}``" if one['happened'] == 'fails' else f"runs: {one['text']}") + differs)
        rows.setdefault((name, *key), []).append(release)
    lines = [['MPI', 'image', 'libfabric', 'verdict', 'what happened'], ['---'] * 5]
    lines += [[f"{name} {', '.join(releases)}", *key] for (name, *key), releases in rows.items()]
    return _table(lines)
