"""Approach openmpi: where its ranks meet, LINKx, UCX and EFA, the published cases; over the private Slurm for real."""
import itertools
import re

import pytest

from osu_container.core.data.sites import SITES
from osu_container.core.deciding.settings import approach_entry, settings_for
from osu_container.core.deciding.site_choice import site_entry
from tests.easyconfigs.test_run_in_container import binds, installed  # noqa: F401, a fixture
from tests.runs.test_approaches import table

PMIX_SITES = [name for name in SITES if 'Open MPI' in site_entry(name)['pmi']['value']]
needs_slurm = [pytest.mark.apptainer, pytest.mark.slurm]
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
                'PMIX_RANK': '0', 'MPI_CONTAINER_PMI': 'pmix PMIX_RANK', 'MPI_CONTAINER_FILES': ','.join(
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
    assert binds(done) == [f'{tmp_path}/{below}/{name}:{tmp_path}/{below}/{name}'], done.stderr


def test_the_users_folder_for_pmix_counts_more_than_slurm_conf(installed, step, tmp_path):  # noqa: F811
    conf = tmp_path / 'slurm.conf'
    conf.write_text('TmpFS=/nowhere\n')
    done = installed('osu_bw', SLURM_CONF=str(conf), SLURM_PMIX_TMPDIR=str(tmp_path), **step(tmp_path))
    assert binds(done) == [f'{tmp_path}/spmix_appdir_1000_42.3:{tmp_path}/spmix_appdir_1000_42.3']


def test_the_servers_folder_is_bound_by_the_ranks_variable(installed, step, tmp_path):  # noqa: F811
    (tmp_path / 'spool').mkdir()
    done = installed('osu_bw', **dict(step(tmp_path / 'other'), PMIX_SERVER_TMPDIR=f'{tmp_path}/spool'))
    assert binds(done) == [f'{tmp_path}/spool:{tmp_path}/spool']


@pytest.mark.parametrize('gone', ['SLURM_JOB_ID', 'SLURM_STEP_ID'])
def test_outside_of_a_step_nothing_is_bound(installed, step, tmp_path, gone):  # noqa: F811
    done = installed('osu_bw', SLURM_PMIX_TMPDIR=str(tmp_path), **{**step(tmp_path), gone: None})
    assert done.returncode == 0 and binds(done) == ['unset'], done.stderr


# LINKx, by data

@pytest.mark.parametrize('site', [name for name in PMIX_SITES if site_entry(name)['provider']['value'] == 'cxi'])
def test_linkx_links_shared_memory_with_each_card_of_the_site(site):
    cards = [gpu['nic'] for gpu in site_entry(site)['gpu_binding']['value']]
    found = {one['name']: one for one in settings_of(site).sets.variables if one.get('when') == 'OSU_LINKX=1'}
    assert found['FI_LNX_PROV_LINKS']['value'].split('|') == [f'shm+cxi:{card}' for card in dict.fromkeys(cards)]
    assert {name: found[name]['value'] for name in (
        'FI_PROVIDER', 'FI_SHM_USE_XPMEM', 'OMPI_MCA_mtl_ofi_av', 'OMPI_MCA_opal_common_ofi_provider_include')} == {
        'FI_PROVIDER': 'lnx', 'FI_SHM_USE_XPMEM': '1', 'OMPI_MCA_mtl_ofi_av': 'table',
        'OMPI_MCA_opal_common_ofi_provider_include': 'lnx'}


@pytest.mark.parametrize('site', PMIX_SITES)
def test_linkx_is_never_on_by_itself(site):
    plain = [one for one in settings_of(site).sets.variables if not one.get('when')]
    assert not [one for one in plain if 'lnx' in one['value'] or one['name'].startswith('FI_LNX')]


@pytest.mark.parametrize('libfabric, links, refused', [
    ('2.0.0', {'value': 'shm'}, False), ('1.22.0', {'value': 'shm'}, True), ('2.6.0', {'value': ''}, True),
    (None, {'value': 'shm'}, True),
])
def test_linkx_is_refused_where_it_cannot_be(libfabric, links, refused):
    found = settings_of('workstation', libfabric, lnx_links=links)
    assert bool(found.sets.refuses) == refused
    assert ('OSU_LINKX' in found.sets.switches) != refused


def test_settings_of_open_mpi_are_those_that_cscs_documents():
    values = {one['name']: one['value'] for one in settings_of('alps').sets.variables if not one.get('when')}
    wanted = {'PMIX_MCA_psec': 'native', 'PMIX_MCA_gds': 'hash', 'FI_PROVIDER': 'cxi', 'OMPI_MCA_pml': 'cm',
              'OMPI_MCA_mtl': 'ofi', 'OMPI_MCA_btl': '^tcp,ofi,vader,openib', 'FI_HMEM_CUDA_USE_GDRCOPY': '1'}
    assert {name: values.get(name) for name in wanted} == wanted
    found = settings_of('alps')
    assert found.stack.pmi == 'pmix' and {'CXI_FORK_SAFE'} <= {one['name'] for one in found.sets.unset}


# The published cases


# For real


#: What takes Open MPI off the module's network, and what its ranks then say
OWN_NETWORK = {
    'ucx': ('export OMPI_MCA_pml=ucx OMPI_MCA_pml_ucx_tls=any OMPI_MCA_pml_ucx_devices=any UCX_LOG_LEVEL=info',
            r'UCX +INFO'),
    'efa': ('export FI_PROVIDER=efa OMPI_MCA_opal_common_ofi_provider_include=efa', None),
}


@pytest.mark.parametrize('network, before', [pytest.param(*one, marks=needs_slurm) for one in itertools.product(
    OWN_NETWORK, (True, False))])
def test_what_the_user_sets_wins_over_the_module(shell, network, before):
    own, says = OWN_NETWORK[network]
    load = 'module load osu-container/openmpi'
    done = shell(f'{own}; {load}' * before + f'{load}; {own}' * (not before) + f'; srun -N2 -n2 {LATENCY}')
    if says:  # UCX is in the image: it carries the messages, over TCP here
        assert re.search(says, done.stdout + done.stderr) and {1, 8} <= set(table(done.stdout)), done.stderr[-2000:]
    else:  # there is no such card here, and nothing else is taken in silence
        assert done.returncode and not table(done.stdout), done.stdout
