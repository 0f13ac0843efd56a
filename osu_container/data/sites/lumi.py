"""
Describe LUMI (CSC): GPU and CPU nodes with Slingshot 11, three software stacks.

schema.py explains the keys of the data. Each fact is defined only once: the key 'based_on' of an entry
names another entry, which supplies all facts that the first entry lacks. This project has never run a
program on LUMI. The evidence 'measured' means that the source (a log, page or file) showed the value on
LUMI on the date of the fact. 'derived' means that the value follows from the rule in the key `why`.
'untested' means that no source shows the value on LUMI.
"""

from typing import Any, Dict, List, Tuple

from osu_container.data.sites.cray import (
    AMD_FOLDERS,
    MI250X,
    NCCL_CROSS_NIC,
    PAWSEYS_BINDS,
    SLES,
    exclude_bind,
    format_rccl_options,
    make_glibc_fact,
    make_gpu_binding,
    make_jobs,
    make_libfabric_needs,
    make_lustreapi_fact,
    make_mpich_libraries,
    make_native_build,
    make_pmi_libraries,
    make_rocm_build,
    make_rocm_folders,
    make_rocm_libraries,
)
from osu_container.data.sites.cray import make_fact as _fact
from osu_container.data.sites.cray import make_variable as _variable

# Sources of the facts, with the commits that this project has read
_LOG = 'log of LUMI job 16505426 in github.com/alazzaro/openmpi_on_ss11 627b2cc'
_CONTRIB = (
    'singularity-bindings-24.03.eb in github.com/Lumi-supercomputer/LUMI-EasyBuild-contrib fc59dd70'
)
_STACK = 'github.com/Lumi-supercomputer/LUMI-SoftwareStack 02f17317, CrayPE/CPEpackages_%s.csv'
_TRAINING = 'github.com/Lumi-supercomputer/LUMI-training-materials d64bc58c, '
_DEIC = 'github.com/DeiC-HPC/BitBulldozersLab, Docker build pipeline for 4 different container approaches on LUMI'
_ROCM_2509 = (
    'public notes of a user, "Stack identity, MPICH 8.1.32 vs LUMI 25.09", with jobs 22326815 and '
    '22326827 of LUMI and the module rocm/6.4.4; a build script of Score-P 9.4; the module is '
    'that of github.com/Lumi-supercomputer/LUMI-SoftwareStack 025ee647, rocm-6.4.4.eb'
)


def _make_mpich_libraries(
    version: str, folder: str, evidence: str, source: str, date: str
) -> Dict[str, Dict[str, Any]]:
    # folder: folder of the compiler, which contains the folder lib-abi-mpich
    return make_mpich_libraries(
        version,
        source,
        date,
        evidence,
        'hsa',
        'PE_MPICH_GTL_DIR_amd_gfx90a in the ' + _LOG,
        '2026-03-06',
        'measured' if version == '9.0.1' else 'derived',
        folder,
    )


def _make_pmi_libraries(version: str, evidence: str) -> Dict[str, Dict[str, Any]]:
    return make_pmi_libraries(
        '/opt/cray/pe/pmi/%s/lib' % version,
        '',
        _STACK % 'YY.MM' + ', row cray-pmi; folder as in ' + _CONTRIB,
        '2026-07-10',
        evidence,
    )


#: Name, version and suffix of the easyconfig of the RCCL plugin. The easyconfig is in
#: LUMI-EasyBuild-contrib fc59dd70, which is on the robot path of EasyBuild-user. It depends on
#: libfabric/1.22.0 and on the default rocm, 6.3.4, but uses the rocm of another stack if that is
#: loaded.
_PLUGIN = ('aws-ofi-nccl', '1.18.0', '-rocm')


#: Options of configure for benchmarks that measure RCCL
_RCCL_OPTIONS = format_rccl_options('$ROCM_PATH') + ' '

#: Settings for images with ROCm 7 besides SLURM_NETWORK=single_node_vni (data/approaches.py)
_ROCM_7 = (
    'github.com/lumi-ai-factory/laifs-container-recipes, pull request 22: running requirements with '
    'ROCm 7.0.3 on LUMI; HSA_NO_SCRATCH_RECLAIM also in eth-cscs/alps-extended-images 2f16898, '
    'Alps-Images/ROCm/alps-runtime.rocm.env'
)
_ROCM_7_ONLY = ['gpu', 'cxi', 'image rocm >= 7.0']

_IMAGE_PURPOSE = (
    'approach hybrid needs an image whose MPICH was built with a libfabric that is not newer '
    "than the host's libfabric, and approach opensource needs an image with libcxi. The "
    'approaches pure and bind work with either image'
)


def _list_images(rocm: str) -> Dict[str, str]:
    """
    Return {approach: file name of the image that this approach uses on LUMI}.

    The result also contains the images with mpi4py and CuPy, under the keys 'osu-mpi4py/APPROACH'.
    `rocm`: version of ROCm.
    """
    name = 'lumi-rocm-%s-mpich-4.2.3-libfabric-1.22.0%%s.sif' % rocm
    plain = ['pure', 'bind', 'hybrid']
    return {
        **dict.fromkeys([*plain, 'swap'], 'osu-' + name % ''),
        'opensource': 'osu-' + name % '-libcxi',
        **dict.fromkeys(
            ['osu-mpi4py/' + approach for approach in plain],
            'osu-mpi4py-4.1.2-' + name % '-cupy',
        ),
        'osu-mpi4py/opensource': 'osu-mpi4py-4.1.2-' + name % '-libcxi-cupy',
    }


def _remove_cupy(images: Dict[str, Any]) -> Dict[str, Any]:
    # On CPU nodes the images need only NumPy
    return dict(
        images,
        value={name: file.replace('-cupy.sif', '.sif') for name, file in images['value'].items()},
    )


#: Facts that the stacks share
BASES: Dict[str, Dict[str, Any]] = {
    'lumi': {
        'based_on': 'cray-rocm',
        'title': 'LUMI',
        'runtime': _fact(
            ['singularity'],
            'LUMI has SingularityCE 4.1.3 in /usr/bin, and no command apptainer',
            '`singularity --version` in github.com/alazzaro/cug26_containers_tutorial 0240e5c',
            '2026-04-27',
            'measured',
        ),
        'provider': _fact(
            'cxi',
            'cxi is libfabric\'s provider for Slingshot 11',
            'FI_PROVIDER=cxi in LUMI job 17528243, github.com/alazzaro/openmpi_on_ss11 627b2cc',
            '2026-04-19',
            'measured',
        ),
        'pmi': _fact(
            {'image': 'pmi2', 'host': 'cray_shasta'},
            'Slurm on LUMI has the types none, cray_shasta and pmi2; MPICH uses PMI-2, and Cray '
            'MPICH uses Cray PMI',
            '`srun --mpi=list` on LUMI in github.com/alazzaro/cug26_containers_tutorial 0240e5c',
            '2026-04-27',
            'measured',
        ),
        'pmi_variables': _fact(
            {'pmi2': 'PMI_FD', 'cray_shasta': 'PALS_APINFO'},
            'Slurm\'s plugin sets this variable for every rank; if the variable is missing, '
            '--mpi= is wrong',
            'environment of steps started by srun --mpi=pmi2 and --mpi=cray_shasta, Slurm 22.05 '
            'on a workstation',
            '2026-11-21',
            'derived',
        ),
        'slingshot': _fact(
            '12.0.2',
            'SHS (the Slingshot Host Software) contains the driver of the network cards, and '
            'libcxi of an image must work with this driver',
            'bug reports of users '
            '(cray-libcxi 1.0.2, SHS 12.0.2), and SHS_VERSION of alazzaro/openmpi_on_ss11 627b2cc; '
            'libcxi_version_prefix in github.com/lumi-ai-factory/laifs-container-recipes 00a4ba48, '
            'recipes/lumi-multitorch/lumi-multitorch-vars.yaml',
            '2026-09-26',
            'derived',
        ),
        'gpu': _fact(
            'gfx90a',
            'gfx90a is the architecture of the MI250X; each node has four MI250X, which are '
            'eight GCDs',
            _TRAINING + '101-Architecture.md',
            '2026-06-17',
            'measured',
        ),
        'gpu_userland': _fact(
            ['6.1', '7.0'],
            "LUMI's GPU driver (6.3) supports these ROCm versions in containers. ROCm 5.x "
            'and 6.0 are too old, and ROCm 7.1 is too new. The GTL of Cray MPICH up to 9.0.1 '
            'needs libamdhip64.so.6, which only ROCm 6 has',
            _TRAINING
            + 'Update-202601/index.md, "State of the system" and "(Un)supported programming '
            'environments"',
            '2026-06-17',
            'measured',
        ),
        'gpu_binding': _fact(
            make_gpu_binding(MI250X, 8, 1, gpus_per_card=2),
            'each rank uses the cores and the network card closest to the GCD of the rank; '
            'other choices send data across the node',
            _TRAINING
            + '202-Binding.md; NICs: select_gpu.sh in github.com/alazzaro/openmpi_on_ss11 627b2cc',
            '2026-06-17',
            'measured',
        ),
        'libraries': {
            'libfabric': _fact(
                '/opt/cray/libfabric/1.22.0/lib64/libfabric.so.1',
                "this library is the host's libfabric with the provider cxi; all stacks use "
                'the same version',
                '`pkg-config --variable=prefix libfabric` in the ' + _LOG,
                '2026-03-06',
                'measured',
                release='1.22.0',
            ),
            'libcxi': _fact(
                '/usr/lib64/libcxi.so.1',
                'the host\'s libfabric uses this library for the Slingshot card',
                'singularity-AI-bindings-24.03.eb of LUMI-EasyBuild-contrib fc59dd70 binds this '
                'library',
                '2026-05-04',
                'measured',
            ),
            'libpals': _fact(
                '/opt/cray/pe/pals/1.2.12/lib/libpals.so.0',
                'Cray PMI uses this library to query the launcher. If the path does not exist, the folder '
                '/opt/cray/pe/lib64 may have a link to the current version, as on every HPE Cray system',
                _STACK
                % 'YY.MM'
                + ' for 25.03 and 25.09, and branch toolchain-26.03 for 26.03: PALS,1.2.12; '
                'folder as on Polaris (github.com/argonne-lcf/user-guides, docs/polaris/containers)',
                '2026-07-10',
                'untested',
            ),
            'liblustreapi': make_lustreapi_fact(
                'singularity-bindings-24.03.eb of LUMI-EasyBuild-contrib fc59dd70 binds this '
                'library; no source for the current system',
                '2026-05-04',
            ),
            'libxpmem': _fact(
                '/usr/lib64/libxpmem.so.0',
                'Cray MPICH uses this library to share memory within a node',
                'CRAY_XPMEM_POST_LINK_OPTS=-L/usr/lib64 in the ' + _LOG,
                '2026-03-06',
                'measured',
            ),
        },
        'glibc': make_glibc_fact(SLES % 'SP6 (LUMI training 2026, Update-202601)', '2026-06-17'),
        'libfabric_needs': make_libfabric_needs(
            '3',
            'output of ldd in LUMI job 16599712, from github.com/alazzaro/openmpi_on_ss11, commit '
            '627b2cc; json-c as in ' + PAWSEYS_BINDS,
            '2026-07-02',
            'derived',
        ),
        'library_folders': _fact(
            AMD_FOLDERS,
            "the host's ld.so searches the folders of SLES, then the folders of Cray's and "
            "AMD's packages",
            'ldd output of LUMI job logs in github.com/alazzaro/openmpi_on_ss11 627b2cc',
            '2026-04-19',
            'derived',
        ),
        'one_build': _fact(
            [],
            'no such folder is listed: without ROCm, no host libraries are known that must '
            'all come from one build',
            'only the libraries of ROCm are known to need one build',
            '2026-11-21',
            'derived',
        ),
        'files': {
            'file_systems': _fact(
                ['/pfs', '/scratch', '/projappl', '/project', '/flash', '/appl'],
                'these folders contain the users\' data and LUMI\'s software',
                _TRAINING + '205-Containers.md, singularity-slurm-bindings',
                '2026-06-17',
                'measured',
                bound='install',
            ),
            'slurm_spool': _fact(
                ['/var/spool/slurmd'],
                'Cray PMI reads the placement of the ranks from a file that Slurm writes to '
                'this folder',
                _CONTRIB,
                '2026-05-04',
                'measured',
                bound='run',
            ),
            'cxi_state': _fact(
                ['/run/cxi'],
                'the folder /run/cxi contains the state of the network cards for libcxi; '
                'lists of bind mounts that work on LUMI contain this folder',
                _CONTRIB,
                '2026-05-04',
                'measured',
                bound='run',
            ),
            'libdrm_ids': _fact(
                ['/usr/share/libdrm/amdgpu.ids'],
                "the library libdrm of the host's ROCm reads the names of the GPUs from this file",
                _DEIC,
                '2025-03-07',
                'measured',
                bound='run',
            ),
        },
        'conflicts': _fact(
            [
                'singularity-bindings',
                'singularity-userfilesystems',
                'singularity-slurm-bindings',
                'singularity-CPEbits',
                'lumi-aif-singularity-bindings',
            ],
            'each of these modules overwrites SINGULARITY_BIND, which the modules of this '
            'project also set',
            _TRAINING + '205-Containers.md',
            '2026-06-17',
            'derived',
        ),
        'family': _fact(
            'containerbindings',
            'LUMI uses this family for modules that overwrite SINGULARITY_BIND. Only one '
            'module of the family can be loaded: Lmod unloads singularity-AI-bindings when a '
            'user loads a module of this project, and vice versa',
            'singularity-AI-bindings-24.03.eb in '
            'github.com/Lumi-supercomputer/LUMI-EasyBuild-contrib 1392df8c',
            '2026-11-23',
            'derived',
        ),
        'variables': [
            _variable(
                'NCCL_SOCKET_IFNAME',
                'hsn0,hsn1,hsn2,hsn3',
                'RCCL ranks find each other over these network interfaces. Without a plugin, '
                'RCCL ranks also send data over these interfaces. Other interfaces are slow '
                'or do not connect the nodes',
                _TRAINING + '202-Binding.md',
                '2026-06-17',
                'measured',
                only=['gpu'],
            ),
            NCCL_CROSS_NIC,
            _variable(
                'NCCL_IGNORE_CPU_AFFINITY',
                '1',
                'RCCL\'s threads may use all cores of the node: the bandwidth of osu_xccl_bw '
                'becomes four times as high',
                _DEIC,
                '2025-03-07',
                'measured',
                only=['gpu'],
            ),
        ]
        + [
            _variable(name, value, why, _ROCM_7, '2026-03-31', 'measured', only=_ROCM_7_ONLY)
            for name, value, why in (
                (
                    'NCCL_DMABUF_ENABLE',
                    '0',
                    'RCCL of ROCm 7 shares GPU memory with the network card without DMABUF',
                ),
                (
                    'FI_HMEM_ROCR_USE_DMABUF',
                    '0',
                    'libfabric shares the GPU memory of ROCm 7 with the network card without '
                    'DMABUF',
                ),
                (
                    'HSA_NO_SCRATCH_RECLAIM',
                    '1',
                    'the runtime of ROCm 7 does not reclaim the scratch memory of GPU queues',
                ),
            )
        ],
        'image_folders': _fact(
            [
                '{LUMI_CONTAINER_REPOSITORY_ROOT}/easybuild-sif-images',
                '/appl/local/containers/easybuild-sif-images',
                '/appl/local/laifs/containers',
                '/appl/local/containers',
            ],
            'LUMI keeps images for all users in these folders: images of its container '
            'modules (in the folder that the variable names), images of the LUMI AI Factory, '
            'and older images. Links in these folders lead to files with a date in the name, '
            'and the links change',
            'LUMI-SoftwareStack 02f17317, LMOD/SitePackage.lua, get_SIF_file; '
            'github.com/lumi-ai-factory/laifs-container-recipes 114a21b, '
            'recipes/lumi-multitorch/lumi-multitorch-template.yaml; '
            'github.com/Lumi-supercomputer/LUMI-training-materials 21c5413, '
            'docs/ai-20250527/extra_06_BuildingContainers.md; lumi-multitorch-latest.sif: '
            'github.com/Lumi-supercomputer/lumi-userguide, pull request 315',
            '2026-09-02',
            'measured',
        ),
        'images_there': _fact(
            [
                '/appl/local/containers/cotainr-baseimages/lumi-multitorch-mpich-*.sif',
                '/appl/local/laifs/containers/lumi-multitorch-latest.sif',
            ],
            "cotainr's base image is the third of the five stages of lumi-multitorch. This "
            'stage has MPICH, libfabric, libcxi and the OSU benchmarks (in /usr/libexec, '
            'built with --enable-rocm and without --enable-rcclomb, so without osu_xccl_*) and '
            'rccl-tests. This stage lacks PyTorch, which makes the last stage large. The newest '
            'release in August 2026, lumi-multitorch-full-u24r70f21m50t210-20260807_115122.sif, has '
            'ROCm 7.0.2, libfabric 2.1.0 and MPICH 5.0.1; releases until February 2026 '
            'had ROCm 6.4 and MPICH 4.3. The libfabric of these images has no provider tcp',
            'github.com/lumi-ai-factory/laifs-container-recipes 018f2e6 and 7fa959c, '
            'recipes/lumi-multitorch/lumi-multitorch-vars.yaml, containerfiles/libfabric and '
            'containerfiles/mpich/Ubuntu_Rocm_Slingshot (the vars of 00a4ba48 have libfabric 2.6, '
            'for a later release); a user\'s `fi_info -l` in the release 20260807; '
            'Lumi-supercomputer/LUMI-AI-Guide pull request 97; file name: cotainr 2025.7.1',
            '2026-08-21',
            'derived',
        ),
        'image_help': _fact(
            'docs/lumi-more.md, section "The image"',
            'the page explains the three ways to get an image: an image that LUMI provides, '
            'an image copied to LUMI, and an image built on LUMI',
            'docs/lumi-more.md',
            '2026-11-21',
            'derived',
        ),
        'jobs': _fact(
            make_jobs('standard-g', True, 8),
            'the job gets whole nodes, so that no other job uses the network cards, and each rank '
            'can use the closest GPU',
            'LUMI documentation, Slurm partitions; job scripts in '
            'github.com/alazzaro/openmpi_on_ss11 627b2cc',
            '2026-11-21',
            'derived',
        ),
        'wrapper_modules': _fact(
            ['lumi-container-wrapper'],
            'this module provides wrap-container if the command is not on PATH',
            'LUMI documentation, lumi-container-wrapper',
            '2026-11-21',
            'derived',
        ),
    },
}


def _make_stack_facts(
    stack: str, nodes: str, fits: List[str], partitions: str
) -> Dict[str, Dict[str, Any]]:
    """
    Return the facts that identify a LUMI software stack, such as 25.03, in a shell.

    The keys are 'recognised_by', 'stack' and 'shell'; schema.py explains these keys. `stack`: version
    of the stack. `nodes`: 'lumi' for GPU nodes, another common name for CPU nodes. `fits`: values of
    LUMI_STACK_PARTITION for which `module load` prints no warning. `partitions`: regular expression
    for the values of LUMI_STACK_PARTITION with which an installation selects this stack.
    """
    values, modules = (
        [stack, stack + '.dev'],
        (
            'LUMI-SoftwareStack, modules/LUMIstack/21.01.lua 24795e35 and '
            'modules/LUMIpartition/21.01.lua'
        ),
    )
    why = 'users load the modules LUMI/%s and partition/NAME before EasyBuild-user' % stack
    return {
        'recognised_by': _fact(
            {
                'hostnames': _HOSTS,
                'environment': {'LUMI_STACK_VERSION': '.', 'LUMI_STACK_PARTITION': partitions},
            },
            why,
            modules + '; host names: LMOD/SitePackage.lua, detect_LUMI_partition',
            '2026-07-10',
            'derived',
        ),
        'stack': _fact(
            {'of': nodes, 'name': stack, 'variable': 'LUMI_STACK_VERSION', 'values': values},
            why,
            modules,
            '2026-07-10',
            'derived',
        ),
        'shell': _fact(
            [
                {'name': 'LUMI_STACK_VERSION', 'fits': values},
                {'name': 'LUMI_STACK_PARTITION', 'fits': fits},
            ],
            'a module of partition/container is visible in every stack and partition, so that '
            'users can easily load a wrong module; login nodes have partition/L',
            modules,
            '2026-07-10',
            'derived',
        ),
    }


#: Names of login nodes and compute nodes. partition/container serves GPU and CPU nodes; its modules
#: are for GPU nodes, unless --try-amend=site=lumi-c-YY.MM selects CPU nodes.
_HOSTS = [r'^uan\d\d', r'^nid00\d{4}']
_GPU_PARTITIONS, _CPU_PARTITIONS = '^(G|EAP|container|common|system)?$', '^[CLD]$'
#: Values of LUMI_STACK_PARTITION in shells that may load modules for GPU nodes and for CPU nodes
_SHARED_PARTITIONS = ['L', 'container', 'common', 'system', 'CrayEnv']


def _make_gpu_stack(
    stack: str,
    title: str,
    mpich: Tuple[str, ...],
    rocm: str,
    rocm_folder: str,
    rocm_libraries: Tuple[str, ...],
    pmi: str,
    folders: Tuple[str, ...],
) -> Dict[str, Any]:
    """
    Return the site entry (see schema.py) of one LUMI software stack for the GPU nodes.

    `stack`: version of the stack. `title`: words to append to the title. `mpich`: arguments for
    _make_mpich_libraries(). `rocm`: version of ROCm. `rocm_folder`: folder of ROCm's libraries.
    `rocm_libraries`: further arguments for make_rocm_libraries(). `folders`: further arguments for
    make_rocm_folders(). `pmi`: version of cray-pmi.
    """
    libmpi = _make_mpich_libraries(*mpich)
    return {
        'based_on': 'lumi',
        'title': 'LUMI-G, stack LUMI/%s%s' % (stack, title),
        'libraries': {
            **libmpi,
            **make_rocm_libraries(rocm, rocm_folder, *rocm_libraries),
            **_make_pmi_libraries(pmi, 'derived'),
        },
        'images': _fact(
            _list_images(rocm),
            _IMAGE_PURPOSE,
            'the published runs used MPICH 4.2.3; the host\'s libfabric is 1.22.0',
            '2026-11-21',
            'untested',
        ),
        'native': _fact(
            make_rocm_build('amd', rocm, libmpi['libmpi']['value'], _RCCL_OPTIONS, _PLUGIN),
            'partition/G has these compiler modules',
            _STACK % stack,
            '2026-07-10',
            'derived',
        ),
        **make_rocm_folders(rocm_folder, *folders),
        **_make_stack_facts(stack, 'lumi', ['G', 'EAP', *_SHARED_PARTITIONS], _GPU_PARTITIONS),
    }


_GPU_STACKS = {
    'lumi-25.03': _make_gpu_stack(
        '25.03',
        ', the default since January 2026',
        (
            '8.1.32',
            'gnu/12.3',
            'derived',
            'the folder gnu/12.3 of 8.1.32 exists on LUMI ('
            + _LOG
            + '); its lib-abi-mpich exists on '
            'Setonix (PawseySC/pawsey-spack-config 25b3ab1); version: ' + _STACK % '25.03',
            '2026-05-18',
        ),
        '6.3.4',
        '/opt/rocm-6.3.4/lib',
        (
            'ROCM_PATH in the ' + _LOG + '; version also in ' + _STACK % '25.03',
            '2026-03-06',
            'measured',
        ),
        '6.1.15',
        (
            'the library libdrm is in /opt/amdgpu/lib64, and all other libraries of ROCm are '
            'in the folder of ROCm',
            'ldd output in github.com/alazzaro/openmpi_on_ss11 627b2cc',
            '2026-04-19',
            'measured',
        ),
    ),
    'lumi-25.09': _make_gpu_stack(
        '25.09',
        '',
        (
            '9.0.1',
            'gnu/12.3',
            'derived',
            'the folder gnu/12.3 of 9.0.1 exists on LUMI ('
            + _LOG
            + '); its lib-abi-mpich exists on Perlmutter; version: '
            + _STACK % '25.09',
            '2026-03-06',
        ),
        '6.4.4',
        '/appl/lumi/SW/LUMI-25.09/G/EB/rocm/6.4.4/lib',
        (_ROCM_2509, '2026-09-25', 'measured'),
        '6.1.16',
        (
            'the folders are those of stack 25.03, with ROCm from a module of LUMI',
            _ROCM_2509,
            '2026-09-25',
            'measured',
        ),
    ),
}

#: Stack 26.03: LUMI's repository has the whole stack (branch toolchain-26.03; pull request 240 merged:
#: "First version of a software stack for the 26.03 container"), and LUST tested easyconfigs in the
#: container ccpe/26.03 (LUMI-EasyBuild-contrib, pull requests 424 to 426, 2026-07-29). No source shows
#: the stack outside of that container.
_BRANCH = 'github.com/Lumi-supercomputer/LUMI-SoftwareStack 316c70d3, branch toolchain-26.03, '
_GPU_STACKS['lumi-26.03'] = dict(
    _make_gpu_stack(
        '26.03',
        ', known from the repository of LUMI and from tests in the container ccpe/26.03',
        (
            '9.1.0',
            'gnu/12.3',
            'derived',
            _BRANCH + 'CrayPE/CPEpackages_26.03.csv; its gnu/12.3/lib-abi-mpich exists on '
            'Setonix: LD_LIBRARY_PATH of a user with cpe/26.03',
            '2026-07-23',
        ),
        '7.0.3',
        '/appl/lumi/SW/LUMI-26.03/G/EB/rocm/7.0.3/lib',
        (
            _BRANCH + 'rocm-7.0.3.eb; its folder is named like the folder of stack 25.09',
            '2026-07-23',
            'derived',
        ),
        '6.1.17',
        (
            'the folders are those of stack 25.09',
            _BRANCH + 'rocm-7.0.3.eb',
            '2026-07-23',
            'derived',
        ),
    ),
    images=dict(
        exclude_bind(_GPU_STACKS['lumi-25.09']['images']),
        why=_IMAGE_PURPOSE
        + '. On this stack, bind needs an image with ROCm 7, and the catalogue has no such image',
    ),
    native=_fact(
        None,
        'no source shows which modules or which RCCL plugin this stack has',
        _BRANCH + 'the whole branch',
        '2026-07-23',
        'untested',
    ),
)

_NO_GPU = _fact(
    None, 'the node has no GPU', _TRAINING + '101-Architecture.md', '2026-06-17', 'measured'
)


def _make_cpu_stack(version: str) -> Dict[str, Any]:
    gpu_stack = _GPU_STACKS['lumi-' + version]
    return {
        'based_on': 'lumi-' + version,
        'title': 'LUMI-C, CPU nodes of stack LUMI/' + version,
        'gpu': _NO_GPU,
        'gpu_binding': _NO_GPU,
        'libraries': {'libmpi_gtl_hsa': None, 'libhsa-runtime64': None, 'libamdhip64': None},
        'images': _remove_cupy(gpu_stack['images']),
        'library_folders': BASES['lumi']['library_folders'],
        'one_build': BASES['lumi']['one_build'],
        'jobs': _fact(
            make_jobs('standard', True),
            'the job gets whole nodes, so that no other job uses the network card',
            'LUMI documentation, Slurm partitions',
            '2026-11-21',
            'derived',
        ),
        'native': _fact(
            make_native_build('gnu', gpu_stack['libraries']['libmpi']['value']),
            'partition/C has these compiler modules',
            _STACK % version,
            '2026-07-10',
            'derived',
        ),
        **_make_stack_facts(version, 'lumi-c', ['C', 'D', *_SHARED_PARTITIONS], _CPU_PARTITIONS),
    }


STACKS = {
    **_GPU_STACKS,
    **{'lumi-c-' + _stack[-5:]: _make_cpu_stack(_stack[-5:]) for _stack in sorted(_GPU_STACKS)},
}
STACKS['lumi-c-26.03'].update(
    title=STACKS['lumi-26.03']['title'].replace('LUMI-G', 'LUMI-C, CPU nodes'),
    native=STACKS['lumi-26.03']['native'],
    images=STACKS['lumi-c-25.09']['images'],
)

#: LUMI before January 2026. Stack 24.03 is still installed, with ROCm 6.3.4, but unsupported
#: (admin.list).
PUBLISHED_SITES: Dict[str, Dict[str, Any]] = {
    'lumi-24.03': {
        'based_on': 'lumi',
        'glibc': make_glibc_fact(SLES % 'SP5', '2025-06-26', '2.31'),
        'libfabric_needs': make_libfabric_needs(
            '3', 'bind mounts in ' + _CONTRIB, '2026-05-04', 'derived', openssl='1'
        ),
        'slingshot': _fact(
            'that of March 2025',
            'the SHS version of March 2025 was not published; the published images had the '
            'libcxi of that time',
            _DEIC,
            '2025-03-07',
            'derived',
        ),
        'gpu_userland': _fact(
            ['5.6', '6.2'],
            'a driver of version 6.0.x supports ROCm in containers from two releases older to '
            'two releases newer',
            'AMD\'s user and kernel-space support matrix (ROCm 6.2), KFD 6.0.x; it is a guess '
            'that LUMI then had the driver of its ROCm 6.0.3',
            '2025-06-26',
            'derived',
        ),
        'title': 'LUMI-G, stack LUMI/24.03 in the state of March 2025, when the published '
        'runs were made',
        'libraries': {
            **_make_mpich_libraries('8.1.29', 'amd/5.0', 'measured', _DEIC, '2025-03-07'),
            'libfabric': _fact(
                '/opt/cray/libfabric/1.15.2.0/lib64/libfabric.so.1',
                'this library is the libfabric of LUMI until January 2026',
                _DEIC,
                '2025-03-07',
                'measured',
                release='1.15.2.0',
            ),
            'libpals': _fact(
                '/opt/cray/pals/1.3.2/lib/libpals.so.0',
                'Cray PMI uses this library to query the launcher',
                _CONTRIB,
                '2026-05-04',
                'measured',
            ),
            'libxpmem': _fact(
                '/opt/cray/xpmem/default/lib64/libxpmem.so.0',
                'Cray MPICH uses this library to share memory within a node',
                _CONTRIB,
                '2026-05-04',
                'measured',
            ),
            **make_rocm_libraries('6.0.3', '/opt/rocm-6.0.3/lib', _DEIC, '2025-03-07', 'measured'),
            **_make_pmi_libraries('6.1.14', 'measured'),
        },
        'native': _fact(
            make_rocm_build(
                'amd',
                '6.0.3',
                '/opt/cray/pe/mpich/8.1.29/ofi/amd/5.0/lib-abi-mpich/libmpi.so.12',
                _RCCL_OPTIONS,
            ),
            'the published native build used these compiler modules',
            _DEIC,
            '2025-03-07',
            'measured',
        ),
        **make_rocm_folders(
            '/opt/rocm-6.0.3/lib',
            'Cray MPICH in the folder amd/5.0 needs libraries of ROCm\'s compiler',
            _DEIC,
            '2025-03-07',
            'measured',
            more=['/opt/rocm-6.0.3/llvm/lib'],
        ),
    },
}
