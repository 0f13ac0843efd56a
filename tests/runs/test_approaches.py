"""
Installed modules run under Slurm on two nodes and load what their approach promises.

Approach swap: the entrypoint of the image takes the host's libfabric on both nodes, or the job
ends.

Three user stories at the end: each command comes from the output of the command before it, so a
story also fails where a message leads to nothing.
"""

import html
import json
import re

import pytest

from osu_container.data.approaches import APPROACHES
from osu_container.verdict.settings import select_pmi
from osu_container.verdict.site_choice import resolve_site
from tests.helpers import foreign_images, osu_archive
from tests.helpers.elf_folder import ElfFolder, fill_good_image
from tests.helpers.machine import LASTING, PROJECT, STATE, assert_success, mark_repeats_nightly, run
from tests.stand_in.pairs import making, running

pytestmark = [pytest.mark.system, pytest.mark.usefixtures('slurm')]

MODULES = {
    approach: 'osu-native' if not entry['container'] else f'osu-container/{approach}'
    for approach, entry in APPROACHES.items()
}
CONTAINERS = [approach for approach, entry in APPROACHES.items() if entry['container']]
#: Image of the modules on this machine
IMAGE = 'osu-workstation-mpich-4.2.3-libfabric-1.22.0'
SMALL = ['H', 'H', '-m', '1024', '-i', '20', '-x', '2']


def parse_table(text):
    """Return {size in bytes: value} of a benchmark's output."""
    return {
        int(size): float(value)
        for size, value in re.findall(r'^\s*(\d+)\s+([\d.]+)\s*$', text, re.M)
    }


def read_origins(folder):
    """
    Return where each rank had its libmpi and its libfabric from, by the proofs below a folder
    (Path).
    """
    ranks = [json.loads(path.read_text()) for path in sorted(folder.rglob('rank-*.json'))]
    return [rank['libraries'][name]['where'] for rank in ranks for name in ('libmpi', 'libfabric')]


def test_plain_srun_starts_one_job_on_both_nodes(shell):
    done = shell(
        '\n'.join(
            f'module load {module} && srun osu_bw {" ".join(SMALL)} && echo "left: $LD_LIBRARY_PATH$'
            'LD_PRELOAD" && srun printenv SLURMD_NODENAME; module purge'
            for module in MODULES.values()
        )
    )
    # one result of each, and not one of each rank; preloads and library paths stay in the container
    assert len(re.findall(r'^\s*64\s+[\d.]+$', done.stdout, re.M)) == len(MODULES), (
        done.stdout + done.stderr
    )
    assert done.stdout.count('node1\n') == done.stdout.count('node2\n') == len(MODULES)
    assert done.stdout.count('left: \n') >= len(CONTAINERS)


@pytest.mark.nightly
def test_local_archive_gives_c_programs_natively_and_in_image(shell, tmp_path):
    """The whole C way, with an archive that has the layout and build interface of the real one."""
    archive = tmp_path / osu_archive.ARCHIVE
    sha256 = osu_archive.make_archive(archive)
    (tmp_path / f'{archive.name}.sha256').write_text(f'{sha256}  {archive.name}\n')
    built = run(
        [
            PROJECT / 'scripts' / 'osu-container',
            'image',
            'build',
            IMAGE,
            '--osu-archive',
            archive,
            '--output',
            tmp_path / 'c.sif',
        ],
        timeout=600,
    )
    assert_success(built)
    easyconfig = (PROJECT / 'easyconfigs/o/osu-native/osu-native.eb').read_text()
    (tmp_path / 'osu-native.eb').write_text(
        re.sub(r"(?m)^(checksums = \[)'\w{64}'", rf"\1'{sha256}'", easyconfig)
    )
    install = {'EASYBUILD_PREFIX': str(tmp_path / 'prefix'), 'EASYBUILD_SOURCEPATH': str(tmp_path)}
    done = shell(
        f'eb {tmp_path}/osu-native.eb && eb osu-container-hybrid.eb -r --try-amend=image=c.sif',
        timeout=600,
        **install,
    )
    assert_success(done)
    for module, programs in (
        ('osu-native', f'{osu_archive.RELEASE} C'),
        ('osu-container/hybrid', 'C)'),
    ):
        done = shell(
            f'module load {module} && srun osu_bw H H -m 1024; module help {module}', **install
        )
        assert done.returncode == 0 and {1, 1024} <= set(parse_table(done.stdout)), (
            done.stdout + done.stderr
        )
        assert 'mpi4py' not in done.stdout + done.stderr and programs in done.stderr


@pytest.mark.parametrize('approach, wrong', [('hybrid', 'none'), ('openmpi', 'cray_shasta')])
def test_wrong_mpi_type_is_an_error_and_no_result(shell, approach, wrong):
    done = shell(f'module load {MODULES[approach]} && srun --mpi={wrong} -N2 -n2 osu_barrier')
    assert done.returncode != 0
    assert parse_table(done.stdout) == {}
    wanted = select_pmi(APPROACHES[approach], resolve_site('workstation'))
    assert f'srun --mpi={wanted}' in done.stderr


def test_wrong_mpi_type_of_the_native_program_is_an_error(shell):
    done = shell('module load osu-native && srun --mpi=none -N2 -n2 osu_latency H H')
    assert done.returncode != 0 and parse_table(done.stdout) == {}
    assert 'requires exactly two processes' in done.stderr


@pytest.mark.parametrize(
    'approach', mark_repeats_nightly(MODULES, lambda approach: APPROACHES[approach]['mpi'])
)
def test_device_buffers_without_a_gpu_are_an_error(shell, approach):
    done = shell(f'module load {MODULES[approach]} && srun -N2 -n2 osu_bw D D')
    assert done.returncode != 0 and parse_table(done.stdout) == {}
    assert 'GPU' in done.stderr, done.stderr


def test_native_module_replaces_the_default_container_module(shell):
    done = shell(
        "module load osu-container && module list 2>&1; srun -N1 -n1 osu-exec sh -c 'exit 7'; echo code $?\n"
        'module load osu-native; type -P osu_bw; echo "sif=${SIF-}"'
    )
    assert 'osu-container/pure' in done.stdout and 'code 7' in done.stdout, done.stderr
    assert '/osu-native/' in done.stdout and 'sif=\n' in done.stdout, done.stderr


def test_the_wrapper_refuses_to_start_inside_the_container(shell):
    done = shell('module load osu-container/pure && osu-exec "$CONTAINERROOT/bin/osu_bw" H H')
    assert done.returncode != 0 and f'/{IMAGE}.sif' in done.stderr


def test_user_binds_are_added_to_module_binds(shell, tmp_path):
    (tmp_path / 'mine').write_text('here')
    for name in ('APPTAINER_BIND', 'SINGULARITY_BIND'):
        done = shell(
            'module load osu-container/bind && osu-exec cat /mnt/mine && osu-exec ls /opt/host-mpi/lib; '
            'osu-explain',
            **{name: f'{tmp_path}:/mnt'},
        )
        assert 'here' in done.stdout and 'libmpi.so.12' in done.stdout, (name, done.stderr)
        assert re.findall(r'^(\S+)\s+\[you: (\w+)\]', done.stdout, re.M) == [
            (f'{tmp_path}:/mnt', name)
        ], done.stdout


#: What people export or load, and when; and how a command is started
HABITS = {
    'binds are gone': 'unset APPTAINER_BIND',
    'library path': 'export APPTAINERENV_LD_LIBRARY_PATH=/usr/lib',
    'clean environment': 'export APPTAINER_CLEANENV=1',
    'option for a clean environment': 'export MPI_CONTAINER_OPTIONS=-e',
    'module of another approach': 'module load osu-container/pure',
}


@pytest.mark.parametrize('habit', HABITS)
def test_exported_variables_do_not_change_the_approach(shell, habit, tmp_path):
    done = shell(
        f'module load osu-container/bind; command=$(type -P osu_latency); {HABITS[habit]}\n'
        f'srun -N2 -n2 {PROJECT}/scripts/rank-proof {tmp_path} $command {LASTING}'
    )
    assert done.returncode == 0 and len(re.findall(r'^\s*8\s', done.stdout, re.M)) == 1, (
        done.stdout + done.stderr
    )
    assert read_origins(tmp_path) == ['host'] * 4


@pytest.mark.parametrize('option', mark_repeats_nightly(['--cleanenv', '-e', '--containall', '-C']))
def test_clean_environment_options_keep_ranks_in_one_job(shell, option):
    done = shell(
        f'module load osu-container/pure; srun -N2 -n2 osu-exec {option} -- osu_latency {" ".join(SMALL)}'
    )
    assert done.returncode == 0 and len(re.findall(r'^\s*8\s', done.stdout, re.M)) == 1, (
        done.stdout + done.stderr
    )


def test_scope_commands_keeps_binds_out_of_the_shell(shell, tmp_path):
    done = shell(
        'export OSU_SCOPE=commands; module load osu-container/bind; env | grep -E "^APPTAINER(ENV)?_"; '
        f'srun -N2 -n2 {PROJECT}/scripts/rank-proof {tmp_path} osu_latency {LASTING}; '
        'unset OSU_SCOPE; module unload osu-container; env | grep OSU_SCOPE; module load osu-container/bind; '
        'export OSU_SCOPE=commands; module unload osu-container; env | grep -E "^APPTAINER(ENV)?_"'
    )
    assert 'APPTAINER' not in done.stdout and 'OSU_SCOPE' not in done.stdout, (
        done.stdout + done.stderr
    )
    assert read_origins(tmp_path) == ['host'] * 4


def test_a_command_needs_neither_module_nor_environment(shell):
    done = shell(
        'module load osu-container/hybrid; command=$(type -P osu_latency); module purge; '
        f'srun --export=NONE --mpi=pmi2 -N2 -n2 $command {" ".join(SMALL)}'
    )
    assert done.returncode == 0 and len(parse_table(done.stdout)) > 6, done.stdout + done.stderr


def test_a_provider_that_the_user_names_wins_and_fails_loudly(shell):
    done = shell(
        'module load osu-container/pure && srun -N2 -n2 osu_latency H H', FI_PROVIDER='nonesuch'
    )
    assert done.returncode != 0 and parse_table(done.stdout) == {}


#: One line of the entrypoint: where it runs, what it took
TOOK = re.compile(r'^osu-entrypoint: (\w+): .* (/host/lib/libfabric\.so\.1\S*)$', re.M)
LOAD = 'module load osu-container/swap'
GOES_ON = 'export OSU_SWAP=; ' + LOAD  # set and empty is the user's choice: not require


@pytest.fixture(scope='module')
def old_host():
    """Folder of a host tree whose libfabric is 1.17.0: older than the image's MPI wants."""
    return making.host('bookworm', 'mpich-5.0.2', running.WHERE)


def format_bind_line(tree):
    """Return the line that binds a host tree (Path) in place of what the module binds."""
    return f"export APPTAINER_BIND={tree}/opt/mpich/5.0.2/lib/mpich:/host/lib,{tree}/usr:/host/usr"


def test_each_node_reports_injection_once_and_ranks_use_it(shell, tmp_path):
    done = shell(
        f'{LOAD} && OSU_PROOF={tmp_path} srun -N2 -n2 osu_get_bw H H -m 256 -i 20 >/dev/null; '
        f'osu-proof --json {tmp_path}/*'
    )
    assert_success(done)
    assert sorted(node for node, _ in TOOK.findall(done.stderr)) == ['node1', 'node2'], done.stderr
    (step,) = json.loads(done.stdout)
    assert step['promise']['approach'] == 'swap' and read_origins(tmp_path) == ['image', 'host'] * 2
    assert f'{STATE}/host/opt/mpich/5.0.2/lib/mpich/libfabric.so.1' in done.stdout
    # the loader of the entrypoint also maps libmpi; the rank is the program
    assert step['kinds'][0]['executable'].startswith('/usr/bin/python3')


def test_every_command_goes_through_the_entrypoint(shell):
    done = shell(
        f'{LOAD}; osu-exec bash -c \'readlink "${{LD_LIBRARY_PATH%%:*}}/libfabric.so.1"\'; '
        'echo \'readlink "${LD_LIBRARY_PATH%%:*}/libfabric.so.1"; exit 5\' | osu-shell; echo "code $?"'
    )
    assert done.stdout.splitlines() == ['/host/lib/libfabric.so.1'] * 2 + ['code 5'], done.stderr


def test_exit_codes_and_signals_come_through(shell):
    done = shell(
        f"{LOAD}; srun -N1 -n1 osu-exec bash -c 'exit 7'; echo $?; osu-exec bash -c 'kill -TERM $$'; echo $?"
    )
    assert done.stdout.split() == ['7', '143'], done.stderr


@pytest.mark.nightly
def test_too_old_host_libfabric_ends_the_job_with_a_reason(shell, old_host):
    done = shell(f'{LOAD}; {format_bind_line(old_host)}; srun -N2 -n2 osu_bw H H -m 64')
    assert done.returncode == 78 and parse_table(done.stdout) == {}
    assert {
        '/opt/mpich/lib/libmpi.so.12',
        'FABRIC_1.7',
        '/host/lib/libfabric.so.1',
        'FABRIC_1.6',
    } <= set(re.findall(r'[\w./]*\w', done.stderr))
    said = run([PROJECT / 'scripts' / 'osu-container', 'why', '-'], input=done.stderr)
    assert said.stdout.startswith('a host library needs a newer library than the image has'), (
        said.stdout + said.stderr
    )


def test_missing_host_libfabric_fails_unless_swap_is_optional(shell, tmp_path):
    bind = f'export APPTAINER_BIND={tmp_path}:/host/lib'
    done = shell(f'{LOAD}; {bind}; srun -N2 -n2 osu_bw H H -m 64')
    assert done.returncode == 78 and parse_table(done.stdout) == {}
    assert 'libfabric.so.1' in done.stderr and '/host/usr' in done.stderr
    done = shell(f'{GOES_ON}; {bind}; srun -N2 -n2 osu_bw H H -m 64')
    assert done.returncode == 0 and len(parse_table(done.stdout)) == 7, done.stderr
    assert sorted(re.findall(r'^osu-entrypoint: (\w+): .*/host/lib', done.stderr, re.M)) == [
        'node1',
        'node2',
    ]


def test_user_choice_of_image_libfabric_contradicts_the_module(shell, tmp_path):
    done = shell(
        f'{LOAD}; OSU_SWAP=0 osu-proof -o {tmp_path}/proofs -- srun -N2 -n2 osu_latency H H -m 256 -i 300'
    )
    assert done.returncode == 1 and 256 in parse_table(done.stdout), done.stderr
    assert read_origins(tmp_path) == ['image'] * 4


@pytest.mark.nightly
def test_too_old_host_is_refused_at_installation(shell, old_host, tmp_path):
    done = shell(f'eb osu-container-swap.eb --sysroot={old_host}', EASYBUILD_PREFIX=str(tmp_path))
    assert done.returncode != 0 and 'FABRIC_1.7' in done.stdout and 'FABRIC_1.6' in done.stdout
    assert not [path for path in tmp_path.rglob('swap*') if path.suffix in ('.lua', '.sif')]


def test_an_image_without_entrypoint_is_refused(shell, parts, make_sif, tmp_path):
    folder = fill_good_image(
        ElfFolder(tmp_path / 'image'), parts, fabric=parts.fabric(needed=()), rocm=None
    )
    make_sif(tmp_path / 'none.sif', folder.root)
    done = shell(
        f'cd {tmp_path} && sha256sum none.sif >none.sif.sha256 && '
        'eb osu-container-swap.eb --try-amend=image=none.sif',
        EASYBUILD_PREFIX=str(tmp_path / 'prefix'),
        EASYBUILD_SOURCEPATH=str(tmp_path),
    )
    assert done.returncode != 0 and 'entrypoint' in done.stdout and '/host/lib' in done.stdout
    assert not list(tmp_path.glob('prefix/modules/all/osu-container/*'))


@pytest.fixture
def run_line(shell, tmp_path):
    """
    Function (line, code) that types a line in the folder of the story, and returns its
    CompletedProcess.
    """

    def call(line, code=0, before='', timeout=300):
        done = shell(
            f'cd {tmp_path}; module use {tmp_path}/prefix/modules/all; {before}\n{line}',
            timeout=timeout,
            OSU_CONTAINER_RESULTS=str(tmp_path / 'results'),
        )
        assert code in (None, done.returncode), (
            f'{line}\n{done.stdout[-3000:]}{done.stderr[-3000:]}'
        )
        return done

    return call


#: What `new` says to type next
EB = r'^ *(eb \S+\.eb\b.*)$'


def find_printed_line(text, pattern):
    """
    Return what a pattern (str, one group) finds in what was printed (str); the story needs it to
    go on.
    """
    found = re.search(pattern, text, re.M)
    assert found, f'no {pattern!r} in:\n{text[:3000]}'
    return found.group(1)


@pytest.mark.parametrize(
    'kind, program, more',
    [
        ('openmpi', 'ring', ''),
        # Debian's name of MPICH, a link beside it for those that ask for the ABI's, and UCX in
        # place of libfabric
        pytest.param(
            'debian',
            'ring-renamed',
            '--program /usr/local/bin/ring-renamed',
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_user_checks_installs_and_runs_an_image(run_line, apptainer, tmp_path, kind, program, more):
    (tmp_path / 'rings.sif').symlink_to(foreign_images.make(kind, apptainer))
    if more:
        assert '--program' in run_line('osu-container check rings.sif', code=1).stderr
    checked = run_line(f'osu-container check rings.sif {more}').stdout
    line = find_printed_line(checked, r'^ *(osu-container new rings\.sif.*)$')
    made = run_line(line).stdout
    approach = find_printed_line(made, r'^wrote: rings-(\w+)\.eb')
    run_line(f'{find_printed_line(made, EB)} --prefix={tmp_path}/prefix')
    load = f'module load rings/{approach}'
    assert 'laps per second' in run_line(f'srun -N2 -n2 {program}', before=load).stdout
    # a proof that nobody asked to keep removes its folder
    run_line(
        f'for where in "" "-o proofs"; do osu-container proof $where -- srun -N2 -n2 {program} 4 || exit; done',
        before=load,
    )
    (step,) = json.loads(run_line('osu-container proof --json proofs').stdout)
    assert step['promise']['approach'] == approach
    # and nothing of it stays
    run_line('rm -r prefix proofs')
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []


def test_failed_job_is_explained_with_a_remedy(run_line, tmp_path):
    load = f'module load {MODULES["hybrid"]}'
    script = tmp_path / 'job.sh'
    script.write_text(
        f'#!/bin/bash\n#SBATCH -N2 -n2 -t 5\n#SBATCH -o job.out\n{load}\nsrun osu_latency -m 64 -i 20\n'
    )
    # a variable of an other day, in ~/.bashrc or the shell that calls sbatch
    run_line('sbatch --wait job.sh', code=None, before='export FI_PROVIDER=verbs')
    failed = (tmp_path / 'job.out').read_text()
    assert not re.search(r'^ *64 +\d', failed, re.M), failed
    why = run_line('osu-container why job.out')
    assert 'FI_PROVIDER' in why.stdout, f'{failed}\n{why.stdout}'
    told = run_line(
        ' '.join(find_printed_line(why.stdout, r'(osu-explain\s+FI_PROVIDER)\b').split()),
        before=f'export FI_PROVIDER=verbs; {load}',
    ).stdout
    assert 'verbs' in told and 'unset' in why.stdout
    run_line('unset FI_PROVIDER; sbatch --wait job.sh', before='export FI_PROVIDER=verbs')
    assert re.search(r'^ *64 +\d+\.\d+', (tmp_path / 'job.out').read_text(), re.M)


@pytest.mark.nightly
def test_user_compares_a_run_with_lumi(run_line, tmp_path):
    run_line(
        f'osu-container bench --tag quick --repeats 1 --module {MODULES["pure"]} -o mine osu_bw',
        timeout=600,
    )
    compared = run_line('osu-container compare mine lumi-g-2025-03', code=None)
    assert 'FI_CXI_RDZV' not in compared.stdout, 'advice for LUMI is none for this machine'
    assert re.search(r'\bH H\b', compared.stdout), compared.stdout
    report = run_line('osu-container report mine lumi-g-2025-03 -o report.html')
    page = (tmp_path / 'report.html').read_text()
    assert 'lumi-g-2025-03' in page and '<svg' in page, report.stdout
    # how to repeat is a line that can be typed
    again = html.unescape(find_printed_line(page, r'(osu-container bench [^<\n]+)')).replace(
        f'{tmp_path}/mine', 'again'
    )
    assert 'osu_bw' in run_line(again.replace(' bench ', ' bench --dry-run ', 1)).stdout
