"""Looking for the host's MPI and what starts its ranks: libmpi, Cray PMI, PALS, xpmem, the --mpi= of srun."""
import os
import re
from collections import OrderedDict

from .host import newest_first

LIBMPI, LIBMPI_ABI = 'libmpi.so.12', 'libmpi_abi.so.1'


def libmpi(survey):
    """The MPI of the MPICH ABI: Cray's folder lib-abi-mpich, else an MPICH."""
    host = survey.host
    loaded = host.variable('CRAY_MPICH_DIR').rstrip('/')
    builds = _cray_builds(host, loaded)
    source = ('the folder of the loaded cray-mpich has no lib-abi-mpich, this one of /opt/cray/pe/mpich has' if loaded
              else '/opt/cray/pe/mpich/*/ofi/*/lib-abi-mpich; the newest, gnu before others, because no module '
              'cray-mpich is loaded')
    found = _loaded_cray(host, loaded) + [(path, source) for path in builds] + _other_mpi(survey)
    path = survey.library('libmpi', found, "the host's MPI under the soname of the MPICH ABI: programs linked with "
                          "any MPICH run with it", 'MPI', LIBMPI)
    # beside the other one; MPICH after 5.0 may have it alone
    places = [(path, 'the folder of libmpi')] if path else found
    survey.library('libmpi_abi', [(os.path.join(os.path.dirname(place), LIBMPI_ABI), source)
                                  for place, source in places] + ([] if path else [
                                      (there, '`ldconfig -p`') for there in survey.in_cache(LIBMPI_ABI)]),
                   "the host's MPI under the soname of MPI 5's standard ABI, for programs linked with that", 'MPI',
                   LIBMPI_ABI)
    if not path:
        _lacks_mpi(survey)
        return
    if len(builds) > 1:
        survey.facts['libraries.libmpi']['note'] += '; %d there: %s' % (
            len(builds), ', '.join('/'.join(path.split('/')[5:-2]) for path in builds))
    inner, outer = survey.what_it_is('libmpi'), re.search(r'/pe/mpich/([\d.]+)/', path)
    if outer and not inner.startswith('Cray MPICH'):
        host.remark("the path of libmpi says Cray MPICH %s, the file says %s" % (outer.group(1), inner or 'nothing'))
    if not inner and not outer:
        host.remark("%s does not say which MPI it is" % path)


#: Place below /opt/host-mpi -> where an installation has it, from the folder of libmpi: upstream's, then Debian's
_PARTS = OrderedDict([
    ('etc', ['../etc/openmpi-mca-params.conf', '/etc/openmpi/openmpi-mca-params.conf']),
    ('lib/openmpi', ['openmpi/mca_*.so', 'openmpi/lib/openmpi*/mca_*.so']),
    ('lib/pmix', ['pmix/*mca_*.so', 'pmix2/lib/pmix/*mca_*.so']), ('lib/ucx', ['ucx/*.so*', 'openmpi/ucx/*.so*'])])


def open_mpi(survey):
    """The host's Open MPI, for images whose MPI that is, with the folders of its plug-ins."""
    host, soname = survey.host, 'libmpi.so.40'
    found = [('%s/lib/%s' % (host.variable(name).rstrip('/'), soname), name) for name in ('EBROOTOPENMPI', 'MPI_HOME')
             if host.variable(name)]
    found += [('%s/%s' % (folder, soname), 'LD_LIBRARY_PATH') for folder in host.folders_of('LD_LIBRARY_PATH')]
    found += [(path, 'looked in /opt') for path in newest_first(host.matching('/opt/openmpi/*/lib/' + soname))]
    path = survey.library('libompi', found + survey.usual(soname), "the host's Open MPI, for images whose MPI that is",
                          'MPI', soname)
    if path:
        folder = os.path.dirname(path)
        parts = [(place, [one for pattern in patterns for one in host.matching(
            os.path.normpath(os.path.join(folder, pattern)))]) for place, patterns in _PARTS.items()]
        survey.facts['libraries.libompi']['folders'] = dict((place, os.path.dirname(one[0])) for place, one in parts
                                                            if one)


def _loaded_cray(host, loaded):
    """Return [(path, source)] where the loaded modules have a Cray MPICH; loaded: CRAY_MPICH_DIR or ''."""
    found = [('%s/lib-abi-mpich/%s' % (loaded, LIBMPI), 'CRAY_MPICH_DIR, which the loaded module cray-mpich sets')]
    return (found if loaded else []) + [
        ('%s/%s' % (folder, LIBMPI), '%s, which the loaded module cray-mpich-abi sets' % name)
        for name in ('LD_LIBRARY_PATH', 'CRAY_LD_LIBRARY_PATH') for folder in host.folders_of(name)
        if folder.endswith('/lib-abi-mpich')]


def _cray_builds(host, loaded):
    """
    Return the paths (list of str) of all of Cray's libmpi: those of the loaded release, then the newest, first.

    loaded: CRAY_MPICH_DIR or ''. Of one release that of GCC is first: it needs no library of a vendor's compiler.
    """
    there = [path for depth in ('*', '*/*')
             for path in host.matching('/opt/cray/pe/mpich/*/ofi/%s/lib-abi-mpich/%s' % (depth, LIBMPI))
             if re.search(r'/mpich/\d', path)]
    releases = newest_first(set(re.search(r'/mpich/([\d.]+)/', path).group(1) for path in there))
    ordered = [path for release in releases for path in sorted(
        newest_first([path for path in there if '/mpich/%s/' % release in path]),
        key=lambda path: '/gnu/' not in path)]
    release = re.search(r'/mpich/([\d.]+)', loaded)
    if release:  # of the loaded release, whatever compiler
        ordered.sort(key=lambda path: '/mpich/%s/' % release.group(1) not in path)
    return ordered


def _other_mpi(survey):
    """Return [(path, source)] of places where an MPICH or Intel MPI may be: mpicc's, ld.so's, usual ones."""
    host, found = survey.host, []
    if host.said['mpicc'].good:
        found += [('%s/%s' % (folder.rstrip('/'), LIBMPI), '`mpicc -show`')
                  for folder in re.findall(r'(?:-L|-rpath[ ,]-Wl,|-rpath,)(/[^\s,]+)', survey.of_system('mpicc'))]
    found += [('%s/%s' % (folder, LIBMPI), 'LD_LIBRARY_PATH') for folder in host.folders_of('LD_LIBRARY_PATH')]
    found += [(path, '`ldconfig -p`') for path in survey.in_cache(LIBMPI)]
    return found + [(path, 'looked in /opt, /usr/local and /usr/lib64') for pattern in (
        '/opt/mpich/*/lib/', '/opt/mpich*/lib/', '/usr/local/lib/', '/usr/lib64/mpich/lib/',
        '/opt/intel/oneapi/mpi/*/lib/') for path in newest_first(host.matching(pattern + LIBMPI))]


def _lacks_mpi(survey):
    """Keep that there is no libmpi of the MPICH ABI."""
    openmpi = 'mpi.so.40' in ' '.join(survey.in_cache('libmpi.so.40')) or 'openmpi' in survey.of_system('mpicc')
    survey.lacks(LIBMPI, 'CRAY_MPICH_DIR, /opt/cray/pe/mpich, mpicc -show, LD_LIBRARY_PATH, ldconfig, /opt/mpich'
                 + ("; mpicc is of an Open MPI, whose soname is another" if openmpi else ''),
                 "bind and native cannot be installed; pure, hybrid and opensource do not need it. Load "
                 "the module of an MPICH, or of the vendor's MPI, and look again")


def cray_pmi(survey):
    """Cray PMI's two libraries."""
    host = survey.host
    prefix = host.variable('CRAY_PMI_PREFIX').rstrip('/')
    for name in ('libpmi', 'libpmi2'):
        soname = name + '.so.0'
        found = [('%s/lib/%s' % (prefix, soname), 'CRAY_PMI_PREFIX')] if prefix else []
        found += _in_cray(host, soname, '/opt/cray/pe/pmi')
        found += [('/opt/cray/pe/lib64/' + soname, 'folder of links to the default releases')] if survey.cray else []
        if not survey.library(name, found, "Cray MPICH finds its ranks through Cray PMI", 'PMI', soname):
            survey.lacks(soname, 'CRAY_PMI_PREFIX, /opt/cray/pe/pmi, /opt/cray/pe/lib64',
                         "bind ends at start where the host's MPI needs Cray PMI; other approaches do not use it"
                         if survey.cray else "not needed: no Cray MPICH here", survey.cray)


def pals(survey):
    """PALS, Cray's launcher."""
    found = [('/opt/cray/pe/lib64/libpals.so.0', 'folder of links to the default releases')]
    found += _in_cray(survey.host, 'libpals.so.0', '/opt/cray/pe/pals', '/opt/cray/pals')
    if not survey.library('libpals', found, "Cray PMI asks it about the launcher", 'PMI', 'libpals.so.0'):
        survey.lacks('libpals.so.0', '/opt/cray/pe/lib64, /opt/cray/pals, /opt/cray/pe/pals',
                     "bind may end at start: Cray PMI opens it" if survey.cray else "not needed: no Cray PMI here",
                     survey.cray)


def _in_cray(host, soname, *tops):
    """Return [(path, source)] of a library in folders of Cray (tops: str): the default release, then the newest."""
    places = [(top + '/default/lib/', 'the default in ' + top) for top in tops]
    places += [(top + '/*/lib/', 'the newest in ' + top) for top in tops]
    return [(path, source) for pattern, source in places for path in newest_first(host.matching(pattern + soname))]


def xpmem(survey):
    """xpmem, by which MPI shares memory within a node."""
    host = survey.host
    options = re.findall(r'-L(\S+)', host.variable('CRAY_XPMEM_POST_LINK_OPTS'))
    found = [('%s/libxpmem.so.0' % folder.rstrip('/'), 'CRAY_XPMEM_POST_LINK_OPTS') for folder in options]
    found += [(path, 'the default in /opt/cray/xpmem')
              for path in host.matching('/opt/cray/xpmem/default/lib64/libxpmem.so.0')]
    # where its package puts it on Alps (github.com/eth-cscs/netstack 67b49b80, documentation of system-stack)
    found += [(path, '/opt/xpmem') for path in host.matching('/opt/xpmem/lib64/libxpmem.so.0')]
    found += survey.usual('libxpmem.so.0')
    if not survey.library('libxpmem', found, "MPI shares memory between the ranks of a node by it", 'MPI',
                          'libxpmem.so.0'):
        survey.lacks('libxpmem.so.0', 'CRAY_XPMEM_POST_LINK_OPTS, /opt/cray/xpmem, /opt/xpmem, '
                     + ', '.join(survey.searched()),
                     "ranks of one node copy twice: slower within a node in bind" if survey.cray else
                     "not needed: the MPI here does without", survey.cray)


def lustre(survey):
    """What Cray MPICH opens by its name for files on Lustre."""
    survey.library('liblustreapi', survey.usual('liblustreapi.so'), "Cray MPICH opens it for MPI_File_open on Lustre",
                   'MPI', opened_as=['liblustreapi.so'], serves='MPI_File_open')


def start_of_ranks(survey):
    """The --mpi= of srun, by who starts with it. Where srun does not name them, none is: a guess would be no site."""
    said = survey.host.said['mpi']
    kinds = mpi_kinds(said.output) if said.good else []
    if kinds:
        survey.fact('mpi kinds', kinds, "what srun can start ranks with", '`srun --mpi=list`', section='PMI')
    family = survey.libraries.get('libmpi', {}).get('family') or ''
    wanted = {'image': 'pmi2', 'Open MPI': 'pmix'}
    if 'libraries.libmpi' in survey.facts:
        # a libmpi that does not say what it is, in Cray's folder, is Cray's
        of_cray = family == 'Cray MPICH' or not family and '/opt/cray/' in survey.value('libraries.libmpi')
        wanted['host'] = 'cray_shasta' if of_cray else 'pmix' if family == 'Open MPI' else 'pmi2'
    chosen = OrderedDict((who, wanted[who]) for who in ('image', 'host', 'Open MPI') if wanted.get(who) in kinds)
    why = "MPICH of an image speaks PMI-2, Cray MPICH Cray PMI, Open MPI PMIx; without it each rank is alone"
    survey.fact('pmi', chosen, why, '`srun --mpi=list`: %s; the host\'s MPI is %s' % (
        ', '.join(kinds), family or 'not known') if said.good else 'srun does not answer: ' + said.problem,
        'derived', 'PMI')
    if not said.good:
        _lacks_pmi(survey, said.problem)
        return
    for who, kind in sorted(wanted.items()):
        if who not in chosen:
            without = {'image': "pure, hybrid and opensource cannot be started by srun",
                       'host': "bind and native cannot be started by srun",
                       'Open MPI': "the approach openmpi cannot be started by srun"}[who]
            survey.lacks('--mpi=%s' % kind, '`srun --mpi=list`: ' + ', '.join(kinds), without, who != 'Open MPI')


#: What a batch system other than Slurm leaves on a node -> what it is, and mpiexec's -launcher there
_BATCH = (
    (('/etc/pbs.conf', '/var/spool/pbs', '/opt/pbs'), ('pbsnodes', 'pbsdsh'), 'PBS', 'pbs'),
    (('/etc/lsf.conf', '/etc/profile.d/lsf.sh'), ('bsub', 'blaunch'), 'LSF', 'lsf'),
)


def batch_system(host):
    """Return (name, launcher of mpiexec) of what starts jobs where srun does not answer: a guess by files, else ssh."""
    for files, commands, name, launcher in _BATCH:
        if any(host.exists(path) for path in files) or any(host.find(command) for command in commands):
            return name, launcher
    return ('Slurm', 'slurm') if host.find('srun') else ('no batch system', 'ssh')


def _lacks_pmi(survey, problem):
    """Keep that nothing shows how ranks find each other, and what there is to be done."""
    name, launcher = batch_system(survey.host)
    if name == 'Slurm':
        survey.lacks('a PMI', '`srun --mpi=list`: ' + problem, "eb installs nothing from this file: look again where "
                     "srun answers, or write what it names into pmi")
        return
    survey.lacks('a PMI', '`srun --mpi=list`: %s; %s' % (problem, name), "eb installs nothing from this file. If an "
                 "mpiexec of MPICH or Intel MPI is here, try `mpiexec -launcher %s -n 2 apptainer exec IMAGE.sif "
                 "PROGRAM` (docs/add-a-site.md, Without Slurm): if that is one job of two ranks, write 'image': 'pmi2' "
                 "into pmi and 'pmi2': 'PMI_FD' into pmi_variables; eb then installs with --try-amend=image=IMAGE.sif"
                 % launcher)


def mpi_kinds(text):
    """Return the kinds (list of str) that `srun --mpi=list` names, of any release of Slurm."""
    found = []
    for line in text.splitlines():
        line = re.sub(r'^srun:\s*', '', line).strip()
        listed = re.match(r'specific pmix plugin versions available:\s*(.*)', line)
        names = re.split(r'[,\s]+', listed.group(1)) if listed else [line] if re.match(r'\w+$', line) else []
        found += [name for name in names if name and name not in found]
    return found
