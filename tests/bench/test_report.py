"""
osu-container report: what it says is what was measured; files are written whole, and over
nothing.
"""

import html
import html.parser
import re
import shlex
import statistics

import pytest

from osu_container import cli as command_line
from osu_container.bench.compare.statistics import compare_series
from osu_container.bench.report import charts, content, page
from osu_container.bench.report import cli as report_cli
from osu_container.bench.results import model, references, run_files
from osu_container.bench.results.model import Case
from tests.helpers.example_runs import MORE_CASES, RUN, make_run

pytestmark = pytest.mark.system

APPROACHES = ('native', 'pure', 'bind', 'hybrid', 'opensource')
HOSTILE = (
    "PMI: <script>alert('x')</script> & \"no key-value store\" | `rm` ; remedy: srun --mpi=pmi2"
)
FAILURES = [
    ('bind', MORE_CASES[2], HOSTILE),
    ('opensource', MORE_CASES[4], 'skipped: no GPU on this machine'),
]


class Tables(html.parser.HTMLParser):
    """
    The tables of a page: {id: [[texts of a cell]]}, its tags, and its attributes [(tag, {name:
    value})].
    """

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tables, self.tags, self.attributes = {}, [], []
        self._rows = self._cell = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append(tag)
        self.attributes.append((tag, attrs))
        if tag == 'table':
            self._rows = self.tables[attrs['id']] = []
        elif tag == 'tr':
            self._rows.append([])
        elif tag in ('th', 'td'):
            self._cell = []
            self._rows[-1].append(self._cell)

    def handle_endtag(self, tag):
        if tag in ('table', 'thead', 'caption'):
            self._cell = None

    def handle_data(self, data):
        if self._cell is not None and data.strip():
            self._cell.append(data.strip())


def report(*arguments):
    """Run `osu-container report` in this process; return its exit code."""
    return command_line.main(['report', *map(str, arguments)])


@pytest.fixture(scope='module')
def run_folder(tmp_path_factory):
    """A run of five approaches with repeats, failures and every shape of case."""
    return make_run(
        tmp_path_factory.mktemp('run'),
        approaches=APPROACHES,
        cases=MORE_CASES,
        failures=FAILURES,
        repeats=3,
        scale={'pure': 0.1, 'opensource': 1.4},
        programs='</script><img src=x onerror=alert(1)>',
    )


@pytest.fixture(scope='module')
def report_page(run_folder, tmp_path_factory):
    """The page of that run (str)."""
    path = tmp_path_factory.mktemp('report') / 'report.html'
    assert report(run_folder, '-o', path) == 0
    return path.read_text()


@pytest.fixture(scope='module')
def dataset(run_folder):
    return run_files.read_results(run_folder)


@pytest.fixture(scope='module')
def parsed_page(report_page):
    return Tables(report_page)


KEY = '20261121t131244z'


def find_series(dataset, case, name):
    return dataset.select_series(case, name)[0]


@pytest.mark.parametrize('case', MORE_CASES, ids=lambda case: case.title)
def test_values_are_medians_with_ratio_verdict_and_spread(case, dataset, parsed_page):
    head, *rows = parsed_page.tables[f'{KEY}-{content.slugify(case.title)}-values']
    names = [name for name in APPROACHES if dataset.select_series(case, name)]
    assert head[1:] == [[name] for name in names] and len(rows) == len(
        find_series(dataset, case, 'native').sizes
    )
    for column, name in enumerate(names, 1):
        series = find_series(dataset, case, name)
        points = compare_series(series, find_series(dataset, case, 'native'), paired=True).points
        for point, row in zip(points, rows):
            values = series.values[point.size].values()
            spread = model.format_ratio(
                100 * (max(values) - min(values)) / statistics.median(values)
            )
            against = (
                [] if name == 'native' else [f'{model.format_ratio(point.ratio)} {point.verdict}']
            )
            assert row[column] == [
                model.format_ratio(statistics.median(values)),
                *against,
                f'{spread} %',
            ]


def test_verdict_table_equals_compare_output(dataset, parsed_page):
    head, *rows = parsed_page.tables[f'{KEY}-verdicts']
    assert head[1:] == [[name] for name in APPROACHES[1:]]
    assert [title for (title,), *_ in rows] == [case.title for case in MORE_CASES]
    for case, row in zip(MORE_CASES, rows):
        for name, (text, *more) in zip(APPROACHES[1:], row[1:]):
            if not dataset.select_series(case, name):
                assert not more and not re.search('worse|better|same', text)
                continue
            one = compare_series(
                find_series(dataset, case, name), find_series(dataset, case, 'native'), paired=True
            )
            assert text == one.format_curve_verdict() and more[0].partition(' ')[
                0
            ] == model.format_ratio(one.find_furthest_point().ratio)


def test_failures_are_shown_with_reason_and_repeats(parsed_page, dataset):
    _, *rows = parsed_page.tables[f'{KEY}-failures']
    assert [[text for (text,) in row[:5]] for row in rows] == [
        [MORE_CASES[2].title, f'bind, {dataset.name}', 'failed', HOSTILE, '1-3'],
        [MORE_CASES[4].title, f'opensource, {dataset.name}', 'skipped', FAILURES[1][2], '1-3'],
    ]


def test_page_escapes_foreign_text_and_loads_no_resources(report_page, parsed_page):
    assert (
        html.escape('<script>alert') in report_page
        and html.escape('</script><img src=x') in report_page
    )
    assert not {'script', 'img', 'link', 'iframe', 'object', 'base', 'form'} & set(parsed_page.tags)
    assert not [
        attrs
        for tag, attrs in parsed_page.attributes
        if 'src' in attrs or any(name[:2] == 'on' for name in attrs)
    ]
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', report_page).group(1)
    assert policy.startswith("default-src 'none'; style-src") and 'script-src' not in policy


@pytest.mark.parametrize(
    'arguments, word',
    [
        (['RUN'], '--picture'),
        (['-o', 'OUT/r.html'], '--published'),
        (['RUN', '--published', '-o', 'OUT/r.html'], '--published'),
        (['RUN', 'RUN', '-o', 'OUT/r.html'], f'{RUN}, {RUN}'),
        (['RUN', '-o', 'OUT'], 'folder'),
        (['nothing-here', '-o', 'OUT/r.html'], 'nothing-here'),
    ],
)
def test_wrong_arguments_write_nothing(arguments, word, run_folder, tmp_path, capsys):
    words = [one.replace('RUN', str(run_folder)).replace('OUT', str(tmp_path)) for one in arguments]
    assert report(*words) == 1
    assert word in capsys.readouterr().err and list(tmp_path.iterdir()) == []


def test_a_run_without_native_has_no_ratios(tmp_path):
    folder = make_run(tmp_path / 'run', approaches=('pure', 'hybrid'), repeats=2)
    assert report(folder, '-o', tmp_path / 'r.html') == 0
    text = (tmp_path / 'r.html').read_text()
    assert re.search(rf'{RUN} [^<]*\bnative\b', text)
    assert not [name for name in Tables(text).tables if name.endswith('-verdicts')]


def test_series_of_several_runs_carry_the_name_of_their_run(tmp_path):
    one = make_run(tmp_path / 'one', approaches=('native', 'pure'), repeats=2)
    two = make_run(
        tmp_path / 'two', approaches=('native', 'hybrid'), repeats=2, run='20261122T090000Z'
    )
    for view in content.build_section(
        'Runs', [run_files.read_results(one), run_files.read_results(two)]
    ).views:
        first, pure, second, hybrid = view.curves
        assert [curve.name for curve in view.curves] == [
            'native, 20261121T131244Z',
            'pure',
            'native, 20261122T090000Z',
            'hybrid',
        ]
        assert (
            len({(curve.style.shape, curve.style.dash) for curve in view.curves}) == 4
        )  # told apart without colour
        # each is compared with the native of its own run
        assert pure.comparison.b is first.series and hybrid.comparison.b is second.series


def test_foreign_output_lines_are_shown(tmp_path):
    path = make_run(tmp_path / 'run', repeats=2) / run_files.RESULTS_FILE
    path.write_text(path.read_text().replace('"broken": []', '"broken": ["4096 12srun: .5"]'))
    assert report(path.parent, '-o', tmp_path / 'r.html') == 0
    text = (tmp_path / 'r.html').read_text()
    assert '12srun: .5' in text


def test_the_page_has_proof_environment_and_commands(report_page, dataset, parsed_page):
    assert shlex.join(['osu-container', *dataset.facts['command']]) in report_page
    assert (
        dataset.facts['project']['commit'] in report_page
        and 'srun -N2 -n2 osu_bw H H' in report_page
    )
    _, *proof = parsed_page.tables[f'{KEY}-proof']
    assert ['MPICH 4.2.3 (image)'] in [
        row[1] for row in proof if row[0] == ['osu-container/hybrid']
    ]
    for entry in dataset.modules.values():
        assert f"module load {entry['name']}" in report_page
        if entry['container']:
            assert entry['image']['sha256'] in report_page


def test_page_qualifies_verdicts_of_few_repeats(tmp_path):
    for repeats in (1, 2, 5):
        run_of = make_run(tmp_path / 'run', repeats=repeats, scale={'hybrid': 0.2}, noise=0.001)
        assert report(run_of, '-o', tmp_path / 'r.html', '--force') == 0
        text = (tmp_path / 'r.html').read_text()
        assert (f'{repeats} repeats' in text, 'probably' in text) == (repeats > 1, repeats < 5)
        (run_of / run_files.RESULTS_FILE).unlink()


def test_noisy_run_shows_libraries_and_no_verdicts(tmp_path):
    folder = make_run(tmp_path / 'run', repeats=2, noise=0.9)
    assert report(folder, '-o', tmp_path / 'r.html') == 0
    text = (tmp_path / 'r.html').read_text()
    assert 'class="too-noisy"' in text and not re.search(
        '-verdicts"|probably|worse', text[text.index('<body') :]
    )
    assert text.index(f'id="{KEY}-proof"') < text.index('<svg class="plot"')


def test_command_is_the_title_of_its_report(tmp_path):
    case = Case('$ lmp -in x', '', 2, 2, 's: time of the step')
    folder = make_run(tmp_path / 'run', cases=[case], sizes=[0])
    assert report(folder, '-o', tmp_path / 'r.html') == 0
    assert '<h1>lmp -in x</h1>' in (tmp_path / 'r.html').read_text()


def test_page_shows_no_date_that_the_output_lacks(tmp_path):
    output = tmp_path / 'out.txt'
    output.write_text(
        '# OSU MPI Bandwidth Test v7.3\n# Size      Bandwidth (MB/s)\n1 2.5\n2 5.1\n4 10.0\n'
    )
    assert report(output, '-o', tmp_path / 'r.html') == 0
    told = re.search(r'<p class="measured">(.*?)</p>', (tmp_path / 'r.html').read_text()).group(1)
    assert 'out.txt' in told and not re.search(r'\b20\d\d-', told)


def test_a_picture_is_as_wide_as_a_column(run_folder, tmp_path):
    path = tmp_path / 'picture.svg'
    assert report(run_folder, '--picture', path) == 0
    text = path.read_text()
    assert (
        re.search(r'<svg[^>]* width="3\.5in"', text)
        and text.count('<polyline') == 3 * len(APPROACHES) - 1
    )
    for part in ('osu_bw H H', 'MB/s', *APPROACHES):
        assert part in text


@pytest.mark.parametrize(
    'least, most', [(1, 1.01), (3, 9), (2.2, 2.2), (0.004, 22000), (1e-30, 1e30)]
)
def test_a_logarithmic_axis_has_a_few_round_numbers(least, most):
    found = charts._compute_ticks(least / 1.06, most * 1.06)
    assert 2 <= len(found) <= 8 and all(
        float(f'{one:.2g}') == pytest.approx(one, rel=1e-9) for one in found
    )


# ---- published figures -----------------------------------------------------------------------------------------------


def test_published_page_is_small_and_has_every_curve():
    published = report_cli.build_published_report()
    shown = {
        (curve.dataset.name, curve.series.case, curve.series.name)
        for section in published.sections
        for view in section.views
        for curve in view.curves
    }
    assert shown == {
        (one.name, series.case, series.name)
        for one in references.list_published_datasets()
        for series in one.series
    }
    text = page.render_page(published)
    assert len(text.encode()) < 1_500_000 and text.count('<svg class="plot"') > 180
    assert text.count('<details class="trouble">') > 2


def test_only_user_troubles_appear_beside_published_curves(tmp_path):
    slow = run_files.read_results(
        make_run(tmp_path / 'slow', site='lumi-25.03', scale={'hybrid': 0.15})
    )
    text = page.render_page(
        content.Report(
            'x', [content.build_section('x', [slow, references.read_dataset('lumi-g-2025-03')])]
        )
    )
    (found,) = re.findall('<details class="trouble">.*?</details>', text, re.DOTALL)
    assert f'{slow.name}:hybrid' in found and 'FI_PROVIDER=cxi' in found


# ---- in a browser

#: What is wider than its place. A table may be as wide as its part of the page, not wider
CUT_OFF = '''() => [...document.querySelectorAll('main > *, main > details > *')].filter((one) =>
    one.checkVisibility() &&
    one.getBoundingClientRect().right > document.documentElement.clientWidth + 1).map((one) => one.outerHTML)'''


@pytest.mark.parametrize('width', [1280, 390])
def test_a_page_fits_the_screen_and_draws_its_curves(width, chromium, tmp_path):
    path, asked = tmp_path / 'page.html', []
    folder = make_run(
        tmp_path / 'run', approaches=APPROACHES, cases=MORE_CASES, failures=FAILURES, repeats=3
    )
    assert report(folder, '-o', path) == 0
    context = chromium.new_context(viewport={'width': width, 'height': 900})
    page = context.new_page()
    page.on('console', lambda message: asked.append(message.text))
    page.on('request', lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert page.evaluate(CUT_OFF) == []
    drawn = page.evaluate('''() => [...document.querySelectorAll('svg.plot polyline')].map((curve) =>
        curve.points.length > 1 && getComputedStyle(curve).stroke !== 'none')''')
    assert len(drawn) > 40 and all(drawn)
    context.close()
    assert asked == [path.as_uri()]
