"""
Verify a prediction by a dry run: the image's loader lists the program's libraries.

The container runtime creates a container with the binds and the injection script of the module, but
with an empty home folder and an empty /tmp (--containall). The environment scripts of the image run
in this container. The image's loader then lists the libraries; the loader does not start
the program or MPI (ld.so(8), LD_TRACE_LOADED_OBJECTS; musl's --list). The function getallenv of the
action script (Apptainer 1.4.5, SingularityCE 4) prints the resulting environment, so that no
variable is unknown.

For a Python program, the image's Python then reports which mpi4py this Python finds, without a
start of MPI. No dry run is made for approach swap: the image's entrypoint would run.

request_listing() runs the loader, and add_listing() adds the result to a Trial. The Trial
then predicts the library paths that the loader printed. The rule "dry run" (rules/loading.py)
compares the libraries that the loader printed with the prediction.
"""

import glob
import os
import re
import subprocess
from posixpath import basename, dirname
from typing import Any, Dict, List, NamedTuple, Optional, Set, Tuple

from osu_container.base import outputs, streams
from osu_container.base.shell import quote
from osu_container.base.terminal import escape_line
from osu_container.image.environment import (
    SCRIPTS_FOLDER,
    merge_observed_environment,
    resolve_process_variable,
)
from osu_container.image.mpi4py import read_python_program
from osu_container.verdict.injection import FOLDER as INJECT_FOLDER
from osu_container.verdict.injection import TARGET
from osu_container.verdict.trial import (
    Trial,
    build_trial,
    list_bound_files,
    list_user_binds,
    render_bound_texts,
)


class Listing(NamedTuple):
    """The libraries and problems that the image's loader printed in a dry run."""

    #: variables after the image's scripts, None if the scripts did not complete
    environment: Optional[Dict[str, str]]
    libraries: Dict[str, str]  #: {name: path in the container}
    missing_libraries: Set[str]
    #: missing libraries and symbol versions; undefined symbols, if neither of both is missing
    complaints: Set[str]
    problem: Optional[str]  #: why the loader has listed nothing, None if there is a list
    #: whether the loader or the image's scripts caused the problem, and not this machine
    is_conclusive: bool
    #: whether the loader had all loader variables (LD_*) that the program gets
    is_trusted: bool = True
    #: path of mpi4py's extension module that Python finds, None if unknown
    mpi4py: Optional[str] = None
    #: why Python cannot import what the program imports, None if Python can or was not asked
    python_problem: Optional[str] = None


#: Seconds until the runtime is terminated
LIMIT = 60
#: Script that the runtime sources last, because the name sorts last
LAST_SCRIPT = SCRIPTS_FOLDER + '/~osu-container-dry-run.sh'
_MARK = 'osu-container-dry-run'
_TRACE = 'export LD_TRACE_LOADED_OBJECTS=1 LD_WARN=yes LD_BIND_NOW=1\n'
#: Variables of the caller that are passed to the runtime
_KEPT_VARIABLES = ('HOME', 'PATH', 'TMPDIR', 'USER', 'XDG_RUNTIME_DIR')
#: Python code that prints the file of mpi4py's extension module, and the first module that Python
#: lacks. Arguments: folders of the script, separated by colons; names of modules. The code does not start MPI
_FIND_MPI4PY = """import sys
if sys.argv[1] and sys.path[:1] == ['']: sys.path[0] = sys.argv[1]
from importlib.util import find_spec
missing = [name for name in ['mpi4py.MPI'] + sys.argv[2:] if not find_spec(name)]
print('%s', 'ImportError: no module ' + missing[0] if missing else find_spec('mpi4py.MPI').origin)
"""
#: Lines of glibc (elf/rtld.c, elf/dl-version.c) and musl (ldso/dynlink.c)
_LOADS = re.compile(r'(?m)^[ \t]+(?:(.+) => )?(/.+) \(0x[0-9a-f]+\)$')
_MISSING = re.compile(r'(?m)^[ \t]+(.+) => not found|^Error loading shared library (\S+):')
_VERSION = re.compile(r"version `(\S+)' not found \(required by")
_UNDEFINED = re.compile(
    r'undefined symbol: ([^\s,]+)|Error relocating \S+: (\S+): symbol not found'
)
_ENDS = re.compile(r'.*(?:error while loading shared libraries|symbol lookup error): .*')


def find_dry_run_obstacle(trial: Trial) -> Optional[str]:
    """Return the reason why no dry run is possible, None if a dry run is possible."""
    interpreter = find_loader_path(trial) if trial.process.loaded else None
    if not interpreter or not trial.image.exists(interpreter):
        return 'check found no dynamic loader in the image, or no file that the loader could load'
    if trial.approach.get('entrypoint'):
        return 'a dry run would execute the entrypoint of the image'
    return None


def find_loader_path(trial: Trial) -> Optional[str]:
    """Return the path of the loader (ld.so) in the image, None if the image has no loader."""
    return (
        trial.process.loaded[0].facts.interpreter
        or trial.image.read_loader_config(None).interpreter
    )


def _list_binds(trial: Trial) -> List[Tuple[str, str]]:
    """Return [(host path, container path)] of the module's binds except the injection script."""
    binds = [(facts.path, INJECT_FOLDER + '/' + name) for name, facts in trial.opened_names.items()]
    return binds + [
        (trial.host.add_root(path), path)
        for path in list_bound_files(trial.approach, trial.site, trial.host)
    ]


def _render_bound_texts(trial: Trial) -> Dict[str, str]:
    """Return {path in the container: text} of the scripts that the module binds."""
    return render_bound_texts(trial.approach, trial.site, trial.host, trial.image, trial.injected)


def _render_wrapper_settings(trial: Trial, names: str = 'LD_(LIBRARY_PATH|PRELOAD|AUDIT)$') -> str:
    """
    Return shell commands that set the variables of a wrapper script, '' without such variables.

    names: regular expression for the names of the variables.
    """
    environment = trial.image.evaluate_environment(_render_bound_texts(trial))
    lines = ''
    for name in sorted(set(environment.variables) | set(trial.environment.variables)):
        before, after = (
            resolve_process_variable(environment, name),
            resolve_process_variable(trial.environment, name),
        )
        if not re.match(names, name):
            continue
        if after is None and before is not None:
            lines += 'unset %s\n' % name
        elif after and after.value is not None and (not before or after.value != before.value):
            lines += 'export %s=%s\n' % (name, quote(after.value))
    return lines


def _run_container(trial: Trial, last: str, start: List[str]) -> str:
    """
    Run a program in the container and return the output.

    last: text of the script that runs after the scripts of the image and of the module. start:
    command line of the program.
    """
    variables = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    variables.update((name, ','.join(binds)) for name, binds in list_user_binds().items())
    words = [
        (trial.runtime or {})['command'],
        '--quiet',
        'exec',
        '--containall',
    ]
    with outputs.open_work_folder() as folder:
        binds = _list_binds(trial)
        for number, (path, text) in enumerate(
            ((TARGET, _render_bound_texts(trial)[TARGET]), (LAST_SCRIPT, last))
        ):
            file = os.path.join(folder, str(number))
            with open(file, 'w') as handle:
                handle.write(text)
            binds.append((file, path))
        words += [part for bind in binds for part in ('--bind', '%s:%s' % bind)]
        words += [os.path.abspath(trial.image.path)] + start
        with streams.start_process_group(
            words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=variables
        ) as child:
            try:
                return child.communicate(timeout=LIMIT)[0].decode('utf-8', 'replace')
            except subprocess.TimeoutExpired:
                streams.terminate_process_group(child)
                child.communicate()
                return 'terminated after %d s' % LIMIT


def request_listing(trial: Trial, wrapper_settings: str = '') -> Listing:
    """
    Run the image's loader for a Trial and return a Listing of what the loader printed.

    wrapper_settings: the text that _render_wrapper_settings() returns.
    """
    problem = find_dry_run_obstacle(trial)
    if problem:
        return Listing(None, {}, set(), set(), problem, False)
    start = (
        [str(find_loader_path(trial))]
        + (['--list'] if trial.process.uses_musl else [])
        + ([] if trial.is_static else [trial.process.loaded[0].path])
    )
    last = 'echo %s\ngetallenv\necho %s\n' % (_MARK, _MARK) + wrapper_settings + _TRACE
    listing = parse_listing(_run_container(trial, last, start))
    variables = [
        resolve_process_variable(trial.environment, name)
        for name in ('LD_LIBRARY_PATH', 'LD_PRELOAD', 'LD_AUDIT')
    ]
    is_known = all(variable is None or variable.value is not None for variable in variables)
    if trial.is_static and listing.environment:
        problem = '%s is linked statically, so it loads no libraries' % trial.program
        listing = listing._replace(problem=problem, is_conclusive=False)
    return listing._replace(is_trusted=is_known)


def find_mpi4py(trial: Trial) -> Tuple[Optional[str], Optional[str]]:
    """
    Run the image's Python to find the mpi4py of a program; return (path, problem).

    path: path of mpi4py's extension module. problem: why Python cannot import a module of the
    program. The result is (None, None) if the program does not run Python, or if the value of a
    variable that Python reads is unknown.
    """
    python = read_python_program(trial.image, trial.launched)
    unknown = [
        name
        for name, variable in trial.launched.environment.variables.items()
        if re.match('PYTHON|MPI4PY|LD_', name) and variable.value is None and variable.exported
    ]
    if (
        not python
        or python.problem
        or python.has_own_folder
        or unknown
        or trial.launched.environment.default
    ):
        return None, None
    folder = dirname(trial.image.resolve(python.script) or '') if python.script else ''
    code = [python.path] + python.options + ['-c', _FIND_MPI4PY % _MARK, folder]
    output = _run_container(
        trial,
        _render_wrapper_settings(trial, 'PYTHON|MPI4PY|LD_'),
        code + ['numpy'] * python.uses_numpy,
    )
    answer = re.search(r'(?m)^%s (/.*)$' % _MARK, output)
    errors = re.findall(r'(?m)^.*(?:Error\b|Fatal Python error|error while loading).*$', output)
    # The dry run hides the home folder, in which the run may find the missing module.
    user_site = glob.glob(os.path.expanduser('~/.local/lib/python3*/site-packages'))
    if answer or not errors or user_site:
        return answer.group(1) if answer else None, None
    return None, escape_line(errors[-1].replace(_MARK, '').strip())


def parse_listing(output: str) -> Listing:
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
    names = {name or basename(path): path for name, path in _LOADS.findall(listed)}
    missing, undefined = (
        set(map(''.join, pattern.findall(listed))) for pattern in (_MISSING, _UNDEFINED)
    )
    complaints = missing.union(_VERSION.findall(listed)) or undefined
    ends = _ENDS.findall(listed)
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
    return Listing(environment, names, missing, complaints, problem, is_conclusive)


def add_listing(trial: Trial, approach: Dict[str, Any], program: Optional[str] = None) -> Trial:
    """
    Run the image's loader; return the Trial with the Listing and the observed variables.

    approach, program: the parameters of build_trial().

    Raises the errors of build_trial().
    """
    image = trial.image

    def rebuild(listing: Optional[Listing]) -> Trial:
        return build_trial(approach, trial.site, image, trial.host, program, trial.runtime, listing)

    def describe_start() -> Tuple[Optional[str], str]:
        return trial.program, _render_wrapper_settings(trial)

    before = describe_start()
    listing = request_listing(trial, before[1])
    if listing.environment is not None:
        bound = _render_bound_texts(trial)
        evaluated = image.evaluate_environment(bound)
        observed = merge_observed_environment(listing.environment, evaluated)
        if observed != evaluated:
            image.store_environment(bound, observed, INJECT_FOLDER)
            trial = rebuild(None)
        mpi4py, python_problem = find_mpi4py(trial)
        if mpi4py:
            trial = rebuild(listing._replace(mpi4py=mpi4py, is_trusted=False))
        if describe_start() != before:  # The environment or the program was unknown before.
            listing = request_listing(trial, describe_start()[1])
        listing = listing._replace(mpi4py=mpi4py, python_problem=python_problem)
    return rebuild(listing)
