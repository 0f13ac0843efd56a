"""Looking at the system: container runtime, Slurm, file systems of all nodes, modules, folders of libraries, node."""
import os
import re
import socket

from osu_container.core.data.approaches import APPROACHES
from osu_container.core.reading.closure import closure
from osu_container.core.reading.elf import ElfError

#: File systems that are the same on all nodes
SHARED = ('lustre', 'gpfs', 'nfs', 'nfs4', 'beegfs', 'ceph', 'wekafs', 'panfs', 'dvs', 'pvfs2', 'fuse.glusterfs')
#: Folders that a container has itself, or that the runtime binds
OF_SYSTEM = ('bin', 'boot', 'dev', 'etc', 'lib', 'lib64', 'mnt', 'opt', 'proc', 'root', 'run', 'sbin', 'srv', 'sys',
             'tmp', 'usr', 'var')
#: Runtimes that the modules do not use
OTHER_RUNTIMES = ('podman-hpc', 'shifter', 'sarus', 'enroot', 'ch-run')
DEFAULT_FOLDERS = ['/lib64', '/usr/lib64', '/lib', '/usr/lib']
DEBIAN_FOLDERS = ['/lib/%s-linux-gnu', '/usr/lib/%s-linux-gnu']
#: Libraries that some approach takes from the host
INJECTED = frozenset(name for entry in APPROACHES.values() for name in entry['inject'] + entry['inject_if_known'])


def runtime(survey):
    """Container runtime: the commands that answer."""
    said = [survey.host.said[name] for name in ('apptainer', 'singularity') if survey.host.said[name].good]
    # below another root its own first; this machine's may have to run what is there
    said.sort(key=lambda each: not survey.host.find(each.words[0]).startswith(survey.host.root + '/'))
    others = [name for name in OTHER_RUNTIMES if survey.host.find(name)]
    why = "starts the commands of a module in the image; the first one on PATH is taken"
    if said:
        note = '; '.join('%s: %s' % (each.words[0], each.output.strip().splitlines()[0]) for each in said
                         if each.output.strip())
        survey.fact('runtime', [each.words[0] for each in said], why,
                  ', '.join('`%s`' % each.command for each in said), section='runtime', note=note)
        return
    survey.fact('runtime', ['apptainer', 'singularity'], why, 'neither answers here', 'untested', 'runtime')
    found = ' (found %s, which these modules do not use)' % ', '.join(others) if others else ''
    survey.lacks('container runtime', 'apptainer, singularity on PATH' + found,
               "nothing with a container can be installed or run from here: load its module, or install it")


def slurm(survey):
    """Slurm's spool folder, cluster, accounts, partitions."""
    settings = dict(re.findall(r'^(\w+)\s*=\s*(.*?)\s*$', survey.of_system('slurm'), re.M))
    source = '`scontrol show config`'
    if settings.get('SlurmdSpoolDir'):
        survey.fact('slurm.spool', settings['SlurmdSpoolDir'], "slurmd leaves there what Cray PMI reads", source,
                  section='Slurm')
    if settings.get('TmpFS'):
        survey.fact('slurm.tmpfs', settings['TmpFS'], "Slurm's PMIx makes folders there in which ranks of Open MPI "
                  "meet", source, section='Slurm')
    for key, name in (('cluster', 'ClusterName'), ('release', 'SLURM_VERSION')):
        if settings.get(name):
            survey.fact('slurm.' + key, settings[name], "which Slurm this is", source, section='Slurm')
    if settings:
        survey.fact('slurm.account', 'associations' in settings.get('AccountingStorageEnforce', ''),
                  "whether a job must be of an account (AccountingStorageEnforce)", source, 'derived', 'Slurm')
    rows = [row.split('|') for row in survey.of_system('partitions').split() if '|' in row]
    if rows:
        survey.fact('slurm.partitions', rows, "partitions with their GPUs, the default one with a star",
                  '`sinfo -h -o %P|%G`', section='Slurm', note=', '.join(name for name, _ in rows))


def file_systems(survey):
    """File systems of all nodes, which programs in the container should see."""
    host = survey.host
    found, skipped = _shared_mounts(host)
    found = _in_one_folder(found, host.variable('HOME'))
    found += _links_into(host, found)
    if skipped:
        host.remark("not bound, because the runtime binds the home folder and programs of the host do not "
                    "belong into a container: %s" % ', '.join(sorted(set(skipped))))
    found = [path for path in sorted(set(found)) if not re.search(r'[\s,:|{}%]', path)]
    if found:
        survey.fact('files.file_systems', found, "the users' data", '/proc/mounts, and links in / that lead there',
                    section='files')
    else:
        survey.lacks('shared file systems', '/proc/mounts: ' + ', '.join(SHARED[:6]) + ', ...',
                     "only what the runtime binds itself is seen in the container: home, the current folder, /tmp")


def _shared_mounts(host):
    """Return (mount points to bind, those to leave out: of the system or with the home folder), lists of str."""
    found, skipped, home = [], [], host.variable('HOME') + '/'
    for line in host.text('/proc/mounts').splitlines():
        parts = line.split()
        if len(parts) < 3 or parts[2] not in SHARED or '\\' in parts[1]:
            continue
        of_system = parts[1].split('/')[1] in OF_SYSTEM or home.startswith(parts[1] + '/')
        (skipped if of_system else found).append(parts[1])
    return found, skipped


def _in_one_folder(paths, home):
    """Return paths (list of str), several of one folder, as /pfs/lustrep1 to /pfs/lustrep4, as the folder."""
    tops = ['/' + path.split('/')[1] for path in paths]
    return [top if tops.count(top) > 1 and not (home + '/').startswith(top + '/') else path
            for top, path in zip(tops, paths)]


def _links_into(host, paths):
    """Return the links in / (list of str) that lead into one of paths, or to where one lies: as /scratch into /pfs."""
    known, found = list(paths), []
    for name in host.names('/'):
        link, target = '/' + name, host.leads_to('/' + name)
        near = any((target + '/').startswith(path + '/') or path.startswith(target + '/') for path in known)
        if target != link and near and name not in OF_SYSTEM:
            found.append(link)
            known.append(link)
    return found


def modules(survey):
    """Modules that would get in the way, those with wrappers, and what is loaded."""
    said = survey.host.said.get('modules')
    loaded = [name for name in survey.host.environment.get('LOADEDMODULES', '').split(':') if name]
    survey.fact('modules.loaded', loaded, "what was loaded when this was looked at", 'LOADEDMODULES',
              section='system')
    if said is None or not said.good:
        survey.lacks('Lmod', 'LMOD_CMD' if said is None else said.problem,
                   "the modules are written for Lmod; those that set SINGULARITY_BIND too are not known")
        return
    names = sorted(set(line.strip().rstrip('/').partition('(')[0] for line in said.output.splitlines()
                       if not line.rstrip().endswith(':')))
    survey.fact('modules.available', names, "modules that can be loaded", '`module -t avail`', section='')
    short = sorted(set(name.split('/')[0] for name in names))
    survey.fact('conflicts', [name for name in short if re.search(
        r'(singularity|apptainer|container).*(bind|enable|userfilesystems|CPEbits)|^apptainer-enable', name)]
        # one of several modules of the runtime: as Pawsey has them
        + [name for name in names if re.match(r'(singularity|apptainer)\w*/.*-mpi$', name)],
        "modules that set SINGULARITY_BIND or APPTAINER_BIND themselves, by their names", '`module -t avail`',
        'derived', 'modules')
    survey.fact('wrapper_modules', [name for name in short if 'container-wrapper' in name or name == 'tykky'],
              "modules that may have wrap-container, by their names", '`module -t avail`', 'derived', 'modules')


def node(survey):
    """Release of the system, its C library and kernel, name of the node."""
    said = survey.host.said['glibc']
    if said.good:
        where = 'this machine; a tree has none of its own' if survey.host.root else '`getconf GNU_LIBC_VERSION`'
        survey.fact('glibc', said.output.split()[-1], "the C library that the host's libraries need; in a container "
                  "the image's must be as new", where, section='system')
    found = re.search(r'^PRETTY_NAME="?(.*?)"?$', survey.host.text('/etc/os-release'), re.M)
    if found:
        survey.fact('os', found.group(1), "the host's distribution", '/etc/os-release', section='system')
    kernel = os.uname().release
    survey.fact('kernel', kernel, "the running kernel", 'uname -r', section='system')
    config = '/boot/config-' + kernel
    if survey.host.exists(config):
        survey.fact('files.kernel_config', config, "libfabric looks there whether the kernel can share GPU memory",
                  config, section='files')
    for key, path, why in (('cxi_state', '/run/cxi', "state of the cards for libcxi"),
                           ('libdrm_ids', '/usr/share/libdrm/amdgpu.ids', "names of the GPUs for ROCm's libdrm")):
        if survey.host.exists(path):
            survey.fact('files.' + key, path, why, path, section='files')
    slurmd = survey.host.environment.get('SLURMD_NODENAME')
    survey.fact('node', slurmd or socket.gethostname(), "where this was looked at",
              'SLURMD_NODENAME' if slurmd else 'gethostname', section='system')
    survey.fact('architecture', os.uname().machine, "what images must be built for", 'uname -m', section='system')


def searched(host):
    """Return the folders (list of str) that the ld.so of a Host searches: those of ld.so.conf, then its own."""
    found = _configured(host, '/etc/ld.so.conf', set())
    more = ['/opt/cray/pe/lib64', '/opt/amdgpu/lib64'] + [
        folder % os.uname().machine for folder in DEBIAN_FOLDERS] + DEFAULT_FOLDERS
    found += [folder for folder in more if folder not in found and (host.exists(folder) or folder in DEFAULT_FOLDERS)]
    return [folder for number, folder in enumerate(found)
            if folder not in found[:number] and not re.search(r'[\s,:{}]', folder)]


def _configured(host, path, seen):
    """Return the folders (list of str) that a file as ld.so.conf names, with those it includes; seen: set of paths."""
    found = []
    if path in seen:
        return found
    seen.add(path)
    for line in host.text(path).splitlines():
        line = line.partition('#')[0].strip()
        if line.startswith('include '):
            for pattern in line.split()[1:]:
                if not pattern.startswith('/'):
                    pattern = os.path.dirname(path) + '/' + pattern
                for name in host.matching(pattern):
                    found += _configured(host, name, seen)
        elif line.startswith('/'):
            found.append(line.rstrip('/'))
    return found


def folders(survey):
    """The folders for dependencies; those that hold a dependency and are not searched by default are added."""
    found, rocm = list(survey.searched()), survey.value('rocm')
    if rocm and rocm + '/lib' not in found:
        found.append(rocm + '/lib')
    source = '/etc/ld.so.conf'
    if _add_needed(survey, found):
        source += ', and where the loaded modules have what is needed'
    survey.fact('library_folders', found, "where dependencies of the injected libraries are looked for", source,
                section='files')


def _add_needed(survey, found):
    """Add folders that hold what the injected libraries lack to found (list of str); return whether there was one."""
    host, more, before = survey.host, _other_folders(survey), len(found)
    starts = [host.at(kept['path']) for name, kept in survey.libraries.items() if name in INJECTED]
    named = set(os.path.basename(path) for path in starts)
    for _ in range(10):  # each round adds a folder
        search = [host.at(folder) for folder in found] + (found if host.root else [])
        try:
            missing = closure(starts, search, lambda soname: soname in named)[1] if starts else []
        except ElfError as err:
            host.remark("dependencies are not known: %s" % err)
            break
        new = [folder for soname, _ in missing for folder in more
               if folder not in found and host.is_file('%s/%s' % (folder, soname))]
        if not new:
            for soname, facts in missing:
                _lacks_dependency(survey, soname, host.inside(facts.path))
            survey.unresolved = _by_approach(survey, search) if missing else {}
            break
        found.append(new[0])
    return len(found) > before


def _other_folders(survey):
    """Return folders (list of str) that may hold dependencies: of loaded modules, ROCm's and GCC's."""
    rocm = survey.value('rocm')
    found = [folder for name in ('LD_LIBRARY_PATH', 'CRAY_LD_LIBRARY_PATH') for folder in survey.host.folders_of(name)]
    found += [rocm + '/llvm/lib', rocm + '/lib/llvm/lib'] if rocm else []
    return found + ['/opt/cray/pe/gcc-libs', '/opt/cray/pe/gcc-libs/default']


def _lacks_dependency(survey, soname, by):
    """Keep that soname, which the library by (path) needs, is nowhere: eb refuses to inject that library."""
    refused = "%s needs it: eb refuses approaches that inject that, unless the image has %s" % (by, soname)
    for entry in survey.missing:
        if entry['what'].partition('.so')[0] == soname.partition('.so')[0]:
            entry.update(consequence=entry['consequence'] + '; ' + refused, matters=True)
            return
    survey.lacks(soname, 'folders of ld.so, LD_LIBRARY_PATH', refused)


def _by_approach(survey, search):
    """Return {approach: sonames (list of str) that its injected libraries need and that are nowhere}."""
    found = {}
    for name, entry in APPROACHES.items():
        starts = [survey.host.at(survey.libraries[library]['path'])
                  for library in entry['inject'] + entry['inject_if_known'] if library in survey.libraries]
        if starts:
            found[name] = sorted(set(soname for soname, _ in closure(starts, search, lambda soname: False)[1]))
    return found
