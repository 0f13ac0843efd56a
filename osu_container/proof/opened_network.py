"""
Which network a running process has really opened, and whether its MPI has met the other ranks: read
from /proc.

Nothing is asked of MPI or libfabric. What shows is what the process holds open after MPI_Init:

* a device of a network card (/dev/cxi0, /dev/infiniband/uverbs0, ...): its provider, and the domain
    is the device;
* a TCP socket that listens at the address of one interface, in a process with libfabric:
    libfabric's TCP, and the
  domain is that interface. Seen so with MPICH 4.2.3 over libfabric 1.22.0 and 2.5.1, MPICH 5.0.2,
  Intel MPI 2021.19 and Open MPI 5.0.11;
* segments of UCX in /dev/shm: then the sockets are UCX's;
* TCP sockets that listen at all addresses, or a process without libfabric: MPI's own TCP.

Not counted: sockets that the process had from its parent, and those to the process manager (PMI,
PMIx). Which of several TCP providers of libfabric it is (tcp, sockets) cannot be seen; FI_PROVIDER
says it where it is set.

Python 3.6 and its standard library only.
"""

import fcntl
import os
import re
import socket
import struct

from osu_container.data.launchers import detect_launcher
from osu_container.proof.loaded import list_proc_folder, read_proc_file, read_proc_link

#: (pattern of a device that is open, provider or None where several use it, what it is). Names as
#: libfabric has them. From the sources of libcxi, rdma-core, opa-psm2, xpmem and ROCm; cxi was not
#: seen by this project.
DEVICES = [
    (re.compile(r'/dev/(cxi\d+)$'), 'cxi'),
    (re.compile(r'/dev/infiniband/(uverbs\d+)$'), 'verbs'),
    (re.compile(r'/dev/(hfi1_\d+)$'), 'psm2 or opx'),
    (re.compile(r'/dev/(efa\d+)$'), 'efa'),
]
SHARED = re.compile(r'/dev/shm/(.+?)( \(deleted\))?$')
_SOCKET = re.compile(r'socket:\[(\d+)\]$')
_LISTENS, _CONNECTED = '0A', '01'
#: TCP providers of libfabric by the names that FI_PROVIDER may have
TCP = ('tcp', 'sockets', 'net')
#: Utility providers, which stand on a provider of a network; hooks and shared memory between the
#: ranks of a node
_UTILITY = ('ofi_rxm', 'ofi_rxd', 'ofi_mrail', 'lnx', 'off_coll', 'shm', 'sm2')

_SIOCGIFADDR = 0x8915


def _parse_address(text):
    """
    Return (address, port) of the hexadecimal text in /proc/net/tcp and tcp6, e.g.
    '0100007F:1F90'.
    """
    words, port = text.split(':')
    # words of 32 bits, each in the byte order of the machine
    raw = b''.join(struct.pack('=I', int(words[n : n + 8], 16)) for n in range(0, len(words), 8))
    family = socket.AF_INET if len(raw) == 4 else socket.AF_INET6
    address = socket.inet_ntop(family, raw)
    return address[len('::ffff:') :] if address.startswith('::ffff:') else address, int(port, 16)


def list_sockets(pid, inodes):
    """
    Return the TCP sockets of process pid (list of dict: state 'listens' or 'connected', address,
    port, peer).

    :param inodes: set of str, the sockets that it holds open; other sockets of the machine are left
        out
    """
    found = []
    for name in ('tcp', 'tcp6') if inodes else ():
        for line in (
            read_proc_file('/proc/%d/net/%s' % (pid, name))
            .decode('ascii', 'replace')
            .splitlines()[1:]
        ):
            fields = line.split()
            if (
                len(fields) < 10
                or fields[9] not in inodes
                or fields[3] not in (_LISTENS, _CONNECTED)
            ):
                continue
            (address, port), peer = _parse_address(fields[1]), _parse_address(fields[2])
            found.append(
                {
                    'state': 'listens' if fields[3] == _LISTENS else 'connected',
                    'address': address,
                    'port': port,
                    'peer': None if fields[3] == _LISTENS else '%s:%d' % peer,
                }
            )
    return sorted(found, key=lambda one: (one['state'], one['address'], one['port']))


def list_interfaces():
    """
    Return {address: name} of the network interfaces of this node, IPv4 (ioctl SIOCGIFADDR) and
    IPv6 (/proc).
    """
    found = {}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for _, name in socket.if_nameindex():
            try:  # struct ifreq: 16 bytes of name, then struct sockaddr_in
                answer = fcntl.ioctl(
                    any_socket.fileno(), _SIOCGIFADDR, struct.pack('40s', os.fsencode(name))
                )
            except OSError:  # it has no address
                continue
            found[socket.inet_ntoa(answer[20:24])] = name
    for line in read_proc_file('/proc/net/if_inet6').decode('ascii', 'replace').splitlines():
        fields = line.split()
        found[socket.inet_ntop(socket.AF_INET6, bytes(bytearray.fromhex(fields[0])))] = fields[-1]
    return found


def list_descriptors(pid):
    """Return {number (int): what it leads to (str)} of the open files of process pid."""
    found = {}
    for name in list_proc_folder('/proc/%d/fd' % pid):
        target = read_proc_link('/proc/%d/fd/%s' % (pid, name))
        if target:
            found[int(name)] = target
    return found


def list_inherited_sockets():
    """
    Return the inodes (set of str) of the sockets that this process holds: what a rank has from
    its parent too.
    """
    return {
        match.group(1)
        for match in map(_SOCKET.match, list_descriptors(os.getpid()).values())
        if match
    }


def _list_manager_addresses(environment):
    """Return {'address:port'} of the process manager, as environment (dict) names it."""
    found = set()
    for name, value in environment.items():
        if name.startswith('PMIX_SERVER_URI'):  # 'pmix-server.18229;tcp4://127.0.0.1:38461'
            found.update(
                '%s:%s' % (host.strip('[]'), port)
                for host, port in re.findall(r'tcp[46]?://(\[[0-9a-fA-F:]+\]|[\d.]+):(\d+)', value)
            )
    host, _, port = environment.get('PMI_PORT', '').rpartition(':')
    if host:
        try:
            found.add('%s:%s' % (socket.gethostbyname(host), port))
        except OSError:
            pass
    return found


def read_open_resources(pid, environment, inherited=(), paths=()):
    """
    Return what process pid has opened (dict): devices, shared (list of str), sockets (as
    list_sockets()), manager.

    :param environment: dict, that of the process; inherited: set of str, sockets that it has from
        its parent
    :param paths: list of str, files that it has mapped
    manager is the 'address:port' of the process manager to which it is connected, None without.
    """
    files = list_descriptors(pid)
    inodes = {match.group(1) for match in map(_SOCKET.match, files.values()) if match} - set(
        inherited
    )
    sockets = list_sockets(pid, inodes)
    managers = _list_manager_addresses(environment)
    manager = next((one['peer'] for one in sockets if one['peer'] in managers), None)
    sockets = [one for one in sockets if one['peer'] not in managers]
    if environment.get('PMIX_RANK') is not None:
        # PMIx opens a socket of its own for tools, on loopback
        loopback = [
            one
            for one in sockets
            if one['state'] == 'listens' and one['address'] in ('127.0.0.1', '::1')
        ]
        sockets = [one for one in sockets if one not in loopback[:1]]
    everything = sorted(set(files.values()) | set(paths))
    return {
        'devices': [
            path for path in everything if any(pattern.match(path) for pattern, _ in DEVICES)
        ],
        'shared': [path for path in everything if SHARED.match(path)][:20],
        'sockets': sockets,
        'manager': manager,
    }


def parse_allowed_providers(text, links=None):
    """
    Return the providers of a network (list of str) that a value of FI_PROVIDER (str or None)
    allows; [] if any may be.

    'tcp;ofi_rxm' is tcp under a utility provider; '^tcp' leaves one out (fi_fabric(7)). lnx sends
    by those that it links: links is FI_LNX_PROV_LINKS, such as 'shm+cxi:cxi0|shm+cxi:cxi1'
    (fi_lnx(7)).
    """
    if not text or text.startswith('^'):
        return []
    names = [name.strip() for part in text.split(',') for name in part.split(';')]
    if 'lnx' in names:
        linked = [name.partition(':')[0].strip() for name in re.split('[+|;]', links or '')]
        names += [name for name in dict.fromkeys(linked) if name not in names]
    return [name for name in names if name and name not in _UTILITY]


def identify_network(what, libraries, environment, addresses):
    """
    Return the network (dict): layer, provider, domains (list of str), how (str), opened (what);
    None: nothing shows.

    layer is 'libfabric', 'ucx', 'mpi' (MPI's own TCP) or None where it cannot be told.

    :param what: dict, from read_open_resources(); libraries: names (iterable) of those that are
        mapped
    :param environment: dict of the process; addresses: dict, from list_interfaces()
    """
    over_ucx = 'libucp' in libraries and any('/ucx_shm_' in path for path in what['shared'])
    layer = 'ucx' if over_ucx else 'libfabric' if 'libfabric' in libraries else 'mpi'
    shown = _identify_by_device(
        what['devices'], layer, libraries, environment
    ) or _identify_by_sockets(what['sockets'], layer, environment, addresses)
    if shown is None:
        return None
    layer, provider, domains, how = shown
    return {
        'layer': layer,
        'provider': provider,
        'domains': sorted(set(domains)),
        'how': how,
        'opened': what,
    }


def _identify_by_device(devices, layer, libraries, environment):
    """
    Return (layer, provider, domains, how) as the open devices (list of str) show it, None where
    none is open.
    """
    for pattern, provider in DEVICES:
        names = [pattern.match(path).group(1) for path in devices if pattern.match(path)]
        if not names:
            continue
        how = "it has %s open" % ', '.join('/dev/' + name for name in names)
        if layer != 'libfabric':
            return layer, None, names, how
        both = (
            'libucp' in libraries
            and provider == 'verbs'
            and environment.get('MPIR_CVAR_CH4_NETMOD') != 'ofi'
        )
        return None if both else layer, provider, names, how
    return None


def _identify_by_sockets(sockets, layer, environment, addresses):
    """
    Return (layer, provider, domains, how) as sockets (see list_sockets()) show it, None where
    nothing shows.
    """
    listens = [one for one in sockets if one['state'] == 'listens']
    own = [one for one in listens if one['address'] in addresses]
    domains = [addresses[one['address']] for one in own]
    if layer == 'ucx':
        return (
            layer,
            None,
            domains,
            "it has memory segments of UCX" + (" and listens at TCP ports" if own else ""),
        )
    if not listens:
        return None
    if layer == 'libfabric' and own:
        named = [
            name for name in parse_allowed_providers(environment.get('FI_PROVIDER')) if name in TCP
        ]
        return (
            layer,
            named[0] if named else 'tcp',
            domains,
            "it listens at %s" % ', '.join('%s:%d' % (one['address'], one['port']) for one in own),
        )
    if layer == 'libfabric':
        return (
            'mpi',
            None,
            domains,
            "it listens at TCP ports of all addresses, as libfabric does not",
        )
    return 'mpi', 'tcp', domains, "it listens at TCP ports and has no libfabric"


# ---- how many ranks MPI sees -----------------------------------------------------------------------------------------

#: Variables by which a process manager tells a rank that it is one of several
_PMI = ('PMI_FD', 'PMI_PORT', 'PMI_CONTROL_FD')
_PALS = ('PALS_APINFO', 'PALS_APID')


def _matches_task_rank(environment, own):
    """
    Return whether environment[own] is the number of this task: a shell in a step hands on that
    of its own.
    """
    number, launcher = environment.get(own), detect_launcher(environment)[1]
    return number is not None and (not launcher or environment[launcher['rank']] == number)


def derive_world(environment, family, libraries, files, what):
    """
    Return how many ranks MPI sees (dict): size (int or None), tasks (int or None), pmi (str or
    None), how (str).

    It is derived: no variable of MPI itself can be read without stopping the process. A rank whose
    MPI finds no process manager of its kind starts as a world of its own; this is what MPICH, Intel
    MPI, Cray MPICH and Open MPI do.

    :param environment: dict of the process; family: str or None, of its libmpi; libraries: names
        that are mapped
    :param files: dict, from list_descriptors(); what: dict, from read_open_resources()
    """
    launcher = detect_launcher(environment)[1]
    names = [launcher['size']] if launcher else ['SLURM_STEP_NUM_TASKS', 'SLURM_NTASKS']
    tasks = next((environment[name] for name in names if environment.get(name)), None)
    tasks = int(tasks) if tasks and tasks.isdigit() else None
    speaks_pmix = family == 'Open MPI' or 'libpmix' in libraries
    if what['manager'] and speaks_pmix:
        size, pmi, how = tasks, 'PMIx', "it is connected to the PMIx server %s" % what['manager']
    elif family == 'Open MPI':
        size, pmi, how = _derive_open_mpi_world(environment, libraries, tasks)
    else:
        size, pmi, how = _derive_pmi_world(
            environment, family, files, tasks
        ) or _derive_world_without_pmi(environment, family, speaks_pmix, tasks)
    return {'size': size, 'tasks': tasks, 'pmi': pmi, 'how': how}


def _derive_open_mpi_world(environment, libraries, tasks):
    """
    Return (size, pmi, how) of an Open MPI that is not connected to a PMIx server; see
    derive_world().
    """
    if _matches_task_rank(environment, 'PMIX_RANK'):
        return tasks, 'PMIx', "PMIX_RANK is set"
    if 'libpmi' in libraries or 'libpmi2' in libraries:
        return None, None, "it has a PMI library of Slurm, whose state does not show"
    return 1, None, "PMIX_RANK is not set, and Open MPI finds the other ranks by PMIx only"


def _derive_pmi_world(environment, family, files, tasks):
    """
    Return (size, pmi, how) where a manager of PMI or PALS shows, None where none does; see
    derive_world().
    """
    pals = [name for name in _PALS if environment.get(name)]
    if family == 'Cray MPICH' and pals:
        return tasks, 'PALS', "%s is set" % pals[0]
    number, size = environment.get('PMI_FD', ''), environment.get('PMI_SIZE', '')
    if number.isdigit() and (files.get(int(number)) or '').startswith('socket:'):
        return (
            int(size) if size.isdigit() else tasks,
            'PMI',
            "PMI_FD=%s is an open socket%s" % (number, ", PMI_SIZE=%s" % size if size else ''),
        )
    if environment.get('PMI_PORT'):
        return tasks, 'PMI', "PMI_PORT is set"
    return None


def _derive_world_without_pmi(environment, family, speaks_pmix, tasks):
    """Return (size, None, how) where no process manager shows; see derive_world()."""
    number = environment.get('PMI_FD', '')
    if family not in ('MPICH', 'Intel MPI', 'Cray MPICH'):
        return None, None, "libmpi is of no known family"
    if speaks_pmix:
        return None, None, "it has libpmix, whose state does not show"
    if (
        number.isdigit()
        and _matches_task_rank(environment, 'PMI_RANK')
        and environment.get('PMI_SIZE') == str(tasks)
    ):
        return None, None, "PMI_FD=%s is closed, as after MPI_Finalize" % number
    if number.isdigit():
        return (
            1,
            None,
            "PMI_FD=%s is no open socket of this process, but left from an outer step" % number,
        )
    return (
        1,
        None,
        "none of %s is set, and %s finds the other ranks by PMI only"
        % (', '.join(_PMI[:2] + (_PALS if family == 'Cray MPICH' else ())), family),
    )
