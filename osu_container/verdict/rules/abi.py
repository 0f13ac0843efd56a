"""Rules on the image's MPI: the ABI, and the replacement by the host's MPI."""

import re
from typing import Dict, Iterator, List

from osu_container.image.image import MPI_FAMILIES
from osu_container.image.traits import read_mpi_traits
from osu_container.verdict.rules.finding import (
    START_REMEDY,
    Finding,
    Remedy,
    make_finding,
    report_problem,
    rule,
)
from osu_container.verdict.rules.questions import (
    find_required_pmi,
    format_library,
    format_site_pmi,
)
from osu_container.verdict.settings import WRAPPER, list_mpi_families
from osu_container.verdict.trial import Change, Trial


@rule(
    'other MPI',
    source='mpich.org, MPICH ABI Compatibility Initiative; MPI 5.0, Application Binary '
    'Interface; pmodels/mpich PR 7867; github.com/cea-hpc/wi4mpi; mpixlate(1) of CPE '
    '24.11',
    facts=('pmi',),
)
def other_mpi_family(trial: Trial) -> Iterator[Finding]:
    """
    Check that the image's MPI has the ABI that the approach requires.

    An approach that injects no library needs only an MPI that the site's launcher can start.
    """
    protocols = trial.mpi.get('pmi') or []
    if trial.family in list_mpi_families(trial.approach) or not (
        trial.approach['inject'] or (protocols and find_required_pmi(trial) not in protocols)
    ):
        return
    names = [
        "%s (%s)" % (each, sorted(name for name in MPI_FAMILIES if MPI_FAMILIES[name] == each)[-1])
        for each in list_mpi_families(trial.approach)
    ]
    reason = "the image's MPI is %s (%s), but approach '%s' needs %s" % (
        trial.family,
        trial.soname,
        trial.approach['name'],
        ', '.join(names),
    )
    if not trial.approach['inject']:
        reason += ', and %s cannot start this MPI (PMI of the MPI: %s)' % (
            format_site_pmi(trial),
            ', '.join(protocols),
        )
    yield report_problem('fails', reason, trial.image.path, trial.soname, *_REMEDIES[trial.family])


_MPICH_APPROACHES = Change('', ['opensource', 'hybrid', 'bind', 'pure'])
#: Family of the image's MPI -> remedies where the approach needs another MPI
_REMEDIES: Dict[str, List[Remedy]] = {
    'Open MPI': [
        Change('', ['openmpi']),
        'build the programs with an MPI of the MPICH ABI (MPICH, Intel MPI or MVAPICH)',
        'translate the MPI calls at run time with Wi4MPI, or with mpixlate on HPE Cray systems '
        '(docs/abi.md)',
    ],
    'MPICH ABI': [_MPICH_APPROACHES],
    'the standard ABI of MPI 5': [_MPICH_APPROACHES],
    'the standard ABI of MPI 5 in a library with a wrong soname': [
        Change('', ['opensource', 'hybrid', 'pure']),
        'build the programs with MPICH 5.0.2 or newer, because programs built with 5.0.0 and 5.0.1 '
        'need a soname that no other MPI has (docs/abi.md)',
    ],
    "MPICH under Debian's own soname": [
        Change('', ['pure']),
        'build the programs with an MPICH whose library is libmpi.so.12',
        'change the soname that the programs need to libmpi.so.12, with patchelf and a link '
        "(docs/your-own-container.md). No host MPI has the soname of Debian's MPICH (docs/abi.md)",
    ],
    "Cray MPICH under HPE's own soname": [
        'build the programs with the MPICH of the image',
        'build the programs on the host after `module load cray-mpich-abi`, which links them with '
        'libmpi.so.12',
    ],
}


#: Internal libraries of Open MPI: their sonames end in .so.40 in release 4 and in .so.80 in 5
_OPEN_MPI_LIBRARY = re.compile(r'libopen-(pal|rte)\.so\.')


@rule(
    'two builds of Open MPI',
    source='measured with job steps on two nodes, 2026-11-26: Fortran programs of Open MPI '
    '4.1.4 fail in MPI_Init over the libraries of 5.0.11, and Fortran programs of '
    '5.0.7 fail with an undefined symbol over the libraries of 4.1.8 and 4.1.4; '
    'docs.open-mpi.org, v5.0.x, ABI compatibility',
    facts=('host',),
)
def two_builds(trial: Trial) -> Iterator[Finding]:
    """
    Check that a process with the host's Open MPI loads no internal library of the image's Open MPI.

    The internal libraries are libopen-pal and libopen-rte. A program that needs only libmpi.so.40
    runs with Open MPI 4 and newer. The Fortran and C++ bindings in the image also need the internal
    libraries, so the image's Open MPI must be of the same series as the host's Open MPI.
    """
    if trial.libmpi is None or trial.libmpi.origin != 'host' or trial.family != 'Open MPI':
        return
    for library in trial.process.loaded:
        if library.origin == 'image' and _OPEN_MPI_LIBRARY.match(library.name):
            yield report_problem(
                'fails',
                "%s needs %s of the image's Open MPI, but the host's Open MPI is %s: two releases in "
                "one process fail in MPI_Init"
                % (
                    format_library(library.requester),
                    library.name,
                    trial.mpi.get('release') or 'of another series',
                ),
                library,
                library.name,
                Change('', ['openmpi']),
                "use an image whose Open MPI has the same release series as the host's Open MPI; "
                'programs without the Fortran and C++ bindings run with any release series',
            )
            return


@rule(
    'two MPIs',
    source='MPI 5.0, Application Binary Interface: handles are int in MPICH and pointers in '
    'Open MPI',
    superseded='of MPI',
)
def two_mpis(trial: Trial) -> Iterator[Finding]:
    """
    Report a process that loads libraries which were built with two different MPIs.

    A process loads only one MPI, so the library that was built with the second MPI would call the
    functions of the first MPI.
    """
    first = None
    for library in trial.process.loaded:
        abi = MPI_FAMILIES.get(library.facts.soname or '', '').replace(
            " under Debian's own soname", ' ABI'
        )
        first = first or (abi and (library, abi))
        if (
            first
            and abi not in ('', first[1])
            and library.requester
            and library.requester.name != WRAPPER
        ):
            yield make_finding(
                'unknown',
                '%s needs %s, but the process also has %s: ld.so binds all MPI calls to the MPI '
                'library that ld.so finds first, and the constants of the two MPIs differ'
                % (format_library(library.requester), library.name, format_library(first[0])),
                [(each.facts.path, each.facts.soname or '') for each in (first[0], library)],
                "use a build of %s that is linked with the program's MPI"
                % format_library(library.requester),
            )
            return


@rule(
    'standard ABI',
    source='pmodels/mpich PR 7633; mpi_abi.h of Intel MPI 2021.19.0 and MPICH 5.0.2; '
    'github.com/eschnett/mpi_abi_wrapper 39ee1a3',
    facts=('host',),
)
def check_standard_abi(trial: Trial) -> Iterator[Finding]:
    """
    Check that image and host use the constants of MPI 5.0.

    The header of Intel MPI has eight constants of a draft of MPI 5.0. This rule also checks that
    the host's libmpi_abi.so.1 is an MPI. The libmpi_abi.so.1 of mpi_abi_wrapper is no MPI: the
    wrapper opens an MPI at run time, so that no file shows which MPI the process loads.
    """
    if not trial.libmpi or trial.libmpi.origin != 'host' or trial.soname != 'libmpi_abi.so.1':
        return
    for _, soname, path in trial.image.list_mpi_libraries():
        if (
            soname == trial.soname
            and trial.image.read_traits(path, read_mpi_traits)['family'] == 'Intel MPI'
        ):
            yield report_problem(
                'unknown',
                "programs built with the mpi_abi.h of Intel MPI may contain constants of a draft of "
                "MPI 5.0, and the host's MPI misreads these constants",
                'image:' + path,
                'Intel MPI',
                'build the programs with mpicc_abi of MPICH 5.0.2 or newer (docs/abi.md)',
            )
    if WRAPPER in trial.injected and not trial.started:
        yield report_problem(
            'unknown',
            "the host's libmpi_abi.so.1 belongs to mpi_abi_wrapper, and no run of mpi_abi_wrapper "
            'with approach %s is known' % trial.approach['name'],
            trial.libmpi,
            trial.soname,
            START_REMEDY,
        )


@rule('no program', source='docs/check.md', superseded='of MPI')
def no_program(trial: Trial) -> Iterator[Finding]:
    """
    Check that `osu-container check` knows which MPI the program uses.

    For some launchers, for some scripts, and for programs that open the MPI at run time, `check`
    cannot determine the MPI. The other rules then judge the image's MPI alone, without a program.
    """
    if trial.unknown_reason:
        yield make_finding(
            'unknown',
            "cannot tell which MPI the program uses: %s" % trial.unknown_reason,
            [('image:' + path, 'a script') for path, _ in trial.launched.scripts[:1]]
            or [(trial.image.path, trial.unknown_reason)],
            START_REMEDY,
        )
