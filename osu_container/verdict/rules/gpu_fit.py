"""GPUs: whose, with which ROCm or CUDA, and what RCCL and MPI do with their memory."""

import re

from osu_container.image.loader import find_library, find_loaded_file, list_version_problems
from osu_container.verdict.layers import split_provider
from osu_container.verdict.rules.finding import (
    NOTE,
    compute_module_values,
    find_last_version,
    find_loaded_mpi,
    find_provider,
    format_library,
    make_finding,
    rule,
)
from osu_container.verdict.site_choice import (
    collect_site_conditions,
    parse_release,
    resolve_network,
)
from osu_container.verdict.trial import Container, read_process_traits

#: Makers of GPUs -> what an image for them holds, and the method of Image that tells its release
_GPU_MAKERS = {'AMD': ('ROCm', 'find_rocm_release'), 'NVIDIA': ('CUDA', 'find_cuda_release')}


def find_gpu_maker(site):
    """Return who made the GPUs of a site (dict): 'AMD' or 'NVIDIA', None where it has none."""
    words = collect_site_conditions(site)
    return None if not words['gpu'] else 'NVIDIA' if words['cuda'] else 'AMD'


@rule(
    'GPU vendor',
    source='gpu of the site data; /opt/rocm* of the image, CUDA_VERSION and /usr/local/cuda-*',
)
def check_gpu_vendor(trial):
    """An image with ROCm has no use for GPUs of NVIDIA, one with CUDA none for AMD's."""
    return report_other_vendor(trial.site, trial.image)


def report_other_vendor(site, image):
    """
    Yield the Finding that an image is not for the GPUs of a site (dict), or has nothing for
    them.
    """
    maker = find_gpu_maker(site)
    if not maker:
        return
    other = next(name for name in _GPU_MAKERS if name != maker)
    (wanted, method), (found, other_method) = _GPU_MAKERS[maker], _GPU_MAKERS[other]
    inside = getattr(image, other_method)()
    if inside and not getattr(image, method)():
        yield make_finding(
            'fails',
            "the image is for GPUs of %s (%s %s), those of this site are %s's (%s): programs that "
            "use a GPU find none" % (other, found, inside, maker, site['gpu']['value']),
            [(image.path, '%s %s, no %s' % (found, inside, wanted))],
            'use an image with %s; host memory alone may work, which --force of eb allows' % wanted,
        )
    elif maker == 'NVIDIA' and not image.find_cuda_release() and not image.is_partial:
        yield make_finding(
            NOTE,
            "the image has no CUDA: its programs can use host memory only (H H)",
            [(image.path, 'no /usr/local/cuda-*, no CUDA_VERSION')],
            'for buffers in GPU memory use an image with CUDA',
        )


def _opens_cudart(content):
    """
    Return whether a library (bytes) names libcudart.so without a release, which it then opens
    itself.
    """
    return b'\0libcudart.so\0' in content


@rule(
    'RCCL plugin',
    source='DeiC-HPC/BitBulldozersLab, 2025-03: 3 to 5 instead of 13 GB/s; of an NCCL whose plugin is '
    'built for EFA, GeodesicResearch on GH200 with Slingshot: 2.3 instead of 163 GB/s; '
    'libcudart.so: aws/aws-ofi-nccl#244, eth-cscs/cscs-docs 88df2a2 (Container Engine, known '
    'issues)',
)
def check_rccl_plugin(trial):
    """
    RCCL, or NCCL, finds a plugin by which it uses libfabric, and that meets one with the site's
    provider.
    """
    wanted = find_provider(trial)
    if not trial.site['gpu']['value'] or wanted == 'tcp':
        return
    name = 'NCCL' if find_gpu_maker(trial.site) == 'NVIDIA' else 'RCCL'
    slow = '%s falls back to TCP without a word' % name
    if trial.program.rccl_plugin is None:
        if (
            trial.image.has_rccl() and resolve_network(trial.site)[0] == 'Slingshot'
        ):  # InfiniBand needs none
            yield make_finding(
                'works slowly',
                "%s finds no plugin in the image by which it would use libfabric: %s; "
                "messages of MPI are not affected" % (name, slow),
                [
                    (
                        trial.image.path,
                        '%s, and no lib%s-net.so that it finds' % (name, name.lower()),
                    )
                ],
                'build aws-ofi-nccl into the image',
            )
        return
    path, process = trial.program.rccl_plugin
    ours = trial.process.loaded
    new = process._replace(
        loaded=[one for one in process.loaded if one.path not in [own.path for own in ours]]
    )
    fabric = find_loaded_file(process, 'libfabric.so.1')
    whole = not process.broken and len(process.missing) == len(trial.process.missing)
    if (
        wanted == 'cxi'
        and whole
        and not any('libfabric.so.1' in one.facts.needed for one in new.loaded)
    ):
        yield make_finding(
            'works slowly',
            "%s does not use libfabric, and nothing else reaches Slingshot: %s" % (path, slow),
            [(path, 'no DT_NEEDED libfabric.so.1')],
            'build aws-ofi-nccl into the image',
        )
    elif fabric in new.loaded:  # else that of MPI, of which other rules speak
        traits = read_process_traits(process, 'libfabric.so.1', trial.image, trial.host) or {}
        if (
            traits.get('providers')
            and wanted
            and not set(split_provider(wanted)) <= set(traits['providers'])
        ):
            yield make_finding(
                'works slowly',
                "%s meets %s (%s), which has no provider %s: %s"
                % (
                    path,
                    format_library(fabric),
                    traits.get('release') or 'of unknown release',
                    wanted,
                    slow,
                ),
                [(fabric.facts.path, 'providers ' + ', '.join(traits['providers']))],
                'take an approach that puts the host\'s libfabric in front, and an image whose plugin names no folder '
                'of its own for it (DT_RPATH)',
            )
    for one, soname, lacking, provider in list_version_problems(process):
        if one in new.loaded:
            yield make_finding(
                'works slowly',
                "%s needs %s of %s, but %s ends at %s: %s"
                % (
                    format_library(one),
                    ', '.join(lacking),
                    soname,
                    format_library(provider),
                    find_last_version(provider.facts.verdef, lacking[0]),
                    slow,
                ),
                [
                    (one.facts.path, 'needs ' + ', '.join(lacking)),
                    (provider.facts.path, 'lacks it'),
                ],
                'use an image whose plugin was built with a libfabric that is not newer; messages of MPI are not '
                'affected',
            )
    known = set(name for name, _ in trial.process.missing)
    for name, by in [] if trial.image.is_partial else process.missing:
        if name not in known:
            yield make_finding(
                'works slowly',
                "%s needs %s, which is not there: %s"
                % (format_library(by) if by else path, name, slow),
                [(path, 'needs ' + name)],
                'install it in the image',
            )
    one = find_loaded_file(process, path)
    container = Container(trial.image, {}, {})
    if (
        one
        and not trial.image.is_partial
        and trial.image.read_traits(path, _opens_cudart)
        and not find_library(
            'libcudart.so', one, container, trial.container.library_path, ours[0] if ours else None
        )[0]
    ):
        yield make_finding(
            'works slowly',
            "%s opens libcudart.so, and the image has it under no name without a release: %s"
            % (path, slow),
            [(path, 'libcudart.so')],
            'make libcudart.so a link to libcudart.so.%s beside it (ln -s), or install the package of CUDA '
            'for developers' % (trial.image.find_cuda_release() or 'N').partition('.')[0],
        )


@rule(
    'GPU transport layer',
    source='message of Cray MPICH, "GPU_SUPPORT_ENABLED is requested, but GTL library is not '
    'linked": github.com/BLAST-WarpX/warpx pull request 2736',
)
def check_gtl(trial):
    """
    Cray MPICH of the host gets its GPU transport layer where the module asks it for GPU support.
    """
    mpi, asked = (
        find_loaded_mpi(trial),
        compute_module_values(trial).get('MPICH_GPU_SUPPORT_ENABLED'),
    )
    if (
        asked == '1'
        and mpi
        and mpi.origin == 'host'
        and (trial.mpi or {}).get('family') == 'Cray MPICH'
        and not any(name.startswith('libmpi_gtl_') for name in trial.host_libraries.injected)
    ):
        yield make_finding(
            'fails',
            "no library of the site is the GPU transport layer (libmpi_gtl_...) of the host's Cray "
            "MPICH, which ends at start without it, because the module asks for GPU support",
            [(mpi.facts.path, 'MPICH_GPU_SUPPORT_ENABLED=1')],
            'name it among the libraries of the site; '
            'for host memory alone: export MPICH_GPU_SUPPORT_ENABLED=0',
        )


@rule('ROCm release', source="AMD's user and kernel-space support matrix; LUMI training 2026")
def check_rocm_release(trial):
    """ROCm of the image fits the driver, and that of the host the image."""
    if find_gpu_maker(trial.site) != 'AMD':
        return
    window, inside = trial.site.get('gpu_userland'), trial.image.find_rocm_release()
    if not inside and not trial.image.find_cuda_release() and not trial.image.is_partial:
        yield make_finding(
            NOTE,
            "the image has no ROCm: its programs can use host memory only (H H)",
            [(trial.image.path, 'no /opt/rocm*')],
            'for buffers in GPU memory use an image with ROCm',
        )
    if not window or not window['value'] or not inside:
        return
    oldest, newest = window['value']
    if not parse_release(oldest)[:2] <= parse_release(inside)[:2] <= parse_release(newest)[:2]:
        yield make_finding(
            'unknown',
            "ROCm %s of the image is outside of what the driver of this site is known to work "
            "with (%s to %s): buffers in GPU memory may fail, host memory is not affected"
            % (inside, oldest, newest),
            [(trial.image.path, 'ROCm ' + inside)],
            'use an image with ROCm %s to %s' % (oldest, newest),
        )
    names = {}
    for one in trial.process.loaded:
        found = re.match(r'(libamdhip64\.so)\.(\d+)', one.facts.soname or '')
        if found:
            names.setdefault(found.group(1), []).append(one)
    for several in names.values():
        if len(several) > 1:
            yield make_finding(
                'fails',
                "the process would hold %s: two releases of ROCm do not share a GPU"
                % ' and '.join(format_library(one) for one in several),
                [(one.facts.path, one.facts.soname) for one in several],
                'use an image whose ROCm has the major release of the host\'s GTL',
            )


#: Major release of CUDA -> the oldest branch of NVIDIA's driver that takes it
OLDEST_DRIVERS = {11: 450, 12: 525, 13: 580}
#: Branch of the driver -> release of CUDA that it was made with, newer ones of its major release
#: run with less
DRIVER_CUDA_RELEASES = {
    450: (11, 0),
    470: (11, 4),
    525: (12, 0),
    535: (12, 2),
    545: (12, 3),
    550: (12, 4),
    555: (12, 5),
    560: (12, 6),
    565: (12, 7),
    570: (12, 8),
    575: (12, 9),
    580: (13, 0),
    590: (13, 1),
    595: (13, 2),
    610: (13, 3),
}


@rule(
    'CUDA release',
    source="NVIDIA, CUDA Compatibility (minor version and forward compatibility), 2026-09-09; "
    "an H200 with driver 580.159.04 (CUDA 13.0), 2026-11-26: libcudart of the wheels of "
    "11.8 to 13.5 works; with libcuda 535, 550, 555 before the driver's that of 11.8 ends "
    "with 803, that of 13.2 with 35; PTX of CUDA 13.1 and newer with 222",
)
def check_cuda_release(trial):
    """
    The driver takes the CUDA of the image, and no older libcuda of the image comes before the
    driver's.
    """
    fact, inside = trial.site.get('gpu_driver'), trial.image.find_cuda_release()
    if find_gpu_maker(trial.site) != 'NVIDIA' or not fact or not inside:
        return
    driver, numbers = (
        int(fact['value'].partition('.')[0]),
        tuple(int(part) for part in re.findall(r'\d+', inside)[:2]),
    )
    own = trial.image.find_libcuda(trial.container.library_path)
    branch = int(own[1].partition('.')[0]) if own else driver
    if branch < driver:
        yield make_finding(
            'fails',
            "%s of the image is that of driver %s, older than the site's %s, and comes before it: "
            "CUDA ends with error 803 (cudaErrorSystemDriverMismatch), or 35"
            % (own[0], own[1], fact['value']),
            [(own[0], 'driver ' + own[1])],
            'take its folder out of LD_LIBRARY_PATH of the image, where '
            'cuda-compat serves older drivers only',
        )
        return
    if branch > driver:
        yield make_finding(
            'unknown',
            "%s of the image stands for driver %s, and the site has %s: NVIDIA supports that on "
            "GPUs of data centres for some older drivers" % (own[0], own[1], fact['value']),
            [(own[0], 'driver ' + own[1])],
            'nvidia-smi in the container shows whether it works; else an image with an older CUDA',
        )
    needed = OLDEST_DRIVERS.get(numbers[0])
    if needed is None and numbers[0] > max(OLDEST_DRIVERS):
        yield make_finding(
            'unknown',
            "which driver CUDA %s of the image needs is not known here, the site has %s"
            % (inside, fact['value']),
            [(trial.image.path, 'CUDA ' + inside)],
            'NVIDIA\'s table: docs.nvidia.com/deploy/cuda-compatibility',
        )
    elif needed and branch < needed:
        yield make_finding(
            'fails',
            "CUDA %s of the image needs driver %d or newer, the site has %s: programs that use a "
            "GPU end with error 35 (cudaErrorInsufficientDriver)" % (inside, needed, fact['value']),
            [(trial.image.path, 'CUDA ' + inside)],
            'use an image with CUDA %d or older; host memory alone '
            'may work, which --force of eb allows' % (numbers[0] - 1),
        )
    elif needed and numbers > max(
        [made for of, made in DRIVER_CUDA_RELEASES.items() if of <= branch] or [(99,)]
    ):
        yield make_finding(
            NOTE,
            "CUDA %s of the image is newer than driver %s: code that the driver must compile (PTX) "
            "fails with error 222, the rest runs" % (inside, fact['value'] if not own else own[1]),
            [(trial.image.path, 'CUDA ' + inside)],
            'programs built for %s need no PTX' % trial.site['gpu']['value'],
        )
