"""An installation is replaced in one move: whatever happens, there is the older one or the newer one, never a mix."""
import pytest

from osu_container.core.installing.staged import StagedInstall, free_space_problem, remove_empty_folders


@pytest.fixture
def final(tmp_path):
    return tmp_path / 'software' / 'name' / 'version'


def fill(folder, text):
    """Make folder (Path) with one file that holds text."""
    folder.mkdir(parents=True)
    (folder / 'file').write_text(text)


def stage(final, text):
    """Return a StagedInstall of final whose stage holds text."""
    staged = StagedInstall(str(final))
    fill(final.parent / 'version.part', text)
    return staged


def names(final):
    return sorted(path.name for path in final.parent.iterdir())


def test_first_installation(final):
    staged = stage(final, 'new')
    assert not final.exists()
    staged.commit()
    staged.finish()
    assert (final / 'file').read_text() == 'new' and names(final) == ['version']


def test_newer_one_replaces_the_older(final):
    fill(final, 'old')
    staged = stage(final, 'new')
    assert (final / 'file').read_text() == 'old'
    staged.commit()
    staged.finish()
    assert (final / 'file').read_text() == 'new' and names(final) == ['version']


@pytest.mark.parametrize('committed', [False, True])
def test_rollback_puts_the_older_one_back(final, committed):
    fill(final, 'old')
    staged = stage(final, 'new')
    if committed:
        staged.commit()
    staged.rollback()
    assert (final / 'file').read_text() == 'old' and names(final) == ['version']


@pytest.mark.parametrize('committed', [False, True])
def test_rollback_of_a_first_installation_leaves_nothing(final, committed):
    staged = stage(final, 'new')
    if committed:
        staged.commit()
    staged.rollback()
    assert names(final) == []


def test_what_a_killed_run_left_is_removed(final):
    fill(final, 'old')
    fill(final.parent / 'version.part', 'half')
    StagedInstall(str(final))
    assert (final / 'file').read_text() == 'old' and names(final) == ['version']


def test_a_run_killed_between_the_two_moves_is_undone(final):
    fill(final.parent / 'version.old', 'old')
    fill(final.parent / 'version.part', 'new')
    StagedInstall(str(final))
    assert (final / 'file').read_text() == 'old' and names(final) == ['version']


def test_space_that_is_there_is_no_problem(final):
    assert free_space_problem(str(final), 1) is None


def test_space_that_is_missing_is_told_in_megabytes(final):
    problem = free_space_problem(str(final), 1 << 60)
    assert 'MB free' in problem and f'{(1 << 40) + 1} MB are needed' in problem


def test_only_empty_folders_are_removed(tmp_path):
    (tmp_path / 'a' / 'b' / 'c').mkdir(parents=True)
    (tmp_path / 'a' / 'other').write_text('')
    remove_empty_folders(str(tmp_path / 'a' / 'b' / 'c'), 3)
    assert [path.name for path in (tmp_path / 'a').iterdir()] == ['other']
