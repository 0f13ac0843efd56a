"""Build ReFrame's settings for a run, and the options that request a job on a site."""

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
    """Return the options that request a job on a site; `partition` overrides the site's."""
    jobs = site['jobs']['value']
    chosen = partition or jobs['partition']
    options = {'partition': chosen, 'account': account}
    return [f'--{key}={value}' for key, value in options.items() if value] + jobs['options']


def derive_system_name(site: dict[str, Any]) -> str:
    """Return ReFrame's name of a site: its name without dots, which ReFrame rejects."""
    return site['name'].replace('.', '_')


def build_configuration(site: dict[str, Any], jobs: int) -> dict[str, Any]:
    """Return ReFrame's configuration to run `jobs` tests at a time, which launch their ranks."""
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
    """Write the settings to run `jobs` tests at a time on a site as a Python file."""
    outputs.replace_file(
        path,
        f'site_configuration = {pprint.pformat(build_configuration(site, jobs), width=118, sort_dicts=False)}\n',
    )
