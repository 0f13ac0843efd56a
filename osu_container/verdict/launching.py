"""
How the ranks of a site's jobs are started, and what a rank is told, from data/launchers.py. Reads
no file but that of a batch system with the nodes of its job.
"""

import re

from osu_container.data.launchers import BATCH_SYSTEMS, DEFAULT_LAUNCHER, LAUNCHERS
from osu_container.verdict.site_choice import SettingsError, format_names


def select_launcher(site):
    """
    Return the name (str) of the launcher of site (dict). Raises SettingsError if it is unknown.
    """
    name = site['launcher']['value'] if 'launcher' in site else DEFAULT_LAUNCHER
    if name not in LAUNCHERS:
        raise SettingsError(
            "site '%s' names the launcher '%s'; known ones: %s. Describe it by an entry in "
            "osu_container/data/launchers.py" % (site['name'], name, format_names(LAUNCHERS))
        )
    return name


def select_launcher_command(site):
    """Return the launcher of site (dict), as it is typed (str)."""
    return LAUNCHERS[select_launcher(site)]['command']


def build_launch_command(
    name, nodes, ranks, *, folder=None, step_options=(), per_node=True, unbound=False, kind=None
):
    """
    Return the command (list of str) by which a launcher starts ranks, without the program.

    :param name: str, key of LAUNCHERS; nodes, ranks: int; folder: str, where the program runs
    :param step: options (list of str) that the site wants for each step
    :param spread: bool, say how many ranks a node gets, also where it follows from the nodes
    :param unbound: bool, another command chooses the cores of each rank
    :param kind: str or None, the kind of PMI, where no variable says it
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


def list_pmi_options(name, kind, always=False):
    """
    Return the words (list of str) that choose a kind (str or None) of PMI: where no variable
    can, or always.
    """
    launcher = LAUNCHERS[name]
    asked = kind and (always or not launcher['pmi_variable'])
    return [word.format(kind=kind) for word in launcher['pmi_words']] if asked else []


def list_pmi_variables(name, kind):
    """
    Return ((variable, value),) by which a module chooses a kind (str) of PMI, () where it cannot
    or need not.
    """
    variable = LAUNCHERS[name]['pmi_variable']
    return ((variable, kind),) if variable else ()


def format_launch_example(name, kind, program):
    """Return the line (str) by which a user starts program (str) on two nodes, a rank on each."""
    return ' '.join(build_launch_command(name, 2, 2, per_node=False, kind=kind) + [program])


def resolve_pmi_protocol(name, kind):
    """
    Return what an MPI must speak (str) where a launcher (str) starts it with a kind (str) of
    PMI.
    """
    return LAUNCHERS[name]['pmi'].get(kind, (kind,))[0]


def format_pmi(name, kind):
    """Return how people say which PMI the ranks have (str): 'srun --mpi=pmi2'."""
    return ' '.join(
        [LAUNCHERS[name]['command']] + (list_pmi_options(name, kind, True) or ['(%s)' % kind])
    )


def format_site_pmi(site, kind):
    """Return the same (str) of the launcher of site (dict)."""
    return format_pmi(select_launcher(site), kind)


def list_local_size_variables():
    """
    Return the variables (list of str) by which launchers other than srun tell how many ranks a
    node has.
    """
    return [
        launcher['local_size'] for name, launcher in LAUNCHERS.items() if name != DEFAULT_LAUNCHER
    ]


def select_batch_system(site):
    """Return the batch system (dict) of site (dict)."""
    return BATCH_SYSTEMS[site['jobs']['value'].get('batch', 'slurm')]


def find_job(environment):
    """
    Return (batch system (dict), number (str)) of the job of environment (dict), (None, None)
    outside of one.
    """
    return next(
        (
            (batch, environment[batch['job']])
            for batch in BATCH_SYSTEMS.values()
            if environment.get(batch['job'])
        ),
        (None, None),
    )


def count_job_nodes(environment):
    """
    Return how many nodes (int) the job of environment (dict) has, None where nothing says it.
    Raises OSError.
    """
    batch, _ = find_job(environment)
    count = environment.get(batch['count'] or '', '') if batch else ''
    if batch and batch['nodes_file'] and environment.get(batch['nodes_file']):
        with open(environment[batch['nodes_file']], encoding='utf-8') as lines:
            return len({line.strip() for line in lines} - {''}) or None
    return int(count) if re.match(r'[1-9]\d*$', count) else None
