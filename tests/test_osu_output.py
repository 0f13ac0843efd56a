"""Reading the output of the OSU C programs and of mpi4py's ports of them."""
import re

import pytest

from osu_container.osu_output import OutputError, network_of, parse, read

C_PROGRAM = """
# OSU MPI Bandwidth Test v7.5
# Datatype: MPI_CHAR.
# Size      Bandwidth (MB/s)
1                       2.53
2                       5.35
65536               10006.92
"""
C_PROGRAM_WITH_PERCENTILES = """# OSU MPI Latency Test v7.5
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)       P50 Tail Lat(us)       P99 Tail Lat(us)
1                       1.25                   1.20                   2.75
2                       1.26                   1.21                   2.80
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
def test_both_kinds_of_program_give_numbers_by_size(text, port, programs):
    output = parse(text, benchmark='osu_bw', source='x', largest=65536)
    assert sorted(output.values) == [1, 2, 65536]
    assert output.values[65536] == 10006.92
    assert (output.port, output.programs, output.foreign) == (port, programs, [])


def test_the_unit_follows_from_the_benchmark_not_from_the_title_of_the_column():
    assert 'Latency [us]' in PORT
    assert parse(PORT, benchmark='osu_bw', source='x').unit == 'MB/s'
    assert parse(C_PROGRAM_WITH_PERCENTILES, benchmark='osu_latency', source='x').unit == 'us'


def test_foreign_lines_are_returned():
    text = C_PROGRAM.replace('2    ', 'srun: job 7 has been allocated resources\n2    ', 1) + 'slurmstepd: 1 warning\n'
    output = parse(text, benchmark='osu_bw', source='x', largest=65536)
    assert output.foreign == ['srun: job 7 has been allocated resources', 'slurmstepd: 1 warning']
    assert len(output.values) == 3


def test_a_cut_off_table_names_the_file_and_both_sizes():
    with pytest.raises(OutputError, match=r'raw/bind\.txt: the table of osu_bw ends at 65536 bytes, wanted 4194304'):
        parse(C_PROGRAM, benchmark='osu_bw', source='raw/bind.txt', largest=4194304)


@pytest.mark.parametrize('text, says', [('', '0 line'), ('# OSU MPI Bandwidth Test v7.5\n', '1 line'),
                                        ('srun: error: Unable to allocate\n', 'it says: srun: error: Unable to allo')])
def test_an_empty_table_names_the_file_and_what_it_says_instead(text, says):
    with pytest.raises(OutputError, match=r'raw/pure\.txt: no number from osu_bw') as caught:
        parse(text, benchmark='osu_bw', source='raw/pure.txt')
    assert says in str(caught.value)


@pytest.mark.parametrize('text', [
    C_PROGRAM + C_PROGRAM,
    # Two ranks that ran alone print the same lines in turn.
    ''.join(line + line for line in PORT.splitlines(keepends=True)),
    '# MPI Latency Test\n# MPI Latency Test\n1   2.0\n'])
def test_ranks_that_ran_alone_are_an_error(text):
    with pytest.raises(OutputError, match='two tables in one output. Did every rank run alone'):
        parse(text, benchmark='osu_bw', source='x')


@pytest.mark.parametrize('benchmark, text, value, unit', [
    ('osu_barrier', '# OSU MPI Barrier Latency Test v7.5\n# Avg Latency(us)\n             1.53\n', 1.53, 'us'),
    ('osu_barrier', '# osu_barrier: mpi4py 4.1.2 port\n# MPI Barrier Latency Test\nsrun: x\n     0     1.53\n',
     1.53, 'us'),
    ('osu_init', '# OSU MPI Init Test v7.5\nnprocs: 4, min: 50 ms, max: 61 ms, avg: 55 ms\n', 55.0, 'ms'),
])
def test_a_benchmark_without_sizes_has_its_number_at_size_0(benchmark, text, value, unit):
    output = parse(text, benchmark=benchmark, source='x', largest=4194304)
    assert (output.values, output.unit) == ({0: value}, unit)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(OutputError, match='gone.txt: No such file'):
        read(tmp_path / 'gone.txt', benchmark='osu_bw')


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
