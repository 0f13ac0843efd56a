"""Ranks that do not find each other, and what starts them: srun, mpirun, PMI, PMIx."""

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
        'cause': "srun has another --mpi= than this MPI knows, so each of the {tasks} ranks would "
        "be alone.",
        'remedy': "Leave out --mpi=: the module chooses by SLURM_MPI_TYPE. The message names the "
        "right one.",
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
        'cause': "Open MPI does not reach the PMIx of what started it: srun has another --mpi=, "
        "its Slurm has no PMIx (as on LUMI), mpirun outside of the container has another PMIx, or "
        "the container hides the folders in which both meet.",
        'remedy': "srun --mpi=pmix, if srun --mpi=list has it; without --cleanenv. Bind the "
        "folders TmpFS and SlurmdSpoolDir that scontrol show config prints. Where there is no "
        "pmix: an image with MPICH.",
        'source': "Open MPI 5.0.11, seen by this project, 2026-11; github.com/open-mpi/ompi, pull "
        "request 3778 and issue 12146; github.com/apptainer/singularity, issue 5203",
        'also': [
            (
                "the program was started by itself, inside of a job (a shell of salloc, sbatch)",
                "mpirun -n 1 PROGRAM, or env -u SLURM_JOB_ID -u SLURM_STEP_ID PROGRAM",
            ),
            (
                "the mpirun of another MPI has started it",
                "mpirun --version, beside ldd PROGRAM | grep libmpi",
            ),
        ],
        'unless': ["component of PMIx missing", "PMIx of two releases"],
    },
    {
        'name': "component of PMIx missing",
        'patterns': [("Framework: ", r"Framework: +(?P<framework>psec|gds|ptl)\b")],
        'cause': "Slurm's PMIx requests a component ({framework}) that the PMIx in the container "
        "does not have; without any MPI terminates.",
        'remedy': "export PMIX_MCA_psec=native PMIX_MCA_gds=hash before srun.",
        'source': "Open MPI 5.0.11, seen by this project, 2026-11; "
        "github.com/eth-cscs/cray-network-stack, osu-ompi",
    },
    {
        'name': "error text lost in PMIx",
        'patterns': [
            ("PMIX ERROR: UNPACK-PAST-END", r"PMIX ERROR: UNPACK-PAST-END(?! in file unpack\.c)")
        ],
        'cause': "A rank of Open MPI ended in MPI_Init, and Slurm's PMIx, of an older release, "
        "could not print why. Seen where Slurm's NodeName is not the name of the machine: Open "
        "MPI then finds no peers, and the third rank of a node ends (num local peers).",
        'remedy': "Start slurmd with PMIX_HOSTNAME=NODENAME in its environment, as "
        "tools/workstation/slurm.sh does (make stop, then make slurm), or give the node its host "
        "name. Else run with two ranks on a node to see whether it is this.",
        'source': "Open MPI 5.0.11 with PMIx 4.2.2 in Slurm 22.05, seen by this project, 2026-11",
    },
    {
        'name': "MPICH without PMI",
        'patterns': ["singleton init program attempted to access", "PMII_singinit: execv failed"],
        'cause': "MPICH did not find the PMI of whoever started it, so each rank is alone.",
        'remedy': "srun --mpi=pmi2 for MPICH of an image; the modules choose it. Where MPICH was "
        "built for PMIx: --mpi=pmix.",
        'source': "github.com/pmodels/mpich, issue 6924",
    },
    {
        'name': "Cray's PMI not reached",
        'patterns': [
            (" init failed: ", r"PMI2? init failed: \d"),
            "_pmi_mmap_init",
            "_mpidi_cray_pmi_receive",
        ],
        'cause': "Cray MPICH finds out about its ranks from a file that Slurm writes for the step "
        "below /var/spool/slurmd, and could not: it was not started by srun (a login node), "
        "another --mpi=, or the container does not show the folder.",
        'remedy': "bind: leave out --mpi= (cray_shasta is LUMI's default), and do not take "
        "/var/spool/slurmd from the binds (osu-explain lists them). Start it by srun.",
        'source': "github.com/flux-framework/flux-coral2, issue 125; Slurm, "
        "src/plugins/mpi/cray_shasta/apinfo.h",
        'also': [
            (
                "MPI has loaded another library of PMI than Cray's",
                "osu-exec ldd PROGRAM, line libpmi",
            ),
            (
                "it is MPICH, MVAPICH or Intel MPI: what started it speaks another PMI than it "
                "(srun --mpi=pmi2, or the mpiexec of this MPI)",
                "env | grep -i PMI; srun --mpi=list",
            ),
        ],
    },
    {
        'name': "mpirun in the container",
        'patterns': ["execvp error on file srun", "SLURM process starter for OpenMPI was unable"],
        'cause': "mpirun (mpiexec) was called inside the container: in a job it starts ranks by "
        "srun, which the container does not have. It may then wait forever.",
        'remedy': "No mpirun: srun in front, and the container behind it, once for each rank "
        "(srun osu_bw H H). On one node without srun: mpiexec -launcher fork (MPICH), or "
        "PRTE_MCA_plm=^slurm PRTE_MCA_ras=^slurm mpirun (Open MPI 5).",
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
        'cause': "Several ranks each say that they are rank 0 of 1: they have not found each "
        "other, usually for a wrong --mpi= of srun.",
        'remedy': "Leave out --mpi=, or name the right one: pmi2 for MPICH in a container, "
        "cray_shasta for Cray MPICH, pmix for Open MPI 5. srun --mpi=list shows what there is. "
        "With --cleanenv the variables of PMI do not reach the container.",
        'source': "github.com/apptainer/singularity, issues 5131 and 5706; "
        "cug26_containers_tutorial, 2026",
        'unless': ["Open MPI without PMIx"],
    },
    {
        'name': "two tables in one output",
        'patterns': ["two tables in one output"],
        'cause': "Each rank has measured itself: they have not found each other.",
        'remedy': "Leave out --mpi=; another cluster may lack the PMI that the site's data name "
        "under pmi (srun --mpi=list).",
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
        'cause': "The program wants {number} ranks and has another number: srun started others, "
        "or each rank is alone because of a wrong --mpi=.",
        'remedy': "srun -N2 -n2 ..., and no --mpi=.",
        'source': "mpi4py's ports and the OSU programs; seen by this project, 2026-11",
        'unless': ["ranks without PMI", "Open MPI without PMIx"],
    },
    {
        'name': "shared memory of PMIx not usable",
        'patterns': [
            ("PMIX ERROR: ", r"PMIX ERROR: [\w -]{1,60} in file \S{0,300}dstore(?!/pmix_esh)")
        ],
        'cause': "PMIx hands out what ranks know of each other by files in shared memory "
        "(dstore), and a rank in the container may not open or change them. The run may go on.",
        'remedy': "export PMIX_MCA_gds=hash before srun or mpirun, which does without them.",
        'source': "github.com/apptainer/singularity, issue 5195; github.com/openpmix/openpmix, "
        "issue 1819",
        'also': [("/tmp or /dev/shm is full", "df -h /tmp /dev/shm")],
    },
    {
        'name': "two kinds of PMI",
        'patterns': ["Auto-detection of PMI version failed"],
        'cause': "MPICH sees two starters at once: mpiexec (PMI) in a step that srun has started "
        "with PMIx.",
        'remedy': "Use one of them: srun --mpi=pmi2 PROGRAM without mpiexec; or in front of "
        "mpiexec unset what env | grep PMIX_ shows.",
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
        'cause': "mpirun starts a helper on every node, and a helper did not start or cannot call "
        "back: the name of a node leads nowhere, a firewall, no ssh, or Open MPI is not at the "
        "same place there.",
        'remedy': "Start the ranks by srun, which needs no helpers. Else: mpirun with its full "
        "path (or --prefix), and OMPI_MCA_oob_tcp_if_include=NAME (Intel MPI: "
        "I_MPI_HYDRA_IFACE=NAME) of the interface that nodes share.",
        'source': "Hydra, tools; Open MPI, help-errmgr-base.txt; github.com/open-mpi/ompi, issue "
        "8213",
        'also': [
            ("the name of the node is not known there", "srun getent hosts NODE"),
            ("ssh asks for a password", "ssh NODE true"),
            ("srun does not hand on PATH to the helper", "SLURM_EXPORT_ENV=ALL mpirun ..."),
        ],
        'unless': ["mpirun in the container", "ssh between nodes refused"],
    },
    {
        'name': "not enough slots",
        'patterns': ["There are not enough slots available"],
        'cause': "mpirun of Open MPI counts the cores that it may use, or what Slurm gave, and "
        "there are fewer than the ranks that were asked for.",
        'remedy': "Fewer ranks, or more tasks for the job (sbatch -n). In the container mpirun "
        "does not see Slurm: srun in front instead of mpirun. --oversubscribe starts them all the "
        "same (tests only).",
        'source': "Open MPI's own text; github.com/h5py/h5py, issue 2627",
    },
    {
        'name': "mpirun as root",
        'patterns': ["has detected an attempt to run as root"],
        'cause': "Open MPI's mpirun refuses to start as root, which one is in Docker and in a "
        "build of an image.",
        'remedy': "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 (Open MPI 5: "
        "the same names with PRTE_), or mpirun --allow-run-as-root. On a cluster run as yourself.",
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
        'cause': "Open MPI in the image cannot talk to the PMIx that started it: the two are of "
        "different releases, or LD_LIBRARY_PATH gives Slurm's plugin (or one node) another "
        "libpmix.so than its own.",
        'remedy': "Take the same Open MPI (2, 3, 4 or 5) in the image as the host's mpirun, best "
        "the same release; or srun --mpi=pmix, where Slurm has it.",
        'source': "github.com/apptainer/singularity, issues 3678 and 5203",
        'also': [
            (
                "the container hides the folders in which both meet",
                "echo $PMIX_SERVER_TMPDIR, and see that it is bound",
            ),
            ("too many ranks ask at once", "the same with few ranks"),
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
        'cause': "PMIx loads plugins (mca_*.so) of another release than itself: two installations "
        "are mixed.",
        'remedy': "env | grep -E '^(PMIX|OMPI|OPAL|PRTE)_' and unset what names folders of "
        "another Open MPI; remove leftovers of an older build from lib/pmix before make install.",
        'source': "github.com/open-mpi/ompi, issue 6815",
        'also': [("it does not find them at all", "ls of lib/pmix of the installation")],
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
        "does not know: the nodes, or host and image, have different releases of Open MPI.",
        'remedy': "mpirun --version on every node and in the image must be the same; call mpirun "
        "by its full path, or with --prefix.",
        'source': "github.com/open-mpi/ompi, issue 6293",
        'also': [
            ("a rank was started by srun, and this Open MPI has no PMI", "ompi_info | grep -i pmi")
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
        'cause': "A rank cannot read the address of another one: the MPICH in the image is not "
        "compatible with the mpiexec that started it, or a node's name has no address in the "
        "container.",
        'remedy': "Take the same release of MPICH inside and outside (mpichversion). srun getent "
        "hosts NODE in the container shows whether names are known.",
        'source': "github.com/apptainer/singularity, issue 713",
    },
    {
        'name': "Open MPI may not use these cores",
        'patterns': [
            "hwloc_set_cpubind returned",
            "would result in binding more",
            "Open MPI tried to bind a new process, but",
        ],
        'cause': "mpirun binds ranks to cores that the job or container does not have: it counts "
        "all cores of the node, or more are asked for than there are.",
        'remedy': "mpirun --bind-to none, or start the ranks by srun; ask Slurm for the cores "
        "(-n, -c, --ntasks-per-node) or the node (--exclusive).",
        'source': "github.com/open-mpi/ompi, issues 12463 and 12470",
        'also': [
            (
                "its own hwloc is too old for this system",
                "the same with an Open MPI built --with-hwloc=/usr",
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
        'cause': "mpirun cannot start the program {file}: it does not exist on that node or in "
        "that container, not executable, an option that mpirun does not know was taken for it, or "
        "the folder in which it is to run does not exist. {folder} {why}",
        'remedy': "Name it by its full path, on a file system that all nodes see; ls -l it on the "
        "node. For a container: mpirun ... apptainer exec IMAGE PROGRAM. A script needs #! and "
        "chmod +x.",
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
        'cause': "This mpirun does not know the option {option}: it is of another MPI. --mca, -x "
        "and --bind-to core are Open MPI's; -genv, -ppn and -f are of MPICH, Intel MPI and "
        "MVAPICH.",
        'remedy': "which mpirun; mpirun --version. Take the mpirun of the MPI that the program "
        "was built with, or its own options (Open MPI 5 has --map-by :OVERSUBSCRIBE for "
        "--oversubscribe).",
        'source': "Hydra; PRRTE, help texts",
    },
    {
        'name': "mapping that does not fit the node",
        'patterns': [
            "Your job failed to map",
            "A request for multiple cpus-per-proc was given",
            ("Please correct the map", "Please correct the map(?:/bind|ping) directive"),
        ],
        'cause': "--map-by, --rank-by, --bind-to or a rank file ask for sockets, cores or numbers "
        "that the node, or the part of it that the job has, does not offer.",
        'remedy': "mpirun --bind-to none, without --map-by, shows whether this is the cause; then "
        "srun bash -c 'taskset -cp $$' shows the cores of the job, lscpu sockets and cores. For "
        "all of a node: --exclusive. In a container hwloc may see fewer.",
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
        'cause': "mpirun starts helpers on other nodes by ssh, and ssh does not get there without "
        "a question: no key, an unknown host key, a name that leads nowhere, or no ssh at all (in "
        "a container). {host}",
        'remedy': "srun in front instead of mpirun needs no ssh. Else: ssh NODE true must work "
        "without a password from the first node of the job (ssh-keygen, authorized_keys); "
        "clusters often allow ssh only to nodes of a job of yours.",
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
        'cause': "Open MPI and PMIx keep a folder for each run in TMPDIR (or /tmp), and cannot "
        "make it: it is of another user, full, not in the container, or its name is too long for "
        "a socket.",
        'remedy': "export TMPDIR=/tmp (a short name; on every node), and remove leftovers: rm -r "
        "/tmp/ompi.$(hostname).$UID. In a container bind the folder that mpirun outside uses.",
        'source': "Open MPI, help texts of mpirun; Open MPI, FAQ, session directory",
    },
    {
        'name': "two releases of Hydra",
        'patterns': ["UI version string does not match proxy version"],
        'cause': "The mpiexec of MPICH and its helper on another node, or in the container, are "
        "of two releases.",
        'remedy': "mpiexec --version and which hydra_pmi_proxy on both nodes, by ssh too: the "
        "same MPICH, in the same place. srun needs no helper.",
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
        'cause': "A helper of mpirun on another node has ended or cannot be reached: the node "
        "failed or has no memory left, the helper or its libraries do not exist (status 127), or "
        "a firewall blocks the connection.",
        'remedy': "Look at the lines before it, and for signs of memory (dmesg, sacct -j JOB). "
        "Status 127: Open MPI is not in the same place there: mpirun with its full path, or "
        "--prefix. srun needs no helpers.",
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
        "memory left, else by a limit of time or because another rank had failed.",
        'remedy': "sacct -j JOB -o state,exitcode,maxrss and dmesg show whether it was memory "
        "(OUT_OF_MEMORY): then --mem=0, or fewer ranks a node. Look for an earlier error of "
        "another rank.",
        'source': "signal(7); sacct(1)",
        'also': [
            ("the time was up, or somebody cancelled it", "sacct -j JOB -o state,end,timelimit")
        ],
        'last': True,
    },
    {
        'name': "processes used up",
        'patterns': [
            ("fork: ", "fork: (?:retry: )?(?:no child processes|Resource temporarily unavailable)"),
            "OpenBLAS blas_thread_init",
        ],
        'cause': "You may start no more processes or threads on this node (ulimit -u, or the "
        "limit of a cgroup): each rank starts as many threads as there are cores, or earlier runs "
        "have left theirs.",
        'remedy': "export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1; ps -u $USER shows what is "
        "left over; srun bash -c 'ulimit -u; cat /sys/fs/cgroup/pids.max'. A login node often "
        "allows few: take a job.",
        'source': "fork(2), EAGAIN",
    },
    {
        'name': "program that the node could not start",
        'patterns': ["tried to fork a new process via the"],
        'cause': "mpirun found the program and the system did not start it: it is a folder, not "
        "executable, a script without #!, or built for another processor. The line Error shows "
        "which.",
        'remedy': "ls -l and file of the program on that node; chmod +x; name a file, not a "
        "folder. In a container the path inside counts.",
        'source': "Open MPI, help-orte-odls-default.txt; github.com/open-mpi/ompi, issue 11936",
    },
    {
        'name': "MPI in a program that a rank has started",
        'patterns': [
            (" (-17) instead of", r'--> Returned (?:value )?\"?No permission\"? \(-17\) instead of')
        ],
        'cause': "A rank of Open MPI has started a program (subprocess, multiprocessing, a shell) "
        "that starts MPI too, and mpirun does not know that one.",
        'remedy': "Start it without the variables of the rank: env -i PATH=$PATH HOME=$HOME "
        "PROGRAM, or unset what env | grep -E '^(OMPI|PMIX)_' shows. In Python do not import "
        "mpi4py in the child (if __name__ == '__main__'), or mpi4py.rc.initialize = False there.",
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
        'cause': "The rank does not come through to the mpirun that started it: the Open MPI of "
        "the rank (in the image, or another one on LD_LIBRARY_PATH) and that of mpirun are of "
        "different releases.",
        'remedy': "mpirun --version outside and apptainer exec IMAGE mpirun --version must agree "
        "(best to the last figure). which -a mpirun; ldd PROGRAM | grep libmpi. Or srun "
        "--mpi=pmix, where Slurm has it.",
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
        'cause': "mpiexec sees variables of PBS, LSF or SGE and wants to start the ranks through "
        "it, and its daemon on this node does not answer: the shell is not in the job (ssh to a "
        "node), or ranks are started twice.",
        'remedy': "Start it in the job itself, on its first node; or by ssh: mpiexec -launcher "
        "ssh -f $PBS_NODEFILE (Hydra; SGE: $PE_HOSTFILE), mpirun --mca plm rsh --mca ras ^tm "
        "(Open MPI 4).",
        'source': "github.com/radical-cybertools/radical.pilot, issue 301; Hydra, "
        "tools/bootstrap/external",
    },
]
