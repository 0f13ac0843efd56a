"""List, build and verify the container images whose recipes are in container-recipes/.

cli         command line of `osu-container image`
catalogue   select named images, and report which of them are built
fetch       download sources and check their sha256; make the Debian base system of images
build       build one image: sources, base system, SIF file, sha256, list of packages
progress    print progress on the screen, and write the output of programs to log files
installed   read the files and packages of a SIF; verify SIF files and installed modules
"""


class ImageBuildError(Exception):
    """An image cannot be built, read or trusted; the message names the problem and the remedy."""
