"""What a rule of the verdict is, what it finds, and what several rules ask of a trial."""

import posixpath
import re
from collections import namedtuple

from osu_container.image.environment import resolve_process_variable
from osu_container.image.loader import find_loaded_file
from osu_container.verdict.layers import infer_network_layer, split_provider
from osu_container.verdict.settings import collect_module_variables
from osu_container.verdict.site_choice import parse_release

#: Levels of a verdict, from the best to the worst
LEVELS = ['works', 'works slowly', 'unknown', 'fails']
#: Level of a finding that is no verdict: something to know
NOTE = 'note'

#: One reason. rule: name of the rule; level: one of LEVELS or NOTE; reason: one sentence; evidence:
#: list of (file, what was found there); remedy: what to do, or ''; source: where the rule is from
Finding = namedtuple('Finding', 'rule level reason evidence remedy source')


def rule(name, source):
    """
    Return the decorator that makes a function a rule: it gets a Trial and yields the Findings that
    it has evidence for.

    :param name: str, as verdicts and docs/check.md call it
    :param source: str, where the rule is from
    The docstring of the function says what it decides; docs/check.md shows it.
    """

    def decorate(function):
        def found(trial):
            return [one._replace(rule=name, source=source) for one in function(trial)]

        found.name, found.source = name, source
        found.decides = ' '.join(function.__doc__.split())
        found.__doc__, found.__name__ = function.__doc__, function.__name__
        return found

    return decorate


def make_finding(level, reason, evidence=(), remedy=''):
    """Return a Finding whose rule and source `rule` fills in."""
    return Finding(None, level, reason, list(evidence), remedy, None)


def format_library(one):
    """Return how a Loaded is called in messages (str): its path, and whose it is."""
    return (
        one.facts.path if one.facts.path.startswith('image:') else '%s of the host' % one.facts.path
    )


def format_library_name(one):
    """Return whose library a Loaded is (str), e.g. "the host's libfabric.so.1"."""
    return "the %s's %s" % (one.origin, one.facts.soname or posixpath.basename(one.path))


def sort_versions(versions):
    """Return version names (iterable of str) in the order of their numbers."""
    return sorted(
        versions,
        key=lambda name: [int(part) if part.isdigit() else -1 for part in re.split(r'[._]', name)],
    )


def find_last_version(verdef, like):
    """
    Return the newest version name in verdef (set) of the same kind as like (str), 'none'
    without.
    """
    kind = like.split('_')[0] + '_'
    return (sort_versions(v for v in verdef if v.startswith(kind) and v[-1].isdigit()) or ['none'])[
        -1
    ]


def find_loaded_mpi(trial):
    """Return the Loaded of the MPI library in the process of trial, None if it is not there."""
    return find_loaded_file(trial.process, trial.soname)


def uses_libfabric(trial):
    """
    Return whether the MPI of the process, a library or a plug-in of it needs libfabric, None if
    there is no MPI.
    """
    mpi = find_loaded_mpi(trial)
    if mpi is None:
        return None
    todo, seen = [mpi], []
    while todo:
        one = todo.pop()
        if 'libfabric.so.1' in one.facts.needed:
            return True
        seen.append(one)
        others = (find_loaded_file(trial.process, name) for name in one.facts.needed)
        todo += [
            other
            for other in others
            if other is not None and other not in seen and other not in todo
        ]
    return False


#: The last trial of which compute_module_values() was asked, with its answer: some thirty rules ask
#: it, one after the other
_LAST = [None, {}]


def compute_module_values(trial):
    """Return {name: value} of the variables that the module sets."""
    if _LAST[0] is not trial:
        _LAST[:] = trial, _compute_module_values(trial)
    return dict(_LAST[1])


def _compute_module_values(trial):
    """See compute_module_values()."""
    mpi, fabric = trial.mpi or {}, trial.fabric or {}
    mine = collect_module_variables(
        trial.approach,
        trial.site,
        '%s %s' % (mpi.get('family'), mpi.get('release')),
        fabric.get('release'),
        trial.image.find_rccl_plugin(),
    )[None]
    return dict((variable['name'], variable['value']) for variable in mine)


def find_provider_variable(trial):
    """
    Return the Variable (image/environment.py) FI_PROVIDER of the process, None where it is not
    set there.
    """
    return resolve_process_variable(
        trial.container.environment, 'FI_PROVIDER', compute_module_values(trial).get('FI_PROVIDER')
    )


def find_provider(trial):
    """
    Return the provider (str) that libfabric of the process is asked for, None where that is not
    one by its name.
    """
    one = find_provider_variable(trial)
    if one is None and 'FI_PROVIDER' not in trial.container.environment.variables:  # nobody sets it
        return trial.site['provider']['value']
    return one.value if one and re.match(r'\w+(;\w+)*$', one.value or '') else None


def find_image_libcxi(trial):
    """
    Return the Loaded of the image's libcxi by which the process reaches the cards of Slingshot,
    None without.
    """
    one = find_loaded_file(trial.process, 'libcxi.so.1')
    return (
        one
        if one and one.origin == 'image' and 'cxi' in split_provider(find_provider(trial) or '')
        else None
    )


def find_network_layer(trial):
    """
    Return over what the MPI of the process sends between nodes: LIBFABRIC, UCX or TCP of
    layers.py, or None.
    """
    return infer_network_layer(
        trial, compute_module_values(trial), find_provider(trial), uses_libfabric(trial)
    )


def find_mpi_series(trial):
    """
    Return (family, 'major.minor') of the MPI of the process, None where the file does not say
    it.
    """
    traits = trial.mpi or {}
    numbers = parse_release(traits.get('release'))
    return (
        (traits['family'], '%d.%d' % numbers[:2])
        if traits.get('family') and len(numbers) > 1
        else None
    )
