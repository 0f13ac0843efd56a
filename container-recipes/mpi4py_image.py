"""mpi4py and NumPy (for LUMI also CuPy), added to another image.

/opt/mpi4py contains mpi4py, NumPy and pip for the Python of the base image, and benchmarks that
osu-python starts: either OSU's Python benchmarks, or the mpi4py ports of the C benchmarks.
"""

# ruff: noqa: F821  HPCCM provides USERARG, Stage0 and Stage1
# mypy: disable-error-code=name-defined
import hpccm

from osu_container.build.recipes import common, slingshot
from osu_container.build.recipes.images import (
    CUPY_PACKAGES,
    MPI4PY_BASES,
    MPI4PY_FILES,
    list_cupy_sources,
)
from osu_container.build.recipes.versions import MPI4PY_VERSION, SOURCES

base, osu, cupy = USERARG['base'], USERARG['osu'], USERARG['cupy']
base_image = MPI4PY_BASES[base]
python, openmpi = base_image['python'], base_image['mpi'].startswith('Open MPI')
numpy_version = SOURCES[f'numpy-{python}']['version']
source_keys = [
    f'mpi4py-{python}',
    f'numpy-{python}',
    'pip',
    *(['osu'] if osu == 'python' else []),
    *(list_cupy_sources(python) if cupy == 'rocm' else []),
]
osu_label = (
    f"{SOURCES['osu']['version']} Python"
    if osu == 'python'
    else f'mpi4py {MPI4PY_VERSION} ports, NumPy {numpy_version} buffers'
)
latency = f'{common.PYTHON_PREFIX}/bin/osu_latency'

Stage0 += common.add_header(USERARG['name'], osu)

# Build stage. A Dockerfile names the base image, a definition file names the SIF file of the base
# image.
start = f'sources/{base}.sif' if common.is_singularity_format() else base
Stage0 += common.start_stage('build', start, base_image['distro'], 'localimage')
Stage0 += common.install_packages(
    'python3',
    *(
        ['ca-certificates', 'g++', 'libc6-dev', 'python3-dev', 'python3-pip']
        if cupy == 'rocm'
        else []
    ),
)
Stage0 += common.copy_files(
    *source_keys, *(['rocm-key'] if cupy == 'rocm' else []), extra_files=MPI4PY_FILES
)
Stage0 += common.install_osu_ports(python, common.PYTHON_PREFIX)
Stage0 += common.install_python_stack(python, osu == 'python')
if cupy == 'rocm':
    Stage0 += slingshot.add_rocm_repository(base_image['rocm'])
    Stage0 += common.build_cupy(base_image['rocm'], list_cupy_sources(python), CUPY_PACKAGES)
runtime_paths = [
    common.PYTHON_PREFIX,
    f'{common.PYTHON_PACKAGES.format(python)}/osu-mpi4py.pth',
    *([f"/opt/rocm-{base_image['rocm']}"] if cupy == 'rocm' else []),
]
Stage0 += common.pack_paths(*runtime_paths)

# Runtime stage
Stage1 += common.start_stage('runtime', start, base_image['distro'], 'localimage')
Stage1 += common.copy_stage_paths('build', *runtime_paths)
Stage1 += common.install_packages('python3')
# Remove the benchmarks of the base image, so that the image has a single set of benchmarks.
Stage1 += common.run_commands('rm -rf /opt/osu')
# These variables are for programs of the user. Without MPI4PY_LIBMPI, mpi4py would load the image's
# libmpi.so instead of the libmpi.so.12 that approach bind injects. The other variables exclude
# packages of the host's Python: modules may set PYTHONPATH, and packages of `pip install --user` in
# ~/.local would precede the image's packages.
Stage1 += hpccm.primitives.environment(
    _export=False,
    variables={
        'MPI4PY_LIBMPI': 'libmpi.so.40' if openmpi else 'libmpi.so.12',
        'PYTHONPATH': '',
        'PYTHONNOUSERSITE': '1',
    },
)
Stage1 += hpccm.primitives.runscript(
    commands=[common.ENTRYPOINT]
)  # the entrypoint of the base image
Stage1 += common.add_creation_time()
licences = common.combine_licences(
    *source_keys,
    *base_image['sources'],
    extra_licences=slingshot.ROCM_LICENCES if base_image.get('rocm') else set(),
)
Stage1 += common.add_labels(
    base_image['mpi'],
    osu_label,
    licences,
    base_image['libfabric'],
    base_image.get('libcxi', 'none'),
    base_image.get('gpu', 'none'),
    title=f'mpi4py {MPI4PY_VERSION} and NumPy {numpy_version} with {{mpi}}',
)
version = (
    f'{common.PYTHON_PREFIX}/bin/python -c "import mpi4py.MPI, numpy, pip; assert numpy.__version__ == '
    f"'{numpy_version}' and '{base_image['mpi'].split()[-1]}' in mpi4py.MPI.Get_library_version()\""
)
Stage1 += common.add_image_test(
    f"{common.PYTHON_PREFIX}/lib/python/mpi4py -name 'MPI.{'openmpi' if openmpi else 'mpich'}.*.so'",
    f"{base_image['mpiexec']} {latency} {'' if osu == 'python' else '-m 8 -i 10 -x 2'}",
    base_image['libfabric'],
    version,
)
