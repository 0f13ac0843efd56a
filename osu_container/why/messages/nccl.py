"""NCCL, RCCL and their plugins."""

ENTRIES = [
    {'name': "error of CUDA within NCCL",
     'patterns': [(" failure ",
                   r"(?:NCCL WARN|WARN) (?:Cuda|CUDA|HIP|hip) failure (?:\d+ )?:? ?'?(?P<why>[^'\n]{1,80})"),
                  ("Cuda failure '", r"Cuda failure '(?P<why>[^'\n]{1,60})'")],
     'cause': "A call of the GPU's runtime within NCCL or RCCL failed: {why}",
     'remedy': "'out of memory': leave some GPU memory free, another process may have the GPU (nvidia-smi, "
               "rocm-smi). 'invalid device', 'no device': fewer GPUs than ranks, or the container shows none. 'peer "
               "access', 'mapping', 'invalid argument' of IPC: NCCL_P2P_DISABLE=1, or ranks that see other GPUs. "
               "Else driver and CUDA or ROCm do not fit.",
     'source': "NCCL, src/include/checks.h; NCCL documentation, Troubleshooting",
     'unless': ["CUDA newer than the driver", "more GPUs in one process than can be mapped",
                "NVLS of NCCL not usable", "no GPU seen", "GPU memory not shared between ranks", "out of memory",
                "code for another GPU", "GPUs fewer than asked for"],
     'general': True},
    {'name': "NCCL found no InfiniBand",
     'patterns': ["Failed to open libibverbs.so"],
     'cause': "NCCL sees no InfiniBand card and uses TCP. On Slingshot (LUMI, Alps) that is so, and the plugin for "
              "libfabric takes its place.",
     'remedy': "If the node has one: ls /dev/infiniband in the container, and libibverbs (rdma-core) in the image.",
     'source': "NCCL, source code", 'last': True},
    {'name': "topology that NCCL cannot read",
     'patterns': [("ould not find real path of ", r"[Cc]ould not find real path of (?P<path>\S{1,150})"),
                  ("ailed to find reverse path from remNode", "[Ff]ailed to find reverse path from remNode"),
                  ("ould not find a path for pattern ", r"[Cc]ould not find a path for pattern \d+"),
                  ("NCCL WARN Attribute ", r"NCCL WARN Attribute (?:\w+) of node \w+ not found")],
     'cause': "NCCL reads from /sys and the driver how GPUs and cards are connected, and does not see it all in "
              "this container or virtual machine ({path}).",
     'remedy': "--nv (Docker: --gpus all), and /sys not hidden. nvidia-smi topo -m shows a link that is missing. "
               "NCCL_TOPO_FILE names a file of the cloud's provider (unset it, or a newer aws-ofi-nccl, where an "
               "attribute is not found); NCCL_P2P_LEVEL and NCCL_NET_GDR_LEVEL can be set by hand.",
     'source': "NCCL, src/graph/xml.cc", 'general': True},
    {'name': "rank of NCCL at the other end has gone",
     'patterns': [("onnection closed by remote peer", "[Cc]onnection closed by remote peer"),
                  ("Call to ",
                   r"Call to (?:recv from|send to|read|write|recv|send) ?\S{0,100} ?(?:failed|returned)"),
                  "Socket recv failed while polling for",
                  ("] Failed to execute operation", r"\[Proxy Service \d+\] Failed to execute operation"),
                  "remote process exited or there was a network error", "ncclRemoteError"],
     'cause': "Another rank of NCCL or RCCL has ended or crashed, so the connection to it was closed; or the "
              "network between two nodes failed. This rank only tells of it.",
     'remedy': "Look for the first error of any rank, also a signal or memory (dmesg, sacct -j JOB -o "
               "state,exitcode,maxrss). If there is none: NCCL_DEBUG=INFO, NCCL_SOCKET_IFNAME=NAME of the interface "
               "that nodes share, NCCL_IB_DISABLE=1, and the same without one node (srun --exclude).",
     'source': "NCCL, src/misc/socket.cc; github.com/NVIDIA/nccl, issues 795 and 2076", 'last': True},
    {'name': "NVLS of NCCL not usable",
     'patterns': [(" NCCL WARN", r"nvls\.cc:\d+ NCCL WARN")],
     'cause': "NCCL wanted to add up in the NVSwitch (NVLS), or to share memory between nodes of one NVLink "
              "(MNNVL), and driver, fabric manager or container do not let it.",
     'remedy': "NCCL_NVLS_ENABLE=0 (NCCL_MNNVL_ENABLE=0) goes without, and tells. Administrators: "
               "nvidia-fabricmanager of the driver's release must run (systemctl status nvidia-fabricmanager; "
               "nvidia-smi -q | grep -A2 Fabric); containers need /dev/nvidia-caps-imex-channels for MNNVL.",
     'source': "NCCL documentation, NCCL_NVLS_ENABLE; NCCL, src/transport/nvls.cc"},
    {'name': "ranks of NCCL in different calls",
     'patterns': ["may be caused by a collective mismatch", "Mismatched collective detected"],
     'cause': "Ranks call different collectives, or with different sizes, so that each waits for ever: a fault of "
              "the program, or ranks read different data.",
     'remedy': "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=COLL shows each rank's calls; TORCH_DISTRIBUTED_DEBUG=DETAIL "
               "names the call that differs. See that all ranks have the same number of steps (data, branches).",
     'source': "NCCL, src/enqueue.cc; PyTorch, torch.distributed"},
    {'name': "address that NCCL cannot use",
     'patterns': [("Socket creation failed", "WARN (?:Net : )?Socket creation failed")],
     'cause': "The address by which ranks are to meet is empty or of IPv6 where this node has IPv4 alone: a node "
              "has no interface that NCCL takes, or they have different ones.",
     'remedy': "ip -brief addr on all nodes; NCCL_SOCKET_IFNAME=NAME of one that all have, "
               "NCCL_SOCKET_FAMILY=AF_INET. A newer NCCL takes lo on a node that has nothing else.",
     'source': "github.com/NVIDIA/nccl, issue 210"},
    {'name': "file of NCCL's graph that does not fit",
     'patterns': [("XML Import Channel", r"XML Import Channel ?: (?:dev|GPU|NET) \S{1,20} not found")],
     'cause': "NCCL_GRAPH_FILE names a graph for another number of GPUs than this program uses. Images of clouds "
              "set it in /etc/nccl.conf.",
     'remedy': "unset NCCL_GRAPH_FILE, and take its line out of /etc/nccl.conf and ~/.nccl.conf (in a container "
               "too). NCCL_TOPO_FILE may stay.",
     'source': "github.com/NVIDIA/nccl, issue 1008; github.com/Azure/azhpc-images, issue 327"},
    {'name': "more GPUs in one process than can be mapped",
     'patterns': ["peer mapping resources exhausted"],
     'cause': "One process uses more than 8 or so GPUs, and a GPU can map the memory of no more peers within one "
              "process.",
     'remedy': "One process for each GPU: srun --ntasks-per-node=N (all_reduce_perf -g 1). For one process alone "
               "fewer GPUs, or NCCL_P2P_DISABLE=1 NCCL_CUMEM_ENABLE=0.",
     'source': "CUDA Runtime API, cudaErrorTooManyPeers; github.com/NVIDIA/nccl, issue 241"},
    {'name': "name of a node that NCCL cannot resolve",
     'patterns': [("error encountered when getting address info",
                   r"error encountered when getting address info ?: (?P<why>[\w ]{1,60})")],
     'cause': "The name of the node where ranks are to meet (NCCL_COMM_ID, MASTER_ADDR) has no address here "
              "({why}): the node is gone or new, or the container has another list of names.",
     'remedy': "getent hosts NAME on each node and in the container; give the address instead of the name. Start "
               "the job again where a node was replaced.",
     'source': "NCCL, src/misc/socket.cc; github.com/aws-neuron/aws-neuron-parallelcluster-samples, pull request 13"},
    {'name': "plugin for EFA on a node without it",
     'patterns': ["NET/OFI Only EFA provider is supported"],
     'cause': "The image brings Amazon's plugin for the network EFA, and this node has no EFA; NCCL goes on over "
              "TCP.",
     'remedy': "Harmless on one node. Between nodes: an instance with EFA, and its device in the container (fi_info "
               "-p efa). NCCL_NET_PLUGIN=none leaves the plugin out.",
     'source': "github.com/aws/deep-learning-containers, issue 2675", 'last': True},
]
