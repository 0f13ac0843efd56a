"""
(approach, site, facts) -> settings: what a module sets, as a pure function. Reads no file, imports no EasyBuild.
"""
import re
from collections import namedtuple

from ._mpicontainer_approaches import APPROACHES
from ._mpicontainer_sites import SITES

#: Folder in the container in which injected host libraries appear, each under its soname. A folder of its own, so that
#: nothing else of the host's library folders comes along, and no file of the image is hidden.
INJECT_FOLDER = '/opt/host-mpi/lib'

#: Variable prefixes by container runtime. One prefix at a time: where both exist Apptainer takes APPTAINER_BIND and
#: drops SINGULARITY_BIND with a note (seen with Apptainer 1.4.5); SingularityCE reads SINGULARITY_ only.
ENV_PREFIXES = {'apptainer': 'APPTAINER', 'singularity': 'SINGULARITY'}

#: binds: list of (path on the host, path in the container, why); library_path, program_path: lists of folders in the
#: container; variables: list of dict (name, value, why, source, evidence, origin); env_prefix: str or None (native);
#: mpi, libfabric: str, release and where it comes from; programs: sorted list of str
Settings = namedtuple('Settings', 'site approach title mpi libfabric provider pmi pmi_variable env_prefix binds '
                                  'library_path program_path variables programs')


class SettingsError(Exception):
    """A combination that cannot be: the text names the thing, the value found, and the values that exist."""


def known(table):
    """Return the names of table (dict) as one readable str."""
    return ', '.join(sorted(table))


def site_entry(name, sites=SITES):
    """Return the entry (dict, with its name under 'name') of the site name. Raises SettingsError if it is unknown."""
    if name not in sites:
        raise SettingsError("unknown site '%s'; known sites: %s. Choose one with --try-amend=site=NAME"
                            % (name, known(sites)))
    return dict(sites[name], name=name)


def approach_entry(name, approaches=APPROACHES):
    """Return the entry (dict, with its name under 'name') of an approach. Raises SettingsError if it is unknown."""
    if name not in approaches:
        raise SettingsError("unknown approach '%s'; known approaches: %s" % (name, known(approaches)))
    return dict(approaches[name], name=name)


def choose_site(wanted, local_site, hostname, sites=SITES):
    """
    Return the entry (dict) of the site: wanted, else the local file's, else the one whose host name pattern matches.

    :param wanted: str or None, the easyconfig parameter site
    :param local_site: str or None, SITE of the local file (see mpicontainer.py)
    :param hostname: str, this machine's name
    Raises SettingsError if the name is unknown or nothing matches.
    """
    if wanted or local_site:
        return site_entry(wanted or local_site, sites)
    for name in sorted(sites):
        if any(re.search(pattern, hostname) for pattern in sites[name]['hostnames']['value']):
            return site_entry(name, sites)
    raise SettingsError("this machine (host name '%s') is none of the known sites: %s. Choose one with "
                        "--try-amend=site=NAME, or run `make demo` to make it a workstation" % (hostname, known(sites)))


def host_libraries(approach, site):
    """
    Return {name: path on the host} of the libraries that approach injects on site, without their dependencies.

    :param approach, site: entries (dict) from approach_entry() and choose_site() or site_entry()
    Raises SettingsError if the site lacks a library that the approach needs.
    """
    has = set(name for name, fact in site['libraries'].items() if fact)
    lacking = [name for name in approach['inject'] if name not in has]
    if lacking:
        usable = [name for name, other in APPROACHES.items() if other['container'] and has.issuperset(other['inject'])]
        raise SettingsError("approach '%s' needs the host's %s, which site '%s' does not have; approaches that need "
                            "nothing more than it has: %s"
                            % (approach['name'], ' and '.join(lacking), site['name'], known(usable)))
    return dict((name, site['libraries'][name]['value']) for name in approach['inject'])


def pmi_for(approach, site):
    """Return the --mpi= (str) that srun needs on site for the MPI that approach runs."""
    return site['pmi']['value'][approach['comes_from']['libmpi']]


def _variables(approach, site):
    """Return the variables (list of dict) of site and approach, values filled in; the approach's replace the site's."""
    found = {}
    for origin, entry in (('site', site), ('approach', approach)):
        for variable in entry['variables']:
            value = variable['value'].format(provider=site['provider']['value'])
            found[variable['name']] = dict(variable, value=value, origin='%s %s' % (origin, entry['name']))
    return [found[name] for name in sorted(found)]


def settings_for(approach, site, facts):
    """
    Return the Settings of a module.

    :param approach, site: entries (dict) from approach_entry() and choose_site() or site_entry()
    :param facts: dict with 'image' (mpi, libfabric: str; programs: {name: folder}) and 'host' (root: str;
                  mpi, libfabric: str; runtime: dict command, name; injected: list of dict soname, path, why)
                  as _mpicontainer_facts.py reads them. A native module has no 'image' and no runtime.
    Raises SettingsError as host_libraries does.
    """
    host_libraries(approach, site)
    host, image = facts['host'], facts.get('image', {})
    injected = host.get('injected', []) if approach['inject'] else []
    comes_from = approach['comes_from']
    by_owner = {'image': image, 'host': host}
    pmi = pmi_for(approach, site)
    variables = _variables(approach, site)
    programs = image.get('programs', {})

    return Settings(
        site=site['name'], approach=approach['name'], title=approach['title'],
        mpi="%s of the %s" % (by_owner[comes_from['libmpi']]['mpi'], comes_from['libmpi']),
        libfabric="libfabric %s of the %s" % (by_owner[comes_from['libfabric']]['libfabric'], comes_from['libfabric']),
        provider=dict((v['name'], v['value']) for v in variables).get('FI_PROVIDER'),
        pmi=pmi, pmi_variable=site['pmi_variables']['value'].get(pmi),
        env_prefix=ENV_PREFIXES[host['runtime']['name']] if approach['container'] else None,
        binds=[(lib['path'], INJECT_FOLDER + '/' + lib['soname'], lib['why']) for lib in injected],
        library_path=[INJECT_FOLDER] if injected else [],
        program_path=sorted(set(programs.values())),
        variables=variables, programs=sorted(programs))
