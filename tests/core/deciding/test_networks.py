"""
Verdicts on images for networks that none of the known sites has, all approaches: the levels, and what is recommended.

Nobody here has such cards: what follows from the files is derived (core/data/networks.py names the sources).
"""
import pytest

from osu_container.core.deciding.layers import layer_of, parts_of
from osu_container.core.deciding.rules.finding import layer
from osu_container.core.deciding.settings import approach_entry
from osu_container.core.deciding.trial import trial_of
from osu_container.core.deciding.verdict import ask, recommended
from tests.helpers.elf_folder import mpich
from tests.helpers.verdict_cases import (
    BROADCOM,
    GPU,
    INFINIBAND,
    OPEN_MPI_UCX,
    PLAIN,
    UCX_ALONE,
    UCX_WHOLE,
    VERBS,
    World,
    each,
    image,
    network,
    over_ucx,
    rdma_core,
)

WORKS, SLOWLY, UNKNOWN, FAILS = 'works', 'works slowly', 'unknown', 'fails'
OMNI_PATH, EFA = network('Omni-Path', 'hfi1'), network('EFA', 'efa')


def fabric(*providers):
    """Return a change: an image whose libfabric has providers (str)."""
    return image(fabric=lambda it: it.fabric(providers=providers, needed=()))


#: what it is -> (changes, site, {approach: level}, what is recommended of these)
SYSTEMS = {
    'UCX alone, InfiniBand': (each(INFINIBAND, UCX_WHOLE), PLAIN, {'pure': WORKS, 'opensource': WORKS}, 'pure'),
    'UCX alone, RoCE': (each(BROADCOM, UCX_ALONE, rdma_core('bnxt_re')), PLAIN, {'pure': WORKS}, 'pure'),
    'UCX without rdma-core, InfiniBand': (each(INFINIBAND, UCX_ALONE), PLAIN, {'pure': SLOWLY, 'opensource': SLOWLY},
                                          'pure'),
    'UCX alone, Slingshot': (UCX_WHOLE, GPU, {'pure': SLOWLY, 'opensource': SLOWLY}, 'pure'),
    'UCX alone, Omni-Path': (each(OMNI_PATH, UCX_WHOLE), PLAIN, {'pure': SLOWLY}, 'pure'),
    'UCX alone, EFA': (each(EFA, UCX_WHOLE), PLAIN, {'pure': UNKNOWN}, None),
    'UCX alone, Ethernet': (UCX_ALONE, PLAIN, {'pure': WORKS, 'opensource': WORKS}, 'pure'),
    'libfabric with verbs, InfiniBand': (each(INFINIBAND, VERBS, rdma_core('mlx5')), PLAIN,
                                         {'pure': SLOWLY, 'opensource': WORKS}, 'opensource'),
    'libfabric with verbs, RoCE': (each(BROADCOM, VERBS, rdma_core('bnxt_re')), PLAIN,
                                   {'pure': SLOWLY, 'opensource': WORKS}, 'opensource'),
    'libfabric without verbs, InfiniBand': (each(INFINIBAND, fabric('tcp')), PLAIN,
                                            {'pure': SLOWLY, 'opensource': FAILS}, 'pure'),
    'libfabric without verbs, Ethernet': (fabric('tcp'), PLAIN, {'pure': WORKS, 'opensource': WORKS}, 'pure'),
    'libfabric with opx, Omni-Path': (each(OMNI_PATH, fabric('opx', 'tcp')), PLAIN,
                                      {'pure': SLOWLY, 'opensource': WORKS}, 'opensource'),
    'libfabric with efa, EFA': (each(EFA, fabric('efa', 'tcp'), rdma_core('efa')), PLAIN,
                                {'pure': SLOWLY, 'opensource': WORKS}, 'opensource'),
    'both netmods, libfabric first, InfiniBand': (
        each(INFINIBAND, UCX_WHOLE, fabric('tcp'), image(
            mpi=lambda it: over_ucx(it, mpich(device='ch4:ofi ucx'), needs=7))), PLAIN,
        {'pure': SLOWLY, 'opensource': FAILS}, 'pure'),
    'both netmods, UCX first, InfiniBand': (
        each(INFINIBAND, UCX_WHOLE, fabric('tcp'), image(
            mpi=lambda it: over_ucx(it, mpich(device='ch4:ucx ofi'), needs=7))), PLAIN,
        {'pure': WORKS, 'opensource': WORKS}, 'pure'),
    'Open MPI with UCX, InfiniBand': (each(INFINIBAND, OPEN_MPI_UCX), PLAIN, {'openmpi': WORKS}, 'openmpi'),
    'Open MPI with UCX, RoCE of Broadcom': (each(BROADCOM, OPEN_MPI_UCX), PLAIN, {'openmpi': UNKNOWN}, None),
}


@pytest.mark.parametrize('name', SYSTEMS)
def test_the_network_decides_what_is_slow_and_what_is_right(tmp_path, parts, name):  # noqa: F811, a fixture
    change, site, wanted, best = SYSTEMS[name]
    world = World(tmp_path, parts, site)
    if site == GPU:
        image(rocm='6.3.4')(world)
    else:
        image(rocm=None, plugin=None)(world)
    change(world)
    opened, host = world.opened()
    with opened:
        verdicts = [ask(approach_entry(approach), world.site, opened, host) for approach in wanted]
    assert {one.approach: one.level for one in verdicts} == wanted, [one.findings for one in verdicts]
    assert recommended(verdicts, world.site) == best
    for one in verdicts:
        assert all(finding.remedy for finding in one.findings)


@pytest.mark.parametrize('variable, wanted', [(None, 'libfabric'), ('ucx', 'UCX'), ('ofi', 'libfabric'),
                                              ('none of them', 'libfabric')])
def test_the_variable_of_mpich_decides_the_netmod(tmp_path, parts, variable, wanted):  # noqa: F811, a fixture
    world = World(tmp_path, parts, PLAIN)
    each(INFINIBAND, UCX_WHOLE, VERBS, image(
        mpi=lambda it: over_ucx(it, mpich(device='ch4:ofi ucx'), needs=7),
        environment={'MPIR_CVAR_CH4_NETMOD': variable} if variable else {}))(world)
    opened, host = world.opened()
    with opened:
        assert layer(trial_of(approach_entry('pure'), world.site, opened, host)) == wanted


def test_a_process_without_mpi_sends_over_nothing():
    class NoMPI:
        mpi = None
    assert layer_of(NoMPI, {}, None, None) is None


def test_parts_of_a_provider():
    assert parts_of('verbs;ofi_rxm') == ['verbs', 'rxm'] and parts_of('cxi') == ['cxi']
