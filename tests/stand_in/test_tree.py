"""
The tree that stands in for a system: every host path exists, is real or named a stand-in, and
nothing leads out.
"""

from pathlib import Path

import pytest

from osu_container.data.sites import SITES
from osu_container.image.closure import collect_dependencies
from osu_container.image.elf import read_elf
from osu_container.verdict.site_choice import resolve_site
from tests.helpers.machine import PROJECT, assert_success, mark_repeats_nightly, run
from tests.stand_in.systems import HOSTS
from tests.stand_in.tree import REAL


@pytest.mark.system
@pytest.mark.parametrize('facts_only', [False, True])
@pytest.mark.parametrize(
    'site', mark_repeats_nightly(['lumi-25.03', *sorted(set(HOSTS) - {'lumi-25.03'})])
)
def test_tree_libraries_are_complete_and_labelled_real_or_not(tmp_path, site, facts_only):
    tree, entry = tmp_path / 'tree', resolve_site(site)
    done = run(
        [PROJECT / 'tests/stand_in/make', site, tree, *(['--facts-only'] if facts_only else [])]
    )
    assert_success(done)
    paths = {
        name: Path(f"{tree}{fact['value']}") for name, fact in entry['libraries'].items() if fact
    }
    for name, path in paths.items():
        assert read_elf(str(path)).soname == path.name
        fake = f'stand-in, not the real {name}\0'.encode() in path.read_bytes()
        assert fake == (facts_only or name not in REAL), name
    injected = [str(path) for name, path in paths.items() if 'cuda' not in name]
    found, missing = collect_dependencies(
        injected,
        [f'{tree}{folder}' for folder in entry['library_folders']['value']],
        lambda soname: False,
    )
    assert (
        missing == []
        and [facts.path for facts in found.values() if not facts.path.startswith(f'{tree}/')] == []
    )
    assert [path for path in tree.rglob('*') if not path.exists()] == []


def test_every_site_has_a_tree_with_facts_of_the_site_only():
    assert set(HOSTS) == set(SITES) - {'workstation'}
    for name, host in HOSTS.items():
        assert host['gpu'] == resolve_site(name)['gpu']['value'], name
        if 'launcher' not in resolve_site(name):  # what srun has
            assert set(resolve_site(name)['pmi']['value'].values()) <= set(host['mpi']), name
