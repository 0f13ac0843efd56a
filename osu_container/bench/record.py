"""
Facts that a run is recorded with, so that it can be repeated: machine, versions, files, variables.

Facts come from the thing itself (the loaded environment, the files, the commands' own --version),
never from what a setting says should be there.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import subprocess
from datetime import datetime, timezone
from pathlib import Path

from osu_container.base.files import read_text
from osu_container.image.libraries import compute_sha256
from osu_container.install.call_settings import NAME as CALL_SETTINGS

#: Variables that decide how a run behaves, whoever set them
VARIABLES = re.compile(
    r'(FI_|MPIR_CVAR_|MPICH_|UCX_|OMPI_|PMIX_|PMI_|MPI4PY_|MPI_CONTAINER_|APPTAINER|SINGULARITY)|'
    r'SLURM_|(SIF([A-Z]*MIN[A-Z]*)?|CONTAINERROOT|LD_LIBRARY_PATH|LD_PRELOAD|PATH|MODULEPATH|LOADEDMODULES)$'
)


def read_command_output(command, *, env=None, cwd=None):
    """
    Return the standard output (str) of command (list of str), stripped; None if it is missing or
    fails.
    """
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors='replace',
            env=env,
            cwd=cwd,
            timeout=60,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def read_git_state(project):
    """
    Return {'commit': str or None, 'changed': bool or None}: the project's commit, and if files
    differ from it.
    """
    status = read_command_output(['git', 'status', '--porcelain'], cwd=project)
    return {
        'commit': read_command_output(['git', 'rev-parse', 'HEAD'], cwd=project),
        'changed': None if status is None else bool(status),
    }


def describe_machine():
    """
    Return what this machine is (dict): kernel, processor, cores, memory in bytes, operating
    system.
    """
    model = re.search(r'^model name\s*:\s*(.+)$', read_text('/proc/cpuinfo'), re.M)
    system = re.search(r'^PRETTY_NAME="?([^"\n]+)', read_text('/etc/os-release'), re.M)
    return {
        'kernel': platform.release(),
        'architecture': platform.machine(),
        'cpu': model.group(1) if model else platform.processor() or None,
        'cores': os.cpu_count(),
        'memory_bytes': os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES'),
        'system': system.group(1) if system else None,
    }


def resolve_runtime(env):
    """
    Return the command (str) of the container runtime of the module that is loaded in an
    environment (dict).
    """
    try:
        text = Path(env['OSU_MODULE_ROOT'], CALL_SETTINGS).read_text()
    except (KeyError, OSError):
        text = ''
    found = re.search(r'^runtime (.+)$', text, re.M)
    return found.group(1) if found else 'apptainer'


def collect_versions(env):
    """
    Return the versions (dict of str or None) of the tools that a shell with the environment env
    (dict) reaches.

    None means that the tool is absent or does not say.
    """

    def ask(*command):
        return read_command_output(command, env=env)

    easybuild = re.search(r'EasyBuild (\S+)', ask('eb', '--version') or '')
    return {
        'easybuild': easybuild.group(1) if easybuild else None,
        'lmod': env.get('LMOD_VERSION'),
        'runtime': ask(resolve_runtime(env), '--version'),
        'slurm': ask('srun', '--version'),
        'python': platform.python_version(),
    }


def describe_file(path, *, text=False):
    """
    Return {'path', 'sha256'} of the file path, with its 'text' if that is asked for.

    Raises OSError if it cannot be read.
    """
    entry = {'path': str(path), 'sha256': compute_sha256(path)}
    if text:
        entry['text'] = Path(path).read_text()
    return entry


def describe_image(path, runtime='apptainer'):
    """
    Return {'path', 'sha256', 'labels'} of a SIF; labels (dict) is None if the runtime (a command)
    cannot read them.

    Raises OSError if the file cannot be read.
    """
    inspected = read_command_output([runtime, 'inspect', '--json', str(path)])
    try:
        labels = json.loads(inspected)['data']['attributes']['labels']
    except (TypeError, KeyError, ValueError):
        labels = None
    return dict(describe_file(path), labels=labels)


def select_variables(env):
    """Return the variables (dict) of the environment env that decide how a run behaves."""
    return {name: value for name, value in sorted(env.items()) if VARIABLES.match(name)}


def get_timestamp():
    """Return the time as text, UTC to the second, ISO 8601."""
    return datetime.now(timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ')


def hash_text(text):
    """Return the sha256 (hexadecimal digits) of a str."""
    return hashlib.sha256(text.encode()).hexdigest()
