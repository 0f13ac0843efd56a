"""
Test that all commands of the pages parse, and run the commands that a workstation can run.

The commands of a page run in one shell after `. ./env.sh`, except commands that match NOT_RUN. The
shell has its own HOME, EasyBuild folders, EBU_USER_PREFIX and results, in a new folder with links
to the files of the clone, so the tests change no file of the user. If the tests run as root, a
separate account runs the pages for ordinary users.
"""

import html
import importlib
import os
import re
import shlex
import tempfile
from dataclasses import dataclass
from pathlib import Path

import markdown
import pytest

from osu_container.cli import COMMANDS, Parser
from tests.build.test_images_run import build_image  # noqa: F401, a fixture
from tests.helpers import example_runs as results_data
from tests.helpers import foreign_images
from tests.helpers.machine import PROJECT, STATE, run

pytestmark = pytest.mark.system

PAGES = sorted(
    [PROJECT / 'README.md', PROJECT / 'CONTRIBUTING.md', *(PROJECT / 'docs').rglob('*.md')]
)
#: Pages that `make test` runs; `make test-all` runs the others too
WALKED = 'README|install-lumi|lumi-more|your-own-container|proof'
#: Pages for the staff of a system; an ordinary user runs the other pages
#: (tests/runs/test_ordinary_user.py)
OF_SUPPORT = 'for-your-site|support'
#: Pages for systems that this machine is not, and the commands of these pages that still run
ELSEWHERE, RUN_ELSEWHERE = (
    'install-lumi|lumi-more|other-systems|mpi4py|gpu',
    r'eb osu-.*|export .*|osu-container compare .*',
)
#: Commands that do not run here: they need LUMI, a network, a registry, a user's image or hours, or
#: they remove files of the user
NOT_RUN = (
    r'(make|git|scp|sbatch|patchelf|ln|lfs|sbcast|cp|sha256sum|tar|pip|python3|/apps/\S+|mpiexec) .*',
    r'(RELEASES|TRY)=.*',
    r'apptainer (key|sign|verify|push|pull) .*',
    r'osu-container-\S+/scripts/osu-container --version',
    r'module load LUMI.*',
    r'srun (--account=|.*singularity run ).*',
    r'cd \$EBU_USER_PREFIX/sources',
    r'export OSU_CONTAINER_PYTHON=.*',
    r'(bin/)?osu-container bench .*(--tag published|bind-mpich).*',
    r'scripts/osu-container image build (?!--check).*',
    r"osu-container check FILE\.sif --program '.*",
    r'osu-container new cray-\S+ .*',
    r'eb pytorch-swap\.eb',
    r'osu-container proof --expect .*',
)
#: Pages on which `eb` runs with --dry-run, which tests the name of the easyconfig and the options
DRY_RUN = 'install-lumi|lumi-more|other-systems|mpi4py|images|abi'
#: Command -> its valid exit codes (tuple of int), if the exit code is the result of the command
CODES = {r'osu-container check ': (0, 4, 5, 6, 7), r'osu-container compare |^diff ': (0, 1)}
#: First lines of code blocks that contain output or files instead of commands
NOT_COMMANDS = (
    r'SIF: labels',
    r'step \d+\.0: ',
    r'OVERRIDES = \{',
    r'host not inspected; ',
    r'\w+ +(PROBABLY|UNKNOWN if) ',
    r'osu-entrypoint: ',
    r'Each row runs',
    r' +pure +bind',
    r'# osu_bw: mpi4py',
)
OTHER_RUN = '20261120T131244Z'
IMAGE = 'osu-workstation-mpich-4.2.3-libfabric-1.22.0'
#: Command -> command that first creates its files, which another block of the page describes
BEFORE = {
    r'\b(mine|bare)\.txt': (
        "printf '# OSU MPI Bandwidth Test v7.5\\n# Size Bandwidth (MB/s)\\n1 2.00\\n' >mine.txt; "
        'sed s/2.00/2.02/ mine.txt >theirs.txt; cp mine.txt bare.txt; cp theirs.txt container.txt'
    ),
    r'compare imported$': (
        "printf '# OSU MPI Bandwidth Test v7.5\\n# Size Bandwidth (MB/s)\\n1 2.00\\n' >one.txt; "
        'sed s/2.00/2.02/ one.txt >two.txt; '
        'scripts/osu-container import native=one.txt hybrid=two.txt -o imported >imported.txt'
    ),
    r'discover --sysroot frontier': '[ -e frontier ] || tests/stand_in/make frontier frontier --facts-only >made.txt',
    r'(diff |--site |=)site\.py': '[ -e site.py ] || osu-container discover -o site.py >out.txt',
    r'diff site\.py node\.py': '[ -e node.py ] || cp site.py node.py',
    r'lammps\.sif': '[ -e lammps.sif ] || { ln -s "$LAMMPS" lammps.sif; printf '
    f'{shlex.quote(foreign_images.MELT)} >in.lj; }}',
}
OLDER = 'osu-workstation-mpich-4.2.3-libfabric-1.17.0'
BEFORE[re.escape(f'check {OLDER}')] = f'[ -e {OLDER}.sif ] || ln -s "$OLDER" {OLDER}.sif'
HOST_MPI = STATE / 'host' / 'opt' / 'mpich' / '5.0.2' / 'lib'
#: Placeholder of a page, or command that takes long -> replacement on this machine
PLACEHOLDERS = {
    r'\bNAME\b': IMAGE,
    r'\bFILE\.sif\b': f'sources/{IMAGE}.sif',
    r'\bslurm-\d+\.out\b': 'slurm.out',
    r'\bOTHER-RUN\b': OTHER_RUN,
    # stands for the modules with which users of a system build MPI programs
    r'^(?=(srun -N1 )?(bin/)?osu-container discover -o )': f'LD_LIBRARY_PATH={HOST_MPI} ',
    r'(?<!-)\bRUN\b': results_data.RUN,
    # fewer iterations of each message size
    r'\bsrun .*\bosu_\w+(?= H H$)': r'\g<0> -i 10 -x 1',
}


@dataclass(frozen=True)
class Line:
    """
    A command line of a page.

    :param command: the line without its comment
    """

    page: str
    command: str
    block: str

    def is_run(self):
        """Return whether this line is run here."""
        if self.block.startswith('#!'):
            return False
        patterns = NOT_RUN if not re.search(ELSEWHERE, self.page) else (f'(?!{RUN_ELSEWHERE}).*',)
        return not any(re.fullmatch(pattern, self.command) for pattern in patterns)

    def is_dry_run(self):
        """Return whether EasyBuild only looks for the easyconfig."""
        return self.command.startswith('eb ') and bool(
            re.search(DRY_RUN, self.page) or 'lumi-multitorch' in self.command
        )

    def codes(self):
        """Return the valid exit codes (tuple of int) of this command."""
        return next(
            (codes for pattern, codes in CODES.items() if re.search(pattern, self.command)), (0,)
        )

    def format_local_text(self):
        """
        Return the text (str) of this line for this machine: short measurements, names that exist
        here.
        """
        text = self.command.removeprefix('$ ')
        for pattern, here in PLACEHOLDERS.items():
            text = re.sub(pattern, here, text)
        if 'osu-container bench' in text and '--dry-run' not in text:
            modules = (
                '' if '--module ' in text else ' --module osu-native --module osu-container/hybrid'
            )
            text = f'{re.sub(" --(repeats|account|tag) [^ ]+", "", text)} --repeats 1{modules}'
            text += '' if ' --run ' in text else ' --tag demo osu_bw'
        if self.is_dry_run():
            return text + ' --dry-run'
        again = text.startswith('eb ') and not re.search(' --(rebuild|sanity-check-only)', text)
        return text + (' --rebuild' if again else '')


def list_code_blocks(page):
    """Return the code blocks (list of str) that the site's Markdown finds in a page (Path)."""
    text = markdown.markdown(page.read_text(), extensions=['tables', 'pymdownx.superfences'])
    return [
        html.unescape(re.sub('<[^>]+>', '', block))
        for block in re.findall(r'<code>([^<]*\n)</code>', text)
    ]


def list_command_lines(page):
    """
    Return the command lines (list of Line) of a page (Path).

    What follows a blank and # is a comment. In a block that begins with '$ ' the other lines are
    output.
    """
    found, name = [], str(page.relative_to(PROJECT))
    for block in list_code_blocks(page):
        if any(re.match(pattern, block) for pattern in NOT_COMMANDS):
            continue
        rows = re.sub(r'\\\n\s*', '', block).splitlines()
        if block.startswith('$ '):
            rows = [row for row in rows if row.startswith('$ ')]
        commands = [re.sub(r'(^|\s+)# .*$', '', row).strip() for row in rows]
        found += [Line(name, command, block) for command in commands if command]
    return found


LINES = [line for page in PAGES for line in list_command_lines(page)]


@pytest.mark.parametrize('page', sorted({line.page for line in LINES}))
def test_commands_of_a_page_parse(page):
    """Parse the command with bash, and the options of osu-container with its own parser."""
    for line in (line for line in LINES if line.page == page):
        command = line.command.removeprefix('$ ')
        done = run(['bash', '-n'], input=line.block if line.block.startswith('#!') else command)
        assert done.returncode == 0, f'{command}: {done.stderr}'
        for words in re.findall(r'(?:^|[ /])osu-container (\w[^&|>]*)', command):
            name, *words = shlex.split(words)
            if name in COMMANDS:
                parser = Parser(prog=name)
                importlib.import_module(COMMANDS[name][0]).add_arguments(parser)
                parser.parse_args(words)


def test_benchmark_options_precede_the_buffers():
    """The C programs ignore options after the buffers, and measure every message size."""
    behind = re.compile(r'\bosu_\w+ .*\b[HDM] [HDM] +-')
    assert [f'{line.page}: {line.command}' for line in LINES if behind.search(line.command)] == []


@pytest.fixture(scope='session')
def run_in_clone(tmp_path_factory):
    """
    Function (script, timeout in seconds) that runs bash in the clone with folders of its own;
    CompletedProcess.
    """
    folder = tmp_path_factory.mktemp('commands')
    (folder / 'home').mkdir()
    environment = {
        'PATH': '/usr/local/bin:/usr/bin:/bin',
        'LC_ALL': 'C.UTF-8',
        'HOME': str(folder / 'home'),
        'XDG_DATA_HOME': 'share',
        'COLUMNS': '100',  # the width of outputs on the pages
        'EASYBUILD_PREFIX': str(folder / 'easybuild'),
        'EBU_USER_PREFIX': str(folder / 'lumi'),
    }

    def call(script, timeout=120, **variables):
        # Commands write relative paths into a new folder with links to the files of the clone, and
        # `latest` is a run of this page
        clone = Path(tempfile.mkdtemp(prefix='clone-', dir=folder))
        for path in PROJECT.iterdir():
            if not path.name.startswith('.git'):
                (clone / path.name).symlink_to(path)
        for seed, name in enumerate((OTHER_RUN, results_data.RUN)):
            results_data.make_run(clone / 'runs' / name, run=name, seed=seed)
        (clone / 'logs').mkdir()
        for path in ('slurm.out', 'logs/slurm.out'):  # output of a job
            (clone / path).write_text('# Size  Bandwidth\ncxip_gen_auth_key failed: -38\n')
        text = f'set -eu; cd "{clone}"; . ./env.sh; set +eu\n{script}\n'
        results = {'OSU_CONTAINER_RESULTS': str(clone / 'runs')}
        return run(
            ['bash', '--norc', '-c', text],
            env={**environment, **results, **variables},
            timeout=timeout,
        )

    return call


def list_page_cases():
    """
    Return the parameters of the pages that are run: (Lines, whether they want modules and
    Slurm).
    """
    for page in PAGES:
        lines = [
            line for line in LINES if line.page == str(page.relative_to(PROJECT)) and line.is_run()
        ]
        needs = r'srun|bench|\.sif|--installed|(load|compare) osu-|^eb '
        modules = any(re.search(needs, line.command) and not line.is_dry_run() for line in lines)
        if lines:
            marks = [] if re.search(WALKED, lines[0].page) else [pytest.mark.nightly]
            marks += (
                []
                if re.search(OF_SUPPORT, lines[0].page)
                else [
                    pytest.mark.skipif(
                        os.getuid() == 0, reason='tests/runs/test_ordinary_user.py runs it'
                    )
                ]
            )
            yield pytest.param(lines, modules, id=lines[0].page, marks=marks)


@pytest.mark.usefixtures('slurm')
@pytest.mark.parametrize('lines, modules', list_page_cases())
def test_a_page_runs_from_top_to_bottom_in_one_shell(
    run_in_clone,
    build_image,  # noqa: F811
    request,
    tmp_path,
    lines,
    modules,
):
    variables = {}
    if modules:
        # a page with its own site file installs into its own folder
        own = any('site=site.py' in line.command for line in lines)
        variables['EASYBUILD_PREFIX'] = str(
            tmp_path if own else request.getfixturevalue('shell').prefix
        )
    if any('lammps.sif' in line.command for line in lines):
        variables['LAMMPS'] = str(
            foreign_images.make('lammps', request.getfixturevalue('apptainer'))
        )
    if any(OLDER in line.command for line in lines):
        variables['OLDER'] = str(build_image(OLDER))
    script = ['exec 2>&1']
    for number, line in enumerate(lines):
        script += [first for pattern, first in BEFORE.items() if re.search(pattern, line.command)]
        script += [
            f"printf '\\n@%s\\n' {number}",
            line.format_local_text(),
            "printf '\\n@ended %s\\n' $?",
        ]
    done = run_in_clone('\n'.join(script), timeout=1800, **variables)
    printed = re.split(r'^@(\d+)\n', done.stdout, flags=re.M)
    assert printed[1::2] == [str(number) for number in range(len(lines))], done
    wrong = []
    for line, text in zip(lines, printed[2::2]):
        output, _, code = text.rpartition('\n@ended ')
        if int(code) not in line.codes() or not has_expected_output(line, output):
            wrong.append(f'{line.format_local_text()}: exit code {code}{output[-3000:]}')
    assert not wrong, '\n\n'.join(wrong)


def has_expected_output(line, output):
    """Return whether the output (str) of a Line shows that the command has worked."""
    if line.is_dry_run():
        return (
            f"(module: {re.match('eb (osu-(native|container|mpi4py))', line.command)[1]}/" in output
        )
    return 'srun osu_bw' not in line.command or re.search(r'^ *4194304 +[\d.]+$', output, re.M)
