"""
The rules of the verdict: where each speaks, where it just does not; and what they say of the
published runs.

Which MPI of the host takes the place of which MPI of an image.
"""

import collections
import csv
import json
import os
import re
import shlex
import shutil

import pytest

from osu_container.check import examination as published
from osu_container.check.described import (
    build_elf_facts,
    describe_published_image,
)
from osu_container.check.public_hosts import describe_cray_host
from osu_container.discover.host_facts import DescribedHost
from osu_container.image.environment import parse_folder_list
from osu_container.verdict import verdict as verdict_rules
from osu_container.verdict.facts import FactsError, read_facts
from osu_container.verdict.injection import TARGET
from osu_container.verdict.rules import RULES
from osu_container.verdict.rules.finding import LEVELS, NOTE
from osu_container.verdict.settings import (
    INJECT_FOLDER,
    build_settings,
    can_launch_approach,
    resolve_approach,
    select_pmi,
)
from osu_container.verdict.site_choice import resolve_described_site, resolve_site
from osu_container.verdict.trial import (
    BIND_VARIABLES,
    Change,
    NoMpiError,
    build_trial,
    list_user_binds,
    render_bound_texts,
    select_program,
)
from osu_container.verdict.verdict import judge_approach, recommend_approach
from tests.helpers.elf_folder import (
    ElfFolder,
    intel_mpi,
    mpich,
    open_mpi,
    trace_loader,
)
from tests.helpers.machine import PROJECT, assert_success, mark_repeats_nightly, run
from tests.helpers.verdict_cases import (
    CUDA,
    GPU,
    HOME,
    PLAIN,
    SILENT,
    SPEAKS,
    World,
    build_mpi,
    combine_changes,
    defer_change,
    host,
    image,
    image_mpi,
    link_program,
    make_described_host,
    start_by_script,
    use_standard_abi,
    write_file,
)

#: One for each kind of launcher, MPI and GPU
REPRESENTATIVE = ['workstation', 'lumi-25.03', 'alps', 'frontier', 'perlmutter', 'polaris']


def list_case_parameters(table):
    """Return pytest's parameters: (rule, the rest of a case)."""
    return [
        pytest.param(rule, *case[1:], id=f'{rule}: {case[0]}')
        for rule, found in table.items()
        for case in found
    ]


def test_every_rule_has_a_speaking_and_a_silent_case():
    # these two need a runtime: tests/check/test_check.py, tests/check/test_start.py, tests/stand_in
    assert set(SPEAKS) == set(SILENT) == {rule.name for rule in RULES} - {'dry run', 'start'}
    assert all(SPEAKS.values()) and all(SILENT.values())


@pytest.mark.parametrize(
    'rule, approach, change, site_name, word, text', list_case_parameters(SPEAKS)
)
def test_rule_speaks(tmp_path, parts, request, rule, approach, change, site_name, word, text):  # noqa: F811, a fixture
    world = World(tmp_path, parts, site_name)
    change(world)
    verdict = world.ask(approach)
    said = [finding for finding in verdict.findings if finding.rule == rule]
    assert said, [(finding.rule, finding.reason) for finding in verdict.findings]
    assert said[0].level == word and all(
        name in (said[0].reason + said[0].remedy) for name in text.split()
    ), said
    # the worst comes first and is the verdict
    words = [finding.level for finding in verdict.findings]
    assert words == sorted(words, key=lambda one: [*reversed(LEVELS), NOTE].index(one))
    assert verdict.level == next((one for one in words if one != NOTE), 'works')
    for finding in said:
        assert finding.evidence and all(file and found for file, found in finding.evidence)
        assert finding.source and finding.remedy
        assert '\n' not in finding.reason and finding.reason[-1] not in '.!'
        printed = [
            one.text in finding.remedy
            and any(name in finding.remedy for name in one.approaches or [''])
            for one in finding.remedies
            if isinstance(one, Change)
        ]
    assert all(printed) != any(name in request.node.name for name in UNHELPFUL), said


#: Names of cases in SPEAKS in which the finding stays with one of its remedies
UNHELPFUL = (
    'a file of the host at the same place',  # below /tmp, which is no bind of the user
    'static program: nothing to inject',  # already approach pure
    'behind a script without LD_LIBRARY_PATH',  # the script unsets the variable again
    'undefined symbol: seven',  # the library is not that of an MPI
    "undefined symbol: mpi4py's",
    "undefined symbol: a program's own",
    'libfabric API: a variable of the image',  # overrides the exported variable
    'TCP only: InfiniBand',  # the host's libfabric lacks the provider
    'PMI: PMIx alone on the site',  # neither MPI supports PMIx
)


def test_mpi_that_opens_libfabric_is_judged_with_libfabric(tmp_path, parts):
    world = World(tmp_path, parts)  # Intel MPI: no DT_NEEDED
    image(mpi=parts.mpi(intel_mpi(), needs=None), fabric=parts.fabric(providers=('tcp', 'shm')))(
        world
    )
    verdict = world.ask('opensource')
    assert 'cxi' in next(one.reason for one in verdict.findings if one.rule == 'no provider')
    assert re.match('libfabric 1.22.0 .*image', verdict.libfabric)
    assert 'no libfabric' not in {one.rule for one in verdict.findings}


def test_plugin_folder_is_first_unless_it_has_injected_libraries(tmp_path, parts):
    world = World(tmp_path, parts)

    def path(opened, host, injected):
        bound = render_bound_texts(resolve_approach('hybrid'), world.site, host, opened, injected)
        return parse_folder_list(
            opened.evaluate_environment(bound).variables.get('LD_LIBRARY_PATH')
        )[0][:-1]

    opened, host = world.open_files()
    with opened:
        assert path(opened, host, {}) == ['/opt/mpich/lib']
        assert path(opened, host, {'libfabric.so.1': None}) == [
            '/opt/plugin/lib',
            INJECT_FOLDER,
            '/opt/mpich/lib',
        ]
    world.image.copy(parts.fabric(), '/opt/plugin/lib/libfabric.so.1')
    opened, host = world.open_files()
    with opened:
        assert path(opened, host, {'libfabric.so.1': None}) == [INJECT_FOLDER, '/opt/mpich/lib']


def test_first_program_that_needs_mpi_is_inspected(tmp_path, parts):
    world = World(tmp_path, parts)
    for name in ('osu_a', 'osu_z'):
        world.image.copy(parts.plain('libother.so.1'), f'/opt/osu/bin/{name}')
    with world.open_files()[0] as opened:
        assert set(opened.programs) == {'osu_a', 'osu_latency', 'osu_z'}
        assert (
            select_program(opened, None, opened.evaluate_environment()).program
            == '/opt/osu/bin/osu_latency'
        )


@pytest.mark.parametrize('rule, approach, change, site_name', list_case_parameters(SILENT))
def test_rule_is_silent(tmp_path, parts, rule, approach, change, site_name):  # noqa: F811, a fixture
    world = World(tmp_path, parts, site_name)
    change(world)
    verdict = world.ask(approach)
    assert [finding for finding in verdict.findings if finding.rule == rule] == []
    assert verdict.approach == approach


def follow_remedy(world, approach, finding):
    """Do in the image's folder what a remedy says, and return the approach to use then."""
    remedy, resolve_path = finding.remedy, world.image.resolve_path
    script = resolve_path('/.singularity.d/env/90-environment.sh')
    command = re.search(r'`(patchelf [^`]+)`', remedy)
    removed = re.match(r'remove (\S+) from (/[^:]+)', remedy)
    added = re.search(r'add (\S+) to LD_LIBRARY_PATH|set (\w+=\S+) in the image', remedy)
    named = re.search(r'use approach (\w+)', remedy)
    if command:
        *words, path = shlex.split(command.group(1))
        assert_success(run([*words, resolve_path(path)]))
    elif removed:
        file = resolve_path(removed.group(2))
        file.write_text(file.read_text().replace(removed.group(1), ''))
    elif remedy.startswith('move the line'):
        path, number = finding.evidence[0][0].rsplit(':', 1)
        lines = resolve_path(path).read_text().splitlines(True)
        script.write_text(lines.pop(int(number) - 1))
        resolve_path(path).write_text(''.join(lines))
    elif added:
        folder, assignment = added.groups()
        script.write_text(f'export {assignment or f"LD_LIBRARY_PATH={folder}:$LD_LIBRARY_PATH"}\n')
    assert command or removed or added or named or script.exists()
    return named.group(1) if named and not command else approach


def move_file(source, target):
    """Return a change: a file of the image lies elsewhere."""
    return defer_change(
        lambda it: (
            it.image.copy(it.image.resolve_path(source), target).resolve_path(source).unlink()
        )
    )


#: Names of cases in SPEAKS whose remedy is followed
FOLLOWED = (
    'by a script that starts it',
    'MPI by DT_RPATH of the program',
    'libfabric by DT_RPATH of MPI',
    'preloaded',
    'Open MPI, which this srun cannot start',
    'Debian',
)


@pytest.mark.parametrize(
    'approach, rule, change',
    [
        pytest.param(case[1], rule, case[2], id=case[0])
        for rule, found in SPEAKS.items()
        for case in found
        if case[0] in FOLLOWED
    ]
    + [
        (
            'bind',
            'injection defeated',
            combine_changes(
                start_by_script(
                    '#!/bin/sh\n. /etc/profile.d/mpi.sh\nexec /opt/real/program "$@"\n'
                ),
                write_file(
                    '/etc/profile.d/mpi.sh',
                    '# MPI\nexport LD_LIBRARY_PATH=/opt/mpich/lib:$LD_LIBRARY_PATH\n',
                ),
            ),
        ),
        (
            'bind',
            'injection defeated',
            combine_changes(
                image(program=lambda it: it.program(it.mpi(name='libmpich.so.12'))),
                defer_change(
                    lambda it: it.image.link('/opt/mpich/lib/libmpich.so.12', 'libmpi.so.12')
                ),
            ),
        ),
        (
            'pure',
            'missing library',
            move_file('/usr/lib/libfabric.so.1', '/opt/fabric/libfabric.so.1'),
        ),
        (
            'pure',
            'undefined symbol',
            image(
                program=lambda it: it.program(
                    it.mpi(more='int MPI_Isendrecv(void *a, void *b) { return 0; }\n'),
                    'MPI_Isendrecv',
                    options=('-Wl,-z,now',),
                )
            ),
        ),
    ],
)
def test_remedy_followed_literally_works(tmp_path, parts, approach, rule, change):
    world = World(tmp_path, parts, 'workstation')
    world.host_parts.update(
        libmpi=parts.mpi(more='int MPI_Isendrecv(void *a, void *b) { return 0; }\n')
    )
    change(world)
    finding = world.ask(approach).findings[0]
    assert (finding.rule, finding.level) == (rule, 'fails')
    if 'patchelf' in finding.remedy and not shutil.which('patchelf'):
        pytest.skip('patchelf is not installed')
    approach = follow_remedy(world, approach, finding)
    world.keep_folders()
    verdict = world.ask(approach)
    assert verdict.level == 'works', verdict.findings[0]


@pytest.mark.parametrize('level, expected', [(3, []), (4, ['unknown'])])
def test_processor_level_of_a_described_host(tmp_path, parts, level, expected):
    world = World(tmp_path, parts)
    image(mpi=parts.mpi(options=[f'-Wl,-z,x86-64-v{level}']))(world)
    make_described_host()(world)
    assert [
        one.level for one in world.ask('hybrid').findings if one.rule == 'processor level'
    ] == expected


def write_32_bit_library(path):
    run(['as', '--32', '-o', f'{path}.o', '-'], input='')
    assert_success(
        run(['ld', '-m', 'elf_i386', '-shared', '-soname', path.name, '-o', path, f'{path}.o'])
    )


@pytest.mark.parametrize('has_program', [True, False])
@pytest.mark.parametrize(
    'damage, rule',
    [
        (
            lambda path: path.write_text('/* GNU ld script */\nINPUT(libmpi.so)\n'),
            'missing library',
        ),
        (lambda path: path.write_text(''), 'missing library'),
        (lambda path: path.write_bytes(path.read_bytes()[:3000]), 'missing library'),
        (lambda path: path.write_bytes(path.read_bytes()[:-100]), None),  # only section headers
        (write_32_bit_library, None),
    ],
    ids=['text', 'empty', 'truncated', 'no section headers', '32-bit'],
)
def test_damaged_mpi_gets_the_verdict_of_the_loader(tmp_path, parts, damage, rule, has_program):
    world = World(tmp_path, parts, 'workstation')
    image(libraries=[parts.mpi()], **({} if has_program else {'program': None}))(world)
    world.host_parts.update(libmpi=parts.mpi())
    path = world.image.resolve_path('/opt/mpich/lib/libmpi.so.12')
    world.more.append(lambda: damage(path))
    verdict = world.ask('pure')
    rules = {finding.rule for finding in verdict.findings if finding.level != NOTE}
    assert rules == {rule} - {None} | ({'no program'} - {'no program' * has_program})
    world.keep_folders()
    assert world.ask('bind').level == ('works' if has_program else 'unknown')
    if has_program:
        done = trace_loader(world.image, '/opt/osu/bin/osu_latency', ['/opt/mpich/lib'])
        assert (done.returncode == 0) == (verdict.level == 'works')


def test_damaged_host_library_fails_only_where_it_is_injected(tmp_path, parts):
    world = World(tmp_path, parts, 'workstation')
    world.more.append(lambda: world.host.write(world.site['libraries']['libfabric']['value'], ''))
    verdict = world.ask('hybrid')
    assert (verdict.level, verdict.findings[0].rule) == ('fails', 'host path missing')
    world.more.append(lambda: world.image.resolve_path('/opt/osu/bin/osu_latency').touch())
    assert world.ask('pure').level == 'works'


def test_binds_of_a_loaded_module_are_not_the_users(monkeypatch):
    for name in BIND_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    module = f'/m/libmpi.so.12:{INJECT_FOLDER}/libmpi.so.12,/m/host-mpi.sh:{TARGET}'
    monkeypatch.setenv('APPTAINER_BIND', f'/a:/b,{module}')
    monkeypatch.setenv('SINGULARITY_BIND', module)
    assert list_user_binds() == {'APPTAINER_BIND': ['/a:/b']}


@pytest.mark.parametrize(
    'variable, value, folder, level',
    [
        *((name, '{tmp}:/opt/mpi', '/opt/mpi', 'fails') for name in BIND_VARIABLES),
        ('APPTAINER_BIND', '/x:/y,/opt/mpi', '/opt/mpi', 'fails'),
        ('APPTAINER_BIND', '/opt/mpich:/opt/mpi:ro', '/opt/mpi', 'unknown'),
        ('MPI_CONTAINER_OPTIONS', '--no-home', HOME, 'works'),
        ('MPI_CONTAINER_OPTIONS', '--no-mount tmp', '/var/tmp', 'works'),
        ('PWD', '/opt', '/opt/mpi', 'unknown'),
        ('PWD', '/', INJECT_FOLDER, 'works'),
    ],
)
def test_mounts_of_the_user_hide_the_image(
    tmp_path, parts, monkeypatch, variable, value, folder, level
):
    """A bind, an option of the runtime, or the current folder (PWD)."""
    monkeypatch.setenv(variable, value.format(tmp=tmp_path))
    monkeypatch.chdir(value if variable == 'PWD' else '/')
    world = World(tmp_path, parts, 'workstation')
    image(mpi_folder=folder + '/lib')(world)
    world.host.write('/opt/mpich/lib/libmpi.so.12', '')
    verdict = world.ask('pure')
    assert verdict.level == level
    assert {finding.rule for finding in verdict.findings if finding.level != NOTE} == (
        set() if level == 'works' else {'mounted over'}
    )


@pytest.mark.parametrize('site_name', REPRESENTATIVE)
@pytest.mark.parametrize('approach', ['bind', 'hybrid', 'opensource', 'pure'])
def test_good_image_and_host_work_without_findings(tmp_path, parts, approach, site_name):  # noqa: F811, a fixture
    """The good image and host of these tests: what a rule says is by what its case changes."""
    world = World(tmp_path, parts, site_name)
    gpu = world.site['gpu']['value'] or ''
    userland = world.site.get('gpu_userland', {'value': ['6.3']})['value']
    image(
        rocm=userland[0] + '.1' if gpu.startswith('gfx') else None,
        cuda='12.0' if gpu.startswith('sm_') else None,
        shs=world.site.get('slingshot', {'value': None})['value'],
    )(world)
    if site_name == PLAIN:
        host(libmpi=build_mpi())(world)
    verdict = world.ask(approach)
    if (
        approach == 'bind'
        and 'libmpi' not in world.site['libraries']
        or not can_launch_approach(resolve_approach(approach), world.site)
    ):
        assert ([finding.rule for finding in verdict.findings], verdict.pmi) == (['site'], None)
        return
    assert verdict.pmi == select_pmi(resolve_approach(approach), world.site)
    wanted = ['TCP only'] if approach == 'pure' and site_name != PLAIN else []
    if approach == 'opensource' and site_name != PLAIN and 'slingshot' not in world.site:
        wanted = ['libcxi and driver']
    if (
        approach == 'bind'
        and gpu
        and not any('gtl' in name and fact for name, fact in world.site['libraries'].items())
    ):
        wanted = ['GPU transport layer']
    found = [finding.rule for finding in verdict.findings if finding.level != NOTE]
    assert found == wanted, verdict.findings
    assert (verdict.level == 'works') == (not wanted)
    assert verdict.mpi.endswith('host' if approach == 'bind' else 'image')
    assert verdict.libfabric.endswith('host' if approach in ('bind', 'hybrid') else 'image')


# ---- the recommendation


def make_verdicts(**words):
    return [verdict_rules.Verdict(name, word, [], '', '', None) for name, word in words.items()]


@pytest.mark.parametrize(
    'words, site_name, wanted',
    [
        (
            {
                'pure': 'works slowly',
                'bind': 'works',
                'hybrid': 'works',
                'opensource': 'works slowly',
            },
            GPU,
            'hybrid',
        ),
        (
            {'pure': 'works slowly', 'bind': 'works', 'hybrid': 'fails', 'opensource': 'unknown'},
            GPU,
            'bind',
        ),
        (
            {'pure': 'unknown', 'bind': 'unknown', 'hybrid': 'fails', 'opensource': 'unknown'},
            GPU,
            None,
        ),
        (
            {'pure': 'works', 'bind': 'works', 'hybrid': 'works', 'opensource': 'works'},
            PLAIN,
            'pure',
        ),
        ({'pure': 'fails', 'openmpi': 'works'}, PLAIN, 'openmpi'),
    ],
)
def test_recommendation_ranks_verdict_then_site_then_injection(words, site_name, wanted):
    assert recommend_approach(make_verdicts(**words), resolve_site(site_name)) == wanted


# ---- the examination: the published runs

#: approach -> how many of the published cells were measured
MEASURED = {'pure': 7, 'bind': 7, 'hybrid': 11, 'opensource': 10}


@pytest.fixture(scope='module')
def cells():
    return [
        cell
        for cell in published.examine_published_combinations()
        if cell.outcome != 'not measured'
    ]


def count_outcomes():
    """Return how often (dict) each outcome comes out."""
    found = collections.Counter(cell.outcome for cell in published.examine_published_combinations())
    return {word: found[word] for word in ('right', 'unknown', 'wrong')}


def test_every_measured_combination_is_examined(cells):
    assert (
        collections.Counter(cell.approach for cell in cells) == MEASURED
        and sum(MEASURED.values()) == 35
    )
    with open(PROJECT / 'osu_container' / 'check' / 'compatibility.csv') as stream:
        marks = [row[approach] for row in csv.DictReader(stream) for approach in MEASURED]
    assert [cell.mark for cell in published.examine_published_combinations()] == marks
    assert len(cells) == sum(mark in ('Y', '(Y)', 'N') for mark in marks)


def test_verdict_unknown_names_the_missing_evidence(cells):
    for cell in cells:
        if cell.outcome == 'unknown':
            finding = cell.verdict.findings[0]
            assert finding.level == 'unknown' and cell.reason == finding.reason
            assert finding.remedy, 'what would tell it'


@pytest.mark.parametrize(
    'rule',
    ['symbol version', 'no provider', 'no libfabric', 'RCCL plugin', 'capability set', 'TCP only'],
)
def test_removing_a_rule_worsens_the_examination(monkeypatch, rule):
    whole = count_outcomes()
    monkeypatch.setattr(verdict_rules, 'RULES', [one for one in RULES if one.name != rule])
    assert len(verdict_rules.RULES) == len(RULES) - 1
    assert count_outcomes()['wrong'] > whole['wrong'] == 0


@pytest.mark.parametrize(
    'mark, note, word, rules, wanted',
    [
        ('Y', '22 GB/s', 'works', [], 'right'),
        ('Y', '22 GB/s', 'fails', ['no provider'], 'wrong'),
        ('Y', '22 GB/s; RCCL 3 GB/s', 'works slowly', ['RCCL plugin'], 'right'),
        ('Y', 'fast (~2 GB/s)', 'works', [], 'wrong'),
        (
            'N',
            'fails: MPICH expects a higher libfabric version',
            'fails',
            ['symbol version'],
            'right',
        ),
        ('Y', '', 'unknown', ['not seen over cxi'], 'unknown'),
        ('??', '', 'fails', ['no provider'], 'not measured'),
    ],
)
def test_a_prediction_is_judged_by_word_and_cause(mark, note, word, rules, wanted):
    findings = [verdict_rules.Finding(rule, word, 'because', [], '', '') for rule in rules]
    assert published.grade_prediction(mark, 'hybrid', note, findings)[0] == wanted


# ---- descriptions


def test_incomplete_description_reports_nothing_missing():
    """What is not in it is not missing, and no symbol lacks."""
    entry = resolve_described_site(published.PUBLISHED_SITE)
    described = describe_published_image(True, '1.22.0', '4.2.3', '6.0.3')
    mpi = described.files['/usr/lib/libmpi.so.12']
    described.files['/usr/lib/libmpi.so.12'] = mpi._replace(
        needed=[*mpi.needed, 'libnobody.so'], undefined={'nobody': 'OBJECT'}
    )
    # what its libraries need of glibc an image of 2022 has
    verdict = judge_approach(
        resolve_approach('opensource'),
        entry,
        described,
        DescribedHost(
            describe_cray_host(dict(entry, glibc=resolve_described_site('lumi-24.03')['glibc']))
        ),
    )
    assert not {'missing library', 'undefined symbol'} & {
        finding.rule for finding in verdict.findings
    }
    assert build_elf_facts('/usr/lib/libx.so.1').soname == 'libx.so.1'


# ---- what goes into the process

#: Rules on what the loader does, and by which word it does not start the program
LOADER_RULES = {
    ('missing library', 'fails'),
    ('symbol version', 'fails'),
    ('undefined symbol', 'fails'),
    ('processor level', 'fails'),
}
#: Rules where there is no process to look at, or none that can run here
ELSEWHERE = {
    'host path missing',
    'architecture',
    'GPU vendor',
    'static program',
    'other MPI',
    'host not described',
    'facts of the host',
    'mounted over',
}


def is_opened_later(one, opens):
    """
    Return whether a Loaded comes in by a library that Open MPI opens in MPI_Init(), or by one of
    opens (list).
    """
    return (
        '/mca_' in one.name
        or one.name in opens
        or one.requester is not None
        and is_opened_later(one.requester, opens)
    )


@pytest.mark.parametrize(
    'rule, approach, change, site_name',
    mark_repeats_nightly(
        [
            pytest.param(case.values[0], *case.values[1:4], id=f'{table}: {case.id}')
            for table, found in (
                ('speaks', list_case_parameters(SPEAKS)),
                ('silent', list_case_parameters(SILENT)),
            )
            for case in found
            if case.values[0] not in ELSEWHERE
        ],
        lambda rule, approach, *_: (rule, approach),
    ),
)
def test_real_loader_agrees_with_the_verdict_of_each_case(
    tmp_path, parts, rule, approach, change, site_name
):
    """
    Every image and host of the tables is put together as the module would, and the program in it
    is run.
    """
    world = World(tmp_path, parts, site_name)
    change(world)
    opened, opened_host = world.open_files()
    with opened:
        try:
            mix = build_trial(
                resolve_approach(approach),
                world.site,
                opened,
                opened_host,
                world.program,
            )
        except NoMpiError:
            return
        if mix.program is None or any(' or ' in name for name, _ in mix.process.missing):
            return  # an image without a program; what mpi4py would try
        findings = verdict_rules.judge_trial(mix).findings
        if site_name == CUDA:  # as --nv does
            for name, _ in mix.process.missing:
                world.image.copy(parts.plain(name), f'/usr/lib/{name}')
            mix = build_trial(
                resolve_approach(approach),
                world.site,
                type(opened)(opened.path, 'osu_'),
                opened_host,
            )
        done, loaded = world.run_real(
            mix,
            *mix.opened_libraries,
            *([mix.rccl_plugin[0]] if mix.rccl_plugin else []),
        )
    said = {(finding.rule, finding.level) for finding in findings}
    starts = not said & LOADER_RULES
    if said & {('undefined symbol', 'unknown'), ('missing library', 'unknown')}:
        return  # scripts that are not read whole: either may happen
    assert (done.returncode in (0, 3)) == starts, done
    if starts:
        program = os.path.realpath(world.image.resolve_path(mix.program))[
            len(os.path.realpath(world.image.root)) :
        ]
        assert [
            one.path
            for one in mix.process.loaded
            if one.path != program
            and 'ld-linux' not in one.path
            and not is_opened_later(one, mix.opened_libraries)
        ] == loaded
        if mix.rccl_plugin and done.returncode != 127:
            said = [
                finding
                for finding in findings
                if finding.rule == 'RCCL plugin'
                and finding.level != NOTE
                and not re.match('no DT_NEEDED|providers', finding.evidence[0][1])
            ]
            assert (done.returncode == 3) == bool(said) or approach == 'pure'


RUNTIME = {'command': 'apptainer', 'name': 'apptainer'}


# ---- which library is injected


@pytest.mark.parametrize(
    'mpi, wanted', [('libmpi.so.12', 'libmpi'), ('libmpi_abi.so.1', 'libmpi_abi')]
)
def test_program_decides_in_an_image_with_both_abis(tmp_path, parts, mpi, wanted):
    """As MPICH 5 installs them. What is recorded is the library that the program asks for."""
    world = World(tmp_path, parts, PLAIN)
    combine_changes(
        use_standard_abi(mpich('5.0.2')),
        image(
            mpi=build_mpi(mpich('5.0.2')),
            libraries=lambda it: [it.mpi(mpich('5.0.2'), 'libmpi_abi.so.1')],
            program=link_program(mpi=build_mpi(mpich('5.0.2'), mpi)),
        ),
    )(world)
    opened, on_host = world.open_files()
    opened.close()
    facts = read_facts(
        resolve_approach('bind'), world.site, str(world.image), on_host.root, RUNTIME, 'osu_'
    )
    assert facts['image']['soname'] == mpi
    injected = {one['soname']: one for one in facts['host']['injected']}
    assert injected[mpi]['name'] == wanted and injected[mpi]['path'].startswith(on_host.root)
    assert {'libmpi.so.12', 'libmpi_abi.so.1'} & set(injected) == {mpi}


def test_wrapper_of_the_site_serves_the_standard_abi(tmp_path, parts):
    """The site has mpi_abi_wrapper, whose libmpiwrapper.so opens the host's MPI."""
    world = World(tmp_path, parts, PLAIN)
    image_mpi(mpich('5.0.2'), 'libmpi_abi.so.1')(world)
    libmpi, libraries = parts.mpi(mpich()), world.site['libraries']
    wrapper = dict(libraries['libmpi'], value='/opt/wrapper/lib/libmpiwrapper.so')
    world.site['libraries'] = dict(libraries, libmpiwrapper=wrapper)
    host(
        libmpi=libmpi,
        libmpi_abi=build_mpi('\n', 'libmpi_abi.so.1', needs=None),
        libmpiwrapper=lambda it: it.plain(
            'libmpiwrapper.so',
            needed=[libmpi],
            rpath=os.path.dirname(f"{world.host}{libraries['libmpi']['value']}"),
        ),
    )(world)
    opened, on_host = world.open_files()
    opened.close()
    bind = resolve_approach('bind')
    facts = read_facts(bind, world.site, str(world.image), on_host.root, RUNTIME, 'osu_')
    paths = {one['soname']: one['path'] for one in facts['host']['injected']}
    assert {'libmpi.so.12', 'libmpi_abi.so.1', 'libmpiwrapper.so'} <= set(paths)
    assert paths['libmpi.so.12'].startswith(on_host.root)
    variables = build_settings(bind, world.site, facts).environment.command_variables
    assert ('MPI_ABI_WRAPPER_LIB', f'{INJECT_FOLDER}/libmpiwrapper.so') in [
        (one['name'], one['value']) for one in variables
    ]
    assert facts['host']['mpi'] == 'MPICH 4.2.3' and facts['image']['uses_libfabric']
    verdict = world.ask('bind')
    assert [one.rule for one in verdict.findings] == ['standard ABI']
    assert verdict.libfabric.endswith('of the host')


@pytest.mark.parametrize(
    'folder, plugins',
    [('/opt/openmpi/5.0.11/lib', 'openmpi'), ('/usr/lib/x86_64-linux-gnu', 'openmpi/lib/openmpi3')],
)
def test_discover_finds_the_hosts_open_mpi_and_its_plugins(tmp_path, parts, folder, plugins):
    tree = ElfFolder(tmp_path / 'host')
    tree.copy(parts.mpi(open_mpi(), 'libmpi.so.40'), f'{folder}/libmpi.so.40')
    tree.copy(parts.plain('mca_mtl_ofi.so'), f'{folder}/{plugins}/mca_mtl_ofi.so')
    done = run([PROJECT / 'scripts' / 'osu-container', 'discover', '--sysroot', tree, '--json'])
    assert done.returncode == 0, done
    found = json.loads(done.stdout)['site']['libraries']['libompi']
    assert (found['value'], found['folders']) == (
        f'{folder}/libmpi.so.40',
        {'lib/openmpi': f'{folder}/{plugins}'},
    )


# ---- what is refused, and the way out


@pytest.mark.parametrize(
    'approach, soname, says, remedy',
    [
        ('bind', 'libmpich.so.12', mpich('4.0.2'), 'libmpi.so.12'),
        ('bind', 'libmpi_abi.so.0', mpich('5.0.0'), 'MPICH 5.0.2'),
        ('openmpi', 'libmpi.so.12', mpich(), 'opensource'),
        ('openmpi', 'libmpi_abi.so.1', mpich('5.0.2'), 'opensource'),
    ],
)
def test_installing_with_another_mpi_names_it_and_a_remedy(
    tmp_path, parts, approach, soname, says, remedy
):
    """--force helps nothing: nothing that is injected would be used."""
    world = World(tmp_path, parts, PLAIN)
    entry = resolve_approach(approach)
    combine_changes(use_standard_abi(says), image(mpi=build_mpi(says, soname)))(world)
    opened, on_host = world.open_files()
    opened.close()
    with pytest.raises(FactsError) as error:
        read_facts(entry, world.site, str(world.image), on_host.root, RUNTIME, 'osu_', force=True)
    for text in (approach, entry['mpi'], str(world.image), soname, remedy):
        assert text in str(error.value)
