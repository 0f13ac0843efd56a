"""What a native build needs to know, without EasyBuild."""
import re

from tests.helpers.machine import PROJECT


def test_core_imports_no_easybuild():
    for path in sorted((PROJECT / 'osu_container' / 'core').rglob('*.py')):
        assert not re.search(r'(?m)^\s*(from|import) easybuild', path.read_text()), path
