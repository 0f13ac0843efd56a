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
from osu_container.install.call_settings import format_expectation, render_call_settings
from osu_container.install.module_text import render_modulefile
from osu_container.verdict.settings import (
    INJECT_FOLDER,
    build_settings,
    can_launch_approach,
    explain_settings,
    list_host_libraries,
    resolve_approach,
    select_pmi,
)
from osu_container.verdict.site_choice import (
    SettingsError,
    choose_site,
    override_facts,
    resolve_site,
)
from tests.runs.test_approaches import parse_table
from tests.scripts.test_run_in_container import list_binds, run_installed  # noqa: F401, a fixture

#: One for each kind of launcher, MPI and GPU
REPRESENTATIVE = ['workstation', 'lumi-25.03', 'alps', 'frontier', 'perlmutter', 'polaris']
PAIRS = [
    (approach, site)
    for approach in APPROACHES
    for site in REPRESENTATIVE
    if can_launch_approach(APPROACHES[approach], resolve_site(site))
]


def make_facts(
    runtime='apptainer', mpi='MPICH 4.2.3', libfabric='1.22.0', host_libfabric='1.22.0', rocm=None
):
    """Facts of an image and a host, as read_facts() gives them."""
    return {
        'image': {
            'file': 'x.sif',
            'mpi': mpi,
            'libfabric': libfabric,
            'rocm': rocm,
            'programs_are': 'C',
            'library_path': [],
            'rccl_plugin': '/opt/ofi/lib/librccl-net.so',
            'rccl_plugin_folder': '/opt/ofi/lib',
            'programs': {'osu_bw': '/opt/osu/bin', 'osu_latency': '/opt/osu/bin'},
        },
        'host': {
            'root': '/stand-in',
            'mpi': 'Cray MPICH 8.1.32',
            'libfabric': host_libfabric,
            'files': ['/pfs'],
            'runtime': {'command': '/usr/bin/' + runtime, 'name': runtime},
            'injected': [
                {
                    'soname': 'libfabric.so.1',
                    'path': '/stand-in/a/libfabric.so.1',
                    'why': 'network',
                    'name': 'libfabric',
                    'names': [],
                    'size': 1,
                    'what': 'libfabric 1.22.0',
                }
            ],
        },
    }


def read_entries(approach, site):
    return resolve_approach(approach), resolve_site(site)


@pytest.mark.parametrize('approach, site', PAIRS)
def test_settings_of_every_pair_match_the_approach(approach, site):
    entry, site_data = read_entries(approach, site)
    found = build_settings(entry, site_data, make_facts())
    assert found.stack.mpi.endswith(entry['comes_from']['libmpi'])
    assert found.stack.libfabric.endswith(entry['comes_from']['libfabric'])
    injected = [bind for bind in found.container.binds if bind[1].startswith(INJECT_FOLDER)]
    assert (
        bool(injected)
        == (bool(entry['inject']) and not entry.get('entrypoint'))
        == (INJECT_FOLDER in found.container.library_path)
    )
    assert found.container.uses_entrypoint == bool(entry.get('entrypoint'))
    assert found.stack.pmi == select_pmi(entry, site_data)
    assert found.stack.provider and '{' not in found.stack.provider
    assert (found.container.env_prefix is None) == (not entry['container'])
    for variable in found.environment.variables:
        assert variable['value'] and not set(variable['value']) & set('{}')
        assert variable['origin'] in (f'site {site}', f'approach {approach}')


def test_entrypoint_binds_host_folders_and_sets_no_library_path():
    known = make_facts()
    known['host']['folders'] = [
        {
            'path': '/stand-in/opt/cray/libfabric/1.22.0/lib64',
            'target': '/host/lib',
            'why': 'libfabric',
        },
        {'path': '/stand-in/usr', 'target': '/host/usr', 'why': 'the rest'},
        {'path': '/stand-in/lib64', 'target': '/host/more/3', 'why': 'libcom_err.so.2'},
    ]
    known['host']['files'] = []
    found = build_settings(*read_entries('swap', 'lumi-25.03'), known)
    assert [bind[:2] for bind in found.container.binds] == [
        ('/stand-in/opt/cray/libfabric/1.22.0/lib64', '/host/lib'),
        ('/stand-in/usr', '/host/usr'),
        ('/stand-in/lib64', '/host/more/3'),
    ]
    assert (found.container.library_path, found.container.preload, found.container.host_path) == (
        [],
        [],
        ['/host/more/3'],
    )
    assert {'name': 'OSU_SWAP', 'value': 'require'}.items() <= next(
        variable for variable in found.environment.variables if variable['name'] == 'OSU_SWAP'
    ).items()
    assert [library['what'] for library in found.load_checks.watched_files] == ['libfabric 1.22.0']


@pytest.mark.parametrize(
    'approach', [name for name, entry in APPROACHES.items() if entry['container']]
)
def test_mpi_without_libfabric_expects_no_provider(approach):
    known = make_facts()
    known['image']['uses_libfabric'] = False
    found = build_settings(*read_entries(approach, 'workstation'), known)
    assert (found.stack.libfabric, found.stack.provider) == ('no libfabric', None)
    assert ' libfabric=none ' in format_expectation(
        found
    ) and ' libfabric=none ' not in format_expectation(
        build_settings(*read_entries(approach, 'workstation'), make_facts())
    )


@pytest.mark.parametrize(
    'approach, site',
    [
        (approach, site)
        for approach in APPROACHES
        for site in REPRESENTATIVE
        if (approach, site) not in PAIRS
    ],
)
def test_site_without_the_pmi_type_refuses_the_approach(approach, site):
    for refused in (list_host_libraries, lambda *pair: build_settings(*pair, make_facts())):
        entry, site_data = read_entries(approach, site)
        if set(entry['inject']) <= set(site_data['libraries']):
            mpi = 'host' if entry['comes_from']['libmpi'] == 'host' else entry['mpi']
            wanted = f"'{approach}'.* PMI .*{mpi}.*(srun|mpiexec).*'{site}'"
        else:  # what no flag of srun would mend comes first
            wanted = f"'{approach}'.* libmpi.*'{site}'"
        with pytest.raises(SettingsError, match=wanted):
            refused(entry, site_data)


def find_value(name, approach, site, *more, **kwargs):
    """
    The value (str or None) that a module gives the variable name with the settings modules more
    (names).
    """
    sets = build_settings(*read_entries(approach, site), make_facts(**kwargs)).environment
    lists = [sets.setting_variables.get(setting, []) for setting in more] + [
        sets.variables + sets.command_variables
    ]
    return next(
        (one['value'] for variables in lists for one in variables if one['name'] == name), None
    )


@pytest.mark.parametrize(
    'name, approach, site, more, kwargs, expected',
    [
        # what the approach is about
        ('FI_PROVIDER', 'pure', 'lumi-25.03', [], {}, 'tcp'),
        ('MPICH_GPU_SUPPORT_ENABLED', 'bind', 'lumi-25.03', [], {}, '1'),
        ('MPIR_CVAR_CH4_OFI_ENABLE_HMEM', 'hybrid', 'lumi-25.03', [], {}, '1'),
        ('NCCL_NET_PLUGIN', 'hybrid', 'lumi-25.03', [], {}, '/opt/ofi/lib/librccl-net.so'),
        # nodes without a GPU
        ('MPIR_CVAR_ENABLE_GPU', 'hybrid', 'lumi-c-25.03', [], {}, '0'),
        ('MPIR_CVAR_ENABLE_GPU', 'hybrid', 'lumi-25.03', [], {}, None),
        # by release
        (
            'MPIR_CVAR_CH4_OFI_ENABLE_MR_HMEM',
            'opensource',
            'lumi-25.03',
            [],
            {'mpi': 'MPICH 5.0.2'},
            '1',
        ),
        (
            'MPIR_CVAR_CH4_OFI_ENABLE_MR_HMEM',
            'opensource',
            'lumi-25.03',
            [],
            {'mpi': 'MPICH 4.3.2'},
            None,
        ),
        # LAIF's requirements for ROCm 7
        ('HSA_NO_SCRATCH_RECLAIM', 'opensource', 'lumi-25.03', [], {'rocm': '7.0.2'}, '1'),
        ('NCCL_DMABUF_ENABLE', 'opensource', 'lumi-25.03', [], {'rocm': '6.3.4'}, None),
        ('NCCL_CROSS_NIC', 'openmpi', 'alps', [], {}, '0'),
        # settings modules
        ('FI_PROVIDER', 'opensource', 'lumi-25.03', ['single-node'], {}, '^cxi'),
        ('MPIR_CVAR_SINGLE_HOST_ENABLED', 'opensource', 'lumi-25.03', ['single-node'], {}, '1'),
        (
            'SLURM_NETWORK',
            'hybrid',
            'lumi-25.03',
            ['rccl-alt-read'],
            {},
            'single_node_vni,disable_rdzv_get',
        ),
        # a default, and what was seen to hang
        ('NCCL_NET_GDR_LEVEL', 'opensource', 'lumi-25.03', [], {}, None),
        ('NCCL_NET_GDR_LEVEL', 'opensource', 'lumi-25.03', ['rccl-gdr'], {}, 'PHB'),
        # a setting of the approach is before a default of the site, which stays without it
        ('FI_CXI_DEFAULT_TX_SIZE', 'openmpi', 'alps', [], {}, '16384'),
        ('FI_CXI_DEFAULT_TX_SIZE', 'openmpi', 'alps', ['rccl-alt-read'], {}, '2048'),
    ],
)
def test_a_variable_has_the_value_that_its_conditions_give(
    name, approach, site, more, kwargs, expected
):
    assert find_value(name, approach, site, *more, **kwargs) == expected


@pytest.mark.parametrize('approach', ['native', 'bind', 'hybrid', 'swap', 'opensource'])
@pytest.mark.parametrize(
    'release, others', [('1.15.2.0', '1.22.0'), ('1.22.0', '1.15.2.0'), ('2.4.0', '1.15.2.0')]
)
def test_only_the_running_libfabric_decides_variables(approach, release, others):
    own = APPROACHES[approach]['comes_from']['libfabric'] == 'image'
    kwargs = {
        'mpi': 'MPICH 4.3.2',
        'libfabric': release if own else others,
        'host_libfabric': others if own else release,
    }
    mpich = APPROACHES[approach]['comes_from']['libmpi'] == 'image'
    found = {
        name: find_value(name, approach, 'lumi-25.03', **kwargs)
        for name in (
            'FI_CXI_DISABLE_NON_INJECT_MSG_IDC',
            'MPIR_CVAR_CH4_OFI_ENABLE_INJECT',
            'FI_CXI_RDZV_THRESHOLD',
        )
    }
    old = release.startswith('1.15')
    assert found == {
        'FI_CXI_DISABLE_NON_INJECT_MSG_IDC': '1' if mpich and not old else None,
        'MPIR_CVAR_CH4_OFI_ENABLE_INJECT': '0' if mpich and not old else None,
        'FI_CXI_RDZV_THRESHOLD': '16384' if mpich and release < '2.4' else None,
    }
    # without alt_read in it there is no such settings module
    more = build_settings(
        *read_entries(approach, 'lumi-25.03'), make_facts(**kwargs)
    ).environment.setting_variables
    assert ('rccl-alt-read' in more) == (not old) and 'rccl-gdr' in more


@pytest.mark.parametrize('approach', ['bind', 'hybrid', 'opensource'])
def test_cxi_removes_the_fork_safe_variable(approach):
    for site, expected in (
        ('lumi-25.03', ['CXI_FORK_SAFE', 'CXI_FORK_SAFE_HP']),
        ('workstation', []),
    ):
        assert [
            entry['name']
            for entry in build_settings(
                *read_entries(approach, site), make_facts()
            ).environment.unset_variables
        ] == expected


def test_plugin_precedes_injected_libraries_in_our_container():
    given = make_facts()
    found = build_settings(*read_entries('hybrid', 'lumi-25.03'), given)
    assert found.container.library_path == ['/opt/ofi/lib', INJECT_FOLDER]
    assert (
        build_settings(*read_entries('opensource', 'lumi-25.03'), given).container.library_path
        == []
    )
    assert [one['name'] for one in found.environment.command_variables] == ['NCCL_NET_PLUGIN']
    assert 'NCCL_NET_PLUGIN' not in render_modulefile(
        found, ('osu-container', 'OSU'), 'eb', 'x.sif'
    )
    assert 'inside NCCL_NET_PLUGIN=/opt/ofi/lib/librccl-net.so\n' in render_call_settings(
        found, 'x.sif', 'singularity'
    )


@pytest.mark.parametrize(
    'approach, mpi, variable',
    [
        ('hybrid', 'MPICH 4.2.3', 'MPIR_CVAR_CH4_CMA_ENABLE'),
        ('openmpi', 'Open MPI 5.0.11', 'OMPI_MCA_smsc'),
    ],
)
@pytest.mark.parametrize('setuid', [True, False, None])
def test_ranks_in_separate_namespaces_disable_memory_reads(approach, mpi, variable, setuid):
    facts = make_facts(mpi=mpi)
    facts['host']['runtime'].update(release='1.4.5', setuid=setuid)
    found = build_settings(*read_entries(approach, 'workstation'), facts)
    told = {entry['name'] for entry in found.container.separate_variables}
    assert (variable in told) == (setuid is False) == bool(told)


def test_module_watches_at_most_five_named_libraries():
    given = make_facts()
    library = given['host']['injected'][0]
    dependency = {'soname': 'libz.so.1', 'path': '/z', 'why': 'needed'}
    given['host']['injected'] = [dict(library, name=f'lib{n}') for n in range(9)] + [dependency]
    watched = build_settings(*read_entries('bind', 'lumi-25.03'), given).load_checks.watched_files
    assert 1 < len(watched) <= 5 and dependency not in watched


def test_binds_separate_installation_and_node_files():
    found = build_settings(*read_entries('hybrid', 'lumi-25.03'), make_facts())
    assert ('/stand-in/pfs', '/pfs') in [bind[:2] for bind in found.container.binds]
    assert '/scratch' not in [bind[1] for bind in found.container.binds]
    kernel = [
        entry for entry in found.container.run_files if entry['target'] == '/boot/config-{kernel}'
    ]
    assert kernel[0]['path'] == '/stand-in/boot/config-{kernel}'
    assert kernel[0]['otherwise'] == {'FI_HMEM_ROCR_USE_DMABUF': '0'}


@pytest.mark.parametrize('approach, site', PAIRS)
def test_explained_values_equal_set_values(approach, site):
    settings = build_settings(*read_entries(approach, site), make_facts())
    found = explain_settings(settings)
    chooses = [LAUNCHERS[settings.stack.launcher]['pmi_variable']]
    assert [v['name'] for v in found['variables']] == chooses + [
        v['name'] for v in settings.environment.variables
    ]
    assert [bind['target'] for bind in found['binds']] == (
        [bind[1] for bind in settings.container.binds]
        + [entry['target'] for entry in settings.container.run_files]
    )
    for entry in found['variables'] + found['unset']:
        assert (
            entry['why']
            and entry['source']
            and entry['date']
            and entry['evidence']
            and entry['origin']
        )


def test_unknown_condition_is_refused():
    site = dict(
        resolve_site('workstation'),
        variables=[dict(SITES['workstation']['variables'][0], only=['gpus'])],
    )
    with pytest.raises(SettingsError, match="'gpus'.* cuda, cxi, gpu, "):
        build_settings(resolve_approach('pure'), site, make_facts())


def test_the_approach_replaces_a_variable_of_the_site():
    site = copy.deepcopy(resolve_site('workstation'))
    site['variables'].append(
        {'name': 'FI_PROVIDER', 'value': 'verbs', 'why': '', 'source': '', 'evidence': ''}
    )
    found = build_settings(resolve_approach('pure'), site, make_facts())
    assert [v['value'] for v in found.environment.variables if v['name'] == 'FI_PROVIDER'] == [
        'tcp'
    ]


def test_unknown_site_error_lists_known_sites():
    with pytest.raises(SettingsError, match="'lummi'.*workstation.*--try-amend=site="):
        choose_site('lummi', None, 'host', {})


def test_unknown_approach_error_lists_known_approaches():
    with pytest.raises(SettingsError, match="'hybird'.* bind, hybrid, .*pure"):
        resolve_approach('hybird')


def test_unmatched_machine_error_names_the_remedy():
    with pytest.raises(SettingsError, match="'nobody'.*--try-amend=site=NAME.*make demo"):
        choose_site(None, None, 'nobody', {}, {'workstation': SITES['workstation']})


def test_requested_site_wins_then_local_then_host_name():
    sites = {
        'a': dict(SITES['workstation'], recognised_by={'value': {'hostnames': [r'^uan\d']}}),
        'b': SITES['workstation'],
    }
    assert choose_site('b', 'a', 'uan01', {}, sites)['name'] == 'b'
    assert choose_site(None, 'b', 'uan01', {}, sites)['name'] == 'b'
    assert choose_site(None, None, 'uan01', {}, sites)['name'] == 'a'


@pytest.mark.parametrize(
    'host, stack, partition, expected',
    [
        ('uan02', '25.03', 'container', 'lumi-25.03'),
        ('nid001234', '25.09', 'C', 'lumi-c-25.09'),
        ('uan01', '25.03.dev', 'container', 'lumi-25.03'),
    ],
)
def test_lumi_is_recognised_automatically(host, stack, partition, expected):
    environment = {'LUMI_STACK_VERSION': stack, 'LUMI_STACK_PARTITION': partition}
    assert choose_site(None, None, host, environment)['name'] == expected
    with pytest.raises(SettingsError, match="'laptop'.*lumi-25.03.*discover"):
        choose_site(None, None, 'laptop', environment)


def test_former_lumi_is_refused_outside_check_published():
    with pytest.raises(SettingsError, match="'lumi-24.03'.*check --published.* alps, .*lumi-25.03"):
        choose_site('lumi-24.03', None, 'uan01', {})


@pytest.mark.parametrize('version', ['', '24.03'])
def test_lumi_without_a_known_stack_names_the_deciding_variable(version):
    with pytest.raises(SettingsError) as told:
        choose_site(None, None, 'uan02', {'LUMI_STACK_VERSION': version} if version else {})
    for text in (
        "'uan02'",
        'lumi-25.03, ',
        f'LUMI_STACK_VERSION={version}',
        '--try-amend=site=NAME',
        'osu-container discover',
    ):
        assert text in str(told.value)


def test_a_local_file_replaces_facts_of_any_site():
    fact = dict(resolve_site('workstation')['provider'], value='tcp')
    site = override_facts(
        resolve_site('lumi-25.03'), {'provider': fact, 'libraries': {'libpals': None}}
    )
    assert site['provider']['value'] == 'tcp' and site['name'] == 'lumi-25.03'
    assert site['libraries']['libpals'] is None and site['libraries']['libcxi']
    with pytest.raises(SettingsError, match="colour.*'lumi-25.03'"):
        override_facts(resolve_site('lumi-25.03'), {'colour': fact})


PMIX_SITES = [name for name in SITES if 'Open MPI' in resolve_site(name)['pmi']['value']]
LATENCY = 'osu_latency H H -m 8 -i 20 -x 5'


def make_openmpi_settings(site, libfabric='2.6.0', **changes):
    """
    Return the Settings of openmpi on a site (str); changes: facts that replace those of the
    site.
    """
    facts = make_facts(mpi='Open MPI 5.0.11', libfabric=libfabric)
    return build_settings(resolve_approach('openmpi'), dict(resolve_site(site), **changes), facts)


# What is bound for PMIx


@pytest.mark.parametrize('site', PMIX_SITES)
def test_pmix_sites_bind_the_step_folders_and_no_other_root(site):
    found = {
        entry['target']: entry['path'] for entry in make_openmpi_settings(site).container.run_files
    }
    folders = [target for target in found if target.startswith('{tmpfs}/spmix_appdir_')]
    assert len(folders) == 2 and '{PMIX_SERVER_TMPDIR}' in found
    assert all(found[name] == name for name in [*folders, '{PMIX_SERVER_TMPDIR}'])


@pytest.fixture
def step(tmp_path):
    """
    Function (folder) that makes the folder of a step below it; returns the variables of a rank
    of that step.
    """

    def make(folder, name='spmix_appdir_1000_42.3'):
        (folder / name).mkdir(parents=True)
        return {
            'SLURM_JOB_ID': '42',
            'SLURM_STEP_ID': '3',
            'SLURM_JOB_UID': '1000',
            'SLURMD_NODENAME': 'node7',
            'PMIX_RANK': '0',
            'pmi': 'pmix PMIX_RANK',
            'files': ','.join(
                f"{entry['path']}:{entry['target']}"
                for entry in make_openmpi_settings('workstation').container.run_files
            ),
        }

    return make


@pytest.mark.parametrize(
    'line, below',
    [
        ('TmpFS={here}/scratch', 'scratch'),
        ('  tmpfs = {here}/scratch   # a comment', 'scratch'),
        ('#TmpFS=/nowhere\nTmpFS={here}/scratch/%n', 'scratch/node7'),
        ('TmpFS={here}/x\nNodeName=node[1-9]', 'x'),
        ('TmpFS={here}/%h/y z=1', 'node7/y'),
    ],
)
@pytest.mark.parametrize('name', ['spmix_appdir_1000_42.3', 'spmix_appdir_42.3'])
def test_the_folder_of_a_step_is_found_by_slurm_conf(
    run_installed,  # noqa: F811
    step,
    tmp_path,
    line,
    below,
    name,
):
    conf = tmp_path / 'slurm.conf'
    conf.write_text(f'ClusterName=x\n{line.format(here=tmp_path)}\n')
    done = run_installed('osu_bw', SLURM_CONF=str(conf), **step(tmp_path / below, name))
    assert list_binds(done) == [f'{tmp_path}/{below}/{name}:{tmp_path}/{below}/{name}'], done


def test_pmix_folders_of_user_and_rank_are_bound(run_installed, step, tmp_path):  # noqa: F811
    (tmp_path / 'spool').mkdir()
    done = run_installed(
        'osu_bw',
        SLURM_PMIX_TMPDIR=str(tmp_path),
        **dict(step(tmp_path), PMIX_SERVER_TMPDIR=f'{tmp_path}/spool'),
    )
    assert list_binds(done) == [
        f'{path}:{path}' for path in (f'{tmp_path}/spmix_appdir_1000_42.3', f'{tmp_path}/spool')
    ]


# LINKx, by data


@pytest.mark.parametrize(
    'libfabric, links, refused',
    [
        ('2.0.0', {'value': 'shm'}, False),
        ('1.22.0', {'value': 'shm'}, True),
        ('2.6.0', {'value': ''}, True),
        (None, {'value': 'shm'}, True),
    ],
)
def test_linkx_is_absent_where_unsupported(libfabric, links, refused):
    assert (
        'linkx'
        in make_openmpi_settings(
            'workstation', libfabric, lnx_links=links
        ).environment.setting_variables
    ) != refused


# For real

#: What takes Open MPI off the module's network, and what its ranks then say
OWN_NETWORK = {
    'ucx': (
        'export OMPI_MCA_pml=ucx OMPI_MCA_pml_ucx_tls=any OMPI_MCA_pml_ucx_devices=any UCX_LOG_LEVEL=info',
        r'UCX +INFO',
    ),
    'efa': ('export FI_PROVIDER=efa OMPI_MCA_opal_common_ofi_provider_include=efa', None),
}


@pytest.mark.system
@pytest.mark.usefixtures('slurm')
@pytest.mark.parametrize('network, before', itertools.product(OWN_NETWORK, (True, False)))
def test_user_values_win_over_the_module(shell, network, before):
    own, says = OWN_NETWORK[network]
    load = 'module load osu-container/openmpi'
    done = shell(
        f'{own}; {load}' * before + f'{load}; {own}' * (not before) + f'; srun -N2 -n2 {LATENCY}'
    )
    if says:  # UCX is in the image: it carries the messages, over TCP here
        assert re.search(says, done.stdout + done.stderr) and {1, 8} <= set(
            parse_table(done.stdout)
        ), done
    else:  # there is no such card here, and nothing else is taken in silence
        assert done.returncode and not parse_table(done.stdout), done
