"""Looking for GPUs, ROCm or CUDA, and the GPU transport layer of Cray MPICH."""
import re

from .host import newest_first

#: Model of an NVIDIA GPU, as it is in the driver's text -> its architecture
NVIDIA = (('A100', 'sm_80'), ('H100', 'sm_90'), ('H200', 'sm_90'), ('GH200', 'sm_90'), ('V100', 'sm_70'),
          ('L40', 'sm_89'), ('B200', 'sm_100'))


def gpus(survey):
    """Which GPUs there are."""
    host = survey.host
    models = [re.search(r'Model:\s*(.+)', host.text('/proc/driver/nvidia/gpus/%s/information' % name))
              for name in host.names('/proc/driver/nvidia/gpus')]
    target, source, evidence = (_of_kfd(host) or _of_module(host) or _of_nvidia_smi(host) or _of_models(models)
                                or ('', '', ''))
    survey.nvidia = bool(models or target.startswith('sm_') or host.said['nvidia'].good)
    survey.amd = target.startswith('gfx')
    driver = re.search(r'Kernel Module(?: for \S+)?\s+(\d[\d.]*)', host.text('/proc/driver/nvidia/version'))
    if driver:
        survey.fact('gpu.driver', driver.group(1), "which CUDA an image may have", '/proc/driver/nvidia/version',
                    'measured', 'GPU')
    if target:
        survey.fact('gpu.target', target, "which GPUs programs are built for, and how buffers in their memory move",
                    source, evidence, 'GPU')
    else:
        survey.lacks('GPUs', '/sys/class/kfd, CRAY_ACCEL_TARGET, /proc/driver/nvidia, nvidia-smi',
                     "treated as a system without GPUs; login nodes often have none: look on a GPU node, or load "
                     "craype-accel-..." if survey.cray else "treated as a machine without GPUs", survey.cray)


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
    if not found:
        return None
    return (found.group(1) or 'sm_' + found.group(2),
            'CRAY_ACCEL_TARGET, by the loaded module craype-accel-...; no GPU was seen on this node', 'derived')


def _of_nvidia_smi(host):
    """Return (architecture, source, evidence) of the first GPU that nvidia-smi names, None without."""
    said = host.said['nvidia']
    if not said.good or not re.search(r',\s*\d', said.output):
        return None
    name, _, capability = said.output.strip().splitlines()[0].partition(',')
    return 'sm_' + capability.strip().replace('.', ''), '`nvidia-smi` (%s)' % name.strip(), 'measured'


def _of_models(models):
    """Return (architecture, source, evidence) by what NVIDIA's driver says (list of matches), None for unknown ones."""
    model = ' '.join(each.group(1) for each in models if each)
    return next(((target, '/proc/driver/nvidia/gpus (%s)' % model.strip(), 'measured')
                 for name, target in NVIDIA if name in model), None)


def rocm(survey):
    """ROCm's two libraries, of one release."""
    host = survey.host
    folders = [(host.variable(name).rstrip('/'), name) for name in ('ROCM_PATH', 'CRAY_ROCM_PREFIX')
               if host.variable(name)]
    there = newest_first(path for path in host.matching('/opt/rocm*') if re.search(r'/rocm-\d', path))
    default = host.leads_to('/opt/rocm') if host.exists('/opt/rocm') else None
    folders += [(default, '/opt/rocm')] if default else []
    folders += [(path, 'the newest of ' + ', '.join(there) if len(there) > 1 else '/opt/rocm-*') for path in there]
    for folder, source in folders:
        hsa = survey.library('libhsa-runtime64', [(folder + '/lib/libhsa-runtime64.so.1', source)],
                           "Cray's GPU transport layer and libfabric open it; of the same ROCm as libamdhip64",
                           'GPU', 'libhsa-runtime64.so.1', opened_as=['libhsa-runtime64.so'])
        if hsa:
            survey.fact('rocm', folder, "ROCm's libraries are one build", source, section='GPU')
            break
    else:
        survey.lacks('ROCm', 'ROCM_PATH, /opt/rocm, /opt/rocm-*', "bind cannot give buffers in GPU memory to Cray "
                   "MPICH: load the module rocm" if survey.amd else "not needed: no AMD GPU here", survey.amd)
        return
    hip = [(path, source) for path in newest_first(host.matching(folder + '/lib/libamdhip64.so.*'))
           if re.search(r'\.so\.\d+$', path)]
    if not survey.library('libamdhip64', hip, "HIP runtime of the same ROCm as libhsa-runtime64", 'GPU', None,
                        opened_as=['libamdhip64.so']):
        survey.lacks('libamdhip64', folder + '/lib', "bind: the GPU transport layer has no HIP of the host")


def cuda(survey):
    """CUDA's two libraries: the runtime, which Cray's GPU transport layer needs, and the driver's."""
    host = survey.host
    folders = [(host.variable(name).rstrip('/'), name) for name in (
        'CUDA_HOME', 'CUDA_PATH', 'CRAY_CUDATOOLKIT_DIR', 'CUDATOOLKIT_HOME') if host.variable(name)]
    folders += [(path, '/usr/local/cuda*') for path in newest_first(host.matching('/usr/local/cuda*'))]
    folders += [('/'.join(path.split('/')[:-2]), '/opt/nvidia/hpc_sdk') for path in newest_first(
        host.matching('/opt/nvidia/hpc_sdk/*/*/cuda/*/lib64/libcudart.so.*'))]
    found = [(path, source) for folder, source in folders
             for path in newest_first(host.matching(folder + '/lib64/libcudart.so.*'))
             if re.search(r'\.so\.\d+$', path)]
    runtime = survey.library('libcudart', found, "CUDA runtime that Cray's GPU transport layer needs", 'GPU')
    driver = survey.library('libcuda', [(path, '`ldconfig -p`') for path in survey.in_cache('libcuda.so.1')] + [
        ('%s/libcuda.so.1' % folder, 'folder that ld.so searches') for folder in survey.searched()],
        "CUDA's driver library, which the runtime brings along (--nv)", 'GPU', 'libcuda.so.1')
    if survey.nvidia and not (runtime and driver):
        survey.lacks('CUDA', 'CUDA_HOME, /usr/local/cuda, /opt/nvidia/hpc_sdk, folders of ld.so',
                   "programs for the NVIDIA GPUs need the image's, and bind cannot give buffers in GPU memory to "
                   "Cray MPICH")


def gtl(survey):
    """Cray MPICH's GPU transport layer."""
    folders, found = _gtl_folders(survey), []
    for name, gpu in (('libmpi_gtl_hsa', 'AMD'), ('libmpi_gtl_cuda', 'NVIDIA')):
        paths = [(path, source) for folder, source in folders
                 for path in newest_first(survey.host.matching('%s/%s.so.*' % (folder, name)))
                 if re.search(r'\.so\.\d+$', path)]
        found.append(survey.library(name, paths, "GPU transport layer of Cray MPICH for %s: without it buffers in GPU "
                                    "memory end in an error" % gpu, 'GPU'))
    if not any(found):
        needed = survey.amd or survey.nvidia and survey.value('libraries.libmpi', '')
        survey.lacks('GTL (libmpi_gtl_...)', ', '.join(folder for folder, _ in folders) or 'no Cray MPICH',
                     "bind on GPU nodes ends at start (GPU support is asked for): export "
                     "MPICH_GPU_SUPPORT_ENABLED=0, or load the module cray-mpich that has it"
                     if needed else "not needed: no Cray MPICH with GPUs here", needed)


def _gtl_folders(survey):
    """Return [(folder, source)] where the GPU transport layer may be: of the loaded modules first."""
    host = survey.host
    found = [(host.variable(name)[2:].rstrip('/'), name) for name in sorted(host.environment)
             if name.startswith('PE_MPICH_GTL_DIR_') and host.variable(name).startswith('-L/')]
    release = re.match(r'(/opt/cray/pe/mpich/[\d.]+)/', survey.value('libraries.libmpi', ''))
    roots = [(host.variable('CRAY_MPICH_ROOTDIR').rstrip('/'), 'CRAY_MPICH_ROOTDIR'),
             (release.group(1) if release else '', 'beside the libmpi that was chosen')]
    found += [(root + '/gtl/lib', source) for root, source in roots if root]
    return found + ([('/opt/cray/pe/lib64', 'folder of links to the default releases')] if survey.cray else [])
