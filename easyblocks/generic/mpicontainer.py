"""
EasyBuild support for installing an MPI container as a module whose commands run in it under srun, as an easyblock.

The steps and nothing else: what an approach sets is in _mpicontainer_approaches.py, what a site has in
_mpicontainer_sites.py, how the two become a module in _mpicontainer_settings.py and _mpicontainer_module.py.
"""
import json
import os
import shutil

from easybuild.easyblocks.generic import _mpicontainer_module as module_text
from easybuild.easyblocks.generic._mpicontainer_approaches import APPROACHES
from easybuild.easyblocks.generic._mpicontainer_easybuild import SiteEasyBlock
from easybuild.easyblocks.generic._mpicontainer_facts import (
    find_runtime,
    other_dependencies,
    read_facts,
    stale_libraries,
)
from easybuild.easyblocks.generic._mpicontainer_settings import settings_for
from easybuild.easyblocks.generic._mpicontainer_versions import sha256_of
from easybuild.easyblocks.generic._mpicontainer_wrappers import COMMAND, WRAPPERS, defeated, make_wrappers
from easybuild.framework.easyconfig import CUSTOM
from easybuild.tools.build_log import EasyBuildError
from easybuild.tools.filetools import copy_file, mkdir, read_file, symlink


class MPIContainer(SiteEasyBlock):
    """Copy an image, link its programs to one wrapper, write a module that gives it the host's network."""

    @staticmethod
    def extra_options(extra_vars=None):
        """Easyconfig parameters of a container."""
        extra_vars = SiteEasyBlock.extra_options(extra_vars)
        extra_vars.update({
            'image': [None, "File name of the SIF, searched in the source path; default: the site's", CUSTOM],
            'image_sha256': [None, "sha256 of the SIF; default: read from the file IMAGE.sha256 beside it", CUSTOM],
            'wrapper': ['run-in-container', "What starts the commands in the container: run-in-container, or "
                        "lumi-container-wrapper where it is installed", CUSTOM],
            'facts': [None, "JSON file with recorded facts of image and host, to render a module without them", CUSTOM],
        })
        return extra_vars

    def __init__(self, *args, **kwargs):
        """Settle approach, site, runtime and image; what cannot be fails here, before any step and any file."""
        super(MPIContainer, self).__init__(*args, **kwargs)
        self.settle(self.version, dict(item for item in APPROACHES.items() if item[1]['container']))
        self.sif_name = self.cfg['image'] or self.site['images']['value'].get(self.approach['name'])
        self.sif = None
        if self.cfg['wrapper'] not in WRAPPERS:
            raise EasyBuildError("%s: unknown wrapper '%s'; known: %s", os.path.basename(self.cfg.path),
                                 self.cfg['wrapper'], ', '.join(WRAPPERS))
        if self.site['default_approach']['value'] == self.approach['name']:
            self.set_default_module = True

    def fetch_step(self, *args, **kwargs):
        """Find the wrapper as any source, the image in the source path, at the source URLs or in the site's folder."""
        super(MPIContainer, self).fetch_step(*args, **kwargs)
        how = "\nIt is made by: %s\nor copied by you into a folder of the source path, with %s.sha256 beside it" % (
            self.site['image_help']['value'], self.sif_name)
        try:
            self.sif = self.obtain_file(self.sif_name, urls=self.cfg['source_urls'], download_instructions=how)
        except EasyBuildError as err:
            self.sif = self.image_elsewhere(self.sif_name)
            if self.sif is None:
                raise EasyBuildError("The image %s is not there.%s\n(%s)", self.sif_name, how, err.msg)

    def checksum_step(self):
        """Check the image against the sha256 of the easyconfig or of the file beside it, the rest as EasyBuild does."""
        super(MPIContainer, self).checksum_step()
        wanted, beside = self.cfg['image_sha256'], self.sif + '.sha256'
        if not wanted and not os.path.isfile(beside):
            beside = self.obtain_file(self.sif_name + '.sha256', no_download=True, warning_only=True) or beside
        if not wanted and os.path.isfile(beside):
            wanted = (read_file(beside).split() or [None])[0]
        if not wanted:
            raise EasyBuildError("No sha256 to check the image %s against: make one with (cd %s && sha256sum %s > %s), "
                                 "or give it: --try-amend=image_sha256=SUM", self.sif, os.path.dirname(self.sif),
                                 self.sif_name, os.path.basename(beside))
        found = sha256_of(self.sif)
        if found != wanted:
            raise EasyBuildError("The image %s has the wrong sha256: found %s, wanted %s. Copy or make it again (%s)",
                                 self.sif, found, wanted, self.site['image_help']['value'])

    def extract_step(self):
        """Nothing to unpack: the image is copied as it is."""

    def configure_step(self):
        """Read the facts of image and host and refuse a mix that cannot run, before anything is copied."""
        runtime = self.or_error(find_runtime, self.site['runtime']['value'])
        self.facts = self.or_error(read_facts, self.approach, self.site, self.sif, self.host_root, runtime,
                                   self.cfg['program_prefix'])
        if self.cfg['wrapper'] != WRAPPERS[0]:
            self.facts['wrapper'] = True
            self.wrap_container = self.find_wrap_container()

    def find_wrap_container(self):
        """Return the path (str) of wrap-container: on PATH or brought by a module of the site, else an error."""
        settings, modules = self.settings(), self.site['wrapper_modules']['value']
        problem = defeated([entry['name'] for entry in settings.unset], settings.program_path,
                           [library['soname'] for library in self.facts['host']['injected']], self.facts['image'])
        if problem:
            raise EasyBuildError("%s: wrapper=%s: %s. Use the bundled one: leave --try-amend=wrapper= out",
                                 os.path.basename(self.cfg.path), self.cfg['wrapper'], problem)
        if not shutil.which(COMMAND):
            self.modules_tool.load([name for name in modules if self.modules_tool.exist([name])[0]])
        path = shutil.which(COMMAND)
        if not path:
            raise EasyBuildError("%s: wrapper=%s: no command %s on PATH, nor a module of: %s. Load the module that has "
                                 "it, or use the bundled wrapper: leave --try-amend=wrapper= out",
                                 os.path.basename(self.cfg.path), self.cfg['wrapper'], COMMAND,
                                 ', '.join(modules) or 'none on this site')
        return path

    def build_step(self):
        """Nothing to build: the image is made by container-recipes/."""

    def fill_installdir(self, folder):
        """Copy image and wrapper into folder (str), link the commands, record the facts."""
        copy_file(self.sif, os.path.join(folder, self.sif_name))
        bindir = os.path.join(folder, 'bin')
        mkdir(bindir)
        wrapper = self.src[0]
        self.copy_command(wrapper, bindir)
        helpers = [self.cfg['program_prefix'].rstrip('_') + '-' + name for name in ('shell', 'exec')]
        for command in sorted(self.facts['image']['programs']) + helpers:
            symlink(wrapper['name'], os.path.join(bindir, command), use_abspath_source=False)
        if self.facts.get('wrapper'):
            settings = self.settings()
            self.log.info(self.or_error(make_wrappers, self.wrap_container, os.path.join(folder, self.sif_name),
                                        settings.program_path, os.path.join(folder, 'wrappers'), settings.programs))

    def needed_space(self):
        """Bytes (int) that the installation takes."""
        return os.path.getsize(self.sif)

    def settings(self):
        """Settings of the module, from the facts of this run, of the given file, or of the installation."""
        if self.facts is None and self.cfg['facts']:
            self.facts = json.loads(read_file(self.cfg['facts']))[self.approach['name']]
        if self.facts is None:
            self.facts = self.recorded_facts()
        return self.or_error(settings_for, self.approach, self.site, self.facts)

    def make_module_extra(self, *args, **kwargs):
        """Add what the approach sets on this site."""
        settings, image = self.settings(), self.facts['image']
        return super(MPIContainer, self).make_module_extra(*args, **kwargs) + module_text.common_text(
            self.module_generator, settings, self.cfg['family']) + module_text.container_text(
            self.module_generator, settings, image['file'], self.facts['host']['runtime']['command'],
            self.again(), self.facts.get('wrapper', False))

    def again(self):
        """Return what to type (str) to install the same once more."""
        options = [] if self.cfg['facts'] else [
            '--try-amend=%s=%s' % (name, self.cfg[name]) for name in ('site', 'image', 'wrapper')
            if self.cfg[name] not in (None, WRAPPERS[0])]
        return ' '.join(['eb', os.path.basename(self.cfg.path), '-r', '--rebuild'] + options)

    def programs_are(self):
        """What the benchmark programs in the image are (str)."""
        return self.facts['image']['osu']

    def sanity_check_step(self, *args, **kwargs):
        """Check files and commands, and that host and image still are what the module was made for."""
        facts = self.recorded_facts()
        name = facts['image']['file']
        if self.sif is None:
            self.sanity_check_fail_msgs.extend(self.what_changed(facts))
        commands = ['bin/' + name for name in sorted(facts['image']['programs']) + self.cfg['commands']]
        # the user may have deleted the image where the site has it as well
        elsewhere = self.image_elsewhere(name)
        kwargs.setdefault('custom_paths', {'files': commands + ([] if elsewhere else [name]), 'dirs': []})
        super(MPIContainer, self).sanity_check_step(*args, **kwargs)

    def image_elsewhere(self, name):
        """Return the path (str) of the image name (str) in the site's own folders, None if it is not there."""
        folders = [self.host_root + folder for folder in self.site['image_folders']['value']]
        return next((path for path in (os.path.join(folder, name) for folder in folders) if os.path.isfile(path)), None)

    def what_changed(self, then):
        """Return sentences (list of str): how host and image differ from the recorded facts then (dict)."""
        changed = stale_libraries(then)
        inside = os.path.join(self.installdir, then['image']['file'])
        sif = inside if os.path.isfile(inside) else self.image_elsewhere(then['image']['file'])
        if changed or sif is None:
            return changed
        now = self.or_error(read_facts, self.approach, self.site, sif, self.host_root, then['host']['runtime'],
                            self.cfg['program_prefix'])
        return other_dependencies(then, now)
