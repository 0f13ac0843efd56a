"""The machine: host paths, architecture, C library, what the container runtime lets ranks do."""

from osu_container.data.approaches import NAMESPACE_VARIABLES
from osu_container.image.elf import MACHINE_NAMES
from osu_container.image.loader import find_loaded_file
from osu_container.verdict.rules.finding import find_loaded_mpi, format_library, make_finding, rule
from osu_container.verdict.settings import has_own_namespaces, shares_container
from osu_container.verdict.trial import list_missing_guesses


@rule('host path missing', source='site data')
def check_host_paths(trial):
    """
    A host library of the approach is not there: fails. Where its path is a guess (untested), it is
    left out, and unknown: the image's own would be loaded in its place.
    """
    for path in list_missing_guesses(trial.approach, trial.site, trial.host):
        own = find_loaded_file(trial.process, path.rpartition('/')[2])
        if own and own.origin == 'image':
            yield make_finding(
                'unknown',
                "the host has no %s, whose path is a guess: the process would have %s "
                "beside the host's other libraries" % (path, format_library(own)),
                [(path, 'does not exist'), (own.facts.path, 'of the image')],
                "`osu-container discover` finds today's path; write it into your own file (OVERRIDES)",
            )
    for path in [
        path for path in trial.host_libraries.missing_paths if trial.host.is_described(path)
    ]:
        yield make_finding(
            'fails',
            "the host has no %s, which approach '%s' takes from it"
            % (path, trial.approach['name']),
            [(path, 'does not exist')],
            "the system was updated, or the site is another one: "
            "`osu-container discover` finds today's paths",
        )


@rule('architecture', source='ELF header, e_machine')
def check_architecture(trial):
    """Image and host are for different processors."""
    names = dict((readelf, uname) for uname, readelf in MACHINE_NAMES.items())
    machines = [(one, one.facts.machine) for one in trial.process.loaded]
    host = (
        next((facts.machine for facts in trial.host_libraries.injected.values()), None)
        or trial.host.get_machine()
    )
    for one, machine in machines:
        if one.origin == 'image' and machine != host:
            yield make_finding(
                'fails',
                "the image is for %s, this host is %s"
                % (names.get(machine, machine), names.get(host, host)),
                [(one.facts.path, 'machine ' + machine)],
                'take an image for this architecture',
            )
            return


@rule('musl', source='docs.cscs.ch, known issues of the hooks: Alpine')
def check_musl(trial):
    """The host's libraries need glibc, a musl image has none."""
    if trial.process.uses_musl and trial.approach['inject']:
        interpreter = trial.process.loaded[0].facts.interpreter if trial.process.loaded else None
        yield make_finding(
            'fails',
            "the image's C library is musl, the host's libraries need glibc",
            [
                (
                    'image:' + (interpreter or trial.image.read_loader_config(None).interpreter),
                    'musl',
                )
            ],
            'take pure or opensource, or a base image with glibc',
        )


@rule(
    'ranks apart',
    source='user_namespaces(7), process_vm_readv(2); two ranks of one node in a user namespace each, '
    '2026-11-23: MPICH 5.0.2 ends at 16 KiB; told not to read it runs, at 9.7 instead of '
    '13.6 GB/s (4 MiB, one run of each, busy machine)',
)
def check_rank_namespaces(trial):
    """
    Without setuid each container has a user namespace, and its rank may not read the memory of
    others on the node: ranks share one container, or an MPI that would read it is told not to.
    """
    variable, runtime = (trial.mpi or {}).get('single_copy'), trial.container.runtime
    if not variable or not has_own_namespaces(runtime) or shares_container(runtime):
        return
    value = next(entry['value'] for entry in NAMESPACE_VARIABLES if entry['name'] == variable)
    mpi, name = (
        find_loaded_mpi(trial),
        '%s %s' % (runtime['name'], runtime['release'] or 'of unknown release'),
    )
    yield make_finding(
        'works slowly',
        "%s starts containers without setuid and cannot put the ranks of a node into one: "
        "each has a user namespace of its own, the MPI may not read another rank's memory, and the module "
        "tells it so (%s=%s). Messages within a node are copied once more, those between nodes are not "
        "affected" % (name, variable, value),
        [(runtime['command'], name + ', no setuid'), (mpi.facts.path, variable)],
        'Apptainer 1.3 or newer: there the ranks of a node share a container',
    )


@rule('overlay', source='apptainer.org, user guide, Persistent Overlays: overlay embedded in SIF')
def check_overlay(trial):
    """An overlay in the SIF may add, hide and change any file; it is not read."""
    if trial.image.is_overlaid:
        yield make_finding(
            'unknown',
            "the SIF has an overlay in it, so what runs is not known",
            [(trial.image.path, 'an overlay partition')],
            '`apptainer sif list IMAGE` shows its number, `apptainer sif del NUMBER IMAGE` takes it out of '
            'a copy; or build an image with its content',
        )
