"""Define causes and remedies of error messages about the network (libfabric, UCX, MPI)."""

from typing import Any, Dict, List

ENTRIES: List[Dict[str, Any]] = [
    {
        'name': "the kernel refuses the key of a queue pair",
        'patterns': [
            r"Failed to modify UD QP to INIT on (?P<card>\S{1,20}): (?:Operation not permitted|Invalid "
            "argument)"
        ],
        'cause': "Open MPI uses libfabric in addition to UCX, and libfabric's provider psm3 or "
        "verbs opens the network card {card}. Newer kernels and OFED 23.10 permit only root to "
        "use the queue key that this provider requests, so the kernel refuses the operation.",
        'remedy': "Disable libfabric in Open MPI: `export OMPI_MCA_pml=ucx OMPI_MCA_mtl=^ofi "
        "OMPI_MCA_btl=^uct,ofi`. Or run `export PSM3_DEVICES=self,shm`: libfabric's provider "
        "psm3 then opens no network card.",
        'source': "github.com/easybuilders/easybuild-easyconfigs, issue 20233",
    },
    {
        'name': "MPI finds no libfabric provider",
        'patterns': [
            "open_fabric: ?No data available",
            r"\b(?:fi_|OFI (?:call )?)getinfo(?:\(\))?(?: call)? fail(?:ed|ure)",
            r"OFI addrinfo\(\) failed",
            r"fi_getinfo\(\)[^\n]{0,80}ret=-61",
            "Couldn't find any optimal provider",
            "fi_getinfo: -61",
        ],
        'cause': "libfabric has no provider (network driver) that MPI can use. The variable "
        "FI_PROVIDER may name a provider that was not compiled into libfabric, or a provider "
        "that finds no network card on this node. Or MPI requests features that the provider "
        "lacks.",
        'remedy': "If you have set FI_PROVIDER, run `unset FI_PROVIDER`; `osu-explain "
        "FI_PROVIDER` shows the value that the loaded osu-container module sets. On a single "
        "node, MPICH uses the provider cxi only if MPIR_CVAR_SINGLE_HOST_ENABLED is 0. With "
        "approach opensource (libfabric of the image), `osu-exec fi_info -l` shows whether the "
        "image's libfabric has the provider. With approach hybrid (libfabric of the host), MPICH "
        "may need a newer libfabric than the host's. With `export FI_LOG_LEVEL=info`, libfabric "
        "prints the name of each provider tried. MPICH 3.4.3 does not work over cxi.",
        'source': "MPICH 4.2.3 and 5.0.2, seen by this project, 2026-11; open_fabric: "
        "github.com/DeiC-HPC/BitBulldozersLab, 2025",
        'also': [
            (
                "the network card is not visible in the container",
                "osu-exec ls /dev/cxi0 /dev/infiniband",
            ),
            (
                "the InfiniBand interface has no IP address, which the provider verbs needs",
                "ip -brief addr show ib0",
            ),
            (
                "the program loaded another version of libfabric than intended",
                "FI_LOG_LEVEL=info osu-exec fi_info",
            ),
        ],
    },
    {
        'name': "MPI requests a newer libfabric",
        'patterns': ["Requested version is newer than library"],
        'cause': "MPI requests a newer version of libfabric's interface than the loaded "
        "libfabric has.",
        'remedy': "With approach hybrid (MPICH of the image, libfabric of the host), run `export "
        "MPIR_CVAR_CH4_OFI_MAJOR_VERSION=1 MPIR_CVAR_CH4_OFI_MINOR_VERSION=21`: MPICH then "
        "requests version 1.21. Otherwise use an image whose MPI was built with an older "
        "libfabric, or use approach opensource (MPI and libfabric of the image).",
        'source': "libfabric, src/fabric.c, fi_getinfo(); MPI_Init of MPICH 3.4.3 to 5.0.2 with "
        "and without the variables",
    },
    {
        'name': "MPICH 4 ignores MPIR_CVAR_OFI_USE_PROVIDER",
        'patterns': ["MPIR_CVAR_OFI_USE_PROVIDER is no longer supported"],
        'cause': "MPICH 4 does not read the variable MPIR_CVAR_OFI_USE_PROVIDER. Therefore "
        "libfabric chooses the provider.",
        'remedy': "Run `export FI_PROVIDER=NAME` instead of setting MPIR_CVAR_OFI_USE_PROVIDER; "
        "`osu-explain FI_PROVIDER` shows the value that the loaded osu-container module sets.",
        'source': "MPICH 4.2.3, seen by this project, 2026-11",
        'last': True,
    },
    {
        'name': "the job step has no VNI",
        'patterns': [
            "cxip_gen_auth_key(?: failed)?:? ?-38",
            r"fi_domain\b.{0,200}Function not implemented",
            r"library call \(fi_domain\)(?:[^\n]{0,200}\n){1,6}?[^\n]{0,60}Error: Function not implemented",
            "Failed to find valid default rgroup and vni",
            r"(?:opendomain|fi_open domain) failed[^\n]{0,120}Function not implemented",
            r"Couldn't open a fabric access domain\. RC: -38",
        ],
        'cause': "The job step has no VNI (virtual network identifier), which a Slingshot "
        "network card requires. Slurm assigns a VNI to a step on a single node only if srun "
        "requests a VNI, and never to a program that srun did not start.",
        'remedy': "Start the program with `srun --network=single_node_vni`; osu-container "
        "modules of the approaches hybrid, opensource, swap and openmpi request a VNI with the "
        "variable SLURM_NETWORK, unless you have set SLURM_NETWORK. Do not start the container "
        "with --cleanenv, which removes SLINGSHOT_VNIS from the container. To run on a single node "
        "without the network card, use `module load osu-settings/single-node`.",
        'source': "github.com/uiuc-hpc/lci, issue 110, 2025; github.com/open-mpi/ompi, issues "
        "12038, 12913 (LUMI) and 13148; github.com/aws/aws-ofi-nccl, issue 801; libfabric, "
        "prov/cxi/src/cxip_dom.c",
        'also': [
            (
                "the network card is not a Slingshot card, and the container lacks the card's "
                "device file or the permission to lock memory",
                "FI_LOG_LEVEL=warn srun PROGRAM (the lines that libfabric's provider prints name "
                "the reason)",
            )
        ],
    },
    {
        'name': "the ranks have different VNIs",
        'patterns': ["VNI_NOT_FOUND"],
        'cause': "The ranks use different VNIs (virtual network identifiers of Slingshot), or a "
        "rank has no VNI, because the ranks were not started by the same srun command. For "
        "example, mpirun inside a job does not start the ranks with srun, but starts daemons "
        "with `srun --mpi=none`.",
        'remedy': "Start all ranks with a single srun command, without mpirun and without "
        "--mpi=none.",
        'source': "github.com/openpmix/prrte, issue 2004, 2024",
    },
    {
        'name': "the event queue of the card is full",
        'patterns': ["Cassini Event Queue overflow", "completion queue exhaustion"],
        'cause': "The network card reports events faster than the rank reads the events, so the "
        "event queue is full. The run then hangs or terminates.",
        'remedy': "Run `export FI_CXI_DEFAULT_CQ_SIZE=131072` before srun, and set a larger "
        "value if the error message appears again. Run OSU benchmarks that have many messages in "
        "flight with a smaller window (option -W): if the error message disappears, the number "
        "of messages in flight is the cause.",
        'source': "github.com/argonne-lcf/user-guides, pull request 315; "
        "github.com/ofiwg/libfabric, issue 9286; advice in the message of Cray MPICH",
    },
    {
        'name': "a message arrived for an endpoint that no longer exists",
        'patterns': ["PTLTE_NOT_FOUND"],
        'cause': "The network card received a message for an endpoint that no longer exists: the "
        "receiving rank terminated, was killed, or used up a resource of the network card. Often "
        "this error is only a consequence of another error.",
        'remedy': "Look for the first error of any rank. If no rank has another error, run "
        "`export FI_CXI_RX_MATCH_MODE=software` before srun.",
        'source': "github.com/ofiwg/libfabric, issue 10072 (open), 2024",
    },
    {
        'name': "the network card could not deliver a message",
        'patterns': [r"\bUNDELIVERABLE\b"],
        'cause': "The network card could not deliver a message: the other node or a network link "
        "is down, or the other node's card had no resources to match the message.",
        'remedy': "Run `export FI_CXI_RX_MATCH_MODE=software` before srun; in public reports this "
        "setting helped one code and did not help another. If the same node fails each time, "
        "exclude the node with `srun --exclude=NODE`, and tell the administrators.",
        'source': "github.com/quokka-astro/quokka, issue 353; github.com/BLAST-WarpX/warpx, issue "
        "4234 and pull request 4235, 2023",
    },
    {
        'name': "the card could not register a buffer",
        'patterns': ["cxil_map: write error"],
        'cause': "The library libcxi could not register a memory buffer with the Slingshot "
        "network card. Usually the buffer is in GPU memory, and MPI or libfabric does not "
        "recognise GPU memory. Otherwise too much memory is registered already.",
        'remedy': "For GPU buffers, check with `osu-explain` that the loaded osu-container "
        "module is for GPU nodes and enables GPU support (MPICH_GPU_SUPPORT_ENABLED or "
        "MPIR_CVAR_CH4_OFI_ENABLE_HMEM). On CUDA systems, run `export "
        "FI_CXI_SAFE_DEVMEM_COPY_THRESHOLD=0`: this setting fixed the error at CSCS, but slows "
        "down small messages.",
        'source': "github.com/eth-cscs/cscs-docs, pull request 161, 2025; shs-libcxi, cxil_map()",
    },
    {
        'name': "Cray's GPU transport layer is not loaded",
        'patterns': ["GPU_SUPPORT_ENABLED is requested, but GTL library is not linked"],
        'cause': "MPICH_GPU_SUPPORT_ENABLED is 1, but the program did not load Cray's GPU "
        "transport layer (GTL, libmpi_gtl_hsa.so.0) before MPI started.",
        'remedy': "In a container without an osu-container module, bind the folder of "
        "libmpi_gtl_hsa.so (for CUDA: libmpi_gtl_cuda.so) with --bind, and set LD_PRELOAD inside "
        "the container to the path of this library. With an osu-container module of approach "
        "bind, do not set LD_PRELOAD. With approach native (no container), build the program "
        "while the module craype-accel-amd-gfx90a is loaded. If you need host memory only, run "
        "`export MPICH_GPU_SUPPORT_ENABLED=0` before `module load`.",
        'source': "github.com/eth-cscs/cscs-docs, cray-mpich.md; "
        "github.com/sstsimulator/sst-core, issue 895",
    },
    {
        'name': "NCCL or RCCL uses TCP, because the libfabric plugin is missing",
        'patterns': [r"NET/Socket ?: Using \[0\](?:hsn|cxi)\d"],
        'cause': "{NCCL|RCCL} found no plugin for libfabric, or could not load the plugin. "
        "{NCCL|RCCL} therefore sends over Slingshot with TCP, which is several times slower.",
        'remedy': "Use an image with the libfabric plugin {libnccl-net.so|librccl-net.so} (from "
        "aws-ofi-nccl), and put the folder of the plugin on LD_LIBRARY_PATH. In the job's "
        "output, the lines with NET/Plugin show why the plugin was not loaded. With an "
        "osu-container module, `osu-explain NCCL_NET_PLUGIN` shows {the setting|the plugin of "
        "the image, and `module load osu-settings/rccl-strict` turns a missing plugin into an "
        "error}.",
        'source': "github.com/DeiC-HPC/BitBulldozersLab, 2025",
    },
    {
        'name': "NCCL or RCCL finds no network interface",
        'patterns': ["Bootstrap ?: no socket interface found"],
        'cause': "The variable NCCL_SOCKET_IFNAME does not name a network interface of this "
        "node. {NCCL|RCCL} needs an interface through which the ranks connect, even if the data "
        "use another network.",
        'remedy': "List the interfaces with `ip -brief addr` and run `export "
        "NCCL_SOCKET_IFNAME=NAME`, where NAME is an interface that all nodes have (Slingshot: "
        "hsn). Or run `unset NCCL_SOCKET_IFNAME` if you have set the variable; `osu-explain "
        "NCCL_SOCKET_IFNAME` shows the value that the loaded osu-container module sets.",
        'source': "NCCL, src/bootstrap.cc",
    },
    {
        'name': "two ranks use the same GPU",
        'patterns': ["Duplicate GPU detected"],
        'cause': "Two ranks of {NCCL|RCCL} use the same GPU: the node has more ranks than GPUs, "
        "or each rank uses the first GPU that the rank sees.",
        'remedy': "Start as many ranks as GPUs, and let each rank choose its GPU with "
        "{cudaSetDevice|hipSetDevice}(local rank). The osu_xccl_* benchmarks choose the GPU by "
        "local rank, so each rank must see all GPUs of the node: do not use --gpus-per-task, "
        "--gpu-bind or {CUDA|ROCR}_VISIBLE_DEVICES.",
        'source': "EESSI on LUMI, 2026; github.com/horovod/horovod, issue 3929",
    },
    {
        'name': "a rank cannot read the memory of another rank",
        'patterns': [
            r"process_vm_(?:read|write)v\b.{0,300}(?:Operation not permitted|No such process|failed \(errno "
            r"[13]\))",
            r"Read -1, expected \d+, errno ?= ?[13]\b",
        ],
        'cause': "A rank has no permission to read the memory of another rank on the same node "
        "(cross memory attach, CMA). Usual reasons: each rank runs in a separate container and "
        "therefore in a separate user namespace, the kernel allows such reads only to parent "
        "processes (kernel.yama.ptrace_scope), or Docker runs without SYS_PTRACE. 'No such "
        "process' means that the other rank is in another PID namespace or has terminated.",
        'remedy': "With an osu-container module, start the program with `osu-exec PROGRAM`: the "
        "ranks of a node then share a container, or the module configures MPI for separate "
        "containers. If a program uses two images, run `export OSU_SHARE=0`, which gives each "
        "rank its own container. Without the module, start all ranks of a node in the same "
        "container (`apptainer exec --sharens`), or disable CMA. MPICH 5: `export "
        "MPIR_CVAR_CH4_CMA_ENABLE=0`. Open MPI 4: `export "
        "OMPI_MCA_btl_vader_single_copy_mechanism=none`. Open MPI 5: `export "
        "OMPI_MCA_smsc=^cma`. UCX: `export UCX_TLS=^cma`.",
        'source': "github.com/open-mpi/ompi, pull request 6844; github.com/openucx/ucx, issue "
        "8958; github.com/apptainer/apptainer, issues 769 and 1227; MPICH 5.0.2, two ranks in a "
        "user namespace each, 2026-11-23",
    },
    {
        'name': "provider psm3 cannot open a network card",
        'patterns': ["PSM3 can't open nic unit"],
        'cause': "libfabric's provider psm3 supports Intel's RDMA cards. On this node, psm3 "
        "selected an Ethernet interface and cannot open this interface (in a container, in a "
        "virtual machine or on a login node). MPI then terminates or waits forever.",
        'remedy': "If all ranks are on the same node, run `export PSM3_DEVICES=self,shm`. "
        "Otherwise run `export FI_PROVIDER=^psm3`: libfabric's provider tcp then connects the "
        "nodes.",
        'source': "github.com/easybuilders/easybuild-easyconfigs, issue 18925; "
        "github.com/mpi4py/shmem4py, pull request 28",
    },
    {
        'name': "provider psm2 cannot open an Omni-Path card",
        'patterns': [
            "PSM2 can't open hfi unit",
            "PSM2 was unable to open an endpoint",
            r"(?:hfi|ipath)_userinit\w{0,60}: .{0,20}assign_context command failed",
        ],
        'cause': "The Omni-Path card has no free hardware context for this rank, or the card is "
        "not visible in the container.",
        'remedy': "Start fewer ranks on the node. Request the whole node with --exclusive: "
        "otherwise another job may use the contexts of the card. In a container, bind the card's "
        "device file with `--bind /dev/hfi1_0`.",
        'source': "github.com/intel/opa-psm2, README; github.com/open-mpi/ompi, issue 10601",
        'also': [
            ("the network link of the Omni-Path card is down", "opainfo"),
            (
                "the node has no Omni-Path card",
                "ls /dev/hfi1* (if ls lists no file, run export FI_PROVIDER=tcp)",
            ),
            (
                "the process has no permission to lock memory",
                "srun bash -c 'ulimit -l', which should print unlimited",
            ),
        ],
    },
    {
        'name': "libfabric cannot open an endpoint on the card",
        'patterns': ["OFI endpoint open failed", r"Libfabric library call \(fi_endpoint\)"],
        'cause': "libfabric chose a provider, but this provider cannot open its network card for "
        "the rank that printed the message.",
        'remedy': "`FI_LOG_LEVEL=warn srun PROGRAM` prints the provider and the reason; `export "
        "FI_PROVIDER=NAME` selects another provider. Start the ranks with srun: on Cray's "
        "networks only srun gives a rank access to the network card.",
        'source': "MPICH, src/mpid/ch4/netmod/ofi/ofi_init.c; github.com/LLNL/sundials, issue 316",
        'also': [
            (
                "libfabric's provider is psm3, but the network card is an Ethernet card",
                "PSM3_DEVICES=self,shm srun PROGRAM",
            ),
            (
                "the process has no permission to lock memory",
                "srun bash -c 'ulimit -l', which should print unlimited",
            ),
        ],
        'unless': [
            "provider psm3 cannot open a network card",
            "provider psm2 cannot open an Omni-Path card",
            "the limit of locked memory is too low",
        ],
    },
    {
        'name': "the limit of locked memory is too low",
        'patterns': [
            "set max locked memory",
            "memlock limits are set too low",
            r"RLIMIT_MEMLOCK is \d+ bytes",
            "Failure to post internal receive buffers",
        ],
        'cause': "The network card needs locked memory, and the limit of this process (`ulimit "
        "-l`) is too low. The node itself has enough memory.",
        'remedy': "Run `srun bash -c 'ulimit -l'`, which should print 'unlimited'. If the "
        "command prints a number, ask the administrators to raise the limit of locked memory: "
        "Slurm takes the limit from slurmd (LimitMEMLOCK) or from your login shell "
        "(PropagateResourceLimits). With Docker or podman, add --ulimit memlock=-1:-1.",
        'source': "github.com/openucx/ucx, issue 8746; github.com/awslabs/awsome-distributed-ai, "
        "issue 647; github.com/NVIDIA/cudf-spark, pull request 7632",
        'also': [
            (
                "the network card has no resources for so many connections",
                "run the same command with two ranks per node",
            ),
            (
                "the program registers more memory than the network card (EFA) supports (with "
                "huge pages, the program can register more memory)",
                "run the same command with a smaller problem",
            ),
        ],
    },
    {
        'name': "the network card cannot allocate a resource",
        'patterns': [
            r"\bibv_(?:create_(?:cq|qp|srq)|reg_\w{0,20}mr|alloc_pd)\w{0,60}(?:\([^)\n]{0,200}\))? ?"
            r"failed[^\n]{0,60}Cannot allocate memory(?![^\n]{0,40}set max locked)",
            r"mlx5dv_devx_obj_create\((?P<what>\w+)\) failed(?![^\n]{0,80}(?:Remote I/O|Invalid argument))",
            r"rdma_create_qp\w{0,10}(?:\(\))?:? [^\n]{0,20}Cannot allocate memory",
        ],
        'cause': "The driver of the network card could not register memory or create a "
        "connection. The message does not show why: the card may have no resources for so many "
        "connections or registrations, the process may lock too little memory, or the buffer may "
        "be GPU memory that the card cannot access.",
        'remedy': "To use fewer connections, run `export UCX_TLS=self,sm,ud_x` (or self,sm,dc_x), "
        "or start fewer ranks on a node. To register memory in another way, run `export "
        "UCX_IB_REG_METHODS=direct`. If buffers are in GPU memory, run `export "
        "UCX_IB_GPU_DIRECT_RDMA=no`. For libfabric, run `export FI_VERBS_TX_SIZE=128 "
        "FI_VERBS_RX_SIZE=128`.",
        'source': "github.com/openucx/ucx, issues 6264, 7978 and 5351; docs.archer2.ac.uk; UCX, "
        "documentation, FAQ",
        'also': [
            (
                "the process may lock too little memory",
                "srun grep 'locked memory' /proc/self/limits, which should print unlimited",
            ),
            (
                "the driver of the card refuses the interface (DEVX) with which UCX creates "
                "connections",
                "UCX_IB_MLX5_DEVX=n srun PROGRAM",
            ),
        ],
        'unless': ["the limit of locked memory is too low"],
    },
    {
        'name': "Open MPI cannot use its old component openib",
        'patterns': [
            "error initializing an OpenFabrics device",
            "infiniband ports on a device",
            "No preset parameters were found for the device",
            r"Module: OpenFabrics \(openib\)",
            r"help-mpi-btl-openib(?:-cpc-base)?\.txt / (?:no device params found|no cpcs for port|error in "
            "device init|ib port not selected|no active ports found|ini file)",
        ],
        'cause': "Open MPI 4 warns that its old component openib cannot use the network card. "
        "Open MPI should use UCX for this card instead.",
        'remedy': "The warning is harmless if Open MPI uses UCX; `export OMPI_MCA_btl=^openib` "
        "silences the warning.",
        'source': "github.com/open-mpi/ompi, issues 10693 and 7461; github.com/shankar1729/jdftx, "
        "issue 270",
        'also': [
            (
                "Open MPI does not use UCX, so the run uses TCP and is slow",
                "OMPI_MCA_pml=ucx srun PROGRAM, which terminates if UCX finds no card",
            )
        ],
        'last': True,
    },
    {
        'name': "Open MPI does not have a requested component",
        'patterns': [r"Framework: +(?P<framework>btl|pml|mtl|coll|osc|smsc|plm|ras)\b"],
        'cause': "A setting requests a component of Open MPI's framework {framework}, but the "
        "loaded Open MPI does not have this component. Usually a module of the host has set a "
        "variable OMPI_MCA_* for the host's Open MPI, and the program uses the image's Open MPI.",
        'remedy': "Before you start the container, find the variable of Open MPI with `env | "
        "grep OMPI_MCA_`. Unset this variable, or unload the module that sets this variable.",
        'source': "github.com/glotzerlab/software, issue 120",
        'also': [
            (
                "a configuration file of Open MPI in the image or in your home folder requests "
                "the component",
                "osu-exec cat ~/.openmpi/mca-params.conf",
            )
        ],
        'unless': ["Open MPI finds no transport"],
    },
    {
        'name': "Open MPI finds no transport",
        'patterns': [
            "were able to be opened in the pml framework",
            "MPI processes are unable to reach each other",
            r"PML \w+ cannot be selected",
        ],
        'cause': "Open MPI has no transport for messages: the transport that a setting selects "
        "(OMPI_MCA_pml, OMPI_MCA_btl, --mca) does not work on this node. Usually the setting "
        "selects UCX, and UCX finds no network card.",
        'remedy': "Find the variable that selects a transport with `env | grep OMPI_MCA_`, and "
        "unset this variable. To select TCP, run `export OMPI_MCA_pml=ob1 "
        "OMPI_MCA_btl=self,sm,tcp` (in Open MPI 4, write vader instead of sm).",
        'source': "github.com/openucx/ucx, issue 5284; github.com/open-mpi/ompi, issue 9838; "
        "github.com/hpc/charliecloud, pull request 166",
        'also': [
            (
                "the network card is not visible in the container",
                "osu-exec ls /dev/infiniband /dev/cxi0",
            ),
            (
                "UCX in the image was built without support for the network card",
                "osu-exec ucx_info -d",
            ),
        ],
    },
    {
        'name': "an MPI without GPU support got a GPU buffer",
        'patterns': [
            r"process_vm_(?:read|write)v\b.{0,300}Bad address",
            r"Read -1, expected \d+, errno ?= ?14\b",
        ],
        'cause': "MPI received a buffer in GPU memory but treats the buffer as host memory: GPU "
        "support is disabled in this MPI, or was not compiled into this MPI.",
        'remedy': "For Cray MPICH, run `export MPICH_GPU_SUPPORT_ENABLED=1` and link the program "
        "with Cray's GPU transport layer, GTL (load a module craype-accel-*). For MPICH, run "
        "`export MPIR_CVAR_ENABLE_GPU=1`. For Open MPI, use a build with CUDA or ROCm. `osu_bw H "
        "H` shows whether messages from host memory work.",
        'source': "process_vm_readv(2), EFAULT; github.com/spectral-compute/scale-validation, "
        "issue 66",
        'also': [
            (
                "the program and MPI use different GPU runtime libraries, and the program "
                "allocated the GPU memory",
                "ldd PROGRAM, which lists the libraries that the program loads",
            ),
            (
                "UCX_TLS excludes cuda_copy (AMD: rocm_copy), which UCX needs to recognise GPU "
                "memory",
                "env | grep UCX_TLS",
            ),
        ],
    },
    {
        'name': "ranks cannot share GPU memory",
        'patterns': [
            "(?:cu|cuda|hip)IpcGetMemHandle failed",
            "failed to open ipc mem handle",
        ],
        'cause': "The ranks of a node cannot share their GPU memory with each other "
        "(inter-process communication, IPC). Possible reasons: the memory comes from a memory "
        "pool of the program, each rank sees only its own GPU, or each rank runs in separate "
        "namespaces (a separate container).",
        'remedy': "Let each rank see all GPUs of the node (`srun "
        "--gres-flags=allow-task-sharing`), and allocate the memory with {cudaMalloc (in Julia: "
        "`export JULIA_CUDA_MEMORY_POOL=none`)|hipMalloc}. To run without IPC, use `export "
        "UCX_TLS=^{cuda_ipc|rocm_ipc}` or `export NCCL_P2P_DISABLE=1`.",
        'source': "github.com/JuliaGPU/CUDA.jl, issue 1398; github.com/openucx/ucx, issue 3192",
        'also': [
            (
                "the ranks are in separate containers",
                "run the same command with apptainer exec --sharens, or with "
                "UCX_TLS=^{cuda_ipc|rocm_ipc}",
            )
        ],
    },
    {
        'name': "ranks use different versions or settings of NCCL or RCCL",
        'patterns': [
            r"Message truncated : receiv(?:ed|ing) \d+ bytes instead of \d+",
            r"collective mismatch error,? local size \d+",
        ],
        'cause': "The ranks do not use the same protocol of {NCCL|RCCL}. The ranks may load "
        "different versions of {NCCL|RCCL} (from image and host, or from two pip packages), call "
        "different collectives, or have different settings (NCCL_PROTO, NCCL_ALGO, "
        "NCCL_BUFFSIZE). Or another program connected to the same port.",
        'remedy': "Compare the versions on all ranks with `export NCCL_DEBUG=VERSION`, `ldd "
        "PROGRAM` and `pip list | grep nccl`; all ranks must load the same version. Compare the "
        "settings with `srun -l bash -c 'env | grep NCCL_'`.",
        'source': "NCCL, src/bootstrap.cc",
        'also': [
            (
                "the program calls a collective with different sizes on some ranks",
                "TORCH_DISTRIBUTED_DEBUG=DETAIL PROGRAM",
            ),
            (
                "the InfiniBand cards reorder writes (likely if only runs over InfiniBand fail)",
                "NCCL_IB_PCI_RELAXED_ORDERING=0 PROGRAM",
            ),
        ],
    },
    {
        'name': "NCCL or RCCL terminated",
        'patterns': [
            "ncclSystemError",
            r"NCCL error\b",
            r"NCCL failure \S{1,60}:\d+",
        ],
        'cause': "{NCCL|RCCL} terminated after an error. The last message of {NCCL|RCCL} does "
        "not name the cause, but an earlier message may.",
        'remedy': "Run `NCCL_DEBUG=WARN srun PROGRAM`: {NCCL|RCCL} then prints the original "
        "error, too, which `osu-container why` may explain. To test whether the network is the "
        "cause, run over TCP: `export NCCL_IB_DISABLE=1 NCCL_NET=Socket`.",
        'source': "NCCL, documentation, Errors; github.com/NVIDIA/nccl, issue 473",
        'also': [
            (
                "/dev/shm in the container is too small (Docker: 64 MB, raised with --shm-size=2g "
                "or --ipc=host)",
                "df -h /dev/shm",
            )
        ],
        'last': True,
        'unless': ["another rank of NCCL or RCCL closed the connection"],
    },
    {
        'name': "the network plugin of NCCL or RCCL cannot register GPU memory",
        'patterns': ["NET/OFI Unable to register memory", "unable to set memops for cuda ptr"],
        'cause': "The network plugin of {NCCL|RCCL} cannot register GPU memory with the network: "
        "libfabric does not recognise GPU memory, or the libfabric provider is too old for this "
        "{NCCL|RCCL}.",
        'remedy': "On Amazon's network EFA, run `export FI_EFA_SET_CUDA_SYNC_MEMOPS=0` or "
        "install EFA installer 1.29.1 or newer. On Slingshot (provider cxi), use a libfabric "
        "that is built with {CUDA|ROCm}, and bind /boot/config-$(uname -r) into the container: "
        "libfabric reads in this file whether the kernel supports DMABUF. `export "
        "NCCL_NET_GDR_LEVEL=LOC` avoids the registration but is slower.",
        'source': "github.com/awslabs/awsome-distributed-ai, issue 203",
    },
    {
        'name': "the other node did not answer over InfiniBand",
        'patterns': [
            "ransport retry count exceeded",
            r"(?:transport error: |UCX +ERROR[^\n]{0,200})Endpoint timeout",
            r"Got completion .{0,120}(?:status=|error )(?:12\b|IBV_WC_RETRY_EXC_ERR)",
        ],
        'cause': "The network card (InfiniBand or RoCE) sent a message, and the other node did "
        "not answer. The rank on the other node terminated, a link is faulty, or the two cards "
        "cannot reach each other (on Ethernet: because of a wrong GID, or because the network "
        "drops packets).",
        'remedy': "Look for the first error of any rank. If no rank has another error, run "
        "`ibstat` and `perfquery` on both nodes. If the same node fails each time, exclude the "
        "node with `srun --exclude=NODE`. For RoCE, run `export UCX_IB_GID_INDEX=3` or `export "
        "NCCL_IB_GID_INDEX=3`.",
        'source': "github.com/openucx/ucx, issues 5199, 6000 and 9590",
        'also': [
            ("the network is only overloaded", "UCX_RC_TIMEOUT=4s UCX_DC_TX_QUEUE_LEN=256 PROGRAM")
        ],
    },
    {
        'name': "the fabric that Intel MPI should use is not available",
        'patterns': [r"(?<![\w:])(?P<fabric>[\w:]+) fabric is not available and fallback fabric"],
        'cause': "A setting selects the fabric {fabric} for Intel MPI, but this fabric is not "
        "available on this node.",
        'remedy': "Run `unset I_MPI_FABRICS`, or set I_MPI_FABRICS to an available fabric: "
        "shm:ofi (Intel MPI 2019 or newer), shm:tcp or shm:dapl (older releases). `env | grep "
        "I_MPI_` prints the variables that a module or the start script of the program has set.",
        'source': "github.com/UCL-ARC/rcps-buildscripts, issue 50",
        'unless': [
            "provider psm2 cannot open an Omni-Path card",
            "provider psm3 cannot open a network card",
        ],
    },
    {
        'name': "NCCL or RCCL cannot reach another rank over TCP",
        'patterns': [
            r"socket(?:Start|Poll|Finalize)Connect: [Cc]onnect(?:ion)?\b.{0,20} (?P<to>\S+<\d+>)",
            r"WARN (?:Net : )?(?:Call to c|C)onnect(?:ion)? ?(?:to \S{1,100} )?(?:failed|returned|timeout)",
        ],
        'cause': "A rank cannot reach another rank over TCP. Possible reasons: {NCCL|RCCL} chose "
        "a network interface that does not lead to the other node, a firewall blocks the "
        "connection, or the other rank terminated.",
        'remedy': "Run `export NCCL_SOCKET_IFNAME=NAME`, where NAME is an interface that `ip "
        "addr` lists on both nodes (Slingshot: hsn), not docker0 or lo. If a firewall blocks the "
        "connection, ask the administrators to allow all ports between compute nodes.",
        'source': "github.com/NVIDIA/nccl-tests, issue 162",
        'also': [("another rank failed earlier", "look for an earlier error of any rank")],
    },
    {
        'name': "a message was cancelled",
        'patterns': ["Input/output error - CANCELED"],
        'cause': "libfabric cancelled an MPI message, because the sending or the receiving rank "
        "was terminating. The rank terminated after scancel, at the time limit, after a signal, "
        "or after an error of another rank.",
        'remedy': "`sacct -j JOB -o state,exitcode,end` shows how the job terminated. Then look "
        "for the first error of any rank.",
        'source': "github.com/ofiwg/libfabric, issue 11307",
    },
    {
        'name': "UCX finds no transport to the other rank",
        'patterns': [
            "[Nn]o (?:active messages|remote registered memory access|auxiliary|am bcopy|copy "
            "across memory types|peer failure handler|emulated rma|tag offload|atomic "
            "operations on registered memory) transport"
        ],
        'cause': "UCX finds no transport that reaches the other rank. UCX_TLS may exclude a "
        "transport that UCX needs (self, sm, or a transport between nodes), or the two nodes or "
        "containers have different network cards.",
        'remedy': "Run `unset UCX_TLS UCX_NET_DEVICES`, or run `export UCX_TLS=self,sm,tcp`, "
        "which works on every system. `ucx_info -d` on both nodes (in a container: `osu-exec "
        "ucx_info -d`) shows the cards of each node.",
        'source': "UCX, src/ucp/wireup/select.c",
        'also': [
            (
                "only one of the nodes makes its card visible in the container",
                "srun osu-exec ls /dev/infiniband",
            )
        ],
    },
    {
        'name': "two versions of UCX do not match",
        'patterns': [
            "UCX +ERROR +address version mismatch",
            "UCX.{0,40}version mismatch",
            r"\(ucs_config_(?:clone|parser)_\w{1,40}\+0x",
        ],
        'cause': "The program or MPI was built with another version of UCX than the loaded "
        "version, or the nodes (or host and image) have different versions of UCX.",
        'remedy': "Compare `ucx_info -v` inside and outside the container. `ldd FILE` for "
        "libmpi.so or mca_pml_ucx.so shows which libucp.so.0 the file loads. Remove the folder "
        "of the wrong UCX from LD_LIBRARY_PATH (`module unload ucx hpcx`).",
        'source': "UCX, src/ucp/core/ucp_context.c",
    },
    {
        'name': "the network card cannot register the memory",
        'patterns': [
            r"ibv_reg_\w{0,20}mr\w{0,20}(?:\(.{0,200})? ?failed: Bad address",
            "[Cc]ouldn't register (?:GPU )?MR",
        ],
        'cause': "The network card cannot register the memory of a buffer. Usually the buffer is "
        "in GPU memory and the kernel module that gives network cards access to GPU memory is not "
        "loaded. Otherwise the memory is read-only or of a type that the card does not support.",
        'remedy': "For direct access of the network card to GPU memory, {`lsmod` should list "
        "nvidia_peermem on the node (if not, administrators run `modprobe nvidia_peermem`)|the "
        "kernel must support DMABUF}. To send without direct access to GPU memory, run `export "
        "UCX_IB_GPU_DIRECT_RDMA=no`, or `export NCCL_NET_GDR_LEVEL=LOC`{, or `export "
        "FI_HMEM_CUDA_USE_GDRCOPY=0`|}.",
        'source': "NVIDIA, GPUDirect RDMA; UCX, documentation, FAQ",
        'also': [
            (
                "too much memory is registered, or the process has no permission to lock memory",
                "ulimit -l, which should print unlimited",
            )
        ],
        'unless': ["the limit of locked memory is too low", "the GDRCopy driver refuses a call"],
    },
    {
        'name': "the driver of the card refuses an operation of UCX",
        'patterns': [
            r"mlx5dv_devx_(?P<what>\w{1,40}\(\w*)\) failed.{0,80}(?:Remote I/O error|Invalid argument|Operation "
            "not|Protocol not|Function not)"
        ],
        'cause': "The driver or firmware of the network card refuses an operation of UCX (a "
        "function mlx5dv_devx_*): this version of UCX and the firmware are not compatible.",
        'remedy': "Run `export UCX_IB_MLX5_DEVX=n` (or `export UCX_IB_MLX5_DEVX_OBJECTS=`): UCX "
        "then avoids the refused operation. Administrators can install newer firmware.",
        'source': "github.com/openucx/ucx, issues 10451 and 8440",
    },
    {
        'name': "UCX cannot open the shared memory of another rank",
        'patterns': [
            r"open\(file_name=/proc/\d+/fd/\d+ flags=\w{1,20}\) failed: (?:Permission denied|No such file)"
        ],
        'cause': "UCX opens the shared memory of another rank below /proc/PID/fd. The kernel "
        "denies this access if the other rank has terminated, or is in another container with a "
        "separate user or PID namespace.",
        'remedy': "Run `export UCX_POSIX_USE_PROC_LINK=n UCX_TLS=^cma`. Or load an osu-container "
        "module and start the ranks with `osu-exec PROGRAM`: the module sets these variables, or "
        "starts all ranks of a node in the same container.",
        'source': "UCX, src/uct/sm/mm/posix/mm_posix.c; github.com/openucx/ucx, issue 4224; seen by "
        "this project with UCX 1.13.1, 2026-11-28",
    },
    {
        'name': "libfabric failed in Open MPI",
        'patterns': ["The Open MPI OFI MTL is aborting the MPI job"],
        'cause': "Open MPI sends messages through libfabric (mtl ofi), and the libfabric "
        "provider failed. Either the provider does not suit this system (for example psm3, or "
        "tcp on a single machine), or a rank terminated.",
        'remedy': "Run `export OMPI_MCA_mtl=^ofi OMPI_MCA_btl=^ofi`; Open MPI then uses UCX, "
        "shared memory and TCP. Or select another provider with `export FI_PROVIDER=NAME`; with "
        "`export FI_LOG_LEVEL=warn`, libfabric prints the reason.",
        'source': "github.com/OPM/LBPM, issue 48",
    },
    {
        'name': "the network card has no permission to access the memory",
        'patterns': [r"Got completion .{0,160}(?:status=|error )4\b"],
        'cause': "The network card has no permission to read or write the memory of a buffer. If "
        "the buffer is in GPU memory (GPUDirect RDMA), usually PCI access control (ACS) or the "
        "IOMMU of the node prevents the access, often in a virtual machine.",
        'remedy': "Run `export NCCL_NET_GDR_LEVEL=LOC UCX_IB_GPU_DIRECT_RDMA=no`: the network "
        "card then does not access GPU memory directly, and the run is slower. If the run works "
        "with this setting, the direct access is the cause. Administrators can disable ACS "
        "(`lspci -vvv | grep ACSCtl` must not print SrcValid+), set iommu=pt or iommu=off, and "
        "load nvidia_peermem.",
        'source': "github.com/NVIDIA/nccl, issues 928 and 523; github.com/openucx/ucx, issue "
        "3564; NCCL documentation, Troubleshooting",
        'also': [
            (
                "the program freed the memory during the transfer, or another rank failed",
                "run the benchmark with buffers in host memory: osu_bw H H",
            )
        ],
    },
    {
        'name': "the GDRCopy driver refuses a call",
        'patterns': [r"UCX +ERROR +gdr_(?:pin_buffer|map|get_info)\w{0,60}(?:\(\))? failed"],
        'cause': "UCX uses the library GDRCopy (libgdrapi), and the GDRCopy driver refused a "
        "call. Either libgdrapi in the image and the kernel module gdrdrv on the node have "
        "different versions (1.3 and 2.0 are not compatible), or the memory window (BAR1) of the "
        "GPU is full.",
        'remedy': "Run `export UCX_TLS=^gdr_copy`: UCX then does not use GDRCopy, but small "
        "messages are slower. Otherwise install libgdrapi in the image, in the version that "
        "`modinfo gdrdrv` prints on the node.",
        'source': "github.com/NVIDIA/gdrcopy, issue 113",
    },
    {
        'name': "UCX receives a message for another part of the program",
        'patterns': [r"got active message id \d+, but no handler installed"],
        'cause': "Two parts of the same program use UCX at the same time and receive each other's "
        "messages (Open MPI's btl uct and Open MPI's pml ucx), or the ranks use different "
        "versions of UCX.",
        'remedy': "Run `export OMPI_MCA_btl=^uct`. `ucx_info -v` should print the same version on "
        "all nodes.",
        'source': "github.com/open-mpi/ompi, issue 8098",
    },
    {
        'name': "the libfabric provider lacks a feature",
        'patterns': [
            "OFI event counter create failed",
            r"OFI (?!fi_open|poll)[\w ]{1,40} failed \([^)\n]{0,150}:(?:Function not "
            r"implemented|(?:Operation|Protocol) not supported|Protocol not available)\)",
        ],
        'cause': "The selected libfabric provider lacks a feature that MPI needs (for example, "
        "provider shm has no counters). The variable FI_PROVIDER may force this provider, or MPI "
        "does not support this version of libfabric.",
        'remedy': "Run `unset FI_PROVIDER`, or select a provider with all features: tcp;ofi_rxm, "
        "verbs;ofi_rxm, cxi or psm2. For Intel MPI with all ranks on one node, run `export "
        "I_MPI_FABRICS=shm`.",
        'source': "github.com/ofiwg/libfabric, issue 5465",
        'unless': [
            "the job step has no VNI",
            "MPI finds no libfabric provider",
            "libfabric cannot open an endpoint on the card",
        ],
    },
    {
        'name': "the network card cannot find the memory of a rank",
        'patterns': [r"cxip_\w{1,60}\(\):\d+<warn>[^\n]{0,120}(?P<why>unexpected event received)"],
        'cause': "A rank reads or writes the memory of another rank, and the network card of one "
        "of the two ranks does not find this memory ({why}). The window or buffer was freed or "
        "moved too early, or MPI or libfabric passed a wrong key.",
        'remedy': "Check that each buffer exists until MPI_Wait returns, and that the window "
        "exists on all ranks (no rank has called MPI_Win_free or crashed). Use a newer MPICH, or "
        "run `export MPIR_CVAR_CH4_OFI_ENABLE_RMA=0`: the network card then reads no memory of "
        "other ranks. Or run `export FI_CXI_RX_MATCH_MODE=software`.",
        'source': "libfabric, prov/cxi; github.com/pmodels/mpich, issues 7118 and 6687",
    },
]
