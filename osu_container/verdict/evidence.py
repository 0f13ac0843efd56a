"""
On what a verdict rests that nobody has shown on that system: facts marked untested, of the site and
of a description.

A verdict that it runs rests on every fact by which the module starts the program; one that it
fails, or is unknown, on the facts of the rules that say so. Python 3.6 and its standard library
only.
"""

import posixpath

from osu_container.verdict.rules.described_host import has_sufficient_glibc, list_glibc_dependents
from osu_container.verdict.rules.finding import (
    compute_module_values,
    find_image_libcxi,
    uses_libfabric,
)
from osu_container.verdict.rules.gpu_fit import find_gpu_maker
from osu_container.verdict.rules.loading import list_called_functions
from osu_container.verdict.settings import list_host_libraries
from osu_container.verdict.trial import locate_host_libraries

#: Kinds of facts, in the order in which they are told: of how ranks start; the network's provider;
#: GPUs; what comes from the host, by the site and by a description
FACT_KINDS = ('runtime', 'pmi', 'provider', 'gpu', 'host')

#: Rule -> kinds of facts that its findings rest on, where these are not all
RULE_FACT_KINDS = {
    'host path missing': ('host',),
    'host not described': ('host',),
    'facts of the host': ('host', 'provider'),
    'start of the container': (),
    'unknown environment': (),
    'architecture': ('host',),
    'GPU vendor': ('gpu',),
    'static program': (),
    'musl': (),
    'overlay': (),
    'entrypoint': (),
    'interpreter': (),
    'other MPI': ('pmi',),
    'two builds of Open MPI': ('host',),
    'two MPIs': (),
    'opened while running': ('host',),
    'missing library': ('host',),
    'symbol version': ('host',),
    'undefined symbol': ('host',),
    'injection defeated': ('host',),
    'loader of the image': (),
    'provider of the image': ('provider',),
    "image's variables": ('provider',),
    'parameter files': (),
    'no libfabric': ('host',),
    'netmod': ('host',),
    'no provider': ('provider', 'host'),
    'libfabric API': ('provider', 'host'),
    'capability set': ('provider', 'host'),
    'not seen over cxi': ('provider', 'host'),
    'TCP only': ('provider',),
    'RCCL plugin': ('provider', 'gpu', 'host'),
    'ROCm release': ('gpu', 'host'),
    'CUDA release': ('gpu',),
    'GPU transport layer': ('gpu', 'host'),
    'CXI_FORK_SAFE': ('provider',),
    'libcxi and driver': ('provider',),
    'UCX': ('provider',),
    'card driver': ('provider',),
    'ranks apart': ('host',),
    'PMI': ('pmi', 'host'),
    'no program': (),
    'dry run': (),
}


def list_untested_facts(trial, level, rules):
    """
    Return the names (list of str) of the untested facts that a verdict on trial rests on.

    :param level: str, of the verdict; rules: names (list of str) of the rules with findings of that
        level
    """
    kinds = set(FACT_KINDS)
    if level in ('unknown', 'fails'):
        kinds = set(
            kind
            for name in rules
            for kind in RULE_FACT_KINDS.get(name, FACT_KINDS)
            # what an approach can put in the place of the MPI is no fact of the site
            if not (name == 'other MPI' and trial.approach['inject'])
        )
    found = [
        name
        for kind in FACT_KINDS
        if kind in kinds
        for name, fact in _FACT_LISTERS[kind](trial)
        if fact and fact['evidence'] == 'untested'
    ]
    return found + (_list_untested_libraries(trial) if 'host' in kinds else [])


def _make_fact_lister(*names):
    """Return the function that gives [(name, fact)] of facts of the site by name."""
    return lambda trial: [(name, trial.site.get(name)) for name in names]


def _list_gpu_facts(trial):
    """
    Return [(name, fact)] of the site's facts of its GPUs, where the image has something for one.
    """
    of_rocm, hmem = trial.image.find_rocm_release(), (trial.mpi or {}).get('hmem')
    found = (
        [('gpu', trial.site['gpu'])]
        if of_rocm or trial.image.find_cuda_release() or trial.image.has_rccl() or hmem is False
        else []
    )
    named = {
        'AMD': of_rocm and 'gpu_userland',
        'NVIDIA': trial.image.find_cuda_release() and 'gpu_driver',
    }.get(find_gpu_maker(trial.site))
    return found + ([(named, trial.site.get(named))] if named else [])


def _list_provider_facts(trial):
    """
    Return [(name, fact)] of the network: by it libfabric or UCX is used, or TCP is called slow.
    """
    counts = (
        uses_libfabric(trial) is not False
        or compute_module_values(trial).get('FI_PROVIDER') == 'tcp'
    )
    of_network = [('provider', trial.site['provider'])] if counts else []
    if find_image_libcxi(trial):
        of_network.append(('slingshot', trial.site.get('slingshot')))
    return of_network + [('network', trial.site.get('network'))]


def _list_host_facts(trial):
    """Return [(name, fact)] of the site's facts of what comes from the host."""
    if not trial.approach['inject']:
        return []
    taken = [name for name, _ in locate_host_libraries(trial.approach, trial.site, trial.host)]
    taken += [
        name
        for name, path in list_host_libraries(trial.approach, trial.site)
        if name not in taken and not trial.host.is_described(trial.host.add_root(path))
    ]
    calls = list_called_functions(trial)
    found = [
        ('libraries.' + name, fact)
        for name, fact in ((name, trial.site['libraries'][name]) for name in taken)
        if fact.get('serves', '') in calls or not fact.get('serves')
    ]
    brought = dict(
        (soname, facts.path)
        for soname, facts in trial.host_libraries.injected.items()
        if facts.path not in _map_library_paths(trial).values()
    )
    folders = [trial.host.add_root(folder) for folder in trial.site['library_folders']['value']]
    if trial.host_libraries.missing_dependencies or any(
        posixpath.dirname(path) in folders for path in brought.values()
    ):
        found.append(('library_folders', trial.site['library_folders']))
    if any(soname in trial.image.libraries for soname in brought):  # else the image's own would do
        found.append(('one_build', trial.site['one_build']))
    return found


def _map_library_paths(trial):
    """Return {name: path} of the libraries that the approach names."""
    return dict(locate_host_libraries(trial.approach, trial.site, trial.host))


def _list_untested_libraries(trial):
    """
    Return the names (list of str) of libraries of a description of which a fact in use is
    untested.
    """
    by_path = (
        dict((path, name) for name, path in _map_library_paths(trial).items())
        if trial.approach['inject']
        else {}
    )
    found = [
        'host.' + by_path.get(facts.path, 'dependencies')
        for facts in trial.host_libraries.injected.values()
        if trial.host.list_untested_facts(facts.path)
    ]
    if (
        has_sufficient_glibc(trial)
        and list_glibc_dependents(trial)
        and trial.host.data['glibc']['evidence'] == 'untested'
    ):
        found.append('host.glibc')
    return sorted(set(found), key=found.index)


_FACT_LISTERS = {
    'runtime': _make_fact_lister('runtime'),
    'pmi': _make_fact_lister('pmi'),
    'provider': _list_provider_facts,
    'gpu': _list_gpu_facts,
    'host': _list_host_facts,
}
