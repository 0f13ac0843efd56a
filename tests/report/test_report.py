"""osu-container report: what it says is what was measured; files are written whole, and over nothing."""
import csv
import html
import html.parser
import io
import json
import math
import re
import shlex
import statistics
import sys

import altair
import pytest

from osu_container import cli as command_line
from osu_container import compare
from osu_container.core import terminal
from osu_container.report import charts, content, export, first, page, tables
from osu_container.report import cli as report_cli
from osu_container.results import references, run_files
from osu_container.results.model import Case
from tests.helpers.example_runs import CASES, MORE_CASES, make_run
from tests.helpers.machine import PROJECT, run

pytestmark = [pytest.mark.long, pytest.mark.alone]

APPROACHES = ('native', 'pure', 'bind', 'hybrid', 'opensource')
HOSTILE = "PMI: <script>alert('x')</script> & \"no key-value store\" | `rm` ; remedy: srun --mpi=pmi2"
FAILURES = [('bind', MORE_CASES[2], HOSTILE), ('opensource', MORE_CASES[6], 'skipped: no GPU on this machine')]
NUMBER = re.compile(r'[\u202f,]')


class Tables(html.parser.HTMLParser):
    """The tables of a page: {id: {'caption', 'scopes', 'rows': [[(text, [values of <data>])]]}}, and all tags."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tables, self.tags, self.attributes = {}, [], []
        self._table = self._row = self._cell = None
        self._caption = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append(tag)
        self.attributes.append((tag, attrs))
        if tag == 'table':
            self._table = self.tables[attrs['id']] = {'caption': '', 'scopes': [], 'rows': [], 'class': attrs['class']}
        elif tag == 'caption':
            self._caption = True
        elif tag == 'tr':
            self._row = []
            self._table['rows'].append(self._row)
        elif tag in ('th', 'td'):
            self._cell = ['', []]
            self._row.append(self._cell)
            if tag == 'th':
                self._table['scopes'].append(attrs.get('scope'))
        elif tag == 'data' and self._cell is not None:
            self._cell[1].append(float(attrs['value']))

    def handle_endtag(self, tag):
        if tag == 'caption':
            self._caption = False
        elif tag in ('th', 'td'):
            self._cell = None

    def handle_data(self, data):
        if self._caption:
            self._table['caption'] += data
        elif self._cell is not None:
            self._cell[0] += data


def report(*arguments):
    """Run `osu-container report` in this process; return its exit code."""
    return command_line.main(['report', *map(str, arguments)])


@pytest.fixture(autouse=True)
def nobody_else(monkeypatch, tmp_path):
    """References that the user of this machine added are none of the tests'."""
    monkeypatch.setenv('XDG_DATA_HOME', str(tmp_path / 'data'))
    monkeypatch.delenv(references.SITE_VARIABLE, raising=False)
    monkeypatch.setenv('OSU_CONTAINER_RESULTS', str(tmp_path / 'results'))


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """A run of five approaches with repeats, failures and every shape of case."""
    return make_run(tmp_path_factory.mktemp('run'), approaches=APPROACHES, cases=MORE_CASES, failures=FAILURES,
                    repeats=3, scale={'pure': 0.1, 'opensource': 1.4})


@pytest.fixture(scope='module')
def made(folder, tmp_path_factory):
    """The report of that run: folder with report.html and report.csv."""
    out = tmp_path_factory.mktemp('report')
    code = report(folder, '-o', out / 'report.html', '--csv', out / 'report.csv', '--reference', 'lumi-g-2025-03')
    assert code == 0
    return out


@pytest.fixture(scope='module')
def dataset(folder):
    return run_files.read(folder)


@pytest.fixture(scope='module')
def shown(made):
    return Tables((made / 'report.html').read_text())


def key(case, run='20261121T131244Z'):
    return f'{content.slug(run)}-{content.slug(case.title)}'


def of(dataset, case, name):
    return dataset.of(case, name)[0]


@pytest.mark.parametrize('case', MORE_CASES, ids=lambda case: case.title)
def test_values_of_a_case_are_the_medians_of_the_run_with_ratio_and_verdict(case, dataset, shown):
    table = shown.tables[key(case) + '-values']
    head, *rows = table['rows']
    names = [text for text, _ in head[1:]]
    assert names == [name for name in APPROACHES if dataset.of(case, name)]
    sizes = sorted({size for name in names for size in of(dataset, case, name).sizes})
    assert len(rows) == len(sizes)
    native = of(dataset, case, 'native')
    for size, row in zip(sizes, rows):
        for name, (text, values) in zip(names, row[1:]):
            series = of(dataset, case, name)
            assert values[0] == statistics.median(series.values[size].values()), (case, name, size)
            shown_number = float(NUMBER.sub('', text.split(' ')[0]))
            assert shown_number == pytest.approx(values[0], rel=0.006, abs=0.0051)
            if name == 'native':
                assert values[1:] == []
                continue
            comparison = compare.compare_series(series, native, paired=True)
            point = next(one for one in comparison.points if one.size == size)
            each = [math.log(value / native.values[size][repeat]) for repeat, value in series.values[size].items()]
            assert values[1] == point.ratio == pytest.approx(math.exp(statistics.median(each)))
            assert tables.VERDICTS[point.verdict] in text


def test_summary_has_every_series_and_buffers_of_a_benchmark(dataset, shown):
    table = shown.tables['20261121t131244z-summary-osu-bw-two-nodes']
    groups, head, *rows = table['rows']
    assert [text for text, _ in groups if text] == ['H H', 'D D']
    assert [row[0][0] for row in rows] == list(APPROACHES)
    native = of(dataset, CASES[0], 'native')
    peak = max(native.sizes, key=native.median)
    for row in rows:
        series = of(dataset, CASES[0], row[0][0])
        assert [cell[1][0] for cell in row[1:3]] == [series.median(1), series.median(peak)]
    # what failed is not passed over
    assert [text for text, _ in rows[APPROACHES.index('bind')][3:]] == ['failed', 'failed']


def test_verdicts_over_all_sizes_are_those_of_compare(dataset, shown):
    head, *rows = shown.tables['20261121t131244z-verdicts']['rows']
    names = [text for text, _ in head[1:]]
    assert names == list(APPROACHES[1:])
    by_title = {case.title: case for case in MORE_CASES}
    found = set()
    for row in rows:
        case = by_title[row[0][0]]
        for name, (text, _) in zip(names, row[1:]):
            if not dataset.of(case, name):
                assert text in ('failed', 'skipped')
                continue
            verdict = compare.compare_series(of(dataset, case, name), of(dataset, case, 'native'), paired=True).verdict
            assert tables.VERDICTS[verdict] in text
            found.add(verdict)
    assert {'worse', 'better'} <= found and len(rows) == len(MORE_CASES)


def test_failures_are_shown_with_reason_and_repeats(shown):
    _, *rows = shown.tables['20261121t131244z-failures']['rows']
    found = {(row[0][0], row[1][0]): [text for text, _ in row[2:5]] for row in rows}
    assert found == {(MORE_CASES[2].title, 'bind'): ['failed', '1 to 3', HOSTILE],
                     (MORE_CASES[6].title, 'opensource'): ['skipped', '1 to 3', FAILURES[1][2]]}


def test_foreign_text_stays_text(made, shown):
    assert shown.tags.count('script') == 3  # the library, our script and the data: none from the reason
    text = (made / 'report.html').read_text()
    assert '<script>alert' not in text


def hostile_run(folder):
    """Return a run whose names, programs and commands are full of markup, as a broken file may have them."""
    make_run(folder, cases=CASES, repeats=2, programs='</script><img src=x onerror=alert(1)>', site='"><b>here</b>')
    return folder


def test_foreign_text_cannot_leave_the_data_of_the_page(tmp_path):
    assert report(hostile_run(tmp_path / 'run'), '-o', tmp_path / 'r.html') == 0
    parsed = Tables((tmp_path / 'r.html').read_text())
    assert parsed.tags.count('script') == 3
    assert 'b' not in parsed.tags and 'x' not in [attrs.get('src') for _, attrs in parsed.attributes]


def test_page_asks_nothing_of_the_network(made):
    text = (made / 'report.html').read_text()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text).group(1)
    assert "default-src &#39;none&#39;" in policy and 'unsafe-eval' not in policy
    parsed = Tables(text)
    for tag, attrs in parsed.attributes:
        for name in ('src', 'href', 'srcset', 'data', 'action'):
            if name in attrs and tag != 'a':
                assert attrs[name].startswith('data:'), (tag, attrs[name][:80])


def test_csv_holds_every_value_of_every_repeat(made, dataset):
    rows = list(csv.DictReader(io.StringIO((made / 'report.csv').read_text())))
    assert tuple(rows[0]) == export.CSV
    found = {}
    for row in rows:
        if row['dataset'] == dataset.name:
            case = Case(row['benchmark'], row['buffers'], int(row['nodes']), int(row['ranks']), row['variant'])
            values = found.setdefault((case, row['series']), {}).setdefault(int(row['size']), {})
            assert int(row['repeat']) not in values
            values[int(row['repeat'])] = float(row['value'])
            assert row['unit'] == case.unit
    assert found == {(one.case, one.name): one.values for one in dataset.series}
    behind = {row['series'] for row in rows if row['dataset'] == 'lumi-g-2025-03'}
    assert behind == {'native'}


@pytest.mark.parametrize('typed', [['-'], []], ids=['-', 'without FILE'])
def test_values_are_printed_where_no_file_is_named(typed, folder, made, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert report(folder, '--reference', 'lumi-g-2025-03', '--csv', *typed) == 0
    written = terminal.lines((made / 'report.csv').read_text())  # what is printed is made safe for a terminal
    assert capsys.readouterr().out.split() == written.split()
    assert list(tmp_path.iterdir()) == []


def test_a_drawing_library_that_cannot_be_had_is_an_error_not_a_page_without_charts(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(charts, 'VEGA_LITE', '0.1')
    assert report(make_run(tmp_path / 'run', cases=(Case('osu_barrier', '', 2, 8),), repeats=1,
                           failures=[(name, Case('osu_barrier', '', 2, 8), 'no') for name in APPROACHES]),
                  '-o', tmp_path / 'r.html') == 1
    assert 'gave no Vega-Lite 0.1' in capsys.readouterr().err and not (tmp_path / 'r.html').exists()


@pytest.mark.parametrize('arguments, word', [
    (['RUN'], 'nothing to write'),
    (['-o', 'OUT/r.html'], 'name runs, or --published'),
    (['RUN', '--published', '-o', 'OUT/r.html'], 'not both'),
    (['--published', '--reference', 'lumi-g-2025-03', '-o', 'OUT/r.html'], '--published chooses'),
    (['RUN', '--reference', 'nowhere', '-o', 'OUT/r.html'], 'there is no reference nowhere'),
    (['RUN', 'RUN', '-o', 'OUT/r.html'], 'named twice'),
    (['RUN', '-o', 'OUT/r', '--csv', 'OUT/r'], 'named twice'),
    (['RUN', '-o', 'OUT'], 'or a folder'),
    (['RUN', '-o', 'OUT/none/r.html'], 'there is no folder'),
    (['nothing-here', '-o', 'OUT/r.html'], 'neither a run'),
    (['RUN', '--picture', 'OUT/r.png'], 'must end in .svg or .pdf'),
    (['RUN', '--case', 'osu_bw', '-o', 'OUT/r.html'], 'name a picture'),
    (['RUN', '--picture', 'OUT/r.svg', '--case', 'osu_nothing'], 'nothing of that name was measured, only osu_bw H H'),
    (['RUN', '--picture', 'OUT/r.svg', '--case', 'osu_barrier*'], 'has one number and no message sizes'),
    (['RUN', '--picture', 'OUT/r.svg', '--csv', 'OUT/r.caption.txt'], 'named twice'),
])
def test_what_cannot_be_is_said_before_anything_is_written(arguments, word, folder, tmp_path, capsys):
    words = [one.replace('RUN', str(folder)).replace('OUT', str(tmp_path)) for one in arguments]
    assert report(*words) == 1
    assert word in capsys.readouterr().err and list(tmp_path.iterdir()) == []


def test_run_without_native_says_so_and_has_no_ratios(tmp_path):
    folder = make_run(tmp_path / 'run', approaches=('pure', 'hybrid'), cases=CASES, repeats=2)
    assert report(folder, '-o', tmp_path / 'r.html') == 0
    text = (tmp_path / 'r.html').read_text()
    parsed = Tables(text)
    assert 'has no native series' in text
    assert not [name for name in parsed.tables if name.endswith('-verdicts')]
    for table in parsed.tables.values():
        assert all(len(values) <= 1 for row in table['rows'] for _, values in row)


def test_series_of_several_runs_carry_the_name_of_their_run_where_they_collide(tmp_path):
    one = make_run(tmp_path / 'one', approaches=('native', 'pure'), cases=CASES, repeats=2)
    two = make_run(tmp_path / 'two', approaches=('native', 'hybrid'), cases=CASES, repeats=2, seed=2,
                   run='20261122T090000Z')
    datasets = [run_files.read(one), run_files.read(two)]
    section = content.section('Runs', datasets)
    wanted = ['native, 20261121T131244Z', 'pure', 'native, 20261122T090000Z', 'hybrid']
    assert section.names == wanted
    assert first.compared(section).startswith('Compared: pure and hybrid against native; 2 cases')
    for view in section.views:
        assert [curve.name for curve in view.shown] == wanted
        styles = [(curve.style.shape, curve.style.dash) for curve in view.shown]
        assert len(set(styles)) == len(styles)  # told apart without colour
        by_name = {curve.name: curve for curve in view.shown}
        # each is compared with the native of its own run
        assert by_name['pure'].comparison.b is by_name[wanted[0]].series
        assert by_name['hybrid'].comparison.b is by_name[wanted[2]].series
    assert report(one, two, '-o', tmp_path / 'r.html') == 0


def test_a_reference_of_the_user_stands_behind_and_can_be_shown_itself(folder, tmp_path):
    references.add(folder, 'mine-2026')
    plain = make_run(tmp_path / 'run', approaches=('pure',), cases=CASES, repeats=1)
    assert report(plain, '-o', tmp_path / 'r.html') == 0  # it is of the same site, so it is taken by itself
    text = (tmp_path / 'r.html').read_text()
    assert 'native, mine-2026' in text
    row = next(row for row in Tables(text).tables['sources']['rows'] if row[0][0] == 'mine-2026')
    assert str(folder) in row[2][0]
    assert report('mine-2026', '-o', tmp_path / 'itself.html') == 0


def rewrite(folder, change):
    """Change the measurements of a run by a function of (line as dict)."""
    path = folder / run_files.NAME
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        if line['kind'] == 'measurement':
            change(line)
    path.write_text(''.join(json.dumps(line) + '\n' for line in lines))


def test_a_broken_promise_is_shown_in_words(tmp_path):
    folder = make_run(tmp_path / 'run', cases=CASES, repeats=2)

    def other_libmpi(line):
        if line['approach'] == 'hybrid' and line['repeat'] == 2:
            line['proof'][0]['libraries']['libmpi'].update(where='host', path='/opt/cray/libmpi.so.12')
    rewrite(folder, other_libmpi)
    assert report(folder, '-o', tmp_path / 'r.html') == 0
    parsed = Tables((tmp_path / 'r.html').read_text())
    rows = [[text for text, _ in row] for row in parsed.tables['20261121t131244z-proof']['rows']]
    broken = [row for row in rows if any('BROKEN' in text for text in row)]
    assert len(broken) == 1
    assert 'BROKEN: promised that of the image' in broken[0] and '/opt/cray/libmpi.so.12' in broken[0]
    assert any('in 2 of 4 measurements' in text for text in broken[0])
    assert 'A promise was broken' in (tmp_path / 'r.html').read_text()


def test_a_promised_library_that_no_rank_loaded_is_a_broken_promise(tmp_path):
    folder = make_run(tmp_path / 'run', cases=CASES[:1], repeats=1)
    rewrite(folder, lambda line: line['proof'][0]['libraries'].pop('libfabric'))
    assert report(folder, '-o', tmp_path / 'r.html') == 0
    rows = Tables((tmp_path / 'r.html').read_text()).tables['20261121t131244z-proof']['rows']
    assert ['not loaded', 'BROKEN: promised that of the image'] in [[text for text, _ in row[-5:-3]] for row in rows]


def test_measurements_without_proof_and_foreign_lines_are_counted(tmp_path):
    folder = make_run(tmp_path / 'run', cases=CASES, repeats=2)

    def change(line):
        if line['approach'] == 'pure':
            line['proof'] = []
        if line['approach'] == 'hybrid':
            line.update(foreign=['srun: job 1 queued'], broken=['4096 12srun: .5'])
    rewrite(folder, change)
    assert report(folder, '-o', tmp_path / 'r.html') == 0
    text = (tmp_path / 'r.html').read_text()
    assert '4 measurements of pure left no proof' in text
    assert '4 lines of the outputs were not the program' in text and '4096 12srun: .5' in text


def test_how_to_repeat_has_what_was_typed_and_the_image(made, dataset):
    text = (made / 'report.html').read_text()
    assert shlex.join(['osu-container', *dataset.facts['command']]) in text
    assert dataset.facts['project']['commit'] in text
    for entry in dataset.modules.values():
        assert f"module load {entry['name']}" in text
        if entry['container']:
            assert entry['image']['sha256'] in text
    assert 'srun -N2 -n2 osu_bw H H' in text


# ---- the first screen, ratios, the picture for a paper ---------------------------------------------------------------

def test_the_page_begins_with_what_was_compared_and_what_came_out(made, dataset):
    text = html.unescape((made / 'report.html').read_text())
    header = text[text.index('<header>'):text.index('<nav')]
    assert 'Compared: pure, bind, hybrid and opensource against native; 11 cases, 3 repeats' in header
    sentence = re.search(r'<p class="conclusion">(.*)</p>', header).group(1)
    worst = max((point for case in MORE_CASES for point in compare.compare_series(
        of(dataset, case, 'pure'), of(dataset, case, 'native'), paired=True).points), key=lambda point: point.times)
    assert re.search(rf'Against native, pure is much slower at all \d+ values \(median [\d.]+ times, '
                     rf'most {worst.times:.1f}: ', sentence)
    assert sentence.index('slower') < sentence.index('opensource is clearly faster')
    assert header.count('data-chart=') == 2


@pytest.mark.parametrize('factors, wanted', [
    ({'pure': 1.0, 'hybrid': 1.0}, r'Against native, pure and hybrid are as fast\.'),
    ({'pure': 0.7, 'hybrid': 0.1},
     r'Against native, hybrid is much slower at all \d+ values \(median 10(\.\d)? times, most 10(\.\d)?: .*\); '
     r'pure clearly slower at all \d+ values \(median 1\.4\d times, most 1\.4\d: .*\)\.'),
    ({'pure': 1.15, 'hybrid': 1.0},
     r'Against native, pure is slightly faster at all \d+ values \(median 1\.1\d times, most 1\.1\d: .*\); '
     r'hybrid is as fast\.'),
])
def test_the_conclusion_is_that_of_the_figures(factors, wanted, tmp_path):
    folder = make_run(tmp_path / 'run', cases=CASES, repeats=8, scale=factors, noise=0.002)
    assert re.fullmatch(wanted, first.conclusion(content.section('Run', [run_files.read(folder)])))


def test_noise_and_a_missing_native_are_no_conclusion_that_all_is_well(tmp_path):
    noisy = make_run(tmp_path / 'noisy', cases=CASES, repeats=3, noise=0.4)
    section = content.section('Run', [run_files.read(noisy)])
    said = first.conclusion(section)
    counts = {curve.name: [0, 0] for view in section.views for curve in view.shown if curve.comparison}
    for curve in (curve for view in section.views for curve in view.shown if curve.comparison):
        counts[curve.name][0] += sum(point.verdict == 'noisy' for point in curve.comparison.points)
        counts[curve.name][1] += len(curve.comparison.points)
    untold = [number for number, total in counts.values() if 2 * number > total]
    most = ' to '.join(map(str, sorted({min(untold), max(untold)})))
    assert f'the repeats scatter too much at {most} of ' in said
    assert 'do not tell how fast' in said and 'is as fast' not in said
    little = make_run(tmp_path / 'little', approaches=('native', 'pure'), cases=CASES, repeats=3, noise=0.01)
    said = first.conclusion(content.section('Run', [run_files.read(little)]))
    assert said == 'Against native, pure is as fast, as far as these figures tell.'
    alone = make_run(tmp_path / 'alone', approaches=('pure',), cases=CASES, repeats=2)
    assert first.conclusion(content.section('Run', [run_files.read(alone)])) == ''


def test_ratios_of_a_chart_are_those_of_compare_with_their_spread(dataset):
    view = content.section('Run', [dataset]).views[0]
    chart = page.ratio_charts(view)[0]
    found = {(row[0], row[1]): row[6:9] for row in chart.rows}
    assert {name for name, _ in found} == set(APPROACHES[1:])
    native = view.natives[dataset.name].series.values
    for curve in view.shown:
        for size, point in curve.points.items():
            within = [value / native[size][repeat] for repeat, value in curve.series.values[size].items()]
            assert found[curve.name, size] == pytest.approx((point.ratio, min(within), max(within)), rel=1e-3)


def test_what_an_output_does_not_say_is_not_made_up(tmp_path):
    output = tmp_path / 'out.txt'
    output.write_text('# OSU MPI Bandwidth Test v7.3\n# Size      Bandwidth (MB/s)\n1 2.5\n2 5.1\n4 10.0\n')
    before = output.read_text()
    assert report(output, '-o', tmp_path / 'r.html', '--picture', tmp_path / 'out.svg', '--force') == 0
    said = re.search(r'<p class="lead compared">(.*?)</p>', (tmp_path / 'r.html').read_text()).group(1)
    for text in (said, (tmp_path / 'out.caption.txt').read_text()):
        assert 'not known' in text and not re.search(r'\b20\d\d-', text)
    assert output.read_text() == before  # neither the picture nor its caption took its place


@pytest.mark.parametrize('kind', ['svg', 'pdf'])
def test_a_picture_is_as_wide_as_a_column_and_has_its_caption(kind, folder, tmp_path):
    path = tmp_path / f'picture.{kind}'
    assert report(folder, '--picture', path, '--case', 'osu_latency H H*') == 0
    caption = (tmp_path / 'picture.caption.txt').read_text()
    assert 'osu_latency H H, two nodes' in caption and 'medians of 3 repeats' in caption and 'workstation' in caption
    if kind == 'svg':
        text = path.read_text()
        assert re.search(r'<svg[^>]* width="3\.5in"', text) and html.escape(caption.splitlines()[0]) in text
        assert '>ratio to native (log)</text>' in text and '>µs (log)</text>' in text
        for name in APPROACHES:
            assert f'>{name}</text>' in text
        assert report(folder, '--picture', path, '--case', 'osu_latency H H*', '--force') == 0
        assert path.read_text() == text
    else:
        width = float(re.search(rb'/MediaBox \[0 0 ([\d.]+) ', path.read_bytes()).group(1))
        assert width == pytest.approx(3.5 * 72, abs=0.5)


# ---- parts -----------------------------------------------------------------------------------------------------------


# ---- published figures -----------------------------------------------------------------------------------------------

@pytest.fixture(scope='module')
def published():
    return report_cli.published()


def test_published_report_shows_every_published_point(published):
    shown = {(curve.dataset.name, curve.series.case, curve.series.name) for view in published.views
             for curve in view.curves}
    curves = [one for one in references.published() if one.name != 'lumi-checks']
    assert {(one.name, series.case, series.name) for one in curves for series in one.series} <= shown
    rows = list(csv.DictReader(io.StringIO(export.csv_text(published))))
    points = sum(len(series.values) for one in curves for series in one.series)
    assert sum(row['dataset'] != 'lumi-checks' for row in rows) == points == 12712


def test_every_specification_keeps_to_the_schema_of_vega_lite(published, monkeypatch):
    """Altair raises where one does not; without its look, which takes most of a report's time, they are the same."""
    def drawn():
        charts.specification.cache_clear()
        return {chart.spec for view in published.views for chart in page.charts_of(view)}
    unchecked = drawn()
    monkeypatch.setattr(charts, 'CHECKED', True)
    assert drawn() == unchecked and len(unchecked) > 50
    monkeypatch.setattr(charts, 'NUMBER', 7)  # an expression is text
    with pytest.raises(altair.utils.schemapi.SchemaValidationError):
        drawn()


def test_a_trouble_is_named_with_its_run_and_advice_is_for_the_users_own(tmp_path):
    sizes = [2 ** n for n in range(23)]
    slow = run_files.read(make_run(tmp_path / 'slow', site='lumi-25.03', scale={'hybrid': 0.15}, sizes=sizes))
    made = content.Report('x', [content.section('x', [slow, references.get('lumi-g-2025-03')])])
    by_advice = {}
    for called in made.sections[0].troubles():
        by_advice.setdefault(called.advice, []).extend(called.name(curve) for _, curve, _ in called.where)
    assert set(by_advice[True]) == {f'hybrid, {slow.name}'}
    assert by_advice[False] and all(name.endswith(', lumi-g-2025-03') for name in by_advice[False])
    text = page.html(made)
    assert 'FI_PROVIDER=cxi' in text and 'unset CXI' not in text
    alone = content.section('x', [references.get('lumi-g-2025-03')])
    assert all(called.advice for called in alone.troubles())


RESULTS = PROJECT / 'docs' / 'results'


def test_figures_and_tables_in_the_documentation_are_what_the_command_makes():
    done = run([sys.executable, '-m', 'osu_container.generate.results_pages', '--check'], cwd=PROJECT)
    assert done.returncode == 0, done.stderr
    names = sorted(path.name for path in RESULTS.glob('*.svg'))
    assert names == ['lumi.svg']
    for name in names:
        assert f']({name})' in (RESULTS / 'index.md').read_text()
    assert '](docs/results/lumi.svg)' in (PROJECT / 'README.md').read_text().split('\n## ', maxsplit=1)[0]
    assert '](results/lumi.svg)' in (PROJECT / 'docs/index.md').read_text()
