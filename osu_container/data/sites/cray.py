"""
What the sites that are HPE Cray EX systems with Slingshot 11 share: how a fact is written, and
entries for based_on.

The keys are explained in schema.py. Data only. LUMI is such a system too; its facts stand in its
own file, because they were read in logs of that system.
"""

from osu_container.data.sites.schema import PMIX_FILES_DERIVED


def format_rccl_options(rocm):
    """
    Return the options (str) by which configure builds the programs that measure RCCL.

    It looks for <rccl.h>, which ROCm has in include/rccl since 5.2. It links every program with
    LIBS, hence --as-needed for RCCL alone; --with-rccl would put -lrccl among the LDFLAGS of all
    (configure.ac of OSU 7.4).

    :param rocm: str, folder of ROCm, or a variable of the shell with it
    """
    return (
        '--enable-rcclomb CPPFLAGS=-I%s/include/rccl LIBS=-Wl,--push-state,--as-needed,-L%s/lib,-lrccl,--pop-state'
        % (rocm, rocm)
    )


def make_fact(value, why, source, date, evidence, **more):
    """
    Return the dict of one fact; the order of the arguments is that in which one reads it. more:
    optional keys.
    """
    return dict(
        {'value': value, 'why': why, 'source': source, 'date': date, 'evidence': evidence}, **more
    )


def make_variable(name, value, why, source, date, evidence, **conditions):
    """Return the dict of one variable; conditions: only, when (see data/approaches.py)."""
    return dict(make_fact(value, why, source, date, evidence), name=name, **conditions)


#: default folders of SLES, then that of HPE's links to the default releases, then that of AMD's
#: package of libdrm
SLES_FOLDERS = ['/lib64', '/usr/lib64', '/lib', '/usr/lib', '/opt/cray/pe/lib64']
AMD_FOLDER = '/opt/amdgpu/lib64'

_FIRST_READ_DATE = '2026-11-21'
_HPE = 'github.com/HewlettPackard/shs-ccl-docs, ccl_env.sh'


def make_mpich_libraries(
    version, source, date, evidence, gtl, gtl_source, gtl_date, gtl_evidence, build='gnu/12.3'
):
    """
    Return the facts of libraries of Cray MPICH version (str), by default its build for GCC.

    :param source, date, evidence: of its folder lib-abi-mpich; gtl: 'hsa' or 'cuda', the GPU
        transport layer, with the gtl_source, gtl_date and gtl_evidence of its folder
    """
    root, name = '/opt/cray/pe/mpich/' + version, 'libmpi_gtl_' + gtl
    return {
        'libmpi': make_fact(
            '%s/ofi/%s/lib-abi-mpich/libmpi.so.12' % (root, build),
            'Cray MPICH %s under the soname of the '
            'MPICH ABI, for programs linked with any MPICH' % version,
            source,
            date,
            evidence,
            release=version,
        ),
        name: make_fact(
            '%s/gtl/lib/%s.so.0' % (root, name),
            'GPU transport layer of Cray MPICH: without it buffers in GPU memory end in an error',
            gtl_source,
            gtl_date,
            gtl_evidence,
        ),
    }


def make_stack_fact(system, name, values):
    """
    Return the fact of a stack (name, str) of a system (of, str) by values (list of str) of the
    module cray-mpich.
    """
    return make_fact(
        {'of': system, 'name': name, 'variable': 'CRAY_MPICH_VERSION', 'values': values},
        'the release of the module cray-mpich that is loaded; without one the stack of which users have shown '
        'most',
        'the module sets it: build scripts for Perlmutter (github.com/jackmcarthur/lorrax f43150f7, '
        'config/perlmutter) and for Derecho',
        '2026-11-26',
        'derived',
    )


def make_name_recognition(name, source, date):
    """Return the fact recognised_by of a site (str) that only its name chooses."""
    return make_fact(
        {},
        'no public page says by which variable the system is known; choose it by its name: --site %s, '
        '--try-amend=site=%s' % (name, name),
        source,
        date,
        'untested',
    )


def make_ll128_variable(source, date):
    """Return the variable by which NCCL does without its protocol LL128, for a site with GH200."""
    return make_variable(
        'NCCL_PROTO',
        '^LL128',
        'the protocol LL128, a default since NCCL 2.27, is slower over Slingshot, '
        'and data came out wrong with it between GH200 (NVIDIA/nccl#2001)',
        source,
        date,
        'derived',
        only=['gpu'],
    )


def make_nccl_variables(source, date, evidence, interfaces='hsn'):
    """
    Return the variables (list of dict) of NCCL over Slingshot; interfaces: their names, or how
    these begin (str).
    """
    return [
        make_variable(
            'NCCL_SOCKET_IFNAME',
            interfaces,
            'NCCL meets and, without a plugin, sends over these interfaces',
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
            'the card reads GPU memory itself',
            source,
            date,
            evidence,
            only=['gpu'],
        ),
    ]


def make_pmi_libraries(folder, pals, source, date, evidence):
    """Return the facts of libraries of Cray PMI in a folder (str), and of PALS in pals (str)."""
    return {
        'libpmi': make_fact(
            folder + '/libpmi.so.0',
            'Cray MPICH finds its ranks through Cray PMI',
            source,
            date,
            evidence,
        ),
        'libpmi2': make_fact(
            folder + '/libpmi2.so.0', 'the second library of Cray PMI', source, date, evidence
        ),
        'libpals': make_fact(
            pals + '/libpals.so.0', 'Cray PMI asks it about the launcher', source, date, evidence
        ),
    }


def make_lustreapi_fact(source, date):
    """
    Return the fact of the library that Cray MPICH opens for files on Lustre.

    What ends without it: github.com/underworldcode/underworld2/issues/668, with Pawsey's newsletter
    of 2023-03-13.
    """
    return make_fact(
        '/usr/lib64/liblustreapi.so',
        'Cray MPICH opens it for MPI_File_open on Lustre, and ends without it '
        '("liblustreapi != NULL")',
        source,
        date,
        'untested',
        opened_as=['liblustreapi.so'],
        serves='MPI_File_open',
    )


def make_rocm_libraries(folder, source, date, evidence, major='6'):
    """Return the facts of libraries of ROCm in a folder (str); major: of libamdhip64's soname."""
    return {
        'libhsa-runtime64': make_fact(
            folder + '/libhsa-runtime64.so.1',
            'the GTL needs it, and libfabric opens it; it must be the one that fits '
            'the host\'s GTL',
            source,
            date,
            evidence,
            opened_as=['libhsa-runtime64.so'],
        ),
        'libamdhip64': make_fact(
            folder + '/libamdhip64.so.' + major,
            'HIP runtime of the same ROCm as libhsa-runtime64: the two are one build',
            source,
            date,
            evidence,
            opened_as=['libamdhip64.so'],
        ),
    }


def make_rocm_folders(folder, source, date, evidence):
    """Return the facts of folders with libraries, folder (str) with those of ROCm among them."""
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


def make_native_build(version, release):
    """
    Return what a native build with GCC uses on GPUs of AMD; version: of ROCm, release: of Cray
    MPICH (both str).
    """
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


def make_spool_fact(source, date, evidence):
    """Return the fact of the folder in which Cray PMI reads where the ranks are."""
    return make_fact(
        ['/var/spool/slurmd'],
        'Cray PMI reads where the ranks are from a file that Slurm writes there',
        source,
        date,
        evidence,
        bound='run',
    )


#: The cores of a node with one processor of 64 cores and four MI250X, by GCD: the first core of
#: each group of eight, and the card of its module. OLCF and Pawsey draw the same picture as LUMI.
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


def make_gpu_binding(rows, cores, reserved=0):
    """
    Return the value of gpu_binding.

    :param rows: list of (number of the GPU, its first core, name of its card); cores: int, how many
        belong to each; reserved: int, how many of these, the first, are the system's
    """
    mask = ((1 << cores) - 1) & ~((1 << reserved) - 1)
    return [{'gcd': gpu, 'mask': '%#x' % (mask << first), 'nic': nic} for gpu, first, nic in rows]


_HSN = 'hsn0,hsn1,hsn2,hsn3'

#: Entries that no machine is, for based_on.
BASES = {
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
                'the host\'s libfabric reaches the Slingshot card through it',
                'as on LUMI, Frontier and Setonix',
                _FIRST_READ_DATE,
                'derived',
            ),
            'libxpmem': make_fact(
                '/usr/lib64/libxpmem.so.0',
                'Cray MPICH shares memory between the ranks of a node by it',
                'as on LUMI and Frontier',
                _FIRST_READ_DATE,
                'derived',
            ),
        },
        'files': {
            'cxi_state': make_fact(
                ['/run/cxi'],
                'lists of binds that work on LUMI have it: state of the cards for libcxi',
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
                'RCCL and NCCL meet and, without a plugin, send over these '
                'interfaces; other ones are slow or lead nowhere',
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
                'libdrm of the host\'s ROCm reads the names of the GPUs there',
                'as on LUMI',
                _FIRST_READ_DATE,
                'derived',
                bound='run',
            ),
            'kernel_config': make_fact(
                ['/boot/config-{kernel}'],
                'libfabric looks there whether the kernel can share GPU memory with the card (DMABUF)',
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
