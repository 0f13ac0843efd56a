"""
Over which library the MPI of a process sends between nodes: libfabric, UCX, or its own TCP; and what UCX and libibverbs
need of the image to reach the cards of the site's network.
"""
import posixpath
import re

from osu_container.image.environment import in_process, known
from osu_container.image.loader import of_name
from osu_container.verdict.site_choice import network_of
from osu_container.verdict.trial import load_in

LIBFABRIC, UCX, TCP = 'libfabric', 'UCX', 'TCP'

#: How libfabric calls these providers in FI_PROVIDER -> in image/traits.py
_LAYERS = {'ofi_rxm': 'rxm', 'ofi_rxd': 'rxd'}
#: Providers that reach their cards by libibverbs
OVER_VERBS = ('verbs', 'efa')
#: The cards for which Open MPI prefers UCX by itself: github.com/open-mpi/ompi/pull/8496, opal_common_ucx_devices
_OPEN_MPI_PREFERS = ('mlx4', 'mlx5', 'hns')
_VERBS_PART = re.compile(r'lib(\w+)-rdmav\d+\.so$')


def parts_of(provider):
    """Return the names (list of str) of the parts of a provider as FI_PROVIDER names it: verbs;ofi_rxm has two."""
    return [_LAYERS.get(part, part) for part in provider.split(';')]


def value_of(trial, name, ours):
    """
    Return the value (str or None) of a variable in the process; ours: {name: value} of the module.

    Of Open MPI what a file of the image says where no variable does.
    """
    one = in_process(trial.inside.environment, name, ours.get(name))
    if one is not None:
        return one.value
    if name in trial.inside.environment.variables or ours.get(name) is not None or trial.image.partial:
        return ours.get(name) if name not in trial.inside.environment.variables else None
    mpi = of_name(trial.process, trial.soname)
    files = file_parameters(trial.image, mpi.path) if mpi is not None and mpi.origin == 'image' else {}
    return files.get(name, (None, ''))[0]


#: File of parameters -> how the variables begin that say the same
_PARAMETERS = {'openmpi-mca-params.conf': 'OMPI_MCA_', 'pmix-mca-params.conf': 'PMIX_MCA_'}


def file_parameters(image, libmpi):
    """
    Return {name of the variable: (value, path of the file)} of what files give an Open MPI in image.

    :param libmpi: path (str) of its library. The files are in etc beside its lib; Debian's in /etc, too.
    """
    prefix, found = posixpath.dirname(posixpath.dirname(image.real(libmpi) or libmpi)), {}
    folders = [prefix + '/etc', '/etc/openmpi', '/etc/pmix', '/etc']
    for name, begin in _PARAMETERS.items():
        path = next((folder + '/' + name for folder in folders if image.exists(folder + '/' + name)), None)
        for key, value in re.findall(r'(?m)^[ \t]*(\w+)[ \t]*=[ \t]*(\S*)', image.script(path) or '' if path else ''):
            found[begin + key] = value, path
    return found


def layer_of(trial, ours, provider, uses_libfabric):
    """
    Return LIBFABRIC, UCX or TCP, over which the MPI of the process sends; None where that is not known.

    :param ours: dict, the variables of the module; provider: str or None, FI_PROVIDER of the process
    :param uses_libfabric: bool or None, whether anything in the process needs libfabric, None without an MPI
    """
    traits = trial.mpi or {}
    if uses_libfabric is None:
        return None
    if traits.get('family') == 'Open MPI':
        return _of_open_mpi(trial, ours, provider, uses_libfabric)
    netmods = [device.partition(':')[2] for device in traits.get('device') or [] if device.startswith('ch4:')]
    if 'ucx' in netmods:
        wanted = value_of(trial, 'MPIR_CVAR_CH4_NETMOD', ours)
        if (wanted if wanted in netmods else netmods[0]) == 'ucx':
            return UCX
    if uses_libfabric:
        return LIBFABRIC
    return UCX if not netmods and of_name(trial.process, 'libucp.so.0') else TCP


def _of_open_mpi(trial, ours, provider, uses_libfabric):
    """Return what Open MPI takes: what it is told to, else the best that reaches the network."""
    pml = value_of(trial, 'OMPI_MCA_pml', ours)
    if pml in ('ucx', 'cm', 'ob1'):
        return {'ucx': UCX, 'cm': LIBFABRIC, 'ob1': TCP}[pml]
    if _ucx(trial) and not ucx_problem(trial):
        return UCX
    reaches = uses_libfabric and provider and set(parts_of(provider)) <= set((trial.fabric or {}).get('providers', []))
    return LIBFABRIC if reaches and not driver_problem(trial, provider) else TCP


#: Open MPI's part for UCX where it is a file of its own
_PML_UCX = r'openmpi/(.*/)?mca_pml_ucx\.so'


def _ucx(trial):
    """Return the Loaded of UCX (libucs, by which it finds its parts), None where the MPI of the process has none."""
    processes = [trial.process]
    mpi = of_name(trial.process, trial.soname)
    if mpi is not None and mpi.origin == 'image' and (trial.mpi or {}).get('family') == 'Open MPI':
        processes += [load_in(trial, path)
                      for path in trial.image.files_in(posixpath.dirname(mpi.path), _PML_UCX)]
    found = (of_name(process, name) for process in processes if of_name(process, 'libucp.so.0')
             for name in ('libucs.so.0', 'libucp.so.0'))
    return next((one for one in found if one is not None), None)


def ucx_problem(trial):
    """
    Return (what UCX of the process lacks to reach the cards (str), evidence), None for nothing.

    UCX has its transports in files beside libucs, in ucx/ (UCX_MODULE_DIR: elsewhere), and goes on without those that
    it cannot open: github.com/openucx/ucx/issues/3319.
    """
    ucx = _ucx(trial)
    if ucx is None:
        return "no UCX is in the process", [(trial.image.path, 'no libucp.so.0')]
    if ucx.origin == 'host':
        return ("the host's UCX opens its transports from files beside it, which are not injected",
                [(ucx.facts.path, 'in ' + posixpath.dirname(ucx.path))])
    folder = known(trial.inside.environment, 'UCX_MODULE_DIR') or posixpath.dirname(ucx.path) + '/ucx'
    folders = [folder, posixpath.dirname(trial.image.real(ucx.path)) + '/ucx']
    files = [path for one in folders for path in trial.image.files_in(one, r'libuct_ib\.so(\.\d+)*')]
    if not files:
        return "its UCX has no transport for such cards", [(ucx.facts.path, 'no libuct_ib.so in ' + folder)]
    lacks = [missing_for(trial, path) for path in files]
    if all(lacks):
        return ("its UCX cannot open its transport for such cards: %s is missing" % lacks[0],
                [('image:' + files[0], 'needs ' + lacks[0])])
    return driver_problem(trial)


def missing_for(trial, path):
    """Return the first library (str) that a file of the image (path) needs and that is not there, None for none."""
    missing = load_in(trial, path).missing
    return missing[0][0] if missing else None


def driver_problem(trial, provider='verbs'):
    """
    Return (what libibverbs lacks to reach the cards, evidence) as ucx_problem() does, None for nothing.

    :param provider: str, of libfabric; one that does not use libibverbs lacks nothing
    libibverbs opens the part of rdma-core that is for the card by itself: without it, it says "no userspace
    device-specific driver found", github.com/ofiwg/libfabric/issues/975.
    """
    if trial.image.partial or not set(parts_of(provider)) & set(OVER_VERBS):
        return None
    found = set(_VERBS_PART.search(path).group(1) for path in trial.image.matching(r'.*/lib\w+-rdmav\d+\.so'))
    wanted = verbs_parts(trial)
    if found & wanted if wanted else found:
        return None
    names = ' or '.join('lib%s-rdmav*.so' % name for name in sorted(wanted)) or 'lib*-rdmav*.so'
    return ("the image has no %s, by which libibverbs reaches the card" % names,
            [(trial.image.path, 'rdma-core for ' + (', '.join(sorted(found)) or 'no card'))])


def verbs_parts(trial):
    """Return the parts of rdma-core (set of str) for the cards of the site, empty where it does not say them."""
    _, network, drivers = network_of(trial.site)
    return set(network['drivers'][driver] for driver in drivers if driver in network['drivers'])


def open_mpi_may_pass_over_ucx(trial, ours):
    """Return whether Open MPI, free to choose, may pass over UCX: with other cards than those of Mellanox."""
    cards = verbs_parts(trial)
    return ((trial.mpi or {}).get('family') == 'Open MPI' and value_of(trial, 'OMPI_MCA_pml', ours) is None
            and bool(cards) and not cards & set(_OPEN_MPI_PREFERS))
