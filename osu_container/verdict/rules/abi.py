"""The MPI of the image: its ABI, how its ranks are started, which of the host's fits it."""

import re

from osu_container.image.image import MPI_FAMILIES
from osu_container.verdict import launching
from osu_container.verdict.rules.finding import find_loaded_mpi, format_library, make_finding, rule
from osu_container.verdict.settings import list_mpi_families, select_pmi


@rule(
    'other MPI',
    source='mpich.org, MPICH ABI Compatibility Initiative; MPI 5.0, Application Binary Interface; '
    'pmodels/mpich PR 7867; github.com/cea-hpc/wi4mpi; mpixlate(1) of CPE 24.11',
)
def other_mpi_family(trial):
    """
    The soname of the image's libmpi is that of the approach's MPI, where libraries of the host come
    in; an approach that takes nothing of the host wants only that srun can start it.
    """
    speaks = (trial.mpi or {}).get('pmi')
    apart = speaks and _find_required_pmi(trial) not in speaks
    if trial.family not in list_mpi_families(trial.approach) and (
        trial.approach['inject'] or apart
    ):
        for one in report_other_mpi(
            trial.family, trial.soname, trial.approach, trial.image, trial.site
        ):
            yield (
                one
                if trial.approach['inject']
                else one._replace(
                    reason="%s, and %s cannot start it (it speaks %s)"
                    % (one.reason, _format_site_pmi(trial), ', '.join(speaks))
                )
            )


#: Family of an image's MPI -> what to do where the approach is for another one
_REMEDIES = {
    'Open MPI': "build the programs with an MPI of the MPICH ABI (MPICH, Intel MPI, MVAPICH); or translate the calls "
    "as they are made: Wi4MPI, or mpixlate on HPE Cray systems (docs/abi.md)",
    'MPICH ABI': 'take approach opensource, hybrid, bind or pure',
    'the standard ABI of MPI 5': 'take approach opensource, hybrid, bind or pure',
    'the standard ABI of MPI 5 under a wrong soname': "take approach opensource, hybrid or pure; or build the programs "
    "with MPICH 5.0.2 or newer: those of 5.0.0 and 5.0.1 ask for a "
    "name that no other MPI has (docs/abi.md)",
    'MPICH under Debian\'s own soname': "take approach pure; or build the programs with an MPICH whose library is "
    "libmpi.so.12, or have those there ask for it, by patchelf and a link "
    "(docs/your-own-container.md): no MPI of a host has the name that Debian's "
    "ask for (docs/abi.md)",
}


def report_other_mpi(family, soname, approach, image, site):
    """
    Yield the Finding that family (str, with soname) of the image is not the MPI of approach on
    site (dicts).
    """
    remedy = _REMEDIES[family]
    if family == 'Open MPI':  # its own approach first, where ranks can be started
        remedy = (
            'take approach openmpi; or '
            if family in site['pmi']['value']
            else 'approach openmpi needs PMIx, which %s of this site has not; so '
            % launching.select_launcher_command(site)
        ) + remedy
    wanted = [
        "%s (%s)" % (one, sorted(name for name in MPI_FAMILIES if MPI_FAMILIES[name] == one)[-1])
        for one in list_mpi_families(approach)
    ]
    yield make_finding(
        'fails',
        "the image's MPI is %s (%s), approach '%s' is for %s"
        % (family, soname, approach['name'], ', '.join(wanted)),
        [(image.path, soname)],
        remedy,
    )


def _find_required_pmi(trial):
    """Return what the MPI of the approach must speak (str) to be started on the site."""
    return launching.resolve_pmi_protocol(
        launching.select_launcher(trial.site), select_pmi(trial.approach, trial.site)
    )


def _format_site_pmi(trial):
    """Return how the site starts ranks for the approach (str): 'srun --mpi=pmi2'."""
    return launching.format_site_pmi(trial.site, select_pmi(trial.approach, trial.site))


#: Libraries by which it shows of which Open MPI something is: their soname tells 4 (.so.40) from 5
#: (.so.80)
_OPEN_MPI_LIBRARY = re.compile(r'libopen-(pal|rte)\.so\.')


@rule(
    'two builds of Open MPI',
    source='steps on two nodes, 2026-11-26: Fortran of 4.1.4 over 5.0.11 ends in MPI_Init, '
    'of 5.0.7 over 4.1.8 and 4.1.4 at an undefined symbol; docs.open-mpi.org, '
    'v5.0.x, ABI compatibility',
)
def two_builds(trial):
    """
    Over the host's Open MPI runs whatever asks for libmpi.so.40 alone: programs of 4 over 5 and the
    other way round. What also asks for the inner libraries of the image's own, as its Fortran and
    C++ bindings do, must be of the host's series.
    """
    mpi = find_loaded_mpi(trial)
    if mpi is None or mpi.origin != 'host' or trial.family != 'Open MPI':
        return
    for one in trial.process.loaded:
        if one.origin == 'image' and _OPEN_MPI_LIBRARY.match(one.name):
            yield make_finding(
                'fails',
                "%s needs %s of the image's own Open MPI, and the host's is %s: two of them in one "
                "process end in MPI_Init"
                % (
                    format_library(one.requester) if one.requester else 'the program',
                    one.name,
                    (trial.mpi or {}).get('release') or 'of another series',
                ),
                [(one.facts.path, one.name)],
                'take approach openmpi, or an image with the series of the '
                'host; C programs without Fortran or C++ bindings of MPI run over both',
            )
            return


@rule(
    'two MPIs',
    source='MPI 5.0, Application Binary Interface: handles of MPICH are int, of Open MPI pointers',
)
def two_mpis(trial):
    """
    One process has one MPI: a library that was built with another one would call the functions
    of the first.
    """
    found = [one for one in trial.process.loaded if one.facts.soname in MPI_FAMILIES]
    abis = [
        MPI_FAMILIES[one.facts.soname].replace(" under Debian's own soname", ' ABI')
        for one in found
    ]
    for one, abi in zip(found, abis):
        if abi != abis[0] and one.requester:
            yield make_finding(
                'unknown',
                "%s needs %s, beside %s: its calls go to the one that ld.so finds first, whose "
                "constants are others"
                % (format_library(one.requester), one.name, format_library(found[0])),
                [(each.facts.path, each.facts.soname) for each in (found[0], one)],
                'take a build of it with the MPI of the program',
            )
            return


@rule('PMI', source='srun(1), --mpi')
def check_pmi(trial):
    """
    The MPI speaks what the site's srun offers, and what starts the program leaves it what srun
    says to a rank.
    """
    alone = trial.program.launched_program.isolating_command
    if alone:
        yield make_finding(
            'fails',
            "%s takes away the variables by which %s tells a rank which it is: every rank would "
            "be alone" % (alone, launching.select_launcher_command(trial.site)),
            [(trial.image.path, alone)],
            'take only single variables away (env -u NAME)',
        )
        return
    wanted, speaks = _find_required_pmi(trial), (trial.mpi or {}).get('pmi')
    if speaks and wanted not in speaks:
        yield make_finding(
            'fails',
            "%s of this site is not what the MPI speaks (%s): every rank would be alone"
            % (_format_site_pmi(trial), ', '.join(speaks)),
            [(find_loaded_mpi(trial).facts.path, 'speaks ' + ', '.join(speaks))],
            'use an approach with another MPI',
        )
    elif not speaks and trial.family == 'Open MPI' and wanted != 'pmix' and find_loaded_mpi(trial):
        yield make_finding(
            'unknown',
            "what PMI this Open MPI speaks is not in its file; most speak PMIx alone, and %s "
            "would leave every rank alone" % _format_site_pmi(trial),
            [(find_loaded_mpi(trial).facts.path, 'no release')],
            'take approach openmpi',
        )


@rule('no program', source='docs/check.md')
def no_program(trial):
    """
    It is known which MPI the program uses: it needs a library, or is a Python with mpi4py. Of a
    launcher, a program that opens MPI by itself, and a script that cannot be followed it is not:
    then the other rules speak of the image's MPI by itself.
    """
    if trial.program.unknown_reason:
        yield make_finding(
            'unknown',
            "which MPI the program gets is not known: %s" % trial.program.unknown_reason,
            [
                ('image:' + path, 'a script')
                for path, _ in trial.program.launched_program.scripts[:1]
            ]
            or [(trial.image.path, trial.program.unknown_reason)],
            PROGRAM_REMEDY,
        )


#: How to tell which program is meant
PROGRAM_REMEDY = (
    "name the program that uses MPI: --program PATH of `osu-container check`, or a line as --program 'env A=1 "
    "/opt/my/program'"
)
