"""
The registry of sites: every system's file beside this one brings its entries. schema.py says what
an entry holds.
"""

from osu_container.data.sites import (
    alps,
    cray,
    frontier,
    isambard_ai,
    lumi,
    olivia,
    pbs,
    perlmutter,
    setonix,
    workstation,
)

#: Entries that no machine is, for based_on: name -> entry (dict)
BASES = dict(lumi.BASES, **dict(cray.BASES, **dict(pbs.BASES, **workstation.BASES)))

#: name -> entry (dict) of every site
SITES = {}
for _site_module in (
    lumi,
    frontier,
    setonix,
    perlmutter,
    alps,
    pbs,
    isambard_ai,
    olivia,
    workstation,
):
    SITES.update(_site_module.STACKS)

#: name -> entry (dict) of a system as it was: for `osu-container check --published`, nothing is
#: installed on it
PUBLISHED_SITES = lumi.PUBLISHED_SITES
