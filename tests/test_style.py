"""`make check` holds: the same targets that a person types."""

import pytest

from tests.helpers.machine import PROJECT, run


@pytest.mark.parametrize('target', ['check-python', 'check-shell', 'check-modules', 'check-easyconfigs'])
def test_checks_of_style_pass(target):
    done = run(['make', '-C', PROJECT, target], timeout=600)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
