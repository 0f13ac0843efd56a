"""Find the GPUs, ROCm or CUDA, and the GPU transport layer of Cray MPICH on a system."""

import re
from typing import TYPE_CHECKING, List, Optional, Tuple

from osu_container.discover.host import SurveyedHost

if TYPE_CHECKING:
    from osu_container.discover.survey import Survey

#: {model of an NVIDIA GPU as the driver reports it: its architecture}
NVIDIA = {
    'A100': 'sm_80',
    'H100': 'sm_90',
    'H200': 'sm_90',
    'GH200': 'sm_90',
    'V100': 'sm_70',
    'L40': 'sm_89',
    'B200': 'sm_100',
}


def survey_gpus(survey: 'Survey') -> None:
    """Record the driver and the architecture of the GPUs in the survey."""
    host = survey.host
    models = ' '.join(
        host.read_text('/proc/driver/nvidia/gpus/%s/information' % name)
        for name in host.list_names('/proc/driver/nvidia/gpus')
    )
    target, source, evidence = (
        _find_kfd_architecture(host)
        or _find_module_architecture(host)
        or _find_nvidia_architecture(survey)
        or next(
            (
                (target, '/proc/driver/nvidia/gpus', 'measured')
                for name, target in NVIDIA.items()
                if name in models
            ),
            None,
        )
        or ('', '', '')
    )
    survey.nvidia = bool(models or target.startswith('sm_'))
    survey.amd = target.startswith('gfx')
    driver = re.search(
        r'Kernel Module(?: for \S+)?\s+(\d[\d.]*)', host.read_text('/proc/driver/nvidia/version')
    )
    if driver:
        survey.add_fact('gpu.driver', driver.group(1), '/proc/driver/nvidia/version', section='GPU')
    if target:
        survey.add_fact('gpu.target', target, source, evidence, 'GPU')
    elif survey.cray:
        survey.add_missing(
            'GPUs',
            "discover found no GPU on this node and therefore describes a site without GPUs. Login "
            "nodes often lack GPUs: run osu-container discover on a GPU node, or load a module "
            "craype-accel-... before you run osu-container discover",
        )


def _find_kfd_architecture(host: SurveyedHost) -> Optional[Tuple[str, str, str]]:
    """
    Return (architecture, source, evidence) of the node's AMD GPUs, None without AMD GPUs.

    The source is the folder in /sys of the kernel's driver kfd, and the evidence is 'measured'.
    """
    folder = '/sys/class/kfd/kfd/topology'
    texts = [
        host.read_text('%s/nodes/%s/properties' % (folder, node))
        for node in host.list_names(folder + '/nodes')
    ]
    versions = sorted(
        'gfx%d%x%x' % (int(number) // 10000, int(number) // 100 % 100, int(number) % 100)
        for number in re.findall(r'^gfx_target_version ([1-9]\d*)$', '\n'.join(texts), re.M)
    )
    return (versions[0], folder, 'measured') if versions else None


def _find_module_architecture(host: SurveyedHost) -> Optional[Tuple[str, str, str]]:
    """
    Return (architecture, source, evidence) of the GPUs that craype-accel-... selects.

    The source is a text on the variable CRAY_ACCEL_TARGET, and the evidence is 'derived'. The
    result is None if no module craype-accel-... is loaded.
    """
    match = re.match(r'(?:amd_(gfx\w+)|nvidia(\d+))$', host.get_variable('CRAY_ACCEL_TARGET'))
    return (
        (
            match.group(1) or 'sm_' + match.group(2),
            'CRAY_ACCEL_TARGET, set by the loaded module craype-accel-..., contains the GPU type; '
            'this node has no GPU',
            'derived',
        )
        if match
        else None
    )


def _find_nvidia_architecture(survey: 'Survey') -> Optional[Tuple[str, str, str]]:
    """
    Return (architecture, source, evidence) of the first GPU that nvidia-smi lists.

    The source is the command nvidia-smi, and the evidence is 'measured'. The result is None if
    nvidia-smi lists no GPU.
    """
    match = re.search(r',\s*(\d+)\.(\d+)\s*$', survey.get_command_output('nvidia'), re.M)
    return ('sm_' + ''.join(match.groups()), '`nvidia-smi`', 'measured') if match else None


def survey_rocm(survey: 'Survey') -> None:
    """
    Record the paths of ROCm's libraries libhsa-runtime64 and libamdhip64 in the survey.

    libhsa-runtime64 and libamdhip64 come from the same release of ROCm.
    """
    host = survey.host
    folders = host.list_variable_folders('ROCM_PATH', 'CRAY_ROCM_PREFIX')
    folders += [(host.resolve_links('/opt/rocm'), '/opt/rocm')] if host.exists('/opt/rocm') else []
    folders += host.list_newest_paths('/opt/rocm-*', 'the newest /opt/rocm-*')
    for folder, source in folders:
        if survey.select_library(
            'libhsa-runtime64',
            [(folder + '/lib/libhsa-runtime64.so.1', source)],
            "Cray's GPU transport layer and libfabric open libhsa-runtime64; libhsa-runtime64 "
            "and libamdhip64 come from the same release of ROCm",
            'GPU',
            'libhsa-runtime64.so.1',
            opened_as=['libhsa-runtime64.so'],
        ):
            survey.add_fact('rocm', folder, source, section='GPU')
            if not survey.select_library(
                'libamdhip64',
                _list_versioned_libraries(host, 'lib/libamdhip64', [(folder, source)]),
                "libamdhip64 is the HIP runtime; libamdhip64 and libhsa-runtime64 come from the same "
                "release of ROCm",
                'GPU',
                opened_as=['libamdhip64.so'],
            ):
                survey.add_missing(
                    'libamdhip64',
                    "with approach bind, Cray's GPU transport layer finds no HIP runtime on the "
                    "host",
                )
            return
    if survey.amd:
        survey.add_missing(
            'ROCm',
            "with approach bind, Cray MPICH cannot use buffers in GPU memory without ROCm: load "
            "the module rocm, then run osu-container discover again",
        )


def _list_versioned_libraries(
    host: SurveyedHost, stem: str, folders: List[Tuple[str, str]]
) -> List[Tuple[str, str]]:
    """
    Return a list of (path, source) for the files STEM.so.NUMBER; the newest of a folder comes first.

    stem: path below a folder, without .so.NUMBER. folders: pairs (folder, source); a folder may
    contain wildcards.
    """
    return [
        candidate
        for folder, source in folders
        for candidate in host.list_newest_paths('%s/%s.so.*' % (folder, stem), source)
        if re.search(r'\.so\.\d+$', candidate[0])
    ]


def survey_cuda(survey: 'Survey') -> None:
    """
    Record the path of the CUDA runtime library libcudart in the survey.

    Cray's GPU transport layer needs libcudart. The function does not search for the library of the
    GPU driver (libcuda), because the container runtime injects libcuda.
    """
    folders = survey.host.list_variable_folders('CUDA_HOME', 'CUDATOOLKIT_HOME')
    folders += [
        (folder, folder) for folder in ('/usr/local/cuda*', '/opt/nvidia/hpc_sdk/*/*/cuda/*')
    ]
    if (
        not survey.select_library(
            'libcudart',
            _list_versioned_libraries(survey.host, 'lib64/libcudart', folders),
            "Cray's GPU transport layer needs libcudart, the CUDA runtime",
            'GPU',
        )
        and survey.nvidia
    ):
        survey.add_missing(
            'CUDA',
            "programs for the NVIDIA GPUs need CUDA in the image, and with approach bind Cray MPICH cannot use "
            "buffers in GPU memory",
        )


def survey_gtl(survey: 'Survey') -> None:
    """
    Record the libraries of Cray MPICH's GPU transport layer (libmpi_gtl_*) in the survey.

    The function searches for the libraries in the folders of loaded modules and in the folder of
    Cray MPICH.
    """
    host = survey.host
    folders = [
        (host.get_variable(name)[2:].rstrip('/'), name)
        for name in sorted(host.environment)
        if name.startswith('PE_MPICH_GTL_DIR_') and host.get_variable(name).startswith('-L/')
    ]
    release = re.match(r'(/opt/cray/pe/mpich/[\d.]+)/', survey.get_value('libraries.libmpi', ''))
    folders += (
        [
            (
                release.group(1) + '/gtl/lib',
                "libmpi_gtl was found in the folder gtl/lib of the Cray MPICH that provides the "
                "site's libmpi",
            )
        ]
        if release
        else []
    )
    paths = [
        survey.select_library(
            'libmpi_gtl_' + kind,
            _list_versioned_libraries(host, 'libmpi_gtl_' + kind, folders),
            "libmpi_gtl is the GPU transport layer of Cray MPICH for %s; without libmpi_gtl, "
            "MPI calls with buffers in GPU memory fail" % maker,
            'GPU',
        )
        for kind, maker in (('hsa', 'AMD'), ('cuda', 'NVIDIA'))
    ]
    if not any(paths) and (survey.amd or survey.nvidia and survey.get_value('libraries.libmpi')):
        survey.add_missing(
            'GTL (libmpi_gtl_...)',
            "with approach bind, programs fail at startup on GPU nodes, because the module enables "
            "GPU support, which needs libmpi_gtl: run export MPICH_GPU_SUPPORT_ENABLED=0, or load "
            "a module cray-mpich that contains libmpi_gtl",
        )
