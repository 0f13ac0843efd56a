"""
Facts that a module rests on, read from an image and a host before anything is installed or run.

read_facts() gives plain data that JSON can hold: it is recorded in every installation (facts.json)
and is what build_settings() turns into a module. It raises FactsError when the mix of image and
host cannot run.
"""

import os
import re
import shutil
import subprocess

from osu_container.base import shell
from osu_container.data.sites.schema import matches_shape
from osu_container.image.elf import ElfError
from osu_container.image.image import Image
from osu_container.image.libraries import LibraryVersion, compute_sha256, read_library
from osu_container.image.loader import find_loaded_file
from osu_container.image.sif import ImageError
from osu_container.verdict.rules.finding import NOTE
from osu_container.verdict.rules.questions import uses_libfabric
from osu_container.verdict.settings import HOST_MPI, list_mpi_families, select_host_mpi
from osu_container.verdict.site_choice import format_shape
from osu_container.verdict.trial import (
    HostFileSystem,
    find_leading_plugin_folder,
    list_bound_files,
    list_entrypoint_folders,
    list_missing_host_paths,
    list_plugin_folders,
    locate_host_libraries,
    select_image_mpi,
)
from osu_container.verdict.verdict import evaluate_approach


class FactsError(Exception):
    """
    Image, host and approach do not fit; the text says which file, what was found, what is
    needed, what to do.
    """


#: What build_settings() needs of recorded facts, as shapes of data/sites/schema.py. A native module
#: has no image
_RECORDED = {
    'image': {'file': str, 'mpi': str, 'libfabric': str, 'programs': dict, 'library_path': list},
    'host': {
        'root': str,
        'injected': [{'path': str, 'sha256': str}],
        'runtime': {'command': str, 'name': str},
    },
}


def validate_facts(facts):
    """
    Return recorded facts (of facts.json, any JSON). Raises FactsError if they are none: the file
    is damaged.
    """
    native = isinstance(facts, dict) and 'image' not in facts
    for part, wanted in _RECORDED.items():
        found = facts.get(part) if isinstance(facts, dict) else None
        for key, shape in wanted.items():
            value = (
                found.get(key, [] if key == 'injected' else None)
                if isinstance(found, dict)
                else None
            )
            if not matches_shape(value, shape) and not (
                native and (part == 'image' or key == 'runtime')
            ):
                raise FactsError(
                    "%s.%s is %s, wanted %s; install the module again"
                    % (part, key, ascii(value)[:40], format_shape(shape))
                )
    return facts


def _identify_library(path):
    """
    Return (LibraryVersion, build id) of the library file path, None in them for what the file
    does not say.
    """
    try:
        return read_library(path)
    except (OSError, ValueError):
        return LibraryVersion(None, None), None


def _read_release(path):
    """
    Return (family, release) of the library file path as str, 'unknown' for what the file does
    not say.
    """
    version, _ = _identify_library(path)
    return version.family or 'unknown', version.release or 'unknown'


def read_host_versions(site, root, soname=None):
    """
    Return {'root', 'mpi', 'libfabric'}: what the host's own libraries are (str), None for what is
    not there.

    :param soname: str or None, of the MPI that is meant where the host has one of each kind
    """
    found = {'root': root, 'mpi': None, 'libfabric': None}
    for name, key in ((HOST_MPI.get(soname, 'libmpi'), 'mpi'), ('libfabric', 'libfabric')):
        fact = site['libraries'].get(name)
        path = HostFileSystem(root).add_root(fact['value']) if fact else None
        if path and os.path.isfile(path):
            family, release = _read_release(path)
            found[key] = release if name == 'libfabric' else '%s %s' % (family, release)
    return found


def read_facts(approach, site, sif, root, runtime, program_prefix, programs=(), force=False):
    """
    Return {'image': ..., 'host': ..., 'verdict': ...} for build_settings(), read from the SIF and
    the host.

    :param approach, site: entries (dict) as for build_settings()
    :param sif: str, path of the image
    :param root: str, folder that stands in for the host's /, '' on the real system
    :param runtime: dict: command (str, path of the runtime), name ('apptainer' or 'singularity',
        from --version)
    :param program_prefix: str, how the names of those programs of the image begin that become
        commands, '' for none
    :param programs: list of str, more of them, by name or by path in the image
    :param force: bool, go on although the verdict is that it fails
    Raises FactsError when image, host and approach do not fit.
    """
    if isinstance(programs, str):
        raise FactsError(
            "programs is the text %r and no list. Put it into one: programs = [%r]"
            % (programs, programs)
        )
    host = HostFileSystem(root)
    try:
        with Image(sif, program_prefix, programs) as image:
            _check_paths(
                select_host_mpi(approach, select_image_mpi(image, list_mpi_families(approach))[1]),
                site,
                host,
            )
            _check_image(image, program_prefix)
            mix, verdict = evaluate_approach(
                approach, site, image, host, runtime=runtime, dry_run=True
            )
            return collect_facts(mix, verdict, runtime, force)
    except (ImageError, ElfError) as err:
        raise FactsError(str(err))


def collect_facts(trial, verdict, runtime, force=False):
    """
    Return what read_facts() does, of a Trial and its Verdict, while the Image is open.

    Raises FactsError as read_facts() does; ImageError, ElfError where a file cannot be read.
    """
    approach, site, image, host = trial.approach, trial.site, trial.image, trial.host
    _check_family(verdict, image)
    if verdict.level == 'fails' and not force:
        # EasyBuild 4.9 shows the first 300 characters: what is wrong comes first
        raise FactsError(
            "approach '%s' cannot run here: %s\nUse another approach, or an image whose libraries "
            "fit this host (`osu-container check %s` tells which; site '%s'), or --force"
            % (
                approach['name'],
                '\n  '.join(
                    finding.reason for finding in verdict.findings if finding.level == 'fails'
                ),
                shell.quote_path(image.path),
                site['name'],
            )
        )
    facts = dict(
        read_host_versions(site, host.root, trial.soname),
        runtime=runtime,
        files=list_bound_files(approach, site, host),
        injected=_describe_injected_libraries(
            approach, site, host, trial.host_libraries.injected, image.libraries
        ),
    )
    if approach.get('entrypoint'):
        injected = [(name, one.path) for name, one in trial.host_libraries.injected.items()]
        facts['folders'] = list_entrypoint_folders(approach, site, injected, host)
    else:
        facts['folders'] = [
            {
                'path': path,
                'target': target,
                'why': 'plug-ins and parameters of the host\'s Open MPI',
            }
            for path, target in list_plugin_folders(approach, site, host)
        ]
    loaded = find_loaded_file(trial.process, 'libfabric.so.1')
    found = _read_image_facts(image, set(trial.host_libraries.injected), trial.soname, loaded)
    return {
        'image': dict(found, uses_libfabric=uses_libfabric(trial) is not False),
        'host': facts,
        'verdict': _summarize_verdict(verdict),
    }


def _summarize_verdict(verdict):
    """Return what an installation keeps of a Verdict (dict)."""
    return {
        'level': verdict.level,
        'untested': verdict.untested_facts,
        'findings': [
            {
                'rule': finding.rule,
                'level': finding.level,
                'reason': finding.reason,
                'remedy': finding.remedy,
            }
            for finding in verdict.findings
        ],
    }


def list_warnings(facts):
    """
    Return sentences (list of str) that whoever installs should read: why it is slow, unknown, or
    fails (forced), and what it rests on that nobody has shown.
    """
    names = facts['verdict']['untested']
    rests = (
        [
            "verdict '%s' rests on facts of the site that are untested: %s. To do: run it once, and "
            "`osu-container proof`" % (facts['verdict']['level'], ', '.join(names))
        ]
        if names
        else []
    )
    return rests + [
        "approach will be '%s': %s%s"
        % (
            finding['level'],
            finding['reason'],
            finding['remedy'] and '. To do: ' + finding['remedy'],
        )
        for finding in facts['verdict']['findings']
        if finding['level'] != NOTE
    ]


def _check_family(verdict, image):
    """
    Raise FactsError if the MPI of the open Image is none that the approach of verdict takes; no
    --force helps.
    """
    for finding in verdict.findings:
        if finding.rule == 'other MPI':
            raise FactsError(
                "%s. To do: %s (image %s)" % (finding.reason, finding.remedy, image.path)
            )


def _check_paths(approach, site, host):
    """Raise FactsError if host paths are not there that approach needs for the image's MPI."""
    missing = list_missing_host_paths(approach, site, host)
    if missing:
        raise FactsError(
            "site '%s' names host paths that do not exist: %s. If the host was updated, correct the site "
            "in data/sites/__init__.py; on a workstation run `make demo`"
            % (site['name'], ', '.join(missing))
        )


def _check_image(image, program_prefix):
    """Raise FactsError if the open Image has no programs."""
    if not image.programs:
        raise FactsError(
            "%s holds no program %s. Name those that shall be commands in `programs` of the easyconfig, "
            "or take the image that this easyconfig is for"
            % (image.path, program_prefix + '*' if program_prefix else 'that the easyconfig names')
        )


def _describe_injected_libraries(approach, site, host, libraries, in_image):
    """
    Return the list of dict for the libraries (OrderedDict soname -> ElfFacts); in_image: sonames
    that the image has.

    Keys: soname, path, sha256, build_id, size (bytes), what (str, e.g. 'libfabric 1.22.0'), why;
    for those that the site names also name and names, the other names under which they are opened.
    """
    named = dict((path, name) for name, path in locate_host_libraries(approach, site, host))
    needed_by = dict(
        (dep, lib.soname) for lib in reversed(list(libraries.values())) for dep in lib.needed
    )
    found = []
    for soname, lib in libraries.items():
        version, build_id = _identify_library(lib.path)
        entry = {
            'soname': soname,
            'path': lib.path,
            'sha256': compute_sha256(lib.path),
            'build_id': build_id,
            'size': os.path.getsize(lib.path),
            'what': '%s %s' % version if version.family and version.release else soname,
            'why': (
                '%s needs it, and the two are one build'
                if soname in in_image
                else 'the image lacks it, %s needs it'
            )
            % needed_by.get(soname),
        }
        if lib.path in named:
            fact = site['libraries'][named[lib.path]]
            entry.update(name=named[lib.path], why=fact['why'], names=fact.get('opened_as', []))
        found.append(entry)
    return found


def _read_image_facts(image, injected, soname, loaded):
    """
    Return the facts (dict) of the open Image that a module tells; its labels first, else what the
    files say.

    :param injected: set of sonames that are put in front of the image's own
    :param soname: str, of the MPI that the image's programs need
    :param loaded: Loaded or None, the libfabric of the process: a wheel of MPICH has its own where
        only it looks
    """
    own = next((path for _, name, path in image.list_mpi_libraries() if name == soname), None)
    label = 'org.osu-container.%s'
    fabric = (
        loaded.path
        if loaded and loaded.origin == 'image'
        else image.libraries.get('libfabric.so.1')
    )
    return {
        'file': os.path.basename(image.path),
        'mpi': image.labels.get(label % 'mpi')
        or '%s %s' % (_read_release(image.copy_file(own)) if own else ('unknown', 'unknown')),
        'soname': soname,
        'libfabric': image.labels.get(label % 'libfabric')
        or (_read_release(image.copy_file(fabric))[1] if fabric else 'unknown'),
        'programs_are': image.labels.get(label % 'osu', ''),
        'programs': image.programs,
        'gpu': bool(image.find_rocm_release() or image.find_cuda_release()),
        'library_path': image.list_library_folders(),
        'rccl_plugin': image.find_rccl_plugin(),
        'environment': sorted(
            name
            for name, one in image.evaluate_environment().variables.items()
            if one.exported is not False
        ),
        'libraries_beside': dict(
            (folder, image.list_sibling_libraries(folder))
            for folder in set(image.programs.values())
        ),
        'rccl_plugin_folder': find_leading_plugin_folder(image, injected),
    }


def read_native_facts(site, root):
    """
    Return {'host': ...} for the native build. Raises FactsError if one of the site's native
    paths is missing.
    """
    native = site['native']
    if not native['value']:
        raise FactsError("site '%s' has no native MPI to build with" % site['name'])
    for key in ('mpicc', 'libmpi'):
        path = HostFileSystem(root).add_root(native['value'][key])
        # a plain command comes with the modules of the programming environment
        if native['value'][key].startswith('/') and not os.path.exists(path):
            raise FactsError(
                "site '%s' names a host path that does not exist: %s (%s); on a workstation run "
                "`make demo`" % (site['name'], path, key)
            )
    return {'host': read_host_versions(site, root)}


def find_runtime(names):
    """
    Return {'command': path, 'name': 'apptainer' | 'singularity', 'release': str, 'setuid': bool} of
    the container runtime; release and setuid are None where it does not say them.

    :param names: list of str, commands; the first one on PATH is taken. What it calls itself
        decides the name: Apptainer also installs a command `singularity`.
    Raises FactsError if none is on PATH.
    """
    for command in filter(None, [shutil.which(name) for name in names]):
        proc = subprocess.Popen(
            [command, '--version'],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
        )
        said = proc.communicate()[0]
        found = re.search(r'\d+(\.\d+)+', said)
        return {
            'command': command,
            'name': 'apptainer' if 'apptainer' in said else 'singularity',
            'release': found.group() if found else None,
            'setuid': _has_setuid(command),
        }
    raise FactsError(
        "no container runtime on PATH: looked for %s. Install one (on a workstation: make setup)"
        % ', '.join(names)
    )


def _has_setuid(command):
    """
    Return whether the runtime command (str) starts containers by its setuid program (bool), None
    where it is not known.

    Without that each container has a user namespace of its own. Its settings may switch it off
    (`allow setuid = no`), see the administrator guides of Apptainer and SingularityCE.
    """
    proc = subprocess.Popen(
        [command, 'buildcfg'],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
    )
    said = dict(
        re.findall(
            r'^(?:APPTAINER|SINGULARITY)_(SUID_INSTALL|CONF_FILE)=(.*)$',
            proc.communicate()[0],
            re.M,
        )
    )
    if 'SUID_INSTALL' not in said:
        return None
    try:
        with open(said.get('CONF_FILE', '')) as handle:
            allowed = re.search(r'^\s*allow setuid\s*=\s*no\b', handle.read(), re.M) is None
    except (OSError, UnicodeDecodeError):
        allowed = True
    return said['SUID_INSTALL'] == '1' and allowed


def list_stale_libraries(facts):
    """
    Return sentences (list of str), one for each recorded host library that is gone or has
    changed since.
    """
    found = []
    for library in facts['host'].get('injected', []):
        if not os.path.isfile(library['path']):
            found.append(
                "host library %s is gone since the module was installed; install it again"
                % library['path']
            )
        elif compute_sha256(library['path']) != library['sha256']:
            found.append(
                "host library %s has changed since the module was installed (sha256 then %s, now %s); install "
                "it again" % (library['path'], library['sha256'], compute_sha256(library['path']))
            )
    return found
