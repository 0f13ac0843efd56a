#!/usr/bin/env python3
"""
Render modules/<site>/podman-hpc/<approach>.yaml: what a module sets, as a module of podman-hpc (NERSC's container
engine, which runs no SIF). From the same settings as the Lua modules; nothing is said twice.

podman-hpc reads such files in its folder modules.d: each gives `podman-hpc run` a flag (cli_arg), which adds arguments
(additional_args) and lets its hook bind files (bind) before the container starts. A pattern or a path that is not there
is skipped. Keys as in podman-hpc 1.2.2: podman_hpc/siteconfig.py and podman_hpc/hook_tool.py.

What the engine cannot say stands in the comments at the top of each file: --mpi= of srun, folders of the programs.
"""
from __future__ import annotations

import json

from osu_container.core.deciding.settings import approach_entry, settings_for
from osu_container.core.deciding.site_choice import site_entry
from osu_container.generate.edf import reason, recorded, variables_of

ENGINE = 'podman-hpc'
#: Devices of the network and of shared memory, as NERSC's own modules for MPI bind them (mpich.yaml)
DEVICES = ['/dev/xpmem:/dev/xpmem', '/dev/shm:/dev/shm', '/dev/ss0:/dev/ss0', '/dev/cxi*:/dev/']
#: What ranks need to see of the host, as in the same modules: without these a rank is alone, or has no card
NAMESPACES = ['--ipc=host', '--network=host', '--pid=host', '--privileged']
#: By --mpi=: the variables of Slurm and PMI that must reach the container
PASSED = {'pmix': ['SLURM_*', 'SLURMD_*', 'SLINGSHOT_*', 'PMIX_*'], None: ['SLURM_*', 'SLINGSHOT_*', 'PALS_*', 'PMI_*']}
#: NERSC's modules that bring an MPI or settings of their own
NERSCS = ['cuda-mpi', 'mpich', 'openmpi-pmi2', 'openmpi-pmix']


def flag(approach):
    """Return the flag (str, without hyphens) that `podman-hpc run` gets for an approach (str)."""
    return f'osu-{approach}'


def quoted(text):
    """Return text (str) as a YAML scalar. JSON's strings are YAML's."""
    return json.dumps(text, ensure_ascii=False)


def render(site, approach, facts, others=()):
    """
    Return the text of the file (str).

    :param site, approach: names (str); facts: dict, as settings_for() takes them; others: names of the other
           approaches of this site that have a file: two at a time would contradict each other
    """
    entry = site_entry(site)
    settings = settings_for(approach_entry(approach), entry, facts)
    pmix = settings.stack.pmi == 'pmix'
    lines = [
        f'# {approach} on site {site}: {settings.title}',
        '# For podman-hpc; rendered by osu_container/generate/podman_hpc.py, never edit it.',
        *(['# What the libraries below need of the host beside them, and the image lacks, is not bound.']
          if facts['host']['injected'] else []),
        f'# Untested: nobody has run it there. Start it with: srun --mpi={settings.stack.pmi} ... podman-hpc run --rm '
        f'--{flag(approach)} IMAGE PROGRAM',
        *[f'# Programs are in {folder} of the image, those built in C below /opt/osu/libexec/osu-micro-benchmarks/mpi.'
          for folder in settings.inside.program_path],
        f'name: {flag(approach)}', f'cli_arg: {flag(approach)}',
        f'help: {quoted(settings.title)}',
        f"env: ENABLE_{flag(approach).upper().replace('-', '_')}",
        f"conflicts: {json.dumps(sorted([*NERSCS, *(flag(other) for other in others if other != approach)]))}",
        *(['# the libraries of the GPU\'s driver', 'depends_on: ["gpu"]'] if settings.inside.nvidia else []),
        '# one container on a node for all ranks, as NERSC\'s own modules have it; ranks that use PMIx have one each',
        f'shared_run: {not pmix}', 'additional_args:',
        *[f'  - -e {name}' for name in PASSED['pmix' if pmix else None]],
    ]
    for name, value, fact in variables_of(settings):
        lines += [f'  # {reason(fact)}', f'  - {quoted(f"-e {name}={value}")}']
    for variable in settings.sets.unset:
        lines += [f'  # {reason(variable)}', f"  - --unsetenv={variable['name']}"]
    if settings.inside.library_path:  # the variable replaces the image's own
        lines += ['  # the libraries below go in front of the image\'s own',
                  f"  - -e LD_LIBRARY_PATH={':'.join(settings.inside.library_path + settings.inside.image_path)}"]
    if settings.inside.preload:
        lines += ['  # loaded before the program, which was not linked with it',
                  f"  - -e LD_PRELOAD={':'.join(settings.inside.preload)}"]
    lines += [f'  - {name}' for name in NAMESPACES]
    lines += ['bind:', '  # devices of the network, and what ranks of a node share']
    lines += [f'  - {rule}' for rule in DEVICES]
    why_before = None
    for path, target, why in settings.inside.binds:
        lines += ([f'  # {why}'] if why != why_before else []) + [f'  - {path}:{target}']
        why_before = why
    for file in settings.inside.run_files:
        if '{' not in file['path']:  # a name that only a node can complete, which this engine cannot
            lines += [f'  # {reason(file)}', f"  - {file['path']}:{file['target']}"]
    spool = entry['files'].get('slurm_spool') if pmix else None
    for path in spool['value'] if spool else []:
        why = dict(spool, why='Slurm has the folder of its PMIx server there')
        lines += [f'  # {reason(why)}', f'  - {path}:{path}']
    return '\n'.join(lines) + '\n'


def rendered():
    """Return {path below the folder of all sites (str): text of a file} of all sites whose engine this is."""
    found = {}
    for site, facts_by_name in recorded(ENGINE):
        for approach, facts in facts_by_name.items():
            found[f'{site}/{ENGINE}/{approach}.yaml'] = render(site, approach, facts, sorted(facts_by_name))
    return found
