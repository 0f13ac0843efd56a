"""Build ReFrame's settings for a run, and the Slurm options that request a job on a site."""

from __future__ import annotations

import pprint
from pathlib import Path
from typing import Any

from osu_container.base import outputs

#: Defines the function that loads ReFrame's modules: a batch script lacks Lmod's `module`
MODULE_FUNCTION = 'module() { eval "$("$LMOD_CMD" bash "$@")"; }'


def build_job_options(
    site: dict[str, Any], *, partition: str | None = None, account: str | None = None
) -> list[str]:
    """
    Return the Slurm options that request a job on a site.

    partition: partition of the job; default: the partition in the site data
    """
    jobs = site['jobs']['value']
    chosen = partition or jobs['partition']
    options = {'partition': chosen, 'account': account}
    return [f'--{key}={value}' for key, value in options.items() if value] + jobs['options']


def derive_system_name(site: dict[str, Any]) -> str:
    """Return the name of a site without dots, because ReFrame rejects dots in a system name."""
    return site['name'].replace('.', '_')


def build_configuration(site: dict[str, Any], jobs: int) -> dict[str, Any]:
    """
    Return the configuration with which ReFrame runs up to `jobs` tests at the same time.

    ReFrame starts the tests as local processes, because each test contains the launch command for
    its ranks.
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
                        'max_jobs': jobs,
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


def write(path: Path, site: dict[str, Any], jobs: int) -> None:
    """Write ReFrame's configuration for a site to the Python file `path`."""
    outputs.replace_file(
        path,
        f'site_configuration = {pprint.pformat(build_configuration(site, jobs), width=118, sort_dicts=False)}\n',
    )
