"""
Messages of the loader (ld.so), of MPI, and about terminated programs.

The messages of MPI are about failed calls and wrong settings.
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
        'cause': "The loaded libfabric is older than the libfabric with which {by} was built: the "
        "loaded one lacks {version}.",
        'remedy': "Do not bind the host's libfabric (approaches pure and opensource use the "
        "image's), or use an image whose MPI was built with an older libfabric. FABRIC_1.7 comes "
        "with libfabric 1.20, FABRIC_1.8 with 2.0 and FABRIC_1.9 with 2.5. Check that no folder "
        "on LD_LIBRARY_PATH contains a libfabric. If the host was updated, install the module "
        "again.",
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
        'cause': "{by} needs {version}, and the C library of the image (outside a container, of "
        "the host) is older. A host library that is bound into a container uses the image's C "
        "library.",
        'remedy': "Use an image of a distribution at least as new as the host's, or bind fewer "
        "libraries of the host (approaches opensource and pure bind none of its MPI). If you have "
        "added --rocm or --nv, remove these options.",
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
        'cause': "{by} needs {version} of the compiler's libraries (libstdc++, libgcc), and the "
        "loaded libraries are older.",
        'remedy': "Use an image with a newer compiler, or an approach that binds fewer host "
        "libraries. If a module of the host has set LD_LIBRARY_PATH, unload this module.",
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
        'cause': "{by} was built with another version of a library than the version that was "
        "loaded: the loaded library lacks {version}.",
        'remedy': "The library is named at the beginning of the message. Find out which setting "
        "leads to this library (`osu-explain` lists the binds of the module), and use a version "
        "that has {version}.",
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
        'cause': "The library {library} is needed, and exists neither in the image nor among the "
        "libraries that are bound from the host.",
        'remedy': "Find the library on the host with `ldconfig -p` or `find /opt /usr -name "
        "'LIBRARY*'`. In a container with manual binds, add `--bind FILE --env "
        "LD_LIBRARY_PATH=FOLDER`, and bind the libraries that `ldd FILE` lists as well. With a "
        "module of this project, the host has changed: run `eb osu-container-APPROACH.eb -r "
        "--rebuild`. If the library is in another folder, add the folder to library_folders of "
        "the site (docs/add-a-site.md).",
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
        'cause': "{library} belongs to ROCm. The program or library that needs {library} was "
        "built with another major version of ROCm than the installed version, or ROCm is not "
        "installed.",
        'remedy': "Use an image with the same major version of ROCm as the host's MPI: Cray MPICH "
        "up to 25.09 needs ROCm 6, even if the image contains ROCm 7. A name without a version "
        "number is opened by libfabric; some distributions have this name only in the -dev "
        "package.",
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
        'cause': "LD_PRELOAD names {library}, which is missing or not compatible. The program "
        "continues without this library; if the library is an MPI, the program uses another MPI "
        "than intended.",
        'remedy': "If you have set LD_PRELOAD, run `unset LD_PRELOAD`. If the module sets "
        "LD_PRELOAD (see `osu-explain LD_PRELOAD`), the host has changed: install the module "
        "again with `eb osu-container-APPROACH.eb -r --rebuild`.",
        'source': "glibc, ld.so(8); seen by this project, 2026-11",
    },
    {
        'name': "libcxi too old",
        'patterns': [
            ("undefined symbol: cxi", r"(?<![Ee]rror: )undefined symbol: (?P<symbol>cxil?_\w+)")
        ],
        'cause': "libfabric's provider cxi calls {symbol}, which this libcxi does not have: "
        "libfabric is newer than libcxi.",
        'remedy': "With approach opensource, build the image with matching versions of libcxi and "
        "libfabric (libfabric 2.5.0 needs libcxi of January 2026). With approach hybrid, libcxi "
        "and libfabric must both come from the host; `srun scripts/rank-proof FOLDER PROGRAM` "
        "shows which of them comes from the image.",
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
        'cause': "The loaded library lacks the function {symbol}: the library has another "
        "version, or is another library with the same name, than when the program was built. "
        "Names with ompi_, opal_ or orte_ belong to Open MPI, names with MPIR_ or MPID_ to MPICH; "
        "names MPI_*_c were added in MPI 4.",
        'remedy': "The library that needs the function is named at the beginning of the message. "
        "`srun scripts/rank-proof FOLDER PROGRAM` shows which files are loaded: remove the folder "
        "or the LD_PRELOAD entry that leads to the wrong file. If the host was updated, install "
        "the module again.",
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
        'cause': "The file is for another processor architecture, or the file is neither a "
        "program nor a library ({what}).",
        'remedy': "Use an image for this architecture, which `uname -m` prints: LUMI and "
        "workstations are x86_64, Alps is aarch64. A path in the description of the site may also "
        "lead to a linker script instead of a library.",
        'source': "glibc, ld.so(8); seen by this project, 2026-11",
    },
    {
        'name': "library that libtree or lddtree misses",
        'patterns': [(" not found", r"── (?P<library>lib\S{1,100}\.so\S{0,20}) not found")],
        'cause': "{library} is in no folder that the loader searches for this program: not in the "
        "program's rpath, not on LD_LIBRARY_PATH, not in the loader's cache. Cray MPICH relies on "
        "the module libfabric to set the folder.",
        'remedy': "Load the module that provides the library (`module load libfabric`), or bind "
        "its folder into the container. Or find the library with `find / -name 'LIBRARY*'` and "
        "add its folder to LD_LIBRARY_PATH.",
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
        'cause': "The library {library} is in no folder that the loader searches. In a container, "
        "the image lacks the library. Outside a container, the module of the library is not "
        "loaded, the compute nodes lack a package that the login node has, or conda installed "
        "another version.",
        'remedy': "Install the package of the library in the image: libgfortran.so.5 is in "
        "libgfortran5 (Debian, openSUSE) or libgfortran (Rocky). If the library is in a separate "
        "folder (conda, /opt), add the folder to LD_LIBRARY_PATH in the container. With conda, "
        "install the version with this number from the same channel as all other packages: "
        "libcrypto.so.1.0.0 is openssl=1.0, libmkl_*.so.1 is mkl=2021.",
        'source': "glibc, ld.so(8); seen by this project, 2026-11; github.com/sylabs/singularity, "
        "issue 668; github.com/open-mpi/ompi, issue 6352",
        'also': [
            ("the library exists, but a library that it needs does not", "osu-exec ldd FILE"),
            (
                "the library belongs to the host, and the host has changed since the module was "
                "installed",
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
        'cause': "The program was built with another MPI than the MPI here, which has no "
        "{library}. libmpi.so.12 belongs to MPICH, Intel MPI, Cray MPICH and MVAPICH, "
        "libmpi.so.40 to Open MPI. libmpi_mpifh and libmpi_usempif08 are Open MPI's libraries for "
        "Fortran.",
        'remedy': "Use the MPI with which the program was built, or build the program with this "
        "MPI. Approaches bind and hybrid need an image with libmpi.so.12. Open MPI has its "
        "Fortran libraries only if it was built with a Fortran compiler.",
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
        'cause': "{library} was not found. This library belongs to the driver of NVIDIA GPUs. "
        "Only nodes with such a GPU have the driver, and only the option --nv makes the driver "
        "available in a container.",
        'remedy': "Run `singularity exec --nv` or `apptainer exec --nv`; for the commands of a "
        "module, run `export MPI_CONTAINER_OPTIONS=--nv`.",
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
        'cause': "Open MPI skips its component {component}, because a library of the component is "
        "missing or not compatible.",
        'remedy': "The message is harmless unless the run needs the network of this component. In "
        "that case install the missing library in the image.",
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
        'cause': "A library meets another version of {file} than the version with which it was "
        "built. If the message names GLIBC_PRIVATE, the C library of one system is mixed with "
        "parts of another system's (LD_PRELOAD, LD_LIBRARY_PATH, a bind).",
        'remedy': "Never load another libc.so.6 than the system's: run `unset LD_PRELOAD "
        "LD_LIBRARY_PATH`; `env -i PROGRAM` in the container shows whether a variable is the "
        "cause. A program that needs a newer glibc needs an image that contains this glibc.",
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
        'cause': "The loader cannot use a library file. The file is empty or truncated (a full "
        "disk during copying, or a driver file bound from a host without the driver), is on a "
        "disk mounted with noexec, or memory is short.",
        'remedy': "Run `ls -lL FILE` inside the container for the file that the message names, "
        "and install or copy the file again. For 'failed to map segment', check `findmnt -T "
        "FOLDER` (noexec) and `ulimit -v`.",
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
        'cause': "Another version of a {CUDA|ROCm} library is loaded than the version with which "
        "the package was built. A library of a module (LD_LIBRARY_PATH, "
        "{/usr/local/cuda|/opt/rocm}), of conda or of the host precedes the library of the "
        "package. {symbol}",
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
        'name': "library without its versions",
        'patterns': [
            (
                ": no version information available (required by ",
                r"(?<!\S)(?P<library>\S{1,200}): no version information available \(required by "
                r"(?P<by>[^)\n]{1,200})\)",
            )
        ],
        'cause': "{by} loads {library}, a separate build (from conda, a module or "
        "LD_LIBRARY_PATH), instead of the system's library. This is a warning, but the program "
        "may crash later.",
        'remedy': "For programs of the system, run `unset LD_LIBRARY_PATH` or `conda deactivate`.",
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
        'cause': "The library {library} is marked as needing an executable stack (usually by "
        "mistake, from hand-written assembler). glibc 2.41 and newer ('Invalid argument') or "
        "SELinux ('Permission denied') refuses an executable stack.",
        'remedy': "Run `patchelf --clear-execstack FILE` or `execstack -c FILE`, or use a newer "
        "version of the package. Otherwise run `export GLIBC_TUNABLES=glibc.rtld.execstack=2` "
        "(glibc) or `setsebool selinuxuser_execstack on` (SELinux), or use an image with an older "
        "glibc.",
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
        'cause': "The loader of one C library found parts of another C library, or a damaged "
        "file. A libc.so.6, libpthread or ld.so of another system comes first (LD_LIBRARY_PATH, "
        "LD_PRELOAD, a bind).",
        'remedy': "Run `unset LD_LIBRARY_PATH LD_PRELOAD`, and check that no folder on these "
        "paths contains a libc.so.6. Install the last file that `LD_DEBUG=files PROGRAM` names "
        "again. Tools that strip or rewrite programs (upx, patchelf) can damage them too.",
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
        'cause': "A communicator or datatype does not belong to this MPI. Usually the program, or "
        "a library in it, was compiled with mpi.h of another MPI than the MPI that is loaded.",
        'remedy': "`ldd PROGRAM | grep -i mpi` should show a single MPI. Compile all parts with "
        "mpicc of this MPI; for mpi4py, run `pip install --no-binary mpi4py mpi4py`.",
        'source': "Open MPI, ompi/errhandler; MPICH, src/mpi/errhan/errnames.txt",
        'also': [
            (
                "the program uses a communicator that it has freed, or calls MPI before MPI_Init",
                "run a debugger with a breakpoint at MPI_Abort",
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
        'cause': "A rank received more data than its buffer holds. The ranks disagree on a count "
        "or a tag, usually because the program has an error or the ranks read different input.",
        'remedy': "Check that all ranks run the same program with the same input. If only one MPI "
        "or one message size shows the error, select other algorithms: `export "
        "OMPI_MCA_coll=^hcoll,tuned`, `export MPIR_CVAR_DEVICE_COLLECTIVES=none`, a variable "
        "I_MPI_ADJUST_*, or `export UCX_TLS=self,sm,tcp`.",
        'source': "MPICH, src/mpi/errhan/errnames.txt; Open MPI, ompi/errhandler",
        'also': [("the MPI has an error", "run the same command with another MPI, or with TCP")],
    },
    {
        'name': "window that MPI cannot make",
        'patterns': ["MPI_ERR_WIN: invalid window"],
        'cause': "One-sided communication (MPI_Win_*) does not work with the component that MPI "
        "selected for it.",
        'remedy': "Open MPI: `export OMPI_MCA_osc=^ucx` (or OMPI_MCA_osc=rdma or pt2pt). MPICH "
        "with libfabric: `export MPIR_CVAR_CH4_OFI_ENABLE_RMA=0`.",
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
        'cause': "The program starts more ranks with MPI_Comm_spawn. Either no slots are left, or "
        "the launcher does not support spawning: srun with pmi2 or cray_shasta does not.",
        'remedy': "Use mpirun instead of srun, with more slots than ranks (`mpirun -n 1` in a job "
        "of 8 tasks, or --oversubscribe). For MPIPoolExecutor of mpi4py, run `python -m "
        "mpi4py.futures`, which needs no spawn.",
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
        'cause': "MPI could not create the memory that the ranks of a node share: /dev/shm is "
        "full, too small or not accessible.",
        'remedy': "Check the space with `df -h /dev/shm` in the container, and remove files of "
        "earlier runs (`ls -l /dev/shm`). With Docker or podman, add --shm-size=2g or --ipc=host.",
        'source': "MPICH, src/mpid/common/shm",
        'also': [("files of earlier runs belong to another user", "ls -l /dev/shm")],
        'unless': ["shared memory full", "shared memory of UCX in another user namespace"],
    },
    {
        'name': "shared window over ranks that do not share memory",
        'patterns': ["not in the same shared memory domain"],
        'cause': "The program requests memory that all its ranks share (MPI_Win_allocate_shared). "
        "But the ranks are on several nodes, or MPI shares no memory between them (ch3:sock, "
        "MPIR_CVAR_NOLOCAL, containers that hide /dev/shm).",
        'remedy': "To test, start all ranks on one node (`srun -N1`), and run `unset "
        "MPIR_CVAR_NOLOCAL MPIR_CVAR_CH3_NOLOCAL`. In the program, use the communicator of "
        "MPI_Comm_split_type with MPI_COMM_TYPE_SHARED.",
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
        'cause': "Open MPI selected another transport on this node ({one}) than on {host} "
        "({other}). Only one of the two nodes has a network card, an active link or the library "
        "of the card, or the nodes have different settings.",
        'remedy': "Select the same transport on all nodes: `export OMPI_MCA_pml=ucx` (the node "
        "that lacks UCX or its card then prints the reason) or `export OMPI_MCA_pml=ob1`. `srun "
        "bash -c 'ibv_devinfo -l; env | grep ^OMPI'` compares the nodes.",
        'source': "Open MPI, ompi/mca/pml/base/pml_base_select.c; github.com/open-mpi/ompi, issue "
        "12475",
        'also': [
            (
                "PMIx lost the data of the other rank, if no name follows the last pml",
                "PMIX_MCA_gds=hash srun PROGRAM",
            )
        ],
    },
    {
        'name': "ranks of MPI_Comm_spawn that do not reach the others",
        'patterns': [("_ERROR_LOG: ", r"_ERROR_LOG: [\w ]{1,40} in file \S{0,200}\bdpm/dpm")],
        'cause': "Ranks that MPI_Comm_spawn started cannot reach the ranks that started them: on "
        "the node of the new ranks, Open MPI selects another network interface or another "
        "transport.",
        'remedy': "To test, run `export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp "
        "OMPI_MCA_btl_tcp_if_include=NAME` with the interface that the nodes share. Or use a "
        "newer Open MPI. With mpi4py, `python -m mpi4py.futures` needs no spawn.",
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
        'cause': "MPI-IO or HDF5 locks parts of files, and this file system does not support "
        "locks (Lustre without flock, NFS, some cluster file systems).",
        'remedy': "Write to another file system. For HDF5, run `export "
        "HDF5_USE_FILE_LOCKING=FALSE`. For ROMIO, set the hint romio_ds_write=disable (Cray: in "
        "MPICH_MPIIO_HINTS). Administrators can mount Lustre with -o flock.",
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
        'cause': "Cray's GPU transport layer could not access the GPU memory of a rank ({call}: "
        "{why}). The ranks of the node may not see each other's GPUs, the memory may come from a "
        "pool ({cudaMallocAsync|hipMallocAsync}), or the driver libraries may not be compatible.",
        'remedy': "Let each rank see all GPUs of the node (`srun "
        "--gres-flags=allow-task-sharing`), and allocate the memory with {cudaMalloc|hipMalloc}. "
        "`export MPICH_GPU_IPC_ENABLED=0` avoids the access.",
        'source': "Cray MPICH, intro_mpi(3); github.com/JuliaGPU/CUDA.jl, issue 1398",
        'unless': ["GPU memory not shared between ranks"],
    },
    {
        'name': "mpi4py not installed",
        'patterns': [("No module named ", "No module named '?mpi4py")],
        'cause': "The Python that runs the program has no mpi4py: mpi4py was installed for "
        "another Python, or the container has no mpi4py.",
        'remedy': "Check with `which python; python -m pip show mpi4py`. From this project, use "
        "an image of osu-mpi4py. In your own container, run `pip install mpi4py` with the image's "
        "mpicc on PATH.",
        'source': "mpi4py, documentation, Installation",
    },
    {
        'name': "setting that Open MPI does not take",
        'patterns': ["An invalid value was supplied for an enum variable"],
        'cause': "A setting of Open MPI (OMPI_MCA_*, --mca, or a file openmpi-mca-params.conf) "
        "has a value that Open MPI does not accept. The lines below name the setting.",
        'remedy': "Find the setting with `env | grep OMPI_MCA_; cat ~/.openmpi/mca-params.conf "
        "$PREFIX/etc/openmpi-mca-params.conf`, and correct or remove the setting.",
        'source': "Open MPI, help-mca-var.txt; github.com/conda-forge/openmpi-feedstock, issue 63",
    },
    {
        'name': "Open MPI moved from where it was installed",
        'patterns': ["cmd failed to exec its actual executable", "couldn't open the help file"],
        'cause': "Open MPI does not find the files of its own installation, so the text of its "
        "actual error message is lost. The installation was moved, the container shows another "
        "installation in its place, or OPAL_PREFIX names a wrong folder.",
        'remedy': "Run `export OPAL_PREFIX=FOLDER` with the folder that contains share/openmpi "
        "(Open MPI 5: also PMIX_PREFIX and PRTE_PREFIX), or unset a prefix of another Open MPI. "
        "The topic in the line names the actual error. Open MPI 5 needs prterun in bin beside "
        "mpirun; PRRTE may be a separate package.",
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
        'cause': "Two InfiniBand or RoCE cards could not be connected. On Ethernet (RoCE), the "
        "GID is wrong or the address cannot be routed. On InfiniBand, a port is not active or the "
        "partition keys differ.",
        'remedy': "Run `ibv_devinfo` and `show_gids` on both nodes; the state must be "
        "PORT_ACTIVE. For RoCE, run `export UCX_IB_GID_INDEX=3 NCCL_IB_GID_INDEX=3 "
        "UCX_NET_DEVICES=mlx5_0:1`. To run without these cards, use `export UCX_TLS=self,sm,tcp`.",
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
        "(for example a simulator and mpi4py) both call MPI_Init, or each library has its own MPI.",
        'remedy': "Import mpi4py before the other library, or set mpi4py.rc.initialize = False. "
        "All parts must be linked with the same MPI (`ldd FILE` shows which).",
        'source': "github.com/neuronsimulator/nrn, issue 581; MPI standard, MPI_Init",
    },
]

TERMINATIONS: List[Dict[str, Any]] = [
    {
        'name': "MPI stopped the job",
        'patterns': [
            ("Fatal error in ", r"Fatal error in (?:internal_\w+|P?MPIX?_\w+|MPI[DR]\w*)")
        ],
        'cause': "MPI or the program terminated the job. The lines that follow name the call that "
        "failed.",
        'remedy': "The last line of MPI's list names the first cause. `export FI_LOG_LEVEL=warn` "
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
        'cause': "A rank was killed from outside: because memory was used up, at the time limit, "
        "or because another rank failed.",
        'remedy': "Look for the first error of any rank. If no rank has another error, memory was "
        "probably used up: request more with --mem=0, or start fewer ranks.",
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
        'cause': "A rank terminated with exit code {code}. No known message in this text explains "
        "the exit code.",
        'remedy': "Read the output of the program itself. Exit code 127 means that the program "
        "was not found, 126 that it is not executable, 143 that it was killed because another "
        "rank failed.",
        'source': "Slurm 22.05, seen by this project, 2026-11",
        'last': True,
    },
    {
        'name': "output cut off",
        'patterns': ["the run was cut off"],
        'cause': "The benchmark stopped before its last message size, or printed no numbers at "
        "all.",
        'remedy': "The reason is in the benchmark's error output: read the .err file beside this "
        "file.",
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
        'cause': "A program could not get the shared memory that it needs: /dev/shm (or the "
        "session folder of Open MPI) is full, or too small for the ranks. Docker containers have "
        "64 MB.",
        'remedy': "Check the space with `df -h /dev/shm` in the container, and remove files of "
        "earlier runs. With Docker, add --shm-size=2g or --ipc=host. Apptainer shows /dev/shm of "
        "the host unless --contain is given.",
        'source': "mmap(2), SIGBUS; github.com/GlobalArrays/ga, issues 160 and 254",
        'also': [
            ("a mapped file was truncated because a disk is full", "df -h . /tmp"),
            (
                "the job has used up the memory that it requested",
                "sacct -j JOB -o maxrss,reqmem,state",
            ),
        ],
    },
    {
        'name': "limit of System V shared memory",
        'patterns': [(" failed: No space left", r"shmget\(.{0,200} failed: No space left")],
        'cause': "The node has reached its limit of System V shared memory segments or bytes "
        "(kernel.shmmni, kernel.shmall). Earlier runs may have left segments.",
        'remedy': "`ipcs -m` lists the segments, and `ipcrm -m ID` removes one of yours. `export "
        "UCX_TLS=^sysv` makes UCX use POSIX shared memory instead. Administrators can run `sysctl "
        "kernel.shmmni=32768`.",
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
        'cause': "Python's multiprocessing module cannot create its locks in /dev/shm: in the "
        "container /dev/shm does not exist, is full, or is not writable. {why}",
        'remedy': "Run `ls -ld /dev/shm` (it should print drwxrwxrwt) and `df -h /dev/shm` in the "
        "container, and remove files of earlier runs. With Apptainer, omit --contain or add "
        "--bind /dev/shm. With Docker, add --shm-size=2g or --ipc=host. In a chroot, run `mount "
        "-t tmpfs tmpfs /dev/shm`.",
        'source': "shm_overview(7), sem_overview(7); github.com/travis-ci/travis-cookbooks, issue "
        "241",
    },
]
