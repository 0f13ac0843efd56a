"""Render the results of a survey as a report for users or as a site file in Python."""

import json
import pprint
import re
from typing import Any, Dict, List, Optional

from osu_container.base import columns
from osu_container.discover.entry import select_easyconfig

#: {section of a fact: title in the report}
SECTIONS = {
    'runtime': 'Container runtime',
    'MPI': 'MPI',
    'network': 'Network',
    'PMI': 'Rank launch',
    'GPU': 'GPU',
    'Slurm': 'Slurm',
    'files': 'Files',
    'modules': 'Modules',
    'system': 'System',
}


def render_site_file(system: Dict[str, Any]) -> str:
    """Return the text of a site file, which is Python source, for the surveyed site."""
    easyconfig = select_easyconfig(system)
    # Names come from commands and the environment. After a line break in a name the rest of the
    # comment would be code.
    name, node = (
        re.sub(r'[^\w.:-]', '?', text, flags=re.ASCII) for text in (system['name'], system['node'])
    )
    return """# Site %s, written by osu-container discover on %s, %s. Check the facts and correct errors.
# docs/add-a-site.md explains the keys. The entry has the differences from the base entry 'based_on'
# in osu_container/data/sites/.
# Install: %s
SITE = %r
# Folder in front of all paths below, empty on the system itself.
ROOT = %r
SITES = %s
""" % (
        name,
        node,
        system['date'],
        'eb %s -r --try-amend=site=THIS_FILE' % easyconfig
        if easyconfig
        else 'no approach can be installed yet; run osu-container discover to see the reasons',
        system['name'],
        system['root'],
        pprint.pformat(json.loads(json.dumps({system['name']: system['site']})), width=118),
    )


def format_value(value: Any) -> str:
    """Return the value of a fact as text; an empty list or dict becomes 'none'."""
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


def wrap_text(text: str, first: str, follow: int) -> str:
    """
    Wrap a text to the width of the terminal, without breaking paths.

    first: text before the first line. follow: number of blanks before all other lines.
    """
    return columns.fill_text(text, first, ' ' * follow)


def format_survey_report(system: Dict[str, Any]) -> str:
    """
    Return the report on a surveyed system as text.

    system: result of discover_system().
    """
    lines = [
        columns.fill_text(
            '%s (%s node), %s%s'
            % (
                system['node'],
                system['kind'],
                system['date'],
                system['root'] and ', below ' + system['root'],
            ),
            subsequent_indent='    ',
        )
    ]
    for section, title in SECTIONS.items():
        facts = [(key, fact) for key, fact in system['facts'].items() if fact['section'] == section]
        lines += _format_section(
            title, [line for key, fact in facts for line in _format_fact_lines(key, fact)]
        )
    lines += ['', 'Approaches that can be installed'] + [
        _format_approach_line(approach, problem) for approach, problem in system['approaches']
    ]
    missing = ['%s: %s' % (entry['what'], entry['consequence']) for entry in system['missing']]
    for title, texts in (
        ('Missing parts and their consequences', missing),
        ('Remarks', system['remarks']),
        ('Failed commands', system['silent']),
    ):
        lines += _format_section(title, [wrap_text(text, '  - ', 4) for text in texts])
    return '\n'.join(lines) + '\n'


def _format_section(title: str, lines: List[str]) -> List[str]:
    """
    Return the lines of a section of the report, [] if `lines` is empty.

    The result consists of an empty line, the title and `lines`.
    """
    return ['', title] + lines if lines else []


def _format_fact_lines(key: str, fact: Dict[str, Any]) -> List[str]:
    """Return the lines of the report on a fact: the fact's value, evidence and source."""
    name = key.replace('libraries.', '').replace('files.', '')
    value = format_value(fact['value'])
    note = ' (%s)' % fact['note'] if fact['note'] and fact['note'] != value else ''

    return [
        wrap_text(value + note, '  %-17s ' % name, 20),
        wrap_text('%s: %s' % (fact['evidence'], fact['source']), ' ' * 20, 23),
    ]


def _format_approach_line(approach: str, problem: Optional[str]) -> str:
    text = 'yes' if problem is None else problem if problem.startswith('only') else 'no: ' + problem
    return wrap_text(text, '  %-17s ' % approach, 20)
