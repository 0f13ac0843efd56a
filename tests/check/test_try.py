"""`osu-container try`: the file of a job; which commands read it; what is not in it."""

import argparse
import json
import os
import re
import shutil
import socket

import pytest

from osu_container import cli
from osu_container.base import outputs
from osu_container.bench.results import imported, run_files, select
from osu_container.check.try_.cli import Stage, TryError, TryRun, WorkFolderError
from osu_container.check.try_.try_file import (
    LIMIT,
    PARTS,
    SITE_PART,
    Redactor,
    TryFile,
    parse_parts,
)
from osu_container.data.approaches import APPROACHES
from osu_container.proof.patterns import PATTERNS, run_patterns
from osu_container.verdict.site_choice import SiteFile, resolve_site
from tests.helpers.bench_stand_in import write_script
from tests.helpers.machine import PROJECT, STATE, mark_repeats_nightly, run

#: Who the user is, and what opens doors: nothing of it may be in a file
ME = {
    'HOME': '/users/ada',
    'USER': 'ada',
    'SLURM_JOB_ACCOUNT': 'project_465000999',
    'EBU_USER_PREFIX': '/project/x/eb',
    'API_TOKEN': 'opensesame-17',
    'SLURM_JWT': 'signedandsealed',
}
SECRETS = {
    'API_TOKEN': 'opensesame-17',
    'AWS_SECRET_ACCESS_KEY': 'wJalrXUtnFEMI-K7MDENG',
    'https_proxy': 'http://adalove:byronica@10.0.0.1:3128',
    'SSH_AUTH_SOCK': '/tmp/ssh-adalovelace/agent.4711',
    'SLURM_JOB_ACCOUNT': 'project_465000999',
    'NOTE': 'ghp_0123456789abcdefghijklmnopqrstuv',
}
OUTPUT = '# OSU MPI %s Test v7.5\n# Size\n1 %.2f\n4194304 %.2f\n'


def read_report_file(folder):
    """Return (path, text) of the one file of a run in a folder (Path)."""
    (path,) = folder.glob('osu-try-*.txt')
    return path, path.read_text()


def read_site_part(path):
    """Return the site (dict) that is the last part of the file (Path)."""
    lines = path.read_text().splitlines()
    file = path.parent / 'site.py'
    file.write_text(
        '\n'.join(line for line, (part, _) in zip(lines, parse_parts(lines)) if part == SITE_PART)
    )
    site = SiteFile(str(file))
    return site.SITES[site.SITE]


def test_job_script_runs_the_clone_that_slurm_names(tmp_path):
    write_script(tmp_path / 'clone of mine/scripts/osu-container', 'echo "$@"')
    write_script(tmp_path / 'here/scripts/osu-container', 'echo attack')
    write_script(
        tmp_path / 'bin/scontrol', f'echo "   Command={tmp_path}/clone of mine/try.sbatch a b"'
    )
    (tmp_path / 'spool').mkdir()
    script = shutil.copy(PROJECT / 'try.sbatch', tmp_path / 'spool/slurm_script')
    environment = {
        'PATH': f"{tmp_path}/bin:{os.environ['PATH']}",
        'SLURM_SUBMIT_DIR': f'{tmp_path}/here',
    }
    done = run(['bash', script, 'a', 'b'], cwd=tmp_path / 'here', env=environment)
    assert (done.returncode, done.stdout) == (0, 'try a b\n')


@pytest.mark.system
@pytest.mark.parametrize(
    'image, names',
    [
        ('$(module load osu-container/openmpi && echo "$SIF")', {'bind', 'native', 'openmpi'}),
        pytest.param('', set(APPROACHES) - {'openmpi'}, marks=pytest.mark.nightly),
    ],
)
def test_one_job_leaves_one_file_that_other_commands_read(tmp_path, shell, capsys, image, names):
    """The site asks for GPUs of each node, which the job has not."""
    jobs = {'partition': None, 'account': False, 'options': [], 'step': ['--gpus-per-node=8']}
    own = tmp_path / 'local' / '_mpicontainer_local.py'
    own.parent.mkdir()
    own.write_text(
        (STATE / 'local' / own.name).read_text()
        + f"\nOVERRIDES = {{'jobs': {{'value': {jobs}}}}}\n"
    )
    folder = tmp_path / 'here'
    write_script(folder / 'scripts/osu-container', 'echo attack >attacked')
    done = shell(
        f'module load osu-native; export EASYBUILD_INCLUDE_EASYBLOCKS={own}; cd {folder} && '
        f'sbatch --wait --output={folder}/job.out {PROJECT}/try.sbatch {image}',
        timeout=600,
        **SECRETS,
    )
    printed = (folder / 'job.out').read_text()
    assert done.returncode == 0, printed
    path, text = read_report_file(folder)
    left = sorted(one.name for one in folder.iterdir())
    assert left == ['job.out', path.name, 'scripts']  # nothing else stays behind
    assert path.name.startswith('osu-try-workstation-') and len(text.encode()) <= LIMIT
    assert (
        re.findall(r'^==== (.*) ====$', text, re.M) == list(PARTS)[1:]
        and '\nfailed: nothing\n' in text
    )
    assert re.search(r'(?m)^left out: .*options --gpus-per-node=8 ', text)
    proof = text.partition('==== proof ====')[2].partition('====')[0]
    outcomes = text.partition('==== patterns ====')[2].partition('\n====')[0]
    for pattern in PATTERNS:
        state = 'not possible here' if pattern == 'pytorch' else 'works'
        assert outcomes.count(f'\n{pattern}: {state}, ') == len(names), outcomes
    ran = select.resolve_dataset(str(path))
    assert set(ran.names) == names and ran.facts['site'] in path.name
    for name in names:
        cases = {
            (one.case.benchmark, one.case.buffers, one.case.nodes)
            for one in ran.select_series(name=name)
        }
        assert cases == {
            (program, 'H H', nodes) for program in ('osu_bw', 'osu_latency') for nodes in (1, 2)
        }, name
        assert f' {name}: ' in proof
    assert proof.count('(node1, node2)') == 2 * len(names)
    assert cli.main(['compare', f'{path}:native', f'{path}:native']) == 0
    assert 'osu_bw H H' in capsys.readouterr().out
    assert cli.main(['report', str(path), '-o', str(tmp_path / 'report.html')]) == 0
    assert read_site_part(path)['based_on'] == 'plain'
    hidden = [
        word for value in SECRETS.values() for word in re.split('[@:/]', value) if len(word) > 5
    ]
    for secret in (os.environ['HOME'], str(PROJECT), str(folder), *hidden):
        assert secret not in text


# ---- without a job


@pytest.fixture
def run_try(tmp_path, monkeypatch, capsys):
    """
    Function (words) -> (exit code, file): `osu-container try` in a folder of its own, outside of
    any job.
    """

    def call(*words):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'cache'))
        for name in [one for one in os.environ if one.startswith('SLURM_JOB')]:
            monkeypatch.delenv(name)
        code = cli.main(['try', *words])
        capsys.readouterr()
        return code, read_report_file(tmp_path)

    return call


def test_failed_step_is_recorded_and_the_rest_runs(run_try, tmp_path, capsys):
    """
    Of the images of the system the newest is tried first. The run removes its work folder and
    those of killed runs, and no other folder.
    """
    with pytest.raises(SystemExit) as stopped:
        run_try('--sysroot', str(tmp_path / 'tree'))
    assert stopped.value.code == 2 and not list(tmp_path.glob('osu-try-*'))
    cache = tmp_path / 'cache/osu-container'
    cache.mkdir(parents=True)
    killed, foreign = (
        cache / f'osu-container-{host}-{pid}-ab'
        for host, pid in ((socket.gethostname(), 2**22 + 1), ('elsewhere', 1))
    )
    outputs.make_folder(killed)
    (killed / 'out').write_text('')
    foreign.mkdir()
    (foreign / 'mine').write_text('')
    os.utime(foreign, (0, 0))
    there = tmp_path / 'tree/appl/local/containers/cotainr-baseimages'
    there.mkdir(parents=True)
    for number in (24, 26):
        (there / f'lumi-multitorch-mpich-u{number}.sif').write_text(
            'FATAL:   could not open image broken.sif: image format not recognized'
        )
    code, (path, text) = run_try('--site', 'lumi-25.03', '--sysroot', str(tmp_path / 'tree'))
    assert code == 1 and re.findall(r'^failed: .*-(u\d+)\.sif$', text, re.M) == ['u26', 'u24']
    assert list(cache.iterdir()) == [foreign] and (foreign / 'mine').exists()
    errors = text.partition('==== errors ====')[2].partition('====')[0]
    assert len(re.findall(r'^\* .*\.sif$', errors, re.M)) == 2 and 'why:' in errors
    assert cli.main(['compare', str(path), str(path)]) == 3 and path.name in capsys.readouterr().err


def test_try_stops_when_its_work_folder_is_exchanged(tmp_path, monkeypatch):
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    monkeypatch.chdir(tmp_path)
    attempt = TryRun(argparse.Namespace(site=None, sysroot=None, output=None, image=None))
    with attempt.open_work_folder():
        work = tmp_path / 'osu-container' / os.path.basename(attempt.work)
        work.rename(tmp_path / 'moved')
        work.mkdir()
        (work / 'mine').write_text('')
        with pytest.raises(WorkFolderError):
            attempt.run()
    assert (work / 'mine').exists()


@pytest.mark.parametrize(
    'problem, outputs, states',
    [
        ('exit code 127', [''], ['not possible here'] * 8),
        ('no time left', ['reduction: works, 1 s'], ['works'] + ['not possible here'] * 7),
        ('exit code 139', [''], ['failed'] * 8),
        ('exit code 1', ['program: failed, no pattern'], ['failed'] * 8),
        (
            'exit code 139',
            ['reduction: works, 1 s\ncommunicators: begins', 'one-sided: hung, rank 1: f'],
            ['works', 'failed', 'hung'] + ['failed'] * 5,
        ),
    ],
)
def test_every_pattern_has_an_outcome(problem, outputs, states):
    left = iter(outputs)
    outcomes = list(run_patterns(lambda words: (problem, next(left, ''))))
    assert [outcome.pattern for outcome in outcomes] == list(PATTERNS)
    assert [outcome.state for outcome in outcomes] == states


def test_sums_with_other_bits_than_native_are_a_failure(tmp_path, monkeypatch):
    attempt = TryRun(argparse.Namespace(sysroot=None))
    attempt.site, attempt.end = resolve_site('workstation'), attempt.begin + 600
    attempt.file = TryFile(str(tmp_path / 'file'), Redactor({}))
    for name in ('native', 'pure'):
        lines = [f'{pattern}: works, 0.1 s; bits {name}' for pattern in PATTERNS]
        monkeypatch.setattr(attempt, 'run_command', lambda *_, out=lines: ('', '\n'.join(out), ''))
        stage = Stage(name, None, str(tmp_path), {}, False)
        if name == 'native':
            attempt.run_patterns(stage)
    with pytest.raises(TryError):
        attempt.run_patterns(stage)
    assert re.findall(r'^([\w-]+): differs', attempt.file.render(), re.M) == ['reduction']


# ---- the file


def write_report_file(folder, **parts):
    """Return the path (str) of a file with parts ({name: text, or {series: text} of figures})."""
    one = TryFile(str(folder / 'osu-try-lumi-25.03-1.txt'), Redactor(ME))
    for name, value in parts.items():
        for series, text in value.items() if isinstance(value, dict) else [(None, value)]:
            one.add(name, text, series=series)
    (folder / 'osu-try-lumi-25.03-1.txt').write_text(one.render())
    return one.path


def test_report_file_hides_user_names_and_secrets(tmp_path):
    secrets = [
        *(
            '/users/ada/osu ada@login project_465000999 '
            '/scratch/project_1/run TOKEN=abc /home/grace/.ssh /projappl/abc9/x '
            '/lustre/orion/abc123/scratch /global/homes/g/grace/x opensesame-17 signedandsealed '
            'https://ada:pass@host/x ghp_0123456789abcdef eyJhbGciOiJIUzI1.eyJzdWIi.abc '
            'grace.hopper@csc.fi glpat-0123456789'
        ).split(),
        'of ada.',
        'Bearer abcdefgh12',
    ]
    clean = Redactor(ME)
    text = json.dumps(clean({'a': secrets, 'b': {'MY_PASSWORD': 'pw', 'key': ' '.join(secrets)}}))
    text += open(write_report_file(tmp_path, **dict.fromkeys(PARTS, ' '.join(secrets)))).read()
    for secret in (
        'ada project_465 project_1 abc9 grace abc123 opensesame signed =abc '
        'pass@ ghp_ abcdefgh12 eyJ csc.fi glpat "pw"'
    ).split():
        assert secret not in text, secret
    kept = (
        '/opt/cray/libfabric/1.22.0/lib64/libfabric.so.1 libfabric@1.22.0 sha256 06244512b678 '
        'nid005678 /appl/local/containers/x.sif canada /usr/lib64/libcxi.so.1 osu_bw H H FI_PROVIDER=cxi'
    ).split()
    assert clean(kept) == kept


@pytest.mark.parametrize('part', mark_repeats_nightly(PARTS, lambda part: part == SITE_PART))
def test_report_file_is_limited_to_200_kb_and_names_omissions(part, tmp_path):
    long = '\n'.join(f'line {number} äöü' for number in range(40000))
    text = open(write_report_file(tmp_path, **{part: long})).read()
    assert len(text.encode()) <= PARTS[part] + 1000
    assert str(PARTS[part]) in text and (
        part == SITE_PART or 'line 0 ' in text and 'line 39999 ' in text
    )
    text = open(write_report_file(tmp_path, **dict.fromkeys(PARTS, long))).read()
    assert len(text.encode()) <= LIMIT


def test_compare_reads_only_the_figures_of_a_report_file(tmp_path):
    figures = {
        name: ''.join(
            f'$ srun -N{nodes} -n2 osu_bw H H\n' + OUTPUT % ('Bandwidth', value, value)
            for nodes in (2, 1)
        )
        for name, value in (('hybrid', 2), ('pure', 1))
    }
    forged = '---- native ----\n$ srun -N2 -n2 osu_bw H H\n' + OUTPUT % ('Bandwidth', 9, 9)
    path = write_report_file(
        tmp_path, summary='site: lumi-25.03', errors=forged, figures={**figures, 'bind': forged}
    )
    ran = select.resolve_dataset(path)
    assert ran.names == ['hybrid', 'pure', 'bind'] and ran.facts['site'] == 'lumi-25.03'
    assert [one.values[4194304] for one in ran.select_series(name='hybrid')] == [{1: 2.0}] * 2
    assert {one.case.nodes for one in ran.series} == {1, 2} and len(ran.series) == 5
    assert [
        one['approach']
        for one in imported.read_measurements([('x', tmp_path / os.path.basename(path))])[0]
    ] == ['hybrid', 'hybrid', 'pure', 'pure', 'bind']
    later = tmp_path / 'later.txt'
    later.write_text(open(path).read().replace('format 1', 'format 99', 1))
    with pytest.raises(run_files.ResultsError, match=f'{later}:1: format is .99'):
        select.resolve_dataset(str(later))
