"""The text of the modules is what the easyblock writes; Lmod loads it and takes it away without a trace."""
import functools
import os
import re
import shlex
import subprocess
import zlib
from pathlib import Path
from typing import NamedTuple

import pytest

from osu_container.core.data.approaches import APPROACHES
from osu_container.core.deciding.injection import TARGET
from osu_container.core.deciding.settings import FAMILY, approach_entry, pmi_for, settings_for
from osu_container.core.deciding.site_choice import other_stacks, site_entry
from osu_container.core.installing.site_image import image_folders
from osu_container.core.writing.module_text import MODULES, WIDTH, lua_string, settings_modules
from osu_container.generate import module_files as render
from osu_container.generate.described_facts import HOST, facts_of
from osu_container.generate.described_facts import names_of as all_names_of
from tests.helpers.machine import LMODS, STATE, VERSIONS, EasyBuild, all_pairs, clean_shell, folded, one_of_each, run

pytestmark = [pytest.mark.long, pytest.mark.alone]

#: Between them they have every settings module and every other kind of line
SITES = ['lumi-25.03', 'perlmutter', 'workstation']
RUNS = all_pairs(SITES, reversed(LMODS))
#: Lmod's own bookkeeping, which it changes at every command, and bash's
SHELL_NOISE = re.compile(r'^(_ModuleTable|__LMOD_REF_COUNT_(MODULEPATH|_LMFILES_|LOADEDMODULES|PATH)|LMOD_|_$|SHLVL|'
                         r'BASH_FUNC|PYTEST_CURRENT_TEST)')
#: Lines of the longest module, and those that an installation has more: EBDEVEL, the footer
LONGEST, MORE = 110, 3


@functools.lru_cache(None)
def rendered(site):
    """Return {name: text} of the modules of a site, from this machine's EasyBuild."""
    return {path.partition('/')[2][:-len('.lua')]: text
            for path, text in render.texts(str(STATE / 'bin/eb'), [site]).items()}


def text_of(site, name):
    """Return the text of a module, from the repository if it is there."""
    path = f'{site}/{name}.lua'
    return (render.MODULES / path).read_text() if render.is_kept(path) else rendered(site)[name]


def help_of(site, name):
    return text_of(site, name).partition('help([==[')[2].partition(']==])')[0]


@pytest.mark.parametrize('site', SITES)
def test_help_fits_a_terminal_of_80_characters(site):
    for name in names_of(site):
        wide = [line for line in help_of(site, name).splitlines() if len(line) > WIDTH]
        assert wide == [], name


def family_of(site):
    return site_entry(site).get('family', {'value': 'slurm_mpi'})['value']


def names_of(site, of='osu-'):
    return [name for name in all_names_of(site) if name.startswith(of)]


def compared(site, name):
    """Return the paths (list of str) without the stand-in for the host of the libraries that a module compares."""
    return re.findall(rf'^    {{ "(?:{HOST})?([^"]+)", BYTES }},$', text_of(site, name), re.M)


def settings_of(site, name):
    return settings_for(approach_entry(name.partition('/')[2]), site_entry(site), facts_of(site, name))


def size_of(path):
    """Bytes of a library in the trees below, not the same for any two."""
    return 1000 + zlib.crc32(path.encode()) % 100000


def make_tree(site, folder):
    """
    Make a module tree of all checked-in texts of a site in folder, and return folder.

    Installations hold an image, and the host has the libraries that are compared: files of a size and time, no content.
    """
    host = folder / 'host'
    for name in names_of(site):
        root = folder / 'software' / name
        (root / 'bin').mkdir(parents=True)
        (root / facts_of(site, name)['image']['file']).touch()
        for path, content in settings_modules(settings_of(site, name)).items():
            (root / MODULES / path).parent.mkdir(parents=True, exist_ok=True)
            (root / MODULES / path).write_text(content)
        text = text_of(site, name).replace(render.INSTALL, str(root)).replace(HOST, '').replace('sif, BYTES', 'sif, 0')
        for path in compared(site, name):
            text = text.replace(f'{{ "{path}", BYTES }}', f'{{ "{host}{path}", {size_of(path)} }}')
            there = host / path.lstrip('/')
            there.parent.mkdir(parents=True, exist_ok=True)
            there.touch()
            os.truncate(there, size_of(path))
        for images in image_folders(site_entry(site), '', {}):
            text = text.replace(f'"{images}"', f'"{host}{images}"')
        module = folder / 'modules' / f'{name}.lua'
        module.parent.mkdir(parents=True, exist_ok=True)
        module.write_text(text)
    return folder


class Moment(NamedTuple):
    """What a step of a shell left: exit status, errors and messages, environment without the noise of Lmod and bash."""
    status: int
    said: str
    env: dict


def play(tree, steps, lmod='own', **variables):
    """Run steps (list of bash scripts) one after the other in one shell with Lmod; return [Moment], one for each."""
    folder = tree / 'moments'
    folder.mkdir(exist_ok=True)
    here, tree = shlex.quote(str(folder)), shlex.quote(str(tree))
    done = clean_shell(f'module use {tree}/modules\n' + ''.join(
        f'{{ {step}\n}} 2>{here}/{number}.said; echo $? >{here}/{number}.status; env -0 >{here}/{number}.env\n'
        for number, step in enumerate(steps)), lmod=lmod, **variables)
    assert done.returncode == 0, done.stderr
    found = []
    for number, _ in enumerate(steps):
        status, said, env = ((folder / f'{number}.{kind}').read_text() for kind in ('status', 'said', 'env'))
        pairs = [line.split('=', 1) for line in env.split('\0') if '=' in line]
        found.append(Moment(int(status), said, {key: value for key, value in pairs if not SHELL_NOISE.match(key)}))
    return found


def pairwise(moments):
    return list(zip(moments[::2], moments[1::2]))


def defaults_of(site, name):
    """Return the names (set of str) of the variables that a module sets unless the user has."""
    return set(re.findall(r'^ *default\("(\w+)"', text_of(site, name), re.M))


def exports(variables):
    return 'export ' + ' '.join(f"{name}='{value}'" for name, value in variables.items())


def as_the_data_say(env, site, name, scope=''):
    """Return whether env has what the data say for a module where the user has set OSU_SCOPE to scope, and no more."""
    settings = settings_of(site, name)
    wanted = {variable['name']: variable['value'] for variable in settings.sets.variables}
    assert wanted and set(wanted) == defaults_of(site, name)
    for_all = scope != 'commands'
    told = env.get(f'{settings.inside.env_prefix}_BIND', '')
    targets = {bind.split(':')[-1] for bind in told.split(',')}
    assert for_all == (TARGET in targets) and not [key for key in env if re.match('(APPTAINER|SINGULARITY)ENV', key)]
    assert all((bind[1] in targets) == for_all for bind in settings.inside.binds if bind[0] != bind[1])
    return {key: env.get(key) for key in wanted} == wanted


@pytest.fixture(scope='module')
def tree(tmp_path_factory):
    """Function site -> its module tree, which no test changes."""
    made = {}

    def of(site):
        if site not in made:
            made[site] = make_tree(site, tmp_path_factory.mktemp(site))
        return made[site]
    return of


@pytest.fixture(scope='module')
def plain(tree):
    """
    Function (site, lmod) -> (environment before, {name: (Moment loaded, Moment unloaded)}), one module after the other.

    Between the two the user sets OSU_SCOPE.
    """
    made = {}

    def of(site, lmod='own'):
        if (site, lmod) not in made:
            names, steps = names_of(site), [':']
            for name in names:
                steps += [f'module load {name}', f'export OSU_SCOPE=commands; module unload {name}', 'unset OSU_SCOPE']
            before, *moments = play(tree(site), steps, lmod)
            assert all(moment.env == before.env for moment in moments[2::3])
            made[site, lmod] = before.env, dict(zip(names, zip(moments[::3], moments[1::3])))
        return made[site, lmod]
    return of


# ---- the text

@pytest.mark.parametrize('version', one_of_each(VERSIONS))
def test_text_of_the_repository_is_what_this_easybuild_writes(version, tmp_path):
    found = render.texts(str(EasyBuild(version, tmp_path).command), render.KEPT, render.KEPT.get)
    assert len(found) == 1
    for path, text in found.items():
        assert text == (render.MODULES / path).read_text(), f'{path} is stale: make modules'


@pytest.mark.parametrize('site', SITES)
def test_a_module_is_short_and_has_a_word_behind_each_statement(site):
    for name in names_of(site):
        lines = text_of(site, name).splitlines()
        assert len(lines) + MORE <= LONGEST and sum('function ' in line for line in lines) <= 2, name
        calls = [line for line in lines if re.match(r' *(default|inject|family|conflict)\(', line)]
        assert [line for line in calls if ' -- ' not in line] == [f'conflict("{name.partition("/")[0]}")'], name


# ---- in Lmod

@pytest.mark.parametrize('lmod', LMODS)
def test_lmods_own_checker_finds_no_error(lmod, tree):
    checker = Path(LMODS[lmod]).resolve().with_name('check_module_tree_syntax')
    done = run([checker, *(tree(site) / folder for site in SITES for folder in ('modules', 'software'))])
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize('site, lmod', RUNS)
def test_load_is_quiet_and_sets_what_the_data_say(site, lmod, plain):
    for name, (loaded, _) in plain(site, lmod)[1].items():
        assert (loaded.status, loaded.said) == (0, ''), name
        assert loaded.env['SLURM_MPI_TYPE'] == pmi_for(APPROACHES[name.partition('/')[2]], site_entry(site))
        assert loaded.env['SIF'].endswith('/' + facts_of(site, name)['image']['file'])
        assert as_the_data_say(loaded.env, site, name), name


@pytest.mark.parametrize('site, lmod', RUNS)
def test_unload_leaves_nothing_behind_but_what_the_user_has_set_meanwhile(site, lmod, plain):
    before, found = plain(site, lmod)
    for name, (_, unloaded) in found.items():
        assert (unloaded.status, unloaded.said) == (0, ''), name
        assert unloaded.env == {**before, 'OSU_SCOPE': 'commands'}, name


@pytest.mark.parametrize('site, lmod', RUNS)
def test_swap_to_another_approach_is_as_if_only_that_was_loaded(site, lmod, tree, plain):
    """A ring: every module is swapped to and from once."""
    before, alone = plain(site, lmod)
    ring = [*names_of(site), names_of(site)[0]]
    *swapped, unloaded = play(tree(site), [*map('module load {}'.format, ring), f'module unload {ring[-1]}'], lmod)
    for name, there in zip(ring, swapped):
        assert there.env == alone[name][0].env, name
    assert unloaded.env == before


@pytest.mark.parametrize('site, lmod', RUNS)
def test_the_scope_holds_from_load_to_unload(site, lmod, tree, plain):
    before, names = plain(site, lmod)[0], names_of(site, 'osu-container/')
    steps = [step for name in names for step in (
        f'export OSU_SCOPE=commands; module load {name}', f'unset OSU_SCOPE; module unload {name}')]
    for name, (loaded, unloaded) in zip(names, pairwise(play(tree(site), steps, lmod))):
        assert as_the_data_say(loaded.env, site, name, 'commands'), name
        assert (unloaded.said, unloaded.env) == ('', before), name


@pytest.mark.parametrize('site, lmod', RUNS)
def test_a_settings_module_sets_its_variables_over_the_modules_and_gives_them_back(site, lmod, tree, plain):
    """Whatever the user has set, and whether it is unloaded before the module that shows it or with that."""
    before, found = plain(site, lmod)
    for name in names_of(site, 'osu-container/'):
        more = settings_of(site, name).sets.more
        steps = [f'export FI_PROVIDER=mine; module load {name}', *(step for setting in more for step in (
            f'module load osu-settings/{setting}', f'module unload osu-settings/{setting}'))]
        last = [f'module load osu-settings/{setting}' for setting in list(more)[:1]]
        mine, *moments, unloaded = play(tree(site), [*steps, *last, f'module unload osu-settings {name}'], lmod)
        for (_, variables), (loaded, back) in zip(more.items(), pairwise(moments)):
            assert (loaded.status, loaded.said) == (back.status, back.said) == (0, '')
            assert {one['name']: loaded.env[one['name']] for one in variables} == {
                one['name']: one['value'] for one in variables}
            assert back.env == mine.env
        assert {key: value for key, value in unloaded.env.items() if not key.startswith('__LMOD_')
                } == {**before, 'FI_PROVIDER': 'mine'}, name


@pytest.mark.parametrize('site, lmod', RUNS)
def test_variables_and_binds_of_the_user_win_and_come_back(site, lmod, tree):
    binds = {'SINGULARITY_BIND': '/mine', 'APPTAINER_BIND': '/also/mine:/there'}
    names, steps, users = names_of(site, 'osu-container/'), [], []
    for name in names:
        mine = {key: f'mine-{key}' for key in [*sorted(defaults_of(site, name)), 'CXI_FORK_SAFE']}
        steps += [f'{exports({**mine, **binds})}; module load {name}', f'module unload {name}',
                  f'unset {" ".join([*mine, *binds])} ${{!__LMOD_REF_COUNT_*}} ${{!__LMOD_STACK_*}}']
        users.append(mine)
    before, *moments = play(tree(site), [':', *steps], lmod)
    for name, mine, loaded, unloaded in zip(names, users, moments[::3], moments[1::3]):
        assert {key: loaded.env[key] for key in mine} == mine, name
        for key, bind in binds.items():
            assert loaded.env[key].split(',')[0] == bind, name
        # Lmod goes on counting what is in a path, and goes on having a stack of values
        assert {key: value for key, value in unloaded.env.items() if not key.startswith('__LMOD_')
                } == {**before.env, **mine, **binds}, name


@pytest.mark.parametrize('site, lmod', RUNS)
def test_a_changed_host_or_image_is_told_once_with_what_to_type(site, lmod, tmp_path):
    """Every second library is longer; then all are gone, and the image is another one."""
    here = make_tree(site, tmp_path)
    names = [name for name in names_of(site) if compared(site, name)]
    paths = sorted({path for name in names for path in compared(site, name)})
    for path in paths[::2]:
        os.truncate(f'{here}/host{path}', size_of(path) + 1)
    last = max(names, key=lambda name: len(compared(site, name)))
    image = here / 'software' / last / facts_of(site, last)['image']['file']
    gone = [f'{here}/host{path}' for path in compared(site, last)]
    stacks = other_stacks(site_entry(site))
    value, new = next(iter(stacks.items()), ('', ''))
    variable = site_entry(site)['stack']['value']['variable'] if stacks else 'NO_STACK'
    *moments, loaded, _ = play(here, [
        *(step for name in names for step in (f'module load {name}', f'module unload {name}')),
        f'rm {" ".join(gone)}; echo >{image}; export {variable}={value}; module load {last} && export WENT_ON=1',
        f'module unload {last}'], lmod)
    for name, (changed, unloaded) in zip(names, pairwise(moments)):
        wanted = [f'{here}/host{path} has changed' for path in compared(site, name) if path in paths[::2]]
        assert folded(changed.said) == (
            f'Warning: not as at installation: {"; ".join(wanted)}. Programs may fail. Install it again: module unload '
            f'{name.split("/")[0]}; eb {name.replace("/", "-")}.eb -r --rebuild' if wanted else '')
        assert 'SIF' in changed.env and unloaded.said == ''
    wanted = '; '.join([f'{image} has changed', *(f'{path} is gone' for path in gone)])
    said = folded(loaded.said)
    assert f'{wanted}. Programs may fail. ' in said and 'WENT_ON' in loaded.env
    assert ('Install it again: ' not in said and re.search(
        rf'The stack loaded is site {new}: module unload \S+; eb \S+ -r --rebuild --try-amend=site={new}$', said)
            if stacks else 'Install it again: ' in said), said


@pytest.mark.parametrize('site', ['lumi-25.03', 'setonix'])
def test_other_modules_that_bind_are_refused_beside_it(site, tmp_path):
    here, others = make_tree(site, tmp_path), site_entry(site)['conflicts']['value']
    for other in others:
        path = here / 'modules' / (f'{other}.lua' if '/' in other else f'{other}/1.lua')
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('setenv("SINGULARITY_BIND", "/theirs")')
    names = names_of(site)
    pairs = [(names[number % len(names)], others[number % len(others)])
             for number in range(max(len(names), len(others)))]
    moments = play(here, [step for name, other in pairs for step in (
        f'module load {other} && module load {name}', f'module unload {other}')])
    for (name, other), (refused, _) in zip(pairs, pairwise(moments)):
        assert 'SIF' not in refused.env and refused.env['SINGULARITY_BIND'] == '/theirs'
        assert refused.status and other in refused.said, name


@pytest.mark.parametrize('site, lmod', RUNS)
def test_what_is_replaced_is_said_once_and_bindings_of_the_site_are_replaced_both_ways(site, lmod, tmp_path):
    """LUMI's singularity-AI-bindings is of the family containerbindings, and sets SINGULARITY_BIND."""
    here, names = make_tree(site, tmp_path), names_of(site)
    theirs = here / 'modules' / 'singularity-AI-bindings' / '24.03.lua'
    theirs.parent.mkdir()
    theirs.write_text(f'family("{family_of(site)}")\nsetenv("SINGULARITY_BIND", "/theirs")')
    ring = [names[0], next((name for name in names if name.startswith('osu-mpi4py/')), 'singularity-AI-bindings')]
    ring += [names[0], 'singularity-AI-bindings', names[-1]]
    before, *moments = play(here, [':', *(f'module load {name}' for name in ring), f'module unload {ring[-1]}'], lmod)
    for old, new, moment in zip(ring, ring[1:], moments[1:]):
        # Lmod says it for each family: those that bind at this site, those of this project
        families = 1 + (family_of(site) != FAMILY and old.startswith('osu-') and new.startswith('osu-'))
        assert folded(moment.said).count('is automatically replacing') == (
            families if old.split('/')[0] != new.split('/')[0] else 0)
        assert ('OSU_MODULE_ROOT' in moment.env) == new.startswith('osu-')
        assert (moment.env.get('SINGULARITY_BIND') == '/theirs') != new.startswith('osu-')
    assert moments[-1].env == before.env


@pytest.mark.parametrize('site, lmod', all_pairs(['lumi-25.03', 'workstation'], reversed(LMODS)))
def test_software_of_the_user_is_bound_and_taken_away_also_when_it_was_packed_meanwhile(site, lmod, tmp_path):
    here = make_tree(site, tmp_path)
    for name in names_of(site, 'osu-mpi4py/'):
        root, variable = here / 'software' / name, f"{facts_of(site, name)['host']['runtime']['name'].upper()}_BIND"
        steps = [':', f'module load {name}', f'mkdir {root}/user-software; module unload {name}; module load {name}',
                 f'touch {root}/user-software.squashfs; module unload {name}', f'module load {name}',
                 f'module unload {name}']
        before, neither, folder, gone, packed, again = play(here, steps, lmod)
        bound = [[bind for bind in moment.env.get(variable, '').split(',') if '/user-software' in bind]
                 for moment in (neither, folder, packed)]
        assert bound == [[], [f'{root}/user-software:/user-software'],
                         [f'{root}/user-software.squashfs:/user-software:image-src=.']]
        assert gone.env == before.env == again.env


#: Texts that end a string or a line of Lua, of bash or of a terminal
HOSTILE = ['" .. os.execute("touch ran") .. "', "'; touch ran; '", '$(touch ran)', '`touch ran`', '--[[', '$HOME', '\\',
           ']==] os.execute("touch ran")', 'a\nos.execute("touch ran")', 'a\ros.execute("touch ran")', '\x1b]0;x\x07',
           '\0', 'ü€\x7f', '\\"', '\\u0007', '%s %d %%', os.fsdecode(b'\xff\xfe'), '\u2028os.execute("touch ran")']


@pytest.mark.parametrize('text', HOSTILE)
def test_a_text_is_data_in_lua(text, tmp_path):
    """Lua itself is the oracle: what it writes for the literal is the text, byte by byte, and nothing has run."""
    script = tmp_path / 'script.lua'
    script.write_bytes(os.fsencode(f'io.write({lua_string(text)})'))
    done = subprocess.run(['lua', script], cwd=tmp_path, capture_output=True)
    assert (done.stdout, done.stderr) == (os.fsencode(text), b'') and not (tmp_path / 'ran').exists()


@pytest.mark.parametrize('site', SITES)
def test_deleted_image_is_an_error_with_its_way_back_unless_the_site_has_it(site, tmp_path):
    here, names = make_tree(site, tmp_path), names_of(site)
    images = {name: next((here / 'software' / name).glob('*.sif')) for name in names}
    for image in images.values():
        image.unlink()
    for name, moment in zip(names, play(here, [f'module load {name}' for name in names])):
        assert moment.status and 'SIF' not in moment.env
        assert (f'The image {images[name]} is gone. Get it back with: eb {name.replace("/", "-")}.eb -r --rebuild'
                in folded(moment.said))
    # a folder that a variable names comes first
    for path in reversed(site_entry(site)['image_folders']['value']):
        variable, _, rest = path[1:].partition('}') if path.startswith('{') else ('', '', path)
        folder = here / ('repository' if variable else 'host') / rest.lstrip('/')
        folder.mkdir(parents=True, exist_ok=True)
        for image in images.values():
            (folder / image.name).touch()
        before, *moments = play(here, [':', *(f'module load {name}' for name in names), f'module unload {names[-1]}'],
                                **{variable: f'{here}/repository' for variable in [variable] if variable})
        for name, loaded in zip(names, moments):
            assert loaded.env['SIF'] == str(folder / images[name].name)
        assert moments[-1].env == before.env
        for image in images.values():
            (folder / image.name).unlink(missing_ok=True)
