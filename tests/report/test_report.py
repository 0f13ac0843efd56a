"""osu-container report: what it says is what was measured; files are written whole, and over nothing."""
import csv
import html
import html.parser
import io
import json
import re
import shlex
import statistics

import pytest

from osu_container import cli as command_line
from osu_container import compare
from osu_container.core import terminal
from osu_container.report import charts, content, export, first, page, tables
from osu_container.report import cli as report_cli
from osu_container.results import ratios, references, run_files
from osu_container.results.model import Case
from tests.helpers.example_runs import CASES, MORE_CASES, make_run
from tests.helpers.machine import PROJECT, run

pytestmark = [pytest.mark.long, pytest.mark.alone]

APPROACHES = ('native', 'pure', 'bind', 'hybrid', 'opensource')
HOSTILE = "PMI: <script>alert('x')</script> & \"no key-value store\" | `rm` ; remedy: srun --mpi=pmi2"
FAILURES = [('bind', MORE_CASES[2], HOSTILE), ('opensource', MORE_CASES[6], 'skipped: no GPU on this machine')]
NUMBER = re.compile(r'[\u202f,]')


class Tables(html.parser.HTMLParser):
    """The tables of a page: {id: [[texts of a cell]]}, its tags, and its attributes [(tag, {name: value})]."""

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
                    repeats=3, scale={'pure': 0.1, 'opensource': 1.4}, programs='</script><img src=x onerror=alert(1)>')


@pytest.fixture(scope='module')
def made(folder, tmp_path_factory):
    """The report of that run: folder with report.html and report.csv."""
    out = tmp_path_factory.mktemp('report')
    assert report(folder, '-o', out / 'report.html', '--csv', out / 'report.csv') == 0
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
def test_values_of_a_case_are_the_medians_of_the_run_with_ratio_sign_and_spread(case, dataset, shown):
    head, *rows = shown.tables[key(case) + '-values']
    names = [text for text, in head[-len(dataset.of(case)):]]
    assert names == [name for name in APPROACHES if dataset.of(case, name)]
    sizes = sorted({size for name in names for size in of(dataset, case, name).sizes})
    assert len(rows) == len(sizes)
    points = {name: {point.size: point for point in compare.compare_series(
        of(dataset, case, name), of(dataset, case, 'native'), paired=True).points} for name in names[1:]}
    for size, row in zip(sizes, rows):
        for name, (value, *more) in zip(names, row[1:]):
            series = of(dataset, case, name)
            each = list(series.values[size].values())
            middle = statistics.median(each)
            assert float(NUMBER.sub('', value)) == pytest.approx(middle, rel=0.006, abs=0.0051)
            assert float(more.pop().removesuffix(' %')) == pytest.approx(
                100 * (max(each) - min(each)) / middle, rel=0.06, abs=0.006)
            if name != 'native':
                point = points[name][size]
                assert more.pop() == f'{ratios.text(point.ratio)} {tables.SIGNS[point.verdict]}'
            assert more == []


def test_every_case_in_a_line_is_what_compare_says(dataset, shown):
    head, *rows = shown.tables['20261121t131244z-verdicts']
    assert [text for text, in head[1:]] == list(APPROACHES[1:])
    by_title = {case.title: case for case in MORE_CASES}
    found = set()
    for (title,), *row in rows:
        case = by_title.pop(title)
        for name, (text,) in zip(APPROACHES[1:], row):
            if not dataset.of(case, name):
                assert text in ('failed', 'skipped')
                continue
            one = compare.compare_series(of(dataset, case, name), of(dataset, case, 'native'), paired=True)
            for verdict in ('worse', 'better'):
                assert (tables.SIGNS[verdict] in text) == bool(one.summary[verdict])
            if one.verdict in ('worse', 'better'):
                assert f'{tables.SIGNS[one.verdict]} {tables.times_text(one.furthest().times)}' in text
            found.add(one.verdict)
    assert {'worse', 'better'} <= found and by_title == {}


def test_failures_are_shown_with_reason_and_repeats(shown):
    _, *rows = shown.tables['20261121t131244z-failures']
    found = {(row[0][0], row[1][0]): [text for text, in row[2:5]] for row in rows}
    assert found == {(MORE_CASES[2].title, 'bind'): ['failed', '1-3', HOSTILE],
                     (MORE_CASES[6].title, 'opensource'): ['skipped', '1-3', FAILURES[1][2]]}


def test_text_of_others_stays_text_and_the_page_asks_nothing_of_the_network(made, shown):
    text = (made / 'report.html').read_text()
    assert html.escape('<script>alert') in text and html.escape('</script><img src=x') in text
    assert not {'script', 'img', 'link', 'iframe', 'object', 'base', 'form'} & set(shown.tags)
    assert not [attrs for tag, attrs in shown.attributes if 'src' in attrs or any(name[:2] == 'on' for name in attrs)]
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text).group(1)
    assert policy.startswith("default-src 'none'; style-src") and 'script-src' not in policy


def test_csv_holds_every_value_of_every_repeat(made, dataset):
    rows = list(csv.DictReader(io.StringIO((made / 'report.csv').read_text())))
    assert tuple(rows[0]) == export.CSV
    found = {}
    for row in rows:
        case = Case(row['benchmark'], row['buffers'], int(row['nodes']), int(row['ranks']), row['variant'])
        values = found.setdefault((case, row['series']), {}).setdefault(int(row['size']), {})
        assert int(row['repeat']) not in values and row['unit'] == case.unit
        values[int(row['repeat'])] = float(row['value'])
    assert found == {(one.case, one.name): one.values for one in dataset.series}
    assert {row['dataset'] for row in rows} == {dataset.name}


@pytest.mark.parametrize('typed', [['-'], []], ids=['-', 'without FILE'])
def test_values_are_printed_where_no_file_is_named(typed, folder, made, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert report(folder, '--csv', *typed) == 0
    written = terminal.lines((made / 'report.csv').read_text())  # what is printed is made safe for a terminal
    assert capsys.readouterr().out.split() == written.split()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize('arguments, word', [
    (['RUN'], 'nothing to write'),
    (['-o', 'OUT/r.html'], 'name runs, or --published'),
    (['RUN', '--published', '-o', 'OUT/r.html'], 'not both'),
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
    assert 'has no native series' in text and 'reference:' not in text
    assert not [name for name in parsed.tables if name.endswith(('-verdicts', '-matrix'))]
    assert re.search(r'pure</strong>: [\d\u202f.]+ MB/s at \d MiB \(osu_bw H H, two nodes\), .*; 2 repeats', text)


def test_series_of_several_runs_carry_the_name_of_their_run_where_they_collide(tmp_path):
    one = make_run(tmp_path / 'one', approaches=('native', 'pure'), cases=CASES, repeats=2)
    two = make_run(tmp_path / 'two', approaches=('native', 'hybrid'), cases=CASES, repeats=2, seed=2,
                   run='20261122T090000Z')
    datasets = [run_files.read(one), run_files.read(two)]
    section = content.section('Runs', datasets)
    wanted = ['native, 20261121T131244Z', 'pure', 'native, 20261122T090000Z', 'hybrid']
    assert section.names == wanted
    for view in section.views:
        assert [curve.name for curve in view.curves] == wanted
        styles = [(curve.style.shape, curve.style.dash) for curve in view.curves]
        assert len(set(styles)) == len(styles)  # told apart without colour
        by_name = {curve.name: curve for curve in view.curves}
        # each is compared with the native of its own run
        assert by_name['pure'].comparison.b is by_name[wanted[0]].series
        assert by_name['hybrid'].comparison.b is by_name[wanted[2]].series
    assert report(one, two, '-o', tmp_path / 'r.html') == 0


def test_a_reference_of_the_user_is_shown_beside_a_run_and_by_itself(folder, tmp_path):
    references.add(folder, 'mine-2026')
    plain = make_run(tmp_path / 'run', approaches=('pure',), cases=CASES, repeats=1)
    assert report(plain, 'mine-2026', '-o', tmp_path / 'r.html') == 0
    text = (tmp_path / 'r.html').read_text()
    assert '<strong>native, mine-2026</strong>: reference: ' in text
    row = next(row for row in Tables(text).tables['sources'] if row[0][0] == 'mine-2026')
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


def other_libmpi(line):
    if line['approach'] == 'hybrid' and line['repeat'] == 2:
        line['proof'][0]['libraries']['libmpi'].update(where='host', path='/opt/cray/libmpi.so.12')


@pytest.mark.parametrize('change, wanted', [
    (other_libmpi, ['A promise was broken:', 'BROKEN: promised that of the image', '/opt/cray/libmpi.so.12',
                    'in 2 of 4 measurements']),
    (lambda line: line['proof'][0]['libraries'].pop('libfabric'), [
        'A promise was broken:', 'not loaded', 'BROKEN: promised that of the image']),
    (lambda line: line.update(proof=[]), ['4 measurements of pure left no proof', 'No rank of ']),
    (lambda line: line.update(broken=['4096 12srun: .5']), ['12 lines of the outputs were not', '12srun: .5']),
])
def test_what_the_lines_of_a_run_tell_is_shown(change, wanted, tmp_path):
    folder = make_run(tmp_path / 'run', cases=CASES, repeats=2)
    rewrite(folder, change)
    assert report(folder, '-o', tmp_path / 'r.html') == 0
    text = html.unescape((tmp_path / 'r.html').read_text())
    assert [part for part in wanted if part not in text] == []
    assert text.count('BROKEN') == text.count('A promise was broken:') == (3 if 'not loaded' in wanted else
                                                                           change is other_libmpi)


def test_how_to_repeat_has_what_was_typed_and_the_image(made, dataset):
    text = (made / 'report.html').read_text()
    assert shlex.join(['osu-container', *dataset.facts['command']]) in text
    assert dataset.facts['project']['commit'] in text
    for entry in dataset.modules.values():
        assert f"module load {entry['name']}" in text
        if entry['container']:
            assert entry['image']['sha256'] in text
    assert 'srun -N2 -n2 osu_bw H H' in text


# ---- the first screen ------------------------------------------------------------------------------------------------

def said(folder, name):
    """Return the Line of a series (str) in the report of a run in folder."""
    return next(line for line in first.lines(content.section('Run', [run_files.read(folder)])) if line.name == name)


def up_to(size, factor, then=1.0):
    """Return a factor for example_runs.make_run(): up to a message size (int), then another one."""
    return lambda case, at: factor if at <= size else then


@pytest.mark.parametrize('scale, more, wanted', [
    (1.0, {}, r'as native at all sizes; 5 repeats\.'),
    (up_to(32768, 0.8), {}, r'clearly slower up to 32 KiB \(1\.25 times\), as native from 64 KiB; 5 repeats\.'),
    (up_to(8192, 1.0, 11), {}, r'much faster from 16 KiB \((10\.\d to )?11\.\d times\), as native up to 8 KiB; 5 .*'),
    (up_to(2048, 0.3, 2.5), {}, r'much slower up to 2 KiB \(3\.3( to 3\.4)? times\), much faster from 4 KiB \(2\.5 .*'),
    (0.4, {'repeats': 1}, r'probably much slower at all sizes \(2\.5 times\); one value each\.'),
    (0.4, {'repeats': 3}, r'probably much slower at all sizes .*; 3 repeats\.'),
    (0.9, {'noise': 0.4}, r"unclear at all sizes \(.* of native's speed, the repeats scatter\); 5 repeats\."),
    (lambda case, at: 0.25 if case == MORE_CASES[7] and at == 64 else 1.0, {'cases': MORE_CASES},
     r'as native at all sizes, slower in 1 of 11 cases, at most 4\.0 times \(osu_allreduce D D, 8 ranks over 2 nodes '
     r'at 64 B\); 5 repeats\.'),
    (0.4, {'cases': MORE_CASES[-1:]}, r'much slower: 2\.5 times; 5 repeats\.'),
    (1.0, {'failures': [('hybrid', CASES[0], 'PMI: none')]}, r'as native .*; failed in osu_bw H H, two nodes: PMI: .*'),
    (1.0, {'failures': [('hybrid', case, 'skipped: no GPU') for case in CASES]}, r'skipped in all 2 cases: no GPU\.'),
])
def test_a_sentence_tells_gain_and_loss_by_size_and_how_sure(scale, more, wanted, tmp_path):
    more = {'cases': CASES, 'repeats': 5, 'noise': 0.002, **more}
    line = said(make_run(tmp_path / 'run', scale={'hybrid': scale}, **more), 'hybrid')
    assert re.fullmatch(wanted, line.text), line.text


@pytest.mark.parametrize('repeats', [1, 2, 5])
@pytest.mark.parametrize('scale', [1.0, up_to(128, 0.7), up_to(8192, 1.0, 11), up_to(1 << 20, 0.2, 1.5)])
def test_of_one_curve_it_says_what_compare_says(scale, repeats, tmp_path):
    folder = make_run(tmp_path / 'run', cases=CASES[:1], repeats=repeats, scale={'hybrid': scale}, noise=0.002)
    run_of = run_files.read(folder)
    one = next(one for one in compare.against_native(run_of) if one.a.name == 'hybrid')
    text = said(folder, 'hybrid').text
    assert ('probably' in text) == ('probably' in one.words)
    for verdict, word in (('worse', 'slower'), ('better', 'faster')):
        assert (word in text) == bool(one.summary[verdict])
        if one.summary[verdict]:
            assert f'{one.degree(verdict)} {word}' in text
            assert f'{tables.times_text(one.furthest(verdict).times)} times' in text
    first_verdict, _, ends, _ = one.ranges()[0]
    if first_verdict in ('worse', 'better'):  # where it ends
        assert f'up to {one.label(ends.size)}' in text


@pytest.mark.parametrize('repeats, scale, wanted', [
    (5, 0.8, ['0.80', 'worse', 'clearly slower', 'sure, 5 repeats']),
    (2, 0.8, ['0.80', 'worse', 'clearly slower', 'probably, 2 repeats']),
    (1, 0.8, ['0.80', 'worse', 'clearly slower', 'probably, one value']),
    (5, 1.0, ['1.00', 'same', 'as native', 'sure, 5 repeats']),
    (1, 1.0, ['1.00', 'same', 'as native', 'probably, one value']),
    (5, up_to(8192, 1.0, 3), ['1.73', 'better', 'much faster', 'sure, 5 repeats; 12 of 24'])])
def test_a_cell_of_the_matrix_has_speed_word_and_how_sure(repeats, scale, wanted, tmp_path):
    folder = make_run(tmp_path / 'run', cases=CASES, repeats=repeats, scale={'hybrid': scale}, noise=0.001)
    line = said(folder, 'hybrid')
    cell = line.cells[1]
    assert float(cell['speed']) == pytest.approx(float(wanted[0]), abs=0.015)
    assert [cell['verdict'], cell['word'], cell['sure']] == wanted[1:]
    assert line.cells[-1] is None, 'nothing without sizes was measured'
    assert [size for size, *_ in line.speeds] == [2 ** n for n in range(23)]


def test_the_page_begins_with_what_was_measured(made):
    text = html.unescape((made / 'report.html').read_text())
    begins = text[text.index('<h1>'):text.index('<details>')]
    for part in ('OSU benchmarks on workstation, 2026-11-21', '11 cases of osu_bw, ', '; 3 repeats.', 'node1, node2',
                 '<strong>pure</strong>: probably much slower at all sizes', 'failed in osu_bw D D, two nodes: PMI: '):
        assert part in begins, part
    assert begins.count('<polyline') == 5 + 4  # a swatch for each, the curves of the picture


def test_repeats_are_those_that_were_measured(tmp_path):
    folder = make_run(tmp_path / 'run', cases=CASES, repeats=5)
    rewrite(folder, lambda line: line.update(status='failed', reason='lost') if line['repeat'] > 1 else None)
    told, _ = first.measured(content.section('Run', [run_files.read(folder)]))
    assert told.endswith('one value each of 5 asked for.')
    assert said(folder, 'hybrid').text.endswith('; one value each; failed in some repeats of 2 cases: lost.')


def test_what_an_output_does_not_say_is_not_made_up(tmp_path):
    output = tmp_path / 'out.txt'
    output.write_text('# OSU MPI Bandwidth Test v7.3\n# Size      Bandwidth (MB/s)\n1 2.5\n2 5.1\n4 10.0\n')
    before = output.read_text()
    assert report(output, '-o', tmp_path / 'r.html', '--picture', tmp_path / 'out.svg', '--force') == 0
    told = re.search(r'<p class="measured">(.*?)</p>', (tmp_path / 'r.html').read_text()).group(1)
    for text in (told, (tmp_path / 'out.caption.txt').read_text()):
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


@pytest.mark.parametrize('least, most', [(1, 1.01), (0.96, 1.3), (0.1, 1), (3, 9), (2.2, 2.2), (0.004, 22000),
                                         (1e-30, 1e30)])
def test_a_logarithmic_axis_has_a_few_round_numbers(least, most):
    found = charts._ticks(least / 1.06, most * 1.06)
    assert 2 <= len(found) <= 8 and all(least / 1.07 <= one <= most * 1.07 for one in found)
    assert all(float(f'{one:.2g}') == pytest.approx(one, rel=1e-9) for one in found)


# ---- published figures -----------------------------------------------------------------------------------------------

@pytest.fixture(scope='module')
def published():
    return report_cli.published()


def test_published_report_shows_every_published_point(published):
    shown = {(curve.dataset.name, curve.series.case, curve.series.name) for view in published.views
             for curve in view.curves}
    curves = references.published()
    assert {(one.name, series.case, series.name) for one in curves for series in one.series} <= shown
    rows = list(csv.DictReader(io.StringIO(export.csv_text(published))))
    points = sum(len(series.values) for one in curves for series in one.series)
    assert len(rows) == points == 12743


def test_the_page_of_all_published_figures_is_small(published):
    """Of the files that a page must hold: small enough for a phone. Its pictures are a kilobyte each."""
    text = page.html(published)
    assert len(text.encode()) < 1_500_000
    drawn = re.findall('<svg class="chart".*?</svg>', text, re.DOTALL)
    assert len(drawn) > 180 and statistics.median(map(len, drawn)) < 4000
    assert text.count('<details open>') == 1


def test_a_trouble_is_named_with_its_run_and_advice_is_for_the_users_own(tmp_path):
    sizes = [2 ** n for n in range(23)]
    slow = run_files.read(make_run(tmp_path / 'slow', site='lumi-25.03', scale={'hybrid': 0.15}, sizes=sizes))
    text = page.html(content.Report('x', [content.section('x', [slow, references.get('lumi-g-2025-03')])]))
    mine, *others = re.findall('<details class="trouble">.*?</details>', text, re.DOTALL)
    assert f'hybrid, {slow.name}' in mine or f'{slow.name}:hybrid' in mine
    assert 'What to do:' in mine and not [one for one in others if 'What to do:' in one]
    assert 'FI_PROVIDER=cxi' in text and 'unset CXI' not in text
    alone = page.html(content.Report('x', [content.section('x', [references.get('lumi-g-2025-03')])]))
    assert alone.count('<details class="trouble">') == alone.count('What to do:') > 2


RESULTS = PROJECT / 'docs' / 'results'


def test_picture_on_the_pages_is_what_report_draws(tmp_path):
    picture = tmp_path / 'lumi.svg'
    done = run([PROJECT / 'bin' / 'osu-container', 'report', 'lumi-g-2025-03', '--picture', picture])
    assert done.returncode == 0, done.stderr
    assert picture.read_text() == (RESULTS / 'lumi.svg').read_text(), (
        'stale: osu-container report lumi-g-2025-03 --picture docs/results/lumi.svg; copy the caption to the pages')
    for shown in (RESULTS / 'index.md', PROJECT / 'README.md'):
        assert (tmp_path / 'lumi.caption.txt').read_text().strip() in shown.read_text()
    assert '](lumi.svg)' in (RESULTS / 'index.md').read_text()
    assert '](docs/results/lumi.svg)' in (PROJECT / 'README.md').read_text().split('\n## ', maxsplit=1)[0]
    assert '](results/lumi.svg)' in (PROJECT / 'docs/index.md').read_text()
