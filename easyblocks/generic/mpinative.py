"""
EasyBuild support for building MPI benchmarks with the host's MPI, implemented as an easyblock.

The speed of these native benchmarks is the baseline with which containers are compared.
"""

import os
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional

from easybuild.easyblocks.generic.configuremake import ConfigureMake
from easybuild.tools.build_log import EasyBuildError, print_msg
from easybuild.tools.modules import get_software_root

# EasyBuild and `make lumi` link to this file: its real path is in the clone, which has the package
# osu_container. pip adds the package to Python's path instead. See docs/design.md, "How the
# easyblocks find their package".
CLONE = Path(__file__).resolve().parents[2]
if (CLONE / 'osu_container').is_dir():
    sys.path.insert(0, str(CLONE))
try:
    from osu_container.base.places import SCRIPTS, find_easyconfigs
    from osu_container.build.recipes.versions import MPI4PY_VERSION, SOURCES
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
        select_mpi4py_wheel,
    )
    from osu_container.verdict.facts import read_native_facts
    from osu_container.verdict.settings import Settings
except ImportError as err:
    raise ImportError(
        "the easyblock %s cannot find the Python package osu_container: %s. Python searched %s and "
        "sys.path. Do not copy the easyblock: add the path of the easyblock in your clone of "
        "osu-container to EASYBUILD_INCLUDE_EASYBLOCKS (`make lumi` does so; run `make lumi` again "
        "after moving the clone), or run `pip install CLONE`"
        % (os.path.realpath(__file__), err, CLONE)
    )


PORTS_LABEL = 'mpi4py %s ports' % MPI4PY_VERSION


class MPINative(SiteEasyBlock, ConfigureMake):
    """
    Build the OSU benchmarks in C with the site's MPI compilers.

    On a site with Cray's programming environment, the compilers are cc and CC. The modules in the
    dependencies of the easyconfig provide these compilers. On other sites, this class installs
    mpi4py ports of the benchmarks if the archive of the C benchmarks is not available.
    """

    @staticmethod
    def extra_options(extra_vars: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
        """
        Return the easyconfig parameters that only this easyblock understands.

        Overridden because EasyBuild rejects unknown parameters in an easyconfig.
        """
        return dict(ConfigureMake.extra_options(SiteEasyBlock.extra_options(extra_vars)))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """
        Find the site of the easyconfig, and the programming environment of the site.

        Some sites have a separate easyconfig, osu-native-VERSION-SITE.eb, which loads modules. On
        such a site, an easyconfig without modules fails before a file is written.
        """
        super().__init__(*args, **kwargs)
        self.resolve_site_approach('native', APPROACHES)
        self.native = dict(self.site['native']['value'] or {})
        for key in ('mpicc', 'mpicxx', 'libmpi'):
            if self.native.get(key, '').startswith(
                '/'
            ):  # otherwise a command that the modules provide
                self.native[key] = self.host_root + self.native[key]
        modules = [
            dependency['full_mod_name']
            for dependency in self.cfg.dependencies()
            if dependency['external_module']
        ]
        if not modules:
            self.refuse_other_stack()
        # Modules that are no dependencies, on a site that only a site file of the user describes.
        self.modules_of_site = [] if modules else self.native.get('modules', [])
        self.prgenv = find_prgenv(modules or self.modules_of_site)
        if self.prgenv and self.prgenv == self.native.get('prgenv'):
            # By default Lmod loads the last name in the alphabet: a build with another compiler.
            self.set_default_module = True
        #: Path of mpi4py's wheel if the mpi4py ports are installed instead of the C programs
        self.mpi4py_wheel = ''

    def refuse_other_stack(self) -> None:
        """
        Raise EasyBuildError if this project has a separate easyconfig for the site.

        The separate easyconfig, osu-native-VERSION-SITE.eb, loads the modules of the site's
        software stack.
        """
        name = 'osu-native-%s-%s.eb' % (self.version, self.site['name'])
        path = os.path.join(find_easyconfigs(), 'o', 'osu-native', name)
        if os.path.isfile(path) and not is_site_file(self.cfg['site']):
            raise EasyBuildError(
                'the easyconfig %s does not load the modules that a build for this software stack '
                'needs. Use the easyconfig for this software stack: eb %s -r',
                os.path.basename(self.cfg.path),
                name,
            )

    def fetch_step(self, *args: Any, **kwargs: Any) -> None:
        """
        Find or download the archive of the C benchmarks.

        Overridden because a missing archive is no error on most sites: this step then prints a
        warning and finds mpi4py's wheel, and later steps install mpi4py ports (Python versions) of
        the benchmarks. On a site with Cray's programming environment, a missing archive is an
        error, because the mpi4py ports do not support GPUs and are no baseline for containers.
        On a site without a host MPI this step fails.
        """
        self.facts = self.translate_errors(read_native_facts, self.site, self.host_root)
        try:
            super().fetch_step(*args, **kwargs)
        except EasyBuildError as err:
            if self.prgenv:
                raise
            self.log.warning("No C source: %s", err)
            self.src: List[Any] = []
            self.mpi4py_wheel = self.find_mpi4py_wheel()
            print_msg(
                'WARNING: %s is not available (not in the source path, download failed); '
                'installing %s instead of the C programs',
                self.cfg['sources'][0],
                PORTS_LABEL,
                log=self.log,
            )

    def obtain_config_guess(self, *args: Any, **kwargs: Any) -> None:
        """
        Do nothing, so that EasyBuild does not download a newer script config.guess.

        Overridden because a build for this host works with the config.guess in the archive.
        """

    def find_mpi4py_wheel(self) -> str:
        """
        Return the path of mpi4py's wheel for the site's Python.

        Raises EasyBuildError if the wheel is not available.
        """
        source = self.translate_errors(select_mpi4py_wheel, self.native['python'], SOURCES)
        path = self.obtain_file(
            source['file'],
            download_instructions='Download the wheel of mpi4py from PyPI: run `make image`, or run '
            '`pip download --no-deps mpi4py==RELEASE` in a folder of the source path',
        )
        self.translate_errors(check_source, path, source['sha256'], named=False)
        return str(path)

    def extract_step(self) -> None:
        """
        Unpack the archive of the C benchmarks; do nothing if mpi4py ports are installed.

        Overridden because the mpi4py ports have no archive.
        """
        if not self.mpi4py_wheel:
            super().extract_step()

    def prepare_step(self, *args: Any, **kwargs: Any) -> None:
        """
        Load the modules in the dependencies, and check that the modules provide the compilers.

        Overridden because configure would silently use other compilers if the modules provided
        no compilers.
        """
        super().prepare_step(*args, **kwargs)
        self.modules_tool.load(self.modules_of_site)
        problems = (
            find_environment_problems(self.native, self.prgenv, os.environ)
            if self.native.get('prgenv')
            else []
        )
        if problems:
            raise EasyBuildError(
                "%s: the loaded modules are not the modules with which site '%s' builds: %s. Add these "
                "modules to the dependencies of the easyconfig: %s",
                os.path.basename(self.cfg.path),
                self.site['name'],
                '; '.join(problems),
                ' '.join(self.native['modules']),
            )

    def make_module_dep(self, *args: Any, **kwargs: Any) -> str:
        """
        Return the lines of the modulefile that load other modules.

        Overridden because the modulefile of an easyconfig without dependencies must load the
        modules that are listed in the site data.
        """
        return super().make_module_dep(*args, **kwargs) + '\n'.join(
            self.module_generator.load_module(name) for name in self.modules_of_site
        )

    def configure_step(self) -> None:
        """
        Run the configure script of the C benchmarks with the site's MPI compilers.

        Overridden because the names of the compilers come from the site data. The mpi4py ports
        (Python versions of the benchmarks) need no configure script.
        """
        if not self.mpi4py_wheel:
            # EasyBuild does not quote a prefix with a space.
            self.cfg['configure_without_installdir'] = True
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
            super().configure_step()

    def build_step(self) -> None:
        """
        Compile the C benchmarks; do nothing if mpi4py ports are installed.

        Overridden because the mpi4py ports are Python programs, which need no compiler.
        """
        if not self.mpi4py_wheel:
            super().build_step()

    def estimate_space(self) -> int:
        """
        Return the maximum number of bytes of disk space that the installation needs.

        The C programs needed 14 MB and the mpi4py ports needed 5 MB (measured).
        """
        return 50 << 20

    def fill_installdir(self, folder: str) -> None:
        """Install the benchmarks in `folder`, and create links to the programs in `folder`/bin."""
        if self.mpi4py_wheel:
            install_ports(
                self.mpi4py_wheel,
                os.path.join(SCRIPTS, 'osu-port'),
                folder,
                self.native['libmpi'],
            )
        else:
            self.cfg['installopts'] = "prefix='%s'" % folder
            ConfigureMake.install_step(self)
        self.facts['programs'] = link_programs(folder, self.cfg['program_prefix'])
        self.facts['host']['rccl_plugin'] = self.find_rccl_plugin()
        self.facts['prgenv'] = self.prgenv
        self.facts['programs_are'] = PORTS_LABEL if self.mpi4py_wheel else self.version + ' C'

    def find_rccl_plugin(self) -> Optional[str]:
        """
        Return the path of the RCCL network plugin that a dependency of the easyconfig provides.

        The result is None if no dependency provides the plugin.
        """
        names = [
            dependency['name']
            for dependency in self.cfg.dependencies()
            if not dependency['external_module']
        ]
        paths = [os.path.join(get_software_root(name) or '', RCCL_PLUGIN) for name in names]
        return next((path for path in paths if os.path.isfile(path)), None)

    def resolve_settings(self) -> Settings:
        """
        Return the settings of the module, which are derived from facts about the host.

        If this run has collected no facts, the facts that an earlier installation has recorded are
        used.
        """
        if 'programs' not in self.facts:
            self.facts = self.read_recorded_facts()
        return self.build_module_settings()._replace(programs=self.facts['programs'])

    def describe_programs(self) -> str:
        """Return the release and the kind of the benchmarks as text, such as '7.5 C'."""
        return str(self.facts['programs_are'])

    def sanity_check_step(self, *args: Any, **kwargs: Any) -> None:
        """
        Check the host MPI, the installed programs, and the libraries linked to the programs.

        Overridden because EasyBuild does not know which programs the installation contains.
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
        super().sanity_check_step(*args, **kwargs)
