"""
What stand-in/make plants that the site data do not say. Data only.

SYSTEMS   systems that are no sites of the project: an entry has those keys of a site (_mpicontainer_sites.py) of which
          a tree is made. Nothing here was run there; what no source names is called 'untested'.
HOSTS     for every tree, those of LUMI's stacks included, what commands and /sys say there
            os            PRETTY_NAME of /etc/os-release
            runtime       (command, what its --version prints), None: neither apptainer nor singularity is there
            mpi           what `srun --mpi=list` names
            slurm         lines of `scontrol show config`
            partitions    lines of `sinfo -h -o '%P|%G'`, a star behind the default partition
            interfaces    names in /sys/class/net; cards: of Slingshot's cards, in /sys/class/cxi and /dev
            gpu           architecture of the GPUs, in the form of the site data; None without
            providers     what the libfabric of the original has; in a tree made with --facts-only
            environment   {variable: value} that the modules of the programming environment set beside the usual ones
"""

_READ = '2026-11-21'
_PAWSEY = 'github.com/PawseySC/pawsey-spack-config 25b3ab1, systems/setonix/templates/modules/modulefile.lua'
_OLCF = 'github.com/olcf/olcf-user-docs 2745903, software/containers_on_frontier.rst'
_OLCF_EXAMPLES = 'tensorflow/multi-node/submit.sbatch among the examples of OLCF for Frontier'
_PODMAN = 'github.com/NERSC/podman-hpc 01b02d6, etc/modules.d'


def _fact(value, source, evidence, date=_READ, why='a tree is made of it', **more):
    """Return the dict of one fact, in the form of the site data."""
    return dict({'value': value, 'why': why, 'source': source, 'date': date, 'evidence': evidence}, **more)


def _libraries(paths, source, evidence, date):
    """Return {name: fact} of libraries that one source names; paths: {name: path}."""
    return {name: _fact(path, source, evidence, date) for name, path in paths.items()}


_SLES = _fact(['/lib64', '/usr/lib64', '/lib', '/usr/lib', '/opt/cray/pe/lib64', '/opt/amdgpu/lib64'],
              'as on LUMI, whose system is of the same maker', 'derived')


def _rocm(folder, evidence, source, date):
    """Return the facts of ROCm's libraries in a folder."""
    return _libraries({'libhsa-runtime64': f'{folder}/lib/libhsa-runtime64.so.1',
                       'libamdhip64': f'{folder}/lib/libamdhip64.so.6'}, source, evidence, date)


SYSTEMS = {
    'frontier': {
        'title': 'Frontier (OLCF) after the update of May 2026: AMD GPUs, Slingshot 11, libfabric 2.3.1',
        'libraries': dict(
            _libraries({'libmpi': '/opt/cray/pe/mpich/9.0.1/ofi/gnu/12.3/lib-abi-mpich/libmpi.so.12'},
                       'module cray-mpich-abi/9.0.1 in ' + _OLCF + '; the folder of gnu/12.3 as on Perlmutter',
                       'derived', '2026-07-22'),
            **_libraries({'libmpi_gtl_hsa': '/opt/cray/pe/mpich/9.0.1/gtl/lib/libmpi_gtl_hsa.so.0',
                          'libcxi': '/usr/lib64/libcxi.so.1', 'libxpmem': '/usr/lib64/libxpmem.so.0',
                          'libfabric': '/opt/cray/libfabric/2.3.1/lib64/libfabric.so.1'}, _OLCF, 'measured',
                         '2026-07-22'),
            **_libraries({'libpmi': '/opt/cray/pe/lib64/libpmi.so.0', 'libpmi2': '/opt/cray/pe/lib64/libpmi2.so.0',
                          'libpals': '/opt/cray/pe/lib64/libpals.so.0'},
                         'APPTAINERENV_LD_LIBRARY_PATH ends in /opt/cray/pe/lib64: ' + _OLCF, 'derived', '2026-07-22'),
            **_rocm('/opt/rocm-6.4.2', 'derived', 'module rocm/6.4.2 in ' + _OLCF, '2026-07-22')),
        'library_folders': _fact(_SLES['value'] + ['/opt/rocm-6.4.2/lib'], 'as on LUMI', 'derived'),
        'files': {
            'file_systems': _fact(['/lustre/orion', '/ccs'], 'names of Orion and of the shared folders in pages about '
                                  'Frontier', 'untested', bound='install'),
            'slurm_spool': _fact(['/var/spool/slurmd'], 'APPTAINER_BINDPATH in ' + _OLCF, 'measured', '2026-07-22',
                                 bound='run'),
            'libdrm_ids': _fact(['/usr/share/libdrm/amdgpu.ids'], 'APPTAINER_BINDPATH in ' + _OLCF + ' has its folder',
                                'derived', '2026-07-22', bound='run'),
        },
        'image_folders': _fact([], 'none is known', 'untested'),
        'native': _fact({'modules': ['PrgEnv-gnu', 'craype-accel-amd-gfx90a', 'rocm/6.4.2'], 'prgenv': 'gnu'},
                        'rocm/6.4.2 in ' + _OLCF, 'derived', '2026-07-22'),
    },
    'setonix': {
        'title': 'Setonix (Pawsey): AMD GPUs, Slingshot 11, links named default',
        'libraries': dict(
            _libraries({'libmpi': '/opt/cray/pe/mpich/8.1.32/ofi/gnu/12.3/lib-abi-mpich/libmpi.so.12',
                        'libmpi_gtl_hsa': '/opt/cray/pe/mpich/8.1.32/gtl/lib/libmpi_gtl_hsa.so.0',
                        'libxpmem': '/opt/cray/xpmem/default/lib64/libxpmem.so.0',
                        'libpmi': '/opt/cray/pe/pmi/default/lib/libpmi.so.0',
                        'libpmi2': '/opt/cray/pe/pmi/default/lib/libpmi2.so.0',
                        'libpals': '/opt/cray/pe/pals/default/lib/libpals.so.0',
                        'libfabric': '/opt/cray/libfabric/1.22.0/lib64/libfabric.so.1',
                        'libcxi': '/usr/lib64/libcxi.so.1'}, _PAWSEY, 'measured', '2026-05-18'),
            **_rocm('/opt/rocm-6.3.4', 'untested', 'a guess: that of LUMI', _READ)),
        'library_folders': _fact(_SLES['value'] + ['/opt/rocm-6.3.4/lib'], 'as on LUMI', 'derived'),
        'files': {
            'file_systems': _fact(['/askapbuffer', '/scratch', '/software'], 'SINGULARITY_BINDPATH in ' + _PAWSEY,
                                  'measured', '2026-05-18', bound='install'),
            'slurm_spool': _fact(['/var/spool/slurmd'], _PAWSEY + ', where it is there', 'measured', '2026-05-18',
                                 bound='run'),
        },
        'image_folders': _fact([], 'none is known', 'untested'),
        'native': _fact({'modules': ['PrgEnv-gnu', 'craype-accel-amd-gfx90a', 'rocm/6.3.4'], 'prgenv': 'gnu'},
                        'a guess: that of LUMI', 'untested'),
    },
    'perlmutter': {
        'title': 'like Perlmutter (NERSC): NVIDIA GPUs, Slingshot 11, no Apptainer but podman-hpc',
        'libraries': dict(
            _libraries({'libmpi': '/opt/cray/pe/mpich/9.0.1/ofi/gnu/12.3/lib-abi-mpich/libmpi.so.12'},
                       "a user's script for Perlmutter", 'measured', _READ),
            **_libraries({'libmpi_gtl_cuda': '/opt/cray/pe/mpich/9.0.1/gtl/lib/libmpi_gtl_cuda.so.0'},
                         'LD_PRELOAD of --cuda-mpi in ' + _PODMAN, 'derived', '2026-04-24'),
            **_libraries({'libfabric': '/opt/cray/libfabric/1.20.1/lib64/libfabric.so.1'},
                         '--nccl takes libfabric 1.20.1 of the host: ' + _PODMAN, 'derived', '2026-04-24'),
            **_libraries({'libcxi': '/usr/lib64/libcxi.so.1', 'libxpmem': '/usr/lib64/libxpmem.so.0',
                          'libpmi': '/opt/cray/pe/lib64/libpmi.so.0', 'libpmi2': '/opt/cray/pe/lib64/libpmi2.so.0',
                          'libpals': '/opt/cray/pe/lib64/libpals.so.0', 'libcuda': '/usr/lib64/libcuda.so.1',
                          'libcudart': '/opt/nvidia/hpc_sdk/Linux_x86_64/24.5/cuda/12.4/lib64/libcudart.so.12'},
                         'folders as on other systems of HPE; the release of CUDA is a guess', 'untested', _READ)),
        'library_folders': _fact(_SLES['value'][:5], 'as on LUMI', 'derived'),
        'files': {
            'file_systems': _fact(['/pscratch', '/global/cfs'], 'names in pages about Perlmutter', 'untested',
                                  bound='install'),
            'slurm_spool': _fact(['/var/spool/slurmd'], '--mpi in ' + _PODMAN, 'measured', '2026-04-24', bound='run'),
        },
        'image_folders': _fact([], 'none is known', 'untested'),
        'native': _fact({'modules': ['PrgEnv-gnu'], 'prgenv': 'gnu'}, 'a guess', 'untested'),
    },
}
for _name, _entry in SYSTEMS.items():
    _entry['name'] = _name

_CARDS = ['cxi0', 'cxi1', 'cxi2', 'cxi3']
_HSN = ['hsn0', 'hsn1', 'hsn2', 'hsn3']
_PROVIDERS = ['cxi', 'tcp', 'shm', 'ofi_rxm', 'udp']
_SINGULARITY = ('singularity', 'singularity-ce version 4.1.3-150500.10.7')

_LUMI = {
    'os': 'SUSE Linux Enterprise Server 15 SP6', 'runtime': _SINGULARITY,
    # github.com/alazzaro/cug26_containers_tutorial 0240e5c
    'mpi': ['none', 'cray_shasta', 'pmi2'],
    'slurm': ['ClusterName             = lumi', 'SlurmdSpoolDir          = /var/spool/slurmd',
              'AccountingStorageEnforce = associations,limits,qos', 'SLURM_VERSION           = 24.05.8'],
    'partitions': ['standard|(null)', 'standard-g|gpu:mi250:8'],
    'interfaces': _HSN, 'cards': _CARDS, 'gpu': 'gfx90a', 'providers': _PROVIDERS,
    'environment': {},
}

#: ROCm's compiler libraries are on the library path of the modules, which the amd/5.0 build of Cray MPICH needs
HOSTS = {
    'lumi-24.03': dict(_LUMI, os='SUSE Linux Enterprise Server 15 SP5',
                       slurm=_LUMI['slurm'][:3] + ['SLURM_VERSION           = 23.02.7']),
    'lumi-25.03': _LUMI,
    'lumi-25.09': _LUMI,
    'frontier': dict(_LUMI, os='SUSE Linux Enterprise Server 15 SP7', runtime=('apptainer', 'apptainer version 1.3.6'),
                     mpi=['none', 'cray_shasta', 'pmi2', 'pmix'],
                     slurm=['ClusterName             = frontier', 'SlurmdSpoolDir          = /var/spool/slurmd',
                            'AccountingStorageEnforce = associations,limits,qos', 'SLURM_VERSION           = 25.11.4'],
                     partitions=['batch*|gpu:8']),
    'setonix': dict(_LUMI, os='SUSE Linux Enterprise Server 15 SP6',
                    runtime=('singularity', 'singularity-ce version 4.1.0'),
                    slurm=['ClusterName             = setonix', 'SlurmdSpoolDir          = /var/spool/slurmd',
                           'SLURM_VERSION           = 24.05.8'],
                    partitions=['work*|(null)', 'gpu|gpu:8']),
    'perlmutter': dict(_LUMI, os='SUSE Linux Enterprise Server 15 SP5', runtime=None,
                       mpi=['none', 'cray_shasta', 'pmi2', 'pmix'],
                       slurm=['ClusterName             = perlmutter', 'SlurmdSpoolDir          = /var/spool/slurmd'],
                       partitions=['regular*|gpu:a100:4'], gpu='sm_80',
                       environment={'CUDA_HOME': '/opt/nvidia/hpc_sdk/Linux_x86_64/24.5/cuda/12.4'}),
}
for _stack in ('24.03', '25.03', '25.09'):
    # one card on a node of LUMI-C
    HOSTS['lumi-c-' + _stack] = dict(HOSTS['lumi-' + _stack], gpu=None, interfaces=_HSN[:1], cards=_CARDS[:1])
