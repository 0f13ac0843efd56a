"""The documentation as a site: it builds without a warning, its links lead somewhere, it loads nothing from outside."""
import functools
import http.server
import json
import os
import posixpath
import re
import shutil
import threading
from html import unescape
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import pytest

from tests.helpers.machine import PROJECT, STATE, run

pytestmark = [pytest.mark.long, pytest.mark.alone]

PAGES = sorted(str(path.relative_to(PROJECT / 'docs')) for path in (PROJECT / 'docs').rglob('*.md'))
PICTURE = PROJECT / 'docs' / 'pictures' / 'approaches.svg'
#: Widths of a desktop and of a phone, pixels
WIDTHS = {'desktop': 1280, 'phone': 390}


def build(folder, target, **variables):
    """Build the site of a project (Path) into target (Path) as `make docs` does; CompletedProcess."""
    environment = dict(os.environ, NO_MKDOCS_2_WARNING='1', **variables)
    return run([STATE / 'venv/bin/python', '-m', 'mkdocs', 'build', '--strict', '--config-file',
                folder / 'mkdocs.yml', '--site-dir', target], env=environment, cwd=PROJECT)


@pytest.fixture(scope='session')
def site(tmp_path_factory):
    """Folder of the site (Path), built strictly."""
    folder = tmp_path_factory.mktemp('site')
    done = build(PROJECT, folder)
    assert done.returncode == 0 and 'WARNING' not in done.stderr, done.stdout + done.stderr
    return folder


def html_of(page):
    """Return the name (str) of the file that a page of docs/ (str) becomes."""
    return re.sub(r'\.md$', '.html', page)


class Elements(HTMLParser):
    """What a page (text of HTML) loads, links to, and can be linked by."""

    def __init__(self, text):
        super().__init__()
        self.loads, self.links, self.ids = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.ids.add(values.get('id'))
        if tag == 'a' and values.get('href'):
            self.links.append(values['href'])
        loaded = values.get('href') if tag == 'link' and values.get('rel') != 'canonical' else values.get('src')
        if loaded:
            self.loads.append(loaded)


# ---- the build

def settings_elsewhere():
    """Return mkdocs.yml (str) for another folder, which has no report."""
    text = (PROJECT / 'mkdocs.yml').read_text()
    links, report = (f'  - osu_container/generate/{name}.py\n' for name in ('site_links', 'site_report'))
    assert text.count(links) == text.count(report) == 1
    absolute = f'  - {PROJECT}/osu_container/generate/site_links.py\n'
    return text.replace(report, '').replace(links, absolute)


def broken_link(text):
    return text + '\n[no page](no-page.md)\n', 'no-page.md'


def missing_file_of_the_repository(text):
    return text + '\n[no file](../easyblocks/no_file.py)\n', 'no_file.py'


@pytest.mark.parametrize('change', [broken_link, missing_file_of_the_repository])
def test_a_link_that_leads_nowhere_stops_the_build(tmp_path, change):
    (tmp_path / 'docs').mkdir()
    for name in ('site', 'pictures'):
        shutil.copytree(PROJECT / 'docs' / name, tmp_path / 'docs' / name)
    (tmp_path / 'mkdocs.yml').write_text(settings_elsewhere().partition('\nnav:')[0] + '\n')
    (tmp_path / 'README.md').write_text('# Read me\n\n[back](docs/index.md)\n')
    page = tmp_path / 'docs' / 'index.md'
    page.write_text('# First\n\n[out](../README.md) and [its heading](../README.md#read-me)\n')
    done = build(tmp_path, tmp_path / 'site')
    assert done.returncode == 0, done.stderr
    text, named = change(page.read_text())
    page.write_text(text)
    done = build(tmp_path, tmp_path / 'site')
    assert done.returncode != 0 and re.search(f"WARNING.*{re.escape(named)}", done.stderr), done.stderr


def test_every_page_is_there_and_no_file_of_the_project_but_these(site):
    assert [page for page in PAGES if not (site / html_of(page)).is_file()] == []
    assert not list(site.rglob('*.py')) and not list(site.rglob('*.md'))
    assert 'published results' in (site / 'results' / 'report.html').read_text()[:2000]


def all_pages(site):
    """Return {path: Elements} of every HTML file of the site but the reports, which are pages of their own."""
    found = {path: path.read_text() for path in sorted(site.rglob('*.html')) if path.name != '404.html'}
    return {path: Elements(text) for path, text in found.items() if 'md-content' in text}


def test_every_link_of_the_site_leads_to_a_file_and_an_id(site):
    pages, broken = all_pages(site), []
    assert len(pages) > len(PAGES)
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or link.startswith('javascript'):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / 'index.html' if target.is_dir() else target
            ids = pages[target].ids if target in pages else {unquote(parts.fragment)}
            if not target.is_file() or parts.fragment and unquote(parts.fragment) not in ids:
                broken.append(f'{path.relative_to(site)}: {link}')
    assert broken == []


def test_pages_load_only_files_of_the_site(site):
    for path, page in all_pages(site).items():
        for loaded in page.loads:
            if not loaded.startswith('data:'):
                assert not urlsplit(loaded).netloc, f'{path.relative_to(site)}: {loaded}'
                assert (path.parent / unquote(urlsplit(loaded).path)).resolve().is_file(), loaded


def test_headings_go_down_one_level_at_a_time_and_tables_and_lists_are_such(site):
    """Where no blank line stands before a table or a list, GitHub reads it, and the site shows its marks."""
    for page in PAGES:
        article = re.search(r'<article.*?</article>', (site / html_of(page)).read_text(), re.S)[0]
        levels = [int(level) for level in re.findall(r'<h([1-6])\b', article)]
        assert levels[0] == 1 and levels.count(1) == 1, page
        assert all(after <= before + 1 for before, after in zip(levels, levels[1:])), page
        paragraphs = re.findall(r'<p>(.*?)</p>', article, re.S)
        assert [text for text in paragraphs if re.search(r'^(\||\* |- |\d+\. )', text, re.M)] == [], page


def links_out_of_docs():
    """Return the files and folders (list of str, relative to the project) outside of docs/ that its pages link to."""
    found = set()
    for page in PAGES:
        for link in re.findall(r'\]\((\.\./[^)\s#]+)', (PROJECT / 'docs' / page).read_text()):
            found.add(posixpath.normpath(posixpath.join('docs', posixpath.dirname(page), link)))
    return sorted(path for path in found if not path.startswith('docs/'))


def test_a_file_that_a_page_links_to_is_shown_by_a_copy(site):
    assert len(links_out_of_docs()) > 10
    for name in links_out_of_docs():
        copy = re.sub(r'\.md$', '', re.sub(r'README\.md$', 'index.md', name)) + '.html'
        html = (site / 'repository' / copy).read_text()
        assert f'<code>{name}</code>' in html, name
        if (PROJECT / name).is_dir():
            continue
        shown, text = unescape(re.sub('<[^>]+>', '', html)), (PROJECT / name).read_text()
        if name.endswith('.md'):
            assert re.search('^# (.+)$', text, re.M).group(1) in shown, name
        else:
            assert re.sub(r'\s', '', text) in re.sub(r'\s', '', shown), name


def test_the_search_knows_the_pages_and_not_the_copies(site):
    index = json.loads((site / 'search' / 'search_index.json').read_text())
    found = {entry['location'].partition('#')[0] for entry in index['docs']}
    assert found >= {html_of(page) for page in PAGES} and not [name for name in found if 'repository' in name]


# ---- in the browser

@pytest.fixture
def open_page(chromium):
    """Function (address, width, scheme) that opens a page; page.troubles has what went wrong, outside requests too."""
    contexts = []

    def call(address, width=1280, scheme='light'):
        contexts.append(chromium.new_context(viewport={'width': width, 'height': 900}, color_scheme=scheme))
        page = contexts[-1].new_page()
        page.troubles = []
        page.on('request', lambda request: page.troubles.append(f'loads {request.url}') if not re.match(
            r'file:|data:|blob:|http://127\.0\.0\.1[:/]', request.url) else None)
        page.on('requestfailed', lambda request: page.troubles.append(f'no {request.url}'))
        page.on('console', lambda message: page.troubles.append(message.text) if message.type != 'log' else None)
        page.on('pageerror', lambda error: page.troubles.append(str(error)))
        page.goto(address, wait_until='load')
        return page
    yield call
    for context in contexts:
        context.close()


@pytest.fixture
def served(site):
    """Address of the site on a web server of its own."""
    quiet = type('Quiet', (http.server.SimpleHTTPRequestHandler,), {'log_message': lambda *_: None})
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f'http://127.0.0.1:{server.server_port}'
    server.shutdown()


@pytest.mark.browser
def test_the_first_page_fits_a_desktop_and_a_phone_and_follows_the_reader_s_scheme(site, open_page):
    page = open_page(f'file://{site}/index.html', scheme='dark')
    grounds = set()
    for _ in range(3):
        grounds.add(page.evaluate('getComputedStyle(document.body).backgroundColor'))
        page.locator('form[data-md-component=palette] label:visible').click()
    assert len(grounds) == 2
    units = float(ElementTree.parse(PICTURE).getroot().get('viewBox').split()[2])
    for width in WIDTHS.values():
        page.set_viewport_size({'width': width, 'height': 900})
        assert page.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'the page is wider than the window'
        box = page.locator('article img').first.bounding_box()
        assert box['width'] * 12 / units >= 9.5 and box['width'] <= 600  # 12: its smallest letters, units
    assert page.troubles == []


#: The browser's clock, milliseconds: at the last key, and when the first hit became what it is
CLOCK = '''() => {
    window.at = {};
    addEventListener('keydown', () => { at.key = performance.now() }, true);
    new MutationObserver(() => {
        const first = document.querySelector('.md-search-result__item a');
        if (first && first.href !== at.first) Object.assign(at, {first: first.href, hit: performance.now()});
    }).observe(document.querySelector('.md-search-result'), {subtree: true, childList: true}) }'''


@pytest.mark.browser
@pytest.mark.parametrize('words, found', [('install on lumi', 'install-lumi.html'),
                                          ('SLURM_NETWORK', 'approaches.html')])
def test_search_finds_the_page_first_within_a_second_without_network(served, open_page, words, found):
    page = open_page(f'{served}/index.html', WIDTHS['phone'])
    page.evaluate(CLOCK)
    page.keyboard.press('s')  # Material's key for the search; it loads the index now
    page.locator('.md-search__input').press_sequentially(words, delay=80)
    first = page.locator(f'.md-search-result__item a[href*="/{found}"]').first
    first.wait_for()
    assert page.locator('.md-search-result__item a').first.get_attribute('href') == first.get_attribute('href')
    assert page.evaluate('at.hit - at.key') < 1000  # 150 to 480 at load 10 on two cores
    first.click()
    page.wait_for_url(re.compile(rf'/{re.escape(found)}'))
    assert page.troubles == []


@pytest.mark.browser
def test_no_page_is_longer_than_twelve_screens_of_a_desktop(site, open_page):
    page, height = open_page(f'file://{site}/index.html'), 800
    page.set_viewport_size({'width': WIDTHS['desktop'], 'height': height})
    screens = {}
    for name in PAGES:
        page.goto(f'file://{site}/{html_of(name)}', wait_until='load')
        screens[name] = page.evaluate('document.documentElement.scrollHeight') / height
    assert {name: found for name, found in screens.items() if found > 12} == {}
