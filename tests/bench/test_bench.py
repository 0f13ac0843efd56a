"""`osu-container bench`: what it plans, what it writes, how it goes on, and what it says when something is wrong."""
import json
import os
import re
import venv

import pytest

from osu_container import exit_codes
from osu_container.bench import BenchError, cases, installed_modules, measure, plan, reframe_settings
from osu_container.cli import REQUIREMENTS
from osu_container.core.data.sites import SITES
from osu_container.core.deciding import launching
from osu_container.core.deciding.site_choice import site_entry, site_words
from osu_container.results import run_files
from osu_container.results.model import Case, has_sizes
from tests.bench.conftest import PYTHON
from tests.helpers import bench_stand_in
from tests.helpers.bench_stand_in import special
from tests.helpers.machine import PROJECT, compile_library, run
from tests.proof.test_loaded import compile_libfabric, compile_mpich

pytestmark = [pytest.mark.long, pytest.mark.alone]

#: One system of each kind
SOME = ['workstation', 'lumi-25.03', 'lumi-c-25.03', 'alps']
GPU_SITES = [name for name in SITES if site_entry(name)['gpu_binding']['value']]


def module(approach='native', site='workstation', programs=tuple(cases.BENCHMARKS), osu='9.9'):
    """A module that has all programs."""
    name = 'osu-native/9.9' if approach == 'native' else f'osu-container/{approach}'
    made = installed_modules.Module(name, approach, site, {}, set(programs))
    made.facts = {'image': {'labels': {'org.osu-container.osu': osu}}}
    return made


def installed(tmp_path, approach, site, gpu=None, label=None, needed=None):
    """A module with an installation: facts of its image (gpu), the image's label, or what its programs need."""
    made = module(approach, site)
    made.environment = {installed_modules.ROOT: str(tmp_path)}
    made.facts['image']['labels'].update({'org.osu-container.gpu': label} if label else {})
    if gpu is not None:
        (tmp_path / 'facts.json').write_text(json.dumps({'image': {'gpu': gpu}}))
    if needed is not None:
        compile_library(tmp_path / 'bin' / 'osu_bw', needed=[
            compile_library(tmp_path / 'lib' / needed, soname=needed)])
    return made


def planned(made, site, buffers, benchmark='osu_bw'):
    """Why a case of a module is left out (str), None if it is run."""
    runs = plan.make('published', [made], site_entry(site), nodes=2)
    return next(run.skip for run in runs if (run.case.benchmark, run.case.buffers) == (benchmark, buffers))


def make_plan(site, tag='full', nodes=128, approaches=('native', 'hybrid'), **options):
    return plan.make(tag, [module(one, site) for one in approaches], site_entry(site), nodes=nodes, **options)


# ---- the plan --------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize('site', SOME)
@pytest.mark.parametrize('tag', cases.TAGS)
def test_every_tag_has_an_srun_line_for_every_case_on_every_site(site, tag):
    runs = make_plan(site, tag)
    assert len({run.name for run in runs}) == len(runs), 'names are unique'
    assert any(run.skip is None for run in runs)
    for one in runs:
        words = one.typed.split()
        assert words[0] == 'srun' and f'-N{one.case.nodes}' in words and f'-n{one.case.ranks}' in words
        assert int(re.search(r'--ntasks-per-node=(\d+)', one.typed).group(1)) * one.case.nodes == one.case.ranks
        assert '--mpi' not in one.typed and '--network' not in one.typed, 'the module sets them'
        assert plan.from_entry(json.loads(json.dumps(one.entry()))) == one


@pytest.mark.parametrize('site', SOME)
def test_what_is_left_out_says_why(site):
    has_gpu = bool(site_entry(site)['gpu']['value'])
    for one in make_plan(site):
        if 'D' in one.case.buffers and not has_gpu:
            assert one.skip == f'site {site} has no GPU for buffers {one.case.buffers}'
        elif 'M' in one.case.buffers and not site_words(site_entry(site))['cuda']:
            assert one.skip.startswith("managed memory (M M) is CUDA's")
        else:
            assert one.skip is None
    skipped = {run.skip for run in make_plan(site, nodes=4)
               if run.case.nodes > 4 and run.case.buffers == 'H H'}
    assert skipped and all(re.fullmatch(r'wants \d+ nodes, the job has 4 \(--nodes\)', text) for text in skipped)
    lacking = plan.make('quick', [module(site=site, programs=['osu_bw'])], site_entry(site), nodes=2)
    assert {run.skip for run in lacking if run.case == Case('osu_alltoall', 'H H', 2, 2)} == {
        'the module has no osu_alltoall'}


@pytest.mark.parametrize('site', GPU_SITES)
def test_device_buffers_are_bound_to_their_gpu_and_collectives_name_the_accelerator(site):
    runs = {run.name: run for run in make_plan(site)}
    entry = site_entry(site)
    host, device = (' '.join(launching.typed(launching.launcher_name(entry), 2, 2, unbound=unbound,
                                             step=entry['jobs']['value']['step'])) for unbound in (False, True))
    assert runs['osu_bw-DD-2x1-native'].typed == f'{device} osu-gpu-bind osu_bw D D'
    assert runs['osu_bw-HH-2x1-native'].typed == f'{host} osu_bw H H'
    assert runs['osu_alltoall-DD-2x4-hybrid'].typed.endswith(f'osu_alltoall -d {plan.accelerator(entry)}')
    assert runs['osu_alltoall-HH-2x4-hybrid'].typed.endswith('osu_alltoall')
    per_node = len(entry['gpu_binding']['value'])
    assert {run.case.ranks for run in runs.values() if run.case.nodes == 128} == {128 * per_node}


#: What `make install` of OSU 7.4 puts below libexec/osu-micro-benchmarks/mpi, with MPI 4: 77 programs
OSU_74 = """
bw bibw latency latency_mp latency_mt mbw_mr multi_lat
bw_persistent bibw_persistent latency_persistent
bw_fan_in bw_fan_out
hello init
acc_latency cas_latency fop_latency get_acc_latency get_bw get_latency put_bibw put_bw put_latency
allgather allgatherv allreduce alltoall alltoallv alltoallw barrier bcast gather gatherv reduce reduce_scatter
reduce_scatter_block scatter scatterv
iallgather iallgatherv iallreduce ialltoall ialltoallv ialltoallw ibarrier ibcast igather igatherv ireduce
ireduce_scatter ireduce_scatter_block iscatter iscatterv
neighbor_allgather neighbor_allgatherv neighbor_alltoall neighbor_alltoallv neighbor_alltoallw
ineighbor_allgather ineighbor_allgatherv ineighbor_alltoall ineighbor_alltoallv ineighbor_alltoallw
allgather_persistent allgatherv_persistent allreduce_persistent alltoall_persistent alltoallv_persistent
alltoallw_persistent barrier_persistent bcast_persistent gather_persistent gatherv_persistent reduce_persistent
reduce_scatter_persistent scatter_persistent scatterv_persistent
"""


@pytest.mark.parametrize('site', ['perlmutter', 'lumi-25.03', 'alps'])
@pytest.mark.parametrize('gpu, label, runs', [
    (False, None, False), (False, 'none', False), (True, 'none', True), (True, None, True),
    (False, 'ROCm 6.3.4', True), (None, 'none', True)])
def test_device_buffers_are_planned_for_images_that_hold_something_for_gpus(tmp_path, site, gpu, label, runs):
    """Perlmutter's image has no CUDA: its C programs would ignore `D D` and measure host memory."""
    made = installed(tmp_path, 'hybrid', site, gpu, label)
    said = None if runs else ('the image of osu-container/hybrid has neither ROCm nor CUDA: its programs can use host '
                              'memory only')
    assert {planned(made, site, buffers) for buffers in ('H D', 'D D')} == {said}
    assert planned(made, site, 'D D', 'osu_alltoall') == said
    assert planned(made, site, 'H H') is None and planned(made, site, 'H H', 'osu_alltoall') is None


@pytest.mark.parametrize('needed, runs', [('libmpi.so.12', False), ('libamdhip64.so.6', True), ('libcuda.so.1', True)])
def test_device_buffers_are_planned_for_native_programs_that_are_linked_for_gpus(tmp_path, needed, runs):
    made = installed(tmp_path, 'native', 'lumi-25.03', needed=needed)
    said = planned(made, 'lumi-25.03', 'D D')
    assert (said is None) if runs else said.startswith('osu_bw of osu-native/9.9 is linked with no library of GPUs')
    assert planned(made, 'lumi-25.03', 'H H') is None
    port = tmp_path / 'bin' / 'osu_latency'  # it loads what it needs when it runs
    port.write_text('#!/usr/bin/env python3\n')
    assert planned(made, 'lumi-25.03', 'D D', 'osu_latency') is None


def failed_line(folder, one, text, code=0):
    """Return the line of results.jsonl (dict) of a run that printed text (str)."""
    (folder / 'a.txt').write_text(text)
    (folder / 'a.err').write_text('')
    return measure.line(one, 1, stdout=folder / 'a.txt', stderr=folder / 'a.err', code=code, proofs=folder / 'none',
                        promise={'comes_from': {}, 'container': False}, seconds=1.0, folder=folder, command='x')


HOST_TABLE = '# OSU MPI Bandwidth Test v7.4\n# Datatype: MPI_CHAR.\n# Size      Bandwidth (MB/s)\n4194304     9000.00\n'


def test_numbers_of_host_memory_are_never_recorded_as_those_of_device_memory(tmp_path):
    device = next(run for run in make_plan('lumi-25.03', 'quick') if run.case.buffers == 'D D')
    found = failed_line(tmp_path, device, HOST_TABLE)
    assert found['status'] == 'failed' and 'values' not in found
    assert 'a.txt: buffers D D were asked for, and osu_bw does not say so' in found['reason']


def test_on_request_the_programs_check_their_data(tmp_path):
    checked = make_plan('lumi-25.03', 'full', check=True)
    for one in checked:
        assert one.check and one.case.variant == plan.CHECKED
        assert one.program[1] == '-c', 'a C program takes no notice of what stands behind the buffers'
        assert plan.from_entry(json.loads(json.dumps(one.entry()))) == one
    unable = {one.case.benchmark for one in checked
              if one.skip == f'{one.case.benchmark} cannot check its data (it has no -c)'}
    assert {'osu_barrier', 'osu_get_bw', 'osu_init', 'osu_bw_fan_in'} <= unable
    assert not unable & {'osu_bw', 'osu_mbw_mr', 'osu_iallreduce', 'osu_neighbor_alltoall'}
    python = plan.make('quick', [module(osu='7.5.1 Python'), module('hybrid')], site_entry('workstation'), nodes=2,
                       check=True)
    assert {one.skip for one in python if one.module == 'osu-native/9.9' and one.case.buffers == 'H H'} == {
        'the Python benchmarks cannot check their data (they have no -c)'}
    plain = make_plan('lumi-25.03', 'full')
    assert not any('-c' in one.program or one.check or one.case.variant for one in plain)
    assert not {one.case for one in plain} & {one.case for one in checked}, 'their figures are never compared'

    host = next(run for run in checked if (run.case.benchmark, run.case.buffers) == ('osu_bw', 'H H'))
    assert 'was asked to check' in failed_line(tmp_path, host, HOST_TABLE)['reason']
    wrong = failed_line(tmp_path, host, HOST_TABLE.replace('9000.00', '9000.00  Fail'), code=1)
    assert wrong['status'] == 'failed' and 'values' not in wrong
    assert 'exit code 1; a.txt: osu_bw received data that was not sent, at 4194304 bytes' in wrong['reason']


def test_what_native_figures_depend_on_is_the_mpi_that_the_loader_takes(tmp_path):
    """A C program is linked with the host's MPI, which lies elsewhere; only ports have one in their installation."""
    fabric = compile_libfabric(tmp_path / 'host' / 'libfabric.so.1', '1.22.0', (1, 22))
    mpi = compile_mpich(tmp_path / 'host' / 'libmpi.so.12', '4.2.3', needed=[fabric], rpath='$ORIGIN')
    program = compile_library(tmp_path / 'install' / 'bin' / 'osu_bw', needed=[mpi])
    made = module('native')
    made.programs = {'osu_bw'}
    made.environment = {**os.environ, installed_modules.ROOT: str(tmp_path / 'install'),
                        'LD_LIBRARY_PATH': str(tmp_path / 'host')}
    made.facts = {'module_file': None}
    before = made.inputs()
    assert {f'host {mpi}', f'host {fabric}', 'programs of osu-native/9.9'} <= set(before)
    compile_mpich(mpi, '5.0.2', needed=[fabric], rpath='$ORIGIN')
    after = made.inputs()
    assert {name for name in before if before[name] != after[name]} == {f'host {mpi}'}
    with open(program, 'ab') as file:  # built again
        file.write(b'x')
    assert made.inputs()['programs of osu-native/9.9'] != after['programs of osu-native/9.9']


def test_the_tag_full_has_every_program_of_osu_that_prints_a_figure():
    of_74 = {f'osu_{name}' for name in OSU_74.split()}
    assert len(of_74) == 77
    of_75 = {'osu_partitioned_latency'}
    xccl = {name for name, entry in cases.BENCHMARKS.items() if entry.get('library') == 'xccl'}
    assert of_74 | of_75 == set(cases.BENCHMARKS) - xccl | set(cases.NOT_RUN) and all(cases.NOT_RUN.values())
    found = [run.case for run in make_plan('lumi-25.03')]
    assert {case.benchmark for case in found} == set(cases.BENCHMARKS)
    assert {case.unit for case in found if re.search('bw|mbw', case.benchmark)} == {'MB/s'}
    assert {case.benchmark for case in found if not has_sizes(case.benchmark)} == {
        'osu_init', 'osu_barrier', 'osu_ibarrier', 'osu_barrier_persistent'}
    assert min(case.ranks for case in found if 'neighbor' in case.benchmark) == 8
    assert min(case.nodes for case in found if '_fan_' in case.benchmark) == 2


def test_modules_take_turns_within_a_case_and_each_repeat_begins_with_another():
    runs = make_plan('workstation', 'demo', approaches=('native', 'pure', 'hybrid'))
    first, second = plan.rotated(runs, 1), plan.rotated(runs, 2)
    assert [run.series for run in first[:3]] == ['native', 'pure', 'hybrid']
    assert [run.series for run in second[:3]] == ['pure', 'hybrid', 'native']
    assert [run.case for run in first] == [run.case for run in second]
    assert sorted(run.name for run in first) == sorted(run.name for run in second)


@pytest.mark.parametrize('patterns, count', [(['osu_bw'], 2), (['*-HH-2x1-native'], 2), (['hybrid', 'native'], 4),
                                             (['osu_latency-HH'], 2)])
def test_patterns_choose_runs_by_name(patterns, count):
    assert len(make_plan('workstation', 'demo', patterns=patterns)) == count


def test_two_modules_of_one_approach_have_the_names_of_their_versions():
    found = [module('hybrid', 'lumi-25.03') for name in ('hybrid', 'hybrid-c')]
    found[1].name = 'osu-container/hybrid-c'
    assert plan.series_names([module(), *found]) == {
        'osu-native/9.9': 'native', 'osu-container/hybrid': 'hybrid', 'osu-container/hybrid-c': 'hybrid-c'}


def test_modules_of_two_sites_are_refused():
    with pytest.raises(BenchError, match='several sites, whose figures do not compare'):
        installed_modules.site_of([module(), module('hybrid', 'lumi-25.03')])


# ---- ReFrame's settings ----------------------------------------------------------------------------------------------

def test_reframe_takes_the_settings(tmp_path):
    site = site_entry('lumi-25.03')
    reframe_settings.write(tmp_path / 'settings.py', site)
    done = run([PYTHON, '-c', 'import sys; from reframe.frontend.cli import main; sys.exit(main())', '-C',
                tmp_path / 'settings.py', f'--system={reframe_settings.system_name(site)}',
                '--show-config=systems/0/partitions'],
               env={**os.environ, 'LMOD_CMD': '/usr/share/lmod/lmod/libexec/lmod'}, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    wanted = ['--partition=standard-g', '--account=project_1', *site['jobs']['value']['options']]
    assert reframe_settings.job_options(site, account='project_1') == wanted


# ---- running ---------------------------------------------------------------------------------------------------------

ARGUMENTS = ('--tag', 'demo', '--module', 'osu-native/1', '--module', 'osu-native/2')


def measurements(folder):
    """The measurement lines of a run."""
    return [entry for _, entry in run_files.lines(folder)[0] if entry['kind'] == 'measurement']


def calls(root, name='srun.calls'):
    path = root / name
    return path.read_text().splitlines() if path.exists() else []


def test_a_run_keeps_output_proof_and_everything_needed_to_repeat_it(bench, tmp_path):
    folder = tmp_path / 'run'
    done = bench(*ARGUMENTS, '--repeats', '2', '-o', folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert '8 measured, 0 failed, 0 left out' in done.stdout and 'osu-container compare' in done.stdout
    assert calls(bench.root, 'salloc.calls')[0].startswith('-N2 -n2 --time=')
    found = run_files.read(folder)
    assert found.problems == [] and found.names == ['1', '2'] and len(found.series) == 4
    assert {one.repeats for one in found.series} == {2}
    assert found.of(Case('osu_bw', 'H H', 2, 2), '1')[0].median(4194304) == 2097153.0
    header = found.facts
    assert header['site'] == 'workstation' and header['tag'] == 'demo' and header['slurm']['job'] == '7'
    assert header['slurm']['nodes'] == ['node1', 'node2']
    assert header['versions']['reframe'] and header['machine']['cores'] and header['ended']
    assert set(header['inputs']) >= {'module osu-native/1', 'module osu-native/2'}
    assert 'setenv("FI_PROVIDER", "tcp")' in found.modules['osu-native/1']['module_file']['text']
    assert found.modules['osu-native/1']['network'] == {'netmod': 'ofi', 'provider': 'tcp'}
    page = (PROJECT / 'docs' / 'benchmarks.md').read_text()
    for _, entry in run_files.lines(folder)[0]:
        for key in (*entry, *entry.get('case', ()), *(entry.get('proof') or [{}])[0], *(entry.get('slurm') or ())):
            assert f'`{key}`' in page, f"{entry['kind']}: {key}"
    lines = measurements(folder)
    assert [(one['approach'], one['case']['benchmark'], one['repeat']) for one in lines] == [
        ('1', 'osu_bw', 1), ('2', 'osu_bw', 1), ('1', 'osu_latency', 1), ('2', 'osu_latency', 1),
        ('2', 'osu_bw', 2), ('1', 'osu_bw', 2), ('2', 'osu_latency', 2), ('1', 'osu_latency', 2)]
    for one in lines:
        assert (folder / one['raw']).read_text().startswith('# osu_')
        rank, = one['proof']
        assert rank['ranks'] == [0, 1] and rank['nodes'] == ['node1', 'node2']
        assert rank['libraries']['libmpi']['release'] == '5.0.2' and rank['variables']['FI_PROVIDER'] == 'tcp'
    assert lines[0]['typed'] == 'srun -N2 -n2 --ntasks-per-node=1 osu_bw -m 4194304 -i 10 -x 1 H H'
    assert lines[0]['command'].startswith('module load osu-native/1; srun -N2 -n2 --ntasks-per-node=1 ')


def test_a_dry_run_shows_the_srun_lines_and_leaves_nothing(bench):
    done = bench('--dry-run', '--tag', 'quick')
    assert done.returncode == 0
    assert 'srun -N2 -n2 --ntasks-per-node=1 osu_bw -m 4194304 H H\n    with osu-native/2' in done.stdout
    assert 'left out:\n  site workstation has no GPU for buffers D D' in done.stdout
    assert 'job:  salloc -N2 ' in done.stdout
    plan = json.loads(bench('--dry-run', '--tag', 'quick', '--json').stdout)
    assert plan['tag'] == 'quick' and plan['job'][0] == 'salloc' and len(plan['left']) > len(plan['left_out']) > 0
    assert {one['module'] for one in plan['left']} == {'osu-native/2'}, 'the one that Lmod loads by default'
    assert bench('--json').returncode == 2, 'a run has results'
    assert not bench.results.exists() and calls(bench.root) == calls(bench.root, 'salloc.calls') == []


def test_a_package_that_is_missing_is_named_at_once_and_the_help_needs_none(bench, tmp_path):
    """In a Python that has none: before Slurm is asked for a job, and without a traceback."""
    venv.create(tmp_path / 'bare', symlinks=True)
    bare = {'OSU_CONTAINER_PYTHON': tmp_path / 'bare/bin/python'}
    for package, name, *arguments in (('ClusterShell', 'bench'), ('numpy', 'compare', 'lumi-g-2025-03:opensource'),
                                      ('numpy', 'report', '--published', '-o', tmp_path / 'page.html')):
        words = [PROJECT / 'bin/osu-container', name]
        done = run([*words, *arguments], env={**bench_stand_in.environment(bench.root), **bare})
        assert (done.returncode, done.stdout) == (exit_codes.MISSING, '')
        assert done.stderr == (f"osu-container {name}: error: the Python package {package} is missing; to have it "
                               f"type: {bare['OSU_CONTAINER_PYTHON']} -m pip install -r {PROJECT / REQUIREMENTS}"
                               "\n")
        done = run([*words, '--help'], env={**os.environ, **bare})
        assert (done.returncode, done.stderr) == (0, '') and done.stdout.startswith(f'usage: osu-container {name} ')
    assert calls(bench.root, 'salloc.calls') == []


def test_a_failing_case_is_recorded_with_its_reason_and_the_rest_go_on(bench, tmp_path):
    special(bench.root, '2', 'osu_bw', "sys.exit(\"osu_bw: /lib/libfabric.so.1: version `FABRIC_1.7' not found "
            "(required by libmpi.so.12)\")")
    done = bench(*ARGUMENTS, '--repeats', '1', '-o', tmp_path / 'run')
    assert done.returncode == 1
    assert '3 measured, 1 failed' in done.stdout and "failed: 2 osu_bw H H, two nodes" in done.stdout
    failure, = run_files.read(tmp_path / 'run').failures
    assert failure.reason.startswith('exit code 1') and 'libfabric' in failure.reason
    assert "FABRIC_1.7' not found" in (tmp_path / 'run' / failure.log).read_text()


@pytest.mark.parametrize('text, says', [
    pytest.param('size //= 2', 'the table of osu_bw ends at 2097152 bytes, wanted 4194304', marks=pytest.mark.full),
    ('sys.exit(0)', 'no number from osu_bw in 0 line(s)'),
    pytest.param("os.environ['SLURM_PROCID'] = '0'", 'Did every rank run alone', marks=pytest.mark.full),
    ("print('1   nan') if os.environ['SLURM_PROCID'] == '0' else 0; stay(); sys.exit()",
     'no number from osu_bw'),
])
def test_output_that_is_no_table_is_a_failure_with_its_reason(bench, tmp_path, text, says):
    special(bench.root, '1', 'osu_bw', text)
    done = bench(*ARGUMENTS, '--repeats', '1', '-o', tmp_path / 'run', '--', 'osu_bw')
    assert done.returncode == 1
    failure, = run_files.read(tmp_path / 'run').failures
    assert says in failure.reason


def test_a_run_that_hangs_is_ended_and_recorded(bench, tmp_path, monkeypatch):
    special(bench.root, '1', 'osu_bw', 'time.sleep(300)')
    limited = (PROJECT / 'osu_container/bench/cases.py').read_text().replace('TIME_LIMIT = 600', 'TIME_LIMIT = 4')
    assert 'TIME_LIMIT = 4' in limited
    copy = tmp_path / 'copy'
    run(['cp', '-r', PROJECT / 'osu_container', PROJECT / 'easyblocks', PROJECT / 'bin', copy.mkdir() or copy])
    (copy / 'osu_container' / 'bench' / 'cases.py').write_text(limited)
    env = bench_stand_in.environment(bench.root)
    done = run([PYTHON, copy / 'bin' / 'osu-container', 'bench', *ARGUMENTS, '--repeats', '1', '-o', tmp_path / 'run',
                '--', 'osu_bw'], env=env)
    assert done.returncode == 1, done.stdout + done.stderr
    failure, = run_files.read(tmp_path / 'run').failures
    assert failure.name == '1' and 'time' in failure.reason
    assert [one.name for one in run_files.read(tmp_path / 'run').series] == ['2']


def test_a_module_that_does_not_start_is_recorded_and_the_others_run(bench, tmp_path):
    broken = bench_stand_in.make_native(bench.root, '3')
    try:
        program = bench.root / 'software' / 'osu-native' / '3' / 'bin' / 'osu_latency'
        program.write_text('#!/bin/sh\necho "cxip_gen_auth_key failed: -38" >&2\nexit 1\n')
        done = bench('--tag', 'demo', '--module', 'osu-native/1', '--module', 'osu-native/3', '--repeats', '2', '-o',
                     tmp_path / 'run')
    finally:
        broken.unlink()
    assert done.returncode == 1 and 'osu-native/3 does not run: exit code 1' in done.stdout
    found = run_files.read(tmp_path / 'run')
    assert [one.name for one in found.series] == ['1', '1'] and len(found.failures) == 4
    assert 'exit code 1' in found.modules['osu-native/3']['problem']


def test_another_library_than_promised_is_a_failure(bench, tmp_path):
    run_, folder = make_plan('workstation', 'demo', approaches=('native',))[0], tmp_path
    raw, errors = folder / 'a.txt', folder / 'a.err'
    raw.write_text('# OSU MPI Bandwidth Test v7.5\n4194304 10.0\n')
    errors.write_text('')
    proofs = folder / 'proof'
    env = {**bench_stand_in.environment(bench.root), 'LIBMPI': str(
        bench.root / 'software/osu-native/1/lib/libmpi.so.12'), 'MODULE': '1'}
    done = run([bench.root / 'bin' / 'srun', PROJECT / 'osu_container' / 'rank-proof', proofs,
                bench.root / 'software/osu-native/1/bin/osu_bw'], env=env)
    assert done.returncode == 0, done.stderr

    def line(libmpi):
        promise = {'comes_from': {'libmpi': libmpi, 'libfabric': 'host'}, 'container': False}
        return measure.line(run_, 1, stdout=raw, stderr=errors, code=0, proofs=proofs, promise=promise, seconds=1.0,
                            folder=folder, command='x')
    assert line('host')['status'] == 'ok' and line('host')['values'] == {'4194304': 10.0}
    wrong = line('image')
    assert wrong['status'] == 'failed' and 'values' not in wrong
    assert 'it did not run what it promises: ranks 0-1 loaded libmpi from host' in wrong['reason']
    assert wrong['proof'][0]['libraries']['libmpi']['where'] == 'host'


# ---- ReFrame by itself -----------------------------------------------------------------------------------------------

# ---- what is wrong with the arguments --------------------------------------------------------------------------------

@pytest.mark.parametrize('arguments, variables, says', [
    (['--module', 'osu-container/hybrid'], {}, '`module load osu-container/hybrid` failed'),
    ([], {'MODULEPATH': '/nonexistent'}, 'no module osu-native or osu-container is installed where Lmod looks'),
    (['--resume', 'latest'], {}, 'to go on with'),
    (['--resume', '/nonexistent'], {}, 'no such file or folder'),
    (['--', 'osu_bw', 'osu_nothing'], {}, 'no run of tag quick fits osu_nothing;'),
    (['--', 'osu_bw', '--dry-run'], {}, '(--dry-run lists all). Options stand in front of --'),
    (['--nodes', '1', '--tag', 'demo'], {}, 'nothing of tag demo can be run: wants 2 nodes, the job has 1'),
])
def test_what_cannot_be_run_is_said_plainly(bench, arguments, variables, says):
    done = bench(*arguments, **variables)
    assert done.returncode == 1 and says in done.stderr and 'Traceback' not in done.stderr
    assert not bench.results.exists()


SETTINGS = {'site': 'workstation', 'approach': 'native', 'programs': ['osu_bw'], 'binds': []}


def test_a_run_is_never_written_over(bench, tmp_path):
    (tmp_path / 'run').mkdir()
    (tmp_path / 'run' / 'mine.txt').write_text('mine')
    done = bench(*ARGUMENTS, '-o', tmp_path / 'run')
    assert done.returncode == 1 and 'is there already and not empty' in done.stderr
    assert [path.name for path in (tmp_path / 'run').iterdir()] == ['mine.txt']
