"""
Rules on ld.so: missing libraries, symbol versions, symbols, and the order of libraries.
"""

import posixpath
import re
from posixpath import basename, dirname
from typing import Any, Dict, Iterator, List, Tuple

from osu_container.base.shell import quote
from osu_container.image.environment import resolve_process_variable
from osu_container.image.loader import (
    LoadedFile,
    Process,
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
    OTHER_APPROACHES,
    START_REMEDY,
    Finding,
    Remedy,
    make_finding,
    report_problem,
    rule,
)
from osu_container.verdict.rules.questions import (
    find_gpu_maker,
    find_last_version,
    format_library,
    format_version_problem,
    list_hidden_names,
    may_offer_unknown_symbols,
    remove_words,
    set_variable,
    shorten_names,
    sort_versions,
)
from osu_container.verdict.trial import (
    DRIVER_LIBRARY,
    Change,
    Trial,
    make_container,
)


@rule('static program', source='ld.so(8)', superseded='of MPI')
def static_program(trial: Trial) -> Iterator[Finding]:
    """
    Check that the program is linked dynamically.

    No host library can replace the MPI in a statically linked program. A static program without MPI
    probably starts another program, and `check` cannot tell which program.
    """
    path = trial.program
    if not trial.is_static or not path:
        return
    if not has_static_mpi(trial.image, path):
        yield report_problem(
            'unknown',
            'cannot tell which program %s starts: this launcher is linked statically and contains '
            'no MPI' % path,
            'image:' + path,
            'no MPI_Init',
            START_REMEDY,
        )
    else:
        yield report_problem(
            'fails' if trial.approach['inject'] else NOTE,
            '%s is linked statically, so no library of the host can replace the MPI in the program'
            % path,
            'image:' + path,
            'no dynamic section',
            Change('', ['pure', 'opensource']),
            'link the program dynamically',
        )


@rule(
    'injection defeated',
    source='ld.so(8); DeiC-HPC/cotainr, example mpi4py on LUMI',
    facts=('host',),
    needs_process=True,
    superseded='of MPI and libfabric',
)
def injection_defeated(trial: Trial) -> Iterator[Finding]:
    """
    Check that ld.so finds the injected libraries of the host before the libraries of the image.

    ld.so searches DT_RPATH before LD_LIBRARY_PATH, and DT_RUNPATH after LD_LIBRARY_PATH.
    """
    for name, owner in sorted(trial.approach['comes_from'].items()):
        soname = trial.soname if name == 'libmpi' else 'libfabric.so.1'
        library = find_loaded_file(trial.process, soname)
        if owner != 'host' or library is None or library.origin == 'host':
            continue
        if soname in trial.injected:
            cause, evidence, *remedies = _explain_defeat(trial, soname, library)
        elif trial.missing_paths:
            continue  # The rule "host path missing" reports this.
        else:
            cause = 'the module injects only %s' % ', '.join(sorted(trial.injected))
            evidence = [('site ' + trial.site['name'], 'no library with the soname ' + soname)]
            remedies = [
                'correct the paths in the site file: `osu-container discover` prints the paths of '
                'the libraries'
            ]
        is_unknown = remedies[0] == START_REMEDY
        yield make_finding(
            'unknown' if is_unknown else 'fails',
            (
                "cannot tell whether the host's %s is used: %s"
                if is_unknown
                else "the host's %s would not be used: %s"
            )
            % (soname, cause),
            evidence + [(library.facts.path, 'is found first')],
            *remedies,
        )


def _explain_defeat(trial: Trial, soname: str, library: LoadedFile) -> Tuple[Any, ...]:
    """
    Return (cause, evidence, remedy, ...) if ld.so loads a library of the image.

    The approach expects the host's library in place of the image's library.

    evidence: list of (file, content of the file). The remedies are alternatives. If the cause is
    uncertain, the remedy is START_REMEDY.
    """
    requester = library.requester
    if '/' in library.name and library.name in trial.opened_libraries:
        return (
            'mpi4py opens the library of the image by the path %s' % library.path,
            [],
            'remove %s from the Python environment (pip uninstall)' % library.path,
            set_variable(
                'set MPI4PY_LIBMPI=%s in the image, so that mpi4py uses the library that ld.so finds'
                % soname,
                'MPI4PY_LIBMPI=' + soname,
            ),
        )
    cause = trial.preload.get(library.path)
    if cause:
        variable = trial.environment.variables.get(cause)
        location = variable and variable.location or cause
        return (
            'the image preloads %s (%s)' % (library.path, location),
            [(location, cause)],
            remove_words(
                trial, 'remove %s from %s' % (library.path, location), location, library.path
            ),
        )
    variable = trial.environment.variables.get('LD_LIBRARY_PATH') or trial.environment.default
    location = variable and variable.location or trial.image.path
    evidence = [(location, 'LD_LIBRARY_PATH')]
    if INJECT_FOLDER not in trial.library_path:
        if variable and variable.value is None:
            return (
                'LD_LIBRARY_PATH is unknown (%s: %s)' % (location, variable.reason),
                evidence,
                START_REMEDY,
            )
        move = remove_words(
            trial,
            'move the line that sets LD_LIBRARY_PATH to a script in %s, and give the script a name '
            'that sorts before %s, such as 90-environment.sh' % posixpath.split(TARGET),
            location,
        )
        if isinstance(move, Change) and variable:
            move = move._replace(
                texts={
                    **set_variable('', 'LD_LIBRARY_PATH=' + quote(variable.value or '')).texts,
                    **move.texts,
                }
            )
        return (
            "the image replaces LD_LIBRARY_PATH after the module's script has prepended the host's "
            'folder (%s)' % (location if variable else 'unset'),
            evidence,
            move,
        )
    if requester and library.name != soname:
        return (
            "%s needs the soname %s, but the module injects the host's library as soname %s"
            % (format_library(requester), library.name, soname),
            [(requester.facts.path, 'DT_NEEDED ' + library.name)],
            Change(
                'run `patchelf --replace-needed %s %s %s` in the recipe of the image'
                % (library.name, soname, requester.path),
                files={
                    requester.path: requester.facts._replace(
                        needed=[
                            soname if name == library.name else name
                            for name in requester.facts.needed
                        ]
                    )
                },
            ),
        )
    folder, owner = dirname(library.path), requester
    first = tuple(
        name.rstrip('/') + '/'
        for name in trial.library_path[: trial.library_path.index(INJECT_FOLDER)]
    )
    if owner is None or library.path.startswith(first):
        return (
            'the image prepends %s to LD_LIBRARY_PATH (%s), which ld.so searches first'
            % (folder, location),
            evidence,
            remove_words(trial, 'remove %s from %s' % (folder, location), location, folder),
        )
    # ld.so uses the DT_RPATH of the requesting library, then that of the library's requesters.
    while owner.requester and not owner.facts.rpath:
        owner = owner.requester
    return (
        '%s has DT_RPATH %s, and ld.so searches the folders in DT_RPATH before LD_LIBRARY_PATH'
        % (owner.facts.path, folder),
        [(owner.facts.path, 'DT_RPATH ' + folder)],
        Change(
            "run `patchelf --set-rpath '%s' %s` in the recipe of the image: patchelf writes "
            'DT_RUNPATH, which ld.so searches after LD_LIBRARY_PATH'
            % (':'.join(owner.facts.rpath), owner.path),
            files={owner.path: owner.facts._replace(rpath=[], runpath=owner.facts.rpath)},
        ),
    )


def _list_processes(trial: Trial) -> List[Process]:
    """Return the process of the program and, if there is one, the entrypoint's process."""
    return list(filter(None, [trial.process, trial.entrypoint_process]))


@rule(
    'missing library',
    source='ld.so(8)',
    facts=('host',),
    needs_process=True,
    superseded='of MPI and libfabric',
)
def missing_library(trial: Trial) -> Iterator[Finding]:
    """
    Check that ld.so finds every needed library.

    Libraries of NVIDIA's driver always come from the host.
    """
    processes = _list_processes(trial)
    for soname, facts in [] if trial.image.is_partial else trial.missing_dependencies:
        yield report_problem(
            'fails',
            '%s of the host needs %s, which is missing on the host and in the image'
            % (facts.path, soname),
            facts.path,
            'DT_NEEDED ' + soname,
            'find %s on the host, and add the folder of this library to the key library_folders '
            'of the site' % soname,
        )
    for path, requester in [pair for process in processes for pair in process.broken]:
        yield report_problem(
            'fails',
            '%s loads %s, which is not a valid library: the file is a text file or is damaged'
            % (format_library(requester), path),
            path,
            'not an ELF file',
            'replace the file by a shared library; if the file is a linker script, only compilers '
            'can read the file',
        )
    # The rule "mounted over" reports the libraries that a mount hides.
    reported = [*list_hidden_names(trial), *dict(trial.missing_dependencies)]
    for name, requester in [pair for process in processes for pair in process.missing]:
        is_driver, paths = (
            DRIVER_LIBRARY.match(name),
            trial.image.find_files('.*/' + re.escape(name)),
        )
        if is_driver and find_gpu_maker(trial.site) == 'NVIDIA':
            continue
        if name in reported or trial.image.is_partial and not is_driver:
            continue
        problem = 'but ld.so does not find this library in the container'
        remedies: List[Remedy] = ['install %s in the image' % name]
        if is_driver:
            problem = "a library of NVIDIA's driver, and this site has no NVIDIA GPU"
            remedies = [
                'use an image without CUDA, or an image whose MPI opens the driver only when '
                'necessary (Open MPI)'
            ]
        elif paths:
            problem += ', although the image has ' + paths[0]
            folder = dirname(paths[0])
            remedies = [
                'run `echo %s >> /etc/ld.so.conf; ldconfig` at the end of the recipe of the image'
                % folder,
                set_variable(
                    'add %s to LD_LIBRARY_PATH in the recipe' % folder,
                    'LD_LIBRARY_PATH="$LD_LIBRARY_PATH:%s"' % folder,
                ),
            ]
        yield report_problem(
            'fails',
            '%s needs %s, %s' % (format_library(requester), name, problem),
            requester.facts.path if requester else trial.image.path,
            'needs ' + name,
            *remedies,
        )


@rule(
    'symbol version',
    source='ld.so(8); libfabric.map.in by release: FABRIC_1.7 exists since libfabric 1.20, '
    'FABRIC_1.8 since 2.0, FABRIC_1.9 since 2.5',
    facts=('host',),
    needs_process=True,
    superseded='of MPI and libfabric',
)
def check_symbol_versions(trial: Trial) -> Iterator[Finding]:
    """
    Check that the libraries of a process define each symbol version that a library needs.

    Examples are FABRIC_1.7, GLIBC_2.34 and GLIBCXX_3.4.30.
    """
    for problem in [
        problem for process in _list_processes(trial) for problem in list_version_problems(process)
    ]:
        library, soname, versions, provider = problem
        remedy = 'use an image with a newer %s' % soname
        if provider.origin == 'host':
            remedy = (
                "use an image whose libraries were built with the host's release of %s or an older "
                'release' % soname
            )
        elif library.origin == 'image':
            remedy = (
                'rebuild the image, because the libraries of the image are not compatible with '
                'each other'
            )
        yield make_finding(
            'fails',
            format_version_problem(problem),
            [
                (library.facts.path, 'needs ' + ', '.join(sort_versions(versions))),
                (
                    provider.facts.path,
                    'defines up to ' + find_last_version(provider.facts.verdef, versions[0]),
                ),
            ],
            OTHER_APPROACHES,
            remedy,
        )


@rule(
    'undefined symbol',
    source='ld.so(8), lazy binding; Python, sys.setdlopenflags(): RTLD_NOW',
    facts=('host',),
    needs_process=True,
)
def undefined_symbol(trial: Trial) -> Iterator[Finding]:
    """
    Check that the libraries of a process define each symbol that a library needs.
    """
    if trial.image.is_partial or trial.process.missing or trial.process.broken:
        return
    if may_offer_unknown_symbols(trial):
        return  # The rule 'facts of the host' reports this.
    reported = {library.facts.path for library, _, _, _ in list_version_problems(trial.process)}
    by_library: Dict[str, Tuple[LoadedFile, List[Tuple[str, bool]]]] = {}
    for library, symbol, immediate in list_undefined_symbols(trial.process):
        if library.facts.path not in reported:
            by_library.setdefault(library.path, (library, []))[1].append((symbol, immediate))
    for library, symbols in by_library.values():
        is_immediate = resolve_process_variable(trial.environment, 'LD_BIND_NOW') or any(
            immediate for _, immediate in symbols
        )
        listed = shorten_names([symbol for symbol, _ in symbols])
        yield report_problem(
            'fails' if is_immediate else 'unknown',
            '%s needs %s, which no library of the process defines%s'
            % (
                format_library(library),
                listed,
                '' if is_immediate else ': a call of this symbol terminates the program',
            ),
            library,
            'undefined ' + listed,
            'use another release of the library that should define the symbol',
            OTHER_APPROACHES,
        )


def list_differences(trial: Trial, listing: Listing) -> List[str]:
    """
    Compare the loader's list with the prediction, and return the differences as texts.

    The differences are files that are only in the loader's list, and problems that only the list or
    only the prediction contains. The prediction follows the paths in the loader's list, and leaves
    out libraries opened at run time.
    """
    container = make_container(trial)
    container.follow_listing(listing)
    process = simulate_load(trial.load_roots, container, trial.library_path)
    complaints = {name for name, _ in process.missing}.union(
        name for _, _, names, _ in list_version_problems(process) for name in names
    ) or {symbol.partition('@')[0] for _, symbol, _ in list_undefined_symbols(process)}
    if listing.problem:
        return (
            []
            if (process.broken or complaints or trial.environment.exit_point)
            else [listing.problem]
        )
    if process.broken:
        return ['%s is not a valid library' % process.broken[0][0]]

    def resolve(path: str) -> str:
        return container.resolve(path) or path if container.exists(path) else path

    predicted = [find_loader_path(trial) or '', *(library.path for library in process.loaded)]
    differences = {name + ' is missing' for name in listing.complaints ^ complaints}
    differences |= set(map(resolve, listing.libraries.values())) - set(map(resolve, predicted))
    return sorted(text for text in differences if not DRIVER_LIBRARY.match(basename(text)))


@rule(
    'dry run',
    source='ld.so(8), LD_TRACE_LOADED_OBJECTS, LD_WARN, LD_BIND_NOW; elf/rtld.c of glibc 2.36',
    superseded='of MPI',
)
def check_dry_run(trial: Trial) -> Iterator[Finding]:
    """
    Check that the image's loader lists the predicted libraries (`osu-container check --dry-run`).

    The loader cannot list libraries that scripts or Python load, or libraries that a program opens
    at run time.
    """
    listing = trial.listing
    if listing is None:
        return
    if listing.problem and not listing.is_conclusive:
        yield make_finding(NOTE, 'the dry run is not possible: %s' % listing.problem)
        return
    program = trial.program or trial.soname + ' alone, because check knows no program'
    if listing.python_problem:
        yield report_problem(
            'fails',
            'the Python of the image cannot import a module that the program imports: %s'
            % listing.python_problem,
            trial.image.path,
            listing.python_problem,
            'install the missing module for this Python, or start the program with the Python '
            'that has mpi4py',
        )
    differences = list_differences(trial, listing)
    if not differences:
        yield make_finding(
            NOTE,
            "the image's loader fails as predicted: %s" % listing.problem
            if listing.problem
            else "the verdict uses the %d libraries that the image's loader lists for %s"
            % (len(listing.libraries), program),
        )
        return
    is_fatal = listing.problem and listing.is_trusted and listing.environment
    yield make_finding(
        'fails' if is_fatal else 'unknown',
        "the libraries that the image's loader lists for %s differ from the prediction: %s"
        % (program, shorten_names(differences)),
        [(trial.image.path, text) for text in differences[:5]],
        START_REMEDY,
    )
