"""
Compare the site data with the public files from which the data come, in Git clones of these files.

    python -m tools.facts --list                            # the URLs of the repositories
    git clone --bare URL FOLDER/OWNER/NAME                  # for each repository
    python -m tools.facts --clones FOLDER                   # a table of all differences
    python -m tools.facts --clones FOLDER --replay OWNER/NAME   # all changes in the history
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from osu_container.base.places import PROJECT
from osu_container.data.approaches import APPROACHES
from osu_container.data.sites import SITES
from osu_container.verdict.site_choice import resolve_site

_SITES = PROJECT / 'osu_container' / 'data' / 'sites'
_EXPORT = r'^ *(?:export )?((?:FI|HSA|NCCL|OMPI_MCA|PMIX_MCA)_\w+)="?([^\n"#]*[^\n"# ])'


#: Repository (OWNER/NAME on GitHub) -> last commit that somebody compared with the data. A stack of
#: LUMI-SoftwareStack is compared as soon as its file is in the branch main
LAST_READ = {
    'Lumi-supercomputer/LUMI-SoftwareStack': '02f17317fe',
    'lumi-ai-factory/laifs-container-recipes': '00a4ba48de',
    'HewlettPackard/shs-ccl-docs': '438fcceae0',
    'eth-cscs/alps-extended-images': '2f168989fb',
    'eth-cscs/cscs-docs': '80abed138e',
    'NERSC/podman-hpc': '01b02d6e55',
    'UNINETTSigma2/documentation': 'e034799160',
    'argonne-lcf/user-guides': '7d04a3f91d',
}
_LUMI, _LAIF, _HPE, _ALPS, _CSCS, _NERSC, _SIGMA2, _ALCF = LAST_READ


class Source(NamedTuple):
    """Public files of one repository, and the facts of one site that come from the files."""

    #: key of LAST_READ
    repository: str
    #: regular expression that matches the whole paths of the files in the repository
    files: str
    #: regular expression of one value in a file: the first group that matches is the name, the
    #: second group the value
    reader: str
    #: name of the site; the text \\1 stands for the first group of `files`
    site: str
    #: name in the file -> 'KEY: PATTERN', where KEY is a key of the site, and PATTERN is a regular
    #: expression whose group is the value in the text of the fact. A name that is not in this
    #: dictionary is an environment variable
    facts: dict[str, str] = {}
    #: 'NAME=value' for each value in the files that the data deliberately lack
    declined: tuple[str, ...] = ()


_LNX_LINKS = {'FI_LNX_PROV_LINKS': r'lnx_links: ^(shm.*)'}

SOURCES = (
    Source(
        _LUMI,
        r'CrayPE/CPEpackages_(2[5-9]\.\d\d)\.csv',
        r'^(MPICH|PMI|PALS|ROCM),([\d.]+)$',
        r'lumi-\1',
        {
            'MPICH': r'libmpi: /mpich/([\d.]+)/',
            'PMI': r'libpmi: /pmi/([\d.]+)/',
            'PALS': r'libpals: /pals/([\d.]+)/',
            'ROCM': r'libhsa-runtime64: /rocm[-/]([\d.]+)/',
        },
    ),
    # The images of the LUMI AI Factory. libcxi has the release of LUMI's Slingshot Host Software.
    Source(
        _LAIF,
        r'recipes/lumi-multitorch/lumi-multitorch-vars\.yaml',
        r'^(rocm|mpich|libfabric|libcxi)_version(?:_prefix)?: "(?:.*SHS)?(\d+(?:\.\d+)*)',
        'lumi-25.03',
        {
            'rocm': r'images_there: ROCm ([\d.]+),',
            'mpich': r'images_there: MPICH ([\d.]+);',
            'libfabric': r'images_there: libfabric ([\d.]+), for a later release',
            'libcxi': r'slingshot: ^([\d.]+)',
        },
    ),
    Source(_HPE, r'ccl_env\.sh', _EXPORT, 'lumi-25.03'),
    # Open MPI excludes more components than CSCS; NCCL over libfabric opens no sockets for data.
    Source(
        _ALPS,
        r'Alps-Images/(?:common|NGC)/alps-runtime[\w.-]*\.env',
        r'^defvar ((?:FI|NCCL|OMPI_MCA|PMIX_MCA)_\w+) "([^"$]+)"',
        'alps',
        declined=(
            'OMPI_MCA_btl=^tcp,uct,usnic',
            'NCCL_NSOCKS_PERTHREAD=1',
            'NCCL_SOCKET_NTHREADS=4',
        ),
    ),
    Source(
        _ALPS,
        r'Alps-Images/common/alps-stack-versions\.env',
        r'CXI_DRIVER_VERSION:=release/(shs)-([\d.]+)',
        'alps',
        {'shs': r'slingshot: ^([\d.]+)'},
    ),
    Source(
        _ALPS,
        r'Alps-Images/ROCm/alps-runtime\.rocm\.env',
        r'^defvar (HSA_\w+) "([^"$]+)"',
        'lumi-25.03',
    ),
    # The page of 2025 on NCCL contradicts the newer change log of Daint and alps-extended-images.
    Source(
        _CSCS,
        r'docs/software/communication/(?:nccl_env_vars|openmpi\.md)',
        _EXPORT,
        'alps',
        _LNX_LINKS,
        ('NCCL_CROSS_NIC=1', 'FI_CXI_RX_MATCH_MODE=software'),
    ),
    Source(_CSCS, r'docs/clusters/daint\.md', _EXPORT, 'alps'),
    Source(
        _CSCS,
        r'docs/clusters/daint\.md',
        r'Slingshot Host Software \((SHS)\) from version [\d.]+ to version ([\d.]+\d)',
        'alps',
        {'SHS': r'slingshot: ^([\d.]+)'},
    ),
    Source(
        _CSCS,
        r'docs/software/sciapps/cp2k\.md',
        r'updated to Nvidia (driver) version (\d+)',
        'alps',
        {'driver': r'gpu_driver: ^(\d+)'},
    ),
    # NERSC's file still names a libfabric that Perlmutter no longer has.
    Source(
        _NERSC,
        r'etc/modules\.d/nccl\.yaml',
        r'-e ((?:FI|NCCL)_\w+)="?([^"\n]+)|/(libfabric)/([\w.]+)/lib',
        'perlmutter',
        {'libfabric': r'libfabric: /libfabric/([\w.]+)/'},
        ('libfabric=1.20.1',),
    ),
    # Settings for jobs on one node (ob1) and for lnx, which crashes on Olivia (fact `lnx_links`).
    Source(
        _SIGMA2,
        r'hpc_machines/olivia/(?:nccl|openmpi)\.md',
        _EXPORT,
        'olivia',
        _LNX_LINKS,
        (
            'OMPI_MCA_pml=ob1',
            'OMPI_MCA_btl=sm,self',
            'OMPI_MCA_btl=sm,smcuda,self',
            'FI_CXI_RDZV_THRESHOLD=8192',
            'FI_LNX_PROV_LINKS=shm+cxi',
            'FI_LNX_PROV_LINKS=shm+cxi:cxi',
        ),
    ),
    Source(
        _SIGMA2,
        r'hpc_machines/olivia/nccl_apptainer\.md',
        r'^module load (OpenMPI)/([\d.]+)',
        'olivia',
        {'OpenMPI': r'libompi: /OpenMPI/([\d.]+)-'},
    ),
    # CollNet needs a network that computes sums, and the plugin for libfabric has no CollNet.
    Source(
        _ALCF,
        r'docs/polaris/applications-and-libraries/libraries/nccl\.md',
        _EXPORT,
        'polaris',
        declined=('NCCL_COLLNET_ENABLE=1',),
    ),
    Source(
        _ALCF,
        r'docs/polaris/containers/containers\.md',
        r'/(pals)/([\d.]+)/|(apptainer) version # should return ([\d.]+\d)',
        'polaris',
        {
            'pals': r'libpals: /pals/([\d.]+)/',
            'apptainer': r'runtime: loads version ([\d.]+\d)',
        },
    ),
    Source(
        _ALCF,
        r'docs/polaris/debugging-tools/CUDA-GDB\.md',
        r'\d\) (cray-mpich|libfabric)/([\w.]+)',
        'polaris',
        {
            'cray-mpich': r'libmpi: /mpich/([\d.]+)/',
            'libfabric': r'libfabric: /libfabric/([\w.]+)/',
        },
    ),
)


class CloneError(Exception):
    """A clone is missing or too old; the text names the remedy."""


class ValueChange(NamedTuple):
    """A value in a public file before and after one commit."""

    commit: str
    #: day of the commit in ISO 8601
    date: str
    site: str
    name: str
    #: values before and after the commit, '' if the files lack the name
    before: str
    after: str


#: (site, name) -> (value, or several different values joined by ' or '; path of the last file)
Values = dict[tuple[str, str], tuple[str, str]]


class Clone:
    """A Git repository on this machine, bare or with a work tree."""

    def __init__(self, folder: Path, repository: str) -> None:
        self.folder, self.repository = folder / repository, repository

    def run_git(self, *arguments: str) -> str:
        """Return the output of a Git command. Raises CloneError if the command fails."""
        done = subprocess.run(
            ['git', '-C', str(self.folder), *arguments],
            capture_output=True,
            encoding='utf-8',
            errors='replace',
        )
        if done.returncode:
            raise CloneError(
                f"git {' '.join(arguments)} failed in {self.folder}: {done.stderr.strip()}\n"
                "Clone the whole history into a new folder: "
                f"git clone --bare https://github.com/{self.repository} {self.folder}\n"
                "If GitHub no longer has the commit, compare the files and change LAST_READ."
            )
        return done.stdout

    def read_values(self, commit: str, sources: list[Source]) -> Values:
        """
        Return the values in the files of a commit.

        The result lacks values that the site data deliberately omit.
        """
        values: dict[tuple[str, str], dict[str, str]] = {}
        for path in self.run_git('ls-tree', '-r', '--name-only', commit).splitlines():
            for source in sources:
                match = re.fullmatch(source.files, path)
                if not match:
                    continue
                for found in re.finditer(
                    source.reader, self.run_git('show', f'{commit}:{path}'), re.M
                ):
                    name, value = (group for group in found.groups() if group is not None)
                    if f'{name}={value}' not in source.declined:
                        values.setdefault((match.expand(source.site), name), {})[value] = path
        return {
            key: (' or '.join(sorted(found)), [*found.values()][-1])
            for key, found in values.items()
        }

    def list_commits(self, sources: list[Source], commits: str) -> Iterator[tuple[str, str, bool]]:
        """
        Yield (commit, date, whether the commit changes a file of `sources`), the oldest first.

        `commits`: a revision or a range. The method yields a merge commit, but not the commits of
        the merged branch, because a weekly comparison also sees only the state after the merge.
        """
        # --no-renames: the detection of renames reads files, which a partial clone lacks.
        log = self.run_git(
            *('log', '--first-parent', '-m', '--reverse', '--name-only', '--no-renames'),
            *('--format=%x00%h %cs', commits),
        )
        for entry in log.split('\0')[1:]:
            head, *paths = entry.split('\n')
            commit, date = head.split()
            is_watched = any(
                re.fullmatch(source.files, path) for source in sources for path in paths
            )
            yield commit, date, is_watched

    def list_changes(
        self, sources: list[Source], commits: list[tuple[str, str, bool]], before: Values
    ) -> Iterator[ValueChange]:
        """Yield a ValueChange for each value that one of `commits` changes. `before`: values before these commits."""
        for commit, date, is_watched in commits:
            if not is_watched:
                continue
            after = self.read_values(commit, sources)
            for key in sorted({*before, *after}):
                old, new = before.get(key, ('', ''))[0], after.get(key, ('', ''))[0]
                if old != new:
                    yield ValueChange(commit, date, *key, old, new)
            before = after


def find_values(source_facts: dict[str, str], site: str, name: str) -> list[str]:
    """
    Return the values that the site data have for the variable or fact `name` of a public source.

    The result is [] if the site data have no value. `source_facts`: the field `facts` of the source.
    An environment variable that the site itself does not set can have several values in APPROACHES.
    """
    if site not in SITES:
        return []
    entry = resolve_site(site)
    if name in source_facts:
        key, _, pattern = source_facts[name].partition(': ')
        fact = entry.get(key) or entry['libraries'].get(key) or {}
        texts = [str(fact.get(part, '')) for part in ('value', 'why', 'source')]
        found = [match[1] for text in texts if (match := re.search(pattern, text))]
        return found[:1]
    # Of several variables with one name, the first counts (collect_module_variables).
    variables = [variable for variable in entry['variables'] if variable['name'] == name][:1]
    if not variables:
        variables = [
            variable
            for approach in APPROACHES.values()
            for variant in (approach, *approach.get('by_family', {}).values())
            for variable in variant['variables']
            if variable['name'] == name
        ]
    provider = entry['provider']['value']
    return sorted({variable['value'].replace('{provider}', provider) for variable in variables})


def find_line(site: str, text: str) -> str:
    """
    Return FILE:LINE of the first line of the site data with `text` as a whole word.

    The function searches in this order: the lines after the name of the site in the site's file, the
    other lines of the site's file, cray.py (facts that sites share), and approaches.py. If no line
    contains `text`, the result is the line with the name of the site.
    """
    own = next(
        (file for file in sorted(_SITES.glob('*.py')) if f"'{site}': " in file.read_text()),
        _SITES / '__init__.py',
    )
    lines = [
        (f'{file.relative_to(PROJECT)}:{number}', line)
        for file in (own, _SITES / 'cray.py', _SITES.parent / 'approaches.py')
        for number, line in enumerate(file.read_text().splitlines(), 1)
    ]
    start = next((index for index, (_, line) in enumerate(lines) if f"'{site}': " in line), 0)
    end = len(own.read_text().splitlines())
    word = re.compile(rf'(?<![\w.]){re.escape(text)}(?![\w]|\.\d)')
    ordered = lines[start:end] + lines[:start] + lines[end:]
    return next((place for place, line in ordered if text and word.search(line)), lines[start][0])


def compare_repository(clone: Clone, sources: list[Source]) -> Iterator[list[str]]:
    """Yield a row of the table for each value in the repository that differs from the site data."""
    read = LAST_READ[clone.repository]
    before, now = clone.read_values(read, sources), clone.read_values('HEAD', sources)
    commits = [*clone.list_commits(sources, f'{read}..HEAD')]
    changes = {
        (change.site, change.name): change
        for change in clone.list_changes(sources, commits, before)
    }
    facts = {name: fact for source in sources for name, fact in source.facts.items()}
    for site, name in sorted({*before, *now}):
        theirs, path = now.get((site, name), ('', before.get((site, name), ('', ''))[1]))
        ours = find_values(facts, site, name)
        if theirs and set(theirs.split(' or ')) <= set(ours):
            continue
        change = changes.get((site, name))
        when = f'{change.commit} of {change.date}' if change else f'{read}, or before'
        yield [
            find_line(site, name if name not in facts else ''.join(ours)),
            f'{site}: {name}',
            ' or '.join(ours) or 'none',
            theirs or 'removed',
            f'{clone.repository} {path}, {when}',
        ]


def print_table(head: list[str], rows: list[list[str]]) -> None:
    """Print a table in Markdown, which is also the text of an issue."""
    for row in (head, ['---'] * len(head), *rows):
        print('| ' + ' | '.join(cell.replace('|', '\\|') for cell in row) + ' |')


def print_replay(clone: Clone, sources: list[Source]) -> None:
    """Print a table of all changes of values in the history of a clone.

    The table also contains values that the site data do not have.
    """
    commits = [*clone.list_commits(sources, 'HEAD')]
    changes = [*clone.list_changes(sources, commits, {})]
    print_table(
        ['commit', 'date', 'fact', 'before', 'after'],
        [
            [change.commit, change.date, f'{change.site}: {change.name}']
            + [change.before or 'none', change.after or 'removed']
            for change in changes
        ],
    )
    watched, loud = sum(commit[2] for commit in commits), len({change.commit for change in changes})
    print(
        f"\n{len(commits)} commits, {watched} of them change a file of `SOURCES`: "
        f"{loud} commits are reported, {len(commits) - loud} are not."
    )


def main(arguments: list[str] | None = None) -> int:
    """
    Compare the clones with the site data, print all differences, and return the exit code.

    The exit code is 0 without a difference, 1 with a difference, 2 if a clone is missing or too old.
    """
    parser = argparse.ArgumentParser(prog='python -m tools.facts', description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument('--list', action='store_true', help="print the URLs of all repositories")
    parser.add_argument(
        '--clones',
        metavar='FOLDER',
        type=Path,
        help="folder that contains the clone of each repository in a subfolder OWNER/NAME",
    )
    parser.add_argument(
        '--replay',
        metavar='OWNER/NAME',
        help="print all changes of the values from which the site data come, in the history "
        "of the repository OWNER/NAME",
    )
    options = parser.parse_args(arguments)
    repositories: dict[str, list[Source]] = {}
    for source in SOURCES:
        repositories.setdefault(source.repository, []).append(source)
    if options.list:
        print('\n'.join(f'https://github.com/{name}' for name in repositories))
        return 0
    if not options.clones:
        parser.error("--clones is missing. Name the folder of the clones: --clones FOLDER")
    if options.replay and options.replay not in repositories:
        parser.error(
            f"no source of the site data is in the repository {options.replay}. Choose "
            f"one of: {', '.join(repositories)}"
        )
    rows: list[list[str]] = []
    problems: list[str] = []
    for name, sources in repositories.items():
        try:
            if not options.replay:
                rows += compare_repository(Clone(options.clones, name), sources)
            elif options.replay == name:
                print_replay(Clone(options.clones, name), sources)
        except CloneError as error:
            problems.append(str(error))
    if rows:
        print_table(['our line', 'fact', 'our value', 'their value', 'source'], rows)
        print(
            "\nCorrect each line, or add NAME=value to `declined` in tools/facts.py. "
            "Then change LAST_READ in tools/facts.py to the compared commit."
        )
    print(*problems, sep='\n', end='\n' if problems else '', file=sys.stderr)
    return 2 if problems else 1 if rows else 0


if __name__ == '__main__':
    sys.exit(main())
