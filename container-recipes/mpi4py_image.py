"""mpi4py and NumPy on top of another image, for LUMI also CuPy.

/opt/mpi4py has mpi4py, NumPy and pip for the Python of the image below, and the benchmarks: OSU's own in Python or
mpi4py's ports of the C programs, started by osu-python.
"""
# ruff: noqa: F821  HPCCM provides USERARG, Stage0 and Stage1
import hpccm

from osu_container.build.recipes import common, slingshot
from osu_container.build.recipes.images import CUPY_PACKAGES, MPI4PY_BASES, MPI4PY_FILES, cupy_sources
from osu_container.build.recipes.versions import SOURCES

base, osu, cupy = USERARG['base'], USERARG['osu'], USERARG['cupy']
below = MPI4PY_BASES[base]
python, openmpi = below['python'], below['mpi'].startswith('Open MPI')
numpy_version, mpi4py_version = SOURCES[f'numpy-{python}']['version'], SOURCES['mpi4py-source']['version']
built = ['mpi4py-source', f'mpi4py-{python}', f'numpy-{python}', 'pip', *(['osu'] if osu == 'python' else []),
         *(cupy_sources(python) if cupy == 'rocm' else [])]
osu_label = (f"{SOURCES['osu']['version']} Python" if osu == 'python' else
             f'mpi4py {mpi4py_version} ports, NumPy {numpy_version} buffers')
latency = f'{common.PYTHON_PREFIX}/bin/osu_latency'

Stage0 += common.head(USERARG['name'], osu)

# Build stage. A Dockerfile names the image below, a definition file its SIF.
start = below['image'] if common.singularity() else base
Stage0 += common.base('build', start, below['distro'], 'localimage')
Stage0 += common.packages('python3', *(['ca-certificates', 'g++', 'libc6-dev', 'python3-dev', 'python3-pip']
                                       if cupy == 'rocm' else []))
Stage0 += common.files(*built, *(['rocm-key'] if cupy == 'rocm' else []), also=MPI4PY_FILES)
Stage0 += common.osu_ports(python, common.PYTHON_PREFIX)
Stage0 += common.numpy_and_launcher(python, osu == 'python')
if cupy == 'rocm':
    Stage0 += slingshot.rocm_repository(below['rocm'])
    Stage0 += common.cupy_for_rocm(below['rocm'], cupy_sources(python), CUPY_PACKAGES)
handed_on = [common.PYTHON_PREFIX, f'{common.PYTHON_PACKAGES.format(python)}/osu-mpi4py.pth',
             *([f"/opt/rocm-{below['rocm']}"] if cupy == 'rocm' else [])]
Stage0 += common.packed(*handed_on)

# Runtime stage
Stage1 += common.base('runtime', start, below['distro'], 'localimage')
Stage1 += common.copied('build', *handed_on)
Stage1 += common.packages('python3')
# the programs of the image below: one image has one set of benchmarks
Stage1 += hpccm.primitives.shell(chdir=False, commands=['rm -rf /opt/osu'])
# For programs of the user. Without the first mpi4py would take the image's libmpi.so, not the libmpi.so.12 that bind
# puts in front. The others keep out what was installed with the host's Python: modules set PYTHONPATH, and `pip install
# --user` fills ~/.local, which comes before the image's packages.
Stage1 += hpccm.primitives.environment(_export=False, variables={
    'MPI4PY_LIBMPI': 'libmpi.so.40' if openmpi else 'libmpi.so.12', 'PYTHONPATH': '', 'PYTHONNOUSERSITE': '1'})
Stage1 += hpccm.primitives.runscript(commands=[common.ENTRYPOINT])  # of the image below
Stage1 += common.creation_time()
licences = common.licences(*built, *below['sources'], also=slingshot.ROCM_LICENCES if below.get('rocm') else set())
Stage1 += common.labels(below['mpi'], osu_label, licences, below['libfabric'],
                        below.get('libcxi', 'none'), below.get('gpu', 'none'),
                        title=f'mpi4py {mpi4py_version} and NumPy {numpy_version} with {{mpi}}')
version = (f'{common.PYTHON_PREFIX}/bin/python -c "import mpi4py.MPI, numpy, pip; assert numpy.__version__ == '
           f"'{numpy_version}' and '{below['mpi'].split()[-1]}' in mpi4py.MPI.Get_library_version()\"")
Stage1 += common.test(f"{common.PYTHON_PREFIX}/lib/python/mpi4py -name 'MPI.{'openmpi' if openmpi else 'mpich'}.*.so'",
                      f"{below['mpiexec']} {latency} {'' if osu == 'python' else '-m 8 -i 10 -x 2'}",
                      below['libfabric'], version)
