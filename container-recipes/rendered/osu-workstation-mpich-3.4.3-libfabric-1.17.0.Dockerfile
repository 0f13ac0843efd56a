# OSU Micro-Benchmarks with MPICH 3.4.3, for a Linux machine without special network
#
# Contents:
#   Debian 12 with Python 3
#   MPICH 3.4.3 with libfabric 1.17.0 (PyPI wheel, and Debian 12), in /opt/mpich
#   OSU Micro-Benchmarks 7.5.2, built in C, in /opt/osu
#
# This image runs with the host's libfabric only (approaches bind and hybrid): libmpi.so.12 asks for FABRIC_1.7,
# libfabric 1.17.0 ends at FABRIC_1.6. It shows that this is known before a job fails.
#
# Building, in the top folder of the repository:
#   ours           bin/osu-container image build osu-workstation-mpich-3.4.3-libfabric-1.17.0
#   or by hand, with the sources in sources/ (bin/osu-container image fetch osu-workstation-mpich-3.4.3-libfabric-1.17.0):
#   Apptainer      apptainer build --fakeroot osu.sif container-recipes/rendered/osu-workstation-mpich-3.4.3-libfabric-1.17.0.def
#     a registry is not reached: make a folder with Debian 12 and Python 3, for example by mmdebstrap, and add
#                  --build-arg BOOTSTRAP=localimage --build-arg BASE=FOLDER
#   Docker         docker build -f container-recipes/rendered/osu-workstation-mpich-3.4.3-libfabric-1.17.0.Dockerfile -t osu .
#
# Running, two ranks on two nodes:
#   as modules     module load osu-container/pure; srun -N2 -n2 osu_bw H H
#   by hand        srun -N2 -n2 --mpi=pmi2 apptainer exec osu.sif /opt/osu/libexec/osu-micro-benchmarks/mpi/pt2pt/osu_latency

FROM debian:12.12-slim AS build



RUN command -v g++ >/dev/null || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends gcc g++ libc6-dev make python3 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)

COPY sources/mpich-3.4.3-py3-none-manylinux_2_28_x86_64.whl /opt/files/mpich-3.4.3-py3-none-manylinux_2_28_x86_64.whl
COPY sources/osu-micro-benchmarks-7.5.2.tar.gz /opt/files/osu-micro-benchmarks-7.5.2.tar.gz

RUN echo "6a256b7d5f54565631dc92e83d40bd3b148e7e77a1ac23aa2d5aca0358a463d0  /opt/files/mpich-3.4.3-py3-none-manylinux_2_28_x86_64.whl" | sha256sum -c - && \
    python3 -m zipfile -e /opt/files/mpich-3.4.3-py3-none-manylinux_2_28_x86_64.whl /opt/build/mpich && \
    cp -r /opt/build/mpich/mpich-3.4.3.data/data /opt/mpich && \
    chmod 755 /opt/mpich/bin/* && \
    mkdir -p /opt/mpich/share/licenses && \
    cp /opt/build/mpich/mpich-3.4.3.dist-info/licenses/* /opt/mpich/share/licenses/

RUN echo "618de3d0b1122f73a9229177d2da1e5cd62e431190580cb915f2605849cbbbdc  /opt/files/osu-micro-benchmarks-7.5.2.tar.gz" | sha256sum -c - && \
    mkdir -p /opt/build/osu /opt/osu/share/licenses && \
    tar -xzf /opt/files/osu-micro-benchmarks-7.5.2.tar.gz --strip-components=1 -C /opt/build/osu && \
    cd /opt/build/osu && \
    ./configure --prefix=/opt/osu CC=/opt/mpich/bin/mpicc CXX=/opt/mpich/bin/mpicxx CFLAGS=-O2 CXXFLAGS=-O2 && \
    make -j "$(nproc)" && \
    make install && \
    for text in COPYRIGHT* LICENSE*; do if [ -f "$text" ]; then cp "$text" /opt/osu/share/licenses/; fi; done && \
    if find /opt/osu/libexec -type f -name 'osu_*' -exec readelf -d {} + | grep '(RPATH)'; then echo "programs with RPATH, RUNPATH wanted" >&2; exit 1; fi

FROM debian:12.12-slim AS runtime



COPY --from=build /opt/mpich /opt/mpich
COPY --from=build /opt/osu /opt/osu

RUN command -v python3 >/dev/null || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends python3 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)

RUN rm -r /opt/mpich/lib/mpich/libfabric* && \
    apt-get -q update && \
    DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends "libfabric1=1.17.0*" && \
    rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /run/adduser

RUN printf '/opt/mpich/lib\n' >/etc/ld.so.conf.d/mpi.conf && \
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
    org.osu-container.libfabric="1.17.0" \
    org.osu-container.mpi="MPICH 3.4.3" \
    org.osu-container.osu="7.5.2 C" \
    org.osu-container.recipe-version="1"
