"""The page of osu-container report in a browser: drawn, legible, reachable by keyboard, and silent on the network."""
import csv
import io
import json
import re

import pytest

from osu_container.report import charts
from osu_container.results import files
from osu_container.results.example_runs import CASES, MORE_CASES, make_run
from tests.helpers.samples import one_of_each
from tests.report.test_report import APPROACHES, FAILURES, Tables, hostile_run, key, nobody_else, report  # noqa: F401, a fixture

pytestmark = [pytest.mark.long, pytest.mark.alone, pytest.mark.browser]

#: Points of CSS across a sheet of A4 between the margins of the style sheet (12 mm)
SHEET = round((210 - 24) / 25.4 * 96)
#: What is in the way of a person: errors, and warnings of the drawing library
LOUD = ('error', 'warning')


@pytest.fixture(scope='module')
def published_page(tmp_path_factory):
    """The page of the published results, as a file."""
    path = tmp_path_factory.mktemp('published') / 'report.html'
    assert report('--published', '-o', path) == 0
    return path


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
        for region, (_, least, most) in charts.ZOOMS.items():
            if name.endswith(f'-{region}'):
                rows = [row for row in rows if least <= row[1] <= most]
        if '"ratio:Q"' in json.dumps(data['specs'][chart['spec']]) or name.endswith('-ratio'):
            rows = [row for row in rows if row[3] is not None and row[1]]
        found[name] = len(rows)
    return found


@pytest.mark.parametrize('which', one_of_each(['run', 'published']))
def test_every_chart_is_drawn_with_a_mark_for_every_point(which, opened, run_page, published_page):
    page = opened(run_page if which == 'run' else published_page)
    count = page.draw_all()
    data = page.data()
    assert count == len(data['charts']) == page.page.locator('[data-chart] > svg, [data-chart] svg.marks').count()
    assert count >= (25 if which == 'run' else 300)
    wanted = expected_marks(data)
    assert page.marks() == wanted and min(wanted.values()) > 0


def test_charts_wait_until_they_are_near(opened, run_page):
    page = opened(run_page)
    page.page.wait_for_timeout(500)
    assert page.page.evaluate('osuReport.views.size') < page.page.evaluate('osuReport.count') / 2
    page.page.locator(f'[id="{key(CASES[1])}-chart"]').scroll_into_view_if_needed()
    page.page.locator(f'[id="{key(CASES[1])}-chart"] svg .mark-line').first.wait_for()


@pytest.mark.parametrize('case', CASES, ids=lambda case: case.title)
def test_values_that_a_reader_sees_are_those_of_the_run(case, opened, run_page):
    page = opened(run_page).page
    dataset = files.read(run_page.parent / 'run')
    table = page.locator(f'[id="{key(case)}-values"]')
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    names = table.locator('thead th').all_inner_texts()[1:]
    rows = table.locator('tbody tr').all()
    sizes = sorted({size for name in names for size in dataset.of(case, name)[0].sizes})
    assert len(rows) == len(sizes)
    for size, row in zip(sizes, rows):
        seen = [float(re.sub(r'\s', '', text.split('\n')[0])) for text in row.locator('td').all_inner_texts()]
        assert seen == pytest.approx([dataset.of(case, name)[0].median(size) for name in names], rel=0.006, abs=0.0051)


@pytest.mark.parametrize('scheme', ['light', 'dark'])
def test_page_and_charts_follow_the_theme(scheme, opened, run_page):
    page = opened(run_page, scheme=scheme)
    page.draw_all()
    colours = page.page.evaluate(f'''() => {{
        const plot = document.getElementById('{key(CASES[0])}-chart');
        const colour = (element, what) => getComputedStyle(element)[what];
        return {{
            body: colour(document.body, 'backgroundColor'), text: colour(document.body, 'color'),
            lines: [...plot.querySelectorAll('.mark-line path')].map((one) => colour(one, 'stroke')),
            label: colour(plot.querySelector('.role-axis-label text'), 'fill')}};
    }}''')

    def rgb(colour):
        return f"rgb({', '.join(str(int(colour[n:n + 2], 16)) for n in (1, 3, 5))})"
    own = [getattr(charts.APPROACHES[name], scheme) for name in APPROACHES]
    assert {rgb(colour) for colour in own} < set(colours['lines'])
    dark = sum(map(int, re.findall(r'\d+', colours['body']))) < 200
    assert dark == (scheme == 'dark')
    assert (sum(map(int, re.findall(r'\d+', colours['label']))) > 380) == dark


def test_theme_can_change_while_the_page_is_open(opened, run_page):
    page = opened(run_page).page
    page.evaluate('osuReport.drawAll().then(() => 0)')
    ask = f"getComputedStyle(document.querySelector('[id=\"{key(CASES[0])}-chart\"] .mark-line path')).stroke"
    light = page.evaluate(ask)
    page.emulate_media(color_scheme='dark')
    assert page.evaluate(ask) != light


@pytest.mark.parametrize('width, height', [(1280, 800), (390, 844)])
@pytest.mark.parametrize('which', one_of_each(['run', 'published']))
def test_the_first_screen_has_conclusion_and_picture(which, width, height, opened, run_page, published_page):
    page = opened(run_page if which == 'run' else published_page, width=width, height=height)
    page.page.locator('#first-0 svg .mark-line').first.wait_for()
    assert page.wide() <= 0 and page.page.evaluate('scrollY') == 0
    for what in ('h1', '.compared', '.conclusion', '.opening .legend', '#first-0 svg'):
        box = page.page.locator(what).first.bounding_box()
        assert box['height'] > 10 and 0 <= box['x'] and box['x'] + box['width'] <= width, what
        assert box['y'] + box['height'] <= height, what


@pytest.mark.parametrize('which', one_of_each(['run', 'published']))
def test_a_phone_shows_all_without_scrolling_sideways(which, opened, run_page, published_page):
    page = opened(run_page if which == 'run' else published_page, width=360)
    if which == 'run':
        page.draw_all()
    page.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.page.wait_for_timeout(500)
    assert page.wide() <= 0
    too_wide = page.page.evaluate('''() => [...document.querySelectorAll('[data-chart] svg')].filter(
        (one) => one.getBoundingClientRect().right > window.innerWidth).length''')
    assert too_wide == 0
    # a table that is wider than the screen scrolls in its own box, which a keyboard reaches
    assert page.page.evaluate('''() => [...document.querySelectorAll('.scroll')].every(
        (one) => one.tabIndex === 0 && one.getAttribute('aria-label')
                 && one.getBoundingClientRect().right <= window.innerWidth)''')


@pytest.mark.parametrize('which', one_of_each(['run', 'published']))
def test_print_has_every_table_and_cuts_none_off(which, opened, run_page, published_page, tmp_path):
    page = opened(run_page if which == 'run' else published_page, width=SHEET).page
    page.emulate_media(media='print')
    tables = page.evaluate('''() => [...document.querySelectorAll('table')].map((one) => {
        const box = one.getBoundingClientRect();
        return [one.id, box.width > 0 && box.height > 0 && one.checkVisibility(), box.right];
    })''')
    assert len(tables) > 30
    assert [name for name, visible, _ in tables if not visible] == []
    assert [(name, right) for name, _, right in tables if right > SHEET + 1] == []


def test_print_is_light_and_shows_the_pictures(opened, run_page, tmp_path):
    page = opened(run_page, scheme='dark', width=SHEET).page
    page.emulate_media(media='print', color_scheme='dark')
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == 'rgb(255, 255, 255)'
    stills = page.evaluate('''() => [...document.querySelectorAll('.panel')].map((panel) => {
        const still = panel.querySelector('.still'), plot = panel.querySelector('.plot');
        return [still.getBoundingClientRect().height > 50 && still.naturalWidth > 0, plot.checkVisibility()];
    })''')
    assert len(stills) == page.evaluate('osuReport.count') and set(map(tuple, stills)) == {(True, False)}
    pdf = page.pdf(format='A4')
    assert pdf.startswith(b'%PDF') and len(re.findall(rb'/Type\s*/Page\b', pdf)) > 10


def test_without_scripts_the_pictures_and_tables_are_there(opened, run_page):
    page = opened(run_page, java_script_enabled=False).page
    images = page.locator('img.still')
    assert images.count() == page.locator('[data-chart]').count() > 20
    assert images.first.is_visible() and images.first.bounding_box()['height'] > 100
    assert not page.locator('[data-chart]').first.is_visible()
    assert not page.locator('#download').is_visible()
    assert page.locator('table').first.is_visible()


@pytest.mark.parametrize('how', ['mouse', 'keyboard'])
def test_a_name_of_the_legend_hides_and_shows_its_curve(how, opened, run_page):
    page = opened(run_page)
    page.draw_all()
    card = page.page.locator(f'[data-card="{key(CASES[0])}"]')
    button = card.locator('[data-series="pure"]')
    before = page.marks()

    def press():
        if how == 'mouse':
            button.click()
        else:
            button.focus()
            page.page.keyboard.press('Enter')
        page.page.wait_for_timeout(200)
    press()
    assert button.get_attribute('aria-pressed') == 'false'
    hidden = page.marks()
    changed = {name for name in before if hidden[name] != before[name]}
    assert changed == {f'{key(CASES[0])}-{part}' for part in ('chart', 'ratio', 'small', 'rendezvous')}
    assert before[f'{key(CASES[0])}-chart'] - hidden[f'{key(CASES[0])}-chart'] == 23
    press()
    assert button.get_attribute('aria-pressed') == 'true' and page.marks() == before


def test_zoom_comes_nearer_and_goes_back(opened, run_page):
    page = opened(run_page).page
    page.evaluate('osuReport.drawAll().then(() => 0)')
    chart = f'{key(CASES[0])}-chart'
    ask = f"osuReport.views.get('{chart}').scale('x').domain()"
    card = page.locator(f'[data-card="{key(CASES[0])}"]')
    before = page.evaluate(ask)
    card.locator('[data-zoom="in"]').click()
    page.wait_for_timeout(200)
    nearer = page.evaluate(ask)
    assert before[0] < nearer[0] < nearer[1] < before[1]
    card.locator('[data-zoom="reset"]').click()
    page.wait_for_timeout(200)
    assert page.evaluate(ask) == pytest.approx(before)


def test_wheel_scrolls_the_page_and_zooms_with_control_only(opened, run_page):
    page = opened(run_page).page
    page.evaluate('osuReport.drawAll().then(() => 0)')
    chart = page.locator(f'[id="{key(CASES[0])}-chart"]')
    chart.scroll_into_view_if_needed()
    ask = f"osuReport.views.get('{key(CASES[0])}-chart').scale('x').domain()"
    before, at = page.evaluate(ask), page.evaluate('scrollY')
    chart.hover()
    page.mouse.wheel(0, 200)
    page.wait_for_timeout(300)
    assert page.evaluate(ask) == before and page.evaluate('scrollY') > at
    chart.hover()
    page.keyboard.down('Control')
    page.mouse.wheel(0, -200)
    page.keyboard.up('Control')
    page.wait_for_timeout(300)
    assert page.evaluate(ask) != before


def test_a_mark_tells_its_figures(opened, run_page):
    page = opened(run_page).page
    page.evaluate('osuReport.drawAll().then(() => 0)')
    dataset = files.read(run_page.parent / 'run')
    point = page.locator(f'[id="{key(CASES[0])}-chart"] .mark-symbol path').nth(23 + 22)  # pure at the largest size
    point.scroll_into_view_if_needed()
    point.hover(force=True)
    tip = page.locator('#vg-tooltip-element')
    tip.wait_for(state='visible')
    lines = dict(line.split('\t') for line in tip.inner_text().replace('\n\t', '\t').split('\n') if '\t' in line)
    text = tip.inner_text()
    assert 'pure' in text and '4 MiB' in text and 'worse' in text, lines
    series = dataset.of(CASES[0], 'pure')[0]
    value = float(re.search(r'median, MB/s\s+([\d,.]+)', text).group(1).replace(',', ''))
    assert value == pytest.approx(series.median(series.sizes[-1]), rel=0.001)


def test_csv_of_the_page_is_its_figures(opened, run_page):
    page = opened(run_page).page
    with page.expect_download() as waiting:
        page.locator('#download').click()
    rows = list(csv.DictReader(io.StringIO(open(waiting.value.path()).read())))
    dataset = files.read(run_page.parent / 'run')
    found = {(row['series'], row['case'], int(row['size'])): row for row in rows if row['dataset'] == dataset.name}
    for series in dataset.series:
        for size in series.sizes:
            if size or series.case.benchmark in ('osu_barrier', 'osu_init'):
                row = found.pop((series.name, series.case.title, size))
                low, high = series.extremes(size)
                assert [float(row[name]) for name in ('median', 'least', 'most')] == [series.median(size), low, high]
                assert int(row['repeats']) == len(series.values[size])
    assert found == {}


def test_the_policy_of_the_page_forbids_the_network(chromium, run_page):
    page = Opened(chromium, run_page)
    outcome = page.page.evaluate('''() => new Promise((done) => {
        document.addEventListener('securitypolicyviolation', (event) => done(event.effectiveDirective));
        fetch('https://example.org/').catch(() => 0);
    })''')
    assert outcome == 'connect-src'
    assert {url.partition(':')[0] for url in page.asked} == {'file'}
    page.context.close()


def test_foreign_text_does_nothing(opened, run_page, tmp_path):
    page = opened(run_page)  # a reason with <script>: a dialog or an error would be a complaint
    assert page.page.locator('table.failures script').count() == 0
    assert '<script>' in page.page.locator('table.failures').inner_text()
    assert report(hostile_run(tmp_path / 'run'), '-o', tmp_path / 'r.html') == 0
    other = opened(tmp_path / 'r.html')
    other.draw_all()
    assert other.page.locator('img:not(.still)').count() == 0


def test_a_link_to_a_closed_part_opens_it(opened, published_page):
    page = opened(published_page).page
    name = page.locator('details.group:not([open]) [data-card]').first.get_attribute('id')
    card = page.locator(f'[id="{name}"]')
    assert not card.is_visible()
    page.evaluate(f"location.hash = '{name}'")
    card.wait_for(state='visible')


def test_controls_are_reached_by_keyboard_in_order(opened, run_page):
    page = opened(run_page).page
    page.keyboard.press('Tab')
    assert page.evaluate('document.activeElement.className') == 'skip'
    seen = []
    for _ in range(60):
        page.keyboard.press('Tab')
        seen.append(page.evaluate("document.activeElement.dataset.series || document.activeElement.id || ''"))
    assert 'download' in seen and 'print' in seen and seen.index('download') < seen.index('print')


def test_headings_go_down_one_level_at_a_time(run_page):
    levels = [int(tag[1]) for tag in Tables(run_page.read_text()).tags if re.fullmatch('h[1-6]', tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in zip(levels, levels[1:]))
