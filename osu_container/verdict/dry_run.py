"""
The dry run: the image's own loader lists what it would load, as a second opinion on the trial on
paper (trial.py).

The container runtime makes the container of the module, with its binds and the file that puts
libraries in front, but with a home and a /tmp of its own (--containall). In it run the environment
scripts of the image, for approach swap this project's entrypoint, and the image's loader, which
lists and starts nothing (ld.so(8), LD_TRACE_LOADED_OBJECTS; musl's --list): neither the program nor
MPI. What the scripts made is read back by the action script's own command getallenv (Apptainer
1.4.5, SingularityCE 4), so that here nothing of an environment is unknown.

request_listing() asks, add_listing() puts the answer into a Trial, the rule "dry run"
(rules/loading.py) compares. Python 3.6.
"""

import os
import posixpath
import re
import signal
import subprocess
import tempfile
import time
from collections import namedtuple

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
    apply_entrypoint,
    build_trial,
    list_bound_files,
    list_entrypoint_folders,
    map_opened_names,
    render_bound_texts,
)

#: environment: {name: value} that the image's scripts left, None where they did not come to their
#: end; libraries: {name: path in the container}, as the loader lists them; missing: set of names;
#: versions: set of version names that lack; undefined: set of symbols; problem: why there is no
#: list (str), or None; sure: bool, the loader says so, or the image's scripts end the start, and it
#: is no lack of this machine; seconds: float
Listing = namedtuple(
    'Listing',
    'environment libraries missing_libraries missing_versions undefined_symbols problem is_conclusive seconds',
)

#: s until the runtime is ended
LIMIT = 60
#: Bound behind all scripts, by the bytes of its name
LAST_SCRIPT = SCRIPTS_FOLDER + '/~osu-container-dry-run.sh'
_MARK = 'osu-container-dry-run'
_TRACE = {'LD_TRACE_LOADED_OBJECTS': '1', 'LD_WARN': 'yes', 'LD_BIND_NOW': '1'}
#: What the runtime is started with of the caller's variables
_KEPT_VARIABLES = ('HOME', 'PATH', 'TMPDIR', 'USER', 'XDG_RUNTIME_DIR')
#: Lines of glibc (elf/rtld.c, elf/dl-version.c), of musl (ldso/dynlink.c), of this project's
#: entrypoint
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


def find_dry_run_obstacle(trial):
    """Return why the loader of the image cannot be asked (str), None where it can."""
    loaded, start, image = trial.process.loaded, trial.program, trial.image
    if trial.container.runtime is None or trial.host.is_partial or image.is_partial:
        return 'that needs the machine itself, with a container runtime on PATH'
    if not loaded:
        return 'there is no file to begin with'
    if loaded[0].facts.machine != trial.host.get_machine():
        return 'it is for %s' % loaded[0].facts.machine
    interpreter = find_loader_path(trial)
    if not interpreter or not image.exists(interpreter):
        return 'the image has no %s' % (interpreter or 'loader')
    if trial.approach.get('entrypoint') and not start.path:
        return 'no program is known, and an entrypoint starts nothing else'
    if trial.approach.get('entrypoint') and not any(
        'OSU_SWAP' in (text or '') for _, text in image.read_entrypoint()
    ):
        return "the entrypoint is not this project's, and would be started"
    return None


def find_listing_obstacle(trial):
    """
    Return why the loader, although it can be asked, has no list of the program (str), None where
    it has.
    """
    start = trial.program
    if start.is_static:
        return '%s is linked statically and has no list' % start.path
    if start.path and 's' in trial.image.read_file_mode(start.path).lower():
        return '%s is setuid or setgid, for which the loader has other rules' % start.path
    return None


def find_loader_path(trial):
    """Return the path (str) in the image of the loader of the process, None without one."""
    return (
        trial.process.loaded[0].facts.interpreter
        or trial.image.read_loader_config(None).interpreter
    )


def _list_binds(trial):
    """
    Return [(path on this machine, path in the container)] of the module, but for its file
    (injection.py).
    """
    approach, site, host, injected = (
        trial.approach,
        trial.site,
        trial.host,
        trial.host_libraries.injected,
    )
    if approach.get('entrypoint'):
        found = [
            (one['path'], one['target'])
            for one in list_entrypoint_folders(
                approach, site, [(name, one.path) for name, one in injected.items()], host
            )
        ]
    else:
        names = map_opened_names(approach, site, host, injected)
        found = [(one.path, INJECT_FOLDER + '/' + name) for name, one in names.items()]
    return found + [(host.add_root(path), path) for path in list_bound_files(approach, site, host)]


def _render_bound_texts(trial):
    """Return {path: text} of what the module binds."""
    return render_bound_texts(
        trial.approach, trial.site, trial.host, trial.image, trial.host_libraries.injected
    )


def _render_wrapper_settings(trial):
    """
    Return the lines (str) for a shell with what a wrapper sets for the loader, beside the
    scripts of the image.
    """
    own, lines = (
        apply_entrypoint(
            trial.approach,
            trial.image.evaluate_environment(_render_bound_texts(trial)),
            trial.host_libraries.injected,
        ),
        '',
    )
    for name in ('LD_LIBRARY_PATH', 'LD_PRELOAD', 'LD_AUDIT'):
        then, now = (
            resolve_process_variable(own, name),
            resolve_process_variable(trial.container.environment, name),
        )
        if now is None and then is not None:
            lines += 'unset %s\n' % name
        elif (
            now is not None and now.value is not None and (then is None or now.value != then.value)
        ):
            lines += 'export %s=%s\n' % (name, quote(now.value))
    return lines


def _build_command(trial, folder, more):
    """
    Return the command (list of str) of the runtime; folder: str, an empty one, for the scripts that
    are bound; more: as _render_wrapper_settings() gives it.
    """
    through = trial.approach.get('entrypoint')
    setting = ''.join('export %s=%s\n' % item for item in sorted(_TRACE.items()))
    last = 'echo %s\ngetallenv\necho %s\n' % (_MARK, _MARK) + (
        'export OSU_SWAP=require\n' if through else more + setting
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
        [loader]
        + (['--list'] if trial.process.uses_musl else [])
        + ([] if find_listing_obstacle(trial) else [program])
    )
    if through:  # it reads past `env NAME=VALUE`, and asks the loader itself
        start = ['env'] + sorted('%s=%s' % item for item in _TRACE.items()) + [program]
    words = [
        trial.container.runtime['command'],
        '--quiet',
        'run' if through else 'exec',
        '--containall',
    ]
    return (
        words
        + [part for bind in binds for part in ('--bind', '%s:%s' % bind)]
        + [os.path.abspath(trial.image.path)]
        + start
    )


def request_listing(trial, more=''):
    """
    Return the Listing of a Trial: what the image's own loader says of it; more: as
    _render_wrapper_settings() gives it.
    """
    problem, begin = find_dry_run_obstacle(trial), time.monotonic()
    if more and trial.approach.get('entrypoint'):
        problem = problem or 'a script sets more for the loader, behind the entrypoint'
    if trial.approach.get('entrypoint'):
        problem = problem or find_listing_obstacle(trial)
    if problem:
        return Listing(None, {}, set(), set(), set(), problem, False, 0.0)
    with tempfile.TemporaryDirectory() as folder:
        proc = subprocess.Popen(
            _build_command(trial, folder, more),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=dict((name, os.environ[name]) for name in _KEPT_VARIABLES if name in os.environ),
        )
        try:
            output = proc.communicate(timeout=LIMIT)[0]
        except subprocess.TimeoutExpired:
            os.killpg(proc.pid, signal.SIGKILL)
            proc.communicate()
            output = b'ended after %d s' % LIMIT
    found = parse_listing(output.decode('utf-8', 'replace'), time.monotonic() - begin)
    return (
        found._replace(problem=find_listing_obstacle(trial), sure=False)
        if find_listing_obstacle(trial) and found.environment
        else found
    )


def parse_listing(output, seconds):
    """Return the Listing of what the runtime and the loader printed (str)."""
    parts = re.split('(?m)^%s\n' % _MARK, output)
    environment, said = None, output
    if len(parts) == 3:
        pairs = [line.split('=', 1) for line in parts[1].splitlines() if '=' in line]
        environment, said = (
            dict((name, value.replace('\\u000A', '\n')) for name, value in pairs),
            parts[2],
        )
    lines = [line for line in said.splitlines() if line.strip()]
    names, missing, versions, undefined, ends = {}, set(), set(), set(), []
    for line in lines:
        found = _LOADS.match(line)
        if found:
            names[found.group(1) or posixpath.basename(found.group(2))] = found.group(2)
        found = _MISSING.match(line)
        missing.update(filter(None, found.groups() if found else ()))
        versions.update(_VERSION.findall(line))
        undefined.update(''.join(pair) for pair in _UNDEFINED.findall(line))
        ends += [line] if _ENDS.match(line) else []
    problem, sure = None, False
    if environment is None:
        # the runtime's own word: it could not make the container; but for its script, which another
        # `exit` has ended
        sure = 'FATAL' not in output or '/.singularity.d/actions/' in output
        problem = (
            'the scripts of the image end before the program'
            if sure
            else 'the runtime could not start it'
        ) + (': ' + escape_line(lines[-1].strip()) if lines else '')
    elif ends:
        problem, sure = escape_line(ends[0].strip()), True
    elif not names and not missing:
        problem = 'it lists nothing' + (': ' + escape_line(lines[-1].strip()) if lines else '')
    return Listing(environment, names, missing, versions, undefined, problem, sure, seconds)


def add_listing(trial, approach, program=None):
    """
    Return the Trial after the image's loader was asked: with its Listing, and by the environment
    that was seen.

    :param trial: Trial; approach, program: what it was made of, see build_trial(), which raises the
        errors
    """
    image, more = trial.image, _render_wrapper_settings(trial)
    listing = request_listing(trial, more)
    if listing.environment is not None:
        bound = _render_bound_texts(trial)
        own = image.evaluate_environment(bound)
        seen = merge_observed_environment(listing.environment, own)
        if seen != own:
            image.store_environment(bound, seen, INJECT_FOLDER)
            before = trial.program.path, more
            trial = build_trial(
                approach, trial.site, image, trial.host, program, trial.container.runtime
            )
            if (
                trial.program.path,
                _render_wrapper_settings(trial),
            ) != before:  # both may follow from what was not known
                listing = request_listing(trial, _render_wrapper_settings(trial))
    return trial._replace(listing=listing)
