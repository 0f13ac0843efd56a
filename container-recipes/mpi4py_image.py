"""mpi4py {mpi4py} and NumPy {numpy} on top of {base}

Contents:
  {base}: {mpi} with libfabric {libfabric}
  mpi4py and NumPy{with_cupy} for its Python {python}, and pip, in /opt/mpi4py
  {osu}
{note}
Building, in the top folder of the repository:
  ours           bin/osu-container image build {name}
  or by hand, with the sources in sources/ (bin/osu-container image fetch {name})
  and the image below as sources/{base}.sif:
  the file       bin/osu-container image recipe {name} --osu {kind}, with --docker the Dockerfile
  Apptainer      apptainer build --fakeroot osu.sif THIS_FILE
  SingularityCE  singularity build osu.sif THIS_FILE, by an ordinary user, with proot on PATH
  Docker         docker build -f THIS_FILE -t osu .
                 (the image below is {base} among Docker's own)

Running, two ranks on two nodes:
  as modules     module load osu-mpi4py/{approach}; srun -N2 -n2 osu_py_bw --buffer {library}
  by hand        srun -N2 -n2 --mpi={pmi} apptainer exec osu.sif {latency}
  own programs   module load osu-mpi4py/{approach}; srun -N2 -n2 python program.py
"""
# ruff: noqa: F821  HPCCM provides USERARG, Stage0 and Stage1
import hpccm

from osu_container.recipes import common, slingshot
from osu_container.recipes.images import MPI4PY_BASES, MPI4PY_FILES, cupy_packages, cupy_sources, mpi4py_name
from osu_container.recipes.versions import GPU, SOURCES

base, osu, cupy = USERARG.get('base'), USERARG.get('osu', 'mpi4py'), USERARG.get('cupy', 'none')
if base not in MPI4PY_BASES:
    raise ValueError(f"base={base}: must be one of {', '.join(MPI4PY_BASES)}")
if osu not in ('python', 'mpi4py'):
    raise ValueError(f"osu={osu}: must be python (OSU's Python benchmarks) or mpi4py (its ports of them)")
below = MPI4PY_BASES[base]
if cupy not in ('none', 'rocm') or cupy == 'rocm' and not below.get('rocm'):
    raise ValueError(f"cupy={cupy}: must be none, or rocm on top of an image with ROCm")
python, openmpi = below['python'], below['mpi'].startswith('Open MPI')
numpy_version, mpi4py_version = SOURCES[f'numpy-{python}']['version'], SOURCES['mpi4py-source']['version']
keys = ['mpi4py-source', f'mpi4py-{python}', f'numpy-{python}', 'pip', *(['osu'] if osu == 'python' else [])]
built = [*keys, *(cupy_sources(python) if cupy == 'rocm' else [])]
cupy_text = f" and CuPy {SOURCES['cupy']['version']} for {GPU}" if cupy == 'rocm' else ''
if osu == 'python':
    osu_label = f"{SOURCES['osu']['version']} Python"
    contents = f"OSU Micro-Benchmarks {SOURCES['osu']['version']}, those in Python"
else:
    osu_label = f'mpi4py {mpi4py_version} ports, NumPy {numpy_version} buffers'
    contents = "mpi4py's ports of the OSU Micro-Benchmarks with NumPy arrays as buffers"
latency = f'{common.PYTHON_PREFIX}/bin/osu_latency'

Stage0 += hpccm.primitives.comment(__doc__.strip().format(
    mpi4py=mpi4py_version, numpy=numpy_version, base=base, mpi=below['mpi'], libfabric=below['libfabric'],
    with_cupy=cupy_text, python=python, osu=f'{contents}, started by osu-python', latency=latency,
    name=mpi4py_name(base, cupy), kind=osu,
    approach='openmpi' if openmpi else 'opensource', pmi='pmix' if openmpi else 'pmi2',
    library='cupy' if cupy == 'rocm' else 'numpy',
    note='' if below['built'] else "\nUntested: the image below was never built by this project.\n"), reformat=False)

# Build stage. A Dockerfile names the image below, a definition file its SIF.
start = below['image'] if common.singularity() else base
Stage0 += slingshot.base('build', start, below['distro'], 'localimage')
Stage0 += common.debian_packages('python3', ['python3'])
if cupy == 'rocm':
    Stage0 += common.debian_packages('pip3', ['ca-certificates', 'g++', 'libc6-dev', 'python3-dev', 'python3-pip'])
Stage0 += common.files(*built, *(['rocm-key'] if cupy == 'rocm' else []),
                       also=MPI4PY_FILES)
Stage0 += hpccm.primitives.shell(chdir=False, commands=[f'mkdir -p {common.BUILD}'])
Stage0 += common.osu_ports(python, common.PYTHON_PREFIX)
Stage0 += common.numpy_and_launcher(python, osu == 'python')
if cupy == 'rocm':
    Stage0 += slingshot.rocm_repository(below['rocm'])
    Stage0 += common.cupy_for_rocm(below['rocm'], cupy_sources(python), cupy_packages(below['rocm']))
handed_on = [common.PYTHON_PREFIX, f'{common.PYTHON_PACKAGES.format(python)}/osu-mpi4py.pth',
             *([f"/opt/rocm-{below['rocm']}"] if cupy == 'rocm' else [])]
Stage0 += common.packed(*handed_on)

# Runtime stage
Stage1 += slingshot.base('runtime', start, below['distro'], 'localimage')
Stage1 += common.copied('build', *handed_on)
Stage1 += common.debian_packages('python3', ['python3'])
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
