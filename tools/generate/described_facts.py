"""Derive facts about modules, and the tables of docs/support.md, from public data.

When EasyBuild installs a module, EasyBuild reads these facts from files (verdict/facts.py). This
Python module needs no installation, because check/described.py describes the image and
discover/host_facts.py describes the host. All sizes are 0, and all sha256 are None.

`python -m tools.generate.described_facts` prints the table of sites and images (`make sites`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from osu_container.base.places import PROJECT
from osu_container.build.recipes.versions import MPI4PY_VERSION
from osu_container.check.cli import list_applicable_approaches
from osu_container.check.described import describe_catalogue_image
from osu_container.check.public_hosts import find_host_description
from osu_container.data.approaches import APPROACHES
from osu_container.data.sites import PUBLISHED_SITES, SITES
from osu_container.discover.host_facts import DescribedHost
from osu_container.image.traits import read_fabric_traits, read_mpi_traits
from osu_container.install.native import PORTS
from osu_container.verdict.facts import list_entrypoint_folders
from osu_container.verdict.rules.finding import LEVELS
from osu_container.verdict.settings import (
    list_host_libraries,
    list_site_files,
    resolve_approach,
    select_host_mpi,
    select_image,
)
from osu_container.verdict.site_choice import (
    SettingsError,
    resolve_described_site,
    resolve_site,
)
from osu_container.verdict.trial import (
    Trial,
    build_trial,
    find_leading_plugin_folder,
    locate_host_libraries,
)
from osu_container.verdict.verdict import format_level, judge_approach, recommend_approach

#: Modules that run in a container, each a folder of easyconfigs
CONTAINERS = ('osu-container', 'osu-mpi4py')
#: Stands for the workstation's folder of host paths
HOST = '@HOST@'
#: Folders of the user's Python software in a container (install/user_software.py)
USER_PATH = ['/user-software/venv/bin', '/user-software/bin']
#: Part of the name of an image with Python that its base image does not have
PYTHON_NAME_PART = re.compile(r'-mpi4py-[\d.]+(?=-)|-cupy(?=\.sif)')
#: Runtime facts for sites without them; apptainer without setuid, which is the default today
RUNTIMES = {'apptainer': {'release': '1.4.5', 'setuid': False}, 'singularity': {}}


def list_module_names(site: str) -> list[str]:
    """Return the names of all container modules of a site, in the form 'module/approach'."""
    entry, names = resolve_site(site), []
    easyconfigs = [
        path for name in CONTAINERS for path in (PROJECT / 'easyconfigs' / 'o' / name).glob('*.eb')
    ]
    for path in sorted(easyconfigs):
        module, _, approach = path.stem.rpartition('-')
        name = f'{module}/{approach}'
        try:
            list_host_libraries(resolve_approach(approach), entry)
            select_image(module, resolve_approach(approach), entry)
        except SettingsError:
            continue
        if module == CONTAINERS[0] or name in entry['images']['value']:
            names.append(name)
    return names


def derive_facts(site: str, name: str) -> dict[str, Any]:
    """
    Return the facts about a module of a site; build_settings() reads these facts.

    name: name of the module in the form 'module/approach'
    """
    entry, (module, _, approach) = resolve_site(site), name.partition('/')
    file = select_image(module, resolve_approach(approach), entry)
    host = DescribedHost(find_host_description(entry))
    mix = build_trial(
        resolve_approach(approach),
        entry,
        describe_catalogue_image(PYTHON_NAME_PART.sub('', file), host.data['machine']),
        host,
    )
    return {
        'host': _derive_host_facts(mix, HOST if site == 'workstation' else ''),
        'image': _derive_image_facts(mix, file),
        'user_path': USER_PATH if PYTHON_NAME_PART.search(file) else None,
    }


def _derive_host_facts(mix: Trial, root: str) -> dict[str, Any]:
    """Return the facts about the host on which a trial would run.

    A trial is the combination of an approach, an image and a host.

    root: folder that precedes all paths
    """
    runtime = mix.site['runtime']['value'][0]
    injected = _list_injected_libraries(mix)
    facts = {
        'root': root,
        'runtime': dict(RUNTIMES[runtime], name=runtime, command=runtime),
        'mpi': _format_release(mix, 'libmpi'),
        'libfabric': _format_release(mix, 'libfabric'),
        'files': [path for path, _ in list_site_files(mix.approach, mix.site, 'install')],
        'injected': [dict(library, path=root + library['path']) for library in injected],
    }
    if mix.approach.get('entrypoint'):
        folders = list_entrypoint_folders(
            mix.approach,
            mix.site,
            [(library['soname'], library['path']) for library in injected],
            mix.host,
        )
        # The workstation's folder of host paths only has the folders of its libraries.
        facts['folders'] = [
            dict(folder, path=root + folder['path'])
            for folder in folders
            if not root
            or any(library['path'].startswith(folder['path'] + '/') for library in injected)
        ]
    return facts


def _format_release(mix: Trial, name: str) -> str | None:
    """
    Return the release of a host library as text, None if the host lacks the library.

    The text is 'FAMILY RELEASE', or only the release if the library is libfabric.
    """
    fact = mix.site['libraries'].get(name)
    if not fact or not mix.host.is_file(fact['value']):
        return None
    if name == 'libfabric':
        return mix.host.read_traits(fact['value'], read_fabric_traits)['release']
    traits = mix.host.read_traits(fact['value'], read_mpi_traits)
    return f"{traits['family']} {traits['release']}"


def _list_injected_libraries(mix: Trial) -> list[dict[str, Any]]:
    """Return the host libraries that would be injected into the container, each as a dict.

    For a host that nobody has inspected, the result contains no dependencies of these libraries:
    most dependencies then come from the image.
    """
    names = {path: name for name, path in locate_host_libraries(mix.approach, mix.site, mix.host)}
    needed_by = {
        name: library.soname
        for library in reversed(list(mix.injected.values()))
        for name in library.needed
    }
    libraries = []
    for soname, file in mix.injected.items():
        library = {
            'soname': soname,
            'path': file.path,
            'size': 0,
            'sha256': None,
            'build_id': None,
            'what': soname,
            'why': f'the image lacks this library, which {needed_by.get(soname)} needs',
        }
        if file.path in names:
            name = names[file.path]
            release = _format_release(mix, name)
            title = {'libfabric': f'libfabric {release}', 'libmpi': release}.get(name, soname)
            fact = mix.site['libraries'][name]
            libraries.append(
                dict(
                    library, name=name, what=title, why=fact['why'], names=fact.get('opened_as', [])
                )
            )
        elif mix.host.data.get('node'):
            libraries.append(library)
    return libraries


def _derive_image_facts(mix: Trial, file: str) -> dict[str, Any]:
    libraries: Any = mix.image.libraries  # a dict, because the image is described
    mpi_traits = mix.image.read_traits(libraries[mix.soname], read_mpi_traits)
    fabric_traits = mix.image.read_traits(libraries['libfabric.so.1'], read_fabric_traits)
    python = PYTHON_NAME_PART.search(file)
    folder = '/opt/mpi4py/bin' if python else '/opt/osu/bin'
    names = [*PORTS, *(['python', 'pip'] if python else [])]
    return {
        'file': file,
        'soname': mix.soname,
        'mpi': f"{mpi_traits['family']} {mpi_traits['release']}",
        'libfabric': fabric_traits['release'],
        'programs_are': f'mpi4py {MPI4PY_VERSION} ports',
        'programs': dict.fromkeys(names, folder),
        'gpu': bool(re.search('rocm|cuda', file)),
        'rocm': mix.image.find_rocm_release(),
        'rccl_plugin': mix.image.find_rccl_plugin(),
        'rccl_plugin_folder': find_leading_plugin_folder(mix.image, mix.injected),
        'installed': {'size': 0},
    }


# ---- tables of docs/support.md

PAGE = PROJECT / 'docs' / 'support.md'
#: Evidence of a fact, the strongest first
EVIDENCE = ('measured', 'derived', 'untested')
#: Site -> {approach: letter of the source below the table} of runs by other people, without a module
#: of this project
PUBLISHED_RUNS = {
    'lumi-24.03': dict.fromkeys(('native', 'pure', 'bind', 'hybrid', 'opensource'), 'b'),
    'lumi-25.03': {'bind': 'd', 'opensource': 'e'},
    'lumi-25.09': {'native': 'g'},
    'alps': {'hybrid': 'h', 'openmpi': 'f'},
}


def describe_evidence(name: str, site: dict[str, Any]) -> str:
    """Return the evidence that an approach works on a site, such as 'measured' or 'derived'.

    The result is '–' if the site lacks the approach. An approach needs several facts,
    such as the path of libmpi. If no run of the approach on the site is known, the result is the
    evidence of the least certain of these facts.
    """
    if site['name'] == 'workstation':
        return 'measured <sup>a</sup>'
    if name in PUBLISHED_RUNS.get(site['name'], ()):
        return f"published <sup>{PUBLISHED_RUNS[site['name']][name]}</sup>"
    approach = resolve_approach(name)
    if not (approach['container'] or site['native']['value']):
        return '–'
    # The host may have Open MPI only.
    for entry in (approach, select_host_mpi(approach, 'libmpi.so.40')):
        try:
            libraries = list_host_libraries(entry, site)
        except SettingsError:
            continue
        facts = [site['pmi'], *(site['libraries'][library] for library, _ in libraries)]
        facts += [site['provider']] * (name != 'pure') + [site['native']] * (name == 'native')
        # A fact may have been measured, but the approach has not run.
        return max(('derived', *(fact['evidence'] for fact in facts)), key=EVIDENCE.index)
    return '–'


def list_site_images() -> Iterator[tuple[str, ...]]:
    """Yield site, image, approach, verdict and evidence for each image of each site.

    A site may name an image for several approaches. The approach in the result is then the approach
    that `check` recommends, or, without a recommendation, the approach with the best verdict.
    """
    for site in map(resolve_site, SITES):
        host = DescribedHost(find_host_description(site))
        images = site['images']['value']
        for file in dict.fromkeys(file for key, file in images.items() if '/' not in key):
            image = describe_catalogue_image(file, host.data['machine'])
            assert image  # a test finds names that the catalogue lacks
            verdicts = {
                name: judge_approach(resolve_approach(name), site, image, host)
                for name in list_applicable_approaches(image)
                if images.get(name) == file
            }
            best = recommend_approach(verdicts.values(), site) or min(
                verdicts, key=lambda name: LEVELS.index(verdicts[name].level)
            )
            level = format_level(verdicts[best]).lower()
            yield site['name'], file[: -len('.sif')], best, level, describe_evidence(best, site)


def format_table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown."""
    head = list(head)
    lines = [head, ['---'] * len(head), *rows]
    return '\n'.join(f"| {' | '.join(line)} |" for line in lines)


def format_site_images() -> str:
    """Return the table of sites and images in Markdown."""
    return format_table(('site', 'image', 'approach', 'verdict', 'evidence'), list_site_images())


def render_tables() -> dict[Path, str]:
    """Return {path: text} of the page docs/support.md with new tables of sites."""
    sites = [*map(resolve_described_site, PUBLISHED_SITES), *map(resolve_site, SITES)]
    matrix = format_table(
        ('site', *APPROACHES),
        ([site['name'], *(describe_evidence(name, site) for name in APPROACHES)] for site in sites),
    )
    text = PAGE.read_text()
    for table in (format_site_images(), matrix):
        head = table.partition('\n')[0]
        text = re.sub(rf'(?m)^{re.escape(head)}\n(\|.*\n)*', table + '\n', text)
    return {PAGE: text}


if __name__ == '__main__':
    print(format_site_images())
