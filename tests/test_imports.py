"""
One name for each module: each imports alone, and only what is started as a program sets a search
path.
"""

import ast
import graphlib
import json
import os
import re
import sys

import pytest

from tests.helpers.machine import PROJECT, PYTHON_36, run

TRACKED = run(['git', '-C', PROJECT, 'ls-files', '-co', '--exclude-standard']).stdout.split()
MODULES = sorted(
    re.sub(r'(/__init__)?\.py$', '', name).replace('/', '.')
    for name in TRACKED
    if name.startswith('osu_container/') and name.endswith('.py') and (PROJECT / name).exists()
)
#: Started as programs of their own, so that nobody has set a search path for them
SCRIPTS = {
    'scripts/osu-container',
    'tests/stand_in/make',
    'easyblocks/generic/mpicontainer.py',
    'easyblocks/generic/mpinative.py',
    'osu_container/bench/checks.py',  # by ReFrame
    'scripts/osu-explain',
    'scripts/osu-proof',
    'osu_container/proof/start.py',  # from an installed module
    *(name for name in TRACKED if re.match(r'container-recipes/\w+\.py$', name)),
}  # by HPCCM
#: They need what is on a path of their own, which is no package of this project
OTHERS = {
    'scripts/osu-port',
    'container-recipes/mpi4py/osu-python',
    'tests/stand_in/files/says.py',
    'osu_container/proof/patterns.py',
}
#: Import every module that is named, in one process
TOGETHER = """
import sys, traceback
for name in sys.argv[1:]:
    try:
        __import__(name)
    except BaseException as problem:
        if (getattr(problem, 'name', None) or '').split('.')[0] not in ('easybuild', 'hpccm'):
            print('FAILED', name, traceback.format_exc())
"""
#: The same, each in a process of its own that has imported nothing of ours yet
FORKED = """
import os, sys, traceback
try:
    import jinja2, hpccm, numpy, reframe, scipy.stats  # once, as these take seconds; ours are imported in each fork
except ImportError:
    pass
for name in sys.argv[1:]:
    sys.stdout.flush()
    if not os.fork():
        try:
            __import__(name)
        except BaseException as problem:
            if (getattr(problem, 'name', None) or '').split('.')[0] in ('easybuild', 'hpccm'):  # where they are
                os._exit(0)
            print('FAILED', name, traceback.format_exc())
            sys.stdout.flush()
            os._exit(1)
        os._exit(0)
    os.wait()
"""
#: What needs a newer Python than compute nodes and EasyBuild 4.9 have, as pyproject.toml says it to
#: ruff
NEWER = re.findall(
    r'^"osu_container/(.*)/\*\*" = "py39"$', (PROJECT / 'pyproject.toml').read_text(), re.M
)
OF_36 = [name for name in MODULES if (name + '..').split('.')[1] not in NEWER]


def read_python_files():
    """
    Return {path below the project: text} of all tracked files that are Python, scripts without a
    suffix too.
    """
    found = {}
    for name in TRACKED:
        path = PROJECT / name
        if (
            path.is_symlink()
            or not path.is_file()
            or name.startswith('container-recipes/rendered/')
        ):
            continue
        if name.endswith('.py') or path.read_bytes()[:40].startswith(
            (b'#!/usr/bin/env python', b'#!/usr/bin/python')
        ):
            found[name] = path.read_text()
    return found


@pytest.mark.parametrize(
    'python, modules, script',
    [
        pytest.param(sys.executable, MODULES, FORKED, marks=pytest.mark.nightly, id='newest'),
        pytest.param(PYTHON_36, OF_36, TOGETHER, id='3.6'),
    ],
)
def test_every_module_imports(python, modules, script, tmp_path):
    if python is None:
        pytest.skip('no Python 3.6 on this machine')
    # bench/checks.py loads the modules that are installed, as ReFrame wants them, unless a plan is
    # named
    plan = tmp_path / 'plan.json'
    plan.write_text(json.dumps({'folder': None, 'repeat': 1, 'runs': [], 'promises': {}}))
    done = run(
        [python, '-c', script, *modules],
        cwd=PROJECT,
        env=dict(os.environ, OSU_CONTAINER_PLAN=str(plan)),
    )
    assert 'FAILED' not in done.stdout, done.stdout
    assert len(modules) > 80


#: What sets more than a search path before it imports: limits of libraries
LATE = {'tests/conftest.py', 'tests/test_imports.py', 'osu_container/bench/compare/numbers.py'}


def test_only_started_programs_set_the_search_path():
    setting = re.compile(r'^\s*sys\.path(\[|\.(insert|append|extend))', re.M)
    found = {
        name
        for name, text in read_python_files().items()
        if setting.search(text) and not name.startswith('tests/')
    }
    assert found - OTHERS <= SCRIPTS
    late = {
        name
        for name, text in read_python_files().items()
        if 'noqa: E402' in text and name not in SCRIPTS | LATE
    }
    assert not late


def test_imports_have_no_cycle():
    edges = {}
    for name in MODULES:
        path = PROJECT / (name.replace('.', '/') + '.py')
        path = path if path.exists() else PROJECT / name.replace('.', '/') / '__init__.py'
        package = name if path.name == '__init__.py' else name.rpartition('.')[0]
        wanted = edges.setdefault(name, set())
        for node in ast.parse(path.read_text()).body:  # imports inside of functions come later
            if isinstance(node, ast.ImportFrom):
                above = package.rsplit('.', node.level - 1)[0] if node.level else ''
                base = '.'.join(filter(None, [above, node.module]))
                wanted |= {
                    f'{base}.{one.name}' if f'{base}.{one.name}' in MODULES else base
                    for one in node.names
                }
            elif isinstance(node, ast.Import):
                wanted |= {one.name for one in node.names}
        wanted &= set(MODULES) - {name}
    graphlib.TopologicalSorter(edges).prepare()  # raises CycleError, which names the modules


#: The packages, each of which may import those before it (CONTRIBUTING.md draws them)
ORDER = ('base data image verdict install build discover proof why check bench').split()
#: Packages that no EasyBuild has to be installed for
WITHOUT_EASYBUILD = ORDER[:4]


def test_packages_import_only_earlier_packages():
    packages = {
        name.split('/')[1]
        for name in TRACKED
        if name.startswith('osu_container/') and name.count('/') > 1
    }
    assert packages == set(ORDER)
    for name, text in read_python_files().items():
        place = name.split('/')[1] if '/' in name else ''
        if name.startswith('osu_container/') and place in ORDER:
            found = re.findall(r'^\s*from osu_container\.?(\w*)[\w.]* import', text, re.M)
            later = set(found) & set(ORDER[ORDER.index(place) + 1 :])
            assert not later, f'{name} imports {later}'
            assert place not in WITHOUT_EASYBUILD or not re.search(
                '^ *(from|import) easybuild', text, re.M
            ), name
