# OSU Micro-Benchmarks with MPICH 4.3.2 and ROCm 6.4.4, for LUMI: MI250X and Slingshot 11
#
# Contents:
#   Ubuntu (ubuntu:noble-20260610)
#   ROCm 6.4.4: HIP, RCCL and what they need, from AMD's packages, in /opt/rocm-6.4.4
#   libfabric 2.6.0 with its cxi provider and libcxi 1.0.2-SHS12.0.2, in /opt/libfabric
#   MPICH 4.3.2 in /opt/mpich, with HIP for gfx90a
#   aws-ofi-nccl 1.20.0, RCCL's plugin for libfabric, in /opt/rccl-plugin
#   OSU Micro-Benchmarks 7.5.2, built in C with ROCm and RCCL, in /opt/osu
#
# Building, in the top folder of the repository:
#   ours           bin/osu-container image build osu-lumi-rocm-6.4.4-mpich-4.3.2-libfabric-2.6.0-libcxi
#   or by hand, with the sources in sources/ (bin/osu-container image fetch osu-lumi-rocm-6.4.4-mpich-4.3.2-libfabric-2.6.0-libcxi):
#   Apptainer      apptainer build --fakeroot osu.sif container-recipes/rendered/osu-lumi-rocm-6.4.4-mpich-4.3.2-libfabric-2.6.0-libcxi.def
#     a registry is not reached: make a folder with that Ubuntu, and add
#                  --build-arg BOOTSTRAP=localimage --build-arg BASE=FOLDER
#   Docker         docker build -f container-recipes/rendered/osu-lumi-rocm-6.4.4-mpich-4.3.2-libfabric-2.6.0-libcxi.Dockerfile -t osu .
#   Either way repo.radeon.com (AMD) and an Ubuntu mirror must be reached; a GPU is not needed.
#
# Running on LUMI, two ranks on two nodes:
#   as modules     module load osu-container/opensource; srun -N2 -n2 --gpus-per-node=8 osu_bw D D
#   by hand        srun -N2 -n2 --mpi=pmi2 singularity exec osu.sif /opt/osu/libexec/osu-micro-benchmarks/mpi/pt2pt/osu_latency
#
# Never built by this project: it has no MI250X, and its test machines reach neither registry nor AMD.

FROM ubuntu:noble-20260610 AS rocm



RUN dpkg -s ca-certificates >/dev/null 2>&1 || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)

COPY sources/rocm.gpg.key /opt/files/rocm.gpg.key

RUN echo "2de99e2354646a90d9903e2a669fc4e36b02c1bbff7075c481e12d7edab2c88b  /opt/files/rocm.gpg.key" | sha256sum -c - && \
    install -D -m 644 /opt/files/rocm.gpg.key /etc/apt/keyrings/rocm.asc && \
    printf 'deb [arch=amd64 signed-by=/etc/apt/keyrings/rocm.asc] https://repo.radeon.com/%s noble main\n' rocm/apt/6.4.4 amdgpu/6.4.4/ubuntu >/etc/apt/sources.list.d/rocm.list && \
    printf 'Package: *\nPin: release o=repo.radeon.com\nPin-Priority: 600\n' >/etc/apt/preferences.d/rocm

RUN mkdir -p /opt/build/rocm && \
    cd /opt/build/rocm && \
    apt-get -q update && \
    apt-get -q -o APT::Sandbox::User=root download comgr hip-dev hip-runtime-amd hsa-rocr hsa-rocr-dev rccl rccl-dev rocm-core rocm-smi-lib rocprofiler-register roctracer && \
    mkdir -p /opt/rocm-6.4.4/share/dpkg/info && \
    for package in *.deb; do dpkg-deb -x "$package" /; name=$(dpkg-deb -f "$package" Package); { echo "Status: install ok installed"; dpkg-deb -f "$package"; echo; } >>/opt/rocm-6.4.4/share/dpkg/status; dpkg-deb --fsys-tarfile "$package" | tar -t | sed "s,^[.],,; s,/$,," >"/opt/rocm-6.4.4/share/dpkg/info/$name.list"; dpkg-deb -I "$package" md5sums >"/opt/rocm-6.4.4/share/dpkg/info/$name.md5sums" || true; done && \
    if [ ! -e /opt/rocm-6.4.4/lib/libhsa-runtime64.so ]; then ln -s libhsa-runtime64.so.1 /opt/rocm-6.4.4/lib/libhsa-runtime64.so; fi && \
    cd / && \
    rm -rf /opt/build/rocm /var/lib/apt/lists/*

FROM ubuntu:noble-20260610 AS network



RUN dpkg -s autoconf automake bzip2 ca-certificates file g++ gcc libc6-dev libconfig-dev libcurl4-openssl-dev libdrm-amdgpu1 libdrm2 libelf1 libfuse-dev libjson-c-dev libnl-3-dev libnuma-dev libnuma1 libpciaccess-dev libsensors-dev libtool libuv1-dev libyaml-dev make perl pkg-config python3 >/dev/null 2>&1 || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends autoconf automake bzip2 ca-certificates file g++ gcc libc6-dev libconfig-dev libcurl4-openssl-dev libdrm-amdgpu1 libdrm2 libelf1 libfuse-dev libjson-c-dev libnl-3-dev libnuma-dev libnuma1 libpciaccess-dev libsensors-dev libtool libuv1-dev libyaml-dev make perl pkg-config python3 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)

COPY sources/hwloc-2.12.2.tar.gz /opt/files/hwloc-2.12.2.tar.gz
COPY sources/libfabric-2.6.0.tar.bz2 /opt/files/libfabric-2.6.0.tar.bz2
COPY sources/shs-cassini-headers-b3f65f01296e.tar.gz /opt/files/shs-cassini-headers-b3f65f01296e.tar.gz
COPY sources/shs-cxi-driver-27f7be52e4b1.tar.gz /opt/files/shs-cxi-driver-27f7be52e4b1.tar.gz
COPY sources/shs-libcxi-30fa2ddd65a2.tar.gz /opt/files/shs-libcxi-30fa2ddd65a2.tar.gz
COPY sources/xpmem-2.7.4.tar.gz /opt/files/xpmem-2.7.4.tar.gz

COPY --from=rocm /opt/rocm-6.4.4 /opt/rocm-6.4.4

RUN printf '/opt/hwloc/lib\n/opt/libfabric/lib\n/opt/xpmem/lib\n/opt/libcxi/lib\n/opt/rocm-6.4.4/lib\n' >/etc/ld.so.conf.d/slingshot.conf && \
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
        --with-rocr=/opt/rocm-6.4.4 \
        --enable-rocr-dlopen \
        --disable-efa \
        --disable-opx \
        --disable-psm2 \
        --disable-psm3 \
        --disable-usnic \
        --disable-verbs \
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

FROM ubuntu:noble-20260610 AS mpi



RUN dpkg -s autoconf automake bzip2 ca-certificates file g++ gcc libc6-dev libcurl4 libjson-c5 libnl-3-200 libnuma1 libpciaccess0 libtool make perl pkg-config python3 >/dev/null 2>&1 || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends autoconf automake bzip2 ca-certificates file g++ gcc libc6-dev libcurl4 libjson-c5 libnl-3-200 libnuma1 libpciaccess0 libtool make perl pkg-config python3 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)

COPY sources/mpich-4.3.2.tar.gz /opt/files/mpich-4.3.2.tar.gz
COPY sources/rocm.gpg.key /opt/files/rocm.gpg.key

RUN echo "2de99e2354646a90d9903e2a669fc4e36b02c1bbff7075c481e12d7edab2c88b  /opt/files/rocm.gpg.key" | sha256sum -c - && \
    install -D -m 644 /opt/files/rocm.gpg.key /etc/apt/keyrings/rocm.asc && \
    printf 'deb [arch=amd64 signed-by=/etc/apt/keyrings/rocm.asc] https://repo.radeon.com/%s noble main\n' rocm/apt/6.4.4 amdgpu/6.4.4/ubuntu >/etc/apt/sources.list.d/rocm.list && \
    printf 'Package: *\nPin: release o=repo.radeon.com\nPin-Priority: 600\n' >/etc/apt/preferences.d/rocm

RUN dpkg -s hip-dev hip-runtime-amd hipcc rocm-device-libs >/dev/null 2>&1 || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends hip-dev hip-runtime-amd hipcc rocm-device-libs && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)

COPY --from=network /opt/hwloc /opt/hwloc
COPY --from=network /opt/libcxi /opt/libcxi
COPY --from=network /opt/libfabric /opt/libfabric
COPY --from=network /opt/xpmem /opt/xpmem

RUN printf '/opt/hwloc/lib\n/opt/libfabric/lib\n/opt/xpmem/lib\n/opt/libcxi/lib\n/opt/rocm-6.4.4/lib\n' >/etc/ld.so.conf.d/slingshot.conf && \
    ldconfig

RUN echo "47d774587a7156a53752218c811c852e70ac44db9c502dc3f399b4cb817e3818  /opt/files/mpich-4.3.2.tar.gz" | sha256sum -c - && \
    mkdir -p /opt/build/mpich && \
    tar -xf /opt/files/mpich-4.3.2.tar.gz --strip-components=1 --no-same-owner -C /opt/build/mpich && \
    cd /opt/build/mpich && \
    ./configure --prefix=/opt/mpich \
        --disable-fortran \
        --with-device=ch4:ofi \
        --with-libfabric=/opt/libfabric \
        --without-ucx \
        --without-cuda \
        --without-ze \
        --with-hwloc=/opt/hwloc \
        --with-xpmem=/opt/xpmem \
        --with-hip=/opt/rocm-6.4.4 \
        --with-hip-sm=gfx90a \
        --enable-fast=all,O3 && \
    make -j "$(nproc)" && \
    make install && \
    mkdir -p /opt/mpich/share/licenses && \
    for text in COPYING* COPYRIGHT* LICEN[CS]E*; do if [ -f "$text" ]; then cp "$text" /opt/mpich/share/licenses/; fi; done && \
    find /opt/mpich '(' -name '*.a' -o -name '*.la' ')' -delete && \
    cd / && \
    rm -rf /opt/build/mpich /opt/mpich/share/doc /opt/mpich/share/man && \
    ldconfig && \
    if find /opt/mpich -type f '(' -name '*.so*' -o -perm -u+x ')' -exec readelf -d {} + 2>/dev/null | grep '(RPATH)'; then echo 'RPATH found, RUNPATH wanted' >&2; exit 1; fi

FROM ubuntu:noble-20260610 AS plugin



RUN dpkg -s autoconf automake bzip2 ca-certificates file g++ gcc libc6-dev libcurl4 libdrm-amdgpu1 libdrm2 libelf1 libjson-c5 libnl-3-200 libnuma1 libpciaccess0 libtool make perl pkg-config python3 >/dev/null 2>&1 || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends autoconf automake bzip2 ca-certificates file g++ gcc libc6-dev libcurl4 libdrm-amdgpu1 libdrm2 libelf1 libjson-c5 libnl-3-200 libnuma1 libpciaccess0 libtool make perl pkg-config python3 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)

COPY sources/aws-ofi-nccl-1.20.0.tar.gz /opt/files/aws-ofi-nccl-1.20.0.tar.gz

COPY --from=rocm /opt/rocm-6.4.4 /opt/rocm-6.4.4

COPY --from=network /opt/hwloc /opt/hwloc
COPY --from=network /opt/libcxi /opt/libcxi
COPY --from=network /opt/libfabric /opt/libfabric
COPY --from=network /opt/xpmem /opt/xpmem

RUN printf '/opt/hwloc/lib\n/opt/libfabric/lib\n/opt/xpmem/lib\n/opt/libcxi/lib\n/opt/rocm-6.4.4/lib\n' >/etc/ld.so.conf.d/slingshot.conf && \
    ldconfig

RUN echo "2f723c4af5fc1fa4b3efd2025822b31b3af0c340f75a312a37e932b77b824250  /opt/files/aws-ofi-nccl-1.20.0.tar.gz" | sha256sum -c - && \
    mkdir -p /opt/build/aws-ofi-nccl && \
    tar -xf /opt/files/aws-ofi-nccl-1.20.0.tar.gz --strip-components=1 --no-same-owner -C /opt/build/aws-ofi-nccl && \
    cd /opt/build/aws-ofi-nccl && \
    ./configure --prefix=/opt/rccl-plugin \
        --with-libfabric=/opt/libfabric \
        --with-rocm=/opt/rocm-6.4.4 \
        --with-hwloc=/opt/hwloc \
        --disable-tests && \
    make -j "$(nproc)" && \
    make install && \
    mkdir -p /opt/rccl-plugin/share/licenses && \
    for text in COPYING* COPYRIGHT* LICEN[CS]E*; do if [ -f "$text" ]; then cp "$text" /opt/rccl-plugin/share/licenses/; fi; done && \
    find /opt/rccl-plugin '(' -name '*.a' -o -name '*.la' ')' -delete && \
    cd / && \
    rm -rf /opt/build/aws-ofi-nccl /opt/rccl-plugin/share/doc /opt/rccl-plugin/share/man && \
    ldconfig && \
    test -e /opt/rccl-plugin/lib/librccl-net.so && \
    if find /opt/rccl-plugin -type f '(' -name '*.so*' -o -perm -u+x ')' -exec readelf -d {} + 2>/dev/null | grep '(RPATH)'; then echo 'RPATH found, RUNPATH wanted' >&2; exit 1; fi

FROM ubuntu:noble-20260610 AS benchmarks



RUN dpkg -s autoconf automake bzip2 ca-certificates file g++ gcc libc6-dev libcurl4 libdrm-amdgpu1 libdrm2 libelf1 libjson-c5 libnl-3-200 libnuma1 libpciaccess0 libtool make perl pkg-config python3 >/dev/null 2>&1 || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends autoconf automake bzip2 ca-certificates file g++ gcc libc6-dev libcurl4 libdrm-amdgpu1 libdrm2 libelf1 libjson-c5 libnl-3-200 libnuma1 libpciaccess0 libtool make perl pkg-config python3 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)

COPY sources/osu-micro-benchmarks-7.5.2.tar.gz /opt/files/osu-micro-benchmarks-7.5.2.tar.gz

COPY --from=rocm /opt/rocm-6.4.4 /opt/rocm-6.4.4

COPY --from=network /opt/hwloc /opt/hwloc
COPY --from=network /opt/libcxi /opt/libcxi
COPY --from=network /opt/libfabric /opt/libfabric
COPY --from=network /opt/xpmem /opt/xpmem

COPY --from=mpi /opt/mpich /opt/mpich

RUN printf '/opt/mpich/lib\n/opt/hwloc/lib\n/opt/libfabric/lib\n/opt/xpmem/lib\n/opt/libcxi/lib\n/opt/rocm-6.4.4/lib\n' >/etc/ld.so.conf.d/slingshot.conf && \
    ldconfig

RUN echo "618de3d0b1122f73a9229177d2da1e5cd62e431190580cb915f2605849cbbbdc  /opt/files/osu-micro-benchmarks-7.5.2.tar.gz" | sha256sum -c - && \
    mkdir -p /opt/build/osu-micro-benchmarks && \
    tar -xf /opt/files/osu-micro-benchmarks-7.5.2.tar.gz --strip-components=1 --no-same-owner -C /opt/build/osu-micro-benchmarks && \
    cd /opt/build/osu-micro-benchmarks && \
    ./configure --prefix=/opt/osu \
        CC=/opt/mpich/bin/mpicc \
        CXX=/opt/mpich/bin/mpicxx \
        --enable-rocm --with-rocm=/opt/rocm-6.4.4 \
        --enable-rcclomb --with-rccl=/opt/rocm-6.4.4 \
        CFLAGS="-O2 -D__HIP_PLATFORM_AMD__=1" \
        CXXFLAGS="-O2 -D__HIP_PLATFORM_AMD__=1" && \
    make -j "$(nproc)" && \
    make install && \
    mkdir -p /opt/osu/share/licenses && \
    for text in COPYING* COPYRIGHT* LICEN[CS]E*; do if [ -f "$text" ]; then cp "$text" /opt/osu/share/licenses/; fi; done && \
    find /opt/osu '(' -name '*.a' -o -name '*.la' ')' -delete && \
    cd / && \
    rm -rf /opt/build/osu-micro-benchmarks /opt/osu/share/doc /opt/osu/share/man && \
    ldconfig && \
    if find /opt/osu -type f '(' -name '*.so*' -o -perm -u+x ')' -exec readelf -d {} + 2>/dev/null | grep '(RPATH)'; then echo 'RPATH found, RUNPATH wanted' >&2; exit 1; fi

FROM ubuntu:noble-20260610 AS runtime



RUN dpkg -s libcurl4 libdrm-amdgpu1 libdrm2 libelf1 libjson-c5 libnl-3-200 libnuma1 libpciaccess0 >/dev/null 2>&1 || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends libcurl4 libdrm-amdgpu1 libdrm2 libelf1 libjson-c5 libnl-3-200 libnuma1 libpciaccess0 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)

COPY --from=rocm /opt/rocm-6.4.4/lib /opt/rocm-6.4.4/lib
COPY --from=rocm /opt/rocm-6.4.4/share /opt/rocm-6.4.4/share

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

COPY --from=mpi /opt/mpich /opt/mpich

COPY --from=plugin /opt/rccl-plugin /opt/rccl-plugin

COPY --from=benchmarks /opt/osu /opt/osu

RUN printf '/opt/mpich/lib\n/opt/hwloc/lib\n/opt/libfabric/lib\n/opt/xpmem/lib\n/opt/libcxi/lib\n/opt/rccl-plugin/lib\n/opt/rocm-6.4.4/lib\n' >/etc/ld.so.conf.d/slingshot.conf && \
    ldconfig

COPY container-recipes/entrypoint/defaults /opt/entrypoint/defaults
COPY container-recipes/entrypoint/osu-entrypoint /opt/entrypoint/osu-entrypoint

RUN chmod 755 /opt/entrypoint/osu-entrypoint && \
    chmod 644 /opt/entrypoint/defaults

ENTRYPOINT ["/opt/entrypoint/osu-entrypoint"]



LABEL org.opencontainers.image.licenses="(BSD-2-Clause OR GPL-2.0-only) AND (LGPL-2.1-or-later OR BSD-3-Clause) AND Apache-2.0 AND Apache-2.0 WITH LLVM-exception AND BSD-3-Clause AND LGPL-2.1-or-later AND MIT AND NCSA AND mpich2" \
    org.opencontainers.image.title="OSU Micro-Benchmarks with MPICH 4.3.2 for LUMI" \
    org.opencontainers.image.version="1" \
    org.osu-container.entrypoint="/host/lib /host/usr" \
    org.osu-container.gpu="ROCm 6.4.4 gfx90a" \
    org.osu-container.libcxi="1.0.2-SHS12.0.2" \
    org.osu-container.libfabric="2.6.0" \
    org.osu-container.mpi="MPICH 4.3.2" \
    org.osu-container.osu="7.5.2 C" \
    org.osu-container.recipe-version="1"
