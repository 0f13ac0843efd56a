"""
What a machine without network needs beside the clone: mpi4py's ports, and an MPI that takes GPU memory.

The wheel of Intel MPI is the only MPI of PyPI that does (measured, 2026-11-23: MPIX_Query_cuda_support() is 0 in those
of MPICH 3.4 to 5.0 and Open MPI 5.0, and 1 in this one under I_MPI_OFFLOAD=1). It asks the driver library of CUDA
alone. It has no libfabric: that of MPICH's wheel serves it.
"""
import re
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

from osu_container.core.installing.native import install_ports
from osu_container.image import catalogue, fetch
from osu_container.places import PROJECT, STATE
from osu_container.recipes.versions import SOURCES

from . import GpuRunError

#: Where it is made, and unpacked again
FOLDER = STATE / 'gpu'
PACKED = STATE / 'gpu.tar.xz'
#: What is carried has to pass the lender's door (bytes)
LIMIT = 64 << 20
#: Of Intel MPI's wheel: what starts programs and what they run with, and the licence, which goes with it
INTEL = ('lib/libmpi.so.12', 'bin/mpiexec.hydra', 'bin/hydra_bstrap_proxy', 'bin/hydra_pmi_proxy',
         'opt/mpi/etc/tuning_generic', 'share/doc/mpi/licensing/')
LAUNCHER = PROJECT / 'easyconfigs/o/osu-native/osu-port'
#: Of which Pythons mpi4py is carried: nobody knows which one is there
PYTHONS = sorted((key for key in SOURCES if re.match(r'mpi4py-\d', key)), key=lambda key: int(key.split('.')[1]))


def make(folder=FOLDER, sources=PROJECT / 'sources'):
    """
    Make the folder (Path) from sources, which are downloaded where they are missing. Return it.

    Raises ImageError if a source cannot be had.
    """
    keys = ['mpi4py-source', *PYTHONS, 'impi-rt', 'mpich-4.2.3']
    fetch.fetch(keys, sources, STATE / 'log' / 'gpu-fetch.log')
    path = {key: Path(sources) / catalogue.SOURCES[key]['file'] for key in keys}
    part = folder.with_name(f'{folder.name}.part')
    shutil.rmtree(part, ignore_errors=True)
    install_ports({'archive': path['mpi4py-source'], 'wheel': path[PYTHONS[-1]], 'launcher': LAUNCHER},
                  str(part / 'osu'), 'osu_', '/nowhere/libmpi.so.12')
    (part / 'osu' / 'lib' / 'libmpi.so.12').unlink()  # MPI comes by LD_LIBRARY_PATH, natively and in a container
    for key in PYTHONS[:-1]:
        _unpack(path[key], part / 'osu' / 'lib' / 'python', r'(mpi4py/MPI\.mpich\..*\.so)$')
    for file in (part / 'osu' / 'lib' / 'python' / 'mpi4py').glob('MPI.openmpi.*'):
        file.unlink()
    _unpack(path['impi-rt'], part / 'intel-mpi', rf".*/data/((?:{'|'.join(map(re.escape, INTEL))}).*)$")
    _unpack(path['mpich-4.2.3'], part / 'intel-mpi', r'.*/data/(lib/)mpich/(libfabric\.so\.1)$')
    for program in (part / 'intel-mpi' / 'bin').iterdir():
        program.chmod(0o755)
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)
    return folder


def _unpack(wheel, folder, wanted):
    """Unpack of a wheel (Path) what the expression wanted finds into folder; its groups are the path there."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            found = re.match(wanted, name)
            if found and not name.endswith('/'):
                target = folder / ''.join(found.groups())
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(name))


def pack(folder=FOLDER, packed=PACKED, limit=LIMIT):
    """
    Pack the folder (Path) into one file (Path) and return its size in bytes.

    Raises GpuRunError if it is larger than limit (bytes).
    """
    part = packed.with_name(f'{packed.name}.part')
    with tarfile.open(part, 'w:xz') as archive:
        archive.add(folder, folder.name)
    size = part.stat().st_size
    if size > limit:
        part.unlink()
        raise GpuRunError(f"{packed} has {size / 1e6:.0f} MB, at most {limit / 1e6:.0f} MB can be carried: leave out "
                          "what the machine has already")
    part.rename(packed)
    return size


def find(folder=FOLDER, packed=PACKED):
    """
    Return the folder (Path): as it is, else unpacked, else made from downloads.

    Raises GpuRunError if it is neither here nor can be made.
    """
    launcher = folder / 'osu' / 'libexec' / LAUNCHER.name
    if not launcher.is_file() and packed.is_file():
        folder.parent.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(['tar', '-xJf', packed, '-C', folder.parent], capture_output=True, text=True)
        if done.returncode:
            raise GpuRunError(f"{packed} cannot be unpacked: {done.stderr.strip()}. Make it again: make gpu-pack")
    if not launcher.is_file():
        try:
            make(folder)
        except (fetch.ImageError, OSError) as err:
            raise GpuRunError(f"there is neither {folder} nor {packed}, and it cannot be made here: {err}. Make "
                              "it where there is a network (make gpu-pack), and carry the file here") from err
    if launcher.read_bytes() != LAUNCHER.read_bytes():
        shutil.copy(LAUNCHER, launcher)
    return folder
