"""
Describe the C library and the host libraries of known sites from public sources.

describe_cray_host() derives a description (host_facts.py) from the tables of this module, the site
data and the rules of described.py. The workstation's description (hosts/workstation.json) was
measured with `osu-container discover --facts`; nobody of this project has inspected the other
hosts.
"""

import json
import os
import re
from collections import OrderedDict
from typing import Any, Dict, Optional, Tuple

from osu_container.check.described import derive_mpi_traits, list_defined_fabric_versions
from osu_container.data.sites import PUBLISHED_SITES, SITES
from osu_container.data.sites.lumi import STACKS
from osu_container.discover.host_facts import (
    FORMAT,
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
_PAWSEY = (
    "value of SINGULARITY_BINDPATH on Pawsey's test system, from "
    "github.com/PawseySC/pawsey-containers, pull request 92"
)
_OLCF = 'value of APPTAINER_CONTAINLIBS in the OLCF documentation on containers on Frontier'
_PAWSEYS_JSON = 'json-c: modulefile.lua in github.com/PawseySC/pawsey-spack-config, commit 25b3ab1'
_CSCS = (
    'CSCS documentation, Container Engine, known issues (github.com/eth-cscs/cscs-docs, commit '
    'adbf2bcc): the host libraries that the hooks inject are linked to glibc 2.38'
)
_LUMI_GUESS = 'guess: this system needs the same libraries as LUMI, because HPE made both systems'
_SLES = 'glibc release of SUSE Linux Enterprise Server 15 %s'
_NEWEST = (
    'SUSE Linux Enterprise Server 15 SP6 and SP7 have this glibc release, and no service '
    'pack has a newer glibc'
)

#: LUMI's sites since January 2026
_LUMI = sorted(STACKS)

#: Site -> (newest glibc that a library of the host may need, source, date, evidence). No public log
#: shows which glibc versions the libraries need.
GLIBC = dict(
    {'lumi-24.03': ('2.31', _SLES % 'SP5', '2025-06-26', 'derived')},
    **dict(
        dict.fromkeys(
            _LUMI,
            ('2.38', _SLES % 'SP6 (LUMI training 2026, Update-202601)', '2026-06-17', 'derived'),
        ),
        **{
            'frontier': (
                '2.38',
                _SLES % 'SP7 (OLCF documentation, 2026-05-26)',
                '2026-07-22',
                'derived',
            ),
            'setonix': ('2.38', _NEWEST, '2026-11-23', 'derived'),
            'perlmutter': ('2.38', _NEWEST, '2026-11-23', 'derived'),
            'alps': ('2.38', _CSCS, '2026-11-23', 'derived'),
            'derecho': ('2.38', _NEWEST, '2026-11-26', 'derived'),
            'polaris': (
                '2.38',
                'a user\'s guide to containers on Polaris: "glibc >= 2.38 required by Cray libfabric '
                '2.2.0rc1"',
                '2026-11-26',
                'derived',
            ),
            'isambard-ai': (
                '2.38',
                _SLES % 'SP6 (according to /etc/os-release in public notes)',
                '2026-11-26',
                'derived',
            ),
            'olivia': ('2.38', _NEWEST, '2026-11-26', 'derived'),
        },
    ),
)

#: Dependencies of a libfabric with the provider cxi: libcurl, json-c and their dependencies
_CURL_LIBRARIES = (
    'libcurl.so.4 libnghttp2.so.14 libidn2.so.0 libssh.so.4 libpsl.so.5 libgssapi_krb5.so.2 '
    'libldap_r-2.4.so.2 liblber-2.4.so.2 libbrotlidec.so.1 libbrotlicommon.so.1 libunistring.so.2 '
    'libjitterentropy.so.3 libkrb5.so.3 libk5crypto.so.3 libkrb5support.so.0 libsasl2.so.3 '
    'libkeyutils.so.1 libz.so.1 libzstd.so.1 libatomic.so.1'
).split()
_SSL_3 = (
    'libssl.so.3 libcrypto.so.3 libselinux.so.1 libpcre2-8.so.0 libcom_err.so.2 libnl-3.so.200 '
    'libnl-route-3.so.200'
).split()
_SSL_1 = 'libssl.so.1.1 libcrypto.so.1.1 libpcre.so.1 libnl-3.so.200 libnl-route-3.so.200'.split()

#: Site -> (dependencies of the site's libfabric except libcxi, source, date, evidence)
LIBFABRIC_NEEDS = dict(
    {
        'lumi-24.03': (
            _CURL_LIBRARIES + _SSL_1 + ['libjson-c.so.3'],
            _CONTRIB,
            '2026-05-04',
            'derived',
        )
    },
    **dict(
        dict.fromkeys(
            _LUMI,
            (
                _CURL_LIBRARIES + _SSL_3 + ['libjson-c.so.3'],
                _LOG + '; json-c as in ' + _PAWSEY,
                '2026-07-02',
                'derived',
            ),
        ),
        **{
            'setonix': (
                _CURL_LIBRARIES + _SSL_3 + ['libjson-c.so.5'],
                _PAWSEYS_JSON + '; the rest as in ' + _PAWSEY,
                '2026-11-23',
                'derived',
            ),
            'frontier': (
                _CURL_LIBRARIES + _SSL_3 + ['libjson-c.so.5'],
                _OLCF + '; the rest as on LUMI',
                '2026-07-22',
                'derived',
            ),
            **{
                name: (
                    _CURL_LIBRARIES + _SSL_3 + ['libjson-c.so.3'],
                    _LUMI_GUESS,
                    '2026-11-23',
                    'untested',
                )
                for name in ('alps', 'derecho', 'isambard-ai', 'olivia', 'perlmutter', 'polaris')
            },
        },
    ),
)

_CXX = ['libstdc++.so.6', 'libgcc_s.so.1']
#: Library of a site -> (dependencies, some of which the site may lack, source, date, evidence)
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
    'libxpmem': ([], 'the library libxpmem needs only the C library', '2026-11-23', 'untested'),
    'libmpi_gtl_hsa': (
        ['libamdhip64.so.6', 'libhsa-runtime64.so.1'] + _CXX,
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
            'librocprofiler-register.so.0',
        ]
        + _CXX,
        _LOG,
        '2026-04-19',
        'derived',
    ),
    'libamdhip64': (
        [
            'libamd_comgr.so.2',
            'libhsa-runtime64.so.1',
            'librocprofiler-register.so.0',
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
        ['libcudart.so.12'] + _CXX,
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
_ROCM_LIBRARIES = ('libamd_comgr.so.2', 'librocprofiler-register.so.0')
_AMDGPU_LIBRARIES = ('libdrm.so.2', 'libdrm_amdgpu.so.1')
#: Source of statements on facts that nobody has published
_UNPUBLISHED_FACTS = (
    "nobody has published which symbols and symbol versions these files need. Assumption: the "
    "image's libraries provide all needed symbols. Nothing is assumed about the C library"
)


def _build_statement(evidence: str, source: str, date: str, **facts: Any) -> Dict[str, Any]:
    return OrderedDict(
        [('evidence', evidence), ('source', source), ('date', date)] + sorted(facts.items())
    )


def _find_row(table: Dict[str, Any], site: Dict[str, Any]) -> Any:
    """Return the row of a table for a site, or else the row for the site's system, or None."""
    return table.get(site['name']) or table.get(site.get('stack', {'value': {}})['value'].get('of'))


def describe_cray_host(
    site: Dict[str, Any],
    libfabric: Optional[str] = None,
    cray_mpich: Optional[str] = None,
    glibc: Optional[Tuple[str, str, str, str]] = None,
) -> Dict[str, Any]:
    """
    Return the description of the host of an HPE Cray system.

    libfabric: release of ofiwg's libfabric on which Cray's libfabric is based. Cray's libfabric
    always has the provider cxi.
    cray_mpich: release of Cray MPICH.
    glibc: a row of the table GLIBC.

    The default releases come from the site data. The default row is the row of the site. The newest
    symbol version of Cray's libfabric 1.15.2.0 is FABRIC_1.6, as the published message "version
    `FABRIC_1.7' not found" shows.
    """
    # Libraries that only one MPI function opens are left out, because nobody has published their
    # dependencies.
    named = OrderedDict(
        (name, fact)
        for name, fact in sorted(site['libraries'].items())
        if fact and not fact.get('serves')
    )
    libfabric = libfabric or named.get('libfabric', {}).get('release', '')
    cray_mpich = cray_mpich or named.get('libmpi', {}).get('release', '')
    sonames = {fact['value'].rpartition('/')[2]: name for name, fact in named.items()}
    libraries: Dict[str, Any] = OrderedDict()
    others: Dict[str, Any] = OrderedDict()
    for name, fact in named.items():
        if name == 'libfabric':
            needed, source, date, evidence = _find_row(LIBFABRIC_NEEDS, site)
            needed = ['libcxi.so.1'] + needed
        else:
            needed, source, date, evidence = LIBRARY_NEEDS[name]
        optional = [
            soname
            for key in LIBRARY_NEEDS
            for soname in LIBRARY_NEEDS[key][0]
            if soname.startswith(
                ('libpmi', 'libpals', 'libxpmem', 'libamdhip', 'libhsa', 'libcudart')
            )
        ]
        needed = [soname for soname in needed if soname in sonames or soname not in optional]
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
    rocm = (
        os.path.dirname(named['libhsa-runtime64']['value']) if 'libhsa-runtime64' in named else ''
    )
    usual = [folder for folder in site['library_folders']['value'] if folder == '/usr/lib64'][0]
    for soname, (source, date, evidence) in others.items():
        folder = (
            rocm
            if soname in _ROCM_LIBRARIES
            else '/opt/amdgpu/lib64'
            if soname in _AMDGPU_LIBRARIES
            else usual
        )
        libraries['%s/%s' % (folder, soname)] = [
            _build_statement(
                evidence, source, date, soname=soname, needed=['libc.so.6'], rpath=[], runpath=[]
            ),
            _build_unpublished_statement(site),
        ]
    glibc_row = glibc or _find_row(GLIBC, site)
    return {
        'format': FORMAT,
        'site': site['name'],
        'node': None,
        'machine': get_architecture(site),
        'glibc': OrderedDict(zip(('value', 'source', 'date', 'evidence'), glibc_row)),
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
    if site['name'] in dict(SITES, **PUBLISHED_SITES) and _find_row(GLIBC, site):
        entry = (resolve_described_site if site['name'] in PUBLISHED_SITES else resolve_site)(
            site['name']
        )
        return require_valid_description(
            json.loads(json.dumps(describe_cray_host(entry), sort_keys=True)), site['name']
        )
    return {
        'format': FORMAT,
        'site': site['name'],
        'glibc': None,
        'libraries': {},
        'machine': get_architecture(site),
    }
