"""Find the container runtime, Slurm, file systems, modules and library folders."""

import os
import re
import socket
from typing import TYPE_CHECKING, List, Tuple

from osu_container.data.approaches import APPROACHES
from osu_container.image.closure import collect_dependencies
from osu_container.image.elf import ElfError

if TYPE_CHECKING:
    from osu_container.discover.host import SurveyedHost
    from osu_container.discover.survey import Survey

#: Types of file systems that nodes share
SHARED_FILE_SYSTEMS = (
    'lustre gpfs nfs nfs4 beegfs ceph wekafs panfs dvs pvfs2 fuse.glusterfs'.split()
)
#: Folders that every container has, or that the container runtime binds
SYSTEM_FOLDERS = 'bin boot dev etc lib lib64 mnt opt proc root run sbin srv sys tmp usr var'.split()
DEFAULT_FOLDERS = ['/lib64', '/usr/lib64', '/lib', '/usr/lib']
DEBIAN_FOLDERS = ['/lib/%s-linux-gnu', '/usr/lib/%s-linux-gnu']
#: Names of the host libraries that approaches inject
INJECTED_LIBRARIES = frozenset(
    name for entry in APPROACHES.values() for name in entry['inject'] + entry['inject_if_known']
)


def survey_runtime(survey: 'Survey') -> None:
    """Record the available container runtimes in the survey."""
    host = survey.host
    results = [
        host.command_results[name]
        for name in ('apptainer', 'singularity')
        if host.command_results[name].is_successful
    ]
    # Prefer a runtime below the root to the runtime of this machine.
    results.sort(
        key=lambda result: not str(host.find_command(result.words[0])).startswith(host.root + '/')
    )
    if results:
        survey.add_fact(
            'runtime',
            [result.words[0] for result in results],
            ', '.join('`%s`' % result.command for result in results),
            section='runtime',
            note='; '.join(result.output.strip().partition('\n')[0] for result in results),
        )
    else:
        survey.add_fact(
            'runtime', ['apptainer', 'singularity'], 'neither is installed', 'untested', 'runtime'
        )
        survey.add_missing(
            'container runtime',
            "without a container runtime, no container can be installed or run. Load the module "
            "that provides apptainer or singularity, or install Apptainer",
        )


def survey_slurm(survey: 'Survey') -> None:
    """Record Slurm's spool folder, cluster, accounts and partitions in the survey."""
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


def survey_file_systems(survey: 'Survey') -> None:
    """Record the shared file systems that containers should see in the survey."""
    host = survey.host
    paths, skipped = _list_shared_mounts(host)
    paths = _merge_sibling_paths(paths, host.get_variable('HOME'))
    paths += _find_root_links(host, paths)
    if skipped:
        host.add_remark(
            "the module does not bind the mount points %s: a container does not need the system "
            "folders of the host, and the container runtime already binds the home folder"
            % ', '.join(sorted(set(skipped)))
        )
    paths = [path for path in sorted(set(paths)) if not re.search(r'[\s,:|{}%]', path)]
    if paths:
        survey.add_fact(
            'files.file_systems',
            paths,
            'mount points in /proc/mounts, and symbolic links in / that lead to the mount points',
            section='files',
            why="the users' data",
        )
    else:
        survey.add_missing(
            'shared file systems',
            "containers see only the folders that the container runtime binds: the home folder, "
            "the current folder and /tmp",
        )


def _list_shared_mounts(host: 'SurveyedHost') -> Tuple[List[str], List[str]]:
    """
    Return (shared mount points to bind, shared mount points to skip).

    The function skips mount points in system folders, and mount points that contain the home
    folder.
    """
    paths: List[str] = []
    skipped: List[str] = []
    home = host.get_variable('HOME') + '/'
    for line in host.read_text('/proc/mounts').splitlines():
        parts = line.split()
        if len(parts) < 3 or parts[2] not in SHARED_FILE_SYSTEMS or '\\' in parts[1]:
            continue
        is_system = parts[1].split('/')[1] in SYSTEM_FOLDERS or home.startswith(parts[1] + '/')
        (skipped if is_system else paths).append(parts[1])
    return paths, skipped


def _merge_sibling_paths(paths: List[str], home: str) -> List[str]:
    """
    Return `paths`, in which one top folder replaces all paths below this top folder.

    For example, /pfs replaces /pfs/a and /pfs/b. A path stays unchanged if no other path has the
    same top folder, or if the top folder also contains `home`, the user's home folder.
    """
    tops = ['/' + path.split('/')[1] for path in paths]
    return [
        top if tops.count(top) > 1 and not (home + '/').startswith(top + '/') else path
        for top, path in zip(tops, paths)
    ]


def _find_root_links(host: 'SurveyedHost', paths: List[str]) -> List[str]:
    """
    Return the symbolic links in / that lead to one of `paths`, such as /scratch.

    The result includes links to a folder above or below one of `paths`.
    """
    targets = list(paths)
    links: List[str] = []
    for name in host.list_names('/'):
        link, target = '/' + name, host.resolve_links('/' + name)
        near = any(
            (target + '/').startswith(path + '/') or path.startswith(target + '/')
            for path in targets
        )
        if target != link and near and name not in SYSTEM_FOLDERS:
            links.append(link)
            targets.append(link)
    return links


def survey_modules(survey: 'Survey') -> None:
    """Record in the survey the loaded, the container-wrapper and the conflicting modules."""
    loaded = [name for name in survey.host.environment.get('LOADEDMODULES', '').split(':') if name]
    survey.add_fact('modules.loaded', loaded, 'LOADEDMODULES', section='system')
    names = sorted(
        {
            line.strip().rstrip('/').partition('(')[0]
            for line in survey.get_command_output('modules').splitlines()
            if not line.rstrip().endswith(':')
        }
    )
    if not names:
        survey.add_missing(
            'Lmod',
            "the modules of this project need Lmod; without Lmod, discover cannot find other "
            "modules that set SINGULARITY_BIND",
        )
        return
    short = sorted({name.split('/')[0] for name in names})
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
        # one of several modules of the runtime, as on Pawsey's systems
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


def survey_node(survey: 'Survey') -> None:
    """Record the node's operating system, glibc, name and architecture in the survey."""
    host, glibc = survey.host, survey.get_command_output('glibc').split()
    if glibc:
        survey.add_fact(
            'glibc',
            glibc[-1],
            'the output of `getconf` on this machine, because the folder of --sysroot has no C library'
            if host.root
            else '`getconf GNU_LIBC_VERSION`',
            section='system',
        )
    release = re.search(r'^PRETTY_NAME="?(.*?)"?$', host.read_text('/etc/os-release'), re.M)
    if release:
        survey.add_fact('os', release.group(1), '/etc/os-release', section='system')
    survey.add_fact(
        'node',
        host.environment.get('SLURMD_NODENAME') or socket.gethostname(),
        'SLURMD_NODENAME, host name',
        section='system',
    )
    survey.add_fact('architecture', os.uname().machine, 'uname -m', section='system')


def list_loader_folders(host: 'SurveyedHost') -> List[str]:
    """
    Return the folders that the host's ld.so searches.

    The folders in ld.so.conf precede the default folders.
    """
    lines = [
        line.partition('#')[0].strip()
        for path in host.list_matching_paths('/etc/ld.so.conf.d/*.conf') + ['/etc/ld.so.conf']
        for line in host.read_text(path).splitlines()
    ]
    folders = [line.rstrip('/') for line in lines if line.startswith('/')]
    folders += [
        folder
        for folder in ['/opt/cray/pe/lib64', '/opt/amdgpu/lib64']
        + [folder % os.uname().machine for folder in DEBIAN_FOLDERS]
        if host.exists(folder)
    ] + DEFAULT_FOLDERS
    return [
        folder
        for folder in sorted(set(folders), key=folders.index)
        if not re.search(r'[\s,:{}]', folder)
    ]


def survey_library_folders(survey: 'Survey') -> None:
    """Record in the survey which folders contain the libraries that injected host libraries need."""
    folders, rocm = list(survey.list_loader_folders()), survey.get_value('rocm')
    if rocm and rocm + '/lib' not in folders:
        folders.append(rocm + '/lib')
    _add_dependency_folders(survey, folders)
    survey.add_fact(
        'library_folders',
        folders,
        'folders in /etc/ld.so.conf, and folders of loaded modules that contain needed libraries',
        section='files',
    )


def _add_dependency_folders(survey: 'Survey', folders: List[str]) -> None:
    """
    Append to `folders` the folders that contain missing dependencies of injected libraries.

    A dependency that no folder contains is recorded as a missing part of the system.
    """
    host, rocm = survey.host, survey.get_value('rocm')
    candidates = [
        folder
        for folder, _ in host.list_variable_folders('LD_LIBRARY_PATH', 'CRAY_LD_LIBRARY_PATH')
    ]
    candidates += [rocm + '/llvm/lib', rocm + '/lib/llvm/lib'] if rocm else []
    candidates += ['/opt/cray/pe/gcc-libs', '/opt/cray/pe/gcc-libs/default']
    starts = {
        name: host.add_root(library['path'])
        for name, library in survey.libraries.items()
        if name in INJECTED_LIBRARIES
    }
    names = {os.path.basename(path) for path in starts.values()}
    while starts:  # each iteration adds a folder
        search = [host.add_root(folder) for folder in folders] + (folders if host.root else [])
        try:
            missing = collect_dependencies(list(starts.values()), search, names.__contains__)[1]
        except ElfError as err:
            host.add_remark(
                "cannot determine which libraries the injected host libraries need: %s" % err
            )
            return
        new = [
            folder
            for soname, _ in missing
            for folder in candidates
            if folder not in folders and os.path.isfile(host.add_root('%s/%s' % (folder, soname)))
        ]
        if new:
            folders.append(new[0])
            continue
        listed = [entry['what'].partition('.so')[0] for entry in survey.missing]
        for soname, facts in missing:
            if soname.partition('.so')[0] not in listed:
                survey.add_missing(
                    soname,
                    "the host library %s needs %s. Approaches that inject the host library can "
                    "be installed only with an image that contains %s"
                    % (host.strip_root(facts.path), soname, soname),
                )
        for name, entry in APPROACHES.items() if missing else ():
            injected = [
                starts[library]
                for library in entry['inject'] + entry['inject_if_known']
                if library in starts
            ]
            unresolved = collect_dependencies(injected, search, set().__contains__)[1]
            survey.unresolved[name] = sorted({soname for soname, _ in unresolved})
        return
