# OSU Micro-Benchmarks with MPICH 3.4.3, for a Linux machine without special network
#
# Contents:
#   Debian 12 with Python 3
#   MPICH 3.4.3 with libfabric 1.22.0 (PyPI wheel), in /opt/mpich
#   mpi4py 4.1.2 and its ports of the OSU Micro-Benchmarks, in /opt/osu
#
# Building, in the top folder of the repository:
#   ours           bin/osu-container image build osu-workstation-mpich-3.4.3-libfabric-1.22.0
#   or by hand, with the sources in sources/ (bin/osu-container image fetch osu-workstation-mpich-3.4.3-libfabric-1.22.0):
#   Apptainer      apptainer build --fakeroot osu.sif container-recipes/rendered/osu-workstation-mpich-3.4.3-libfabric-1.22.0-ports.def
#     a registry is not reached: make a folder with Debian 12 and Python 3, for example by mmdebstrap, and add
#                  --build-arg BOOTSTRAP=localimage --build-arg BASE=FOLDER
#   Docker         docker build -f container-recipes/rendered/osu-workstation-mpich-3.4.3-libfabric-1.22.0-ports.Dockerfile -t osu .
#
# Running, two ranks on two nodes:
#   as modules     module load osu-container/pure; srun -N2 -n2 osu_bw H H
#   by hand        srun -N2 -n2 --mpi=pmi2 apptainer exec osu.sif /opt/osu/bin/osu_latency

FROM debian:12.12-slim AS build



RUN command -v python3 >/dev/null || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends python3 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)

COPY easyconfigs/o/osu-native/osu-port /opt/files/osu-port
COPY sources/mpi4py-4.1.2-cp311-cp311-manylinux1_x86_64.manylinux_2_5_x86_64.whl /opt/files/mpi4py-4.1.2-cp311-cp311-manylinux1_x86_64.manylinux_2_5_x86_64.whl
COPY sources/mpi4py-4.1.2.tar.gz /opt/files/mpi4py-4.1.2.tar.gz
COPY sources/mpich-3.4.3-py3-none-manylinux_2_28_x86_64.whl /opt/files/mpich-3.4.3-py3-none-manylinux_2_28_x86_64.whl

RUN echo "6a256b7d5f54565631dc92e83d40bd3b148e7e77a1ac23aa2d5aca0358a463d0  /opt/files/mpich-3.4.3-py3-none-manylinux_2_28_x86_64.whl" | sha256sum -c - && \
    python3 -m zipfile -e /opt/files/mpich-3.4.3-py3-none-manylinux_2_28_x86_64.whl /opt/build/mpich && \
    cp -r /opt/build/mpich/mpich-3.4.3.data/data /opt/mpich && \
    chmod 755 /opt/mpich/bin/* && \
    mkdir -p /opt/mpich/share/licenses && \
    cp /opt/build/mpich/mpich-3.4.3.dist-info/licenses/* /opt/mpich/share/licenses/

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



COPY --from=build /opt/mpich /opt/mpich
COPY --from=build /opt/osu /opt/osu

RUN command -v python3 >/dev/null || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends python3 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)

RUN mkdir -p /opt/libfabric/lib && \
    ln -s /opt/mpich/lib/mpich/libfabric.so.1 /opt/libfabric/lib/libfabric.so.1 && \
    printf '/opt/mpich/lib\n/opt/libfabric/lib\n' >/etc/ld.so.conf.d/mpi.conf && \
    ldconfig

COPY container-recipes/entrypoint/defaults /opt/entrypoint/defaults
COPY container-recipes/entrypoint/osu-entrypoint /opt/entrypoint/osu-entrypoint

RUN chmod 755 /opt/entrypoint/osu-entrypoint && \
    chmod 644 /opt/entrypoint/defaults

ENTRYPOINT ["/opt/entrypoint/osu-entrypoint"]



LABEL org.opencontainers.image.licenses="BSD-2-Clause AND BSD-3-Clause AND MIT AND mpich2" \
    org.opencontainers.image.title="OSU Micro-Benchmarks with MPICH 3.4.3" \
    org.opencontainers.image.version="1" \
    org.osu-container.entrypoint="/host/lib /host/usr" \
    org.osu-container.gpu="none" \
    org.osu-container.libcxi="none" \
    org.osu-container.libfabric="1.22.0" \
    org.osu-container.mpi="MPICH 3.4.3" \
    org.osu-container.osu="mpi4py 4.1.2 ports" \
    org.osu-container.recipe-version="1"
