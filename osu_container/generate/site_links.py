"""
Hook of MkDocs (mkdocs.yml): links that leave docs/ lead to copies of these files in the site; long cells are marked.

Pages link to files of the repository, as ../easyblocks/generic/NAME.py, and GitHub shows them. The site has no address
of a repository to lead to (a clone may live anywhere), and is to be read without network. So every file or folder that
a page links to becomes a page repository/PATH: Markdown as it is, code with its lines numbered, a folder as its
README.md or as the list of its files. Copies of Markdown may lead to further copies. None of them is in the search.
"""
import os
import posixpath
import re
from html import escape, unescape
from pathlib import Path
from urllib.parse import urlsplit

from mkdocs.structure.files import File
from pygments.lexers import get_lexer_for_filename
from pygments.util import ClassNotFound

from osu_container import PLACEHOLDER, REPOSITORY, places

#: Cells of tables with at least this many characters get the class "sentence" (site/site.css)
SENTENCE = 40
#: Folder of the copies in the site
COPIES = 'repository'
#: The repository whose files are copied: on_config() takes the folder of mkdocs.yml
PROJECT = places.PROJECT
#: A link in Markdown: its target without white space, and an optional anchor
LINK = re.compile(r'(?<=\]\()([^)\s#]+)(#[^)\s]*)?(?=\))')
#: A code block without a language
SESSION = re.compile(r'(<pre><span></span><code>|<pre><code>)(.*?)(</code></pre>)', re.S)
#: Not searched for links: code blocks and code spans
CODE = re.compile(r'^ {4}[^\n]*$|^(```+).*?^\1$|(?<!`)(`+)(?!`).+?(?<!`)\2(?!`)', re.M | re.S)


def place_of(path):
    """
    Return where the site has a file or folder of the repository (str, relative to docs_dir), or None outside of it.

    :param path: str, relative to the repository, normalised
    """
    if path.startswith('../') or path in ('..', '.'):
        return None
    if path == 'docs' or path.startswith('docs/'):
        return posixpath.relpath(path, 'docs')
    return f'{COPIES}/{path}' if path.endswith('.md') else f'{COPIES}/{path}.md'


def relinked(text, folder, place):
    """
    Return (Markdown with its links as the site has them, set of str: what must be copied for that).

    Links that lead nowhere stay as they are: MkDocs names them.

    :param text: str, Markdown; folder: str, in the repository, that its links are relative to; place: str, of the page
                 in the site, relative to docs_dir
    """
    wanted = set()

    def target(found):
        link, anchor = found.group(1), found.group(2) or ''
        path = posixpath.normpath(posixpath.join(folder, link))
        if re.match(r'[a-z]+:|/', link) or not (PROJECT / path).exists() or place_of(path) is None:
            return found.group()
        if path != 'docs' and not path.startswith('docs/'):
            wanted.add(path)
        return posixpath.relpath(place_of(path), posixpath.dirname(place) or '.') + anchor

    parts, last = [], 0
    for code in CODE.finditer(text):
        parts += [LINK.sub(target, text[last:code.start()]), code.group()]
        last = code.end()
    return ''.join(parts) + LINK.sub(target, text[last:]), wanted


def copy_of(path):
    """Return (Markdown of the page that shows a file or folder, set of str: what it leads to). path: str"""
    source = PROJECT / path
    head = f'---\nsearch:\n  exclude: true\n---\n\n*A copy of `{path}`, as it was when this site was built.*\n\n'
    readme = f'{path}/README.md' if source.is_dir() and (source / 'README.md').exists() else path
    if readme.endswith('.md'):
        text, wanted = relinked((PROJECT / readme).read_text(), posixpath.dirname(readme), place_of(path))
        return head + text, wanted
    if source.is_dir():
        names = sorted(name.name for name in source.iterdir() if not name.name.startswith(('.', '__')))
        links = [posixpath.relpath(place_of(f'{path}/{name}'), posixpath.dirname(place_of(path))) for name in names]
        return (f'{head}# `{path}/`\n\n' + ''.join(f'* [{name}]({link})\n' for name, link in zip(names, links)),
                {f'{path}/{name}' for name in names})
    try:
        language = get_lexer_for_filename(source.name).aliases[0]
    except ClassNotFound:
        first = source.read_text().partition('\n')[0]
        language = 'python' if 'python' in first else 'bash' if first.startswith('#!') else 'text'
    text = source.read_text()
    fence = '`' * max(4, 1 + max((len(row) for row in re.findall('`+', text)), default=0))
    return f'{head}# `{path}`\n\n{fence}{{.{language} linenums="1"}}\n{text.rstrip()}\n{fence}\n', set()


#: Address of the repository, '' where it is not known; OSU_CONTAINER_REPOSITORY is for a copy with one of its own
ADDRESS = os.environ.get('OSU_CONTAINER_REPOSITORY', REPOSITORY).rstrip('/')


def on_config(config):
    """Take the folder of mkdocs.yml as the repository; link to its address and to the source of each page if known."""
    global PROJECT
    PROJECT = Path(config.config_file_path).resolve().parent
    if ADDRESS:
        host = urlsplit(ADDRESS).hostname or ''
        config.repo_url, config.repo_name = ADDRESS, urlsplit(ADDRESS).path.strip('/') or host
        # GitLab has its own pages below /-/
        config.edit_uri = ('-/edit' if 'gitlab' in host else 'edit') + '/main/docs/'
        config.theme['features'].append('content.action.edit')


def on_post_page(output, **_):
    """Take the mark away by which Material asks GitHub or GitLab for numbers: the site loads nothing from outside."""
    return output.replace(' data-md-component="source"', '')


def on_files(files, config):
    """Add a page for every file of the repository that a page links to, and for those that these link to."""
    wanted = set()
    for file in files.documentation_pages():
        wanted |= relinked(file.content_string, posixpath.join('docs', posixpath.dirname(file.src_uri)),
                           file.src_uri)[1]
    done = set()
    while wanted - done:
        path = min(wanted - done)
        text, more = copy_of(path)
        files.append(File.generated(config, place_of(path), content=text))
        done.add(path)
        wanted |= more
    return files


def on_page_markdown(markdown, page, **_):
    """Let links of a page of docs/ that leave this folder lead to the copies; name the repository if it is known."""
    markdown = markdown.replace(PLACEHOLDER, ADDRESS or PLACEHOLDER)
    if page.file.src_uri.startswith(f'{COPIES}/'):
        return markdown
    return relinked(markdown, posixpath.join('docs', posixpath.dirname(page.file.src_uri)), page.file.src_uri)[0]


def prompted(found):
    """Return a code block (match of SESSION) with its prompts and answers marked, so that commands alone are copied."""
    rows = found[2].split('\n')
    if not any(row.startswith('$ ') for row in rows):
        return found.group()
    marked = [f'<span class="gp">$ </span>{row[2:]}' if row.startswith('$ ') else
              f'<span class="go">{row}</span>' if row else row for row in rows]
    return found[1] + '\n'.join(marked) + found[3]


def stacked(found):
    """
    Return a table (match) that a phone shows cell below cell, each with the head of its column, if it needs that.

    It does where a row has several sentences: one beside the other they leave the window.
    """
    table = found.group()
    heads = [re.sub('<[^>]+>', '', head) for head in re.findall(r'<th\b[^>]*>(.*?)</th>', table, re.S)]
    rows = re.findall(r'<tr>.*?</tr>', table, re.S)
    if not any(row.count('<td class="sentence"') > 1 for row in rows):
        return table

    def labelled(row):
        names = iter(heads)
        return re.sub(r'<td\b', lambda _: f'<td data-head="{escape(unescape(next(names, "")))}"', row.group())

    return re.sub(r'<tr>.*?</tr>', labelled, table, flags=re.S).replace('<table>', '<table data-stacked>', 1)


def on_page_content(content, **_):
    """Mark the cells of tables that hold sentences, not to be squeezed on a phone, and prompts in code."""
    def marked(found):
        text = re.sub('<[^>]+>', '', found.group(1))
        return f'<td class="sentence">{found.group(1)}</td>' if len(text) >= SENTENCE else found.group()

    content = re.sub(r'<td>(.*?)</td>', marked, content)
    return SESSION.sub(prompted, re.sub(r'<table>.*?</table>', stacked, content, flags=re.S))
