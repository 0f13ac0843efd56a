"""Render the modulefiles of all sites, so that developers can review the modulefiles.

The modulefiles are written to .workstation/modules/SITE/MODULE/APPROACH.lua. The modulefiles that
CHECKED_IN_MODULES lists are also written to the folder modules/ of the repository.

The easyblock writes the text of a modulefile (eb --module-only) from the facts that
described_facts.py derives. Placeholders replace the values that differ between installations:
@INSTALL@ is the installation folder, @HOST@ is the workstation's folder of host paths, and BYTES is
the size of a library or of the image.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from osu_container.base.places import PROJECT, STATE
from osu_container.data.sites import SITES
from tools.generate.described_facts import derive_facts, list_module_names

#: Folders of the checked-in modulefiles, and of all modulefiles
MODULES, ALL_MODULES = PROJECT / 'modules', STATE / 'modules'
#: 'SITE/MODULE/APPROACH' of the modules whose modulefiles are checked in
CHECKED_IN_MODULES = [
    'lumi-25.03/osu-container/' + approach for approach in ('pure', 'bind', 'hybrid', 'opensource')
]
INSTALL = '@INSTALL@'
FIRST_LINE = (
    "-- For reading: an installed module has its own @INSTALL@, @HOST@ and BYTES, and may bind more "
    "libraries.\n"
)
#: The text from here on changes with the version of EasyBuild
FOOTER = '-- Built with EasyBuild version'


def prepare_eb_environment(eb: str, prefix: Path) -> dict[str, str]:
    """Return environment variables with which eb uses the easyconfigs of this project only.

    prefix: folder below which eb writes all files
    """
    # MODULEPATH is left out, because eb would skip a module that it finds installed.
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
            # CI containers run as root, and eb only writes below prefix.
            'EASYBUILD_ALLOW_USE_AS_ROOT_AND_ACCEPT_CONSEQUENCES': '1',
        }
    )
    # Lmod's folder on Debian and Ubuntu; on other systems Lmod's init file sets the variable.
    environment.setdefault('LMOD_CMD', '/usr/share/lmod/lmod/libexec/lmod')
    python = Path(eb).parent / 'python'
    if python.exists():  # if eb is from a virtual environment that is not active
        environment['EB_PYTHON'] = str(python)
    return environment


def run_eb(command: list[str], environment: dict[str, str]) -> str:
    """Run the command eb of EasyBuild and return its output.

    Raises RuntimeError with this output if the command fails.
    """
    process = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{process.stdout}")
    return process.stdout


def render_site_modules(eb: str, site: str, scratch: str, names: list[str]) -> dict[str, str]:
    """Return {'SITE/MODULE/APPROACH': text of the modulefile} for modules of a site.

    Raises RuntimeError with the output of eb if the command eb fails.

    eb: path of the command eb
    scratch: temporary folder
    names: names of the modules in the form 'MODULE/APPROACH'
    """
    prefix = Path(scratch) / site
    facts = Path(f'{prefix}-facts.json')
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
    output = run_eb(command, prepare_eb_environment(eb, prefix))
    texts = {}
    for name in names:
        module = prefix / 'modules' / 'all' / f'{name}.lua'
        if not module.is_file():
            raise RuntimeError(f"{' '.join(command)} made no {module}:\n{output}")
        texts[f'{site}/{name}'] = normalize_modulefile(
            module.read_text().replace(str(prefix / 'software' / name), INSTALL)
        )
    return texts


def normalize_modulefile(text: str) -> str:
    """Return the text of an installed modulefile, without parts that differ between systems.

    The word BYTES replaces all sizes, and a new first line explains the purpose of the file. The
    line with EBDEVEL and the footer are removed, because both lines differ between EasyBuild
    versions.
    """
    lines = [line for line in text.splitlines() if not line.startswith((FOOTER, 'setenv("EBDEVEL'))]
    text = re.sub(r'^(    \{ (?:sif|".*"), )\d+( \},)$', r'\1BYTES\2', '\n'.join(lines), flags=re.M)
    return FIRST_LINE + text.rstrip() + '\n'


def render_modules(eb: str, modules: Iterable[str]) -> dict[str, str]:
    """
    Return {'SITE/MODULE/APPROACH': text of the modulefile} for the keys in `modules`.

    The sites are rendered in parallel on all cores.
    """
    names: dict[str, list[str]] = {}
    for module in modules:
        site, _, name = module.partition('/')
        names.setdefault(site, []).append(name)
    with (
        tempfile.TemporaryDirectory(prefix='render-') as scratch,
        ThreadPoolExecutor(os.cpu_count()) as pool,
    ):
        jobs = [pool.submit(render_site_modules, eb, site, scratch, names[site]) for site in names]
        return {module: text for job in jobs for module, text in job.result().items()}


def render_files(check: bool) -> dict[Path, str]:
    """Return {path: text} of the modulefiles.

    check: whether to render only the modulefiles that Git contains
    """
    path = STATE / 'bin' / 'eb'
    modules = (
        CHECKED_IN_MODULES
        if check
        else (f'{site}/{name}' for site in SITES for name in list_module_names(site))
    )
    texts = render_modules(str(path) if path.exists() else 'eb', modules)
    return {
        folder / f'{module}.lua': text
        for module, text in texts.items()
        for folder in [MODULES] * (module in CHECKED_IN_MODULES) + [ALL_MODULES] * (not check)
    }
