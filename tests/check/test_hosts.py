"""
Hosts that are described: what a description says, that discover writes one which tells the same as
the files, and that what it lacks makes a verdict unknown and never another one.
"""

import json
import re

import pytest

from osu_container.build.recipes.images import IMAGES
from osu_container.check.described import describe_catalogue_image
from osu_container.check.public_hosts import find_host_description
from osu_container.data.approaches import APPROACHES
from osu_container.data.records import EVIDENCE
from osu_container.data.sites import SITES
from osu_container.discover.host_facts import (
    DescribedHost,
    HostDescriptionError,
    format_description,
    read_description,
    require_valid_description,
)
from osu_container.discover.library_facts import describe_host
from osu_container.image.elf import ElfError
from osu_container.image.image import Image
from osu_container.image.sif import ImageError
from osu_container.verdict.rules.finding import NOTE
from osu_container.verdict.settings import list_mpi_families, resolve_approach
from osu_container.verdict.site_choice import resolve_site
from osu_container.verdict.verdict import judge_approach
from tests.helpers.elf_folder import ElfFolder, fill_good_image
from tests.helpers.machine import PROJECT, STATE, mark_repeats_nightly, run
from tests.helpers.verdict_cases import GPU, PLAIN, SILENT, SPEAKS, World

CONTAINERS = [name for name in APPROACHES if APPROACHES[name]['container']]
COMMAND = PROJECT / 'scripts' / 'osu-container'


def describe_host_files(world, site=None, name='a site'):
    """Return what discover would write (dict) of the host of a World, as it reads it again."""
    found = describe_host(site or world.site, str(world.host), name, '2026-11-23', 'a node')
    return require_valid_description(json.loads(format_description(found)), 'test')


def summarize_verdict(approach, site, opened, one, program=None, runtime=None):
    """
    Return (level, [(rule, level, reason)] without notes) of a verdict, or what it ends with,
    without roots.
    """
    try:
        verdict = judge_approach(approach, site, opened, one, program, runtime)
    except (ElfError, ImageError) as err:
        return type(err).__name__, []
    root = one.root
    return verdict.level, [
        (finding.rule, finding.level, finding.reason.replace(root, '') if root else finding.reason)
        for finding in verdict.findings
        if finding.level != NOTE
    ]


# ---- what there is


@pytest.mark.parametrize('name', sorted(SITES))
def test_every_site_description_covers_its_libraries(name):
    site = resolve_site(name)
    data = find_host_description(site)
    assert (data['site'], data['machine']) == (
        name,
        site.get('architecture', {}).get('value', 'x86_64'),
    )
    assert data['glibc']['value'].startswith('2.') and data['libraries']
    named = {fact['value'] for fact in site['libraries'].values() if fact}
    assert named <= set(data['libraries'])
    words = {data['glibc']['evidence']} | {
        statement['evidence'] for found in data['libraries'].values() for statement in found
    }
    assert words <= set(EVIDENCE) and ('measured' in words) == bool(data['node'])


def test_workstation_description_equals_discovered_host_mpi():
    """
    The files come from a wheel, the same everywhere; the description has no symbols, but
    functions of MPI.
    """
    now = describe_host(resolve_site(PLAIN), str(STATE / 'host'), PLAIN, '2026-11-23', 'a node')
    known = find_host_description(resolve_site(PLAIN))

    def plain(data):
        return {
            path: {
                key: value
                for said in statements
                for key, value in said.items()
                if key not in ('source', 'date', 'defined', 'undefined', 'functions')
            }
            for path, statements in json.loads(format_description(data))['libraries'].items()
            if path.startswith('/opt/')
        }

    assert plain(now) == plain(known) and len(plain(now)) > 4
    assert (PROJECT / 'osu_container/discover/hosts/workstation.json').stat().st_size < 20000, (
        'without symbols'
    )


def test_undescribed_site_is_unknown_with_a_remedy():
    verdict = judge_approach(
        resolve_approach('hybrid'),
        dict(resolve_site(GPU), name='mine'),
        describe_catalogue_image('osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0'),
        DescribedHost(find_host_description(dict(resolve_site(GPU), name='mine'))),
    )
    assert verdict.level == 'unknown' and [one.rule for one in verdict.findings] == [
        'host not described'
    ]
    assert 'discover --facts' in verdict.findings[0].remedy


def judge_catalogue_image(image, site):
    return judge_approach(
        resolve_approach('bind'),
        resolve_site(site),
        describe_catalogue_image(image),
        DescribedHost(find_host_description(resolve_site(site))),
    )


@pytest.mark.parametrize('site, fails', [('lumi-25.03', False), ('lumi-26.03', True)])
def test_described_host_and_image_need_one_rocm_major(site, fails):
    verdict = judge_catalogue_image('osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0', site)
    rules = [one.rule for one in verdict.findings if one.level == 'fails']
    assert rules == ['ROCm release'] * fails


# ---- the form


def make_small_description():
    """Return a description (dict) of one library."""
    return {
        'format': 1,
        'site': 'x',
        'machine': 'x86_64',
        'glibc': None,
        'libraries': {
            '/usr/lib64/liba.so.1': [
                {'evidence': 'measured', 'source': 's', 'date': '2026-11-23', 'soname': 'liba.so.1'}
            ]
        },
    }


@pytest.mark.parametrize(
    'change',
    [
        {'machine': 'mips'},
        {
            'libraries': {
                '/lib/liba.so.1': [
                    {'evidence': 'measured', 'source': 's', 'date': 'd', 'same_as': '/nowhere'}
                ]
            }
        },
    ],
)
def test_contradictory_description_is_refused(tmp_path, change):
    file = tmp_path / 'facts.json'
    file.write_text(json.dumps(make_small_description()))
    assert read_description(str(file)) == make_small_description()
    file.write_text(json.dumps({**make_small_description(), **change}))
    with pytest.raises(HostDescriptionError, match='discover --facts'):
        read_description(str(file))


# ---- the same by files and by what discover writes of them


def list_all_cases():
    """Return each case of the tables of rules: (rule, approach, change, site)."""
    return [
        pytest.param(rule, *case[1:4], id=f'{table}-{rule}: {case[0]}')
        for table, cases in (('speaks', SPEAKS), ('silent', SILENT))
        for rule, several in cases.items()
        if rule not in ('host not described', 'facts of the host', 'processor level')
        for case in several
    ]


@pytest.mark.parametrize(
    'rule, approach, change, site_name',
    mark_repeats_nightly(list_all_cases(), lambda rule, *_: rule),
)
def test_files_and_their_description_give_equal_verdicts(
    tmp_path, parts, rule, approach, change, site_name
):
    """Each image and host by which the rules are tried."""
    world = World(tmp_path, parts, site_name)
    change(world)
    try:
        opened, files = world.open_files()
    except ImageError:
        return
    facts = DescribedHost(describe_host_files(world))
    assert facts.glibc is None or re.match(r'2\.\d+$', facts.glibc)
    with opened:
        for name in dict.fromkeys([approach, 'bind']):
            entry = resolve_approach(name)
            assert summarize_verdict(
                entry, world.site, opened, facts, world.program, world.runtime
            ) == summarize_verdict(
                entry, world.site, opened, files, world.program, world.runtime
            ), name


# ---- images that are described

#: Those of the catalogue that were built here: `make demo` builds one
BUILT = [path for path in sorted((PROJECT / 'sources').glob('osu-*.sif')) if path.stem in IMAGES]


@pytest.mark.parametrize('sif', BUILT, ids=lambda path: path.stem)
@pytest.mark.parametrize(
    'site',
    mark_repeats_nightly(['lumi-25.03', 'lumi-25.09', 'frontier', 'setonix', 'perlmutter', 'alps']),
)
def test_image_name_and_file_give_the_same_verdict(sif, site):
    entry = resolve_site(site)
    described, described_host = (
        describe_catalogue_image(sif.name),
        DescribedHost(find_host_description(entry)),
    )
    with Image(str(sif), 'osu_') as opened:
        # no entrypoint is described; and of approaches for another MPI mpi4py may take what they
        # inject
        for name in [
            one
            for one in CONTAINERS
            if not APPROACHES[one].get('entrypoint')
            and described.list_mpi_libraries()[0][0] in list_mpi_families(APPROACHES[one])
        ]:
            assert (
                summarize_verdict(resolve_approach(name), entry, described, described_host)[0]
                == summarize_verdict(resolve_approach(name), entry, opened, described_host)[0]
            ), (site, name)


# ---- the commands


def test_check_agrees_on_a_tree_and_its_discovered_facts(tmp_path, parts):
    """
    A stand-in with the paths of a system, and images of several kinds: both commands as people
    call them.
    """
    tree = tmp_path / 'tree'
    done = run([PROJECT / 'tests' / 'stand_in' / 'make', 'lumi-25.03', tree, '--facts-only'])
    assert done.returncode == 0, done
    file = tmp_path / 'facts.json'
    done = run([COMMAND, 'discover', '--sysroot', tree, '--facts', file])
    assert done.returncode == 0 and str(file) in done.stdout, done
    assert str(tree) not in file.read_text() and file.stat().st_size < 8 << 20
    own, given = fill_good_image(ElfFolder(tmp_path / 'image'), parts, mpi=parts.mpi(needs=9)), []
    for where in (['--sysroot', tree], ['--facts', file]):
        done = run([COMMAND, 'check', own, '--site', 'lumi-25.03', '--json', *where])
        given.append((done.returncode, json.loads(done.stdout)))
    (code, real), (other, by_facts) = given
    assert code == other and by_facts['described'] and not real['described']
    assert [(one['approach'], one['verdict']) for one in real['verdicts']] == [
        (one['approach'], one['verdict']) for one in by_facts['verdicts']
    ]
