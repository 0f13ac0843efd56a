"""Looks for the messages of the folder messages in the output of a job, in one reading, whatever its length."""
import re

from ..core.terminal import one_line
from .clues import Clues
from .messages import MESSAGES, TOPICS

#: escape sequences of terminals: colours and the like, titles, character sets
ESCAPES = re.compile(r'\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[()][0-9A-Za-z])')
#: where a cause or remedy shows what a group found
GROUP = re.compile(r'\{(\w+)\}')
NO_DIGITS = {ord(digit): None for digit in '0123456789'}
#: bytes that are read at once, and searched as one text; a line that is longer is searched in parts
BLOCK = 1 << 20
#: letters that are shown of a line, of what a group found
SHOWN, SHOWN_GROUP = 240, 200
#: first bytes of compressed files -> what reads them
COMPRESSED = {b'\x1f\x8b': 'zcat', b'\xfd7zXZ': 'xzcat', b'BZh': 'bzcat', b'\x28\xb5\x2f\xfd': 'zstdcat'}


def _searched(entry):
    """Return [(regular expression, compiled; plain text that is in all that it matches)] of an entry (dict)."""
    pairs = [(item, re.escape(item)) if isinstance(item, str) else item for item in entry['patterns']]
    return [(re.compile(expression, re.MULTILINE), text) for text, expression in pairs]


def _groups(parts):
    """Return the names (list of str) of all groups in parts, see _searched()."""
    return sorted({name for part, _ in parts for name in part.groupindex})


def words_of(text):
    """Return the words (set of str) of text without their digits: a log has few that differ in more than a number."""
    return set(text.translate(NO_DIGITS).split())


def gate(text):
    """
    Return (word, whether it is whole) of text: what words_of() a part of a log must have for the part to have the text.

    A whole word has white space on both sides in text; else a word of the log need only have it in it. To look for some
    hundred words among those of a part is several times faster than to look for as many texts in all of it.
    """
    words = text.translate(NO_DIGITS).split()
    whole = text.split()[not text[:1].isspace():len(text.split()) - (not text[-1:].isspace())]
    whole = [word.translate(NO_DIGITS) for word in whole]
    if any(whole):
        return max(whole, key=len), True
    return max(words, key=len) if words else '', False


#: (entry, names of its groups (list of str), its regular expressions with their texts, see _searched())
PATTERNS = [(entry, _groups(parts), parts) for entry, parts in ((entry, _searched(entry)) for entry in MESSAGES)]

#: plain text of a pattern -> its gate()
GATES = {text: gate(text) for _, _, parts in PATTERNS for _, text in parts}


def printable(text):
    """Return text (str) on one line, with nothing in it that a terminal would take for an order."""
    return one_line(re.sub(r'\s', ' ', text)).strip()


def _line(text, match):
    """Return what is shown (str) of the line in which match (of text) begins; of a long one what is around it."""
    begin = max(text.rfind(end, 0, match.start()) for end in '\n\r') + 1
    ends = [place for place in (text.find(end, match.start()) for end in '\n\r') if place >= 0]
    end = min(ends) if ends else len(text)
    if end - begin > SHOWN:
        begin = max(begin, match.start() - 80)
        end = min(end, begin + SHOWN)
    return printable(text[begin:end])


def filled(text, names, match):
    """
    Return text (str) with {group} replaced by what match found.

    :param names: list of str, the groups of the whole pattern; one without a match gives nothing, 'by' gives 'it'
    """
    groups = dict.fromkeys(names)
    groups.update(match.groupdict())
    groups = {name: printable(value or ('it' if name == 'by' else ''))[:SHOWN_GROUP]
              for name, value in groups.items()}
    text = GROUP.sub(lambda group: groups.get(group.group(1), group.group()), text).strip()
    return text[:1].upper() + text[1:] if text[:3] == 'it ' else text


def _also(entry):
    """Return what else the message of an entry (dict) may mean (list of dict: cause and command, str)."""
    return [{'cause': cause, 'command': command} for cause, command in entry.get('also', [])]


def rank(entry):
    """Return how far behind others an entry (dict) stands (int): a cause 0, what has several reasons 1, the rest 2."""
    return 2 if entry.get('last') else int(entry.get('general', False))


class Search(object):
    """Looks for the messages in a text that comes in parts. What it keeps does not grow with the text."""

    def __init__(self):
        #: lines that have ended (int); whether one is open; whether there was anything but white space
        self.ended, self.open, self.written = 0, False, False
        #: name of an entry -> what found() says of it (dict)
        self.hits = {}
        #: whether a cause is known; until then, what looks like an error
        self.sure, self.clues = False, Clues()

    @property
    def lines(self):
        """Lines that were read (int); the last one counts without an end too."""
        return self.ended + self.open

    def add(self, text):
        """Search the next part (str), which ends where a line does, except the last one."""
        if '\x1b' in text:
            text = ESCAPES.sub('', text)
        if '\0' in text:
            text = text.replace('\0', '')  # what Windows writes as UTF-16 is then readable
        if '\r' in text:
            text = text.replace('\r\n', '\n')
        words = words_of(text)
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
                self.hits[entry['name']] = {
                    'name': entry['name'], 'cause': filled(entry['cause'], names, match),
                    'remedy': filled(entry['remedy'], names, match), 'source': entry['source'],
                    'also': _also(entry), 'line': _line(text, match),
                    'number': self.ended + text.count('\n', 0, begin) + 1, 'times': 0}
            self.hits[entry['name']]['times'] += len(lines)
            self.sure = self.sure or rank(entry) == 0
        if not self.sure:
            self.clues.add(text, joined, self.ended)
        self.ended += text.count('\n')
        self.open = not text.endswith('\n') if text else self.open
        self.written = self.written or bool(text.strip())

    def found(self):
        """
        Return what is known about the messages of the text, in the order of their first lines.

        :return: list of dict: name, cause, remedy, source (str, see MESSAGES), also (list of dict: cause and command,
                 str), line (str, the first line with the message, shortened), number (int, its number from 1), times
                 (int, lines with it). [] if nothing is known.
        """
        known = [(entry, self.hits[entry['name']]) for entry in MESSAGES if entry['name'] in self.hits]
        known = [(entry, hit) for entry, hit in known if hit['times'] >= entry.get('times', 1)]
        names = {entry['name'] for entry, _ in known}
        known = [(entry, hit) for entry, hit in known if not names & set(entry.get('unless', []))]
        first = min((rank(entry) for entry, _ in known), default=None)
        return sorted((hit for entry, hit in known if rank(entry) == first), key=lambda hit: hit['number'])

    def not_known(self):
        """
        Return the first lines that look like an error and are not known, where no cause is known for sure.

        :return: list of dict: line (str, shortened), number (int), program (str, which says it, or ''), more (str, how
                 to let that say more, or ''). [] where a cause is known.
        """
        named = {hit['number'] for hit in self.hits.values()}
        return [] if self.sure else [
            {'line': printable(line[:SHOWN]), 'number': number, 'program': program, 'more': more}
            for number, line, program, more in self.clues.found() if number not in named]


def explain(text):
    """Return what is known about the messages in text (str), as Search.found() does."""
    search = Search()
    search.add(text)
    return search.found()


def search_in(handle):
    """
    Return the Search of all that a binary file (object with read()) has; BLOCK bytes of it are held at a time.

    Raises OSError if it cannot be read, ValueError if it is compressed.
    """
    search, rest = Search(), b''
    data = handle.read(BLOCK)
    for begin, command in COMPRESSED.items():
        if data.startswith(begin):
            raise ValueError("it is compressed: %s FILE | osu-container why" % command)
    while data:
        end = data.rfind(b'\n') + 1
        if end or len(rest) >= BLOCK:
            search.add((rest + data[:end or None]).decode('utf-8', 'replace'))
            rest = data[end:] if end else b''
        else:
            rest += data
        data = handle.read(BLOCK)
    search.add(rest.decode('utf-8', 'replace'))
    return search


def listed():
    """Return all messages (list of dict: topic, name, texts (list of str), cause, remedy, also, source)."""
    return [{'topic': topic, 'name': entry['name'], 'texts': [item if isinstance(item, str) else item[0]
                                                              for item in entry['patterns']],
             'cause': GROUP.sub('...', entry['cause']), 'remedy': GROUP.sub('...', entry['remedy']),
             'also': _also(entry), 'source': entry['source']} for topic, entries in TOPICS for entry in entries]
