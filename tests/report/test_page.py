"""The page of osu-container report in a browser: drawn, legible, reachable by keyboard, and silent on the network."""
import json
import re

import pytest

from tests.helpers.example_runs import CASES, MORE_CASES, make_run
from tests.report.test_report import APPROACHES, FAILURES, Tables, hostile_run, key, nobody_else, report  # noqa: F401, a fixture

pytestmark = [pytest.mark.long, pytest.mark.alone, pytest.mark.browser]

#: Points of CSS across a sheet of A4 between the margins of the style sheet (12 mm)
SHEET = round((210 - 24) / 25.4 * 96)
#: What is in the way of a person: errors, and warnings of the drawing library
LOUD = ('error', 'warning')


@pytest.fixture(scope='module')
def run_page(tmp_path_factory):
    """The page of a run with every shape of case, as a file."""
    out = tmp_path_factory.mktemp('page')
    make_run(out / 'run', approaches=APPROACHES, cases=MORE_CASES, failures=FAILURES, repeats=3,
             scale={'pure': 0.1, 'opensource': 1.4})
    assert report(out / 'run', '-o', out / 'report.html', '--reference', 'lumi-g-2025-03') == 0
    return out / 'report.html'


class Opened:
    """A page in the chromium, with what it said and what it asked for."""

    def __init__(self, chromium, path, *, scheme='light', width=1200, height=900, **options):
        self.context = chromium.new_context(viewport={'width': width, 'height': height}, color_scheme=scheme, **options)
        self.page = self.context.new_page()
        self.said, self.asked = [], []
        self.page.on('console', lambda message: self.said.append((message.type, message.text)))
        self.page.on('pageerror', lambda error: self.said.append(('error', str(error))))
        self.page.on('dialog', lambda dialog: self.said.append(('error', f'dialog: {dialog.message}')))
        self.page.on('request', lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())

    def draw_all(self):
        """Draw every chart; return how many there are."""
        return self.page.evaluate('osuReport.drawAll().then(() => osuReport.count)')

    def data(self):
        """Return the data of the page (dict)."""
        return json.loads(self.page.locator('#report-data').text_content())

    def marks(self):
        """Return {key of a chart: number of the marks of its points}."""
        return self.page.evaluate('''() => Object.fromEntries([...document.querySelectorAll('[data-chart]')].map(
            (plot) => [plot.dataset.chart, plot.querySelectorAll('svg .mark-symbol path').length]))''')

    def wide(self):
        """Return how many points of CSS the page is wider than the window."""
        return self.page.evaluate('document.documentElement.scrollWidth - window.innerWidth')


@pytest.fixture
def opened(chromium):
    """Return a function that opens a page; all are closed in the end, and none may have complained or gone out."""
    pages = []

    def open_page(path, **options):
        pages.append(Opened(chromium, path, **options))
        return pages[-1]
    yield open_page
    for one in pages:
        one.context.close()
        assert [message for message in one.said if message[0] in LOUD] == []
        assert {url.partition(':')[0] for url in one.asked} <= {'file', 'data', 'blob'}


def expected_marks(data):
    """Return {key of a chart: number of points that it must show} from the data of a page."""
    found = {}
    for name, chart in data['charts'].items():
        card = data['cards'][chart['card']]
        rows = [row for row in card['rows'] if card['curves'][row[0]][0] not in card['hidden']]
        if '"ratio:Q"' in json.dumps(data['specs'][chart['spec']]) or name.endswith('-ratio'):
            rows = [row for row in rows if row[3] is not None and row[1]]
        found[name] = len(rows)
    return found


def test_every_chart_is_drawn_in_the_window_and_the_page_asks_for_nothing(opened, run_page):
    page = opened(run_page, width=390, height=844, scheme='dark')
    page.page.locator('#first-0 svg .mark-line').first.wait_for()
    for what in ('h1', '.conclusion', '#first-0 svg'):  # on the first screen
        box = page.page.locator(what).first.bounding_box()
        assert box['height'] > 10 and box['y'] + box['height'] <= 844, what
    count, data = page.draw_all(), page.data()
    assert count == len(data['charts']) >= 15
    wanted = expected_marks(data)
    assert page.marks() == wanted and min(wanted.values()) > 0
    page.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert page.wide() <= 0
    ground = page.page.evaluate('getComputedStyle(document.body).backgroundColor')
    assert sum(map(int, re.findall(r'\d+', ground))) < 200, 'as dark as the system'
    # a reason with <script>: a dialog or an error would be a complaint
    assert page.page.locator('table.failures script').count() == 0
    assert '<script>' in page.page.locator('table.failures').inner_text()


def test_a_name_of_the_legend_hides_a_curve(opened, run_page):
    page = opened(run_page)
    page.draw_all()
    before = page.marks()
    button = page.page.locator(f'[data-card="{key(CASES[0])}"] [data-series="pure"]')
    button.focus()
    page.page.keyboard.press('Enter')
    page.page.wait_for_timeout(200)
    hidden = page.marks()
    assert {name for name in before if hidden[name] != before[name]} == {
        f'{key(CASES[0])}-{part}' for part in ('chart', 'ratio')}


def test_without_scripts_and_on_paper_the_tables_are_there(opened, run_page):
    page = opened(run_page, java_script_enabled=False, scheme='dark', width=SHEET).page
    assert not page.locator('[data-chart]').first.is_visible()
    page.emulate_media(media='print', color_scheme='dark')
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == 'rgb(255, 255, 255)'
    tables = page.evaluate('''() => [...document.querySelectorAll('table')].map((one) => [
        one.id, one.checkVisibility(), one.getBoundingClientRect().right])''')
    assert len(tables) > 30
    assert [name for name, visible, right in tables if not visible or right > SHEET + 1] == []


def test_headings_go_down_one_level_at_a_time(run_page):
    levels = [int(tag[1]) for tag in Tables(run_page.read_text()).tags if re.fullmatch('h[1-6]', tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in zip(levels, levels[1:]))
