"""MPI, libfabric, UCX, RCCL and the network's cards."""
from .common import DEIC

ENTRIES = [
    {'name': "key of a queue pair that the kernel refuses",
     'text': "Failed to modify UD QP to INIT on mlx5_0: Operation not permitted",
     'patterns': [("Failed to modify UD QP to INIT", r"Failed to modify UD QP to INIT on (?P<card>\S{1,20}): "
                   "(?:Operation "
                   "not permitted|Invalid argument)")],
     'cause': "A library (libfabric's psm3 or verbs, within Open MPI) opens {card} beside UCX, and the card refuses: "
              "newer kernels and OFED (23.10) keep the key that it uses for root.",
     'remedy': "Keep Open MPI from libfabric: export OMPI_MCA_pml=ucx OMPI_MCA_mtl=^ofi OMPI_MCA_btl=^uct,ofi; or "
               "export PSM3_DEVICES=self,shm.",
     'source': "github.com/easybuilders/easybuild-easyconfigs, issue 20233", 'evidence': 'measured'},
    {'name': "one-sided part of UCX that drops out",
     'text': "osc_ucx_component.c:379 Error: OSC UCX component priority set inside component query failed",
     'patterns': ["OSC UCX component priority set inside component query failed"],
     'cause': "UCX has only TCP here, which cannot do one-sided communication, so Open MPI takes another part for it.",
     'remedy': "Harmless; export OMPI_MCA_osc=^ucx silences it.",
     'source': "github.com/open-mpi/ompi, issue 14086", 'evidence': 'measured', 'last': True},
    {'name': 'no provider',
     'text': "OFI fi_getinfo() failed (ofi_init.c:...:open_fabric:No data available)",
     'patterns': [("No data available", "open_fabric: ?No data available"),
                  ("No data available", "find_provider.{0,200}No data available"),
                  ("getinfo", r"getinfo(?:\(\))?(?: call)? fail(?:ed|ure)"), "OFI addrinfo() failed",
                  ("ret=-61", r"fi_getinfo\(\)[^\n]{0,80}ret=-61"),
                  "OFI fi_fabric failed", "Couldn't find any optimal provider",
                  "Could not find any optimal provider", "no such provider", "fi_getinfo: -61"],
     'cause': "libfabric has no provider that MPI can use: it was told to use one that is not built in or has no "
              "card here (FI_PROVIDER), or MPI asks for more than the provider has.",
     'remedy': "osu-explain FI_PROVIDER says what is asked for; unset yours if you have set it. On one node MPICH "
               "avoids cxi: MPIR_CVAR_SINGLE_HOST_ENABLED must be 0. opensource: does the image's libfabric have the "
               "provider (osu-exec fi_info -l)? hybrid: MPICH may ask for a newer libfabric than the host's. "
               "FI_LOG_LEVEL=info shows what was looked at. MPICH 3.4.3 does not work over cxi.",
     'also': [("the container does not show the card", "osu-exec ls /dev/cxi0 /dev/infiniband"),
              ("the provider verbs finds no IP address on the InfiniBand interface", "ip -brief addr show ib0"),
              ("libfabric itself is of another release", "FI_LOG_LEVEL=info osu-exec fi_info")],
     'source': 'MPICH 4.2.3 and 5.0.2, seen by this project, 2026-11; open_fabric: ' + DEIC + ', 2025',
     'evidence': 'measured'},
    {'name': 'provider finds nothing',
     'text': "fi_getinfo: provider usnic returned -61 (No data available)",
     'patterns': [(" returned -61 (No data available)",
                   r"provider (?P<provider>[\w;]+) returned -61 \(No data available\)")],
     'unless': ['no provider'],
     'cause': "The provider {provider} of libfabric has no device here, or not what was asked for. Harmless where "
              "another one is used.",
     'remedy': "If the run failed, see that the provider of this site is there: osu-explain FI_PROVIDER.",
     'source': 'libfabric, src/fabric.c; github.com/ofiwg/libfabric, issue 7324', 'evidence': 'derived', 'last': True},
    {'name': 'no data available',
     'text': "No data available",
     'patterns': [("No data available", r"(?<!-61 \()No data available")],
     'unless': ['no provider', 'provider finds nothing'],
     'cause': "libfabric's answer FI_ENODATA: nothing fits what was asked for, mostly no provider or no card.",
     'remedy': "FI_LOG_LEVEL=info srun ... shows who says so and why. Is the node one with the network's cards?",
     'source': 'libfabric, fi_errno(3)', 'evidence': 'derived', 'last': True},
    {'name': 'libfabric older than asked for',
     'text': "core:core:fi_getinfo():...<warn> Requested version is newer than library",
     'patterns': ["Requested version is newer than library"],
     'cause': "MPI asks libfabric for the interface of a newer release than the one that was loaded.",
     'remedy': "hybrid with MPICH: export MPIR_CVAR_CH4_OFI_MAJOR_VERSION=1 MPIR_CVAR_CH4_OFI_MINOR_VERSION=21 asks "
               "for 1.21. Else an image whose MPI was built with an older libfabric, or opensource.",
     'source': 'libfabric, src/fabric.c, fi_getinfo(); MPI_Init of MPICH 3.4.3 to 5.0.2 with and without the variables',
     'evidence': 'measured'},
    {'name': 'provider asked for by an old name',
     'text': "MPIR_CVAR_OFI_USE_PROVIDER is no longer supported in CH4. Use FI_PROVIDER instead",
     'patterns': ["MPIR_CVAR_OFI_USE_PROVIDER is no longer supported"],
     'cause': "MPICH 4 does not read this variable, so libfabric chooses the provider by itself.",
     'remedy': "export FI_PROVIDER instead; osu-explain FI_PROVIDER says what the module has set.",
     'source': 'MPICH 4.2.3, seen by this project, 2026-11', 'evidence': 'measured', 'last': True},
    {'name': 'no VNI on one node',
     'text': "cxi:domain:cxip_domain():...<warn> ... cxip_gen_auth_key failed: -38:Function not implemented",
     'patterns': [("cxip_gen_auth_key", "cxip_gen_auth_key(?: failed)?:? ?-38"),
                  ("Function not implemented", r"fi_domain\b.{0,200}Function not implemented"),
                  "Libfabric library call (fi_domain)", "Failed to find valid default rgroup and vni",
                  "Couldn't open a fabric access domain. RC: -38", "OFI fi_open domain failed"],
     'cause': "The step has no VNI, the key that Slingshot's card asks for: Slurm gives none to a step on one node, "
              "and none to a program that srun did not start.",
     'remedy': "srun --network=single_node_vni ..., which hybrid and opensource ask for (SLURM_NETWORK) unless you "
               "have set SLURM_NETWORK; start the program by srun, and not with --cleanenv, which takes away "
               "SLINGSHOT_VNIS. Without the card: export OSU_SINGLE_NODE=shm before module load.",
     'also': [("the card is not Slingshot's, and the container does not show it or may not lock memory",
               "FI_LOG_LEVEL=warn srun ... says which, in the line of its provider")],
     'source': 'github.com/uiuc-hpc/lci, issue 110, 2025; github.com/open-mpi/ompi, issues 12038, 12913 (LUMI) and '
               '13148; github.com/aws/aws-ofi-nccl, issue 801; libfabric, prov/cxi/src/cxip_dom.c',
     'evidence': 'measured'},
    {'name': 'one-node VNI not allowed',
     'text': "Single-node VNI requested by user, but 'single_node_vni=...' not set in SwitchParameters",
     'patterns': ["Single-node VNI requested by user"],
     'cause': "This cluster does not let users ask for a VNI on one node (SwitchParameters of slurm.conf).",
     'remedy': "export OSU_SINGLE_NODE=shm before module load, or export SLURM_NETWORK=no_vni; or ask the "
               "administrators for single_node_vni=user.",
     'source': 'Slurm, plugin switch/hpe_slingshot', 'evidence': 'derived'},
    {'name': 'VNI not found',
     'text': "... error: 0x26c450f0 (err: 5, VNI_NOT_FOUND)",
     'patterns': ["VNI_NOT_FOUND"],
     'cause': "The ranks talk under different VNIs, or one has none: they were not started by one srun. mpirun "
              "inside a job starts its helpers by srun --mpi=none.",
     'remedy': "Start the ranks by one srun, not by mpirun, and without --mpi=none.",
     'source': 'github.com/openpmix/prrte, issue 2004, 2024', 'evidence': 'derived'},
    {'name': 'match entries used up',
     'text': "[Fatal] LE resources not recovered during flow control. FI_CXI_RX_MATCH_MODE=... is required",
     'patterns': [("failure to append LE", "failure to append LE"), "RX request list is full",
                  ("Message flow-control triggered", "Message flow-control triggered"),
                  "LE resources not recovered",
                  "FI_CXI_RX_MATCH_MODE=[hybrid|software] is required"],
     'cause': "More messages wait unmatched than the card has entries for; in mode hardware the run ends.",
     'remedy': "export FI_CXI_RX_MATCH_MODE=hybrid (or software) before srun.",
     'source': 'libfabric, prov/cxi, cxip_ux_onload_cb(), and fi_cxi(7)', 'evidence': 'derived'},
    {'name': 'event queue too small',
     'text': "cxi:core:cxip_cq_eq_progress():...<warn> ...: Cassini Event Queue overflow detected.",
     'patterns': ["Cassini Event Queue overflow", "completion queue exhaustion"],
     'cause': "The card reports events faster than the rank reads them, and its queue is full; the run hangs or ends.",
     'remedy': "export FI_CXI_DEFAULT_CQ_SIZE=131072 before srun, larger if it comes back. For OSU with many "
               "messages in flight, a smaller -W (window) tells whether that is it.",
     'source': 'github.com/argonne-lcf/user-guides, pull request 315; github.com/ofiwg/libfabric, issue 9286; Cray '
               "MPICH's own advice", 'evidence': 'derived'},
    {'name': 'portal table entry not found',
     'text': "OFI poll failed (...:Input/output error - PTLTE_NOT_FOUND)",
     'patterns': ["PTLTE_NOT_FOUND"],
     'cause': "A message came to an endpoint that is gone: a rank has ended or was killed, or ran out of resources "
              "of the card. Often the consequence of another error.",
     'remedy': "Look for the first error of any rank. If there is none: export FI_CXI_RX_MATCH_MODE=software.",
     'source': 'github.com/ofiwg/libfabric, issue 10072 (open), 2024', 'evidence': 'untested'},
    {'name': 'message not delivered',
     'text': "OFI poll failed (...:Input/output error - UNDELIVERABLE)",
     'patterns': [("UNDELIVERABLE", r"\bUNDELIVERABLE\b")],
     'cause': "The card gave up on a message: the other node or a link is down, or it had no room to match the "
              "message.",
     'remedy': "export FI_CXI_RX_MATCH_MODE=software before srun (it helped one code and not another). If it is "
               "always the same node: srun --exclude=NODE, and tell the administrators.",
     'source': 'github.com/quokka-astro/quokka, issue 353; github.com/BLAST-WarpX/warpx, issue 4234 and pull request '
               '4235, 2023', 'evidence': 'untested'},
    {'name': 'memory not registered',
     'text': "cxil_map: write error",
     'patterns': ["cxil_map: write error",
                  ("ailed to map", r"cxip_\w+\(\):\d+<warn>.{0,120}[Ff]ailed to map\b")],
     'cause': "libcxi could not make a buffer known to the card; mostly it is GPU memory, and MPI or libfabric does "
              "not take it for that, or too much is registered already.",
     'remedy': "GPU buffers: is support for them on (osu-explain lists MPICH_GPU_SUPPORT_ENABLED or "
               "MPIR_CVAR_CH4_OFI_ENABLE_HMEM), and is the module for GPU nodes? On CUDA: "
               "FI_CXI_SAFE_DEVMEM_COPY_THRESHOLD=0 (cured it at CSCS, and slows small messages).",
     'source': 'github.com/eth-cscs/cscs-docs, pull request 161, 2025; shs-libcxi, cxil_map()',
     'evidence': 'measured'},
    {'name': 'GTL not linked',
     'text': "MPIDI_CRAY_init: GPU_SUPPORT_ENABLED is requested, but GTL library is not linked",
     'patterns': ["GPU_SUPPORT_ENABLED is requested, but GTL library is not linked"],
     'cause': "MPICH_GPU_SUPPORT_ENABLED=1 is set, and the program has not loaded Cray's GPU transport layer "
              "(libmpi_gtl_hsa.so.0) before MPI started.",
     'remedy': "bind: your own SINGULARITYENV_LD_PRELOAD must not take the place of the module's. native: build with "
               "the module craype-accel-amd-gfx90a loaded. Host memory only: export MPICH_GPU_SUPPORT_ENABLED=0 "
               "before module load.",
     'source': 'github.com/eth-cscs/cscs-docs, cray-mpich.md; github.com/sstsimulator/sst-core, issue 895',
     'evidence': 'measured'},
    {'name': 'DMABUF not usable',
     'text': "DMABUF support: could not open kernel conf file /boot/config-... error",
     'patterns': [("ould not open kernel conf file", r"[Cc]ould not open kernel conf file")],
     'cause': "libfabric or RCCL looks into the kernel's configuration (/boot/config-...) to see whether DMABUF is "
              "there, and the container does not show that file.",
     'remedy': "export FI_HMEM_ROCR_USE_DMABUF=0, or bind the file: export SINGULARITY_BIND=/boot/config-$(uname "
               "-r). The modules do one or the other by themselves.",
     'source': 'libfabric, src/hmem_rocr.c; ' + DEIC + ', containers with CuPy, 2025', 'evidence': 'measured'},
    {'name': 'RCCL without its plugin',
     'text': "NCCL INFO NET/Plugin: Could not find: librccl-net.so. Using internal network plugin.",
     'patterns': [(", using internal implementation",
                   r"No plugin found(?: \([^)\n]*\))?, using internal implementation"),
                  ("Using internal net", "Using internal net(?:work)? plugin"),
                  (": cannot open shared object file", r"lib[nr]ccl-net[\w.-]{0,80}: cannot open shared object file")],
     'cause': "RCCL found no plugin for libfabric, or could not load it, and uses TCP: about 3 GB/s instead of 13.",
     'remedy': "osu-explain NCCL_NET_PLUGIN shows the image's; if there is none, the image lacks librccl-net.so. "
               "NCCL_DEBUG_SUBSYS=INIT,NET says why it was not loaded. OSU_RCCL_STRICT=1 before module load makes it "
               "an error.",
     'source': DEIC + ', 2025', 'evidence': 'measured'},
    {'name': 'RCCL asked for a plugin in vain',
     'text': "NCCL WARN Error: network AWS Libfabric not found.",
     'patterns': [("WARN Error: network ", "WARN Error: network (?P<network>.{1,80}?) not found"),
                  "Failed to initialize any NET plugin"],
     'cause': "RCCL may use nothing else than the network that NCCL_NET names (AWS Libfabric is the plugin for "
              "libfabric), and no plugin gives it.",
     'remedy': "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET says which file was looked for and why it did not load; "
               "osu-explain NCCL_NET_PLUGIN shows the image's. On one node, or to go on over TCP: load the module "
               "without OSU_RCCL_STRICT, and unset NCCL_NET if it is yours.",
     'source': 'NCCL and RCCL, src/net.cc; github.com/eth-cscs/cscs-docs, nccl.md', 'evidence': 'derived'},
    {'name': 'RCCL finds no interface',
     'text': "NCCL WARN Bootstrap : no socket interface found",
     'patterns': [(": no socket interface found", r"Bootstrap ?: no socket interface found")],
     'cause': "No network interface of this node has a name that NCCL_SOCKET_IFNAME gives; RCCL needs one for its "
              "ranks to meet, also where the data go over cxi.",
     'remedy': "ip -brief addr lists them; on LUMI-G they are hsn0,hsn1,hsn2,hsn3, which the modules set. Unset yours "
               "(osu-explain NCCL_SOCKET_IFNAME).",
     'source': 'NCCL, src/bootstrap.cc', 'evidence': 'derived'},
    {'name': 'one GPU for two ranks',
     'text': "NCCL WARN Duplicate GPU detected : rank 0 and rank 1 both on CUDA device ...",
     'patterns': ["Duplicate GPU detected"],
     'cause': "Two ranks of RCCL took the same GPU. osu_xccl_* choose theirs by local rank, so each rank has to see "
              "all GPUs of the node.",
     'remedy': "No --gpus-per-task, --gpu-bind or ROCR_VISIBLE_DEVICES of your own for osu_xccl_*: "
               "--gpus-per-node=8 and osu-gpu-bind, which leaves the GPUs to them.",
     'source': 'EESSI on LUMI, 2026; github.com/horovod/horovod, issue 3929', 'evidence': 'derived'},
    {'name': 'error of one request among several',
     'text': "See the MPI_ERROR field in MPI_Status for the error code",
     'patterns': [("MPI_ERROR field in MPI_Status", r"See the MPI_ERROR field in MPI_Status")],
     'cause': "A message that a rank waited for has failed. Where that begins at some size (8 KiB) with ranks "
              "of one node, MPICH 5 may not read the other rank's memory (CMA): each runs in a user namespace of its "
              "own.",
     'remedy': "Start it by a command of the module (osu-exec PROGRAM): ranks of a node then share a container, or "
               "MPI is told. Two images in one program: OSU_SHARE=0. By hand: apptainer exec --sharens, or export "
               "MPIR_CVAR_CH4_CMA_ENABLE=0, which is slower.",
     'source': 'MPICH 5.0.2 on a workstation, 2026-11-22', 'evidence': 'measured'},
    {'name': 'no memory of another rank',
     'text': "process_vm_readv(...) returned -1: Operation not permitted",
     'patterns': [("process_vm_", r"process_vm_(?:read|write)v\b.{0,300}(?:Operation not permitted|"
                                  r"No such process|failed \(errno [13]\))"),
                  ("Read -1, expected ", r"Read -1, expected \d+, errno ?= ?[13]\b"),
                  ("CMA error ", r"\bCMA error [13]\b")],
     'cause': "A rank may not read the memory of another one on its node (CMA): each runs in a container, and so in a "
              "user namespace, of its own. 'No such process': in another pid namespace, or that rank has ended.",
     'remedy': "Start it by a command of the module (osu-exec PROGRAM): ranks of a node then share a container, or "
               "MPI is told. Two images in one program: OSU_SHARE=0. By hand: MPICH 5: export "
               "MPIR_CVAR_CH4_CMA_ENABLE=0; Open MPI: export OMPI_MCA_btl_vader_single_copy_mechanism=none (4), "
               "OMPI_MCA_smsc=^cma (5); UCX: export UCX_TLS=^cma. Or all ranks of a node in one container: apptainer "
               "exec --sharens.",
     'source': 'github.com/open-mpi/ompi, pull request 6844; github.com/openucx/ucx, issue 8958; '
               'github.com/apptainer/apptainer, issues 769 and 1227; MPICH 5.0.2, two ranks in a user namespace '
               'each, 2026-11-23', 'evidence': 'measured'},
    {'name': 'no MPI library',
     'text': "RuntimeError: cannot load MPI library",
     'patterns': ["cannot load MPI library"],
     'cause': "mpi4py found no MPI library under the names that it knows.",
     'remedy': "In the container of this project it looks for libmpi.so.12 and libmpi.so.40; is another mpi4py on "
               "PYTHONPATH? MPI4PY_LIBMPI names the library by its path.",
     'source': 'mpi4py 4.1, seen by this project, 2026-11', 'evidence': 'derived'},
    {'name': 'PSM3 opens no card',
     'text': "rank0: PSM3 can't open nic unit: 0 (err=23)",
     'patterns': ["PSM3 can't open nic unit", ("psm3_ep_open returns ", r"psm3_ep_open returns [1-9]")],
     'cause': "libfabric's provider psm3 is made for Intel's RDMA cards. Here it took an Ethernet interface, and "
              "cannot open it: a container, a virtual machine, a login node. MPI then ends, or waits for ever.",
     'remedy': "export PSM3_DEVICES=self,shm (ranks of one node), or FI_PROVIDER=^psm3, with tcp between nodes.",
     'source': 'github.com/easybuilders/easybuild-easyconfigs, issue 18925; github.com/mpi4py/shmem4py, pull request '
               '28',
     'evidence': 'measured'},
    {'name': 'PSM2 opens no card',
     'text': "PSM2 can't open hfi unit: -1 (err=23)",
     'patterns': ["PSM2 can't open hfi unit", "PSM2 was unable to open an endpoint",
                  ("assign_context command failed", r"(?:hfi|ipath)_userinit\w*: .{0,20}assign_context command failed"),
                  "PSM was unable to open an endpoint", "can't open /dev/ipath"],
     'unless': ["shared memory of PSM2 not set up"],
     'cause': "The Omni-Path card has no free context for this rank, or the container does not show it.",
     'remedy': "Fewer ranks on the node, or a node of your own (--exclusive): another job may have the contexts. In a "
               "container: bind /dev/hfi1_0.",
     'also': [("the link is down", "opainfo"), ("there is no such card here", "ls /dev/hfi1*; then FI_PROVIDER=tcp"),
              ("memory may not be locked", "srun bash -c 'ulimit -l', which should print unlimited")],
     'source': 'github.com/intel/opa-psm2, README; github.com/open-mpi/ompi, issue 10601', 'evidence': 'derived'},
    {'name': 'no endpoint on the card',
     'text': "create_vni_context(982)..: OFI endpoint open failed (ofi_init.c:982:...)",
     'patterns': ["OFI endpoint open failed", "Libfabric library call (fi_endpoint)"],
     'unless': ['PSM3 opens no card', 'PSM2 opens no card', 'limit of locked memory'],
     'cause': "libfabric has chosen a provider, and this provider cannot open its card for this rank.",
     'remedy': "FI_LOG_LEVEL=warn srun ... shows which provider and why; FI_PROVIDER takes another one. Start the rank "
               "by srun: on Cray's networks only that gives it the right to the card.",
     'also': [("it is psm3 on plain Ethernet", "PSM3_DEVICES=self,shm srun ..."),
              ("memory may not be locked", "srun bash -c 'ulimit -l', which should print unlimited")],
     'source': 'MPICH, src/mpid/ch4/netmod/ofi/ofi_init.c; github.com/LLNL/sundials, issue 316', 'evidence': 'derived'},
    {'name': 'limit of locked memory',
     'text': "UCX ERROR mlx5_0: ibv_create_cq() failed: Cannot allocate memory",
     'patterns': ["set max locked memory", ("RLIMIT_MEMLOCK is ", r"RLIMIT_MEMLOCK is \d+ bytes"),
                  "Failure to post internal receive buffers",
                  ("ibv_", r"\bibv_(?:create_(?:cq|qp|srq)|reg_mr|alloc_pd)\w*(?:\([^)\n]{0,80}\))? failed"
                   r"(?![^\n]{0,60}(?:Invalid argument|not supported|Bad address|No such|Input/output|Not a dir|timed "
                   r"out"
                   "|Remote I/O|ermission denied|not permitted))"),
                  ("help-mpi-btl-openib.txt / ", r"help-mpi-btl-openib\.txt / (?:init-fail-no-mem|init-fail-create-q"
                   "|reg mem limit low)"),
                  ("ouldn't allocate MR", "[Cc]ouldn't allocate MR"),
                  ("ailed to create ", "[Ff]ailed to create (?:MR|mr)$"),
                  ("Couldn't enable endpoint", "Couldn't enable endpoint. RC: -12"),
                  ("fi_enable(): ", r"fi_enable\(\): [^\n]{0,120}ret=-12 "),
                  ("Failed to create a completion queue (CQ)", r"Failed to create a completion queue \(CQ\)"),
                  ("allocate some locked memory", "allocate some locked memory"),
                  ("memlock limits are set too low", "memlock limits are set too low"),
                  ("Unable to ", r"Unable to (?:alloc\w* (?:send|recv|receive)|create (?:send|recv|receive) CQ)"
                   r"[^\n]{0,80}Cannot allocate memory"),
                  ("mmap of rcv", r"(?:map_hfi_mem|hfi_userinit): mmap of rcv\w+"),
                  ("Failed to allocate memory pool ", r"Failed to allocate memory pool (?:\(name=\w+\) )?chunk: "
                   "Input/output error"),
                  ("Unable to register MR: Cannot allocate", "Unable to register MR: Cannot allocate memory"),
                  ("fi_mr_reg", r"\bfi_mr_reg\w*\b[^\n]{0,200}Cannot allocate memory"),
                  ("cannot allocate memory for EFA", "cannot allocate memory for EFA's RX packet pool"),
                  ("err: Cannot allocate memory (-12)", r"Missing or unavailable event queue\. err: Cannot allocate "
                   r"memory \(-12\)")],
     'cause': "The card needs memory that is locked, and this process may lock too little (ulimit -l). The memory of "
              "the node is not what is short.",
     'remedy': "srun bash -c 'ulimit -l' should print unlimited. Slurm takes it from slurmd (LimitMEMLOCK) or from "
               "your login shell (PropagateResourceLimits): ask the administrators. Docker, podman: --ulimit "
               "memlock=-1:-1.",
     'also': [("the card has no room for so many connections", "the same line with two ranks a node"),
              ("more memory is registered than the card (EFA) takes: huge pages need less room", "the same with a "
                                                                                                "smaller case")],
     'source': 'github.com/openucx/ucx, issue 8746; github.com/awslabs/awsome-distributed-ai, issue 647; '
               'github.com/NVIDIA/cudf-spark, pull request 7632', 'evidence': 'derived'},
    {'name': 'queue pairs of the card used up',
     'text': "UCX ERROR mlx5dv_devx_obj_create(QP) failed, syndrome 0: Cannot allocate memory",
     'patterns': [("mlx5dv_devx_obj_create(", r"mlx5dv_devx_obj_create\((?P<what>\w+)\) failed"
                   r"(?![^\n]{0,80}(?:Remote I/O|Invalid argument))"),
                  ("ailed to create qp", "[Ff]ailed to create qp"),
                  ("rdma_create_qp", r"rdma_create_qp\w{0,10}(?:\(\))?:? [^\n]{0,20}Cannot allocate memory")],
     'cause': "The InfiniBand card has no room for another connection ({what}): every rank opens one to every other "
              "(transport rc).",
     'remedy': "export UCX_TLS=self,sm,ud_x (or dc_x), which do with few; or fewer ranks on a node. libfabric: "
               "FI_VERBS_TX_SIZE=128 FI_VERBS_RX_SIZE=128.",
     'also': [("the driver of the card is at fault", "UCX_IB_MLX5_DEVX=n srun ...")],
     'source': 'github.com/openucx/ucx, issues 7978 and 5351; UCX, documentation, FAQ', 'evidence': 'derived'},
    {'name': 'openib not used',
     'text': "WARNING: There was an error initializing an OpenFabrics device.",
     'patterns': ["error initializing an OpenFabrics device", "infiniband ports on a device",
                  "No preset parameters were found for the device", "No OpenFabrics connection schemes reported",
                  "Module: OpenFabrics (openib)",
                  ("help-mpi-btl-openib", r"help-mpi-btl-openib(?:-cpc-base)?\.txt / (?:no device params found"
                   "|no cpcs for "
                   "port|error in device init|ib port not selected|no active ports found|ini file)")],
     'cause': "Open MPI 4 warns that its old component openib cannot use the card; UCX is meant to.",
     'remedy': "export OMPI_MCA_btl=^openib silences it. Harmless where the run is fast.",
     'also': [("the run goes over TCP, where it is slow", "OMPI_MCA_pml=ucx srun ... ends if UCX finds no card")],
     'source': 'github.com/open-mpi/ompi, issues 10693 and 7461; github.com/shankar1729/jdftx, issue 270',
     'evidence': 'derived', 'last': True},
    {'name': 'component of Open MPI missing',
     'text': "A requested component was not found, or was unable to be opened. ... Framework: btl Component: openib",
     'patterns': [("Framework: ", r"Framework: +(?P<framework>btl|pml|mtl|coll|osc|smsc|plm|ras)\b")],
     'unless': ['Open MPI finds no transport'],
     'cause': "Something asks Open MPI for a component of its framework {framework} that it does not have: mostly a "
              "module of the host sets OMPI_MCA_..., for another Open MPI than the image's.",
     'remedy': "env | grep OMPI_MCA_ shows it; unset it, or start the container without that module.",
     'also': [("a file of the image or of yours asks for it",
               "osu-exec cat ~/.openmpi/mca-params.conf")],
     'source': 'github.com/glotzerlab/software, issue 120', 'evidence': 'derived'},
    {'name': 'Open MPI finds no transport',
     'text': "No components were able to be opened in the pml framework.",
     'patterns': ["were able to be opened in the pml framework", "MPI processes are unable to reach each other",
                  ("PML ", r"PML \w+ cannot be selected")],
     'cause': "Open MPI has no way to send messages: what was asked for (OMPI_MCA_pml, OMPI_MCA_btl, --mca) does not "
              "work here, mostly UCX without a card that it can use.",
     'remedy': "env | grep OMPI_MCA_, and unset what asks for one. OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,sm,tcp (vader "
               "for sm in Open MPI 4) goes over TCP.",
     'also': [("the container does not show the card", "osu-exec ls /dev/infiniband /dev/cxi0"),
              ("UCX in the image was built without it", "osu-exec ucx_info -d")],
     'source': 'github.com/openucx/ucx, issue 5284; github.com/open-mpi/ompi, issue 9838; github.com/hpc/charliecloud, '
               'pull request 166', 'evidence': 'derived'},
    {'name': 'wrong interface for TCP',
     'text': "WARNING: Open MPI failed to TCP connect to a peer MPI process.",
     'patterns': ["failed to TCP connect to a peer MPI process"],
     'cause': "Open MPI tries an address of the other node that cannot be reached from here: of docker0, virbr0, or "
              "169.254.x.x. Or a firewall stands between.",
     'remedy': "ip -brief addr shows the interfaces; export OMPI_MCA_btl_tcp_if_include=NAME (or 10.0.0.0/8), and "
               "OMPI_MCA_oob_tcp_if_include likewise.",
     'also': [("a firewall is between the nodes", "nc -z NODE PORT, with the port of the message")],
     'source': 'github.com/open-mpi/ompi, issue 6377', 'evidence': 'derived'},
    {'name': 'UCX finds no transport',
     'text': "UCX WARN transport 'ud' is not available, please use one or more of: ...",
     'patterns': [("transport '", r"transport '(?P<transport>\w+)' is not available"), "no usable transports/devices",
                  ("transports '", r"transports '(?P<transports>[\w',]{1,150}) are not available"),
                  ("exceeded transports/devices limit", "exceeded transports/devices limit"),
                  ("The TLs list is empty", "The TLs list is empty"), ("The device lists are empty", "The device lists "
                   "are empty")],
     'cause': "UCX_TLS or UCX_NET_DEVICES names what this UCX does not have here: it was built without InfiniBand, or "
              "the container does not show the card.",
     'remedy': "env | grep UCX_, and unset what you do not need.",
     'also': [("the container does not show the card", "osu-exec ls /dev/infiniband"),
              ("the image's UCX was built without rdma-core", "osu-exec ucx_info -d")],
     'source': 'github.com/openucx/ucx, issues 8808 and 9610', 'evidence': 'derived'},
    {'name': 'GPU buffer in an MPI without GPU support',
     'text': "process_vm_readv: Bad address",
     'patterns': [("process_vm_", r"process_vm_(?:read|write)v\b.{0,300}Bad address"),
                  ("Read -1, expected ", r"Read -1, expected \d+, errno ?= ?14\b"),
                  "invalid permissions for mapped object"],
     'cause': "MPI was given a buffer in GPU memory and takes it for host memory: its support for GPUs is off, or it "
              "was built without.",
     'remedy': "Cray MPICH: MPICH_GPU_SUPPORT_ENABLED=1 and the GTL library (module craype-accel-...); MPICH: "
               "MPIR_CVAR_ENABLE_GPU=1; Open MPI: a build with CUDA or ROCm. osu_bw H H tells whether host memory "
               "works.",
     'also': [("the GPU's memory was allocated by another runtime than MPI knows", "ldd PROGRAM shows which it loads"),
              ("UCX_TLS leaves out cuda_copy (rocm_copy), by which UCX knows GPU memory", "env | grep UCX_TLS")],
     'source': 'process_vm_readv(2), EFAULT; github.com/spectral-compute/scale-validation, issue 66',
     'evidence': 'derived'},
    {'name': 'GPU memory not shared between ranks',
     'text': "The call to cuIpcGetMemHandle failed. This means the GPU RDMA protocol cannot be used.",
     'patterns': [("IpcGetMemHandle failed", r"(?:cu|cuda|hip)IpcGetMemHandle failed"),
                  ("IpcOpenMemHandle failed", r"(?:cu|cuda|hip)IpcOpenMemHandle failed"),
                  "failed to open ipc mem handle", "Failed to create ipc for",
                  ("gpu_ipc_handle_", "gpu_ipc_handle_(?:create|map|destroy|unmap) failed"),
                  ("rocm_ipc", r"rocm_ipc\w{0,20}\.c:\d+ .{0,40}ERROR")],
     'cause': "Ranks of one node cannot show each other their GPU memory (IPC): it comes from a pool of the program, "
              "each rank sees only its own GPU, or each runs in namespaces of its own.",
     'remedy': "Let each rank see all GPUs of the node (--gpus-per-node, no --gpu-bind); allocate by cudaMalloc or "
               "hipMalloc (Julia: JULIA_CUDA_MEMORY_POOL=none). To go on without: UCX_TLS=^cuda_ipc,rocm_ipc; "
               "NCCL_P2P_DISABLE=1.",
     'also': [("the container is the reason", "the same with apptainer exec --sharens, or UCX_TLS=^cuda_ipc,rocm_ipc")],
     'source': 'github.com/JuliaGPU/CUDA.jl, issue 1398; github.com/openucx/ucx, issue 3192', 'evidence': 'derived'},
    {'name': "RCCL's wish about the kernel",
     'text': "NCCL WARN Missing \"iommu=pt\" from kernel command line which can lead to system instablity or hang!",
     'patterns': [("NCCL WARN Missing ", r"NCCL WARN Missing \"[^\"\n]{1,80}\" from (?:kernel|environment)")],
     'cause': "RCCL recommends a setting of the kernel or of the environment that it does not see.",
     'remedy': "Harmless where runs go well: kernels of Cray systems pass the IOMMU through by their configuration.",
     'source': 'github.com/ROCm/rocm-systems, pull request 7916', 'evidence': 'derived', 'last': True},
    {'name': "NCCL of two releases",
     'text': "NCCL WARN ... Message truncated : received 1024 bytes instead of 256",
     'patterns': [("Message truncated : receiv", r"Message truncated : receiv(?:ed|ing) \d+ bytes instead of \d+"),
                  ("collective mismatch error", r"collective mismatch error,? local size \d+"),
                  ("ismatche", r"[Mm]ismatched? (?:NCCL|version)[^\n]{0,80}NCCL"),
                  ("NCCL version mismatch", "NCCL version mismatch"),
                  ("Mismatched NCCL version detected", "Mismatched NCCL version detected"),
                  ("ncclVersion", r"ncclVersion[^\n]{0,40}mismatch"),
                  ("NCCL WARN ", r"NCCL WARN (?:Bootstrap|Net)[^\n]{0,40}: (?:unexpected|wrong|invalid|mismatch)[^"
                   r"\n]{0,80}"), ("incorrect magic", r"incorrect magic[^\n]{0,60}"),
                  ("received type ", r"received type \d+ instead of")],
     'cause': "Ranks do not speak the same way: they have different releases of NCCL (image and host, two packages of "
              "pip), call different collectives, read other settings (NCCL_PROTO, NCCL_ALGO, "
              "NCCL_BUFFSIZE), or another program came to the same port.",
     'remedy': "NCCL_DEBUG=VERSION on all ranks; ldd and pip list | grep nccl: one NCCL alone, the same everywhere. "
               "srun -l env | grep NCCL_ should be the same on all.",
     'also': [("the program gives a collective other sizes on some rank", "TORCH_DISTRIBUTED_DEBUG=DETAIL PROGRAM"),
              ("only InfiniBand shows it, since cards reorder writes", "NCCL_IB_PCI_RELAXED_ORDERING=0 PROGRAM")],
     'source': "NCCL, src/bootstrap.cc", 'evidence': 'derived'},
    {'name': 'NCCL stopped',
     'text': "ncclSystemError: System call (socket, malloc, munmap, etc) failed.",
     'patterns': ["ncclSystemError", "ncclInternalError", "ncclUnhandledCudaError", ("NCCL error", r"NCCL error\b"),
                  ("NCCL failure", r"NCCL failure \S{1,60}:\d+"), ("NCCL Error ", r"NCCL Error \d+: ")],
     'unless': ["rank of NCCL at the other end has gone", "rank of NCCL that never came"],
     'cause': "NCCL or RCCL has ended; this line is the last of its messages and does not say why.",
     'remedy': "NCCL_DEBUG=WARN srun ... prints the first one, and osu-container why explains that. Over TCP "
               "(NCCL_IB_DISABLE=1, NCCL_NET=Socket) it tells whether the network is at fault.",
     'also': [("in a container /dev/shm is too small (Docker: 64 MB; --shm-size=2g or --ipc=host)", "df -h /dev/shm")],
     'source': 'NCCL, documentation, Errors; github.com/NVIDIA/nccl, issue 473', 'evidence': 'derived', 'last': True},
    {'name': 'plugin cannot register memory',
     'text': "NCCL WARN NET/OFI Unable to register memory (type = 2) for device 4. RC: -22, Error: Invalid argument",
     'patterns': ["NET/OFI Unable to register memory",
                  ("unable to set memops", "unable to set memops for cuda ptr"),
                  ("Failed to perform cuPointer", r"Failed to perform cuPointerSetAttribute")],
     'cause': "The plugin of NCCL or RCCL cannot make GPU memory known to the network: libfabric does not take it for "
              "GPU memory, or its provider is too old for this NCCL.",
     'remedy': "EFA: export FI_EFA_SET_CUDA_SYNC_MEMOPS=0, or the installer 1.29.1 or newer. cxi: a libfabric built "
               "with ROCm or CUDA (opensource), and DMABUF (see that message). NCCL_NET_GDR_LEVEL=LOC avoids it, "
               "slower.",
     'source': 'github.com/awslabs/awsome-distributed-ai, issue 203', 'evidence': 'derived'},
    {'name': 'xpmem not usable',
     'text': "WARNING: Could not generate an xpmem segment id for this process' address space.",
     'patterns': ["Could not generate an xpmem segment id", "xpmem-make-failed"],
     'cause': "MPI was built with xpmem, and /dev/xpmem is not here or may not be opened. It then copies in another "
              "way.",
     'remedy': "Harmless, slower between ranks of a node. Bind /dev/xpmem, or silence it: OMPI_MCA_smsc=^xpmem (Open "
               "MPI 5), OMPI_MCA_btl_vader_single_copy_mechanism=cma (4).",
     'source': 'Open MPI, help-btl-vader.txt; github.com/hpc/xpmem, issue 46', 'evidence': 'derived', 'last': True},
    {'name': 'no answer over InfiniBand',
     'text': "Transport retry count exceeded on mlx5_0:1/IB (synd 0x15 vend 0x81 ...)",
     'patterns': ["ransport retry count exceeded", "RETRY EXCEEDED ERROR",
                  ("The InfiniBand retry count between two MPI", "The InfiniBand retry count between two MPI"),
                  ('"receiver not ready" retry count', 'OpenFabrics "receiver not ready" retry count'),
                  "a work item failed: status 12", "unhandled timeout error", "Endpoint timeout",
                  ("retry counter exceeded", "(?:[Tt]ransport|RNR) retry counter exceeded"),
                  ("help-mpi-btl-openib.txt / pp ", r"help-mpi-btl-openib\.txt / pp (?:rnr )?retry exceeded"),
                  ("Got completion ", r"Got completion .{0,120}(?:status=|error )(?:12\b|IBV_WC_RETRY_EXC_ERR)")],
     'cause': "The card sent and the other node never answered: its rank has died, a link is bad, or the two cards do "
              "not reach each other (on Ethernet: the wrong GID, or a network that loses packets).",
     'remedy': "Look for the first error of any rank. If there is none: ibstat and perfquery on both nodes, and "
               "srun --exclude=NODE if it is always the same one. RoCE: UCX_IB_GID_INDEX=3 or NCCL_IB_GID_INDEX=3.",
     'also': [("the network is only overloaded", "UCX_RC_TIMEOUT=4s UCX_DC_TX_QUEUE_LEN=256 PROGRAM")],
     'source': 'github.com/openucx/ucx, issues 5199, 6000 and 9590', 'evidence': 'derived'},
    {'name': 'no such fabric for Intel MPI',
     'text': "MPI startup(): tmi fabric is not available and fallback fabric is not enabled",
     'patterns': [(" fabric is not available and", r"(?P<fabric>[\w:]+) fabric is not available and fallback fabric")],
     'unless': ['PSM2 opens no card', 'PSM3 opens no card'],
     'cause': "Intel MPI was told to use the fabric {fabric}, and it is not here.",
     'remedy': "unset I_MPI_FABRICS, or name one that is here: shm:ofi (from 2019 on), shm:tcp or shm:dapl before. "
               "env | grep I_MPI_ shows what a module or the program's own script has set.",
     'source': 'github.com/UCL-ARC/rcps-buildscripts, issue 50', 'evidence': 'measured'},
    {'name': 'ranks do not see each other\'s processes',
     'text': "mm_posix.c:... UCX ERROR open(file_name=/proc/123/fd/35 flags=0x0) failed: ...",
     'patterns': [("open(file_name=/proc/", r"open\(file_name=/proc/\d+/fd/\d+ .{0,40}failed"),
                  "failed to connect to remote FIFO"],
     'cause': "UCX opens shared memory of another rank through its /proc, and may not or cannot: the ranks are in "
              "different namespaces (each in a container of its own), or the other rank has ended.",
     'remedy': "export UCX_POSIX_USE_PROC_LINK=n; if it stays, UCX_TLS=^posix. With Apptainer leave out --pid and "
               "--userns; Docker: --pid=host --ipc=host.",
     'also': [("another rank has crashed before", "look for an earlier error")],
     'source': 'github.com/openucx/ucx, issues 4224 and 8511', 'evidence': 'derived'},
    {'name': 'no driver of the card in the image',
     'text': "libibverbs: Warning: no userspace device-specific driver found for /sys/class/infiniband_verbs/uverbs0",
     'patterns': ["no userspace device-specific driver found",
                  ("couldn't open config directory", r"libibverbs: Warning: couldn't open config directory"),
                  ("does not support the kernel ABI", r"Warning: Driver \S{1,100} does not support the kernel ABI")],
     'cause': "The node has an InfiniBand or RoCE card, and libibverbs of the image has no driver for it "
              "(lib*-rdmav*.so and the folder /etc/libibverbs.d).",
     'remedy': "Install it in the image: ibverbs-providers in Debian and Ubuntu, rdma-core in Rocky and openSUSE. A "
               "libibverbs built by hand looks for its drivers below its own prefix.",
     'also': [("the card is not the one that MPI uses, and the warning is harmless", "ibv_devinfo on the node")],
     'source': 'libibverbs; github.com/SoftRoCE/rxe-dev, issue 65', 'evidence': 'derived'},
    {'name': 'card of the node that this container does not have',
     'text': "libibverbs: Warning: couldn't stat '/sys/class/infiniband/mlx5_42'.",
     'patterns': [("libibverbs: Warning: couldn't stat",
                   r"libibverbs: Warning: couldn't stat '(?P<card>[^'\n]{1,80})'")],
     'cause': "The node has cards (or virtual ones) that belong to other containers, and libibverbs leaves them out "
              "({card}).",
     'remedy': "Harmless, if ibv_devinfo shows the card of this container. Else its device is missing: --device=/dev/"
               "infiniband (Docker), --bind /sys, /dev/infiniband.",
     'source': "libibverbs, init.c; github.com/horovod/horovod, issue 3333", 'evidence': 'derived', 'last': True},
    {'name': 'driver of another card not installed',
     'text': "libibverbs: Warning: couldn't load driver '...-rdmav25.so': ... cannot open shared object file: ...",
     'patterns': [("libibverbs: Warning: couldn't load driver", r"libibverbs: Warning: couldn't load driver "
                   r"'(?P<driver>[^']{1,100})'")],
     'unless': ['no driver of the card in the image'],
     'cause': "/etc/libibverbs.d names the driver {driver}, which is not installed.",
     'remedy': "Harmless, unless it is the driver of this node's card (ibv_devices shows those that work): then "
               "install ibverbs-providers or rdma-core in the image.",
     'source': 'github.com/NVIDIA/nccl, issue 1044', 'evidence': 'derived'},
    {'name': 'NCCL reaches no other node',
     'text': "NCCL WARN socketStartConnect: Connect to 10.0.0.2<45763> failed : ...",
     'patterns': [("onnect", r"socket(?:Start|Poll|Finalize)Connect: [Cc]onnect(?:ion)?\b.{0,20} (?P<to>\S+<\d+>)"),
                  ("onnect", r"WARN (?:Net : )?(?:Call to c|C)onnect(?:ion)? ?(?:to \S{1,100} )?"
                             r"(?:failed|returned|timeout)")],
     'cause': "A rank cannot reach another one by TCP ({to}): NCCL or RCCL took a network interface that leads "
              "nowhere, a firewall stands between the nodes, or the other rank has ended.",
     'remedy': "export NCCL_SOCKET_IFNAME=hsn (LUMI, Alps) or the interface that ip addr shows for both nodes, not "
               "docker0 or lo. Let the firewall pass all ports between compute nodes.",
     'also': [("another rank has failed before", "look for an earlier error of any rank")],
     'source': 'github.com/NVIDIA/nccl-tests, issue 162', 'evidence': 'derived'},
    {'name': 'message cancelled',
     'text': "OFI poll failed (...:Input/output error - CANCELED)",
     'patterns': ["Input/output error - CANCELED"],
     'cause': "The message was cancelled because this rank or its partner was being ended: from outside (scancel, "
              "time, a signal), or after an error of another rank.",
     'remedy': "sacct -j JOB -o state,exitcode,end says how the job ended; then look for the first error of any rank.",
     'source': 'github.com/ofiwg/libfabric, issue 11307', 'evidence': 'measured'},
    {'name': "device that UCX does not find",
     'text': "UCX WARN network device 'mlx5_0:1' is not available, please use one or more of: 'eth0'(tcp)",
     'patterns': [("network device '", r"network device '(?P<device>[^'\n]{1,60})' is not available"),
                  ("network devices '", r"network devices '(?P<device>[^\n]{1,100})' are not available")],
     'unless': ["UCX finds no transport"],
     'cause': "UCX_NET_DEVICES names {device}, and this node or container has no such card, or its port is down.",
     'remedy': "unset UCX_NET_DEVICES (env | grep UCX_), or name one of those that the line lists; ibstat and ls "
               "/dev/infiniband show whether the card is there.",
     'source': "UCX, src/ucp/core/ucp_context.c", 'evidence': 'derived'},
    {'name': "no way of UCX to the other rank",
     'text': "UCX ERROR no active messages transport to <no debug data>: Unsupported operation",
     'patterns': [(" transport", "[Nn]o (?P<what>active messages|remote registered memory access|auxiliary|am "
                                 "bcopy|copy "
                   "across memory types|peer failure handler|emulated rma|tag offload|atomic operations on registered "
                   "memory) transport"),
                  ("Destination is unreachable", r"ucx function returned with failed status "
                                                 r"?\([^)\n]{0,120}Destination "
                   "is unreachable"),
                  ("ucp_ep_create(", r"ucp_ep_create\([^)]{0,40}\) failed: (?:Destination is unreachable|Unsupported "
                   "operation)"), ("Destination is unreachable", "UCX +ERROR.{0,100}Destination is unreachable"),
                  ("Destination is unreachable", "UCX endpoint.{0,60}Destination is unreachable"),
                  ("called with status -6: ", "called with status -6: Destination is unreachable")],
     'unless': ["TCP of UCX not connected"],
     'cause': "UCX finds no transport that reaches the other rank: UCX_TLS leaves out what is needed (self, sm, and "
              "one between nodes), or the two nodes or containers do not have the same cards.",
     'remedy': "unset UCX_TLS and UCX_NET_DEVICES; else UCX_TLS=self,sm,tcp works everywhere. ucx_info -d on both "
               "nodes (osu-exec ucx_info -d) shows what each has.",
     'also': [("only one of the nodes shows its card",
               "srun osu-exec ls /dev/infiniband")],
     'source': "UCX, src/ucp/wireup/select.c", 'evidence': 'derived'},
    {'name': "endpoint that UCX cannot make",
     'text': "pml_ucx.c:419  Error: ucp_ep_create(proc=0) failed: Shared memory error",
     'patterns': [("ucp_ep_create(", r"ucp_ep_create\([^)]{0,40}\) failed: (?P<why>[^\n]{1,60})"),
                  "Failed to resolve UCX endpoint", ("ucp_worker_create failed", "ucp_worker_create failed"),
                  ("ucp_init failed", "ucp_init failed"), "Failed to create UCP worker",
                  ("failed to open interface", "UCX +ERROR +failed to open interface"),
                  ("ucp_worker_get_address failed", "ucp_worker_get_address failed")],
     'cause': "UCX could not connect two ranks ({why}); the line of UCX before this one says why.",
     'remedy': "UCX_TLS=self,sm,tcp (no card), UCX_TLS=^posix (no shared memory through /proc), and "
               "UCX_POSIX_USE_PROC_LINK=n tell which transport it is.",
     'source': "Open MPI, ompi/mca/pml/ucx", 'evidence': 'derived', 'general': 1},
    {'name': "UCX of two releases",
     'text': "UCP version is incompatible, required: 1.17, actual: 1.15",
     'patterns': [("version is incompatible", "UC[PTSX] (?:API )?version is incompatible"),
                  ("address version mismatch", "address version mismatch"),
                  ("version mismatch", "UCX.{0,40}version mismatch"), ("UCX", "UCX.{0,40}ABI"),
                  ("version mismatch", "UCP.{0,40}version mismatch"), ("UCP", "UCP.{0,40}ABI"),
                  ("different ", "remote (?:peer|side) .{0,40}different (?:version|UCX)"),
                  ("loaded library version ", r"loaded library version \S+ .{0,60}(?:older|lower)"),
                  ("(ucs_config_", r"\(ucs_config_(?:clone|parser)_\w{1,40}\+0x")],
     'cause': "A program or MPI was built with another release of UCX than the one that is loaded here, or the nodes "
              "(host and image) have different ones.",
     'remedy': "ucx_info -v inside and outside; ldd of libmpi or mca_pml_ucx.so shows which libucp.so.0 is taken. "
               "Take LD_LIBRARY_PATH of the other one away (module unload ucx hpcx).",
     'source': "UCX, src/ucp/core/ucp_context.c", 'evidence': 'derived'},
    {'name': "settings of UCX that nobody reads",
     'text': "UCX WARN unused environment variables: UCX_...",
     'patterns': [("unused env", r"unused env(?:ironment)? variables?: ?(?P<names>[^\n]{1,200})")],
     'cause': "UCX does not know these variables: they are misspelt, of another release, or of a library that was not "
              "loaded ({names}).",
     'remedy': "Harmless. ucx_info -f lists those that it knows; UCX_WARN_UNUSED_ENV_VARS=n silences it.",
     'source': "UCX, src/ucs/config/parser.c", 'evidence': 'derived', 'last': True},
    {'name': "card newer than UCX",
     'text': "UCX ERROR Invalid active_width on mlx5_0:1: 16",
     'patterns': [("Invalid active_", r"Invalid active_(?:width|speed) on (?P<card>[^\s:]{1,40})")],
     'cause': "This UCX is older than the card {card} and does not know its speed (NDR, HDR).",
     'remedy': "A newer UCX (1.13 for NDR) in the image; until then UCX_NET_DEVICES with another card.",
     'source': "UCX, src/uct/ib/base/ib_iface.c", 'evidence': 'derived'},
    {'name': "connection manager of RDMA not reached",
     'text': "UCX ERROR rdma_create_event_channel failed: No such device",
     'patterns': [("rdma_create_event_channel", "rdma_create_event_channel.{0,20}failed"),
                  ("/dev/infiniband/rdma_cm", "(?:unable to open|failed to open|open) .{0,10}/dev/infiniband/rdma_cm"),
                  "librdmacm: Fatal: unable to open", "librdmacm: Fatal: no RDMA devices found",
                  ("RDMA_CM_EVENT_", r"RDMA_CM_EVENT_(?:ADDR|ROUTE|CONNECT)_ERROR|RDMA_CM_EVENT_UNREACHABLE"),
                  ("librdmacm: ", r"librdmacm: (?:Fatal|Warning): (?P<why>[^\n]{1,100})"),
                  ("rdma_", r"rdma_(?:bind_addr|resolve_addr|resolve_route|listen|connect)\w*.{0,40}(?:failed|error"
                   "|returned)")],
     'cause': "The connection manager of RDMA is not here: the kernel's module rdma_ucm is not loaded, or the "
              "container does not show /dev/infiniband/rdma_cm, or no address of the card is there (ib0 or the RoCE "
              "interface without IP, or not in this network namespace). {why}",
     'remedy': "ip -brief addr, and modprobe rdma_ucm on the node (administrators); Docker: --device=/dev/infiniband "
               "--network=host. Where nothing needs it: UCX_TLS=^rdmacm, OMPI_MCA_btl=^openib, FI_PROVIDER=tcp.",
     'source': "librdmacm, rdma_cm(7)", 'evidence': 'derived'},
    {'name': "memory that the card cannot take",
     'text': "UCX ERROR failed to register address 0x... length 4096 on md[4]=mlx5_0: Bad address",
     'patterns': [("failed: Bad address", r"ibv_reg_\w{0,20}mr\w{0,20}(?:\(.{0,200})? ?failed: Bad address"),
                  ("ailed to register ", "[Ff]ailed to register (?:address|region|memory|user|buffer).{0,200}(?:Bad "
                   "address|Invalid argument|Input/output error|Operation not supported|Permission denied)"),
                  ("fi_mr_reg", r"fi_mr_reg\w{0,20}\b.{0,60}(?:Bad address|Invalid argument|failed)"),
                  ("ibv_reg_dmabuf_mr", r"\bibv_reg_dmabuf_mr\w*.{0,100}(?:failed|error)"),
                  ("ouldn't register ", "[Cc]ouldn't register (?:GPU )?MR"),
                  ("Call to ibv_reg_mr", r"Call to ibv_reg_mr\w* failed")],
     'unless': ["limit of locked memory", "GDRCopy of another release than its driver"],
     'cause': "The card cannot register this memory; mostly it is GPU memory, and the kernel module that lets cards "
              "reach it (nvidia_peermem, or DMABUF) is not loaded, or the memory is read-only or of another kind.",
     'remedy': "lsmod | grep peermem on the node (administrators: modprobe nvidia_peermem). Without: "
               "UCX_TLS=^gdr_copy,cuda_ipc with UCX_IB_GPU_DIRECT_RDMA=no; NCCL_NET_GDR_LEVEL=LOC; "
               "FI_HMEM_CUDA_USE_GDRCOPY=0.",
     'also': [("too much is registered, or may not be locked",
               "ulimit -l, which should print unlimited")],
     'source': "NVIDIA, GPUDirect RDMA; UCX, documentation, FAQ", 'evidence': 'derived'},
    {'name': "GDRCopy not usable",
     'text': "UCX WARN gdr_open() failed / could not open gdrdrv",
     'patterns': [("gdr_", r"gdr_(?:open|copy|pin_buffer|map)\w*(?:\(\))?.{0,60}(?:failed|error)"),
                  ("/dev/gdrdrv", "(?:error|ERR).{0,60}/dev/gdrdrv"), "GDRCopy: ERROR",
                  "unable to open GDR driver", "Is gdrdrv driver installed and loaded",
                  ("ailed to open gdrdrv", "[Ff]ailed to open gdrdrv")],
     'cause': "GDRCopy, which copies small messages to GPUs faster, does not work here: its kernel module "
              "(/dev/gdrdrv) is not loaded or not shown, or its library is of another release.",
     'remedy': "Harmless, slower. ls -l /dev/gdrdrv; --bind /dev/gdrdrv. UCX_TLS=^gdr_copy or "
               "FI_HMEM_CUDA_USE_GDRCOPY=0 silences it.",
     'source': "github.com/NVIDIA/gdrcopy, README", 'evidence': 'derived', 'last': True},
    {'name': "error of a message on InfiniBand",
     'text': "Local protection error on mlx5_0:1/IB (synd 0x4 ...)",
     'patterns': [("Local protection ", r"(?P<what>Local protection) (?:error )?on (?P<card>\S{1,40})"),
                  ("Remote access ", r"(?P<what>Remote access) (?:error )?on (?P<card>\S{1,40})"),
                  ("Remote operation ", r"(?P<what>Remote operation) (?:error )?on (?P<card>\S{1,40})"),
                  ("Local length ", r"(?P<what>Local length) (?:error )?on (?P<card>\S{1,40})"),
                  ("Local QP operation ", r"(?P<what>Local QP operation) (?:error )?on (?P<card>\S{1,40})"),
                  ("Remote invalid request ", r"(?P<what>Remote invalid request) (?:error )?on (?P<card>\S{1,40})"),
                  ("Local EEC ", r"(?P<what>Local EEC) (?:error )?on (?P<card>\S{1,40})"),
                  ("Memory window bind ", r"(?P<what>Memory window bind) (?:error )?on (?P<card>\S{1,40})"),
                  ("Remote aborted ", r"(?P<what>Remote aborted) (?:error )?on (?P<card>\S{1,40})"),
                  ("Bad response ", r"(?P<what>Bad response) (?:error )?on (?P<card>\S{1,40})"),
                  ("Got completion ", "Got completion .{0,200}(?:status=|error |opcode )(?:9|10|11|IBV_WC_"
                   r"(?:LOC_PROT|REM_ACCESS|REM_OP|LOC_LEN|REM_INV_REQ)_ERR)\b"),
                  (" error", r"(?:completion|prov_err|wc)\b[^\n]{0,80}[ :](?P<what>local protection|local length"
                   "|local QP operation|remote access|remote invalid request|remote operation) error"),
                  ("work queue error", r"(?P<what>local access violation|invalid request local) work queue error"),
                  ("error polling ", "error polling (?:LP|HP) CQ with status (?P<what>[A-Z ]{3,60})"),
                  ("got completion with error", r"mlx[45]: \S{1,80} got completion with error")],
     'unless': ["no answer over InfiniBand", "GPU memory kept from the card by the node's bridges"],
     'cause': "The card refused a message ({what}): memory was freed or changed while it was sent, GPU memory that "
              "the card may not reach, or the rank at the other end had failed first.",
     'remedy': "Look for an earlier error of any rank. With GPU buffers: the same with H H. Else UCX_TLS=self,sm,ud "
               "or tcp, and a newer UCX or firmware.",
     'source': "rdma-core, ibv_poll_cq(3); UCX, src/uct/ib/mlx5", 'evidence': 'derived'},
    {'name': "objects of the card that its driver refuses",
     'text': "UCX ERROR mlx5dv_devx_obj_create(QP) failed on mlx5_0, syndrome 0x2c4154: Remote I/O error",
     'patterns': [("mlx5dv_devx_", r"mlx5dv_devx_(?P<what>\w{1,40}\(\w*)\) failed.{0,80}(?:Remote I/O error|Invalid "
                   "argument|Operation not|Protocol not|Function not)"),
                  ("mlx5: ", r"mlx5: .{0,80}CREATE_\w+.{0,40}failed")],
     'cause': "The driver or firmware of the card refuses what this UCX asks for, {what}): UCX and firmware do not "
              "fit.",
     'remedy': "UCX_IB_MLX5_DEVX=n (or UCX_IB_MLX5_DEVX_OBJECTS=) goes without. Administrators: newer firmware.",
     'source': "github.com/openucx/ucx, issues 10451 and 8440", 'evidence': 'derived'},
    {'name': "TCP of UCX not connected",
     'text': "UCX ERROR tcp_ep.c connect(fd=35, dest_addr=10.0.0.2:54321) failed: Connection refused",
     'patterns': [(") failed: ", r"connect\(fd=\d+, dest_addr=(?P<to>[^)\s]{1,60})\) failed: (?P<why>[\w ]{1,40})"),
                  ("tcp_", r"tcp_(?:ep|sockcm|iface)\S{0,20}.{0,200}(?P<why>Connection (?:refused|timed out|reset)|No "
                   "route to host|Network is unreachable)")],
     'cause': "UCX cannot reach {to} by TCP ({why}): it has taken an interface that leads nowhere (docker0, virbr0), "
              "a firewall stands between, or the other rank has ended.",
     'remedy': "export UCX_NET_DEVICES=NAME with the interface that nodes share (ip -brief addr). With InfiniBand: "
               "UCX_TLS=^tcp tells whether its card is seen.",
     'source': "UCX, src/ucs/sys/sock.c", 'evidence': 'derived'},
    {'name': "context of CUDA that UCX misses",
     'text': "UCX ERROR cuCtxGetDevice(&key.cu_device)() failed: invalid device context",
     'patterns': [("failed: ", r"UCX +(?:ERROR|WARN|FATAL).{0,120}\bcu[A-Z]\w+\(.{0,160}failed: (?P<why>[\w ,]{1,80})"),
                  ("ERROR", r"UCX +ERROR.{0,120}\b(?:hip|hsa)[A-Z_]\w+.{0,120}(?:failed|error)"),
                  ("failed", r"UCX +WARN.{0,120}\bhip[A-Z_]\w+.{0,120}failed"),
                  ("error", r"UCX +WARN.{0,120}\bhip[A-Z_]\w+.{0,120}error"),
                  ("failed", r"UCX +WARN.{0,120}\bhsa[A-Z_]\w+.{0,120}failed"),
                  ("error", r"UCX +WARN.{0,120}\bhsa[A-Z_]\w+.{0,120}error"),
                  ("cuda_", r"\bcuda_(?:copy|ipc)_\w+\.c:\d+ .{0,20}(?:ERROR|FATAL)")],
     'cause': "UCX could not use a GPU: no device was chosen in this thread before MPI was used, the driver's library "
              "does not fit, or ranks cannot show each other their memory. {why}",
     'remedy': "cudaSetDevice (hipSetDevice) before MPI_Init and in every thread; UCX_TLS=^cuda_ipc (or ^rocm_ipc) "
               "goes without sharing; UCX_MEMTYPE_CACHE=n if memory changes its kind.",
     'source': "UCX, src/uct/cuda", 'evidence': 'derived'},
    {'name': "shared memory of UCX too small",
     'text': "UCX ERROR Not enough memory to write total of 4292720 bytes. Please check that /dev/shm ... has more "
             "available memory.",
     'patterns': [("Not enough memory to write total of ", r"Not enough memory to write total of \d+ bytes"),
                  ("mm_posix.c:", r"mm_posix\.c:\d+ .{0,200}(?:No space left|Cannot allocate|Permission denied|File "
                   "exists)"), ("failed to allocate ", r"failed to allocate \d+ bytes with mm"),
                  ("ailed to allocate memory pool ", "[Ff]ailed to allocate memory pool .{0,80}(?:mm|sm)_")],
     'cause': "/dev/shm is full, too small or closed to you; UCX keeps the messages between ranks of a node there.",
     'remedy': "df -h /dev/shm in the container, rm leftovers (ls -l /dev/shm). Docker, podman: --shm-size=2g or "
               "--ipc=host. UCX_TLS=^posix goes without.",
     'source': "UCX, src/uct/sm/mm/posix", 'evidence': 'derived'},
    {'name': "warning of UCX without harm",
     'text': "UCX WARN IB: ibv_fork_init() was disabled or failed, yet a fork() has been issued.",
     'patterns': [("IB: ibv_fork_init() was disabled or failed", r"IB: ibv_fork_init\(\) was disabled or failed"),
                  ("WARN ", r"UCX +WARN +(?:memory type|mlx5_\d+: .{0,40}ODP|transport 'sysv'|IB: |failed to disable "
                   "relaxed)"), ("DIAG ", "UCX +DIAG "),
                  ("fork() s", r"fork\(\) (?:system call|support).{0,80}(?:MPI|InfiniBand|RDMA)"),
                  ("An MPI process has executed an operation involving a call to", "An MPI process has executed an "
                   "operation involving a call to"),
                  ("A process has executed an operation involving a call", "A process has executed an operation "
                   "involving a call")],
     'cause': "A program that uses InfiniBand has started another one (fork), which may damage memory that the card "
              "uses; mostly it goes well.",
     'remedy': "Harmless if results are right. RDMAV_FORK_SAFE=1 (EFA: FI_EFA_FORK_SAFE=1) makes it safe on kernels "
               "before 5.12; or let the program not start others (import cupy, os.system) behind MPI_Init.",
     'source': "rdma-core, ibv_fork_init(3); libfabric, fi_efa(7)", 'evidence': 'derived', 'last': True},
    {'name': "UCX caught a signal",
     'text': "Caught signal 11 (Segmentation fault: address not mapped to object at address 0x8)",
     'patterns': [("Caught signal 11 (Segmentation fault", r"Caught signal 11 \(Segmentation fault"),
                  ("Caught signal 8 (Floating", r"Caught signal 8 \(Floating"),
                  ("Caught signal 6 ", "Caught signal 6 ")],
     'cause': "A rank has crashed; UCX prints where. Its own functions in the list are only how it is printed: the "
              "next ones are the program's or MPI's.",
     'remedy': "Look at the first lines below ucs_handle_error. Two MPIs or two UCX in one program (ldd), and GPU "
               "memory given to an MPI without GPU support (osu_bw H H), are the usual ones.",
     'also': [("the program itself is at fault",
               "the same with another MPI, or a debugger")],
     'source': "UCX, src/ucs/debug/debug.c", 'evidence': 'derived', 'last': True},
    {'name': "UCX stopped on its own check",
     'text': "UCX ... Assertion `...' failed: ...",
     'patterns': [("ssertion `", r"[Aa]ssertion `[^'\n]{1,200}' failed"),
                  ("FATAL ", r"UCX +FATAL +(?P<why>[^\n]{1,150})")],
     'cause': "A library met what it takes for impossible: a fault in it, or in what it was given. {why}",
     'remedy': "A newer release, or other transports (UCX_TLS=self,sm,tcp), tell whether it is UCX; the file name in "
               "front says whose check it is.",
     'source': "UCX, src/ucs/debug/assert.h; assert(3)", 'evidence': 'derived', 'general': 1},
    {'name': "GPU library that libfabric does not find",
     'text': "libfabric:...:core:core:ofi_hmem_init():...<warn> Failed to initialize hmem iface FI_HMEM_CUDA: No data "
             "available",
     'patterns': [("Failed to initialize hmem iface ", r"Failed to initialize hmem iface (?P<what>\w+)"),
                  ("Failed to ", "Failed to (?:dlopen|load) lib(?:cuda|cudart|hsa-runtime64|ze_loader|synapse|gdrapi)"),
                  ("Unable to ", "Unable to (?:dlopen|load) lib(?:cuda|cudart|hsa-runtime64|ze_loader|synapse|gdrapi)"),
                  ("_hmem_", r"(?:cuda|rocr|ze|neuron|synapseai)_hmem_\w+\(\):\d+<warn>(?! Failed to dlopen "
                   "libnvidia-ml)")],
     'unless': ["ROCm of another release", "driver of NVIDIA not in the container", "DMABUF not usable"],
     'cause': "libfabric was built with support for GPUs ({what}) and does not find their driver here; it goes on "
              "without.",
     'remedy': "Harmless for buffers in host memory. Else --nv or --rocm, so that the driver's libraries are in the "
               "container.",
     'source': "libfabric, src/hmem.c", 'evidence': 'derived', 'last': True},
    {'name': "no active port of Omni-Path or psm3",
     'text': "PSM3 no nic units are active (err=23)",
     'patterns': [(" units ", "PSM[23]? no (?:hfi|nic) units (?:are )?(?P<what>active|available)"),
                  ("not found", r"hfi\w* .{0,80}not found"), ("No such device", r"hfi\w* .{0,80}No such device"),
                  ("unavailable", r"hfi\w* .{0,80}unavailable"), ("link", r"hfi\w* .{0,80}link.{0,20}down"),
                  ("not found", r"HFI\w* .{0,80}not found"), ("No such device", r"HFI\w* .{0,80}No such device"),
                  ("unavailable", r"HFI\w* .{0,80}unavailable"), ("link", r"HFI\w* .{0,80}link.{0,20}down"),
                  (" unit", "No (?:hfi|HFI|nic) units? (?:found|available|active)"),
                  ("No such device", "opx.{0,120}No such device"), ("not found", "opx.{0,120}not found"),
                  ("not active", "opx.{0,120}not active"),
                  ("failed", r"opx.{0,120}\b(?:context|hfi1?|HFI)\b.{0,40}failed"),
                  ("not available", "opx.{0,120}not available"),
                  ("failed to open", "opx.{0,120}failed to open")],
     'unless': ["PSM3 opens no card", "PSM2 opens no card"],
     'cause': "The provider (psm2, psm3, opx) finds no card that is up.",
     'remedy': "opainfo or ip -brief link; ls /dev/hfi1_0 in the container. Without such a card: FI_PROVIDER=tcp "
               "(Intel MPI too), OMPI_MCA_mtl=^psm2,ofi.",
     'source': "libfabric, fi_psm3(7), fi_opx(7)", 'evidence': 'derived'},
    {'name': "card of Slingshot not to be opened",
     'text': "cxi ... cxil_open_device(): ... Permission denied / cxip_... No space left on device",
     'patterns': [("Permission denied", r"cxil?_\w{1,40}\b(?:\(\))?[^\n]{0,200}(?P<why>Permission denied)"),
                  ("No such device", r"cxil?_\w{1,40}\b(?:\(\))?[^\n]{0,200}(?P<why>No such device)"),
                  ("No such file", r"cxil?_\w{1,40}\b(?:\(\))?[^\n]{0,200}(?P<why>No such file)"),
                  ("cxi", r"cxil?_\w{1,40}\b(?:\(\))?[^\n]{0,200}(?P<why>-13\b)"),
                  ("cxi", r"cxil?_\w{1,40}\b(?:\(\))?[^\n]{0,200}(?P<why>-19\b)"),
                  ("<warn>", r"cxip_\w+\(\):\d+<warn>.{0,200}(?P<why>Permission denied|No such device)"),
                  ("/dev/cxi", r"(?:/dev/cxi\d).{0,60}(?P<why>Permission denied|No such file)")],
     'unless': ["no VNI on one node"],
     'cause': "libfabric cannot use the Slingshot card ({why}): the rank was not started by srun with a VNI, or the "
              "container does not show /dev/cxi0 and /sys/class/cxi.",
     'remedy': "Start by srun; on one node srun --network=single_node_vni. osu-exec ls -l /dev/cxi0; with --contain "
               "add --bind /dev/cxi0.",
     'source': "libfabric, fi_cxi(7)", 'evidence': 'derived'},
    {'name': "resources of the Slingshot card used up",
     'text': "cxip_ep_cmdq():171<warn> ...: Unable to allocate CMDQ, ret: No space left on device",
     'patterns': [("<warn>", r"cxip?_\w+\(\):\d+<warn>.{0,200}(?:No space left|-28\b|ENOSPC|[Rr]esource.{0,30}"
                   "(?:exhaust|exceed))"), ("cxil_", r"cxil_\w{1,40}\b.{0,100}(?:No space left|-28\b)"),
                  ("Cannot allocate memory", r"cxip_\w+\(\):\d+<warn>.{0,200}Cannot allocate memory")],
     'unless': ["no VNI on one node"],
     'cause': "The service of the Slingshot card has no more of a resource (TX queues, events, pointers) for this "
              "job: too many ranks a node, or other jobs have it.",
     'remedy': "srun --network=job_vni,def_tles=0 --exclusive, or fewer ranks a node; --network=def_txqs=N,def_tgqs=N "
               "asks for more.",
     'source': "srun(1), --network; libfabric, fi_cxi(7)", 'evidence': 'derived'},
    {'name': "provider that libfabric does not have",
     'text': "libfabric: ... FI_PROVIDER ... provider not found / fi_getinfo: No data available",
     'patterns': [("FI_PROVIDER", "FI_PROVIDER.{0,60}(?:not found|unknown|is not (?:available|supported|built))"),
                  ("provider", "provider.{0,60}(?:not found|unknown|is not (?:available|supported|built))"),
                  ("prov", r"prov(?:ider)? \w+ (?:disabled|filtered)")],
     'cause': "libfabric has no provider of the name that was asked for (FI_PROVIDER), or it was switched off.",
     'remedy': "fi_info -l (osu-exec fi_info -l) lists those that are built in; unset FI_PROVIDER, or name one of "
               "them.",
     'source': "libfabric, fabric(7)", 'evidence': 'derived', 'general': 1},
    {'name': "card that EFA cannot open",
     'text': "efa:ep_data:efa_device_construct_gid():47<warn> ibv_open_device failed! errno: 2",
     'patterns': [("ibv_open_device failed", r"efa\S{0,60}<warn>.{0,40}ibv_open_device failed")],
     'cause': "/sys shows a card that this container may not open (/dev/infiniband/uverbs0 and the like are missing): "
              "the EFA device itself, or another maker's card, at which libfabric's provider efa then gives up.",
     'remedy': "ls /dev/infiniband /sys/class/infiniband in the container: each needs its device, Docker: "
               "--device=/dev/infiniband. A newer libfabric passes over cards that are not EFA's.",
     'source': "libfabric, prov/efa/src/efa_device.c; github.com/ofiwg/libfabric, issue 12708", 'evidence': 'measured'},
    {'name': "EFA not to be used",
     'text': "efa:fabric:efa_device_list_initialize():222<warn> no EFA device",
     'patterns': [("o EFA device", "[Nn]o EFA device"), ("not found", "EFA .{0,60}not found"),
                  ("unavailable", "EFA .{0,60}unavailable"), ("not supported", "EFA .{0,60}not supported"),
                  ("failed", "EFA .{0,60}failed"), ("<warn>", r"efa_\w+\(\):\d+<warn>.{0,200}"),
                  ("Libfabric EFA ", "Libfabric EFA .{0,100}(?:error|abort|[Uu]nable)"),
                  ("<warn>", r"rxr_\w+\(\):\d+<warn>.{0,200}")],
     'unless': ["message over EFA that failed", "EFA's security group closed", "limit of locked memory"],
     'cause': "libfabric's provider efa of Amazon's network does not work here: the instance or container has no EFA "
              "device, its driver is older, or the security group does not let nodes talk to themselves.",
     'remedy': "fi_info -p efa (in the container too); Docker, Kubernetes: --device=/dev/infiniband/uverbs0, "
               "vpc.amazonaws.com/efa. The security group must allow all traffic from and to itself. Fabric tcp: "
               "FI_PROVIDER=tcp.",
     'source': "AWS, EFA user guide; libfabric, fi_efa(7)", 'evidence': 'derived', 'general': 1},
    {'name': "addresses of other ranks not taken",
     'text': "MPIDI_OFI_mpi_init_hook(1382): OFI get address vector map failed",
     'patterns': ["OFI get address vector map failed", ("OFI address vector", r"OFI address vector \w{1,20} failed")],
     'cause': "libfabric does not take the addresses of the other ranks: nodes have different cards or another "
              "provider, or a node has more ranks than the provider has places for (EFA: FI_EFA_SHM_AV_SIZE, 64 ranks "
              "a node in older releases).",
     'remedy': "The same with 2 ranks on 2 nodes, then with fewer ranks a node, tells which. Fewer ranks a node, or "
               "FI_EFA_SHM_AV_SIZE=256; else FI_PROVIDER with one that all nodes have (fi_info on each).",
     'source': "libfabric, fi_efa(7); github.com/aws/aws-parallelcluster, issues 1608 and 1695", 'evidence': 'derived'},
    {'name': "read of another completion failed",
     'text': "OFI poll failed (ofi_events.c:...:Input/output error) / fi_cq_readerr ...",
     'patterns': [("OFI poll failed (", r"OFI poll failed \([^)\n]{0,200}"),
                  ("fi_cq_read", r"fi_cq_read\w{0,20}\b[^\n]{0,100}(?:error|failed)"),
                  (" failed (", r"OFI (?P<call>\w+) failed \([^)\n]{0,120}:(?P<why>[^):\n]{1,80})\)"),
                  ("OFI call ", r"OFI call (?P<call>\w+) failed")],
     'unless': ["message longer than its buffer"],
     'cause': "libfabric reported an error of the network for a call of MPI: {call} {why}",
     'remedy': "FI_LOG_LEVEL=warn srun ... names the provider and the reason; FI_PROVIDER=tcp (in the module: pure) "
               "tells whether it is the card. Look for an earlier error of another rank.",
     'source': "MPICH, src/mpid/ch4/netmod/ofi", 'evidence': 'derived', 'general': 1},
    {'name': "libfabric under Open MPI failed",
     'text': "mtl_ofi.h:101: Error returned from fi_cq_readerr: Resource temporarily unavailable(-11).",
     'patterns': [(": Error returned from ", r"mtl_ofi\.h:\d+: Error returned from (?P<call>\w+)"),
                  "The Open MPI OFI MTL is aborting the MPI job",
                  ("btl_ofi", r"btl_ofi\S{0,30}[^\n]{0,80}(?:error|Error|failed)")],
     'cause': "Open MPI sends through libfabric (mtl ofi), and its provider failed: it is one that does not suit here "
              "(psm3, tcp on one machine), or a rank has ended.",
     'remedy': "export OMPI_MCA_mtl=^ofi OMPI_MCA_btl=^ofi: Open MPI then takes UCX, shared memory and TCP. "
               "FI_PROVIDER names another one; FI_LOG_LEVEL=warn says why.",
     'source': "github.com/OPM/LBPM, issue 48", 'evidence': 'measured'},
    {'name': "no fast network for Open MPI",
     'text': "1 more process has sent help message help-mpi-btl-base.txt / btl:no-nics",
     'patterns': ["help-mpi-btl-base.txt / btl:no-nics",
                  ("there are no active ports detected", "there are no active ports detected"),
                  "couldn't read uverbs ABI version",
                  ("no active ports ", "no active ports (?:were )?(?:found|detected)")],
     'unless': ["openib not used"],
     'cause': "Open MPI looked for a fast network (InfiniBand) and found none that is up; it takes shared memory and "
              "TCP.",
     'remedy': "Harmless on a machine without one: OMPI_MCA_btl_base_warn_component_unused=0 silences it. With one: "
               "ibstat, ls /dev/infiniband in the container.",
     'source': "Open MPI, help-mpi-btl-base.txt; github.com/open-mpi/ompi, issue 1393",
     'evidence': 'derived', 'last': True},
    {'name': "nodes whose cards differ for UCX",
     'text': "wireup.c:1388 Fatal: endpoint reconfiguration not supported yet",
     'patterns': ["endpoint reconfiguration not supported yet",
                  ("cannot reconfigure ep", "cannot reconfigure ep"),
                  ("reconfigur", r"wireup\.c:\d+.{0,100}reconfigur")],
     'unless': ["UCX of two releases"],
     'cause': "Two ranks chose other cards or transports for each other than the partner did: the nodes or containers "
              "have different cards, ports that are down, other UCX_... settings or another UCX.",
     'remedy': "The same on all ranks: export UCX_NET_DEVICES=mlx5_0:1 (ibstat, one that is Active everywhere) and "
               "UCX_TLS=rc,sm,self, and the same UCX (ucx_info -v). UCX_TLS=tcp,sm,self tells whether it is the cards.",
     'also': [("one node has another set of cards", "srun -l ibv_devinfo -l")],
     'source': "UCX, src/ucp/wireup/wireup.c; github.com/openucx/ucx, pull request 8182", 'evidence': 'derived'},
    {'name': "libraries of the card of another release than its driver",
     'text': "ibv_exp_query_device: invalid comp_mask !!! / ibv_modify_qp(DCI, RTR) failed : Invalid argument",
     'patterns': [("invalid comp_mask", r"ibv_exp_query_device: invalid comp_mask"),
                  ("ibv_modify_qp(DC", r"ibv_modify_qp\(DC[IT],? ?\w{0,10}\) failed ?: (?:Invalid argument|Operation "
                   "not supported)"),
                  ("mlx5dv_create_qp(", r"mlx5dv_create_qp\([^)\n]{0,80}\).{0,40}failed"),
                  ("ibv_create_", r"\bibv_create_(?:cq|qp|srq)\w*(?:\([^)\n]{0,80}\))? failed[^\n]{0,60}(?:Invalid "
                   "argument|not supported)"),
                  ("error obtaining device attributes for", "error obtaining device attributes for"),
                  "create an internal queue.  This typically indicates a failed"],
     'cause': "The libraries of InfiniBand (rdma-core or MLNX_OFED) in use and the kernel's driver of the card are of "
              "different ages or makers, so that the driver refuses what they ask for; or the card is too old for it.",
     'remedy': "ofed_info -s; rpm -qf /usr/lib64/libibverbs.so.1 (dpkg -S): of one make with the kernel module "
               "(modinfo mlx5_core). In an image: newer rdma-core. To go on: UCX_TLS=rc,ud,sm,self (without dc), "
               "OMPI_MCA_btl=^openib, or tcp.",
     'source': "github.com/openucx/ucx, issues 8604 and 5749; github.com/open-mpi/ompi, issue 5964",
     'evidence': 'derived'},
    {'name': "EFA's security group closed",
     'text': "NCCL WARN NET/OFI Request completed with error. RC: 21. Error: unknown error",
     'patterns': [("ompleted with error", r"NET/OFI Request\b.{0,60}completed with error\. RC: (?:20|21|113)\b"),
                  ("prov_err: Not a directory", r"prov_err: Not a directory"),
                  ("nreachable remote", r"\befa\b.{0,200}[Uu]nreachable remote"),
                  ("No route to host", r"\befa\b.{0,200}No route to host"),
                  ("Unreachable remote", "Unreachable remote"),
                  ("FI_EHOSTUNREACH", "FI_EHOSTUNREACH")],
     'cause': "Amazon's network EFA dropped the message: the security group of the instances does not allow all "
              "traffic from and to itself, or the instances are in different groups.",
     'remedy': "In the security group: an inbound and an outbound rule, all traffic, with the group's own id as "
               "source and destination; the same group for all nodes. fi_pingpong -p efa between two nodes tells.",
     'source': "github.com/aws/aws-ofi-nccl, issues 156 and 161, pull request 1294; AWS, EFA user guide",
     'evidence': 'measured'},
    {'name': "message lost on libfabric's way",
     'text': "OFI poll failed (ofi_events.h:1008:MPIDI_OFI_handle_cq_error:Cannot allocate memory)",
     'patterns': [("Cannot allocate memory)", r"OFI poll failed \([^)\n]{0,150}Cannot allocate memory\)"),
                  ("Cannot allocate memory)", r"OFI [\w ]{1,40} failed \([^)\n]{0,150}Cannot allocate memory\)")],
     'unless': ["limit of locked memory", "PSM3 opens no card", "no endpoint on the card"],
     'cause': "The provider of libfabric could not register memory for a message: this process may lock too little "
              "memory (ulimit -l), or the card has no more room for so many connections. The node's memory is not "
              "short.",
     'remedy': "srun (mpirun) bash -c 'ulimit -l' on every node should print unlimited. Else another provider: "
               "FI_PROVIDER=mlx (Intel MPI on InfiniBand), or tcp; FI_LOG_LEVEL=warn names the call.",
     'source': "github.com/ofiwg/libfabric, issue 5648; fi_verbs(7)", 'evidence': 'derived'},
    {'name': "event of InfiniBand's network",
     'text': "The OpenFabrics stack has reported a network error event.",
     'patterns': ["The OpenFabrics stack has reported a network error event",
                  ("The OpenFabrics stack has reported an unknown", "The OpenFabrics stack has reported an unknown"),
                  ("IBV_EVENT_", r"(?P<event>IBV_EVENT_(?:PORT_ERR|DEVICE_FATAL|QP_FATAL|CQ_ERR|QP_ACCESS_ERR"
                   "|LID_CHANGE|SM_CHANGE|GID_CHANGE))"),
                  ("IB Async event on ", r"IB Async event on \S{1,40}: (?P<event>(?:port|device|GID|LID|P_Key|QP|CQ"
                   r"|SRQ|path)[^\n]{1,60})"),
                  ("ot async ", r"NET/IB ?: .{0,60}[Gg]ot async (?:fatal |error )?event ?:? ?"
                   r"(?!local access|invalid request)(?P<what>[^\n]{1,80})")],
     'cause': "The card told of a change in the network while the job ran: a port or cable went down, its address "
              "(GID) changed, or the card failed. {event}",
     'remedy': "ibstat and dmesg | grep mlx5 on that node; srun --exclude=NODE; tell the administrators.",
     'source': "Open MPI, help-mpi-btl-openib.txt; ibv_get_async_event(3)", 'evidence': 'derived'},
    {'name': "message over EFA that failed",
     'text': "Unable to write to EQ: Missing or unavailable event queue. err: Input/output error (5) prov_errno: ...",
     'patterns': [("Unable to write to EQ: Missing or unavailable", "Unable to write to EQ: Missing or unavailable "
                                                                    "event "
                   "queue"), ("Libfabric EFA provider has encountered an", "Libfabric EFA provider has encountered an"),
                  ("efa_rdm_", r"efa_rdm_\w{1,40}_handle_error\(\)"),
                  ("rxr_cq_", r"rxr_cq_write_(?:tx|rx)_error\(\)")],
     'unless': ["limit of locked memory", "EFA's security group closed"],
     'cause': "A message over Amazon's EFA failed: mostly the rank at the other end has ended or crashed; else memory "
              "that may not be locked, or ranks of one node that may not share memory.",
     'remedy': "Look for the first error of any rank (FI_LOG_LEVEL=warn says which peer). ulimit -l should be "
               "unlimited; FI_EFA_ENABLE_SHM_TRANSFER=0 tells whether it is shared memory of the node; a newer EFA "
               "installer.",
     'source': "libfabric, prov/efa, efa_strerror.c; github.com/ofiwg/libfabric, issues 6249 and 9694",
     'evidence': 'derived', 'general': 1},
    {'name': "GPU memory kept from the card by the node's bridges",
     'text': "NCCL WARN NET/IB : Got completion from peer ... with error 4, opcode 0, len 0, vendor err 81 (Send)",
     'patterns': [("Got completion ", r"Got completion .{0,160}(?:status=|error )4\b"),
                  ("Local protection on ", r"Local protection on (?P<card>\S{1,40})")],
     'cause': "The card may not read or write this memory; where it is GPU memory (GPU Direct RDMA) mostly PCI's "
              "access control (ACS) or the IOMMU of the node, often of a virtual machine, stands between card and GPU.",
     'remedy': "NCCL_NET_GDR_LEVEL=LOC (UCX_IB_GPU_DIRECT_RDMA=no) goes around it, slower, and tells. Administrators: "
               "ACS off (lspci -vvv | grep ACSCtl: no SrcValid+), iommu=pt or off, nvidia_peermem loaded.",
     'also': [("the program has freed the memory while it was sent, or another rank had failed",
               "the same with buffers in host memory (osu_bw H H)")],
     'source': "github.com/NVIDIA/nccl, issues 928 and 523; github.com/openucx/ucx, issue 3564; NCCL documentation, "
               "Troubleshooting", 'evidence': 'measured'},
    {'name': "message thrown away after another error",
     'text': "NET/IB : Got completion from peer with error 5, opcode 0, len 5384, vendor err 249 (Send)",
     'patterns': [("Got completion ", r"Got completion .{0,160}(?:status=|error )5\b"),
                  ("IBV_WC_WR_FLUSH_ERR", r"IBV_WC_WR_FLUSH_ERR"), ("vendor err 249", r"vendor err 249\b"),
                  ("Work Request Flushed", "Work Request Flushed Error")],
     'unless': ["no answer over InfiniBand", "GPU memory kept from the card by the node's bridges"],
     'cause': "The card threw away messages that waited (status 5, flushed), because the connection had failed "
              "before: by an error of this rank (status 12, 4) or of the other one, or its end.",
     'remedy': "Look for the first such line, of any rank, with another number than 5. If there is none: dmesg of both "
               "nodes (memory, mlx5), ibstat and mlxlink for a port that went down, and a newer firmware.",
     'source': "rdma-core, ibv_poll_cq(3); github.com/NVIDIA/nccl, issue 1405", 'evidence': 'derived', 'general': 1},
    {'name': "card that does not answer its driver",
     'text': "UCX ERROR ibv_create_cq(cqe=256) failed: Connection timed out",
     'patterns': [("failed: ", r"\bibv_(?:create|alloc|open|query)_\w+(?:\([^)\n]{0,80}\))? failed: (?:Connection "
                               r"timed "
                   "out|Remote I/O error|Input/output error)"),
                  ("mlx5_core", r"mlx5_core .{0,120}(?:timeout\. Will cause a leak|health compromised|assert_var"
                   "|device's health|firmware (?:version|not responding))")],
     'cause': "The InfiniBand or RoCE card did not answer its driver: firmware or card hangs, or a virtual machine "
              "does not pass it on rightly.",
     'remedy': "dmesg | grep -i mlx on that node, and tell the administrators (reset, firmware); srun --exclude=NODE. "
               "To go on over TCP: UCX_TLS=tcp,sm,self, UCX_NET_DEVICES=eth0, OMPI_MCA_btl=^openib.",
     'source': "github.com/pmodels/mpich, issue 7227; mlx5_core, kernel", 'evidence': 'derived'},
    {'name': "address of a rank that Open MPI did not get",
     'text': "pml_ucx.c:175 Error: Failed to receive UCX worker address: Not found (-13)",
     'patterns': [("Failed to receive UCX worker address", "Failed to receive UCX worker address"),
                  ("Failed to receive EP address", "Failed to receive EP address")],
     'cause': "A rank did not get the address of another one from PMIx, by which srun or mpirun hands them out: PMIx "
              "of Slurm and of this Open MPI do not fit, or lose entries in shared memory (gds).",
     'remedy': "export PMIX_MCA_gds=hash before srun --mpi=pmix (or mpirun); else mpirun in place of srun, or an Open "
               "MPI built with Slurm's PMIx. mpirun -mca pmix_base_async_modex 0 -mca pmix_base_collect_data 1 hands "
               "all of them out at the start.",
     'also': [("the nodes have other interfaces, and mpirun's helpers do not reach each other",
               "OMPI_MCA_oob_tcp_if_include=NAME mpirun ..., NAME from ip -brief addr")],
     'source': "github.com/open-mpi/ompi, issue 6981; github.com/openucx/ucx, issues 2482 and 8322",
     'evidence': 'derived'},
    {'name': "value that UCX does not take",
     'text': "UCX ERROR Invalid value for RNDV_THRESH: 'abc'. Expected: memory units: ...",
     'patterns': [("nvalid value for ", r"UCX +ERROR +(?:Error: )?[Ii]nvalid value for (?P<name>\w{1,60})"),
                  ("Expected: ", r"[Ii]nvalid value for (?P<name>\w{1,60}): '[^'\n]{0,60}'\. Expected: ")],
     'cause': "A variable UCX_{name} has a value that this UCX does not know: misspelt, or of another release.",
     'remedy': "env | grep UCX_, and unset it; ucx_info -f lists each variable with its values.",
     'source': "UCX, src/ucs/config/parser.c", 'evidence': 'derived'},
    {'name': "ranks of MPICH with other cards or providers",
     'text': "OFI has a different number of nics available on different notes (1 on this node and 4 elsewhere)",
     'patterns': [("OFI has a different number of nics", "OFI has a different number of nics"),
                  ("OFI Provider name does not match", "OFI Provider name does not match configure-time provider"),
                  ("fi_ep_bind", "fi_ep_bind.{0,60}failed")],
     'cause': "Nodes of the job have another number of network cards (one is down, or the container does not show "
              "it), or libfabric chose another provider than MPICH was built for.",
     'remedy': "srun -l fi_info -l and srun -l ls /sys/class/cxi /sys/class/infiniband tell which node differs: "
               "--exclude=NODE. MPIR_CVAR_CH4_OFI_MAX_NICS=1 takes one card; unset FI_PROVIDER.",
     'source': "MPICH, src/mpid/ch4/netmod/ofi/errnames.txt", 'evidence': 'derived'},
    {'name': "domain of the Slingshot card not opened",
     'text': "cxi:core:cxip_domain_enable():...<warn> ... cxip_alloc_lni returned: -22 / Unable to get IF",
     'patterns': [("cxip_alloc_lni", r"cxip_alloc_lni returned: -?\d+"),
                  ("Unable to get IF", r"cxip_\w+\(\).{0,80}Unable "
                   "to get IF"), ("cxil_get_svc with ", r"cxil_get_svc with \S+ and svc_id \d+ failed"),
                  ("Failed to allocate LNI", "Failed to allocate LNI")],
     'unless': ["card of Slingshot not to be opened", "resources of the Slingshot card used up"],
     'cause': "libfabric's provider cxi may not use the card's service (svc_id): the step has none of its own, since "
              "srun gave it no VNI, it was started in another way, or the service was taken away when a step ended.",
     'remedy': "Start by srun; on one node srun --network=single_node_vni. env | grep SLINGSHOT shows what the step "
               "has; a container must keep these variables (no --cleanenv).",
     'source': "libfabric, prov/cxi/src/cxip_dom.c", 'evidence': 'derived'},
    {'name': "uDAPL without its interface",
     'text': "open_hca: getaddr_netdev ERROR: No such device. Is ib0 configured?",
     'patterns': [("getaddr_netdev ERROR", r"open_hca: getaddr_netdev ERROR"),
                  ("open_hca: device ", r"open_hca: device \S+ not found"),
                  ("dapl_cma_active", "dapl_cma_active: .{0,40}ERROR"),
                  ("DAT_", r"DAT_(?:INVALID_ADDRESS|PROVIDER_NOT_FOUND)"),
                  (" open ", r"(?:could not|cannot) open .{0,40}(?:dat registry|dat\.conf|DAPL provider)")],
     'cause': "An old MPI (Intel MPI before 2019, Open MPI's udapl) tries the cards that /etc/dat.conf names, and this "
              "node does not have them or ib0 has no address.",
     'remedy': "Harmless where the run goes on. Intel MPI: I_MPI_FABRICS=shm:ofa or shm:tcp; a newer MPI needs no "
               "DAPL.",
     'source': "uDAPL, dapl/openib_cma; github.com/UCL-ARC/rcps-buildscripts, issue 50", 'evidence': 'derived',
     'last': True},
    {'name': "rank that refused a connection of libfabric",
     'text': "ofi_rxm:ep_ctrl:rxm_handle_error():...<warn> fi_eq_readerr: err: Connection refused (111)",
     'patterns': [("onnection refused",
                   r"(?:ofi_rxm|:tcp|:net|verbs|xnet_\w+|rxm_\w+|vrb_\w+)\S{0,60}.{0,160}[Cc]onnection "
                   "refused"),
                  ("onnection timed out",
                   r"(?:ofi_rxm|:tcp|:net|xnet_\w+|rxm_\w+|vrb_\w+)\S{0,60}.{0,160}[Cc]onnection timed "
                   "out"),
                  ("fi_eq_readerr: err: 11", r"fi_eq_readerr: err: 11[013]\b"),
                  ("OFI ", r"OFI [\w ]{1,30} failed \([^)\n]{0,150}:(?:No such file or directory|Connection (?:refused"
                   r"|timed out)|No route to host|Network is unreachable|Transport endpoint is not connected)\)"),
                  ("oute to host", r"(?:ofi_rxm|:tcp|:net|xnet_\w+|rxm_\w+)\S{0,60}.{0,160}[Rr]oute to host")],
     'cause': "libfabric (provider tcp, or verbs) does not reach another rank: it took an interface that leads nowhere "
              "(docker0, virbr0, the wrong of two), a firewall stands between, or that rank has ended.",
     'remedy': "FI_TCP_IFACE=NAME (FI_SOCKETS_IFACE, FI_VERBS_IFACE) with the interface that the nodes share (ip "
               "-brief addr); let the firewall pass all ports between compute nodes. Look for an earlier error of "
               "another rank.",
     'source': "libfabric, fi_tcp(7), fi_verbs(7)", 'evidence': 'derived'},
    {'name': "card of InfiniBand closed to you",
     'text': "UCX ERROR ibv_open_device(mlx5_0) failed: Permission denied",
     'patterns': [("ibv_open_device", r"ibv_open_device[^\n]{0,80}(?:ermission denied|not permitted)"),
                  ("/dev/infiniband/", r"/dev/infiniband/\w{1,20}\W[^\n]{0,60}(?:ermission denied|not permitted)"),
                  ("rdma_cm", r"/dev/(?:infiniband/)?rdma_cm\b[^\n]{0,60}(?:ermission denied|not permitted)")],
     'cause': "You may not open the card's device (/dev/infiniband/uverbs0, rdma_cm): its rights on the node are too "
              "narrow, or Slurm's or the container's list of devices leaves it out.",
     'remedy': "ls -l /dev/infiniband on the node must show crw-rw-rw-. Docker, Podman: "
               "--device=/dev/infiniband/uverbs0 --cap-add=IPC_LOCK. UCX_TLS=self,sm,tcp (FI_PROVIDER=tcp) goes "
               "without the card.",
     'source': "UCX, src/uct/ib/base/ib_device.c; rdma-core, udev rules", 'evidence': 'derived'},
    {'name': "UCX under MPICH failed",
     'text': "ucx function returned with failed status(ucx_init.c 96 init_worker Input/output error)",
     'patterns': [("ucx function returned with failed status", r"ucx function returned with failed status ?\((?P<why>"
                   r"[^)\n]{1,150})")],
     'cause': "MPICH sends through UCX, and a call of it failed ({why}). A line of UCX before this one says why.",
     'remedy': "UCX_LOG_LEVEL=info srun ... says more. UCX_TLS=self,sm,tcp tells whether it is the card; ucx_info -d "
               "(osu-exec ucx_info -d) shows what each node has.",
     'source': "MPICH, src/mpid/ch4/netmod/ucx; src/mpi/errhan/errnames.txt", 'evidence': 'derived', 'general': 1},
    {'name': "shared memory of PSM2 not set up",
     'text': "PSM could not set up shared memory segment (err=9)",
     'patterns': [("could not set up shared memory segment", r"PSM\d? could not set up shared memory segment"),
                  ("opening remote shared memory object in shm_open", "opening remote shared memory object in "
                                                                      "shm_open")],
     'cause': "Ranks of one node do not find each other's shared memory (PSM2, PSM3): /dev/shm is full or holds files "
              "of an earlier run, or each rank runs in a container with a /dev/shm of its own.",
     'remedy': "df -h /dev/shm; ls -l /dev/shm on that node: your own psm2_shm.* left over may go. Apptainer shares "
               "/dev/shm (no --contain); Docker: --ipc=host. PSM2_DEVICES=self,hfi (without shm) goes round it.",
     'source': "github.com/cornelisnetworks/opa-psm2, issue 42", 'evidence': 'derived'},
    {'name': "GDRCopy of another release than its driver",
     'text': "gdr_copy_md.c:113 UCX ERROR gdr_pin_buffer failed. length :3735552 ret:25",
     'patterns': [("gdr_", r"UCX +ERROR +gdr_(?:pin_buffer|map|get_info)\w*(?:\(\))? failed")],
     'cause': "UCX opened GDRCopy and its driver refused a call: the image has libgdrapi of another release than the "
              "module gdrdrv of the node (1.3 and 2.0 do not fit), or the GPU's window for it is full.",
     'remedy': "UCX_TLS=^gdr_copy goes without, slower for small messages. Else libgdrapi of the node's release in "
               "the image (modinfo gdrdrv on the node).",
     'source': "github.com/NVIDIA/gdrcopy, issue 113", 'evidence': 'measured'},
    {'name': "address of a rank that UCX cannot read",
     'text': "address.c:944 UCX ERROR failed to unpack address, invalid bandwidth 0.00",
     'patterns': [("ailed to ", "[Ff]ailed to (?:unpack|parse) address"),
                  ("UCX_ADDRESS_VERSION=v2", "use UCX_ADDRESS_VERSION=v2")],
     'cause': "A rank got the address of another one and cannot make sense of it: the other has another UCX, or "
              "other cards while UCX_UNIFIED_MODE=y says that all are the same; or PMI cut the address off.",
     'remedy': "unset UCX_UNIFIED_MODE; the same UCX on all ranks (srun osu-exec ucx_info -v). One transport less "
               "makes the address shorter and tells: UCX_TLS=self,sm,tcp. UCX_ADDRESS_VERSION=v2 for many cards.",
     'source': "UCX, src/ucp/wireup/address.c; github.com/openucx/ucx, pull request 10200", 'evidence': 'derived'},
    {'name': "message of UCX that nobody takes",
     'text': "uct_iface.c:66 UCX WARN got active message id 27, but no handler installed",
     'patterns': [("no handler installed", r"got active message id \d+, but no handler installed")],
     'cause': "Two parts of one program use UCX at a time and get each other's messages (Open MPI's btl uct beside "
              "pml ucx), or the ranks have different releases of UCX.",
     'remedy': "export OMPI_MCA_btl=^uct; ucx_info -v on all nodes should say the same.",
     'source': "github.com/open-mpi/ompi, issue 8098", 'evidence': 'derived'},
    {'name': "provider that lacks what MPI asks of it",
     'text': "OFI event counter create failed (ofi_init.c:1057:MPIDI_OFI_mpi_init_hook:Function not implemented)",
     'patterns': ["OFI event counter create failed",
                  ("OFI ", r"OFI (?!fi_open|poll)[\w ]{1,40} failed \([^)\n]{0,150}:(?:Function not implemented"
                   r"|(?:Operation|Protocol) not supported|Protocol not available)\)")],
     'unless': ['no VNI on one node', 'no provider', 'no endpoint on the card'],
     'cause': "The provider of libfabric that was chosen lacks something that MPI needs (counters in shm, for one): "
              "FI_PROVIDER forces it, or libfabric is older or newer than this MPI knows.",
     'remedy': "unset FI_PROVIDER; else one that gives all of it: tcp;ofi_rxm, verbs;ofi_rxm, cxi, psm2. Ranks of one "
               "node: I_MPI_FABRICS=shm (Intel MPI).",
     'source': "github.com/ofiwg/libfabric, issue 5465", 'evidence': 'measured'},
    {'name': "copy between ranks of a node that libfabric failed at",
     'text': "core:core:cma_copy():58<warn> CMA error 14",
     'patterns': [("CMA error ", r"\bCMA error (?![13]\b)\d+"), ("smr_", r"\bsmr_\w+\(\):\d+<warn> error processing "
                                                                   "op")],
     'unless': ["no memory of another rank"],
     'cause': "libfabric's provider shm (efa uses it too) could not copy from a rank of the same node: the address was "
              "none of that rank's memory, a fault of libfabric or memory of a GPU.",
     'remedy': "FI_EFA_ENABLE_SHM_TRANSFER=0 with OMPI_MCA_mtl_ofi_provider_exclude=shm goes around it; another "
               "release of libfabric. With GPU buffers: the same with H H.",
     'source': "github.com/ofiwg/libfabric, issue 11329", 'evidence': 'measured'},
    {'name': "partner of PSM that does not answer",
     'text': "psmx3_epid_to_epaddr():231<warn> psm2_ep_connect returned error Operation timed out, remote epid=...",
     'patterns': [("_ep_connect returned error", r"psm\d?x?_ep_connect returned error (?P<why>[\w /]{1,60})"),
                  ("Try setting FI_PSM", r"Try setting FI_PSM\d?_CONN_TIMEOUT to a larger value")],
     'cause': "A rank did not get an answer from another one over Omni-Path or psm3 ({why}): the link of a node is "
              "down, the nodes have several such networks, a firewall is between (psm3), or that rank is late.",
     'remedy': "opainfo (psm3: ip -brief addr) on both nodes; HFI_UNIT (PSM3_NIC) names one card for all. "
               "FI_PSM3_CONN_TIMEOUT=60 (FI_PSM2_CONN_TIMEOUT) waits longer; FI_PROVIDER=tcp or verbs tells.",
     'also': [("the rank at the other end has ended", "look for the first error of any rank")],
     'source': "libfabric, fi_psm2(7), fi_psm3(7); github.com/pmodels/mpich, issue 5975", 'evidence': 'derived'},
    {'name': "port of a RoCE card without a GID",
     'text': "ib_device.c:918 UCX ERROR Invalid gid[0] on mlx5_6:1",
     'patterns': [("nvalid gid[", r"[Ii]nvalid gid\[\d+\] on (?P<card>\S{1,40})"),
                  ("local_gid_u16", "local_gid_u16")],
     'cause': "The port {card} has no address (GID) that can be used: its interface has no IP address, or belongs to "
              "the network of the host and not to this container's.",
     'remedy': "UCX_NET_DEVICES=NAME:1 with a card that has one (show_gids; it may have another name on each node). "
               "Docker: --network=host. UCX_IB_GID_INDEX=3 where only RoCE v2 has an address.",
     'source': "UCX, src/uct/ib/base/ib_device.c; github.com/openucx/ucx, issue 4966", 'evidence': 'derived'},
    {'name': "start of mpirun over InfiniBand that does not go",
     'text': "Failed to create a queue pair (QP): ... Open MPI has detected that there are UD-capable Verbs devices "
             "...",
     'patterns': [("Failed to create a queue pair (QP)", r"Failed to create a queue pair \(QP\)"),
                  ("UD-capable Verbs devices", "there are UD-capable Verbs devices")],
     'cause': "mpirun of Open MPI 3 or older tries to talk to its helpers over InfiniBand (oob ud), which this card or "
              "container does not let it do. It then takes TCP.",
     'remedy': "Harmless where the run goes on: export OMPI_MCA_oob=^ud silences it. Else a newer Open MPI, and which "
               "mpirun tells whether it is the one that you mean (compilers of NVIDIA bring one).",
     'source': "Open MPI, help-oob-ud.txt; github.com/open-mpi/ompi, issue 11236", 'evidence': 'derived',
     'last': True},
    {'name': "UCX that cannot enlarge a buffer of its own",
     'text': "mremap(0x1534a4047000, 4096, 8192, MAYMOVE) failed: Cannot allocate memory",
     'patterns': [("mremap(", r"\bmremap\([^)\n]{1,100}\) failed: Cannot allocate memory"),
                  ("failed to allocate maps buffer", "UCX +FATAL +failed to allocate maps buffer")],
     'cause': "UCX asked the kernel to enlarge some pages of its own (mremap), which failed, although the node has "
              "memory: too many mappings (vm.max_map_count), a limit of addresses, or a kernel that does not let it.",
     'remedy': "A newer UCX (1.17), which does without at one place; ulimit -v should print unlimited. wc -l "
               "/proc/PID/maps tells whether it is near sysctl vm.max_map_count (administrators).",
     'source': "github.com/openucx/ucx, issue 9522 and pull request 9901", 'evidence': 'derived'},
    {'name': "rank that UCX lost",
     'text': "UCX ERROR ep 0x...: error 'Connection reset by remote peer' on tcp/eth0 will not be handled since no "
             "error callback is installed",
     'patterns': [("since no error callback is installed", r"error '(?P<why>[^'\n]{1,60})'[^\n]{0,160}since no error "
                   "callback is installed"),
                  ("Connection reset by remote peer", "(?P<why>Connection reset by remote peer)"),
                  ("Endpoint is not connected", "UCX +ERROR.{0,160}Endpoint is not connected")],
     'unless': ["no answer over InfiniBand"],
     'cause': "The rank at the other end has ended or crashed ({why}), and UCX tells of the broken connection.",
     'remedy': "Look for the first error of any rank (a signal, memory: sacct -j JOB -o state,exitcode,maxrss). If "
               "there is none: UCX_TLS=self,sm,tcp with UCX_NET_DEVICES=NAME tells whether it is the network.",
     'source': "UCX, src/ucp/core/ucp_worker.c", 'evidence': 'derived', 'last': True},
    {'name': "shared memory of another rank that UCX cannot attach",
     'text': "mm_sysv.c:59 UCX ERROR shmat(shmid=32768) failed: Invalid argument",
     'patterns': [("shmat(shmid=", r"shmat\(shmid=\d+\) failed"), "failed to attach to shmseg",
                  ("ailed to attach xpmem", "[Ff]ailed to attach xpmem"),
                  ("xpmem_", r"xpmem_(?:attach|get)\w{0,20}(?:\(\))?[^\n]{0,80}(?:failed|Invalid argument|Cannot "
                   "allocate|denied)")],
     'cause': "A rank may not or cannot attach memory of another one on its node: they are in different IPC namespaces "
              "(a container each), the other has ended, or xpmem's module and library are of different releases.",
     'remedy': "One container for all ranks of a node (apptainer exec --sharens; Docker: --ipc=host --pid=host). "
               "UCX_TLS=^sysv,xpmem goes without; OMPI_MCA_smsc=^xpmem.",
     'source': "UCX, src/uct/sm/mm; shmat(2), EINVAL", 'evidence': 'derived'},
    {'name': "KNEM not usable",
     'text': "UCX ERROR could not open the KNEM device file at /dev/knem : Permission denied",
     'patterns': [("KNEM ", r"KNEM (?:create region|inline copy|destroy region)[^\n]{0,20}failed"),
                  ("/dev/knem", r"(?<!DEBUG {2})could not open the KNEM device file at /dev/knem")],
     'cause': "KNEM, by which ranks of a node copy from each other, cannot be used: its kernel module is not loaded, "
              "/dev/knem is closed to you, or not in the container. 'Bad address': the buffer is memory of a GPU.",
     'remedy': "UCX_TLS=^knem (Open MPI: OMPI_MCA_btl_vader_single_copy_mechanism=none) goes without, slower. Else "
               "bind /dev/knem; administrators: modprobe knem.",
     'source': "UCX, src/uct/sm/scopy/knem; github.com/openucx/ucx, pull request 4904", 'evidence': 'derived'},
    {'name': "memory of another rank that the card may not touch",
     'text': "OFI poll failed (ofi_events.c:...:Input/output error - PERM_VIOLATION)",
     'patterns': [("Input/output error - ", r"Input/output error - (?P<why>ENTRY_NOT_FOUND|PERM_VIOLATION|OP_VIOLATION"
                   r"|MR_\w{1,30}|PTLTE_\w*(?<!NOT_FOUND)|ADDR\w{1,30}|HDR_\w{1,30})\b"),
                  ("unexpected event received", r"cxip_\w{1,60}\(\):\d+<warn>[^\n]{0,120}(?P<why>unexpected event "
                   "received)")],
     'cause': "The card does not find the memory that a rank reads or writes, here or at another rank ({why}): the "
              "window or buffer was freed or moved too early, or MPI or libfabric gave a wrong key.",
     'remedy': "See that the buffer is there until MPI_Wait, the window at all ranks (MPI_Win_free, a rank that "
               "crashed). A newer MPICH; MPIR_CVAR_CH4_OFI_ENABLE_RMA=0 goes without the card's own reads; "
               "FI_CXI_RX_MATCH_MODE=software.",
     'source': "libfabric, prov/cxi; github.com/pmodels/mpich, issues 7118 and 6687", 'evidence': 'derived'},
    {'name': "UCX told of an error",
     'text': "UCX ERROR ...",
     'patterns': [("UCX", r"\bUCX +ERROR +(?P<why>[^\n]{1,180})")],
     'cause': "UCX reports: {why}",
     'remedy': "The first such line of any rank is the cause. UCX_TLS=self,sm,tcp (without the card), UCX_TLS=self,tcp "
               "(without shared memory) and host buffers (H H) tell which part it is; UCX_LOG_LEVEL=info shows what "
               "was chosen.",
     'source': "UCX, documentation, FAQ", 'evidence': 'derived', 'general': 2},
]
