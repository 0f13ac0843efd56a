"""
Define causes and remedies of messages about libraries, MPI calls and killed programs.

LOADER has messages of the loader (ld.so). MPI has messages of MPI about failed calls and wrong
settings. TERMINATIONS has messages about terminated programs.
"""

from typing import Any, Dict, List

LOADER: List[Dict[str, Any]] = [
    {
        'name': "the loaded libfabric is too old",
        'patterns': [
            r"(?P<version>FABRIC_[\d.]*\d)['\u2019\x22`]? not found(?: \(required by "
            r"(?P<by>[^)\n]{1,300})\))?"
        ],
        'cause': "The loaded libfabric is older than the libfabric with which {by} was built: the "
        "loaded libfabric lacks the symbol version {version}.",
        'remedy': "Use approach pure or opensource, which use the image's libfabric instead of "
        "the host's, or use an image whose MPI was built with an older libfabric. The symbol "
        "version FABRIC_1.7 comes with libfabric 1.20, FABRIC_1.8 with 2.0 and FABRIC_1.9 with "
        "2.5. Check that no folder on LD_LIBRARY_PATH contains another libfabric. If the host "
        "was updated, install the osu-container module again with `eb osu-container-APPROACH.eb "
        "-r --rebuild`.",
        'source': "libfabric, libfabric.map.in by release; seen by this project, 2026-11",
    },
    {
        'name': "the C library is too old",
        'patterns': [
            r"(?P<version>GLIBC_\w[\w.]{0,40})['\u2019\x22`]? not found(?: \(required by "
            r"(?P<by>[^)\n]{1,300})\))?"
        ],
        'cause': "{by} needs {version}, but the loaded C library (glibc) is older. In a "
        "container, all programs and libraries use the image's C library, even libraries that "
        "are bound from the host. Outside a container, programs use the host's C library.",
        'remedy': "Use an image of a distribution at least as new as the host's, or bind fewer "
        "libraries of the host (approaches opensource and pure bind no MPI library of the host). "
        "If you have added the option --rocm or --nv, remove this option.",
        'source': "github.com/apptainer/apptainer, pull request 2606, issues 1621 and 3041",
        'unless': ["parts of two versions of glibc are mixed"],
    },
    {
        'name': "the C++ library is too old",
        'patterns': [
            r"(?P<version>GLIBCXX_[\w.]{1,40}|CXXABI_[\w.]{1,40}|GCC_[\d.]+)['\u2019\x22`]? not found(?: "
            r"\(required by (?P<by>[^)\n]{1,300})\))?"
        ],
        'cause': "{by} needs {version} of the compiler's libraries (libstdc++, libgcc), but the "
        "loaded versions of these libraries are older.",
        'remedy': "Use an image with a newer compiler, or an approach that binds fewer host "
        "libraries (opensource, pure). If a module of the host has set LD_LIBRARY_PATH, unload "
        "the module with `module unload NAME`.",
        'source': "github.com/apptainer/apptainer, issue 1621",
    },
    {
        'name': "a loaded library has the wrong version",
        'patterns': [
            r"\.so\S{0,40}: version [`'](?!FABRIC_|LIBCXI_|GLIBC|CXXABI_|GCC_)(?P<version>[^\s'`]+)['\u2019\x22`]? not "
            r"found(?: \(required by (?P<by>[^)\n]{1,300})\))?"
        ],
        'cause': "{by} was built with another version of a library than the loaded version. The "
        "loaded version lacks the symbol version {version}.",
        'remedy': "The beginning of the error message names the library. Find out which setting "
        "leads to this library: `osu-explain` lists the bind mounts of the loaded osu-container "
        "module, and `echo $LD_LIBRARY_PATH` prints the folders that the loader searches. Then "
        "use a version of the library that has {version}.",
        'source': "glibc, ld.so(8); seen by this project, 2026-11",
    },
    {
        'name': "a library is missing",
        'patterns': [
            r"(?:^|[\s:'(])(?P<library>[^\s:'(]{0,300}lib(?:cxi|fabric|pmi2?|pmix|palsd?|xpmem|dsmml|mpi_gtl\w{0,60}"
            r"|json-c|curl|lustreapi|nl-\w{1,60}|rdmacm|ibverbs|efa|psm\w{0,60}|uc[mpst]"
            r"|sci_\w{1,60})\.so[^\s:'(]{0,80}): cannot open shared object file(?![^\n]{0,80}\(ignored\))"
        ],
        'cause': "A program or library needs {library}, a library of the network or of the "
        "launcher, but the loader does not find {library}. In a container, such a library comes "
        "from the image or is bound from the host.",
        'remedy': "Find the library on the host with `ldconfig -p` or `find /opt /usr -name "
        "'LIBRARY*'`. If you start the container without an osu-container module, add `--bind "
        "FILE --env LD_LIBRARY_PATH=FOLDER`, and also bind the libraries that `ldd FILE` lists. "
        "If you started the program with an osu-container module, the host has probably changed "
        "since the installation of the module: run `eb osu-container-APPROACH.eb -r --rebuild`. If "
        "the library is then still missing, add the library's folder to library_folders of the "
        "site description (docs/add-a-site.md).",
        'source': "glibc, ld.so(8); seen by this project, 2026-11",
        'unless': ["MVAPICH does not find a library of InfiniBand"],
    },
    {
        'name': "a library of ROCm is missing",
        'patterns': [
            r"(?P<library>lib(?:amdhip64|hsa-runtime64|amd_comgr)\.so[.\d]*): cannot open shared object "
            "file"
        ],
        'cause': "The loader does not find {library} of ROCm. The program or library that needs "
        "{library} was built with another major version of ROCm than the installed version, ROCm "
        "is not installed, or no setting leads to its folder.",
        'remedy': "Use an image with the same major version of ROCm as the host's MPI: Cray "
        "MPICH up to 25.09 needs ROCm 6, even if the image contains ROCm 7. If the error message "
        "names a file without a version number (libamdhip64.so), libfabric opens this file; some "
        "distributions have this file only in the -dev package of ROCm.",
        'source': "LUMI training, update of January 2026; libfabric, src/hmem_rocr.c",
    },
    {
        'name': "LD_PRELOAD names a library that cannot be loaded",
        'patterns': [r"object '(?P<library>[^'\n]+)' from LD_PRELOAD cannot be preloaded"],
        'cause': "LD_PRELOAD names {library}, but the loader cannot load {library}: the file is "
        "missing or not compatible. The program continues without {library}. If {library} is an "
        "MPI library, the program uses another MPI than intended.",
        'remedy': "If you have set LD_PRELOAD, run `unset LD_PRELOAD`. If the loaded "
        "osu-container module sets LD_PRELOAD (run `osu-explain LD_PRELOAD`), the host has "
        "changed: install the module again with `eb osu-container-APPROACH.eb -r --rebuild`.",
        'source': "glibc, ld.so(8); seen by this project, 2026-11",
    },
    {
        'name': "libcxi is too old for libfabric",
        'patterns': [
            r"(?<![Ee]rror: )undefined symbol: (?P<symbol>cxil?_\w+)",
            r"(?P<symbol>LIBCXI_[\d.]*\d)['\u2019\x22`]? not found",
        ],
        'cause': "The provider cxi of libfabric needs {symbol}, but the loaded libcxi does not "
        "have {symbol}: libfabric is newer than libcxi.",
        'remedy': "With approach opensource, build the image with matching versions of libcxi "
        "and libfabric (libfabric 2.5.0 needs libcxi of January 2026). With approach hybrid, "
        "libcxi and libfabric must both come from the host; `srun scripts/rank-proof FOLDER "
        "PROGRAM` shows whether libcxi or libfabric comes from the image.",
        'source': "github.com/ofiwg/libfabric, issues 9835 and 12036; "
        "github.com/HewlettPackard/shs-libcxi, src/libcxi.sym by release",
    },
    {
        'name': "a loaded library lacks a function",
        'patterns': [
            r"(?<![Ee]rror: )undefined symbol: (?!cxil?_)(?P<symbol>[^\s,]+)(?![^\n]{0,80}\(ignored\))"
        ],
        'cause': "A loaded library lacks the function {symbol}. The program was built with "
        "another version of the library, or with another library of the same name. The functions "
        "ompi_*, opal_* and orte_* belong to Open MPI, and the functions MPIR_* and MPID_* to "
        "MPICH. MPI 4 added the functions MPI_*_c.",
        'remedy': "The beginning of the error message names the library that needs the function. "
        "`srun scripts/rank-proof FOLDER PROGRAM` shows which library files the program loads: "
        "remove the folder or the LD_PRELOAD entry that leads to the wrong file. If the host was "
        "updated, install the osu-container module again with `eb osu-container-APPROACH.eb -r "
        "--rebuild`.",
        'source': "glibc, ld.so(8); seen by this project, 2026-11",
        'unless': [
            "a library of CUDA or ROCm has the wrong version",
            "parts of two versions of glibc are mixed",
        ],
    },
    {
        'name': "a file is for another processor architecture",
        'patterns': [
            "(?P<what>wrong ELF class)",
            "(?P<what>invalid ELF header)",
            r"(?:cannot execute binary file|execve\(\)|FATAL: {3}exec \S{1,200} failed): (?P<what>(?i:exec "
            "format error))",
        ],
        'cause': "The system cannot load or start a file ({what}): the file was built for "
        "another processor architecture, or is neither a program nor a library.",
        'remedy': "Use an image for the processor architecture of the node (`uname -m` prints "
        "the architecture): LUMI and workstations are x86_64, Alps is aarch64. If the file is a "
        "library of the host, run `file FILE`: a path in the site description may lead to a "
        "linker script (a text file) instead of a library.",
        'source': "glibc, ld.so(8); seen by this project, 2026-11",
    },
    {
        'name': "MVAPICH does not find a library of InfiniBand",
        'patterns': [
            r"retry with MV2_LIB\w{1,20}_PATH",
            r"Error opening lib(?:ib\w{1,12}|rdmacm|ibverbs)\.so\S{0,8}: ",
        ],
        'cause': "MVAPICH opens the libraries of InfiniBand at the start, and the loader does not "
        "find them. This build of MVAPICH works over InfiniBand only, not over Slingshot.",
        'remedy': "On a system with InfiniBand, install rdma-core (libibverbs, libibumad) where "
        "the program runs. On another network, use MPICH or Open MPI, or an MVAPICH that was "
        "built for libfabric.",
        'source': "MVAPICH2, its own text",
    },
    {
        'name': "the loader does not find a library",
        'patterns': [
            r"(?:^|[\s:'(])(?![^\s:'(]{0,300}(?:lib(?:cxi|fabric|pmi2?|pmix|palsd?|xpmem|dsmml|mpi_gtl\w{0,60}"
            r"|json-c|curl|lustreapi|nl-\w{1,60}|rdmacm|ibverbs|efa|psm\w{0,60}|uc[mpst]|sci_\w+|mpi\w*|amdhip64"
            r"|hsa-runtime64|amd_comgr|[nr]ccl-net[\w-]*|cuda|nvidia-[\w-]+|slurm\w*|Qt[56]Core)\.so"
            r"|-rdmav\d+\.so))(?P<library>[^\s:'(]+): cannot open shared object file(?!: "
            r"(?:Structure|Input/output|Stale|Permission))(?![^\n]{0,80}\(ignored\))",
            r"loading shared libraries: (?P<library>[^\s:]+): cannot open shared object f(?:\.\.\.|$)",
            r"exec (?P<library>\S+) failed: a shared library is likely missing in the image",
        ],
        'cause': "The library {library} is in no folder that the loader searches. In a container, "
        "the image lacks the library. Outside a container, the module that provides the library "
        "is not loaded, the compute nodes lack a package that the login node has, or conda "
        "installed another version of the library.",
        'remedy': "Install the package of the library in the image: libgfortran.so.5 is in "
        "libgfortran5 (Debian, openSUSE) or libgfortran (Rocky). If the library is in a separate "
        "folder (conda, /opt), add the folder to LD_LIBRARY_PATH in the container. With conda, "
        "install the package version that contains the library, from the same channel as all "
        "other packages: libcrypto.so.1.0.0 is in openssl=1.0, and libmkl_*.so.1 is in mkl=2021.",
        'source': "glibc, ld.so(8); seen by this project, 2026-11; github.com/sylabs/singularity, "
        "issue 668; github.com/open-mpi/ompi, issue 6352",
        'unless': ["MVAPICH does not find a library of InfiniBand"],
        'also': [
            (
                "the library exists, but another library that the library needs does not exist",
                "osu-exec ldd FILE",
            ),
            (
                "the library belongs to the host, and the host has changed since the "
                "osu-container module was installed",
                "osu-explain",
            ),
        ],
    },
    {
        'name': "the MPI library of the program is missing",
        'patterns': [
            r"(?P<library>libmpi(?!_gtl)\w{0,60}\.so[.\d]*): cannot open shared object "
            r"file(?![^\n]{0,80}\(ignored\))"
        ],
        'cause': "The loader does not find {library}: no MPI is loaded, or the program was built "
        "with another MPI than the loaded MPI. libmpi.so.12 belongs to MPICH, Intel MPI, Cray MPICH and MVAPICH, and "
        "libmpi.so.40 to Open MPI. libmpi_mpifh and libmpi_usempif08 are Open MPI's libraries "
        "for Fortran.",
        'remedy': "Use the MPI with which the program was built, or build the program again with "
        "the loaded MPI. Approach bind needs a host MPI with the soname that the program needs "
        "(usually libmpi.so.12), and approach hybrid refuses images with Open MPI. Open MPI has "
        "its Fortran libraries only if Open MPI was built with a Fortran compiler.",
        'source': "glibc, ld.so(8); seen by this project, 2026-11; "
        "github.com/OpenRadioss/OpenRadioss, issue 1876; github.com/wi4mpi/wi4mpi, issue 23",
        'also': [
            (
                "the library exists in a folder that the loader does not search",
                "osu-exec find / -name 'libmpi*.so*' -not -path '/proc/*'",
            )
        ],
    },
    {
        'name': "a library of the NVIDIA driver is missing",
        'patterns': [
            r"(?P<library>lib(?:cuda|nvidia-[\w-]{1,60})\.so[.\d]*): cannot open shared object file",
            r"NVIDIA-SMI couldn't find (?P<library>[\w.-]+) library",
            "Could not find any (?P<library>NVIDIA libraries)",
            r"unable to find (?P<library>libcuda\.so) DSO",
        ],
        'cause': "The loader did not find {library}. This library belongs to the driver of NVIDIA "
        "GPUs. Only nodes with an NVIDIA GPU have the driver, and only the option --nv makes the "
        "driver available in a container.",
        'remedy': "Run `singularity exec --nv` or `apptainer exec --nv`; for the commands of an "
        "osu-container module, run `export MPI_CONTAINER_OPTIONS=--nv`.",
        'source': "docs.sylabs.io, SingularityCE, GPU support; github.com/apptainer/singularity, "
        "issue 5337; github.com/apache/mxnet, issue 6787",
        'also': [("this node has no GPU", "srun nvidia-smi -L")],
    },
    {
        'name': "Open MPI skips a component",
        'patterns': [r"mca_base_component_repository_open: unable to open (?P<component>\w+)"],
        'cause': "Open MPI skips its component {component}, because a library that the component "
        "needs is missing or not compatible.",
        'remedy': "The message about Open MPI's component {component} is harmless unless the run "
        "needs the network that this component supports. If the run needs this network, install "
        "the missing library in the image; the error message names the library.",
        'source': "github.com/PrincetonUniversity/hpc_beginning_workshop, pull request 7",
        'last': True,
    },
    {
        'name': "parts of two versions of glibc are mixed",
        'patterns': [
            r"symbol (?:\S{1,100}), version (?:\S{1,40}) not defined in file (?P<file>\S{1,60}) with link time "
            "reference",
            r"(?<![Ee]rror: )undefined symbol: \S{1,80}, version GLIBC_PRIVATE",
        ],
        'cause': "The loaded version of a library differs from the version with which the "
        "program or another library was built. If the error message names GLIBC_PRIVATE, "
        "LD_PRELOAD, LD_LIBRARY_PATH or a bind mount mixes parts of two systems' C libraries "
        "(glibc).",
        'remedy': "The program must load only the libc.so.6 of the system or image: run `unset "
        "LD_PRELOAD LD_LIBRARY_PATH`. To test whether a variable is the cause, run `env -i "
        "PROGRAM` in the container. If a program needs a newer glibc, use an image that contains "
        "the newer glibc.",
        'source': "ld.so(8); github.com/bcbio/bcbio-nextgen, issue 3718",
        'unless': ["a library of CUDA or ROCm has the wrong version"],
    },
    {
        'name': "the loader cannot use a library file",
        'patterns': [r"failed to map segment from shared object[^\n]{0,40}"],
        'cause': "The loader cannot use a library file. The file is empty or truncated (by a full "
        "disk during copying, or because a driver file was bound from a host without the driver), "
        "the file is on a disk mounted with noexec, or no memory is left.",
        'remedy': "Run `ls -lL FILE` inside the container for the file that the error message "
        "names, and install or copy the file again. If the error message contains 'failed to map "
        "segment', check `findmnt -T FOLDER` for noexec and `ulimit -v` for a memory limit.",
        'source': "ld.so(8); glibc, elf/dl-load.c",
    },
    {
        'name': "a library of CUDA or ROCm has the wrong version",
        'patterns': [
            "(?<![Ee]rror: )undefined symbol: (?P<symbol>(?:__nvJitLink|nccl|cublas|cudnn|cusparse|cusolver"
            "|cufft|curand|cuda[A-Z]|nvrtc|nvml|hip[A-Z]|rccl|rocblas"
            r"|hipblas)\w{0,60})(?![^\n]{0,80}\(ignored\))",
            r"symbol (?P<symbol>\S{1,100}?),? version \S{1,60} not defined in file "
            r"(?:lib(?:cu|nv|nccl|hip|roc|rccl|amd|hsa)\S{1,60}) with link time reference",
            r"lib(?:torch\w{0,60}|c10\w{0,60}|cupy\w{0,60}|jaxlib\w{0,60})\S{0,60}: undefined symbol: "
            r"(?P<symbol>\S{1,200})",
        ],
        'cause': "A Python package or program needs another version of a {CUDA|ROCm} library than "
        "the loaded version: the loaded library lacks {symbol}. The loader found another library "
        "before the library of the package: in LD_LIBRARY_PATH (set by a module), in "
        "{/usr/local/cuda|/opt/rocm}, in conda or on the host.",
        'remedy': "Run `unset LD_LIBRARY_PATH`, or unload the module {cuda|rocm}: PyTorch and "
        "CuPy from pip contain their own libraries. If the error remains, create a new "
        "environment and run `pip install --force-reinstall torch`{ (with its nvidia-* "
        "packages)|}; torch, torchvision and flash-attn must have matching versions.",
        'source': "github.com/pytorch/pytorch, issues 111469 and 119932; "
        "github.com/zai-org/ChatGLM-6B, issue 921",
        'also': [
            (
                "another file of the same name is loaded",
                "LD_DEBUG=libs python -c 'import torch' 2>&1 | grep -E 'trying file|init:'",
            )
        ],
    },
    {
        'name': "a library without symbol versions is loaded",
        'patterns': [
            r"(?<!\S)(?P<library>\S{1,200}): no version information available \(required by "
            r"(?P<by>[^)\n]{1,200})\)"
        ],
        'cause': "{by} was built with a library that has symbol versions, but loads {library}, a "
        "file without symbol versions (from conda, from a module or from a folder on "
        "LD_LIBRARY_PATH). The loader only prints a warning, but the program may crash later.",
        'remedy': "Before you start a program of the system, run `unset LD_LIBRARY_PATH` or "
        "`conda deactivate`.",
        'source': "ld.so(8); github.com/hashdist/hashstack, issue 765",
        'last': True,
    },
    {
        'name': "a library needs an executable stack",
        'patterns': [
            r"(?<![^\s:'\x22])(?:(?P<library>[^\s:'\x22]{1,200}): )?cannot enable executable stack as shared "
            r"object requires"
        ],
        'cause': "A library requests an executable stack (usually by mistake, from hand-written "
        "assembler). glibc 2.41 and newer ('Invalid argument') or SELinux ('Permission denied') "
        "refuses an executable stack.",
        'remedy': "Run `patchelf --clear-execstack FILE` or `execstack -c FILE` for the library, "
        "or use a newer version of the library. If glibc refuses the stack, you can also run "
        "`export GLIBC_TUNABLES=glibc.rtld.execstack=2` or use an image with an older glibc. If "
        "SELinux refuses the stack, root can run `setsebool selinuxuser_execstack on`.",
        'source': "glibc 2.41, NEWS; github.com/open-power/pdbg, issue 111; "
        "github.com/mjakeman/extension-manager, issue 88",
    },
    {
        'name': "the loader and the C library do not match",
        'patterns': [
            r"Inconsistency detected by ld\.so: (?:[\w.-]{1,40})",
            r"__vdso_\w{1,30}: invalid mode for dlopen",
        ],
        'cause': "The loader of one C library found parts of another C library, or a damaged "
        "file. LD_LIBRARY_PATH, LD_PRELOAD or a bind mount leads to the libc.so.6, libpthread or "
        "ld.so of another system.",
        'remedy': "Run `unset LD_LIBRARY_PATH LD_PRELOAD`, and check that no folder on "
        "LD_LIBRARY_PATH contains a libc.so.6. `LD_DEBUG=files PROGRAM` names the files that the "
        "loader reads. The last file may be damaged: install the package of this file again. "
        "Tools that strip or rewrite programs (upx, patchelf) can also damage a program.",
        'source': "glibc, elf/dl-version.c; ld.so(8)",
    },
]

MPI: List[Dict[str, Any]] = [
    {
        'name': "a communicator or datatype belongs to another MPI",
        'patterns': [
            "MPI_ERR_COMM: ?invalid communicator",
            "Invalid communicator, error stack",
        ],
        'cause': "A communicator or datatype does not belong to the loaded MPI. Usually the "
        "program, or a library in the program, was compiled with mpi.h of another MPI than the "
        "loaded MPI.",
        'remedy': "`ldd PROGRAM | grep -i mpi` should show a single MPI. Compile all parts of "
        "the program with this MPI's mpicc; for mpi4py, run `pip install --no-binary mpi4py "
        "mpi4py`.",
        'source': "Open MPI, ompi/errhandler; MPICH, src/mpi/errhan/errnames.txt",
        'also': [
            (
                "the program uses a communicator after freeing the communicator, or calls MPI "
                "before MPI_Init",
                "run a debugger with a breakpoint at MPI_Abort",
            )
        ],
    },
    {
        'name': "an MPI message is longer than its buffer",
        'patterns': [
            "MPI_ERR_TRUNCATE",
            r"(?:Message from rank \d+ and tag \d+ |(?:error stack|\(\d+\)\.*): Message )truncated(?! : "
            "receiv)",
            "message sizes do not match across processes",
        ],
        'cause': "A rank received an MPI message that is longer than the rank's buffer. The "
        "ranks disagree on a count or a tag, usually because the program has a bug or the ranks "
        "read different input.",
        'remedy': "Check that all ranks run the same program with the same input. If the error "
        "appears only with one MPI or only at one message size, select other algorithms. Open "
        "MPI: `export OMPI_MCA_coll=^hcoll,tuned`. MPICH: `export "
        "MPIR_CVAR_DEVICE_COLLECTIVES=none`. Intel MPI: set a variable I_MPI_ADJUST_*. With UCX, "
        "select other transports: `export UCX_TLS=self,sm,tcp`.",
        'source': "MPICH, src/mpi/errhan/errnames.txt; Open MPI, ompi/errhandler",
        'also': [
            ("the MPI library has a bug", "run the same command with another MPI, or over TCP")
        ],
    },
    {
        'name': "MPI cannot create a window",
        'patterns': ["MPI_ERR_WIN: invalid window"],
        'cause': "One-sided communication (MPI_Win_*) does not work with the component that MPI "
        "selected for one-sided communication.",
        'remedy': "Select another component for one-sided communication. For Open MPI 4, run "
        "`export OMPI_MCA_osc=pt2pt`; for Open MPI 5, run `export OMPI_MCA_osc=^ucx`. For MPICH with "
        "libfabric, run `export MPIR_CVAR_CH4_OFI_ENABLE_RMA=0`.",
        'source': "github.com/open-mpi/ompi, issue 11466; github.com/maierbn/opendihu, issue 33; Open "
        "MPI 4.1.4 seen by this project, 2026-11",
        'unless': [
            "the network card could not deliver a message",
            "a message arrived for an endpoint that no longer exists",
            "a message was cancelled",
            "ranks of a shared window do not share memory",
        ],
    },
    {
        'name': "MPI_Comm_spawn cannot start more ranks",
        'patterns': [r"Function MPID_Comm_spawn\w{0,20} not implemented"],
        'cause': "The program starts more ranks with MPI_Comm_spawn. Either no slots are left, or "
        "the launcher does not support MPI_Comm_spawn (srun with pmi2 or cray_shasta, for "
        "example, does not).",
        'remedy': "Use mpirun instead of srun, with more slots than ranks (`mpirun -n 1 PROGRAM` "
        "in a job of 8 tasks, or mpirun with --oversubscribe). For MPIPoolExecutor of mpi4py, run "
        "`python -m mpi4py.futures SCRIPT`, which does not call MPI_Comm_spawn.",
        'source': "Open MPI, orte/mca/rmaps; mpi4py, documentation, mpi4py.futures",
    },
    {
        'name': "MPI cannot create shared memory",
        'patterns': [
            r"Not enough memory to write total of \d+ bytes",
            "MPIDU_Init_shm",
            r"(?:MPID|MPIR|shm_\w{1,60})\w{0,60}(?:\(\d+\))?\W{0,20}unable to attach to shared memory",
            r"ucx function returned with failed status ?\([^)\n]{0,120}(?:Shared memory error|No resources are "
            "available)",
        ],
        'cause': "MPI could not create the memory that the ranks of a node share: /dev/shm is "
        "full, too small or not accessible.",
        'remedy': "Check the space with `df -h /dev/shm` in the container, list files of earlier "
        "runs with `ls -l /dev/shm`, and remove these files. With Docker or podman, add "
        "--shm-size=2g or --ipc=host.",
        'source': "MPICH, src/mpid/common/shm",
        'also': [
            (
                "files of earlier runs belong to another user, so you cannot remove these files",
                "ls -l /dev/shm",
            )
        ],
        'unless': [
            "shared memory is full",
            "UCX cannot open the shared memory of another rank",
        ],
    },
    {
        'name': "ranks of a shared window do not share memory",
        'patterns': ["not in the same shared memory domain"],
        'cause': "The program requests memory that all its ranks share "
        "(MPI_Win_allocate_shared). But the ranks are on several nodes, or MPI uses no shared "
        "memory between the ranks of a node (because of MPICH's device ch3:sock, of the variable "
        "MPIR_CVAR_NOLOCAL, or of containers without the host's /dev/shm).",
        'remedy': "To test, start all ranks on the same node (`srun -N1`), and run `unset "
        "MPIR_CVAR_NOLOCAL MPIR_CVAR_CH3_NOLOCAL`. In the source code of the program, create the "
        "window with the communicator of MPI_Comm_split_type with MPI_COMM_TYPE_SHARED.",
        'source': "github.com/pmodels/mpich, issue 7381; MPI standard, MPI_Win_allocate_shared",
    },
    {
        'name': "ranks selected different transports",
        'patterns': [
            r"selected pml (?P<one>\w{1,20}), but peer \S{1,60} on (?P<host>\S{1,80}) selected pml "
            r"?(?P<other>\w{0,20})"
        ],
        'cause': "Open MPI selected another transport on {host} than on this node ({one}). Only "
        "one of the two nodes has a network card, an active link or the library of the card, or "
        "the nodes have different settings.",
        'remedy': "Select the same transport on all nodes: `export OMPI_MCA_pml=ucx` (a node "
        "without UCX or without a card for UCX then prints the reason) or `export "
        "OMPI_MCA_pml=ob1`. `srun bash -c 'ibv_devinfo -l; env | grep ^OMPI'` prints the cards "
        "and settings of each node.",
        'source': "Open MPI, ompi/mca/pml/base/pml_base_select.c; github.com/open-mpi/ompi, issue "
        "12475",
        'also': [
            (
                "PMIx lost the data of the other rank (likely if no name follows the last 'pml' "
                "in the error message)",
                "PMIX_MCA_gds=hash srun PROGRAM",
            )
        ],
    },
    {
        'name': "ranks of MPI_Comm_spawn cannot reach the other ranks",
        'patterns': [r"_ERROR_LOG: [\w ]{1,40} in file \S{0,200}\bdpm/dpm"],
        'cause': "Ranks that MPI_Comm_spawn started cannot reach the ranks that called "
        "MPI_Comm_spawn: on the node of the new ranks, Open MPI selects another network interface "
        "or another transport.",
        'remedy': "To test whether MPI_Comm_spawn works over TCP, run `export OMPI_MCA_pml=ob1 "
        "OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=NAME`, where NAME is a network interface "
        "that all nodes have; keep this slower setting, or use a newer Open MPI. With mpi4py, "
        "`python -m mpi4py.futures SCRIPT` does not call MPI_Comm_spawn.",
        'source': "Open MPI, ompi/dpm/dpm.c; github.com/open-mpi/ompi, issue 9041",
        'unless': ["ranks selected different transports"],
    },
    {
        'name': "MPI-IO cannot lock a file",
        'patterns': [
            "File locking failed in ADIOI",
            "ADIOI_Set_lock",
            r"unable to lock file, errno = (?!11\b)(?:\d+)",
        ],
        'cause': "MPI-IO or HDF5 locks parts of a file, and the file system of this file does not "
        "support locks (Lustre without flock, NFS, some cluster file systems).",
        'remedy': "Write to another file system. For HDF5, run `export "
        "HDF5_USE_FILE_LOCKING=FALSE`. For ROMIO, set the hint romio_ds_write=disable (Cray "
        "MPICH: `export MPICH_MPIIO_HINTS='*:romio_ds_write=disable'`). Administrators can mount "
        "Lustre with -o flock.",
        'source': "ROMIO, adio/common/lock.c; HDF5, documentation, file locking",
    },
    {
        'name': "Cray MPICH lacks the library of Lustre",
        'patterns': ["liblustreapi != NULL"],
        'cause': "Cray MPICH opens the library liblustreapi.so when a program opens a file on "
        "Lustre with MPI-IO, and the container does not have liblustreapi.so.",
        'remedy': "Load the module of approach bind, which injects liblustreapi.so of the host, and "
        "install the module again if the host had no liblustreapi.so during the installation. "
        "With approach hybrid, MPI-IO uses the image's MPICH, which does not need this library.",
        'source': "github.com/underworldcode/underworld2, issue 668, 2023; Pawsey's newsletter of "
        "2023-03-13",
    },
    {
        'name': "Cray MPICH cannot access the GPU memory of another rank",
        'patterns': [
            r"\(GTL DEBUG: ?-?\d+\) (?P<call>\w+): (?P<why>[^\n]{1,100})",
            r"Assertion failed in file \S{0,150}(?P<call>cray_gpu_ops)\.c at line (?P<why>\d+)",
        ],
        'cause': "Cray's GPU transport layer could not access the GPU memory of another rank "
        "({call}: {why}). Possible reasons: the ranks of the node do not see each other's GPUs, "
        "the memory comes from a pool ({cudaMallocAsync|hipMallocAsync}), or the driver libraries "
        "are not compatible.",
        'remedy': "Let each rank see all GPUs of the node (`srun "
        "--gres-flags=allow-task-sharing`), and allocate the memory with {cudaMalloc|hipMalloc}. "
        "Or run `export MPICH_GPU_IPC_ENABLED=0`: Cray MPICH then does not access the GPU memory of "
        "other ranks.",
        'source': "Cray MPICH, intro_mpi(3); github.com/JuliaGPU/CUDA.jl, issue 1398",
        'unless': ["ranks cannot share GPU memory"],
    },
    {
        'name': "mpi4py is not installed",
        'patterns': [r"No module named '?mpi4py(?!\w)"],
        'cause': "The Python that runs the program has no mpi4py: either mpi4py was installed for "
        "another Python, or the container has no mpi4py.",
        'remedy': "Check with `which python; python -m pip show mpi4py`. Among the images of this "
        "project, the images whose names begin with osu-mpi4py contain mpi4py. In your own "
        "container, run `pip install mpi4py` with the image's mpicc on PATH.",
        'source': "mpi4py, documentation, Installation",
    },
    {
        'name': "Open MPI does not accept a setting",
        'patterns': ["An invalid value was supplied for an enum variable"],
        'cause': "A setting of Open MPI (OMPI_MCA_*, --mca, or an entry of a file "
        "openmpi-mca-params.conf) has a value that Open MPI does not accept. The lines after the "
        "error message name the setting.",
        'remedy': "Find the setting with `env | grep OMPI_MCA_; cat ~/.openmpi/mca-params.conf "
        "$PREFIX/etc/openmpi-mca-params.conf`, and correct or remove the setting.",
        'source': "Open MPI, help-mca-var.txt; github.com/conda-forge/openmpi-feedstock, issue 63",
    },
    {
        'name': "Open MPI does not find its own installation",
        'patterns': ["cmd failed to exec its actual executable", "couldn't open the help file"],
        'cause': "Open MPI does not find the files of its own installation, and therefore cannot "
        "print the text of the actual error. The installation was moved, the container has "
        "another installation at the same path, or OPAL_PREFIX names a wrong folder.",
        'remedy': "Run `export OPAL_PREFIX=FOLDER` with the folder that contains share/openmpi "
        "(Open MPI 5: also PMIX_PREFIX and PRTE_PREFIX). If one of these variables names the "
        "folder of another Open MPI, unset the variable. The topic in the error message names "
        "the actual error. Open MPI 5 needs the program prterun in the folder of mpirun; PRRTE, "
        "which contains prterun, may be a separate package.",
        'source': "Open MPI, opal/util/show_help.c; FAQ, relocating",
        'unless': [
            "Open MPI cannot create its session folder",
            "mpirun cannot reach its daemons",
            "the limit of locked memory is too low",
            "Open MPI does not have a requested component",
        ],
    },
    {
        'name': "two InfiniBand or RoCE cards cannot connect",
        'patterns': [
            "ibv_modify_qp.{0,60}failed",
            r"ibv_create_ah\(.{0,200}failed",
        ],
        'cause': "Two InfiniBand or RoCE cards could not connect to each other. On Ethernet "
        "(RoCE), the GID is wrong or no route leads to the address. On InfiniBand, a port is not "
        "active or the partition keys differ.",
        'remedy': "Run `ibv_devinfo` and `show_gids` on both nodes; ibv_devinfo must print the "
        "state PORT_ACTIVE. For RoCE, run `export UCX_IB_GID_INDEX=3 NCCL_IB_GID_INDEX=3 "
        "UCX_NET_DEVICES=mlx5_0:1`. To run without the InfiniBand or RoCE cards, use `export "
        "UCX_TLS=self,sm,tcp`.",
        'source': "rdma-core, ibv_modify_qp(3); UCX, documentation, FAQ",
    },
    {
        'name': "MPI was started twice in a process",
        'patterns': [
            "GNI_CdmAttach",
            "GNI_RC_INVALID_STATE",
            "Open MPI has detected that this process has attempted to initialize",
            "Calling MPI_Init or MPI_Init_thread twice is erroneous",
        ],
        'cause': "MPI was started a second time in the same process: two libraries of a program "
        "(for example a simulator and mpi4py) both call MPI_Init, or each of the two libraries is "
        "linked with a different MPI.",
        'remedy': "Import mpi4py before the other library that calls MPI_Init, or set "
        "mpi4py.rc.initialize = False. All libraries of the program must be linked with the same "
        "MPI (`ldd FILE` shows which MPI a library uses).",
        'source': "github.com/neuronsimulator/nrn, issue 581; MPI standard, MPI_Init",
    },
]

TERMINATIONS: List[Dict[str, Any]] = [
    {
        'name': "MPI terminated the job",
        'patterns': [r"Fatal error in (?:internal_\w+|P?MPIX?_\w+|MPI[DR]\w*)"],
        'cause': "MPI or the program terminated the job. The lines after the error message name "
        "the MPI call that failed.",
        'remedy': "The last line of MPI's error stack names the first cause. With `export "
        "FI_LOG_LEVEL=warn`, libfabric prints more details.",
        'source': "MPICH 4.2.3, seen by this project, 2026-11",
        'last': True,
    },
    {
        'name': "the program failed",
        'patterns': [
            r"tasks? \S+ Exited with exit code (?P<code>\d+)",
            r"\*\*\* STEP \S{1,40} ON \S{1,60} FAILED \(non-zero exit code",
        ],
        'cause': "A rank terminated with an exit code other than 0. The job's output has no "
        "known error message that explains the exit code.",
        'remedy': "Read the output of the program itself. Exit code 127 means that the program "
        "was not found, exit code 126 means that the program file is not executable, and exit "
        "code 143 means that the program was killed because another rank failed.",
        'source': "Slurm 22.05, seen by this project, 2026-11",
        'last': True,
    },
    {
        'name': "shared memory is full",
        'patterns': [
            "nexpected bus error encountered in worker",
            r"insufficient shared memory \(shm\)",
            "Error while creating shared memory segment",
            "NCCL WARN Call to posix_fallocate failed",
            "mmap: an error occurred while determining whether or not",
        ],
        'cause': "A program could not get enough shared memory: /dev/shm (or the session folder "
        "of Open MPI) is full, or is too small for the number of ranks. In a Docker container, "
        "/dev/shm has only 64 MB by default.",
        'remedy': "Check the space with `df -h /dev/shm` in the container, and remove files of "
        "earlier runs. With Docker, add --shm-size=2g or --ipc=host. A container of Apptainer "
        "uses the host's /dev/shm unless --contain is given.",
        'source': "mmap(2), SIGBUS; github.com/GlobalArrays/ga, issues 160 and 254",
        'also': [
            ("the disk of a memory-mapped file is full, or the file was truncated", "df -h . /tmp"),
            (
                "the job has used up the memory that it requested",
                "sacct -j JOB -o maxrss,reqmem,state",
            ),
        ],
    },
    {
        'name': "Python cannot create locks in /dev/shm",
        'patterns': [
            r"_multiprocessing\.SemLock\((?:[^\n]{0,200}\n){1,4}?[^\n]{0,60}(?P<why>No space left on "
            "device|Permission denied|No such file or directory|Function not implemented|Read-only file "
            "system)",
            "normally caused by lack of access to /dev/shm",
        ],
        'cause': "Python's multiprocessing module cannot create its locks in /dev/shm: in the "
        "container, /dev/shm does not exist, is full or is not writable.",
        'remedy': "Run `ls -ld /dev/shm` (the output should begin with drwxrwxrwt) and `df -h "
        "/dev/shm` in the container, and remove files of earlier runs. With Apptainer, omit "
        "--contain or add --bind /dev/shm. With Docker, add --shm-size=2g or --ipc=host. In a "
        "chroot, run `mount -t tmpfs tmpfs /dev/shm`.",
        'source': "shm_overview(7), sem_overview(7); github.com/travis-ci/travis-cookbooks, issue "
        "241",
    },
]
