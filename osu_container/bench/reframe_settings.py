"""ReFrame's settings for a run, and the options with which a job on a site is asked for."""

from __future__ import annotations

import pprint

from osu_container.base import outputs

#: Lmod's function, which a batch script has not: ReFrame loads the modules with it
MODULE_FUNCTION = 'module() { eval "$("$LMOD_CMD" bash "$@")"; }'


def build_job_options(site, *, partition=None, account=None):
    """
    Return the options (list of str) with which a job on a site (dict, entry of the site data) is
    asked for.

    :param partition, account: str, in place of the site's
    """
    jobs = site['jobs']['value']
    chosen = partition or jobs['partition']
    named = {'partition': chosen, 'account': account}
    return [f'--{key}={value}' for key, value in named.items() if value] + jobs['options']


def derive_system_name(site):
    """
    Return what ReFrame calls a site (dict): its name without the dots, which ReFrame does not
    take (str).
    """
    return site['name'].replace('.', '_')


def build_configuration(site):
    """
    Return ReFrame's configuration (dict) for the job that is there on a site (dict); tests start
    their ranks.
    """
    return {
        'systems': [
            {
                'name': derive_system_name(site),
                'descr': site['title'],
                'hostnames': ['.*'],
                'modules_system': 'lmod',
                'partitions': [
                    {
                        'name': 'nodes',
                        'descr': 'whole nodes',
                        'scheduler': 'local',
                        'launcher': 'local',
                        'environs': ['builtin'],
                        'max_jobs': 1,
                        'prepare_cmds': [MODULE_FUNCTION],
                    }
                ],
            }
        ],
        'environments': [{'name': 'builtin', 'target_systems': [derive_system_name(site)]}],
        'logging': [
            {
                'handlers': [
                    {'type': 'stream', 'name': 'stdout', 'level': 'info', 'format': '%(message)s'}
                ]
            }
        ],
        'general': [
            {'check_search_path': ['.'], 'resolve_module_conflicts': False, 'pipeline_timeout': 3}
        ],
        'storage': [{'enable': False}],
    }


def write(path, site):
    """Write the settings of a site as a Python file to path (Path)."""
    outputs.replace_file(
        path,
        f'site_configuration = {pprint.pformat(build_configuration(site), width=118, sort_dicts=False)}\n',
    )
