"""List, build and verify images. Their recipes are in container-recipes/.

cli         command line of `osu-container image`
catalogue   named images, and whether each exists here
fetch       sources with the expected sha256; the Debian base system of images
build       build of one image: sources, base system, SIF, sha256, list of packages
progress    progress on the screen, output of programs in log files
installed   files and packages of a SIF; checks of SIF files and installed modules
"""


class ImageBuildError(Exception):
    """An image cannot be built, read or trusted; the text has the problem and the remedy."""
