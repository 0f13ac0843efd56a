"""Which site this machine is, for commands that run without EasyBuild."""

import glob
import os
import re
import socket

from osu_container.base.places import STATE
from osu_container.check.public_hosts import find_host_description
from osu_container.discover.host_facts import DescribedHost, read_description
from osu_container.verdict.facts import FactsError, find_runtime
from osu_container.verdict.site_choice import SettingsError, SiteFile, resolve_local_site
from osu_container.verdict.trial import HostFileSystem

LOCAL_FILE_NAME = '_mpicontainer_local.py'
#: Where the set-up of a workstation writes its local file
WORKSTATION_FILE = str(STATE / 'local' / LOCAL_FILE_NAME)


def add_site_arguments(parser, what):
    """
    Add the arguments that choose the site and its root to parser; what: what --site is for
    (str).
    """
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        '--site',
        metavar='NAME',
        help=what + "; default: this machine, by its local file or host name",
    )
    where.add_argument(
        '--site-file', metavar='FILE', help="file with a site that `osu-container discover` wrote"
    )
    root = parser.add_mutually_exclusive_group()
    root.add_argument('--sysroot', metavar='DIR', help="folder that stands in for the host's /")
    root.add_argument(
        '--facts',
        metavar='FILE',
        help="the host's libraries are those that `osu-container discover "
        "--facts FILE` saw; default away from the site: what public sources say of it",
    )


def format_site_options(options):
    """
    Return what the options of add_site_arguments() say of the site, as words for two other
    commands.

    A pair of lists of str: for eb, and for the commands of osu-container; both empty where nothing
    was said.
    """
    for_eb, for_us = [], []
    if options.site or options.site_file:
        for_eb.append('--try-amend=site=' + (options.site or os.path.abspath(options.site_file)))
        for_us += ['--site', options.site] if options.site else ['--site-file', options.site_file]
    if options.sysroot:
        for_eb.append('--sysroot=' + os.path.abspath(options.sysroot))
        for_us += ['--sysroot', options.sysroot]
    return for_eb, for_us + (['--facts', options.facts] if options.facts else [])


def find_local_file():
    """
    Return the path (str) of the local file that EasyBuild would use, else the workstation's,
    None without one.
    """
    for pattern in os.environ.get('EASYBUILD_INCLUDE_EASYBLOCKS', '').split(
        ','
    ):  # as its expand_glob_paths() reads it
        for path in glob.glob(os.path.expanduser(pattern)):
            if os.path.basename(path) == LOCAL_FILE_NAME and os.path.isfile(path):
                return path
    return WORKSTATION_FILE if os.path.isfile(WORKSTATION_FILE) else None


def find_site(name=None, sysroot=None, site_file=None):
    """
    Return (site entry (dict), folder that stands in for the host's / (str, '' on the real system)).

    :param name: str or None, the site wanted; sysroot: str or None, that folder; site_file: str or
        None, a local file
    Raises SettingsError if the site is unknown, this machine is none of the known ones, or a file
    is no site.
    """
    if sysroot and not os.access(sysroot, os.R_OK | os.X_OK):  # all in it would seem to be missing
        raise SettingsError(
            "--sysroot: there is no folder %s that you may read. Name the one that stands for the "
            "host's /" % sysroot
        )
    path = site_file or find_local_file()
    local = SiteFile(path, names_site=bool(site_file)) if path else None
    try:
        site, root = resolve_local_site(name, local, socket.gethostname(), os.environ)
    except SettingsError as err:  # its advice is for eb
        raise SettingsError(
            str(err)
            .replace('--try-amend=site=FILE', '--site-file FILE')
            .replace('--try-amend=site=', '--site ')
        )
    return site, root if sysroot is None else sysroot.rstrip('/')


def resolve_host(options, site, root):
    """
    Return the Host of a site (dict): files below root (str) where they are the site's, else a
    DescribedHost.

    :param options: of add_site_arguments()
    Raises HostFactsError where a description cannot be read.
    """
    if options.facts:
        return DescribedHost(read_description(options.facts))
    if root or options.sysroot or _is_this_machine(options, site):
        return HostFileSystem(os.path.abspath(root) if root else '')
    return DescribedHost(find_host_description(site))


def _is_this_machine(options, site):
    """
    Return whether this machine is the site (dict): by default; by its name; or as it has its MPI
    and libfabric.
    """
    if not (options.site or options.site_file):
        return True
    try:
        if find_site()[0]['name'] == site['name']:
            return True
    except SettingsError:
        pass
    names = site['recognised_by']['value'].get('hostnames', [])
    paths = [
        site['libraries'][name]['value']
        for name in ('libmpi', 'libfabric')
        if site['libraries'].get(name)
    ]
    return all(map(os.path.exists, paths)) and (
        not names or any(re.search(name, socket.gethostname()) for name in names)
    )


def format_host_evidence(host):
    """
    Return a line (str) on a host (as Host) that is described: by whom, how surely, when; '' for
    one that is read.
    """
    if not host.is_partial:
        return ''
    node, (first, last) = host.data.get('node'), host.find_date_range()
    if first is None:
        return (
            'described, not looked into, and nothing is known of it; `osu-container discover --facts FILE` on the '
            'system writes what --facts takes'
        )
    return 'described, not looked into: %s; %s; %s' % (
        'as osu-container discover saw %s' % node if node else 'by public sources',
        ', '.join(host.list_evidence()),
        first if first == last else '%s to %s' % (first, last),
    )


def find_site_runtime(site, host):
    """
    Return the container runtime (dict, see find_runtime()) that a module for site (dict) would take
    on this machine.

    None where none is on PATH, and for a host (as Host) that is described: nothing is known of its
    runtime.
    """
    try:
        return None if host.is_partial else find_runtime(site['runtime']['value'])
    except FactsError:
        return None
