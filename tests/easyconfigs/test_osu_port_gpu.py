"""
osu-port with buffers in GPU memory, on a GPU that is RAM (tests/helpers/fake_gpu.c), and what it says where it cannot.

The first part starts no MPI. The second runs the real ports: Intel MPI, which takes the fake for a GPU of NVIDIA, and
MPICH, which has no GPU support. Its mark is `slurm`, so that the fast tests stay off the network.
"""
import shutil
import zipfile

import pytest

from osu_container import osu_output
from osu_container.why import search as why
from tests.helpers import fake_gpu, ports
from tests.helpers.samples import one_of_each

NAMES = ('allgather', 'alltoall', 'alltoallv', 'bcast', 'bibw', 'bw', 'gather', 'get_bw', 'latency', 'multi_lat',
         'scatter', 'xccl_allreduce', 'xccl_bw', 'xccl_latency')
#: Of Intel MPI's wheel: what runs programs (2021.19.0 has the rest of it in a hundred other files)
INTEL = ('lib/libmpi.so.12', 'bin/mpiexec.hydra', 'bin/hydra_bstrap_proxy', 'bin/hydra_pmi_proxy', 'opt/mpi/etc/')


@pytest.fixture(scope='session')
def libraries(tmp_path_factory):
    """Return {soname: folder (Path) with that fake library alone}."""
    folder = tmp_path_factory.mktemp('fake-gpu')
    return {soname: fake_gpu.compiled(folder / soname, soname) for soname in fake_gpu.LIBRARIES}


@pytest.fixture
def cuda(libraries, tmp_path):
    """Environment of a machine with a fake GPU of NVIDIA."""
    return {'LD_LIBRARY_PATH': str(libraries['libcuda.so.1']), 'FAKE_GPU_FOLDER': str(tmp_path)}


@pytest.fixture
def hip(libraries, tmp_path):
    """Environment of a machine with a fake GPU of AMD."""
    return {'LD_LIBRARY_PATH': str(libraries['libamdhip64.so.6']), 'FAKE_GPU_FOLDER': str(tmp_path)}


def refused(done, *words):
    """Return the message of a port that ended in an error; it has all words, is one line, and `why` knows it."""
    code, output, errors = done
    # on some machines Intel MPI itself looks for GPUs, and says what it found
    assert code == 1 and not [line for line in output.splitlines() if not line.startswith(('#', 'MPI startup()'))], done
    message, = {line for line in errors.splitlines() if ': error: ' in line}
    assert not [word for word in words if word not in message], message
    assert 'Traceback' not in errors
    assert len(why.explain(message)) == 1, message
    return why.explain(message)[0]['name']


# ---- before MPI starts

@pytest.fixture
def alone(tmp_path):
    """Function (*arguments, **environment) that starts osu_bw by itself; its mpi4py can do nothing."""
    prefix = ports.tiny_prefix(tmp_path)

    def start(*arguments, name='osu_bw', **environment):
        return ports.run([prefix / 'bin' / name, *arguments], **environment)
    return start


@pytest.mark.parametrize('buffers', [['D', 'D'], ['H', 'D'], ['M', 'M'], ['-d', 'cuda'], ['-d', 'rocm']])
def test_without_any_gpu_one_message_names_runtime_driver_and_device_files(alone, buffers):
    assert refused(alone(*buffers), 'wants GPU memory: ', 'evice files: ', 'give H H') == 'no GPU for the ports'


@pytest.mark.parametrize('vendor, fault, words', [
    ('cuda', {'FAKE_GPU_COUNT': '0'}, ['error 100', 'libcuda.so.1 (CUDA)', '/proc/driver/nvidia', '/dev/nvidia']),
    ('hip', {'FAKE_GPU_COUNT': '0'}, ['error 100', 'libamdhip64.so.6 (HIP)', '/sys/module/amdgpu', '/dev/kfd']),
    ('cuda', {'CUDA_VISIBLE_DEVICES': ''}, ['error 100', "CUDA_VISIBLE_DEVICES=''"]),
    ('hip', {'ROCR_VISIBLE_DEVICES': '-1'}, ['error 100', "ROCR_VISIBLE_DEVICES='-1'"]),
    ('hip', {'HIP_VISIBLE_DEVICES': '7'}, ['error 100', "HIP_VISIBLE_DEVICES='7'"]),
])
def test_a_driver_without_gpu_and_a_hidden_gpu_are_said(alone, request, vendor, fault, words):
    done = alone('D', 'D', **{**request.getfixturevalue(vendor), **fault})
    assert refused(done, 'Runtime: ', 'driver: ', 'device files: ', *words) == 'no GPU for the ports'


@pytest.mark.parametrize('vendor, fault', [
    ('cuda', {'FAKE_GPU_FAIL': 'cuInit=803'}), ('cuda', {'FAKE_GPU_FAIL': 'cuInit=804'}),
    ('hip', {'FAKE_GPU_FAIL': 'hipInit=35'}), ('hip', {'FAKE_GPU_FAIL': 'hipGetDeviceCount=35'})])
def test_a_driver_that_is_older_than_the_runtime_is_said(alone, request, vendor, fault):
    done = alone('D', 'D', **{**request.getfixturevalue(vendor), **fault})
    assert refused(done, 'The driver is older than the runtime: ', 'device files: ') == 'GPU driver too old'


@pytest.mark.parametrize('runtime, driver, older', [('13000', '12040', True), ('12080', '12040', False),
                                                    ('12040', '13000', False)])
def test_the_cuda_runtime_of_mpi_is_held_against_the_driver(alone, cuda, libraries, runtime, driver, older):
    """Within a major release of CUDA an older driver does. The runtime is in the process, as an MPI would bring it."""
    done = alone('D', 'D', **cuda, LD_PRELOAD=str(libraries['libcudart.so.13'] / 'libcudart.so.13'),
                 FAKE_CUDART_VERSION=runtime, FAKE_GPU_VERSION=driver)
    if older:
        assert refused(done, 'is CUDA 13.0, and the driver supports CUDA 12.4') == 'GPU driver too old'
    else:
        assert 'older than the runtime' not in done[2] and 'MPI started' in done[1]


def test_libraries_of_two_vendors_are_no_trouble_where_one_has_gpus(alone, cuda, hip):
    both = ':'.join(one['LD_LIBRARY_PATH'] for one in (cuda, hip))
    done = alone('D', 'D', **{**cuda, 'LD_LIBRARY_PATH': both, 'FAKE_GPU_FAIL': 'hipInit=100'})
    assert 'wants GPU memory' not in done[2] and 'MPI started' in done[1]


@pytest.mark.parametrize('chosen', [[], ['-d', 'cuda'], ['-d', 'rocm']])
def test_gpus_of_two_vendors_are_an_error_until_one_is_named(alone, cuda, hip, chosen):
    both = ':'.join(one['LD_LIBRARY_PATH'] for one in (cuda, hip))
    done = alone(*chosen, 'D', 'D', **{**cuda, 'LD_LIBRARY_PATH': both})
    if chosen:
        assert 'wants GPU memory' not in done[2] and 'MPI started' in done[1]
    else:
        assert refused(done, 'libcuda.so.1 (CUDA 12.4) and libamdhip64.so.6 (HIP 6.3)',
                       '-d cuda or -d rocm') == 'GPUs of two vendors'


@pytest.mark.parametrize('vendor, name', [('cuda', 'libnccl.so.2'), ('hip', 'librccl.so.1')])
def test_a_missing_nccl_is_said(alone, request, vendor, name):
    done = alone(name='osu_xccl_bw', **request.getfixturevalue(vendor))
    assert refused(done, f'cannot be loaded: {name}: ', 'Runtime: ') in ('missing library', 'library not in the image')


# ---- the real ports

@pytest.fixture(scope='module')
def prefix(tmp_path_factory):
    """Return the prefix with the real ports and mpi4py."""
    return ports.real_prefix(tmp_path_factory.mktemp('real'), NAMES)


@pytest.fixture(scope='module')
def mpich(tmp_path_factory):
    """Return the folder of MPICH 4.2.3."""
    return ports.mpich(tmp_path_factory.mktemp('mpich'))


@pytest.fixture(scope='module')
def on_intel(prefix, mpich, tmp_path_factory):
    """Function (ranks, name, *arguments, **environment) that runs a port over Intel MPI, libfabric and TCP."""
    intel = tmp_path_factory.mktemp('intel')
    with zipfile.ZipFile(ports.sources('impi-rt')[0]) as wheel:
        for member in wheel.namelist():
            name = member.partition('/data/')[2]
            if name and name.startswith(INTEL):
                (intel / name).parent.mkdir(parents=True, exist_ok=True)
                (intel / name).write_bytes(wheel.read(member))
                (intel / name).chmod(0o755)
    shutil.copy(mpich / 'lib' / 'mpich' / 'libfabric.so.1', intel / 'lib')  # the wheel has none

    def start(ranks, name, *arguments, **environment):
        path = f"{environment.pop('LD_LIBRARY_PATH', '')}:{intel}/lib"
        settings = {'I_MPI_ROOT': str(intel), 'I_MPI_HYDRA_BOOTSTRAP': 'fork', 'I_MPI_OFFLOAD': '1',
                    'I_MPI_OFFLOAD_LEVEL_ZERO_LIBRARY': 'none',  # as osu_container/gpu/run.py
                    'I_MPI_FABRICS': 'ofi', 'FI_PROVIDER': 'tcp', **environment}
        return ports.run([intel / 'bin' / 'mpiexec.hydra', '-n', ranks, prefix / 'bin' / f'osu_{name}', *arguments],
                         LD_LIBRARY_PATH=path, **settings)
    return start


SHORT = ('-c', '-m', '131072', '-i', '2', '-x', '1')
EVERYWHERE = [(2, 'bw', buffers) for buffers in ('D D', 'H D', 'D H', 'M M', 'MD MH')] + [
    (2, name, buffers) for name in ('latency', 'bibw', 'multi_lat', 'get_bw') for buffers in ('D D', 'H D', 'D H')] + [
    (4, name, 'D D') for name in ('multi_lat', 'allgather', 'alltoall', 'alltoallv', 'bcast', 'gather', 'scatter')]


@pytest.mark.slurm
@pytest.mark.parametrize('ranks, name, buffers', one_of_each(EVERYWHERE, lambda ranks, name, buffers: name))
def test_device_memory_goes_through_port_mpi_and_libfabric(on_intel, cuda, tmp_path, ranks, name, buffers):
    """The processor may not touch the fake's memory: only what MPI copies by the driver arrives."""
    log = tmp_path / 'log'
    code, output, errors = on_intel(ranks, name, *SHORT, *buffers.split(), **cuda, FAKE_GPU_COUNT='4',
                                    FAKE_GPU_LOG=str(log))
    assert code == 0, errors
    places = {'H': 'HOST (H)', 'D': 'DEVICE (D)', 'M': 'MANAGED (MH)', 'MD': 'MANAGED (MD)', 'MH': 'MANAGED (MH)'}
    first, second = (places[place] for place in buffers.split())
    assert f'# Send Buffer on {first} and Receive Buffer on {second}\n' in output
    assert '# GPU 0000:01:00.0, libcuda.so.1 (CUDA 12.4)\n' in output
    rows = output[output.index('# Size'):].splitlines()[1:]
    assert rows and {row.split()[-1] for row in rows} == {'Pass'} and rows[-1].split()[0] == '131072'
    assert 'cuMemcpyAsync' in log.read_text()  # MPI's own: the port copies by cuMemcpy


@pytest.mark.slurm
def test_the_output_is_that_of_a_port_and_a_table(on_intel, cuda):
    code, output, errors = on_intel(2, 'latency', '-m', '1024', '-i', '2', '-x', '1', 'D', 'D', **cuda)
    assert code == 0, errors
    table = osu_output.parse(output, benchmark='osu_latency', source='the run', largest=1024)
    assert table.programs == 'mpi4py 4.1.2 ports' and len(table.values) + len(table.zeros) == 12
    assert output.startswith('# osu_latency: mpi4py 4.1.2 port, not the C program of the OSU Micro-Benchmarks\n')


@pytest.mark.slurm
@pytest.mark.parametrize('name, buffers', [('bw', ['D', 'D']), ('alltoall', ['-d', 'cuda'])])
def test_wrong_data_is_seen_and_is_an_error(on_intel, cuda, name, buffers):
    """A driver that copies one byte wrongly: every size that carries data fails, and so does the program."""
    code, output, errors = on_intel(2, name, '-c', '-m', '64', '-i', '2', '-x', '1', *buffers, **cuda,
                                    FAKE_GPU_WRONG='1')
    rows = [row.split() for row in output[output.index('# Size'):].splitlines()[1:]]
    assert code == 1 and {row[2] for row in rows if row[0] != '0'} == {'Fail'}
    assert why.explain(errors)[0]['name'] == 'wrong data'


@pytest.mark.slurm
@pytest.mark.parametrize('vendor', ['cuda', 'hip'])
def test_an_mpi_without_gpu_support_is_given_no_device_buffer(prefix, mpich, request, vendor):
    done = ports.mpiexec(prefix, mpich, 2, 'osu_bw', 'D', 'D', **request.getfixturevalue(vendor))
    assert refused(done, 'MPICH Version: 4.2.3', f'MPIX_Query_{vendor}_support() says no',
                   'H H works with this one') == 'MPI without GPU support'


@pytest.mark.slurm
@pytest.mark.parametrize('fault, words, wanted', [
    ({'I_MPI_OFFLOAD': '0'}, ['export I_MPI_OFFLOAD=1'], 'MPI without GPU support'),
    ({'FAKE_GPU_COUNT': '1'}, ['2 ranks have GPU 0000:01:00.0', 'by -s'], 'fewer GPUs than ranks'),
    # MPI itself ends in SIGSEGV there: the port is first
    ({'FAKE_GPU_COUNT': '0'}, ['error 100', 'device files: '], 'no GPU for the ports'),
    ({'LD_LIBRARY_PATH': '/nowhere'}, ['neither libcuda.so.1'], 'no GPU for the ports'),
])
def test_bad_input_is_one_message_and_no_crash(on_intel, cuda, fault, words, wanted):
    assert refused(on_intel(2, 'bw', 'D', 'D', **{**cuda, **fault}), *words) == wanted


@pytest.mark.slurm
def test_too_little_gpu_memory_is_said_with_what_there_is(on_intel, cuda):
    code, output, errors = on_intel(2, 'bw', 'D', 'D', **cuda, FAKE_GPU_MEMORY='5000000')
    assert code != 0 and '# Size' not in output and 'Traceback' not in errors
    message = next(line for line in errors.splitlines() if ': error: rank ' in line)
    assert '4194304 bytes of GPU memory cannot be had: cuMemAlloc_v2' in message and 'of 5000000 bytes free' in message
    assert why.explain(message)[0]['name'] == 'not enough GPU memory'


@pytest.mark.slurm
def test_two_ranks_share_a_gpu_where_that_is_asked_for(on_intel, cuda):
    code, output, errors = on_intel(2, 'bw', '-s', '-c', '-m', '64', '-i', '2', 'D', 'D', **cuda, FAKE_GPU_COUNT='1')
    assert code == 0 and output.count('Pass') == 7, errors


@pytest.mark.slurm
@pytest.mark.parametrize('name, ranks', [('bw', 2), ('latency', 2), ('allreduce', 3), ('allreduce', 1)])
@pytest.mark.parametrize('vendor, soname', one_of_each([('cuda', 'libnccl.so.2'), ('hip', 'librccl.so.1')]))
def test_nccl_and_rccl_are_called_rightly_and_need_no_gpu_support_of_mpi(prefix, mpich, libraries, request, vendor,
                                                                         soname, name, ranks):
    """The library is fake too; its signatures and its errors are those of NCCL 2.22."""
    environment = dict(request.getfixturevalue(vendor), FAKE_GPU_COUNT='4')
    environment['LD_LIBRARY_PATH'] += f':{libraries[soname]}'
    done = ports.mpiexec(prefix, mpich, ranks, f'osu_xccl_{name}', '-c', '-m', '4096', '-i', '2', '-x', '1',
                         **environment)
    assert done[0] == 0, done[2]
    lines = done[1].splitlines()
    ccl = 'NCCL' if vendor == 'cuda' else 'RCCL'
    assert lines[0] == (f'# osu_xccl_{name}: mpi4py 4.1.2 port written by this project, not the C program of the OSU '
                        'Micro-Benchmarks')
    assert '# Send Buffer on DEVICE (D) and Receive Buffer on DEVICE (D)' in lines
    assert f'# {soname}, {ccl} 2.22.3' in lines
    rows = [line.split() for line in lines if not line.startswith('#')]
    assert {row[2] for row in rows} == {'Pass'} and rows[-1][0] == '4096'


@pytest.mark.slurm
def test_what_nccl_refuses_is_said(prefix, mpich, libraries, cuda):
    """Two ranks on one GPU: NCCL calls it invalid usage."""
    cuda['LD_LIBRARY_PATH'] += f":{libraries['libnccl.so.2']}"
    _, output, errors = done = ports.mpiexec(prefix, mpich, 2, 'osu_xccl_bw', '-s', **cuda, FAKE_GPU_COUNT='1')
    assert done[0] != 0 and '# Size' not in output
    assert 'ncclCommInitRank of NCCL gives error 5 (invalid usage)' in errors
    assert 'NCCL or RCCL of the ports' in {one['name'] for one in why.explain(errors)}


@pytest.mark.slurm
@pytest.mark.parametrize('unified', [True, False])
def test_hip_memory_goes_through_an_mpi_that_believes_to_have_hip(prefix, mpich, hip, tmp_path, unified):
    """
    No MPI with HIP can be had here. On an APU an MPI without HIP does, if it lets itself be deceived; elsewhere it
    ends in SIGSEGV, which shows that the fake's memory is out of its reach as on a GPU.
    """
    library = fake_gpu.hip_aware(tmp_path, mpich / 'lib' / 'libmpi.so.12')
    code, output, errors = ports.mpiexec(prefix, mpich, 2, 'osu_bw', '-c', '-m', '65536', '-i', '2', 'D', 'D',
                                         MPI4PY_LIBMPI=str(library), FAKE_GPU_UNIFIED=str(int(unified)),
                                         **{**hip, 'LD_LIBRARY_PATH': f"{hip['LD_LIBRARY_PATH']}:{mpich}/lib"})
    if unified:
        assert code == 0 and output.count('Pass') == 17, errors
        assert '# GPU 0000:c1:00.0, libamdhip64.so.6 (HIP 6.3)\n' in output
    else:
        assert code != 0 and 'Pass' not in output
