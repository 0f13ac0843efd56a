"""Recipes for EasyBuild's own repository: the native benchmarks with the toolchains that it lacks, and nothing else."""
from osu_container.contribute import ContributeError
from osu_container.contribute.recipe_text import filled
from osu_container.contribute.repositories import FOLDERS, HOMEPAGE, LIBEXEC, PLACES, THERE, TOOLCHAINS
from osu_container.recipes.versions import SOURCES

NAME = 'OSU-Micro-Benchmarks'
FOLDER = f'easybuild/easyconfigs/o/{NAME}'


def lacking():
    """Return the toolchains (list of (name, generation)) for which the repository has not today's release."""
    return [toolchain for toolchain in TOOLCHAINS if toolchain not in THERE.get(SOURCES['osu']['version'], [])]


def files():
    """Return {path: text} of the contribution. Raises ContributeError if there is nothing to contribute."""
    osu, place, texts, made_of = SOURCES['osu'], PLACES['easybuild'], {}, []
    there = ', '.join('-'.join(toolchain) for toolchain in THERE.get(osu['version'], [])) or 'none'
    if not lacking():
        raise ContributeError(f"there is nothing to write: easybuild-easyconfigs has {osu['version']} for all "
                              f"toolchains that this project knows ({there}; {place['date']}). A newer generation goes "
                              "into TOOLCHAINS of osu_container/contribute/repositories.py")
    for name, generation in lacking():
        file = f"{NAME}-{osu['version']}-{name}-{generation}.eb"
        texts[f'{FOLDER}/{file}'] = filled('easybuild.eb', {
            'NAME': NAME, 'VERSION': osu['version'], 'HOMEPAGE': HOMEPAGE, 'TOOLCHAIN': name, 'GENERATION': generation,
            'URL': osu['url'].rpartition('/')[0], 'SHA256': osu['sha256'],
            'FOLDERS': ''.join(f"    '{LIBEXEC}{folder}',\n" for folder in FOLDERS)})
        made_of.append(f'-   `{file}`: {TOOLCHAINS[name, generation]}')
    return {'README.md': filled('easybuild-README.md', {
        'REPOSITORY': place['takes'][0], 'WHY': place['why'], 'RELEASE': osu['version'], 'THERE': there,
        'SOURCE': place['source'], 'DATE': place['date'], 'RECIPES': '\n'.join(made_of)}), **texts}
