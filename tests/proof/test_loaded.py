"""
What a rank really loaded: the reader of releases on libraries with the layout of the real ones, and
the sampler on real processes that load such libraries.
"""

import contextlib
import json
import os
import subprocess
import sys
import time

import pytest

from osu_container.proof import judging, loaded
from osu_container.proof.judging import ProofError
from osu_container.proof.loaded import LibraryVersion, read_library
from tests.helpers.machine import PROJECT, compile_library, list_command_lines, run

pytestmark = pytest.mark.system

RANK_PROOF = PROJECT / 'scripts' / 'rank-proof'

# initinfo.c of MPICH: strings one behind the other. zlib's release is a decoy; hwloc and others
# bring such strings in.
MPICH = r'''
const struct { char a[24], abi[8], date[32], version[8], b[8]; } info __attribute__((used)) =
    {"MPICH Version:      %%s\n", "16:3:4", "Wed Oct  2 09:35:21 AM CDT 2024", "%s", "1.2.13"};
'''
# fi_version() of libfabric and the string that fi_tostr() gives, among others
LIBFABRIC = r'''
const char *words[] = {"FI_MSWAP", "%s", "127.0.0.1", "1.2.13", "FI_NOTIFY"};
unsigned fi_version(void) { return %d << 16 | %d; }
'''


def compile_mpich(path, release='4.2.3', **options):
    return compile_library(path, soname='libmpi.so.12', source=MPICH % release, **options)


def compile_libfabric(path, release='1.22.0', number=(1, 22), **options):
    options.setdefault('soname', 'libfabric.so.1')
    return compile_library(
        path, source='#pragma GCC optimize("O2")\n' + LIBFABRIC % ((release,) + number), **options
    )


@pytest.fixture
def libraries(tmp_path):
    """Folder with a libmpi.so.12 (MPICH 4.2.3) that needs a libfabric.so.1 (1.22.0)."""
    folder = tmp_path / 'mpich' / 'lib'
    fabric = compile_libfabric(folder / 'libfabric.so.1')
    compile_mpich(folder / 'libmpi.so.12', needed=[fabric], rpath='$ORIGIN')
    return folder


def run_rank_proof(tmp_path, *program, **options):
    """
    Run program under rank-proof as rank 3; return (CompletedProcess, proof as dict), waiting for
    the sampler.
    """
    out = tmp_path / 'proof'
    environment = dict(
        os.environ, SLURM_PROCID='3', SLURMD_NODENAME='node2', **options.pop('variables', {})
    )
    done = run([RANK_PROOF, out, *program], env=environment, **options)
    end, found = time.monotonic() + 60, {'complete': False}
    while (
        not found['complete'] and time.monotonic() < end
    ):  # a busy machine keeps a sampler longer from its work
        judging.wait_for_files(out, 1)
        found = json.loads((out / 'rank-3.json').read_text())
    return done, found


def format_loading_command(*paths, seconds=1.0):
    """Command of a program that loads libraries, waits and ends with code 7."""
    return [
        sys.executable,
        '-c',
        'import ctypes, sys, time\nfor p in sys.argv[2:]: ctypes.CDLL(p)\n'
        'time.sleep(float(sys.argv[1]))\nsys.exit(7)',
        seconds,
        *paths,
    ]


def test_library_loaded_after_a_pause_is_in_the_proof(tmp_path, libraries):
    cxi = compile_library(tmp_path / 'libcxi.so.1')
    program = (
        'import ctypes, sys, time\nctypes.CDLL(sys.argv[1])\ntime.sleep(0.12)\nctypes.CDLL(sys.argv[2])\n'
        'time.sleep(1)'
    )
    _, found = run_rank_proof(
        tmp_path, sys.executable, '-c', program, libraries / 'libmpi.so.12', cxi
    )
    assert found['libraries']['libcxi']['path'] == str(cxi)


# ---- releases --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize('release', ['4.2.3', '4.3.0b1'])
def test_mpich_release_is_read_after_its_date(tmp_path, release):
    assert read_library(compile_mpich(tmp_path / 'libmpi.so.12', release))[0] == LibraryVersion(
        'MPICH', release
    )


def test_contradictory_libfabric_release_is_unknown(tmp_path):
    path = compile_libfabric(tmp_path / 'libfabric.so.1', '1.22.0', (1, 17))
    assert read_library(path)[0] == LibraryVersion('libfabric', None)


# ---- the sampler -----------------------------------------------------------------------------------------------------


def test_rank_outside_a_container_is_recorded(tmp_path, libraries):
    done, found = run_rank_proof(
        tmp_path,
        *format_loading_command(libraries / 'libmpi.so.12'),
        variables={'FI_PROVIDER': 'tcp'},
    )
    assert done.returncode == 7
    assert (found['rank'], found['node'], found['found'], found['container']) == (
        3,
        'node2',
        True,
        False,
    )
    assert found['variables']['FI_PROVIDER'] == 'tcp'
    mpi, fabric = found['libraries']['libmpi'], found['libraries']['libfabric']
    assert (mpi['family'], mpi['release'], mpi['where'], mpi['path']) == (
        'MPICH',
        '4.2.3',
        'host',
        str(libraries / 'libmpi.so.12'),
    )
    assert (fabric['family'], fabric['release'], fabric['host_path']) == (
        'libfabric',
        '1.22.0',
        str(libraries / 'libfabric.so.1'),
    )
    assert sorted(found['libraries']) == ['libfabric', 'libmpi']


def test_loaded_library_counts_not_its_neighbour(tmp_path, libraries):
    """libmpi carries RUNPATH, so LD_LIBRARY_PATH wins: the settings alone would not tell."""
    other = compile_libfabric(tmp_path / 'host' / 'libfabric.so.1', '2.5.1', (2, 5)).parent
    _, found = run_rank_proof(
        tmp_path,
        *format_loading_command(libraries / 'libmpi.so.12'),
        variables={'LD_LIBRARY_PATH': str(other)},
    )
    assert (
        found['libraries']['libfabric']['release'],
        found['libraries']['libfabric']['path'],
    ) == ('2.5.1', str(other / 'libfabric.so.1'))


def test_the_program_may_be_a_grandchild(tmp_path, libraries):
    script = tmp_path / 'wrapper'
    script.write_text('#!/bin/sh\n"$@"\nexit 5\n')
    script.chmod(0o755)
    done, found = run_rank_proof(
        tmp_path, script, script, *format_loading_command(libraries / 'libmpi.so.12')
    )
    assert done.returncode == 5 and found['found']
    assert found['pid'] != found['started_pid'] and found['executable'] == os.path.realpath(
        sys.executable
    )


def _open_files(pid):
    """
    Return what the descriptors of a process lead to; one that it closes meanwhile (a /proc file
    it read) is gone.
    """
    found = []
    for descriptor in os.listdir(f'/proc/{pid}/fd'):
        with contextlib.suppress(FileNotFoundError):
            found.append(os.readlink(f'/proc/{pid}/fd/{descriptor}'))
    return found


def test_the_sampler_holds_neither_streams_nor_pmi_descriptors(tmp_path):
    """srun waits for the end of the streams, a PMI server for the end of PMI_FD."""
    reader, writer = os.pipe()
    child = subprocess.Popen(
        [RANK_PROOF, tmp_path / 'proof', 'sleep', '2'],
        pass_fds=[writer],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    os.close(writer)
    sampler, descriptors, end = [], ['pipe:'], time.monotonic() + 1.5
    while time.monotonic() < end and any(
        name.startswith('pipe:') for name in descriptors
    ):  # Python starts first
        time.sleep(0.05)
        sampler = [
            process
            for process, line in list_command_lines().items()
            if process != child.pid and str(tmp_path / 'proof') in line
        ]
        descriptors = _open_files(sampler[0]) if sampler else descriptors
    assert len(sampler) == 1, 'the sampler runs'
    assert not [name for name in descriptors if name.startswith(('pipe:', 'socket:'))], descriptors
    parent = open(f'/proc/{sampler[0]}/stat').read().rpartition(')')[2].split()[1]
    assert parent != str(child.pid), 'the sampler is no child of the program'
    begin = time.monotonic()
    assert child.communicate()[0] == b'' and os.read(reader, 1) == b''
    os.close(reader)
    assert time.monotonic() - begin < 2.8
    assert os.path.exists(f'/proc/{sampler[0]}'), 'both ended while the sampler lived'
    end = time.monotonic() + 5
    while os.path.exists(f'/proc/{sampler[0]}') and time.monotonic() < end:
        time.sleep(0.05)
    assert not os.path.exists(f'/proc/{sampler[0]}'), 'the sampler ends by itself'


# ---- host or image, by mounts ----------------------------------------------------------------------------------------


#: Root of a container
ROOT = loaded.Mount('0:40', '/', '/')


def test_bound_file_is_recorded_with_its_host_path(tmp_path):
    path = tmp_path / 'libmpi.so.12'
    path.write_text('')
    mounts = [ROOT, loaded.Mount('254:0', str(path), '/opt/host-mpi/lib/libmpi.so.12')]
    assert loaded.resolve_origin(
        '/opt/host-mpi/lib/libmpi.so.12', str(path), mounts, [loaded.Mount('254:0', '/', '/')]
    ) == ('host', str(path))


def test_file_absent_from_its_mount_has_unknown_origin(tmp_path):
    path = tmp_path / 'libmpi.so.12'
    path.write_text('')
    mounts = [ROOT, loaded.Mount('254:0', '/nowhere', '/inject')]
    assert loaded.resolve_origin(
        '/inject/libmpi.so.12', str(path), mounts, [loaded.Mount('254:0', '/', '/')]
    ) == (None, None)


# ---- reading ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    'content, says',
    [
        (None, 'No such file'),
        ('{"form', 'Unterminated string'),
        ('{"format": 1, "found": false, "reason": "the program ended"}', 'the program ended'),
    ],
)
def test_a_rank_without_a_proof_is_an_error_that_names_the_file(tmp_path, content, says):
    (tmp_path / 'rank-0.json').write_text(
        '{"format": 1, "found": true, "rank": 0, "node": "node1", "container": false, "libraries": {}}'
    )
    if content:
        (tmp_path / 'rank-1.json').write_text(content)
    with pytest.raises(ProofError, match=says) as caught:
        judging.read_proofs(tmp_path, 2)
    assert str(tmp_path / 'rank-1.json') in str(caught.value)
