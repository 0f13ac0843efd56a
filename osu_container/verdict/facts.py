"""
Read the facts on image and host from which build_settings() computes a module.

This module installs nothing. The only program that the module starts is the container runtime, to
read the release of the runtime. Facts are JSON data, which each installation records in facts.json.
"""

import os
import re
import shutil
import subprocess
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Set, Tuple, Union

from osu_container.base import shell
from osu_container.data.records import RECORDS, read_record
from osu_container.image.elf import ElfError, ElfFacts
from osu_container.image.image import DefaultLibraries, Image
from osu_container.image.libraries import LibraryVersion, compute_sha256, read_library
from osu_container.image.loader import LoadedFile
from osu_container.image.sif import ImageError
from osu_container.verdict.layers import (
    uses_libfabric,
)
from osu_container.verdict.rules.finding import NOTE
from osu_container.verdict.settings import HOST_MPI
from osu_container.verdict.trial import (
    HostFileSystem,
    Trial,
    find_leading_plugin_folder,
    list_bound_files,
    list_entrypoint_folders,
    list_plugin_folders,
    locate_host_libraries,
)
from osu_container.verdict.verdict import Verdict, evaluate_approach, judge_remedies


class FactsError(Exception):
    """Image, host and approach are incompatible; the message has the file and the remedy."""


def validate_facts(facts: Any) -> Dict[str, Any]:
    """
    Check `facts`, the content of facts.json, and return `facts` unchanged.

    Raises FactsError if the facts are damaged. The facts of a native module have no image.
    """
    is_native = isinstance(facts, dict) and 'image' not in facts
    try:
        read_record(facts, RECORDS['native facts' if is_native else 'facts'])
    except ValueError as err:
        raise FactsError("facts.json is damaged: %s. Install the module again" % err)
    return facts


def _identify_library(path: str) -> Tuple[LibraryVersion, Optional[str]]:
    """Return (LibraryVersion, build ID) of a library file; parts that are missing are None."""
    try:
        return read_library(path)
    except (OSError, ValueError):
        return LibraryVersion(None, None), None


def _read_release(path: str) -> Tuple[str, str]:
    """Return (family, release) of a library file, with 'unknown' for each missing part."""
    version, _ = _identify_library(path)
    return version.family or 'unknown', version.release or 'unknown'


def read_host_versions(
    site: Dict[str, Any], root: str, soname: Optional[str] = None
) -> Dict[str, Any]:
    """
    Return a dict with the releases of the host's MPI and libfabric, such as 'MPICH 4.2.3'.

    The keys are mpi, libfabric and root (`root`, the folder that replaces / of the host). The
    release of a missing library is None.

    soname: soname of the MPI to read, if the host has several MPIs.
    """
    versions: Dict[str, Any] = {'root': root, 'mpi': None, 'libfabric': None}
    is_wrapped = soname == 'libmpi_abi.so.1' and site['libraries'].get('libmpiwrapper')
    mpi = 'libmpi' if is_wrapped else HOST_MPI.get(soname or '', 'libmpi')
    for name, key in ((mpi, 'mpi'), ('libfabric', 'libfabric')):
        fact = site['libraries'].get(name)
        path = HostFileSystem(root).add_root(fact['value']) if fact else None
        if path and os.path.isfile(path):
            family, release = _read_release(path)
            versions[key] = release if name == 'libfabric' else '%s %s' % (family, release)
    return versions


def read_facts(
    approach: Dict[str, Any],
    site: Dict[str, Any],
    sif: str,
    root: str,
    runtime: Dict[str, Any],
    program_prefix: str,
    programs: Sequence[str] = (),
    force: bool = False,
) -> Dict[str, Any]:
    """
    Read the image and the host, and return the facts that build_settings() needs.

    The result is {'image': ..., 'host': ..., 'verdict': ...}.

    sif: path of the image.
    root: folder that stands in for the host's /, '' on the real system.
    runtime: dict that find_runtime() returns.
    program_prefix: programs whose names begin with this text become commands, '' selects no
    programs.
    programs: further programs, as names or as paths in the image.
    force: continue even if the verdict is that the approach fails.

    Raises FactsError if image, host and approach are incompatible.
    """
    if isinstance(programs, str):
        raise FactsError(
            'the easyconfig parameter `programs` is the text %r, but must be a list. Write '
            'programs = [%r]' % (programs, programs)
        )
    host = HostFileSystem(root)
    try:
        with Image(sif, program_prefix, programs) as image:
            if not image.programs:
                raise FactsError(
                    "%s has no program %s. List the programs of this image in `programs` of the "
                    "easyconfig, or use the image for which the easyconfig was written"
                    % (
                        image.path,
                        program_prefix + '*' if program_prefix else 'that the easyconfig names',
                    )
                )
            trial, verdict = evaluate_approach(
                approach, site, image, host, runtime=runtime, dry_run=True
            )
            verdict = judge_remedies([verdict], site, image, host, None, runtime)[0]
            return collect_facts(trial, verdict, runtime, force)
    except (ImageError, ElfError) as err:
        raise FactsError(str(err))


def collect_facts(
    trial: Trial, verdict: Verdict, runtime: Dict[str, Any], force: bool = False
) -> Dict[str, Any]:
    """
    Return the same dict of facts as read_facts(), from a Trial and its Verdict.

    The image must be open. Raises FactsError as read_facts() does, and ImageError or ElfError if a
    file cannot be read.
    """
    approach, site, host = trial.approach, trial.site, trial.host
    for finding in verdict.findings:  # No option of eb helps.
        if finding.rule in ('other MPI', 'host path missing') and finding.level == 'fails':
            raise FactsError(
                "%s. To do: %s (image %s)" % (finding.reason, finding.remedy, trial.image.path)
            )
    if verdict.level == 'fails' and not force:
        # EasyBuild 4.9 prints the first 300 characters only, so the problem comes first.
        raise FactsError(
            "approach '%s' cannot run here: %s\nUse another approach, or an image whose libraries "
            "fit this host (`osu-container check %s` lists them; site '%s'), or --force"
            % (
                approach['name'],
                '\n  '.join(
                    finding.reason for finding in verdict.findings if finding.level == 'fails'
                ),
                shell.quote_path(trial.image.path),
                site['name'],
            )
        )
    facts = {
        **read_host_versions(site, host.root, trial.soname),
        'runtime': runtime,
        'files': list_bound_files(approach, site, host),
        'injected': _describe_injected_libraries(
            approach, site, host, trial.injected, trial.image.libraries
        ),
    }
    if approach.get('entrypoint'):
        facts['folders'] = list_entrypoint_folders(
            approach, site, [(name, elf.path) for name, elf in trial.injected.items()], host
        )
    else:
        facts['folders'] = [
            {
                'path': path,
                'target': target,
                'why': "the host's Open MPI reads plug-ins and parameters from the bound folder",
            }
            for path, target in list_plugin_folders(approach, site, host)
        ]
    return {
        'image': {
            **_read_image_facts(trial.image, set(trial.injected), trial.soname, trial.libfabric),
            'uses_libfabric': uses_libfabric(trial) is not False,
        },
        'host': facts,
        'verdict': {
            'level': verdict.level,
            'untested': verdict.untested_facts,
            'findings': [
                {name: getattr(finding, name) for name in ('rule', 'level', 'reason', 'remedy')}
                for finding in verdict.findings
            ],
        },
    }


def list_warnings(facts: Dict[str, Any]) -> List[str]:
    """Return the warnings that eb prints: findings and untested facts of the verdict."""
    verdict = facts['verdict']
    warnings = [
        "approach will be '%s': %s%s"
        % (
            finding['level'],
            finding['reason'],
            finding['remedy'] and '. To do: ' + finding['remedy'],
        )
        for finding in verdict['findings']
        if finding['level'] != NOTE
    ]
    if verdict['untested']:
        warnings.insert(
            0,
            "verdict '%s' depends on untested facts of the site: %s. To do: test these facts by "
            'running a program once with `osu-container proof`'
            % (verdict['level'], ', '.join(verdict['untested'])),
        )
    return warnings


def _describe_injected_libraries(
    approach: Dict[str, Any],
    site: Dict[str, Any],
    host: HostFileSystem,
    libraries: Mapping[str, ElfFacts],
    image_sonames: Union[Set[str], DefaultLibraries],
) -> List[Dict[str, Any]]:
    """
    Return a list with one dict for each injected library.

    The keys of a dict are `soname`, `path`, `sha256`, `build_id`, `size` (bytes), `what` (e.g.
    'libfabric 1.22.0') and `why`. For a library that the site names, further keys are `name` (the
    site's name for the library) and `names` (further names by which programs open the library).
    """
    site_names = {path: name for name, path in locate_host_libraries(approach, site, host)}
    needed_by = {
        name: lib.soname for lib in reversed(list(libraries.values())) for name in lib.needed
    }
    entries = []
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
                "%s needs the host's build of the library, not the image's build"
                if soname in image_sonames
                else '%s needs a library that the image lacks'
            )
            % needed_by.get(soname),
        }
        if lib.path in site_names:
            name = site_names[lib.path]
            fact = site['libraries'][name]
            entry.update(name=name, why=fact['why'], names=fact.get('opened_as', []))
        entries.append(entry)
    return entries


def _read_image_facts(
    image: Image, injected: Set[str], soname: str, loaded: Optional[LoadedFile]
) -> Dict[str, Any]:
    """
    Return the facts on the open image: from labels, or else from files of the image.

    injected: sonames of the injected libraries.
    soname: soname of the MPI that the programs need.
    loaded: the libfabric that the process loads. `loaded` is necessary for a libfabric inside a
    wheel of MPICH, because only the MPICH of the wheel finds this libfabric.
    """
    libmpi = next((path for _, name, path in image.list_mpi_libraries() if name == soname), None)
    label = 'org.osu-container.%s'
    fabric = (
        loaded.path
        if loaded and loaded.origin == 'image'
        else image.libraries.get('libfabric.so.1')
    )
    return {
        'file': os.path.basename(image.path),
        'mpi': image.labels.get(label % 'mpi')
        or '%s %s' % (_read_release(image.copy_file(libmpi)) if libmpi else ('unknown', 'unknown')),
        'soname': soname,
        'libfabric': image.labels.get(label % 'libfabric')
        or (_read_release(image.copy_file(fabric))[1] if fabric else 'unknown'),
        'programs_are': image.labels.get(label % 'osu', ''),
        'programs': image.programs,
        'gpu': bool(image.find_rocm_release() or image.find_cuda_release()),
        'rocm': image.find_rocm_release(),
        'library_path': image.list_library_folders(),
        'rccl_plugin': image.find_rccl_plugin(),
        'environment': sorted(
            name
            for name, variable in image.evaluate_environment().variables.items()
            if variable.exported is not False
        ),
        'rccl_plugin_folder': find_leading_plugin_folder(image, injected),
    }


def read_native_facts(site: Dict[str, Any], root: str) -> Dict[str, Any]:
    """
    Return the facts of a native build, which uses no image, as {'host': ...}.

    Raises FactsError if the site has no native MPI, or if one of the site's native paths does not
    exist.
    """
    native = site['native']
    if not native['value']:
        raise FactsError(
            "site '%s' has no native MPI to build with. Add the paths of mpicc and libmpi to the "
            'key `native` of the site' % site['name']
        )
    for key in ('mpicc', 'libmpi'):
        path = HostFileSystem(root).add_root(native['value'][key])
        # The modules of the programming environment provide a command without a folder.
        if native['value'][key].startswith('/') and not os.path.exists(path):
            raise FactsError(
                "site '%s' names a host path that does not exist: %s (%s). On a workstation, run "
                '`make demo`' % (site['name'], path, key)
            )
    return {'host': read_host_versions(site, root)}


def find_runtime(names: Iterable[str]) -> Dict[str, Any]:
    """
    Return a dict that describes the first container runtime on PATH.

    The keys are 'command' (path), 'name', 'release' and 'setuid'. The name is 'apptainer' or
    'singularity', from the output of `--version`, because Apptainer also installs a command
    `singularity`. release and setuid are None if the runtime does not report the values. Raises
    FactsError if no runtime is on PATH.
    """
    command = next(filter(None, map(shutil.which, names)), None)
    if command:
        output = _read_output(command, '--version')
        release = re.search(r'\d+(\.\d+)+', output)
        return {
            'command': command,
            'name': 'apptainer' if 'apptainer' in output else 'singularity',
            'release': release.group() if release else None,
            'setuid': _has_setuid(command),
        }
    raise FactsError(
        'no container runtime on PATH: searched for %s. Install one of the named runtimes (on a '
        'workstation, run `make setup`)' % ', '.join(names)
    )


def _read_output(*words: str) -> str:
    """Run a command and return what the command prints to standard output."""
    return subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True
    ).communicate()[0]


def _has_setuid(command: str) -> Optional[bool]:
    """
    Return whether the runtime starts containers by a setuid program, None if unknown.

    Without a setuid program, each container has its own user namespace. `allow setuid = no` in the
    runtime's configuration disables the setuid program (administrator guides of Apptainer and
    SingularityCE).
    """
    values = dict(
        re.findall(
            r'^(?:APPTAINER|SINGULARITY)_(SUID_INSTALL|CONF_FILE)=(.*)$',
            _read_output(command, 'buildcfg'),
            re.M,
        )
    )
    if 'SUID_INSTALL' not in values:
        return None
    try:
        with open(values.get('CONF_FILE', '')) as handle:
            allowed = re.search(r'^\s*allow setuid\s*=\s*no\b', handle.read(), re.M) is None
    except (OSError, UnicodeDecodeError):
        allowed = True
    return values['SUID_INSTALL'] == '1' and allowed


def list_stale_libraries(facts: Dict[str, Any]) -> List[str]:
    """Return a message for each recorded host library that was removed or has changed."""
    messages = []
    for library in facts['host'].get('injected', []):
        path, change = library['path'], 'was removed'
        if os.path.isfile(path):
            change = compute_sha256(path)
            if change == library['sha256']:
                continue
            change = 'has changed (sha256 at installation: %s, now: %s)' % (
                library['sha256'],
                change,
            )
        messages.append(
            'a host library has changed since the installation of the module: %s %s. Install the '
            'module again' % (path, change)
        )
    return messages
