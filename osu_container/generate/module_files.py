#!/usr/bin/env python3
"""
Render modules/<site>/<module>/<approach>.lua: the text of every module, for people to read.

The text is written by the easyblock itself (eb --module-only) from the facts in modules/<site>/facts.json. Those of the
workstation are of a real image and a real host, and --record takes them. Those of the other sites are taken by
--record-stand-in: the modules are installed from a folder that has the system's paths (stand-in/), so which libraries
there are and their releases are those of the stand-in; each such text says so in its second line.
What each installation has for itself is replaced: @INSTALL@ is the installation, @HOST@ the workstation's folder of
host paths, apptainer or singularity the runtime's path, BYTES and TIME are the size and the time stamp of a library or
of the image.

usage: python -m osu_container.generate.module_files [--record | --record-stand-in] [--check] [--eb COMMAND]
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from osu_container.core.data.approaches import APPROACHES
from osu_container.core.data.sites import SITES
from osu_container.core.deciding.settings import approach_entry, host_libraries, image_of
from osu_container.core.deciding.site_choice import SettingsError, site_entry
from osu_container.generate import edf, podman_hpc
from osu_container.places import PROJECT, STATE

MODULES = PROJECT / 'modules'
#: Names of the modules that run in a container, each a folder of easyconfigs
CONTAINERS = ('osu-container', 'osu-mpi4py')
#: Sites with the texts of all of them. Elsewhere osu-mpi4py has the text of osu-container with another image.
WITH_ALL = ('lumi-25.03', 'workstation')
INSTALL, HOST = '@INSTALL@', '@HOST@'
FIRST_LINE = ("-- Rendered for reading. An installed module has its own values where this one has @INSTALL@, @HOST@, "
              "BYTES and TIME.\n")
STAND_IN_LINE = ("-- Which host libraries there are, their releases and the list of programs are those of a stand-in, "
                 "not of the system: see tests/stand_in/README.md\n")
#: What only a warning of `module load` and the full check of an installation need. A stand-in's would be read as the
#: system's.
NOT_OF_THE_SYSTEM = {'size': 0, 'mtime': 0, 'sha256': None, 'build_id': None}
#: from here on the text is EasyBuild's and changes with its version
FOOTER = '-- Built with EasyBuild version'


def eb_environment(eb, prefix):
    """Return the environment (dict) in which eb (str) finds only this project and writes only under prefix (Path)."""
    # MODULEPATH too: a module that is installed elsewhere would not be installed again
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(('EASYBUILD_', 'MODULEPATH', '__LMOD_REF_COUNT_MODULEPATH'))}
    environment.update({
        'EASYBUILD_INCLUDE_EASYBLOCKS': f'{PROJECT}/easyblocks/generic/*.py',
        'EASYBUILD_ROBOT_PATHS': f'{PROJECT}/easyconfigs',
        'EASYBUILD_PREFIX': str(prefix),
        # Root is what CI containers run as; nothing but prefix is written here.
        'EASYBUILD_ALLOW_USE_AS_ROOT_AND_ACCEPT_CONSEQUENCES': '1',
    })
    # Where Debian and Ubuntu put Lmod; elsewhere Lmod's own init has set the variable.
    environment.setdefault('LMOD_CMD', '/usr/share/lmod/lmod/libexec/lmod')
    python = Path(eb).parent / 'python'
    if python.exists():  # eb of a virtual environment that is not active
        environment['EB_PYTHON'] = str(python)
    return environment


def run_eb(command, environment):
    """Run eb (list of str) and return its output (str). Raises RuntimeError with it if eb fails."""
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout}")
    return done.stdout


def render(eb, site, scratch):
    """
    Return {'module/approach': module text (str)} of all that site's facts.json holds.

    :param eb: str, the eb command
    :param scratch: Path, folder that is thrown away
    Raises RuntimeError with eb's output if eb fails.
    """
    facts = MODULES / site / 'facts.json'
    names = list(json.loads(facts.read_text()))
    prefix = Path(scratch) / site
    command = [eb, *(f"{name.replace('/', '-')}.eb" for name in names), '--module-only',
               '--skip-sanity-check', '--force', '--disable-generate-devel-module', f'--try-amend=site={site}',
               f'--try-amend=facts={facts}', f'--tmpdir={prefix}-tmp']
    said = run_eb(command, eb_environment(eb, prefix))
    texts = {}
    for name in names:
        module = prefix / 'modules' / 'all' / f'{name}.lua'
        if not module.is_file():
            raise RuntimeError(f"{' '.join(command)} made no {module}:\n{said}")
        texts[name] = for_reading(module.read_text().replace(str(prefix / 'software' / name), INSTALL), site)
    return texts


def for_reading(text, site):
    """
    Return the text of an installed module of site (str) with first lines that say what was replaced.

    Left out is what differs from one EasyBuild version to the next: the EBDEVEL line and the footer.
    """
    lines = [line for line in text.splitlines() if not line.startswith((FOOTER, 'setenv("EBDEVEL'))]
    text = re.sub(r'^( +compare\(".*"), \d+, \d+\)$', r'\1, BYTES, TIME)', '\n'.join(lines), flags=re.M)
    text = re.sub(r'^intact\(\d+, \d+\)$', 'intact(BYTES, TIME)', text, flags=re.M)
    return FIRST_LINE + (STAND_IN_LINE if site in stand_ins() else '') + text.rstrip() + '\n'


def targets():
    """Return [(site, 'module/approach')] of all modules that are kept here."""
    return [(path.parent.name, name) for path in sorted(MODULES.glob('*/facts.json'))
            for name in json.loads(path.read_text())]


def stand_ins():
    """Return the names of the sites whose modules are recorded from a stand-in."""
    return [name for name in SITES if name != 'workstation']


def record(site, prefix=None, placeholder=HOST):
    """
    Write modules/<site>/facts.json from the modules installed on this machine.

    :param prefix: Path of EasyBuild's installations; default: EasyBuild's own
    :param placeholder: str, takes the place of the folder that stands in for the host's /
    """
    prefix = prefix or Path(os.environ.get('EASYBUILD_INSTALLPATH') or os.environ.get('EASYBUILD_PREFIX')
                            or Path.home() / '.local' / 'easybuild')
    facts = {}
    for path in sorted(path for name in CONTAINERS for path in (prefix / 'software' / name).glob('*/facts.json')):
        text = path.read_text()
        found = json.loads(text)
        module, approach = path.parent.parent.name, path.parent.name
        if approach not in APPROACHES:  # one of the user's own, with a suffix
            continue
        if found['host']['root']:
            text = text.replace(found['host']['root'], placeholder)
        entry = facts[f'{module}/{approach}'] = json.loads(text)
        entry['host']['runtime']['command'] = found['host']['runtime']['name']
        entry['image']['installed'] = {'size': 0, 'mtime': 0}
        if site in stand_ins():
            entry['image']['file'] = image_of(module, approach_entry(approach), site_entry(site))
            # the image that was installed there is that of the workstation
            entry['image']['gpu'] = bool(re.search('rocm|cuda', entry['image']['file']))
            for library in entry['host'].get('injected', []):
                library.update(NOT_OF_THE_SYSTEM)
    if not facts:
        sys.exit(f"module_files: nothing to record: no {prefix}/software/"
                 f"{'|'.join(CONTAINERS)}/*/facts.json. Install the modules first (make demo)")
    target = MODULES / site / 'facts.json'
    target.parent.mkdir(exist_ok=True)
    target.write_text(compact(facts))


def compact(facts):
    """Return facts as JSON (str) with one line for each list and each dict that holds no other dict."""
    text = json.dumps(facts, indent=1, sort_keys=True) + '\n'
    return re.sub(r'\{[^{}]*\}|\[[^][{}]*\]', lambda inner: re.sub(r'\s*\n\s*', ' ', inner.group()), text)


def easyconfigs(site):
    """Return the names (list of str) of the easyconfigs of container modules that site (str) can have."""
    entry, found = site_entry(site), []
    for path in sorted(path for name in CONTAINERS for path in (PROJECT / 'easyconfigs' / 'o' / name).glob('*.eb')):
        module, _, approach = path.stem.rpartition('-')
        try:
            host_libraries(approach_entry(approach), entry)
            image_of(module, approach_entry(approach), entry)
        except SettingsError:
            continue
        if module != CONTAINERS[0] and (site not in WITH_ALL or f'{module}/{approach}' not in entry['images']['value']):
            continue  # the site has no image with what this module starts
        found.append(path.name)
    return found


def record_stand_in(eb, site, scratch):
    """Install the modules of site (str) from a stand-in made in scratch (Path), and record their facts."""
    tree, prefix = Path(scratch) / f'{site}-tree', Path(scratch) / f'{site}-prefix'
    subprocess.run([PROJECT / 'tests' / 'stand_in' / 'make', site, tree], check=True, stdout=subprocess.DEVNULL)
    environment = eb_environment(eb, prefix)
    environment['EASYBUILD_INCLUDE_EASYBLOCKS'] += f',{tree}/_mpicontainer_local.py'
    environment['EASYBUILD_SOURCEPATH'] = str(PROJECT / 'sources')
    environment['PATH'] = f"{tree}/usr/bin:{STATE / 'bin'}:{environment['PATH']}"
    command = [eb, *easyconfigs(site), f'--sysroot={tree}', f'--try-amend=site={site}', f'--tmpdir={prefix}-tmp']
    run_eb(command, environment)
    record(site, prefix, '')


def main():
    """Render, or with --check compare; exit code 1 if a text is stale."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--record', action='store_true', help="first take the facts from the installed modules")
    parser.add_argument('--record-stand-in', action='store_true',
                        help="first make a stand-in for each site with a folder here (modules/), or that of --site, "
                             "install its modules there and take the facts")
    parser.add_argument('--site', help="site that is recorded (default: workstation, or all with a folder here)")
    parser.add_argument('--check', action='store_true', help="write nothing, exit 1 if a text is stale")
    default = STATE / 'bin' / 'eb'
    parser.add_argument('--eb', default=str(default) if default.exists() else 'eb', help="the eb command")
    arguments = parser.parse_args()
    if arguments.record:
        record(arguments.site or 'workstation')
    if arguments.record_stand_in:
        for site in [arguments.site] if arguments.site else [name for name in stand_ins() if (MODULES / name).is_dir()]:
            with tempfile.TemporaryDirectory(prefix='render-') as scratch:
                print(f'recording {site} from a stand-in')
                record_stand_in(arguments.eb, site, scratch)
    stale = []
    with tempfile.TemporaryDirectory(prefix='render-') as scratch, ThreadPoolExecutor(os.cpu_count()) as pool:
        sites = sorted({site for site, _ in targets()})
        jobs = {site: pool.submit(render, arguments.eb, site, scratch) for site in sites}
        for site, name in targets():
            path = MODULES / site / f'{name}.lua'
            text = jobs[site].result()[name]
            if path.is_file() and path.read_text() == text:
                continue
            stale.append(path)
            if not arguments.check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
                print(f'rendered {path.relative_to(PROJECT)}')
    # the same settings for engines that run no SIF
    for path, text in {**podman_hpc.rendered(MODULES), **edf.rendered(MODULES)}.items():
        if path.is_file() and path.read_text() == text:
            continue
        stale.append(path)
        if not arguments.check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            print(f'rendered {path.relative_to(PROJECT)}')
    if arguments.check and stale:
        sys.exit('stale, run `make modules`: ' + ', '.join(str(path.relative_to(PROJECT)) for path in stale))


if __name__ == '__main__':
    main()
