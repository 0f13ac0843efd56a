"""Reading the output of the OSU C programs and of mpi4py's ports of them."""
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


def test_of_several_columns_the_first_is_the_value():
    assert parse(C_PROGRAM_WITH_PERCENTILES, benchmark='osu_latency', source='x').values == {1: 1.25, 2: 1.26}


def test_foreign_lines_are_returned():
    text = C_PROGRAM.replace('2    ', 'srun: job 7 has been allocated resources\n2    ', 1) + 'slurmstepd: 1 warning\n'
    output = parse(text, benchmark='osu_bw', source='x', largest=65536)
    assert output.foreign == ['srun: job 7 has been allocated resources', 'slurmstepd: 1 warning']
    assert len(output.values) == 3


def test_a_number_that_is_glued_to_a_message_is_not_taken():
    output = parse(C_PROGRAM + '131072  12.5srun: error\n', benchmark='osu_bw', source='x')
    assert 131072 not in output.values and output.broken == ['131072  12.5srun: error'] and output.foreign == []


@pytest.mark.parametrize('line', [
    '4096   12.3srun: Step created for StepId=7.1',
    'srun: Job 7 step creation temporarily disabled, retrying (Requested nodes are busy)4096                   12.30',
    '4096                    nan',
    '4096                   -nan',
])
def test_a_line_that_mixes_numbers_and_messages_is_counted_and_the_rest_is_read(line):
    output = parse(C_PROGRAM.replace('65536', line + '\n65536', 1), benchmark='osu_bw', source='x', largest=65536)
    assert sorted(output.values) == [1, 2, 65536]
    assert output.broken == [line] and output.foreign == []


def test_the_message_of_the_published_runs_is_foreign_not_broken():
    # lumi-container-approaches.md, the opensource latency run
    line = 'srun: Job 9813899 step creation temporarily disabled, retrying (Requested nodes are busy)'
    output = parse(C_PROGRAM.replace('2    ', line + '\n2    ', 1), benchmark='osu_bw', source='x')
    assert output.foreign == [line] and output.broken == [] and len(output.values) == 3


def test_zero_is_no_value_but_is_said():
    output = parse(C_PROGRAM.replace('2.53', '0.00'), benchmark='osu_bw', source='x', largest=65536)
    assert sorted(output.values) == [2, 65536] and output.zeros == [1]


def test_a_table_of_zeros_is_no_table():
    with pytest.raises(OutputError, match='no number from osu_bw'):
        parse('# OSU MPI Bandwidth Test v7.5\n1   0.00\n', benchmark='osu_bw', source='x')


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


def test_two_numbers_of_a_benchmark_without_sizes_are_ranks_that_ran_alone():
    with pytest.raises(OutputError, match='a second number of osu_barrier.*every rank run alone'):
        parse(' 1.25\n 1.26\n', benchmark='osu_barrier', source='x')


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(OutputError, match='gone.txt: No such file'):
        read(tmp_path / 'gone.txt', benchmark='osu_bw')


def test_a_file_is_read(tmp_path):
    (tmp_path / 'a.txt').write_text(C_PROGRAM)
    assert read(tmp_path / 'a.txt', benchmark='osu_bw', largest=65536).values[1] == 2.53


@pytest.mark.parametrize('text, expected', [
    ('provider: sm2, score = 3\nlibfabric provider: tcp - 192.0.2.0/24\n# MPI Latency Test\n', ('ofi', 'tcp')),
    ('libfabric provider: tcp;ofi_rxm - 192.0.2.0/24\n', ('ofi', 'tcp;ofi_rxm')),
    ('==== UCX netmod Capability ====\n', ('ucx', None)),
    (PORT, (None, None)),
])
def test_the_provider_is_what_mpich_says(text, expected):
    assert network_of(text) == expected
