"""
The command osu-container check: what it prints, its exit codes, and what it says of input that
is none.
"""

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from osu_container.base.terminal import ESCAPES
from osu_container.check.cli import CONTAINER_APPROACHES, EXIT_CODES, REPORT_LINES
from osu_container.check.site import LOCAL_FILE_NAME, find_local_file
from osu_container.cli import main
from osu_container.data.approaches import APPROACHES
from osu_container.image.image import Image
from osu_container.verdict.dry_run import parse_listing
from osu_container.verdict.rules.finding import NOTE
from osu_container.verdict.settings import resolve_approach
from osu_container.verdict.site_choice import resolve_site
from osu_container.verdict.trial import HostFileSystem
from osu_container.verdict.verdict import evaluate_approach
from tests.helpers.elf_folder import (
    ElfFolder,
    fill_good_host,
    fill_good_image,
    mpich,
    open_mpi,
    pack,
    write_sif,
)
from tests.helpers.machine import PROJECT, fold_whitespace, run
from tests.helpers.verdict_cases import GPU, PLAIN, build_mpi
from tests.stand_in.pairs.parts import runtime

COMMAND = PROJECT / 'scripts' / 'osu-container'
#: The images here have no entrypoint, so swap is not among what is looked at unless it is asked for
LOOKED_AT = [name for name in CONTAINER_APPROACHES if not APPROACHES[name].get('entrypoint')]


def check(*arguments, command=(COMMAND,), **kwargs):
    """Run the command and return the CompletedProcess. It never ends in a traceback."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(('EASYBUILD_', 'LUMI_'))
    }
    done = run([*command, 'check', *arguments], env=environment, **kwargs)
    assert 'Traceback' not in done.stderr, done
    return done


def check_json(*arguments, **kwargs):
    """Run the command with --json and return the data."""
    return json.loads(check(*arguments, '--json', **kwargs).stdout)


class Place:
    """The good image, as folder and as SIF, and the good host of a site. Tests only read them."""

    def __init__(self, folder, parts, site):
        self.folder, self.parts, self.site = folder, parts, site
        self.image, self.host = ElfFolder(folder / 'image'), ElfFolder(folder / 'host')
        fill_good_image(self.image, parts)
        fill_good_host(self.host, parts, resolve_site(site))
        self.sif = folder / 'good.sif'
        write_sif(
            self.sif,
            pack(self.image.root, folder / 'squashfs').read_bytes(),
            {'org.osu-container.mpi': 'MPICH', 'org.osu-container.libcxi': '1.0.2-SHS12.0.2'},
        )

    def list_arguments(self, *image):
        """Return arguments for the command: the image, or image (a Path) instead, on this host."""
        return [*(image or [self.image]), '--site', self.site, '--sysroot', self.host]


@pytest.fixture(scope='module')
def place(tmp_path_factory, parts):
    return Place(tmp_path_factory.mktemp('place'), parts, GPU)


@pytest.fixture
def make_image(tmp_path, parts):
    """Function: an image of its own for a test, good but for the parts that are given."""

    def make(**others):
        return fill_good_image(ElfFolder(tmp_path / 'own'), parts, **others)

    return make


# ---- what it says


def test_text_and_json_have_the_same_findings(place, make_image, parts):
    own = make_image(mpi=parts.mpi(mpich('4.0.3', hmem=False)), rocm='7.1.0')
    done = check(*place.list_arguments(own), '--verbose')
    text, data = (
        fold_whitespace(done.stdout),
        check_json(*place.list_arguments(own)),
    )
    assert [one['approach'] for one in data['verdicts']] == LOOKED_AT
    for one in data['verdicts']:
        assert one['approach'] == 'openmpi' or f"{one['approach']} {one['verdict'].upper()}" in text
        for finding in one['findings']:
            if finding['rule'] != 'other MPI':  # reported once for all
                assert finding['reason'] in text and (finding['remedy'] or '') in text
    assert {finding['rule'] for one in data['verdicts'] for finding in one['findings']} >= {
        'capability set',
        'ROCm release',
        'TCP only',
        'other MPI',
    }
    assert re.search(
        rf'{own} .*libmpi\.so\.12 .*/opt/mpich/lib\b.*ROCm 7\.1\.0\b.* {GPU} .*{place.host}', text
    )


@pytest.mark.parametrize('site, wanted', [(GPU, 'opensource'), (PLAIN, 'pure')])
def test_check_ends_with_the_recommended_eb_command(tmp_path, parts, site, wanted):
    place = Place(tmp_path, parts, site)
    done = check(*place.list_arguments(place.sif))
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1].split() == [
        'eb',
        f'osu-container-{wanted}.eb',
        '-r',
        '--try-amend=image=good.sif',
        f'--try-amend=site={site}',
        f'--sysroot={place.host}',
    ], 'for the site that was asked for'


@pytest.mark.parametrize(
    'release, setuid, wanted',
    [('1.2.5', 0, 'works slowly'), ('1.2.5', 1, 'works')],
)
def test_local_runtime_sharing_affects_the_verdict(
    place, tmp_path, monkeypatch, release, setuid, wanted
):
    runtime = tmp_path / 'singularity'
    runtime.write_text(
        f'#!/bin/sh\necho "apptainer version {release}\nAPPTAINER_SUID_INSTALL={setuid}"\n'
    )
    runtime.chmod(0o755)
    monkeypatch.setenv('PATH', f"{tmp_path}:{os.environ['PATH']}")
    data = check_json(*place.list_arguments(), '--approach', 'bind')
    assert data['verdicts'][0]['verdict'] == wanted
    assert data['runtime'] == {
        'command': str(runtime),
        'name': 'apptainer',
        'release': release,
        'setuid': bool(setuid),
    }


# ---- the dry run: what the image's own loader lists

GLIBC_LIST = """\tlinux-vdso.so.1 (0x00007ffd)
\tlibmpi.so.12 => /opt/mpich/lib/libmpi.so.12 (0x00007f2a)
\t/opt/a/libpre.so (0x00007f2b)
\tliba b.so => /opt/mpi ü/lib/liba b.so (0x00007f2c)
\tlibgone.so.1 => not found
/opt/x: /usr/lib/libfabric.so.1: version `FABRIC_1.9' not found (required by /opt/mpich/lib/libmpi.so.12)
undefined symbol: fi_open, version FABRIC_1.9\t(/opt/mpich/lib/libmpi.so.12)
undefined symbol: MPI_Init_c\t(/opt/x)
"""
MARKED = 'osu-container-dry-run\nA=b=c\\u000Ad\nHOME=/root\nosu-container-dry-run\n'


@pytest.mark.parametrize(
    'output, problem, wanted',
    [
        (
            MARKED + GLIBC_LIST,
            'None',
            {
                'environment': {'A': 'b=c\nd', 'HOME': '/root'},
                'missing_libraries': {'libgone.so.1'},
                'libraries': {
                    'libmpi.so.12': '/opt/mpich/lib/libmpi.so.12',
                    'libpre.so': '/opt/a/libpre.so',
                    'liba b.so': '/opt/mpi ü/lib/liba b.so',
                },
                'complaints': {'libgone.so.1', 'FABRIC_1.9'},
            },
        ),
        (
            MARKED
            + '\t/lib/ld-musl-x86_64.so.1 (0x7f)\n\tlibmpi.so.12 => /usr/lib/libmpi.so.12 (0x7f)\n'
            'Error loading shared library libgone.so.1: No such file or directory (needed by /opt/x)\n'
            'Error relocating /opt/x: MPI_Init: symbol not found\n',
            'None',
            {
                'libraries': {
                    'ld-musl-x86_64.so.1': '/lib/ld-musl-x86_64.so.1',
                    'libmpi.so.12': '/usr/lib/libmpi.so.12',
                },
                'missing_libraries': {'libgone.so.1'},
                'complaints': {'libgone.so.1'},
            },
        ),
        (
            MARKED
            + '/opt/x: error while loading shared libraries: /usr/lib/liba.so: file too short\n',
            '/opt/x: error while loading shared libraries: /usr/lib/liba.so: file too short',
            {'is_conclusive': True},
        ),
        (MARKED, '(?!None).*', {'is_conclusive': False}),
        ('bye\n', '.*bye', {'environment': None, 'is_conclusive': True}),
        (
            'FATAL:   no such image\n',
            '.*FATAL:   no such image',
            {'environment': None, 'is_conclusive': False},
        ),
    ],
)
def test_loader_listing_is_parsed(output, problem, wanted):
    found = parse_listing(output)
    assert re.fullmatch(problem, str(found.problem))
    assert {name: getattr(found, name) for name in wanted} == wanted


def judge_twice(own, place, approach, script='', program=None, afterwards=None):
    """
    Return (level from the files, Trial and Verdict with the image's loader) of a changed image.

    afterwards: changes the image before its loader lists anything.
    """
    for name in ('proc', 'sys', 'dev', 'tmp', 'var/tmp', 'root', 'home'):
        (own.root / name).mkdir(parents=True, exist_ok=True)
    own.write('/.singularity.d/env/90-environment.sh', script)
    with Image(str(own), 'osu_') as image:
        arguments = (
            resolve_approach(approach),
            resolve_site(GPU),
            image,
            HostFileSystem(str(place.host)),
            program,
        )
        level = evaluate_approach(*arguments)[1].level
        if afterwards:
            afterwards(own)
        return (level, *evaluate_approach(*arguments, runtime(), dry_run=True))


def add_first_mpi(own):
    own.copy(own.resolve_path('/opt/mpich/lib/libmpi.so.12'), '/opt/first/libmpi.so.12')


def add_wrapper(own):
    own.copy(own.resolve_path('/opt/osu/bin/osu_latency'), '/bin/sh')
    own.write(
        '/opt/start',
        '#!/bin/sh\nexport LD_LIBRARY_PATH=$PWD/lib:$LD_LIBRARY_PATH\n'
        'exec /opt/osu/bin/osu_latency\n',
    )
    own.resolve_path('/opt/start').chmod(0o755)


@pytest.mark.system
@pytest.mark.parametrize(
    'approach, changes, before, after, says',
    [
        ('hybrid', {}, 'works', 'works', (NOTE, '/opt/osu/bin/osu_latency')),
        ('bind', {}, 'works', 'works', (NOTE, '/opt/osu/bin/osu_latency')),
        # the runtime has followed what no reader can, and which program a name on PATH is follows
        # from that
        (
            'hybrid',
            {
                'script': 'eval "export FI_PROVIDER=cxi PATH=/opt/osu/bin:$PATH"\n',
                'program': 'osu_latency',
            },
            'unknown',
            'works',
            (NOTE, '/opt/osu/bin/osu_latency'),
        ),
        ('hybrid', {'script': 'exit 0\n'}, 'fails', 'fails', (NOTE, 'scripts')),
        # what was read is not there any more: as if the reader was wrong
        (
            'hybrid',
            {'afterwards': lambda own: own.resolve_path('/opt/mpich/lib/libmpi.so.12').unlink()},
            'works',
            'fails',
            (NOTE, '/opt/osu/bin/osu_latency'),
        ),
        # the user's binds apply to the dry run: they hide the MPI, or the first of two
        (
            'pure',
            {'hidden': '/opt/mpich/lib'},
            'fails',
            'fails',
            (NOTE, '/opt/osu/bin/osu_latency'),
        ),
        (
            'pure',
            {
                'hidden': '/opt/first',
                'prepare': add_first_mpi,
                'script': 'export LD_LIBRARY_PATH=/opt/first:$LD_LIBRARY_PATH:/opt/mpich/lib\n',
            },
            'works slowly',
            'works slowly',
            (NOTE, '/opt/osu/bin/osu_latency'),
        ),
        # the loader did not have the path that the program gets
        (
            'hybrid',
            {'prepare': add_wrapper, 'program': '/opt/start'},
            'unknown',
            'unknown',
            ('unknown', 'libmpi.so.12'),
        ),
    ],
)
def test_loader_of_the_image_gives_a_second_opinion(
    make_image, place, monkeypatch, tmp_path, approach, changes, before, after, says
):
    own, changes = make_image(), dict(changes)
    (tmp_path / 'empty').mkdir()
    if 'hidden' in changes:
        monkeypatch.setenv('APPTAINER_BIND', f"{tmp_path}/empty:{changes.pop('hidden')}")
    changes.pop('prepare', id)(own)
    level, _, verdict = judge_twice(own, place, approach, **changes)
    (found,) = [one for one in verdict.findings if one.rule == 'dry run']
    assert (level, verdict.level, found.level) == (before, after, says[0]), verdict
    assert says[1] in found.reason


def add_python(own, parts, script):
    """Add this machine's Python to an image, an mpi4py for MPICH, and a program of text script."""
    code = (
        'import os, site, sys, sysconfig as s; print(os.path.realpath(sys.executable), '
        's.get_path("stdlib"), site.getsitepackages()[0], s.get_config_var("EXT_SUFFIX"))'
    )
    python, library, packages, suffix = run(['/usr/bin/python3', '-c', code]).stdout.split()
    own.copy(python)
    for name in ('encodings', 'importlib', 'collections', 're', 'ctypes'):
        shutil.copytree(f'{library}/{name}', own.resolve_path(f'{library}/{name}'))
    for path in Path(library).glob('*.py'):
        own.copy(path)
    for line in run(['ldd', python]).stdout.splitlines():
        path = re.search(r'=> (/\S+)', line)
        if path and not own.resolve_path(path.group(1)).exists():
            own.copy(path.group(1))
    if os.path.isdir('/usr/lib/python3/dist-packages'):  # Debian's Python
        own.write('/usr/lib/python3/dist-packages/README.txt', '')
    name = f'MPI{suffix}'
    own.copy(parts.plain(name, needed=[parts.mpi()]), f'{packages}/mpi4py/{name}')
    own.write(f'{packages}/mpi4py/__init__.py', '')
    own.write('/opt/run', script.replace('PYTHON', python)).resolve_path('/opt/run').chmod(0o755)
    return packages


@pytest.mark.system
@pytest.mark.parametrize(
    'option, environment, file, before, after',
    [
        ('', '', None, 'works', None),
        (' -I', '', None, 'works', None),
        (' -S', '', None, 'unknown', 'mpi4py'),
        ('', 'export PYTHONHOME=/nowhere\n', None, 'unknown', 'Error'),
        ('', 'export PYTHONPATH=/opt/stub\n', '/opt/stub/mpi4py/__init__.py', 'unknown', 'mpi4py'),
        ('', '', 'PACKAGES/x.pth', 'unknown', None),
    ],
)
def test_python_of_the_image_finds_its_mpi4py(
    place, make_image, parts, option, environment, file, before, after
):
    """Static verdict before; after: what Python cannot import, None if it finds mpi4py."""
    own = make_image()
    packages = add_python(own, parts, f'#!PYTHON{option}\nfrom mpi4py import MPI\n')
    if file:
        own.write(file.replace('PACKAGES', packages), '')
    level, trial, verdict = judge_twice(own, place, 'bind', environment, '/opt/run')
    assert (level, verdict.level) == (before, 'fails' if after else 'works'), verdict
    assert (after or '') in str(trial.listing.python_problem)
    assert after or packages in trial.listing.mpi4py


def test_dry_run_for_another_site_is_refused(place):
    image = 'osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0'
    done = check(image, '--site', GPU, '--dry-run')
    assert done.returncode == 1 and f'osu-container check {image} --dry-run' in done.stderr


def read_text_report(monkeypatch, capsys, columns, *arguments):
    monkeypatch.setenv('COLUMNS', columns)
    main(['check', *map(str, arguments)])
    return capsys.readouterr().out


def require_short_report(text):
    """Six approaches fit a screen; no reason is repeated and no command is wrapped."""
    lines = text.splitlines()
    assert len(lines) <= REPORT_LINES == 25, text
    assert all(line.count('`') % 2 == 0 for line in lines), text
    sentences = [
        line for line in lines[1:] if len(line) > 30 and line[:12].strip() not in LOOKED_AT
    ]
    assert len(set(sentences)) == len(sentences), text


@pytest.mark.parametrize('columns', ['80', '120'])
@pytest.mark.parametrize(
    'changes',
    [
        {},
        {'program': None, 'rocm': None},
        {'mpi': build_mpi(open_mpi(), 'libmpi.so.40')},
        {'mpi': build_mpi(mpich('4.0.3', 'ch4:ucx ofi', hmem=False))},
        {'mpi': build_mpi(needs=9), 'environment': {'CXI_FORK_SAFE': '1', 'LD_AUDIT': 'a'}},
    ],
)
def test_report_fits_a_screen(place, make_image, parts, monkeypatch, capsys, changes, columns):
    own = make_image(
        **{key: value(parts) if callable(value) else value for key, value in changes.items()}
    )
    require_short_report(read_text_report(monkeypatch, capsys, columns, *place.list_arguments(own)))


def test_levels_are_coloured_on_request(place, monkeypatch, capsys):
    plain = read_text_report(monkeypatch, capsys, '100', *place.list_arguments())
    monkeypatch.setenv('NO_COLOR', '1')
    colored = read_text_report(
        monkeypatch, capsys, '100', *place.list_arguments(), '--color', 'always'
    )
    assert '\033' not in plain and re.search(r'^hybrid +\033\[1;32mWORKS\033\[0m ', colored, re.M)
    assert ESCAPES.sub('', colored) == plain


def test_no_approach_is_recommended_when_all_fail(place, make_image, parts):
    own = make_image(mpi=parts.mpi(needed=[parts.plain('libgone.so.1')]))
    nothing = ['--site', GPU, '--sysroot', own]  # a host that has none of the site's libraries
    done = check(own, *nothing)
    assert done.returncode == EXIT_CODES['fails'] and not re.search(r'^ *eb ', done.stdout, re.M)
    assert check_json(own, *nothing)['recommended'] is None
    assert check_json(*place.list_arguments(own))['recommended'] == 'bind', (
        'another MPI needs it not'
    )


def test_sif_folder_and_squashfs_are_judged_alike(place):
    one, other, bare = (
        json.dumps(check_json(*place.list_arguments(image))['verdicts']).replace(
            str(image), 'IMAGE'
        )
        for image in (place.image, place.sif, place.folder / 'squashfs')
    )
    assert one == other == bare and '"works slowly"' in one and '"fails"' in one


# ---- exit codes and options


@pytest.mark.parametrize(
    'approach, others, code',
    [
        ('hybrid', {}, 0),
        ('pure', {}, 4),
        ('hybrid', {'program': None}, 5),
        ('hybrid', {'mpi': build_mpi(mpich('3.1.4', 'ch3:nemesis'), needs=None)}, 7),
        (None, {}, 0),
        (None, {'mpi': build_mpi(open_mpi(), 'libmpi.so.40')}, 6),
    ],
)
def test_exit_code_reports_the_requested_or_best_verdict(
    place, make_image, parts, approach, others, code
):
    own = make_image(**{name: make(parts) if make else None for name, make in others.items()})
    arguments = [*place.list_arguments(own), *(['--approach', approach] if approach else [])]
    data = check_json(*arguments)
    assert (
        check(*arguments).returncode
        == code
        == min(EXIT_CODES[one['verdict']] for one in data['verdicts'])
    )
    assert not approach or [one['approach'] for one in data['verdicts']] == [approach]


# ---- sites of a file


def write_site_file(tmp_path, text):
    path = tmp_path / 'site.py'
    path.write_text(text)
    return path


def test_check_reads_the_site_of_a_site_file(place, tmp_path):
    path = write_site_file(
        tmp_path,
        f'''SITE = 'mine'
SITES = {{'mine': {{'based_on': '{GPU}', 'title': 'My system', 'libraries': {{'libfabric': {{
    'value': '/opt/elsewhere/libfabric.so.1', 'why': 'w', 'source': 's', 'date': '2026-11-21',
    'evidence': 'measured'}}}}}}}}
''',
    )
    done = check(place.image, '--site', path, '--sysroot', place.host, '--approach', 'hybrid')
    assert done.returncode == 6
    assert (
        re.search(r'\bmine\b.*My system', done.stdout)
        and '/opt/elsewhere/libfabric.so.1' in done.stdout
    )
    write_site_file(tmp_path, f"SITE = '{GPU}'\nROOT = {str(place.host)!r}\n")
    done = check(place.image, '--site', path, '--approach', 'hybrid')
    assert done.returncode == 0 and str(place.host) in done.stdout
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ['site.py'], (
        'no byte code beside it'
    )


def test_check_reads_the_local_file_that_easybuild_reads(tmp_path, monkeypatch):
    from easybuild.tools.filetools import expand_glob_paths

    """LUMI's EasyBuild-user names easyblocks by patterns."""
    for name in (
        'blocks/generic/other.py',
        f'blocks/generic/{LOCAL_FILE_NAME}',
        f'second/{LOCAL_FILE_NAME}',
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('')
    monkeypatch.setenv('HOME', str(tmp_path))
    patterns = ['~/blocks/*/*.py', f'{tmp_path}/second/{LOCAL_FILE_NAME}']
    monkeypatch.setenv(
        'EASYBUILD_INCLUDE_EASYBLOCKS', ','.join(['', f'{tmp_path}/none/*.py', *patterns])
    )
    assert find_local_file() == next(
        path for path in expand_glob_paths(patterns) if path.endswith(LOCAL_FILE_NAME)
    )


# ---- the published runs


def test_published_prints_each_cell_and_the_counts(monkeypatch, capsys):
    monkeypatch.setenv('COLUMNS', '400')
    assert main(['check', '--published']) == 0
    _, *lines, last = capsys.readouterr().out.splitlines()
    assert len(lines) == 35 and re.findall(r'\d+', last) == ['33', '2', '0']
    assert [line.split()[0] for line in lines].count('right') == 33


# ---- images that are none, or not as one wants them


def test_swap_is_judged_where_the_image_has_an_entrypoint(place, make_image):
    own = make_image()
    own.write('/.singularity.d/runscript', '#!/bin/sh\nexec /opt/start "$@"\n')
    own.write('/opt/start', 'find /host OSU_SWAP').resolve_path('/opt/start').chmod(0o755)
    said = {
        one['approach']: one['verdict']
        for one in check_json(*place.list_arguments(own))['verdicts']
    }
    assert list(said) == CONTAINER_APPROACHES and said['swap'] == said['hybrid'] == 'works'


def test_an_image_with_two_mpis_needs_a_program(place, make_image, parts):
    ours = parts.mpi(open_mpi(), 'libmpi.so.40')
    own = make_image(program=None, libraries=[ours])
    done = check(*place.list_arguments(own))
    assert done.returncode == 5 and ' --start -- ' in fold_whitespace(done.stdout)
    own.copy(parts.program(parts.mpi()), '/opt/one').copy(parts.program(ours), '/opt/other')
    for path, level in (('/opt/one', 'works'), ('/opt/other', 'fails')):
        arguments = [*place.list_arguments(own), '--program', path, '--approach', 'hybrid']
        assert [one['verdict'] for one in check_json(*arguments)['verdicts']] == [level]


@pytest.mark.parametrize(
    'path, code',
    [('/opt/none', 1), ('osu_latency', 1), ('/opt', 1), ('/etc/group', 6), ('/opt/text', 5)],
)
def test_invalid_program_is_reported(place, make_image, path, code):
    own = make_image()
    own.write('/etc/group', 'root:x:0:\n').write('/opt/text', 'exec app\n').resolve_path(
        '/opt/text'
    ).chmod(0o755)
    done = check(
        *place.list_arguments(own), '--program', path
    )  # a text that may be run may open MPI by itself
    assert done.returncode == code and (code != 1 or path in done.stderr)


# ---- hosts


def test_sif_needs_unsquashfs_and_folder_needs_no_program(place, tmp_path):
    done = run(
        [sys.executable, COMMAND, 'check', *place.list_arguments(place.sif)],
        env={'PATH': str(tmp_path)},
    )
    assert (done.returncode, done.stdout) == (1, '') and 'Traceback' not in done.stderr
    assert 'unsquashfs' in done.stderr and 'squashfs-tools' in done.stderr
    done = run(
        [sys.executable, COMMAND, 'check', *place.list_arguments()], env={'PATH': str(tmp_path)}
    )
    assert (done.returncode, done.stderr) == (0, '')


# Images that are not here


@pytest.mark.parametrize(
    'image, module',
    [
        ('osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0', 'osu-container'),
        ('osu-mpi4py-4.1.2-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0-libcxi', 'osu-mpi4py'),
    ],
)
def test_absent_image_gives_build_and_install_commands(image, module, tmp_path):
    build, recommendation, installation = check(
        image, '--site', GPU, cwd=tmp_path
    ).stdout.splitlines()[-3:]
    approach = re.match(rf' +eb {module}-(\w+)\.eb ', installation)[1]
    assert build == f'    osu-container image build {image}' and approach in recommendation
    assert (
        installation
        == f'    eb {module}-{approach}.eb -r --try-amend=image={image}.sif --try-amend=site={GPU}'
    )
    assert (PROJECT / f'easyconfigs/o/{module}/{module}-{approach}.eb').exists()
