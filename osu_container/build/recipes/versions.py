"""Data on the sources and base systems from which images are built.

The file versions.csv has one row for each source. For a new release of a source, change the row and
run `make modules`, which updates easyconfigs and pages. The columns:
    key             name of the source in recipes and in IMAGES (images.py)
    name, version   name and version as the authors of the source write them
    python          only for a wheel for a single Python version: this version, such as '3.11'
    licence         SPDX expression of the content, as the authors state the licence
    file            file name in the source folder
    url             address of the file, or 'PyPI' (pip downloads name==version)
    sha256          sha256 of the file, which every build checks
    commit          only without sha256: commit of the archive. GitHub creates the archive of a
                    commit on request, so no sha256 is known. The archive contains the ID of its
                    commit, and the build checks this ID
    note            origin of the sha256 or of the commit, and other facts about the source
"""

from typing import Any, Dict

from osu_container.base.files import read_table

#: Key of a source -> {column: value, None for an empty field}
SOURCES: Dict[str, Dict[str, Any]] = {
    row['key']: {column: value or None for column, value in row.items()}
    for row in read_table(__file__, 'versions.csv')
}

#: Version of the recipes; increase this number when images change although no version changes
RECIPE_VERSION = '1'
MPI4PY_VERSION = SOURCES['mpi4py-3.11']['version']

#: Debian release -> its image in container registries (with full tag), and versions in this release
DEBIAN: Dict[str, Dict[str, str]] = {
    'bookworm': {
        'number': '12',
        'image': 'debian:12.12-slim',
        'python': '3.11',
        'libfabric': '1.17.0',
        'glibc': '2.36',
    },
    'trixie': {
        'number': '13',
        'image': 'debian:13.2-slim',
        'python': '3.13',
        'libfabric': '2.1.0',
        'glibc': '2.41',
    },
}
DEFAULT_DEBIAN = 'bookworm'

#: Version of the MPICH wheel -> version of its lib/mpich/libfabric.so.1, which the image's %test
#: checks
MPICH_LIBFABRIC = {
    '3.4.3': '1.22.0',
    '4.0.3': '1.22.0',
    '4.1.3': '1.22.0',
    '4.2.3': '1.22.0',
    '4.3.2': '1.22.0',
    '5.0.2': '2.5.1',
}
DEFAULT_MPICH = '4.2.3'


def is_newer(version: str, other: str) -> bool:
    """Return whether `version`, such as '1.22.0', is newer than `other`."""
    return tuple(map(int, version.split('.'))) > tuple(map(int, other.split('.')))


#: Bases of the images for Slingshot: Ubuntu release -> its image (with full tag), HPCCM's name of
#: the distribution, and the versions of glibc and Python. The host libraries that approaches bind and hybrid
#: inject are built with glibc 2.31 (SLES 15 SP5, LUMI until January 2026) or 2.38 (SP6), and the
#: image's glibc must not be older.
UBUNTU = {
    'jammy': {
        'image': 'ubuntu:jammy-20260627',
        'distro': 'ubuntu22',
        'glibc': '2.35',
        'python': '3.10',
    },
    'noble': {
        'image': 'ubuntu:noble-20260610',
        'distro': 'ubuntu24',
        'glibc': '2.39',
        'python': '3.12',
    },
}

#: ROCm release -> Ubuntu release, and additional packages with which HIP and RCCL of this release
#: are linked. AMD's package repository has one folder per release, which pins the packages.
ROCM: Dict[str, Dict[str, Any]] = {
    '6.0.3': {'ubuntu': 'jammy', 'libraries': []},
    '6.3.4': {'ubuntu': 'noble', 'libraries': ['rocprofiler-register', 'roctracer']},
    '6.4.4': {'ubuntu': 'noble', 'libraries': ['rocprofiler-register', 'roctracer']},
}
#: GPU target of AMD's MI250X for compilers
GPU = 'gfx90a'

#: GPU libraries in Debian: Debian release, release of the GPU software, GPU targets of compilers,
#: packages whose versions the image's test checks, further packages to run programs, libraries that
#: the image's test loads, and licences. Debian's ROCm packages come from several releases; the release
#: of HIP is given here. Without recommended packages, HIP's runtime installs the LLVM library (comgr
#: is linked with LLVM) but no compiler.
#: opened: file name with which libfabric opens the GPU library (dlopen in src/hmem_rocr.c and
#: hmem_cuda.c of 2.1.0), and target of the link. Debian has these names only in its -dev packages.
GPU_OF_DEBIAN: Dict[str, Dict[str, Any]] = {
    'rocm': {
        'debian': 'trixie',
        'release': '5.7.1',
        'gpus': ['gfx90a', 'gfx942'],  # MI250X, MI300
        'packages': {'libamdhip64-5': '5.7.1', 'libhsa-runtime64-1': '6.1.2', 'librccl1': '5.4.3'},
        'more_packages': ['librocm-smi64-1'],
        'libraries': 'libamdhip64.so.5 libhsa-runtime64.so.1 librccl.so.1 librocm_smi64.so.1',
        'opened': ('libhsa-runtime64.so', 'libhsa-runtime64.so.1'),
        'licences': ['MIT', 'NCSA', 'BSD-3-Clause', 'Apache-2.0 WITH LLVM-exception'],
    },
    'cuda': {
        'debian': 'trixie',
        'release': '12.4.1',
        'gpus': ['80', '90'],  # A100, H100 and GH200
        'packages': {'libcudart12': '12.4.127', 'libnccl2': '2.22.3'},
        'more_packages': [],
        'libraries': 'libcudart.so.12 libnccl.so.2',
        'opened': ('libcudart.so', 'libcudart.so.12'),
        'licences': ['LicenseRef-NVIDIA-CUDA', 'BSD-3-Clause'],
    },
}

#: CUDA release -> images for the build and the runtime stage (with full tags, for x86_64 and
#: aarch64), and their Ubuntu release
CUDA = {
    '12.8.1': {
        'build': 'nvidia/cuda:12.8.1-devel-ubuntu24.04',
        'runtime': 'nvidia/cuda:12.8.1-base-ubuntu24.04',
        'ubuntu': 'noble',
    }
}
