"""
Check run-in-container, share-container, osu-explain and make-squashfs.

The container runtime is a script that prints its arguments and binds. osu-explain reads damaged
files settings.json. make-squashfs fails or is interrupted, and must not lose software.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from osu_container.data.approaches import APPROACHES
from osu_container.data.launchers import KEPT_PREFIXES, LAUNCHERS
from osu_container.install.staged import install_proof
from osu_container.verdict.launching import list_local_size_variables
from tests.helpers.machine import PROJECT, PYTHON_36, assert_success, run

SCRIPTS = PROJECT / 'scripts'
#: Prints each argument in brackets on a line, then the binds, and exits with $CODE
RUNTIME = '''#!/bin/bash
printf '[%s]\\n' "$@"
printf 'APPTAINER_BIND=%s SINGULARITY_BIND=%s\\n' "${APPTAINER_BIND-unset}" "${SINGULARITY_BIND-unset}"
exit "${CODE:-0}"
'''


def install_wrapper(root):
    """Copy run-in-container and share-container into an installation."""
    for folder, name in (('bin', 'run-in-container'), ('libexec', 'share-container')):
        (root / folder).mkdir(parents=True, exist_ok=True)
        shutil.copy(SCRIPTS / name, root / folder / name)


@pytest.fixture
def run_installed(tmp_path):
    """
    Return a function that runs a command of an installation whose path has a space.

    Keyword arguments in lower case are keys of call-settings (a list becomes several lines), other
    keyword arguments are environment variables.
    """
    root = tmp_path / 'a folder'
    install_wrapper(root)
    for name in ('osu_bw', 'osu-shell', 'osu-exec', 'start-shell'):
        (root / 'bin' / name).symlink_to('run-in-container')
    (root / 'x.sif').write_text('image')
    runtime = root / 'runtime'
    runtime.write_text(RUNTIME)
    runtime.chmod(0o755)

    def write(**more):
        rows = [
            (key, value)
            for key, values in {**call.settings, **more}.items()
            for value in ([values] if isinstance(values, str) else values or [])
        ]
        (root / 'call-settings').write_text(
            '# a comment\n' + ''.join(f'{key} {value}\n' for key, value in rows)
        )

    def call(name, *arguments, cwd=None, **words):
        write(**{key: value for key, value in words.items() if key.islower()})
        merged = {
            key: value
            for key, value in {**call.environment, **words}.items()
            if value is not None and not key.islower()
        }
        return run([root / 'bin' / name, *arguments], env=merged, cwd=cwd)

    call.root, call.write, call.environment = root, write, {'PATH': os.environ['PATH']}
    call.settings = {
        'image': 'x.sif',
        'runtime': str(runtime),
        'pmi': 'pmi2 PMI_FD',
        'local_sizes': ' '.join(list_local_size_variables()),
        'kept': '|'.join(KEPT_PREFIXES),
    }
    write()
    return call


@pytest.mark.parametrize(
    'arguments', [['a b', ' ', ''], ['*', '$HOME', '`id`', "it's", '"', 'line\nend'], []]
)
def test_arguments_arrive_and_the_exit_code_comes_back(run_installed, arguments):
    done = run_installed('osu_bw', *arguments, CODE='77')
    words = ['--quiet', 'exec', str(run_installed.root / 'x.sif'), 'osu_bw', *arguments]
    expected = ''.join(f'[{text}]\n' for text in words)
    assert done.stdout.startswith(expected) and (done.returncode, done.stderr) == (77, '')


def test_osu_exec_runs_any_command_and_osu_shell_a_shell(run_installed):
    sif = str(run_installed.root / 'x.sif')
    assert run_installed('osu-exec', 'ls', '-l /').stdout.startswith(
        f'[--quiet]\n[exec]\n[{sif}]\n[ls]\n[-l /]\n'
    )
    assert run_installed('osu-shell').stdout.startswith(f'[--quiet]\n[shell]\n[{sif}]\n')


@pytest.mark.parametrize(
    'there, source, options',
    [
        (['user-software'], 'user-software', ''),
        ([], None, ''),
        # The state between the two steps of make-squashfs.
        (['user-software', 'user-software.squashfs'], 'user-software.squashfs', ':image-src=/,ro'),
    ],
)
def test_user_software_comes_from_the_current_installation(
    run_with_settings, there, source, options
):
    """A bind of /user-software that a module has set in the environment is ignored."""
    for name in there:
        (run_with_settings.root / name).mkdir()
    exported = {
        'APPTAINER_BIND': f'{run_with_settings.root}/user-software:/user-software,/mine',
        'SINGULARITY_BIND': '/theirs:/user-software',
    }
    found = run_with_settings(**exported)['APPTAINER_BIND']
    own = [f'{run_with_settings.root}/{source}:/user-software{options}'] if source else []
    theirs = (
        []
        if source
        else [f'{run_with_settings.root}/user-software:/user-software', '/theirs:/user-software']
    )
    assert found == ','.join([*OURS, *own, *theirs[:1], '/mine', *theirs[1:]])


def test_command_uses_the_entrypoint_set_by_the_module(run_installed):
    sif = str(run_installed.root / 'x.sif')
    through, run = {'start': 'run'}, '[--quiet]\n[run]\n'
    assert run_installed('osu_bw', 'H', 'a b', **through).stdout.startswith(
        f'{run}[{sif}]\n[osu_bw]\n[H]\n[a b]\n'
    )
    assert run_installed('osu-shell', '--nv', **through).stdout.startswith(
        f'{run}[--nv]\n[{sif}]\n[/bin/bash]\n'
    )


def test_killed_runtime_leaves_no_process_that_mounts_its_image(run_installed):
    mount = run_installed.root / 'squashfuse_ll'
    shutil.copy(shutil.which('sleep'), mount)
    (run_installed.root / 'runtime').write_text(
        '#!/bin/bash\n"${0%/*}/squashfuse_ll" 60 >/dev/null &\necho $!\nwait\n'
    )
    run_installed.write(apart='MPI_A=0')
    with subprocess.Popen(
        [str(run_installed.root / 'bin' / 'osu_bw')],
        env=run_installed.environment,
        stdout=subprocess.PIPE,
    ) as runtime:
        child = int(runtime.stdout.readline())
        time.sleep(0.5)
        runtime.kill()
    end = time.monotonic() + 30
    while os.path.exists(f'/proc/{child}'):
        assert time.monotonic() < end
        time.sleep(0.1)


def test_the_runtime_takes_the_place_of_the_wrapper(run_installed):
    (run_installed.root / 'runtime').write_text('#!/bin/bash\necho $$\nexec sleep 60\n')
    process = subprocess.Popen(
        [str(run_installed.root / 'bin' / 'osu_bw')],
        env=run_installed.environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert int(process.stdout.readline()) == process.pid
    time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == -signal.SIGTERM
    process.stdout.close()


def test_missing_pmi_is_an_error_that_names_the_right_type(run_installed):
    done = run_installed('osu_bw', SLURM_STEP_NUM_TASKS='2')
    assert done.returncode == 1 and done.stdout == ''
    assert 'PMI_FD' in done.stderr and 'srun --mpi=pmi2' in done.stderr


#: Further lines of call-settings
SETTINGS = {
    'prefix': 'APPTAINER',
    'bind': ['/host/libmpi.so:/opt/host-mpi/lib/libmpi.so.12', '/users:/users'],
    'default': ['FI_PROVIDER=tcp', 'FI_WORDS=a b=c'],
    'inside': 'NCCL_NET_PLUGIN=/p',
}
INJECTION = '/.singularity.d/env/99-host-mpi.sh'
OURS = ['/host/libmpi.so:/opt/host-mpi/lib/libmpi.so.12', '/users:/users']


@pytest.fixture
def run_with_settings(run_installed):
    """Return a function that returns the environment of the runtime, without a loaded module."""
    (run_installed.root / 'runtime').write_text('#!/bin/bash\nprintf "%s|" "$@" >&2\nenv -0\n')
    run_installed.settings.update(SETTINGS)

    def call(name='osu_bw', *arguments, **words):
        done = run_installed(name, *arguments, **words)
        assert_success(done)
        return dict(
            [text.partition('=')[::2] for text in done.stdout.split('\0')],
            words=done.stderr.split('|'),
        )

    call.root = run_installed.root
    call.fails = run_installed
    return call


def test_command_without_its_module_gets_the_module_settings(run_with_settings):
    (run_with_settings.root / 'host-mpi.sh').touch()
    found = run_with_settings()
    assert found['words'][:4] == [
        '--quiet',
        'exec',
        str(run_with_settings.root / 'x.sif'),
        'osu_bw',
    ]
    assert found['APPTAINER_BIND'].split(',') == [
        f'{run_with_settings.root}/host-mpi.sh:{INJECTION}',
        *OURS,
    ]
    assert (found['FI_PROVIDER'], found['FI_WORDS']) == ('tcp', 'a b=c')
    assert run_with_settings(FI_PROVIDER='mine')['FI_PROVIDER'] == 'mine'
    with_module = run_with_settings(OSU_MODULE_ROOT=str(run_with_settings.root))
    assert (
        with_module['NCCL_NET_PLUGIN'] == '/p'
        and run_with_settings(NCCL_NET_PLUGIN='mine')['NCCL_NET_PLUGIN'] == 'mine'
    )
    assert 'FI_PROVIDER' not in with_module, 'unset since the module was loaded'


@pytest.mark.parametrize(
    'exported, binds_',
    [
        ({'APPTAINER_BIND': '/mine'}, [*OURS, '/mine']),
        ({'SINGULARITY_BIND': '/mine,/users:/users', 'APPTAINER_BIND': ''}, [*OURS, '/mine']),
        (
            {'APPTAINER_BIND': '/users,/mine,/mine', 'SINGULARITY_BINDPATH': '/mine'},
            [*OURS, '/mine'],
        ),
        ({'APPTAINER_BIND': '/other:/users:ro'}, [OURS[0], '/other:/users:ro']),
        (
            {'APPTAINER_BIND': '/users/me:/users/me/x,/my/opt:/opt/'},
            ['/my/opt:/opt/', *OURS, '/users/me:/users/me/x'],
        ),
    ],
)
def test_user_exports_are_added_and_replace_nothing(run_with_settings, exported, binds_):
    found = run_with_settings(APPTAINERENV_LD_LIBRARY_PATH='/my/lib', **exported)
    assert found['APPTAINER_BIND'].split(',') == binds_ and 'SINGULARITY_BIND' not in found
    assert found['APPTAINERENV_LD_LIBRARY_PATH'] == '/my/lib'


@pytest.mark.parametrize('own', [True, False])
def test_settings_of_another_module_are_ignored(run_with_settings, tmp_path, own):
    """This includes its injection script, which has the same target as the module's."""
    other = tmp_path / 'other'
    other.mkdir()
    (other / 'host-mpi.sh').touch()
    (other / 'call-settings').write_text(
        'image y.sif\nbind /z:/z\nfiles /spool:/spool\ndefault FI_PROVIDER=z\n'
    )
    if own:
        (run_with_settings.root / 'host-mpi.sh').touch()
    found = run_with_settings(
        OSU_MODULE_ROOT=str(other),
        MPI_CONTAINER_IMAGE=str(other / 'y.sif'),
        FI_PROVIDER='z',
        APPTAINER_BIND=f'{other}/host-mpi.sh:{INJECTION},/z:/z,/mine,/spool',
    )
    ours = [f'{run_with_settings.root}/host-mpi.sh:{INJECTION}'] if own else []
    assert found['words'][2] == str(run_with_settings.root / 'x.sif')
    assert found['APPTAINER_BIND'].split(',') == [*ours, *OURS, '/mine']
    assert found['FI_PROVIDER'] == 'tcp'


def test_image_named_by_the_user_is_used(run_with_settings):
    assert run_with_settings(MPI_CONTAINER_IMAGE='/dev/null')['words'][2] == '/dev/null'


@pytest.mark.parametrize('words', [['--cleanenv'], ['--containall'], ['-ce'], ['--pwd', '/', '-e']])
def test_clean_environment_options_keep_rank_variables(run_with_settings, words):
    variables = {'PMI_FD': '7', 'SLURM_PROCID': '1', 'MINE': 'no'}
    for found in (
        run_with_settings('osu-exec', *words, '--', 'x', **variables),
        run_with_settings(MPI_CONTAINER_OPTIONS=' '.join(words), **variables),
    ):
        assert (found['APPTAINERENV_PMI_FD'], found['APPTAINERENV_SLURM_PROCID']) == ('7', '1')
        assert found['words'][2 : 2 + len(words)] == words and 'APPTAINERENV_MINE' not in found
    assert 'APPTAINERENV_PMI_FD' not in run_with_settings(
        'osu-exec', '--env', 'A=e', '--', 'ls', '-e', **variables
    )


def test_clean_environment_keeps_rank_variables(run_with_settings):
    """What each launcher, Slingshot, the modules and osu-gpu-bind set for a rank."""
    names = {'SLINGSHOT_VNIS', 'SLINGSHOT_SVC_IDS', 'MINE'}
    for launcher in LAUNCHERS.values():
        for key in ('rank', 'size', 'local_rank', 'local_size'):
            names |= set(launcher[key].split('/'))
        names |= {variable for _, variable in launcher['pmi'].values()}
    for approach in APPROACHES.values():
        for key in ('variables', 'rank_variables'):
            names |= {entry['name'] for entry in approach[key]}
    variables = dict.fromkeys(names, '1')
    found = run_with_settings(SINGULARITY_CLEANENV='1', **variables)
    assert {f'APPTAINERENV_{key}' for key in [*variables, 'FI_PROVIDER']} - set(found) == {
        'APPTAINERENV_MINE'
    }


def test_site_image_replaces_a_missing_copy(run_with_settings, tmp_path):
    (run_with_settings.root / 'x.sif').unlink()
    (tmp_path / 'central').mkdir()
    (tmp_path / 'central' / 'x.sif').touch()
    run_with_settings.fails.settings['image_folders'] = (
        f'{{REPOSITORY}}/sifs /nowhere {tmp_path}/central'
    )
    assert run_with_settings()['words'][2] == str(tmp_path / 'central' / 'x.sif')
    (tmp_path / 'other' / 'sifs').mkdir(parents=True)
    (tmp_path / 'other' / 'sifs' / 'x.sif').touch()
    assert run_with_settings(REPOSITORY=f'{tmp_path}/other')['words'][2] == str(
        tmp_path / 'other' / 'sifs' / 'x.sif'
    )
    (tmp_path / 'central' / 'x.sif').unlink()
    done = run_with_settings.fails('osu_bw')
    assert done.returncode == 1 and str(run_with_settings.root / 'x.sif') in done.stderr


def test_runtime_options_are_passed(run_with_settings):
    sif = str(run_with_settings.root / 'x.sif')
    assert run_with_settings('osu-exec', '--env', 'A=b c', '-B', '/x', '--', 'ls', '--', '-l')[
        'words'
    ][:-1] == ['--quiet', 'exec', '--env', 'A=b c', '-B', '/x', sif, 'ls', '--', '-l']
    assert run_with_settings(MPI_CONTAINER_OPTIONS='--pwd /tmp')['words'][:5] == [
        '--quiet',
        'exec',
        '--pwd',
        '/tmp',
        sif,
    ]
    assert run_with_settings('osu-shell', '-c', 'echo "a b"')['words'][:-1] == [
        '--quiet',
        'exec',
        sif,
        '/bin/sh',
        '-c',
        'echo "a b"',
    ]
    done = run_with_settings.fails('osu-exec', '--env', 'A=b', 'ls')
    assert done.returncode == 1 and ' -- ' in done.stderr


def list_binds(done, prefix='APPTAINER'):
    """Return the binds that the runtime got."""
    return done.stdout.split(f'{prefix}_BIND=')[1].split()[0].split(',')


@pytest.mark.parametrize('prefix', ['APPTAINER', 'SINGULARITY'])
def test_files_of_the_node_are_bound_where_they_exist(run_installed, tmp_path, prefix):
    (tmp_path / 'there').touch()
    (tmp_path / f'config-{os.uname().release}').touch()
    there, gone = tmp_path / 'there', tmp_path / 'gone'
    # Both existed on the node where the module was loaded, so the module has bound them.
    done = run_installed(
        'osu_bw',
        prefix=prefix,
        files=(
            f'{there}:{there},{gone}:{gone},{tmp_path}/config-{{kernel}}:/boot/config-{{kernel}}|X=0'
        ),
        **{f'{prefix}_BIND': f'/mine,{there},{gone}:{gone},{gone}'},
    )
    assert list_binds(done, prefix) == [
        f'{there}:{there}',
        f'{tmp_path}/config-{os.uname().release}:/boot/config-{os.uname().release}',
        '/mine',
    ]


@pytest.fixture
def run_with_proof_files(run_installed):
    """Return run_installed with the files of osu-proof in the installation."""
    install_proof(str(run_installed.root))
    return run_installed


def list_rank_files(folder, seconds=5):
    """Return the names of the files that samplers have written below a folder."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and not list(folder.rglob('rank-*.json')):
        time.sleep(0.02)
    return sorted(str(path.relative_to(folder)) for path in folder.rglob('rank-*.json'))


STEP = {'SLURM_JOB_ID': '7', 'SLURM_STEP_ID': '2', 'SLURM_PROCID': '3', 'SLURM_STEP_NUM_TASKS': '1'}


@pytest.mark.parametrize(
    'value, file', [('1', 'osu-proof-7.2/rank-3.json'), ('my folder', 'my folder/7.2/rank-3.json')]
)
def test_osu_proof_starts_a_sampler_and_changes_nothing_else(
    run_with_proof_files, tmp_path, monkeypatch, value, file
):
    (tmp_path / 'here').mkdir()
    monkeypatch.chdir(tmp_path / 'here')
    plain = run_with_proof_files('osu-exec', 'ls', '-l /', CODE='7')
    done = run_with_proof_files('osu-exec', 'ls', '-l /', CODE='7', OSU_PROOF=value, **STEP)
    assert (done.stdout, done.stderr, done.returncode) == (plain.stdout, '', 7)
    assert list_rank_files(tmp_path / 'here') == [file]


@pytest.mark.parametrize(
    'here, variables',
    [
        (1, {}),
        (2, {'SLURM_STEP_TASKS_PER_NODE': '2(x2),1', 'SLURM_NODEID': '1'}),
        (1, {'SLURM_STEP_TASKS_PER_NODE': '1,16(x3)', 'SLURM_NODEID': '0'}),
        (16, {'SLURM_STEP_TASKS_PER_NODE': '1,16(x3)', 'SLURM_NODEID': '3'}),
        (4, {'OMPI_COMM_WORLD_LOCAL_SIZE': '4'}),
        (4, {'PALS_LOCAL_SIZE': '4'}),
        (4, {'FLUX_JOB_SIZE': '8', 'FLUX_JOB_NNODES': '2'}),
        # Hydra's mpiexec starts one task of srun on each node.
        (4, {'MPI_LOCALNRANKS': '4', 'SLURM_STEP_TASKS_PER_NODE': '1(x2)', 'SLURM_NODEID': '1'}),
    ],
)
@pytest.mark.parametrize(
    'can_share, switch, how',
    [
        ('1', None, 'exec --sharens {image} cat /proc/self/stat -'),
        ('1', '0', None),
        (None, None, None),
        (None, 'instance', 'instance start {image} ranks'),
    ],
)
def test_only_several_ranks_of_a_node_share_a_container(
    run_installed, here, variables, can_share, switch, how
):
    """This runtime starts no shared container, so each rank gets its own container."""
    calls = run_installed.root / 'calls'
    (run_installed.root / 'runtime').write_text(
        f'#!/bin/bash\nprintf "%s\\n" "$*" >>"{calls}"; [[ $* != *" instance start "* ]]\n'
    )
    done = run_installed(
        'osu_bw',
        share=can_share,
        SLURM_JOB_ID=str(os.getpid()),
        SLURM_STEP_ID='0',
        OSU_SHARE=switch,
        **variables,
    )
    assert_success(done)
    image = run_installed.root / 'x.sif'
    started = [f'--quiet {how.format(image=image)}'] if here > 1 and how else []
    wanted = [*started, f'--quiet exec {image} osu_bw']
    assert calls.read_text().splitlines()[: len(wanted)] == wanted


@pytest.fixture
def make_shm_path():
    """
    Return a function that returns the path in /dev/shm of a step's folder.

    The folders are removed after the test.
    """
    made = []

    def path(rest):
        made.append(Path(f'/dev/shm/run-in-container-{os.getuid()}-{rest}'))
        return made[-1]

    yield path
    for one in made:
        for found in one.parent.glob(one.name + '*'):
            run(['rm', '-rf', found])


def test_only_unused_folders_of_a_killed_keeper_are_removed(run_installed, make_shm_path):
    left, held = make_shm_path(f'{os.getpid()}-left'), make_shm_path(f'{os.getpid()}-held')
    for path in (left, held):
        path.mkdir(mode=0o700)
        (path / 'state').write_text('1 2 x\n')
    with subprocess.Popen(['flock', '-s', held / 'ranks', 'sleep', '60']) as rank:
        while not (held / 'ranks').exists():
            time.sleep(0.02)
        words = {'share': '1', 'SLURM_JOB_ID': str(os.getpid()), 'SLURM_STEP_TASKS_PER_NODE': '2'}
        assert run_installed('osu_bw', **words).returncode == 0
        end = time.monotonic() + 10
        while left.exists() and time.monotonic() < end:
            time.sleep(0.02)
        assert held.exists() and not left.exists()
        rank.kill()


@pytest.mark.parametrize('ranks', [1, 2])
def test_ranks_without_shared_container_get_variables(run_installed, ranks):
    """Also if the runtime cannot share a container. root never needs the variables."""
    (run_installed.root / 'runtime').write_text(
        '#!/bin/bash\nprintf "%s %s\\n" "${MPI_A-unset}" "${MPI_B-unset}"\n'
    )
    done = run_installed(
        'osu_bw', apart='MPI_A=0 MPI_B=0', MPI_B='mine', SLURM_STEP_TASKS_PER_NODE=str(ranks)
    )
    assert done.stdout == ('0 mine\n' if ranks > 1 and os.getuid() else 'unset mine\n'), done.stderr


def test_foreign_wrapper_finds_its_image_and_ends_with_program(run_installed, tmp_path):
    """Wrappers of lumi-container-wrapper call the runtime from a bash that keeps running."""
    other = run_installed.root / 'other' / 'bin' / 'osu_bw'
    other.parent.mkdir(parents=True)
    other.write_text(
        '#!/bin/bash\nsingularity --silent exec "$(dirname "$0")/../container.sif" osu_bw "$@"\n'
        'echo after\n'
    )
    other.chmod(0o755)
    (other.parents[1] / 'container.sif').symlink_to('gone.sif')
    runtime = tmp_path / 'path' / 'singularity'
    runtime.parent.mkdir()
    runtime.write_text('#!/bin/bash\nprintf "%s\\n" "$@" "$SINGULARITY_BIND"\n')
    runtime.chmod(0o755)
    done = run_installed(
        'osu_bw',
        'a b',
        wrappers='other/bin',
        prefix='SINGULARITY',
        bind='/a:/b',
        PATH=f"{runtime.parent}:{os.environ['PATH']}",
    )
    assert done.stdout == f"--silent\nexec\n{run_installed.root / 'x.sif'}\nosu_bw\na b\n/a:/b\n", (
        done.stderr
    )


@pytest.mark.parametrize(
    'folder, more', [('scratch', {}), ('scratch', {'HOME': '{there}'}), ('gone', {})]
)
def test_tmpdir_is_bound_unless_another_bind_covers_it(run_installed, folder, more):
    with tempfile.TemporaryDirectory(dir='/dev/shm') as there:
        more = {name: value.format(there=there) for name, value in more.items()}
        os.mkdir(os.path.join(there, 'scratch'))
        done = run_installed('osu_bw', TMPDIR=f'{there}/{folder}', **more)
        binds = done.stdout.split('APPTAINER_BIND=')[1].split()[0]
        assert binds == (f'{there}/scratch' if folder == 'scratch' and not more else 'unset')


COMMAND = SCRIPTS / 'osu-explain'
TOLD = {'why': 'w', 'source': 's', 'date': '2026-11-23', 'evidence': 'untested'}
VARIABLE = {'name': 'A', 'value': '1', 'origin': 'site x', **TOLD}
GOOD = {
    'module': 'osu-container/pure',
    'site': 'x-25',
    'title': 't',
    'mpi': 'm',
    'libfabric': 'l',
    'pmi': 'pmi2',
    'variables': [VARIABLE],
    'unset': [],
    'in_container': [VARIABLE],
    'share': False,
    'apart': [],
    'inside': [],
    'settings': {},
    'binds': [{'path': '/a', 'target': '/b', 'why': 'w', 'origin': 'approach pure'}],
}


@pytest.fixture
def explain(tmp_path):
    """Return a function that writes settings.json (text or data) and runs osu-explain."""
    (tmp_path / 'bin').mkdir()
    (tmp_path / 'bin' / 'osu-explain').symlink_to(COMMAND)
    install_proof(str(tmp_path))

    def call(content):
        path = tmp_path / 'settings.json'
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return run([PYTHON_36 or sys.executable, tmp_path / 'bin' / 'osu-explain'])

    return call


def test_valid_settings_file_is_printed(explain):
    done = explain(GOOD)
    assert done.returncode == 0 and 'osu-container/pure' in done.stdout and 'x-25' in done.stdout, (
        done.stderr
    )


@pytest.mark.parametrize('content', [b'\xff\xfe', b'[' * 100000, {**GOOD, 'title': 7}])
def test_a_damaged_file_is_one_line_with_the_remedy(explain, content):
    done = explain(content)
    assert (done.returncode, done.stdout, done.stderr.count('\n')) == (1, '', 1)
    assert 'settings.json' in done.stderr and 'eb --rebuild' in done.stderr


SCRIPT = SCRIPTS / 'make-squashfs'
FOLDER, IMAGE = 'user-software', 'user-software.squashfs'


@pytest.fixture
def installed_make_squashfs(tmp_path):
    """Return a function that runs make-squashfs in an installation with software of the user."""
    root = tmp_path / 'a folder'
    (root / 'bin').mkdir(parents=True)
    shutil.copy(SCRIPT, root / 'bin' / 'make-squashfs')
    (root / 'bin' / 'unmake-squashfs').symlink_to('make-squashfs')
    (root / FOLDER / 'venv' / 'bin').mkdir(parents=True)
    (root / FOLDER / 'venv' / 'bin' / 'tool').write_bytes(os.urandom(300000))
    (root / FOLDER / 'venv' / 'bin' / 'tool').chmod(0o755)
    (root / FOLDER / 'venv' / 'link').symlink_to('bin/tool')

    def call(name, *arguments, **kwargs):
        return run([root / 'bin' / name, *arguments], **kwargs)

    call.root = root
    return call


def read_user_software(root):
    """Return {path: (content or target of a link, mode)} of the user's software."""
    found = {}
    for path in sorted(root.glob('user-software*')):
        for one in [path, *sorted(path.rglob('*'))]:
            found[str(one.relative_to(root))] = (
                os.readlink(one) if one.is_symlink() else one.is_file() and one.read_bytes(),
                one.lstat().st_mode,
            )
    return found


def test_packing_and_unpacking_preserves_the_files(installed_make_squashfs):
    before = read_user_software(installed_make_squashfs.root)
    done = installed_make_squashfs('make-squashfs')
    assert done.returncode == 0 and list(read_user_software(installed_make_squashfs.root)) == [
        IMAGE
    ], done.stderr
    assert str(installed_make_squashfs.root / IMAGE) in done.stdout
    done = installed_make_squashfs('unmake-squashfs')
    assert done.returncode == 0 and read_user_software(installed_make_squashfs.root) == before, (
        done.stderr
    )


@pytest.mark.parametrize(
    'name, change',
    [
        ('make-squashfs', lambda root: shutil.rmtree(root / FOLDER)),
        ('make-squashfs', lambda root: (root / IMAGE).touch()),
        (
            'unmake-squashfs',
            lambda root: (
                (root / FOLDER).rename(root / 'away') and (root / IMAGE).write_text('damaged')
            ),
        ),
    ],
)
def test_a_failure_changes_nothing(installed_make_squashfs, name, change):
    change(installed_make_squashfs.root)
    before = read_user_software(installed_make_squashfs.root)
    done = installed_make_squashfs(name)
    assert (
        done.returncode == 1
        and done.stderr
        and read_user_software(installed_make_squashfs.root) == before
    )


@pytest.mark.parametrize(
    'name, program', [('make-squashfs', 'mksquashfs'), ('unmake-squashfs', 'unsquashfs')]
)
@pytest.mark.parametrize('sent', [signal.SIGTERM, signal.SIGKILL])
def test_an_interruption_loses_nothing(installed_make_squashfs, tmp_path, name, program, sent):
    """
    The terminal or the end of the job sends a signal to all processes while the program writes.
    """
    if name == 'unmake-squashfs':
        assert installed_make_squashfs('make-squashfs').returncode == 0
    before, path = read_user_software(installed_make_squashfs.root), tmp_path / 'path'
    path.mkdir()
    (path / program).write_text(
        f'#!/bin/bash\n{shutil.which(program)} "$@"\ntouch {tmp_path}/half; exec sleep 60\n'
    )
    (path / program).chmod(0o755)
    process = subprocess.Popen(
        [str(installed_make_squashfs.root / 'bin' / name)],
        start_new_session=True,
        env={**os.environ, 'PATH': f"{path}:{os.environ['PATH']}"},
    )
    while not (tmp_path / 'half').exists():
        time.sleep(0.02)
    os.killpg(process.pid, sent)
    process.wait(20)
    left = read_user_software(installed_make_squashfs.root)
    assert process.returncode and {key: left[key] for key in before} == before
    if sent != signal.SIGKILL:
        assert left == before
    done = installed_make_squashfs(name)
    assert done.returncode == 0 and not list(installed_make_squashfs.root.glob('*.part')), (
        done.stderr
    )
