"""
Recognize known performance problems by the shape of a curve.

Each rule reads only the numbers of one curve, and compares these numbers with a limit. The limit
lies between the values of published curves with the problem and the values of published curves
without the problem. The comments contain both values, and a test checks every rule with every
published curve. All rules are about Slingshot. No rule applies to a system that has only TCP (see
find_network_provider()).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Sequence

from osu_container.bench.results.model import Dataset, Series
from osu_container.data.approaches import APPROACHES
from osu_container.data.sites import SITES
from osu_container.verdict.site_choice import resolve_site

KIB = 1 << 10

#: Point-to-point programs that measure a bandwidth or a latency
BANDWIDTHS = frozenset(['osu_bw', 'osu_bibw', 'osu_get_bw', 'osu_put_bw', 'osu_put_bibw'])
LATENCIES = frozenset(['osu_latency', 'osu_multi_lat'])
RCCL_BANDWIDTHS = frozenset(['osu_xccl_bw', 'osu_xccl_bibw'])
RCCL_LATENCIES = frozenset(['osu_xccl_latency'])
DEVICE = frozenset(['H D', 'D H', 'D D'])

#: Limit in MB/s for the best bandwidth at 64 KiB and more. Curves over TCP reach 2000 to 5952 (pure
#: of 2025-03; mpi4py of conda and PyPI, 2025-07), and 400 was published for MPICH 3.4.3. Curves over
#: Slingshot reach 22,180 or more.
MIN_FAST_BANDWIDTH = 7000
#: Latency over TCP in µs up to 1 KiB. Curves over TCP have 11.7 to 35 at all these sizes. Curves
#: over Slingshot have 5.65 or less at one of these sizes at least.
TCP_LATENCY = (9, 60)
#: Limit in MB/s for the best bandwidth of RCCL at 64 KiB and more. Curves over sockets reach 1528
#: (pure) and 3196 (hybrid), and up to 5000 was published. Curves over Slingshot reach 11,850 or more.
#: Size / time of latency curves is 784 and 2174 over sockets, 6760 or more over Slingshot.
MIN_RCCL_BANDWIDTH = 5500
#: Shortest time up to 128 B divided by the time at 256 B: 1.74 (RCCL) to 6.0 in curves with the
#: problem, up to 0.99 in others
DROP_LATENCY = 1.4
#: Bandwidth at 256 B divided by the bandwidth at 128 B: 6.9 (RCCL) to 44 in curves with the problem.
#: In others it is about 2, over noisy sockets up to 2.8.
DROP_BANDWIDTH = 4
#: Bandwidth at 4 KiB divided by the bandwidth at 8 KiB: 7.3 (native RCCL of 2025) to 197 in curves
#: with the problem, up to 0.9 in others. Time at 8 KiB divided by the time at 4 KiB: 30 to 45 in
#: curves with the problem, up to 1.9 in others.
DIP = 3
#: Time at 8 KiB divided by the time at 4 KiB: 1.54 to 1.92 in curves with the problem, up to 1.41 in
#: others. Much larger values are the dip.
STEP = (1.47, 3)
#: Time at 4 KiB divided by the time at 1 KiB: up to 1.09 before the step on Slingshot. On the Aries
#: network of Piz Daint, where times grow evenly, it is 1.63.
FLAT = 1.3


@dataclass(frozen=True)
class Trouble:
    """A known performance problem, with its cause, its remedy and a source."""

    #: machine-readable name: 'tcp'
    name: str
    #: headline in a few words
    title: str
    #: the measured symptom, its cause, and the evidence for the cause
    text: str
    remedy: str
    #: publication or measurement that shows the problem
    source: str


@dataclass(frozen=True)
class TroubleRule:
    """A rule that recognizes a performance problem in the curves of certain benchmarks."""

    trouble: Trouble
    #: programs that the problem affects
    benchmarks: frozenset[str]
    #: buffers (of model.BUFFERS) that the problem affects, None for all
    buffers: frozenset[str] | None
    #: returns the message sizes in bytes that show the problem, [] for none
    test: Callable[[MedianCurve], list[int]]


class MedianCurve:
    """The median of the repeats at each message size of a curve."""

    def __init__(self, series: Series) -> None:
        self.values = series.compute_medians()
        self.more_is_better = series.case.more_is_better

    def select_points(self, least: int, most: int) -> list[tuple[int, float]]:
        """Return (size, median) for each measured size between `least` and `most` bytes."""
        return [(size, value) for size, value in self.values.items() if least <= size <= most]

    def list_slow_sizes(self, limit: float) -> list[int]:
        """
        Return all sizes from 64 KiB on if the best rate at these sizes is below a limit.

        Otherwise the result is []. The rate of a latency curve is size / time.

        limit: rate in MB/s
        """
        sizes = [size for size in self.values if 64 * KIB <= size <= 1 << 40]
        rates = (
            self.values[size] if self.more_is_better else size / self.values[size] for size in sizes
        )
        return sizes if max(rates, default=limit) < limit else []


def _find_tcp(curve: MedianCurve) -> list[int]:
    if curve.more_is_better:
        return curve.list_slow_sizes(MIN_FAST_BANDWIDTH)
    small = curve.select_points(1, KIB)
    least, most = TCP_LATENCY
    return (
        [size for size, _ in small]
        if small and all(least <= value <= most for _, value in small)
        else []
    )


def _find_device_copy(curve: MedianCurve) -> list[int]:
    small, after, last = curve.select_points(1, 128), curve.values.get(256), curve.values.get(128)
    if len(small) < 3 or not after or not last:
        return []
    if curve.more_is_better:
        slow = after / last >= DROP_BANDWIDTH
    else:
        # Use the shortest time, because RCCL over sockets has single slow values.
        slow = min(value for _, value in small) / after >= DROP_LATENCY
    return [size for size, _ in small] if slow else []


def _find_dip(curve: MedianCurve) -> list[int]:
    before, dip = curve.values.get(4 * KIB), curve.values.get(8 * KIB)
    after = curve.select_points(32 * KIB, 1 << 40)
    if not (before and dip and after):
        return []
    points = curve.select_points(8 * KIB, 16 * KIB)
    if curve.more_is_better:
        is_dip = before / dip >= DIP and max(value for _, value in after) > before
        return [size for size, value in points if is_dip and value < before]
    is_dip = dip / before >= DIP and min(value for _, value in after) < dip / 2
    return [size for size, value in points if is_dip and value > DIP * before]


def _find_early_rendezvous(curve: MedianCurve) -> list[int]:
    first, before, after = (
        curve.values.get(KIB),
        curve.values.get(4 * KIB),
        curve.values.get(8 * KIB),
    )
    if not (first and before and after):
        return []
    least, most = STEP
    is_step = before / first <= FLAT and least <= after / before < most
    return [size for size, _ in curve.select_points(8 * KIB, 16 * KIB)] if is_step else []


def _find_rccl_sockets(curve: MedianCurve) -> list[int]:
    return curve.list_slow_sizes(MIN_RCCL_BANDWIDTH)


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
            text='MPI uses TCP: the best bandwidth is 2 to 6 GB/s, but Slingshot reaches 22 GB/s '
            'or more. Small messages take 12 µs or more, but only 2 to 3 µs over Slingshot. '
            'These values were measured with images that lack the libraries of the fast '
            'network. The published bandwidth of MPICH 3.4.3 is 0.4 GB/s. Such a low '
            'bandwidth may also mean that TCP uses the management network.',
            remedy='The report shows which libraries the ranks loaded (the proof). Set '
            'FI_PROVIDER=cxi: MPI then prints an error with the cause and does not fall back to '
            'TCP. The modules of bind, hybrid, opensource and native set this variable. Use an '
            'image whose MPICH has the device ch4:ofi; MPICH 3.1.4 does not have this device. If '
            'you must use TCP, set FI_TCP_IFACE=hsn0 to send TCP over the fast network. If the '
            'provider is lnx and the bandwidth is 4 to 5 GB/s, the cause is that lnx of libfabric '
            '2.2.0 is slow (ofiwg/libfabric #11392).',
            source=f'{DEIC}. The results of the basic container have the note "Works; fallback to '
            'TCP/IP". The LUMI user guide reports a bandwidth of 2.4 GB/s instead of 12.2 GB/s',
        ),
        BANDWIDTHS | LATENCIES,
        None,
        _find_tcp,
    ),
    TroubleRule(
        Trouble(
            'device-copy',
            'a slow copy of GPU messages of up to 128 B',
            text='Messages of up to 128 B take about 9 µs longer if one side has a GPU buffer, '
            'and 21 µs longer from GPU to GPU. From 256 B on, times are normal. The provider '
            'cxi copies such small messages with the CPU. The provider uses the slow copy '
            'function of ROCm if the variable CXI_FORK_SAFE or CXI_FORK_SAFE_HP is set, even '
            'to 0 or to an empty value. This cause is derived from the source code and was '
            'not tested on LUMI.',
            remedy='Unset both variables inside the container: `unset CXI_FORK_SAFE '
            'CXI_FORK_SAFE_HP`. The modules of this project unset both variables. For RCCL '
            'and Open MPI, it is also enough to set FI_CXI_DISABLE_NON_INJECT_MSG_IDC=1: '
            'with this variable, Open MPI on LUMI needed 2.9 µs. MPICH 4.3.1 or newer '
            'needs this variable and MPIR_CVAR_CH4_OFI_ENABLE_INJECT=0.',
            source=f'{DEIC}. The results of approach opensource show the slow copy. Source code of '
            'libfabric: prov/cxi/src/cxip_msg.c, cxip_info.c. EESSI on LUMI, 2026-05-21',
        ),
        LATENCIES | BANDWIDTHS | RCCL_BANDWIDTHS | RCCL_LATENCIES,
        DEVICE,
        _find_device_copy,
    ),
    TroubleRule(
        Trouble(
            'dip',
            'a dip at 8 KiB',
            text='At 8 KiB the bandwidth falls to a seventh or less. The bandwidth recovers at 16 '
            'or 32 KiB. In 2025, native RCCL and approach bind on LUMI both had this dip. In '
            '2026, the dip appeared if receives were matched in software, and with the '
            'provider lnx. The dip did not appear with the hardware or hybrid matching of '
            'the provider cxi.',
            remedy='Set FI_CXI_RX_MATCH_MODE=hybrid, the value that HPE recommends for RCCL, or '
            'set FI_CXI_RX_MATCH_MODE=hardware. This remedy is untested for the '
            'dip in the runs of 2025, because these runs did not set this variable.',
            source=f'{DEIC}: "weird drop at 8192 for RCCL". {_LUMI_2026}, which contains runs of '
            'osu_xccl_bibw, osu_xccl_latency and osu_bibw D D with each value of '
            'FI_CXI_RX_MATCH_MODE. HewlettPackard/shs-ccl-docs',
        ),
        RCCL_BANDWIDTHS | RCCL_LATENCIES | BANDWIDTHS | LATENCIES,
        frozenset(['D D']),
        _find_dip,
    ),
    TroubleRule(
        Trouble(
            'early-rendezvous',
            'a latency jump at 8 KiB: the rendezvous protocol begins too early',
            text='Messages of 8 KiB take 6.5 µs, but 3.7 µs are possible. Messages of 16 KiB take '
            '7.1 µs, but 4.3 µs are possible. Each message waits for a round trip of the rendezvous protocol, and this '
            'protocol saves time only from 32 KiB on. Older releases of libfabric use the '
            'rendezvous protocol from 2 KiB on. Cray MPICH raises this limit to 16 KiB, but '
            'other MPIs do not. This cause is derived from other facts and was not tested.',
            remedy='With libfabric before 2.4, set FI_CXI_RDZV_THRESHOLD=16384 '
            'FI_CXI_RDZV_EAGER_SIZE=2048. Cray MPICH sets the same values by itself. These '
            'values are untested with other MPIs.',
            source=f'{DEIC}. The latencies of approaches hybrid and opensource show the jump. '
            'Output of MPICH_ENV_DISPLAY of Cray MPICH 8.1.17. Release notes of libfabric 2.4.0',
        ),
        LATENCIES,
        None,
        _find_early_rendezvous,
    ),
    TroubleRule(
        Trouble(
            'rccl-sockets',
            'RCCL without its network plugin',
            text='RCCL found no network plugin and uses sockets: the bandwidth is 3 GB/s, but '
            'RCCL over Slingshot reaches 13 GB/s. In a container that lacks the libraries of '
            'the fast network, the bandwidth is 1.5 GB/s.',
            remedy='Set NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET: RCCL then prints the network '
            'that RCCL uses. Add the folder of librccl-net.so to LD_LIBRARY_PATH of the '
            'run, or set NCCL_NET_PLUGIN to the path of librccl-net.so. Set NCCL_NET="AWS '
            'Libfabric": RCCL then fails and does not fall back to sockets. Use a plugin '
            'that was built with the libfabric of the run or with an older libfabric (with a newer '
            'libfabric, the error is "FABRIC_1.7 not found"). With a loaded plugin, '
            'NCCL_IGNORE_CPU_AFFINITY=1 gave 4 times the bandwidth.',
            source=f'{DEIC}. The results of approach hybrid have the compatibility note "RCCL much '
            'slower (3GBs)". The script for approach hybrid lacks the folder of the plugin',
        ),
        RCCL_BANDWIDTHS | RCCL_LATENCIES,
        None,
        _find_rccl_sockets,
    ),
)


def find_network_provider(dataset: Dataset) -> str | None:
    """
    Return the libfabric provider of the system on which a dataset was measured.

    For a run, the provider is read from the site data, e.g. 'tcp' for a machine without a fast
    network. The result is None if the site is unknown. For published results, the result is always
    'fast', because all published results were measured on fast networks.
    """
    if dataset.kind == 'published':
        return 'fast'
    site = dataset.facts.get('site')
    return resolve_site(site)['provider']['value'] if site in SITES else None


def _is_tcp(approach: str) -> bool:
    """
    Return whether the modules of an approach always set FI_PROVIDER=tcp.

    Approach pure is an example.
    """
    entry: dict[str, Any] = APPROACHES.get(approach, {})
    variables = entry.get('variables', [])
    return any(entry['name'] == 'FI_PROVIDER' and entry['value'] == 'tcp' for entry in variables)


def find_series_troubles(
    series: Series, network: str | None = None
) -> list[tuple[Trouble, list[int]]]:
    """
    Return the known problems of a curve as a list of (problem, message sizes).

    The message sizes, in bytes, are the sizes at which the curve shows the problem.

    network: result of find_network_provider(). If `network` is 'tcp', no rule applies. If `network`
    is None, the network is unknown, and only the shape of the curve decides.
    """
    case = series.case
    if network == 'tcp' or _is_tcp(series.name) or case.nodes == 1 or not series.values:
        return []  # the limits do not hold for shared memory within a node
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
    Return the known problems in datasets as a list of (problem, affected curves).

    The affected curves are a list of (dataset, curve, message sizes). A remedy helps only the
    person who measured a curve. For this reason, published curves are left out if the datasets
    include a run of the user.
    """
    curves: dict[Trouble, list[tuple[Dataset, Series, list[int]]]] = {}
    for dataset in [dataset for dataset in datasets if dataset.kind != 'published'] or datasets:
        network = find_network_provider(dataset)
        for series in dataset.series:
            for trouble, sizes in find_series_troubles(series, network):
                curves.setdefault(trouble, []).append((dataset, series, sizes))
    return list(curves.items())
