"""MPI, libfabric, UCX, RCCL and the network's cards."""

from typing import Any, Dict, List

ENTRIES: List[Dict[str, Any]] = [
    {
        'name': "key of a queue pair that the kernel refuses",
        'patterns': [
            (
                "Failed to modify UD QP to INIT on ",
                r"Failed to modify UD QP to INIT on (?P<card>\S{1,20}): (?:Operation not permitted|Invalid "
                "argument)",
            )
        ],
        'cause': "A library (libfabric's psm3 or verbs, within Open MPI) opens {card} beside UCX, "
        "and the card refuses: newer kernels and OFED (23.10) keep the key that it uses for root.",
        'remedy': "Keep Open MPI from libfabric: export OMPI_MCA_pml=ucx OMPI_MCA_mtl=^ofi "
        "OMPI_MCA_btl=^uct,ofi; or export PSM3_DEVICES=self,shm.",
        'source': "github.com/easybuilders/easybuild-easyconfigs, issue 20233",
    },
    {
        'name': "no provider",
        'patterns': [
            ("No data available", "open_fabric: ?No data available"),
            ("getinfo", r"\b(?:fi_|OFI (?:call )?)getinfo(?:\(\))?(?: call)? fail(?:ed|ure)"),
            "OFI addrinfo() failed",
            ("fi_getinfo()", r"fi_getinfo\(\)[^\n]{0,80}ret=-61"),
            "Couldn't find any optimal provider",
            "fi_getinfo: -61",
        ],
        'cause': "libfabric has no provider that MPI can use: FI_PROVIDER names one that is not "
        "built in or has no card here, or MPI asks for more than the provider has.",
        'remedy': "osu-explain FI_PROVIDER shows what is asked for; unset yours if you have set "
        "it. On one node MPICH avoids cxi: MPIR_CVAR_SINGLE_HOST_ENABLED must be 0. opensource: "
        "does the image's libfabric have the provider (osu-exec fi_info -l)? hybrid: MPICH may "
        "ask for a newer libfabric than the host's. FI_LOG_LEVEL=info shows what was tried. MPICH "
        "3.4.3 does not work over cxi.",
        'source': "MPICH 4.2.3 and 5.0.2, seen by this project, 2026-11; open_fabric: "
        "github.com/DeiC-HPC/BitBulldozersLab, 2025",
        'also': [
            ("the container does not show the card", "osu-exec ls /dev/cxi0 /dev/infiniband"),
            (
                "the provider verbs finds no IP address on the InfiniBand interface",
                "ip -brief addr show ib0",
            ),
            ("libfabric itself is of another release", "FI_LOG_LEVEL=info osu-exec fi_info"),
        ],
    },
    {
        'name': "libfabric older than asked for",
        'patterns': ["Requested version is newer than library"],
        'cause': "MPI asks libfabric for the interface of a newer release than the one that was "
        "loaded.",
        'remedy': "hybrid with MPICH: export MPIR_CVAR_CH4_OFI_MAJOR_VERSION=1 "
        "MPIR_CVAR_CH4_OFI_MINOR_VERSION=21 asks for 1.21. Else an image whose MPI was built with "
        "an older libfabric, or opensource.",
        'source': "libfabric, src/fabric.c, fi_getinfo(); MPI_Init of MPICH 3.4.3 to 5.0.2 with "
        "and without the variables",
    },
    {
        'name': "provider asked for by an old name",
        'patterns': ["MPIR_CVAR_OFI_USE_PROVIDER is no longer supported"],
        'cause': "MPICH 4 does not read this variable, so libfabric chooses the provider by "
        "itself.",
        'remedy': "export FI_PROVIDER instead; osu-explain FI_PROVIDER shows what the module has "
        "set.",
        'source': "MPICH 4.2.3, seen by this project, 2026-11",
        'last': True,
    },
    {
        'name': "no VNI on one node",
        'patterns': [
            ("cxip_gen_auth_key", "cxip_gen_auth_key(?: failed)?:? ?-38"),
            ("Function not implemented", r"fi_domain\b.{0,200}Function not implemented"),
            (
                "Error: Function not implemented",
                r"library call \(fi_domain\)(?:[^\n]{0,200}\n){1,6}?[^\n]{0,60}Error: Function not implemented",
            ),
            "Failed to find valid default rgroup and vni",
            "Couldn't open a fabric access domain. RC: -38",
        ],
        'cause': "On Slingshot: the step has no VNI, the key that the card asks for: Slurm gives "
        "none to a step on one node, and none to a program that srun did not start.",
        'remedy': "srun --network=single_node_vni ..., which hybrid and opensource ask for "
        "(SLURM_NETWORK) unless you have set SLURM_NETWORK; start the program by srun, and not "
        "with --cleanenv, which takes away SLINGSHOT_VNIS. Without the card: module load "
        "osu-settings/single-node.",
        'source': "github.com/uiuc-hpc/lci, issue 110, 2025; github.com/open-mpi/ompi, issues "
        "12038, 12913 (LUMI) and 13148; github.com/aws/aws-ofi-nccl, issue 801; libfabric, "
        "prov/cxi/src/cxip_dom.c",
        'also': [
            (
                "the card is not Slingshot's, and the container does not show it or may not lock "
                "memory",
                "FI_LOG_LEVEL=warn srun ... shows which, in the line of its provider",
            )
        ],
    },
    {
        'name': "VNI not found",
        'patterns': ["VNI_NOT_FOUND"],
        'cause': "The ranks talk under different VNIs, or one has none: they were not started by "
        "one srun. mpirun inside a job starts its helpers by srun --mpi=none.",
        'remedy': "Start the ranks by one srun, not by mpirun, and without --mpi=none.",
        'source': "github.com/openpmix/prrte, issue 2004, 2024",
    },
    {
        'name': "event queue too small",
        'patterns': ["Cassini Event Queue overflow", "completion queue exhaustion"],
        'cause': "The card reports events faster than the rank reads them, and its queue is full; "
        "the run hangs or ends.",
        'remedy': "export FI_CXI_DEFAULT_CQ_SIZE=131072 before srun, larger if it comes back. For "
        "OSU with many messages in flight, a smaller -W (window) shows whether this is the cause.",
        'source': "github.com/argonne-lcf/user-guides, pull request 315; "
        "github.com/ofiwg/libfabric, issue 9286; Cray MPICH's own advice",
    },
    {
        'name': "portal table entry not found",
        'patterns': ["PTLTE_NOT_FOUND"],
        'cause': "A message came to an endpoint that is gone: a rank has ended or was killed, or "
        "ran out of resources of the card. Often the consequence of another error.",
        'remedy': "Look for the first error of any rank. If there is none: export "
        "FI_CXI_RX_MATCH_MODE=software.",
        'source': "github.com/ofiwg/libfabric, issue 10072 (open), 2024",
    },
    {
        'name': "message not delivered",
        'patterns': [("UNDELIVERABLE", r"\bUNDELIVERABLE\b")],
        'cause': "The card gave up on a message: the other node or a link is down, or it had no "
        "room to match the message.",
        'remedy': "export FI_CXI_RX_MATCH_MODE=software before srun (it helped one code and not "
        "another). If it is always the same node: srun --exclude=NODE, and tell the "
        "administrators.",
        'source': "github.com/quokka-astro/quokka, issue 353; github.com/BLAST-WarpX/warpx, issue "
        "4234 and pull request 4235, 2023",
    },
    {
        'name': "memory not registered",
        'patterns': ["cxil_map: write error"],
        'cause': "libcxi could not make a buffer known to the card; usually it is GPU memory, and "
        "MPI or libfabric does not take it for that, or too much is registered already.",
        'remedy': "GPU buffers: is support for them on (osu-explain lists "
        "MPICH_GPU_SUPPORT_ENABLED or MPIR_CVAR_CH4_OFI_ENABLE_HMEM), and is the module for GPU "
        "nodes? On CUDA: FI_CXI_SAFE_DEVMEM_COPY_THRESHOLD=0 (cured it at CSCS, and slows small "
        "messages).",
        'source': "github.com/eth-cscs/cscs-docs, pull request 161, 2025; shs-libcxi, cxil_map()",
    },
    {
        'name': "GTL not linked",
        'patterns': ["GPU_SUPPORT_ENABLED is requested, but GTL library is not linked"],
        'cause': "MPICH_GPU_SUPPORT_ENABLED=1 is set, and the program has not loaded Cray's GPU "
        "transport layer (libmpi_gtl_hsa.so.0) before MPI started.",
        'remedy': "In a container bound manually: --bind the folder of libmpi_gtl_hsa.so "
        "(libmpi_gtl_cuda.so), and name the file in LD_PRELOAD there. Approach bind: do not set "
        "LD_PRELOAD. native: build with the module craype-accel-amd-gfx90a loaded. Host memory "
        "only: export MPICH_GPU_SUPPORT_ENABLED=0 before module load.",
        'source': "github.com/eth-cscs/cscs-docs, cray-mpich.md; "
        "github.com/sstsimulator/sst-core, issue 895",
    },
    {
        'name': "RCCL without its plugin",
        'patterns': [("NET/Socket", r"NET/Socket ?: Using \[0\](?:hsn|cxi)\d")],
        'cause': "{NCCL|RCCL} found no plugin for libfabric, or could not load it, and sends over "
        "Slingshot by TCP, which is several times slower.",
        'remedy': "An image with {libnccl-net.so|librccl-net.so} (aws-ofi-nccl), its folder on "
        "LD_LIBRARY_PATH; the lines NET/Plugin show why it was not loaded. With our modules: "
        "osu-explain NCCL_NET_PLUGIN{| shows the image's; module load osu-settings/rccl-strict "
        "makes it an error}.",
        'source': "github.com/DeiC-HPC/BitBulldozersLab, 2025",
    },
    {
        'name': "RCCL finds no interface",
        'patterns': [(": no socket interface found", "Bootstrap ?: no socket interface found")],
        'cause': "No network interface of this node has a name that NCCL_SOCKET_IFNAME gives; "
        "{NCCL|RCCL} needs one for its ranks to meet, also where the data go over another network.",
        'remedy': "ip -brief addr lists them; NCCL_SOCKET_IFNAME=NAME of one that all nodes have "
        "(Slingshot: hsn), or unset yours (osu-explain NCCL_SOCKET_IFNAME shows a module's).",
        'source': "NCCL, src/bootstrap.cc",
    },
    {
        'name': "one GPU for two ranks",
        'patterns': ["Duplicate GPU detected"],
        'cause': "Two ranks of {NCCL|RCCL} took the same GPU: there are more ranks than GPUs on "
        "the node, or each sees one GPU only and takes its first.",
        'remedy': "As many ranks as GPUs, each with its own: {cudaSetDevice|hipSetDevice}(local "
        "rank). osu_xccl_* choose theirs by local rank, so each rank has to see all GPUs of the "
        "node: no --gpus-per-task, --gpu-bind or {CUDA|ROCR}_VISIBLE_DEVICES for them.",
        'source': "EESSI on LUMI, 2026; github.com/horovod/horovod, issue 3929",
    },
    {
        'name': "no memory of another rank",
        'patterns': [
            (
                "process_vm_",
                r"process_vm_(?:read|write)v\b.{0,300}(?:Operation not permitted|No such process|failed \(errno "
                r"[13]\))",
            ),
            ("Read -1, expected ", r"Read -1, expected \d+, errno ?= ?[13]\b"),
        ],
        'cause': "A rank may not read the memory of another one on its node (CMA): each runs in "
        "its own container, and so in its own user namespace. 'No such process': in another pid "
        "namespace, or that rank has ended.",
        'remedy': "Start it by a command of the module (osu-exec PROGRAM): ranks of a node then "
        "share a container, or MPI is configured for it. Two images in one program: OSU_SHARE=0. "
        "By hand: MPICH 5: export MPIR_CVAR_CH4_CMA_ENABLE=0; Open MPI: export "
        "OMPI_MCA_btl_vader_single_copy_mechanism=none (4), OMPI_MCA_smsc=^cma (5); UCX: export "
        "UCX_TLS=^cma. Or all ranks of a node in one container: apptainer exec --sharens.",
        'source': "github.com/open-mpi/ompi, pull request 6844; github.com/openucx/ucx, issue "
        "8958; github.com/apptainer/apptainer, issues 769 and 1227; MPICH 5.0.2, two ranks in a "
        "user namespace each, 2026-11-23",
    },
    {
        'name': "PSM3 opens no card",
        'patterns': ["PSM3 can't open nic unit"],
        'cause': "libfabric's provider psm3 is made for Intel's RDMA cards. Here it took an "
        "Ethernet interface, and cannot open it: a container, a virtual machine, a login node. "
        "MPI then ends, or waits forever.",
        'remedy': "export PSM3_DEVICES=self,shm (ranks of one node), or FI_PROVIDER=^psm3, with "
        "tcp between nodes.",
        'source': "github.com/easybuilders/easybuild-easyconfigs, issue 18925; "
        "github.com/mpi4py/shmem4py, pull request 28",
    },
    {
        'name': "PSM2 opens no card",
        'patterns': [
            "PSM2 can't open hfi unit",
            "PSM2 was unable to open an endpoint",
            (
                "assign_context command failed",
                r"(?:hfi|ipath)_userinit\w{0,60}: .{0,20}assign_context command failed",
            ),
        ],
        'cause': "The Omni-Path card has no free context for this rank, or the container does not "
        "show it.",
        'remedy': "Fewer ranks on the node, or a node of your own (--exclusive): another job may "
        "have the contexts. In a container: bind /dev/hfi1_0.",
        'source': "github.com/intel/opa-psm2, README; github.com/open-mpi/ompi, issue 10601",
        'also': [
            ("the link is down", "opainfo"),
            ("there is no such card here", "ls /dev/hfi1*; then FI_PROVIDER=tcp"),
            ("memory may not be locked", "srun bash -c 'ulimit -l', which should print unlimited"),
        ],
    },
    {
        'name': "no endpoint on the card",
        'patterns': ["OFI endpoint open failed", "Libfabric library call (fi_endpoint)"],
        'cause': "libfabric has chosen a provider, and this provider cannot open its card for "
        "this rank.",
        'remedy': "FI_LOG_LEVEL=warn srun ... shows which provider and why; FI_PROVIDER takes "
        "another one. Start the rank by srun: on Cray's networks only that gives it the right to "
        "the card.",
        'source': "MPICH, src/mpid/ch4/netmod/ofi/ofi_init.c; github.com/LLNL/sundials, issue 316",
        'also': [
            ("it is psm3 on plain Ethernet", "PSM3_DEVICES=self,shm srun ..."),
            ("memory may not be locked", "srun bash -c 'ulimit -l', which should print unlimited"),
        ],
        'unless': ["PSM3 opens no card", "PSM2 opens no card", "limit of locked memory"],
    },
    {
        'name': "limit of locked memory",
        'patterns': [
            "set max locked memory",
            "Failure to post internal receive buffers",
            (
                " failed",
                r"\bibv_(?:create_(?:cq|qp|srq)|reg_mr|alloc_pd)\w{0,60}(?:\([^)\n]{0,80}\))? "
                r"failed[^\n]{0,60}Cannot allocate memory",
            ),
        ],
        'cause': "The card needs memory that is locked, and this process may lock too little "
        "(ulimit -l). The node has enough memory.",
        'remedy': "srun bash -c 'ulimit -l' should print unlimited. Slurm takes it from slurmd "
        "(LimitMEMLOCK) or from your login shell (PropagateResourceLimits): ask the "
        "administrators. Docker, podman: --ulimit memlock=-1:-1.",
        'source': "github.com/openucx/ucx, issue 8746; github.com/awslabs/awsome-distributed-ai, "
        "issue 647; github.com/NVIDIA/cudf-spark, pull request 7632",
        'also': [
            ("the card has no room for so many connections", "the same line with two ranks a node"),
            (
                "more memory is registered than the card (EFA) takes: huge pages need less room",
                "the same with a smaller case",
            ),
        ],
    },
    {
        'name': "queue pairs of the card used up",
        'patterns': [
            (
                "mlx5dv_devx_obj_create(",
                r"mlx5dv_devx_obj_create\((?P<what>\w+)\) failed(?![^\n]{0,80}(?:Remote I/O|Invalid argument))",
            ),
            (
                "Cannot allocate memory",
                r"rdma_create_qp\w{0,10}(?:\(\))?:? [^\n]{0,20}Cannot allocate memory",
            ),
        ],
        'cause': "The InfiniBand card has no room for another connection ({what}): every rank "
        "opens one to every other (transport rc).",
        'remedy': "export UCX_TLS=self,sm,ud_x (or dc_x), which do with few; or fewer ranks on a "
        "node. libfabric: FI_VERBS_TX_SIZE=128 FI_VERBS_RX_SIZE=128.",
        'source': "github.com/openucx/ucx, issues 7978 and 5351; UCX, documentation, FAQ",
        'also': [("the driver of the card is at fault", "UCX_IB_MLX5_DEVX=n srun ...")],
    },
    {
        'name': "openib not used",
        'patterns': [
            "error initializing an OpenFabrics device",
            "infiniband ports on a device",
            "No preset parameters were found for the device",
            "Module: OpenFabrics (openib)",
            (
                "help-mpi-btl-openib",
                r"help-mpi-btl-openib(?:-cpc-base)?\.txt / (?:no device params found|no cpcs for port|error in "
                "device init|ib port not selected|no active ports found|ini file)",
            ),
        ],
        'cause': "Open MPI 4 warns that its old component openib cannot use the card; UCX is "
        "meant to.",
        'remedy': "export OMPI_MCA_btl=^openib silences it. Harmless where the run is fast.",
        'source': "github.com/open-mpi/ompi, issues 10693 and 7461; github.com/shankar1729/jdftx, "
        "issue 270",
        'also': [
            (
                "the run goes over TCP, where it is slow",
                "OMPI_MCA_pml=ucx srun ... ends if UCX finds no card",
            )
        ],
        'last': True,
    },
    {
        'name': "component of Open MPI missing",
        'patterns': [
            ("Framework: ", r"Framework: +(?P<framework>btl|pml|mtl|coll|osc|smsc|plm|ras)\b")
        ],
        'cause': "Something asks Open MPI for a component of its framework {framework} that it "
        "does not have: usually a module of the host sets OMPI_MCA_..., for another Open MPI than "
        "the image's.",
        'remedy': "env | grep OMPI_MCA_ shows it; unset it, or start the container without that "
        "module.",
        'source': "github.com/glotzerlab/software, issue 120",
        'also': [
            (
                "a file of the image or of yours asks for it",
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
            (" cannot be selected", r"PML \w+ cannot be selected"),
        ],
        'cause': "Open MPI has no way to send messages: what was asked for (OMPI_MCA_pml, "
        "OMPI_MCA_btl, --mca) does not work here, usually UCX without a card that it can use.",
        'remedy': "env | grep OMPI_MCA_, and unset what asks for one. OMPI_MCA_pml=ob1 "
        "OMPI_MCA_btl=self,sm,tcp (vader for sm in Open MPI 4) goes over TCP.",
        'source': "github.com/openucx/ucx, issue 5284; github.com/open-mpi/ompi, issue 9838; "
        "github.com/hpc/charliecloud, pull request 166",
        'also': [
            ("the container does not show the card", "osu-exec ls /dev/infiniband /dev/cxi0"),
            ("UCX in the image was built without it", "osu-exec ucx_info -d"),
        ],
    },
    {
        'name': "GPU buffer in an MPI without GPU support",
        'patterns': [
            ("process_vm_", r"process_vm_(?:read|write)v\b.{0,300}Bad address"),
            ("Read -1, expected ", r"Read -1, expected \d+, errno ?= ?14\b"),
        ],
        'cause': "MPI was given a buffer in GPU memory and takes it for host memory: its support "
        "for GPUs is off, or it was built without.",
        'remedy': "Cray MPICH: MPICH_GPU_SUPPORT_ENABLED=1 and the GTL library (module "
        "craype-accel-...); MPICH: MPIR_CVAR_ENABLE_GPU=1; Open MPI: a build with CUDA or ROCm. "
        "osu_bw H H shows whether host memory works.",
        'source': "process_vm_readv(2), EFAULT; github.com/spectral-compute/scale-validation, "
        "issue 66",
        'also': [
            (
                "the GPU's memory was allocated by another runtime than MPI knows",
                "ldd PROGRAM shows which it loads",
            ),
            (
                "UCX_TLS leaves out cuda_copy (rocm_copy), by which UCX knows GPU memory",
                "env | grep UCX_TLS",
            ),
        ],
    },
    {
        'name': "GPU memory not shared between ranks",
        'patterns': [
            ("IpcGetMemHandle failed", "(?:cu|cuda|hip)IpcGetMemHandle failed"),
            "failed to open ipc mem handle",
        ],
        'cause': "Ranks of one node cannot show each other their GPU memory (IPC): it comes from "
        "a pool of the program, each rank sees only its own GPU, or each runs in namespaces of "
        "its own.",
        'remedy': "Let each rank see all GPUs of the node (srun --gres-flags=allow-task-sharing); "
        "allocate by {cudaMalloc (Julia: JULIA_CUDA_MEMORY_POOL=none)|hipMalloc}. To go on "
        "without: UCX_TLS=^{cuda_ipc|rocm_ipc}; NCCL_P2P_DISABLE=1.",
        'source': "github.com/JuliaGPU/CUDA.jl, issue 1398; github.com/openucx/ucx, issue 3192",
        'also': [
            (
                "the container is the reason",
                "the same with apptainer exec --sharens, or UCX_TLS=^{cuda_ipc|rocm_ipc}",
            )
        ],
    },
    {
        'name': "RCCL's wish about the kernel",
        'patterns': [
            (
                'NCCL WARN Missing "',
                r'NCCL WARN Missing \"[^\"\n]{1,80}\" from (?:kernel|environment)',
            )
        ],
        'cause': "{NCCL|RCCL} recommends a setting of the kernel or of the environment that it "
        "does not see.",
        'remedy': "Harmless where runs go well: kernels of Cray systems pass the IOMMU through by "
        "their configuration.",
        'source': "github.com/ROCm/rocm-systems, pull request 7916",
        'last': True,
    },
    {
        'name': "NCCL of two releases",
        'patterns': [
            (
                "Message truncated : receiv",
                r"Message truncated : receiv(?:ed|ing) \d+ bytes instead of \d+",
            ),
            ("collective mismatch error", r"collective mismatch error,? local size \d+"),
        ],
        'cause': "Ranks do not speak the same way: they have different releases of {NCCL|RCCL} "
        "(image and host, two packages of pip), call different collectives, read other settings "
        "(NCCL_PROTO, NCCL_ALGO, NCCL_BUFFSIZE), or another program came to the same port.",
        'remedy': "NCCL_DEBUG=VERSION on all ranks; ldd and pip list | grep nccl: one alone, the "
        "same everywhere. srun -l env | grep NCCL_ should be the same on all.",
        'source': "NCCL, src/bootstrap.cc",
        'also': [
            (
                "the program gives a collective other sizes on some rank",
                "TORCH_DISTRIBUTED_DEBUG=DETAIL PROGRAM",
            ),
            (
                "only InfiniBand shows it, since cards reorder writes",
                "NCCL_IB_PCI_RELAXED_ORDERING=0 PROGRAM",
            ),
        ],
    },
    {
        'name': "NCCL stopped",
        'patterns': [
            "ncclSystemError",
            ("NCCL error", r"NCCL error\b"),
            ("NCCL failure", r"NCCL failure \S{1,60}:\d+"),
        ],
        'cause': "{NCCL|RCCL} has ended; this line is the last of its messages and does not show "
        "why.",
        'remedy': "NCCL_DEBUG=WARN srun ... prints the first one, which osu-container why "
        "explains. A run over TCP (NCCL_IB_DISABLE=1, NCCL_NET=Socket) shows whether the network "
        "is at fault.",
        'source': "NCCL, documentation, Errors; github.com/NVIDIA/nccl, issue 473",
        'also': [
            (
                "in a container /dev/shm is too small (Docker: 64 MB; --shm-size=2g or --ipc=host)",
                "df -h /dev/shm",
            )
        ],
        'last': True,
        'unless': ["rank of NCCL at the other end has gone"],
    },
    {
        'name': "plugin cannot register memory",
        'patterns': ["NET/OFI Unable to register memory", "unable to set memops for cuda ptr"],
        'cause': "The plugin of {NCCL|RCCL} cannot make GPU memory known to the network: "
        "libfabric does not take it for GPU memory, or its provider is too old for this "
        "{NCCL|RCCL}.",
        'remedy': "EFA: export FI_EFA_SET_CUDA_SYNC_MEMOPS=0, or the installer 1.29.1 or newer. "
        "cxi: a libfabric built with {CUDA|ROCm}, and /boot/config-$(uname -r) bound, where "
        "libfabric looks for DMABUF. NCCL_NET_GDR_LEVEL=LOC avoids it, slower.",
        'source': "github.com/awslabs/awsome-distributed-ai, issue 203",
    },
    {
        'name': "no answer over InfiniBand",
        'patterns': [
            "ransport retry count exceeded",
            ("Endpoint timeout", r"(?:transport error: |UCX +ERROR[^\n]{0,200})Endpoint timeout"),
            (
                "Got completion ",
                r"Got completion .{0,120}(?:status=|error )(?:12\b|IBV_WC_RETRY_EXC_ERR)",
            ),
        ],
        'cause': "The card sent and the other node never answered: its rank has died, a link is "
        "bad, or the two cards do not reach each other (on Ethernet: the wrong GID, or a network "
        "that loses packets).",
        'remedy': "Look for the first error of any rank. If there is none: ibstat and perfquery "
        "on both nodes, and srun --exclude=NODE if it is always the same one. RoCE: "
        "UCX_IB_GID_INDEX=3 or NCCL_IB_GID_INDEX=3.",
        'source': "github.com/openucx/ucx, issues 5199, 6000 and 9590",
        'also': [
            ("the network is only overloaded", "UCX_RC_TIMEOUT=4s UCX_DC_TX_QUEUE_LEN=256 PROGRAM")
        ],
    },
    {
        'name': "no such fabric for Intel MPI",
        'patterns': [
            (
                " fabric is not available and fallback fabric",
                r"(?<![\w:])(?P<fabric>[\w:]+) fabric is not available and fallback fabric",
            )
        ],
        'cause': "Intel MPI is set to the fabric {fabric}, which is not available here.",
        'remedy': "unset I_MPI_FABRICS, or name an available one: shm:ofi (from 2019 on), shm:tcp "
        "or shm:dapl before. env | grep I_MPI_ shows what a module or the program's own script "
        "has set.",
        'source': "github.com/UCL-ARC/rcps-buildscripts, issue 50",
        'unless': ["PSM2 opens no card", "PSM3 opens no card"],
    },
    {
        'name': "driver of another card not installed",
        'patterns': [
            (
                "libibverbs: Warning: couldn't load driver '",
                "libibverbs: Warning: couldn't load driver '(?P<driver>[^']{1,100})'",
            )
        ],
        'cause': "/etc/libibverbs.d names the driver {driver}, which is not installed.",
        'remedy': "Harmless, unless it is the driver of this node's card (ibv_devices shows those "
        "that work): then install ibverbs-providers or rdma-core in the image.",
        'source': "github.com/NVIDIA/nccl, issue 1044",
    },
    {
        'name': "NCCL reaches no other node",
        'patterns': [
            (
                "Connect: ",
                r"socket(?:Start|Poll|Finalize)Connect: [Cc]onnect(?:ion)?\b.{0,20} (?P<to>\S+<\d+>)",
            ),
            (
                "onnect",
                r"WARN (?:Net : )?(?:Call to c|C)onnect(?:ion)? ?(?:to \S{1,100} )?(?:failed|returned|timeout)",
            ),
        ],
        'cause': "A rank cannot reach another one by TCP ({to}): {NCCL|RCCL} took a network "
        "interface that leads nowhere, a firewall blocks the connection between the nodes, or the "
        "other rank has ended.",
        'remedy': "export NCCL_SOCKET_IFNAME=NAME of the interface that ip addr shows for both "
        "nodes (Slingshot: hsn), not docker0 or lo. Let the firewall pass all ports between "
        "compute nodes.",
        'source': "github.com/NVIDIA/nccl-tests, issue 162",
        'also': [("another rank has failed before", "look for an earlier error of any rank")],
    },
    {
        'name': "message cancelled",
        'patterns': ["Input/output error - CANCELED"],
        'cause': "The message was cancelled because this rank or its partner was being ended: "
        "from outside (scancel, time, a signal), or after an error of another rank.",
        'remedy': "sacct -j JOB -o state,exitcode,end shows how the job ended; then look for the "
        "first error of any rank.",
        'source': "github.com/ofiwg/libfabric, issue 11307",
    },
    {
        'name': "no way of UCX to the other rank",
        'patterns': [
            (
                " transport",
                "[Nn]o (?:active messages|remote registered memory access|auxiliary|am bcopy|copy "
                "across memory types|peer failure handler|emulated rma|tag offload|atomic "
                "operations on registered memory) transport",
            )
        ],
        'cause': "UCX finds no transport that reaches the other rank: UCX_TLS leaves out what is "
        "needed (self, sm, and one between nodes), or the two nodes or containers do not have the "
        "same cards.",
        'remedy': "unset UCX_TLS and UCX_NET_DEVICES; else UCX_TLS=self,sm,tcp works everywhere. "
        "ucx_info -d on both nodes (osu-exec ucx_info -d) shows what each has.",
        'source': "UCX, src/ucp/wireup/select.c",
        'also': [("only one of the nodes shows its card", "srun osu-exec ls /dev/infiniband")],
    },
    {
        'name': "UCX of two releases",
        'patterns': [
            ("address version mismatch", "UCX +ERROR +address version mismatch"),
            ("version mismatch", "UCX.{0,40}version mismatch"),
            ("(ucs_config_", r"\(ucs_config_(?:clone|parser)_\w{1,40}\+0x"),
        ],
        'cause': "A program or MPI was built with another release of UCX than the one that is "
        "loaded here, or the nodes (host and image) have different ones.",
        'remedy': "ucx_info -v inside and outside; ldd of libmpi or mca_pml_ucx.so shows which "
        "libucp.so.0 is taken. Take LD_LIBRARY_PATH of the other one away (module unload ucx "
        "hpcx).",
        'source': "UCX, src/ucp/core/ucp_context.c",
    },
    {
        'name': "memory that the card cannot take",
        'patterns': [
            (
                "failed: Bad address",
                r"ibv_reg_\w{0,20}mr\w{0,20}(?:\(.{0,200})? ?failed: Bad address",
            ),
            ("ouldn't register ", "[Cc]ouldn't register (?:GPU )?MR"),
        ],
        'cause': "The card cannot register this memory; usually it is GPU memory, and the kernel "
        "module that lets cards reach it is not loaded, or the memory is read-only or of another "
        "kind.",
        'remedy': "{lsmod, grep nvidia_peermem on the node (administrators: modprobe "
        "nvidia_peermem)|DMABUF in the kernel}. Without: UCX_IB_GPU_DIRECT_RDMA=no; "
        "NCCL_NET_GDR_LEVEL=LOC{; FI_HMEM_CUDA_USE_GDRCOPY=0|}.",
        'source': "NVIDIA, GPUDirect RDMA; UCX, documentation, FAQ",
        'also': [
            (
                "too much is registered, or may not be locked",
                "ulimit -l, which should print unlimited",
            )
        ],
        'unless': ["limit of locked memory", "GDRCopy of another release than its driver"],
    },
    {
        'name': "objects of the card that its driver refuses",
        'patterns': [
            (
                "mlx5dv_devx_",
                r"mlx5dv_devx_(?P<what>\w{1,40}\(\w*)\) failed.{0,80}(?:Remote I/O error|Invalid argument|Operation "
                "not|Protocol not|Function not)",
            )
        ],
        'cause': "The driver or firmware of the card refuses what this UCX asks for, {what}): UCX "
        "and firmware do not fit.",
        'remedy': "UCX_IB_MLX5_DEVX=n (or UCX_IB_MLX5_DEVX_OBJECTS=) avoids them. Administrators: "
        "newer firmware.",
        'source': "github.com/openucx/ucx, issues 10451 and 8440",
    },
    {
        'name': "shared memory of UCX too small",
        'patterns': [
            (
                "Not enough memory to write total of ",
                r"Not enough memory to write total of \d+ bytes",
            )
        ],
        'cause': "/dev/shm is full, too small or not accessible; UCX keeps the messages between "
        "ranks of a node there.",
        'remedy': "df -h /dev/shm in the container, rm leftovers (ls -l /dev/shm). Docker, "
        "podman: --shm-size=2g or --ipc=host. UCX_TLS=^posix avoids it.",
        'source': "UCX, src/uct/sm/mm/posix",
    },
    {
        'name': "shared memory of UCX in another user namespace",
        'patterns': [
            (
                "open(file_name=/proc/",
                r"open\(file_name=/proc/\d+/fd/\d+ flags=\w{1,20}\) failed: (?:Permission denied|No such file)",
            )
        ],
        'cause': "UCX opens the shared memory of another rank below /proc/PID/fd. The kernel refuses "
        "this to a rank in another container, which has its own user or PID namespace.",
        'remedy': "export UCX_POSIX_USE_PROC_LINK=n UCX_TLS=^cma, or start the ranks by a command of "
        "the module (osu-exec PROGRAM), which sets both variables or shares one container.",
        'source': "UCX, src/uct/sm/mm/posix/mm_posix.c; github.com/openucx/ucx, issue 4224; seen by "
        "this project with UCX 1.13.1, 2026-11-28",
    },
    {
        'name': "libfabric under Open MPI failed",
        'patterns': ["The Open MPI OFI MTL is aborting the MPI job"],
        'cause': "Open MPI sends through libfabric (mtl ofi), and its provider failed: it is one "
        "that does not suit here (psm3, tcp on one machine), or a rank has ended.",
        'remedy': "export OMPI_MCA_mtl=^ofi OMPI_MCA_btl=^ofi: Open MPI then takes UCX, shared "
        "memory and TCP. FI_PROVIDER names another one; FI_LOG_LEVEL=warn shows why.",
        'source': "github.com/OPM/LBPM, issue 48",
    },
    {
        'name': "no fast network for Open MPI",
        'patterns': ["help-mpi-btl-base.txt / btl:no-nics", "there are no active ports detected"],
        'cause': "Open MPI looked for a fast network (InfiniBand) and found none that is up; it "
        "uses shared memory and TCP.",
        'remedy': "Harmless on a machine without one: OMPI_MCA_btl_base_warn_component_unused=0 "
        "silences it. With one: ibstat, ls /dev/infiniband in the container.",
        'source': "Open MPI, help-mpi-btl-base.txt; github.com/open-mpi/ompi, issue 1393",
        'last': True,
        'unless': ["openib not used"],
    },
    {
        'name': "GPU memory kept from the card by the node's bridges",
        'patterns': [("Got completion ", r"Got completion .{0,160}(?:status=|error )4\b")],
        'cause': "The card may not read or write this memory; where it is GPU memory (GPU Direct "
        "RDMA) usually PCI's access control (ACS) or the IOMMU of the node, often of a virtual "
        "machine, prevents it.",
        'remedy': "NCCL_NET_GDR_LEVEL=LOC (UCX_IB_GPU_DIRECT_RDMA=no) avoids it, slower, and "
        "shows whether this is the cause. Administrators: ACS off (lspci -vvv | grep ACSCtl: no "
        "SrcValid+), iommu=pt or off, nvidia_peermem loaded.",
        'source': "github.com/NVIDIA/nccl, issues 928 and 523; github.com/openucx/ucx, issue "
        "3564; NCCL documentation, Troubleshooting",
        'also': [
            (
                "the program has freed the memory while it was sent, or another rank had failed",
                "the same with buffers in host memory (osu_bw H H)",
            )
        ],
    },
    {
        'name': "GDRCopy of another release than its driver",
        'patterns': [
            (" failed", r"UCX +ERROR +gdr_(?:pin_buffer|map|get_info)\w{0,60}(?:\(\))? failed")
        ],
        'cause': "UCX opened GDRCopy and its driver refused a call: the image has libgdrapi of "
        "another release than the module gdrdrv of the node (1.3 and 2.0 do not fit), or the "
        "GPU's window for it is full.",
        'remedy': "UCX_TLS=^gdr_copy avoids it, slower for small messages. Else libgdrapi of the "
        "node's release in the image (modinfo gdrdrv on the node).",
        'source': "github.com/NVIDIA/gdrcopy, issue 113",
    },
    {
        'name': "message of UCX that nobody takes",
        'patterns': [
            (", but no handler installed", r"got active message id \d+, but no handler installed")
        ],
        'cause': "Two parts of one program use UCX at a time and get each other's messages (Open "
        "MPI's btl uct beside pml ucx), or the ranks have different releases of UCX.",
        'remedy': "export OMPI_MCA_btl=^uct; ucx_info -v on all nodes should say the same.",
        'source': "github.com/open-mpi/ompi, issue 8098",
    },
    {
        'name': "provider that lacks what MPI asks of it",
        'patterns': [
            "OFI event counter create failed",
            (
                " failed (",
                r"OFI (?!fi_open|poll)[\w ]{1,40} failed \([^)\n]{0,150}:(?:Function not "
                r"implemented|(?:Operation|Protocol) not supported|Protocol not available)\)",
            ),
        ],
        'cause': "The provider of libfabric that was chosen lacks something that MPI needs "
        "(counters in shm, for one): FI_PROVIDER forces it, or libfabric is older or newer than "
        "this MPI knows.",
        'remedy': "unset FI_PROVIDER; else one that gives all of it: tcp;ofi_rxm, verbs;ofi_rxm, "
        "cxi, psm2. Ranks of one node: I_MPI_FABRICS=shm (Intel MPI).",
        'source': "github.com/ofiwg/libfabric, issue 5465",
        'unless': ["no VNI on one node", "no provider", "no endpoint on the card"],
    },
    {
        'name': "memory of another rank that the card may not touch",
        'patterns': [
            (
                "unexpected event received",
                r"cxip_\w{1,60}\(\):\d+<warn>[^\n]{0,120}(?P<why>unexpected event received)",
            )
        ],
        'cause': "The card does not find the memory that a rank reads or writes, here or at "
        "another rank ({why}): the window or buffer was freed or moved too early, or MPI or "
        "libfabric gave a wrong key.",
        'remedy': "Check that the buffer exists until MPI_Wait, and the window at all ranks "
        "(MPI_Win_free, a rank that crashed). A newer MPICH; MPIR_CVAR_CH4_OFI_ENABLE_RMA=0 "
        "avoids reads by the card; FI_CXI_RX_MATCH_MODE=software.",
        'source': "libfabric, prov/cxi; github.com/pmodels/mpich, issues 7118 and 6687",
    },
]
