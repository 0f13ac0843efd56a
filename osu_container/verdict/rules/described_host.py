"""
Rules on a host that `check` did not inspect: missing data make a verdict unknown.

The rule "host not described" reports that the data do not show which host libraries the module
injects; judge_trial() then drops all other findings. The rule "facts of the host" reports unknown
facts of an injected library, if another library in the process depends on the unknown facts. Both
rules assume that the libraries of one host work together.
"""

from posixpath import basename
from typing import Dict, Iterator, List, Tuple

from osu_container.image.closure import GLIBC_SONAMES
from osu_container.image.loader import LoadedFile, find_loaded_file, list_undefined_symbols
from osu_container.verdict.rules.finding import Finding, make_finding, report_problem, rule
from osu_container.verdict.rules.questions import (
    find_last_version,
    has_sufficient_glibc,
    list_glibc_dependents,
    list_process_host_libraries,
    may_offer_unknown_symbols,
    shorten_names,
    sort_versions,
)
from osu_container.verdict.settings import has_own_namespaces, list_host_libraries
from osu_container.verdict.trial import Trial

#: Remedy of both rules
DESCRIPTION_REMEDY = (
    'run `osu-container discover --facts FILE` on the system, copy FILE to this machine, and run '
    '`osu-container check IMAGE --site NAME --facts FILE` here'
)
LIBC_VERSIONS = 'versions of libc.so.6'
#: Fact -> name of the fact in messages
_WORDS = {
    'soname': 'the soname',
    'machine': 'the processor',
    'needed': 'the list of needed libraries',
    'rpath': 'the DT_RPATH',
    'runpath': 'the DT_RUNPATH',
    'traits.opens': 'the list of libraries that the file opens at run time',
}

#: (path of the library, missing fact, sentence for the finding)
Gap = Tuple[str, str, str]


@rule('host not described', source='verdict/rules/described_host.py', facts=('host',))
def unknown_host(trial: Trial) -> Iterator[Finding]:
    """Check that the published data show which host libraries the module injects."""
    evidence = list_undescribed_facts(trial)
    if evidence:
        yield make_finding(
            'unknown',
            'the host was not inspected, and the published data lack '
            + shorten_names(['%s of %s' % (fact, basename(path)) for path, fact in evidence]),
            [(path, 'not described: ' + fact) for path, fact in evidence],
            DESCRIPTION_REMEDY,
        )


def list_undescribed_facts(trial: Trial) -> List[Tuple[str, str]]:
    """Return [(library path, missing fact)] for facts that decide which libraries to inject."""
    host = trial.host
    missing: List[Tuple[str, str]] = []
    if not host.is_partial or not trial.approach['inject']:
        return missing
    for name, path in list_host_libraries(trial.approach, trial.site):
        if not host.is_described(host.add_root(path)) and not trial.site['libraries'][name].get(
            'serves'
        ):
            missing.append((path, 'the existence'))
    for facts in trial.injected.values():
        names = ['soname', 'machine', 'needed']  # They determine which libraries are injected.
        names += ['rpath', 'runpath'] if set(facts.needed) - GLIBC_SONAMES else []
        names += ['traits.opens'] if facts.soname == trial.soname else []
        gaps = host.list_unknown_facts(facts.path)
        missing += [(facts.path, _WORDS[name]) for name in names if name in gaps]
        # A library of the host's build is injected even if the image has a library of this name.
        missing += [
            (facts.path, 'the path of the dependency %s' % name)
            for name in facts.needed
            if name not in GLIBC_SONAMES
            and (
                host.has_known_paths(name) is False
                or trial.site['one_build']['value']
                and host.has_known_paths(name) is None
                and name not in trial.injected
            )
        ]
    missing += [
        (facts.path, 'the path of the dependency %s' % name)
        for name, facts in trial.missing_dependencies
        if not host.is_known_absent(name)
    ]
    return sorted(set(missing), key=missing.index)


@rule('facts of the host', source='verdict/rules/described_host.py', facts=('host', 'provider'))
def unknown_facts(trial: Trial) -> Iterator[Finding]:
    """Check that the published data show which symbols the host's libraries need and define."""
    if not trial.host.is_partial or not trial.injected:
        return
    for path, fact, gap in (
        *_list_unknown_versions(trial),
        *_list_unknown_symbols(trial),
        *_list_unknown_traits(trial),
    ):
        glibc = fact == LIBC_VERSIONS and trial.host.glibc
        yield report_problem(
            'unknown',
            'the host was not inspected: %s' % gap,
            path,
            'not described: ' + fact,
            (
                'use an image with glibc %s or newer%s; or '
                % (glibc, ' (Ubuntu 24.04, Debian 13)' if glibc == '2.38' else '')
                if glibc
                else ''
            )
            + DESCRIPTION_REMEDY,
        )


def _list_unknown_versions(trial: Trial) -> Iterator[Gap]:
    """Yield a Gap (a missing fact) for each unknown symbol version that may stop the process."""
    process = trial.rccl_plugin[1] if trial.rccl_plugin else trial.process
    dependents = list_glibc_dependents(trial) if not has_sufficient_glibc(trial) else []
    if dependents:
        path, libc = dependents[0].facts.path, find_loaded_file(trial.process, 'libc.so.6')
        yield (
            path,
            LIBC_VERSIONS,
            "the newest symbol version in the image's C library is %s, but %d host libraries, "
            "such as %s, may need newer versions, up to the host's GLIBC_%s"
            % (
                find_last_version(libc.facts.verdef if libc else (), 'GLIBC_'),
                len(dependents),
                basename(path),
                trial.host.glibc or 'unknown',
            ),
        )
    for library in list_process_host_libraries(trial):
        path, gaps = library.facts.path, set(trial.host.list_unknown_facts(library.facts.path))
        for other in process.loaded:
            name = other.facts.soname or other.name
            needed = {'verneed', 'verneed of ' + name} if other.facts.verdef else {'undefined'}
            versions = other.facts.verneed.get(library.facts.soname or '')
            if other.origin != 'image':
                continue
            if name in library.facts.needed and name not in GLIBC_SONAMES and needed & gaps:
                yield (
                    path,
                    'symbols of ' + name,
                    'it is unknown which symbols and symbol versions the library %s needs from '
                    "the image's %s" % (path, name),
                )
            if versions and 'verdef' in gaps:
                yield (
                    path,
                    'defined symbol versions',
                    'it is unknown which symbol versions %s defines, and %s needs the versions '
                    '%s' % (path, other.facts.path, ', '.join(sort_versions(versions))),
                )


def _has_host_version(trial: Trial, library: LoadedFile, symbol: str) -> bool:
    """Return whether the data show that a host library defines the version of a symbol."""
    version = symbol.partition('@')[2]
    providers = [
        find_loaded_file(trial.process, soname)
        for soname, versions in library.facts.verneed.items()
        if version in versions
    ]
    return any(
        other and other.origin == 'host' and version in other.facts.verdef for other in providers
    )


def _list_unknown_symbols(trial: Trial) -> List[Gap]:
    """Return a Gap (a missing fact) for each library that needs symbols the host may lack."""
    if trial.image.is_partial or trial.process.missing or trial.process.broken:
        return []
    symbols_by_path: Dict[str, List[str]] = {}
    for library, symbol, _ in (
        list_undefined_symbols(trial.process) if may_offer_unknown_symbols(trial) else ()
    ):
        others = [
            find_loaded_file(trial.process, name)
            for name in library.facts.needed
            if name not in GLIBC_SONAMES
        ]
        # The libraries of one host define the symbols that they need from each other.
        if not _has_host_version(trial, library, symbol) and (
            library.origin == 'image' or any(other and other.origin == 'image' for other in others)
        ):
            symbols_by_path.setdefault(library.facts.path, []).append(symbol)
    return [
        (
            user,
            'definitions of its symbols',
            "it is unknown whether the host's libraries define %s, which %s needs"
            % (shorten_names(symbols), user),
        )
        for user, symbols in sorted(symbols_by_path.items())
    ]


def _list_unknown_traits(trial: Trial) -> Iterator[Gap]:
    """Yield a Gap (a missing fact) for the host's MPI or libfabric with unknown properties."""
    wanted = []
    mpi = trial.libmpi
    if mpi is not None and mpi.origin == 'host':
        names = ['family', 'release', 'device', 'pmi']
        names += ['hmem', 'cxi'] if trial.mpi_family in (None, 'MPICH') else []
        names += ['single_copy'] if has_own_namespaces(trial.runtime) else []
        wanted.append((mpi.facts.path, names))
    if trial.libfabric is not None and trial.libfabric.origin == 'host':
        names = ['release', 'providers'] + ['api'] * (mpi is not None and mpi.origin == 'image')
        if trial.module_values.get('FI_PROVIDER') not in trial.fabric.get('providers', []):
            names += ['folders', 'by_name']
        wanted.append((trial.libfabric.facts.path, names))
    for path, names in wanted:
        unknown = trial.host.list_unknown_facts(path)
        missing = ', '.join(name for name in names if 'traits.' + name in unknown)
        if missing:
            yield path, missing, '%s has unknown properties (%s)' % (path, missing)
