"""Looking for GPUs, ROCm or CUDA, and the GPU transport layer of Cray MPICH."""
import re

from osu_container.discover.host import newest_first

#: Model of an NVIDIA GPU, as it is in the driver's text -> its architecture
NVIDIA = (('A100', 'sm_80'), ('H100', 'sm_90'), ('H200', 'sm_90'), ('GH200', 'sm_90'), ('V100', 'sm_70'),
          ('L40', 'sm_89'), ('B200', 'sm_100'))


def gpus(survey):
    """Which GPUs there are."""
    host = survey.host
    models = ' '.join(host.text('/proc/driver/nvidia/gpus/%s/information' % name)
                      for name in host.names('/proc/driver/nvidia/gpus'))
    target, source, evidence = (_of_kfd(host) or _of_module(host) or _of_nvidia_smi(survey) or next(
        ((target, '/proc/driver/nvidia/gpus', 'measured') for name, target in NVIDIA if name in models), ('', '', '')))
    survey.nvidia = bool(models or target.startswith('sm_'))
    survey.amd = target.startswith('gfx')
    driver = re.search(r'Kernel Module(?: for \S+)?\s+(\d[\d.]*)', host.text('/proc/driver/nvidia/version'))
    if driver:
        survey.fact('gpu.driver', driver.group(1), '/proc/driver/nvidia/version', section='GPU')
    if target:
        survey.fact('gpu.target', target, source, evidence, 'GPU')
    elif survey.cray:
        survey.lacks('GPUs', "treated as a system without GPUs; login nodes often have none: look on a GPU node, or "
                     "load craype-accel-...")


def _of_kfd(host):
    """Return (architecture, source, evidence) of AMD's GPUs as the kernel names them, None without."""
    versions = set()
    for node in host.names('/sys/class/kfd/kfd/topology/nodes'):
        found = re.search(r'^gfx_target_version (\d+)$',
                          host.text('/sys/class/kfd/kfd/topology/nodes/%s/properties' % node), re.M)
        number = int(found.group(1)) if found else 0
        if number:
            versions.add('gfx%d%x%x' % (number // 10000, number // 100 % 100, number % 100))
    return (sorted(versions)[0], '/sys/class/kfd/kfd/topology', 'measured') if versions else None


def _of_module(host):
    """Return (architecture, source, evidence) by the loaded module craype-accel-..., None without."""
    found = re.match(r'(?:amd_(gfx\w+)|nvidia(\d+))$', host.variable('CRAY_ACCEL_TARGET'))
    return found and (found.group(1) or 'sm_' + found.group(2),
                      'CRAY_ACCEL_TARGET, by the loaded module craype-accel-...; no GPU was seen on this node',
                      'derived')


def _of_nvidia_smi(survey):
    """Return (architecture, source, evidence) of the first GPU that nvidia-smi names, None without."""
    found = re.search(r',\s*(\d+)\.(\d+)\s*$', survey.of_system('nvidia'), re.M)
    return found and ('sm_' + ''.join(found.groups()), '`nvidia-smi`', 'measured')


def rocm(survey):
    """ROCm's two libraries, of one release."""
    host = survey.host
    folders = [(host.variable(name).rstrip('/'), name) for name in ('ROCM_PATH', 'CRAY_ROCM_PREFIX')
               if host.variable(name)]
    folders += [(host.leads_to('/opt/rocm'), '/opt/rocm')] if host.exists('/opt/rocm') else []
    folders += [(path, 'the newest /opt/rocm-*') for path in newest_first(host.matching('/opt/rocm-*'))]
    for folder, source in folders:
        if survey.library('libhsa-runtime64', [(folder + '/lib/libhsa-runtime64.so.1', source)],
                          "Cray's GPU transport layer and libfabric open it; of the same ROCm as libamdhip64", 'GPU',
                          'libhsa-runtime64.so.1', opened_as=['libhsa-runtime64.so']):
            survey.fact('rocm', folder, source, section='GPU')
            if not survey.library('libamdhip64', _versioned(host, folder + '/lib/libamdhip64', source), "HIP runtime "
                                  "of the same ROCm as libhsa-runtime64", 'GPU', opened_as=['libamdhip64.so']):
                survey.lacks('libamdhip64', "bind: the GPU transport layer has no HIP of the host")
            return
    if survey.amd:
        survey.lacks('ROCm', "bind cannot give buffers in GPU memory to Cray MPICH: load the module rocm")


def _versioned(host, stem, source):
    """Return [(path, source)] of the libraries stem.so.NUMBER (stem: path, which may hold *), the newest first."""
    return [(path, source) for path in newest_first(host.matching(stem + '.so.*')) if re.search(r'\.so\.\d+$', path)]


def cuda(survey):
    """CUDA's runtime, which Cray's GPU transport layer needs; the driver's library comes with the container runtime."""
    host = survey.host
    found = [one for name in ('CUDA_HOME', 'CUDATOOLKIT_HOME') if host.variable(name)
             for one in _versioned(host, host.variable(name).rstrip('/') + '/lib64/libcudart', name)]
    for folder in ('/usr/local/cuda*', '/opt/nvidia/hpc_sdk/*/*/cuda/*'):
        found += _versioned(host, folder + '/lib64/libcudart', folder)
    if not survey.library('libcudart', found, "CUDA runtime that Cray's GPU transport layer needs", 'GPU') and (
            survey.nvidia):
        survey.lacks('CUDA', "programs for the NVIDIA GPUs need the image's, and bind cannot give buffers in GPU "
                     "memory to Cray MPICH")


def gtl(survey):
    """Cray MPICH's GPU transport layer: of the loaded modules, else beside the libmpi that was chosen."""
    host = survey.host
    folders = [(host.variable(name)[2:].rstrip('/'), name) for name in sorted(host.environment)
               if name.startswith('PE_MPICH_GTL_DIR_') and host.variable(name).startswith('-L/')]
    release = re.match(r'(/opt/cray/pe/mpich/[\d.]+)/', survey.value('libraries.libmpi', ''))
    folders += [(release.group(1) + '/gtl/lib', 'beside the libmpi that was chosen')] if release else []
    found = [survey.library('libmpi_gtl_' + kind, [one for folder, source in folders for one in _versioned(
        host, '%s/libmpi_gtl_%s' % (folder, kind), source)], "GPU transport layer of Cray MPICH for %s: without it "
        "buffers in GPU memory end in an error" % maker, 'GPU') for kind, maker in (('hsa', 'AMD'), ('cuda', 'NVIDIA'))]
    if not any(found) and (survey.amd or survey.nvidia and survey.value('libraries.libmpi')):
        survey.lacks('GTL (libmpi_gtl_...)', "bind on GPU nodes ends at start (GPU support is asked for): export "
                     "MPICH_GPU_SUPPORT_ENABLED=0, or load the module cray-mpich that has it")
