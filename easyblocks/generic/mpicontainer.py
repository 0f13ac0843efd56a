"""
EasyBuild support for installing an MPI container as a module whose commands run in it under srun,
as an easyblock.
"""

import json
import os
import shutil
import sys

from easybuild.framework.easyconfig import CUSTOM
from easybuild.tools.build_log import EasyBuildError, print_msg, print_warning
from easybuild.tools.config import build_option, source_paths
from easybuild.tools.filetools import read_file, symlink

# The package osu_container lies beside the real path of this file, to which EasyBuild and `make
# lumi` link; pip puts it on Python's path. See docs/design.md, "How the easyblocks find their
# package".
CLONE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
if os.path.isdir(os.path.join(CLONE, 'osu_container')):
    sys.path.insert(0, CLONE)
try:
    from osu_container.data.approaches import APPROACHES
    from osu_container.install import image_build, site_image, user_software
    from osu_container.install.easyblock import SiteEasyBlock
    from osu_container.install.staged import is_shareable, place_image, read_image_stamp
    from osu_container.install.wrappers import WRAP_COMMAND, WRAPPERS, check_wrapper, make_wrappers
    from osu_container.verdict import facts
    from osu_container.verdict.settings import build_settings, select_image
except ImportError as err:
    raise ImportError(
        "%s cannot find its package: %s, looked for in %s and on Python's path. Do not copy this file: "
        "name it in its clone (also after the clone was moved: EASYBUILD_INCLUDE_EASYBLOCKS, or "
        "`make lumi` there), or `pip install CLONE`" % (os.path.realpath(__file__), err, CLONE)
    )


class MPIContainer(SiteEasyBlock):
    """
    Install an image, link its programs to one wrapper, write a module that gives it the host's
    network.
    """

    @staticmethod
    def extra_options(extra_vars=None):
        """Easyconfig parameters of a container."""
        extra_vars = SiteEasyBlock.extra_options(extra_vars)
        extra_vars.update(
            {
                'image': [
                    None,
                    "SIF: a path, or a name in source path or the site's folders; default: the site's",
                    CUSTOM,
                ],
                'image_sha256': [
                    None,
                    "sha256 of the SIF; default: read from the file IMAGE.sha256 beside it",
                    CUSTOM,
                ],
                'build_image': [
                    'auto',
                    "Build a missing SIF: auto (unless that compiles MPI), yes, no",
                    CUSTOM,
                ],
                'wrapper': [
                    'run-in-container',
                    "What starts the commands in the container: run-in-container, or "
                    "lumi-container-wrapper where it is installed",
                    CUSTOM,
                ],
                'programs': [
                    [],
                    "Programs of the image that become commands beside those of program_prefix: names, or "
                    "whole paths in the image",
                    CUSTOM,
                ],
                'facts': [
                    None,
                    "JSON file with recorded facts of image and host, to render a module without them",
                    CUSTOM,
                ],
            }
        )
        return extra_vars

    def __init__(self, *args, **kwargs):
        """
        Settle approach, site, runtime and image; what cannot be fails here, before any step and
        any file.
        """
        super(MPIContainer, self).__init__(*args, **kwargs)
        self.resolve_site_approach(
            self.version, dict(item for item in APPROACHES.items() if item[1]['container'])
        )
        self.sif_name = self.translate_errors(site_image.check_image_name, self.cfg['image'])
        if (
            not self.sif_name and not self.cfg['facts']
        ):  # recorded facts name the image that they are of
            self.sif_name = self.translate_errors(select_image, self.name, self.approach, self.site)
        self.sif = self.site_image_path = None
        self.image_folders = site_image.list_image_folders(self.site, self.host_root, os.environ)
        self.require_value('wrapper', WRAPPERS)
        self.require_value('build_image', image_build.BUILD_MODES)
        if self.site['default_approach']['value'] == self.approach['name']:
            self.set_default_module = True

    def fetch_step(self, *args, **kwargs):
        """Find the image by find_image(); the scripts come with the easyblock."""
        super(MPIContainer, self).fetch_step(*args, **kwargs)
        self.sif = self.translate_errors(
            site_image.require_readable, self.find_image(), named=False
        )
        self.site_image_path = site_image.resolve_site_image(self.sif, self.image_folders)
        if self.site_image_path:
            self.sif = self.site_image_path
            print_msg("the image is %s, in a folder of the site: linked to, not copied" % self.sif)

    def find_image(self):
        """
        Return the path (str) of the image: by its whole path, in source path, URLs or site's
        folders, or built.
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

    def checksum_step(self):
        """Check the image: its sha256 from the easyconfig or the file beside it, its signature."""
        super(MPIContainer, self).checksum_step()
        wanted, beside = (self.cfg['image_sha256'] or '').lower(), self.sif + '.sha256'
        if not wanted and not os.path.isfile(beside):
            beside = (
                self.obtain_file(os.path.basename(beside), no_download=True, warning_only=True)
                or beside
            )
        runtime = self.translate_errors(facts.find_runtime, self.site['runtime']['value'])
        wanted = wanted or self.translate_errors(image_build.read_sha256_file, beside, named=False)
        self.sha256 = self.translate_errors(
            image_build.check_image,
            self.sif,
            wanted,
            beside,
            self.site['image_help']['value'],
            runtime['command'],
            bool(self.site_image_path),
            named=False,
        )

    def extract_step(self):
        """Nothing to unpack: the image is installed as it is."""

    def configure_step(self):
        """
        Read the facts of image and host and refuse a mix that cannot run, before anything is
        copied.
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

    def find_wrap_container(self):
        """
        Return the path (str) of wrap-container: on PATH or brought by a module of the site, else
        an error.
        """
        wrapper, modules = self.cfg['wrapper'], self.site['wrapper_modules']['value']
        self.translate_errors(check_wrapper, wrapper, self.resolve_settings())
        if not shutil.which(WRAP_COMMAND):
            self.modules_tool.load([name for name in modules if self.modules_tool.exist([name])[0]])
        if not shutil.which(WRAP_COMMAND):
            raise EasyBuildError(
                "wrapper=%s: no command %s on PATH, nor a module of: %s. Load the module that has it, "
                "or use the bundled wrapper: leave --try-amend=wrapper= out",
                wrapper,
                WRAP_COMMAND,
                ', '.join(modules) or 'none on this site',
            )
        return shutil.which(WRAP_COMMAND)

    def build_step(self):
        """Nothing to build: the image is made by container-recipes/."""

    def fill_installdir(self, folder):
        """Put image and wrapper into folder (str), link the commands, record the facts."""
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
        self.copy_script('share-container', os.path.join(folder, 'libexec'))  # read by the wrapper
        plain, programs = (
            self.cfg['program_prefix'].rstrip('_') or self.name,
            self.facts['image']['programs'],
        )
        for command in sorted(programs) + [plain + '-shell', plain + '-exec', 'start-shell']:
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

    def estimate_space(self):
        """Bytes (int) that the installation takes."""
        self.is_shared = not self.site_image_path and is_shareable(self.sif, self.installdir)
        return 0 if self.site_image_path or self.is_shared else os.path.getsize(self.sif)

    def resolve_settings(self):
        """
        Settings of the module, from the facts of this run, of the given file, or of the
        installation.
        """
        if self.facts is None and self.cfg['facts']:
            self.facts = json.loads(read_file(self.cfg['facts']))[
                self.name + '/' + self.approach['name']
            ]
        if self.facts is None:
            self.facts = self.read_recorded_facts()
        return self.translate_errors(build_settings, self.approach, self.site, self.facts)

    def format_reinstall_command(self):
        """Return what to type (str) to install the same once more."""
        return self.format_eb_command(
            []
            if self.cfg['facts']
            else [
                name
                for name in ('site', 'image', 'wrapper')
                if self.cfg[name] not in (None, WRAPPERS[0])
            ]
        )

    def describe_programs(self):
        """What the programs in the image are, as its label says (str), '' where none does."""
        return self.facts['image']['programs_are']

    def uses_gpus(self):
        """
        Return whether site and image have what buffers in GPU memory need: the help names such a
        command then.
        """
        self.resolve_settings()  # reads the facts
        return super(MPIContainer, self).uses_gpus() and self.facts['image']['gpu']

    def sanity_check_step(self, *args, **kwargs):
        """
        Check files and commands, and that host and image still are what the module was made for.
        """
        then = self.read_recorded_facts()
        name = then['image']['file']
        if self.sif is None:
            self.sanity_check_fail_msgs.extend(self.list_changes(then))
        files = [
            'bin/' + command for command in sorted(then['image']['programs']) + self.cfg['commands']
        ]
        # the user may have deleted the image where the site has it as well
        files += [] if site_image.find_named_image(name, self.image_folders) else [name]
        kwargs.setdefault('custom_paths', {'files': files, 'dirs': []})
        super(MPIContainer, self).sanity_check_step(*args, **kwargs)

    def list_changes(self, then):
        """
        Return sentences (list of str): how host and image differ from the recorded facts then
        (dict).
        """
        inside = os.path.join(self.installdir, then['image']['file'])
        return site_image.find_image_changes(inside) or facts.list_stale_libraries(then)
