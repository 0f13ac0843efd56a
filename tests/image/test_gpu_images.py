"""
Images with ROCm or CUDA of Debian's parts: every library loads, MPI runs, and check judges them on every site.

Their builds take long: `make test` has what needs no image, and `make test-all` all.
That they run on two nodes is in test_images_run.py.
"""
import contextlib
import re

import pytest

from osu_container.check.described import our_image
from osu_container.check.host_facts import DescribedHost
from osu_container.check.public_hosts import description_of
from osu_container.core.data.approaches import APPROACHES
from osu_container.core.data.sites import SITES
from osu_container.core.deciding.settings import approach_entry
from osu_container.core.deciding.site_choice import SettingsError, site_entry
from osu_container.core.deciding.verdict import ask
from osu_container.core.reading.image import Image
from osu_container.recipes.images import IMAGES
from tests.helpers.machine import PROJECT, folded, run
from tests.helpers.samples import one_of_each
from tests.image.test_images_run import (  # noqa: F401, built and typed are fixtures
    APPROACH_OF,
    IN_TURN,
    built,
    install,
    on_two_nodes,
    typed,
    with_gpu,
)

NAMES = [name for name, entry in IMAGES.items() if entry['family'] == 'debian']
BUILT = one_of_each([case for case in IN_TURN if with_gpu(*case.values)])
#: Of NVIDIA's driver, which is the host's
DRIVER = 'libcuda.so.1'


def vendor(name):
    """Return 'AMD' or 'NVIDIA', for whose GPUs an image (str) is."""
    return 'AMD' if '-rocm-' in name else 'NVIDIA'


@pytest.fixture
def inside(built, apptainer):  # noqa: F811, a fixture
    """Function (name, script, options of the runtime) that runs a script in an image."""
    def call(name, script, *options):
        return run([apptainer, 'exec', '--cleanenv', '--containall', *options, built(name), 'bash', '-c', script])
    return call


@pytest.mark.apptainer
@pytest.mark.parametrize('name', BUILT)
def test_every_library_of_the_image_loads_with_all_its_symbols(inside, name):
    script = '''for library in $(find /opt/*/lib -name '*.so*' ! -path '/opt/osu/*'; find /usr/lib/x86_64-linux-gnu \
            -name '*.so.*' | grep -E '/lib(amd|hsa|roc|rccl|nccl|cuda)'); do
        LD_BIND_NOW=1 python3 -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1])' "$library" 2>&1 | tail -n 1
    done'''
    done = inside(name, script)
    assert done.returncode == 0, done.stderr
    lacking = {line for line in done.stdout.splitlines() if DRIVER not in line and 'libnvidia-ml.so.1' not in line}
    assert not lacking, lacking
    assert vendor(name) == 'NVIDIA' or not done.stdout, done.stdout


@on_two_nodes
@pytest.mark.parametrize('name', BUILT)
def test_buffers_in_gpu_memory_are_refused_with_a_reason_where_no_gpu_is(built, typed, name):  # noqa: F811, fixtures
    built(name)
    approach = APPROACH_OF[name]
    done = typed(f'{install(approach, name)} >&2 || exit 77; module load osu-container/{approach}; '
                 'srun -N2 -n2 osu_bw D D')
    said = folded(done.stderr)
    assert done.returncode not in (0, 77) and not re.search(r'^\d+ +[\d.]+$', done.stdout, re.M), done.stdout + said
    driver_of = {'NVIDIA': DRIVER, 'AMD': '/dev/kfd'}[vendor(name)]
    assert driver_of in said and 'Traceback' not in said, said


def verdicts(image, site):
    """Return approach -> word of check on an Image and a site (str) by its description, where that has a word."""
    entry, found = site_entry(site), {}
    host = DescribedHost(description_of(entry))
    for approach in APPROACHES:
        with contextlib.suppress(SettingsError):
            found[approach] = ask(approach_entry(approach), entry, image, host).level
    return found


def described(name, site):
    """Return the same of an image (str) by its name."""
    machine = site_entry(site).get('architecture', {}).get('value', 'x86_64')
    return verdicts(our_image(name, machine), site)


#: Where an approach must do and must not, by what the image and the site hold; (name, site, approach) -> words
EXPECTED = {
    ('osu-debian-cuda-12.4.1-mpich-4.0.2-libfabric-2.1.0', 'perlmutter', 'bind'): {'works'},
    ('osu-debian-cuda-12.4.1-mpich-4.0.2-libfabric-2.1.0', 'perlmutter', 'hybrid'): {'fails'},  # knows no cxi
    ('osu-debian-cuda-12.4.1-mpich-4.0.2-libfabric-2.1.0', 'workstation', 'hybrid'): {'works'},  # no driver is needed
}


@pytest.mark.parametrize('name', NAMES)
def test_check_judges_the_image_by_its_description(name):
    mine = {key: words for key, words in EXPECTED.items() if key[0] == name}
    other = 'perlmutter' if vendor(name) == 'AMD' else 'lumi-25.03'
    for site in {other, *(key[1] for key in mine)}:
        found = described(name, site)
        assert site != other or set(found.values()) == {'fails'}, found
        for (_, where, approach), words in mine.items():
            assert where != site or found[approach] in words, (site, approach, found)


@pytest.mark.apptainer
@pytest.mark.parametrize('name', BUILT)
def test_check_judges_the_image_as_its_description(built, name):  # noqa: F811, a fixture
    """On every site that is described whole."""
    with Image(str(built(name)), 'osu_') as image:
        for site in SITES:
            if (PROJECT / 'osu_container' / 'check' / 'hosts' / f'{site}.json').exists():
                real, by_name = verdicts(image, site), described(name, site)
                # of an image itself more is known, so it may be judged worse and never better
                assert {key for key in real if real[key] == 'works'} <= {
                    key for key in by_name if by_name[key] != 'fails'}, (site, real)
