"""
Approach bind puts the host's MPI into images of other MPIs: real images, C programs and Slurm of
two nodes.

The programs are compiled against the header and the library of each MPI, as their image would have
them. What they check is in tests/helpers/abi_program.c; that the host's MPI and libfabric ran, on
every rank, is what the proof shows.
"""

import hashlib
import json
import os
import re
import shutil
import zipfile

import pytest

from osu_container.image.elf import read_elf
from osu_container.image.image import Image
from osu_container.image.libraries import compute_sha256
from osu_container.image.sif import read_sif
from osu_container.proof.judging import find_expectation
from osu_container.verdict.site_choice import resolve_site
from tests.build.test_images_run import FOLDER, STANDARD_ABI, build_image  # noqa: F401, built is a fixture
from tests.helpers.machine import PROJECT, STATE, assert_success, fetch_source, run

#: Images of three MPIs are built for it; that bind replaces an MPICH has
#: tests/proof/test_proof_run.py
pytestmark = [pytest.mark.system, pytest.mark.usefixtures('slurm'), pytest.mark.nightly]

HOST = STATE / 'host'
#: What stands for the host's MPI, by the soname that programs ask for
LIBMPI, LIBMPI_ABI = (
    HOST / resolve_site('workstation')['libraries'][name]['value'].lstrip('/')
    for name in ('libmpi', 'libmpi_abi')
)
LIBFABRIC = HOST / resolve_site('workstation')['libraries']['libfabric']['value'].lstrip('/')
MPICC = LIBMPI.parent.parent / 'bin' / 'mpicc'
#: Version suffix of the module -> (image, wheels with header and library of its MPI)
IMAGES = {
    'mpich-3.4.3': ('osu-workstation-mpich-3.4.3-libfabric-1.22.0', ['mpich-3.4.3']),
    'mpich-4.2.3': ('osu-workstation-mpich-4.2.3-libfabric-1.22.0', ['mpich-4.2.3']),
    'intel-mpi': ('osu-abi-intel-mpi-2021.19.0-libfabric-1.17.0', ['impi-devel', 'impi-rt']),
}
STANDARD = 'standard-abi'
PROGRAM = PROJECT / 'tests' / 'helpers' / 'abi_program.c'
#: Seconds that a program runs: the samplers of the proof look several times by then
SECONDS = 1


def unpack_wheels(folder, keys):
    """
    Unpack headers and MPI libraries of wheels (keys of versions.py) into folder; return
    (include, lib).
    """
    for key in keys:
        with zipfile.ZipFile(fetch_source(key)) as wheel:
            for name in wheel.namelist():
                found = re.search(r'/data/(include/mpi\w*\.h|lib/libmpi(_abi)?\.so\.\d+)$', name)
                if found:
                    target = folder / found.group(1)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(wheel.read(name))
    return folder / 'include', folder / 'lib'


def compile_program(target, include, library, *options):
    """
    Compile the program against a folder of headers and a library, as a compiler wrapper does;
    return target.
    """
    done = run(
        [
            'gcc',
            '-Wall',
            '-Wextra',
            '-Werror',
            '-o',
            target,
            PROGRAM,
            f'-I{include}',
            library,
            '-Wl,--allow-shlib-undefined',
            *options,
        ]
    )
    assert_success(done)
    return target


def compile_by_wrapper(target, mpicc):
    """Compile the program by a compiler wrapper of the host's MPI; return target."""
    done = run([mpicc, '-o', target, PROGRAM])
    assert_success(done)
    return target


@pytest.fixture(scope='module')
def programs(tmp_path_factory):
    """
    Folder with a program for each MPI, by the version suffix of its module and by how it was
    compiled.
    """
    folder = tmp_path_factory.mktemp('programs')
    for name, (_, keys) in IMAGES.items():
        include, lib = unpack_wheels(folder / f'{name}.wheel', keys)
        compile_program(folder / name, include, lib / 'libmpi.so.12')
    intel = folder / 'intel-mpi.wheel'
    compile_program(
        folder / 'intel-mpi-abi',
        intel / 'include',
        intel / 'lib' / 'libmpi_abi.so.1',
        '-DMPI_ABI',
        '-include',
        'mpi_abi.h',
    )
    compile_by_wrapper(folder / 'mpich-5.0.2', MPICC)
    compile_by_wrapper(folder / STANDARD, MPICC.with_name('mpicc_abi'))
    return folder


@pytest.fixture(scope='module')
def standard_image(programs, build_image, make_sif, tmp_path_factory):  # noqa: F811, a fixture
    """Path of a SIF whose only command is linked with libmpi_abi.so.1, on MPICH 5.0.2."""
    base = build_image(STANDARD_ABI)  # it holds both kinds of library
    folder = tmp_path_factory.mktemp('standard') / 'image'
    done = run(['unsquashfs', '-n', '-no-xattrs', '-o', read_sif(str(base))[0], '-d', folder, base])
    assert (folder / 'opt' / 'mpich').is_dir(), done.stderr
    for part in (
        'opt/osu',
        'usr/share',
        'usr/lib/python3',
        'usr/lib/python3.11',
    ):  # to be packed in less time
        shutil.rmtree(folder / part, ignore_errors=True)
    (folder / 'opt' / 'own').mkdir()
    shutil.copy(programs / STANDARD, folder / 'opt' / 'own' / 'osu_own')
    return make_sif(folder.parent / f'{STANDARD}.sif', folder)


@pytest.fixture(scope='module')
def run_user_script(standard_image, build_image, tmp_path_factory):  # noqa: F811, a fixture
    """
    Function (script) that runs bash as a user has it after `. ./env.sh`, with osu-native and a bind
    for each image.

    They are in a folder of their own: other tests count the modules of theirs.
    """
    folder = tmp_path_factory.mktemp('bind')
    environment = {
        'PATH': '/usr/local/bin:/usr/bin:/bin',
        'HOME': os.environ['HOME'],
        'LC_ALL': 'C.UTF-8',
        'EASYBUILD_PREFIX': str(folder / 'prefix'),
        'EASYBUILD_SOURCEPATH': f'{standard_image.parent}:{FOLDER}',
    }

    def call(script, timeout=300, **variables):
        text = f'set -eu; . {PROJECT}/env.sh; set +eu\n{script}\n'
        return run(
            ['bash', '--norc', '-c', text], env={**environment, **variables}, timeout=timeout
        )

    standard_image.with_name(standard_image.name + '.sha256').write_text(
        f'{compute_sha256(str(standard_image))}\n'
    )
    images = {name: f'{build_image(image).stem}.sif' for name, (image, _) in IMAGES.items()}
    images[STANDARD] = standard_image.name
    for what in [
        'osu-native.eb',
        *(
            f'osu-container-bind.eb --try-amend=versionsuffix=-{name} --try-amend=image={image}'
            for name, image in images.items()
        ),
    ]:
        done = call(
            f'eb {what} -r --try-amend=build_image=no' if 'image' in what else f'eb {what} -r'
        )
        assert_success(done)
    return call


@pytest.fixture(params=IMAGES)
def name(request):
    """The images, each with its module installed."""
    return request.param


def run_proof(run_user_script, folder, module, command, ranks=4):
    """
    Run command (str) behind srun on two nodes under a module; return (what was printed, proofs
    by rank).
    """
    done = run_user_script(
        f'module load osu-container/bind-{module} && cd {folder} && APPTAINER_BIND=$APPTAINER_BIND,$PROGRAMS '
        f'osu-proof -o out -- srun -N2 -n{ranks} {command}',
        PROGRAMS=str(folder),
    )
    assert_success(done)
    files = sorted((folder / 'out').glob('*/rank-*.json'))
    assert len(files) == ranks
    return done, [json.loads(file.read_text()) for file in files]


def is_same_file(path, library):
    """A library of a proof is the file path, by its content."""
    return library['where'] == 'host' and hashlib.sha256(path.read_bytes()).hexdigest() == (
        library['sha256'] or compute_sha256(library['path'])
    )


def assert_host_was_used(proofs, libmpi):
    """
    Every rank, on both nodes, had the host's libmpi (Path) and its libfabric, and no other MPI.
    """
    assert {one['node'] for one in proofs} == {'node1', 'node2'}
    for one in proofs:
        assert one['container'] and one['complete'], one
        assert is_same_file(libmpi, one['libraries']['libmpi']), one['libraries']['libmpi']
        assert is_same_file(LIBFABRIC, one['libraries']['libfabric']), one['libraries']['libfabric']
        assert one['libraries']['libmpi']['release'] == '5.0.2'
        assert (one['network']['layer'], one['network']['provider']) == ('libfabric', 'tcp')
        assert (one['world']['size'], one['world']['tasks']) == (len(proofs), len(proofs))


def test_c_program_of_each_mpi_runs_with_the_host_mpi(run_user_script, programs, tmp_path, name):
    program = tmp_path / name
    shutil.copy(programs / name, program)
    assert 'libmpi.so.12' in read_elf(str(program)).needed
    done, proofs = run_proof(run_user_script, tmp_path, name, f'osu-exec {program} {SECONDS}')
    assert sorted(re.findall(r'^rank (\d) of 4: MPICH Version: +5\.0\.2 ', done.stdout, re.M)) == [
        '0',
        '1',
        '2',
        '3',
    ]
    assert_host_was_used(proofs, LIBMPI)
    assert find_expectation(proofs).approach == 'bind'


def test_program_of_any_linked_mpi_runs_in_any_image(run_user_script, programs, tmp_path):
    """Older and newer than the image's own MPI, and of another maker."""
    script = 'module load osu-container/bind-mpich-4.2.3\nexport APPTAINER_BIND=$APPTAINER_BIND,$PROGRAMS\n'
    others = ['mpich-3.4.3', 'intel-mpi', 'mpich-5.0.2']
    done = run_user_script(
        script
        + '\n'.join(
            f'srun -N2 -n4 osu-exec $PROGRAMS/{name} 0 || echo {name} failed' for name in others
        ),
        PROGRAMS=str(programs),
    )
    assert len(
        re.findall(r'^rank \d of 4: MPICH Version: +5\.0\.2 ', done.stdout, re.M)
    ) == 4 * len(others), done
    assert 'failed' not in done.stdout


# ---- the standard ABI of MPI 5


def test_standard_abi_program_uses_the_host_libmpi_abi(run_user_script, standard_image, tmp_path):
    with Image(str(standard_image), 'osu_') as image:
        assert {soname for _, soname, _ in image.list_mpi_libraries()} == {
            'libmpi.so.12',
            'libmpi_abi.so.1',
        }  # the program decides
    done, proofs = run_proof(run_user_script, tmp_path, STANDARD, f'osu_own {SECONDS}')
    assert len(re.findall(r'^rank \d of 4: MPICH Version: +5\.0\.2 ', done.stdout, re.M)) == 4
    assert_host_was_used(proofs, LIBMPI_ABI)
    told = run_user_script(
        f'module load osu-container/bind-{STANDARD}; osu-explain; module help osu-container 2>&1\n'
        f'grep -o "eb osu-container.*amend[^ )]*" $(module --redirect show osu-container/bind-{STANDARD} | '
        'grep -o "/[^ ]*lua")'
    )
    assert (
        f'eb osu-container-bind.eb -r --rebuild --try-amend=versionsuffix=-{STANDARD} --try-amend=image='
        f'{standard_image.name}'
    ) in told.stdout
    assert (
        '/opt/host-mpi/lib/libmpi_abi.so.1' in told.stdout
        and '/lib/libmpi.so.12:' not in told.stdout
    )
    assert 'MPICH 5.0.2' in told.stdout and 'libfabric 2.5.1' in told.stdout


def test_draft_abi_constants_differ_in_the_host_mpi(run_user_script, programs):
    """
    What rule 'draft ABI' is about: mpi_abi.h of Intel MPI 2021.19 has the numbers of
    MPI_ERRORS_RETURN and MPI_ERRORS_ABORT the other way round than MPI 5.0 and MPICH 5.0.2, so the
    program ends where it wants an error code.
    """
    done = run_user_script(
        f'module load osu-container/bind-{STANDARD}\nexport APPTAINER_BIND=$APPTAINER_BIND,$PROGRAMS\n'
        'srun -N2 -n2 osu-exec $PROGRAMS/intel-mpi-abi 0; echo "code $?"',
        PROGRAMS=str(programs),
    )
    assert 'rank 0 of 2' not in done.stdout and 'code 0' not in done.stdout
    assert 'Invalid rank has value 2' in done.stderr
