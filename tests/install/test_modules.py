"""Check the modulefiles that the easyblock writes, and load and unload them in Lmod."""

import functools
import itertools
import os
import re
import shlex
import zlib
from pathlib import Path
from typing import NamedTuple

import pytest

from osu_container.data.approaches import APPROACHES
from osu_container.install.module_text import SETTINGS_FOLDER, WIDTH, render_settings_modules
from osu_container.install.site_image import list_image_folders
from osu_container.verdict.injection import TARGET
from osu_container.verdict.settings import build_settings, resolve_approach, select_pmi
from osu_container.verdict.site_choice import resolve_site
from tests.helpers.machine import (
    LMODS,
    STATE,
    VERSIONS,
    EasyBuild,
    assert_success,
    fold_whitespace,
    mark_repeats_nightly,
    run,
    run_clean_shell,
)
from tools.generate import module_files as render
from tools.generate.described_facts import HOST, derive_facts
from tools.generate.described_facts import list_module_names as all_names_of

pytestmark = pytest.mark.system

#: Together these sites have every settings module and every other kind of line
SITES = ['lumi-25.03', 'perlmutter', 'workstation']
RUNS = list(zip(SITES, itertools.cycle(LMODS)))
#: Variables that Lmod and bash change at every command
SHELL_NOISE = re.compile(
    r'^(_ModuleTable|__LMOD_REF_COUNT_(MODULEPATH|_LMFILES_|LOADEDMODULES|PATH)|LMOD_|_$|SHLVL|'
    r'BASH_FUNC|PYTEST_CURRENT_TEST)'
)


@functools.lru_cache(None)
def render_modules(site):
    """Return {'SITE/MODULE/APPROACH': text} of the modules, from this machine's EasyBuild."""
    modules = [f'{site}/{name}' for name in all_names_of(site)]
    return render.render_modules(str(STATE / 'bin/eb'), modules)


def read_module_text(site, name):
    """Return the text of a module, from the repository if it is checked in."""
    module = f'{site}/{name}'
    return (
        (render.MODULES / f'{module}.lua').read_text()
        if module in render.CHECKED_IN_MODULES
        else render_modules(site)[module]
    )


def read_help(site, name):
    return read_module_text(site, name).partition('help([==[')[2].partition(']==])')[0]


@pytest.mark.parametrize('site', SITES)
def test_help_fits_a_terminal_of_80_characters(site):
    for name in list_module_names(site):
        wide = [line for line in read_help(site, name).splitlines() if len(line) > WIDTH]
        assert wide == [], name


def list_module_names(site, prefix='osu-'):
    return [name for name in all_names_of(site) if name.startswith(prefix)]


def list_compared_paths(site, name):
    """Return the paths of libraries whose size a module compares at load, without @HOST@."""
    return re.findall(
        rf'^    {{ "(?:{HOST})?([^"]+)", BYTES }},$', read_module_text(site, name), re.M
    )


def read_settings(site, name):
    return build_settings(
        resolve_approach(name.partition('/')[2]), resolve_site(site), derive_facts(site, name)
    )


def choose_size(path):
    """Return the size in bytes for a library of the module trees, a different one for each path."""
    return 1000 + zlib.crc32(path.encode()) % 100000


def make_tree(site, folder):
    """
    Make a module tree of all modules of a site in a folder, and return the folder.

    Each installation has an empty image. The host has the compared libraries as empty files of the
    expected size.
    """
    host = folder / 'host'
    for name in list_module_names(site):
        root = folder / 'software' / name
        (root / 'bin').mkdir(parents=True)
        (root / derive_facts(site, name)['image']['file']).touch()
        for path, content in render_settings_modules(read_settings(site, name)).items():
            (root / SETTINGS_FOLDER / path).parent.mkdir(parents=True, exist_ok=True)
            (root / SETTINGS_FOLDER / path).write_text(content)
        text = (
            read_module_text(site, name)
            .replace(render.INSTALL, str(root))
            .replace(HOST, '')
            .replace('sif, BYTES', 'sif, 0')
        )
        for path in list_compared_paths(site, name):
            text = text.replace(
                f'{{ "{path}", BYTES }}', f'{{ "{host}{path}", {choose_size(path)} }}'
            )
            there = host / path.lstrip('/')
            there.parent.mkdir(parents=True, exist_ok=True)
            there.touch()
            os.truncate(there, choose_size(path))
        for images in list_image_folders(resolve_site(site), '', {}):
            text = text.replace(f'"{images}"', f'"{host}{images}"')
        module = folder / 'modules' / f'{name}.lua'
        module.parent.mkdir(parents=True, exist_ok=True)
        module.write_text(text)
    return folder


class Moment(NamedTuple):
    """
    State after one step of a shell: exit status, error output, and environment.

    Variables that Lmod and bash change at every command are left out.
    """

    status: int
    output: str
    env: dict


def run_steps(tree, steps, lmod='own', **variables):
    """Run bash scripts one after the other in one shell with Lmod, and return a Moment for each."""
    folder = tree / 'moments'
    folder.mkdir(exist_ok=True)
    here, tree = shlex.quote(str(folder)), shlex.quote(str(tree))
    done = run_clean_shell(
        f'module use {tree}/modules\n'
        + ''.join(
            f'{{ {step}\n}} 2>{here}/{number}.output; echo $? >{here}/{number}.status; env -0 >{here}/{number}.env\n'
            for number, step in enumerate(steps)
        ),
        lmod=lmod,
        **variables,
    )
    assert_success(done)
    found = []
    for number, _ in enumerate(steps):
        status, output, env = (
            (folder / f'{number}.{kind}').read_text() for kind in ('status', 'output', 'env')
        )
        pairs = [line.split('=', 1) for line in env.split('\0') if '=' in line]
        found.append(
            Moment(
                int(status),
                output,
                {key: value for key, value in pairs if not SHELL_NOISE.match(key)},
            )
        )
    return found


def list_load_steps(names):
    """Return the commands that load and unload modules one after the other."""
    return [f'module {action} {name}' for name in names for action in ('load', 'unload')]


def pairwise(moments):
    return list(zip(moments[::2], moments[1::2]))


def list_defaults(site, name):
    """Return the names of the variables that a module sets unless the user has set them."""
    return set(re.findall(r'^ *default\("(\w+)"', read_module_text(site, name), re.M))


def remove_lmod_counts(moment):
    """Return the environment of a Moment without the counters that Lmod keeps after unload."""
    return {key: value for key, value in moment.env.items() if not key.startswith('__LMOD_')}


def matches_data(env, site, name):
    """Return whether the environment has exactly the variables and binds of the data."""
    settings = read_settings(site, name)
    wanted = {variable['name']: variable['value'] for variable in settings.environment.variables}
    assert wanted and set(wanted) == list_defaults(site, name)
    targets = {
        bind.split(':')[-1] for bind in env[f'{settings.container.env_prefix}_BIND'].split(',')
    }
    assert TARGET in targets and not [
        key for key in env if re.match('(APPTAINER|SINGULARITY)ENV', key)
    ]
    assert all(bind[1] in targets for bind in settings.container.binds if bind[0] != bind[1])
    return {key: env.get(key) for key in wanted} == wanted


@pytest.fixture(scope='module')
def tree(tmp_path_factory):
    """Return a function that returns the module tree of a site, which tests must not change."""
    made = {}

    def get_tree(site):
        if site not in made:
            made[site] = make_tree(site, tmp_path_factory.mktemp(site))
        return made[site]

    return get_tree


@pytest.fixture(scope='module')
def plain(tree):
    """
    Return a function (site, lmod) that loads and unloads all modules one after the other.

    The function returns the environment before, and {name: (Moment after load, Moment after unload)}.
    """

    @functools.lru_cache(None)
    def load_modules(site, lmod='own'):
        names = list_module_names(site)
        before, *moments = run_steps(
            tree(site),
            [':', *list_load_steps(names)],
            lmod,
        )
        return before.env, dict(zip(names, pairwise(moments)))

    return load_modules


# ---- the text


@pytest.mark.parametrize('version', mark_repeats_nightly(VERSIONS))
def test_stored_modulefiles_equal_those_of_easybuild(version, tmp_path):
    eb = str(EasyBuild(version, tmp_path).command)
    for name, text in render.render_modules(eb, render.CHECKED_IN_MODULES).items():
        path = render.MODULES / f'{name}.lua'
        assert text == path.read_text(), f'{path} is stale: make modules'


@pytest.mark.parametrize('module', render.CHECKED_IN_MODULES)
def test_checked_in_modulefile_is_short_and_readable(module):
    """The check at load begins with `local changes` and ends before `setenv("SIF", sif)`."""
    text = (render.MODULES / f'{module}.lua').read_text()
    lines = text.splitlines()
    assert len(lines) <= 100 and max(map(len, lines)) <= 120
    check = text[text.index('local changes') : text.index('setenv("SIF", sif)')]
    assert 1 < len(re.findall(r'^(?!end)\w', check, re.M)) <= 6


# ---- in Lmod


@pytest.mark.parametrize('lmod', LMODS)
def test_lmod_checker_finds_no_error(lmod, tree):
    checker = Path(LMODS[lmod]).resolve().with_name('check_module_tree_syntax')
    done = run(
        [checker, *(tree(site) / folder for site in SITES for folder in ('modules', 'software'))]
    )
    assert_success(done)


@pytest.mark.parametrize('site, lmod', RUNS)
def test_load_sets_the_data_values_and_unload_leaves_nothing(site, lmod, plain):
    before, found = plain(site, lmod)
    for name, (loaded, unloaded) in found.items():
        assert (loaded.status, loaded.output) == (unloaded.status, unloaded.output) == (0, ''), name
        assert loaded.env['SLURM_MPI_TYPE'] == select_pmi(
            APPROACHES[name.partition('/')[2]], resolve_site(site)
        )
        assert loaded.env['SIF'].endswith('/' + derive_facts(site, name)['image']['file'])
        assert matches_data(loaded.env, site, name), name
        assert unloaded.env == before, name


@pytest.mark.parametrize('site, lmod', RUNS)
def test_module_swap_equals_a_fresh_load(site, lmod, tree, plain):
    """The modules form a ring: each is swapped in once and out once."""
    before, alone = plain(site, lmod)
    ring = [*list_module_names(site), list_module_names(site)[0]]
    *swapped, unloaded = run_steps(
        tree(site), [*map('module load {}'.format, ring), f'module unload {ring[-1]}'], lmod
    )
    for name, there in zip(ring, swapped):
        assert there.env == alone[name][0].env, name
    assert unloaded.env == before


@pytest.mark.parametrize('site, lmod', RUNS)
def test_settings_module_sets_and_restores_its_variables(site, lmod, tree, plain):
    """Also if the user has set a variable, and if both modules are unloaded by one command."""
    before = plain(site, lmod)[0]
    for name in list_module_names(site, 'osu-container/'):
        more = read_settings(site, name).environment.setting_variables
        steps = [
            f'export FI_PROVIDER=mine; module load {name}',
            *list_load_steps(f'osu-settings/{setting}' for setting in more),
        ]
        last = [f'module load osu-settings/{setting}' for setting in list(more)[:1]]
        mine, *moments, unloaded = run_steps(
            tree(site), [*steps, *last, f'module unload osu-settings {name}'], lmod
        )
        for variables, (loaded, back) in zip(more.values(), pairwise(moments)):
            assert (loaded.status, loaded.output) == (back.status, back.output) == (0, '')
            assert {one['name']: one['value'] for one in variables}.items() <= loaded.env.items()
            assert back.env == mine.env
        assert remove_lmod_counts(unloaded) == {**before, 'FI_PROVIDER': 'mine'}, name


@pytest.mark.parametrize('site, lmod', RUNS)
def test_user_variables_and_binds_win_and_are_restored(site, lmod, tree):
    binds = {'SINGULARITY_BIND': '/mine', 'APPTAINER_BIND': '/also/mine:/there'}
    for name in list_module_names(site, 'osu-container/'):
        mine = {key: f'mine-{key}' for key in list_defaults(site, name)}
        before, loaded, unloaded = run_steps(
            tree(site),
            [
                'export '
                + ' '.join(f"{key}='{value}'" for key, value in {**mine, **binds}.items()),
                f'module load {name}',
                f'module unload {name}',
            ],
            lmod,
        )
        assert mine.items() <= loaded.env.items(), name
        assert all(loaded.env[key].split(',')[0] == bind for key, bind in binds.items()), name
        assert remove_lmod_counts(unloaded) == before.env, name


@pytest.mark.parametrize('site, lmod', RUNS)
def test_a_changed_library_or_image_is_reported_with_the_remedy(site, lmod, tmp_path):
    here = make_tree(site, tmp_path)
    name = max(list_module_names(site), key=lambda name: len(list_compared_paths(site, name)))
    longer, *gone = [f'{here}/host{path}' for path in list_compared_paths(site, name)]
    image = here / 'software' / name / derive_facts(site, name)['image']['file']
    loaded, unloaded = run_steps(
        here,
        [
            f'echo >>{longer}; echo >{image}; rm -f {" ".join(gone)}; module load {name} && '
            'export WENT_ON=1',
            f'module unload {name}',
        ],
        lmod,
    )
    output = fold_whitespace(loaded.output)
    assert re.search(
        '; '.join([f'{image} (.*)', rf'{longer} \1', *(rf'{path} (?!\1)\S[^;]*' for path in gone)]),
        output,
    )
    assert f'eb {name.replace("/", "-")}.eb -r --rebuild' in output and 'WENT_ON' in loaded.env
    assert unloaded.output == ''


def test_other_binding_modules_are_refused(tmp_path):
    here, others = (
        make_tree('lumi-25.03', tmp_path),
        resolve_site('lumi-25.03')['conflicts']['value'],
    )
    for other in others:
        path = here / 'modules' / (f'{other}.lua' if '/' in other else f'{other}/1.lua')
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('setenv("SINGULARITY_BIND", "/theirs")')
    moments = run_steps(
        here,
        [
            step
            for other in others
            for step in (
                f'module load {other} && module load osu-container/hybrid',
                f'module unload {other}',
            )
        ],
    )
    for other, (refused, _) in zip(others, pairwise(moments)):
        assert 'SIF' not in refused.env and refused.env['SINGULARITY_BIND'] == '/theirs'
        assert refused.status and other in refused.output


@pytest.mark.parametrize('site, lmod', RUNS)
def test_bindings_of_the_site_and_a_module_replace_each_other(site, lmod, tmp_path):
    """LUMI's singularity-AI-bindings has the family containerbindings and sets SINGULARITY_BIND."""
    here, ours = make_tree(site, tmp_path), list_module_names(site)[0]
    theirs = here / 'modules' / 'singularity-AI-bindings' / '24.03.lua'
    theirs.parent.mkdir()
    family = resolve_site(site).get('family', {'value': 'slurm_mpi'})['value']
    theirs.write_text(f'family("{family}")\nsetenv("SINGULARITY_BIND", "/theirs")')
    before, *moments, last = run_steps(
        here,
        [
            ':',
            f'module load {ours}',
            'module load singularity-AI-bindings',
            f'module load {ours}',
            f'module unload {ours}',
        ],
        lmod,
    )
    for moment, is_ours in zip(moments, (True, False, True)):
        assert ('OSU_MODULE_ROOT' in moment.env) == is_ours
        assert (moment.env.get('SINGULARITY_BIND') == '/theirs') != is_ours
    assert last.env == before.env


@pytest.mark.nightly
@pytest.mark.parametrize('site, lmod', RUNS[:1])
def test_user_software_is_bound_and_unbound_even_when_packed(site, lmod, tmp_path):
    here = make_tree(site, tmp_path)
    for name in list_module_names(site, 'osu-mpi4py/'):
        root, variable = (
            here / 'software' / name,
            f"{derive_facts(site, name)['host']['runtime']['name'].upper()}_BIND",
        )
        steps = [
            ':',
            f'module load {name}',
            f'mkdir {root}/user-software; module unload {name}; module load {name}',
            f'touch {root}/user-software.squashfs; module unload {name}',
            f'module load {name}',
            f'module unload {name}',
        ]
        before, neither, folder, gone, packed, again = run_steps(here, steps, lmod)
        bound = [
            [bind for bind in moment.env.get(variable, '').split(',') if '/user-software' in bind]
            for moment in (neither, folder, packed)
        ]
        assert bound == [
            [],
            [f'{root}/user-software:/user-software'],
            [f'{root}/user-software.squashfs:/user-software:image-src=.'],
        ]
        assert gone.env == before.env == again.env


def test_a_deleted_image_is_an_error_unless_the_site_has_it(tmp_path):
    site = 'lumi-25.03'
    here, name = make_tree(site, tmp_path), 'osu-container/hybrid'
    image = next((here / 'software' / name).glob('*.sif'))
    image.unlink()
    (gone,) = run_steps(here, [f'module load {name}'])
    assert gone.status and 'SIF' not in gone.env
    assert str(image) in fold_whitespace(
        gone.output
    ) and 'eb osu-container-hybrid.eb -r --rebuild' in fold_whitespace(gone.output)
    # The folder that a variable names is searched first.
    for path in reversed(resolve_site(site)['image_folders']['value']):
        variable, _, rest = path[1:].partition('}') if path.startswith('{') else ('', '', path)
        folder = here / ('repository' if variable else 'host') / rest.lstrip('/')
        folder.mkdir(parents=True, exist_ok=True)
        (folder / image.name).touch()
        variables = {variable: f'{here}/repository'} if variable else {}
        (loaded,) = run_steps(here, [f'module load {name}'], **variables)
        assert loaded.env['SIF'] == str(folder / image.name)
