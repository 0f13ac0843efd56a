# OSU Micro-Benchmarks with Open MPI 5.0.11 and CUDA 12.8.1, for Alps: GH200 and Slingshot 11, part 2 of 3
#
# Contents:
#   what is in alps-cuda-12.8.1-libfabric-2.6.0-libcxi
#   Open MPI 5.0.11, PMIx 5.0.8 and UCX 1.20.0, each in a folder of its name in /opt
#
# Building, in the top folder of the repository:
#   ours           bin/osu-container image build alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi
#   or by hand, with the sources in sources/ (bin/osu-container image fetch alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi):
#   Apptainer      apptainer build --fakeroot osu.sif container-recipes/rendered/alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi.def
#     stands on sources/alps-cuda-12.8.1-libfabric-2.6.0-libcxi.sif; if that is in another place, add
#                  --build-arg BASE=FILE
#   Docker         docker build -f container-recipes/rendered/alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi.Dockerfile -t alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi .
#   The processor of the machine that builds is that of the image: Alps needs aarch64. A GPU is not needed.
#
# Running on Alps, two ranks on two nodes:
#   once           enroot import -x mount -o FILE.sqsh podman://alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi
#                  copy modules/alps/container-engine/osu-container-openmpi.toml to ~/.edf/ and name FILE.sqsh there
#   then           srun --mpi=pmix -N2 -n2 --environment=osu-container-openmpi /opt/osu/libexec/osu-micro-benchmarks/mpi/pt2pt/osu_latency D D
#
# Never built by this project: it has no GH200, and its test machines reach no registry.

FROM alps-cuda-12.8.1-libfabric-2.6.0-libcxi AS mpi



RUN dpkg -s autoconf automake bzip2 ca-certificates file g++ gcc libc6-dev libconfig-dev libcurl4-openssl-dev libevent-dev libfuse-dev libibverbs-dev libjson-c-dev libnl-3-dev libnuma-dev libpciaccess-dev libsensors-dev libtool libuv1-dev libyaml-dev make perl pkg-config python3 zlib1g-dev >/dev/null 2>&1 || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends autoconf automake bzip2 ca-certificates file g++ gcc libc6-dev libconfig-dev libcurl4-openssl-dev libevent-dev libfuse-dev libibverbs-dev libjson-c-dev libnl-3-dev libnuma-dev libpciaccess-dev libsensors-dev libtool libuv1-dev libyaml-dev make perl pkg-config python3 zlib1g-dev && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)

COPY sources/openmpi-5.0.11.tar.bz2 /opt/files/openmpi-5.0.11.tar.bz2
COPY sources/pmix-5.0.8.tar.bz2 /opt/files/pmix-5.0.8.tar.bz2
COPY sources/ucx-1.20.0.tar.gz /opt/files/ucx-1.20.0.tar.gz

RUN printf '/opt/openmpi/lib\n/opt/pmix/lib\n/opt/ucx/lib\n/opt/hwloc/lib\n/opt/xpmem/lib\n/opt/gdrcopy/lib\n/opt/libcxi/lib\n/opt/libfabric/lib\n' >/etc/ld.so.conf.d/slingshot.conf && \
    ldconfig

RUN echo /usr/local/cuda/lib64/stubs >/etc/ld.so.conf.d/zz-cuda-stubs.conf && \
    ldconfig

RUN echo "7c8a6093cada179aa1d851b83625e3b25ed5658966e309de5118c27a038c7ef9  /opt/files/ucx-1.20.0.tar.gz" | sha256sum -c - && \
    mkdir -p /opt/build/ucx && \
    tar -xf /opt/files/ucx-1.20.0.tar.gz --strip-components=1 --no-same-owner -C /opt/build/ucx && \
    cd /opt/build/ucx && \
    ./configure --prefix=/opt/ucx \
        --with-cuda=/usr/local/cuda \
        --with-gdrcopy=/opt/gdrcopy \
        --with-xpmem=/opt/xpmem \
        --without-go \
        --without-java \
        --without-rocm \
        --enable-mt \
        --disable-assertions \
        --disable-debug \
        --disable-logging \
        --disable-params-check \
        --disable-static && \
    make -j "$(nproc)" && \
    make install && \
    mkdir -p /opt/ucx/share/licenses && \
    for text in COPYING* COPYRIGHT* LICEN[CS]E*; do if [ -f "$text" ]; then cp "$text" /opt/ucx/share/licenses/; fi; done && \
    find /opt/ucx '(' -name '*.a' -o -name '*.la' ')' -delete && \
    cd / && \
    rm -rf /opt/build/ucx /opt/ucx/share/doc /opt/ucx/share/man && \
    ldconfig

RUN echo "bf5f0a341d0ec7f465627a7570f4dcda3b931bc859256428a35f6c72f13462d0  /opt/files/pmix-5.0.8.tar.bz2" | sha256sum -c - && \
    mkdir -p /opt/build/pmix && \
    tar -xf /opt/files/pmix-5.0.8.tar.bz2 --strip-components=1 --no-same-owner -C /opt/build/pmix && \
    cd /opt/build/pmix && \
    ./configure --prefix=/opt/pmix \
        --with-hwloc=/opt/hwloc \
        --with-libevent=/usr \
        --without-munge \
        --disable-static && \
    make -j "$(nproc)" && \
    make install && \
    mkdir -p /opt/pmix/share/licenses && \
    for text in COPYING* COPYRIGHT* LICEN[CS]E*; do if [ -f "$text" ]; then cp "$text" /opt/pmix/share/licenses/; fi; done && \
    find /opt/pmix '(' -name '*.a' -o -name '*.la' ')' -delete && \
    cd / && \
    rm -rf /opt/build/pmix /opt/pmix/share/doc /opt/pmix/share/man && \
    ldconfig

RUN echo "e668a3c4acd50c41dc204c8a6dd98a611e0f26af89cf677577fa9be8a2698003  /opt/files/openmpi-5.0.11.tar.bz2" | sha256sum -c - && \
    mkdir -p /opt/build/openmpi && \
    tar -xf /opt/files/openmpi-5.0.11.tar.bz2 --strip-components=1 --no-same-owner -C /opt/build/openmpi && \
    cd /opt/build/openmpi && \
    ./configure --prefix=/opt/openmpi \
        --with-ofi=/opt/libfabric \
        --with-ucx=/opt/ucx \
        --with-pmix=/opt/pmix \
        --with-hwloc=/opt/hwloc \
        --with-libevent=/usr \
        --with-prrte=internal \
        --with-xpmem=/opt/xpmem \
        --with-slurm \
        --with-cuda=/usr/local/cuda \
        --with-cuda-libdir=/usr/local/cuda/lib64/stubs \
        --enable-mca-dso=accelerator-cuda,btl-smcuda,rcache-gpusm,rcache-rgpusm \
        --enable-oshmem \
        --enable-mpi-fortran=no \
        --disable-static && \
    make -j "$(nproc)" && \
    make install && \
    mkdir -p /opt/openmpi/share/licenses && \
    for text in COPYING* COPYRIGHT* LICEN[CS]E*; do if [ -f "$text" ]; then cp "$text" /opt/openmpi/share/licenses/; fi; done && \
    find /opt/openmpi '(' -name '*.a' -o -name '*.la' ')' -delete && \
    cd / && \
    rm -rf /opt/build/openmpi /opt/openmpi/share/doc /opt/openmpi/share/man && \
    ldconfig && \
    if find /opt/openmpi /opt/pmix /opt/ucx -type f '(' -name '*.so*' -o -perm -u+x ')' -exec readelf -d {} + 2>/dev/null | grep '(RPATH)'; then echo 'RPATH found, RUNPATH wanted' >&2; exit 1; fi

RUN rm -f /etc/ld.so.conf.d/zz-cuda-stubs.conf /usr/local/cuda/lib64/stubs/lib*.so.1 && \
    ldconfig



LABEL org.opencontainers.image.licenses="(BSD-2-Clause OR GPL-2.0-only) AND (LGPL-2.1-or-later OR BSD-3-Clause) AND BSD-3-Clause AND BSD-3-Clause-Open-MPI AND LGPL-2.1-or-later AND LicenseRef-NVIDIA-CUDA AND MIT" \
    org.opencontainers.image.title="Base of an image for Alps" \
    org.opencontainers.image.version="1" \
    org.osu-container.entrypoint="none" \
    org.osu-container.gpu="CUDA 12.8.1" \
    org.osu-container.libcxi="1.0.2-SHS12.0.2" \
    org.osu-container.libfabric="2.6.0" \
    org.osu-container.mpi="Open MPI 5.0.11" \
    org.osu-container.osu="none" \
    org.osu-container.recipe-version="1"
