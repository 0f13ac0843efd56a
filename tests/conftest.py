"""Fixtures that several test files share. Those of one file only stand in that file."""

import os
import shutil

import pytest

from osu_container.data.approaches import APPROACHES

pytest.register_assert_rewrite('tests.helpers')

from tests.helpers.machine import (  # noqa: E402
    EASYBUILD_VERSIONS,
    FIRST,
    PROJECT,
    STATE,
    EasyBuild,
    assert_success,
    end_jobs,
    require_tool,
    run,
)


def pytest_make_parametrize_id(val):
    """Keep the names of tests short: pytest-xdist sends all of them to every worker."""
    return ascii(val)[1:61] if isinstance(val, (str, bytes)) and len(val) > 60 else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """
    Name the groups that each run in one process of pytest-xdist, and sort them so that the longest
    start first.

    A group is: all tests that use Slurm, the other system tests of a file. Unit tests are
    distributed one by one.
    """
    order = {'slurm': 0, 'tests/runs/test_ordinary_user.py': 1}
    ranks = {}
    for item in items:
        group = 'slurm' if 'slurm' in item.fixturenames else str(item.path.relative_to(PROJECT))
        if 'clone' in item.fixturenames:  # one account for all
            group = 'tests/runs/test_ordinary_user.py'
        ranks[item] = 3
        if item.get_closest_marker('system'):
            item.add_marker(pytest.mark.xdist_group(group))
            ranks[item] = order.get(group, 2)
    items.sort(key=ranks.get)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """
    The tests of Slurm take longest: their programs have priority over those of others
    (helpers.machine.run).
    """
    FIRST[:] = [item] if 'slurm' in item.fixturenames else []


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item):
    """Cancel the jobs that a test has left, so that they do not disturb the next test."""
    if 'slurm' in item.fixturenames:
        left = end_jobs()
        if left:
            print(f'cancelled jobs that {item.nodeid} has left: {left}')


@pytest.fixture(scope='session')
def slurm():
    """The private Slurm of two nodes, running."""
    done = run([PROJECT / 'tools' / 'workstation' / 'slurm.sh', 'start'])
    assert_success(done)


@pytest.fixture(scope='session')
def parts(tmp_path_factory):
    """
    Small MPI and network libraries (elf_folder.Parts), compiled once for all tests, also of
    other processes.
    """
    from tests.helpers.elf_folder import Parts

    top = tmp_path_factory.getbasetemp()
    folder = (top.parent if 'PYTEST_XDIST_WORKER' in os.environ else top) / 'parts'
    folder.mkdir(exist_ok=True)
    return Parts(folder)


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
    path = shutil.which('apptainer', path=f"{STATE / 'bin'}:{os.environ['PATH']}") or shutil.which(
        'singularity'
    )
    assert path, 'no apptainer: `make test` sets it up'
    return path


@pytest.fixture(scope='session')
def make_sif(apptainer):
    """
    Function (target, folder) that packs a folder into a SIF with the real runtime and returns
    target.
    """

    def make(target, folder):
        # nothing is compressed: the images of tests are read once
        done = run(
            [
                apptainer,
                'build',
                '--force',
                '--mksquashfs-args',
                '-noI -noD -noF -noX',
                target,
                folder,
            ]
        )
        assert_success(done)
        return target

    return make


@pytest.fixture(scope='session')
def shell(slurm, tmp_path_factory):
    """
    Function (script) that runs bash as a user has it after `. ./env.sh`, with all modules
    installed.

    The modules are installed by the newest EasyBuild into a folder of the tests, not into the
    user's.
    """
    folder = tmp_path_factory.mktemp('installed')
    environment = {
        'PATH': '/usr/local/bin:/usr/bin:/bin',
        'HOME': os.environ['HOME'],
        'LC_ALL': 'C.UTF-8',
        'EASYBUILD_PREFIX': str(folder / 'prefix'),
        'FOLDER': str(folder),
    }

    def call(script, timeout=120, **variables):
        text = f'set -eu; . {PROJECT}/env.sh; set +eu\n{script}\n'
        return run(
            ['bash', '--norc', '-c', text], env={**environment, **variables}, timeout=timeout
        )

    call.prefix = folder / 'prefix'
    names = [
        f'osu-container-{approach}.eb'
        for approach, entry in APPROACHES.items()
        if entry['container']
    ]
    done = call(f"eb osu-native.eb {' '.join(names)} -r", timeout=600)
    assert_success(done)
    return call


@pytest.fixture(scope='session')
def chromium():
    """A running headless Chromium; one for all tests, because Playwright runs once in a process."""
    from playwright.sync_api import sync_playwright

    path = require_tool('chromium', 'chromium-browser', 'google-chrome')
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=['--no-sandbox'])
        yield browser
        browser.close()
