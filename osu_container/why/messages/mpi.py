"""What MPI itself says: calls that failed, and its settings."""

ENTRIES = [
    {'name': "handles of another MPI",
     'patterns': [("invalid communicator", "MPI_ERR_COMM: ?invalid communicator"),
                  "Invalid communicator, error stack"],
     'cause': "A communicator or type is not one of this MPI: mostly the program, or a library in it, was compiled "
              "with mpi.h of another MPI than the one that is loaded.",
     'remedy': "ldd PROGRAM | grep -i mpi should show one MPI alone. Compile all parts with the mpicc of this MPI; "
               "with mpi4py: pip install --no-binary mpi4py mpi4py.",
     'source': "Open MPI, ompi/errhandler; MPICH, src/mpi/errhan/errnames.txt",
     'also': [("the program uses a communicator that it has freed, or before MPI_Init", "a debugger at MPI_Abort")]},
    {'name': "message longer than its buffer",
     'patterns': ["MPI_ERR_TRUNCATE",
                  ("truncated", r"Message (?:from rank \d+ and tag \d+ )?truncated(?! : receiv)"),
                  "message sizes do not match across processes",
                  ("OFI poll failed (", r"OFI poll failed \([^)\n]{0,150}(?:Truncation error|Message too long)")],
     'cause': "A rank has received more than its buffer holds: ranks do not agree on a number or a tag, mostly a "
              "fault of the program or ranks that read different input.",
     'remedy': "See that all ranks run the same program with the same input. If only one MPI, or some size, shows "
               "it: other algorithms (OMPI_MCA_coll=^hcoll,tuned; MPIR_CVAR_DEVICE_COLLECTIVES=none; "
               "I_MPI_ADJUST_...; UCX_TLS=self,sm,tcp).",
     'source': "MPICH, src/mpi/errhan/errnames.txt; Open MPI, ompi/errhandler",
     'also': [("the MPI is at fault", "the same with another MPI, or with TCP")]},
    {'name': "window that MPI cannot make",
     'patterns': ["MPI_ERR_WIN: invalid window"],
     'cause': "One-sided communication (MPI_Win_...) does not work with the component that MPI has chosen for it.",
     'remedy': "Open MPI: export OMPI_MCA_osc=^ucx (or OMPI_MCA_osc=rdma, pt2pt). MPICH over libfabric: "
               "MPIR_CVAR_CH4_OFI_ENABLE_RMA=0.",
     'source': "github.com/maierbn/opendihu, issue 33; Open MPI, osc",
     'unless': ["message not delivered", "portal table entry not found", "message cancelled",
                "shared window over ranks that do not share memory"]},
    {'name': "MPI cannot start ranks of its own",
     'patterns': [("Function MPID_Comm_spawn", r"Function MPID_Comm_spawn\w{0,20} not implemented")],
     'cause': "The program starts more ranks by MPI_Comm_spawn, and there are no places left, or what started it "
              "cannot do that: srun with pmi2 or cray_shasta cannot.",
     'remedy': "mpirun instead of srun, with more slots than ranks (-n 1 in a job of -n 8, or --oversubscribe); "
               "mpi4py's MPIPoolExecutor: python -m mpi4py.futures, which needs no spawn.",
     'source': "Open MPI, orte/mca/rmaps; mpi4py, documentation, mpi4py.futures"},
    {'name': "memory of MPI for its ranks not to be had",
     'patterns': ["MPIDU_Init_shm", "unable to attach to shared memory",
                  ("ucx function returned with failed status",
                   r"ucx function returned with failed status ?\([^)\n]{0,120}(?:Shared memory error|No resources "
                   r"are available)")],
     'cause': "MPI could not make the memory that ranks of a node share: /dev/shm is full, too small or closed to "
              "you.",
     'remedy': "df -h /dev/shm in the container; rm what earlier runs have left there (ls -l /dev/shm). Docker and "
               "podman: --shm-size=2g or --ipc=host.",
     'source': "MPICH, src/mpid/common/shm",
     'also': [("leftovers there belong to another user", "ls -l /dev/shm")],
     'unless': ["shared memory full"]},
    {'name': "shared window over ranks that do not share memory",
     'patterns': ["not in the same shared memory domain"],
     'cause': "The program asks for memory that all its ranks share (MPI_Win_allocate_shared), and they are on "
              "several nodes, or MPI shares no memory between them (ch3:sock, MPIR_CVAR_NOLOCAL, containers that "
              "hide /dev/shm).",
     'remedy': "All ranks on one node for a try (srun -N1). In the program: the communicator of MPI_Comm_split_type "
               "with MPI_COMM_TYPE_SHARED. unset MPIR_CVAR_NOLOCAL MPIR_CVAR_CH3_NOLOCAL.",
     'source': "github.com/pmodels/mpich, issue 7381; MPI standard, MPI_Win_allocate_shared"},
    {'name': "hwloc that looks for GPUs of AMD",
     'patterns': ["Failed to open drm root directory"],
     'cause': "hwloc, which MPI uses, has a part for GPUs of AMD, and this node or container shows none.",
     'remedy': "Harmless. export HWLOC_COMPONENTS=-rsmi silences it.",
     'source': "github.com/flux-framework/flux-core, issue 5743", 'last': True},
    {'name': "ranks that took different networks",
     'patterns': [("selected pml ",
                   r"selected pml (?P<one>\w{1,20}), but peer \S{1,60} on (?P<host>\S{1,80}) selected pml "
                   r"?(?P<other>\w{0,20})")],
     'cause': "Open MPI took another way of communication on this node ({one}) than on {host} ({other}): a card is "
              "there, is up, or has its library on one of the two only; or they have different settings.",
     'remedy': "The same way for all: export OMPI_MCA_pml=ucx (then the node that lacks it says why), or "
               "OMPI_MCA_pml=ob1. srun bash -c 'ibv_devinfo -l; env | grep ^OMPI' compares the nodes.",
     'source': "Open MPI, ompi/mca/pml/base/pml_base_select.c; github.com/open-mpi/ompi, issue 12475",
     'also': [("PMIx lost what the other rank told (nothing behind the last pml)", "PMIX_MCA_gds=hash srun ...")]},
    {'name': "ranks of MPI_Comm_spawn that do not reach the others",
     'patterns': [("ompi_dpm_dyn_init() failed", r"ompi_dpm_dyn_init\(\) failed"),
                  ("_ERROR_LOG: ", r"_ERROR_LOG: [\w ]{1,40} in file \S{0,200}\bdpm/dpm")],
     'cause': "Ranks that MPI_Comm_spawn started do not reach those that started them: on their node Open MPI takes "
              "another interface or another way of communication.",
     'remedy': "export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=NAME (the interface that "
               "nodes share) for a try; a newer Open MPI. mpi4py: python -m mpi4py.futures needs no spawn.",
     'source': "Open MPI, ompi/dpm/dpm.c; github.com/open-mpi/ompi, issue 9041",
     'unless': ["ranks that took different networks"]},
    {'name': "file that MPI-IO cannot lock",
     'patterns': ["File locking failed in ADIOI",
                  ("This requires fcntl(2) to be implemented", r"This requires fcntl\(2\) to be implemented"),
                  "ADIOI_Set_lock",
                  ("unable to lock file, errno = ", r"unable to lock file, errno = (?!11\b)(?:\d+)")],
     'cause': "MPI-IO or HDF5 locks parts of files, and this file system does not (Lustre without flock, NFS, some "
              "cluster file systems).",
     'remedy': "Write to another file system; export HDF5_USE_FILE_LOCKING=FALSE for HDF5; ROMIO hints "
               "romio_ds_write=disable (Cray: MPICH_MPIIO_HINTS). Administrators: mount Lustre with -o flock.",
     'source': "ROMIO, adio/common/lock.c; HDF5, documentation, file locking"},
    {'name': "GPU memory between ranks of Cray MPICH",
     'patterns': [("(GTL DEBUG:", r"\(GTL DEBUG: ?-?\d+\) (?P<call>\w+): (?P<why>[^\n]{1,100})"),
                  ("GTL_DEBUG: [", r"GTL_DEBUG: \[-?\d+\] (?P<call>\w+): (?P<why>[^\n]{1,100})"),
                  ("Assertion failed in file ",
                   r"Assertion failed in file \S{0,150}(?P<call>cray_gpu_ops)\.c at line (?P<why>\d+)")],
     'cause': "Cray's GPU transport layer could not use GPU memory of a rank ({call}: {why}): ranks of the node do "
              "not see each other's GPUs, the memory is of a pool (cudaMallocAsync), or the driver's libraries do "
              "not fit.",
     'remedy': "Let each rank see all GPUs of the node (no --gpus-per-task, --gpu-bind=none); allocate by "
               "cudaMalloc or hipMalloc; MPICH_GPU_IPC_ENABLED=0 goes without.",
     'source': "Cray MPICH, intro_mpi(3); github.com/JuliaGPU/CUDA.jl, issue 1398",
     'unless': ["GPU memory not shared between ranks"]},
    {'name': "mpi4py not installed",
     'patterns': [("No module named ", "No module named '?mpi4py")],
     'cause': "The Python that runs has no mpi4py: it is another Python than the one it was installed for, or the "
              "container has none.",
     'remedy': "which python; python -m pip show mpi4py. In the container of this project: an image of osu-mpi4py. "
               "In a container of your own: pip install mpi4py, with the image's mpicc on PATH.",
     'source': "mpi4py, documentation, Installation"},
    {'name': "setting that Open MPI does not take",
     'patterns': ["An invalid value was supplied for an enum variable",
                  ("An invalid ", "An invalid (?:value|component) .{0,60}(?:MCA|mca)"),
                  (" parameter ", "(?:MCA|mca) parameter .{0,80}(?:invalid|illegal|not recognized)")],
     'cause': "A setting of Open MPI (OMPI_MCA_..., --mca, or a file openmpi-mca-params.conf) has a value that it "
              "does not know; the lines below name it.",
     'remedy': "env | grep OMPI_MCA_; cat ~/.openmpi/mca-params.conf $PREFIX/etc/openmpi-mca-params.conf. Correct "
               "or remove it.",
     'source': "Open MPI, help-mca-var.txt; github.com/conda-forge/openmpi-feedstock, issue 63"},
    {'name': "Open MPI moved from where it was installed",
     'patterns': ["You were supposed to get help about", "cmd failed to exec its actual executable",
                  "couldn't open the help file"],
     'cause': "Open MPI does not find the files of its own installation: it was moved, the container shows another "
              "one in its place, or OPAL_PREFIX names a wrong folder. What it wanted to say is lost.",
     'remedy': "export OPAL_PREFIX=FOLDER (that has share/openmpi; Open MPI 5 also PMIX_PREFIX and PRTE_PREFIX), or "
               "unset one of another Open MPI; the real error is the topic that is named. prterun must stand in bin "
               "beside mpirun (Open MPI 5; PRRTE may be a package of its own).",
     'source': "Open MPI, opal/util/show_help.c; FAQ, relocating",
     'unless': ["folder of Open MPI for its session not to be made", "helpers of mpirun not reached",
                "limit of locked memory", "component of Open MPI missing"]},
    {'name': "connection of two cards failed",
     'patterns': [("ibv_modify_qp", "ibv_modify_qp.{0,60}failed"),
                  ("ibv_create_ah(", r"ibv_create_ah\(.{0,200}failed")],
     'cause': "Two cards of InfiniBand or RoCE could not be connected: on Ethernet (RoCE) the wrong GID or an "
              "address that does not route; on InfiniBand a port that is not active or a partition key.",
     'remedy': "ibv_devinfo and show_gids on both nodes: state PORT_ACTIVE. RoCE: UCX_IB_GID_INDEX=3, "
               "NCCL_IB_GID_INDEX=3, UCX_NET_DEVICES=mlx5_0:1. Without: UCX_TLS=self,sm,tcp.",
     'source': "rdma-core, ibv_modify_qp(3); UCX, documentation, FAQ"},
    {'name': "MPI started twice",
     'patterns': ["GNI_CdmAttach", "GNI_RC_INVALID_STATE",
                  "Open MPI has detected that this process has attempted to initialize",
                  "Calling MPI_Init or MPI_Init_thread twice is erroneous"],
     'cause': "MPI was started a second time in the same process: two libraries of one program (a simulator and "
              "mpi4py) each call MPI_Init, or have an MPI each.",
     'remedy': "Import mpi4py before the other library, or mpi4py.rc.initialize = False; all parts must be linked "
               "with one MPI (ldd).",
     'source': "github.com/neuronsimulator/nrn, issue 581; MPI standard, MPI_Init"},
    {'name': "MVAPICH cannot bind its ranks",
     'patterns': ["Error parsing CPU mapping string", ("smpi_setaffinity", r"smpi_setaffinity(?:\(\d+\)|:\d+)"),
                  ("MPIDI_CH3I_set_affinity(", r"MPIDI_CH3I_set_affinity\(\d+\)")],
     'cause': "MVAPICH binds each rank to a core by itself, and cannot tell its ranks of this node or their cores: "
              "what started them (flux, srun, a container) does not say it, or the job has a part of the node.",
     'remedy': "export MV2_ENABLE_AFFINITY=0 (MVP_ENABLE_AFFINITY=0 in release 3), and let srun bind: "
               "--cpu-bind=cores.",
     'source': "github.com/flux-framework/flux-core, issue 4371; MVAPICH2 user guide, CPU mapping"},
    {'name': "number of ranks that the program's grid does not fit",
     'patterns': [("in mpi4py.MPI.", r"in mpi4py\.MPI\.\w{1,20}\.Create_cart\b")],
     'cause': "The program arranges its ranks as a grid, and there are fewer ranks than the grid has places.",
     'remedy': "srun -n with the product of the grid's sizes (px x py x pz of its input), or another grid. If each "
               "rank is alone (size 1): --mpi= of srun is wrong, or mpirun is of another MPI.",
     'source': "MPICH, src/mpi/errhan/errnames.txt; MPI standard, MPI_Cart_create"},
    {'name': "file of Open MPI that another rank has removed",
     'patterns': [("System call: unlink(2)", r"System call: unlink\(2\) (?P<file>\S{0,200})")],
     'cause': "At the end of a run two ranks of Open MPI remove the same file of theirs, and the later one finds it "
              "gone: {file}",
     'remedy': "Harmless, the results are whole. A newer Open MPI, or export OMPI_MCA_btl=self,tcp, or "
               "OMPI_MCA_btl_vader_backing_directory=/dev/shm, silences it.",
     'source': "github.com/open-mpi/ompi, issues 7971 and 8531", 'general': True},
]
