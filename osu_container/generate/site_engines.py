"""
Sites whose own container engine runs no SIF (key engine of a site): what edf.py and podman_hpc.py have in common.
"""
import json

from osu_container.core.deciding.conditions import without_switches
from osu_container.core.deciding.site_choice import site_entry


def sites_with(engine, modules):
    """
    Yield (name of a site, {approach: recorded facts of osu-container there}) for each site of this engine (str).

    :param modules: Path of the folder modules/, with facts.json of the sites
    """
    for path in sorted(modules.glob('*/facts.json')):
        site = path.parent.name
        if site_entry(site).get('engine', {}).get('value') == engine:
            yield site, {name.partition('/')[2]: facts for name, facts in json.loads(path.read_text()).items()
                         if name.startswith('osu-container/')}


def variables_of(settings):
    """Return [(name, value, fact)] of the variables that settings give where no switch of the user is set."""
    found = {}
    for variable in without_switches(settings.variables):
        found.setdefault(variable['name'], variable)
    return [(name, variable['value'], variable) for name, variable in sorted(found.items())]


def reason(fact):
    """Return the comment (str) for a fact (dict)."""
    parts = [part for part in (fact.get('source'), fact.get('date'), fact['evidence']) if part]
    return f"{fact['why']} [{'; '.join(parts)}]"
