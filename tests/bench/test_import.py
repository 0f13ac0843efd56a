"""
Outputs of OSU's programs, IMB and nccl-tests: how a table is read, and how files of them become
a run.
"""

import gzip
import json
import lzma
import os
import re

import pytest

from osu_container import cli as command_line
from osu_container.bench.compare.cli import collect_comparisons
from osu_container.bench.results import imported, outputs, run_files
from osu_container.bench.results.model import Case
from osu_container.bench.results.osu_output import (
    UNKNOWN_BUFFERS,
    OutputError,
    parse,
    parse_network,
)
from tests.helpers.machine import PROJECT, run

#: Figures of outputs in public places, each with its address; the text around them is the programs'
#: own layout
PUBLIC = json.loads((PROJECT / 'tests' / 'bench' / 'public_outputs.json').read_text())
BANDWIDTH = '# OSU MPI Bandwidth Test v7.5\n# Datatype: MPI_CHAR.\n# Size      Bandwidth (MB/s)\n'
GPU_BANDWIDTH = BANDWIDTH.replace('MPI B', 'MPI-ROCM B')
PORT = """# osu_bw: mpi4py 4.1.2 port, not the C program of the OSU Micro-Benchmarks
# MPI Bandwidth Test
# Size [B]        Latency [us]
         1                0.07
     65536            10006.92
"""


def format_program_output(sample):
    """Return the text (str) that the program prints for the figures of a sample."""
    label, noise = sample.get('label', ''), sample.get('noise', [])
    lines = [sample['command']] if 'command' in sample else []
    if sample['kind'] == 'imb':
        lines += [
            '#' + 64 * '-',
            f"# Benchmarking {sample['benchmark'].partition(' ')[2]}",
            f"# #processes = {sample['ranks']}",
            '#' + 64 * '-',
            f"       #bytes #repetitions  {sample['heads']}",
        ]
        lines += ['  '.join(f'{cell:13}' for cell in row) for row in sample['rows']]
    else:
        lines += [
            '',
            f"# {sample['title']}",
            *(f'# {comment}' for comment in sample.get('comments', [])),
            '# Size  us',
        ]
        lines += noise
        lines += [
            f'{row[0]:<10}'
            + ''.join(
                f'{cell:>20}' if isinstance(cell, (int, str)) else f'{cell:>20.6f}'
                for cell in row[1:]
            )
            for row in sample['rows']
        ]
    return ''.join(
        f"{label if not label.endswith(chr(92)) or line.startswith('#') else ''}{line}\n"
        for line in lines
    )


def write(path, text):
    """Write text to a new file and return its path."""
    path.write_text(text)
    return path


def call(capsys, *arguments):
    """Call the command in this process; return (exit code, stdout, stderr)."""
    code = command_line.main([str(one) for one in arguments])
    return code, *capsys.readouterr()


# ---- tables of OSU's programs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    'text, programs, release',
    [
        (BANDWIDTH + '1  0.07\n65536  10006.92\n', 'OSU C programs', '7.5'),
        (PORT, 'mpi4py 4.1.2 ports', None),
        (
            '# OMB-Py MPI Bandwidth Test\n# Size (B)  Bandwidth (MB/s)\n1 0.07\n65536 10006.92\n',
            'OSU Python programs',
            None,
        ),
    ],
)
def test_each_kind_of_program_gives_figures_by_size(text, programs, release):
    text = (
        text.replace('\n65536', '\nsrun: job 7 has been allocated resources\n65536')
        + 'slurmstepd: 1 warning\n'
    )
    table = parse(text, benchmark='osu_bw', source='x', largest_size=65536)
    assert (table.values, table.programs, table.release) == (
        {1: 0.07, 65536: 10006.92},
        programs,
        release,
    )
    assert len(table.foreign_lines) + len(table.broken_lines) == 2 - text.count('\n     65536')


@pytest.mark.parametrize(
    'text, says',
    [
        (PORT, '65536.*4194304'),
        ('', r'osu_bw.*\b0\b'),
        ('srun: error: Unable to allocate\n', 'srun: error: Unable to allo'),
        (BANDWIDTH.replace('MB/s', 'GB/s') + '1 2.00\n', 'GB/s.*MB/s'),
    ],
)
def test_incomplete_table_is_refused(text, says):
    with pytest.raises(OutputError, match=says):
        parse(text, benchmark='osu_bw', source='x', largest_size=4194304)


@pytest.mark.parametrize(
    'benchmark, text, value',
    [
        (
            'osu_barrier',
            '# OSU MPI Barrier Latency Test v7.5\n# Avg Latency(us)\n             1.53\n',
            1.53,
        ),
        (
            'osu_barrier',
            '# osu_barrier: mpi4py 4.1.2 port\n# MPI Barrier Latency Test\nsrun: x\n     0     1.53\n',
            1.53,
        ),
        (
            'osu_init',
            '# OSU MPI Init Test v7.5\nnprocs: 4, min: 50 ms, max: 61 ms, avg: 55 ms\n',
            55.0,
        ),
    ],
)
def test_a_benchmark_without_sizes_has_its_number_at_size_0(benchmark, text, value):
    assert parse(text, benchmark=benchmark, source='x', largest_size=4194304).values == {0: value}


@pytest.mark.parametrize(
    'text, expected',
    [
        (
            'provider: sm2, score = 3\nlibfabric provider: tcp;ofi_rxm - 192.0.2.0/24\n',
            ('ofi', 'tcp;ofi_rxm'),
        ),
        ('==== UCX netmod Capability ====\n', ('ucx', None)),
        (PORT, (None, None)),
    ],
)
def test_mpich_names_its_netmod_and_provider(text, expected):
    assert parse_network(text) == expected


#: Kinds of rows of which no figure is read: how people and systems change them
ROWS = '''\
{size}  {value:.2f}   <- slow?
{size}  {value:.2f} MB/s
{size} {value:.2f}MB/s
1,048,576  {value:,.2f}
| {size} | {value:.2f} |
{size}  1.234,56
{size}  {size} srun: error
{size}  nan
{size}  22 310.02
4K  {value:.2f}
{size}  n/a
{size} {value:.2f}srun: error
{size}  -
srun: error{size}  {value:.2f}'''.splitlines()


@pytest.mark.parametrize('row', ROWS)
def test_malformed_row_is_named(row):
    row = row.format(size=4096, value=1234.56)
    table = parse(
        f'{BANDWIDTH}1 1.21\n2 2.38 7.10\n{row}\n8192 9.62\n', benchmark='osu_bw', source='x'
    )
    assert (table.values, table.broken_lines) == ({1: 1.21, 2: 2.38, 8192: 9.62}, [f'x:6: {row}'])


# ---- where the buffers are, checked data -----------------------------------------------------------------------------


def format_c_program_output(
    kind='MPI',
    *comments,
    title='Bandwidth',
    rows=('1                       2.53', '2             5.35'),
):
    """What a C program prints (print_header and print_preamble of c/util in OSU 7.4)."""
    return '\n'.join(
        [
            '',
            f'# OSU {kind} {title} Test v7.4',
            '# Datatype: MPI_CHAR.',
            *comments,
            '# Size      Bandwidth (MB/s)',
            *rows,
            '',
        ]
    )


SENT = '# Send Buffer on {} and Receive Buffer on {}'
WINDOW = '# Rank 0 Memory on {} and Rank 1 Memory on {}'
HOST, DEVICE, MANAGED = 'HOST (H)', 'DEVICE (D)', 'MANAGED (MD)'
SAYS = [  # benchmark, buffers asked for, what it prints
    ('osu_latency', 'H D', format_c_program_output('MPI-ROCM', SENT.format(HOST, DEVICE))),
    ('osu_bibw', 'M M', format_c_program_output('MPI-CUDA', SENT.format(MANAGED, 'MANAGED (MH)'))),
    ('osu_get_bw', 'D D', format_c_program_output('MPI_Get-ROCM', WINDOW.format(DEVICE, DEVICE))),
    ('osu_xccl_bw', 'D D', format_c_program_output('NCCL-ROCM', SENT.format(DEVICE, DEVICE))),
    ('osu_bw', 'D D', format_c_program_output('MPI-CUDA')),  # 7.5, as on Alps
    (
        'osu_allreduce',
        'M M',
        format_c_program_output('MPI-CUDA MANAGED', title='Allreduce Latency'),
    ),
    (
        'osu_latency',
        'D D',
        f"# osu_latency: mpi4py 4.1.2 port\n{SENT.format(DEVICE, DEVICE)}\n1    2.5\n",
    ),
    (
        'osu_bw',
        'D D',
        '# osu_bw: mpi4py 4.1.2 port, not the C program, buffers: cupy 13.4.1\n1    2.5\n',
    ),
]


@pytest.mark.parametrize('benchmark, buffers, text', SAYS)
def test_device_figures_require_reported_device_buffers(benchmark, buffers, text):
    """
    A program without support for GPUs ignores `D D`, prints a table and ends with exit code 0.
    """
    assert parse(text, benchmark=benchmark, source='x', buffers=buffers).values
    plain = re.sub(
        r'-(CUDA MANAGED|CUDA|ROCM)|, buffers: cupy .*|.* (Buffer|Memory) on .*\n', '', text
    )
    with pytest.raises(OutputError, match=rf'\b{buffers}\b.*\b{benchmark}\b.*MPI-ROCM'):
        parse(plain, benchmark=benchmark, source='x', buffers=buffers)
    assert parse(plain, benchmark=benchmark, source='x', buffers='H H').values


@pytest.mark.parametrize(
    'asked, sides',
    [
        ('D D', (HOST, HOST)),
        ('H D', (DEVICE, HOST)),
        ('D D', (MANAGED, MANAGED)),
    ],
)
def test_unrequested_buffer_location_is_an_error(asked, sides):
    with pytest.raises(OutputError, match=rf'\b{asked}\b.*\bosu_bw\b'):
        parse(
            format_c_program_output('MPI-CUDA', SENT.format(*sides)),
            benchmark='osu_bw',
            source='x',
            buffers=asked,
        )


@pytest.mark.parametrize(
    'row',
    [
        '1       2.53       Pass',
        '1      2.53      Pass      2.20      2.75',
        '1       2.53      2.20      2.75       1000       Pass',
    ],
)
def test_a_checked_row_is_read_and_an_unchecked_one_refused(row):
    table = parse(
        format_c_program_output(rows=(row, row.replace('1 ', '2 ', 1))),
        benchmark='osu_bw',
        source='x',
        check=True,
    )
    assert (
        table.values == {1: 2.53, 2: 2.53}
        and table.is_checked
        and not table.broken_lines + table.foreign_lines
    )
    with pytest.raises(OutputError, match='--validate'):
        parse(format_c_program_output(), benchmark='osu_bw', source='x', check=True)
    with pytest.raises(OutputError, match=r'\b2\b.*Fail'):
        parse(
            format_c_program_output(rows=(row, '2       5.35       Fail')),
            benchmark='osu_bw',
            source='x',
        )


# ---- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize('sample', PUBLIC, ids=lambda sample: sample['source'].split('//')[1])
def test_public_output_is_imported_figure_by_figure(tmp_path, sample):
    path = write(tmp_path / 'out.txt', format_program_output(sample))
    if 'refused' in sample:
        with pytest.raises(outputs.NoFiguresError, match=sample['refused']):
            outputs.read_output(path)
        return
    (table,) = outputs.read_output(path).tables
    column = sample.get('column', 0) + 1
    figures = {row[0]: float(row[column]) for row in sample['rows']}
    assert (table.benchmark, table.reason) == (sample['benchmark'], None)
    assert {**table.values, **dict.fromkeys(table.zeros, 0.0)} == pytest.approx(figures)
    said = {key: sample.get(key) for key in ('release', 'ranks', 'nodes', 'buffers')}
    assert {key: getattr(table, key) for key in said} == said
    assert table.is_checked == sample.get('checked', False) and not table.broken_lines
    assert set(table.unknown_fields) >= {key for key, value in said.items() if value is None}


MANY = (
    f'''srun: job 99 queued and waiting for resources
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
'''
    + PORT
)
#: How a file may be written
WRITTEN = {
    'UTF-8': str.encode,
    'UTF-16': lambda text: text.encode('utf-16'),
    'BOM': lambda text: text.encode('utf-8-sig'),
    'Latin-1': lambda text: text.replace('nothing', 'Größe').encode('latin-1'),
    'gz': lambda text: gzip.compress(text.encode()),
    'xz': lambda text: lzma.compress(text.encode()),
    'holes': lambda text: bytes(512) + text.replace('\n', '\n\0\0', 5).encode(),
    'CRLF': lambda text: text.replace('\n', '\r\n').encode(),
    'mpiexec -l': lambda text: re.sub(r'^', '[0] ', text, flags=re.M).encode(),
    'colours': lambda text: re.sub(r'^(\d)', '\033[1;32m\\1', text, flags=re.M).encode(),
}


@pytest.mark.parametrize('written', WRITTEN)
def test_one_file_of_any_encoding_holds_several_benchmarks(tmp_path, written):
    path = tmp_path / 'job.out'
    path.write_bytes(WRITTEN[written](MANY))
    found = [
        (table.case, table.programs, table.values) for table in outputs.read_output(path).tables
    ]
    assert found == [
        (Case('osu_bw', 'H H', 2, 2), 'OSU C programs', {1: 1.47, 4194304: 24005.74}),
        (Case('osu_bw', 'D D', 2, 2), 'OSU C programs', {1: 1.42, 4194304: 23995.77}),
        (Case('osu_latency', 'H H', None, 2), 'OSU C programs', {0: 1.84, 4096: 3.16}),
        (Case('osu_bw', 'H H', None, 2), 'mpi4py 4.1.2 ports', {1: 0.07, 65536: 10006.92}),
    ]


def test_import_writes_a_run_and_names_unknown_facts(tmp_path, capsys):
    path, folder = (
        write(tmp_path / 'job.out', MANY + '131072  nan'),
        tmp_path / 'run',
    )
    code, out, err = call(capsys, 'import', f'mine={path}', '-o', folder)
    assert (code, err) == (0, '') and re.search(f'{path}.*nodes, site, libraries', out)
    assert f'{path}:{len(MANY.splitlines()) + 1}:' in out, 'the row that is not read'
    written, direct = run_files.read_results(folder), imported.read_output_dataset(f'mine={path}')
    assert [(one.name, one.case, one.values, one.program_release) for one in written.series] == [
        (one.name, one.case, one.values, one.program_release) for one in direct.series
    ]
    assert (
        written.facts['imported'][0]['bytes'] == path.stat().st_size
        and written.facts['site'] == outputs.UNKNOWN
    )
    assert call(capsys, 'import', path, '-o', folder)[0] == 1 and run_files.read_results(
        folder
    ).names == ['mine']
    path = write(tmp_path / 'one.out', MANY.partition('# osu_bw: mpi4py')[0])
    _, out, _ = call(
        capsys,
        'import',
        path,
        '-o',
        tmp_path / 'other',
        '--nodes',
        2,
        '--site',
        'lumi-25.03',
        '--json',
    )
    told = json.loads(out)
    assert {one['case']['nodes'] for one in told['series']} == {2} and told['failed'] == []
    assert run_files.read_results(tmp_path / 'other').facts['site'] == 'lumi-25.03'


def test_compare_and_report_accept_raw_outputs(tmp_path, capsys):
    mine = write(tmp_path / 'mine.txt', MANY)
    theirs = write(tmp_path / 'theirs.txt', MANY.replace('24005.74', '12000.00'))
    code, out, _ = call(capsys, 'compare', theirs, mine, '--no-sizes')
    assert code == 1 and re.search('0.50.*4 MiB', out)
    assert re.search(f'{mine}.*nodes, site, libraries', ' '.join(out.split()))
    result = collect_comparisons(str(mine), ['lumi-g-2025-03:native'])
    assert {one.case.benchmark for one in result['comparisons']} == {'osu_bw', 'osu_latency'}
    page = tmp_path / 'page.html'
    assert call(capsys, 'report', mine, theirs, '-o', page)[0] == 0 and 'theirs' in page.read_text()
    assert (
        call(capsys, 'import', f'native={mine}', f'pure={theirs}', '-o', tmp_path / 'run')[0] == 0
    )
    assert ['pure', 'native'] in [
        one.names for one in collect_comparisons(str(tmp_path / 'run'))['comparisons']
    ]


def test_imb_outputs_are_compared_with_imb_only(tmp_path, capsys):
    head = (
        '#    Intel(R) MPI Benchmarks 2021.3, MPI-1 part\n# Benchmarking {}\n# #processes = 2\n{}\n'
    )
    times = head.format('PingPong', '#bytes #repetitions t[usec] Mbytes/sec')
    one = write(tmp_path / 'one.txt', times + '0 1000 1.66 0.00\n8 1000 1.66 4.81\n')
    two = write(
        tmp_path / 'two.txt',
        times
        + '0 1000 1.66 0.00\n8 1000 3.40 2.35\n9 1000 3,5 2.35\n'
        + head.format('Uniband', '#bytes #repetitions Mbytes/sec Msg/sec')
        + '8 1000 25.66 12\n',
    )
    code, out, _ = call(capsys, 'compare', two, one)
    assert code == 1 and 'two.txt:7:' in ''.join(out.split())
    assert [
        (each.case, each.case.more_is_better)
        for each in imported.read_output_dataset(str(two)).series
    ] == [
        (Case('IMB PingPong', 'H H', None, 2), False),
        (Case('IMB Uniband', 'H H', None, 2), True),
    ]
    assert (
        call(
            capsys,
            'compare',
            one,
            write(tmp_path / 'osu.txt', '# OSU MPI Latency Test v7.5\n8 1.66\n'),
        )[0]
        == 3
    )


def test_equal_tables_are_repeats_and_failures_are_separate(tmp_path):
    path = write(
        tmp_path / 'three.txt',
        ''.join(BANDWIDTH + f'1 {value}\n\n' for value in ('2.00', '2.10', '2.20'))
        + '# OSU MPI Latency Test v7.5\n# Size\nsrun: error: node2: Killed\n',
    )
    run = imported.read_output_dataset(str(path))
    assert [one.values for one in run.series] == [{1: {1: 2.0, 2: 2.1, 3: 2.2}}]
    assert any('osu_bw' in problem and ' 3 ' in problem for problem in run.problems)
    assert [(one.case.benchmark, 'Killed' in one.reason) for one in run.failures] == [
        ('osu_latency', True)
    ]
    result = collect_comparisons(str(path), [str(path)])
    assert {point.method for one in result['comparisons'] for point in one.points} == {'Welch'}, (
        'not paired'
    )


@pytest.mark.parametrize(
    'first, second, variants',
    [
        (
            '$ srun --gpu-bind=map_gpu:4,5 osu_bw',
            '$ srun --gpu-bind=map_gpu:4,6 osu_bw',
            ['--gpu-bind=map_gpu:4,5', '--gpu-bind=map_gpu:4,6'],
        ),
        ('+ srun -c 4 -n 2 osu_bw', '+ srun -c 7 -n 2 osu_bw', ['-c 4', '-c 7']),
        ('$ srun osu_bw', '', ['']),
        ('$ srun -c 4 -n 2 osu_bw', '$ srun -n 2 -c 4 osu_bw', ['']),
    ],
)
def test_tables_of_different_command_lines_are_different_cases(tmp_path, first, second, variants):
    path = write(
        tmp_path / 'both.txt', f'{first}\n{BANDWIDTH}1 2.00\n\n{second}\n{BANDWIDTH}1 2.00\n'
    )
    assert [one.case.variant for one in imported.read_output_dataset(str(path)).series] == variants


CCL = '''# nThread 1 nGpus 2 minBytes 8 maxBytes 16
rccl-tests: Version develop:83d38d9
#  Rank  0 Group  0 Pid  3 on   n126 device  0 [0000:05:00] AMD Instinct MI300X
#  Rank  1 Group  0 Pid  4 on   n127 device  0 [0000:05:00] AMD Instinct MI300X
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
           8             2     float     sum      -1    91.10   92.08  161.14      0    94.94   88.36  154.63      0
          16             4     float     sum      -1    91.10   92.08  171.14      0 killed
'''


#: UCC's perftest: the second column is the size
UCC = 'Collective: Alltoall\nCount  Size  Time, us\n65536  262144  76.46\n131072  524288  121.82\n'


@pytest.mark.parametrize('name', ['osu_alltoall', 'osu_bw', 'IMB Alltoall', 'alltoall_perf'])
def test_sizes_of_another_program_never_become_figures(tmp_path, capsys, name):
    path = write(tmp_path / 'ucc.txt', UCC)
    code, _, err = call(capsys, 'import', path, '-o', tmp_path / 'x', '--benchmark', name)
    assert (code, '--benchmark' in err) == (1, False) and not (tmp_path / 'x').exists()


def test_columns_left_out_are_named_once(tmp_path):
    text = '# OSU MPI Bandwidth Test v7.5\n# Size      Bandwidth (MB/s)      P99 Tail      Validation\n'
    path = write(tmp_path / 'x.txt', 2 * (text + '1 2.00 3.00 Pass\n'))
    problems = imported.read_output_dataset(str(path)).problems
    assert (str(problems).count('P99 Tail'), str(problems).count('Validation')) == (1, 0)


def test_nccl_tests_give_bus_bandwidth_out_of_place_and_in_place(tmp_path):
    path = write(tmp_path / 'ccl.txt', '$ srun -n2 ./all_reduce_perf -b 8\n' + CCL)
    run = imported.read_output_dataset(str(path))
    assert [(one.case, one.compute_medians()) for one in run.series] == [
        (Case('xccl all_reduce_perf', 'D D', 2, 2), {8: 161140.0, 16: 171140.0}),
        (Case('xccl all_reduce_perf', 'D D', 2, 2, 'in place'), {8: 154630.0}),
    ]
    assert any(f'{path}:8:' in problem for problem in run.problems)


@pytest.mark.parametrize(
    'text, name',
    [
        (CCL, 'all_reduce_perf'),
        (CCL[CCL.index('#       size') :], 'alltoall_perf'),
        ('1 2.00\n', 'osu_bw'),
        ('   #bytes #repetitions  t[usec]\n8 10 2.00\n', 'IMB PingPong'),
    ],
)
def test_an_unnamed_program_is_named_by_an_option(tmp_path, capsys, text, name):
    path = write(tmp_path / 'unsaid.txt', text)
    code, _, err = call(capsys, 'import', path, '-o', tmp_path / 'x')
    assert code == 1 and '--benchmark' in err
    assert call(capsys, 'import', path, '-o', tmp_path / 'run', '--benchmark', name)[0] == 0
    assert run_files.read_results(tmp_path / 'run').series[0].case.benchmark.endswith(name)


@pytest.mark.parametrize(
    'content, says',
    [
        (b' \n\n', 'empty.*nccl-tests'),
        (b'\x01\x02\x03\x02', ':1:.*nccl-tests'),
        (b'\x7fELF\x00\x01\x02', r'odd\.txt: (?!.*nccl-tests).*program'),
        (gzip.compress(b'x' * 999, mtime=0)[:-9], 'end-of-stream'),
        (b'\x28\xb5\x2f\xfd1', 'zstdcat FILE > FILE.txt'),
        (b'Segmentation fault\n', 'Segmentation fault'),
        (b'srun: hello\n1 2.00\n2 4.00\n', ':2:.*--benchmark'),
        ((BANDWIDTH + '1 2.00\n8 4.00\n2 3.00\n').encode(), r':6:.*\b2\b.*\b8\b.*--mpi='),
        (
            b'# OSU MPI Latency Test v7.5\n# OSU MPI Latency Test v7.5\n1 2.00\n1 2.00\n',
            r':4:.*\b1\b.*\b1\b.*--mpi=',
        ),
        ((BANDWIDTH + '1 2.00 Pass\n2 2.00 Fail\n').encode(), r':1:.*\b2\b.*Fail'),
        (b'# OSU MPI Telepathy Test v9\n1 2.00\n', ':1:.*Telepathy'),
        (b'#bytes #iterations BW peak[MB/sec]\n2 1000 4.86\n', ':2:.*not supported.*#iterations'),
        (UCC.encode(), ':3:.*not supported'),
        (
            b'# Benchmarking PingPong\n#bytes #repetitions t[usec]\n1 10 2.0\n1 10 2.0\n',
            r':4:.*\b1\b.*IMB.*--mpi=',
        ),
        (b'# Benchmarking PingPong\n#bytes #repetitions furlong\n1 10 2.0\n', ':1: .*furlong'),
        (b'1 ' * (1 << 20), 'line 1 .*1048576'),
        ((BANDWIDTH + '9' * 5000 + ' 1.00\n').encode(), ':1:.*osu_bw.*999'),
    ],
)
def test_a_file_without_figures_is_named_with_its_line(tmp_path, capsys, content, says):
    path = tmp_path / 'odd.txt'
    path.write_bytes(content)
    for arguments, code in (
        (['import', path, '-o', tmp_path / 'run'], 1),
        (['compare', path, 'lumi-g-2025-03'], 3),
    ):
        found, out, err = call(capsys, *arguments)
        assert (
            (found, out) == (code, '')
            and str(path) in err
            and re.search(says, err)
            and len(err) < 1500
        ), err
    assert os.listdir(tmp_path) == ['odd.txt']


def test_unknown_buffers_match_no_other_buffers(tmp_path, capsys):
    """OSU 7.5 prints its first line alone for D D, H D and D H."""
    path = write(tmp_path / 'gpu.txt', GPU_BANDWIDTH + '1 2.00\n4194304 24000.00\n')
    assert imported.read_output_dataset(str(path)).cases == [
        Case('osu_bw', '', None, 2, UNKNOWN_BUFFERS)
    ]
    assert call(capsys, 'compare', path, 'lumi-g-2025-03')[0] == 3
    assert (
        call(capsys, 'import', path, '-o', tmp_path / 'run', '--buffers', 'D D', '--nodes', '2')[0]
        == 0
    )
    assert run_files.read_results(tmp_path / 'run').cases == [Case('osu_bw', 'D D', 2, 2)]


def test_contradictions_are_refused(tmp_path, capsys):
    one, same = (write(tmp_path / name, BANDWIDTH + '1 2.00\n') for name in ('one.txt', 'same.txt'))
    other = write(tmp_path / 'other.txt', BANDWIDTH.replace('v7.5', 'v5.8') + '1 2.00\n')
    for words, says in (
        ((f'a={one}', f'a={same}'), 'same.txt.*one.txt'),
        ((f'a={one}', f'a={other}'), '7.5.*5.8'),
        ((one, '--buffers', 'D D'), 'D D .*H H'),
    ):
        code, _, err = call(capsys, 'import', *words, '-o', tmp_path / 'run')
        assert code == 1 and re.search(says, err) and not (tmp_path / 'run').exists()


#: 32 MB of these rows, below these headings, are read
LARGE = {
    'a table of OSU': (BANDWIDTH, '{0} 1.50\n'),
    'tables of OSU with one row': ('', BANDWIDTH + '1 {0}.50\n'),
    'IMB': ('# Benchmarking PingPong\n#bytes #repetitions t[usec]\n', '{0} 10 1.50\n'),
    'nccl-tests': (
        '# nThread 1\n# all_reduce_perf\n# size count type redop root time algbw busbw #wrong\n',
        '{0} 1 float sum -1 10.00 0.10 0.20 0\n',
    ),
}


@pytest.mark.nightly
@pytest.mark.parametrize('kind', LARGE)
def test_32_mb_of_each_kind_are_read(tmp_path, kind, capsys):
    head, row = LARGE[kind]
    rows = ''.join(map(row.format, range(1, (32 << 20) // len(row.format(123456)))))
    for name in 'ab':
        write(tmp_path / name, f'{head}{rows}'[: (32 << 20) - 9] + f'\n{name}')
    for words in ('import a -o run', 'compare a b', 'report run -o page', 'why a'):
        before = sum(os.times()[2:4])
        command = [PROJECT / 'scripts' / 'osu-container', *words.split()]
        done = run(command, cwd=tmp_path, timeout=3000)
        assert done.returncode == (words == 'why a'), done.stderr
        seconds = sum(os.times()[2:4]) - before
        with capsys.disabled():
            print(f'\n{kind}: {words}: {seconds:.1f} s of processor time', end='')
