"""
Define facts that several HPE Cray EX systems share, as functions and as base entries.

schema.py explains the keys of the data. LUMI is also an HPE Cray EX system, but lumi.py
defines the facts about LUMI, because these facts come from logs of LUMI.
"""

from typing import Any, Dict, List, Optional, Sequence, Tuple

from osu_container.data.sites.schema import PMIX_FILES_DERIVED


def format_rccl_options(rocm: str) -> str:
    """
    Return the options of OSU's configure script that also build the RCCL benchmarks.

    `rocm`: folder of ROCm, or a shell variable with this folder. configure searches for the header
    <rccl.h>, which is in include/rccl since ROCm 5.2. configure links every program with LIBS, and
    --as-needed removes RCCL from programs that do not use RCCL. The option --with-rccl is not used,
    because --with-rccl adds -lrccl to the LDFLAGS of all programs (configure.ac of OSU 7.4).
    """
    return (
        '--enable-rcclomb CPPFLAGS=-I%s/include/rccl '
        'LIBS=-Wl,--push-state,--as-needed,-L%s/lib,-lrccl,--pop-state' % (rocm, rocm)
    )


def make_fact(
    value: Any, why: str, source: str, date: str, evidence: str, **more: Any
) -> Dict[str, Any]:
    """
    Return one fact: a dict with a value, and its reason, source, date and evidence.

    `more`: optional keys of the fact.
    """
    return {
        'value': value,
        'why': why,
        'source': source,
        'date': date,
        'evidence': evidence,
        **more,
    }


def make_variable(
    name: str, value: str, why: str, source: str, date: str, evidence: str, **conditions: Any
) -> Dict[str, Any]:
    """
    Return one environment variable as a fact (a dict), which also has the key `name`.

    `conditions`: optional keys of the fact, such as `only`; data/approaches.py explains these keys.
    """
    return {**make_fact(value, why, source, date, evidence), 'name': name, **conditions}


#: Default library folders of SLES, with HPE's folder of links to default versions; the same with the
#: folder of AMD's libdrm
SLES_FOLDERS = ['/lib64', '/usr/lib64', '/lib', '/usr/lib', '/opt/cray/pe/lib64']
AMD_FOLDERS = SLES_FOLDERS + ['/opt/amdgpu/lib64']

_FIRST_READ_DATE = '2026-11-21'


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
    Return facts about libmpi and the GPU transport layer (GTL), as {library name: fact}.

    `version`: release of Cray MPICH. `source`, `date` and `evidence` belong to the path of libmpi.
    `gtl`: kind of the GTL, 'hsa' or 'cuda'. `gtl_source`, `gtl_date` and `gtl_evidence` belong to the
    path of the GTL. `build`: folder name of the compiler with which Cray MPICH was built.
    """
    root, name = '/opt/cray/pe/mpich/' + version, 'libmpi_gtl_' + gtl
    return {
        'libmpi': make_fact(
            '%s/ofi/%s/lib-abi-mpich/libmpi.so.12' % (root, build),
            'Cray MPICH %s: the library has the soname of the MPICH ABI, which programs linked with '
            'any MPICH need' % version,
            source,
            date,
            evidence,
            release=version,
        ),
        name: make_fact(
            '%s/gtl/lib/%s.so.0' % (root, name),
            'Cray MPICH needs this GPU transport layer (GTL) to send buffers in GPU memory',
            gtl_source,
            gtl_date,
            gtl_evidence,
        ),
    }


def make_stack_fact(system: str, name: str, values: List[str]) -> Dict[str, Any]:
    """
    Return the fact `stack`, with which a module recognises the loaded software stack.

    `system`: common name of all stacks of the system. `name`: name of this stack. `values`: versions
    of the module cray-mpich that identify this stack.
    """
    return make_fact(
        {'of': system, 'name': name, 'variable': 'CRAY_MPICH_VERSION', 'values': values},
        'the loaded version of the module cray-mpich selects the software stack; without '
        'such a module, the stack is selected about which users have published most',
        'the module cray-mpich sets the variable in build scripts for Perlmutter '
        '(github.com/jackmcarthur/lorrax f43150f7, config/perlmutter) and for Derecho',
        '2026-11-26',
        'derived',
    )


def make_name_recognition(name: str, source: str, date: str) -> Dict[str, Any]:
    """
    Return an empty fact `recognised_by`, for a site that this project cannot recognise.

    name: name of the site, by which users must select the site.
    """
    return make_fact(
        {},
        'no public page names a variable that identifies the system; select the site by its name '
        'with --site %s or --try-amend=site=%s' % (name, name),
        source,
        date,
        'untested',
    )


def make_ll128_variable(source: str, date: str) -> Dict[str, Any]:
    """Return the variable that disables NCCL's protocol LL128 on a site with GH200."""
    return make_variable(
        'NCCL_PROTO',
        '^LL128',
        'the protocol LL128 is slower over Slingshot and gave wrong data between GH200 nodes '
        '(NVIDIA/nccl#2001); NCCL uses LL128 by default since release 2.27',
        source,
        date,
        'derived',
        only=['gpu'],
    )


def make_nccl_variables(
    source: str, date: str, evidence: str, interfaces: str = 'hsn'
) -> List[Dict[str, Any]]:
    """
    Return the environment variables for NCCL over Slingshot, as a list of facts.

    `interfaces`: names of the Slingshot interfaces, or the common prefix of these names.
    """
    return [
        make_variable(name, value, why, source, date, evidence, only=['gpu'])
        for name, value, why in (
            (
                'NCCL_SOCKET_IFNAME',
                interfaces,
                'NCCL ranks find each other over these network interfaces. Without a plugin, '
                'NCCL ranks also send data over these interfaces',
            ),
            ('NCCL_CROSS_NIC', '1', 'each network card reaches every card of another node'),
            ('NCCL_NET_GDR_LEVEL', 'PHB', 'the network card reads GPU memory directly'),
        )
    ]


def make_pmi_libraries(
    folder: str, pals: str, source: str, date: str, evidence: str
) -> Dict[str, Dict[str, Any]]:
    """
    Return facts about the libraries of Cray PMI and PALS, as {library name: fact}.

    `folder`: folder of Cray PMI's libraries. `pals`: folder of the library libpals, '' to omit libpals.
    """
    return {
        name: make_fact('%s/%s.so.0' % (path, name), why, source, date, evidence)
        for name, path, why in (
            ('libpmi', folder, 'the ranks of Cray MPICH find each other through Cray PMI'),
            ('libpmi2', folder, 'libpmi2 is the second library of Cray PMI'),
            ('libpals', pals, 'Cray PMI uses this library to query the launcher'),
        )
        if path
    }


def make_lustreapi_fact(source: str, date: str) -> Dict[str, Any]:
    """
    Return the fact about liblustreapi, a library that Cray MPICH opens for files on Lustre.

    Programs that could not open liblustreapi failed, according to
    github.com/underworldcode/underworld2/issues/668 and Pawsey's newsletter of 2023-03-13.
    """
    return make_fact(
        '/usr/lib64/liblustreapi.so',
        'Cray MPICH opens this library for MPI_File_open on Lustre. Cray MPICH aborts if the '
        'library is missing ("liblustreapi != NULL")',
        source,
        date,
        'untested',
        opened_as=['liblustreapi.so'],
        serves='MPI_File_open',
    )


def list_rocm_sonames(release: str) -> Dict[str, str]:
    """
    Return {library: soname} of libraries whose soname or existence depends on the ROCm release.

    Sources: ROCm 6.1.5 release notes (rocprofiler-register since ROCm 6.1); packages of ROCm 7.0 and
    7.2 (libamdhip64.so.7, libamd_comgr.so.3). ROCm 10 still has libamdhip64.so.7
    (ROCm/rocm-systems).
    """
    major, minor = [int(number) for number in (release + '.0').split('.')[:2]]
    sonames = {
        'libamdhip64': 'libamdhip64.so.%d' % min(major, 7),
        'libamd_comgr': 'libamd_comgr.so.%d' % (2 if major < 7 else 3),
    }
    if (major, minor) >= (6, 1):
        sonames['librocprofiler-register'] = 'librocprofiler-register.so.0'
    return sonames


def make_rocm_libraries(
    release: str, folder: str, source: str, date: str, evidence: str
) -> Dict[str, Dict[str, Any]]:
    """
    Return facts about libhsa-runtime64 and libamdhip64, as {library name: fact}.

    release: release of ROCm. folder: folder of the two libraries on the host.
    """
    return {
        'libhsa-runtime64': make_fact(
            folder + '/libhsa-runtime64.so.1',
            "Cray's GPU transport layer needs this library, and libfabric opens this library "
            'at run time. Therefore the version of the library must match the GPU transport '
            'layer (GTL) of the host',
            source,
            date,
            evidence,
            opened_as=['libhsa-runtime64.so'],
            release=release,
        ),
        'libamdhip64': make_fact(
            folder + '/' + list_rocm_sonames(release)['libamdhip64'],
            'this HIP runtime belongs to the same ROCm as libhsa-runtime64: both libraries '
            'must come from one build',
            source,
            date,
            evidence,
            opened_as=['libamdhip64.so'],
        ),
    }


def make_rocm_folders(
    folder: str, why: str, source: str, date: str, evidence: str, more: Sequence[str] = ()
) -> Dict[str, Dict[str, Any]]:
    """
    Return two facts about folders of libraries on a host with ROCm.

    The fact 'library_folders' lists all folders that the host's ld.so searches. The fact 'one_build'
    lists only `folder`, the folder of ROCm's libraries. `more`: additional folders that ld.so
    searches. `why` and `evidence` belong to the fact 'library_folders'.
    """
    return {
        'library_folders': make_fact([*AMD_FOLDERS, folder, *more], why, source, date, evidence),
        'one_build': make_fact(
            [folder],
            'libraries of one ROCm version do not work with libraries of another version',
            source,
            date,
            'derived',
        ),
    }


#: Kind of the GPU transport layer -> options of OSU's configure script
_GPU_OPTIONS = {
    '': '',
    'hsa': '--enable-rocm --with-rocm=$ROCM_PATH ',
    'cuda': '--enable-cuda --with-cuda=$CUDA_HOME ',
}
#: Reason for the library folders of a system whose pages do not name these folders
FOLDERS_AS_ON_LUMI = (
    "the host's ld.so searches the folders of SLES, then the folders of Cray's and AMD's "
    'packages, as on LUMI'
)


def make_native_build(
    prgenv: str,
    libmpi: str,
    modules: Sequence[str] = (),
    gtl: str = '',
    options: str = '',
    plugin: Optional[Tuple[str, str, str]] = None,
) -> Dict[str, Any]:
    """
    Return the value of the key `native`: how to build OSU with Cray's compilers.

    `prgenv`: Cray's programming environment, 'amd' or 'gnu'. `modules`: further modules to load.
    `gtl`: kind of the GPU transport layer, '' without GPUs. `options`: more options of OSU's configure
    script. `plugin`: name, version and suffix of the easyconfig of the RCCL plugin, None without a plugin.
    """
    # Without an rpath in the program, ld.so loads MPI and GTL in the system's default version,
    # whatever stack is loaded (LUMI-training-materials d64bc58c, 102-CPE.md).
    rpath = '-Wl,-rpath,$CRAY_MPICH_DIR/lib' + (
        ' -Wl,-rpath,$CRAY_MPICH_ROOTDIR/gtl/lib' if gtl else ''
    )
    return {
        'mpicc': 'cc',
        'mpicxx': 'CC',
        'libmpi': libmpi,
        'python': '/usr/bin/python3',
        'prgenv': prgenv,
        'modules': ['PrgEnv-' + prgenv, *modules],
        'plugin': plugin,
        'configopts': '%s%sLDFLAGS="%s"' % (_GPU_OPTIONS[gtl], options, rpath),
        'needed': ['libmpi_gtl_%s.so.0' % gtl] if gtl else [],
    }


def make_rocm_build(
    prgenv: str, rocm: str, libmpi: str, options: str = '', plugin: Any = None
) -> Dict[str, Any]:
    """
    Return the value of the key `native` for nodes with MI250X; see make_native_build().

    `rocm`: version of ROCm.
    """
    return make_native_build(
        prgenv,
        libmpi,
        ['craype-accel-amd-gfx90a', 'rocm/' + rocm],
        'hsa',
        options,
        plugin,
    )


def make_jobs(
    partition: Optional[str], account: bool, gpus: int = 0, *options: str
) -> Dict[str, Any]:
    """
    Return the value of the key `jobs` for Slurm jobs on whole nodes.

    `account`: whether a job must name an account. `gpus`: number of GPUs of each node. `options`:
    more options of a job.
    """
    step = ['--gpus-per-node=%d' % gpus] if gpus else []
    return {
        'partition': partition,
        'account': account,
        'options': ['--exclusive', *step, *options],
        'step': step,
    }


def make_glibc_fact(source: str, date: str, value: str = '2.38') -> Dict[str, Any]:
    """
    Return the fact `glibc`: the newest release of glibc that a host library may need.

    value: release of the host's own glibc, because no public log shows what the libraries need.
    """
    return make_fact(
        value,
        'libraries of the host need no newer glibc than the host has',
        source,
        date,
        'derived',
    )


#: Source of make_glibc_fact() for a system with a known service pack of SLES
SLES = 'glibc release of SUSE Linux Enterprise Server 15 %s'

#: Dependencies of a libfabric with the provider cxi: libcurl, json-c and their dependencies
_CURL_LIBRARIES = (
    'libcurl.so.4 libnghttp2.so.14 libidn2.so.0 libssh.so.4 libpsl.so.5 libgssapi_krb5.so.2 '
    'libldap_r-2.4.so.2 liblber-2.4.so.2 libbrotlidec.so.1 libbrotlicommon.so.1 libunistring.so.2 '
    'libjitterentropy.so.3 libkrb5.so.3 libk5crypto.so.3 libkrb5support.so.0 libsasl2.so.3 '
    'libkeyutils.so.1 libz.so.1 libzstd.so.1 libatomic.so.1'
).split()
_SSL_3 = (
    'libssl.so.3 libcrypto.so.3 libselinux.so.1 libpcre2-8.so.0 libcom_err.so.2 libnl-3.so.200 '
    'libnl-route-3.so.200'
).split()
_SSL_1 = 'libssl.so.1.1 libcrypto.so.1.1 libpcre.so.1 libnl-3.so.200 libnl-route-3.so.200'.split()


def make_libfabric_needs(
    json_c: str, source: str, date: str, evidence: str, openssl: str = '3'
) -> Dict[str, Any]:
    """
    Return the fact `libfabric_needs`: the sonames that the host's libfabric needs.

    json_c: number at the end of the soname of libjson-c. openssl: release of OpenSSL, '3' or '1'.
    """
    ssl = _SSL_3 if openssl == '3' else _SSL_1
    return make_fact(
        _CURL_LIBRARIES + ssl + ['libjson-c.so.' + json_c],
        'the host\'s libfabric needs these libraries besides libcxi',
        source,
        date,
        evidence,
    )


#: Value of SINGULARITY_BINDPATH on Pawsey's test system
PAWSEYS_BINDS = (
    "value of SINGULARITY_BINDPATH on Pawsey's test system, from "
    'github.com/PawseySC/pawsey-containers, pull request 92'
)


def make_spool_fact(source: str, date: str) -> Dict[str, Any]:
    """Return the fact about Slurm's folder with the file that tells Cray PMI where ranks run."""
    return make_fact(
        ['/var/spool/slurmd'],
        'Cray PMI reads the placement of the ranks from a file that Slurm writes to this folder',
        source,
        date,
        'measured',
        bound='run',
    )


def exclude_bind(images: Dict[str, Any]) -> Dict[str, Any]:
    """Return a copy of the fact `images` that lacks the images for approach bind."""
    return dict(
        images, value={name: file for name, file in images['value'].items() if 'bind' not in name}
    )


#: First of the eight cores of each GCD, for nodes with 64 cores and four MI250X. OLCF and Pawsey publish
#: the same picture of the node as LUMI.
MI250X = [48, 56, 16, 24, 0, 8, 32, 40]


def make_gpu_binding(
    first_cores: Sequence[int], cores: int, reserved: int = 0, gpus_per_card: int = 1
) -> List[Dict[str, Any]]:
    """
    Return the value of the fact `gpu_binding`: a list with one dict for each GPU of a node.

    `first_cores`: first core of each GPU. `cores`: number of cores that belong to each GPU. `reserved`:
    how many of these cores, from the first core on, the operating system keeps for itself.
    `gpus_per_card`: number of GPUs that share a network card; GPU 0 is on card 0.
    """
    mask = ((1 << cores) - 1) & ~((1 << reserved) - 1)
    return [
        {'gcd': gpu, 'mask': '%#x' % (mask << first), 'nic': 'cxi%d' % (gpu // gpus_per_card)}
        for gpu, first in enumerate(first_cores)
    ]


#: Variable of NCCL for a system with Slingshot
NCCL_CROSS_NIC = make_variable(
    'NCCL_CROSS_NIC',
    '1',
    'each network card reaches every card of another node',
    'github.com/HewlettPackard/shs-ccl-docs 438fcce, ccl_env.sh',
    _FIRST_READ_DATE,
    'untested',
    only=['gpu'],
)

#: Entries that are no sites, but the base of other entries (key based_on)
BASES: Dict[str, Dict[str, Any]] = {
    'cray': {
        'based_on': 'plain',
        'title': 'an HPE Cray EX system with Slingshot 11',
        'default_approach': make_fact(
            'opensource',
            'opensource injects no host library that an update could change',
            'docs/design.md, decision 7',
            _FIRST_READ_DATE,
            'derived',
        ),
        'provider': make_fact(
            'cxi',
            'cxi is libfabric\'s provider for Slingshot 11',
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
                'the host\'s libfabric uses this library for the Slingshot card',
                'as on LUMI, Frontier and Setonix',
                _FIRST_READ_DATE,
                'derived',
            ),
            'libxpmem': make_fact(
                '/usr/lib64/libxpmem.so.0',
                'Cray MPICH uses this library to share memory within a node',
                'as on LUMI and Frontier',
                _FIRST_READ_DATE,
                'derived',
            ),
        },
        'glibc': make_glibc_fact(
            'SUSE Linux Enterprise Server 15 SP6 and SP7 have this glibc release, and no service '
            'pack has a newer glibc',
            '2026-11-26',
        ),
        'libfabric_needs': make_libfabric_needs(
            '3',
            'guess: this system needs the same libraries as LUMI, because HPE made both systems',
            '2026-11-23',
            'untested',
        ),
        'files': {
            'cxi_state': make_fact(
                ['/run/cxi'],
                'the folder /run/cxi contains the state of the network cards for libcxi; '
                'lists of bind mounts that work on LUMI contain this folder',
                'singularity-bindings-24.03.eb in LUMI-EasyBuild-contrib fc59dd70; no source '
                'names the folder on other systems, where a missing folder is skipped',
                '2026-05-04',
                'untested',
                bound='run',
            ),
        },
        'variables': [
            make_variable(
                'NCCL_SOCKET_IFNAME',
                'hsn0,hsn1,hsn2,hsn3',
                'RCCL and NCCL ranks find each other over these network interfaces. Without '
                'a plugin, the ranks also send data over these interfaces. Other interfaces '
                'are slow or do not connect the nodes',
                'names of the cards, as on LUMI',
                _FIRST_READ_DATE,
                'derived',
                only=['gpu'],
            ),
            NCCL_CROSS_NIC,
        ],
    },
    'cray-rocm': {
        'based_on': 'cray',
        'gpu': make_fact(
            'gfx90a',
            'gfx90a is the architecture of the MI250X; each node has four MI250X, which are '
            'eight GCDs',
            'AMD\'s name for the GPU',
            _FIRST_READ_DATE,
            'derived',
        ),
        'files': {
            'libdrm_ids': make_fact(
                ['/usr/share/libdrm/amdgpu.ids'],
                "the library libdrm of the host's ROCm reads the names of the GPUs from this file",
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
            'openmpi injects no host library that an update could change, and of the images '
            'of this project only the image for openmpi has CUDA',
            'docs/design.md, decision 7',
            _FIRST_READ_DATE,
            'derived',
        ),
        'files': PMIX_FILES_DERIVED,
        'lnx_links': make_fact(
            '|'.join('shm+cxi:cxi%d' % card for card in range(4)),
            'ranks use shared memory within a node, and one of the four cards between nodes',
            'CSCS documentation, Open MPI, LINKx (experimental), for Alps (github.com/eth-cscs/cscs-docs '
            '80abed1, docs/software/communication/openmpi.md)',
            _FIRST_READ_DATE,
            'derived',
        ),
        'one_build': make_fact(
            [],
            'no folder of one build is known: the container runtime itself adds the '
            'libraries of the GPU driver (--nv)',
            'apptainer(1), --nv',
            _FIRST_READ_DATE,
            'derived',
        ),
    },
}
