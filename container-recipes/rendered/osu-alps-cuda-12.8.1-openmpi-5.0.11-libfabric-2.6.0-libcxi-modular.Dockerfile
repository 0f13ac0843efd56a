# OSU Micro-Benchmarks with Open MPI 5.0.11 and CUDA 12.8.1, for Alps: GH200 and Slingshot 11, part 3 of 3
#
# Contents:
#   what is in alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi
#   OSU Micro-Benchmarks 7.5.2, built in C with CUDA, in /opt/osu
#
# Building, in the top folder of the repository:
#   ours           bin/osu-container image build osu-alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi-modular
#   or by hand, with the sources in sources/ (bin/osu-container image fetch osu-alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi-modular):
#   Apptainer      apptainer build --fakeroot osu.sif container-recipes/rendered/osu-alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi-modular.def
#     stands on sources/alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi.sif; if that is in another place, add
#                  --build-arg BASE=FILE
#   Docker         docker build -f container-recipes/rendered/osu-alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi-modular.Dockerfile -t osu-alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi-modular .
#   The processor of the machine that builds is that of the image: Alps needs aarch64. A GPU is not needed.
#
# Running on Alps, two ranks on two nodes:
#   once           enroot import -x mount -o FILE.sqsh podman://osu-alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi-modular
#                  copy modules/alps/container-engine/osu-container-openmpi.toml to ~/.edf/ and name FILE.sqsh there
#   then           srun --mpi=pmix -N2 -n2 --environment=osu-container-openmpi /opt/osu/libexec/osu-micro-benchmarks/mpi/pt2pt/osu_latency D D
#
# Never built by this project: it has no GH200, and its test machines reach no registry.

FROM alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi AS benchmarks



RUN dpkg -s autoconf automake bzip2 ca-certificates file g++ gcc libc6-dev libconfig-dev libcurl4-openssl-dev libevent-dev libfuse-dev libibverbs-dev libjson-c-dev libnl-3-dev libnuma-dev libpciaccess-dev libsensors-dev libtool libuv1-dev libyaml-dev make perl pkg-config python3 zlib1g-dev >/dev/null 2>&1 || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends autoconf automake bzip2 ca-certificates file g++ gcc libc6-dev libconfig-dev libcurl4-openssl-dev libevent-dev libfuse-dev libibverbs-dev libjson-c-dev libnl-3-dev libnuma-dev libpciaccess-dev libsensors-dev libtool libuv1-dev libyaml-dev make perl pkg-config python3 zlib1g-dev && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)

COPY sources/osu-micro-benchmarks-7.5.2.tar.gz /opt/files/osu-micro-benchmarks-7.5.2.tar.gz

RUN printf '/opt/openmpi/lib\n/opt/pmix/lib\n/opt/ucx/lib\n/opt/hwloc/lib\n/opt/xpmem/lib\n/opt/gdrcopy/lib\n/opt/libcxi/lib\n/opt/libfabric/lib\n' >/etc/ld.so.conf.d/slingshot.conf && \
    ldconfig

RUN echo /usr/local/cuda/lib64/stubs >/etc/ld.so.conf.d/zz-cuda-stubs.conf && \
    ldconfig

RUN echo "618de3d0b1122f73a9229177d2da1e5cd62e431190580cb915f2605849cbbbdc  /opt/files/osu-micro-benchmarks-7.5.2.tar.gz" | sha256sum -c - && \
    mkdir -p /opt/build/osu-micro-benchmarks && \
    tar -xf /opt/files/osu-micro-benchmarks-7.5.2.tar.gz --strip-components=1 --no-same-owner -C /opt/build/osu-micro-benchmarks && \
    cd /opt/build/osu-micro-benchmarks && \
    ./configure --prefix=/opt/osu \
        CC=/opt/openmpi/bin/mpicc \
        CXX=/opt/openmpi/bin/mpicxx \
        --enable-cuda --with-cuda-include=/usr/local/cuda/include --with-cuda-libpath=/usr/local/cuda/lib64 \
        CFLAGS=-O2 \
        CXXFLAGS=-O2 \
        LDFLAGS=-L/usr/local/cuda/lib64/stubs \
        LIBS="-lcuda -lnvidia-ml" && \
    make -j "$(nproc)" && \
    make install && \
    mkdir -p /opt/osu/share/licenses && \
    for text in COPYING* COPYRIGHT* LICEN[CS]E*; do if [ -f "$text" ]; then cp "$text" /opt/osu/share/licenses/; fi; done && \
    find /opt/osu '(' -name '*.a' -o -name '*.la' ')' -delete && \
    cd / && \
    rm -rf /opt/build/osu-micro-benchmarks /opt/osu/share/doc /opt/osu/share/man && \
    ldconfig && \
    if find /opt/osu -type f '(' -name '*.so*' -o -perm -u+x ')' -exec readelf -d {} + 2>/dev/null | grep '(RPATH)'; then echo 'RPATH found, RUNPATH wanted' >&2; exit 1; fi

RUN rm -f /etc/ld.so.conf.d/zz-cuda-stubs.conf /usr/local/cuda/lib64/stubs/lib*.so.1 && \
    ldconfig



LABEL org.opencontainers.image.licenses="(BSD-2-Clause OR GPL-2.0-only) AND (LGPL-2.1-or-later OR BSD-3-Clause) AND BSD-3-Clause AND BSD-3-Clause-Open-MPI AND LGPL-2.1-or-later AND LicenseRef-NVIDIA-CUDA AND MIT" \
    org.opencontainers.image.title="OSU Micro-Benchmarks with Open MPI 5.0.11 for Alps" \
    org.opencontainers.image.version="1" \
    org.osu-container.entrypoint="none" \
    org.osu-container.gpu="CUDA 12.8.1" \
    org.osu-container.libcxi="1.0.2-SHS12.0.2" \
    org.osu-container.libfabric="2.6.0" \
    org.osu-container.mpi="Open MPI 5.0.11" \
    org.osu-container.osu="7.5.2 C" \
    org.osu-container.recipe-version="1"
