# mpi4py 4.1.2 and NumPy 2.4.6 on top of osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0-libcxi
#
# Contents:
#   osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0-libcxi: MPICH 4.2.3 with libfabric 1.22.0
#   mpi4py and NumPy and CuPy 13.6.0 for gfx90a for its Python 3.12, and pip, in /opt/mpi4py
#   OSU Micro-Benchmarks 7.5.2, those in Python, started by osu-python
#
# Untested: the image below was never built by this project.
#
# Building, in the top folder of the repository:
#   ours           bin/osu-container image build osu-mpi4py-4.1.2-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0-libcxi-cupy
#   or by hand, with the sources in sources/ (bin/osu-container image fetch osu-mpi4py-4.1.2-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0-libcxi-cupy)
#   and the image below as sources/osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0-libcxi.sif:
#   Apptainer      apptainer build --fakeroot osu.sif container-recipes/rendered/osu-mpi4py-4.1.2-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0-libcxi-cupy.def
#   Docker         docker build -f container-recipes/rendered/osu-mpi4py-4.1.2-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0-libcxi-cupy.Dockerfile -t osu .
#                  (the image below is osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0-libcxi among Docker's own)
#
# Running, two ranks on two nodes:
#   as modules     module load osu-mpi4py/opensource; srun -N2 -n2 osu_py_bw --buffer cupy
#   by hand        srun -N2 -n2 --mpi=pmi2 apptainer exec osu.sif /opt/mpi4py/bin/osu_latency
#   own programs   module load osu-mpi4py/opensource; srun -N2 -n2 python program.py

FROM osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0-libcxi AS build



RUN command -v python3 >/dev/null || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends python3 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)

RUN command -v pip3 >/dev/null || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends ca-certificates g++ libc6-dev python3-dev python3-pip && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)

COPY container-recipes/mpi4py/osu-mpi4py.pth /opt/files/osu-mpi4py.pth
COPY container-recipes/mpi4py/osu-python /opt/files/osu-python
COPY container-recipes/mpi4py/python /opt/files/python
COPY easyconfigs/o/osu-native/osu-port /opt/files/osu-port
COPY sources/cupy-13.6.0.tar.gz /opt/files/cupy-13.6.0.tar.gz
COPY sources/cython-3.1.3-cp312-cp312-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl /opt/files/cython-3.1.3-cp312-cp312-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl
COPY sources/fastrlock-0.8.3-cp312-cp312-manylinux_2_5_x86_64.manylinux1_x86_64.manylinux_2_28_x86_64.whl /opt/files/fastrlock-0.8.3-cp312-cp312-manylinux_2_5_x86_64.manylinux1_x86_64.manylinux_2_28_x86_64.whl
COPY sources/mpi4py-4.1.2-cp312-cp312-manylinux1_x86_64.manylinux_2_5_x86_64.whl /opt/files/mpi4py-4.1.2-cp312-cp312-manylinux1_x86_64.manylinux_2_5_x86_64.whl
COPY sources/mpi4py-4.1.2.tar.gz /opt/files/mpi4py-4.1.2.tar.gz
COPY sources/numpy-2.4.6-cp312-cp312-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl /opt/files/numpy-2.4.6-cp312-cp312-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl
COPY sources/osu-micro-benchmarks-7.5.2.tar.gz /opt/files/osu-micro-benchmarks-7.5.2.tar.gz
COPY sources/pip-26.3-py3-none-any.whl /opt/files/pip-26.3-py3-none-any.whl
COPY sources/rocm.gpg.key /opt/files/rocm.gpg.key
COPY sources/setuptools-80.9.0-py3-none-any.whl /opt/files/setuptools-80.9.0-py3-none-any.whl
COPY sources/wheel-0.45.1-py3-none-any.whl /opt/files/wheel-0.45.1-py3-none-any.whl

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
    echo "618de3d0b1122f73a9229177d2da1e5cd62e431190580cb915f2605849cbbbdc  /opt/files/osu-micro-benchmarks-7.5.2.tar.gz" | sha256sum -c - && \
    mkdir -p /opt/build/omb /opt/mpi4py/libexec/omb-py && \
    tar -xzf /opt/files/osu-micro-benchmarks-7.5.2.tar.gz --strip-components=1 -C /opt/build/omb && \
    cp -r /opt/build/omb/python/. /opt/mpi4py/libexec/omb-py/ && \
    for text in /opt/build/omb/COPYRIGHT* /opt/build/omb/LICENSE*; do if [ -f "$text" ]; then cp "$text" /opt/mpi4py/share/licenses/; fi; done && \
    install -m 755 /opt/files/osu-python /opt/mpi4py/libexec/osu-python && \
    for program in /opt/mpi4py/bin/osu_*; do ln -sfn ../libexec/osu-python "$program"; ln -s ../libexec/osu-python "/opt/mpi4py/bin/osu_py_${program##*/osu_}"; done && \
    install -m 755 /opt/files/python /opt/mpi4py/bin/python && \
    ln -s python /opt/mpi4py/bin/pip && \
    mkdir -p /usr/local/lib/python3.12/dist-packages && \
    install -m 644 /opt/files/osu-mpi4py.pth /usr/local/lib/python3.12/dist-packages/osu-mpi4py.pth && \
    python3 -m compileall -q /opt/mpi4py/lib/python

RUN echo "2de99e2354646a90d9903e2a669fc4e36b02c1bbff7075c481e12d7edab2c88b  /opt/files/rocm.gpg.key" | sha256sum -c - && \
    install -D -m 644 /opt/files/rocm.gpg.key /etc/apt/keyrings/rocm.asc && \
    printf 'deb [arch=amd64 signed-by=/etc/apt/keyrings/rocm.asc] https://repo.radeon.com/%s noble main\n' rocm/apt/6.3.4 amdgpu/6.3.4/ubuntu >/etc/apt/sources.list.d/rocm.list && \
    printf 'Package: *\nPin: release o=repo.radeon.com\nPin-Priority: 600\n' >/etc/apt/preferences.d/rocm

RUN mkdir -p /opt/build/rocm-cupy && \
    cd /opt/build/rocm-cupy && \
    apt-get -q update && \
    apt-get -q -o APT::Sandbox::User=root download hipblas hipfft hiprand hipsparse rocblas rocfft rocrand rocsolver rocsparse hipblas-dev hipfft-dev hiprand-dev hipsparse-dev rocblas-dev rocfft-dev rocrand-dev rocsolver-dev rocsparse-dev hipcub-dev rocprim-dev rocthrust-dev roctracer roctracer-dev rocm-llvm hipcc hipblaslt hipblas-common-dev && \
    mkdir -p /opt/rocm-6.3.4/share/dpkg/info && \
    for package in *.deb; do dpkg-deb -x "$package" /; name=$(dpkg-deb -f "$package" Package); { echo "Status: install ok installed"; dpkg-deb -f "$package"; echo; } >>/opt/rocm-6.3.4/share/dpkg/status; dpkg-deb --fsys-tarfile "$package" | tar -t | sed "s,^[.],,; s,/$,," >"/opt/rocm-6.3.4/share/dpkg/info/$name.list"; dpkg-deb -I "$package" md5sums >"/opt/rocm-6.3.4/share/dpkg/info/$name.md5sums" || true; done

RUN echo "3cba30ae3dd32b5d5c6536e710cb98015227cd4ba83c46b3f1825a7ae55b6667  /opt/files/cupy-13.6.0.tar.gz" | sha256sum -c - && \
    echo "7ac902a17934a6da46f80755f49413bc4c03a569ae3c834f5d66da7288ba7e6c  /opt/files/cython-3.1.3-cp312-cp312-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl" | sha256sum -c - && \
    echo "5f13ec08f1adb1aa916c384b05ecb7dbebb8df9ea81abd045f60941c6283a670  /opt/files/fastrlock-0.8.3-cp312-cp312-manylinux_2_5_x86_64.manylinux1_x86_64.manylinux_2_28_x86_64.whl" | sha256sum -c - && \
    echo "062d34222ad13e0cc312a4c02d73f059e86a4acbfbdea8f8f76b28c99f306922  /opt/files/setuptools-80.9.0-py3-none-any.whl" | sha256sum -c - && \
    echo "708e7481cc80179af0e556bbf0cc00b8444c7321e2700b8d8580231d13017248  /opt/files/wheel-0.45.1-py3-none-any.whl" | sha256sum -c - && \
    python3 -m pip install --no-cache-dir --no-index --no-deps --target /opt/build/tools /opt/files/cython-3.1.3-cp312-cp312-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl /opt/files/fastrlock-0.8.3-cp312-cp312-manylinux_2_5_x86_64.manylinux1_x86_64.manylinux_2_28_x86_64.whl /opt/files/setuptools-80.9.0-py3-none-any.whl /opt/files/wheel-0.45.1-py3-none-any.whl && \
    CUPY_INSTALL_USE_HIP=1 HCC_AMDGPU_TARGET=gfx90a ROCM_HOME=/opt/rocm-6.3.4 PYTHONPATH=/opt/build/tools:/opt/mpi4py/lib/python python3 -m pip install --no-cache-dir --no-index --no-deps --no-build-isolation --target /opt/mpi4py/lib/python /opt/files/cupy-13.6.0.tar.gz && \
    cp -r /opt/build/tools/fastrlock* /opt/mpi4py/lib/python/

FROM osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0-libcxi AS runtime



COPY --from=build /opt/mpi4py /opt/mpi4py
COPY --from=build /usr/local/lib/python3.12/dist-packages/osu-mpi4py.pth /usr/local/lib/python3.12/dist-packages/osu-mpi4py.pth

COPY --from=build /opt/rocm-6.3.4 /opt/rocm-6.3.4

RUN command -v python3 >/dev/null || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends python3 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)

RUN rm -rf /opt/osu

ENV MPI4PY_LIBMPI=libmpi.so.12 \
    PYTHONNOUSERSITE=1 \
    PYTHONPATH=

ENTRYPOINT ["/opt/entrypoint/osu-entrypoint"]



LABEL org.opencontainers.image.licenses="0BSD AND Apache-2.0 AND Apache-2.0 WITH LLVM-exception AND BSD-2-Clause AND BSD-2-Clause OR GPL-2.0-only AND BSD-3-Clause AND CC0-1.0 AND GPL-2.0-only AND GPL-2.0-only OR BSD-2-Clause AND GPL-3.0-or-later WITH GCC-exception-3.1 AND ISC AND LGPL-2.1-or-later AND LGPL-2.1-or-later OR BSD-3-Clause AND MIT AND MPL-2.0 AND NCSA AND PSF-2.0 AND Zlib AND mpich2" \
    org.opencontainers.image.title="mpi4py 4.1.2 and NumPy 2.4.6 with MPICH 4.2.3" \
    org.opencontainers.image.version="1" \
    org.osu-container.entrypoint="/host/lib /host/usr" \
    org.osu-container.gpu="ROCm 6.3.4 gfx90a" \
    org.osu-container.libcxi="1.0.2-SHS12.0.2" \
    org.osu-container.libfabric="1.22.0" \
    org.osu-container.mpi="MPICH 4.2.3" \
    org.osu-container.osu="7.5.2 Python" \
    org.osu-container.recipe-version="1"
