"""Files that are run as code: only where nobody else may write them. The real files, owners and modes decide."""
import os
import pwd

import pytest

from osu_container.core.deciding.site_choice import SettingsError, SiteFile
from osu_container.core.reading.trust import code_problem


@pytest.fixture
def code(tmp_path):
    """A site file in a folder of the user's own; it says when it is run."""
    path = tmp_path / 'mine' / 'site.py'
    path.parent.mkdir(mode=0o755)
    path.write_text(f"open('{path}.ran', 'w').close()\nSITE = 'workstation'\n")
    path.chmod(0o644)
    return path


@pytest.fixture
def shared_group(monkeypatch):
    """The group of new files is not the user's own, as that of a project is."""
    me = pwd.getpwuid(os.getuid())
    monkeypatch.setattr(pwd, 'getpwuid', lambda uid: pwd.struct_passwd((me[0], me[1], me[2], me[3] + 1, *me[4:])))


@pytest.mark.parametrize('file, folder', [(0o644, 0o755), (0o600, 0o700), (0o664, 0o775), (0o644, 0o1777)])
def test_code_of_ones_own_is_run(code, file, folder):
    code.chmod(file)
    code.parent.chmod(folder)
    assert code_problem(str(code)) is None
    SiteFile(str(code))
    assert os.path.exists(f'{code}.ran')


@pytest.mark.parametrize('file, folder, says', [
    (0o646, 0o755, '{code} is code that would run as you, and it may be written by everybody. Read it, then: '
                   'chmod o-w {code}'),
    (0o666, 0o1777, 'it may be written by everybody'),
    (0o644, 0o757, '{folder} may be written by everybody. Read it, then: chmod o-w {folder}')])
def test_code_that_everybody_may_write_is_refused_and_not_run(code, file, folder, says):
    code.chmod(file)
    code.parent.chmod(folder)
    with pytest.raises(SettingsError) as caught:
        SiteFile(str(code))
    assert says.format(code=code, folder=code.parent) in str(caught.value)
    assert not os.path.exists(f'{code}.ran')


@pytest.mark.parametrize('file, folder', [(0o664, 0o755), (0o644, 0o775)])
def test_code_that_a_group_may_write_is_refused_unless_the_group_may_write_the_installation(
        code, shared_group, tmp_path, file, folder):
    code.chmod(file)
    code.parent.chmod(folder)
    assert 'may be written by the group' in code_problem(str(code)) and 'chmod g-w' in code_problem(str(code))
    installation = tmp_path / 'software' / 'name' / 'version'
    assert code_problem(str(code), str(installation))
    installation.parent.parent.mkdir()
    installation.parent.parent.chmod(0o2775)
    assert code_problem(str(code), str(installation)) is None


def test_a_link_is_looked_at_at_both_ends(code, tmp_path):
    link = tmp_path / 'open' / 'link.py'
    link.parent.mkdir()
    link.symlink_to(code)
    assert code_problem(str(link)) is None
    link.parent.chmod(0o777)
    assert f'{link.parent} may be written by everybody' in code_problem(str(link))
    link.parent.chmod(0o755)
    code.chmod(0o666)
    assert f'{code} is code' in code_problem(str(link))


@pytest.mark.skipif(os.getuid() != 0, reason='only root gives files to others')
def test_code_of_somebody_else_is_refused_but_of_root_and_the_installation_s_owner(code, monkeypatch):
    nobody = pwd.getpwnam('nobody')
    os.chown(code, nobody.pw_uid, nobody.pw_gid)
    problem = code_problem(str(code))
    assert 'belongs to nobody, who is neither you nor root nor the owner of this installation' in problem
    monkeypatch.setattr(os, 'geteuid', lambda: nobody.pw_uid)
    assert code_problem(str(code)) is None
    os.chown(code, 0, 0)
    assert code_problem(str(code)) is None


def test_a_file_that_is_not_there_is_no_matter_of_this(tmp_path):
    assert code_problem(str(tmp_path / 'nothing.py')) is None
