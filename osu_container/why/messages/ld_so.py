"""What the loader of libraries says."""

ENTRIES = [
    {'name': "libfabric too old",
     'patterns': [(" not found",
                   r"(?P<version>FABRIC_[\d.]*\d)['\u2019\x22`]? not found(?: \(required by "
                   r"(?P<by>[^)\n]{1,300})\))?")],
     'cause': "The libfabric that was found is older than the one that {by} was built with: it does not have "
              "{version}.",
     'remedy': "Use pure or opensource, whose libfabric is the image's; or an image whose MPI was built with an "
               "older libfabric (1.7 comes with 1.20, 1.8 with 2.0, 1.9 with 2.5). Is a folder with a libfabric on "
               "your own LD_LIBRARY_PATH? If the host was updated: install the module again.",
     'source': "libfabric, libfabric.map.in by release; seen by this project, 2026-11"},
    {'name': "C library too old",
     'patterns': [(" not found",
                   r"(?P<version>GLIBC_\w[\w.]{0,40})['\u2019\x22`]? not found(?: \(required by "
                   r"(?P<by>[^)\n]{1,300})\))?")],
     'cause': "{by} needs {version}, and the C library of the image (or, outside of it, of the host) is older. A "
              "library of the host that is put into the container runs with the image's C library.",
     'remedy': "Use an image of a distribution at least as new as the host, or an approach that brings less of the "
               "host in: opensource, or pure. Take --rocm and --nv away if you have added them.",
     'source': "github.com/apptainer/apptainer, pull request 2606, issues 1621 and 3041",
     'unless': ["parts of glibc of two releases"]},
    {'name': "C++ library too old",
     'patterns': [(" not found",
                   r"(?P<version>GLIBCXX_[\w.]{1,40}|CXXABI_[\w.]{1,40}|GCC_[\d.]+)['\u2019\x22`]? not found(?: "
                   r"\(required by (?P<by>[^)\n]{1,300})\))?")],
     'cause': "{by} needs {version} of the compiler's libraries (libstdc++, libgcc), and those that were found are "
              "older.",
     'remedy': "Use an image with a newer compiler, or an approach that brings less of the host in. If a module of "
               "the host has set LD_LIBRARY_PATH, unload it.",
     'source': "github.com/apptainer/apptainer, issue 1621"},
    {'name': "library of another version",
     'patterns': [(" not found",
                   r"version [`'](?!FABRIC_|GLIBC|CXXABI_|GCC_)(?P<version>[^\s'`]+)['\u2019\x22`]? not found(?: "
                   r"\(required by (?P<by>[^)\n]{1,300})\))?")],
     'cause': "{by} was built with another release of a library than the one that was found: it lacks {version}.",
     'remedy': "The library is named in front of the message: see what puts it there (osu-explain lists what the "
               "module binds), and use one that fits.",
     'source': "glibc, ld.so(8); seen by this project, 2026-11"},
    {'name': "missing library",
     'patterns': [(": cannot open shared object file",
                   r"(?:^|[\s:'(])(?P<library>[^\s:'(]{0,300}lib(?:cxi|fabric|pmi2?|pmix|palsd?|xpmem|dsmml"
                   r"|mpi_gtl\w*|json-c|curl|lustreapi|nl-\w+|rdmacm|ibverbs|efa|psm\w*|uc[mpst]"
                   r"|sci_\w+)\.so[^\s:'(]{0,80}): cannot open shared object file(?![^\n]{0,80}\(ignored\))")],
     'cause': "{library} is needed and found nowhere: neither in the image nor among what is injected.",
     'remedy': "The modules check this when they are installed, so the host has changed since: Install the module "
               "again: eb osu-container-APPROACH.eb -r --rebuild. If it is on the host in another folder, add that "
               "to library_folders of the site (docs/add-a-site.md).",
     'source': "glibc, ld.so(8); seen by this project, 2026-11"},
    {'name': "ROCm of another release",
     'patterns': [(": cannot open shared object file",
                   r"(?P<library>lib(?:amdhip64|hsa-runtime64|amd_comgr)\.so[.\d]*): cannot open shared object file")],
     'cause': "{library} is of ROCm. What needs it was built with another major release of ROCm than the one that "
              "is there, or there is none.",
     'remedy': "Use an image with ROCm of the same major release as the host's MPI: Cray MPICH up to 25.09 wants "
               "ROCm 6, also where the image brings 7. The name without a number is what libfabric itself opens; "
               "some distributions have it in the -dev package only.",
     'source': "LUMI training, update of January 2026; libfabric, src/hmem_rocr.c"},
    {'name': "preloaded library missing",
     'patterns': [("' from LD_PRELOAD cannot be preloaded",
                   r"object '(?P<library>[^'\n]+)' from LD_PRELOAD cannot be preloaded")],
     'cause': "LD_PRELOAD names {library}, which is not there or does not fit; the program goes on without it, with "
              "another MPI than was meant.",
     'remedy': "Is it your own LD_PRELOAD? Unset it. If it is the module's (osu-explain LD_PRELOAD), the host has "
               "changed: Install the module again: eb osu-container-APPROACH.eb -r --rebuild.",
     'source': "glibc, ld.so(8); seen by this project, 2026-11"},
    {'name': "libcxi too old",
     'patterns': [("undefined symbol: cxi", r"undefined symbol: (?P<symbol>cxil?_\w+)")],
     'cause': "libfabric's provider cxi calls {symbol}, which this libcxi does not have: libfabric is newer.",
     'remedy': "opensource: build the image's libcxi and libfabric from releases that belong together (libfabric "
               "2.5.0 wants the libcxi of January 2026). hybrid: the host's libcxi belongs to the host's libfabric; "
               "see which of both comes from the image (srun osu_container/rank-proof FOLDER PROGRAM).",
     'source': "github.com/ofiwg/libfabric, issues 9835 and 12036"},
    {'name': "undefined symbol",
     'patterns': [("undefined symbol: ",
                   r"undefined symbol: (?!cxil?_)(?P<symbol>[^\s,]+)(?![^\n]{0,80}\(ignored\))")],
     'cause': "A library was found that lacks the function {symbol}: it is another release, or another library of "
              "the same name, than the program was built with.",
     'remedy': "The library that needs it stands in front of the message. See which files are loaded (srun "
               "osu_container/rank-proof FOLDER PROGRAM), and take away the folder or the preload that brings the "
               "wrong one. If the host was updated: install the module again.",
     'source': "glibc, ld.so(8); seen by this project, 2026-11",
     'unless': ["library of CUDA of another release", "parts of glibc of two releases"]},
    {'name': "file of another architecture",
     'patterns': [("wrong ELF class", "(?P<what>wrong ELF class)"),
                  ("invalid ELF header", "(?P<what>invalid ELF header)"),
                  ("Exec format error", "(?P<what>Exec format error)")],
     'cause': "The file is for another kind of processor, or it is no program or library ({what}).",
     'remedy': "Use an image for this architecture (uname -m): LUMI and workstations are x86_64, Alps is aarch64. A "
               "path of the site may lead to a linker script instead of a library.",
     'source': "glibc, ld.so(8); seen by this project, 2026-11"},
    {'name': "library that libtree or lddtree misses",
     'patterns': [(" not found", r"── (?P<library>lib\S{1,100}\.so\S{0,20}) not found")],
     'cause': "{library} is in no folder that the loader searches for this program: not in its rpath, not on "
              "LD_LIBRARY_PATH, not in the loader's cache. Cray MPICH relies on the module of libfabric to name the "
              "folder.",
     'remedy': "Load the module that has it (module load libfabric; in a container bind its folder), or put the "
               "folder into LD_LIBRARY_PATH: find / -name 'LIBRARY*'.",
     'source': "ld.so(8); libtree, README; github.com/spack/spack, pull request 29392"},
    {'name': "library not in the image",
     'patterns': [(": cannot open shared object file",
                   r"(?:^|[\s:'(])(?![^\s:'(]{0,300}(?:lib(?:cxi|fabric|pmi2?|pmix|palsd?|xpmem|dsmml|mpi_gtl\w*"
                   r"|json-c|curl|lustreapi|nl-\w+|rdmacm|ibverbs|efa|psm\w*|uc[mpst]|sci_\w+|mpi\w*|amdhip64"
                   r"|hsa-runtime64|amd_comgr|[nr]ccl-net[\w-]*|cuda|nvidia-[\w-]+|slurm\w*|Qt[56]Core)\.so"
                   r"|-rdmav\d+\.so))(?P<library>[^\s:'(]+): cannot open shared object file(?!: "
                   r"(?:Structure|Input/output|Stale|Permission))(?![^\n]{0,80}\(ignored\))"),
                  (": cannot open shared object f",
                   r"loading shared libraries: (?P<library>[^\s:]+): cannot open shared object f(?:\.\.\.|$)"),
                  (" failed: a shared library is likely missing in the image",
                   r"exec (?P<library>\S+) failed: a shared library is likely missing in the image")],
     'cause': "{library}: a library is needed that is in no folder which the loader searches. The image lacks it; "
              "where no container runs, its module is not loaded, compute nodes lack a package that the login node "
              "has, or conda has another release.",
     'remedy': "Install its package in the image: libgfortran.so.5 is libgfortran5 in Debian and openSUSE, "
               "libgfortran in Rocky. If it is there, in a folder of its own (conda, /opt): put that into "
               "LD_LIBRARY_PATH in the container. Of conda the release with that number: libcrypto.so.1.0.0 is "
               "openssl=1.0, libmkl_*.so.1 mkl=2021, all packages of one channel.",
     'source': "glibc, ld.so(8); seen by this project, 2026-11; github.com/sylabs/singularity, issue 668; "
               "github.com/open-mpi/ompi, issue 6352",
     'also': [("the library is there and what it needs itself is not", "osu-exec ldd FILE"),
              ("it is the host's, and the host has changed since the module was installed", "osu-explain")]},
    {'name': "MPI of another kind",
     'patterns': [(": cannot open shared object file",
                   r"(?P<library>libmpi(?!_gtl)\w*\.so[.\d]*): cannot open shared object "
                   r"file(?![^\n]{0,80}\(ignored\))")],
     'cause': "The program was built with another MPI than the one that is here, which has no {library}. "
              "libmpi.so.12 is MPICH, Intel MPI, Cray MPICH or MVAPICH, libmpi.so.40 Open MPI; libmpi_mpifh and "
              "libmpi_usempif08 are Open MPI's for Fortran.",
     'remedy': "Take the MPI that it was built with, or build it with this one. bind and hybrid need an image on "
               "libmpi.so.12. Open MPI has its Fortran libraries only where it was built with a Fortran compiler.",
     'source': "glibc, ld.so(8); seen by this project, 2026-11; github.com/OpenRadioss/OpenRadioss, issue 1876; "
               "github.com/wi4mpi/wi4mpi, issue 23",
     'also': [("it is there, in a folder that the loader does not search",
               "osu-exec find / -name 'libmpi*.so*' -not -path '/proc/*'")]},
    {'name': "driver of NVIDIA not in the container",
     'patterns': [(": cannot open shared object file",
                   r"(?P<library>lib(?:cuda|nvidia-[\w-]+)\.so[.\d]*): cannot open shared object file"),
                  ("NVIDIA-SMI couldn't find ", r"NVIDIA-SMI couldn't find (?P<library>[\w.-]+) library"),
                  ("Could not find any NVIDIA libraries", "Could not find any (?P<library>NVIDIA libraries)"),
                  ("Couldn't open CUDA library libcuda.so",
                   r"Couldn't open CUDA library (?P<library>libcuda\.so\S{0,4})"),
                  ("unable to find libcuda.so DSO", r"unable to find (?P<library>libcuda\.so) DSO"),
                  ("libcuda.so ", r"(?P<library>libcuda\.so) (?:cannot|could not|can not|not) (?:be )?found")],
     'cause': "{library} not found: that is the driver of NVIDIA's GPUs, which is on nodes with such a GPU, and "
              "comes into a container by --nv only.",
     'remedy': "singularity exec --nv, apptainer exec --nv; for a command of the module: export "
               "MPI_CONTAINER_OPTIONS=--nv.",
     'source': "docs.sylabs.io, SingularityCE, GPU support; github.com/apptainer/singularity, issue 5337; "
               "github.com/apache/mxnet, issue 6787",
     'also': [("this node has no GPU", "srun nvidia-smi -L")]},
    {'name': "component of Open MPI left out",
     'patterns': [("mca_base_component_repository_open: unable to open ",
                   r"mca_base_component_repository_open: unable to open (?P<component>\w+)")],
     'cause': "Open MPI leaves out its component {component}, whose library is not here or does not fit.",
     'remedy': "Harmless, unless the run should use just that network: then install the library in the image.",
     'source': "github.com/PrincetonUniversity/hpc_beginning_workshop, pull request 7", 'last': True},
    {'name': "parts of glibc of two releases",
     'patterns': [(" with link time reference",
                   r"symbol (?:\S{1,100}), version (?:\S{1,40}) not defined in file (?P<file>\S{1,60}) with link "
                   r"time reference"),
                  (", version GLIBC_PRIVATE", r"undefined symbol: \S{1,80}, version GLIBC_PRIVATE")],
     'cause': "A library meets another release of {file} than it was built with: for GLIBC_PRIVATE the C library of "
              "one system is mixed with parts of another one's (LD_PRELOAD, LD_LIBRARY_PATH, a bind).",
     'remedy': "Never put a libc.so.6 of your own before the system's: unset LD_PRELOAD and LD_LIBRARY_PATH; env -i "
               "in the container tells. A program that needs a newer glibc runs in an image that has it.",
     'source': "ld.so(8); github.com/bcbio/bcbio-nextgen, issue 3718",
     'unless': ["library of CUDA of another release"]},
    {'name': "library that is no library",
     'patterns': [("failed to map segment from shared object",
                   r"failed to map segment from shared object[^\n]{0,40}")],
     'cause': "The loader cannot use a library's file: it is empty or cut off (a full disk when it was copied, a "
              "driver's file bound from a host without it), lies on a disk mounted noexec, or memory is short.",
     'remedy': "ls -lL the file that is named, inside the container; install or copy it again. 'failed to map "
               "segment': findmnt -T FOLDER (noexec), ulimit -v.",
     'source': "ld.so(8); glibc, elf/dl-load.c"},
    {'name': "library of CUDA of another release",
     'patterns': [("undefined symbol: ",
                   r"undefined symbol: (?P<symbol>(?:__nvJitLink|nccl|cublas|cudnn|cusparse|cusolver|cufft|curand"
                   r"|cuda[A-Z]|nvrtc|nvml|hip[A-Z]|rccl|rocblas|hipblas)\w*)(?![^\n]{0,80}\(ignored\))"),
                  (" with link time reference",
                   r"symbol (?P<symbol>\S{1,100}?),? version \S{1,60} not defined in file "
                   r"(?:lib(?:cu|nv|nccl|hip|roc|rccl|amd|hsa)\S{1,60}) with link time reference"),
                  (": undefined symbol: ",
                   r"lib(?:torch\w*|c10\w*|cupy\w*|jaxlib\w*)\S{0,60}: undefined symbol: (?P<symbol>\S{1,200})")],
     'cause': "Another release of a library of CUDA or ROCm is loaded than the package was built with: one of a "
              "module (LD_LIBRARY_PATH, /usr/local/cuda), of conda or of the host comes before the package's own. "
              "{symbol}",
     'remedy': "unset LD_LIBRARY_PATH, or unload the module cuda or rocm: PyTorch and CuPy from pip bring their "
               "own. If it stays: pip install --force-reinstall torch (with its nvidia-* packages) in a new "
               "environment, and torch, torchvision and flash-attn of one release.",
     'source': "github.com/pytorch/pytorch, issues 111469 and 119932; github.com/zai-org/ChatGLM-6B, issue 921",
     'also': [("which file it is", "LD_DEBUG=libs python -c 'import torch' 2>&1 | grep -E 'trying file|init:'")]},
    {'name': "library without its versions",
     'patterns': [(": no version information available (required by ",
                   r"(?P<library>\S{1,200}): no version information available \(required by (?P<by>[^)\n]{1,200})\)")],
     'cause': "{by} finds {library}, a build of its own (conda, a module, LD_LIBRARY_PATH), instead of the "
              "system's. A warning; it may crash later.",
     'remedy': "unset LD_LIBRARY_PATH for system programs, or conda deactivate.",
     'source': "ld.so(8); github.com/hashdist/hashstack, issue 765", 'last': True},
    {'name': "executable stack refused",
     'patterns': [("cannot enable executable stack as shared object requires",
                   r"(?:(?P<library>[^\s:'\x22]{1,200}): )?cannot enable executable stack as shared object requires")],
     'cause': "The library {library} is marked as one that needs an executable stack (mostly by mistake, of "
              "hand-written assembler), and glibc from 2.41 on ('Invalid argument') or SELinux ('Permission "
              "denied') does not give it.",
     'remedy': "patchelf --clear-execstack FILE, or execstack -c FILE; a newer release of the package. Else export "
               "GLIBC_TUNABLES=glibc.rtld.execstack=2 (glibc), setsebool selinuxuser_execstack on (SELinux), or an "
               "image with an older glibc.",
     'source': "glibc 2.41, NEWS; github.com/open-power/pdbg, issue 111; github.com/mjakeman/extension-manager, "
               "issue 88"},
    {'name': "loader at odds with a library",
     'patterns': [("Inconsistency detected by ld.so: ", r"Inconsistency detected by ld\.so: (?:[\w.-]{1,40})"),
                  (": invalid mode for dlopen", r"__vdso_\w{1,30}: invalid mode for dlopen")],
     'cause': "The loader of one C library met parts of another one's, or a file that is damaged: a libc.so.6, "
              "libpthread or ld.so of another system comes first (LD_LIBRARY_PATH, LD_PRELOAD, a bind).",
     'remedy': "unset LD_LIBRARY_PATH LD_PRELOAD, and see that no folder there has a libc.so.6; install the file "
               "again that LD_DEBUG=files PROGRAM names last. Stripped or packed programs (upx, patchelf) can be "
               "damaged too.",
     'source': "glibc, elf/dl-version.c; ld.so(8)"},
    {'name': "library marked for a newer kernel",
     'patterns': [(": cannot open shared object file",
                   r"(?P<library>libQt[56]Core\.so[.\d]*): cannot open shared object file(?![^\n]{0,80}\(ignored\))")],
     'cause': "{library} is mostly there, and the loader passes over it: it carries a mark (ABI tag) of the kernel "
              "that it wants, and this node's is older (uname -r: 3.10 of CentOS 7).",
     'remedy': "Where the image is made: strip --remove-section=.note.ABI-tag FILE; ldconfig. Else an image of an "
               "older distribution (Ubuntu 18.04), or a node with a newer kernel.",
     'source': "github.com/nipreps/fmriprep, pull request 2535; github.com/frankyeh/DSI-Studio, issue 69",
     'also': [("it is not in the image", "apptainer exec IMAGE find / -name 'libQt*Core.so*'")]},
]
