"""
What published recipes set to run MPI in containers on the systems of our sites; and, where our module does not do the
same, why not. Data, and the comparison with the rendered text. Imports nothing of the easyblocks.

SEARCHED: when all that is public of these systems was last searched for changes. For what has an older date, here and
in core/data/sites/, no newer source was found then.

RECIPES: list of dict
    site       name of the site; name: what the recipe is, in a few words
    source     where it was read; date: of that
    rendered   file below modules/ that is compared with it
    items      list of Item

An item whose reason is '' must be set by the rendered file; one with a reason must not
(tests/core/data/test_sites_others.py).
"""
from __future__ import annotations

import re
from collections import namedtuple

from osu_container.generate.podman_hpc import NO_KEEP_ID

SEARCHED = '2026-11-23'

#: kind: one of KINDS; what: str as the recipe has it, paths filled in; reason: why our module does not do the same, ''
#: where it does
Item = namedtuple('Item', 'kind what reason', defaults=('',))

#: kind -> what it says
KINDS = {
    'bind': 'a path of the host under its own name, or PATH:TARGET',
    'library folder': 'a folder on the library path in the container',
    'library': 'a library of the host in the container',
    'preload': 'a library that ld.so loads before the program',
    'variable': 'NAME=VALUE in the container',
    'pass': 'variables that reach the container',
    'option': 'an option of the runtime, of srun, or of the engine',
}

_WHOLE_FOLDER = ('the libraries that MPI needs appear one by one in /opt/host-mpi/lib; a whole folder of the host '
                 'brings others along, which hide or meet those of the image')
_DEPENDENCY = ('comes along where a library of the host needs it and the image has none: eb reads that on the host, '
               'and a stand-in needs none')
_ON_PATH = 'it is on the library path under the soname that asks for it; there is nothing that a preload would add'
_SLURM = 'for Slurm\'s commands in the container: ranks are started by srun outside of it'
_LUSTRE = ('for MPI-IO on Lustre by Cray MPICH, which opens it by itself: bind it (SINGULARITY_BIND) where a program '
           'needs it; without it MPI-IO is slower')
_NSCD = 'names of users and groups, which podman maps itself'
_VERBS = 'for InfiniBand: the network here is cxi\'s'
_ROCM = 'it puts all of the host\'s ROCm before the image\'s; the devices are there without it'


def _items(kind, names, reason=''):
    """Return Items of one kind and reason; names: str with blanks between."""
    return [Item(kind, name, reason) for name in names.split()]


RECIPES = [
    {
        'site': 'frontier', 'name': 'OLCF, GPU-aware MPI in an Apptainer container',
        'source': 'submit642.sbatch in github.com/olcf/olcf_containers_examples b4933106; OLCF, Containers on Frontier',
        'date': '2026-07-22', 'rendered': 'frontier/osu-container/bind.lua',
        'items': [
            Item('variable', 'MPICH_GPU_SUPPORT_ENABLED=1'),
            Item('bind', '/var/spool/slurmd'),
            Item('bind', '/usr/share/libdrm', 'the one file in it that libdrm reads, amdgpu.ids'),
            Item('bind', '/opt/cray', _WHOLE_FOLDER),
            Item('bind', '${PWD}', 'the runtime binds the current folder itself, and Orion and /ccs are bound whole'),
            Item('library folder', '/opt/cray/pe/mpich/9.0.1/gtl/lib'),
            Item('library folder', '/opt/cray/pe/mpich/9.0.1/ofi/gnu/12.3/lib-abi-mpich'),
            Item('library folder', '/opt/cray/libfabric/2.3.1/lib64'),
            Item('library folder', '/opt/cray/pe/lib64'),
            Item('library folder', '/opt/rocm/lib', 'the image\'s own: it is found as the image wants it; of the host '
                 'come the two libraries that Cray\'s GPU transport layer needs'),
            Item('library folder', '/opt/rocm/lib64', 'as /opt/rocm/lib'),
            Item('library folder', '$LD_LIBRARY_PATH', _WHOLE_FOLDER),
            *_items('library', '/usr/lib64/libcxi.so.1 /usr/lib64/libxpmem.so.0'),
            *_items('library', '/usr/lib64/libjson-c.so.5 /usr/lib64/libnl-3.so.200 /usr/lib64/libjansson.so.4',
                    _DEPENDENCY),
            *_items('library', '/usr/lib64/libgfortran.so.5 /lib64/libtinfo.so.6', _DEPENDENCY),
            Item('preload', 'libmpi_gtl_hsa.so.0'),
            Item('option', 'apptainer --rocm', _ROCM),
            Item('option', 'apptainer --workdir', 'where /tmp lies in a container that sees none of the host\'s'),
            Item('option', 'srun --gpus-per-task=1', 'a GPU in a group of its own cannot share memory with those of '
                 'other ranks: osu-gpu-bind gives each rank its own'),
        ],
    },
    {
        'site': 'frontier', 'name': 'OLCF, modules apptainer-enable-mpi and apptainer-enable-gpu',
        'source': 'README.md in github.com/olcf-tutorials/hands_on_containers_on_frontier 36666ac9',
        'date': '2026-03-26', 'rendered': 'frontier/osu-container/bind.lua',
        'items': [
            Item('option', 'apptainer of /sw/frontier/olcf-container-tools', 'their wrapper gives what the modules set '
                 'to every container; ours gives it to the commands of one module'),
            Item('bind', '/opt/cray', _WHOLE_FOLDER),
            Item('library folder', '$APPTAINER_WRAPPER_LD_LIBRARY_PATH', _WHOLE_FOLDER),
            Item('option', 'apptainer --rocm', _ROCM),
        ],
    },
    {
        'site': 'setonix', 'name': 'Pawsey, module singularity/4.1.0-mpi',
        'source': 'github.com/PawseySC/pawsey-spack-config 25b3ab1 and 00173dea, '
                  'systems/setonix/templates/modules/modulefile.lua',
        'date': '2026-05-18', 'rendered': 'setonix/osu-container/bind.lua',
        'items': [
            Item('variable', 'MPICH_GPU_SUPPORT_ENABLED=1'),
            *_items('bind', '/askapbuffer /data/references /scratch /software /var/spool/slurmd'),
            *_items('bind', '/var/run/munge/munge.socket.2 /var/run/munge /etc/slurm', _SLURM),
            *_items('bind', '/opt/cray /var/opt/cray/pe /opt/xpmem', _WHOLE_FOLDER),
            Item('bind', '/usr/lib64:/host_lib64', _WHOLE_FOLDER),
            Item('library folder', '/host_lib64', _WHOLE_FOLDER),
            *_items('library folder', '/opt/cray/pe/mpich/8.1.32/ofi/gnu/12.3/lib-abi-mpich '
                    '/opt/cray/pe/mpich/8.1.32/gtl/lib /opt/cray/xpmem/default/lib64 /opt/cray/pe/pmi/default/lib '
                    '/opt/cray/pe/pals/default/lib /opt/cray/libfabric/1.22.0/lib64'),
            Item('library folder', '$LD_LIBRARY_PATH', _WHOLE_FOLDER),
            Item('library', '/usr/lib64/libcxi.so.1'),
            *_items('library', '/usr/lib64/libjson-c.so.5 /usr/lib64/libpcre.so.1 /usr/lib64/libjitterentropy.so.3 '
                    '/usr/lib64/libselinux.so.1 /usr/lib64/libyaml-0.so.2 /usr/lib64/libnl-genl-3.so.200 '
                    '/usr/lib64/libnl-3.so.200', _DEPENDENCY),
            Item('library', '/usr/lib64/libmunge.so.2', _SLURM),
            *_items('library', '/usr/lib64/liblustreapi.so.1 /usr/lib64/liblnetconfig.so.4', _LUSTRE),
            Item('preload', 'libmpi_gtl_hsa.so.0'),
            *_items('preload', 'libxpmem.so.0 libcxi.so.1', _ON_PATH),
            *_items('preload', 'libjson-c.so.5 libpcre.so.1 libmunge.so.2 libjitterentropy.so.3 libselinux.so.1 '
                    'liblustreapi.so.1 liblnetconfig.so.4 libyaml-0.so.2 libnl-genl-3.so.200 libnl-3.so.200', _ON_PATH),
        ],
    },
    {
        'site': 'perlmutter', 'name': 'NERSC, podman-hpc --cuda-mpi',
        'source': 'podman-hpc 1.2.2 (PyPI), etc/podman_hpc/modules.d/cuda-mpich.yaml',
        'date': '2026-06-02', 'rendered': 'perlmutter/podman-hpc/bind.yaml',
        'items': [
            *_items('pass', 'SLURM_* PALS_* PMI_*'),
            Item('variable', 'MPICH_GPU_SUPPORT_ENABLED=1'),
            Item('library folder', '/opt/udiImage/modules/mpich', 'NERSC\'s own copy of Cray MPICH, made for '
                 'containers; here the libraries of the programming environment, in /opt/host-mpi/lib'),
            Item('library folder', '/opt/udiImage/modules/mpich/dep', 'its dependencies; here they are looked for when '
                 'the module is made'),
            Item('preload', 'libmpi_gtl_cuda.so.0'),
            *_items('option', '--ipc=host --network=host --pid=host --privileged'),
            *_items('bind', '/dev/xpmem /dev/shm /dev/ss0 /dev/cxi*:/dev/ /var/spool/slurmd'),
            Item('bind', '/usr/lib/shifter/mpich-2.2:/opt/udiImage/modules/mpich', _WHOLE_FOLDER),
            Item('bind', '/run/munge', _SLURM),
            Item('bind', '/run/nscd', _NSCD),
            Item('bind', '/etc/libibverbs.d', _VERBS),
            Item('option', 'copy 01-mpich.conf', 'LD_LIBRARY_PATH says the same to ld.so, for this container alone'),
        ],
    },
    {
        'site': 'perlmutter', 'name': 'NERSC, podman-hpc --nccl',
        'source': 'podman-hpc 1.2.2 (PyPI), etc/podman_hpc/modules.d/nccl.yaml',
        'date': '2026-06-02', 'rendered': 'perlmutter/podman-hpc/openmpi.yaml',
        'items': [
            *_items('variable', 'FI_CXI_DISABLE_HOST_REGISTER=1 FI_MR_CACHE_MONITOR=userfaultfd NCCL_CROSS_NIC=1 '
                    'NCCL_SOCKET_IFNAME=hsn NCCL_NET_GDR_LEVEL=PHB'),
            *_items('library folder', '/opt/udiImage/modules/nccl-plugin/lib '
                    '/opt/udiImage/modules/nccl-plugin/deps/lib', 'NERSC\'s plugin with its libfabric 1.20.1: add '
                    '--nccl for it; a plugin in the image is used without'),
            Item('library folder', '/usr/lib64', _WHOLE_FOLDER),
        ],
    },
    {
        'site': 'perlmutter', 'name': 'NERSC, podman-hpc --openmpi-pmix',
        'source': 'podman-hpc 1.2.2 (PyPI), etc/podman_hpc/modules.d/openmpi-pmix.yaml',
        'date': '2026-06-02', 'rendered': 'perlmutter/podman-hpc/openmpi.yaml',
        'items': [
            *_items('pass', 'SLURM_* SLURMD_* PMIX_*'),
            *_items('pass', 'PALS_* PMI_*', 'for Cray PMI and PMI-2: srun --mpi=pmix sets none of them'),
            *_items('option', '--ipc=host --network=host --pid=host --privileged'),
            Item('option', '--userns=keep-id', NO_KEEP_ID),
            *_items('bind', '/dev/xpmem /dev/shm /dev/ss0 /dev/cxi*:/dev/ /var/spool/slurmd'),
            Item('bind', '/run/munge', _SLURM),
            Item('bind', '/run/nscd', _NSCD),
            Item('bind', '/etc/libibverbs.d', _VERBS),
        ],
    },
    {
        'site': 'alps', 'name': 'CSCS, Open MPI in containers',
        'source': 'CSCS documentation, software/communication/openmpi (github.com/eth-cscs/cscs-docs 80abed1)',
        'date': '2026-08-20', 'rendered': 'alps/osu-container/openmpi.lua',
        'items': [
            Item('option', 'srun --mpi=pmix'),
            *_items('variable', 'PMIX_MCA_psec=native FI_PROVIDER=cxi OMPI_MCA_pml=cm OMPI_MCA_mtl=ofi'),
        ],
    },
    {
        'site': 'alps', 'name': 'CSCS, Open MPI with LINKx (here: export OSU_LINKX=1)',
        'source': 'CSCS documentation, software/communication/openmpi (github.com/eth-cscs/cscs-docs 80abed1)',
        'date': '2026-08-20', 'rendered': 'alps/osu-container/openmpi.lua',
        'items': _items('variable', 'FI_PROVIDER=lnx FI_SHM_USE_XPMEM=1 OMPI_MCA_mtl_ofi_av=table '
                        'FI_LNX_PROV_LINKS=shm+cxi:cxi0|shm+cxi:cxi1|shm+cxi:cxi2|shm+cxi:cxi3'),
    },
    {
        'site': 'alps', 'name': 'CSCS, NCCL',
        'source': 'CSCS documentation, software/communication/nccl (github.com/eth-cscs/cscs-docs 1660b1e, 1690357)',
        'date': '2026-11-23', 'rendered': 'alps/osu-container/openmpi.lua',
        'items': [
            Item('variable', 'NCCL_NET=AWS Libfabric'),
            *_items('variable', 'NCCL_NET_GDR_LEVEL=PHB NCCL_CROSS_NIC=1 NCCL_PROTO=^LL128 '
                    'FI_CXI_DEFAULT_CQ_SIZE=131072 FI_CXI_DISABLE_HOST_REGISTER=1 FI_MR_CACHE_MONITOR=userfaultfd'),
            Item('variable', 'FI_CXI_DEFAULT_TX_SIZE=32768', 'the provider takes 16384 at most, as CSCS\' images '
                 'of 2026 have it (alps-extended-images)'),
            Item('variable', 'FI_CXI_RX_MATCH_MODE=software', 'MPI of the same module would lose the card\'s matching '
                 'as well; with OSU_RCCL_ALT_READ=1 it is hybrid, as in CSCS\' images of 2026'),
            *_items('variable', 'FI_CXI_RDZV_GET_MIN=0 FI_CXI_RDZV_THRESHOLD=0 FI_CXI_RDZV_EAGER_SIZE=0'),
            Item('variable', 'NCCL_NCHANNELS_PER_NET_PEER=4', 'a choice between send and receive on one side and '
                 'collectives on the other: yours'),
        ],
    },
]


def sets(text):
    """
    Return what a rendered file sets: dict of kind -> set of str.

    :param text: str, of a Lua module, or of a file for podman-hpc (its first line that is data is `name:`)
    Values that depend on a switch of the user count: the module can set them.
    """
    lines = [line for line in text.splitlines() if not line.lstrip().startswith(('--', '#'))]
    text = '\n'.join(lines) + '\n'
    podman = re.search(r'^cli_arg: ', text, re.M)
    found, binds, preloads = _sets_of_podman(lines, text) if podman else _sets_of_lua(text)
    for bind in binds:
        source, _, target = bind.partition(':')
        found['bind'].add(source if source == target else bind)
        if target.startswith('/opt/host-mpi/lib/'):
            found['library'].add(source)
            found['library folder'].add(source.rpartition('/')[0])
    found['preload'] = {path.rpartition('/')[2] for path in preloads}
    return found


def _sets_of_podman(lines, text):
    """Return (what sets() returns but binds, binds, preloaded paths: lists of str) of a file for podman-hpc."""
    found = {kind: set() for kind in KINDS}
    arguments = [line.strip()[2:].strip('"') for line in lines if line.startswith('  - ')]
    for line in arguments:
        if line.startswith('-e '):
            found['variable' if '=' in line else 'pass'].add(line[3:])
    found['option'] = {line for line in arguments if line.startswith('--')}
    preload = re.search(r'-e LD_PRELOAD=(\S+)', text)
    return (found, [line for line in arguments if line.startswith('/')],
            preload.group(1).split(':') if preload else [])


def _sets_of_lua(text):
    """Return (what sets() returns but binds, binds, preloaded paths: lists of str) of a Lua module."""
    found = {kind: set() for kind in KINDS}
    for name, value in re.findall(r'(?:pushenv|default)\("(\w+)", "([^"]*)"\)', text):
        found['variable'].add(f'{name}={value}')
    found['option'] |= {f'srun --mpi={value}' for value in re.findall(r'"SLURM_MPI_TYPE", "(\w+)"', text)}
    files = re.search(r'setenv\("MPI_CONTAINER_FILES", "([^"]*)"\)', text)
    binds = re.findall(r'append_path\("\w+_BIND", "([^"]*)"', text)
    binds += [entry.split('|')[0] for entry in files.group(1).split(',')] if files else []
    return found, binds, re.findall(r'prepend_path\("\w+ENV_LD_PRELOAD", "([^"]*)"\)', text)
