"""What was found, for a person: facts by section, what can be installed, what is not there and what follows."""
import textwrap

WIDTH = 118
SECTIONS = [('runtime', 'Container runtime'), ('MPI', 'MPI'), ('network', 'Network'), ('PMI', 'Start of ranks'),
            ('GPU', 'GPU'), ('Slurm', 'Slurm'), ('files', 'Files'), ('modules', 'Modules'), ('system', 'System')]


def shown(value):
    """Return a value as a person reads it."""
    if isinstance(value, dict):
        return ', '.join('%s: %s' % (key, shown(item)) for key, item in sorted(value.items())) or 'none'
    if isinstance(value, (list, tuple)):
        return ', '.join('|'.join(item) if isinstance(item, list) else str(item) for item in value) or 'none'
    return str(value)


def wrapped(text, first, follow):
    """Return text on lines of WIDTH columns; paths are not cut."""
    return textwrap.fill(text, WIDTH, initial_indent=first, subsequent_indent=' ' * follow, break_on_hyphens=False,
                         break_long_words=False)


def report_of(found):
    """Return the report (str) on what was found (dict, see cli.found_now)."""
    counts = dict((word, sum(fact['evidence'] == word for fact in found['facts'].values()))
                  for word in ('measured', 'derived', 'untested'))
    lines = ['%s (%s node), %s%s: %d facts (%s)' % (
        found['node'], found['kind'], found['date'], ', below ' + found['root'] if found['root'] else '',
        len(found['facts']), ', '.join('%d %s' % (counts[word], word) for word in ('measured', 'derived', 'untested')))]
    for section, title in SECTIONS:
        facts = [(key, fact) for key, fact in found['facts'].items() if fact['section'] == section]
        if facts:
            lines += ['', title]
        for key, fact in facts:
            name = key.replace('libraries.', '').replace('files.', '')
            note = ' (%s)' % fact['note'] if fact['note'] and fact['note'] != shown(fact['value']) else ''
            lines.append(wrapped(shown(fact['value']) + note, '  %-17s ' % name, 20))
            how = 'by' if fact['evidence'] == 'measured' else fact['evidence'] + ':'
            lines.append(wrapped('%s %s' % (how, fact['source']), ' ' * 20, 23))
    lines += ['', 'What can be installed']
    for approach, why in found['approaches']:
        lines.append(wrapped('yes' if why is None else why if why.startswith('only') else 'no: ' + why,
                             '  %-17s ' % approach, 20))
    for title, matters in (('Not found, and what follows from it', True), ('Not here, and not needed', False)):
        entries = [entry for entry in found['missing'] if entry['matters'] == matters]
        if entries:
            lines += ['', title]
        for entry in entries:
            lines.append(wrapped('%s: %s' % (entry['what'], entry['consequence']), '  - ', 4))
            if matters:
                lines.append(wrapped('looked: ' + entry['looked'], '    ', 6))
    if found['remarks']:
        lines += ['', 'Odd'] + [wrapped(remark, '  - ', 4) for remark in found['remarks']]
    silent = [each for each in found['commands'] if each['problem']]
    if silent:
        lines += ['', 'Commands without an answer'] + [
            wrapped('`%s`: %s' % (each['command'], each['problem']), '  - ', 4) for each in silent]
    return '\n'.join(lines) + '\n'
