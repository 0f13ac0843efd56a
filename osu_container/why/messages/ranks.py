"""Ranks that do not find each other, and what starts them: srun, mpirun, PMI, PMIx."""
from .common import WRAPPER

ENTRIES = [
    {'name': "option of mpirun that is given twice",
     'text': "When resolving deprecated command line options, the result generated too many directives for the target "
             "option: Command line option: map-by",
     'patterns': ["too many directives for the target option"],
     'cause': "mpirun of Open MPI 5 turns old options into new ones (-N 1 into --map-by ppr:1:node), and then has two "
              "of one kind.",
     'remedy': "Give one alone: --map-by ppr:1:node without -N, --npernode and --bynode.",
     'source': "PRRTE, help texts; github.com/open-mpi/ompi, issue 10669", 'evidence': 'measured'},
    {'name': "PMI-1 of Open MPI that does not fit",
     'text': "OPAL ERROR: Error in file .../opal/mca/pmix/s1/pmix_s1.c at line 578",
     'patterns': [("pmix_s1.c", r"ERROR: Error in file \S{0,200}pmix_s1\.c"),
                  ("pmix_s2.c", r"ERROR: Error in file \S{0,200}pmix_s2\.c")],
     'cause': "Open MPI was built for PMI-1 or PMI-2 of Slurm, and does not get an answer: it was built with another "
              "library than Slurm's own, or srun uses another --mpi=.",
     'remedy': "srun --mpi=list, then --mpi=pmi2; or Open MPI built with PMIx (--with-pmix) and srun --mpi=pmix. "
               "ldd mca_pmix_s1.so shows its library.",
     'source': "Open MPI 3, opal/mca/pmix; github.com/open-mpi/ompi, issue 5593", 'evidence': 'measured'},
    {'name': 'ranks without PMI',
     'text': "srun started 2 tasks without the PMI of this MPI (... is not set), so each rank would be alone.",
     'patterns': [(" tasks without the PMI of this MPI",
                   r"srun started (?P<tasks>\d+) tasks without the PMI of this MPI")],
     'cause': "srun has another --mpi= than this MPI knows, so each of the {tasks} ranks would be alone.",
     'remedy': "Leave out --mpi=: the module chooses by SLURM_MPI_TYPE. The message names the right one.",
     'source': WRAPPER, 'evidence': 'measured'},
    {'name': 'Open MPI without PMIx',
     'text': "No PMIx server was reachable, but a PMI1/2 was detected. ... 2 singletons will be started.",
     'patterns': ["No PMIx server was reachable", "PMI2_Init failed",
                  (" singletons will be started", r"(?P<number>\d+) singletons will be started"),
                  "The application appears to have been direct launched",
                  "OMPI was not built with SLURM's PMI support", "Open MPI requires access to a local PMIx server",
                  ("PMI2_Job_GetId failed", "PMI2_Job_GetId failed"),
                  ("PMIX ERROR: ", r"PMIX ERROR: UN(?:AVAIL|REACH)\w{0,10}\b(?! in file \S{0,200}server/)"),
                  ("OPAL ERROR: ", r"OPAL ERROR: (?:Unreachable|Not initialized) in file \S*(?:pmix|ext3x)")],
     'unless': ['component of PMIx missing', 'PMIx of two releases'],
     'cause': "srun has started Open MPI and Open MPI reaches no PMIx: srun has another --mpi=, its Slurm has no PMIx "
              "(as on LUMI), or the container hides the folders in which both meet.",
     'remedy': "srun --mpi=pmix, if srun --mpi=list has it; without --cleanenv. Bind the folders TmpFS and "
               "SlurmdSpoolDir that scontrol show config prints. Where there is no pmix: an image with MPICH.",
     'also': [("the program was started by itself, inside of a job (a shell of salloc, sbatch)",
               "mpirun -n 1 PROGRAM, or env -u SLURM_JOB_ID -u SLURM_STEP_ID PROGRAM"),
              ("the mpirun of another MPI has started it", "mpirun --version, beside ldd PROGRAM | grep libmpi")],
     'source': 'Open MPI 5.0.11, seen by this project, 2026-11; github.com/open-mpi/ompi, pull request 3778 and issue '
               '12146; github.com/apptainer/singularity, issue 5203', 'evidence': 'measured'},
    {'name': 'component of PMIx missing',
     'text': "A requested component was not found, or was unable to be opened. ... Framework: psec Component: munge",
     'patterns': [("Framework: ", r"Framework: +(?P<framework>psec|gds|ptl)\b")],
     'cause': "Slurm's PMIx tells the ranks to use a component ({framework}) that the PMIx in the container does not "
              "have; with none left MPI ends.",
     'remedy': "export PMIX_MCA_psec=native PMIX_MCA_gds=hash before srun.",
     'source': 'Open MPI 5.0.11, seen by this project, 2026-11; github.com/eth-cscs/cray-network-stack, osu-ompi',
     'evidence': 'measured'},
    {'name': 'error text lost in PMIx',
     'text': "PMIX ERROR: UNPACK-PAST-END in file .../gds_base_fns.c at line 120",
     'patterns': [("PMIX ERROR: UNPACK-PAST-END", r"PMIX ERROR: UNPACK-PAST-END(?! in file unpack\.c)"),
                  "num local peers"],
     'cause': "A rank of Open MPI ended in MPI_Init, and Slurm's PMIx, of an older release, could not print why. Seen "
              "where Slurm's NodeName is not the name of the machine: Open MPI then finds no peers, and the third rank "
              "of a node ends (num local peers).",
     'remedy': "Start slurmd with PMIX_HOSTNAME=NODENAME in its environment, as workstation/slurm.sh does (make stop, "
               "then make slurm), or give the node its host name. Else run with two ranks on a node to see whether it "
               "is this.",
     'source': 'Open MPI 5.0.11 with PMIx 4.2.2 in Slurm 22.05, seen by this project, 2026-11', 'evidence': 'measured'},
    {'name': 'MPICH 1 under another mpiexec',
     'text': "node01.cluster: Not running from mpirun?.",
     'patterns': ["Not running from mpirun?"],
     'cause': "The program was linked with MPICH 1, which knows its own mpirun alone; the mpiexec that started it is "
              "of another MPI.",
     'remedy': "ldd PROGRAM | grep -i mpi; build it anew with the mpicc that lies beside this mpiexec.",
     'source': "github.com/pmodels/mpich, issue 463", 'evidence': 'measured'},
    {'name': 'MPICH without PMI',
     'text': "This singleton init program attempted to access some feature for which process manager support was "
             "required",
     'patterns': ["singleton init program attempted to access", "PMII_singinit: execv failed"],
     'cause': "MPICH did not find the PMI of whoever started it, so each rank is alone.",
     'remedy': "srun --mpi=pmi2 for MPICH of an image; the modules choose it. Where MPICH was built for PMIx: "
               "--mpi=pmix.",
     'source': 'github.com/pmodels/mpich, issue 6924', 'evidence': 'derived'},
    {'name': "Cray's PMI not reached",
     'text': "MPIR_pmi_init(110)...: PMI_Init returned 1",
     'patterns': [(" init failed: ", r"PMI2? init failed: \d"),
                  (" returned ", r"\bPMI2?_\w{1,40} returned -?\d"),
                  ("_pmi", r"_pmi2?_(?:init|alps\w*|pals\w*)\b.{0,60}(?:failed|error|timed out|returned -)"),
                  "_pmi_mmap_init", "_mpidi_cray_pmi_receive",
                  ("_pmi_applist_setup", r"_pmi_applist_setup:App list is not supported")],
     'unless': ["PMI of MPICH or Intel MPI not reached"],
     'cause': "Cray MPICH finds out about its ranks from a file that Slurm writes for the step below "
              "/var/spool/slurmd, and could not: it was not started by srun (a login node), another --mpi=, or the "
              "container does not show the folder.",
     'remedy': "bind: leave out --mpi= (cray_shasta is LUMI's default), and do not take /var/spool/slurmd from the "
               "binds (osu-explain lists them). Start it by srun.",
     'also': [("MPI has loaded another library of PMI than Cray's", "osu-exec ldd PROGRAM, line libpmi"),
              ("it is MPICH, MVAPICH or Intel MPI: what started it speaks another PMI than it (srun --mpi=pmi2, or the "
               "mpiexec of this MPI)", "env | grep -i PMI; srun --mpi=list")],
     'source': 'github.com/flux-framework/flux-coral2, issue 125; Slurm, src/plugins/mpi/cray_shasta/apinfo.h',
     'evidence': 'derived'},
    {'name': 'mpirun in the container',
     'text': "HYDU_create_process (...): execvp error on file srun (No such file or directory)",
     'patterns': ["execvp error on file srun", "No available launching agents were found", "invalid PMI1 init command",
                  "SLURM process starter for OpenMPI was unable", 'unable to locate a usable "srun" command',
                  ("HYDU_parse_hostfile", r"HYDU_parse_hostfile .{0,200}: unable to open host file"),
                  "unable to launch bstrap proxy"],
     'cause': "mpirun (mpiexec) was called inside the container: in a job it starts ranks by srun, which the "
              "container does not have. It may then wait for ever.",
     'remedy': "No mpirun: srun in front, and the container behind it, once for each rank (srun osu_bw H H). On one "
               "node without srun: mpiexec -launcher fork (MPICH), or PRTE_MCA_plm=^slurm PRTE_MCA_ras=^slurm mpirun "
               "(Open MPI 5).",
     'source': 'MPICH 4.2.3 and Open MPI 5.0.11, seen by this project, 2026-11; github.com/sylabs/singularity, issue '
               '1695; github.com/hpc/charliecloud, issue 1010', 'evidence': 'measured'},
    {'name': 'every rank alone',
     'text': "rank 0 of 1 (twice or more)",
     'patterns': [("ank", r"ank:? *0 *(?:of|out of|/) *1\b"),
                  ("RANK", r"RANK:? *0 *(?:OF|/) *1\b"),
                  ("rocess 0 of 1", r"rocess 0 of 1\b"),
                  ("ank", r"ank[ :=]+0,? +(?:of +)?[Ss]ize[ :=]+1\b"),
                  ("of 1", r"\b(?:[Ww]orker|[Pp]roc(?:essor)?|[Tt]ask|PE) +#?0 +(?:out )?of 1\b"),
                  "This is a test with 1 processes", "two tables in one output",
                  ("invalid for 1 processes", r"Benchmark \w+ invalid for 1 processes")], 'times': 2,
     'cause': "Several ranks each say that they are rank 0 of 1: they have not found each other, mostly for a wrong "
              "--mpi= of srun.",
     'remedy': "Leave out --mpi=, or name the right one: pmi2 for MPICH in a container, cray_shasta for Cray MPICH, "
               "pmix for Open MPI 5. srun --mpi=list shows what there is. With --cleanenv the variables of PMI do not "
               "reach the container.",
     'source': 'github.com/apptainer/singularity, issues 5131 and 5706; cug26_containers_tutorial, 2026',
     'evidence': 'measured'},
    {'name': 'two tables in one output',
     'text': "two tables in one output. Did every rank run alone (wrong --mpi= for srun)?",
     'patterns': ["two tables in one output"], 'unless': ['every rank alone'],
     'cause': "Each rank has measured itself: they have not found each other.",
     'remedy': "Leave out --mpi=; another cluster may lack the PMI that the site's data name under pmi (srun "
               "--mpi=list).",
     'source': 'osu_container/osu_output.py', 'evidence': 'measured'},
    {'name': 'wrong number of ranks',
     'text': "This test requires exactly two processes",
     'patterns': [("This test requires ",
                   r"This test requires (?P<number>exactly two|at least two|at least \d+|exactly \d+) processes"),
                  ("there was only one MPI process", "there was only one MPI process available. Need (?P<least>at "
                   "least two)"),
                  (" MPI ", r"(?:[Rr]equires?|[Nn]eeds?|[Mm]ust (?:be run|run|have)|Please run)(?: this| it)?(?: with"
                   r"| on)? (?P<few>(?:at least|exactly|more than|a minimum of) (?:one|two|three|four|\d{1,5}))(?: or "
                   r"more)? MPI (?:process|rank|task|proc)")],
     'unless': ['ranks without PMI', 'Open MPI without PMIx'],
     'cause': "The program wants {number}{least}{few} ranks and has another number: srun started others, or each rank "
              "is alone because of a wrong --mpi=.",
     'remedy': "srun -N2 -n2 ..., and no --mpi=.",
     'source': "mpi4py's ports and the OSU programs; seen by this project, 2026-11", 'evidence': 'measured'},
    {'name': 'question for a key that is not there',
     'text': "_pmi2_kvs_get:key [-NONEXIST-KEY] was not found.",
     'patterns': [("-NONEXIST-KEY", r"-NONEXIST-KEY\b")],
     'cause': "MPICH asks PMI2 for a key that does not exist, on purpose: that makes all ranks wait for each other. "
              "Cray's PMI reports it.",
     'remedy': "Harmless, says MPICH. If the run hangs afterwards the reason is another one.",
     'source': 'github.com/pmodels/mpich, issue 6687', 'evidence': 'derived', 'last': True},
    {'name': 'shared memory of PMIx not usable',
     'text': "PMIX ERROR: NO-PERMISSIONS in file .../dstore/dstore_base.c at line 237",
     'patterns': [("PMIX ERROR: ", r"PMIX ERROR: [\w -]{1,60} in file \S{0,300}dstore(?!/pmix_esh)")],
     'cause': "PMIx hands out what ranks know of each other by files in shared memory (dstore), and a rank in the "
              "container may not open or change them. The run may go on.",
     'remedy': "export PMIX_MCA_gds=hash before srun or mpirun, which does without them.",
     'also': [("/tmp or /dev/shm is full", "df -h /tmp /dev/shm")],
     'source': 'github.com/apptainer/singularity, issue 5195; github.com/openpmix/openpmix, issue 1819',
     'evidence': 'derived'},
    {'name': 'two kinds of PMI',
     'text': "Auto-detection of PMI version failed. Found both env vars PMI_SIZE and PMIX_NAMESPACE.",
     'patterns': ["Auto-detection of PMI version failed"],
     'cause': "MPICH sees two starters at once: mpiexec (PMI) in a step that srun has started with PMIx.",
     'remedy': "Use one of them: srun --mpi=pmi2 PROGRAM without mpiexec; or in front of mpiexec unset what env | grep "
               "PMIX_ shows.",
     'source': 'github.com/pmodels/mpich, issue 7957', 'evidence': 'derived'},
    {'name': 'helpers of mpirun not reached',
     'text': "HYDU_sock_connect (...): unable to get host address for node1",
     'patterns': [("HYDU_sock_connect ", r"HYDU_sock_connect \(.{0,300}\): unable to (?:connect|get host)"),
                  (" was unable to reliably start", r"(?:ORTE|PRTE) was unable to reliably start"),
                  ("nable to run ", r"[Uu]nable to run (?:bstrap_)?proxy\b"),
                  ("rror setting up the bo", r"[Ee]rror setting up the boo?t?strap prox"),
                  ("daemon has unexpectedly failed", r"An? (?:ORTE |PRR?TE )?daemon has unexpectedly failed")],
     'unless': ['mpirun in the container'],
     'cause': "mpirun starts a helper on every node, and a helper did not start or cannot call back: the name of a "
              "node leads nowhere, a firewall, no ssh, or Open MPI is not at the same place there.",
     'remedy': "Start the ranks by srun, which needs no helpers. Else: mpirun with its full path (or --prefix), and "
               "OMPI_MCA_oob_tcp_if_include=NAME (Intel MPI: I_MPI_HYDRA_IFACE=NAME) of the interface that nodes "
               "share.",
     'also': [("the name of the node is not known there", "srun getent hosts NODE"),
              ("ssh asks for a password", "ssh NODE true"),
              ("srun does not hand on PATH to the helper", "SLURM_EXPORT_ENV=ALL mpirun ...")],
     'source': 'Hydra, tools; Open MPI, help-errmgr-base.txt; github.com/open-mpi/ompi, issue 8213',
     'evidence': 'derived'},
    {'name': 'not enough slots',
     'text': "There are not enough slots available in the system to satisfy the 8 slots that were requested",
     'patterns': ["There are not enough slots available",
                  ("requested number of processes exceeds the allocated",
                   "requested number of processes exceeds the allocated")],
     'cause': "mpirun of Open MPI counts the cores that it may use, or what Slurm gave, and there are fewer than the "
              "ranks that were asked for.",
     'remedy': "Fewer ranks, or more tasks for the job (sbatch -n). In the container mpirun does not see Slurm: srun "
               "in front instead of mpirun. --oversubscribe starts them all the same (tests only).",
     'source': "Open MPI's own text; github.com/h5py/h5py, issue 2627", 'evidence': 'derived'},
    {'name': 'mpirun as root',
     'text': "mpirun has detected an attempt to run as root.",
     'patterns': ["has detected an attempt to run as root"],
     'cause': "Open MPI's mpirun refuses to start as root, which one is in Docker and in a build of an image.",
     'remedy': "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 (Open MPI 5: the same names with "
               "PRTE_), or mpirun --allow-run-as-root. On a cluster run as yourself.",
     'source': 'Open MPI, help text of mpirun; github.com/open-mpi/ompi, issue 4451', 'evidence': 'derived'},
    {'name': 'PMIx of two releases',
     'text': "PMIX ERROR: PMIX TEMPORARILY UNAVAILABLE in file ptl_tcp.c at line 688",
     'patterns': ["PMIX TEMPORARILY UNAVAILABLE", ("UNPACK-PMIX-VALUE", "UNPACK-PMIX-VALUE: UNSUPPORTED TYPE"),
                  ("UNPACK-PAST-END in file unpack.c", r"PMIX ERROR: UNPACK-PAST-END in file unpack\.c"),
                  ("UNPACK-INADEQUATE-SPACE", "PMIX ERROR: UNPACK-INADEQUATE-SPACE"),
                  ("pmix_esh.c", r"PMIX ERROR: [\w -]{1,60} in file \S{0,200}pmix_esh\.c"),
                  ("PACK-MISMATCH", "PMIX ERROR: (?:UN)?PACK-MISMATCH"),
                  ("ranks, asked for -", r"Bad request from .{0,100} has only \d+ ranks, asked for -\d+")],
     'cause': "Open MPI in the image does not get through to the PMIx of what started it: the two are of different "
              "releases, or LD_LIBRARY_PATH gives Slurm's plugin (or one node) another libpmix.so than its own.",
     'remedy': "Take the same Open MPI (2, 3, 4 or 5) in the image as the host's mpirun, best the same release; or "
               "srun --mpi=pmix, where Slurm has it.",
     'also': [("the container hides the folders in which both meet", "echo $PMIX_SERVER_TMPDIR, and see that it is "
                                                                      "bound"),
              ("too many ranks ask at once", "the same with few ranks")],
     'source': 'github.com/apptainer/singularity, issues 3678 and 5203', 'evidence': 'measured'},
    {'name': 'plugins of another PMIx',
     'text': "We were unable to find any usable plugins for the BFROPS framework.",
     'patterns': ["unable to find any usable plugins for the",
                  ("process_repository_item filename", r"process_repository_item filename \S{1,200} has bad "
                   "prefix")], 'unless': ['component of PMIx missing'],
     'cause': "PMIx loads plugins (mca_*.so) of another release than itself: two installations are mixed.",
     'remedy': "env | grep -E '^(PMIX|OMPI|OPAL|PRTE)_' and unset what names folders of another Open MPI; remove "
               "leftovers of an older build from lib/pmix before make install.",
     'also': [("it does not find them at all", "ls of lib/pmix of the installation")],
     'source': 'github.com/open-mpi/ompi, issue 6815', 'evidence': 'derived'},
    {'name': 'Open MPI differs between nodes',
     'text': "Framework: ess  Component: pmi",
     'patterns': [("Framework: ", r"Framework: +ess\b"),
                  (" detected a mismatch in versions between", r"(?:PRR?TE|ORTE|Open RTE|Open MPI) detected a mismatch "
                   "in versions between")],
     'cause': "A daemon or rank of Open MPI was told to start in a way that its installation does not know: the "
              "nodes, or host and image, have different releases of Open MPI.",
     'remedy': "mpirun --version on every node and in the image must be the same; call mpirun by its full path, or "
               "with --prefix.",
     'also': [("a rank was started by srun, and this Open MPI has no PMI", "ompi_info | grep -i pmi")],
     'source': 'github.com/open-mpi/ompi, issue 6293', 'evidence': 'derived'},
    {'name': 'address of a rank of MPICH unknown',
     'text': "Missing ifname or invalid host/port description in business card",
     'patterns': [("description in business card", r"Missing (?:ifname|hostname|port) or invalid host/port description "
                                                   r"in business card")],
     'cause': "A rank cannot read the address of another one: the MPICH in the image is not compatible with the "
              "mpiexec that started it, or a node's name has no address in the container.",
     'remedy': "Take the same release of MPICH inside and outside (mpichversion). srun getent hosts NODE in the "
               "container shows whether names are known.",
     'source': 'github.com/apptainer/singularity, issue 713', 'evidence': 'derived'},
    {'name': 'Open MPI may not use these cores',
     'text': "Error message: hwloc_set_cpubind returned \"Error\" for bitmap \"2,114\"",
     'patterns': ["hwloc_set_cpubind returned", "would result in binding more",
                  ("Open MPI tried to bind a new process, but", "Open MPI tried to bind a new process, but")],
     'cause': "mpirun binds ranks to cores that the job or container does not have: it counts all cores of the node, "
              "or more are asked for than there are.",
     'remedy': "mpirun --bind-to none, or start the ranks by srun; ask Slurm for the cores (-n, -c, "
               "--ntasks-per-node) or the node (--exclusive).",
     'also': [("its own hwloc is too old for this system", "the same with an Open MPI built --with-hwloc=/usr")],
     'source': 'github.com/open-mpi/ompi, issues 12463 and 12470', 'evidence': 'derived'},
    {'name': 'memory not bound',
     'text': "WARNING: Open MPI tried to bind a process but failed. ... Error message: failed to bind memory",
     'patterns': ["failed to bind memory"], 'last': True,
     'cause': "Open MPI may not bind memory here: in Docker a container lacks the right to (set_mempolicy).",
     'remedy': "Harmless; --bind-to none silences it. Docker: --cap-add SYS_NICE.",
     'source': 'github.com/open-mpi/ompi, issue 7368; Docker, seccomp profile', 'evidence': 'derived'},
    {'name': "program that mpirun does not find",
     'text': "mpirun was unable to find the specified executable file, and therefore did not launch the job.",
     'patterns': [("was unable to find the specified executable file", "was unable to find the specified executable "
                   "file"),
                  ("unable to launch the specified application as it could not ", "unable to launch the specified "
                   "application as it could not (?P<why>access|find an executable|change to the specified working "
                   "directory)"),
                  ("execvp error on file ", r"execvp error on file (?!srun)(?P<file>\S{1,200}) \((?P<why>[^)\n]{1,60})"
                   r"\)"), ("problem with execution of ", r"problem with execution of (?P<file>\S{1,100})"),
                  ("Executable: ", r"Executable: (?P<file>\S{1,200})\s*$"),
                  ("unable to change wdir to ", r"unable to change wdir to (?P<folder>\S{1,200}) "
                   r"\((?P<why>[^)\n]{1,60})")],
     'unless': ["mpirun in the container", "program not found"],
     'cause': "mpirun cannot start the program {file}: it is not there on that node or in that container, not "
              "executable, an option that mpirun does not know was taken for it, or the folder in which it is to run "
              "is not there. {folder} {why}",
     'remedy': "Name it by its full path, on a file system that all nodes see; ls -l it on the node. For a container: "
               "mpirun ... apptainer exec IMAGE PROGRAM. A script needs #! and chmod +x.",
     'source': "Open MPI, help texts of mpirun; Hydra", 'evidence': 'derived'},
    {'name': "option that mpirun does not know",
     'text': "[mpiexec@node] match_arg (...): unrecognized argument mca",
     'patterns': [("unrecognized argument ", r"unrecognized argument (?P<option>\S{1,60})"),
                  ("mpirun", r"mpirun\S{0,20}: (?:Error: )?(?:unknown option|unrecognized option|unrecognised option) "
                   r"?[\x22']?(?P<option>[^\x22'\n]{1,60})"),
                  ("mpiexec", r"mpiexec\S{0,20}: (?:Error: )?(?:unknown option|unrecognized option|unrecognised "
                   r"option) ?[\x22']?(?P<option>[^\x22'\n]{1,60})"),
                  ("prterun", r"prterun\S{0,20}: (?:Error: )?(?:unknown option|unrecognized option|unrecognised "
                   r"option) ?[\x22']?(?P<option>[^\x22'\n]{1,60})"),
                  ("orterun", r"orterun\S{0,20}: (?:Error: )?(?:unknown option|unrecognized option|unrecognised "
                   r"option) ?[\x22']?(?P<option>[^\x22'\n]{1,60})"),
                  (': unknown option "', r'(?:Error|ERROR): unknown option \"(?P<option>[^"\n]{1,60})'),
                  ("mapping request contains an unrecognized modifier", "mapping request contains an unrecognized "
                   "modifier"),
                  ("The specified ", r"The specified \S{1,40} (?:policy|directive).{0,40}not recognized"),
                  ("nrecognized ", "[Uu]nrecognized (?:qualifier|modifier|directive)")],
     'cause': "This mpirun does not know the option {option}: it is of another MPI. --mca, -x and --bind-to core are "
              "Open MPI's; -genv, -ppn and -f are of MPICH, Intel MPI and MVAPICH.",
     'remedy': "which mpirun; mpirun --version. Take the mpirun of the MPI that the program was built with, or its "
               "own options (Open MPI 5 has --map-by :OVERSUBSCRIBE for --oversubscribe).",
     'source': "Hydra; PRRTE, help texts", 'evidence': 'derived'},
    {'name': "mpirun told to do nothing",
     'text': "mpirun could not find anything to do.",
     'patterns': ["could not find anything to do",
                  ("The number of ", "The number of (?:MPI )?processes to launch was not specified"),
                  ("my_argv[1] != NULL", r"assert \(my_argv\[1\] != NULL\) failed"),
                  ("No executable specified", "No executable specified"),
                  ("Either the -host or -hostfile options were given, but the number", "Either the -host or -hostfile "
                   "options were given, but the number"), ("no executable ", "no executable (?:provided|specified)")],
     'unless': ["connection of two cards failed"],
     'cause': "mpirun was given no program or no number of ranks; a line of a script may have been broken in two.",
     'remedy': "mpirun -n 2 PROGRAM; see that lines that go on end in \\ without a blank behind it.",
     'source': "Open MPI, help texts of mpirun", 'evidence': 'derived'},
    {'name': "hosts that are not in the job",
     'text': "Some of the requested hosts are not included in the current allocation for the application",
     'patterns': ["Some of the requested hosts are not included in the current allocation",
                  "There are no allocated resources for the application",
                  "There are no available nodes allocated to this job", "No nodes are available for this job",
                  ("Requested host", "Requested hosts? .{0,60}not (?:in|part of)"),
                  ("Open RTE was unable to open the hostfile", "Open RTE was unable to open the hostfile"),
                  (" was unable to open the hostfile", "(?:PRTE|ORTE) was unable to open the hostfile"),
                  ("unable to open ", "unable to open (?:the )?host ?file")],
     'unless': ["mpirun in the container"],
     'cause': "-host or --hostfile names nodes that the job does not have, or under another name (short, long) than "
              "Slurm gives them, or the file is not there.",
     'remedy': "Leave out -host and --hostfile in a Slurm job: mpirun knows the nodes. Outside: getent hosts NODE, "
               "and names as hostname prints them.",
     'source': "PRRTE, help texts", 'evidence': 'derived'},
    {'name': "hostfile that cannot be read",
     'text': "PRTE detected a parse error in the hostfile: hostfile It occured on line number 1 on token 1.",
     'patterns': [("detected a parse error in the hostfile", "detected a parse error in the hostfile")],
     'cause': "A line of the hostfile is no name of a node (with slots=N behind it): a stray character, ends of lines "
              "as Windows has them, or the file is another one. A time-out behind it is the consequence.",
     'remedy': "cat -A HOSTFILE shows what is there. In a Slurm job leave --hostfile out: mpirun knows the nodes.",
     'source': "PRRTE, src/util/hostfile; github.com/openpmix/prrte, issue 668", 'evidence': 'measured'},
    {'name': "mapping that does not fit the node",
     'text': "Your job has requested more processes than the ppr for this topology can support",
     'patterns': [("more processes than the ppr for", "more processes than the ppr for"),
                  ("Your job has requested ", "Your job has requested (?:more cpus per process|a conflicting number "
                   "of processes)"), "An insufficient number of CPUs was found",
                  ("found no available cpus on", "found no available cpus on"), "Your job failed to map",
                  ("was given that requires knowledge of", "mapping directive was given that requires knowledge of"),
                  ("support binding processes to cpus", "^(?:[^\\n]{0,30}[:>] ?)?support binding processes to cpus"),
                  ("objects of the specified type were", "No (?:bindable )?objects of the specified type were"),
                  ("A request for multiple cpus-per-proc was given", "A request for multiple cpus-per-proc was given"),
                  ("mapping request ", "mapping request .{0,60}pattern"),
                  ("appropriate target could not", "bind(?:ing)? .{0,60}appropriate target could not"),
                  "The request to bind processes",
                  ("Conflicting directives for ", "Conflicting directives for (?:binding|mapping|the default)"),
                  ("The attempt to assign hardware locations", "The attempt to assign hardware locations"),
                  ("rankfile ", "rankfile .{0,80}(?:error|invalid)"), ("rankfile", r"Rank \d+: .{0,60}rankfile"),
                  ("Error, invalid syntax in the rankfile", "Error, invalid syntax in the rankfile"),
                  ("The specified binding lies above the", "The specified binding lies above the mapping object type"),
                  ("Please correct the map", "Please correct the map(?:/bind|ping) directive")],
     'unless': ["Open MPI may not use these cores", "memory not bound"],
     'cause': "--map-by, --rank-by, --bind-to or a rank file ask for sockets, cores or numbers that the node, or the "
              "part of it that the job has, does not offer.",
     'remedy': "mpirun --bind-to none, without --map-by, tells; then srun bash -c 'taskset -cp $$' shows the cores of "
               "the job, lscpu sockets and cores. For all of a node: --exclusive. In a container hwloc may see fewer.",
     'source': "PRRTE, help texts", 'evidence': 'derived'},
    {'name': "memory binding not to be had",
     'text': "WARNING: a request was made to bind a process. While the system supports binding the process itself, at "
             "least one node does NOT support binding memory",
     'patterns': ["support binding memory to the process location",
                  ("does NOT support binding memory", "does NOT support binding memory")],
     'unless': ["memory not bound"],
     'cause': "hwloc says that memory cannot be bound here (a library libnuma is missing, or a container).",
     'remedy': "Harmless. Install libnuma (numactl), or --bind-to none.",
     'source': "PRRTE, help texts", 'evidence': 'derived', 'last': True},
    {'name': "ssh between nodes refused",
     'text': "Permission denied (publickey,...) / Host key verification failed.",
     'patterns': ["Host key verification failed",
                  ("Permission denied (", r"Permission denied \((?P<why>publickey|password|gssapi|keyboard"
                   r"|hostbased)[^)\n]{0,80}\)"),
                  ("ssh: ", r"ssh: (?:connect to host|Could not resolve hostname) (?P<host>\S{1,80})"),
                  ("not found", "(?:ssh|rsh): (?:command )?not found"), ("ssh: not found", "ssh: not found"),
                  "kex_exchange_identification", "ssh_exchange_identification",
                  ("Too many authentication failures", "Too many authentication failures"), "plm_rsh_agent",
                  "plm_ssh_agent", ("launch agent ", "launch agent .{0,60}not (?:be )?found"),
                  ("agent specified", "agent specified"),
                  ("bad permissions: ignore key", "bad permissions: ignore key"),
                  ("UNPROTECTED PRIVATE KEY FILE", "UNPROTECTED PRIVATE KEY FILE"),
                  ("WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED",
                   "WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED")],
     'cause': "mpirun starts helpers on other nodes by ssh, and ssh does not get there without a question: no key, an "
              "unknown host key, a name that leads nowhere, or no ssh at all (in a container). {host}",
     'remedy': "srun in front instead of mpirun needs no ssh. Else: ssh NODE true must work without a password from "
               "the first node of the job (ssh-keygen, authorized_keys); clusters often allow ssh only to nodes of a "
               "job of yours.",
     'source': "Open MPI, help texts of mpirun; ssh(1)", 'evidence': 'derived'},
    {'name': "folder of Open MPI for its session not to be made",
     'text': "opal_os_dirpath_create: Error: Unable to create the sub-directory (/tmp/ompi.node.0/...) of (...), "
             "mkdir failed",
     'patterns': [("Unable to create the sub-directory (", r"Unable to create the sub-directory \((?P<folder>[^)"
                   r"\n]{1,200})\)"), ("ailed to create ", "[Ff]ailed to create .{0,40}session dir"),
                  ("orte_session_dir failed", "orte_session_dir failed"),
                  ("session_dir.c", r"_ERROR_LOG: [\w ()-]{1,60} in file \S{0,200}session_dir\.c"),
                  ("Impossible to open the file ", r"Impossible to open the file (?P<folder>\S{1,150}) in write mode"),
                  ("PMIX ERROR: ", "PMIX ERROR: (?:PMIX_ERR_)?FILE[_-]OPEN[_-]FAILURE"),
                  ("listener.c:", r"(?:pmix_server|ptl_base|usock)\w*listener\.c:\d+ bind\(\) failed"),
                  ("mkdir-failed", "^ +mkdir-failed$"), ("stale rendezvous file", "stale rendezvous file"),
                  ("session director", r"session director\w+ .{0,60}(?:failed|could not|not)"),
                  ("pmix_", r"pmix_(?:mkdir|os_dirpath)\w*.{0,100}(?:[Ff]ail|Error)"),
                  ("rendezvous file", "PMIx(?:'s| server's)? .{0,40}rendezvous file"), ("rndz file", "rndz file"),
                  ("listener thread failed to start", "listener thread failed to start"),
                  ("failed to start a listener", "failed to start a listener"),
                  ("TMPDIR ", "TMPDIR .{0,80}(?:too long|very long|exceeds)"), "sun_path",
                  ("Unix domain socket ", "Unix domain socket (?:path|name).{0,40}too long"),
                  ("too long for the Unix domain socket", "too long for the Unix domain socket"),
                  ("PMIx has detected a temporary directory name", "PMIx has detected a temporary directory name"),
                  ("A call to mkdir was unable to create the desired", "A call to mkdir was unable to create the "
                   "desired"),
                  ("pmix/pmix_server.c", r"ORTE_ERROR_LOG: Bad parameter in file \S{0,150}orted/pmix/pmix_server\.c")],
     'cause': "Open MPI and PMIx keep a folder for each run in TMPDIR (or /tmp), and cannot make it: {folder}. It is "
              "of another user, full, not in the container, or its name is too long for a socket.",
     'remedy': "export TMPDIR=/tmp (a short name; on every node), and remove leftovers: rm -r "
               "/tmp/ompi.$(hostname).$UID. In a container bind the folder that mpirun outside uses.",
     'source': "Open MPI, help texts of mpirun; Open MPI, FAQ, session directory", 'evidence': 'derived'},
    {'name': "network that mpirun was told to use and does not have",
     'text': "None of the TCP networks specified to be included for out-of-band communications could be found",
     'patterns': ["None of the TCP networks specified",
                  ("No network interfaces were found for", "No network interfaces were found for"),
                  ("An invalid value was ", "An invalid value was (?:given|supplied) for (?:oob|btl)_tcp_if_(?:in"
                   "|ex)clude"), ("_tcp_if_", "(?:btl|oob)_tcp_if_(?:in|ex)clude.{0,80}(?:not found|invalid|Unknown)"),
                  ("Unknown interface name", "Unknown interface name"),
                  ("Did not find interface", "Did not find interface"),
                  ("does not exist on", "interface .{0,40}does not exist on")],
     'cause': "OMPI_MCA_oob_tcp_if_include or OMPI_MCA_btl_tcp_if_include names an interface or network that this "
              "node or container does not have.",
     'remedy': "ip -brief addr on every node; name the network (10.0.0.0/8) where interfaces have different names, or "
               "unset the variable.",
     'source': "Open MPI, help-oob-tcp.txt, help-mpi-btl-tcp.txt", 'evidence': 'derived'},
    {'name': "connection of Open MPI from somebody else",
     'text': "Open MPI detected an inbound MPI TCP connection request from a peer that appears to be part of this MPI "
             "job ... but is not",
     'patterns': [("detected an inbound MPI TCP connection request", "detected an inbound MPI TCP connection request"),
                  "Open MPI failed to handshake with a connecting peer",
                  ("received an inbound socket connection from a", "TCP BTL received an inbound socket connection from "
                   "a"),
                  ("One or more TCP routes were given to a process", "One or more TCP routes were given to a process"),
                  ("accepted a TCP connection from what appears to be a", "accepted a TCP connection from what "
                   "appears to be a"),
                  ("received unexpected process identifier", "received unexpected process identifier"),
                  ("A process or daemon was unable to complete a TCP connection", "A process or daemon was unable to "
                   "complete a TCP connection"), "tcp_peer_recv_connect_ack",
                  ("mca_oob_tcp_peer_", r"mca_oob_tcp_peer_\w+")],
     'unless': ["wrong interface for TCP"],
     'cause': "Open MPI reaches a node under an address that leads elsewhere or that several nodes share (docker0, "
              "virbr0, 192.168.122.1), or between nodes a firewall stands, or the other side is no Open MPI of this "
              "release (a scan of ports, two installations).",
     'remedy': "export OMPI_MCA_btl_tcp_if_include=NAME OMPI_MCA_oob_tcp_if_include=NAME with the interface that "
               "nodes share (ip -brief addr).",
     'source': "Open MPI, help-mpi-btl-tcp.txt; FAQ, TCP", 'evidence': 'derived'},
    {'name': "two releases of Hydra",
     'text': "[proxy:0:1@node1] version_fn (...): UI version string does not match proxy version",
     'patterns': ["UI version string does not match proxy version"],
     'cause': "The mpiexec of MPICH and its helper on another node, or in the container, are of two releases.",
     'remedy': "mpiexec --version and which hydra_pmi_proxy on both nodes, by ssh too: the same MPICH, in the same "
               "place. srun needs no helper.",
     'source': "Hydra, pm/pmiserv/pmip_utils.c; github.com/pmodels/mpich, issue 5050", 'evidence': 'measured'},
    {'name': "daemon of mpirun crashed",
     'text': "bash: line 1: 823 Segmentation fault (core dumped) .../bin/orted --hnp-topo-sig ...",
     'patterns': [("Segmentation fault", r"Segmentation fault +(?:\(core dumped\) +)?\S{0,200}(?:orted|prted)\b")],
     'cause': "The helper that mpirun starts on each node crashed itself: two Open MPIs or PMIx meet in it, or it is a "
              "fault of this release. The usual causes that Open MPI lists behind it are not it.",
     'remedy': "ldd $(which orted) (prted) on that node, without LD_LIBRARY_PATH of another Open MPI; srun in place of "
               "mpirun, which needs no helper; else a newer release.",
     'source': "github.com/open-mpi/ompi-release, issue 875", 'evidence': 'derived'},
    {'name': "daemon of mpirun lost",
     'text': "ORTE has lost communication with a remote daemon.",
     'patterns': [(" has lost communication with ", "(?:ORTE|PRTE|PRRTE) has lost communication with (?:a|its)"
                   "(?: remote)? daemon"),
                  ("has detected that a required daemon terminated", "has detected that a required daemon terminated"),
                  (" does not know how to route", "(?:ORTE|PRTE|PRRTE) does not know how to route"),
                  ("A daemon (pid ", r"A daemon \(pid .{0,60}died unexpectedly"),
                  ("died unexpectedly ", r"daemon .{0,40}died unexpectedly (?:with status|on signal) (?P<status>\d+)"),
                  "not running - cannot relay: NOT ALIVE",
                  ("assert (!closed) failed", r"\[mpiexec[^\]\n]{0,60}\] control_cb .{0,100}assert \(!closed\) failed"),
                  ("FORCE-TERMINATE AT ", "FORCE-TERMINATE AT (?:Unreachable|.{0,60}grpcomm)")],
     'unless': ["helpers of mpirun not reached"],
     'cause': "A helper of mpirun on another node has ended or cannot be reached: the node failed or has no memory "
              "left, the helper or its libraries are not there (status 127), or a firewall stands between.",
     'remedy': "Look at the lines before it, and for signs of memory (dmesg, sacct -j JOB). Status 127: Open MPI is "
               "not in the same place there: mpirun with its full path, or --prefix. srun needs no helpers.",
     'source': "Open MPI, help texts of mpirun; Hydra", 'evidence': 'derived', 'general': 1},
    {'name': "rank ended without a word",
     'text': "mpirun has exited due to process rank 1 with PID 77 on node n1 exiting improperly.",
     'patterns': [("exiting ", 'exiting (?:improperly|without calling "finalize")'),
                  ("terminated normally, but ", r"Primary job +terminated normally, but (?P<number>\d+) process"),
                  ("detected that one or more processes exited with non-zero status", "detected that one or more "
                   "processes exited with non-zero status"),
                  ("BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES", "BAD TERMINATION OF ONE OF YOUR "
                   "APPLICATION PROCESSES"), ("EXIT", r"EXIT(?:ED WITH)? (?:CODE|STATUS)?:? ?\d+"),
                  ("caused collective abort of all ranks", "caused collective abort of all ranks"),
                  ("EXIT CODE: ", r"EXIT CODE: \d+"), ("noticed that the job aborted", "noticed that the job aborted"),
                  ("exited with non-zero status", "exited with non-zero status"),
                  ("downstream from host", r"downstream from host \S{1,80} exited with status \d+"),
                  ("exitcodes != NULL) failed", r"assert \((?:pg->intel\.)?exitcodes != NULL\) failed")],
     'unless': ["rank killed", "rank crashed", "program ended by a signal, seen from outside"],
     'cause': "A rank has ended with an error of its own; nothing in this text that is known says which.",
     'remedy': "Look at what the program itself has printed. Exit code 9 or 137: killed, mostly for memory; 139 or "
               "11: crashed; 127: not found; 1, 2: the program's own error.",
     'source': "Open MPI, help texts of mpirun; Hydra", 'evidence': 'derived', 'last': True},
    {'name': "rank killed",
     'text': "mpirun noticed that process rank 0 with PID 77 on node n1 exited on signal 9 (Killed).",
     'patterns': [("exited on signal ", "exited on signal (?P<signal>9|15) "),
                  ("downstream from host", r"downstream from host \S{1,80} was killed by signal (?:9|15)\b"),
                  ("KILLED BY SIGNAL: ", r"KILLED BY SIGNAL: (?:9|15)\b"),
                  ("EXIT CODE: ", r"^= +EXIT CODE: (?:9|15|137|143)\b"),
                  ("erminated by signal ", r"[Tt]erminated by signal (?:9|SIGKILL)\b"),
                  ("EXIT STRING: ", "EXIT STRING: (?:Killed|Terminated)"),
                  ("ignal 9 (", r"[Ss]ignal 9 \((?:Killed|SIGKILL)\)"),
                  ("process ", r"process .{0,60}(?:exit(?:ed)? (?:code|status|with)|returned) ?:? ?137\b"),
                  ("task ", r"task .{0,60}(?:exit(?:ed)? (?:code|status|with)|returned) ?:? ?137\b"),
                  ("child ", r"child .{0,60}(?:exit(?:ed)? (?:code|status|with)|returned) ?:? ?137\b"),
                  ("command ", r"command .{0,60}(?:exit(?:ed)? (?:code|status|with)|returned) ?:? ?137\b"),
                  ("container ", r"container .{0,60}(?:exit(?:ed)? (?:code|status|with)|returned) ?:? ?137\b"),
                  ("died with <Signals", "died with <Signals.SIGKILL: 9>")],
     'cause': "A rank was killed from outside: mostly because the node or the job had no memory left, else by a limit "
              "of time or because another rank had failed.",
     'remedy': "sacct -j JOB -o state,exitcode,maxrss and dmesg tell whether it was memory (OUT_OF_MEMORY): then "
               "--mem=0, or fewer ranks a node. Look for an earlier error of another rank.",
     'also': [("the time was up, or somebody cancelled it",
               "sacct -j JOB -o state,end,timelimit")],
     'source': "signal(7); sacct(1)", 'evidence': 'derived', 'last': True},
    {'name': "rank crashed",
     'text': "mpirun noticed that process rank 0 with PID 77 on node n1 exited on signal 11 (Segmentation fault).",
     'patterns': [("exited on signal ", r"exited on signal (?P<signal>11|6|8)\b"),
                  ("downstream from host", r"downstream from host \S{1,80} was killed by signal (?:11|6|8|4|7)\b"),
                  ("KILLED BY SIGNAL: ", r"KILLED BY SIGNAL: (?:11|6|8)\b"),
                  ("EXIT CODE: ", r"^= +EXIT CODE: (?:11|6|8|139|134|136)\b"),
                  ("EXIT STRING: ", "EXIT STRING: (?:Segmentation fault|Aborted)"),
                  ("Segmentation fault", "^Segmentation fault"), (": Segmentation fault", ": Segmentation fault"),
                  ("forrtl: severe", r"forrtl: severe[^\n]{0,100}(?:SIGSEGV|segmentation fault|Segmentation)"),
                  ("SIGSEGV", r"SIGSEGV[^\n]{0,100}(?:SIGSEGV|segmentation fault|Segmentation)"),
                  ("Program received signal SIG", "Program received signal SIG(?:SEGV|ABRT|FPE)"),
                  ("YOUR APPLICATION TERMINATED WITH THE EXIT STRING: ", "YOUR APPLICATION TERMINATED WITH THE EXIT "
                   "STRING: (?:Segmentation|Aborted)"), ("died with <Signals", "died with <Signals.SIG(?:SEGV|ABRT)"),
                  ("SIGSEGV: segmentation violation", "SIGSEGV: segmentation violation")],
     'unless': ["segmentation fault", "UCX caught a signal"],
     'cause': "A rank has crashed (a pointer to nowhere, or abort after an error): the program, two libraries that do "
              "not fit each other, GPU memory in an MPI that takes it for host memory, or a stack that is too small.",
     'remedy': "Look for a message before it. ulimit -s unlimited (Fortran); ldd PROGRAM: one MPI, one libfabric, one "
               "UCX; osu_bw H H in the same container tells whether MPI works; srun osu_container/rank-proof FOLDER "
               "PROGRAM shows what was loaded.",
     'also': [("it has no memory left",
               "sacct -j JOB -o maxrss,reqmem")],
     'source': "signal(7); Open MPI, help texts of mpirun", 'evidence': 'derived', 'last': True},
    {'name': "file descriptors used up",
     'text': "accept: Too many open files / system limit exceeded on number of ... that can be open",
     'patterns': ["Too many open files", ("The accept(3) system call failed", r"The accept\(3\) system call failed"),
                  ("system limit exceeded on number of ", "system limit exceeded on number of (?P<what>pipes|network "
                   "connections|processes)"), ("Out of file descriptors", "Out of file descriptors"), "EMFILE",
                  ("ulimit -n", "ulimit -n")],
     'cause': "The process may open no more files or connections (ulimit -n), or the node has no more: many ranks on "
              "few nodes need many.",
     'remedy': "ulimit -n $(ulimit -Hn) in front of srun or mpirun (in the job script), and see srun bash -c 'ulimit "
               "-n'. Fewer ranks a node; administrators: LimitNOFILE of slurmd, fs.file-max.",
     'source': "getrlimit(2), RLIMIT_NOFILE; Open MPI, help texts of mpirun", 'evidence': 'derived'},
    {'name': "processes used up",
     'text': "fork: retry: Resource temporarily unavailable / system limit exceeded on number of processes",
     'patterns': [("fork: ", "fork: (?:retry: )?(?:no child processes|Resource temporarily unavailable|Cannot "
                   "allocate memory)"),
                  ("can't ", r"can't (?:start|create|fork)[^\n]{0,40}(?:thread|process)[^\n]{0,80}(?:Resource "
                   "temporarily unavailable|errno (?:=|:)? ?11)"),
                  ("annot ", r"[Cc]annot (?:start|create|fork)[^\n]{0,40}(?:thread|process)[^\n]{0,80}(?:Resource "
                   "temporarily unavailable|errno (?:=|:)? ?11)"),
                  ("ailed to ", r"[Ff]ailed to (?:start|create|fork)[^\n]{0,40}(?:thread|process)[^\n]{0,80}"
                   "(?:Resource temporarily unavailable|errno (?:=|:)? ?11)"),
                  ("nable to ", r"[Uu]nable to (?:start|create|fork)[^\n]{0,40}(?:thread|process)[^\n]{0,80}"
                   "(?:Resource temporarily unavailable|errno (?:=|:)? ?11)"),
                  ("pthread_create", r"pthread_create[^\n]{0,60}(?:failed|Resource temporarily|EAGAIN)"),
                  ("runtime: failed to create new OS thread", "runtime: failed to create new OS thread"),
                  ("can't start new thread", "can't start new thread"),
                  ("OpenBLAS blas_thread_init", "OpenBLAS blas_thread_init")],
     'cause': "You may start no more processes or threads on this node (ulimit -u, or the limit of a cgroup): each "
              "rank starts as many threads as there are cores, or earlier runs have left theirs.",
     'remedy': "export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1; ps -u $USER shows what is left over; srun bash -c "
               "'ulimit -u; cat /sys/fs/cgroup/pids.max'. A login node often allows few: take a job.",
     'source': "fork(2), EAGAIN", 'evidence': 'derived'},
    {'name': "PMIx told an error of its own",
     'text': "PMIX ERROR: OUT-OF-RESOURCE in file client/pmix_client.c at line 1111",
     'patterns': [("PMIX ERROR: ", r"PMIX ERROR: (?!UNPACK-PAST-END|UN(?:AVAIL|REACH)|PMIX TEMPORARILY)(?P<what>[\w "
                   r"-]{1,60}) in file (?P<file>\S{1,200})(?<!dstore)"), ("PMIX_ERR", r"PMIX_ERR\w*"), "PMIX_ERROR"],
     'unless': ["shared memory of PMIx not usable", "Open MPI without PMIx", "error text lost in PMIx"],
     'cause': "PMIx, by which ranks find each other, reports {what}: what started the ranks and the MPI in the "
              "container have different releases of PMIx, or do not see the same folder (TMPDIR).",
     'remedy': "PMIX_MCA_gds=hash PMIX_MCA_psec=native before srun or mpirun; bind the folder of $PMIX_SERVER_TMPDIR. "
               "Open MPI of the same release (4 or 5) inside and outside.",
     'source': "PMIx standard, errors; github.com/openpmix/openpmix, issue 1819", 'evidence': 'derived', 'general': 2},
    {'name': "Open MPI told an error of its own",
     'text': "[[44,0],0] ORTE_ERROR_LOG: Not found in file ess_hnp_module.c at line 320",
     'patterns': [("_ERROR_LOG: ", r"(?:ORTE|PRTE|OPAL|OMPI)_ERROR_LOG: (?P<what>[\w ()-]{1,80}) in file"),
                  (" ERROR: ", r"(?:ORTE|PRTE) ERROR: (?P<what>[\w -]{1,60}) in file"),
                  ("OPAL ERROR: ", r"OPAL ERROR: (?P<what>[\w ]{1,60}) in file")],
     'unless': ["Open MPI without PMIx"],
     'cause': "Open MPI's part that starts ranks reports: {what}. The lines around say in which part (file); alone it "
              "does not say why.",
     'remedy': "env | grep -E '^(OMPI|PMIX|PRTE)_', df -h $TMPDIR /tmp, and one mpirun alone on PATH are the first to "
               "look at; mpirun -n 2 hostname tells whether starting works at all.",
     'source': "Open MPI, orte/util/error_strings.c", 'evidence': 'derived', 'general': 2},
    {'name': "Hydra told an error of its own",
     'text': "[proxy:0:0@n1] HYD_pmcd_pmip_control_cmd_cb (...): assert (!closed) failed",
     'patterns': [("[proxy", r"\[proxy[^\]\n]{0,60}\] (?P<call>HYD\w+|main|control_cb|launch_procs|check_exit_codes"
                   r"|cmd_\w+)\b[^\n]{0,120}: (?P<what>[^\n]{1,120})"),
                  ("[mpiexec", r"\[mpiexec[^\]\n]{0,60}\] (?P<call>HYD\w+|main|control_cb|launch_procs"
                   r"|check_exit_codes|cmd_\w+)\b[^\n]{0,120}: (?P<what>[^\n]{1,120})")],
     'unless': ["helpers of mpirun not reached", "mpirun in the container", "daemon of mpirun lost",
                "helper of Hydra ended after a rank", "rank killed", "rank crashed"],
     'cause': "mpiexec of MPICH, Intel MPI or MVAPICH, or its helper on a node, failed: {what}",
     'remedy': "The first such line tells most. mpiexec -n 2 hostname tells whether starting works; srun with "
               "--mpi=pmi2 does without mpiexec; in a container mpiexec -launcher fork.",
     'source': "Hydra, source code", 'evidence': 'derived', 'general': 2},
    {'name': "write to PMI that is gone",
     'text': "[unset]: write_line error; fd=-1 buf=:cmd=init pmi_version=1 pmi_subversion=1",
     'patterns': [("write_line error; fd=", r"write_line error; fd=-?\d+"),
                  ("Unable to write to PMI_fd", "Unable to write to PMI_fd"),
                  ("_parse_keyvals", r"PMIU?_parse_keyvals[^\n]{0,60}"), ("_readline", r"PMIU?_readline[^\n]{0,60}"),
                  ("_writeline", r"PMIU?_writeline[^\n]{0,60}"), ("readline failed", "readline failed"),
                  ("error in readline loop", "error in readline loop"),
                  ("cmd=", "cmd=(?:init|get_maxes|barrier_in|get_appnum).{0,120}(?:error|failed)")],
     'unless': ["rank that does not exist", "MPICH without PMI"],
     'cause': "MPICH talks to the PMI of whoever started it, and nobody is there: an srun without --mpi=pmi2, "
              "variables of an outer run (PMI_FD, PMI_RANK), or mpiexec of another MPI.",
     'remedy': "srun --mpi=pmi2, or the mpiexec of this MPICH. A rank that was started by hand in a job: unset what "
               "env | grep ^PMI_ shows.",
     'source': "MPICH, src/pmi; github.com/open-mpi/ompi, issue 8824", 'evidence': 'derived'},
    {'name': "mpirun that is not there",
     'text': "bash: mpirun: command not found",
     'patterns': [("not found", r"\b(?P<command>mpirun|mpiexec|mpicc|mpif90|mpicxx|prterun|orted|prted|hydra_\w+|aprun"
                   "|orterun)(?:: | ?: )(?:command )?not found"),
                  ("o such file or directory", r"\b(?P<command>orted|prted|hydra_\w+|pmi_proxy):? {1,4}[Nn]o such "
                   "file or directory"),
                  ("No such file or directory: ", r"No such file or directory: ['\x22](?P<command>mpirun|mpiexec"
                   r"|mpicc)['\x22]"), ("exec: ", r"exec: ['\x22](?P<command>mpirun|mpiexec|mpicc)['\x22]")],
     'cause': "{command} is not on PATH: the module of MPI is not loaded, the container has no MPI or has it in a "
              "folder that is not on PATH (/usr/lib64/openmpi/bin, /opt/...), or Open MPI is not at the same place on "
              "the other node.",
     'remedy': "module load of the MPI; in a container export PATH=/usr/lib64/mpich/bin:$PATH, or call it by its "
               "path. On a cluster srun does without mpirun. orted: mpirun by its full path.",
     'source': "Open MPI, help texts of mpirun", 'evidence': 'derived'},
    {'name': "helper of Hydra ended after a rank",
     'text': "[proxy:0:0@n1] HYD_pmcd_pmip_control_cmd_cb (...): assert (!closed) failed",
     'patterns': [("assert (!closed) failed", r"\[proxy[^\]\n]{0,60}\] control_cb .{0,100}assert \(!closed\) failed"),
                  ("assert (!closed) failed", r"control_cmd_cb .{0,100}assert \(!closed\) failed"),
                  ("callback returned error status", "callback returned error status"),
                  ("engine error waiting for event", "engine error waiting for event"),
                  ("one of the processes terminated badly", "one of the processes terminated badly"),
                  ("launcher returned error waiting for completion", "launcher returned error waiting for completion"),
                  ("error waiting for", r"HYD_pmcd?i?_\w+.{0,120}error waiting for")],
     'unless': ["helpers of mpirun not reached", "rank crashed", "rank killed", "segmentation fault",
                "rank ended without a word"],
     'cause': "A rank, or the helper of mpiexec on a node, has ended, and mpiexec gives up: these lines are the "
              "consequence.",
     'remedy': "Look for what a rank has printed before, or a signal. If there is nothing: dmesg of that node and "
               "sacct -j JOB -o state,exitcode,maxrss (memory); ssh NODE true, and mpiexec -n 2 hostname.",
     'also': [("the folder that it was started in is not there on the other node", "ssh NODE ls -d $PWD")],
     'source': "Hydra, pm/pmiserv/pmip_cb.c; github.com/lanl/MPI-Bash, issue 14", 'evidence': 'derived', 'last': True},
    {'name': "exchange of PMIx timed out",
     'text': "A request has timed out and will therefore fail: Operation: DMDX: prted/pmix/pmix_server.c:861",
     'patterns': ["A request has timed out and will therefore fail",
                  ("pmix_server_max_wait", "parameter pmix_server_max_wait"),
                  ("pmix_base_exchange_timeout", "pmix_base_exchange_timeout parameter"),
                  ("PMIX ERROR: ", r"PMIX ERROR: (?:PMIX_ERR_)?TIMEOUT\b"),
                  ("Returned ", r'Returned (?:value |")?(?:Timeout|PMIX_ERR_TIMEOUT)\b'),
                  ("PMIx_", r"PMIx_(?:Fence|Connect|Get)\w{0,10}.{0,60}(?:timed out|TIMEOUT)")],
     'cause': "A rank asked for the address of another rank and got no answer in time: that rank has ended or never "
              "came so far, the helper of its node hangs, or very many ranks ask at once.",
     'remedy': "Look for the first error of any rank and node. A large job: mpirun --prtemca pmix_server_max_wait 300 "
               "(Open MPI 5), OMPI_MCA_pmix_base_exchange_timeout=300 for MPI_Comm_connect and spawn.",
     'source': "PRRTE, help-prted.txt; github.com/open-mpi/ompi, issue 7628", 'evidence': 'derived'},
    {'name': "Slurm's PMIx does not reach another node",
     'text': "slurmstepd: error:  mpi/pmix_v2: _tcp_connect: ... Cannot establish the connection",
     'patterns': [("annot establish ", r"mpi/pmix\w*: .{0,200}[Cc]annot establish (?:the|direct) connection"),
                  ("pmixp_", r"pmixp_(?:dconn|p2p|conn|server)\w*.{0,200}(?:Unable to connect|Cannot (?:establish|send)"
                   r"|Connection (?:refused|timed out|reset)|No route to host)"),
                  ("Unable to connect to ", r"mpi/pmix\w*: .{0,200}Unable to connect to \d+"),
                  ("pmixp_coll", r"pmixp_coll\w{0,30}\b.{0,200}(?:[Cc]ollective timeout|timeout)"),
                  ("pmixp_usock_create_srv", "pmixp_usock_create_srv"),
                  ("an't send ", r"mpi/pmix\w*: .{0,200}[Cc]an't send ")],
     'unless': ["no space left"],
     'cause': "Slurm's PMIx connects the nodes of a step directly by TCP (or UCX), and one node does not reach the "
              "other: a firewall between compute nodes, a name that leads to a wrong address, or its step has ended.",
     'remedy': "export SLURM_PMIX_DIRECT_CONN=false before srun tells; srun getent hosts NODE. Administrators: open "
               "SrunPortRange and all ports between compute nodes, see slurmd's log. With UCX in Slurm: "
               "SLURM_PMIX_DIRECT_CONN_UCX=false.",
     'source': "Slurm, src/plugins/mpi/pmix; github.com/openpmix/openpmix, issue 3098; github.com/open-mpi/ompi, issue "
               "11471", 'evidence': 'derived'},
    {'name': "Intel MPI did not start in time",
     'text': "I_MPI_JOB_TIMEOUT = -1 second(s): job ending due to startup timeout",
     'patterns': ["job ending due to startup timeout",
                  ("I_MPI_JOB_STARTUP_TIMEOUT", "I_MPI_JOB_STARTUP_TIMEOUT.{0,60}(?:timeout|exceeded|ending)")],
     'cause': "mpirun of Intel MPI has waited for its ranks, and they did not all come through MPI_Init: the program "
              "does not call MPI, is of another MPI, or waits for the network or a slow file system.",
     'remedy': "ldd PROGRAM | grep mpi should name Intel's libmpi.so.12 (for Python: that of mpi4py's MPI*.so). "
               "mpirun -n 2 IMB-MPI1 PingPong tells whether MPI works; I_MPI_FABRICS=shm on one node, FI_PROVIDER=tcp "
               "between nodes; I_MPI_JOB_STARTUP_TIMEOUT=600 if it is only slow.",
     'source': "Intel MPI, developer reference, I_MPI_JOB_STARTUP_TIMEOUT; github.com/QuantumLab-ZY/HamEPC, issue 13",
     'evidence': 'derived'},
    {'name': "time that mpirun was given is over",
     'text': "The user-provided time limit for job execution has been reached: Timeout: 60 seconds",
     'patterns': ["The user-provided time limit for job execution has been reached",
                  ("APPLICATION TIMED OUT", "APPLICATION TIMED OUT"),
                  ("APPLICATION TIMED OUT", "YOUR APPLICATION TIMED OUT"),
                  ("I_MPI_JOB_TIMEOUT", r"I_MPI_JOB_TIMEOUT ?= ?\d+ second\(s\): job ending due to (?:application )?"
                   "timeout")],
     'cause': "mpirun was told to end the job after some time (--timeout, MPIEXEC_TIMEOUT, I_MPI_JOB_TIMEOUT), and it "
              "was not done.",
     'remedy': "unset MPIEXEC_TIMEOUT (env | grep TIMEOUT), or a longer one. If it should have been done long ago: the "
               "ranks wait for each other, see what each printed last.",
     'source': "PRRTE, help-plm-base.txt; Hydra", 'evidence': 'derived'},
    {'name': "mpirun without a job of Slurm",
     'text': "The SLURM process starter for Open MPI didn't find any hosts in the map for this application.",
     'patterns': [("process starter for Open MPI didn't find any hosts", "process starter for Open MPI didn't find "
                   "any hosts"),
                  ("While attempting to ", "While attempting to (?:determine resources|build a map "
                   "of this job, a node)"),
                  ("was detected to be missing a daemon", "was detected to be missing a daemon"),
                  ("A daemon has no recorded node", "A daemon has no recorded node"),
                  ("SLURM_", r"SLURM_(?:NODELIST|TASKS_PER_NODE|JOBID).{0,60}(?:not (?:found|set)|could not be "
                   "parsed)"),
                  ("SLURM allocation", "SLURM allocation .{0,60}(?:could not|failed|not valid|detected)")],
     'cause': "mpirun takes the nodes from Slurm's variables, and they are not all there or name the nodes otherwise "
              "than the nodes call themselves (short and long names).",
     'remedy': "Start it in a job (salloc, sbatch): env | grep SLURM_. With -host or --hostfile in a job leave these "
               "out. Outside of Slurm's view: PRTE_MCA_ras=^slurm PRTE_MCA_plm=ssh (Open MPI 4: OMPI_MCA_ras, "
               "OMPI_MCA_plm=rsh). hostname on the nodes should be Slurm's NodeName.",
     'source': "PRRTE, help-plm-slurm.txt, help-ras-slurm.txt, help-prte-rmaps-base.txt", 'evidence': 'derived'},
    {'name': "program that the node could not start",
     'text': 'Open MPI tried to fork a new process via the "execve" system call but failed.',
     'patterns': [("tried to fork a new process via the", "tried to fork a new process via the"),
                  ("tried to launch a child process but the", "tried to launch a child process but the"),
                  ("STATE FAILED TO START AT", "STATE FAILED TO START AT")],
     'cause': "mpirun found the program and the system did not start it: it is a folder, not executable, a script "
              "without #!, or built for another processor. The line Error says which.",
     'remedy': "ls -l and file of the program on that node; chmod +x; name a file, not a folder. In a container the "
               "path inside counts.",
     'source': "Open MPI, help-orte-odls-default.txt; github.com/open-mpi/ompi, issue 11936", 'evidence': 'derived'},
    {'name': "rank by itself that cannot start others",
     'text': "The singleton application was not able to find an executable in your PATH",
     'patterns': ["The singleton application was not able to find an executable",
                  ("A call was made to launch additional processes, but", "A call was made to launch additional "
                   "processes, but")],
     'cause': "A program of Open MPI runs without mpirun and calls MPI_Comm_spawn: it then starts prterun (orted) "
              "itself, and does not find it.",
     'remedy': "Start it by mpirun -n 1 PROGRAM, with more slots than ranks; or Open MPI's bin on PATH (in the "
               "container too).",
     'source': "Open MPI, help-dpm.txt", 'evidence': 'derived'},
    {'name': "user of a rank is another one for PMIx",
     'text': "The user ID of the client process does not match the ID registered by the host runtime",
     'patterns': [("ID of the client process does not match the ID", "ID of the client process does not match the ID")],
     'cause': "PMIx outside and the rank in the container see different users: the container runs as root or by "
              "fakeroot (--fakeroot, podman, Docker), or has another group.",
     'remedy': "Run the container as yourself: apptainer exec without --fakeroot, podman --userns=keep-id, Docker "
               "--user $(id -u):$(id -g). id inside and outside should print the same.",
     'source': "OpenPMIx, help-ptl-base.txt", 'evidence': 'derived'},
    {'name': "leftovers of PMIx of another run",
     'text': "PMIx has found multiple possible servers to which it could connect.",
     'patterns': ["PMIx has found multiple possible servers",
                  ("already exists and belongs to", "peers locate it because that file already exists and belongs to")],
     'cause': "Files by which PMIx finds its server (pmix.* below TMPDIR) are there of several runs, of this one and "
              "of earlier ones.",
     'remedy': "ls -d $TMPDIR/pmix* $TMPDIR/prte* /tmp/pmix* /tmp/prte*, and remove those of runs that are over; or "
               "export TMPDIR to an empty folder before.",
     'source': "OpenPMIx, help-ptl-base.txt", 'evidence': 'derived'},
    {'name': "mpirun that speaks to a rank that has gone",
     'text': "[n1:24154] PMIX ERROR: UNREACHABLE in file server/pmix_server.c at line 2147",
     'patterns': [("PMIX ERROR: UN", r"PMIX ERROR: UNREACH\w{0,10} in file \S{0,200}server/")],
     'cause': "mpirun wants to tell its ranks something, and a rank has ended: a consequence.",
     'remedy': "Look for the first error of any rank (MPI_ABORT, a signal, memory).",
     'source': "OpenPMIx, src/server/pmix_server.c; github.com/open-mpi/ompi, issue 9785", 'evidence': 'derived',
     'last': True},
    {'name': "ssh with OpenSSL of another place",
     'text': "OpenSSL version mismatch. Built against 30000020, you have 30100010",
     'patterns': [("OpenSSL version mismatch", "OpenSSL version mismatch. Built against")],
     'cause': "ssh, by which mpirun starts its helpers, has loaded the OpenSSL of conda or of a module (by "
              "LD_LIBRARY_PATH) instead of the system's.",
     'remedy': "env -u LD_LIBRARY_PATH ssh -V works? Then unset LD_LIBRARY_PATH before mpirun, or an ssh of the same "
               "place: conda install -c conda-forge openssh. srun needs no ssh.",
     'source': "OpenSSH, entropy.c; github.com/modin-project/unidist, issue 314", 'evidence': 'derived'},
    {'name': "user whose name Open MPI does not learn",
     'text': "Open MPI was unable to obtain the username in order to create a path for its required temporary "
             "directories.",
     'patterns': ["was unable to obtain the username in order to create a",
                  ("Cannot obtain the user name", "Cannot obtain the user name")],
     'cause': "Your number as a user has no name on that node or in that container: no line in /etc/passwd, and LDAP "
              "(or NIS) does not answer there.",
     'remedy': "srun getent passwd $(id -u) on each node and in the container should print you. Docker: -v "
               "/etc/passwd:/etc/passwd:ro with --user $(id -u); Apptainer: no --no-mount passwd. All nodes without "
               "it: ask the administrators (sssd, nss_slurm).",
     'source': "Open MPI, help-orte-runtime.txt; github.com/open-mpi/orcm, issue 129", 'evidence': 'derived'},
    {'name': "MPI in a program that a rank has started",
     'text': "getting local rank failed --> Returned value No permission (-17) instead of ORTE_SUCCESS",
     'patterns': [("No permission", r'--> Returned (?:value )?\"?No permission\"? \(-17\) instead of')],
     'unless': ["folder of Open MPI for its session not to be made"],
     'cause': "A rank of Open MPI has started a program (subprocess, multiprocessing, a shell) that starts MPI too, "
              "and mpirun does not know that one.",
     'remedy': "Start it without the variables of the rank: env -i PATH=$PATH HOME=$HOME PROGRAM, or unset what env | "
               "grep -E '^(OMPI|PMIX)_' shows. In Python do not import mpi4py in the child (if __name__ == "
               "'__main__'), or mpi4py.rc.initialize = False there.",
     'also': [("the container runs as another user than mpirun, or does not show TMPDIR", "apptainer exec IMAGE sh -c "
               "'id; ls -ld $TMPDIR'")],
     'source': "github.com/mpi4py/mpi4py, issue 705; github.com/open-mpi/ompi, issue 12027", 'evidence': 'derived'},
    {'name': "fault inside of mpirun",
     'text': "An internal error has occurred in ORTE: ... FORCE-TERMINATE AT ...",
     'patterns': [("An internal error has occurred in ", "An internal error has occurred in (?:ORTE|PRTE|PRRTE)"),
                  ("unable to launch", "Although we were able to map your job, we are unable to launch")],
     'unless': ["daemon of mpirun lost", "helpers of mpirun not reached"],
     'cause': "mpirun ended itself; the line below names the file of its source. Mostly a helper on another node was "
              "lost.",
     'remedy': "mpirun -n 2 hostname on the same nodes tells whether starting works; OMPI_MCA_plm_base_verbose=10 "
               "(PRTE_MCA_plm_base_verbose=10) shows where it stops; srun --mpi=pmix does without mpirun.",
     'source': "Open MPI, help-errmgr-base.txt; github.com/open-mpi/ompi, issue 4416", 'evidence': 'derived',
     'general': 1},
    {'name': "what PMIx was not told",
     'text': "PMIx has detected that the host RM failed to provide all the job-level information",
     'patterns': [("host RM failed to provide all the job-level", "host RM failed to provide all the job-level")],
     'cause': "What started the ranks (Slurm) has an older PMIx and does not tell all that this one asks for.",
     'remedy': "Harmless. PMIX_MCA_pmix_suppress_missing_data_warning=1 silences it.",
     'source': "OpenPMIx, help-pmix-runtime.txt", 'evidence': 'derived', 'last': True},
    {'name': "Open MPI of the image and mpirun do not fit",
     'text': 'ompi_mpi_init: ompi_rte_init failed --> Returned "(null)" (-43) instead of "Success" (0)',
     'patterns': [("(-43) instead of", r"--> Returned (?:value )?\"?(?:\(null\)|Silent|Error)\"? \(-43\) instead of")],
     'cause': "The rank does not come through to the mpirun that started it: the Open MPI of the rank (in the image, "
              "or another one on LD_LIBRARY_PATH) and that of mpirun are of different releases.",
     'remedy': "mpirun --version outside and apptainer exec IMAGE mpirun --version must agree (best to the last "
               "figure). which -a mpirun; ldd PROGRAM | grep libmpi. Or srun --mpi=pmix, where Slurm has it.",
     'also': [("TMPDIR of the job is not in the container", "apptainer exec IMAGE ls -ld $TMPDIR")],
     'source': "github.com/apptainer/singularity, issues 5060 and 88; github.com/open-mpi/ompi, issue 8017",
     'evidence': 'derived', 'general': 1},
    {'name': "mpd of an old MPICH",
     'text': "mpiexec_node1: cannot connect to local mpd (/tmp/mpd2.console_me)",
     'patterns': [("cannot connect to local mpd", "cannot connect to local mpd"), ("mpdboot_", r"\bmpdboot_\S+ \("),
                  ("unable to start all procs; may have invalid", "unable to start all procs; may have invalid machine "
                   "names"), ("mpd", r"mpd(?:lib|run|allexit)\w{0,20}\b.{0,60}(?:failed|cannot|error)"),
                  ("no mpd is running", "no mpd is running"), ("mpdroot: ", r"mpdroot: open failed")],
     'cause': "This mpiexec is of MPICH2 before 1.3 (or Intel MPI before 5), which needs a daemon mpd on every node; "
              "it does not run, or nodes do not reach each other by the names in the file.",
     'remedy': "mpiexec.hydra, or a newer MPI, needs none. With mpd: ~/.mpd.conf (chmod 600), mpdboot -n N -f "
               "mpd.hosts, mpdtrace; getent hosts NODE on every node.",
     'source': "github.com/pmodels/mpich, issues 39, 124, 466 and 1425", 'evidence': 'derived'},
    {'name': "PMI of MPICH or Intel MPI not reached",
     'text': "MPID_Init(2049)......: PMI_Init returned 1",
     'patterns': [("PMI_Init returned ", r"MPID_Init\(\d+\)[ .]*: ?PMI_Init returned -?\d"),
                  ("PMI2_Init returned ", r"MPID_Init\(\d+\)[ .]*: ?PMI2_Init returned -?\d"),
                  ("mpir_localproc.c", r"Assertion failed in file \S{0,150}mpir_localproc\.c")],
     'cause': "MPICH, MVAPICH or Intel MPI asked the PMI of what started it, and this is not the one that it speaks: "
              "I_MPI_PMI_LIBRARY names a library of another Slurm or PMIx, srun has another --mpi=, or mpiexec is of "
              "another MPI.",
     'remedy': "Under mpiexec: unset I_MPI_PMI_LIBRARY. Under srun: --mpi=pmi2, and for Intel MPI "
               "I_MPI_PMI_LIBRARY=/usr/lib64/libpmi2.so (libpmi.so) of this Slurm. srun --mpi=list; ldd PROGRAM.",
     'source': "github.com/openpmix/openpmix, issue 513; MPICH, src/mpid/ch3", 'evidence': 'derived'},
    {'name': "mpiexec that asks PBS or LSF in vain",
     'text': "HYDT_bsci_launcher_pbs_init (...): tm_init() failed with TM error 17002",
     'patterns': [("tm_init", r"tm_init(?:\(\))? ?(?:failed|returned|:)"), ("launcher_pbs_init", r"launcher_pbs_init "
                                                                                                 r"\("),
                  ("TM error ", r"\bTM error \d+"), ("lsb_launch failed", "lsb_launch failed"),
                  ("ras:tm", r"ras:tm.{0,80}(?:failed|error)"),
                  ("pbs_tmrsh", r"pbs_tmrsh: (?:error|command not found)"),
                  ("error: executing task of job ", r"error: executing task of job \d+ failed"),
                  ("commlib error: ", "error: commlib error: got select error")],
     'cause': "mpiexec sees variables of PBS, LSF or SGE and wants to start the ranks through it, and its daemon on "
              "this node does not answer: the shell is not in the job (ssh to a node), or ranks are started twice.",
     'remedy': "Start it in the job itself, on its first node; or by ssh: mpiexec -launcher ssh -f $PBS_NODEFILE "
               "(Hydra; SGE: $PE_HOSTFILE), mpirun --mca plm rsh --mca ras ^tm (Open MPI 4).",
     'source': "github.com/radical-cybertools/radical.pilot, issue 301; Hydra, tools/bootstrap/external",
     'evidence': 'derived'},
    {'name': "mpirun with libraries of another Open MPI",
     'text': "mpiexec: Symbol `orte_schizo' has different size in shared object, consider re-linking",
     'patterns': [("has different size in shared object", r"Symbol `(?P<symbol>(?:orte|opal|ompi|mca|prte|pmix)_\w+)' "
                                                          r"has "
                   "different size in shared object")],
     'cause': "mpirun (or a program) of one Open MPI has loaded the libraries of another one, by LD_LIBRARY_PATH: "
              "conda beside a module, two modules, or the host's in a container.",
     'remedy': "which -a mpirun; ldd $(which mpirun): its libopen-rte and libopen-pal must be of the same folder. "
               "unset LD_LIBRARY_PATH, module unload, or conda deactivate, so that one alone is left.",
     'source': "github.com/JohannesBuchner/PyMultiNest, issue 158; ld.so(8)", 'evidence': 'measured'},
    {'name': "answer of PMIx that Open MPI misses",
     'text': "It looks like MPI runtime init failed for some reason; your parallel process is",
     'patterns': [("MPI runtime init failed", "It looks like MPI runtime init failed")],
     'cause': "Open MPI asked what started it (srun with PMIx, or mpirun) for something, and got no answer: their PMIx "
              "are of releases that do not fit, or a part of Open MPI (pml, btl, ess) is missing.",
     'remedy': "The line above it names what was missing. srun --mpi=list shows Slurm's PMIx, pmix_info | head the "
               "image's: Open MPI 5 wants PMIx 4 or later. unset OMPI_MCA_pml OMPI_MCA_btl tells the rest.",
     'source': "github.com/open-mpi/ompi, pull request 8090", 'evidence': 'derived', 'general': 1},
]
