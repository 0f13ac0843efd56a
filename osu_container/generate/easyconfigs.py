#!/usr/bin/env python3
"""
Write what easyconfigs and pages say of data that stand elsewhere:

* osu-native-RELEASE-SITE.eb, one for each software stack, from the data of the sites;
* the block between `# <stacks>` and `# </stacks>`, by which osu-native.eb knows the stack of the machine;
* the version of osu-container-tools.eb;
* release and sha256 of the OSU Micro-Benchmarks (osu_container/recipes/versions.py), in file names and pages too;
* the sha256 of sources that lie in this clone (run-in-container, osu-gpu-bind, ...): beside the easyconfig, else where
  the easyblocks find the commands of all modules. Sums of other downloads are left as they are.

usage: python -m osu_container.generate.easyconfigs [--check]
"""
import argparse
import re
import sys
import textwrap

from osu_container import __version__
from osu_container.core.data.sites import SITES
from osu_container.core.deciding.site_choice import site_entry
from osu_container.core.reading.libraries import sha256_of
from osu_container.discover.write import literal
from osu_container.places import PROJECT
from osu_container.recipes.versions import SOURCES

OSU = SOURCES['osu']
HERE = PROJECT / 'easyconfigs'
NATIVE = HERE / 'o' / 'osu-native'
TOOLS = HERE / 'o' / 'osu-container-tools' / 'osu-container-tools.eb'
#: COMMANDS of osu_container/easyblock.py
COMMANDS = HERE / 'o' / 'osu-container'
#: the lists of names and of sums
LISTS = re.compile(r"^sources = \[(?P<names>[^\]]*)\].*?^checksums = \[(?P<sums>[^\]]*)\]", re.M | re.S)
#: an entry of stand_in
ENTRY = re.compile(r"'([\w.-]+)':\s*'(\w{64})'")
#: names of archive, modules and easyconfigs that have the release behind them
RELEASE = re.compile(r'\b((?:osu-micro-benchmarks|osu-native)[-/])\d+(?:\.\d+)+(?=\W)')
#: Pages that name it
PAGES = ('README.md', 'docs/*.md', 'sources/README.md')
BLOCK = re.compile(r'# <stacks>.*?# </stacks>\n', re.S)


# ---- software stacks

def stacks():
    """Return {site: entry (dict)} of the sites with a programming environment, in their order."""
    found = {name: site_entry(name) for name in SITES}
    return {name: entry for name, entry in found.items() if (entry['native']['value'] or {}).get('prgenv')}


def of_site(name, entry):
    """Return the text of osu-native-RELEASE-SITE.eb; entry: of the site (dict)."""
    native, gpu = entry['native']['value'], entry['gpu']['value'] or ''
    own, kind = native['prgenv'], 'CUDA' if gpu.startswith('sm_') else 'ROCm' if gpu else None
    gets = ', '.join(['CC=cc CXX=CC', *([kind] if kind else []), *(['RCCL'] if native['plugin'] else [])])
    head = textwrap.fill(
        f"Native benchmarks on {entry['title']}. Written by `make modules`; this project has not run it there. What "
        f"configure gets ({gets}), and why, stands in the site data (native).",
        120, initial_indent='# ', subsequent_indent='# ', break_long_words=False, break_on_hyphens=False)
    lines = []
    for module in native['modules']:
        shown = "'PrgEnv-' + prgenv" if module.startswith('PrgEnv-') else repr(module)
        why = "  # lets cc link Cray MPICH's GPU transport layer" if module.startswith('craype-accel') else ''
        lines.append(f"    ({shown}, EXTERNAL_MODULE),{why}\n")
    if native['plugin']:
        lines.append(f"    ({native['plugin'][0]!r}, {native['plugin'][1]!r}, '-{name}'),\n")
    return SITE_EASYCONFIG.format(
        head=head, release=OSU['version'], site=name, own=own, other='gnu' if own == 'amd' else 'amd',
        gpu=f' and {kind}' if kind else '', url=OSU['url'].rpartition('/')[0], sha256=OSU['sha256'],
        commands=''.join(f"    '{sha256_of(here(NATIVE, name))}',\n" for name in ('osu-gpu-bind', 'osu-explain')),
        dependencies=f"[\n{''.join(lines)}]")


SITE_EASYCONFIG = '''\
{head}
easyblock = 'MPINative'

name = 'osu-native'
version = '{release}'

site = '{site}'
prgenv = '{own}'
# another compiler (--try-amend=prgenv={other}) is another module
versionsuffix = '-{site}' + ('' if prgenv == '{own}' else '-' + prgenv)

homepage = 'https://mvapich.cse.ohio-state.edu/benchmarks/'
description = """OSU Micro-Benchmarks built with Cray MPICH{gpu}: what the containers are compared with."""

toolchain = SYSTEM

program_prefix = 'osu_'
example = 'osu_bw H H'

source_urls = ['{url}/']
sources = ['osu-micro-benchmarks-%(version)s.tar.gz', 'osu-gpu-bind', 'osu-explain']
checksums = [
    '{sha256}',
{commands}]
commands = ['osu-gpu-bind', 'osu-explain']

dependencies = {dependencies}

# no benchmark is started: this may be a login node, without GPU and outside of a job step
sanity_check_commands = ['osu-explain']

moduleclass = 'perf'
'''


def block():
    """Return the lines between `# <stacks>` and `# </stacks>`: data of the stacks, and how one of them is found."""
    rows = {}
    for name, entry in stacks().items():
        native = entry['native']['value']
        rows[name] = {'loaded': entry['recognised_by']['value']['environment'],
                      **{key: native[key] for key in ('prgenv', 'modules', 'plugin')}}
    return STACKS.replace('ROWS', literal(rows, 0, len('local_stacks = ')))


STACKS = '''\
# <stacks> written by `make modules`
local_stacks = ROWS
local_file, local_yours = None, {}
try:  # your site file or _mpicontainer_local.py, if there is one; MPINative says what is wrong with it
    if str(local_site).endswith('.py'):
        # no code for you, where everybody may write it or (but in a folder as /tmp) exchange it; 0o100000: a plain file
        local_modes = [local_stat(each).st_mode for each in (local_site, local_site.rpartition('/')[0] or '.')]
        if local_modes[0] & 0o170000 != 0o100000 or any(mode & 0o1002 == 0o002 for mode in local_modes):
            raise ImportError(local_site)
        with open(local_site) as local_file:
            exec(local_file.read(), local_yours)
        local_site = local_yours.get('SITE') or list(local_yours['SITES'])[0]
    else:
        from easybuild.easyblocks.generic import _mpicontainer_local as local_file
        local_yours = vars(local_file)
        local_site = local_site or local_yours.get('SITE')
    for local_name, local_entry in local_yours.get('SITES', {}).items():
        local_stack = dict(local_stacks.get(local_entry.get('based_on', local_name), {}))
        local_stack.update(local_entry.get('native', {}).get('value') or {})
        if 'recognised_by' in local_entry:
            local_stack['loaded'] = local_entry['recognised_by']['value'].get('environment')
        local_stacks[local_name] = local_stack
except (Exception, SystemExit):
    pass
del local_file, local_yours  # EasyBuild copies every name that is left
for local_name in sorted(local_stacks):
    local_loaded = local_stacks[local_name].get('loaded')
    if not local_site and local_loaded and all(
            local_search(local_loaded[key], local_environ.get(key, '')) for key in local_loaded):
        local_site = local_name
local_stack = local_stacks.get(local_site, {})
local_compiler = local_prgenv or local_stack.get('prgenv')
local_suffix, local_dependencies = '', []
if local_stack.get('prgenv'):
    local_suffix = '-' + local_site + ('' if local_compiler == local_stack['prgenv'] else '-' + local_compiler)
    local_dependencies = [('PrgEnv-' + local_compiler if module.startswith('PrgEnv-') else module, EXTERNAL_MODULE)
                          for module in local_stack['modules']]
    if local_stack.get('plugin'):
        local_dependencies.append(tuple(local_stack['plugin']) + ('-' + local_site,))
# </stacks>
'''


# ---- the release, and sums

def of_release(text):
    """Return text with today's release wherever a name of the benchmarks has one behind it."""
    return RELEASE.sub(lambda found: found.group(1) + OSU['version'], text)


def with_release(text):
    """Return the text of an easyconfig with today's release: version, sha256 of the archive, names in comments."""
    text = re.sub(r"(?m)^version = '.*'$", f"version = '{OSU['version']}'", text)
    text = re.sub(r"(?m)^(sources = \['osu-micro-benchmarks-.*\nchecksums = \[\s*)'\w{64}'",
                  lambda found: f"{found.group(1)}'{OSU['sha256']}'", text)
    return BLOCK.sub(lambda found: block(), of_release(text))


def here(folder, name):
    """Return the Path of the source name (str) of an easyconfig in folder, None if it is a download."""
    return next((path for path in (folder / name, COMMANDS / name) if path.is_file()), None)


def with_sums(text, path):
    """Return the text of the easyconfig path with today's sums of what lies here. Raises ValueError if lists differ."""
    found = LISTS.search(text)
    if not found:  # nothing but other modules
        return text
    names, sums = (re.findall(r"'([^']+)'", found[part]) for part in ('names', 'sums'))
    if not any(here(path.parent, name) for name in names):
        return text
    if len(names) != len(sums):
        raise ValueError(f"{path}: {len(names)} sources, {len(sums)} checksums; one for each is wanted")
    for name, old in list(zip(names, sums)) + ENTRY.findall(text):
        source = here(path.parent, name)
        if source:
            text = text.replace(old, sha256_of(source))
    return text


def texts():
    """Return what every easyconfig and page must be: path -> text, None for a file that must go. Raises ValueError."""
    wanted = {}
    for path in sorted(HERE.glob('*/*/*.eb')):
        text, name = path.read_text(), path.name
        if path.parent == NATIVE:
            text, name = with_release(text), of_release(name)
            wanted[path] = None
        if path.parent != NATIVE or name == 'osu-native.eb':
            wanted[path.with_name(name)] = with_sums(text, path)
    wanted[TOOLS] = re.sub(r"^version = .*$", f"version = '{__version__}'", TOOLS.read_text(), flags=re.M)
    for name, entry in stacks().items():
        wanted[NATIVE / f"osu-native-{OSU['version']}-{name}.eb"] = of_site(name, entry)
    for page in (page for pattern in PAGES for page in sorted(PROJECT.glob(pattern))):
        wanted[page] = of_release(page.read_text())
    return wanted


def main():
    """Write, or with --check compare; exit code 1 if something is stale."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--check', action='store_true', help="write nothing, exit 1 if something is stale")
    check = parser.parse_args().check
    try:
        wanted = texts()
    except ValueError as err:
        sys.exit(f"osu_container/generate/easyconfigs.py: {err}")
    stale = {path: text for path, text in wanted.items()
             if text != (path.read_text() if path.exists() else None)}
    for path, text in stale.items():
        if not check:
            path.unlink() if text is None else path.write_text(text)
            print(f"{'removed' if text is None else 'written'}: {path.relative_to(PROJECT)}")
    if check and stale:
        sys.exit(f"stale, run `make modules`: {', '.join(path.name for path in stale)}")


if __name__ == '__main__':
    main()
