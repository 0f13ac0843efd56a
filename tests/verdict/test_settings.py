"""(approach, site, facts) -> settings, for all pairs; and what an impossible combination says.

Approach openmpi: where its ranks meet, LINKx, UCX and EFA; over the private Slurm for real.
"""

import copy
import itertools
import re

import pytest

from osu_container.data.approaches import APPROACHES
from osu_container.data.launchers import LAUNCHERS
from osu_container.data.sites import SITES
from osu_container.install.call_settings import call_settings, promised
from osu_container.install.module_text import module_text
from osu_container.verdict.settings import (
    INJECT_FOLDER,
    approach_entry,
    explained,
    host_libraries,
    pmi_for,
    runs_on,
    settings_for,
)
from osu_container.verdict.site_choice import SettingsError, choose_site, overridden, site_entry
from tests.runs.test_approaches import table
from tests.scripts.test_run_in_container import binds, installed  # noqa: F401, a fixture

#: One for each kind of launcher, MPI and GPU
REPRESENTATIVE = ['workstation', 'lumi-25.03', 'alps', 'frontier', 'perlmutter', 'polaris']
PAIRS = [(approach, site) for approach in APPROACHES for site in REPRESENTATIVE
         if runs_on(APPROACHES[approach], site_entry(site))]


def facts(runtime='apptainer', mpi='MPICH 4.2.3', libfabric='1.22.0', host_libfabric='1.22.0'):
    """Facts of an image and a host, as read_facts() gives them."""
    return {
        'image': {'file': 'x.sif', 'mpi': mpi, 'libfabric': libfabric, 'programs_are': 'C', 'library_path': [],
                  'rccl_plugin': '/opt/ofi/lib/librccl-net.so', 'rccl_plugin_folder': '/opt/ofi/lib',
                  'programs': {'osu_bw': '/opt/osu/bin', 'osu_latency': '/opt/osu/bin'}},
        'host': {'root': '/stand-in', 'mpi': 'Cray MPICH 8.1.32', 'libfabric': host_libfabric, 'files': ['/pfs'],
                 'runtime': {'command': '/usr/bin/' + runtime, 'name': runtime},
                 'injected': [{'soname': 'libfabric.so.1', 'path': '/stand-in/a/libfabric.so.1', 'why': 'network',
                               'name': 'libfabric', 'names': [], 'size': 1, 'what': 'libfabric 1.22.0'}]},
    }


def entries(approach, site):
    return approach_entry(approach), site_entry(site)


@pytest.mark.parametrize('approach, site', PAIRS)
def test_every_pair_gives_settings_that_keep_the_promise_of_the_approach(approach, site):
    entry, site_data = entries(approach, site)
    found = settings_for(entry, site_data, facts())
    assert found.stack.mpi.endswith(entry['comes_from']['libmpi'])
    assert found.stack.libfabric.endswith(entry['comes_from']['libfabric'])
    injected = [bind for bind in found.inside.binds if bind[1].startswith(INJECT_FOLDER)]
    by_us = bool(entry['inject']) and not entry.get('entrypoint')  # else the entrypoint of the image does it
    assert bool(injected) == by_us == (INJECT_FOLDER in found.inside.library_path)
    assert found.inside.through_entrypoint == bool(entry.get('entrypoint'))
    assert found.stack.pmi == pmi_for(entry, site_data)
    assert found.stack.provider and '{' not in found.stack.provider
    assert (found.inside.env_prefix is None) == (not entry['container'])
    for variable in found.sets.variables:
        assert variable['value'] and not set(variable['value']) & set('{}')
        assert variable['origin'] in (f'site {site}', f'approach {approach}')


def test_folders_of_the_host_are_bound_for_an_entrypoint_and_nothing_else_is_put_in_front():
    known = facts()
    known['host']['folders'] = [
        {'path': '/stand-in/opt/cray/libfabric/1.22.0/lib64', 'target': '/host/lib', 'why': 'libfabric'},
        {'path': '/stand-in/usr', 'target': '/host/usr', 'why': 'the rest'},
        {'path': '/stand-in/lib64', 'target': '/host/more/3', 'why': 'libcom_err.so.2'}]
    known['host']['files'] = []
    found = settings_for(*entries('swap', 'lumi-25.03'), known)
    assert [bind[:2] for bind in found.inside.binds] == [
        ('/stand-in/opt/cray/libfabric/1.22.0/lib64', '/host/lib'), ('/stand-in/usr', '/host/usr'),
        ('/stand-in/lib64', '/host/more/3')]
    assert (found.inside.library_path, found.inside.preload, found.inside.host_path) == ([], [], ['/host/more/3'])
    assert {'name': 'OSU_SWAP', 'value': 'require'}.items() <= next(
        variable for variable in found.sets.variables if variable['name'] == 'OSU_SWAP').items()
    assert [library['what'] for library in found.at_load.watched] == ['libfabric 1.22.0']


@pytest.mark.parametrize('approach', [name for name, entry in APPROACHES.items() if entry['container']])
def test_an_image_whose_mpi_uses_no_libfabric_is_promised_none_of_it_and_no_provider(approach):
    known = facts()
    known['image']['uses_libfabric'] = False
    found = settings_for(*entries(approach, 'workstation'), known)
    assert (found.stack.libfabric, found.stack.provider) == ('no libfabric', None)
    assert ' libfabric=none ' in promised(found) and ' libfabric=none ' not in promised(
        settings_for(*entries(approach, 'workstation'), facts()))


@pytest.mark.parametrize('approach, site', [(approach, site) for approach in APPROACHES for site in REPRESENTATIVE
                                            if (approach, site) not in PAIRS])
def test_site_whose_srun_cannot_start_this_mpi_refuses_the_approach(approach, site):
    for refused in (host_libraries, lambda *pair: settings_for(*pair, facts())):
        entry, site_data = entries(approach, site)
        if set(entry['inject']) <= set(site_data['libraries']):
            mpi = 'host' if entry['comes_from']['libmpi'] == 'host' else entry['mpi']
            wanted = f"'{approach}'.* PMI .*{mpi}.*(srun|mpiexec).*'{site}'"
        else:  # what no flag of srun would mend comes first
            wanted = f"'{approach}'.* libmpi.*'{site}'"
        with pytest.raises(SettingsError, match=wanted):
            refused(entry, site_data)


def value_of(name, approach, site, *more, **kwargs):
    """The value (str or None) that a module gives the variable name with the settings modules more (names)."""
    sets = settings_for(*entries(approach, site), facts(**kwargs)).sets
    lists = [sets.more.get(setting, []) for setting in more] + [sets.variables + sets.inside]
    return next((one['value'] for variables in lists for one in variables if one['name'] == name), None)


@pytest.mark.parametrize('name, approach, site, more, kwargs, expected', [
    # what the approach is about
    ('FI_PROVIDER', 'pure', 'lumi-25.03', [], {}, 'tcp'),
    ('FI_PROVIDER', 'bind', 'lumi-25.03', [], {}, 'cxi'),
    ('MPICH_GPU_SUPPORT_ENABLED', 'bind', 'lumi-25.03', [], {}, '1'),
    ('MPIR_CVAR_CH4_OFI_ENABLE_HMEM', 'bind', 'lumi-25.03', [], {}, None),
    ('MPIR_CVAR_CH4_OFI_ENABLE_HMEM', 'hybrid', 'lumi-25.03', [], {}, '1'),
    ('NCCL_NET_PLUGIN', 'hybrid', 'lumi-25.03', [], {}, '/opt/ofi/lib/librccl-net.so'),
    # nodes without a GPU
    ('MPIR_CVAR_ENABLE_GPU', 'hybrid', 'lumi-c-25.03', [], {}, '0'),
    ('MPIR_CVAR_ENABLE_GPU', 'hybrid', 'lumi-25.03', [], {}, None),
    # by release
    ('MPIR_CVAR_CH4_OFI_ENABLE_INJECT', 'opensource', 'lumi-25.03', [], {'mpi': 'MPICH 4.2.3'}, None),
    ('MPIR_CVAR_CH4_OFI_ENABLE_INJECT', 'opensource', 'lumi-25.03', [], {'mpi': 'MPICH 4.3.2'}, '0'),
    ('MPIR_CVAR_CH4_OFI_ENABLE_INJECT', 'opensource', 'lumi-25.03', [], {'mpi': 'MPICH 5.0.2'}, None),
    ('MPIR_CVAR_CH4_OFI_ENABLE_MR_HMEM', 'opensource', 'lumi-25.03', [], {'mpi': 'MPICH 5.0.2'}, '1'),
    ('MPIR_CVAR_CH4_OFI_ENABLE_MR_HMEM', 'opensource', 'lumi-25.03', [], {'mpi': 'MPICH 4.3.2'}, None),
    ('MPIR_CVAR_CH4_OFI_ENABLE_HMEM', 'opensource', 'lumi-25.03', [], {'mpi': 'MPICH 3.4.3'}, None),
    ('FI_CXI_RDZV_THRESHOLD', 'opensource', 'lumi-25.03', [], {'libfabric': '1.22.0'}, '16384'),
    ('FI_CXI_RDZV_THRESHOLD', 'opensource', 'lumi-25.03', [], {'libfabric': '2.4.0'}, None),
    ('FI_CXI_RDZV_THRESHOLD', 'opensource', 'lumi-25.03', [], {'libfabric': 'unknown'}, None),
    # settings modules
    ('MPIR_CVAR_SINGLE_HOST_ENABLED', 'opensource', 'lumi-25.03', [], {}, '0'),
    ('SLURM_NETWORK', 'opensource', 'lumi-25.03', [], {}, 'single_node_vni'),
    ('FI_PROVIDER', 'opensource', 'lumi-25.03', ['single-node'], {}, '^cxi'),
    ('MPIR_CVAR_SINGLE_HOST_ENABLED', 'opensource', 'lumi-25.03', ['single-node'], {}, '1'),
    ('SLURM_NETWORK', 'hybrid', 'lumi-25.03', ['rccl-alt-read'], {}, 'single_node_vni,disable_rdzv_get'),
    ('SLURM_NETWORK', 'native', 'lumi-25.03', ['rccl-alt-read'], {}, 'disable_rdzv_get'),
    # a default, and what was seen to hang
    ('FI_MR_CACHE_MONITOR', 'hybrid', 'lumi-25.03', [], {}, 'userfaultfd'),
    ('FI_MR_CACHE_MONITOR', 'hybrid', 'lumi-c-25.03', [], {}, None),
    ('NCCL_NET_GDR_LEVEL', 'opensource', 'lumi-25.03', [], {}, None),
    ('NCCL_NET_GDR_LEVEL', 'opensource', 'lumi-25.03', ['rccl-gdr'], {}, 'PHB'),
    ('NCCL_NET_GDR_LEVEL', 'openmpi', 'alps', [], {}, 'PHB'),
    # a setting of the approach is before a default of the site, which stays without it
    ('FI_CXI_DEFAULT_TX_SIZE', 'openmpi', 'alps', [], {}, '16384'),
    ('FI_CXI_DEFAULT_TX_SIZE', 'openmpi', 'alps', ['rccl-alt-read'], {}, '2048'),
    ('FI_CXI_RDZV_PROTO', 'hybrid', 'lumi-25.03', ['rccl-alt-read'], {}, 'alt_read'),
    ('FI_CXI_RDZV_PROTO', 'hybrid', 'lumi-25.03', [], {}, None),
])
def test_a_variable_has_the_value_that_its_conditions_give(name, approach, site, more, kwargs, expected):
    assert value_of(name, approach, site, *more, **kwargs) == expected


@pytest.mark.parametrize('approach', ['native', 'bind', 'hybrid', 'swap', 'opensource'])
@pytest.mark.parametrize('release, others', [('1.15.2.0', '1.22.0'), ('1.22.0', '1.15.2.0'), ('2.4.0', '1.15.2.0')])
def test_the_libfabric_that_runs_decides_and_no_other_one(approach, release, others):
    own = APPROACHES[approach]['comes_from']['libfabric'] == 'image'
    kwargs = {'mpi': 'MPICH 4.3.2', 'libfabric': release if own else others,
              'host_libfabric': others if own else release}
    mpich = APPROACHES[approach]['comes_from']['libmpi'] == 'image'
    found = {name: value_of(name, approach, 'lumi-25.03', **kwargs) for name in (
        'FI_CXI_DISABLE_NON_INJECT_MSG_IDC', 'MPIR_CVAR_CH4_OFI_ENABLE_INJECT', 'FI_CXI_RDZV_THRESHOLD')}
    old = release.startswith('1.15')
    assert found == {'FI_CXI_DISABLE_NON_INJECT_MSG_IDC': '1' if mpich and not old else None,
                     'MPIR_CVAR_CH4_OFI_ENABLE_INJECT': '0' if mpich and not old else None,
                     'FI_CXI_RDZV_THRESHOLD': '16384' if mpich and release < '2.4' else None}
    # without alt_read in it there is no such settings module
    more = settings_for(*entries(approach, 'lumi-25.03'), facts(**kwargs)).sets.more
    assert ('rccl-alt-read' in more) == (not old) and 'rccl-gdr' in more


@pytest.mark.parametrize('approach', ['bind', 'hybrid', 'opensource'])
def test_fork_safe_is_taken_away_where_there_is_cxi(approach):
    for site, expected in (('lumi-25.03', ['CXI_FORK_SAFE', 'CXI_FORK_SAFE_HP']), ('workstation', [])):
        assert [entry['name'] for entry in settings_for(*entries(approach, site), facts()).sets.unset] == expected


def test_only_open_source_mpich_gets_a_card_for_each_rank():
    for approach, expected in (('hybrid', 2), ('bind', 1)):
        assert len(settings_for(*entries(approach, 'lumi-25.03'), facts()).sets.rank_variables) == expected
    assert settings_for(*entries('hybrid', 'lumi-c-25.03'), facts()).sets.rank_variables == []


def test_the_plugin_stays_in_front_of_what_is_injected_and_its_path_goes_to_no_other_container():
    given = facts()
    found = settings_for(*entries('hybrid', 'lumi-25.03'), given)
    assert found.inside.library_path == ['/opt/ofi/lib', INJECT_FOLDER]
    assert settings_for(*entries('opensource', 'lumi-25.03'), given).inside.library_path == []
    assert [one['name'] for one in found.sets.inside] == ['NCCL_NET_PLUGIN']
    assert 'NCCL_NET_PLUGIN' not in module_text(found, ('osu-container', 'OSU'), 'eb', 'x.sif')
    assert 'inside NCCL_NET_PLUGIN=/opt/ofi/lib/librccl-net.so\n' in call_settings(found, 'x.sif', 'singularity')


def test_only_named_libraries_are_watched_and_a_handful_of_them():
    given = facts()
    library = given['host']['injected'][0]
    dependency = {'soname': 'libz.so.1', 'path': '/z', 'why': 'needed'}
    given['host']['injected'] = [dict(library, name=f'lib{n}') for n in range(9)] + [dependency]
    watched = settings_for(*entries('bind', 'lumi-25.03'), given).at_load.watched
    assert 1 < len(watched) <= 5 and dependency not in watched


def test_files_that_exist_at_installation_and_files_of_the_node():
    found = settings_for(*entries('hybrid', 'lumi-25.03'), facts())
    assert ('/stand-in/pfs', '/pfs') in [bind[:2] for bind in found.inside.binds]
    assert '/scratch' not in [bind[1] for bind in found.inside.binds]
    kernel = [entry for entry in found.inside.run_files if entry['target'] == '/boot/config-{kernel}']
    assert kernel[0]['path'] == '/stand-in/boot/config-{kernel}'
    assert kernel[0]['otherwise'] == {'FI_HMEM_ROCR_USE_DMABUF': '0'}


@pytest.mark.parametrize('site', [site for site in REPRESENTATIVE if ('pure', site) in PAIRS])
def test_pure_binds_file_systems_alone_and_opensource_no_library(site):
    pure = settings_for(*entries('pure', site), facts())
    file_systems = site_entry(site)['files'].get('file_systems', {'value': []})['value']
    assert {bind[1] for bind in pure.inside.binds} <= set(file_systems)
    assert (pure.inside.run_files, pure.inside.library_path, pure.inside.preload) == ([], [], [])
    opensource = settings_for(*entries('opensource', site), facts())
    assert not any(INJECT_FOLDER in bind[1] for bind in opensource.inside.binds)


@pytest.mark.parametrize('approach, site', PAIRS)
def test_what_is_explained_is_what_is_set(approach, site):
    settings = settings_for(*entries(approach, site), facts())
    found = explained(settings)
    chooses = [LAUNCHERS[settings.stack.launcher]['pmi_variable']]
    assert [v['name'] for v in found['variables']] == chooses + [v['name'] for v in settings.sets.variables]
    assert [bind['target'] for bind in found['binds']] == (
        [bind[1] for bind in settings.inside.binds] + [entry['target'] for entry in settings.inside.run_files])
    for entry in found['variables'] + found['unset']:
        assert entry['why'] and entry['source'] and entry['date'] and entry['evidence'] and entry['origin']


def test_unknown_condition_is_refused():
    site = dict(site_entry('workstation'), variables=[dict(SITES['workstation']['variables'][0], only=['gpus'])])
    with pytest.raises(SettingsError, match="'gpus'.* cuda, cxi, gpu, "):
        settings_for(approach_entry('pure'), site, facts())


def test_pure_uses_tcp_whatever_the_site_has():
    site = dict(site_entry('workstation'), provider=dict(site_entry('workstation')['provider'], value='cxi'))
    assert settings_for(approach_entry('pure'), site, facts()).stack.provider == 'tcp'
    found = settings_for(approach_entry('hybrid'), site, facts('singularity'))
    assert (found.stack.provider, found.inside.env_prefix) == ('cxi', 'SINGULARITY')


def test_the_approach_replaces_a_variable_of_the_site():
    site = copy.deepcopy(site_entry('workstation'))
    site['variables'].append({'name': 'FI_PROVIDER', 'value': 'verbs', 'why': '', 'source': '', 'evidence': ''})
    found = settings_for(approach_entry('pure'), site, facts())
    assert [v['value'] for v in found.sets.variables if v['name'] == 'FI_PROVIDER'] == ['tcp']


def test_settings_do_not_change_what_they_are_given():
    before = facts()
    settings_for(*entries('bind', 'workstation'), before)
    assert before == facts()


def test_unknown_site_names_the_known_ones():
    with pytest.raises(SettingsError, match="'lummi'.*workstation.*--try-amend=site="):
        choose_site('lummi', None, 'host', {})


def test_unknown_approach_names_the_known_ones():
    with pytest.raises(SettingsError, match="'hybird'.* bind, hybrid, .*pure"):
        approach_entry('hybird')


def test_a_machine_that_matches_no_site_is_told_what_to_do():
    with pytest.raises(SettingsError, match="'nobody'.*--try-amend=site=NAME.*make demo"):
        choose_site(None, None, 'nobody', {}, {'workstation': SITES['workstation']})


def test_site_is_wanted_then_local_then_by_host_name():
    sites = {'a': dict(SITES['workstation'], recognised_by={'value': {'hostnames': [r'^uan\d']}}),
             'b': SITES['workstation']}
    assert choose_site('b', 'a', 'uan01', {}, sites)['name'] == 'b'
    assert choose_site(None, 'b', 'uan01', {}, sites)['name'] == 'b'
    assert choose_site(None, None, 'uan01', {}, sites)['name'] == 'a'


@pytest.mark.parametrize('host, stack, partition, expected', [
    ('uan02', '25.03', 'container', 'lumi-25.03'),
    ('nid001234', '25.09', 'C', 'lumi-c-25.09'),
    ('uan01', '25.03.dev', 'container', 'lumi-25.03'),
])
def test_lumi_is_recognised_by_itself(host, stack, partition, expected):
    environment = {'LUMI_STACK_VERSION': stack, 'LUMI_STACK_PARTITION': partition}
    assert choose_site(None, None, host, environment)['name'] == expected
    with pytest.raises(SettingsError, match="'laptop'.*lumi-25.03.*discover"):
        choose_site(None, None, 'laptop', environment)


def test_lumi_as_it_was_is_a_description_only():
    with pytest.raises(SettingsError, match="'lumi-24.03'.*check --published.* alps, .*lumi-25.03"):
        choose_site('lumi-24.03', None, 'uan01', {})


@pytest.mark.parametrize('version', ['', '24.03'])
def test_lumi_without_a_stack_or_with_another_one_is_told_what_decides(version):
    with pytest.raises(SettingsError) as told:
        choose_site(None, None, 'uan02', {'LUMI_STACK_VERSION': version} if version else {})
    message = str(told.value)
    for text in ("'uan02'", 'lumi-25.03, ', f'LUMI_STACK_VERSION={version}', '--try-amend=site=NAME'):
        assert text in message
    assert ('osu-container discover' in message) == bool(version)


def test_a_local_file_replaces_facts_of_any_site():
    fact = dict(site_entry('workstation')['provider'], value='tcp')
    site = overridden(site_entry('lumi-25.03'), {'provider': fact, 'libraries': {'libpals': None}})
    assert site['provider']['value'] == 'tcp' and site['name'] == 'lumi-25.03'
    assert site['libraries']['libpals'] is None and site['libraries']['libcxi']
    with pytest.raises(SettingsError, match="colour.*'lumi-25.03'"):
        overridden(site_entry('lumi-25.03'), {'colour': fact})


@pytest.mark.parametrize('approach', [name for name in APPROACHES if APPROACHES[name]['inject']])
def test_site_that_lacks_what_the_approach_needs_is_refused(approach):
    site = dict(site_entry('workstation'), name='laptop', libraries={'libmpi': None})
    with pytest.raises(SettingsError, match=f"'{approach}'.*libfabric.*'laptop'.*: openmpi, opensource, pure$"):
        host_libraries(approach_entry(approach), site)


PMIX_SITES = [name for name in SITES if 'Open MPI' in site_entry(name)['pmi']['value']]
LATENCY = 'osu_latency H H -m 8 -i 20 -x 5'


def settings_of(site, libfabric='2.6.0', **changes):
    """Return the Settings of openmpi on a site (str); changes: facts that replace those of the site."""
    facts = {'host': {'root': '/elsewhere', 'runtime': {'name': 'apptainer', 'command': 'apptainer'}, 'files': [],
                      'mpi': None, 'libfabric': None},
             'image': {'mpi': 'Open MPI 5.0.11', 'libfabric': libfabric, 'programs': {'osu_bw': '/opt/osu/bin'}}}
    return settings_for(approach_entry('openmpi'), dict(site_entry(site), **changes), facts)


# What is bound for PMIx

@pytest.mark.parametrize('site', PMIX_SITES)
def test_every_site_with_pmix_binds_the_folders_of_a_step_and_below_no_other_root(site):
    found = {entry['target']: entry['path'] for entry in settings_of(site).inside.run_files}
    folders = [target for target in found if target.startswith('{tmpfs}/spmix_appdir_')]
    assert len(folders) == 2 and '{PMIX_SERVER_TMPDIR}' in found
    assert all(found[name] == name for name in [*folders, '{PMIX_SERVER_TMPDIR}'])


@pytest.fixture
def step(tmp_path):
    """Function (folder) that makes the folder of a step below it; returns the variables of a rank of that step."""
    def make(folder, name='spmix_appdir_1000_42.3'):
        (folder / name).mkdir(parents=True)
        return {'SLURM_JOB_ID': '42', 'SLURM_STEP_ID': '3', 'SLURM_JOB_UID': '1000', 'SLURMD_NODENAME': 'node7',
                'PMIX_RANK': '0', 'pmi': 'pmix PMIX_RANK', 'files': ','.join(
                    f"{entry['path']}:{entry['target']}" for entry in settings_of('workstation').inside.run_files)}
    return make


@pytest.mark.parametrize('line, below', [
    ('TmpFS={here}/scratch', 'scratch'), ('  tmpfs = {here}/scratch   # a comment', 'scratch'),
    ('#TmpFS=/nowhere\nTmpFS={here}/scratch/%n', 'scratch/node7'), ('TmpFS={here}/x\nNodeName=node[1-9]', 'x'),
    ('TmpFS={here}/%h/y z=1', 'node7/y'),
])
@pytest.mark.parametrize('name', ['spmix_appdir_1000_42.3', 'spmix_appdir_42.3'])
def test_the_folder_of_a_step_is_found_by_slurm_conf(installed, step, tmp_path, line, below, name):  # noqa: F811
    conf = tmp_path / 'slurm.conf'
    conf.write_text(f'ClusterName=x\n{line.format(here=tmp_path)}\n')
    done = installed('osu_bw', SLURM_CONF=str(conf), **step(tmp_path / below, name))
    assert binds(done) == [f'{tmp_path}/{below}/{name}:{tmp_path}/{below}/{name}'], done


def test_the_users_folder_for_pmix_and_that_of_the_rank_are_bound(installed, step, tmp_path):  # noqa: F811
    (tmp_path / 'spool').mkdir()
    done = installed('osu_bw', SLURM_PMIX_TMPDIR=str(tmp_path), **dict(
        step(tmp_path), PMIX_SERVER_TMPDIR=f'{tmp_path}/spool'))
    assert binds(done) == [f'{path}:{path}' for path in (f'{tmp_path}/spmix_appdir_1000_42.3', f'{tmp_path}/spool')]


@pytest.mark.parametrize('gone', ['SLURM_JOB_ID', 'SLURM_STEP_ID'])
def test_outside_of_a_step_nothing_is_bound(installed, step, tmp_path, gone):  # noqa: F811
    done = installed('osu_bw', SLURM_PMIX_TMPDIR=str(tmp_path), **{**step(tmp_path), gone: None})
    assert done.returncode == 0 and binds(done) == ['unset'], done


# LINKx, by data

@pytest.mark.parametrize('site', [name for name in PMIX_SITES if site_entry(name)['provider']['value'] == 'cxi'
                                  and site_entry(name)['gpu_binding']['value']])
def test_linkx_links_shared_memory_with_each_card_of_the_site(site):
    cards = [gpu['nic'] for gpu in site_entry(site)['gpu_binding']['value']]
    assert not [one for one in settings_of(site).sets.variables if 'lnx' in one['value']], 'never on by itself'
    found = {one['name']: one for one in settings_of(site).sets.more['linkx']}
    assert found['FI_LNX_PROV_LINKS']['value'].split('|') == [f'shm+cxi:{card}' for card in dict.fromkeys(cards)]
    assert {name: found[name]['value'] for name in (
        'FI_PROVIDER', 'FI_SHM_USE_XPMEM', 'OMPI_MCA_mtl_ofi_av', 'OMPI_MCA_opal_common_ofi_provider_include')} == {
        'FI_PROVIDER': 'lnx', 'FI_SHM_USE_XPMEM': '1', 'OMPI_MCA_mtl_ofi_av': 'table',
        'OMPI_MCA_opal_common_ofi_provider_include': 'lnx'}


@pytest.mark.parametrize('libfabric, links, refused', [
    ('2.0.0', {'value': 'shm'}, False), ('1.22.0', {'value': 'shm'}, True), ('2.6.0', {'value': ''}, True),
    (None, {'value': 'shm'}, True),
])
def test_there_is_no_linkx_where_it_cannot_be(libfabric, links, refused):
    assert ('linkx' in settings_of('workstation', libfabric, lnx_links=links).sets.more) != refused


# For real

#: What takes Open MPI off the module's network, and what its ranks then say
OWN_NETWORK = {
    'ucx': ('export OMPI_MCA_pml=ucx OMPI_MCA_pml_ucx_tls=any OMPI_MCA_pml_ucx_devices=any UCX_LOG_LEVEL=info',
            r'UCX +INFO'),
    'efa': ('export FI_PROVIDER=efa OMPI_MCA_opal_common_ofi_provider_include=efa', None),
}


@pytest.mark.system
@pytest.mark.usefixtures('slurm')
@pytest.mark.parametrize('network, before', itertools.product(OWN_NETWORK, (True, False)))
def test_what_the_user_sets_wins_over_the_module(shell, network, before):
    own, says = OWN_NETWORK[network]
    load = 'module load osu-container/openmpi'
    done = shell(f'{own}; {load}' * before + f'{load}; {own}' * (not before) + f'; srun -N2 -n2 {LATENCY}')
    if says:  # UCX is in the image: it carries the messages, over TCP here
        assert re.search(says, done.stdout + done.stderr) and {1, 8} <= set(table(done.stdout)), done
    else:  # there is no such card here, and nothing else is taken in silence
        assert done.returncode and not table(done.stdout), done
