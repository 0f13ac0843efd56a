"""
A site as Python source that a person reads and edits, within 120 columns; written whole or not at all.

And the report of what was found: facts by section, what can be installed, what is not there and what follows.
"""
import re

from .. import columns
from .entry import easyconfig_of

WIDTH = 120
SECTIONS = [('runtime', 'Container runtime'), ('MPI', 'MPI'), ('network', 'Network'), ('PMI', 'Start of ranks'),
            ('GPU', 'GPU'), ('Slurm', 'Slurm'), ('files', 'Files'), ('modules', 'Modules'), ('system', 'System')]


def literal(value, indent=0, used=None):
    """
    Return plain data (dict, list, str, ...) as Python source.

    :param indent: int, columns of the lines that follow; used: int, columns before the first line, default: indent
    """
    used = indent if used is None else used
    if isinstance(value, dict):
        flat = '{%s}' % ', '.join('%s: %s' % (_one_line(key), _one_line(item)) for key, item in value.items())
    elif isinstance(value, (list, tuple)):
        flat = '[%s]' % ', '.join(_one_line(item) for item in value)
    else:
        flat = _one_line(value)
    facts = isinstance(value, dict) and 'evidence' in value
    if used + len(flat) < WIDTH and not facts:
        return flat
    inner = ' ' * (indent + 4)
    if isinstance(value, dict):
        lines = []
        for key, item in value.items():
            begin = '%s%s: ' % (inner, _one_line(key))
            lines.append('%s%s,\n' % (begin, literal(item, indent + 4, len(begin))))
        return '{\n%s%s}' % (''.join(lines), ' ' * indent)
    if isinstance(value, (list, tuple)):
        if value and all(isinstance(item, str) for item in value):
            return '[%s]' % _filled([_one_line(item) for item in value], used + 1)
        return '[\n%s%s]' % (''.join('%s%s,\n' % (inner, literal(item, indent + 4)) for item in value), ' ' * indent)
    if isinstance(value, str):
        return ('\n' + ' ' * used).join(_one_line(part) for part in _parts(value, WIDTH - used - 4))
    return flat


def _one_line(value):
    """Return plain data as Python source on one line: keys in their order, double quotes where that saves escapes."""
    if isinstance(value, dict):
        return '{%s}' % ', '.join('%s: %s' % (_one_line(key), _one_line(item)) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return '[%s]' % ', '.join(_one_line(item) for item in value)
    return repr(value)


def _filled(words, used):
    """Return words (list of str, source of list items) over lines that begin at column used."""
    lines = ['']
    for number, word in enumerate(words):
        word += ',' if number < len(words) - 1 else ''
        if lines[-1] and used + len(lines[-1]) + 1 + len(word) > WIDTH - 2:
            lines.append(word)
        else:
            lines[-1] += (' ' if lines[-1] else '') + word
    return ('\n' + ' ' * used).join(lines)


def _parts(text, room):
    """Return text (str) in parts whose source fits into room columns each, cut behind blanks where there are some."""
    room, parts = max(room, 30), []
    while len(repr(text)) > room:
        cut = text.rfind(' ', 0, room - 3) + 1 or room - 3
        while len(repr(text[:cut])) > room:
            cut -= 1
        parts.append(text[:cut])
        text = text[cut:]
    return parts + [text]


def comment(text, begin='# ', follow='#   '):
    """Return text (str) as comment lines of at most WIDTH columns."""
    lines = [begin]
    for word in ''.join(letter if letter.isprintable() or letter.isspace() else '?' for letter in text).split():
        if len(lines[-1]) + len(word) >= WIDTH and lines[-1].strip('# '):
            lines.append(follow)
        lines[-1] += word + ' '
    return ''.join(line.rstrip() + '\n' for line in lines)


def source_of(found):
    """Return the Python source (str) of what was found (dict, see cli.found_now)."""
    name = found['name']
    # both names are what commands and the environment say: text that ends this comment would be code
    shown = [re.sub(r'[^\w.:-]', '?', one, flags=re.ASCII) for one in (name, found['node'])]
    text = '"""\nSite %s, written by osu-container discover on %s, %s. Yours: read it, and correct what is ' \
           'wrong.\n\n' % (shown[0], shown[1], found['date'])
    easyconfig = easyconfig_of(found)
    text += 'Use it:      %s\n' % ('eb %s -r --try-amend=site=THIS_FILE' % easyconfig if easyconfig else
                                   'eb installs nothing from it yet, see what was not found')
    text += 'or for good: name it _mpicontainer_local.py and add it to EASYBUILD_INCLUDE_EASYBLOCKS\n'
    text += 'Compare:     osu-container discover --compare THIS_FILE\n'
    text += 'What the words mean: docs/discover.md, osu_container/core/data/sites/__init__.py of osu-container\n"""\n'
    for title, chosen in (('Not found, and what follows from it', True), ('Not here, and not needed', False)):
        entries = [entry for entry in found['missing'] if entry['matters'] == chosen]
        if entries:
            text += '# %s:\n' % title
            text += ''.join(comment('%s: %s%s' % (entry['what'], entry['consequence'], ' (looked: %s)' % entry['looked']
                                                  if chosen else ''), '# - ') for entry in entries)
    silent = ['`%s`: %s' % (each['command'], each['problem']) for each in found['commands'] if each['problem']]
    for title, lines in (('Odd', found['remarks']), ('Commands without an answer', silent)):
        if lines:
            text += '# %s:\n' % title + ''.join(comment(line, '# - ') for line in lines)
    text += '\nSITE = %r\n' % name
    text += '# folder in front of all paths below; empty on the system itself\nROOT = %s\n\n' % literal(
        found['root'], 0, 7)
    text += 'SITES = %s\n\n' % literal({name: found['site']})
    text += '# What this was like, for osu-container discover --compare\n'
    kept = dict((key, found[key]) for key in ('format', 'node', 'date', 'kind', 'libraries', 'seen'))
    return text + 'DISCOVERED = %s\n' % literal(kept, 0, 13)


def shown(value):
    """Return a value as a person reads it."""
    if isinstance(value, dict):
        return ', '.join('%s: %s' % (key, shown(item)) for key, item in sorted(value.items())) or 'none'
    if isinstance(value, (list, tuple)):
        return ', '.join('|'.join(item) if isinstance(item, list) else str(item) for item in value) or 'none'
    return str(value)


def wrapped(text, first, follow):
    """Return text on lines that fit the terminal; paths are not cut."""
    return columns.fill(text, first, ' ' * follow)


def report_of(found):
    """Return the report (str) on what was found (dict, see cli.found_now)."""
    lines = [_head(found)]
    for section, title in SECTIONS:
        facts = [(key, fact) for key, fact in found['facts'].items() if fact['section'] == section]
        lines += _part(title, [line for key, fact in facts for line in _fact_lines(key, fact)])
    lines += ['', 'What can be installed'] + [_approach_line(approach, why) for approach, why in found['approaches']]
    for title, matters in (('Not found, and what follows from it', True), ('Not here, and not needed', False)):
        lines += _part(title, [line for entry in found['missing'] if entry['matters'] == matters
                               for line in _missing_lines(entry)])
    lines += _part('Odd', [wrapped(remark, '  - ', 4) for remark in found['remarks']])
    lines += _part('Commands without an answer', [wrapped('`%s`: %s' % (each['command'], each['problem']), '  - ', 4)
                                                  for each in found['commands'] if each['problem']])
    return '\n'.join(lines) + '\n'


def _head(found):
    """Return the first lines (str): which node, when, and how many facts of which evidence."""
    counts = ', '.join('%d %s' % (sum(fact['evidence'] == word for fact in found['facts'].values()), word)
                       for word in ('measured', 'derived', 'untested'))
    return columns.fill('%s (%s node), %s%s: %d facts (%s)' % (
        found['node'], found['kind'], found['date'], ', below ' + found['root'] if found['root'] else '',
        len(found['facts']), counts), follow='    ')


def _part(title, lines):
    """Return lines (list of str) of a part with its title in front, nothing where there are none."""
    return ['', title] + lines if lines else []


def _fact_lines(key, fact):
    """Return the lines on a fact (dict): its value, and what showed it."""
    name = key.replace('libraries.', '').replace('files.', '')
    value = shown(fact['value'])
    note = ' (%s)' % fact['note'] if fact['note'] and fact['note'] != value else ''
    how = 'by' if fact['evidence'] == 'measured' else fact['evidence'] + ':'
    return [wrapped(value + note, '  %-17s ' % name, 20), wrapped('%s %s' % (how, fact['source']), ' ' * 20, 23)]


def _approach_line(approach, why):
    """Return the line on an approach; why: None or why it cannot be installed (str)."""
    text = 'yes' if why is None else why if why.startswith('only') else 'no: ' + why
    return wrapped(text, '  %-17s ' % approach, 20)


def _missing_lines(entry):
    """Return the lines on what is not there (dict); where it was looked for only if that matters."""
    lines = [wrapped('%s: %s' % (entry['what'], entry['consequence']), '  - ', 4)]
    return lines + ([wrapped('looked: ' + entry['looked'], '    ', 6)] if entry['matters'] else [])
