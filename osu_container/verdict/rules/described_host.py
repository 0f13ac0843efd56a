"""
A host that is described, not looked into: what the description lacks is unknown, neither missing
nor fine.

Two rules. Where it is not known what would come from the host, nothing that follows from it can be
held: the first rule alone speaks then, see verdict_of(). Where one fact of a library is not known,
the second names it, and only if something in the process depends on it. Both take the libraries of
one host to fit each other.
"""

import posixpath

from osu_container.image.closure import GLIBC_SONAMES
from osu_container.image.loader import find_loaded_file, list_undefined_symbols
from osu_container.verdict.rules.finding import (
    compute_module_values,
    find_loaded_mpi,
    make_finding,
    rule,
    sort_versions,
)
from osu_container.verdict.settings import has_own_namespaces, list_host_libraries

#: What to do about it
DESCRIPTION_REMEDY = (
    'on the system: `osu-container discover --facts FILE`, which looks; then here: `osu-container check IMAGE '
    '--site NAME --facts FILE`'
)
LIBC_VERSIONS = 'versions of libc.so.6'
#: What decides which libraries come from the host
_DECIDES = ('soname', 'machine', 'needed')
_WORDS = {
    'soname': 'its soname',
    'machine': 'its processor',
    'needed': 'what it needs',
    'rpath': 'its DT_RPATH',
    'runpath': 'its DT_RUNPATH',
    'traits.opens': 'what it opens by itself',
}


@rule('host not described', source='verdict/rules/described_host.py')
def unknown_host(trial):
    """Of a host that is described it is known which libraries come from it."""
    evidence = list_undescribed_facts(trial)
    if evidence:
        some = '; '.join(
            '%s of %s' % (what, posixpath.basename(path)) for path, what in evidence[:3]
        )
        yield make_finding(
            'unknown',
            "the host is described, not looked into, and the description lacks %s%s"
            % (some, '; and %d more' % (len(evidence) - 3) if len(evidence) > 3 else ''),
            [(path, 'not described: ' + what) for path, what in evidence],
            DESCRIPTION_REMEDY,
        )


def list_undescribed_facts(trial):
    """
    Return [(path, what is not described)] of what decides which libraries come from the host of
    trial.
    """
    host, found = trial.host, []
    if not host.is_partial or not trial.approach['inject']:
        return found
    for name, path in list_host_libraries(trial.approach, trial.site):
        if not host.is_described(host.add_root(path)) and not trial.site['libraries'][name].get(
            'serves'
        ):
            found.append((path, 'whether it is there'))
    for facts in trial.host_libraries.injected.values():
        gaps = host.list_unknown_facts(facts.path)
        found += [(facts.path, _WORDS[name]) for name in _DECIDES if name in gaps]
        if set(facts.needed) - GLIBC_SONAMES:
            found += [(facts.path, _WORDS[name]) for name in ('rpath', 'runpath') if name in gaps]
        if facts.soname == trial.soname and 'traits.opens' in gaps:
            found.append((facts.path, _WORDS['traits.opens']))
        # of one build one would come along though the image has one of that name
        build = trial.site['one_build']['value']
        found += [
            (facts.path, 'where %s is' % name)
            for name in facts.needed
            if name not in GLIBC_SONAMES
            and (
                host.has_known_paths(name) is False
                or build
                and host.has_known_paths(name) is None
                and name not in trial.host_libraries.injected
            )
        ]
    found += [
        (facts.path, 'where %s is' % name)
        for name, facts in trial.host_libraries.missing_dependencies
        if not host.is_known_absent(name)
    ]
    return sorted(set(found), key=found.index)


@rule('facts of the host', source='verdict/rules/described_host.py')
def unknown_facts(trial):
    """Of a host that is described it is known what its libraries ask for, and have."""
    if not trial.host.is_partial or not trial.host_libraries.injected:
        return
    for path, what, why in (
        _list_unknown_versions(trial) + _list_unknown_symbols(trial) + _list_unknown_traits(trial)
    ):
        newer = what == LIBC_VERSIONS and trial.host.glibc
        yield make_finding(
            'unknown',
            "the host is described, not looked into: %s" % why,
            [(path, 'not described: ' + what)],
            (
                'an image whose C library is %s or newer has all that they can need; or, ' % newer
                if newer
                else ''
            )
            + DESCRIPTION_REMEDY,
        )


def _list_host_libraries(trial):
    """
    Return the libraries (list of Loaded) of the host in the process of trial, those of RCCL's
    plugin among them.
    """
    found = [one for one in trial.process.loaded if one.origin == 'host']
    more = (
        [one for one in trial.program.rccl_plugin[1].loaded if one.origin == 'host']
        if trial.program.rccl_plugin
        else []
    )
    return found + [one for one in more if one.path not in [each.path for each in found]]


def has_sufficient_glibc(trial):
    """
    Return whether the C library in the process of trial is as new as that of the host, None
    where not known.
    """
    wanted, libc = getattr(trial.host, 'glibc', None), find_loaded_file(trial.process, 'libc.so.6')
    versions = [name for name in libc.facts.verdef if name[:7] == 'GLIBC_2'] if libc else []
    return (
        sort_versions(versions + ['GLIBC_' + wanted])[-1] in versions
        if wanted and versions
        else None
    )


def list_glibc_dependents(trial):
    """
    Return the libraries (list of Loaded) of which only the C library of the host says what they
    may ask for.
    """
    return [
        one
        for one in _list_host_libraries(trial)
        if trial.host.is_partial
        and (
            {'verneed', 'verneed of libc.so.6'} & set(trial.host.list_unknown_facts(one.facts.path))
        )
        and set(one.facts.needed) & GLIBC_SONAMES
    ]


def _list_unknown_versions(trial):
    """
    Return [(path, what, sentence)] of symbol versions that are not known and meet a library of
    the image.
    """
    found, host = [], trial.host
    process = trial.program.rccl_plugin[1] if trial.program.rccl_plugin else trial.process
    old = list_glibc_dependents(trial) if not has_sufficient_glibc(trial) else []
    if old:
        libc = find_loaded_file(trial.process, 'libc.so.6')
        has = (
            sort_versions(name for name in libc.facts.verdef if name[:7] == 'GLIBC_2')[-1:]
            if libc
            else []
        )
        found.append(
            (
                old[0].facts.path,
                LIBC_VERSIONS,
                "which GLIBC %s%s needs is not known%s, the image "
                "has %s"
                % (
                    old[0].facts.path,
                    ' (and %d more)' % (len(old) - 1) if old[1:] else '',
                    ', at most %s' % host.glibc if getattr(host, 'glibc', None) else '',
                    has[0][6:] if has else 'no libc.so.6 that is read',
                ),
            )
        )
    for one in _list_host_libraries(trial):
        gaps = host.list_unknown_facts(one.facts.path)
        met = [
            (name, other)
            for name, other in (
                (name, find_loaded_file(process, name)) for name in one.facts.needed
            )
            if other is not None and other.origin == 'image' and name not in GLIBC_SONAMES
        ]
        for name, other in met:
            unknown = 'verneed' in gaps or 'verneed of ' + name in gaps
            if unknown and other.facts.verdef:
                found.append(
                    (
                        one.facts.path,
                        'versions of ' + name,
                        "which versions of %s, which the image has, %s "
                        "needs" % (name, one.facts.path),
                    )
                )
            elif 'undefined' in gaps and (unknown or not other.facts.verdef):
                found.append(
                    (
                        one.facts.path,
                        'symbols of ' + name,
                        "which symbols of %s, which the image has, %s "
                        "needs" % (name, one.facts.path),
                    )
                )
        users = (
            [
                other
                for other in process.loaded
                if other.origin == 'image' and one.facts.soname in other.facts.verneed
            ]
            if 'verdef' in gaps
            else []
        )
        if users:
            found.append(
                (
                    one.facts.path,
                    'versions that it defines',
                    "which versions %s defines, of which %s needs %s"
                    % (
                        one.facts.path,
                        users[0].facts.path,
                        ', '.join(sort_versions(users[0].facts.verneed[one.facts.soname])),
                    ),
                )
            )
    return found


def may_offer_unknown_symbols(trial):
    """Return whether a library of the host in the process may have symbols that are not known."""
    return any(
        'defined' in trial.host.list_unknown_facts(one.facts.path)
        for one in _list_host_libraries(trial)
    )


def _has_host_version(trial, one, symbol):
    """
    Return whether a library of the host is known to have the symbol (str) of a version that one
    (Loaded) needs.
    """
    version = symbol.partition('@')[2]
    return any(
        version in versions
        and other is not None
        and other.origin == 'host'
        and version in other.facts.verdef
        for soname, versions in one.facts.verneed.items()
        for other in [find_loaded_file(trial.process, soname)]
    )


def _list_unknown_symbols(trial):
    """Return [(path, what, sentence)] of symbols that maybe a library of the host has."""
    if trial.image.is_partial or trial.process.missing or trial.process.broken:
        return []
    found = {}
    for one, symbol, _ in (
        list_undefined_symbols(trial.process) if may_offer_unknown_symbols(trial) else ()
    ):
        others = [
            find_loaded_file(trial.process, name)
            for name in one.facts.needed
            if name not in GLIBC_SONAMES
        ]
        # what libraries of the host need of each other they have there as well
        if not _has_host_version(trial, one, symbol) and (
            one.origin == 'image'
            or any(other is not None and other.origin == 'image' for other in others)
        ):
            found.setdefault(one.facts.path, []).append(symbol)
    path = next(
        (
            other.facts.path
            for other in _list_host_libraries(trial)
            if 'defined' in trial.host.list_unknown_facts(other.facts.path)
        ),
        None,
    )
    return [
        (
            path,
            'its symbols',
            "whether its libraries have %s%s, which %s needs"
            % (
                ', '.join(symbols[:3]),
                ' and %d more' % (len(symbols) - 3) if symbols[3:] else '',
                by,
            ),
        )
        for by, symbols in sorted(found.items())
    ]


def _list_unknown_traits(trial):
    """
    Return [(path, what, sentence)] of what is not known of the host's MPI and libfabric in the
    process.
    """
    found = []
    mpi, fabric = find_loaded_mpi(trial), find_loaded_file(trial.process, 'libfabric.so.1')
    if mpi is not None and mpi.origin == 'host':
        names = ['family', 'release', 'device', 'pmi']
        names += ['hmem', 'cxi'] if (trial.mpi or {}).get('family') in (None, 'MPICH') else []
        names += ['single_copy'] if has_own_namespaces(trial.container.runtime) else []
        found += _list_missing_traits(trial, mpi, names)
    if fabric is not None and fabric.origin == 'host':
        names = ['release', 'providers'] + (
            ['api'] if mpi is not None and mpi.origin == 'image' else []
        )
        wanted = compute_module_values(trial).get('FI_PROVIDER')
        if wanted not in (trial.fabric or {}).get('providers', []):
            names += ['folders', 'by_name']
        found += _list_missing_traits(trial, fabric, names)
    return found


def _list_missing_traits(trial, one, names):
    """
    Return what _list_unknown_traits() does, of one (Loaded) and its traits names (list of str).
    """
    lacking = [
        name for name in names if 'traits.' + name in trial.host.list_unknown_facts(one.facts.path)
    ]
    return (
        [
            (
                one.facts.path,
                ', '.join(lacking),
                "what %s is and can (%s)" % (one.facts.path, ', '.join(lacking)),
            )
        ]
        if lacking
        else []
    )
