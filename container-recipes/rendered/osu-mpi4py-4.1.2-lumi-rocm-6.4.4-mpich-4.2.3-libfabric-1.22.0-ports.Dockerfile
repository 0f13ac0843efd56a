# mpi4py 4.1.2 and NumPy 2.4.6 on top of osu-lumi-rocm-6.4.4-mpich-4.2.3-libfabric-1.22.0
#
# Contents:
#   osu-lumi-rocm-6.4.4-mpich-4.2.3-libfabric-1.22.0: MPICH 4.2.3 with libfabric 1.22.0
#   mpi4py and NumPy for its Python 3.12, and pip, in /opt/mpi4py
#   mpi4py's ports of the OSU Micro-Benchmarks with NumPy arrays as buffers, started by osu-python
#
# Untested: the image below was never built by this project.
#
# Building, in the top folder of the repository:
#   ours           bin/osu-container image build osu-mpi4py-4.1.2-lumi-rocm-6.4.4-mpich-4.2.3-libfabric-1.22.0
#   or by hand, with the sources in sources/ (bin/osu-container image fetch osu-mpi4py-4.1.2-lumi-rocm-6.4.4-mpich-4.2.3-libfabric-1.22.0)
#   and the image below as sources/osu-lumi-rocm-6.4.4-mpich-4.2.3-libfabric-1.22.0.sif:
#   Apptainer      apptainer build --fakeroot osu.sif container-recipes/rendered/osu-mpi4py-4.1.2-lumi-rocm-6.4.4-mpich-4.2.3-libfabric-1.22.0-ports.def
#   Docker         docker build -f container-recipes/rendered/osu-mpi4py-4.1.2-lumi-rocm-6.4.4-mpich-4.2.3-libfabric-1.22.0-ports.Dockerfile -t osu .
#                  (the image below is osu-lumi-rocm-6.4.4-mpich-4.2.3-libfabric-1.22.0 among Docker's own)
#
# Running, two ranks on two nodes:
#   as modules     module load osu-mpi4py/opensource; srun -N2 -n2 osu_py_bw --buffer numpy
#   by hand        srun -N2 -n2 --mpi=pmi2 apptainer exec osu.sif /opt/mpi4py/bin/osu_latency
#   own programs   module load osu-mpi4py/opensource; srun -N2 -n2 python program.py

FROM osu-lumi-rocm-6.4.4-mpich-4.2.3-libfabric-1.22.0 AS build



RUN command -v python3 >/dev/null || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends python3 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)

COPY container-recipes/mpi4py/osu-mpi4py.pth /opt/files/osu-mpi4py.pth
COPY container-recipes/mpi4py/osu-python /opt/files/osu-python
COPY container-recipes/mpi4py/python /opt/files/python
COPY easyconfigs/o/osu-native/osu-port /opt/files/osu-port
COPY sources/mpi4py-4.1.2-cp312-cp312-manylinux1_x86_64.manylinux_2_5_x86_64.whl /opt/files/mpi4py-4.1.2-cp312-cp312-manylinux1_x86_64.manylinux_2_5_x86_64.whl
COPY sources/mpi4py-4.1.2.tar.gz /opt/files/mpi4py-4.1.2.tar.gz
COPY sources/numpy-2.4.6-cp312-cp312-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl /opt/files/numpy-2.4.6-cp312-cp312-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl
COPY sources/pip-26.3-py3-none-any.whl /opt/files/pip-26.3-py3-none-any.whl

RUN mkdir -p /opt/build

RUN echo "56860286dc45f20e8821e93cb06669e30462348bf866f685553fa4b712d58d02  /opt/files/mpi4py-4.1.2.tar.gz" | sha256sum -c - && \
    echo "00f4cce8999d19f35243c3442ea22debbe3336f69c309cd5d3176df4e51c717a  /opt/files/mpi4py-4.1.2-cp312-cp312-manylinux1_x86_64.manylinux_2_5_x86_64.whl" | sha256sum -c - && \
    mkdir -p /opt/mpi4py/bin /opt/mpi4py/libexec/ports /opt/mpi4py/lib/python /opt/mpi4py/share/licenses && \
    tar -xzf /opt/files/mpi4py-4.1.2.tar.gz -C /opt/build && \
    cp /opt/build/mpi4py-4.1.2/demo/osu_*.py /opt/mpi4py/libexec/ports/ && \
    cp /opt/build/mpi4py-4.1.2/LICENSE.rst /opt/mpi4py/share/licenses/ && \
    python3 -m zipfile -e /opt/files/mpi4py-4.1.2-cp312-cp312-manylinux1_x86_64.manylinux_2_5_x86_64.whl /opt/mpi4py/lib/python && \
    install -m 755 /opt/files/osu-port /opt/mpi4py/libexec/osu-port && \
    for port in /opt/mpi4py/libexec/ports/osu_*.py; do ln -s ../libexec/osu-port "/opt/mpi4py/bin/$(basename "$port" .py)"; done && \
    ln -s ../libexec/osu-port /opt/mpi4py/bin/osu_get_bw && \
    python3 -m compileall -q /opt/mpi4py/lib/python /opt/mpi4py/libexec/ports

RUN echo "90f9849678c75fe7afa2d348ac842c168b0a4d3d61919687216dfc547976d853  /opt/files/numpy-2.4.6-cp312-cp312-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl" | sha256sum -c - && \
    python3 -m zipfile -e /opt/files/numpy-2.4.6-cp312-cp312-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl /opt/mpi4py/lib/python && \
    rm -rf /opt/mpi4py/lib/python/numpy/_core/include /opt/mpi4py/lib/python/numpy/_core/lib && \
    find /opt/mpi4py/lib/python/numpy -type d -name tests -prune -exec rm -rf {} + && \
    echo "f3b60b20ffaadd4415ed7957212a38ac63fa4c5fa375bd0f4a797777940fad13  /opt/files/pip-26.3-py3-none-any.whl" | sha256sum -c - && \
    python3 -m zipfile -e /opt/files/pip-26.3-py3-none-any.whl /opt/mpi4py/lib/python && \
    install -m 755 /opt/files/osu-python /opt/mpi4py/libexec/osu-python && \
    for program in /opt/mpi4py/bin/osu_*; do ln -sfn ../libexec/osu-python "$program"; ln -s ../libexec/osu-python "/opt/mpi4py/bin/osu_py_${program##*/osu_}"; done && \
    install -m 755 /opt/files/python /opt/mpi4py/bin/python && \
    ln -s python /opt/mpi4py/bin/pip && \
    mkdir -p /usr/local/lib/python3.12/dist-packages && \
    install -m 644 /opt/files/osu-mpi4py.pth /usr/local/lib/python3.12/dist-packages/osu-mpi4py.pth && \
    python3 -m compileall -q /opt/mpi4py/lib/python

FROM osu-lumi-rocm-6.4.4-mpich-4.2.3-libfabric-1.22.0 AS runtime



COPY --from=build /opt/mpi4py /opt/mpi4py
COPY --from=build /usr/local/lib/python3.12/dist-packages/osu-mpi4py.pth /usr/local/lib/python3.12/dist-packages/osu-mpi4py.pth

RUN command -v python3 >/dev/null || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends python3 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)

RUN rm -rf /opt/osu

ENV MPI4PY_LIBMPI=libmpi.so.12 \
    PYTHONNOUSERSITE=1 \
    PYTHONPATH=

ENTRYPOINT ["/opt/entrypoint/osu-entrypoint"]



LABEL org.opencontainers.image.licenses="0BSD AND Apache-2.0 AND Apache-2.0 WITH LLVM-exception AND BSD-2-Clause AND BSD-2-Clause OR GPL-2.0-only AND BSD-3-Clause AND CC0-1.0 AND GPL-3.0-or-later WITH GCC-exception-3.1 AND ISC AND LGPL-2.1-or-later AND MIT AND MPL-2.0 AND NCSA AND PSF-2.0 AND Zlib AND mpich2" \
    org.opencontainers.image.title="mpi4py 4.1.2 and NumPy 2.4.6 with MPICH 4.2.3" \
    org.opencontainers.image.version="1" \
    org.osu-container.entrypoint="/host/lib /host/usr" \
    org.osu-container.gpu="ROCm 6.4.4 gfx90a" \
    org.osu-container.libcxi="none" \
    org.osu-container.libfabric="1.22.0" \
    org.osu-container.mpi="MPICH 4.2.3" \
    org.osu-container.osu="mpi4py 4.1.2 ports, NumPy 2.4.6 buffers" \
    org.osu-container.recipe-version="1"
