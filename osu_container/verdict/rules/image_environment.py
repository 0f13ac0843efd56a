"""Rules on the environment in the container: the image's variables, and unknown values."""

import posixpath
import re
from typing import Callable, Dict, Iterator, List, Optional, Tuple

from osu_container.base import shell
from osu_container.image.environment import (
    SCRIPTS_FOLDER,
    Variable,
    get_exported_value,
    parse_folder_list,
    resolve_process_variable,
)
from osu_container.image.loader import find_loaded_file
from osu_container.verdict.injection import TARGET
from osu_container.verdict.layers import (
    LIBFABRIC,
    UCX,
    read_mca_parameters,
    resolve_variable,
    split_provider,
)
from osu_container.verdict.rules.finding import NOTE, RULES_BY_NAME, Finding, make_finding, rule
from osu_container.verdict.rules.questions import (
    compute_module_values,
    find_loaded_mpi,
    find_network_layer,
    find_provider,
    find_provider_variable,
    format_library,
    shorten_names,
    uses_libfabric,
)
from osu_container.verdict.site_choice import parse_release, resolve_network
from osu_container.verdict.trial import Trial

#: Variables that make libfabric and MPI choose a network, that tell ranks how to find each other,
#: or that may end MPI_Init. Sources: fi_provider(7), README.envvar of MPICH, Intel MPI Developer
#: Reference, Open MPI's MCA parameters, pmi2 and PMIx of Slurm. Any control variable of MPICH, Intel
#: MPI and UCX may end MPI_Init (runs with MPIR_CVAR_CH4_NUM_VCIS=200, I_MPI_OFFLOAD=2, UCX_TLS=rc),
#: so all of them count, except those in _VARIABLE_CHECKS and _HARMLESS. All other variables only
#: affect the speed.
_DECIDING = {
    'libfabric': re.compile(r'FI_(PROVIDER(_PATH)?|\w+_IFACE|\w+_(DOMAIN|DEVICE)_NAME)$'),
    'MPICH': re.compile(r'MPIR_CVAR_\w+$|PMI_\w+$|PMIX_(?!MCA_)\w+$'),
    'Cray MPICH': re.compile(r'MPICH_(OFI_\w+_(DOMAIN|PROVIDER)\w*|NETMOD|DPM_DIR)$|PMI_\w+$'),
    'Intel MPI': re.compile(r'I_MPI_\w+$|PMI_\w+$'),
    'Open MPI': re.compile(
        r'OMPI_MCA_((?!io$)[a-z]+|(mtl|pml|opal_common_ofi)_\w+|'
        r'mca_base_(component_path|param_files))$|PMIX_\w+$|'
        r'(OPAL|OMPI|PMIX)_(PREFIX|LIBDIR)$'
    ),
    UCX: re.compile(r'UCX_\w+$'),
}
#: Assignments without effect on MPI_Init: messages, compilers and Hydra, which no module uses.
#: Sources: Intel MPI Developer Reference (Compilation, Hydra); runs of one rank of MPICH 4.0.2 over
#: UCX, 2026-11-28
_HARMLESS = re.compile(
    r'MPIR_CVAR_(DEBUG_SUMMARY|ENABLE_GPU|ERROR_CHECKING)=[01]$|'
    r'I_MPI_(ROOT|DEBUG|HYDRA_\w+|CC|CXX|FC|F77|F90)=|'
    r'UCX_(LOG_LEVEL|WARN_UNUSED_ENV_VARS|MEMTYPE_CACHE|MODULE_DIR)='
)


def _list_evidence(name: str, variable: Variable) -> List[Tuple[str, str]]:
    """
    Return [(location, text)], the evidence that the image sets a variable.

    location: script and line that set the variable.
    """
    return [
        (
            variable.location or 'the module',
            'sets %s' % name if variable.reason is None else '%s: %s' % (name, variable.reason),
        )
    ]


def _format_change(name: str, variable: Optional[Variable]) -> str:
    """Return the text 'sets NAME=VALUE', or 'unsets NAME' for a variable without a value."""
    return (
        'sets %s=%s' % (name, variable.value) if variable and variable.value else 'unsets %s' % name
    )


@rule('start of the container', source='action script of Apptainer 1.4.5', facts=())
def check_container_start(trial: Trial) -> Iterator[Finding]:
    """The image's environment scripts let the program start."""
    if not trial.image.is_partial and not trial.image.list_folder(SCRIPTS_FOLDER):
        yield make_finding(
            NOTE,
            'the runtime ignores variables APPTAINERENV_* for this image, because the image has '
            'no folder %s: the runtime reads only the script %s of the module in this folder'
            % (SCRIPTS_FOLDER, posixpath.basename(TARGET)),
            [(trial.image.path, 'no %s' % SCRIPTS_FOLDER)],
            'run `apptainer build NEW.sif %s`, which writes an image with the folder '
            '/.singularity.d/env' % shell.quote_path(trial.image.path),
        )
    exit_point = trial.environment.exit_point
    if exit_point:
        is_certain, location, why = exit_point
        yield make_finding(
            'fails' if is_certain else 'unknown',
            'a script of the image %s: %s, %s'
            % (
                'keeps the container from starting'
                if is_certain
                else 'may keep the container from starting',
                location,
                why,
            ),
            [(location, why)],
            'remove the reported line from the environment scripts of the image',
        )
    for path, why in trial.environment.problems:
        yield make_finding(
            NOTE,
            'the runtime skips the environment script %s of the image, because the script %s'
            % (path, why),
            [(path, why)],
            'remove the skipped environment script from the image',
        )


def list_ambiguous_libraries(trial: Trial) -> List[str]:
    """
    Return the names of libraries for which the file that ld.so loads is uncertain.

    Part of LD_LIBRARY_PATH is unknown, and the image has further files with these names outside of
    the known folders.
    """
    environment = trial.environment
    _, is_complete = parse_folder_list(
        environment.variables.get('LD_LIBRARY_PATH') or environment.default, True
    )
    if is_complete or trial.image.is_partial:
        return []
    folders = set(trial.container.library_path)
    paths: Dict[str, Optional[str]] = {
        posixpath.basename(library.path): library.path
        for library in trial.process.loaded
        if posixpath.dirname(library.path) not in folders
    }
    paths.update((name, None) for name, _ in trial.process.missing)
    names = '|'.join(re.escape(name) for name in sorted(paths))
    return sorted(
        set(
            posixpath.basename(path)
            for path in trial.image.find_files('.*/(?:%s)' % names)
            for expected in [paths[posixpath.basename(path)]]
            if expected is None or trial.image.resolve(path) != trial.image.resolve(expected)
        )
    )


@rule('unknown environment', source='image/environment.py', facts=())
def check_unknown_environment(trial: Trial) -> Iterator[Finding]:
    """
    `osu-container check` can evaluate all variables of the image that decide the verdict.

    A variable with an unknown value makes the verdict unknown only if another value of the variable
    would change the verdict.
    """
    path = trial.environment.variables.get('LD_LIBRARY_PATH') or trial.environment.default
    names = list_ambiguous_libraries(trial)
    if path and names:
        yield make_finding(
            'unknown',
            'cannot evaluate LD_LIBRARY_PATH of the image (%s: %s), and the image has %s in '
            'several folders, or in folders outside of the known part of LD_LIBRARY_PATH'
            % (path.location, path.reason, shorten_names(names)),
            _list_evidence('LD_LIBRARY_PATH', path),
            'write `export LD_LIBRARY_PATH=/folder:$LD_LIBRARY_PATH` into the environment script '
            'of the image, or run the program with `osu-container proof`, which reports the '
            'loaded libraries',
        )
    variables = [
        (name, variable)
        for name in ('LD_PRELOAD', 'LD_AUDIT')
        for variable in [resolve_process_variable(trial.environment, name)]
        if variable and variable.value is None
    ]
    if variables:
        yield make_finding(
            'unknown',
            'cannot evaluate the value that the image assigns to %s (%s: %s)'
            % (
                ' and '.join(name for name, _ in variables),
                variables[0][1].location,
                variables[0][1].reason,
            ),
            [item for name, variable in variables for item in _list_evidence(name, variable)],
            'write the literal value of the variable into the environment script of the image, or '
            'remove the variable from this script',
        )


@rule('loader of the image', source='ld.so(8)', facts=())
def check_loader_variables(trial: Trial) -> Iterator[Finding]:
    """
    No variable and no file property of the image makes ld.so load other libraries.

    ld.so uses preloaded libraries before all others. LD_AUDIT and DT_AUDIT may replace any library.
    If the program is setuid or setgid, ld.so may ignore LD_LIBRARY_PATH (AT_SECURE).
    """
    program = trial.process.loaded[0] if trial.program.path and trial.process.loaded else None
    if program and not trial.process.uses_musl:
        for audit_library in program.facts.audit:
            yield make_finding(
                'unknown',
                '%s has the entry DT_AUDIT %s, so ld.so may load other libraries than predicted'
                % (format_library(program), audit_library),
                [(program.facts.path, 'DT_AUDIT ' + audit_library)],
                'link the program without `-Wl,--audit`',
            )
    privileges = (
        trial.image.find_privileges(program.path)
        if program and trial.image.exists(program.path)
        else None
    )
    if program and privileges:
        yield make_finding(
            'unknown',
            '%s is %s: if the runtime grants these privileges, ld.so ignores LD_LIBRARY_PATH and '
            'LD_PRELOAD' % (format_library(program), privileges),
            [(program.facts.path, privileges)],
            'remove the privileges from the file with `chmod ug-s FILE`',
        )
    for path, cause in trial.container.preload:
        variable = (
            resolve_process_variable(trial.environment, 'LD_PRELOAD')
            if cause == 'LD_PRELOAD'
            else None
        )
        location = variable.location if variable and variable.location else cause
        yield make_finding(
            NOTE,
            'the image preloads %s (%s): the symbols of this library take precedence over those of '
            'all other libraries' % (path, location),
            [(location, path)],
            'if no program needs the preloaded library, remove the preload from the image',
        )
    for name in ('LD_AUDIT', 'LD_TRACE_LOADED_OBJECTS', 'LD_ASSUME_KERNEL'):
        variable = resolve_process_variable(trial.environment, name)
        if (
            not variable
            or not variable.value
            or name == 'LD_AUDIT'
            and not any(
                trial.image.exists(path) or '/' not in path for path in variable.value.split(':')
            )
        ):
            continue
        if name == 'LD_TRACE_LOADED_OBJECTS':
            yield make_finding(
                'fails',
                'the image sets %s, so ld.so lists libraries and does not start the program' % name,
                _list_evidence(name, variable),
                'remove %s from the image' % name,
            )
        else:
            yield make_finding(
                'unknown',
                'the image sets %s=%s, so ld.so may load other libraries than predicted'
                % (name, variable.value),
                _list_evidence(name, variable),
                'remove %s from the image' % name,
            )


def _is_netmod_usable(trial: Trial, value: str) -> bool:
    """Return whether MPIR_CVAR_CH4_NETMOD names a netmod of libmpi, or has no effect."""
    device = trial.mpi.get('device') or []
    netmods = [name.partition(':')[2] for name in device if name.startswith('ch4:')]
    # A libmpi with one netmod ignores the variable. The rules "netmod" and "UCX" evaluate the
    # variable for other libmpi.
    return bool(netmods) and (len(netmods) < 2 or value in netmods)


def _is_provider_named(trial: Trial, value: str) -> bool:
    """Return whether `check` knows the name of the provider that FI_PROVIDER selects."""
    return bool(find_provider(trial))


def _are_plugins_usable(trial: Trial, value: str) -> bool:
    """
    Return whether libfabric can use the plug-ins that FI_PROVIDER_PATH adds.

    The rule "no provider" checks that the requested provider exists. If a plug-in and libfabric
    itself have the same provider, libfabric uses the newer provider, and a libfabric of another
    build may not support the plug-in. The provider rxm is checked as well, because the provider tcp
    may use rxm.
    """
    fabric = trial.fabric
    files, release = fabric.get('files', {}), parse_release(fabric.get('release'))
    names = (
        set(split_provider(find_provider(trial) or '') + ['rxm'])
        & set(files)
        & set(fabric.get('inside', []))
    )
    library = find_loaded_file(trial.process, 'libfabric.so.1')
    is_image_build = library is not None and library.origin == 'image'
    return all(
        files[name] and (files[name] < release or is_image_build and files[name] == release)
        for name in names
    )


def _are_fabrics_usable(trial: Trial, value: str) -> bool:
    """Return whether I_MPI_FABRICS selects libfabric between nodes."""
    return value in ('ofi', 'shm:ofi')


def _is_prefix_usable(trial: Trial, value: str) -> bool:
    """Return whether OPAL_PREFIX is the folder of the Open MPI in the process."""
    mpi = find_loaded_mpi(trial)
    folder = value.rstrip('/') + '/lib'
    return mpi is not None and posixpath.normpath(mpi.path).startswith(folder)


#: Variable -> function that returns whether the image's value is harmless. Measured with random
#: pairs over tcp: MPICH 3.4.3 to 5.0.2, Intel MPI 2021.2 to 2021.18, Open MPI 4.1.8 and 5.0.11.
_VARIABLE_CHECKS: Dict[str, Callable[[Trial, str], bool]] = {
    'MPIR_CVAR_CH4_NETMOD': _is_netmod_usable,
    'MPIR_CVAR_OFI_USE_PROVIDER': _is_provider_named,
    'FI_PROVIDER_PATH': _are_plugins_usable,
    'I_MPI_FABRICS': _are_fabrics_usable,
    'OPAL_PREFIX': _is_prefix_usable,
    'I_MPI_OFI_PROVIDER': lambda trial, value: value == find_provider(trial),
}


@rule(
    "image's variables",
    source='action script of Apptainer 1.4.5: variables of the image override variables of the '
    'host; runs of random pairs of an image and a host',
    facts=('provider',),
)
def check_image_variables(trial: Trial) -> Iterator[Finding]:
    """
    The image sets no variable that chooses the network or that may end MPI_Init.

    A variable of the image overrides the module's variable of the same name.
    """
    module_values, family = compute_module_values(trial), trial.mpi.get('family', '')
    patterns = [_DECIDING.get(family)] + ([_DECIDING['libfabric']] if uses_libfabric(trial) else [])
    if family == 'Open MPI' or find_loaded_file(trial.process, 'libucp.so.0'):
        patterns.append(_DECIDING[UCX])
    names = set(
        name
        for name in trial.environment.variables
        if name in module_values or any(pattern and pattern.match(name) for pattern in patterns)
    )
    if trial.environment.default is not None:
        names |= set(
            name for name in module_values if uses_libfabric(trial) or not name.startswith('FI_')
        )
    # (reason, location) -> names of the variables with unknown values
    unknown: Dict[Tuple[str, str], List[str]] = {}
    for name in sorted(names - {'FI_PROVIDER'}):
        variable = resolve_process_variable(trial.environment, name, module_values.get(name))
        if variable and variable.value is not None and variable.value == module_values.get(name):
            continue
        entries = trial.approach['unset'] + trial.approach.get('exports', [])
        if (
            variable is None
            and name not in module_values
            or name in [entry['name'] for entry in entries]
        ):
            continue
        if (
            variable
            and variable.value
            and name not in module_values
            and _HARMLESS.match('%s=%s' % (name, variable.value))
            or name in _VARIABLE_CHECKS
            and variable
            and variable.value
            and _VARIABLE_CHECKS[name](trial, variable.value)
        ):
            continue
        location = (variable or trial.environment.variables[name]).location or ''
        if variable and variable.value is None:
            unknown.setdefault((variable.reason or '', location), []).append(name)
            continue
        yield make_finding(
            'unknown',
            'the image %s (%s)%s, and check has no rule for the effect of this change'
            % (
                _format_change(name, variable),
                location,
                _format_replaced_values([name], module_values),
            ),
            [(location, name)],
            'remove %s from the image, or export APPTAINERENV_%s, which overrides the image, with '
            'another value' % (name, name),
        )
    for (reason, location), unknown_names in sorted(unknown.items()):
        yield make_finding(
            'unknown',
            'cannot evaluate %s: %s (%s)%s, and check has no rule for the effect of an unknown '
            'value'
            % (
                ' and '.join(unknown_names),
                reason,
                location,
                _format_replaced_values(unknown_names, module_values),
            ),
            [(location, name) for name in unknown_names],
            'remove %s from the image, or export APPTAINERENV_%s, which overrides the image, with '
            'another value' % (unknown_names[0], unknown_names[0]),
        )


def _format_replaced_values(names: List[str], module_values: Dict[str, str]) -> str:
    """
    Return the text " instead of the module's NAME=VALUE" for the given variables.

    The text is '' if the module sets none of these variables.
    """
    values = ['%s=%s' % (name, module_values[name]) for name in names if name in module_values]
    return " instead of the module's " + ' and '.join(values) if values else ''


#: Components without which Open MPI cannot run. A parameter file may exclude all other components,
#: as Debian's does (openmpi-common, /etc). It may exclude ofi too: no approach uses the btl ofi, and
#: the network rules cover the mtl ofi.
_NEEDED_PARTS = {'self', 'sm', 'vader', 'tcp', 'cm', 'ob1', 'basic', 'hash', 'native', 'none'}


@rule(
    'parameter files',
    source='docs.open-mpi.org, v5.0.x, Setting MCA parameter values; pmix-mca-params.conf of PMIx',
    facts=(),
)
def check_parameter_files(trial: Trial) -> Iterator[Finding]:
    """No parameter file of Open MPI or PMIx in the image chooses the network."""
    mpi = find_loaded_mpi(trial)
    if (
        trial.image.is_partial
        or trial.mpi.get('family') != 'Open MPI'
        or mpi is None
        or mpi.origin != 'image'
    ):
        return
    set_already = set(compute_module_values(trial)) | set(trial.environment.variables)
    for name, (value, path) in sorted(read_mca_parameters(trial.image, mpi.path).items()):
        excluded = set(value.lstrip('^').split(',')) if value.startswith('^') else None
        if (
            name in set_already
            or not _DECIDING['Open MPI'].match(name)
            and not name.startswith('PMIX_MCA_')
            or excluded is not None
            and not excluded & _NEEDED_PARTS
            or name in ('OMPI_MCA_pml', 'OMPI_MCA_mtl')
        ):
            continue  # The network rules evaluate pml and mtl.
        yield make_finding(
            'unknown',
            'the parameter file %s sets %s=%s, and check has no rule for the effect of this '
            'parameter' % (path, name, value),
            [('image:%s' % path, '%s=%s' % (name, value))],
            'remove the line with this parameter from the parameter file',
        )


#: Providers that reach other nodes over any network, but slowly
_ETHERNET_PROVIDERS = {'tcp', 'sockets', 'udp', 'net'}


@rule(
    'provider of the image',
    source='fi_fabric(7), FI_PROVIDER; runs with Apptainer 1.4.5; runs of random pairs of an '
    'image and a host',
    facts=('provider',),
)
def check_image_provider(trial: Trial) -> Iterator[Finding]:
    """
    If the image sets FI_PROVIDER, the value selects a usable provider.

    The image's FI_PROVIDER overrides the module's FI_PROVIDER.
    """
    if find_network_layer(trial) != LIBFABRIC:
        return
    module_values, variable = compute_module_values(trial), find_provider_variable(trial)
    module_value = module_values.get('FI_PROVIDER')
    environment = trial.environment
    if (
        variable
        and variable.value == module_value
        or 'FI_PROVIDER' not in environment.variables
        and environment.default is None
    ):
        return
    location = (variable or environment.variables['FI_PROVIDER']).location or ''
    provider = trial.site['provider']['value']
    remedy = (
        'remove FI_PROVIDER from the image, or run `export APPTAINERENV_FI_PROVIDER=%s`, which '
        'overrides the value of the image' % (module_value or provider)
    )
    problem = (
        "cannot evaluate the image's FI_PROVIDER (%s: %s)" % (location, variable.reason)
        if variable and variable.value is None
        else 'the image %s (%s)' % (_format_change('FI_PROVIDER', variable), location)
    )
    evidence = [
        (
            location,
            'FI_PROVIDER'
            if variable is None or variable.value is None
            else 'FI_PROVIDER=' + variable.value,
        )
    ]
    chosen = find_provider(trial)
    included = None
    if (
        trial.mpi.get('family') == 'Open MPI'
        and resolve_variable(trial, 'OMPI_MCA_pml', module_values) == 'cm'
    ):
        included = resolve_variable(
            trial, 'OMPI_MCA_opal_common_ofi_provider_include', module_values
        )
    if chosen is None:
        yield make_finding(
            'unknown',
            "%s, instead of the module's FI_PROVIDER=%s, and no file shows which provider libfabric "
            "then uses" % (problem, module_value),
            evidence,
            remedy,
        )
    elif included and not set(split_provider(chosen or '')) & set(
        split_provider(included.replace(',', ';'))
    ):
        yield make_finding(
            'fails',
            '%s, but the module restricts Open MPI to the provider %s' % (problem, included),
            evidence,
            remedy,
        )
    elif chosen not in [fact['value'] for fact in resolve_network(trial.site)[1]['providers']]:
        slow = chosen in _ETHERNET_PROVIDERS
        yield make_finding(
            'works slowly' if slow else 'unknown',
            "%s, which overrides the module's %s%s"
            % (
                problem,
                module_value,
                ''
                if slow
                else ', and it is unknown whether this provider reaches other nodes of the site',
            ),
            evidence,
            remedy,
        )


def _overrides_pml(trial: Trial) -> bool:
    """Return whether the image overrides the value of OMPI_MCA_pml that the module sets."""
    value = compute_module_values(trial).get('OMPI_MCA_pml')
    image_value = get_exported_value(trial.environment, 'OMPI_MCA_pml')
    return bool(value) and image_value not in (None, value)


def downgrade_uncertain(trial: Trial, findings: List[Finding]) -> List[Finding]:
    """
    Return the findings; failures become unknown if the predicted process is uncertain.

    Only failures of rules with `needs_process` become unknown. The predicted process is also
    uncertain if the image overrides the module's OMPI_MCA_pml, because Open MPI may then run
    without the missing component.
    """
    sources = ('unknown environment', 'dry run', 'no program')
    if not any(
        finding.rule in sources and finding.level == 'unknown' for finding in findings
    ) and not _overrides_pml(trial):
        return findings
    return [
        finding._replace(level='unknown', reason='possibly %s' % finding.reason)
        if finding.level == 'fails' and RULES_BY_NAME[finding.rule].needs_process
        else finding
        for finding in findings
    ]
