"""
Looking: which libraries, commands, networks and file systems a system has, each with what showed it.

A fact is a dict as the site data have it (value, why, source, date, evidence), with two more keys for who reads the
report: section and note. What is not there becomes an entry of missing: what, looked (where), consequence, matters
(bool: whether a system of this kind should have it).
"""
import os
import re
import socket
from collections import OrderedDict

from osu_container.core.data.approaches import APPROACHES
from osu_container.core.reading.closure import closure
from osu_container.core.reading.elf import ElfError, elf_facts
from osu_container.core.reading.libraries import read_library, sha256_of
from osu_container.core.reading.traits import fabric_traits

LIBMPI, LIBFABRIC, LIBMPI_ABI = 'libmpi.so.12', 'libfabric.so.1', 'libmpi_abi.so.1'
#: Libraries that some approach takes from the host
INJECTED = frozenset(name for entry in APPROACHES.values() for name in entry['inject'] + entry['inject_if_known'])
#: What is asked, all at once
COMMANDS = OrderedDict([
    ('apptainer', ['apptainer', '--version']),
    ('singularity', ['singularity', '--version']),
    ('mpi', ['srun', '--mpi=list']),
    ('slurm', ['scontrol', 'show', 'config']),
    ('partitions', ['sinfo', '-h', '-o', '%P|%G']),
    ('libfabric', ['pkg-config', '--variable=libdir', 'libfabric']),
    ('mpicc', ['mpicc', '-show']),
    ('providers', ['fi_info', '-l']),
    ('glibc', ['getconf', 'GNU_LIBC_VERSION']),
    ('libraries', ['ldconfig', '-p']),
    ('nvidia', ['nvidia-smi', '--query-gpu=name,compute_cap', '--format=csv,noheader']),
    ('readelf', ['readelf', '--version']),
])
#: What it means that a command does not answer; '' where another way tells the same
WITHOUT = {
    'mpi': "which --mpi= srun has is a guess",
    'slurm': "Slurm's spool folder and whether jobs need an account are not known",
    'partitions': "which partition has GPUs is not known",
    'readelf': "libraries are not looked into, and eb refuses bind and hybrid; it is in the package binutils",
    'glibc': "the release of the C library is not known",
}
#: File systems that are the same on all nodes
SHARED = ('lustre', 'gpfs', 'nfs', 'nfs4', 'beegfs', 'ceph', 'wekafs', 'panfs', 'dvs', 'pvfs2', 'fuse.glusterfs')
#: Folders that a container has itself, or that the runtime binds
OF_SYSTEM = ('bin', 'boot', 'dev', 'etc', 'lib', 'lib64', 'mnt', 'opt', 'proc', 'root', 'run', 'sbin', 'srv', 'sys',
             'tmp', 'usr', 'var')
DEFAULT_FOLDERS = ['/lib64', '/usr/lib64', '/lib', '/usr/lib']
DEBIAN_FOLDERS = ['/lib/%s-linux-gnu', '/usr/lib/%s-linux-gnu']
#: Runtimes that the modules do not use
OTHER_RUNTIMES = ('podman-hpc', 'shifter', 'sarus', 'enroot', 'ch-run')


def newest_first(paths):
    """Return paths (list of str) by the numbers in them, the highest first."""
    return sorted(paths, key=lambda path: [int(part) for part in re.findall(r'\d+', path)], reverse=True)


class Survey(object):
    """What was found: facts (OrderedDict), missing (list of dict), libraries (files, to compare with another time)."""

    def __init__(self, host, today):
        """host: Host; today: str, ISO date."""
        self.host, self.today = host, today
        self.facts, self.missing, self.libraries = OrderedDict(), [], OrderedDict()
        #: what decides whether an absence matters
        self.cray = host.exists('/opt/cray/pe')
        self.slingshot = self.amd = self.nvidia = False
        #: by approach: sonames that the libraries which it injects need, and that are nowhere
        self.unresolved = {}

    def fact(self, key, value, why, source, evidence='measured', section='', note='', **more):
        """Keep a fact; return its value."""
        self.facts[key] = dict(more, value=value, why=why, source=source, date=self.today, evidence=evidence,
                               section=section, note=note)
        return value

    def value(self, key, default=None):
        """Return the value of a fact, default where it was not found."""
        return self.facts[key]['value'] if key in self.facts else default

    def lacks(self, what, looked, consequence, matters=True):
        """Keep that something is not there."""
        self.missing.append({'what': what, 'looked': looked, 'consequence': consequence, 'matters': bool(matters)})

    def library(self, name, candidates, why, section, soname=None, **more):
        """
        Keep the first of candidates ([(path, source)]) that is a library of soname; return its path, None without.

        Others that are there but cannot be used are remarked.
        """
        for path, source in candidates:
            problem = self.host.library_problem(path, soname)
            if problem:
                self.host.remark(problem)
            if problem is None:
                self.keep_library(name, path)
                is_in = self.host.leads_to(path)
                note = ', '.join(filter(None, [self.what_it_is(name), 'leads to %s' % is_in if is_in != path else '']))
                return self.fact('libraries.' + name, path, why, source, section=section, note=note, **more)
        return None

    def keep_library(self, name, path):
        """Read which library a file is, its size, time stamp and sha256."""
        real = self.host.at(path)
        try:
            version, build_id = read_library(real)
        except (OSError, ValueError):
            version, build_id = (None, None), None
        stat = os.stat(real)
        self.libraries[name] = {'path': path, 'size': stat.st_size, 'mtime': int(stat.st_mtime),
                                'sha256': sha256_of(real), 'build_id': build_id, 'family': version[0],
                                'release': version[1]}

    def what_it_is(self, name):
        """Return what a library says of itself (str), '' if it says nothing."""
        kept = self.libraries[name]
        return ' '.join(filter(None, [kept['family'], kept['release']]))

    # what is looked for

    def look(self):
        """Look at everything; return self."""
        host = self.host
        commands = OrderedDict(item for item in COMMANDS.items() if not (item[0] == 'libraries' and host.root))
        if host.environment.get('LMOD_CMD'):
            commands['modules'] = [host.environment['LMOD_CMD'], 'bash', '-t', 'avail']
        host.ask(commands)
        self.runtime()
        self.network_cards()
        self.mpi()
        self.libfabric()
        self.cray_libraries()
        self.gpus()
        self.pmi()
        self.slurm()
        self.file_systems()
        self.modules()
        self.system()
        self.folders()
        for key, consequence in WITHOUT.items():
            said = host.said.get(key)
            if said is not None and not said.good:
                self.lacks('`%s`' % said.command, said.problem, consequence)
        return self

    def runtime(self):
        """Container runtime: the commands that answer."""
        said = [self.host.said[name] for name in ('apptainer', 'singularity') if self.host.said[name].good]
        # below another root its own first; this machine's may have to run what is there
        said.sort(key=lambda each: not self.host.find(each.words[0]).startswith(self.host.root + '/'))
        others = [name for name in OTHER_RUNTIMES if self.host.find(name)]
        why = "starts the commands of a module in the image; the first one on PATH is taken"
        if said:
            note = '; '.join('%s: %s' % (each.words[0], each.output.strip().splitlines()[0]) for each in said
                             if each.output.strip())
            self.fact('runtime', [each.words[0] for each in said], why,
                      ', '.join('`%s`' % each.command for each in said), section='runtime', note=note)
            return
        self.fact('runtime', ['apptainer', 'singularity'], why, 'neither answers here', 'untested', 'runtime')
        found = ' (found %s, which these modules do not use)' % ', '.join(others) if others else ''
        self.lacks('container runtime', 'apptainer, singularity on PATH' + found,
                   "nothing with a container can be installed or run from here: load its module, or install it")

    def network_cards(self):
        """Interfaces, Slingshot's cards, InfiniBand."""
        host = self.host
        names = [name for name in host.names('/sys/class/net')
                 if not re.match(r'lo$|docker|veth|br-|virbr|bonding_masters|ifb|dummy|tap|tun', name)]
        if names:
            states = ['%s %s' % (name, host.text('/sys/class/net/%s/operstate' % name).strip() or 'state unknown')
                      for name in names]
            self.fact('interfaces', names, "where TCP and RCCL's meetings go", '/sys/class/net', section='network',
                      note=', '.join(states))
        else:
            self.lacks('network interfaces', '/sys/class/net', "TCP, and so pure, has no way to another node")
        cards = sorted(set(host.names('/sys/class/cxi')) | set(
            os.path.basename(path) for path in host.matching('/dev/cxi*') if re.search(r'/cxi\d+$', path)))
        hsn = [name for name in names if name.startswith('hsn')]
        self.slingshot = bool(cards or hsn or host.exists('/opt/cray/libfabric'))
        if cards:
            self.fact('cards', cards, "Slingshot's cards, which libfabric drives by its provider cxi",
                      '/sys/class/cxi, /dev/cxi*', section='network')
        else:
            self.lacks("Slingshot's cards", '/sys/class/cxi, /dev/cxi*', "on this node nothing goes over Slingshot; "
                       "login nodes often have no card: look on a compute node, srun -N1 osu-container discover"
                       if self.slingshot else "no Slingshot here: messages go over TCP", self.slingshot)
        other = host.names('/sys/class/infiniband')
        other = [name for name in other if not re.match(r'cxi|hsn', name)]
        if other:
            self.fact('infiniband', other, "InfiniBand or RoCE cards; no approach here is made for them",
                      '/sys/class/infiniband', section='network')
            self.lacks('settings for InfiniBand', '/sys/class/infiniband: ' + ', '.join(other),
                       "the file says provider tcp, which reaches them at a part of their speed; "
                       "FI_PROVIDER='verbs;ofi_rxm' may do better and was not tried")

    def mpi(self):
        """The MPI of the MPICH ABI: Cray's folder lib-abi-mpich, else an MPICH."""
        host, found, explained = self.host, [], ''
        loaded = host.variable('CRAY_MPICH_DIR').rstrip('/')
        if loaded:
            found.append(('%s/lib-abi-mpich/%s' % (loaded, LIBMPI), 'CRAY_MPICH_DIR, which the loaded module cray-mpich'
                          ' sets'))
        found += [('%s/%s' % (folder, LIBMPI), '%s, which the loaded module cray-mpich-abi sets' % name)
                  for name in ('LD_LIBRARY_PATH', 'CRAY_LD_LIBRARY_PATH') for folder in host.folders_of(name)
                  if folder.endswith('/lib-abi-mpich')]
        all_there = [path for depth in ('*', '*/*')
                     for path in host.matching('/opt/cray/pe/mpich/*/ofi/%s/lib-abi-mpich/%s' % (depth, LIBMPI))
                     if re.search(r'/mpich/\d', path)]
        # of one release that of GCC first: it needs no library of a vendor's compiler
        newest = newest_first(set(re.search(r'/mpich/([\d.]+)/', path).group(1) for path in all_there))
        ordered = [path for release in newest for path in sorted(
            newest_first([path for path in all_there if '/mpich/%s/' % release in path]),
            key=lambda path: '/gnu/' not in path)]
        if loaded:  # of the loaded release, whatever compiler
            release = re.search(r'/mpich/([\d.]+)', loaded)
            ordered.sort(key=lambda path: bool(release) and '/mpich/%s/' % release.group(1) not in path)
        if ordered:
            explained = '; %d there: %s' % (len(ordered), ', '.join(
                '/'.join(path.split('/')[5:-2]) for path in ordered)) if len(ordered) > 1 else ''
        found += [(path, '/opt/cray/pe/mpich/*/ofi/*/lib-abi-mpich; the newest, gnu before others, because no module '
                         'cray-mpich is loaded' if not loaded else 'the folder of the loaded cray-mpich has no '
                         'lib-abi-mpich, this one of /opt/cray/pe/mpich has') for path in ordered]
        if self.host.said['mpicc'].good:
            found += [('%s/%s' % (folder.rstrip('/'), LIBMPI), '`mpicc -show`')
                      for folder in re.findall(r'(?:-L|-rpath[ ,]-Wl,|-rpath,)(/[^\s,]+)', self.of_system('mpicc'))]
        found += [('%s/%s' % (folder, LIBMPI), 'LD_LIBRARY_PATH') for folder in host.folders_of('LD_LIBRARY_PATH')]
        found += [(path, '`ldconfig -p`') for path in self.in_cache(LIBMPI)]
        found += [(path, 'looked in /opt, /usr/local and /usr/lib64') for pattern in (
            '/opt/mpich/*/lib/', '/opt/mpich*/lib/', '/usr/local/lib/', '/usr/lib64/mpich/lib/',
            '/opt/intel/oneapi/mpi/*/lib/') for path in newest_first(host.matching(pattern + LIBMPI))]
        path = self.library('libmpi', found, "the host's MPI under the soname of the MPICH ABI: programs linked with "
                            "any MPICH run with it", 'MPI', LIBMPI)
        if path:
            self.facts['libraries.libmpi']['note'] += explained
            inner, outer = self.what_it_is('libmpi'), re.search(r'/pe/mpich/([\d.]+)/', path)
            if outer and not inner.startswith('Cray MPICH'):
                host.remark("the path of libmpi says Cray MPICH %s, the file says %s" % (
                    outer.group(1), inner or 'nothing'))
            if not inner and not outer:
                host.remark("%s does not say which MPI it is" % path)
            self.library('libmpi_abi', [(os.path.join(os.path.dirname(path), LIBMPI_ABI), 'the folder of libmpi')],
                         "the host's MPI under the soname of MPI 5's standard ABI, for programs linked with that",
                         'MPI', LIBMPI_ABI)
            return
        openmpi = "; mpicc is of an Open MPI, whose soname is another" if 'mpi.so.40' in ' '.join(
            self.in_cache('libmpi.so.40')) or 'openmpi' in self.of_system('mpicc') else ''
        self.lacks(LIBMPI, 'CRAY_MPICH_DIR, /opt/cray/pe/mpich, mpicc -show, LD_LIBRARY_PATH, ldconfig, /opt/mpich'
                   + openmpi, "bind and native cannot be installed; pure, hybrid and opensource do not need it. Load "
                   "the module of an MPICH, or of the vendor's MPI, and look again")

    def of_system(self, key):
        """Return what a command said, without root in paths."""
        said = self.host.said.get(key)
        text = said.output if said is not None and said.good else ''
        return text.replace(self.host.root + '/', '/') if self.host.root else text

    def in_cache(self, soname):
        """Return the paths that ldconfig's cache has for soname."""
        return re.findall(r'^\s*%s \(.*\) => (/\S+)$' % re.escape(soname), self.of_system('libraries'), re.M)

    def libfabric(self):
        """libfabric, its release and providers; the provider of the fast network."""
        host, libmpi = self.host, self.value('libraries.libmpi')
        of_mpi, others = [], []
        if libmpi:
            try:
                facts = elf_facts(host.at(libmpi))
                of_mpi = [('%s/%s' % (host.inside(os.path.normpath(folder.replace('$ORIGIN', os.path.dirname(
                    facts.path)))), LIBFABRIC), 'RUNPATH of libmpi: its own build') for folder in
                    facts.runpath or facts.rpath if LIBFABRIC in facts.needed]
            except ElfError:
                pass
        if host.said['libfabric'].good:
            folder = self.of_system('libfabric').strip()
            others.append(('%s/%s' % (folder, LIBFABRIC), '`%s`' % host.said['libfabric'].command))
        others += [('%s/%s' % (folder, LIBFABRIC), '%s, by the loaded module libfabric' % name)
                   for name in ('LD_LIBRARY_PATH', 'CRAY_LD_LIBRARY_PATH') for folder in host.folders_of(name)
                   if '/libfabric/' in folder + '/']
        there = newest_first(path for lib in ('lib64', 'lib') for path in
                             host.matching('/opt/cray/libfabric/*/%s/%s' % (lib, LIBFABRIC)))
        several = '; the newest of ' + ', '.join(path.split('/')[4] for path in there) if len(there) > 1 else ''
        others += [(path, '/opt/cray/libfabric/*' + several) for path in there]
        others += [('%s/%s' % (folder, LIBFABRIC), 'LD_LIBRARY_PATH') for folder in host.folders_of('LD_LIBRARY_PATH')]
        others += [(path, '`ldconfig -p`') for path in self.in_cache(LIBFABRIC)]
        others += [('%s/%s' % (folder, LIBFABRIC), 'folder that ld.so searches') for folder in self.searched()]
        candidates = others + of_mpi if self.cray else of_mpi + others
        path = self.library('libfabric', candidates, "the host's network library, with the providers of its network",
                            'network', LIBFABRIC)
        if not path:
            self.lacks(LIBFABRIC, 'pkg-config, LD_LIBRARY_PATH, /opt/cray/libfabric, RUNPATH of libmpi, ldconfig',
                       "bind and hybrid cannot be installed; pure and opensource bring their own")
        providers = self.providers(path) if path else []
        cards, cxi = self.value('cards', []), 'cxi' in providers
        why = "libfabric's provider for the network of this system (FI_PROVIDER)"
        if cards and (cxi or not path):
            self.fact('provider', 'cxi', why, '/sys/class/cxi, and the providers of libfabric' if cxi else
                      '/sys/class/cxi; no libfabric of the host was found, the image must have the provider',
                      'measured' if cxi else 'derived', 'network')
        elif cxi and self.slingshot:
            self.fact('provider', 'cxi', why + ": libfabric has cxi, this node has no card", 'providers of libfabric; '
                      'login nodes often have no card', 'derived', 'network')
        else:
            self.fact('provider', 'tcp', why + ": tcp is in every libfabric", 'no card of Slingshot in /sys/class/cxi'
                      if not cards else "the host's libfabric has no provider cxi for the cards", 'derived', 'network')
            if cards:
                self.lacks('provider cxi', '%s has: %s' % (path, ', '.join(providers) or 'none that is known'),
                           "bind and hybrid cannot reach the cards %s; the file says provider tcp. opensource can, "
                           "with libcxi in the image: set provider to cxi then" % ', '.join(cards))

    def providers(self, path):
        """Return the providers of the libfabric at path, kept as a fact."""
        host, said = self.host, self.host.said['providers']
        own = host.find('fi_info')
        prefix = os.path.dirname(os.path.dirname(os.path.realpath(host.at(path))))
        why = "which networks the host's libfabric can drive"
        if said.good and own and os.path.realpath(own).startswith(prefix + '/'):
            names = re.findall(r'^([\w;-]+):\s*$', said.output, re.M)
            return self.fact('providers', names, why, '`fi_info -l`', section='network')
        real = os.path.realpath(host.at(path))
        try:
            beside = os.listdir(os.path.join(os.path.dirname(real), 'libfabric'))
        except OSError:
            beside = []
        try:
            with open(real, 'rb') as handle:
                names = fabric_traits(handle.read(), beside)['providers']
        except (OSError, ValueError):
            names = []
        if names:
            self.fact('providers', names, why, 'names of functions in the file' + (
                ', files in libfabric/ beside it' if beside else ''), 'derived', 'network')
        else:
            self.lacks('providers of libfabric', 'fi_info -l; names of functions in %s' % path,
                       "whether the host's libfabric drives the network is not known")
        return names

    def cray_libraries(self):
        """libcxi, Cray PMI, PALS, xpmem: libraries beside MPI and libfabric."""
        host = self.host
        searched = self.searched()

        def usual(name):
            return [(path, '`ldconfig -p`') for path in self.in_cache(name)] + [
                ('%s/%s' % (folder, name), 'folder that ld.so searches') for folder in searched]

        if not self.library('libcxi', usual('libcxi.so.1'), "libfabric's provider cxi reaches the Slingshot card "
                            "through it", 'network', 'libcxi.so.1'):
            self.lacks('libcxi.so.1', ', '.join(searched),
                       "bind and hybrid cannot reach Slingshot, because the host's libfabric needs it; opensource "
                       "brings its own" if self.slingshot else "not needed: no Slingshot here", self.slingshot)
        prefix = host.variable('CRAY_PMI_PREFIX').rstrip('/')
        for name in ('libpmi', 'libpmi2'):
            soname = name + '.so.0'
            found = [('%s/lib/%s' % (prefix, soname), 'CRAY_PMI_PREFIX')] if prefix else []
            found += [(path, source) for pattern, source in (
                ('/opt/cray/pe/pmi/default/lib/', 'the default in /opt/cray/pe/pmi'),
                ('/opt/cray/pe/pmi/*/lib/', 'the newest in /opt/cray/pe/pmi'))
                for path in newest_first(host.matching(pattern + soname))]
            found += [('/opt/cray/pe/lib64/' + soname, 'folder of links to the default releases')] if self.cray else []
            if not self.library(name, found, "Cray MPICH finds its ranks through Cray PMI", 'PMI', soname):
                self.lacks(soname, 'CRAY_PMI_PREFIX, /opt/cray/pe/pmi, /opt/cray/pe/lib64',
                           "bind ends at start where the host's MPI needs Cray PMI; other approaches do not use it"
                           if self.cray else "not needed: no Cray MPICH here", self.cray)
        found = [('/opt/cray/pe/lib64/libpals.so.0', 'folder of links to the default releases')] + [
            (path, source) for pattern, source in (
                ('/opt/cray/pe/pals/default/lib/', 'the default in /opt/cray/pe/pals'),
                ('/opt/cray/pals/default/lib/', 'the default in /opt/cray/pals'),
                ('/opt/cray/pe/pals/*/lib/', 'the newest in /opt/cray/pe/pals'),
                ('/opt/cray/pals/*/lib/', 'the newest in /opt/cray/pals'))
            for path in newest_first(host.matching(pattern + 'libpals.so.0'))]
        if not self.library('libpals', found, "Cray PMI asks it about the launcher", 'PMI', 'libpals.so.0'):
            self.lacks('libpals.so.0', '/opt/cray/pe/lib64, /opt/cray/pals, /opt/cray/pe/pals',
                       "bind may end at start: Cray PMI opens it" if self.cray else "not needed: no Cray PMI here",
                       self.cray)
        options = re.findall(r'-L(\S+)', host.variable('CRAY_XPMEM_POST_LINK_OPTS'))
        found = [('%s/libxpmem.so.0' % folder.rstrip('/'), 'CRAY_XPMEM_POST_LINK_OPTS') for folder in options]
        found += [(path, 'the default in /opt/cray/xpmem')
                  for path in host.matching('/opt/cray/xpmem/default/lib64/libxpmem.so.0')] + usual('libxpmem.so.0')
        if not self.library('libxpmem', found, "MPI shares memory between the ranks of a node by it", 'MPI',
                            'libxpmem.so.0'):
            self.lacks('libxpmem.so.0', 'CRAY_XPMEM_POST_LINK_OPTS, /opt/cray/xpmem, ' + ', '.join(searched),
                       "ranks of one node copy twice: slower within a node in bind" if self.cray else
                       "not needed: the MPI here does without", self.cray)

    def gpus(self):
        """GPUs, ROCm or CUDA, and the GPU transport layer of Cray MPICH."""
        host, target, source = self.host, None, ''
        accelerator = re.match(r'(?:amd_(gfx\w+)|nvidia(\d+))$', host.variable('CRAY_ACCEL_TARGET'))
        versions = set()
        for node in host.names('/sys/class/kfd/kfd/topology/nodes'):
            found = re.search(r'^gfx_target_version (\d+)$',
                              host.text('/sys/class/kfd/kfd/topology/nodes/%s/properties' % node), re.M)
            if found and int(found.group(1)):
                versions.add('gfx%d%x%x' % (int(found.group(1)) // 10000, int(found.group(1)) // 100 % 100,
                                            int(found.group(1)) % 100))
        models = [re.search(r'Model:\s*(.+)', host.text('/proc/driver/nvidia/gpus/%s/information' % name))
                  for name in host.names('/proc/driver/nvidia/gpus')]
        if versions:
            target, source = sorted(versions)[0], '/sys/class/kfd/kfd/topology'
        elif accelerator:
            target = accelerator.group(1) or 'sm_' + accelerator.group(2)
            source = 'CRAY_ACCEL_TARGET, by the loaded module craype-accel-...; no GPU was seen on this node'
        elif host.said['nvidia'].good and re.search(r',\s*\d', host.said['nvidia'].output):
            name, _, capability = host.said['nvidia'].output.strip().splitlines()[0].partition(',')
            target, source = 'sm_' + capability.strip().replace('.', ''), '`nvidia-smi` (%s)' % name.strip()
        elif any(models):
            target, source = _nvidia_target(' '.join(each.group(1) for each in models if each))
        self.nvidia = bool(models or (target or '').startswith('sm_') or host.said['nvidia'].good)
        self.amd = bool((target or '').startswith('gfx'))
        if target:
            self.fact('gpu.target', target, "which GPUs programs are built for, and how buffers in their memory move",
                      source, 'derived' if accelerator and not versions else 'measured', 'GPU')
        else:
            self.lacks('GPUs', '/sys/class/kfd, CRAY_ACCEL_TARGET, /proc/driver/nvidia, nvidia-smi',
                       "treated as a system without GPUs; login nodes often have none: look on a GPU node, or load "
                       "craype-accel-..." if self.cray else "treated as a machine without GPUs", self.cray)
        self.rocm()
        self.cuda()
        self.gtl()

    def rocm(self):
        """ROCm's two libraries, of one release."""
        host = self.host
        folders = [(host.variable(name).rstrip('/'), name) for name in ('ROCM_PATH', 'CRAY_ROCM_PREFIX')
                   if host.variable(name)]
        there = newest_first(path for path in host.matching('/opt/rocm*') if re.search(r'/rocm-\d', path))
        default = host.leads_to('/opt/rocm') if host.exists('/opt/rocm') else None
        folders += [(default, '/opt/rocm')] if default else []
        folders += [(path, 'the newest of ' + ', '.join(there) if len(there) > 1 else '/opt/rocm-*') for path in there]
        for folder, source in folders:
            hsa = self.library('libhsa-runtime64', [(folder + '/lib/libhsa-runtime64.so.1', source)],
                               "Cray's GPU transport layer and libfabric open it; of the same ROCm as libamdhip64",
                               'GPU', 'libhsa-runtime64.so.1', opened_as=['libhsa-runtime64.so'])
            if hsa:
                self.fact('rocm', folder, "ROCm's libraries are one build", source, section='GPU')
                break
        else:
            self.lacks('ROCm', 'ROCM_PATH, /opt/rocm, /opt/rocm-*', "bind cannot give buffers in GPU memory to Cray "
                       "MPICH: load the module rocm" if self.amd else "not needed: no AMD GPU here", self.amd)
            return
        hip = [(path, source) for path in newest_first(host.matching(folder + '/lib/libamdhip64.so.*'))
               if re.search(r'\.so\.\d+$', path)]
        if not self.library('libamdhip64', hip, "HIP runtime of the same ROCm as libhsa-runtime64", 'GPU', None,
                            opened_as=['libamdhip64.so']):
            self.lacks('libamdhip64', folder + '/lib', "bind: the GPU transport layer has no HIP of the host")

    def cuda(self):
        """CUDA's two libraries: the runtime, which Cray's GPU transport layer needs, and the driver's."""
        host = self.host
        folders = [(host.variable(name).rstrip('/'), name) for name in (
            'CUDA_HOME', 'CUDA_PATH', 'CRAY_CUDATOOLKIT_DIR', 'CUDATOOLKIT_HOME') if host.variable(name)]
        folders += [(path, '/usr/local/cuda*') for path in newest_first(host.matching('/usr/local/cuda*'))]
        folders += [('/'.join(path.split('/')[:-2]), '/opt/nvidia/hpc_sdk') for path in newest_first(
            host.matching('/opt/nvidia/hpc_sdk/*/*/cuda/*/lib64/libcudart.so.*'))]
        found = [(path, source) for folder, source in folders
                 for path in newest_first(host.matching(folder + '/lib64/libcudart.so.*'))
                 if re.search(r'\.so\.\d+$', path)]
        runtime = self.library('libcudart', found, "CUDA runtime that Cray's GPU transport layer needs", 'GPU')
        driver = self.library('libcuda', [(path, '`ldconfig -p`') for path in self.in_cache('libcuda.so.1')] + [
            ('%s/libcuda.so.1' % folder, 'folder that ld.so searches') for folder in self.searched()],
            "CUDA's driver library, which the runtime brings along (--nv)", 'GPU', 'libcuda.so.1')
        if self.nvidia and not (runtime and driver):
            self.lacks('CUDA', 'CUDA_HOME, /usr/local/cuda, /opt/nvidia/hpc_sdk, folders of ld.so',
                       "programs for the NVIDIA GPUs need the image's, and bind cannot give buffers in GPU memory to "
                       "Cray MPICH")

    def gtl(self):
        """Cray MPICH's GPU transport layer."""
        host, libmpi = self.host, self.value('libraries.libmpi', '')
        release = re.match(r'(/opt/cray/pe/mpich/[\d.]+)/', libmpi)
        roots = [(host.variable('CRAY_MPICH_ROOTDIR').rstrip('/'), 'CRAY_MPICH_ROOTDIR'),
                 (release.group(1) if release else '', 'beside the libmpi that was chosen')]
        folders = [(value[2:].rstrip('/'), name) for name, value in sorted(
            (name, host.variable(name)) for name in host.environment if name.startswith('PE_MPICH_GTL_DIR_'))
            if value.startswith('-L/')]
        folders += [(root + '/gtl/lib', source) for root, source in roots if root]
        folders += [('/opt/cray/pe/lib64', 'folder of links to the default releases')] if self.cray else []
        found = False
        for name, why in (('libmpi_gtl_hsa', "GPU transport layer of Cray MPICH for AMD: without it buffers in GPU "
                           "memory end in an error"),
                          ('libmpi_gtl_cuda', "GPU transport layer of Cray MPICH for NVIDIA: without it buffers in "
                           "GPU memory end in an error")):
            paths = [(path, source) for folder, source in folders
                     for path in newest_first(host.matching('%s/%s.so.*' % (folder, name)))
                     if re.search(r'\.so\.\d+$', path)]
            found = bool(self.library(name, paths, why, 'GPU')) or found
        if not found:
            self.lacks('GTL (libmpi_gtl_...)', ', '.join(folder for folder, _ in folders) or 'no Cray MPICH',
                       "bind on GPU nodes ends at start (GPU support is asked for): export "
                       "MPICH_GPU_SUPPORT_ENABLED=0, or load the module cray-mpich that has it"
                       if self.amd or self.nvidia and libmpi else "not needed: no Cray MPICH with GPUs here",
                       self.amd or self.nvidia and libmpi)

    def pmi(self):
        """The --mpi= of srun, by who starts with it."""
        said = self.host.said['mpi']
        kinds = mpi_kinds(said.output) if said.good else []
        if kinds:
            self.fact('mpi kinds', kinds, "what srun can start ranks with", '`srun --mpi=list`', section='PMI')
        else:
            kinds = ['pmi2'] + (['cray_shasta'] if self.cray else [])
        family = self.libraries.get('libmpi', {}).get('family') or ''
        wanted = {'image': 'pmi2', 'Open MPI': 'pmix'}
        if 'libraries.libmpi' in self.facts:
            # a libmpi that does not say what it is, in Cray's folder, is Cray's
            of_cray = family == 'Cray MPICH' or not family and '/opt/cray/' in self.value('libraries.libmpi')
            wanted['host'] = 'cray_shasta' if of_cray else 'pmix' if family == 'Open MPI' else 'pmi2'
        chosen = OrderedDict((who, wanted[who]) for who in ('image', 'host', 'Open MPI') if wanted.get(who) in kinds)
        why = "MPICH of an image speaks PMI-2, Cray MPICH Cray PMI, Open MPI PMIx; without it each rank is alone"
        self.fact('pmi', chosen, why, '`srun --mpi=list`: %s; the host\'s MPI is %s' % (
            ', '.join(kinds), family or 'not known') if said.good else "a guess: srun does not answer here",
            'derived' if said.good else 'untested', 'PMI')
        for who, kind in sorted(wanted.items()):
            if who not in chosen:
                without = {'image': "pure, hybrid and opensource cannot be started by srun",
                           'host': "bind and native cannot be started by srun",
                           'Open MPI': "the approach openmpi cannot be started by srun"}[who]
                self.lacks('--mpi=%s' % kind, '`srun --mpi=list`: ' + (', '.join(kinds) if said.good else said.problem),
                           without, who != 'Open MPI')

    def slurm(self):
        """Slurm's spool folder, cluster, accounts, partitions."""
        settings = dict(re.findall(r'^(\w+)\s*=\s*(.*?)\s*$', self.of_system('slurm'), re.M))
        source = '`scontrol show config`'
        if settings.get('SlurmdSpoolDir'):
            self.fact('slurm.spool', settings['SlurmdSpoolDir'], "slurmd leaves there what Cray PMI reads", source,
                      section='Slurm')
        if settings.get('TmpFS'):
            self.fact('slurm.tmpfs', settings['TmpFS'], "Slurm's PMIx makes folders there in which ranks of Open MPI "
                      "meet", source, section='Slurm')
        for key, name in (('cluster', 'ClusterName'), ('release', 'SLURM_VERSION')):
            if settings.get(name):
                self.fact('slurm.' + key, settings[name], "which Slurm this is", source, section='Slurm')
        if settings:
            self.fact('slurm.account', 'associations' in settings.get('AccountingStorageEnforce', ''),
                      "whether a job must be of an account (AccountingStorageEnforce)", source, 'derived', 'Slurm')
        rows = [row.split('|') for row in self.of_system('partitions').split() if '|' in row]
        if rows:
            self.fact('slurm.partitions', rows, "partitions with their GPUs, the default one with a star",
                      '`sinfo -h -o %P|%G`', section='Slurm', note=', '.join(name for name, _ in rows))

    def file_systems(self):
        """File systems of all nodes, which programs in the container should see."""
        home = self.host.variable('HOME')
        found, skipped = [], []
        for line in self.host.text('/proc/mounts').splitlines():
            parts = line.split()
            if len(parts) < 3 or parts[2] not in SHARED or '\\' in parts[1]:
                continue
            top = '/' + parts[1].split('/')[1]
            if top[1:] in OF_SYSTEM or (home + '/').startswith(parts[1] + '/'):
                skipped.append(parts[1])
            else:
                found.append(parts[1])
        # several of one folder, as /pfs/lustrep1 to /pfs/lustrep4: the folder
        tops = ['/' + path.split('/')[1] for path in found]
        found = [top if tops.count(top) > 1 and not (home + '/').startswith(top + '/') else path
                 for top, path in zip(tops, found)]
        for name in self.host.names('/'):
            target = self.host.leads_to('/' + name)
            if target != '/' + name and any((target + '/').startswith(path + '/') or path.startswith(target + '/')
                                            for path in found) and name not in OF_SYSTEM:
                found.append('/' + name)  # as /scratch, which leads into /pfs
        if skipped:
            self.host.remark("not bound, because the runtime binds the home folder and programs of the host do not "
                             "belong into a container: %s" % ', '.join(sorted(set(skipped))))
        found = [path for path in sorted(set(found)) if not re.search(r'[\s,:|{}%]', path)]
        if found:
            self.fact('files.file_systems', found, "the users' data", '/proc/mounts, and links in / that lead there',
                      section='files')
        else:
            self.lacks('shared file systems', '/proc/mounts: ' + ', '.join(SHARED[:6]) + ', ...',
                       "only what the runtime binds itself is seen in the container: home, the current folder, /tmp")

    def modules(self):
        """Modules that would get in the way, those with wrappers, and what is loaded."""
        said = self.host.said.get('modules')
        loaded = [name for name in self.host.environment.get('LOADEDMODULES', '').split(':') if name]
        self.fact('modules.loaded', loaded, "what was loaded when this was looked at", 'LOADEDMODULES',
                  section='system')
        if said is None or not said.good:
            self.lacks('Lmod', 'LMOD_CMD' if said is None else said.problem,
                       "the modules are written for Lmod; those that set SINGULARITY_BIND too are not known")
            return
        names = sorted(set(line.strip().rstrip('/').partition('(')[0] for line in said.output.splitlines()
                           if not line.rstrip().endswith(':')))
        self.fact('modules.available', names, "modules that can be loaded", '`module -t avail`', section='')
        short = sorted(set(name.split('/')[0] for name in names))
        self.fact('conflicts', [name for name in short if re.search(
            r'(singularity|apptainer|container).*(bind|enable|userfilesystems|CPEbits)|^apptainer-enable', name)]
            # one of several modules of the runtime: as Pawsey has them
            + [name for name in names if re.match(r'(singularity|apptainer)\w*/.*-mpi$', name)],
            "modules that set SINGULARITY_BIND or APPTAINER_BIND themselves, by their names", '`module -t avail`',
            'derived', 'modules')
        self.fact('wrapper_modules', [name for name in short if 'container-wrapper' in name or name == 'tykky'],
                  "modules that may have wrap-container, by their names", '`module -t avail`', 'derived', 'modules')

    def system(self):
        """Release of the system, its C library and kernel."""
        said = self.host.said['glibc']
        if said.good:
            where = 'this machine; a tree has none of its own' if self.host.root else '`getconf GNU_LIBC_VERSION`'
            self.fact('glibc', said.output.split()[-1], "the C library that the host's libraries need; in a container "
                      "the image's must be as new", where, section='system')
        found = re.search(r'^PRETTY_NAME="?(.*?)"?$', self.host.text('/etc/os-release'), re.M)
        if found:
            self.fact('os', found.group(1), "the host's distribution", '/etc/os-release', section='system')
        kernel = os.uname().release
        self.fact('kernel', kernel, "the running kernel", 'uname -r', section='system')
        config = '/boot/config-' + kernel
        if self.host.exists(config):
            self.fact('files.kernel_config', config, "libfabric looks there whether the kernel can share GPU memory",
                      config, section='files')
        for key, path, why in (('cxi_state', '/run/cxi', "state of the cards for libcxi"),
                               ('libdrm_ids', '/usr/share/libdrm/amdgpu.ids', "names of the GPUs for ROCm's libdrm")):
            if self.host.exists(path):
                self.fact('files.' + key, path, why, path, section='files')
        slurmd = self.host.environment.get('SLURMD_NODENAME')
        self.fact('node', slurmd or socket.gethostname(), "where this was looked at",
                  'SLURMD_NODENAME' if slurmd else 'gethostname', section='system')
        self.fact('architecture', os.uname().machine, "what images must be built for", 'uname -m', section='system')

    # where libraries are searched

    def searched(self):
        """Return the folders that the host's ld.so searches: those of ld.so.conf, then its own."""
        if not hasattr(self, '_searched'):
            self._searched, seen = [], set()

            def read(path):
                if path in seen:
                    return
                seen.add(path)
                for line in self.host.text(path).splitlines():
                    line = line.partition('#')[0].strip()
                    if line.startswith('include '):
                        for pattern in line.split()[1:]:
                            if not pattern.startswith('/'):
                                pattern = os.path.dirname(path) + '/' + pattern
                            for name in self.host.matching(pattern):
                                read(name)
                    elif line.startswith('/'):
                        self._searched.append(line.rstrip('/'))

            read('/etc/ld.so.conf')
            more = ['/opt/cray/pe/lib64', '/opt/amdgpu/lib64'] + [
                folder % os.uname().machine for folder in DEBIAN_FOLDERS] + DEFAULT_FOLDERS
            self._searched += [folder for folder in more if folder not in self._searched and (
                self.host.exists(folder) or folder in DEFAULT_FOLDERS)]
            self._searched = [folder for number, folder in enumerate(self._searched)
                              if folder not in self._searched[:number] and not re.search(r'[\s,:{}]', folder)]
        return self._searched

    def folders(self):
        """The folders for dependencies; those that hold a dependency and are not searched by default are added."""
        host, source = self.host, '/etc/ld.so.conf'
        folders = list(self.searched())
        rocm = self.value('rocm')
        if rocm and rocm + '/lib' not in folders:
            folders.append(rocm + '/lib')
        more = [folder for name in ('LD_LIBRARY_PATH', 'CRAY_LD_LIBRARY_PATH') for folder in host.folders_of(name)]
        more += [rocm + '/llvm/lib', rocm + '/lib/llvm/lib'] if rocm else []
        more += ['/opt/cray/pe/gcc-libs', '/opt/cray/pe/gcc-libs/default']
        starts = [host.at(kept['path']) for name, kept in self.libraries.items() if name in INJECTED]
        named = set(os.path.basename(path) for path in starts)
        for _ in range(10):  # each round adds a folder
            search = [host.at(folder) for folder in folders] + (folders if host.root else [])
            try:
                missing = closure(starts, search, lambda soname: soname in named)[1] if starts else []
            except ElfError as err:
                host.remark("dependencies are not known: %s" % err)
                break
            new = [folder for soname, _ in missing for folder in more
                   if folder not in folders and os.path.isfile(host.at('%s/%s' % (folder, soname)))]
            if not new:
                for soname, facts in missing:
                    self.lacks_dependency(soname, host.inside(facts.path))
                self.unresolved = self.by_approach(search) if missing else {}
                break
            folders.append(new[0])
            source = '/etc/ld.so.conf, and where the loaded modules have what is needed'
        self.fact('library_folders', folders, "where dependencies of the injected libraries are looked for", source,
                  section='files')


    def lacks_dependency(self, soname, by):
        """Keep that soname, which the library by (path) needs, is nowhere: eb refuses to inject that library."""
        refused = "%s needs it: eb refuses approaches that inject that, unless the image has %s" % (by, soname)
        for entry in self.missing:
            if entry['what'].partition('.so')[0] == soname.partition('.so')[0]:
                entry.update(consequence=entry['consequence'] + '; ' + refused, matters=True)
                return
        self.lacks(soname, 'folders of ld.so, LD_LIBRARY_PATH', refused)

    def by_approach(self, search):
        """Return {approach: sonames (list of str) that its injected libraries need and that are nowhere}."""
        found = {}
        for name, entry in APPROACHES.items():
            starts = [self.host.at(self.libraries[library]['path'])
                      for library in entry['inject'] + entry['inject_if_known'] if library in self.libraries]
            if starts:
                found[name] = sorted(set(soname for soname, _ in closure(starts, search, lambda soname: False)[1]))
        return found


def mpi_kinds(text):
    """Return the kinds (list of str) that `srun --mpi=list` names, of any release of Slurm."""
    found = []
    for line in text.splitlines():
        line = re.sub(r'^srun:\s*', '', line).strip()
        listed = re.match(r'specific pmix plugin versions available:\s*(.*)', line)
        names = re.split(r'[,\s]+', listed.group(1)) if listed else [line] if re.match(r'\w+$', line) else []
        found += [name for name in names if name and name not in found]
    return found


def _nvidia_target(model):
    """Return (architecture, source) of an NVIDIA GPU by its model (str), (None, '') for one that is not listed."""
    for name, target in (('A100', 'sm_80'), ('H100', 'sm_90'), ('H200', 'sm_90'), ('GH200', 'sm_90'), ('V100', 'sm_70'),
                         ('L40', 'sm_89'), ('B200', 'sm_100')):
        if name in model:
            return target, '/proc/driver/nvidia/gpus (%s)' % model.strip()
    return None, ''
