"""
Images with ROCm or CUDA of Debian's parts: built, every library loads, MPI runs, and check judges them on every site.

Their builds take long, so `make test` has what needs no image, and `make test-all` all.
"""
import contextlib
import fcntl
import re
import subprocess

import pytest

from osu_container.check.described import our_image
from osu_container.check.host_facts import DescribedHost, description_of
from osu_container.core.data.approaches import APPROACHES
from osu_container.core.data.sites import SITES
from osu_container.core.deciding.settings import approach_entry
from osu_container.core.deciding.site_choice import SettingsError, site_entry
from osu_container.core.deciding.verdict import ask
from osu_container.core.reading.image import Image
from osu_container.recipes.images import IMAGES
from tests.helpers.machine import PROJECT, STATE, run

COMMAND = PROJECT / 'bin' / 'osu-container'
NAMES = [name for name, entry in IMAGES.items() if entry['family'] == 'debian']
BUILT = [name for name in NAMES if not IMAGES[name]['unbuilt']]
FOLDER = STATE / 'images-of-tests'
#: Of NVIDIA's driver, which is the host's; its functions answer that there is no GPU (CUDA_ERROR_NO_DEVICE)
DRIVER = 'libcuda.so.1'
NO_DEVICE = 100


def vendor(name):
    """Return 'AMD' or 'NVIDIA', for whose GPUs an image (str) is."""
    return 'AMD' if '-rocm-' in name else 'NVIDIA'


@pytest.fixture(scope='session')
def sif():
    """Function (name) that returns the path of an image, built if it is not in sources/ and current."""
    FOLDER.mkdir(parents=True, exist_ok=True)

    def build(name):
        with open(FOLDER / f'{name}.lock', 'w') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            done = run([COMMAND, 'image', 'build', name, '--osu', 'mpi4py'], timeout=5400)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr
        return PROJECT / 'sources' / f'{name}.sif'
    return build


@pytest.fixture
def inside(sif, apptainer, tmp_path):
    """
    Function (name, script, driver) that runs a script in an image; with driver where libcuda.so.1 is one without GPUs.
    """
    def call(name, script, driver=False):
        image, more = sif(name), []
        if driver:
            library = '/opt/mpich/lib/libmpi.so.12'
            with open(tmp_path / 'libmpi.so', 'wb') as copy:
                subprocess.run([apptainer, 'exec', image, 'cat', library], check=True, stdout=copy)
            symbols = subprocess.run(['nm', '-D', '--undefined-only', tmp_path / 'libmpi.so'], check=True,
                                     capture_output=True, text=True).stdout
            names = re.findall(r' U (cu[A-Z]\w+)$', symbols, re.M)
            assert names, 'libmpi needs no function of the driver: this test has no object any more'
            (tmp_path / 'driver.c').write_text(''.join(f'int {one}(void) {{ return {NO_DEVICE}; }}\n' for one in names))
            subprocess.run(['gcc', '-shared', '-fPIC', f'-Wl,-soname,{DRIVER}', '-o', tmp_path / DRIVER,
                            tmp_path / 'driver.c'], check=True)
            more = ['--bind', f'{tmp_path}:/driver', '--env', 'LD_LIBRARY_PATH=/driver']
        return run([apptainer, 'exec', '--cleanenv', '--containall', *more, image, 'bash', '-c', script], timeout=300)
    return call


@pytest.mark.full
@pytest.mark.apptainer
@pytest.mark.parametrize('name', BUILT)
def test_image_is_built_and_what_the_catalogue_says_of_it_is_so(sif, name):
    path, known = sif(name), IMAGES[name]['built']
    megabytes = path.stat().st_size / 1e6
    assert megabytes < 2500
    assert known, f'built: {megabytes:.0f} MB; say so in osu_container/recipes/images_debian.py'
    assert abs(megabytes - known['megabytes']) < 0.2 * known['megabytes'], 'osu_container/recipes/images_debian.py'


@pytest.mark.full
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


@pytest.mark.full
@pytest.mark.apptainer
@pytest.mark.parametrize('name', BUILT)
def test_two_ranks_exchange_host_memory(inside, name):
    cuda_mpich = vendor(name) == 'NVIDIA' and '-mpich-' in name
    start = ('FI_PROVIDER=tcp MPIR_CVAR_ENABLE_GPU=0 /opt/mpich/bin/mpiexec' if '-mpich-' in name else
             'OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 /opt/openmpi/bin/mpiexec '
             '--map-by :oversubscribe')
    done = inside(name, f'{start} -n 2 /opt/osu/bin/osu_latency H H -m 64 -i 20 -x 2', driver=cuda_mpich)
    found = re.findall(r'^(\d+) +(\d+\.\d+)', done.stdout, re.M)
    assert {'1', '64'} <= {size for size, _ in found} and all(float(value) > 0 for _, value in found), \
        done.stdout[-2000:] + done.stderr[-2000:]


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
    ('osu-debian-cuda-12.4.1-mpich-4.2.1-libfabric-2.1.0', 'perlmutter', 'hybrid'): {'works'},
    ('osu-debian-rocm-5.7.1-mpich-4.2.1-libfabric-2.1.0', 'lumi-25.03', 'hybrid'): {'works slowly'},  # RCCL alone
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


@pytest.mark.full
@pytest.mark.apptainer
@pytest.mark.parametrize('name', BUILT)
def test_check_judges_the_image_as_its_description(sif, name):
    """On every site that is described whole."""
    with Image(str(sif(name)), 'osu_') as image:
        for site in SITES:
            if (PROJECT / 'osu_container' / 'check' / 'hosts' / f'{site}.json').exists():
                real, by_name = verdicts(image, site), described(name, site)
                # of an image itself more is known, so it may be judged worse and never better
                assert {key for key in real if real[key] == 'works'} <= {
                    key for key in by_name if by_name[key] != 'fails'}, (site, real)
