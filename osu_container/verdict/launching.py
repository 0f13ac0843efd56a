"""
Build the commands and variables that start ranks on a site, from data/launchers.py.

This module reads only one file: the batch system's list of the nodes of a job.
"""

import re
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple

from osu_container.data.launchers import BATCH_SYSTEMS, DEFAULT_LAUNCHER, LAUNCHERS
from osu_container.verdict.site_choice import SettingsError, format_names


def select_launcher(site: Dict[str, Any]) -> str:
    """
    Return the name of the site's launcher.

    Raises SettingsError if data/launchers.py does not have this launcher.
    """
    name = site['launcher']['value'] if 'launcher' in site else DEFAULT_LAUNCHER
    if name not in LAUNCHERS:
        raise SettingsError(
            "site '%s' names an unknown launcher '%s'; known launchers: %s. Add the launcher to "
            "osu_container/data/launchers.py" % (site['name'], name, format_names(LAUNCHERS))
        )
    return name


def select_launcher_command(site: Dict[str, Any]) -> str:
    """Return the command of the site's launcher, e.g. 'srun'."""
    return LAUNCHERS[select_launcher(site)]['command']


def build_launch_command(
    name: str,
    nodes: int,
    ranks: int,
    *,
    folder: Optional[str] = None,
    step_options: Iterable[str] = (),
    per_node: bool = True,
    unbound: bool = False,
    kind: Optional[str] = None,
) -> List[str]:
    """
    Return the words of the command line that starts ranks, without the program.

    folder: folder in which the program runs.
    step_options: options that the site needs for each job step.
    per_node: pass the number of ranks per node, even if this number follows from the number of
    nodes.
    unbound: tell the launcher not to bind ranks to cores, because another command binds the ranks.
    kind: kind of PMI. If no environment variable selects the PMI, the kind becomes an option.
    """
    launcher = LAUNCHERS[name]
    words = launcher['folder'] if folder else []
    words = words + launcher['nodes'] + launcher['ranks']
    words += launcher['per_node'] if per_node or not launcher['nodes'] else []
    words += launcher['unbound'] if unbound else []
    values = {'nodes': nodes, 'ranks': ranks, 'per_node': ranks // nodes, 'folder': folder}
    return (
        launcher['command'].split()
        + [word.format(**values) for word in words]
        + list_pmi_options(name, kind)
        + list(step_options)
    )


def list_pmi_options(name: str, kind: Optional[str], always: bool = False) -> List[str]:
    """
    Return the launcher's options that select a kind of PMI, such as ['--mpi=pmi2'].

    Return [] if `kind` is None. If `always` is False, also return [] for a launcher with an
    environment variable that selects the PMI.
    """
    if not kind or LAUNCHERS[name]['pmi_variable'] and not always:
        return []
    return [word.format(kind=kind) for word in LAUNCHERS[name]['pmi_words']]


def list_pmi_variables(name: str, kind: str) -> Tuple[Tuple[str, str], ...]:
    """Return ((name, value),) of the variable that selects the PMI, () without a variable."""
    variable = LAUNCHERS[name]['pmi_variable']
    return ((variable, kind),) if variable else ()


def format_launch_example(name: str, kind: Optional[str], program: str) -> str:
    """Return the command line that starts a program with one rank on each of two nodes."""
    return ' '.join(build_launch_command(name, 2, 2, per_node=False, kind=kind) + [program])


def resolve_pmi_protocol(name: str, kind: str) -> str:
    """
    Return the PMI protocol, such as 'pmix', that an MPI must support for a launcher.

    kind: the kind of PMI that the launcher uses.
    """
    return LAUNCHERS[name]['pmi'].get(kind, (kind,))[0]


def format_pmi(name: str, kind: Optional[str]) -> str:
    """Return the launcher and its PMI as text for messages, e.g. 'srun --mpi=pmi2'."""
    return ' '.join(
        [LAUNCHERS[name]['command']] + (list_pmi_options(name, kind, True) or ['(%s)' % kind])
    )


def format_site_pmi(site: Dict[str, Any], kind: Optional[str]) -> str:
    """Return the text of format_pmi() for the launcher of a site."""
    return format_pmi(select_launcher(site), kind)


def list_local_size_variables() -> List[str]:
    """Return the variables by which launchers except srun pass the number of ranks per node."""
    return [
        launcher['local_size'] for name, launcher in LAUNCHERS.items() if name != DEFAULT_LAUNCHER
    ]


def select_batch_system(site: Dict[str, Any]) -> Dict[str, Any]:
    """Return the entry of data/launchers.py (BATCH_SYSTEMS) for the site's batch system."""
    return BATCH_SYSTEMS[site['jobs']['value'].get('batch', 'slurm')]


def find_job(
    environment: Mapping[str, str],
) -> Tuple[Optional[Dict[str, Any]], Optional[str]]:
    """
    Return (entry of the batch system, job number); (None, None) outside of a job.
    """
    return next(
        (
            (batch, environment[batch['job']])
            for batch in BATCH_SYSTEMS.values()
            if environment.get(batch['job'])
        ),
        (None, None),
    )


def count_job_nodes(environment: Mapping[str, str]) -> Optional[int]:
    """
    Return the number of nodes of the current job, None if the number is unknown.

    Raises OSError if the list of nodes cannot be read.
    """
    batch, _ = find_job(environment)
    count = environment.get(batch['count'] or '', '') if batch else ''
    if batch and batch['nodes_file'] and environment.get(batch['nodes_file']):
        with open(environment[batch['nodes_file']], encoding='utf-8') as lines:
            return len({line.strip() for line in lines} - {''}) or None
    return int(count) if re.match(r'[1-9]\d*$', count) else None
