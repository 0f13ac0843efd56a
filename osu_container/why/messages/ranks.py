"""Define causes and remedies of error messages about the start of ranks (mpirun, PMI)."""

from typing import Any, Dict, List

ENTRIES: List[Dict[str, Any]] = [
    {
        'name': "srun uses a PMI type that the MPI does not support",
        'patterns': [r"srun started (?P<tasks>\d+) tasks without the PMI of this MPI"],
        'cause': "srun uses a PMI type (option --mpi=) that the program's MPI does not support, "
        "so each of the {tasks} ranks would run alone.",
        'remedy': "Remove --mpi= from the srun command: the loaded osu-container module selects "
        "the PMI type with the variable SLURM_MPI_TYPE. If you need --mpi=, use the type that "
        "the error message names.",
        'source': "scripts/run-in-container",
    },
    {
        'name': "Open MPI cannot reach a PMIx server",
        'patterns': [
            "No PMIx server was reachable",
            "PMI2_Init failed",
            r"(?<!\d)(?:\d+) singletons will be started",
            'direct launched using "srun"',
            "OMPI was not built with SLURM's PMI support",
            r"OPAL ERROR: (?:Unreachable|Not initialized) in file \S*(?:pmix|ext3x)",
        ],
        'cause': "Open MPI cannot reach the PMIx server of its launcher. Possible reasons: srun "
        "uses another PMI type than pmix (option --mpi=), Slurm was built without PMIx (as on "
        "LUMI), mpirun outside the container uses an incompatible PMIx, or the container does "
        "not contain the folders with PMIx's files.",
        'remedy': "If `srun --mpi=list` prints pmix, run `srun --mpi=pmix`, and do not start the "
        "container with --cleanenv. Bind the folders that `scontrol show config` prints as TmpFS "
        "and SlurmdSpoolDir into the container. If Slurm has no pmix, use an image with MPICH.",
        'source': "Open MPI 5.0.11, seen by this project, 2026-11; github.com/open-mpi/ompi, pull "
        "request 3778 and issue 12146; github.com/apptainer/singularity, issue 5203",
        'also': [
            (
                "the container runs with --fakeroot, so PMIx finds another user ID in the "
                "container than outside",
                "the same command without --fakeroot",
            ),
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
        'unless': ["PMIx lacks a component", "two versions of PMIx cannot communicate"],
    },
    {
        'name': "Open MPI was built without support for the launcher",
        'patterns': [r'direct launched using "(?P<launcher>(?!srun)[^"\n]{1,40})"'],
        'cause': "{launcher} started the ranks, but this Open MPI was built without support for "
        "{launcher}. Each rank therefore has no connection to the other ranks.",
        'remedy': "Start the ranks with mpirun of the same Open MPI, or use an Open MPI that was "
        "built with the option that the message names.",
        'source': "Open MPI, help-ess-base.txt and help-schizo-base.txt",
    },
    {
        'name': "PMIx lacks a component",
        'patterns': [r"Framework: +(?P<framework>psec|gds|ptl)\b"],
        'cause': "Slurm or another launcher requests a component of the PMIx framework "
        "{framework}, but the PMIx that the rank loads (in a container: the image's PMIx) does not "
        "have this component. MPI terminates without a component of this framework.",
        'remedy': "Run `export PMIX_MCA_psec=native PMIX_MCA_gds=hash` before srun or mpirun.",
        'source': "Open MPI 5.0.11, seen by this project, 2026-11; "
        "github.com/eth-cscs/cray-network-stack, osu-ompi; github.com/pmix/pmix-standard, issue 363",
    },
    {
        'name': "PMIx cannot print the error of a rank",
        'patterns': [r"PMIX ERROR: UNPACK-PAST-END(?! in file unpack\.c)"],
        'cause': "A rank of Open MPI terminated in MPI_Init. Slurm's PMIx is older than the "
        "rank's PMIx, and could not print the reason. One known reason is a Slurm NodeName that "
        "differs from the host name of the machine: Open MPI then finds no other ranks on the "
        "node, and the third rank of the node terminates with an error about 'num local peers'.",
        'remedy': "Start slurmd with PMIX_HOSTNAME=NODENAME in its environment, as "
        "tools/workstation/slurm.sh does (`make stop; make slurm`), or set the host name of the "
        "node to its NodeName. If a run with two ranks per node works, the different names are "
        "the cause.",
        'source': "Open MPI 5.0.11 with PMIx 4.2.2 in Slurm 22.05, seen by this project, 2026-11",
    },
    {
        'name': "MPICH does not find a PMI server",
        'patterns': ["singleton init program attempted to access", "PMII_singinit: execv failed"],
        'cause': "MPICH did not find the PMI server of its launcher. Therefore each rank runs "
        "alone, as rank 0 of 1.",
        'remedy': "For the MPICH of an image, run `srun --mpi=pmi2`; osu-container modules "
        "select the PMI type pmi2. If MPICH was built for PMIx, run `srun --mpi=pmix`.",
        'source': "github.com/pmodels/mpich, issue 6924",
    },
    {
        'name': "MPI cannot read the list of its ranks",
        'patterns': [
            r"PMI2? init failed: \d",
            "_pmi_mmap_init",
            "_mpidi_cray_pmi_receive",
        ],
        'cause': "MPI could not read the list of its ranks from its launcher. Cray MPICH reads "
        "this list from a file that Slurm writes for the job step below /var/spool/slurmd. "
        "Possible reasons: the program was not started by srun (for example on a login node), srun uses "
        "another PMI type than cray_shasta (option --mpi=), or the container does not contain "
        "/var/spool/slurmd.",
        'remedy': "Start the program with srun. With approach bind (Cray MPICH of the host), run "
        "srun without --mpi= (cray_shasta is the default on LUMI). Bind /var/spool/slurmd into "
        "the container (`osu-explain` lists the bind mounts of the loaded osu-container module).",
        'source': "github.com/flux-framework/flux-coral2, issue 125; Slurm, "
        "src/plugins/mpi/cray_shasta/apinfo.h",
        'also': [
            (
                "MPI loaded another PMI library than Cray's PMI library",
                "osu-exec ldd PROGRAM | grep libpmi",
            ),
            (
                "the MPI is MPICH, MVAPICH or Intel MPI, and the launcher uses another PMI than "
                "this MPI (start the ranks with srun --mpi=pmi2 or with mpiexec of this MPI)",
                "env | grep -i PMI; srun --mpi=list",
            ),
        ],
    },
    {
        'name': "mpirun does not find srun",
        'patterns': [
            "execvp error on file srun",
            "SLURM process starter for (?:OpenMPI|PRTE) was unable",
        ],
        'cause': "In a Slurm job, mpirun (or mpiexec) starts its daemons with srun, but mpirun "
        "finds no srun in the folders of PATH. PATH lacks the folder of Slurm's commands, or "
        "mpirun runs in a container without srun.",
        'remedy': "Check with `type srun` in the same shell. In a container, call srun outside "
        "instead of mpirun inside: `srun osu_bw H H` starts a container process per rank. On a "
        "single node without srun, use `mpiexec -launcher fork` "
        "(MPICH) or `PRTE_MCA_plm=^slurm PRTE_MCA_ras=^slurm mpirun` (Open MPI 5).",
        'source': "MPICH 4.2.3 and Open MPI 5.0.11, seen by this project, 2026-11; "
        "github.com/sylabs/singularity, issue 1695; github.com/hpc/charliecloud, issue 1010",
    },
    {
        'name': "every rank runs alone",
        'patterns': [
            r"(ank:? *0 *(?:of|out of|/) *1\b(?:[^\n\d]{0,29}(?=[\d\n])"
            r"|[^\n\d]{30}))[^\n]{0,200}\n(?:[^\n]{0,200}\n){0,3}?[^\n]{0,200}?\1",
            r"(Benchmark \w+ invalid for 1 processes\b(?:[^\n\d]{0,29}(?=[\d\n])"
            r"|[^\n\d]{30}))[^\n]{0,200}\n(?:[^\n]{0,200}\n){0,3}?[^\n]{0,200}?\1",
        ],
        'cause': "Several ranks each report that they are rank 0 of 1: the ranks have not found "
        "each other, usually because srun uses a wrong PMI type (option --mpi=).",
        'remedy': "Remove --mpi= from the srun command, or use the right PMI type: pmi2 for "
        "MPICH in a container, cray_shasta for Cray MPICH, pmix for Open MPI 5. `srun "
        "--mpi=list` prints the available types. Do not start the container with --cleanenv, "
        "which removes the PMI variables from the container.",
        'source': "github.com/apptainer/singularity, issues 5131 and 5706; "
        "cug26_containers_tutorial, 2026",
        'unless': ["Open MPI cannot reach a PMIx server"],
    },
    {
        'name': "the number of ranks is wrong",
        'patterns': [
            r"This test requires (?P<number>exactly two|at least two|at least \d+|exactly \d+) processes",
            "there was only one MPI process available. Need (?P<number>at least two)",
        ],
        'cause': "The benchmark needs {number} ranks, but another number of ranks was started: "
        "srun started more or fewer ranks, or each rank runs alone because of a wrong PMI type "
        "(option --mpi=).",
        'remedy': "Start a benchmark that needs two ranks with `srun -N2 -n2 PROGRAM`, without "
        "the option --mpi=.",
        'source': "mpi4py's ports and the OSU programs; seen by this project, 2026-11",
        'unless': [
            "srun uses a PMI type that the MPI does not support",
            "Open MPI cannot reach a PMIx server",
        ],
    },
    {
        'name': "PMIx cannot use its shared memory",
        'patterns': [r"PMIX ERROR: [\w -]{1,60} in file \S{0,300}dstore(?!/pmix_esh)"],
        'cause': "PMIx shares data between ranks through files in shared memory (dstore), and a "
        "rank in the container has no permission to open or change these files. The run may "
        "continue.",
        'remedy': "Run `export PMIX_MCA_gds=hash` before srun or mpirun: PMIx then uses no files "
        "in shared memory.",
        'source': "github.com/apptainer/singularity, issue 5195; github.com/openpmix/openpmix, "
        "issue 1819",
        'also': [("/tmp or /dev/shm is full", "df -h /tmp /dev/shm")],
    },
    {
        'name': "MPICH finds two launchers at once",
        'patterns': ["Auto-detection of PMI version failed"],
        'cause': "MPICH finds two launchers at once: mpiexec (PMI) runs in a job step that srun "
        "started with PMIx.",
        'remedy': "Use a single launcher: run `srun --mpi=pmi2 PROGRAM` without mpiexec. Or, to "
        "use mpiexec, unset the variables that `env | grep PMIX_` prints before you call mpiexec.",
        'source': "github.com/pmodels/mpich, issue 7957",
    },
    {
        'name': "mpirun cannot reach its daemons",
        'patterns': [
            r"HYDU_sock_connect \(.{0,300}\): unable to (?:connect|get host)",
            "(?:ORTE|PRTE) was unable to reliably start",
            "unable to launch bstrap proxy",
            "[Ee]rror setting up the boo?t?strap prox",
            "An? (?:ORTE |PRR?TE )?daemon has unexpectedly failed",
        ],
        'cause': "mpirun starts a daemon on every node, and a daemon did not start or cannot "
        "connect to mpirun. The name of a node may not resolve, a firewall may block the "
        "connection, ssh may be missing, or Open MPI may be in another folder on the node of the "
        "daemon.",
        'remedy': "Start the ranks with srun, which needs no daemons. Otherwise call mpirun by "
        "its full path (or with --prefix), and run `export OMPI_MCA_oob_tcp_if_include=NAME` "
        "(Intel MPI: `export I_MPI_HYDRA_IFACE=NAME`), where NAME is a network interface that all "
        "nodes have.",
        'source': "Hydra, tools; Open MPI, help-errmgr-base.txt; github.com/open-mpi/ompi, issue "
        "8213",
        'also': [
            ("the name of the node cannot be resolved on another node", "srun getent hosts NODE"),
            ("ssh asks for a password", "ssh NODE true"),
            ("srun does not pass PATH to the daemon", "SLURM_EXPORT_ENV=ALL mpirun PROGRAM"),
        ],
        'unless': [
            "mpirun does not find srun",
            "mpirun cannot reach another node with ssh",
        ],
    },
    {
        'name': "Open MPI has not enough slots",
        'patterns': ["There are not enough slots available"],
        'cause': "Open MPI's mpirun counts the available cores, or the tasks of the Slurm job, as "
        "slots. The number of slots is smaller than the requested number of ranks.",
        'remedy': "Start fewer ranks, or request more tasks for the job (`sbatch -n NUMBER`). "
        "mpirun inside a container does not know the Slurm job: start the ranks with srun "
        "instead. For tests only, `mpirun --oversubscribe` starts more ranks than slots.",
        'source': "the message of Open MPI; github.com/h5py/h5py, issue 2627",
    },
    {
        'name': "Open MPI refuses to run as root",
        'patterns': ["has detected an attempt to run as root"],
        'cause': "Open MPI's mpirun refuses to run as root. Docker containers and image builds "
        "run as root by default.",
        'remedy': "Run `export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1` (Open "
        "MPI 5: variables with PRTE_ instead of OMPI_), or `mpirun --allow-run-as-root`. On a "
        "cluster, use your own account.",
        'source': "Open MPI, help text of mpirun; github.com/open-mpi/ompi, issue 4451",
    },
    {
        'name': "two versions of PMIx cannot communicate",
        'patterns': [
            "PMIX TEMPORARILY UNAVAILABLE",
            "UNPACK-PMIX-VALUE: UNSUPPORTED TYPE",
            r"PMIX ERROR: UNPACK-PAST-END in file unpack\.c",
            r"PMIX ERROR: [\w -]{1,60} in file \S{0,200}pmix_esh\.c",
        ],
        'cause': "Open MPI in the image cannot communicate with the PMIx server that started the "
        "ranks. The PMIx of the image and the PMIx of the server have different versions, or "
        "LD_LIBRARY_PATH leads Slurm's PMIx plugin to another libpmix.so (perhaps on a single "
        "node only).",
        'remedy': "Use the same major version of Open MPI (2, 3, 4 or 5) in the image as the "
        "host's mpirun, ideally the identical version. Or, if `srun --mpi=list` prints pmix, run "
        "`srun --mpi=pmix`.",
        'source': "github.com/apptainer/singularity, issues 3678 and 5203",
        'also': [
            (
                "the container does not contain the folders with PMIx's files",
                "echo $PMIX_SERVER_TMPDIR, which prints a folder that must be bound into the "
                "container",
            ),
            ("too many ranks connect at once", "run the same command with few ranks"),
        ],
    },
    {
        'name': "PMIx loads plugins of another version",
        'patterns': [
            "unable to find any usable plugins for the",
            r"process_repository_item filename \S{1,200} has bad prefix",
        ],
        'cause': "PMIx loads plugins (mca_*.so) of another version than the version of PMIx "
        "itself: two installations of PMIx are mixed.",
        'remedy': "Run `env | grep -E '^(PMIX|OMPI|OPAL|PRTE)_'`, and unset the variables that "
        "name folders of another Open MPI. If you build PMIx, remove files of an older build from "
        "lib/pmix before `make install`.",
        'source': "github.com/open-mpi/ompi, issue 6815",
        'also': [
            (
                "PMIx does not find its plugins at all",
                "ls LIBDIR/pmix in the installation folder of PMIx",
            )
        ],
        'unless': ["PMIx lacks a component"],
    },
    {
        'name': "Open MPI has different versions on the nodes",
        'patterns': [
            r"Framework: +ess\b",
            "(?:PRR?TE|ORTE|Open RTE|Open MPI) detected a mismatch in versions between",
        ],
        'cause': "A daemon or a rank received options that are unknown to its version of Open "
        "MPI: the versions of Open MPI differ between the nodes, or between host and image.",
        'remedy': "`mpirun --version` must print the same version on every node and in the image. "
        "Call mpirun by its full path, or with --prefix.",
        'source': "github.com/open-mpi/ompi, issue 6293",
        'also': [
            (
                "srun started the rank, and the rank's Open MPI has no PMI support",
                "ompi_info | grep -i pmi",
            )
        ],
    },
    {
        'name': "MPICH does not know the address of another rank",
        'patterns': [
            "Missing (?:ifname|hostname|port) or invalid host/port description in business card"
        ],
        'cause': "A rank cannot read the network address of another rank. MPICH in the image is "
        "not compatible with the mpiexec that started the rank, or the name of a node has no "
        "address in the container.",
        'remedy': "Use the same version of MPICH inside and outside the container "
        "(`mpichversion` prints the version). Run `srun getent hosts NODE` in the container: if "
        "the command prints nothing, the name of the node has no address.",
        'source': "github.com/apptainer/singularity, issue 713",
    },
    {
        'name': "Open MPI cannot bind ranks to the requested cores",
        'patterns': [
            "hwloc_set_cpubind returned",
            "would result in binding more",
            "Open MPI tried to bind a new process, but",
        ],
        'cause': "mpirun binds ranks to cores that the job or container must not use. Either "
        "mpirun counts all cores of the node, or you start more ranks than the number of "
        "requested cores.",
        'remedy': "Run `mpirun --bind-to none`, or start the ranks with srun. Request enough "
        "cores from Slurm (-n, -c, --ntasks-per-node) or the whole node (--exclusive).",
        'source': "github.com/open-mpi/ompi, issues 12463 and 12470",
        'also': [
            (
                "the hwloc library of the loaded Open MPI is too old for the system",
                "run the same command with an Open MPI built --with-hwloc=/usr",
            )
        ],
    },
    {
        'name': "mpirun cannot find the program",
        'patterns': [
            "was unable to find the specified executable file",
            "unable to launch the specified application as it could not (?P<why>access|find an "
            "executable|change to the specified working directory)",
            r"execvp error on file (?!srun)(?P<file>\S{1,200}) \((?P<why>[^)\n]{1,60})\)",
            r"unable to change wdir to (?P<folder>\S{1,200}) \((?P<why>[^)\n]{1,60})",
        ],
        'cause': "mpirun cannot start the program. Either the program does not exist on the node "
        "or in the container, or the program is not executable. Otherwise mpirun took an option "
        "for the name of the program, or the working folder does not exist.",
        'remedy': "Name the program by its full path, on a file system that all nodes see, and "
        "check the program file with `ls -l PROGRAM` on the node. For a container, run `mpirun "
        "apptainer exec IMAGE PROGRAM`. A script needs a first line with #! and `chmod +x "
        "SCRIPT`.",
        'source': "Open MPI, help texts of mpirun; Hydra",
        'unless': ["mpirun does not find srun", "the node does not find the program"],
    },
    {
        'name': "mpirun does not know an option",
        'patterns': [
            r"\b(?:match_arg|HYD\w{1,60}|\w{0,60}parse_args?) \([^\n]{1,120}: unrecognized argument "
            r"(?P<option>\S{1,60})"
        ],
        'cause': "mpirun does not know the option {option}, because this option belongs to "
        "another MPI: --mca, -x and --bind-to core are options of Open MPI; -genv, -ppn and -f "
        "are options of MPICH, Intel MPI and MVAPICH.",
        'remedy': "Find out which mpirun you call with `which mpirun; mpirun --version`. Call "
        "mpirun of the MPI with which the program was built, or use the options of the mpirun "
        "that you call (Open MPI 5 has --map-by :OVERSUBSCRIBE instead of --oversubscribe).",
        'source': "Hydra; PRRTE, help texts",
    },
    {
        'name': "the requested mapping of ranks does not fit the node",
        'patterns': [
            "Your job failed to map",
            "A request for multiple cpus-per-proc was given",
            "Please correct the map(?:/bind|ping) directive",
        ],
        'cause': "An option --map-by, --rank-by or --bind-to, or a rank file, requests sockets, "
        "cores or core numbers that do not exist on the node or do not belong to the job.",
        'remedy': "Run `mpirun --bind-to none` without --map-by: if this command works, the "
        "mapping is the cause. `srun bash -c 'taskset -cp $$'` prints the cores of the job, and "
        "`lscpu` the sockets and cores of the node. Request the whole node with --exclusive. In "
        "a container, hwloc may find fewer cores.",
        'source': "PRRTE, help texts",
        'unless': ["Open MPI cannot bind ranks to the requested cores"],
    },
    {
        'name': "mpirun cannot reach another node with ssh",
        'patterns': [
            "plm_rsh_agent",
            r"Permission denied \((?:publickey|password|gssapi|keyboard"
            r"|hostbased)[^)\n]{0,80}\)[^\n]{0,400}\n(?:[^\n]{0,200}\n){0,8}?[^\n]{0,200}(?:ORTE|PRTE|prterun|mpirun"
            "|mpiexec|bstrap|HYD)",
            "ssh: (?:connect to host|Could not resolve hostname) "
            r"(?!git)(?P<host>\S{1,80})[^\n]{0,400}\n(?:[^\n]{0,200}\n){0,8}?[^\n]{0,200}(?:ORTE|PRTE|prterun|mpirun"
            "|mpiexec|bstrap|HYD)",
        ],
        'cause': "mpirun starts daemons on other nodes with ssh, and ssh cannot connect without "
        "asking the user. You have no key for the other node, the host key is unknown, the name "
        "of the node does not resolve, or the command ssh does not exist (in a container).",
        'remedy': "Start the ranks with srun, which needs no ssh. Otherwise make `ssh NODE true` "
        "work without a password from the first node of the job (`ssh-keygen`, then add the "
        "public key to ~/.ssh/authorized_keys). Clusters often allow ssh only to nodes of your "
        "own jobs.",
        'source': "Open MPI, help texts of mpirun; ssh(1)",
    },
    {
        'name': "Open MPI cannot create its session folder",
        'patterns': [
            r"_ERROR_LOG: [\w ()-]{1,60} in file \S{0,200}session_dir\.c",
            "too long for the Unix domain socket",
            "A call to mkdir was unable to create the desired",
            r"ORTE_ERROR_LOG: Bad parameter in file \S{0,150}orted/pmix/pmix_server\.c",
        ],
        'cause': "Open MPI and PMIx cannot create their session folder in TMPDIR (or /tmp). The "
        "session folder belongs to another user, is full or is not in the container, or the name "
        "of the session folder is too long for a socket.",
        'remedy': "Run `export TMPDIR=/tmp` (a folder that has a short name and exists on every "
        "node), and remove old session folders with `rm -r /tmp/ompi.$(hostname).$UID`. In a "
        "container, bind the session folder that mpirun outside the container uses.",
        'source': "Open MPI, help texts of mpirun; Open MPI, FAQ, session directory",
    },
    {
        'name': "mpiexec and its helper have different versions",
        'patterns': ["UI version string does not match proxy version"],
        'cause': "mpiexec of MPICH and its helper program on another node or in the container "
        "(hydra_pmi_proxy) have different versions.",
        'remedy': "Run `mpiexec --version` and `which hydra_pmi_proxy` on both nodes, also "
        "through `ssh NODE`: both nodes must have the same MPICH in the same folder. Or start the "
        "ranks with srun, which needs no helper program.",
        'source': "Hydra, pm/pmiserv/pmip_utils.c; github.com/pmodels/mpich, issue 5050",
    },
    {
        'name': "a daemon of mpirun terminated",
        'patterns': [
            "(?:ORTE|PRTE|PRRTE) has lost communication with (?:a|its)(?: remote)? daemon"
        ],
        'cause': "A daemon of mpirun on another node terminated or cannot be reached. If the "
        "results are complete, the daemons were only ending. Otherwise the node failed or has no "
        "memory left, the daemon or one of its libraries does not exist (status 127), "
        "or a firewall blocks the connection.",
        'remedy': "Read the lines before the error message, and check whether memory was used up "
        "(`dmesg` on the node, `sacct -j JOB`). Status 127 means that Open MPI is in another "
        "folder on the other node: call mpirun by its full path, or with --prefix. Or start the "
        "ranks with srun, which needs no daemons.",
        'source': "Open MPI, help texts of mpirun; Hydra",
        'general': True,
        'unless': ["mpirun cannot reach its daemons"],
    },
    {
        'name': "a rank was killed",
        'patterns': [
            r"tasks? [\d,-]+: Killed\b",
            r"tasks? [\d,-]+: Terminated\b",
            r"= +EXIT CODE: (?:9|15|137|143)\b",
            r"[Tt]erminated by signal (?:9|SIGKILL)\b",
            "EXIT STRING: (?:Killed|Terminated)",
        ],
        'cause': "A rank was killed by another process: usually because the node or the job had "
        "no memory left, otherwise at the time limit or because another rank failed.",
        'remedy': "Run `sacct -j JOB -o state,exitcode,maxrss` and `dmesg`. If the state is "
        "OUT_OF_MEMORY, no memory was left: request all memory of the node with --mem=0, or "
        "start fewer ranks on a node. If the job has another state, look for an earlier error of "
        "another rank.",
        'source': "signal(7); sacct(1)",
        'also': [
            (
                "the job reached its time limit, or somebody cancelled the job",
                "sacct -j JOB -o state,end,timelimit",
            )
        ],
        'last': True,
    },
    {
        'name': "you cannot start more processes",
        'patterns': [
            "fork: (?:retry: )?(?:no child processes|Resource temporarily unavailable)",
            "OpenBLAS blas_thread_init",
        ],
        'cause': "You cannot start more processes or threads on this node (because of `ulimit -u` "
        "or the limit of a cgroup). Each rank may start as many threads as the node has cores, or "
        "processes of earlier runs may still exist.",
        'remedy': "Run `export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1`. `ps -u $USER` lists "
        "processes of earlier runs, and `srun bash -c 'ulimit -u; cat /sys/fs/cgroup/pids.max'` "
        "prints the limits. Login nodes often allow few processes: start the program in a job.",
        'source': "fork(2), EAGAIN",
    },
    {
        'name': "the node cannot start the program",
        'patterns': ["tried to fork a new process via the"],
        'cause': "mpirun found the program, but the system of the node did not start the "
        "program. The program is a folder, is not executable, is a script without #!, or was "
        "built for another processor. In the error message, the line that begins with Error "
        "names the reason.",
        'remedy': "Run `ls -l PROGRAM; file PROGRAM` on the node, and `chmod +x PROGRAM` if the "
        "program is not executable. Give mpirun a file, not a folder. In a container, give "
        "mpirun the path inside the container.",
        'source': "Open MPI, help-orte-odls-default.txt; github.com/open-mpi/ompi, issue 11936",
    },
    {
        'name': "a program that a rank started also starts MPI",
        'patterns': [r'--> Returned (?:value )?\"?No permission\"? \(-17\) instead of'],
        'cause': "A rank of Open MPI started another program (with subprocess, multiprocessing "
        "or a shell), and the other program also starts MPI. mpirun does not know the other "
        "program as a rank.",
        'remedy': "Start the other program without the variables of the rank: `env -i PATH=$PATH "
        "HOME=$HOME PROGRAM`, or unset the variables that `env | grep -E '^(OMPI|PMIX)_'` prints. "
        "In Python, import mpi4py only below if __name__ == '__main__', so that a child process "
        "does not import mpi4py, or set mpi4py.rc.initialize = False in the child process.",
        'source': "github.com/mpi4py/mpi4py, issue 705; github.com/open-mpi/ompi, issue 12027",
        'also': [
            (
                "the container runs with another user ID than mpirun, or does not contain the "
                "folder TMPDIR",
                "apptainer exec IMAGE sh -c 'id; ls -ld $TMPDIR'",
            )
        ],
        'unless': ["Open MPI cannot create its session folder"],
    },
    {
        'name': "Open MPI of the rank and mpirun do not match",
        'patterns': [r'--> Returned (?:value )?\"?(?:\(null\)|Silent|Error)\"? \(-43\) instead of'],
        'cause': "The rank cannot connect to the mpirun that started the rank: the Open MPI of "
        "the rank (in the image, or on LD_LIBRARY_PATH) and the Open MPI of mpirun have different "
        "versions.",
        'remedy': "`mpirun --version` and `apptainer exec IMAGE mpirun --version` must print the "
        "same version, ideally to the last digit. Check the files with `which -a mpirun; ldd "
        "PROGRAM | grep libmpi`. Or, if `srun --mpi=list` prints pmix, run `srun --mpi=pmix`.",
        'source': "github.com/apptainer/singularity, issues 5060 and 88; "
        "github.com/open-mpi/ompi, issue 8017",
        'also': [
            ("TMPDIR of the job is not in the container", "apptainer exec IMAGE ls -ld $TMPDIR")
        ],
        'general': True,
    },
    {
        'name': "mpiexec cannot reach PBS, LSF or SGE",
        'patterns': [
            r"tm_init(?:\(\))? ?(?:failed|returned|:)",
            r"launcher_pbs_init \(",
            r"\bTM error \d+",
            r"error: commlib error: got select error[^\n]{0,400}\n[^\n]{0,60}mpiexec",
        ],
        'cause': "mpiexec finds variables of PBS, LSF or SGE and therefore starts the ranks "
        "through this batch system, but the daemon of the batch system on this node does not "
        "answer. The shell may not belong to the job (after ssh to a node), or the ranks may be "
        "started twice.",
        'remedy': "Start mpiexec in the job itself, on the first node of the job. Or start the "
        "ranks through ssh: `mpiexec -launcher ssh -f $PBS_NODEFILE` (Hydra; with SGE use "
        "$PE_HOSTFILE instead of $PBS_NODEFILE), or `mpirun --mca plm rsh --mca ras ^tm` (Open "
        "MPI 4).",
        'source': "github.com/radical-cybertools/radical.pilot, issue 301; Hydra, "
        "tools/bootstrap/external",
    },
]
