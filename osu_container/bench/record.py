"""
Collect the facts that are needed to repeat a run: machine, versions, files, variables.

Every fact is read from its source (the environment with the loaded module, files, or the output of
--version), not from a setting.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from osu_container.base.files import read_text
from osu_container.image.libraries import compute_sha256
from osu_container.install.call_settings import NAME as CALL_SETTINGS


def read_command_output(
    command: list[str], *, env: Mapping[str, str] | None = None, cwd: str | Path | None = None
) -> str | None:
    """Return the stdout of a command without surrounding blanks, None if the command fails."""
    try:
        process = subprocess.run(
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
    return process.stdout.strip() if process.returncode == 0 else None


def read_git_state(project: Path) -> dict[str, str | bool | None]:
    """
    Return the Git commit of the folder `project`, and whether files differ from the commit.

    The keys are 'commit' and 'changed'. Both values are None if Git is missing or the folder is no
    Git repository.
    """
    status = read_command_output(['git', 'status', '--porcelain'], cwd=project)
    return {
        'commit': read_command_output(['git', 'rev-parse', 'HEAD'], cwd=project),
        'changed': None if status is None else bool(status),
    }


def describe_machine() -> dict[str, Any]:
    """Return the kernel, processor, cores, memory and operating system of this machine."""
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


def resolve_runtime(env: Mapping[str, str]) -> str:
    """
    Return the command of the container runtime that the loaded module uses.

    env: environment variables after loading the module
    """
    try:
        text = Path(env['OSU_MODULE_ROOT'], CALL_SETTINGS).read_text()
    except (KeyError, OSError):
        text = ''
    match = re.search(r'^runtime (.+)$', text, re.M)
    return match.group(1) if match else 'apptainer'


def collect_versions(env: Mapping[str, str]) -> dict[str, str | None]:
    """
    Return {tool: version} of EasyBuild, Lmod, the container runtime, Slurm and Python.

    A version is None if the tool is missing or reports no version.
    """

    def ask(*command: str) -> str | None:
        return read_command_output([*command], env=env)

    easybuild = re.search(r'EasyBuild (\S+)', ask('eb', '--version') or '')
    return {
        'easybuild': easybuild.group(1) if easybuild else None,
        'lmod': env.get('LMOD_VERSION'),
        'runtime': ask(resolve_runtime(env), '--version'),
        'slurm': ask('srun', '--version'),
        'python': platform.python_version(),
    }


def describe_file(path: str | Path, *, text: bool = False) -> dict[str, str]:
    """
    Return the path and the sha256 of a file as a dict; with text=True also the content.

    Raises OSError if the file cannot be read.
    """
    entry = {'path': str(path), 'sha256': compute_sha256(path)}
    if text:
        entry['text'] = Path(path).read_text()
    return entry


def describe_image(path: str | Path, runtime: str = 'apptainer') -> dict[str, Any]:
    """
    Return the path, the sha256 and the labels of a SIF file as a dict.

    The labels are None if the container runtime cannot read the labels. Raises OSError if the SIF
    file cannot be read.
    """
    inspected = read_command_output([runtime, 'inspect', '--json', str(path)])
    try:
        labels = json.loads(inspected or '')['data']['attributes']['labels']
    except (TypeError, KeyError, ValueError):
        labels = None
    return dict(describe_file(path), labels=labels)


def get_timestamp() -> str:
    """Return the current UTC time in the ISO 8601 format, to the second."""
    return datetime.now(timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ')
