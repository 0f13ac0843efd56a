"""
Render the text of every module, for people to read:
.workstation/modules/<site>/<module>/<approach>.lua.

The text is written by the easyblock itself (eb --module-only) from the facts of described_facts.py.
What each installation has for itself is replaced: @INSTALL@ is the installation, @HOST@ the
workstation's folder of host paths, BYTES is the size of a library or of the image. Of these texts
the repository has those of KEPT, in modules/.
"""

import json
import os
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from osu_container.base.places import PROJECT, STATE
from osu_container.data.sites import SITES
from tools.generate.described_facts import derive_facts, list_module_names

#: Those of the repository, and all of them
MODULES, ALL_MODULES = PROJECT / 'modules', STATE / 'modules'
#: Site -> modules whose texts are in the repository
CHECKED_IN_MODULES = {'lumi-25.03': ['osu-container/hybrid']}
INSTALL = '@INSTALL@'
FIRST_LINE = (
    "-- Rendered for reading: an installation has its own @INSTALL@, @HOST@ and BYTES, and what its host's "
    "libraries need.\n"
)
#: from here on the text is EasyBuild's and changes with its version
FOOTER = '-- Built with EasyBuild version'


def prepare_eb_environment(eb, prefix):
    """
    Return the environment (dict) in which eb (str) finds only this project and writes only under
    prefix (Path).
    """
    # MODULEPATH too: a module that is installed elsewhere would not be installed again
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(('EASYBUILD_', 'MODULEPATH', '__LMOD_REF_COUNT_MODULEPATH'))
    }
    environment.update(
        {
            'EASYBUILD_INCLUDE_EASYBLOCKS': f'{PROJECT}/easyblocks/generic/*.py',
            'EASYBUILD_ROBOT_PATHS': f'{PROJECT}/easyconfigs',
            'EASYBUILD_PREFIX': str(prefix),
            # Root is what CI containers run as; nothing but prefix is written here.
            'EASYBUILD_ALLOW_USE_AS_ROOT_AND_ACCEPT_CONSEQUENCES': '1',
        }
    )
    # Where Debian and Ubuntu put Lmod; elsewhere Lmod's own init has set the variable.
    environment.setdefault('LMOD_CMD', '/usr/share/lmod/lmod/libexec/lmod')
    python = Path(eb).parent / 'python'
    if python.exists():  # eb of a virtual environment that is not active
        environment['EB_PYTHON'] = str(python)
    return environment


def run_eb(command, environment):
    """Run eb (list of str) and return its output (str). Raises RuntimeError with it if eb fails."""
    done = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout}")
    return done.stdout


def render_site_modules(eb, site, scratch, names=None):
    """
    Return {'module/approach': module text (str)} of the modules that site (str) can have.

    :param eb: str, the eb command
    :param scratch: Path, folder that is thrown away
    :param names: list of str, those that are wanted; default: all
    Raises RuntimeError with eb's output if eb fails.
    """
    prefix = Path(scratch) / site
    facts, names = Path(f'{prefix}-facts.json'), names or list_module_names(site)
    facts.write_text(json.dumps({name: derive_facts(site, name) for name in names}))
    command = [
        eb,
        *(f"{name.replace('/', '-')}.eb" for name in names),
        '--module-only',
        '--skip-sanity-check',
        '--force',
        '--disable-generate-devel-module',
        f'--try-amend=site={site}',
        f'--try-amend=facts={facts}',
        f'--tmpdir={prefix}-tmp',
    ]
    said = run_eb(command, prepare_eb_environment(eb, prefix))
    texts = {}
    for name in names:
        module = prefix / 'modules' / 'all' / f'{name}.lua'
        if not module.is_file():
            raise RuntimeError(f"{' '.join(command)} made no {module}:\n{said}")
        texts[name] = normalize_modulefile(
            module.read_text().replace(str(prefix / 'software' / name), INSTALL)
        )
    return texts


def normalize_modulefile(text):
    """
    Return the text of an installed module with a first line that says what was replaced.

    Left out is what differs from one EasyBuild version to the next: the EBDEVEL line and the
    footer.
    """
    lines = [line for line in text.splitlines() if not line.startswith((FOOTER, 'setenv("EBDEVEL'))]
    text = re.sub(r'^(    \{ (?:sif|".*"), )\d+( \},)$', r'\1BYTES\2', '\n'.join(lines), flags=re.M)
    return FIRST_LINE + text.rstrip() + '\n'


def render_modules(eb, sites, names=list_module_names):
    """
    Return {path below the folder of all sites (str): text} of the modules names(site) of sites,
    with all cores.
    """
    with (
        tempfile.TemporaryDirectory(prefix='render-') as scratch,
        ThreadPoolExecutor(os.cpu_count()) as pool,
    ):
        # a site that has the host's Open MPI alone needs an image to say so
        found = {site: names(site) for site in sites}
        jobs = {
            site: pool.submit(render_site_modules, eb, site, scratch, found[site])
            for site in sites
            if found[site]
        }
        return {
            f'{site}/{name}.lua': text
            for site, job in jobs.items()
            for name, text in job.result().items()
        }


def is_checked_in(path):
    """Return whether a text (path below the folder of all sites, str) is in the repository."""
    site, _, name = path.partition('/')
    return name[: -len('.lua')] in CHECKED_IN_MODULES.get(site, ())


def render_files(check):
    """
    Return {path (Path): text} of the modules; check: bool, only of those that the repository
    has.
    """
    eb = STATE / 'bin' / 'eb'
    eb = str(eb) if eb.exists() else 'eb'
    if check:
        return {
            MODULES / path: text
            for path, text in render_modules(eb, CHECKED_IN_MODULES, CHECKED_IN_MODULES.get).items()
        }
    found = render_modules(eb, SITES)
    return {
        folder / path: text
        for path, text in found.items()
        for folder in [MODULES] * is_checked_in(path) + [ALL_MODULES]
    }
