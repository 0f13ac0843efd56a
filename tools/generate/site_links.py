"""
Hook of MkDocs (mkdocs.yml): links to files of the repository, and prompts in code blocks.

Pages link to files outside of docs/, as ../easyblocks/generic/NAME.py, and GitHub shows them. The
site leads to the address of the repository instead; where that is not known, the text of the link
remains.
"""

import os
import posixpath
import re
from pathlib import Path
from urllib.parse import urlsplit

from osu_container import PLACEHOLDER, REPOSITORY

#: A link in Markdown to a folder above: its text, its path and its anchor
LINK = re.compile(r'\[([^\]]+)\]\((\.\./[^)\s#]+)(#[^)\s]*)?\)')
#: A code block without a language
SESSION = re.compile(r'(<pre><span></span><code>|<pre><code>)(.*?)(</code></pre>)', re.S)
#: Address of the repository, '' where it is not known; OSU_CONTAINER_REPOSITORY is for a copy with
#: another address
ADDRESS = os.environ.get('OSU_CONTAINER_REPOSITORY', REPOSITORY).rstrip('/')
#: GitLab has its own pages below /-/
PAGES = ADDRESS + ('/-' if 'gitlab' in (urlsplit(ADDRESS).hostname or '') else '')


def on_config(config):
    """Link to the repository and to the source of each page if the address is known."""
    if ADDRESS:
        config.repo_url, config.repo_name = (
            ADDRESS,
            urlsplit(ADDRESS).path.strip('/') or urlsplit(ADDRESS).hostname,
        )
        config.edit_uri = f'{PAGES}/edit/main/docs/'
        config.theme['features'].append('content.action.edit')


def on_post_page(output, **_):
    """
    Remove the mark by which Material asks GitHub or GitLab for numbers: the site loads nothing
    from outside.
    """
    return output.replace(' data-md-component="source"', '')


def on_page_markdown(markdown, page, config, **_):
    """
    Let links to files outside of docs/ lead to the repository; MkDocs reports those that lead
    nowhere.
    """
    root, folder = (
        Path(config.config_file_path).parent,
        posixpath.join('docs', posixpath.dirname(page.file.src_uri)),
    )

    def in_repository(link):
        text, target, anchor = link.groups('')
        path = posixpath.normpath(posixpath.join(folder, target))
        if path.startswith('docs/') or not (root / path).exists():
            return link.group()
        return f'[{text}]({PAGES}/blob/main/{path}{anchor})' if ADDRESS else text

    return LINK.sub(in_repository, markdown.replace(PLACEHOLDER, ADDRESS or PLACEHOLDER))


def mark_prompts(block):
    """
    Return a code block (match of SESSION) with its prompts and outputs marked, so that only
    commands are copied.
    """
    rows = block[2].split('\n')
    if not any(row.startswith('$ ') for row in rows):
        return block.group()
    marked = [
        f'<span class="gp">$ </span>{row[2:]}'
        if row.startswith('$ ')
        else f'<span class="go">{row}</span>'
        if row
        else row
        for row in rows
    ]
    return block[1] + '\n'.join(marked) + block[3]


def on_page_content(content, **_):
    """Mark prompts in code blocks."""
    return SESSION.sub(mark_prompts, content)
