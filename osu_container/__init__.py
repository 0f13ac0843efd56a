"""
What the runs of the benchmarks gave: reading their output, proving what they loaded, records and
tables.
"""

#: Release of all that is in this package; pyproject.toml reads it here
__version__ = '1.0.0'
#: Address of the public repository, such as https://github.com/NAME/osu-container: the one place
#: where it stands. Empty while there is none: then the site has no link to it and no links to edit
#: a page, and the pages and codemeta.json have PLACEHOLDER. `REPOSITORY=https://... make release`
#: fills both in, in what it packs
REPOSITORY = ''
PLACEHOLDER = '<address of this repository>'
