"""The checked-in module text is what the easyblock writes; Lmod loads it and takes it away without a trace."""
import json
import re

import pytest
import render
from conftest import EASYBUILD_VERSIONS, EasyBuild, clean_shell, folded, run

TARGETS = render.targets()
#: Lmod's own bookkeeping, which it changes at every command, and bash's
SHELL_NOISE = re.compile(r'^(_ModuleTable|__LMOD_REF_COUNT_(MODULEPATH|_LMFILES_|LOADEDMODULES|PATH)|LMOD_|_=|SHLVL|'
                         r'BASH_FUNC)')


def checked_in(site, approach):
    return (render.MODULES / site / 'osu-container' / f'{approach}.lua').read_text()


@pytest.fixture
def modules(tmp_path):
    """A module tree of all checked-in texts of a site, with installations that hold an image; returns a function."""
    def make(site):
        for _, approach in [target for target in TARGETS if target[0] == site]:
            root = tmp_path / 'software' / approach
            (root / 'bin').mkdir(parents=True)
            facts = json.loads((render.MODULES / site / 'facts.json').read_text())[approach]
            (root / facts['image']['file']).touch()
            text = checked_in(site, approach).replace(render.INSTALL, str(root)).replace(render.HOST, '/stand-in')
            module = tmp_path / 'modules' / 'osu-container' / f'{approach}.lua'
            module.parent.mkdir(parents=True, exist_ok=True)
            module.write_text(text)
        return tmp_path
    return make


def in_lmod(tree, script, **variables):
    """Run script in bash with Lmod and the module tree; the environment after it is printed last."""
    return clean_shell(f'module use {tree}/modules\n{script}\n', **variables)


def environment(tree, script, **variables):
    """Return the environment (dict) at the end of script, without the noise of Lmod and bash."""
    done = in_lmod(tree, script + '\necho ======; env -0 | tr "\\n\\0" " \\n"', **variables)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.split('======\n', 1)[1].splitlines()
    return dict(line.split('=', 1) for line in lines if '=' in line and not SHELL_NOISE.match(line))


@pytest.mark.parametrize('version', EASYBUILD_VERSIONS)
@pytest.mark.parametrize('site, approach', TARGETS)
def test_checked_in_text_is_what_this_easybuild_writes(version, site, approach, tmp_path):
    easybuild = EasyBuild(version, tmp_path)
    assert render.render(str(easybuild.command), site, approach, tmp_path) == checked_in(site, approach)


@pytest.mark.parametrize('site', sorted({site for site, _ in TARGETS}))
def test_lmods_own_checker_finds_no_error(site, modules):
    done = run(['/usr/share/lmod/lmod/libexec/check_module_tree_syntax', modules(site) / 'modules'])
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize('site, approach', TARGETS)
def test_load_then_unload_leaves_nothing_behind(site, approach, modules):
    tree = modules(site)
    before = environment(tree, ':')
    during = environment(tree, f'module load osu-container/{approach}')
    after = environment(tree, f'module load osu-container/{approach}; module unload osu-container/{approach}')
    assert during != before and 'SIFOSUMINCONTAINER' in during
    assert after == before


@pytest.mark.parametrize('site, approach', TARGETS)
def test_swap_to_another_approach_is_as_if_only_that_was_loaded(site, approach, modules):
    tree = modules(site)
    for _, other in [target for target in TARGETS if target[0] == site]:
        load = 'module load osu-container'
        swapped = environment(tree, f'{load}/{other}; {load}/{approach} 2>/dev/null')
        assert swapped == environment(tree, f'{load}/{approach}')


@pytest.mark.parametrize('site, approach', TARGETS)
def test_load_is_quiet(site, approach, modules):
    done = in_lmod(modules(site), f'module load osu-container/{approach}; module unload osu-container')
    assert (done.stdout, done.stderr) == ('', '')


@pytest.mark.parametrize('site, approach', TARGETS)
def test_binds_of_the_user_survive_load_and_unload(site, approach, modules):
    tree = modules(site)
    mine = {'SINGULARITY_BIND': '/mine', 'APPTAINER_BIND': '/also/mine:/there'}
    during = environment(tree, f'module load osu-container/{approach}', **mine)
    assert during['SINGULARITY_BIND'].split(',')[0] == '/mine'
    assert during['APPTAINER_BIND'].split(',')[0] == '/also/mine:/there'
    after = environment(tree, f'module load osu-container/{approach}; module unload osu-container', **mine)
    assert {name: after[name] for name in mine} == mine


@pytest.mark.parametrize('site, approach', TARGETS)
def test_variables_of_the_user_win_and_come_back(site, approach, modules):
    tree = modules(site)
    names = re.findall(r'pushenv\("(\w+)", os.getenv', checked_in(site, approach))
    assert names
    mine = {name: f'mine-{name}' for name in names}
    during = environment(tree, f'module load osu-container/{approach}', **mine)
    after = environment(tree, f'module load osu-container/{approach}; module unload osu-container', **mine)
    assert {name: during[name] for name in names} == mine
    assert {name: after[name] for name in names} == mine


@pytest.mark.parametrize('site, approach', TARGETS)
def test_deleted_image_is_an_error_that_says_how_to_get_it_back(site, approach, modules):
    tree = modules(site)
    for image in (tree / 'software' / approach).glob('*.sif'):
        image.unlink()
    done = in_lmod(tree, f'module load osu-container/{approach} && echo loaded')
    assert 'loaded' not in done.stdout
    assert 'is gone. Get it back with' in folded(done.stderr)
    assert f'eb osu-container-{approach}.eb -r --rebuild' in folded(done.stderr)


@pytest.mark.parametrize('site, approach', TARGETS)
def test_help_says_which_mpi_network_srun_and_benchmarks(site, approach, modules):
    text = in_lmod(modules(site), f'module help osu-container/{approach}').stderr
    for line in (r'^MPI: +MPICH \S+ of the (image|host) over libfabric \S+ of the (image|host), provider \w+$',
                 r'^srun: +--mpi=\w+.*srun -N2 -n2 osu_bw', r'^benchmarks: .*osu_bw .*osu_latency'):
        assert re.search(line, text, re.M), line


@pytest.mark.parametrize('site, approach', TARGETS)
def test_every_setting_has_its_reason_in_the_line_above(site, approach):
    lines = checked_in(site, approach).splitlines()
    for number, line in enumerate(lines):
        if re.match(r'(append_path|pushenv)', line):
            assert lines[number - 1].startswith('-- '), line
