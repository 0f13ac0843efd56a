"""
Test that osu-entrypoint replaces the image's libfabric, or prints why it cannot.

The entrypoint runs in a folder as its root. This folder contains bash, coreutils, the loader and
the C library of this machine, and small MPI and network libraries that the test compiles. So the
real loader decides, and the program really loads the chosen library.
"""

import ctypes
import os
import re
import shutil
import signal
import stat
import subprocess
import time

import pytest

from osu_container.data.approaches import APPROACHES
from osu_container.data.sites import BASES
from tests.helpers.elf_folder import ElfFolder
from tests.helpers.machine import PROJECT, run

FOLDER = PROJECT / 'container-recipes' / 'entrypoint'
TOOLS = (
    'bash cat chmod dirname ln ls mkdir mktemp mv readlink rm sha256sum sleep sort stat tr true env'
).split()
ENTRYPOINT, PROGRAM = '/opt/entrypoint/osu-entrypoint', '/opt/osu/bin/osu_which'
#: Version of libfabric in the image, and on the host
OWN, HOST = '1.22', '1.25'
_CLONE_NEWUSER = 0x10000000

MAIN = '''#include <stdio.h>
int used_version(void);
int main(int count, char **arguments)
{
    printf("libfabric %d.%d", used_version() >> 16, used_version() & 0xffff);
    for (int number = 1; number < count; number++)
        printf("|%s", arguments[number]);
    puts("");
    return count;
}
'''
USES = 'int fi_version(void);\nint used_version(void) { return fi_version(); }\n'


def make_chroot_hook(root):
    """
    Return a function for preexec_fn that changes the root folder of the process to `root`.

    An ordinary user gets a new user namespace.
    """

    def call():
        if os.geteuid() != 0:
            user, group = os.geteuid(), os.getegid()
            if ctypes.CDLL(None, use_errno=True).unshare(_CLONE_NEWUSER) != 0:
                raise OSError(ctypes.get_errno(), 'unshare')
            for name, text in (
                ('setgroups', 'deny'),
                ('uid_map', f'0 {user} 1'),
                ('gid_map', f'0 {group} 1'),
            ):
                with open(f'/proc/self/{name}', 'w') as handle:
                    handle.write(text)
        os.chroot(root)
        os.chdir('/')

    return call


class World(ElfFolder):
    """The root folder of a container with the entrypoint of this project."""

    def environment(self, variables):
        """Return the environment of a program in the container; variables with None are unset."""
        variables_of_process = {
            'PATH': '/bin:/usr/bin',
            'HOSTNAME': 'node7',
            'LD_ORIGIN_PATH': '/bin',
            **variables,
        }
        return {name: value for name, value in variables_of_process.items() if value is not None}

    def call(self, *command, **variables):
        """Run the entrypoint with a command and variables; return the CompletedProcess."""
        try:
            return run(
                [ENTRYPOINT, *command],
                preexec_fn=make_chroot_hook(self.root),
                env=self.environment(variables),
                timeout=60,
            )
        except subprocess.SubprocessError:
            pytest.skip(
                'this user has no permission to create a user namespace, which the test needs'
            )

    def start(self, *command, **variables):
        """Start the entrypoint with a command and variables; return the Popen."""
        return subprocess.Popen(
            [ENTRYPOINT, *command],
            preexec_fn=make_chroot_hook(self.root),
            env=self.environment(variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def list_link_folders(self, folder='/tmp'):
        """Return the existing folders with links, as a list of Path."""
        return sorted(self.resolve_path(folder).glob('osu-swap-*'))

    def bind_host(self, libfabric, *others):
        """Bind a host libfabric to /host/lib and other libraries to /host/usr; return self."""
        self.copy(libfabric, '/host/lib/libfabric.so.1')
        for library in others:
            self.copy(library, f'/host/usr/lib64/{library.name}')
        return self


@pytest.fixture(scope='session')
def system(tmp_path_factory):
    """Return a World without MPI, which other fixtures copy."""
    world = World(tmp_path_factory.mktemp('system') / 'root')
    world.add_libc()
    for name in TOOLS:
        path = shutil.which(name)
        world.copy(path, f'/bin/{name}')
        for library in re.findall(r'(/\S+) \(0x', run(['ldd', path]).stdout):
            world.copy(library)
    for path in ('/tmp', '/dev/shm', '/proc', '/usr/bin'):
        world.resolve_path(path).mkdir(parents=True)
        world.resolve_path(path).chmod(0o1777)
    world.write('/dev/null', '')
    for name in ('osu-entrypoint', 'defaults'):
        world.copy(str(FOLDER / name), f'/opt/entrypoint/{name}')
    return world


@pytest.fixture
def world(system, parts, tmp_path):
    """Return a container whose MPI needs FABRIC_1.7; the image's libfabric has this version."""
    shutil.copytree(system.root, tmp_path / 'root', copy_function=os.link, symlinks=True)
    world = World.__new__(World)
    world.root, world.stubs = tmp_path / 'root', tmp_path / 'stubs'
    mpi = parts.mpi(needs=7, more=USES)
    world.copy(mpi, '/usr/lib/libmpi.so.12')
    world.copy(parts.fabric(f'{OWN}.0', needed=()), '/usr/lib/libfabric.so.1')
    world.executable(PROGRAM, MAIN, ['/usr/lib/libmpi.so.12'])
    return world


@pytest.fixture
def world_with_newer_host(world, parts):
    """
    Return the same container with a newer host libfabric.

    The host's libfabric needs libcxi and a library that the image lacks.
    """
    needed = ('libcxi.so.1', 'libhostonly.so.2')
    return world.bind_host(
        parts.fabric(f'{HOST}.0', newest=9, needed=needed), *(parts.plain(name) for name in needed)
    )


# ---- a swap that works


def test_the_program_runs_with_the_libfabric_of_the_host(world_with_newer_host):
    result = world_with_newer_host.call(PROGRAM, 'a b', '', '*')
    assert result.stdout == f'libfabric {HOST}|a b||*\n' and result.returncode == 4
    assert re.fullmatch(
        r'osu-entrypoint: node7: .*/host/usr/lib64/libcxi\.so\.1\b.*/host/lib/libfabric\.so\.1\b'
        r'.*\b1\b.*\n',
        result.stderr,
    )


def test_only_missing_libraries_and_libcxi_are_injected(world_with_newer_host, parts):
    world_with_newer_host.copy(parts.plain('libcxi.so.1'), '/usr/lib/libcxi.so.1')
    world_with_newer_host.copy(parts.plain('libhostonly.so.2'), '/usr/lib/libhostonly.so.2')
    world_with_newer_host.copy(parts.plain('libother.so.3'), '/host/usr/lib64/libother.so.3')
    result = world_with_newer_host.call('bash', '-c', 'ls "${LD_LIBRARY_PATH%%:*}"')
    assert result.stdout.split() == ['complete', 'libcxi.so.1', 'libfabric.so.1'], result


# ---- a swap that is refused


def make_unfit_host_case(name):
    """Return a function that makes the host unsuitable, and the expected texts."""
    return {
        'nothing bound': (lambda world, parts: None, ['/host/lib']),
        'empty folder': (
            lambda world, parts: world.write('/host/lib/x', ''),
            ['libfabric.so.1', '/host/lib'],
        ),
        'link out of it': (
            lambda world, parts: world.link(
                '/host/lib/libfabric.so.1', '/opt/cray/libfabric.so.1.25.0'
            ),
            ['/host/lib/libfabric.so.1', '/opt/cray/libfabric.so.1.25.0'],
        ),
        'too old': (
            lambda world, parts: world.bind_host(parts.fabric('1.17.0', newest=6, needed=())),
            ['FABRIC_1.7', '/usr/lib/libmpi.so.12', 'FABRIC_1.6'],
        ),
        'dependency missing': (
            lambda world, parts: world.bind_host(parts.fabric(needed=('libhostonly.so.2',))),
            ['libhostonly.so.2', 'OSU_SWAP_PATH'],
        ),
        'function missing': (
            lambda world, parts: world.bind_host(compile_incomplete_libfabric(parts)),
            ['/usr/lib/libmpi.so.12', 'fi_version'],
        ),
        'no library': (
            lambda world, parts: world.write(
                '/host/lib/libfabric.so.1', 'INPUT(libfabric.so.1.25.0)'
            ),
            ['libfabric.so.1'],
        ),
    }[name]


def compile_future_libc(parts):
    """Return the path of a libc.so.6 with a symbol version that no C library has yet."""
    return parts.compile_versioned('libc.so.6', 'GLIBC_9.9', symbol='of_the_future')


def compile_incomplete_libfabric(parts):
    """Return a libfabric.so.1 with all symbol versions, but without one of its functions."""
    return parts.compile_versioned(
        'libfabric.so.1', *(f'FABRIC_1.{number}' for number in range(10)), symbol='of_{}'
    )


BROKEN = [
    'nothing bound',
    'empty folder',
    'link out of it',
    'too old',
    'dependency missing',
    'function missing',
    'no library',
]


@pytest.mark.parametrize('name', BROKEN)
def test_required_swap_that_fails_is_an_error_with_reason(world, parts, name):
    change, texts = make_unfit_host_case(name)
    change(world, parts)
    result = world.call(PROGRAM, OSU_SWAP='require')
    assert (result.returncode, result.stdout) == (78, '')
    for text in [*texts, 'OSU_SWAP=0']:
        assert text in result.stderr, result
    assert [path for path in world.list_link_folders() if re.search(r'\.\w{10}$', path.name)] == []


def test_optional_swap_falls_back_to_the_image_libfabric(world, parts):
    change, texts = make_unfit_host_case('too old')
    change(world, parts)
    result = world.call(PROGRAM)
    assert result.stdout == f'libfabric {OWN}\n' and result.returncode == 1
    assert texts[0] in result.stderr and result.stderr.count('\n') == 1


def test_newer_host_libraries_are_refused_before_the_start(world, parts, tmp_path):
    """If the C library is older than the host's libraries need, a program fails at its start."""
    source = 'void of_the_future(void);\nvoid user(void) { of_the_future(); }\n'
    library = parts._compile_library(
        'libhostonly.so.2', source=source, needed=[compile_future_libc(parts)]
    )
    world.bind_host(parts.fabric(needed=('libhostonly.so.2',)), library)
    result = world.call(PROGRAM, OSU_SWAP='require')
    assert result.returncode == 78 and re.search(
        r'libhostonly\.so\.2 .*GLIBC_9\.9\b.* /.*GLIBC_2\.', result.stderr
    )


# ---- choices of the user


def test_swap_0_uses_the_image_libfabric(world_with_newer_host):
    result = world_with_newer_host.call(PROGRAM, OSU_SWAP='0')
    assert (result.stdout, result.stderr, result.returncode) == (f'libfabric {OWN}\n', '', 1)
    assert world_with_newer_host.list_link_folders() == []


def test_signals_and_exit_codes_are_those_of_the_program(world_with_newer_host):
    assert world_with_newer_host.call('bash', '-c', 'exit 7').returncode == 7
    process = world_with_newer_host.start('bash', '-c', 'echo $$; exec sleep 60')
    assert int(process.stdout.readline()) == process.pid
    time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == -signal.SIGTERM
    process.stdout.close()
    process.stderr.close()


# ---- the folder with the links


def test_link_folder_is_private_and_reused(world_with_newer_host):
    for _ in range(3):
        assert world_with_newer_host.call('true').returncode == 0
    (folder,) = world_with_newer_host.list_link_folders()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700 and folder.stat().st_uid == os.geteuid()
    assert os.readlink(folder / 'libfabric.so.1') == '/host/lib/libfabric.so.1'


@pytest.mark.parametrize('state', ['a link', 'open to others', 'not whole', 'a file'])
def test_folder_of_another_user_is_not_used(world_with_newer_host, state):
    world_with_newer_host.call('true')
    (folder,) = world_with_newer_host.list_link_folders()
    if state == 'open to others':
        folder.chmod(0o777)
    elif state == 'not whole':
        (folder / 'complete').unlink()
    else:
        folder.rename(folder.with_name('elsewhere'))
        if state == 'a link':
            folder.symlink_to('elsewhere')
        else:
            folder.write_text('')
    result = world_with_newer_host.call(
        'bash', '-c', 'echo "${LD_LIBRARY_PATH%%:*}"', OSU_SWAP='require'
    )
    assert result.returncode == 0 and result.stdout.strip() != f'/tmp/{folder.name}', result
    assert re.fullmatch(r'/tmp/osu-swap-\d+\.\w{10}\n', result.stdout)


# ---- variables


def test_entrypoint_defaults_equal_the_data():
    rows = [
        line.split()
        for line in (FOLDER / 'defaults').read_text().splitlines()
        if line and line[0] != '#'
    ]
    known_conditions = {'cxi', 'gpu', 'libfabric < 2.4', 'libfabric >= 1.21'}
    assert {(name, value) for _, name, value in rows} == {
        (entry['name'], entry['value'].format(provider='cxi'))
        for entry in APPROACHES['swap']['variables'] + BASES['lumi']['variables']
        if entry['name'].startswith(('FI_', 'NCCL_'))
        and set(entry.get('only', [])) <= known_conditions
        and not entry.get('setting')
        and entry['name'] != 'NCCL_SOCKET_IFNAME'
    }  # the number of network cards differs between systems
    assert all('cxi' in conditions.split(',') for conditions, _, _ in rows)


def format_show_command(*names):
    """Return the command that prints the values of variables, or unset."""
    return ['bash', '-c', ' '.join(['echo', *(f'"${{{name}-unset}}"' for name in names)])]


def test_variables_are_set_unless_the_user_sets_them(world_with_newer_host):
    names = ['FI_PROVIDER', 'FI_CXI_RDZV_THRESHOLD', 'NCCL_CROSS_NIC']
    assert (
        world_with_newer_host.call(*format_show_command(*names), SLURM_STEP_NUM_NODES='2').stdout
        == 'unset unset unset\n'
    )
    world_with_newer_host.write('/sys/class/cxi/cxi0', '')
    assert world_with_newer_host.call(*format_show_command(*names)).stdout == 'unset 16384 unset\n'
    result = world_with_newer_host.call(
        *format_show_command(*names), SLURM_STEP_NUM_NODES='2', FI_CXI_RDZV_THRESHOLD=''
    )
    assert result.stdout == 'cxi  unset\n'
    assert result.stderr.endswith(' FI_PROVIDER=cxi FI_CXI_RDZV_EAGER_SIZE=2048\n')
    world_with_newer_host.write('/dev/kfd', '')
    assert (
        world_with_newer_host.call(*format_show_command(*names), NCCL_CROSS_NIC='0').stdout
        == 'unset 16384 0\n'
    )
    assert world_with_newer_host.call(*format_show_command(*names)).stdout == 'unset 16384 1\n'


# ---- the verdict on images


def read_runscript(*lines):
    """Return the text of a runscript with these lines."""
    return '\n'.join(['#!/bin/sh', *lines, ''])


OCI = ('OCI_ENTRYPOINT=\'{}\'', 'OCI_CMD=\'"/bin/bash"\'', 'exec "$@" # for more: /host')


@pytest.mark.parametrize(
    'files, word, text',
    [
        ({}, 'fails', '/host/lib'),
        (
            {'/.singularity.d/runscript': read_runscript(*OCI).replace('{}', '')},
            'fails',
            '/host/lib',
        ),
        (
            {
                '/.singularity.d/runscript': read_runscript('exec /opt/start "$@"'),
                '/opt/start': '#!/bin/sh\nexec "$@"\n',
            },
            'fails',
            '/.singularity.d/runscript, /opt/start',
        ),
        (
            {
                '/.singularity.d/runscript': read_runscript('exec /opt/start "$@"'),
                '/opt/start': b'\x7fELF\0\0/host',
            },
            'unknown',
            '/opt/start',
        ),
        # HPE's entrypoint, which starts another script of its folder
        (
            {
                '/.singularity.d/runscript': read_runscript(*OCI).replace(
                    '{}', '"/container/bin/entrypoint.sh"'
                ),
                '/container/bin/entrypoint.sh': '#!/bin/bash\n. $(dirname $0)/scrape.sh\nexec "$@"\n',
                '/container/bin/scrape.sh': 'find /host -name libfabric.so\n',
                '/bin/bash': '',
            },
            'works',
            '',
        ),
        (
            {
                '/.singularity.d/runscript': read_runscript(
                    'exec /opt/entrypoint/osu-entrypoint "$@"'
                ),
                '/opt/entrypoint/osu-entrypoint': (FOLDER / 'osu-entrypoint').read_text(),
                '/bin/bash': '',
            },
            'works',
            '',
        ),
    ],
)
def test_verdict_inspects_the_program_that_the_image_starts(tmp_path, parts, files, word, text):
    from tests.helpers.verdict_cases import World as VerdictWorld

    place = VerdictWorld(tmp_path, parts)
    place.more = [lambda: [place.image.write(path, content) for path, content in files.items()]]
    verdict = place.ask('swap')
    assert verdict.level == word, verdict.findings
    findings = [finding for finding in verdict.findings if finding.rule == 'entrypoint']
    if word != 'works':
        assert text in findings[0].reason
    else:
        assert not findings
