"""
Sites: one entry for one system with one software stack. Data only.

Every fact is a dict: value; why (what it is for); source (how it was found, so that it can be found again);
evidence: 'measured' (seen on such a system), 'derived' (follows from a rule, which why names), 'untested'.

Keys of a site
    title              str, what the site is
    hostnames          list of regular expressions; a login or compute node whose name matches is this site
    default_approach   which approach `module load osu-container` takes
    runtime            commands of the container runtime, the first one on PATH is used
    provider           libfabric provider of the fast network; on a machine without one, the best there is
    pmi                by whose MPI runs ('image', 'host'): the --mpi= of srun
    pmi_variables      by --mpi=: the variable that this PMI puts into the environment of every rank
    libraries          host libraries that an approach may inject: name -> path on the host
    library_folders    folders that the host's ld.so searches by default, for the dependencies of those libraries
    variables          variables for every approach (see _mpicontainer_approaches.py for the keys)
    images             by approach: file name of the SIF, as it lies in EasyBuild's source path
    image_help         the command that makes that SIF
    native             what a native build uses: mpicc, mpicxx (paths on the host), libmpi, python

Host paths are written as on the real system. EasyBuild's --sysroot (or ROOT in a local file, see mpicontainer.py) is
put in front of them, so that a folder with the same tree stands in for the system.
"""

WORKSTATION_WHEEL = 'unpacked PyPI wheel of mpich 5.0.2, which bundles libfabric 2.5.1 (workstation/host_mpi.sh)'

SITES = {
    'workstation': {
        'title': 'a Linux machine with the host MPI and the two-node Slurm that `make demo` sets up',
        'hostnames': {
            'value': [],
            'why': 'any machine can be the workstation: it is recognised by the local file that the set-up writes',
            'source': 'workstation/host_mpi.sh',
            'evidence': 'measured',
        },
        'default_approach': {
            'value': 'pure',
            'why': 'there is no Slingshot network that opensource could reach',
            'source': 'docs/design.md, decision 7',
            'evidence': 'measured',
        },
        'runtime': {
            'value': ['apptainer', 'singularity'],
            'why': 'either runs the modules; Apptainer is what the set-up installs',
            'source': 'workstation/prerequisites.sh',
            'evidence': 'measured',
        },
        'provider': {
            'value': 'tcp',
            'why': 'the machine has no high-speed network; tcp is in every libfabric build',
            'source': 'fi_tcp(7); ran on Debian 12 with libfabric 1.22.0 and 2.5.1, 2026-11-21',
            'evidence': 'measured',
        },
        'pmi': {
            'value': {'image': 'pmi2', 'host': 'pmi2'},
            'why': 'MPICH wheels speak PMI-2, and Debian\'s Slurm has no pmix for them; without it each rank is alone',
            'source': 'srun --mpi=list of slurm-wlm 22.05; ran with MPICH 4.2.3 and 5.0.2, 2026-11-21',
            'evidence': 'measured',
        },
        'pmi_variables': {
            'value': {'pmi2': 'PMI_FD'},
            'why': 'Slurm\'s pmi2 plugin hands every rank a socket in PMI_FD; its absence shows a wrong --mpi= early',
            'source': 'environment of a step started with srun --mpi=pmi2, Slurm 22.05, 2026-11-21',
            'evidence': 'measured',
        },
        'libraries': {
            'libmpi': {
                'value': '/opt/mpich/5.0.2/lib/libmpi.so.12',
                'why': 'the host\'s MPI, the part that Cray MPICH\'s lib-abi-mpich has on LUMI',
                'source': WORKSTATION_WHEEL,
                'evidence': 'measured',
            },
            'libfabric': {
                'value': '/opt/mpich/5.0.2/lib/mpich/libfabric.so.1',
                'why': 'the host\'s network library, the part that /opt/cray/libfabric has on LUMI',
                'source': WORKSTATION_WHEEL,
                'evidence': 'measured',
            },
        },
        'library_folders': {
            'value': ['/lib/x86_64-linux-gnu', '/usr/lib/x86_64-linux-gnu', '/lib/aarch64-linux-gnu',
                      '/usr/lib/aarch64-linux-gnu', '/lib64', '/usr/lib64', '/lib', '/usr/lib'],
            'why': 'Debian\'s multiarch folders, then those of distributions without multiarch',
            'source': 'ld.so(8); /etc/ld.so.conf.d of Debian 12',
            'evidence': 'measured',
        },
        'variables': [
            {
                'name': 'MPIR_CVAR_CH4_NETMOD',
                'value': 'ofi',
                'why': 'the MPICH wheels have the netmods ofi and ucx; only ofi is compared here',
                'source': 'readelf -d libmpi.so.12 of the wheels 4.2.3 and 5.0.2: both need libfabric and libucp',
                'evidence': 'measured',
            },
        ],
        'images': {
            'value': dict.fromkeys(['pure', 'bind', 'hybrid', 'opensource'],
                                   'osu-workstation-mpich-4.2.3-libfabric-1.22.0.sif'),
            'why': 'one image serves all approaches: what differs is decided when it runs',
            'source': 'container-recipes/workstation.py',
            'evidence': 'measured',
        },
        'image_help': {
            'value': 'make image',
            'why': 'builds the image from container-recipes/ into sources/',
            'source': 'Makefile',
            'evidence': 'measured',
        },
        'native': {
            'value': {
                'mpicc': '/opt/mpich/5.0.2/bin/mpicc',
                'mpicxx': '/opt/mpich/5.0.2/bin/mpicxx',
                'libmpi': '/opt/mpich/5.0.2/lib/libmpi.so.12',
                'python': '/usr/bin/python3',
            },
            'why': 'the native build uses the MPI that bind injects; the distribution\'s Python is that of the image',
            'source': WORKSTATION_WHEEL,
            'evidence': 'measured',
        },
    },
}
