"""Scripts of the image that are started: its entrypoint, and a program that starts another one."""

import re

from osu_container.image.scripts import find_interpreter
from osu_container.verdict.rules.finding import NOTE, make_finding, rule


def _names_host_folder(text):
    """Return whether a text (str or None) names the folder of the host's libraries."""
    return bool(text and re.search(r'/host\b', text))


@rule(
    'interpreter',
    source='execve(2), Interpreter scripts; random pairs: an entrypoint of bash in an image without',
)
def check_interpreter(trial):
    """What is started may be run, and a script has the interpreter that its first line names."""
    image, scripts = trial.image, []
    if image.is_partial:
        return
    if trial.approach.get('entrypoint'):
        scripts += [one for one in image.read_entrypoint() if _names_host_folder(one[1])]
    scripts += trial.program.launched_program.scripts
    # of what an entrypoint names it is not known what it starts, and what it reads
    for path in [path for path, _ in trial.program.launched_program.scripts] + [
        path for path in [trial.program.path] if path
    ]:
        if not image.tree.is_executable(path):
            yield make_finding(
                'fails',
                "%s may not be run: its mode is %s" % (path, image.read_file_mode(path)),
                [('image:' + path, 'mode ' + image.read_file_mode(path))],
                'chmod a+x in the image',
            )
    for path, text in scripts:
        missing = find_interpreter(image, text)[1]
        if missing:
            ends = '\r' in missing
            yield make_finding(
                'fails',
                "%s is a script for %s, which is not in the image"
                % (path, missing.replace('\r', '\\r')),
                [('image:' + path, text.splitlines()[0])],
                'give it the line ends of Unix (dos2unix)'
                if ends
                else 'put %s into the image' % missing,
            )


@rule('entrypoint', source='HPE, MPI OSU Benchmarks with libfabric swap: /host/lib and /host/usr')
def check_entrypoint(trial):
    """
    An image of approach swap has an entrypoint that looks where the host's libraries are bound.
    """
    if not trial.approach.get('entrypoint') or trial.image.is_partial:
        return
    found, targets = (
        trial.image.read_entrypoint(),
        [folder['target'] for folder in trial.approach['entrypoint']],
    )
    if not found:
        yield make_finding(
            'fails',
            "image without entrypoint for %s: nothing in it looks for the host's libfabric in %s"
            % (trial.approach['name'], targets[0]),
            [(trial.image.path, 'no runscript, no OCI entrypoint')],
            'take hybrid, which needs nothing of the image, or an image with an entrypoint for it '
            '(container-recipes/entrypoint)',
        )
        return
    texts = [text for _, text in found if text]
    if not any(_names_host_folder(text) for text in texts):
        names = ', '.join(path for path, _ in found)
        sure = len(texts) == len(found)
        yield make_finding(
            'fails' if sure else 'unknown',
            "the image's entrypoint does not say that it looks in %s: %s%s"
            % (
                targets[0],
                names,
                '' if sure else ', of which one is a program that cannot be read',
            ),
            [(found[0][0], 'no /host in it')],
            'take hybrid, or an image with an entrypoint for %s' % trial.approach['name'],
        )
    elif not any('OSU_SWAP' in text for text in texts):
        yield make_finding(
            NOTE,
            "the entrypoint is not this project's: it goes on with the image's own libfabric where it "
            "cannot take the host's",
            [(found[0][0], 'does not know OSU_SWAP')],
            'osu-proof tells which was used',
        )
