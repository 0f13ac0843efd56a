"""
Search the output of a job for all known messages (osu_container.why.messages).

The search keeps only a few megabytes of the output in memory, even if the output is longer.
"""

import os
import re
from typing import Any, BinaryIO, Dict, Iterable, Iterator, List, Match, Pattern, Set, Tuple, Union

from osu_container.base.files import decode_text, unpack_stream
from osu_container.base.terminal import ESCAPES, escape_line
from osu_container.why.clues import NOTICE, Clues, identify_program, read_level
from osu_container.why.messages import MESSAGES

#: Placeholder in a cause or remedy: {group}, or {text for NVIDIA|text for AMD}
GROUP = re.compile(r'\{([^{}\n]*)\}')
#: Words that show whether a text is about GPUs and libraries of AMD or of NVIDIA
AMD, NVIDIA = (
    re.compile(r'(?i:rccl|hipify)|ROC[mM]\b|\bHIP\b|\bhip[A-Z]|HSA_|/dev/kfd|amdgpu'),
    re.compile(r'NCCL|CUDA|\bcuda|NVIDIA|nvidia|NVML'),
)
NO_DIGITS = {ord(digit): None for digit in '0123456789'}
#: Number of bytes that are read and searched at once; a longer line is searched in parts
BLOCK = 1 << 20
#: Maximum number of characters that are printed of a line, and of the match of a group
SHOWN_LINE, SHOWN_GROUP = 240, 200
#: Number of bytes that are read at the beginning and at the end of a longer file
HEAD, TAIL = 64 << 20, 16 << 20

#: Compiled expressions, each with a text that every match contains
_Parts = List[Tuple[Pattern[str], str]]
#: Characters that stand for escaped characters of an expression, such as the dot of '\\.'
_ESCAPED = 0xE000


def find_literal(expression: str) -> str:
    """
    Return a long plain text that is a part of every match of a regular expression.

    The result is '' if the function finds no such text. The function may miss a longer text.
    """

    def mark(match: Match[str]) -> str:
        is_literal = re.fullmatch(r'\\\W', match[0])
        return chr(_ESCAPED + ord(match[0][1])) if is_literal else '\0'

    rest = re.sub(r'\\x..|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]', mark, expression)
    while re.search(r'\([^()]*\)', rest):
        rest = re.sub(r'\((?:\?:|\?P<\w+>)?((?!\?)[^()|]*)\)(?![?*{])', r'\1', rest)
        rest = re.sub(r'\([^()]*\)', '\0', rest)
    if '|' in rest:
        return ''
    parts = re.sub(r'.(?:[?*]|\{[^}]*\})\??|[.^$+]', '\0', rest).split('\0')
    escaped = {_ESCAPED + code: chr(code) for code in range(128)}
    return max(parts, key=len).translate(escaped)


def split_words(text: str) -> Set[str]:
    """
    Return the set of all words of a text, without the digits in the words.

    Many lines of a log differ only in numbers, so the set is smaller without digits.
    """
    return set(text.translate(NO_DIGITS).split())


def select_gate(text: str) -> Tuple[str, bool]:
    """
    Return a word of `text`, and whether `text` has white space on both sides of the word.

    A log without the word does not contain `text`, so the log need not be searched for `text`. To
    look up a word in the set of words of the log (see split_words()) is several times faster than
    to search the log. A word between white space is an item of this set. Another word may be only a
    part of an item, because the log may contain a longer word.
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
    for entry, parts in (
        (
            entry,
            [(re.compile(each, re.MULTILINE), find_literal(each)) for each in entry['patterns']],
        )
        for entry in MESSAGES
    )
]

#: Text that every match of a pattern contains -> result of select_gate() for this text
GATES = {text: select_gate(text) for _, _, parts in PATTERNS for _, text in parts}


def make_printable(text: str) -> str:
    """Return `text` as a single line in which control characters are shown as escapes."""
    return escape_line(re.sub(r'\s', ' ', text)).strip()


def _extract_line(text: str, match: Match[str]) -> str:
    """Return the line in which `match` begins, shortened around the match if the line is long."""
    begin = max(text.rfind(end, 0, match.start()) for end in '\n\r') + 1
    ends = [place for place in (text.find(end, match.start()) for end in '\n\r') if place >= 0]
    end = min(ends) if ends else len(text)
    if end - begin > SHOWN_LINE:
        begin = max(begin, match.start() - 80)
        end = min(end, begin + SHOWN_LINE)
    return make_printable(text[begin:end])


def identify_vendor(text: str, line: str) -> str:
    """
    Return the GPU vendor of a log line: 'AMD', 'NVIDIA', or '' if the vendor is unknown.

    text: the log around the line. A line with the name NCCL may come from AMD's RCCL, because RCCL
    also prints the name NCCL.
    """
    if AMD.search(line) or AMD.search(text):
        return '' if 'NCCL' not in line and NVIDIA.search(line) and not AMD.search(line) else 'AMD'
    return 'NVIDIA' if NVIDIA.search(line) or NVIDIA.search(text) else ''


def fill_placeholders(text: str, groups: Dict[str, str], vendor: str) -> str:
    """
    Return `text` with all placeholders replaced.

    The placeholder {group} becomes the value of the key 'group' in `groups`. If this value is '', a
    part of `text` is left out: the brackets with the placeholder, or the sentence with the
    placeholder if the placeholder is not in brackets. The placeholder {text for NVIDIA|text for AMD}
    becomes the text for `vendor`; if `vendor` is '', the placeholder becomes the two texts joined
    with 'or'.
    """

    def replace(match: Match[str]) -> str:
        nvidia, bar, amd = match[1].partition('|')
        if not bar:
            return groups.get(nvidia, match[0])
        return {'NVIDIA': nvidia, 'AMD': amd}.get(
            vendor, ' or '.join(each for each in (nvidia, amd) if each)
        )

    empty = r'\{(?:%s)\}' % '|'.join(name for name, value in groups.items() if not value)
    if '' in groups.values():
        text = re.sub(r' \([^()]*%s[^()]*\)' % empty, '', text)
        sentences = re.split(r'(?<=\.) (?=[A-Z{`])', text)
        text = ' '.join(each for each in sentences if not re.search(empty, each))
    text = GROUP.sub(replace, text).strip()
    return 'The' + text[3:] if groups.get('by') and text[:4] == 'the ' else text


def fill_advice(entry: Dict[str, Any], groups: Dict[str, str], vendor: str) -> Dict[str, Any]:
    """Return the keys cause, remedy, also and source of `entry`, with placeholders replaced."""

    def fill(text: str) -> str:
        return fill_placeholders(text, groups, vendor)

    return {
        'cause': fill(entry['cause']) or entry['name'][0].upper() + entry['name'][1:] + '.',
        'remedy': fill(entry['remedy']),
        'also': [
            {'cause': fill(cause), 'command': fill(command)} for cause, command in entry['also']
        ],
        'source': entry['source'],
    }


def _extract_groups(match: Match[str], names: Iterable[str]) -> Dict[str, str]:
    """
    Return a dict from each group name in `names` to the text that the group matched.

    The value of a group that matched nothing is ''. Exception: the value of the group 'by' is then
    'the program'.
    """
    groups = dict.fromkeys(names)
    groups.update(match.groupdict())
    return {
        name: make_printable(value or ('the program' if name == 'by' else ''))[:SHOWN_GROUP]
        for name, value in groups.items()
    }


class Search:
    """
    Search a log for known messages and for lines that look like an error.

    Call the method add() for each part of the log in turn, then list_messages() and list_clues(). A
    Search does not keep earlier parts of the log in memory.
    """

    def __init__(self) -> None:
        #: number of complete lines; whether the last line is incomplete; last line that is not blank
        self.ended_lines, self.has_open_line, self.last_line = 0, False, ''
        #: suffix of line numbers in the current part ('' at the beginning of the text); number of
        #: bytes that were not read
        self.part, self.skipped_bytes = '', 0
        #: name of an entry -> its item of list_messages()
        self.hits: Dict[str, Dict[str, Any]] = {}
        #: whether a message with a single cause was found outside warnings; lines that look like
        #: an error; whether a message was found outside informational lines
        self.has_cause, self.clues, self.has_loud_hit = False, Clues(), False
        #: names of the messages outside warnings
        self.error_names: Set[str] = set()
        #: whether the log contains words of AMD's libraries
        self.is_amd = False

    @property
    def line_count(self) -> int:
        """Return the number of lines that were read, including an incomplete last line."""
        return self.ended_lines + self.has_open_line

    def skip_to_end(self) -> None:
        """
        Prepare for the last part of a long log, after a middle part that is not searched.

        The line numbers of the last part start at 1 and have the suffix ' of the end'.
        """
        self.ended_lines, self.has_open_line, self.part = 0, False, ' of the end'

    def list_skipped_parts(self) -> List[str]:
        """Return a list with a sentence on the skipped part of a log, [] if nothing was skipped."""
        return (
            [
                "The first %d MB and the last %d MB of the output were read. The %d MB in the "
                "middle were not read." % (HEAD >> 20, TAIL >> 20, self.skipped_bytes >> 20)
            ]
            if self.skipped_bytes
            else []
        )

    def add(self, text: str) -> None:
        """Search the next part of the log. Only the last part may end inside a line."""
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
                    begin = text.rfind('\n', 0, match.start()) + 1
                    if not NOTICE.match(text, begin):
                        lines.setdefault(begin, match)
            if not lines:
                continue
            if entry['name'] not in self.hits:
                begin = min(lines)
                match = lines[begin]
                line = _extract_line(text, match)
                self.hits[entry['name']] = dict(
                    fill_advice(entry, _extract_groups(match, names), identify_vendor(text, line)),
                    name=entry['name'],
                    line=line,
                    number=self.ended_lines + text.count('\n', 0, begin) + 1,
                    part=self.part,
                    times=0,
                )
            self.hits[entry['name']]['times'] += len(lines)
            levels = {
                read_level(text[begin : begin + SHOWN_LINE].split('\n')[0])
                for begin in sorted(lines)[:SHOWN_LINE]
            }
            self.has_loud_hit = self.has_loud_hit or levels != {'quiet'}
            if levels - {'quiet', 'warning'}:
                self.error_names.add(entry['name'])
                self.has_cause = self.has_cause or entry['rank'] == 0
        self.is_amd = self.is_amd or bool(AMD.search(joined))
        if not self.has_cause:
            self.clues.add(text, joined, self.ended_lines)
        self.ended_lines += text.count('\n')
        self.has_open_line = not text.endswith('\n') if text else self.has_open_line
        self.last_line = text.rstrip().rpartition('\n')[2] or self.last_line

    def list_messages(self) -> List[Dict[str, Any]]:
        """
        Return the known messages in the log, in the order of their first lines.

        Each message is a dict. The keys `name`, `cause`, `remedy` and `source` are defined in the
        docstring of messages/__init__.py. The other keys are:
            also     other possible causes: list of dicts with the keys `cause` and `command`
            line     the first line with the message, shortened (str)
            number   the line number of this line, from 1 (int)
            part     suffix of the line number, such as ' of the end' (str)
            times    number of lines with the message (int)
            says     explanations in the log after the first line (list of str)
        """
        if not self.has_loud_hit and not self.clues.has_errors():
            return []
        hits = [
            (entry, self.hits[entry['name']]) for entry in MESSAGES if entry['name'] in self.hits
        ]
        names = {entry['name'] for entry, _ in hits}
        hits = [(entry, hit) for entry, hit in hits if not names & set(entry['unless'])]
        known_numbers = {hit['number'] for hit in self.hits.values()}
        if any(number not in known_numbers for number, *_ in self.clues.lines[2]):
            # A harmless warning is not the cause of an error.
            hits = [
                (entry, hit)
                for entry, hit in hits
                if entry['rank'] < 2 or entry['name'] in self.error_names
            ]
        best_rank = min((entry['rank'] for entry, _ in hits), default=None)
        explanations = {number: texts for number, _, texts in self.clues.lines[2]}
        return sorted(
            (
                dict(hit, says=explanations.get(hit['number'], []))
                for entry, hit in hits
                if entry['rank'] == best_rank
            ),
            key=lambda hit: (hit['part'], hit['number']),
        )

    def list_clues(self) -> List[Dict[str, Any]]:
        """
        Return the first lines of the log that look like an error, as a list of dicts.

        The list is empty if the log contains a message with a single cause (rank 0).

        The dict of a line has these keys:
            line      the text of the line, shortened (str)
            number    the line number, from 1 (int)
            program   name of the program that printed the line, '' if unknown (str)
            more      advice on how to make the program print more, '' if unknown (str)
            says      explanations in the log after the line (list of str)
            level     'error' or 'warning'
        """
        if self.has_cause:
            return []
        known_numbers = {hit['number'] for hit in self.hits.values()}
        lines, explanations = [], set()
        for number, line, explanation_lines, weight in self.clues.list_lines():
            if number not in known_numbers:
                program, more = identify_program(line)
                lines.append(
                    {
                        'line': make_printable(line[:SHOWN_LINE]),
                        'number': number,
                        'program': 'RCCL' if program == 'NCCL' and self.is_amd else program,
                        'more': more,
                        'level': 'error' if weight > 1 else 'warning',
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
    """Search a text and return its known messages as dicts (see Search.list_messages())."""
    search = Search()
    search.add(text)
    return search.list_messages()


def _read_blocks(handle: BinaryIO) -> Iterator[Union[bytes, int]]:
    """
    Yield the content of a log file in blocks of bytes.

    If the file is long, the middle of the file is skipped: instead of the middle, yield the number
    of skipped bytes (int).
    """
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
    Search a log file that is open in binary mode, and return the finished Search.

    At most a few blocks (BLOCK bytes each) are in memory at the same time. If an uncompressed file
    is longer than HEAD + TAIL bytes, only its first HEAD bytes and last TAIL bytes are searched.
    Raises OSError if the file cannot be read, and ValueError if the file is a binary file.
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
