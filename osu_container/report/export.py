"""Markdown and CSV, for papers and for other programs."""
from __future__ import annotations

import csv
import io
import re

from osu_container.core.writing.terminal import visible

from . import page, study, tables

#: Columns of the CSV: one row for each value of each repeat
CSV = ('dataset', 'series', 'benchmark', 'buffers', 'nodes', 'ranks', 'variant', 'size', 'repeat', 'value', 'unit')


def csv_text(report):
    """Return every value of a content.Report as CSV (str), those of the curves behind included."""
    handle = io.StringIO()
    writer = csv.writer(handle, lineterminator='\n')
    writer.writerow(CSV)
    written = set()
    for view in report.views:
        case = view.case
        for curve in view.curves:
            key = curve.dataset.name, curve.series.name, case
            if key in written:  # a publication can stand behind others and have a section of its own
                continue
            written.add(key)
            head = tuple(map(_cell, (curve.dataset.name, curve.series.name, case.benchmark, case.buffers, case.nodes,
                                     case.ranks, case.variant)))
            writer.writerows((*head, size, repeat, value, case.unit) for size in curve.series.sizes
                             for repeat, value in sorted(curve.series.values[size].items()))
    return handle.getvalue()


def _escape(text):
    """Return text that Markdown shows as it is, in one cell of a table."""
    text = visible(re.sub(r'[ \t\r\n]+', ' ', str(text)))
    text = re.sub(r'([\\`*\[\]|]|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z]))', r'\\\1', text)
    return text.replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;').replace('~', '&#126;')


def _paragraph(text):
    """Return text that Markdown shows as it is, in a line of its own."""
    return re.sub(r'^(\d*)([#+=.)-])', r'\1\\\2', _escape(text).strip())


def _cell(value):
    """Return a value as a cell of the CSV: text that a spreadsheet would take for a formula gets ' in front (OWASP)."""
    if not isinstance(value, str):
        return value
    text = re.sub(r'\s+', ' ', visible(value))
    return "'" + text if text[:1] in ('=', '+', '-', '@') else text


def table(one):
    """Return a tables.Table as Markdown (str), with its caption above and its notes below."""
    titles = [f'{column.group}: {column.title}' if column.group else column.title for column in one.columns]
    lines = [f'**{_escape(one.caption)}**', '', '| ' + ' | '.join(_escape(title) for title in titles) + ' |',
             '|' + '|'.join('--:' if column.number else '---' for column in one.columns) + '|']
    lines += ['| ' + ' | '.join(_escape(cell.plain) for cell in row) + ' |' for row in one.rows]
    return '\n'.join(lines + [''] + [f'{_paragraph(note)}\n' for note in one.notes])


def markdown(report):
    """Return a content.Report as Markdown (str): all its tables but the values at every size, which are in the CSV."""
    parts = [f'# {_escape(report.title)}']
    for section in report.sections:
        parts.append(f'## {_escape(section.title)}')
        for dataset in section.datasets:
            facts = page.lead(dataset, section.details.get(dataset.name))
            parts.append('\n'.join(f'* {_escape(name)}: {_escape(text)}' for name, text in facts))
        parts += [f'**Note:** {_escape(line)}' for line in page.warnings(section)]
        made = study.of(section)
        found = [*tables.summaries(section), *tables.verdicts(section), *(made.tables() if made else []),
                 *(tables.breakdown(view, rows) for view, rows in section.breakdowns()), tables.failures(section)]
        for dataset in section.datasets:
            if dataset.name in section.details:
                found += [tables.proof(dataset, section.details[dataset.name]), tables.modules(dataset),
                          *tables.environment(dataset, section.details[dataset.name])]
        parts += [table(one) for one in found if one]
        for called in section.troubles():
            trouble, names = called.trouble, sorted({called.name(curve) for _, curve, _ in called.where})
            parts.append(f"**{_escape(trouble.title)}** ({_escape(', '.join(names))}): {_escape(trouble.text)}"
                         + (f" What to do: {_escape(trouble.remedy)}" if called.advice else ''))
    parts.append('## Notes, and what is not known')
    parts.append('\n'.join(f'* {_escape(note)}' for note in page.notes(report)))
    found = tables.sources(report)
    if found:
        parts.append(table(found))
    return '\n\n'.join(part.rstrip('\n') for part in parts) + '\n'
