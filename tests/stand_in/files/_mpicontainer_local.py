"""
Facts of a site that its stand-in tree cannot have. Chosen by --try-amend=site= and --sysroot=.
"""


def _fact(value, why):
    """Return the dict of one fact about stand-in trees."""
    return {
        'value': value,
        'why': why,
        'source': 'tests/stand_in',
        'date': '2026-11-21',
        'evidence': 'measured',
    }


OVERRIDES = {
    # what tests/stand_in/make writes between the quotes: of the site whose tree this is
    'pmi': _fact('@PMI@', 'the MPICH that stands in for Cray MPICH speaks PMI-2 and not Cray PMI'),
    'images': _fact(
        '@IMAGES@',
        'the images of the site contain ROCm or CUDA; `make image` and tests/stand_in/make build these images',
    ),
}
