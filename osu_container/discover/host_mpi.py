"""
Looking for the host's MPI and what starts its ranks: libmpi, Cray PMI, PALS, xpmem, the --mpi=
of srun.
"""

import os
import re
from collections import OrderedDict

from osu_container.discover.host import sort_newest_first

LIBMPI, LIBMPI_ABI = 'libmpi.so.12', 'libmpi_abi.so.1'


def survey_libmpi(survey):
    """The MPI of the MPICH ABI: Cray's folder lib-abi-mpich, else an MPICH."""
    host, loaded = survey.host, survey.host.get_variable('CRAY_MPICH_DIR').rstrip('/')
    source = (
        'the folder of the loaded cray-mpich has no lib-abi-mpich, this one of /opt/cray/pe/mpich has'
        if loaded
        else 'the newest in /opt/cray/pe/mpich, gnu before others'
    )
    found = (
        _list_loaded_cray_builds(host, loaded)
        + [(path, source) for path in _list_cray_builds(host, loaded)]
        + _list_other_mpis(survey)
    )
    path = survey.select_library(
        'libmpi',
        found,
        "the host's MPI under the soname of the MPICH ABI: programs linked with "
        "any MPICH run with it",
        'MPI',
        LIBMPI,
    )
    # beside the other one; MPICH after 5.0 may have it alone
    survey.select_library(
        'libmpi_abi',
        [
            (os.path.join(os.path.dirname(place), LIBMPI_ABI), source)
            for place, source in ([(path, 'the folder of libmpi')] if path else found)
        ],
        "the host's MPI under the soname of MPI 5's standard ABI, for programs linked with that",
        'MPI',
        LIBMPI_ABI,
    )
    if not path:
        survey.add_missing(
            LIBMPI,
            "bind and native cannot be installed; pure, hybrid and opensource do not need it. Load "
            "the module of an MPICH, or of the vendor's MPI, and look again",
        )
        return
    inner, outer = survey.format_library_release('libmpi'), re.search(r'/pe/mpich/([\d.]+)/', path)
    if not inner.startswith(
        'Cray MPICH' if outer else ('MPICH', 'Intel MPI', 'Cray MPICH', 'MVAPICH')
    ):
        host.add_remark("%s says that it is %s" % (path, inner or 'nothing'))


#: Place below /opt/host-mpi -> where an installation has it, from the folder of libmpi: upstream's,
#: then Debian's
_PARTS = OrderedDict(
    [
        ('etc', ['../etc/openmpi-mca-params.conf', '/etc/openmpi/openmpi-mca-params.conf']),
        ('lib/openmpi', ['openmpi/mca_*.so', 'openmpi/lib/openmpi*/mca_*.so']),
        ('lib/pmix', ['pmix/*mca_*.so', 'pmix2/lib/pmix/*mca_*.so']),
        ('lib/ucx', ['ucx/*.so*', 'openmpi/ucx/*.so*']),
    ]
)


def survey_open_mpi(survey):
    """The host's Open MPI, for images whose MPI that is, with the folders of its plug-ins."""
    host, soname = survey.host, 'libmpi.so.40'
    found = [
        ('%s/lib/%s' % (host.get_variable(name).rstrip('/'), soname), name)
        for name in ('EBROOTOPENMPI', 'MPI_HOME')
        if host.get_variable(name)
    ]
    found += [
        ('%s/%s' % (folder, soname), 'LD_LIBRARY_PATH')
        for folder in host.list_variable_folders('LD_LIBRARY_PATH')
    ]
    found += [
        (path, 'looked in /opt')
        for path in sort_newest_first(host.list_matching_paths('/opt/openmpi/*/lib/' + soname))
    ]
    path = survey.select_library(
        'libompi',
        found + survey.list_library_candidates(soname),
        "the host's Open MPI, for images whose MPI that is",
        'MPI',
        soname,
    )
    if path:
        folder = os.path.dirname(path)
        parts = [
            (
                place,
                [
                    one
                    for pattern in patterns
                    for one in host.list_matching_paths(
                        os.path.normpath(os.path.join(folder, pattern))
                    )
                ],
            )
            for place, patterns in _PARTS.items()
        ]
        survey.facts['libraries.libompi']['folders'] = dict(
            (place, os.path.dirname(one[0])) for place, one in parts if one
        )


def _list_loaded_cray_builds(host, loaded):
    """
    Return [(path, source)] where the loaded modules have a Cray MPICH; loaded: CRAY_MPICH_DIR or
    ''.
    """
    found = [
        (
            '%s/lib-abi-mpich/%s' % (loaded, LIBMPI),
            'CRAY_MPICH_DIR, which the loaded module cray-mpich sets',
        )
    ]
    return (found if loaded else []) + [
        ('%s/%s' % (folder, LIBMPI), '%s, which the loaded module cray-mpich-abi sets' % name)
        for name in ('LD_LIBRARY_PATH', 'CRAY_LD_LIBRARY_PATH')
        for folder in host.list_variable_folders(name)
        if folder.endswith('/lib-abi-mpich')
    ]


def _list_cray_builds(host, loaded):
    """
    Return the paths (list of str) of all of Cray's libmpi: those of the loaded release, then the
    newest, first.

    loaded: CRAY_MPICH_DIR or ''. Of one release that of GCC is first: it needs no library of a
    vendor's compiler.
    """
    release = re.search(r'/mpich/[\d.]+/', loaded + '/')

    def order(path):
        """Return by what the path of a build is sorted."""
        numbers = [
            [int(part) for part in re.findall(r'\d+', text)] for text in (path.split('/')[5], path)
        ]
        return bool(release) and release.group() in path, numbers[0], '/gnu/' in path, numbers[1]

    return sorted(
        [
            path
            for depth in ('*', '*/*')
            for path in host.list_matching_paths(
                '/opt/cray/pe/mpich/[0-9]*/ofi/%s/lib-abi-mpich/%s' % (depth, LIBMPI)
            )
        ],
        key=order,
        reverse=True,
    )


def _list_other_mpis(survey):
    """
    Return [(path, source)] of places where an MPICH or Intel MPI may be: mpicc's, ld.so's, usual
    ones.
    """
    host = survey.host
    found = [
        (folder, '`mpicc -show`')
        for folder in re.findall(
            r'(?:-L|-rpath[ ,]-Wl,|-rpath,)(/[^\s,]+)', survey.get_command_output('mpicc')
        )
    ]
    found += [
        (folder, 'LD_LIBRARY_PATH') for folder in host.list_variable_folders('LD_LIBRARY_PATH')
    ]
    return (
        [('%s/%s' % (folder.rstrip('/'), LIBMPI), source) for folder, source in found]
        + survey.list_library_candidates(LIBMPI)
        + [
            (path, 'looked in /opt, /usr/local and /usr/lib64')
            for pattern in (
                '/opt/mpich*/lib/',
                '/opt/mpich/*/lib/',
                '/usr/local/lib/',
                '/usr/lib64/mpich/lib/',
                '/opt/intel/oneapi/mpi/*/lib/',
            )
            for path in sort_newest_first(host.list_matching_paths(pattern + LIBMPI))
        ]
    )


def survey_cray_libraries(survey):
    """
    Libraries that libmpi and libfabric of a Cray use: libcxi, Cray PMI, PALS, xpmem, Lustre's.
    """
    host, cray = survey.host, survey.cray
    of_pmi = ['/opt/cray/pe/pmi/default/lib', '/opt/cray/pe/pmi/*/lib', '/opt/cray/pe/lib64']
    prefix = host.get_variable('CRAY_PMI_PREFIX').rstrip('/')
    if prefix:
        of_pmi.insert(0, prefix + '/lib')
    no_pmi = (
        cray
        and "bind ends at start where the host's MPI needs Cray PMI; other approaches do not use it"
    )
    for name, soname, why, folders, consequence in (
        (
            'libcxi',
            'libcxi.so.1',
            "libfabric's provider cxi reaches the Slingshot card through it",
            survey.list_loader_folders(),
            survey.slingshot
            and "bind and hybrid cannot reach Slingshot, because the host's "
            "libfabric needs it; opensource brings its own",
        ),
        ('libpmi', 'libpmi.so.0', "Cray MPICH finds its ranks through Cray PMI", of_pmi, no_pmi),
        ('libpmi2', 'libpmi2.so.0', "Cray MPICH finds its ranks through Cray PMI", of_pmi, no_pmi),
        (
            'libpals',
            'libpals.so.0',
            "Cray PMI asks it about the launcher",
            [
                '/opt/cray/pe/lib64',
                '/opt/cray/pe/pals/default/lib',
                '/opt/cray/pals/default/lib',
                '/opt/cray/pe/pals/*/lib',
                '/opt/cray/pals/*/lib',
            ],
            cray and "bind may end at start: Cray PMI opens it",
        ),
        # /opt/xpmem: Alps (github.com/eth-cscs/netstack 67b49b80, documentation of system-stack)
        (
            'libxpmem',
            'libxpmem.so.0',
            "MPI shares memory between the ranks of a node by it",
            re.findall(r'-L(\S+)', host.get_variable('CRAY_XPMEM_POST_LINK_OPTS'))
            + ['/opt/cray/xpmem/default/lib64', '/opt/xpmem/lib64']
            + survey.list_loader_folders(),
            cray and "ranks of one node copy twice: slower within a node in bind",
        ),
        (
            'liblustreapi',
            'liblustreapi.so',
            "Cray MPICH opens it for MPI_File_open on Lustre",
            survey.list_loader_folders(),
            None,
        ),
    ):
        paths = [
            (path, folder)
            for folder in folders
            for path in sort_newest_first(
                host.list_matching_paths('%s/%s' % (folder.rstrip('/'), soname))
            )
        ]
        more = (
            {'opened_as': [soname], 'serves': 'MPI_File_open'}
            if name == 'liblustreapi'
            else {'soname': soname}
        )
        if not survey.select_library(name, paths, why, 'MPI', **more) and consequence:
            survey.add_missing(soname, consequence)


def survey_pmi(survey):
    """
    The --mpi= of srun, by who starts with it. Where srun does not name them, none is: a guess
    would be no site.
    """
    answer = survey.host.command_results['mpi']
    kinds = parse_srun_mpi_types(answer.output) if answer.is_successful else []
    family = survey.libraries.get('libmpi', {}).get('family') or ''
    wanted = {'image': 'pmi2', 'Open MPI': 'pmix'}
    if 'libraries.libmpi' in survey.facts:
        # a libmpi that does not say what it is, in Cray's folder, is Cray's
        of_cray = (
            family == 'Cray MPICH'
            or not family
            and '/opt/cray/' in survey.get_value('libraries.libmpi')
        )
        wanted['host'] = 'cray_shasta' if of_cray else 'pmix' if family == 'Open MPI' else 'pmi2'
    chosen = OrderedDict(
        (who, wanted[who]) for who in ('image', 'host', 'Open MPI') if wanted.get(who) in kinds
    )
    survey.add_fact(
        'pmi',
        chosen,
        '`srun --mpi=list`: %s; the host\'s MPI is %s' % (', '.join(kinds), family or 'not known')
        if answer.is_successful
        else 'srun does not answer: ' + answer.problem,
        'derived',
        'PMI',
    )
    if not answer.is_successful:
        survey.add_missing(
            'a PMI',
            "eb installs nothing from this file: look again where `srun --mpi=list` answers (%s), or "
            "write by hand what starts ranks here (docs/add-a-site.md, Without Slurm)"
            % answer.problem,
        )
        return
    for who, without in (
        ('image', "pure, hybrid and opensource cannot be started by srun"),
        ('host', "bind and native cannot be started by srun"),
    ):
        if who in wanted and who not in chosen:
            survey.add_missing('--mpi=%s' % wanted[who], without)


def parse_srun_mpi_types(text):
    """Return the kinds (list of str) that `srun --mpi=list` names, of any release of Slurm."""
    found = []
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
        found += [name for name in names if name and name not in found]
    return found
