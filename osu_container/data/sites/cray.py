"""
Share facts of HPE Cray EX systems with Slingshot 11: functions and base entries.

Data only; schema.py explains the keys. LUMI is such a system too; its facts are in its own file,
because they were read in logs of that system.
"""

from typing import Any, Dict, List, Sequence, Tuple

from osu_container.data.sites.schema import PMIX_FILES_DERIVED


def format_rccl_options(rocm: str) -> str:
    """
    Return the options of configure for the programs that measure RCCL.

    configure searches <rccl.h>, which ROCm has in include/rccl since 5.2. It links every program with
    LIBS, hence --as-needed around RCCL; --with-rccl would add -lrccl to the LDFLAGS of all
    (configure.ac of OSU 7.4). rocm: folder of ROCm, or a shell variable with it.
    """
    return (
        '--enable-rcclomb CPPFLAGS=-I%s/include/rccl LIBS=-Wl,--push-state,--as-needed,-L%s/lib,-lrccl,--pop-state'
        % (rocm, rocm)
    )


def make_fact(
    value: Any, why: str, source: str, date: str, evidence: str, **more: Any
) -> Dict[str, Any]:
    """Return one fact (see schema.py); more: optional keys."""
    return dict(
        {'value': value, 'why': why, 'source': source, 'date': date, 'evidence': evidence}, **more
    )


def make_variable(
    name: str, value: str, why: str, source: str, date: str, evidence: str, **conditions: Any
) -> Dict[str, Any]:
    """Return one variable; conditions: only, when (see data/approaches.py)."""
    return dict(make_fact(value, why, source, date, evidence), name=name, **conditions)


#: Default folders of SLES and of HPE's links to the default releases; folder of AMD's libdrm package
SLES_FOLDERS = ['/lib64', '/usr/lib64', '/lib', '/usr/lib', '/opt/cray/pe/lib64']
AMD_FOLDER = '/opt/amdgpu/lib64'

_FIRST_READ_DATE = '2026-11-21'
_HPE = 'github.com/HewlettPackard/shs-ccl-docs, ccl_env.sh'


def make_mpich_libraries(
    version: str,
    source: str,
    date: str,
    evidence: str,
    gtl: str,
    gtl_source: str,
    gtl_date: str,
    gtl_evidence: str,
    build: str = 'gnu/12.3',
) -> Dict[str, Dict[str, Any]]:
    """
    Return the facts of the libraries of Cray MPICH, by default of its build for GCC.

    source, date, evidence: of the folder lib-abi-mpich; gtl: 'hsa' or 'cuda', the GPU transport
    layer, with gtl_source, gtl_date and gtl_evidence of its folder.
    """
    root, name = '/opt/cray/pe/mpich/' + version, 'libmpi_gtl_' + gtl
    return {
        'libmpi': make_fact(
            '%s/ofi/%s/lib-abi-mpich/libmpi.so.12' % (root, build),
            'programs use Cray MPICH %s: this library has the soname of the MPICH ABI, which programs that '
            'are linked with any MPICH need' % version,
            source,
            date,
            evidence,
            release=version,
        ),
        name: make_fact(
            '%s/gtl/lib/%s.so.0' % (root, name),
            'Cray MPICH needs its GPU transport layer (GTL) for buffers in GPU memory, and fails '
            'without it',
            gtl_source,
            gtl_date,
            gtl_evidence,
        ),
    }


def make_stack_fact(system: str, name: str, values: List[str]) -> Dict[str, Any]:
    """Return the fact of a stack, recognised by releases of the module cray-mpich."""
    return make_fact(
        {'of': system, 'name': name, 'variable': 'CRAY_MPICH_VERSION', 'values': values},
        'the release of the module cray-mpich that is loaded; without one the stack of which users have shown '
        'most',
        'the module sets it: build scripts for Perlmutter (github.com/jackmcarthur/lorrax f43150f7, '
        'config/perlmutter) and for Derecho',
        '2026-11-26',
        'derived',
    )


def make_name_recognition(name: str, source: str, date: str) -> Dict[str, Any]:
    """Return the fact recognised_by of a site that can only be chosen by its name."""
    return make_fact(
        {},
        'no public page says by which variable the system is known; choose it by its name: --site %s, '
        '--try-amend=site=%s' % (name, name),
        source,
        date,
        'untested',
    )


def make_ll128_variable(source: str, date: str) -> Dict[str, Any]:
    """Return the variable that disables NCCL's protocol LL128, for a site with GH200."""
    return make_variable(
        'NCCL_PROTO',
        '^LL128',
        'NCCL does not use the protocol LL128, which is a default since NCCL 2.27. LL128 is '
        'slower over Slingshot, and transferred wrong data between GH200 (NVIDIA/nccl#2001)',
        source,
        date,
        'derived',
        only=['gpu'],
    )


def make_nccl_variables(
    source: str, date: str, evidence: str, interfaces: str = 'hsn'
) -> List[Dict[str, Any]]:
    """Return the variables of NCCL over Slingshot; interfaces: their names or common prefix."""
    return [
        make_variable(
            'NCCL_SOCKET_IFNAME',
            interfaces,
            'NCCL connects its ranks over these interfaces, and without a plugin also sends data '
            'over them',
            source,
            date,
            evidence,
            only=['gpu'],
        ),
        make_variable(
            'NCCL_CROSS_NIC',
            '1',
            'each of the four cards reaches every card of another node',
            source,
            date,
            evidence,
            only=['gpu'],
        ),
        make_variable(
            'NCCL_NET_GDR_LEVEL',
            'PHB',
            'the network card reads GPU memory directly',
            source,
            date,
            evidence,
            only=['gpu'],
        ),
    ]


def make_pmi_libraries(
    folder: str, pals: str, source: str, date: str, evidence: str
) -> Dict[str, Dict[str, Any]]:
    """Return the facts of libraries of Cray PMI in `folder` and of PALS in the folder `pals`."""
    return {
        'libpmi': make_fact(
            folder + '/libpmi.so.0',
            'Cray MPICH finds its ranks through Cray PMI',
            source,
            date,
            evidence,
        ),
        'libpmi2': make_fact(
            folder + '/libpmi2.so.0',
            'this is the second library of Cray PMI',
            source,
            date,
            evidence,
        ),
        'libpals': make_fact(
            pals + '/libpals.so.0',
            'Cray PMI asks libpals about the launcher',
            source,
            date,
            evidence,
        ),
    }


def make_lustreapi_fact(source: str, date: str) -> Dict[str, Any]:
    """
    Return the fact of the library that Cray MPICH opens for files on Lustre.

    Failures without it: github.com/underworldcode/underworld2/issues/668, with Pawsey's newsletter
    of 2023-03-13.
    """
    return make_fact(
        '/usr/lib64/liblustreapi.so',
        'Cray MPICH opens liblustreapi for MPI_File_open on Lustre, and aborts without it '
        '("liblustreapi != NULL")',
        source,
        date,
        'untested',
        opened_as=['liblustreapi.so'],
        serves='MPI_File_open',
    )


def make_rocm_libraries(
    folder: str, source: str, date: str, evidence: str, major: str = '6'
) -> Dict[str, Dict[str, Any]]:
    """Return the facts of libraries of ROCm; major: of libamdhip64's soname."""
    return {
        'libhsa-runtime64': make_fact(
            folder + '/libhsa-runtime64.so.1',
            'the GTL needs this library, and libfabric opens it. The library must be of the ROCm '
            'release that the host\'s GTL needs',
            source,
            date,
            evidence,
            opened_as=['libhsa-runtime64.so'],
        ),
        'libamdhip64': make_fact(
            folder + '/libamdhip64.so.' + major,
            'the HIP runtime must fit libhsa-runtime64: both must be of one build of ROCm',
            source,
            date,
            evidence,
            opened_as=['libamdhip64.so'],
        ),
    }


def make_rocm_folders(
    folder: str, source: str, date: str, evidence: str
) -> Dict[str, Dict[str, Any]]:
    """Return the facts library_folders and one_build; folder: with the libraries of ROCm."""
    return {
        'library_folders': make_fact(
            SLES_FOLDERS + [AMD_FOLDER, folder],
            'where the host\'s ld.so looks: folders of SLES, then of Cray\'s and '
            'AMD\'s packages, as on LUMI',
            source,
            date,
            evidence,
        ),
        'one_build': make_fact(
            [folder],
            'ROCm\'s libraries fit each other, not those of another release',
            source,
            date,
            evidence,
        ),
    }


def make_native_build(version: str, release: str) -> Dict[str, Any]:
    """Return the native build with GCC on AMD GPUs; version: of ROCm, release: of Cray MPICH."""
    return {
        'mpicc': 'cc',
        'mpicxx': 'CC',
        'python': '/usr/bin/python3',
        'prgenv': 'gnu',
        'libmpi': '/opt/cray/pe/mpich/%s/ofi/gnu/12.3/lib-abi-mpich/libmpi.so.12' % release,
        'modules': ['PrgEnv-gnu', 'craype-accel-amd-gfx90a', 'rocm/' + version],
        'plugin': None,
        'configopts': '--enable-rocm --with-rocm=$ROCM_PATH LDFLAGS="-Wl,-rpath,$CRAY_MPICH_DIR/lib '
        '-Wl,-rpath,$CRAY_MPICH_ROOTDIR/gtl/lib"',
        'needed': ['libmpi_gtl_hsa.so.0'],
    }


def make_spool_fact(source: str, date: str, evidence: str) -> Dict[str, Any]:
    """Return the fact of the folder from which Cray PMI reads the places of the ranks."""
    return make_fact(
        ['/var/spool/slurmd'],
        'Cray PMI reads the places of the ranks from a file that Slurm writes to this folder',
        source,
        date,
        evidence,
        bound='run',
    )


#: (GCD, first core of its group of eight, card of its module) of a node with 64 cores and four
#: MI250X. OLCF and Pawsey publish the same picture as LUMI
MI250X = [
    (0, 48, 'cxi0'),
    (1, 56, 'cxi0'),
    (2, 16, 'cxi1'),
    (3, 24, 'cxi1'),
    (4, 0, 'cxi2'),
    (5, 8, 'cxi2'),
    (6, 32, 'cxi3'),
    (7, 40, 'cxi3'),
]


def make_gpu_binding(
    rows: Sequence[Tuple[int, int, str]], cores: int, reserved: int = 0
) -> List[Dict[str, Any]]:
    """
    Return the value of gpu_binding.

    rows: (number of the GPU, its first core, name of its card); cores: number of cores of each GPU;
    reserved: number of the first of these cores, which the system uses.
    """
    mask = ((1 << cores) - 1) & ~((1 << reserved) - 1)
    return [{'gcd': gpu, 'mask': '%#x' % (mask << first), 'nic': nic} for gpu, first, nic in rows]


_HSN = 'hsn0,hsn1,hsn2,hsn3'

#: Entries that are only the base of others (key based_on)
BASES: Dict[str, Dict[str, Any]] = {
    'cray': {
        'based_on': 'plain',
        'title': 'an HPE Cray EX system with Slingshot 11',
        'default_approach': make_fact(
            'opensource',
            'it takes nothing from the host that an update could change',
            'docs/design.md, decision 7',
            _FIRST_READ_DATE,
            'derived',
        ),
        'provider': make_fact(
            'cxi',
            'libfabric\'s provider for Slingshot 11',
            'fi_cxi(7), libfabric main caf5652c',
            _FIRST_READ_DATE,
            'derived',
        ),
        'libraries': {
            'liblustreapi': make_lustreapi_fact(
                'folder as on LUMI; each of these systems has Lustre', '2026-11-26'
            ),
            'libcxi': make_fact(
                '/usr/lib64/libcxi.so.1',
                'the host\'s libfabric reaches the Slingshot card through libcxi',
                'as on LUMI, Frontier and Setonix',
                _FIRST_READ_DATE,
                'derived',
            ),
            'libxpmem': make_fact(
                '/usr/lib64/libxpmem.so.0',
                'Cray MPICH shares memory between ranks of a node by XPMEM',
                'as on LUMI and Frontier',
                _FIRST_READ_DATE,
                'derived',
            ),
        },
        'files': {
            'cxi_state': make_fact(
                ['/run/cxi'],
                'this folder has the state of the network cards for libcxi. Lists of binds that '
                'work on LUMI contain it',
                'singularity-bindings-24.03.eb in LUMI-EasyBuild-contrib fc59dd70; elsewhere nobody says '
                'so, and it is skipped where it is not there',
                '2026-05-04',
                'untested',
                bound='run',
            ),
        },
        'variables': [
            make_variable(
                'NCCL_SOCKET_IFNAME',
                _HSN,
                'RCCL and NCCL connect their ranks over these interfaces, and without a plugin '
                'also send data over them. Other interfaces are slow or do not reach other nodes',
                'names of the cards, as on LUMI',
                _FIRST_READ_DATE,
                'derived',
                only=['gpu'],
            ),
            make_variable(
                'NCCL_CROSS_NIC',
                '1',
                'each of the four cards reaches every card of another node',
                _HPE,
                _FIRST_READ_DATE,
                'untested',
                only=['gpu'],
            ),
        ],
    },
    'cray-rocm': {
        'based_on': 'cray',
        'gpu': make_fact(
            'gfx90a',
            'MI250X: eight GCDs on a node',
            'AMD\'s name of the GPU',
            _FIRST_READ_DATE,
            'derived',
        ),
        'files': {
            'libdrm_ids': make_fact(
                ['/usr/share/libdrm/amdgpu.ids'],
                'libdrm of the host\'s ROCm reads the names of the GPUs from this file',
                'as on LUMI',
                _FIRST_READ_DATE,
                'derived',
                bound='run',
            ),
            'kernel_config': make_fact(
                ['/boot/config-{kernel}'],
                'libfabric reads from this file whether the kernel can share GPU memory with the '
                'network card (DMABUF)',
                'ofiwg/libfabric src/hmem_rocr.c',
                _FIRST_READ_DATE,
                'derived',
                bound='run',
                otherwise={'FI_HMEM_ROCR_USE_DMABUF': '0'},
            ),
        },
    },
    'cray-cuda': {
        'based_on': 'cray',
        'default_approach': make_fact(
            'openmpi',
            'it takes nothing from the host that an update could change, and of our images its one alone '
            'has CUDA',
            'docs/design.md, decision 7',
            _FIRST_READ_DATE,
            'derived',
        ),
        'files': PMIX_FILES_DERIVED,
        'lnx_links': make_fact(
            '|'.join('shm+cxi:cxi%d' % card for card in range(4)),
            'shared memory within a node, each of the four cards between nodes',
            'CSCS documentation, Open MPI, LINKx (experimental), for Alps',
            _FIRST_READ_DATE,
            'derived',
        ),
        'one_build': make_fact(
            [],
            'folders whose libraries are one build: none, the driver\'s libraries come from the '
            'runtime (--nv)',
            'apptainer(1), --nv',
            _FIRST_READ_DATE,
            'derived',
        ),
    },
}
