"""
Easyconfigs, pages and recipes that follow from data: the release of the benchmarks, the software
stacks.
"""

import re
import sys

from osu_container.build.recipes.versions import SOURCES
from tests.helpers.machine import PROJECT, run
from tests.helpers.osu_archive import ARCHIVE, RELEASE
from tools.generate import easyconfigs

NATIVE = PROJECT / 'easyconfigs' / 'o' / 'osu-native'


def test_checked_in_easyconfigs_and_pages_are_current():
    done = run(
        [sys.executable, '-m', 'tools.generate', '--step', 'easyconfigs', '--check'], cwd=PROJECT
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, '', '')


def test_a_new_release_is_one_edit(monkeypatch):
    """
    No other file names the release, but for the contributed recipe and what others measured with
    it.
    """
    monkeypatch.setattr(
        easyconfigs, 'OSU', {**easyconfigs.OSU, 'version': '8.0', 'sha256': 'a' * 64}
    )
    texts = easyconfigs.render_files()
    assert NATIVE / 'osu-native-8.0-lumi-25.03.eb' in texts
    assert texts[NATIVE / f'osu-native-{RELEASE}-lumi-25.03.eb'] is None
    kept = re.compile(
        'CHANGELOG|docs/contributions|osu_container/(build/recipes/versions|bench/results/data)|.*/rendered/'
    )
    named = re.compile(
        rf'(?<!OSU-Micro-Benchmarks-)(?<![\d.]){re.escape(RELEASE)}(?![\d.]*\d)'
        f'|{SOURCES["osu"]["sha256"]}'
    )
    names = run(
        ['git', '-c', f'safe.directory={PROJECT}', '-C', PROJECT, 'grep', '-lF', RELEASE]
    ).stdout.splitlines()
    assert len(names) > 5
    assert [
        name
        for name in names
        if not kept.match(name)
        and named.search(texts.get(PROJECT / name, (PROJECT / name).read_text()) or '')
    ] == []


def test_names_followed_by_a_release_are_found():
    text = f'{ARCHIVE} osu-native/1.2.3 osu-native-1.2-lumi-25.03.eb mpich-4.2.3 osu-native'
    assert easyconfigs.update_release_names(text).split() == [
        ARCHIVE,
        f'osu-native/{RELEASE}',
        f'osu-native-{RELEASE}-lumi-25.03.eb',
        'mpich-4.2.3',
        'osu-native',
    ]
