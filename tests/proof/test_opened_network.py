"""
What a rank has opened: real processes with real sockets, segments and environments, and devices
as data.
"""

import os
import socket
import sys

import pytest

from osu_container.proof.opened_network import (
    derive_world,
    identify_network,
    list_inherited_sockets,
    parse_allowed_providers,
    read_open_resources,
)
from tests.helpers.machine import compile_library
from tests.proof.test_loaded import compile_libfabric, compile_mpich, run_rank_proof

pytestmark = pytest.mark.system

#: Loads libraries (arguments behind --), opens what the words before say, waits. A test that wants
#: a network sets SEEN_IN, the rank's proof: on busy cores the sampler needs longer for it than any
#: fixed time
PROGRAM = r'''
import ctypes, os, socket, sys, time
at = sys.argv.index('--')
for path in sys.argv[at + 1:]:
    ctypes.CDLL(path)
time.sleep(0.3)
held = []
for word in sys.argv[1:at]:
    kind, _, value = word.partition('=')
    if kind == 'listen':
        held.append(socket.socket(socket.AF_INET6 if ':' in value else socket.AF_INET))
        held[-1].bind((value, 0))
        held[-1].listen(1)
    elif kind == 'connect':
        host, port = value.rsplit(':', 1)
        held.append(socket.create_connection((host, int(port))))
    elif kind == 'open':
        held.append(open(value, 'rb'))
end = time.monotonic() + 30
while 'SEEN_IN' in os.environ and time.monotonic() < end:
    if os.path.exists(os.environ['SEEN_IN']) and '"network": {' in open(os.environ['SEEN_IN']).read():
        break
    time.sleep(0.05)
time.sleep(1.2)
'''


@pytest.fixture
def libraries(tmp_path):
    """{name: path} of stand-ins of libmpi (MPICH 4.2.3), libfabric and libucp."""
    return {
        'libmpi': compile_mpich(tmp_path / 'lib' / 'libmpi.so.12'),
        'libfabric': compile_libfabric(tmp_path / 'lib' / 'libfabric.so.1'),
        'libucp': compile_library(tmp_path / 'lib' / 'libucp.so.0'),
    }


def read_network(tmp_path, words, libraries, program=PROGRAM, **variables):
    """
    The network (dict) that a process shows which has these libraries and opens what the words
    say.
    """
    variables['SEEN_IN'] = str(tmp_path / 'proof' / 'rank-3.json')
    _, found = run_rank_proof(
        tmp_path, sys.executable, '-c', program, *words, '--', *libraries, variables=variables
    )
    assert found['complete']
    return found['network']


def test_socket_at_an_interface_address_is_libfabric_tcp(tmp_path, libraries):
    found = read_network(
        tmp_path, ['listen=127.0.0.1'], [libraries['libmpi'], libraries['libfabric']]
    )
    assert (found['layer'], found['provider'], found['domains']) == ('libfabric', 'tcp', ['lo'])
    (port,) = [one['port'] for one in found['opened']['sockets']]
    assert f'127.0.0.1:{port}' in found['how']


def test_proof_waits_until_the_network_opens(tmp_path, libraries):
    found = read_network(
        tmp_path,
        ['listen=127.0.0.1'],
        [libraries['libmpi'], libraries['libfabric']],
        PROGRAM.replace('sleep(0.3)', 'sleep(1.5)'),
    )
    assert found['provider'] == 'tcp'


@pytest.mark.parametrize('address', ['0.0.0.0', '::'])
def test_socket_at_all_addresses_belongs_to_mpi(tmp_path, libraries, address):
    """So listens Open MPI's BTL tcp: seen with 5.0.11, beside libfabric's socket at one address."""
    found = read_network(
        tmp_path, [f'listen={address}'], [libraries['libmpi'], libraries['libfabric']]
    )
    assert (found['layer'], found['provider']) == ('mpi', None)


def test_sockets_of_pmix_do_not_count(tmp_path, libraries):
    """PMIx connects to its server, and listens on loopback for tools: seen with Open MPI 5.0.11."""
    with socket.socket() as server:
        server.bind(('127.0.0.1', 0))
        server.listen(1)
        address = f'127.0.0.1:{server.getsockname()[1]}'
        _, found = run_rank_proof(
            tmp_path,
            sys.executable,
            '-c',
            PROGRAM,
            'listen=127.0.0.1',
            f'connect={address}',
            '--',
            libraries['libmpi'],
            libraries['libfabric'],
            variables={'PMIX_RANK': '3', 'PMIX_SERVER_URI4': f'pmix-server.9;tcp4://{address}'},
        )
    assert found['network'] is None


# ---- devices, as data: none of these cards is here


def read_device_network(path, names=('libmpi', 'libfabric'), **variables):
    """
    network_of() a process that has a device open, its libraries names and its environment
    variables.
    """
    what = {'devices': [path], 'shared': [], 'sockets': [], 'manager': None}
    return identify_network(what, names, variables, {})


@pytest.mark.parametrize(
    'path, provider, domains',
    [
        ('/dev/cxi0', 'cxi', ['cxi0']),
        ('/dev/cxi12', 'cxi', ['cxi12']),
        ('/dev/infiniband/uverbs1', 'verbs', ['uverbs1']),
        ('/dev/hfi1_0', 'psm2 or opx', ['hfi1_0']),
        ('/dev/efa0', 'efa', ['efa0']),
    ],
)
def test_an_open_device_names_the_provider(path, provider, domains):
    found = read_device_network(path)
    assert (found['layer'], found['provider'], found['domains']) == ('libfabric', provider, domains)


@pytest.mark.parametrize('cards, promise', [([], 'cxi (simulated)'), (['/dev/cxi0'], None)])
def test_simulated_cxi_never_counts_on_a_node_with_a_card(monkeypatch, cards, promise):
    monkeypatch.setattr('osu_container.proof.opened_network.glob.glob', lambda _: cards)
    mapped = ['/memfd:slingshot-stand-in (deleted)']
    resources = read_open_resources(os.getpid(), {}, list_inherited_sockets(), mapped)
    found = identify_network(resources, ('libmpi', 'libfabric'), {'FI_PROVIDER': 'cxi'}, {})
    assert (found and found['provider']) == promise


def test_a_device_counts_more_than_a_socket():
    what = {
        'devices': ['/dev/cxi0', '/dev/cxi3'],
        'shared': [],
        'manager': None,
        'sockets': [{'state': 'listens', 'address': '10.0.0.1', 'port': 5, 'peer': None}],
    }
    found = identify_network(what, ('libmpi', 'libfabric'), {}, {'10.0.0.1': 'hsn0'})
    assert (found['provider'], found['domains']) == ('cxi', ['cxi0', 'cxi3'])


@pytest.mark.parametrize(
    'text, names',
    [
        (None, []),
        ('', []),
        ('tcp', ['tcp']),
        ('tcp;ofi_rxm', ['tcp']),
        ('ofi_rxm;verbs,tcp', ['verbs', 'tcp']),
        ('^cxi', []),
        ('cxi,shm', ['cxi']),
        ('shm', []),
    ],
)
def test_fi_provider_lists_the_allowed_providers(text, names):
    assert parse_allowed_providers(text) == names


# ---- how many ranks

SOCKET = {7: 'socket:[123]'}


@pytest.mark.parametrize(
    'family, libraries, variables, files, manager, size, pmi',
    [
        ('MPICH', (), {'PMI_FD': '7', 'PMI_SIZE': '4'}, SOCKET, None, 4, 'PMI'),
        ('Intel MPI', (), {'PMI_FD': '7', 'PMI_SIZE': '4'}, SOCKET, None, 4, 'PMI'),
        ('MPICH', (), {}, {}, None, 1, None),  # srun --mpi=none
        ('MPICH', (), {'PMIX_RANK': '0'}, {}, None, 1, None),  # srun --mpi=pmix
        (
            'MPICH',
            (),
            {'PMI_FD': '7', 'PMI_SIZE': '4'},
            {7: '/dev/null'},
            None,
            1,
            None,
        ),  # of an outer step
        (
            'MPICH',
            (),
            {'PMI_FD': '7', 'PMI_RANK': '0', 'PMI_SIZE': '8'},
            {},
            None,
            None,
            None,
        ),  # after MPI_Finalize
        ('MPICH', (), {'PMI_PORT': 'localhost:9'}, {}, None, 8, 'PMI'),  # mpiexec
        ('MPICH', ('libpmix',), {}, {}, None, None, None),
        ('MPICH', ('libpmix',), {}, {}, '127.0.0.1:9', 8, 'PMIx'),
        ('Open MPI', (), {'PMIX_RANK': '0'}, {}, '127.0.0.1:9', 8, 'PMIx'),
        ('Open MPI', (), {'PMIX_RANK': '0'}, {}, None, 8, 'PMIx'),  # not connected yet
        (
            'Open MPI',
            (),
            {'PMI_FD': '7', 'PMI_SIZE': '4'},
            SOCKET,
            None,
            1,
            None,
        ),  # srun --mpi=pmi2
        ('Open MPI', (), {'PMIX_RANK': '5'}, {}, None, 1, None),  # of an outer step
        ('Open MPI', ('libpmi2',), {}, {}, None, None, None),
        ('Cray MPICH', ('libpmi',), {'PALS_APINFO': '/x'}, {}, None, 8, 'PALS'),
        ('Cray MPICH', ('libpmi',), {}, {}, None, 1, None),
        (None, (), {}, {}, None, None, None),
    ],
)
def test_the_number_of_ranks_follows_from_the_process_manager(
    family, libraries, variables, files, manager, size, pmi
):
    environment = dict(variables, SLURM_STEP_NUM_TASKS='8', SLURM_PROCID='0')
    found = derive_world(environment, family, libraries, files, {'manager': manager})
    assert (found['size'], found['pmi'], found['tasks']) == (size, pmi, 8)
    assert found['how']
