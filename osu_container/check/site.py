"""Find which site this machine is, for commands that run without EasyBuild."""

import argparse
import glob
import os
import re
import socket
from typing import Any, Dict, List, Optional, Tuple, Union

from osu_container.base.places import STATE
from osu_container.check.public_hosts import find_host_description
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
    """Add the arguments that choose the site and its root; description: help text of --site."""
    parser.add_argument(
        '--site',
        metavar='SITE',
        help=description + ": the name of a site, or a site file that `osu-container discover -o "
        "FILE.py` wrote (a path with a slash, or with the ending .py); default: this machine, "
        "recognised by its local file or host name",
    )
    root = parser.add_mutually_exclusive_group()
    root.add_argument('--sysroot', metavar='DIR', help=argparse.SUPPRESS)
    root.add_argument(
        '--facts',
        metavar='FILE',
        help="host description that `osu-container discover --facts FILE` wrote on the system; "
        "default for another system than this machine: published data",
    )


def format_site_options(options: argparse.Namespace) -> Tuple[List[str], List[str]]:
    """
    Return the chosen site as options for eb and for other osu-container commands.

    Both lists are empty if the user chose no site.
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
    """Return the local file that EasyBuild would use, else the workstation's, else None."""
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
    Return the site entry and the folder to read in place of the host's /.

    name: name of a site, or a site file; None for this machine. The folder is '' on the real system.
    Raises SettingsError if the site or this machine is unknown, or if a file holds no site.
    """
    if sysroot and not os.access(
        sysroot, os.R_OK | os.X_OK
    ):  # Every file below the folder would seem to be missing.
        raise SettingsError(
            "--sysroot: %s is not a folder that you may read. Give the folder to read in place of "
            "the host's /" % sysroot
        )
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
    Return the site's files below root if they exist on this machine, else a DescribedHost.

    Raises HostDescriptionError if a description cannot be read.
    """
    if options.facts:
        return DescribedHost(read_description(options.facts))
    if root or options.sysroot or _is_this_machine(options, site):
        return HostFileSystem(os.path.abspath(root) if root else '')
    return DescribedHost(find_host_description(site))


def _is_this_machine(options: argparse.Namespace, site: Dict[str, Any]) -> bool:
    """
    Return whether this machine belongs to the site.

    This is true if the user chose no site, if this machine is recognised as the site, or if the
    site's MPI and libfabric exist here.
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
    """Return the source, evidence and dates of a DescribedHost, '' for a host that is read."""
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

    Return None if none is on PATH, or if the host is a DescribedHost: its runtime is unknown.
    """
    try:
        return None if host.is_partial else find_runtime(site['runtime']['value'])
    except FactsError:
        return None
