"""Find out to which site this machine belongs, for commands that run without EasyBuild."""

import argparse
import glob
import os
import re
import socket
from typing import Any, Dict, List, Optional, Tuple, Union

from osu_container.base.places import STATE
from osu_container.check.public_hosts import find_host_description
from osu_container.discover.host import find_root_problem
from osu_container.discover.host_facts import DescribedHost, read_description
from osu_container.verdict.facts import FactsError, find_runtime
from osu_container.verdict.site_choice import (
    SettingsError,
    SiteFile,
    is_site_file,
    resolve_local_site,
)
from osu_container.verdict.trial import HostFileSystem

#: A host whose files can be read, or a host with a description
Host = Union[HostFileSystem, DescribedHost]
LOCAL_FILE_NAME = '_mpicontainer_local.py'
#: The local file that the set-up of a workstation writes
WORKSTATION_FILE = str(STATE / 'local' / LOCAL_FILE_NAME)


def add_site_arguments(parser: argparse.ArgumentParser, description: str) -> None:
    """
    Add the options --site, --sysroot and --facts to the parser.

    description: the beginning of the help text of --site.
    """
    parser.add_argument(
        '--site',
        metavar='SITE',
        help=description + ": the name of a site, or the path of a site file that `osu-container "
        "discover -o FILE.py` wrote (the path must contain a slash or end in "
        ".py); default: the site of this machine, which is recognised by the "
        "machine's file _mpicontainer_local.py or by the host name",
    )
    root = parser.add_mutually_exclusive_group()
    root.add_argument('--sysroot', metavar='DIR', help=argparse.SUPPRESS)
    root.add_argument(
        '--facts',
        metavar='FILE',
        help="host description that `osu-container discover --facts FILE` wrote on the system of "
        "the site; default: the files of this machine, or published data if SITE is another "
        "system",
    )


def format_site_options(options: argparse.Namespace) -> Tuple[List[str], List[str]]:
    """
    Return the user's choice of a site as options for eb and for osu-container commands.

    The result is (options for eb, options for osu-container). Both lists are empty if the user gave
    none of --site, --sysroot and --facts.
    """
    eb_options, command_options = [], []
    if options.site:
        path = os.path.abspath(options.site)
        eb_options.append(
            '--try-amend=site=' + (path if is_site_file(options.site) else options.site)
        )
        command_options += ['--site', options.site]
    if options.sysroot:
        eb_options.append('--sysroot=' + os.path.abspath(options.sysroot))
        command_options += ['--sysroot', options.sysroot]
    return eb_options, command_options + (['--facts', options.facts] if options.facts else [])


def find_local_file() -> Optional[str]:
    """
    Return the path of the file that describes this machine's site, None without a file.

    The file that EasyBuild would use has priority over the file of the workstation set-up.
    """
    for pattern in os.environ.get('EASYBUILD_INCLUDE_EASYBLOCKS', '').split(
        ','
    ):  # as EasyBuild's expand_glob_paths() splits it
        for path in glob.glob(os.path.expanduser(pattern)):
            if os.path.basename(path) == LOCAL_FILE_NAME and os.path.isfile(path):
                return path
    return WORKSTATION_FILE if os.path.isfile(WORKSTATION_FILE) else None


def find_site(
    name: Optional[str] = None, sysroot: Optional[str] = None
) -> Tuple[Dict[str, Any], str]:
    """
    Return the site entry, and the folder that replaces the host's root folder.

    name: name of a site, path of a site file, or None for the site of this machine.

    The folder is '' if the real root folder is read. Raises SettingsError if no site is known under
    this name or for this machine, or if a file contains no site.
    """
    problem = find_root_problem(sysroot) if sysroot else None
    if problem:
        raise SettingsError(problem)
    is_file = is_site_file(name)
    path = name if is_file else find_local_file()
    local = SiteFile(path, names_site=is_file) if path else None
    try:
        site, root = resolve_local_site(
            None if is_file else name, local, socket.gethostname(), os.environ
        )
    except SettingsError as err:  # The remedy in the message is for eb.
        raise SettingsError(str(err).replace('--try-amend=site=', '--site '))
    return site, root if sysroot is None else sysroot.rstrip('/')


def resolve_host(options: argparse.Namespace, site: Dict[str, Any], root: str) -> Host:
    """
    Return the host of a site: the files on this machine, else a description.

    The result is a HostFileSystem below `root`, or a DescribedHost. Raises HostDescriptionError if
    a description cannot be read.
    """
    if options.facts:
        return DescribedHost(read_description(options.facts))
    if root or options.sysroot or _is_this_machine(options, site):
        return HostFileSystem(os.path.abspath(root) if root else '')
    return DescribedHost(find_host_description(site))


def _is_this_machine(options: argparse.Namespace, site: Dict[str, Any]) -> bool:
    """
    Return whether this machine belongs to the site.

    The result is True in three cases:

    * The user chose no site.
    * The rules for recognising a site select the site for this machine.
    * The site's MPI and libfabric exist on this machine, and the host name matches the site. A site
      without patterns for host names matches every host name.
    """
    if not options.site:
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


def format_host_evidence(host: Host) -> str:
    """Return the source and the dates of a described host as text, '' for a real host."""
    if not isinstance(host, DescribedHost):
        return ''
    node, (first, last) = host.data.get('node'), host.find_date_range()
    if first is None:
        return (
            'unknown, because no data on this host are published. Run `osu-container discover '
            '--facts FILE` on the system, and repeat the check with `--facts FILE`'
        )
    return 'not inspected; %s (%s)' % (
        'described by osu-container discover on %s' % node if node else 'assumed from public data',
        first if first == last else '%s to %s' % (first, last),
    )


def find_site_runtime(site: Dict[str, Any], host: Host) -> Optional[Dict[str, Any]]:
    """
    Return the container runtime that a module for the site would use on this machine.

    The result is None if PATH has no such runtime, or if the host is a DescribedHost, because the
    runtime of a described host is unknown.
    """
    try:
        return None if host.is_partial else find_runtime(site['runtime']['value'])
    except FactsError:
        return None
