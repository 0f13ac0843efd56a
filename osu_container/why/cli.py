"""osu-container why: names cause and remedy of the messages in a job's output (see ../why/__init__.py)."""
import json
import os
import sys
import time

from ..columns import fill
from ..core.reading.files import open_plain
from .messages import MESSAGES
from .search import listed, printable, search_in

#: files that are named with a message, or without one
SHOWN_FILES, SHOWN_OTHERS = 6, 20
#: lines without a known cause that are shown
SHOWN_CLUES = 12
#: files of a folder that are read; seconds for all files and for one
NEWEST, SECONDS, SECONDS_ONE = 100, 6, 4
#: What else a message may mean, and what tells
MAY_BE = "It may also be that %s. To tell: %s"


def add_arguments(parser):
    """Add the arguments of `osu-container why`."""
    parser.add_argument('log', nargs='*', default=['-'], metavar='LOG',
                        help="files with the output of jobs, a folder of them, or - for what is piped in (default)")
    parser.add_argument('--list', action='store_true', help="list all messages that are known, and read nothing")
    parser.add_argument('--json', action='store_true', help="the same for programs")
    parser.set_defaults(function=main, prog='osu-container why', errors=(OSError,),
                        after_interrupt='nothing was changed')


def _files_of(name):
    """Return (files (list of str) for the name of a file or folder, a sentence on which of a folder's these are)."""
    if not os.path.isdir(name):
        return [name], ''
    with os.scandir(name) as entries:
        there = sorted(((each.stat().st_mtime, each.path) for each in entries if each.is_file()), reverse=True)
    if not there:
        raise ValueError("it is a folder without files. Name the file with a job's output")
    return [path for _, path in there[:NEWEST]], "Looked at the newest %d of %d files in %s." % (
        min(NEWEST, len(there)), len(there), printable(name))


def _search_of(name, seconds):
    """Return the Search of a file or, for '-', of what is piped in. Raises OSError, ValueError."""
    if name != '-':
        with (open_plain(name) if os.path.isfile(name) else open(name, 'rb')) as handle:
            if os.fstat(handle.fileno()).st_rdev and not handle.isatty():  # pipes and plain files have none
                raise ValueError("it is a device, which may have no end. Name the file with a job's output")
            return search_in(handle, seconds)
    if sys.stdin.isatty():
        sys.stderr.write("osu-container why: paste the output, then type Ctrl-D\n")
    return search_in(sys.stdin.buffer, seconds)


def _say(text):
    """Print text (str) as far as the terminal has its letters: Python 3.6 in the locale C has ASCII alone."""
    encoding = sys.stdout.encoding or 'ascii'
    print(text.encode(encoding, 'replace').decode(encoding))


def _fill(words, title):
    """Return words (str) in lines that fit the terminal, behind a title (str)."""
    return fill(words, '  %-8s' % title, ' ' * 10)


def _advice(each):
    """Return the lines (str) with cause, remedy, what else it may be, and source of a message (dict)."""
    return '\n'.join(_fill(words, title) for title, words in
                     [('cause', each['cause']), ('remedy', each['remedy'])]
                     + [('or', MAY_BE % (also['cause'], also['command'])) for also in each['also']]
                     + [('source', each['source'])])


def _print_list(as_json):
    """Print all messages that are known, with cause and remedy."""
    if as_json:
        _say(json.dumps(listed(), indent=1))
        return
    topic = None
    for each in listed():
        if each['topic'] != topic:
            topic = each['topic']
            _say('%s\n%s' % (topic, '-' * len(topic)))
        texts = '\n'.join('    ' + text.strip() for text in dict.fromkeys(each['texts']))
        _say('%s\n%s\n%s\n' % (each['name'], texts, _advice(each)))


def _where(each, several):
    """Return where a message stands (str): its line, and the file where there are several."""
    more = ' (and %d more)' % (each['times'] - 1) if each['times'] > 1 else ''
    return '%sline %d%s%s' % ('%s ' % each['file'] if several else '', each['number'], each.get('part', ''), more)


def _some(names, number, between):
    """Return so many (int) of names (list of str) in one text, and how many more there are."""
    more = ['and %d more' % (len(names) - number)] if len(names) > number else []
    return between.join([printable(name) for name in names[:number]] + more)


def _print_found(found, several):
    """Print the messages (list of dict, with file); one that is in several files once, with these."""
    groups = {}
    for each in found:
        groups.setdefault((each['name'], each['cause'], each['remedy']), []).append(each)
    for each, *others in groups.values():
        places = _some([_where(one, several) for one in [each] + others], SHOWN_FILES, '; ')
        _say('%s, %s\n    %s\n%s' % (each['name'], places, each['line'], _advice(each)))


def _print_clues(clues, several):
    """Print the lines that look like an error and whose cause is not known (list of dict, with file)."""
    if clues:
        _say("\nNo cause is known for what looks like an error here; the first one is mostly nearest to it:")
    last = None
    for each in clues[:SHOWN_CLUES]:
        said = 'said by %s' % each['program'] + ("; to let it say more: %s" % each['more'] if each['more'] else '')
        _say('\n    '.join([printable(_where(dict(each, times=1), several)), each['line']] + each['says'])
             + ('\n' + _fill(said, 'clue') if each['program'] not in ('', last) else ''))
        last = each['program']


def _read(names):
    """Return ([(name of a file, its Search)], sentences (list of str) on what was looked at, whether one failed)."""
    done, said, failed, stop = [], [], False, time.monotonic() + SECONDS
    late = []
    for name in names:
        try:
            files, which = _files_of(name)
            said += [which] if which else []
            for path in files:
                if time.monotonic() > stop:
                    late.append(path)
                    continue
                done.append((path, _search_of(path, min(SECONDS_ONE, stop - time.monotonic()))))
                looked = done[-1][1].looked_at()
                said += [looked if len(names) == len(files) == 1 else printable(path) + ': ' + looked] if looked else []
        except (OSError, ValueError) as err:
            failed = True
            sys.stdout.flush()
            words = getattr(err, 'strerror', None)
            sys.stderr.write("osu-container why: error: %s: %s\n" % (
                printable(name), words + ". Name the file with a job's output" if words else err))
    if late:
        said.append("Not looked at, since %d s were over: %s." % (SECONDS, _some(late, SHOWN_OTHERS, ', ')))
    return done, said, failed


def main(options):
    """Print what is known about the messages in the logs, or all that is known; return the exit code."""
    if options.list:
        _print_list(options.json)
        return 0
    found, empty, unknown, clues = [], [], [], []
    done, said, failed = _read(options.log)
    for name, search in done:
        here = [dict(each, file=name) for each in search.found()]
        found += here
        clues += [dict(each, file=name) for each in search.not_known()]
        if not here:
            (unknown if search.written else empty).append((name, search.lines))
    several = len(done) > 1 or len(options.log) > 1
    if options.json:
        sys.stderr.write(''.join(each + '\n' for each in said))
        _say(json.dumps(found + [dict(each, name=None, cause=None) for each in clues], indent=1))
        return 0 if found and not failed else 1
    sure = not clues
    if sure:
        _print_found(found, several)
    if empty:
        _say("The text is empty: there is nothing to explain." if not several else
             "Empty: %s." % _some([name for name, _ in empty], SHOWN_OTHERS, ', '))
    if unknown and not several:
        _say("None of the %d messages that are known here is in these %d lines (osu-container why --list).\n"
             "Keep the text and send it (docs/support.md, Send a report)." % (len(MESSAGES), unknown[0][1]))
    elif unknown:
        _say("None of the %d messages that are known here is in: %s."
             % (len(MESSAGES), _some([name for name, _ in unknown], SHOWN_OTHERS, ', ')))
    _print_clues(clues, several)
    if not sure:
        _print_found(found, several)
    for each in said:
        _say(each)
    return 0 if found and not failed else 1
