#!/usr/bin/env python3
"""
How much of the core the tests would notice: small faults (mutants) are put in one at a time, and the tests run.

    mutants.py sample FILES... -o sample.json       list all mutants of the files, draw some of them
    mutants.py cover FILES... -o cover.json         run the tests once, note which of them run each line
    mutants.py run FILES... --sample sample.json --cover cover.json -o results.json
    mutants.py report results.json                  table by file, and the survivors

The faults are those of cosmic-ray's operators. A mutant is named by what it changes and not by where that stands: the
function, the operator, the text of the line, and the how manieth of these it is. So the same sample can be run before
and after files were moved. Nothing is written in the project: the tests run in a private copy of it.

Needs Python 3.11 with cosmic-ray and coverage, in an environment of its own. The tests run in the project's, which
`make test-env` sets up.
This file is also the pytest plugin that notes the test of each line (`-p mutants`, without cosmic-ray).
"""
import argparse
import ast
import collections
import difflib
import functools
import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

#: The tests that count
MARKS = 'not apptainer and not slurm and not browser and not full'
#: First tests of one file that run a line, then all others: up to so many seconds each, by the clock of `cover`
FIRST_SECONDS, REST_SECONDS = 4, 60
#: Operators that mostly make no other program: Python has one object of most short strings and small numbers
NO_CHANGE = ('Eq_Is', 'NotEq_IsNot', 'Is_Eq', 'IsNot_NotEq')
#: A line that was touched, in the same function, is the same line from this similarity on (difflib's ratio)
SIMILAR = 0.8
#: How a text in quotes begins, also in brackets
TEXT = re.compile(r'\(?\s*[bfru]{0,2}["\']', re.I)


# ---- which mutants there are -----------------------------------------------------------------------------------------

@functools.cache
def operators():
    """Return {name: operator} of cosmic-ray that need no arguments."""
    from cosmic_ray.plugins import get_operator, operator_names
    found = {name.partition('/')[2]: get_operator(name) for name in operator_names()}
    return {name: operator() for name, operator in found.items()
            if not operator.arguments() and not name.endswith(NO_CHANGE)}


def excluded(leaf):
    """
    Return whether a change at leaf (of parso) says nothing about the tests.

    These are imports, annotations, what stands under `if __name__`, the message of an error, and a + or % beside a
    text: another operator there is a TypeError as soon as it runs.
    """
    node = leaf
    while node.parent is not None:
        child, node = node, node.parent
        if node.type in ('import_name', 'import_from', 'annassign', 'tfpdef'):
            return True
        if node.type == 'raise_stmt':
            return True
        if node.type == 'if_stmt' and '__name__' in node.children[1].get_code():
            return True
        if node.type == 'funcdef' and child is node.annotation:
            return True
    if leaf.type == 'operator' and leaf.parent.type in ('term', 'arith_expr'):
        return any(TEXT.match(operand.get_code().strip()) for operand in leaf.parent.children[::2])
    return False


def qualified_name(leaf):
    """Return the name of the function or class around leaf with those around it (str), '' at the top of a file."""
    names, node = [], leaf.parent
    while node is not None:
        if node.type in ('funcdef', 'classdef') and not node.name.start_pos > leaf.start_pos:
            names.insert(0, node.name.value)
        node = node.parent
    return '.'.join(names)


def mutants_of(project, file):
    """
    Return all mutants of a file, list of dict.

    name: the function; operator; line: its text before; index: how manieth of these three; file, lineno, place: where
    it is now; occurrence: cosmic-ray's number of it.
    """
    from cosmic_ray.ast import ast_nodes, get_ast
    source = (project / file).read_text()
    lines, tree, found = source.splitlines(), get_ast(source), []
    nodes = list(ast_nodes(tree))
    for operator_name, operator in operators().items():
        numbers, seen = itertools.count(), collections.Counter()
        for node in nodes:
            for start, end in operator.mutation_positions(node):
                occurrence, leaf = next(numbers), tree.get_leaf_for_position(start, include_prefixes=True)
                if excluded(leaf):
                    continue
                key = (qualified_name(leaf), operator_name, ' '.join(lines[start[0] - 1].split()))
                found.append({'name': key[0], 'operator': key[1], 'line': key[2], 'index': seen[key], 'file': str(file),
                              'lineno': start[0], 'place': [*start, *end], 'occurrence': occurrence})
                seen[key] += 1
    return found


def mutated(source, mutant):
    """Return source (str) with mutant, None where that is no Python or the same program."""
    from cosmic_ray.mutating import mutate_code
    text = mutate_code(source, operators()[mutant['operator']], mutant['occurrence'])
    try:
        return None if text is None or ast.dump(ast.parse(text)) == ast.dump(ast.parse(source)) else text
    except SyntaxError:
        return None


def difference(before, after):
    """Return the changed lines (str) of two texts, those before with a -, those after with a +."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm='', n=0)
    return '\n'.join(line[0] + ' ' + line[1:].strip() for line in itertools.islice(lines, 3, None)
                     if line[0] in '+-')


def draw(project, files, count, seed):
    """
    Return (sample, number of all mutants): count mutants, from every file in proportion to its size, at least one.

    Of the mutants of one place (a < may become six other signs) one at most is drawn.
    """
    pools, total = {}, 0
    for file in files:
        choice, places = random.Random(f'{seed} {Path(file).name}'), collections.defaultdict(list)
        for mutant in mutants_of(project, file):
            places[(*mutant['place'], re.split('_', mutant['operator'])[0])].append(mutant)
        total += sum(map(len, places.values()))
        pools[file] = [choice.choice(one) for _, one in sorted(places.items())]
        choice.shuffle(pools[file])
    share = count / sum(map(len, pools.values()))
    wanted = {file: max(1, int(len(pool) * share)) for file, pool in pools.items() if pool}
    for file in sorted(wanted, key=lambda file: wanted[file] - len(pools[file]) * share):
        wanted[file] += sum(wanted.values()) < count
    sample = []
    for file, number in wanted.items():
        source = (project / file).read_text()
        good = ((mutant, mutated(source, mutant)) for mutant in pools[file])
        for mutant, text in itertools.islice(((one, text) for one, text in good if text), number):
            sample.append({key: mutant[key] for key in ('name', 'operator', 'line', 'index', 'file')})
            sample[-1]['change'] = difference(source, text)
    return sample, total


def stem(file):
    """Return the plain name of a file (str), the same in both layouts."""
    return re.sub(r'^_mpicontainer_', '', Path(file).stem)


def find(wanted, everything, renames=None):
    """
    Return (mutant, how) of everything (list of mutants now) that is wanted (of a sample), (None, 'gone') without.

    how: 'exact'; 'moved', the line stands in another function; 'similar', the line was touched.

    :param renames: dict, words of the names and lines of the sample -> what they are called now
    """
    for old, new in (renames or {}).items():
        wanted = dict(wanted, **{key: re.sub(rf'(?<!\w){re.escape(old)}(?!\w)', new, wanted[key])
                                 for key in ('name', 'line')})
    same = [one for one in everything if one['operator'] == wanted['operator']]

    def best(ones):
        return max(ones, key=lambda one: (stem(one['file']) == stem(wanted['file']), one['file'] == wanted['file']))

    exact = [one for one in same if (one['name'], one['line'], one['index'])
             == (wanted['name'], wanted['line'], wanted['index'])]
    if exact:
        return best(exact), 'exact'
    moved = [one for one in same if (one['line'], one['index']) == (wanted['line'], wanted['index'])]
    if len(moved) == 1:
        return moved[0], 'moved'
    last = wanted['name'].rpartition('.')[2]
    near = [(difflib.SequenceMatcher(None, wanted['line'], one['line']).ratio(), one) for one in same
            if last and one['name'].rpartition('.')[2] == last and one['index'] == wanted['index']]
    near = [pair for pair in near if pair[0] >= SIMILAR]
    return (max(near, key=lambda pair: pair[0])[1], 'similar') if near else (None, 'gone')


# ---- a private copy of the project -----------------------------------------------------------------------------------

def copy_of(project, folder):
    """
    Copy the project (Path) as it stands to folder/tree and return that: what git knows and what it does not ignore.

    What `make test-env` has made is linked; links in it that lead back to the project lead to the copy.
    """
    tree = folder / 'tree'
    subprocess.run(['git', 'clone', '-q', '--shared', project, tree], check=True)
    changed = subprocess.run(['git', 'ls-files', '-z', '-m', '-d', '-o', '--exclude-standard'], cwd=project, check=True,
                             capture_output=True, text=True).stdout
    for name in filter(None, set(changed.split('\0'))):
        (tree / name).unlink(missing_ok=True)
        if os.path.lexists(project / name):
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(project / name, tree / name, follow_symlinks=False)
    for path in (project / 'sources').iterdir():
        if not (tree / 'sources' / path.name).exists():
            (tree / 'sources' / path.name).symlink_to(path)
    state, own = project / '.workstation', tree / '.workstation'
    (own / 'bin').mkdir(parents=True)
    for path in [*state.iterdir(), *(state / 'bin').iterdir()]:
        target = path.resolve()
        if project in target.parents and state not in target.parents:
            target = tree / target.relative_to(project)
        if path != state / 'bin':
            (own / path.relative_to(state)).symlink_to(target)
    return tree


def run_tests(tree, words, seconds, **variables):
    """
    Run pytest in tree with words (list) for so many seconds at most and return (exit code, None if too long; output).
    """
    environment = {**os.environ, 'PYTEST_DEBUG_TEMPROOT': str(tree.parent), **variables}
    environment.pop('PYTHONDONTWRITEBYTECODE', None)  # compiled code is kept from one run to the next
    environment['PATH'] = f"{tree}/.workstation/bin:{environment['PATH']}"
    python = tree / '.workstation' / 'venv' / 'bin' / 'python'
    command = [python, '-m', 'pytest', '-q', '--no-header', '--tb=line', '-p',
               'no:cacheprovider', '-m', MARKS, *words]
    process = subprocess.Popen(command, cwd=tree, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors='replace', start_new_session=True)
    try:
        out = process.communicate(timeout=seconds)[0]
        return process.returncode, out
    except subprocess.TimeoutExpired:
        return None, ''
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)  # also what a test had started
        except ProcessLookupError:
            pass
        process.wait()


# ---- which tests run a line ------------------------------------------------------------------------------------------

#: Python runs this first wherever PYTHONPATH leads here: also commands and eb, which tests start
STARTER = """import os, sys
if 'COVERAGE_PROCESS_START' in os.environ and sys.version_info[:2] == %r:
    try:
        import coverage
        coverage.process_startup()
    except Exception:
        pass
"""
SETTINGS = """[run]
data_file = %s/data/coverage
parallel = true
context = ${PYTEST_CURRENT_TEST}
disable_warnings = no-data-collected, module-not-measured, no-sysmon, couldnt-parse
include =
    %s
"""


def pytest_configure():
    """Plugin: whatever a test starts notes its lines too, also with an environment that the test made."""
    original = subprocess.Popen.__init__

    def start(self, *args, env=None, **kwargs):
        if env is not None:
            path = [os.environ['PYTHONPATH']] + ([env['PYTHONPATH']] if 'PYTHONPATH' in env else [])
            env = {**env, 'PYTHONPATH': os.pathsep.join(path)}
            env.update((name, os.environ.get(name, '')) for name in ('COVERAGE_PROCESS_START', 'PYTEST_CURRENT_TEST'))
        original(self, *args, env=env, **kwargs)

    subprocess.Popen.__init__ = start


def pytest_runtest_setup(item):
    """Plugin: lines from now on are of the fixtures of this test."""
    import coverage
    coverage.Coverage.current().switch_context(f'{item.nodeid} (setup)')


def pytest_runtest_call(item):
    """Plugin: lines from now on are of this test."""
    import coverage
    coverage.Coverage.current().switch_context(f'{item.nodeid} (call)')


def pytest_runtest_logreport(report):
    """Plugin: note how long a phase of a test took and how it ended."""
    with open(os.environ['MUTANTS_TIMES'], 'a', encoding='utf-8') as file:
        file.write(json.dumps([report.nodeid, report.duration, report.outcome]) + '\n')


def cover(project, files, folder, words):
    """
    Run the tests once in a copy of the project in folder and return {'tests': {id: seconds}, 'failed': [id], 'lines':
    {file: {line: [tests that run it, as their place in 'tests']}}}.

    A test whose fixtures run a line stands for all tests of its file: they may share the fixture.
    """
    import coverage
    tree, path = copy_of(project, folder), folder / 'python'
    path.mkdir()
    (folder / 'data').mkdir()
    (path / 'sitecustomize.py').write_text(STARTER % (sys.version_info[:2],))
    (path / 'coverage').symlink_to(Path(coverage.__file__).parent)
    (path / 'mutants.py').symlink_to(Path(__file__).resolve())
    settings, times = folder / 'coveragerc', folder / 'times'
    settings.write_text(SETTINGS % (folder, '\n    '.join(str(tree / file) for file in files)))
    _, out = run_tests(tree, ['-p', 'mutants', *words], None, PYTHONPATH=str(path), MUTANTS_TIMES=str(times),
                        COVERAGE_PROCESS_START=str(settings))
    print(out[-3000:])
    seconds, failed = collections.Counter(), set()
    for line in times.read_text().splitlines():
        test, duration, outcome = json.loads(line)
        seconds[test] += duration
        if outcome != 'passed':
            failed.add(test)
    measured = coverage.Coverage(config_file=str(settings))
    measured.combine()
    by_file, lines, place = collections.defaultdict(list), {}, {test: number for number, test in enumerate(seconds)}
    for test in seconds:
        by_file[test.partition('::')[0]].append(test)
    for file in files:
        lines[file] = {}
        for line, contexts in measured.get_data().contexts_by_lineno(str(tree / file)).items():
            tests = set()
            for context in contexts:
                test, _, phase = context.rpartition(' ')
                tests.update(by_file[test.partition('::')[0]] if phase == '(setup)' else [test])
            lines[file][line] = sorted(place[test] for test in tests & set(seconds) - failed)
    return {'tests': seconds, 'failed': sorted(failed), 'lines': lines}



# ---- each mutant and the tests that should notice it -----------------------------------------------------------------

def statement(source, lineno):
    """Return the smallest statement of source (str) in which a line stands (of ast)."""
    around = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt)
              and node.lineno <= lineno <= node.end_lineno]
    return min(around, key=lambda node: node.end_lineno - node.lineno)


def tests_of(project, mutant, covered):
    """
    Return ids of the tests that run the line of mutant: first those of its own test file and of that file's folder, in
    each those that run most of the lines of its function, of these the quickest of each test function.

    Python counts some lines to an earlier one of their statement. For a statement at the top of a file: the tests that
    run a line which names what is bound there; then those that run any line of the file.
    """
    file, line, lines = mutant['file'], mutant['lineno'], covered['lines']
    around = statement((project / file).read_text(), line)
    bound = [part.id for part in ast.walk(around) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]
    if mutant['name'] or not bound:
        groups = [[(file, one) for one in ([line] if lines[file].get(str(line)) else range(around.lineno, line))]]
    else:
        word = re.compile(rf"\b({'|'.join(bound)})\b")
        users = [(one, number) for one in lines
                 for number, text in enumerate((project / one).read_text().splitlines(), 1) if word.search(text)]
        groups = [users, [(file, int(one)) for one in lines[file]]]
    found, seconds, names = [], covered['tests'], list(covered['tests'])
    inside = collections.Counter()
    for node in ast.walk(ast.parse((project / file).read_text())):
        if isinstance(node, ast.FunctionDef) and node.lineno <= line <= node.end_lineno:
            for one in range(node.lineno, node.end_lineno + 1):
                inside.update(names[test] for test in lines[file].get(str(one), ()))
    for group in groups:
        here = {names[test] for file, line in group for test in lines[file].get(str(line), ())} - set(found)
        turns = collections.Counter()
        ranked = []
        for test in sorted(here, key=lambda test: (seconds[test], test)):
            function = test.partition('[')[0]
            ranked.append((*(-one for one in near(file, test)), -inside[test], turns[function], seconds[test], test))
            turns[function] += 1
        found += [test for *_, test in sorted(ranked)]
    return found


def near(file, test):
    """Return how near a test (id) is to a file of the package: folders in common, and whether the file is named so."""
    parts, theirs = (path.split('/')[1:] for path in (file, test.partition('::')[0]))
    same = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(parts, theirs)))
    return same, theirs[-1] == f'test_{parts[-1]}'


def batches(tests, seconds):
    """
    Yield (tests, seconds that they took): first some of the test file of the first one, then the others.

    One file at first, because reading a test file takes longer than most tests.
    """
    own = [test for test in tests if test.startswith(tests[0].partition('::')[0] + '::')]
    done = []
    for candidates, limit in ((own, FIRST_SECONDS), (tests, REST_SECONDS)):
        batch, spent = [], 0
        for test in candidates:
            if test not in done and spent + seconds[test] <= limit:
                batch.append(test)
                spent += seconds[test]
        done += batch
        if batch:
            yield batch, spent


class Tree:
    """A copy of the project in which one file at a time is changed."""

    def __init__(self, project, folder):
        self.tree, self.clock = copy_of(project, folder), itertools.count(1_000_000_000, 100)

    def write(self, file, text):
        """Write a file with a time of its own: Python takes compiled code for that of a file of the same time."""
        (self.tree / file).write_text(text)
        os.utime(self.tree / file, (now := next(self.clock), now))

    def test(self, tests, seconds):
        """Run tests (ids) until one fails and return (exit code, None for too long; id of that one or what failed)."""
        listed = self.tree.parent / 'tests.txt'
        listed.write_text('\n'.join(tests))
        code, out = run_tests(self.tree, ['-x', f'@{listed}'], 60 + 4 * seconds)
        failed = re.search(r'^(?:FAILED|ERROR) (\S+?::.*?)(?: - |$)', out, re.M)
        return code, failed.group(1) if failed else '' if code in (0, None) else 'collection of tests'


def run_all(project, files, sample, covered, renames, folder, results, save):
    """
    Put every mutant of sample (number -> mutant) in a copy of the project and run its tests.

    What is in results (list) already is not run again. They are saved by save(results) after each mutant.

    result: killed; timeout (tests ran far longer than without); survived; not covered; gone (no such line any more).
    """
    tree = Tree(project, folder)
    everything = [mutant for file in files for mutant in mutants_of(project, file)]
    done = {result['number'] for result in results}
    for number, wanted in sample.items():
        if number in done:
            continue
        began = time.monotonic()
        mutant, how = find(wanted, everything, renames)
        result = {'number': number, **wanted, 'found': how, 'result': 'gone', 'ran': 0, 'of': 0, 'by': ''}
        source = (project / mutant['file']).read_text() if mutant else ''
        text = mutated(source, mutant) if mutant else None
        if text:
            tests = tests_of(project, mutant, covered)
            result.update(now=f"{mutant['file']}:{mutant['lineno']}", of=len(tests), change=difference(source, text),
                          result='survived' if tests else 'not covered')
            tree.write(mutant['file'], text)
            for batch, seconds in batches(tests, covered['tests']):
                code, by = tree.test(batch, seconds)
                result['ran'] += len(batch)
                if code != 0:
                    result.update(result='timeout' if code is None else 'killed', by=by)
                    break
            tree.write(mutant['file'], source)
            if result['result'] == 'timeout' and tree.test(batch, seconds)[0] is None:
                result['result'] = 'unclear'
        result['seconds'] = round(time.monotonic() - began, 1)
        results.append(result)
        results.sort(key=lambda result: result['number'])
        print(f"{number:4} {result['result']:12} {result['seconds']:6.1f} s  {wanted['file']} {wanted['name']}  "
              f"{wanted['operator']}", flush=True)
        save(results)
    # Tests that fail without any mutant say nothing about one.
    killers = sorted({result['by'] for result in results if '::' in result['by']})
    failing = [test for test in killers if tree.test([test], 60)[0] != 0] if killers and \
        tree.test(killers, 60 + sum(covered['tests'].get(test, 0) for test in killers))[0] != 0 else []
    for result in results:
        if result['by'] in failing:
            result['result'] = 'unclear'
    save(results)


def report(results):
    """Return the table by file and the survivors as text."""
    kinds = ['killed', 'timeout', 'survived', 'not covered', 'gone', 'unclear']
    table = collections.defaultdict(collections.Counter)
    for result in results:
        for row in (stem(result['file']), 'total'):
            table[row][result['result']] += 1
    rows = [['file', 'mutants', *kinds, 'noticed']]
    for row in sorted(table, key=lambda row: (row == 'total', row)):
        count = table[row]
        there = sum(count.values()) - count['gone'] - count['unclear']
        share = f"{100 * (count['killed'] + count['timeout']) / there:.0f}%" if there else '-'
        rows.append([row, sum(count.values()), *(count[kind] for kind in kinds), share])
    out = [''.join(f'{cell!s:<16}' if not number else f'{cell!s:>12}' for number, cell in enumerate(row))
           for row in rows]
    for kind in ('survived', 'not covered', 'unclear', 'gone'):
        out += [f'\n{kind}:'] if any(result['result'] == kind for result in results) else []
        for result in results:
            if result['result'] == kind:
                out += [f"\n{result['number']}. {result.get('now', result['file'])}  {result['name'] or '(top)'}  "
                        f"{result['operator']}  {result['ran']} of {result['of']} tests",
                        *('    ' + line for line in result['change'].splitlines())]
    return '\n'.join(out) + '\n'


def main():
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest='command', required=True)
    for name in ('sample', 'cover', 'run'):
        command = commands.add_parser(name)
        command.add_argument('files', nargs='+', help='files to mutate, relative to the project')
        command.add_argument('--project', type=Path, default=Path.cwd())
        command.add_argument('-o', '--output', type=Path, required=True)
        if name == 'sample':
            command.add_argument('--count', type=int, default=320)
            command.add_argument('--seed', default='1')
        else:
            command.add_argument('--work', type=Path, help='new folder for the copy; default: one that is removed')
        if name == 'cover':
            command.add_argument('--pytest', default='', help='more words for pytest')
        if name == 'run':
            command.add_argument('--sample', type=Path, required=True)
            command.add_argument('--cover', type=Path, required=True)
            command.add_argument('--renames', type=Path, help='JSON: words of the sample -> what they are called now')
            command.add_argument('--only', default='', help='numbers of mutants, e.g. 3,17')
    commands.add_parser('report').add_argument('results', type=Path)
    options = parser.parse_args()
    if options.command == 'report':
        print(report(json.loads(options.results.read_text())), end='')
        return
    project = options.project.resolve()

    def save(what):
        options.output.write_text(json.dumps(what, indent=1 if isinstance(what, list) else None) + '\n')

    if options.command == 'sample':
        sample, total = draw(project, options.files, options.count, options.seed)
        save(sample)
        print(f'{len(sample)} of {total} mutants of {len(options.files)} files')
        return
    with tempfile.TemporaryDirectory(prefix='mutants-') as folder:
        folder = options.work or Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        if options.command == 'cover':
            save(cover(project, options.files, folder, options.pytest.split()))
        else:
            sample = json.loads(options.sample.read_text())
            chosen = [int(number) for number in options.only.split(',') if number] or range(1, len(sample) + 1)
            earlier = json.loads(options.output.read_text()) if options.output.exists() else []
            run_all(project, options.files, {number: sample[number - 1] for number in chosen},
                    json.loads(options.cover.read_text()),
                    json.loads(options.renames.read_text()) if options.renames else {}, folder, earlier, save)


if __name__ == '__main__':
    main()
