"""Rules on the image's entrypoint, and on scripts that start the program."""

import re
from typing import Iterator, Optional

from osu_container.image.environment import find_interpreter
from osu_container.verdict.rules.finding import Finding, report_problem, rule
from osu_container.verdict.trial import Change, Trial


def _names_host_folder(text: Optional[str]) -> bool:
    """Return whether a script's text contains /host, the folder of the host's libraries."""
    return bool(text and re.search(r'/host\b', text))


@rule(
    'interpreter',
    source='execve(2), Interpreter scripts; runs of random pairs of an image and a host: the '
    'entrypoint was a bash script in an image without bash',
)
def check_interpreter(trial: Trial) -> Iterator[Finding]:
    """Every started file is executable, and the image has the interpreter of every script."""
    image, entrypoint = trial.image, trial.approach.get('entrypoint')
    started = trial.launched.scripts
    if image.is_partial:
        return
    # An entrypoint may only read a file that the entrypoint names, so only started files are checked.
    for path in filter(None, [path for path, _ in started] + [trial.program]):
        if not image.tree.is_executable(path):
            yield report_problem(
                'fails',
                '%s is not executable: its mode is %s' % (path, image.tree.read_file_mode(path)),
                'image:' + path,
                'mode ' + image.tree.read_file_mode(path),
                'run `chmod a+x %s` in the recipe of the image' % path,
            )
    scripts = image.read_entrypoint() if entrypoint else []
    for path, text in [script for script in scripts if _names_host_folder(script[1])] + [*started]:
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


@rule(
    'entrypoint',
    source='HPE, MPI OSU Benchmarks with libfabric swap: /host/lib and /host/usr',
)
def check_entrypoint(trial: Trial) -> Iterator[Finding]:
    """For approach swap, the image's entrypoint searches the folders of host libraries."""
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
                '' if is_certain else ' (check cannot read at least one of these files)',
            ),
            trial.image.path,
            'no /host in ' + names,
            Change('', ['hybrid']),
            'use an image with an entrypoint for approach %s (container-recipes/entrypoint)'
            % trial.approach['name'],
        )
