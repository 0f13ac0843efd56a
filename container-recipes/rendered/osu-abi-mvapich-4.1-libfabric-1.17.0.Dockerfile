# OSU Micro-Benchmarks with MVAPICH 4.1, whose libmpi.so.12 a host's can replace
#
# Contents:
#   Debian 12 with Python 3
#   MVAPICH 4.1 with libfabric 1.17.0 (Debian 12), in /opt/mvapich
#   OSU Micro-Benchmarks 7.5.2, built in C, in /opt/osu
#
# Untested: made after MVAPICH's guide and Spack's package, its source archive was not at hand.
#
# Building, in the top folder of the repository:
#   ours           bin/osu-container image build osu-abi-mvapich-4.1-libfabric-1.17.0
#   or by hand, with the sources in sources/ (bin/osu-container image fetch osu-abi-mvapich-4.1-libfabric-1.17.0):
#   Apptainer      apptainer build --fakeroot osu.sif container-recipes/rendered/osu-abi-mvapich-4.1-libfabric-1.17.0.def
#     a registry is not reached: make a folder with Debian 12 and Python 3, for example by mmdebstrap, and add
#                  --build-arg BOOTSTRAP=localimage --build-arg BASE=FOLDER
#   Docker         docker build -f container-recipes/rendered/osu-abi-mvapich-4.1-libfabric-1.17.0.Dockerfile -t osu .
#
# Running, two ranks on two nodes:
#   as modules     module load osu-container/pure; srun -N2 -n2 osu_bw H H
#   by hand        srun -N2 -n2 --mpi=pmi2 apptainer exec osu.sif /opt/osu/libexec/osu-micro-benchmarks/mpi/pt2pt/osu_latency

FROM debian:12.12-slim AS build



RUN command -v g++ >/dev/null || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends gcc g++ libc6-dev make python3 libfabric-dev && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)

COPY sources/mvapich-4.1.tar.gz /opt/files/mvapich-4.1.tar.gz
COPY sources/osu-micro-benchmarks-7.5.2.tar.gz /opt/files/osu-micro-benchmarks-7.5.2.tar.gz

RUN echo "25a53d3725b669e2c648158fb7c9fc5b1388953f3a2f949748586c447d0e43ee  /opt/files/mvapich-4.1.tar.gz" | sha256sum -c - && \
    mkdir -p /opt/build/mvapich /opt/mvapich/share/licenses && \
    tar -xzf /opt/files/mvapich-4.1.tar.gz --strip-components=1 -C /opt/build/mvapich && \
    cd /opt/build/mvapich && \
    ./configure --prefix=/opt/mvapich --with-device=ch4:ofi --with-libfabric=/usr --disable-fortran --disable-cuda --disable-hip --enable-shared --disable-static --enable-fast=O2 --enable-wrapper-rpath=no CFLAGS=-w && \
    make -j "$(nproc)" && \
    make install && \
    cp COPYRIGHT* /opt/mvapich/share/licenses/

RUN echo "618de3d0b1122f73a9229177d2da1e5cd62e431190580cb915f2605849cbbbdc  /opt/files/osu-micro-benchmarks-7.5.2.tar.gz" | sha256sum -c - && \
    mkdir -p /opt/build/osu /opt/osu/share/licenses && \
    tar -xzf /opt/files/osu-micro-benchmarks-7.5.2.tar.gz --strip-components=1 -C /opt/build/osu && \
    cd /opt/build/osu && \
    ./configure --prefix=/opt/osu CC=/opt/mvapich/bin/mpicc CXX=/opt/mvapich/bin/mpicxx CFLAGS=-O2 CXXFLAGS=-O2 && \
    make -j "$(nproc)" && \
    make install && \
    for text in COPYRIGHT* LICENSE*; do if [ -f "$text" ]; then cp "$text" /opt/osu/share/licenses/; fi; done && \
    if find /opt/osu/libexec -type f -name 'osu_*' -exec readelf -d {} + | grep '(RPATH)'; then echo "programs with RPATH, RUNPATH wanted" >&2; exit 1; fi

FROM debian:12.12-slim AS runtime



COPY --from=build /opt/mvapich /opt/mvapich
COPY --from=build /opt/osu /opt/osu

RUN command -v python3 >/dev/null || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends python3 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)

RUN apt-get -q update && \
    DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends "libfabric1=1.17.0*" && \
    rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /run/adduser

RUN printf '/opt/mvapich/lib\n' >/etc/ld.so.conf.d/mpi.conf && \
    ldconfig

COPY container-recipes/entrypoint/defaults /opt/entrypoint/defaults
COPY container-recipes/entrypoint/osu-entrypoint /opt/entrypoint/osu-entrypoint

RUN chmod 755 /opt/entrypoint/osu-entrypoint && \
    chmod 644 /opt/entrypoint/defaults

ENTRYPOINT ["/opt/entrypoint/osu-entrypoint"]



LABEL org.opencontainers.image.licenses="BSD-3-Clause AND mpich2" \
    org.opencontainers.image.title="OSU Micro-Benchmarks with MVAPICH 4.1" \
    org.opencontainers.image.version="1" \
    org.osu-container.entrypoint="/host/lib /host/usr" \
    org.osu-container.gpu="none" \
    org.osu-container.libcxi="none" \
    org.osu-container.libfabric="1.17.0" \
    org.osu-container.mpi="MVAPICH 4.1" \
    org.osu-container.osu="7.5.2 C" \
    org.osu-container.recipe-version="1"
