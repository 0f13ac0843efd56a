"""The tree that stands in for a system: every host path exists, is real or named a stand-in, and nothing leads out."""
from pathlib import Path

import pytest

from osu_container.data.sites import SITES
from osu_container.image.closure import closure
from osu_container.image.elf import elf_facts
from osu_container.verdict.site_choice import site_entry
from tests.helpers.machine import PROJECT, one_of_each, run
from tests.stand_in.systems import HOSTS
from tests.stand_in.tree import REAL


@pytest.mark.system
@pytest.mark.parametrize('facts_only', [False, True])
@pytest.mark.parametrize('site', one_of_each(['lumi-25.03', *sorted(set(HOSTS) - {'lumi-25.03'})]))
def test_libraries_are_complete_in_the_tree_and_say_whether_they_are_real(tmp_path, site, facts_only):
    tree, entry = tmp_path / 'tree', site_entry(site)
    done = run([PROJECT / 'tests/stand_in/make', site, tree, *(['--facts-only'] if facts_only else [])])
    assert done.returncode == 0, done.stderr
    paths = {name: Path(f"{tree}{fact['value']}") for name, fact in entry['libraries'].items() if fact}
    for name, path in paths.items():
        assert elf_facts(str(path)).soname == path.name
        fake = f'stand-in, not the real {name}\0'.encode() in path.read_bytes()
        assert fake == (facts_only or name not in REAL), name
    injected = [str(path) for name, path in paths.items() if 'cuda' not in name]
    found, missing = closure(injected, [f'{tree}{folder}' for folder in entry['library_folders']['value']],
                             lambda soname: False)
    assert missing == [] and [facts.path for facts in found.values() if not facts.path.startswith(f'{tree}/')] == []
    assert [path for path in tree.rglob('*') if not path.exists()] == []


def test_every_system_that_is_a_site_has_a_tree_and_no_fact_beside_those_of_the_site():
    assert set(HOSTS) == set(SITES) - {'workstation'}
    for name, host in HOSTS.items():
        assert host['gpu'] == site_entry(name)['gpu']['value'], name
        if 'launcher' not in site_entry(name):  # what srun has
            assert set(site_entry(name)['pmi']['value'].values()) <= set(host['mpi']), name
