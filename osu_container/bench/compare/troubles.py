"""
Recognize known troubles by the shape of a curve, each with its remedy and source.

A rule reads the numbers of one curve. Its limits lie between the published curves with the trouble
and those without; comments name both, and a test checks every published curve against every rule.
All rules are about a fast network (Slingshot): none applies to a system that has only TCP, see
find_network_provider().
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Sequence

from osu_container.bench.results.model import Dataset, Series
from osu_container.data.approaches import APPROACHES
from osu_container.data.sites import SITES
from osu_container.verdict.site_choice import resolve_site

KIB = 1 << 10

#: Programs of two ranks with one message at a time, or many in flight
BANDWIDTHS = frozenset(['osu_bw', 'osu_bibw', 'osu_get_bw', 'osu_put_bw', 'osu_put_bibw'])
LATENCIES = frozenset(['osu_latency', 'osu_multi_lat'])
RCCL_BANDWIDTHS = frozenset(['osu_xccl_bw', 'osu_xccl_bibw'])
RCCL_LATENCIES = frozenset(['osu_xccl_latency'])
DEVICE = frozenset(['H D', 'D H', 'D D'])

#: MB/s, the best value at 64 KiB and more. Over TCP 2000 to 5952 (pure of 2025-03; mpi4py of conda
#: and PyPI, 2025-07), noted as 400 for MPICH 3.4.3; over Slingshot 22,180 or more
MIN_FAST_BANDWIDTH = 7000
#: µs up to 1 KiB. Over TCP 11.7 to 35; over Slingshot some size takes 5.65 or less, even where
#: small messages are slow
TCP_LATENCY = (9, 60)
#: RCCL: MB/s, the best value at 64 KiB and more. Over sockets 1528 (pure) and 3196 (hybrid), noted
#: as up to 5000; over Slingshot 11,850 or more. Times give size / time: 784 and 2174, and 6760 or
#: more
MIN_RCCL_BANDWIDTH = 5500
#: Shortest time up to 128 B over that of 256 B: 1.74 (RCCL) to 6.0 with the trouble, up to 0.99
#: without it
DROP_LATENCY = 1.4
#: 256 B over 128 B, bandwidth: 6.9 (RCCL) to 44 with the trouble; twice is normal, up to 2.8 over
#: noisy sockets
DROP_BANDWIDTH = 4
#: 4 KiB over 8 KiB, bandwidth: 7.3 (native RCCL of 2025) to 197 with the trouble, up to 0.9 without
#: it; 8 KiB over 4 KiB, times: 30 to 45 with it, up to 1.9 without it
DIP = 3
#: 8 KiB over 4 KiB, times: 1.54 to 1.92 with the trouble, up to 1.41 without it; far more is
#: another trouble (the dip)
STEP = (1.47, 3)
#: 4 KiB over 1 KiB, times: up to 1.09 before such a step on Slingshot; 1.63 on Piz Daint's Aries,
#: which grows evenly
FLAT = 1.3


@dataclass(frozen=True)
class Trouble:
    """A known trouble that a curve looks like."""

    #: machine-readable name: 'tcp'
    name: str
    #: a few words
    title: str
    #: what is measured and its cause, with the evidence for it
    text: str
    remedy: str
    #: where the trouble was published or found
    source: str


@dataclass(frozen=True)
class TroubleRule:
    """How a trouble is recognized."""

    trouble: Trouble
    #: programs that show it
    benchmarks: frozenset[str]
    #: buffers that show it, None for all
    buffers: frozenset[str] | None
    #: returns the sizes of a curve that show it
    test: Callable[[MedianCurve], list[int]]


class MedianCurve:
    """Medians of a series by size."""

    def __init__(self, series: Series) -> None:
        self.values = series.compute_medians()
        self.more_is_better = series.case.more_is_better

    def find_value(self, size: int) -> float | None:
        """Return the value at a size in bytes, None if there is none."""
        return self.values.get(size)

    def select_points(self, least: int, most: int) -> list[tuple[int, float]]:
        """Return size and value for the sizes from `least` to `most` bytes, both included."""
        return [(size, value) for size, value in self.values.items() if least <= size <= most]

    def compute_best_rate(self) -> tuple[float | None, list[int]]:
        """Return the best rate in MB/s at 64 KiB and more, and those sizes."""
        rates = [
            (value if self.more_is_better else size / value, size)
            for size, value in self.select_points(64 * KIB, 1 << 40)
        ]
        return (max(rates)[0], [size for _, size in rates]) if rates else (None, [])


def _find_tcp(curve: MedianCurve) -> list[int]:
    if curve.more_is_better:
        best, sizes = curve.compute_best_rate()
        return sizes if best and best < MIN_FAST_BANDWIDTH else []
    small = curve.select_points(1, KIB)
    least, most = TCP_LATENCY
    return (
        [size for size, _ in small]
        if small and all(least <= value <= most for _, value in small)
        else []
    )


def _find_device_copy(curve: MedianCurve) -> list[int]:
    small, after, last = curve.select_points(1, 128), curve.find_value(256), curve.find_value(128)
    if len(small) < 3 or not after or not last:
        return []
    if curve.more_is_better:
        slow = after / last >= DROP_BANDWIDTH
    else:
        # The fastest of all sizes: a single slow value is noise, which RCCL over sockets has.
        slow = min(value for _, value in small) / after >= DROP_LATENCY
    return [size for size, _ in small] if slow else []


def _find_dip(curve: MedianCurve) -> list[int]:
    before, dip = curve.find_value(4 * KIB), curve.find_value(8 * KIB)
    after = curve.select_points(32 * KIB, 1 << 40)
    if not (before and dip and after):
        return []
    if curve.more_is_better:
        is_dip = before / dip >= DIP and max(value for _, value in after) > before
        return (
            [size for size, value in curve.select_points(8 * KIB, 16 * KIB) if value < before]
            if is_dip
            else []
        )
    is_dip = dip / before >= DIP and min(value for _, value in after) < dip / 2
    return (
        [size for size, value in curve.select_points(8 * KIB, 16 * KIB) if value > DIP * before]
        if is_dip
        else []
    )


def _find_early_rendezvous(curve: MedianCurve) -> list[int]:
    first, before, after = (
        curve.find_value(KIB),
        curve.find_value(4 * KIB),
        curve.find_value(8 * KIB),
    )
    if not (first and before and after):
        return []
    least, most = STEP
    is_step = before / first <= FLAT and least <= after / before < most
    return [size for size, _ in curve.select_points(8 * KIB, 16 * KIB)] if is_step else []


def _find_rccl_sockets(curve: MedianCurve) -> list[int]:
    best, sizes = curve.compute_best_rate()
    return sizes if best and best < MIN_RCCL_BANDWIDTH else []


#: Source of most rules
DEIC = (
    'DeiC-HPC/BitBulldozersLab, "Docker build pipeline for 4 different container approaches on LUMI", '
    '2025-03-07'
)
_LUMI_2026 = 'alazzaro/openmpi_on_ss11, LUMI-G, 2026-03'

RULES = (
    TroubleRule(
        Trouble(
            'tcp',
            'TCP instead of the fast network',
            text='The best bandwidth is 2 to 6 GB/s where Slingshot gives 22 or more, small messages take 12 µs or '
            'more in place of 2 to 3: MPI runs over TCP. Measured for images without libraries of the fast '
            'network. 0.4 GB/s were noted with MPICH 3.4.3; or TCP took the network of the management.',
            remedy='See what the ranks loaded (the proof in the report). FI_PROVIDER=cxi turns the fallback into an '
            'error that names its cause; our modules of bind, hybrid, opensource and native set it. The image '
            'needs MPICH of device ch4:ofi, 3.1.4 has none. For TCP over it: FI_TCP_IFACE=hsn0. At '
            '4 to 5 GB/s with the provider lnx: that of libfabric 2.2.0 is slow, ofiwg/libfabric #11392.',
            source=DEIC
            + ': results of the basic container; "Works; fallback to TCP/IP". LUMI userguide: '
            '2.4 against 12.2 GB/s',
        ),
        BANDWIDTHS | LATENCIES,
        None,
        _find_tcp,
    ),
    TroubleRule(
        Trouble(
            'device-copy',
            'messages up to 128 B from the GPU are copied the slow way',
            text='About 9 µs more for each side with a device buffer, 21 µs from GPU to GPU, up to 128 B; normal from '
            '256 B on. The cxi provider copies such messages by the CPU, and takes the slow copy of ROCm where '
            'CXI_FORK_SAFE or CXI_FORK_SAFE_HP is set to anything, 0 and empty too. The cause is derived from '
            'the code, and was not tried on LUMI.',
            remedy='`unset CXI_FORK_SAFE CXI_FORK_SAFE_HP` inside the container; our modules do. For RCCL and Open MPI '
            'FI_CXI_DISABLE_NON_INJECT_MSG_IDC=1 is enough: 2.9 µs were measured with Open MPI on LUMI. With '
            'MPICH 4.3.1 or newer MPIR_CVAR_CH4_OFI_ENABLE_INJECT=0 must go with it.',
            source=DEIC
            + ': results of opensource. libfabric prov/cxi/src/cxip_msg.c, cxip_info.c. EESSI '
            'on LUMI, 2026-05-21',
        ),
        LATENCIES | BANDWIDTHS | RCCL_BANDWIDTHS | RCCL_LATENCIES,
        DEVICE,
        _find_device_copy,
    ),
    TroubleRule(
        Trouble(
            'dip',
            'dip at 8 KiB',
            text='At 8 KiB the curve falls to a seventh or less and recovers from 16 or 32 KiB on. Native RCCL on LUMI '
            'had it in 2025, and bind with it. In 2026 it was there with software matching of receives and with '
            'the provider lnx, not with hardware or hybrid matching of the provider cxi.',
            remedy='FI_CXI_RX_MATCH_MODE=hybrid, as HPE advises for RCCL, or hardware. Untested for the runs of 2025, '
            'which did not set it.',
            source=DEIC
            + ': "weird drop at 8192 for RCCL". '
            + _LUMI_2026
            + ': osu_xccl_bibw, osu_xccl_latency and '
            'osu_bibw D D by rx_match_mode. HewlettPackard/shs-ccl-docs',
        ),
        RCCL_BANDWIDTHS | RCCL_LATENCIES | BANDWIDTHS | LATENCIES,
        frozenset(['D D']),
        _find_dip,
    ),
    TroubleRule(
        Trouble(
            'early-rendezvous',
            'bump at 8 to 16 KiB: rendezvous begins too early',
            text='6.5 and 7.1 µs at 8 and 16 KiB in place of 3.7 and 4.3: a message waits for a round trip, which pays '
            'from 32 KiB on only. Older releases of libfabric begin at 2 KiB; Cray MPICH moves that to 16 KiB, '
            'other MPIs do not. The cause is derived.',
            remedy='FI_CXI_RDZV_THRESHOLD=16384 FI_CXI_RDZV_EAGER_SIZE=2048 with libfabric before 2.4. It is what Cray '
            'MPICH sets by itself; untested with others.',
            source=DEIC
            + ': latency of hybrid and opensource. MPICH_ENV_DISPLAY of Cray MPICH 8.1.17. Release notes '
            'of libfabric 2.4.0',
        ),
        LATENCIES,
        None,
        _find_early_rendezvous,
    ),
    TroubleRule(
        Trouble(
            'rccl-sockets',
            'RCCL without its plugin: sockets',
            text='3 GB/s where RCCL over Slingshot gives 13: it found no network plugin and goes over sockets. In a '
            'container without libraries of the fast network it is 1.5 GB/s.',
            remedy='NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET says which network it took. Put the folder of '
            'librccl-net.so into LD_LIBRARY_PATH of the run, or its path into NCCL_NET_PLUGIN. '
            'NCCL_NET="AWS Libfabric" turns the fallback into an error. The plugin must not be built with a '
            'newer libfabric than it meets ("FABRIC_1.7 not found"). With the plugin loaded, '
            'NCCL_IGNORE_CPU_AFFINITY=1 gave 4 times the bandwidth.',
            source=DEIC
            + ': results of hybrid; compatibility notes, "RCCL much slower (3GBs)"; the script of hybrid '
            'lacks the folder of the plugin',
        ),
        RCCL_BANDWIDTHS | RCCL_LATENCIES,
        None,
        _find_rccl_sockets,
    ),
)


def find_network_provider(dataset: Dataset) -> str | None:
    """
    Return the libfabric provider of the network of a dataset's system, None if unknown.

    For a run it is that of its site's entry: 'tcp' on a machine without a fast network. All
    publications of this project are of fast networks; the user's references are runs of a site.
    """
    if dataset.kind == 'published':
        return 'fast'
    site = dataset.facts.get('site')
    return resolve_site(site)['provider']['value'] if site in SITES else None


def _is_tcp(approach: str) -> bool:
    """Return whether an approach uses TCP on every system, as pure does."""
    entry: dict[str, Any] = APPROACHES.get(approach, {})
    variables = entry.get('variables', [])
    return any(entry['name'] == 'FI_PROVIDER' and entry['value'] == 'tcp' for entry in variables)


def find_series_troubles(
    series: Series, network: str | None = None
) -> list[tuple[Trouble, list[int]]]:
    """
    Return the troubles that a series looks like, with the message sizes that show them.

    network is that of find_network_provider(): none of the rules applies to 'tcp'; None: unknown, the
    shape alone counts.
    """
    case = series.case
    if network == 'tcp' or _is_tcp(series.name) or case.nodes == 1 or not series.values:
        return []  # on one node messages go through memory, which has other limits
    curve = MedianCurve(series)
    troubles = [
        (rule.trouble, rule.test(curve))
        for rule in RULES
        if case.benchmark in rule.benchmarks
        and (rule.buffers is None or case.buffers in rule.buffers)
    ]
    return [(trouble, sizes) for trouble, sizes in troubles if sizes]


def find_troubles(
    datasets: Sequence[Dataset],
) -> list[tuple[Trouble, list[tuple[Dataset, Series, list[int]]]]]:
    """
    Return the troubles that curves look like, each with dataset, series and sizes.

    The remedies are for the person who measured: published curves are inspected only if all datasets
    are published.
    """
    curves: dict[Trouble, list[tuple[Dataset, Series, list[int]]]] = {}
    for dataset in [dataset for dataset in datasets if dataset.kind != 'published'] or datasets:
        network = find_network_provider(dataset)
        for series in dataset.series:
            for trouble, sizes in find_series_troubles(series, network):
                curves.setdefault(trouble, []).append((dataset, series, sizes))
    return list(curves.items())
