"""Compares the sums of Debian's sources in versions.py with Debian's own: python -m osu_container.recipes.debian_lists

A release of Debian has one signed file, InRelease. It has the sums of the lists of source packages (Sources.xz), and
these have the sum of every file: who trusts the key in Debian's keyring need trust no mirror. A build needs none of
this: it compares a source with the sum in versions.py.
"""
import hashlib
import lzma
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

from osu_container.recipes.versions import SOURCES

MIRROR = 'http://deb.debian.org/debian'
#: Of the package debian-archive-keyring
KEYRING = Path('/usr/share/keyrings/debian-archive-keyring.gpg')
LIST = 'main/source/Sources.xz'


class ListError(Exception):
    """A list is not signed by the keyring, or not the one that the signed file names."""


def signed_text(path, keyring):
    """Return the text that a clear-signed file (Path) signs. Raises ListError unless the keyring (Path) has the key."""
    if not shutil.which('gpgv'):
        raise ListError("gpgv is not on PATH, which verifies Debian's signature. Install it: apt-get install gpgv")
    done = subprocess.run(['gpgv', '--keyring', str(keyring), '--output', '-', str(path)], capture_output=True,
                          text=True)
    if done.returncode:
        raise ListError(f"{path.name} is not signed by a key of {keyring}:\n{done.stderr.strip()}\nTake the keyring of "
                        "the package debian-archive-keyring, and fetch the list again")
    return done.stdout


def sum_in_release(text, name):
    """Return the sha256 (str) of a list that the text of a release names. Raises ListError."""
    part = re.search(r'(?m)^SHA256:\n((?: .*\n?)+)', text)
    found = re.search(rf'(?m)^ ([0-9a-f]{{64}}) +\d+ {re.escape(name)}$', part.group(1) if part else '')
    if not found:
        raise ListError(f"the release names no sha256 of {name}")
    return found.group(1)


def sums_in_sources(text):
    """Return file name -> sha256 (dict) of all source packages of a list (str)."""
    return {name: total for part in re.findall(r'(?m)^Checksums-Sha256:\s*\n((?: .*\n?)+)', text)
            for total, _, name in (line.split() for line in part.splitlines())}


def sums_of(release, fetch, keyring=KEYRING):
    """Return file name -> sha256 (dict) of the sources of a Debian release. Raises ListError, and OSError of fetch.

    fetch: function of a path below dists/RELEASE, which returns its bytes.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'InRelease'
        path.write_bytes(fetch('InRelease'))
        wanted = sum_in_release(signed_text(path, keyring), LIST)
    packed = fetch(LIST)
    found = hashlib.sha256(packed).hexdigest()
    if found != wanted:
        raise ListError(f"{LIST} of {release} is not the one that is signed:\n    sha256 found   {found}\n"
                        f"    sha256 wanted  {wanted}\nThe mirror may be changing right now: try again in an hour")
    return sums_in_sources(lzma.decompress(packed).decode())


def differences(sources, sums):
    """Return lines (list of str) on sources whose sum is not Debian's. sums: release -> file name -> sha256."""
    lines = []
    for key, source in sources.items():
        found = sums[source['debian']].get(source['file'])
        if found != source['sha256']:
            lines.append(f"{key}: {source['file']} has sha256 {source['sha256']} in versions.py, "
                         f"{found or 'no sum: it is not there (any more)'} in Debian {source['debian']}")
    return lines


def main():
    """Print what differs; return 1 if something does."""
    sources = {key: source for key, source in SOURCES.items() if 'debian' in source}

    def fetched(release):
        return lambda path: urllib.request.urlopen(f'{MIRROR}/dists/{release}/{path}', timeout=60).read()
    try:
        sums = {release: sums_of(release, fetched(release)) for release in {one['debian'] for one in sources.values()}}
    except (ListError, OSError) as err:
        print(f"debian_lists: {err}", file=sys.stderr)
        return 1
    lines = differences(sources, sums)
    print('\n'.join(lines) or f"{len(sources)} sources are those of Debian's signed lists: {', '.join(sources)}")
    return 1 if lines else 0


if __name__ == '__main__':
    sys.exit(main())
