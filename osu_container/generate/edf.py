#!/usr/bin/env python3
"""
Render modules/<site>/container-engine/osu-container-<approach>.toml: what a module sets, as an environment (EDF) of
CSCS's Container Engine, which runs no SIF. From the same settings as the Lua modules; nothing is said twice.

Keys as in CSCS's EDF reference; edf-schema.json is that page as a JSON schema, against which a test checks
every file that is rendered here. What the engine cannot say stands in comments: --mpi= of srun, folders of the
programs, what its own hooks bind, the settings modules.
"""
from __future__ import annotations

import json
import re
import textwrap

from osu_container.core.data.approaches import SETTINGS
from osu_container.core.deciding.settings import approach_entry, settings_for
from osu_container.core.deciding.site_choice import site_entry
from osu_container.generate.described_facts import facts_of, names_of, sites_with

ENGINE = 'container-engine'
#: Length of the lines of a comment
WIDTH = 120
#: The user's folder for images: CSCS asks to keep them there. The engine fills in the variable
IMAGES = '${SCRATCH}'
#: In the names of folders that Slurm's PMIx makes for one step
STEP = '{'
_PMIX_HOOK = 'github.com/sarus-suite/sarus-hooks, src/pmix/PMIxHook.cpp, 2025-10-24'
_HOOKS = 'CSCS documentation, Container Engine, resource hooks'
#: Where the C programs are in our image for Alps (container-recipes/alps.py); CSCS's own image starts there too
PROGRAMS = '/opt/osu/libexec/osu-micro-benchmarks/mpi'
#: Annotation of the hook that puts the host's libfabric in place of the image's own; on unless it is switched off
CXI_HOOK = 'com.hooks.cxi.enabled'


def recorded(engine):
    """Yield (name of a site, {approach: facts of osu-container there}) for each site of this engine (str)."""
    for site in sites_with(engine):
        yield site, {name.partition('/')[2]: facts_of(site, name) for name in names_of(site)
                     if name.startswith('osu-container/')}


def variables_of(settings):
    """Return [(name, value, fact)] of the variables that settings give, those among them that only our commands set."""
    return [(one['name'], one['value'], one) for one in settings.sets.variables + settings.sets.inside]


def reason(fact):
    """Return the comment (str) for a fact (dict)."""
    parts = [part for part in (fact.get('source'), fact.get('date'), fact['evidence']) if part]
    return f"{fact['why']} [{'; '.join(parts)}]"


def environment_name(approach):
    """Return the name (str) by which srun --environment= finds the environment of an approach (str)."""
    return f'osu-container-{approach}'


def quoted(text):
    """Return text (str) as a TOML basic string. JSON's escapes are TOML's; the engine would fill in ${NAME}."""
    return json.dumps(re.sub(r'\$(?=\{)', '$$', text), ensure_ascii=False)


def comment(text, indent='# '):
    """Return the lines (list of str) of a comment; indent (str): how each begins."""
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False,
                         break_on_hyphens=False)


def _setting_lines(name, entries):
    """Return the comment lines (list of str) that tell how to follow a settings module (str) in an EDF."""
    lines = ['', *comment(f'osu-settings/{name} is no module here. {SETTINGS[name]}. To try it, set these instead of '
                          'those above:')]
    for fact in entries:
        # srun has read its own before the container is there
        lines += [f'#   export {fact["name"]}={fact["value"]}   # before srun, which reads it'
                  if fact['name'].startswith('SLURM_') else f'#   {fact["name"]} = {quoted(fact["value"])}',
                  *comment(reason(fact), '#     ')]
    return lines


def _left_out(settings):
    """Return the comment lines (list of str) on files that a module binds where they are: no EDF can."""
    by_why = {}
    for entry in settings.inside.run_files:
        by_why.setdefault(entry['why'], []).append(entry['target'])
    lines = []
    for why, targets in by_why.items():
        of_step = any(STEP in target for target in targets)
        lines += comment(f"{' or '.join(targets)} is not bound here: " + (
            f"the engine's own hook does that where srun has --mpi={settings.stack.pmi} [{_PMIX_HOOK}]. {why}"
            if of_step else f'the engine stops where a path is not there. {why}'))
    return lines


def _unset_lines(unset):
    """Return the comment lines (list of str) on variables that must not be there; unset: list of dict."""
    by_why = {}
    for fact in unset:
        by_why.setdefault(reason(fact), []).append(fact['name'])
    return [line for why, names in by_why.items() for line in comment(
        f"{' and '.join(names)} are not set, and must not be, whatever the value: {why}. Where your shell or your "
        'image sets one, an empty value takes it away [CSCS documentation, Container Engine, EDF reference]')]


def render(site, approach, facts):
    """
    Return the text of the file (str).

    :param site, approach: names (str); facts: dict, as settings_for() takes them
    Raises ValueError if the approach puts files of the host into the image: an EDF cannot name their new place.
    """
    entry = approach_entry(approach)
    if entry['inject']:
        raise ValueError(f"approach '{approach}' injects {', '.join(entry['inject'])}; the engine's own hook "
                         f"({CXI_HOOK}) does that, and no EDF is rendered for it")
    settings = settings_for(entry, site_entry(site), facts)
    image = facts['image']['file'].rpartition('.')[0]
    name = environment_name(approach)
    lines = [
        f'# {approach} on site {site}: {settings.title}',
        '# For CSCS\'s Container Engine; rendered by osu_container/generate/edf.py, never edit it.',
        *comment('Untested: nobody of this project has run it there. Each setting has its source and evidence in '
                 'brackets.'),
        '#',
        f'#   cp modules/{site}/{ENGINE}/{name}.toml ~/.edf/',
        f'#   enroot import -x mount -o "$SCRATCH/{image}.sqsh" podman://{image}',
        f'#   srun --mpi={settings.stack.pmi} -N2 -n2 --environment={name} ./pt2pt/osu_bw H H',
        '',
        *comment(f'The image as enroot import wrote it: {image} of this project\'s recipes, on a file system that the '
                 'compute nodes see'),
        f'image = "{IMAGES}/{image}.sqsh"',
        '',
        *comment('the image needs no entry point; that of NVIDIA\'s base images prints a banner into the output of '
                 'every rank [eth-cscs/cray-network-stack cce01706, examples/container/osu-ompi; 2026-11-21; derived]'),
        'entrypoint = false',
        '',
        '# programs are typed as CSCS types them: ./pt2pt/osu_bw',
        f'workdir = "{PROGRAMS}"',
        '',
    ]
    reasons = list(dict.fromkeys(why for _, _, why in settings.inside.binds))
    if settings.inside.binds:
        mounts = ', '.join(quoted(f'{path}:{target}') for path, target, _ in settings.inside.binds)
        lines += [*comment('; '.join(reasons)), f'mounts = [{mounts}]', '']
    lines += _left_out(settings) + ['', '[env]']
    for variable, value, fact in variables_of(settings):
        lines += [*comment(reason(fact)), f'{variable} = {quoted(value)}', '']
    lines += _unset_lines(settings.sets.unset)
    for name, entries in sorted(settings.sets.more.items()):
        lines += _setting_lines(name, entries)
    own = entry['comes_from']['libfabric'] == 'image'
    lines += ['', '[annotations]', *comment(
        ('the image brings its own libfabric: the hook would put the host\'s in its place' if own else
         'the host\'s libfabric is put in place of the image\'s') + f' [{_HOOKS}; 2026-11-21; derived]'),
        f'{CXI_HOOK} = "{"false" if own else "true"}"']
    return re.sub(r'\n{3,}', '\n\n', '\n'.join(lines)) + '\n'


def rendered():
    """Return {path below the folder of all sites (str): text of a file} of all sites whose engine this is."""
    found = {}
    for site, facts_by_name in recorded(ENGINE):
        for approach, facts in facts_by_name.items():
            if not approach_entry(approach)['inject']:
                found[f'{site}/{ENGINE}/{environment_name(approach)}.toml'] = render(site, approach, facts)
    return found
