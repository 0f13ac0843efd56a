"""Approach swap for real: the entrypoint of the image takes the host's libfabric on both nodes, or the job ends."""
import re

import pytest

from tests.helpers.elf_folder import ElfFolder, good_image
from tests.helpers.machine import PROJECT, STATE, folded, run
from tests.runs.test_approaches import table
from tests.stand_in.pairs import making, running

pytestmark = [pytest.mark.apptainer, pytest.mark.slurm]

#: One line of the entrypoint: where it runs, what it took
TOOK = re.compile(r'^osu-entrypoint: (\w+): libfabric of the host: (/host/lib/libfabric\.so\.1\S*)$', re.M)
LOAD = 'module load osu-container/swap'
GOES_ON = 'export OSU_SWAP=; ' + LOAD  # set and empty is the user's choice: not require


@pytest.fixture(scope='module')
def old_host():
    """Folder of a host tree whose libfabric is 1.17.0: older than the image's MPI wants."""
    return making.host('bookworm', 'mpich-5.0.2', running.WHERE)


def bound(tree):
    """Return the line that binds a host tree (Path) in place of what the module binds."""
    return f"export APPTAINER_BIND={tree}/opt/mpich/5.0.2/lib/mpich:/host/lib,{tree}/usr:/host/usr"


def test_each_node_says_once_what_was_taken_and_the_ranks_have_it(shell, tmp_path):
    done = shell(f'{LOAD} && OSU_PROOF={tmp_path} srun -N2 -n2 osu_get_bw H H -m 256 -i 20; osu-proof {tmp_path}/*')
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(node for node, _ in TOOK.findall(done.stderr)) == ['node1', 'node2'], done.stderr
    assert 'as promised by swap: in a container, libmpi of the image, libfabric of the host' in folded(done.stdout)
    assert f'{STATE}/host/opt/mpich/5.0.2/lib/mpich/libfabric.so.1' in done.stdout
    # the loader of the entrypoint also maps libmpi; the rank is the program
    assert re.search(r'program +/usr/bin/python3', done.stdout), done.stdout


def test_every_command_goes_through_the_entrypoint(shell):
    done = shell(f'{LOAD}; osu-exec bash -c \'readlink "${{LD_LIBRARY_PATH%%:*}}/libfabric.so.1"\'; '
                 'echo \'readlink "${LD_LIBRARY_PATH%%:*}/libfabric.so.1"; exit 5\' | osu-shell; echo "code $?"')
    assert done.stdout.splitlines() == ['/host/lib/libfabric.so.1'] * 2 + ['code 5'], done.stderr


def test_exit_codes_and_signals_come_through(shell):
    done = shell(f"{LOAD}; srun -N1 -n1 osu-exec bash -c 'exit 7'; echo $?; osu-exec bash -c 'kill -TERM $$'; echo $?")
    assert done.stdout.split() == ['7', '143'], done.stderr


def test_a_host_whose_libfabric_is_too_old_ends_the_job_and_says_why(shell, old_host):
    done = shell(f'{LOAD}; {bound(old_host)}; srun -N2 -n2 osu_bw H H -m 64')
    assert done.returncode == 78 and table(done.stdout) == {}
    assert ('/opt/mpich/lib/libmpi.so.12 needs FABRIC_1.7, which is not in /host/lib/libfabric.so.1: that ends at '
            'FABRIC_1.6') in done.stderr
    said = run([PROJECT / 'bin' / 'osu-container', 'why', '-'], input=done.stderr)
    assert said.stdout.startswith('host library does not fit the image'), said.stdout + said.stderr


def test_a_host_without_libfabric_ends_the_job_and_without_the_wish_the_image_s_own_is_taken(shell, tmp_path):
    bind = f'export APPTAINER_BIND={tmp_path}:/host/lib'
    done = shell(f'{LOAD}; {bind}; srun -N2 -n2 osu_bw H H -m 64')
    assert done.returncode == 78 and table(done.stdout) == {}
    assert 'there is no libfabric.so.1 in /host/lib' in done.stderr and 'To do: bind ' in done.stderr
    done = shell(f'{GOES_ON}; {bind}; srun -N2 -n2 osu_bw H H -m 64')
    assert done.returncode == 0 and len(table(done.stdout)) == 7, done.stderr
    assert done.stderr.count("the libfabric of the image is used, not the host's: there is no libfabric.so.1") == 2


def test_the_users_choice_of_the_image_s_own_breaks_the_promise_of_the_module(shell, tmp_path):
    done = shell(f'{LOAD}; OSU_SWAP=0 osu-proof -o {tmp_path}/proofs -- srun -N2 -n2 osu_latency H H -m 256 -i 300')
    assert done.returncode != 0 and 'CONTRADICTION: ranks 0-1 loaded libfabric from image' in folded(done.stderr)


def test_a_host_that_is_too_old_is_refused_when_the_module_is_installed(shell, old_host, tmp_path):
    done = shell(f'eb osu-container-swap.eb --sysroot={old_host}', EASYBUILD_PREFIX=str(tmp_path))
    assert done.returncode != 0 and 'needs FABRIC_1.7 of libfabric.so.1, but' in folded(done.stdout)
    assert not [path for path in tmp_path.rglob('swap*') if path.suffix in ('.lua', '.sif')]


def test_an_image_without_entrypoint_is_refused(shell, parts, make_sif, tmp_path):
    folder = good_image(ElfFolder(tmp_path / 'image'), parts, fabric=parts.fabric(needed=()), rocm=None)
    make_sif(tmp_path / 'none.sif', folder.root)
    done = shell(f'cd {tmp_path} && sha256sum none.sif >none.sif.sha256 && '
                 'eb osu-container-swap.eb --try-amend=image=none.sif', EASYBUILD_PREFIX=str(tmp_path / 'prefix'),
                 EASYBUILD_SOURCEPATH=str(tmp_path))
    assert done.returncode != 0 and 'image without entrypoint for swap' in folded(done.stdout), done.stdout
    assert not list(tmp_path.glob('prefix/modules/all/osu-container/*'))
