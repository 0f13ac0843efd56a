"""NCCL, RCCL and their plugins."""

ENTRIES = [
    {'name': "rank of NCCL that never came",
     'text': "[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(...) ran for 600000 milliseconds before "
             "timing out.",
     'patterns': ["Watchdog caught collective operation timeout",
                  ("NCCL ", r"NCCL (?:watchdog|Watchdog)[^\n]{0,120}(?:timeout|timed out|terminat)"),
                  ("WorkNCCL(", r"WorkNCCL\([^\n]{1,200}timed? ?out"),
                  ("collective operation timeout", "collective operation timeout")],
     'cause': "A collective of NCCL or RCCL did not end in time: a rank has failed, waits in another call, or the "
              "network between two nodes is stuck.",
     'remedy': "Look for the first error of any rank. TORCH_NCCL_TRACE_BUFFER_SIZE=2000 and NCCL_DEBUG=INFO show "
               "where each rank is; all_reduce_perf (osu_xccl_allreduce) on the same nodes tells whether it is the "
               "network.",
     'source': "PyTorch, ProcessGroupNCCL", 'evidence': 'derived'},
    {'name': "error of CUDA within NCCL",
     'text': "NCCL WARN Cuda failure 'out of memory' / HIP failure: ...",
     'patterns': [(" failure ", r"(?:NCCL WARN|WARN) (?:Cuda|CUDA|HIP|hip) failure (?:\d+ )?:? ?'?(?P<why>[^'"
                   r"\n]{1,80})"), ("ncclUnhandledCudaError", r"ncclUnhandledCudaError[^\n]{0,200}"),
                  ("Cuda failure '", r"Cuda failure '(?P<why>[^'\n]{1,60})'"),
                  (" failure ", r"(?:Test )?(?:CUDA|Cuda|HIP) failure [^\n']{1,100}:\d+ ?:? ?'(?P<why>[^'\n]{1,80})")],
     'unless': ["CUDA newer than the driver", "more GPUs in one process than can be mapped", "NVLS of NCCL not usable",
                "no GPU seen", "program that ended while NCCL worked",
                "GPU memory not shared between ranks",
                "out of memory",
                "code for another GPU",
                "GPUs fewer than asked for"],
     'cause': "A call of the GPU's runtime within NCCL or RCCL failed: {why}",
     'remedy': "'out of memory': leave some GPU memory free, another process may have the GPU (nvidia-smi, rocm-smi). "
               "'invalid device', 'no device': fewer GPUs than ranks, or the container shows none. 'peer access', "
               "'mapping', 'invalid argument' of IPC: NCCL_P2P_DISABLE=1, or ranks that see other GPUs. Else driver "
               "and CUDA or ROCm do not fit.",
     'source': "NCCL, src/include/checks.h; NCCL documentation, Troubleshooting", 'evidence': 'derived', 'general': 1},
    {'name': "verbs card that NCCL cannot use",
     'text': "NCCL WARN Call to ibv_query_port failed with error No such device",
     'patterns': [("NCCL WARN ", r"NCCL WARN (?:Call to )?(?P<call>ibv_\w+|wrap_ibv_\w+)[^\n]{0,100}(?:failed|error)[^"
                   r"\n]{0,100}"), ("NET/IB", r"NET/IB ?: ?(?:Unable to|Failed|Got|Call)[^\n]{0,100}"),
                  ("NCCL WARN NET/IB", r"NCCL WARN NET/IB(?! ?: GPU Direct)[^\n]{0,150}")],
     'unless': ["limit of locked memory", "no answer over InfiniBand", "memory that the card cannot take"],
     'cause': "NCCL found an InfiniBand or RoCE card and could not use it ({call}): the wrong GID on Ethernet, a port "
              "that is down, a container that does not show all of /dev/infiniband, or memory that may not be locked.",
     'remedy': "ibv_devinfo on both nodes; NCCL_IB_HCA=mlx5_0 names the card, NCCL_IB_GID_INDEX=3 for RoCE; ulimit -l "
               "unlimited. NCCL_IB_DISABLE=1 goes over TCP and tells whether it is the card.",
     'source': "NCCL documentation, Troubleshooting; NCCL, src/transport/net_ib", 'evidence': 'derived', 'general': 1},
    {'name': "NCCL found no InfiniBand",
     'text': "NCCL INFO NET/IB : No device found.",
     'patterns': [("NCCL INFO NET/IB", "NCCL INFO NET/IB ?: No device found"),
                  ("Failed to open libibverbs.so", r"Failed to open libibverbs\.so")],
     'cause': "NCCL sees no InfiniBand card and uses TCP. On Slingshot (LUMI, Alps) that is so, and the plugin for "
              "libfabric takes its place.",
     'remedy': "If the node has one: ls /dev/infiniband in the container, and libibverbs (rdma-core) in the image.",
     'source': "NCCL, source code", 'evidence': 'derived', 'last': True},
    {'name': "plugin of NCCL of another release",
     'text': "NCCL INFO NET/Plugin: Failed to find ncclNetPlugin_v8 symbol",
     'patterns': [("Failed to find nccl", r"Failed to find (?P<symbol>nccl(?:Net|CollNet|Tuner|Gin)Plugin\w*)(?: \(>= "
                   r"v\d+\))?[^\n]{0,10} symbol")],
     'unless': ["RCCL without its plugin"],
     'cause': "NCCL looked in the plugin for an interface ({symbol}) that it does not have, and tries the next older "
              "one.",
     'remedy': "Harmless if a line 'Using network ...' with the plugin's name follows; else the plugin (aws-ofi-nccl, "
               "nccl-rdma-sharp) is of another age than NCCL: take one built for it.",
     'source': "NCCL, src/plugin", 'evidence': 'derived', 'last': True},
    {'name': "libfabric of the plugin failed",
     'text': "NCCL WARN NET/OFI ...",
     'patterns': [("NCCL WARN NET/OFI ", r"NCCL WARN NET/OFI (?P<why>(?!Unable to register memory)[^\n]{1,150})"),
                  ("NET/OFI ", "NET/OFI (?:Failed to|Unable to|Could not|Request completed with error|Error)[^"
                   r"\n]{0,150}")],
     'unless': ["plugin cannot register memory", "plugin for EFA on a node without it",
                "RCCL asked for a plugin in vain", "no VNI on one node"],
     'cause': "The plugin for libfabric (aws-ofi-nccl) failed: {why}",
     'remedy': "FI_LOG_LEVEL=warn with NCCL_DEBUG=INFO shows provider and reason; fi_info -p cxi (efa) in the "
               "container. 'No eligible providers': FI_PROVIDER, or a libfabric without the provider; 'RC: -12', "
               "'Cannot allocate': ulimit -l.",
     'source': "github.com/aws/aws-ofi-nccl", 'evidence': 'derived', 'general': 1},
    {'name': "topology that NCCL cannot read",
     'text': "NCCL WARN ... Could not find real path of /sys/class/pci_bus/... / No NVML device handle",
     'patterns': [("ould not find real path of ", r"[Cc]ould not find real path of (?P<path>\S{1,150})"),
                  ("NCCL WARN", r"NCCL WARN[^\n]{0,60}(?:XML|topology|graph|nvml\w+\(\)|NVML)[^\n]{0,120}"),
                  ("ailed to find reverse path from ", "[Ff]ailed to find reverse path from remNode"),
                  ("ould not find a path for pattern ", r"[Cc]ould not find a path for pattern \d+"),
                  ("NCCL WARN Attribute ", r"NCCL WARN Attribute (?P<what>\w+) of node \w+ not found"),
                  ("nvmlInit", r"nvmlInit[^\n]{0,40}failed[^\n]{0,80}"),
                  ("nvmlDevice", r"nvmlDevice\w{1,60}\(\) failed[^\n]{0,80}")],
     'cause': "NCCL reads from /sys and the driver how GPUs and cards are connected, and does not see it all in this "
              "container or virtual machine ({path}).",
     'unless': ["cards that differ between ranks of NCCL"],
     'remedy': "--nv (Docker: --gpus all), and /sys not hidden. nvidia-smi topo -m shows a link that is missing. "
               "NCCL_TOPO_FILE names a file of the cloud's provider (unset it, or a newer aws-ofi-nccl, where an "
               "attribute is not found); NCCL_P2P_LEVEL and NCCL_NET_GDR_LEVEL can be set by hand.",
     'source': "NCCL, src/graph/xml.cc", 'evidence': 'derived', 'general': 1},
    {'name': "rendezvous of PyTorch failed",
     'text': "RuntimeError: The server socket has failed to listen on any local network address. ... Address already "
             "in use",
     'patterns': [("he server socket has failed to ", "[Tt]he server socket has failed to (?:listen|bind)"),
                  ("The client socket has ", r"The client socket has (?:timed out|failed)[^\n]{0,150}"),
                  ("ddress already in use", r"(?:RuntimeError|torch|Store|socket\.cpp|MASTER)[^\n]{0,200}[Aa]ddress "
                   "already in use"), "EADDRINUSE",
                  ("TCPStore", r"TCPStore[^\n]{0,150}(?:timed? ?out|refused|failed|closed)"),
                  ("c10d", r"c10d[^\n]{0,150}(?:timed? ?out|refused|failed|closed)"),
                  ("rendezvous", r"rendezvous[^\n]{0,150}(?:timed? ?out|refused|failed|closed)"),
                  ("RendezvousConnectionError", r"RendezvousConnectionError[^\n]{0,150}(?:timed? ?out|refused|failed"
                   "|closed)"), ("DistStoreError", r"DistStoreError[^\n]{0,120}"),
                  ("DistNetworkError", r"DistNetworkError[^\n]{0,120}")],
     'unless': ["ports of srun used up"],
     'cause': "Ranks meet at one address and port (MASTER_ADDR, MASTER_PORT), and the port is taken by another job or "
              "an earlier run, or the first rank does not answer there.",
     'remedy': "export MASTER_PORT=$((20000 + SLURM_JOB_ID % 20000)) and MASTER_ADDR=$(scontrol show hostnames | head "
               "-1); ss -ltnp | grep PORT shows who has it.",
     'source': "PyTorch, torch.distributed", 'evidence': 'derived'},
    {'name': "NCCL told of something",
     'text': "NCCL WARN ...",
     'patterns': [("NCCL WARN ", r"NCCL WARN (?P<why>[^\n]{1,200})"),
                  ("NCCL ERROR ", r"NCCL ERROR (?P<why>[^\n]{1,200})"),
                  ("nccl", r"(?:ncclRemoteError|ncclInvalidArgument|ncclInvalidUsage|ncclInProgress)[^\n]{0,100}")],
     'unless': ["RCCL's wish about the kernel"],
     'cause': "NCCL or RCCL reports: {why}",
     'remedy': "The first such line of any rank is the cause. On one node NCCL_P2P_DISABLE=1 and NCCL_SHM_DISABLE=1, "
               "between nodes NCCL_IB_DISABLE=1 (NCCL_NET=Socket) tell which part it is.",
     'source': "NCCL documentation, Troubleshooting", 'evidence': 'derived', 'general': 2},
    {'name': "rank of NCCL at the other end has gone",
     'text': "NCCL WARN socketProgress: Connection closed by remote peer node2<42830>",
     'patterns': [("onnection closed by remote peer", "[Cc]onnection closed by remote peer"),
                  ("Call to ", r"Call to (?:recv from|send to|read|write|recv|send) ?\S{0,100} ?(?:failed|returned)"),
                  ("Socket recv failed while polling for", "Socket recv failed while polling for"),
                  ("Failed to execute operation", r"\[Proxy Service \d+\] Failed to execute operation"),
                  ("remote process exited or there was a network", "remote process exited or there was a network "
                   "error"), "ncclRemoteError", ("[Service thread] Accept failed", r"\[Service thread\] Accept failed"),
                  ("Could not receive type from localRank", "Could not receive type from localRank"),
                  ("[Service thread] Error encountered", r"\[Service thread\] Error encountered"),
                  ("[Proxy Progress] ", r"\[Proxy Progress\] .{0,80}(?:error|failed)")],
     'cause': "Another rank of NCCL or RCCL has ended or crashed, so the connection to it was closed; or the network "
              "between two nodes failed. This rank only tells of it.",
     'remedy': "Look for the first error of any rank, also a signal or memory (dmesg, sacct -j JOB -o "
               "state,exitcode,maxrss). If there is none: NCCL_DEBUG=INFO, NCCL_SOCKET_IFNAME=NAME of the interface "
               "that nodes share, NCCL_IB_DISABLE=1, and the same without one node (srun --exclude).",
     'source': "NCCL, src/misc/socket.cc; github.com/NVIDIA/nccl, issues 795 and 2076", 'evidence': 'derived',
     'last': True},
    {'name': "cards that differ between ranks of NCCL",
     'text': "NCCL WARN Detected mixed local Net device counts across ranks (min 1, max 4).",
     'patterns': [("Detected mixed local ", r"Detected mixed local (?P<what>\w{3,7}) device counts across ranks"),
                  ("Could not find NET with id ", r"Could not find NET with id \d+")],
     'cause': "Some ranks of NCCL see fewer cards of the network than others: a port of a node is down, a container "
              "does not show all, or NCCL_IB_HCA leads to different ones.",
     'remedy': "srun -l ibv_devinfo -l (ls /sys/class/infiniband) on all nodes tells which one differs; leave it out "
               "(--exclude). To go on: NCCL_IGNORE_NET_MISMATCH=1 or NCCL_IB_HCA=mlx5_0.",
     'source': "NCCL, src/init.cc", 'evidence': 'derived'},
    {'name': "ranks of NCCL that do not agree on their number",
     'text': "NCCL WARN Bootstrap Root : rank 0 of 2 ranks has already checked in",
     'unless': ["name of a node that NCCL cannot resolve"],
     'patterns': [("Bootstrap Root", r"Bootstrap Root ?: (?:mismatch|rank \d+ of \d+ ranks has already|localId)"),
                  ("Invalid NCCL_COMM_ID", "Invalid NCCL_COMM_ID"),
                  ("Invalid rank requested : ", r"Invalid rank requested : -?\d+/\d+")],
     'cause': "Two processes call themselves the same rank of NCCL, or name another number of ranks: each was started "
              "with the same RANK, or two jobs meet at the same address and port (MASTER_PORT, NCCL_COMM_ID).",
     'remedy': "srun env | grep -E '^(RANK|WORLD_SIZE|MASTER_|NCCL_COMM_ID)' should show each rank once (RANK from "
               "SLURM_PROCID, WORLD_SIZE from SLURM_NTASKS). Another MASTER_PORT for each job.",
     'source': "NCCL, src/bootstrap.cc and src/init.cc", 'evidence': 'derived'},
    {'name': "memory for NCCL not to be had",
     'text': "NCCL WARN Failed to CUDA calloc 4194304 bytes",
     'patterns': [("Failed to CUDA ", r"Failed to CUDA (?:host )?(?:calloc|malloc|alloc)\w* (?P<size>\d+)? ?bytes"),
                  ("Failed to ", r"NCCL WARN Failed to (?:malloc|calloc|alloc)\w* (?P<bytes>\d+)? ?bytes")],
     'unless': ["GPU driver too old", "CUDA newer than the driver"],
     'cause': "NCCL or RCCL got no memory on the GPU (or node) for its buffers: the program, or another process, has "
              "taken it all. Each communicator and channel needs some.",
     'remedy': "nvidia-smi (rocm-smi) shows who has it; leave 1 to 2 GB free (a smaller batch or message), fewer "
               "communicators, NCCL_BUFFSIZE=1048576 or NCCL_MAX_NCHANNELS=4.",
     'source': "NCCL, src/include/alloc.h", 'evidence': 'derived'},
    {'name': "NVLS of NCCL not usable",
     'text': "transport/nvls.cc:244 NCCL WARN Cuda failure 801 'operation not supported'",
     'patterns': [("nvls.cc", r"nvls\.cc:\d+ NCCL WARN"), ("NVLS", r"NCCL WARN [^\n]{0,80}NVLS[^\n]{0,80}(?:fail|not)"),
                  ("MNNVL", r"NCCL WARN [^\n]{0,60}MNNVL"),
                  ("cuMulticast", r"cuMulticast\w{1,30}\b[^\n]{0,80}(?:fail|error)"),
                  ("CU_MEM_HANDLE_TYPE_FABRIC", "(?:not supported|fail).{0,80}CU_MEM_HANDLE_TYPE_FABRIC")],
     'cause': "NCCL wanted to add up in the NVSwitch (NVLS), or to share memory between nodes of one NVLink (MNNVL), "
              "and driver, fabric manager or container do not let it.",
     'remedy': "NCCL_NVLS_ENABLE=0 (NCCL_MNNVL_ENABLE=0) goes without, and tells. Administrators: nvidia-fabricmanager "
               "of the driver's release must run (systemctl status nvidia-fabricmanager; nvidia-smi -q | grep -A2 "
               "Fabric); containers need /dev/nvidia-caps-imex-channels for MNNVL.",
     'source': "NCCL documentation, NCCL_NVLS_ENABLE; NCCL, src/transport/nvls.cc", 'evidence': 'derived'},
    {'name': "argument that NCCL does not take",
     'text': "NCCL WARN AllReduce : invalid data type 12",
     'patterns': [(": invalid ", r"NCCL WARN \w{2,40} ?: invalid (?P<what>[^\n]{1,60})"),
                  ("is not a valid pointer", r"NCCL WARN \w{2,40} ?: \w+ \S{1,40} is not a valid pointer"),
                  ("allocated on device", r"NCCL WARN \w{2,40} ?: \w+ allocated on device \d+ mismatchs? with"),
                  ("argument is NULL", r"NCCL WARN \w{2,40} ?: \w+ argument is NULL"),
                  ("comm argument ", r"comm argument .{0,60}(?:corrupted|NULL)")],
     'cause': "The program gave NCCL something that it does not take ({what}): memory of the host or of another GPU "
              "than the communicator's, or a type that this release does not know.",
     'remedy': "cudaSetDevice (hipSetDevice) of the rank's own GPU before memory and communicator are made: one rank, "
               "one GPU. A newer NCCL for new types (fp8, bf16). Else it is the program's fault.",
     'source': "NCCL, src/misc/argcheck.cc", 'evidence': 'derived'},
    {'name': "ranks of NCCL in different calls",
     'text': "NCCL WARN Your program may be hanging, this may be caused by a collective mismatch around rank 0.",
     'patterns': [("may be caused by a collective mismatch", "may be caused by a collective mismatch"),
                  ("Detected mismatch between collectives", "Detected mismatch between collectives on ranks"),
                  ("Mismatched collective detected", "Mismatched collective detected"),
                  ("is running collective: ", r"Rank \d+ is running collective: ")],
     'cause': "Ranks call different collectives, or with different sizes, so that each waits for ever: a fault of the "
              "program, or ranks read different data.",
     'remedy': "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=COLL shows each rank's calls; TORCH_DISTRIBUTED_DEBUG=DETAIL names "
               "the call that differs. See that all ranks have the same number of steps (data, branches).",
     'source': "NCCL, src/enqueue.cc; PyTorch, torch.distributed", 'evidence': 'derived'},
    {'name': "NCCL without GPUDirect RDMA",
     'text': "NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'",
     'patterns': [("GPU Direct RDMA Disabled", r"GPU Direct RDMA Disabled for HCA \d+ '(?P<card>[^'\n]{1,40})'")],
     'cause': "The card {card} cannot read the GPU's memory itself, and messages go through the memory of the node: "
              "the module nvidia_peermem (with AMD: amdgpu's peer memory) is not loaded, or GPU and card are too far "
              "apart.",
     'remedy': "It runs, more slowly. lsmod | grep peermem on the node; modprobe nvidia_peermem is the "
               "administrator's. NCCL_NET_GDR_LEVEL=SYS allows the long way; nvidia-smi topo -m shows it.",
     'source': "NCCL, src/transport/net_ib; NCCL documentation, NCCL_NET_GDR_LEVEL", 'evidence': 'derived',
     'last': True},
    {'name': "shared memory of NCCL that another rank does not find",
     'text': "NCCL WARN Error while attaching to shared memory segment /dev/shm/nccl-glnlGK (size 14156128), error: No "
             "such file or directory (2)",
     'patterns': [("Error while attaching to shared memory segment", "Error while attaching to shared memory segment")],
     'cause': "A rank looks in /dev/shm for what another one has made there, and it is gone or was never there: "
              "ranks of a node have a /dev/shm each (a container each), or the other rank has ended.",
     'remedy': "One container for all ranks of a node, or --ipc=host for each (Apptainer: no --contain). "
               "NCCL_SHM_DISABLE=1 goes without; NCCL_HOSTID=NAME, another in each container, says that they are "
               "apart.",
     'also': [("the other rank failed before", "look for the first NCCL WARN of any rank"),
              ("this release of NCCL is at fault", "the same with NCCL_CUMEM_HOST_ENABLE=0, or with 2.21")],
     'source': "NCCL, src/misc/shmutils.cc; github.com/NVIDIA/nccl, issue 1589", 'evidence': 'derived'},
    {'name': "address that NCCL cannot use",
     'text': "NCCL WARN Net : Socket creation failed : Address family not supported by protocol",
     'patterns': [("Socket creation failed", r"WARN (?:Net : )?Socket creation failed")],
     'cause': "The address by which ranks are to meet is empty or of IPv6 where this node has IPv4 alone: a node has "
              "no interface that NCCL takes, or they have different ones.",
     'remedy': "ip -brief addr on all nodes; NCCL_SOCKET_IFNAME=NAME of one that all have, NCCL_SOCKET_FAMILY=AF_INET. "
               "A newer NCCL takes lo on a node that has nothing else.",
     'source': "github.com/NVIDIA/nccl, issue 210", 'evidence': 'measured'},
    {'name': "file of NCCL's graph that does not fit",
     'text': "graph/search.cc:703 NCCL WARN XML Import Channel : dev 1 not found.",
     'patterns': [("XML Import Channel", r"XML Import Channel ?: (?:dev|GPU|NET) \S{1,20} not found")],
     'cause': "NCCL_GRAPH_FILE names a graph for another number of GPUs than this program uses. Images of clouds set "
              "it in /etc/nccl.conf.",
     'remedy': "unset NCCL_GRAPH_FILE, and take its line out of /etc/nccl.conf and ~/.nccl.conf (in a container too). "
               "NCCL_TOPO_FILE may stay.",
     'source': "github.com/NVIDIA/nccl, issue 1008; github.com/Azure/azhpc-images, issue 327", 'evidence': 'measured'},
    {'name': "rank of NCCL that takes no connection",
     'text': "NCCL INFO Call to connect returned Connection refused, retrying",
     'patterns': [("Call to connect returned ", r"INFO Call to connect returned [\w ]{1,40}, retrying")],
     'times': 3, 'general': 1, 'unless': ["NCCL reaches no other node"],
     'cause': "A rank tries again and again to reach another one, which does not listen any more: it has failed or "
              "ended, or the ranks do not mean the same run.",
     'remedy': "Look for the first error of any rank. Each rank its own GPU (CUDA_VISIBLE_DEVICES, LOCAL_RANK), the "
               "same MASTER_ADDR and number of ranks for all; NCCL_SOCKET_IFNAME=NAME of an interface that nodes "
               "share.",
     'source': "NCCL, src/misc/socket.cc; github.com/NVIDIA/nccl, issue 948", 'evidence': 'derived'},
    {'name': "more GPUs in one process than can be mapped",
     'text': "NCCL WARN Cuda failure 711 'peer mapping resources exhausted'",
     'patterns': ["peer mapping resources exhausted", "cudaErrorTooManyPeers", "CUDA_ERROR_TOO_MANY_PEERS"],
     'cause': "One process uses more than 8 or so GPUs, and a GPU can map the memory of no more peers within one "
              "process.",
     'remedy': "One process for each GPU: srun --ntasks-per-node=N (all_reduce_perf -g 1). For one process alone fewer "
               "GPUs, or NCCL_P2P_DISABLE=1 NCCL_CUMEM_ENABLE=0.",
     'source': "CUDA Runtime API, cudaErrorTooManyPeers; github.com/NVIDIA/nccl, issue 241", 'evidence': 'derived'},
    {'name': "program that ended while NCCL worked",
     'text': "NCCL WARN Cuda failure 'driver shutting down'",
     'patterns': [("driver shutting down", r"(?:Cuda|CUDA|HIP) failure (?:\d+ )?'?driver shutting down")],
     'cause': "The process was ending, by its own error or at its end, while threads of NCCL still used the GPU.",
     'remedy': "Look for an earlier error of this rank (a trace of Python, a signal). At the end of a program: "
               "dist.destroy_process_group(), ncclCommDestroy, and wait for all threads and streams before it exits.",
     'source': "CUDA Runtime API, cudaErrorCudartUnloading; github.com/NVIDIA/nccl, issue 1485", 'evidence': 'derived'},
    {'name': "NVLink that does not work",
     'text': "NCCL WARN P2P is disabled between NVLINK connected GPUs 1 and 0. This should not be the case ...",
     'patterns': [("P2P is disabled between NVLINK connected GPUs", "P2P is disabled between NVLINK connected GPUs")],
     'cause': "Two GPUs are connected by NVLink, and the driver does not let them read each other's memory: a link or "
              "GPU is broken, or nvidia-fabricmanager does not run.",
     'remedy': "nvidia-smi nvlink -s; nvidia-smi topo -p2p r; tell the administrators, and srun --exclude=NODE. To go "
               "on, slower: NCCL_IGNORE_DISABLED_P2P=1.",
     'source': "NCCL, src/graph/paths.cc", 'evidence': 'derived'},
    {'name': "name of a node that NCCL cannot resolve",
     'text': "NCCL WARN Net : error encountered when getting address info : Name or service not known",
     'patterns': [("error encountered when getting address", r"error encountered when getting address info ?: "
                   r"(?P<why>[\w ]{1,60})")],
     'cause': "The name of the node where ranks are to meet (NCCL_COMM_ID, MASTER_ADDR) has no address here ({why}): "
              "the node is gone or new, or the container has another list of names.",
     'remedy': "getent hosts NAME on each node and in the container; give the address instead of the name. Start the "
               "job again where a node was replaced.",
     'source': "NCCL, src/misc/socket.cc; github.com/aws-neuron/aws-neuron-parallelcluster-samples, pull request 13",
     'evidence': 'measured'},
    {'name': "plugin for EFA on a node without it",
     'text': "NCCL WARN NET/OFI Only EFA provider is supported",
     'patterns': ["NET/OFI Only EFA provider is supported"],
     'cause': "The image brings Amazon's plugin for the network EFA, and this node has no EFA; NCCL goes on over TCP.",
     'remedy': "Harmless on one node. Between nodes: an instance with EFA, and its device in the container (fi_info -p "
               "efa). NCCL_NET_PLUGIN=none leaves the plugin out.",
     'source': "github.com/aws/deep-learning-containers, issue 2675", 'evidence': 'measured', 'last': True},
]
