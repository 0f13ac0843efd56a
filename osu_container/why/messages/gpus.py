"""Define causes and remedies of error messages about GPUs (CUDA, ROCm, NCCL and RCCL)."""

from typing import Any, Dict, List

GPUS: List[Dict[str, Any]] = [
    {
        'name': "osu-gpu-bind has no map of GPUs and cores",
        'patterns': ["OSU_GPU_MAP is not set"],
        'cause': "osu-gpu-bind reads from the loaded module which GPU, cores and network card "
        "are close to each other. No osu-container module for a system with GPUs is loaded.",
        'remedy': "Load an osu-container module first, for example `module load "
        "osu-container/hybrid`. On nodes without GPUs, start the program without osu-gpu-bind.",
        'source': "scripts/osu-gpu-bind",
    },
    {
        'name': "osu-gpu-bind was started without srun",
        'patterns': ["SLURM_LOCALID is not set"],
        'cause': "osu-gpu-bind chooses the GPU by the rank's number on the node (the variable "
        "SLURM_LOCALID), and only srun sets this variable.",
        'remedy': "Start osu-gpu-bind with srun: `srun -N2 -n2 osu-gpu-bind osu_bw D D`.",
        'source': "scripts/osu-gpu-bind",
    },
    {
        'name': "the job has only a part of the node's GPUs",
        'patterns': [r"the job has (?P<some>\d+) of the node's (?P<all>\d+) GPUs"],
        'cause': "The job has only {some} of the node's {all} GPUs. Slurm gives these GPUs new "
        "numbers, and SLURM_STEP_GPUS does not list the original numbers, which osu-gpu-bind "
        "needs.",
        'remedy': "Request whole nodes with --gpus-per-node={all}, and add --exclusive in "
        "partitions that share nodes.",
        'source': "scripts/osu-gpu-bind",
    },
    {
        'name': "the GPU numbers do not match the site description",
        'patterns': [r"the step has the GPUs (?P<gpus>[\w ]{1,60}), and OSU_GPU_MAP knows"],
        'cause': "Slurm's GPU numbers ({gpus}) do not match the GPU numbers in the site "
        "description of the loaded module.",
        'remedy': "Check with `osu-explain` that the loaded osu-container module was made for "
        "this system. If the module was made for this system, start the program without "
        "osu-gpu-bind.",
        'source': "scripts/osu-gpu-bind",
    },
    {
        'name': "the job lacks the cores that are closest to the GPU",
        'patterns': [
            r"local rank \d+: belongs on the cores (?P<mask>\S+), and the job has none of them"
        ],
        'cause': "The cores of the job do not include the cores that are closest to the GPU of a "
        "rank (core mask {mask}).",
        'remedy': "The program works without the cores that are closest to the GPU, but is "
        "slower. To get the closest cores, request whole nodes with --exclusive.",
        'source': "scripts/osu-gpu-bind",
        'last': True,
    },
    {
        'name': "osu-gpu-bind does not know an option",
        'patterns': [r"unknown option '(?P<option>[^'\n]*)'; osu-gpu-bind --help"],
        'cause': "osu-gpu-bind has no option {option}. The first argument that does not begin "
        "with - is the command that osu-gpu-bind starts.",
        'remedy': "Correct the command line, for example `srun -N2 -n2 osu-gpu-bind osu_bw D D`.",
        'source': "scripts/osu-gpu-bind",
    },
    {
        'name': "the benchmark does not support GPU memory",
        'patterns': [
            "asks for buffers in GPU memory",
            "(?:ROCm|ROCM|CUDA|OpenACC) [Ss]upport [Nn]ot [Ee]nabled",
        ],
        'cause': "The command requests buffers in GPU memory (D), but this benchmark supports "
        "host memory only.",
        'remedy': "Run the benchmark with host memory (`osu_bw H H`), or use an image or "
        "installation whose C benchmarks were built for the GPU.",
        'source': "scripts/osu-port; OSU Micro-Benchmarks, c/util/osu_util_options.c",
    },
    {
        'name': "the benchmark finds no GPU",
        'patterns': [
            r"wants GPU memory: \S{1,60} finds no GPU",
            r"wants GPU memory: \w{1,60} of \S{1,60} gives error 100 \(",
            r"wants GPU memory: [^\n]{1,200} is not found\. Runtime: none",
        ],
        'cause': "The command requests buffers in GPU memory (D), but the process finds no GPU, "
        "no driver or no GPU library. An environment variable may also hide the GPU.",
        'remedy': "The error message lists the GPU runtime, driver and device files that the "
        "benchmark found. Request GPUs for the job, make the driver available in the container "
        "({`apptainer exec --nv`|`apptainer exec --rocm`}; osu-container modules use this "
        "option), and unset a wrong {CUDA_VISIBLE_DEVICES|ROCR_VISIBLE_DEVICES or "
        "HIP_VISIBLE_DEVICES}. Or use host memory: `osu_bw H H`.",
        'source': "scripts/osu-port",
    },
    {
        'name': "the GPU driver is too old",
        'patterns': ["The driver is older than the runtime"],
        'cause': "The GPU runtime library of the image or module is too new for the GPU driver "
        "of this machine.",
        'remedy': "Use an image or a module with an older {CUDA|ROCm}; the error message names "
        "the version of the library and the version of the GPU driver.",
        'source': "scripts/osu-port; docs.nvidia.com, CUDA Compatibility",
    },
    {
        'name': "the MPI has no GPU support",
        'patterns': ["wants GPU memory, and this MPI does not take it"],
        'cause': "The loaded MPI was built without support for the GPUs of this node, or the GPU "
        "support of the loaded MPI is not enabled.",
        'remedy': "Intel MPI: `export I_MPI_OFFLOAD=1`. Cray MPICH: `export "
        "MPICH_GPU_SUPPORT_ENABLED=1`. For any other MPI, use an image or a module whose MPI is "
        "built with ROCm or CUDA. `osu_bw H H` works without GPU support.",
        'source': "scripts/osu-port; MPIX_Query_cuda_support of MPICH, Open MPI and Intel MPI",
    },
    {
        'name': "the received data are wrong",
        'patterns': ["the data that arrived is wrong at"],
        'cause': "With the option -c, the benchmark compares the received data with the sent "
        "data. At the message sizes that the error message lists, the received data differ from "
        "the sent data.",
        'remedy': "Do not trust benchmark results of this MPI with this driver and network card. "
        "Repeat the run with host memory (`osu_bw -c H H`) and with another libfabric provider "
        "(`export FI_PROVIDER=NAME`), and report the results to the administrators.",
        'source': "scripts/osu-port",
    },
    {
        'name': "CUDA is newer than the driver supports",
        'patterns': [
            "CUDA driver version is insufficient",
            r"unsupported CUDA version: driver \S{1,10} < image \S{1,10}",
            "cudaErrorInsufficientDriver",
            "NVIDIA driver on your system is too old",
        ],
        'cause': "The program uses a newer version of CUDA than the driver supports. In a "
        "container that was started without --nv, the program finds no driver at all.",
        'remedy': "Run `singularity exec --nv` or `apptainer exec --nv`; for the commands of an "
        "osu-container module, run `export MPI_CONTAINER_OPTIONS=--nv`. Otherwise use an image "
        "with an older CUDA: `nvidia-smi` prints the newest CUDA version that the driver "
        "supports.",
        'source': "github.com/rickstaa/panda-autograsp, issue 150; NVIDIA, CUDA Compatibility",
    },
    {
        'name': "the program was compiled for another GPU model",
        'patterns': [
            r"TensileLibrary[^\n]{0,100}(?:No such|Cannot|not|Illegal)",
            "nvrtc: error: invalid value for --gpu-architecture",
            "hipErrorNoBinaryForGpu",
            "invalid device function",
            "no kernel image is available for execution on the device",
        ],
        'cause': "The program, or a library of the program, was compiled for another GPU model, "
        "and has no code for the GPU model of this node.",
        'remedy': "Build the program for the GPU model of this node, which "
        "{`nvidia-smi`|`rocminfo | grep gfx`} prints: {sm_80 is A100, sm_90 is H100 and "
        "GH200|gfx90a is MI250X (LUMI-G, Frontier), gfx942 is MI300A. For "
        "a GPU that ROCm does not list, try `export HSA_OVERRIDE_GFX_VERSION=10.3.0`}.",
        'source': "HIP, documentation, hipError_t; github.com/ROCm/MIVisionX, issue 778",
        'also': [
            (
                "a library in the image was compiled for another GPU model",
                "{cuobjdump --list-elf FILE|AMD_LOG_LEVEL=1 PROGRAM}",
            )
        ],
    },
    {
        'name': "a program accessed an address outside GPU memory",
        'patterns': ["Memory access fault by GPU node-"],
        'cause': "A GPU kernel (a function of the program) or MPI accessed an address that is "
        "not in GPU memory. Either the program has a bug, or MPI does not handle GPU buffers "
        "correctly (because of two ROCm versions in a process, or memory that was freed).",
        'remedy': "Run `osu_bw H H` and `osu_bw D D`: if only `osu_bw D D` fails, MPI is the "
        "cause. Check that image and host have the same ROCm version (`osu-explain`), and try "
        "`export FI_MR_CACHE_MONITOR=memhooks` or `export MPICH_GPU_SUPPORT_ENABLED=0`.",
        'source': "ROCR-Runtime; github.com/ComputationalRadiationPhysics/picongpu, pull request "
        "5462",
        'also': [
            (
                "the program has a bug",
                "AMD_SERIALIZE_KERNEL=3 HSA_ENABLE_SDMA=0 PROGRAM (on a single GPU; the output "
                "names the failing kernel)",
            )
        ],
    },
    {
        'name': "ROCm cannot open a GPU",
        'patterns': [
            "HSA_STATUS_ERROR_OUT_OF_RESOURCES",
            "Call returned 4104",
            r"(?i:hsa)(?:_init| runtime)\b[^\n]{0,30}fail\w{0,60}\W{1,4}(?:0x)?(?:1008|4104)\b",
            "open /dev/kfd: permission denied",
        ],
        'cause': "ROCm cannot open a GPU. You have no permission to open /dev/kfd and "
        "/dev/dri/renderD* (you need the groups render and video), the container does not contain "
        "these files, or ROCm does not support this GPU.",
        'remedy': "Run `srun ls -l /dev/kfd /dev/dri`; the output of `groups` must include the "
        "groups of these files. Start the container with --rocm or --bind=/dev/kfd,/dev/dri. If "
        "the program works for root only, your account is not in these groups: ask the "
        "administrators to add your account.",
        'source': "github.com/ROCm/legacy-rocm-build, issues 1070 and 1758",
        'also': [
            (
                "the driver is older than this ROCm, or the GPU is not supported",
                "dmesg | grep -i -E 'kfd|amdgpu'",
            )
        ],
        'unless': ["the memory of the GPU is used up"],
    },
    {
        'name': "the program chose a GPU that does not exist",
        'patterns': [
            r"(?:CUDA|HIP|cuda|hip)[^\n]{0,120}invalid device ordinal",
            r"(?:hip|cuda)ErrorInvalidDevice\b",
            "CUDA_ERROR_INVALID_DEVICE",
        ],
        'cause': "The program chose a GPU number that does not exist. The program finds fewer "
        "GPUs than there are ranks on the node, often a single GPU, because Slurm assigns each "
        "rank a separate GPU.",
        'remedy': "Run `srun --gpus-per-node=8` without --gpus-per-task and --gpu-bind, or let "
        "the program use GPU 0 in each rank. The variable "
        "{CUDA_VISIBLE_DEVICES|ROCR_VISIBLE_DEVICES} lists the GPUs that a rank can use{|. With "
        "Docker or podman, give the container all files of /dev/dri (--device /dev/dri) and add "
        "the groups render and video}.",
        'source': "CUDA Runtime API, cudaError; HIP, hipError_t; github.com/ROCm/rccl-tests, "
        "issue 16; github.com/ROCm/hip, issue 337",
    },
    {
        'name': "the program finds no usable GPU",
        'patterns': [
            "(?i:no) (?:CUDA|cuda|ROCm)-capable device is (?:detected|found)",
            "Unable to open /dev/kfd(?: read-write: (?P<why>.{1,60}))?",
            "No HIP (?:GPUs?|devices?) (?:are|is|were|was)? ?(?:available|found|detected|visible)",
            "Found no NVIDIA driver on your system",
            "there are 0 visible CUDA devices",
            "No visible GPU devices",
            "(?:^|nvidia-smi: )No devices were found",
            "Could not find cuda drivers on your machine",
        ],
        'cause': "The program finds no usable GPU. The job step has no GPU, the container does "
        "not contain the GPU's device files, you have no permission to open these files, or the "
        "library was built without GPU support.",
        'remedy': "Request GPUs with `srun --gpus-per-node=8`, and start the container with "
        "{--nv|--rocm}{|. The output of `groups` must include the groups of /dev/kfd and "
        "/dev/dri/renderD* (render, video; podman: --group-add keep-groups --device /dev/kfd "
        "--device /dev/dri)}. Look for a wrong setting with `env | grep VISIBLE_DEVICES`, and "
        "unset the variable.",
        'source': "github.com/vllm-project/vllm, issues 7207 and 34573; "
        "github.com/ROCm/ROCm-docker, issue 112",
        'also': [
            ("the job has no GPU", "srun bash -c 'echo $SLURM_GPUS_ON_NODE'"),
            (
                "the installed package supports CPUs only",
                "python -c 'import torch; print(torch.version.{cuda|hip})'",
            ),
        ],
        'unless': [
            "the benchmark finds no GPU",
            "no NVIDIA driver is detected",
            "a library of the NVIDIA driver is missing",
        ],
    },
    {
        'name': "the driver cannot initialize the GPU",
        'patterns': [
            "CUDA_ERROR_(?:SYSTEM_NOT_READY|SystemNotReady|UNKNOWN|Unknown|SYSTEM_DRIVER_MISMATCH"
            r"|SystemDriverMismatch|NOT_INITIALIZED|InitializationError)\b",
            "system (?:not yet initialized|has unsupported display driver|driver mismatch)",
            "failed to initialize CUDA: (?:unknown|initialization) error",
            "[Ss]ystem has unsupported display driver",
            r"cuda\w{1,40} returned (?:3|80[234]|999)\b",
        ],
        'cause': "The driver cannot initialize the GPU. On nodes with NVSwitch the fabric manager "
        "may not be running, the driver and its libraries may have different versions (a "
        "container with its own libcuda), or the GPU may have failed.",
        'remedy': "Run `nvidia-smi` on the node outside the container. In the container, "
        "`ldconfig -p | grep libcuda` must list only the host's libcuda; remove "
        "/usr/local/cuda/compat from LD_LIBRARY_PATH. Administrators can check `systemctl status "
        "nvidia-fabricmanager` and run `nvidia-modprobe -u` (or `modprobe nvidia_uvm`): if "
        "/dev/nvidia-uvm is missing, CUDA reports 'unknown error'. Exclude the faulty node with "
        "`srun --exclude=NODE`.",
        'source': "CUDA Runtime API, cudaError; HIP, hipError_t; NVIDIA, Fabric Manager user "
        "guide; github.com/NVIDIA/libnvidia-container, issue 48",
        'also': [
            (
                "the process was forked after the parent process had used the GPU",
                "run the same program with the multiprocessing start method spawn",
            )
        ],
    },
    {
        'name': "another process uses the GPU exclusively",
        'patterns': [
            "all CUDA-capable devices are busy",
            r"device\(s\) is/are busy or unavailable",
            r"Return value 46 from 'cuda\w+",
        ],
        'cause': "The GPU accepts only a single process at a time (compute mode "
        "EXCLUSIVE_PROCESS), and another process, for example a second rank, uses the GPU. Or the "
        "GPU has failed.",
        'remedy': "Start only one rank per GPU. If you need more ranks than GPUs, start MPS on "
        "the node with `nvidia-cuda-mps-control -d`, and bind the folder that "
        "CUDA_MPS_PIPE_DIRECTORY names into the container at the same path. `nvidia-smi -q -d "
        "COMPUTE` prints the compute mode, and `nvidia-smi` lists the processes on the GPU.",
        'source': "CUDA Runtime API, cudaError; HIP, hipError_t",
    },
    {
        'name': "a GPU has failed",
        'patterns': [
            "uncorrectable (?:ECC|NVLink|hardware) ?error",
            "ueue preemption time out",
        ],
        'cause': "The GPU has failed (its memory, bus or NVLink), or the driver reset the GPU.",
        'remedy': "Exclude the node with `srun --exclude=NODE`, and send the line of the GPU "
        "driver from `dmesg` (with its Xid number) to the administrators. If the error occurs on "
        "every node, a bug in the program makes the GPU hang.",
        'source': "NVIDIA, Xid errors; Linux, amdgpu",
    },
    {
        'name': "the NVIDIA driver and its libraries have different versions",
        'patterns': ["[Dd]river/library version mismatch"],
        'cause': "The NVIDIA driver in the kernel and the driver's libraries have different "
        "versions. The driver packages were updated and the node was not rebooted, or the image "
        "contains its own libnvidia-ml or libcuda.",
        'remedy': "Run `nvidia-smi` and `cat /proc/driver/nvidia/version` outside the container. "
        "If nvidia-smi also fails outside the container, exclude the node with `srun "
        "--exclude=NODE`; administrators can reboot the node or run `rmmod nvidia_uvm nvidia_drm "
        "nvidia_modeset nvidia; modprobe nvidia`. If nvidia-smi fails only inside the container, "
        "remove libnvidia-* and libcuda from the image.",
        'source': "github.com/NVIDIA/nvidia-container-toolkit, issues 171 and 394; "
        "github.com/lyulyul/shine-cluster, issue 30",
    },
    {
        'name': "the container has no access to the GPUs",
        'patterns': [
            "Failed to initialize NVML: Unknown Error",
            "nvml(?: error)?: [Ii]nsufficient [Pp]ermissions",
        ],
        'cause': "The container or the job step has no access to the device files of the GPUs. "
        "Either the job has no GPU, or a cgroup denies the access: in Docker, for example, "
        "`systemctl daemon-reload` on the host removes the access of running containers.",
        'remedy': "In a job, request GPUs with --gpus-per-node. For Docker, start the container "
        "again with `--device /dev/nvidia0 --device /dev/nvidiactl --device /dev/nvidia-uvm`, or "
        "use the cgroup driver cgroupfs. For rootless Docker, set no-cgroups = true in "
        "nvidia-container-runtime/config.toml.",
        'source': "github.com/NVIDIA/nvidia-container-toolkit, issue 48; docs.nvidia.com, "
        "Container Toolkit, Troubleshooting",
    },
    {
        'name': "the memory of the GPU is used up",
        'patterns': [
            r"(?:CUDA|HIP)(?: error)?(?: \(\d+\))?:? out of memory",
            r"OutOfMemoryError: (?:CUDA|HIP|Out of memory allocating [\d,]+ bytes \(alloc)",
            r"failed to allocate [\d.]+[KMGT]i?B? (?:\(\d+ bytes\) )?from device: ",
        ],
        'cause': "The memory of the GPU (not of the node) is used up: by this program, by another "
        "rank on the same GPU, or by a process of an earlier run.",
        'remedy': "Run {`nvidia-smi`|`rocm-smi`} in the same job step to find out which process "
        "uses the memory. Start only one rank per GPU, use more GPUs, or choose a smaller "
        "problem, batch or message size (-m). For PyTorch, `export "
        "{PYTORCH_CUDA_ALLOC_CONF|PYTORCH_HIP_ALLOC_CONF}=expandable_segments:True` reduces "
        "fragmentation; for JAX, run `export XLA_PYTHON_CLIENT_PREALLOCATE=false`. Slurm's option "
        "--mem concerns the memory of the node and does not help.",
        'source': "CUDA Runtime API, cudaError; pytorch.org, CUDA semantics, Memory management",
        'unless': ["NCCL or RCCL terminated"],
    },
]

NCCL: List[Dict[str, Any]] = [
    {
        'name': "a call of the GPU runtime failed in NCCL or RCCL",
        'patterns': [
            r"(?:NCCL WARN|WARN) (?:Cuda|CUDA|HIP|hip) failure (?:\d+ )?:? ?'?(?P<why>[^'\n]{1,80})",
            r"Cuda failure '(?P<why>[^'\n]{1,60})'",
        ],
        'cause': "{NCCL|RCCL} called the GPU runtime library, and the call failed: {why}",
        'remedy': "If the error message contains 'out of memory', leave some GPU memory free; "
        "{`nvidia-smi`|`rocm-smi`} lists other processes on the GPU. For 'invalid device' or 'no "
        "device', the node has fewer GPUs than ranks or the container has no GPU. For 'peer "
        "access', 'mapping' or 'invalid argument' of IPC, run `export NCCL_P2P_DISABLE=1`, or "
        "let each rank see all GPUs of the node. For any other text, the driver and {CUDA|ROCm} "
        "are not compatible.",
        'source': "NCCL, src/include/checks.h; NCCL documentation, Troubleshooting",
        'general': True,
        'unless': [
            "CUDA is newer than the driver supports",
            "NCCL cannot use NVLS or MNNVL",
            "ranks cannot share GPU memory",
            "the node or job has no memory left",
            "the program was compiled for another GPU model",
            "the program chose a GPU that does not exist",
        ],
    },
    {
        'name': "NCCL cannot read the topology of the node",
        'patterns': [
            r"NCCL WARN[^\n]{0,20} [Cc]ould not find real path of (?P<path>\S{1,150})",
            "[Ff]ailed to find reverse path from remNode",
            r"NCCL WARN Attribute (?:\w+) of node \w+ not found",
        ],
        'cause': "NCCL reads in /sys and from the driver how GPUs and network cards are "
        "connected. In the container or virtual machine, NCCL cannot read a part of this "
        "information.",
        'remedy': "Start the container with --nv (Docker: --gpus all), and give the container "
        "the host's /sys. `nvidia-smi topo -m` prints the connections that the driver knows. The "
        "variable NCCL_TOPO_FILE names a topology file of the cloud provider; if the error "
        "message says that an attribute is not found, run `unset NCCL_TOPO_FILE` or install a "
        "newer aws-ofi-nccl. To set the connections by hand, use NCCL_P2P_LEVEL and "
        "NCCL_NET_GDR_LEVEL.",
        'source': "NCCL, src/graph/xml.cc",
        'general': True,
    },
    {
        'name': "another rank of NCCL or RCCL closed the connection",
        'patterns': [
            r"(?:NCCL WARN[^\n]{0,60}|socket\w{1,60}: )[Cc]onnection closed by remote peer",
            r"(?:NCCL WARN|socket\w{1,60}:)[^\n]{0,40} Call to (?:recv from|send to|read|write|recv|send) "
            r"?\S{0,100} ?(?:failed|returned)",
            r"\[Proxy Service \d+\] Failed to execute operation",
            "remote process exited or there was a network error",
            "ncclRemoteError",
        ],
        'cause': "Another rank of {NCCL|RCCL} terminated or crashed and thereby closed the "
        "connection, or the network between two nodes failed. The rank that printed the error "
        "message is not the cause.",
        'remedy': "Look for the first error of any rank, including signals and used-up memory "
        "(`dmesg`, `sacct -j JOB -o state,exitcode,maxrss`). If no rank has another error, run "
        "again with `export NCCL_DEBUG=INFO`. Then change one setting at a time: set "
        "NCCL_SOCKET_IFNAME to an interface that all nodes have, run `export NCCL_IB_DISABLE=1`, "
        "or exclude a node (`srun --exclude=NODE`).",
        'source': "NCCL, src/misc/socket.cc; github.com/NVIDIA/nccl, issues 795 and 2076",
        'last': True,
    },
    {
        'name': "NCCL cannot use NVLS or MNNVL",
        'patterns': [r"nvls\.cc:\d+ NCCL WARN"],
        'cause': "NCCL tried to reduce data in the NVSwitch (NVLS), or to share memory between "
        "nodes of an NVLink domain (MNNVL). The driver, the fabric manager or the container does "
        "not allow this use of NVLink.",
        'remedy': "Run `export NCCL_NVLS_ENABLE=0` (or `export NCCL_MNNVL_ENABLE=0` for MNNVL): "
        "if the program works with this setting, NVLS (or MNNVL) is the cause. Administrators "
        "must run nvidia-fabricmanager in the version of the driver (`systemctl status "
        "nvidia-fabricmanager; nvidia-smi -q | grep -A2 Fabric`). For MNNVL, containers need "
        "/dev/nvidia-caps-imex-channels.",
        'source': "NCCL documentation, NCCL_NVLS_ENABLE; NCCL, src/transport/nvls.cc",
    },
    {
        'name': "the ranks call different collectives of NCCL",
        'patterns': ["may be caused by a collective mismatch", "Mismatched collective detected"],
        'cause': "The ranks call different collectives, or the same collective with different "
        "sizes, so that each rank waits forever. Either the program has a bug, or the ranks read "
        "different data.",
        'remedy': "With `export NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=COLL`, NCCL prints the "
        "collectives that each rank calls. With `export TORCH_DISTRIBUTED_DEBUG=DETAIL`, PyTorch "
        "names the collective that differs. Check that all ranks execute the same number of "
        "steps: each rank needs the same amount of data and must take the same branches.",
        'source': "NCCL, src/enqueue.cc; PyTorch, torch.distributed",
    },
    {
        'name': "MPI spends its time in cuPointerGetAttribute",
        'patterns': ["accelerator_cuda_check_addr", "] cuPointerGetAttribute"],
        'cause': "MPI asks NVIDIA's driver about every buffer, and since driver 580 the function "
        "cuPointerGetAttribute is slow for buffers in host memory. This concerns Cray MPICH before "
        "9.2 and Open MPI 5.0.10 or older.",
        'remedy': "If the program passes no buffers in GPU memory to MPI, run `export "
        "MPICH_GPU_SUPPORT_ENABLED=0` (Cray MPICH) or `export OMPI_MCA_opal_cuda_support=0` (Open "
        "MPI) before srun. `nvidia-smi` prints the release of the driver.",
        'source': "CSCS documentation, Cray MPICH, known issues (eth-cscs/cscs-docs 80abed1); "
        "github.com/open-mpi/ompi, issues 13708 and 14337",
    },
]
