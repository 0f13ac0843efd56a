"""What osu-container contribute writes: recipes in the form of those who take them, from the data of the modules."""
import ast
import re

import pytest

from osu_container.contribute import easybuild_recipes, lumi_recipes
from osu_container.contribute.cli import lumi_files, sites_of
from osu_container.contribute.from_data import approaches_of, stack_of
from osu_container.core.data.sites import SITES
from osu_container.core.deciding.site_choice import site_entry
from osu_container.recipes.versions import SOURCES
from tests.helpers.machine import PROJECT, EasyBuild, run

COMMAND = PROJECT / 'bin' / 'osu-container'
STACKS = sorted({stack_of(site) for site in SITES if site.startswith('lumi-')})
#: Easyblocks of EasyBuild that LUMI's recipes of these kinds use
GENERIC = {'LUMI-EasyBuild-containers': 'MakeCp', 'LUMI-EasyBuild-contrib': 'ConfigureMake'}


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
        assert name == f"{said['name']}-{said['version']}{toolchain}{said['versionsuffix']}.eb"
        assert path == f'{repository}/easybuild/easyconfigs/o/{said["name"]}/{name}'
        assert said['easyblock'] == GENERIC[repository]
        code = [node for node in ast.walk(ast.parse(text))
                if isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.Try, ast.If, ast.For, ast.While))]
        assert code == []
        assert any(line.startswith('Keywords: ') for line in said['whatis']) and said['docurls']
        left = [line for line in text.splitlines() if re.search(r'@[A-Z_]+@', line)]
        assert left == []


def test_a_container_has_release_rocm_and_date_in_its_name_and_calls_their_function(files):
    site = next(site for site in SITES if stack_of(site) in files['README.md'] and SITES[site]['images'])
    for path, text in recipes(files):
        if not path.startswith(lumi_recipes.CONTAINERS):
            continue
        said = parameters(text)
        assert said['version'] == SOURCES['osu']['version']
        assert re.fullmatch(r'-rocm-[\d.]+-mpich-[\d.]+-\w+-singularity-20\d{6}', said['versionsuffix'])
        assert said['versionsuffix'].endswith(site_entry(site)['images']['date'].replace('-', ''))
        footer = said['modluafooter'].splitlines()[-1]
        assert footer.startswith(f"create_container_vars( '{said['local_sif']}', '%(name)s', '%(installdir)s', '")
        assert said['sources'][0]['filename'] == said['local_sif']


def test_every_approach_that_the_site_can_have_has_a_recipe():
    for stack in STACKS:
        site = sites_of(stack)[0]
        written = {re.search(r'mpich-[\d.]+-(\w+)-', path).group(1)
                   for path, _ in recipes(lumi_files([site], None)) if path.startswith(lumi_recipes.CONTAINERS)}
        assert written == set(approaches_of(site_entry(site))) >= {'pure', 'bind', 'hybrid', 'opensource'}


# ---- one source of truth

@pytest.mark.parametrize('stack', STACKS)
def test_what_changes_in_the_data_changes_in_the_recipes(stack, monkeypatch):
    site = sites_of(stack)[0]
    before = lumi_files([site], None)
    variable = {'name': 'FI_CXI_INVENTED', 'value': '17', 'why': 'an invented reason', 'source': 'an invented source',
                'date': '2026-01-01', 'evidence': 'untested'}
    whole = site_entry(site)
    libfabric = {**whole['libraries']['libfabric'], 'value': '/opt/cray/libfabric/9.9.9/lib64/libfabric.so.1',
                 'why': 'a newer network library'}
    changed = {**SITES[site], 'variables': [*whole['variables'], variable],
               'libraries': {**SITES[site]['libraries'], 'libfabric': libfabric}}
    monkeypatch.setitem(SITES, site, changed)
    after = lumi_files([site], None)
    for path, text in recipes(after):
        assert 'default("FI_CXI_INVENTED", "17")' in text and 'an invented reason' in text, path
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
    assert contribute('lumi', '-o', target, '--date', '20270102').returncode == 0
    assert list(target.rglob('*-20270102.eb'))
    again = contribute('lumi', '-o', target)
    assert again.returncode == 1 and f'{target} is there already' in again.stderr
    assert list(target.rglob('*-20270102.eb')) and [path.name for path in tmp_path.iterdir()] == ['made']


@pytest.mark.parametrize('arguments, said', [
    (['lumi', '-o', 'no/such/made'], 'cannot be written: No such file or directory'),
    (['lumi', '-o', 'file'], 'is there already'),
    (['lumi', '--stack', '19.12'], 'LUMI has no stack 19.12'),
    (['lumi', '--date', 'today'], 'found today, wanted YYYYMMDD'),
    (['easybuild', '--date', '20261123'], '--stack and --date are for lumi'),
])
def test_what_cannot_be_written_is_said_and_leaves_nothing(arguments, said, tmp_path):
    (tmp_path / 'file').write_text('')
    done = contribute(*arguments, cwd=tmp_path)
    assert done.returncode == 1 and said in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ['file']
