"""
Predict which library MPI uses between nodes: libfabric, UCX or the TCP component.

This module also finds missing files in the image without which UCX or libibverbs cannot reach a
network card.
"""

import re
from posixpath import dirname
from typing import Dict, List, Optional, Set, Tuple

from osu_container.image.environment import (
    Variable,
    get_exported_value,
    resolve_process_variable,
)
from osu_container.image.image import Image
from osu_container.image.loader import LoadedFile, find_loaded_file
from osu_container.verdict.settings import WRAPPER
from osu_container.verdict.site_choice import resolve_network
from osu_container.verdict.trial import Trial, load_image_file

LIBFABRIC, UCX, TCP = 'libfabric', 'UCX', 'TCP'

#: Name of a utility provider of libfabric in FI_PROVIDER -> name in image/traits.py
_LAYERS = {'ofi_rxm': 'rxm', 'ofi_rxd': 'rxd'}
#: Providers that use libibverbs to reach network cards
VERBS_PROVIDERS = ('verbs', 'efa')
#: Drivers of cards for which Open MPI prefers UCX by default: opal_common_ucx_devices,
#: github.com/open-mpi/ompi/pull/8496
_OPEN_MPI_PREFERS = ('mlx4', 'mlx5', 'hns')
_VERBS_DRIVER = re.compile(r'(?m)lib(\w+)-rdmav\d+\.so$')


def split_provider(provider: str) -> List[str]:
    """Return the layers of a provider name: ['verbs', 'rxm'] for 'verbs;ofi_rxm'."""
    return [_LAYERS.get(part, part) for part in provider.split(';')]


def resolve_variable(trial: Trial, name: str) -> Optional[str]:
    """
    Return the value that a variable has in the process, None if unset or unknown.

    If the image and the module do not set the variable, return the value from a parameter file of
    Open MPI in the image.
    """
    variable = resolve_process_variable(trial.environment, name, trial.module_values.get(name))
    if variable is not None:
        return variable.value
    if name in trial.environment.variables or trial.image.is_partial or not trial.image_mpi:
        return None
    return read_mca_parameters(trial.image, trial.image_mpi.path).get(name, (None, ''))[0]


#: Parameter file -> prefix of the variables with the same meaning
_PARAMETERS = {'openmpi-mca-params.conf': 'OMPI_MCA_', 'pmix-mca-params.conf': 'PMIX_MCA_'}


def read_mca_parameters(image: Image, libmpi: str) -> Dict[str, Tuple[str, str]]:
    """
    Return {variable: (value, file)} of the parameters in Open MPI's parameter files.

    variable: environment variable with the same meaning as the parameter, such as OMPI_MCA_pml.
    file: path of the parameter file.
    libmpi: path of Open MPI's library.

    The parameter files are in the folder etc beside the folder lib of Open MPI. In Debian, the
    files are also in /etc.
    """
    prefix = dirname(dirname(image.resolve(libmpi) or libmpi))
    parameters = {}
    folders = [prefix + '/etc', '/etc/openmpi', '/etc/pmix', '/etc']
    for name, variable_prefix in _PARAMETERS.items():
        path = next(
            (folder + '/' + name for folder in folders if image.exists(folder + '/' + name)), ''
        )
        for key, value in re.findall(
            r'(?m)^[ \t]*(\w+)[ \t]*=[ \t]*(\S*)', image.read_text(path) or '' if path else ''
        ):
            parameters[variable_prefix + key] = value, path
    return parameters


def uses_libfabric(trial: Trial) -> Optional[bool]:
    """Return whether the MPI or its plug-ins need libfabric, None if no MPI is loaded."""
    if trial.libmpi is None:
        return None
    if trial.started and trial.started.libfabric:
        return True
    wrapper = find_loaded_file(trial.process, WRAPPER)
    libraries = [trial.libmpi] + ([wrapper] if wrapper else [])
    for library in libraries:  # The loop adds libraries to this list.
        if 'libfabric.so.1' in library.facts.needed:
            return True
        others = (find_loaded_file(trial.process, name) for name in library.facts.needed)
        libraries += [other for other in others if other and other not in libraries]
    return False


def find_provider_variable(trial: Trial) -> Optional[Variable]:
    """Return the Variable FI_PROVIDER of the process, None if the variable is not set."""
    return resolve_process_variable(
        trial.environment, 'FI_PROVIDER', trial.module_values.get('FI_PROVIDER')
    )


def find_provider(trial: Trial) -> Optional[str]:
    """Return the name of the provider that MPI requests, None if the name is unknown."""
    variable = find_provider_variable(trial)
    # Neither the image nor the module sets FI_PROVIDER.
    if variable is None and 'FI_PROVIDER' not in trial.environment.variables:
        provider: str = trial.site['provider']['value']
        return provider
    if variable and re.match(r'\w+(;\w+)*$', variable.value or ''):
        return variable.value
    return None


def find_network_layer(trial: Trial) -> Optional[str]:
    """Return the library that MPI uses between nodes: LIBFABRIC, UCX or TCP; None if unknown."""
    uses_fabric = uses_libfabric(trial)
    if uses_fabric is None:
        return None
    if trial.mpi_family == 'Open MPI':
        return _infer_open_mpi_layer(trial, uses_fabric)
    netmods = [
        device.partition(':')[2]
        for device in trial.mpi.get('device') or []
        if device.startswith('ch4:')
    ]
    if 'ucx' in netmods:
        netmod = resolve_variable(trial, 'MPIR_CVAR_CH4_NETMOD')
        if (netmod if netmod in netmods else netmods[0]) == 'ucx':
            return UCX
    if uses_fabric:
        return LIBFABRIC
    return UCX if not netmods and find_loaded_file(trial.process, 'libucp.so.0') else TCP


def _infer_open_mpi_layer(trial: Trial, uses_fabric: bool) -> str:
    """
    Return the library that Open MPI uses between nodes: LIBFABRIC, UCX or TCP.

    OMPI_MCA_pml selects the library. Without this variable, Open MPI uses the first library that
    reaches the network: UCX, then libfabric, then TCP.
    """
    pml = resolve_variable(trial, 'OMPI_MCA_pml')
    if pml in ('ucx', 'cm', 'ob1'):
        return {'ucx': UCX, 'cm': LIBFABRIC, 'ob1': TCP}[pml]
    if _find_ucx(trial) and not find_ucx_problem(trial):
        return UCX
    provider = find_provider(trial)
    if (
        uses_fabric
        and provider
        and set(split_provider(provider)) <= set(trial.fabric.get('providers', []))
        and not find_driver_problem(trial, provider)
    ):
        return LIBFABRIC
    return TCP


#: Open MPI's plug-in for UCX
_PML_UCX = r'openmpi/(.*/)?mca_pml_ucx\.so'


def _find_ucx(trial: Trial) -> Optional[LoadedFile]:
    """
    Return the libucs that MPI loads, None if MPI has no UCX.

    The transports of UCX are files in a folder beside libucs.
    """
    processes = [trial.process]
    if trial.image_mpi and trial.mpi_family == 'Open MPI':
        processes += [
            load_image_file(trial, path)
            for path in trial.image.find_folder_files(dirname(trial.image_mpi.path), _PML_UCX)
        ]
    for process in processes:
        if find_loaded_file(process, 'libucp.so.0'):
            names = ('libucs.so.0', 'libucp.so.0')
            return next(filter(None, (find_loaded_file(process, name) for name in names)))
    return None


def find_ucx_problem(trial: Trial) -> Optional[Tuple[str, List[Tuple[str, str]]]]:
    """
    Return (reason, evidence) if UCX cannot reach the network cards, otherwise None.

    reason: text for the user. evidence: list of (file, what the file shows).

    The transports of UCX are files in the folder ucx/ beside libucs, or in UCX_MODULE_DIR. If UCX
    cannot open a transport, UCX continues without this transport:
    github.com/openucx/ucx/issues/3319.
    """
    ucx = _find_ucx(trial)
    if ucx is None:
        return "the process loads no UCX", [(trial.image.path, 'no libucp.so.0')]
    if ucx.origin == 'host':
        return (
            "the host's UCX cannot open its transports, because the module does not inject the "
            'files of the transports',
            [(ucx.facts.path, 'in ' + dirname(ucx.path))],
        )
    folder = get_exported_value(trial.environment, 'UCX_MODULE_DIR') or dirname(ucx.path) + '/ucx'
    folders = [folder, dirname(trial.image.resolve(ucx.path) or ucx.path) + '/ucx']
    files = [
        path
        for search_folder in folders
        for path in trial.image.find_folder_files(search_folder, r'libuct_ib\.so(\.\d+)*')
    ]
    if not files:
        return 'UCX in the image has no transport for the network cards of this site', [
            (ucx.facts.path, 'no libuct_ib.so in ' + folder)
        ]
    dependencies = [find_missing_dependency(trial, path) for path in files]
    if all(dependencies):
        return (
            'UCX in the image cannot open its transport for the network cards of this site, '
            'because %s is missing' % dependencies[0],
            [('image:' + files[0], 'needs %s' % dependencies[0])],
        )
    return find_driver_problem(trial)


def find_missing_dependency(trial: Trial, path: str) -> Optional[str]:
    """Return the first library that a file of the image needs and that is missing, or None."""
    missing = load_image_file(trial, path).missing
    return missing[0][0] if missing else None


def find_driver_problem(
    trial: Trial, provider: str = 'verbs'
) -> Optional[Tuple[str, List[Tuple[str, str]]]]:
    """
    Return (reason, evidence) if libibverbs cannot reach the network cards, otherwise None.

    reason: text for the user. evidence: list of (file, what the file shows).

    The result is also None for providers that do not use libibverbs. The library libibverbs opens
    the driver library of rdma-core for the card. If this driver library is missing, libibverbs
    prints "no userspace device-specific driver found": github.com/ofiwg/libfabric/issues/975.
    """
    if trial.image.is_partial or not set(split_provider(provider)) & set(VERBS_PROVIDERS):
        return None
    drivers = set(
        _VERBS_DRIVER.findall('\n'.join(trial.image.find_files(r'.*/lib\w+-rdmav\d+\.so')))
    )
    expected = list_verbs_drivers(trial)
    if drivers & expected if expected else drivers:
        return None
    names = ' or '.join('lib%s-rdmav*.so' % name for name in sorted(expected)) or 'lib*-rdmav*.so'
    return (
        'the image lacks %s, and libibverbs needs this file to reach the network card' % names,
        [(trial.image.path, 'rdma-core for ' + (', '.join(sorted(drivers)) or 'no card'))],
    )


def list_verbs_drivers(trial: Trial) -> Set[str]:
    """
    Return the names of the rdma-core drivers for the site's network cards.

    The set is empty if the site lists no cards.
    """
    _, network, drivers = resolve_network(trial.site)
    return {network['drivers'][driver] for driver in drivers if driver in network['drivers']}


def may_bypass_ucx(trial: Trial) -> bool:
    """
    Return whether Open MPI may send without UCX although UCX is available.

    By default, Open MPI prefers UCX only for cards with the drivers mlx4, mlx5 and hns.
    """
    cards = list_verbs_drivers(trial)
    return (
        trial.mpi_family == 'Open MPI'
        and resolve_variable(trial, 'OMPI_MCA_pml') is None
        and bool(cards)
        and not cards & set(_OPEN_MPI_PREFERS)
    )
