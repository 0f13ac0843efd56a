"""The command osu-container contribute."""
import re
from pathlib import Path

from osu_container.contribute import ContributeError, easybuild_recipes, lumi_recipes
from osu_container.contribute.from_data import approaches_of, stack_of
from osu_container.contribute.repositories import BINDINGS_THERE, PLACES
from osu_container.core import outputs
from osu_container.core.data.sites import SITES
from osu_container.core.deciding.site_choice import SettingsError, site_entry
from osu_container.recipes.images import IMAGES


def add_arguments(parser):
    """Add the arguments of `osu-container contribute`."""
    parser.add_argument('place', choices=sorted(PLACES), help="whose repositories: " + ', '.join(
        f"{name} ({place['title']})" for name, place in PLACES.items()))
    parser.add_argument('-o', '--output', metavar='FOLDER', type=Path, help="default: contribution-PLACE")
    parser.add_argument('--stack', metavar='YY.MM', help="software stack of LUMI; default: that of "
                        + PLACES['lumi']['sites'][0])
    parser.add_argument('--date', metavar='YYYYMMDD', help="date of the images, in the names of LUMI's recipes; "
                        "default: that of their description")
    parser.add_argument('--image', metavar='OURS=THEIRS', action='append', default=[], help="name of an image file at "
                        "LUMI, such as lumi-osu-rocm-6.3.4-mpich-4.2.3-dockerhash-0123456789ab.sif")
    parser.epilog = "Writes a folder for a pull request, and sends nothing."
    parser.set_defaults(function=main, prog='osu-container contribute',
                        errors=(ContributeError, SettingsError, OSError), after_interrupt='nothing was written')

#: LUMI's stacks: of an announced one nobody knows how to build there
STACKS = sorted({stack_of(name) for name, it in SITES.items() if name.startswith('lumi') and it['native']['value']})


def sites_of(stack):
    """Return the sites of LUMI (list of str, GPU nodes first) of a stack (str or None). Raises ContributeError."""
    if stack is None:
        return PLACES['lumi']['sites']
    if stack not in STACKS:
        raise ContributeError(f"--stack: LUMI has no stack {stack} in the site data; it has: {', '.join(STACKS)}")
    return [f'lumi-{stack}', f'lumi-c-{stack}']


def called(pairs):
    """Return {file of an image: its name at LUMI} of pairs (list of str, OURS=THEIRS). Raises ContributeError."""
    for pair in pairs:
        if not re.fullmatch(r'[\w.-]+\.sif=[\w.-]+\.sif', pair) or pair.partition('.sif=')[0] not in IMAGES:
            raise ContributeError(f"--image: found {pair}, wanted OURS.sif=THEIRS.sif with an image of the catalogue "
                                  "(osu-container image list)")
    return dict(pair.split('=') for pair in pairs)


def lumi_files(sites, date, names=()):
    """
    Return {path: text} of a contribution to LUMI.

    :param sites: list of str, GPU nodes first; date: str or None; names: {file of an image: its name at LUMI}
    """
    site = sites[0]
    entry = site_entry(site)
    names, date = dict(names), date or entry['images']['date'].replace('-', '')
    files, containers, native = {}, {}, {}
    for approach in approaches_of(entry):
        containers[approach], text = lumi_recipes.container_recipe(approach, site, date, names)
        files[f'{lumi_recipes.CONTAINERS}/{lumi_recipes.FOLDER}/{containers[approach]}'] = text
    for one in sites:
        native[one], text = lumi_recipes.native_recipe(one)
        files[f'{lumi_recipes.CONTRIB}/{lumi_recipes.FOLDER}/{native[one]}'] = text
    bindings = [stack for stack in STACKS if stack >= stack_of(site) and stack not in BINDINGS_THERE]
    for name, text in map(lumi_recipes.bindings_recipe, (f'lumi-{stack}' for stack in bindings)):
        files[f'{lumi_recipes.CONTRIB}/{lumi_recipes.BINDINGS_FOLDER}/{name}'] = text
    files.update({f'{lumi_recipes.CONTAINERS}/{lumi_recipes.FOLDER}/{name}': text
                  for name, text in lumi_recipes.container_pages(containers, site).items()})
    files.update({f'{lumi_recipes.CONTRIB}/{name}': text
                  for name, text in lumi_recipes.contrib_pages(native, bindings).items()})
    return {'README.md': lumi_recipes.cover_page(containers, native), **files}


def main(options):
    """Write the folder and say what is in it; return 0. Raises ContributeError and OSError."""
    place = PLACES[options.place]
    if options.date and not re.fullmatch(r'20\d{6}', options.date):
        raise ContributeError(f"--date: found {options.date}, wanted YYYYMMDD, such as 20261123")
    if options.place != 'lumi' and (options.stack or options.date):
        raise ContributeError(f"--stack and --date are for lumi; {options.place} has neither")
    target = options.output or Path(f'contribution-{options.place}')
    files = (lumi_files(sites_of(options.stack), options.date, called(options.image)) if options.place == 'lumi'
             else easybuild_recipes.files())
    write_folder(target, files)
    print(f"written: {target}, for {' and '.join(place['takes'])}")
    for name in sorted(files):
        print(f'    {name}')
    print(f"Nothing was sent. {target}/README.md says what is untested, and what to do before a pull request.")
    return 0


def write_folder(folder, files):
    """Write files ({relative path (str): text}) to a new folder (Path) in one move. Raises OSError."""
    with outputs.new_folder(folder) as stage:
        for name, text in files.items():
            path = Path(stage) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
