"""Looking for the folders of libraries: those that the host's ld.so searches, and others that hold dependencies."""
import os
import re

from osu_container.core.data.approaches import APPROACHES
from osu_container.core.reading.closure import closure
from osu_container.core.reading.elf import ElfError

DEFAULT_FOLDERS = ['/lib64', '/usr/lib64', '/lib', '/usr/lib']
DEBIAN_FOLDERS = ['/lib/%s-linux-gnu', '/usr/lib/%s-linux-gnu']
#: Libraries that some approach takes from the host
INJECTED = frozenset(name for entry in APPROACHES.values() for name in entry['inject'] + entry['inject_if_known'])


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
