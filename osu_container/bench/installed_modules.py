"""
What an installed module is: environment after `module load`, programs, image, and which network its
ranks use.

Everything comes from the loaded module itself. The file settings.json of the installation, which
osu-explain reads too, says for which site it was made.
"""

from __future__ import annotations

import functools
import os
import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

from osu_container.base.files import read_json
from osu_container.base.places import PROJECT, STATE
from osu_container.bench import BenchError, record
from osu_container.data.approaches import APPROACHES
from osu_container.data.sites import BASES
from osu_container.image.elf import ElfError, read_elf
from osu_container.image.libraries import compute_sha256
from osu_container.proof.judging import parse_expectation
from osu_container.verdict.settings import FAMILY as FALLBACK_FAMILY
from osu_container.verdict.site_choice import resolve_site

#: Names of the modules of this project (the part before the slash) that are measured unless others
#: are named
CONTAINER_MODULE, NATIVE_MODULE = 'osu-container', 'osu-native'
#: What every module of the easyblocks sets: its installation, in which settings.json lies
ROOT_VARIABLE = 'OSU_MODULE_ROOT'
#: What programs are linked with that were built for GPUs: configure of OSU 7.4 looks for these with
#: --enable-rocm, --enable-cuda and --enable-sycl, and the compiler of --enable-openacc brings its
#: own
GPU_LIBRARIES = re.compile(r'lib(amdhip64|cuda|cudart|sycl|ze_loader|acc\w*)\.so')
#: The one of them that is loaded, by Lmod's word on their families: one a site
FAMILY_EXPRESSION = ' '.join(
    f'${{LMOD_FAMILY_{family.upper()}-}}'
    for family in sorted(
        {entry['family']['value'] for entry in BASES.values() if 'family' in entry}
        | {FALLBACK_FAMILY}
    )
)


def resolve_lmod_environment():
    """
    Return the environment (dict) in which `module load` works: that of the caller, or that of the
    project's env.sh.

    Raises BenchError if there is neither.
    """
    if os.environ.get('LMOD_CMD') and os.environ.get('MODULEPATH'):
        return dict(os.environ)
    if (STATE / 'bin' / 'eb').exists():
        return _capture_environment(
            f'. {shlex.quote(str(PROJECT / "env.sh"))}', dict(os.environ), '`. ./env.sh`'
        )
    raise BenchError(
        "this shell has no Lmod (LMOD_CMD is not set), so modules cannot be loaded. On a supercomputer "
        "use a login shell (bash -l); on your own machine run `make demo` in this folder first"
    )


def _capture_environment(script, env, what):
    """
    Return the environment (dict) after a bash script.

    :param what: str, names the script in messages
    Raises BenchError if it fails, or does not come to its end (Lmod's `false` in the middle of it).
    """
    done = subprocess.run(
        ['bash', '--norc', '-c', f'set -e\n{script}\nprintf "\\0\\0"; env -0'],
        env=env,
        capture_output=True,
        text=True,
        errors='replace',
        stdin=subprocess.DEVNULL,
    )
    if done.returncode:
        raise BenchError(
            f"{what} failed: {_shorten_lmod_message(done.stderr) or done.stdout.strip() or 'no message'}"
        )
    return dict(
        item.split('=', 1) for item in done.stdout.partition('\0\0')[2].split('\0') if '=' in item
    )


def _shorten_lmod_message(text):
    """Return text (str) on one line: Lmod wraps its messages, and says twice where to look."""
    return ' '.join(text.partition('If the avail list')[0].split())


def render_load_script(name):
    """
    Return the lines of bash (str) that load a module: Lmod's command as the function `module`
    calls it.
    """
    return f'load=$("$LMOD_CMD" bash load {shlex.quote(name)})\neval "$load"'


@dataclass
class Module:
    """
    A module that can be loaded.

    name         as loaded, 'osu-container/hybrid'
    approach     'native' or the name of an approach
    site         the site it was made for
    environment  dict, after loading it
    programs     set of str: the osu_* that it brings
    entry        the site's entry (dict) where the site is not in the data but in a file of the user's, else None
    """

    name: str
    approach: str
    site: str
    environment: dict
    programs: set
    user_site: dict | None = None

    @property
    def is_container(self):
        """Return True if its programs run in a container."""
        return APPROACHES[self.approach]['container']

    @property
    def modulefile(self):
        """Return the module file (Path), None if Lmod does not name it."""
        listed = self.environment.get('_LMFILES_', '').split(':')
        wanted = re.compile(rf'/{re.escape(self.name)}(/[^/]+)?\.lua$')
        return next((Path(path) for path in listed if wanted.search(path)), None)

    @property
    def pmi(self):
        """
        Return the kind of PMI (str) that its MPI wants, None where its installation does not say
        it.
        """
        return read_installation_file(self.environment, SETTINGS).get('pmi')

    @property
    def is_python(self):
        """
        Return True if its programs are the Python ones, whose buffers are NumPy or CuPy arrays.
        """
        return bool(re.search('NumPy|Python', self._labels.get('org.osu-container.osu', '')))

    @property
    def _labels(self):
        """Return the labels of its image (dict), {} where it has none or they cannot be read."""
        return (self.facts.get('image') or {}).get('labels') or {}

    def explain_missing_gpu_support(self, program):
        """
        Return why the buffers of a program (str) cannot be in GPU memory (str), None if they can or
        it is not known.

        A program without support for GPUs ignores `D D` and measures host memory. What runs
        nevertheless must say where its buffers are (osu_output.parse).
        """
        if self.is_container:
            has_gpu = (read_installation_file(self.environment, FACTS).get('image') or {}).get(
                'gpu'
            )
            if self._labels.get('org.osu-container.gpu', 'none') == 'none' and has_gpu is False:
                return f"the image of {self.name} has neither ROCm nor CUDA: its programs can use host memory only"
            return None
        try:
            needed = read_elf(
                os.path.join(self.environment.get(ROOT_VARIABLE, '/nonexistent'), 'bin', program)
            ).needed
        except ElfError:  # a port, which loads what it needs when it runs
            return None
        if any(map(GPU_LIBRARIES.match, needed)):
            return None
        return (
            f"{program} of {self.name} is linked with no library of GPUs, so it can use host memory only. Build it "
            "with --enable-rocm or --enable-cuda (native of the site, docs/add-a-site.md)"
        )

    @functools.cached_property
    def facts(self):
        """What results.jsonl says of it (dict); network is added once a run has shown it."""
        env = self.environment
        promise = parse_expectation(env.get('OSU_PROMISE', ''))
        found = {
            'name': self.name,
            'approach': self.approach,
            'container': self.is_container,
            'comes_from': dict(APPROACHES[self.approach]['comes_from'], **promise.library_origins),
            'variables': record.select_variables(env),
            'module_file': record.describe_file(self.modulefile, text=True)
            if self.modulefile
            else None,
        }
        if env.get('SIF'):
            found['image'] = record.describe_image(env['SIF'], record.resolve_runtime(env))
        return found

    def hash_inputs(self):
        """
        Return {name: sha256} of what its numbers depend on: module file, image or programs,
        injected libraries.
        """
        file, image = self.facts['module_file'], self.facts.get('image')
        found = {f'module {self.name}': file['sha256'] if file else 'unknown'}
        if image:
            found[f'image of {self.name}'] = image['sha256']
        paths = [
            bind['path']
            for bind in read_installation_file(self.environment, SETTINGS).get('binds') or ()
        ]
        if not self.is_container:
            paths += [
                os.path.join(self.environment[ROOT_VARIABLE], 'bin', name) for name in self.programs
            ]
        return dict(
            found,
            **{
                f'file {os.path.realpath(path)}': compute_sha256(path)
                for path in paths
                if os.path.isfile(path)
            },
        )


#: Files of an installation: what osu-explain reads, and image and host
#: (osu_container/install/easyblock.py)
SETTINGS, FACTS = 'settings.json', 'facts.json'


def read_installation_file(env, name):
    """
    Return what a file (str, SETTINGS or FACTS) of the loaded module says (dict); {} if it is not
    there.

    Raises BenchError if it is damaged.
    """
    path = Path(env.get(ROOT_VARIABLE, '/nonexistent')) / name
    try:
        return dict(read_json(path))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError) as err:
        raise BenchError(
            f"{path} is damaged: {err}. Install the module again: eb ... --rebuild"
        ) from err


def load_module(name, base=None):
    """
    Return the Module of this name (str).

    Raises BenchError if it cannot be loaded or is none of this project's.
    """
    base = resolve_lmod_environment() if base is None else base
    # LD_LIBRARY_PATH etc. of a module that the caller has loaded would reach the runs of the
    # others.
    env = _capture_environment(
        f'purge=$("$LMOD_CMD" bash unload {FAMILY_EXPRESSION} 2>/dev/null) && eval "$purge" || :\n'
        + render_load_script(name),
        base,
        f'`module load {name}`',
    )
    loaded = next(
        (
            one
            for one in reversed(env.get('LOADEDMODULES', '').split(':'))
            if one.split('/')[0] == name.split('/')[0]
        ),
        name,
    )
    settings = read_installation_file(env, SETTINGS)
    if None in map(settings.get, ('site', 'approach', 'programs')):
        raise BenchError(
            f"module {loaded} is none of this project's: its installation has no settings.json that names "
            "site, approach and programs. Install it again: eb ... --rebuild"
        )
    return Module(
        loaded,
        settings['approach'],
        settings['site'],
        env,
        set(settings['programs']),
        settings.get('site_entry'),
    )


def list_installed_modules(base):
    """
    Return the names of the installed modules of this project (list of str): native first, then by
    approach.

    :param base: dict, an environment with Lmod
    """
    done = subprocess.run(
        [base['LMOD_CMD'], 'bash', '-t', 'avail', NATIVE_MODULE + '/', CONTAINER_MODULE + '/'],
        env=base,
        capture_output=True,
        text=True,
        errors='replace',
        stdin=subprocess.DEVNULL,
    )
    lines = [
        re.sub(r'(\(.*\)|<.*>)$', '', line.strip())
        for line in (done.stderr + done.stdout).splitlines()
    ]
    found = list(
        dict.fromkeys(
            line
            for line in lines
            if re.fullmatch(rf'({NATIVE_MODULE}|{CONTAINER_MODULE})/[\w.+-]+', line)
        )
    )
    # Of several versions of osu-native the default is enough: they are the same programs.
    natives = [name for name in found if name.startswith(NATIVE_MODULE)]
    order = list(APPROACHES)

    def place(name):
        approach = name.partition('/')[2].split('-')[0]
        return order.index(approach) if approach in order else len(order)

    return natives[-1:] + sorted((name for name in found if name not in natives), key=place)


def resolve_common_site(modules):
    """
    Return the site entry (dict) of modules (list of Module). Raises BenchError if they were made
    for several.
    """
    sites = {module.site for module in modules}
    if len(sites) != 1:
        which = '; '.join(f"{module.name}: {module.site}" for module in modules)
        raise BenchError(
            f"the modules were made for several sites, whose figures do not compare ({which}). "
            "Choose modules of one with --module"
        )
    entry = next(
        (module.user_site for module in modules if module.user_site), None
    ) or resolve_site(sites.pop())
    launcher = read_installation_file(modules[0].environment, SETTINGS).get(
        'launcher'
    )  # it may be the user's, by a local file
    return dict(entry, launcher={'value': launcher}) if launcher else entry
