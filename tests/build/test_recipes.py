"""
Test the recipes: pinned sources, the catalogue, current rendered texts, the launcher of osu-mpi4py.

Rendering takes a few milliseconds, so that every test reads all files of all images. A failing test
names the file.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from osu_container.build import ImageBuildError
from osu_container.build.catalogue import IMAGES, load_recipe
from osu_container.build.recipes.common import PACKED, list_commands
from osu_container.build.recipes.images import (
    CHECKED_IN_RECIPES,
    RENDERED,
    list_recipe_files,
    render_recipe,
)
from osu_container.build.recipes.versions import SOURCES
from osu_container.check.examination import read_published_table as published_rows
from osu_container.data.sites import SITES
from osu_container.verdict.site_choice import resolve_site
from tests.build.test_images_run import map_described_verdicts
from tests.helpers.machine import PROJECT, assert_success, run

MPI4PY = PROJECT / 'container-recipes' / 'mpi4py'
SHA256 = re.compile(r'\b[0-9a-f]{64}\b')


@pytest.fixture(scope='module')
def texts():
    """
    Return {file name: text} of all definition files and Dockerfiles, as HPCCM renders them.
    """
    return {
        file: render_recipe(name, kind, Path(file).suffix)
        for file, (name, kind) in list_recipe_files().items()
    }


@pytest.fixture(scope='module')
def definitions(texts):
    """
    Return {file name: {name of a stage: its text}} of all definition files, in order.
    """
    return {
        file: {
            re.search(r'(?m)^Stage: (\S+)', part).group(1): part
            for part in re.split(r'(?m)^(?=BootStrap: )', re.sub(r'(?m)^#.*\n', '', text))[1:]
        }
        for file, text in texts.items()
        if file.endswith('.def')
    }


# Pinned sources


def test_every_source_is_pinned():
    for key, source in SOURCES.items():
        if (
            source['sha256'] is None
        ):  # Then the archive names its commit, and the note has a reason.
            assert source['note'] and re.fullmatch(r'[0-9a-f]{12,40}', source['commit']), key
        else:
            assert SHA256.fullmatch(source['sha256']), key
        assert source['licence'] and source['name'] and source['version'], key
        assert source['url'] == 'PyPI' or re.fullmatch(r'https://\S+', source['url']), key
        assert not re.search(r'(heads/|(?<!/pool)/(main|master)[./])', source['url']), (
            f'{key}: the address names a branch, whose content changes'
        )


def test_other_files_pin_the_same_checksums():
    """
    Easyconfigs and shell scripts do not read versions.csv: they repeat its checksums.
    """
    ours = {source['sha256'] for source in SOURCES.values()}
    for easyconfig in PROJECT.glob('easyconfigs/*/*/*.eb'):
        expected = [SOURCES['osu']['sha256']] if easyconfig.parent.name == 'osu-native' else []
        assert SHA256.findall(easyconfig.read_text()) == expected, easyconfig.name
    assert set(SHA256.findall((PROJECT / 'tools/workstation/host_mpi.sh').read_text())) <= ours


# The catalogue


def test_every_published_combination_has_one_image():
    published = sorted((row['libcxi'], row['libfabric'], row['mpich']) for row in published_rows())
    assert len(published) == 12
    assert (
        sorted(entry['published'] for entry in IMAGES.values() if entry['published']) == published
    )


def test_name_of_an_image_contains_its_arguments():
    for name, entry in IMAGES.items():
        arguments = next(iter(entry['variants'].values()))['arguments']
        for key in 'rocm cuda mpi mpich version libfabric'.split():
            assert arguments.get(key, '') in name, (name, key)


def test_makefile_builds_an_image_of_the_workstation():
    make = re.search(r'(?m)^IMAGE := (\S+)$', (PROJECT / 'Makefile').read_text()).group(1)
    assert f'{make}.sif' in SITES['workstation']['images']['value'].values()


# Rendered files


def test_checked_in_text_is_current():
    result = run(
        [sys.executable, '-m', 'tools.generate', '--step', 'recipes', '--check'], cwd=PROJECT
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, '', '')
    assert {path.name for path in RENDERED.iterdir()} == set(CHECKED_IN_RECIPES)


def test_recipe_without_hpccm_is_the_stored_text_or_an_error(monkeypatch):
    monkeypatch.setitem(sys.modules, 'hpccm', None)  # makes the import fail like a missing module
    for file in CHECKED_IN_RECIPES:
        name, kind = list_recipe_files()[file]
        assert load_recipe(name, kind, Path(file).suffix) == (RENDERED / file).read_text()
    with pytest.raises(ImageBuildError, match='make python-env'):
        load_recipe('osu-workstation-mpich-5.0.2-libfabric-2.5.1', 'c')


# Content of rendered files


def test_every_source_is_checked_before_it_is_used(texts):
    by_file = {source['file']: source for source in SOURCES.values()}
    for file, text in texts.items():
        assert 'object at 0x' not in text, file
        name, kind = list_recipe_files()[file]
        expected = {SOURCES[key]['file'] for key in IMAGES[name]['variants'][kind]['sources']}
        assert {*re.findall(r'sources/(\S+)(?<!sif)\s', text)} == expected, file
        # a source may be copied into several stages, and each stage must check the source
        for part in re.split(r'(?im)^(?=bootstrap: |from )', text)[1:]:
            copied = {
                name for name in re.findall(r'sources/(\S+)\s', part) if not name.endswith('.sif')
            }
            for name in copied:
                source = by_file[name]
                if source['sha256'] is None:
                    check = re.search(
                        rf'{re.escape(name)}[^\n]* grep -aq "comment={source["commit"]}', part
                    )
                else:
                    check = re.search(
                        rf'echo "({source["sha256"]}|{{{{ OSU_SHA256 }}}})  \S+/{re.escape(name)}" *\| '
                        r'*sha256sum -c',
                        part,
                    )
                assert check, f'{file}: {name} is used without a check'
                if '{{ OSU_SHA256 }}' in check.group(0):
                    assert f"OSU_SHA256={source['sha256']}" in part, file
                uses = [
                    use.start()
                    for use in re.finditer(
                        rf'(?:zipfile -e|tar -x\S*|pip install|install -D)[^\n]* \S*{re.escape(name)}',
                        part,
                    )
                ]
                assert all(check.start() < use for use in uses), (file, name)


def test_stages_copy_what_exists_and_what_proot_can_copy(definitions):
    """
    SingularityCE with PRoot copies no folders from a stage, only its packed archive.
    """
    archives = {source['file'] for source in SOURCES.values()}
    for file, stages in definitions.items():
        for number, (name, text) in enumerate(stages.items()):
            assert text.startswith('BootStrap: {{ BOOTSTRAP }}\n') and not re.search(
                r'(?m)^%(pre|setup)', text
            )
            for source, body in re.findall(r'(?m)^%files(?: from (\S+))?\n((?:[ \t]+.*\n)*)', text):
                paths = [line.split()[0] for line in body.splitlines()]
                if source:
                    packing = stages[source].rstrip().splitlines()[-1]
                    assert (
                        source in list(stages)[:number]
                        and paths == [PACKED]
                        and f'-cf {PACKED} ' in packing
                    ), (file, name)
                    members = packing.partition(f'{PACKED} ')[2].split()
                    expected = re.search(rf'-xf /opt/{source}\.tar (.*)', text).group(1).split()
                    assert all(
                        any(path == member or path.startswith(f'{member}/') for member in members)
                        for path in expected
                    ), (file, name)
                else:
                    assert all(
                        (PROJECT / path).is_file() or path.rpartition('/')[2] in archives
                        for path in paths
                    ), (file, name)
            # with PRoot, apt cannot change to its own user, and tar cannot restore owners
            assert all(
                'APT::Sandbox::User=root' in line
                for line in re.findall(r'apt-get .*(?:install|download) .*', text)
            ), (file, name)
            assert all(
                '--no-same-owner' in line
                for line in re.findall(r'\btar [^|;&\n]*-x\w* [^|;&\n]*', text)
            ), (file, name)


def test_benchmarks_are_in_one_folder_of_every_image(definitions, tmp_path):
    """
    The documentation names /opt/osu/bin/osu_bw, for ports and for C benchmarks.
    """
    commands = list_commands('link benchmarks')
    for file, stages in definitions.items():
        text = ''.join(stages.values())
        assert (
            'make install' not in text
            or '--prefix=/opt/osu' not in text
            or '\n    '.join(commands) in text
        ), file
    folder = tmp_path / 'opt' / 'osu'
    for path in ('mpi/pt2pt/standard/osu_bw', 'xccl/pt2pt/osu_xccl_bw'):
        program = folder / 'libexec' / 'osu-micro-benchmarks' / path
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text('#!/bin/sh\necho "$0"\n')
        program.chmod(0o755)
    result = run(['bash', '-e', '-c', '\n'.join(commands).replace('/opt/osu', str(folder))])
    assert_success(result)
    assert {path.name for path in (folder / 'bin').iterdir()} == {'osu_bw', 'osu_xccl_bw'}
    assert run([folder / 'bin' / 'osu_bw']).returncode == 0


def test_images_test_themselves(definitions):
    for file, stages in definitions.items():
        *others, last = stages.values()
        assert not any('\n%test' in text for text in others), file
        text = last.partition('\n%test\n')[2]
        assert 'set -e' in text and 'ldd' in text, file
        fails = IMAGES[list_recipe_files()[file][0]]['fails']
        if fails:
            assert re.search(r'FABRIC_[\d.]+', fails).group(0) in text and 'mpiexec' not in text, (
                file
            )
        else:
            assert re.search(r'(mpiexec|mpirun)\S* .*-n(p)? 2 .*osu_latency', text), file


# Checks by other programs


def list_shell_scripts(text):
    """Return all shell scripts in the text of a rendered file."""
    if '\nBootStrap:' not in text:
        return [
            line[4:] for line in text.replace('\\\n', ' ').splitlines() if line.startswith('RUN ')
        ]
    return re.findall(r'(?ms)^%(?:post|test)\n(.*?)(?=^%|^BootStrap|^# NOTE|\Z)', text)


@pytest.mark.nightly
def test_shellcheck_finds_nothing(texts, tmp_path):
    """
    Check each different script once; the name of a script contains one of its files.
    """
    scripts = {script: file for file, text in texts.items() for script in list_shell_scripts(text)}
    for number, (script, file) in enumerate(scripts.items()):
        # -e: Apptainer and Docker's && also stop at the first error
        (tmp_path / f'{file}-{number}.sh').write_text(f'#!/bin/sh -ex\n{script}\n')
    result = subprocess.run(
        [
            Path(sys.executable).parent / 'shellcheck',
            '--severity=info',
            *sorted(os.listdir(tmp_path)),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0 and scripts, result


# The launcher of images with mpi4py, with a program in place of OMB-Py that prints its arguments


@pytest.fixture
def launch(tmp_path):
    """
    Return a function that runs osu-python through a link with the name of the command.

    Arguments of the function: the command, then its arguments. NumPy is an almost empty module.
    """
    libexec, packages = tmp_path / 'libexec', tmp_path / 'lib/python'
    for folder in (libexec / 'omb-py' / 'mpi' / 'pt2pt', packages / 'mpi4py', tmp_path / 'bin'):
        folder.mkdir(parents=True)
    shutil.copy(MPI4PY / 'osu-python', libexec / 'osu-python')
    (packages / 'numpy.py').write_text('__version__ = "2.4.6"\n')
    (packages / 'mpi4py' / '__init__.py').write_text('')
    (packages / 'mpi4py' / 'MPI.py').write_text('class COMM_WORLD:\n    def Get_rank(): return 0\n')
    for name in ('osu_bw', 'osu_latency'):
        (libexec / 'omb-py' / 'mpi' / 'pt2pt' / f'{name}.py').write_text('')
    (libexec / 'omb-py' / 'run.py').write_text(
        'import os, sys\nprint(sys.argv[1:], os.environ["MPI4PY_LIBMPI"])\n'
    )

    def call(command, *arguments):
        link = tmp_path / 'bin' / command
        if not link.is_symlink():
            link.symlink_to('../libexec/osu-python')
        return run(
            [link, *arguments],
            env={name: value for name, value in os.environ.items() if name != 'MPI4PY_LIBMPI'},
        )

    return call


@pytest.mark.parametrize(
    'command, buffers',
    [
        ('osu_bw', []),
        ('osu_py_bw', ['--buffer', 'numpy', 'H', 'H']),
        ('osu_bw', ['--buffer=numpy']),
    ],
)
def test_every_numpy_option_selects_the_same_buffers(launch, command, buffers):
    result = launch(command, *buffers, '-m', '8')
    assert result.stdout == (
        '# osu_bw: of the OSU Micro-Benchmarks in Python, buffers: numpy 2.4.6\n'
        "['--benchmark=bw', '--buffer=numpy', '--max=8'] libmpi.so.12:libmpi.so.40:libmpi.so\n"
    ), result.stderr


@pytest.mark.parametrize(
    'arguments, omb_options',
    [
        (['-m', '65536'], ['--max=65536']),
        (['-m8:'], ['--min=8']),
        (['--message-size=4:8'], ['--min=4', '--max=8']),
        (['-i', '100', '--warmup', '3'], ['--iterations=100', '--skip=3']),
        (['--min', '1', '--max=8', '--pickle'], ['--min', '1', '--max=8', '--pickle']),
    ],
)
def test_launcher_translates_options_of_python_benchmarks(launch, arguments, omb_options):
    """
    OMB-Py has --min, --max, --iterations and --skip; the C benchmarks have -m, -i and -x.
    """
    result = launch('osu_latency', *arguments, 'H', 'H')
    assert f"{['--benchmark=latency', '--buffer=numpy', *omb_options]}" in result.stdout, result


def test_each_osu_python_benchmark_has_a_command(tmp_path):
    """
    Run the recipe's commands in a folder: each benchmark of the archive gets a command.
    """
    name = next(name for name, entry in IMAGES.items() if 'python' in entry['variants'])
    prefix = tmp_path / 'opt' / 'mpi4py'
    for path in (
        'libexec/omb-py/mpi/pt2pt/osu_latency.py libexec/omb-py/mpi/collective/osu_bcast.py '
        'libexec/omb-py/util/osu_util_mpi.py libexec/omb-py/run.py bin/osu_get_bw bin/osu_latency'
    ).split():
        (prefix / path).parent.mkdir(parents=True, exist_ok=True)
        (prefix / path).write_text('')
    text = load_recipe(name, 'python').replace('/opt/mpi4py', str(prefix))
    lines = text[text.index(f'    rm {prefix}/bin/osu_*') :].partition('\n%')[0].splitlines()
    script = '\n'.join(
        line for line in lines if f'{prefix}/bin/osu_' in line or 'omb-py/mpi/' in line
    )
    result = run(['bash', '-e', '-c', script])
    assert result.returncode == 0, (script, result.stderr)
    assert {path.name for path in (prefix / 'bin').iterdir()} == {
        'osu_latency',
        'osu_bcast',
        'osu_py_latency',
        'osu_py_bcast',
    }


@pytest.mark.parametrize(
    'arguments, text',
    [
        (['-m', 'x'], '-m x'),
        (['-m'], '-m '),
        (['-d', 'rocm'], 'GPU'),
        (['D', 'D'], 'D D'),
        (['--buffer', 'cupy'], 'CuPy'),
        (['H', 'D'], 'H D'),
        (['--buffer', 'numpy', 'D', 'D'], '--buffer numpy D D'),
        (['--buffer', 'numba'], '--buffer numba'),
    ],
)
def test_impossible_arguments_are_errors(launch, arguments, text):
    result = launch('osu_py_latency', *arguments)
    assert (result.returncode, result.stdout) == (2, '')
    assert result.stderr.startswith('osu_py_latency: error: ') and text in result.stderr


# Images with mpi4py


@pytest.mark.parametrize('site', SITES)
def test_images_of_a_site_fit_its_gpu_and_their_approach(site):
    entry = resolve_site(site)
    for key, file in entry['images']['value'].items():
        module, _, approach = key.rpartition('/')
        name = file[: -len('.sif')]
        # The description of an image has no entrypoint, which swap needs.
        assert map_described_verdicts(name, site)[approach] != 'fails' or approach == 'swap', key
        if module and '-lumi-' in name:
            assert name.endswith('-cupy') == bool(entry['gpu']['value']), key


def test_python_of_the_host_stays_out_of_every_image(texts):
    names = [name for name in texts if name.startswith('osu-mpi4py-') and name.endswith('.def')]
    assert names
    for name in names:
        libmpi = 'libmpi.so.40' if 'openmpi' in name else 'libmpi.so.12'
        for variable in ('PYTHONPATH=', 'PYTHONNOUSERSITE=1', f'MPI4PY_LIBMPI={libmpi}'):
            assert f'export {variable}\n' in texts[name], name
