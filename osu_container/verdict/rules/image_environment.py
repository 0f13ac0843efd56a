"""
The environment that the runtime makes: what the image sets, and what nobody can tell of it
beforehand.
"""

import posixpath
import re

from osu_container.base import shell
from osu_container.image.environment import (
    SCRIPTS_FOLDER,
    UNSET,
    get_exported_value,
    parse_folder_list,
    resolve_process_variable,
)
from osu_container.image.loader import find_loaded_file
from osu_container.verdict.injection import TARGET
from osu_container.verdict.layers import (
    LIBFABRIC,
    read_mca_parameters,
    resolve_variable,
    split_provider,
)
from osu_container.verdict.rules.finding import (
    NOTE,
    compute_module_values,
    find_loaded_mpi,
    find_network_layer,
    find_provider,
    find_provider_variable,
    format_library,
    make_finding,
    rule,
    uses_libfabric,
)
from osu_container.verdict.site_choice import parse_release, resolve_network

#: Variables by which libfabric and MPI choose the network or how ranks find each other:
#: fi_provider(7), README.envvar of MPICH, Intel MPI Developer Reference, Open MPI's MCA parameters,
#: pmi2 and PMIx of Slurm. The rest is for tuning
_DECIDING = {
    'libfabric': re.compile(r'FI_(PROVIDER(_PATH)?|\w+_IFACE|\w+_(DOMAIN|DEVICE)_NAME)$'),
    'MPICH': re.compile(
        r'MPIR_CVAR_(CH4_(NETMOD|SHM|DEVICE)|OFI_USE_PROVIDER|NEMESIS_NETMOD|NOLOCAL|PMI_VERSION|'
        r'CH4_OFI_CAPABILITY_SETS\w*)$|PMI_\w+$|PMIX_(?!MCA_)\w+$'
    ),
    'Cray MPICH': re.compile(r'MPICH_(OFI_\w+_(DOMAIN|PROVIDER)\w*|NETMOD|DPM_DIR)$|PMI_\w+$'),
    'Intel MPI': re.compile(r'I_MPI_(FABRICS|OFI_\w+|PMI\w*|SHM)$|PMI_\w+$'),
    'Open MPI': re.compile(
        r'OMPI_MCA_((?!io$)[a-z]+|(mtl|pml|opal_common_ofi)_\w+|'
        r'mca_base_(component_path|param_files))$|PMIX_\w+$|'
        r'(OPAL|OMPI|PMIX)_(PREFIX|LIBDIR)$|UCX_(TLS|NET_DEVICES)$'
    ),
}


def _list_evidence(name, one):
    """Return [(file and line, what it does)] of the Variable name (str)."""
    return [
        (
            one.location or 'the module',
            'sets %s' % name if one.reason is None else '%s: %s' % (name, one.reason),
        )
    ]


def _format_change(name, one):
    """
    Return what the image does with the variable name (str); one: Variable, None for one that is
    not there.
    """
    return 'sets %s=%s' % (name, one.value) if one and one.value else 'takes %s away' % name


@rule('start of the container', source='action script of Apptainer 1.4.5')
def check_container_start(trial):
    """The scripts of the image leave it to the runtime to start the program."""
    if not trial.image.is_partial and not trial.image.list_folder(SCRIPTS_FOLDER):
        yield make_finding(
            NOTE,
            "the image has no %s, so that the module's %s is all that the runtime reads there: what "
            "you give as APPTAINERENV_NAME does not come in"
            % (SCRIPTS_FOLDER, posixpath.basename(TARGET)),
            [(trial.image.path, 'no %s' % SCRIPTS_FOLDER)],
            '`apptainer build NEW.sif %s` makes it' % shell.quote_path(trial.image.path),
        )
    ends = trial.container.environment.exit_point
    if ends:
        sure, where, why = ends
        yield make_finding(
            'fails' if sure else 'unknown',
            "a script of the image %s: %s, %s"
            % (
                'ends the start of the container' if sure else 'may end the start of the container',
                where,
                why,
            ),
            [(where, why)],
            'take that out of the environment scripts of the image',
        )
    for path, why in trial.container.environment.problems:
        yield make_finding(
            NOTE,
            "%s, among the environment scripts of the image, %s; the runtime passes over it"
            % (path, why),
            [(path, why)],
            'take it out of the image',
        )


def list_ambiguous_libraries(trial):
    """
    Return names (sorted list of str) of libraries for which an unknown LD_LIBRARY_PATH may have
    another file.
    """
    environment = trial.container.environment
    _, complete = parse_folder_list(
        environment.variables.get('LD_LIBRARY_PATH') or environment.default, True
    )
    if complete or trial.image.is_partial:
        return []
    sure = set(trial.container.library_path)
    wanted = dict(
        (posixpath.basename(one.path), one.path)
        for one in trial.process.loaded
        if posixpath.dirname(one.path) not in sure
    )
    wanted.update((name, None) for name, _ in trial.process.missing)
    names = '|'.join(re.escape(name) for name in sorted(wanted))
    return sorted(
        set(
            posixpath.basename(path)
            for path in trial.image.find_files('.*/(?:%s)' % names)
            if wanted[posixpath.basename(path)] is None
            or trial.image.resolve(path) != trial.image.resolve(wanted[posixpath.basename(path)])
        )
    )


@rule('unknown environment', source='image/environment.py')
def check_unknown_environment(trial):
    """
    What the image's scripts set is followed as far as it can be; where another value would
    change the verdict, it is unknown.
    """
    path = (
        trial.container.environment.variables.get('LD_LIBRARY_PATH')
        or trial.container.environment.default
    )
    names = list_ambiguous_libraries(trial)
    if names:
        some = ', '.join(names[:5]) + (' and %d more' % (len(names) - 5) if len(names) > 5 else '')
        yield make_finding(
            'unknown',
            "the LD_LIBRARY_PATH of the image is not known (%s: %s), and the image has %s in more "
            "than one place, or off the path that is known" % (path.location, path.reason, some),
            _list_evidence('LD_LIBRARY_PATH', path),
            'set it in the image by `export LD_LIBRARY_PATH=/folder:'
            '$LD_LIBRARY_PATH`; `osu-container proof` tells what a run loaded',
        )
    found = [
        (name, resolve_process_variable(trial.container.environment, name))
        for name in ('LD_PRELOAD', 'LD_AUDIT')
    ]
    found = [(name, one) for name, one in found if one and one.value is None]
    if found:
        yield make_finding(
            'unknown',
            "what the image sets %s to is not known (%s: %s)"
            % (' and '.join(name for name, _ in found), found[0][1].location, found[0][1].reason),
            [item for name, one in found for item in _list_evidence(name, one)],
            'write its value into the script as it is, or take it out',
        )


@rule('loader of the image', source='ld.so(8)')
def check_loader_variables(trial):
    """
    What the image preloads comes before all else; LD_AUDIT and DT_AUDIT may put any library in the
    place of another; and a program that is setuid or setgid, or has capabilities, may get no
    LD_LIBRARY_PATH (AT_SECURE).
    """
    first = trial.process.loaded[0] if trial.program.path and trial.process.loaded else None
    for what in [] if first is None or trial.process.uses_musl else first.facts.audit:
        yield make_finding(
            'unknown',
            "%s has DT_AUDIT %s, by which ld.so may load other libraries than it finds"
            % (format_library(first), what),
            [(first.facts.path, 'DT_AUDIT ' + what)],
            'link it without -Wl,--audit',
        )
    rights = (
        trial.image.find_privileges(first.path)
        if first and trial.image.exists(first.path)
        else None
    )
    if rights:
        yield make_finding(
            'unknown',
            "%s is %s: where the runtime lets it be that, ld.so passes over LD_LIBRARY_PATH and "
            "LD_PRELOAD" % (format_library(first), rights),
            [(first.facts.path, rights)],
            'take that from the file: chmod ug-s, setcap -r',
        )
    for path, by in trial.container.preload:
        one = (
            resolve_process_variable(trial.container.environment, 'LD_PRELOAD')
            if by == 'LD_PRELOAD'
            else None
        )
        where = one.location if one and one.location else by
        yield make_finding(
            NOTE,
            "the image preloads %s (%s): what it defines comes before the same of all other libraries"
            % (path, where),
            [(where, path)],
            'take it out of the image where nothing needs it',
        )
    for name in ('LD_AUDIT', 'LD_TRACE_LOADED_OBJECTS', 'LD_ASSUME_KERNEL'):
        one = resolve_process_variable(trial.container.environment, name)
        if (
            not one
            or not one.value
            or name == 'LD_AUDIT'
            and not any(
                trial.image.exists(path) or '/' not in path for path in one.value.split(':')
            )
        ):
            continue
        if name == 'LD_TRACE_LOADED_OBJECTS':
            yield make_finding(
                'fails',
                "the image sets %s: ld.so lists libraries and does not start the program" % name,
                _list_evidence(name, one),
                'take it out of the image',
            )
        else:
            yield make_finding(
                'unknown',
                "the image sets %s=%s, by which ld.so may load other libraries than it finds"
                % (name, one.value),
                _list_evidence(name, one),
                'take it out of the image',
            )


def _is_netmod_usable(trial, value, ours):
    """
    MPIR_CVAR_CH4_NETMOD: one of two that libmpi has; where it has one only, that runs whatever
    the variable says.
    """
    device = (trial.mpi or {}).get('device') or []
    netmods = [name.partition(':')[2] for name in device if name.startswith('ch4:')]
    return bool(netmods) and (
        len(netmods) < 2 or value in netmods
    )  # the rules "netmod" and "UCX" go by it


def _is_provider_named(trial, value, ours):
    """A provider by its name, beside FI_PROVIDER, which leaves libfabric only one."""
    return bool(find_provider(trial))


def _are_plugins_usable(trial, value, ours):
    """
    FI_PROVIDER_PATH: the rule "no provider" knows what is found there. Of a plug-in of the image
    and the same provider in libfabric itself the newer one is taken, and a libfabric of another
    build may not be able to drive it. With tcp goes rxm, where it is asked for.
    """
    fabric = trial.fabric or {}
    files, own = fabric.get('files', {}), parse_release(fabric.get('release'))
    both = (
        set(split_provider(find_provider(trial) or '') + ['rxm'])
        & set(files)
        & set(fabric.get('inside', []))
    )
    one_build = both and find_loaded_file(trial.process, 'libfabric.so.1').origin == 'image'
    return all(
        files[name] and (files[name] < own or one_build and files[name] == own) for name in both
    )


def _are_fabrics_usable(trial, value, ours):
    """I_MPI_FABRICS: libfabric between nodes, with or without shared memory within one."""
    return value in ('ofi', 'shm:ofi')


def _is_prefix_usable(trial, value, ours):
    """OPAL_PREFIX: where Open MPI lies; it finds its parts below."""
    mpi = find_loaded_mpi(trial)
    return bool(mpi) and posixpath.normpath(mpi.path).startswith(value.rstrip('/') + '/lib')


#: Variable -> function of (Trial, value of the image, that of the module or None): whether nothing
#: speaks against it. Measured by random pairs over tcp: MPICH 3.4.3 to 5.0.2, Intel MPI 2021.2 to
#: 2021.18, Open MPI 4.1.8 and 5.0.11.
_VARIABLE_CHECKS = {
    'MPIR_CVAR_CH4_NETMOD': _is_netmod_usable,
    'MPIR_CVAR_OFI_USE_PROVIDER': _is_provider_named,
    'FI_PROVIDER_PATH': _are_plugins_usable,
    'I_MPI_FABRICS': _are_fabrics_usable,
    'OPAL_PREFIX': _is_prefix_usable,
    'I_MPI_OFI_PROVIDER': lambda trial, value, ours: value == find_provider(trial),
}


@rule(
    "image's variables",
    source='action script of Apptainer 1.4.5: what the image sets wins over the host; random pairs',
)
def check_image_variables(trial):
    """Variables of the image win over those of the module: what they choose is what runs."""
    ours, family = compute_module_values(trial), (trial.mpi or {}).get('family')
    patterns = [_DECIDING.get(family)] + ([_DECIDING['libfabric']] if uses_libfabric(trial) else [])
    names = set(
        name
        for name in trial.container.environment.variables
        if name in ours or any(pattern and pattern.match(name) for pattern in patterns)
    )
    if trial.container.environment.default not in (None, UNSET):
        names |= set(name for name in ours if uses_libfabric(trial) or not name.startswith('FI_'))
    lost = {}  # (why, at) -> names that one place makes unknown
    for name in sorted(names - {'FI_PROVIDER'}):
        one = resolve_process_variable(trial.container.environment, name, ours.get(name))
        if one and one.value is not None and one.value == ours.get(name):
            continue
        fixed = trial.approach['unset'] + trial.approach.get('exports', [])
        if one is None and name not in ours or name in [entry['name'] for entry in fixed]:
            continue
        if (
            name in _VARIABLE_CHECKS
            and one
            and one.value
            and _VARIABLE_CHECKS[name](trial, one.value, ours.get(name))
        ):
            continue
        at = (one or trial.container.environment.variables[name]).location
        if one and one.value is None:
            lost.setdefault((one.reason, at), []).append(name)
            continue
        yield make_finding(
            'unknown',
            "the image %s (%s)%s; what then runs no rule says"
            % (_format_change(name, one), at, _format_replaced_values([name], ours)),
            [(at, name)],
            'take it out of the image, or export APPTAINERENV_%s with another value: that wins over the image'
            % name,
        )
    for (why, at), several in sorted(lost.items()):
        yield make_finding(
            'unknown',
            "%s may be anything: %s (%s)%s; what then runs no rule says"
            % (' and '.join(several), why, at, _format_replaced_values(several, ours)),
            [(at, name) for name in several],
            'take that out of the image, or export APPTAINERENV_%s with another value: that wins over it'
            % several[0],
        )


def _format_replaced_values(names, ours):
    """
    Return what the module has of names (list of str), as the end of a sentence; ours: its
    variables (dict).
    """
    told = ['%s=%s' % (name, ours[name]) for name in names if name in ours]
    return " instead of the module's " + ' and '.join(told) if told else ''


#: What an Open MPI that is left without it cannot run; the rest may be left out, ofi too: as a btl
#: it is no way that an approach takes, and which mtl runs the network rules say. Debian's packages
#: leave out most (openmpi-common, /etc)
_NEEDED_PARTS = {'self', 'sm', 'vader', 'tcp', 'cm', 'ob1', 'basic', 'hash', 'native', 'none'}


@rule(
    'parameter files',
    source='docs.open-mpi.org, v5.0.x, Setting MCA parameter values; pmix-mca-params.conf of PMIx',
)
def check_parameter_files(trial):
    """
    Files of the image give Open MPI and PMIx parameters that no variable sets: what they choose
    is what runs.
    """
    if (
        trial.image.is_partial
        or (trial.mpi or {}).get('family') != 'Open MPI'
        or find_loaded_mpi(trial).origin != 'image'
    ):
        return
    set_already = set(compute_module_values(trial)) | set(trial.container.environment.variables)
    for name, (value, path) in sorted(
        read_mca_parameters(trial.image, find_loaded_mpi(trial).path).items()
    ):
        left_out = set(value.lstrip('^').split(',')) if value.startswith('^') else None
        if (
            name in set_already
            or not _DECIDING['Open MPI'].match(name)
            and not name.startswith('PMIX_MCA_')
            or left_out is not None
            and not left_out & _NEEDED_PARTS
            or name in ('OMPI_MCA_pml', 'OMPI_MCA_mtl')
        ):
            continue  # over what pml goes the network rules say
        yield make_finding(
            'unknown',
            "%s sets %s=%s; what then runs no rule says" % (path, name, value),
            [('image:' + path, '%s=%s' % (name, value))],
            'take it out of the file',
        )


#: Providers for Ethernet, which reach another node, slowly, in any network
_ETHERNET_PROVIDERS = {'tcp', 'sockets', 'udp', 'net'}


@rule(
    'provider of the image',
    source='fi_fabric(7), FI_PROVIDER; runs with Apptainer 1.4.5; random pairs',
)
def check_image_provider(trial):
    """FI_PROVIDER of the image wins over the module's."""
    if find_network_layer(trial) != LIBFABRIC:
        return
    ours, one = compute_module_values(trial).get('FI_PROVIDER'), find_provider_variable(trial)
    environment = trial.container.environment
    if (
        one
        and one.value == ours
        or 'FI_PROVIDER' not in environment.variables
        and (environment.default in (None, UNSET))
    ):
        return
    at = (one or trial.container.environment.variables['FI_PROVIDER']).location
    wanted = trial.site['provider']['value']
    remedy = (
        'take it out of the image, or export APPTAINERENV_FI_PROVIDER=%s: that wins over the image'
        % (ours or wanted)
    )
    said = (
        "the image's FI_PROVIDER is not known (%s: %s)" % (at, one.reason)
        if one and one.value is None
        else 'the image %s (%s)' % (_format_change('FI_PROVIDER', one), at)
    )
    evidence = [
        (at, 'FI_PROVIDER' if one is None or one.value is None else 'FI_PROVIDER=' + one.value)
    ]
    only = None
    if (trial.mpi or {}).get('family') == 'Open MPI' and resolve_variable(
        trial, 'OMPI_MCA_pml', compute_module_values(trial)
    ) == 'cm':
        only = resolve_variable(
            trial, 'OMPI_MCA_opal_common_ofi_provider_include', compute_module_values(trial)
        )
    if find_provider(trial) is None:
        yield make_finding(
            'unknown',
            "%s, instead of the module's FI_PROVIDER=%s: which provider libfabric then takes no "
            "file says" % (said, ours),
            evidence,
            remedy,
        )
    elif only and not set(split_provider(find_provider(trial))) & set(
        split_provider(only.replace(',', ';'))
    ):
        yield make_finding(
            'fails',
            "%s, and the module tells Open MPI to take %s alone" % (said, only),
            evidence,
            remedy,
        )
    elif find_provider(trial) not in [
        fact['value'] for fact in resolve_network(trial.site)[1]['providers']
    ]:
        slow = find_provider(trial) in _ETHERNET_PROVIDERS
        yield make_finding(
            'works slowly' if slow else 'unknown',
            "%s, which wins over the module's %s%s"
            % (
                said,
                ours,
                '' if slow else ': whether that provider reaches another node here is not known',
            ),
            evidence,
            remedy,
        )


#: Rules whose failures are about what is in the process: with an unknown library path they may be
#: untrue
PROCESS_RULES = (
    'missing library',
    'symbol version',
    'undefined symbol',
    'injection defeated',
    'no provider',
    'musl',
    'PMI',
    'libfabric API',
)


def _overrides_pml(trial):
    """
    Return whether the image makes Open MPI leave out what the module tells it to take: a missing
    part is no end.
    """
    ours = compute_module_values(trial).get('OMPI_MCA_pml')
    return bool(ours) and get_exported_value(trial.container.environment, 'OMPI_MCA_pml') not in (
        None,
        ours,
    )


def downgrade_uncertain(trial, findings):
    """
    Return findings (list of Finding): what fails by them is unknown where the process itself is
    not known.
    """
    unsure = ('unknown environment', 'dry run', 'no program')
    if not any(
        one.rule in unsure and one.level == 'unknown' for one in findings
    ) and not _overrides_pml(trial):
        return findings
    return [
        one._replace(level='unknown', reason='it may be that %s' % one.reason)
        if one.rule in PROCESS_RULES and one.level == 'fails'
        else one
        for one in findings
    ]
