"""List, build and verify the container images whose recipes are in container-recipes/.

The modules of this package:

cli         implements the command `osu-container image`
catalogue   selects images by name or pattern, and reports which images exist
fetch       downloads sources, checks their sha256, and makes the Debian base system of images
build       builds one image as a SIF file, with its sha256 and its list of packages
progress    prints progress on the screen, and writes the output of programs to log files
installed   reads the files and packages of a SIF file, and verifies SIF files and installed modules
"""


class ImageBuildError(Exception):
    """An image cannot be built, read or verified.

    The message of the error names the problem and the remedy.
    """
