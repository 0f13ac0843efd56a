"""
Hook of MkDocs (mkdocs.yml): links that leave docs/ lead to copies of these files in the site; long cells are marked.

Pages link to files of the repository, as ../easyblocks/generic/NAME.py, and GitHub shows them. The site has no address
of a repository to lead to (a clone may live anywhere), and is to be read without network. So every file or folder that
a page links to becomes a page repository/PATH: Markdown as it is, code with its lines numbered, a folder as its
README.md or as the list of its files. Copies of Markdown may lead to further copies. None of them is in the search.
"""
import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File
from pygments.lexers import get_lexer_for_filename
from pygments.util import ClassNotFound

from osu_container import places

#: Cells of tables with at least this many characters get the class "sentence" (site/site.css)
SENTENCE = 40
#: Folder of the copies in the site
COPIES = 'repository'
#: The repository whose files are copied: on_config() takes the folder of mkdocs.yml
PROJECT = places.PROJECT
#: A link in Markdown: its target without white space, and an optional anchor
LINK = re.compile(r'(?<=\]\()([^)\s#]+)(#[^)\s]*)?(?=\))')
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


def on_config(config):
    """Take the folder of mkdocs.yml as the repository."""
    global PROJECT
    PROJECT = Path(config.config_file_path).resolve().parent


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
    """Let links of a page of docs/ that leave this folder lead to the copies."""
    if page.file.src_uri.startswith(f'{COPIES}/'):
        return markdown
    return relinked(markdown, posixpath.join('docs', posixpath.dirname(page.file.src_uri)), page.file.src_uri)[0]


def on_page_content(content, **_):
    """Mark the cells of tables that hold sentences, so that they are not squeezed on a phone."""
    def marked(found):
        text = re.sub('<[^>]+>', '', found.group(1))
        return f'<td class="sentence">{found.group(1)}</td>' if len(text) >= SENTENCE else found.group()

    return re.sub(r'<td>(.*?)</td>', marked, content)
