"""
List the untested facts, of the site and of published data, on which a verdict depends.

A verdict 'works', 'works slowly' or 'no use' depends on every fact that the module uses. A verdict
'fails' or 'unknown' depends only on the facts of the rules that reported a finding of the level of
the verdict.
"""

import posixpath
from typing import Any, Dict, Iterable, List, Optional, Tuple

from osu_container.verdict.layers import (
    uses_libfabric,
)
from osu_container.verdict.rules.finding import FACT_KINDS, RULES_BY_NAME
from osu_container.verdict.rules.questions import (
    find_gpu_maker,
    find_image_libcxi,
    has_sufficient_glibc,
    list_called_functions,
    list_glibc_dependents,
)
from osu_container.verdict.settings import list_host_libraries
from osu_container.verdict.trial import Trial, locate_host_libraries

#: [(name, fact of a site)], with None for a fact that the site lacks
NamedFacts = List[Tuple[str, Optional[Dict[str, Any]]]]


def list_untested_facts(trial: Trial, level: str, rules: Iterable[str]) -> List[str]:
    """
    Return the names of the untested facts on which a verdict of `level` depends.

    rules: names of the rules that reported a finding of `level`.
    """
    kinds = set(FACT_KINDS)
    if level in ('unknown', 'fails'):
        kinds = {
            kind
            for name in rules
            for kind in RULES_BY_NAME[name].facts
            # The MPI that an approach can inject does not depend on the site.
            if not (name == 'other MPI' and trial.approach['inject'])
        }
    names = [
        name
        for kind in FACT_KINDS
        if kind in kinds
        for name, fact in (
            _FACT_LISTERS[kind](trial)
            if kind in _FACT_LISTERS
            else [(key, trial.site.get(key)) for key in _SITE_FACTS[kind]]
        )
        if fact and fact.get('evidence') == 'untested'
    ]
    return names + (_list_untested_libraries(trial) if 'host' in kinds else [])


def _list_gpu_facts(trial: Trial) -> NamedFacts:
    """Return the site's facts about GPUs, [] if the image has no GPU software."""
    rocm = trial.image.find_rocm_release()
    facts = (
        [('gpu', trial.site['gpu'])]
        if rocm
        or trial.image.find_cuda_release()
        or trial.image.has_rccl()
        or trial.mpi.get('hmem') is False
        else []
    )
    name = {
        'AMD': rocm and 'gpu_userland',
        'NVIDIA': trial.image.find_cuda_release() and 'gpu_driver',
    }.get(find_gpu_maker(trial.site) or '')
    return facts + ([(name, trial.site.get(name))] if name else [])


def _list_provider_facts(trial: Trial) -> NamedFacts:
    """Return the facts that decide whether MPI uses the network at full speed."""
    matters = uses_libfabric(trial) is not False or trial.module_values.get('FI_PROVIDER') == 'tcp'
    facts = [('provider', trial.site['provider'])] if matters else []
    if find_image_libcxi(trial):
        facts.append(('slingshot', trial.site.get('slingshot')))
    return facts + [('network', trial.site.get('network'))]


def _list_host_facts(trial: Trial) -> NamedFacts:
    """Return the site's facts about the host libraries that the approach injects."""
    if not trial.approach['inject']:
        return []
    names = [name for name, _ in locate_host_libraries(trial.approach, trial.site, trial.host)]
    names += [
        name
        for name, path in list_host_libraries(trial.approach, trial.site)
        if name not in names and not trial.host.is_described(trial.host.add_root(path))
    ]
    calls = list_called_functions(trial)
    site_facts = [
        ('libraries.' + name, fact)
        for name, fact in ((name, trial.site['libraries'][name]) for name in names)
        if fact.get('serves', '') in calls or not fact.get('serves')
    ]
    dependencies = {
        soname: facts.path
        for soname, facts in trial.injected.items()
        if facts.path not in _map_library_paths(trial).values()
    }
    folders = [trial.host.add_root(folder) for folder in trial.site['library_folders']['value']]
    if trial.missing_dependencies or any(
        posixpath.dirname(path) in folders for path in dependencies.values()
    ):
        site_facts.append(('library_folders', trial.site['library_folders']))
    # Without this fact, the image's library would be used.
    if any(soname in trial.image.libraries for soname in dependencies):
        site_facts.append(('one_build', trial.site['one_build']))
    return site_facts


def _map_library_paths(trial: Trial) -> Dict[str, str]:
    """Return {name: host path} of the libraries that the approach injects by name."""
    return dict(locate_host_libraries(trial.approach, trial.site, trial.host))


def _list_untested_libraries(trial: Trial) -> List[str]:
    """Return 'host.NAME' for each host library with untested facts in the published data."""
    names_by_path = (
        {path: name for name, path in _map_library_paths(trial).items()}
        if trial.approach['inject']
        else {}
    )
    names = [
        'host.' + names_by_path.get(facts.path, 'dependencies')
        for facts in trial.injected.values()
        if trial.host.list_untested_facts(facts.path)
    ]
    if (
        has_sufficient_glibc(trial)
        and list_glibc_dependents(trial)
        and trial.host.data['glibc']['evidence'] == 'untested'
    ):
        names.append('host.glibc')
    return sorted(set(names), key=names.index)


_SITE_FACTS = {'runtime': ['runtime'], 'pmi': ['pmi', 'launcher']}
_FACT_LISTERS = {
    'provider': _list_provider_facts,
    'gpu': _list_gpu_facts,
    'host': _list_host_facts,
}
