"""
Over which library the MPI of a process sends between nodes: libfabric, UCX, or its own TCP; and
what UCX and libibverbs need of the image to reach the cards of the site's network.
"""

import posixpath
import re

from osu_container.image.environment import get_exported_value, resolve_process_variable
from osu_container.image.loader import find_loaded_file
from osu_container.verdict.site_choice import resolve_network
from osu_container.verdict.trial import load_image_file

LIBFABRIC, UCX, TCP = 'libfabric', 'UCX', 'TCP'

#: How libfabric calls these providers in FI_PROVIDER -> in image/traits.py
_LAYERS = {'ofi_rxm': 'rxm', 'ofi_rxd': 'rxd'}
#: Providers that reach their cards by libibverbs
VERBS_PROVIDERS = ('verbs', 'efa')
#: The cards for which Open MPI prefers UCX by itself: github.com/open-mpi/ompi/pull/8496,
#: opal_common_ucx_devices
_OPEN_MPI_PREFERS = ('mlx4', 'mlx5', 'hns')
_VERBS_PART = re.compile(r'lib(\w+)-rdmav\d+\.so$')


def split_provider(provider):
    """
    Return the names (list of str) of the parts of a provider as FI_PROVIDER names it:
    verbs;ofi_rxm has two.
    """
    return [_LAYERS.get(part, part) for part in provider.split(';')]


def resolve_variable(trial, name, ours):
    """
    Return the value (str or None) of a variable in the process; ours: {name: value} of the module.

    Of Open MPI what a file of the image says where no variable does.
    """
    one = resolve_process_variable(trial.container.environment, name, ours.get(name))
    if one is not None:
        return one.value
    if (
        name in trial.container.environment.variables
        or ours.get(name) is not None
        or trial.image.is_partial
    ):
        return ours.get(name) if name not in trial.container.environment.variables else None
    mpi = find_loaded_file(trial.process, trial.soname)
    files = (
        read_mca_parameters(trial.image, mpi.path)
        if mpi is not None and mpi.origin == 'image'
        else {}
    )
    return files.get(name, (None, ''))[0]


#: File of parameters -> how the variables begin that say the same
_PARAMETERS = {'openmpi-mca-params.conf': 'OMPI_MCA_', 'pmix-mca-params.conf': 'PMIX_MCA_'}


def read_mca_parameters(image, libmpi):
    """
    Return {name of the variable: (value, path of the file)} of what files give an Open MPI in
    image.

    :param libmpi: path (str) of its library. The files are in etc beside its lib; Debian's in /etc,
        too.
    """
    prefix, found = posixpath.dirname(posixpath.dirname(image.resolve(libmpi) or libmpi)), {}
    folders = [prefix + '/etc', '/etc/openmpi', '/etc/pmix', '/etc']
    for name, begin in _PARAMETERS.items():
        path = next(
            (folder + '/' + name for folder in folders if image.exists(folder + '/' + name)), None
        )
        for key, value in re.findall(
            r'(?m)^[ \t]*(\w+)[ \t]*=[ \t]*(\S*)', image.read_text(path) or '' if path else ''
        ):
            found[begin + key] = value, path
    return found


def infer_network_layer(trial, ours, provider, uses_libfabric):
    """
    Return LIBFABRIC, UCX or TCP, over which the MPI of the process sends; None where that is not
    known.

    :param ours: dict, the variables of the module; provider: str or None, FI_PROVIDER of the
        process
    :param uses_libfabric: bool or None, whether anything in the process needs libfabric, None
        without an MPI
    """
    traits = trial.mpi or {}
    if uses_libfabric is None:
        return None
    if traits.get('family') == 'Open MPI':
        return _infer_open_mpi_layer(trial, ours, provider, uses_libfabric)
    netmods = [
        device.partition(':')[2]
        for device in traits.get('device') or []
        if device.startswith('ch4:')
    ]
    if 'ucx' in netmods:
        wanted = resolve_variable(trial, 'MPIR_CVAR_CH4_NETMOD', ours)
        if (wanted if wanted in netmods else netmods[0]) == 'ucx':
            return UCX
    if uses_libfabric:
        return LIBFABRIC
    return UCX if not netmods and find_loaded_file(trial.process, 'libucp.so.0') else TCP


def _infer_open_mpi_layer(trial, ours, provider, uses_libfabric):
    """Return what Open MPI takes: what it is told to, else the best that reaches the network."""
    pml = resolve_variable(trial, 'OMPI_MCA_pml', ours)
    if pml in ('ucx', 'cm', 'ob1'):
        return {'ucx': UCX, 'cm': LIBFABRIC, 'ob1': TCP}[pml]
    if _find_ucx(trial) and not find_ucx_problem(trial):
        return UCX
    reaches = (
        uses_libfabric
        and provider
        and set(split_provider(provider)) <= set((trial.fabric or {}).get('providers', []))
    )
    return LIBFABRIC if reaches and not find_driver_problem(trial, provider) else TCP


#: Open MPI's part for UCX where it is a file of its own
_PML_UCX = r'openmpi/(.*/)?mca_pml_ucx\.so'


def _find_ucx(trial):
    """
    Return the Loaded of UCX (libucs, by which it finds its parts), None where the MPI of the
    process has none.
    """
    processes = [trial.process]
    mpi = find_loaded_file(trial.process, trial.soname)
    if mpi is not None and mpi.origin == 'image' and (trial.mpi or {}).get('family') == 'Open MPI':
        processes += [
            load_image_file(trial, path)
            for path in trial.image.find_folder_files(posixpath.dirname(mpi.path), _PML_UCX)
        ]
    found = (
        find_loaded_file(process, name)
        for process in processes
        if find_loaded_file(process, 'libucp.so.0')
        for name in ('libucs.so.0', 'libucp.so.0')
    )
    return next((one for one in found if one is not None), None)


def find_ucx_problem(trial):
    """
    Return (what UCX of the process lacks to reach the cards (str), evidence), None for nothing.

    UCX has its transports in files beside libucs, in ucx/ (UCX_MODULE_DIR: elsewhere), and goes on
    without those that it cannot open: github.com/openucx/ucx/issues/3319.
    """
    ucx = _find_ucx(trial)
    if ucx is None:
        return "no UCX is in the process", [(trial.image.path, 'no libucp.so.0')]
    if ucx.origin == 'host':
        return (
            "the host's UCX opens its transports from files beside it, which are not injected",
            [(ucx.facts.path, 'in ' + posixpath.dirname(ucx.path))],
        )
    folder = (
        get_exported_value(trial.container.environment, 'UCX_MODULE_DIR')
        or posixpath.dirname(ucx.path) + '/ucx'
    )
    folders = [folder, posixpath.dirname(trial.image.resolve(ucx.path)) + '/ucx']
    files = [
        path
        for one in folders
        for path in trial.image.find_folder_files(one, r'libuct_ib\.so(\.\d+)*')
    ]
    if not files:
        return "its UCX has no transport for such cards", [
            (ucx.facts.path, 'no libuct_ib.so in ' + folder)
        ]
    lacks = [find_missing_dependency(trial, path) for path in files]
    if all(lacks):
        return (
            "its UCX cannot open its transport for such cards: %s is missing" % lacks[0],
            [('image:' + files[0], 'needs ' + lacks[0])],
        )
    return find_driver_problem(trial)


def find_missing_dependency(trial, path):
    """
    Return the first library (str) that a file of the image (path) needs and that is not there,
    None for none.
    """
    missing = load_image_file(trial, path).missing
    return missing[0][0] if missing else None


def find_driver_problem(trial, provider='verbs'):
    """
    Return (what libibverbs lacks to reach the cards, evidence) as find_ucx_problem() does, None for
    nothing.

    :param provider: str, of libfabric; one that does not use libibverbs lacks nothing
    libibverbs opens the part of rdma-core that is for the card by itself: without it, it says "no
    userspace device-specific driver found", github.com/ofiwg/libfabric/issues/975.
    """
    if trial.image.is_partial or not set(split_provider(provider)) & set(VERBS_PROVIDERS):
        return None
    found = set(
        _VERBS_PART.search(path).group(1)
        for path in trial.image.find_files(r'.*/lib\w+-rdmav\d+\.so')
    )
    wanted = list_verbs_drivers(trial)
    if found & wanted if wanted else found:
        return None
    names = ' or '.join('lib%s-rdmav*.so' % name for name in sorted(wanted)) or 'lib*-rdmav*.so'
    return (
        "the image has no %s, by which libibverbs reaches the card" % names,
        [(trial.image.path, 'rdma-core for ' + (', '.join(sorted(found)) or 'no card'))],
    )


def list_verbs_drivers(trial):
    """
    Return the parts of rdma-core (set of str) for the cards of the site, empty where it does not
    say them.
    """
    _, network, drivers = resolve_network(trial.site)
    return set(network['drivers'][driver] for driver in drivers if driver in network['drivers'])


def may_bypass_ucx(trial, ours):
    """
    Return whether Open MPI, free to choose, may pass over UCX: with other cards than those of
    Mellanox.
    """
    cards = list_verbs_drivers(trial)
    return (
        (trial.mpi or {}).get('family') == 'Open MPI'
        and resolve_variable(trial, 'OMPI_MCA_pml', ours) is None
        and bool(cards)
        and not cards & set(_OPEN_MPI_PREFERS)
    )
