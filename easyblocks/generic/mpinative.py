"""
EasyBuild support for building MPI benchmarks with the MPI of the host, as an easyblock: what containers compare with.
"""
import os
import sys

from easybuild.easyblocks.generic.configuremake import ConfigureMake
from easybuild.framework.easyconfig import CUSTOM
from easybuild.tools.build_log import EasyBuildError, print_msg
from easybuild.tools.modules import get_software_root

# The package osu_container lies beside the real path of this file, to which EasyBuild and `make lumi` link; pip puts it
# on Python's path. See docs/design.md, "How the easyblocks find their package".
CLONE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
if os.path.isdir(os.path.join(CLONE, 'osu_container', 'core')):
    sys.path.insert(0, CLONE)
try:
    from osu_container.core.data.approaches import APPROACHES
    from osu_container.core.deciding.facts import native_facts
    from osu_container.core.deciding.settings import settings_for
    from osu_container.core.installing.native import (
        RCCL_PLUGIN,
        environment_problems,
        files_of_ports,
        install_ports,
        link_problems,
        link_programs,
        modules_of,
        python_tag,
    )
    from osu_container.core.reading.libraries import sha256_of
    from osu_container.core.writing import module_text
    from osu_container.easyblock import SiteEasyBlock
except ImportError as err:
    raise ImportError("%s cannot find its package: %s, looked for in %s and on Python's path. Do not copy this file: "
                      "name it in its clone (also after the clone was moved: EASYBUILD_INCLUDE_EASYBLOCKS, or "
                      "`make lumi` there), or `pip install CLONE`" % (os.path.realpath(__file__), err, CLONE))


class MPINative(SiteEasyBlock, ConfigureMake):
    """
    Build C benchmarks with the site's MPI compilers.

    On a site with Cray's programming environment these are its cc and CC, which the modules of the dependencies bring.
    Elsewhere, where the archive of the benchmarks cannot be had, mpi4py's ports of them are installed.
    """

    @staticmethod
    def extra_options(extra_vars=None):
        """Easyconfig parameters of a native build."""
        extra_vars = ConfigureMake.extra_options(SiteEasyBlock.extra_options(extra_vars))
        extra_vars.update({
            'stand_in': [{}, "Ports that take the place of the C programs: name (str), and file name -> sha256 of the "
                             "source archive, of the wheels (the one for the site's Python is taken), and of the "
                             "launcher", CUSTOM],
            'prgenv': [None, "Programming environment that compiles, 'amd' or 'gnu'; default: the site's", CUSTOM],
        })
        return extra_vars

    def __init__(self, *args, **kwargs):
        """Settle the site."""
        super(MPINative, self).__init__(*args, **kwargs)
        self.settle('native', APPROACHES)
        self.native = dict(self.site['native']['value'] or {})
        for key in ('mpicc', 'mpicxx', 'libmpi'):
            if self.native.get(key, '').startswith('/'):  # else a command that the modules bring
                self.native[key] = self.host_root + self.native[key]
        self.prgenv = self.cfg['prgenv'] or self.native.get('prgenv')
        if self.prgenv and not self.native.get('prgenv'):
            raise EasyBuildError("%s: site '%s' has no programming environments, found prgenv = '%s': leave it out",
                                 os.path.basename(self.cfg.path), self.site['name'], self.prgenv)
        if self.prgenv and self.prgenv == self.native['prgenv']:
            # Lmod would take the last name in the alphabet: a build with another compiler
            self.set_default_module = True
        self.ports = {}

    def fetch_step(self, *args, **kwargs):
        """
        Find or download the C source; where that fails, find what stands in for it and say so.

        Not on a site with a programming environment: the ports know no GPU, so they would be no baseline there.
        A site without native MPI fails here.
        """
        self.facts = self.or_error(native_facts, self.site, self.host_root)
        try:
            super(MPINative, self).fetch_step(*args, **kwargs)
        except EasyBuildError as err:
            if self.prgenv or not self.cfg['stand_in']:
                raise
            self.log.warning("No C source: %s", err)
            self.src = []
            sources, commands = self.cfg['sources'], self.cfg['commands']
            kept = [pair for pair in zip(sources, self.cfg['checksums']) if pair[0] in commands]
            self.fetch_sources(sources=[name for name, _ in kept], checksums=[sha256 for _, sha256 in kept])
            self.ports = self.find_ports()
            print_msg("WARNING: %s cannot be had (not in the source path, not downloaded); %s stand in for the C "
                      "programs", self.cfg['sources'][0], self.cfg['stand_in']['name'], log=self.log)

    def obtain_config_guess(self, *args, **kwargs):
        """Build for this very host: no newer config.guess is downloaded."""

    def find_ports(self):
        """Return {'archive': path, 'wheel': path, 'launcher': path} of the stand-in. Raises EasyBuildError."""
        names, tag = sorted(self.cfg['stand_in']['checksums']), python_tag(self.native['python'])
        kinds = files_of_ports(names, tag)
        if 'wheel' not in kinds:
            raise EasyBuildError("%s: no wheel for %s (%s) among %s; add its sha256 to stand_in", self.cfg.path,
                                 self.native['python'], tag, ', '.join(names))
        how = "It comes from PyPI: `make image` fetches it, or pip download --no-deps into a folder of the source path"
        return dict((kind, self.obtain_file(name, download_instructions=how)) for kind, name in kinds.items())

    def checksum_step(self):
        """Check what was found: the C source as EasyBuild does, or the files of the stand-in."""
        super(MPINative, self).checksum_step()
        for path in self.ports.values():
            wanted, found = self.cfg['stand_in']['checksums'][os.path.basename(path)], sha256_of(path)
            if found != wanted:
                raise EasyBuildError("%s has the wrong sha256: found %s, wanted %s. Download it again",
                                     path, found, wanted)

    def extract_step(self):
        """Unpack the C source; the stand-in is unpacked where it goes, commands are no archives."""
        if not self.ports:
            everything = self.src
            self.src = [source for source in everything if source['name'] not in self.cfg['commands']]
            super(MPINative, self).extract_step()
            self.src = everything

    def prepare_step(self, *args, **kwargs):
        """Load the modules of the dependencies; they must bring the compilers before anything is configured."""
        super(MPINative, self).prepare_step(*args, **kwargs)
        problems = environment_problems(self.native, self.prgenv, os.environ) if self.prgenv else []
        if problems:
            raise EasyBuildError("%s: the loaded modules are not those that site '%s' builds with: %s. Dependencies of "
                                 "the easyconfig must load them: module load %s", os.path.basename(self.cfg.path),
                                 self.site['name'], '; '.join(problems), ' '.join(modules_of(self.native, self.prgenv)))

    def configure_step(self):
        """Configure for the site's MPI compilers."""
        if not self.ports:
            self.cfg['configure_without_installdir'] = True  # EasyBuild would not quote a prefix that holds a space
            self.cfg.update('configopts', "--prefix='%s' CC='%s' CXX='%s' %s" % (
                self.installdir, self.native['mpicc'], self.native['mpicxx'], self.native.get('configopts', '')))
            super(MPINative, self).configure_step()

    def build_step(self):
        """Compile the C programs."""
        if not self.ports:
            super(MPINative, self).build_step()

    def needed_space(self):
        """Bytes (int) that the installation takes at most: seen 14 MB for the C programs, 5 MB for the ports."""
        return 50 << 20

    def fill_installdir(self, folder):
        """Install programs under folder (str) and link them in its bin."""
        if self.ports:
            install_ports(self.ports, folder, self.cfg['program_prefix'], self.native['libmpi'])
        else:
            self.cfg['installopts'] = "prefix='%s'" % folder
            ConfigureMake.install_step(self)
        self.facts['programs'] = link_programs(folder, self.cfg['program_prefix'])
        self.facts['host']['rccl_plugin'] = self.rccl_plugin()
        self.facts['prgenv'] = self.prgenv
        self.facts['programs_are'] = self.cfg['stand_in']['name'] if self.ports else self.version + ' C'

    def rccl_plugin(self):
        """Return the path (str) of RCCL's network plugin that a dependency has brought, None if none has."""
        names = [dependency['name'] for dependency in self.cfg.dependencies() if not dependency['external_module']]
        paths = [os.path.join(get_software_root(name) or '', RCCL_PLUGIN) for name in names]
        return next((path for path in paths if os.path.isfile(path)), None)

    def settings(self):
        """Settings of the module, from the facts of this run or of the installation."""
        if 'programs' not in (self.facts or {}):
            self.facts = self.recorded_facts()
        settings = self.or_error(settings_for, self.approach, self.site, self.facts)
        return settings._replace(programs=self.facts['programs'])

    def programs_are(self):
        """What the benchmark programs are (str)."""
        return self.facts['programs_are']

    def make_module_extra(self, *args, **kwargs):
        """Add what the site sets for native programs."""
        settings = self.settings()
        return super(MPINative, self).make_module_extra(*args, **kwargs) + module_text.common_text(
            self.module_generator, settings, self.name)

    def sanity_check_step(self, *args, **kwargs):
        """Check that the site's MPI and all programs are there, and that the programs are linked with what it needs."""
        self.or_error(native_facts, self.site, self.host_root)
        programs = self.settings().programs
        self.sanity_check_fail_msgs.extend(link_problems(
            os.path.join(self.installdir, 'bin'), programs, self.native.get('needed', []),
            modules_of(self.native, self.prgenv)))
        files = ['bin/' + name for name in programs + self.cfg['commands']]
        kwargs.setdefault('custom_paths', {'files': files, 'dirs': ['libexec']})
        super(MPINative, self).sanity_check_step(*args, **kwargs)
