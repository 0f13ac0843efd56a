# OSU Micro-Benchmarks with Intel MPI 2021.19.0, whose libmpi.so.12 a host's can replace
#
# Contents:
#   Debian 12 with Python 3
#   Intel MPI 2021.19.0 with libfabric 1.17.0 (Debian 12), in /opt/intel-mpi
#   mpi4py 4.1.2 and its ports of the OSU Micro-Benchmarks, in /opt/osu
#
# Of Intel MPI there is what C programs need: libmpi, the process manager, general tuning. Its wheel has
# no libfabric. Intel Simplified Software License: may be used and passed on unmodified, together with
# the texts in /opt/intel-mpi/share/licenses.
#
# Building, in the top folder of the repository:
#   ours           bin/osu-container image build osu-abi-intel-mpi-2021.19.0-libfabric-1.17.0
#   or by hand, with the sources in sources/ (bin/osu-container image fetch osu-abi-intel-mpi-2021.19.0-libfabric-1.17.0):
#   Apptainer      apptainer build --fakeroot osu.sif container-recipes/rendered/osu-abi-intel-mpi-2021.19.0-libfabric-1.17.0-ports.def
#     a registry is not reached: make a folder with Debian 12 and Python 3, for example by mmdebstrap, and add
#                  --build-arg BOOTSTRAP=localimage --build-arg BASE=FOLDER
#   Docker         docker build -f container-recipes/rendered/osu-abi-intel-mpi-2021.19.0-libfabric-1.17.0-ports.Dockerfile -t osu .
#
# Running, two ranks on two nodes:
#   as modules     module load osu-container/pure; srun -N2 -n2 osu_bw H H
#   by hand        srun -N2 -n2 --mpi=pmi2 apptainer exec osu.sif /opt/osu/bin/osu_latency

FROM debian:12.12-slim AS build



RUN command -v python3 >/dev/null || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends python3 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)

COPY easyconfigs/o/osu-native/osu-port /opt/files/osu-port
COPY sources/impi_devel-2021.19.0-py2.py3-none-manylinux_2_28_x86_64.whl /opt/files/impi_devel-2021.19.0-py2.py3-none-manylinux_2_28_x86_64.whl
COPY sources/impi_rt-2021.19.0-py2.py3-none-manylinux_2_28_x86_64.whl /opt/files/impi_rt-2021.19.0-py2.py3-none-manylinux_2_28_x86_64.whl
COPY sources/mpi4py-4.1.2-cp311-cp311-manylinux1_x86_64.manylinux_2_5_x86_64.whl /opt/files/mpi4py-4.1.2-cp311-cp311-manylinux1_x86_64.manylinux_2_5_x86_64.whl
COPY sources/mpi4py-4.1.2.tar.gz /opt/files/mpi4py-4.1.2.tar.gz

RUN echo "708b4336c9d303a3d807b58054c502ed4f716dfb074dfa48904180b46d14bb40  /opt/files/impi_rt-2021.19.0-py2.py3-none-manylinux_2_28_x86_64.whl" | sha256sum -c - && \
    echo "50efbbc6eb3c41681fac95d2e9443af128d73b6bfbb61d827d894f93bab4b6ad  /opt/files/impi_devel-2021.19.0-py2.py3-none-manylinux_2_28_x86_64.whl" | sha256sum -c - && \
    python3 -m zipfile -e /opt/files/impi_rt-2021.19.0-py2.py3-none-manylinux_2_28_x86_64.whl /opt/build/intel-mpi && \
    python3 -m zipfile -e /opt/files/impi_devel-2021.19.0-py2.py3-none-manylinux_2_28_x86_64.whl /opt/build/intel-mpi && \
    mkdir -p /opt/intel-mpi/bin /opt/intel-mpi/lib /opt/intel-mpi/opt/mpi/etc /opt/intel-mpi/share/licenses && \
    install -m 755 -t /opt/intel-mpi/bin /opt/build/intel-mpi/impi_rt-2021.19.0.data/data/bin/mpiexec.hydra /opt/build/intel-mpi/impi_rt-2021.19.0.data/data/bin/hydra_bstrap_proxy /opt/build/intel-mpi/impi_rt-2021.19.0.data/data/bin/hydra_pmi_proxy && \
    cp /opt/build/intel-mpi/impi_rt-2021.19.0.data/data/lib/libmpi.so.12 /opt/intel-mpi/lib/ && \
    ln -s libmpi.so.12 /opt/intel-mpi/lib/libmpi.so && \
    cp /opt/build/intel-mpi/impi_rt-2021.19.0.data/data/opt/mpi/etc/tuning_generic_*.dat /opt/intel-mpi/opt/mpi/etc/ && \
    cp /opt/build/intel-mpi/impi_rt-2021.19.0.data/data/share/doc/mpi/licensing/* /opt/intel-mpi/share/licenses/

RUN printf '#!/bin/sh\nexec gcc -I/opt/build/intel-mpi/impi_devel-2021.19.0.data/data/include "$@" -L/opt/intel-mpi/lib -Wl,-rpath,/opt/intel-mpi/lib -Wl,--enable-new-dtags -lmpi\n' >/opt/build/mpicc && \
    printf '#!/bin/sh\nexec g++ -I/opt/build/intel-mpi/impi_devel-2021.19.0.data/data/include "$@" -L/opt/intel-mpi/lib -Wl,-rpath,/opt/intel-mpi/lib -Wl,--enable-new-dtags -lmpi\n' >/opt/build/mpicxx && \
    chmod 755 /opt/build/mpicc /opt/build/mpicxx

RUN echo "56860286dc45f20e8821e93cb06669e30462348bf866f685553fa4b712d58d02  /opt/files/mpi4py-4.1.2.tar.gz" | sha256sum -c - && \
    echo "de484475b80f9e1ffe98cb85e1b776eb9f42bb73ae4d79449d42953f80025bf4  /opt/files/mpi4py-4.1.2-cp311-cp311-manylinux1_x86_64.manylinux_2_5_x86_64.whl" | sha256sum -c - && \
    mkdir -p /opt/osu/bin /opt/osu/libexec/ports /opt/osu/lib/python /opt/osu/share/licenses && \
    tar -xzf /opt/files/mpi4py-4.1.2.tar.gz -C /opt/build && \
    cp /opt/build/mpi4py-4.1.2/demo/osu_*.py /opt/osu/libexec/ports/ && \
    cp /opt/build/mpi4py-4.1.2/LICENSE.rst /opt/osu/share/licenses/ && \
    python3 -m zipfile -e /opt/files/mpi4py-4.1.2-cp311-cp311-manylinux1_x86_64.manylinux_2_5_x86_64.whl /opt/osu/lib/python && \
    install -m 755 /opt/files/osu-port /opt/osu/libexec/osu-port && \
    for port in /opt/osu/libexec/ports/osu_*.py; do ln -s ../libexec/osu-port "/opt/osu/bin/$(basename "$port" .py)"; done && \
    ln -s ../libexec/osu-port /opt/osu/bin/osu_get_bw && \
    python3 -m compileall -q /opt/osu/lib/python /opt/osu/libexec/ports

FROM debian:12.12-slim AS runtime



COPY --from=build /opt/intel-mpi /opt/intel-mpi
COPY --from=build /opt/osu /opt/osu

RUN command -v python3 >/dev/null || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends python3 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)

RUN apt-get -q update && \
    DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends "libfabric1=1.17.0*" && \
    rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /run/adduser

RUN printf '/opt/intel-mpi/lib\n' >/etc/ld.so.conf.d/mpi.conf && \
    ldconfig

COPY container-recipes/entrypoint/defaults /opt/entrypoint/defaults
COPY container-recipes/entrypoint/osu-entrypoint /opt/entrypoint/osu-entrypoint

RUN chmod 755 /opt/entrypoint/osu-entrypoint && \
    chmod 644 /opt/entrypoint/defaults

ENTRYPOINT ["/opt/entrypoint/osu-entrypoint"]



LABEL org.opencontainers.image.licenses="BSD-3-Clause AND LicenseRef-scancode-issl-2022" \
    org.opencontainers.image.title="OSU Micro-Benchmarks with Intel MPI 2021.19.0" \
    org.opencontainers.image.version="1" \
    org.osu-container.entrypoint="/host/lib /host/usr" \
    org.osu-container.gpu="none" \
    org.osu-container.libcxi="none" \
    org.osu-container.libfabric="1.17.0" \
    org.osu-container.mpi="Intel MPI 2021.19.0" \
    org.osu-container.osu="mpi4py 4.1.2 ports" \
    org.osu-container.recipe-version="1"
