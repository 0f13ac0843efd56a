"""The documentation leads to what is there: links, files, make targets, messages, versions.

CONTRIBUTING.md shows the house: every folder at the top and every package is there, and no other.
"""

import ast
import re
from collections import Counter
from pathlib import PurePosixPath

import pytest

from osu_container.check import examination
from osu_container.core.data.approaches import APPROACHES
from osu_container.core.data.sites import DESCRIBED, SITES
from osu_container.core.deciding.settings import runs_on, with_mpi_of
from osu_container.core.deciding.site_choice import described_entry, site_entry
from tests.helpers.machine import PROJECT, STATE, run

PAGES = sorted([*PROJECT.glob('*.md'), *(PROJECT / 'docs').rglob('*.md'), *PROJECT.glob('[a-z]*/README.md'),
                *PROJECT.glob('container-recipes/*/README.md')])
TROUBLESHOOTING = PROJECT / 'docs' / 'troubleshooting.md'
#: Folders in which a path in the text must exist. What `make demo` makes is not among them.
FOLDERS = ('.ci', '.github', 'container-recipes', 'docs', 'easyblocks', 'easyconfigs', 'lumi', 'modules',
           'osu_container', 'stand-in', 'tests', 'workstation')
#: Who says a message that is not ours; the text below its heading begins with "From <name>"
OTHERS = ('EasyBuild', 'Lmod', 'Apptainer', 'SingularityCE', 'Slurm', 'bash', 'the loader', "mpi4py's port", 'Python',
          'libfabric', 'MPICH', 'Cray MPICH', 'RCCL')
#: Not in the repository: osu_container/generate/site_report.py makes it
MADE_WITH_THE_SITE = [PROJECT / 'docs' / 'results' / 'report.html']
#: What eb runs: its errors end an installation
EASYBLOCKS = sorted([*(PROJECT / 'easyblocks/generic').glob('*.py'), PROJECT / 'osu_container/easyblock.py',
                     *(PROJECT / 'osu_container/core').rglob('*.py')])
#: Their errors are never shown by themselves: who reads a library's release takes them for "not known", and who reads a
#: file says of which one they are
SILENT = [PROJECT / 'osu_container/core/reading' / name for name in ('libraries.py', 'files.py')]


def without_code(text):
    """Return Markdown without its code blocks and code spans."""
    text = re.sub(r'^( {4}.*|```.*?```)$', '', text, flags=re.M)
    return re.sub(r'(`+).+?\1', '', text)


def code_of(text):
    """Return the code spans and indented code lines (list of str) of Markdown."""
    return re.findall(r'(?<!`)`([^`\n]+)`(?!`)', text) + re.findall(r'^ {4}(.+)$', text, re.M)


def anchors(page):
    """Return the anchors (set of str) that the headings of a page (Path) have on GitHub."""
    headings = re.findall(r'^#+ (.+)$', page.read_text(), re.M)
    return {re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-') for heading in headings}


# ---- links, files, targets

def links(page):
    """Return the links of a page (Path) into this project (list of (link, file, anchor))."""
    found = [link for link in re.findall(r'\]\(([^)\s]+)\)', without_code(page.read_text()))
             if not re.match(r'[a-z]+:', link)]
    parts = [(link, *link.partition('#')[::2]) for link in found]
    return [(link, (page.parent / path).resolve() if path else page, anchor) for link, path, anchor in parts]


def test_every_link_leads_to_a_file_and_a_heading():
    broken = [f'{page.relative_to(PROJECT)}: {link}' for page in PAGES for link, file, anchor in links(page)
              if file not in MADE_WITH_THE_SITE and (not file.exists() or anchor and anchor not in anchors(file))]
    assert broken == []


def test_every_path_in_the_text_exists():
    missing = []
    for page in PAGES:
        words = [word.rstrip(',') for code in code_of(page.read_text()) for word in re.split(r"[\s=:'\"]+", code)]
        missing += [f'{page.relative_to(PROJECT)}: {word}' for word in words
                    if word.split('/')[0] in FOLDERS and '/' in word and not re.search(r'[A-Z]{4}|[*<>$]', word)
                    and not (PROJECT / word).exists()]
    assert missing == []


def make_targets():
    """Return the targets (set of str) of the Makefile."""
    return set(re.findall(r'^([a-z][a-z-]*):', (PROJECT / 'Makefile').read_text(), re.M))


def test_every_make_target_in_the_text_exists():
    named = set()
    for code in [code for page in PAGES for code in code_of(page.read_text())]:
        for arguments in re.findall(r'^(?:\S+=\S+ )?make ([a-z][^#`]*)', code):
            named |= {word for word in arguments.split() if re.fullmatch(r'[a-z-]+', word)}
    assert named and named - make_targets() == set()


@pytest.mark.parametrize('name', ['.github/workflows/check.yml', '.ci/run'])
def test_ci_calls_targets_that_exist(name):
    lines = [line for line in (PROJECT / name).read_text().splitlines() if not line.lstrip().startswith('#')]
    named = {word for line in lines
             for arguments in re.findall(r'(?:run: |entry: |no " )make ([a-z -]+)$|" make ([a-z]+) 2>', line)
             for word in ' '.join(arguments).split()}
    assert named and named <= make_targets()


def test_every_page_is_linked_from_the_first():
    index = (PROJECT / 'docs' / 'index.md').read_text()
    for page in (PROJECT / 'docs').glob('*.md'):
        assert page.name == 'index.md' or f']({page.name})' in index, page.name


# ---- messages

def strings_of(path):
    """
    Return the texts (list of str) of a file that a message may come from, white space folded.

    Of Python: its string literals, adjacent ones joined, what is filled in left as it stands or as NUL. Of other files:
    its lines, continued ones joined.
    """
    text = path.read_text(errors='replace')
    if path.suffix != '.py' and not re.match('#!.*python', text):
        return [' '.join(line.replace('\\"', '"').split()) for line in text.replace('\\\n', '').splitlines()]
    return [' '.join(text_of(node).split()) for node in ast.walk(ast.parse(text))
            if isinstance(node, (ast.Constant, ast.JoinedStr, ast.BinOp))]


def text_of(node):
    """Return the text of a string expression: literals, what is filled in as NUL."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return ''.join(text_of(part) if isinstance(part, ast.Constant) else '\0' for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return text_of(node.left) + text_of(node.right)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return text_of(node.left)
    return '\0'


def project_strings():
    """Return the texts of all files of the project that print messages."""
    files = [PROJECT / 'Makefile', PROJECT / 'env.sh']
    for folder in ('.ci', 'container-recipes', 'easyblocks', 'easyconfigs', 'lumi', 'osu_container', 'workstation'):
        files += [path for path in (PROJECT / folder).rglob('*') if path.is_file() and path.suffix != '.pyc']
    return [text for path in files for text in strings_of(path)]


def easybuild_strings():
    """Return the texts of the newest EasyBuild's framework."""
    found = list((STATE / 'venv').glob('lib/python3*/site-packages/easybuild'))
    assert found, 'no EasyBuild in .workstation/venv: `make test` sets it up'
    return [text for path in (found[0] / 'main.py', found[0] / 'tools/filetools.py', found[0] / 'tools/options.py',
                              found[0] / 'tools/robot.py', found[0] / 'framework/easyblock.py',
                              found[0] / 'framework/easyconfig/easyconfig.py')
            for text in strings_of(path)]


def fixed_parts(heading):
    """Return a pattern that finds a heading's fixed parts (between the dots) in this order in one text."""
    parts = [' '.join(part.split()) for part in heading.split('...')]
    # without dots at the ends, which fit anywhere and would be tried at every character
    return re.compile('.*'.join(re.escape(part) for part in parts if part))


def headings():
    """Return [(message, text below)] of troubleshooting.md; messages in a row share the text below the last."""
    parts = re.split(r'^### (`+)(.+)\1\n', TROUBLESHOOTING.read_text(), flags=re.M)
    messages, bodies = parts[2::3], [re.split(r'^##? ', body, flags=re.M)[0].strip() for body in parts[3::3]]
    for number in reversed(range(len(bodies) - 1)):
        bodies[number] = bodies[number] or bodies[number + 1]
    return list(zip(messages, bodies))


def test_every_heading_is_a_message():
    found = re.findall(r'^### .*$', TROUBLESHOOTING.read_text(), re.M)
    assert len(found) == len(headings()) > 30
    assert len({message for message, _ in headings()}) == len(found)


def test_every_heading_is_printed_by_the_code_or_says_by_whom():
    ours, theirs = '\n'.join(project_strings()), '\n'.join(easybuild_strings())
    nowhere = []
    for message, body in headings():
        assert body, f'{message}: no cause and remedy'
        pattern = fixed_parts(message)
        if not pattern.search(ours) and not body.startswith(tuple(f'From {name}' for name in OTHERS)):
            nowhere.append(message)
        elif body.startswith('From EasyBuild') and not pattern.search(ours) and not pattern.search(theirs):
            nowhere.append(f'EasyBuild: {message}')
    assert nowhere == []


def raised_messages(path):
    """Return the messages (list of str) of all errors that a Python file raises, what is filled in as NUL."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
            text = re.sub(r'%[sdr]', '\0', text_of(node.exc.args[0]))
            if len(re.sub(r'\W', '', text)) > 15:  # else it passes on the text of another error
                found.append(' '.join(text.split()))
    return found


#: Words by which a message names its remedy, or the values that there are; one that ends in a reason passes that on
REMEDY = re.compile(r"\b(known|there are|it has|images for|than it has|Name|Copy|Put|Choose|Use|Load|take|"
                    r"[Ww]rite|Make|a link of|make one|made by|package|[Ii]nstall|use --|must be|cannot be read|"
                    r"To type|Download|[Bb]uild it|[Tt]ry)\b|: \0$")


def test_every_error_of_an_installation_names_its_remedy_or_has_a_heading():
    patterns = [fixed_parts(message) for message, _ in headings()]
    messages = [(path.name, message) for path in EASYBLOCKS if path not in SILENT for message in raised_messages(path)]
    assert len(messages) > 50
    assert [found for found in messages
            if not REMEDY.search(found[1]) and not any(pattern.search(found[1]) for pattern in patterns)] == []


# ---- claims


def test_what_the_readme_says_of_check_is_what_its_examination_found():
    outcomes = Counter(cell.outcome for cell in examination.examination())
    said = ', '.join(f'{outcomes[word]} {word}' for word in ('right', 'unknown', 'wrong'))
    assert f'`check` has {said} ' in (PROJECT / 'README.md').read_text()


def test_what_works_where_has_every_approach_and_site():
    section = (PROJECT / 'docs/support.md').read_text().partition('## What works where')[2].partition('\n## ')[0]
    lines = [line for line in section.splitlines() if line.startswith('|')]
    table = [[cell.strip() for cell in line.strip('|').split('|')] for line in lines]
    assert table[0][1:] == list(APPROACHES)
    assert [row[0] for row in table[2:]] == [*DESCRIBED, *SITES]
    for site, *cells in table[2:]:
        entry = (described_entry if site in DESCRIBED else site_entry)(site)
        for approach, cell in zip(APPROACHES, cells):
            possible = any(runs_on(with_mpi_of(APPROACHES[approach], soname), entry)
                           for soname in (None, 'libmpi.so.40'))
            wanted = r'measured <sup>\w</sup>|derived|untested|–' if possible else '–'
            assert re.fullmatch(wanted, cell), (site, approach)
            for letter in re.findall(r'<sup>(\w)</sup>', cell):
                assert section.count(f'* <sup>{letter}</sup>') == 1


def tracked():
    """Return the paths (list of PurePosixPath) of all files that Git tracks."""
    done = run(['git', '-c', f'safe.directory={PROJECT}', '-C', PROJECT, 'ls-files', '-z'])
    assert done.returncode == 0, done.stderr
    return [PurePosixPath(name) for name in done.stdout.split('\0') if name]


def listed():
    """Return the rows (list of (folder, names of the packages that it imports)) of the house in CONTRIBUTING.md."""
    house = (PROJECT / 'CONTRIBUTING.md').read_text().partition('\n## The house\n')[2].partition('\n## ')[0]
    return [(folder, set(re.findall(r'\w+', imports)))
            for folder, imports in re.findall(r'^\| `([^`]+)/` \| .+ \| ?([^|]*) ?\|$', house, re.M)]


def package_of(module):
    """Return the package (str) that module (str, with dots) belongs to, as the table has it; None: it is shared."""
    parts = module.split('.')
    place = '/'.join(parts[:3] if parts[1:2] == ['core'] else parts[:2])
    return place if parts[0] == 'osu_container' and len(parts) > 1 and place != 'osu_container/core' and (
        PROJECT / place).is_dir() else None


def imported(path):
    """Yield the names (str, with dots) that the file path (PurePosixPath) imports."""
    package = list(path.parts[:-1])
    for node in ast.walk(ast.parse((PROJECT / path).read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            begin = package[:len(package) - node.level + 1] if node.level else []
            yield from ('.'.join([*begin, *filter(None, [node.module]), name.name]) for name in node.names)


def test_the_house_has_every_folder_and_package_and_no_other():
    paths = tracked()
    folders = {path.parts[0] for path in paths if len(path.parts) > 1}
    packages = {'/'.join(path.parts[:-1]) for path in paths if path.parts[0] == 'osu_container'
                and path.name == '__init__.py' and len(path.parts) - (path.parts[1] == 'core') < 4}
    shown = [folder for folder, _ in listed()]
    assert len(set(shown)) == len(shown) > 20
    assert (folders | packages) - set(shown) == set(), 'not in CONTRIBUTING.md'
    assert set(shown) - (folders | packages) == set(), 'only in CONTRIBUTING.md'


@pytest.mark.parametrize('folder, wanted', [pytest.param(folder, wanted, id=folder) for folder, wanted in listed()
                                            if package_of(folder.replace('/', '.'))])
def test_a_package_imports_what_the_house_says_and_no_other(folder, wanted):
    core = '/core/' in folder  # which imports nothing from outside of it; the others take of it what they need
    found = {package_of(name) for path in tracked() if str(path).startswith(folder + '/') and path.suffix == '.py'
             for name in imported(path)} - {None, folder}
    assert {one.rpartition('/')[2] for one in found if core or '/core/' not in one} == wanted


@pytest.mark.parametrize('target', ['check-python', 'check-shell', 'check-modules', 'check-easyconfigs'])
def test_checks_of_style_pass(target):
    """The same targets that a person types, of which `make check` is made."""
    done = run(['make', '-C', PROJECT, target], timeout=600)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
