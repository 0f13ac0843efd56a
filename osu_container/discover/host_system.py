"""
Looking at the system: container runtime, Slurm, file systems of all nodes, modules, folders of
libraries, node.
"""

import os
import re
import socket

from osu_container.data.approaches import APPROACHES
from osu_container.image.closure import collect_dependencies
from osu_container.image.elf import ElfError

#: File systems that are the same on all nodes
SHARED_FILE_SYSTEMS = (
    'lustre',
    'gpfs',
    'nfs',
    'nfs4',
    'beegfs',
    'ceph',
    'wekafs',
    'panfs',
    'dvs',
    'pvfs2',
    'fuse.glusterfs',
)
#: Folders that a container has itself, or that the runtime binds
SYSTEM_FOLDERS = (
    'bin',
    'boot',
    'dev',
    'etc',
    'lib',
    'lib64',
    'mnt',
    'opt',
    'proc',
    'root',
    'run',
    'sbin',
    'srv',
    'sys',
    'tmp',
    'usr',
    'var',
)
DEFAULT_FOLDERS = ['/lib64', '/usr/lib64', '/lib', '/usr/lib']
DEBIAN_FOLDERS = ['/lib/%s-linux-gnu', '/usr/lib/%s-linux-gnu']
#: Libraries that some approach takes from the host
INJECTED_LIBRARIES = frozenset(
    name for entry in APPROACHES.values() for name in entry['inject'] + entry['inject_if_known']
)


def survey_runtime(survey):
    """Container runtime: the commands that answer."""
    host = survey.host
    found = [
        host.command_results[name]
        for name in ('apptainer', 'singularity')
        if host.command_results[name].is_successful
    ]
    # below another root its own first; this machine's may have to run what is there
    found.sort(key=lambda each: not host.find_command(each.words[0]).startswith(host.root + '/'))
    if found:
        survey.add_fact(
            'runtime',
            [each.words[0] for each in found],
            ', '.join('`%s`' % each.command for each in found),
            section='runtime',
            note='; '.join(each.output.strip().partition('\n')[0] for each in found),
        )
    else:
        survey.add_fact(
            'runtime', ['apptainer', 'singularity'], 'neither answers here', 'untested', 'runtime'
        )
        survey.add_missing(
            'container runtime',
            "nothing with a container can be installed or run from here: load the module "
            "of apptainer or singularity, or install it",
        )


def survey_slurm(survey):
    """Slurm's spool folder, cluster, accounts, partitions."""
    settings = dict(re.findall(r'^(\w+)\s*=\s*(.*?)\s*$', survey.get_command_output('slurm'), re.M))
    source = '`scontrol show config`'
    for key, name in (
        ('spool', 'SlurmdSpoolDir'),
        ('tmpfs', 'TmpFS'),
        ('cluster', 'ClusterName'),
        ('release', 'SLURM_VERSION'),
    ):
        if settings.get(name):
            survey.add_fact('slurm.' + key, settings[name], source, section='Slurm')
    if settings:
        survey.add_fact(
            'slurm.account',
            'associations' in settings.get('AccountingStorageEnforce', ''),
            source,
            'derived',
            'Slurm',
        )
    rows = [row.split('|') for row in survey.get_command_output('partitions').split() if '|' in row]
    if rows:
        survey.add_fact(
            'slurm.partitions',
            rows,
            '`sinfo -h -o %P|%G`',
            section='Slurm',
            note=', '.join(name for name, _ in rows),
        )


def survey_file_systems(survey):
    """File systems of all nodes, which programs in the container should see."""
    host = survey.host
    found, skipped = _list_shared_mounts(host)
    found = _merge_sibling_paths(found, host.get_variable('HOME'))
    found += _find_root_links(host, found)
    if skipped:
        host.add_remark(
            "not bound, because the runtime binds the home folder and programs of the host do not "
            "belong into a container: %s" % ', '.join(sorted(set(skipped)))
        )
    found = [path for path in sorted(set(found)) if not re.search(r'[\s,:|{}%]', path)]
    if found:
        survey.add_fact(
            'files.file_systems',
            found,
            '/proc/mounts, and links in / that lead there',
            section='files',
            why="the users' data",
        )
    else:
        survey.add_missing(
            'shared file systems',
            "only what the runtime binds itself is seen in the container: home, the "
            "current folder, /tmp",
        )


def _list_shared_mounts(host):
    """
    Return (mount points to bind, those to leave out: of the system or with the home folder),
    lists of str.
    """
    found, skipped, home = [], [], host.get_variable('HOME') + '/'
    for line in host.read_text('/proc/mounts').splitlines():
        parts = line.split()
        if len(parts) < 3 or parts[2] not in SHARED_FILE_SYSTEMS or '\\' in parts[1]:
            continue
        of_system = parts[1].split('/')[1] in SYSTEM_FOLDERS or home.startswith(parts[1] + '/')
        (skipped if of_system else found).append(parts[1])
    return found, skipped


def _merge_sibling_paths(paths, home):
    """
    Return paths (list of str), several of one folder, as /pfs/lustrep1 to /pfs/lustrep4, as the
    folder.
    """
    tops = ['/' + path.split('/')[1] for path in paths]
    return [
        top if tops.count(top) > 1 and not (home + '/').startswith(top + '/') else path
        for top, path in zip(tops, paths)
    ]


def _find_root_links(host, paths):
    """
    Return the links in / (list of str) that lead into one of paths, or to where one lies: as
    /scratch into /pfs.
    """
    known, found = list(paths), []
    for name in host.list_names('/'):
        link, target = '/' + name, host.resolve_links('/' + name)
        near = any(
            (target + '/').startswith(path + '/') or path.startswith(target + '/') for path in known
        )
        if target != link and near and name not in SYSTEM_FOLDERS:
            found.append(link)
            known.append(link)
    return found


def survey_modules(survey):
    """Modules that would get in the way, those with wrappers, and what is loaded."""
    loaded = [name for name in survey.host.environment.get('LOADEDMODULES', '').split(':') if name]
    survey.add_fact('modules.loaded', loaded, 'LOADEDMODULES', section='system')
    names = sorted(
        set(
            line.strip().rstrip('/').partition('(')[0]
            for line in survey.get_command_output('modules').splitlines()
            if not line.rstrip().endswith(':')
        )
    )
    if not names:
        survey.add_missing(
            'Lmod',
            "the modules are written for Lmod; those that set SINGULARITY_BIND too are not known",
        )
        return
    short = sorted(set(name.split('/')[0] for name in names))
    survey.add_fact(
        'conflicts',
        [
            name
            for name in short
            if re.search(
                r'(singularity|apptainer|container).*(bind|enable|userfilesystems|CPEbits)|^apptainer-enable',
                name,
            )
        ]
        # one of several modules of the runtime: as Pawsey has them
        + [name for name in names if re.match(r'(singularity|apptainer)\w*/.*-mpi$', name)],
        '`module -t avail`',
        'derived',
        'modules',
    )
    survey.add_fact(
        'wrapper_modules',
        [name for name in short if 'container-wrapper' in name or name == 'tykky'],
        '`module -t avail`',
        'derived',
        'modules',
    )


def survey_node(survey):
    """Release of the system, its C library, name of the node."""
    host, glibc = survey.host, survey.get_command_output('glibc').split()
    if glibc:
        survey.add_fact(
            'glibc',
            glibc[-1],
            'this machine; a tree has none of its own'
            if host.root
            else '`getconf GNU_LIBC_VERSION`',
            section='system',
        )
    found = re.search(r'^PRETTY_NAME="?(.*?)"?$', host.read_text('/etc/os-release'), re.M)
    if found:
        survey.add_fact('os', found.group(1), '/etc/os-release', section='system')
    survey.add_fact(
        'node',
        host.environment.get('SLURMD_NODENAME') or socket.gethostname(),
        'SLURMD_NODENAME, host name',
        section='system',
    )
    survey.add_fact('architecture', os.uname().machine, 'uname -m', section='system')


def list_loader_folders(host):
    """
    Return the folders (list of str) that the ld.so of a Host searches: those of ld.so.conf, then
    its own.
    """
    lines = [
        line.partition('#')[0].strip()
        for path in host.list_matching_paths('/etc/ld.so.conf.d/*.conf') + ['/etc/ld.so.conf']
        for line in host.read_text(path).splitlines()
    ]
    found = [line.rstrip('/') for line in lines if line.startswith('/')]
    found += [
        folder
        for folder in ['/opt/cray/pe/lib64', '/opt/amdgpu/lib64']
        + [folder % os.uname().machine for folder in DEBIAN_FOLDERS]
        if host.exists(folder)
    ] + DEFAULT_FOLDERS
    return [
        folder
        for folder in sorted(set(found), key=found.index)
        if not re.search(r'[\s,:{}]', folder)
    ]


def survey_library_folders(survey):
    """
    The folders for dependencies; those that hold a dependency and are not searched by default
    are added.
    """
    found, rocm = list(survey.list_loader_folders()), survey.get_value('rocm')
    if rocm and rocm + '/lib' not in found:
        found.append(rocm + '/lib')
    _add_dependency_folders(survey, found)
    survey.add_fact(
        'library_folders',
        found,
        '/etc/ld.so.conf, and where the loaded modules have what is needed',
        section='files',
    )


def _add_dependency_folders(survey, found):
    """Add folders that hold what the injected libraries lack to found (list of str)."""
    host, rocm = survey.host, survey.get_value('rocm')
    more = [
        folder
        for name in ('LD_LIBRARY_PATH', 'CRAY_LD_LIBRARY_PATH')
        for folder in host.list_variable_folders(name)
    ]
    more += [rocm + '/llvm/lib', rocm + '/lib/llvm/lib'] if rocm else []
    more += ['/opt/cray/pe/gcc-libs', '/opt/cray/pe/gcc-libs/default']
    starts = dict(
        (name, host.add_root(kept['path']))
        for name, kept in survey.libraries.items()
        if name in INJECTED_LIBRARIES
    )
    named = set(os.path.basename(path) for path in starts.values())
    while starts:  # each round adds a folder
        search = [host.add_root(folder) for folder in found] + (found if host.root else [])
        try:
            missing = collect_dependencies(
                list(starts.values()), search, lambda soname: soname in named
            )[1]
        except ElfError as err:
            host.add_remark("dependencies are not known: %s" % err)
            return
        new = [
            folder
            for soname, _ in missing
            for folder in more
            if folder not in found and os.path.isfile(host.add_root('%s/%s' % (folder, soname)))
        ]
        if new:
            found.append(new[0])
            continue
        listed = [entry['what'].partition('.so')[0] for entry in survey.missing]
        for soname, facts in missing:
            if soname.partition('.so')[0] not in listed:
                survey.add_missing(
                    soname,
                    "%s needs it: eb refuses approaches that inject that, unless the image has it"
                    % host.strip_root(facts.path),
                )
        for name, entry in APPROACHES.items() if missing else ():
            injected = [
                starts[library]
                for library in entry['inject'] + entry['inject_if_known']
                if library in starts
            ]
            survey.unresolved[name] = (
                sorted(
                    set(
                        soname
                        for soname, _ in collect_dependencies(
                            injected, search, lambda soname: False
                        )[1]
                    )
                )
                if injected
                else []
            )
        return
