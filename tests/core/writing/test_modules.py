"""The checked-in module text is what the easyblock writes; Lmod loads it and takes it away without a trace."""
import json
import os
import re

import pytest

from osu_container.core.data.approaches import APPROACHES
from osu_container.core.deciding.settings import pmi_for
from osu_container.core.deciding.site_choice import site_entry
from osu_container.generate import module_files as render
from tests.helpers.machine import EASYBUILD_VERSIONS, LMODS, EasyBuild, clean_shell, folded, run

TARGETS = render.targets()
INJECTING = [(site, name) for site, name in TARGETS if APPROACHES[name.partition('/')[2]]['inject']]
#: Lmod's own bookkeeping, which it changes at every command, and bash's
SHELL_NOISE = re.compile(r'^(_ModuleTable|__LMOD_REF_COUNT_(MODULEPATH|_LMFILES_|LOADEDMODULES|PATH)|LMOD_|_=|SHLVL|'
                         r'BASH_FUNC)')


def checked_in(site, name):
    return (render.MODULES / site / f'{name}.lua').read_text()


@pytest.fixture
def modules(tmp_path):
    """
    A module tree of all checked-in texts of a site; returns a function.

    Installations hold an image, and the host has the recorded libraries: files of their size and time, no content.
    """
    def make(site):
        for name in [target[1] for target in TARGETS if target[0] == site]:
            root = tmp_path / 'software' / name
            (root / 'bin').mkdir(parents=True)
            facts = json.loads((render.MODULES / site / 'facts.json').read_text())[name]
            (root / facts['image']['file']).touch()
            text = checked_in(site, name).replace(render.INSTALL, str(root))
            for library in facts['host'].get('injected', []):
                path = library['path'].replace(render.HOST, '')
                text = text.replace(f'"{library["path"]}"', f'"{tmp_path}/host{path}"')
                there = tmp_path / 'host' / path.lstrip('/')
                there.parent.mkdir(parents=True, exist_ok=True)
                there.touch()
                os.truncate(there, library['size'])
                os.utime(there, (library['mtime'], library['mtime']))
            for folder in site_entry(site)['image_folders']['value']:
                text = text.replace(folder, f'{tmp_path}/host{folder}')
            text = text.replace(render.HOST, f'{tmp_path}/host')
            module = tmp_path / 'modules' / f'{name}.lua'
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
@pytest.mark.parametrize('site', sorted({site for site, _ in TARGETS}))
def test_checked_in_text_is_what_this_easybuild_writes(version, site, tmp_path):
    texts = render.render(str(EasyBuild(version, tmp_path).command), site, tmp_path)
    assert set(texts) == {target[1] for target in TARGETS if target[0] == site}
    for name, text in texts.items():
        assert text == checked_in(site, name)


@pytest.mark.parametrize('site', sorted({site for site, _ in TARGETS}))
def test_lmods_own_checker_finds_no_error(site, modules):
    done = run(['/usr/share/lmod/lmod/libexec/check_module_tree_syntax', modules(site) / 'modules'])
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize('site, name', TARGETS)
def test_load_then_unload_leaves_nothing_behind(site, name, modules):
    tree = modules(site)
    before = environment(tree, ':')
    during = environment(tree, f'module load {name}')
    after = environment(tree, f'module load {name}; module unload {name}')
    assert during != before and 'MPI_CONTAINER_IMAGE' in during
    assert after == before


@pytest.mark.parametrize('site, name', TARGETS)
def test_swap_to_another_approach_is_as_if_only_that_was_loaded(site, name, modules):
    tree = modules(site)
    for _, other in [target for target in TARGETS if target[0] == site]:
        load = 'module load'
        swapped = environment(tree, f'{load} {other}; {load} {name} 2>/dev/null')
        assert swapped == environment(tree, f'{load} {name}')


@pytest.mark.parametrize('lmod', LMODS)
@pytest.mark.parametrize('site, name', TARGETS)
def test_load_and_unload_are_quiet(site, name, lmod, modules):
    done = in_lmod(modules(site), f'module load {name}; echo $SLURM_MPI_TYPE; module unload '
                                  f'{name}; echo $SLURM_MPI_TYPE', lmod=lmod)
    assert done.stderr == ''
    assert done.stdout == pmi_for(APPROACHES[name.partition('/')[2]], site_entry(site)) + '\n\n'


@pytest.mark.parametrize('lmod', LMODS)
@pytest.mark.parametrize('site', sorted({site for site, _ in TARGETS}))
def test_help_and_a_subshell_with_loaded_modules_are_no_error(site, lmod, modules):
    tree = modules(site)
    for name in [target[1] for target in TARGETS if target[0] == site]:
        module = name.partition('/')[0]
        done = in_lmod(tree, f'module load {name}; module refresh; module show {module}; '
                             f'module help {module}; module whatis {module}', lmod=lmod)
        assert done.returncode == 0 and 'Lmod has detected' not in done.stderr and 'lua' not in done.stderr.replace(
            f'{name}.lua', ''), done.stderr
        assert 'Description' in done.stderr + done.stdout


@pytest.mark.parametrize('lmod', LMODS)
@pytest.mark.parametrize('site, name', INJECTING)
def test_a_changed_host_is_told_once_with_old_new_and_what_to_type(site, name, lmod, modules):
    tree = modules(site)
    facts = json.loads((render.MODULES / site / 'facts.json').read_text())[name]
    fabric = next(library for library in facts['host']['injected'] if library['soname'] == 'libfabric.so.1')
    path = tree / 'host' / fabric['path'].replace(render.HOST, '').lstrip('/')
    os.truncate(path, 12345)
    os.utime(path, (1767225600, 1767225600))  # 2026-01-01
    done = in_lmod(tree, f'module load {name}; echo loaded $SIF; module unload {name}',
                   lmod=lmod)
    text = folded(done.stderr)
    assert text.count('The host has changed') == 1
    assert f"{path} was {fabric['what']}, {fabric['size']} bytes of " in text
    assert 'and is now 12345 bytes of 2026-01-01' in text
    assert 'Install it again: eb ' + name.replace('/', '-') + '.eb -r --rebuild' in text
    assert 'loaded /' in done.stdout and 'Error' not in done.stderr
    path.unlink()
    gone = folded(in_lmod(tree, f'module load {name}', lmod=lmod).stderr)
    assert f"{path} is gone (it was {fabric['what']}, " in gone and gone.count('The host has changed') == 1


@pytest.mark.parametrize('site, name', TARGETS)
def test_loading_starts_no_program(site, name):
    assert not re.search(r'capture|subprocess|os\.execute|io\.popen', checked_in(site, name))


SWITCHED = [(site, name) for site, name in TARGETS if 'switches["OSU_RCCL_' in checked_in(site, name)]


@pytest.mark.parametrize('lmod', LMODS)
@pytest.mark.parametrize('site, name', SWITCHED)
def test_switches_hold_from_load_to_unload(site, name, lmod, modules):
    tree = modules(site)
    load = f'module load {name}'
    on = environment(tree, load, lmod=lmod, OSU_RCCL_STRICT='1', OSU_RCCL_ALT_READ='1')
    off = environment(tree, load, lmod=lmod)
    if site_entry(site)['gpu']['value']:
        assert (on['NCCL_NET'], on['FI_CXI_RDZV_PROTO']) == ('AWS Libfabric', 'alt_read')
        assert 'disable_rdzv_get' in on['SLURM_NETWORK']
    assert not {'NCCL_NET', 'FI_CXI_RDZV_PROTO'} & set(off)
    # the user changes the switch while the module is loaded
    after = environment(tree, f'export OSU_RCCL_STRICT=1; {load}; unset OSU_RCCL_STRICT; module unload {name}',
                        lmod=lmod)
    late = environment(tree, f'{load}; export OSU_RCCL_STRICT=1 NCCL_NET=mine; module unload {name}', lmod=lmod)
    assert 'NCCL_NET' not in after and late['NCCL_NET'] == 'mine'


@pytest.mark.parametrize('site, name', SWITCHED)
def test_network_of_the_job_wins(site, name, modules):
    tree = modules(site)
    found = environment(tree, f'module load {name}', SLURM_NETWORK='job_vni', OSU_RCCL_ALT_READ='1')
    assert found['SLURM_NETWORK'] == 'job_vni'


@pytest.mark.parametrize('site, name', [target for target in TARGETS
                                            if site_entry(target[0])['conflicts']['value']])
def test_other_modules_that_bind_are_refused_beside_it(site, name, modules):
    tree = modules(site)
    for other in site_entry(site)['conflicts']['value']:
        path = tree / 'modules' / (f'{other}.lua' if '/' in other else f'{other}/1.lua')
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('setenv("SINGULARITY_BIND", "/theirs")')
        done = in_lmod(tree, f'module load {other} && module load {name}; echo ${{SIF:-none}}')
        assert 'none' in done.stdout and other in done.stderr


@pytest.mark.parametrize('site, name', [target for target in TARGETS
                                            if site_entry(target[0])['image_folders']['value']])
def test_the_sites_own_image_is_taken_where_the_copy_was_deleted(site, name, modules):
    tree = modules(site)
    image = next((tree / 'software' / name).glob('*.sif')).name
    (tree / 'software' / name / image).unlink()
    folder = tree / 'host' / site_entry(site)['image_folders']['value'][0].lstrip('/')
    folder.mkdir(parents=True)
    (folder / image).touch()
    found = environment(tree, f'module load {name}')
    assert found['SIF'] == found['MPI_CONTAINER_IMAGE'] == str(folder / image)


@pytest.mark.parametrize('site, name', TARGETS)
def test_binds_of_the_user_survive_load_and_unload(site, name, modules):
    tree = modules(site)
    mine = {'SINGULARITY_BIND': '/mine', 'APPTAINER_BIND': '/also/mine:/there'}
    during = environment(tree, f'module load {name}', **mine)
    assert during['SINGULARITY_BIND'].split(',')[0] == '/mine'
    assert during['APPTAINER_BIND'].split(',')[0] == '/also/mine:/there'
    after = environment(tree, f'module load {name}; module unload {name}', **mine)
    assert {name: after[name] for name in mine} == mine


@pytest.mark.parametrize('site, name', TARGETS)
def test_variables_of_the_user_win_and_come_back(site, name, modules):
    tree = modules(site)
    names = re.findall(r'pushenv\("(\w+)", os.getenv', checked_in(site, name))
    assert names
    mine = {name: f'mine-{name}' for name in names}
    during = environment(tree, f'module load {name}', **mine)
    after = environment(tree, f'module load {name}; module unload {name}', **mine)
    assert {name: during[name] for name in names} == mine
    assert {name: after[name] for name in names} == mine


@pytest.mark.parametrize('site, name', TARGETS)
def test_deleted_image_is_an_error_that_says_how_to_get_it_back(site, name, modules):
    tree = modules(site)
    for image in (tree / 'software' / name).glob('*.sif'):
        image.unlink()
    done = in_lmod(tree, f'module load {name} && echo loaded')
    assert 'loaded' not in done.stdout
    assert 'is gone. Get it back with' in folded(done.stderr)
    assert 'eb ' + name.replace('/', '-') + '.eb -r --rebuild' in folded(done.stderr)


@pytest.mark.parametrize('site, name', TARGETS)
def test_help_says_which_mpi_network_srun_and_benchmarks(site, name, modules):
    text = in_lmod(modules(site), f'module help {name}').stderr
    mpi = 'Open MPI' if name.endswith('/openmpi') else 'MPICH'
    for line in (rf'^MPI: +{mpi} \S+ of the (image|host) over libfabric \S+ of the (image|host), provider \w+$',
                 r'^srun: +--mpi=\w+.*srun -N2 -n2 osu_(py_)?bw', r'^commands: .*osu_(py_)?bw .*osu_(py_)?latency'):
        assert re.search(line, text, re.M), line


@pytest.mark.parametrize('site, name', TARGETS)
def test_every_setting_has_its_reason_in_the_line_above(site, name):
    lines = checked_in(site, name).splitlines()
    for number, line in enumerate(lines):
        if re.match(r' *(append_path|pushenv)', line):
            # one reason may stand above several binds, and above the branches of a switch
            above = next(other for other in reversed(lines[:number])
                         if not re.match(r' *(append_path|pushenv|if |else|elseif )', other))
            assert above.startswith('-- '), line
