"""
Write what easyconfigs and pages say of data that stand elsewhere:

* osu-native-RELEASE-SITE.eb, one for each software stack, from the data of the sites;
* the version of osu-container-tools.eb;
* release and sha256 of the OSU Micro-Benchmarks (osu_container/build/recipes/versions.py), in file
    names and pages too.
"""

import re
import textwrap

from osu_container import __version__
from osu_container.base.places import PROJECT
from osu_container.build.recipes.versions import SOURCES
from osu_container.data.sites import SITES
from osu_container.verdict.site_choice import resolve_site

OSU = SOURCES['osu']
EASYCONFIGS = PROJECT / 'easyconfigs'
NATIVE = EASYCONFIGS / 'o' / 'osu-native'
TOOLS = EASYCONFIGS / 'o' / 'osu-container-tools' / 'osu-container-tools.eb'
#: names of archive, modules and easyconfigs that have the release behind them
RELEASE = re.compile(r'\b((?:osu-micro-benchmarks|osu-native)[-/])\d+(?:\.\d+)+(?=\W)')
#: Pages that name it
PAGES = ('README.md', 'docs/*.md', 'sources/README.md')


# ---- software stacks


def list_stacks():
    """Return {site: entry (dict)} of the sites with a programming environment, in their order."""
    found = {name: resolve_site(name) for name in SITES}
    return {
        name: entry
        for name, entry in found.items()
        if (entry['native']['value'] or {}).get('prgenv')
    }


def render_site_easyconfig(name, entry):
    """Return the text of osu-native-RELEASE-SITE.eb; entry: of the site (dict)."""
    native, gpu = entry['native']['value'], entry['gpu']['value'] or ''
    kind = 'CUDA' if gpu.startswith('sm_') else 'ROCm' if gpu else None
    head = textwrap.fill(
        f"Native benchmarks on {entry['title']}. Written by `make modules`; this project has not run it there. What "
        f"configure gets, and why, stands in the site data (native).",
        120,
        initial_indent='# ',
        subsequent_indent='# ',
        break_long_words=False,
        break_on_hyphens=False,
    )
    why = {'craype-accel': "  # lets cc link Cray MPICH's GPU transport layer"}
    lines = [
        f"    ({module!r}, EXTERNAL_MODULE),{why.get(module[:12], '')}\n"
        for module in native['modules']
    ]
    if native['plugin']:
        lines.append(f"    {tuple(native['plugin'])!r},  # by which RCCL uses libfabric\n")
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
# no benchmark is started: this may be a login node, without GPU and outside of a job step
sanity_check_commands = ['osu-explain']

moduleclass = 'perf'
'''


# ---- the release


def update_release_names(text):
    """Return text with today's release wherever a name of the benchmarks has one behind it."""
    return RELEASE.sub(lambda found: found.group(1) + OSU['version'], text)


def update_easyconfig(text):
    """
    Return the text of an easyconfig with today's release: version, sha256 of the archive, names
    in comments.
    """
    text = re.sub(r"(?m)^version = '.*'$", f"version = '{OSU['version']}'", text)
    return re.sub(
        r"(?m)^checksums = \['\w{64}'\]$",
        f"checksums = ['{OSU['sha256']}']",
        update_release_names(text),
    )


def render_files():
    """
    Return {path (Path): text of an easyconfig or page, None for a file that is to be removed}.
    """
    wanted = dict.fromkeys(NATIVE.glob('osu-native-*.eb'))
    wanted[NATIVE / 'osu-native.eb'] = update_easyconfig((NATIVE / 'osu-native.eb').read_text())
    wanted[TOOLS] = re.sub(
        r"^version = .*$", f"version = '{__version__}'", TOOLS.read_text(), flags=re.M
    )
    for name, entry in list_stacks().items():
        wanted[NATIVE / f"osu-native-{OSU['version']}-{name}.eb"] = render_site_easyconfig(
            name, entry
        )
    for page in (page for pattern in PAGES for page in sorted(PROJECT.glob(pattern))):
        wanted[page] = update_release_names(page.read_text())
    return wanted
