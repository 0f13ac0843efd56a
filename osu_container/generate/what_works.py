"""
The table of docs/approaches.md: what is known of each approach on each site: measured (by whom), derived, untested.

A cell is 'measured' where somebody has run the approach on that system, with libraries like those of the module; RUNS
names who. Nobody but this project has run these modules themselves, and it has on a workstation only. Every other cell
is as sure as the least sure fact that the approach needs there.
"""
import re

from osu_container.core.data.approaches import APPROACHES
from osu_container.core.data.sites import DESCRIBED, SITES
from osu_container.core.deciding.settings import approach_entry, host_libraries
from osu_container.core.deciding.site_choice import SettingsError, described_entry, site_entry

#: Letter in the table -> who measured, what and when
SOURCES = {
    'a': 'this project, Debian 12, two nodes of a private Slurm, TCP: the tests run it (`tests/runs`)',
    'b': 'DeiC, published runs of four container approaches and native on LUMI-G, 2025-03 (`lumi-g-2025-03`)',
    'd': 'HPE, containers tutorial of CUG 2026 on LUMI, 2026-04: Cray MPICH 8.1.32 in place of the image\'s MPICH '
         '(alazzaro/cug26_containers_tutorial 0240e5c)',
    'e': 'LUMI AI Factory, checks of its images with MPICH 4.3.2, libfabric 2.1 and libcxi of their own, 2026-04 '
         '(laifs-container-tests 7600dfc)',
    'f': 'CSCS, its own image with Open MPI 5 and libcxi on Alps, 2025-06 (`alps-gh200-2025`)',
    'g': 'HPE staff, native runs on LUMI-G with Cray MPICH 9.0.1, 2026-03 (`lumi-native-2026-03`)',
    'h': 'CSCS, checks of its image with MPICH 4.3.2 under the hook that puts in the host\'s libfabric, 2026-06 '
         '(sarus-suite/containerfiles-ci e3d4a7b)',
}
#: (site, approach) -> letter; the workstation has every approach
RUNS = {
    **{('lumi-24.03', approach): 'b' for approach in ('native', 'pure', 'bind', 'hybrid', 'opensource')},
    ('lumi-25.03', 'bind'): 'd',
    ('lumi-25.03', 'opensource'): 'e',
    ('lumi-25.09', 'native'): 'g',
    ('alps', 'openmpi'): 'f',
    ('alps', 'hybrid'): 'h',
}
WORDS = ['measured', 'derived', 'untested']


def needed_facts(approach, site):
    """
    Return the facts (list of dict) that an approach (dict) rests on on a site (dict).

    Raises SettingsError if the site cannot have it.
    """
    libraries = [site['libraries'][name] for name, _ in host_libraries(approach, site)]
    native = [] if approach['container'] else [site['native']]
    return [site['pmi'], *([] if approach['name'] == 'pure' else [site['provider']]), *libraries, *native]


def cell(approach, name):
    """Return what is known of an approach (str) on a site (str): 'measured x', 'derived', 'untested', or '–'."""
    site = described_entry(name) if name in DESCRIBED else site_entry(name)
    entry = approach_entry(approach)
    try:
        facts = needed_facts(entry, site)
    except SettingsError:
        return '–'
    if not entry['container'] and not site['native']['value']:
        return '–'
    ran = 'a' if name == 'workstation' else RUNS.get((name, approach))
    if ran:
        return f'measured <sup>{ran}</sup>'
    # what was seen there one by one was not seen together: no cell is measured for that
    return WORDS[max(1, *(WORDS.index(fact['evidence']) for fact in facts))]


def table():
    """Return the table (list of lists of str), sites down and approaches across, head and rule included."""
    lines = [['site', *APPROACHES], ['---'] * (len(APPROACHES) + 1)]
    return lines + [[name, *(cell(approach, name) for approach in APPROACHES)] for name in [*DESCRIBED, *SITES]]


def sources():
    """Return the list (str, Markdown) of the letters that the table has."""
    used = re.findall(r'<sup>(\w)</sup>', str(table()))
    return '\n'.join(f'* <sup>{letter}</sup> {SOURCES[letter]}' for letter in sorted(set(used))) + '\n'
