"""Messages about ranks that do not find each other, and of their launchers and PMI."""

from typing import Any, Dict, List

ENTRIES: List[Dict[str, Any]] = [
    {
        'name': "ranks without PMI",
        'patterns': [
            (
                " tasks without the PMI of this MPI",
                r"srun started (?P<tasks>\d+) tasks without the PMI of this MPI",
            )
        ],
        'cause': "srun uses another PMI type (--mpi=) than this MPI supports, so each of the "
        "{tasks} ranks would run alone.",
        'remedy': "Remove --mpi= from the srun command: the module selects the type with "
        "SLURM_MPI_TYPE. The message names the right type.",
        'source': "scripts/run-in-container",
    },
    {
        'name': "Open MPI without PMIx",
        'patterns': [
            "No PMIx server was reachable",
            "PMI2_Init failed",
            (" singletons will be started", r"(?<!\d)(?:\d+) singletons will be started"),
            "The application appears to have been direct launched",
            "OMPI was not built with SLURM's PMI support",
            (
                "OPAL ERROR: ",
                r"OPAL ERROR: (?:Unreachable|Not initialized) in file \S*(?:pmix|ext3x)",
            ),
        ],
        'cause': "Open MPI cannot reach the PMIx server of its launcher. Possible reasons: srun "
        "uses another --mpi= type, Slurm has no PMIx (as on LUMI), mpirun outside the container "
        "uses an incompatible PMIx, or the container hides the folders with PMIx's files.",
        'remedy': "If `srun --mpi=list` prints pmix, run `srun --mpi=pmix`, without --cleanenv "
        "for the container. Bind the folders TmpFS and SlurmdSpoolDir that `scontrol show config` "
        "prints. If Slurm has no pmix, use an image with MPICH.",
        'source': "Open MPI 5.0.11, seen by this project, 2026-11; github.com/open-mpi/ompi, pull "
        "request 3778 and issue 12146; github.com/apptainer/singularity, issue 5203",
        'also': [
            (
                "the program was started without a launcher inside a job (in a shell of salloc or "
                "sbatch)",
                "mpirun -n 1 PROGRAM, or env -u SLURM_JOB_ID -u SLURM_STEP_ID PROGRAM",
            ),
            (
                "mpirun of another MPI started the program",
                "mpirun --version; ldd PROGRAM | grep libmpi",
            ),
        ],
        'unless': ["component of PMIx missing", "PMIx of two releases"],
    },
    {
        'name': "component of PMIx missing",
        'patterns': [("Framework: ", r"Framework: +(?P<framework>psec|gds|ptl)\b")],
        'cause': "Slurm's PMIx requests a component ({framework}) that the PMIx in the container "
        "does not have. MPI terminates without a component of this framework.",
        'remedy': "Run `export PMIX_MCA_psec=native PMIX_MCA_gds=hash` before srun.",
        'source': "Open MPI 5.0.11, seen by this project, 2026-11; "
        "github.com/eth-cscs/cray-network-stack, osu-ompi",
    },
    {
        'name': "error text lost in PMIx",
        'patterns': [
            ("PMIX ERROR: UNPACK-PAST-END", r"PMIX ERROR: UNPACK-PAST-END(?! in file unpack\.c)")
        ],
        'cause': "A rank of Open MPI terminated in MPI_Init, and Slurm's PMIx, which is older, "
        "could not print the reason. This was seen where Slurm's NodeName is not the host name of "
        "the machine: Open MPI then finds no ranks on its own node, and the third rank of a node "
        "terminates (num local peers).",
        'remedy': "Start slurmd with PMIX_HOSTNAME=NODENAME in its environment, as "
        "tools/workstation/slurm.sh does (`make stop; make slurm`), or set the host name of the "
        "node to its NodeName. A run with two ranks per node shows whether this is the cause.",
        'source': "Open MPI 5.0.11 with PMIx 4.2.2 in Slurm 22.05, seen by this project, 2026-11",
    },
    {
        'name': "MPICH without PMI",
        'patterns': ["singleton init program attempted to access", "PMII_singinit: execv failed"],
        'cause': "MPICH did not find the PMI server of its launcher, so each rank runs alone.",
        'remedy': "Run `srun --mpi=pmi2` for the MPICH of an image; the modules select this type. "
        "If MPICH was built for PMIx, run `srun --mpi=pmix`.",
        'source': "github.com/pmodels/mpich, issue 6924",
    },
    {
        'name': "Cray's PMI not reached",
        'patterns': [
            (" init failed: ", r"PMI2? init failed: \d"),
            "_pmi_mmap_init",
            "_mpidi_cray_pmi_receive",
        ],
        'cause': "Cray MPICH reads the list of its ranks from a file that Slurm writes for the "
        "job step below /var/spool/slurmd, and could not read this file. The program was not "
        "started by srun (for example on a login node), srun uses another --mpi= type, or the "
        "container does not show the folder.",
        'remedy': "Start the program with srun and, for approach bind, without --mpi= "
        "(cray_shasta is the default on LUMI). Keep /var/spool/slurmd among the binds "
        "(`osu-explain` lists the binds).",
        'source': "github.com/flux-framework/flux-coral2, issue 125; Slurm, "
        "src/plugins/mpi/cray_shasta/apinfo.h",
        'also': [
            (
                "MPI loaded another PMI library than Cray's",
                "osu-exec ldd PROGRAM | grep libpmi",
            ),
            (
                "the MPI is MPICH, MVAPICH or Intel MPI, and its launcher uses another PMI "
                "(correct are srun --mpi=pmi2 or mpiexec of this MPI)",
                "env | grep -i PMI; srun --mpi=list",
            ),
        ],
    },
    {
        'name': "mpirun in the container",
        'patterns': ["execvp error on file srun", "SLURM process starter for OpenMPI was unable"],
        'cause': "mpirun (mpiexec) was called inside the container. In a job, mpirun starts the "
        "ranks with srun, which does not exist in the container. mpirun may then wait forever.",
        'remedy': "Start the ranks with srun instead of mpirun: `srun osu_bw H H` starts one "
        "container process per rank. On one node without srun, use `mpiexec -launcher fork` "
        "(MPICH) or `PRTE_MCA_plm=^slurm PRTE_MCA_ras=^slurm mpirun` (Open MPI 5).",
        'source': "MPICH 4.2.3 and Open MPI 5.0.11, seen by this project, 2026-11; "
        "github.com/sylabs/singularity, issue 1695; github.com/hpc/charliecloud, issue 1010",
    },
    {
        'name': "every rank alone",
        'patterns': [
            (
                "ank",
                r"(ank:? *0 *(?:of|out of|/) *1\b(?:[^\n\d]{0,29}(?=[\d\n])"
                r"|[^\n\d]{30}))[^\n]{0,200}\n(?:[^\n]{0,200}\n){0,3}?[^\n]{0,200}?\1",
            ),
            (
                "invalid for 1 processes",
                r"(Benchmark \w+ invalid for 1 processes\b(?:[^\n\d]{0,29}(?=[\d\n])"
                r"|[^\n\d]{30}))[^\n]{0,200}\n(?:[^\n]{0,200}\n){0,3}?[^\n]{0,200}?\1",
            ),
        ],
        'cause': "Several ranks each report rank 0 of 1: the ranks have not found each other, "
        "usually because srun uses a wrong --mpi= type.",
        'remedy': "Remove --mpi= from the srun command, or use the right type: pmi2 for MPICH in "
        "a container, cray_shasta for Cray MPICH, pmix for Open MPI 5. `srun --mpi=list` prints "
        "the available types. Do not use --cleanenv, which removes the PMI variables from the "
        "container.",
        'source': "github.com/apptainer/singularity, issues 5131 and 5706; "
        "cug26_containers_tutorial, 2026",
        'unless': ["Open MPI without PMIx"],
    },
    {
        'name': "two tables in one output",
        'patterns': ["two tables in one output"],
        'cause': "Each rank ran the benchmark alone, because the ranks have not found each other.",
        'remedy': "Remove --mpi= from the srun command. On another cluster, Slurm may lack the "
        "type that the site description names under pmi (`srun --mpi=list` prints the available "
        "types).",
        'source': "osu_container/bench/results/osu_output.py",
    },
    {
        'name': "wrong number of ranks",
        'patterns': [
            (
                "This test requires ",
                r"This test requires (?P<number>exactly two|at least two|at least \d+|exactly \d+) processes",
            ),
            (
                "there was only one MPI process available",
                "there was only one MPI process available. Need (?P<number>at least two)",
            ),
        ],
        'cause': "The benchmark needs {number} ranks, but another number was started: srun "
        "started more or fewer ranks, or each rank runs alone because of a wrong --mpi= type.",
        'remedy': "Run `srun -N2 -n2 PROGRAM` without --mpi=.",
        'source': "mpi4py's ports and the OSU programs; seen by this project, 2026-11",
        'unless': ["ranks without PMI", "Open MPI without PMIx"],
    },
    {
        'name': "shared memory of PMIx not usable",
        'patterns': [
            ("PMIX ERROR: ", r"PMIX ERROR: [\w -]{1,60} in file \S{0,300}dstore(?!/pmix_esh)")
        ],
        'cause': "PMIx shares data between ranks through files in shared memory (dstore), and a "
        "rank in the container has no permission to open or change these files. The run may "
        "continue.",
        'remedy': "Run `export PMIX_MCA_gds=hash` before srun or mpirun, with which PMIx does not "
        "use these files.",
        'source': "github.com/apptainer/singularity, issue 5195; github.com/openpmix/openpmix, "
        "issue 1819",
        'also': [("/tmp or /dev/shm is full", "df -h /tmp /dev/shm")],
    },
    {
        'name': "two kinds of PMI",
        'patterns': ["Auto-detection of PMI version failed"],
        'cause': "MPICH finds two launchers at once: mpiexec (PMI) runs in a job step that srun "
        "started with PMIx.",
        'remedy': "Use only one launcher: run `srun --mpi=pmi2 PROGRAM` without mpiexec, or "
        "before mpiexec unset the variables that `env | grep PMIX_` prints.",
        'source': "github.com/pmodels/mpich, issue 7957",
    },
    {
        'name': "helpers of mpirun not reached",
        'patterns': [
            (
                "HYDU_sock_connect (",
                r"HYDU_sock_connect \(.{0,300}\): unable to (?:connect|get host)",
            ),
            (" was unable to reliably start", "(?:ORTE|PRTE) was unable to reliably start"),
            "unable to launch bstrap proxy",
            ("rror setting up the bo", "[Ee]rror setting up the boo?t?strap prox"),
            (
                "daemon has unexpectedly failed",
                "An? (?:ORTE |PRR?TE )?daemon has unexpectedly failed",
            ),
        ],
        'cause': "mpirun starts a daemon on every node, and a daemon did not start or cannot "
        "connect to mpirun. The name of a node may not resolve, a firewall may block the "
        "connection, ssh may be missing, or Open MPI may be in another folder on that node.",
        'remedy': "Start the ranks with srun, which needs no daemons. Otherwise call mpirun by "
        "its full path (or with --prefix), and run `export OMPI_MCA_oob_tcp_if_include=NAME` "
        "(Intel MPI: `export I_MPI_HYDRA_IFACE=NAME`) with the interface that the nodes share.",
        'source': "Hydra, tools; Open MPI, help-errmgr-base.txt; github.com/open-mpi/ompi, issue "
        "8213",
        'also': [
            ("the name of the node does not resolve there", "srun getent hosts NODE"),
            ("ssh asks for a password", "ssh NODE true"),
            ("srun does not pass PATH to the daemon", "SLURM_EXPORT_ENV=ALL mpirun PROGRAM"),
        ],
        'unless': ["mpirun in the container", "ssh between nodes refused"],
    },
    {
        'name': "not enough slots",
        'patterns': ["There are not enough slots available"],
        'cause': "mpirun of Open MPI counts the cores that it may use, or the tasks of the Slurm "
        "job, and this number is smaller than the requested number of ranks.",
        'remedy': "Start fewer ranks, or request more tasks for the job (`sbatch -n NUMBER`). "
        "mpirun inside a container does not see Slurm: start the ranks with srun instead. For "
        "tests only, --oversubscribe starts all ranks anyway.",
        'source': "Open MPI's own text; github.com/h5py/h5py, issue 2627",
    },
    {
        'name': "mpirun as root",
        'patterns': ["has detected an attempt to run as root"],
        'cause': "mpirun of Open MPI refuses to run as root. Docker and image builds run as root.",
        'remedy': "Run `export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1` (Open "
        "MPI 5: PRTE_ instead of OMPI_), or `mpirun --allow-run-as-root`. On a cluster, use your "
        "own account.",
        'source': "Open MPI, help text of mpirun; github.com/open-mpi/ompi, issue 4451",
    },
    {
        'name': "PMIx of two releases",
        'patterns': [
            "PMIX TEMPORARILY UNAVAILABLE",
            "UNPACK-PMIX-VALUE: UNSUPPORTED TYPE",
            "PMIX ERROR: UNPACK-PAST-END in file unpack.c",
            ("PMIX ERROR: ", r"PMIX ERROR: [\w -]{1,60} in file \S{0,200}pmix_esh\.c"),
        ],
        'cause': "Open MPI in the image cannot communicate with the PMIx server that started it. "
        "The two have different versions, or LD_LIBRARY_PATH leads Slurm's plugin (or one node) "
        "to another libpmix.so.",
        'remedy': "Use the same major version of Open MPI (2, 3, 4 or 5) in the image as the "
        "host's mpirun, ideally the identical version. Or run `srun --mpi=pmix`, if Slurm "
        "supports PMIx.",
        'source': "github.com/apptainer/singularity, issues 3678 and 5203",
        'also': [
            (
                "the container hides the folders with PMIx's files",
                "echo $PMIX_SERVER_TMPDIR, a folder that must be bound",
            ),
            ("too many ranks connect at once", "run the same command with few ranks"),
        ],
    },
    {
        'name': "plugins of another PMIx",
        'patterns': [
            "unable to find any usable plugins for the",
            (
                "process_repository_item filename",
                r"process_repository_item filename \S{1,200} has bad prefix",
            ),
        ],
        'cause': "PMIx loads plugins (mca_*.so) of another version than its own: two "
        "installations are mixed.",
        'remedy': "Run `env | grep -E '^(PMIX|OMPI|OPAL|PRTE)_'`, and unset variables with "
        "folders of another Open MPI. Before `make install`, remove files of an older build from "
        "lib/pmix.",
        'source': "github.com/open-mpi/ompi, issue 6815",
        'also': [("PMIx does not find its plugins at all", "ls LIBDIR/pmix in the installation")],
        'unless': ["component of PMIx missing"],
    },
    {
        'name': "Open MPI differs between nodes",
        'patterns': [
            ("Framework: ", r"Framework: +ess\b"),
            (
                " detected a mismatch in versions between",
                "(?:PRR?TE|ORTE|Open RTE|Open MPI) detected a mismatch in versions between",
            ),
        ],
        'cause': "A daemon or rank of Open MPI was started with options that its installation "
        "does not know: the nodes, or host and image, have different versions of Open MPI.",
        'remedy': "`mpirun --version` must print the same version on every node and in the image. "
        "Call mpirun by its full path, or with --prefix.",
        'source': "github.com/open-mpi/ompi, issue 6293",
        'also': [
            (
                "srun started the rank, and this Open MPI has no PMI support",
                "ompi_info | grep -i pmi",
            )
        ],
    },
    {
        'name': "address of a rank of MPICH unknown",
        'patterns': [
            (
                " or invalid host/port description in business card",
                "Missing (?:ifname|hostname|port) or invalid host/port description in business "
                "card",
            )
        ],
        'cause': "A rank cannot read the network address of another rank: MPICH in the image is "
        "not compatible with the mpiexec that started it, or the name of a node has no address in "
        "the container.",
        'remedy': "Use the same version of MPICH inside and outside the container "
        "(`mpichversion`). `srun getent hosts NODE` in the container shows whether the name of "
        "the node has an address.",
        'source': "github.com/apptainer/singularity, issue 713",
    },
    {
        'name': "Open MPI may not use these cores",
        'patterns': [
            "hwloc_set_cpubind returned",
            "would result in binding more",
            "Open MPI tried to bind a new process, but",
        ],
        'cause': "mpirun binds ranks to cores that the job or container does not have: mpirun "
        "counts all cores of the node, or more ranks than cores were requested.",
        'remedy': "Run `mpirun --bind-to none`, or start the ranks with srun. Request enough "
        "cores from Slurm (-n, -c, --ntasks-per-node) or the whole node (--exclusive).",
        'source': "github.com/open-mpi/ompi, issues 12463 and 12470",
        'also': [
            (
                "the hwloc library of this Open MPI is too old for the system",
                "run the same command with an Open MPI built --with-hwloc=/usr",
            )
        ],
    },
    {
        'name': "program that mpirun does not find",
        'patterns': [
            "was unable to find the specified executable file",
            (
                "unable to launch the specified application as it could not ",
                "unable to launch the specified application as it could not (?P<why>access|find an "
                "executable|change to the specified working directory)",
            ),
            (
                "execvp error on file ",
                r"execvp error on file (?!srun)(?P<file>\S{1,200}) \((?P<why>[^)\n]{1,60})\)",
            ),
            (
                "unable to change wdir to ",
                r"unable to change wdir to (?P<folder>\S{1,200}) \((?P<why>[^)\n]{1,60})",
            ),
        ],
        'cause': "mpirun cannot start {file}. The program does not exist on that node or in that "
        "container, is not executable, or mpirun took an unknown option for the program. Or the "
        "working folder does not exist. {folder} {why}",
        'remedy': "Name the program by its full path, on a file system that all nodes see, and "
        "check `ls -l PROGRAM` on the node. For a container, run `mpirun apptainer exec IMAGE "
        "PROGRAM`. A script needs a first line with #! and `chmod +x`.",
        'source': "Open MPI, help texts of mpirun; Hydra",
        'unless': ["mpirun in the container", "program not found"],
    },
    {
        'name': "option that mpirun does not know",
        'patterns': [
            (
                "unrecognized argument ",
                r"\b(?:match_arg|HYD\w{1,60}|\w{0,60}parse_args?) \([^\n]{1,120}: unrecognized argument "
                r"(?P<option>\S{1,60})",
            )
        ],
        'cause': "This mpirun does not know the option {option}, which belongs to another MPI: "
        "--mca, -x and --bind-to core are options of Open MPI; -genv, -ppn and -f are options of "
        "MPICH, Intel MPI and MVAPICH.",
        'remedy': "Check with `which mpirun; mpirun --version`. Use mpirun of the MPI with which "
        "the program was built, or the options of this mpirun (Open MPI 5 uses --map-by "
        ":OVERSUBSCRIBE instead of --oversubscribe).",
        'source': "Hydra; PRRTE, help texts",
    },
    {
        'name': "mapping that does not fit the node",
        'patterns': [
            "Your job failed to map",
            "A request for multiple cpus-per-proc was given",
            ("Please correct the map", "Please correct the map(?:/bind|ping) directive"),
        ],
        'cause': "--map-by, --rank-by, --bind-to or a rank file requests sockets, cores or core "
        "numbers that the node, or the job's part of the node, does not have.",
        'remedy': "`mpirun --bind-to none` without --map-by shows whether this is the cause. "
        "`srun bash -c 'taskset -cp $$'` prints the cores of the job, and `lscpu` the sockets and "
        "cores of the node. Request the whole node with --exclusive. In a container hwloc may see "
        "fewer cores.",
        'source': "PRRTE, help texts",
        'unless': ["Open MPI may not use these cores"],
    },
    {
        'name': "ssh between nodes refused",
        'patterns': [
            "plm_rsh_agent",
            (
                "Permission denied (",
                r"Permission denied \((?:publickey|password|gssapi|keyboard"
                r"|hostbased)[^)\n]{0,80}\)[^\n]{0,400}\n(?:[^\n]{0,200}\n){0,8}?[^\n]{0,200}(?:ORTE|PRTE|prterun|mpirun"
                "|mpiexec|bstrap|HYD)",
            ),
            (
                "ssh: ",
                "ssh: (?:connect to host|Could not resolve hostname) "
                r"(?!git)(?P<host>\S{1,80})[^\n]{0,400}\n(?:[^\n]{0,200}\n){0,8}?[^\n]{0,200}(?:ORTE|PRTE|prterun|mpirun"
                "|mpiexec|bstrap|HYD)",
            ),
        ],
        'cause': "mpirun starts daemons on other nodes with ssh, and ssh cannot connect without "
        "asking a question. There is no key, the host key is unknown, the name does not resolve, "
        "or ssh does not exist (in a container). {host}",
        'remedy': "Start the ranks with srun, which needs no ssh. Otherwise `ssh NODE true` must "
        "work without a password from the first node of the job (`ssh-keygen`, authorized_keys). "
        "Clusters often allow ssh only to nodes of your own jobs.",
        'source': "Open MPI, help texts of mpirun; ssh(1)",
    },
    {
        'name': "folder of Open MPI for its session not to be made",
        'patterns': [
            ("session_dir.c", r"_ERROR_LOG: [\w ()-]{1,60} in file \S{0,200}session_dir\.c"),
            "too long for the Unix domain socket",
            "A call to mkdir was unable to create the desired",
            (
                "ORTE_ERROR_LOG: Bad parameter in file ",
                r"ORTE_ERROR_LOG: Bad parameter in file \S{0,150}orted/pmix/pmix_server\.c",
            ),
        ],
        'cause': "Open MPI and PMIx cannot create their session folder in TMPDIR (or /tmp): the "
        "folder belongs to another user, is full or is not in the container, or its name is too "
        "long for a socket.",
        'remedy': "Run `export TMPDIR=/tmp` (a short name, on every node), and remove old folders "
        "with `rm -r /tmp/ompi.$(hostname).$UID`. In a container, bind the folder that mpirun "
        "outside the container uses.",
        'source': "Open MPI, help texts of mpirun; Open MPI, FAQ, session directory",
    },
    {
        'name': "two releases of Hydra",
        'patterns': ["UI version string does not match proxy version"],
        'cause': "mpiexec of MPICH and its helper on another node or in the container "
        "(hydra_pmi_proxy) have different versions.",
        'remedy': "Run `mpiexec --version` and `which hydra_pmi_proxy` on both nodes, also "
        "through ssh: both must have the same MPICH in the same folder. srun needs no helper.",
        'source': "Hydra, pm/pmiserv/pmip_utils.c; github.com/pmodels/mpich, issue 5050",
    },
    {
        'name': "daemon of mpirun lost",
        'patterns': [
            (
                " has lost communication with ",
                "(?:ORTE|PRTE|PRRTE) has lost communication with (?:a|its)(?: remote)? daemon",
            )
        ],
        'cause': "A daemon of mpirun on another node terminated or cannot be reached. The node "
        "failed or has no memory left, the daemon or its libraries do not exist (status 127), or "
        "a firewall blocks the connection.",
        'remedy': "Read the lines before this message, and look for signs of used-up memory "
        "(`dmesg`, `sacct -j JOB`). Status 127 means that Open MPI is in another folder on that "
        "node: call mpirun by its full path, or with --prefix. srun needs no daemons.",
        'source': "Open MPI, help texts of mpirun; Hydra",
        'general': True,
        'unless': ["helpers of mpirun not reached"],
    },
    {
        'name': "rank killed",
        'patterns': [
            ("EXIT CODE: ", r"= +EXIT CODE: (?:9|15|137|143)\b"),
            ("erminated by signal ", r"[Tt]erminated by signal (?:9|SIGKILL)\b"),
            ("EXIT STRING: ", "EXIT STRING: (?:Killed|Terminated)"),
        ],
        'cause': "A rank was killed from outside: usually because the node or the job had no "
        "memory left, otherwise at a time limit or because another rank failed.",
        'remedy': "`sacct -j JOB -o state,exitcode,maxrss` and `dmesg` show whether memory was "
        "the cause (OUT_OF_MEMORY). In that case request more with --mem=0, or start fewer ranks "
        "on a node. Otherwise look for an earlier error of another rank.",
        'source': "signal(7); sacct(1)",
        'also': [
            (
                "the time limit was reached, or the job was cancelled",
                "sacct -j JOB -o state,end,timelimit",
            )
        ],
        'last': True,
    },
    {
        'name': "processes used up",
        'patterns': [
            ("fork: ", "fork: (?:retry: )?(?:no child processes|Resource temporarily unavailable)"),
            "OpenBLAS blas_thread_init",
        ],
        'cause': "You cannot start more processes or threads on this node (`ulimit -u`, or the "
        "limit of a cgroup). Each rank may start as many threads as the node has cores, or "
        "processes of earlier runs may still exist.",
        'remedy': "Run `export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1`. `ps -u $USER` lists "
        "processes of earlier runs, and `srun bash -c 'ulimit -u; cat /sys/fs/cgroup/pids.max'` "
        "prints the limits. Login nodes often allow few processes: use a job.",
        'source': "fork(2), EAGAIN",
    },
    {
        'name': "program that the node could not start",
        'patterns': ["tried to fork a new process via the"],
        'cause': "mpirun found the program, but the system did not start it. The file is a "
        "folder, is not executable, is a script without #!, or was built for another processor; "
        "the line with Error shows the reason.",
        'remedy': "Run `ls -l PROGRAM; file PROGRAM` on that node, and `chmod +x PROGRAM` if "
        "needed. Name a file, not a folder. In a container, give the path inside the container.",
        'source': "Open MPI, help-orte-odls-default.txt; github.com/open-mpi/ompi, issue 11936",
    },
    {
        'name': "MPI in a program that a rank has started",
        'patterns': [
            (" (-17) instead of", r'--> Returned (?:value )?\"?No permission\"? \(-17\) instead of')
        ],
        'cause': "A rank of Open MPI started another program (with subprocess, multiprocessing or "
        "a shell) that also starts MPI. mpirun does not know this program.",
        'remedy': "Start the program without the variables of the rank: `env -i PATH=$PATH "
        "HOME=$HOME PROGRAM`, or unset the variables that `env | grep -E '^(OMPI|PMIX)_'` prints. "
        "In Python, do not import mpi4py in the child process (if __name__ == '__main__'), or set "
        "mpi4py.rc.initialize = False in the child process.",
        'source': "github.com/mpi4py/mpi4py, issue 705; github.com/open-mpi/ompi, issue 12027",
        'also': [
            (
                "the container runs as another user than mpirun, or does not show TMPDIR",
                "apptainer exec IMAGE sh -c 'id; ls -ld $TMPDIR'",
            )
        ],
        'unless': ["folder of Open MPI for its session not to be made"],
    },
    {
        'name': "Open MPI of the image and mpirun do not fit",
        'patterns': [
            (
                "(-43) instead of",
                r'--> Returned (?:value )?\"?(?:\(null\)|Silent|Error)\"? \(-43\) instead of',
            )
        ],
        'cause': "The rank cannot connect to the mpirun that started it: Open MPI of the rank (in "
        "the image, or on LD_LIBRARY_PATH) and Open MPI of mpirun have different versions.",
        'remedy': "`mpirun --version` and `apptainer exec IMAGE mpirun --version` must print the "
        "same version, ideally to the last digit. Check the files with `which -a mpirun; ldd "
        "PROGRAM | grep libmpi`. Or run `srun --mpi=pmix`, if Slurm supports PMIx.",
        'source': "github.com/apptainer/singularity, issues 5060 and 88; "
        "github.com/open-mpi/ompi, issue 8017",
        'also': [
            ("TMPDIR of the job is not in the container", "apptainer exec IMAGE ls -ld $TMPDIR")
        ],
        'general': True,
    },
    {
        'name': "mpiexec that asks PBS or LSF in vain",
        'patterns': [
            ("tm_init", r"tm_init(?:\(\))? ?(?:failed|returned|:)"),
            ("launcher_pbs_init (", r"launcher_pbs_init \("),
            ("TM error ", r"\bTM error \d+"),
            (
                "error: commlib error: got select error",
                r"error: commlib error: got select error[^\n]{0,400}\n[^\n]{0,60}mpiexec",
            ),
        ],
        'cause': "mpiexec finds variables of PBS, LSF or SGE and starts the ranks through this "
        "batch system, but the daemon of the batch system on this node does not answer. The shell "
        "may not belong to the job (ssh to a node), or the ranks are started twice.",
        'remedy': "Start mpiexec in the job itself, on the first node of the job. Or start the "
        "ranks through ssh: `mpiexec -launcher ssh -f $PBS_NODEFILE` (Hydra; for SGE "
        "$PE_HOSTFILE), or `mpirun --mca plm rsh --mca ras ^tm` (Open MPI 4).",
        'source': "github.com/radical-cybertools/radical.pilot, issue 301; Hydra, "
        "tools/bootstrap/external",
    },
]
