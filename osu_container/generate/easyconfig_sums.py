#!/usr/bin/env python3
"""
Write the sha256 of sources that lie in this clone (run-in-container, osu-gpu-bind, ...) into the easyconfigs: beside
the easyconfig, else where the easyblocks find the commands of all modules.

Sums of downloads are left as they are. usage: python -m osu_container.generate.easyconfig_sums [--check]
"""
import argparse
import hashlib
import re
import sys

from osu_container.places import PROJECT

HERE = PROJECT / 'easyconfigs'
#: COMMANDS of osu_container/easyblock.py
COMMANDS = HERE / 'o' / 'osu-container'
#: the lists of names and of sums
LISTS = re.compile(r"^sources = \[(?P<names>[^\]]*)\].*?^checksums = \[(?P<sums>[^\]]*)\]", re.M | re.S)
#: an entry of stand_in
ENTRY = re.compile(r"'([\w.-]+)':\s*'(\w{64})'")


def own(easyconfig, name):
    """Return the Path of the source name (str) of easyconfig (Path) in this clone, None if it is a download."""
    return next((path for path in (easyconfig.parent / name, COMMANDS / name) if path.is_file()), None)


def current(easyconfig):
    """Return the text (str) of easyconfig (Path) with the sums of today. Raises ValueError where lists do not fit."""
    text = easyconfig.read_text()
    found = LISTS.search(text)
    if not found:  # nothing but other modules
        return text
    names, sums = (re.findall(r"'([^']+)'", found[part]) for part in ('names', 'sums'))
    if not any(own(easyconfig, name) for name in names):
        return text
    if len(names) != len(sums):
        raise ValueError(f"{easyconfig}: {len(names)} sources, {len(sums)} checksums; one for each is wanted")
    for name, old in list(zip(names, sums)) + ENTRY.findall(text):
        path = own(easyconfig, name)
        if path:
            text = text.replace(old, hashlib.sha256(path.read_bytes()).hexdigest())
    return text


def main():
    """Write, or with --check compare; exit code 1 if a sum is stale."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--check', action='store_true', help="write nothing, exit 1 if a sum is stale")
    check = parser.parse_args().check
    stale = []
    for path in sorted(HERE.glob('*/*/*.eb')):
        try:
            text = current(path)
        except ValueError as err:
            sys.exit(f"osu_container/generate/easyconfig_sums.py: {err}")
        if text != path.read_text():
            stale.append(path.name)
            if not check:
                path.write_text(text)
                print(f"new sums in {path.relative_to(HERE.parent)}")
    if check and stale:
        sys.exit(f"stale sums, run `make modules`: {', '.join(stale)}")


if __name__ == '__main__':
    main()
