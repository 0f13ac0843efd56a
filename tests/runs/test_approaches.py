"""Installed modules run under Slurm on two nodes, and load what their approach promises."""
import json
import re

import pytest

from osu_container.core.data.approaches import APPROACHES
from osu_container.core.deciding.settings import pmi_for
from osu_container.core.deciding.site_choice import site_entry
from tests.helpers import osu_archive
from tests.helpers.machine import LASTING, PROJECT, run
from tests.helpers.samples import one_of_each

pytestmark = [pytest.mark.apptainer, pytest.mark.slurm]

MODULES = {approach: 'osu-native' if not entry['container'] else f'osu-container/{approach}'
           for approach, entry in APPROACHES.items()}
CONTAINERS = [approach for approach, entry in APPROACHES.items() if entry['container']]
#: Image of the modules on this machine
IMAGE = 'osu-workstation-mpich-4.2.3-libfabric-1.22.0'
SMALL = ['H', 'H', '-m', '1024', '-i', '20', '-x', '2']


def table(text):
    """Return {size in bytes: value} of a benchmark's output."""
    return {int(size): float(value) for size, value in re.findall(r'^\s*(\d+)\s+([\d.]+)\s*$', text, re.M)}


def test_a_plain_srun_of_every_approach_is_one_job_on_both_nodes(shell):
    done = shell('\n'.join(f'module load {module} && srun osu_bw {" ".join(SMALL)} && echo "left: $LD_LIBRARY_PATH$'
                           'LD_PRELOAD" && srun printenv SLURMD_NODENAME; module purge' for module in MODULES.values()))
    # one result of each, and not one of each rank; preloads and library paths stay in the container
    assert len(re.findall(r'^\s*64\s+[\d.]+$', done.stdout, re.M)) == len(MODULES), done.stdout + done.stderr
    assert done.stdout.count('node1\n') == done.stdout.count('node2\n') == len(MODULES)
    assert done.stdout.count('left: \n') >= len(CONTAINERS)


def test_c_programs_run_natively_and_in_the_image_where_their_archive_is_at_hand(shell, tmp_path):
    """The whole C way, with an archive that has the layout and build interface of the real one."""
    archive = tmp_path / osu_archive.ARCHIVE
    sha256 = osu_archive.make_archive(archive)
    (tmp_path / f'{archive.name}.sha256').write_text(f'{sha256}  {archive.name}\n')
    built = run([PROJECT / 'bin' / 'osu-container', 'image', 'build', IMAGE, '--osu-archive', archive,
                 '--output', tmp_path / 'c.sif', '--log', tmp_path / 'build.log'], timeout=600)
    assert built.returncode == 0, built.stdout + built.stderr
    easyconfig = (PROJECT / 'easyconfigs/o/osu-native/osu-native.eb').read_text()
    (tmp_path / 'osu-native.eb').write_text(re.sub(r"(?m)^(checksums = \[\s+)'\w{64}'", rf"\1'{sha256}'", easyconfig))
    install = {'EASYBUILD_PREFIX': str(tmp_path / 'prefix'), 'EASYBUILD_SOURCEPATH': str(tmp_path)}
    done = shell(f'eb {tmp_path}/osu-native.eb && eb osu-container-hybrid.eb -r --try-amend=image=c.sif', timeout=600,
                 **install)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    for module, programs in (('osu-native', f'{osu_archive.RELEASE} C'), ('osu-container/hybrid', 'C)')):
        done = shell(f'module load {module} && srun osu_bw H H -m 1024; module help {module}', **install)
        assert done.returncode == 0 and {1, 1024} <= set(table(done.stdout)), done.stdout + done.stderr
        assert 'mpi4py' not in done.stdout + done.stderr and programs in done.stderr


@pytest.mark.parametrize('approach, wrong', [('hybrid', 'none'), ('openmpi', 'cray_shasta')])
def test_wrong_mpi_type_is_an_error_and_no_result(shell, approach, wrong):
    done = shell(f'module load {MODULES[approach]} && srun --mpi={wrong} -N2 -n2 osu_barrier')
    assert done.returncode != 0
    assert table(done.stdout) == {}
    wanted = pmi_for(APPROACHES[approach], site_entry('workstation'))
    assert f'srun --mpi={wanted}' in done.stderr


def test_wrong_mpi_type_of_the_native_program_is_an_error(shell):
    done = shell('module load osu-native && srun --mpi=none -N2 -n2 osu_latency H H')
    assert done.returncode != 0 and table(done.stdout) == {}
    assert 'requires exactly two processes' in done.stderr


@pytest.mark.parametrize('approach', one_of_each(MODULES, lambda approach: APPROACHES[approach]['mpi']))
def test_device_buffers_without_a_gpu_are_an_error_that_says_so(shell, approach):
    done = shell(f'module load {MODULES[approach]} && srun -N2 -n2 osu_bw D D')
    assert done.returncode != 0 and table(done.stdout) == {}
    assert 'GPU' in done.stderr, done.stderr


def test_the_site_names_the_default_and_native_replaces_a_container_module(shell):
    done = shell("module load osu-container && module list 2>&1; srun -N1 -n1 osu-exec sh -c 'exit 7'; echo code $?\n"
                 'module load osu-native; type -P osu_bw; echo "sif=${SIF-}"')
    assert 'osu-container/pure' in done.stdout and 'code 7' in done.stdout, done.stderr
    assert '/osu-native/' in done.stdout and 'sif=\n' in done.stdout, done.stderr


def test_the_wrapper_refuses_to_start_inside_the_container(shell):
    done = shell('module load osu-container/pure && osu-exec "$CONTAINERROOT/bin/osu_bw" H H')
    assert done.returncode != 0 and 'already in the container' in done.stderr


def test_binds_of_the_user_reach_the_container_beside_ours(shell, tmp_path):
    (tmp_path / 'mine').write_text('here')
    for name in ('APPTAINER_BIND', 'SINGULARITY_BIND'):
        done = shell('module load osu-container/bind && osu-exec cat /mnt/mine && osu-exec ls /opt/host-mpi/lib; '
                     'osu-explain', **{name: f'{tmp_path}:/mnt'})
        assert 'here' in done.stdout and 'libmpi.so.12' in done.stdout, (name, done.stderr)
        assert re.findall(r'^(\S+)\s+\[you: (\w+)\]', done.stdout, re.M) == [(f'{tmp_path}:/mnt', name)], done.stdout


#: What people export or load, and when; and how a command is started
HABITS = {
    'binds are gone': 'unset APPTAINER_BIND APPTAINERENV_LD_LIBRARY_PATH',
    'library path': 'export APPTAINERENV_LD_LIBRARY_PATH=/usr/lib',
    'clean environment': 'export APPTAINER_CLEANENV=1',
    'module of another approach': 'module load osu-container/pure',
}


@pytest.mark.parametrize('habit', HABITS)
def test_a_command_does_what_its_module_promises_whatever_else_is_exported(shell, habit, tmp_path):
    done = shell(f'module load osu-container/bind; command=$(type -P osu_latency); {HABITS[habit]}\n'
                 f'srun -N2 -n2 {PROJECT}/osu_container/rank-proof {tmp_path} $command {LASTING}')
    assert done.returncode == 0 and len(re.findall(r'^\s*8\s', done.stdout, re.M)) == 1, done.stdout + done.stderr
    ranks = [json.loads(path.read_text()) for path in sorted(tmp_path.glob('rank-*.json'))]
    assert [rank['libraries'][name]['where'] for rank in ranks for name in ('libmpi', 'libfabric')] == ['host'] * 4


def test_the_scope_of_commands_leaves_other_containers_alone(shell, tmp_path):
    done = shell('export OSU_SCOPE=commands; module load osu-container/bind; env | grep -E "^APPTAINER(ENV)?_"; '
                 f'srun -N2 -n2 {PROJECT}/osu_container/rank-proof {tmp_path} osu_latency {LASTING}')
    assert done.returncode == 0 and 'APPTAINER' not in done.stdout, done.stdout + done.stderr
    ranks = [json.loads(path.read_text()) for path in sorted(tmp_path.glob('rank-*.json'))]
    assert [rank['libraries'][name]['where'] for rank in ranks for name in ('libmpi', 'libfabric')] == ['host'] * 4


def test_a_command_needs_neither_module_nor_environment(shell):
    done = shell('module load osu-container/hybrid; command=$(type -P osu_latency); module purge; '
                 f'srun --export=NONE --mpi=pmi2 -N2 -n2 $command {" ".join(SMALL)}')
    assert done.returncode == 0 and len(table(done.stdout)) > 6, done.stdout + done.stderr


def test_a_provider_that_the_user_names_wins_and_fails_loudly(shell):
    done = shell('module load osu-container/pure && srun -N2 -n2 osu_latency H H', FI_PROVIDER='nonesuch')
    assert done.returncode != 0 and table(done.stdout) == {}

