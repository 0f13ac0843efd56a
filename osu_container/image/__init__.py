"""
Images: named, built, described, checked and shared. What they are made of is in container-recipes/.

cli         the command line, `osu-container image ...`
catalogue   names, sources, what is here of them; published: what was published about them
fetch       sources with their sums, by download with resume
build       one image from nothing to a checked SIF, by: base (a folder with Debian), stages (parts of a definition
            file), engines (Apptainer, buildah, ...), progress (logs and time left)
sbom        where every file comes from, by: contents (files of a SIF), origins (their owners), licences
sign        signatures; verify: all checks of a file; share: to and from a registry
"""


class ImageError(Exception):
    """An image that cannot be made, described or trusted: what was found, what was wanted, what to do, as its text."""


class NoRoomError(ImageError):
    """A folder in which there is no room for what is to be looked at: nothing is said of the image."""
