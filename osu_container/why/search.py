"""
Looks for the messages of the folder messages in the output of a job, in one reading, whatever
its length.
"""

import os
import re

from osu_container.base.files import decode_text, unpack_stream
from osu_container.base.terminal import ESCAPES, escape_line
from osu_container.why.clues import Clues
from osu_container.why.messages import MESSAGES

#: where a cause or remedy shows what a group found, or says one thing for NVIDIA and another for
#: AMD
GROUP = re.compile(r'\{([^{}\n]*)\}')
#: what shows whose GPU or library a text is about
AMD, NVIDIA = (
    re.compile(r'RCCL|librccl|ROC[mM]\b|\bHIP\b|\bhip[A-Z]|HSA_|/dev/kfd|amdgpu'),
    re.compile(r'NCCL|CUDA|\bcuda|NVIDIA|nvidia|NVML'),
)
#: a line that tells what a program does, of runs that go well too: what is known of it counts where
#: an error stands too
QUIET = re.compile(
    r'<(?:info|debug|trace)>|\bNCCL (?:INFO|TRACE)|UCX +(?:DEBUG|INFO|TRACE|DIAG|REQ|DATA)'
    r'|^(?:DEBUG|VERBOSE) +\[U=|\.py:\d+ (?:INFO|DEBUG) '
)
NO_DIGITS = {ord(digit): None for digit in '0123456789'}
#: bytes that are read at once, and searched as one text; a line that is longer is searched in parts
BLOCK = 1 << 20
#: letters that are shown of a line, of what a group found
SHOWN_LINE, SHOWN_GROUP = 240, 200
#: of a longer file (bytes) the beginning and the end are read
HEAD, TAIL = 64 << 20, 16 << 20


def _compile_patterns(entry):
    """
    Return [(regular expression, compiled; plain text that is in all that it matches)] of an
    entry (dict).
    """
    pairs = [
        (item, re.escape(item)) if isinstance(item, str) else item for item in entry['patterns']
    ]
    return [(re.compile(expression, re.MULTILINE), text) for text, expression in pairs]


def _list_group_names(parts):
    """Return the names (list of str) of all groups in parts, see _compile_patterns()."""
    return sorted({name for part, _ in parts for name in part.groupindex})


def split_words(text):
    """
    Return the words (set of str) of text without their digits: a log has few that differ in more
    than a number.
    """
    return set(text.translate(NO_DIGITS).split())


def select_gate(text):
    """
    Return (word, whether it is whole) of text: what split_words() a part of a log must have for the
    part to have the text.

    A whole word has white space on both sides in text; else a word of the log need only have it in
    it. To look for some hundred words among those of a part is several times faster than to look
    for as many texts in all of it.
    """
    words = text.translate(NO_DIGITS).split()
    whole = text.split()[not text[:1].isspace() : len(text.split()) - (not text[-1:].isspace())]
    whole = [word.translate(NO_DIGITS) for word in whole]
    if any(whole):
        return max(whole, key=len), True
    return max(words, key=len) if words else '', False


#: (entry, names of its groups (list of str), its regular expressions with their texts, see
#: _compile_patterns())
PATTERNS = [
    (entry, _list_group_names(parts), parts)
    for entry, parts in ((entry, _compile_patterns(entry)) for entry in MESSAGES)
]

#: plain text of a pattern -> its select_gate()
GATES = {text: select_gate(text) for _, _, parts in PATTERNS for _, text in parts}


def make_printable(text):
    """Return text (str) on one line, with nothing in it that a terminal would take for an order."""
    return escape_line(re.sub(r'\s', ' ', text)).strip()


def _extract_line(text, match):
    """
    Return what is shown (str) of the line in which match (of text) begins; of a long one what is
    around it.
    """
    begin = max(text.rfind(end, 0, match.start()) for end in '\n\r') + 1
    ends = [place for place in (text.find(end, match.start()) for end in '\n\r') if place >= 0]
    end = min(ends) if ends else len(text)
    if end - begin > SHOWN_LINE:
        begin = max(begin, match.start() - 80)
        end = min(end, begin + SHOWN_LINE)
    return make_printable(text[begin:end])


def identify_vendor(text, line):
    """
    Return 'AMD' or 'NVIDIA', whom a line (str) of text is about; '' where neither shows. RCCL
    writes NCCL too.
    """
    if AMD.search(line) or AMD.search(text):
        return '' if 'NCCL' not in line and NVIDIA.search(line) and not AMD.search(line) else 'AMD'
    return 'NVIDIA' if NVIDIA.search(line) or NVIDIA.search(text) else ''


def fill_placeholders(text, groups, vendor=''):
    """
    Return text (str) with {group} replaced by groups (dict), and {of NVIDIA|of AMD} by what fits
    the vendor.
    """

    def one(found):
        nvidia, bar, amd = found[1].partition('|')
        if not bar:
            return groups.get(nvidia, found[0])
        return {'NVIDIA': nvidia, 'AMD': amd}.get(
            vendor, ' or '.join(each for each in (nvidia, amd) if each)
        )

    text = GROUP.sub(one, text).strip()
    return 'It' + text[2:] if groups.get('by') and text[:3] == 'it ' else text


def _fill_advice(entry, groups, vendor=''):
    """
    Return cause, remedy, source (str) and also (list of dict: cause and command) of an entry,
    see fill_placeholders().
    """
    return {
        'cause': fill_placeholders(entry['cause'], groups, vendor),
        'remedy': fill_placeholders(entry['remedy'], groups, vendor),
        'also': [
            {
                'cause': fill_placeholders(cause, groups, vendor),
                'command': fill_placeholders(command, groups, vendor),
            }
            for cause, command in entry.get('also', [])
        ],
        'source': entry['source'],
    }


def _extract_groups(match, names):
    """
    Return what the groups (list of str, names) of a match found (dict); 'by' without one gives
    'it'.
    """
    groups = dict.fromkeys(names)
    groups.update(match.groupdict())
    return {
        name: make_printable(value or ('it' if name == 'by' else ''))[:SHOWN_GROUP]
        for name, value in groups.items()
    }


def rank_entry(entry):
    """
    Return how far behind others an entry (dict) stands (int): a cause 0, what has several
    reasons 1, the rest 2.
    """
    return 2 if entry.get('last') else int(entry.get('general', False))


class Search(object):
    """
    Looks for the messages in a text that comes in parts. What it keeps does not grow with the
    text.
    """

    def __init__(self):
        #: lines that have ended (int); whether one is open; whether there was anything but white
        #: space
        self.ended_lines, self.open, self.has_text = 0, False, False
        #: the part of a long text that is being read, '' for its beginning; bytes that were passed
        #: over
        self.part, self.skipped_bytes = '', 0
        #: name of an entry -> what list_messages() says of it (dict)
        self.hits = {}
        #: whether a cause is known; until then, what looks like an error; whether a hit is in a
        #: line that is not QUIET
        self.sure, self.clues, self.loud = False, Clues(), False

    @property
    def line_count(self):
        """Lines that were read (int); the last one counts without an end too."""
        return self.ended_lines + self.open

    def skip_to_end(self):
        """Go on with the end of a long text; its lines are counted from where it begins."""
        self.ended_lines, self.open, self.part = 0, False, ' of the end'

    def list_skipped_parts(self):
        """Return sentences (list of str) on what was not read."""
        return (
            [
                "Read the first %d MB and the last %d MB, not the %d MB between them."
                % (HEAD >> 20, TAIL >> 20, self.skipped_bytes >> 20)
            ]
            if self.skipped_bytes
            else []
        )

    def add(self, text):
        """Search the next part (str), which ends where a line does, except the last one."""
        if '\x1b' in text:
            text = ESCAPES.sub('', text)
        if '\r' in text:
            text = text.replace('\r\n', '\n')
        words = split_words(text)
        joined = '\n'.join(words)
        there = {}  # plain text -> whether it is in text: several patterns have the same
        for entry, names, parts in PATTERNS:
            lines = {}  # where a line with a match begins -> the match
            for part, word in parts:
                if word not in there:
                    passed, whole = GATES[word]
                    there[word] = passed in (words if whole else joined) and word in text
                for match in part.finditer(text) if there[word] else ():
                    lines.setdefault(text.rfind('\n', 0, match.start()) + 1, match)
            if not lines:
                continue
            if entry['name'] not in self.hits:
                begin = min(lines)
                match = lines[begin]
                line = _extract_line(text, match)
                self.hits[entry['name']] = dict(
                    _fill_advice(entry, _extract_groups(match, names), identify_vendor(text, line)),
                    name=entry['name'],
                    line=line,
                    number=self.ended_lines + text.count('\n', 0, begin) + 1,
                    part=self.part,
                    times=0,
                )
            self.hits[entry['name']]['times'] += len(lines)
            if not all(
                QUIET.search(text[begin : begin + SHOWN_LINE].split('\n')[0])
                for begin in sorted(lines)[:SHOWN_LINE]
            ):
                self.loud = True
                self.sure = self.sure or rank_entry(entry) == 0
        if not self.sure:
            self.clues.add(text, joined, self.ended_lines)
        self.ended_lines += text.count('\n')
        self.open = not text.endswith('\n') if text else self.open
        self.has_text = self.has_text or bool(text.strip())

    def list_messages(self):
        """
        Return what is known about the messages of the text, in the order of their first lines.

        :return: list of dict: name, cause, remedy, source (str, see MESSAGES), also (list of dict:
            cause and command, str), line (str, the first line with the message, shortened), number
            (int, its number from 1), times (int, lines with it). [] if nothing is known.
        """
        if not self.loud and not self.clues.lines[2]:
            return []
        known = [
            (entry, self.hits[entry['name']]) for entry in MESSAGES if entry['name'] in self.hits
        ]
        known = [(entry, hit) for entry, hit in known if hit['times'] >= entry.get('times', 1)]
        names = {entry['name'] for entry, _ in known}
        known = [(entry, hit) for entry, hit in known if not names & set(entry.get('unless', []))]
        first = min((rank_entry(entry) for entry, _ in known), default=None)
        return sorted(
            (hit for entry, hit in known if rank_entry(entry) == first),
            key=lambda hit: (hit['part'], hit['number']),
        )

    def list_clues(self):
        """
        Return the first lines that look like an error and are not known, where no cause is known
        for sure.

        :return: list of dict: line (str, shortened), number (int), program (str, which says it, or
            ''), more (str, how to let that say more, or ''). [] where a cause is known.
        """
        named = {hit['number'] for hit in self.hits.values()}
        if self.sure:
            return []
        lines, said = [], set()
        for number, line, says, program, more in self.clues.list_lines():
            if number not in named:
                lines.append(
                    {
                        'line': make_printable(line[:SHOWN_LINE]),
                        'number': number,
                        'program': program,
                        'more': more,
                        'says': [
                            make_printable(each[:SHOWN_LINE]) for each in says if each not in said
                        ],
                    }
                )
                said.update(says)
        return lines


def find_messages(text):
    """Return what is known about the messages in text (str), as Search.found() does."""
    search = Search()
    search.add(text)
    return search.list_messages()


def _read_blocks(handle):
    """
    Yield the blocks (bytes) of a binary file that are searched; where some are passed over, how
    many bytes (int).
    """
    text = unpack_stream(handle)
    passed, read = 0, 0
    if text is handle and handle.seekable():
        begin = handle.tell()
        passed = handle.seek(0, os.SEEK_END) - begin - HEAD - TAIL
        handle.seek(begin)
    data = text.read(BLOCK)
    while data:
        read += len(data)
        yield data
        if passed > 0 and read >= HEAD:
            handle.seek(-TAIL, os.SEEK_END)
            yield passed
            passed = 0
        data = text.read(BLOCK)


def search_file(handle):
    """
    Return the Search of a binary file (object with read()); a few BLOCKs of it are held at a time.

    Of a plain file longer than HEAD and TAIL together only its beginning and its end are searched:
    see Search.not_read(). Raises OSError if it cannot be read, ValueError if it is known to be no
    text.
    """
    search, rest = Search(), b''
    for data in _read_blocks(handle):
        if isinstance(data, int):
            search.skipped_bytes = data
            search.add(decode_text(rest))
            search.skip_to_end()
            rest = b''
            continue
        end = data.rfind(b'\n') + 1
        if end or len(rest) >= BLOCK:
            search.add(decode_text(rest + data[: end or None]))
            rest = data[end:] if end else b''
        else:
            rest += data
    search.add(decode_text(rest))
    return search
