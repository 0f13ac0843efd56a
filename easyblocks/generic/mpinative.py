"""
EasyBuild support for building MPI benchmarks with the host's MPI, implemented as an easyblock.

They are the baseline that containers are compared with.
"""

import os
import sys
from typing import Any, Dict, List, Optional

from easybuild.easyblocks.generic.configuremake import ConfigureMake
from easybuild.tools.build_log import EasyBuildError, print_msg
from easybuild.tools.modules import get_software_root

# EasyBuild and `make lumi` link to this file: its real path is in the clone, which has the package
# osu_container. pip adds the package to Python's path instead. See docs/design.md, "How the
# easyblocks find their package".
CLONE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
if os.path.isdir(os.path.join(CLONE, 'osu_container')):
    sys.path.insert(0, CLONE)
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
        "%s cannot find its package: %s, looked for in %s and on Python's path. Do "
        "not copy this file: add its path in the clone to "
        "EASYBUILD_INCLUDE_EASYBLOCKS (`make lumi` does so; repeat it after moving "
        "the clone), or run `pip install CLONE`" % (os.path.realpath(__file__), err, CLONE)
    )


PORTS_LABEL = 'mpi4py %s ports' % MPI4PY_VERSION


class MPINative(SiteEasyBlock, ConfigureMake):
    """
    Build C benchmarks with the site's MPI compilers.

    On a site with Cray's programming environment these are cc and CC, which the modules of the
    dependencies provide. On other sites mpi4py's ports of the benchmarks are installed if the
    archive of the C benchmarks is not available.
    """

    @staticmethod
    def extra_options(extra_vars: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
        """
        Return the easyconfig parameters of a native build.

        Overridden because EasyBuild rejects parameters that it does not know.
        """
        return dict(ConfigureMake.extra_options(SiteEasyBlock.extra_options(extra_vars)))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """
        Resolve the site and its programming environment.

        Overridden so that an impossible combination fails before any step writes a file.
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
        """Raise EasyBuildError if another easyconfig is for the software stack of the site."""
        name = 'osu-native-%s-%s.eb' % (self.version, self.site['name'])
        path = os.path.join(find_easyconfigs(), 'o', 'osu-native', name)
        if os.path.isfile(path) and not is_site_file(self.cfg['site']):
            raise EasyBuildError(
                '%s does not load the modules of this software stack. Install instead: eb %s -r',
                os.path.basename(self.cfg.path),
                name,
            )

    def fetch_step(self, *args: Any, **kwargs: Any) -> None:
        """
        Find or download the C source, or find mpi4py's wheel for the ports with a warning.

        Overridden because without the C source the ports are built. On a site with a programming
        environment that is an error: the ports do not support GPUs, so they are no baseline there.
        A site without native MPI fails here.
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
        Download nothing.

        Overridden because the programs are built for this host, which needs no newer config.guess.
        """

    def find_mpi4py_wheel(self) -> str:
        """Return the path of mpi4py's wheel for the site's Python. Raises EasyBuildError."""
        source = self.translate_errors(select_mpi4py_wheel, self.native['python'], SOURCES)
        path = self.obtain_file(
            source['file'],
            download_instructions='Download it from PyPI: run `make image`, or pip download '
            '--no-deps into a folder of the source path',
        )
        self.translate_errors(check_source, path, source['sha256'], named=False)
        return str(path)

    def extract_step(self) -> None:
        """
        Unpack the C source.

        Overridden because the ports have no C source.
        """
        if not self.mpi4py_wheel:
            super().extract_step()

    def prepare_step(self, *args: Any, **kwargs: Any) -> None:
        """
        Load the modules of the dependencies, and check that they provide the compilers.

        Overridden because configure would silently use other compilers.
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
                "%s: the loaded modules are not those that site '%s' builds with: %s. Add "
                "them to the dependencies of the easyconfig: module load %s",
                os.path.basename(self.cfg.path),
                self.site['name'],
                '; '.join(problems),
                ' '.join(self.native['modules']),
            )

    def make_module_dep(self, *args: Any, **kwargs: Any) -> str:
        """
        Load the modules of the site that are no dependencies of the easyconfig as well.

        Overridden because EasyBuild loads dependencies only.
        """
        return super().make_module_dep(*args, **kwargs) + '\n'.join(
            self.module_generator.load_module(name) for name in self.modules_of_site
        )

    def configure_step(self) -> None:
        """
        Configure for the site's MPI compilers.

        Overridden because the compilers are those of the site, and the ports need no configure.
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
        Compile the C programs.

        Overridden because the ports need no compiler.
        """
        if not self.mpi4py_wheel:
            super().build_step()

    def estimate_space(self) -> int:
        """
        Return the bytes that the installation needs at most.

        Seen were 14 MB for the C programs, 5 MB for the ports.
        """
        return 50 << 20

    def fill_installdir(self, folder: str) -> None:
        """Install the programs in `folder` and link them in its bin."""
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
        """Return the path of the RCCL network plugin of a dependency, None without one."""
        names = [
            dependency['name']
            for dependency in self.cfg.dependencies()
            if not dependency['external_module']
        ]
        paths = [os.path.join(get_software_root(name) or '', RCCL_PLUGIN) for name in names]
        return next((path for path in paths if os.path.isfile(path)), None)

    def resolve_settings(self) -> Settings:
        """Return the settings of the module, from facts of this run or of the installation."""
        if 'programs' not in self.facts:
            self.facts = self.read_recorded_facts()
        return self.build_module_settings()._replace(programs=self.facts['programs'])

    def describe_programs(self) -> str:
        """Return which benchmarks the programs are."""
        return str(self.facts['programs_are'])

    def sanity_check_step(self, *args: Any, **kwargs: Any) -> None:
        """
        Check the site's MPI, the programs, and what the programs are linked with.

        Overridden because EasyBuild does not know which programs there are.
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
