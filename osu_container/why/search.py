"""
Search the output of a job for the known messages (package messages), in a single pass.

The memory needed does not grow with the length of the output.
"""

import os
import re
from typing import Any, BinaryIO, Dict, Iterable, Iterator, List, Match, Pattern, Set, Tuple, Union

from osu_container.base.files import decode_text, unpack_stream
from osu_container.base.terminal import ESCAPES, escape_line
from osu_container.why.clues import Clues
from osu_container.why.messages import MESSAGES

#: Placeholder in a cause or remedy: {group}, or {text for NVIDIA|text for AMD}
GROUP = re.compile(r'\{([^{}\n]*)\}')
#: Words that show whether a text is about GPUs and libraries of AMD or of NVIDIA
AMD, NVIDIA = (
    re.compile(r'RCCL|librccl|ROC[mM]\b|\bHIP\b|\bhip[A-Z]|HSA_|/dev/kfd|amdgpu'),
    re.compile(r'NCCL|CUDA|\bcuda|NVIDIA|nvidia|NVML'),
)
#: Informational lines, which successful runs print too. Messages in these lines are reported only
#: if the text also contains an error.
QUIET = re.compile(
    r'<(?:info|debug|trace)>|\bNCCL (?:INFO|TRACE)|UCX +(?:DEBUG|INFO|TRACE|DIAG|REQ|DATA)'
    r'|^(?:DEBUG|VERBOSE) +\[U=|\.py:\d+ (?:INFO|DEBUG) '
)
NO_DIGITS = {ord(digit): None for digit in '0123456789'}
#: Number of bytes that are read and searched at once; a longer line is searched in parts
BLOCK = 1 << 20
#: Maximum number of characters that are printed of a line, and of the match of a group
SHOWN_LINE, SHOWN_GROUP = 240, 200
#: Number of bytes that are read at the beginning and at the end of a longer file
HEAD, TAIL = 64 << 20, 16 << 20

#: Compiled expressions, each with the plain text that every match contains
_Parts = List[Tuple[Pattern[str], str]]


def _compile_patterns(entry: Dict[str, Any]) -> _Parts:
    """Return the compiled patterns of an entry of MESSAGES."""
    pairs = [
        (item, re.escape(item)) if isinstance(item, str) else item for item in entry['patterns']
    ]
    return [(re.compile(expression, re.MULTILINE), text) for text, expression in pairs]


def split_words(text: str) -> Set[str]:
    """Return the set of words of a text, without digits: messages differ mostly in numbers."""
    return set(text.translate(NO_DIGITS).split())


def select_gate(text: str) -> Tuple[str, bool]:
    """
    Return a word that every log with `text` contains, and whether the word is a whole word.

    A whole word has white space on both sides in `text`, so that the set of words of the log
    contains the word itself. Any other word may be a part of a longer word of the log. Looking up
    hundreds of words in a set is several times faster than searching the log for hundreds of texts.
    """
    words = text.translate(NO_DIGITS).split()
    whole_words = text.split()[
        not text[:1].isspace() : len(text.split()) - (not text[-1:].isspace())
    ]
    whole_words = [word.translate(NO_DIGITS) for word in whole_words]
    if any(whole_words):
        return max(whole_words, key=len), True
    return max(words, key=len) if words else '', False


#: For each entry: the entry, the names of its groups, its compiled patterns
PATTERNS = [
    (entry, sorted({name for part, _ in parts for name in part.groupindex}), parts)
    for entry, parts in ((entry, _compile_patterns(entry)) for entry in MESSAGES)
]

#: Plain text of a pattern -> result of select_gate() for this text
GATES = {text: select_gate(text) for _, _, parts in PATTERNS for _, text in parts}


def make_printable(text: str) -> str:
    """Return the text on a single line, with control characters replaced."""
    return escape_line(re.sub(r'\s', ' ', text)).strip()


def _extract_line(text: str, match: Match[str]) -> str:
    """Return the line in which a match begins; of a long line the part near the match."""
    begin = max(text.rfind(end, 0, match.start()) for end in '\n\r') + 1
    ends = [place for place in (text.find(end, match.start()) for end in '\n\r') if place >= 0]
    end = min(ends) if ends else len(text)
    if end - begin > SHOWN_LINE:
        begin = max(begin, match.start() - 80)
        end = min(end, begin + SHOWN_LINE)
    return make_printable(text[begin:end])


def identify_vendor(text: str, line: str) -> str:
    """Return the GPU vendor of a line: 'AMD', 'NVIDIA' or ''. RCCL also prints NCCL's name."""
    if AMD.search(line) or AMD.search(text):
        return '' if 'NCCL' not in line and NVIDIA.search(line) and not AMD.search(line) else 'AMD'
    return 'NVIDIA' if NVIDIA.search(line) or NVIDIA.search(text) else ''


def fill_placeholders(text: str, groups: Dict[str, str], vendor: str) -> str:
    """Replace the placeholders of a text (see GROUP) with the matches and the vendor's text."""

    def replace(match: Match[str]) -> str:
        nvidia, bar, amd = match[1].partition('|')
        if not bar:
            return groups.get(nvidia, match[0])
        return {'NVIDIA': nvidia, 'AMD': amd}.get(
            vendor, ' or '.join(each for each in (nvidia, amd) if each)
        )

    text = GROUP.sub(replace, text).strip()
    return 'The' + text[3:] if groups.get('by') and text[:4] == 'the ' else text


def _fill_advice(entry: Dict[str, Any], groups: Dict[str, str], vendor: str) -> Dict[str, Any]:
    """Return cause, remedy, also and source of an entry, with all placeholders filled."""

    def fill(text: str) -> str:
        return fill_placeholders(text, groups, vendor)

    return {
        'cause': fill(entry['cause']),
        'remedy': fill(entry['remedy']),
        'also': [
            {'cause': fill(cause), 'command': fill(command)}
            for cause, command in entry.get('also', [])
        ],
        'source': entry['source'],
    }


def _extract_groups(match: Match[str], names: Iterable[str]) -> Dict[str, str]:
    """Return {group: matched text}; an empty group 'by' becomes 'the program'."""
    groups = dict.fromkeys(names)
    groups.update(match.groupdict())
    return {
        name: make_printable(value or ('the program' if name == 'by' else ''))[:SHOWN_GROUP]
        for name, value in groups.items()
    }


def rank_entry(entry: Dict[str, Any]) -> int:
    """Return 0 for a message with one cause, 1 for several causes, 2 for the key `last`."""
    return 2 if entry.get('last') else int(entry.get('general', False))


class Search:
    """Searches a text that is added in parts; its memory does not grow with the text."""

    def __init__(self) -> None:
        #: number of complete lines; whether the last line is incomplete; whether any text is not
        #: blank
        self.ended_lines, self.has_open_line, self.has_text = 0, False, False
        #: suffix of line numbers in the current part ('' at the beginning of the text); number of
        #: bytes that were not read
        self.part, self.skipped_bytes = '', 0
        #: name of an entry -> its item of list_messages()
        self.hits: Dict[str, Dict[str, Any]] = {}
        #: whether a message with a single cause was found; lines that look like an error; whether
        #: a message was found outside QUIET lines
        self.has_cause, self.clues, self.has_loud_hit = False, Clues(), False

    @property
    def line_count(self) -> int:
        """Number of lines that were read, including an incomplete last line."""
        return self.ended_lines + self.has_open_line

    def skip_to_end(self) -> None:
        """Continue with the last part of a long text; its first line gets number 1."""
        self.ended_lines, self.has_open_line, self.part = 0, False, ' of the end'

    def list_skipped_parts(self) -> List[str]:
        """Return a sentence about the part of the text that was not read, or []."""
        return (
            [
                "The first %d MB and the last %d MB were read. The %d MB between them were not read."
                % (HEAD >> 20, TAIL >> 20, self.skipped_bytes >> 20)
            ]
            if self.skipped_bytes
            else []
        )

    def add(self, text: str) -> None:
        """Search the next part of the text. Only the last part may end inside a line."""
        if '\x1b' in text:
            text = ESCAPES.sub('', text)
        if '\r' in text:
            text = text.replace('\r\n', '\n')
        words = split_words(text)
        joined = '\n'.join(words)
        present: Dict[str, bool] = {}  # plain text -> whether `text` contains it
        for entry, names, parts in PATTERNS:
            lines: Dict[int, Match[str]] = {}  # start position of a line -> its match
            for part, word in parts:
                if word not in present:
                    gate_word, is_whole = GATES[word]
                    present[word] = gate_word in (words if is_whole else joined) and word in text
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
                self.has_loud_hit = True
                self.has_cause = self.has_cause or rank_entry(entry) == 0
        if not self.has_cause:
            self.clues.add(text, joined, self.ended_lines)
        self.ended_lines += text.count('\n')
        self.has_open_line = not text.endswith('\n') if text else self.has_open_line
        self.has_text = self.has_text or bool(text.strip())

    def list_messages(self) -> List[Dict[str, Any]]:
        """
        Return the known messages of the text, in the order of their first lines.

        Each message is a dict with the keys name, cause, remedy and source as in MESSAGES, and also
        (list of dicts with cause and command). line is the first line with the message (shortened),
        number is its line number from 1, part its suffix, times the number of lines with the
        message.
        """
        if not self.has_loud_hit and not self.clues.lines[2]:
            return []
        hits = [
            (entry, self.hits[entry['name']]) for entry in MESSAGES if entry['name'] in self.hits
        ]
        hits = [(entry, hit) for entry, hit in hits if hit['times'] >= entry.get('times', 1)]
        names = {entry['name'] for entry, _ in hits}
        hits = [(entry, hit) for entry, hit in hits if not names & set(entry.get('unless', []))]
        best_rank = min((rank_entry(entry) for entry, _ in hits), default=None)
        return sorted(
            (hit for entry, hit in hits if rank_entry(entry) == best_rank),
            key=lambda hit: (hit['part'], hit['number']),
        )

    def list_clues(self) -> List[Dict[str, Any]]:
        """
        Return the first lines that look like an error, or [] if their cause is known.

        Each line is a dict with the keys line (shortened text), number (line number), program (name
        of the program that printed the line, or ''), more (how to make this program print more, or
        '') and says (list of the explanations that follow the line).
        """
        known_numbers = {hit['number'] for hit in self.hits.values()}
        if self.has_cause:
            return []
        lines, explanations = [], set()
        for number, line, explanation_lines, program, more in self.clues.list_lines():
            if number not in known_numbers:
                lines.append(
                    {
                        'line': make_printable(line[:SHOWN_LINE]),
                        'number': number,
                        'program': program,
                        'more': more,
                        'says': [
                            make_printable(text[:SHOWN_LINE])
                            for text in explanation_lines
                            if text not in explanations
                        ],
                    }
                )
                explanations.update(explanation_lines)
        return lines


def find_messages(text: str) -> List[Dict[str, Any]]:
    """Return the known messages of a text in the form of Search.list_messages()."""
    search = Search()
    search.add(text)
    return search.list_messages()


def _read_blocks(handle: BinaryIO) -> Iterator[Union[bytes, int]]:
    """Yield the blocks of a file to search; an int is a number of bytes that are skipped."""
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
    Search a file that is open in binary mode; at most a few BLOCKs are in memory at a time.

    If a plain file is longer than HEAD and TAIL together, only its beginning and its end are
    searched (see Search.list_skipped_parts()). Raises OSError if the file cannot be read, and
    ValueError if the file is not a text.
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
