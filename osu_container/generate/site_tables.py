"""Tables of one system, from data: page_tables.py puts them into docs/systems.md and docs/alps.md."""

from osu_container.check.described import described_host, our_image
from osu_container.core.data.approaches import APPROACHES
from osu_container.core.deciding.rules.finding import NOTE
from osu_container.core.deciding.settings import approach_entry, host_libraries
from osu_container.core.deciding.site_choice import SettingsError, site_entry
from osu_container.core.deciding.verdict import ask
from osu_container.generate.site_recipes import RECIPES


def verdicts(site):
    """
    Return the lines (list of lists of str) of what `osu-container check` says of the images of a site (str).

    For each approach with the image that the site names; nothing is looked into (osu_container/check/described.py).
    """
    entry = site_entry(site)
    host = described_host(entry)
    machine = entry.get('architecture', {}).get('value', 'x86_64')
    lines = [['approach', 'image', 'verdict', 'because'], ['---'] * 4]
    for approach in [name for name in APPROACHES if APPROACHES[name]['container']]:
        image = entry['images']['value'].get(approach)
        if image:
            verdict = ask(approach_entry(approach), entry, our_image(image, machine), host)
            reasons = [finding.reason for finding in verdict.findings if finding.level != NOTE]
            lines.append([approach, f'`{image}`', verdict.level, reasons[0] if reasons else ''])
        else:
            lines.append([approach, 'none', '', 'the site names no image for it' if _possible(approach, entry) else
                          'cannot be had on this system'])
    return lines


def _possible(approach, entry):
    """Return whether a site (dict) has what an approach (str) takes from the host, and a PMI for its MPI."""
    try:
        host_libraries(approach_entry(approach), entry)
    except SettingsError:
        return False
    return True


def recipes(site):
    """Return the lines (list of lists of str) of what published recipes for a site (str) set, beside our module."""
    lines = [['recipe', 'sets', 'our module', 'why not the same'], ['---'] * 4]
    for recipe in RECIPES:
        if recipe['site'] == site:
            groups = {}
            for item in recipe['items']:
                groups.setdefault(item.reason, {}).setdefault(item.kind, []).append(f'`{item.what}`')
            for number, (reason, kinds) in enumerate(groups.items()):
                lines.append([recipe['name'] if number == 0 else '',
                              '; '.join(f"{kind}: {', '.join(names)}" for kind, names in kinds.items()),
                              'not' if reason else 'the same', reason])
    return lines


def sources(site):
    """Return the sources (str, Markdown) of recipes(), each with its date."""
    return '\n'.join(f"* {recipe['name']}: {recipe['source']}, {recipe['date']}; compared with "
                     f"`modules/{recipe['rendered']}`" for recipe in RECIPES if recipe['site'] == site) + '\n'
