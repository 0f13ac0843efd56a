"""osu-explain on damage by chance, and where nobody takes what it prints."""
import importlib.machinery
import importlib.util
import json
import os
import random
import sys

import pytest

from osu_container.core.data.sites import SITES
from osu_container.core.deciding.settings import explained, settings_for
from tests.core.deciding.test_settings import PAIRS, entries, facts
from tests.helpers.machine import PROJECT, PYTHON_36, run
from tests.proof.test_damaged_files import ODD, places

SOURCE = PROJECT / 'easyconfigs' / 'o' / 'osu-container' / 'osu-explain'


def settings_of(approach, site):
    """What settings.json of an installation holds."""
    found = explained(settings_for(*entries(approach, site), facts()))
    return json.loads(json.dumps(dict(found, module=f'osu-container/{approach}')))


@pytest.fixture(scope='module')
def script():
    """osu-explain as a module."""
    loader = importlib.machinery.SourceFileLoader('osu_explain', str(SOURCE))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader('osu_explain', loader))
    loader.exec_module(module)
    return module


@pytest.fixture
def explain(tmp_path):
    """Function (text of settings.json, arguments..., python, shell) that runs it as it is installed."""
    def call(text, *arguments, python=sys.executable, shell='exec "$@"'):
        (tmp_path / 'bin').mkdir()
        (tmp_path / 'proof').symlink_to(PROJECT)
        (tmp_path / 'bin' / 'osu-explain').write_text(SOURCE.read_text())
        (tmp_path / 'settings.json').write_bytes(text if isinstance(text, bytes) else text.encode())
        return run(['bash', '-c', shell, '-', python, '-I', tmp_path / 'bin' / 'osu-explain', *arguments],
                   env={'PATH': '/usr/bin:/bin', 'LC_ALL': 'C'})
    return call


@pytest.mark.parametrize('approach, site', PAIRS)
def test_what_is_installed_is_no_damage(script, approach, site):
    assert script.checked(settings_of(approach, site))


GOOD = ('hybrid', next(site for approach, site in PAIRS if approach == 'hybrid' and site in SITES))


@pytest.mark.parametrize('count', [200, pytest.param(10000, marks=pytest.mark.full)])
def test_damage_is_found_before_anything_is_explained(script, capsys, count):
    good, found = settings_of(*GOOD), 0
    for seed in range(count):
        chance = random.Random(seed)
        settings = json.loads(json.dumps(good))
        where, key = chance.choice(places(settings))
        where[key] = chance.choice(ODD)
        try:
            script.checked(settings)
        except ValueError:
            found += 1
            continue
        try:
            script.show(settings, script.explain(settings, dict(os.environ, FI_PROVIDER='x')), [])
        except UnicodeEncodeError:
            pass  # any_name()
        except Exception as err:
            raise AssertionError(f'seed {seed}, {key}: {err!r}') from err
    capsys.readouterr()
    assert found > count / 4


@pytest.mark.parametrize('shell, code, says', [
    ('exec "$@" >&-', 0, ''), ('exec "$@" <&- 2>&-', 0, ''),
    ('exec "$@" >/dev/full', 1, 'osu-explain: error: No space left on device\n')])
def test_a_closed_or_full_stream_is_no_traceback(explain, shell, code, says):
    done = explain(json.dumps(settings_of(*GOOD)), shell=shell)
    assert (done.returncode, done.stderr) == (code, says)


@pytest.mark.skipif(not PYTHON_36, reason='no Python 3.6 here')
def test_a_reason_with_any_letter_is_shown_without_a_locale(explain):
    settings = settings_of(*GOOD)
    settings['variables'][0]['why'] = 'saves 2 \u00b5s'
    done = explain(json.dumps(settings, ensure_ascii=False), python=PYTHON_36)
    assert (done.returncode, done.stderr) == (0, '')
    assert r'saves 2 \xb5s' in done.stdout
