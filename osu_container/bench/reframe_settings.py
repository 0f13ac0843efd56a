"""
ReFrame's settings for a site, made from the site data (osu_container/core/data/sites/__init__.py).

The file is written into the folder of each run, and by `osu-container bench --settings FILE` for who calls ReFrame
without this command. Partition, account, GPUs and the options of srun come from the entry `jobs` of the site; --mpi and
--network come from the modules.
"""
from __future__ import annotations

import pprint
import shutil
import subprocess

from ..discover.write import comment
from ..image.progress import write_file

#: Lmod's function, which a batch script has not: ReFrame loads the modules with it
MODULE_FUNCTION = 'module() { eval "$("$LMOD_CMD" bash "$@")"; }'

#: Texts of the site data may be anything, so they are comments
_HEAD = ('ReFrame settings of site {site}, written by `osu-container bench`: {title}.',
         'Partition and options: {why} ({source}, {date}, {evidence}).')


def job_options(site, *, partition=None, account=None):
    """
    Return the options (list of str) with which a job on a site (dict, entry of the site data) is asked for.

    :param partition, account: str, in place of the site's
    """
    jobs = site['jobs']['value']
    chosen = partition or jobs['partition']
    named = {'partition': chosen, 'account': account}
    return [f'--{key}={value}' for key, value in named.items() if value] + jobs['options']


def batch_scheduler(env):
    """
    Return ReFrame's scheduler (str) for batch jobs: 'slurm', which asks sacct, or 'squeue' where that is no use.

    :param env: dict, environment in which sacct is looked for
    """
    asked = subprocess.run(['sacct', '-X', '-n'], env=env, capture_output=True, stdin=subprocess.DEVNULL, check=False) \
        if shutil.which('sacct', path=env.get('PATH')) else None
    return 'slurm' if asked and asked.returncode == 0 else 'squeue'


def system_name(site):
    """Return what ReFrame calls a site (dict): its name without the dots, which ReFrame does not take (str)."""
    return site['name'].replace('.', '_')


def make(site, *, scheduler='local', partition=None, account=None, database=None, perflogs='perflogs'):
    """
    Return ReFrame's configuration (dict).

    :param site: dict, entry of the site data
    :param scheduler: 'local', srun in the job that is there; as batch_scheduler() says, a batch job for each test
    :param database: str or None, file for ReFrame's own record of all sessions (--performance-compare)
    :param perflogs: str, folder of ReFrame's performance logs
    """
    access = job_options(site, partition=partition, account=account) if scheduler != 'local' else []
    storage = {'enable': database is not None}
    if database is not None:
        storage['sqlite_db_file'] = str(database)
    return {
        'systems': [{
            'name': system_name(site), 'descr': site['title'], 'hostnames': ['.*'], 'modules_system': 'lmod',
            'partitions': [{
                'name': 'nodes', 'descr': 'whole nodes', 'scheduler': scheduler, 'launcher': 'srun', 'access': access,
                'environs': ['builtin'], 'max_jobs': 1, 'prepare_cmds': [MODULE_FUNCTION]}],
        }],
        'environments': [{'name': 'builtin', 'target_systems': [system_name(site)]}],
        'logging': [{
            'handlers': [{'type': 'stream', 'name': 'stdout', 'level': 'info', 'format': '%(message)s'}],
            'handlers_perflog': [{
                'type': 'filelog', 'prefix': '%(check_system)s/%(check_partition)s', 'level': 'info',
                'basedir': str(perflogs), 'append': True, 'format': '%(check_result)s,%(check_job_completion_time)s,'
                '%(check_name)s,%(check_job_nodelist)s,%(check_perfvalues)s',
                'format_perfvars': '%(check_perf_value)s,%(check_perf_unit)s,'}],
        }],
        'general': [{'check_search_path': ['.'], 'resolve_module_conflicts': False, 'pipeline_timeout': 3}],
        'storage': [storage],
    }


def write(path, site, **options):
    """Write the settings of a site as a Python file to path (Path); options as for make()."""
    fact = site['jobs']
    head = ''.join(comment(line.format(site=site['name'], title=site['title'], **{
        key: fact[key] for key in ('why', 'source', 'date', 'evidence')}), follow='# ') for line in _HEAD)
    made = pprint.pformat(make(site, **options), width=118, sort_dicts=False)
    write_file(path, f'{head}site_configuration = {made}\n')
