"""
Rules on the machine: host paths, architecture, C library, and memory that ranks share.
"""

from typing import Iterator

from osu_container.image.elf import MACHINE_NAMES
from osu_container.image.loader import find_loaded_file
from osu_container.verdict.rules.finding import Finding, make_finding, report_problem, rule
from osu_container.verdict.rules.questions import format_library, list_hidden_names
from osu_container.verdict.trial import (
    BIND_REMEDY,
    BIND_VARIABLES,
    Change,
    Trial,
    list_missing_guesses,
)


@rule('host path missing', source='site data', facts=('host',))
def check_host_paths(trial: Trial) -> Iterator[Finding]:
    """
    Check that the host libraries of the approach exist.

    If the path of a library is a guess (untested) and does not exist, the module does not inject
    the library. The process would then load the image's library, so the verdict is unknown.
    """
    for path in list_missing_guesses(trial.approach, trial.site, trial.host):
        library = find_loaded_file(trial.process, path.rpartition('/')[2])
        if library and library.origin == 'image':
            yield make_finding(
                'unknown',
                'the host has no file %s (the path is a guess), so the process would load %s '
                'together with other libraries of the host' % (path, format_library(library)),
                [(path, 'does not exist'), (library.facts.path, 'of the image')],
                'run `osu-container discover`, which finds the current path, and add the path to '
                'OVERRIDES in your site file',
            )
    for path in filter(trial.host.is_described, trial.missing_paths):
        yield report_problem(
            'fails',
            "the host has no %s, which approach '%s' injects" % (path, trial.approach['name']),
            path,
            'does not exist',
            'the system was updated, or this machine belongs to another system: run '
            '`osu-container discover`, which finds the current paths',
        )


@rule(
    'mounted over',
    source='apptainer.org, user guide, Bind Paths and Mounts; apptainer.conf: mount home, '
    'mount tmp; runs of Apptainer 1.4.5 with an MPI below /root and /tmp',
    facts=('runtime',),
    needs_process=True,
)
def check_mounts(trial: Trial) -> Iterator[Finding]:
    """
    Check that no folder of the host hides a program or library of the image.

    The runtime mounts /tmp, /var/tmp, the home folder, the current folder, and the binds of the
    site and of the user. A mount hides all files that the image has at the same path.
    """
    files = sorted(trial.mounts.host_files)
    for name, (path, mount) in sorted(list_hidden_names(trial).items()):
        yield report_problem(
            'fails' if mount.is_certain and not files else 'unknown',
            "%s of the image is hidden: the runtime mounts the host's %s over %s"
            % (path, mount.source, mount.folder),
            path,
            'below ' + mount.folder,
            'install %s in another folder of the image, such as /opt' % name,
            *([Change(mount.remedy, unmounted=mount.remedy)] if mount.remedy else []),
        )
    if files:
        yield make_finding(
            'unknown',
            'ld.so may load %s from the host, and check does not inspect files in the folders that '
            'the runtime or the user binds' % files[0],
            [(path, 'exists on the host') for path in files],
            Change('run `unset %s`' % ' '.join(BIND_VARIABLES), unmounted=BIND_REMEDY),
            'run the program with `osu-container proof`, which reports the loaded libraries',
        )


@rule('architecture', source='ELF header, e_machine', facts=('host',))
def check_architecture(trial: Trial) -> Iterator[Finding]:
    """Check that the image and the host have the same processor architecture."""
    names = {readelf: uname for uname, readelf in MACHINE_NAMES.items()}
    host = (
        next((facts.machine for facts in trial.injected.values()), None) or trial.host.get_machine()
    )
    for library in trial.process.loaded:
        machine = library.facts.machine
        if library.origin == 'image' and machine != host:
            yield report_problem(
                'fails',
                'the image is for %s, but this host is %s'
                % (names.get(machine, machine), names.get(host, host)),
                library,
                'machine ' + machine,
                'use an image for the architecture of this host',
            )
            return


@rule(
    'processor level',
    source='glibc 2.33, sysdeps/x86/dl-prop.h: "CPU ISA level is lower than required"',
    facts=('host',),
    needs_process=True,
)
def check_processor_level(trial: Trial) -> Iterator[Finding]:
    """
    Check that the processor has the level of x86-64 that the program and the libraries require.

    If the host is known from published data only, the level of the processor is not known. The rule
    then assumes x86-64-v3, the level of all systems with AVX2.
    """
    loaded, is_described = trial.process.loaded, trial.host.is_partial
    interpreter = loaded[0].facts.interpreter if loaded else None
    level = trial.image.read_loader_config(interpreter).isa_level
    library = max(loaded, key=lambda library: library.facts.isa_level) if loaded else None
    if library and level and library.facts.isa_level > (3 if is_described else level):
        needed = 'x86-64-v%d' % library.facts.isa_level
        yield report_problem(
            'unknown' if is_described else 'fails',
            '%s requires a processor of the level %s, but %s'
            % (
                format_library(library),
                needed,
                'the x86-64 level of the processors of this site is unknown'
                if is_described
                else 'this machine has x86-64-v%d, so ld.so does not load the file' % level,
            ),
            library,
            'GNU_PROPERTY_X86_ISA_1_NEEDED: ' + needed,
            'compile the file with `-march=x86-64-v%d`, or use another image; `%s --help` on a '
            'compute node prints the levels that ld.so supports there'
            % (min(level, 3), trial.image.read_loader_config(interpreter).interpreter),
        )


@rule(
    'musl',
    source='docs.cscs.ch, known issues of the container hooks: images of Alpine Linux',
    needs_process=True,
)
def check_musl(trial: Trial) -> Iterator[Finding]:
    """Check that the image has glibc, which the host's libraries need."""
    if trial.process.uses_musl and trial.approach['inject']:
        yield report_problem(
            'fails',
            "the image's C library is musl, but the host's libraries need glibc",
            trial.image.path,
            'ld-musl',
            Change('', ['pure', 'opensource']),
            'use a base image with glibc',
        )


@rule('overlay', source='apptainer.org, user guide, Persistent Overlays: overlay embedded in SIF')
def check_overlay(trial: Trial) -> Iterator[Finding]:
    """
    Check that the SIF has no overlay partition.

    An overlay may add, hide or change any file, and `check` does not read overlays.
    """
    if trial.image.is_overlaid:
        yield report_problem(
            'unknown',
            'cannot tell which files the container has, because check does not read the overlay '
            'in the SIF',
            trial.image.path,
            'an overlay partition',
            'remove the overlay from a copy of the image: `apptainer sif list IMAGE` prints the '
            'number of the overlay, and `apptainer sif del NUMBER IMAGE` removes the overlay; or '
            'build an image that contains the files of the overlay',
        )
