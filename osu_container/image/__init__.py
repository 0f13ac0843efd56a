"""
Images: named, built and checked. What they are made of is in container-recipes/.

cli         the command line, `osu-container image ...`
catalogue   names, sources, what is here of them; published: what was published about them
fetch       sources with their sums, by download with resume; the base, a folder with Debian
build       one image from nothing to a checked SIF, by: stages (parts of a definition file), engines (Apptainer,
            buildah, ...), progress (logs and time left)
installed   files and packages of a SIF; its sum and signature; those of all installed modules
"""


class ImageError(Exception):
    """An image that cannot be made, described or trusted: what was found, what was wanted, what to do, as its text."""
