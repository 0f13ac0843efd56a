"""
`osu-container bench`: what it plans, what it writes, and what it reports when something is
wrong.
"""

import json
import re
import venv

import pytest

from osu_container.base import exit_codes
from osu_container.bench import BenchError, cases, installed_modules, measure, plan
from osu_container.bench.results import run_files
from osu_container.bench.results.model import SINGLE_VALUE_BENCHMARKS, Case
from osu_container.data.approaches import APPROACHES
from osu_container.data.sites import SITES
from osu_container.verdict import launching
from osu_container.verdict.site_choice import collect_site_conditions, resolve_site
from tests.helpers import bench_stand_in
from tests.helpers.bench_stand_in import add_program_text
from tests.helpers.machine import PROJECT, assert_success, compile_library, run
from tests.runs.test_approaches import MODULES

pytestmark = pytest.mark.system

#: One system of each kind
SOME = ['workstation', 'lumi-25.03', 'lumi-c-25.03', 'alps']


def make_module(approach='native', site='workstation', programs=tuple(cases.BENCHMARKS), osu='9.9'):
    """A module that has all programs."""
    name = 'osu-native/9.9' if approach == 'native' else f'osu-container/{approach}'
    made = installed_modules.Module(name, approach, site, {}, set(programs))
    made.facts = {'image': {'labels': {'org.osu-container.osu': osu}}}
    return made


def find_skip_reason(bench_environment, site, buffers, benchmark='osu_bw'):
    """Why a case of a module is left out (str), None if it is run."""
    runs = plan.plan_tag_runs('published', [bench_environment], resolve_site(site), nodes=2)
    return next(
        run.skip_reason
        for run in runs
        if (run.case.benchmark, run.case.buffers) == (benchmark, buffers)
    )


def make_plan(site, tag='full', nodes=128, approaches=('native', 'hybrid'), **options):
    return plan.plan_tag_runs(
        tag,
        [make_module(one, site) for one in approaches],
        resolve_site(site),
        nodes=nodes,
        **options,
    )


# ---- the plan --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize('site', SOME)
@pytest.mark.parametrize('tag', cases.TAGS)
def test_every_case_of_a_tag_has_a_launch_line(site, tag):
    runs = make_plan(site, tag)
    assert len({run.name for run in runs}) == len(runs), 'names are unique'
    assert any(run.skip_reason is None for run in runs)
    for one in runs:
        words = one.command_line.split()
        assert (
            words[0] == 'srun' and f'-N{one.case.nodes}' in words and f'-n{one.case.ranks}' in words
        )
        assert (
            int(re.search(r'--ntasks-per-node=(\d+)', one.command_line).group(1)) * one.case.nodes
            == one.case.ranks
        )
        assert '--mpi' not in one.command_line and '--network' not in one.command_line, (
            'the module sets them'
        )
        assert plan.deserialize_run(json.loads(json.dumps(one.serialize()))) == one


@pytest.mark.parametrize('site', SOME)
def test_missing_gpu_nodes_or_programs_skip_a_run(site):
    has_gpu, cuda = (
        bool(resolve_site(site)['gpu']['value']),
        collect_site_conditions(resolve_site(site))['cuda'],
    )
    for one in make_plan(site, nodes=4):
        wanted = (
            'D' in one.case.buffers
            and not has_gpu
            or 'M' in one.case.buffers
            and not cuda
            or one.case.nodes > 4
        )
        assert bool(one.skip_reason) == wanted, one
    lacking = plan.plan_tag_runs(
        'quick', [make_module(site=site, programs=['osu_bw'])], resolve_site(site), nodes=2
    )
    assert 'osu_alltoall' in next(
        run.skip_reason for run in lacking if run.case == Case('osu_alltoall', 'H H', 2, 2)
    )


@pytest.mark.parametrize(
    'site', [name for name in SITES if resolve_site(name)['gpu_binding']['value']]
)
def test_ranks_with_device_buffers_are_bound_to_their_gpu(site):
    runs = {run.name: run for run in make_plan(site)}
    entry = resolve_site(site)
    host, device = (
        ' '.join(
            launching.build_launch_command(
                launching.select_launcher(entry),
                2,
                2,
                unbound=unbound,
                step_options=entry['jobs']['value']['step'],
            )
        )
        for unbound in (False, True)
    )
    assert runs['osu_bw-DD-2x1-native'].command_line == f'{device} osu-gpu-bind osu_bw D D'
    assert runs['osu_bw-HH-2x1-native'].command_line == f'{host} osu_bw H H'
    assert runs['osu_alltoall-DD-2x4-hybrid'].command_line.endswith(
        f'osu_alltoall -d {plan.find_accelerator(entry)}'
    )
    assert runs['osu_alltoall-HH-2x4-hybrid'].command_line.endswith('osu_alltoall')
    assert {run.case.ranks for run in runs.values() if run.case.nodes == 128} == {
        128 * len(entry['gpu_binding']['value'])
    }


@pytest.mark.parametrize(
    'gpu, label, runs',
    [
        (False, None, False),
        (False, 'none', False),
        (True, None, True),
        (False, 'ROCm 6.3.4', True),
        (None, 'none', True),
    ],
)
def test_device_buffers_need_an_image_for_gpus(tmp_path, gpu, label, runs):
    """Perlmutter's image has no CUDA: its C programs would ignore `D D` and measure host memory."""
    made = make_module('hybrid', 'perlmutter')
    made.environment = {installed_modules.ROOT_VARIABLE: str(tmp_path)}
    made.facts['image']['labels'].update({'org.osu-container.gpu': label} if label else {})
    (tmp_path / 'facts.json').write_text(json.dumps({'image': {'gpu': gpu}}))
    for benchmark in ('osu_bw', 'osu_alltoall'):
        assert (find_skip_reason(made, 'perlmutter', 'D D', benchmark) is None) == runs
        assert find_skip_reason(made, 'perlmutter', 'H H', benchmark) is None


@pytest.mark.parametrize('needed, runs', [('libmpi.so.12', False), ('libamdhip64.so.6', True)])
def test_device_buffers_need_native_programs_linked_for_gpus(tmp_path, needed, runs):
    made = make_module(site='lumi-25.03')
    made.environment = {installed_modules.ROOT_VARIABLE: str(tmp_path)}
    compile_library(
        tmp_path / 'bin' / 'osu_bw',
        needed=[compile_library(tmp_path / 'lib' / needed, soname=needed)],
    )
    (tmp_path / 'bin' / 'osu_latency').write_text(
        '#!/usr/bin/env python3\n'
    )  # loads what it needs when it runs
    assert (find_skip_reason(made, 'lumi-25.03', 'D D') is None) == runs
    assert (
        find_skip_reason(made, 'lumi-25.03', 'H H')
        is find_skip_reason(made, 'lumi-25.03', 'D D', 'osu_latency')
        is None
    )


def record_failed_run(folder, one, text, code=0):
    """Return the line of results.jsonl (dict) of a run that printed text (str)."""
    (folder / 'a.txt').write_text(text)
    (folder / 'a.err').write_text('')
    return measure.build_measurement(
        one,
        1,
        stdout=folder / 'a.txt',
        stderr=folder / 'a.err',
        code=code,
        proofs=folder / 'none',
        expectation={'comes_from': {}, 'container': False},
        seconds=1.0,
        folder=folder,
        command='x',
    )


HOST_TABLE = '# OSU MPI Bandwidth Test v7.4\n# Datatype: MPI_CHAR.\n# Size      Bandwidth (MB/s)\n4194304     9000.00\n'


def test_host_memory_figures_never_count_as_device_figures(tmp_path):
    device = next(run for run in make_plan('lumi-25.03', 'quick') if run.case.buffers == 'D D')
    found = record_failed_run(tmp_path, device, HOST_TABLE)
    assert found['status'] == 'failed' and 'values' not in found and 'D D' in found['reason']


def test_validated_runs_form_separate_cases(tmp_path):
    checked, plain = (make_plan('lumi-25.03', 'full', check=check) for check in (True, False))
    assert {one.program[1] for one in checked} == {'-c'}, (
        'C programs ignore what follows the buffers'
    )
    assert not {one.case for one in plain} & {one.case for one in checked}, (
        'their figures are never compared'
    )
    skipped = {one.case.benchmark for one in checked if one.skip_reason and '-c' in one.skip_reason}
    assert {'osu_barrier', 'osu_get_bw', 'osu_init', 'osu_bw_fan_in'} <= skipped
    assert not skipped & {'osu_bw', 'osu_mbw_mr', 'osu_iallreduce', 'osu_neighbor_alltoall'}
    python = plan.plan_tag_runs(
        'quick',
        [make_module(osu='7.5.1 Python'), make_module('hybrid')],
        resolve_site('workstation'),
        nodes=2,
        check=True,
    )
    assert {one.module for one in python if one.skip_reason is None} == {'osu-container/hybrid'}
    host = next(
        run for run in checked if (run.case.benchmark, run.case.buffers) == ('osu_bw', 'H H')
    )
    assert '--validate' in record_failed_run(tmp_path, host, HOST_TABLE)['reason']
    wrong = record_failed_run(
        tmp_path, host, HOST_TABLE.replace('9000.00', '9000.00  Fail'), code=1
    )
    assert wrong['status'] == 'failed' and 'values' not in wrong and '4194304' in wrong['reason']


def test_the_tag_full_has_every_benchmark_with_its_unit():
    found = [run.case for run in make_plan('lumi-25.03')]
    assert {case.benchmark for case in found} == set(cases.BENCHMARKS) and len(
        cases.BENCHMARKS
    ) == 86
    assert {case.unit for case in found if re.search('bw|mbw', case.benchmark)} == {'MB/s'}
    assert {case.benchmark for case in found} & SINGLE_VALUE_BENCHMARKS == {
        'osu_init',
        'osu_barrier',
        'osu_ibarrier',
        'osu_barrier_persistent',
    }
    assert min(case.ranks for case in found if 'neighbor' in case.benchmark) == 8
    assert min(case.nodes for case in found if '_fan_' in case.benchmark) == 2


def test_each_repeat_begins_with_another_module():
    runs = make_plan('workstation', 'demo', approaches=('native', 'pure', 'hybrid'))
    first, second = plan.rotate_runs(runs, 1), plan.rotate_runs(runs, 2)
    assert [run.series for run in first[:3]] == ['native', 'pure', 'hybrid']
    assert [run.series for run in second[:3]] == ['pure', 'hybrid', 'native']
    assert [run.case for run in first] == [run.case for run in second] and set(first) == set(second)


@pytest.mark.parametrize(
    'patterns, count', [(['osu_bw'], 4), (['*-HH-2x1-native'], 3), (['hybrid', 'native'], 10)]
)
def test_patterns_choose_runs_by_name(patterns, count):
    assert len(make_plan('workstation', 'quick', patterns=patterns)) == count


def test_ports_of_the_demo_take_turns(monkeypatch):
    programs = [' '.join(run.program) for run in make_plan('workstation', 'demo')]
    assert not any('--turn' in program for program in programs), 'the C programs have no turns'
    monkeypatch.setattr(installed_modules.Module, 'has_ports', True)
    runs = make_plan('workstation', 'demo')
    turns = [run.program[run.program.index('--turn') + 1] for run in runs]
    assert turns == ['0:2', '1:2'] and all(run.takes_turns for run in runs)


@pytest.mark.parametrize(
    'row, read',
    [('1   88.61   9.29', '1   9.29'), ('1   88.61   Pass   9.29', '1   9.29   Pass ')],
)
def test_percentile_replaces_the_mean(row, read):
    text = '# Size   Latency (us)   P5 Tail Lat(us)\n{}\n'
    assert measure.replace_mean(text.format(row)).split() == text.format(read).split()


def test_series_are_named_by_approach_or_version():
    found = [
        make_module(),
        make_module('hybrid', 'lumi-25.03'),
        make_module('hybrid', 'lumi-25.03'),
    ]
    found[2].name = 'osu-container/hybrid-c'
    assert list(plan.name_series(found).values()) == ['native', 'hybrid', 'hybrid-c']
    with pytest.raises(BenchError, match='workstation.*lumi-25.03.*--module'):
        installed_modules.resolve_common_site(found)


# ---- running ---------------------------------------------------------------------------------------------------------

ARGUMENTS = ('--tag', 'quick', '--module', 'osu-native/1', '--module', 'osu-native/2')
#: Patterns of two benchmarks of the tag, in host memory
TWO = ('osu_bw-HH', 'osu_latency-HH')


def read_measurements(folder):
    """The measurement lines of a run."""
    return [
        entry for _, entry in run_files.read_entries(folder)[0] if entry['kind'] == 'measurement'
    ]


def read_calls(root, name='srun.calls'):
    path = root / name
    return path.read_text().splitlines() if path.exists() else []


def test_run_stores_output_proof_and_repeat_command(bench, tmp_path):
    folder = tmp_path / 'run'
    done = bench(*ARGUMENTS, '--repeats', '2', '-o', folder, *TWO)
    assert_success(done)
    assert re.search(r'\b8 [^\d\n]+ 0 [^\d\n]+ 0 ', done.stdout)
    assert read_calls(bench.root, 'salloc.calls')[0].startswith('-N2 -n2 --time=')
    found = run_files.read_results(folder)
    assert found.problems == [] and found.names == ['1', '2'] and len(found.series) == 4
    assert {one.repeats for one in found.series} == {2}
    assert (
        found.select_series(Case('osu_bw', 'H H', 2, 2), '1')[0].compute_medians()[4194304]
        == 2097153.0
    )
    header = found.facts
    assert (
        header['site'] == 'workstation'
        and header['tag'] == 'quick'
        and header['slurm']['job'] == '7'
    )
    assert header['slurm']['nodes'] == ['node1', 'node2']
    assert header['versions']['reframe'] and header['machine']['cores'] and header['ended']
    assert set(header['inputs']) >= {'module osu-native/1', 'module osu-native/2'}
    assert 'setenv("FI_PROVIDER", "tcp")' in found.modules['osu-native/1']['module_file']['text']
    assert found.modules['osu-native/1']['network'] == {'netmod': 'ofi', 'provider': 'tcp'}
    page = (PROJECT / 'docs' / 'benchmarks.md').read_text()
    for _, entry in run_files.read_entries(folder)[0]:
        for key in (
            *entry,
            *entry.get('case', ()),
            *(entry.get('proof') or [{}])[0],
            *(entry.get('slurm') or ()),
        ):
            assert f'`{key}`' in page, f"{entry['kind']}: {key}"
    lines = read_measurements(folder)
    assert [(one['approach'], one['case']['benchmark'], one['repeat']) for one in lines] == [
        ('1', 'osu_bw', 1),
        ('2', 'osu_bw', 1),
        ('1', 'osu_latency', 1),
        ('2', 'osu_latency', 1),
        ('2', 'osu_bw', 2),
        ('1', 'osu_bw', 2),
        ('2', 'osu_latency', 2),
        ('1', 'osu_latency', 2),
    ]
    for one in lines:
        assert (folder / one['raw']).read_text().startswith('# osu_')
        (rank,) = one['proof']
        assert rank['ranks'] == [0, 1] and rank['nodes'] == ['node1', 'node2']
        assert (
            rank['libraries']['libmpi']['release'] == '5.0.2'
            and rank['variables']['FI_PROVIDER'] == 'tcp'
        )
    assert lines[0]['typed'] == 'srun -N2 -n2 --ntasks-per-node=1 osu_bw -m 4194304 H H'
    assert lines[0]['command'].startswith(
        'module load osu-native/1; srun -N2 -n2 --ntasks-per-node=1 '
    )


def test_a_dry_run_prints_launch_lines_and_leaves_nothing(bench):
    done = bench('--dry-run', '--tag', 'quick')
    assert done.returncode == 0 and 'salloc -N2 ' in done.stdout
    assert re.search(
        'srun -N2 -n2 --ntasks-per-node=1 osu_bw -m 4194304 H H\n.*osu-native/2', done.stdout
    )
    assert re.search('workstation.*GPU', done.stdout)
    assert (
        not bench.results.exists()
        and read_calls(bench.root) == read_calls(bench.root, 'salloc.calls') == []
    )


def test_missing_package_is_named_and_help_needs_no_package(bench, tmp_path):
    """In a Python that has none: before Slurm is asked for a job, and without a traceback."""
    venv.create(tmp_path / 'bare', symlinks=True)
    bare = {'OSU_CONTAINER_PYTHON': tmp_path / 'bare/bin/python'}
    for package, name, *arguments in (
        ('ClusterShell', 'bench'),
        ('numpy', 'compare', 'lumi-g-2025-03:opensource'),
    ):
        words = [PROJECT / 'scripts/osu-container', name]
        done = run(
            [*words, *arguments], env={**bench_stand_in.make_environment(bench.root), **bare}
        )
        assert (done.returncode, done.stdout) == (exit_codes.PACKAGE_MISSING, '')
        assert (
            package in done.stderr
            and f"{bare['OSU_CONTAINER_PYTHON']} -m pip install -r" in done.stderr
        )
        assert (
            run(
                [*words, '--help'], env={**bench_stand_in.make_environment(bench.root), **bare}
            ).returncode
            == 0
        )
    assert read_calls(bench.root, 'salloc.calls') == []


def test_a_failed_run_is_recorded_with_its_reason(bench, tmp_path):
    """
    One module does not start, one lacks a symbol version, one prints no table; other runs go on.
    """
    broken = bench_stand_in.make_native(bench.root, '3')
    add_program_text(bench.root, '1', 'osu_bw', "print('1   nan'); stay(); sys.exit()")
    add_program_text(
        bench.root,
        '2',
        'osu_bw',
        "sys.exit(\"osu_bw: /lib/libfabric.so.1: version `FABRIC_1.7' not found "
        "(required by libmpi.so.12)\")",
    )
    try:
        program = bench.root / 'software' / 'osu-native' / '3' / 'bin' / 'osu_latency'
        program.write_text('#!/bin/sh\necho "cxip_gen_auth_key failed: -38" >&2\nexit 1\n')
        done = bench(
            *ARGUMENTS, '--module', 'osu-native/3', '--repeats', '1', '-o', tmp_path / 'run', *TWO
        )
    finally:
        broken.unlink()
    assert done.returncode == 1 and re.search(r'\b2 [^\d\n]+ 4 [^\d\n]+ 0 ', done.stdout)
    found = run_files.read_results(tmp_path / 'run')
    assert [(one.name, one.case.benchmark) for one in found.series] == [
        ('1', 'osu_latency'),
        ('2', 'osu_latency'),
    ]
    reasons = {(one.name, one.case.benchmark): one.reason for one in found.failures}
    assert re.search('osu_bw.*nan', reasons['1', 'osu_bw']) and re.search(
        r'\b1\b.*libfabric', reasons['2', 'osu_bw']
    )
    assert (
        found.modules['osu-native/3']['problem']
        == reasons['3', 'osu_bw']
        == reasons['3', 'osu_latency']
    )
    (log,) = (one.log for one in found.failures if one.name == '2')
    assert "FABRIC_1.7' not found" in (tmp_path / 'run' / log).read_text()


def test_hanging_user_command_is_terminated(bench, tmp_path):
    add_program_text(bench.root, '1', 'osu_bw', 'time.sleep(300)')
    done = bench(
        *ARGUMENTS[2:],
        '--run',
        'osu_bw -m 8',
        '--figure',
        r'^8 +(\S+)',
        '--unit',
        'MB/s',
        '--more-is-better',
        '--limit',
        '12',
        '--repeats',
        '1',
        '-o',
        tmp_path / 'run',
    )
    assert done.returncode == 1, done.stdout + done.stderr
    found = run_files.read_results(tmp_path / 'run')
    (failure,) = found.failures
    assert failure.name == '1' and 'time' in failure.reason
    (series,) = found.series
    assert (series.name, series.values, series.case.unit, series.case.more_is_better) == (
        '2',
        {0: {1: 5.0}},
        'MB/s',
        True,
    )


def test_unexpected_library_is_a_failure(bench, tmp_path):
    run_, folder = make_plan('workstation', 'quick', approaches=('native',))[0], tmp_path
    raw, errors = folder / 'a.txt', folder / 'a.err'
    raw.write_text('# OSU MPI Bandwidth Test v7.5\n4194304 10.0\n')
    errors.write_text('')
    proofs = folder / 'proof'
    env = {
        **bench_stand_in.make_environment(bench.root),
        'LIBMPI': str(bench.root / 'software/osu-native/1/lib/libmpi.so.12'),
        'MODULE': '1',
    }
    done = run(
        [
            bench.root / 'bin' / 'srun',
            PROJECT / 'scripts' / 'rank-proof',
            proofs,
            bench.root / 'software/osu-native/1/bin/osu_bw',
        ],
        env=env,
    )
    assert_success(done)

    def line(libmpi):
        promise = {'comes_from': {'libmpi': libmpi, 'libfabric': 'host'}, 'container': False}
        return measure.build_measurement(
            run_,
            1,
            stdout=raw,
            stderr=errors,
            code=0,
            proofs=proofs,
            expectation=promise,
            seconds=1.0,
            folder=folder,
            command='x',
        )

    assert line('host')['status'] == 'ok' and line('host')['values'] == {'4194304': 10.0}
    wrong = line('image')
    assert (
        wrong['status'] == 'failed'
        and 'values' not in wrong
        and re.search('libmpi.*host.*image', wrong['reason'])
    )


@pytest.mark.parametrize(
    'arguments, variables, named',
    [
        (['--module', 'osu-container/hybrid'], {}, 'module load osu-container/hybrid'),
        ([], {'MODULEPATH': '/nonexistent'}, 'MODULEPATH'),
        (['--', 'osu_bw', 'osu_nothing'], {}, 'osu_nothing'),
        (['--nodes', '1', '--tag', 'demo'], {}, '--nodes'),
        ([*ARGUMENTS, '-o', PROJECT / 'docs'], {}, f'{PROJECT}/docs'),
    ],
)
def test_impossible_runs_are_named(bench, arguments, variables, named):
    done = bench(*arguments, **variables)
    assert done.returncode == 1 and named in done.stderr and 'Traceback' not in done.stderr
    assert not bench.results.exists() and read_calls(bench.root, 'salloc.calls') == []


# ---- over the private Slurm with the real modules ------------------------------------------------------------------

#: Native, and another MPI in a container; bench does the same with the others
NAMES = ['native', 'openmpi']


@pytest.fixture(scope='module')
def finished_run(shell, tmp_path_factory):
    """(CompletedProcess, Dataset) of one repeat of osu_alltoall with the modules of NAMES."""
    folder = tmp_path_factory.mktemp('bench') / 'run'
    modules = ' '.join(f'--module {MODULES[name]}' for name in NAMES)
    done = shell(
        f'{PROJECT}/scripts/osu-container bench --tag quick --repeats 1 {modules} -o {folder} osu_alltoall',
        timeout=600,
    )
    assert_success(done)
    return done, run_files.read_results(folder)


def test_modules_are_measured_in_one_job(finished_run):
    text, run = finished_run[0].stdout, finished_run[1]
    assert run.names == NAMES and run.problems == []
    assert [one for one in run.failures if not one.is_skipped] == []
    assert f'{len(NAMES)} measured, 0 failed' in text
    entries = [
        entry for _, entry in run_files.read_entries(run.path)[0] if entry['kind'] == 'measurement'
    ]
    jobs = {
        (entry['slurm']['job'], *entry['slurm']['nodes'])
        for entry in entries
        if entry['status'] == 'ok'
    }
    assert len(jobs) == 1 and jobs.pop()[1:] == ('node1', 'node2')
    assert (
        run.facts['versions']['slurm'].startswith('slurm')
        and 'apptainer' in run.facts['versions']['runtime']
    )


@pytest.mark.parametrize('approach', NAMES)
def test_every_rank_records_its_loaded_libraries(finished_run, approach):
    for one in finished_run[1].select_series(name=approach):
        (ranks,) = one.facts['proofs'][0]
        assert ranks['ranks'] == [0, 1] and ranks['nodes'] == ['node1', 'node2']
        for name, owner in APPROACHES[approach]['comes_from'].items():
            assert ranks['libraries'][name]['where'] == owner
        assert one.compute_medians()[16384] > 0
    module = next(
        entry for entry in finished_run[1].modules.values() if entry['approach'] == approach
    )
    # MPICH says both; of another MPI the proof of the ranks tells the provider
    assert module['network']['provider'] == 'tcp'
    assert (module['network']['netmod'] is None) == (approach == 'openmpi')
    assert bool(module['image']) == APPROACHES[approach]['container']
