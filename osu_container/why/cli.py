"""
osu-container why: names cause and remedy of the messages in a job's output (see
../why/__init__.py).
"""

import json
import os
import sys

from osu_container.base.columns import fill_text
from osu_container.base.files import open_plain_file
from osu_container.why.messages import MESSAGES
from osu_container.why.search import make_printable, search_file

#: places that are named with a message, lines without a known cause that are shown
SHOWN_PLACES, SHOWN_CLUES = 6, 12
#: What else a message may mean, and what tells
MAY_BE = "It may also be that %s. To tell: %s"


def add_arguments(parser):
    """Add the arguments of `osu-container why`."""
    parser.add_argument(
        'log',
        nargs='*',
        default=['-'],
        metavar='LOG',
        help="files with the output of jobs, or - for what is piped in (default)",
    )
    parser.add_argument('--json', action='store_true', help="machine-readable output")
    parser.set_defaults(
        function=main,
        prog='osu-container why',
        errors=(OSError,),
        after_interrupt='nothing was changed',
    )


def _search_log(name):
    """Return the Search of a file or, for '-', of what is piped in. Raises OSError, ValueError."""
    if name != '-':
        with open_plain_file(name) if os.path.isfile(name) else open(name, 'rb') as handle:
            if (
                os.fstat(handle.fileno()).st_rdev and not handle.isatty()
            ):  # pipes and plain files have none
                raise ValueError(
                    "it is a device, which may have no end. Name the file with a job's output"
                )
            return search_file(handle)
    if sys.stdin.isatty():
        sys.stderr.write("osu-container why: paste the output, then type Ctrl-D\n")
    return search_file(sys.stdin.buffer)


def _print_text(text):
    """
    Print text (str) as far as the terminal has its letters: Python 3.6 in the locale C has ASCII
    alone.
    """
    encoding = sys.stdout.encoding or 'ascii'
    print(text.encode(encoding, 'replace').decode(encoding))


def _format_field(words, title):
    """Return words (str) in lines that fit the terminal, behind a title (str)."""
    return fill_text(words, '  %-8s' % title, ' ' * 10)


def _format_advice(each):
    """
    Return the lines (str) with cause, remedy, what else it may be, and source of a message
    (dict).
    """
    return '\n'.join(
        _format_field(words, title)
        for title, words in [('cause', each['cause']), ('remedy', each['remedy'])]
        + [('or', MAY_BE % (also['cause'], also['command'])) for also in each['also']]
        + [('source', each['source'])]
    )


def _format_place(each, several):
    """Return where a message stands (str): its line, and the file where there are several."""
    more = ' (and %d more)' % (each['times'] - 1) if each.get('times', 1) > 1 else ''
    return make_printable(
        '%sline %d%s%s'
        % ('%s ' % each['file'] if several else '', each['number'], each.get('part', ''), more)
    )


def _print_messages(found, several):
    """
    Print the messages (list of dict, with file); one that is in several files once, with these.
    """
    groups = {}
    for each in found:
        groups.setdefault((each['name'], each['cause'], each['remedy']), []).append(each)
    for group in groups.values():
        places = [_format_place(each, several) for each in group]
        more = ['and %d more' % (len(places) - SHOWN_PLACES)] if len(places) > SHOWN_PLACES else []
        _print_text(
            '%s, %s\n    %s\n%s'
            % (
                group[0]['name'],
                '; '.join(places[:SHOWN_PLACES] + more),
                group[0]['line'],
                _format_advice(group[0]),
            )
        )


def _print_clues(clues, several):
    """
    Print the lines that look like an error and whose cause is not known (list of dict, with
    file).
    """
    if clues:
        _print_text(
            "\nNo cause is known for what looks like an error here; the first one is mostly nearest to it:"
        )
    last = None
    for each in clues[:SHOWN_CLUES]:
        said = 'said by %s' % each['program'] + (
            "; to let it say more: %s" % each['more'] if each['more'] else ''
        )
        _print_text(
            '\n    '.join([_format_place(each, several), each['line']] + each['says'])
            + ('\n' + _format_field(said, 'clue') if each['program'] not in ('', last) else '')
        )
        last = each['program']


def _summarize_search(name, search, several):
    """
    Return the sentences (list of str) on a Search without a known message, and on what was not
    read.
    """
    said = []
    if not search.has_text:
        said.append("The text is empty: there is nothing to explain.")
    elif not search.list_messages():
        said.append(
            "None of the %d messages that are known here is in these %d lines. Keep the text and send it "
            "(docs/support.md, Send a report)." % (len(MESSAGES), search.line_count)
        )
    return [
        ('%s: ' % make_printable(name) if several else '') + each
        for each in said + search.list_skipped_parts()
    ]


def main(options):
    """Print what is known about the messages in the logs; return the exit code."""
    found, clues, said, failed, several = [], [], [], False, len(options.log) > 1
    for name in options.log:
        try:
            search = _search_log(name)
        except (OSError, ValueError) as err:
            failed = True
            sys.stdout.flush()
            words = getattr(err, 'strerror', None)
            sys.stderr.write(
                "osu-container why: error: %s: %s\n"
                % (
                    make_printable(name),
                    words + ". Name the file with a job's output" if words else err,
                )
            )
            continue
        found += [dict(each, file=name) for each in search.list_messages()]
        clues += [dict(each, file=name) for each in search.list_clues()]
        said += _summarize_search(name, search, several)
    if options.json:
        sys.stderr.write(''.join(each + '\n' for each in said))
        _print_text(
            json.dumps(found + [dict(each, name=None, cause=None) for each in clues], indent=1)
        )
    else:
        for each in said:
            _print_text(each)
        _print_clues(clues, several)
        _print_messages(found, several)
    return 0 if found and not failed else 1
