"""
What an image is held to before it is installed: its sha256, its bill of materials, its signature.
"""
import os

from osu_container.core.reading.libraries import sha256_of
from osu_container.core.reading.sif import ImageError, check_sbom, signature_problem


def wanted_sha256(path):
    """Return the sha256 (str) in the file path (str) of sha256sum, None if it is not there or empty."""
    if not os.path.isfile(path):
        return None
    with open(path) as handle:
        return (handle.read().split() or [None])[0]


def check_image(sif, wanted, beside, image_help, runtime):
    """
    Raise ImageError unless the image sif (str, path) has the sha256 wanted (str or None), and is as its parts say.

    :param beside: str, file that would hold the sum; image_help: str, page about images; runtime: str, its command
    """
    name = os.path.basename(sif)
    if not wanted:
        raise ImageError("No sha256 to check the image %s against: make one with (cd %s && sha256sum %s > %s), or "
                         "give it: --try-amend=image_sha256=SUM"
                         % (sif, os.path.dirname(sif), name, os.path.basename(beside)))
    found = sha256_of(sif)
    if found != wanted:
        # EasyBuild 4.9 shows the first 300 characters: a long path comes last
        raise ImageError("wrong sha256 of the image: found %s, wanted %s: %s. Copy or make it again (%s)"
                         % (found, wanted, sif, image_help))
    problem = check_sbom(sif) or signature_problem(sif, runtime)
    if problem:
        raise ImageError("The image %s (%s)" % (problem, image_help))
