"""The network: libfabric, its provider, and what makes it slow."""

import posixpath
import re

from osu_container.image.environment import get_exported_value, resolve_process_variable
from osu_container.image.loader import find_loaded_file, list_version_problems
from osu_container.verdict.layers import (
    LIBFABRIC,
    TCP,
    UCX,
    find_driver_problem,
    find_missing_dependency,
    find_ucx_problem,
    may_bypass_ucx,
    split_provider,
)
from osu_container.verdict.rules.finding import (
    NOTE,
    compute_module_values,
    find_image_libcxi,
    find_loaded_mpi,
    find_mpi_series,
    find_network_layer,
    find_provider,
    format_library,
    format_library_name,
    make_finding,
    rule,
    sort_versions,
    uses_libfabric,
)
from osu_container.verdict.site_choice import parse_release, resolve_network

#: MPIs over libfabric's provider cxi of whose files none says whether they can: releases that were
#: seen to run, by whom
SEEN_OVER_CXI = {
    ('Open MPI', '5.0'): 'alazzaro/openmpi_on_ss11 627b2cc on LUMI, 2026-04',
}

#: The first MPICH that knows cxi: pmodels/mpich PR 5708
FIRST_CXI_MPICH = (4, 1)

#: The first MPICH that asks libfabric for its providers by no API, then by the API of its table,
#: and does not look at the answer: pmodels/mpich, src/mpid/ch4/netmod/ofi/init_provider.c
FIRST_FREEING_MPICH = (5, 0)

#: (release of libfabric from which on, the version that its newest functions have). Source:
#: libfabric.map.in of ofiwg/libfabric by tag; seen in the files of Debian's 1.11, 1.17 and 2.1 and
#: of the wheels' 1.22, 2.4 and 2.5.1 (measured), else derived. fi_getinfo, fi_freeinfo and
#: fi_dupinfo, which every MPI calls, carry 1.7, 1.8 and 1.9; before 1.20 they carry 1.3.
FABRIC_VERSIONS = [
    ((1, 14), 'FABRIC_1.6'),
    ((1, 20), 'FABRIC_1.7'),
    ((2, 0), 'FABRIC_1.8'),
    ((2, 5), 'FABRIC_1.9'),
]

#: The last release of libfabric that gives fi_getinfo a version -> that release
_LAST_RELEASES = {'FABRIC_1.3': (1, 19), 'FABRIC_1.7': (1, 22), 'FABRIC_1.8': (2, 4)}

#: From this release on tcp has endpoints for MPI of its own; before, rxm does that for it, and
#: MPICH takes its set for rxm (measured: Debian's 1.11 and 1.17, Intel's 1.13 under rxm, Intel's
#: 1.18 without)
_TCP_ALONE = (1, 18)

#: The first libfabric of ofiwg with the provider cxi (its NEWS, v1.21.0). Cray's own builds have it
#: earlier.
FIRST_CXI_LIBFABRIC = (1, 21)


@rule(
    'no libfabric',
    source='DeiC-HPC/BitBulldozersLab, 2025-03: MPICH 3.1.4 "not compiled with channel 4"; Open MPI '
    '4.1 of Debian without its mca_mtl_ofi.so',
)
def no_libfabric(trial):
    """
    An MPICH of device ch3 or with another netmod does not use libfabric; an Open MPI without its
    part for libfabric does not start where it is told to take that.
    """
    uses, mpi = uses_libfabric(trial), find_loaded_mpi(trial)
    if uses or uses is None:
        return
    network = resolve_network(trial.site)[1]
    if compute_module_values(trial).get('OMPI_MCA_mtl') == 'ofi':
        if (trial.mpi or {}).get('family') == 'Open MPI':
            yield make_finding(
                'fails',
                "%s has no part for libfabric (mtl ofi), which approach '%s' tells it to take"
                % (format_library(mpi), trial.approach['name']),
                [(mpi.facts.path, 'neither DT_NEEDED libfabric.so.1 nor a file mca_mtl_ofi.so')],
                'build Open MPI with --with-ofi',
            )
    elif trial.approach['requires']:
        device = (trial.mpi or {}).get('device')
        built = ', '.join(device) if device else 'built for another network layer, or ch3'
        over = (
            UCX
            if find_network_layer(trial) == UCX and network['ucx']['value'] is not False
            else TCP
        )
        slow = (
            over == TCP
        )  # also on Ethernet: whoever installs must read that the approach does nothing
        yield make_finding(
            'works slowly' if slow else NOTE,
            "the image's %s does not use libfabric (%s), so approach '%s' "
            "changes nothing: messages go over %s"
            % (trial.soname, built, trial.approach['name'], over),
            [(mpi.facts.path, 'no DT_NEEDED libfabric.so.1'), (mpi.facts.path, 'device ' + built)],
            'use an image with MPICH ch4:ofi'
            if slow
            else 'take pure, which is the same with less from the host',
        )


@rule('netmod', source='configure of the MPICH wheels from 4.3 on')
def check_netmod(trial):
    """
    An MPICH that prefers UCX does not reach a network that UCX does not drive, or drives badly.
    """
    device, fact = (trial.mpi or {}).get('device') or [], resolve_network(trial.site)[1]['ucx']
    if (
        find_network_layer(trial) == UCX
        and uses_libfabric(trial)
        and trial.approach['requires']
        and not fact['value']
    ):
        slow = fact['value'] is False
        yield make_finding(
            'works slowly' if slow else 'unknown',
            "this MPICH prefers UCX to libfabric (%s), and %s" % (', '.join(device), fact['why']),
            [(find_loaded_mpi(trial).facts.path, 'device ' + ', '.join(device))],
            'export MPIR_CVAR_CH4_NETMOD=ofi before srun, which reaches the program in the container',
        )


#: How an image comes by UCX that reaches cards
_UCX_REMEDY = (
    'build the image with UCX and rdma-core of one distribution: libucx0 and ibverbs-providers of Debian, '
    'ucx-ib and libibverbs of Red Hat'
)


@rule(
    'UCX',
    source='github.com/openucx/ucx/issues/3319: modules beside libucs; github.com/ofiwg/libfabric/issues/975: '
    'libibverbs without the driver; github.com/open-mpi/ompi/pull/8496',
)
def check_ucx(trial):
    """
    UCX, where it drives the cards of the site, has in the image what it opens to reach them;
    otherwise it is TCP.
    """
    kind, network, drivers = resolve_network(trial.site)
    if find_network_layer(trial) != UCX or kind == 'Ethernet':
        return
    problem = find_ucx_problem(trial)
    if network['ucx']['value'] is None:
        yield make_finding(
            'unknown',
            "the MPI sends over UCX: %s" % network['ucx']['why'],
            [(find_loaded_mpi(trial).facts.path, 'over UCX')],
            'use an MPI over libfabric, with the provider %s' % trial.site['provider']['value'],
        )
    elif network['ucx']['value'] is False and not trial.approach['requires']:
        yield make_finding(
            'works slowly',
            "the MPI sends over UCX, and %s" % network['ucx']['why'],
            [(find_loaded_mpi(trial).facts.path, 'over UCX')],
            'use an MPI over libfabric, with the provider %s' % trial.site['provider']['value'],
        )
    elif network['ucx']['value'] and problem:
        yield make_finding(
            'works slowly',
            "the MPI sends over UCX, and not over the %s cards: %s" % (kind, problem[0]),
            problem[1],
            _UCX_REMEDY
            if find_loaded_mpi(trial).origin == 'image'
            else 'take pure with an image whose own MPI has UCX',
        )
    elif network['ucx']['value'] and may_bypass_ucx(trial, compute_module_values(trial)):
        yield make_finding(
            'unknown',
            "Open MPI prefers UCX by itself for cards of Mellanox alone, and this site has %s"
            % ', '.join(drivers),
            [('site ' + trial.site['name'], 'drivers ' + ', '.join(drivers))],
            'export OMPI_MCA_pml=ucx before srun, which reaches the program in the container',
        )


@rule(
    'card driver',
    source='github.com/ofiwg/libfabric/issues/975: "no userspace device-specific driver found", and '
    'fi_getinfo() ends with -ENODEV',
)
def check_card_driver(trial):
    """
    libfabric's provider verbs or efa finds in the image the part of rdma-core that is for the
    site's cards.
    """
    provider = find_provider(trial)
    problem = (
        find_driver_problem(trial, provider)
        if provider and find_network_layer(trial) == LIBFABRIC
        else None
    )
    if problem:
        yield make_finding(
            'fails',
            "provider %s reaches no card: %s" % (provider, problem[0]),
            problem[1],
            'build the image with rdma-core (ibverbs-providers of Debian, libibverbs of Red Hat); pure runs, '
            'over TCP',
        )


@rule('no provider', source='libfabric NEWS: cxi from 1.21 on; fi_fabric(7)')
def no_provider(trial):
    """The libfabric of the process has the provider that FI_PROVIDER names."""
    fabric, wanted = trial.fabric, find_provider(trial)
    if (
        find_network_layer(trial) != LIBFABRIC
        or find_loaded_file(trial.process, 'libfabric.so.1') is None
        or wanted is None
    ):
        return  # without the name of one: the rule 'provider of the image'
    one = find_loaded_file(trial.process, 'libfabric.so.1')
    if fabric is None:
        yield make_finding(
            'unknown',
            "what %s can do is not known: the file could not be read" % format_library_name(one),
            [(one.facts.path, 'not readable as libfabric')],
            '',
        )
        return
    providers = fabric.get('providers')
    version = fabric.get('release') or 'of unknown release'
    remedy = {
        'cxi': 'use hybrid or bind, whose libfabric is the host\'s, or an image with libcxi and a libfabric '
        'built with it (1.21 or newer)'
    }.get(wanted, 'use an image whose libfabric has it')
    wants = set(split_provider(wanted))
    files = trial.image.find_files(
        r'.*/lib%s(?:-[\d.]+)?-fi\.so' % re.escape(wanted.partition(';')[0])
    )
    lacks = find_missing_dependency(trial, files[0]) if files and one.origin == 'image' else None
    if lacks:
        remedy = 'put %s into the image: without it libfabric leaves %s out' % (lacks, files[0])
    elif files and one.origin == 'image':
        remedy = (
            'set FI_PROVIDER_PATH=%s in the image: libfabric does not look there by itself'
            % posixpath.dirname(files[0])
        )
    if one.origin == 'host':
        remedy = 'is this the right site? `osu-container discover` tells what this host has'
    if wants <= set(providers or []):
        return
    if wants <= set(fabric.get('files', {})) | set(providers or []):
        yield make_finding(
            'unknown',
            "%s (%s) has no provider %s, and whether it takes the image's file with that is not "
            "known" % (format_library_name(one), version, wanted),
            [
                (
                    one.facts.path,
                    'libfabric %s, providers %s' % (version, ', '.join(providers) or 'none'),
                )
            ],
            remedy,
        )
        return
    # none at all: not a build whose marks are known; 'complete' is False in a description that does
    # not list all
    if providers and fabric.get('complete', True):
        yield make_finding(
            'fails',
            "%s (%s) has no provider %s, which FI_PROVIDER asks for; it has %s"
            % (format_library_name(one), version, wanted, ', '.join(providers) or 'none'),
            [
                (
                    one.facts.path,
                    'libfabric %s, providers %s' % (version, ', '.join(providers) or 'none'),
                )
            ],
            remedy,
        )
    elif (
        wanted == 'cxi'
        and one.origin == 'image'
        and parse_release(version)
        and parse_release(version) < FIRST_CXI_LIBFABRIC
    ):
        yield make_finding(
            'fails',
            "%s (%s) has no provider cxi: ofiwg's libfabric has it from 1.21 on"
            % (format_library_name(one), version),
            [(one.facts.path, 'libfabric ' + version)],
            remedy,
        )
    else:
        yield make_finding(
            'unknown',
            "whether %s (%s) has the provider %s is not known"
            % (format_library_name(one), version, wanted),
            [
                (
                    one.facts.path,
                    'holds no mark of a provider that is known'
                    if providers == []
                    else 'its providers are not described',
                )
            ],
            '`fi_info -l` where it is to run tells it',
        )


#: What an image says of its libcxi, by this project's recipes: 1.0.2-SHS12.0.2
LIBCXI_LABEL = 'org.osu-container.libcxi'

#: Pairs of an image's libcxi and a site's Slingshot Host Software (SHS) of two releases that were
#: seen to run -> source
SEEN_LIBCXI_PAIRS = {
    (
        'main of March 2025',
        'that of March 2025',
    ): 'DeiC-HPC/BitBulldozersLab, 2025-03: opensource reaches 24 GB/s',
}


@rule(
    'libcxi and driver',
    source='github.com/HewlettPackard/shs-libcxi/issues/18: libcxi of SHS 13.0 works on a host '
    'where those of 13.1 and 14.0 do not; CSCS pins its images to the SHS of its hosts '
    '(eth-cscs/alps-extended-images 2f16898)',
)
def check_libcxi_driver(trial):
    """
    A libcxi of the image is of the release whose driver the site runs, or somebody has shown
    that the two work.
    """
    one = find_image_libcxi(trial)
    if one is None:
        return
    label = trial.image.labels.get(LIBCXI_LABEL, '')
    has = (re.search(r'SHS([\d.]+)', label) or re.match('(.*)', label)).group(1)
    runs = (trial.site.get('slingshot') or {}).get('value')
    if has and runs and (has == runs or (has, runs) in SEEN_LIBCXI_PAIRS):
        return
    yield make_finding(
        'unknown',
        "the image's libcxi is %s, the driver of this site is %s, and nobody has shown that the "
        "two work together"
        % (
            'of SHS ' + has if has else 'of a release that it does not say',
            'of SHS ' + runs if runs else 'of a release that is not known',
        ),
        [(one.facts.path, 'label %s: %s' % (LIBCXI_LABEL, label or 'none'))]
        + ([('site ' + trial.site['name'], 'SHS ' + runs)] if runs else []),
        'use hybrid or bind, whose libcxi is the host\'s, or an image built with the libcxi of that release; '
        'a run of two nodes tells (osu_latency H H)',
    )


def _find_newest_libfabric(mpi):
    """
    Return the newest release of libfabric (tuple) that an MPI (Loaded) can have been built with,
    None if unknown.
    """
    needed = sort_versions(mpi.facts.verneed.get('libfabric.so.1', ()))
    return _LAST_RELEASES.get(needed[-1]) if needed else None


def _find_requested_api(trial, api):
    """
    Return (major, minor) of the API that the MPI of trial asks a libfabric of the API api (the
    same) for, None if nothing tells.
    """
    asks, provider = trial.mpi.get('asks'), find_provider(trial)
    if not asks:
        return None
    set_of = {
        'verbs': 'verbs;ofi_rxm',
        'tcp': 'ofi_rxm' if api and api < _TCP_ALONE else 'tcp',
    }.get(provider, provider)
    asked = asks.get(set_of, asks.get((provider or '').rpartition(';')[2], asks['']))
    return tuple(
        int(value) if value.isdigit() else number
        for value, number in zip(
            (
                get_exported_value(trial.container.environment, name) or ''
                for name in _API_VARIABLES
            ),
            asked,
        )
    )


#: What tells MPICH which API to ask for
_API_VARIABLES = ('MPIR_CVAR_CH4_OFI_MAJOR_VERSION', 'MPIR_CVAR_CH4_OFI_MINOR_VERSION')


def _may_survive_refusal(trial):
    """
    Return whether the MPICH of trial may run though libfabric refuses its API.

    From 5.0 on it frees its list of providers when libfabric refuses, and then uses it:
    pmodels/mpich, init_provider.c. Measured with 5.0.0 and 5.0.1 over Debian's libfabric 2.1,
    2026-11-23: glibc ends it ("double free detected") where FI_PROVIDER is not set or names one
    provider, in each of five runs; with ^shm and ^tcp it ran, in each of six.
    """
    names = get_exported_value(trial.container.environment, 'FI_PROVIDER') or ''
    return (
        (trial.mpi or {}).get('family') == 'MPICH'
        and parse_release(trial.mpi['release']) >= FIRST_FREEING_MPICH
        and (names.startswith('^') or ',' in names)
    )


@rule(
    'libfabric API',
    source='pmodels/mpich, src/mpid/ch4/netmod/ofi: ofi_capability_sets.h, init_provider.c; '
    'ofiwg/libfabric, src/fabric.c: "Requested version is newer than library"',
)
def check_libfabric_api(trial):
    """
    An MPICH asks libfabric for the API of the release that it was built with, which may not be
    newer than the one it meets; symbol versions do not show that.
    """
    fabric, mpi = find_loaded_file(trial.process, 'libfabric.so.1'), find_loaded_mpi(trial)
    if (
        fabric is None
        or mpi is None
        or find_network_layer(trial) != LIBFABRIC
        or (trial.mpi or {}).get('family') in ('Intel MPI', 'Open MPI')
    ):  # these ask for an old one
        return
    if any(
        one is mpi and soname == 'libfabric.so.1'
        for one, soname, _, _ in list_version_problems(trial.process)
    ):
        return  # the loader ends before
    api = (
        (trial.fabric or {}).get('api')
        or parse_release((trial.fabric or {}).get('release'))[:2]
        or None
    )
    asked, last = _find_requested_api(trial, api), _find_newest_libfabric(mpi)
    numbers = 'API %d.%d'
    if asked and api and asked > api:
        remedy = (
            'export %s=%d %s=%d before srun, which reaches the program in the container; or use an approach with '
            'another libfabric' % (_API_VARIABLES[0], api[0], _API_VARIABLES[1], api[1])
        )
        chance = _may_survive_refusal(trial)
        yield make_finding(
            'unknown' if chance else 'fails',
            "%s asks libfabric for API %d.%d, and %s has API %d.%d: it was built with a newer one"
            % ((format_library(mpi),) + asked + (format_library_name(fabric),) + api)
            + (
                ', and goes on with memory that it has freed: it ends, or runs by chance'
                if chance
                else ''
            ),
            [(mpi.facts.path, 'asks for ' + numbers % asked), (fabric.facts.path, numbers % api)],
            remedy,
        )
    elif asked and api or last and api and last <= api or mpi.origin == fabric.origin:
        return  # one owner built both
    else:
        yield make_finding(
            'unknown',
            "which API %s asks libfabric for %s, and %s has %s"
            % (
                format_library(mpi),
                'is %d.%d' % asked if asked else 'is not in the file',
                format_library_name(fabric),
                numbers % api if api else 'one that its file does not tell',
            ),
            [
                (
                    mpi.facts.path,
                    'asks for ' + numbers % asked if asked else 'no table of capability sets',
                ),
                (fabric.facts.path, numbers % api if api else 'its fi_version() is not readable'),
            ],
            'a run tells: "Requested version is newer than library" with FI_LOG_LEVEL=warn',
        )


def _asks_for_cxi(trial):
    """Return whether the MPI of the process asks its libfabric for the provider cxi."""
    return (
        find_provider(trial) == 'cxi'
        and find_network_layer(trial) == LIBFABRIC
        and find_loaded_file(trial.process, 'libfabric.so.1') is not None
    )


@rule(
    'capability set',
    source='pmodels/mpich PR 5708: cxi is the first provider that wants FI_MR_ENDPOINT; wheels of '
    'MPICH 3.4.3 to 5.0.2; DeiC-HPC/BitBulldozersLab, 2025-03: 3.4.3 fails, 4.2.3 runs',
)
def check_capability_set(trial):
    """
    MPICH asks the provider cxi for what it has only if its libmpi knows that name, which it does
    from 4.1 on.
    """
    traits = trial.mpi or {}
    if not _asks_for_cxi(trial) or traits.get('cxi') is not False:
        return
    numbers, mpi = parse_release(traits['release']), find_loaded_mpi(trial)
    old = numbers and numbers < FIRST_CXI_MPICH
    yield make_finding(
        'fails' if old else 'unknown',
        "this MPICH (%s) %s it asks for capabilities that cxi does not have, "
        "and ends with \"open_fabric: No data available\""
        % (
            traits['release'] or 'release unknown',
            'does not know the provider cxi:'
            if old
            else 'holds no mark that it knows the provider cxi; where it does not,',
        ),
        [(mpi.facts.path, 'no text cxi, MPICH %s' % (traits['release'] or 'of unknown release'))],
        'use an image with MPICH 4.1 or newer',
    )


@rule('not seen over cxi', source='SEEN_OVER_CXI in verdict/rules/fabric.py')
def check_cxi_runs(trial):
    """
    Of other MPIs no file says whether they agree with the provider cxi: only those that were seen
    to run count, and the vendor's own pair, the host's Cray MPICH over the host's libfabric,
    whichever release.
    """
    series = find_mpi_series(trial)
    if (
        not _asks_for_cxi(trial)
        or series in SEEN_OVER_CXI
        or (trial.mpi or {}).get('cxi') is not None
    ):
        return
    pair = [find_loaded_mpi(trial), find_loaded_file(trial.process, 'libfabric.so.1')]
    if (trial.mpi or {}).get('family') == 'Cray MPICH' and all(
        one.origin == 'host' for one in pair
    ):
        return
    yield make_finding(
        'unknown',
        "symbols fit, but no run over cxi is known of %s; no file says whether it can"
        % (' '.join(series) + '.x' if series else 'an MPI of unknown release'),
        [(find_loaded_mpi(trial).facts.path, ' '.join(series) if series else 'release unknown')],
        'a run with FI_LOG_LEVEL=info shows what the provider was asked for; or use MPICH 4.2 or newer',
    )


@rule('TCP only', source='DeiC-HPC/BitBulldozersLab, 2025-03: about 2 of 22 GB/s')
def tcp_only(trial):
    """What reaches another node by TCP alone is slow where there is a faster network."""
    kind, network, _ = resolve_network(trial.site)
    fast, over = trial.site['provider']['value'], find_network_layer(trial)
    if kind == 'Ethernet':
        return
    has_ucx = network['ucx']['value'] and 'ch4:ucx' in ((trial.mpi or {}).get('device') or [])
    remedy = 'use hybrid, bind or opensource for the fast network'
    if network['ucx']['value']:
        remedy += ', or an image whose MPI uses UCX'
    if (trial.mpi or {}).get('family') == 'Open MPI':
        remedy = _UCX_REMEDY if network['ucx']['value'] else 'use an image whose libfabric has it'
    elif has_ucx and not find_ucx_problem(trial):
        remedy = 'export MPIR_CVAR_CH4_NETMOD=ucx before srun: this MPICH has UCX, and UCX reaches the cards'
    if (
        over == LIBFABRIC
        and find_provider(trial) == compute_module_values(trial).get('FI_PROVIDER') == 'tcp'
    ):
        yield make_finding(
            'works slowly',
            "TCP only: the site's network is for provider %s" % fast,
            [('approach ' + trial.approach['name'], 'FI_PROVIDER=tcp')],
            remedy,
        )
    elif over == TCP and not trial.approach['requires']:
        yield make_finding(
            'works slowly',
            "TCP only: the MPI has no part that drives the site's %s" % kind,
            [
                (
                    find_loaded_mpi(trial).facts.path,
                    'neither UCX nor libfabric with provider %s that reaches it' % fast,
                )
            ],
            remedy,
        )


@rule('CXI_FORK_SAFE', source='libfabric prov/cxi/src/cxip_info.c')
def check_cxi_fork_safe(trial):
    """The variable, whatever its value, makes small device messages slow."""
    own = trial.image.evaluate_environment()
    names = [
        name
        for name in ('CXI_FORK_SAFE', 'CXI_FORK_SAFE_HP')
        if name in own.variables and resolve_process_variable(own, name)
    ]
    if not names or find_provider(trial) != 'cxi':
        return
    if not any(resolve_process_variable(trial.container.environment, name) for name in names):
        yield make_finding(
            NOTE,
            "the image sets %s, which the module takes away: device messages of up to 128 bytes would "
            "take 21 instead of 2.5 microseconds" % ' and '.join(names),
            [(trial.image.path, ' and '.join(names))],
            'leave it out of the image',
        )
    else:
        yield make_finding(
            'works slowly',
            "the image sets %s: device messages of up to 128 bytes take 21 instead of 2.5 "
            "microseconds" % ' and '.join(names),
            [(trial.image.path, ' and '.join(names))],
            'leave it out of the image; =0 does not switch it off',
        )
