"""
A site that osu-container discover writes installs and runs as it is, on this machine and on a
stand-in.
"""

import json
import re

import pytest

from osu_container.image.libraries import compute_sha256
from osu_container.verdict.site_choice import resolve_site
from tests.helpers.machine import PROJECT, STATE, EasyBuild, run, run_clean_shell

pytestmark = [pytest.mark.system, pytest.mark.usefixtures('slurm')]

COMMAND = PROJECT / 'scripts' / 'osu-container'
#: The MPI that `make demo` unpacks: a user's module would bring it
MPICH = STATE / 'host' / 'opt' / 'mpich' / '5.0.2' / 'bin'
RUN = 'srun -N2 -n2 osu_latency -m 1024 -i 50 H H'


class Machine:
    """An EasyBuild of its own, and shells with its modules and the private Slurm."""

    def __init__(self, folder, path):
        """path: str, folders in front of PATH."""
        self.folder, self.eb = folder, EasyBuild('newest', folder / 'prefix')
        self.path = f"{path}:{STATE / 'bin'}:/usr/bin:/bin:/usr/sbin:/sbin"
        self.eb.environment.update(PATH=self.path, SLURM_CONF=str(STATE / 'slurm' / 'slurm.conf'))

    def shell(self, script):
        """Run bash with the installed modules on MODULEPATH."""
        return run_clean_shell(
            f'module use {self.eb.prefix}/modules/all\n{script}',
            PATH=self.path,
            SLURM_CONF=self.eb.environment['SLURM_CONF'],
        )

    def discover(self, *arguments):
        """Run osu-container discover in such a shell, on the login node."""
        return self.shell(' '.join(map(str, [COMMAND, 'discover', *arguments])))

    def install(self, *arguments):
        """Run eb; it must succeed."""
        done = self.eb(*map(str, arguments))
        assert done.returncode == 0, done
        return done

    def check_measurement(self, approach):
        """Load a module and run two ranks on two nodes; both must be of one job."""
        done = self.shell(f'module load osu-container/{approach} && {RUN}')
        assert done.returncode == 0, done
        assert re.search(r'^ *1024 +[\d.]+ *$', done.stdout, re.M), done


@pytest.fixture(scope='module')
def workstation(tmp_path_factory):
    """This machine, with the MPI of the set-up on PATH."""
    return Machine(tmp_path_factory.mktemp('workstation'), MPICH)


@pytest.fixture
def frontier(tmp_path):
    """A machine on which a tree of Frontier is the host."""
    tree = tmp_path / 'tree'
    done = run([PROJECT / 'tests' / 'stand_in' / 'make', 'frontier', tree])
    assert done.returncode == 0, done
    machine = Machine(tmp_path, tree / 'usr/bin')
    machine.tree = tree
    # Frontier's own images are built elsewhere.
    sif = PROJECT / 'sources' / resolve_site('workstation')['images']['value']['pure']
    (tmp_path / 'sources').mkdir()
    for name in set(resolve_site('frontier')['images']['value'].values()):
        (tmp_path / 'sources' / name).symlink_to(sif)
        (tmp_path / 'sources' / f'{name}.sha256').write_text(f'{compute_sha256(sif)}  {name}\n')
    machine.eb.environment['EASYBUILD_SOURCEPATH'] = str(tmp_path / 'sources')
    return machine


@pytest.mark.nightly
def test_workstation_is_discovered_installed_and_run(workstation):
    site = workstation.folder / 'site.py'
    done = workstation.discover('-o', site)
    assert (done.returncode, done.stderr) == (0, '')
    hint = re.search(r'\beb (\S+) -r --try-amend=site=(\S+)$', done.stdout, re.M)
    assert hint and hint.group(2) == str(site)
    workstation.install(
        'osu-container-hybrid.eb',
        'osu-container-bind.eb',
        hint.group(1),
        '-r',
        f'--try-amend=site={hint.group(2)}',
    )
    for approach in ('hybrid', 'bind', 'pure'):
        workstation.check_measurement(approach)
    loaded = workstation.shell(
        'module load osu-container/hybrid; osu-explain; cat "$(dirname $SIF)/facts.json"'
    ).stdout
    assert f'{MPICH.parent}/lib/mpich/libfabric.so.1' in loaded, "it is not what discover found"
    # and the other commands know a site that is in no data of the project
    planned = workstation.shell(
        f'{COMMAND} bench --dry-run --module osu-container/hybrid --module osu-container/pure'
    )
    assert planned.returncode == 0, planned
    assert 'workstation-found' in planned.stdout


def test_host_of_the_demo_is_surveyed_after_env_sh():
    done = run_clean_shell(f'. {PROJECT}/env.sh && {COMMAND} discover --json')
    assert set(dict(json.loads(done.stdout)['approaches']).values()) == {None}, done


def test_first_task_inspects_the_compute_node(workstation, tmp_path):
    output = tmp_path / 'node.json'
    done = workstation.shell(f'srun -N2 -n4 {COMMAND} discover --json >{output}')
    assert (done.returncode, json.loads(output.read_text())['kind']) == (0, 'compute'), done


def test_discovered_file_alone_installs_and_runs_a_stand_in(frontier):
    local = frontier.folder / 'local' / '_mpicontainer_local.py'
    local.parent.mkdir()
    done = frontier.discover('--sysroot', frontier.tree, '-o', local)
    assert (done.returncode, done.stderr) == (0, '')
    before = frontier.eb.environment['EASYBUILD_INCLUDE_EASYBLOCKS']
    # before the workstation's own file, which a user who has read env.sh has there
    frontier.eb.environment['EASYBUILD_INCLUDE_EASYBLOCKS'] = f'{local},{before},{STATE}/local/*.py'
    frontier.install(
        'osu-container-hybrid.eb', 'osu-container-bind.eb', f'--sysroot={frontier.tree}'
    )
    for approach in ('hybrid', 'bind'):
        frontier.check_measurement(approach)
        facts = json.loads(
            (frontier.eb.prefix / f'software/osu-container/{approach}/facts.json').read_text()
        )
        assert f'{frontier.tree}/opt/cray/libfabric/2.3.1/lib64/libfabric.so.1' in [
            library['path'] for library in facts['host']['injected']
        ]
    # the host gets a newer libfabric: to discover again and to install again repairs it
    done = run(
        [
            PROJECT / 'tests' / 'stand_in' / 'make',
            'frontier',
            frontier.tree,
            '--update',
            'libfabric=2.4.0',
        ]
    )
    assert done.returncode == 0, done
    assert frontier.discover('--sysroot', frontier.tree, '-o', local, '--force').returncode == 0
    frontier.install('osu-container-hybrid.eb', '-r', '--rebuild')
    frontier.check_measurement('hybrid')
