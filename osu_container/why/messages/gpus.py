"""GPUs, the benchmarks themselves, and NCCL and RCCL with their plugins."""

from typing import Any, Dict, List

GPUS: List[Dict[str, Any]] = [
    {
        'name': "osu-gpu-bind without a map",
        'patterns': ["OSU_GPU_MAP is not set"],
        'cause': "osu-gpu-bind learns from the module which GPU, cores and card belong together, "
        "and no module of a site with GPUs is loaded.",
        'remedy': "Load the module first; on nodes without GPUs leave osu-gpu-bind out.",
        'source': "scripts/osu-gpu-bind",
    },
    {
        'name': "osu-gpu-bind outside of srun",
        'patterns': ["SLURM_LOCALID is not set"],
        'cause': "Which GPU a rank gets depends on its number on the node, and srun gives that "
        "number.",
        'remedy': "Put osu-gpu-bind behind srun: srun -N2 -n2 osu-gpu-bind osu_bw D D.",
        'source': "scripts/osu-gpu-bind",
    },
    {
        'name': "part of the GPUs",
        'patterns': [
            (" of the node's ", r"the job has (?P<some>\d+) of the node's (?P<all>\d+) GPUs")
        ],
        'cause': "Slurm gave {some} of {all} GPUs, numbers them anew, and SLURM_STEP_GPUS does "
        "not list them.",
        'remedy': "Ask for whole nodes: --gpus-per-node={all}, and --exclusive in partitions that "
        "share nodes.",
        'source': "scripts/osu-gpu-bind",
    },
    {
        'name': "GPUs of another node",
        'patterns': [
            (
                ", and OSU_GPU_MAP knows",
                r"the step has the GPUs (?P<gpus>[\w ]{1,60}), and OSU_GPU_MAP knows",
            )
        ],
        'cause': "Slurm's numbers of the GPUs ({gpus}) are not those of the module's site.",
        'remedy': "Is the module for this system? osu-explain names its site. Else leave "
        "osu-gpu-bind out.",
        'source': "scripts/osu-gpu-bind",
    },
    {
        'name': "cores far from the GPU",
        'patterns': [
            (
                ", and the job has none of them",
                r"local rank \d+: belongs on the cores (?P<mask>\S+), and the job has none of them",
            )
        ],
        'cause': "The job has other cores of the node than those next to this rank's GPU ({mask}).",
        'remedy': "The program runs, slower. Ask for whole nodes: --exclusive.",
        'source': "scripts/osu-gpu-bind",
    },
    {
        'name': "unknown option of osu-gpu-bind",
        'patterns': [
            ("'; osu-gpu-bind --help", r"unknown option '(?P<option>[^'\n]*)'; osu-gpu-bind --help")
        ],
        'cause': "osu-gpu-bind has no option {option}; the first word that is no option is the "
        "command.",
        'remedy': "srun ... osu-gpu-bind osu_bw D D.",
        'source': "scripts/osu-gpu-bind",
    },
    {
        'name': "osu-explain without its data",
        'patterns': [("osu-explain: ", "osu-explain: (?:cannot read |.{0,300} does not set )")],
        'cause': "osu-explain reads a file beside the installation: it does not exist, or it does "
        "not name the variable that was asked for.",
        'remedy': "The message lists the variables that the module sets. If the file cannot be "
        "read: Install the module again: eb osu-container-APPROACH.eb -r --rebuild.",
        'source': "scripts/osu-explain",
    },
    {
        'name': "no GPU support",
        'patterns': [
            "asks for buffers in GPU memory",
            ("upport ", "(?:ROCm|ROCM|CUDA|OpenACC) [Ss]upport [Nn]ot [Ee]nabled"),
        ],
        'cause': "Buffers in GPU memory (D) were asked of programs that know host memory only.",
        'remedy': "osu_bw H H; or an image or installation with the C programs built for the GPU.",
        'source': "scripts/osu-port; OSU Micro-Benchmarks, c/util/osu_util_options.c",
    },
    {
        'name': "no GPU for the ports",
        'patterns': [
            ("wants GPU memory: ", r"wants GPU memory: \S{1,60} finds no GPU"),
            (" gives error 100 (", r"wants GPU memory: \w{1,60} of \S{1,60} gives error 100 \("),
            (
                " is not found. Runtime: none",
                r"wants GPU memory: [^\n]{1,200} is not found\. Runtime: none",
            ),
        ],
        'cause': "Buffers in GPU memory (D) were asked for where no GPU, no driver or no GPU "
        "library is to be seen, or where a variable hides the GPU.",
        'remedy': "The message names runtime, driver and device files. Ask the job for GPUs, "
        "bring the driver into the container ({--nv|--rocm}: the modules do it), unset a wrong "
        "{CUDA_VISIBLE_DEVICES|ROCR_VISIBLE_DEVICES or HIP_VISIBLE_DEVICES}; or osu_bw H H.",
        'source': "scripts/osu-port",
    },
    {
        'name': "GPU driver too old",
        'patterns': ["The driver is older than the runtime"],
        'cause': "The GPU runtime of the image or module is too new for the driver of this "
        "machine.",
        'remedy': "Take an image or a module with an older {CUDA|ROCm}; the message names both "
        "versions.",
        'source': "scripts/osu-port; docs.nvidia.com, CUDA Compatibility",
    },
    {
        'name': "MPI without GPU support",
        'patterns': ["wants GPU memory, and this MPI does not take it"],
        'cause': "The MPI was built without support for this GPU, or the support is not switched "
        "on.",
        'remedy': "Intel MPI: export I_MPI_OFFLOAD=1. Cray MPICH: export "
        "MPICH_GPU_SUPPORT_ENABLED=1. Others: an image or a module whose MPI is built with ROCm "
        "or CUDA; osu_bw H H works.",
        'source': "scripts/osu-port; MPIX_Query_cuda_support of MPICH, Open MPI and Intel MPI",
    },
    {
        'name': "fewer GPUs than ranks",
        'patterns': [": fewer GPUs than ranks: on"],
        'cause': "Several ranks of a node have the same GPU.",
        'remedy': "Ask for as many GPUs as ranks (srun --gpus-per-node=8 osu-gpu-bind), or osu_bw "
        "-s D D.",
        'source': "scripts/osu-port",
    },
    {
        'name': "not enough GPU memory",
        'patterns': ["bytes of GPU memory cannot be had"],
        'cause': "The GPU has less memory free than the buffers need.",
        'remedy': "Smaller messages (-m), or a GPU that nobody else uses.",
        'source': "scripts/osu-port",
    },
    {
        'name': "wrong data",
        'patterns': ["the data that arrived is wrong at"],
        'cause': "With -c the benchmark compares what arrived: these sizes had other bytes than "
        "were sent.",
        'remedy': "Do not trust this MPI, driver or card: repeat it with H H and with another "
        "provider, and report it.",
        'source': "scripts/osu-port",
    },
    {
        'name': "wrong arguments",
        'patterns': [
            (": error: unrecognized arguments", r"osu_\w{1,40}: error: unrecognized arguments"),
            "unknown buffer place",
            ("-m: the port of ", r"-m: the port of \w+ starts at"),
            (" sends no messages", r"-m: \w+ sends no messages"),
            "buffer place(s) given",
            ("is not a whole number of", r"\bosu_\w{1,40}: [^\n]{0,200}is not a whole number of"),
            (
                "is a collective, whose ranks all have",
                r"\bosu_\w{1,40}: [^\n]{0,200} is a collective, whose ranks all have",
            ),
            (" has no buffers", r"osu_\w{1,40} has no buffers"),
            (" sends no data", r"-c: osu_\w{1,40} sends no data"),
            (
                "argument -d/--accelerator: invalid choice",
                r"\bosu_\w{1,40}: [^\n]{0,200}argument -d/--accelerator: invalid choice",
            ),
            ("is larger than MAX", r"\bosu_\w{1,40}: [^\n]{0,200}MIN \d+ is larger than MAX"),
        ],
        'cause': "The port of the benchmark does not know these arguments; it has fewer than the "
        "C program.",
        'remedy': "osu_bw --help lists them: osu_bw -m MAX -i ITERATIONS -x WARMUP H H.",
        'source': "scripts/osu-port",
    },
    {
        'name': "buffers of a Python benchmark",
        'patterns': [
            (" numpy or ", r": give \S{1,40} numpy or \S{1,40} cupy"),
            "asks for two kinds of buffers: give one",
            (
                ": give H H (NumPy) or D D (CuPy",
                r"buffers [^\n]{1,100}: give H H \(NumPy\) or D D \(CuPy",
            ),
        ],
        'cause': "The Python benchmarks have both buffers in arrays of one library, NumPy's or "
        "CuPy's.",
        'remedy': "osu_py_bw --buffer numpy or osu_bw H H; osu_py_bw --buffer cupy or osu_bw D D "
        "in an image with CuPy.",
        'source': "container-recipes/mpi4py/osu-python",
    },
    {
        'name': "port not installed rightly",
        'patterns': [
            "no port of that name in",
            ("installation is incomplete", "no mpi4py in .{0,300}installation is incomplete"),
            ("the mpi4py in ", "the mpi4py in .{0,300} is for"),
        ],
        'cause': "mpi4py's ports of the benchmarks are incomplete, or the system's Python was "
        "updated since.",
        'remedy': "eb osu-native.eb -r --rebuild, and for a container build the image again.",
        'source': "scripts/osu-port",
    },
    {
        'name': "CUDA newer than the driver",
        'patterns': [
            "CUDA driver version is insufficient",
            (
                "unsupported CUDA version: driver ",
                r"unsupported CUDA version: driver \S{1,10} < image \S{1,10}",
            ),
            "cudaErrorInsufficientDriver",
            "NVIDIA driver on your system is too old",
        ],
        'cause': "The program's CUDA is newer than the driver that it sees; in a container "
        "without --nv it sees none.",
        'remedy': "singularity exec --nv, apptainer exec --nv (export "
        "MPI_CONTAINER_OPTIONS=--nv). Else an image with an older CUDA: nvidia-smi shows what the "
        "driver takes.",
        'source': "github.com/rickstaa/panda-autograsp, issue 150; NVIDIA, CUDA Compatibility",
    },
    {
        'name': "no GPU seen",
        'patterns': [
            (
                "-capable device is ",
                "(?i:no) (?:CUDA|cuda|ROCm)-capable device is (?:detected|found)",
            ),
            (
                "Unable to open /dev/kfd",
                "Unable to open /dev/kfd(?: read-write: (?P<why>.{1,60}))?",
            ),
        ],
        'cause': "The program sees no GPU: the step has none, the container does not show it, or "
        "you may not open it. {why}",
        'remedy': "srun --gpus-per-node=8 (or --gpus=1). In the container: {--nv|--rocm, or with "
        "--containall --bind=/dev/kfd,/dev/dri}.",
        'source': "github.com/ROCm/ROCm, issue 1798; docs.sylabs.io, SingularityCE, GPU support",
        'also': [
            (
                "the job has none",
                "srun bash -c 'echo $SLURM_GPUS_ON_NODE; env | grep VISIBLE_DEVICES'",
            ),
            ("you may not open it", "srun ls -l {/dev/nvidia0|/dev/kfd}"),
        ],
    },
    {
        'name': "code for another GPU",
        'patterns': [
            "hipErrorNoBinaryForGpu",
            "invalid device function",
            "no kernel image is available for execution on the device",
        ],
        'cause': "The program was compiled for other GPUs than the one of this node.",
        'remedy': "Build it for this one ({nvidia-smi|rocminfo, grep gfx} names it): {sm_80 is "
        "A100, sm_90 H100 and GH200|gfx90a is MI250X (LUMI-G, Frontier), gfx942 MI300A}.",
        'source': "HIP, documentation, hipError_t; github.com/ROCm/MIVisionX, issue 778",
        'also': [
            (
                "it is a library in the image",
                "{cuobjdump --list-elf FILE|AMD_LOG_LEVEL=1 PROGRAM} tells",
            )
        ],
    },
    {
        'name': "GPU memory access fault",
        'patterns': ["Memory access fault by GPU node-"],
        'cause': "A kernel or MPI has touched an address that is not the GPU's: a fault of the "
        "program, or MPI handles GPU buffers and does not know them (two ROCm releases in one "
        "process, memory that was freed).",
        'remedy': "osu_bw H H, then D D: where D D alone fails it is MPI. See that image and host "
        "have ROCm of one release (osu-explain), and try FI_MR_CACHE_MONITOR=memhooks or "
        "MPICH_GPU_SUPPORT_ENABLED=0.",
        'source': "ROCR-Runtime; github.com/ComputationalRadiationPhysics/picongpu, pull request "
        "5462",
        'also': [
            (
                "it is the program itself",
                "AMD_SERIALIZE_KERNEL=3 HSA_ENABLE_SDMA=0 PROGRAM on one GPU",
            )
        ],
    },
    {
        'name': "GPU of AMD not to be used",
        'patterns': [
            "HSA_STATUS_ERROR_OUT_OF_RESOURCES",
            "Call returned 4104",
            (
                "fail",
                r"(?i:hsa)(?:_init| runtime)\b[^\n]{0,30}fail\w{0,60}\W{1,4}(?:0x)?(?:1008|4104)\b",
            ),
            "open /dev/kfd: permission denied",
        ],
        'cause': "ROCm cannot take a GPU into use: you may not open /dev/kfd and "
        "/dev/dri/renderD* (groups render and video), the container does not show them, or this "
        "GPU is not supported.",
        'remedy': "srun ls -l /dev/kfd /dev/dri; groups must name those of the files. In a "
        "container --rocm, or --bind=/dev/kfd,/dev/dri. If it works as root only, it is the "
        "groups.",
        'source': "github.com/ROCm/legacy-rocm-build, issues 1070 and 1758",
        'also': [
            (
                "the driver is older than this ROCm, or the GPU is not supported",
                "dmesg | grep -i -E 'kfd|amdgpu'",
            )
        ],
        'unless': ["memory of the GPU used up"],
    },
    {
        'name': "GPUs fewer than asked for",
        'patterns': [
            ("invalid device ordinal", r"(?:CUDA|HIP|cuda|hip)[^\n]{0,120}invalid device ordinal"),
            ("ErrorInvalidDevice", r"(?:hip|cuda)ErrorInvalidDevice\b"),
            "CUDA_ERROR_INVALID_DEVICE",
        ],
        'cause': "The program chose a GPU by a number that does not exist: it sees fewer GPUs "
        "than it has ranks on the node, often one, because Slurm gives each rank its own.",
        'remedy': "srun --gpus-per-node=8 without --gpus-per-task and --gpu-bind, or let the "
        "program take GPU 0 in each rank. echo ${CUDA_VISIBLE_DEVICES|ROCR_VISIBLE_DEVICES} in "
        "the rank shows what it sees{|. Docker, podman: all of /dev/dri; groups render and video}.",
        'source': "CUDA Runtime API, cudaError; HIP, hipError_t; github.com/ROCm/rccl-tests, "
        "issue 16; github.com/ROCm/hip, issue 337",
    },
    {
        'name': "no GPU that the program may use",
        'patterns': [
            (
                "No HIP ",
                "No HIP (?:GPUs?|devices?) (?:are|is|were|was)? "
                "?(?:available|found|detected|visible)",
            ),
            "Found no NVIDIA driver on your system",
            "there are 0 visible CUDA devices",
            "No visible GPU devices",
            ("No devices were found", "(?:^|nvidia-smi: )No devices were found"),
            "Could not find cuda drivers on your machine",
        ],
        'cause': "The program sees no GPU that it may use: the step has none, the container does "
        "not show it, you may not open its files, or the library was built without GPUs.",
        'remedy': "srun --gpus-per-node=8; {--nv|--rocm} for the container{|; groups must have "
        "those of ls -l /dev/kfd /dev/dri/renderD* (render, video; podman: --group-add "
        "keep-groups --device /dev/kfd --device /dev/dri)}. env, grep VISIBLE_DEVICES, and unset "
        "a wrong one.",
        'source': "github.com/vllm-project/vllm, issues 7207 and 34573; "
        "github.com/ROCm/ROCm-docker, issue 112",
        'also': [
            ("the job has none", "srun bash -c 'echo $SLURM_GPUS_ON_NODE'"),
            (
                "the package is the one for CPUs alone",
                "python -c 'import torch; print(torch.version.{cuda|hip})'",
            ),
        ],
        'unless': [
            "no GPU for the ports",
            "no GPU seen",
            "no driver of NVIDIA detected",
            "driver of NVIDIA not in the container",
        ],
    },
    {
        'name': "GPU not usable after an update or an error",
        'patterns': [
            (
                "CUDA_ERROR_",
                "CUDA_ERROR_(?:SYSTEM_NOT_READY|SystemNotReady|UNKNOWN|Unknown|SYSTEM_DRIVER_MISMATCH"
                r"|SystemDriverMismatch|NOT_INITIALIZED|InitializationError)\b",
            ),
            (
                "system ",
                "system (?:not yet initialized|has unsupported display driver|driver mismatch)",
            ),
            (
                "failed to initialize CUDA: ",
                "failed to initialize CUDA: (?:unknown|initialization) error",
            ),
            ("ystem has unsupported display driver", "[Ss]ystem has unsupported display driver"),
            (" returned ", r"cuda\w{1,40} returned (?:3|80[234]|999)\b"),
        ],
        'cause': "The driver cannot bring the GPU into use: the fabric manager of NVSwitch nodes "
        "does not run, driver and its libraries are of two releases (a container with a libcuda "
        "of its own), or the GPU has failed.",
        'remedy': "nvidia-smi on the node outside of the container; systemctl status "
        "nvidia-fabricmanager, nvidia-modprobe -u (or modprobe nvidia_uvm: 'unknown error' where "
        "/dev/nvidia-uvm is missing) (administrators). In the container: ldconfig -p | grep "
        "libcuda: the one of the host alone; take /usr/local/cuda/compat off LD_LIBRARY_PATH. "
        "srun --exclude=NODE.",
        'source': "CUDA Runtime API, cudaError; HIP, hipError_t; NVIDIA, Fabric Manager user "
        "guide; github.com/NVIDIA/libnvidia-container, issue 48",
        'also': [
            (
                "the GPU was used before the process was forked",
                "the same with multiprocessing set to spawn",
            )
        ],
    },
    {
        'name': "GPU taken by another process",
        'patterns': [
            "all CUDA-capable devices are busy",
            ("device(s) is/are busy or unavailable", r"device\(s\) is/are busy or unavailable"),
            ("Return value 46 from 'cuda", r"Return value 46 from 'cuda\w+"),
        ],
        'cause': "The GPU lets one process at a time in (compute mode EXCLUSIVE_PROCESS) and "
        "another process uses it, such as a second rank; or the GPU has failed.",
        'remedy': "One rank a GPU; MPS (nvidia-cuda-mps-control -d, started on the node, with the "
        "same CUDA_MPS_PIPE_DIRECTORY in the container, bound) for more; nvidia-smi -q -d COMPUTE "
        "shows the mode, nvidia-smi who is on it.",
        'source': "CUDA Runtime API, cudaError; HIP, hipError_t",
    },
    {
        'name': "GPU lost",
        'patterns': [
            ("uncorrectable ", "uncorrectable (?:ECC|NVLink|hardware) ?error"),
            "ueue preemption time out",
        ],
        'cause': "The GPU has failed (memory, bus, NVLink) or was reset by its driver.",
        'remedy': "srun --exclude=NODE, and tell the administrators with the line of dmesg (Xid "
        "number). If it comes on every node it is the program that hangs the GPU.",
        'source': "NVIDIA, Xid errors; Linux, amdgpu",
    },
    {
        'name': "GPU of another kind than the library was built for",
        'patterns': [
            ("TensileLibrary", r"TensileLibrary[^\n]{0,100}(?:No such|Cannot|not|Illegal)"),
            "nvrtc: error: invalid value for --gpu-architecture",
        ],
        'cause': "The program or library has no code for this GPU.",
        'remedy': "An image built for this GPU: {sm_80 is A100, sm_90 H100 and GH200; "
        "nvidia-smi|gfx90a is MI250X, gfx942 MI300A; rocminfo. GPUs that ROCm does not list: "
        "HSA_OVERRIDE_GFX_VERSION=10.3.0 as a try}.",
        'source': "github.com/ollama/ollama, issue 2870; CUDA driver API",
        'unless': ["code for another GPU"],
    },
    {
        'name': "driver of NVIDIA updated while it ran",
        'patterns': [("river/library version mismatch", "[Dd]river/library version mismatch")],
        'cause': "The driver in the kernel and its libraries are of two releases: the driver's "
        "packages were updated and the node was not started again, or the image brings a "
        "libnvidia-ml or libcuda of its own.",
        'remedy': "Outside of the container nvidia-smi, cat /proc/driver/nvidia/version. If it "
        "fails there too: restart the node, or rmmod nvidia_uvm nvidia_drm nvidia_modeset nvidia; "
        "modprobe nvidia (administrators); srun --exclude=NODE. If it fails inside only: remove "
        "libnvidia-* and libcuda from the image.",
        'source': "github.com/NVIDIA/nvidia-container-toolkit, issues 171 and 394; "
        "github.com/lyulyul/shine-cluster, issue 30",
    },
    {
        'name': "GPUs lost by the container",
        'patterns': [
            "Failed to initialize NVML: Unknown Error",
            ("nsufficient ", "nvml(?: error)?: [Ii]nsufficient [Pp]ermissions"),
        ],
        'cause': "The container, or the step of Slurm, may not use the GPUs' files any more or at "
        "all: a cgroup forbids it (systemctl daemon-reload takes them away from Docker's "
        "containers), or the job has no GPU.",
        'remedy': "In a job: ask for GPUs (--gpus-per-node). Docker: start the container again, "
        "with --device /dev/nvidia0 --device /dev/nvidiactl --device /dev/nvidia-uvm, or cgroupfs "
        "as its driver of cgroups; rootless: no-cgroups = true in "
        "nvidia-container-runtime/config.toml.",
        'source': "github.com/NVIDIA/nvidia-container-toolkit, issue 48; docs.nvidia.com, "
        "Container Toolkit, Troubleshooting",
    },
    {
        'name': "memory of the GPU used up",
        'patterns': [
            (" out of memory", r"(?:CUDA|HIP)(?: error)?(?: \(\d+\))?:? out of memory"),
            (
                "OutOfMemoryError: ",
                r"OutOfMemoryError: (?:CUDA|HIP|Out of memory allocating [\d,]+ bytes \(alloc)",
            ),
            (
                "failed to allocate ",
                r"failed to allocate [\d.]+[KMGT]i?B? (?:\(\d+ bytes\) )?from device: ",
            ),
        ],
        'cause': "The memory of the GPU is used up, not that of the node: by this program, by "
        "another rank on the same GPU, or by a process that an earlier run has left there.",
        'remedy': "{nvidia-smi|rocm-smi} in the same step shows which process uses it. One rank a "
        "GPU; a smaller problem, batch or message size (-m); more GPUs. PyTorch: "
        "{PYTORCH_CUDA_ALLOC_CONF|PYTORCH_HIP_ALLOC_CONF}=expandable_segments:True against "
        "fragments; JAX: XLA_PYTHON_CLIENT_PREALLOCATE=false. --mem of Slurm does not help.",
        'source': "CUDA Runtime API, cudaError; pytorch.org, CUDA semantics, Memory management",
        'unless': ["not enough GPU memory", "NCCL stopped"],
    },
]

NCCL: List[Dict[str, Any]] = [
    {
        'name': "error of CUDA within NCCL",
        'patterns': [
            (
                " failure ",
                r"(?:NCCL WARN|WARN) (?:Cuda|CUDA|HIP|hip) failure (?:\d+ )?:? ?'?(?P<why>[^'\n]{1,80})",
            ),
            ("Cuda failure '", r"Cuda failure '(?P<why>[^'\n]{1,60})'"),
        ],
        'cause': "A call of the GPU's runtime within {NCCL|RCCL} failed: {why}",
        'remedy': "'out of memory': leave some GPU memory free, another process may have the GPU "
        "({nvidia-smi|rocm-smi}). 'invalid device', 'no device': fewer GPUs than ranks, or the "
        "container shows none. 'peer access', 'mapping', 'invalid argument' of IPC: "
        "NCCL_P2P_DISABLE=1, or ranks that see other GPUs. Else driver and {CUDA|ROCm} do not fit.",
        'source': "NCCL, src/include/checks.h; NCCL documentation, Troubleshooting",
        'general': True,
        'unless': [
            "CUDA newer than the driver",
            "NVLS of NCCL not usable",
            "no GPU seen",
            "GPU memory not shared between ranks",
            "out of memory",
            "code for another GPU",
            "GPUs fewer than asked for",
        ],
    },
    {
        'name': "NCCL found no InfiniBand",
        'patterns': ["Failed to open libibverbs.so"],
        'cause': "{NCCL|RCCL} sees no InfiniBand card and uses TCP. On Slingshot (LUMI, Alps) "
        "that is so, and the plugin for libfabric takes its place.",
        'remedy': "If the node has one: ls /dev/infiniband in the container, and libibverbs "
        "(rdma-core) in the image.",
        'source': "NCCL, source code",
        'last': True,
    },
    {
        'name': "topology that NCCL cannot read",
        'patterns': [
            (
                "ould not find real path of ",
                r"NCCL WARN[^\n]{0,20} [Cc]ould not find real path of (?P<path>\S{1,150})",
            ),
            (
                "ailed to find reverse path from remNode",
                "[Ff]ailed to find reverse path from remNode",
            ),
            ("NCCL WARN Attribute ", r"NCCL WARN Attribute (?:\w+) of node \w+ not found"),
        ],
        'cause': "NCCL reads from /sys and the driver how GPUs and cards are connected, and does "
        "not see it all in this container or virtual machine ({path}).",
        'remedy': "--nv (Docker: --gpus all), and /sys not hidden. nvidia-smi topo -m shows a "
        "link that is missing. NCCL_TOPO_FILE names a file of the cloud's provider (unset it, or "
        "a newer aws-ofi-nccl, where an attribute is not found); NCCL_P2P_LEVEL and "
        "NCCL_NET_GDR_LEVEL can be set by hand.",
        'source': "NCCL, src/graph/xml.cc",
        'general': True,
    },
    {
        'name': "rank of NCCL at the other end has gone",
        'patterns': [
            (
                "onnection closed by remote peer",
                r"(?:NCCL WARN[^\n]{0,60}|socket\w{1,60}: )[Cc]onnection closed by remote peer",
            ),
            (
                "Call to ",
                r"(?:NCCL WARN|socket\w{1,60}:)[^\n]{0,40} Call to (?:recv from|send to|read|write|recv|send) "
                r"?\S{0,100} ?(?:failed|returned)",
            ),
            ("] Failed to execute operation", r"\[Proxy Service \d+\] Failed to execute operation"),
            "remote process exited or there was a network error",
            "ncclRemoteError",
        ],
        'cause': "Another rank of {NCCL|RCCL} has ended or crashed, so the connection to it was "
        "closed; or the network between two nodes failed. This rank only reports it.",
        'remedy': "Look for the first error of any rank, also a signal or memory (dmesg, sacct -j "
        "JOB -o state,exitcode,maxrss). If there is none: NCCL_DEBUG=INFO, "
        "NCCL_SOCKET_IFNAME=NAME of the interface that nodes share, NCCL_IB_DISABLE=1, and the "
        "same without one node (srun --exclude).",
        'source': "NCCL, src/misc/socket.cc; github.com/NVIDIA/nccl, issues 795 and 2076",
        'last': True,
    },
    {
        'name': "NVLS of NCCL not usable",
        'patterns': [(" NCCL WARN", r"nvls\.cc:\d+ NCCL WARN")],
        'cause': "NCCL wanted to add up in the NVSwitch (NVLS), or to share memory between nodes "
        "of one NVLink (MNNVL), and driver, fabric manager or container do not let it.",
        'remedy': "NCCL_NVLS_ENABLE=0 (NCCL_MNNVL_ENABLE=0) avoids it and shows whether this is "
        "the cause. Administrators: nvidia-fabricmanager of the driver's release must run "
        "(systemctl status nvidia-fabricmanager; nvidia-smi -q | grep -A2 Fabric); containers "
        "need /dev/nvidia-caps-imex-channels for MNNVL.",
        'source': "NCCL documentation, NCCL_NVLS_ENABLE; NCCL, src/transport/nvls.cc",
    },
    {
        'name': "ranks of NCCL in different calls",
        'patterns': ["may be caused by a collective mismatch", "Mismatched collective detected"],
        'cause': "Ranks call different collectives, or with different sizes, so that each waits "
        "forever: a fault of the program, or ranks read different data.",
        'remedy': "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=COLL shows each rank's calls; "
        "TORCH_DISTRIBUTED_DEBUG=DETAIL names the call that differs. See that all ranks have the "
        "same number of steps (data, branches).",
        'source': "NCCL, src/enqueue.cc; PyTorch, torch.distributed",
    },
]
