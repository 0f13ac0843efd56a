"""What MPI itself says: calls that failed, and its settings."""

ENTRIES = [
    {'name': "rank that does not exist",
     'text': "Invalid rank has value 1 but must be nonnegative and less than 1",
     'patterns': [("Invalid rank has value ", r"Invalid rank has value (?P<rank>-?\d+) but must be nonnegative and "
                   r"less than (?P<size>\d+)"), (": invalid r", "MPI_ERR_R(?:ANK|OOT): invalid r(?:ank|oot)"),
                  ("Invalid root (value given was ", r"Invalid root \(value given was -?\d+\)")],
     'cause': "The program talks to a rank that is not there. Where the number must be less than 1, each rank is "
              "alone: mpirun or srun is of another MPI than the program.",
     'remedy': "ldd PROGRAM | grep libmpi shows the program's MPI; take the mpirun of the same (or srun with the "
               "right --mpi=; srun --mpi=list). With the right number of ranks: the program wants more of them.",
     'source': "MPICH, src/mpi/errhan/errnames.txt; github.com/open-mpi/ompi, issue 8824", 'evidence': 'derived'},
    {'name': "handles of another MPI",
     'text': "*** MPI_ERR_COMM: invalid communicator",
     'patterns': [("invalid communicator", "MPI_ERR_COMM: ?invalid communicator"),
                  ("MPI_ERR_TYPE: invalid datatype", "MPI_ERR_TYPE: invalid datatype"), "Null communicator",
                  ("Invalid communicator, error stack", "Invalid communicator, error stack"),
                  ("Invalid datatype, error stack", "Invalid datatype, error stack"),
                  ("MPI_ERR_OP: invalid reduce operation", "MPI_ERR_OP: invalid reduce operation"),
                  ("Invalid MPI_Op, error stack", "Invalid MPI_Op, error stack"),
                  ("Invalid communicator (comm=0x", r"Invalid communicator \(comm=0x")],
     'cause': "A communicator or type is not one of this MPI: mostly the program, or a library in it, was compiled "
              "with mpi.h of another MPI than the one that is loaded.",
     'remedy': "ldd PROGRAM | grep -i mpi should show one MPI alone. Compile all parts with the mpicc of this MPI; "
               "with mpi4py: pip install --no-binary mpi4py mpi4py.",
     'also': [("the program uses a communicator that it has freed, or before MPI_Init",
               "a debugger at MPI_Abort")],
     'source': "Open MPI, ompi/errhandler; MPICH, src/mpi/errhan/errnames.txt", 'evidence': 'derived'},
    {'name': "message longer than its buffer",
     'text': "MPI_ERR_TRUNCATE: message truncated",
     'patterns': ["MPI_ERR_TRUNCATE",
                  ("truncated", r"Message (?:from rank \d+ and tag \d+ )?truncated(?! : receiv)"),
                  ("message sizes do not match across processes", "message sizes do not match across processes"),
                  ("OFI poll failed (", r"OFI poll failed \([^)\n]{0,150}(?:Truncation error|Message too long)")],
     'cause': "A rank has received more than its buffer holds: ranks do not agree on a number or a tag, mostly a "
              "fault of the program or ranks that read different input.",
     'remedy': "See that all ranks run the same program with the same input. If only one MPI, or some size, shows it: "
               "other algorithms (OMPI_MCA_coll=^hcoll,tuned; MPIR_CVAR_DEVICE_COLLECTIVES=none; I_MPI_ADJUST_...; "
               "UCX_TLS=self,sm,tcp).",
     'also': [("the MPI is at fault",
               "the same with another MPI, or with TCP")],
     'source': "MPICH, src/mpi/errhan/errnames.txt; Open MPI, ompi/errhandler", 'evidence': 'derived'},
    {'name': "buffers that overlap",
     'text': "Fatal error in PMPI_Gather: Invalid buffer pointer ... Buffers must not be aliased",
     'patterns': ["Buffers must not be aliased", "buffers must not be aliased"],
     'cause': "The program gives MPI the same memory to send from and to receive into. Open MPI lets that pass, MPICH "
              "does not.",
     'remedy': "In the program: MPI_IN_PLACE. To go on with MPICH, Cray or Intel MPI as it is: export "
               "MPIR_CVAR_COLL_ALIAS_CHECK=0 (Cray: MPICH_NO_BUFFER_ALIAS_CHECK=1).",
     'source': "MPICH, src/mpi/errhan/errnames.txt; MPI standard, Collective communication", 'evidence': 'derived'},
    {'name': "argument that MPI does not take",
     'text': "Fatal error in PMPI_Send: Invalid tag, error stack:",
     'patterns': [("MPI_ERR_",
      r"MPI_ERR_(?P<what>TAG|COUNT|ARG|BUFFER|GROUP|DIMS|TOPOLOGY|REQUEST|INFO\w{0,20}|KEYVAL|BASE"
                   r"|SIZE|DISP|RMA_\w{1,20}|PENDING): "),
                  (", error stack", "(?P<what>Invalid (?:tag|count|argument|buffer pointer|group|request|info|topology"
                   "|dimension|MPI_Request|datatype argument)), error stack"),
                  ("Negative count, value is ", r"Negative count, value is -?\d+"),
                  ("Null ", "Null (?:buffer|pointer|request) "),
                  (" argument, value is", "Invalid (?:count|tag) argument, value is")],
     'unless': ["handles of another MPI", "buffers that overlap", "GPU memory between ranks of Cray MPICH",
                "GPU memory not shared between ranks", "number of ranks that the program's grid does not fit"],
     'cause': "The program gives MPI a wrong argument ({what}): a negative or too large number (more than 2147483647 "
              "elements), a tag above MPI_TAG_UB, memory that is not there.",
     'remedy': "It is a fault of the program or of its input: try smaller, or ask its authors. Tags: UCX, cxi and "
               "Intel MPI allow fewer than others (MPI_TAG_UB).",
     'source': "MPICH, src/mpi/errhan/errnames.txt; Open MPI, ompi/errhandler", 'evidence': 'derived'},
    {'name': "window that MPI cannot make",
     'text': "*** MPI_ERR_WIN: invalid window",
     'patterns': ["MPI_ERR_WIN: invalid window", "MPI_ERR_RMA_SYNC",
                  ("Wrong synchronization of RMA calls", "Wrong synchronization of RMA calls"),
                  ("MPI_Win_", r"MPI_Win_\w{1,40}\(.{0,300}(?:failed|error)"),
                  ("MPIDI_", r"MPIDI_\w{0,40}win\w{0,40}\(.{0,300}(?:failed|error)")],
     'unless': ["read of another completion failed", "message not delivered", "portal table entry not found",
                "message cancelled", "memory beyond the window of another rank",
                "shared window over ranks that do not share memory"],
     'cause': "One-sided communication (MPI_Win_...) does not work with the component that MPI has chosen for it.",
     'remedy': "Open MPI: export OMPI_MCA_osc=^ucx (or OMPI_MCA_osc=rdma, pt2pt). MPICH over libfabric: "
               "MPIR_CVAR_CH4_OFI_ENABLE_RMA=0.",
     'source': "github.com/maierbn/opendihu, issue 33; Open MPI, osc", 'evidence': 'measured'},
    {'name': "MPI used before its start",
     'text': "*** The MPI_Comm_size() function was called before MPI_INIT was invoked.",
     'patterns': ["function was called before MPI_INIT was invoked",
                  ("Attempting to use an MPI routine before initializing MPI", "Attempting to use an MPI routine "
                   "before initializing MPI"),
                  ("Attempting to use an MPI routine after finalizing MPI", "Attempting to use an MPI routine after "
                   "finalizing MPI"),
                  ("function was called after MPI_FINALIZE was invoked", "function was called after MPI_FINALIZE was "
                   "invoked"), "MPI_Init has not been called", "Called MPI routine before MPI_Init"],
     'cause': "The program, or a library in it, calls MPI before MPI_Init or after MPI_Finalize; often it has loaded "
              "two MPIs, of which one was started.",
     'remedy': "ldd PROGRAM | grep -i mpi: one MPI alone, and the mpirun of the same. A library built for parallel "
               "use (HDF5, PETSc) needs MPI_Init first.",
     'source': "Open MPI, help-mpi-api; MPICH, src/mpi/errhan/errnames.txt", 'evidence': 'derived'},
    {'name': "MPI cannot start ranks of its own",
     'text': "MPI_ERR_SPAWN: could not spawn processes",
     'patterns': ["MPI_ERR_SPAWN", ("MPI_Comm_spawn", r"MPI_Comm_spawn\w{0,20}\(.{0,300}failed"),
                  ("All nodes which are allocated for this job are already filled", "All nodes which are allocated "
                   "for this job are already filled"), "PMI_spawn_multiple", ("_Job_Spawn", "PMI2?_Job_Spawn"),
                  ("spawn", r"Function MPID_Comm_spawn\w{0,20} not implemented")],
     'cause': "The program starts more ranks by MPI_Comm_spawn, and there are no places left, or what started it "
              "cannot do that: srun with pmi2 or cray_shasta cannot.",
     'remedy': "mpirun instead of srun, with more slots than ranks (-n 1 in a job of -n 8, or --oversubscribe); "
               "mpi4py's MPIPoolExecutor: python -m mpi4py.futures, which needs no spawn.",
     'source': "Open MPI, orte/mca/rmaps; mpi4py, documentation, mpi4py.futures", 'evidence': 'derived'},
    {'name': "rank on the other side has gone",
     'text': "... Communication error with rank 3 / MPI_ERR_PROC_ABORTED",
     'patterns': [("Communication error with rank ", r"Communication error with rank (?P<rank>\d+)"),
                  ("Communication error", r"MPI\w{1,50}\(\d+\)[. ]*: Communication error$"),
                  ("MPI_ERR_PROC_", "MPI_ERR_PROC_(?:ABORTED|FAILED)"),
                  (" closed by peer", "(?:connection|socket) closed by peer"),
                  ("mca_btl_tcp_", r"mca_btl_tcp_(?:frag_recv|endpoint_recv_\w+|frag_send|(?:recv|send)_blocking"
                   "|endpoint"
                   r"_send_\w+)[^\n]{0,80}(?:Connection "
                   "reset|Broken pipe|Connection timed out)"),
                  ("mca_oob_tcp_", r"mca_oob_tcp_\w{1,40}: .{0,80}(?:Connection reset|Broken pipe|failed)"),
                  ("tcp_peer_", r"tcp_peer_\w{1,40}: .{0,80}(?:Connection reset|Broken pipe|failed)"), "Socket closed",
                  "socket closed", ("peer ", "peer .{0,60}has (?:unexpectedly )?(?:disconnected|died)"),
                  ("errno=104 - Connection reset by peer", "errno=104 - Connection reset by peer"),
                  (" failed (", r"OFI [^\n(]{0,60} failed \([^)\n]{0,150}(?:Connection reset|Broken pipe|Connection "
                   "aborted|endpoint is shut ?down|Transport endpoint is not connected)")],
     'cause': "The rank at the other end has ended, or its node is gone; what this rank says is the consequence.",
     'remedy': "Look for the first error of any rank (memory, a signal, another node). If there is none: sacct -j "
               "JOB, dmesg of that node; over TCP a firewall or the wrong interface.",
     'also': [("TCP takes an interface that leads nowhere",
               "OMPI_MCA_btl_tcp_if_include=NAME mpirun ..., NAME from ip -brief addr")],
     'source': "MPICH, src/mpid/ch3; Open MPI, opal/mca/btl/tcp", 'evidence': 'derived', 'last': True},
    {'name': "MPICH cannot reach another rank",
     'text': "MPID_nem_tcp_init(373): gethostbyname failed, node7 (errno 1)",
     'patterns': [("unable to connect to ", r"unable to connect to (?P<host>\S{1,100}) on port \d+"),
                  ("MPID", r"\bMPIDI?_?(?:nem_tcp|CH3I)_\w{1,60}\b.{0,200}(?:Connection refused|No route to "
                   "host|timed out)"),
                  ("tcp_", r"tcp(?:_connect|_post_connect|_module)\w*.{0,200}(?:Connection refused|No route to host"
                   "|timed out)"), ("gethostbyname failed, ", r"gethostbyname failed, (?P<host>\S{1,100})"),
                  ("name failed", "get_?host_?by_?name failed"), ("getaddrinfo failed", "getaddrinfo failed")],
     'cause': "MPI does not find or reach the address of another rank's node by TCP ({host}): its name is unknown "
              "here or leads to a wrong address, or a firewall stands between.",
     'remedy': "getent hosts NAME on every node (in the container too); /etc/hosts must have the node's own name. "
               "MPIR_CVAR_CH3_INTERFACE_HOSTNAME or FI_TCP_IFACE=NAME takes another interface.",
     'source': "MPICH, src/mpi/errhan/errnames.txt", 'evidence': 'derived'},
    {'name': "MPICH stopped on its own check",
     'text': "Assertion failed in file src/mpid/ch4/... at line 1045: ...",
     'patterns': [("Assertion failed in file ", r"Assertion failed in file (?P<file>\S{1,200}) at line \d+"),
                  ("internal ABORT - process ", r"internal ABORT - process \d+")],
     'cause': "MPICH (or Intel, Cray, MVAPICH) met what it takes for impossible: a fault in it, or in memory that the "
              "program or two libraries have damaged.",
     'remedy': "A newer release of that MPI, or another provider or transport (FI_PROVIDER=tcp, "
               "MPIR_CVAR_CH4_OFI_...), tells. With GPU buffers: the same with H H.",
     'also': [("the program has damaged memory",
               "valgrind or -fsanitize=address on a small case")],
     'source': "MPICH, src/util/mpir_assert.h", 'evidence': 'derived', 'general': 1},
    {'name': "MPI out of communicators",
     'text': "Too many communicators (0/2048 free on this process; ignore_id=0)",
     'patterns': ["Too many communicators"],
     'cause': "The program makes communicators and does not free them; MPICH has 2048.",
     'remedy': "It is a leak of the program or of a library (h5py, PETSc, adios): a newer release, MPI_Comm_free, or "
               "fewer in one run. Open MPI has more.",
     'source': "MPICH, src/mpi/comm/contextid.c", 'evidence': 'derived'},
    {'name': "memory of MPI for its ranks not to be had",
     'text': "MPIDU_Init_shm_init: unable to allocate shared memory",
     'patterns': [("unable to allocate shared memory", "unable to allocate shared memory"), "MPIDU_Init_shm",
                  ("MPIDI_SHM", r"MPIDI_SHM\w{0,40}\b.{0,200}(?:failed|error)"),
                  ("Out of memory (unable to allocate", r"Out of memory \(unable to allocate"),
                  ("MPIR_Init", r"MPIR_Init\w{0,20}\b.{0,300}(?:shm_open|mmap) failed"),
                  ("unable to attach to shared memory", "unable to attach to shared memory"),
                  ("ucx function returned with failed status", r"ucx function returned with failed status ?\([^)\n]"
                   "{0,120}(?:Shared memory error|No resources are available)"),
                  ("attach to shared memory segment failed", "attach to shared memory segment failed"),
                  ("shm_open ", "shm_open (?:failed|error)"),
                  ("/dev/shm/", r"open\w* .{0,60}/dev/shm/\S{1,100}.{0,60}(?:failed|denied|error)")],
     'unless': ["shared memory full"],
     'cause': "MPI could not make the memory that ranks of a node share: /dev/shm is full, too small or closed to you.",
     'remedy': "df -h /dev/shm in the container; rm what earlier runs have left there (ls -l /dev/shm). Docker and "
               "podman: --shm-size=2g or --ipc=host.",
     'also': [("leftovers there belong to another user",
               "ls -l /dev/shm")],
     'source': "MPICH, src/mpid/common/shm", 'evidence': 'derived'},
    {'name': "memory that ranks of a node do not find",
     'text': "MPIU_SHMW_Seg_create_attach_templ(671): open failed - No such file or directory",
     'patterns': [("failed - No such file", r"SHM\w{0,50}\(\d+\)[^\n]{0,60}: \w{0,10}open failed - No such file")],
     'cause': "Ranks that MPI takes for ranks of one node do not see the same /dev/shm (or /tmp): each is in a "
              "container of its own, or several nodes have the same host name.",
     'remedy': "srun hostname: each node needs a name of its own. Docker and podman: one container for all ranks of a "
               "node, or --ipc=host -v /tmp:/tmp; Apptainer: no --contain. Without shared memory: MPIR_CVAR_NOLOCAL=1.",
     'also': [("a host stands in the file of hosts in several places", "sort FILE | uniq -c")],
     'source': "MPICH, src/mpid/common/shm; github.com/pmodels/mpich, issue 1041", 'evidence': 'derived'},
    {'name': "shared window over ranks that do not share memory",
     'text': "MPI_Win_allocate_shared: processes are not in the same shared memory domain",
     'patterns': [("in the same shared memory domain", "not in the same shared memory domain"),
                  ("MPI_ERR_RMA_SHARED", r"MPI_ERR_RMA_SHARED\b"),
                  ("Memory cannot be shared", "Memory cannot be shared")],
     'cause': "The program asks for memory that all its ranks share (MPI_Win_allocate_shared), and they are on several "
              "nodes, or MPI shares no memory between them (ch3:sock, MPIR_CVAR_NOLOCAL, containers that hide "
              "/dev/shm).",
     'remedy': "All ranks on one node for a try (srun -N1). In the program: the communicator of MPI_Comm_split_type "
               "with MPI_COMM_TYPE_SHARED. unset MPIR_CVAR_NOLOCAL MPIR_CVAR_CH3_NOLOCAL.",
     'source': "github.com/pmodels/mpich, issue 7381; MPI standard, MPI_Win_allocate_shared", 'evidence': 'derived'},
    {'name': "hwloc that looks for GPUs of AMD",
     'text': "Failed to open drm root directory /sys/class/drm.: No such file or directory",
     'patterns': ["Failed to open drm root directory"],
     'cause': "hwloc, which MPI uses, has a part for GPUs of AMD, and this node or container shows none.",
     'remedy': "Harmless. export HWLOC_COMPONENTS=-rsmi silences it.",
     'source': "github.com/flux-framework/flux-core, issue 5743", 'evidence': 'measured', 'last': True},
    {'name': "ranks that took different networks",
     'text': "[n2:99] [[31923,0],1] selected pml ob1, but peer [[31923,0],0] on n1 selected pml ucx",
     'patterns': [("but peer", r"selected pml (?P<one>\w{1,20}), but peer \S{1,60} on (?P<host>\S{1,80}) selected pml "
                   r"?(?P<other>\w{0,20})")],
     'cause': "Open MPI took another way of communication on this node ({one}) than on {host} ({other}): a card is "
              "there, is up, or has its library on one of the two only; or they have different settings.",
     'remedy': "The same way for all: export OMPI_MCA_pml=ucx (then the node that lacks it says why), or "
               "OMPI_MCA_pml=ob1. srun bash -c 'ibv_devinfo -l; env | grep ^OMPI' compares the nodes.",
     'also': [("PMIx lost what the other rank told (nothing behind the last pml)", "PMIX_MCA_gds=hash srun ...")],
     'source': "Open MPI, ompi/mca/pml/base/pml_base_select.c; github.com/open-mpi/ompi, issue 12475",
     'evidence': 'derived'},
    {'name': "ranks of MPI_Comm_spawn that do not reach the others",
     'text': "ompi_dpm_dyn_init() failed --> Returned \"Unreachable\" (-12) instead of \"Success\" (0)",
     'patterns': [("ompi_dpm_dyn_init", r"ompi_dpm_dyn_init\(\) failed"),
                  ("dpm/dpm", r"_ERROR_LOG: [\w ]{1,40} in file \S{0,200}\bdpm/dpm"),
                  ("dpm_orte.c", r"_ERROR_LOG: [\w ]{1,40} in file \S{0,200}dpm_orte\.c")],
     'unless': ["ranks that took different networks", "rank by itself that cannot start others",
                "two programs that MPI does not connect"],
     'cause': "Ranks that MPI_Comm_spawn started do not reach those that started them: on their node Open MPI takes "
              "another interface or another way of communication.",
     'remedy': "export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=NAME (the interface that "
               "nodes share) for a try; a newer Open MPI. mpi4py: python -m mpi4py.futures needs no spawn.",
     'source': "Open MPI, ompi/dpm/dpm.c; github.com/open-mpi/ompi, issue 9041", 'evidence': 'derived'},
    {'name': "file that MPI-IO cannot lock",
     'text': "File locking failed in ADIOI_Set_lock(fd 1A,cmd F_SETLKW/7,type F_WRLCK/1,whence 0) with return value "
             "FFFFFFFF and errno 26.",
     'patterns': ["File locking failed in ADIOI",
                  ("This requires fcntl(2) to be implemented", r"This requires fcntl\(2\) to be implemented"),
                  "ADIOI_Set_lock",
                  ("unable to lock file, errno = ", r"unable to lock file, errno = (?!11\b)(?P<number>\d+)"),
                  ("file locking disabled on this file system", "file locking disabled on this file system")],
     'cause': "MPI-IO or HDF5 locks parts of files, and this file system does not (Lustre without flock, NFS, some "
              "cluster file systems).",
     'remedy': "Write to another file system; export HDF5_USE_FILE_LOCKING=FALSE for HDF5; ROMIO hints "
               "romio_ds_write=disable (Cray: MPICH_MPIIO_HINTS). Administrators: mount Lustre with -o flock.",
     'source': "ROMIO, adio/common/lock.c; HDF5, documentation, file locking", 'evidence': 'derived'},
    {'name': "file of HDF5 that another program holds",
     'text': "HDF5-DIAG: ... unable to lock file, errno = 11, error message = 'Resource temporarily unavailable'",
     'patterns': [("unable to lock file, errno = 11", r"unable to lock file, errno = 11\b"),
                  ("file is already open for", r"file is already open for (?:write|read-only|SWMR)")],
     'cause': "Another process has this file of HDF5 open: each rank opens it without MPI-IO, or an earlier run still "
              "lives.",
     'remedy': "One rank writes, or all by parallel HDF5 (driver='mpio' in h5py); fuser FILE names who has it. After a "
               "crash: h5clear -s FILE.",
     'source': "HDF5, documentation, file locking; github.com/open-mpi/ompi, issue 6535", 'evidence': 'derived'},
    {'name': "file that MPI-IO cannot open or write",
     'text': "MPI_ERR_IO: input/output error / MPI_ERR_NO_SUCH_FILE",
     'patterns': [("MPI_ERR_", "MPI_ERR_(?P<what>IO|NO_SUCH_FILE|ACCESS|AMODE|FILE|NO_SPACE|QUOTA|READ_ONLY"
                   r"|FILE_EXISTS|BAD_FILE)\b"),
                  (", error stack", "(?P<what>File does not exist|Read-only file|Not enough space for file|Quota "
                   "exceeded for files|Invalid file name|Other I/O error ?), error stack"),
                  ("ADIO", r"ADIOI?_\w{1,40}\(\d+\).{0,40}: (?P<what>[^\n]{1,100})"),
                  ("mca_", r"mca_(?:fs|fbtl|sharedfp|io)_\w+: .{0,100}(?:[Ee]rror|failed)")],
     'unless': ["file that MPI-IO cannot lock", "MPICH cannot reach another rank"],
     'cause': "MPI could not open or write a file ({what}): it or its folder is not there for all ranks, you may not "
              "write, or the disk or quota is full.",
     'remedy': "ls -ld of the folder by srun on every node, and in the container; df -h and lfs quota -hu $USER. Open "
               "MPI: OMPI_MCA_io=romio341 (or ^ompio) and OMPI_MCA_sharedfp=^lockedfile,individual tell whether its "
               "own MPI-IO is at fault.",
     'source': "ROMIO; Open MPI, OMPIO", 'evidence': 'derived'},
    {'name': "threads that this MPI does not allow",
     'text': "MPI_THREAD_MULTIPLE is not supported",
     'patterns': [("MPI_THREAD_", r"MPI_THREAD_(?:MULTIPLE|SERIALIZED|FUNNELED)\b.{0,80}(?:not (?:supported|provided"
                   "|available)|unsupported|is required|required)"),
                  ("MPI_THREAD_", "(?:not provide|does not support|insufficient|lack).{0,60}MPI_THREAD_"),
                  ("MPI implementation does not ", "MPI implementation does not .{0,60}thread"),
                  ("required thread ", "required thread (?:support|level)")],
     'cause': "The program asks MPI for a level of threads that this MPI was not built for or was not asked for in "
              "time.",
     'remedy': "MVAPICH2: export MV2_ENABLE_AFFINITY=0. Cray MPICH: export MPICH_MAX_THREAD_SAFETY=multiple. Intel "
               "MPI: I_MPI_THREAD_SPLIT off, -mt_mpi. Open MPI: ompi_info | grep Thread; mpi4py: "
               "mpi4py.rc.thread_level.",
     'source': "MPI standard, MPI_Init_thread", 'evidence': 'derived'},
    {'name': "internal error of Open MPI",
     'text': "MPI_ERR_INTERN: internal error / MPI_ERR_OTHER: known error not in list",
     'patterns': [("MPI_ERR_", r"MPI_ERR_(?P<what>INTERN|OTHER|UNKNOWN|NO_MEM|UNSUPPORTED_OPERATION|CONVERSION)\b"),
                  "MPI_ERR_UNKNOWN"],
     'cause': "Open MPI has failed in a call and the line says no more ({what}); the lines before it, of UCX, "
              "libfabric or the network, do.",
     'remedy': "OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,sm,tcp (vader for sm in Open MPI 4) goes over TCP and tells "
               "whether the network is at fault. OMPI_MCA_pml_base_verbose=100 says what was chosen.",
     'source': "Open MPI, ompi/errhandler", 'evidence': 'derived', 'general': 1},
    {'name': "affinity of MVAPICH",
     'text': "WARNING: ... MVAPICH2 ... affinity ... oversubscribed / MV2_ENABLE_AFFINITY",
     'patterns': [("MV2_ENABLE_AFFINITY", "Warning.{0,20}: .{0,80}MV2_ENABLE_AFFINITY"), "MV2_ENABLE_AFFINITY",
                  ("oversubscri", "MVAPICH2? .{0,60}oversubscri"), (" oversubscri", "cores? oversubscri.{0,60}MV2_")],
     'cause': "MVAPICH binds each rank to a core, and the ranks have threads, or a job has fewer cores than that.",
     'remedy': "export MV2_ENABLE_AFFINITY=0 (threads), or MV2_CPU_BINDING_POLICY=hybrid MV2_THREADS_PER_PROCESS=N.",
     'source': "MVAPICH2 user guide, Running with efficient CPU mapping", 'evidence': 'derived', 'last': True},
    {'name': "MVAPICH finds no card",
     'text': "[src/mpid/ch3/channels/mrail/...]: No active HCAs found on the system",
     'patterns': [(" found", "No (?:active )?HCAs? found"), ("Attributes failed sanity check", "Attributes failed "
                   "sanity check"), ("rdma_iba_hca_init", r"rdma_iba_hca_init\w{0,40}\(\d+\)"),
                  ("Max MV2_", r"Max MV2_(?:SRQ_SIZE|DEFAULT_MAX_SG_LIST) is 0"), (" detected", "No (?:active "
                                                                                                    ")?HCAs? detected"),
                  (" available", "No (?:active )?HCAs? available"), "rdma_open_hca", "rdma_find_active_port",
                  ("rdma_get_control_parameters", "rdma_get_control_parameters.{0,100}"),
                  (" IB device found", "(?:No|no) IB device found"), ("Error ", "Error (?:getting|in getting) HCA"),
                  "No IB device found", ("mv2_", "mv2_.{0,100}(?:No such device|failed)")],
     'cause': "MVAPICH2 is built for InfiniBand and finds no card that is up: the container does not show "
              "/dev/infiniband, or the node has none.",
     'remedy': "ibstat on the node, ls /dev/infiniband in the container. Without a card: an image with MPICH or Open "
               "MPI; MVAPICH2-X: MV2_IBA_HCA names the card.",
     'source': "MVAPICH2 user guide, Troubleshooting", 'evidence': 'derived'},
    {'name': "rank of MVAPICH ended",
     'text': "[mpispawn_0][child_handler] MPI process (rank: 0, pid: 77) terminated with signal 11 -> abort job",
     'patterns': [("MPI process (rank: ", r"MPI process \(rank: (?P<rank>\d+), pid: \d+\) (?:terminated with|exited "
                   "with)"), ("]: aborting job", r"\[cli_\d+\]: aborting job"),
                  ("[mpirun_rsh][", r"\[mpirun_rsh\]\[\w+\] ")],
     'cause': "A rank of MVAPICH has ended, and the job with it.",
     'remedy': "The first error of any rank is the cause; export MV2_DEBUG_SHOW_BACKTRACE=1 shows where a signal came.",
     'source': "MVAPICH2 user guide, Troubleshooting", 'evidence': 'derived', 'last': True},
    {'name': "variable that Intel MPI no longer knows",
     'text': "MPI startup(): I_MPI_DAPL_UD environment variable is not supported.",
     'patterns': [("MPI startup(): ", r"MPI startup\(\): (?:Warning: )?(?P<name>I_MPI_\w+) (?:environment )?variable "
                   "is not supported"),
                  ("I_MPI_PMI_LIBRARY will be ignored since the hydra process manager was found",
                   "(?P<name>I_MPI_PMI_LIBRARY) will be ignored since the hydra process manager was found"),
                  "FI_PSM3_UUID was not generated",
                  ("MPI startup(): ", r"MPI startup\(\): (?:Warning|To check the list|Similar variables)"),
                  ("tuning ", "(?:could not|[Uu]nable to) (?:open|read|load) (?:the )?tuning (?:file|data)")],
     'cause': "Intel MPI leaves out a setting that this release does not have or need: {name}.",
     'remedy': "Harmless. unset what env | grep I_MPI_ shows of older scripts.",
     'source': "Intel MPI, developer reference, removed variables", 'evidence': 'derived', 'last': True},
    {'name': "Intel MPI without PMI",
     'text': "MPI startup(): PMI server not found. Please set I_MPI_PMI_LIBRARY variable if it is not a singleton "
             "case.",
     'patterns': ["PMI server not found. Please set I_MPI_PMI_LIBRARY",
                  ("I_MPI_PMI_LIBRARY", "I_MPI_PMI_LIBRARY.{0,60}(?:not|fail|wrong)")],
     'cause': "Ranks of Intel MPI were started by srun and find no PMI, so each is alone.",
     'remedy': "srun --mpi=pmi2 with export I_MPI_PMI_LIBRARY=/usr/lib64/libpmi2.so (of Slurm; bind it into a "
               "container), or mpirun of Intel MPI in the job.",
     'source': "Intel MPI, developer guide, Job schedulers support", 'evidence': 'derived'},
    {'name': "Intel MPI finds its libfabric not",
     'text': "MPIDI_OFI_init: failed to load libfabric.so.1",
     'patterns': [("libfabric", "(?:can't|[Cc]annot|[Ff]ailed to|[Uu]nable to) (?:dlopen|load) .{0,40}libfabric"),
                  ("dlopen", "OFI .{0,40}dlopen.{0,60}failed"), "I_MPI_OFI_LIBRARY_INTERNAL"],
     'cause': "Intel MPI brings a libfabric of its own, and its folder (or that of the providers, FI_PROVIDER_PATH) "
              "is not set or not in the container.",
     'remedy': "source .../mpi/latest/env/vars.sh (setvars.sh) in the container before the program, which sets "
               "LD_LIBRARY_PATH and FI_PROVIDER_PATH; or I_MPI_OFI_LIBRARY_INTERNAL=0 with a libfabric of the host.",
     'source': "Intel MPI, developer guide, Libfabric support", 'evidence': 'derived'},
    {'name': "policy of cards that does not fit",
     'text': "MPICH ERROR: Unable to use a NIC_POLICY of 'GPU'.",
     'patterns': [("Unable to use a NIC_POLICY of '", r"Unable to use a NIC_POLICY of '(?P<policy>\w+)'"),
                  ("MPICH_OFI_NIC_", r"MPICH_OFI_NIC_(?:POLICY|MAPPING|VERBOSE)\b.{0,80}(?:error|invalid|not|unable)"),
                  ("NIC mapping ", "NIC mapping .{0,60}(?:invalid|out of range)"),
                  ("NIC index ", "NIC index .{0,60}(?:invalid|out of range)"),
                  ("nic mapping ", "nic mapping .{0,60}(?:invalid|out of range)"),
                  ("nic index ", "nic index .{0,60}(?:invalid|out of range)")],
     'cause': "Cray MPICH is to choose the card by {policy}, and cannot tell which GPU or cores a rank has: it does "
              "not see a GPU, or ranks see other ones than they use.",
     'remedy': "export MPICH_OFI_NIC_POLICY=NUMA (or BLOCK). For GPU: MPICH_GPU_SUPPORT_ENABLED=1, and each rank must "
               "see its GPU before MPI_Init.",
     'source': "Cray MPICH, intro_mpi(3)", 'evidence': 'derived'},
    {'name': "GPU memory between ranks of Cray MPICH",
     'text': "(GTL DEBUG: 0) cuIpcOpenMemHandle: invalid argument, CUDA_ERROR_INVALID_VALUE",
     'patterns': [("(GTL DEBUG:", r"\(GTL DEBUG: ?-?\d+\) (?P<call>\w+): (?P<why>[^\n]{1,100})"),
                  ("GTL_DEBUG: ", r"GTL_DEBUG: \[-?\d+\] (?P<call>\w+): (?P<why>[^\n]{1,100})"),
                  ("gtl_", r"\bgtl_\w+: .{0,100}(?:error|failed)"),
                  ("cray_gpu_ops", r"Assertion failed in file \S{0,150}(?P<call>cray_gpu_ops)\.c at line "
                   r"(?P<why>\d+)")],
     'unless': ["GPU memory not shared between ranks"],
     'cause': "Cray's GPU transport layer could not use GPU memory of a rank ({call}: {why}): ranks of the node do "
              "not see each other's GPUs, the memory is of a pool (cudaMallocAsync), or the driver's libraries do not "
              "fit.",
     'remedy': "Let each rank see all GPUs of the node (no --gpus-per-task, --gpu-bind=none); allocate by cudaMalloc "
               "or hipMalloc; MPICH_GPU_IPC_ENABLED=0 goes without.",
     'source': "Cray MPICH, intro_mpi(3); github.com/JuliaGPU/CUDA.jl, issue 1398", 'evidence': 'derived'},
    {'name': "ranks of Cray not connected",
     'text': "[PE_0]:inet_connect:inet_connect: connect failed after 301 attempts",
     'patterns': [("inet_connect: connect failed after ", r"inet_connect: connect failed after \d+ attempts"),
                  ("_inet_", r"_pmi2?_inet_(?:setup|listen\w*|connect)\b.{0,80}(?:fail|error)"),
                  ("_pmi", r"_pmi2?_(?:network_\w+|barrier)\b.{0,60}(?:failed|error|timed out)")],
     'cause': "Cray's PMI connects the nodes of a step by TCP on their control network, and could not: a node did not "
              "start its ranks, the port is taken by another step, or ranks started before others.",
     'remedy': "Run one srun at a time in a job, or export PMI_MMAP_SYNC_WAIT_TIME=300 and another PMI_CONTROL_PORT. "
               "srun --exclude=NODE if it is one node.",
     'source': "Cray PMI, intro_pmi(3)", 'evidence': 'derived'},
    {'name': "mpi4py not installed",
     'text': "ModuleNotFoundError: No module named 'mpi4py'",
     'patterns': [("No module named ", "No module named '?mpi4py")],
     'cause': "The Python that runs has no mpi4py: it is another Python than the one it was installed for, or the "
              "container has none.",
     'remedy': "which python; python -m pip show mpi4py. In the container of this project: an image of osu-mpi4py. In "
               "a container of your own: pip install mpi4py, with the image's mpicc on PATH.",
     'source': "mpi4py, documentation, Installation", 'evidence': 'derived'},
    {'name': "message that mpi4py cannot hold",
     'text': "OverflowError: integer 2147483648 does not fit in '32-bit int'",
     'patterns': [("OverflowError: integer ", r"OverflowError: integer \d+ does not fit in '(?:32-bit )?int'"),
                  ("SystemError: Negative size passed to PyBytes", "SystemError: Negative size passed to PyBytes")],
     'cause': "A message of mpi4py is larger than 2 GiB (as a pickle: comm.send, bcast), which MPI before release 4 "
              "cannot count.",
     'remedy': "mpi4py 4 with an MPI of release 4 (MPICH 4, Open MPI 5) takes more; else send NumPy arrays by the "
               "functions with a capital letter (comm.Send), in parts, or mpi4py.util.pkl5.",
     'source': "mpi4py, documentation, mpi4py.util.pkl5", 'evidence': 'derived'},
    {'name': "ranks mixed up their messages",
     'text': "_pickle.UnpicklingError: invalid load key, '\\x00'.",
     'patterns': [("UnpicklingError: ", r"UnpicklingError: (?P<why>[^\n]{1,80})")],
     'cause': "A rank has received other bytes than a Python object: sends and receives do not match, or two MPIs are "
              "mixed ({why}).",
     'remedy': "ldd of mpi4py's MPI*.so and mpirun must be of one MPI; see that ranks call the same functions in the "
               "same order.",
     'source': "mpi4py, documentation, Tutorial", 'evidence': 'derived', 'general': 1},
    {'name': "last line of an error of MPICH",
     'text': "MPIR_Init_thread(178)........: ...",
     'patterns': [("MPI", r"\bMPI\w{1,60}\b\(\d+\)\.{2,}:[ \t]+(?P<why>(?!P?MPI_\w{1,50}\(|fail failed|channel init|"
                   r"Initialization failed|MPI_Finalize failed|(?:MPI_Init|Attempting|failure occurred)\b)\S[^\n]"
                   "{1,150})")],
     'cause': "MPI failed in a call: {why}",
     'remedy': "MPI's list goes from the call to its reason: the last line of it is the first cause. "
               "FI_LOG_LEVEL=warn (UCX_LOG_LEVEL=info) srun ... says more.",
     'source': "MPICH, src/mpi/errhan/errnames.txt", 'evidence': 'derived', 'general': 2},
    {'name': "start of Open MPI failed",
     'text': "It looks like MPI_INIT failed for some reason; your parallel process is likely to abort.",
     'patterns': [("It looks like ", r"It looks like (?P<what>\w+) failed for some reason"),
                  ("*** An error occurred in MPI_Init", r"\*\*\* An error occurred in (?P<what>MPI_Init\w{0,10})"),
                  ("ompi_mpi_init", r"(?P<what>ompi_mpi_init)\w{0,20}: .{0,60}(?:failed|error)"),
                  ("orte_init", r"(?P<what>orte_init)\w{0,20}: .{0,60}(?:failed|error)"),
                  ("prte_init", r"(?P<what>prte_init)\w{0,20}: .{0,60}(?:failed|error)"),
                  ("opal_init", r"(?P<what>opal_init)\w{0,20}: .{0,60}(?:failed|error)"),
                  ("PMIx_Init", r"(?P<what>PMIx_Init)\w{0,20}: .{0,60}(?:failed|error)"),
                  ("--> Returned ", r'--> Returned (?:value|\")')],
     'cause': "Open MPI did not start ({what}). The two lines at the end of the text (failed, Returned value) name "
              "the part: add procs is the network, ess or rte what started the ranks, opal the installation or its "
              "settings.",
     'remedy': "env | grep -E '^(OMPI|PMIX|PRTE|OPAL)_' and unset what is of another Open MPI; OMPI_MCA_pml=ob1 "
               "OMPI_MCA_btl=self,sm,tcp tells whether it is the network; mpirun instead of srun whether it is PMIx.",
     'source': "Open MPI, help-mpi-runtime.txt", 'evidence': 'derived', 'general': 2},
    {'name': "setting that Open MPI does not take",
     'text': "An invalid value was supplied for an enum variable.",
     'patterns': ["An invalid value was supplied for an enum variable",
                  ("An invalid ", "An invalid (?:value|component) .{0,60}(?:MCA|mca)"),
                  (" parameter ", "(?:MCA|mca) parameter .{0,80}(?:invalid|illegal|not recognized)")],
     'cause': "A setting of Open MPI (OMPI_MCA_..., --mca, or a file openmpi-mca-params.conf) has a value that it "
              "does not know; the lines below name it.",
     'remedy': "env | grep OMPI_MCA_; cat ~/.openmpi/mca-params.conf $PREFIX/etc/openmpi-mca-params.conf. Correct or "
               "remove it.",
     'source': "Open MPI, help-mca-var.txt; github.com/conda-forge/openmpi-feedstock, issue 63",
     'evidence': 'measured'},
    {'name': "Open MPI moved from where it was installed",
     'text': "Sorry!  You were supposed to get help about: ... But I couldn't open the help file",
     'patterns': ["You were supposed to get help about", "cmd failed to exec its actual executable",
                  ("prterun executable could not be found", "prterun executable could not be found"),
                  "couldn't open the help file",
                  ("No such file ", "No such file .{0,60}share/openmpi")],
     'unless': ["folder of Open MPI for its session not to be made", "helpers of mpirun not reached",
                "limit of locked memory", "component of Open MPI missing"],
     'cause': "Open MPI does not find the files of its own installation: it was moved, the container shows another "
              "one in its place, or OPAL_PREFIX names a wrong folder. What it wanted to say is lost.",
     'remedy': "export OPAL_PREFIX=FOLDER (that has share/openmpi; Open MPI 5 also PMIX_PREFIX and PRTE_PREFIX), or "
               "unset one of another Open MPI; the real error is the topic that is named. prterun must stand in bin "
               "beside mpirun (Open MPI 5; PRRTE may be a package of its own).",
     'source': "Open MPI, opal/util/show_help.c; FAQ, relocating", 'evidence': 'derived'},
    {'name': "Open MPI may not read other ranks",
     'text': "Linux kernel CMA support was requested via the btl_vader_single_copy_mechanism MCA variable, but CMA "
             "support is not available",
     'patterns': [("CMA support ", "CMA support (?:was requested|is not available)"),
                  ("restrictive ptrace settings", "restrictive ptrace settings")],
     'cause': "Ranks may not copy from each other's memory (CMA): the kernel allows it to parents only "
              "(ptrace_scope), or a container forbids it.",
     'remedy': "Harmless, slower. Silence it: OMPI_MCA_btl_vader_single_copy_mechanism=none (4), OMPI_MCA_smsc=^cma "
               "(5). Docker: --cap-add=SYS_PTRACE; administrators: sysctl kernel.yama.ptrace_scope=0.",
     'source': "Open MPI, help-btl-vader.txt", 'evidence': 'derived', 'last': True},
    {'name': "connection of two cards failed",
     'text': "Failed to modify the attributes of a queue pair (QP)",
     'patterns': [("Failed to modify the attributes of a queue pair",
                   "Failed to modify the attributes of a queue pair"),
                  ("ailed to modify ", r"[Ff]ailed to modify .{0,20}(?:QP|qp)\b.{0,60}to (?P<state>RTR|RTS|INIT)"),
                  ("modify ", r"modify .{0,10}(?:QP|qp)\b.{0,40}(?:failed|error)"),
                  ("ibv_modify_qp", "ibv_modify_qp.{0,60}failed"),
                  ("ibv_create_ah(", r"ibv_create_ah\(.{0,200}failed")],
     'cause': "Two cards of InfiniBand or RoCE could not be connected: on Ethernet (RoCE) the wrong GID or an address "
              "that does not route; on InfiniBand a port that is not active or a partition key.",
     'remedy': "ibv_devinfo and show_gids on both nodes: state PORT_ACTIVE. RoCE: UCX_IB_GID_INDEX=3, "
               "NCCL_IB_GID_INDEX=3, UCX_NET_DEVICES=mlx5_0:1. Without: UCX_TLS=self,sm,tcp.",
     'source': "rdma-core, ibv_modify_qp(3); UCX, documentation, FAQ", 'evidence': 'derived'},
    {'name': "libraries of CUDA not found by Open MPI",
     'text': "The library attempted to open the following supporting CUDA libraries, but each of them failed.",
     'patterns': ["attempted to open the following supporting CUDA libraries",
                  ("CUDA-aware support is ", "CUDA-aware support is (?:disabled|not)")],
     'cause': "Open MPI was built with CUDA and finds no driver of NVIDIA: the node has no GPU, or the container was "
              "started without --nv. It goes on without CUDA.",
     'remedy': "Harmless on nodes without a GPU: OMPI_MCA_opal_warn_on_missing_libcuda=0 silences it. Else --nv.",
     'source': "Open MPI, help-mpi-common-cuda.txt", 'evidence': 'derived', 'last': True},
    {'name': "collectives of NVIDIA (hcoll)",
     'text': "[LOG_CAT_ML] component basesmuma is not available but requested in hierarchy",
     'patterns': [("[LOG_CAT_", r"\[LOG_CAT_\w+\] "),
                  ("coll_hcoll_module.c", r"coll_hcoll_module\.c.{0,100}(?:[Ee]rror|failed)"),
                  ("HCOLL", "(?:Error|ERROR).{0,60}HCOLL"), ("hcoll ", "hcoll .{0,60}failed"),
                  ("coll_ucc", "coll_ucc.{0,100}failed"), ("ERROR", "UCC +ERROR")],
     'cause': "The library of collectives hcoll (or UCC) of HPC-X and OFED does not work here: no card, or shared "
              "memory that the container does not have.",
     'remedy': "export OMPI_MCA_coll=^hcoll,ucc (or OMPI_MCA_coll_hcoll_enable=0): Open MPI's own take over.",
     'source': "HPC-X user manual, HCOLL", 'evidence': 'derived', 'general': 1},
    {'name': "several cards at the same distance",
     'text': "Open MPI's OFI driver detected multiple equidistant NICs from the current process",
     'patterns': ["detected multiple equidistant NICs",
                  ("failed to dete", "failed to (?:determine|detect) (?:the )?local rank")],
     'cause': "Open MPI over libfabric sees several cards as near as each other, and cannot tell which rank takes "
              "which.",
     'remedy': "Harmless: it takes the first. FI_PROVIDER or OMPI_MCA_mtl_ofi_provider_include chooses; binding by "
               "cores helps.",
     'source': "Open MPI, opal/mca/common/ofi", 'evidence': 'derived', 'last': True},
    {'name': "topology that hwloc cannot read",
     'text': "hwloc has encountered what looks like an error from the operating system.",
     'patterns': ["hwloc has encountered what looks like an error", "hwloc has encountered an incorrect",
                  (" topology", "hwloc.{0,60}(?:invalid|out-of-order) topology")],
     'cause': "hwloc reads from the kernel which cores share what, and this does not add up: a fault of the BIOS, the "
              "kernel or a virtual machine.",
     'remedy': "Harmless mostly. A newer hwloc or kernel; HWLOC_HIDE_ERRORS=2 silences it; mpirun --bind-to none if "
               "ranks do not start.",
     'source': "hwloc, documentation, FAQ", 'evidence': 'derived', 'last': True},
    {'name': "components of another Open MPI",
     'text': "unable to open mca_shmem_sysv: .../mca_shmem_sysv.so: undefined symbol: opal_show_help (ignored)",
     'patterns': [(".so: undefined symbol: ", r"mca_\w+\.so: undefined symbol: (?P<symbol>(?:opal|orte|ompi|mca|prte)_"
                   r"\w+)"),
                  ("perhaps a missing symbol, or compiled for a different version of Open MPI", "perhaps a missing "
                   "symbol, or compiled for a different version of Open MPI")],
     'cause': "Open MPI's components do not fit the Open MPI that loads them ({symbol}): two installations are mixed, "
              "or Python has loaded libmpi without showing its symbols to others (Open MPI before 3).",
     'remedy': "ldd of the program, and mpirun --version, must be of one Open MPI; env | grep -E '^(OMPI|OPAL)_'. "
               "mpi4py: pip install --no-binary mpi4py mpi4py with this Open MPI's mpicc; as a try "
               "LD_PRELOAD=.../libmpi.so.",
     'source': "github.com/sfepy/sfepy, issue 419; Open MPI, FAQ", 'evidence': 'derived'},
    {'name': "MPI started twice",
     'text': "MPID_nem_gni_init(1586): GNI_CdmAttach (GNI_RC_INVALID_STATE)",
     'patterns': ["GNI_CdmAttach", "GNI_RC_INVALID_STATE",
                  ("MPI_I", r"(?:MPI_Init|MPI_INIT)[^\n]{0,60}(?:called (?:more than once|twice|a second time)"
                   "|already)"),
                  ("process has attempted to initialize", "Open MPI has detected that this process has attempted to "
                   "initialize"),
                  ("Calling MPI_Init or MPI_Init_thread twice is erroneous", "Calling MPI_Init or MPI_Init_thread "
                   "twice is erroneous"),
                  ("Cannot call MPI_INIT or MPI_INIT_THREAD more than once", "Cannot call MPI_INIT or MPI_INIT_THREAD "
                   "more than once")],
     'cause': "MPI was started a second time in the same process: two libraries of one program (a simulator and "
              "mpi4py) each call MPI_Init, or have an MPI each.",
     'remedy': "Import mpi4py before the other library, or mpi4py.rc.initialize = False; all parts must be linked "
               "with one MPI (ldd).",
     'source': "github.com/neuronsimulator/nrn, issue 581; MPI standard, MPI_Init", 'evidence': 'measured'},
    {'name': "two programs that MPI does not connect",
     'text': "Fatal error in PMPI_Comm_connect: Invalid port, error stack:",
     'patterns': [("Invalid port, error stack", "Invalid port, error stack"),
                  ("MPI_Comm_connect(", r"MPI_Comm_connect\(port=.{0,300}failed"),
                  ("MPI_Comm_accept(", r"MPI_Comm_accept\(port=.{0,300}failed"),
                  ("MPI_ERR_PORT", r"MPI_ERR_PORT\b"), ("MPI_ERR_NAME", r"MPI_ERR_NAME\b"),
                  ("MPI_ERR_SERVICE", r"MPI_ERR_SERVICE\b"),
                  ("ailed for service name", "(?:Lookup|Publish) failed for service name"),
                  (" service name", "[Ff]ailed to (?:lookup|publish|unpublish) service name"),
                  ("No name publishing service available", "No name publishing service available"),
                  ("Unable to establish a port", "Unable to establish a port"),
                  ("MPI_Comm_connect", "MPI_Comm_connect.{0,100}timed out"),
                  ("does not support accept/connect functionality", "does not support accept/connect functionality")],
     'cause': "Two programs that were started apart want to meet by MPI_Comm_connect, and this MPI or network does "
              "not let them: on Slingshot they have different VNIs; elsewhere no name server is there, or the port "
              "was cut off or is of an earlier run.",
     'remedy': "Start both by one command: srun or mpirun ... PROGRAM1 : ... PROGRAM2 (srun --het-group, or "
               "--multi-prog). Slingshot: srun --network=job_vni for both. MPICH: hydra_nameserver and mpiexec "
               "-nameserver HOST; Open MPI: ompi-server, prte --report-uri.",
     'source': "github.com/ornladios/ADIOS2, issue 3456; MPICH, src/mpi/errhan/errnames.txt", 'evidence': 'derived'},
    {'name': "MVAPICH cannot bind its ranks",
     'text': "smpi_setaffinity(2674): Error parsing CPU mapping string",
     'patterns': ["Error parsing CPU mapping string", ("smpi_setaffinity", r"smpi_setaffinity(?:\(\d+\)|:\d+)"),
                  ("MPIDI_CH3I_set_affinity", r"MPIDI_CH3I_set_affinity\(\d+\)"),
                  ("get_cpu_mapping", r"get_cpu_mapping\w{0,30}\b.{0,80}(?:failed|error)"),
                  ("CPU ", "CPU (?:mapping|binding) .{0,60}(?:invalid|out of range|exceeds)")],
     'cause': "MVAPICH binds each rank to a core by itself, and cannot tell its ranks of this node or their cores: "
              "what started them (flux, srun, a container) does not say it, or the job has a part of the node.",
     'remedy': "export MV2_ENABLE_AFFINITY=0 (MVP_ENABLE_AFFINITY=0 in release 3), and let srun bind: "
               "--cpu-bind=cores.",
     'source': "github.com/flux-framework/flux-core, issue 4371; MVAPICH2 user guide, CPU mapping",
     'evidence': 'measured'},
    {'name': "MVAPICH without its own malloc",
     'text': "WARNING: Error in initializing MVAPICH2 ptmalloc library. Continuing without InfiniBand registration "
             "cache support.",
     'patterns': [("ptmalloc library", r"Error in initializing MVAPICH2? ptmalloc library"),
                  ("without InfiniBand registration cache", "without InfiniBand registration cache"),
                  ("without InfiniBand registration", "without InfiniBand registration cache support")],
     'unless': ["rank crashed"],
     'cause': "The program brings its own malloc (tcmalloc, jemalloc, Python, a shell), so MVAPICH cannot watch "
              "memory and sends large messages slower.",
     'remedy': "Harmless. LD_PRELOAD=.../libmpi.so puts MVAPICH first; MV2_USE_LAZY_MEM_UNREGISTER=0 silences it.",
     'source': "MVAPICH2 user guide, FAQ; github.com/lanl/MPI-Bash, issue 14", 'evidence': 'derived', 'last': True},
    {'name': "memory that MPI needs for messages",
     'text': "Failed to allocate memory for an unexpected message. 261894 unexpected messages queued.",
     'patterns': [("for an unexpected message", r"Failed to allocate memory for an unexpected message"),
                  ("allocating memory for a request object", "failure occurred while allocating memory for a request "
                   "object"), ("Insufficient space in Bsend buffer", "Insufficient space in Bsend buffer"),
                  ("smaller than MPI_BSEND_OVERHEAD", "smaller than MPI_BSEND_OVERHEAD"),
                  ("MPI_ERR_BUFFER", "MPI_ERR_BUFFER: invalid buffer pointer.{0,20}[Bb]send")],
     'cause': "Messages pile up at a rank that does not receive them: others send much faster than it takes, or "
              "requests are never waited for; for MPI_Bsend the buffer that the program gave is too small.",
     'remedy': "In the program: receive before others send (MPI_Irecv early), MPI_Ssend or MPI_Barrier now and then, "
               "MPI_Wait for every request, a larger MPI_Buffer_attach. For a try: fewer ranks, more memory for each.",
     'source': "MPICH, src/mpi/errhan/errnames.txt", 'evidence': 'derived'},
    {'name': "rank that sends to itself",
     'text': "DEADLOCK: attempting to send a message to the local process without a prior matching receive",
     'patterns': [("DEADLOCK: attempting to send a message to", "DEADLOCK: attempting to send a message to the local "
                   "process")],
     'cause': "A rank sends to itself before it has asked to receive. If the program meant another rank, there is "
              "only one rank here, or each rank is alone.",
     'remedy': "Is the number of ranks right (srun -n, --mpi=)? Else in the program MPI_Irecv before MPI_Send, or "
               "MPI_Sendrecv.",
     'source': "MPICH, src/mpi/errhan/errnames.txt", 'evidence': 'derived'},
    {'name': "number of ranks that the program's grid does not fit",
     'text': "Size of the communicator (4) is smaller than the size of the Cartesian topology (8)",
     'patterns': [("is smaller than", r"Size of the communicator \((?P<size>\d+)\) is smaller than"),
                  ("larger than the size of the communicator", "Size of Cartesian grid is larger than the size of the "
                   "communicator"), ("MPI_ERR_DIMS", r"MPI_ERR_DIMS\b"),
                  ("is larger than communicator size", "Topology size .{0,20}is larger than communicator size"),
                  ("Cannot partition nodes as requested", "Cannot partition nodes as requested"),
                  ("Create_cart", r"in mpi4py\.MPI\.\w{1,20}\.Create_cart\b"),
                  ("MPI_Cart_create(", r"MPI_Cart_create\(.{0,300}failed"),
                  ("An error occurred in MPI_Cart_create", "An error occurred in MPI_Cart_create")],
     'cause': "The program arranges its ranks as a grid, and there are fewer ranks than the grid has places.",
     'remedy': "srun -n with the product of the grid's sizes (px x py x pz of its input), or another grid. If each "
               "rank is alone (size 1): --mpi= of srun is wrong, or mpirun is of another MPI.",
     'source': "MPICH, src/mpi/errhan/errnames.txt; MPI standard, MPI_Cart_create", 'evidence': 'derived'},
    {'name': "communicators of MPI in pieces",
     'text': "Cannot allocate context ID because of fragmentation (167/2048 free on this process; ignore_id=0)",
     'patterns': ["Cannot allocate context ID because of fragmentation"],
     'cause': "MPICH has numbers for communicators left on each rank, but none that is free on all: the program or a "
              "library makes many communicators and frees them on some ranks only.",
     'remedy': "In the program: MPI_Comm_free on all ranks; a newer release of the library that makes them (h5py, "
               "PETSc, AMReX). Open MPI has more of them.",
     'source': "MPICH, src/mpi/errhan/errnames.txt", 'evidence': 'derived'},
    {'name': "file of tuning that MPICH does not find",
     'text': "Unable to open collective tuning file /opt/x.json.",
     'patterns': [("Unable to open collective tuning file", r"Unable to open collective tuning file ?(?P<file>\S"
                   r"{0,150})"), ("Algorithm selected is not supported", "Algorithm selected is not supported")],
     'cause': "A variable MPIR_CVAR_... names a file or an algorithm for collectives that this MPICH does not have "
              "here ({file}): of another installation, or not in the container.",
     'remedy': "env | grep MPIR_CVAR_, and unset MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE or "
               "MPIR_CVAR_..._INTRA_ALGORITHM; or bind the file.",
     'source': "MPICH, src/mpi/errhan/errnames.txt", 'evidence': 'derived'},
    {'name': "range of ports of MPI used up",
     'text': "Unable to bind socket to port range [50000, 50100]",
     'patterns': [("Unable to bind socket to port range", "Unable to bind socket to port range"),
                  ("unable to bind its listening socket to any", "unable to bind its listening socket to any"),
                  ("PORT_RANGE", "PORT_RANGE.{0,80}"
                   "(?:invalid|failed|error)")],
     'cause': "MPI may take only some ports (MPICH_PORT_RANGE, MPIR_CVAR_CH3_PORT_RANGE, MPIEXEC_PORT_RANGE, "
              "OMPI_MCA_btl_tcp_port_min_v4), and all are taken.",
     'remedy': "env | grep PORT_RANGE: unset it, or more ports; ss -tan on the node shows who has them.",
     'source': "MPICH, src/mpi/errhan/errnames.txt; OpenPMIx, help-ptl-base.txt", 'evidence': 'derived'},
    {'name': "message larger than the network takes",
     'text': "Message size 4294967296 bigger than supported by selected transport. Max = 1073741824",
     'patterns': [("bigger than supported", r"Message size (?P<size>\d+) bigger than supported"),
                  ("does not have enough free bits in its tag", "does not have enough free bits in its tag")],
     'cause': "Open MPI over libfabric (mtl ofi) took a provider that does not offer what it needs: messages so "
              "large, or room in the tag for the communicator.",
     'remedy': "export OMPI_MCA_mtl=^ofi (then UCX or ob1 over TCP), or FI_PROVIDER=tcp; send in smaller parts.",
     'source': "Open MPI, help-mtl-ofi.txt", 'evidence': 'derived'},
    {'name': "shared memory of Open MPI failed",
     'text': "A system call failed during shared memory initialization that should not have.",
     'patterns': ["A system call failed during shared memory initialization",
                  ("It appears as if there is not enough space for", r"It appears as if there is not enough space for "
                   r"(?P<file>\S{1,150})"),
                  ("shmem_", r"(?:opal_)?shmem_(?:mmap|posix|sysv)\w*.{0,100}(?:failed|error)"),
                  ("btl_sm_", r"btl_sm_\w{1,40}\b.{0,60}(?:failed|could not)"),
                  ("vader", r"btl_vader_\w{1,40}\b.{0,80}(?:failed|could not|unable)")],
     'unless': ["file of Open MPI that another rank has removed"],
     'cause': "Open MPI keeps what ranks of a node share in a file, and could not make it ({file}): TMPDIR or "
              "/dev/shm is full, too small or closed to you; the lines below name call and error.",
     'remedy': "df -h /dev/shm /tmp $TMPDIR in the same place; rm leftovers (ls -l /dev/shm /tmp/ompi*). Docker, "
               "podman: --shm-size=2g or --ipc=host. OMPI_MCA_shmem=posix (or mmap, sysv) takes another way; "
               "OMPI_MCA_btl_vader_backing_directory=/tmp (4), OMPI_MCA_btl_sm_backing_directory=/tmp (5).",
     'source': "Open MPI, help-opal-shmem-mmap.txt", 'evidence': 'derived'},
    {'name': "file of Open MPI that another rank has removed",
     'text': "A system call failed during shared memory initialization ... System call: unlink(2) "
             "/tmp/ompi.n1.1000/pid.1/1/vader_segment.n1.27680001.6",
     'patterns': [("System call: unlink(2)", r"System call: unlink\(2\) (?P<file>\S{0,200})")],
     'cause': "At the end of a run two ranks of Open MPI remove the same file of theirs, and the later one finds it "
              "gone: {file}",
     'remedy': "Harmless, the results are whole. A newer Open MPI, or export OMPI_MCA_btl=self,tcp, or "
               "OMPI_MCA_btl_vader_backing_directory=/dev/shm, silences it.",
     'source': "github.com/open-mpi/ompi, issues 7971 and 8531", 'evidence': 'derived', 'general': 1},
    {'name': "session of Open MPI on a network's disk",
     'text': "WARNING: Open MPI will create a shared memory backing file in a directory that appears to be mounted "
             "on a network filesystem.",
     'patterns': [("will create a shared memory backing file", "will create a shared memory backing file")],
     'cause': "TMPDIR is on NFS or Lustre, and Open MPI keeps there what ranks of a node share: slow.",
     'remedy': "export TMPDIR=/tmp (a disk of the node) before mpirun or srun. Harmless otherwise.",
     'source': "Open MPI, help-opal-shmem-mmap.txt", 'evidence': 'derived', 'last': True},
    {'name': "cards that Open MPI was told to use are not there",
     'text': "WARNING: One or more nonexistent OpenFabrics devices/ports were specified",
     'patterns': ["One or more nonexistent OpenFabrics devices/ports"],
     'cause': "OMPI_MCA_btl_openib_if_include names a card that this node or container does not have; Open MPI goes "
              "on without it.",
     'remedy': "ibv_devinfo -l lists cards; unset OMPI_MCA_btl_openib_if_include. With UCX: UCX_NET_DEVICES=mlx5_0:1.",
     'source': "Open MPI, help-mpi-btl-openib.txt", 'evidence': 'derived', 'last': True},
    {'name': "memory beyond the window of another rank",
     'text': "Target memory is not contained within the window",
     'patterns': [("Target memory is not contained within the", "Target memory is not contained within the window"),
                  ("Conflicting accesses to window", "Conflicting accesses to window"),
                  ("MPI_ERR_RMA_", r"MPI_ERR_RMA_(?:RANGE|CONFLICT|ATTACH|FLAVOR)\b"),
                  ("operation not defined for this datatype", "MPI_Op .{0,40}operation not defined for this datatype"),
                  ("MPI_ERR_DISP", "MPI_ERR_DISP: invalid displacement")],
     'unless': ["handles of another MPI"],
     'cause': "The program asks for memory of another rank that its window does not have, or for a sum of a type that "
              "MPI does not add: a fault of the program, or of a library for another release of it.",
     'remedy': "Ask its authors, with the call that MPI names. With another number of ranks or a smaller case it may "
               "pass.",
     'source': "MPICH, src/mpi/errhan/errnames.txt", 'evidence': 'derived'},
    {'name': "reason that Intel MPI does not tell",
     'text': "MPIDI_OFI_mpi_init_hook(1473): (unknown)(): Other MPI error",
     'patterns': [("(unknown)(): ", r"\(unknown\)\(\): (?:Other MPI error|Invalid argument|Unknown error class)")],
     'cause': "MPI (Intel's, mostly) did not get its network started and does not say why: libfabric has no provider "
              "that it can use here, or that of FI_PROVIDER does not work.",
     'remedy': "I_MPI_DEBUG=5 FI_LOG_LEVEL=warn mpirun ... says which provider was tried. I_MPI_FABRICS=shm "
               "FI_PROVIDER=shm on one node, FI_PROVIDER=tcp (with FI_TCP_IFACE=NAME) between nodes; source "
               "vars.sh of this MPI, which sets FI_PROVIDER_PATH.",
     'source': "github.com/mpi4py/mpi4py, issue 281; Intel MPI, developer guide, Libfabric support",
     'evidence': 'measured', 'general': 1},
    {'name': "MPICH that wants checkpoints of the kernel",
     'text': "MPIDI_nem_ckpt_init(149): BLCR kernel module not present",
     'patterns': ["BLCR kernel module not present", ("MPIDI_nem_ckpt_init", r"MPIDI_nem_ckpt_init\(\d+\)")],
     'cause': "This MPICH was built with checkpoints (BLCR) and wants a module of the kernel that is not loaded.",
     'remedy': "Another MPICH (Ubuntu 13 and 14 had such a one: build your own, or Open MPI); administrators: modprobe "
               "blcr.",
     'source': "github.com/jtriley/StarCluster, issue 406; MPICH, ch3/channels/nemesis", 'evidence': 'derived'},
    {'name': "GPU that MPICH could not open",
     'text': "MPIR_Init_thread(178): gpu_init failed",
     'patterns': [("gpu_init failed", "gpu_init failed")],
     'cause': "MPICH was built for GPUs and its start of them failed: the rank sees no GPU or no driver (a container "
              "without --nv or --rocm), or the driver is older than MPICH's CUDA, ROCm or Level Zero.",
     'remedy': "nvidia-smi (rocm-smi) in the same place: srun apptainer exec --nv IMAGE nvidia-smi. A program that "
               "keeps its data on the CPU: export MPIR_CVAR_ENABLE_GPU=0.",
     'source': "MPICH, src/mpi/errhan/errnames.txt, gpu_init", 'evidence': 'derived'},
]
