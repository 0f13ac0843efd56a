"""Rules on the environment in the container: the image's variables, and unknown values."""

import os
import posixpath
import re
from typing import Callable, Dict, Iterator, List, Optional, Tuple

from osu_container.image.environment import (
    Variable,
    get_exported_value,
    resolve_process_variable,
)
from osu_container.image.loader import find_loaded_file, list_version_problems
from osu_container.verdict.layers import (
    LIBFABRIC,
    UCX,
    find_network_layer,
    find_provider,
    find_provider_variable,
    read_mca_parameters,
    resolve_variable,
    split_provider,
    uses_libfabric,
)
from osu_container.verdict.rules.finding import (
    RULES_BY_NAME,
    START_REMEDY,
    Finding,
    make_finding,
    report_problem,
    rule,
)
from osu_container.verdict.rules.questions import (
    list_hidden_names,
    remove_words,
    set_variable,
)
from osu_container.verdict.site_choice import parse_release, resolve_network
from osu_container.verdict.trial import Change, Trial

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
#: Assignments without effect on MPI_Init: messages, compilers, the default network, and Hydra, which
#: no module uses.
#: Sources: Intel MPI Developer Reference (Compilation, Hydra); runs of one rank of MPICH 4.0.2 over
#: UCX, 2026-11-28
_HARMLESS = re.compile(
    r'MPIR_CVAR_(DEBUG_SUMMARY|ENABLE_GPU|ERROR_CHECKING)=[01]$|'
    r'I_MPI_((ROOT|DEBUG|HYDRA_\w+|CC|CXX|FC|F77|F90)=|FABRICS=(shm:)?ofi$)|'
    r'UCX_(LOG_LEVEL|WARN_UNUSED_ENV_VARS|MEMTYPE_CACHE|MODULE_DIR)='
)


def _format_change(name: str, variable: Optional[Variable]) -> str:
    """Return the text 'sets NAME=VALUE', or 'unsets NAME' for a variable without a value."""
    return (
        'sets %s=%s' % (name, variable.value) if variable and variable.value else 'unsets %s' % name
    )


@rule('start of the container', source='action script of Apptainer 1.4.5', superseded='of MPI')
def check_container_start(trial: Trial) -> Iterator[Finding]:
    """Check that the image's environment scripts let the program start."""
    exit_point = trial.environment.exit_point
    if exit_point:
        is_certain, location, why = exit_point
        is_certain = is_certain and not any(
            re.match(r'\w+_WRITABLE_TMPFS=|MPI_CONTAINER_OPTIONS=.*--writable', '%s=%s' % pair)
            for pair in os.environ.items()
        )
        yield report_problem(
            'fails' if is_certain else 'unknown',
            'because of a script of the image, the start of the program is %s: %s, %s'
            % ('impossible' if is_certain else 'uncertain', location, why),
            location,
            why,
            remove_words(
                trial,
                'remove the reported line from the environment scripts of the image',
                location,
            ),
        )


@rule('unknown environment', source='image/environment.py', superseded='of MPI')
def check_unknown_environment(trial: Trial) -> Iterator[Finding]:
    """
    Check that LD_LIBRARY_PATH and LD_PRELOAD are known, and the image sets no LD_AUDIT.

    A dry run reads the variables that the environment scripts of the image set. The libraries in
    LD_AUDIT may replace all other libraries of a program.
    """
    for name in ('LD_LIBRARY_PATH', 'LD_PRELOAD', 'LD_AUDIT'):
        variable = resolve_process_variable(trial.environment, name)
        if variable and (variable.value is None or variable.value and name == 'LD_AUDIT'):
            location, cause = variable.location or '', variable.reason or variable.value or ''
            yield report_problem(
                'unknown',
                'cannot tell which libraries ld.so loads: the image sets %s (%s: %s)'
                % (name, location, cause),
                location,
                cause,
                START_REMEDY,
            )


@rule('privileges', source='ld.so(8), secure-execution mode', superseded='of MPI')
def check_privileges(trial: Trial) -> Iterator[Finding]:
    """
    Check that the program has no setuid bit and no setgid bit.

    For a setuid program, ld.so ignores LD_LIBRARY_PATH (AT_SECURE) if the kernel grants the
    privileges. The runtime denies the privileges (no_new_privs) to all users except root.
    """
    privileges = trial.program and trial.image.find_privileges(trial.program)
    if privileges:
        yield report_problem(
            'unknown',
            'the file mode of %s contains %s: if the runtime grants these privileges, ld.so '
            'ignores LD_LIBRARY_PATH and LD_PRELOAD' % (trial.program, privileges),
            'image:%s' % trial.program,
            privileges,
            'remove the privileges from the file with `chmod ug-s FILE`',
        )


def _is_netmod_usable(trial: Trial, value: str) -> bool:
    """Return whether MPIR_CVAR_CH4_NETMOD names a netmod of libmpi, or has no effect."""
    netmods = [
        name.partition(':')[2]
        for name in (trial.mpi.get('device') or [])
        if name.startswith('ch4:')
    ]
    # A libmpi with one netmod ignores the variable. The rules "netmod" and "UCX" evaluate the
    # variable for other libmpi.
    return bool(netmods) and (len(netmods) < 2 or value in netmods)


def _are_plugins_usable(trial: Trial, value: str) -> bool:
    """
    Return whether libfabric can use the plug-ins that FI_PROVIDER_PATH adds.

    The rule "no provider" checks that the requested provider exists. If a plug-in and libfabric
    itself have the same provider, libfabric uses the newer provider, and a libfabric of another
    build may not support the plug-in. The provider rxm is checked as well, because the provider tcp
    may use rxm.
    """
    files, release = trial.fabric.get('files', {}), parse_release(trial.fabric.get('release'))
    names = (
        set(split_provider(find_provider(trial) or '') + ['rxm'])
        & set(files)
        & set(trial.fabric.get('inside', []))
    )
    is_image_build = trial.libfabric is not None and trial.libfabric.origin == 'image'
    return all(
        files[name] and (files[name] < release or is_image_build and files[name] == release)
        for name in names
    )


def _is_prefix_usable(trial: Trial, value: str) -> bool:
    """Return whether OPAL_PREFIX is the folder of the Open MPI that the program loads."""
    folder = value.rstrip('/') + '/lib'
    folders = folder, trial.image.resolve(folder) or folder
    return trial.libmpi is not None and posixpath.normpath(trial.libmpi.path).startswith(folders)


def _is_ucx_unused(trial: Trial, value: str) -> bool:
    """Return whether MPI sends over libfabric by a provider that uses no UCX."""
    is_open_mpi = trial.mpi_family == 'Open MPI'
    uses_libfabric_only = find_network_layer(trial) == LIBFABRIC and not is_open_mpi
    return uses_libfabric_only and find_provider(trial) not in (None, 'mlx')


#: Variable -> function that returns whether the image's value is harmless. Measured with random
#: pairs over tcp: MPICH 3.4.3 to 5.0.2, Intel MPI 2021.2 to 2021.18, Open MPI 4.1.8 and 5.0.11.
_VARIABLE_CHECKS: Dict[str, Callable[[Trial, str], bool]] = {
    'MPIR_CVAR_CH4_NETMOD': _is_netmod_usable,
    'FI_PROVIDER_PATH': _are_plugins_usable,
    'OPAL_PREFIX': _is_prefix_usable,
    'UCX_TLS': _is_ucx_unused,
}


@rule(
    "image's variables",
    source='action script of Apptainer 1.4.5: variables of the image override variables of '
    'the host; test runs with random pairs of an image and a host',
    facts=('provider',),
)
def check_image_variables(trial: Trial) -> Iterator[Finding]:
    """
    Check that the image sets no variable that chooses the network or that may end MPI_Init.

    A variable of the image overrides the module's variable of the same name.
    """
    family = trial.mpi_family or ''
    patterns = [_DECIDING.get(family)] + ([_DECIDING['libfabric']] if uses_libfabric(trial) else [])
    if family == 'Open MPI' or find_loaded_file(trial.process, 'libucp.so.0'):
        patterns.append(_DECIDING[UCX])
    names = set(
        name
        for name in trial.environment.variables
        if name in trial.module_values
        or any(pattern and pattern.match(name) for pattern in patterns)
    )
    if trial.environment.default is not None:
        names |= set(
            name
            for name in trial.module_values
            if uses_libfabric(trial) or not name.startswith('FI_')
        )
    # (problem, location) -> names of the variables
    problems: Dict[Tuple[str, str], List[str]] = {}
    for name in sorted(
        names
        - {'FI_PROVIDER'}
        - {entry['name'] for entry in (trial.approach['unset'] + trial.approach.get('exports', []))}
    ):
        expected = trial.module_values.get(name)
        variable = resolve_process_variable(trial.environment, name, expected)
        value = variable and variable.value
        if value == expected and (value is not None or variable is None):
            continue
        if value and (
            (expected is None and _HARMLESS.match('%s=%s' % (name, value)))
            or name in _VARIABLE_CHECKS
            and _VARIABLE_CHECKS[name](trial, value)
        ):
            continue
        location = (variable or trial.environment.variables[name]).location or ''
        problem = variable and variable.reason or _format_change(name, variable)
        problems.setdefault((problem, location), []).append(name)
    for (problem, location), changed_names in sorted(problems.items()):
        yield make_finding(
            'unknown',
            'the image changes %s (%s: %s), and check has no rule for the effect of this change'
            % (' and '.join(changed_names), location, problem),
            [(location, name) for name in changed_names],
            Change('remove %s from the image' % ' and '.join(changed_names), removed=changed_names),
            'export APPTAINERENV_%s with another value, which overrides the value of the image'
            % changed_names[0],
        )


#: Components without which Open MPI cannot run. A parameter file may exclude all other components,
#: as Debian's does (openmpi-common, /etc). It may exclude ofi too: no approach uses the btl ofi, and
#: the network rules cover the mtl ofi.
_NEEDED_PARTS = {'self', 'sm', 'vader', 'tcp', 'cm', 'ob1', 'basic', 'hash', 'native', 'none'}


@rule(
    'parameter files',
    source='docs.open-mpi.org, v5.0.x, Setting MCA parameter values; pmix-mca-params.conf of PMIx',
)
def check_parameter_files(trial: Trial) -> Iterator[Finding]:
    """Check that no parameter file of Open MPI or PMIx in the image chooses the network."""
    if trial.image.is_partial or trial.mpi_family != 'Open MPI' or trial.image_mpi is None:
        return
    set_already = set(trial.module_values) | set(trial.environment.variables)
    for name, (value, path) in sorted(
        read_mca_parameters(trial.image, trial.image_mpi.path).items()
    ):
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
        yield report_problem(
            'unknown',
            'the parameter file %s sets %s=%s, and check has no rule for the effect of this '
            'parameter' % (path, name, value),
            'image:%s' % path,
            '%s=%s' % (name, value),
            Change(
                'remove the line with this parameter from the parameter file',
                texts={
                    path: re.sub(
                        r'(?m)^[ \t]*%s[ \t]*=.*' % name.partition('_MCA_')[2],
                        '',
                        trial.image.read_text(path) or '',
                    )
                },
            ),
        )


#: Providers that reach other nodes over any network, but slowly
_ETHERNET_PROVIDERS = {'tcp', 'sockets', 'udp', 'net'}


@rule(
    'provider of the image',
    source='fi_fabric(7), FI_PROVIDER; runs with Apptainer 1.4.5; test runs with random '
    'pairs of image and host',
    facts=('provider',),
)
def check_image_provider(trial: Trial) -> Iterator[Finding]:
    """
    Check that an FI_PROVIDER that the image sets selects a usable provider.

    The image's FI_PROVIDER overrides the module's FI_PROVIDER.
    """
    if find_network_layer(trial) != LIBFABRIC:
        return
    variable = find_provider_variable(trial)
    module_value = trial.module_values.get('FI_PROVIDER')
    if (
        variable
        and variable.value == module_value
        or 'FI_PROVIDER' not in trial.environment.variables
        and trial.environment.default is None
    ):
        return
    location = (variable or trial.environment.variables['FI_PROVIDER']).location or ''
    provider = trial.site['provider']['value']
    remedies = (
        Change('remove FI_PROVIDER from the image', removed=['FI_PROVIDER']),
        set_variable(
            'run `export APPTAINERENV_FI_PROVIDER=%s`, which overrides the value of the image'
            % (module_value or provider),
            'FI_PROVIDER=%s' % (module_value or provider),
        ),
    )
    change = variable and variable.reason or _format_change('FI_PROVIDER', variable)
    problem = 'the image changes FI_PROVIDER (%s: %s)' % (location, change)
    evidence = [(location, change)]
    chosen = find_provider(trial)
    included = None
    if trial.mpi_family == 'Open MPI' and resolve_variable(trial, 'OMPI_MCA_pml') == 'cm':
        included = resolve_variable(trial, 'OMPI_MCA_opal_common_ofi_provider_include')
    if chosen is None:
        yield make_finding(
            'unknown',
            "%s and overrides the module's FI_PROVIDER=%s, and no file shows which provider "
            "libfabric then uses" % (problem, module_value),
            evidence,
            *remedies,
        )
    elif included and not set(split_provider(chosen)) & set(
        split_provider(included.replace(',', ';'))
    ):
        yield make_finding(
            'fails',
            '%s, but the module restricts Open MPI to the provider %s' % (problem, included),
            evidence,
            *remedies,
        )
    elif chosen not in [fact['value'] for fact in resolve_network(trial.site)[1]['providers']]:
        slow = chosen.partition(';')[0] in _ETHERNET_PROVIDERS
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
            *remedies,
        )


def downgrade_uncertain(trial: Trial, findings: List[Finding]) -> List[Finding]:
    """
    Return the findings, with 'unknown' in place of 'fails' if the prediction is uncertain.

    Only findings of rules with `needs_process` change. The prediction is also uncertain if the
    image overrides the module's OMPI_MCA_pml, because Open MPI may then run without the missing
    component. A finding stays 'fails' if no program can avoid the failure. There are three such
    cases: the runtime hides the image's only MPI; the image lacks a library that this MPI needs;
    the libraries of image and host are incompatible, so that every program either fails or uses no
    library of the host. If only the privileges of a setuid program make the prediction
    uncertain, a missing library stays a failure, because ld.so then searches even fewer folders.
    """
    module_pml = trial.module_values.get('OMPI_MCA_pml')
    image_pml = get_exported_value(trial.environment, 'OMPI_MCA_pml') or module_pml
    causes = {finding.rule for finding in findings if finding.level == 'unknown'} & {
        'unknown environment',
        'privileges',
        'dry run',
        'no program',
    }
    causes |= {'parameter'} if module_pml and image_pml != module_pml else set()
    certain = set()
    absent = set()
    mpis = trial.image.find_files(r'.*/libmpi(ch|_abi)?(-[0-9a-f]{8})?\.so[^/]*')
    # Intel MPI has further builds of the same library in release/ and debug/.
    if len({re.sub(r'(/(release|debug)(_mt)?)?/[^/]+$', '', path) for path in mpis}) == 1:
        # Open MPI skips a plug-in that does not load, and the program may ask for another one.
        is_linked = trial.family != 'Open MPI'
        certain |= {'symbol version'} if is_linked and _has_misfit_of_host(trial) else set()
        if causes == {'no program'}:
            is_hidden = trial.soname in map(posixpath.basename, list_hidden_names(trial))
            certain |= {'mounted over'} if is_hidden else set()
            absent = {
                'needs ' + name
                for name, _ in trial.process.missing
                if is_linked and not trial.image.find_files('.*/' + re.escape(name))
            }
    if causes == {'privileges'}:
        certain |= {'mounted over', 'missing library'}
    return [
        finding._replace(level='unknown', reason='possibly %s' % finding.reason)
        if causes
        and finding.level == 'fails'
        and RULES_BY_NAME[finding.rule].needs_process
        and finding.rule not in certain
        and not absent.intersection(text for _, text in finding.evidence)
        else finding
        for finding in findings
    ]


def _has_misfit_of_host(trial: Trial) -> bool:
    """
    Return whether the libraries of image and host are incompatible for every program.

    There are two cases. An injected library needs a symbol version, and the image's only library
    with the needed soname lacks this version. Or a library needs a symbol version that the injected
    libmpi or libfabric lacks.
    """
    for library, soname, _, provider in list_version_problems(trial.process):
        files = trial.image.find_files('.*/' + re.escape(soname))
        is_only = len(set(map(trial.image.resolve, files))) == 1
        if library.origin == 'host' and provider.origin == 'image' and is_only:
            return True
        if provider.origin == 'host' and soname in ('libfabric.so.1', trial.soname):
            return True
    return False
