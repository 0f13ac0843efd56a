"""Hook for MkDocs (mkdocs.yml), which renders the pages in docs/ as a web site.

Pages link to files outside of docs/, such as ../easyblocks/generic/NAME.py. GitHub resolves these
links. On the web site, the hook replaces each of these links with a link to the repository, or only
with the text of the link if the address of the repository is unknown. The hook also adds the report
that `osu-container report --published` writes. This report is too large (1.4 MB) for Git.

`python -m tools.generate.site_pages` writes the picture of a terminal; `make docs` runs this
command first.
"""

from __future__ import annotations

import io
import os
import posixpath
import re
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from osu_container import PLACEHOLDER, REPOSITORY
from osu_container.base.places import PROJECT
from osu_container.bench.report.cli import build_published_report
from osu_container.bench.report.page import render_page

#: A Markdown link to a parent folder: text, path and anchor
LINK = re.compile(r'\[([^\]]+)\]\((\.\./[^)\s#]+)(#[^)\s]*)?\)')
#: A code block without a language that begins with a prompt
SESSION = re.compile(r'(<pre><span></span><code>|<pre><code>)(\$ .*?)(</code></pre>)', re.S)
#: Address of the repository, '' if unknown; OSU_CONTAINER_REPOSITORY sets that of a copy
ADDRESS = os.environ.get('OSU_CONTAINER_REPOSITORY', REPOSITORY).rstrip('/')
#: GitLab's pages of a repository are below /-/
PAGES = ADDRESS + ('/-' if 'gitlab' in (urlsplit(ADDRESS).hostname or '') else '')


# ---- the hook ----------------------------------------------------------------------------------


def on_config(config: MkDocsConfig) -> None:
    """Add links to the repository and to the source of each page.

    Nothing is added if the address of the repository is unknown.
    """
    if ADDRESS:
        config.repo_url, config.repo_name = ADDRESS, ADDRESS.split('/', 3)[-1]
        config.edit_uri = f'{PAGES}/edit/main/docs/'
        config.theme['features'].append('content.action.edit')


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the report on published results to the web site.

    The page docs/results/index.md links to this report.
    """
    if 'results/index.md' in files.src_uris:
        report = File.generated(
            config, 'results/report.html', content=render_page(build_published_report())
        )
        files.append(report)


def on_post_page(output: str, **_: Any) -> str:
    """Remove the attribute with which the theme Material requests data from GitHub or GitLab.

    Without this attribute, the web site loads no data from other servers.
    """
    return output.replace(' data-md-component="source"', '')


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: Any) -> str:
    """Replace links to files outside of docs/ with links to the repository.

    A link to a missing file is not replaced, so that MkDocs reports the link as broken.
    """

    def link_to_repository(link: re.Match[str]) -> str:
        text, target, anchor = link.groups('')
        path = posixpath.normpath(f'docs/{page.file.src_uri}/../{target}')
        if path.startswith('docs/') or not Path(config.docs_dir, '..', path).exists():
            return link.group()
        return f'[{text}]({PAGES}/blob/main/{path}{anchor})' if ADDRESS else text

    return LINK.sub(link_to_repository, markdown.replace(PLACEHOLDER, ADDRESS or PLACEHOLDER))


def mark_prompts(block: re.Match[str]) -> str:
    """Mark prompts and outputs in a code block, so that users copy only the commands."""
    marked = re.sub(r'^(?!\$ )(.+)$', r'<span class="go">\1</span>', block[2], flags=re.M)
    return block[1] + re.sub(r'^\$ ', '<span class="gp">$ </span>', marked, flags=re.M) + block[3]


def on_page_content(content: str, **_: Any) -> str:
    """Mark the prompts in all code blocks of a page; MkDocs calls this hook."""
    return SESSION.sub(mark_prompts, content)


# ---- the terminal of the first page ----------------------------------------------------------------

TERMINAL = PROJECT / 'docs' / 'pictures' / 'terminal.svg'
COLUMNS = 88
#: A command whose output needs no image and no host
COMMAND = 'osu-container check osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0 --site lumi-25.03'
TERMINAL_FORMAT = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<style>
  .{unique_id}-matrix {{ font: {char_height}px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }}
  {styles}
</style>
<defs>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})">{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""


def render_terminal() -> str:
    """Return an SVG picture of a terminal that shows COMMAND and its output."""
    # Imported here: the site itself does not need rich
    from rich.console import Console
    from rich.text import Text

    # script(1) gives the command a terminal, so the command prints colours
    line = f'env -u NO_COLOR TERM=xterm-256color COLUMNS={COLUMNS} {PROJECT}/scripts/{COMMAND}'
    printed = subprocess.check_output(
        ['script', '-qc', line, '/dev/null'], stdin=subprocess.DEVNULL, text=True
    )
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print(Text(f'$ {COMMAND}', 'bold'), Text.from_ansi(printed), sep='\n')
    return console.export_svg(title='', code_format=TERMINAL_FORMAT, unique_id='terminal')


if __name__ == '__main__':
    TERMINAL.write_text(render_terminal())
