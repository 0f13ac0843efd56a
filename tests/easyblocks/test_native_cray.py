"""
The native build of every site with Cray's programming environment, from a tree of
tests/stand_in/make.
"""

import ast
import json
import re
from pathlib import Path

import pytest

from osu_container.data.sites import SITES
from osu_container.image.elf import read_elf
from osu_container.image.libraries import compute_sha256
from osu_container.verdict.site_choice import resolve_site
from tests.helpers import osu_archive
from tests.helpers.machine import (
    PROJECT,
    StandIn,
    assert_success,
    compile_library,
    fold_whitespace,
    mark_repeats_nightly,
)
from tests.helpers.osu_archive import RELEASE

pytestmark = pytest.mark.system

EASYCONFIGS = PROJECT / 'easyconfigs' / 'o' / 'osu-native'
CRAY = sorted(site for site in SITES if (resolve_site(site)['native']['value'] or {}).get('prgenv'))
GPU = [site for site in CRAY if resolve_site(site)['gpu']['value']]
#: One site of each kind, for what is the same on every stack
ONE_GPU, ONE_CPU = 'lumi-25.03', 'lumi-c-25.03'
#: What takes EasyBuild, a compiler or Slurm is done for the first of them alone by `make test`
SOME = mark_repeats_nightly(sorted(CRAY, key=ONE_GPU.__ne__))
COMMANDS = ['osu-explain', 'osu-gpu-bind', 'osu-proof']
#: What the OSU archive of the tests has
PROGRAMS = ['osu_bw', 'osu_latency']
RCCL_PROGRAM = 'osu_xccl_allreduce'


def find_native_build(site):
    """Return what the data say about the native build of site."""
    return resolve_site(site)['native']['value']


def find_easyconfig(site):
    """Return the easyconfig (Path) of site."""
    return EASYCONFIGS / f'osu-native-{RELEASE}-{site}.eb'


def read_parameters(path):
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
        self.eb.environment.update(
            MODULEPATH=f'{self.tree}/opt/cray/pe/lmod/modulefiles',
            EASYBUILD_SOURCEPATH=str(sources),
        )
        # RCCL's plugin cannot be built without ROCm: a module and a file have its name.
        self.plugin = None
        if find_native_build(site)['plugin']:
            name, release, suffix = find_native_build(site)['plugin']
            self.plugin = folder / 'plugin' / 'lib' / 'librccl-net.so'
            self.plugin.parent.mkdir(parents=True)
            self.plugin.touch()
            module = self.eb.module(f'{name}/{release}{suffix}')
            module.parent.mkdir(parents=True)
            module.write_text(
                f'setenv("EBROOT{name.upper().replace("-", "MIN")}", "{folder}/plugin")\n'
            )
            rocm = Path(
                f"{self.tree}{resolve_site(site)['libraries']['libamdhip64']['value']}"
            ).parent
            compile_library(
                rocm / 'librccl.so',
                'librccl.so.1',
                source='int ncclGetUniqueId(void *p) { return !p; }\n',
            )

    def copy_easyconfig(self, path, **replaced):
        """
        Return a copy (Path) of an easyconfig for the small archive; replaced: regular expression
        -> text.
        """
        text = re.sub(r"(?m)^(checksums = \[)'\w{64}'", rf"\1'{self.sha256}'", path.read_text())
        for pattern, new in replaced.items():
            assert re.search(pattern, text), pattern
            text = re.sub(pattern, new, text)
        copy = self.folder / 'easyconfigs' / path.name
        copy.parent.mkdir(exist_ok=True)
        copy.write_text(text)
        return copy

    def install(self, path=None, *options):
        """Install an easyconfig (Path; default: that of the site)."""
        return self.eb(path or self.copy_easyconfig(find_easyconfig(self.site)), *options)

    def root(self, suffix=''):
        """Folder of the installation."""
        return self.eb.prefix / 'software' / 'osu-native' / f'{RELEASE}-{self.site}{suffix}'

    def shell(self, script, **variables):
        """Run a bash script with the modules of the tree as well."""
        return super().shell(
            f'module use {self.eb.environment["MODULEPATH"]}\n{script}', **variables
        )


@pytest.fixture(scope='module')
def stack(tmp_path_factory):
    """
    Function site -> Stack with the native build installed; each is made once, and no test
    changes it.
    """
    made = {}

    def make(site):
        if site not in made:
            made[site] = Stack(site, tmp_path_factory.mktemp(site))
            done = made[site].install()
            assert_success(done)
        return made[site]

    return make


@pytest.fixture
def fresh_stack(tmp_path):
    """Function (site, version of EasyBuild) -> Stack of this test alone, nothing installed."""
    return lambda site, version='newest': Stack(site, tmp_path, version)


# ---- easyconfigs


@pytest.mark.parametrize('site', CRAY)
def test_easyconfig_of_a_stack_has_the_modules_of_the_site_data(site):
    found, data = read_parameters(find_easyconfig(site)), find_native_build(site)
    assert (found['site'], found['versionsuffix']) == (site, f'-{site}')
    assert [one[0] for one in found['dependencies'] if one[1] == 'EXTERNAL_MODULE'] == data[
        'modules'
    ]
    others = [one for one in found['dependencies'] if one[1] != 'EXTERNAL_MODULE']
    assert others == ([tuple(data['plugin'])] if data['plugin'] else [])


def test_no_easyconfig_runs_code_or_pins_a_script():
    scripts = {
        compute_sha256(path) for path in EASYCONFIGS.parent.glob('*/*') if path.suffix != '.eb'
    }
    for path in EASYCONFIGS.parent.parent.glob('*/*/*.eb'):
        kinds = {type(one).__name__ for one in ast.walk(ast.parse(path.read_text()))}
        assert kinds <= set(('Module Assign Name Store Load Constant List Tuple Dict').split()), (
            path.name
        )
        assert len(path.read_text().splitlines()) <= 31 and not scripts & set(
            path.read_text().split("'")
        ), path.name


# ---- which easyconfig is the one of this machine


@pytest.mark.parametrize('site', SOME)
def test_osu_native_eb_names_the_easyconfig_of_a_stack(any_eb, site):
    done = any_eb('osu-native.eb', '-r', f'--try-amend=site={site}')
    assert done.returncode != 0 and f'eb {find_easyconfig(site).name} -r' in fold_whitespace(
        done.stdout
    )
    assert any_eb.list_leftovers() == []


def test_user_site_loads_modules_without_dependencies(fresh_stack, tmp_path):
    this = fresh_stack(ONE_CPU)
    path = tmp_path / 'site.py'
    path.write_text(f"SITE = 'mine'\nSITES = {{'mine': {{'based_on': '{ONE_CPU}'}}}}\n")
    done = this.install(
        this.copy_easyconfig(EASYCONFIGS / 'osu-native.eb'), f'--try-amend=site={path}'
    )
    assert_success(done)
    shown = this.shell('module load osu-native && module -t list 2>&1', LMOD_COLORIZE='no')
    assert {'PrgEnv-gnu', f'osu-native/{RELEASE}'} <= set(shown.stdout.split())


# ---- installation


@pytest.mark.parametrize('site', SOME)
def test_programs_are_built_and_loaded_with_site_modules(site, stack):
    this = stack(site)
    facts = json.loads((this.root() / 'facts.json').read_text())
    rccl = [RCCL_PROGRAM] if find_native_build(site)['plugin'] else []
    assert facts['programs'] == [*PROGRAMS, *rccl] and facts['programs_are'] == f'{RELEASE} C'
    assert facts['prgenv'] == find_native_build(site)['prgenv']
    assert (
        sorted(path.name for path in (this.root() / 'bin').iterdir())
        == COMMANDS + facts['programs']
    )
    for name in facts['programs']:
        found = read_elf(str((this.root() / 'bin' / name).resolve()))
        assert ('librccl.so.1' in found.needed) == (name in rccl)
        assert 'libmpi.so.12' in found.needed and set(find_native_build(site)['needed']) <= set(
            found.needed
        )
        assert any(name.startswith('libmpi_gtl_') for name in found.needed) == (site in GPU)
        assert any(
            re.fullmatch(rf"{this.tree}/opt/cray/pe/mpich/[\d.]+/ofi/.*/lib", path)
            for path in found.rpath
        )

    command = re.search(
        r"\./configure .*CC='cc' CXX='CC'.*",
        next((this.root() / 'easybuild').glob('*.log')).read_text(),
    ).group()
    options = r'--(?:enable|with)-(?:rocm|rccl|cuda)\S*|LIBS=\S*'
    assert re.findall(options, command) == re.findall(
        options, find_native_build(site)['configopts']
    )
    # the release that it is built with, not the default of the system
    assert '-Wl,-rpath,$CRAY_MPICH_DIR/lib' in command

    shown = this.shell(
        'module load osu-native && module -t list 2>&1; type -P osu_bw; echo '
        '"plugin=${NCCL_NET_PLUGIN-}"; osu-explain',
        LMOD_COLORIZE='no',
    )
    assert_success(shown)
    assert set(find_native_build(site)['modules']) <= set(shown.stdout.split())
    assert f"{this.root()}/bin/osu_bw\nplugin={this.plugin or ''}\n" in shown.stdout
    assert site in shown.stdout.partition('plugin=')[2]


@pytest.mark.usefixtures('slurm')
@pytest.mark.parametrize('site', SOME)
def test_two_ranks_under_srun_load_the_libraries_of_the_stack(site, stack, tmp_path):
    script = 'module load osu-native && srun -N2 -n2 {prove} osu_latency -m 64:1024 -i 100 H H'
    done, proofs = stack(site).run_proofs(script, tmp_path)
    assert len(re.findall(r'^1024 +[\d.]+ *$', done.stdout, re.M)) == 1, done.stdout
    for proof in proofs:
        paths = {name: found['host_path'] for name, found in proof['libraries'].items() if found}
        libfabric = resolve_site(site)['libraries']['libfabric']['value']
        assert paths['libfabric'] == f'{stack(site).tree}{libfabric}'
        assert paths['libmpi'].startswith(f'{stack(site).tree}/opt/cray/pe/mpich/')
        assert ('libmpi_gtl' in paths) == (site in GPU)


@pytest.mark.parametrize(
    'missing, text',
    [
        (r'.*craype-accel.*\n', find_native_build(ONE_GPU)['needed'][0]),
        (r".*'PrgEnv-.*\n", 'PE_ENV'),
    ],
)
def test_missing_module_is_reported_with_the_remedy(fresh_stack, missing, text):
    this = fresh_stack(ONE_GPU)
    done = this.install(this.copy_easyconfig(find_easyconfig(ONE_GPU), **{missing: ''}))
    assert done.returncode != 0 and text in fold_whitespace(done.stdout)
    assert ' '.join(find_native_build(ONE_GPU)['modules']) in fold_whitespace(done.stdout)
    assert (
        not this.root().exists() and not this.eb.module(f'osu-native/{RELEASE}-{ONE_GPU}').exists()
    )


def test_ports_are_no_baseline_on_a_cray(fresh_stack):
    this = fresh_stack(ONE_CPU)
    this.eb.environment['EASYBUILD_SOURCEPATH'] = str(PROJECT / 'sources')
    path = this.copy_easyconfig(
        find_easyconfig(ONE_CPU), **{r'source_urls = .*': '', 'osu-micro-benchmarks': 'no-such'}
    )
    done = this.install(path)
    assert (
        done.returncode != 0
        and f'no-such-{RELEASE}.tar.gz' in done.stdout
        and 'mpi4py' not in done.stdout
    )
