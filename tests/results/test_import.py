"""osu-container import: outputs of OSU's programs and IMB become a run; compare and report take them as they are.

Reading the output of the OSU C programs and of mpi4py's ports of them.
"""

import gzip
import json
import lzma
import os
import re
from random import Random

import pytest

from osu_container import cli as command_line
from osu_container.compare.cli import collect
from osu_container.osu_output import OutputError, network_of, parse
from osu_container.results import imported, outputs, run_files
from osu_container.results.model import Case
from tests.helpers.machine import PROJECT

#: Figures of outputs in public places, each with its address; the text around them is the programs' own layout
PUBLIC = json.loads((PROJECT / 'tests' / 'results' / 'public_outputs.json').read_text())
BANDWIDTH = '# OSU MPI Bandwidth Test v7.5\n# Datatype: MPI_CHAR.\n# Size      Bandwidth (MB/s)\n'


def printed(sample):
    """Return the text (str) that the program prints for the figures of a sample."""
    label, noise = sample.get('label', ''), sample.get('noise', [])
    lines = [sample['command']] if 'command' in sample else []
    if sample['kind'] == 'imb':
        lines += ['#' + 64 * '-', f"# Benchmarking {sample['benchmark'].partition(' ')[2]}",
                  f"# #processes = {sample['ranks']}", '#' + 64 * '-', f"       #bytes #repetitions  {sample['heads']}"]
        lines += ['  '.join(f'{cell:13}' for cell in row) for row in sample['rows']]
    else:
        lines += ['', f"# {sample['title']}", *(f'# {comment}' for comment in sample.get('comments', [])), '# Size  us']
        lines += noise
        lines += [f'{row[0]:<10}' + ''.join(f'{cell:>20}' if isinstance(cell, (int, str)) else f'{cell:>20.6f}'
                                            for cell in row[1:]) for row in sample['rows']]
    return ''.join(f"{label if not label.endswith(chr(92)) or line.startswith('#') else ''}{line}\n" for line in lines)


def write(path, text):
    """Write text to a new file and return its path."""
    path.write_text(text)
    return path


def call(capsys, *arguments):
    """Call the command in this process; return (exit code, stdout, stderr)."""
    code = command_line.main([str(one) for one in arguments])
    return code, *capsys.readouterr()


@pytest.mark.parametrize('sample', PUBLIC, ids=lambda sample: sample['source'].split('//')[1])
def test_a_public_output_carries_over_figure_by_figure(tmp_path, sample):
    path = write(tmp_path / 'out.txt', printed(sample))
    if 'refused' in sample:
        with pytest.raises(outputs.OutputFailure, match=sample['refused']):
            outputs.read(path)
        return
    table, = outputs.read(path).tables
    column = sample.get('column', 0) + 1
    figures = {row[0]: float(row[column]) for row in sample['rows']}
    assert (table.benchmark, table.reason) == (sample['benchmark'], None)
    assert {**table.values, **dict.fromkeys(table.zeros, 0.0)} == pytest.approx(figures)
    said = {key: sample.get(key) for key in ('release', 'ranks', 'nodes', 'buffers')}
    assert {key: getattr(table, key) for key in said} == said
    assert table.checked == sample.get('checked', False) and not table.broken
    assert set(table.unknown) >= {key for key, value in said.items() if value is None}


MANY = f'''srun: job 99 queued and waiting for resources
+ srun -N2 -n2 osu_bw
{BANDWIDTH}1                       1.47
4194304             24005.74
+ srun -N2 --ntasks-per-node=1 osu_bw D D
{BANDWIDTH.replace('MPI B', 'MPI-CUDA B')}1                       1.42
4194304             23995.77
slurmstepd: error: nothing of ours
# OSU MPI Latency Test v5.0
# Size          Latency (us)
0                       1.84
4096                    3.16
# osu_bw: mpi4py 4.1.2 port, not the C program of the OSU Micro-Benchmarks
# MPI Bandwidth Test
# Size [B]        Latency [us]
         1                0.07
'''


@pytest.mark.parametrize('change', [lambda text: text, lambda text: text.replace('\n', '\r\n'),
                                    lambda text: re.sub(r'^(\d)', '\033[1;32m\\1', text, flags=re.M)],
                         ids=['plain', 'CRLF', 'colours'])
def test_several_benchmarks_in_one_file_with_noise_around(tmp_path, change):
    path = tmp_path / 'job.out'
    path.write_bytes(change(MANY).encode())
    found = [(table.case, table.programs, table.values) for table in outputs.read(path).tables]
    assert found == [
        (Case('osu_bw', 'H H', 2, 2), 'OSU C programs', {1: 1.47, 4194304: 24005.74}),
        (Case('osu_bw', 'D D', 2, 2), 'OSU C programs', {1: 1.42, 4194304: 23995.77}),
        (Case('osu_latency', 'H H', None, 2), 'OSU C programs', {0: 1.84, 4096: 3.16}),
        (Case('osu_bw', 'H H', None, 2), 'mpi4py 4.1.2 ports', {1: 0.07})]


def test_import_writes_a_run_that_holds_the_same_and_names_what_is_not_known(tmp_path, capsys):
    path, folder = write(tmp_path / 'job.out', MANY), tmp_path / 'run'
    code, out, err = call(capsys, 'import', f'mine={path}', '-o', folder)
    assert (code, err) == (0, '') and 'does not say: release, nodes, site, libraries' not in out
    assert f'{path} does not say: nodes, site, libraries' in out and '4 curves' in out
    written, direct = run_files.read(folder), imported.read(f'mine={path}')
    for one in (written, direct):
        assert [(series.name, series.case, series.values, series.ran) for series in one.series] == [
            (series.name, series.case, series.values, series.ran) for series in written.series]
        assert one.facts['site'] == 'not known' and one.facts['imported'][0]['bytes'] == path.stat().st_size
        assert any('does not say' in problem for problem in one.problems)
    assert call(capsys, 'import', path, '-o', folder)[0] == 1 and run_files.read(folder).names == ['mine']
    path = write(tmp_path / 'one.out', MANY.partition('# osu_bw: mpi4py')[0])
    code, out, _ = call(capsys, 'import', path, '-o', tmp_path / 'other', '--nodes', 2, '--site', 'lumi-25.03',
                        '--json')
    told = json.loads(out)
    assert {one['case']['nodes'] for one in told['series']} == {2} and told['failed'] == []
    assert run_files.read(tmp_path / 'other').facts['site'] == 'lumi-25.03'


def test_compare_and_report_take_outputs_as_they_are(tmp_path, capsys):
    mine = write(tmp_path / 'mine.txt', MANY)
    theirs = write(tmp_path / 'theirs.txt', MANY.replace('24005.74', '12000.00'))
    code, out, _ = call(capsys, 'compare', theirs, mine, '--no-sizes')
    assert code == 1 and 'probably worse' in out and '0.50 at 4 MiB' in out
    assert f'{mine} does not say: nodes, site, libraries' in ' '.join(out.split())
    result = collect(str(mine), ['lumi-g-2025-03:native'])
    assert {one.case.benchmark for one in result['comparisons']} == {'osu_bw', 'osu_latency'}
    page = tmp_path / 'page.html'
    assert call(capsys, 'report', mine, theirs, '-o', page)[0] == 0
    assert 'theirs' in page.read_text()


def test_native_and_others_in_one_import_are_compared(tmp_path, capsys):
    native = write(tmp_path / 'bare.txt', BANDWIDTH + '1 2.00\n4194304 24000.00\n')
    slow = write(tmp_path / 'slow.txt', BANDWIDTH + '1 2.00\n4194304 2400.00\n')
    assert call(capsys, 'import', f'native={native}', f'pure={slow}', '-o', tmp_path / 'run')[0] == 0
    code, out, _ = call(capsys, 'compare', tmp_path / 'run')
    assert code == 1 and 'pure against native' in out and 'probably worse' in out
    assert call(capsys, 'report', tmp_path / 'run', '-o', tmp_path / 'run.html')[0] == 0
    assert 'probably worse at 4 MiB' in (tmp_path / 'run.html').read_text()


def test_outputs_of_imb_are_compared_and_other_programs_are_not_mixed_with_them(tmp_path, capsys):
    head = '#    Intel(R) MPI Benchmarks 2021.3, MPI-1 part\n# Benchmarking {}\n# #processes = 2\n{}\n'
    times = head.format('PingPong', '#bytes #repetitions t[usec] Mbytes/sec')
    one = write(tmp_path / 'one.txt', times + '0 1000 1.66 0.00\n8 1000 1.66 4.81\n')
    two = write(tmp_path / 'two.txt', times + '0 1000 1.66 0.00\n8 1000 3.40 2.35\n'
                + head.format('Uniband', '#bytes #repetitions Mbytes/sec Msg/sec') + '8 1000 25.66 12\n')
    code, out, _ = call(capsys, 'compare', two, one)
    said = 'IMB PingPong H H, 2 ranks: probably worse at 8 B, 2.0 times slower'
    assert code == 1 and said in ' '.join(out.split())
    assert [series.case.more_is_better for series in imported.read(str(two)).series] == [False, True]
    osu = write(tmp_path / 'osu.txt', '# OSU MPI Latency Test v7.5\n8 1.66\n')
    assert call(capsys, 'compare', one, osu)[0] == 3


def test_equal_tables_are_repeats_which_are_not_paired(tmp_path):
    path = write(tmp_path / 'three.txt', ''.join(BANDWIDTH + f'1 {value}\n\n' for value in ('2.00', '2.10', '2.20')))
    run = imported.read(str(path))
    assert run.series[0].values == {1: {1: 2.0, 2: 2.1, 3: 2.2}}
    assert any('stands 3 times: taken as repeats' in problem for problem in run.problems)
    result = collect(str(path), [str(path)])
    assert {point.method for one in result['comparisons'] for point in one.points} == {'Welch'}


def test_a_table_that_failed_does_not_spoil_the_others(tmp_path):
    text = BANDWIDTH + '1 2.00\n2 4.00\n' + '# OSU MPI Latency Test v7.5\n# Size\nsrun: error: node2: Killed\n'
    run = imported.read(str(write(tmp_path / 'part.txt', text)))
    assert [one.case.benchmark for one in run.series] == ['osu_bw']
    assert [(one.case.benchmark, 'Killed' in one.reason) for one in run.failures] == [('osu_latency', True)]


KNOWN = [(1 << power, round(1.17 * 2 ** power + 0.04, 2)) for power in range(0, 23, 2)]
#: How people and systems change a row: it can still be read, or it cannot
READ = {'note': '{size}  {value:.2f}   <- slow?', 'stars': '{size}  {value:.2f} *** slow?',
        'star': '{size} {value:.2f}*', 'unit': '{size}  {value:.2f} MB/s', 'glued': '{size}  {value:.2f}MB/s',
        'GB': '{size}  {giga:.5f} GB/s',
        'commas': '{size:,}  {value:,.2f}', 'table': '| {size} | {value:.2f} |', 'marked': '> {size}  {value:.2f}',
        'more': '{size}  {value:.2f}  {value:.2f}', 'hash': '{size}  {value:.2f}  # node 7'}
NAMED = {'German': '{size}  1.234,56', 'bits': '{size}  {value:.2f} Gbit/s', 'cut': '{size}  {size} srun: error',
         'nan': '{size}  nan', 'times': '{size}  {value:.2f} us', 'blank': '{size}  22 310.02',
         'of K': '4K  {value:.2f}',
         'n/a': '{size}  n/a', 'word': '{size} {value:.2f}srun: error', 'dash': '{size}  -'}
WRITTEN = {'UTF-8': lambda text: text.encode(), 'UTF-16': lambda text: text.encode('utf-16'),
           'Latin-1': lambda text: text.replace('# Size', '# Größe').encode('latin-1'), 'gz': lambda text:
           gzip.compress(text.encode()), 'xz': lambda text: lzma.compress(text.encode()), 'holes': lambda text:
           bytes(512) + text.replace('\n', '\n\0\0', 5).encode(), 'BOM': lambda text: text.encode('utf-8-sig'),
           'no hash': lambda text: text.replace('# ', '').encode(),
           'CRLF': lambda text: text.replace('\n', '\r\n').encode()}


@pytest.mark.parametrize('written', WRITTEN)
@pytest.mark.parametrize('seed', range(4))
def test_each_figure_is_read_or_named_with_its_line(tmp_path, capsys, seed, written):
    random, path, lines, right, lost = Random(f'{seed} {written}'), tmp_path / 'fig.txt', BANDWIDTH.splitlines(), {}, []
    for size, value in KNOWN:
        kind = random.choice([None, None, *READ, *NAMED])
        lines.append((READ | NAMED).get(kind, '{size}  {value:.2f}').format(size=size, value=value, giga=value / 1000))
        if kind in NAMED:
            lost.append(len(lines))
        else:
            right[size] = value
    path.write_bytes(WRITTEN[written]('\n'.join(lines) + '\n'))
    table, = outputs.read(path).tables
    assert table.reason is None and table.values == pytest.approx(right), lines
    assert [int(line.split(':')[1]) for line in table.broken] == lost, lines
    page = tmp_path / 'page.html'
    for arguments in (['import', path, '-o', tmp_path / 'run'], ['compare', path, path], ['report', path, '-o', page]):
        code, out, err = call(capsys, *arguments)
        shown = ''.join((out + (page.read_text() if page.exists() else '')).split())
        assert code == 0 and all(f'fig.txt:{number}:' in shown for number in lost), (arguments, out, err)


TITLED = BANDWIDTH + '1 2.00\n4194304 24000.00\n'
COMMANDS = [  # what stands above two tables of one case -> what their variants say
    ('$ srun --gpu-bind=map_gpu:4,5 osu_bw', '$ srun --gpu-bind=map_gpu:4,6 osu_bw',
     ['--gpu-bind=map_gpu:4,5', '--gpu-bind=map_gpu:4,6']),
    ('$ export A=1\n$ export B=0,1\n$ srun osu_bw', '$ export B=0,2\n$ srun osu_bw', ['B=0,1', 'B=0,2']),
    ('+ srun -c 4 -n 2 osu_bw', '+ srun -c 7 -n 2 osu_bw', ['-c 4', '-c 7']),
    ('UCX_TLS=tcp mpirun -n 2 osu_bw', 'mpirun -n 2 osu_bw', ['UCX_TLS=tcp', '']),
    ('$ srun osu_bw', '', ['']), ('$ srun -c 4 -n 2 osu_bw', '$ srun -n 2 -c 4 osu_bw', [''])]


@pytest.mark.parametrize('first, second, variants', COMMANDS)
def test_tables_whose_command_lines_or_exports_differ_are_different_cases(tmp_path, first, second, variants):
    path = write(tmp_path / 'both.txt', f'{first}\n{TITLED}\n{second}\n{TITLED}')
    assert [one.case.variant for one in imported.read(str(path)).series] == variants


IMB = '# Benchmarking Accumulate\n# #processes = 2\n{}#\n#  MODE: NON-AGGREGATE\n#\n{}'
IMB_HEAD = '   #bytes #repetitions  t[usec]  Mbytes/sec\n'
CCL = '''# nThread 1 nGpus 2 minBytes 8 maxBytes 16
rccl-tests: Version develop:83d38d9
#  Rank  0 Group  0 Pid  3 on   n126 device  0 [0000:05:00] AMD Instinct MI300X
#  Rank  1 Group  0 Pid  4 on   n127 device  0 [0000:05:00] AMD Instinct MI300X
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
           8             2     float     sum      -1    91.10   92.08  161.14      0    94.94   88.36  154.63      0
          16             4     float     sum      -1    91.10   92.08  171.14      0 killed
'''
GOOD = {1: 2.0, 4194304: 24000.0}
LAYOUTS = {  # text -> [(benchmark, variant, values)], what is named
    'untitled behind': (TITLED + '\n# Size  Latency (us)\n1 5.00\n', [('osu_bw', '', GOOD)], ':7:'),
    'rows behind': (TITLED + '\nanother node:\n\n1 5.00\n2 6.00\n', [('osu_bw', '', GOOD)], ':9:'),
    'IMB without titles': ('Sendrecv:\n#bytes #repetitions t_avg[usec] Mbytes/sec\n8 10 3.00 9.00 slow\n9 10 3,5 x\n'
                           'Exchange:\n#bytes #repetitions t_avg[usec] Mbytes/sec\n8 10 4.00 9.00\n',
                           [('IMB Sendrecv', '', {8: 3.0}), ('IMB Exchange', '', {8: 4.0})], ':4:'),
    'IMB modes': (IMB.format('#  MODE: AGGREGATE\n' + IMB_HEAD + '8 10 2.00 4.00\n', IMB_HEAD + '8 10 9.00 1.00\n'),
                  [('IMB Accumulate', 'aggregate', {8: 2.0}), ('IMB Accumulate', 'non-aggregate', {8: 9.0})], ''),
    'IMB groups': ('# Benchmarking Multi-PingPong\n# ( 2 groups of 2 processes each running simultaneous )\n'
                   'Group #bytes #repetitions t[usec] Mbytes/sec\n0 8 10 1.10 7.27\n1 8 10 1.30 6.15\n\n12345\n'
                   '0 16 10 1.20 7.27\n1 16 10 1,4 6.15\n',
                   [('IMB Multi-PingPong', 'group 0', {8: 1.1, 16: 1.2}), ('IMB Multi-PingPong', 'group 1', {8: 1.3})],
                   ':9:'),
    'rccl-tests': ('$ srun -n2 ./all_reduce_perf -b 8\n' + CCL, [
        ('xccl all_reduce_perf', '', {8: 161140.0, 16: 171140.0}),
        ('xccl all_reduce_perf', 'in place', {8: 154630.0})], ':8:'),
}


@pytest.mark.parametrize('text, tables, named', LAYOUTS.values(), ids=LAYOUTS)
def test_tables_of_other_layouts_are_read_and_harm_no_other(tmp_path, capsys, text, tables, named):
    path = write(tmp_path / 'layout.txt', text)
    series = imported.read(str(path)).series
    assert [(one.case.benchmark, one.case.variant, one.medians()) for one in series] == tables
    code, out, _ = call(capsys, 'compare', path, path)
    assert code == 0 and f'layout.txt{named}' in ''.join(out.split())


def test_what_does_not_say_its_program_is_helped_by_one_command(tmp_path, capsys):
    for text, name in ((CCL, 'all_reduce_perf'), (IMB_HEAD + '8 10 2.00 4.00\n', 'IMB PingPong'),
                       ('1 2.00\n', 'osu_bw')):
        path = write(tmp_path / 'unsaid.txt', text)
        code, _, err = call(capsys, 'import', path, '-o', tmp_path / 'x')
        assert code == 1 and '--benchmark' in err and name in err
        assert call(capsys, 'import', path, '-o', tmp_path / name, '--benchmark', name)[0] == 0
        assert run_files.read(tmp_path / name).series[0].case.benchmark.endswith(name)


HOSTILE = [
    ('empty', b'', 'is empty'),
    ('blanks', b' \n\n', 'is empty'),
    ('binary', b'\x01\x02\x03\x02', ':1: it is no text'),
    ('program', b'\x7fELF\x00\x01\x02', 'it is a program, a library'),
    ('cut-gz', gzip.compress(b'x' * 999)[:-9], 'cannot be read: what is packed in it is not whole'),
    ('zstd', b'\x28\xb5\x2f\xfd1', 'zstdcat FILE > FILE.txt'),
    ('prose', b'Segmentation fault\n', r'no figures in 1 line\(s\).*it ends with: Segmentation fault'),
    ('no-title', b'srun: hello\n1 2.00\n2 4.00\n', r':2: figures without a title.*--benchmark osu_bw'),
    ('order', (BANDWIDTH + '1 2.00\n8 4.00\n2 3.00\n').encode(), r':6: size 2 after size 8'),
    ('twice', (BANDWIDTH + '1 2.00\n1 2.00\n').encode(), r':5: size 1 after size 1'),
    ('alone', b'# OSU MPI Latency Test v7.5\n# OSU MPI Latency Test v7.5\n1 2.00\n1 2.00\n', 'every rank run alone'),
    ('no-rows', BANDWIDTH.encode(), r':1: no number from osu_bw'),
    ('wrong-data', (BANDWIDTH + '1 2.00 Pass\n2 2.00 Fail\n').encode(), r':1: osu_bw received data that was not sent'),
    ('new-program', b'# OSU MPI Telepathy Test v9\n1 2.00\n', r":1: the title '# OSU MPI Telepathy Test v9' is none"),
    ('imb-twice', b'# Benchmarking PingPong\n#bytes #repetitions t[usec]\n1 10 2.0\n1 10 2.0\n', r':4: size 1 of IMB'),
    ('imb-new', b'# Benchmarking PingPong\n#bytes #repetitions furlong\n1 10 2.0\n', r':1: .*no column that is known'),
    ('long-line', b'1 ' * (1 << 20), r': line 1 has more than 1048576 bytes'),
    ('digits', (BANDWIDTH + '9' * 5000 + ' 1.00\n').encode(), 'no number from osu_bw'),
]


@pytest.mark.parametrize('content, says', [entry[1:] for entry in HOSTILE], ids=[entry[0] for entry in HOSTILE])
def test_a_file_without_figures_is_named_with_its_line_and_what_was_wanted(tmp_path, capsys, content, says):
    path = tmp_path / 'odd.txt'
    path.write_bytes(content)
    for arguments, code in ((['import', path, '-o', tmp_path / 'run'], 1), (['compare', path, 'lumi-g-2025-03'], 3)):
        found, out, err = call(capsys, *arguments)
        assert (found, out) == (code, '') and str(path) in err and re.search(says, err), err
        assert len(err) < 1500 and 'Traceback' not in err
    assert not (tmp_path / 'run').exists() and os.listdir(tmp_path) == ['odd.txt']


@pytest.mark.parametrize('last, kept', [('4194304  240', False), ('4194304', False), ('4194304  24005.74', True)])
def test_a_cut_off_last_line_is_left_out_and_named(tmp_path, last, kept):
    output = outputs.read(write(tmp_path / 'cut.txt', BANDWIDTH + '1  1.47\n1048576  23935.47\n' + last))
    assert (4194304 in output.tables[0].values) == kept
    assert bool(output.notes) != kept and all('cut off' in note for note in output.notes)


def test_buffers_that_nobody_has_said_are_in_no_comparison_with_those_of_a_device(tmp_path, capsys):
    """OSU 7.5 prints its first line alone for D D, H D and D H."""
    path = write(tmp_path / 'gpu.txt', BANDWIDTH.replace('MPI B', 'MPI-ROCM B') + '1 2.00\n4194304 24000.00\n')
    assert imported.read(str(path)).cases == [Case('osu_bw', '', None, 2, 'buffers not known')]
    assert call(capsys, 'compare', path, 'lumi-g-2025-03')[0] == 3
    assert call(capsys, 'import', path, '-o', tmp_path / 'run', '--buffers', 'D D', '--nodes', '2')[0] == 0
    assert run_files.read(tmp_path / 'run').cases == [Case('osu_bw', 'D D', 2, 2)]
    code, _, err = call(capsys, 'import', write(tmp_path / 'h.txt', BANDWIDTH + '1 2.00\n'), '--buffers', 'D D', '-o',
                        tmp_path / 'no')
    assert code == 1 and 'buffers D D were asked for, and osu_bw says H H' in err


def test_what_contradicts_is_refused(tmp_path, capsys):
    one = write(tmp_path / 'one.txt', BANDWIDTH + '1 2.00\n')
    same = write(tmp_path / 'same.txt', BANDWIDTH + '1 2.00\n')
    other = write(tmp_path / 'other.txt', BANDWIDTH.replace('v7.5', 'v5.8') + '1 2.00\n')
    for second, says in ((same, 'byte for byte'), (other, r'OSU C programs 5\.8.*OSU C programs 7\.5')):
        code, _, err = call(capsys, 'import', f'a={one}', f'a={second}', '-o', tmp_path / 'run')
        assert code == 1 and re.search(says, err) and not (tmp_path / 'run').exists()


C_PROGRAM = """
# OSU MPI Bandwidth Test v7.5
# Datatype: MPI_CHAR.
# Size      Bandwidth (MB/s)
1                       2.53
2                       5.35
65536               10006.92
"""
PORT = """# osu_bw: mpi4py 4.1.2 port, not the C program of the OSU Micro-Benchmarks
# Values are MB/s (the port heads their column 'Latency [us]')
# MPI Bandwidth Test
# Size [B]        Latency [us]
         1                0.07
         2                5.35
     65536            10006.92
"""


@pytest.mark.parametrize('text, port, programs', [
    (C_PROGRAM, None, 'OSU C programs'),
    (PORT, '4.1.2', 'mpi4py 4.1.2 ports'),
])
def test_both_kinds_of_program_give_numbers_by_size_and_lines_of_others(text, port, programs):
    """Their unit follows from the benchmark: the ports head the column of bandwidths with that of times."""
    text = text.replace('2    ', 'srun: job 7 has been allocated resources\n2    ', 1) + 'slurmstepd: 1 warning\n'
    output = parse(text, benchmark='osu_bw', source='x', largest=65536)
    assert (sorted(output.values), output.values[65536], output.unit) == ([1, 2, 65536], 10006.92, 'MB/s')
    assert (output.port, output.programs) == (port, programs)
    assert [line.strip() for line in output.foreign] == ['srun: job 7 has been allocated resources',
                                                         'slurmstepd: 1 warning']


@pytest.mark.parametrize('unit, values', [('MB/s', {1: 2.0, 2: 2500.0}), ('GB/s', {1: 2000.0, 2: 2.5e6}),
                                          ('MiB/s', {1: 2.097152, 2: 2621.44}), ('us', {1: 2.0, 2: 2500.0})])
def test_the_unit_of_the_heading_counts_and_a_number_alone_only_in_a_table(unit, values):
    text = f'# OSU MPI Bandwidth Test v7.5\n77\n# Size      Bandwidth ({unit})\n1  2.00\n{{}}2  2500.00\n77\n4.25\n'
    output = parse(text.format(''), benchmark='osu_bw', source='x')
    assert output.values == pytest.approx(values) and not output.broken and output.foreign == ['77', '77', '4.25']
    assert parse(text.format('4.25\n'), benchmark='osu_bw', source='x').broken == ['x:5: 4.25']


@pytest.mark.parametrize('text, source, says', [
    (C_PROGRAM, 'raw/bind.txt', r'raw/bind\.txt: the table of osu_bw ends at 65536 bytes, wanted 4194304'),
    ('', 'x', 'x: no number from osu_bw in 0 line'), ('# OSU MPI Bandwidth Test v7.5\n', 'x', 'in 1 line'),
    ('srun: error: Unable to allocate\n', 'x', 'it says: srun: error: Unable to allo'),
    (C_PROGRAM.replace('MB/s', 'Gbit/s'), 'x', 'its heading says Gbit/s, wanted one of MB/s, '),
    (C_PROGRAM + C_PROGRAM, 'x', 'Did every rank run alone'),
    # Two ranks that ran alone print the same lines in turn.
    (''.join(line + line for line in PORT.splitlines(keepends=True)), 'x', 'Did every rank run alone'),
    ('# MPI Latency Test\n# MPI Latency Test\n1   2.0\n', 'x', 'two tables in one output')])
def test_what_is_no_whole_table_is_an_error_that_says_why(text, source, says):
    with pytest.raises(OutputError, match=says):
        parse(text, benchmark='osu_bw', source=source, largest=4194304)


@pytest.mark.parametrize('benchmark, text, value, unit', [
    ('osu_barrier', '# OSU MPI Barrier Latency Test v7.5\n# Avg Latency(us)\n             1.53\n', 1.53, 'us'),
    ('osu_barrier', '# osu_barrier: mpi4py 4.1.2 port\n# MPI Barrier Latency Test\nsrun: x\n     0     1.53\n',
     1.53, 'us'),
    ('osu_init', '# OSU MPI Init Test v7.5\nnprocs: 4, min: 50 ms, max: 61 ms, avg: 55 ms\n', 55.0, 'ms'),
])
def test_a_benchmark_without_sizes_has_its_number_at_size_0(benchmark, text, value, unit):
    output = parse(text, benchmark=benchmark, source='x', largest=4194304)
    assert (output.values, output.unit) == ({0: value}, unit)


@pytest.mark.parametrize('text, expected', [
    ('provider: sm2, score = 3\nlibfabric provider: tcp - 192.0.2.0/24\n# MPI Latency Test\n', ('ofi', 'tcp')),
    ('libfabric provider: tcp;ofi_rxm - 192.0.2.0/24\n', ('ofi', 'tcp;ofi_rxm')),
    ('==== UCX netmod Capability ====\n', ('ucx', None)),
    (PORT, (None, None)),
])
def test_the_provider_is_what_mpich_says(text, expected):
    assert network_of(text) == expected


# ---- where the buffers are ------------------------------------------------------------------------------------------

def c_program(kind='MPI', *comments, title='Bandwidth', rows=('1                       2.53', '2             5.35')):
    """What a C program prints (print_header and print_preamble of c/util in OSU 7.4)."""
    return '\n'.join(['', f'# OSU {kind} {title} Test v7.4', '# Datatype: MPI_CHAR.', *comments,
                      '# Size      Bandwidth (MB/s)', *rows, ''])


SENT = '# Send Buffer on {} and Receive Buffer on {}'
WINDOW = '# Rank 0 Memory on {} and Rank 1 Memory on {}'
HOST, DEVICE, MANAGED = 'HOST (H)', 'DEVICE (D)', 'MANAGED (MD)'
SAYS = [  # benchmark, buffers asked for, what it prints
    ('osu_bw', 'D D', c_program('MPI-CUDA', SENT.format(DEVICE, DEVICE))),
    ('osu_bw', 'D D', c_program('MPI-ROCM', SENT.format(DEVICE, DEVICE))),
    ('osu_latency', 'H D', c_program('MPI-ROCM', SENT.format(HOST, DEVICE))),
    ('osu_latency', 'D H', c_program('MPI-ROCM', SENT.format(DEVICE, HOST))),
    ('osu_bibw', 'M M', c_program('MPI-CUDA', SENT.format(MANAGED, MANAGED))),
    ('osu_bibw', 'M M', c_program('MPI-CUDA', SENT.format('MANAGED (MH)', 'MANAGED (MH)'))),
    ('osu_get_bw', 'D D', c_program('MPI_Get-ROCM', WINDOW.format(DEVICE, DEVICE))),
    ('osu_get_bw', 'M M', c_program('MPI_Get-CUDA', WINDOW.format('MANAGED (M)', 'MANAGED (M)'))),
    ('osu_xccl_bw', 'D D', c_program('NCCL-ROCM', SENT.format(DEVICE, DEVICE))),
    ('osu_bw', 'D D', c_program('MPI-CUDA')),  # 7.5, as on Alps
    ('osu_latency', 'H D', c_program('MPI-ROCM', title='Latency')),
    ('osu_bibw', 'M M', c_program('MPI-CUDA')),
    ('osu_get_bw', 'D D', c_program('MPI_Get-CUDA')),
    ('osu_xccl_latency', 'D D', c_program('NCCL-CUDA', title='Latency')),
    ('osu_allreduce', 'M M', c_program('MPI-CUDA MANAGED', title='Allreduce Latency')),
    ('osu_alltoall', 'D D', c_program('MPI-CUDA', title='All-to-All Personalized Exchange Latency')),
    ('osu_allreduce', 'D D', c_program('MPI-ROCM', title='Allreduce Latency')),
    ('osu_latency', 'D D', f"# osu_latency: mpi4py 4.1.2 port\n{SENT.format(DEVICE, DEVICE)}\n1    2.5\n"),
    ('osu_bw', 'D D', '# osu_bw: mpi4py 4.1.2 port, not the C program, buffers: cupy 13.4.1\n1    2.5\n'),
]


@pytest.mark.parametrize('benchmark, buffers, text', SAYS)
def test_numbers_of_device_memory_are_those_of_a_program_that_says_so(benchmark, buffers, text):
    assert parse(text, benchmark=benchmark, source='x', buffers=buffers).values


@pytest.mark.parametrize('benchmark, buffers, text', SAYS)
def test_without_these_words_they_are_those_of_host_memory(benchmark, buffers, text):
    """A program without support for GPUs ignores `D D`, prints a table and ends with exit code 0."""
    lines = [line for line in text.splitlines() if ' Buffer on ' not in line and ' Memory on ' not in line]
    plain = '\n'.join(re.sub(r'-(CUDA MANAGED|CUDA|ROCM)|, buffers: cupy .*', '', line) for line in lines)
    assert plain != text
    with pytest.raises(OutputError, match=f'x: buffers {buffers} were asked for, and {benchmark} does not say so.*host '
                                          'memory. Use an image, or a native build'):
        parse(plain, benchmark=benchmark, source='x', buffers=buffers)
    assert parse(plain, benchmark=benchmark, source='x', buffers='H H').values


@pytest.mark.parametrize('asked, sides', [('D D', (HOST, HOST)), ('D D', (HOST, DEVICE)), ('H D', (DEVICE, HOST)),
                                          ('M M', (DEVICE, DEVICE)), ('D D', (MANAGED, MANAGED))])
def test_buffers_elsewhere_than_asked_for_are_an_error(asked, sides):
    with pytest.raises(OutputError, match=f'buffers {asked} were asked for, and osu_bw says that they are'):
        parse(c_program('MPI-CUDA', SENT.format(*sides)), benchmark='osu_bw', source='x', buffers=asked)


# ---- which programs, checked data ------------------------------------------------------------------------------------

@pytest.mark.parametrize('text, release, programs', [
    (C_PROGRAM, '7.5', 'OSU C programs'),
    (c_program('MPI-ROCM'), '7.4', 'OSU C programs'),
    ('# OSU MPI Init Test v7.5.1\n1 2.0\n', '7.5.1', 'OSU C programs'),
    (PORT, None, 'mpi4py 4.1.2 ports'),
    ('# OMB-Py MPI Bandwidth Test\n# Size (B)  Bandwidth (MB/s)\n1    82.20\n', None, 'OSU Python programs'),
    ('# OMB Python MPI Latency Test\n# Size (B)      Latency (us)\n1    82.20\n', None, 'OSU Python programs'),
])
def test_the_output_says_which_programs_of_which_release_ran(text, release, programs):
    output = parse(text, benchmark='osu_bw', source='x')
    assert (output.release, output.programs) == (release, programs)


@pytest.mark.parametrize('row', ['1       2.53       Pass', '1      2.53      Pass      2.20      2.75',
                                 '1       2.53      2.20      2.75       1000       Pass'])
def test_a_row_that_says_that_the_data_was_right_is_a_row(row):
    output = parse(c_program(rows=(row, row.replace('1 ', '2 ', 1))), benchmark='osu_bw', source='x', check=True,
                   largest=2)
    assert output.values == {1: 2.53, 2: 2.53} and output.checked and not output.broken + output.foreign
    assert not parse(C_PROGRAM, benchmark='osu_bw', source='x').checked


@pytest.mark.parametrize('check', [True, False])
def test_data_that_was_not_sent_is_an_error_whoever_asked(check):
    rows = ('1      2.53      Pass', '2       5.35       Fail')
    with pytest.raises(OutputError, match=r'received data that was not sent, at 2 bytes \(.*Fail\)'):
        parse(c_program(rows=rows) + 'DATA VALIDATION ERROR: osu_bw exited with status 1 on message size 2.\n',
              benchmark='osu_bw', source='x', largest=4194304, check=check)


def test_a_check_that_was_asked_for_and_not_made_is_an_error():
    with pytest.raises(OutputError, match='asked to check the data that arrives.*without --validate'):
        parse(C_PROGRAM, benchmark='osu_bw', source='x', check=True)
