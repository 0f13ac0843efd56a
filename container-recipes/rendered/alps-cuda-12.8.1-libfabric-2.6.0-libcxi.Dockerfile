# OSU Micro-Benchmarks with Open MPI 5.0.11 and CUDA 12.8.1, for Alps: GH200 and Slingshot 11, part 1 of 3
#
# Contents:
#   CUDA on Ubuntu 24.04 (nvidia/cuda:12.8.1-devel-ubuntu24.04)
#   libfabric 2.6.0 with cxi, lnx and efa, in /opt/libfabric, and libcxi 1.0.2-SHS12.0.2, in /opt/libcxi
#
# Building, in the top folder of the repository:
#   ours           bin/osu-container image build alps-cuda-12.8.1-libfabric-2.6.0-libcxi
#   or by hand, with the sources in sources/ (bin/osu-container image fetch alps-cuda-12.8.1-libfabric-2.6.0-libcxi):
#   Apptainer      apptainer build --fakeroot osu.sif container-recipes/rendered/alps-cuda-12.8.1-libfabric-2.6.0-libcxi.def
#   Docker         docker build -f container-recipes/rendered/alps-cuda-12.8.1-libfabric-2.6.0-libcxi.Dockerfile -t alps-cuda-12.8.1-libfabric-2.6.0-libcxi .
#   The processor of the machine that builds is that of the image: Alps needs aarch64. A GPU is not needed.
#
# Running on Alps, two ranks on two nodes:
#   once           enroot import -x mount -o FILE.sqsh podman://alps-cuda-12.8.1-libfabric-2.6.0-libcxi
#                  copy modules/alps/container-engine/osu-container-openmpi.toml to ~/.edf/ and name FILE.sqsh there
#   then           srun --mpi=pmix -N2 -n2 --environment=osu-container-openmpi /opt/osu/libexec/osu-micro-benchmarks/mpi/pt2pt/osu_latency D D
#
# Never built by this project: it has no GH200, and its test machines reach no registry.

FROM nvidia/cuda:12.8.1-devel-ubuntu24.04 AS network



RUN dpkg -s autoconf automake bzip2 ca-certificates file g++ gcc libc6-dev libconfig-dev libcurl4-openssl-dev libevent-dev libfuse-dev libibverbs-dev libjson-c-dev libnl-3-dev libnuma-dev libpciaccess-dev libsensors-dev libtool libuv1-dev libyaml-dev make perl pkg-config python3 zlib1g-dev >/dev/null 2>&1 || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends autoconf automake bzip2 ca-certificates file g++ gcc libc6-dev libconfig-dev libcurl4-openssl-dev libevent-dev libfuse-dev libibverbs-dev libjson-c-dev libnl-3-dev libnuma-dev libpciaccess-dev libsensors-dev libtool libuv1-dev libyaml-dev make perl pkg-config python3 zlib1g-dev && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)

COPY sources/gdrcopy-2.5.1.tar.gz /opt/files/gdrcopy-2.5.1.tar.gz
COPY sources/hwloc-2.12.2.tar.gz /opt/files/hwloc-2.12.2.tar.gz
COPY sources/libfabric-2.6.0.tar.bz2 /opt/files/libfabric-2.6.0.tar.bz2
COPY sources/shs-cassini-headers-b3f65f01296e.tar.gz /opt/files/shs-cassini-headers-b3f65f01296e.tar.gz
COPY sources/shs-cxi-driver-27f7be52e4b1.tar.gz /opt/files/shs-cxi-driver-27f7be52e4b1.tar.gz
COPY sources/shs-libcxi-30fa2ddd65a2.tar.gz /opt/files/shs-libcxi-30fa2ddd65a2.tar.gz
COPY sources/xpmem-2.7.4.tar.gz /opt/files/xpmem-2.7.4.tar.gz

RUN printf '/opt/openmpi/lib\n/opt/pmix/lib\n/opt/ucx/lib\n/opt/hwloc/lib\n/opt/xpmem/lib\n/opt/gdrcopy/lib\n/opt/libcxi/lib\n/opt/libfabric/lib\n' >/etc/ld.so.conf.d/slingshot.conf && \
    ldconfig

RUN echo "ff7d309fdff7ceddfe15c1e79eaff25f3126a134f29f44d4e85571f187a6bab8  /opt/files/hwloc-2.12.2.tar.gz" | sha256sum -c - && \
    mkdir -p /opt/build/hwloc && \
    tar -xf /opt/files/hwloc-2.12.2.tar.gz --strip-components=1 --no-same-owner -C /opt/build/hwloc && \
    cd /opt/build/hwloc && \
    ./configure --prefix=/opt/hwloc \
        --disable-cairo \
        --disable-cuda \
        --disable-gl \
        --disable-levelzero \
        --disable-libudev \
        --disable-libxml2 \
        --disable-nvml \
        --disable-opencl \
        --disable-rsmi \
        --disable-static && \
    make -j "$(nproc)" && \
    make install && \
    mkdir -p /opt/hwloc/share/licenses && \
    for text in COPYING* COPYRIGHT* LICEN[CS]E*; do if [ -f "$text" ]; then cp "$text" /opt/hwloc/share/licenses/; fi; done && \
    find /opt/hwloc '(' -name '*.a' -o -name '*.la' ')' -delete && \
    cd / && \
    rm -rf /opt/build/hwloc /opt/hwloc/share/doc /opt/hwloc/share/man && \
    ldconfig

RUN echo "738c70041ce09dcc66b64d80aebc1479e779efe12a9c02217fba610e2ae61f18  /opt/files/xpmem-2.7.4.tar.gz" | sha256sum -c - && \
    mkdir -p /opt/build/xpmem && \
    tar -xf /opt/files/xpmem-2.7.4.tar.gz --strip-components=1 --no-same-owner -C /opt/build/xpmem && \
    cd /opt/build/xpmem && \
    ./autogen.sh && \
    ./configure --prefix=/opt/xpmem \
        --disable-kernel-module \
        --disable-static && \
    make -j "$(nproc)" && \
    make install && \
    mkdir -p /opt/xpmem/share/licenses && \
    for text in COPYING* COPYRIGHT* LICEN[CS]E*; do if [ -f "$text" ]; then cp "$text" /opt/xpmem/share/licenses/; fi; done && \
    find /opt/xpmem '(' -name '*.a' -o -name '*.la' ')' -delete && \
    cd / && \
    rm -rf /opt/build/xpmem /opt/xpmem/share/doc /opt/xpmem/share/man && \
    ldconfig

RUN echo "c6d5ebb7dabb89d798f27609511735595004da73af28d93ac041bb5290c4cbec  /opt/files/gdrcopy-2.5.1.tar.gz" | sha256sum -c - && \
    mkdir -p /opt/build/gdrcopy && \
    tar -xf /opt/files/gdrcopy-2.5.1.tar.gz --strip-components=1 --no-same-owner -C /opt/build/gdrcopy && \
    cd /opt/build/gdrcopy && \
    make prefix=/opt/gdrcopy libdir=/opt/gdrcopy/lib CUDA=/usr/local/cuda lib && \
    make prefix=/opt/gdrcopy libdir=/opt/gdrcopy/lib CUDA=/usr/local/cuda lib_install && \
    test -e /opt/gdrcopy/lib/libgdrapi.so.2 && \
    mkdir -p /opt/gdrcopy/share/licenses && \
    cp LICENSE /opt/gdrcopy/share/licenses/ && \
    cd / && \
    rm -rf /opt/build/gdrcopy

RUN gzip -cd /opt/files/shs-cassini-headers-b3f65f01296e.tar.gz | head -c 1024 | grep -aq "comment=b3f65f01296e4f486bb41fafed7ff6ee686cee8f" && \
    gzip -cd /opt/files/shs-cxi-driver-27f7be52e4b1.tar.gz | head -c 1024 | grep -aq "comment=27f7be52e4b1ee6e8ce0c5674352a60869c02105" && \
    mkdir -p /opt/build/shs-cassini-headers && \
    tar -xf /opt/files/shs-cassini-headers-b3f65f01296e.tar.gz --strip-components=1 --no-same-owner -C /opt/build/shs-cassini-headers && \
    mkdir -p /opt/build/shs-cxi-driver && \
    tar -xf /opt/files/shs-cxi-driver-27f7be52e4b1.tar.gz --strip-components=1 --no-same-owner -C /opt/build/shs-cxi-driver && \
    mkdir -p /opt/libcxi/include && \
    cp -r /opt/build/shs-cassini-headers/include/. /opt/libcxi/include/ && \
    cp -r /opt/build/shs-cxi-driver/include/. /opt/libcxi/include/ && \
    cp -r /opt/build/shs-cassini-headers/share/. /usr/share/ && \
    gzip -cd /opt/files/shs-libcxi-30fa2ddd65a2.tar.gz | head -c 1024 | grep -aq "comment=30fa2ddd65a2" && \
    mkdir -p /opt/build/shs-libcxi && \
    tar -xf /opt/files/shs-libcxi-30fa2ddd65a2.tar.gz --strip-components=1 --no-same-owner -C /opt/build/shs-libcxi && \
    cd /opt/build/shs-libcxi && \
    ./autogen.sh && \
    ./configure --prefix=/opt/libcxi \
        --disable-static \
        --without-cuda \
        --without-rocm \
        --without-systemd \
        --without-ze \
        --with-systemdsystemunitdir=/opt/libcxi/lib/systemd \
        --with-udevrulesdir=/opt/libcxi/lib/udev \
        CPPFLAGS=-I/opt/libcxi/include \
        CFLAGS="-O2 -Wno-error" && \
    make -j "$(nproc)" && \
    make install && \
    mkdir -p /opt/libcxi/share/licenses && \
    for text in COPYING* COPYRIGHT* LICEN[CS]E*; do if [ -f "$text" ]; then cp "$text" /opt/libcxi/share/licenses/; fi; done && \
    find /opt/libcxi '(' -name '*.a' -o -name '*.la' ')' -delete && \
    cd / && \
    rm -rf /opt/build/shs-libcxi /opt/libcxi/share/doc /opt/libcxi/share/man && \
    ldconfig && \
    find /opt/libcxi/bin -type f ! -name cxi_stat -delete && \
    rm -rf /opt/build/shs-*

RUN echo "1ee2ab6eb16462c0fe7a836f9df52b8f12309dfee3f3774aa93a86f521a8e8b1  /opt/files/libfabric-2.6.0.tar.bz2" | sha256sum -c - && \
    mkdir -p /opt/build/libfabric && \
    tar -xf /opt/files/libfabric-2.6.0.tar.bz2 --strip-components=1 --no-same-owner -C /opt/build/libfabric && \
    cd /opt/build/libfabric && \
    ./configure --prefix=/opt/libfabric \
        --disable-static \
        --with-cuda=/usr/local/cuda \
        --enable-cuda-dlopen \
        --with-gdrcopy=/opt/gdrcopy \
        --enable-gdrcopy-dlopen \
        --disable-opx \
        --disable-psm2 \
        --disable-psm3 \
        --disable-usnic \
        --disable-verbs \
        --enable-efa \
        --enable-lnx \
        --enable-xpmem=/opt/xpmem \
        --enable-cxi=/opt/libcxi \
        CPPFLAGS=-I/opt/libcxi/include && \
    make -j "$(nproc)" && \
    make install && \
    mkdir -p /opt/libfabric/share/licenses && \
    for text in COPYING* COPYRIGHT* LICEN[CS]E*; do if [ -f "$text" ]; then cp "$text" /opt/libfabric/share/licenses/; fi; done && \
    find /opt/libfabric '(' -name '*.a' -o -name '*.la' ')' -delete && \
    cd / && \
    rm -rf /opt/build/libfabric /opt/libfabric/share/doc /opt/libfabric/share/man && \
    ldconfig



LABEL org.opencontainers.image.licenses="(BSD-2-Clause OR GPL-2.0-only) AND (LGPL-2.1-or-later OR BSD-3-Clause) AND BSD-3-Clause AND LGPL-2.1-or-later AND LicenseRef-NVIDIA-CUDA AND MIT" \
    org.opencontainers.image.title="Base of an image for Alps" \
    org.opencontainers.image.version="1" \
    org.osu-container.entrypoint="none" \
    org.osu-container.gpu="CUDA 12.8.1" \
    org.osu-container.libcxi="1.0.2-SHS12.0.2" \
    org.osu-container.libfabric="2.6.0" \
    org.osu-container.mpi="none" \
    org.osu-container.osu="none" \
    org.osu-container.recipe-version="1"
