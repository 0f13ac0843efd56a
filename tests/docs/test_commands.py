"""
Pages typed from top to bottom, each in one shell: what a workstation can run is run, the rest has a reason why not.

COMMANDS classifies the command lines by patterns. A line that no pattern knows fails, so new documentation must be
classified; so does a pattern that no line needs. A page is typed in a folder with links to all of the clone after
`. ./env.sh`, with HOME, EasyBuild's folders, LUMI's EBU_USER_PREFIX and results of its own: nothing of the user is
touched. Where the tests run as root, pages of ordinary users are typed by an account of its own.
"""
import html
import os
import re
import shlex
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import markdown
import pytest

from tests.helpers import example_runs as results_data
from tests.helpers import foreign_images
from tests.helpers.machine import PROJECT, STATE, run
from tests.image.test_images_run import built  # noqa: F401, a fixture

pytestmark = [pytest.mark.long, pytest.mark.alone]

PAGES = sorted([PROJECT / 'README.md', PROJECT / 'CONTRIBUTING.md', *(PROJECT / 'docs').rglob('*.md')])
OTHER_RUN = '20261120T131244Z'
IMAGE = 'osu-workstation-mpich-4.2.3-libfabric-1.22.0'

#: Why a command is not run here
REASONS = {
    'LUMI': "needs LUMI's modules, Slurm or file systems; tests/stand_in/test_stand_in_run.py has what can be shown",
    'system': "needs Frontier, Setonix or Perlmutter; tests/core/data/test_data.py has what can be shown",
    'batch': "needs PBS; tests/discover/test_networks.py runs it with the launcher of one node",
    'mpi4py': "needs the modules osu-mpi4py, with which tests/runs/test_mpi4py.py runs it",
    'network': "needs a server, an account or a registry",
    'GPU': "needs a GPU node",
    'long': "sets up the machine, measures for minutes or is this very test run",
    'writes': "writes files that are checked in; tests compare these with what it would write",
    'foreign': "needs a program or an image of the reader's; tests/new/test_new_run.py does the same with one",
    'release': "needs the files of a release; `make release` does the same with them on clean systems",
    'destroys': "removes what the user has; tests/workstation/test_workstation.py runs it on copies",
}
#: How a command is run here
WAYS = {
    'run': "as it stands",
    'shown': "as it stands, and prints what the page shows below it",
    'dry run': "with --dry-run: EasyBuild finds the easyconfig and takes the options",
    'install': "as it stands, and with --rebuild where the module is there",
    'modules': "as it stands, with all modules installed and Slurm running",
    'measure': "the same, with one repeat, but for README.md the short runs of the tag demo, and two modules where the "
               "page names none",
    'syntax': "bash reads the block: it is a job script for a system",
}
#: First line of code blocks that are no commands -> what they are
NOT_COMMANDS = {
    r'SIF: labels': 'a picture',
    r'step \d+\.0: ': 'a report, as tests/proof/test_proof_run.py finds it',
    r'OVERRIDES = \{': 'a file in Python, run by tests/docs/test_tables.py',
    r'host: described, not looked into': 'a line of a report, as tests/check/test_hosts.py finds it',
    r'\w+ +(WORKS, untested|UNKNOWN, its MPI)': 'a line of a report, as tests/core/deciding/test_evidence.py finds it',
    r'osu-entrypoint: ': 'a line of the entrypoint, as tests/runs/test_approaches.py finds it',
    r'approach +osu_bw': 'what make demo printed on one machine',
    r'# osu_bw: mpi4py': 'the head of an output, as tests/easyconfigs/test_osu_port.py finds it',
}
#: What must be there before a command runs, because another block of its page makes it
BEFORE = {
    r'\b(mine|bare)\.txt': (
        "printf '# OSU MPI Bandwidth Test v7.5\\n# Size Bandwidth (MB/s)\\n1 2.00\\n' >mine.txt; "
        'sed s/2.00/2.02/ mine.txt >theirs.txt; cp mine.txt bare.txt; cp theirs.txt container.txt'),
    r'compare imported$': (
        "printf '# OSU MPI Bandwidth Test v7.5\\n# Size Bandwidth (MB/s)\\n1 2.00\\n' >one.txt; "
        'sed s/2.00/2.02/ one.txt >two.txt; '
        'bin/osu-container import native=one.txt hybrid=two.txt -o imported >imported.txt'),
    r'discover --sysroot frontier': '[ -e frontier ] || tests/stand_in/make frontier frontier --facts-only >made.txt',
    r'discover --compare login\.json': 'osu-container discover -o login.json >out.txt; cp login.json node.json',
    r'(--compare |--site-file |=)site\.py': '[ -e site.py ] || osu-container discover -o site.py >out.txt',
    r'--compare site\.py node\.py': '[ -e node.py ] || cp site.py node.py',
    r'lammps\.sif': '[ -e lammps.sif ] || { ln -s "$LAMMPS" lammps.sif; printf '
                    f'{shlex.quote(foreign_images.MELT)} >in.lj; }}',
}
OLDER = 'osu-workstation-mpich-4.2.3-libfabric-1.17.0'
BEFORE[re.escape(f'check {OLDER}')] = f'[ -e {OLDER}.sif ] || ln -s "$OLDER" {OLDER}.sif'
HOST_MPI = STATE / 'host' / 'opt' / 'mpich' / '5.0.2' / 'lib'
#: What stands for a name of the user's in the pages, or takes long -> what it is here
PLACEHOLDERS = {
    r'\bNAME\b': IMAGE,
    r'\bFILE\.sif\b': f'sources/{IMAGE}.sif',
    r'\bslurm-\d+\.out\b': 'slurm.out',
    r'\bOTHER-RUN\b': OTHER_RUN,
    # the modules with which people build MPI programs there
    r'^(?=(srun -N1 )?(bin/)?osu-container discover -o )': f'LD_LIBRARY_PATH={HOST_MPI} ',
    r'(?<!-)\bRUN\b': results_data.RUN,
    # all sizes, each less often; the first lines of README.md measure as they stand
    r'\bsrun (.* )?-N2 .*\bosu_\w+(?= H H$)': r'\g<0> -i 10 -x 1',
}


class Rule(NamedTuple):
    """
    The first rule whose patterns fit counts.

    :param how: of REASONS or WAYS; command, page: pattern of the line and of the name of the page
    :param codes: exit codes (tuple of int) of which each is an answer
    """

    how: str
    command: str
    page: str = ''
    codes: tuple = (0,)


#: Pages of people who look after a system; the others are typed as an ordinary user (tests/runs/test_ordinary_user.py)
OF_SUPPORT = 'for-your-site|support'
ON_LUMI = 'install-lumi'
SYSTEMS = '/other-systems'
COMMANDS = [
    # For a site
    Rule('modules', r'(bin/)?osu-container check FILE\.sif --site-file site\.py', 'for-your-site', (0, 4, 5, 6)),
    Rule('modules', r'osu-container proof srun -N2 -n2 osu_latency H H', 'for-your-site'),
    Rule('install', r'eb osu-(container-\w+|native)\.eb( .*)?', 'for-your-site'),
    Rule('run', r'cd \$EASYBUILD_PREFIX|rm -rf (modules/\*|\{software,.*\})/osu-\{.*\}', 'for-your-site'),
    Rule('network', r'git pull|export OSU_CONTAINER_PYTHON=/apps/\S+', 'for-your-site'),
    Rule('network', r'python3 -m venv /apps/\S+|/apps/\S+/pip install -r osu_container/requirements\.txt',
         'for-your-site'),
    # A release
    Rule('long', r'(RELEASES=\w* )?make release', 'CONTRIBUTING|support'),
    Rule('release', r'sha256sum -c SHA256SUMS|tar xf osu-container-.*|osu-container-\S+/bin/osu-container --version|'
                    r'pip install osu_container-.*', 'support'),
    # Without an installation
    Rule('LUMI', r'sbatch -A project_46XXXXXXX .*try\.sbatch'),
    Rule('system', r'sbatch -A PROJECT try\.sbatch IMAGE\.sif', SYSTEMS),
    # A container of the user's own
    Rule('modules', r'(\$ )?osu-container new lammps\.sif.*'),
    Rule('modules', r'osu-container check lammps\.sif', codes=(0, 4, 5, 6)),
    Rule('install', r'eb lammps-hybrid\.eb'),
    Rule('modules', r'module load lammps/hybrid|(osu-container proof -- )?srun -N2 -n2 lmp .*'),
    Rule('measure', r'osu-container bench --module lammps/.*'),
    Rule('LUMI', r'osu-container/bin/osu-container new /appl/local/.*|eb multitorch-opensource\.eb', ON_LUMI),
    Rule('foreign', r'patchelf --replace-needed .*|ln -s libmpich\.so\.12 .*', 'your-own'),
    # Python
    Rule('dry run', r'eb osu-mpi4py-opensource\.eb -r( --try-amend=site=lumi-c-25\.03)?', '/mpi4py'),
    Rule('mpi4py', r'module load osu-mpi4py/(bind|hybrid|opensource)', '/mpi4py'),
    Rule('mpi4py', r'(osu-container proof -- )?srun -N2 -n2 python program\.py', '/mpi4py'),
    Rule('mpi4py', r'(un)?make-squashfs', '/mpi4py'),
    Rule('mpi4py', r'python -m venv .* env|export SINGULARITYENV_PREPEND_PATH=.*|pip install networkx', '/mpi4py'),
    Rule('mpi4py', r'osu-container bench --module osu-mpi4py/hybrid', '/mpi4py'),
    Rule('GPU', r'srun -N2 -n2 --gpus-per-node=8 osu-gpu-bind osu_py_bw --buffer cupy', '/mpi4py'),
    Rule('network', r'pip-containerize new .*|cotainr build .*', '/mpi4py'),
    Rule('LUMI', r'module load LUMI lumi-container-wrapper cray-python', '/mpi4py'),
    Rule('mpi4py', r'osu-container check FILE\.sif --approach bind --program /opt/conda/bin/app', '/mpi4py'),
    Rule('syntax', r'#!/bin/bash|#SBATCH .*'),
    # README: the life of a clone
    Rule('long', r'make (demo|test|test-fast|test-all|mutants|check|docs|setup)'),
    Rule('writes', r'make modules'),
    Rule('network', r'python3 -m venv intel-mpi|intel-mpi/bin/pip install .*', '/gpu'),
    Rule('GPU', r'export (I_MPI_\w+|MPI4PY_LIBMPI)=.*|(LD_LIBRARY_PATH=\S+ )?intel-mpi/bin/mpiexec\.hydra .*', '/gpu'),
    Rule('destroys', r'make (stop|clean|uninstall)'),
    # LUMI
    Rule('run', r'export \w+=\S+'),
    Rule('network', r'git clone <address of this repository> osu-container( && (make -C osu-.* lumi|cd osu-.*))?'),
    Rule('network', r'scp .*|git -C osu-container pull && make -C osu-container lumi'),
    # Systems where nobody has run it
    Rule('network', r'cd osu-container|python3 -m pip install --user easybuild', SYSTEMS),
    Rule('network', r'bin/osu-container image fetch \S+|podman-hpc (build|migrate) .*', SYSTEMS),
    Rule('system', r'cp (-r /etc/podman_hpc ~/podman_hpc|docs/contributions/\*\.yaml .*)', SYSTEMS),
    Rule('system', r'module (use \$EASYBUILD_PREFIX/modules/all|load (singularity/|osu-container/).*)', SYSTEMS),
    Rule('system', r'srun .*|osu-explain >explain-\$SLURM_JOB_ID\.txt|OSU=\S+', SYSTEMS),
    Rule('dry run', r'eb osu-container-\w+\.eb -r --try-amend=site=(alps|frontier|setonix|perlmutter)', SYSTEMS),
    Rule('network', r'podman build -t .*|enroot import .*', SYSTEMS),
    Rule('system', r'mkdir -p ~/\.edf|cp docs/contributions/\S+\.toml ~/\.edf/', SYSTEMS),
    Rule('long', r'bin/osu-container bench --tag alps .*|bin/osu-container compare run alps-gh200-2025', SYSTEMS),
    Rule('LUMI', r'make -C osu-container (lumi|unlumi)|module unload osu-container osu-native'),
    Rule('LUMI', r'module load LUMI/.*|module load LUMI PRoot|mkdir -p /scratch/project_46XXXXXXX/\S+'),
    Rule('LUMI', r'srun --account=project_46XXXXXXX .*'),
    Rule('dry run', r'eb osu-(container-\w+|native)\.eb( .*)?', f'{ON_LUMI}|README|images|abi'),
    Rule('destroys', r'cd \$EBU_USER_PREFIX|rm -rf .*', ON_LUMI),
    Rule('GPU', r'srun .*osu-gpu-bind .*', ON_LUMI),
    Rule('system', r'sbcast .* && export MPI_CONTAINER_IMAGE=.*|srun osu_bw H H', '/benchmarks'),
    Rule('LUMI', r'cd \$EBU_USER_PREFIX/sources|lfs setstripe -c -1 .*|cp FILE\.sif striped\.sif && mv .*'),
    Rule('LUMI', r'srun osu_(bw|latency)|osu-explain >explain-\$SLURM_JOB_ID\.txt', ON_LUMI),
    # Modules, here
    Rule('run', r'\. \./env\.sh'),
    Rule('install', r'eb osu-container-\w+\.eb -r( --try-amend=site=site\.py)?'),
    Rule('modules', r'module (un)?load( osu-[a-z/-]+)+'),
    Rule('modules', r'module load osu-[a-z/]+ && srun (-N2 -n2 )?osu_(get_)?bw H H'),
    Rule('modules', r'time (OSU_SHARE=0 )?srun -N1 -n16 .*'),
    Rule('LUMI', r'srun -N2 -n2 (--ntasks-per-node=1 )?--mpi=pmi2 singularity run .*', 'your-own'),
    Rule('network', r'osu-container new cray-\S+ .*|eb pytorch-swap\.eb', 'your-own'),
    # Check: every verdict is an answer
    Rule('run', r'osu-container check --published( --site lumi-25\.03)?'),
    Rule('run', r'osu-container check osu-lumi-rocm-6\.3\.4-mpich-4\.2\.3-libfabric-1\.22\.0 --site frontier',
         codes=(0, 4)),
    Rule('foreign', r"osu-container check FILE\.sif --program '/opt/start\.sh /opt/app'"),
    Rule('modules', r'osu-container check FILE\.sif( --.*)?', codes=(0, 4, 5, 6)),
    Rule('modules', r'\$ osu-container check osu-workstation-mpich-4\.2\.3-libfabric-1\.17\.0\.sif( --.*)?',
         codes=(0, 6)),
    # Proof
    Rule('modules', r'osu-container proof (-o proofs )?-- srun -N2 -n2 osu_\w+ H H'),
    Rule('modules', r'osu-container proof proofs( --json)?|osu-proof osu-proof-\*'),
    Rule('modules', r'OSU_PROOF=1 srun -N2 -n2 osu_bw H H'),
    Rule('modules', r'osu-container proof --approach opensource -- srun --mpi=pmi2 .* apptainer exec FILE\.sif .*'),
    Rule('LUMI', r'osu-container proof --expect .*provider=cxi -- srun .*'),
    Rule('modules', r'srun osu_container/rank-proof proof osu_latency -m 1024 H H'),
    Rule('modules', r'grep -E .* proof/rank-0\.json'),
    Rule('run', r'(\$ )?osu-container why slurm-\d+\.out( slurm-\d+\.out)?'),
    # Discover
    Rule('run', r'tests/stand_in/make frontier frontier --facts-only'),
    Rule('run', r'(\$ )?(bin/)?osu-container discover( -o site\.py| --sysroot frontier| --facts host\.json)?'),
    Rule('run', r'(bin/)?osu-container discover --compare (login\.json node\.json|site\.py( node\.py)?)', codes=(0, 1)),
    Rule('modules', r'(\$ )?osu-container discover --compare osu-container/hybrid'),
    Rule('modules', r'srun -N1 (bin/)?osu-container discover -o node\.py'),
    Rule('batch', r'mpiexec -launcher pbs -n 2 apptainer exec FILE\.sif /opt/osu/bin/osu_latency', 'add-a-site'),
    # Benchmarks
    Rule('measure', r'osu-container bench --tag quick --account project_46XXXXXXX'),
    Rule('LUMI', r'osu-container bench .*--account .*'),
    Rule('modules', r'osu-container bench --dry-run'),
    Rule('measure', r'osu-container bench( --tag quick --module osu-native --repeats 5 --output native-2026-11)?'),
    Rule('long', r'(bin/)?osu-container bench .*'),
    Rule('run', r'(bin/)?osu-container report (latest|--published) -o \w+\.html'),
    # Figures. compare: 1 says that something is worse
    Rule('shown', r'\$ (bin/)?osu-container compare lumi-g-2025-03:.*', codes=(0, 1)),
    Rule('run', r'(bin/)?osu-container compare [^$]*', codes=(0, 1)),
    Rule('run', r'bin/osu-container (import|report) [^$]*\.txt .*'),
    # Images
    Rule('run', r'bin/osu-container image (list|build --check \S+)'),
    Rule('long', r'(osu-container/)?bin/osu-container image (fetch|build) osu-(lumi|workstation)-\S+( --\S+ \S+)*'),
    Rule('modules', r'apptainer inspect FILE\.sif|bin/osu-container image verify FILE\.sif'),
    Rule('modules', r'bin/osu-container image verify --installed'),
    Rule('network', r'apptainer (key|sign|verify|push|pull) .*|sha256sum -c FILE\.sif\.sha256', 'images'),
]


@dataclass(frozen=True)
class Line:
    """
    A command line of a page.

    :param command: the line without its comment; shown: what the page shows as its output, '' if nothing
    """

    page: str
    command: str
    block: str
    shown: str = ''

    def rule(self):
        """Return the Rule of this line, None if there is none."""
        return next((rule for rule in COMMANDS
                     if re.fullmatch(rule.command, self.command) and re.search(rule.page, self.page)), None)

    def typed(self):
        """Return what is typed here (str)."""
        text, how = self.command.removeprefix('$ '), self.rule().how
        for pattern, here in PLACEHOLDERS.items():
            text = re.sub(pattern, here, text)
        if how == 'measure':
            modules = '' if '--module ' in text else ' --module osu-native --module osu-container/hybrid'
            text = f'{re.sub(" --(repeats|account) [^ ]+", "", text)} --repeats 1{modules}'
            if self.page != 'README.md' and ' --run ' not in text:
                text = re.sub(' --tag [^ ]+', '', text) + ' --tag demo'
        again = how == 'install' and not re.search(' --(rebuild|sanity-check-only)', text)
        return text + (' --dry-run' if how == 'dry run' else ' --rebuild' if again else '')


def blocks_of(page):
    """Return the code blocks (list of str) of a page (Path), as the site's Markdown sees them."""
    text = markdown.markdown(page.read_text(), extensions=['tables', 'pymdownx.superfences'])
    return [html.unescape(re.sub('<[^>]+>', '', block)) for block in re.findall(r'<code>([^<]*\n)</code>', text)]


def lines_of(page):
    """
    Return the command lines (list of Line) of a page (Path).

    What follows a blank and # is a comment. In a block that begins with '$ ' the other lines are output.
    """
    found, name = [], str(page.relative_to(PROJECT))
    for block in blocks_of(page):
        if any(re.match(pattern, block) for pattern in NOT_COMMANDS):
            continue
        if block.startswith('$ '):
            parts = re.split(r'^(\$ .*)\n', block, flags=re.M)[1:]
            found += [Line(name, command, block, shown) for command, shown in zip(parts[::2], parts[1::2])]
            continue
        for text in filter(str.strip, re.sub(r'\\\n\s*', '', block).splitlines()):
            command = re.sub(r'(^|\s+)# .*$', '', text).strip()
            found += [Line(name, command, block)] if command else []
    return found


LINES = [line for page in PAGES for line in lines_of(page)]


def test_every_command_is_classified():
    assert len(LINES) > 50
    unknown = [f'{line.page}: {line.command}' for line in LINES if line.rule() is None]
    assert unknown == [], 'add a rule to COMMANDS, or the block to NOT_COMMANDS'


def test_options_of_a_benchmark_stand_in_front_of_its_buffers():
    """The C programs take no notice of what stands behind them, and measure everything."""
    behind = re.compile(r'\bosu_\w+ .*\b[HDM] [HDM] +-')
    assert [f'{line.page}: {line.command}' for line in LINES if behind.search(line.command)] == []
    assert behind.search('srun osu_latency H H -m 1024') and not behind.search('srun osu_latency -m 1024 H H')


def test_every_rule_is_of_use():
    used = {line.rule() for line in LINES}
    assert [rule for rule in COMMANDS if rule not in used] == []
    assert {rule.how for rule in COMMANDS} <= set(REASONS) | set(WAYS)
    blocks = [block for page in PAGES for block in blocks_of(page)]
    assert [pattern for pattern in NOT_COMMANDS if not any(re.match(pattern, block) for block in blocks)] == []
    assert [pattern for pattern in (*PLACEHOLDERS, *BEFORE)
            if not any(re.search(pattern, line.command) for line in LINES)] == []


@pytest.fixture(scope='session')
def scratch(tmp_path_factory):
    """Function (script, timeout in seconds) that runs bash in the clone with folders of its own; CompletedProcess."""
    folder = tmp_path_factory.mktemp('commands')
    (folder / 'home').mkdir()
    environment = {'PATH': '/usr/local/bin:/usr/bin:/bin', 'LC_ALL': 'C.UTF-8', 'HOME': str(folder / 'home'),
                   'XDG_DATA_HOME': 'share', 'COLUMNS': '100',  # the width of the pages
                   'EASYBUILD_PREFIX': str(folder / 'easybuild'),
                   'EBU_USER_PREFIX': str(folder / 'lumi')}

    def call(script, timeout=120, **variables):
        # What a command writes with a relative name goes into a new folder with links to all that the clone has, and
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
        return run(['bash', '--norc', '-c', text], env={**environment, **results, **variables}, timeout=timeout)
    return call


def pages():
    """Return the parameters of the pages that are typed: (Lines, whether they want modules and Slurm)."""
    for page in PAGES:
        lines = [line for line in LINES if line.page == str(page.relative_to(PROJECT)) and line.rule()
                 and line.rule().how in WAYS and line.rule().how != 'syntax']
        modules = any(line.rule().how in ('install', 'modules', 'measure') for line in lines)
        if lines:
            marks = [] if re.search(OF_SUPPORT, lines[0].page) else [pytest.mark.as_user]
            yield pytest.param(lines, modules, id=lines[0].page,
                               marks=[*marks, pytest.mark.apptainer, pytest.mark.slurm] if modules else marks)


@pytest.mark.parametrize('lines, modules', pages())
def test_a_page_is_typed_from_top_to_bottom_in_one_shell(scratch, built, request, tmp_path, lines, modules):  # noqa: F811
    variables = {}
    if modules:
        # what installs for a site of its own has a folder of its own
        own = any('site=site.py' in line.command for line in lines)
        variables['EASYBUILD_PREFIX'] = str(tmp_path if own else request.getfixturevalue('shell').prefix)
    if any('lammps.sif' in line.command for line in lines):
        variables['LAMMPS'] = str(foreign_images.make('lammps', request.getfixturevalue('apptainer')))
    if any(OLDER in line.command for line in lines):
        variables['OLDER'] = str(built(OLDER))
    script = []
    for number, line in enumerate(lines):
        script += [first for pattern, first in BEFORE.items() if re.search(pattern, line.command)]
        mark = f"printf '\\n@%s\\n' {number}"
        script += [f'{mark}; {mark} >&2', line.typed(), "printf '\\n@ended %s\\n' $?"]
    done = scratch('\n'.join(script), timeout=1800, **variables)
    printed, errors = (re.split(r'^@(\d+)\n', text, flags=re.M) for text in (done.stdout, done.stderr))
    said = dict(zip(errors[1::2], errors[2::2]))
    assert printed[1::2] == [str(number) for number in range(len(lines))], done.stdout[-2000:] + done.stderr[-2000:]
    wrong = []
    for number, text in zip(printed[1::2], printed[2::2]):
        line, (output, _, code) = lines[int(number)], text.rpartition('\n@ended ')
        if int(code) not in line.rule().codes:
            wrong.append(f'{line.typed()}: exit code {code}{output[-2000:]}{said[number][-2000:]}')
        elif not as_the_page_says(line, output, code.strip()):
            wrong.append(f'{line.typed()}: printed {output[-3000:]}')
    assert not wrong, '\n\n'.join(wrong)


def as_the_page_says(line, output, code):
    """Return whether output (str) with an exit code (str) is what the page says of a Line."""
    if line.rule().how == 'shown':
        return f'{output.rstrip()}\n' + (f'exit code {code}\n' if 'exit code ' in line.shown else '') == (
            line.shown.rstrip() + '\n')
    if line.rule().how == 'dry run':
        module, approach = re.match(r'eb (osu-(?:native|container|mpi4py))(?:-(\w+))?', line.command).groups()
        suffix = re.search(r'versionsuffix=(\S+)|$', line.command).group(1) or ''
        return f'(module: {module}/' + (f'{approach}{suffix})' if approach else '') in output
    return 'srun osu_bw' not in line.command or re.search(r'^ *4194304 +[\d.]+$', output, re.M)


@pytest.mark.parametrize('page, block', sorted({(line.page, line.block) for line in LINES
                                                if line.rule() and line.rule().how == 'syntax'}))
def test_job_scripts_are_bash(page, block):
    assert block.startswith('#!/bin/bash\n')
    done = run(['bash', '-n'], input=block)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize('text, says', [
    ('    osu-container frobnicate\n', [('osu-container frobnicate', None)]),
    ('    make stop   # what\n    make \\\n      stop\n', [('make stop', 'destroys'), ('make stop', 'destroys')]),
    ('1. A list\n\n    that goes on\n', []),
    ('    OVERRIDES = {\n    }\n', []),
])
def test_a_new_command_is_noticed(tmp_path, monkeypatch, text, says):
    monkeypatch.setitem(globals(), 'PROJECT', tmp_path)
    (tmp_path / 'page.md').write_text(text)
    found = [(line.command, line.rule() and line.rule().how) for line in lines_of(tmp_path / 'page.md')]
    assert found == says


def test_the_user_is_left_alone(scratch):
    done = scratch('echo "$HOME" "$EASYBUILD_PREFIX" "$EBU_USER_PREFIX" "$OSU_CONTAINER_RESULTS" "$PWD"')
    assert done.returncode == 0
    for path in done.stdout.split():
        assert not path.startswith((os.path.expanduser('~') + '/.', str(PROJECT))), path
