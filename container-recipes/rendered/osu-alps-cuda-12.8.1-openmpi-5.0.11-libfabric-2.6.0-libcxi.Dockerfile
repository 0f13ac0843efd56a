# osu-alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi: approach openmpi on Alps (GH200); Open MPI 5 uses libfabric of the image, without a Slingshot hook
#
# Never built by this project: our tests reach no container registry, and have neither CUDA nor an aarch64 processor.
#
# Build it in the top folder of the repository:
#   scripts/osu-container image build osu-alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi --osu c
# or by hand, with the sources in sources/ (scripts/osu-container image fetch osu-alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi):
#   Apptainer      apptainer build --fakeroot osu.sif THIS_FILE
#   SingularityCE  singularity build osu.sif THIS_FILE, by an ordinary user, with proot on PATH
#   Docker         docker build -f THIS_FILE -t osu .
# Without a container registry, start from a folder: --build-arg BOOTSTRAP=localimage --build-arg BASE=FOLDER

FROM nvidia/cuda:12.8.1-devel-ubuntu24.04 AS network



RUN dpkg -s autoconf automake bzip2 ca-certificates file g++ gcc libc6-dev libconfig-dev libcurl4-openssl-dev libevent-dev libfuse-dev libibverbs-dev libjson-c-dev libnl-3-dev libnuma-dev libpciaccess-dev libsensors-dev libtool libtool-bin libuv1-dev libyaml-dev make perl pkg-config python3 zlib1g-dev >/dev/null 2>&1 || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends autoconf automake bzip2 ca-certificates file g++ gcc libc6-dev libconfig-dev libcurl4-openssl-dev libevent-dev libfuse-dev libibverbs-dev libjson-c-dev libnl-3-dev libnuma-dev libpciaccess-dev libsensors-dev libtool libtool-bin libuv1-dev libyaml-dev make perl pkg-config python3 zlib1g-dev && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)

COPY sources/gdrcopy-2.5.1.tar.gz /opt/files/gdrcopy-2.5.1.tar.gz
COPY sources/hwloc-2.12.2.tar.gz /opt/files/hwloc-2.12.2.tar.gz
COPY sources/libfabric-2.6.0.tar.bz2 /opt/files/libfabric-2.6.0.tar.bz2
COPY sources/shs-cassini-headers-2f6e60a44367.tar.gz /opt/files/shs-cassini-headers-2f6e60a44367.tar.gz
COPY sources/shs-cxi-driver-a1d91b2b0cca.tar.gz /opt/files/shs-cxi-driver-a1d91b2b0cca.tar.gz
COPY sources/shs-libcxi-9d460216fdc4.tar.gz /opt/files/shs-libcxi-9d460216fdc4.tar.gz
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

RUN gzip -cd /opt/files/shs-cassini-headers-2f6e60a44367.tar.gz | head -c 1024 | grep -aq "comment=2f6e60a44367ff7439dbb2315531b73fcf5dc4c8" && \
    gzip -cd /opt/files/shs-cxi-driver-a1d91b2b0cca.tar.gz | head -c 1024 | grep -aq "comment=a1d91b2b0cca3782b7587dadfe7f660e326b53cb" && \
    mkdir -p /opt/build/shs-cassini-headers && \
    tar -xf /opt/files/shs-cassini-headers-2f6e60a44367.tar.gz --strip-components=1 --no-same-owner -C /opt/build/shs-cassini-headers && \
    mkdir -p /opt/build/shs-cxi-driver && \
    tar -xf /opt/files/shs-cxi-driver-a1d91b2b0cca.tar.gz --strip-components=1 --no-same-owner -C /opt/build/shs-cxi-driver && \
    mkdir -p /opt/libcxi/include && \
    cp -r /opt/build/shs-cassini-headers-13.1.0/include/. /opt/libcxi/include/ && \
    cp -r /opt/build/shs-cxi-driver-13.1.0/include/. /opt/libcxi/include/ && \
    cp -r /opt/build/shs-cassini-headers-13.1.0/share/. /usr/share/ && \
    gzip -cd /opt/files/shs-libcxi-9d460216fdc4.tar.gz | head -c 1024 | grep -aq "comment=9d460216fdc449d53c5c3ff367bbc7c9c65c02fe" && \
    mkdir -p /opt/build/shs-libcxi && \
    tar -xf /opt/files/shs-libcxi-9d460216fdc4.tar.gz --strip-components=1 --no-same-owner -C /opt/build/shs-libcxi && \
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

FROM nvidia/cuda:12.8.1-devel-ubuntu24.04 AS mpi



RUN dpkg -s autoconf automake bzip2 ca-certificates file g++ gcc libc6-dev libconfig-dev libcurl4-openssl-dev libevent-dev libfuse-dev libibverbs-dev libjson-c-dev libnl-3-dev libnuma-dev libpciaccess-dev libsensors-dev libtool libtool-bin libuv1-dev libyaml-dev make perl pkg-config python3 zlib1g-dev >/dev/null 2>&1 || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends autoconf automake bzip2 ca-certificates file g++ gcc libc6-dev libconfig-dev libcurl4-openssl-dev libevent-dev libfuse-dev libibverbs-dev libjson-c-dev libnl-3-dev libnuma-dev libpciaccess-dev libsensors-dev libtool libtool-bin libuv1-dev libyaml-dev make perl pkg-config python3 zlib1g-dev && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)

COPY --from=network /opt/gdrcopy /opt/gdrcopy
COPY --from=network /opt/hwloc /opt/hwloc
COPY --from=network /opt/libcxi /opt/libcxi
COPY --from=network /opt/libfabric /opt/libfabric
COPY --from=network /opt/xpmem /opt/xpmem

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
        --with-libevent \
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
        --with-libevent=external \
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

FROM nvidia/cuda:12.8.1-devel-ubuntu24.04 AS benchmarks



RUN dpkg -s autoconf automake bzip2 ca-certificates file g++ gcc libc6-dev libconfig-dev libcurl4-openssl-dev libevent-dev libfuse-dev libibverbs-dev libjson-c-dev libnl-3-dev libnuma-dev libpciaccess-dev libsensors-dev libtool libtool-bin libuv1-dev libyaml-dev make perl pkg-config python3 zlib1g-dev >/dev/null 2>&1 || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends autoconf automake bzip2 ca-certificates file g++ gcc libc6-dev libconfig-dev libcurl4-openssl-dev libevent-dev libfuse-dev libibverbs-dev libjson-c-dev libnl-3-dev libnuma-dev libpciaccess-dev libsensors-dev libtool libtool-bin libuv1-dev libyaml-dev make perl pkg-config python3 zlib1g-dev && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)

COPY --from=network /opt/gdrcopy /opt/gdrcopy
COPY --from=network /opt/hwloc /opt/hwloc
COPY --from=network /opt/libcxi /opt/libcxi
COPY --from=network /opt/libfabric /opt/libfabric
COPY --from=network /opt/xpmem /opt/xpmem

COPY --from=mpi /opt/openmpi /opt/openmpi
COPY --from=mpi /opt/pmix /opt/pmix
COPY --from=mpi /opt/ucx /opt/ucx

COPY sources/osu-micro-benchmarks-7.5.2.tar.gz /opt/files/osu-micro-benchmarks-7.5.2.tar.gz

RUN printf '/opt/openmpi/lib\n/opt/pmix/lib\n/opt/ucx/lib\n/opt/hwloc/lib\n/opt/xpmem/lib\n/opt/gdrcopy/lib\n/opt/libcxi/lib\n/opt/libfabric/lib\n' >/etc/ld.so.conf.d/slingshot.conf && \
    ldconfig

RUN echo /usr/local/cuda/lib64/stubs >/etc/ld.so.conf.d/zz-cuda-stubs.conf && \
    ldconfig

RUN echo "618de3d0b1122f73a9229177d2da1e5cd62e431190580cb915f2605849cbbbdc  /opt/files/osu-micro-benchmarks-7.5.2.tar.gz" | sha256sum -c - && \
    mkdir -p /opt/build/osu /opt/osu/share/licenses && \
    tar --no-same-owner -xzf /opt/files/osu-micro-benchmarks-7.5.2.tar.gz --strip-components=1 -C /opt/build/osu && \
    cd /opt/build/osu && \
    ./configure --prefix=/opt/osu --enable-mpi4=no CC=/opt/openmpi/bin/mpicc CXX=/opt/openmpi/bin/mpicxx --enable-cuda --with-cuda-include=/usr/local/cuda/include --with-cuda-libpath=/usr/local/cuda/lib64 CFLAGS=-O2 CXXFLAGS=-O2 LDFLAGS=-L/usr/local/cuda/lib64/stubs LIBS="-lcuda -lnvidia-ml" && \
    make -j "$(nproc)" && \
    make install && \
    mkdir -p /opt/osu/bin && \
    find /opt/osu/libexec -type f -name 'osu_*' -perm -u+x -exec ln -s -t /opt/osu/bin '{}' + && \
    for text in COPYRIGHT* LICENSE*; do if [ -f "$text" ]; then cp "$text" /opt/osu/share/licenses/; fi; done && \
    if find /opt/osu -type f '(' -name '*.so*' -o -perm -u+x ')' -exec readelf -d {} + 2>/dev/null | grep '(RPATH)'; then echo 'RPATH found, RUNPATH wanted' >&2; exit 1; fi

RUN rm -f /etc/ld.so.conf.d/zz-cuda-stubs.conf /usr/local/cuda/lib64/stubs/lib*.so.1 && \
    ldconfig

FROM nvidia/cuda:12.8.1-base-ubuntu24.04 AS runtime



RUN dpkg -s ibverbs-providers libcurl4 libevent-core-2.1-7 libevent-pthreads-2.1-7 libibverbs1 libjson-c5 libnl-3-200 libnuma1 libpciaccess0 zlib1g >/dev/null 2>&1 || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends ibverbs-providers libcurl4 libevent-core-2.1-7 libevent-pthreads-2.1-7 libibverbs1 libjson-c5 libnl-3-200 libnuma1 libpciaccess0 zlib1g && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)

COPY --from=network /opt/gdrcopy/lib /opt/gdrcopy/lib
COPY --from=network /opt/gdrcopy/share /opt/gdrcopy/share
COPY --from=network /opt/hwloc/lib /opt/hwloc/lib
COPY --from=network /opt/hwloc/share /opt/hwloc/share
COPY --from=network /opt/libcxi/bin /opt/libcxi/bin
COPY --from=network /opt/libcxi/lib /opt/libcxi/lib
COPY --from=network /opt/libcxi/share /opt/libcxi/share
COPY --from=network /opt/libfabric/bin /opt/libfabric/bin
COPY --from=network /opt/libfabric/lib /opt/libfabric/lib
COPY --from=network /opt/libfabric/share /opt/libfabric/share
COPY --from=network /opt/xpmem/lib /opt/xpmem/lib
COPY --from=network /opt/xpmem/share /opt/xpmem/share

COPY --from=mpi /opt/openmpi /opt/openmpi
COPY --from=mpi /opt/pmix /opt/pmix
COPY --from=mpi /opt/ucx /opt/ucx

COPY --from=benchmarks /opt/osu /opt/osu

RUN printf '/opt/openmpi/lib\n/opt/pmix/lib\n/opt/ucx/lib\n/opt/hwloc/lib\n/opt/xpmem/lib\n/opt/gdrcopy/lib\n/opt/libcxi/lib\n/opt/libfabric/lib\n' >/etc/ld.so.conf.d/slingshot.conf && \
    ldconfig



LABEL org.opencontainers.image.licenses="(BSD-2-Clause OR GPL-2.0-only) AND (LGPL-2.1-or-later OR BSD-3-Clause) AND BSD-3-Clause AND BSD-3-Clause-Open-MPI AND LGPL-2.1-or-later AND LicenseRef-NVIDIA-CUDA AND MIT" \
    org.opencontainers.image.title="OSU Micro-Benchmarks with Open MPI 5.0.11 for Alps" \
    org.opencontainers.image.version="1" \
    org.osu-container.entrypoint="none" \
    org.osu-container.gpu="CUDA 12.8.1" \
    org.osu-container.libcxi="1.0.2-SHS13.1.0" \
    org.osu-container.libfabric="2.6.0" \
    org.osu-container.mpi="Open MPI 5.0.11" \
    org.osu-container.osu="7.5.2 C" \
    org.osu-container.recipe-version="1"
