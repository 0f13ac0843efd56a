"""What ld.so would say: libraries, symbol versions, symbols, and whether the host's come first."""

import posixpath
import re
from collections import OrderedDict

from osu_container.image.environment import resolve_process_variable
from osu_container.image.loader import (
    find_library,
    find_loaded_file,
    list_undefined_symbols,
    list_version_problems,
    simulate_load,
)
from osu_container.image.scripts import PYTHON_NAME
from osu_container.verdict.commands import has_static_mpi
from osu_container.verdict.dry_run import find_loader_path
from osu_container.verdict.injection import FOLDER as INJECT_FOLDER
from osu_container.verdict.injection import TARGET
from osu_container.verdict.rules.described_host import may_offer_unknown_symbols
from osu_container.verdict.rules.finding import (
    NOTE,
    find_last_version,
    format_library,
    make_finding,
    rule,
    sort_versions,
)
from osu_container.verdict.rules.gpu_fit import find_gpu_maker
from osu_container.verdict.trial import DRIVER_LIBRARY, Container, map_opened_names


@rule('static program', source='ld.so(8)')
def static_program(trial):
    """
    Nothing can be put in front of the libraries of a static program; one without MPI in it
    starts another one.
    """
    if trial.program.is_static and not has_static_mpi(trial.image.read_file(trial.program.path)):
        yield make_finding(
            'unknown',
            "%s is linked statically and has no MPI in it: which program it starts is not known"
            % trial.program.path,
            [('image:' + trial.program.path, 'no MPI_Init')],
            'name the program that uses MPI: --program PATH',
        )
    elif trial.program.is_static:
        word = 'fails' if trial.approach['inject'] else NOTE
        yield make_finding(
            word,
            "%s is linked statically: no library can be put in front of its own"
            % trial.program.path,
            [('image:' + trial.program.path, 'no dynamic section')],
            'take pure or opensource, or link the program with shared libraries',
        )


#: Family of a host's MPI -> [(what it opens by its name, the function that does, for what)], beside
#: what the site injects for each run: the GTL and xpmem, ROCm's for libfabric. The name is one of
#: opened_as of the site's library
OPENED_LIBRARIES = {'Cray MPICH': [('liblustreapi.so', 'MPI_File_open', 'a file on Lustre')]}


def list_called_functions(trial):
    """
    Return the functions of MPI (set of str) that the image's program and libraries call, but for
    mpi4py's.
    """
    return set(
        name.partition('@')[0]
        for one in trial.process.loaded
        if one.origin == 'image' and '/mpi4py/' not in one.name
        for name in one.facts.undefined
    )


@rule(
    'opened while running',
    source='github.com/underworldcode/underworld2/issues/668, Pawsey\'s newsletter of '
    '2023-03-13: Assertion failed, liblustreapi != NULL',
)
def find_runtime_openings(trial):
    """What the host's MPI opens by its name, in some function, is injected or in the image."""
    mpi = find_loaded_file(trial.process, trial.soname)
    names = map_opened_names(trial.approach, trial.site, trial.host, trial.host_libraries.injected)
    for name, function, what in (
        OPENED_LIBRARIES.get((trial.mpi or {}).get('family'), ())
        if mpi and mpi.origin == 'host'
        else ()
    ):
        if name not in names and name not in trial.image.libraries:
            word = 'unknown' if function in list_called_functions(trial) else NOTE
            yield make_finding(
                word,
                "the host's %s opens %s in %s for %s, and neither the host, as far as it is known, nor "
                "the image has it: without it that call ends the program"
                % (trial.mpi['family'], name, function, what),
                [(mpi.facts.path, 'opens ' + name)],
                'name its path as %s of the site (libraries); or use an approach with the MPI of the image'
                % name.partition('.')[0],
            )


@rule('injection defeated', source='ld.so(8); DeiC-HPC/cotainr, example mpi4py on LUMI')
def injection_defeated(trial):
    """DT_RPATH comes before LD_LIBRARY_PATH, DT_RUNPATH after it."""
    path, environment = trial.container.library_path, trial.container.environment
    container = Container(trial.image, dict(trial.host_libraries.injected), {})
    program = trial.process.loaded[0] if trial.program.path and trial.process.loaded else None
    for name, owner in sorted(trial.approach['comes_from'].items()):
        soname = trial.soname if name == 'libmpi' else 'libfabric.so.1'
        one = find_loaded_file(trial.process, soname)
        if owner != 'host' or one is None or one.origin == 'host':
            continue
        if soname not in trial.host_libraries.injected:
            key = (
                trial.approach['inject'][0]
                if name == 'libmpi' and trial.approach['inject']
                else name
            )
            named = trial.site['libraries'].get(key)
            path = trial.host.add_root(named['value']) if named else None
            others = [
                known
                for known, facts in trial.host_libraries.injected.items()
                if facts.path == path
            ]
            if others:
                yield make_finding(
                    'fails',
                    "the host's %s would not be used: %s calls itself %s, and the image's own %s is "
                    "loaded" % (soname, path, others[0], soname),
                    [(path, 'DT_SONAME ' + others[0])],
                    'an approach with the library of the image',
                )
            continue
        if '/' in one.name and one.name in trial.program.opened_libraries:
            yield make_finding(
                'fails',
                "the host's %s would not be used: %s opens %s by its path"
                % (
                    soname,
                    'mpi4py'
                    if re.match(PYTHON_NAME, posixpath.basename(program.path))
                    else format_library(program),
                    one.path,
                ),
                [(one.facts.path, 'is found first')],
                'in a Python take it out (pip uninstall), or set '
                'MPI4PY_LIBMPI=libmpi.so.12 in the image, which makes mpi4py ask ld.so',
            )
            continue
        if INJECT_FOLDER not in path:
            at = environment.variables.get('LD_LIBRARY_PATH') or environment.default
            yield make_finding(
                'fails',
                "the host's %s would not be used: the image sets LD_LIBRARY_PATH anew after the "
                "module's file has put them in front (%s)"
                % (soname, at.location if at else 'unset'),
                [(at.location if at else trial.image.path, 'LD_LIBRARY_PATH')],
                'set it in a script whose name comes before %s' % posixpath.basename(TARGET),
            )
            continue
        there, why = find_library(
            soname, one.requester, container, path, program, one.facts.machine
        )
        found = (posixpath.dirname(one.path), why if there == one.path else 'its path')
        asking, by = one.requester, None
        while (
            asking is not None and by is None
        ):  # whose DT_RPATH it is: that of who needs it, or of who brought that
            by = asking if asking.facts.rpath or asking.requester is None else None
            asking = asking.requester
        by = by.facts.path if by else 'the program'
        if found[1] == 'LD_LIBRARY_PATH' or one.path in (
            preloaded for preloaded, _ in trial.container.preload
        ):
            yield make_finding(
                'fails',
                "the host's %s would not be used: the image %s %s, which comes first"
                % (
                    soname,
                    'puts into LD_LIBRARY_PATH' if found[1] == 'LD_LIBRARY_PATH' else 'preloads',
                    found[0] if found[1] == 'LD_LIBRARY_PATH' else one.path,
                ),
                [(one.facts.path, 'is found first')],
                'take it out of the environment scripts of the image',
            )
            continue
        yield make_finding(
            'fails',
            "the host's %s would not be used: %s has %s %s, which ld.so searches before "
            "LD_LIBRARY_PATH, and the image's own is there" % (soname, by, found[1], found[0]),
            [(by, '%s %s' % (found[1], found[0])), (one.facts.path, 'is found first')],
            'in the image: patchelf --set-rpath writes DT_RUNPATH instead, which LD_LIBRARY_PATH precedes',
        )


def _list_processes(trial):
    """
    Return the Processes (list) in which everything must load: the program's, and what an
    entrypoint tries.
    """
    return [trial.process] + (
        [trial.program.entrypoint_process] if trial.program.entrypoint_process else []
    )


@rule('missing library', source='ld.so(8)')
def missing_library(trial):
    """
    Every needed library is found, the host's dependencies included. NVIDIA's driver is the
    host's, in any image.
    """
    seen = set()
    for name, by in [
        pair
        for one in _list_processes(trial)
        for pair in one.missing
        if DRIVER_LIBRARY.match(pair[0])
    ]:
        if find_gpu_maker(trial.site) != 'NVIDIA' and name not in seen:
            yield make_finding(
                'fails',
                "%s, which comes with NVIDIA's driver, and this site has no GPU of NVIDIA"
                % (
                    '%s needs %s' % (format_library(by), name)
                    if by
                    else 'the process begins with %s' % name
                ),
                [(by.facts.path if by else trial.image.path, 'needs ' + name)],
                'use an image without CUDA, or one whose MPI opens the driver only when it is needed '
                '(Open MPI)',
            )
        seen.add(name)
    if trial.image.is_partial:
        return
    for soname, facts in trial.host_libraries.missing_dependencies:
        seen.add(soname)
        yield make_finding(
            'fails',
            "%s needs %s, which neither the host nor the image has" % (facts.path, soname),
            [(facts.path, 'DT_NEEDED ' + soname)],
            'if it is on the host in another folder, add that to library_folders of the site',
        )
    for path, by in [pair for one in _list_processes(trial) for pair in one.broken]:
        yield make_finding(
            'fails',
            "%s is no library (a text, or damaged), and %s takes it for one"
            % (path, format_library(by) if by else 'the loader'),
            [(path, 'no ELF file')],
            'put the library in its place; a linker script belongs to compilers, not to programs',
        )
    for name, by in [pair for one in _list_processes(trial) for pair in one.missing]:
        if name not in seen:
            yield make_finding(
                'fails',
                "%s, which is not on the library path in the container"
                % (
                    '%s needs %s' % (format_library(by), name)
                    if by
                    else 'the process begins with %s' % name
                ),
                [(by.facts.path if by else trial.image.path, 'needs ' + name)],
                'install it in the image, or name its folder in the LD_LIBRARY_PATH of the image',
            )


@rule(
    'symbol version',
    source='ld.so(8); libfabric.map.in by release: FABRIC_1.7 comes with 1.20, 1.8 with 2.0, 1.9 with 2.5',
)
def check_symbol_versions(trial):
    """
    Each version that a library needs (FABRIC_x, GLIBC_x, GLIBCXX_x, ...) is defined by the library
    that it will meet, both ways.
    """
    problems = [problem for one in _list_processes(trial) for problem in list_version_problems(one)]
    for one, soname, lacking, provider in problems:
        kind = lacking[0].split('_')[0]
        # the C library stays the image's, whatever comes from the host
        remedy = {
            'FABRIC': 'use an approach with the libfabric of the image, or an image whose MPI was built with a '
            'libfabric that is not newer than the host\'s'
            if provider.origin == 'host'
            else 'use an approach with a libfabric of the host that is new enough, or an image whose MPI was '
            'built with its own libfabric',
            'GLIBC': 'use an image of a distribution at least as new as the host'
            if one.origin == 'host'
            else 'build the image anew: its own libraries do not fit each other',
        }.get(
            kind,
            'use an image with a newer %s, or an approach that takes less from the host' % soname,
        )
        ends = find_last_version(provider.facts.verdef, lacking[0])
        yield make_finding(
            'fails',
            "%s needs %s of %s, but %s ends at %s"
            % (
                format_library(one),
                ', '.join(sort_versions(lacking)),
                soname,
                format_library(provider),
                ends,
            ),
            [
                (one.facts.path, 'needs ' + ', '.join(sort_versions(lacking))),
                (provider.facts.path, 'defines up to ' + ends),
            ],
            remedy,
        )


def _shorten_names(names):
    """Return the first of names (list of str) as a text, and how many more there are."""
    return ', '.join(names[:5]) + (' and %d more' % (len(names) - 5) if len(names) > 5 else '')


@rule('undefined symbol', source='ld.so(8), lazy binding; Python, sys.setdlopenflags(): RTLD_NOW')
def undefined_symbol(trial):
    """Each symbol that a library needs is offered by some library of the process."""
    if trial.image.is_partial or trial.process.missing or trial.process.broken:
        return
    if may_offer_unknown_symbols(trial):
        return  # the rule 'facts of the host' speaks
    all_now = resolve_process_variable(trial.container.environment, 'LD_BIND_NOW')
    told = set(one.facts.path for one, _, _, _ in list_version_problems(trial.process))
    by_library = OrderedDict()
    for one, symbol, at_once in list_undefined_symbols(trial.process):
        if one.facts.path not in told:
            by_library.setdefault(one.path, (one, []))[1].append((symbol, at_once))
    for one, symbols in by_library.values():
        now = all_now or any(at_once for _, at_once in symbols)
        names = [symbol for symbol, _ in symbols]
        some = _shorten_names(names)
        yield make_finding(
            'fails' if now else 'unknown',
            "%s needs %s, which no library of the process has%s"
            % (format_library(one), some, '' if now else ': it ends when that is called'),
            [(one.facts.path, 'undefined ' + some)],
            'another release of the library that ought to have it: '
            'of an MPI, a site with another stack (--try-amend=site=...), or the one of the image',
        )


def _predict_process(trial):
    """
    Return (Container, Process) as the loader is asked: without what libraries open by themselves
    while they run.
    """
    names = map_opened_names(trial.approach, trial.site, trial.host, trial.host_libraries.injected)
    container = Container(trial.image, names, {})
    return container, simulate_load(
        trial.program.load_roots, container, trial.container.library_path
    )


def list_differences(trial):
    """
    Return [(what the loader says, what the trial on paper has)] where the two differ (lists of
    str).
    """
    listing, (container, process) = trial.listing, _predict_process(trial)
    if listing.problem:
        wrong = (
            process.broken
            or process.missing
            or list_version_problems(process)
            or list_undefined_symbols(process)
        )
        return (
            []
            if wrong or trial.container.environment.exit_point
            else [(listing.problem, 'everything loads')]
        )
    if process.broken:
        return [('it lists all', '%s is no library' % process.broken[0][0])]
    host = 'the host'

    def real(path, origin=None):
        """
        Return what stands for the file path in the container; what an entrypoint has linked is
        the host's.
        """
        if trial.approach.get('entrypoint'):
            return (
                host
                if origin == 'host' or not trial.image.exists(path)
                else container.resolve(path)
            )
        return container.resolve(path) if container.exists(path) else path

    loader = {find_loader_path(trial), trial.image.resolve(find_loader_path(trial))}
    theirs = dict(
        (real(path), '%s => %s' % (name, path)) for name, path in listing.libraries.items()
    )
    ours = dict(
        (real(one.path, one.origin), '%s => %s' % (one.name, one.path))
        for one in process.loaded[1:]
    )
    lack = set(name for name, _ in process.missing)
    lists = [
        (listing.missing_libraries, lack, '%s => not found', '%s is found'),
        (
            listing.missing_versions,
            set(name for _, _, names, _ in list_version_problems(process) for name in names),
            'version %s is not there',
            'version %s is there',
        ),
    ]
    if not any(one[0] or one[1] for one in lists):  # else what follows from that
        lists.append(
            (
                listing.undefined_symbols,
                set(symbol.partition('@')[0] for _, symbol, _ in list_undefined_symbols(process)),
                'undefined symbol: %s',
                'symbol %s is defined',
            )
        )
    found = []
    for said, thought, one, other in lists:
        found += [
            (one % name, other % name)
            for name in sorted(said - thought)
            if not DRIVER_LIBRARY.match(name)
        ]
        found += [
            (other % name, one % name)
            for name in sorted(thought - said)
            if not DRIVER_LIBRARY.match(name)
        ]
    found += [
        (theirs[path], 'not that file')
        for path in sorted(set(theirs) - set(ours) - loader)
        if path != real(process.loaded[0].path) and not DRIVER_LIBRARY.match(theirs[path])
    ]
    return found or [
        ('not that file', ours[path]) for path in sorted(set(ours) - set(theirs) - loader)
    ]


@rule(
    'dry run',
    source='ld.so(8), LD_TRACE_LOADED_OBJECTS, LD_WARN, LD_BIND_NOW; elf/rtld.c of glibc 2.36',
)
def check_dry_run(trial):
    """
    Where the image's own loader was asked (--dry-run), its list is that of the trial on paper. Of a
    script, Python and what a program opens while it runs it has no list.
    """
    listing = trial.listing
    if listing is None:
        return
    if listing.problem and not listing.is_conclusive:
        yield make_finding(NOTE, "the image's own loader was not asked: %s" % listing.problem)
        return
    what = (
        trial.program.path
        or '%s alone, as no program is known whose list it could make' % trial.soname
    )
    what += ', without what it opens while it runs' if trial.program.opened_libraries else ''
    found = list_differences(trial)
    if not found:
        yield make_finding(
            NOTE,
            "the image's own loader lists the same for %s (%d libraries, %.1f s)"
            % (what, len(listing.libraries), listing.seconds)
            if not listing.problem
            else "the image's own loader does not come further: %s" % listing.problem,
        )
        return
    more = '; and %d more' % (len(found) - 1) if len(found) > 1 else ''
    yield make_finding(
        'unknown',
        "the image's own loader says otherwise of %s: %s (on paper: %s)%s"
        % ((what,) + found[0] + (more,)),
        [(trial.image.path, said) for said, _ in found[:5]],
        'run it once: `osu-container proof` tells what a run loaded',
    )
