"""`make gpu`: what it carries, what it runs on a GPU made of RAM (tests/helpers/fake_gpu.c), who reads its results."""
import re

import pytest

from osu_container.gpu import GpuRunError, carry, cli, run
from osu_container.image import ImageError
from osu_container.results import files
from tests.helpers import fake_gpu, ports
from tests.helpers.machine import PROJECT
from tests.helpers.machine import run as started

IMAGE = PROJECT / 'sources' / 'osu-workstation-mpich-4.2.3-libfabric-1.22.0.sif'


def ways(tmp_path, image=None):
    """Return the ways by name, of an empty folder."""
    return {way.name: way for way in run.ways(tmp_path, image, {'PATH': '/usr/bin'})}


@pytest.fixture
def no_gpu(monkeypatch):
    """A machine whose loader finds no driver."""
    def no_library(name):
        raise OSError(f'{name}: cannot open shared object file: No such file or directory')
    monkeypatch.setattr(run.ctypes, 'CDLL', no_library)


def test_without_a_gpu_it_says_so_and_writes_nothing(no_gpu, tmp_path, capsys):
    assert cli.main(['run', '--output', str(tmp_path / 'run')]) == 1
    message = capsys.readouterr().err
    assert message.startswith('make gpu: no GPU here: libcuda.so.1: cannot open') and 'device files: ' in message
    assert not (tmp_path / 'run').exists()


@pytest.mark.parametrize('count, nccl, expected', [
    (1, True, {('osu_bw', 'D D', run.SHARED), ('osu_xccl_allreduce', 'D D', '')}),
    (1, False, {('osu_bw', 'D D', run.SHARED)}),
    (2, True, {('osu_bw', 'D D', ''), ('osu_bw', 'D D', run.SHARED), ('osu_xccl_bw', 'D D', ''),
               ('osu_xccl_allreduce', 'D D', '')})])
def test_two_ranks_on_one_gpu_are_a_case_of_their_own_and_not_for_nccl(tmp_path, count, nccl, expected):
    found = run.runs(ways(tmp_path)['native'], count, nccl)
    going = {(one.case.benchmark, one.case.buffers, one.case.variant) for one in found if not one.skip}
    wanted = {'osu_bw', 'osu_xccl_bw', 'osu_xccl_allreduce'}
    assert {case for case in going if case[0] in wanted and case[1] == 'D D'} == expected
    assert all('-s' in one.program for one in found if one.case.variant == run.SHARED)
    assert {('osu_latency', 'H H', ''), ('osu_bw', 'H H', '')} <= going


def test_without_image_the_runs_in_a_container_are_left_out_with_the_reason(tmp_path):
    way = ways(tmp_path, tmp_path / 'none.sif')['bind']
    assert {one.skip for one in run.runs(way, 1, True)} == {way.problem} and 'none.sif' in way.problem


def test_what_is_carried_may_not_be_too_large(tmp_path):
    (tmp_path / 'gpu').mkdir()
    (tmp_path / 'gpu' / 'file').write_bytes(bytes(range(256)))
    with pytest.raises(GpuRunError, match='at most 0 MB can be carried'):
        carry.pack(tmp_path / 'gpu', tmp_path / 'gpu.tar.xz', limit=100)
    assert sorted(path.name for path in tmp_path.iterdir()) == ['gpu']


def test_what_was_carried_is_unpacked_and_has_the_launcher_of_this_clone(tmp_path):
    launcher = tmp_path / 'a' / 'gpu' / 'osu' / 'libexec' / 'osu-port'
    launcher.parent.mkdir(parents=True)
    launcher.write_text('an old one')
    packed = tmp_path / 'gpu.tar.xz'
    assert carry.pack(tmp_path / 'a' / 'gpu', packed) == packed.stat().st_size < carry.LIMIT
    found = carry.find(tmp_path / 'b' / 'gpu', packed)
    assert (found / 'osu/libexec/osu-port').read_bytes() == carry.LAUNCHER.read_bytes()


def test_what_can_neither_be_unpacked_nor_made_names_the_command(tmp_path, monkeypatch):
    def nothing(*_):
        raise ImageError('no network')
    monkeypatch.setattr(carry.fetch, 'fetch', nothing)
    with pytest.raises(GpuRunError, match='no network.*make gpu-pack'):
        carry.find(tmp_path / 'gpu', tmp_path / 'gpu.tar.xz')


@pytest.fixture(scope='module')
def carried(tmp_path_factory):
    """Return the folder that is carried."""
    ports.sources('impi-rt')
    return carry.make(tmp_path_factory.mktemp('carried') / 'gpu')


def measured(carried, tmp_path, sonames, *arguments, **environment):
    """
    Run `make gpu` as on a machine with one GPU, two ranks on it; return (CompletedProcess, folder of the run).

    sonames: the fake libraries. One of its runs over MPI: the others differ in arguments, which test_osu_port_gpu.py
    tries.
    """
    folders = [fake_gpu.compiled(tmp_path / soname, soname) for soname in sonames]
    program = ("import sys; from pathlib import Path; from osu_container.gpu import carry, cli, run; "
               f"carry.find = lambda: Path({str(carried)!r}); "
               "run.MPI_RUNS = run.MPI_RUNS[:1]; sys.exit(cli.main(sys.argv[1:]))")
    folder = tmp_path / 'run'
    done = started([ports.PYTHON, '-c', program, 'run', '--largest', '65536', '--output', folder, *arguments],
                   cwd=PROJECT, env={
        'PATH': '/usr/bin:/bin', 'FAKE_GPU_FOLDER': str(tmp_path), 'FAKE_GPU_COUNT': '1', 'FAKE_CCL_START': '2',
        'LD_LIBRARY_PATH': ':'.join(map(str, folders)), **environment})
    return done, folder


@pytest.mark.apptainer
def test_in_a_container_the_mpi_that_takes_gpu_memory_is_put_in_front_of_the_image_s(carried, tmp_path):
    """The image's own MPICH takes none. The launcher is this clone's, whatever the image was built with."""
    done, folder = measured(carried, tmp_path, ['libcuda.so.1'], '--repeats', '1', '--image', IMAGE,
                            APPTAINER_BIND=f'{tmp_path},{carry.LAUNCHER}:/opt/osu/libexec/osu-port')
    assert done.returncode == 0, done.stdout + done.stderr
    series, = [one for one in files.read(folder).series if (one.name, one.case.benchmark) == ('bind', 'osu_bw')]
    proof, = series.facts['proofs'][0]
    assert proof['container'] and series.sizes[-1] == 65536
    assert (proof['libraries']['libmpi']['family'], proof['libraries']['libmpi']['where']) == ('Intel MPI', 'host')


@pytest.mark.slurm  # needs PyPI, no Slurm
def test_a_run_on_a_gpu_made_of_ram_is_read_by_compare_and_report(carried, tmp_path):
    """From the carried folder to the page. The figures mean nothing."""
    done, folder = measured(carried, tmp_path, ['libcuda.so.1', 'libnccl.so.2'], '--repeats', '2', '--image',
                            tmp_path / 'none.sif')
    assert done.returncode == 0, done.stdout + done.stderr
    found = files.read(folder)
    assert {(one.name, one.case.benchmark, one.case.ranks, one.case.variant, one.programs) for one in found.series} == {
        ('native', 'osu_bw', 2, run.SHARED, 'mpi4py 4.1.2 ports'),
        ('native', 'osu_xccl_allreduce', 1, '', 'mpi4py 4.1.2 ports')}
    assert all(one.sizes[-1] == 65536 and one.repeats == 2 for one in found.series)
    assert {(one.name, one.skipped) for one in found.failures} == {('native', True), ('bind', True)}
    assert found.facts['gpus']['devices'] == ['fake GPU'] and found.facts['ended']
    proofs = {name: library for one in found.series for proof in one.facts['proofs'] for part in proof
              for name, library in part['libraries'].items()}
    assert proofs['libmpi']['family'] == 'Intel MPI'
    assert re.search(r'/libcuda\.so\.1$', proofs['libcuda']['path'])
    assert re.search(r'/libnccl\.so\.2$', proofs['librccl']['path'])
    command = PROJECT / 'bin' / 'osu-container'
    (tmp_path / 'again').mkdir()
    text = (folder / files.NAME).read_text()
    (tmp_path / 'again' / files.NAME).write_text(text.replace('"run": "run"', '"run": "again"'))
    compared = started([command, 'compare', folder, tmp_path / 'again'], cwd=tmp_path)
    assert compared.returncode == 0 and run.SHARED in compared.stdout, compared.stdout + compared.stderr
    page = tmp_path / 'page.html'
    assert started([command, 'report', folder, '-o', page], cwd=tmp_path).returncode == 0
    assert run.SHARED in page.read_text()
