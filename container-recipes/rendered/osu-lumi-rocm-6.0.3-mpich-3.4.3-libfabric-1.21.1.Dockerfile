# OSU Micro-Benchmarks with MPICH 3.4.3 and ROCm 6.0.3, for LUMI: MI250X and Slingshot 11
#
# Contents:
#   Ubuntu (ubuntu:jammy-20260627)
#   ROCm 6.0.3: HIP, RCCL and what they need, from AMD's packages, in /opt/rocm-6.0.3
#   libfabric 1.21.1, in /opt/libfabric
#   MPICH 3.4.3 in /opt/mpich
#   aws-ofi-rccl 17d41cb, RCCL's plugin for libfabric, in /opt/rccl-plugin
#   OSU Micro-Benchmarks 7.5.2, built in C with ROCm and RCCL, in /opt/osu
#
# Building, in the top folder of the repository:
#   ours           bin/osu-container image build osu-lumi-rocm-6.0.3-mpich-3.4.3-libfabric-1.21.1
#   or by hand, with the sources in sources/ (bin/osu-container image fetch osu-lumi-rocm-6.0.3-mpich-3.4.3-libfabric-1.21.1):
#   Apptainer      apptainer build --fakeroot osu.sif container-recipes/rendered/osu-lumi-rocm-6.0.3-mpich-3.4.3-libfabric-1.21.1.def
#     a registry is not reached: make a folder with that Ubuntu, and add
#                  --build-arg BOOTSTRAP=localimage --build-arg BASE=FOLDER
#   Docker         docker build -f container-recipes/rendered/osu-lumi-rocm-6.0.3-mpich-3.4.3-libfabric-1.21.1.Dockerfile -t osu .
#   Either way repo.radeon.com (AMD) and an Ubuntu mirror must be reached; a GPU is not needed.
#
# Running on LUMI, two ranks on two nodes:
#   as modules     module load osu-container/hybrid; srun -N2 -n2 --gpus-per-node=8 osu_bw D D
#   by hand        srun -N2 -n2 --mpi=pmi2 singularity exec osu.sif /opt/osu/libexec/osu-micro-benchmarks/mpi/pt2pt/osu_latency
#
# Never built by this project: it has no MI250X, and its test machines reach neither registry nor AMD.

FROM ubuntu:jammy-20260627 AS rocm



RUN dpkg -s ca-certificates >/dev/null 2>&1 || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)

COPY sources/rocm.gpg.key /opt/files/rocm.gpg.key

RUN echo "2de99e2354646a90d9903e2a669fc4e36b02c1bbff7075c481e12d7edab2c88b  /opt/files/rocm.gpg.key" | sha256sum -c - && \
    install -D -m 644 /opt/files/rocm.gpg.key /etc/apt/keyrings/rocm.asc && \
    printf 'deb [arch=amd64 signed-by=/etc/apt/keyrings/rocm.asc] https://repo.radeon.com/%s jammy main\n' rocm/apt/6.0.3 amdgpu/6.0.3/ubuntu >/etc/apt/sources.list.d/rocm.list && \
    printf 'Package: *\nPin: release o=repo.radeon.com\nPin-Priority: 600\n' >/etc/apt/preferences.d/rocm

RUN mkdir -p /opt/build/rocm && \
    cd /opt/build/rocm && \
    apt-get -q update && \
    apt-get -q -o APT::Sandbox::User=root download comgr hip-dev hip-runtime-amd hsa-rocr hsa-rocr-dev rccl rccl-dev rocm-core rocm-smi-lib && \
    mkdir -p /opt/rocm-6.0.3/share/dpkg/info && \
    for package in *.deb; do dpkg-deb -x "$package" /; name=$(dpkg-deb -f "$package" Package); { echo "Status: install ok installed"; dpkg-deb -f "$package"; echo; } >>/opt/rocm-6.0.3/share/dpkg/status; dpkg-deb --fsys-tarfile "$package" | tar -t | sed "s,^[.],,; s,/$,," >"/opt/rocm-6.0.3/share/dpkg/info/$name.list"; dpkg-deb -I "$package" md5sums >"/opt/rocm-6.0.3/share/dpkg/info/$name.md5sums" || true; done && \
    if [ ! -e /opt/rocm-6.0.3/lib/libhsa-runtime64.so ]; then ln -s libhsa-runtime64.so.1 /opt/rocm-6.0.3/lib/libhsa-runtime64.so; fi && \
    cd / && \
    rm -rf /opt/build/rocm /var/lib/apt/lists/*

FROM ubuntu:jammy-20260627 AS network



RUN dpkg -s autoconf automake bzip2 ca-certificates file g++ gcc libc6-dev libconfig-dev libcurl4-openssl-dev libdrm-amdgpu1 libdrm2 libelf1 libfuse-dev libjson-c-dev libnl-3-dev libnuma-dev libnuma1 libpciaccess-dev libsensors-dev libtool libuv1-dev libyaml-dev make perl pkg-config python3 >/dev/null 2>&1 || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends autoconf automake bzip2 ca-certificates file g++ gcc libc6-dev libconfig-dev libcurl4-openssl-dev libdrm-amdgpu1 libdrm2 libelf1 libfuse-dev libjson-c-dev libnl-3-dev libnuma-dev libnuma1 libpciaccess-dev libsensors-dev libtool libuv1-dev libyaml-dev make perl pkg-config python3 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)

COPY sources/hwloc-2.12.2.tar.gz /opt/files/hwloc-2.12.2.tar.gz
COPY sources/libfabric-1.21.1.tar.bz2 /opt/files/libfabric-1.21.1.tar.bz2
COPY sources/xpmem-2.7.4.tar.gz /opt/files/xpmem-2.7.4.tar.gz

COPY --from=rocm /opt/rocm-6.0.3 /opt/rocm-6.0.3

RUN printf '/opt/hwloc/lib\n/opt/libfabric/lib\n/opt/xpmem/lib\n/opt/rocm-6.0.3/lib\n' >/etc/ld.so.conf.d/slingshot.conf && \
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

RUN echo "54befa6697352f3179c79c4a79225ae71694f29eefad5d0d5a14b5444ff986dd  /opt/files/libfabric-1.21.1.tar.bz2" | sha256sum -c - && \
    mkdir -p /opt/build/libfabric && \
    tar -xf /opt/files/libfabric-1.21.1.tar.bz2 --strip-components=1 --no-same-owner -C /opt/build/libfabric && \
    cd /opt/build/libfabric && \
    ./configure --prefix=/opt/libfabric \
        --disable-static \
        --with-rocr=/opt/rocm-6.0.3 \
        --enable-rocr-dlopen \
        --disable-efa \
        --disable-opx \
        --disable-psm2 \
        --disable-psm3 \
        --disable-usnic \
        --disable-verbs \
        --enable-xpmem=/opt/xpmem && \
    make -j "$(nproc)" && \
    make install && \
    mkdir -p /opt/libfabric/share/licenses && \
    for text in COPYING* COPYRIGHT* LICEN[CS]E*; do if [ -f "$text" ]; then cp "$text" /opt/libfabric/share/licenses/; fi; done && \
    find /opt/libfabric '(' -name '*.a' -o -name '*.la' ')' -delete && \
    cd / && \
    rm -rf /opt/build/libfabric /opt/libfabric/share/doc /opt/libfabric/share/man && \
    ldconfig

FROM ubuntu:jammy-20260627 AS mpi



RUN dpkg -s autoconf automake bzip2 ca-certificates file g++ gcc libc6-dev libcurl4 libjson-c5 libnl-3-200 libnuma1 libpciaccess0 libtool make perl pkg-config python3 >/dev/null 2>&1 || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends autoconf automake bzip2 ca-certificates file g++ gcc libc6-dev libcurl4 libjson-c5 libnl-3-200 libnuma1 libpciaccess0 libtool make perl pkg-config python3 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)

COPY sources/mpich-3.4.3.tar.gz /opt/files/mpich-3.4.3.tar.gz

COPY --from=network /opt/hwloc /opt/hwloc
COPY --from=network /opt/libfabric /opt/libfabric
COPY --from=network /opt/xpmem /opt/xpmem

RUN printf '/opt/hwloc/lib\n/opt/libfabric/lib\n/opt/xpmem/lib\n/opt/rocm-6.0.3/lib\n' >/etc/ld.so.conf.d/slingshot.conf && \
    ldconfig

RUN echo "8154d89f3051903181018166678018155f4c2b6f04a9bb6fe9515656452c4fd7  /opt/files/mpich-3.4.3.tar.gz" | sha256sum -c - && \
    mkdir -p /opt/build/mpich && \
    tar -xf /opt/files/mpich-3.4.3.tar.gz --strip-components=1 --no-same-owner -C /opt/build/mpich && \
    cd /opt/build/mpich && \
    ./configure --prefix=/opt/mpich \
        --disable-fortran \
        --with-device=ch4:ofi \
        --with-libfabric=/opt/libfabric \
        --without-ucx \
        --without-cuda \
        --without-ze \
        --with-hwloc-prefix=/opt/hwloc && \
    make -j "$(nproc)" && \
    make install && \
    mkdir -p /opt/mpich/share/licenses && \
    for text in COPYING* COPYRIGHT* LICEN[CS]E*; do if [ -f "$text" ]; then cp "$text" /opt/mpich/share/licenses/; fi; done && \
    find /opt/mpich '(' -name '*.a' -o -name '*.la' ')' -delete && \
    cd / && \
    rm -rf /opt/build/mpich /opt/mpich/share/doc /opt/mpich/share/man && \
    ldconfig && \
    if find /opt/mpich -type f '(' -name '*.so*' -o -perm -u+x ')' -exec readelf -d {} + 2>/dev/null | grep '(RPATH)'; then echo 'RPATH found, RUNPATH wanted' >&2; exit 1; fi

FROM ubuntu:jammy-20260627 AS plugin



RUN dpkg -s autoconf automake bzip2 ca-certificates file g++ gcc libc6-dev libcurl4 libdrm-amdgpu1 libdrm2 libelf1 libjson-c5 libnl-3-200 libnuma1 libpciaccess0 libtool make perl pkg-config python3 >/dev/null 2>&1 || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends autoconf automake bzip2 ca-certificates file g++ gcc libc6-dev libcurl4 libdrm-amdgpu1 libdrm2 libelf1 libjson-c5 libnl-3-200 libnuma1 libpciaccess0 libtool make perl pkg-config python3 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)

COPY sources/aws-ofi-rccl-17d41cbf5618.tar.gz /opt/files/aws-ofi-rccl-17d41cbf5618.tar.gz

COPY --from=rocm /opt/rocm-6.0.3 /opt/rocm-6.0.3

COPY --from=network /opt/hwloc /opt/hwloc
COPY --from=network /opt/libfabric /opt/libfabric
COPY --from=network /opt/xpmem /opt/xpmem

RUN printf '/opt/hwloc/lib\n/opt/libfabric/lib\n/opt/xpmem/lib\n/opt/rocm-6.0.3/lib\n' >/etc/ld.so.conf.d/slingshot.conf && \
    ldconfig

RUN gzip -cd /opt/files/aws-ofi-rccl-17d41cbf5618.tar.gz | head -c 1024 | grep -aq "comment=17d41cbf5618536c4b1076d29748416ab307040f" && \
    mkdir -p /opt/build/aws-ofi-rccl && \
    tar -xf /opt/files/aws-ofi-rccl-17d41cbf5618.tar.gz --strip-components=1 --no-same-owner -C /opt/build/aws-ofi-rccl && \
    cd /opt/build/aws-ofi-rccl && \
    ./autogen.sh && \
    ./configure --prefix=/opt/rccl-plugin \
        --with-libfabric=/opt/libfabric \
        --with-hip=/opt/rocm-6.0.3 \
        --with-rccl=/opt/rocm-6.0.3 \
        --disable-tests \
        CPPFLAGS=-D__HIP_PLATFORM_AMD__=1 && \
    make -j "$(nproc)" && \
    make install && \
    mkdir -p /opt/rccl-plugin/share/licenses && \
    for text in COPYING* COPYRIGHT* LICEN[CS]E*; do if [ -f "$text" ]; then cp "$text" /opt/rccl-plugin/share/licenses/; fi; done && \
    find /opt/rccl-plugin '(' -name '*.a' -o -name '*.la' ')' -delete && \
    cd / && \
    rm -rf /opt/build/aws-ofi-rccl /opt/rccl-plugin/share/doc /opt/rccl-plugin/share/man && \
    ldconfig && \
    test -e /opt/rccl-plugin/lib/librccl-net.so && \
    if find /opt/rccl-plugin -type f '(' -name '*.so*' -o -perm -u+x ')' -exec readelf -d {} + 2>/dev/null | grep '(RPATH)'; then echo 'RPATH found, RUNPATH wanted' >&2; exit 1; fi

FROM ubuntu:jammy-20260627 AS benchmarks



RUN dpkg -s autoconf automake bzip2 ca-certificates file g++ gcc libc6-dev libcurl4 libdrm-amdgpu1 libdrm2 libelf1 libjson-c5 libnl-3-200 libnuma1 libpciaccess0 libtool make perl pkg-config python3 >/dev/null 2>&1 || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends autoconf automake bzip2 ca-certificates file g++ gcc libc6-dev libcurl4 libdrm-amdgpu1 libdrm2 libelf1 libjson-c5 libnl-3-200 libnuma1 libpciaccess0 libtool make perl pkg-config python3 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)

COPY sources/osu-micro-benchmarks-7.5.2.tar.gz /opt/files/osu-micro-benchmarks-7.5.2.tar.gz

COPY --from=rocm /opt/rocm-6.0.3 /opt/rocm-6.0.3

COPY --from=network /opt/hwloc /opt/hwloc
COPY --from=network /opt/libfabric /opt/libfabric
COPY --from=network /opt/xpmem /opt/xpmem

COPY --from=mpi /opt/mpich /opt/mpich

RUN printf '/opt/mpich/lib\n/opt/hwloc/lib\n/opt/libfabric/lib\n/opt/xpmem/lib\n/opt/rocm-6.0.3/lib\n' >/etc/ld.so.conf.d/slingshot.conf && \
    ldconfig

RUN echo "618de3d0b1122f73a9229177d2da1e5cd62e431190580cb915f2605849cbbbdc  /opt/files/osu-micro-benchmarks-7.5.2.tar.gz" | sha256sum -c - && \
    mkdir -p /opt/build/osu-micro-benchmarks && \
    tar -xf /opt/files/osu-micro-benchmarks-7.5.2.tar.gz --strip-components=1 --no-same-owner -C /opt/build/osu-micro-benchmarks && \
    cd /opt/build/osu-micro-benchmarks && \
    ./configure --prefix=/opt/osu \
        CC=/opt/mpich/bin/mpicc \
        CXX=/opt/mpich/bin/mpicxx \
        --enable-rocm --with-rocm=/opt/rocm-6.0.3 \
        --enable-rcclomb --with-rccl=/opt/rocm-6.0.3 \
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

FROM ubuntu:jammy-20260627 AS runtime



RUN dpkg -s libcurl4 libdrm-amdgpu1 libdrm2 libelf1 libjson-c5 libnl-3-200 libnuma1 libpciaccess0 >/dev/null 2>&1 || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install --no-install-recommends libcurl4 libdrm-amdgpu1 libdrm2 libelf1 libjson-c5 libnl-3-200 libnuma1 libpciaccess0 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)

COPY --from=rocm /opt/rocm-6.0.3/lib /opt/rocm-6.0.3/lib
COPY --from=rocm /opt/rocm-6.0.3/share /opt/rocm-6.0.3/share

COPY --from=network /opt/hwloc/lib /opt/hwloc/lib
COPY --from=network /opt/hwloc/share /opt/hwloc/share
COPY --from=network /opt/libfabric/bin /opt/libfabric/bin
COPY --from=network /opt/libfabric/lib /opt/libfabric/lib
COPY --from=network /opt/libfabric/share /opt/libfabric/share
COPY --from=network /opt/xpmem/lib /opt/xpmem/lib
COPY --from=network /opt/xpmem/share /opt/xpmem/share

COPY --from=mpi /opt/mpich /opt/mpich

COPY --from=plugin /opt/rccl-plugin /opt/rccl-plugin

COPY --from=benchmarks /opt/osu /opt/osu

RUN printf '/opt/mpich/lib\n/opt/hwloc/lib\n/opt/libfabric/lib\n/opt/xpmem/lib\n/opt/rccl-plugin/lib\n/opt/rocm-6.0.3/lib\n' >/etc/ld.so.conf.d/slingshot.conf && \
    ldconfig

COPY container-recipes/entrypoint/defaults /opt/entrypoint/defaults
COPY container-recipes/entrypoint/osu-entrypoint /opt/entrypoint/osu-entrypoint

RUN chmod 755 /opt/entrypoint/osu-entrypoint && \
    chmod 644 /opt/entrypoint/defaults

ENTRYPOINT ["/opt/entrypoint/osu-entrypoint"]



LABEL org.opencontainers.image.licenses="(BSD-2-Clause OR GPL-2.0-only) AND Apache-2.0 AND Apache-2.0 WITH LLVM-exception AND BSD-3-Clause AND LGPL-2.1-or-later AND MIT AND NCSA AND mpich2" \
    org.opencontainers.image.title="OSU Micro-Benchmarks with MPICH 3.4.3 for LUMI" \
    org.opencontainers.image.version="1" \
    org.osu-container.entrypoint="/host/lib /host/usr" \
    org.osu-container.gpu="ROCm 6.0.3 gfx90a" \
    org.osu-container.libcxi="none" \
    org.osu-container.libfabric="1.21.1" \
    org.osu-container.mpi="MPICH 3.4.3" \
    org.osu-container.osu="7.5.2 C" \
    org.osu-container.recipe-version="1"
