"""Update easyconfigs and pages from the project's data.

* From the site data, this module writes one file osu-native-RELEASE-SITE.eb for each software stack.
* In osu-container-tools.eb, this module updates the version.
* In all easyconfigs, file names and pages, this module updates the release and the sha256 of the OSU
  Micro-Benchmarks (osu_container/build/recipes/versions.py).
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

from osu_container import __version__
from osu_container.base.places import PROJECT
from osu_container.build.recipes.versions import SOURCES
from osu_container.data.sites import SITES
from osu_container.verdict.site_choice import resolve_site

OSU = SOURCES['osu']
EASYCONFIGS = PROJECT / 'easyconfigs'
NATIVE = EASYCONFIGS / 'o' / 'osu-native'
TOOLS = EASYCONFIGS / 'o' / 'osu-container-tools' / 'osu-container-tools.eb'
#: Names of archive, modules and easyconfigs with the release in them
RELEASE = re.compile(r'\b((?:osu-micro-benchmarks|osu-native)[-/])\d+(?:\.\d+)+(?=\W)')
#: Pages with such names
PAGES = ('README.md', 'docs/*.md', 'sources/README.md')


def list_stacks() -> dict[str, dict[str, Any]]:
    """Return {name of a site: site data} of each site with Cray's programming environment."""
    return {
        name: entry
        for name in SITES
        for entry in [resolve_site(name)]
        if (entry['native']['value'] or {}).get('prgenv')
    }


def render_site_easyconfig(name: str, entry: dict[str, Any]) -> str:
    """Return the text of the easyconfig that builds the native benchmarks on a site.

    The file name of this easyconfig is osu-native-RELEASE-SITE.eb.
    """
    native, gpu = entry['native']['value'], entry['gpu']['value'] or ''
    kind = 'CUDA' if gpu.startswith('sm_') else 'ROCm' if gpu else None
    head = textwrap.fill(
        f"Native benchmarks on {entry['title']}. Written by `make modules`; this project has not run this build "
        f"on the system. The site data (key native) explain the options of configure.",
        120,
        initial_indent='# ',
        subsequent_indent='# ',
        break_long_words=False,
        break_on_hyphens=False,
    )
    why = {'craype-accel': "  # With this module cc links Cray MPICH's GPU transport layer."}
    lines = [
        f"    ({module!r}, EXTERNAL_MODULE),{why.get(module[:12], '')}\n"
        for module in native['modules']
    ]
    if native['plugin']:
        lines.append(
            f"    {tuple(native['plugin'])!r},  # RCCL uses libfabric through this plugin.\n"
        )
    return SITE_EASYCONFIG.format(
        head=head,
        release=OSU['version'],
        site=name,
        gpu=f' and {kind}' if kind else '',
        sha256=OSU['sha256'],
        url=OSU['url'].rpartition('/')[0],
        dependencies=f"[\n{''.join(lines)}]",
        buffers='D D' if gpu else 'H H',
    )


SITE_EASYCONFIG = '''\
{head}
easyblock = 'MPINative'

name = 'osu-native'
version = '{release}'
versionsuffix = '-{site}'
site = '{site}'

homepage = 'https://mvapich.cse.ohio-state.edu/benchmarks/'
description = """OSU Micro-Benchmarks built with Cray MPICH{gpu}: what the containers are compared with."""

toolchain = SYSTEM

source_urls = ['{url}/']
sources = ['osu-micro-benchmarks-%(version)s.tar.gz']
checksums = ['{sha256}']

dependencies = {dependencies}

program_prefix = 'osu_'
example = 'osu_bw {buffers}'
# Starts no benchmark, because this may be a login node, without a GPU and outside of a job step.
sanity_check_commands = ['osu-explain']

moduleclass = 'perf'
'''


def update_release_names(text: str) -> str:
    """Return `text` with the current release in all names of the OSU benchmarks."""
    return RELEASE.sub(lambda match: match.group(1) + OSU['version'], text)


def update_easyconfig(text: str) -> str:
    """Return the text of an easyconfig, updated to the current release of the OSU benchmarks.

    The version, the sha256 and all names with the release are replaced.
    """
    text = re.sub(r"(?m)^version = '.*'$", f"version = '{OSU['version']}'", text)
    return re.sub(
        r"(?m)^checksums = \['\w{64}'\]$",
        f"checksums = ['{OSU['sha256']}']",
        update_release_names(text),
    )


def render_files() -> dict[Path, str | None]:
    """Return {path: text} of all easyconfigs and pages.

    The text None means that the file at this path must be removed.
    """
    files = dict.fromkeys(NATIVE.glob('osu-native-*.eb'))
    files[NATIVE / 'osu-native.eb'] = update_easyconfig((NATIVE / 'osu-native.eb').read_text())
    files[TOOLS] = re.sub(
        r"^version = .*$", f"version = '{__version__}'", TOOLS.read_text(), flags=re.M
    )
    for name, entry in list_stacks().items():
        files[NATIVE / f"osu-native-{OSU['version']}-{name}.eb"] = render_site_easyconfig(
            name, entry
        )
    for page in (page for pattern in PAGES for page in sorted(PROJECT.glob(pattern))):
        files[page] = update_release_names(page.read_text())
    return files
