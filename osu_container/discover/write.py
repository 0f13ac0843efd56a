"""
A site as Python source that a person reads and edits; and the report of what was found.

The report has facts by section, what can be installed, what is missing and what follows.
"""
import json
import pprint
import re

from osu_container.base import columns
from osu_container.discover.entry import easyconfig_of

SECTIONS = [('runtime', 'Container runtime'), ('MPI', 'MPI'), ('network', 'Network'), ('PMI', 'Start of ranks'),
            ('GPU', 'GPU'), ('Slurm', 'Slurm'), ('files', 'Files'), ('modules', 'Modules'), ('system', 'System')]


def source_of(found):
    """Return the Python source (str) of the site that was found (dict, see cli.found_now)."""
    easyconfig = easyconfig_of(found)
    # names are what commands and the environment print: text that ends this comment would be code
    name, node = (re.sub(r'[^\w.:-]', '?', one, flags=re.ASCII) for one in (found['name'], found['node']))
    return """# Site %s, written by osu-container discover on %s, %s: read it, and correct what is wrong.
# Keys: docs/add-a-site.md. It has what differs from the entry 'based_on' of osu_container/data/sites/.
# Use it: %s
SITE = %r
# folder in front of all paths below; empty on the system itself
ROOT = %r
SITES = %s
""" % (name, node, found['date'], 'eb %s -r --try-amend=site=THIS_FILE' % easyconfig if easyconfig else
       'eb installs nothing from it yet, see osu-container discover', found['name'], found['root'],
       pprint.pformat(json.loads(json.dumps({found['name']: found['site']})), width=118))


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
    lines = [columns.fill('%s (%s node), %s%s' % (found['node'], found['kind'], found['date'], found['root'] and
                                                  ', below ' + found['root']), follow='    ')]
    for section, title in SECTIONS:
        facts = [(key, fact) for key, fact in found['facts'].items() if fact['section'] == section]
        lines += _part(title, [line for key, fact in facts for line in _fact_lines(key, fact)])
    lines += ['', 'What can be installed'] + [_approach_line(approach, why) for approach, why in found['approaches']]
    lines += _part('Not found, and what follows from it', [
        wrapped('%s: %s' % (entry['what'], entry['consequence']), '  - ', 4) for entry in found['missing']])
    lines += _part('Odd', [wrapped(remark, '  - ', 4) for remark in found['remarks']])
    lines += _part('Commands without an answer', [wrapped(line, '  - ', 4) for line in found['silent']])
    return '\n'.join(lines) + '\n'


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
