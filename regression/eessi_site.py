"""
Site settings of ReFrame with which the EESSI test suite runs on the workstation's two nodes (docs/regression.md).

    reframe -C regression/eessi_site.py -c .../eessi/testsuite/tests/apps/osu.py --list

For another cluster change what is marked. EESSI's own eessi.testsuite.common_config is not used: release 1.1.0 refuses
ReFrame 4.10.1 to 4.10.4, which take no names of features that begin with a digit, such as its scales (2_nodes).
It needs those features only with a ReFrame older than 4.10; with 4.10 the choice of scales is that of the tests.
"""
import os

import reframe
from eessi.testsuite.constants import EXTRAS, FEATURES, SCALES

#: CPUs of a node as slurm.conf of the workstation says them, and MiB that a test may plan with: change both
CPUS, MEMORY = 16, 4096
NODES = 2
OLDER = tuple(int(part) for part in reframe.VERSION.split('.')[:2]) < (4, 10)
PREFIX = os.environ.get('RFM_PREFIX', '.')

site_configuration = {
    'systems': [{
        'name': 'workstation',
        'descr': 'two nodes of a private Slurm on one machine',
        'hostnames': ['.*'],
        'modules_system': 'lmod',
        'stagedir': os.path.join(PREFIX, 'stage'),
        'outputdir': os.path.join(PREFIX, 'output'),
        'partitions': [{
            'name': 'main',  # change: name, access (account and partition)
            'access': ['--partition=main'],
            'scheduler': 'squeue',  # change to slurm where sacct works
            'launcher': 'srun',
            'environs': ['default'],
            'max_jobs': 1,
            'sched_options': {'use_nodes_option': True},
            'processor': {'num_cpus': CPUS, 'num_sockets': 1, 'num_cpus_per_socket': CPUS, 'num_cpus_per_core': 1},
            'features': [FEATURES.CPU] + [scale for scale, size in SCALES.items()
                                          if OLDER and size['num_nodes'] <= NODES],
            'extras': {EXTRAS.MEM_PER_NODE: MEMORY},
        }],
    }],
    'environments': [{'name': 'default', 'cc': 'cc', 'cxx': '', 'ftn': ''}],
    'logging': [{
        'handlers': [{'type': 'stream', 'name': 'stdout', 'level': 'info', 'format': '%(message)s'}],
        'handlers_perflog': [{
            'type': 'filelog', 'level': 'info', 'prefix': '%(check_system)s/%(check_partition)s',
            'basedir': os.path.join(PREFIX, 'perflogs'),
            'format': '%(check_result)s|%(check_job_completion_time)s|%(check_display_name)s|%(check_modules)s|'
                      '%(check_perfvalues)s',
            'format_perfvars': '%(check_perf_value)s|%(check_perf_unit)s|',
            'append': True,
        }],
    }],
}
