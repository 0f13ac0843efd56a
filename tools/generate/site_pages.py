"""The pages as a site: a MkDocs hook (mkdocs.yml), and two pictures that follow from data.

Pages link to files outside of docs/, such as ../easyblocks/generic/NAME.py, and GitHub resolves
these links. The site links to the repository instead; if its address is unknown, only the text of
the link stays. The site also has the page of `osu-container report --published`, which is too large
(1.4 MB) to check in.

`python -m tools.generate.site_pages` writes the pictures; `make docs` runs this command first.
"""

from __future__ import annotations

import io
import math
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
from osu_container.bench.report import page as report_page
from osu_container.bench.report.cli import build_published_report
from osu_container.bench.results import references
from osu_container.bench.results.model import format_size

#: A Markdown link to a parent folder: text, path and anchor
LINK = re.compile(r'\[([^\]]+)\]\((\.\./[^)\s#]+)(#[^)\s]*)?\)')
#: A code block without a language
SESSION = re.compile(r'(<pre><span></span><code>|<pre><code>)(.*?)(</code></pre>)', re.S)
#: Address of the repository, '' if unknown; OSU_CONTAINER_REPOSITORY sets that of a copy
ADDRESS = os.environ.get('OSU_CONTAINER_REPOSITORY', REPOSITORY).rstrip('/')
#: GitLab's pages of a repository are below /-/
PAGES = ADDRESS + ('/-' if 'gitlab' in (urlsplit(ADDRESS).hostname or '') else '')


# ---- the hook ----------------------------------------------------------------------------------


def on_config(config: MkDocsConfig) -> None:
    """Link to the repository and to the source of each page, if the address is known."""
    if ADDRESS:
        config.repo_url, config.repo_name = (
            ADDRESS,
            urlsplit(ADDRESS).path.strip('/') or urlsplit(ADDRESS).hostname,
        )
        config.edit_uri = f'{PAGES}/edit/main/docs/'
        config.theme['features'].append('content.action.edit')


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the report, to which docs/results/index.md links."""
    if 'results/index.md' in files.src_uris:
        text = report_page.render_page(build_published_report())
        files.append(File.generated(config, 'results/report.html', content=text))


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


# ---- the pictures ---------------------------------------------------------------------------------

#: Bandwidth of each approach relative to native, by message size
PLOT = PROJECT / 'docs' / 'results' / 'lumi.svg'
#: Approach -> colour on a light and on a dark page, dashes, and distance of the name from the curve
CURVES = {
    'hybrid': ('#007a5a', '#4cd3a5', 'none', -14),
    'opensource': ('#a02c72', '#f495cb', '4 3', 2),
    'bind': ('#0068a8', '#6cb6ff', '9 3', 18),
    'pure': ('#cc5500', '#ff9d5c', 'none', 4),
}
PLOT_FORMAT = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 540 296" role="img">
<title>LUMI-G, two nodes, measured by DeiC, March 2025</title>
<style>
  svg {{ --ground: #ffffff; --text: #1f2328; --quiet: #57606a; --line: #d0d7de;{light} }}
  @media (prefers-color-scheme: dark) {{
    svg {{ --ground: #1e2129; --text: #e6edf3; --quiet: #a3adb8; --line: #444c56;{dark} }} }}
  text {{ font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: var(--text); }}
  .name {{ font-weight: 600; }} .quiet {{ fill: var(--quiet); font-size: 12px; }}
  .middle {{ text-anchor: middle; }} .end {{ text-anchor: end; }}
  .ground {{ fill: var(--ground); stroke: var(--line); }} .line {{ stroke: var(--line); }}
  polyline {{ fill: none; stroke-width: 2; stroke-linejoin: round; }}
</style>
<rect class="ground" x="0.5" y="0.5" width="539" height="295" rx="8"/>
<text class="name" x="12" y="22">LUMI-G, two nodes, measured by DeiC, March 2025</text>
<text class="quiet" x="12" y="40">Bandwidth (osu_bw H H) relative to native, which is 1; more is better</text>
{parts}
</svg>
"""
#: A terminal with the output of commands
TERMINAL = PROJECT / 'docs' / 'pictures' / 'terminal.svg'
COLUMNS = 88
#: Commands whose output needs no image and no host
COMMANDS = ('osu-container check osu-workstation-mpich-4.2.3-libfabric-1.22.0 --site lumi-25.03',)
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


def render_plot() -> str:
    """Return the SVG text of the plot."""
    series = {
        one.name: one.compute_medians()
        for one in references.read_dataset('lumi-g-2025-03').series
        if one.case.title == 'osu_bw H H, two nodes'
    }
    native = series['native']

    def across(size: int) -> float:
        return 40 + 18 * math.log2(size)

    def up(ratio: float) -> float:
        return round(266 - 190 * ratio, 1)

    right = across(max(native))
    parts = [
        f'<path class="line" d="M40 {up(ratio)}H{right:g}"/>'
        f'<text class="quiet end" x="34" y="{up(ratio) + 4:g}">{ratio:g}</text>'
        for ratio in (0, 0.2, 0.4, 0.6, 0.8, 1)
    ]
    parts += [
        f'<text class="quiet middle" x="{across(size):g}" y="284">{format_size(size)}</text>'
        for size in list(native)[::4]
    ]
    for name, (*_, dashes, distance) in CURVES.items():
        ratios = {size: value / native[size] for size, value in series[name].items()}
        points = ' '.join(f'{across(size):g},{up(ratio)}' for size, ratio in ratios.items())
        parts.append(
            f'<polyline points="{points}" stroke-dasharray="{dashes}" style="stroke: var(--{name})"/>'
            f'<text class="name" x="{right + 8:g}" y="{up(ratios[max(ratios)]) + distance:g}"'
            f' style="fill: var(--{name})">{name}</text>'
        )
    light, dark = (
        ''.join(f' --{name}: {curve[place]};' for name, curve in CURVES.items()) for place in (0, 1)
    )
    return PLOT_FORMAT.format(parts='\n'.join(parts), light=light, dark=dark)


def render_terminal() -> str:
    """Return the SVG text of a terminal in which COMMANDS have run."""
    # Imported here: a site without its pictures does not need rich
    from rich.console import Console
    from rich.text import Text

    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    environment = {
        'PATH': f'{PROJECT}/scripts:{os.environ["PATH"]}',
        'COLUMNS': f'{COLUMNS}',
        'TERM': 'xterm-256color',
        'LC_ALL': 'C.UTF-8',
    }
    for command in COMMANDS:
        # script(1) gives the command a terminal, so it prints colours
        printed = subprocess.run(
            ['script', '-qec', command, '/dev/null'],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout
        console.print(Text(f'$ {command}', 'bold'))
        console.print(Text.from_ansi(printed.replace('\r', '')))
    return console.export_svg(title='', code_format=TERMINAL_FORMAT, unique_id='terminal')


if __name__ == '__main__':
    PLOT.write_text(render_plot())
    TERMINAL.write_text(render_terminal())
