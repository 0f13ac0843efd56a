"""
What the easyblocks MPIContainer and MPINative share: the site, facts of the host, installation in
one move.
"""

import contextlib
import json
import os
import signal
import socket

from easybuild.framework.easyblock import EasyBlock
from easybuild.framework.easyconfig import CUSTOM
from easybuild.framework.easyconfig.easyconfig import ActiveMNS
from easybuild.tools.build_log import EasyBuildError
from easybuild.tools.config import build_option, install_path
from easybuild.tools.filetools import (
    adjust_permissions,
    convert_name,
    copy_file,
    read_file,
    remove_dir,
    remove_file,
    write_file,
)

from osu_container.base import shell
from osu_container.base.files import read_json
from osu_container.base.places import SCRIPTS
from osu_container.base.terminal import escape_text
from osu_container.data.sites import SITES
from osu_container.image.image import find_space_problem
from osu_container.image.sif import ImageError
from osu_container.install import call_settings
from osu_container.install.module_text import (
    SETTINGS_FOLDER,
    format_help,
    list_keywords,
    render_modulefile,
    render_settings_modules,
    wrap_help_text,
)
from osu_container.install.native import PortsError
from osu_container.install.staged import StagedInstall, format_disk_error, install_proof
from osu_container.install.wrappers import WrapperError
from osu_container.verdict import injection
from osu_container.verdict.facts import FactsError, validate_facts
from osu_container.verdict.settings import (
    check_approach,
    explain_settings,
    resolve_approach,
    select_host_mpi,
)
from osu_container.verdict.site_choice import (
    SettingsError,
    SiteFile,
    is_site_file,
    resolve_local_site,
)
from osu_container.verdict.trial import HostFileSystem, list_missing_host_paths

try:
    # Written by the set-up of a workstation: SITE (str), ROOT (str, folder that stands in for the
    # host's /); where a site is described on the spot SITES (dict like that of data/sites); and
    # OVERRIDES (dict key -> fact): facts that replace those of the site; of any site where SITE
    # names none.
    from easybuild.easyblocks.generic import _mpicontainer_local as local
except ImportError:
    local = None

FACTS_FILE = 'facts.json'
SETTINGS_FILE = 'settings.json'  # read by osu-explain


def select_site(wanted):
    """
    Return what resolve_local_site() returns, for wanted (str): a name, or a file that osu-container
    discover wrote; None: this machine. Raises SettingsError.
    """
    if is_site_file(wanted):
        return resolve_local_site(None, SiteFile(wanted), socket.gethostname(), os.environ)
    return resolve_local_site(wanted, local, socket.gethostname(), os.environ)


class SiteEasyBlock(EasyBlock):
    """An installation whose module depends on the site it is made for."""

    @staticmethod
    def extra_options(extra_vars=None):
        """Easyconfig parameters that containers and native builds share."""
        extra_vars = EasyBlock.extra_options(extra_vars)
        extra_vars.update(
            {
                'site': [
                    None,
                    "Site whose host paths the module uses: a name, or a file that osu-container discover "
                    "wrote; default: found by host name or local file",
                    CUSTOM,
                ],
                'program_prefix': [
                    '',
                    "Start of the names of programs that become commands, '' for none",
                    CUSTOM,
                ],
                'example': [None, "Command that the module help shows behind srun", CUSTOM],
                'gpu_example': [None, "The same for a site with GPUs; default: example", CUSTOM],
                'commands': [
                    ['osu-gpu-bind', 'osu-explain'],
                    "Scripts of this project that are commands beside the programs",
                    CUSTOM,
                ],
            }
        )
        return extra_vars

    def __init__(self, *args, **kwargs):
        """No facts yet, no installation begun."""
        super(SiteEasyBlock, self).__init__(*args, **kwargs)
        self.facts = None
        self.staged_install = None

    def resolve_site_approach(self, approach, approaches):
        """
        Set approach and site (dict) and host_root (str, '' on the real system); refuse what cannot
        be.

        :param approach: str, must be a key of approaches (dict), those that this easyblock can
            install
        """
        if self.module_generator.SYNTAX != 'Lua':
            raise EasyBuildError(
                "These modules are written in Lua, found module syntax %s: use "
                "--module-syntax=Lua and --modules-tool=Lmod",
                self.module_generator.SYNTAX,
            )
        self.approach = self.translate_errors(resolve_approach, approach, approaches)
        if is_site_file(self.cfg['site']):
            self.cfg['site'] = os.path.abspath(
                self.cfg['site']
            )  # messages name it, who reads them is elsewhere
        self.site, root = self.translate_errors(select_site, self.cfg['site'])
        self.translate_errors(check_approach, self.approach, self.site)
        self.host_root = (build_option('sysroot') or root).rstrip('/')

    def translate_errors(self, function, *args, **kwargs):
        """
        Call function; its errors for people become an EasyBuildError, with the easyconfig's name
        if named.
        """
        named = kwargs.pop('named', True)
        try:
            return function(*args, **kwargs)
        except (SettingsError, FactsError, ImageError, PortsError, WrapperError) as err:
            raise EasyBuildError(
                "%s%s",
                os.path.basename(self.cfg.path) + ': ' if named else '',
                escape_text(str(err)),
            )

    def require_value(self, parameter, known):
        """Refuse another value of the easyconfig parameter (str) than known (tuple of str)."""
        if self.cfg[parameter] not in known:
            raise EasyBuildError(
                "%s: unknown %s '%s'; known: %s",
                os.path.basename(self.cfg.path),
                parameter,
                self.cfg[parameter],
                ', '.join(known),
            )

    def format_eb_command(self, parameters):
        """
        Return what to type (str) to install the same once more, with the values of parameters
        (list of str).
        """
        name = self.resolve_easyconfig_name()
        if name != os.path.basename(self.cfg.path):
            parameters = ['versionsuffix'] + parameters
        options = [
            '--try-amend=%s=%s' % (parameter, self.cfg[parameter]) for parameter in parameters
        ]
        return shell.join_words(['eb', name, '-r', '--rebuild'] + options)

    def resolve_easyconfig_name(self):
        """Return the file name (str) with which eb finds this easyconfig again."""
        name, suffix = os.path.basename(self.cfg.path), self.cfg['versionsuffix'] + '.eb'
        # what --try-amend makes has the suffix in its name, and is in a folder that is gone
        # afterwards
        if self.is_tweaked() and name.endswith(suffix):
            return name[: -len(suffix)] + '.eb'
        return name

    def is_tweaked(self):
        """Return whether --try-amend has written this easyconfig."""
        return os.path.basename(os.path.dirname(self.cfg.path)) == 'tweaked_easyconfigs'

    def read_recorded_facts(self):
        """Return the facts (dict) that the installation holds."""
        path = os.path.join(self.installdir, FACTS_FILE)
        if not os.path.isfile(path):
            raise EasyBuildError(
                "%s is not there, so nothing is known of image and host: install first, or give "
                "--try-amend=facts=FILE",
                path,
            )
        try:
            return validate_facts(read_json(path))
        except (ValueError, FactsError) as err:
            raise EasyBuildError(
                "%s is damaged: %s. To type: %s", path, err, self.format_eb_command([])
            )

    def check_readiness_step(self):
        """Unload an older installation: EasyBuild refuses to replace a module that is loaded."""
        family = self.full_mod_name.rpartition('/')[0] + '/'
        loaded = [name for name in self.modules_tool.loaded_modules() if name.startswith(family)]
        if loaded:
            self.modules_tool.unload(loaded)
            self.initial_environ = (
                os.environ.copy()
            )  # to which EasyBuild goes back before its sanity check
        super(SiteEasyBlock, self).check_readiness_step()

    def make_installdir(self, dontcreate=None):
        """Leave an older installation where it is: install_step replaces it in one move."""

    def install_step(self):
        """
        Fill a folder beside the installation, then move it there: after an error nothing is half
        installed.
        """
        problem = find_space_problem(
            self.installdir,
            self.estimate_space(),
            'free some space or install elsewhere (eb --installpath=...)',
        )
        if problem:
            raise EasyBuildError("No room for %s: %s", self.installdir, problem)
        self.staged_install = StagedInstall(self.installdir)
        self.fill_installdir(self.staged_install.create_stage())
        for name in self.cfg['commands']:
            self.copy_script(name, os.path.join(self.staged_install.stage, 'bin'))
        install_proof(self.staged_install.stage)
        write_file(
            os.path.join(self.staged_install.stage, FACTS_FILE),
            json.dumps(self.facts, indent=2, sort_keys=True),
        )
        self.write_settings(self.staged_install.stage)
        self.staged_install.commit()

    def copy_script(self, name, bindir):
        """
        Copy a script of this project (str) to the folder bindir (str), to be run by everybody:
        no sum is checked.
        """
        target = os.path.join(bindir, name)
        copy_file(os.path.join(SCRIPTS, name), target)
        adjust_permissions(target, 0o755, relative=False)

    def write_settings(self, folder):
        """
        Write to folder (str) what osu-explain prints and, of a container, what its commands get
        at each call.
        """
        content = dict(explain_settings(self.resolve_settings()), module=self.full_mod_name)
        if self.site['name'] not in SITES or is_site_file(self.cfg['site']):
            content['site_entry'] = (
                self.site
            )  # osu-container bench asks it, and has it from nowhere else
        write_file(
            os.path.join(folder, SETTINGS_FILE), json.dumps(content, indent=2, sort_keys=True)
        )
        remove_dir(os.path.join(folder, SETTINGS_FOLDER))  # --module-only: what no longer applies
        for name, text in render_settings_modules(self.resolve_settings()).items():
            write_file(os.path.join(folder, SETTINGS_FOLDER, name), text)
        if self.resolve_settings().container.env_prefix:
            write_file(
                os.path.join(folder, call_settings.NAME),
                call_settings.render_call_settings(
                    self.resolve_settings(),
                    self.facts['image']['file'],
                    self.facts['host']['runtime']['command'],
                    self.facts.get('wrapper', False),
                ),
            )
            write_file(
                os.path.join(folder, injection.NAME),
                call_settings.render_module_injection(
                    self.resolve_settings(), self.facts['image']['file']
                ),
            )

    def make_module_step(self, fake=False):
        """
        Write the module; with --module-only also what osu-explain prints, so that it fits the
        new module file.
        """
        if (
            not fake
            and self.staged_install is None
            and os.path.isdir(self.installdir)
            and os.access(self.installdir, os.W_OK)
        ):
            self.write_settings(self.installdir)
        return super(SiteEasyBlock, self).make_module_step(fake=fake)

    def run_all_steps(self, *args, **kwargs):
        """
        Run the steps; an error or an interruption leaves what was there before: installation and
        module file.
        """
        if (
            signal.getsignal(signal.SIGHUP) == signal.SIG_DFL
        ):  # the connection is gone; EasyBuild handles the others
            signal.signal(signal.SIGHUP, signal.getsignal(signal.SIGTERM))
        before = read_file(self.mod_filepath) if os.path.isfile(self.mod_filepath) else None
        try:
            result = super(SiteEasyBlock, self).run_all_steps(*args, **kwargs)
        except BaseException as err:  # also Ctrl-C and EasyBuild's own exit on SIGTERM
            if self.staged_install:
                self.staged_install.rollback()
            self.restore_modulefile(before)
            self.remove_empty_folders()
            if isinstance(err, OSError):
                raise EasyBuildError("%s", format_disk_error(err, self.installdir))
            raise
        if self.staged_install:
            self.staged_install.finish()
        return result

    def restore_modulefile(self, before):
        """Put the module file back to what it was: before (str), or None if there was none."""
        if before is None:
            remove_file(self.mod_filepath)
        elif not os.path.isfile(self.mod_filepath) or read_file(self.mod_filepath) != before:
            write_file(self.mod_filepath, before)

    def remove_empty_folders(self):
        """
        Remove the folders that EasyBuild has created for this installation and its module, if
        they are empty.
        """
        paths = [
            self.installdir,
            os.path.dirname(self.installdir),
            os.path.dirname(self.mod_filepath),
        ]
        for folder in ActiveMNS().det_module_symlink_paths(self.cfg):
            path = os.path.join(install_path('mod'), folder, self.name)
            paths += [path, os.path.dirname(path)]
        for path in paths:
            with contextlib.suppress(OSError):  # something else is in it, or it does not exist
                os.rmdir(path)

    def sanity_check_step(self, *args, **kwargs):
        """Check the host paths as well."""
        approach = select_host_mpi(
            self.approach, self.read_recorded_facts().get('image', {}).get('soname')
        )
        missing = self.translate_errors(
            list_missing_host_paths, approach, self.site, HostFileSystem(self.host_root)
        )
        self.sanity_check_fail_msgs.extend(
            "site '%s' names a host path that does not exist: %s" % (self.site['name'], path)
            for path in missing
        )
        super(SiteEasyBlock, self).sanity_check_step(*args, **kwargs)

    def make_module_req(self):
        """Only bin is added to a search path: the programs bring their own libraries."""
        return self.module_generator.prepend_paths('PATH', ['bin'])

    def uses_gpus(self):
        """Return whether the programs can use the GPUs of the site."""
        return bool(self.site['gpu']['value'])

    def select_example(self):
        """Return the command (str) that help and the sample script show."""
        return self.uses_gpus() and self.cfg['gpu_example'] or self.cfg['example']

    def format_reinstall_command(self):
        """Return what to type (str) to install the same once more."""
        return self.format_eb_command([])

    def make_module_extra(self, *args, **kwargs):
        """Add what the approach sets on this site."""
        settings, names = self.resolve_settings(), (self.name, convert_name(self.name, upper=True))
        text = render_modulefile(
            settings,
            names,
            self.format_reinstall_command(),
            self.facts.get('image', {}).get('file'),
        )
        return super(SiteEasyBlock, self).make_module_extra(*args, **kwargs) + text

    def make_module_description(self):
        """
        Say in the help which MPI runs over which network library, what srun needs, which
        benchmarks exist.
        """
        settings = self.resolve_settings()
        self.cfg['description'] = '\n'.join(
            line
            for part in self.cfg['description'].splitlines()
            for line in wrap_help_text(part) or ['']
        )
        self.cfg['usage'] = '\n'.join(
            format_help(
                settings,
                self.describe_programs(),
                self.select_example(),
                self.name,
                self.facts.get('image', {}).get('file'),
            )
        )
        self.cfg['whatis'] = [
            "Description: %s on site %s: %s (%s)"
            % (
                self.name,
                self.site['name'],
                self.approach['title'],
                ', '.join(list_keywords(settings)),
            )
        ]
        return super(SiteEasyBlock, self).make_module_description()
