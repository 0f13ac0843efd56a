"""
Text of others is data in every output: what reads an output back finds the text that went in,
and nothing beside.
"""

import ast
import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import unicodedata
import xml.etree.ElementTree
from collections import Counter

import pytest
from hypothesis import strategies as st

from osu_container import cli
from osu_container.base import shell, terminal
from osu_container.bench.results import run_files
from osu_container.check.new import easyconfig
from osu_container.data.approaches import APPROACHES
from osu_container.data.records import EVIDENCE, redact, select_variables
from osu_container.data.sites import SITES
from osu_container.discover.write import render_site_file
from osu_container.install.module_text import quote_lua
from osu_container.verdict.site_choice import SiteFile, resolve_site
from tests.bench.test_report import Tables
from tests.helpers.example_runs import CASES, make_run
from tests.helpers.hostile import NAMES, PATHS, TEXTS, EasyBuildReader, Lua, check_examples
from tests.helpers.machine import PROJECT
from tests.verdict.test_settings import make_facts

IMAGE = 'osu-workstation-mpich-4.2.3-libfabric-1.22.0'
CONTROL = re.compile('[\0-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\ud800-\udfff]')


def mark_examples(few, many):
    """
    Return the decorator of a test with so many examples (int), and with many of them in `make
    test-all`.
    """
    return pytest.mark.parametrize('number', [few, pytest.param(many, marks=pytest.mark.nightly)])


@pytest.fixture(scope='module')
def lua():
    reader = Lua()
    yield reader
    reader.close()


@pytest.fixture(scope='module')
def easybuild():
    reader = EasyBuildReader(PROJECT)
    yield reader
    reader.close()


# ---- Lua


@mark_examples(300, 20000)
def test_a_lua_string_is_the_text(lua, number):
    check_examples(
        lambda text: _same(lua('return ' + quote_lua(text))[1], text), number, text=PATHS
    )


def _same(found, text):
    assert found == text


@mark_examples(60, 2000)
def test_modulefile_contains_image_and_site_texts_verbatim(lua, easybuild, number):
    """What it calls is what it calls with plain texts, but for the texts themselves."""

    def module(name, folder, program, why):
        known = make_facts()
        known['image'].update(
            file=name,
            library_path=[folder],
            programs={program: folder},
            mpi='MPICH 4.2.3',
            rccl_plugin_folder=folder,
        )
        known['host']['injected'][0].update(
            path=folder + '/libfabric.so.1', what='libfabric ' + why
        )
        fact = {
            'value': 'cxi',
            'why': why,
            'source': why,
            'date': '2026-11-23',
            'evidence': EVIDENCE[0],
        }
        return lua(
            easybuild(
                site='lumi-25.03',
                approach='hybrid',
                facts=known,
                replaced={'provider': fact},
                again='eb ' + shlex.quote(name),
            )
        )[0]

    def shape(calls):
        return [
            (
                row[0],
                row[1]
                if row[0] in ('setenv', 'pushenv', 'prepend_path', 'append_path')
                else len(row),
            )
            for row in calls
        ]

    plain = module('x.sif', '/opt/lib', 'lmp', 'it is so')

    def check(name, folder, program, why):
        calls = module(name, '/' + folder, program, why)
        assert shape(calls) == shape(plain)
        assert 'os.execute' not in {row[0] for row in calls}
        assert ['setenv', 'SIF', '/install/' + name] in calls

    check_examples(check, number, name=NAMES, folder=PATHS, program=NAMES, why=TEXTS)


# ---- bash


@mark_examples(60, 3000)
@pytest.mark.parametrize('locale', ['C', 'C.UTF-8'])
def test_path_in_a_command_is_one_visible_bash_word(tmp_path, number, locale):
    def check(name):
        code = f'printf "%s\\0" {shell.quote_path(name)} {shell.quote(name)}'
        done = subprocess.run(
            ['bash', '-c', code],
            cwd=tmp_path,
            capture_output=True,
            env={'PATH': os.environ['PATH'], 'LC_ALL': locale},
        )
        plain = os.path.join('.', name) if name.startswith('-') else name
        assert '\n' not in code and not CONTROL.search(code) and not done.stderr
        assert [os.fsdecode(word) for word in done.stdout.split(b'\0')] == [plain, name, '']

    check_examples(check, number, name=NAMES)
    assert not (tmp_path / 'owned').exists()


# ---- HTML, SVG


@mark_examples(2, 60)
def test_run_texts_stay_text_on_the_page_and_in_files(tmp_path, number):
    """
    Tags and attributes are those of the page of a run with plain texts; nothing is there that
    cannot be seen.

    Readers: those of Python.
    """
    made = {kind: tmp_path / f'report.{kind}' for kind in ('html', 'svg')}

    def page(site, programs, reason, tag, series):
        (tmp_path / 'run' / run_files.RESULTS_FILE).unlink(missing_ok=True)
        make_run(
            tmp_path / 'run',
            approaches=('native', 'pure'),
            cases=CASES,
            repeats=1,
            sizes=(1, 64),
            site=site,
            programs=programs,
            tag=tag,
            failures=[('pure', CASES[1], 'failed: ' + reason)],
        )
        path = tmp_path / 'run' / run_files.RESULTS_FILE
        path.write_text(
            path.read_text().replace('"approach": "pure"', '"approach": ' + json.dumps(series))
        )
        told = capture_output(
            'report', tmp_path / 'run', '--force', '-o', made['html'], '--picture', made['svg']
        )
        assert 'report.html' in told, told
        parsed = Tables(made['html'].read_text())
        attributes = {(tag, name) for tag, found in parsed.attributes for name in found}
        drawn = xml.etree.ElementTree.fromstring(made['svg'].read_text())
        return (
            Counter(name for name in parsed.tags if name not in ('br', 'wbr')),
            attributes,
            Counter(one.tag for one in drawn.iter() if one.tag[-5:] != 'tspan'),
        )

    plain = page('here', 'C programs', 'it broke', 'quick', 'ab')

    def check(**texts):
        assert page(**{name: 'a' + text for name, text in texts.items()}) == plain
        for one in made.values():
            with open(one, newline='') as handle:
                assert not CONTROL.search(handle.read()), one

    whole = TEXTS.map(lambda text: text.encode('utf-8', 'replace').decode())
    check_examples(check, number, site=whole, programs=whole, reason=whole, tag=whole, series=whole)


# ---- easyconfigs, site files, definition files, settings of ReFrame


@mark_examples(100, 3000)
def test_eb_reads_the_easyconfig_that_new_writes(easybuild, number):
    def values(image, programs, example, title):
        labels = {'org.opencontainers.image.title': title, 'org.opencontainers.image.url': title}
        return easyconfig.build_parameters(
            'app', 'pure', image, 'a' * 64, programs, example, labels
        )

    plain = list(
        easybuild(
            easyconfig=easyconfig.render_easyconfig(values('x.sif', ['lmp'], 'lmp', 'LAMMPS'))
        )
    )

    def check(**texts):
        wanted = values(**texts)
        found = easybuild(easyconfig=easyconfig.render_easyconfig(wanted))
        assert {name: found[name] for name in wanted} == wanted and list(found) == plain
        assert not CONTROL.search(found['description'] + found['homepage'])

    check_examples(
        check,
        number,
        image=NAMES,
        programs=st.lists(NAMES, min_size=1, max_size=40),
        example=TEXTS,
        title=TEXTS,
    )


@mark_examples(40, 1000)
def test_discovered_site_file_contains_host_texts_verbatim(tmp_path, number):
    def check(node, text):
        site = {'based_on': 'plain', 'title': text}
        source = render_site_file(
            {
                'name': 'here',
                'node': node,
                'date': '2026-11-23',
                'root': '',
                'site': site,
                'approaches': [('pure', None)],
            }
        )
        assert [type(part).__name__ for part in ast.parse(source).body] == ['Assign'] * 3, source
        path = tmp_path / 'site.py'
        path.write_text(source, encoding='utf-8')
        read = SiteFile(str(path))
        assert (read.SITE, read.ROOT, read.SITES) == ('here', '', {'here': site})

    whole = TEXTS.map(lambda text: text.encode('utf-8', 'replace').decode())
    check_examples(check, number, node=whole, text=whole)


# ---- the terminal


def capture_command(*arguments):
    """Return all that a command says (str), as it goes to the terminal, and its exit code."""
    raw = [
        io.TextIOWrapper(io.BytesIO(), 'utf-8', errors='backslashreplace', write_through=True)
        for _ in range(2)
    ]
    with contextlib.redirect_stdout(raw[0]), contextlib.redirect_stderr(raw[1]):
        try:
            code = cli.main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = end.code
    return ''.join(one.buffer.getvalue().decode() for one in raw), code


def capture_output(*arguments):
    """Return all that a command says (str)."""
    return capture_command(*arguments)[0]


# ---- what a terminal is sent, what Lua reads


def list_control_characters(text):
    """Return the characters (list of str) of text that a terminal would obey or show nothing of."""
    return [
        letter
        for letter in text
        if unicodedata.category(letter) in ('Cc', 'Cf', 'Cs', 'Zl', 'Zp')
        or letter in '\u115f\u3164\u2800\ufe0f\U000e0100'
    ]


#: Names of variables with a secret, and of command lines and addresses with one
SECRET_VARIABLES = (
    'MY_PASSWORD AWS_SECRET_ACCESS_KEY GITHUB_TOKEN HF_TOKEN MPICH_SECRET UCX_AUTH_TOKEN FI_OPX_KEY OMPI_MCA_PASSWD '
    'MPICH_PW FI_AUTH APPTAINER_DOCKER_PASSWORD APPTAINERENV_SECRET_TOKEN PIN FI_X_PASSPHRASE UCX_CRED FI_BEARER '
    'OMPI_MCA_x_privkey FI_PASS FI_PWD UCX_AUTHKEY SLURM_JWT PMI_COOKIE PMIX_SECURITY_CRED I_MPI_LICENSE '
    'SINGULARITYENV_FI_LOGIN NCCL_SIGNATURE MPIR_CVAR_CODE FI_CXI_PHRASE SLURM_SPANK_X OSU_X MPICH_URL'
).split()
SECRET_TEXTS = [
    'MY_KEY="hunter2 hunter2" lmp -in x=1',
    'prog --api-token hunter2 --n 1',
    "prog --Password='hunter2 hunter2'",
    'prog -key hunter2',
    'a --secret=hunter2\\ hunter2',
    'docker://me:hunter2@host:5000/image',
    'https://me:hunter2@hunter2@host/x',
    'curl -H "Authorization: Basic hunter2hunter2"',
    ['prog', '--token', 'hunter2', '--n'],
    ['bash', '-c', 'prog --apikey=hunter2'],
    {'A_TOKEN': 'hunter2', 'deep': [{'variables': {'FI_ANY': 'hunter2'}}]},
]


def test_redacted_data_contain_no_secret():
    environment = dict.fromkeys(SECRET_VARIABLES, 'hunter2')
    known = {'FI_PROVIDER': 'cxi', 'MPICH_GPU_SUPPORT_ENABLED': '1', 'LD_LIBRARY_PATH': '/a:/b'}
    data = redact({'variables': {**environment, **known}, 'texts': SECRET_TEXTS})
    assert 'hunter2' not in json.dumps(data) and redact(data) == data
    assert {**data['variables'], **known} == data['variables']
    assert {name for name in SECRET_VARIABLES if name in data['variables']} >= {
        'FI_PASS',
        'MPICH_PW',
    }
    plain = ['a@b', 'http://host/a@b', 'lmp -in x=1 --tokenizer gpt2', 'docker://host:5000/image']
    assert redact(plain) == plain


@mark_examples(200, 5000)
def test_masked_text_stays_json_and_the_same_when_masked_again(number):
    def check(words):
        masked = terminal.mask_secrets(' '.join(words))
        assert terminal.mask_secrets(masked) == masked
        json.loads(terminal.mask_secrets(json.dumps(redact(words))))

    words = st.sampled_from('--token --key= PASSWORD= https://a:b@c " \' \\'.split())
    check_examples(check, number, words=st.lists(st.one_of(words, TEXTS), max_size=6))


@pytest.mark.parametrize('site', SITES)
def test_values_of_variables_that_the_data_set_are_recorded(site):
    entries = list(resolve_site(site)['variables'])
    for approach in APPROACHES.values():
        entries += approach.get('variables', ())
    set_values = {
        entry['name']: re.sub(r'{\w+}', '/x', entry['value'])
        for entry in entries
        if isinstance(entry['value'], str)
    }
    assert select_variables(set_values) == set_values


def test_every_character_is_shown_or_named():
    for number in [*range(0x10000), *range(0x10000, 0x110000, 97)]:
        shown = terminal.escape_line(chr(number))
        assert shown and not list_control_characters(shown), hex(number)
    assert (
        terminal.escape_line('a\x1b[31m\n') == 'a\\x1b[31m\\x0a'
        and terminal.escape_text('a\r\n') == 'a\\x0d\n'
    )


def test_streams_escape_control_characters_and_are_restored(monkeypatch):
    out, error = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, 'stdout', out)
    monkeypatch.setattr(sys, 'stderr', error)
    with terminal.escape_streams():
        print('a\x1b[2Jb')
        print('c\u202ed', file=sys.stderr)
        sys.stdout.write_raw('\r\x1b[K')
    assert (out.getvalue(), error.getvalue()) == ('a\\x1b[2Jb\n\r\x1b[K', 'c\\u202ed\n')
    assert (sys.stdout, sys.stderr) == (out, error)
