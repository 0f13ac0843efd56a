"""
Read from /proc which network a running process has opened and how many ranks its MPI sees.

This module calls neither MPI nor libfabric. The module draws conclusions from the files and sockets
that the process has open after MPI_Init:

* If the device of a network card is open (/dev/cxi0, /dev/infiniband/uverbs0, ...), the process uses
  the libfabric provider of this card. The device is recorded as the domain.
* If the process has libfabric and a TCP socket listens at the address of one interface, the process
  uses a TCP provider of libfabric. The interface is recorded as the domain. Such sockets were observed
  with MPICH 4.2.3 over libfabric 1.22.0 and 2.5.1, MPICH 5.0.2, Intel MPI 2021.19 and Open MPI 5.0.11.
* If /dev/shm contains segments of UCX, the sockets belong to UCX.
* If a TCP socket listens at all addresses, or if the process has no libfabric, the socket belongs to
  MPI itself.

Sockets that the process has inherited from its parent are ignored, and so are connections to the
process manager (PMI, PMIx). The sockets of libfabric's two TCP providers (tcp and sockets) look alike;
if FI_PROVIDER is set, FI_PROVIDER decides which provider is reported.

This module needs only Python 3.6 and its standard library.
"""

import fcntl
import glob
import os
import re
import socket
import struct
from typing import Any, Container, Dict, Iterable, List, Mapping, Optional, Set, Tuple

from osu_container.data.launchers import detect_launcher
from osu_container.proof.loaded import list_proc_folder, read_proc_file, read_proc_link

#: The provider cxi that tests/stand_in/files/slingshot.c simulates over TCP. The simulation maps a
#: file of memory with the name in DEVICES, which no other program uses
SIMULATED_CXI = 'cxi (simulated)'
#: (pattern of a device, its provider as libfabric names it), from the source code of libcxi, rdma-core
#: and opa-psm2. This project has not observed a process with a cxi device.
DEVICES = [
    (re.compile(r'/dev/(cxi\d+)$'), 'cxi'),
    (re.compile(r'/dev/infiniband/(uverbs\d+)$'), 'verbs'),
    (re.compile(r'/dev/(hfi1_\d+)$'), 'psm2 or opx'),
    (re.compile(r'/dev/(efa\d+)$'), 'efa'),
    (re.compile(r'/memfd:(slingshot-stand-in) \(deleted\)$'), SIMULATED_CXI),
]
SHARED = re.compile(r'/dev/shm/(.+?)( \(deleted\))?$')
_SOCKET = re.compile(r'socket:\[(\d+)\]$')
#: States of TCP sockets in /proc/net/tcp
_STATES = {'0A': 'listens', '01': 'connected'}
#: TCP providers of libfabric as FI_PROVIDER names them
TCP = ('tcp', 'sockets', 'net')
#: Providers that do not use a network themselves: utility providers, hooks, and shared memory between
#: the ranks of a node
_UTILITY = ('ofi_rxm', 'ofi_rxd', 'ofi_mrail', 'lnx', 'off_coll', 'shm', 'sm2')

_SIOCGIFADDR = 0x8915

#: Layer, provider, domains and the evidence, as in 'network' of data/records.py
_Network = Tuple[Optional[str], Optional[str], List[str], str]
#: Size, process manager and the evidence, as in 'world' of data/records.py
_World = Tuple[Optional[int], Optional[str], str]


def _parse_address(text: str) -> Tuple[str, int]:
    """Return (address, port) of a field in /proc/net/tcp such as '0100007F:1F90'."""
    words, port = text.split(':')
    # The address consists of 32-bit words in the byte order of the machine.
    raw = b''.join(struct.pack('=I', int(words[n : n + 8], 16)) for n in range(0, len(words), 8))
    family = socket.AF_INET if len(raw) == 4 else socket.AF_INET6
    address = socket.inet_ntop(family, raw)
    return address[len('::ffff:') :] if address.startswith('::ffff:') else address, int(port, 16)


def list_sockets(pid: int, inodes: Container[str]) -> List[Dict[str, Any]]:
    """
    Return the listening and connected TCP sockets that a process has open, each as a dict.

    Keys of the dict: state ('listens' or 'connected'), address, port, and peer. The value of peer
    is 'address:port' for a connected socket, otherwise None.

    inodes: inodes of the sockets that the process has open. The result omits other sockets in the
    network namespace of the process.
    """
    sockets = []
    for name in ('tcp', 'tcp6') if inodes else ():
        for line in (
            read_proc_file('/proc/%d/net/%s' % (pid, name))
            .decode('ascii', 'replace')
            .splitlines()[1:]
        ):
            fields = line.split()
            if len(fields) < 10 or fields[9] not in inodes or fields[3] not in _STATES:
                continue
            (address, port), peer = _parse_address(fields[1]), _parse_address(fields[2])
            sockets.append(
                {
                    'state': _STATES[fields[3]],
                    'address': address,
                    'port': port,
                    'peer': '%s:%d' % peer if _STATES[fields[3]] == 'connected' else None,
                }
            )
    return sorted(sockets, key=lambda entry: (entry['state'], entry['address'], entry['port']))


def list_interfaces() -> Dict[str, str]:
    """
    Return {address: name of the network interface} for IPv4 and IPv6 addresses.

    IPv4 addresses come from the ioctl SIOCGIFADDR, IPv6 addresses from /proc/net/if_inet6.
    """
    interfaces = {}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for _, name in socket.if_nameindex():
            try:  # struct ifreq: 16 bytes of name, then struct sockaddr_in
                answer = fcntl.ioctl(
                    any_socket.fileno(), _SIOCGIFADDR, struct.pack('40s', os.fsencode(name))
                )
            except OSError:  # the interface has no address
                continue
            interfaces[socket.inet_ntoa(answer[20:24])] = name
    for line in read_proc_file('/proc/net/if_inet6').decode('ascii', 'replace').splitlines():
        fields = line.split()
        interfaces[socket.inet_ntop(socket.AF_INET6, bytes(bytearray.fromhex(fields[0])))] = fields[
            -1
        ]
    return interfaces


def list_descriptors(pid: int) -> Dict[int, str]:
    """Return {file descriptor: target of the link /proc/PID/fd/NUMBER} of a process."""
    targets = {}
    for name in list_proc_folder('/proc/%d/fd' % pid):
        target = read_proc_link('/proc/%d/fd/%s' % (pid, name))
        if target:
            targets[int(name)] = target
    return targets


def _select_inodes(files: Mapping[int, str]) -> Set[str]:
    return {match.group(1) for match in map(_SOCKET.match, files.values()) if match}


def list_inherited_sockets() -> Set[str]:
    """Return the inodes of all sockets that the sampler and the rank have inherited."""
    return _select_inodes(list_descriptors(os.getpid()))


def _list_manager_addresses(environment: Mapping[str, str]) -> Set[str]:
    """Return 'address:port' of each process manager that an environment variable contains."""
    addresses: Set[str] = set()
    for name, value in environment.items():
        if name.startswith('PMIX_SERVER_URI'):  # 'pmix-server.18229;tcp4://127.0.0.1:38461'
            addresses.update(
                '%s:%s' % (host.strip('[]'), port)
                for host, port in re.findall(r'tcp[46]?://(\[[0-9a-fA-F:]+\]|[\d.]+):(\d+)', value)
            )
    host, _, port = environment.get('PMI_PORT', '').rpartition(':')
    if host:
        try:
            addresses.add('%s:%s' % (socket.gethostbyname(host), port))
        except OSError:
            pass
    return addresses


def read_open_resources(
    pid: int,
    environment: Mapping[str, str],
    inherited: Iterable[str],
    paths: Iterable[str],
) -> Dict[str, Any]:
    """
    Return the network resources that a process has open.

    Keys: devices (paths that match DEVICES), shared (paths in /dev/shm), sockets (see list_sockets()),
    manager ('address:port' of the connected process manager, or None).

    environment: variables of the process; inherited: inodes of the sockets that the process has
    inherited from its parent; paths: paths of the files that the process has mapped
    """
    files = list_descriptors(pid)
    sockets = list_sockets(pid, _select_inodes(files) - set(inherited))
    managers = _list_manager_addresses(environment)
    manager = next((entry['peer'] for entry in sockets if entry['peer'] in managers), None)
    sockets = [entry for entry in sockets if entry['peer'] not in managers]
    if environment.get('PMIX_RANK') is not None:
        # Ignore the socket for tools that PMIx opens on loopback.
        loopback = [
            entry
            for entry in sockets
            if entry['state'] == 'listens' and entry['address'] in ('127.0.0.1', '::1')
        ]
        sockets = [entry for entry in sockets if entry not in loopback[:1]]
    everything = sorted(set(files.values()) | set(paths))
    return {
        'devices': [
            path
            for path in everything
            if any(
                pattern.match(path)
                # A node with a Slingshot card is no simulation.
                and not (provider == SIMULATED_CXI and glob.glob('/dev/cxi[0-9]*'))
                for pattern, provider in DEVICES
            )
        ],
        'shared': [path for path in everything if SHARED.match(path)][:20],
        'sockets': sockets,
        'manager': manager,
    }


def parse_allowed_providers(text: Optional[str], links: Optional[str] = None) -> List[str]:
    """
    Return the network providers that a value of FI_PROVIDER allows; [] allows any provider.

    text: value of FI_PROVIDER. 'tcp;ofi_rxm' means the provider tcp under the utility provider
    ofi_rxm, and '^tcp' excludes the provider tcp (fi_fabric(7)).

    links: value of FI_LNX_PROV_LINKS, such as 'shm+cxi:cxi0|shm+cxi:cxi1'. FI_LNX_PROV_LINKS lists
    the providers that the provider lnx combines (fi_lnx(7)).
    """
    if not text or text.startswith('^'):
        return []
    names = [name.strip() for part in text.split(',') for name in part.split(';')]
    if 'lnx' in names:
        linked = [name.partition(':')[0].strip() for name in re.split('[+|;]', links or '')]
        names += [name for name in dict.fromkeys(linked) if name not in names]
    return [name for name in names if name and name not in _UTILITY]


def identify_network(
    resources: Dict[str, Any],
    libraries: Container[str],
    environment: Mapping[str, str],
    addresses: Mapping[str, str],
) -> Optional[Dict[str, Any]]:
    """
    Return the network that a process uses, as a dict; None if `resources` show no network.

    Keys of the dict: layer, provider, domains, how (the evidence as text), opened (the resources).
    The layer is 'libfabric', 'ucx', 'mpi' (MPI itself uses TCP), or None if unknown.

    resources: result of read_open_resources() for the process; libraries: names of the libraries
    that the process has mapped; environment: variables of the process; addresses: result of
    list_interfaces()
    """
    over_ucx = 'libucp' in libraries and any('/ucx_shm_' in path for path in resources['shared'])
    used = 'ucx' if over_ucx else 'libfabric' if 'libfabric' in libraries else 'mpi'
    network = _identify_by_device(
        resources['devices'], used, libraries, environment
    ) or _identify_by_sockets(resources['sockets'], used, environment, addresses)
    if network is None:
        return None
    layer, provider, domains, how = network
    return {
        'layer': layer,
        'provider': provider,
        'domains': sorted(set(domains)),
        'how': how,
        'opened': resources,
    }


def _identify_by_device(
    devices: Iterable[str], layer: str, libraries: Container[str], environment: Mapping[str, str]
) -> Optional[_Network]:
    """Return the network that a process's open devices show, None without a known device."""
    for pattern, provider in DEVICES:
        names = [match.group(1) for match in map(pattern.match, devices) if match]
        if not names:
            continue
        how = 'the process has %s open' % ', '.join('/dev/' + name for name in names)
        if provider == SIMULATED_CXI:
            how = 'the process sends over TCP through a simulated provider cxi, not over Slingshot'
        if layer != 'libfabric':
            return layer, None, names, how
        is_mpi_netmod_known = environment.get('MPIR_CVAR_CH4_NETMOD') == 'ofi'
        if provider == 'verbs' and 'libucp' in libraries and not is_mpi_netmod_known:
            return None, provider, names, how
        return layer, provider, names, how
    return None


def _identify_by_sockets(
    sockets: Iterable[Dict[str, Any]],
    layer: str,
    environment: Mapping[str, str],
    addresses: Mapping[str, str],
) -> Optional[_Network]:
    """Return the network that a process's TCP sockets show, None without such a socket."""
    listens = [entry for entry in sockets if entry['state'] == 'listens']
    bound = [entry for entry in listens if entry['address'] in addresses]
    domains = [addresses[entry['address']] for entry in bound]
    if layer == 'ucx':
        return (
            layer,
            None,
            domains,
            "the process has memory segments of UCX" + bool(bound) * (" and listens at TCP ports"),
        )
    if not listens:
        return None
    if layer != 'libfabric':
        return (
            'mpi',
            'tcp',
            domains,
            "the process listens at TCP ports and has not loaded libfabric",
        )
    if not bound:
        return (
            'mpi',
            None,
            domains,
            "the process listens at TCP ports of all addresses, but libfabric listens at a single address",
        )
    allowed = parse_allowed_providers(environment.get('FI_PROVIDER'))
    return (
        layer,
        next((name for name in allowed if name in TCP), 'tcp'),
        domains,
        "the process listens at %s"
        % ', '.join('%s:%d' % (entry['address'], entry['port']) for entry in bound),
    )


# ---- how many ranks MPI sees -----------------------------------------------------------------------------------------

#: Variables that PALS sets for a rank
_PALS = ('PALS_APINFO', 'PALS_APID')


def _matches_task_rank(environment: Mapping[str, str], variable: str) -> bool:
    """
    Return whether `variable` contains the rank number that the launcher has set.

    variable: name of a variable that a process manager sets, such as PMI_RANK. If the process has
    inherited the variable from a shell in an outer step, the variable contains another number.
    """
    number, launcher = environment.get(variable), detect_launcher(environment)[1]
    return number is not None and (not launcher or environment[launcher['rank']] == number)


def derive_world(
    environment: Mapping[str, str],
    family: Optional[str],
    libraries: Container[str],
    files: Mapping[int, str],
    resources: Mapping[str, Any],
) -> Dict[str, Any]:
    """
    Derive how many ranks the MPI of a process sees, and return the result as a dict.

    Keys of the dict: size (number of ranks that MPI sees, None if unknown), tasks (number of ranks
    that the launcher started), pmi (kind of the process manager), how (the evidence as text).

    The function derives the size from other facts, because reading the memory of MPI would stop the
    process. If MPICH, Intel MPI, Cray MPICH or Open MPI finds no supported process manager, each
    rank sees only itself, and the size is 1.

    family: family of the loaded libmpi; libraries: names of the libraries that the process has
    mapped; files: result of list_descriptors(); resources: result of read_open_resources()
    """
    launcher = detect_launcher(environment)[1]
    names = [launcher['size']] if launcher else ['SLURM_STEP_NUM_TASKS', 'SLURM_NTASKS']
    text = next((environment[name] for name in names if environment.get(name)), '')
    tasks = int(text) if text.isdigit() else None
    pals = [name for name in _PALS if environment.get(name)] if family == 'Cray MPICH' else []
    number, size = environment.get('PMI_FD', ''), environment.get('PMI_SIZE', '')
    has_socket = number.isdigit()
    speaks_pmix = family == 'Open MPI' or 'libpmix' in libraries
    world: _World
    if resources['manager'] and speaks_pmix:
        world = tasks, 'PMIx', "the process is connected to the PMIx server " + resources['manager']
    elif family == 'Open MPI' and _matches_task_rank(environment, 'PMIX_RANK'):
        world = tasks, 'PMIx', "PMIX_RANK is set"
    elif family == 'Open MPI' and ('libpmi' in libraries or 'libpmi2' in libraries):
        world = (
            None,
            None,
            "the process has loaded a PMI library of Slurm, and only the process itself can ask this library for "
            "the number of ranks",
        )
    elif family == 'Open MPI':
        world = 1, None, "PMIX_RANK is not set, and Open MPI finds other ranks only through PMIx"
    elif pals:
        world = tasks, 'PALS', "%s is set" % pals[0]
    elif has_socket and files.get(int(number), '').startswith('socket:'):
        world = (
            int(size) if size.isdigit() else tasks,
            'PMI',
            "PMI_FD=%s is an open socket, PMI_SIZE=%s" % (number, size or 'unset'),
        )
    elif environment.get('PMI_PORT'):
        world = tasks, 'PMI', "PMI_PORT is set"
    elif family not in ('MPICH', 'Intel MPI', 'Cray MPICH'):
        world = None, None, "the family of the loaded libmpi is unknown"
    elif speaks_pmix:
        world = (
            None,
            None,
            "the process has loaded libpmix, and only the process itself can ask libpmix for the number of ranks",
        )
    elif has_socket and _matches_task_rank(environment, 'PMI_RANK') and size == str(tasks):
        world = (
            None,
            None,
            "the socket PMI_FD=%s is closed, because MPI_Finalize closes the socket" % number,
        )
    elif has_socket:
        world = (
            1,
            None,
            "PMI_FD=%s is no open socket of this process; an outer Slurm step has set PMI_FD"
            % number,
        )
    else:
        world = (
            1,
            None,
            "%s is set, and %s finds other ranks only through PMI"
            % (
                "none of the variables PMI_FD, PMI_PORT, PALS_APINFO, PALS_APID"
                if family == 'Cray MPICH'
                else "neither PMI_FD nor PMI_PORT",
                family,
            ),
        )
    return dict(zip(('size', 'pmi', 'how'), world), tasks=tasks)
