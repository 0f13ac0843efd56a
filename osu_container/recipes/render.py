"""What a recipe renders to for one image: a definition file (Apptainer) or a Dockerfile."""
import logging

from osu_container.places import PROJECT
from osu_container.recipes.images import IMAGES

RECIPES = PROJECT / 'container-recipes'
#: What is checked in of all that recipes render to
RENDERED = RECIPES / 'rendered'
#: Names in RENDERED: a recipe of each way to network and GPU, to be read and reviewed, and the Dockerfile that
#: docs/other-systems.md builds. `osu-container image recipe NAME` prints every other one.
KEPT = (
    'osu-workstation-mpich-4.2.3-libfabric-1.22.0-ports.def',
    'osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0-libcxi.def',
    'osu-alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi.Dockerfile',
)


def file_names():
    """Return the name of every file that can be rendered (str) -> (name of the image, benchmark programs)."""
    return {variant['rendered'] + suffix: (name, kind) for name, entry in IMAGES.items()
            for kind, variant in entry['variants'].items() for suffix in ('.def', '.Dockerfile')}


def render(name, kind, suffix):
    """
    Return the text of a definition file or Dockerfile. Raises ImportError without HPCCM, and what the recipe raises.

    name: of the image; kind: its benchmark programs, a key of its variants; suffix: '.def' or '.Dockerfile'
    """
    import hpccm
    logging.getLogger().setLevel(logging.ERROR)  # warns that it does not know the distribution of a folder
    entry = IMAGES[name]
    ctype = hpccm.container_type.DOCKER if suffix == '.Dockerfile' else hpccm.container_type.SINGULARITY
    text = hpccm.recipe(str(RECIPES / entry['recipe']), ctype=ctype, singularity_version='3.8',
                        userarg=entry['variants'][kind]['arguments'], raise_exceptions=True)
    return '\n'.join(line.rstrip() for line in text.splitlines()).strip() + '\n'
