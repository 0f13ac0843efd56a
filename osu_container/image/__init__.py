"""
Images: named, built and checked. What they are made of is in container-recipes/.

cli         the command line, `osu-container image ...`
catalogue   names, sources, what is here of them; published: what was published about them
fetch       sources with their sums, by download with resume
build       one image from nothing to a checked SIF, by: base (a folder with Debian), stages (parts of a definition
            file), engines (Apptainer, buildah, ...), progress (logs and time left)
contents    files and packages of a SIF; verify: its sum and signature; installed: those of all modules
"""


class ImageError(Exception):
    """An image that cannot be made, described or trusted: what was found, what was wanted, what to do, as its text."""
