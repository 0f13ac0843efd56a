"""Provide functions that several rules use, on MPI, network, GPUs and host libraries."""

import posixpath
import re
from typing import Any, Dict, Iterable, List, Optional, Sequence, Set, Tuple

from osu_container.image.closure import GLIBC_SONAMES
from osu_container.image.environment import (
    SCRIPTS_FOLDER,
)
from osu_container.image.loader import LoadedFile, find_loaded_file
from osu_container.verdict import launching
from osu_container.verdict.layers import (
    find_provider,
    split_provider,
)
from osu_container.verdict.rules.finding import Remedy
from osu_container.verdict.settings import select_pmi
from osu_container.verdict.site_choice import collect_site_conditions, parse_release
from osu_container.verdict.trial import Change, CoveringMount, Trial, find_mount


def format_library(library: Optional[LoadedFile]) -> str:
    """Return a library's path as text for messages: 'image:/path' or '/path of the host'."""
    if library is None:  # Nothing in the process requests the program and the preloaded libraries.
        return 'the program'
    path: str = library.facts.path
    return path if path.startswith('image:') else '%s of the host' % path


def format_library_name(library: LoadedFile) -> str:
    """Return the owner and the soname of a library, such as "the host's libfabric.so.1"."""
    return "the %s's %s" % (
        library.origin,
        library.facts.soname or posixpath.basename(library.path),
    )


def shorten_names(names: Sequence[str]) -> str:
    """Return the names as text: at most five names, followed by ' and 3 more' for the others."""
    return ', '.join(names[:5]) + (' and %d more' % (len(names) - 5) if len(names) > 5 else '')


def sort_versions(versions: Iterable[str]) -> List[str]:
    """Return names of symbol versions in numerical order: GLIBC_2.9 before GLIBC_2.34."""
    return sorted(
        versions,
        key=lambda name: [int(part) if part.isdigit() else -1 for part in re.split(r'[._]', name)],
    )


def find_last_version(verdef: Iterable[str], like: str) -> str:
    """Return the newest version in `verdef` with the prefix of `like`, e.g. GLIBC_, or 'none'."""
    kind = like.split('_')[0] + '_'
    names = [name for name in verdef if name.startswith(kind) and name[-1].isdigit()]
    return (sort_versions(names) or ['none'])[-1]


def format_version_problem(problem: Tuple[LoadedFile, str, List[str], LoadedFile]) -> str:
    """Return one item of the result of list_version_problems() as a sentence."""
    library, soname, versions, provider = problem
    return '%s needs %s of %s, but the newest version in %s is %s' % (
        format_library(library),
        ', '.join(sort_versions(versions)),
        soname,
        format_library(provider),
        find_last_version(provider.facts.verdef, versions[0]),
    )


def find_mpi_path(trial: Trial) -> str:
    """Return the path of the MPI that the program loads; if no MPI is loaded, the soname."""
    return trial.libmpi.facts.path if trial.libmpi else trial.soname


def may_open_libfabric(trial: Trial) -> bool:
    """
    Return whether MPI may still open libfabric, which the observed process has not opened.

    Intel MPI opens libfabric with dlopen(), and only if the ranks are on several nodes.
    """
    return (
        trial.started is not None
        and trial.started.libfabric is None
        and len(trial.started.libmpi) == 1
        and 'libfabric.so.1' in (trial.mpi.get('opens') or ())
    )


def find_image_libcxi(trial: Trial) -> Optional[LoadedFile]:
    """Return the image's libcxi if the program uses this library, else None."""
    library = find_loaded_file(trial.process, 'libcxi.so.1')
    if (
        library
        and library.origin == 'image'
        and 'cxi' in split_provider(find_provider(trial) or '')
    ):
        return library
    return None


def remove_words(trial: Trial, remedy: str, location: Optional[str], words: str = '') -> Remedy:
    """
    Return the remedy to remove `words` from a text file of the image, as a Change.

    location: 'FILE:LINE', or the path of a file; then `words` are removed from every line. If
    `words` is empty, the remedy removes the whole line. If the file does not contain the words, the
    result is the text `remedy`.
    """
    place = re.match(r'(?:image:)?(/[^:]*)(?::(\d+))?$', location or '')
    if not place or not (words or place.group(2)) or not trial.image.exists(place.group(1)):
        return remedy
    lines = (trial.image.read_text(place.group(1)) or '').splitlines(True)
    end = int(place.group(2) or len(lines))
    start = end - 1 if place.group(2) else 0
    changed = [line.replace(words, '') if words else '' for line in lines[start:end]]
    return (
        Change(remedy, texts={place.group(1): ''.join(lines[:start] + changed + lines[end:])})
        if changed != lines[start:end]
        else remedy
    )


def set_variable(remedy: str, assignment: str) -> Change:
    """Return the remedy to set a variable after the scripts of the image: 'NAME=VALUE'."""
    # The runtime sets variables APPTAINERENV_* after 99-base.sh.
    return Change(remedy, texts={SCRIPTS_FOLDER + '/99-base~.sh': 'export %s\n' % assignment})


def find_mpi_series(trial: Trial) -> Optional[Tuple[str, str]]:
    """Return (family, 'major.minor') of the MPI that the program loads, None if unknown."""
    numbers = parse_release(trial.mpi.get('release'))
    if trial.mpi.get('family') and len(numbers) > 1:
        return trial.mpi['family'], '%d.%d' % numbers[:2]
    return None


def find_gpu_maker(site: Dict[str, Any]) -> Optional[str]:
    """Return the vendor of a site's GPUs: 'AMD' or 'NVIDIA', None for a site without GPUs."""
    conditions = collect_site_conditions(site)
    return None if not conditions['gpu'] else 'NVIDIA' if conditions['cuda'] else 'AMD'


def list_called_functions(trial: Trial) -> Set[str]:
    """
    Return the names of the functions that the program and the image's libraries call.

    The result omits calls by mpi4py.
    """
    return {
        name.partition('@')[0]
        for library in trial.process.loaded
        if library.origin == 'image' and '/mpi4py/' not in library.name
        for name in library.facts.undefined
    }


def list_hidden_names(trial: Trial) -> Dict[str, Tuple[str, CoveringMount]]:
    """
    Return {name: (path in the image, mount)} of the files that a mount hides from the program.

    Each name is a started file, or a library that ld.so does not find.
    """
    paths = [path for path, _ in trial.launched.scripts] + [
        trial.launched.program,
        *trial.launched.words[:1],
    ]
    candidates = [(path, path) for path in paths if path]
    for name, _ in trial.process.missing:
        inside = [name] if '/' in name else trial.image.find_files('.*/' + re.escape(name))
        candidates += [(name, path) for path in inside if trial.image.exists(path)]
    # The mount may hide the path, or the file to which a link at the path leads.
    places = [
        (name, place)
        for name, path in candidates
        for place in (trial.image.resolve(path) or path, path)
    ]
    hidden = [(name, place, find_mount(trial.mounts, place)) for name, place in places]
    return {name: (place, mount) for name, place, mount in hidden if mount}


def list_process_host_libraries(trial: Trial) -> List[LoadedFile]:
    """Return the host libraries that the program or RCCL's plugin loads."""
    libraries = [library for library in trial.process.loaded if library.origin == 'host']
    paths = [library.path for library in libraries]
    plugin_files = trial.rccl_plugin[1].loaded if trial.rccl_plugin else []
    return libraries + [
        library
        for library in plugin_files
        if library.origin == 'host' and library.path not in paths
    ]


def may_offer_unknown_symbols(trial: Trial) -> bool:
    """Return whether the program loads a host library with an unknown set of defined symbols."""
    return any(
        'defined' in trial.host.list_unknown_facts(library.facts.path)
        for library in list_process_host_libraries(trial)
    )


def has_sufficient_glibc(trial: Trial) -> Optional[bool]:
    """Return whether the loaded glibc is at least as new as the host's glibc, None if unknown."""
    release = getattr(trial.host, 'glibc', None)
    libc = find_loaded_file(trial.process, 'libc.so.6')
    versions = [name for name in libc.facts.verdef if name[:7] == 'GLIBC_2'] if libc else []
    if not release or not versions:
        return None
    return sort_versions(versions + ['GLIBC_' + release])[-1] in versions


def list_glibc_dependents(trial: Trial) -> List[LoadedFile]:
    """
    Return the host libraries that need unknown symbol versions of glibc.

    The newest version that these libraries can require is the newest version of the host's glibc.
    """
    return [
        library
        for library in list_process_host_libraries(trial)
        if trial.host.is_partial
        and {'verneed', 'verneed of libc.so.6'}
        & set(trial.host.list_unknown_facts(library.facts.path))
        and set(library.facts.needed) & GLIBC_SONAMES
    ]


def find_required_pmi(trial: Trial) -> str:
    """Return the PMI protocol by which the site starts the MPI: 'pmi2', 'pmix' or 'pmi1'."""
    return launching.resolve_pmi_protocol(
        launching.select_launcher(trial.site), select_pmi(trial.approach, trial.site)
    )


def format_site_pmi(trial: Trial) -> str:
    """Return the site's launcher and PMI for the approach as text, e.g. 'srun --mpi=pmi2'."""
    return launching.format_site_pmi(trial.site, select_pmi(trial.approach, trial.site))
