"""Files that never answer: a command names the one that it waits for after a time, and ends."""
import os
import time

import pytest

from osu_container import cli
from osu_container.core.reading import answering
from osu_container.core.reading.image import Image


@pytest.fixture
def silent(tmp_path, monkeypatch):
    """A file that never answers, as one of a mount whose server is gone (str)."""
    path, stat = str(tmp_path / 'job.out'), os.stat
    monkeypatch.setattr(os, 'stat', lambda name, **more: time.sleep(60) if name == path else stat(name, **more))
    monkeypatch.setenv(answering.VARIABLE, '0.3')
    return path


def test_a_command_names_the_file_that_does_not_answer(silent, tmp_path, capsys):
    assert cli.main(['why', str(tmp_path), silent]) == 1
    assert f'why: error: {silent} does not answer: nothing came for 0.3 s' in capsys.readouterr().err


def test_who_opens_an_image_without_a_command_is_told_as_well(silent):
    with pytest.raises(answering.NoAnswer, match='does not answer'):
        Image(silent, '')


def test_files_that_answer_or_are_not_there_are_read_on(tmp_path):
    answering.touch(str(tmp_path), str(tmp_path / 'none'), __file__, 'a\0b')
    answering.ask_for([])
