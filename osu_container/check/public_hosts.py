"""
Describe the C library and the host libraries of known sites from public sources.

describe_cray_host() derives a description (host_facts.py) from the site data, the table of this
module and the rules of described.py. The workstation's description (hosts/workstation.json) was
measured with `osu-container discover --facts`; nobody of this project has inspected the other
hosts.
"""

import json
import os
import re
from typing import Any, Dict

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

_LOG = (
    'output of ldd in LUMI job 16599712, from github.com/alazzaro/openmpi_on_ss11, commit 627b2cc'
)
_SPACK = (
    'dependency tree of Cray MPICH 8.1.13 in github.com/spack/spack, pull request 29392, 2022-03-07'
)
_CONTRIB = 'bind mounts in singularity-bindings-24.03.eb of LUMI-EasyBuild-contrib, commit fc59dd70'
_CXX = ['libstdc++.so.6', 'libgcc_s.so.1']
#: Library of a site -> (dependencies, some of which the site may lack, source, date, evidence). The
#: placeholders are keys of list_rocm_sonames(); a dependency that the ROCm lacks is left out.
LIBRARY_NEEDS = {
    'libcxi': (['libnl-3.so.200', 'libnl-route-3.so.200'], _CONTRIB, '2026-05-04', 'derived'),
    'libmpi': (
        [
            'libfabric.so.1',
            'libpmi.so.0',
            'libpmi2.so.0',
            'libxpmem.so.0',
            'libgfortran.so.5',
            'libquadmath.so.0',
            'libatomic.so.1',
            'libgcc_s.so.1',
        ],
        _SPACK + '; libxpmem: LUMI job 16505426',
        '2026-03-06',
        'derived',
    ),
    'libompi': (
        [
            'libfabric.so.1',
            'libhwloc.so.15',
            'libevent_core-2.1.so.7',
            'libevent_pthreads-2.1.so.7',
            'libz.so.1',
        ],
        'output of readelf -d for Open MPI 4.1 and 5.0 from Debian and from PyPI',
        '2026-11-26',
        'untested',
    ),
    'libpmi': (['libpmi2.so.0'], _SPACK, '2022-03-07', 'derived'),
    'libpmi2': (['libpals.so.0'], _SPACK, '2022-03-07', 'derived'),
    'libpals': (
        ['libjansson.so.4'],
        'bind mounts in singularity-AI-bindings-24.03.eb of LUMI-EasyBuild-contrib, commit '
        'fc59dd70',
        '2026-05-04',
        'derived',
    ),
    'liblustreapi': (
        [],
        'no source names the libraries that liblustreapi needs beside the C library',
        '2026-11-28',
        'untested',
    ),
    'libxpmem': ([], 'the library libxpmem needs only the C library', '2026-11-23', 'untested'),
    'libmpi_gtl_hsa': (
        ['{libamdhip64}', 'libhsa-runtime64.so.1'] + _CXX,
        _LOG,
        '2026-04-19',
        'derived',
    ),
    'libhsa-runtime64': (
        [
            'libdrm.so.2',
            'libdrm_amdgpu.so.1',
            'libelf.so.1',
            'libnuma.so.1',
            '{librocprofiler-register}',
        ]
        + _CXX,
        _LOG,
        '2026-04-19',
        'derived',
    ),
    'libamdhip64': (
        [
            '{libamd_comgr}',
            'libhsa-runtime64.so.1',
            '{librocprofiler-register}',
            'libnuma.so.1',
            'libz.so.1',
            'libzstd.so.1',
        ]
        + _CXX,
        _LOG,
        '2026-04-19',
        'derived',
    ),
    'libmpi_gtl_cuda': (
        ['{libcudart}'] + _CXX,
        "guess: libmpi_gtl_cuda needs the CUDA runtime, as libmpi_gtl_hsa needs AMD's runtime",
        '2026-11-23',
        'untested',
    ),
    'libcudart': (
        [],
        'the runtime library of CUDA 12 needs only the C library',
        '2026-11-23',
        'untested',
    ),
}
#: Libraries that are in a folder of ROCm or AMD's driver, and not in a folder of SLES
_ROCM_LIBRARIES = ('libamd_comgr.so', 'librocprofiler-register.so')
_AMDGPU_LIBRARIES = ('libdrm.so.2', 'libdrm_amdgpu.so.1')
#: Dependencies that a site without them does not need
_OPTIONAL = ('libpmi', 'libpals', 'libxpmem')
#: Source of statements on facts that nobody has published
_UNPUBLISHED_FACTS = (
    "nobody has published which symbols and symbol versions these files need. Assumption: the "
    "image's libraries provide all needed symbols. Nothing is assumed about the C library"
)


def _build_statement(evidence: str, source: str, date: str, **facts: Any) -> Dict[str, Any]:
    return dict(facts, evidence=evidence, source=source, date=date)


def describe_cray_host(site: Dict[str, Any]) -> Dict[str, Any]:
    """
    Return the description of the host of an HPE Cray system.

    Cray's libfabric is based on the release of ofiwg's libfabric in the site data, and always has the
    provider cxi. The newest symbol version of Cray's libfabric 1.15.2.0 is FABRIC_1.6, as the
    published message "version `FABRIC_1.7' not found" shows.
    """
    named = {name: fact for name, fact in sorted(site['libraries'].items()) if fact}
    libfabric, cray_mpich = (
        named.get(name, {}).get('release', '') for name in ('libfabric', 'libmpi')
    )
    sonames = {fact['value'].rpartition('/')[2]: name for name, fact in named.items()}
    changing = dict(
        list_rocm_sonames(named.get('libhsa-runtime64', {}).get('release', '6.3')),
        **{name: soname for soname, name in sonames.items()},
    )
    libraries: Dict[str, Any] = {}
    others: Dict[str, Any] = {}
    for name, fact in named.items():
        if name == 'libfabric':
            row = site['libfabric_needs']
            needed, source, date, evidence = (
                row[key] for key in ('value', 'source', 'date', 'evidence')
            )
            needed = ['libcxi.so.1'] + needed
        else:
            needed, source, date, evidence = LIBRARY_NEEDS[name]
            needed = [
                changing.get(soname.strip('{}'), '') if soname.startswith('{') else soname
                for soname in needed
            ]
        needed = [
            soname
            for soname in needed
            if soname in sonames or soname and not soname.startswith(_OPTIONAL)
        ]
        others.update(
            (soname, (source, date, evidence)) for soname in needed if soname not in sonames
        )
        libraries[fact['value']] = [
            _build_statement(
                'derived',
                'name of the library in the site data',
                fact['date'],
                soname=fact['value'].rpartition('/')[2],
            ),
            _build_statement(
                evidence,
                source,
                date,
                needed=needed + ['libc.so.6'],
                rpath=[],
                runpath=['/opt/cray/pe/gcc-libs'] if name == 'libmpi' else [],
            ),
            _build_unpublished_statement(site),
        ]
    if 'libfabric' in named:
        libraries[named['libfabric']['value']].append(
            _build_statement(
                'derived',
                'release in the path of libfabric; FABRIC_VERSIONS in verdict/rules/fabric.py',
                named['libfabric']['date'],
                verdef=sorted(list_defined_fabric_versions(libfabric)),
                traits={
                    'release': libfabric,
                    'api': list(parse_release(libfabric)[:2]),
                    'providers': ['cxi', 'tcp'],
                    'complete': False,
                    'folders': None,
                    'by_name': True,
                },
            )
        )
    if 'libmpi' in named:
        libraries[named['libmpi']['value']].append(
            _build_statement(
                'derived',
                'release in the path of Cray MPICH; Cray MPICH 8.1 is based on MPICH 3.4, and '
                'Cray MPICH 9.0 on MPICH 4.1 (LUMI training 2026, 102-CPE.md)',
                named['libmpi']['date'],
                functions='MPI 3.1' if parse_release(cray_mpich) < (9,) else 'MPI 4.0',
                traits=derive_mpi_traits('Cray MPICH', cray_mpich),
            )
        )
    if 'libompi' in named:
        libraries[named['libompi']['value']].append(
            _build_statement(
                'derived',
                'release in the path of Open MPI',
                named['libompi']['date'],
                traits=dict(
                    derive_mpi_traits('Open MPI', named['libompi']['release']),
                    pmi=[site['pmi']['value']['Open MPI']],
                ),
            )
        )
    rocm = os.path.dirname(named.get('libhsa-runtime64', {}).get('value', ''))
    for soname, (source, date, evidence) in others.items():
        folder = '/opt/amdgpu/lib64' if soname in _AMDGPU_LIBRARIES else '/usr/lib64'
        folder = rocm if soname.startswith(_ROCM_LIBRARIES) else folder
        libraries['%s/%s' % (folder, soname)] = [
            _build_statement(
                evidence, source, date, soname=soname, needed=['libc.so.6'], rpath=[], runpath=[]
            ),
            _build_unpublished_statement(site),
        ]
    return {
        'format': HOST_FORMAT,
        'site': site['name'],
        'node': None,
        'machine': get_architecture(site),
        'glibc': {key: site['glibc'][key] for key in ('value', 'source', 'date', 'evidence')},
        'libraries': libraries,
    }


def _build_unpublished_statement(site: Dict[str, Any]) -> Dict[str, Any]:
    """Return the statement about the facts of a host library that nobody has published."""
    return _build_statement(
        'untested',
        _UNPUBLISHED_FACTS,
        '2026-11-23',
        verneed={'libc.so.6': None},
        undefined={'now': [], 'later': []},
        machine=MACHINE_NAMES[get_architecture(site)],
    )


def find_host_description(site: Dict[str, Any]) -> Dict[str, Any]:
    """
    Return the description of a site's host from HOSTS_FOLDER, or else from public data.

    If neither source has the site, the description contains no facts.
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
