"""Messages of Slurm."""

from typing import Any, Dict, List

ENTRIES: List[Dict[str, Any]] = [
    {
        'name': "unknown MPI type",
        'patterns': [
            ("Invalid MPI type '", r"Invalid MPI type '(?P<type>[^'\n]+)'"),
            ("cannot find mpi plugin for mpi/", r"cannot find mpi plugin for mpi/(?P<type>\S+)"),
            (
                "Couldn't find the specified plugin name for mpi/",
                r"Couldn't find the specified plugin name for mpi/(?P<type>\S+)",
            ),
        ],
        'cause': "The option --mpi= or SLURM_MPI_TYPE requests the plugin {type}, which this "
        "Slurm does not have.",
        'remedy': "Remove --mpi= from the srun command; `srun --mpi=list` prints the available "
        "types. If the module itself sets this type, the module is for another system's Slurm.",
        'source': "Slurm 22.05, seen by this project, 2026-11",
    },
    {
        'name': "PMIx library missing",
        'patterns': [
            (
                "can not load PMIx library",
                r"mpi/pmix\w{0,60}: init: .{0,200}can not load PMIx library",
            )
        ],
        'cause': "Slurm's PMIx plugin does not find libpmix.so.",
        'remedy': "Install the library on the nodes (Debian 12: `apt install libpmix-dev`) and "
        "restart Slurm.",
        'source': "seen by this project, 2026-11",
    },
    {
        'name': "no controller",
        'patterns': [
            "Unable to contact slurm controller",
            "s_p_parse_file: unable to stat",
            "s_p_parse_file: cannot stat",
        ],
        'cause': "Slurm's controller does not answer, or slurm.conf does not exist or is not "
        "readable.",
        'remedy': "On the workstation, run `make slurm`, then `. ./env.sh`. On a cluster, try "
        "again later.",
        'source': "Slurm 22.05, seen by this project, 2026-11",
        'unless': ["socket of Slurm's own keys", "slurmd that finds no configuration"],
    },
    {
        'name': "unknown partition",
        'patterns': [
            ("invalid partition specified: ", r"invalid partition specified: (?:\S+)"),
            "Invalid partition name specified",
            "No partition specified or system default partition",
        ],
        'cause': "No partition has this name, or you have no permission to use the partition.",
        'remedy': "`sinfo -s` lists the partitions; LUMI-G has standard-g, small-g and dev-g.",
        'source': "Slurm 22.05, seen by this project, 2026-11",
    },
    {
        'name': "unknown account",
        'patterns': ["Invalid account or account/partition combination"],
        'cause': "The account (project) is missing, misspelt, or has no access to this partition.",
        'remedy': "Add --account=project_46XXXXXXX, or run `export "
        "SLURM_ACCOUNT=project_46XXXXXXX`. On LUMI, `lumi-workspaces` lists your projects.",
        'source': "Slurm, src/common/slurm_errno.c",
    },
    {
        'name': "more than the partition has",
        'patterns': [
            "Requested node configuration is not available",
            "Node count specification invalid",
            ("PartitionNodeLimit", r"\bPartitionNodeLimit\b"),
            ("BadConstraints", r"\bBadConstraints\b"),
        ],
        'cause': "The job requests more nodes, cores, memory or GPUs than the partition has, or "
        "than the partition allows for one job.",
        'remedy': "Request less: `sinfo -o '%P %D %c %G'` prints the nodes, cores and GPUs of "
        "each partition.",
        'source': "Slurm 22.05, seen by this project, 2026-11",
        'unless': ["more than the job has", "memory that a node does not have"],
    },
    {
        'name': "job is over",
        'patterns': [
            (
                "Unable to create step for job ",
                r"Unable to create step for job \d+: (?:Job/step already completing.*|Invalid job id specified|Job "
                "has expired|Expired or invalid job.*)",
            ),
            ("Unable to confirm allocation for job ", r"Unable to confirm allocation for job \d+"),
        ],
        'cause': "srun was called in a shell of a job that has finished. SLURM_JOB_ID is still "
        "set in this shell.",
        'remedy': "Leave the shell of salloc with `exit`, or run `unset SLURM_JOB_ID`, and "
        "request a new job.",
        'source': "Slurm 22.05, seen by this project, 2026-11; Slurm, src/common/slurm_errno.c",
    },
    {
        'name': "more than the job has",
        'patterns': [
            (" nodes asked for ", r"Only allocated (?:\d+) nodes asked for (?:\d+)"),
            (
                "Unable to create step for job ",
                r"Unable to create step for job \w+: (?P<why>(?:Requested (?:node|partition|topology) "
                "config|Requested nodes|Required node|More processors|Memory (?:required|specification)|Invalid "
                "(?:generic resource|Trackable|node name|feature|GRES)|Insufficient GRES|Duplicate generic|Node "
                "count|Task count|CPU count|Task distribution|Cannot request more threads|RestrictedCoresPerGPU|No "
                r"suitable topology|Job violates|Requested GRES)[^\n]{0,120})",
            ),
            (
                ") not found in the job",
                r"Step requested GRES \((?P<why>[^)\n]{1,60}\)?)\) not found in the job",
            ),
        ],
        'cause': "srun requests more nodes, tasks, memory or GPUs than the job has, or a "
        "combination that is not possible. {why}",
        'remedy': "Request the resources when you submit the job (sbatch with -N, -n, --mem, "
        "--gpus-per-node), or request less from srun.",
        'source': "Slurm 22.05, seen by this project, 2026-11",
    },
    {
        'name': "network of the step not set up",
        'patterns': ["Error configuring interconnect"],
        'cause': "Slurm could not give the job step access to the Slingshot network (a VNI). The "
        "step requests the network with a --network= option that is not allowed, overlaps another "
        "step on several nodes, or too many steps have a VNI.",
        'remedy': "Remove --network=, and run fewer srun commands at the same time in a job. To "
        "inspect a running job, use `srun --overlap --jobid=JOB -n 1 --pty bash` on one node. If "
        "only one node fails, leave the node out with `srun --exclude=NODE`.",
        'source': "github.com/Lumi-supercomputer/lumi-userguide, pull request 223; "
        "github.com/ornladios/ADIOS2, issue 3439; Slurm, src/plugins/switch/hpe_slingshot",
    },
    {
        'name': "step waits for another",
        'patterns': ["step creation temporarily disabled", "step creation still disabled"],
        'cause': "Another step of the same job still uses the cores (or the memory), so srun "
        "waits.",
        'remedy': "Let one step finish before the next begins (`wait`), or add --overlap to srun. "
        "A killed step may keep its cores for some seconds. If memory is short, reduce --mem of "
        "the first step.",
        'source': "Slurm 22.05, seen by this project, 2026-11; github.com/llnl/smith, issue 688; "
        "github.com/DeiC-HPC/BitBulldozersLab, 2025",
    },
    {
        'name': "time limit",
        'patterns': [
            "DUE TO TIME LIMIT",
            ("did not end within ", r"it did not end within [\d.]+ s"),
            "PBS: job killed: walltime",
            "TERM_RUNLIMIT",
            "exceeded wallclock limit",
        ],
        'cause': "A time limit was reached: the time limit of the Slurm job, or of the command "
        "that waits for the run. Either the limit is too short, or the ranks wait for each other "
        "forever.",
        'remedy': "Run the same command by hand with a longer -t. If the command never finishes, "
        "run the command on one node, then with another libfabric provider (FI_PROVIDER; "
        "`osu-explain` shows the module's value), to see whether the network is the cause. "
        "`py-spy dump --pid PID` or `gdb -p PID` shows where a rank waits.",
        'source': "Slurm 22.05, seen by this project, 2026-11",
    },
    {
        'name': "out of memory",
        'patterns': [
            (": Out Of Memory", r"tasks? \S{1,80}: Out Of Memory"),
            ("kill", "oom[-_]kill(?:er| event|:|_process)"),
            "OOM Killed",
            ("OUT_OF_ME", r"(?<![\w.])OUT_OF_ME(?:MORY|\+)(?= +\d+:\d|\W*$)"),
        ],
        'cause': "The node, or the job's share of the node, had no memory left, and the kernel "
        "killed the process with the highest use.",
        'remedy': "Request more memory (--mem=0 requests all memory of the node), start fewer "
        "ranks on a node, or give the benchmark a smaller maximum size with -m. osu_alltoall "
        "needs the number of ranks times the message size on every rank.",
        'source': "github.com/nextflow-io/nextflow, issue 5932; "
        "github.com/snakemake/snakemake-executor-plugin-slurm, pull request 371",
    },
    {
        'name': "program not found",
        'patterns': [
            (
                "execve(): ",
                r"execve\(\): (?P<program>\S+)(?<!slurm_script): (?P<why>No such file or directory|Permission "
                "denied)",
            )
        ],
        'cause': "The node cannot start {program}: {why}.",
        'remedy': "Load the module in the shell that calls srun, so that the program is on PATH. "
        "srun starts files only, not shell functions or aliases. The installation must be on a "
        "file system that all nodes see.",
        'source': "Slurm 22.05, seen by this project, 2026-11; "
        "github.com/singularityhub/singularity-hpc, issues 473 and 565",
        'also': [
            (
                "srun or sbatch has --export=NONE (or the variable SLURM_EXPORT_ENV or "
                "SBATCH_EXPORT says so), and the ranks do not get your PATH",
                "env | grep _EXPORT; srun --export=ALL PROGRAM",
            )
        ],
        'unless': ["module command not there"],
    },
    {
        'name': "munge not reached",
        'patterns': [
            "Munge encode failed",
            "cannot find auth plugin for auth/munge",
            "If munged is up, restart with",
            (
                "munge.socket",
                r"munge\.socket\S{0,60}: (?:No such file|Connection refused|Permission denied)",
            ),
        ],
        'cause': "Slurm's commands authenticate you through munge, but munge cannot be reached: "
        "the command was called inside a container, or the daemon munged does not run on this "
        "node.",
        'remedy': "Call srun, sbatch and sinfo outside the container. Inside the container they "
        "need --bind /run/munge, the host's slurm.conf and the same version of Slurm.",
        'source': "munge(1); github.com/dun/munge, issues 118 and 124",
        'also': [
            ("munged does not run on this node", "munge -n | unmunge, outside the container"),
            (
                "munge is installed twice, and looks for its socket in another folder",
                "munge -h | grep socket; ls -ld /run/munge /var/run/munge (0755, the socket 0777)",
            ),
        ],
    },
    {
        'name': "credential refused",
        'patterns': [
            ("Munge decode failed: ", r"Munge decode failed: (?P<why>[\w ]{1,80})"),
            "Application launch failed: Invalid job credential",
            "Job credential expired",
        ],
        'cause': "A node rejects the credentials of another node, because their munge keys, "
        "clocks, user IDs or Slurm versions differ. {why}",
        'remedy': "Leave the node out with `srun --exclude=NODE`, and tell the administrators: "
        "`munge -n | ssh NODE unmunge` checks key and clock, `srun --version` on both nodes the "
        "version. The daemon munged reads its key only when it starts.",
        'source': "github.com/dun/munge, issues 62, 116 and 126",
    },
    {
        'name': "binding outside of the step",
        'patterns': [
            "CPU binding outside of job step allocation",
            "Unable to satisfy cpu bind request",
        ],
        'cause': "--cpu-bind (or SLURM_CPU_BIND from an enclosing srun) names cores that this job "
        "step does not have, or --gpu-bind names such GPUs.",
        'remedy': "If one srun starts another, unset the variables that `env | grep "
        "SLURM_CPU_BIND` prints. CPU masks such as those for LUMI-G need whole nodes: add "
        "--exclusive.",
        'source': "srun(1), --cpu-bind; github.com/LLNL/ATS, issue 133",
        'also': [("the job step has fewer cores than the mask", "srun bash -c 'taskset -cp $$'")],
    },
    {
        'name': "Slurm command in the container",
        'patterns': [
            (
                ": cannot open shared object file",
                r"(?P<library>libslurm\w{0,60}\.so[.\d]*): cannot open shared object file",
            )
        ],
        'cause': "A Slurm command was called inside a container, which does not contain {library}.",
        'remedy': "Call the command on the host: srun and sbatch start containers, not the other "
        "way round. A program that must submit jobs from inside a container can do so through ssh "
        "to a login node.",
        'source': "github.com/OpenEuroLLM/oellm-eval, issue 26",
    },
    {
        'name': "GPUs asked for in a way that Slurm refuses",
        'patterns': [
            "Invalid generic resource (gres) specification",
            "Invalid Trackable RESource (TRES) specification",
            "Requested GRES option unsupported by configured SelectType plugin",
        ],
        'cause': "This Slurm does not accept the name or option with which the GPUs (or another "
        "resource) were requested, or the partition has no GPUs.",
        'remedy': "`sinfo -o '%P %G'` prints the names: request --gres=gpu:mi250:8 or "
        "--gpus-per-node=8 in a partition with GPUs. Remove an empty --gres=. If the site "
        "supports only --gres, remove --gpus; if the site allocates whole nodes, use no GPU "
        "option.",
        'source': "github.com/3dem/relion, issue 877; github.com/awslabs/awsome-distributed-ai, "
        "issue 196",
        'unless': ["more than the job has"],
    },
    {
        'name': "memory asked for in two ways",
        'patterns': [
            ("mutually exclusive", r"(?:SLURM_MEM_PER|--mem)\w{0,60}.{0,80}mutually exclusive")
        ],
        'cause': "Two variables set the memory of the job, and Slurm accepts only one: the job "
        "was submitted from within another job, and has inherited the variables of that job.",
        'remedy': "Run `unset SLURM_MEM_PER_CPU SLURM_MEM_PER_GPU SLURM_MEM_PER_NODE` before the "
        "inner sbatch or srun, or submit the job from a login node.",
        'source': "github.com/mehta-lab/recOrder, issue 482",
    },
    {
        'name': "cores asked for in two ways",
        'patterns': [
            (
                " set by two different environment variables",
                r"(?<![\w-])(?P<what>[\w-]{1,40}) set by two different environment variables "
                r"(?P<why>[^\n]{1,120})",
            )
        ],
        'cause': "Two Slurm variables set different numbers of cores per task: srun was called "
        "inside another job or step (salloc, an interactive shell), or --cpus-per-task was given "
        "a second time. {what} {why}",
        'remedy': "Run `unset SLURM_CPUS_PER_TASK SLURM_TRES_PER_TASK SRUN_CPUS_PER_TASK` before "
        "srun or mpirun, or submit from a shell outside any job.",
        'source': "Slurm, src/common/slurm_opt.c; srun(1), SLURM_CPUS_PER_TASK",
    },
    {
        'name': "limit of your account",
        'patterns': [
            ("violates accounting/QOS policy", "(?i:violates accounting/QOS) policy"),
            ("Limit", r"\b(?:QOS|Assoc)(?:Max|Grp|Min)(?!\w{0,60}Minutes)\w{1,60}Limit\b"),
        ],
        'cause': "Slurm's accounting rejects the job or lets it wait. Either no account (project) "
        "is named although the site requires one (LUMI does), or you exceed the jobs, time or "
        "nodes that one user or project may have.",
        'remedy': "Add the account: `sbatch --account=PROJECT` (on LUMI project_46XXXXXXX; "
        "`lumi-workspaces` lists your projects). If an account is named, check `squeue --me`, and "
        "wait or cancel jobs. `sacctmgr show qos "
        "format=name,maxsubmitpu,maxjobspu,maxwall,maxtrespu` prints the limits; on LUMI, "
        "`lumi-allocations` prints the remaining hours.",
        'source': "github.com/szcf-weiya/techNotes, issue 7; "
        "github.com/jade-hpc-gpu/jade-hpc-gpu.github.io, issue 78",
    },
    {
        'name': "folder of the job not made by Slurm",
        'patterns': [("container_", "container_[pg]_join(?: failed|: open failed)")],
        'cause': "On this node Slurm gives every job a private /tmp (job_container/tmpfs), and "
        "could not create this folder or has lost it.",
        'remedy': "Leave the node out with `srun --exclude=NODE`, and tell the administrators: "
        "the disk of the node or slurmd may be the cause.",
        'source': "github.com/ArjunaCluster/ArjunaUsers, issue 123",
    },
    {
        'name': "no answer from a node",
        'patterns': [
            (
                "Socket timed out on send/recv",
                r"(?:failed|error)[^\n]{0,120}Socket timed out on send/recv",
            )
        ],
        'cause': "A node or Slurm's controller did not answer in time. The node is overloaded or "
        "down, a firewall blocks the connection, or the node rejects the sender's credentials "
        "(munge keys differ).",
        'remedy': "Try again, with fewer srun commands at the same time. If one node fails each "
        "time, leave the node out with `srun --exclude=NODE`, and tell the administrators: `munge "
        "-n | ssh NODE unmunge` shows whether the munge keys are equal.",
        'source': "github.com/mlr-org/batchtools, issue 201",
    },
    {
        'name': "Slurm's cgroups on the node",
        'patterns': ["unable to set taskset", "plugin not compiled with hwloc support"],
        'cause': "Slurm cannot assign cores or memory to the job step with cgroups: the "
        "description of the node in slurm.conf does not match the node, or Slurm's plugin was "
        "built without hwloc.",
        'remedy': "Leave the node out with `srun --exclude=NODE`, and tell the administrators: "
        "they can compare `slurmd -C` with the line of the node in slurm.conf, and restart slurmd "
        "or the node.",
        'source': "github.com/openhpc/ohpc, issue 476; github.com/lyulyul/shine-cluster, issue 29",
    },
    {
        'name': "time limit refused",
        'patterns': [
            "Requested time limit is invalid",
            (
                "requested timelimit exceeds max of ",
                r"requested timelimit exceeds max of (?:[^\n]{1,30})",
            ),
        ],
        'cause': "The job requests more time than the partition allows, requests no time although "
        "the site requires a limit, or writes the time in a form that Slurm does not read.",
        'remedy': "`sinfo -o '%P %l'` prints the limits. The forms of -t are minutes, "
        "minutes:seconds, hours:minutes:seconds and days-hours.",
        'source': "Slurm, src/common/slurm_errno.c; sbatch(1), --time",
    },
    {
        'name': "nodes not to be had now",
        'patterns': ["ReqNodeNotAvail", "Nodes required for job are DOWN"],
        'cause': "Nodes that the job needs (or names with -w) are down, drained, reserved or not "
        "in this partition. The job waits for them.",
        'remedy': "`sinfo -R` prints why nodes are unavailable; remove -w, or name other nodes. "
        "ReqNodeNotAvail often means a reservation for maintenance: a job with a shorter -t may "
        "finish before the maintenance.",
        'source': "Slurm, src/common/slurm_errno.c",
    },
    {
        'name': "memory that a node does not have",
        'patterns': ["Memory specification can not be satisfied"],
        'cause': "The job requests more memory on a node than the nodes of the partition have.",
        'remedy': "`sinfo -o '%P %m'` prints the memory of a node in MB. --mem is the memory per "
        "node, --mem-per-cpu the memory per core, and --mem=0 requests all memory of the node.",
        'source': "Slurm, src/common/slurm_errno.c; sbatch(1), --mem",
    },
    {
        'name': "node refuses the message",
        'patterns': [
            (
                "Protocol authentication error",
                r"(?:slurm\w{0,60}|srun|sbatch|salloc|squeue|sinfo|scontrol|sacct)[^\n]{0,80}: Protocol "
                r"authentication error",
            )
        ],
        'cause': "One Slurm daemon rejects the credentials of another: their munge keys, clocks "
        "or versions differ, or slurmd on that node terminated during the transfer.",
        'remedy': "Leave the node out with `srun --exclude=NODE`, and tell the administrators: "
        "they can run `munge -n | ssh NODE unmunge`, compare `date` on both nodes, and read the "
        "logs of slurmd and slurmctld.",
        'source': "Slurm, src/common/slurm_errno.c; munge(7)",
        'unless': ["munge not reached", "credential refused", "socket of Slurm's own keys"],
    },
    {
        'name': "output file of the job that cannot be written",
        'patterns': [("job_rc = 4021", r"job_rc = 4021\b")],
        'cause': "The node could not open the output file or the working folder of the job: the "
        "folder does not exist on the node, or you have no permission to write there. The job "
        "terminated before its first line (53 is not a signal here).",
        'remedy': "Run `sbatch --output=FILE --chdir=FOLDER` with folders that exist already and "
        "are the same on all nodes; Slurm creates no folders.",
        'source': "Slurm, slurmd/slurmstepd; github.com/SckyzO/slurm_exporter, issue 171",
    },
    {
        'name': "srun ended the step",
        'patterns': [
            "Job step aborted: Waiting up to",
            "DUE TO TASK FAILURE",
            ("srun: ", "srun: (?:Terminating|Force Terminated) (?:job step|StepId|Job)"),
            "error: Timed out waiting for job step to complete",
        ],
        'cause': "srun terminated the other ranks, because one rank failed or finished long "
        "before the others.",
        'remedy': "The first error of any rank is the cause; `sacct -j JOB` prints the exit "
        "codes. With --kill-on-bad-exit=0 srun lets the other ranks continue, and with --wait=0 "
        "srun waits for them forever.",
        'source': "srun(1), --kill-on-bad-exit and --wait",
        'last': True,
        'unless': ["task killed", "program failed"],
    },
    {
        'name': "sockets of srun not reached",
        'patterns': [
            "timeout waiting for task launch",
            (
                "slurm_",
                r"slurm_(?:send_recv|receive|send_node)\w{0,60}: .{0,120}(?:No route to host|Connection "
                "refused|Connection timed out|Connection reset)",
            ),
        ],
        'cause': "The node cannot connect to the srun that started the ranks, or srun cannot "
        "reach the node: a firewall blocks the connection, a name resolves to a wrong address, or "
        "the node is down.",
        'remedy': "Call srun on a node of the job (in sbatch or salloc) instead of on a login "
        "node or laptop. If one node fails, leave the node out with `srun --exclude=NODE`. "
        "Administrators must open the ports of SrunPortRange in the firewall.",
        'source': "slurm.conf(5), SrunPortRange; slurm.schedmd.com, Troubleshooting",
        'also': [("the node is down", "sinfo -R")],
    },
    {
        'name': "memory beyond the request",
        'patterns': [("memory limit", "[Ee]xceeded (?:step|job|virtual) memory limit")],
        'cause': "The ranks needed more memory on that node than the job had requested. Slurm "
        "killed some ranks, or their memory was swapped out.",
        'remedy': "Request more memory with --mem=0 (all memory of the node) or --mem-per-cpu, or "
        "start fewer ranks on a node. `seff JOB` or `sacct -j JOB -o maxrss,reqmem` prints the "
        "memory that was used.",
        'source': "sbatch(1), --mem; github.com/galaxyproject/galaxy, pull request 2309",
    },
    {
        'name': "unknown command of Slurm",
        'patterns': [
            (
                "command not found",
                r"\b(?P<command>srun|sbatch|salloc|squeue|sinfo|sacct|scontrol)(?:: | ?: )command not found",
            ),
            (
                "which: no s",
                r"which: no (?P<command>srun|sbatch|salloc|squeue|sacct|scontrol|sinfo) in \(",
            ),
        ],
        'cause': "The command {command} is not on PATH: this machine has no Slurm, the module of "
        "Slurm is not loaded, or the command was called inside a container.",
        'remedy': "Call the command on a login or compute node of the cluster, outside the "
        "container: srun starts containers, not the other way round. If Slurm is in a folder of "
        "its own, run `module load slurm`.",
        'source': "srun(1), manual",
        'unless': ["mpirun in the container"],
    },
    {
        'name': "filter of the site",
        'patterns': [
            "cli_filter plugin terminated with error",
            (
                "no longer acceptable",
                r"error: Parameter (?P<why>--\S{1,60}) (?:is )?no longer acceptable[^\n]{0,80}",
            ),
            (
                "Invalid native specification: ",
                r"Invalid native specification: (?P<why>[^\n]{1,120})",
            ),
            (
                "failed: Unspecified error",
                r"(?:sbatch|srun|salloc): error: (?!Batch job|Job sub)(?P<why>[^\n]{1,200})\n[^\n]{0,40}?"
                r"(?:sbatch|srun|salloc): error: (?!task)[^\n]{1,60} failed: Unspecified error",
            ),
            (
                ": error: ",
                r"(?:sbatch|srun|salloc): error: (?:lua|cli_filter(?:/\w+)?|job_submit(?:/\w+)?): "
                r"(?P<why>[^\n]{1,200})",
            ),
        ],
        'cause': "A rule of this cluster (job_submit, cli_filter), or the library that submits "
        "the job (DRMAA), rejects the job with these options. {why}",
        'remedy': "The line before this message says what the site requires. The documentation of "
        "the site lists the options that jobs need.",
        'source': "Slurm, cli_filter and job_submit plugins; github.com/dask/dask-jobqueue, issue "
        "632",
    },
    {
        'name': "job script lost on the node",
        'patterns': [
            (
                "slurm_script: ",
                r"execve\(\): (?P<file>\S{1,200}slurm_script): (?:No such file or directory|Permission denied)",
            ),
            (
                "mom_priv/jobs/",
                r"mom_priv/jobs/(?P<file>[\w.-]{1,60}): (?:Permission denied|No such file)",
            ),
        ],
        'cause': "The copy of your script that slurmd (or PBS) keeps on the node is missing. "
        "SlurmdSpoolDir on that node is full, was emptied, is mounted with noexec or denies "
        "access to users. {file}",
        'remedy': "Leave the node out with `srun --exclude=NODE`, and tell the administrators: "
        "they can run `df`, `findmnt -T` and `ls -ld` on SlurmdSpoolDir, then restart slurmd. Or "
        "the node lacks the interpreter in the first line of your script, which `head -1 FILE` "
        "prints.",
        'source': "github.com/ArjunaCluster/ArjunaUsers, issue 46; "
        "github.com/galaxyproject/ansible-slurm, issue 37",
    },
    {
        'name': "slurmd that finds no configuration",
        'patterns': [
            ("DNS SRV lookup failed", "fetch_config: DNS SRV lookup failed"),
            "resolve_ctls_from_dns_srv",
            "_establish_configuration: failed to load configs",
        ],
        'cause': "This machine has no slurm.conf, so Slurm requests the configuration from the "
        "controller, but receives none. No controller is named, the controller is not running "
        "yet, or the controller does not serve configurations.",
        'remedy': "Start slurmctld first, then slurmd. To name the controller, run `slurmd "
        "--conf-server HOST:6817`; the controller needs SlurmctldParameters=enable_configless. Or "
        "copy slurm.conf to /etc/slurm, or set SLURM_CONF. In a container, add --bind /etc/slurm.",
        'source': "slurm.schedmd.com, Configless Slurm; "
        "github.com/stackhpc/ansible-slurm-appliance, issue 443; "
        "github.com/GoogleCloudPlatform/cluster-toolkit, issue 1600",
        'unless': ["socket of Slurm's own keys"],
    },
    {
        'name': "socket of Slurm's own keys",
        'patterns': ["failed to connect to any sack sockets"],
        'cause': "This Slurm authenticates you with auth/slurm, and cannot reach the service of "
        "auth/slurm: sackd on login nodes, slurmd and slurmctld on their nodes. The service does "
        "not run here, or its socket is not in this container.",
        'remedy': "In a container, call Slurm's commands on the host instead, or add --bind "
        "/run/slurm. On the host, check `systemctl status sackd`; /etc/slurm/slurm.key must be "
        "the same on all machines.",
        'source': "slurm.schedmd.com, Authentication plugins, auth/slurm; "
        "github.com/SlinkyProject/slurm-operator, issue 44",
    },
    {
        'name': "job held",
        'patterns': ["launch failed requeued held"],
        'cause': "The job is held and does not start by itself. You or an administrator held the "
        "job, or its start on a node failed; then usually the node is at fault, not your script.",
        'remedy': "Exclude the node with `scontrol update JobId=JOB ExcNodeList=NODE` (`scontrol "
        "show job JOB` prints the node as BatchHost), then run `scontrol release JOB`. For "
        "JobHeldAdmin, ask the administrators.",
        'source': "squeue(1), JOB REASON CODES; github.com/burrmill/burrmill, issue 15; "
        "github.com/ArjunaCluster/ArjunaUsers, issue 56",
    },
]
