"""The command osu-container check: what it prints, its exit codes, and what it says of input that is none."""
import json
import os
import re
import sys

import pytest

from osu_container.check.cli import CODES, CONTAINERS
from osu_container.check.site import LOCAL, local_file
from osu_container.cli import main
from osu_container.data.approaches import APPROACHES
from osu_container.data.sites import SITES
from osu_container.image.image import Image
from osu_container.verdict import verdict as verdict_rules
from osu_container.verdict.dry_run import understood
from osu_container.verdict.rules import RULES
from osu_container.verdict.rules.finding import NOTE
from osu_container.verdict.settings import approach_entry
from osu_container.verdict.site_choice import site_entry
from osu_container.verdict.trial import Host
from osu_container.verdict.verdict import judged
from tests.helpers.elf_folder import ElfFolder, good_host, good_image, mpich, open_mpi, pack, write_sif
from tests.helpers.machine import PROJECT, PYTHON_36, folded, run
from tests.helpers.verdict_cases import GPU, PLAIN
from tests.stand_in.pairs.parts import runtime

COMMAND = PROJECT / 'scripts' / 'osu-container'
#: The images here have no entrypoint, so swap is not among what is looked at unless it is asked for
LOOKED_AT = [name for name in CONTAINERS if not APPROACHES[name].get('entrypoint')]
MPICH_APPROACHES = [name for name in LOOKED_AT if APPROACHES[name]['mpi'] == 'MPICH ABI']
LIBFABRIC = site_entry(GPU)['libraries']['libfabric']['value']


def check(*arguments, command=(COMMAND,), **kwargs):
    """Run the command and return the CompletedProcess. It never ends in a traceback."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(('EASYBUILD_', 'LUMI_'))}
    done = run([*command, 'check', *arguments], env=environment, **kwargs)
    assert 'Traceback' not in done.stderr, done
    return done


def refused(*arguments, **kwargs):
    """Run the command on what it cannot read; return the message, one line for people."""
    done = check(*arguments, **kwargs)
    assert (done.returncode, done.stdout) == (1, ''), done
    assert done.stderr.startswith('osu-container check: error: ') and done.stderr.count('\n') == 1, done
    return done.stderr


class Place:
    """The good image, as folder and as SIF, and the good host of a site. Tests only read them."""

    def __init__(self, folder, parts, site):
        self.folder, self.parts, self.site = folder, parts, site
        self.image, self.host = ElfFolder(folder / 'image'), ElfFolder(folder / 'host')
        good_image(self.image, parts)
        good_host(self.host, parts, site_entry(site))
        self.sif = folder / 'good.sif'
        write_sif(self.sif, pack(self.image.root, folder / 'squashfs').read_bytes(), {
            'org.osu-container.mpi': 'MPICH', 'org.osu-container.libcxi': '1.0.2-SHS12.0.2'})

    def here(self, *image):
        """Return arguments for the command: the image, or image (a Path) instead, on this host."""
        return [*(image or [self.image]), '--site', self.site, '--sysroot', self.host]


@pytest.fixture(scope='module')
def place(tmp_path_factory, parts):
    return Place(tmp_path_factory.mktemp('place'), parts, GPU)


@pytest.fixture
def new(tmp_path, parts):
    """Function: an image of its own for a test, good but for the parts that are given."""
    def make(**others):
        return good_image(ElfFolder(tmp_path / 'own'), parts, **others)
    return make


# ---- what it says

def test_text_and_json_have_the_same_findings(place, new, parts):
    own = new(mpi=parts.mpi(mpich('4.0.3', hmem=False)), environment={'CXI_FORK_SAFE': '1'}, rocm='7.1.0')
    done = check(*place.here(own))
    text, data = folded(done.stdout), json.loads(check(*place.here(own), '--json').stdout)
    assert [one['approach'] for one in data['verdicts']] == LOOKED_AT
    for one in data['verdicts']:
        assert one['approach'] == 'openmpi' or f"{one['approach']} {one['verdict'].upper()}" in text
        for finding in one['findings']:
            if finding['rule'] != 'other MPI':  # reported once for all
                assert finding['reason'] in text and (finding['remedy'] or '') in text
    assert {finding['rule'] for one in data['verdicts'] for finding in one['findings']} >= {
        'capability set', 'CXI_FORK_SAFE', 'ROCm release', 'TCP only', 'other MPI'}
    assert done.stdout.splitlines()[0] == str(own) and done.stderr == ''
    head = folded(done.stdout.partition('\n\n')[0])
    assert re.search(rf'libmpi\.so\.12 .*/opt/mpich/lib\b.*ROCm 7\.1\.0\b.* {GPU} .*{place.host}', head)


@pytest.mark.parametrize('site, wanted', [(GPU, 'opensource'), (PLAIN, 'pure')])
def test_what_is_recommended_is_the_last_word_and_can_be_typed(tmp_path, parts, site, wanted):
    place = Place(tmp_path, parts, site)
    done = check(*place.here(place.sif))
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1].split() == [
        'eb', f'osu-container-{wanted}.eb', '-r', '--try-amend=image=good.sif', f'--try-amend=site={site}',
        f'--sysroot={place.host}'], 'for the site that was asked for'


@pytest.mark.parametrize('release, setuid, wanted', [('1.2.5', 0, 'works slowly'), ('1.4.5', 0, 'works'),
                                                     ('1.2.5', 1, 'works')])
def test_what_the_runtime_of_this_machine_can_share_decides_too(place, tmp_path, monkeypatch, release, setuid, wanted):
    runtime = tmp_path / 'singularity'
    runtime.write_text(f'#!/bin/sh\necho "apptainer version {release}\nAPPTAINER_SUID_INSTALL={setuid}"\n')
    runtime.chmod(0o755)
    monkeypatch.setenv('PATH', f"{tmp_path}:{os.environ['PATH']}")
    data = json.loads(check(*place.here(), '--approach', 'bind', '--json').stdout)
    assert data['verdicts'][0]['verdict'] == wanted
    assert data['runtime'] == {'command': str(runtime), 'name': 'apptainer', 'release': release,
                               'setuid': bool(setuid)}


# ---- the dry run: what the image's own loader lists

GLIBC_LIST = """\tlinux-vdso.so.1 (0x00007ffd)
\tlibmpi.so.12 => /opt/mpich/lib/libmpi.so.12 (0x00007f2a)
\t/opt/a/libpre.so (0x00007f2b)
\tlibgone.so.1 => not found
/opt/x: /usr/lib/libfabric.so.1: version `FABRIC_1.9' not found (required by /opt/mpich/lib/libmpi.so.12)
undefined symbol: fi_open, version FABRIC_1.9\t(/opt/mpich/lib/libmpi.so.12)
undefined symbol: MPI_Init_c\t(/opt/x)
"""
MARKED = 'osu-container-dry-run\nA=b=c\\u000Ad\nHOME=/root\nosu-container-dry-run\n'


@pytest.mark.parametrize('output, problem, wanted', [
    (MARKED + GLIBC_LIST, 'None', {
        'environment': {'A': 'b=c\nd', 'HOME': '/root'}, 'missing': {'libgone.so.1'}, 'versions': {'FABRIC_1.9'},
        'libraries': {'libmpi.so.12': '/opt/mpich/lib/libmpi.so.12', 'libpre.so': '/opt/a/libpre.so'},
        'undefined': {'fi_open', 'MPI_Init_c'}}),
    (MARKED + '\t/lib/ld-musl-x86_64.so.1 (0x7f)\n\tlibmpi.so.12 => /usr/lib/libmpi.so.12 (0x7f)\n'
     'Error loading shared library libgone.so.1: No such file or directory (needed by /opt/x)\n'
     'Error relocating /opt/x: MPI_Init: symbol not found\n', 'None', {
         'libraries': {'ld-musl-x86_64.so.1': '/lib/ld-musl-x86_64.so.1', 'libmpi.so.12': '/usr/lib/libmpi.so.12'},
         'missing': {'libgone.so.1'}, 'undefined': {'MPI_Init'}}),
    (MARKED + '/opt/x: error while loading shared libraries: /usr/lib/liba.so: file too short\n',
     '/opt/x: error while loading shared libraries: /usr/lib/liba.so: file too short', {'sure': True}),
    (MARKED, '(?!None).*', {'sure': False}),
    ('bye\n', '.*bye', {'environment': None, 'sure': True}),
    ('FATAL:   no such image\n', '.*FATAL:   no such image', {'environment': None, 'sure': False}),
])
def test_what_a_loader_lists_is_understood(output, problem, wanted):
    found = understood(output, 0.1)
    assert re.fullmatch(problem, str(found.problem))
    assert {name: getattr(found, name) for name in wanted} == wanted


@pytest.fixture
def asked(new):
    """Function: the Verdict on a good image of its own with changes, where its own loader is asked; see judged()."""
    def ask_loader(approach='hybrid', script='', afterwards=None, program=None, **others):
        own = new(**others)
        for name in ('proc', 'sys', 'dev', 'tmp', 'var/tmp', 'root', 'home'):
            (own.root / name).mkdir(parents=True, exist_ok=True)
        own.write('/.singularity.d/env/90-environment.sh', script)
        with Image(str(own), 'osu_') as image:
            plain = judged(approach_entry(approach), site_entry(GPU), image, Host(str(ask_loader.host)), program)[1]
            if afterwards:
                afterwards(own)
            return plain.level, judged(approach_entry(approach), site_entry(GPU), image, Host(str(ask_loader.host)),
                                       program, runtime(), dry=True)[1]
    return ask_loader


def of_dry_run(verdict):
    """Return (level, reason) of what the dry run says in a Verdict."""
    return next(((one.level, one.reason) for one in verdict.findings if one.rule == 'dry run'), None)


@pytest.mark.system
@pytest.mark.parametrize('approach, changes, before, after, says', [
    ('hybrid', {}, 'works', 'works', (NOTE, '/opt/osu/bin/osu_latency')),
    ('bind', {}, 'works', 'works', (NOTE, '/opt/osu/bin/osu_latency')),
    # the runtime has followed what no reader can, and which program a name on PATH is follows from that
    ('hybrid', {'script': 'eval "export FI_PROVIDER=cxi PATH=/opt/osu/bin:$PATH"\n', 'program': 'osu_latency'},
     'unknown', 'works', (NOTE, '/opt/osu/bin/osu_latency')),
    ('hybrid', {'script': 'exit 0\n'}, 'fails', 'fails', (NOTE, 'scripts')),
    # what was read is not there any more: as if the reader was wrong
    ('hybrid', {'afterwards': lambda own: own.on('/opt/mpich/lib/libmpi.so.12').unlink()}, 'works', 'unknown',
     ('unknown', 'libmpi.so.12 => not found')),
])
def test_the_images_own_loader_is_a_second_opinion(asked, place, approach, changes, before, after, says):
    asked.host = place.host
    level, verdict = asked(approach, **changes)
    found = of_dry_run(verdict)
    assert (level, verdict.level, found[0]) == (before, after, says[0]) and says[1] in found[1], verdict


def test_a_dry_run_is_for_the_machine_itself(place):
    image = 'osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0'
    assert f'osu-container check {image} --dry-run' in refused(image, '--site', GPU, '--dry-run')


def test_without_a_known_way_none_is_recommended(place, new, parts):
    own = new(mpi=parts.mpi(needed=[parts.plain('libgone.so.1')]))
    nothing = ['--site', GPU, '--sysroot', own]  # a host that has none of the site's libraries
    done = check(own, *nothing)
    assert done.returncode == CODES['fails'] and not re.search(r'^ *eb ', done.stdout, re.M)
    assert json.loads(check(own, *nothing, '--json').stdout)['recommended'] is None
    assert json.loads(check(*place.here(own), '--json').stdout)['recommended'] == 'bind', 'another MPI needs it not'


def test_sif_and_folder_and_squashfs_of_the_same_image_are_judged_alike(place):
    one, other, bare = (json.dumps(json.loads(check(*place.here(image), '--json').stdout)['verdicts']).replace(
        str(image), 'IMAGE') for image in (place.image, place.sif, place.folder / 'squashfs'))
    assert one == other == bare and '"works slowly"' in one and '"fails"' in one


# ---- exit codes and options


@pytest.mark.parametrize('approach, others, code', [
    ('hybrid', {}, 0), ('pure', {}, 4), ('openmpi', {}, 6), ('hybrid', {'program': None}, 5),
    ('hybrid', {'mpi': lambda it: it.mpi(mpich('4.2.3', cxi=False))}, 5),
    ('hybrid', {'mpi': lambda it: it.mpi(needs=9)}, 6), (None, {}, 0),
    (None, {'mpi': lambda it: it.mpi(open_mpi(), 'libmpi.so.40')}, 6),
])
def test_exit_code_is_the_verdict_on_the_approach_or_the_best(place, new, parts, approach, others, code):
    own = new(**{name: make(parts) if make else None for name, make in others.items()})
    arguments = [*place.here(own), *(['--approach', approach] if approach else [])]
    data = json.loads(check(*arguments, '--json').stdout)
    assert check(*arguments).returncode == code == min(CODES[one['verdict']] for one in data['verdicts'])
    assert not approach or [one['approach'] for one in data['verdicts']] == [approach]


def test_a_program_that_is_named_is_what_is_looked_at(place, new, parts):
    own = new(mpi=parts.mpi(more='int MPIX_New(void *a, void *b) { return 0; }\n'))
    own.copy(parts.program(parts.mpi(more='int MPIX_New(void *a, void *b) { return 0; }\n'), 'MPIX_New',
                           ('-Wl,-z,now',)), '/opt/app/solver')
    assert check(*place.here(own), '--approach', 'bind').returncode == 0
    done = check(*place.here(own), '--approach', 'bind', '--program', '/opt/app/solver')
    assert done.returncode == 6 and re.search(r'image:/opt/app/solver\b.*\bMPIX_New', folded(done.stdout))
    assert check(*place.here(own), '--approach', 'opensource', '--program', '/opt/app/solver').returncode == 0


# ---- sites of a file

def site_file(tmp_path, text):
    path = tmp_path / 'site.py'
    path.write_text(text)
    return path


def test_a_site_of_a_file_is_taken(place, tmp_path):
    path = site_file(tmp_path, f'''SITE = 'mine'
SITES = {{'mine': {{'based_on': '{GPU}', 'title': 'My system', 'libraries': {{'libfabric': {{
    'value': '/opt/elsewhere/libfabric.so.1', 'why': 'w', 'source': 's', 'date': '2026-11-21',
    'evidence': 'measured'}}}}}}}}
''')
    done = check(place.image, '--site-file', path, '--sysroot', place.host, '--approach', 'hybrid')
    assert done.returncode == 6
    assert re.search(r'\bmine\b.*My system', done.stdout) and '/opt/elsewhere/libfabric.so.1' in done.stdout
    site_file(tmp_path, f"SITE = '{GPU}'\nROOT = {str(place.host)!r}\n")
    done = check(place.image, '--site-file', path, '--approach', 'hybrid')
    assert done.returncode == 0 and str(place.host) in done.stdout
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ['site.py'], 'no byte code beside it'


def test_the_users_own_facts_are_those_that_easybuild_takes(tmp_path, monkeypatch):
    from easybuild.tools.filetools import expand_glob_paths
    """LUMI's EasyBuild-user names easyblocks by patterns."""
    for name in ('blocks/generic/other.py', f'blocks/generic/{LOCAL}', f'second/{LOCAL}'):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('')
    monkeypatch.setenv('HOME', str(tmp_path))
    patterns = ['~/blocks/*/*.py', f'{tmp_path}/second/{LOCAL}']
    monkeypatch.setenv('EASYBUILD_INCLUDE_EASYBLOCKS', ','.join(['', f'{tmp_path}/none/*.py', *patterns]))
    assert local_file() == next(path for path in expand_glob_paths(patterns) if path.endswith(LOCAL))


# ---- the published runs

def test_published_prints_a_line_a_cell_and_the_counts(monkeypatch, capsys):
    monkeypatch.setenv('COLUMNS', '400')
    assert main(['check', '--published']) == 0
    _, *lines, last = capsys.readouterr().out.splitlines()
    assert len(lines) == 35 and re.findall(r'\d+', last) == ['33', '2', '0']
    assert [line.split()[0] for line in lines].count('right') == 33
    monkeypatch.setattr(verdict_rules, 'RULES', [rule for rule in RULES if rule.name != 'symbol version'])
    assert main(['check', '--published']) == 1
    assert re.findall(r'\d+', capsys.readouterr().out)[-1] != '0'


# ---- Python 3.6

@pytest.mark.skipif(not PYTHON_36, reason='no python3.6 on PATH')
def test_it_says_the_same_on_python_3_6(place):
    for arguments in ([*place.here(place.sif), '--json'], place.here(), ['--published'], [place.folder / 'none.sif'],
                      place.here(place.host)):
        done, other = check(*arguments), check(*arguments, command=[PYTHON_36, COMMAND])
        assert (done.returncode, done.stdout, done.stderr) == (other.returncode, other.stdout, other.stderr)


# ---- images that are none, or not as one wants them


def test_swap_is_looked_at_where_the_image_has_an_entrypoint(place, new):
    own = new()
    own.write('/.singularity.d/runscript', '#!/bin/sh\nexec /opt/start "$@"\n')
    own.write('/opt/start', 'find /host OSU_SWAP').on('/opt/start').chmod(0o755)
    said = {one['approach']: one['verdict'] for one in json.loads(check(*place.here(own), '--json').stdout)['verdicts']}
    assert list(said) == CONTAINERS and said['swap'] == said['hybrid'] == 'works'


def test_an_image_with_two_mpis_needs_a_program(place, new, parts):
    ours = parts.mpi(open_mpi(), 'libmpi.so.40')
    own = new(program=None, libraries=[ours])
    done = check(*place.here(own))
    assert done.returncode == 5 and '--program PATH' in folded(done.stdout)
    own.copy(parts.program(parts.mpi()), '/opt/one').copy(parts.program(ours), '/opt/other')
    one, other = (json.loads(check(*place.here(own), '--program', path, '--json').stdout)
                  for path in ('/opt/one', '/opt/other'))
    of_host = [name for name in MPICH_APPROACHES if name != 'bind']  # which has an Open MPI as well
    for data, wanted in ((one, []), (other, of_host)):
        refused_ones = [verdict['approach'] for verdict in data['verdicts']
                        if 'other MPI' in [finding['rule'] for finding in verdict['findings']]]
        assert [name for name in refused_ones if name != 'openmpi'] == wanted


@pytest.mark.parametrize('path, code', [('/opt/none', 1), ('osu_latency', 1), ('/opt', 1), ('/etc/group', 6),
                                        ('/opt/text', 5)])
def test_a_program_that_is_none_is_told(place, new, path, code):
    own = new()
    own.write('/etc/group', 'root:x:0:\n').write('/opt/text', 'exec app\n').on('/opt/text').chmod(0o755)
    done = check(*place.here(own), '--program', path)  # a text that may be run may open MPI by itself
    assert done.returncode == code and (code != 1 or path in done.stderr)


# ---- hosts


def test_a_host_library_that_is_a_linker_script_is_told(place, tmp_path, parts):
    host = good_host(ElfFolder(tmp_path / 'host'), parts, site_entry(GPU))
    host.write(LIBFABRIC, 'GROUP ( libfabric.so.1 )\n')
    arguments = [place.image, '--site', GPU, '--sysroot', host, '--approach']
    assert re.search(f'{host}{LIBFABRIC}.* ELF', refused(*arguments, 'hybrid'))
    assert check(*arguments, 'opensource').returncode == 0


def test_a_sif_needs_unsquashfs_and_a_folder_no_program_at_all(place, tmp_path):
    done = run([sys.executable, COMMAND, 'check', *place.here(place.sif)], env={'PATH': str(tmp_path)})
    assert (done.returncode, done.stdout) == (1, '') and 'Traceback' not in done.stderr
    assert 'unsquashfs' in done.stderr and 'squashfs-tools' in done.stderr
    done = run([sys.executable, COMMAND, 'check', *place.here()], env={'PATH': str(tmp_path)})
    assert (done.returncode, done.stderr) == (0, '')


# Images that are not here

@pytest.mark.parametrize('site', [name for name in SITES if name != 'workstation'])
def test_the_images_of_a_site_are_judged_by_their_names(site):
    """Every approach with the image that the site names for it: described, so nothing of it is here."""
    entry = site_entry(site)
    for name, image in entry['images']['value'].items():
        approach = name.rpartition('/')[2]
        if '/' in name or approach_entry(approach).get('entrypoint'):
            continue
        done = check(image, '--site', site, '--approach', approach, '--json')
        data = json.loads(done.stdout)
        assert data['described'] and data['image']['path'] == image, done
        verdict, = data['verdicts']
        word = 'works slowly' if approach == 'pure' else 'works'
        # of that system nobody has said it; an image made for another; an MPI that nobody has run there
        if any(text in str(verdict['findings']) for text in (
                'libc.so.6', 'libcxi and driver', 'not seen over cxi')):
            word = 'unknown'
        assert verdict['verdict'] == word, (site, verdict)
        assert done.returncode == CODES[word]


@pytest.mark.parametrize('image, module', [('osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0', 'osu-container'),
                                           ('osu-mpi4py-4.1.2-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0-libcxi',
                                            'osu-mpi4py')])
def test_an_image_that_is_not_here_is_to_be_built_and_installed_by_its_easyconfig(image, module, tmp_path):
    build, recommendation, installation = check(image, '--site', GPU, cwd=tmp_path).stdout.splitlines()[-3:]
    approach = re.match(rf' +eb {module}-(\w+)\.eb ', installation)[1]
    assert build == f'    osu-container image build {image}' and approach in recommendation
    assert installation == f'    eb {module}-{approach}.eb -r --try-amend=image={image}.sif --try-amend=site={GPU}'
    assert (PROJECT / f'easyconfigs/o/{module}/{module}-{approach}.eb').exists()


@pytest.mark.parametrize('image, site, names', [
    ('osu-alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi', 'frontier',
     ['NVIDIA', 'CUDA 12.8.1', 'AMD', 'gfx90a']),
    ('osu-workstation-mpich-4.2.3-libfabric-1.22.0', 'alps', ['x86_64', 'aarch64']),
])
def test_an_image_for_another_machine_is_reported(image, site, names, tmp_path):
    done = check(image, '--site', site, cwd=tmp_path)
    assert done.returncode == 6 and all(name in done.stdout for name in names), done
    data = json.loads(check(image, '--site', site, '--json', cwd=tmp_path).stdout)
    assert data['described'] and data['image']['described'] and data['host'] in folded(done.stdout)
