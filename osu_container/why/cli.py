"""Explain the error messages in the output of jobs (command line of `osu-container why`)."""

import argparse
import json
import os
import sys
from typing import Any, Dict, Iterable, List

from osu_container.base.columns import fill_text
from osu_container.base.files import open_plain_file
from osu_container.why.messages import MESSAGES
from osu_container.why.search import SHOWN_LINE, Search, make_printable, search_file

#: Maximum number of places (file and line) that are printed for a message; maximum number of
#: printed lines without a known cause
SHOWN_PLACES, SHOWN_CLUES = 6, 12
#: Sentence on another possible cause, and the command that shows whether this cause applies
MAY_BE = "Another possible cause is that %s. To check this cause: %s"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command-line arguments of `osu-container why` to an argparse parser."""
    parser.add_argument(
        'log',
        nargs='*',
        default=['-'],
        metavar='LOG',
        help="name of a file with the output of a job; - is standard input (default: -)",
    )
    parser.add_argument('--json', action='store_true', help="machine-readable output")
    parser.set_defaults(
        function=main,
        prog='osu-container why',
        errors=(OSError,),
        after_interrupt='nothing was changed',
    )


def _search_log(name: str) -> Search:
    """
    Search the log `name` for known messages and return the finished Search.

    The name '-' means standard input. Raises OSError if the log cannot be read. Raises ValueError
    if the log is a device or a binary file.
    """
    if name != '-':
        with open_plain_file(name) if os.path.isfile(name) else open(name, 'rb') as handle:
            # Pipes and plain files have no device number.
            if os.fstat(handle.fileno()).st_rdev and not handle.isatty():
                raise ValueError(
                    "the log is a device, not a file. Give the name of a file with the output of a "
                    "job"
                )
            return search_file(handle)
    if sys.stdin.isatty():
        sys.stderr.write("osu-container why: paste the output of the job, then press Ctrl-D\n")
    return search_file(sys.stdin.buffer)


def _print_text(text: str) -> None:
    """Print `text`, with '?' for each character that the terminal cannot show."""
    encoding = sys.stdout.encoding or 'ascii'
    print(text.encode(encoding, 'replace').decode(encoding))


def _format_field(text: str, title: str) -> str:
    """Return a title and its text as lines that fit the width of the terminal."""
    return fill_text(text, '  %-8s' % title, ' ' * 10)


def _format_advice(message: Dict[str, Any]) -> str:
    """Return the cause, the remedy, other possible causes and the source of a message as text."""
    return '\n'.join(
        _format_field(words, title)
        for title, words in [('cause', message['cause']), ('remedy', message['remedy'])]
        + [
            ('or', MAY_BE % (alternative['cause'], alternative['command']))
            for alternative in message['also']
        ]
        + [('source', message['source'])]
    )


def _format_place(message: Dict[str, Any], several_files: bool) -> str:
    """Return the line number of a message, after the file name if there are several files."""
    more = ' (and %d more)' % (message['times'] - 1) if message.get('times', 1) > 1 else ''
    return make_printable(
        '%sline %d%s%s'
        % (
            '%s ' % message['file'] if several_files else '',
            message['number'],
            message.get('part', ''),
            more,
        )
    )


def _print_messages(messages: Iterable[Dict[str, Any]], several_files: bool) -> None:
    """Print each message once, with all files and line numbers in which the message occurs."""
    groups: Dict[Any, List[Dict[str, Any]]] = {}
    for message in messages:
        groups.setdefault((message['name'], message['cause'], message['remedy']), []).append(
            message
        )
    for group in groups.values():
        places = [_format_place(message, several_files) for message in group]
        more = ['and %d more' % (len(places) - SHOWN_PLACES)] if len(places) > SHOWN_PLACES else []
        _print_text(
            '%s, %s\n    %s\n%s'
            % (
                group[0]['name'],
                '; '.join(places[:SHOWN_PLACES] + more),
                '\n    '.join([group[0]['line']] + group[0]['says']),
                _format_advice(group[0]),
            )
        )


def _print_clues(clues: List[Dict[str, Any]], several_files: bool) -> None:
    """Print the lines of a log that look like an error but contain no known message."""
    if clues:
        _print_text(
            "\nThe following lines of the output look like errors, but their cause is not known. "
            "Usually the first line is the closest to the cause:"
            if any(clue['level'] == 'error' for clue in clues)
            else "\nThe following lines are warnings. Successful runs may print such warnings, too:"
        )
    last_program = None
    for clue in clues[:SHOWN_CLUES]:
        source = '%s printed this line' % clue['program'] + (
            "; to get more details, %s" % clue['more'] if clue['more'] else ''
        )
        _print_text(
            '\n    '.join([_format_place(clue, several_files), clue['line']] + clue['says'])
            + (
                '\n' + _format_field(source, 'clue')
                if clue['program'] not in ('', last_program)
                else ''
            )
        )
        last_program = clue['program']


def _summarize_search(name: str, search: Search, several_files: bool) -> List[str]:
    """
    Return sentences that tell the user if a log has no known message or was not read completely.

    A sentence reports that the log is empty, contains no known message, or was read only in part.
    The list is empty if the log contains a known message and was read completely.
    """
    sentences = []
    if not search.last_line:
        sentences.append("The output of the job is empty.")
    elif not search.list_messages():
        nothing, last_line = '', ''
        if not search.clues.has_errors():
            nothing = "; no line of the output looks like an error"
            last_line = "The last line of the output is: " + search.last_line[:SHOWN_LINE]
        sentences.append(
            "The output (%d lines) contains none of the %d error messages that osu-container "
            "knows%s. If the run failed, please send the output to the project: docs/support.md, "
            "section 'Send a report', explains how. %s"
            % (search.line_count, len(MESSAGES), nothing, make_printable(last_line))
        )
    return [
        ('%s: ' % make_printable(name) if several_files else '') + sentence
        for sentence in sentences + search.list_skipped_parts()
    ]


def main(options: argparse.Namespace) -> int:
    """
    Print the known messages in the logs `options.log`, or lines that look like an error.

    Return the exit code: 0 if a log contains a known message and all logs could be read, else 1.
    """
    messages: List[Dict[str, Any]] = []
    clues: List[Dict[str, Any]] = []
    sentences: List[str] = []
    has_failed, several_files = False, len(options.log) > 1
    for name in options.log:
        try:
            search = _search_log(name)
        except (OSError, ValueError) as err:
            has_failed = True
            sys.stdout.flush()
            reason = getattr(err, 'strerror', None)
            sys.stderr.write(
                "osu-container why: error: %s: %s\n"
                % (
                    make_printable(name),
                    reason + ". Give the name of a file with the output of a job"
                    if reason
                    else err,
                )
            )
            continue
        messages += [dict(entry, file=name) for entry in search.list_messages()]
        clues += [dict(entry, file=name) for entry in search.list_clues()]
        sentences += _summarize_search(name, search, several_files)
    if options.json:
        sys.stderr.write(''.join(entry + '\n' for entry in sentences))
        _print_text(
            json.dumps(messages + [dict(entry, name=None, cause=None) for entry in clues], indent=1)
        )
    else:
        for entry in sentences:
            _print_text(entry)
        _print_clues(clues, several_files)
        _print_messages(messages, several_files)
    return 0 if messages and not has_failed else 1
