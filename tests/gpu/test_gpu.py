"""`make gpu`: what it carries and what it would run; the driver of a GPU is a few functions in Python here."""
import ctypes
import importlib.machinery
import importlib.util

import pytest

from osu_container import gpu
from osu_container.image import ImageError


def ways(tmp_path, image=None):
    """Return the ways by name, of an empty folder."""
    return {way.name: way for way in gpu.ways(tmp_path, image, {'PATH': '/usr/bin'})}


@pytest.fixture
def no_gpu(monkeypatch):
    """A machine whose loader finds no driver."""
    def no_library(name):
        raise OSError(f'{name}: cannot open shared object file: No such file or directory')
    monkeypatch.setattr(gpu.ctypes, 'CDLL', no_library)


def test_without_a_gpu_it_says_so_and_writes_nothing(no_gpu, tmp_path, capsys):
    assert gpu.main(['run', '--output', str(tmp_path / 'run')]) == 1
    message = capsys.readouterr().err
    assert message.startswith('make gpu: no GPU here: libcuda.so.1: cannot open') and 'device files: ' in message
    assert not (tmp_path / 'run').exists()


@pytest.mark.parametrize('count, variants', [(1, [gpu.SHARED]), (2, ['', gpu.SHARED])])
def test_two_ranks_on_one_gpu_are_a_case_of_their_own(tmp_path, count, variants):
    found = gpu.runs(ways(tmp_path)['native'], count)
    assert [one.case.variant for one in found if one.case.title.startswith('osu_bw D D')] == variants
    assert all('-s' in one.program for one in found if one.case.variant == gpu.SHARED)
    assert {('osu_latency', 'H H', ''), ('osu_bw', 'H H', '')} <= {
        (one.case.benchmark, one.case.buffers, one.case.variant) for one in found}


def test_without_image_the_runs_in_a_container_are_left_out_with_the_reason(tmp_path):
    way = ways(tmp_path, tmp_path / 'none.sif')['bind']
    assert {one.skip for one in gpu.runs(way, 1)} == {way.problem} and 'none.sif' in way.problem


def test_what_is_carried_may_not_be_too_large(tmp_path):
    (tmp_path / 'gpu').mkdir()
    (tmp_path / 'gpu' / 'file').write_bytes(bytes(range(256)))
    with pytest.raises(gpu.GpuRunError, match='at most 0 MB can be carried'):
        gpu.pack(tmp_path / 'gpu', tmp_path / 'gpu.tar.xz', limit=100)
    assert sorted(path.name for path in tmp_path.iterdir()) == ['gpu']


def test_what_was_carried_is_unpacked_and_has_the_launcher_of_this_clone(tmp_path):
    launcher = tmp_path / 'a' / 'gpu' / 'osu' / 'libexec' / 'osu-port'
    launcher.parent.mkdir(parents=True)
    launcher.write_text('an old one')
    packed = tmp_path / 'gpu.tar.xz'
    assert gpu.pack(tmp_path / 'a' / 'gpu', packed) == packed.stat().st_size < gpu.CARRIED
    found = gpu.find(tmp_path / 'b' / 'gpu', packed)
    assert (found / 'osu/libexec/osu-port').read_bytes() == gpu.LAUNCHER.read_bytes()


def test_what_can_neither_be_unpacked_nor_made_names_the_command(tmp_path, monkeypatch):
    def nothing(*_):
        raise ImageError('no network')
    monkeypatch.setattr(gpu.fetch, 'fetch', nothing)
    with pytest.raises(gpu.GpuRunError, match='no network.*make gpu-pack'):
        gpu.find(tmp_path / 'gpu', tmp_path / 'gpu.tar.xz')


class Driver(dict):
    """libcuda.so.1 as osu-port calls it: what a function does by its name; the others give no error."""

    def __missing__(self, name):
        return lambda *_: 0

    def __getattr__(self, name):
        return self[name]


@pytest.fixture
def port(monkeypatch):
    """Function (functions of the driver by name) that returns the module osu-port with such a driver."""
    def loaded(**functions):
        loader = importlib.machinery.SourceFileLoader('port', str(gpu.LAUNCHER))
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader('port', loader))
        loader.exec_module(module)
        monkeypatch.setattr(ctypes, 'CDLL', lambda name: Driver(
            {'cuDeviceGetCount': gives(2), 'cuDriverGetVersion': gives(12040), **functions}))
        return module
    return loaded


def gives(value):
    """Return a function of the driver that writes an int to where its last pointer leads."""
    def function(pointer, *_):
        pointer._obj.value = value
        return 0
    return function


def test_a_rank_takes_the_gpu_of_its_number_on_the_node(port, monkeypatch):
    monkeypatch.setenv('SLURM_LOCALID', '3')
    gpu = port().open_gpu()
    assert gpu.device == 1 and gpu.title == 'libcuda.so.1 (CUDA 12.4)'


@pytest.mark.parametrize('functions, words', [
    ({'cuDeviceGetCount': gives(0)}, ['finds no GPU', 'device files: ', "CUDA_VISIBLE_DEVICES='7'"]),
    ({'cuInit': lambda _: 100}, ['cuInit of libcuda.so.1 gives error 100', 'give H H']),
    ({'cuInit': lambda _: 803}, ['The driver is older than the runtime: ', 'driver: '])])
def test_a_gpu_that_cannot_be_used_is_one_message(port, monkeypatch, functions, words):
    monkeypatch.setenv('CUDA_VISIBLE_DEVICES', '7')
    module = port(**functions)
    with pytest.raises(module.GpuError) as caught:
        module.open_gpu()
    assert all(word in str(caught.value) for word in words), caught.value
