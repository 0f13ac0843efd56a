"""
Search the output of a job for the messages of the folder messages, in one pass, whatever its
length.
"""

import os
import re
from typing import Any, BinaryIO, Dict, Iterable, Iterator, List, Match, Pattern, Set, Tuple, Union

from osu_container.base.files import decode_text, unpack_stream
from osu_container.base.terminal import ESCAPES, escape_line
from osu_container.why.clues import Clues
from osu_container.why.messages import MESSAGES

#: Placeholder of a cause or remedy: {group}, or {text for NVIDIA|text for AMD}
GROUP = re.compile(r'\{([^{}\n]*)\}')
#: Words that show whose GPU or library a text is about
AMD, NVIDIA = (
    re.compile(r'RCCL|librccl|ROC[mM]\b|\bHIP\b|\bhip[A-Z]|HSA_|/dev/kfd|amdgpu'),
    re.compile(r'NCCL|CUDA|\bcuda|NVIDIA|nvidia|NVML'),
)
#: Informational lines, which runs without a failure print too: messages in them are reported only
#: beside an error
QUIET = re.compile(
    r'<(?:info|debug|trace)>|\bNCCL (?:INFO|TRACE)|UCX +(?:DEBUG|INFO|TRACE|DIAG|REQ|DATA)'
    r'|^(?:DEBUG|VERBOSE) +\[U=|\.py:\d+ (?:INFO|DEBUG) '
)
NO_DIGITS = {ord(digit): None for digit in '0123456789'}
#: Bytes that are read and searched at once; a longer line is searched in parts
BLOCK = 1 << 20
#: Most letters that are shown of a line, and of the match of a group
SHOWN_LINE, SHOWN_GROUP = 240, 200
#: Bytes that are read at the beginning and at the end of a longer file
HEAD, TAIL = 64 << 20, 16 << 20

#: Compiled expressions, each with a plain text that every match contains
_Parts = List[Tuple[Pattern[str], str]]


def _compile_patterns(entry: Dict[str, Any]) -> _Parts:
    """Return the compiled patterns of an entry of MESSAGES."""
    pairs = [
        (item, re.escape(item)) if isinstance(item, str) else item for item in entry['patterns']
    ]
    return [(re.compile(expression, re.MULTILINE), text) for text, expression in pairs]


def _list_group_names(parts: _Parts) -> List[str]:
    """Return the names of all groups in patterns."""
    return sorted({name for part, _ in parts for name in part.groupindex})


def split_words(text: str) -> Set[str]:
    """Return the words of a text without digits, so that equal messages have equal words."""
    return set(text.translate(NO_DIGITS).split())


def select_gate(text: str) -> Tuple[str, bool]:
    """
    Return the word that a log needs to contain `text`, and whether it is a whole word.

    A whole word has white space on both sides in `text`; any other need only be contained in a word
    of the log. Searching for hundreds of words in the word set of a part is several times faster
    than searching for as many texts in all of it.
    """
    words = text.translate(NO_DIGITS).split()
    whole = text.split()[not text[:1].isspace() : len(text.split()) - (not text[-1:].isspace())]
    whole = [word.translate(NO_DIGITS) for word in whole]
    if any(whole):
        return max(whole, key=len), True
    return max(words, key=len) if words else '', False


#: Entry, names of its groups, its compiled patterns
PATTERNS = [
    (entry, _list_group_names(parts), parts)
    for entry, parts in ((entry, _compile_patterns(entry)) for entry in MESSAGES)
]

#: Plain text of a pattern -> its gate
GATES = {text: select_gate(text) for _, _, parts in PATTERNS for _, text in parts}


def make_printable(text: str) -> str:
    """Return text on one line, without control sequences of terminals."""
    return escape_line(re.sub(r'\s', ' ', text)).strip()


def _extract_line(text: str, match: Match[str]) -> str:
    """Return the line in which a match begins; of a long line the part around the match."""
    begin = max(text.rfind(end, 0, match.start()) for end in '\n\r') + 1
    ends = [place for place in (text.find(end, match.start()) for end in '\n\r') if place >= 0]
    end = min(ends) if ends else len(text)
    if end - begin > SHOWN_LINE:
        begin = max(begin, match.start() - 80)
        end = min(end, begin + SHOWN_LINE)
    return make_printable(text[begin:end])


def identify_vendor(text: str, line: str) -> str:
    """Return the GPU vendor of a line: 'AMD', 'NVIDIA' or ''. RCCL prints NCCL as well."""
    if AMD.search(line) or AMD.search(text):
        return '' if 'NCCL' not in line and NVIDIA.search(line) and not AMD.search(line) else 'AMD'
    return 'NVIDIA' if NVIDIA.search(line) or NVIDIA.search(text) else ''


def fill_placeholders(text: str, groups: Dict[str, str], vendor: str = '') -> str:
    """Return text with its placeholders (see GROUP) replaced by matches and the vendor's text."""

    def replace(match: Match[str]) -> str:
        nvidia, bar, amd = match[1].partition('|')
        if not bar:
            return groups.get(nvidia, match[0])
        return {'NVIDIA': nvidia, 'AMD': amd}.get(
            vendor, ' or '.join(each for each in (nvidia, amd) if each)
        )

    text = GROUP.sub(replace, text).strip()
    return 'It' + text[2:] if groups.get('by') and text[:3] == 'it ' else text


def _fill_advice(entry: Dict[str, Any], groups: Dict[str, str], vendor: str = '') -> Dict[str, Any]:
    """Return cause, remedy, also and source of an entry with filled placeholders."""
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


def _extract_groups(match: Match[str], names: Iterable[str]) -> Dict[str, str]:
    """Return what the groups of a match found; an empty group 'by' gives 'it'."""
    groups = dict.fromkeys(names)
    groups.update(match.groupdict())
    return {
        name: make_printable(value or ('it' if name == 'by' else ''))[:SHOWN_GROUP]
        for name, value in groups.items()
    }


def rank_entry(entry: Dict[str, Any]) -> int:
    """Return the rank of an entry: 0 a cause, 1 a message with several causes, 2 any other."""
    return 2 if entry.get('last') else int(entry.get('general', False))


class Search:
    """Searches a text that comes in parts; what it keeps does not grow with the text."""

    def __init__(self) -> None:
        #: complete lines; whether the last line is incomplete; whether any text is not blank
        self.ended_lines, self.open, self.has_text = 0, False, False
        #: suffix of line numbers in the part that is read ('' at the beginning); bytes not read
        self.part, self.skipped_bytes = '', 0
        #: name of an entry -> its item of list_messages()
        self.hits: Dict[str, Dict[str, Any]] = {}
        #: whether a cause is known; lines that look like an error; whether a hit is not in a QUIET
        #: line
        self.sure, self.clues, self.loud = False, Clues(), False

    @property
    def line_count(self) -> int:
        """Number of lines read, with an incomplete last line."""
        return self.ended_lines + self.open

    def skip_to_end(self) -> None:
        """Continue with the end of a long text; its lines are counted from its beginning."""
        self.ended_lines, self.open, self.part = 0, False, ' of the end'

    def list_skipped_parts(self) -> List[str]:
        """Return sentences on parts that were not read."""
        return (
            [
                "Read the first %d MB and the last %d MB, not the %d MB between them."
                % (HEAD >> 20, TAIL >> 20, self.skipped_bytes >> 20)
            ]
            if self.skipped_bytes
            else []
        )

    def add(self, text: str) -> None:
        """Search the next part, which ends at the end of a line unless it is the last."""
        if '\x1b' in text:
            text = ESCAPES.sub('', text)
        if '\r' in text:
            text = text.replace('\r\n', '\n')
        words = split_words(text)
        joined = '\n'.join(words)
        present: Dict[str, bool] = {}  # plain text -> whether it is in text
        for entry, names, parts in PATTERNS:
            lines: Dict[int, Match[str]] = {}  # begin of a line -> its match
            for part, word in parts:
                if word not in present:
                    passed, whole = GATES[word]
                    present[word] = passed in (words if whole else joined) and word in text
                for match in part.finditer(text) if present[word] else ():
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

    def list_messages(self) -> List[Dict[str, Any]]:
        """
        Return the known messages of the text by their first lines.

        Keys: name, cause, remedy, source and also (list of dicts with cause and command) as in MESSAGES;
        line (the first with the message, shortened), number (of that line, from 1), part, times (number
        of lines with the message).
        """
        if not self.loud and not self.clues.lines[2]:
            return []
        hits = [
            (entry, self.hits[entry['name']]) for entry in MESSAGES if entry['name'] in self.hits
        ]
        hits = [(entry, hit) for entry, hit in hits if hit['times'] >= entry.get('times', 1)]
        names = {entry['name'] for entry, _ in hits}
        hits = [(entry, hit) for entry, hit in hits if not names & set(entry.get('unless', []))]
        first = min((rank_entry(entry) for entry, _ in hits), default=None)
        return sorted(
            (hit for entry, hit in hits if rank_entry(entry) == first),
            key=lambda hit: (hit['part'], hit['number']),
        )

    def list_clues(self) -> List[Dict[str, Any]]:
        """
        Return the first lines that look like an error, or [] if a cause is known.

        Keys: line (shortened), number, program (which printed it, or ''), more (how to make the program
        print more, or ''), says (explanations that follow the line).
        """
        known_numbers = {hit['number'] for hit in self.hits.values()}
        if self.sure:
            return []
        lines, explanations = [], set()
        for number, line, says, program, more in self.clues.list_lines():
            if number not in known_numbers:
                lines.append(
                    {
                        'line': make_printable(line[:SHOWN_LINE]),
                        'number': number,
                        'program': program,
                        'more': more,
                        'says': [
                            make_printable(text[:SHOWN_LINE])
                            for text in says
                            if text not in explanations
                        ],
                    }
                )
                explanations.update(says)
        return lines


def find_messages(text: str) -> List[Dict[str, Any]]:
    """Return the known messages of a text, see Search.list_messages()."""
    search = Search()
    search.add(text)
    return search.list_messages()


def _read_blocks(handle: BinaryIO) -> Iterator[Union[bytes, int]]:
    """Yield the blocks of a file that are searched, and the number of bytes that are skipped."""
    text = unpack_stream(handle)
    skipped, count = 0, 0
    if text is handle and handle.seekable():
        begin = handle.tell()
        skipped = handle.seek(0, os.SEEK_END) - begin - HEAD - TAIL
        handle.seek(begin)
    data = text.read(BLOCK)
    while data:
        count += len(data)
        yield data
        if skipped > 0 and count >= HEAD:
            handle.seek(-TAIL, os.SEEK_END)
            yield skipped
            skipped = 0
        data = text.read(BLOCK)


def search_file(handle: BinaryIO) -> Search:
    """
    Return the search of a binary file, of which a few BLOCKs are held at a time.

    Of a plain file longer than HEAD and TAIL together only the beginning and the end are searched,
    see Search.list_skipped_parts(). Raises OSError if it cannot be read, ValueError if it is no text.
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
