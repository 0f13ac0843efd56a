"""
Hook of MkDocs (mkdocs.yml): who searches for a message, as a job printed it, finds what it means before anything else.

The search weighs titles a thousand times, and the messages of docs/why.md are cells of tables. So each wording that
`osu-container why` knows becomes an entry of the search with the wording as its title, which leads to the row.
"""
import json
import re
from html import unescape
from pathlib import Path

from mkdocs.exceptions import PluginError

from osu_container.why.messages import MESSAGES
from osu_container.why.search import listed

#: Page of the messages, and its file in the site
PAGE, FILE = 'why.md', 'why.html'
#: Weights in the search: what messages mean comes first, tables in which words of many messages stand by chance last
WEIGHTS = {PAGE: 4, 'troubleshooting.md': 5, 'bad-input.md': 0.2, 'pairs.md': 0.2}
#: The first cell of a row of the messages' tables
CELL = re.compile(r'<tr>\s*<td([^>]*)><code>(.*?)</code></td>', re.S)
#: Where the search joins letter and number, see _mend()
NODE = 'e=e+s+o.id'
#: A plain text of a pattern with fewer letters or words is a part of many messages
LETTERS, WORDS = 10, 2


def wordings():
    """Return {message as docs/why.md shows it (str): [its other wordings (str)]}."""
    patterns = {entry['name']: [one if isinstance(one, str) else one[0] for one in entry['patterns']]
                for entry in MESSAGES}
    return {one['text']: [text for text in dict.fromkeys(text.strip() for text in patterns[one['name']])
                          if len(text) >= LETTERS and len(text.split()) >= WORDS and text not in one['text']]
            for one in listed()}


def anchor(text):
    """Return the id (str) of a wording (str) in the page."""
    return 'message-' + re.sub(r'[^a-z0-9]+', '-', text.lower()).strip('-')[:100]


def on_page_markdown(markdown, page, **_):
    """Weigh a page (Page) in the search."""
    if page.file.src_uri in WEIGHTS:
        page.meta.setdefault('search', {})['boost'] = WEIGHTS[page.file.src_uri]
    return markdown


def on_page_content(content, page, **_):
    """Give each message of the tables, and each other wording of it, an id that the search can lead to."""
    if page.file.src_uri != PAGE:
        return content
    others, taken = wordings(), set()

    def marked(found):
        text = unescape(re.sub('<[^>]+>', '', found[2]))
        ids = [one for one in dict.fromkeys(map(anchor, [text, *others.get(text, ())])) if one not in taken]
        taken.update(ids)
        marks = ''.join(f'<span id="{one}"></span>' for one in ids)
        return f'<tr><td{found[1]}>{marks}<code>{found[2]}</code></td>'

    return CELL.sub(marked, content)


def _mend(folder):
    """
    Mend the search itself in folder (Path) of the site: lunr takes two different nodes of its words for one.

    It names a node by its letters and the numbers of the nodes behind them, one after the other, so that the letter 1
    before node 23 reads as the letter 12 would before node 3. With many numbers in the texts it then finds words that
    are in no page, and a first letter ends in a TypeError (lunr.js 2.3.9, lib/token_set.js, toString). A sign behind
    each number tells them apart.
    """
    path, = folder.glob('assets/javascripts/workers/search.*.min.js')
    text = path.read_text(encoding='utf-8')
    if text.count(NODE) != 1:
        raise PluginError(f'{path.name} is not the search that was mended: look whether its lunr still joins {NODE!r}, '
                          'and change NODE or take _mend() away')
    path.write_text(text.replace(NODE, NODE + '+";"'), encoding='utf-8')


def on_post_build(config):
    """Add an entry for each wording to the index that the search has written, and mend the search."""
    folder = Path(config.site_dir)
    _mend(folder)
    there = set(re.findall(r'<span id="([^"]+)"', (folder / FILE).read_text(encoding='utf-8')))
    path, others, entries = folder / 'search' / 'search_index.json', wordings(), {}
    for one in listed():
        for title in [one['text'], *others[one['text']]]:
            if anchor(title) in there:
                entries.setdefault(anchor(title), {
                    'location': f'{FILE}#{anchor(title)}', 'title': title, 'boost': WEIGHTS[PAGE],
                    'text': f"{one['cause']} {one['remedy']}"})
    index = json.loads(path.read_text(encoding='utf-8'))
    index['docs'] += entries.values()
    path.write_text(json.dumps(index), encoding='utf-8')
