"""`osu-container try`: the file of a job, here and on the played LUMI; which commands read it; what is not in it."""
import ast
import json
import os
import re

import pytest

from osu_container import cli, try_file
from osu_container.core.data.approaches import APPROACHES
from osu_container.core.deciding.site_choice import SiteFile, site_entry
from osu_container.discover.cli import found_now
from osu_container.results import imported, select
from osu_container.try_file import DATA, LIMIT, PARTS, Discretion, TryFile
from tests.helpers.machine import PROJECT, StandIn, run

#: Who the user is, and what opens doors: nothing of it may be in a file
ME = {'HOME': '/users/ada', 'USER': 'ada', 'SLURM_JOB_ACCOUNT': 'project_465000999', 'EBU_USER_PREFIX': '/project/x/eb',
      'API_TOKEN': 'opensesame-17', 'SLURM_JWT': 'signedandsealed'}
SECRETS = {'API_TOKEN': 'opensesame-17', 'AWS_SECRET_ACCESS_KEY': 'wJalrXUtnFEMI-K7MDENG', 'https_proxy':
           'http://adalove:byronica@10.0.0.1:3128', 'SSH_AUTH_SOCK': '/tmp/ssh-adalovelace/agent.4711',
           'SLURM_JOB_ACCOUNT': 'project_465000999', 'NOTE': 'ghp_0123456789abcdefghijklmnopqrstuv'}
OUTPUT = '# OSU MPI %s Test v7.5\n# Size\n1 %s\n4194304 %s\n'


def text_of(folder):
    """Return (path, text) of the one file of a run in a folder (Path)."""
    path, = folder.glob('osu-try-*.txt')
    return path, path.read_text()


def submitted(call, folder, words='', **variables):
    """Submit the file of the project from a folder (Path), with words (str) behind it; return what sbatch did."""
    script = f'cd {folder} && sbatch --wait --output={folder}/job.out {PROJECT}/try.sbatch {words}'
    return call(script, **variables)


def read_back(path, folder, names, capsys):
    """See that compare, report and discover read the file (Path) with the curves of names (set of str)."""
    run_of_file = select.resolve(str(path))
    assert set(run_of_file.names) == names and run_of_file.facts['site'] in path.name
    name = sorted(names)[0]
    assert cli.main(['compare', f'{path}:{name}', f'{path}:{name}']) == 0
    assert 'osu_bw H H, two nodes' in capsys.readouterr().out
    assert cli.main(['report', str(path), '-o', str(folder / 'report.html')]) == 0
    assert all(f'>{one}<' in (folder / 'report.html').read_text() for one in names)
    assert cli.main(['discover', '--from', str(path), '-o', str(folder / 'site.py')]) == 0
    capsys.readouterr()
    return SiteFile(str(folder / 'site.py'))


@pytest.mark.apptainer
@pytest.mark.slurm
def test_one_job_on_two_nodes_leaves_one_file_that_other_commands_read(tmp_path, shell, capsys):
    def beside_native(script, **variables):
        return shell('module load osu-native; ' + script, timeout=600, **variables)
    done = submitted(beside_native, tmp_path, **SECRETS)
    said = (tmp_path / 'job.out').read_text()
    assert done.returncode == 0, said
    path, text = text_of(tmp_path)
    assert sorted(one.name for one in tmp_path.iterdir()) == ['job.out', path.name]  # nothing else stays behind
    assert path.name.startswith('osu-try-workstation-') and len(text.encode()) <= LIMIT
    assert re.findall(r'^==== (.*) ====$', text, re.M) == list(PARTS)[1:] and '\nfailed: nothing\n' in text
    names = set(APPROACHES) - {'openmpi'}
    ran = select.resolve(str(path))
    for name in names:
        cases = {(one.case.benchmark, one.case.buffers, one.case.nodes) for one in ran.of(name=name)}
        assert cases == {(program, 'H H', nodes) for program in ('osu_bw', 'osu_latency') for nodes in (1, 2)}, name
        assert f"as promised by {name}:" in text
    assert text.count(': 2 ranks on 2 nodes (node1, node2), all alike') == 2 * len(names)
    site = read_back(path, tmp_path, names, capsys)
    assert site.SITES[site.SITE]['provider']['value'] == 'tcp'
    hidden = [word for value in SECRETS.values() for word in re.split('[@:/]', value) if len(word) > 5]
    for secret in (os.environ['HOME'], str(PROJECT), str(tmp_path), *hidden):
        assert secret not in text


@pytest.mark.apptainer
@pytest.mark.slurm
def test_on_the_played_lumi_the_image_of_the_system_is_taken_and_what_fails_is_said(tmp_path, capsys):
    stack = StandIn('lumi-25.03', tmp_path)
    there = stack.tree / 'appl/local/containers/cotainr-baseimages'
    there.mkdir(parents=True)
    image = next(iter(site_entry('workstation')['images']['value'].values()))
    (there / 'lumi-multitorch-mpich-u24.sif').symlink_to(PROJECT / 'sources' / image)
    (there / 'lumi-multitorch-mpich-u26.sif').write_text('no image')  # the newest is tried first
    (tmp_path / 'here').mkdir()
    own = stack.eb.environment['EASYBUILD_INCLUDE_EASYBLOCKS']
    done = submitted(stack.shell, tmp_path / 'here', f'--site lumi-25.03 --sysroot {stack.tree}',
                     EASYBUILD_INCLUDE_EASYBLOCKS=own, SLURM_JOB_ACCOUNT='project_465000999')
    said = (tmp_path / 'here' / 'job.out').read_text()
    path, text = text_of(tmp_path / 'here')
    assert done.returncode == 1 and 'lumi-multitorch-mpich-u26.sif' in text.partition('==== verdict')[0], said
    assert [line for line in text.splitlines() if line.startswith('failed: ')] == [
        f'failed: image {there}/lumi-multitorch-mpich-u26.sif'], text
    names = {name for name, entry in APPROACHES.items() if entry['container'] and name != 'openmpi'}
    site = read_back(path, tmp_path, names, capsys)
    assert site.SITES[site.SITE]['libraries']['libmpi']['value'].startswith('/opt/cray/pe/mpich/8.1.32/')
    assert '/opt/cray/libfabric/1.22.0/lib64/libfabric.so.1' in text.partition('==== proof')[2]
    assert '--gpus-per-node=8 of srun: the job has nothing for it' in text and 'project_465' not in text


# ---- without a job

@pytest.fixture
def looked(tmp_path, monkeypatch, capsys):
    """Function (words) -> (exit code, file): `osu-container try` in a folder of its own, outside of any job."""
    def call(*words):
        monkeypatch.chdir(tmp_path)
        for name in [one for one in os.environ if one.startswith('SLURM_JOB')]:
            monkeypatch.delenv(name)
        code = cli.main(['try', *words])
        capsys.readouterr()
        return code, text_of(tmp_path)
    return call


def test_a_step_that_fails_is_said_with_what_why_knows_and_the_rest_goes_on(looked, tmp_path, capsys):
    (tmp_path / 'broken.sif').write_text('FATAL:   could not open image broken.sif: image format not recognized')
    code, (path, text) = looked('broken.sif', '--site', 'workstation')
    assert code == 1 and re.search(r'^failed: image broken\.sif$', text, re.M)
    errors = text.partition('==== errors ====')[2].partition('====')[0]
    assert '* image broken.sif' in errors and 'why:' in errors
    assert cli.main(['discover', '--from', str(path)]) == 0
    assert capsys.readouterr().out.startswith(found_now()['node'])
    assert cli.main(['compare', str(path), str(path)]) == 3 and 'no figures' in capsys.readouterr().err


# ---- the file

def written(folder, **parts):
    """Return the path (str) of a file with parts ({name: text, or {series: text} of figures})."""
    one = TryFile(str(folder / 'osu-try-lumi-25.03-1.txt'), Discretion(ME))
    for name, value in parts.items():
        for series, text in value.items() if isinstance(value, dict) else [(None, value)]:
            one.add(name, text, series=series)
    (folder / 'osu-try-lumi-25.03-1.txt').write_text(one.text())
    return one.path


def test_nothing_says_who_the_user_is_nor_opens_a_door(tmp_path):
    secrets = ['/users/ada/osu', 'ada@login', 'of ada.', 'project_465000999', '/scratch/project_1/run', 'TOKEN=abc',
               '/home/grace/.ssh', '/projappl/abc9/x', '/lustre/orion/abc123/scratch', '/global/homes/g/grace/x',
               'opensesame-17', 'signedandsealed', 'https://ada:pass@host/x', 'ghp_0123456789abcdef',
               'Bearer abcdefgh12', 'eyJhbGciOiJIUzI1.eyJzdWIi.abc', 'grace.hopper@csc.fi', 'glpat-0123456789']
    clean = Discretion(ME)
    text = json.dumps(clean({'a': secrets, 'b': {'MY_PASSWORD': 'pw', 'key': ' '.join(secrets)}}))
    text += open(written(tmp_path, **dict.fromkeys(PARTS, ' '.join(secrets)))).read()
    for secret in ('ada', 'project_465', 'project_1', 'abc9', 'grace', 'abc123', 'opensesame', 'signed', '=abc',
                   'pass@', 'ghp_', 'abcdefgh12', 'eyJ', 'csc.fi', 'glpat', '"pw"'):
        assert secret not in text, secret
    kept = ('/opt/cray/libfabric/1.22.0/lib64/libfabric.so.1', 'libfabric@1.22.0', 'sha256 06244512b678', 'nid005678',
            '/appl/local/containers/x.sif', 'canada', '/usr/lib64/libcxi.so.1', 'osu_bw H H', 'FI_PROVIDER=cxi')
    assert clean(list(kept)) == list(kept)


@pytest.mark.parametrize('part', PARTS)
def test_a_file_has_200_kB_at_most_and_says_what_it_leaves_out(part, tmp_path):
    long = '\n'.join(f'line {number} äöü' for number in range(40000))
    text = open(written(tmp_path, **{part: long})).read()
    assert len(text.encode()) <= PARTS[part] + 1000
    assert 'left out' in text and (part == DATA or 'line 0 ' in text and 'line 39999 ' in text)
    text = open(written(tmp_path, **dict.fromkeys(PARTS, long))).read()
    assert len(text.encode()) <= LIMIT


def test_compare_takes_the_figures_of_each_approach_and_nothing_else_of_the_file(tmp_path):
    figures = {name: ''.join(f'$ srun -N{nodes} -n2 osu_bw H H\n' + OUTPUT % ('Bandwidth', value, value)
                             for nodes in (2, 1)) for name, value in (('hybrid', 2), ('pure', 1))}
    forged = '---- native ----\n$ srun -N2 -n2 osu_bw H H\n' + OUTPUT % ('Bandwidth', 9, 9)
    path = written(tmp_path, summary='site: lumi-25.03', errors=forged, figures={**figures, 'bind': forged})
    ran = select.resolve(path)
    assert ran.names == ['hybrid', 'pure', 'bind'] and ran.facts['site'] == 'lumi-25.03'
    assert [one.values[4194304] for one in ran.of(name='hybrid')] == [{1: 2.0}] * 2
    assert {one.case.nodes for one in ran.series} == {1, 2} and len(ran.series) == 5
    assert [one['approach'] for one in imported.lines_of([('x', tmp_path / os.path.basename(path))])[0]] == [
        'hybrid', 'hybrid', 'pure', 'pure', 'bind']


@pytest.mark.parametrize('change, says', [
    ({'name': '"""\nimport os\n"""'}, 'its name'), ({'date': '"""\nimport os'}, 'its name, date'),
    ({'approaches': [['x"""\nimport os', None]]}, 'approaches'), ({'site': {'title': 'x'}}, "does not hold all"),
    ({'approaches': 7}, 'does not hold all'), ({'missing': [{}]}, 'does not hold all')])
def test_a_site_is_made_of_what_discover_writes_and_nothing_else(change, says, tmp_path, capsys):
    path = written(tmp_path, **{DATA: try_file.data_text(dict(found_now(), **change))})
    assert cli.main(['discover', '--from', path, '-o', str(tmp_path / 'site.py')]) == 2
    assert says in capsys.readouterr().err and not (tmp_path / 'site.py').exists()


def test_a_site_from_a_file_is_that_of_the_look(tmp_path, capsys):
    found = found_now()
    path = written(tmp_path, **{DATA: try_file.data_text(found)})
    assert cli.main(['discover', '--from', path, '-o', str(tmp_path / 'site.py')]) == 0
    tree = ast.parse((tmp_path / 'site.py').read_text())
    assert [type(node) for node in tree.body] == [ast.Expr] + [ast.Assign] * 4
    assert SiteFile(str(tmp_path / 'site.py')).SITES == {found['name']: json.loads(json.dumps(found['site']))}
    assert cli.main(['discover', '--compare', path, str(tmp_path / 'site.py')]) == 0


def test_the_job_script_says_where_it_must_be_submitted(tmp_path):
    (tmp_path / 'try.sbatch').write_text((PROJECT / 'try.sbatch').read_text())
    done = run(['bash', 'try.sbatch'], cwd=tmp_path, env={'PATH': os.environ['PATH'], 'HOME': str(tmp_path)})
    assert done.returncode == 2 and 'Submit it in the folder of a clone' in done.stderr
