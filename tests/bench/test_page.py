"""
The page of osu-container report in a browser: nothing is cut off, and the network is left alone.
"""

import pytest

from tests.bench.test_report import APPROACHES, FAILURES, report
from tests.helpers.example_runs import MORE_CASES, make_run

pytestmark = pytest.mark.system

#: What is wider than its place. A table may be as wide as its part of the page, not wider
CUT_OFF = '''() => [...document.querySelectorAll('main > *, main > details > *')].filter((one) =>
    one.checkVisibility() &&
    one.getBoundingClientRect().right > document.documentElement.clientWidth + 1).map((one) => one.outerHTML)'''


@pytest.mark.parametrize('width', [1280, 390])
def test_a_page_fits_the_screen_and_draws_its_curves(width, chromium, tmp_path):
    path, asked = tmp_path / 'page.html', []
    folder = make_run(
        tmp_path / 'run', approaches=APPROACHES, cases=MORE_CASES, failures=FAILURES, repeats=3
    )
    assert report(folder, '-o', path) == 0
    context = chromium.new_context(viewport={'width': width, 'height': 900})
    page = context.new_page()
    page.on('console', lambda message: asked.append(message.text))
    page.on('request', lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert page.evaluate(CUT_OFF) == []
    drawn = page.evaluate('''() => [...document.querySelectorAll('svg.plot polyline')].map((curve) =>
        curve.points.length > 1 && getComputedStyle(curve).stroke !== 'none')''')
    assert len(drawn) > 40 and all(drawn)
    context.close()
    assert asked == [path.as_uri()]
