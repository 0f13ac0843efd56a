"""GPUs, and the benchmarks themselves."""
from .common import AGAIN, GPU_BIND, PORT

ENTRIES = [
    {'name': 'osu-gpu-bind without a map',
     'text': "OSU_GPU_MAP is not set: no module of this bundle is loaded.",
     'patterns': ["OSU_GPU_MAP is not set"],
     'cause': "osu-gpu-bind learns from the module which GPU, cores and card belong together, and no module of a "
              "site with GPUs is loaded.",
     'remedy': "Load the module first; on nodes without GPUs leave osu-gpu-bind out.",
     'source': GPU_BIND, 'evidence': 'measured'},
    {'name': 'osu-gpu-bind outside of srun',
     'text': "SLURM_LOCALID is not set: start it by srun, ...",
     'patterns': ["SLURM_LOCALID is not set"],
     'cause': "Which GPU a rank gets depends on its number on the node, and srun gives that number.",
     'remedy': "Put osu-gpu-bind behind srun: srun -N2 -n2 osu-gpu-bind osu_bw D D.",
     'source': GPU_BIND, 'evidence': 'measured'},
    {'name': 'part of the GPUs',
     'text': "the job has 4 of the node's 8 GPUs, and Slurm does not say which",
     'patterns': [(" of the node's ", r"the job has (?P<some>\d+) of the node's (?P<all>\d+) GPUs")],
     'cause': "Slurm gave {some} of {all} GPUs, numbers them anew, and SLURM_STEP_GPUS does not list them.",
     'remedy': "Ask for whole nodes: --gpus-per-node={all}, and --exclusive in partitions that share nodes.",
     'source': GPU_BIND, 'evidence': 'measured'},
    {'name': 'GPUs of another node',
     'text': "the step has the GPUs 8 9, and OSU_GPU_MAP knows 0 1 2 3 4 5 6 7 only.",
     'patterns': [(", and OSU_GPU_MAP knows", r"the step has the GPUs (?P<gpus>[\w ]+), and OSU_GPU_MAP knows")],
     'cause': "Slurm's numbers of the GPUs ({gpus}) are not those of the module's site.",
     'remedy': "Is the module for this system? osu-explain names its site. Else leave osu-gpu-bind out.",
     'source': GPU_BIND, 'evidence': 'measured'},
    {'name': 'cores far from the GPU',
     'text': "local rank 3: belongs on the cores 0xfe000000, and the job has none of them",
     'patterns': [(", and the job has none of them",
                   r"local rank \d+: belongs on the cores (?P<mask>\S+), and the job has none of them")],
     'cause': "The job has other cores of the node than those next to this rank's GPU ({mask}).",
     'remedy': "The program runs, slower. Ask for whole nodes: --exclusive.",
     'source': GPU_BIND, 'evidence': 'measured'},
    {'name': 'unknown option of osu-gpu-bind',
     'text': "unknown option '...'; osu-gpu-bind --help lists them",
     'patterns': [("'; osu-gpu-bind --help", r"unknown option '(?P<option>[^'\n]*)'; osu-gpu-bind --help")],
     'cause': "osu-gpu-bind has no option {option}; the first word that is no option is the command.",
     'remedy': "srun ... osu-gpu-bind osu_bw D D.",
     'source': GPU_BIND, 'evidence': 'measured'},
    {'name': 'osu-explain without its data',
     'text': "osu-explain: cannot read ...: .... Install the module again: eb --rebuild",
     'patterns': [("osu-explain: ", r"osu-explain: (?:cannot read |.{0,300} does not set )")],
     'cause': "osu-explain reads a file beside the installation: it is not there, or it does not name the variable "
              "that was asked for.",
     'remedy': "The message lists the variables that the module sets. If the file cannot be read: " + AGAIN,
     'source': 'easyconfigs/o/osu-container/osu-explain', 'evidence': 'measured'},
    {'name': 'no GPU support',
     'text': "ROCm Support Not Enabled",
     'patterns': ["asks for buffers in GPU memory",
                  ("upport ", "(?:ROCm|ROCM|CUDA|OpenACC) [Ss]upport [Nn]ot [Ee]nabled")],
     'cause': "Buffers in GPU memory (D) were asked of programs that know host memory only.",
     'remedy': "osu_bw H H; or an image or installation with the C programs built for the GPU.",
     'source': PORT + '; OSU Micro-Benchmarks, c/util/osu_util_options.c', 'evidence': 'measured'},
    {'name': 'no GPU for the ports',
     'text': "osu_bw: error: D D wants GPU memory: libcuda.so.1 (CUDA) is not found. Runtime: none; ...",
     'patterns': [(" finds no GPU", r"wants GPU memory: \S{1,60} finds no GPU"),
                  (" gives error 100 (", r"wants GPU memory: \w{1,60} of \S{1,60} gives error 100 \("),
                  (" is not found. Runtime: none", r"wants GPU memory: [^\n]{1,200} is not found\. Runtime: none")],
     'cause': "Buffers in GPU memory (D) were asked for where no GPU, no driver or no GPU library is to be seen, or "
              "where a variable hides the GPU.",
     'remedy': "The message names runtime, driver and device files. Ask the job for GPUs, bring the driver into the "
               "container (--nv, --rocm: the modules do it), unset a wrong ROCR_, HIP_ or CUDA_VISIBLE_DEVICES; or "
               "osu_bw H H.",
     'source': PORT, 'evidence': 'measured'},
    {'name': 'GPU driver too old',
     'text': "The driver is older than the runtime: ...",
     'patterns': ["The driver is older than the runtime"],
     'cause': "The GPU runtime of the image or module is too new for the driver of this machine.",
     'remedy': "Take an image or a module with an older ROCm or CUDA; the message names both versions.",
     'source': PORT + '; docs.nvidia.com, CUDA Compatibility', 'evidence': 'derived'},
    {'name': 'MPI without GPU support',
     'text': "D D wants GPU memory, and this MPI does not take it: MPICH Version: 4.2.3, ...",
     'patterns': ["wants GPU memory, and this MPI does not take it"],
     'cause': "The MPI was built without support for this GPU, or the support is not switched on.",
     'remedy': "Intel MPI: export I_MPI_OFFLOAD=1. Cray MPICH: export MPICH_GPU_SUPPORT_ENABLED=1. Others: an image "
               "or a module whose MPI is built with ROCm or CUDA; osu_bw H H works.",
     'source': PORT + '; MPIX_Query_cuda_support of MPICH, Open MPI and Intel MPI', 'evidence': 'measured'},
    {'name': 'fewer GPUs than ranks',
     'text': "D D: fewer GPUs than ranks: on node1 2 ranks have GPU 0000:c1:00.0",
     'patterns': [": fewer GPUs than ranks: on"],
     'cause': "Several ranks of a node have the same GPU.",
     'remedy': "Ask for as many GPUs as ranks (srun --gpus-per-node=8 osu-gpu-bind), or osu_bw -s D D.",
     'source': PORT, 'evidence': 'measured'},
    {'name': 'not enough GPU memory',
     'text': "8388608 bytes of GPU memory cannot be had: ...",
     'patterns': ["bytes of GPU memory cannot be had"],
     'cause': "The GPU has less memory free than the buffers need.",
     'remedy': "Smaller messages (-m), or a GPU that nobody else uses.",
     'source': PORT, 'evidence': 'measured'},
    {'name': 'wrong data',
     'text': "osu_bw: error: the data that arrived is wrong at 4096 bytes",
     'patterns': ["the data that arrived is wrong at"],
     'cause': "With -c the benchmark compares what arrived: these sizes had other bytes than were sent.",
     'remedy': "Do not trust this MPI, driver or card: repeat it with H H and with another provider, and report it.",
     'source': PORT, 'evidence': 'measured'},
    {'name': 'wrong arguments',
     'text': "osu_bw: error: unrecognized arguments: ...",
     'patterns': [(": error: unrecognized arguments", r"osu_\w{1,40}: error: unrecognized arguments"),
                  "unknown buffer place",
                  ("-m: the port of ", r"-m: the port of \w+ starts at"),
                  (" sends no messages", r"-m: \w+ sends no messages"),
                  "buffer place(s) given", "is not a whole number of",
                  " is a collective, whose ranks all have",
                  "RCCL and NCCL send from GPU memory only",
                  (" has no buffers", r"osu_\w{1,40} has no buffers"),
                  (" sends no data", r"-c: osu_\w{1,40} sends no data"),
                  "argument -d/--accelerator: invalid choice",
                  (" is larger than MAX", r"MIN \d+ is larger than MAX")],
     'cause': "The port of the benchmark does not know these arguments; it has fewer than the C program.",
     'remedy': "osu_bw --help lists them: osu_bw -m MAX -i ITERATIONS -x WARMUP H H.",
     'source': PORT, 'evidence': 'measured'},
    {'name': 'buffers of a Python benchmark',
     'text': "--buffer plain: give --buffer numpy or --buffer cupy (GPU memory)",
     'patterns': [(" numpy or ", r": give \S{1,40} numpy or \S{1,40} cupy"),
                  "asks for two kinds of buffers: give one",
                  (": give H H (NumPy) or D D (CuPy", r"buffers [^\n]{1,100}: give H H \(NumPy\) or D D \(CuPy")],
     'cause': "The Python benchmarks have both buffers in arrays of one library, NumPy's or CuPy's.",
     'remedy': "osu_py_bw --buffer numpy or osu_bw H H; osu_py_bw --buffer cupy or osu_bw D D in an image with CuPy.",
     'source': 'container-recipes/mpi4py/osu-python', 'evidence': 'measured'},
    {'name': 'packages of your own',
     'text': "error: externally-managed-environment",
     'patterns': ["externally-managed-environment", "because ensurepip is not",
                  ("Can not perform a '--user' install. User site-packages are ",
                   r"Can not perform a '--user' install\. User site-packages are (?:disabled|not visible)")],
     'cause': "The Python in the container belongs to the image, which is read-only and has no ensurepip; --user would "
              "mix the packages of all your Pythons.",
     'remedy': "A virtual environment: python -m venv --system-site-packages --without-pip env, first on the PATH in "
               "the container; docs/mpi4py.md has the lines.",
     'source': 'PEP 668; docs.python.org, venv; docs/mpi4py.md', 'evidence': 'measured'},
    {'name': 'port not installed rightly',
     'text': "no mpi4py in ...: the installation is incomplete, install it again",
     'patterns': ["no port of that name in",
                  ("installation is incomplete", "no mpi4py in .{0,300}installation is incomplete"),
                  ("the mpi4py in ", "the mpi4py in .{0,300} is for")],
     'cause': "mpi4py's ports of the benchmarks are incomplete, or the system's Python was updated since.",
     'remedy': "eb osu-native.eb -r --rebuild, and for a container build the image again.",
     'source': PORT, 'evidence': 'measured'},
    {'name': 'CUDA newer than the driver',
     'text': "CUDA driver version is insufficient for CUDA runtime version",
     'patterns': ["CUDA driver version is insufficient",
                  ("unsupported CUDA version", r"unsupported CUDA version: driver \S{1,10} < image \S{1,10}"),
                  ("CUDA initialization failure with error", r"CUDA initialization failure with error:? 35\b"),
                  ("returned 35", r"cuda\w{1,40} returned 35\b"), "cudaErrorInsufficientDriver",
                  ("driver on your system is too old", "NVIDIA driver on your system is too old"),
                  ("older than that required", "driver .{0,60}older than that required"),
                  ("not supported in the installed CUDA driver", "not supported in the installed CUDA driver")],
     'cause': "The program's CUDA is newer than the driver that it sees; in a container without --nv it sees none.",
     'remedy': "singularity exec --nv, apptainer exec --nv (export MPI_CONTAINER_OPTIONS=--nv). Else an image with an "
               "older CUDA: nvidia-smi shows what the driver takes.",
     'source': 'github.com/rickstaa/panda-autograsp, issue 150; NVIDIA, CUDA Compatibility', 'evidence': 'derived'},
    {'name': 'no GPU seen',
     'text': "no ROCm-capable device is detected / no CUDA-capable device is detected",
     'patterns': [("-capable device is ", r"(?i:no) (?:CUDA|cuda|ROCm)-capable device is (?:detected|found)"),
                  ("CUDA initialization failure with error", r"CUDA initialization failure with error:? 100\b"),
                  ("returned 100", r"(?:cuda|hip)\w{1,40} returned 100\b"),
                  ("returned 38", r"(?:cuda|hip)\w{1,40} returned 38\b"),
                  ("Unable to open /dev/kfd", r"Unable to open /dev/kfd(?: read-write: (?P<why>.{1,60}))?")],
     'cause': "The program sees no GPU: the step has none, the container does not show it, or you may not open it. "
              "{why}",
     'remedy': "srun --gpus-per-node=8 (or --gpus=1). NVIDIA: --nv; AMD: --rocm, or with --containall "
               "--bind=/dev/kfd,/dev/dri.",
     'also': [("the job has none", "srun bash -c 'echo $SLURM_GPUS_ON_NODE $ROCR_VISIBLE_DEVICES'"),
              ("you may not open it", "srun ls -l /dev/kfd /dev/nvidia0")],
     'source': 'github.com/ROCm/ROCm, issue 1798; docs.sylabs.io, SingularityCE, GPU support',
     'evidence': 'derived'},
    {'name': 'code for another GPU',
     'text': "hipErrorNoBinaryForGpu: Unable to find code object for all current devices!",
     'patterns': ["hipErrorNoBinaryForGpu", "invalid device function",
                  ("Kokkos::", r"Kokkos::\S{0,40}initialize ERROR: (?:likely mismatch of architecture|running kernels "
                   "compiled for)"),
                  "no kernel image is available for execution on the device"],
     'cause': "The program was compiled for other GPUs than the one of this node.",
     'remedy': "Build it for this one: gfx90a is MI250X (LUMI-G, Frontier), gfx942 MI300A, sm_90 H100 and GH200. "
               "rocminfo | grep gfx and nvidia-smi name it.",
     'also': [("it is a library in the image", "AMD_LOG_LEVEL=1 PROGRAM names the file")],
     'source': 'HIP, documentation, hipError_t; github.com/ROCm/MIVisionX, issue 778', 'evidence': 'derived'},
    {'name': 'GPU memory access fault',
     'text': "Memory access fault by GPU node-4 (Agent handle: ...) on address 0x... Reason: Unknown.",
     'patterns': ["Memory access fault by GPU node-"],
     'cause': "A kernel or MPI has touched an address that is not the GPU's: a fault of the program, or MPI handles "
              "GPU buffers and does not know them (two ROCm releases in one process, memory that was freed).",
     'remedy': "osu_bw H H, then D D: where D D alone fails it is MPI. See that image and host have ROCm of one "
               "release (osu-explain), and try FI_MR_CACHE_MONITOR=memhooks or MPICH_GPU_SUPPORT_ENABLED=0.",
     'also': [("it is the program itself", "AMD_SERIALIZE_KERNEL=3 HSA_ENABLE_SDMA=0 PROGRAM on one GPU")],
     'source': 'ROCR-Runtime; github.com/ComputationalRadiationPhysics/picongpu, pull request 5462',
     'evidence': 'untested'},
    {'name': 'GPU of AMD not to be used',
     'text': "hsa api call failure at: ... Call returned HSA_STATUS_ERROR_OUT_OF_RESOURCES: ...",
     'unless': ["memory of the GPU used up"],
     'patterns': ["HSA_STATUS_ERROR_OUT_OF_RESOURCES", "amdgpu not found in modules",
                  ("Call returned 4104", "Call returned 4104"), ("Call returned 0x1008", "Call returned 0x1008"),
                  ("hsa", r"(?i:hsa)(?:_init| runtime)\b[^\n]{0,30}fail\w*\W{1,4}(?:0x)?(?:1008|4104)\b"),
                  ("render group", "not (?:a )?members? of .{0,20}render group"),
                  ("kfd: permission denied", "open /dev/kfd: permission denied")],
     'cause': "ROCm cannot take a GPU into use: you may not open /dev/kfd and /dev/dri/renderD* (groups render and "
              "video), the container does not show them, or this GPU is not supported.",
     'remedy': "srun ls -l /dev/kfd /dev/dri; groups must name those of the files. In a container --rocm, or "
               "--bind=/dev/kfd,/dev/dri. If it works as root only, it is the groups.",
     'also': [("the driver is older than this ROCm, or the GPU is not supported", "dmesg | grep -i -E 'kfd|amdgpu'")],
     'source': 'github.com/ROCm/legacy-rocm-build, issues 1070 and 1758', 'evidence': 'derived'},
    {'name': "GPUs fewer than asked for",
     'text': "CUDA error: invalid device ordinal / hipErrorInvalidDevice",
     'patterns': [("invalid device ordinal", "invalid device ordinal"),
                  ("device < num_gpus", "device >= 0 && device < num_gpus"),
                  ("But your machine only has", r"But your machine only has: \["),
                  ("ErrorInvalidDevice", r"(?:hip|cuda)ErrorInvalidDevice\b"), "CUDA_ERROR_INVALID_DEVICE",
                  "no supported devices found for platform",
                  ("nvalid device id", "[Ii]nvalid device id")],
     'cause': "The program chose a GPU by a number that is not there: it sees fewer GPUs than it has ranks on the "
              "node, often one, because Slurm gives each rank its own.",
     'remedy': "srun --gpus-per-node=8 without --gpus-per-task and --gpu-bind, or let the program take GPU 0 in each "
               "rank. echo $CUDA_VISIBLE_DEVICES $ROCR_VISIBLE_DEVICES in the rank shows what it sees. Docker, "
               "podman: all of /dev/dri.",
     'also': [("AMD: you may not open the GPUs' files (groups render and video)",
               "ls -l /dev/kfd /dev/dri; groups")],
     'source': "CUDA Runtime API, cudaError; HIP, hipError_t; github.com/ROCm/rccl-tests, issue 16; "
               "github.com/ROCm/hip, issue 337",
     'evidence': 'derived'},
    {'name': "no GPU that the program may use",
     'text': "RuntimeError: No HIP GPUs are available / No CUDA GPUs are available",
     'patterns': [("No HIP ", "No HIP (?:GPUs?|devices?) (?:are|is|were|was)? ?(?:available|found|detected|visible)"),
                  ("No CUDA ", "No CUDA (?:GPUs?|devices?) (?:are|is|were|was)? ?(?:available|found|detected|visible)"),
                  ("No ROCm ", "No ROCm (?:GPUs?|devices?) (?:are|is|were|was)? ?(?:available|found|detected|visible)"),
                  ("No cuda ", "No cuda (?:GPUs?|devices?) (?:are|is|were|was)? ?(?:available|found|detected|visible)"),
                  ("couldn't find any ", "couldn't find any (?:HIP|CUDA|GPU) devices"),
                  ("Found no NVIDIA driver on your system", "Found no NVIDIA driver on your system"),
                  ("Could not initialize Tensile host: No devices found", "Could not initialize Tensile host: No "
                   "devices found"),
                  ("ermission denied", r"(?P<device>/dev/(?:kfd|dri/\S{1,20}|nvidia\S{0,20}))[^\n]{0,40}[Pp]ermission "
                   "denied"), ("Torch not compiled with CUDA enabled", "Torch not compiled with CUDA enabled"),
                  ("AssertionError: Torch not compiled", "AssertionError: Torch not compiled"),
                  ("ErrorNoDevice", "(?:cuda|hip)ErrorNoDevice"), "CUDA_ERROR_NO_DEVICE",
                  ("o GPU", "[Nn]o GPUs? (?:was |were |is |are )?(?:found|detected|available|visible)"),
                  ("o GPUs", "[Nn]o GPUss? (?:was |were |is |are )?(?:found|detected|available|visible)"),
                  ("o AMD GPU", "[Nn]o AMD GPUs?s? (?:was |were |is |are )?(?:found|detected|available|visible)"),
                  ("o NVIDIA GPU", "[Nn]o NVIDIA GPUs?s? (?:was |were |is |are )?(?:found|detected|available|visible)"),
                  ("o supported GPU", "[Nn]o supported GPUs? (?:was |were |is |are )?(?:found|detected|available"
                   "|visible)"),
                  ("o compatible GPU", "[Nn]o compatible GPUs? (?:was |were |is |are )?(?:found|detected|available"
                   "|visible)"),
                  (" /dev/", r"(?:Can't|Cannot|[Ff]ailed to|Unable to) (?:open|access) /dev/(?P<device>kfd|dri\S{0,20}"
                   r"|nvidia\S{0,20})"),
                  ("here are 0 visible CUDA devices", "there are 0 visible CUDA devices"),
                  "No visible GPU devices", "no compatible GPUs were discovered",
                  ("No devices were found", "(?:^|nvidia-smi: )No devices were found"),
                  ("No GPU/TPU found", "No GPU/TPU found, falling back to CPU"),
                  (" is NOT loaded", r"(?:ROCk|amdgpu|nvidia) (?:module|driver) is NOT loaded[^\n]{0,60}"),
                  ("failed call to cuInit", r"failed call to cuInit[^\n]{0,100}"),
                  "Could not find cuda drivers on your machine", "you might not have a CUDA gpu",
                  "Can't initialize NVML",
                  "but a CUDA-enabled jaxlib is not installed", "no detected GPUs",
                  "CUDA driver library cannot be found", "but did not detect any GPU",
                  "could not find an appropriate CUDA runtime to use",
                  "Could not find/initialize a specified accelerator device",
                  ("o such file or directory: ", r"[Nn]o such file or directory: ['\x22]?/dev/(?P<device>nvidia"
                   r"\w{0,12}|kfd|dri\S{0,20})"),
                  (": No such file or directory",
                   r"(?<!gres\.conf file )/dev/(?P<device>nvidia(?:ctl|-uvm|\d{1,2})|kfd|dri/\S{1,20}?)"
                   "['\u2019]?: No such file or directory"),
                  ("Unable to determine the device handle for GPU", "Unable to determine the device handle for GPU[^"
                   r"\n]{0,100}"), ("torch.cuda.is_available()", r"torch\.cuda\.is_available\(\)[^\n]{0,20}False")],
     'unless': ['no GPU for the ports', "no GPU seen", "no driver of NVIDIA detected"],
     'cause': "The program sees no GPU that it may use: the step has none, the container does not show it, you may "
              "not open its files, or the library was built without GPUs. {device}",
     'remedy': "srun --gpus-per-node=8; --nv or --rocm; groups must have those of ls -l /dev/kfd /dev/dri/renderD* "
               "(render, video; podman: --group-add keep-groups --device /dev/kfd --device /dev/dri). env | grep "
               "VISIBLE_DEVICES, and unset a wrong one.",
     'also': [("the job has none",
               "srun bash -c 'echo $SLURM_GPUS_ON_NODE'"),
              ("the package is the one for CPUs alone",
               "python -c 'import torch; print(torch.version.cuda, torch.version.hip)'")],
     'source': "github.com/vllm-project/vllm, issues 7207 and 34573; github.com/ROCm/ROCm-docker, issue 112",
     'evidence': 'measured'},
    {'name': "GPU not usable after an update or an error",
     'text': "CUDA error: unknown error / system not yet initialized / CUDA_ERROR_SYSTEM_NOT_READY",
     'unless': ["GPU used before the fork", "JAX that asks the GPU too early"],
     'patterns': [("CUDA_ERROR_", "CUDA_ERROR_(?:SYSTEM_NOT_READY|SystemNotReady|UNKNOWN|Unknown"
                   r"|SYSTEM_DRIVER_MISMATCH|SystemDriverMismatch|NOT_INITIALIZED|InitializationError)\b"),
                  ("cudaError", "cudaError(?:SYSTEM_NOT_READY|SystemNotReady|UNKNOWN|Unknown|SYSTEM_DRIVER_MISMATCH"
                   r"|SystemDriverMismatch|NOT_INITIALIZED|InitializationError)\b"),
                  ("system ", "system (?:not yet initialized|has unsupported display driver|driver mismatch)"),
                  (" error", r"(?:cuda|CUDA)(?: runtime)? error[^\n]{0,20}: (?:unknown error|initialization error)"),
                  ("failed to initialize", r"failed to initialize CUDA: (?:unknown|initialization) error"),
                  ("CUDA failed to initialize", "is present, but CUDA failed to initialize"),
                  ("CUDA unknown error", "CUDA unknown error - this may be due to"),
                  ("CUDA initialization failure with error", r"CUDA initialization failure with error:? (?:999|80[234]"
                   r"|3)\b"), ("unsupported display driver", "[Ss]ystem has unsupported display driver"),
                  (" returned ", r"cuda\w{1,40} returned (?:3|80[234]|999)\b"),
                  ("initialization error: cuda error: unknown error",
                   "initialization error: cuda error: unknown error"),
                  ("forward compatibility was attempted on non supported HW", "forward compatibility was attempted on "
                   "non supported HW"), "hipErrorNotInitialized", "hipErrorUnknown"],
     'cause': "The driver cannot bring the GPU into use: the fabric manager of NVSwitch nodes does not run, driver "
              "and its libraries are of two releases (a container with a libcuda of its own), or the GPU has failed.",
     'remedy': "nvidia-smi on the node outside of the container; systemctl status nvidia-fabricmanager, "
               "nvidia-modprobe -u (or modprobe nvidia_uvm: 'unknown error' where /dev/nvidia-uvm is missing) "
               "(administrators). In the container: ldconfig -p | grep libcuda: the one of the host alone; take "
               "/usr/local/cuda/compat off LD_LIBRARY_PATH. srun --exclude=NODE.",
     'also': [("the GPU was used before the process was forked",
               "the same with multiprocessing set to spawn")],
     'source': "CUDA Runtime API, cudaError; HIP, hipError_t; NVIDIA, Fabric Manager user guide; "
               "github.com/NVIDIA/libnvidia-container, issue 48", 'evidence': 'derived'},
    {'name': "GPU taken by another process",
     'text': "CUDA error: all CUDA-capable devices are busy or unavailable",
     'patterns': [("all CUDA-capable devices are busy", "all CUDA-capable devices are busy"),
                  ("MPS client failed to connect", "MPS client failed to connect"),
                  ("MPS server is not ready", "MPS server is not ready"),
                  ("between the MPS server", "call between the MPS server and the MPS client failed"),
                  ("is/are busy or unavailable", r"device\(s\) is/are busy or unavailable"),
                  "device that is in exclusive mode",
                  ("46 from", r"Return value 46 from 'cuda\w+"),
                  "cudaErrorDevicesUnavailable", "CUDA_ERROR_DEVICE_UNAVAILABLE",
                  ("exclusive", r"exclusive(?:-thread| process)? (?:use|mode|thread)[^\n]{0,60}in use"),
                  ("unavailable", r"device (?:is )?(?:kernel image|busy)[^\n]{0,20}unavailable")],
     'cause': "The GPU lets one process at a time in (compute mode EXCLUSIVE_PROCESS) and another one has it, a "
              "second rank for example; or it has failed.",
     'remedy': "One rank a GPU; MPS (nvidia-cuda-mps-control -d, started on the node, with the same "
               "CUDA_MPS_PIPE_DIRECTORY in the container, bound) for more; nvidia-smi -q -d COMPUTE shows the mode, "
               "nvidia-smi who is on it.",
     'source': "CUDA Runtime API, cudaError; HIP, hipError_t", 'evidence': 'derived'},
    {'name': "wrong address on the GPU",
     'text': "CUDA error: an illegal memory access was encountered",
     'patterns': [("an illegal memory access was encountered", "an illegal memory access was encountered"),
                  ("Error", r"(?:cuda|hip)Error(?:IllegalAddress|LaunchFailure)\b"),
                  ("CUDA_ERROR_",
                   "CUDA_ERROR_(?:ILLEGAL_ADDRESS|LAUNCH_FAILED|MISALIGNED_ADDRESS|ILLEGAL_INSTRUCTION)"),
                  ("unspecified launch failure", "unspecified launch failure"),
                  ("misaligned address", "misaligned address"),
                  ("device-side assert triggered", "device-side assert triggered"),
                  ("HSA_STATUS_ERROR_", "HSA_STATUS_ERROR_(?:MEMORY_APERTURE_VIOLATION|EXCEPTION|ILLEGAL_INSTRUCTION"
                   r"|INVALID_ISA|MEMORY_FAULT)[^\n]{0,100}"),
                  ("an illegal instruction was encountered", "an illegal instruction was encountered")],
     'cause': "A kernel on the GPU has touched memory that is not its own, or ran into an error: a fault of the "
              "program, its input or its library; it is told at some later call.",
     'remedy': "CUDA_LAUNCH_BLOCKING=1 (AMD_SERIALIZE_KERNEL=3) names the call; compute-sanitizer PROGRAM. Where "
               "ranks exchange GPU buffers: the same with one rank, and osu_bw D D, tell whether MPI is at fault.",
     'also': [("the GPU itself is failing",
               "dmesg | grep -i -E 'xid|amdgpu|kfd' on the node")],
     'source': "CUDA Runtime API, cudaError; HIP, hipError_t", 'evidence': 'derived'},
    {'name': "GPU lost",
     'text': "NVRM: Xid ... GPU has fallen off the bus / CUDA error: uncorrectable ECC error encountered",
     'patterns': [("uncorrectable ", "uncorrectable (?:ECC|NVLink|hardware) ?error"),
                  ("GPU has fallen off the bus", "GPU has fallen off the bus"),
                  ("NVRM: Xid", r"NVRM: Xid[^\n]{0,120}"), ("GPU is lost", "GPU is lost"),
                  ("GPU requires reset", "GPU requires reset"),
                  ("rror", r"(?:cuda|CUDA)_?[Ee]rror_?(?:ECC|HardwareStackError|NvlinkUncorrectable)\w*"),
                  ("amdgpu", r"amdgpu[^\n]{0,80}(?:GPU reset|ring \S{1,20} timeout|RAS|hang)[^\n]{0,80}"),
                  ("HW Exception by GPU node", "HW Exception by GPU node"),
                  "ueue preemption time out", "Waiting for fences timed out"],
     'cause': "The GPU has failed (memory, bus, NVLink) or was reset by its driver.",
     'remedy': "srun --exclude=NODE, and tell the administrators with the line of dmesg (Xid number). If it comes on "
               "every node it is the program that hangs the GPU.",
     'source': "NVIDIA, Xid errors; Linux, amdgpu", 'evidence': 'derived'},
    {'name': "GPU of another kind than the library was built for",
     'text': "... sm_120 is not compatible with the current PyTorch installation / rocBLAS error: Cannot read "
             ".../TensileLibrary.dat",
     'patterns': [("with CUDA capability sm_", r"with CUDA capability sm_(?P<arch>\d+) is not compatible"),
                  ("rocBLAS error: Cannot read", r"rocBLAS error: Cannot read[^\n]{0,200}"),
                  ("TensileLibrary", r"TensileLibrary[^\n]{0,100}(?:No such|Cannot|not|Illegal)"),
                  ("invalid ", r"invalid (?:target ID|gfx|GPU arch\w*)[^\n]{0,60}"),
                  ("unsupported ", r"unsupported (?:target ID|gfx|GPU arch\w*)[^\n]{0,60}"),
                  ("unknown ", r"unknown (?:target ID|gfx|GPU arch\w*)[^\n]{0,60}"),
                  ("Error", "(?:cuda|hip)Error(?:NoKernelImageForDevice|InvalidKernelFile|InvalidImage"
                   r"|SharedObjectInitFailed|InvalidDeviceFunction)\b"),
                  ("CUDA_ERROR_", "CUDA_ERROR_(?:NO_BINARY_FOR_GPU|INVALID_PTX|INVALID_IMAGE|UNSUPPORTED_PTX_VERSION)"),
                  ("the provided PTX was compiled with an unsupported toolchain", "the provided PTX was compiled with "
                   "an unsupported toolchain"), ("device kernel image is invalid", "device kernel image is invalid"),
                  ("named symbol not found", "named symbol not found"),
                  ("--gpu-architecture", "nvrtc: error: invalid value for --gpu-architecture"),
                  ("Unsupported gpu architecture", "Unsupported gpu architecture"),
                  "too old to be supported by the triton GPU compiler",
                  "OutOfResources: out of resource: shared memory",
                  ("GPUs or newer", r"only supports? (?:NVIDIA )?\w{1,12} GPUs or newer"),
                  "NVRTC_ERROR_INVALID_OPTION", "shared object initialization failed",
                  ("a PTX JIT compilation failed", "a PTX JIT compilation failed"),
                  ("too many resources requested for launch", "too many resources requested for launch")],
     'unless': ["code for another GPU"],
     'cause': "The program or library has no code for this GPU, or code made by a newer CUDA than the driver takes.",
     'remedy': "An image built for this GPU: gfx90a is MI250X, gfx942 MI300A, sm_80 A100, sm_90 H100 and GH200; "
               "rocminfo | grep gfx, nvidia-smi. 'unsupported toolchain': an older CUDA, or a newer driver. GPUs that "
               "ROCm does not list: HSA_OVERRIDE_GFX_VERSION=10.3.0 as a try.",
     'source': "github.com/ollama/ollama, issue 2870; CUDA driver API", 'evidence': 'derived'},
    {'name': "GPUs that do not reach each other",
     'text': "peer access is not supported between these two devices",
     'patterns': [("peer access ", "peer access (?:is not supported|is already enabled|has not been enabled)"),
                  ("ErrorPeerAccess", r"(?:cuda|hip)ErrorPeerAccess\w+"),
                  ("CUDA_ERROR_PEER_ACCESS", r"CUDA_ERROR_PEER_ACCESS\w+"),
                  ("invalid ", r"invalid (?:device|resource) (?:context|handle)[^\n]{0,20}(?:ipc|Ipc|IPC)"),
                  ("invalid ", r"[Ii]pc[^\n]{0,60}invalid (?:device context|resource handle)"),
                  ("mapping of buffer object failed", "mapping of buffer object failed")],
     'unless': ["GPU memory not shared between ranks"],
     'cause': "Two GPUs of the node cannot read each other's memory directly: their bus does not allow it, a virtual "
              "machine or IOMMU is between, or ranks see one GPU each.",
     'remedy': "nvidia-smi topo -p2p r (rocm-smi --showtopo). NCCL_P2P_DISABLE=1, UCX_TLS=^cuda_ipc, "
               "MPICH_GPU_IPC_ENABLED=0 go without; let each rank see all GPUs.",
     'source': "CUDA Runtime API, cudaError; HIP, hipError_t", 'evidence': 'derived'},
    {'name': "GPU runtime told of an error",
     'text': "CUDA error: ... / HIP error: ... / CUDA_ERROR_...",
     'patterns': [("CUDA", r"\bCUDA(?: runtime| driver| API)? (?:error|Error|ERROR|failure)\b:? ?(?:\d+)?[ :]*"
                   r"(?P<why>[^\n]{1,120})"),
                  (" error", r"\bHIP(?: runtime| driver| API)? error\b:? ?(?:\d+)?[ :]*(?P<why>[^\n]{1,120})"),
                  (" Error", r"\bHIP(?: runtime| driver| API)? Error\b:? ?(?:\d+)?[ :]*(?P<why>[^\n]{1,120})"),
                  (" ERROR", r"\bHIP(?: runtime| driver| API)? ERROR\b:? ?(?:\d+)?[ :]*(?P<why>[^\n]{1,120})"),
                  (" failure", r"\bHIP(?: runtime| driver| API)? failure\b:? ?(?:\d+)?[ :]*(?P<why>[^\n]{1,120})"),
                  ("cuda", r"\bcuda(?: runtime| driver| API)? (?:error|Error|ERROR|failure)\b:? ?(?:\d+)?[ :]*"
                   r"(?P<why>[^\n]{1,120})"),
                  (" error", r"\bhip(?: runtime| driver| API)? error\b:? ?(?:\d+)?[ :]*(?P<why>[^\n]{1,120})"),
                  (" Error", r"\bhip(?: runtime| driver| API)? Error\b:? ?(?:\d+)?[ :]*(?P<why>[^\n]{1,120})"),
                  (" ERROR", r"\bhip(?: runtime| driver| API)? ERROR\b:? ?(?:\d+)?[ :]*(?P<why>[^\n]{1,120})"),
                  (" failure", r"\bhip(?: runtime| driver| API)? failure\b:? ?(?:\d+)?[ :]*(?P<why>[^\n]{1,120})"),
                  ("ROCm", r"\bROCm(?: runtime| driver| API)? (?:error|Error|ERROR|failure)\b:? ?(?:\d+)?[ :]*"
                   r"(?P<why>[^\n]{1,120})"), ("Error", r"\b(?P<why>(?:cuda|hip)Error(?!Code|_t|String|s\b)[A-Z]\w+)"),
                  ("CUDA_ERROR_", r"\b(?P<why>CUDA_ERROR_[A-Z_]+)"),
                  ("HSA_STATUS_ERROR", r"\b(?P<why>HSA_STATUS_ERROR\w*)"),
                  ("hsa_init", r"\b(?P<why>hsa_init[^\n]{0,40}fail\w*)")],
     'unless': ["error of CUDA within NCCL", "no handle of cuDNN or cuBLAS"],
     'cause': "A call of the GPU's runtime failed: {why}",
     'remedy': "nvidia-smi or rocminfo in the same step and container tell whether the GPU is there; a small program "
               "(osu_bw D D) whether it works. Image, driver and library must fit: see the versions.",
     'source': "CUDA Runtime API, cudaError; HIP, hipError_t", 'evidence': 'derived', 'general': 2},
    {'name': "CuPy that does not fit",
     'text': "Failed to import CuPy. ... make sure that the package matches with the version of CUDA or ROCm "
             "installed.",
     'patterns': ["Failed to import CuPy", "CuPy is not correctly installed",
                  ("multiple CuPy packages", "multiple CuPy packages are installed"),
                  ("CuPy failed to load", r"CuPy failed to load (?P<library>\S{1,80})")],
     'cause': "CuPy does not find the libraries of the CUDA or ROCm that it was built for, or two CuPy packages are "
              "installed at once. {library}",
     'remedy': "pip list | grep -i cupy: one alone. cupy-cuda12x for CUDA 12 (nvidia-smi, nvcc --version), "
               "cupy-rocm-... or a build of your own for ROCm; pip install 'cupy-cuda12x[ctk]' brings the libraries "
               "along. CUDA_PATH or LD_LIBRARY_PATH to the CUDA of the image; --nv in a container.",
     'also': [("NumPy is of another major release", "python -c 'import numpy; print(numpy.__version__)'")],
     'source': "docs.cupy.dev, Installation, FAQ; github.com/LipingYi/QSFL, issue 1", 'evidence': 'derived',
     'general': 1},
    {'name': "headers of CUDA or ROCm missing",
     'text': "cupy.cuda.compiler.CompileException: ...: catastrophic error: cannot open source file \"cuda_runtime.h\"",
     'patterns': [("cannot open source file", r"cannot open source file \"(?P<header>(?:cuda|thrust|cub|cooperative|"
                   r"hip|vector_|crt/|nv/|cccl|stddef|mma)[^\"\n]{0,60})\""),
                  ("file not found", r"fatal error: '(?P<other>(?:hip|cuda|thrust)[^'\n]{1,60})' file not found"),
                  ("NVRTC_ERROR_COMPILATION", "NVRTC_ERROR_COMPILATION"),
                  ("HIPRTC_ERROR_COMPILATION", "HIPRTC_ERROR_COMPILATION")],
     'cause': "CuPy (or another package that compiles for the GPU while it runs) does not find the headers of CUDA or "
              "ROCm, or those of another release than its own. {header}{other}",
     'remedy': "An image with the development files (nvidia/cuda:...-devel, rocm/dev-...), or pip install "
               "'cupy-cuda12x[ctk]' (nvidia-cuda-runtime, nvidia-cuda-nvrtc); CUDA_PATH or ROCM_HOME to their "
               "folder. rm -r ~/.cupy/kernel_cache after a change.",
     'source': "docs.cupy.dev, Installation, FAQ; github.com/cupy/cupy, issues 5202 and 4321",
     'evidence': 'derived'},
    {'name': "driver of NVIDIA updated while it ran",
     'text': "Failed to initialize NVML: Driver/library version mismatch",
     'patterns': [("river/library version mismatch", "[Dd]river/library version mismatch")],
     'cause': "The driver in the kernel and its libraries are of two releases: the driver's packages were updated and "
              "the node was not started again, or the image brings a libnvidia-ml or libcuda of its own.",
     'remedy': "Outside of the container nvidia-smi, cat /proc/driver/nvidia/version. If it fails there too: restart "
               "the node, or rmmod nvidia_uvm nvidia_drm nvidia_modeset nvidia; modprobe nvidia (administrators); "
               "srun --exclude=NODE. If it fails inside only: remove libnvidia-* and libcuda from the image.",
     'source': "github.com/NVIDIA/nvidia-container-toolkit, issues 171 and 394; github.com/lyulyul/shine-cluster, "
               "issue 30", 'evidence': 'measured'},
    {'name': "GPUs lost by the container",
     'text': "Failed to initialize NVML: Unknown Error",
     'patterns': ["Failed to initialize NVML: Unknown Error",
                  ("nsufficient ", r"nvml(?: error)?: [Ii]nsufficient [Pp]ermissions"),
                  ("Failed to initialize NVML: Insufficient Permissions", "Failed to initialize NVML: Insufficient "
                   "Permissions")],
     'cause': "The container, or the step of Slurm, may not use the GPUs' files any more or at all: a cgroup forbids "
              "it (systemctl daemon-reload takes them away from Docker's containers), or the job has no GPU.",
     'remedy': "In a job: ask for GPUs (--gpus-per-node). Docker: start the container again, with --device "
               "/dev/nvidia0 --device /dev/nvidiactl --device /dev/nvidia-uvm, or cgroupfs as its driver of "
               "cgroups; rootless: no-cgroups = true in nvidia-container-runtime/config.toml.",
     'source': "github.com/NVIDIA/nvidia-container-toolkit, issue 48; docs.nvidia.com, Container Toolkit, "
               "Troubleshooting", 'evidence': 'derived'},
    {'name': "cuDNN of another release",
     'text': "CUDA backend failed to initialize: Found cuDNN version 8600, but JAX was built against version 8906, ...",
     'patterns': [("cuDNN version", r"Found cuDNN version (?P<found>\d+), but JAX was built against"),
                  ("Unable to load cu", r"Unable to load (?P<library>cu[A-Z]\w+)\."),
                  ("library was not found", r"The (?P<other>cu[A-Z]\w+) library was not found"),
                  ("nstallation found", r"Outdated (?P<third>\w+) installation found"),
                  ("Loaded runtime CuDNN library", r"Loaded runtime CuDNN library: (?P<fourth>\S+) but source was "
                   "compiled with"),
                  ("cuDNN version incompatibility", r"cuDNN version incompatibility: PyTorch was compiled +against"),
                  ("Unable to load any of {libcudnn", r"Unable to load any of \{(?P<fifth>libcudnn\w*)")],
     'cause': "The program does not find the cuDNN (or another library of CUDA) that it was built with, or finds an "
              "older one: of a module, of /usr/local/cuda or of another package. "
              "{library}{other}{third}{fourth}{fifth}",
     'remedy': "unset LD_LIBRARY_PATH, or unload the modules cuda and cudnn, where the package brings its own "
               "(jax[cuda12], torch from pip); else a newer one: pip install --upgrade nvidia-cudnn-cu12, or a module "
               "of that release. One package only that brings its own in an environment (jax beside torch clash).",
     'also': [("which file it is", "LD_DEBUG=libs python -c 'import jax; jax.devices()' 2>&1 | grep cudnn")],
     'source': "docs.jax.dev, Installation; github.com/MIT-REALM/gcbfplus, issue 1; github.com/jax-ml/jax, issues "
               "20519 and 30050", 'evidence': 'measured'},
    {'name': "no handle of cuDNN or cuBLAS",
     'text': "Could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR / CUBLAS_STATUS_NOT_INITIALIZED when calling "
             "cublasCreate",
     'patterns': [("CUDNN_STATUS_", "CUDNN_STATUS_(?:INTERNAL_ERROR|NOT_INITIALIZED|ALLOC_FAILED)"),
                  ("CUBLAS_STATUS_", "CUBLAS_STATUS_(?:NOT_INITIALIZED|ALLOC_FAILED)"),
                  ("CUSOLVER_STATUS_", "CUSOLVER_STATUS_(?:INTERNAL_ERROR|NOT_INITIALIZED|ALLOC_FAILED)"),
                  ("DNN library initialization failed", "DNN library initialization failed"),
                  ("rocblas_status_memory_error", "rocblas_status_memory_error"),
                  ("HIPBLAS_STATUS_", "HIPBLAS_STATUS_(?:NOT_INITIALIZED|ALLOC_FAILED)")],
     'unless': ["cuDNN of another release", "out of memory"],
     'cause': "cuDNN or cuBLAS cannot be set up on the GPU: mostly its memory is used up (another process or rank, or "
              "the 75 % that JAX and all that TensorFlow takes at once), else the library is of another release.",
     'remedy': "nvidia-smi in the same step: who uses the GPU. export XLA_PYTHON_CLIENT_PREALLOCATE=false, "
               "TF_FORCE_GPU_ALLOW_GROWTH=true; one rank a GPU; smaller batches. If the GPU is empty: unset "
               "LD_LIBRARY_PATH, and install package and cuDNN of one release.",
     'also': [("an index out of range on the GPU, told late", "CUDA_LAUNCH_BLOCKING=1 PROGRAM")],
     'source': "docs.jax.dev, GPU memory allocation; github.com/tensorflow/tensorflow, issue 9489; "
               "github.com/jax-ml/jax, issues 15361 and 23162", 'evidence': 'derived'},
    {'name': "cache of MIOpen not to be written",
     'text': "MIOpen(HIP): Warning ... Internal error while accessing SQLite database: disk I/O error",
     'patterns': ["Internal error while accessing SQLite database", "Db lock has failed to lock",
                  ("filesystem", r"boost::filesystem[^\n]{0,120}miopen"),
                  ("miopen", r"(?:[Uu]nable to|[Cc]annot|[Ff]ailed to) (?:create|open|write|lock)[^\n]{0,120}miopen")],
     'cause': "MIOpen (ROCm's library for neural networks) keeps its data base of kernels in your home (~/.config/"
              "miopen, ~/.cache/miopen), which cannot be written or locked there: Lustre or NFS, a home that the "
              "container does not have, or many ranks at once.",
     'remedy': "export MIOPEN_USER_DB_PATH=/tmp/$USER-miopen-$SLURM_NODEID; export "
               "MIOPEN_CUSTOM_CACHE_DIR=$MIOPEN_USER_DB_PATH; mkdir -p $MIOPEN_USER_DB_PATH on each node before the "
               "program. MIOPEN_DEBUG_DISABLE_SQL_WAL=1 is the next to try; rm -r /tmp/miopen-lockfiles if it is "
               "another user's.",
     'source': "docs.lumi-supercomputer.eu, PyTorch; github.com/ROCm/MIOpen, issues 124, 1427 and 2214; "
               "github.com/ROCm/tensorflow-upstream, issue 1419", 'evidence': 'derived'},
    {'name': "compiler of ROCm at run time",
     'text': "MIOpen(HIP): Error [Do] 'amd_comgr_do_action(...)' AMD_COMGR_ACTION_COMPILE_SOURCE_TO_BC: ERROR (1)",
     'patterns': [("amd_comgr_do_action", r"amd_comgr_do_action[^\n]{0,160}ERROR"),
                  ("HIPRTC_ERROR_", r"HIPRTC_ERROR_(?!COMPILATION)\w+"),
                  ("Code object build failed", "Code object build failed"),
                  ("clang", r"clang(?:\+\+)?: error: cannot find (?:ROCm|HIP)[^\n]{0,80}")],
     'unless': ["headers of CUDA or ROCm missing"],
     'cause': "ROCm compiles kernels while the program runs, and cannot: its compiler's files are missing in the image "
              "or of another release, or this GPU is not one that it knows.",
     'remedy': "An image with all of one ROCm (rocm-llvm, rocm-device-libs, hip-dev); ROCM_PATH to its folder and no "
               "other one on LD_LIBRARY_PATH; rocminfo | grep gfx against the list of that release.",
     'source': "github.com/ROCm/MIOpen, issue 1764", 'evidence': 'derived'},
    {'name': "memory of the GPU used up",
     'text': "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB ...",
     'patterns': [(" out of memory", r"(?:CUDA|HIP)(?: error)?(?: \(\d+\))?:? out of memory"),
                  ("OutOfMemoryError: ", r"OutOfMemoryError: (?:CUDA|HIP|Out of memory allocating [\d,]+ bytes "
                   r"\(alloc)"),
                  ("hipErrorOutOfMemory", "hipErrorOutOfMemory"), ("ErrorMemoryAllocation", r"\b(?:cuda|hip)Error"
                   r"MemoryAllocation\b"), "CUDA_ERROR_OUT_OF_MEMORY",
                  ("RESOURCE_EXHAUSTED: ", r"RESOURCE_EXHAUSTED: [^\n]{0,40}[Oo]ut of memory"),
                  ("from device: ", r"failed to allocate [\d.]+[KMGT]i?B? (?:\(\d+ bytes\) )?from device: "),
                  ("_bfc) ran out of memory", r"GPU_\d+_bfc\) ran out of memory"),
                  ("Available Free mem", r"Available Free mem : \d{1,3} MB")],
     'unless': ["not enough GPU memory", "NCCL stopped"],
     'cause': "The memory of the GPU is used up, not that of the node: by this program, by another rank on the same "
              "GPU, or by a process that an earlier run has left there.",
     'remedy': "nvidia-smi or rocm-smi in the same step shows who has it. One rank a GPU; a smaller problem, batch or "
               "message size (-m); more GPUs. PyTorch: PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True (HIP: "
               "PYTORCH_HIP_ALLOC_CONF) against fragments; JAX: XLA_PYTHON_CLIENT_PREALLOCATE=false. --mem of Slurm "
               "does not help.",
     'source': "CUDA Runtime API, cudaError; pytorch.org, CUDA semantics, Memory management",
     'evidence': 'derived'},
    {'name': "GPU used before the fork",
     'text': "RuntimeError: Cannot re-initialize CUDA in forked subprocess.",
     'patterns': ["Cannot re-initialize CUDA in forked subprocess",
                  ("os.fork() was called", r"os\.fork\(\) was called[^\n]{0,80}(?:JAX|incompatible)")],
     'cause': "The program used the GPU and then forked (multiprocessing, DataLoader workers): the child cannot use "
              "it.",
     'remedy': "multiprocessing.set_start_method('spawn') at the start, DataLoader(multiprocessing_context='spawn'), "
               "or no GPU before the workers are started. With MPI: one rank a process instead of workers.",
     'source': "pytorch.org, Multiprocessing best practices", 'evidence': 'derived'},
    {'name': "GPU program ended by the watchdog",
     'text': "CUDA error: the launch timed out and was terminated",
     'patterns': ["the launch timed out and was terminated", "cudaErrorLaunchTimeout", "CUDA_ERROR_LAUNCH_TIMEOUT"],
     'cause': "The GPU also drives a screen, and its driver ends kernels that take longer than some seconds; or the "
              "kernel hangs.",
     'remedy': "Use a GPU without a screen (compute nodes), or end the graphical session there; shorter kernels.",
     'source': "CUDA Runtime API, cudaErrorLaunchTimeout", 'evidence': 'derived'},
    {'name': "compiler of the driver not in the container",
     'text': "CUDA error: PTX JIT compiler library not found",
     'patterns': ["PTX JIT compiler library not found", ("libnvidia-ptxjitcompiler", r"libnvidia-ptxjitcompiler"
                  r"\.so[.\d]{0,20}: (?:not found|cannot open)"),
                  "OS call failed or operation not supported on this OS"],
     'unless': ["driver of NVIDIA not in the container"],
     'cause': "A part of NVIDIA's driver is not in the container: libnvidia-ptxjitcompiler, which compiles code for "
              "GPUs newer than the program, or /dev/nvidia-uvm.",
     'remedy': "--nv (see nvliblist.conf of Apptainer); Docker: NVIDIA_DRIVER_CAPABILITIES=compute,utility and "
               "--gpus all; ls /dev/nvidia* inside, nvidia-modprobe -u -c=0 on the host.",
     'source': "CUDA Runtime API, cudaErrorJitCompilerNotFound, cudaErrorOperatingSystem", 'evidence': 'derived'},
    {'name': "JAX that asks the GPU too early",
     'text': "CUDA backend failed to initialize: jaxlib/cuda/versions_helpers.cc:90: operation "
             "gpuDeviceGetAttribute(...) failed: CUDA_ERROR_NOT_INITIALIZED",
     'patterns': [("gpuDeviceGetAttribute", r"operation gpuDeviceGetAttribute[^\n]{1,160}CUDA_ERROR_NOT_INITIALIZED")],
     'cause': "This release of JAX (0.4.26) asks the GPU before CUDA is started, where jax.distributed takes its ranks "
              "from Slurm: a fault of JAX, not of the driver.",
     'remedy': "pip install --upgrade 'jax[cuda12]' (0.4.27 or newer), or 0.4.25.",
     'source': "github.com/jax-ml/jax, issue 20711 and pull request 20588", 'evidence': 'measured'},
    {'name': "OpenCL without a platform",
     'text': "clGetPlatformIDs(-1001) / No OpenCL platforms found",
     'patterns': ["PLATFORM_NOT_FOUND_KHR", ("clGetPlatformIDs", r"clGetPlatformIDs\W[^\n]{0,60}-1001"),
                  ("OpenCL platform", "(?:[Nn]o|[Cc]ould not find any|[Cc]annot find any|0) OpenCL platforms?"),
                  ("umber of platforms", r"^ *Number of platforms +0$"), "CL_DEVICE_NOT_FOUND",
                  ("OpenCL device", "[Nn]o OpenCL devices? (?:found|available|detected)")],
     'cause': "OpenCL finds no driver: in /etc/OpenCL/vendors no file names one, or the one that it names is not "
              "there. --nv of a container brings NVIDIA's libraries along, and not that file.",
     'remedy': "NVIDIA: --bind /etc/OpenCL, or in the image mkdir -p /etc/OpenCL/vendors; echo libnvidia-opencl.so.1 > "
               "/etc/OpenCL/vendors/nvidia.icd. AMD: rocm-opencl in the image, and --rocm. clinfo -l shows the "
               "platforms; ls /etc/OpenCL/vendors.",
     'source': "Khronos, cl_khr_icd; github.com/KhronosGroup/OpenCL-ICD-Loader", 'evidence': 'derived'},
    {'name': "TensorFlow without libraries of CUDA",
     'text': "Cannot dlopen some GPU libraries. ... Skipping registering GPU devices...",
     'patterns': ["Cannot dlopen some GPU libraries", "Skipping registering GPU devices"],
     'cause': "TensorFlow does not find the libraries of CUDA and cuDNN that it was built with, and computes on the "
              "host.",
     'remedy': "pip install 'tensorflow[and-cuda]', or an image of its authors (tensorflow/tensorflow:latest-gpu) with "
               "--nv. Modules: cuda and cudnn of the releases in TensorFlow's table, on LD_LIBRARY_PATH; "
               "TF_CPP_MIN_LOG_LEVEL=0 names those that are missing.",
     'source': "tensorflow.org, Install, tested build configurations", 'evidence': 'derived', 'general': 1},
    {'name': "ranks of JAX that do not find each other",
     'text': "XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Barrier_id: PjRT_Client_Connect",
     'patterns': [("Barrier timed out", r"Barrier timed out\.[^\n]{0,200}(?:PjRT|[Cc]oordination|Barrier_id|barrier)"),
                  ("oordination service", r"(?:[Ff]ailed|[Uu]nable|[Ee]rror|UNAVAILABLE|timed out)[^\n]{0,120}"
                   "[Cc]oordination service"),
                  ("oordination service agent", r"[Cc]oordination service agent[^\n]{0,60}(?:error|fail|timed out)"),
                  ("istributed service", "(?:[Tt]erminating process because|[Ff]ailed to connect to)[^\\n]{0,80}"
                   "distributed service"),
                  ("failed to connect to all addresses", r"failed to connect to all addresses[^\n]{0,200}"),
                  ("RegisterTask", r"DEADLINE_EXCEEDED[^\n]{0,200}RegisterTask"),
                  ("ERROR in coordination service", r"has been set to ERROR in coordination service[^\n]{0,80}"),
                  ("heartbeat timeout", r"Task /job:\S{1,60} heartbeat timeout"),
                  "cluster registration failed"],
     'cause': "The ranks of JAX (or of TensorFlow) wait for one that leads, and it or another one did not come in "
              "time: it has failed before, its address or port is wrong or closed, or fewer were started than "
              "announced.",
     'remedy': "Look for the first error of any rank. One rank a GPU by srun, and "
               "jax.distributed.initialize(coordinator_address='NODE:PORT', num_processes=..., process_id=...) with "
               "what scontrol show hostnames $SLURM_JOB_NODELIST names first; unset http_proxy https_proxy; "
               "initialization_timeout=600 for many ranks or slow file systems.",
     'source': "docs.jax.dev, Multi-process environments", 'evidence': 'derived', 'general': 1},
    {'name': "ranks of PyTorch that do not all come",
     'text': "RuntimeError: Timed out initializing process group in store based barrier on rank: 0, for key: "
             "store_based_barrier_key:1 (world_size=2, worker_count=1, timeout=0:30:00)",
     'patterns': [("in store based barrier on rank", r"Timed out initializing process group in store based barrier on "
                   r"rank[^\n]{0,100}world_size=(?P<size>\d+), worker_count=(?P<count>\d+)"),
                  ("in store based barrier", "[Tt]imed out initializing process group in store based barrier"),
                  ("retrieving ncclUniqueId", r"retrieving ncclUniqueId from \[0\] via c10d[^\n]{0,160}"),
                  ("wait timeout after ", r"wait timeout after \d+ms, keys: /?\S{0,80}")],
     'unless': ["rendezvous of PyTorch failed"],
     'cause': "Ranks of PyTorch wait for others that do not come (world size {size}, counted {count}): fewer were "
              "started than announced, or one has failed; more were, twice on one address; or a job that was started "
              "again found the store of its earlier run.",
     'remedy': "One start a rank: torchrun --nnodes=$SLURM_NNODES --nproc-per-node=GPUS with srun "
               "--ntasks-per-node=1, or srun with a task a GPU and no torchrun. A fresh MASTER_PORT for each job, and "
               "no file:// store that stays behind. Where nodes are slow to load: init_process_group(timeout=...).",
     'source': "PyTorch, torch/distributed/distributed_c10d.py; github.com/tczhangzhi/pytorch-distributed, issue 18",
     'evidence': 'derived'},
    {'name': "PyTorch without NCCL or MPI",
     'text': "RuntimeError: Distributed package doesn't have NCCL built in",
     'patterns': [("Distributed package doesn't have ",
                   r"Distributed package doesn't have (?P<name>\w{2,8}) built in"),
                  ("PyTorch is not compiled with ", r"PyTorch is not compiled with (?P<other>NCCL|MPI) support")],
     'cause': "This PyTorch was built without {name}{other}: the package is the one for CPUs (NCCL), or one from pip "
              "or conda (MPI, which no package has).",
     'remedy': "python -c 'import torch; print(torch.version.cuda, torch.version.hip, "
               "torch.distributed.is_nccl_available())'. The package for CUDA or ROCm: pip install torch --index-url "
               "https://download.pytorch.org/whl/cu124 (rocm6.2); without GPUs backend='gloo'. MPI: build PyTorch "
               "from source with that MPI, or use gloo.",
     'source': "pytorch.org, Distributed communication package, Backends", 'evidence': 'derived'},
    {'name': "ranks of PyTorch without an address",
     'text': "ValueError: Error initializing torch.distributed using env:// rendezvous: environment variable "
             "MASTER_ADDR expected, but not set",
     'patterns': [("expected, but not set", r"environment variable (?P<name>\w{4,20}) expected, but not set"),
                  ("KeyError: ", "KeyError: '(?P<key>MASTER_ADDR|MASTER_PORT|WORLD_SIZE|LOCAL_RANK)'")],
     'cause': "PyTorch's ranks find each other by variables, and {name}{key} is not set: the program was started "
              "without torchrun, or by srun, which sets others.",
     'remedy': "torchrun --nproc-per-node=GPUS PROGRAM. With srun, a task a GPU: export MASTER_ADDR=$(scontrol show "
               "hostnames | head -1) MASTER_PORT=29500, and in the program RANK, WORLD_SIZE and LOCAL_RANK from "
               "SLURM_PROCID, SLURM_NTASKS and SLURM_LOCALID. In a container: no --cleanenv.",
     'source': "pytorch.org, Distributed communication package, Environment variable initialization",
     'evidence': 'derived'},
    {'name': "network that Gloo does not find",
     'text': "RuntimeError: [enforce fail at gloo/transport/tcp/device.cc:127] rp != nullptr. Unable to find address "
             "for: node1",
     'patterns': [("gloo", r"gloo/transport/tcp/device\.cc[^\n]{0,120}Unable to find (?:interface|address) for:? ?"
                   r"\[?(?P<what>[^\s\]]{0,60})"),
                  ("Unable to find address for", r"Unable to find address for: ?(?P<what>\S{1,60})"),
                  ("onnectFullMesh failed", "Gloo connectFullMesh failed"),
                  ("gloo/transport/tcp/pair.cc", r"gloo/transport/tcp/pair\.cc:\d+\][^\n]{0,160}")],
     'cause': "Gloo, by which PyTorch's ranks speak on the host, finds no network by the node's name, or takes one "
              "that leads nowhere (loopback, Docker's), or the other rank has ended. {what}",
     'remedy': "export GLOO_SOCKET_IFNAME=hsn0 (ip addr shows the names; the same for NCCL_SOCKET_IFNAME); getent "
               "hosts $(hostname) must give the node's address, not 127.0.1.1. 'Connection closed by peer': look for "
               "the first error of any rank.",
     'source': "pytorch.org, Distributed communication package, Choosing the network interface", 'evidence': 'derived'},
    {'name': "toolkit of CUDA not found",
     'text': "OSError: CUDA_HOME environment variable is not set. Please set it to your CUDA install root.",
     'patterns': ["CUDA_HOME environment variable is not set", "CUDA_HOME does not exist",
                  ("mismatches the version that was used", r"detected CUDA version \((?P<have>[\d.]+)\) mismatches the "
                   r"version that was used to compile\s+PyTorch \((?P<want>[\d.]+)\)"),
                  ("does not match the version torch", r"Installed CUDA version (?P<have>[\d.]+) does not match the "
                   r"version torch was compiled with (?P<want>[\d.]+)"),
                  "Failed to find C compiler. Please specify via CC", "libNVVM cannot be found",
                  ("nvcc'", r"No such file or directory: '\S{0,100}nvcc'"),
                  ("nvcc: ", r"\bnvcc: (?:command )?not found"), "Unable to find nvcc",
                  "Unable to JIT load the", "ROCM_HOME environment variable is not set"],
     'cause': "A package (DeepSpeed, FlashAttention, Triton, numba) compiles code for the GPU, and does not find nvcc "
              "(hipcc), a C compiler, or those of the release that PyTorch was built for. {have} {want}",
     'remedy': "module load cuda of the same release (python -c 'import torch; print(torch.version.cuda)'), export "
               "CUDA_HOME=/usr/local/cuda and CC=gcc; an image with -devel in its name. Wheels that were made for your "
               "release of torch and CUDA need no compiler.",
     'source': "PyTorch, torch/utils/cpp_extension.py; deepspeed.ai, Installation", 'evidence': 'derived'},
    {'name': "factory of cuDNN registered twice",
     'text': "Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN when one has already "
             "been registered",
     'patterns': [("Unable to register cu", r"Unable to register cu\w+ factory: Attempting to register factory")],
     'cause': "TensorFlow starts parts of CUDA twice, and says so: harmless.",
     'remedy': "Nothing. If it finds no GPU, another line says why (failed call to cuInit, for example).",
     'source': "github.com/tensorflow/tensorflow, issue 62075", 'evidence': 'derived', 'last': True},
    {'name': "hipBLASLt not for this GPU",
     'text': "RuntimeError: Attempting to use hipBLASLt on a unsupported architecture!",
     'patterns': ["use hipBLASLt on a unsupported architecture", "HIPBLAS_STATUS_NOT_SUPPORTED",
                  "hipBLASLt on an unsupported architecture", "hipBLASLt error: heuristic fetch failed"],
     'cause': "PyTorch or another program takes hipBLASLt, which this release of ROCm has for few GPUs only (MI200, "
              "MI300), or not for this kind of numbers.",
     'remedy': "export TORCH_BLAS_PREFER_HIPBLASLT=0 (PyTorch 2.4 and newer; DISABLE_ADDMM_HIP_LT=1 before). "
               "ROCBLAS_USE_HIPBLASLT=0 for rocBLAS. Else a PyTorch for a newer ROCm.",
     'source': "github.com/Comfy-Org/ComfyUI, issue 3698; github.com/pytorch/pytorch, issues 138067 and 150016",
     'evidence': 'measured'},
    {'name': "CUDA missing beside nvidia-smi",
     'text': "NVIDIA-SMI 450.36.06    Driver Version: 450.36.06    CUDA Version: N/A",
     'patterns': [("CUDA Version: ", r"CUDA Version: +\**(?:N/A|ERR!)")],
     'cause': "nvidia-smi is there and libcuda.so.1 is not, or is not that of the driver: the container got the tools "
              "of the driver and not what programs compute with.",
     'remedy': "Docker, podman, enroot: NVIDIA_DRIVER_CAPABILITIES=compute,utility (all). Apptainer: --nv. ldconfig -p "
               "| grep libcuda inside: the host's alone, no /usr/local/cuda/compat before it.",
     'source': "docs.nvidia.com, Container Toolkit, driver capabilities; github.com/rapidsai/docker, issue 405",
     'evidence': 'derived'},
    {'name': "data base of MIOpen missing",
     'text': "MIOpen(HIP): Warning [SQLiteBase] Missing system database file: gfx90a68.kdb Performance may degrade.",
     'patterns': [(" system database file:", r"(?:Missing|Unable to read) system database file: ?(?P<file>\S{0,100})")],
     'cause': "MIOpen has no kernels made before for this GPU ({file}) and compiles each when it is first used: the "
              "first steps are slow.",
     'remedy': "Harmless. Install miopen-hip-gfx90akdb (or that of your GPU) in the image, and keep "
               "MIOPEN_USER_DB_PATH between runs.",
     'source': "rocm.docs.amd.com, MIOpen, Kernel database", 'evidence': 'derived', 'last': True},
    {'name': "names of GPUs of AMD not there",
     'text': "/opt/amdgpu/share/libdrm/amdgpu.ids: No such file or directory",
     'patterns': [("amdgpu.ids", r"amdgpu\.ids: No such file")],
     'cause': "libdrm does not find its list of names of AMD's GPUs: harmless.",
     'remedy': "Nothing; or install libdrm-common (libdrm-amdgpu) in the image.",
     'source': "libdrm, amdgpu/amdgpu_asic_id.c", 'evidence': 'derived', 'last': True},
]
