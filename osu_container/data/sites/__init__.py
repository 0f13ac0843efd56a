"""Collect the descriptions of all systems from the Python modules of this folder."""

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

#: name -> entry that is no site itself, but the base of other entries (key based_on)
BASES: Dict[str, Dict[str, Any]] = {**lumi.BASES, **cray.BASES, **pbs.BASES, **workstation.BASES}

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

#: name -> entry for a former state of a system; only `osu-container check --published` uses these
PUBLISHED_SITES = lumi.PUBLISHED_SITES
