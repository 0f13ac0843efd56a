"""
A site in a file of one's own: what `osu-container discover -o FILE` writes, and what a local file may hold.

Python 3.6, standard library only; imports no EasyBuild.
"""
import os

from osu_container.core.deciding.settings import SettingsError, known

#: What such a file may define, with the value where it does not
NAMES = {'SITE': None, 'SITES': {}, 'ROOT': '', 'OVERRIDES': {}}


class SiteFile(object):
    """SITE (str), SITES (dict), ROOT (str) and OVERRIDES (dict) of a file; more: everything else that it defines."""

    def __init__(self, path, names_site=True):
        """
        path: str, a file in Python; names_site: bool, it must name a site and not only override facts.

        Raises SettingsError if it cannot be read or defines no site.
        """
        self.path = os.path.abspath(path)
        try:
            with open(self.path) as handle:
                text = handle.read()
            self.more = {}
            exec(compile(text, self.path, 'exec'), self.more)  # a file of the user, as a local file is
        except (IOError, OSError, ValueError) as err:
            raise SettingsError("the site file %s cannot be read: %s. `osu-container discover -o FILE` writes one"
                                % (self.path, getattr(err, 'strerror', None) or err))
        except (Exception, SystemExit) as err:  # whatever the user's Python raises, SyntaxError among it
            raise SettingsError("the site file %s is not valid Python: %s: %s. Correct it, or write it anew by "
                                "osu-container discover -o FILE --force" % (self.path, type(err).__name__, err))
        for name, default in NAMES.items():
            setattr(self, name, self.more.get(name, default))
        if not isinstance(self.SITES, dict) or names_site and not self.SITE and len(self.SITES) != 1:
            raise SettingsError("the site file %s names no site: it needs SITE = 'NAME' and SITES = {'NAME': {...}}, "
                                "found %s" % (self.path, known(set(self.more) & set(NAMES)) or 'neither'))
        if names_site:
            self.SITE = self.SITE or list(self.SITES)[0]


def is_site_file(wanted):
    """Return whether the easyconfig parameter site (str or None) is a file, not the name of a site."""
    return bool(wanted) and wanted.endswith('.py')
