"""Which site this machine is, for commands that run without EasyBuild."""
import importlib.util
import os
import socket
import sys

PROJECT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, os.path.join(PROJECT, 'easyblocks'))

from generic._mpicontainer_settings import SettingsError, choose_site, overridden  # noqa: E402, the path comes first
from generic._mpicontainer_sites import SITES  # noqa: E402

LOCAL = '_mpicontainer_local.py'
#: Where the set-up of a workstation writes its local file
WORKSTATION = os.path.join(PROJECT, '.workstation', 'local', LOCAL)


def local_file():
    """Return the path (str) of the local file that EasyBuild would use, else the workstation's, None without one."""
    for entry in os.environ.get('EASYBUILD_INCLUDE_EASYBLOCKS', '').split(','):
        if os.path.basename(entry) == LOCAL and os.path.isfile(entry):
            return entry
    return WORKSTATION if os.path.isfile(WORKSTATION) else None


def read_local(path):
    """Return the module that the file path (str) is. Raises SettingsError if it cannot be read as one."""
    try:
        spec = importlib.util.spec_from_file_location('mpicontainer_local', path)
        module = importlib.util.module_from_spec(spec)
        before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
        try:
            spec.loader.exec_module(module)
        finally:
            sys.dont_write_bytecode = before
        return module
    except (OSError, SyntaxError, NameError, AttributeError) as err:
        raise SettingsError("%s is no file with a site: %s. `osu-container discover -o FILE` writes one" % (path, err))


def this_site(name=None, sysroot=None, site_file=None):
    """
    Return (site entry (dict), folder that stands in for the host's / (str, '' on the real system)).

    :param name: str or None, the site wanted; sysroot: str or None, that folder; site_file: str or None, a local file
    Raises SettingsError if the site is unknown or this machine is none of the known ones.
    """
    path = site_file or local_file()
    local = read_local(path) if path else None
    sites = dict(SITES, **getattr(local, 'SITES', {}))
    own = getattr(local, 'SITE', None)
    site = choose_site(name, own, socket.gethostname(), os.environ, sites)
    root = sysroot
    if root is None:  # the stand-in of the local file belongs to its site only
        root = getattr(local, 'ROOT', '') if site['name'] == own else ''
    if own is None or site['name'] == own:
        site = overridden(site, getattr(local, 'OVERRIDES', {}))
    return site, root.rstrip('/')
