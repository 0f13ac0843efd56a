"""Install MPI container images as Lmod modules, and predict, verify and measure runs."""

#: Version of the package; pyproject.toml reads the version from here
__version__ = '1.0.0'
#: Address of the public repository, such as https://github.com/NAME/osu-container. It is defined
#: only here. While the address is empty, the documentation has no links to the repository, and its
#: pages and codemeta.json contain PLACEHOLDER instead. `REPOSITORY=https://... make release`
#: inserts the address into the release.
REPOSITORY = ''
PLACEHOLDER = '<address of this repository>'
