"""
The documentation as a site: it builds without a warning, its links lead somewhere, it loads
nothing from outside.
"""

import os
import re
import shutil
from html import unescape
from urllib.parse import unquote, urlsplit

import pytest

from tests.helpers.machine import PROJECT, STATE, assert_success, run

pytestmark = [pytest.mark.system, pytest.mark.nightly]

PAGES = sorted(str(path.relative_to(PROJECT / 'docs')) for path in (PROJECT / 'docs').rglob('*.md'))


def build(folder, target, **variables):
    """
    Build the site of a project (Path) into target (Path) as `make docs` does; CompletedProcess.
    """
    environment = dict(os.environ, NO_MKDOCS_2_WARNING='1', **variables)
    command = f'{STATE}/venv/bin/python -m mkdocs build --strict -f {folder}/mkdocs.yml -d {target}'
    return run(command.split(), env=environment, cwd=PROJECT)


@pytest.fixture(scope='session')
def site(tmp_path_factory):
    """Return the folder of the site (Path) that a strict build has written."""
    folder = tmp_path_factory.mktemp('site')
    done = build(PROJECT, folder)
    assert done.returncode == 0 and 'WARNING' not in done.stderr, done
    return folder


class Elements:
    """The files that an HTML page (str) loads, its links, and the ids that other pages can link."""

    def __init__(self, text):
        self.ids = set(re.findall(r'\sid="([^"]*)"', text))
        self.links = [unescape(link) for link in re.findall(r'<a\s[^>]*?href="([^"]+)"', text)]
        self.loads = re.findall(
            r'<(?:link(?![^>]*canonical)\s[^>]*?href|\w+\s[^>]*?\bsrc)="([^"]+)"', text
        )


@pytest.mark.parametrize('link', ['no-page.md', '../easyblocks/no_file.py'])
def test_a_link_that_leads_nowhere_stops_the_build(tmp_path, link):
    (tmp_path / 'docs').mkdir()
    for name in ('site', 'pictures'):
        shutil.copytree(PROJECT / 'docs' / name, tmp_path / 'docs' / name)
    settings = (PROJECT / 'mkdocs.yml').read_text().partition('\nnav:')[0]
    (tmp_path / 'mkdocs.yml').write_text(settings.replace('- tools/', f'- {PROJECT}/tools/'))
    (tmp_path / 'README.md').write_text('# Read me\n')
    page = tmp_path / 'docs' / 'index.md'
    page.write_text('# First\n\n[its heading](../README.md#read-me)\n')
    address = 'https://gitlab.example/somebody/osu-container'
    done = build(tmp_path, tmp_path / 'site', OSU_CONTAINER_REPOSITORY=address)
    assert_success(done)
    assert (
        f'"{address}/-/blob/main/README.md#read-me"'
        in (tmp_path / 'site' / 'index.html').read_text()
    )
    page.write_text(f'{page.read_text()}\n[nothing]({link})\n')
    done = build(tmp_path, tmp_path / 'site')
    assert done.returncode != 0 and re.search(f"WARNING.*{re.escape(link)}", done.stderr), done


def test_every_link_and_loaded_file_of_the_site_exists(site):
    pages = {path: Elements(path.read_text()) for path in site.rglob('*.html')}
    assert {site / name.replace('.md', '.html') for name in PAGES} | {
        site / 'results' / 'report.html'
    } <= set(pages)
    broken = []
    for path, page in pages.items():
        for link in page.links + page.loads:
            parts = urlsplit(link)
            outside = parts.scheme or parts.netloc or link.startswith('javascript')
            if (
                parts.scheme == 'data'
                or outside
                and link not in page.loads
                or path.name == '404.html'
            ):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / 'index.html' if target.is_dir() else target
            ids = pages[target].ids if target in pages else {unquote(parts.fragment)}
            if (
                outside
                or not target.is_file()
                or parts.fragment
                and unquote(parts.fragment) not in ids
            ):
                broken.append(f'{path.relative_to(site)}: {link}')
    assert broken == []
