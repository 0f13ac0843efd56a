"""
Verify a prediction by a dry run: the image's loader lists the program's libraries.

The container runtime creates a container with the binds and the injection script of the module, but
with an empty home folder and an empty /tmp (--containall). The environment scripts of the image run
in this container. For approach swap, this project's entrypoint runs too. The image's loader then
lists the libraries; the loader starts neither the program nor MPI (ld.so(8),
LD_TRACE_LOADED_OBJECTS; musl's --list). The function getallenv of the action script (Apptainer
1.4.5, SingularityCE 4) prints the resulting environment, so that no variable is unknown.

request_listing() runs the loader, add_listing() adds the result to a Trial, and the rule "dry run"
(rules/loading.py) compares the result with the prediction.
"""

import os
import posixpath
import re
import signal
import subprocess
import tempfile
import time
from typing import Any, Dict, List, NamedTuple, Optional, Set, Tuple

from osu_container.base.shell import quote
from osu_container.base.terminal import escape_line
from osu_container.image.environment import (
    SCRIPTS_FOLDER,
    merge_observed_environment,
    resolve_process_variable,
)
from osu_container.verdict.injection import FOLDER as INJECT_FOLDER
from osu_container.verdict.injection import TARGET
from osu_container.verdict.trial import (
    BIND_VARIABLES,
    Trial,
    apply_entrypoint,
    build_trial,
    list_bound_files,
    list_entrypoint_folders,
    map_opened_names,
    render_bound_texts,
)


class Listing(NamedTuple):
    """The libraries and problems that the image's loader printed in a dry run."""

    #: variables after the image's scripts, None if the scripts did not complete
    environment: Optional[Dict[str, str]]
    libraries: Dict[str, str]  #: {name: path in the container}
    missing_libraries: Set[str]
    missing_versions: Set[str]
    undefined_symbols: Set[str]
    problem: Optional[str]  #: why the loader has listed nothing, None if there is a list
    #: whether the loader or the image's scripts caused the problem, and not this machine
    is_conclusive: bool
    seconds: float


#: Seconds until the runtime is terminated
LIMIT = 60
#: Script that the runtime sources last, because the name sorts last
LAST_SCRIPT = SCRIPTS_FOLDER + '/~osu-container-dry-run.sh'
_MARK = 'osu-container-dry-run'
_TRACE = {'LD_TRACE_LOADED_OBJECTS': '1', 'LD_WARN': 'yes', 'LD_BIND_NOW': '1'}
#: Variables of the caller that are passed to the runtime
_KEPT_VARIABLES = ['HOME', 'PATH', 'TMPDIR', 'USER', 'XDG_RUNTIME_DIR', *BIND_VARIABLES]
#: Lines of glibc (elf/rtld.c, elf/dl-version.c), musl (ldso/dynlink.c) and this project's entrypoint
_LOADS = re.compile(r'\s+(?:(\S+) => )?(/\S+) \(0x')
_MISSING = re.compile(r'\s+(\S+) => not found|Error loading shared library (\S+):')
_VERSION = re.compile(r"version `(\S+)' not found \(required by")
_UNDEFINED = re.compile(
    r'undefined symbol: ([^\s,]+)|Error relocating \S+: (\S+): symbol not found'
)
_ENDS = re.compile(
    r'.*(?:error while loading shared libraries|symbol lookup error): |'
    r'osu-entrypoint: .*cannot take the '
)


def find_dry_run_obstacle(trial: Trial) -> Optional[str]:
    """Return the reason why the image's loader cannot run, None if the loader can run."""
    loaded, start, image = trial.process.loaded, trial.program, trial.image
    if trial.container.runtime is None or trial.host.is_partial or image.is_partial:
        return (
            "the image's loader can run only on the system itself, with a container runtime on PATH"
        )
    if not loaded:
        return 'check knows no program or library that the loader could load'
    if loaded[0].facts.machine != trial.host.get_machine():
        return 'the image is for %s' % loaded[0].facts.machine
    interpreter = find_loader_path(trial)
    if not interpreter or not image.exists(interpreter):
        return 'the image has no %s' % (interpreter or 'loader')
    if trial.approach.get('entrypoint') and not start.path:
        return "check knows no program that the image's entrypoint could start"
    if trial.approach.get('entrypoint') and not any(
        'OSU_SWAP' in (text or '') for _, text in image.read_entrypoint()
    ):
        return "a dry run would execute the image's entrypoint, which is not from this project"
    return None


def find_listing_obstacle(trial: Trial) -> Optional[str]:
    """Return why the loader cannot list the program's libraries, None if the loader can."""
    start = trial.program
    if start.is_static:
        return '%s is linked statically, so it loads no libraries' % start.path
    if start.path and 's' in trial.image.read_file_mode(start.path).lower():
        return (
            '%s is setuid or setgid, and the loader treats setuid and setgid programs differently'
        ) % start.path
    return None


def find_loader_path(trial: Trial) -> Optional[str]:
    """Return the path of the loader (ld.so) in the image, None if the image has no loader."""
    return (
        trial.process.loaded[0].facts.interpreter
        or trial.image.read_loader_config(None).interpreter
    )


def _list_binds(trial: Trial) -> List[Tuple[str, str]]:
    """Return [(host path, container path)] of the module's binds except the injection script."""
    approach, site, host, injected = (
        trial.approach,
        trial.site,
        trial.host,
        trial.injected,
    )
    if approach.get('entrypoint'):
        binds = [
            (folder['path'], folder['target'])
            for folder in list_entrypoint_folders(
                approach, site, [(name, facts.path) for name, facts in injected.items()], host
            )
        ]
    else:
        names = map_opened_names(approach, site, host, injected)
        binds = [(facts.path, INJECT_FOLDER + '/' + name) for name, facts in names.items()]
    return binds + [(host.add_root(path), path) for path in list_bound_files(approach, site, host)]


def _render_bound_texts(trial: Trial) -> Dict[str, str]:
    """Return {path in the container: text} of the scripts that the module binds."""
    return render_bound_texts(trial.approach, trial.site, trial.host, trial.image, trial.injected)


def _render_wrapper_settings(trial: Trial) -> str:
    """Return shell commands for the loader variables (LD_*) that only a wrapper script sets."""
    environment = apply_entrypoint(
        trial.approach,
        trial.image.evaluate_environment(_render_bound_texts(trial)),
        trial.injected,
    )
    lines = ''
    for name in ('LD_LIBRARY_PATH', 'LD_PRELOAD', 'LD_AUDIT'):
        before, after = (
            resolve_process_variable(environment, name),
            resolve_process_variable(trial.environment, name),
        )
        if after is None and before is not None:
            lines += 'unset %s\n' % name
        elif (
            after is not None
            and after.value is not None
            and (before is None or after.value != before.value)
        ):
            lines += 'export %s=%s\n' % (name, quote(after.value))
    return lines


def _build_command(trial: Trial, folder: str, wrapper_settings: str) -> List[str]:
    """
    Return the command line of the container runtime for a dry run, as a list of words.

    folder: empty folder, in which this function writes the scripts to bind.
    wrapper_settings: the text that _render_wrapper_settings() returns.
    """
    entrypoint = trial.approach.get('entrypoint')
    setting = ''.join('export %s=%s\n' % item for item in sorted(_TRACE.items()))
    last = 'echo %s\ngetallenv\necho %s\n' % (_MARK, _MARK) + (
        'export OSU_SWAP=require\n' if entrypoint else wrapper_settings + setting
    )
    binds = _list_binds(trial)
    for number, (path, text) in enumerate(
        ((TARGET, _render_bound_texts(trial)[TARGET]), (LAST_SCRIPT, last))
    ):
        file = os.path.join(folder, str(number))
        with open(file, 'w') as handle:
            handle.write(text)
        binds.append((file, path))
    program, loader = trial.process.loaded[0].path, find_loader_path(trial)
    start = (
        [str(loader)]
        + (['--list'] if trial.process.uses_musl else [])
        + ([] if find_listing_obstacle(trial) else [program])
    )
    if entrypoint:  # The entrypoint skips `env NAME=VALUE`, and runs the loader itself.
        start = ['env'] + sorted('%s=%s' % item for item in _TRACE.items()) + [program]
    words = [
        (trial.container.runtime or {})['command'],
        '--quiet',
        'run' if entrypoint else 'exec',
        '--containall',
    ]
    return (
        words
        + [part for bind in binds for part in ('--bind', '%s:%s' % bind)]
        + [os.path.abspath(trial.image.path)]
        + start
    )


def request_listing(trial: Trial, wrapper_settings: str = '') -> Listing:
    """Run the image's loader for a Trial and return a Listing of what the loader printed."""
    problem, start = find_dry_run_obstacle(trial), time.monotonic()
    if wrapper_settings and trial.approach.get('entrypoint'):
        problem = problem or (
            'a script sets loader variables (LD_*) after the entrypoint, and the '
            'dry run does not run this script'
        )
    if trial.approach.get('entrypoint'):
        problem = problem or find_listing_obstacle(trial)
    if problem:
        return Listing(None, {}, set(), set(), set(), problem, False, 0.0)
    with tempfile.TemporaryDirectory() as folder:
        proc = subprocess.Popen(
            _build_command(trial, folder, wrapper_settings),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ},
        )
        try:
            output = proc.communicate(timeout=LIMIT)[0]
        except subprocess.TimeoutExpired:
            os.killpg(proc.pid, signal.SIGKILL)
            proc.communicate()
            output = b'terminated after %d s' % LIMIT
    listing = parse_listing(output.decode('utf-8', 'replace'), time.monotonic() - start)
    return (
        listing._replace(problem=find_listing_obstacle(trial), is_conclusive=False)
        if find_listing_obstacle(trial) and listing.environment
        else listing
    )


def parse_listing(output: str, seconds: float) -> Listing:
    """Parse the output of the container runtime and the image's loader into a Listing."""
    parts = re.split('(?m)^%s\n' % _MARK, output)
    environment, listed = None, output
    if len(parts) == 3:
        pairs = [line.split('=', 1) for line in parts[1].splitlines() if '=' in line]
        environment, listed = (
            {name: value.replace('\\u000A', '\n') for name, value in pairs},
            parts[2],
        )
    lines = [line for line in listed.splitlines() if line.strip()]
    names: Dict[str, str] = {}
    missing: Set[str] = set()
    versions: Set[str] = set()
    undefined: Set[str] = set()
    ends: List[str] = []
    for line in lines:
        match = _LOADS.match(line)
        if match:
            names[match.group(1) or posixpath.basename(match.group(2))] = match.group(2)
        match = _MISSING.match(line)
        missing.update(filter(None, match.groups() if match else ()))
        versions.update(_VERSION.findall(line))
        undefined.update(''.join(pair) for pair in _UNDEFINED.findall(line))
        ends += [line] if _ENDS.match(line) else []
    problem, is_conclusive = None, False
    last_line = ': ' + escape_line(lines[-1].strip()) if lines else ''
    if environment is None:
        # FATAL: the runtime could not create the container. If the message names the action script,
        # an `exit` in the image's scripts has stopped that script.
        is_conclusive = 'FATAL' not in output or '/.singularity.d/actions/' in output
        problem = (
            'the environment scripts of the image exit before the program starts'
            if is_conclusive
            else 'the runtime could not start the container'
        ) + last_line
    elif ends:
        problem, is_conclusive = escape_line(ends[0].strip()), True
    elif not names and not missing:
        problem = 'the loader lists nothing' + last_line
    return Listing(
        environment, names, missing, versions, undefined, problem, is_conclusive, seconds
    )


def add_listing(trial: Trial, approach: Dict[str, Any], program: Optional[str] = None) -> Trial:
    """
    Run the image's loader; return the Trial with the Listing and the observed variables.

    approach, program: the parameters of build_trial().

    Raises the errors of build_trial().
    """
    image, wrapper_settings = trial.image, _render_wrapper_settings(trial)
    listing = request_listing(trial, wrapper_settings)
    if listing.environment is not None:
        bound = _render_bound_texts(trial)
        evaluated = image.evaluate_environment(bound)
        observed = merge_observed_environment(listing.environment, evaluated)
        if observed != evaluated:
            image.store_environment(bound, observed, INJECT_FOLDER)
            before = trial.program.path, wrapper_settings
            trial = build_trial(
                approach, trial.site, image, trial.host, program, trial.container.runtime
            )
            if (
                trial.program.path,
                _render_wrapper_settings(trial),
            ) != before:  # The environment was incomplete before.
                listing = request_listing(trial, _render_wrapper_settings(trial))
    return trial._replace(listing=listing)
