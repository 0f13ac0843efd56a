"""
Predict which libraries a process loads, for an approach with an image on a site.

The prediction runs no program. build_trial() returns the Trial that the rules of the verdict
(rules/) inspect. A Trial has the libraries that the approach injects from the host, and the file
that ld.so loads for each name. Image and host are objects, so that the same rules judge files
(Image, HostFileSystem) and systems that are known from published data only (DescribedImage,
DescribedHost).
"""

import contextlib
import os
import platform
import posixpath
import pwd
import re
from posixpath import basename, dirname
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Collection,
    Dict,
    Iterable,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from osu_container.base.files import read_plain_file
from osu_container.image.closure import collect_dependencies
from osu_container.image.elf import MACHINE_NAMES, ElfError, ElfFacts, read_elf
from osu_container.image.environment import (
    SCRIPTS_FOLDER,
    Environment,
    LaunchedProgram,
    Variable,
    evaluate_environment,
    find_program,
    find_unknown_path,
    get_exported_value,
    merge_observed_environment,
    parse_folder_list,
    resolve_program,
    split_command,
)
from osu_container.image.image import MPI_FAMILIES, Image
from osu_container.image.loader import (
    LoadedFile,
    Process,
    find_library,
    find_loaded_file,
    list_undefined_symbols,
    list_version_problems,
    simulate_load,
)
from osu_container.image.mpi4py import (
    find_opened_libraries,
    read_python_program,
)
from osu_container.image.sif import ImageError
from osu_container.image.system import read_cache
from osu_container.image.traits import (
    PLUGIN,
    PROVIDERS,
    find_provider_release,
    parse_provider_name,
    read_fabric_traits,
    read_mpi_traits,
)
from osu_container.verdict.injection import FOLDER as INJECT_FOLDER
from osu_container.verdict.injection import TARGET, render_injection
from osu_container.verdict.settings import (
    MORE_FOLDERS,
    WRAPPER,
    collect_module_variables,
    list_host_libraries,
    list_injected_folders,
    list_mpi_families,
    list_site_files,
    select_host_mpi,
)
from osu_container.verdict.started import Start, StartedProcess, read_loaded_process

if TYPE_CHECKING:  # dry_run imports this module
    from osu_container.verdict.dry_run import Listing

#: The host of a trial: HostFileSystem, or DescribedHost (discover/host_facts.py) with the same
#: methods. The types are Any because Python 3.6 has no Protocol.
Host = Any
#: The image of a trial: Image, or DescribedImage (check/described.py) with the same methods
AnyImage = Any


class Change(NamedTuple):
    """
    A remedy that `check` can apply to a copy of the trial, to judge the image again.

    A remedy that `check` cannot apply is a str: see Remedy in rules/finding.py.
    """

    text: str  #: the remedy for the user; with `approaches`, the words after 'use approach NAME'
    approaches: Sequence[str] = ()  #: other approaches, of which the user can choose one
    exports: Mapping[str, str] = {}  #: variables that the user exports before the launcher
    removed: Collection[str] = ()  #: variables that no script of the image sets any more
    texts: Mapping[str, str] = {}  #: {path: new text} of text files of the image
    files: Mapping[str, ElfFacts] = {}  #: {path: new facts} of programs and libraries of the image
    #: beginning of CoveringMount.remedy for the mounts that the user removes
    unmounted: Optional[str] = None


class ChangedImage:
    """An image as a Change would make the image. The files of the image stay unchanged."""

    def __init__(self, image: AnyImage, change: Change) -> None:
        self.image, self.change = image, change
        self.files = {image.resolve(path): facts for path, facts in change.files.items()}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.image, name)

    def read_text(self, path: str) -> Optional[str]:
        return self.change.texts[path] if path in self.change.texts else self.image.read_text(path)

    def read_elf_files(self, paths: Iterable[str]) -> Dict[str, ElfFacts]:
        facts: Dict[str, ElfFacts] = self.image.read_elf_files(paths)
        return {path: self.files.get(self.image.resolve(path), elf) for path, elf in facts.items()}

    def evaluate_environment(self, bound_texts: Iterable[Any] = ()) -> Environment:
        if not self.change.texts:
            environment: Environment = self.image.evaluate_environment(bound_texts)
            return environment
        return evaluate_environment(self, {**self.change.texts, **dict(bound_texts)})


#: File names of plug-ins of Open MPI and PMIx
PLUGIN_OF_MPI = r'(pmix_)?mca_\w+\.so$'


class HostFileSystem:
    """The files of this host, or of a folder that stands in for the host's /."""

    is_partial = False

    def __init__(self, root: str = '') -> None:
        self.root = root.rstrip('/')
        self._elf_facts: Dict[str, ElfFacts] = {}
        self._traits: Dict[str, Dict[str, Any]] = {}
        self._caches: Dict[str, Dict[str, str]] = {}

    def add_root(self, path: str) -> str:
        """Return the path below the root folder; all other methods expect paths with this root."""
        return self.root + path

    def exists(self, path: str) -> bool:
        """Return whether the path leads to a file or folder."""
        return os.path.exists(path)

    def is_file(self, path: str) -> bool:
        """Return whether the path leads to a file."""
        return os.path.isfile(path)

    def is_described(self, path: str) -> bool:
        """Return True, because `check` can look up any path on a real host."""
        return True

    def is_known_absent(self, name: str) -> bool:
        """Return True, because a library that `check` cannot find on a real host is absent."""
        return True

    def list_unknown_facts(self, path: str) -> Iterable[str]:
        """Return an empty tuple, because `check` can read all facts from the files of this host."""
        return ()

    def list_untested_facts(self, path: str) -> List[str]:
        """Return an empty list, because `check` reads all facts from the files of this host."""
        return []

    def read_elf(self, path: str) -> ElfFacts:
        """Return the ElfFacts of a file. Raises ElfError if the file is not a valid ELF file."""
        if path not in self._elf_facts:
            self._elf_facts[path] = read_elf(path)
        return self._elf_facts[path]

    def find_cached(self, name: str, machine: str) -> Optional[str]:
        """Return the path that the host's ld.so.cache lists for a library, or None."""
        if machine not in self._caches:
            try:
                data = read_plain_file(self.add_root('/etc/ld.so.cache'), 'cache')
            except OSError:  # a folder that stands in for a host has no cache
                data = b''
            self._caches[machine] = read_cache(data, machine)
        path = self._caches[machine].get(name)
        return path and self.add_root(path)

    def list_plugins(self, folder: str) -> List[str]:
        """Return the sorted paths of Open MPI's plug-ins in a folder."""
        names = os.listdir(folder) if os.path.isdir(folder) else []
        return sorted(os.path.join(folder, name) for name in names if re.match(PLUGIN_OF_MPI, name))

    def get_machine(self) -> str:
        """Return the processor of this machine, by the name that readelf prints."""
        return MACHINE_NAMES.get(platform.machine(), platform.machine())

    def read_traits(self, path: str, parse: Callable[[bytes], Dict[str, Any]]) -> Dict[str, Any]:
        """
        Return the traits that the function `parse` finds in the content of a file.

        Raises ElfError if the file cannot be read, is damaged, or is not an ELF file.
        """
        if path not in self._traits:
            try:
                self._traits[path] = parse(read_plain_file(path))
            except (OSError, ValueError) as err:
                raise ElfError("%s: %s" % (path, getattr(err, 'strerror', None) or err))
        return self._traits[path]


class CoveringMount(NamedTuple):
    """A folder or file of the host that hides the files of the image at the same path."""

    folder: str  #: path in the container
    source: str  #: path on the host
    host: Host  #: the host of the trial
    #: how the user can remove the mount, '' if this is not possible
    remedy: str
    #: whether the mount exists in every run, and not only if the user stays in this folder
    is_certain: bool


class Mounts(NamedTuple):
    """The mounts of a container, and the files of the host that ld.so may find below a mount."""

    mounts: List[CoveringMount]
    #: paths in the container that were searched and that exist below a mount
    host_files: Set[str]


#: Variables in which the user, or a module of the site, names binds for the runtime
BIND_VARIABLES = [
    prefix + name for prefix in ('APPTAINER', 'SINGULARITY') for name in ('_BIND', '_BINDPATH')
]
#: Beginning of CoveringMount.remedy for a bind in BIND_VARIABLES
BIND_REMEDY = 'remove the bind from '


def list_user_binds() -> Dict[str, List[str]]:
    """
    Return {variable: list of binds} for the variables in BIND_VARIABLES that the user has set.

    The lists omit the host libraries and scripts that a loaded module of this project binds,
    because the commands of another module do not use these binds.
    """
    foreign = re.compile(r'.*:(%s|%s)(/|:|$)' % (INJECT_FOLDER, SCRIPTS_FOLDER))
    binds = {
        name: [
            bind for bind in os.environ.get(name, '').split(',') if bind and not foreign.match(bind)
        ]
        for name in BIND_VARIABLES
    }
    return {name: entries for name, entries in binds.items() if entries}


def find_home(host: Host) -> str:
    """Return the home folder of the user, '' on a host that is not this machine."""
    try:
        return '' if host.is_partial else pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:  # The user has no account.
        return os.environ.get('HOME', '')


def list_mounts(
    approach: Dict[str, Any], site: Dict[str, Any], host: Host, change: Change
) -> Mounts:
    """
    Return the mounts of a container that the module's commands start, after a Change.

    Apptainer mounts /tmp, /var/tmp, the home folder and the current folder (apptainer.conf: mount
    tmp, mount home; user guide, Bind Paths and Mounts). MPI_CONTAINER_OPTIONS may disable mounts.
    """
    # (folder, source, remedy) of CoveringMount
    rows = [(path, path, '') for path in list_bound_files(approach, site, host)]
    options, current = os.environ.get('MPI_CONTAINER_OPTIONS', ''), ''
    if not host.is_partial:
        with contextlib.suppress(OSError):  # The current folder is removed.
            current = os.getcwd()
        for name, entries in list_user_binds().items():
            for source, target in ((entry.split(':') + [''])[:2] for entry in entries):
                rows.append((target or source, source, BIND_REMEDY + name))
    rows += [
        (folder, folder, 'run `export MPI_CONTAINER_OPTIONS="%s"`' % option)
        for folder, option in (
            ('/tmp', '--no-mount tmp'),
            ('/var/tmp', '--no-mount tmp'),
            (find_home(host), '--no-home'),
        )
        if option not in options
    ]
    # The last one, because all other mounts are certain.
    rows.append((current, current, 'start in another folder'))
    return Mounts(
        [
            CoveringMount(folder.rstrip('/'), source.rstrip('/'), host, remedy, row is not rows[-1])
            for row in rows
            for folder, source, remedy in [row]
            if folder.strip('/') and not (change.unmounted and remedy.startswith(change.unmounted))
        ],
        set(),
    )


def find_mount(mounts: Mounts, path: Optional[str]) -> Optional[CoveringMount]:
    """Return the mount that hides the image's file at `path`, None if no mount hides the file."""
    return next(
        (mount for mount in mounts.mounts if ((path or '') + '/').startswith(mount.folder + '/')),
        None,
    )


class Container:
    """
    The files of a container: the files of the image, and the injected host libraries.

    The simulated loader (image/loader.py) finds and reads libraries with the methods of this class.
    """

    def __init__(
        self,
        image: Image,
        injected: Mapping[str, ElfFacts],
        opened_names: Mapping[str, Sequence[str]],
        mounts: 'Optional[Mounts]' = None,
    ) -> None:
        """
        Combine an image with injected libraries.

        injected: {name in INJECT_FOLDER: ElfFacts}.
        opened_names: {path of a library in the container: sonames that this library opens with
        dlopen()}.
        mounts: folders of the host that hide files of the image; None for no folders.
        """
        self.image, self.injected, self.opened_names = image, injected, opened_names
        self.mounts = mounts or Mounts([], set())
        #: paths of libraries that Python opens with RTLD_NOW (sys.getdlopenflags), so that ld.so
        #: resolves all of their symbols at once
        self.bound_now: Sequence[str] = ()
        #: {name: path, or None for a missing library} that the image's loader lists in a dry run.
        #: The loader is right where the files of the image suggest another path
        self.listed: Dict[str, Optional[str]] = {}

    def follow_listing(self, listing: 'Optional[Listing]') -> None:
        """Replace predicted library paths by the existing paths that the image's loader lists."""
        if listing and listing.is_trusted:
            self.listed = {
                name: path for name, path in listing.libraries.items() if self.exists(path)
            }
            self.listed.update((name, None) for name in listing.missing_libraries)

    def read_loader_config(self, interpreter: Optional[str]) -> Any:
        """
        Return the configuration of a loader (ld.so) of the image.

        interpreter: path of the loader; None selects the usual loader of the image.
        """
        return self.image.read_loader_config(interpreter)

    def exists(self, path: str) -> bool:
        """Return whether the path is a file in the container."""
        if self._is_injected(path):
            return True
        mount = find_mount(self.mounts, path)
        if mount is None:
            return self.image.exists(path) and not find_mount(self.mounts, self.resolve(path))
        file = mount.source + path[len(mount.folder) :]
        # The runtime mounts folders of this machine, also if a folder stands in for the host's /.
        if mount.host.exists(mount.host.add_root(file)) or mount.host.exists(file):
            self.mounts.host_files.add(path)
        return False

    def _is_injected(self, path: str) -> bool:
        # The module binds single files, so other files of the image in this folder stay visible.
        return dirname(path) == INJECT_FOLDER and basename(path) in self.injected

    def resolve(self, path: str) -> Optional[str]:
        """
        Return the path with all links resolved; for an injected library, the path on the host.
        """
        if self._is_injected(path):
            return self.injected[basename(path)].path
        return self.image.resolve(path)

    def read_elf_files(self, paths: Sequence[str]) -> Dict[str, Tuple[str, ElfFacts]]:
        """
        Return {path: (origin, ElfFacts)} of the ELF files among `paths`.

        origin: 'host' or 'image'.
        """
        injected = [path for path in paths if self._is_injected(path)]
        result = {path: ('host', self.injected[basename(path)]) for path in injected}
        image_files = self.image.read_elf_files([path for path in paths if path not in result])
        result.update((path, ('image', facts)) for path, facts in image_files.items())
        for path, (origin, facts) in list(result.items()):
            # Several paths may lead to one file: /lib is /usr/lib in most images. Wheels have
            # copies instead of links: libmpi.so beside libmpi.so.12
            names = (
                self.opened_names.get(path)
                or self.opened_names.get(self.image.resolve(path) or path)
                or self.opened_names.get('%s/%s' % (dirname(path), facts.soname), [])
            )
            if names:
                needed = facts.needed + [name for name in names if name not in facts.needed]
                facts = facts._replace(needed=needed)
            if path in self.bound_now:
                facts = facts._replace(undefined=dict.fromkeys(facts.undefined, True))
            result[path] = (origin, facts)
        return result


class Trial(NamedTuple):
    """A predicted process: a program of an image, run with one approach on one site."""

    #: the approach, with the host MPI that matches the image's programs
    approach: Dict[str, Any]
    site: Dict[str, Any]
    image: Image
    host: Host
    #: injected host libraries by soname, in the order in which ld.so loads them before the image's
    injected: Dict[str, ElfFacts]
    #: {name: ElfFacts} of the injected libraries under every name by which programs open them
    opened_names: Dict[str, ElfFacts]
    #: sorted host paths that the approach needs and that do not exist
    missing_paths: List[str]
    #: (soname, the library that needs it) for dependencies that neither host nor image has
    missing_dependencies: List[Tuple[str, ElfFacts]]
    #: variables in the container: those of the image with those of the module
    environment: Environment
    #: folders of LD_LIBRARY_PATH; only the first folders if the rest is unknown
    library_path: List[str]
    #: {path: 'LD_PRELOAD' or /etc/ld.so.preload} for each preloaded library of the image
    preload: Dict[str, str]
    #: the runtime, as find_runtime() (facts.py) returns it; None if unknown
    runtime: Optional[Dict[str, Any]]
    #: folders of the host that hide files of the image
    mounts: Mounts
    #: path of the program in the image; None if the program is unknown and only the MPI library is
    #: loaded
    program: Optional[str]
    #: whether the program has no dynamic section, so that no library can be injected
    is_static: bool
    #: (path of RCCL's plugin in the image, process that has loaded the plugin)
    rccl_plugin: Optional[Tuple[str, Process]]
    #: process of an entrypoint that loads libfabric alone; None if the program loads libfabric
    entrypoint_process: Optional[Process]
    #: preloaded libraries, then the program or the MPI library
    load_roots: List[str]
    #: why the MPI of the program is unknown; the process then has the image's MPI alone
    unknown_reason: Optional[str]
    #: the program and scripts that the requested command line starts
    launched: LaunchedProgram
    #: MPI and mpi4py that a Python program opens with dlopen(), [] for other programs
    opened_libraries: List[str]
    #: soname of the MPI that the image's programs use, '' if there is none
    soname: str
    process: Process
    #: traits (image/traits.py) of the loaded libmpi, {} if none is loaded
    mpi: Dict[str, Any]
    #: traits of the loaded libfabric, {} if none is loaded
    fabric: Dict[str, Any]
    #: {name: value} of the variables that the module or the user of a Change sets
    module_values: Dict[str, str]
    #: libraries that the image's loader lists, None without --dry-run
    listing: 'Optional[Listing]' = None
    #: the observed process that `process` shows, None if `process` is predicted
    started: Optional[StartedProcess] = None
    #: result of a start of the command, None without a start
    start: Optional[Start] = None

    @property
    def family(self) -> str:
        """The family of the MPI that the image's programs use, '' if there is none."""
        return MPI_FAMILIES.get(self.soname, '')

    @property
    def mpi_family(self) -> Optional[str]:
        """The family of the loaded libmpi, such as 'Cray MPICH'; None if unknown."""
        return self.mpi.get('family')

    @property
    def libmpi(self) -> Optional[LoadedFile]:
        """The MPI library that the program loads, None if the program loads no MPI."""
        return find_loaded_file(self.process, self.soname)

    @property
    def image_mpi(self) -> Optional[LoadedFile]:
        """The MPI library of the image if the program loads this library, else None."""
        return self.libmpi if self.libmpi and self.libmpi.origin == 'image' else None

    @property
    def libfabric(self) -> Optional[LoadedFile]:
        """The libfabric that the program loads, None if the program loads no libfabric."""
        return find_loaded_file(self.process, 'libfabric.so.1')


def locate_host_libraries(
    approach: Dict[str, Any], site: Dict[str, Any], host: HostFileSystem
) -> List[Tuple[str, str]]:
    """
    Return [(name, path)] of the host libraries that an approach injects.

    Each path begins with the root folder of `host`. A library in `inject_if_known` is left out if
    its path is a guess ('untested') and does not exist. If an injected library needs the omitted
    library, the search for dependencies looks for this library in the folders that the host's ld.so
    searches. Raises SettingsError if the site lacks a library that the approach needs.
    """
    missing = list_missing_guesses(approach, site, host)
    return [
        (name, host.add_root(path))
        for name, path in list_host_libraries(approach, site)
        if host.add_root(path) not in missing
    ]


def list_missing_guesses(
    approach: Dict[str, Any], site: Dict[str, Any], host: HostFileSystem
) -> List[str]:
    """
    Return the guessed library paths that do not exist, each below the host's root folder.

    Raises SettingsError as locate_host_libraries() does.
    """
    return [
        host.add_root(path)
        for name, path in list_host_libraries(approach, site)
        if name in approach['inject_if_known']
        and site['libraries'][name]['evidence'] == 'untested'
        and not host.exists(host.add_root(path))
    ]


def list_missing_host_paths(
    approach: Dict[str, Any], site: Dict[str, Any], host: HostFileSystem
) -> List[str]:
    """Return the sorted paths of host libraries that the approach needs but the host lacks."""
    return sorted(
        path for _, path in locate_host_libraries(approach, site, host) if not host.exists(path)
    )


def _resolve_injection(
    approach: Dict[str, Any], site: Dict[str, Any], host: HostFileSystem, image: Image
) -> Tuple[Dict[str, ElfFacts], List[Tuple[str, ElfFacts]]]:
    """
    Return ({soname: ElfFacts}, missing_dependencies) for the libraries to inject.

    The class Trial explains missing_dependencies. Raises ElfError if a host library is not an ELF
    file.
    """
    roots = [path for _, path in locate_host_libraries(approach, site, host) if host.exists(path)]
    folders = site['library_folders']['value']
    # A folder that stands in for / has only the host's MPI: system libraries are this machine's.
    search = [host.add_root(folder) for folder in folders] + (folders if host.root else [])
    build = tuple(approach.get('one_build', ()))

    def collect(paths: List[str]) -> Tuple[Dict[str, ElfFacts], List[Tuple[str, ElfFacts]]]:
        return collect_dependencies(
            paths,
            search,
            lambda soname: soname in image.libraries and not soname.startswith(build or '/'),
            [host.add_root(folder) for folder in site['one_build']['value']],
            host.read_elf,
            host.is_file,
            host.find_cached,
        )

    libraries, missing = collect(roots)
    plugins = _list_host_plugins(approach, site, host)
    if plugins:  # Open MPI skips a plug-in if a library of the plug-in is missing.
        libraries.update(
            (soname, facts)
            for soname, facts in collect(roots + plugins)[0].items()
            if soname not in libraries and facts.path not in plugins
        )
    return libraries, missing


def _list_host_plugins(
    approach: Dict[str, Any], site: Dict[str, Any], host: HostFileSystem
) -> List[str]:
    return [
        path
        for folder, _ in list_plugin_folders(approach, site, host)
        for path in host.list_plugins(folder)
    ]


def list_plugin_folders(
    approach: Dict[str, Any], site: Dict[str, Any], host: HostFileSystem
) -> List[Tuple[str, str]]:
    """Return [(host path, container path)] of the plug-in folders of the host's Open MPI."""
    return sorted(
        (host.add_root(path), posixpath.join(dirname(INJECT_FOLDER), place))
        for name in approach['inject']
        for place, path in site['libraries'][name].get('folders', {}).items()
        if host.exists(host.add_root(path))
    )


def select_image_mpi(image: Image, families: Sequence[str]) -> Tuple[str, str, str]:
    """
    Return (family, soname, path) of the image's MPI, ('', '', '') for an image without MPI.

    If the image has several MPIs, the first family of `families` wins.
    """
    libraries = image.list_mpi_libraries() or [('', '', '')]
    return next(
        (library for family in families for library in libraries if library[0] == family),
        libraries[0],
    )


def find_process_mpi(process: Process) -> Optional[str]:
    """Return the soname of the MPI that a process loads or fails to find, None without MPI."""
    return next(
        (
            name
            for name in MPI_FAMILIES
            if find_loaded_file(process, name)
            or any(missing == name for missing, _ in process.missing)
        ),
        None,
    )


def _list_library_path(environment: Environment) -> List[str]:
    return parse_folder_list(
        environment.variables.get('LD_LIBRARY_PATH') or environment.default, True
    )[0]


#: Maximum number of programs that check inspects in an image
_MAX_PROGRAMS = 8


def select_program(
    image: Image, program: Optional[str], environment: Environment
) -> LaunchedProgram:
    """
    Return the program that the command line `program` starts in the container.

    Without a command line, return the first program of the image that needs an MPI library, or else
    the first program of the image. Raises ImageError if the program does not exist.
    """
    if program is not None:
        words = split_command(program)
        if not find_program(image, environment, words[0]) and not find_unknown_path(
            environment, words[0]
        ):
            raise ImageError(
                '%s has no program %s. Give the full path of the program in the image, without '
                "srun; give a shell line as `sh -c 'A=1 program'`. To inspect a program on the "
                'host, run the program with `osu-container proof`' % (image.path, words[0])
            )
        return resolve_program(image, words, environment)
    if not image.programs:
        return LaunchedProgram(
            None,
            [],
            environment,
            None if image.is_partial else 'check found no program to inspect in the image',
            [],
        )
    paths = [image.programs[name] + '/' + name for name in sorted(image.programs)[:_MAX_PROGRAMS]]
    image.read_elf_files(paths)  # extracts all files at once
    candidates = [resolve_program(image, [path], environment) for path in paths]
    facts = image.read_elf_files(
        [candidate.program for candidate in candidates if candidate.program]
    )
    sonames = [
        [name for name in facts[program].needed if name in MPI_FAMILIES] if program else []
        for program in (candidate.program for candidate in candidates)
    ]
    all_names = sorted({name for names in sonames for name in names})
    if len({MPI_FAMILIES[name] for name in all_names}) > 1:
        return candidates[0]._replace(
            program=None,
            reason='the programs of the image use several MPIs: ' + ', '.join(all_names),
        )
    return min(zip(candidates, sonames), key=lambda pair: (pair[0].program is None, not pair[1]))[0]


def _resolve_startup(
    image: Image,
    launched: LaunchedProgram,
    container: Container,
    library_path: List[str],
    roots: List[str],
    mpi4py: Optional[str] = None,
) -> Tuple[List[str], Process, Optional[str]]:
    """
    Return (opened libraries, process, reason) for a launched program.

    process: the process after the program has loaded the opened libraries.
    reason: why the MPI is unknown, None if the MPI is known.
    roots: preloaded libraries, then the program.
    mpi4py: path of mpi4py's extension module that Python found in a dry run, or None.
    """
    process = simulate_load(roots, container, library_path)
    python = read_python_program(image, launched)
    if python and python.problem:
        return [], process, python.problem

    def check_library(name: str) -> Tuple[Optional[ElfFacts], bool]:
        """Return (ElfFacts of the file that dlopen(name) finds, whether this file loads)."""
        extended = simulate_load(roots, container, library_path, [name])
        library = find_loaded_file(extended, name)
        return library and library.facts, (
            not extended.missing[len(process.missing) :]
            and not extended.broken
            and len(list_version_problems(extended)) == len(list_version_problems(process))
        )

    opened, missing, reason = (
        find_opened_libraries(image, launched, python, check_library, mpi4py)
        if python and not process.missing
        else ([], None, None)
    )
    container.bound_now = opened
    process = simulate_load(roots, container, library_path, opened)
    if missing:
        process = process._replace(missing=process.missing + [(missing, process.loaded[0])])
    return opened, process, reason


#: Libraries of NVIDIA's driver. No image has them: the option --nv injects the host's files.
DRIVER_LIBRARY = re.compile(r'lib(cuda|cudadebugger|nvcuvid|nvidia-[\w-]+)\.so')


def _fails_at_startup(process: Process) -> bool:
    """Return whether ld.so terminates the process before the program opens a library."""
    return bool(
        any(not DRIVER_LIBRARY.match(name) for name, _ in process.missing)
        or process.broken
        or list_version_problems(process)
        or any(at_once for _, _, at_once in list_undefined_symbols(process))
    )


def _explain_missing_mpi(
    image: Image, path: str, is_static: bool, process: Optional[Process]
) -> Optional[str]:
    """Return why `check` finds no MPI in a program, None if ld.so cannot start the program."""
    if is_static or 'MPI_Init' in image.read_elf_files([path])[path].defined:
        return (
            '%s is linked statically, so the file contains the MPI if the program uses an MPI'
            % path
        )
    if process is not None and _fails_at_startup(process):
        return None
    return '%s is not linked with an MPI library' % path


def build_trial(
    approach: Dict[str, Any],
    site: Dict[str, Any],
    image: AnyImage,
    host: Host,
    program: Optional[str] = None,
    runtime: Optional[Dict[str, Any]] = None,
    listing: 'Optional[Listing]' = None,
    started: Optional[StartedProcess] = None,
    requires_mpi: bool = True,
) -> Trial:
    """
    Return the Trial of an approach with an image on a site and its host.

    program: command line in the container, with all arguments that affect which libraries are
    loaded.
    runtime: the container runtime, as in Trial.
    listing: the result of a dry run by the image's loader and Python, None without a dry run.
    started: an observed process, which then replaces the predicted process.
    requires_mpi: whether an image without a visible MPI is an error.

    Raises ImageError if the image lacks the program, NoMpiError if image and program have no MPI,
    and ElfError if a host library is not an ELF file. Raises SettingsError if the site lacks a
    library or a PMI that the approach needs.
    """
    change = image.change if isinstance(image, ChangedImage) else Change('')
    _, soname, path = select_image_mpi(image, list_mpi_families(approach))
    mpi4py = listing.mpi4py if listing else None
    requested = _find_requested_mpi(
        image, select_program(image, program, image.evaluate_environment()), mpi4py
    )
    if started:
        requested = find_process_mpi(read_loaded_process(started, Container(image, {}, {}), host))
    soname = requested or soname
    if 'libmpi' in approach['inject']:
        approach = select_host_mpi(approach, soname)
    missing_paths = list_missing_host_paths(approach, site, host)
    injected, missing = (
        _resolve_injection(approach, site, host, image) if approach['inject'] else ({}, [])
    )
    plugins = _list_host_plugins(approach, site, host)
    opened_names = map_opened_names(approach, site, host, injected)
    container = Container(
        image,
        opened_names,
        _map_opened_libraries(image, injected, host, plugins),
        list_mounts(approach, site, host, change),
    )
    container.follow_listing(listing)
    environment = apply_entrypoint(
        approach,
        image.evaluate_environment(render_bound_texts(approach, site, host, image, injected)),
        injected,
    )
    if environment.default is None:  # The runtime sets HOME, unless a script of the image does.
        home = find_home(host)
        variables = {'HOME': Variable(home, True, 'the runtime')} if home else {}
        environment = environment._replace(variables={**variables, **environment.variables})
    launched = select_program(image, program, environment)
    environment = launched.environment
    kept = {
        name: item for name, item in environment.variables.items() if name not in change.removed
    }
    environment = environment._replace(variables=kept)
    # The option --library-path of ld.so is no variable of the process.
    if started and started.environment is not None and not started.is_loader:
        environment = merge_observed_environment(started.environment, environment)
    library_path = _list_library_path(environment)
    preloads = _resolve_preloads(environment, image, container, library_path)
    preload = [name for name, _, _ in preloads]
    start: Optional[str] = launched.program
    opened: List[str] = []
    process: Optional[Process] = None
    reason: Optional[str] = launched.reason
    process_mpi: Optional[str] = None
    is_static = start is not None and not image.read_elf_files([start])[start].dynamic
    if started:
        process, reason = read_loaded_process(started, container, host), None
        process_mpi = find_process_mpi(process)
        mpi = find_loaded_file(process, process_mpi) if process_mpi else None
        if mpi and started.libfabric is None and not approach.get('entrypoint'):
            # Intel MPI opens libfabric only if the ranks are on several nodes.
            program_path = [started.program] if image.exists(started.program) else []
            later = simulate_load([mpi.path] + program_path, container, library_path)
            process = process._replace(
                loaded=process.loaded
                + [each for each in later.loaded if each.name == 'libfabric.so.1'],
                missing=[each for each in later.missing if each[0] == 'libfabric.so.1' and each[1]],
            )
        preload, start = [library.path for library in process.loaded], None
    elif start and not is_static:
        opened, process, reason = _resolve_startup(
            image, launched, container, library_path, preload + [start], mpi4py
        )
        process_mpi = find_process_mpi(process)
    if process_mpi:
        # mpi4py accepts a host MPI of the other ABI as well
        if not requested or MPI_FAMILIES[process_mpi] == MPI_FAMILIES[soname]:
            soname = process_mpi
    elif start:
        reason = reason or _explain_missing_mpi(image, start, is_static, process)
    roots = preload + ([start] if start else [])
    if process is None or not process_mpi and reason:  # Judge the image's MPI without a program.
        if not path and requires_mpi:
            raise NoMpiError(image, reason)
        # Use the soname if ld.so finds the library by it, so that an injected library comes first.
        by_soname = image.libraries.get(soname) == path or soname in injected
        roots = preload + [soname if by_soname else path] * bool(path)
        # Programs for AMD GPUs need HIP themselves.
        opened = [
            basename(name)
            for name in (image.find_files(r'.*/libamdhip64\.so\.\d+') if image.is_partial else [])
        ]
        start = start if is_static else None
        process = simulate_load(roots, container, library_path, opened)

    def load_more(paths: List[str]) -> Process:
        """Simulate the load again, with `paths` as further files that the program opens (dlopen)."""
        return simulate_load(roots, container, library_path, opened + paths)

    fabric = read_process_traits(process, 'libfabric.so.1', image, host)
    entrypoint_process = (
        simulate_load(['libfabric.so.1'], container, library_path)
        if approach.get('entrypoint') and not fabric
        else None
    )
    rccl_plugin = image.find_rccl_plugin()
    mpi_traits = (
        read_process_traits(process, 'libmpi.so.12' if WRAPPER in injected else soname, image, host)
        or {}
    )
    if mpi_traits and any(path.endswith('/mca_pmix_s2.so') for path in plugins):
        # The plug-in of Open MPI 4 for PMI-2
        mpi_traits = {**mpi_traits, 'pmi': mpi_traits['pmi'] + ['pmi2']}
    fabric = (
        _add_plugin_providers(process, fabric, container, load_more, library_path, environment)
        or {}
    )
    module_values = {
        variable['name']: variable['value']
        for variable in collect_module_variables(
            approach,
            site,
            '%s %s' % (mpi_traits.get('family'), mpi_traits.get('release')),
            fabric.get('release'),
            rccl_plugin,
            image.find_rocm_release(),
        )[None]
    }
    return Trial(
        approach,
        site,
        image,
        host,
        injected,
        opened_names,
        missing_paths,
        missing,
        environment,
        library_path,
        {library: origin for _, library, origin in preloads if dirname(library) != INJECT_FOLDER},
        runtime,
        container.mounts,
        start,
        is_static,
        (rccl_plugin, load_more([rccl_plugin])) if rccl_plugin else None,
        entrypoint_process,
        roots,
        reason,
        launched,
        opened,
        soname,
        process,
        mpi_traits,
        fabric,
        {**module_values, **change.exports},
        listing,
        started,
    )


class NoMpiError(ImageError):
    """The image has no visible MPI library, and no program that needs an MPI library."""

    def __init__(self, image: Image, reason: Optional[str]) -> None:
        super().__init__(
            "no MPI library found in the image (searched for %s), and %s"
            % (', '.join(sorted(MPI_FAMILIES)), reason)
        )


def make_container(trial: Trial) -> Container:
    """Return the predicted container of `trial`, without libraries opened by dlopen()."""
    return Container(
        trial.image,
        trial.opened_names,
        {},
        trial.mounts,
    )


def load_image_file(trial: Trial, path: str) -> Process:
    """Simulate loading a file of the image in the container; return the resulting process."""
    return simulate_load(
        [path],
        Container(trial.image, trial.injected, {}),
        trial.library_path,
    )


def _find_requested_mpi(
    image: Image, launched: LaunchedProgram, mpi4py: Optional[str]
) -> Optional[str]:
    """
    Return the soname of the MPI that a program would load if no library were injected.

    The result is None if the program loads no MPI. The function reads the program, because an image
    may have two kinds of MPI.
    """
    program = launched.program
    if not program or not image.read_elf_files([program])[program].dynamic:
        return None
    return find_process_mpi(
        _resolve_startup(
            image,
            launched,
            Container(image, {}, {}),
            _list_library_path(launched.environment),
            [program],
            mpi4py,
        )[1]
    )


def map_opened_names(
    approach: Dict[str, Any],
    site: Dict[str, Any],
    host: HostFileSystem,
    injected: Mapping[str, ElfFacts],
) -> Dict[str, ElfFacts]:
    """Return {name: ElfFacts} of injected libraries, under every name that programs open."""
    names = dict(injected)
    for name, path in locate_host_libraries(approach, site, host):
        for facts in injected.values():
            if facts.path == path:
                names.update(
                    (other, facts) for other in site['libraries'][name].get('opened_as', [])
                )
    return names


def render_bound_texts(
    approach: Dict[str, Any],
    site: Dict[str, Any],
    host: HostFileSystem,
    image: Image,
    injected: Mapping[str, ElfFacts],
) -> Dict[str, str]:
    """
    Return {path: text} of the files that the module binds into the container.

    The files are the injection script with its text, and the injected libraries, each with an empty
    text.
    """
    unset = [entry['name'] for entry in approach['unset']]
    if not injected or approach.get('entrypoint'):
        return {TARGET: render_injection([], [], [], unset)}
    folders = list_injected_folders(find_leading_plugin_folder(image, injected))
    preload = [
        INJECT_FOLDER + '/' + name
        for name in list_preloaded_sonames(approach, site, host, injected)
    ]
    exports = [(entry['name'], entry['value']) for entry in approach.get('exports', [])]
    texts = {INJECT_FOLDER + '/' + soname: '' for soname in injected}
    texts[TARGET] = render_injection(folders, preload, [], unset, exports=exports)
    return texts


def find_leading_plugin_folder(image: Image, injected: Collection[str]) -> Optional[str]:
    """
    Return the folder of RCCL's plugin if ld.so searches this folder first, else None.

    injected: sonames of the injected libraries. If the folder has a library with one of these
    sonames, the module does not put the folder first, because the folder would hide the host's
    library.
    """
    plugin = image.find_rccl_plugin()
    folder = dirname(plugin) if plugin else None
    return folder if folder and not image.contains_library(folder, injected) else None


def apply_entrypoint(
    approach: Dict[str, Any], environment: Environment, injected: Mapping[str, ElfFacts]
) -> Environment:
    """Return the environment after an entrypoint has prepended folders to LD_LIBRARY_PATH."""
    if not injected or not approach.get('entrypoint'):
        return environment
    variable = (
        environment.variables.get('LD_LIBRARY_PATH')
        or environment.default
        or Variable('', True, None)
    )
    variable = variable._replace(
        value=None if variable.value is None else INJECT_FOLDER + ':' + variable.value,
        exported=True,
        known_prefix=INJECT_FOLDER + ':' + variable.known_prefix,
    )
    return environment._replace(variables={**environment.variables, 'LD_LIBRARY_PATH': variable})


#: glibc preloads the libraries in this file into each process, after those of LD_PRELOAD: ld.so(8).
#: musl does not read this file.
PRELOAD_FILE = '/etc/ld.so.preload'


def _resolve_preloads(
    environment: Environment, image: Image, container: Container, library_path: List[str]
) -> List[Tuple[str, str, str]]:
    """
    Return [(name, path, origin)] of the preloaded libraries, as far as LD_PRELOAD is known.

    origin: 'LD_PRELOAD' or PRELOAD_FILE. If a file does not exist or is not a library, ld.so prints
    a message and skips the file. Colons or blanks separate the names: ld.so(8), LD_PRELOAD.
    """
    preloads, variable = [], environment.variables.get('LD_PRELOAD')
    known = (
        variable and variable.exported is not False and (variable.value or variable.known_prefix)
    )
    for origin, text in (
        ('LD_PRELOAD', known),
        (PRELOAD_FILE, image.read_text(PRELOAD_FILE) if image.exists(PRELOAD_FILE) else None),
    ):
        for name in re.findall(r'[^:\s]+', text or ''):
            path = find_library(name, None, container, library_path)
            if path and container.read_elf_files([path]):
                preloads.append((name, path, origin))
    return preloads


def list_preloaded_sonames(
    approach: Dict[str, Any],
    site: Dict[str, Any],
    host: HostFileSystem,
    injected: Mapping[str, ElfFacts],
) -> List[str]:
    """Return the sonames of the injected libraries that an approach preloads."""
    paths = dict(locate_host_libraries(approach, site, host)) if approach['preload'] else {}
    return [
        soname
        for name in approach['preload']
        for soname, facts in injected.items()
        if facts.path == paths.get(name)
    ]


#: Path of Open MPI's plug-in for libfabric, below the folder of the library. Open MPI installs it in
#: openmpi/, Debian 11 and 12 in openmpi/lib/openmpi3/
OPEN_MPI_OVER_LIBFABRIC = r'openmpi/(.*/)?mca_mtl_ofi\.so'


def _map_opened_libraries(
    image: Image, injected: Mapping[str, ElfFacts], host: HostFileSystem, plugins: List[str]
) -> Dict[str, List[str]]:
    """
    Return {path of an MPI library: names that this library opens with dlopen()}.

    The paths are paths in the container. Intel MPI opens libfabric, and Open MPI opens plug-ins
    (mca_*.so). The libmpi_abi.so.1 of mpi_abi_wrapper opens libmpiwrapper.so.

    plugins: paths of the plug-ins of the host's Open MPI.
    """
    opened: Dict[str, List[str]] = {}
    # Read all MPI libraries, because a DT_RPATH may lead to a file off the default path.
    for path in image.find_files('.*/(?:%s)' % '|'.join(re.escape(name) for name in MPI_FAMILIES)):
        real = image.resolve(path) or path
        if real not in opened:
            try:
                opened[real] = list(image.read_traits(real, read_mpi_traits)['opens'])
            except ImageError:  # The file is damaged, or is for another processor.
                opened[real] = []
            if MPI_FAMILIES[basename(path)] == 'Open MPI':
                opened[real] += image.find_folder_files(dirname(real), OPEN_MPI_OVER_LIBFABRIC)
        opened[path] = opened[real]
    for soname, facts in injected.items():
        if soname in MPI_FAMILIES:
            names = host.read_traits(facts.path, read_mpi_traits)['opens'] + [
                name
                for path in plugins
                if re.search(r'/mca_(mtl_ofi|pml_ucx)\.so$', path)
                for name in host.read_elf(path).needed
                if name in injected
            ]
            if soname == 'libmpi_abi.so.1' and WRAPPER in injected:
                names = names + [WRAPPER]
            if names:
                opened[INJECT_FOLDER + '/' + soname] = names
    return opened


def _add_plugin_providers(
    process: Process,
    traits: Optional[Dict[str, Any]],
    container: Container,
    load_more: Callable[[List[str]], Process],
    library_path: List[str],
    environment: Environment,
) -> Optional[Dict[str, Any]]:
    """
    Return the traits of the loaded libfabric, with the providers of plug-ins that load.

    The traits get two keys: 'inside' has the providers of the library itself, and 'files' is
    {provider: release (tuple) or None} of the plug-ins in the image. If a plug-in and the library
    have the same provider, libfabric uses the newer provider. The host's libfabric may not support
    the image's plug-ins, and the host's plug-ins are not injected. If a plug-in does not load,
    libfabric skips the plug-in without a message, for example if the plug-in needs a symbol version
    that libfabric lacks.
    """
    fabric = find_loaded_file(process, 'libfabric.so.1')
    files: Dict[str, Any] = {}
    if not traits or fabric is None or container.image.is_partial:
        return traits
    traits = {**traits, 'inside': traits['providers']}
    for path in _list_plugin_files(fabric, traits, container, library_path, environment):
        extended = load_more([path])
        if (
            {name for name, _ in extended.missing} <= {name for name, _ in process.missing}
            and find_loaded_file(extended, path)
            and len(list_version_problems(extended)) <= len(list_version_problems(process))
        ):
            name = parse_provider_name(path) or path
            release = find_provider_release(container.image.read_file(path))
            files[name] = release and max(release, files.get(name, release) or release)
    usable = files if fabric.origin == 'image' else ()
    return {**traits, 'files': files, 'providers': sorted(set(traits['providers']).union(usable))}


def _list_plugin_files(
    fabric: LoadedFile,
    traits: Dict[str, Any],
    container: Container,
    library_path: List[str],
    environment: Environment,
) -> List[str]:
    """
    Return the paths in the container of the plug-ins that libfabric tries to load.

    If FI_PROVIDER_PATH is set, libfabric searches only the folders in this variable
    (src/fabric.c). Otherwise ld.so searches the file of each provider that libfabric knows, and
    libfabric searches the folders that were set when libfabric was built.
    """
    value = get_exported_value(environment, 'FI_PROVIDER_PATH') or ''
    folders, files = value.split(':') if value else [], []
    if not value and traits['by_name']:
        for name in sorted(PROVIDERS):
            file = find_library('lib%s-fi.so' % name, fabric, container, library_path)
            files += [file] if file else []
    if not folders:
        build_folders: List[str] = traits['folders'] or [dirname(fabric.path) + '/libfabric']
        folders = [
            re.compile(r'\$\{(\w+)\}').sub(
                lambda match: get_exported_value(environment, match.group(1)) or '', folder
            )
            for folder in build_folders
        ]
    for folder in folders:
        files += container.image.find_folder_files(folder, PLUGIN)
    return files


def read_process_traits(
    process: Process, soname: str, image: Image, host: HostFileSystem
) -> Optional[Dict[str, Any]]:
    """
    Return the traits (features) of a library that a process loads.

    The result is None if the process does not load the library, or if the traits are unknown. The
    result is {} if the file of the image's library cannot be read, e.g. on another processor.
    """
    library = find_loaded_file(process, soname)
    if library is None:
        return None
    parse = read_fabric_traits if soname == 'libfabric.so.1' else read_mpi_traits
    if library.origin == 'host':
        return host.read_traits(library.facts.path, parse)
    try:
        return image.read_traits(library.path, parse)
    except ImageError:
        return {}


def list_bound_files(
    approach: Dict[str, Any], site: Dict[str, Any], host: HostFileSystem
) -> List[str]:
    """Return the host paths, without the root folder, of existing files that the module binds."""
    return [
        path
        for path, _ in list_site_files(approach, site, 'install')
        if host.exists(host.add_root(path))
    ]


def list_entrypoint_folders(
    approach: Dict[str, Any],
    site: Dict[str, Any],
    libraries: Iterable[Tuple[str, str]],
    host: Host,
) -> List[Dict[str, str]]:
    """
    Return a dict for each host folder that the entrypoint of the image searches.

    The keys of a dict are `path` (the host folder), `target` (folder in the container) and `why`.
    The list has the folders that the approach names, and all other folders of injected libraries.

    libraries: (soname, path) of each injected library.
    host: the paths of a host that is known from published data only are assumed to exist.
    """
    folders = []
    for entry in approach['entrypoint']:
        path = (
            os.path.dirname(site['libraries'][entry['library']]['value'])
            if 'library' in entry
            else entry['path']
        )
        # A folder that stands in for / may lack some.
        if host.is_partial or host.exists(host.add_root(path)):
            folders.append(
                {'path': host.add_root(path), 'target': entry['target'], 'why': entry['why']}
            )
    for soname, path in libraries:
        folder = os.path.dirname(path)
        inside = os.path.realpath(folder) + '/'
        if not any(inside.startswith(os.path.realpath(other['path']) + '/') for other in folders):
            folders.append(
                {
                    'path': folder,
                    'target': '%s%d' % (MORE_FOLDERS, len(folders) + 1),
                    'why': 'the only bound folder of the host that contains %s' % soname,
                }
            )
    return folders
