"""
Images: listed, built and verified. Their recipes are in container-recipes/.

cli         the command line, `osu-container image ...`
catalogue   the named images, and which of them exist here
fetch       sources, checked by their sha256; the folder with Debian that images start from
build       one image: sources, base, Apptainer or SingularityCE, list of packages, sha256; progress: logs
installed   files and packages of a SIF; its sha256 and signature; the images of all installed modules
"""


class ImageBuildError(Exception):
    """
    An image that cannot be built, read or trusted. The text has the value found, the one
    expected and the remedy.
    """
