"""The native build of every site with Cray's programming environment, from a tree of tests/stand_in/make."""
import json
import re

import pytest

from osu_container.core.data.sites import SITES
from osu_container.core.deciding.site_choice import site_entry
from osu_container.core.reading.elf import elf_facts
from tests.helpers import osu_archive
from tests.helpers.machine import PROJECT, StandIn, folded, one_of_each, run
from tests.helpers.osu_archive import RELEASE

pytestmark = [pytest.mark.long, pytest.mark.alone]

EASYCONFIGS = PROJECT / 'easyconfigs' / 'o' / 'osu-native'
CRAY = sorted(site for site in SITES if (site_entry(site)['native']['value'] or {}).get('prgenv'))
GPU = [site for site in CRAY if site_entry(site)['gpu']['value']]
#: One site of each kind, for what is the same on every stack
ONE_GPU, ONE_CPU = 'lumi-25.03', 'lumi-c-25.03'
#: What takes EasyBuild, a compiler or Slurm is done for the first of them alone by `make test`
SOME = one_of_each(sorted(CRAY, key=ONE_GPU.__ne__))
COMMANDS = ['osu-explain', 'osu-gpu-bind', 'osu-proof']
#: As on LUMI: names of the partitions that say which nodes the modules are for
PARTITIONS = {'': ('G', 'container', ''), 'c-': ('C', 'L')}
#: A local file by which this machine has the host name of any site; what else is asked for stays as it is.
ANY_HOST = f"""
import sys
sys.path.insert(0, {str(PROJECT)!r})  # EasyBuild imports a local file before the easyblocks, which know their package
from osu_container.core.deciding.site_choice import site_entry
from osu_container.core.data.sites import SITES as KNOWN

SITES = {{}}
for name in KNOWN:
    entry = dict(site_entry(name))
    pattern = entry['recognised_by']['value']
    if pattern:
        entry['recognised_by'] = dict(entry['recognised_by'], value=dict(pattern, hostnames=['']))
    SITES[name] = entry
"""


def native(site):
    """Return what the data say about the native build of site."""
    return site_entry(site)['native']['value']


def easyconfig(site):
    """Return the easyconfig (Path) of site."""
    return EASYCONFIGS / f'osu-native-{RELEASE}-{site}.eb'


def parameters(path):
    """Return the parameters (dict) of an easyconfig that holds nothing but data."""
    found = {'EXTERNAL_MODULE': 'EXTERNAL_MODULE', 'SYSTEM': 'SYSTEM'}
    exec(path.read_text(), found)
    return found


class Stack(StandIn):
    """The native build of one site: a small archive, the modules of the tree."""

    def __init__(self, site, folder, version='newest'):
        super().__init__(site, folder, version)
        self.folder = folder
        sources = folder / 'sources'
        sources.mkdir()
        self.sha256 = osu_archive.make_archive(sources / osu_archive.ARCHIVE)
        self.eb.environment.update(MODULEPATH=f'{self.tree}/opt/cray/pe/lmod/modulefiles',
                                   EASYBUILD_SOURCEPATH=str(sources))
        # RCCL's plugin cannot be built without ROCm: a module and a file have its name.
        self.plugin = None
        if native(site)['plugin']:
            name, release = native(site)['plugin']
            self.plugin = folder / 'plugin' / 'lib' / 'librccl-net.so'
            self.plugin.parent.mkdir(parents=True)
            self.plugin.touch()
            module = self.eb.module(f'{name}/{release}-{site}')
            module.parent.mkdir(parents=True)
            module.write_text(f'setenv("EBROOT{name.upper().replace("-", "MIN")}", "{folder}/plugin")\n')

    def copy_of(self, path, **replaced):
        """Return a copy (Path) of an easyconfig for the small archive; replaced: regular expression -> text."""
        text = re.sub(r"(?m)^(checksums = \[\s+)'\w{64}'", rf"\1'{self.sha256}'", path.read_text())
        for pattern, new in replaced.items():
            assert re.search(pattern, text), pattern
            text = re.sub(pattern, new, text)
        copy = self.folder / 'easyconfigs' / path.name
        copy.parent.mkdir(exist_ok=True)
        copy.write_text(text)
        return copy

    def install(self, path=None, *options):
        """Install an easyconfig (Path; default: that of the site)."""
        return self.eb(path or self.copy_of(easyconfig(self.site)), *options)

    def root(self, suffix=''):
        """Folder of the installation."""
        return self.eb.prefix / 'software' / 'osu-native' / f'{RELEASE}-{self.site}{suffix}'

    def shell(self, script, **variables):
        """Run a bash script with the modules of the tree as well."""
        return super().shell(f'module use {self.eb.environment["MODULEPATH"]}\n{script}', **variables)


@pytest.fixture(scope='module')
def stack(tmp_path_factory):
    """Function site -> Stack with the native build installed; each is made once, and no test changes it."""
    made = {}

    def make(site):
        if site not in made:
            made[site] = Stack(site, tmp_path_factory.mktemp(site))
            done = made[site].install()
            assert done.returncode == 0, done.stdout
        return made[site]
    return make


@pytest.fixture
def own_stack(tmp_path):
    """Function (site, version of EasyBuild) -> Stack of this test alone, nothing installed."""
    return lambda site, version='newest': Stack(site, tmp_path, version)


@pytest.fixture(scope='module')
def modulepath(tmp_path_factory):
    """Function site -> MODULEPATH with the modules of the programming environment of site."""
    made = {}

    def make(site):
        if site not in made:
            tree = tmp_path_factory.mktemp('modules') / site
            done = run([PROJECT / 'tests' / 'stand_in' / 'make', site, tree])
            assert done.returncode == 0, done.stderr
            made[site] = f'{tree}/opt/cray/pe/lmod/modulefiles'
        return made[site]
    return make


def resolved(done):
    """Return the modules (list of str) that a dry run would install, in their order."""
    assert done.returncode == 0, done.stdout
    return re.findall(r'\[[ xRF]\].*\(module: (\S+)\)', done.stdout)


def with_plugin(site, suffix=''):
    """Return what `eb -r` installs for site."""
    plugin = native(site)['plugin']
    return ([f'{plugin[0]}/{plugin[1]}-{site}'] if plugin else []) + [f'osu-native/{RELEASE}-{site}{suffix}']


# ---- easyconfigs

@pytest.mark.parametrize('site', CRAY)
def test_easyconfig_of_a_stack_has_the_modules_of_the_site_data(site):
    found, data = parameters(easyconfig(site)), native(site)
    assert (found['site'], found['prgenv'], found['versionsuffix']) == (site, data['prgenv'], f'-{site}')
    modules = [dependency[0] for dependency in found['dependencies'] if dependency[1] == 'EXTERNAL_MODULE']
    assert modules == data['modules']
    others = [dependency for dependency in found['dependencies'] if dependency[1] != 'EXTERNAL_MODULE']
    assert others == ([(*data['plugin'], f'-{site}')] if data['plugin'] else [])


@pytest.mark.parametrize('site', CRAY)
def test_easyconfigs_differ_in_what_depends_on_the_stack_only(site):
    text = (EASYCONFIGS / 'osu-native.eb').read_text()
    own = {'site', 'prgenv', 'versionsuffix', 'dependencies', 'description', 'sanity_check_commands'}
    for name, value in parameters(easyconfig(site)).items():
        if name not in own | {'__builtins__', 'SYSTEM', 'EXTERNAL_MODULE', 'toolchain'} and isinstance(value, str):
            assert f"{name} = '{value}'" in text
    for part in ('sources = ', 'checksums = [', 'commands = '):
        ours, theirs = (re.search(rf'(?ms)^{re.escape(part)}.*?\]$', other).group()
                        for other in (text, easyconfig(site).read_text()))
        assert ours == theirs


@pytest.mark.parametrize('site', [site for site in GPU if native(site)['plugin']])
def test_plugin_is_built_with_the_rocm_and_the_libfabric_of_the_stack(site):
    name, version = native(site)['plugin']
    found = (PROJECT / f'easyconfigs/a/{name}/{name}-{version}-{site}.eb').read_text()
    rocm = next(module for module in native(site)['modules'] if module.startswith('rocm/'))
    libfabric = re.search(r'(/opt/cray/libfabric/([\d.]+))/', site_entry(site)['libraries']['libfabric']['value'])
    assert f"('{rocm}', EXTERNAL_MODULE)" in found and f"('libfabric/{libfabric.group(2)}', EXTERNAL_MODULE)" in found
    assert f'--with-libfabric={libfabric.group(1)} ' in found and '$ROCM_PATH' in found


# ---- which easyconfig osu-native.eb is

@pytest.mark.parametrize('site', SOME)
def test_amended_site_chooses_the_stack_and_robot_finds_the_plugin(any_eb, site, modulepath):
    any_eb.environment['MODULEPATH'] = modulepath(site)
    assert resolved(any_eb('osu-native.eb', '-r', '--dry-run', f'--try-amend=site={site}')) == with_plugin(site)


def test_another_compiler_is_another_module(any_eb, modulepath):
    any_eb.environment['MODULEPATH'] = modulepath(ONE_GPU)
    done = any_eb('osu-native.eb', '-r', '--dry-run', f'--try-amend=site={ONE_GPU}', '--try-amend=prgenv=gnu')
    assert resolved(done) == with_plugin(ONE_GPU, '-gnu')


@pytest.mark.parametrize('site', SOME)
def test_loaded_stack_and_partition_choose_the_easyconfig(eb, site, modulepath):
    eb.local(ANY_HOST)
    lumi = re.match(r'lumi-(c-)?(.*)', site)
    if lumi:
        kind, version = lumi.groups(default='')
        loaded = [{'LUMI_STACK_VERSION': version, 'LUMI_STACK_PARTITION': partition} for partition in PARTITIONS[kind]]
    else:  # one value each, which the pattern says
        patterns = site_entry(site)['recognised_by']['value']['environment']
        loaded = [{name: pattern.strip('^$') for name, pattern in patterns.items()}]
        assert all(re.search(pattern, loaded[0][name]) for name, pattern in patterns.items())
    for variables in loaded:
        eb.environment.update(variables, MODULEPATH=modulepath(site))
        assert resolved(eb('osu-native.eb', '-r', '--dry-run')) == with_plugin(site), variables


def test_on_a_workstation_it_stays_itself(any_eb):
    any_eb.local("SITE = 'workstation'\n")
    any_eb.environment.update(LUMI_STACK_VERSION='25.03', LUMI_STACK_PARTITION='G')
    assert resolved(any_eb('osu-native.eb', '-r', '--dry-run')) == [f'osu-native/{RELEASE}']


def test_a_site_file_has_its_own_stack_and_comes_before_the_local_file(any_eb, tmp_path, modulepath):
    any_eb.local("SITE = 'workstation'\n")
    any_eb.environment['MODULEPATH'] = modulepath(ONE_CPU)
    path = tmp_path / 'site.py'
    path.write_text(f"SITE = 'mine'\nSITES = {{'mine': {{'based_on': '{ONE_CPU}'}}}}\n")
    done = any_eb('osu-native.eb', '-r', '--dry-run', f'--try-amend=site={path}')
    assert resolved(done) == [f'osu-native/{RELEASE}-mine']


def test_unknown_machine_or_site_is_told_so(eb):
    for options, message in (([], 'is none of the known sites'), (['--try-amend=site=lummi'], "unknown site 'lummi'")):
        done = eb('osu-native.eb', '-r', *options)
        assert done.returncode != 0 and message in folded(done.stdout)
        assert eb.left_behind() == []


# ---- installation

@pytest.mark.parametrize('site', SOME)
def test_programs_are_built_by_cc_and_linked_with_what_the_site_says(site, stack):
    this = stack(site)
    facts = json.loads((this.root() / 'facts.json').read_text())
    assert facts['programs'] == ['osu_bw', 'osu_latency'] and facts['programs_are'] == f'{RELEASE} C'
    assert facts['prgenv'] == native(site)['prgenv']
    assert sorted(path.name for path in (this.root() / 'bin').iterdir()) == COMMANDS + facts['programs']
    for name in facts['programs']:
        found = elf_facts(str((this.root() / 'bin' / name).resolve()))
        assert 'libmpi.so.12' in found.needed and set(native(site)['needed']) <= set(found.needed)
        assert any(name.startswith('libmpi_gtl_') for name in found.needed) == (site in GPU)
        assert any(re.fullmatch(rf"{this.tree}/opt/cray/pe/mpich/[\d.]+/ofi/.*/lib", path) for path in found.rpath)


@pytest.mark.parametrize('site', SOME)
def test_configure_gets_the_gpus_libraries_where_there_are_gpus(site, stack):
    log = next((stack(site).root() / 'easybuild').glob('*.log')).read_text()
    command = re.search(r"\./configure .*CC='cc' CXX='CC'.*", log).group()
    options = r'--(?:enable|with)-(?:rocm|rccl|cuda)\S*'
    found = re.findall(options, command)
    assert found == re.findall(options, native(site)['configopts']) and bool(found) == (site in GPU)
    if native(site)['plugin']:
        assert {'--enable-rcclomb', '--with-rccl=$ROCM_PATH'} <= set(found)
    # the release that it is built with, not the default of the system
    assert '-Wl,-rpath,$CRAY_MPICH_DIR/lib' in command


@pytest.mark.parametrize('site', SOME)
def test_module_loads_the_programming_environment_and_names_the_plugin(site, stack):
    this = stack(site)
    shown = this.shell('module load osu-native && module -t list 2>&1; type -P osu_bw osu_latency; echo '
                       '"plugin=${NCCL_NET_PLUGIN-}"; osu-explain', LMOD_COLORIZE='no')
    assert shown.returncode == 0, shown.stderr
    assert set(native(site)['modules']) <= set(shown.stdout.split())
    assert f'{this.root()}/bin/osu_bw\n{this.root()}/bin/osu_latency\n' in shown.stdout
    assert f"plugin={this.plugin or ''}\n" in shown.stdout
    assert f'{site}' in shown.stdout.partition('plugin=')[2]


@pytest.mark.slurm
@pytest.mark.parametrize('site', SOME)
def test_two_ranks_under_srun_load_the_libraries_of_the_stack(site, stack, tmp_path):
    script = 'module load osu-native && srun -N2 -n2 {prove} osu_latency -m 64:1024 -i 100 H H'
    done, proofs = stack(site).proofs(script, tmp_path)
    assert len(re.findall(r'^1024 +[\d.]+ *$', done.stdout, re.M)) == 1, done.stdout
    for proof in proofs:
        paths = {name: found['host_path'] for name, found in proof['libraries'].items() if found}
        libfabric = site_entry(site)['libraries']['libfabric']['value']
        assert paths['libfabric'] == f'{stack(site).tree}{libfabric}'
        assert paths['libmpi'].startswith(f'{stack(site).tree}/opt/cray/pe/mpich/')
        assert ('libmpi_gtl' in paths) == (site in GPU)


@pytest.mark.parametrize('site', one_of_each(sorted(GPU, key=ONE_GPU.__ne__)))
def test_without_the_accelerator_module_it_says_what_lacks_and_what_to_load(site, own_stack):
    this = own_stack(site)
    done = this.install(this.copy_of(easyconfig(site), **{r'.*craype-accel.*\n': ''}))
    assert done.returncode != 0
    text = folded(done.stdout)
    assert f"osu_bw is not linked with {native(site)['needed'][0]}" in text
    assert f"module load {' '.join(native(site)['modules'])}" in text
    assert 'osu_bw needs libmpi.so.12' in text and '2 of 2 programs: osu_bw osu_latency' in text
    assert not this.root().exists() and not this.eb.module(f'osu-native/{RELEASE}-{site}').exists()


def test_without_the_programming_environment_it_stops_before_configure(own_stack):
    this = own_stack(ONE_GPU)
    done = this.install(this.copy_of(easyconfig(ONE_GPU), **{r".*'PrgEnv-'.*\n": ''}))
    text = folded(done.stdout)
    assert done.returncode != 0 and 'configuring' not in text
    assert 'no command CC on PATH; PE_ENV is not set, wanted AMD' in text
    assert f"module load {' '.join(native(ONE_GPU)['modules'])}" in text


def test_mpi_of_another_stack_is_refused(own_stack, modulepath):
    this = own_stack(ONE_CPU)
    this.eb.environment['MODULEPATH'] = modulepath('lumi-c-25.09')
    done = this.install()
    assert done.returncode != 0
    assert 'cray-mpich is 9.0.1, wanted 8.1.32: load the software stack of the site before eb' in folded(done.stdout)


def test_ports_are_no_baseline_on_a_cray(own_stack):
    this = own_stack(ONE_CPU)
    this.eb.environment['EASYBUILD_SOURCEPATH'] = str(PROJECT / 'sources')
    path = this.copy_of(EASYCONFIGS / 'osu-native.eb', **{r'source_urls = .*': '', 'osu-micro-benchmarks': 'no-such'})
    done = this.install(path, f'--try-amend=site={ONE_CPU}')
    assert done.returncode != 0 and f'no-such-{RELEASE}.tar.gz' in done.stdout and 'stand in for' not in done.stdout
