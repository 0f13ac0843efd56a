"""
The base class of the easyblocks MPIContainer and MPINative.

It resolves the site, records facts of the host, installs in one move and writes the module.
"""

import contextlib
import json
import os
import re
import signal
import socket
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

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
    Settings,
    build_settings,
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
    # The set-up of a workstation or a user writes this module. SITE is the name of the site, ROOT a
    # folder that stands in for the host's /, SITES has sites in the form of data/sites. OVERRIDES
    # has facts, by key, that replace those of SITE, or of any site if SITE is missing.
    from easybuild.easyblocks.generic import _mpicontainer_local as local
except ImportError:
    local = None

FACTS_FILE = 'facts.json'
#: osu-explain reads this file.
SETTINGS_FILE = 'settings.json'


def select_site(name: Optional[str]) -> Tuple[Dict[str, Any], str]:
    """
    Return (site, folder that stands in for the host's /) for a name or a site file.

    None selects the site of this machine. Raises SettingsError if there is no such site.
    """
    if name and is_site_file(name):
        return resolve_local_site(None, SiteFile(name), socket.gethostname(), os.environ)
    return resolve_local_site(name, local, socket.gethostname(), os.environ)


class SiteEasyBlock(EasyBlock):
    """An installation whose module depends on the site that it is made for."""

    @staticmethod
    def extra_options(extra_vars: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
        """
        Return the easyconfig parameters that containers and native builds share.

        Overridden because EasyBuild rejects parameters that it does not know.
        """
        parameters: Dict[str, Any] = EasyBlock.extra_options(extra_vars)
        parameters.update(
            {
                'site': [
                    None,
                    'Site whose host paths the module uses: a name, or a file that osu-container '
                    'discover wrote; default: recognised by host name or local file',
                    CUSTOM,
                ],
                'program_prefix': [
                    '',
                    "Prefix of the names of programs that become commands, '' for none",
                    CUSTOM,
                ],
                'example': [None, 'Command that the module help shows after srun', CUSTOM],
                'gpu_example': [
                    None,
                    ('Command that the module help shows on a site with GPUs; default: example'),
                    CUSTOM,
                ],
                'commands': [
                    ['osu-gpu-bind', 'osu-explain'],
                    'Scripts of this project that become commands in addition to the programs',
                    CUSTOM,
                ],
            }
        )
        return parameters

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """
        Start without facts and without an installation.

        Overridden because later steps need these attributes also after --module-only skipped a
        step.
        """
        super().__init__(*args, **kwargs)
        self.facts: Dict[str, Any] = {}
        self.staged_install: Optional[StagedInstall] = None

    def resolve_site_approach(self, approach: str, approaches: Dict[str, Dict[str, Any]]) -> None:
        """
        Set `approach`, `site` and `host_root`, which is '' on the real system.

        `approaches` are those that this easyblock can install. Raises EasyBuildError if the
        approach is not one of them, or the site does not support it.
        """
        if self.module_generator.SYNTAX != 'Lua':
            raise EasyBuildError(
                'these modules need Lua, but EasyBuild writes %s: use --module-syntax=Lua '
                'and --modules-tool=Lmod',
                self.module_generator.SYNTAX,
            )
        self.approach = self.translate_errors(resolve_approach, approach, approaches)
        if is_site_file(self.cfg['site']):
            # Messages show this path to users in other folders.
            self.cfg['site'] = os.path.abspath(self.cfg['site'])
        self.site, root = self.translate_errors(select_site, self.cfg['site'])
        self.translate_errors(check_approach, self.approach, self.site)
        self.host_root = (build_option('sysroot') or root).rstrip('/')

    def translate_errors(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """
        Call a function and raise its errors for users as EasyBuildError.

        The message begins with the file name of the easyconfig unless `named=False` is given.
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

    def build_module_settings(self) -> Settings:
        """Return the settings that follow from the recorded facts. Raises EasyBuildError."""
        settings: Settings = self.translate_errors(
            build_settings, self.approach, self.site, self.facts
        )
        return settings

    def require_value(self, parameter: str, values: Sequence[str]) -> None:
        """Raise EasyBuildError if an easyconfig parameter does not have one of `values`."""
        if self.cfg[parameter] not in values:
            raise EasyBuildError(
                "%s: unknown %s '%s', expected one of: %s",
                os.path.basename(self.cfg.path),
                parameter,
                self.cfg[parameter],
                ', '.join(values),
            )

    def format_eb_command(self, parameters: List[str]) -> str:
        """Return the command that repeats this installation, with the values of `parameters`."""
        name = self.resolve_easyconfig_name()
        if name != os.path.basename(self.cfg.path):
            parameters = ['versionsuffix'] + parameters
        options = [
            '--try-amend=%s=%s' % (parameter, self.cfg[parameter]) for parameter in parameters
        ]
        return shell.join_words(['eb', name, '-r', '--rebuild'] + options)

    def resolve_easyconfig_name(self) -> str:
        """Return the file name by which eb finds this easyconfig again."""
        name, suffix = os.path.basename(self.cfg.path), self.cfg['versionsuffix'] + '.eb'
        # --try-amend writes a file with the suffix in its name into a temporary folder.
        if self.is_tweaked() and name.endswith(suffix):
            return name[: -len(suffix)] + '.eb'
        return name

    def is_tweaked(self) -> bool:
        """Return whether --try-amend has written this easyconfig."""
        return os.path.basename(os.path.dirname(self.cfg.path)) == 'tweaked_easyconfigs'

    def read_recorded_facts(self) -> Dict[str, Any]:
        """Return the facts that the installation recorded. Raises EasyBuildError without them."""
        path = os.path.join(self.installdir, FACTS_FILE)
        if not os.path.isfile(path):
            raise EasyBuildError(
                '%s does not exist, so image and host are unknown: install first, or give '
                '--try-amend=facts=FILE',
                path,
            )
        try:
            return validate_facts(read_json(path))
        except (ValueError, FactsError) as err:
            raise EasyBuildError(
                '%s is damaged: %s. Install again: %s', path, err, self.format_eb_command([])
            )

    def check_readiness_step(self) -> None:
        """
        Unload older modules of this family, then check as EasyBuild does.

        Overridden because EasyBuild refuses to replace a module that is loaded.
        """
        family = self.full_mod_name.rpartition('/')[0] + '/'
        loaded = [name for name in self.modules_tool.loaded_modules() if name.startswith(family)]
        if loaded:
            self.modules_tool.unload(loaded)
            # EasyBuild restores this environment before its sanity check.
            self.initial_environ = os.environ.copy()
        super().check_readiness_step()

    def make_installdir(self, dontcreate: Optional[bool] = None) -> None:
        """
        Create nothing.

        Overridden because EasyBuild would remove an older installation here: install_step()
        replaces it in one move.
        """

    def install_step(self) -> None:
        """
        Fill a folder beside the installation, then move it into place.

        Overridden so that an error leaves the older installation, and nothing half installed.
        """
        problem = find_space_problem(
            self.installdir,
            self.estimate_space(),
            'free some space, or install elsewhere: eb --installpath=FOLDER',
        )
        if problem:
            raise EasyBuildError('no space for %s: %s', self.installdir, problem)
        staged = self.staged_install = StagedInstall(self.installdir)
        self.fill_installdir(staged.create_stage())
        for name in self.cfg['commands']:
            self.copy_script(name, os.path.join(staged.stage, 'bin'))
        install_proof(staged.stage)
        write_file(
            os.path.join(staged.stage, FACTS_FILE),
            json.dumps(self.facts, indent=2, sort_keys=True),
        )
        self.write_settings(staged.stage)
        staged.commit()

    def copy_script(self, name: str, bindir: str) -> None:
        """Copy a script of this project to `bindir`, executable for everybody."""
        target = os.path.join(bindir, name)
        copy_file(os.path.join(SCRIPTS, name), target)
        adjust_permissions(target, 0o755, relative=False)

    def write_settings(self, folder: str) -> None:
        """
        Write what osu-explain prints to `folder`.

        For a container also the settings that its commands read at each call.
        """
        content = dict(explain_settings(self.resolve_settings()), module=self.full_mod_name)
        if self.site['name'] not in SITES or is_site_file(self.cfg['site']):
            # osu-container bench reads it; the package has no entry of this site.
            content['site_entry'] = self.site
        write_file(
            os.path.join(folder, SETTINGS_FILE), json.dumps(content, indent=2, sort_keys=True)
        )
        # With --module-only the folder may have modules that do not apply any more.
        remove_dir(os.path.join(folder, SETTINGS_FOLDER))
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

    def make_module_step(self, fake: bool = False) -> Any:
        """
        Write the module.

        Overridden because --module-only must also renew the settings that osu-explain prints.
        """
        if (
            not fake
            and self.staged_install is None
            and os.path.isdir(self.installdir)
            and os.access(self.installdir, os.W_OK)
        ):
            self.write_settings(self.installdir)
        return super().make_module_step(fake=fake)

    def run_all_steps(self, *args: Any, **kwargs: Any) -> Any:
        """
        Run the steps, and after an error restore the older installation and its modulefile.

        Overridden because EasyBuild leaves what the failed step has written.
        """
        # A lost connection must also restore. EasyBuild handles the other signals.
        if signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:
            signal.signal(signal.SIGHUP, signal.getsignal(signal.SIGTERM))
        before = read_file(self.mod_filepath) if os.path.isfile(self.mod_filepath) else None
        try:
            result = super().run_all_steps(*args, **kwargs)
        except BaseException as err:  # includes Ctrl-C and EasyBuild's exit on SIGTERM
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

    def restore_modulefile(self, before: Optional[str]) -> None:
        """Restore the text of the modulefile, or remove it if `before` is None."""
        if before is None:
            remove_file(self.mod_filepath)
        elif not os.path.isfile(self.mod_filepath) or read_file(self.mod_filepath) != before:
            write_file(self.mod_filepath, before)

    def remove_empty_folders(self) -> None:
        """Remove the empty folders that EasyBuild created for this installation and module."""
        paths = [
            self.installdir,
            os.path.dirname(self.installdir),
            os.path.dirname(self.mod_filepath),
        ]
        for folder in ActiveMNS().det_module_symlink_paths(self.cfg):
            path = os.path.join(install_path('mod'), folder, self.name)
            paths += [path, os.path.dirname(path)]
        for path in paths:
            with contextlib.suppress(OSError):  # not empty, or does not exist
                os.rmdir(path)

    def sanity_check_step(self, *args: Any, **kwargs: Any) -> None:
        """
        Check that the host paths of the approach exist, then check as EasyBuild does.

        Overridden because a module with missing host paths fails only when a job starts.
        """
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
        super().sanity_check_step(*args, **kwargs)

    def make_module_req(self) -> str:
        """
        Add only bin to a search path.

        Overridden because EasyBuild would also add lib and others: programs bring their own
        libraries.
        """
        return self.module_generator.prepend_paths('PATH', ['bin'])

    def uses_gpus(self) -> bool:
        """Return whether the programs can use the GPUs of the site."""
        return bool(self.site['gpu']['value'])

    def select_example(self) -> str:
        """Return the command that the module help and the sample job script show."""
        example: str = self.uses_gpus() and self.cfg['gpu_example'] or self.cfg['example']
        return example

    def format_reinstall_command(self) -> str:
        """Return the command that repeats this installation."""
        return self.format_eb_command([])

    def make_module_extra(self, *args: Any, **kwargs: Any) -> str:
        """
        Add what the approach sets on this site.

        Overridden because EasyBuild has no parameters for statements such as family() and
        conflict().
        """
        settings, names = self.resolve_settings(), (self.name, convert_name(self.name, upper=True))
        text = render_modulefile(
            settings,
            names,
            self.format_reinstall_command(),
            self.facts.get('image', {}).get('file'),
        )
        return super().make_module_extra(*args, **kwargs) + text

    def make_module_description(self) -> str:
        """
        Describe in the module help the MPI, its network library, programs and their launch.

        Overridden because EasyBuild takes the help from the easyconfig only, which does not know
        the site. Headings are left out, because the help is short.
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
            'Description: %s on site %s: %s'
            % (self.name, self.site['name'], self.approach['title']),
            'Keywords: ' + ', '.join(list_keywords(settings)),
        ]
        text: str = super().make_module_description()
        text = re.sub(r'^(Description|Usage|More information)\n=+\n', '', text, flags=re.M)
        text = re.sub('\n+ - Homepage: ', '\nhomepage:   ', text)
        return re.sub('\n{3,}', '\n\n', text).replace('[==[\n\n', '[==[\n', 1)
