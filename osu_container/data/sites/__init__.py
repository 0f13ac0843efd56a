"""Register the sites: each module has the entries of one system (see schema.py)."""

from typing import Any, Dict

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

#: Entries that are only the base of others (key based_on): name -> entry
BASES: Dict[str, Dict[str, Any]] = dict(
    lumi.BASES, **dict(cray.BASES, **dict(pbs.BASES, **workstation.BASES))
)

#: name -> entry of every site
SITES: Dict[str, Dict[str, Any]] = {}
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

#: name -> entry of a former state of a system, for `osu-container check --published` only
PUBLISHED_SITES = lumi.PUBLISHED_SITES
