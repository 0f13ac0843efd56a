"""The MPI of the image: its ABI, how its ranks are started, which of the host's fits it."""

from osu_container.core.deciding.rules.finding import NOTE, finding, found_by_loader, mpi_of, rule
from osu_container.core.deciding.rules.started_scripts import is_wrapper
from osu_container.core.deciding.settings import HOST_MPI, families, pmi_for
from osu_container.core.deciding.site_choice import release
from osu_container.core.reading.image import MPI_FAMILIES
from osu_container.core.reading.python_environments import environments
from osu_container.core.reading.traits import mpi_traits

#: MPIs whose header of the standard ABI has values of a draft: family -> (the last release that is known to, values)
DRAFT_ABI = {
    'Intel MPI': ((2021, 19), 'MPI_ERRORS_RETURN, MPI_ERRORS_ABORT, MPI_SEEK_SET, MPI_SEEK_CUR, MPI_SEEK_END, '
                              'MPI_APPNUM, MPI_UNIVERSE_SIZE, MPI_LASTUSEDCODE'),
}


@rule('other MPI', source='mpich.org, MPICH ABI Compatibility Initiative; MPI 5.0, Application Binary Interface; '
                          'pmodels/mpich PR 7867; github.com/cea-hpc/wi4mpi; mpixlate(1) of CPE 24.11')
def other_mpi_family(trial):
    """
    The soname of the image's libmpi is that of the approach's MPI, where libraries of the host come in; an approach
    that takes nothing of the host wants only that srun can start it.
    """
    speaks = (trial.mpi or {}).get('pmi')
    apart = speaks and pmi_for(trial.approach, trial.site) not in speaks
    if trial.family not in families(trial.approach) and (trial.approach['inject'] or apart):
        for one in other_mpi(trial.family, trial.soname, trial.approach, trial.image, trial.site):
            yield one if trial.approach['inject'] else one._replace(reason="%s, and srun --mpi=%s cannot start it (it "
                                                                    "speaks %s)" % (
                one.reason, pmi_for(trial.approach, trial.site), ', '.join(speaks)))


#: Family of an image's MPI -> what to do where the approach is for another one
_WAYS_OUT = {
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


def other_mpi(family, soname, approach, image, site):
    """Yield the Finding that family (str, with soname) of the image is not the MPI of approach on site (dicts)."""
    remedy = _WAYS_OUT[family]
    if family == 'Open MPI':  # its own approach first, where ranks can be started
        remedy = ('take approach openmpi; or ' if family in site['pmi']['value'] else
                  'approach openmpi needs PMIx, which srun of this site has not; so ') + remedy
    wanted = ["%s (%s)" % (one, sorted(name for name in MPI_FAMILIES if MPI_FAMILIES[name] == one)[-1])
              for one in families(approach)]
    yield finding('fails', "the image's MPI is %s (%s), approach '%s' is for %s"
                  % (family, soname, approach['name'], ' and '.join(wanted)),
                  [(image.path, soname)], remedy)


@rule('draft ABI', source='pmodels/mpich PR 7633; mpi_abi.h of Intel MPI 2021.19 and of MPICH 5.0.2, side by side '
                          '(docs/abi.md)')
def draft_abi(trial):
    """The program's header has the numbers that MPI 5.0 gives to constants."""
    if trial.soname not in HOST_MPI or trial.approach['comes_from']['libmpi'] != 'host':
        return
    own = next((path for _, soname, path in trial.image.mpis() if soname == trial.soname), None)
    traits = trial.image.traits(own, mpi_traits) if own else {}
    last, values = DRAFT_ABI.get(traits.get('family'), ((), ''))
    if last and release(traits['release'])[:2] <= last:
        what = '%s %s' % (traits['family'], traits['release'] or 'of unknown release')
        yield finding('unknown', "the image's %s is %s, whose mpi_abi.h gives other numbers to %s than MPI 5.0 does: "
                      "a program that uses one of them means another thing to the host's MPI, without a word"
                      % (trial.soname, what, values), [('image:' + own, what)],
                      'build the programs with the mpi_abi.h of MPICH 5.0.2 or newer, or for libmpi.so.12')


@rule('PMI', source='srun(1), --mpi')
def pmi(trial):
    """The MPI speaks what the site's srun offers."""
    wanted, speaks = pmi_for(trial.approach, trial.site), (trial.mpi or {}).get('pmi')
    if speaks and wanted not in speaks:
        yield finding('fails', "srun --mpi=%s of this site is not what the MPI speaks (%s): every rank would be alone"
                      % (wanted, ', '.join(speaks)), [(mpi_of(trial).facts.path, 'speaks ' + ', '.join(speaks))],
                      'use an approach with another MPI')
    elif not speaks and trial.family == 'Open MPI' and wanted != 'pmix' and mpi_of(trial):
        yield finding('unknown', "what PMI this Open MPI speaks is not in its file; most speak PMIx alone, and srun "
                      "--mpi=%s would leave every rank alone" % wanted, [(mpi_of(trial).facts.path, 'no release')],
                      'take approach openmpi')


@rule('no program', source='docs/check.md')
def no_program(trial):
    """
    The image has one of the programs that were looked for. Without any, or where it is a script of a shell, its MPI
    library is one that its loader finds by itself, or of an environment of Python: another one only runs with programs
    that have DT_RPATH or DT_RUNPATH.
    """
    image = trial.image
    if trial.start.program is None and not image.partial and (not image.programs or is_wrapper(image)):
        paths = [path for _, soname, path in trial.image.mpis() if soname == trial.soname]
        found = found_by_loader(trial, trial.soname) or any(
            path.startswith(one.prefix + '/') for one in environments(trial.image) for path in paths)
        if paths and not found:
            yield finding('unknown', "the loader of the image does not find %s by itself: whether a program finds it, "
                          "its DT_RPATH or DT_RUNPATH decides" % paths[0],
                          [('image:' + paths[0], 'in none of ' + ':'.join(
                              trial.image.library_path() + trial.image.system(None).folders) + ', nor in ld.so.cache')],
                          '--program PATH names one; or put the folder of the library into /etc/ld.so.conf.d of the '
                          'image and run ldconfig in it')
        if not trial.image.programs:
            yield finding(NOTE, "no program of the image is known: the verdict is that of its MPI library alone",
                          [(trial.image.path, 'none of the commands that were looked for')],
                          '--program PATH names one')
