"""Messages of CUDA, ROCm and the benchmarks, and of NCCL and RCCL with their plugins."""

from typing import Any, Dict, List

GPUS: List[Dict[str, Any]] = [
    {
        'name': "osu-gpu-bind without a map",
        'patterns': ["OSU_GPU_MAP is not set"],
        'cause': "osu-gpu-bind reads from the loaded module which GPU, cores and network card are "
        "close to each other, and no module of a site with GPUs is loaded.",
        'remedy': "Load the module first. On nodes without GPUs, start the program without "
        "osu-gpu-bind.",
        'source': "scripts/osu-gpu-bind",
    },
    {
        'name': "osu-gpu-bind outside of srun",
        'patterns': ["SLURM_LOCALID is not set"],
        'cause': "osu-gpu-bind chooses the GPU by the rank's number on the node (SLURM_LOCALID), "
        "which only srun sets.",
        'remedy': "Start osu-gpu-bind with srun: `srun -N2 -n2 osu-gpu-bind osu_bw D D`.",
        'source': "scripts/osu-gpu-bind",
    },
    {
        'name': "part of the GPUs",
        'patterns': [
            (" of the node's ", r"the job has (?P<some>\d+) of the node's (?P<all>\d+) GPUs")
        ],
        'cause': "The job has {some} of the node's {all} GPUs. Slurm renumbers these GPUs, and "
        "SLURM_STEP_GPUS does not list their original numbers.",
        'remedy': "Request whole nodes with --gpus-per-node={all}, and add --exclusive in "
        "partitions that share nodes.",
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
        'cause': "Slurm's GPU numbers ({gpus}) do not match the GPU numbers in the description of "
        "the module's site.",
        'remedy': "Check with `osu-explain` that the module is for this system. If the module is "
        "for this system, start the program without osu-gpu-bind.",
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
        'cause': "The cores of the job do not include the cores closest to this rank's GPU "
        "({mask}).",
        'remedy': "The program runs, but slower. Request whole nodes with --exclusive.",
        'source': "scripts/osu-gpu-bind",
    },
    {
        'name': "unknown option of osu-gpu-bind",
        'patterns': [
            ("'; osu-gpu-bind --help", r"unknown option '(?P<option>[^'\n]*)'; osu-gpu-bind --help")
        ],
        'cause': "osu-gpu-bind has no option {option}. The first argument without a dash is the "
        "command that osu-gpu-bind starts.",
        'remedy': "Correct the command line, for example `srun -N2 -n2 osu-gpu-bind osu_bw D D`.",
        'source': "scripts/osu-gpu-bind",
    },
    {
        'name': "osu-explain without its data",
        'patterns': [("osu-explain: ", "osu-explain: (?:cannot read |.{0,300} does not set )")],
        'cause': "osu-explain reads its data from a file of the installation. This file does not "
        "exist, or does not contain the requested variable.",
        'remedy': "Choose a variable from the list in the message. If the message says that the "
        "file cannot be read, install the module again with `eb osu-container-APPROACH.eb -r "
        "--rebuild`.",
        'source': "scripts/osu-explain",
    },
    {
        'name': "no GPU support",
        'patterns': [
            "asks for buffers in GPU memory",
            ("upport ", "(?:ROCm|ROCM|CUDA|OpenACC) [Ss]upport [Nn]ot [Ee]nabled"),
        ],
        'cause': "The command requests buffers in GPU memory (D), but this benchmark supports "
        "host memory only.",
        'remedy': "Run the benchmark with host memory (`osu_bw H H`), or use an image or "
        "installation with the C benchmarks built for the GPU.",
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
        'cause': "The command requests buffers in GPU memory (D), but the process sees no GPU, no "
        "driver or no GPU library. An environment variable may also hide the GPU.",
        'remedy': "The message names the GPU runtime, driver and device files that were found. "
        "Request GPUs for the job, make the driver available in the container ({`apptainer exec "
        "--nv`|`apptainer exec --rocm`}; the modules do so), and unset a wrong "
        "{CUDA_VISIBLE_DEVICES|ROCR_VISIBLE_DEVICES or HIP_VISIBLE_DEVICES}. Or use host memory: "
        "`osu_bw H H`.",
        'source': "scripts/osu-port",
    },
    {
        'name': "GPU driver too old",
        'patterns': ["The driver is older than the runtime"],
        'cause': "The GPU runtime library of the image or module is too new for the driver of "
        "this machine.",
        'remedy': "Use an image or a module with an older {CUDA|ROCm}; the message names both "
        "versions.",
        'source': "scripts/osu-port; docs.nvidia.com, CUDA Compatibility",
    },
    {
        'name': "MPI without GPU support",
        'patterns': ["wants GPU memory, and this MPI does not take it"],
        'cause': "This MPI was built without support for this GPU, or its GPU support is not "
        "enabled.",
        'remedy': "Intel MPI: `export I_MPI_OFFLOAD=1`. Cray MPICH: `export "
        "MPICH_GPU_SUPPORT_ENABLED=1`. For any other MPI, use an image or a module whose MPI is "
        "built with ROCm or CUDA. `osu_bw H H` works without GPU support.",
        'source': "scripts/osu-port; MPIX_Query_cuda_support of MPICH, Open MPI and Intel MPI",
    },
    {
        'name': "fewer GPUs than ranks",
        'patterns': [": fewer GPUs than ranks: on"],
        'cause': "Several ranks of a node use the same GPU.",
        'remedy': "Request as many GPUs as ranks (`srun --gpus-per-node=8 osu-gpu-bind osu_bw D "
        "D`), or let ranks share a GPU with `osu_bw -s D D`.",
        'source': "scripts/osu-port",
    },
    {
        'name': "not enough GPU memory",
        'patterns': ["bytes of GPU memory cannot be had"],
        'cause': "The free memory of the GPU is smaller than the buffers of the benchmark.",
        'remedy': "Use smaller messages (-m), or a GPU that no other process uses.",
        'source': "scripts/osu-port",
    },
    {
        'name': "wrong data",
        'patterns': ["the data that arrived is wrong at"],
        'cause': "With -c the benchmark compares the received data with the sent data. At the "
        "listed message sizes, the received data differ from the sent data.",
        'remedy': "Do not trust this combination of MPI, driver and card. Repeat the run with H H "
        "and with another libfabric provider, and report the result to the administrators.",
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
        'cause': "The mpi4py port of the benchmark does not accept these arguments; a port has "
        "fewer options than the C benchmark.",
        'remedy': "`osu_bw --help` lists the arguments, for example `osu_bw -m MAX -i ITERATIONS "
        "-x WARMUP H H`.",
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
        'cause': "The Python benchmarks need both buffers in arrays of the same library, either "
        "NumPy or CuPy.",
        'remedy': "For NumPy, run `osu_py_bw --buffer numpy` or `osu_bw H H`. For CuPy, run "
        "`osu_py_bw --buffer cupy` or `osu_bw D D` in an image with CuPy.",
        'source': "container-recipes/mpi4py/osu-python",
    },
    {
        'name': "port not installed rightly",
        'patterns': [
            "no port of that name in",
            ("installation is incomplete", "no mpi4py in .{0,300}installation is incomplete"),
            ("the mpi4py in ", "the mpi4py in .{0,300} is for"),
        ],
        'cause': "The mpi4py ports of the benchmarks are incomplete, or the Python of the system "
        "was updated after the installation.",
        'remedy': "Install the module again with `eb osu-native.eb -r --rebuild`. For a "
        "container, build the image again.",
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
        'cause': "The CUDA version of the program is newer than the driver supports. A container "
        "that is started without --nv sees no driver at all.",
        'remedy': "Run `singularity exec --nv` or `apptainer exec --nv`; for the commands of a "
        "module, run `export MPI_CONTAINER_OPTIONS=--nv`. Otherwise use an image with an older "
        "CUDA: `nvidia-smi` prints the newest CUDA version that the driver supports.",
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
        'cause': "The program sees no GPU. The job step has no GPU, the container does not show "
        "the GPU, or you have no permission to open its device file. {why}",
        'remedy': "Request GPUs with `srun --gpus-per-node=8` (or --gpus=1). Start the container "
        "with {--nv|--rocm; with --containall, add --bind=/dev/kfd,/dev/dri}.",
        'source': "github.com/ROCm/ROCm, issue 1798; docs.sylabs.io, SingularityCE, GPU support",
        'also': [
            (
                "the job has no GPU",
                "srun bash -c 'echo $SLURM_GPUS_ON_NODE; env | grep VISIBLE_DEVICES'",
            ),
            (
                "you have no permission to open the device file",
                "srun ls -l {/dev/nvidia0|/dev/kfd}",
            ),
        ],
    },
    {
        'name': "code for another GPU",
        'patterns': [
            "hipErrorNoBinaryForGpu",
            "invalid device function",
            "no kernel image is available for execution on the device",
        ],
        'cause': "The program was compiled for a different GPU model than the model of this node.",
        'remedy': "Build the program for this model, which {`nvidia-smi`|`rocminfo | grep gfx`} "
        "prints: {sm_80 is A100, sm_90 is H100 and GH200|gfx90a is MI250X (LUMI-G, Frontier), "
        "gfx942 is MI300A}.",
        'source': "HIP, documentation, hipError_t; github.com/ROCm/MIVisionX, issue 778",
        'also': [
            (
                "a library in the image was compiled for another GPU model",
                "{cuobjdump --list-elf FILE|AMD_LOG_LEVEL=1 PROGRAM}",
            )
        ],
    },
    {
        'name': "GPU memory access fault",
        'patterns': ["Memory access fault by GPU node-"],
        'cause': "A GPU kernel or MPI accessed an address that is not in GPU memory. Either the "
        "program has an error, or MPI does not handle GPU buffers correctly (two ROCm versions in "
        "one process, memory that was freed).",
        'remedy': "Run `osu_bw H H` and `osu_bw D D`: if only D D fails, MPI is the cause. Check "
        "that image and host have the same ROCm version (`osu-explain`), and try `export "
        "FI_MR_CACHE_MONITOR=memhooks` or `export MPICH_GPU_SUPPORT_ENABLED=0`.",
        'source': "ROCR-Runtime; github.com/ComputationalRadiationPhysics/picongpu, pull request "
        "5462",
        'also': [
            (
                "the program itself has an error",
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
        'cause': "ROCm cannot open a GPU. You have no permission to open /dev/kfd and "
        "/dev/dri/renderD* (groups render and video), the container does not show these files, or "
        "ROCm does not support this GPU.",
        'remedy': "Run `srun ls -l /dev/kfd /dev/dri`; the output of `groups` must include the "
        "groups of these files. Start the container with --rocm or --bind=/dev/kfd,/dev/dri. If "
        "the program works as root only, your account lacks the groups.",
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
        'cause': "The program chose a GPU number that does not exist. The program sees fewer GPUs "
        "than there are ranks on the node, often only one, because Slurm gives each rank its own "
        "GPU.",
        'remedy': "Run `srun --gpus-per-node=8` without --gpus-per-task and --gpu-bind, or let "
        "the program use GPU 0 in each rank. The variable "
        "{CUDA_VISIBLE_DEVICES|ROCR_VISIBLE_DEVICES} of a rank lists the GPUs that the rank "
        "sees{|. With Docker or podman, pass all of /dev/dri and add the groups render and video}.",
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
        'cause': "The program sees no usable GPU. The job step has no GPU, the container does not "
        "show the GPU, you have no permission to open its device files, or the library was built "
        "without GPU support.",
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
        'cause': "The driver cannot initialize the GPU. On nodes with NVSwitch the fabric manager "
        "may not be running, the driver and its libraries may have different versions (a "
        "container with its own libcuda), or the GPU may have failed.",
        'remedy': "Run `nvidia-smi` on the node outside the container. In the container, "
        "`ldconfig -p | grep libcuda` must list only the host's libcuda; remove "
        "/usr/local/cuda/compat from LD_LIBRARY_PATH. Administrators can check `systemctl status "
        "nvidia-fabricmanager` and run `nvidia-modprobe -u` (or `modprobe nvidia_uvm`; a missing "
        "/dev/nvidia-uvm gives 'unknown error'). Leave the node out with `srun --exclude=NODE`.",
        'source': "CUDA Runtime API, cudaError; HIP, hipError_t; NVIDIA, Fabric Manager user "
        "guide; github.com/NVIDIA/libnvidia-container, issue 48",
        'also': [
            (
                "the process was forked after it had used the GPU",
                "run the same program with the multiprocessing start method spawn",
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
        'cause': "The GPU accepts only one process at a time (compute mode EXCLUSIVE_PROCESS), "
        "and another process, for example a second rank, uses the GPU. Or the GPU has failed.",
        'remedy': "Start one rank per GPU. For more ranks, start MPS on the node with "
        "`nvidia-cuda-mps-control -d`, and bind the folder CUDA_MPS_PIPE_DIRECTORY into the "
        "container under the same name. `nvidia-smi -q -d COMPUTE` prints the compute mode, and "
        "`nvidia-smi` lists the processes on the GPU.",
        'source': "CUDA Runtime API, cudaError; HIP, hipError_t",
    },
    {
        'name': "GPU lost",
        'patterns': [
            ("uncorrectable ", "uncorrectable (?:ECC|NVLink|hardware) ?error"),
            "ueue preemption time out",
        ],
        'cause': "The GPU has failed (memory, bus, NVLink), or the driver reset the GPU.",
        'remedy': "Leave the node out with `srun --exclude=NODE`, and send the line from dmesg "
        "(with its Xid number) to the administrators. If the error occurs on every node, the "
        "program hangs the GPU.",
        'source': "NVIDIA, Xid errors; Linux, amdgpu",
    },
    {
        'name': "GPU of another kind than the library was built for",
        'patterns': [
            ("TensileLibrary", r"TensileLibrary[^\n]{0,100}(?:No such|Cannot|not|Illegal)"),
            "nvrtc: error: invalid value for --gpu-architecture",
        ],
        'cause': "The program or library contains no code for this GPU model.",
        'remedy': "Use an image that was built for this GPU: {`nvidia-smi` prints the model; "
        "sm_80 is A100, sm_90 is H100 and GH200|`rocminfo` prints the model; gfx90a is MI250X, "
        "gfx942 is MI300A. For a GPU that ROCm does not list, try `export "
        "HSA_OVERRIDE_GFX_VERSION=10.3.0`}.",
        'source': "github.com/ollama/ollama, issue 2870; CUDA driver API",
        'unless': ["code for another GPU"],
    },
    {
        'name': "driver of NVIDIA updated while it ran",
        'patterns': [("river/library version mismatch", "[Dd]river/library version mismatch")],
        'cause': "The driver in the kernel and its libraries have different versions. The driver "
        "packages were updated and the node was not rebooted, or the image contains its own "
        "libnvidia-ml or libcuda.",
        'remedy': "Run `nvidia-smi` and `cat /proc/driver/nvidia/version` outside the container. "
        "If nvidia-smi fails there too, leave the node out with `srun --exclude=NODE`; "
        "administrators can reboot the node or run `rmmod nvidia_uvm nvidia_drm nvidia_modeset "
        "nvidia; modprobe nvidia`. If nvidia-smi fails only inside the container, remove "
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
        'cause': "The container or the job step has no access to the device files of the GPUs. "
        "Either a cgroup denies the access (`systemctl daemon-reload` removes the access of "
        "running Docker containers), or the job has no GPU.",
        'remedy': "In a job, request GPUs with --gpus-per-node. For Docker, start the container "
        "again with `--device /dev/nvidia0 --device /dev/nvidiactl --device /dev/nvidia-uvm`, or "
        "use the cgroup driver cgroupfs. For rootless Docker, set no-cgroups = true in "
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
        'cause': "The memory of the GPU (not of the node) is used up: by this program, by another "
        "rank on the same GPU, or by a process of an earlier run.",
        'remedy': "Run {`nvidia-smi`|`rocm-smi`} in the same job step to see which process uses "
        "the memory. Start one rank per GPU, use more GPUs, or choose a smaller problem, batch or "
        "message size (-m). For PyTorch, `export "
        "{PYTORCH_CUDA_ALLOC_CONF|PYTORCH_HIP_ALLOC_CONF}=expandable_segments:True` reduces "
        "fragmentation; for JAX, run `export XLA_PYTHON_CLIENT_PREALLOCATE=false`. Slurm's option "
        "--mem does not help.",
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
        'cause': "{NCCL|RCCL} called the GPU runtime library, and the call failed: {why}",
        'remedy': "For 'out of memory', leave some GPU memory free; {`nvidia-smi`|`rocm-smi`} "
        "shows other processes on the GPU. For 'invalid device' or 'no device', the node has "
        "fewer GPUs than ranks or the container shows no GPU. For 'peer access', 'mapping' or "
        "'invalid argument' of IPC, run `export NCCL_P2P_DISABLE=1`, or let the ranks see all "
        "GPUs. For any other text, the driver and {CUDA|ROCm} are not compatible.",
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
        'cause': "{NCCL|RCCL} finds no InfiniBand card and uses TCP. This is normal on Slingshot "
        "(LUMI, Alps), where the libfabric plugin is used instead of InfiniBand.",
        'remedy': "If the node has an InfiniBand card, check `ls /dev/infiniband` in the "
        "container, and install libibverbs (rdma-core) in the image.",
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
        'cause': "NCCL reads from /sys and from the driver how GPUs and network cards are "
        "connected. In this container or virtual machine NCCL cannot read all of this information "
        "({path}).",
        'remedy': "Start the container with --nv (Docker: --gpus all) and do not hide /sys. "
        "`nvidia-smi topo -m` shows a missing connection. NCCL_TOPO_FILE names a topology file of "
        "the cloud provider; if an attribute is not found, unset NCCL_TOPO_FILE or install a "
        "newer aws-ofi-nccl. NCCL_P2P_LEVEL and NCCL_NET_GDR_LEVEL can be set by hand.",
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
        'cause': "Another rank of {NCCL|RCCL} terminated or crashed, which closed the connection, "
        "or the network between two nodes failed. This rank only reports the closed connection.",
        'remedy': "Look for the first error of any rank, including signals and used-up memory "
        "(`dmesg`, `sacct -j JOB -o state,exitcode,maxrss`). If no rank has another error, run "
        "again with `export NCCL_DEBUG=INFO`, with NCCL_SOCKET_IFNAME set to an interface that "
        "the nodes share, with `export NCCL_IB_DISABLE=1`, and without one node (`srun "
        "--exclude=NODE`).",
        'source': "NCCL, src/misc/socket.cc; github.com/NVIDIA/nccl, issues 795 and 2076",
        'last': True,
    },
    {
        'name': "NVLS of NCCL not usable",
        'patterns': [(" NCCL WARN", r"nvls\.cc:\d+ NCCL WARN")],
        'cause': "NCCL tried to reduce data in the NVSwitch (NVLS), or to share memory between "
        "nodes of one NVLink domain (MNNVL). The driver, the fabric manager or the container does "
        "not allow this.",
        'remedy': "`export NCCL_NVLS_ENABLE=0` (or `export NCCL_MNNVL_ENABLE=0`) avoids the "
        "feature and shows whether this is the cause. Administrators must run "
        "nvidia-fabricmanager in the version of the driver (`systemctl status "
        "nvidia-fabricmanager; nvidia-smi -q | grep -A2 Fabric`). For MNNVL, containers need "
        "/dev/nvidia-caps-imex-channels.",
        'source': "NCCL documentation, NCCL_NVLS_ENABLE; NCCL, src/transport/nvls.cc",
    },
    {
        'name': "ranks of NCCL in different calls",
        'patterns': ["may be caused by a collective mismatch", "Mismatched collective detected"],
        'cause': "The ranks call different collectives, or the same collective with different "
        "sizes, so that each rank waits forever. Either the program has an error, or the ranks "
        "read different data.",
        'remedy': "`export NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=COLL` prints the calls of each rank, "
        "and `export TORCH_DISTRIBUTED_DEBUG=DETAIL` names the call that differs. Check that all "
        "ranks execute the same number of steps (data, branches).",
        'source': "NCCL, src/enqueue.cc; PyTorch, torch.distributed",
    },
]
