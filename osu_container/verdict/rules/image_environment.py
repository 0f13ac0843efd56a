"""The environment that the runtime makes: what the image sets, and what nobody can tell of it beforehand."""
import posixpath
import re

from osu_container.base import shell
from osu_container.image.environment import FOLDER, GONE, folders, in_process, known
from osu_container.image.loader import of_name
from osu_container.verdict.injection import TARGET
from osu_container.verdict.layers import LIBFABRIC, file_parameters, parts_of, value_of
from osu_container.verdict.rules.finding import (
    NOTE,
    finding,
    layer,
    module_value,
    mpi_of,
    provider_of,
    providers_asked,
    rule,
    shown,
    uses_libfabric,
)
from osu_container.verdict.site_choice import network_of, release

#: Variables by which libfabric and MPI choose the network or how ranks find each other: fi_provider(7), README.envvar
#: of MPICH, Intel MPI Developer Reference, Open MPI's MCA parameters, pmi2 and PMIx of Slurm. The rest is for tuning
_DECIDING = {
    'libfabric': re.compile(r'FI_(PROVIDER(_PATH)?|\w+_IFACE|\w+_(DOMAIN|DEVICE)_NAME)$'),
    'MPICH': re.compile(r'MPIR_CVAR_(CH4_(NETMOD|SHM|DEVICE)|OFI_USE_PROVIDER|NEMESIS_NETMOD|NOLOCAL|PMI_VERSION|'
                        r'CH4_OFI_CAPABILITY_SETS\w*)$|PMI_\w+$|PMIX_(?!MCA_)\w+$'),
    'Cray MPICH': re.compile(r'MPICH_(OFI_\w+_(DOMAIN|PROVIDER)\w*|NETMOD|DPM_DIR)$|PMI_\w+$'),
    'Intel MPI': re.compile(r'I_MPI_(FABRICS|OFI_\w+|PMI\w*|SHM)$|PMI_\w+$'),
    'Open MPI': re.compile(r'OMPI_MCA_((?!io$)[a-z]+|(mtl|pml|opal_common_ofi)_\w+|'
                           r'mca_base_(component_path|param_files))$|PMIX_\w+$|'
                           r'(OPAL|OMPI|PMIX)_(PREFIX|LIBDIR)$|UCX_(TLS|NET_DEVICES)$'),
}


def _evidence(name, one):
    """Return [(file and line, what it does)] of the Variable name (str)."""
    return [(one.at or 'the module', 'sets %s' % name if one.why is None else '%s: %s' % (name, one.why))]


def _done(name, one):
    """Return what the image does with the variable name (str); one: Variable, None for one that is not there."""
    return 'sets %s=%s' % (name, one.value) if one and one.value else 'takes %s away' % name


@rule('start of the container', source='action script of Apptainer 1.4.5')
def start(trial):
    """The scripts of the image leave it to the runtime to start the program."""
    if not trial.image.partial and not trial.image.names(FOLDER):
        yield finding(NOTE, "the image has no %s, so that the module's %s is all that the runtime reads there: what "
                      "you give as APPTAINERENV_NAME does not come in" % (FOLDER, posixpath.basename(TARGET)),
                      [(trial.image.path, 'no %s' % FOLDER)],
                      '`apptainer build NEW.sif %s` makes it' % shell.path(trial.image.path))
    ends = trial.inside.environment.ends
    if ends:
        sure, where, why = ends
        yield finding('fails' if sure else 'unknown', "a script of the image %s: %s, %s"
                      % ('ends the start of the container' if sure else 'may end the start of the container', where,
                         why), [(where, why)], 'take that out of the environment scripts of the image')
    for path, why in trial.inside.environment.problems:
        yield finding(NOTE, "%s, among the environment scripts of the image, %s; the runtime passes over it"
                      % (path, why), [(path, why)], 'take it out of the image')


def path_matters(trial):
    """Return names (sorted list of str) of libraries for which an unknown LD_LIBRARY_PATH may have another file."""
    environment = trial.inside.environment
    _, complete = folders(environment.variables.get('LD_LIBRARY_PATH') or environment.lost, True)
    if complete or trial.image.partial:
        return []
    sure = set(trial.inside.library_path)
    wanted = dict((posixpath.basename(one.path), one.path) for one in trial.process.loaded
                  if posixpath.dirname(one.path) not in sure)
    wanted.update((name, None) for name, _ in trial.process.missing)
    names = '|'.join(re.escape(name) for name in sorted(wanted))
    return sorted(set(posixpath.basename(path) for path in trial.image.matching('.*/(?:%s)' % names)
                      if wanted[posixpath.basename(path)] is None or
                      trial.image.real(path) != trial.image.real(wanted[posixpath.basename(path)])))


@rule('unknown environment', source='image/environment.py')
def unknown(trial):
    """What the image's scripts set is followed as far as it can be; where another value would change the verdict, it
    is unknown."""
    path = trial.inside.environment.variables.get('LD_LIBRARY_PATH') or trial.inside.environment.lost
    names = path_matters(trial)
    if names:
        some = ', '.join(names[:5]) + (' and %d more' % (len(names) - 5) if len(names) > 5 else '')
        yield finding('unknown', "the LD_LIBRARY_PATH of the image is not known (%s: %s), and the image has %s in more "
                      "than one place, or off the path that is known" % (path.at, path.why, some),
                      _evidence('LD_LIBRARY_PATH', path), 'set it in the image by `export LD_LIBRARY_PATH=/folder:'
                      '$LD_LIBRARY_PATH`; `osu-container proof` tells what a run loaded')
    found = [(name, in_process(trial.inside.environment, name)) for name in ('LD_PRELOAD', 'LD_AUDIT')]
    found = [(name, one) for name, one in found if one and one.value is None]
    if found:
        yield finding('unknown', "what the image sets %s to is not known (%s: %s)"
                      % (' and '.join(name for name, _ in found), found[0][1].at, found[0][1].why),
                      [item for name, one in found for item in _evidence(name, one)],
                      'write its value into the script as it is, or take it out')


@rule('loader of the image', source='ld.so(8)')
def loader_variables(trial):
    """
    What the image preloads comes before all else; LD_AUDIT and DT_AUDIT may put any library in the place of another;
    and a program that is setuid or setgid, or has capabilities, may get no LD_LIBRARY_PATH (AT_SECURE).
    """
    first = trial.process.loaded[0] if trial.start.program and trial.process.loaded else None
    for what in [] if first is None or trial.process.musl else first.facts.audit:
        yield finding('unknown', "%s has DT_AUDIT %s, by which ld.so may load other libraries than it finds"
                      % (shown(first), what), [(first.facts.path, 'DT_AUDIT ' + what)], 'link it without -Wl,--audit')
    rights = trial.image.rights(first.path) if first and trial.image.exists(first.path) else None
    if rights:
        yield finding('unknown', "%s is %s: where the runtime lets it be that, ld.so passes over LD_LIBRARY_PATH and "
                      "LD_PRELOAD" % (shown(first), rights), [(first.facts.path, rights)],
                      'take that from the file: chmod ug-s, setcap -r')
    for path, by in trial.inside.preload:
        one = in_process(trial.inside.environment, 'LD_PRELOAD') if by == 'LD_PRELOAD' else None
        where = one.at if one and one.at else by
        yield finding(NOTE, "the image preloads %s (%s): what it defines comes before the same of all other libraries"
                      % (path, where), [(where, path)], 'take it out of the image where nothing needs it')
    for name in ('LD_AUDIT', 'LD_TRACE_LOADED_OBJECTS', 'LD_ASSUME_KERNEL'):
        one = in_process(trial.inside.environment, name)
        if not one or not one.value or name == 'LD_AUDIT' and not any(
                trial.image.exists(path) or '/' not in path for path in one.value.split(':')):
            continue
        if name == 'LD_TRACE_LOADED_OBJECTS':
            yield finding('fails', "the image sets %s: ld.so lists libraries and does not start the program" % name,
                          _evidence(name, one), 'take it out of the image')
        else:
            yield finding('unknown', "the image sets %s=%s, by which ld.so may load other libraries than it finds"
                          % (name, one.value), _evidence(name, one), 'take it out of the image')


def _netmod(trial, value, ours):
    """MPIR_CVAR_CH4_NETMOD: one of two that libmpi has; where it has one only, that runs whatever the variable says."""
    device = (trial.mpi or {}).get('device') or []
    netmods = [name.partition(':')[2] for name in device if name.startswith('ch4:')]
    return bool(netmods) and (len(netmods) < 2 or value in netmods)  # the rules "netmod" and "UCX" go by it


def _of_provider(trial, value, ours):
    """A provider by its name, beside FI_PROVIDER, which leaves libfabric only one."""
    return bool(provider_of(trial))


def _plugins(trial, value, ours):
    """
    FI_PROVIDER_PATH: the rule "no provider" knows what is found there. Of a plug-in of the image and the same provider
    in libfabric itself the newer one is taken, and a libfabric of another build may not be able to drive it. With tcp
    goes rxm, where it is asked for.
    """
    fabric = trial.fabric or {}
    files, own = fabric.get('files', {}), release(fabric.get('release'))
    both = set(parts_of(provider_of(trial) or '') + ['rxm']) & set(files) & set(fabric.get('inside', []))
    one_build = both and of_name(trial.process, 'libfabric.so.1').origin == 'image'
    return all(files[name] and (files[name] < own or one_build and files[name] == own) for name in both)


def _fabrics(trial, value, ours):
    """I_MPI_FABRICS: libfabric between nodes, with or without shared memory within one."""
    return value in ('ofi', 'shm:ofi')


def _prefix(trial, value, ours):
    """OPAL_PREFIX: where Open MPI lies; it finds its parts below."""
    mpi = mpi_of(trial)
    return bool(mpi) and posixpath.normpath(mpi.path).startswith(value.rstrip('/') + '/lib')


#: Variable -> function of (Trial, value of the image, that of the module or None): whether nothing speaks against it.
#: Measured by random pairs over tcp: MPICH 3.4.3 to 5.0.2, Intel MPI 2021.2 to 2021.18, Open MPI 4.1.8 and 5.0.11.
_CHOICES = {'MPIR_CVAR_CH4_NETMOD': _netmod, 'MPIR_CVAR_OFI_USE_PROVIDER': _of_provider, 'FI_PROVIDER_PATH': _plugins,
            'I_MPI_FABRICS': _fabrics, 'OPAL_PREFIX': _prefix,
            'I_MPI_OFI_PROVIDER': lambda trial, value, ours: value == provider_of(trial)}


@rule("image's variables", source='action script of Apptainer 1.4.5: what the image sets wins over the host; '
                                  'random pairs')
def image_variables(trial):
    """Variables of the image win over those of the module: what they choose is what runs."""
    ours, family = module_value(trial), (trial.mpi or {}).get('family')
    patterns = [_DECIDING.get(family)] + ([_DECIDING['libfabric']] if uses_libfabric(trial) else [])
    names = set(name for name in trial.inside.environment.variables
                if name in ours or any(pattern and pattern.match(name) for pattern in patterns))
    if trial.inside.environment.lost not in (None, GONE):
        names |= set(name for name in ours if uses_libfabric(trial) or not name.startswith('FI_'))
    lost = {}  # (why, at) -> names that one place makes unknown
    for name in sorted(names - {'FI_PROVIDER'}):
        one = in_process(trial.inside.environment, name, ours.get(name))
        if one and one.value is not None and one.value == ours.get(name):
            continue
        fixed = trial.approach['unset'] + trial.approach.get('exports', [])
        if one is None and name not in ours or name in [entry['name'] for entry in fixed]:
            continue
        if name in _CHOICES and one and one.value and _CHOICES[name](trial, one.value, ours.get(name)):
            continue
        at = (one or trial.inside.environment.variables[name]).at
        if one and one.value is None:
            lost.setdefault((one.why, at), []).append(name)
            continue
        yield finding('unknown', "the image %s (%s)%s; what then runs no rule says"
                      % (_done(name, one), at, _instead([name], ours)), [(at, name)],
                      'take it out of the image, or export APPTAINERENV_%s with another value: that wins over the image'
                      % name)
    for (why, at), several in sorted(lost.items()):
        yield finding('unknown', "%s may be anything: %s (%s)%s; what then runs no rule says"
                      % (' and '.join(several), why, at, _instead(several, ours)), [(at, name) for name in several],
                      'take that out of the image, or export APPTAINERENV_%s with another value: that wins over it'
                      % several[0])


def _instead(names, ours):
    """Return what the module has of names (list of str), as the end of a sentence; ours: its variables (dict)."""
    told = ['%s=%s' % (name, ours[name]) for name in names if name in ours]
    return " instead of the module's " + ' and '.join(told) if told else ''


#: What an Open MPI that is left without it cannot run; the rest may be left out, ofi too: as a btl it is no way that an
#: approach takes, and which mtl runs the network rules say. Debian's packages leave out most (openmpi-common, /etc)
_NEEDED_PARTS = {'self', 'sm', 'vader', 'tcp', 'cm', 'ob1', 'basic', 'hash', 'native', 'none'}


@rule('parameter files', source='docs.open-mpi.org, v5.0.x, Setting MCA parameter values; pmix-mca-params.conf of PMIx')
def parameter_files(trial):
    """Files of the image give Open MPI and PMIx parameters that no variable sets: what they choose is what runs."""
    if trial.image.partial or (trial.mpi or {}).get('family') != 'Open MPI' or mpi_of(trial).origin != 'image':
        return
    set_already = set(module_value(trial)) | set(trial.inside.environment.variables)
    for name, (value, path) in sorted(file_parameters(trial.image, mpi_of(trial).path).items()):
        left_out = set(value.lstrip('^').split(',')) if value.startswith('^') else None
        if name in set_already or not _DECIDING['Open MPI'].match(name) and not name.startswith('PMIX_MCA_') or \
                left_out is not None and not left_out & _NEEDED_PARTS or name in ('OMPI_MCA_pml', 'OMPI_MCA_mtl'):
            continue  # over what pml goes the network rules say
        yield finding('unknown', "%s sets %s=%s; what then runs no rule says" % (path, name, value),
                      [('image:' + path, '%s=%s' % (name, value))], 'take it out of the file')


#: Providers for Ethernet, which reach another node, slowly, in any network
_OF_ETHERNET = {'tcp', 'sockets', 'udp', 'net'}


@rule('provider of the image', source='fi_fabric(7), FI_PROVIDER; runs with Apptainer 1.4.5; random pairs')
def image_provider(trial):
    """FI_PROVIDER of the image wins over the module's."""
    if layer(trial) != LIBFABRIC:
        return
    ours, one = module_value(trial).get('FI_PROVIDER'), providers_asked(trial)
    environment = trial.inside.environment
    if one and one.value == ours or 'FI_PROVIDER' not in environment.variables and (
            environment.lost in (None, GONE)):
        return
    at = (one or trial.inside.environment.variables['FI_PROVIDER']).at
    wanted = trial.site['provider']['value']
    remedy = ('take it out of the image, or export APPTAINERENV_FI_PROVIDER=%s: that wins over the image'
              % (ours or wanted))
    said = ("the image's FI_PROVIDER is not known (%s: %s)" % (at, one.why) if one and one.value is None else
            'the image %s (%s)' % (_done('FI_PROVIDER', one), at))
    evidence = [(at, 'FI_PROVIDER' if one is None or one.value is None else 'FI_PROVIDER=' + one.value)]
    only = None
    if (trial.mpi or {}).get('family') == 'Open MPI' and value_of(trial, 'OMPI_MCA_pml', module_value(trial)) == 'cm':
        only = value_of(trial, 'OMPI_MCA_opal_common_ofi_provider_include', module_value(trial))
    if provider_of(trial) is None:
        yield finding('unknown', "%s, instead of the module's FI_PROVIDER=%s: which provider libfabric then takes no "
                      "file says" % (said, ours), evidence, remedy)
    elif only and not set(parts_of(provider_of(trial))) & set(parts_of(only.replace(',', ';'))):
        yield finding('fails', "%s, and the module tells Open MPI to take %s alone" % (said, only), evidence, remedy)
    elif provider_of(trial) not in [fact['value'] for fact in network_of(trial.site)[1]['providers']]:
        slow = provider_of(trial) in _OF_ETHERNET
        yield finding('works slowly' if slow else 'unknown', "%s, which wins over the module's %s%s"
                      % (said, ours, '' if slow else ': whether that provider reaches another node here is not known'),
                      evidence, remedy)


#: Rules whose failures are about what is in the process: with an unknown library path they may be untrue
OF_PROCESS = ('missing library', 'symbol version', 'undefined symbol', 'injection defeated', 'no provider', 'musl',
              'PMI', 'libfabric API')


def _goes_another_way(trial):
    """Return whether the image makes Open MPI leave out what the module tells it to take: a missing part is no end."""
    ours = module_value(trial).get('OMPI_MCA_pml')
    return bool(ours) and known(trial.inside.environment, 'OMPI_MCA_pml') not in (None, ours)


def doubted(trial, findings):
    """Return findings (list of Finding): what fails by them is unknown where the process itself is not known."""
    unsure = ('unknown environment', 'dry run', 'no program')
    if not any(one.rule in unsure and one.level == 'unknown' for one in findings) and not _goes_another_way(trial):
        return findings
    return [one._replace(level='unknown', reason='it may be that %s' % one.reason)
            if one.rule in OF_PROCESS and one.level == 'fails' else one for one in findings]
