"""
Approaches: the ways in which a container reaches the network, and the native build. Data only.

Keys of an approach
    title       str, one clause for the module help
    container   bool, False for the native build
    inject      names of the site's libraries that are put in front of the image's own, with their dependencies
    comes_from  {'libmpi': 'image' | 'host', 'libfabric': ...}: what ranks must be seen to load; help, proof and
                the --mpi= of srun follow from it
    requires    sonames of libraries that the image's own libmpi must need, else injection has no effect
    variables   list of dict: name, value ({provider} is the site's), why, source, evidence (words as in
                _mpicontainer_sites.py). Each is a default: a value that the user has set wins.
"""

_PROVIDER_OF_SITE = {
    'name': 'FI_PROVIDER',
    'value': '{provider}',
    'why': 'the provider of this network or an error, never another one in silence',
    'source': 'fi_fabric(7), FI_PROVIDER',
    'evidence': 'measured',
}

APPROACHES = {
    'native': {
        'title': 'programs built on this host with its own MPI',
        'container': False,
        'inject': [],
        'comes_from': {'libmpi': 'host', 'libfabric': 'host'},
        'requires': [],
        'variables': [_PROVIDER_OF_SITE],
    },
    'pure': {
        'title': 'nothing from the host: TCP with what the image holds',
        'container': True,
        'inject': [],
        'comes_from': {'libmpi': 'image', 'libfabric': 'image'},
        'requires': [],
        'variables': [
            {
                'name': 'FI_PROVIDER',
                'value': 'tcp',
                'why': 'without the host\'s libraries TCP is the only network that is everywhere',
                'source': 'fi_tcp(7); the published pure runs reach about 2 GB/s over TCP on Slingshot',
                'evidence': 'measured',
            },
        ],
    },
    'bind': {
        'title': 'the host\'s MPI and network libraries replace the image\'s',
        'container': True,
        'inject': ['libmpi', 'libfabric'],
        'comes_from': {'libmpi': 'host', 'libfabric': 'host'},
        'requires': [],
        'variables': [_PROVIDER_OF_SITE],
    },
    'hybrid': {
        'title': 'the image\'s MPI over the host\'s network library',
        'container': True,
        'inject': ['libfabric'],
        'comes_from': {'libmpi': 'image', 'libfabric': 'host'},
        'requires': ['libfabric.so.1'],
        'variables': [_PROVIDER_OF_SITE],
    },
    'opensource': {
        'title': 'everything, the network library included, is in the image',
        'container': True,
        'inject': [],
        'comes_from': {'libmpi': 'image', 'libfabric': 'image'},
        'requires': ['libfabric.so.1'],
        'variables': [_PROVIDER_OF_SITE],
    },
}
