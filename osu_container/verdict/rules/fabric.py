"""Rules on the network: libfabric, providers, UCX, and causes of slow communication."""

import re
from posixpath import dirname
from typing import Iterator, List, Optional, Tuple

from osu_container.image.environment import get_exported_value
from osu_container.image.loader import LoadedFile, list_version_problems
from osu_container.verdict.layers import (
    LIBFABRIC,
    TCP,
    UCX,
    find_driver_problem,
    find_missing_dependency,
    find_network_layer,
    find_provider,
    find_ucx_problem,
    may_bypass_ucx,
    resolve_variable,
    split_provider,
    uses_libfabric,
)
from osu_container.verdict.rules.finding import (
    OTHER_APPROACHES,
    Finding,
    Remedy,
    make_finding,
    report_problem,
    rule,
)
from osu_container.verdict.rules.questions import (
    find_image_libcxi,
    find_mpi_path,
    find_mpi_series,
    format_library,
    format_library_name,
    set_variable,
    sort_versions,
)
from osu_container.verdict.site_choice import parse_release, resolve_network
from osu_container.verdict.trial import Change, Trial

#: Releases of MPIs that ran over the provider cxi, with the source. The files of these MPIs do not
#: show whether the MPI supports cxi.
SEEN_OVER_CXI = {
    ('Open MPI', '5.0'): 'repository alazzaro/openmpi_on_ss11, commit 627b2cc, run on LUMI, '
    '2026-04',
}

#: The first MPICH that supports cxi: pmodels/mpich PR 5708
FIRST_CXI_MPICH = (4, 1)

#: The first MPICH that requests providers without checking whether libfabric has refused the API
#: version: pmodels/mpich, src/mpid/ch4/netmod/ofi/init_provider.c
FIRST_FREEING_MPICH = (5, 0)

#: (first release of libfabric, newest symbol version that this release defines). Source:
#: libfabric.map.in of ofiwg/libfabric by tag. Measured with Debian's 1.11, 1.17 and 2.1 and with
#: 1.22, 2.4 and 2.5.1 of the wheels; derived for other releases. Every MPI calls fi_getinfo,
#: fi_freeinfo and fi_dupinfo. Their versions are 1.7, 1.8 and 1.9, and 1.3 before libfabric 1.20.
FABRIC_VERSIONS = [
    ((1, 14), 'FABRIC_1.6'),
    ((1, 20), 'FABRIC_1.7'),
    ((2, 0), 'FABRIC_1.8'),
    ((2, 5), 'FABRIC_1.9'),
]

#: Symbol version of fi_getinfo -> the last release of libfabric that defines it
_LAST_RELEASES = {'FABRIC_1.3': (1, 19), 'FABRIC_1.7': (1, 22), 'FABRIC_1.8': (2, 4)}

#: The first libfabric whose provider tcp has its own endpoints for MPI. In older releases tcp needs
#: rxm, and MPICH uses its capability set for rxm (measured: Debian's 1.11 and 1.17 and Intel's 1.13
#: use rxm, Intel's 1.18 does not).
_TCP_ALONE = (1, 18)

#: The first libfabric of ofiwg with the provider cxi (NEWS of libfabric, v1.21.0). Older releases
#: that Cray built have the provider too.
FIRST_CXI_LIBFABRIC = (1, 21)


@rule(
    'no libfabric',
    source='DeiC-HPC/BitBulldozersLab, 2025-03: MPICH 3.1.4 is "not compiled with channel '
    '4". This project ran Debian\'s Open MPI 4.1 without mca_mtl_ofi.so: libfabric was '
    'not used',
    facts=('host',),
)
def no_libfabric(trial: Trial) -> Iterator[Finding]:
    """
    Check that the MPI uses libfabric if the approach replaces libfabric.

    The approach has no effect on an MPICH with the device ch3 or with another netmod, because such
    an MPICH does not use libfabric. An Open MPI without the component mtl ofi does not start if the
    module selects this component.
    """
    if uses_libfabric(trial) or trial.libmpi is None:
        return
    if trial.module_values.get('OMPI_MCA_mtl') == 'ofi':
        if trial.mpi_family == 'Open MPI':
            yield report_problem(
                'fails',
                "%s lacks the component mtl ofi, and the module of approach '%s' selects this component"
                % (format_library(trial.libmpi), trial.approach['name']),
                trial.libmpi,
                'has no entry DT_NEEDED libfabric.so.1 and no file mca_mtl_ofi.so',
                'build Open MPI with the option --with-ofi',
            )
    elif trial.approach['requires']:
        built = ', '.join(trial.mpi.get('device') or ['of an unknown device'])
        yield report_problem(
            'no use',
            "the image's %s does not use libfabric (%s), so approach '%s' has no effect: MPI "
            'sends over %s'
            % (trial.soname, built, trial.approach['name'], find_network_layer(trial)),
            trial.libmpi,
            'no DT_NEEDED libfabric.so.1, device ' + built,
            'use an image whose MPICH has the device ch4:ofi',
            Change(
                ', which is as fast as approach %s and injects no host libraries'
                % trial.approach['name'],
                ['pure'],
            ),
        )


def _export_variables(**variables: str) -> Change:
    """Return the remedy that the user exports variables and then runs srun."""
    return Change(
        'run `export %s` before srun, which passes the environment to the container'
        % ' '.join('%s=%s' % variable for variable in variables.items()),
        exports=variables,
    )


@rule('netmod', source='configure options of the MPICH wheels from release 4.3 on', facts=('host',))
def check_netmod(trial: Trial) -> Iterator[Finding]:
    """Check that an MPICH that prefers UCX runs on a network that UCX supports well."""
    device, fact = trial.mpi.get('device') or [], resolve_network(trial.site)[1]['ucx']
    if (
        find_network_layer(trial) == UCX
        and uses_libfabric(trial)
        and trial.approach['requires']
        and not fact['value']
    ):
        # The remedy selects libfabric, so judge the providers of libfabric as well.
        failure = next(
            (finding for finding in _report_missing_provider(trial) if finding.level == 'fails'),
            None,
        )
        reason = 'this MPICH prefers UCX to libfabric (%s), and %s' % (
            ', '.join(device),
            fact['why'],
        )
        yield report_problem(
            ('no use' if failure else 'works slowly') if fact['value'] is False else 'unknown',
            reason + ('; ' + failure.reason if failure else ''),
            find_mpi_path(trial),
            'device ' + ', '.join(device),
            *(failure.remedies if failure else [_export_variables(MPIR_CVAR_CH4_NETMOD='ofi')]),
        )


#: How to build an image whose UCX reaches the network cards
_UCX_REMEDY = (
    'install UCX and rdma-core of one distribution in the image: the packages libucx0 and '
    'ibverbs-providers of Debian, or ucx-ib and libibverbs of Red Hat'
)


@rule(
    'UCX',
    source='github.com/openucx/ucx/issues/3319: UCX opens modules beside libucs; '
    'github.com/ofiwg/libfabric/issues/975: libibverbs needs the driver; '
    'github.com/open-mpi/ompi/pull/8496',
    facts=('provider',),
)
def check_ucx(trial: Trial) -> Iterator[Finding]:
    """
    Check that UCX can use the site's network cards and is fast on the site's network.

    The image must have all files that UCX needs for the network cards.
    """
    kind, network, drivers = resolve_network(trial.site)
    if find_network_layer(trial) != UCX or kind == 'Ethernet':
        return
    problem = find_ucx_problem(trial)
    works = network['ucx']['value']
    if works is None or works is False and not trial.approach['requires']:
        yield report_problem(
            'unknown' if works is None else 'works slowly',
            'MPI sends over UCX: %s' % network['ucx']['why'],
            find_mpi_path(trial),
            'over UCX',
            'use an MPI that sends over libfabric with the provider %s'
            % trial.site['provider']['value'],
        )
    elif works and problem:
        yield make_finding(
            'works slowly',
            'MPI sends over UCX, but UCX cannot use the %s cards: %s' % (kind, problem[0]),
            problem[1],
            _UCX_REMEDY
            if trial.libmpi and trial.libmpi.origin == 'image'
            else 'use approach pure with an image whose MPI has UCX',
        )
    elif works and may_bypass_ucx(trial):
        yield report_problem(
            'unknown',
            'Open MPI selects UCX by default only on Mellanox cards, and this site has cards with '
            'the drivers %s' % ', '.join(drivers),
            'site ' + trial.site['name'],
            'drivers ' + ', '.join(drivers),
            _export_variables(OMPI_MCA_pml='ucx'),
        )


@rule(
    'card driver',
    source='github.com/ofiwg/libfabric/issues/975: "no userspace device-specific driver '
    'found", and fi_getinfo() ends with -ENODEV',
    facts=('provider',),
)
def check_card_driver(trial: Trial) -> Iterator[Finding]:
    """Check that the image has the rdma-core driver that the provider verbs or efa needs."""
    provider = find_provider(trial)
    problem = (
        find_driver_problem(trial, provider)
        if provider and find_network_layer(trial) == LIBFABRIC
        else None
    )
    if problem:
        yield make_finding(
            'fails',
            'provider %s reaches no network card: %s' % (provider, problem[0]),
            problem[1],
            'install rdma-core in the image (the package ibverbs-providers of Debian, libibverbs '
            'of Red Hat)',
            Change(', which runs over TCP', ['pure']),
        )


@rule(
    'no provider',
    source='libfabric NEWS: the provider cxi exists from 1.21 on; fi_fabric(7)',
    facts=('provider', 'host'),
    needs_process=True,
)
def no_provider(trial: Trial) -> Iterator[Finding]:
    """Check that the libfabric that the program loads has the provider in FI_PROVIDER."""
    if find_network_layer(trial) == LIBFABRIC:
        yield from _report_missing_provider(trial)


def _report_missing_provider(trial: Trial) -> Iterator[Finding]:
    """Yield a finding if the libfabric in the process lacks the provider that MPI requests."""
    provider = find_provider(trial)
    library = trial.libfabric
    if library is None or provider is None:
        return  # The rule 'provider of the image' covers a process without a named provider.
    providers = trial.fabric.get('providers')
    version = trial.fabric.get('release') or 'of unknown release'
    parts = set(split_provider(provider))
    remedies: List[Remedy] = ['use an image whose libfabric has the provider %s' % provider]
    if provider == 'cxi':
        remedies = [
            Change(", which injects the host's libfabric", ['hybrid', 'bind']),
            'use an image that has libcxi and a libfabric 1.21 or newer that was built with libcxi',
        ]
    if library.origin == 'host':
        remedies = [
            "run `osu-container discover` on the system: the command lists the host's providers"
        ]
    else:
        for file in trial.image.find_files(
            r'.*/lib%s(?:-[\d.]+)?-fi\.so' % re.escape(provider.partition(';')[0])
        )[:1]:
            missing = find_missing_dependency(trial, file)
            remedies = [
                'install %s in the image, because without this library libfabric skips %s'
                % (missing, file)
                if missing
                else set_variable(
                    'set FI_PROVIDER_PATH=%s in the image, because libfabric does not search this '
                    'folder by default' % dirname(file),
                    'FI_PROVIDER_PATH=' + dirname(file),
                )
            ]
    if parts <= set(providers or []):
        return
    listed = ', '.join(providers or ()) or 'none'
    evidence = [(library.facts.path, 'libfabric %s, providers %s' % (version, listed))]
    if parts <= set(trial.fabric.get('files', {})) | set(providers or []):
        yield make_finding(
            'unknown',
            "%s (%s) has no provider %s itself, and it is unknown whether this libfabric loads the "
            "image's plug-in for the provider" % (format_library_name(library), version, provider),
            evidence,
            *remedies,
        )
        return
    # The list is empty if check does not recognise the providers of a build. In the description of
    # a host, 'complete' is False if the list of providers is partial.
    if providers and trial.fabric.get('complete', True):
        yield make_finding(
            'fails',
            '%s (%s) has no provider %s, which FI_PROVIDER requests; this libfabric has: %s'
            % (format_library_name(library), version, provider, listed),
            evidence,
            *remedies,
        )
    elif (
        provider == 'cxi'
        and library.origin == 'image'
        and parse_release(version)
        and parse_release(version) < FIRST_CXI_LIBFABRIC
    ):
        yield report_problem(
            'fails',
            "%s (%s) has no provider cxi: the first libfabric of ofiwg with this provider is 1.21"
            % (format_library_name(library), version),
            library,
            'libfabric ' + version,
            *remedies,
        )
    else:
        yield make_finding(
            'unknown',
            'cannot tell whether %s (%s) has the provider %s'
            % (format_library_name(library), version, provider),
            evidence,
            'run `fi_info -l` on the system, to list the providers',
        )


#: Label with the release of an image's libcxi, such as 1.0.2-SHS12.0.2, set by the recipes
LIBCXI_LABEL = 'org.osu-container.libcxi'

#: (release of an image's libcxi, release of a site's Slingshot Host Software) -> source of a run in
#: which the two worked together
SEEN_LIBCXI_PAIRS = {
    (
        'main of March 2025',
        'that of March 2025',
    ): 'DeiC-HPC/BitBulldozersLab, 2025-03: approach opensource reaches 24 GB/s',
}


@rule(
    'libcxi and driver',
    source='github.com/HewlettPackard/shs-libcxi/issues/18: libcxi of SHS 13.0 works on a '
    'host where libcxi of SHS 13.1 and of SHS 14.0 fail; CSCS pins its images to '
    'the SHS of its hosts (eth-cscs/alps-extended-images 2f16898)',
    facts=('provider',),
)
def check_libcxi_driver(trial: Trial) -> Iterator[Finding]:
    """
    Check that the image's libcxi is known to work with the site's driver.

    Both must have the same release, or a run must be known in which both releases worked together.
    """
    library = find_image_libcxi(trial)
    if library is None:
        return
    label = trial.image.labels.get(LIBCXI_LABEL, '')
    shs = re.search(r'SHS([\d.]+)', label)
    release = shs.group(1) if shs else label
    site_release = (trial.site.get('slingshot') or {}).get('value')
    if release and (release == site_release or (release, site_release) in SEEN_LIBCXI_PAIRS):
        return
    yield report_problem(
        'unknown',
        "the image's libcxi comes from %s, the driver of this site comes from %s, and no run is "
        'known in which the two worked together'
        % tuple(
            'SHS ' + text if text else 'an unknown release' for text in (release, site_release)
        ),
        library,
        'label %s: %s' % (LIBCXI_LABEL, label or 'none'),
        Change(", which injects the host's libcxi", ['hybrid', 'bind']),
        "build the image with the libcxi of the site's release; to test whether the image's libcxi "
        'works, run `osu_latency H H` on two nodes',
    )


def _find_newest_libfabric(mpi: LoadedFile) -> Optional[Tuple[int, ...]]:
    """Return the newest libfabric with which the MPI may have been built, None if unknown."""
    needed = sort_versions(mpi.facts.verneed.get('libfabric.so.1', ()))
    return _LAST_RELEASES.get(needed[-1]) if needed else None


def _find_requested_api(trial: Trial, api: Optional[Tuple[int, ...]]) -> Optional[Tuple[int, ...]]:
    """
    Return the libfabric API (major, minor) that the MPI requests, None if unknown.

    The API is unknown if the file of the MPI does not show the API.

    api: the API of the libfabric in the process.
    """
    requests, provider = trial.mpi.get('asks'), find_provider(trial)
    if not requests:
        return None
    capability_set = {
        'verbs': 'verbs;ofi_rxm',
        'tcp': 'ofi_rxm' if api and api < _TCP_ALONE else 'tcp',
    }.get(provider or '', provider)
    return tuple(
        int(value) if value.isdigit() else number
        for value, number in zip(
            (resolve_variable(trial, name) or '' for name in _API_VARIABLES),
            requests.get(
                capability_set, requests.get((provider or '').rpartition(';')[2], requests[''])
            ),
        )
    )


#: Variables that change the API that MPICH requests
_API_VARIABLES = ('MPIR_CVAR_CH4_OFI_MAJOR_VERSION', 'MPIR_CVAR_CH4_OFI_MINOR_VERSION')


def _may_survive_refusal(trial: Trial) -> bool:
    """
    Return whether MPICH may run although libfabric refuses the API that MPICH requests.

    After a refusal, MPICH 5.0 and newer frees the list of providers and then uses the freed list:
    pmodels/mpich, init_provider.c. Measured with MPICH 5.0.0 and 5.0.1 over Debian's libfabric 2.1
    on 2026-11-23: if FI_PROVIDER is unset or names one provider, glibc terminates MPICH ("double
    free detected", in each of five runs). With FI_PROVIDER=^shm and with FI_PROVIDER=^tcp, MPICH
    ran (in each of six runs).
    """
    is_new = parse_release(trial.mpi['release']) >= FIRST_FREEING_MPICH
    return (
        trial.mpi_family == 'MPICH'
        and is_new
        and bool(re.search('^\\^|,', get_exported_value(trial.environment, 'FI_PROVIDER') or ''))
    )


@rule(
    'libfabric API',
    source='pmodels/mpich, src/mpid/ch4/netmod/ofi: ofi_capability_sets.h, init_provider.c; '
    'ofiwg/libfabric, src/fabric.c: "Requested version is newer than library"',
    facts=('provider', 'host'),
    needs_process=True,
)
def check_libfabric_api(trial: Trial) -> Iterator[Finding]:
    """
    Check that the libfabric that the program loads has the API that MPICH requests.

    MPICH requests the API of the libfabric with which MPICH was built. Symbol versions do not show
    this API.
    """
    mpi = trial.libmpi
    if (
        trial.libfabric is None
        or mpi is None
        or find_network_layer(trial) != LIBFABRIC
        or trial.mpi_family in ('Intel MPI', 'Open MPI')
    ):  # Those two request an old API.
        return
    if any(
        library is mpi and soname == 'libfabric.so.1'
        for library, soname, _, _ in list_version_problems(trial.process)
    ):
        return  # The loader fails first.
    api = trial.fabric.get('api') or parse_release(trial.fabric.get('release'))[:2] or None
    requested, last = _find_requested_api(trial, api), _find_newest_libfabric(mpi)
    reason = '%s requests libfabric %s, and %s has %s' % (
        format_library(mpi),
        _format_api(requested),
        format_library_name(trial.libfabric),
        _format_api(api),
    )
    evidence = [
        (mpi.facts.path, 'requests ' + _format_api(requested)),
        (trial.libfabric.facts.path, _format_api(api)),
    ]
    if requested and api and requested > api:
        may_run = _may_survive_refusal(trial)
        yield make_finding(
            'unknown' if may_run else 'fails',
            reason
            + (
                ': libfabric refuses the newer API, and MPI then uses freed memory, so MPI crashes '
                'or runs only by luck'
                if may_run
                else ': libfabric refuses the newer API'
            ),
            evidence,
            _export_variables(**dict(zip(_API_VARIABLES, map(str, api)))),
            OTHER_APPROACHES,
            'use an image whose MPI was built with libfabric %d.%d or older' % tuple(api[:2]),
        )
    elif not (
        requested and api or last and api and last <= api or mpi.origin == trial.libfabric.origin
    ):
        # The same owner built both otherwise.
        yield make_finding(
            'unknown',
            reason,
            evidence,
            'run the program once after `export FI_LOG_LEVEL=warn`: a libfabric that refuses the '
            'API prints "Requested version is newer than library"',
        )


def _format_api(api: Optional[Tuple[int, ...]]) -> str:
    return 'API %d.%d' % api if api else 'an unknown API'


def _asks_for_cxi(trial: Trial) -> bool:
    return (
        find_provider(trial) == 'cxi'
        and find_network_layer(trial) == LIBFABRIC
        and trial.libfabric is not None
    )


@rule(
    'capability set',
    source='pmodels/mpich PR 5708: cxi is the first provider that requires FI_MR_ENDPOINT; '
    'wheels of MPICH 3.4.3 to 5.0.2; DeiC-HPC/BitBulldozersLab, 2025-03: MPICH 3.4.3 '
    'fails, MPICH 4.2.3 runs',
    facts=('provider', 'host'),
)
def check_capability_set(trial: Trial) -> Iterator[Finding]:
    """
    Check that MPICH requests only capabilities that the provider cxi has.

    MPICH 4.1 and newer meet this condition. `check` recognises these releases
    by the string "cxi" in libmpi.
    """
    if not _asks_for_cxi(trial) or trial.mpi.get('cxi') is not False:
        return
    release = parse_release(trial.mpi['release'])
    is_old = release and release < FIRST_CXI_MPICH
    yield report_problem(
        'fails' if is_old else 'unknown',
        'the support of this MPICH (%s) for the provider cxi is %s: an MPICH without this '
        'support requests capabilities that cxi does not have, and fails with "open_fabric: No '
        'data available"'
        % (
            trial.mpi['release'] or 'release unknown',
            'missing' if is_old else 'unknown',
        ),
        find_mpi_path(trial),
        'no text cxi, MPICH %s' % (trial.mpi['release'] or 'of unknown release'),
        'use an image with MPICH 4.1 or newer',
    )


@rule(
    'not seen over cxi',
    source='table SEEN_OVER_CXI in verdict/rules/fabric.py',
    facts=('provider', 'host'),
)
def check_cxi_runs(trial: Trial) -> Iterator[Finding]:
    """
    Check that a run is known in which this release of the MPI used the provider cxi.

    If the MPI is not MPICH, no file shows whether the MPI supports cxi. A run of the host's Cray
    MPICH over the host's libfabric counts as known for any release, because HPE
    delivers both libraries together.
    """
    series = find_mpi_series(trial)
    if not _asks_for_cxi(trial) or series in SEEN_OVER_CXI or trial.mpi.get('cxi') is not None:
        return
    if (
        trial.mpi_family == 'Cray MPICH'
        and (trial.libmpi and trial.libmpi.origin)
        == (trial.libfabric and trial.libfabric.origin)
        == 'host'
    ):
        return
    yield report_problem(
        'unknown',
        'the symbols match, but no run of %s over cxi is known, and no file of this MPI shows '
        'whether the MPI supports cxi'
        % (' '.join(series) + '.x' if series else 'an MPI of unknown release'),
        find_mpi_path(trial),
        ' '.join(series) if series else 'release unknown',
        'run the program once after `export FI_LOG_LEVEL=info`, to see which capabilities MPI '
        'requests from the provider; or use MPICH 4.2 or newer',
    )


@rule(
    'TCP only',
    source='DeiC-HPC/BitBulldozersLab, 2025-03: TCP reaches about 2 of 22 GB/s',
    facts=('provider',),
)
def tcp_only(trial: Trial) -> Iterator[Finding]:
    """Check that MPI does not use TCP between nodes if the site has a faster network."""
    kind, network, _ = resolve_network(trial.site)
    provider, layer = trial.site['provider']['value'], find_network_layer(trial)
    asks_for_tcp = find_provider(trial) == trial.module_values.get('FI_PROVIDER') == 'tcp'
    if kind == 'Ethernet' or not (
        layer == LIBFABRIC and asks_for_tcp or layer == TCP and not trial.approach['requires']
    ):
        return
    remedies: List[Remedy] = [
        Change(' for the high-speed network', ['hybrid', 'bind', 'opensource']),
        'use an image whose libfabric has the provider %s' % provider,
    ]
    if network['ucx']['value']:
        remedies.append(
            'let MPI use UCX (for MPICH: `export MPIR_CVAR_CH4_NETMOD=ucx`): ' + _UCX_REMEDY
        )
    yield report_problem(
        'works slowly',
        'MPI sends over TCP only: the network of this site (%s) needs the provider %s'
        % (kind, provider),
        find_mpi_path(trial),
        'over TCP',
        *remedies,
    )
