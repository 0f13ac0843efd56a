"""
Rules on the start of a program: entrypoint and scripts of the image, loaded libraries.

`check --start` starts the user's command and observes which libraries the command loads.
"""

import re
from typing import Iterator, List, Optional, Tuple

from osu_container.base.terminal import escape_line
from osu_container.image.environment import find_interpreter
from osu_container.verdict.commands import has_static_mpi
from osu_container.verdict.rules.finding import (
    NOTE,
    RULES_BY_NAME,
    Finding,
    make_finding,
    report_problem,
    rule,
)
from osu_container.verdict.rules.questions import may_open_libfabric
from osu_container.verdict.settings import WRAPPER
from osu_container.verdict.started import MappedFile, Start, StartedProcess
from osu_container.verdict.trial import Change, Trial, find_mount

#: Last messages of glibc (elf/rtld.c, elf/dl-lookup.c, elf/dl-version.c), of musl, of Python with
#: mpi4py and of Intel MPI, if a library or module is missing or does not fit; and of programs that
#: write into the image, which is read-only
_START_FAILURE = re.compile(
    r'.*(?:error while loading shared libraries|symbol lookup error|Error relocating \S+): |'
    r".*version `\S+' not found \(required by |.*failed to load libfabric\.so|"
    r'Error loading shared library |RuntimeError: cannot load MPI library|'
    r'ModuleNotFoundError: |.*: Read-only file system$|.*\blibmpi\S*: cannot open shared object file|'
    r'(?:ImportError|OSError|RuntimeError): .*(?:undefined symbol: |cannot open shared object file)'
)
#: Last line of a shell with `set -u`
_UNSET_VARIABLE = re.compile(
    r'.*: (?!SLURM|PBS|PMI|PALS|FLUX|OMPI|MPI_)\w+: (parameter not set|unbound variable)$'
)


def is_superseded(trial: Trial, finding: Finding) -> bool:
    """
    Return whether an observed process makes a predicted finding obsolete.

    A process that runs has all symbols that ld.so resolves at load time. The symbols that ld.so
    resolves later can be judged only if all files of the process are known.
    """
    if trial.started is None:
        return False
    if finding.rule == 'undefined symbol':
        paths = [file.path for file in trial.started.files]
        is_complete = trial.started.program in paths and any('/ld-' in path for path in paths)
        return finding.level == 'fails' or not is_complete
    superseded = RULES_BY_NAME[finding.rule].superseded
    # MPI may open libfabric later, so the libfabric is still a prediction.
    return superseded == 'of MPI' or bool(superseded) and not may_open_libfabric(trial)


def _format_file(file: MappedFile) -> str:
    """Return the path of a loaded file with its owner, such as '/opt/libmpi.so.12 (image)'."""
    return '%s (%s)' % (file.path, file.origin or 'owner unknown')


def _format_process(process: StartedProcess) -> str:
    """Return the MPI libraries and the libfabric that a process has loaded, as text."""
    fabrics = [process.libfabric] if process.libfabric else []
    return ' and '.join(map(_format_file, process.libmpi + fabrics))


def _list_foreign_files(trial: Trial, started: StartedProcess) -> List[Tuple[str, MappedFile]]:
    """
    Return (expected owner, file) of each loaded MPI or libfabric with an unexpected owner.

    The owner of a file is the image or the host.
    """
    expected = [('libmpi', file) for file in started.libmpi]
    expected += [('libfabric', started.libfabric)] if started.libfabric else []
    return [
        (trial.approach['comes_from'][name], file)
        for name, file in expected
        if file.origin != trial.approach['comes_from'][name]
    ]


@rule('start', source='proc(5), /proc/PID/maps; ld.so(8), LD_DEBUG')
def check_start(trial: Trial) -> Iterator[Finding]:
    """
    Check that each started process has loaded the MPI and libfabric of the approach.
    """
    start, started = trial.start, trial.started
    if start is None:
        return
    evidence = [
        (escape_line(process.program), _format_process(process)) for process in start.processes
    ]
    if started is None or find_start_failure(trial, start):
        yield _report_no_mpi(trial, start, ' '.join(map(escape_line, start.command)))
    elif WRAPPER not in trial.injected and len({file.path for file in started.libmpi}) > 1:
        yield make_finding(
            'unknown',
            'the process %s of the started command has loaded several MPI libraries: %s'
            % (escape_line(started.program), ' and '.join(map(_format_file, started.libmpi))),
            evidence,
            'use a program whose libraries all need the same MPI',
        )
    elif may_open_libfabric(trial) and (
        trial.approach.get('entrypoint') or started.is_loader and not trial.launched.program
    ):
        yield make_finding(
            'unknown',
            'cannot tell which libfabric MPI opens between nodes: the observed process has opened '
            'none, and the entrypoint of the image, or a start through ld.so, changes where MPI '
            'searches for libfabric',
            evidence,
            'use approach hybrid, or start the program directly instead of through ld.so',
        )
    else:
        foreign = _list_foreign_files(trial, started)
        for owner, file in foreign:
            yield make_finding(
                'fails' if file.origin else 'unknown',
                '%s has loaded %s, but with approach %s the library must come from the %s'
                % (
                    escape_line(started.program),
                    _format_file(file),
                    trial.approach['name'],
                    owner,
                ),
                evidence,
                "find out why ld.so finds %s before the host's library, and remove the cause: a "
                'folder in LD_LIBRARY_PATH, a DT_RPATH (`patchelf --set-rpath`), or a soname that '
                "differs from the soname of the host's library" % file.path
                if owner == 'host'
                else 'remove the folder of %s from LD_LIBRARY_PATH and from the binds' % file.path,
            )
        if not foreign:
            yield make_finding(
                NOTE,
                'started in %.1f s, %s has loaded %s%s'
                % (
                    start.seconds,
                    escape_line(started.program),
                    _format_process(started),
                    '; %s was still running, and may start other programs later'
                    % ', '.join(map(escape_line, start.waiting))
                    if start.waiting
                    else '; the command then ended with exit code %d' % start.exit_code
                    if start.exit_code
                    else '',
                ),
                evidence,
            )


def find_start_failure(trial: Trial, start: Start) -> Optional[str]:
    """
    Return the line of the output that names the cause of a command's failure, otherwise None.

    The last line of the output is the cause in two cases: a shell cannot enter a folder that could
    only be in the image, or a shell reports an unset variable, and no batch system or
    launcher sets this variable.
    """
    lines = [text for text in start.output if start.exit_code and text.strip()]
    failure = next((text for text in lines if _START_FAILURE.match(text)), None)
    entered = re.match(r".*\bcd: (?:can't cd to )?((/[^/:]+)/[^:]+)", ''.join(lines[-1:]))
    is_in_image = entered and trial.image.find_file_type(entered.group(2)) == 'd'
    if (
        is_in_image
        and not (entered and find_mount(trial.mounts, entered.group(1)))
        or _UNSET_VARIABLE.match(''.join(lines[-1:]))
    ):
        failure = failure or lines[-1]
    return failure


def _report_no_mpi(trial: Trial, start: Start, line: str) -> Finding:
    """Return the finding on a command that failed, or that has loaded no MPI library."""
    failure = find_start_failure(trial, start)
    if failure:
        return make_finding(
            'fails',
            'the started command failed before it loaded MPI: %s' % escape_line(failure.strip()),
            [(line, text) for text in start.output],
            'install the missing file or package in the image: the error message contains the name '
            'and, if necessary, the release',
        )
    if trial.is_static and trial.program and has_static_mpi(trial.image, trial.program):
        return make_finding(
            NOTE,
            'the started program %s is linked statically with MPI, so no MPI library is loaded'
            % trial.program,
        )
    ending = (
        'was terminated after %.0f s' % start.seconds
        if start.exit_code is None
        else 'ended with exit code %d' % start.exit_code
    )
    last = [escape_line(text.strip()) for text in start.output if re.search(r'\S', text)][-1:]
    # A command such as `PROGRAM --help` says nothing against the libraries that the loader lists.
    is_harmless = not (
        start.exit_code is None
        or start.exit_code
        or trial.unknown_reason
        or any(map(_START_FAILURE.match, start.output))
    )
    return make_finding(
        NOTE if is_harmless else 'unknown',
        'no process of the command `%s` has loaded an MPI library, and the command %s%s'
        % (line, ending, ': ' + last[0] if last else ''),
        [(line, escape_line(text)) for text in start.output],
        'give a command that reaches MPI_Init without files of the current folder: '
        '`osu-container check %s --start -- COMMAND`' % trial.image.path,
    )


def _names_host_folder(text: Optional[str]) -> bool:
    """Return whether a script's text contains /host, the folder of the host's libraries."""
    return bool(text and re.search(r'/host\b', text))


@rule(
    'interpreter',
    source='execve(2), Interpreter scripts; test runs with random pairs of an image and a host: '
    'the entrypoint was a bash script in an image without bash',
    superseded='of MPI',
)
def check_interpreter(trial: Trial) -> Iterator[Finding]:
    """
    Check that every started file is executable, and the image has the interpreter of every script.
    """
    image = trial.image
    if image.is_partial:
        return
    # An entrypoint may only read a file that the entrypoint names, so only started files are checked.
    for path in filter(None, [path for path, _ in trial.launched.scripts] + [trial.program]):
        if not image.tree.is_executable(path):
            yield report_problem(
                'fails',
                '%s is not executable: its mode is %s' % (path, image.tree.read_file_mode(path)),
                'image:' + path,
                'mode ' + image.tree.read_file_mode(path),
                'run `chmod a+x %s` in the recipe of the image' % path,
            )
    scripts = image.read_entrypoint() if trial.approach.get('entrypoint') else []
    for path, text in [script for script in scripts if _names_host_folder(script[1])] + [
        *trial.launched.scripts
    ]:
        missing = find_interpreter(image, text)[1]
        if missing:
            yield report_problem(
                'fails',
                '%s needs the interpreter %s, which the image does not have'
                % (path, missing.replace('\r', '\\r')),
                'image:' + path,
                missing,
                'run `dos2unix FILE` to convert the script to Unix line ends'
                if '\r' in missing
                else 'install %s in the image' % missing,
            )


@rule('entrypoint', source='HPE, MPI OSU Benchmarks with libfabric swap: /host/lib and /host/usr')
def check_entrypoint(trial: Trial) -> Iterator[Finding]:
    """
    With approach swap, check that the image's entrypoint searches the folders of host libraries.
    """
    if not trial.approach.get('entrypoint') or trial.image.is_partial:
        return
    scripts, targets = (
        trial.image.read_entrypoint(),
        [folder['target'] for folder in trial.approach['entrypoint']],
    )
    texts = [text for _, text in scripts if text]
    if not any(map(_names_host_folder, texts)):
        names = ', '.join(path for path, _ in scripts) or 'the image has no entrypoint'
        is_certain = len(texts) == len(scripts)
        yield report_problem(
            'fails' if is_certain else 'unknown',
            "the image's entrypoint does not name the folder %s: %s%s"
            % (
                targets[0],
                names,
                '' if is_certain else ' (check cannot read all files of the entrypoint)',
            ),
            trial.image.path,
            'no /host in ' + names,
            Change('', ['hybrid']),
            'use an image with an entrypoint for approach %s (container-recipes/entrypoint)'
            % trial.approach['name'],
        )
