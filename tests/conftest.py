"""Fixtures that several test files share. Those of one file only stand in that file."""
import os
import shutil

import pytest

from osu_container.core.data.approaches import APPROACHES

pytest.register_assert_rewrite('tests.helpers')

from tests.helpers.machine import EASYBUILD_VERSIONS, FIRST, PROJECT, STATE, EasyBuild, end_jobs, run  # noqa: E402

#: Files that take minutes and share nothing with other tests
ALONE = ['test_ordinary_user', 'test_install', 'test_bench', 'test_bench_faults', 'test_native_cray', 'test_report',
         'test_page', 'test_modules', 'test_site', 'test_commands', 'test_contributed_modules']
#: Files whose tests start programs again and again, mostly EasyBuild, Lmod, ReFrame or a browser; `make test-fast`
#: leaves them out
LONG = [*ALONE, 'test_demo', 'test_tree', 'test_package', 'test_link', 'test_discover', 'test_workstation',
        'test_loaded', 'test_network', 'test_tools', 'test_image_of_site']


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """
    Name the groups of which each runs in one process (pytest-xdist), the longest first.

    What uses Slurm shares its nodes and installed modules, what uses the container runtime alone shares images.
    The rest goes by file: what a file makes for its tests is made once.
    """
    groups = {}
    for item in items:
        marks = {mark.name for mark in item.iter_markers()}
        group = item.path.stem if item.path.stem in ALONE else str(item.path.relative_to(PROJECT))
        if marks & {'slurm', 'ci'} or 'shell' in item.fixturenames:
            group = 'slurm'
        elif 'apptainer' in marks and group not in ALONE:
            group = 'containers'
        if 'as_user' in marks and os.getuid() == 0:
            item.add_marker(pytest.mark.full)  # tests/runs/test_ordinary_user.py runs them, and sees more
        if 'ci' in marks and not os.environ.get('CI'):
            item.add_marker(pytest.mark.full)
        item.add_marker(pytest.mark.xdist_group(group))
        if item.path.stem in LONG:
            item.add_marker(pytest.mark.long)
        groups[item] = group
    order = ['slurm', 'containers', *ALONE]

    def place(item):
        # images are built first, and run last; those that compile for a quarter of an hour do it when all else is over
        images = 'built' in item.fixturenames
        return (order.index(groups[item]) if groups[item] in order else len(order),
                item.get_closest_marker('ci') is not None, images == (groups[item] == 'slurm'))
    items.sort(key=place)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """The tests of Slurm take longest: what they start comes before what the others start (helpers.machine.run)."""
    FIRST[:] = [item] if any(mark.args == ('slurm',) for mark in item.iter_markers('xdist_group')) else []


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item):
    """A job that a test has left never meets the next test."""
    if item.get_closest_marker('slurm'):
        left = end_jobs()
        if left:
            print(f'ended jobs that {item.nodeid} has left: {left}')


@pytest.fixture(scope='session')
def parts(tmp_path_factory):
    """Small MPI and network libraries (elf_folder.Parts), compiled once for all tests."""
    from tests.helpers.elf_folder import Parts
    return Parts(tmp_path_factory.mktemp('parts'))


@pytest.fixture(params=EASYBUILD_VERSIONS)
def any_eb(request, tmp_path):
    """Each EasyBuild that the project supports, with an empty prefix."""
    return EasyBuild(request.param, tmp_path / 'prefix')


@pytest.fixture
def eb(tmp_path):
    """The newest EasyBuild with an empty prefix."""
    return EasyBuild('newest', tmp_path / 'prefix')


@pytest.fixture(scope='session')
def apptainer():
    """Path of the container runtime, as the set-up left it or as it is on PATH."""
    path = shutil.which('apptainer', path=f"{STATE / 'bin'}:{os.environ['PATH']}") or shutil.which('singularity')
    assert path, 'no apptainer: `make test` sets it up'
    return path


@pytest.fixture(scope='session')
def make_sif(apptainer):
    """Function (target, folder) that packs a folder into a SIF with the real runtime and returns target."""
    def make(target, folder):
        # nothing is compressed: the images of tests are read once
        done = run([apptainer, 'build', '--force', '--mksquashfs-args', '-noI -noD -noF -noX', target, folder])
        assert done.returncode == 0, done.stderr
        return target
    return make


@pytest.fixture(scope='session')
def shell(tmp_path_factory):
    """
    Function (script) that runs bash as a user has it after `. ./env.sh`, with all modules installed.

    The modules are installed by the newest EasyBuild into a folder of the tests, not into the user's.
    """
    folder = tmp_path_factory.mktemp('installed')
    started = run([PROJECT / 'workstation' / 'slurm.sh', 'start'])
    assert started.returncode == 0, started.stdout + started.stderr
    environment = {'PATH': '/usr/local/bin:/usr/bin:/bin', 'HOME': os.environ['HOME'], 'LC_ALL': 'C.UTF-8',
                   'EASYBUILD_PREFIX': str(folder / 'prefix'), 'FOLDER': str(folder)}

    def call(script, timeout=120, **variables):
        text = f'set -eu; . {PROJECT}/env.sh; set +eu\n{script}\n'
        return run(['bash', '--norc', '-c', text], env={**environment, **variables}, timeout=timeout)

    names = [f'osu-container-{approach}.eb' for approach, entry in APPROACHES.items() if entry['container']]
    done = call(f"eb osu-native.eb {' '.join(names)} -r", timeout=600)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    return call


@pytest.fixture(scope='session')
def chromium():
    """A running headless Chromium; one for all tests, because Playwright runs once in a process."""
    from playwright.sync_api import sync_playwright
    path = shutil.which('chromium') or shutil.which('chromium-browser') or shutil.which('google-chrome')
    assert path, 'no chromium: `make test` sets it up'
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=['--no-sandbox'])
        yield browser
        browser.close()
