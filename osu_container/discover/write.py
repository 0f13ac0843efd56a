"""
A site as Python source that a person reads and edits; and the report of what was found.

The report has facts by section, what can be installed, what is missing and what follows.
"""

import json
import pprint
import re

from osu_container.base import columns
from osu_container.discover.entry import select_easyconfig

SECTIONS = [
    ('runtime', 'Container runtime'),
    ('MPI', 'MPI'),
    ('network', 'Network'),
    ('PMI', 'Start of ranks'),
    ('GPU', 'GPU'),
    ('Slurm', 'Slurm'),
    ('files', 'Files'),
    ('modules', 'Modules'),
    ('system', 'System'),
]


def render_site_file(found):
    """Return the Python source (str) of the site that was found (dict, see cli.found_now)."""
    easyconfig = select_easyconfig(found)
    # names are what commands and the environment print: text that ends this comment would be code
    name, node = (
        re.sub(r'[^\w.:-]', '?', one, flags=re.ASCII) for one in (found['name'], found['node'])
    )
    return """# Site %s, written by osu-container discover on %s, %s: read it, and correct what is wrong.
# Keys: docs/add-a-site.md. It has what differs from the entry 'based_on' of osu_container/data/sites/.
# Use it: %s
SITE = %r
# folder in front of all paths below; empty on the system itself
ROOT = %r
SITES = %s
""" % (
        name,
        node,
        found['date'],
        'eb %s -r --try-amend=site=THIS_FILE' % easyconfig
        if easyconfig
        else 'eb installs nothing from it yet, see osu-container discover',
        found['name'],
        found['root'],
        pprint.pformat(json.loads(json.dumps({found['name']: found['site']})), width=118),
    )


def format_value(value):
    """Return a value as a person reads it."""
    if isinstance(value, dict):
        return (
            ', '.join('%s: %s' % (key, format_value(item)) for key, item in sorted(value.items()))
            or 'none'
        )
    if isinstance(value, (list, tuple)):
        return (
            ', '.join('|'.join(item) if isinstance(item, list) else str(item) for item in value)
            or 'none'
        )
    return str(value)


def wrap_text(text, first, follow):
    """Return text on lines that fit the terminal; paths are not cut."""
    return columns.fill_text(text, first, ' ' * follow)


def format_survey_report(found):
    """Return the report (str) on what was found (dict, see cli.found_now)."""
    lines = [
        columns.fill_text(
            '%s (%s node), %s%s'
            % (
                found['node'],
                found['kind'],
                found['date'],
                found['root'] and ', below ' + found['root'],
            ),
            subsequent_indent='    ',
        )
    ]
    for section, title in SECTIONS:
        facts = [(key, fact) for key, fact in found['facts'].items() if fact['section'] == section]
        lines += _format_section(
            title, [line for key, fact in facts for line in _format_fact_lines(key, fact)]
        )
    lines += ['', 'What can be installed'] + [
        _format_approach_line(approach, why) for approach, why in found['approaches']
    ]
    lines += _format_section(
        'Not found, and what follows from it',
        [
            wrap_text('%s: %s' % (entry['what'], entry['consequence']), '  - ', 4)
            for entry in found['missing']
        ],
    )
    lines += _format_section('Odd', [wrap_text(remark, '  - ', 4) for remark in found['remarks']])
    lines += _format_section(
        'Commands without an answer', [wrap_text(line, '  - ', 4) for line in found['silent']]
    )
    return '\n'.join(lines) + '\n'


def _format_section(title, lines):
    """
    Return lines (list of str) of a part with its title in front, nothing where there are none.
    """
    return ['', title] + lines if lines else []


def _format_fact_lines(key, fact):
    """Return the lines on a fact (dict): its value, and what showed it."""
    name = key.replace('libraries.', '').replace('files.', '')
    value = format_value(fact['value'])
    note = ' (%s)' % fact['note'] if fact['note'] and fact['note'] != value else ''
    how = 'by' if fact['evidence'] == 'measured' else fact['evidence'] + ':'
    return [
        wrap_text(value + note, '  %-17s ' % name, 20),
        wrap_text('%s %s' % (how, fact['source']), ' ' * 20, 23),
    ]


def _format_approach_line(approach, why):
    """Return the line on an approach; why: None or why it cannot be installed (str)."""
    text = 'yes' if why is None else why if why.startswith('only') else 'no: ' + why
    return wrap_text(text, '  %-17s ' % approach, 20)
