"""What the loader of libraries says."""
from .common import AGAIN, LOADER, OURS

#: Libraries of a host's network, which the modules inject
HOST_NAMES = (r"cxi|fabric|pmi2?|pmix|palsd?|xpmem|dsmml|mpi_gtl\w*|json-c|curl|lustreapi|nl-\w+|rdmacm|ibverbs|efa|"
              r"psm\w*|uc[mpst]|sci_\w+")
OF_THE_HOST = r"lib(?:" + HOST_NAMES + r")\.so"
#: The same, and those that entries of their own explain
EXPLAINED = (r"lib(?:" + HOST_NAMES + r"|mpi\w*|amdhip64|hsa-runtime64|amd_comgr|[nr]ccl-net[\w-]*|cuda|nvidia-[\w-]+|"
             r"slurm\w*|Qt[56]Core)\.so")
#: Behind it Open MPI says that it goes on without the library
NOT_IGNORED = r"(?![^\n]{0,80}\(ignored\))"
#: Ends the patterns of the loader's message about a version. Some copy it with other quotes, or without the first
NOT_FOUND = r"['\u2019\"`]? not found(?: \(required by (?P<by>[^)\n]{1,300})\))?"

ENTRIES = [
    {'name': 'libfabric too old',
     'text': "libfabric.so.1: version `FABRIC_1.7' not found (required by .../libmpi.so.12)",
     'patterns': [(" not found", r"(?P<version>FABRIC_[\d.]*\d)" + NOT_FOUND)],
     'cause': "The libfabric that was found is older than the one that {by} was built with: it does not have "
              "{version}.",
     'remedy': "Use pure or opensource, whose libfabric is the image's; or an image whose MPI was built with an "
               "older libfabric (1.7 comes with 1.20, 1.8 with 2.0, 1.9 with 2.5). Is a folder with a libfabric on "
               "your own LD_LIBRARY_PATH? If the host was updated: install the module again.",
     'source': 'libfabric, libfabric.map.in by release; ' + OURS, 'evidence': 'measured'},
    {'name': 'C library too old',
     'text': "libc.so.6: version `GLIBC_2.38' not found (required by /.singularity.d/libs/...)",
     'patterns': [(" not found", r"(?P<version>GLIBC_\w[\w.]{0,40})" + NOT_FOUND)],
     'unless': ["parts of glibc of two releases"],
     'cause': "{by} needs {version}, and the C library of the image (or, outside of it, of the host) is older. A "
              "library of the host that is put into the container runs with the image's C library.",
     'remedy': "Use an image of a distribution at least as new as the host, or an approach that brings less of the "
               "host in: opensource, or pure. Take --rocm and --nv away if you have added them.",
     'source': 'github.com/apptainer/apptainer, pull request 2606, issues 1621 and 3041', 'evidence': 'measured'},
    {'name': 'C++ library too old',
     'text': "libstdc++.so.6: version `GLIBCXX_3.4.32' not found (required by ...)",
     'patterns': [(" not found", r"(?P<version>GLIBCXX_[\w.]{1,40}|CXXABI_[\w.]{1,40}|GCC_[\d.]+)" + NOT_FOUND)],
     'cause': "{by} needs {version} of the compiler's libraries (libstdc++, libgcc), and those that were found are "
              "older.",
     'remedy': "Use an image with a newer compiler, or an approach that brings less of the host in. If a module of "
               "the host has set LD_LIBRARY_PATH, unload it.",
     'source': 'github.com/apptainer/apptainer, issue 1621', 'evidence': 'derived'},
    {'name': 'library of another version',
     'text': "libjson-c.so.5: version `JSONC_0.14' not found (required by ...)",
     'patterns': [(" not found", r"version [`'](?!FABRIC_|GLIBC|CXXABI_|GCC_)(?P<version>[^\s'`]+)" + NOT_FOUND)],
     'cause': "{by} was built with another release of a library than the one that was found: it lacks {version}.",
     'remedy': "The library is named in front of the message: see what puts it there (osu-explain lists what the "
               "module binds), and use one that fits.",
     'source': LOADER, 'evidence': 'derived'},
    {'name': 'missing library',
     'text': "error while loading shared libraries: libcxi.so.1: cannot open shared object file: ...",
     'patterns': [(": cannot open shared object file",
                   r"(?:^|[\s:'(])(?P<library>[^\s:'(]{0,300}" + OF_THE_HOST + r"[^\s:'(]{0,80}): cannot open shared "
                   "object file" + NOT_IGNORED)],
     'cause': "{library} is needed and found nowhere: neither in the image nor among what is injected.",
     'remedy': "The modules check this when they are installed, so the host has changed since: " + AGAIN + " If it "
               "is on the host in another folder, add that to library_folders of the site (docs/add-a-site.md).",
     'source': LOADER, 'evidence': 'measured'},
    {'name': 'ROCm of another release',
     'text': "libamdhip64.so.6: cannot open shared object file: No such file or directory",
     'patterns': [(": cannot open shared object file",
                   r"(?P<library>lib(?:amdhip64|hsa-runtime64|amd_comgr)\.so[.\d]*): cannot open shared object file")],
     'cause': "{library} is of ROCm. What needs it was built with another major release of ROCm than the one that is "
              "there, or there is none.",
     'remedy': "Use an image with ROCm of the same major release as the host's MPI: Cray MPICH up to 25.09 wants "
               "ROCm 6, also where the image brings 7. The name without a number is what libfabric itself opens; "
               "some distributions have it in the -dev package only.",
     'source': 'LUMI training, update of January 2026; libfabric, src/hmem_rocr.c', 'evidence': 'derived'},
    {'name': 'preloaded library missing',
     'text': "ERROR: ld.so: object '...' from LD_PRELOAD cannot be preloaded (...): ignored.",
     'patterns': [("' from LD_PRELOAD cannot be preloaded",
                   r"object '(?P<library>[^'\n]+)' from LD_PRELOAD cannot be preloaded")],
     'cause': "LD_PRELOAD names {library}, which is not there or does not fit; the program goes on without it, with "
              "another MPI than was meant.",
     'remedy': "Is it your own LD_PRELOAD? Unset it. If it is the module's (osu-explain LD_PRELOAD), the host has "
               "changed: " + AGAIN,
     'source': LOADER, 'evidence': 'measured'},
    {'name': 'libcxi too old',
     'text': "symbol lookup error: .../libfabric.so.1: undefined symbol: cxil_svc_get_netns",
     'patterns': [("undefined symbol: ", r"undefined symbol: (?P<symbol>cxil?_\w+)")],
     'cause': "libfabric's provider cxi calls {symbol}, which this libcxi does not have: libfabric is newer.",
     'remedy': "opensource: build the image's libcxi and libfabric from releases that belong together (libfabric "
               "2.5.0 wants the libcxi of January 2026). hybrid: the host's libcxi belongs to the host's libfabric; "
               "see which of both comes from the image (srun osu_container/rank-proof FOLDER PROGRAM).",
     'source': 'github.com/ofiwg/libfabric, issues 9835 and 12036', 'evidence': 'derived'},
    {'name': 'undefined symbol',
     'text': "symbol lookup error: ...: undefined symbol: MPIX_...",
     'patterns': [("undefined symbol: ", r"undefined symbol: (?!cxil?_)(?P<symbol>[^\s,]+)" + NOT_IGNORED)],
     'unless': ["library of CUDA of another release", "NumPy without its BLAS", "parts of glibc of two releases"],
     'cause': "A library was found that lacks the function {symbol}: it is another release, or another library of "
              "the same name, than the program was built with.",
     'remedy': "The library that needs it stands in front of the message. See which files are loaded (srun "
               "osu_container/rank-proof FOLDER PROGRAM), and take away the folder or the preload that brings the "
               "wrong one. If the host was updated: install the module again.",
     'source': LOADER, 'evidence': 'measured'},
    {'name': 'image on musl',
     'text': "Error relocating .../libfabric.so.1: ...: symbol not found",
     'patterns': [(": symbol not found", r"Error relocating (?P<where>\S+): \S+: symbol not found"),
                  ("Error loading shared library ", r"Error loading shared library (?P<what>\S+?):")],
     'cause': "{where}{what} is not found or does not fit, says the loader of musl: the image is Alpine or the like, "
              "and libraries of the host are built for glibc.",
     'remedy': "bind and hybrid need an image on glibc (Debian, Ubuntu, openSUSE, Rocky). pure and opensource bring "
               "no MPI of the host in; there the image itself is incomplete.",
     'source': 'musl, ldso/dynlink.c; CSCS documentation, Container Engine, known issues', 'evidence': 'derived'},
    {'name': 'file of another architecture',
     'text': "wrong ELF class / invalid ELF header / Exec format error",
     'patterns': [("wrong ELF class", "(?P<what>wrong ELF class)"),
                  ("invalid ELF header", "(?P<what>invalid ELF header)"),
                  ("Exec format error", "(?P<what>Exec format error)")],
     'cause': "The file is for another kind of processor, or it is no program or library ({what}).",
     'remedy': "Use an image for this architecture (uname -m): LUMI and workstations are x86_64, Alps is aarch64. A "
               "path of the site may lead to a linker script instead of a library.",
     'source': LOADER, 'evidence': 'derived'},
    {'name': "library that libtree or lddtree misses",
     'text': "── libfabric.so.1 not found / Paths considered in this order: ... LD_LIBRARY_PATH was not set",
     'patterns': [("── ", r"── (?P<library>lib\S{1,100}\.so\S{0,20}) not found"),
                  (" => not found", r"(?P<other>lib[\w.+-]{1,100}\.so[\w.]{0,20}) => not found")],
     'cause': "{library}{other} is in no folder that the loader searches for this program: not in its rpath, not on "
              "LD_LIBRARY_PATH, not in the loader's cache. Cray MPICH relies on the module of libfabric to name the "
              "folder.",
     'remedy': "Load the module that has it (module load libfabric; in a container bind its folder), or put the folder "
               "into LD_LIBRARY_PATH: find / -name 'LIBRARY*'.",
     'source': "ld.so(8); libtree, README; github.com/spack/spack, pull request 29392", 'evidence': 'derived'},
    {'name': 'library not in the image',
     'text': "error while loading shared libraries: libgfortran.so.5: cannot open shared object file: ...",
     'patterns': [(": cannot open shared object file",
                   r"(?:^|[\s:'(])(?![^\s:'(]{0,300}(?:" + EXPLAINED + r"|-rdmav\d+\.so))(?P<library>[^\s:'(]+): "
                   "cannot open shared object file(?!: (?:Structure|Input/output|Stale|Permission))" + NOT_IGNORED),
                  ("loading shared libraries: ", r"loading shared libraries: (?P<library>[^\s:]+): cannot open "
                                                 r"shared object f"
                   r"(?:\.\.\.|$)"),
                  (" failed: a shared library is likely missing in the image",
                   r"exec (?P<program>\S+) failed: a shared library is likely missing in the image")],
     'cause': "{library}{program}: a library is needed that is in no folder which the loader searches. The image lacks "
              "it; where no container runs, its module is not loaded, compute nodes lack a package that the login node "
              "has, or conda has another release.",
     'remedy': "Install its package in the image: libgfortran.so.5 is libgfortran5 in Debian and openSUSE, libgfortran "
               "in Rocky. If it is there, in a folder of its own (conda, /opt): put that into LD_LIBRARY_PATH in the "
               "container. Of conda the release with that number: libcrypto.so.1.0.0 is openssl=1.0, libmkl_*.so.1 "
               "mkl=2021, all packages of one channel.",
     'also': [("the library is there and what it needs itself is not", "osu-exec ldd FILE"),
              ("it is the host's, and the host has changed since the module was installed", "osu-explain")],
     'source': LOADER + '; github.com/sylabs/singularity, issue 668; github.com/open-mpi/ompi, issue 6352',
     'evidence': 'derived'},
    {'name': 'MPI of another kind',
     'text': "libmpi_mpifh.so.40: cannot open shared object file: No such file or directory",
     'patterns': [(": cannot open shared object file",
                   r"(?P<library>libmpi(?!_gtl)\w*\.so[.\d]*): cannot open shared object file" + NOT_IGNORED)],
     'unless': ['no MPI library'],
     'cause': "The program was built with another MPI than the one that is here, which has no {library}. libmpi.so.12 "
              "is MPICH, Intel MPI, Cray MPICH or MVAPICH, libmpi.so.40 Open MPI; libmpi_mpifh and libmpi_usempif08 "
              "are Open MPI's for Fortran.",
     'remedy': "Take the MPI that it was built with, or build it with this one. bind and hybrid need an image on "
               "libmpi.so.12. Open MPI has its Fortran libraries only where it was built with a Fortran compiler.",
     'also': [("it is there, in a folder that the loader does not search",
               "osu-exec find / -name 'libmpi*.so*' -not -path '/proc/*'")],
     'source': LOADER + '; github.com/OpenRadioss/OpenRadioss, issue 1876; github.com/wi4mpi/wi4mpi, issue 23',
     'evidence': 'derived'},
    {'name': 'driver of NVIDIA not in the container',
     'text': "libcuda.so.1: cannot open shared object file: No such file or directory",
     'patterns': [(": cannot open shared object file",
                   r"(?P<library>lib(?:cuda|nvidia-[\w-]+)\.so[.\d]*): cannot open shared object file"),
                  ("NVIDIA-SMI couldn't find ", r"NVIDIA-SMI couldn't find (?P<other>[\w.-]+) library"),
                  ("Could not find any nv", r"Could not find any (?P<these>nv files)"),
                  ("Could not find any NVIDIA libraries", r"Could not find any (?P<all>NVIDIA libraries)"),
                  ("libcuda.so", r"Couldn't open CUDA library (?P<fifth>libcuda\.so\S{0,4})"),
                  ("unable to find libcuda.so DSO", r"unable to find (?P<sixth>libcuda\.so) DSO"),
                  ("found", r"(?P<sixth>libcuda\.so) (?:cannot|could not|can not|not) (?:be )?found"),
                  ("kernel driver does not appear", r"(?P<seventh>kernel driver) does not appear to be running on this "
                   "host")],
     'cause': "{library}{other}{these}{all}{fifth}{sixth}{seventh} not found: that is the driver of NVIDIA's GPUs, "
              "which is on nodes with such a GPU, and comes into a container by --nv only.",
     'remedy': "singularity exec --nv, apptainer exec --nv; for a command of the module: export "
               "MPI_CONTAINER_OPTIONS=--nv.",
     'also': [("this node has no GPU", "srun nvidia-smi -L")],
     'source': 'docs.sylabs.io, SingularityCE, GPU support; github.com/apptainer/singularity, issue 5337; '
               'github.com/apache/mxnet, issue 6787', 'evidence': 'derived'},
    {'name': 'component of Open MPI left out',
     'text': "mca_base_component_repository_open: unable to open mca_btl_usnic: libfabric.so.1: ... (ignored)",
     'patterns': [("mca_base_component_repository_open: unable to open ",
                   r"mca_base_component_repository_open: unable to open (?P<component>\w+)"),
                  ("component_find: unable to open ", r"component_find: unable to open (?P<path>\S+?):? ")],
     'cause': "Open MPI leaves out its component {component}{path}, whose library is not here or does not fit.",
     'remedy': "Harmless, unless the run should use just that network: then install the library in the image.",
     'source': 'github.com/PrincetonUniversity/hpc_beginning_workshop, pull request 7', 'evidence': 'derived',
     'last': True},
    {'name': 'linker of conda',
     'text': "ld: warning: libcxi.so.1, needed by .../libfabric.so.1, not found (try using -rpath or -rpath-link)",
     'patterns': [("needed by ", r"\bld: warning: (?P<library>[^\s,]+), needed by (?P<by>[^\s,]+), not found"),
                  (": undefined reference to ", r"\bld: (?P<in>\S+): undefined reference to ")],
     'cause': "The linker does not find what {by}{in} itself needs. The one of conda (compiler_compat) does not search "
              "the folders of the host.",
     'remedy': "conda deactivate before building, or PATH with /usr/bin in front; else -Wl,-rpath-link,FOLDER.",
     'also': [("the library is of another release than its headers", "ldd LIBRARY")],
     'source': 'github.com/MPAS-Dev/compass, issue 759; ld(1), -rpath-link', 'evidence': 'derived'},
    {'name': "parts of glibc of two releases",
     'text': "relocation error: /lib64/librt.so.1: symbol ..., version GLIBC_PRIVATE not defined in file libc.so.6 "
             "with link time reference",
     'patterns': [(" not defined in file ", r"symbol (?P<symbol>\S{1,100}), version (?P<version>\S{1,40}) not defined "
                   r"in file (?P<file>\S{1,60}) with link time reference"),
                  ("undefined symbol: ", r"undefined symbol: \S{1,80}, version GLIBC_PRIVATE"),
                  (" not found (required by ", r"(?P<file>libc\.so\.6): version "
                                               r"[`'](?P<version>GLIBC_\S{1,20})['\u2019] not "
                   r"found \(required by \S{0,200}/lib(?:rt|pthread|dl|m|c|resolv|util)(?:-2\.\d+)?\.so[.\d]*\)")],
     'unless': ["library of CUDA of another release"],
     'cause': "A library meets another release of {file} than it was built with: for GLIBC_PRIVATE the C library of "
              "one system is mixed with parts of another one's (LD_PRELOAD, LD_LIBRARY_PATH, a bind).",
     'remedy': "Never put a libc.so.6 of your own before the system's: unset LD_PRELOAD and LD_LIBRARY_PATH; env -i "
               "in the container tells. A program that needs a newer glibc runs in an image that has it.",
     'source': "ld.so(8); github.com/bcbio/bcbio-nextgen, issue 3718", 'evidence': 'derived'},
    {'name': "folder of CUDA or ROCm not in the container",
     'text': "Could not load dynamic library 'libcudart.so.11.0'; dlerror: ...",
     'patterns': [("Could not load dynamic library 'lib", r"Could not load dynamic library '(?P<library>lib\w+\.so[."
                   r"\d]*)'"),
                  ("Unable to load ", r"Unable to load (?:any of|dynamic library)[^\n]{0,20}[{'](?P<library>lib\w+"
                   r"\.so[.\d]*)"),
                  ("ould not ", r"[Cc]ould not (?:load|find) (?:library|shared library|cuda|cudnn)[^\n]{0,40}"
                   r"(?P<library>lib\w+\.so[.\d]*)")],
     'unless': ["driver of NVIDIA not in the container", "library not in the image", "ROCm of another release"],
     'cause': "The program does not find the library {library} (of CUDA, cuDNN or ROCm): the image lacks it, has it "
              "in a folder that is not searched, or of another release.",
     'remedy': "find / -name 'LIBRARY*' in the container (osu-exec find ...), and its folder into LD_LIBRARY_PATH; "
               "else an image with that CUDA or ROCm. libcuda.so.1 comes with --nv.",
     'source': "github.com/apache/mxnet, issue 6787", 'evidence': 'derived', 'general': 1},
    {'name': "loader itself not there",
     'text': "/lib64/ld-linux-x86-64.so.2: No such file or directory / not found though it is there",
     'patterns': [("ld-linux", r"(?:/lib64/)?ld-linux[\w.-]{1,30}: (?:No such file|cannot open|bad ELF|not found)[^"
                   r"\n]{0,40}"),
                  ("ld-musl", r"(?:/lib64/)?ld-musl[\w.-]{1,30}: (?:No such file|cannot open|bad ELF|not found)[^"
                   r"\n]{0,40}"),
                  ("ould not open ", r"(?:qemu-\w+|rosetta error): [Cc]ould not open '?(?P<file>\S{1,60}ld-\S{1,40})"),
                  ("ailed to open elf at /lib64", "[Ff]ailed to open elf at /lib64")],
     'cause': "The loader that the program names is not there: the program is of another processor or another C "
              "library (glibc, musl) than the image.",
     'remedy': "file PROGRAM and uname -m; an image on glibc (Debian, Rocky) for programs of the host.",
     'source': "ld.so(8), loader of glibc", 'evidence': 'derived'},
    {'name': "memory of the loader for threads used up",
     'text': "cannot allocate memory in static TLS block",
     'patterns': ["cannot allocate memory in static TLS block"],
     'cause': "A library that is loaded late (by Python, for example) has variables for each thread, and their place "
              "was used up by others (libgomp, libgcc on ARM, jemalloc).",
     'remedy': "export LD_PRELOAD=/path/of/that/library (the one in the message), or import it first.",
     'source': "glibc, rtld.optional_static_tls", 'evidence': 'derived'},
    {'name': "library that is no library",
     'text': "file too short / ELF load command ... / cannot read file data",
     'patterns': [(": file too short", r"\.so\S{0,20}: file too short"),
                  ("ELF load command", r"ELF load command[^\n]{0,80}"), ("only ET_DYN", r"only ET_DYN[^\n]{0,60}"),
                  ("cannot ", "cannot (?:change memory protections|make segment writable)[^"
                   r"\n]{0,60}"), ("cannot restore segment prot", r"cannot restore segment prot[^\n]{0,60}"),
                  ("failed to map segment from shared object", r"failed to map segment from shared object[^\n]{0,40}"),
                  ("object file has no ", "object file has no (?:loadable|dynamic)"),
                  ("reloc type", "unexpected (?:PLT )?reloc type")],
     'cause': "The loader cannot use a library's file: it is empty or cut off (a full disk when it was copied, a "
              "driver's file bound from a host without it), lies on a disk mounted noexec, or memory is short.",
     'remedy': "ls -lL the file that is named, inside the container; install or copy it again. 'failed to map "
               "segment': findmnt -T FOLDER (noexec), ulimit -v.",
     'source': "ld.so(8); glibc, elf/dl-load.c", 'evidence': 'derived'},
    {'name': "library linked in vain",
     'text': "/usr/bin/ld: cannot find -lmpi",
     'patterns': [(": cannot find ", r"\bld(?:\.\w+)?: cannot find (?P<library>-l\S{1,60}|\S{1,80})(?::|$)"),
                  ("collect2: error: ld returned", "collect2: error: ld returned")],
     'unless': ["linker of conda"],
     'cause': "The linker does not find {library}: the library or its -dev package is not installed, or its folder "
              "was not named (-L).",
     'remedy': "find / -name 'libNAME*' ; -L FOLDER, or load its module before configure. With Cray's compilers cc, "
               "CC and ftn find MPI by themselves.",
     'source': "ld(1), option -l", 'evidence': 'derived', 'general': 1},
    {'name': "library of CUDA of another release",
     'text': "ImportError: .../libcusparse.so.12: undefined symbol: __nvJitLinkAddData_12_1, version "
             "libnvJitLink.so.12",
     'patterns': [("undefined symbol: ", r"undefined symbol: (?P<symbol>(?:__nvJitLink|nccl|cublas|cudnn|cusparse|"
                   r"cusolver|cufft|curand|cuda[A-Z]|nvrtc|nvml|hip[A-Z]|rccl|rocblas|hipblas)\w*)" + NOT_IGNORED),
                  (" not defined in file lib", r"symbol (?P<other>\S{1,100}?),? version \S{1,60} not defined in file "
                   r"(?P<file>lib(?:cu|nv|nccl|hip|roc|rccl|amd|hsa)\S{1,60}) with link time reference"),
                  ("CUBLAS_STATUS_", r"CUBLAS_STATUS_(?:INVALID_VALUE|NOT_SUPPORTED|ARCH_MISMATCH)\b"),
                  ("undefined symbol: ", r"lib(?:torch\w*|c10\w*|cupy\w*|jaxlib\w*)\S{0,60}: undefined symbol: "
                   r"(?P<third>\S{1,200})")],
     'cause': "Another release of a library of CUDA or ROCm is loaded than the package was built with: one of a module "
              "(LD_LIBRARY_PATH, /usr/local/cuda), of conda or of the host comes before the package's own. "
              "{symbol}{other}{third}",
     'remedy': "unset LD_LIBRARY_PATH, or unload the module cuda or rocm: PyTorch and CuPy from pip bring their own. "
               "If it stays: pip install --force-reinstall torch (with its nvidia-* packages) in a new environment, "
               "and torch, torchvision and flash-attn of one release.",
     'also': [("which file it is", "LD_DEBUG=libs python -c 'import torch' 2>&1 | grep -E 'trying file|init:'")],
     'source': "github.com/pytorch/pytorch, issues 111469 and 119932; github.com/zai-org/ChatGLM-6B, issue 921",
     'evidence': 'measured'},
    {'name': "NumPy without its BLAS",
     'text': "ImportError: .../numpy/core/_multiarray_umath...so: undefined symbol: cblas_sgemm",
     'patterns': [("undefined symbol: cblas_", r"undefined symbol: (?P<symbol>cblas_\w+)")],
     'cause': "NumPy (or the program) was built against a BLAS with the C interface, and the libblas.so.3 that is "
              "found has none ({symbol}).",
     'remedy': "Debian: apt install libopenblas0 (or libatlas3-base) in the image; or pip install --force-reinstall "
               "numpy, whose package brings its own. See that no module puts another BLAS on LD_LIBRARY_PATH.",
     'source': "github.com/numpy/numpy, issues 12999 and 13441", 'evidence': 'measured'},
    {'name': "library without its versions",
     'text': "ssh: .../libcrypto.so.1.0.0: no version information available (required by ssh)",
     'patterns': [("no version information available", r"(?P<library>\S{1,200}): no version information available "
                   r"\(required by (?P<by>[^)\n]{1,200})\)")],
     'cause': "{by} finds {library}, a build of its own (conda, a module, LD_LIBRARY_PATH), instead of the system's. "
              "A warning; it may crash later.",
     'remedy': "unset LD_LIBRARY_PATH for system programs, or conda deactivate.",
     'source': "ld.so(8); github.com/hashdist/hashstack, issue 765", 'evidence': 'derived', 'last': True},
    {'name': "executable stack refused",
     'text': "...so: cannot enable executable stack as shared object requires: Invalid argument",
     'patterns': [("cannot enable executable stack", r"(?:(?P<library>[^\s:'\x22]{1,200}): )?cannot enable executable "
                   "stack as shared object requires")],
     'cause': "The library {library} is marked as one that needs an executable stack (mostly by mistake, of "
              "hand-written assembler), and glibc from 2.41 on ('Invalid argument') or SELinux ('Permission denied') "
              "does not give it.",
     'remedy': "patchelf --clear-execstack FILE, or execstack -c FILE; a newer release of the package. Else export "
               "GLIBC_TUNABLES=glibc.rtld.execstack=2 (glibc), setsebool selinuxuser_execstack on (SELinux), or an "
               "image with an older glibc.",
     'source': "glibc 2.41, NEWS; github.com/open-power/pdbg, issue 111; github.com/mjakeman/extension-manager, issue "
               "88", 'evidence': 'measured'},
    {'name': "loader at odds with a library",
     'text': "Inconsistency detected by ld.so: dl-version.c: ...: Assertion `needed != NULL' failed!",
     'patterns': [("Inconsistency detected by ld.so", r"Inconsistency detected by ld\.so: (?P<where>[\w.-]{1,40})"),
                  ("cannot handle TLS data", "cannot handle TLS data"),
                  ("invalid mode for dlopen", "__vdso_\\w{1,30}: invalid mode for dlopen")],
     'cause': "The loader of one C library met parts of another one's, or a file that is damaged: a libc.so.6, "
              "libpthread or ld.so of another system comes first (LD_LIBRARY_PATH, LD_PRELOAD, a bind).",
     'remedy': "unset LD_LIBRARY_PATH LD_PRELOAD, and see that no folder there has a libc.so.6; install the file again "
               "that LD_DEBUG=files PROGRAM names last. Stripped or packed programs (upx, patchelf) can be damaged "
               "too.",
     'source': "glibc, elf/dl-version.c; ld.so(8)", 'evidence': 'derived'},
    {'name': "library marked for a newer kernel",
     'text': "libQt5Core.so.5: cannot open shared object file: No such file or directory",
     'patterns': [(": cannot open shared object file", r"(?P<library>libQt[56]Core\.so[.\d]*): cannot open shared "
                                                       r"object "
                   "file" + NOT_IGNORED)],
     'cause': "{library} is mostly there, and the loader passes over it: it carries a mark (ABI tag) of the kernel "
              "that it wants, and this node's is older (uname -r: 3.10 of CentOS 7).",
     'remedy': "Where the image is made: strip --remove-section=.note.ABI-tag FILE; ldconfig. Else an image of an "
               "older distribution (Ubuntu 18.04), or a node with a newer kernel.",
     'also': [("it is not in the image", "apptainer exec IMAGE find / -name 'libQt*Core.so*'")],
     'source': "github.com/nipreps/fmriprep, pull request 2535; github.com/frankyeh/DSI-Studio, issue 69",
     'evidence': 'measured'},
]
