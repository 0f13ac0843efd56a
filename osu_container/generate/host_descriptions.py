"""
Write the descriptions of the hosts of all sites into osu_container/check/hosts: public facts, and what follows.

    python -m osu_container.generate.host_descriptions           write them
    python -m osu_container.generate.host_descriptions --check   write nothing, exit code 1 if one is stale

What `osu-container discover --facts` wrote is kept: its node is named in it.
"""
import sys

from osu_container.check.host_facts import HOSTS, text_of
from osu_container.check.public_hosts import GLIBC, described_by
from osu_container.core.data.sites import DESCRIBED
from osu_container.core.deciding.site_choice import described_entry, site_entry
from osu_container.places import PROJECT


def texts():
    """Return {path (Path): text} of the descriptions that follow from data."""
    folder = PROJECT / 'osu_container' / 'check' / 'hosts'
    assert str(folder.resolve()) == HOSTS, (folder, HOSTS)
    return {folder / f'{name}.json': text_of(described_by((described_entry if name in DESCRIBED else site_entry)(name)))
            for name in sorted(GLIBC)}


def main():
    """Write, or compare; return the exit code."""
    stale = [(path, text) for path, text in texts().items() if not path.exists() or path.read_text() != text]
    for path, text in stale:
        if '--check' in sys.argv[1:]:
            print(f"{path.relative_to(PROJECT)} is stale: make modules", file=sys.stderr)
        else:
            path.write_text(text)
            print(f"wrote {path.relative_to(PROJECT)}")
    return 1 if stale and '--check' in sys.argv[1:] else 0


if __name__ == '__main__':
    sys.exit(main())
