"""Rules on GPUs: vendor, ROCm and CUDA releases, RCCL plugins, and GPU support of MPI."""

import posixpath
import re
from typing import Iterator, Tuple

from osu_container.image.loader import (
    find_loaded_file,
    list_version_problems,
)
from osu_container.verdict.layers import (
    find_provider,
    resolve_variable,
    split_provider,
)
from osu_container.verdict.rules.finding import NOTE, Finding, make_finding, report_problem, rule
from osu_container.verdict.rules.questions import (
    find_gpu_maker,
    format_library,
    format_version_problem,
    remove_words,
)
from osu_container.verdict.site_choice import (
    parse_release,
    resolve_network,
)
from osu_container.verdict.trial import Change, Trial, read_process_traits

#: Vendor of GPUs -> software for these GPUs
_SOFTWARE = {'AMD': 'ROCm', 'NVIDIA': 'CUDA'}


@rule(
    'GPU vendor',
    source='key gpu of the site; files /opt/rocm* of the image, variable CUDA_VERSION and '
    'files /usr/local/cuda-*',
    facts=('gpu',),
)
def check_gpu_vendor(trial: Trial) -> Iterator[Finding]:
    """Check that the image has the software for the site's GPUs: ROCm for AMD, CUDA for NVIDIA."""
    maker = find_gpu_maker(trial.site)
    if not maker:
        return
    releases = {'AMD': trial.image.find_rocm_release(), 'NVIDIA': trial.image.find_cuda_release()}
    release, other = releases.pop(maker), list(releases)[0]
    if not release and releases[other]:
        yield report_problem(
            'fails',
            'the image is for %s GPUs (%s %s), but this site has %s GPUs (%s), so programs find no '
            'GPU' % (other, _SOFTWARE[other], releases[other], maker, trial.site['gpu']['value']),
            trial.image.path,
            '%s %s, no %s' % (_SOFTWARE[other], releases[other], _SOFTWARE[maker]),
            'use an image with %s; or run `eb --force` to install for programs that use no GPU'
            % _SOFTWARE[maker],
        )


@rule(
    'RCCL plugin',
    source='DeiC-HPC/BitBulldozersLab, 2025-03: RCCL reaches 3 to 5 instead of 13 GB/s; '
    'GeodesicResearch on GH200 with Slingshot: NCCL with a plugin that is built for '
    'EFA reaches 2.3 instead of 163 GB/s; libcudart.so: aws/aws-ofi-nccl#244, '
    'eth-cscs/cscs-docs 88df2a2 (Container Engine, known issues)',
    facts=('provider', 'gpu', 'host'),
)
def check_rccl_plugin(trial: Trial) -> Iterator[Finding]:
    """
    Check that RCCL or NCCL can use the site's provider through a plugin for libfabric.
    """
    if not trial.site['gpu']['value'] or find_provider(trial) == 'tcp':
        return
    name = 'NCCL' if find_gpu_maker(trial.site) == 'NVIDIA' else 'RCCL'
    for reason, evidence, remedy in _list_plugin_problems(trial, name):
        yield make_finding(
            'works slowly',
            '%s, so %s silently falls back to TCP; the messages of MPI are not affected'
            % (reason, name),
            [evidence],
            remedy,
        )


def _list_plugin_problems(trial: Trial, name: str) -> Iterator[Tuple[str, Tuple[str, str], str]]:
    """
    Yield (reason, evidence, remedy) for each problem of the plugin that RCCL or NCCL loads.

    name: 'RCCL' or 'NCCL'. reason: text for the user. evidence: (file, what the file shows).
    """
    build_remedy = 'build aws-ofi-nccl into the image'
    if trial.rccl_plugin is None:
        # InfiniBand needs no plugin.
        if trial.image.has_rccl() and resolve_network(trial.site)[0] == 'Slingshot':
            yield (
                '%s finds no plugin for libfabric in the image' % name,
                (trial.image.path, 'no lib%s-net.so on the library path' % name.lower()),
                build_remedy,
            )
        return
    provider_name = find_provider(trial)
    path, process = trial.rccl_plugin
    mpi_paths = [library.path for library in trial.process.loaded]
    loaded = [library for library in process.loaded if library.path not in mpi_paths]
    fabric = find_loaded_file(process, 'libfabric.so.1')
    problems = [
        (format_version_problem(problem), problem[0].facts.path)
        for problem in list_version_problems(process)
        if problem[0] in loaded
    ]
    if not trial.image.is_partial:
        problems += [
            ('%s needs %s, which is missing' % (path, needed), path)
            for needed, _ in process.missing[len(trial.process.missing) :]
        ]
    if provider_name == 'cxi' and not (
        process.broken
        or problems
        or any('libfabric.so.1' in library.facts.needed for library in loaded)
    ):
        yield (
            '%s does not use libfabric, which Slingshot requires' % path,
            (path, 'no DT_NEEDED libfabric.so.1'),
            build_remedy,
        )
    elif fabric and fabric in loaded:  # Other rules judge the libfabric of MPI.
        traits = read_process_traits(process, 'libfabric.so.1', trial.image, trial.host) or {}
        providers = traits.get('providers')
        if providers and provider_name and not set(split_provider(provider_name)) <= set(providers):
            yield (
                '%s loads %s (%s), which has no provider %s'
                % (
                    path,
                    format_library(fabric),
                    traits.get('release') or 'of unknown release',
                    provider_name,
                ),
                (fabric.facts.path, 'providers ' + ', '.join(providers)),
                "use an approach that injects the host's libfabric, and an image whose plugin has no "
                'DT_RPATH to another libfabric',
            )
    for problem, file in problems:
        yield (
            problem,
            (file, 'ld.so cannot load the file'),
            'use an image whose plugin was built with the libraries of the same image',
        )


@rule(
    'GPU transport layer',
    source='message of Cray MPICH, "GPU_SUPPORT_ENABLED is requested, but GTL library is not '
    'linked": github.com/BLAST-WarpX/warpx pull request 2736',
    facts=('gpu', 'host'),
)
def check_gtl(trial: Trial) -> Iterator[Finding]:
    """
    Check that a module that enables GPU support of Cray MPICH injects the GPU transport layer.
    """
    if (
        trial.module_values.get('MPICH_GPU_SUPPORT_ENABLED') == '1'
        and trial.libmpi
        and trial.libmpi.origin == 'host'
        and trial.mpi_family == 'Cray MPICH'
        and not any(name.startswith('libmpi_gtl_') for name in trial.injected)
    ):
        yield report_problem(
            'fails',
            "the libraries of the site do not include the GPU transport layer (libmpi_gtl_...): the "
            "host's Cray MPICH fails at start without this library, because the module enables GPU "
            "support",
            trial.libmpi,
            'MPICH_GPU_SUPPORT_ENABLED=1',
            'add libmpi_gtl_... to `libraries` in the site file',
            Change(
                'if programs use host memory only, run `export MPICH_GPU_SUPPORT_ENABLED=0` before '
                'srun',
                exports={'MPICH_GPU_SUPPORT_ENABLED': '0'},
            ),
        )


#: First branch of NVIDIA's driver with a slow cuPointerGetAttribute; MPI -> (first release known to
#: call this function for every buffer, first release known or announced not to)
_SLOW_QUERY_DRIVER = 580
_SLOW_QUERIES = {'Cray MPICH': ((), (9, 2)), 'Open MPI': ((5,), (5, 0, 11))}


@rule(
    'pointer query',
    source='CSCS documentation, Cray MPICH, known issues (eth-cscs/cscs-docs 80abed1): slow '
    'since driver 580, announced to be fixed in Cray MPICH 9.2; open-mpi/ompi#14337: '
    'Open MPI 5.0.10 with driver 580.65.06 on GH200, 2026-08-20',
    facts=('gpu', 'host'),
)
def check_pointer_query(trial: Trial) -> Iterator[Finding]:
    """
    Check that MPI with GPU support does not query each buffer by a slow function of the driver.
    """
    fact, family = trial.site.get('gpu_driver'), trial.mpi_family or ''
    release = parse_release(trial.mpi.get('release'))
    first, fixed = _SLOW_QUERIES.get(family, ((), ()))
    name = 'MPICH_GPU_SUPPORT_ENABLED' if family == 'Cray MPICH' else 'OMPI_MCA_opal_cuda_support'
    if (
        find_gpu_maker(trial.site) == 'NVIDIA'
        and fact
        and int(fact['value'].partition('.')[0]) >= _SLOW_QUERY_DRIVER
        and release
        and first <= release < fixed
        and resolve_variable(trial, name) != '0'
    ):
        yield report_problem(
            NOTE,
            '%s %s asks driver %s about every buffer (cuPointerGetAttribute), which is slow since '
            'driver 580: small messages from host memory may be slow'
            % (family, trial.mpi['release'], fact['value']),
            trial.soname,
            '%s %s' % (family, trial.mpi['release']),
            Change(
                'for programs without buffers in GPU memory, run `export %s=0` before the launcher'
                % name,
                exports={name: '0'},
            ),
        )


@rule(
    'ROCm release',
    source="AMD's user and kernel-space support matrix; LUMI training 2026",
    facts=('gpu', 'host'),
)
def check_rocm_release(trial: Trial) -> Iterator[Finding]:
    """Check that the image's ROCm works with the site's driver and with the host's libraries."""
    if find_gpu_maker(trial.site) != 'AMD':
        return
    libraries = [
        library
        for library in trial.process.loaded
        if re.match(r'libamdhip64\.so\.\d', library.facts.soname or '')
    ]
    if len(libraries) > 1:
        yield make_finding(
            'fails',
            'the process would load %s: two releases of ROCm cannot share a GPU'
            % ' and '.join(map(format_library, libraries)),
            [(library.facts.path, library.facts.soname or '') for library in libraries],
            "use an image whose ROCm has the same major release as the host's GPU transport layer "
            '(libmpi_gtl)',
        )
    fact, release = trial.site.get('gpu_userland'), trial.image.find_rocm_release()
    if not fact or not fact['value'] or not release:
        return
    oldest, newest = fact['value']
    if not parse_release(oldest)[:2] <= parse_release(release)[:2] <= parse_release(newest)[:2]:
        yield report_problem(
            'unknown',
            "the driver of this site works with ROCm %s to %s, but the image has ROCm %s: buffers in "
            'GPU memory may fail, buffers in host memory work' % (oldest, newest, release),
            trial.image.path,
            'ROCm ' + release,
            'use an image with ROCm %s to %s' % (oldest, newest),
        )


#: Major release of CUDA -> the oldest branch of NVIDIA's driver that supports it
OLDEST_DRIVERS = {11: 450, 12: 525, 13: 580}


@rule(
    'CUDA release',
    source='NVIDIA, CUDA Compatibility (minor version and forward compatibility), '
    '2026-09-09; measured on an H200 with driver 580.159.04 (CUDA 13.0), 2026-11-26: '
    'libcudart of the wheels of CUDA 11.8 to 13.5 works; if a libcuda of driver 535, '
    '550 or 555 comes before the libcuda of the driver, libcudart 11.8 fails with '
    'error 803 and libcudart 13.2 with error 35; PTX of CUDA 13.1 and newer fails '
    'with error 222',
    facts=('gpu',),
)
def check_cuda_release(trial: Trial) -> Iterator[Finding]:
    """
    Check that the site's driver supports the image's CUDA.

    If ld.so loads the image's libcuda, this libcuda must have the release of the site's driver.
    """
    fact, release = trial.site.get('gpu_driver'), trial.image.find_cuda_release()
    if find_gpu_maker(trial.site) != 'NVIDIA' or not fact or not release:
        return
    path, image_driver = trial.image.find_libcuda(trial.library_path) or (
        trial.image.path,
        fact['value'],
    )
    driver, branch, major = (
        int(re.findall(r'\d+', text)[0]) for text in (fact['value'], image_driver, release)
    )
    drivers = (path, image_driver, fact['value'])
    variable = trial.environment.variables.get('LD_LIBRARY_PATH')
    if branch < driver:
        yield report_problem(
            'fails',
            "%s of the image belongs to driver %s, which is older than the site's driver %s, but "
            "ld.so loads the image's file: CUDA fails with error 803 (cudaErrorSystemDriverMismatch), "
            "or 35" % drivers,
            path,
            'driver ' + image_driver,
            remove_words(
                trial,
                'remove the folder of this libcuda from LD_LIBRARY_PATH of the image: cuda-compat is '
                'for older drivers only',
                variable and variable.location,
                posixpath.dirname(path),
            ),
        )
        return
    if branch > driver:
        yield report_problem(
            'unknown',
            '%s of the image belongs to driver %s, and the site has driver %s: NVIDIA supports this '
            'combination only on data-centre GPUs with some older drivers' % drivers,
            path,
            'driver ' + image_driver,
            'run `nvidia-smi` in the container to see whether CUDA works; if not, use an image with '
            'an older CUDA',
        )
    evidence = [(trial.image.path, 'CUDA ' + release)]
    needed = OLDEST_DRIVERS.get(major)
    if needed is None and major > max(OLDEST_DRIVERS):
        yield make_finding(
            'unknown',
            'cannot tell which driver CUDA %s of the image needs; the site has driver %s'
            % (release, fact['value']),
            evidence,
            "look up the driver in NVIDIA's table: docs.nvidia.com/deploy/cuda-compatibility",
        )
    elif needed and branch < needed:
        yield make_finding(
            'fails',
            'CUDA %s of the image needs driver %d or newer, but the site has driver %s: programs '
            'that use a GPU fail with error 35 (cudaErrorInsufficientDriver)'
            % (release, needed, fact['value']),
            evidence,
            'use an image with CUDA %d or older; or run `eb --force` to install for programs that '
            'use no GPU' % (major - 1),
        )
