"""
A GPU that is RAM (fake_gpu.c), compiled when a test asks for it, and what to set so that programs take it for one.

How far it goes: the buffers of osu-port come from it, and Intel MPI, which opens libcuda.so, takes it for a GPU of
NVIDIA: device memory goes through shared memory and through libfabric. So does MPICH with HIP, of the image with ROCm
(tests/image/test_gpu_images.py). MPICH and Open MPI that were built without CUDA and HIP cannot be deceived, and say
so. NCCL itself cannot: its kernels would have to run.
"""
from pathlib import Path

from tests.helpers.machine import run

SOURCE = Path(__file__).with_name('fake_gpu.c')
_CCL = {'cuda': ('libcuda.so.1', 'cuMemcpy', 'cuCtxGetDevice'),
        'hip': ('libamdhip64.so.6', 'hipMemcpy', 'hipGetDevice')}
#: name of a library -> options of the compiler
LIBRARIES = {
    'libcuda.so.1': ['-DFAKE_CUDA'],
    'libamdhip64.so.6': ['-DFAKE_HIP'],
    'libamdhip64.so.5': ['-DFAKE_HIP'],
    'libcudart.so.13': ['-DFAKE_CUDART'],
    **{soname: ['-DFAKE_CCL', *(f'-DGPU_{what}="{name}"' for what, name in zip(
        ('LIBRARY', 'COPY', 'DEVICE'), _CCL[vendor]))]
       for soname, vendor in (('libnccl.so.2', 'cuda'), ('librccl.so.1', 'hip'))},
}


def compiled(folder, soname):
    """Compile a library of LIBRARIES into folder (Path); return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    done = run(['gcc', '-shared', '-fPIC', '-O1', '-Wall', '-Werror', '-Wno-unused-function', '-Wno-unused-variable',
                f'-Wl,-soname,{soname}', *LIBRARIES[soname], '-o', folder / soname, SOURCE, '-ldl'])
    assert done.returncode == 0, done.stderr
    if soname == 'libcuda.so.1':
        (folder / 'libcuda.so').symlink_to(soname)  # the name by which Intel MPI opens it
    return folder


def hip_aware(folder, libmpi):
    """Return a library (Path) that says of an MPI (Path) without HIP that it has HIP, and is that MPI otherwise."""
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / 'libmpi-with-hip.so'
    done = run(['gcc', '-shared', '-fPIC', '-DFAKE_HIP_MPI', '-Wno-unused-function', '-o', made, SOURCE,
                '-Wl,--no-as-needed', libmpi, '-ldl'])
    assert done.returncode == 0, done.stderr
    return made
