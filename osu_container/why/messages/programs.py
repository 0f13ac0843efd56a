"""
A program: what the loader of libraries says as it starts, what MPI says (failed calls,
settings), how it ends.
"""

from typing import Any, Dict, List

LOADER: List[Dict[str, Any]] = [
    {
        'name': "libfabric too old",
        'patterns': [
            (
                " not found",
                r"(?P<version>FABRIC_[\d.]*\d)['\u2019\x22`]? not found(?: \(required by "
                r"(?P<by>[^)\n]{1,300})\))?",
            )
        ],
        'cause': "The libfabric that was found is older than the one that {by} was built with: it "
        "does not have {version}.",
        'remedy': "Do not bind the host's libfabric (approaches pure and opensource use the "
        "image's), or use an image whose MPI was built with an older libfabric (1.7 comes with "
        "1.20, 1.8 with 2.0, 1.9 with 2.5). Check that LD_LIBRARY_PATH has no folder with a "
        "libfabric. If the host was updated: install the module again.",
        'source': "libfabric, libfabric.map.in by release; seen by this project, 2026-11",
    },
    {
        'name': "C library too old",
        'patterns': [
            (
                " not found",
                r"(?P<version>GLIBC_\w[\w.]{0,40})['\u2019\x22`]? not found(?: \(required by "
                r"(?P<by>[^)\n]{1,300})\))?",
            )
        ],
        'cause': "{by} needs {version}, and the C library of the image (or, outside of it, of the "
        "host) is older. A library of the host that is put into the container runs with the "
        "image's C library.",
        'remedy': "Use an image of a distribution at least as new as the host, or bind less of "
        "the host (our opensource and pure bring none of its MPI). Remove --rocm and --nv if you "
        "have added them.",
        'source': "github.com/apptainer/apptainer, pull request 2606, issues 1621 and 3041",
        'unless': ["parts of glibc of two releases"],
    },
    {
        'name': "C++ library too old",
        'patterns': [
            (
                " not found",
                r"(?P<version>GLIBCXX_[\w.]{1,40}|CXXABI_[\w.]{1,40}|GCC_[\d.]+)['\u2019\x22`]? not found(?: "
                r"\(required by (?P<by>[^)\n]{1,300})\))?",
            )
        ],
        'cause': "{by} needs {version} of the compiler's libraries (libstdc++, libgcc), and those "
        "that were found are older.",
        'remedy': "Use an image with a newer compiler, or an approach that brings less of the "
        "host in. If a module of the host has set LD_LIBRARY_PATH, unload it.",
        'source': "github.com/apptainer/apptainer, issue 1621",
    },
    {
        'name': "library of another version",
        'patterns': [
            (
                " not found",
                r"\.so\S{0,40}: version [`'](?!FABRIC_|GLIBC|CXXABI_|GCC_)(?P<version>[^\s'`]+)['\u2019\x22`]? not "
                r"found(?: \(required by (?P<by>[^)\n]{1,300})\))?",
            )
        ],
        'cause': "{by} was built with another release of a library than the one that was found: "
        "it lacks {version}.",
        'remedy': "The library is named in front of the message: find out what puts it there "
        "(osu-explain lists what the module binds), and use one that fits.",
        'source': "glibc, ld.so(8); seen by this project, 2026-11",
    },
    {
        'name': "missing library",
        'patterns': [
            (
                ": cannot open shared object file",
                r"(?:^|[\s:'(])(?P<library>[^\s:'(]{0,300}lib(?:cxi|fabric|pmi2?|pmix|palsd?|xpmem|dsmml|mpi_gtl\w{0,60}"
                r"|json-c|curl|lustreapi|nl-\w{1,60}|rdmacm|ibverbs|efa|psm\w{0,60}|uc[mpst]"
                r"|sci_\w{1,60})\.so[^\s:'(]{0,80}): cannot open shared object file(?![^\n]{0,80}\(ignored\))",
            )
        ],
        'cause': "{library} is needed and found nowhere: neither in the image nor among what is "
        "bound from the host.",
        'remedy': "ldconfig -p, or find /opt /usr -name 'LIBRARY*', on the host finds it. A "
        "container bound manually: --bind FILE, and put its folder on LD_LIBRARY_PATH in the "
        "container (--env LD_LIBRARY_PATH=FOLDER), with what ldd FILE lists beside it. With our "
        "modules: the host has changed, so run eb osu-container-APPROACH.eb -r --rebuild; a "
        "library in another folder: library_folders of the site (docs/add-a-site.md).",
        'source': "glibc, ld.so(8); seen by this project, 2026-11",
    },
    {
        'name': "ROCm of another release",
        'patterns': [
            (
                ": cannot open shared object file",
                r"(?P<library>lib(?:amdhip64|hsa-runtime64|amd_comgr)\.so[.\d]*): cannot open shared object "
                "file",
            )
        ],
        'cause': "{library} is of ROCm. What needs it was built with another major release of "
        "ROCm than the one that is there, or there is none.",
        'remedy': "Use an image with ROCm of the same major release as the host's MPI: Cray MPICH "
        "up to 25.09 wants ROCm 6, also where the image brings 7. The name without a number is "
        "what libfabric itself opens; some distributions have it in the -dev package only.",
        'source': "LUMI training, update of January 2026; libfabric, src/hmem_rocr.c",
    },
    {
        'name': "preloaded library missing",
        'patterns': [
            (
                "' from LD_PRELOAD cannot be preloaded",
                r"object '(?P<library>[^'\n]+)' from LD_PRELOAD cannot be preloaded",
            )
        ],
        'cause': "LD_PRELOAD names {library}, which is missing or does not fit; the program "
        "continues without it (where that was MPI, with another one than was meant).",
        'remedy': "If you have set LD_PRELOAD, unset it. If the module has set it (osu-explain "
        "LD_PRELOAD), the host has changed. Install the module again: eb "
        "osu-container-APPROACH.eb -r --rebuild.",
        'source': "glibc, ld.so(8); seen by this project, 2026-11",
    },
    {
        'name': "libcxi too old",
        'patterns': [
            ("undefined symbol: cxi", r"(?<![Ee]rror: )undefined symbol: (?P<symbol>cxil?_\w+)")
        ],
        'cause': "libfabric's provider cxi calls {symbol}, which this libcxi does not have: "
        "libfabric is newer.",
        'remedy': "opensource: build the image's libcxi and libfabric from releases that belong "
        "together (libfabric 2.5.0 wants the libcxi of January 2026). hybrid: the host's libcxi "
        "belongs to the host's libfabric; see which of both comes from the image (srun "
        "scripts/rank-proof FOLDER PROGRAM).",
        'source': "github.com/ofiwg/libfabric, issues 9835 and 12036",
    },
    {
        'name': "undefined symbol",
        'patterns': [
            (
                "undefined symbol: ",
                r"(?<![Ee]rror: )undefined symbol: (?!cxil?_)(?P<symbol>[^\s,]+)(?![^\n]{0,80}\(ignored\))",
            )
        ],
        'cause': "A library was found that lacks the function {symbol}: it is another release, or "
        "another library of the same name, than the program was built with (ompi_, opal_, orte_ "
        "are Open MPI's; MPIR_, MPID_ MPICH's; MPI_..._c came with MPI 4).",
        'remedy': "The library that needs it is named in front of the message. See which files "
        "are loaded (srun scripts/rank-proof FOLDER PROGRAM), and take away the folder or the "
        "preload that brings the wrong one. If the host was updated: install the module again.",
        'source': "glibc, ld.so(8); seen by this project, 2026-11",
        'unless': ["library of CUDA of another release", "parts of glibc of two releases"],
    },
    {
        'name': "file of another architecture",
        'patterns': [
            ("wrong ELF class", "(?P<what>wrong ELF class)"),
            ("invalid ELF header", "(?P<what>invalid ELF header)"),
            (
                "xec format error",
                r"(?:cannot execute binary file|execve\(\)|FATAL: {3}exec \S{1,200} failed): (?P<what>(?i:exec "
                "format error))",
            ),
        ],
        'cause': "The file is for another kind of processor, or it is no program or library "
        "({what}).",
        'remedy': "Use an image for this architecture (uname -m): LUMI and workstations are "
        "x86_64, Alps is aarch64. A path of the site may lead to a linker script instead of a "
        "library.",
        'source': "glibc, ld.so(8); seen by this project, 2026-11",
    },
    {
        'name': "library that libtree or lddtree misses",
        'patterns': [(" not found", r"── (?P<library>lib\S{1,100}\.so\S{0,20}) not found")],
        'cause': "{library} is in no folder that the loader searches for this program: not in its "
        "rpath, not on LD_LIBRARY_PATH, not in the loader's cache. Cray MPICH relies on the "
        "module of libfabric to name the folder.",
        'remedy': "Load the module that has it (module load libfabric; in a container bind its "
        "folder), or put the folder into LD_LIBRARY_PATH: find / -name 'LIBRARY*'.",
        'source': "ld.so(8); libtree, README; github.com/spack/spack, pull request 29392",
    },
    {
        'name': "library not in the image",
        'patterns': [
            (
                ": cannot open shared object file",
                r"(?:^|[\s:'(])(?![^\s:'(]{0,300}(?:lib(?:cxi|fabric|pmi2?|pmix|palsd?|xpmem|dsmml|mpi_gtl\w{0,60}"
                r"|json-c|curl|lustreapi|nl-\w{1,60}|rdmacm|ibverbs|efa|psm\w{0,60}|uc[mpst]|sci_\w+|mpi\w*|amdhip64"
                r"|hsa-runtime64|amd_comgr|[nr]ccl-net[\w-]*|cuda|nvidia-[\w-]+|slurm\w*|Qt[56]Core)\.so"
                r"|-rdmav\d+\.so))(?P<library>[^\s:'(]+): cannot open shared object file(?!: "
                r"(?:Structure|Input/output|Stale|Permission))(?![^\n]{0,80}\(ignored\))",
            ),
            (
                ": cannot open shared object f",
                r"loading shared libraries: (?P<library>[^\s:]+): cannot open shared object f(?:\.\.\.|$)",
            ),
            (
                " failed: a shared library is likely missing in the image",
                r"exec (?P<library>\S+) failed: a shared library is likely missing in the image",
            ),
        ],
        'cause': "{library}: a library is needed that is in no folder which the loader searches. "
        "The image lacks it; where no container runs, its module is not loaded, compute nodes "
        "lack a package that the login node has, or conda has another release.",
        'remedy': "Install its package in the image: libgfortran.so.5 is libgfortran5 in Debian "
        "and openSUSE, libgfortran in Rocky. If it is there, in a folder of its own (conda, "
        "/opt): put that into LD_LIBRARY_PATH in the container. Of conda the release with that "
        "number: libcrypto.so.1.0.0 is openssl=1.0, libmkl_*.so.1 mkl=2021, all packages of one "
        "channel.",
        'source': "glibc, ld.so(8); seen by this project, 2026-11; github.com/sylabs/singularity, "
        "issue 668; github.com/open-mpi/ompi, issue 6352",
        'also': [
            ("the library is there and what it needs itself is not", "osu-exec ldd FILE"),
            (
                "it is the host's, and the host has changed since the module was installed",
                "osu-explain",
            ),
        ],
    },
    {
        'name': "MPI of another kind",
        'patterns': [
            (
                ": cannot open shared object file",
                r"(?P<library>libmpi(?!_gtl)\w{0,60}\.so[.\d]*): cannot open shared object "
                r"file(?![^\n]{0,80}\(ignored\))",
            )
        ],
        'cause': "The program was built with another MPI than the one that is here, which has no "
        "{library}. libmpi.so.12 is MPICH, Intel MPI, Cray MPICH or MVAPICH, libmpi.so.40 Open "
        "MPI; libmpi_mpifh and libmpi_usempif08 are Open MPI's for Fortran.",
        'remedy': "Take the MPI that it was built with, or build it with this one. bind and "
        "hybrid need an image on libmpi.so.12. Open MPI has its Fortran libraries only where it "
        "was built with a Fortran compiler.",
        'source': "glibc, ld.so(8); seen by this project, 2026-11; "
        "github.com/OpenRadioss/OpenRadioss, issue 1876; github.com/wi4mpi/wi4mpi, issue 23",
        'also': [
            (
                "it is there, in a folder that the loader does not search",
                "osu-exec find / -name 'libmpi*.so*' -not -path '/proc/*'",
            )
        ],
    },
    {
        'name': "driver of NVIDIA not in the container",
        'patterns': [
            (
                ": cannot open shared object file",
                r"(?P<library>lib(?:cuda|nvidia-[\w-]{1,60})\.so[.\d]*): cannot open shared object file",
            ),
            ("NVIDIA-SMI couldn't find ", r"NVIDIA-SMI couldn't find (?P<library>[\w.-]+) library"),
            (
                "Could not find any NVIDIA libraries",
                "Could not find any (?P<library>NVIDIA libraries)",
            ),
            ("unable to find libcuda.so DSO", r"unable to find (?P<library>libcuda\.so) DSO"),
        ],
        'cause': "{library} not found: that is the driver of NVIDIA's GPUs, which is on nodes "
        "with such a GPU, and comes into a container by --nv only.",
        'remedy': "singularity exec --nv, apptainer exec --nv; for a command of the module: export "
        "MPI_CONTAINER_OPTIONS=--nv.",
        'source': "docs.sylabs.io, SingularityCE, GPU support; github.com/apptainer/singularity, "
        "issue 5337; github.com/apache/mxnet, issue 6787",
        'also': [("this node has no GPU", "srun nvidia-smi -L")],
    },
    {
        'name': "component of Open MPI left out",
        'patterns': [
            (
                "mca_base_component_repository_open: unable to open ",
                r"mca_base_component_repository_open: unable to open (?P<component>\w+)",
            )
        ],
        'cause': "Open MPI leaves out its component {component}, whose library is not here or "
        "does not fit.",
        'remedy': "Harmless, unless the run should use just that network: then install the "
        "library in the image.",
        'source': "github.com/PrincetonUniversity/hpc_beginning_workshop, pull request 7",
        'last': True,
    },
    {
        'name': "parts of glibc of two releases",
        'patterns': [
            (
                " with link time reference",
                r"symbol (?:\S{1,100}), version (?:\S{1,40}) not defined in file (?P<file>\S{1,60}) with link time "
                "reference",
            ),
            (
                ", version GLIBC_PRIVATE",
                r"(?<![Ee]rror: )undefined symbol: \S{1,80}, version GLIBC_PRIVATE",
            ),
        ],
        'cause': "A library meets another release of {file} than it was built with: for "
        "GLIBC_PRIVATE the C library of one system is mixed with parts of another one's "
        "(LD_PRELOAD, LD_LIBRARY_PATH, a bind).",
        'remedy': "Never load another libc.so.6 than the system's: unset LD_PRELOAD and "
        "LD_LIBRARY_PATH; env -i in the container shows it. A program that needs a newer glibc "
        "runs in an image that has it.",
        'source': "ld.so(8); github.com/bcbio/bcbio-nextgen, issue 3718",
        'unless': ["library of CUDA of another release"],
    },
    {
        'name': "library that is no library",
        'patterns': [
            (
                "failed to map segment from shared object",
                r"failed to map segment from shared object[^\n]{0,40}",
            )
        ],
        'cause': "The loader cannot use a library's file: it is empty or cut off (a full disk "
        "when it was copied, a driver's file bound from a host without it), lies on a disk "
        "mounted noexec, or memory is short.",
        'remedy': "ls -lL the file that is named, inside the container; install or copy it again. "
        "'failed to map segment': findmnt -T FOLDER (noexec), ulimit -v.",
        'source': "ld.so(8); glibc, elf/dl-load.c",
    },
    {
        'name': "library of CUDA of another release",
        'patterns': [
            (
                "undefined symbol: ",
                "(?<![Ee]rror: )undefined symbol: (?P<symbol>(?:__nvJitLink|nccl|cublas|cudnn|cusparse|cusolver"
                "|cufft|curand|cuda[A-Z]|nvrtc|nvml|hip[A-Z]|rccl|rocblas"
                r"|hipblas)\w{0,60})(?![^\n]{0,80}\(ignored\))",
            ),
            (
                " with link time reference",
                r"symbol (?P<symbol>\S{1,100}?),? version \S{1,60} not defined in file "
                r"(?:lib(?:cu|nv|nccl|hip|roc|rccl|amd|hsa)\S{1,60}) with link time reference",
            ),
            (
                ": undefined symbol: ",
                r"lib(?:torch\w{0,60}|c10\w{0,60}|cupy\w{0,60}|jaxlib\w{0,60})\S{0,60}: undefined symbol: "
                r"(?P<symbol>\S{1,200})",
            ),
        ],
        'cause': "Another release of a library of {CUDA|ROCm} is loaded than the package was "
        "built with: one of a module (LD_LIBRARY_PATH, {/usr/local/cuda|/opt/rocm}), of conda or "
        "of the host comes before the package's own. {symbol}",
        'remedy': "unset LD_LIBRARY_PATH, or unload the module {cuda|rocm}: PyTorch and CuPy from "
        "pip bring their own. If it stays: pip install --force-reinstall torch{ (with its "
        "nvidia-* packages)|} in a new environment, and torch, torchvision and flash-attn of one "
        "release.",
        'source': "github.com/pytorch/pytorch, issues 111469 and 119932; "
        "github.com/zai-org/ChatGLM-6B, issue 921",
        'also': [
            (
                "which file it is",
                "LD_DEBUG=libs python -c 'import torch' 2>&1 | grep -E 'trying file|init:'",
            )
        ],
    },
    {
        'name': "library without its versions",
        'patterns': [
            (
                ": no version information available (required by ",
                r"(?<!\S)(?P<library>\S{1,200}): no version information available \(required by "
                r"(?P<by>[^)\n]{1,200})\)",
            )
        ],
        'cause': "{by} finds {library}, a build of its own (conda, a module, LD_LIBRARY_PATH), "
        "instead of the system's. A warning; it may crash later.",
        'remedy': "unset LD_LIBRARY_PATH for system programs, or conda deactivate.",
        'source': "ld.so(8); github.com/hashdist/hashstack, issue 765",
        'last': True,
    },
    {
        'name': "executable stack refused",
        'patterns': [
            (
                "cannot enable executable stack as shared object requires",
                r"(?<![^\s:'\x22])(?:(?P<library>[^\s:'\x22]{1,200}): )?cannot enable executable stack as shared "
                r"object requires",
            )
        ],
        'cause': "The library {library} is marked as one that needs an executable stack (usually "
        "by mistake, of hand-written assembler), and glibc from 2.41 on ('Invalid argument') or "
        "SELinux ('Permission denied') does not give it.",
        'remedy': "patchelf --clear-execstack FILE, or execstack -c FILE; a newer release of the "
        "package. Else export GLIBC_TUNABLES=glibc.rtld.execstack=2 (glibc), setsebool "
        "selinuxuser_execstack on (SELinux), or an image with an older glibc.",
        'source': "glibc 2.41, NEWS; github.com/open-power/pdbg, issue 111; "
        "github.com/mjakeman/extension-manager, issue 88",
    },
    {
        'name': "loader at odds with a library",
        'patterns': [
            (
                "Inconsistency detected by ld.so: ",
                r"Inconsistency detected by ld\.so: (?:[\w.-]{1,40})",
            ),
            (": invalid mode for dlopen", r"__vdso_\w{1,30}: invalid mode for dlopen"),
        ],
        'cause': "The loader of one C library met parts of another one's, or a file that is "
        "damaged: a libc.so.6, libpthread or ld.so of another system comes first "
        "(LD_LIBRARY_PATH, LD_PRELOAD, a bind).",
        'remedy': "unset LD_LIBRARY_PATH LD_PRELOAD, and check that no folder there has a "
        "libc.so.6; install the file again that LD_DEBUG=files PROGRAM names last. Stripped or "
        "packed programs (upx, patchelf) can be damaged too.",
        'source': "glibc, elf/dl-version.c; ld.so(8)",
    },
]

MPI: List[Dict[str, Any]] = [
    {
        'name': "handles of another MPI",
        'patterns': [
            ("invalid communicator", "MPI_ERR_COMM: ?invalid communicator"),
            "Invalid communicator, error stack",
        ],
        'cause': "A communicator or type is not one of this MPI: usually the program, or a "
        "library in it, was compiled with mpi.h of another MPI than the one that is loaded.",
        'remedy': "ldd PROGRAM | grep -i mpi should show one MPI alone. Compile all parts with "
        "the mpicc of this MPI; with mpi4py: pip install --no-binary mpi4py mpi4py.",
        'source': "Open MPI, ompi/errhandler; MPICH, src/mpi/errhan/errnames.txt",
        'also': [
            (
                "the program uses a communicator that it has freed, or before MPI_Init",
                "a debugger at MPI_Abort",
            )
        ],
    },
    {
        'name': "message longer than its buffer",
        'patterns': [
            "MPI_ERR_TRUNCATE",
            (
                "truncated",
                r"(?:Message from rank \d+ and tag \d+ |(?:error stack|\(\d+\)\.*): Message )truncated(?! : "
                "receiv)",
            ),
            "message sizes do not match across processes",
        ],
        'cause': "A rank has received more than its buffer holds: ranks do not agree on a number "
        "or a tag, usually a fault of the program or ranks that read different input.",
        'remedy': "See that all ranks run the same program with the same input. If only one MPI, "
        "or some size, shows it: other algorithms (OMPI_MCA_coll=^hcoll,tuned; "
        "MPIR_CVAR_DEVICE_COLLECTIVES=none; I_MPI_ADJUST_...; UCX_TLS=self,sm,tcp).",
        'source': "MPICH, src/mpi/errhan/errnames.txt; Open MPI, ompi/errhandler",
        'also': [("the MPI is at fault", "the same with another MPI, or with TCP")],
    },
    {
        'name': "window that MPI cannot make",
        'patterns': ["MPI_ERR_WIN: invalid window"],
        'cause': "One-sided communication (MPI_Win_...) does not work with the component that MPI "
        "has chosen for it.",
        'remedy': "Open MPI: export OMPI_MCA_osc=^ucx (or OMPI_MCA_osc=rdma, pt2pt). MPICH over "
        "libfabric: MPIR_CVAR_CH4_OFI_ENABLE_RMA=0.",
        'source': "github.com/maierbn/opendihu, issue 33; Open MPI, osc",
        'unless': [
            "message not delivered",
            "portal table entry not found",
            "message cancelled",
            "shared window over ranks that do not share memory",
        ],
    },
    {
        'name': "MPI cannot start ranks of its own",
        'patterns': [
            ("Function MPID_Comm_spawn", r"Function MPID_Comm_spawn\w{0,20} not implemented")
        ],
        'cause': "The program starts more ranks by MPI_Comm_spawn, and there are no places left, "
        "or what started it cannot do that: srun with pmi2 or cray_shasta cannot.",
        'remedy': "mpirun instead of srun, with more slots than ranks (-n 1 in a job of -n 8, or "
        "--oversubscribe); mpi4py's MPIPoolExecutor: python -m mpi4py.futures, which needs no "
        "spawn.",
        'source': "Open MPI, orte/mca/rmaps; mpi4py, documentation, mpi4py.futures",
    },
    {
        'name': "memory of MPI for its ranks not to be had",
        'patterns': [
            "MPIDU_Init_shm",
            (
                "unable to attach to shared memory",
                r"(?:MPID|MPIR|shm_\w{1,60})\w{0,60}(?:\(\d+\))?\W{0,20}unable to attach to shared memory",
            ),
            (
                "ucx function returned with failed status",
                r"ucx function returned with failed status ?\([^)\n]{0,120}(?:Shared memory error|No resources are "
                "available)",
            ),
        ],
        'cause': "MPI could not make the memory that ranks of a node share: /dev/shm is full, too "
        "small or not accessible.",
        'remedy': "df -h /dev/shm in the container; rm what earlier runs have left there (ls -l "
        "/dev/shm). Docker and podman: --shm-size=2g or --ipc=host.",
        'source': "MPICH, src/mpid/common/shm",
        'also': [("leftovers there belong to another user", "ls -l /dev/shm")],
        'unless': ["shared memory full", "shared memory of UCX in another user namespace"],
    },
    {
        'name': "shared window over ranks that do not share memory",
        'patterns': ["not in the same shared memory domain"],
        'cause': "The program asks for memory that all its ranks share (MPI_Win_allocate_shared), "
        "and they are on several nodes, or MPI shares no memory between them (ch3:sock, "
        "MPIR_CVAR_NOLOCAL, containers that hide /dev/shm).",
        'remedy': "All ranks on one node for a try (srun -N1). In the program: the communicator "
        "of MPI_Comm_split_type with MPI_COMM_TYPE_SHARED. unset MPIR_CVAR_NOLOCAL "
        "MPIR_CVAR_CH3_NOLOCAL.",
        'source': "github.com/pmodels/mpich, issue 7381; MPI standard, MPI_Win_allocate_shared",
    },
    {
        'name': "ranks that took different networks",
        'patterns': [
            (
                "selected pml ",
                r"selected pml (?P<one>\w{1,20}), but peer \S{1,60} on (?P<host>\S{1,80}) selected pml "
                r"?(?P<other>\w{0,20})",
            )
        ],
        'cause': "Open MPI took another way of communication on this node ({one}) than on {host} "
        "({other}): a card is there, is up, or has its library on one of the two only; or they "
        "have different settings.",
        'remedy': "The same way for all: export OMPI_MCA_pml=ucx (then the node that lacks it "
        "shows why), or OMPI_MCA_pml=ob1. srun bash -c 'ibv_devinfo -l; env | grep ^OMPI' "
        "compares the nodes.",
        'source': "Open MPI, ompi/mca/pml/base/pml_base_select.c; github.com/open-mpi/ompi, issue "
        "12475",
        'also': [
            (
                "PMIx lost what the other rank told (nothing behind the last pml)",
                "PMIX_MCA_gds=hash srun ...",
            )
        ],
    },
    {
        'name': "ranks of MPI_Comm_spawn that do not reach the others",
        'patterns': [("_ERROR_LOG: ", r"_ERROR_LOG: [\w ]{1,40} in file \S{0,200}\bdpm/dpm")],
        'cause': "Ranks that MPI_Comm_spawn started do not reach those that started them: on "
        "their node Open MPI takes another interface or another way of communication.",
        'remedy': "export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=NAME "
        "(the interface that nodes share) for a try; a newer Open MPI. mpi4py: python -m "
        "mpi4py.futures needs no spawn.",
        'source': "Open MPI, ompi/dpm/dpm.c; github.com/open-mpi/ompi, issue 9041",
        'unless': ["ranks that took different networks"],
    },
    {
        'name': "file that MPI-IO cannot lock",
        'patterns': [
            "File locking failed in ADIOI",
            "ADIOI_Set_lock",
            ("unable to lock file, errno = ", r"unable to lock file, errno = (?!11\b)(?:\d+)"),
        ],
        'cause': "MPI-IO or HDF5 locks parts of files, and this file system does not (Lustre "
        "without flock, NFS, some cluster file systems).",
        'remedy': "Write to another file system; export HDF5_USE_FILE_LOCKING=FALSE for HDF5; "
        "ROMIO hints romio_ds_write=disable (Cray: MPICH_MPIIO_HINTS). Administrators: mount "
        "Lustre with -o flock.",
        'source': "ROMIO, adio/common/lock.c; HDF5, documentation, file locking",
    },
    {
        'name': "GPU memory between ranks of Cray MPICH",
        'patterns': [
            ("(GTL DEBUG:", r"\(GTL DEBUG: ?-?\d+\) (?P<call>\w+): (?P<why>[^\n]{1,100})"),
            (
                "Assertion failed in file ",
                r"Assertion failed in file \S{0,150}(?P<call>cray_gpu_ops)\.c at line (?P<why>\d+)",
            ),
        ],
        'cause': "Cray's GPU transport layer could not use GPU memory of a rank ({call}: {why}): "
        "ranks of the node do not see each other's GPUs, the memory is of a pool "
        "({cudaMallocAsync|hipMallocAsync}), or the driver's libraries do not fit.",
        'remedy': "Let each rank see all GPUs of the node (srun --gres-flags=allow-task-sharing); "
        "allocate by {cudaMalloc|hipMalloc}; MPICH_GPU_IPC_ENABLED=0 avoids it.",
        'source': "Cray MPICH, intro_mpi(3); github.com/JuliaGPU/CUDA.jl, issue 1398",
        'unless': ["GPU memory not shared between ranks"],
    },
    {
        'name': "mpi4py not installed",
        'patterns': [("No module named ", "No module named '?mpi4py")],
        'cause': "The Python that runs has no mpi4py: it is another Python than the one it was "
        "installed for, or the container has none.",
        'remedy': "which python; python -m pip show mpi4py. In the container of this project: an "
        "image of osu-mpi4py. In a container of your own: pip install mpi4py, with the image's "
        "mpicc on PATH.",
        'source': "mpi4py, documentation, Installation",
    },
    {
        'name': "setting that Open MPI does not take",
        'patterns': ["An invalid value was supplied for an enum variable"],
        'cause': "A setting of Open MPI (OMPI_MCA_..., --mca, or a file openmpi-mca-params.conf) "
        "has a value that it does not know; the lines below name it.",
        'remedy': "env | grep OMPI_MCA_; cat ~/.openmpi/mca-params.conf "
        "$PREFIX/etc/openmpi-mca-params.conf. Correct or remove it.",
        'source': "Open MPI, help-mca-var.txt; github.com/conda-forge/openmpi-feedstock, issue 63",
    },
    {
        'name': "Open MPI moved from where it was installed",
        'patterns': ["cmd failed to exec its actual executable", "couldn't open the help file"],
        'cause': "Open MPI does not find the files of its own installation: it was moved, the "
        "container shows another one in its place, or OPAL_PREFIX names a wrong folder. Its "
        "actual message is lost.",
        'remedy': "export OPAL_PREFIX=FOLDER (that has share/openmpi; Open MPI 5 also PMIX_PREFIX "
        "and PRTE_PREFIX), or unset one of another Open MPI; the topic in the line is the actual "
        "error. prterun must be in bin beside mpirun (Open MPI 5; PRRTE may be a package of its "
        "own).",
        'source': "Open MPI, opal/util/show_help.c; FAQ, relocating",
        'unless': [
            "folder of Open MPI for its session not to be made",
            "helpers of mpirun not reached",
            "limit of locked memory",
            "component of Open MPI missing",
        ],
    },
    {
        'name': "connection of two cards failed",
        'patterns': [
            ("ibv_modify_qp", "ibv_modify_qp.{0,60}failed"),
            ("ibv_create_ah(", r"ibv_create_ah\(.{0,200}failed"),
        ],
        'cause': "Two cards of InfiniBand or RoCE could not be connected: on Ethernet (RoCE) the "
        "wrong GID or an address that does not route; on InfiniBand a port that is not active or "
        "a partition key.",
        'remedy': "ibv_devinfo and show_gids on both nodes: state PORT_ACTIVE. RoCE: "
        "UCX_IB_GID_INDEX=3, NCCL_IB_GID_INDEX=3, UCX_NET_DEVICES=mlx5_0:1. Without: "
        "UCX_TLS=self,sm,tcp.",
        'source': "rdma-core, ibv_modify_qp(3); UCX, documentation, FAQ",
    },
    {
        'name': "MPI started twice",
        'patterns': [
            "GNI_CdmAttach",
            "GNI_RC_INVALID_STATE",
            "Open MPI has detected that this process has attempted to initialize",
            "Calling MPI_Init or MPI_Init_thread twice is erroneous",
        ],
        'cause': "MPI was started a second time in the same process: two libraries of one program "
        "(a simulator and mpi4py) each call MPI_Init, or have an MPI each.",
        'remedy': "Import mpi4py before the other library, or mpi4py.rc.initialize = False; all "
        "parts must be linked with one MPI (ldd).",
        'source': "github.com/neuronsimulator/nrn, issue 581; MPI standard, MPI_Init",
    },
]

TERMINATIONS: List[Dict[str, Any]] = [
    {
        'name': "MPI stopped the job",
        'patterns': [
            ("Fatal error in ", r"Fatal error in (?:internal_\w+|P?MPIX?_\w+|MPI[DR]\w*)")
        ],
        'cause': "MPI or the program has ended the job; the lines that follow name the call.",
        'remedy': "Look at the last line of MPI's list: it is the first cause. FI_LOG_LEVEL=warn "
        "prints more details.",
        'source': "MPICH 4.2.3, seen by this project, 2026-11",
        'last': True,
    },
    {
        'name': "task killed",
        'patterns': [
            (" Killed", r"tasks? [\d,-]+: Killed\b"),
            (" Terminated", r"tasks? [\d,-]+: Terminated\b"),
        ],
        'cause': "A rank was killed from outside: memory, time, or because another rank had "
        "failed.",
        'remedy': "Look for the first error of any rank. If there is none, it was usually memory: "
        "--mem=0, or fewer ranks.",
        'source': "Slurm 22.05, seen by this project, 2026-11",
        'last': True,
    },
    {
        'name': "program failed",
        'patterns': [
            (" Exited with exit code ", r"tasks? \S+ Exited with exit code (?P<code>\d+)"),
            (
                "FAILED (non-zero exit code",
                r"\*\*\* STEP \S{1,40} ON \S{1,60} FAILED \(non-zero exit code",
            ),
        ],
        'cause': "A rank has ended with exit code {code}; no known message in this text explains "
        "it.",
        'remedy': "Look at what the program itself has printed. Exit code 127: not found, 126: "
        "not executable, 143: killed because another rank had failed.",
        'source': "Slurm 22.05, seen by this project, 2026-11",
        'last': True,
    },
    {
        'name': "output cut off",
        'patterns': ["the run was cut off"],
        'cause': "The benchmark has stopped before its last message size, or has printed no "
        "numbers at all.",
        'remedy': "The reason is on its other output: look at the .err file beside it.",
        'source': "osu_container/bench/results/osu_output.py",
        'last': True,
    },
    {
        'name': "shared memory full",
        'patterns': [
            "nexpected bus error encountered in worker",
            "insufficient shared memory (shm)",
            "Error while creating shared memory segment",
            "NCCL WARN Call to posix_fallocate failed",
            "mmap: an error occurred while determining whether or not",
        ],
        'cause': "A program could not have the shared memory that it wants: /dev/shm (or the "
        "folder of Open MPI's session) is full, or smaller than the ranks need. Containers of "
        "Docker have 64 MB.",
        'remedy': "df -h /dev/shm in the container, and remove what earlier runs have left there. "
        "Docker: --shm-size=2g or --ipc=host. Apptainer shows the host's, unless --contain is "
        "given.",
        'source': "mmap(2), SIGBUS; github.com/GlobalArrays/ga, issues 160 and 254",
        'also': [
            ("a file that was mapped was cut off: a disk is full", "df -h . /tmp"),
            ("the memory that the job asked for is used up", "sacct -j JOB -o maxrss,reqmem,state"),
        ],
    },
    {
        'name': "limit of System V shared memory",
        'patterns': [(" failed: No space left", r"shmget\(.{0,200} failed: No space left")],
        'cause': "The node allows no more segments, or bytes, of System V shared memory "
        "(kernel.shmmni, shmall); earlier runs may have left theirs.",
        'remedy': "ipcs -m lists segments, ipcrm removes yours. export UCX_TLS=^sysv takes posix "
        "instead. For the administrators: sysctl kernel.shmmni=32768.",
        'source': "github.com/openucx/ucx, issues 5280 and 9347; shmget(2), ENOSPC",
    },
    {
        'name': "shared memory of Python's workers",
        'patterns': [
            (
                "_multiprocessing.SemLock(",
                r"_multiprocessing\.SemLock\((?:[^\n]{0,200}\n){1,4}?[^\n]{0,60}(?P<why>No space left on "
                "device|Permission denied|No such file or directory|Function not implemented|Read-only file "
                "system)",
            ),
            "normally caused by lack of access to /dev/shm",
        ],
        'cause': "Python's multiprocessing keeps its locks in /dev/shm, and cannot: it does not "
        "exist in the container, is full, or may not be written. {why}",
        'remedy': "ls -ld /dev/shm (drwxrwxrwt) and df -h /dev/shm in the same place; rm what "
        "earlier runs have left there. Apptainer: no --contain, or --bind /dev/shm. Docker: "
        "--shm-size=2g or --ipc=host. chroot: mount -t tmpfs tmpfs /dev/shm.",
        'source': "shm_overview(7), sem_overview(7); github.com/travis-ci/travis-cookbooks, issue "
        "241",
    },
]
