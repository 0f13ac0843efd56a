"""Install MPI container images as Lmod modules: predict, set up, verify and measure."""

#: Release of the package; pyproject.toml reads it here
__version__ = '1.0.0'
#: Address of the public repository, such as https://github.com/NAME/osu-container, defined here only.
#: While it is empty, the site has no links to the repository, and the pages and codemeta.json
#: contain PLACEHOLDER. `REPOSITORY=https://... make release` fills in both in what it packs
REPOSITORY = ''
PLACEHOLDER = '<address of this repository>'
