"""The machine: host paths, architecture, C library."""
from osu_container.core.deciding.rules.finding import finding, rule
from osu_container.core.deciding.trial import MACHINES


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
    names = dict((readelf, uname) for uname, readelf in MACHINES.items())
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
    found = [one for one in trial.process.loaded if one.origin == 'image' and 'musl' in (one.facts.soname or one.path)]
    if found and trial.approach['inject']:
        yield finding('fails', "the image's C library is musl, the host's libraries need glibc",
                      [(found[0].facts.path, 'musl')], 'take pure or opensource, or a base image with glibc')
