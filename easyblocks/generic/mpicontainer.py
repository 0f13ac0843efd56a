"""
EasyBuild support for installing an MPI container image as a module, implemented as an easyblock.

srun or another launcher can start the commands of the module, and each command runs in the container.
"""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional

from easybuild.framework.easyconfig import CUSTOM
from easybuild.tools.build_log import EasyBuildError, print_msg, print_warning
from easybuild.tools.config import build_option, source_paths
from easybuild.tools.filetools import read_file, symlink

# EasyBuild and `make lumi` link to this file: its real path is in the clone, which has the package
# osu_container. pip adds the package to Python's path instead. See docs/design.md, "How the
# easyblocks find their package".
CLONE = Path(__file__).resolve().parents[2]
if (CLONE / 'osu_container').is_dir():
    sys.path.insert(0, str(CLONE))
try:
    from osu_container.data.approaches import APPROACHES
    from osu_container.install import image_build, site_image, user_software
    from osu_container.install.easyblock import SiteEasyBlock
    from osu_container.install.staged import is_shareable, place_image, read_image_stamp
    from osu_container.install.wrappers import WRAP_COMMAND, WRAPPERS, check_wrapper, make_wrappers
    from osu_container.verdict import facts
    from osu_container.verdict.settings import Settings, select_image
except ImportError as err:
    raise ImportError(
        "the easyblock %s cannot find the Python package osu_container: %s. Python searched %s and "
        "sys.path. Do not copy the easyblock: add the path of the easyblock in your clone of "
        "osu-container to EASYBUILD_INCLUDE_EASYBLOCKS (`make lumi` does so; run `make lumi` again "
        "after moving the clone), or run `pip install CLONE`"
        % (os.path.realpath(__file__), err, CLONE)
    )


class MPIContainer(SiteEasyBlock):
    """
    Install an image and a module that connects the image to the host's high-speed network.

    Each program of the image becomes a command of the module. Each command is a link to the same
    wrapper script, and this script runs the program in a container.
    """

    @staticmethod
    def extra_options(extra_vars: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
        """
        Return the easyconfig parameters that only this easyblock understands.

        Overridden because EasyBuild rejects unknown parameters in an easyconfig.
        """
        parameters = SiteEasyBlock.extra_options(extra_vars)
        parameters.update(
            {
                'image': [
                    None,
                    "SIF file to install: a path, or a file name in EasyBuild's source path or in the site's "
                    "folders; default: the image that is named in the site data",
                    CUSTOM,
                ],
                'image_sha256': [
                    None,
                    'sha256 of the SIF file; default: the content of the file IMAGE.sha256 in the folder of the '
                    'SIF file',
                    CUSTOM,
                ],
                'build_image': [
                    'auto',
                    'Whether to build a missing SIF file: yes, no, or auto. With auto, EasyBuild builds a missing '
                    'SIF file only if the build compiles no MPI',
                    CUSTOM,
                ],
                'wrapper': [
                    'run-in-container',
                    'Program that starts the commands in the container: run-in-container, or lumi-container-wrapper '
                    'if this wrapper is installed on the system',
                    CUSTOM,
                ],
                'programs': [
                    [],
                    'Names or absolute paths of programs in the image that become commands of the module, in '
                    'addition to the programs whose names begin with program_prefix',
                    CUSTOM,
                ],
                'facts': [
                    None,
                    'JSON file that describes the image and the host. With this file, EasyBuild can write '
                    'a modulefile on a machine that has neither the image nor the host libraries',
                    CUSTOM,
                ],
            }
        )
        return parameters

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """
        Find the approach, the site and the image of the easyconfig.

        If approach, site and image cannot be combined, the installation fails before a file is
        written.
        """
        super().__init__(*args, **kwargs)
        self.resolve_site_approach(
            self.version, dict(item for item in APPROACHES.items() if item[1]['container'])
        )
        self.sif_name = self.translate_errors(site_image.check_image_name, self.cfg['image'])
        # Recorded facts name their image.
        if not self.sif_name and not self.cfg['facts']:
            self.sif_name = self.translate_errors(select_image, self.name, self.approach, self.site)
        self.sif: Any = None
        self.site_image_path: Any = None
        self.image_folders = site_image.list_image_folders(self.site, self.host_root, os.environ)
        self.require_value('wrapper', WRAPPERS)
        self.require_value('build_image', image_build.BUILD_MODES)
        if self.site['default_approach']['value'] == self.approach['name']:
            self.set_default_module = True

    def fetch_step(self, *args: Any, **kwargs: Any) -> None:
        """
        Find the container image, or build the image.

        Overridden because the image is not a source archive that EasyBuild unpacks. The image may
        be in a folder of the site, or this step may build the image.
        """
        super().fetch_step(*args, **kwargs)
        self.sif = self.translate_errors(
            site_image.require_readable, self.find_image(), named=False
        )
        self.site_image_path = site_image.resolve_site_image(self.sif, self.image_folders)
        if self.site_image_path:
            self.sif = self.site_image_path
            print_msg(
                'using the image %s, which the site provides; the module contains a link to this image, not a copy'
                % self.sif
            )

    def find_image(self) -> str:
        """
        Return the path of the container image.

        An absolute path is returned unchanged. A file name is searched in EasyBuild's source path,
        in the source URLs and in the site's folders. If the image is not found, this method builds
        the image. The parameter build_image can forbid the build.
        """
        if os.path.isabs(self.sif_name):
            return self.sif_name
        try:
            self.sif = self.obtain_file(self.sif_name, urls=self.cfg['source_urls'])
        except EasyBuildError as err:
            self.log.info("image %s: %s", self.sif_name, err.msg)
        return (
            self.sif
            or site_image.find_named_image(self.sif_name, self.image_folders)
            or self.translate_errors(
                image_build.obtain_image,
                self.sif_name,
                self.cfg['build_image'],
                source_paths(),
                self.site['image_help']['value'],
                print_msg,
                self.cfg['image_sha256'],
                named=False,
            )
        )

    def checksum_step(self) -> None:
        """
        Check the sha256 and the signature of the container image.

        Overridden because a file next to the image may contain the sha256, and because EasyBuild
        does not check the signature of a SIF file.
        """
        super().checksum_step()
        sha256, sum_file = (self.cfg['image_sha256'] or '').lower(), self.sif + '.sha256'
        if not sha256 and not os.path.isfile(sum_file):
            sum_file = (
                self.obtain_file(os.path.basename(sum_file), no_download=True, warning_only=True)
                or sum_file
            )
        runtime = self.translate_errors(facts.find_runtime, self.site['runtime']['value'])
        sha256 = sha256 or self.translate_errors(
            image_build.read_sha256_file, sum_file, named=False
        )
        self.sha256 = self.translate_errors(
            image_build.check_image,
            self.sif,
            sha256,
            sum_file,
            self.site['image_help']['value'],
            runtime['command'],
            bool(self.site_image_path),
            named=False,
        )

    def extract_step(self) -> None:
        """
        Do nothing; the image is installed as a single file.

        Overridden because EasyBuild would unpack the image.
        """

    def configure_step(self) -> None:
        """
        Collect facts about the image and the host.

        If the image cannot run on this host, the installation fails before a file is copied.
        """
        runtime = self.translate_errors(facts.find_runtime, self.site['runtime']['value'])
        self.facts = self.translate_errors(
            facts.read_facts,
            self.approach,
            self.site,
            self.sif,
            self.host_root,
            runtime,
            self.cfg['program_prefix'],
            self.cfg['programs'],
            build_option('force'),
        )
        self.facts['image']['of_site'] = site_image.read_site_stamp(self.site_image_path)
        for text in facts.list_warnings(self.facts):
            print_warning("%s: %s", os.path.basename(self.cfg.path), text, log=self.log)
        if self.cfg['wrapper'] != WRAPPERS[0]:
            self.facts['wrapper'] = True
            self.wrap_container = self.find_wrap_container()

    def find_wrap_container(self) -> str:
        """
        Return the path of the command wrap-container.

        If the command is not on PATH, this function first loads the site's modules that may provide
        the command. Raises EasyBuildError if the command is not found.
        """
        wrapper, modules = self.cfg['wrapper'], self.site['wrapper_modules']['value']
        self.translate_errors(check_wrapper, wrapper, self.resolve_settings())
        if not shutil.which(WRAP_COMMAND):
            self.modules_tool.load([name for name in modules if self.modules_tool.exist([name])[0]])
        if not shutil.which(WRAP_COMMAND):
            raise EasyBuildError(
                'wrapper=%s needs the command %s, but this command is neither on PATH nor in one of these modules: %s. '
                'Load the module that provides the command, or omit --try-amend=wrapper= to use the default wrapper',
                wrapper,
                WRAP_COMMAND,
                ', '.join(modules) or 'none on this site',
            )
        return str(shutil.which(WRAP_COMMAND))

    def build_step(self) -> None:
        """
        Do nothing.

        Overridden because this step of EasyBuild compiles source code, and a container image needs
        no compilation.
        """

    def fill_installdir(self, folder: str) -> None:
        """Install the image, the wrapper and the commands in `folder`.

        The facts about the image and the host are also recorded in `folder`.
        """
        image = os.path.join(folder, self.facts['image']['file'])
        self.log.info(
            self.translate_errors(
                place_image,
                self.sif,
                self.sha256,
                self.is_shared,
                image,
                bool(self.site_image_path),
            )
        )
        self.facts['image']['installed'] = None if self.site_image_path else read_image_stamp(image)
        self.copy_script(WRAPPERS[0], os.path.join(folder, 'bin'))
        self.copy_script('share-container', os.path.join(folder, 'libexec'))
        prefix, programs = (
            self.cfg['program_prefix'].rstrip('_') or self.name,
            self.facts['image']['programs'],
        )
        for command in sorted(programs) + [prefix + '-shell', prefix + '-exec', 'start-shell']:
            symlink(WRAPPERS[0], os.path.join(folder, 'bin', command), use_abspath_source=False)
        if user_software.COMMAND in self.cfg['commands']:
            self.facts['user_path'], problem = user_software.make_user_folder(
                folder, self.facts['host']['runtime']['command'], image, programs
            )
            if problem:
                print_warning(
                    "%s: no virtual environment in %s: %s",
                    self.full_mod_name,
                    folder,
                    problem,
                    log=self.log,
                )
        if self.facts.get('wrapper'):
            settings = self.resolve_settings()
            self.log.info(
                self.translate_errors(
                    make_wrappers,
                    self.wrap_container,
                    image,
                    settings.container.program_path,
                    os.path.join(folder, 'wrappers'),
                    settings.programs,
                )
            )

    def estimate_space(self) -> int:
        """Return the number of bytes of disk space that the installation needs."""
        self.is_shared = not self.site_image_path and is_shareable(self.sif, self.installdir)
        return 0 if self.site_image_path or self.is_shared else os.path.getsize(self.sif)

    def resolve_settings(self) -> Settings:
        """
        Return the settings of the module, which are derived from facts about image and host.

        The facts come from the first of these sources that exists: the facts collected by this run
        of eb, the file of the parameter `facts`, the facts recorded by an earlier installation.
        """
        if not self.facts and self.cfg['facts']:
            self.facts = json.loads(read_file(self.cfg['facts']))[
                self.name + '/' + self.approach['name']
            ]
        if not self.facts:
            self.facts = self.read_recorded_facts()
        return self.build_module_settings()

    def format_reinstall_command(self) -> str:
        """Return the eb command that repeats this installation."""
        return self.format_eb_command(
            []
            if self.cfg['facts']
            else [
                name
                for name in ('site', 'image', 'wrapper')
                if self.cfg[name] not in (None, WRAPPERS[0])
            ]
        )

    def describe_programs(self) -> str:
        """Return the description of the benchmark programs from the image's label.

        The result is '' if the image has no such label.
        """
        description: str = self.facts['image']['programs_are']
        return description

    def uses_gpus(self) -> bool:
        """Return whether both the site and the image support MPI buffers in GPU memory."""
        self.resolve_settings()  # sets self.facts
        return super().uses_gpus() and bool(self.facts['image']['gpu'])

    def sanity_check_step(self, *args: Any, **kwargs: Any) -> None:
        """
        Check the installed files and commands, and check that host and image have not changed.

        Overridden because EasyBuild does not know which files a container needs.
        """
        recorded = self.read_recorded_facts()
        name = recorded['image']['file']
        if self.sif is None:
            self.sanity_check_fail_msgs.extend(self.list_changes(recorded))
        files = [
            'bin/' + command
            for command in sorted(recorded['image']['programs']) + self.cfg['commands']
        ]
        # The user may have deleted an image that the site has as well.
        files += [] if site_image.find_named_image(name, self.image_folders) else [name]
        kwargs.setdefault('custom_paths', {'files': files, 'dirs': []})
        super().sanity_check_step(*args, **kwargs)

    def list_changes(self, recorded: Dict[str, Any]) -> List[str]:
        """Return one sentence for each change of the host or the image since the installation."""
        path = os.path.join(self.installdir, recorded['image']['file'])
        return site_image.find_image_changes(path) or facts.list_stale_libraries(recorded)
