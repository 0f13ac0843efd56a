"""
Load an installed module and inspect its environment, programs, image and MPI.

The facts about a module are read from the loaded module. The name of the site is read from the
file settings.json in the installation folder of the module.
"""

from __future__ import annotations

import functools
import os
import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from osu_container.base.files import read_json
from osu_container.base.places import PROJECT, STATE
from osu_container.bench import BenchError, record
from osu_container.data.approaches import APPROACHES
from osu_container.data.records import select_variables
from osu_container.data.sites import BASES
from osu_container.image.elf import ElfError, read_elf
from osu_container.image.libraries import compute_sha256
from osu_container.proof.judging import parse_expectation
from osu_container.verdict.settings import FAMILY as FALLBACK_FAMILY
from osu_container.verdict.site_choice import resolve_site

#: Names (before the slash) of the modules that are measured by default
CONTAINER_MODULE, NATIVE_MODULE = 'osu-container', 'osu-native'
#: Variable that every module of the easyblocks sets to its installation folder
ROOT_VARIABLE = 'OSU_MODULE_ROOT'
#: Libraries of programs that support GPUs: configure of OSU 7.4 links them with --enable-rocm,
#: --enable-cuda and --enable-sycl; with --enable-openacc the compiler links its own
GPU_LIBRARIES = re.compile(r'lib(amdhip64|cuda|cudart|sycl|ze_loader|acc\w*)\.so')
#: Expands in bash to the loaded module of this project: Lmod's variables of its families
FAMILY_EXPRESSION = ' '.join(
    f'${{LMOD_FAMILY_{family.upper()}-}}'
    for family in sorted(
        {entry['family']['value'] for entry in BASES.values() if 'family' in entry}
        | {FALLBACK_FAMILY}
    )
)


def resolve_lmod_environment() -> dict[str, str]:
    """
    Return environment variables with which `module load` works.

    If Lmod is set up in this process, the result is the environment of this process. Otherwise the
    result is the environment after sourcing env.sh in the clone of osu-container. Raises BenchError
    if Lmod is missing in both environments.
    """
    lmod = os.environ.get('LMOD_CMD')
    if lmod and not os.access(lmod, os.X_OK):
        raise BenchError(
            f"{lmod}, the value of the variable LMOD_CMD, is not a program. Start a new login "
            "shell: bash -l"
        )
    if lmod and os.environ.get('MODULEPATH'):
        return dict(os.environ)
    if (STATE / 'bin' / 'eb').exists():
        return _capture_environment(
            f'. {shlex.quote(str(PROJECT / "env.sh"))}', dict(os.environ), '`. ./env.sh`'
        )
    raise BenchError(
        "cannot load modules: this shell has no Lmod (LMOD_CMD is not set). On a supercomputer, "
        "use a login shell (bash -l); on your own machine, first run `make demo` in the folder of "
        "osu-container"
    )


def _capture_environment(script: str, env: dict[str, str], name: str) -> dict[str, str]:
    """
    Run a bash script and return the environment variables at the end of the script.

    Raises BenchError if the script fails or stops early, for example because an Lmod command
    failed.

    :param name: name of the script in messages
    """
    process = subprocess.run(
        ['bash', '--norc', '-c', f'set -e\n{script}\nprintf "\\0\\0"; env -0'],
        env=env,
        capture_output=True,
        text=True,
        errors='replace',
        stdin=subprocess.DEVNULL,
    )
    if process.returncode:
        raise BenchError(
            f"{name} failed: "
            f"{_shorten_lmod_message(process.stderr) or process.stdout.strip() or 'no message'}"
        )
    return dict(
        item.split('=', 1)
        for item in process.stdout.partition('\0\0')[2].split('\0')
        if '=' in item
    )


def _shorten_lmod_message(text: str) -> str:
    """Return an error message of Lmod as one line, without Lmod's hints on searching modules."""
    return ' '.join(text.partition('If the avail list')[0].split())


def render_load_script(name: str) -> str:
    """Return bash commands that load a module, as Lmod's shell function `module` would do."""
    return f'load=$("$LMOD_CMD" bash load {shlex.quote(name)})\neval "$load"'


@dataclass
class Module:
    """An installed Lmod module of this project, which has been loaded and inspected."""

    #: Name as loaded, 'osu-container/hybrid'
    name: str
    #: 'native' or the name of an approach
    approach: str
    #: Name of the site that it was installed for
    site: str
    #: Environment after loading it
    environment: dict[str, str]
    #: Its benchmark programs, 'osu_bw'
    programs: set[str]
    #: Site entry of the user's site file, None if the site is in the data
    user_site: dict[str, Any] | None = None

    @property
    def is_container(self) -> bool:
        """Return whether the programs of the module run in a container."""
        return APPROACHES[self.approach]['container']

    @property
    def modulefile(self) -> Path | None:
        """Return the path of the modulefile, None if Lmod does not list the path."""
        paths = self.environment.get('_LMFILES_', '').split(':')
        pattern = re.compile(rf'/{re.escape(self.name)}(/[^/]+)?\.lua$')
        return next((Path(path) for path in paths if pattern.search(path)), None)

    @property
    def pmi(self) -> str | None:
        """
        Return the PMI (process management interface) that the MPI of the module uses.

        The result is None if the installation does not record the PMI.
        """
        return read_installation_file(self.environment, SETTINGS).get('pmi')

    @property
    def is_python(self) -> bool:
        """Return whether the programs are OSU's Python benchmarks, with NumPy or CuPy buffers."""
        return bool(re.search('NumPy|Python', self._labels.get('org.osu-container.osu', '')))

    @property
    def has_ports(self) -> bool:
        """Return whether the programs are the mpi4py ports of the OSU benchmarks."""
        native = read_installation_file(self.environment, FACTS).get('programs_are', '')
        label = self._labels.get('org.osu-container.osu', native)
        return bool(re.fullmatch(r'mpi4py \S+ ports', label))

    @property
    def _labels(self) -> dict[str, str]:
        return (self.facts.get('image') or {}).get('labels') or {}

    def explain_missing_gpu_support(self, program: str) -> str | None:
        """
        Return why a program cannot use GPU buffers, None if the program can use GPU buffers.

        The result is also None if GPU support is undetermined. A program without GPU support
        ignores the argument `D D` and measures host memory. For this reason, osu_output.parse()
        requires that the program prints where its buffers are.
        """
        if self.is_container:
            has_gpu = (read_installation_file(self.environment, FACTS).get('image') or {}).get(
                'gpu'
            )
            if self._labels.get('org.osu-container.gpu', 'none') == 'none' and has_gpu is False:
                return (
                    f"the image of {self.name} has neither ROCm nor CUDA, so the programs in the "
                    "image support only host memory"
                )
            return None
        try:
            needed = read_elf(
                os.path.join(self.environment.get(ROOT_VARIABLE, '/nonexistent'), 'bin', program)
            ).needed
        except ElfError:  # an mpi4py port, which loads its libraries at run time
            return None
        if any(map(GPU_LIBRARIES.match, needed)):
            return None
        return (
            f"{program} of {self.name} is not linked with a GPU library, so the program supports "
            "only host memory. Build the native benchmarks of the site with --enable-rocm or "
            "--enable-cuda (docs/add-a-site.md)"
        )

    @functools.cached_property
    def facts(self) -> dict[str, Any]:
        """
        Return facts about the module as a dict, which bench writes to results.jsonl.

        The dict lacks the network, because only a run shows which network the module uses.
        """
        env = self.environment
        expectation = parse_expectation(env.get('OSU_PROMISE', ''))
        entry = {
            'name': self.name,
            'approach': self.approach,
            'container': self.is_container,
            'comes_from': dict(
                APPROACHES[self.approach]['comes_from'], **expectation.library_origins
            ),
            'variables': select_variables(env),
            'module_file': record.describe_file(self.modulefile, text=True)
            if self.modulefile
            else None,
        }
        if env.get('SIF'):
            entry['image'] = record.describe_image(env['SIF'], record.resolve_runtime(env))
        return entry

    def hash_inputs(self) -> dict[str, str]:
        """
        Return {name: sha256} of all files that determine how the module runs.

        These files are the modulefile, the image or the native programs, and the injected host
        libraries.
        """
        file, image = self.facts['module_file'], self.facts.get('image')
        hashes = {f'module {self.name}': file['sha256'] if file else 'unknown'}
        if image:
            hashes[f'image of {self.name}'] = image['sha256']
        paths = [
            bind['path']
            for bind in read_installation_file(self.environment, SETTINGS).get('binds') or ()
        ]
        if not self.is_container:
            paths += [
                os.path.join(self.environment[ROOT_VARIABLE], 'bin', name) for name in self.programs
            ]
        return dict(
            hashes,
            **{
                f'file {os.path.realpath(path)}': compute_sha256(path)
                for path in paths
                if os.path.isfile(path)
            },
        )


#: Files of an installation: settings of the module, facts of image and host
#: (osu_container/install/easyblock.py)
SETTINGS, FACTS = 'settings.json', 'facts.json'


def read_installation_file(env: dict[str, str], name: str) -> dict[str, Any]:
    """
    Return the content of settings.json or facts.json in the folder of the loaded module.

    The result is {} if the file is missing. Raises BenchError if the file is damaged.

    :param env: environment variables after loading the module
    """
    path = Path(env.get(ROOT_VARIABLE, '/nonexistent')) / name
    try:
        return dict(read_json(path))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError) as err:
        raise BenchError(
            f"the file {path} of the module is damaged: {err}. Install the module again: eb EASYCONFIG.eb --rebuild"
        ) from err


def load_module(name: str, base: dict[str, str] | None = None) -> Module:
    """
    Load the module `name`, and return a Module with the results of its inspection.

    Raises BenchError if the module cannot be loaded, or if this project did not install the module.
    """
    base = resolve_lmod_environment() if base is None else base
    # Unload the caller's module first: its LD_LIBRARY_PATH would reach the runs of other modules.
    env = _capture_environment(
        f'purge=$("$LMOD_CMD" bash unload {FAMILY_EXPRESSION} 2>/dev/null) && eval "$purge" || :\n'
        + render_load_script(name),
        base,
        f'`module load {name}`',
    )
    loaded = next(
        (
            module
            for module in reversed(env.get('LOADEDMODULES', '').split(':'))
            if module.split('/')[0] == name.split('/')[0]
        ),
        name,
    )
    settings = read_installation_file(env, SETTINGS)
    if None in map(settings.get, ('site', 'approach', 'programs')):
        raise BenchError(
            f"module {loaded} was not installed by osu-container: the module's settings.json does "
            "not name a site, an approach and programs. Install the module again: eb "
            "EASYCONFIG.eb --rebuild"
        )
    return Module(
        loaded,
        settings['approach'],
        settings['site'],
        env,
        set(settings['programs']),
        settings.get('site_entry'),
    )


def list_installed_modules(base: dict[str, str]) -> list[str]:
    """
    Return the names of all installed modules of this project.

    The native module comes first. The other modules follow, ordered by approach.

    :param base: environment variables with which Lmod works
    """
    process = subprocess.run(
        [base['LMOD_CMD'], 'bash', '-t', 'avail', NATIVE_MODULE + '/', CONTAINER_MODULE + '/'],
        env=base,
        capture_output=True,
        text=True,
        errors='replace',
        stdin=subprocess.DEVNULL,
    )
    lines = [
        re.sub(r'(\(.*\)|<.*>)$', '', line.strip())
        for line in (process.stderr + process.stdout).splitlines()
    ]
    names = list(
        dict.fromkeys(
            line
            for line in lines
            if re.fullmatch(rf'({NATIVE_MODULE}|{CONTAINER_MODULE})/[\w.+-]+', line)
        )
    )
    # Versions of osu-native have the same programs: measure only the default one.
    natives = [name for name in names if name.startswith(NATIVE_MODULE)]
    order = list(APPROACHES)

    def place(name: str) -> int:
        approach = name.partition('/')[2].split('-')[0]
        return order.index(approach) if approach in order else len(order)

    return natives[-1:] + sorted((name for name in names if name not in natives), key=place)


def resolve_common_site(modules: list[Module]) -> dict[str, Any]:
    """
    Return the site data of the site for which all modules were installed.

    Raises BenchError if the modules were installed for different sites.
    """
    sites = {module.site for module in modules}
    if len(sites) != 1:
        listing = '; '.join(f"{module.name}: {module.site}" for module in modules)
        raise BenchError(
            "results of different sites cannot be compared, but the modules were installed for "
            f"several sites ({listing}). Choose modules of one site: --module NAME"
        )
    entry = next(
        (module.user_site for module in modules if module.user_site), None
    ) or resolve_site(sites.pop())
    # A local file of the user may have set another launcher at installation.
    launcher = read_installation_file(modules[0].environment, SETTINGS).get('launcher')
    return dict(entry, launcher={'value': launcher}) if launcher else entry
