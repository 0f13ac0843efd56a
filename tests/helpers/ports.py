"""Prefixes with osu-port: with ports and an mpi4py that only print, or with the real ones and an MPI from PyPI."""
import os
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

from osu_container.image import catalogue, fetch
from tests.helpers.machine import PROJECT

OSU_PORT = PROJECT / 'easyconfigs/o/osu-native/osu-port'
PYTHON = '/usr/bin/python3'  # of osu-port's first line

FAKE_MPI = """\
import os
class World:
    def Get_rank(self): return int(os.environ.get('FAKE_RANK', '0'))
    def Abort(self, code): print('aborted', code); raise SystemExit(code)
class MPI:
    COMM_WORLD = World()
    started = False
import sys
sys.modules['mpi4py.MPI'] = MPI
"""
FAKE_PACKAGE = """\
__version__ = '0.0'
class rc: threads = True
def __getattr__(name):
    if name != 'MPI': raise AttributeError(name)
    import os, mpi4py.fake
    if not mpi4py.fake.MPI.started:
        mpi4py.fake.MPI.started = True
        print('MPI started, threads', rc.threads, os.environ['MPI4PY_LIBMPI'])
    return mpi4py.fake.MPI
"""
FAKE_PORT = """\
def {name}(BENCHMARH='title', {arguments}, MAX_MSG_SIZE=1 << 22):
    print({{key: value for key, value in sorted(locals().items())}})
    {last}
"""


def run(command, **environment):
    """Run a command; return (exit code, stdout, stderr)."""
    done = subprocess.run([str(part) for part in command], env={**os.environ, **environment}, capture_output=True,
                          text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def prefix_with(folder, names):
    """Make the tree that osu-port expects, with a space in its path. Return its prefix."""
    prefix = folder / 'a prefix'
    for below in ('bin', 'libexec/ports', 'lib/python/mpi4py'):
        (prefix / below).mkdir(parents=True)
    shutil.copy(OSU_PORT, prefix / 'libexec' / 'osu-port')
    for name in names:
        (prefix / 'bin' / name).symlink_to('../libexec/osu-port')
    return prefix


def tiny_prefix(folder):
    """Make a prefix with ports that print their arguments, one of which fails. Return it."""
    prefix = prefix_with(folder, ['osu_bw', 'osu_multi_lat', 'osu_barrier', 'osu_fails', 'osu_unknown'])
    ports = prefix / 'libexec' / 'ports'
    both = 'skip=10, loop=100, skip_large=2, loop_large=20'
    small = 'skip_small=10, loop_small=100, skip_large=2, loop_large=20'
    for name, arguments, last in (('osu_bw', both, ''), ('osu_multi_lat', small, ''), ('osu_barrier', both, ''),
                                  ('osu_fails', both, '1 / 0')):
        (ports / f'{name}.py').write_text(FAKE_PORT.format(name=name, arguments=arguments, last=last))
    package = prefix / 'lib/python/mpi4py'
    (package / '__init__.py').write_text(FAKE_PACKAGE)
    (package / 'fake.py').write_text(FAKE_MPI)
    version = run([PYTHON, '-c', 'import sys; print("%d%d" % sys.version_info[:2])'])[1].strip()
    (package / f'MPI.mpich.cpython-{version}-x86_64-linux-gnu.so').write_text('')
    return prefix


def sources(*keys):
    """Return the files (list of Path) of keys of SOURCES; what is not in sources/ comes from PyPI."""
    fetch.fetch(list(keys), PROJECT / 'sources', PROJECT / '.workstation' / 'log' / 'image-fetch.log')
    return [PROJECT / 'sources' / catalogue.SOURCES[key]['file'] for key in keys]


def real_prefix(folder, names):
    """Make a prefix with the real ports and mpi4py for PYTHON, and commands osu_<name> for names. Return it."""
    python = run([PYTHON, '-c', 'import sys; print("%d.%d" % sys.version_info[:2])'])[1].strip()
    source, wheel = sources('mpi4py-source', f'mpi4py-{python}')
    prefix = prefix_with(folder, [f'osu_{name}' for name in names])
    with tarfile.open(source) as archive:
        for member in archive:
            if '/demo/osu_' in member.name:
                target = prefix / 'libexec' / 'ports' / Path(member.name).name
                target.write_bytes(archive.extractfile(member).read())
    zipfile.ZipFile(wheel).extractall(prefix / 'lib' / 'python')
    return prefix


def mpich(folder):
    """Unpack MPICH 4.2.3 below folder; return its folder."""
    zipfile.ZipFile(sources('mpich-4.2.3')[0]).extractall(folder / 'mpich')
    installed = folder / 'mpich' / 'mpich-4.2.3.data' / 'data'
    for program in (installed / 'bin').iterdir():
        program.chmod(0o755)
    return installed


def mpiexec(prefix, mpich, number, name, *arguments, **environment):
    """Run a port of prefix on ranks of this machine by MPICH (its folder); return (exit code, stdout, stderr)."""
    libraries = ':'.join(filter(None, [environment.pop('LD_LIBRARY_PATH', ''), str(mpich / 'lib')]))
    return run([mpich / 'bin' / 'mpiexec', '-n', number, prefix / 'bin' / name, *arguments],
               LD_LIBRARY_PATH=libraries, FI_PROVIDER='tcp', **environment)
