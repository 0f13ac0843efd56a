"""Test that the links, files, make targets and messages that the pages name exist.

CONTRIBUTING.md lists every folder of the repository and every package, and no other.
"""

import re
from collections import Counter

from osu_container.check import examination
from tests.helpers.machine import PROJECT

PAGES = sorted(
    [
        *PROJECT.glob('*.md'),
        *(PROJECT / 'docs').rglob('*.md'),
        *PROJECT.glob('[a-z]*/README.md'),
        *PROJECT.glob('container-recipes/*/README.md'),
    ]
)
TROUBLESHOOTING = PROJECT / 'docs' / 'troubleshooting.md'
#: Folders whose files print messages, and folders in which a path in the text must exist, but for
#: what `make demo` creates
SOURCES = '.ci container-recipes easyblocks easyconfigs osu_container scripts tools'.split()
FOLDERS = [*SOURCES, '.github', 'docs', 'modules', 'tests']
#: Programs whose messages troubleshooting.md explains; the text then begins with "From <name>"
OTHERS = (
    'EasyBuild',
    'Lmod',
    'Apptainer',
    'SingularityCE',
    'Slurm',
    'UCX',
    'bash',
    'the loader',
    "mpi4py's port",
    'Python',
    'libfabric',
    'MPICH',
    'Cray MPICH',
    'RCCL',
)
#: Files that only the site contains: tools/generate/site_pages.py creates them
MADE_WITH_THE_SITE = [PROJECT / 'docs' / 'results' / 'report.html']


def remove_code(text):
    """Return Markdown without its code blocks and code spans."""
    text = re.sub(r'^( {4}.*|```.*?```)$', '', text, flags=re.M)
    return re.sub(r'(`+).+?\1', '', text)


def list_code(text):
    """Return the code spans and indented code lines (list of str) of Markdown."""
    return re.findall(r'(?<!`)`([^`\n]+)`(?!`)', text) + re.findall(r'^ {4}(.+)$', text, re.M)


def list_anchors(page):
    """Return the anchors (set of str) that the headings of a page (Path) have on GitHub."""
    headings = re.findall(r'^#+ (.+)$', page.read_text(), re.M)
    return {re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-') for heading in headings}


# ---- links, files, targets


def list_links(page):
    """Return the links of a page (Path) into this project (list of (link, file, anchor))."""
    found = [
        link
        for link in re.findall(r'\]\(([^)\s]+)\)', remove_code(page.read_text()))
        if not re.match(r'[a-z]+:', link)
    ]
    parts = [(link, *link.partition('#')[::2]) for link in found]
    return [
        (link, (page.parent / path).resolve() if path else page, anchor)
        for link, path, anchor in parts
    ]


def test_every_link_leads_to_a_file_and_a_heading():
    broken = [
        f'{page.relative_to(PROJECT)}: {link}'
        for page in PAGES
        for link, file, anchor in list_links(page)
        if file not in MADE_WITH_THE_SITE
        and (not file.exists() or anchor and anchor not in list_anchors(file))
    ]
    assert broken == []


def test_every_path_in_the_text_exists():
    missing = []
    for page in PAGES:
        words = [
            word.rstrip(',')
            for code in list_code(page.read_text())
            for word in re.split(r"[\s=:'\"]+", code)
        ]
        missing += [
            f'{page.relative_to(PROJECT)}: {word}'
            for word in words
            if word.split('/')[0] in FOLDERS
            and '/' in word
            and not re.search(r'[A-Z]{4}|[*<>$]', word)
            and not (PROJECT / word).exists()
        ]
    assert missing == []


def list_make_targets():
    """Return the targets (set of str) of the Makefile."""
    return set(re.findall(r'^([a-z][a-z-]*):', (PROJECT / 'Makefile').read_text(), re.M))


def test_every_make_target_in_the_text_exists():
    named = set()
    for code in [code for page in PAGES for code in list_code(page.read_text())]:
        for arguments in re.findall(r'^(?:\S+=\S+ )?make ([a-z][^#`]*)', code):
            named |= {word for word in arguments.split() if re.fullmatch(r'[a-z-]+', word)}
    assert named and named - list_make_targets() == set()


def test_every_page_is_linked_from_the_first():
    index = (PROJECT / 'docs' / 'index.md').read_text()
    for page in (PROJECT / 'docs').glob('*.md'):
        assert page.name == 'index.md' or f']({page.name})' in index, page.name


# ---- messages


def list_headings():
    """
    Return [(message, text below)] of troubleshooting.md; messages in a row share the text below
    the last.
    """
    parts = re.split(r'^### (`+)(.+)\1\n', TROUBLESHOOTING.read_text(), flags=re.M)
    messages, bodies = (
        parts[2::3],
        [re.split(r'^##? ', body, flags=re.M)[0].strip() for body in parts[3::3]],
    )
    for number in reversed(range(len(bodies) - 1)):
        bodies[number] = bodies[number] or bodies[number + 1]
    return list(zip(messages, bodies))


def read_project_text():
    """
    Return the text (str) of all files that print messages, adjacent string literals joined, a
    file a line.
    """
    files = [PROJECT / 'Makefile', PROJECT / 'env.sh']
    for folder in SOURCES:
        files += [
            path
            for path in (PROJECT / folder).rglob('*')
            if path.is_file() and path.suffix != '.pyc'
        ]
    texts = [re.sub(r'\\([\'"])|\\\n', r'\1', path.read_text(errors='replace')) for path in files]
    return '\n'.join(
        ' '.join(re.sub(r'[\'"]\s+(?:\+ )?[fr]?[\'"]', '', text).split()) for text in texts
    )


def test_every_troubleshooting_heading_is_a_real_message():
    found = list_headings()
    assert len(dict(found)) == len(re.findall(r'^### .*$', TROUBLESHOOTING.read_text(), re.M)) > 20
    ours, nowhere = read_project_text(), []
    for message, body in found:
        assert body, f'{message}: no cause and remedy'
        parts = [re.escape(' '.join(part.split())) for part in message.split('...') if part.strip()]
        if not re.search('.{0,300}?'.join(parts), ours) and not body.startswith(OTHERS):
            nowhere.append(message)
    assert nowhere == []


# ---- claims


def test_readme_states_the_counts_of_check_published():
    outcomes = Counter(cell.outcome for cell in examination.examine_published_combinations())
    counts = r'\D+'.join(str(outcomes[word]) for word in ('right', 'unknown', 'wrong'))
    assert re.search(
        rf'`check`\D+{counts}\D.*`osu-container check --published`',
        (PROJECT / 'README.md').read_text(),
    )
