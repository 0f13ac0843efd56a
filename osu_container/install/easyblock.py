"""
Define SiteEasyBlock, the base class of the easyblocks MPIContainer and MPINative.

SiteEasyBlock selects the site, records the facts about image and host, installs the files, and
writes the modulefile. If a step of the installation fails, an older installation stays unchanged.
"""

import contextlib
import json
import os
import re
import signal
import socket
from pathlib import Path
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
from osu_container.install.call_settings import render_command_files
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
    Return (data of the site, folder that replaces the root folder of the host).

    name: name of the site, path of a site file, or None for the site of this machine. The folder is
    '' on a real host, and a path only for a simulated host. Raises SettingsError if no site has the
    name.
    """
    if name and is_site_file(name):
        return resolve_local_site(None, SiteFile(name), socket.gethostname(), os.environ)
    return resolve_local_site(name, local, socket.gethostname(), os.environ)


class SiteEasyBlock(EasyBlock):
    """An installation with a modulefile that contains the settings of one site."""

    @staticmethod
    def extra_options(extra_vars: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
        """
        Return the easyconfig parameters that MPIContainer and MPINative have in common.

        This method overrides extra_options() of EasyBuild, because EasyBuild rejects unknown
        parameters.
        """
        parameters: Dict[str, Any] = EasyBlock.extra_options(extra_vars)
        parameters.update(
            {
                'site': [
                    None,
                    'Site whose host paths the module uses: the name of a site, or a file that '
                    '`osu-container discover` has written. By default EasyBuild selects the site by '
                    'the host name, or by the module _mpicontainer_local',
                    CUSTOM,
                ],
                'program_prefix': [
                    '',
                    "Programs whose names begin with this prefix become commands of the "
                    "module; with an empty prefix, no program is selected by its name",
                    CUSTOM,
                ],
                'example': [None, 'Example command that the module help shows after srun', CUSTOM],
                'gpu_example': [
                    None,
                    'Example command that the module help shows on a site with GPUs; the default is the '
                    'value of the parameter example',
                    CUSTOM,
                ],
                'commands': [
                    ['osu-gpu-bind', 'osu-explain'],
                    'Scripts of this project that become commands of the module, in addition to the '
                    'programs of the image or build',
                    CUSTOM,
                ],
            }
        )
        return parameters

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """
        Initialize the attributes `facts` and `staged_install` with empty values.

        This method extends EasyBuild's method. With --module-only EasyBuild skips the steps that
        set both attributes, but later steps read the attributes.
        """
        super().__init__(*args, **kwargs)
        self.facts: Dict[str, Any] = {}
        self.staged_install: Optional[StagedInstall] = None

    def resolve_site_approach(self, approach: str, approaches: Dict[str, Dict[str, Any]]) -> None:
        """
        Set the attributes `approach`, `site` and `host_root`.

        approaches: the approaches that this easyblock can install. `host_root` is the folder that
        replaces the root folder of the host, '' on a real system. Raises EasyBuildError if the
        approach of the easyconfig is not one of `approaches`, if the site does not support the
        approach, or if EasyBuild does not write modulefiles in Lua.
        """
        if self.module_generator.SYNTAX != 'Lua':
            raise EasyBuildError(
                'EasyBuild writes modulefiles in %s, but this easyblock can write modulefiles only in '
                'Lua. Repeat with: --module-syntax=Lua --modules-tool=Lmod',
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
        Call `function`, and replace an error of this project by an EasyBuildError.

        named: whether the message of the EasyBuildError begins with the file name of the
        easyconfig.
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
        """
        Build the settings of the module from the recorded facts.

        Raises EasyBuildError if the facts do not permit the approach.
        """
        settings: Settings = self.translate_errors(
            build_settings, self.approach, self.site, self.facts
        )
        return settings

    def require_value(self, parameter: str, values: Sequence[str]) -> None:
        """Raise EasyBuildError if `values` lacks the value of the easyconfig's `parameter`."""
        if self.cfg[parameter] not in values:
            raise EasyBuildError(
                "%s: unknown %s '%s', expected one of: %s",
                os.path.basename(self.cfg.path),
                parameter,
                self.cfg[parameter],
                ', '.join(values),
            )

    def format_eb_command(self, parameters: List[str]) -> str:
        """
        Return the eb command that repeats this installation.

        parameters: names of easyconfig parameters. The command sets these parameters to their
        current values with --try-amend.
        """
        name = self.resolve_easyconfig_name()
        if name != os.path.basename(self.cfg.path):
            parameters = ['versionsuffix'] + parameters
        options = [
            '--try-amend=%s=%s' % (parameter, self.cfg[parameter]) for parameter in parameters
        ]
        return shell.join_words(['eb', name, '-r', '--rebuild'] + options)

    def resolve_easyconfig_name(self) -> str:
        """Return the name under which eb can find the easyconfig of this installation again."""
        name, suffix = os.path.basename(self.cfg.path), self.cfg['versionsuffix'] + '.eb'
        # --try-amend writes a file with the suffix in its name into a temporary folder.
        if self.is_tweaked() and name.endswith(suffix):
            return name[: -len(suffix)] + '.eb'
        return name

    def is_tweaked(self) -> bool:
        """Return whether eb has written this easyconfig because of the option --try-amend."""
        return os.path.basename(os.path.dirname(self.cfg.path)) == 'tweaked_easyconfigs'

    def read_recorded_facts(self) -> Dict[str, Any]:
        """
        Read the file facts.json of the installation and return the recorded facts.

        Raises EasyBuildError if the file does not exist or is damaged.
        """
        path = os.path.join(self.installdir, FACTS_FILE)
        if not os.path.isfile(path):
            raise EasyBuildError(
                'the file %s, which describes the image and the host, does not exist. Install '
                'the module without --module-only, or add --try-amend=facts=FILE',
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
        Unload loaded modules that have the name of this module, then run EasyBuild's check.

        EasyBuild refuses to replace a module that is loaded.
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
        Keep the older installation, instead of creating an empty installation folder.

        EasyBuild's own make_installdir() would remove the older installation. Later, install_step()
        replaces the older installation by the new installation.
        """

    def install_step(self) -> None:
        """
        Install into a temporary folder, then rename the folder to the installation folder.

        If an error occurs before the renaming, the older installation stays complete, and no
        partial installation exists.
        """
        problem = find_space_problem(
            self.installdir,
            self.estimate_space(),
            'free some disk space, or install to another folder: eb --installpath=FOLDER',
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
        """Copy the script `name` of this project to `bindir`, and make the copy executable."""
        target = os.path.join(bindir, name)
        copy_file(os.path.join(SCRIPTS, name), target)
        adjust_permissions(target, 0o755, relative=False)

    def write_settings(self, folder: str) -> None:
        """
        Write the settings of the module to `folder`, for osu-explain and for the commands.

        osu-explain prints the file settings.json. Each command of an installed module reads the
        file call-settings when the command runs.
        """
        settings = self.resolve_settings()
        content = dict(explain_settings(settings), module=self.full_mod_name)
        if self.site['name'] not in SITES or is_site_file(self.cfg['site']):
            # osu-container bench reads it; the package has no entry of this site.
            content['site_entry'] = self.site
        write_file(
            os.path.join(folder, SETTINGS_FILE), json.dumps(content, indent=2, sort_keys=True)
        )
        # With --module-only the folder may have modules that do not apply any more.
        remove_dir(os.path.join(folder, SETTINGS_FOLDER))
        texts = {
            os.path.join(SETTINGS_FOLDER, name): text
            for name, text in render_settings_modules(settings).items()
        }
        if settings.container.env_prefix:
            texts.update(
                render_command_files(
                    settings,
                    self.facts['image']['file'],
                    self.facts['host']['runtime']['command'],
                    self.facts.get('wrapper', False),
                )
            )
        for name, text in texts.items():
            write_file(os.path.join(folder, name), text)

    def make_module_step(self, fake: bool = False) -> Any:
        """
        Write the modulefile, and with --module-only also the files of write_settings().

        EasyBuild's own make_module_step() would not write the settings that osu-explain prints.
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
        Run all steps; after an error, restore the older installation and the older modulefile.

        EasyBuild's own run_all_steps() would leave the files that the failed step has written.
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
        """
        Write the text `before` to the modulefile, or remove the modulefile if `before` is None.
        """
        if before is None:
            remove_file(self.mod_filepath)
        elif not os.path.isfile(self.mod_filepath) or read_file(self.mod_filepath) != before:
            write_file(self.mod_filepath, before)

    def remove_empty_folders(self) -> None:
        """Remove the empty folders that EasyBuild created for this installation and module."""
        folder = Path(self.installdir)
        paths = [folder, folder.parent, Path(self.mod_filepath).parent]
        for name in ActiveMNS().det_module_symlink_paths(self.cfg):
            folder = Path(install_path('mod'), name, self.name)
            paths += [folder, folder.parent]
        for path in paths:
            with contextlib.suppress(OSError):  # not empty, or does not exist
                path.rmdir()

    def sanity_check_step(self, *args: Any, **kwargs: Any) -> None:
        """
        Check that all host paths of the approach exist, then run EasyBuild's sanity check.

        Without this check, a module with a missing host path would fail only when a job starts.
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
        Return the line of the modulefile that prepends the folder bin to PATH.

        EasyBuild's own make_module_req() would also add folders such as lib to search paths. The
        programs do not need search paths, because the programs find their own libraries.
        """
        return self.module_generator.prepend_paths('PATH', ['bin'])

    def uses_gpus(self) -> bool:
        """Return whether the site has GPUs that the programs can use."""
        return bool(self.site['gpu']['value'])

    def select_example(self) -> str:
        """Return the example command for the module help and for the sample job script."""
        example: str = self.uses_gpus() and self.cfg['gpu_example'] or self.cfg['example']
        return example

    def format_reinstall_command(self) -> str:
        """Return the eb command that repeats this installation."""
        return self.format_eb_command([])

    def make_module_extra(self, *args: Any, **kwargs: Any) -> str:
        """
        Return the lines of the modulefile that apply the approach on this site.

        This method extends EasyBuild's method, because EasyBuild has no easyconfig parameters for
        Lmod functions such as family() and conflict().
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
        Return the module help, which lists the MPI, libfabric, programs and launch command.

        EasyBuild takes the module help from the easyconfig, which does not depend on the site. This
        method replaces EasyBuild's module help by a help for the site. The help has no headings,
        because the text is short.
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
