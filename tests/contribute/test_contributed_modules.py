"""The modules that contributed recipes make, beside ours: every variable, and what a command gives the runtime.

What osu-container contribute writes: recipes in the form of those who take them, from the data of the modules.
"""

import ast
import os
import re
from pathlib import Path

import pytest

from osu_container.contribute import easybuild_recipes, lumi_recipes
from osu_container.contribute.cli import STACKS, lumi_files, sites_of, write_folder
from osu_container.contribute.from_data import approaches_of, facts_of, settings_of
from osu_container.core.data.sites import SITES as ALL_SITES
from osu_container.core.deciding.site_choice import site_entry
from osu_container.recipes.versions import SOURCES
from tests.easyblocks.test_native_cray import Stack
from tests.helpers import foreign_images
from tests.helpers.machine import PROJECT, EasyBuild, StandIn, clean_shell, one_of_each, run

HERE = Path(__file__).parent
SITES = sites_of(None)
APPROACHES = approaches_of(site_entry(SITES[0]))
#: Names of variables that tune MPI, libfabric and RCCL
TUNING = r'(FI|HSA|MPICH|MPIR|NCCL|OSU|SLURM)_(?!DIR)\w+'
RUNTIME = """#!/bin/bash
# Stands in for singularity; an image has two programs.
case "$*" in
    --version) echo 'singularity-ce version 4.1.3' ;;
    *' find '*) printf '%s/%s\\n' /opt/osu/libexec osu_bw /opt/osu/libexec osu_latency ;;
    *) echo "$*" ;;
esac
"""
LDD = """#!/bin/bash
printf '\\t%s => %s (0x0)\\n' libc.so.6 /lib64/libc.so.6 libcxi.so.1 /usr/lib64/libcxi.so.1 \\
    libjson-c.so.3 /usr/lib64/libjson-c.so.3
case "$*" in */opt/rocm*) echo 'libhsakmt.so.1 => /opt/rocm-6.3.4/lib/libhsakmt.so.1 (0x0)' ;; esac
"""


class Installed:
    """All container recipes of a contribution, installed by one EasyBuild."""

    def __init__(self, folder):
        self.folder = folder
        self.eb = EasyBuild('newest', folder / 'prefix')
        files = lumi_files(SITES, None)
        write_folder(folder / 'contribution', files)
        self.recipes = {re.search(r'mpich-[\d.]+-(\w+)-', name).group(1): Path(name)
                        for name in files if 'containers' in name and name.endswith('.eb')}
        self.sifs = {name: facts_of(name, site_entry(SITES[0]))['image']['file'] for name in self.recipes}
        for part in ('bin', 'sources'):
            (folder / part).mkdir()
        for name, text in (('singularity', RUNTIME), ('ldd', LDD)):
            (folder / 'bin' / name).write_text(text)
            (folder / 'bin' / name).chmod(0o755)
        for sif in self.sifs.values():
            (folder / 'sources' / sif).write_text('an image\n')
        self.eb.environment.update(
            LMOD_PACKAGE_PATH=str(HERE), EASYBUILD_SOURCEPATH=str(folder / 'sources'),
            PATH=f"{folder / 'bin'}:{self.eb.environment['PATH']}")

    def install(self):
        """Install the recipes as they are, but for host paths that this machine has not."""
        copies = self.folder / 'recipes'
        copies.mkdir()
        for path in self.recipes.values():
            # the check that the libraries are there has a test of its own
            (copies / path.name).write_text((self.folder / 'contribution' / path).read_text().replace(
                '[ -e $library ]', 'true'))
        environment = dict(self.eb.environment)
        # no easyblock of ours, no easyconfig of ours: the recipes are self-contained
        for name in ('EASYBUILD_INCLUDE_EASYBLOCKS', 'EASYBUILD_ROBOT_PATHS'):
            del environment[name]
        done = run([self.eb.command, *sorted(copies.iterdir())], env=environment, cwd='/')
        assert done.returncode == 0, done.stdout + done.stderr

    def theirs(self, approach):
        """Return the name (str) of the contributed module of approach."""
        return self.recipes[approach].stem.replace('OSU-Micro-Benchmarks-', 'OSU-Micro-Benchmarks/', 1)

    def root(self, module):
        """Return the installation (Path) of a module (str)."""
        return self.eb.prefix / 'software' / module

    def shell(self, script, **variables):
        """Run a bash script with the modules and the stand-ins of runtime and ldd."""
        return clean_shell(f'module use {self.eb.prefix}/modules/all\n{script}', LMOD_PACKAGE_PATH=str(HERE), **{
            'PATH': f"{self.folder / 'bin'}:/usr/bin:/bin", **variables})


def loaded(shell, module, **variables):
    """Return the variables (dict) that `module load` changes in a shell (function)."""
    found = []
    for command in ('true', f'module load {module}'):
        done = shell(f'{command}; env -0', **variables)
        assert command == 'true' or str(module) in done.stdout, done.stderr
        found.append(dict(item.split('=', 1) for item in done.stdout.split('\0') if '=' in item))
    return {name: value for name, value in found[1].items() if found[0].get(name) != value and name != '_'}


@pytest.fixture(scope='module')
def installed(tmp_path_factory):
    """All recipes installed."""
    made = Installed(tmp_path_factory.mktemp('contributed'))
    made.install()
    return made


def tuning(variables):
    """Return those of variables (dict) that tune MPI, libfabric and RCCL."""
    return {name: value for name, value in variables.items() if re.fullmatch(TUNING, name)}


def wanted(approach, site):
    """Return the variables (dict) that the data have for a module, less those that are untested."""
    settings = settings_of(approach, site)
    return {'SLURM_MPI_TYPE': settings.stack.pmi, **{
        one['name']: one['value'] for one in settings.sets.variables if one['evidence'] != 'untested'}}


@pytest.mark.long
@pytest.mark.alone
@pytest.mark.parametrize('approach', APPROACHES)
def test_a_module_of_a_container_sets_what_the_data_say(approach, installed):
    module = installed.theirs(approach)
    theirs = loaded(installed.shell, module)
    assert tuning(theirs) == wanted(approach, SITES[0])
    assert tuning(loaded(installed.shell, module, FI_PROVIDER='mine')) == {
        name: value for name, value in wanted(approach, SITES[0]).items() if name != 'FI_PROVIDER'}
    assert not [name for name in theirs if name.startswith('SINGULARITYENV')]
    root = installed.root(module)
    assert f'{root}/host-mpi.sh:{lumi_recipes.TARGET}' in theirs['SINGULARITY_BIND'].split(',')
    assert theirs['SIF'] == theirs['SIFOSUMINMICROMINBENCHMARKS'] == str(root / installed.sifs[approach])
    assert theirs['CONTAINERROOT'] == str(root)


@pytest.mark.long
@pytest.mark.alone
@pytest.mark.parametrize('approach', APPROACHES)
def test_what_is_in_front_and_what_it_needs_are_links_to_the_system(approach, installed):
    root = installed.root(installed.theirs(approach))
    names = [name for _, name, _ in lumi_recipes.injected(settings_of(approach, SITES[0]))]
    whole = ['libhsakmt.so.1'] if 'libamdhip64.so.6' in names else []  # of one build with it
    links = {path.name: os.readlink(path) for path in (root / 'lib').glob('*')}
    assert sorted(links) == sorted(names + whole)
    assert [path.name for path in (root / 'needed').glob('*/*')] == (['libjson-c.so.3'] if names else [])
    assert all(to.startswith(('/opt/host-mpi/system/', name)) for name, to in links.items())
    said = installed.shell(f'module load {installed.theirs(approach)}; osu_bw D D; start-shell -c true').stdout
    assert said.split('\n') == [f'exec {root}/{installed.sifs[approach]} {line}' for line in (
        'osu_bw D D', 'bash -c true')] + ['']


@pytest.mark.long
@pytest.mark.alone
@pytest.mark.parametrize('found, says', [
    (None, 'libfabric.so.1 is not there: has the system been updated since this recipe?'),
    ('not found', "libgone.so.1 is needed, and the system's ld.so does not find it"),
    ('/opt/amd/libgone.so.1', '/opt/amd/libgone.so.1: in none of the folders that this recipe binds')])
def test_what_is_gone_from_the_system_ends_the_installation(found, says, tmp_path):
    this = Installed(tmp_path)
    path = tmp_path / 'contribution' / this.recipes['hybrid']
    if found:
        path.write_text(path.read_text().replace('[ -e $library ]', 'true'))
        (tmp_path / 'bin/ldd').write_text(f'#!/bin/bash\necho "libgone.so.1 => {found} (0x0)"\n')
    done = this.eb(path)
    assert done.returncode != 0
    log = ''.join(path.read_text(errors='replace') for path in (tmp_path / 'eb-tmp').rglob('*') if path.is_file())
    assert says in log


# ---- the system's MPI for any image

@pytest.mark.long
@pytest.mark.alone
@pytest.mark.apptainer
@pytest.mark.slurm
@pytest.mark.parametrize('stack', one_of_each(['25.03', '25.09']))
def test_an_image_of_others_runs_over_the_systems_mpi(stack, tmp_path, apptainer):
    """A program for MPICH in an image that nobody here made a module for; the tree's MPICH plays Cray's."""
    this = StandIn(f'lumi-{stack}', tmp_path)
    path = tmp_path / f'singularity-bindings-{stack}.eb'
    text = lumi_files(sites_of(stack), None)[f'{lumi_recipes.CONTRIB}/{lumi_recipes.BINDINGS_FOLDER}/{path.name}']
    machine = [folder for folder in ('/lib/x86_64-linux-gnu', '/usr/lib/x86_64-linux-gnu') if Path(folder).is_dir()]
    path.write_text(re.sub("'/(?=opt/cray|pfs|scratch|proj|flash|appl|var/spool|run/cxi|usr/lib64|lib64)",
                           f"'{this.tree}/", text.replace("'/lib64', '/usr/lib64'", f"'/usr/lib64', *{machine}")))
    for name in ('EASYBUILD_INCLUDE_EASYBLOCKS', 'EASYBUILD_ROBOT_PATHS', 'EASYBUILD_SYSROOT'):
        this.eb.environment.pop(name, None)
    done = this.eb(path)
    assert done.returncode == 0, done.stdout
    image = foreign_images.make('debian', apptainer)
    lacking = this.eb.prefix / f'software/singularity-bindings/{stack}/needed/libinvented.so.9'
    lacking.mkdir()  # as if an injected library needed it: nobody's image has it
    script = 'module load singularity-bindings; srun --mpi=pmi2 -N2 -n2 {prove} singularity exec %s ring-renamed 1'
    done, proofs = this.proofs(script % image, tmp_path / 'proofs', FI_PROVIDER='tcp')
    assert 'ring of 2 ranks' in done.stdout
    for proof in proofs:
        found = {name: library['where'] for name, library in proof['libraries'].items()}
        assert found.pop('libucp') == 'image'  # this MPI needs it, and the image has it
        assert found == dict.fromkeys(('libmpi', 'libfabric', 'libcxi', 'libpmi', 'libpmi2'), 'host')
        assert proof['variables']['LD_LIBRARY_PATH'].split(':')[2:] == [f'/opt/host-mpi/needed/{lacking.name}']
    done = this.shell('module load singularity-bindings; module unload singularity-bindings; env | grep SINGULARITY')
    assert done.stdout == ''


# ---- the native build

def contributed(stack, folder):
    """Return the contributed easyconfig (Path) of a Stack for the small archive, which has fewer folders."""
    name, text = next((Path(name).name, text) for name, text in lumi_files([stack.site], None).items()
                      if 'contrib/' in name and name.endswith('.eb'))
    text = re.sub(r"checksums = \['\w{64}'\]", f"checksums = ['{stack.sha256}']", text)
    text = re.sub(r"    'libexec/osu-micro-benchmarks/(?!mpi/pt2pt').*\n", '', text)
    text = re.sub(r'postinstallcmds = \[.*?^\]\n', '', text, flags=re.S | re.M)  # nor the licence
    path = folder / name
    path.write_text(text)
    return path


TOOLCHAIN = '''
"""Stand-in for LUMI's toolchains: Cray's compiler drivers, which call gcc in the stand-in of the system."""
from easybuild.toolchains.compiler.gcc import Gcc
from easybuild.toolchains.mpi.craympich import CrayMPICH
from easybuild.tools.toolchain.toolchain import SYSTEM_TOOLCHAIN_NAME


class {name}(Gcc, CrayMPICH):
    """Compilers cc and CC."""
    NAME = '{name}'
    COMPILER_MODULE_NAME = ['{name}']
    SUBTOOLCHAIN = SYSTEM_TOOLCHAIN_NAME
    COMPILER_CC, COMPILER_CXX = 'cc', 'CC'
    COMPILER_F77 = COMPILER_F90 = COMPILER_FC = 'ftn'

    def _set_optimal_architecture(self, *args):
        \"\"\"Nothing: a module craype-... says for which processor.\"\"\"
        self.options.options_map['optarch'] = ''
'''


@pytest.mark.long
@pytest.mark.alone
@pytest.mark.parametrize('site', one_of_each(SITES))
def test_the_native_build_sets_what_the_data_say(site, tmp_path):
    this = Stack(site, tmp_path, 'newest')
    path = contributed(this, tmp_path)
    toolchain, stack = re.search(r'-(cpe\w+)-(\d\d\.\d\d)', path.name).groups()
    (tmp_path / 'toolchains').mkdir()
    (tmp_path / 'toolchains' / f'{toolchain.lower()}.py').write_text(TOOLCHAIN.format(name=toolchain))
    for name, version, text in ((toolchain, stack, f'load("PrgEnv-{toolchain[3:].lower()}")\n'),
                                ('buildtools', stack, ''), ('aws-ofi-nccl', '1.18.0-rocm', '')):
        text += ''.join(f'setenv("EBROOT{one}", "/")\nsetenv("EBVERSION{one}", "{stack}")\n'
                        for one in (name.upper().replace('-', 'MIN'), 'GCC'))
        module = this.eb.module(f'{name}/{version}')
        module.parent.mkdir(parents=True, exist_ok=True)
        module.write_text(text)
    for name in ('EASYBUILD_INCLUDE_EASYBLOCKS', 'EASYBUILD_ROBOT_PATHS'):
        del this.eb.environment[name]
    this.eb.environment['EASYBUILD_INCLUDE_TOOLCHAINS'] = f'{tmp_path}/toolchains/*.py'
    done = this.eb(path)
    assert done.returncode == 0, done.stdout
    theirs = loaded(this.shell, path.stem.replace('Benchmarks-', 'Benchmarks/', 1))
    assert tuning(theirs) == wanted('native', site)
    assert not [name for name in theirs if 'CONTAINERBINDINGS' in name]


COMMAND = PROJECT / 'bin' / 'osu-container'
#: Easyblocks of EasyBuild that LUMI's recipes of these kinds use
GENERIC = {lumi_recipes.NAME: ['MakeCp', 'ConfigureMake'], lumi_recipes.BINDINGS: ['Bundle']}


def contribute(*arguments, **kwargs):
    """Run the command; it never ends in a traceback."""
    done = run([COMMAND, 'contribute', *arguments], **kwargs)
    assert 'Traceback' not in done.stderr, done.stderr
    return done


def parameters(text):
    """Return the parameters (dict) of an easyconfig that are assigned, evaluated with EasyBuild's constants."""
    found = {'SYSTEM': 'SYSTEM', 'EXTERNAL_MODULE': 'EXTERNAL_MODULE', 'SOURCELOWER_TAR_GZ': 'SOURCE'}
    exec(text, found)
    return found


def recipes(files):
    """Return [(path, text)] of the easyconfigs among files (dict)."""
    return [(path, text) for path, text in files.items() if path.endswith('.eb')]


@pytest.fixture(scope='module', params=STACKS)
def files(request):
    """What is written for a stack of LUMI."""
    return lumi_files(sites_of(request.param), None)


# ---- the form

def test_each_recipe_is_named_by_what_it_says_and_is_data_alone(files):
    for path, text in recipes(files):
        repository, name = path.partition('/')[0], path.rpartition('/')[2]
        said = parameters(text)
        toolchain = '' if said['toolchain'] == 'SYSTEM' else '-' + '-'.join(said['toolchain'].values())
        assert name == f"{said['name']}-{said['version']}{toolchain}{said.get('versionsuffix', '')}.eb"
        assert path == f'{repository}/easybuild/easyconfigs/{said["name"][0].lower()}/{said["name"]}/{name}'
        assert said['easyblock'] in GENERIC[said['name']]
        code = [node for node in ast.walk(ast.parse(text))
                if isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.Try, ast.If, ast.For, ast.While))]
        assert code == []
        assert any(line.startswith('Keywords: ') for line in said['whatis'])
        left = [line for line in text.splitlines() if re.search(r'@[A-Z_]+@', line)]
        assert left == []


def test_every_approach_that_the_site_can_have_has_a_recipe():
    for stack in STACKS:
        site = sites_of(stack)[0]
        written = {re.search(r'mpich-[\d.]+-(\w+)-', path).group(1)
                   for path, _ in recipes(lumi_files([site], None)) if path.startswith(lumi_recipes.CONTAINERS)}
        assert written == set(approaches_of(site_entry(site))) >= {'pure', 'hybrid', 'opensource'}


# ---- one source of truth

@pytest.mark.parametrize('stack', STACKS)
def test_what_changes_in_the_data_changes_in_the_recipes(stack, monkeypatch):
    site = sites_of(stack)[0]
    before = lumi_files([site], None)
    variable = {'name': 'FI_CXI_INVENTED', 'value': '17', 'why': 'an invented reason', 'source': 'an invented source',
                'date': '2026-01-01', 'evidence': 'derived'}
    doubtful = {**variable, 'name': 'FI_CXI_DOUBTFUL', 'evidence': 'untested'}
    whole = site_entry(site)
    libfabric = {**whole['libraries']['libfabric'], 'value': '/opt/cray/libfabric/9.9.9/lib64/libfabric.so.1',
                 'why': 'a newer network library'}
    changed = {**ALL_SITES[site], 'variables': [*whole['variables'], variable, doubtful],
               'libraries': {**ALL_SITES[site]['libraries'], 'libfabric': libfabric}}
    monkeypatch.setitem(ALL_SITES, site, changed)
    after = lumi_files([site], None)
    for path, text in recipes({path: text for path, text in after.items() if lumi_recipes.FOLDER in path}):
        assert 'FI_CXI_DOUBTFUL' not in text
        assert '{ "FI_CXI_INVENTED", "17" }' in text and 'an invented reason' in text, path
        assert ('/opt/cray/libfabric/9.9.9/' in text) == ('/opt/cray/libfabric/' in before[path]), path
    assert 'a newer network library' in after[f'{lumi_recipes.CONTAINERS}/{lumi_recipes.FOLDER}/README.md']


# ---- EasyBuild's repository

def test_easybuild_gets_what_it_lacks_and_the_check_of_contributions_passes(tmp_path):
    done = contribute('easybuild', '-o', tmp_path / 'made')
    assert done.returncode == 0, done.stderr
    written = sorted((tmp_path / 'made').rglob('*.eb'))
    release = f"{easybuild_recipes.NAME}-{SOURCES['osu']['version']}"
    assert [path.stem for path in written] == sorted('-'.join([release, *one]) for one in easybuild_recipes.lacking())
    eb = EasyBuild('newest', tmp_path / 'prefix')
    done = eb('--check-contrib', *written)
    assert done.returncode == 0 and 'All contribution checks PASSed' in done.stdout, done.stdout


# ---- the folder

def test_a_folder_that_is_there_stays_as_it_is(tmp_path):
    target = tmp_path / 'made'
    ours, theirs = 'osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0.sif', 'lumi-osu-dockerhash-0123456789ab.sif'
    assert contribute('lumi', '-o', target, '--date', '20270102', '--image', f'{ours}={theirs}').returncode == 0
    assert f"local_sif = '{theirs}'" in next(target.rglob('*-bind-*.eb')).read_text()
    assert list(target.rglob('*-20270102.eb'))
    again = contribute('lumi', '-o', target)
    assert again.returncode == 1 and f'{target}: it is there already' in again.stderr
    assert list(target.rglob('*-20270102.eb')) and [path.name for path in tmp_path.iterdir()] == ['made']


@pytest.mark.parametrize('arguments, said', [
    (['lumi', '-o', 'no/such/made'], 'cannot be written: No such file or directory'),
    (['lumi', '-o', 'file'], 'is there already'),
    (['lumi', '--stack', '19.12'], 'LUMI has no stack 19.12'),
    (['lumi', '--image', 'mine.sif=theirs.sif'], 'found mine.sif=theirs.sif, wanted OURS.sif=THEIRS.sif'),
    (['lumi', '--date', 'today'], 'found today, wanted YYYYMMDD'),
    (['easybuild', '--date', '20261123'], '--stack and --date are for lumi'),
])
def test_what_cannot_be_written_is_said_and_leaves_nothing(arguments, said, tmp_path):
    (tmp_path / 'file').write_text('')
    done = contribute(*arguments, cwd=tmp_path)
    assert done.returncode == 1 and said in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ['file']
