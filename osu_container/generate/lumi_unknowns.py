"""
What the data say of LUMI that nobody has shown there, each with the command whose output would settle it: the tables of
docs/lumi-unknowns.md. What follows from no entry of the data stands on the page itself.
"""
import re

from osu_container.core.data.approaches import APPROACHES
from osu_container.core.data.sites import SITES
from osu_container.core.deciding.settings import runs_on
from osu_container.core.deciding.site_choice import site_entry

_TWO = 'srun -N2 -n2 --ntasks-per-node=1 --gpus-per-node=8 osu-gpu-bind '
#: Pattern of a setting NAME=VALUE -> (command, what its output tells); the first that fits
SETTLED_BY = [
    (r'NCCL_NET=', f'NCCL_DEBUG=INFO {_TWO}osu_xccl_bw D D', '"Using network AWS Libfabric" from each rank'),
    (r'(NCCL|RCCL|FI_MR|FI_CXI_RDZV_(PROTO|GET)|FI_CXI_RX|FI_CXI_DEFAULT)|disable_rdzv_get',
     f'{_TWO}osu_xccl_bw D D', 'MB/s, and no hang, with and without it'),
    (r'SLURM_NETWORK=|SINGLE_HOST', 'srun -N1 -n2 --gpus-per-node=8 osu-gpu-bind osu_bw D D',
     'it runs, or the error names VNI or key'),
    (r'MPIR_CVAR_ENABLE_GPU=', 'srun -N2 -n2 --ntasks-per-node=1 osu_latency', 'µs at 1 B on LUMI-C, with and without'),
    (r'(FI|MPIR_CVAR|MPICH|HSA|ROCR)_', f'{_TWO}osu_latency D D', 'µs at 1 B to 64 KiB, with and without it'),
]


def sites():
    """Return the entries (list of dict) of today's stacks of LUMI: of 24.03 nothing new can be measured."""
    return [site_entry(name) for name in sorted(SITES) if name.startswith('lumi') and not name.endswith('24.03')]


def paths():
    """Return the rows (list of lists of str) of host paths that nobody has seen on LUMI."""
    found = {}
    for site in sites():
        tables = [(name, fact) for table in ('libraries', 'files') for name, fact in site[table].items() if fact]
        for name, fact in tables:
            values = fact['value'] if isinstance(fact['value'], list) else [fact['value']]
            if fact['evidence'] != 'measured':
                row = found.setdefault((name, *values), (fact, []))
                row[1].append(site['name'])
    rows = []
    for (name, *values), (fact, names) in sorted(found.items()):
        command = ' '.join(['ls -lL', *(value.replace('{kernel}', '$(uname -r)') for value in values)])
        where = 'srun -N1 ' if fact.get('bound') == 'run' else ''
        rows.append([name, ', '.join(names), f'`{where}{command}`', fact['evidence'], fact['source']])
    return [['what', 'for', 'command', 'now', 'on what that rests'], ['---'] * 5, *rows]


def settings():
    """Return the rows (list of lists of str) of variables of the modules whose effect nobody has shown on LUMI."""
    here, found = sites(), {}
    entries = [(entry, ['all']) for site in here for entry in site['variables']]
    entries += [(entry, [name]) for name, approach in APPROACHES.items() for entry in approach['variables']
                if any(runs_on(approach, site) for site in here) and 'no cxi' not in entry.get('only', [])]
    for entry, names in entries:
        if entry['evidence'] == 'untested':
            row = found.setdefault((entry['name'], entry['value']), (entry, []))
            row[1].extend(name for name in names if name not in row[1])
    rows = []
    for (name, value), (entry, names) in sorted(found.items()):
        command, tells = settled_by(f'{name}={value}')
        switch = f"`export {entry['when']}`; " if re.fullmatch(r'\w+=\w+', entry.get('when') or '') else ''
        rows.append([f'`{name}={value}`', ', '.join(names), f'{switch}`{command}`', tells, entry['source']])
    return [['setting', 'approaches', 'command', 'its output tells', 'on what it rests'], ['---'] * 5, *rows]


def settled_by(setting):
    """Return (command, what its output tells) for a setting NAME=VALUE. Raises LookupError where none is known."""
    for pattern, command, tells in SETTLED_BY:
        if re.search(pattern, setting):
            return command, tells
    raise LookupError(f'{setting} is untested: write into SETTLED_BY of {__name__} what would show its effect')
