"""Installed modules run under Slurm on two nodes, and load what their approach promises.

Ranks of one node, as most people try a benchmark first: they run in one container, and leave nothing.

Approach swap for real: the entrypoint of the image takes the host's libfabric on both nodes, or the job ends.

Five stories, typed as somebody types them: one shell each, in a folder of its own, and only what the commands print.

What a command prints for the next one (the line of eb, the line that resumes a run, a remedy) is typed from its output,
so a story also breaks where a message leads to nothing.
"""

import html
import json
import os
import re
import time
from pathlib import Path

import pytest

from osu_container.core.data.approaches import APPROACHES
from osu_container.core.deciding.settings import pmi_for
from osu_container.core.deciding.site_choice import site_entry
from tests.helpers import foreign_images, osu_archive
from tests.helpers.elf_folder import ElfFolder, good_image
from tests.helpers.machine import LASTING, PROJECT, STATE, command_lines, folded, one_of_each, run
from tests.stand_in.pairs import making, running

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
                 '--output', tmp_path / 'c.sif'], timeout=600)
    assert built.returncode == 0, built.stdout + built.stderr
    easyconfig = (PROJECT / 'easyconfigs/o/osu-native/osu-native.eb').read_text()
    (tmp_path / 'osu-native.eb').write_text(re.sub(r"(?m)^(checksums = \[)'\w{64}'", rf"\1'{sha256}'", easyconfig))
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
    'binds are gone': 'unset APPTAINER_BIND',
    'library path': 'export APPTAINERENV_LD_LIBRARY_PATH=/usr/lib',
    'clean environment': 'export APPTAINER_CLEANENV=1',
    'option for a clean environment': 'export MPI_CONTAINER_OPTIONS=-e',
    'module of another approach': 'module load osu-container/pure',
}


@pytest.mark.parametrize('habit', HABITS)
def test_a_command_does_what_its_module_promises_whatever_else_is_exported(shell, habit, tmp_path):
    done = shell(f'module load osu-container/bind; command=$(type -P osu_latency); {HABITS[habit]}\n'
                 f'srun -N2 -n2 {PROJECT}/osu_container/rank-proof {tmp_path} $command {LASTING}')
    assert done.returncode == 0 and len(re.findall(r'^\s*8\s', done.stdout, re.M)) == 1, done.stdout + done.stderr
    ranks = [json.loads(path.read_text()) for path in sorted(tmp_path.glob('rank-*.json'))]
    assert [rank['libraries'][name]['where'] for rank in ranks for name in ('libmpi', 'libfabric')] == ['host'] * 4


@pytest.mark.parametrize('option', one_of_each(['--cleanenv', '-e', '--containall', '-C']))
def test_ranks_stay_together_with_options_for_a_clean_environment(shell, option):
    done = shell(f'module load osu-container/pure; srun -N2 -n2 osu-exec {option} -- osu_latency {" ".join(SMALL)}')
    assert done.returncode == 0 and len(re.findall(r'^\s*8\s', done.stdout, re.M)) == 1, done.stdout + done.stderr


def test_a_command_needs_neither_module_nor_environment(shell):
    done = shell('module load osu-container/hybrid; command=$(type -P osu_latency); module purge; '
                 f'srun --export=NONE --mpi=pmi2 -N2 -n2 $command {" ".join(SMALL)}')
    assert done.returncode == 0 and len(table(done.stdout)) > 6, done.stdout + done.stderr


def test_a_provider_that_the_user_names_wins_and_fails_loudly(shell):
    done = shell('module load osu-container/pure && srun -N2 -n2 osu_latency H H', FI_PROVIDER='nonesuch')
    assert done.returncode != 0 and table(done.stdout) == {}


LARGEST = 1 << 20
#: (approach, OSU_SHARE): what ranks share, and how; an instance is for runtimes that this machine does not have
SHARED = [('hybrid', ''), ('swap', 'instance')]
#: Ranks are started with more of them than cores
SRUN = 'srun -N1 -n2 --overcommit'
SPACES = r"sh -c 'echo $SLURM_PROCID $(readlink /proc/self/ns/user /proc/self/ns/mnt /proc/self/ns/pid); sleep 1'"


def left():
    """What shared containers have left: folders and processes (list of str); those that are about to end may do so."""
    end = time.monotonic() + 5
    while True:
        found = [str(path) for path in Path('/dev/shm').glob(f'run-in-container-{os.getuid()}-*')]
        for folder in Path('/proc').glob('[0-9]*'):
            try:
                line = (folder / 'cmdline').read_bytes()
                if folder.stat().st_uid == os.getuid() and b'cat\0/proc/self/stat' in line:
                    found.append(folder.name)
            except OSError:
                continue
        if not found or time.monotonic() > end:
            return found
        time.sleep(0.1)


@pytest.mark.as_user
def test_two_ranks_on_one_node_reach_the_last_size_by_every_approach(shell):
    done = shell('\n'.join(f'module load {module} && {SRUN} osu_bw -m 1:{LARGEST} -i 5 -x 1 H H; module purge'
                           for module in MODULES.values()))
    assert len(re.findall(rf'^\s*{LARGEST}\s+[\d.]+', done.stdout, re.M)) == len(MODULES), done.stdout + done.stderr
    assert left() == []


@pytest.mark.as_user
@pytest.mark.parametrize('approach, how', SHARED)
def test_ranks_of_a_node_share_namespaces_and_each_keeps_what_is_its_own(shell, approach, how, tmp_path):
    module = f'module load {MODULES[approach]} && cd {tmp_path} && export OSU_SHARE={how}'
    done = shell(f'{module} && srun -N2 -n4 --overcommit osu-exec {SPACES}')
    spaces = {int(rank): found for rank, *found in (line.split() for line in done.stdout.splitlines())}
    assert set(spaces) == {0, 1, 2, 3} and spaces[0] == spaces[1] != spaces[2] == spaces[3], done.stdout + done.stderr
    # libfabric names its shared memory by the process: two containers with numbers of their own would meet
    assert how or {found[2] for found in spaces.values()} == {os.readlink('/proc/self/ns/pid')}
    done = shell(f'{module} && echo words | {SRUN} -i0 --label osu-exec sh -c '
                 "'pwd; cat; echo $OWN; exit $((SLURM_PROCID + 7))'", OWN='mine')
    assert done.stdout.count(str(tmp_path)) == 2 and '0: words' in done.stdout, done.stdout + done.stderr
    assert done.stdout.count('mine') == 2 and '1: words' not in done.stdout
    assert {'exit code 7', 'exit code 8'} <= set(re.findall(r'exit code \d+', done.stderr.lower())), done.stderr
    assert left() == []


@pytest.mark.as_user
def test_where_ranks_do_not_share_no_mpi_reads_the_memory_of_another_rank(shell):
    """As an ordinary user each rank has a user namespace then; bind's MPICH 5 would end with an error at 8 KiB."""
    done = shell(f'module load osu-container/bind && export OSU_SHARE=0 && {SRUN} osu-exec {SPACES}; '
                 f'{SRUN} osu_bw -m 1:{LARGEST} -i 5 -x 1 H H; osu-explain')
    first, second = (line.split() for line in done.stdout.splitlines()[:2])
    assert first[1:] != second[1:], done.stdout
    assert re.search(rf'^\s*{LARGEST}\s+[\d.]+', done.stdout, re.M), done.stdout + done.stderr
    assert 'each rank has a container of its own' in done.stdout and 'MPIR_CVAR_CH4_CMA_ENABLE=0' in done.stdout


@pytest.mark.as_user
def test_a_rank_has_the_environment_that_the_runtime_would_make(shell, tmp_path):
    """The first rank's comes from the runtime; what others have in another way goes in by the wrapper."""
    odd = tmp_path / 'odd.sh'
    odd.write_text('#!/bin/bash\ncase $SLURM_PROCID in\n    1) export ODD=$\'a "b"\\n\\\\c=d\' EMPTY=; unset GONE ;;\n'
                   '    2) export PATH=/nowhere:$PATH PS1=x OMP_NUM_THREADS=3 HOME=/tmp ;;\nesac\n'
                   f'exec osu-exec sh -c \'env -0 >{tmp_path}/$HOW-$SLURM_PROCID; '
                   'cat /proc/$PPID/comm 2>/dev/null || :\'\n')
    odd.chmod(0o755)
    found = {}
    for how in ('', 'instance'):
        done = shell(f'module load osu-container/hybrid && export OSU_SHARE={how} HOW={how or "own"} && '
                     f'srun -N1 -n3 --overcommit {odd}', GONE='here')
        assert done.returncode == 0, done.stdout + done.stderr
        # nothing of the runtime stands between Slurm and ranks whose environment follows from that of the first
        assert (done.stdout.split().count('slurmstepd') > 0) == (not how), done.stdout
        for rank in range(3):
            words = (tmp_path / f'{how or "own"}-{rank}').read_bytes().decode().split('\0')
            found[how, rank] = dict(word.split('=', 1) for word in words if word)
    for rank in range(3):
        ours, its = found['', rank], found['instance', rank]
        differ = {name for name in set(ours) | set(its) if ours.get(name) != its.get(name)}
        of_the_step = {'OSU_SHARE', 'HOW', 'OLDPWD', 'SHLVL', '_'} | {name for name in differ if re.match(
            'SLURM_.*(ID|PORT)$|PMI_(JOBID|FD)$|(APPTAINER|SINGULARITY)_INSTANCE$', name)}
        assert differ <= of_the_step, {name: (ours.get(name), its.get(name)) for name in differ - of_the_step}
    assert found['', 1]['ODD'] == 'a "b"\n\\c=d' and found['', 1]['EMPTY'] == '' and 'GONE' not in found['', 1]
    assert found['', 2]['OMP_NUM_THREADS'] == '3' and found['', 0]['GONE'] == 'here'


@pytest.mark.as_user
def test_a_rank_that_ends_early_or_comes_late_and_steps_side_by_side(shell):
    """Rank 0 has gone before the others read the image; two steps on a node have a container each."""
    script = "sh -c 'sleep $((SLURM_PROCID / 2)); ls /usr/share/doc | wc -l; exit $SLURM_PROCID'"
    done = shell('module load osu-container/hybrid; '
                 f'for step in 1 2; do {SRUN} -n4 --overlap osu-exec {script} & done; wait; '
                 "srun -N1 -n4 --overcommit sh -c 'sleep $SLURM_PROCID; osu-exec true && echo late'")
    counts = [line for line in done.stdout.splitlines() if line.isdigit()]
    assert len(counts) == 8 and len(set(counts)) == 1 and done.stdout.count('late') == 4, done.stdout + done.stderr
    assert left() == []


@pytest.mark.as_user
def test_the_end_of_a_rank_is_seen_while_others_run_and_its_cores_are_its_own(shell):
    began = time.monotonic()
    done = shell(f'module load osu-container/hybrid; {SRUN} --kill-on-bad-exit=1 osu-exec sh -c '
                 "'[ $SLURM_PROCID = 1 ] || kill -SEGV $$; sleep 60'")
    assert done.returncode != 0 and time.monotonic() - began < 30, done.stderr
    done = shell(f'module load osu-container/hybrid; {SRUN} '
                 "sh -c 'exec taskset -c $((SLURM_PROCID % $(nproc))) osu-exec grep Cpus_allowed_list "
                 "/proc/self/status'")
    assert len(set(done.stdout.splitlines())) == min(2, os.cpu_count()), done.stdout + done.stderr
    assert left() == []


@pytest.mark.as_user
def test_several_images_in_one_step_have_a_container_each(shell, tmp_path):
    other = tmp_path / 'other.sif'
    done = shell(f"module load osu-container/hybrid; cp $SIF {other}; {SRUN} -n4 sh -c '[ $SLURM_PROCID -lt 2 ] || "
                 f"export MPI_CONTAINER_IMAGE={other}; exec osu-exec sh -c \"echo $SLURM_PROCID \\$APPTAINER_CONTAINER "
                 "\\$(readlink /proc/self/ns/mnt)\"'")
    found = {int(rank): rest for rank, *rest in (line.split() for line in done.stdout.splitlines())}
    assert found[0] == found[1] != found[2] == found[3] and found[2][0] == str(other), done.stdout + done.stderr


@pytest.mark.as_user
@pytest.mark.parametrize('how', ['', 'instance'])
def test_a_step_that_is_cancelled_leaves_nothing(shell, how):
    done = shell(f'module load osu-container/hybrid && export OSU_SHARE={how} && salloc -Q -N1 -n2 --overcommit '
                 'bash -c "srun osu-exec sleep 61 & '
                 'sleep 2; scancel --signal=KILL \\$SLURM_JOB_ID.0; wait"; '
                 # Slurm lists a job for a moment more, as completing (CG)
                 'for half in $(seq 40); do [ -z "$(squeue --noheader)" ] && break; sleep 0.5; done; squeue --noheader')
    assert done.stdout.strip() == '' and left() == [], done.stdout + done.stderr
    assert [line for line in command_lines().values() if line.endswith('sleep 61 ')] == []


@pytest.mark.as_user
def test_proof_sees_whether_ranks_share_a_container(shell, tmp_path):
    program = f'osu-proof -- {SRUN} osu_latency H H -m 1024 -i 2000'
    done = shell(f'module load osu-container/bind && cd {tmp_path} && {program}')
    said = ' '.join(done.stderr.split())
    assert done.returncode == 0 and 'as promised by bind' in said, done.stdout + done.stderr
    assert 'container one for the ranks of a node' in said and 'user namespace' not in said
    done = shell(f'module load osu-container/bind && cd {tmp_path} && export OSU_SHARE=0 && {program}')
    said = ' '.join(done.stderr.split())
    assert done.returncode == 0 and 'container one for each rank' in said, done.stdout + done.stderr
    told = 'have a user namespace each' in said and 'MPIR_CVAR_CH4_CMA_ENABLE=0' in said
    assert told == (os.getuid() != 0), said  # root's containers have no user namespace


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


@pytest.fixture
def typed(shell, tmp_path):
    """Function (line, code) that types a line in the folder of the story, and returns its CompletedProcess."""
    def call(line, code=0, before='', timeout=300):
        done = shell(f'cd {tmp_path}; module use {tmp_path}/prefix/modules/all; {before}\n{line}', timeout=timeout,
                     OSU_CONTAINER_RESULTS=str(tmp_path / 'results'))
        assert code in (None, done.returncode), f'{line}\n{done.stdout[-3000:]}{done.stderr[-3000:]}'
        return done
    return call


#: What `new` says to type next
EB = r'^ *(eb \S+\.eb\b.*)$'


def line_of(text, pattern):
    """Return what a pattern (str, one group) finds in what was printed (str); the story needs it to go on."""
    found = re.search(pattern, text, re.M)
    assert found, f'no {pattern!r} in:\n{text[:3000]}'
    return found.group(1)


@pytest.mark.parametrize('kind, program, more', [
    ('openmpi', 'ring', ''),
    # Debian's name of MPICH, a link beside it for those that ask for the ABI's, and UCX in place of libfabric
    pytest.param('debian', 'ring-renamed', '--program /usr/local/bin/ring-renamed', marks=pytest.mark.full)])
def test_somebody_runs_an_image_of_their_own(typed, apptainer, tmp_path, kind, program, more):
    (tmp_path / 'rings.sif').symlink_to(foreign_images.make(kind, apptainer))
    if more:
        assert 'name it by --program PATH' in typed('osu-container check rings.sif', code=1).stderr
    checked = typed(f'osu-container check rings.sif {more}').stdout
    line = line_of(checked, r'^ *(osu-container new rings\.sif.*)$')
    made = typed(line).stdout
    approach = line_of(made, r'^ *-> (\w+) +works')
    typed(f'{line_of(made, EB)} --prefix={tmp_path}/prefix')
    load = f'module load rings/{approach}'
    assert 'laps per second' in typed(f'srun -N2 -n2 {program}', before=load).stdout
    proved = typed(f'osu-container proof -- srun -N2 -n2 {program} 4', before=load)
    assert f'as promised by {approach}' in folded(proved.stderr)
    # and nothing of it stays
    typed(f'rm -r {tmp_path}/prefix')
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []


def test_a_job_fails_and_somebody_is_told_why_and_what_to_do(typed, tmp_path):
    load = f'module load {MODULES["hybrid"]}'
    script = tmp_path / 'job.sh'
    script.write_text(f'#!/bin/bash\n#SBATCH -N2 -n2 -t 5\n#SBATCH -o job.out\n{load}\nsrun osu_latency -m 64 -i 20\n')
    # a variable of an other day, in ~/.bashrc or the shell that calls sbatch
    typed('sbatch --wait job.sh', code=None, before='export FI_PROVIDER=verbs')
    failed = (tmp_path / 'job.out').read_text()
    assert not re.search(r'^ *64 +\d', failed, re.M), failed
    why = typed('osu-container why job.out')
    assert 'FI_PROVIDER' in why.stdout, f'{failed}\n{why.stdout}'
    told = typed(line_of(why.stdout, r'(osu-explain FI_PROVIDER)\b'), before=f'export FI_PROVIDER=verbs; {load}').stdout
    assert 'verbs' in told and 'unset yours' in folded(why.stdout)
    typed('unset FI_PROVIDER; sbatch --wait job.sh', before='export FI_PROVIDER=verbs')
    assert re.search(r'^ *64 +\d+\.\d+', (tmp_path / 'job.out').read_text(), re.M)


def test_somebody_compares_with_lumi(typed, tmp_path):
    done = typed(f'osu-container bench --tag quick --repeats 1 --module {MODULES["pure"]} -o mine osu_bw', timeout=600)
    assert '0 failed' in done.stdout
    compared = typed('osu-container compare mine lumi-g-2025-03', code=None)
    assert 'FI_CXI_RDZV' not in compared.stdout, 'advice for LUMI is none for this machine'
    assert re.search(r'\bH H\b', compared.stdout), compared.stdout
    report = typed('osu-container report mine lumi-g-2025-03 -o report.html')
    page = (tmp_path / 'report.html').read_text()
    assert 'lumi-g-2025-03' in page and '<svg' in page, report.stdout
    # how to repeat is a line that can be typed
    again = html.unescape(line_of(page, r'(osu-container bench [^<\n]+)')).replace(f'{tmp_path}/mine', 'again')
    assert 'osu_bw' in typed(again.replace(' bench ', ' bench --dry-run ', 1)).stdout
