"""
Rules on ld.so: missing libraries, symbol versions, symbols, and the order of libraries.
"""

import posixpath
import re
from collections import OrderedDict
from typing import Dict, Iterator, List, Optional, Set, Tuple

from osu_container.image.environment import resolve_process_variable
from osu_container.image.loader import (
    LoadedFile,
    Process,
    find_library,
    find_loaded_file,
    list_undefined_symbols,
    list_version_problems,
    simulate_load,
)
from osu_container.verdict.commands import has_static_mpi
from osu_container.verdict.dry_run import Listing, find_loader_path
from osu_container.verdict.injection import FOLDER as INJECT_FOLDER
from osu_container.verdict.injection import TARGET
from osu_container.verdict.rules.finding import (
    NOTE,
    START_REMEDY,
    Finding,
    make_finding,
    rule,
)
from osu_container.verdict.rules.questions import (
    find_gpu_maker,
    find_last_version,
    format_library,
    list_called_functions,
    list_hidden_names,
    may_offer_unknown_symbols,
    shorten_names,
    sort_versions,
)
from osu_container.verdict.trial import DRIVER_LIBRARY, Container, Trial, map_opened_names


@rule('static program', source='ld.so(8)', facts=())
def static_program(trial: Trial) -> Iterator[Finding]:
    """
    The program is linked dynamically.

    No host library can replace the MPI in a statically linked program. A static program without MPI
    starts another program, which `check` cannot determine.
    """
    path = trial.program.path
    if not trial.program.is_static or not path:
        return
    if not has_static_mpi(trial.image.read_file(path)):
        yield make_finding(
            'unknown',
            'cannot tell which program %s starts: this launcher is linked statically and contains '
            'no MPI' % path,
            [('image:' + path, 'no MPI_Init')],
            START_REMEDY,
        )
    else:
        level = 'fails' if trial.approach['inject'] else NOTE
        yield make_finding(
            level,
            '%s is linked statically, so no library of the host can replace its MPI' % path,
            [('image:' + path, 'no dynamic section')],
            'use approach pure or opensource, or link the program dynamically',
        )


#: Family of a host's MPI -> [(name of a library that the MPI opens at run time, MPI function that
#: opens the library, purpose)]. The site injects the GTL, xpmem and ROCm's libraries for each run, so
#: these are not listed. The name is in `opened_as` of the site's library.
OPENED_LIBRARIES = {'Cray MPICH': [('liblustreapi.so', 'MPI_File_open', 'a file on Lustre')]}


@rule(
    'opened while running',
    source="github.com/underworldcode/underworld2/issues/668 and Pawsey's newsletter of "
    '2023-03-13, both with the message "Assertion failed, liblustreapi != NULL"',
    facts=('host',),
)
def find_runtime_openings(trial: Trial) -> Iterator[Finding]:
    """Each library that the host's MPI opens by name is injected or exists in the image."""
    mpi = find_loaded_file(trial.process, trial.soname)
    names = map_opened_names(trial.approach, trial.site, trial.host, trial.injected)
    family = trial.mpi.get('family', '')
    if mpi is None or mpi.origin != 'host':
        return
    for name, function, purpose in OPENED_LIBRARIES.get(family, ()):
        if name not in names and name not in trial.image.libraries:
            level = 'unknown' if function in list_called_functions(trial) else NOTE
            yield make_finding(
                level,
                "%s for %s would terminate the program: in this call, the host's %s opens %s, "
                'which the image lacks and the module does not inject'
                % (function, purpose, family, name),
                [(mpi.facts.path, 'opens ' + name)],
                'add the path of %s under the name %s to the libraries of the site, or use an '
                'approach with the MPI of the image' % (name, name.partition('.')[0]),
            )


@rule(
    'injection defeated',
    source='ld.so(8); DeiC-HPC/cotainr, example mpi4py on LUMI',
    facts=('host',),
    needs_process=True,
)
def injection_defeated(trial: Trial) -> Iterator[Finding]:
    """
    ld.so finds the injected libraries of the host before the libraries of the image.

    ld.so searches DT_RPATH before LD_LIBRARY_PATH, and DT_RUNPATH after LD_LIBRARY_PATH.
    """
    path, environment = trial.container.library_path, trial.environment
    container = Container(trial.image, dict(trial.injected), {})
    program = trial.process.loaded[0] if trial.program.path and trial.process.loaded else None
    for name, owner in sorted(trial.approach['comes_from'].items()):
        soname = trial.soname if name == 'libmpi' else 'libfabric.so.1'
        library = find_loaded_file(trial.process, soname)
        if owner != 'host' or library is None or library.origin == 'host':
            continue
        if soname not in trial.injected:
            key = (
                trial.approach['inject'][0]
                if name == 'libmpi' and trial.approach['inject']
                else name
            )
            entry = trial.site['libraries'].get(key)
            host_path = trial.host.add_root(entry['value']) if entry else None
            sonames = [
                injected for injected, facts in trial.injected.items() if facts.path == host_path
            ]
            if sonames:
                yield make_finding(
                    'fails',
                    "the host's %s would not be used: the soname of %s is %s, so ld.so loads the image's "
                    "%s" % (soname, host_path, sonames[0], soname),
                    [(str(host_path), 'DT_SONAME ' + sonames[0])],
                    'use an approach with the library of the image: `osu-container check IMAGE` '
                    'lists the approaches',
                )
            continue
        if program and '/' in library.name and library.name in trial.program.opened_libraries:
            yield make_finding(
                'fails',
                "the host's %s would not be used: mpi4py opens %s by its path"
                % (soname, library.path),
                [(library.facts.path, 'is found first')],
                'remove the library from the Python environment (pip uninstall), or set '
                'MPI4PY_LIBMPI=libmpi.so.12 in the image, so that mpi4py uses the library that '
                'ld.so finds',
            )
            continue
        if INJECT_FOLDER not in path:
            variable = environment.variables.get('LD_LIBRARY_PATH') or environment.default
            if variable and variable.value is None:
                yield make_finding(
                    'unknown',
                    "cannot tell whether the host's %s is used: LD_LIBRARY_PATH is unknown (%s: %s)"
                    % (soname, variable.location, variable.reason),
                    [(variable.location or trial.image.path, 'LD_LIBRARY_PATH')],
                    START_REMEDY,
                )
                continue
            yield make_finding(
                'fails',
                "the host's %s would not be used: the image replaces LD_LIBRARY_PATH after "
                "the module's script has prepended the host's folder (%s)"
                % (soname, variable.location if variable else 'unset'),
                [(variable and variable.location or trial.image.path, 'LD_LIBRARY_PATH')],
                'remove this line, and set LD_LIBRARY_PATH in a script in %s whose name sorts before '
                '%s, such as 90-environment.sh' % posixpath.split(TARGET),
            )
            continue
        preloads = dict(trial.container.preload)
        if library.requester and library.name != soname and library.path not in preloads:
            yield make_finding(
                'fails',
                "the host's %s would not be used: %s needs the name %s, and the module injects the "
                "host's library under the name %s"
                % (soname, format_library(library.requester), library.name, soname),
                [(library.requester.facts.path, 'DT_NEEDED ' + library.name)],
                'run `patchelf --replace-needed %s %s %s` in the recipe of the image'
                % (library.name, soname, library.requester.path),
            )
            continue
        _, why = find_library(
            soname, library.requester, container, path, program, library.facts.machine
        )
        folder = posixpath.dirname(library.path)
        requester, owner_of_rpath = library.requester, None
        # ld.so uses the DT_RPATH of the requesting library, then that of the library's requesters.
        while requester is not None and owner_of_rpath is None:
            owner_of_rpath = (
                requester if requester.facts.rpath or requester.requester is None else None
            )
            requester = requester.requester
        cause = preloads.get(library.path) or why
        if cause not in ('DT_RPATH', 'DT_RUNPATH'):
            names = ['PREPEND_LD_LIBRARY_PATH'] * (cause == 'LD_LIBRARY_PATH') + [cause or '']
            variables = [environment.variables.get(name) for name in names]
            location = next(
                (
                    variable.location
                    for variable in variables
                    if variable and variable.location and folder in (variable.value or folder)
                ),
                cause,
            )
            yield make_finding(
                'fails',
                "the host's %s would not be used: the image %s (%s), which ld.so uses first"
                % (
                    soname,
                    'prepends %s to LD_LIBRARY_PATH' % folder
                    if cause == 'LD_LIBRARY_PATH'
                    else 'preloads %s' % library.path,
                    location,
                ),
                [(location or '', str(cause)), (library.facts.path, 'is found first')],
                'remove %s from %s'
                % (folder if cause == 'LD_LIBRARY_PATH' else library.path, location),
            )
            continue
        owner = owner_of_rpath or library
        yield make_finding(
            'fails',
            "the host's %s would not be used: %s has %s %s, and ld.so finds the image's library in "
            "this folder before it searches LD_LIBRARY_PATH"
            % (soname, owner.facts.path, why, folder),
            [
                (owner.facts.path, '%s %s' % (why, folder)),
                (library.facts.path, 'is found first'),
            ],
            "run `patchelf --set-rpath '%s' %s` in the recipe of the image: patchelf writes "
            'DT_RUNPATH, which ld.so searches after LD_LIBRARY_PATH'
            % (':'.join(owner.facts.rpath), owner.path),
        )


def _list_processes(trial: Trial) -> List[Process]:
    """Return the process of the program and, if there is one, the entrypoint's process."""
    return [trial.process] + (
        [trial.program.entrypoint_process] if trial.program.entrypoint_process else []
    )


def _report_missing(
    trial: Trial, name: str, requester: Optional[LoadedFile], problem: str, remedy: str
) -> Finding:
    return make_finding(
        'fails',
        '%s needs %s, %s'
        % (format_library(requester) if requester else 'the process', name, problem),
        [(requester.facts.path if requester else trial.image.path, 'needs ' + name)],
        remedy,
    )


@rule('missing library', source='ld.so(8)', facts=('host',), needs_process=True)
def missing_library(trial: Trial) -> Iterator[Finding]:
    """
    ld.so finds every needed library.

    Libraries of NVIDIA's driver always come from the host.
    """
    # The rule "mounted over" reports the libraries that a mount hides.
    seen: Set[str] = set(list_hidden_names(trial))
    for name, requester in [
        pair
        for process in _list_processes(trial)
        for pair in process.missing
        if DRIVER_LIBRARY.match(pair[0])
    ]:
        if find_gpu_maker(trial.site) != 'NVIDIA' and name not in seen:
            yield _report_missing(
                trial,
                name,
                requester,
                "a library of NVIDIA's driver, and this site has no NVIDIA GPU",
                'use an image without CUDA, or an image whose MPI opens the driver only when '
                'necessary (Open MPI)',
            )
        seen.add(name)
    if trial.image.is_partial:
        return
    for soname, facts in trial.host_libraries.missing_dependencies:
        seen.add(soname)
        yield make_finding(
            'fails',
            '%s of the host needs %s, which neither the host nor the image has'
            % (facts.path, soname),
            [(facts.path, 'DT_NEEDED ' + soname)],
            'find %s on the host, and add the folder of this library to the key library_folders '
            'of the site' % soname,
        )
    for path, requester in [pair for process in _list_processes(trial) for pair in process.broken]:
        yield make_finding(
            'fails',
            '%s loads %s, which is not a valid library: the file is a text file or is damaged'
            % (format_library(requester) if requester else 'the loader', path),
            [(path, 'not an ELF file')],
            'replace the file by a shared library, because only compilers can read a linker script',
        )
    for name, requester in [pair for process in _list_processes(trial) for pair in process.missing]:
        paths = trial.image.find_files('.*/' + re.escape(name))
        if name not in seen:
            yield _report_missing(
                trial,
                name,
                requester,
                'which ld.so does not find in the container'
                + (', although the image has %s' % paths[0] if paths else ''),
                'run `ldconfig` at the end of the recipe of the image, or add %s to '
                'LD_LIBRARY_PATH in the recipe' % posixpath.dirname(paths[0])
                if paths
                else 'install %s in the image' % name,
            )


@rule(
    'symbol version',
    source='ld.so(8); libfabric.map.in by release: FABRIC_1.7 exists since libfabric 1.20, '
    'FABRIC_1.8 since 2.0, FABRIC_1.9 since 2.5',
    facts=('host',),
    needs_process=True,
)
def check_symbol_versions(trial: Trial) -> Iterator[Finding]:
    """
    The loaded libraries define each symbol version that a library of the process needs.

    Examples are FABRIC_1.7, GLIBC_2.34 and GLIBCXX_3.4.30.
    """
    problems = [
        problem for process in _list_processes(trial) for problem in list_version_problems(process)
    ]
    for library, soname, versions, provider in problems:
        kind = versions[0].split('_')[0]
        # The C library is always the image's.
        remedy = {
            'FABRIC': 'use an approach with the libfabric of the image, or an image whose MPI was '
            "built with the host's libfabric or an older libfabric"
            if provider.origin == 'host'
            else "use an approach that injects the host's libfabric if the host's libfabric is "
            "newer, or an image whose MPI was built with the image's libfabric",
            'GLIBC': 'use an image of a distribution at least as new as the host'
            if library.origin == 'host'
            else 'rebuild the image, because its libraries do not fit each other',
        }.get(
            kind,
            'use an image with a newer %s, or an approach that injects fewer host '
            'libraries' % soname,
        )
        newest = find_last_version(provider.facts.verdef, versions[0])
        yield make_finding(
            'fails',
            '%s needs %s of %s, but the newest version in %s is %s'
            % (
                format_library(library),
                ', '.join(sort_versions(versions)),
                soname,
                format_library(provider),
                newest,
            ),
            [
                (library.facts.path, 'needs ' + ', '.join(sort_versions(versions))),
                (provider.facts.path, 'defines up to ' + newest),
            ],
            remedy,
        )


@rule(
    'undefined symbol',
    source='ld.so(8), lazy binding; Python, sys.setdlopenflags(): RTLD_NOW',
    facts=('host',),
    needs_process=True,
)
def undefined_symbol(trial: Trial) -> Iterator[Finding]:
    """Each symbol that a library of the process needs is defined by a library of the process."""
    if trial.image.is_partial or trial.process.missing or trial.process.broken:
        return
    if may_offer_unknown_symbols(trial):
        return  # The rule 'facts of the host' reports this.
    bind_now = resolve_process_variable(trial.environment, 'LD_BIND_NOW')
    reported = {library.facts.path for library, _, _, _ in list_version_problems(trial.process)}
    by_library: Dict[str, Tuple[LoadedFile, List[Tuple[str, bool]]]] = OrderedDict()
    for library, symbol, immediate in list_undefined_symbols(trial.process):
        if library.facts.path not in reported:
            by_library.setdefault(library.path, (library, []))[1].append((symbol, immediate))
    for library, symbols in by_library.values():
        is_immediate = bind_now or any(immediate for _, immediate in symbols)
        names = [symbol for symbol, _ in symbols]
        listed = shorten_names(names)
        yield make_finding(
            'fails' if is_immediate else 'unknown',
            '%s needs %s, which no library of the process defines%s'
            % (
                format_library(library),
                listed,
                '' if is_immediate else ': a call of this symbol terminates the program',
            ),
            [(library.facts.path, 'undefined ' + listed)],
            'use another release of the library that should define the symbol; if this library is '
            'an MPI, use approach %s'
            % (
                'pure, which loads the MPI of the image'
                if 'libmpi' in trial.approach['comes_from']
                and trial.approach['comes_from']['libmpi'] == 'host'
                else "bind, which loads the host's MPI"
            ),
        )


def _predict_process(trial: Trial, listing: Optional[Listing]) -> Tuple[Container, Process]:
    """
    Return the predicted (Container, Process), without libraries opened at run time.

    listing: the loader's list, whose paths the prediction follows, or None.
    """
    names = map_opened_names(trial.approach, trial.site, trial.host, trial.injected)
    container = Container(trial.image, names, {}, trial.container.mounts)
    container.follow_listing(listing)
    return container, simulate_load(
        trial.program.load_roots, container, trial.container.library_path
    )


def list_differences(trial: Trial, listing: Listing, follows: bool) -> List[Tuple[str, str]]:
    """
    Return the differences between the loader's list and the prediction.

    A difference is a pair of texts: the entry in the loader's list, and the prediction. follows:
    whether the prediction uses the paths of the loader's list.
    """
    container, process = _predict_process(trial, listing if follows else None)
    if listing.problem:
        problems = (
            process.broken
            or process.missing
            or list_version_problems(process)
            or list_undefined_symbols(process)
        )
        return (
            []
            if problems or trial.environment.exit_point
            else [(listing.problem, 'everything loads')]
        )
    if process.broken:
        return [('all libraries are listed', '%s is not a valid library' % process.broken[0][0])]

    def real(path: str, origin: Optional[str] = None) -> str:
        # An entrypoint links the host's libraries to other paths.
        if trial.approach.get('entrypoint'):
            return (
                'the host'
                if origin == 'host' or not trial.image.exists(path)
                else container.resolve(path) or path
            )
        return container.resolve(path) or path if container.exists(path) else path

    interpreter = find_loader_path(trial) or ''
    loader = {interpreter, trial.image.resolve(interpreter)}
    theirs = {real(path): '%s => %s' % (name, path) for name, path in listing.libraries.items()}
    ours = {
        real(library.path, library.origin): '%s => %s' % (library.name, library.path)
        for library in process.loaded[1:]
    }
    missing = set(name for name, _ in process.missing)
    lists = [
        (listing.missing_libraries, missing, '%s => not found', '%s is found'),
        (
            listing.missing_versions,
            set(name for _, _, names, _ in list_version_problems(process) for name in names),
            'version %s is missing',
            'version %s is defined',
        ),
    ]
    # Undefined symbols follow from missing libraries and versions.
    if not any(listed or predicted for listed, predicted, _, _ in lists):
        lists.append(
            (
                listing.undefined_symbols,
                set(symbol.partition('@')[0] for _, symbol, _ in list_undefined_symbols(process)),
                'undefined symbol: %s',
                'symbol %s is defined',
            )
        )
    differences = []
    for listed, predicted, problem, fine in lists:
        differences += [
            (problem % name, fine % name)
            for name in sorted(listed - predicted)
            if not DRIVER_LIBRARY.match(name)
        ]
        differences += [
            (fine % name, problem % name)
            for name in sorted(predicted - listed)
            if not DRIVER_LIBRARY.match(name)
        ]
    differences += [
        (theirs[path], 'another file')
        for path in sorted(set(theirs) - set(ours) - loader)
        if path != real(process.loaded[0].path) and not DRIVER_LIBRARY.match(theirs[path])
    ]
    return differences or [
        ('another file', ours[path]) for path in sorted(set(ours) - set(theirs) - loader)
    ]


@rule(
    'dry run',
    source='ld.so(8), LD_TRACE_LOADED_OBJECTS, LD_WARN, LD_BIND_NOW; elf/rtld.c of glibc 2.36',
    facts=(),
)
def check_dry_run(trial: Trial) -> Iterator[Finding]:
    """
    The image's loader lists the predicted libraries (--dry-run).

    The loader cannot list libraries that scripts or Python load, or libraries that a program opens
    at run time.
    """
    listing = trial.listing
    if listing is None:
        return
    if listing.problem and not listing.is_conclusive:
        yield make_finding(NOTE, 'the dry run is not possible: %s' % listing.problem)
        return
    program = (
        trial.program.path
        or '%s alone, because check knows no program whose libraries the loader can list'
        % trial.soname
    )
    program += (
        ', without the libraries that the program opens at run time'
        if trial.program.opened_libraries
        else ''
    )
    if listing.python_problem:
        yield make_finding(
            'fails',
            'the Python of the image cannot import what the program imports: %s'
            % listing.python_problem,
            [(trial.image.path, listing.python_problem)],
            'install the missing module for this Python, or start the program with the Python '
            'that has mpi4py',
        )
    differences = list_differences(trial, listing, True)
    if not differences:
        corrected = list_differences(trial, listing, False)
        yield make_finding(
            NOTE,
            "the image's loader fails as predicted: %s" % listing.problem
            if listing.problem
            else "the image's loader finds another file than the search in the image: %s (instead "
            'of: %s); the verdict follows the loader' % corrected[0]
            if corrected
            else "the image's loader confirms the prediction for %s (%d libraries, %.1f s)"
            % (program, len(listing.libraries), listing.seconds),
        )
        return
    more = '; and %d more' % (len(differences) - 1) if len(differences) > 1 else ''
    is_certain = listing.is_trusted and listing.environment is not None
    is_fatal = bool(listing.problem or listing.missing_versions)
    yield make_finding(
        'fails' if is_certain and is_fatal else 'unknown',
        "the image's loader contradicts the prediction for %s: %s (predicted: %s)%s"
        % ((program,) + differences[0] + (more,)),
        [(trial.image.path, listed) for listed, _ in differences[:5]],
        START_REMEDY,
    )
