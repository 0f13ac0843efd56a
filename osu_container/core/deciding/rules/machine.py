"""The machine: host paths, architecture, C library."""
from osu_container.core.deciding.rules.finding import finding, rule
from osu_container.core.reading.elf import MACHINE_NAMES


@rule('host path missing', source='site data')
def host_paths(trial):
    """A host library of the approach is not there."""
    for path in trial.gone:
        yield finding('fails', "the host has no %s, which approach '%s' takes from it" % (path, trial.approach['name']),
                      [(path, 'does not exist')], "the system was updated, or the site is another one: "
                      "`osu-container discover` finds today's paths")


@rule('architecture', source='ELF header, e_machine')
def architecture(trial):
    """Image and host are for different processors."""
    names = dict((readelf, uname) for uname, readelf in MACHINE_NAMES.items())
    machines = [(one, one.facts.machine) for one in trial.process.loaded]
    host = next((facts.machine for facts in trial.injected.values()), None) or trial.host.machine()
    for one, machine in machines:
        if one.origin == 'image' and machine != host:
            yield finding('fails', "the image is for %s, this host is %s" % (names.get(machine, machine),
                                                                             names.get(host, host)),
                          [(one.facts.path, 'machine ' + machine)], 'take an image for this architecture')
            return


@rule('musl', source='docs.cscs.ch, known issues of the hooks: Alpine')
def musl(trial):
    """The host's libraries need glibc, a musl image has none."""
    if trial.process.musl and trial.approach['inject']:
        interpreter = trial.process.loaded[0].facts.interpreter if trial.process.loaded else None
        yield finding('fails', "the image's C library is musl, the host's libraries need glibc",
                      [('image:' + (interpreter or trial.image.system(None).interpreter), 'musl')],
                      'take pure or opensource, or a base image with glibc')


@rule('overlay', source='apptainer.org, user guide, Persistent Overlays: overlay embedded in SIF')
def overlay(trial):
    """An overlay in the SIF may add, hide and change any file, and what it changes cannot be read or is not mounted."""
    for why in trial.image.unread:
        yield finding('unknown', "the SIF has an overlay in it, and what runs is not known: %s" % why,
                      [(trial.image.path, 'an overlay partition')],
                      '`apptainer sif list IMAGE` shows its number, `apptainer sif del NUMBER IMAGE` takes it out of '
                      'a copy; or build an image with its content')
