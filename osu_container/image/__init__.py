"""Images of the catalogue: building them, saying what is in them, signing and checking them."""


class ImageError(Exception):
    """An image that cannot be made, described or trusted. For a person: what was found, what was wanted, what to do."""
