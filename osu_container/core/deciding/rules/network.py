"""The network: libfabric, its provider, and what makes it slow."""
from osu_container.core.deciding.conditions import release
from osu_container.core.deciding.rules.finding import (
    NOTE,
    finding,
    module_value,
    mpi_of,
    provider_of,
    rule,
    series_of,
    short,
    uses_libfabric,
)
from osu_container.core.reading.environment import in_process, known
from osu_container.core.reading.loader import of_name

#: MPI over libfabric's provider cxi: releases that have been seen to run, by whom. What no run is known of is unknown:
#: MPICH asks the provider for a set of capabilities, and only a run tells whether it has them.
SEEN_OVER_CXI = {
    ('MPICH', '4.2'): 'DeiC-HPC/BitBulldozersLab, published runs on LUMI, 2025-03 (4.2.3)',
    ('MPICH', '4.3'): 'sarus-suite/containerfiles-ci e3d4a7b on Alps and lumi-ai-factory/laifs-container-recipes on '
                      'LUMI, 2026 (4.3.2)',
    ('MPICH', '5.0'): 'lumi-ai-factory/laifs-container-recipes on LUMI, 2026 (5.0.1)',
    ('Open MPI', '5.0'): 'alazzaro/openmpi_on_ss11 627b2cc on LUMI, 2026-04',
    ('Cray MPICH', '8.1'): 'the native MPI of such systems',
    ('Cray MPICH', '9.0'): 'the native MPI of such systems',
}

#: The same, runs that are known to have failed although all symbols fit
FAILED_OVER_CXI = {
    ('MPICH', '3.4'): '"open_fabric: No data available" in the published runs (DeiC-HPC/BitBulldozersLab, 2025-03, '
                      '3.4.3)',
}

#: The first libfabric of ofiwg with the provider cxi (its NEWS, v1.21.0). Cray's own builds have it earlier.
CXI_SINCE = (1, 21)


@rule('no libfabric', source='DeiC-HPC/BitBulldozersLab, 2025-03: MPICH 3.1.4 "not compiled with channel 4"')
def no_libfabric(trial):
    """An MPICH of device ch3 or with another netmod does not use libfabric."""
    uses = uses_libfabric(trial)
    if uses or uses is None or not trial.approach['requires']:
        return
    device = (trial.mpi or {}).get('device')
    kind = ', '.join(device) if device else 'built for another network layer, or ch3'
    mpi = mpi_of(trial)
    yield finding('works slowly', "the image's %s does not use libfabric (%s), so approach '%s' changes nothing: "
                  "messages go over TCP" % (trial.soname, kind, trial.approach['name']),
                  [(mpi.facts.path, 'no DT_NEEDED libfabric.so.1'), (mpi.facts.path, 'device ' + kind)],
                  'use an image with MPICH ch4:ofi')


@rule('netmod', source='configure of the MPICH wheels from 4.3 on')
def netmod(trial):
    """An MPICH that prefers UCX does not reach Slingshot."""
    device = (trial.mpi or {}).get('device') or []
    named = [v['name'] for v in trial.site['variables'] + trial.approach['variables']]
    if known(trial.environment, 'MPIR_CVAR_CH4_NETMOD') == 'ofi':
        return
    if len(device) > 1 and not device[0].endswith(':ofi') and 'MPIR_CVAR_CH4_NETMOD' not in named and \
            trial.approach['requires'] and uses_libfabric(trial):
        yield finding('works slowly', "this MPICH prefers UCX to libfabric (%s), and UCX knows no Slingshot"
                      % ', '.join(device), [(mpi_of(trial).facts.path, 'device ' + ', '.join(device))],
                      'export MPIR_CVAR_CH4_NETMOD=ofi before srun, which reaches the program in the container')


@rule('no provider', source='libfabric NEWS: cxi from 1.21 on; fi_fabric(7)')
def no_provider(trial):
    """The libfabric of the process has the provider that FI_PROVIDER names."""
    fabric, wanted = trial.fabric, provider_of(trial)
    if not uses_libfabric(trial) or of_name(trial.process, 'libfabric.so.1') is None or wanted is None:
        return  # without the name of one: the rule 'provider of the image'
    one = of_name(trial.process, 'libfabric.so.1')
    if fabric is None:
        yield finding('unknown', "what %s can do is not known: the file could not be read" % short(one),
                      [(one.facts.path, 'not readable as libfabric')], '')
        return
    providers = fabric.get('providers')
    version = fabric.get('release') or 'of unknown release'
    remedy = {'cxi': 'use hybrid or bind, whose libfabric is the host\'s, or an image with libcxi and a libfabric '
                     'built with it (1.21 or newer)'}.get(wanted, 'use an image whose libfabric has it')
    if one.origin == 'host':
        remedy = 'is this the right site? `osu-container discover` tells what this host has'
    if wanted in (providers or []):
        return
    # none at all: not a build whose marks are known; 'complete' is False in a description that does not list all
    if providers and fabric.get('complete', True):
        yield finding('fails', "%s (%s) has no provider %s, which FI_PROVIDER asks for; it has %s"
                      % (short(one), version, wanted, ', '.join(providers) or 'none'),
                      [(one.facts.path, 'libfabric %s, providers %s' % (version, ', '.join(providers) or 'none'))],
                      remedy)
    elif wanted == 'cxi' and one.origin == 'image' and release(version) and release(version) < CXI_SINCE:
        yield finding('fails', "%s (%s) has no provider cxi: ofiwg's libfabric has it from 1.21 on"
                      % (short(one), version), [(one.facts.path, 'libfabric ' + version)], remedy)
    else:
        yield finding('unknown', "whether %s (%s) has the provider %s is not known" % (short(one), version, wanted),
                      [(one.facts.path, 'holds no mark of a provider that is known' if providers == [] else
                        'its providers are not described')], '`fi_info -l` where it is to run tells it')


@rule('not seen over cxi', source='SEEN_OVER_CXI in core/deciding/verdict.py')
def not_seen_over_cxi(trial):
    """MPI and provider must agree on capabilities, which no file says: only releases that were seen to run count."""
    series = series_of(trial)
    if provider_of(trial) != 'cxi' or not uses_libfabric(trial) or of_name(trial.process, 'libfabric.so.1') is None:
        return
    if series in SEEN_OVER_CXI:
        return
    mpi = mpi_of(trial)
    known = "no run over cxi is known of %s" % (' '.join(series) + '.x' if series else 'an MPI of unknown release')
    if series in FAILED_OVER_CXI:
        known = "%s.x failed: %s" % (' '.join(series), FAILED_OVER_CXI[series])
    yield finding('unknown', "symbols fit, but %s; no file says why" % known,
                  [(mpi.facts.path, ' '.join(series) if series else 'release unknown')],
                  'a run with FI_LOG_LEVEL=info shows what the provider was asked for; or use MPICH 4.2 or newer')


@rule('TCP only', source='DeiC-HPC/BitBulldozersLab, 2025-03: about 2 of 22 GB/s')
def tcp_only(trial):
    """An approach without the fast network's provider is slow."""
    fast = trial.site['provider']['value']
    if fast != 'tcp' and provider_of(trial) == module_value(trial).get('FI_PROVIDER') == 'tcp':
        yield finding('works slowly', "TCP only: the site's network is for provider %s" % fast,
                      [('approach ' + trial.approach['name'], 'FI_PROVIDER=tcp')],
                      'use hybrid, bind or opensource for the fast network')


@rule('CXI_FORK_SAFE', source='libfabric prov/cxi/src/cxip_info.c')
def cxi_fork_safe(trial):
    """The variable, whatever its value, makes small device messages slow."""
    names = [name for name in ('CXI_FORK_SAFE', 'CXI_FORK_SAFE_HP') if name in trial.environment.variables
             and in_process(trial.environment, name)]
    if not names or provider_of(trial) != 'cxi':
        return
    taken_away = set(entry['name'] for entry in trial.approach['unset'])
    if set(names) <= taken_away:
        yield finding(NOTE, "the image sets %s, which the module takes away: device messages of up to 128 bytes would "
                      "take 21 instead of 2.5 microseconds" % ' and '.join(names),
                      [(trial.image.path, ' and '.join(names))], 'leave it out of the image')
    else:
        yield finding('works slowly', "the image sets %s: device messages of up to 128 bytes take 21 instead of 2.5 "
                      "microseconds" % ' and '.join(names), [(trial.image.path, ' and '.join(names))],
                      'leave it out of the image; =0 does not switch it off')
