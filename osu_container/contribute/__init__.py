"""What `osu-container contribute` writes: recipes in the form of those who could merge them."""


class ContributeError(Exception):
    """Why nothing was written, for a person."""
