"""
Describe the C library and the host libraries of known sites from public sources.

describe_cray_host() derives a description (host_facts.py) from the site data, from
host_libraries.csv and from the rules of described.py. The workstation's description
(hosts/workstation.json) was measured with `osu-container discover --facts`; nobody of this project
has inspected the other hosts.
"""

import collections
import json
import os
import re
from typing import Any, Dict, Tuple

from osu_container.base.files import read_table
from osu_container.check.described import derive_mpi_traits, list_defined_fabric_versions
from osu_container.data.records import HOST_FORMAT
from osu_container.data.sites import PUBLISHED_SITES, SITES
from osu_container.data.sites.cray import list_rocm_sonames
from osu_container.discover.host_facts import (
    HOSTS_FOLDER,
    read_description,
    require_valid_description,
)
from osu_container.image.elf import MACHINE_NAMES
from osu_container.verdict.site_choice import (
    get_architecture,
    parse_release,
    resolve_described_site,
    resolve_site,
)

#: Library of a site -> row of host_libraries.csv. The column needed has the sonames of the
#: dependencies, some of which the site may lack. A placeholder is a key of list_rocm_sonames(), or
#: another library of the site; a dependency that the site's ROCm lacks is left out.
LIBRARY_NEEDS: Dict[str, Dict[str, Any]] = {
    row['library']: row for row in read_table(__file__, 'host_libraries.csv')
}
#: Libraries that are in a folder of ROCm or AMD's driver, and not in a folder of SLES
_ROCM_LIBRARIES = ('libamd_comgr.so', 'librocprofiler-register.so')
_AMDGPU_LIBRARIES = ('libdrm.so.2', 'libdrm_amdgpu.so.1')
#: Dependencies that a site without them does not need
_OPTIONAL = ('libpmi', 'libpals', 'libxpmem')
#: Evidence for the statement on facts that nobody has published
_UNPUBLISHED_FACTS = {
    'source': "nobody has published which symbols and symbol versions the host's libraries need. "
    "Assumption: the image's libraries provide all needed symbols. The assumption does not include "
    "symbols of the C library",
    'evidence': 'untested',
    'date': '2026-11-23',
}


def _build_statement(origin: Dict[str, Any], **facts: Any) -> Dict[str, Any]:
    """Return a dict with `facts` and with the evidence, source and date of the dict `origin`."""
    return dict(facts, **{key: origin[key] for key in ('evidence', 'source', 'date')})


def _derive_release_facts(
    name: str, release: str, site: Dict[str, Any]
) -> Tuple[str, Dict[str, Any]]:
    """
    Derive facts on the host's MPI or libfabric from its release; return (source, facts).

    Cray's libfabric is based on the release of ofiwg's libfabric in the site data, and always has the
    provider cxi. The newest symbol version of Cray's libfabric 1.15.2.0 is FABRIC_1.6, as the
    published message "version `FABRIC_1.7' not found" shows. For any other library, the result
    is ('', {}).
    """
    if name == 'libfabric':
        return "release number in libfabric's path; FABRIC_VERSIONS in verdict/rules/fabric.py", {
            'verdef': sorted(list_defined_fabric_versions(release)),
            'traits': {
                'release': release,
                'api': list(parse_release(release)[:2]),
                'providers': ['cxi', 'tcp'],
                'complete': False,
                'folders': None,
                'by_name': True,
            },
        }
    if name == 'libmpi':
        return (
            'release number in the path of Cray MPICH; Cray MPICH 8.1 is based on MPICH 3.4, and '
            'Cray MPICH 9.0 on MPICH 4.1 (LUMI training 2026, 102-CPE.md)',
            {
                'functions': 'MPI 3.1' if parse_release(release) < (9,) else 'MPI 4.0',
                'traits': derive_mpi_traits('Cray MPICH', release),
            },
        )
    if name == 'libompi':
        traits = derive_mpi_traits('Open MPI', release)
        traits['pmi'] = [site['pmi']['value']['Open MPI']]
        return "release number in the path of the host's Open MPI", {'traits': traits}
    return '', {}


def describe_cray_host(site: Dict[str, Any]) -> Dict[str, Any]:
    """Return the host description (facts on the host libraries) of an HPE Cray system."""
    named = {name: fact for name, fact in sorted(site['libraries'].items()) if fact}
    sonames = {fact['value'].rpartition('/')[2]: name for name, fact in named.items()}
    rocm = named.get('libhsa-runtime64', {})
    placeholders = collections.defaultdict(str, list_rocm_sonames(rocm.get('release', '6.3')))
    placeholders.update((name, soname) for soname, name in sonames.items())
    unpublished = _build_statement(
        _UNPUBLISHED_FACTS,
        verneed={'libc.so.6': None},
        undefined={'now': [], 'later': []},
        machine=MACHINE_NAMES[get_architecture(site)],
    )
    libraries: Dict[str, Any] = {}
    others: Dict[str, Any] = {}
    for soname, name in sonames.items():
        fact = named[name]
        if name == 'libfabric':
            row = dict(site['libfabric_needs'])
            row['needed'] = ' '.join(['libcxi.so.1'] + row['value'])
        else:
            row = LIBRARY_NEEDS[name]
        needed = [
            other
            for other in row['needed'].format_map(placeholders).split()
            if other in sonames or not other.startswith(_OPTIONAL)
        ]
        others.update((other, row) for other in needed if other not in sonames)
        derived = dict(fact, evidence='derived', source='name of the library in the site data')
        libraries[fact['value']] = [
            _build_statement(derived, soname=soname),
            _build_statement(
                row,
                needed=needed + ['libc.so.6'],
                rpath=[],
                runpath=['/opt/cray/pe/gcc-libs'] if name == 'libmpi' else [],
            ),
            unpublished,
        ]
        derived['source'], facts = _derive_release_facts(name, fact.get('release', ''), site)
        if facts:
            libraries[fact['value']].append(_build_statement(derived, **facts))
    for soname, row in others.items():
        folder = '/opt/amdgpu/lib64' if soname in _AMDGPU_LIBRARIES else '/usr/lib64'
        if soname.startswith(_ROCM_LIBRARIES):
            folder = os.path.dirname(rocm['value'])
        libraries['%s/%s' % (folder, soname)] = [
            _build_statement(row, soname=soname, needed=['libc.so.6'], rpath=[], runpath=[]),
            unpublished,
        ]
    return {
        'format': HOST_FORMAT,
        'site': site['name'],
        'node': None,
        'machine': get_architecture(site),
        'glibc': _build_statement(site['glibc'], value=site['glibc']['value']),
        'libraries': libraries,
    }


def find_host_description(site: Dict[str, Any]) -> Dict[str, Any]:
    """
    Return the description of a site's host from HOSTS_FOLDER, or else from public data.

    If HOSTS_FOLDER and the public data lack the site, the description lists no libraries.
    """
    path = os.path.join(HOSTS_FOLDER, site['name'] + '.json')
    if re.match(r'[\w.-]+$', site['name']) and os.path.exists(path):
        return read_description(path)
    if site['name'] in dict(SITES, **PUBLISHED_SITES) and 'glibc' in site:
        entry = (resolve_described_site if site['name'] in PUBLISHED_SITES else resolve_site)(
            site['name']
        )
        return require_valid_description(
            json.loads(json.dumps(describe_cray_host(entry), sort_keys=True)), site['name']
        )
    return {
        'format': HOST_FORMAT,
        'site': site['name'],
        'glibc': None,
        'libraries': {},
        'machine': get_architecture(site),
    }
