"""The page of osu-container report in a browser: nothing is cut off, all is legible, and the network is left alone."""
import re

import pytest

from tests.helpers.example_runs import CASES, MORE_CASES, make_run
from tests.report.test_report import APPROACHES, FAILURES, Tables, nobody_else, report, up_to  # noqa: F401, a fixture

pytestmark = [pytest.mark.long, pytest.mark.alone, pytest.mark.browser]

#: Points of CSS across a sheet of A4 between the margins of the style sheet (12 mm)
SHEET = round((210 - 24) / 25.4 * 96)
SIZES = {1280: 900, 390: 844}
#: Least size of text in points of CSS
LEGIBLE = 10.0


@pytest.fixture(scope='module')
def pages(tmp_path_factory):
    """A function of the name of a page that returns its file; each is made once."""
    out, runs = tmp_path_factory.mktemp('page'), {
        'every shape of case': {'approaches': APPROACHES, 'cases': MORE_CASES, 'failures': FAILURES, 'repeats': 3,
                                'scale': {'pure': 0.1, 'opensource': 1.4, 'hybrid': up_to(32768, 0.8)}},
        'one repeat': {'repeats': 1, 'scale': {'pure': 0.3}},
        'one approach fails': {'failures': [('hybrid', case, 'PMI: ' + 'no key-value store, ' * 20) for case in CASES]},
        'restless': {'approaches': APPROACHES, 'repeats': 2, 'noise': 0.8},
        'no native': {'approaches': ('pure', 'hybrid'), 'cases': MORE_CASES},
        'no sizes': {'cases': MORE_CASES[-2:]}}

    def made(name):
        path = out / f'{name}.html'
        if not path.exists():
            shown = ['--published'] if name == 'published' else [make_run(out / name, **runs[name])]
            assert report(*shown, '-o', path) == 0
        return path
    return made


@pytest.fixture
def opened(chromium):
    """Return a function that opens a page; in the end all are closed, and none may have complained or gone out."""
    contexts, said, asked = [], [], []

    def open_page(path, width, **options):
        contexts.append(chromium.new_context(viewport={'width': width, 'height': SIZES.get(width, 900)}, **options))
        page = contexts[-1].new_page()
        page.on('console', lambda message: said.append(message.text))
        page.on('pageerror', lambda error: said.append(str(error)))
        page.on('dialog', lambda dialog: said.append(dialog.message))
        page.on('request', lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        return page
    yield open_page
    for one in contexts:
        one.close()
    assert said == [] and {url.partition(':')[0] for url in asked} <= {'file'}


#: What is wider than its place. A table may be as wide as its part of the page, not wider
CUT_OFF = '''() => [...document.querySelectorAll('body *')].filter((one) => one.checkVisibility() && (
    one.getBoundingClientRect().right > document.documentElement.clientWidth + 1 ||
    (getComputedStyle(one).overflowX !== 'visible' && one.scrollWidth > one.clientWidth + 1 && one.tagName !== 'svg'))
    ).map((one) => `${one.tagName} ${one.className} ${one.textContent.slice(0, 60)}`)'''
#: Sizes of text as they are on the screen, those in pictures with their scale
TEXTS = '''() => [...document.querySelectorAll('main *')].filter((one) => one.checkVisibility() &&
    [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim())).map((one) => {
        const picture = one.closest('svg');
        const scale = picture ? picture.getBoundingClientRect().width / picture.viewBox.baseVal.width : 1;
        return [parseFloat(getComputedStyle(one).fontSize) * scale, one.textContent.slice(0, 40)];
    })'''


@pytest.mark.parametrize('width', SIZES)
@pytest.mark.parametrize('name', ['every shape of case', 'one repeat', 'one approach fails', 'restless', 'no native',
                                  'no sizes', 'published'])
def test_nothing_is_cut_off_or_too_small_to_read(name, width, pages, opened):
    page = opened(pages(name), width, color_scheme='dark' if width == 390 else 'light')
    for what in ('h1', '.measured', '.said li:nth-child(2)'):  # on the first screen
        box = page.locator(what).first.bounding_box()
        assert box['height'] > 10 and box['y'] + box['height'] <= SIZES[width], what
    assert page.evaluate(CUT_OFF) == []
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert page.evaluate(CUT_OFF) == []
    texts = page.evaluate(TEXTS)
    assert len(texts) > 50 and [text for text in texts if text[0] < LEGIBLE] == []
    drawn = page.evaluate('''() => [...document.querySelectorAll('svg.chart')].map((one) => [...one.querySelectorAll(
        'polyline')].every((curve) => curve.points.length && getComputedStyle(curve).stroke !== 'none'))''')
    assert all(drawn) and bool(drawn) == (name != 'no sizes')


def test_colours_follow_the_system_and_paper_is_white_with_all_tables(pages, opened):
    page = opened(pages('every shape of case'), SHEET, color_scheme='dark')
    ground = page.evaluate('getComputedStyle(document.body).backgroundColor')
    assert sum(map(int, re.findall(r'\d+', ground))) < 200, 'as dark as the system'
    page.emulate_media(media='print', color_scheme='dark')
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == 'rgb(255, 255, 255)'
    found = page.evaluate('''() => [...document.querySelectorAll('table')].map((one) => [
        one.id, one.checkVisibility(), one.getBoundingClientRect().right])''')
    assert len(found) > 15
    assert [name for name, visible, right in found if not visible or right > SHEET + 1] == []


def test_a_link_to_a_case_opens_what_it_is_in(pages, opened):
    page = opened(pages('one repeat'), 1280)
    page.locator('details:has(table.verdicts) > summary').click()
    page.locator('table.verdicts a').first.click()
    page.wait_for_function("document.querySelector('article.card').checkVisibility()")


def test_headings_go_down_one_level_at_a_time(pages):
    levels = [int(tag[1]) for tag in Tables(pages('every shape of case').read_text()).tags
              if re.fullmatch('h[1-6]', tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in zip(levels, levels[1:]))
