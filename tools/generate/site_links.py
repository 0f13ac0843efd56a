"""MkDocs hook (mkdocs.yml) for links to files of the repository and prompts in code blocks.

Pages link to files outside of docs/, such as ../easyblocks/generic/NAME.py, and GitHub resolves
these links. The site links to the repository instead; if its address is unknown, only the text of
the link stays.
"""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.pages import Page

from osu_container import PLACEHOLDER, REPOSITORY

#: A Markdown link to a parent folder: text, path and anchor
LINK = re.compile(r'\[([^\]]+)\]\((\.\./[^)\s#]+)(#[^)\s]*)?\)')
#: A code block without a language
SESSION = re.compile(r'(<pre><span></span><code>|<pre><code>)(.*?)(</code></pre>)', re.S)
#: Address of the repository, '' if unknown; OSU_CONTAINER_REPOSITORY sets that of a copy
ADDRESS = os.environ.get('OSU_CONTAINER_REPOSITORY', REPOSITORY).rstrip('/')
#: GitLab's pages of a repository are below /-/
PAGES = ADDRESS + ('/-' if 'gitlab' in (urlsplit(ADDRESS).hostname or '') else '')


def on_config(config: MkDocsConfig) -> None:
    """Link to the repository and to the source of each page, if the address is known."""
    if ADDRESS:
        config.repo_url, config.repo_name = (
            ADDRESS,
            urlsplit(ADDRESS).path.strip('/') or urlsplit(ADDRESS).hostname,
        )
        config.edit_uri = f'{PAGES}/edit/main/docs/'
        config.theme['features'].append('content.action.edit')


def on_post_page(output: str, **_: Any) -> str:
    """Remove the mark by which Material requests statistics of GitHub or GitLab.

    The site loads nothing from other servers.
    """
    return output.replace(' data-md-component="source"', '')


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: Any) -> str:
    """Replace links to files outside of docs/ with links to the repository.

    MkDocs reports links to files that do not exist.
    """
    root, folder = (
        Path(config.config_file_path).parent,
        posixpath.join('docs', posixpath.dirname(page.file.src_uri)),
    )

    def link_to_repository(link: re.Match[str]) -> str:
        text, target, anchor = link.groups('')
        path = posixpath.normpath(posixpath.join(folder, target))
        if path.startswith('docs/') or not (root / path).exists():
            return link.group()
        return f'[{text}]({PAGES}/blob/main/{path}{anchor})' if ADDRESS else text

    return LINK.sub(link_to_repository, markdown.replace(PLACEHOLDER, ADDRESS or PLACEHOLDER))


def mark_prompts(block: re.Match[str]) -> str:
    """Return a code block with marked prompts and outputs, so that only commands are copied."""
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


def on_page_content(content: str, **_: Any) -> str:
    """Mark the prompts in code blocks."""
    return SESSION.sub(mark_prompts, content)
