"""
Find the MPI of a system, and how srun starts its ranks.

This module searches for libmpi, Cray PMI, PALS and xpmem. This module also selects the value of
srun's option --mpi=.
"""

import os
import re
from typing import TYPE_CHECKING, Any, Dict, List, Tuple

from osu_container.discover.host import SurveyedHost, parse_numbers

if TYPE_CHECKING:
    from osu_container.discover.survey import Survey

LIBMPI, LIBMPI_ABI = 'libmpi.so.12', 'libmpi_abi.so.1'


def survey_libmpi(survey: 'Survey') -> None:
    """
    Record the host's libmpi with the MPICH ABI in the survey.

    Cray MPICH has a libmpi with the MPICH ABI in its folders lib-abi-mpich. On a host without Cray
    MPICH, the function searches for another MPI with this ABI, such as MPICH.
    """
    host, loaded = survey.host, survey.host.get_variable('CRAY_MPICH_DIR').rstrip('/')
    source = (
        'libmpi was found in /opt/cray/pe/mpich, because the loaded module cray-mpich has no folder '
        'lib-abi-mpich'
        if loaded
        else 'libmpi was found in the newest release in /opt/cray/pe/mpich; discover prefers the '
        'build for GNU compilers'
    )
    candidates = (
        _list_loaded_cray_builds(host, loaded)
        + [(path, source) for path in _list_cray_builds(host, loaded)]
        + _list_other_mpis(survey)
    )
    path = survey.select_library(
        'libmpi',
        candidates,
        "this libmpi is the host's MPI with the soname of the MPICH ABI: programs that are linked with "
        "any MPICH can load the host's MPI",
        'MPI',
        LIBMPI,
    )
    # Search the folder of libmpi first. Releases of MPICH after 5.0 may have only this library.
    survey.select_library(
        'libmpi_abi',
        [
            (os.path.join(os.path.dirname(candidate), LIBMPI_ABI), source)
            for candidate, source in ([(path, 'the folder of libmpi')] if path else candidates)
        ],
        "this libmpi is the host's MPI with the soname of the standard ABI of MPI 5, for programs with this ABI",
        'MPI',
        LIBMPI_ABI,
    )
    if not path:
        survey.add_missing(
            LIBMPI,
            "the approaches bind and native cannot be installed without an MPI of the host that has "
            "the MPICH ABI. Load the module of MPICH or of the vendor's MPI, and run "
            "osu-container discover again. The approaches pure, hybrid and opensource need no MPI "
            "of the host",
        )
        return
    release, path_release = (
        survey.format_library_release('libmpi'),
        re.search(r'/pe/mpich/([\d.]+)/', path),
    )
    if not release.startswith(
        'Cray MPICH' if path_release else ('MPICH', 'Intel MPI', 'Cray MPICH', 'MVAPICH')
    ):
        host.add_remark("the library %s belongs to %s" % (path, release or 'an unknown MPI'))


#: {folder below /opt/host-mpi: patterns of its files, relative to the folder of libmpi}. The first
#: pattern is for an upstream installation, the second for Debian
_PARTS = {
    'etc': ['../etc/openmpi-mca-params.conf', '/etc/openmpi/openmpi-mca-params.conf'],
    'lib/openmpi': ['openmpi/mca_*.so', 'openmpi/lib/openmpi*/mca_*.so'],
    'lib/pmix': ['pmix/*mca_*.so', 'pmix2/lib/pmix/*mca_*.so'],
    'lib/ucx': ['ucx/*.so*', 'openmpi/ucx/*.so*'],
}


def survey_open_mpi(survey: 'Survey') -> None:
    """Record the host's Open MPI and the folders of its plugins in the survey."""
    host, soname = survey.host, 'libmpi.so.40'
    candidates = [
        ('%s/lib/%s' % (folder, soname), name)
        for folder, name in host.list_variable_folders('EBROOTOPENMPI', 'MPI_HOME')
    ]
    candidates += survey.list_path_candidates(soname)
    candidates += host.list_newest_paths('/opt/openmpi/*/lib/' + soname, 'in /opt')
    path = survey.select_library(
        'libompi',
        candidates + survey.list_library_candidates(soname),
        "this libmpi is the host's Open MPI, for images with Open MPI",
        'MPI',
        soname,
    )
    if path:
        folder = os.path.dirname(path)
        parts = [
            (
                place,
                [
                    match
                    for pattern in patterns
                    for match in host.list_matching_paths(
                        os.path.normpath(os.path.join(folder, pattern))
                    )
                ],
            )
            for place, patterns in _PARTS.items()
        ]
        survey.facts['libraries.libompi']['folders'] = {
            place: os.path.dirname(paths[0]) for place, paths in parts if paths
        }


def _list_loaded_cray_builds(host: SurveyedHost, loaded: str) -> List[Tuple[str, str]]:
    """
    Return a list of (path, source) for each libmpi of a loaded Cray MPICH module.

    loaded: value of the variable CRAY_MPICH_DIR, or ''.
    source: text that tells how the path was found.
    """
    builds = [
        (
            '%s/lib-abi-mpich/%s' % (loaded, LIBMPI),
            'CRAY_MPICH_DIR, set by the loaded module cray-mpich, contains the folder of libmpi',
        )
    ]
    return (builds if loaded else []) + [
        (
            '%s/%s' % (folder, LIBMPI),
            '%s, set by the loaded module cray-mpich-abi, contains the folder of libmpi' % name,
        )
        for folder, name in host.list_variable_folders('LD_LIBRARY_PATH', 'CRAY_LD_LIBRARY_PATH')
        if folder.endswith('/lib-abi-mpich')
    ]


def _list_cray_builds(host: SurveyedHost, loaded: str) -> List[str]:
    """
    Return the paths of libmpi in all releases of Cray MPICH, ordered by preference.

    The release of the loaded module comes first, then the other releases from the newest to the
    oldest. In each release the build for GCC comes first, because the build for GCC needs no
    library of a vendor's compiler.

    loaded: value of CRAY_MPICH_DIR, or ''.
    """
    release = re.search(r'/mpich/[\d.]+/', loaded + '/')

    def get_rank(path: str) -> Tuple[bool, List[int], bool, List[int]]:
        is_loaded = release is not None and release.group() in path
        numbers = parse_numbers(path.split('/')[5])
        return is_loaded, numbers, '/gnu/' in path, parse_numbers(path)

    return sorted(
        [
            path
            for depth in ('*', '*/*')
            for path in host.list_matching_paths(
                '/opt/cray/pe/mpich/[0-9]*/ofi/%s/lib-abi-mpich/%s' % (depth, LIBMPI)
            )
        ],
        key=get_rank,
        reverse=True,
    )


def _list_other_mpis(survey: 'Survey') -> List[Tuple[str, str]]:
    """
    Return a list of (path, source) for files that may be the libmpi of an MPICH.

    The paths come from `mpicc -show`, from the search paths of ld.so, and from usual folders.
    source: text that tells how the path was found.
    """
    host = survey.host
    folders = re.findall(
        r'(?:-L|-rpath[ ,]-Wl,|-rpath,)(/[^\s,]+)', survey.get_command_output('mpicc')
    )
    return (
        [('%s/%s' % (folder.rstrip('/'), LIBMPI), '`mpicc -show`') for folder in folders]
        + survey.list_path_candidates(LIBMPI)
        + survey.list_library_candidates(LIBMPI)
        + [
            candidate
            for pattern in (
                '/opt/mpich*/lib/',
                '/opt/mpich/*/lib/',
                '/usr/local/lib/',
                '/usr/lib64/mpich/lib/',
                '/opt/intel/oneapi/mpi/*/lib/',
            )
            for candidate in host.list_newest_paths(
                pattern + LIBMPI,
                'libmpi was found in a folder below /opt, /usr/local or /usr/lib64 that usually contains '
                'MPI',
            )
        ]
    )


def survey_cray_libraries(survey: 'Survey') -> None:
    """Record the libraries that Cray's libmpi and libfabric use, such as libcxi and libpmi."""
    host, cray = survey.host, survey.cray
    pmi_folders = ['/opt/cray/pe/pmi/default/lib', '/opt/cray/pe/pmi/*/lib', '/opt/cray/pe/lib64']
    prefix = host.get_variable('CRAY_PMI_PREFIX').rstrip('/')
    if prefix:
        pmi_folders.insert(0, prefix + '/lib')
    pmi_consequence = (
        cray
        and "approach bind fails at startup if the host's MPI needs Cray PMI; other approaches do not use Cray PMI"
    )
    for name, soname, why, folders, consequence in (
        (
            'libcxi',
            'libcxi.so.1',
            "libfabric's provider cxi uses the Slingshot card through libcxi",
            survey.list_loader_folders(),
            survey.slingshot
            and "the approaches bind and hybrid cannot use Slingshot, because the host lacks "
            "libcxi, which the host's libfabric needs; approach opensource uses libcxi of the "
            "image",
        ),
        (
            'libpmi',
            'libpmi.so.0',
            "Cray MPICH finds its ranks through Cray PMI",
            pmi_folders,
            pmi_consequence,
        ),
        (
            'libpmi2',
            'libpmi2.so.0',
            "Cray MPICH finds its ranks through Cray PMI",
            pmi_folders,
            pmi_consequence,
        ),
        (
            'libpals',
            'libpals.so.0',
            "Cray PMI gets information on the launcher from libpals",
            [
                '/opt/cray/pe/lib64',
                '/opt/cray/pe/pals/default/lib',
                '/opt/cray/pals/default/lib',
                '/opt/cray/pe/pals/*/lib',
                '/opt/cray/pals/*/lib',
            ],
            cray
            and "approach bind may fail at startup, because the host lacks libpals, which "
            "Cray PMI opens",
        ),
        # /opt/xpmem: Alps (github.com/eth-cscs/netstack 67b49b80, documentation of system-stack)
        (
            'libxpmem',
            'libxpmem.so.0',
            "MPI shares memory between the ranks of a node through libxpmem",
            re.findall(r'-L(\S+)', host.get_variable('CRAY_XPMEM_POST_LINK_OPTS'))
            + ['/opt/cray/xpmem/default/lib64', '/opt/xpmem/lib64']
            + survey.list_loader_folders(),
            cray
            and "within a node, approach bind is slower without libxpmem, because ranks copy messages twice",
        ),
        (
            'liblustreapi',
            'liblustreapi.so',
            "Cray MPICH opens liblustreapi for MPI_File_open on Lustre",
            survey.list_loader_folders(),
            None,
        ),
    ):
        paths = [
            candidate
            for folder in folders
            for candidate in host.list_newest_paths('%s/%s' % (folder.rstrip('/'), soname), folder)
        ]
        more: Dict[str, Any] = (
            {'opened_as': [soname], 'serves': 'MPI_File_open'}
            if name == 'liblustreapi'
            else {'soname': soname}
        )
        if not survey.select_library(name, paths, why, 'MPI', **more) and consequence:
            survey.add_missing(soname, consequence)


def survey_pmi(survey: 'Survey') -> None:
    """
    Record the values of srun's option --mpi= that start each kind of MPI.

    The kinds are an MPI of an image, the host's MPI and Open MPI. The function selects only values
    that `srun --mpi=list` prints. With a wrong value of --mpi=, the ranks do not find each other.
    """
    result = survey.host.command_results['mpi']
    kinds = parse_srun_mpi_types(result.output) if result.is_successful else []
    family = survey.libraries.get('libmpi', {}).get('family') or ''
    preferred = {'image': 'pmi2', 'Open MPI': 'pmix'}
    if 'libraries.libmpi' in survey.facts:
        # A libmpi of unknown family in Cray's folder is Cray MPICH.
        is_cray = (
            family == 'Cray MPICH'
            or not family
            and '/opt/cray/' in survey.get_value('libraries.libmpi')
        )
        preferred['host'] = 'cray_shasta' if is_cray else 'pmix' if family == 'Open MPI' else 'pmi2'
    chosen = {role: kind for role, kind in sorted(preferred.items()) if kind in kinds}
    survey.add_fact(
        'pmi',
        chosen,
        "`srun --mpi=list` prints %s; the host's MPI is "
        '%s' % (', '.join(kinds), family or 'unknown')
        if result.is_successful
        else '`srun --mpi=list` failed: %s' % result.problem,
        'derived',
        'PMI',
    )
    if not result.is_successful:
        survey.add_missing(
            'a PMI',
            "eb installs no module for this site, because `srun --mpi=list` failed (%s): run osu-container discover "
            "on a node where srun works, or add the key pmi to the site file (docs/add-a-site.md, Without Slurm)"
            % result.problem,
        )
        return
    for role, consequence in (
        ('image', "srun cannot start programs with the approaches pure, hybrid and opensource"),
        ('host', "srun cannot start programs with the approaches bind and native"),
    ):
        if role in preferred and role not in chosen:
            survey.add_missing('--mpi=%s' % preferred[role], consequence)


def parse_srun_mpi_types(text: str) -> List[str]:
    """Return the MPI types in the output of `srun --mpi=list` of any release of Slurm."""
    types: List[str] = []
    for line in text.splitlines():
        line = re.sub(r'^srun:\s*', '', line).strip()
        listed = re.match(r'specific pmix plugin versions available:\s*(.*)', line)
        names = (
            re.split(r'[,\s]+', listed.group(1))
            if listed
            else [line]
            if re.match(r'\w+$', line)
            else []
        )
        types += [name for name in names if name and name not in types]
    return types
