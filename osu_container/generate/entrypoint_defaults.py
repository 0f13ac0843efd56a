#!/usr/bin/env python3
"""
Write `defaults`, the variables that osu-entrypoint sets, from the data of the modules. With --check: only compare.

They are those of approach swap and of LUMI's nodes whose names begin with FI_ and NCCL_, as far as nothing about the
machine's software or a switch of the user decides them. What is decided by a release of libfabric or MPICH is taken
where the entry does no harm with another one: a newer libfabric has the same value by itself, an older one does not
know the variable.
"""
import sys

from osu_container.core.data.approaches import APPROACHES
from osu_container.core.data.sites import BASES
from osu_container.places import PROJECT

HERE = PROJECT / 'container-recipes' / 'entrypoint'

#: Conditions of the data -> those of osu-entrypoint; None: left out there, because other releases lose nothing by it
CONDITIONS = {'cxi': 'cxi', 'gpu': 'gpu', 'libfabric < 2.4': None, 'libfabric >= 1.21': None}
#: Where ranks of one node meet in shared memory, libfabric must not be held to the card, which has no key there
MORE = {'FI_PROVIDER': ['nodes']}
#: The number of cards, and thus their names, differs from system to system
NOT_EVERYWHERE = ('NCCL_SOCKET_IFNAME',)


def entries():
    """Return [(conditions (list of str), name, value, why)] of the variables that osu-entrypoint sets."""
    found = []
    for variable in APPROACHES['swap']['variables'] + BASES['lumi']['variables']:
        name, only = variable['name'], variable.get('only', [])
        if variable.get('setting') or not name.startswith(('FI_', 'NCCL_')) or not set(only) <= set(CONDITIONS) \
                or name in NOT_EVERYWHERE:
            continue
        conditions = [CONDITIONS[word] for word in only if CONDITIONS[word]] + MORE.get(name, [])
        # nothing of this is for networks without Slingshot
        conditions = sorted(set(conditions) | {'cxi'})
        found.append((conditions, name, variable['value'].format(provider='cxi'), variable['why']))
    return found


def text():
    """Return the text of the file."""
    lines = ['# Variables that osu-entrypoint sets where the user has not: conditions, name, value.',
             '# Conditions are of the node: cxi (a card of Slingshot), gpu, nodes (the step has several).',
             '# Written by `make modules` from core/data/approaches.py and core/data/sites/lumi.py.']
    for conditions, name, value, why in entries():
        lines += ['', f'# {why}', f"{','.join(conditions)} {name} {value}"]
    return '\n'.join(lines) + '\n'


def main():
    """Write or compare the file; exit code 1 if --check finds it stale."""
    target, current = HERE / 'defaults', text()
    if target.exists() and target.read_text() == current:
        return
    if '--check' in sys.argv[1:]:
        sys.exit(f"{sys.argv[0]}: {target.name} is not current. Run `make modules`")
    target.write_text(current)
    print(f"written: container-recipes/entrypoint/{target.name}")


if __name__ == '__main__':
    main()
