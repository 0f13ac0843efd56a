#!/usr/bin/env python3
"""
Render modules/<site>/osu-container/<approach>.lua: the exact text of every module, for people to read.

The text is written by the easyblock itself (eb --module-only) from the facts in modules/<site>/facts.json. Those of the
workstation are of a real image and a real host, recorded by `modules/render.py --record`. Those of LUMI are recorded by
`modules/render.py --record-stand-in`: the modules are installed from a folder that has LUMI's paths (stand-in/), so
libraries, sizes and releases are those of the stand-in; each such text says so in its first line.
Machine-dependent paths are replaced: @INSTALL@ is the installation, @HOST@ the workstation's folder of host paths,
apptainer or singularity the runtime's path.

usage: modules/render.py [--record | --record-stand-in] [--check] [--eb COMMAND]
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT / 'easyblocks'))

from generic._mpicontainer_approaches import APPROACHES  # noqa: E402, the path above is needed first
from generic._mpicontainer_settings import site_entry  # noqa: E402
from generic._mpicontainer_sites import SITES  # noqa: E402

MODULES = PROJECT / 'modules'
INSTALL, HOST = '@INSTALL@', '@HOST@'
STAND_IN_LINE = ("-- Rendered for reading. Host libraries (which, size, time stamp, release) and the list of programs "
                 "are those of a stand-in, not of LUMI: see stand-in/README.md\n")
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
    Return {approach: module text (str)} of all approaches that site's facts.json holds.

    :param eb: str, the eb command
    :param scratch: Path, folder that is thrown away
    Raises RuntimeError with eb's output if eb fails.
    """
    facts = MODULES / site / 'facts.json'
    approaches = list(json.loads(facts.read_text()))
    prefix = Path(scratch) / site
    command = [eb, *(f'osu-container-{approach}.eb' for approach in approaches), '--module-only',
               '--skip-sanity-check', '--force', '--disable-generate-devel-module', f'--try-amend=site={site}',
               f'--try-amend=facts={facts}', f'--tmpdir={prefix}-tmp']
    said = run_eb(command, eb_environment(eb, prefix))
    texts = {}
    for approach in approaches:
        module = prefix / 'modules' / 'all' / 'osu-container' / f'{approach}.lua'
        if not module.is_file():
            raise RuntimeError(f"{' '.join(command)} made no {module}:\n{said}")
        text = module.read_text().replace(str(prefix / 'software' / 'osu-container' / approach), INSTALL)
        texts[approach] = (STAND_IN_LINE if site in stand_ins() else '') + normal_text(text)
    return texts


def normal_text(text):
    """Return module text without what differs from one EasyBuild version to the next (EBDEVEL line, footer)."""
    lines = [line for line in text.splitlines() if not line.startswith((FOOTER, 'setenv("EBDEVEL'))]
    return '\n'.join(lines).rstrip() + '\n'


def targets():
    """Return [(site, approach)] of all modules that are kept here."""
    return [(path.parent.name, approach) for path in sorted(MODULES.glob('*/facts.json'))
            for approach in json.loads(path.read_text())]


def stand_ins():
    """Return the names of the sites whose modules are recorded from a stand-in."""
    return [name for name in SITES if name.startswith('lumi')]


def record(site, prefix=None, placeholder=HOST):
    """
    Write modules/<site>/facts.json from the modules installed on this machine.

    :param prefix: Path of EasyBuild's installations; default: EasyBuild's own
    :param placeholder: str, takes the place of the folder that stands in for the host's /
    """
    prefix = prefix or Path(os.environ.get('EASYBUILD_INSTALLPATH') or os.environ.get('EASYBUILD_PREFIX')
                            or Path.home() / '.local' / 'easybuild')
    facts = {}
    for path in sorted((prefix / 'software' / 'osu-container').glob('*/facts.json')):
        text = path.read_text()
        found = json.loads(text)
        if found['host']['root']:
            text = text.replace(found['host']['root'], placeholder)
        facts[path.parent.name] = json.loads(text)
        facts[path.parent.name]['host']['runtime']['command'] = found['host']['runtime']['name']
        if site in stand_ins():
            facts[path.parent.name]['image']['file'] = site_entry(site)['images']['value'][path.parent.name]
    if not facts:
        sys.exit(f"modules/render.py: nothing to record: no {prefix}/software/osu-container/*/facts.json. Install the "
                 "modules first (make demo)")
    target = MODULES / site / 'facts.json'
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(facts, indent=2, sort_keys=True) + '\n')


def record_stand_in(eb, site, scratch):
    """Install the modules of site (str) from a stand-in made in scratch (Path), and record their facts."""
    tree, prefix = Path(scratch) / f'{site}-tree', Path(scratch) / f'{site}-prefix'
    subprocess.run([PROJECT / 'stand-in' / 'make', site, tree], check=True, stdout=subprocess.DEVNULL)
    environment = eb_environment(eb, prefix)
    environment['EASYBUILD_INCLUDE_EASYBLOCKS'] += f',{tree}/_mpicontainer_local.py'
    environment['EASYBUILD_SOURCEPATH'] = str(PROJECT / 'sources')
    environment['PATH'] = f"{tree}/usr/bin:{PROJECT / '.workstation' / 'bin'}:{environment['PATH']}"
    approaches = [f'osu-container-{name}.eb' for name in APPROACHES if APPROACHES[name]['container']]
    command = [eb, *approaches, f'--sysroot={tree}', f'--try-amend=site={site}', f'--tmpdir={prefix}-tmp']
    run_eb(command, environment)
    record(site, prefix, '')


def main():
    """Render, or with --check compare; exit code 1 if a text is stale."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--record', action='store_true', help="first take the facts from the installed modules")
    parser.add_argument('--record-stand-in', action='store_true',
                        help="first make a stand-in for each LUMI site, install its modules there and take the facts")
    parser.add_argument('--site', default='workstation', help="site that --record writes (default: workstation)")
    parser.add_argument('--check', action='store_true', help="write nothing, exit 1 if a text is stale")
    default = PROJECT / '.workstation' / 'bin' / 'eb'
    parser.add_argument('--eb', default=str(default) if default.exists() else 'eb', help="the eb command")
    arguments = parser.parse_args()
    if arguments.record:
        record(arguments.site)
    if arguments.record_stand_in:
        for site in stand_ins():
            with tempfile.TemporaryDirectory(prefix='render-') as scratch:
                print(f'recording {site} from a stand-in')
                record_stand_in(arguments.eb, site, scratch)
    stale = []
    with tempfile.TemporaryDirectory(prefix='render-') as scratch, ThreadPoolExecutor(os.cpu_count()) as pool:
        sites = sorted({site for site, _ in targets()})
        jobs = {site: pool.submit(render, arguments.eb, site, scratch) for site in sites}
        for site, approach in targets():
            path = MODULES / site / 'osu-container' / f'{approach}.lua'
            text = jobs[site].result()[approach]
            if path.is_file() and path.read_text() == text:
                continue
            stale.append(path)
            if not arguments.check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
                print(f'rendered {path.relative_to(PROJECT)}')
    if arguments.check and stale:
        sys.exit('stale, run `make modules`: ' + ', '.join(str(path.relative_to(PROJECT)) for path in stale))


if __name__ == '__main__':
    main()
