"""Define the error messages of Slurm for `osu-container why`."""

from typing import Any, Dict, List

ENTRIES: List[Dict[str, Any]] = [
    {
        'name': "Slurm does not have the requested MPI type",
        'patterns': [
            r"Invalid MPI type '(?P<type>[^'\n]+)'",
            r"cannot find mpi plugin for mpi/(?P<type>\S+)",
            r"Couldn't find the specified plugin name for mpi/(?P<type>\S+)",
        ],
        'cause': "The option --mpi= or the variable SLURM_MPI_TYPE requests the Slurm plugin for "
        "the MPI type {type}, but this Slurm has no plugin for {type}.",
        'remedy': "Remove --mpi= from the srun command, or choose a type that `srun --mpi=list` "
        "prints. If an osu-container module sets SLURM_MPI_TYPE to the missing type, the module "
        "was installed for another system.",
        'source': "Slurm 22.05, seen by this project, 2026-11",
    },
    {
        'name': "Slurm does not find the PMIx library",
        'patterns': [r"mpi/pmix\w{0,60}: init: .{0,200}can not load PMIx library"],
        'cause': "Slurm's PMIx plugin does not find the library libpmix.so on the node.",
        'remedy': "Administrators can install the PMIx library on the nodes (Debian 12: `apt "
        "install libpmix-dev`), and then restart slurmd with `systemctl restart slurmd`.",
        'source': "seen by this project, 2026-11",
    },
    {
        'name': "Slurm's controller does not answer",
        'patterns': [
            "Unable to contact slurm controller",
            "s_p_parse_file: unable to stat",
            "s_p_parse_file: cannot stat",
        ],
        'cause': "Slurm's controller (slurmctld) does not answer, or the command cannot read "
        "Slurm's configuration file slurm.conf.",
        'remedy': "On a cluster, call the Slurm command again later. On a workstation with the "
        "Slurm that `make slurm` of osu-container sets up, run `make slurm`, then `. ./env.sh`.",
        'source': "Slurm 22.05, seen by this project, 2026-11",
        'unless': ["the service of auth/slurm cannot be reached", "Slurm finds no configuration"],
    },
    {
        'name': "the partition does not exist or is not permitted",
        'patterns': [
            r"invalid partition specified: (?:\S+)",
            "Invalid partition name specified",
            "No partition specified or system default partition",
        ],
        'cause': "The requested Slurm partition does not exist, or you have no permission to use "
        "the partition.",
        'remedy': "`sinfo -s` lists the partitions of the cluster. On LUMI-G, the partitions are "
        "standard-g, small-g and dev-g.",
        'source': "Slurm 22.05, seen by this project, 2026-11",
    },
    {
        'name': "the account is not valid",
        'patterns': ["Invalid account or account/partition combination"],
        'cause': "The job names no Slurm account (the project), the name of the account is "
        "misspelt, or the account has no access to this partition.",
        'remedy': "Add --account=project_46XXXXXXX with the name of your project to the srun or "
        "sbatch command, or run `export SLURM_ACCOUNT=project_46XXXXXXX`. On LUMI, "
        "`lumi-workspaces` lists your projects.",
        'source': "Slurm, src/common/slurm_errno.c",
    },
    {
        'name': "the job requests more than the partition has",
        'patterns': [
            "Requested node configuration is not available",
            "Node count specification invalid",
            r"\bPartitionNodeLimit\b",
            r"\bBadConstraints\b",
        ],
        'cause': "The job requests more nodes, cores, memory or GPUs than the partition has, or "
        "than the partition allows for a single job.",
        'remedy': "Request fewer nodes, cores or GPUs, or less memory. `sinfo -o '%P %D %c %G'` "
        "prints the number of nodes, cores and GPUs of each partition.",
        'source': "Slurm 22.05, seen by this project, 2026-11",
        'unless': [
            "srun requests more than the job has",
            "the job requests more memory than a node has",
        ],
    },
    {
        'name': "the job has finished",
        'patterns': [
            r"Unable to create step for job \d+: (?:Job/step already completing.*|Invalid job id specified|Job "
            "has expired|Expired or invalid job.*)",
            r"Unable to confirm allocation for job \d+",
        ],
        'cause': "srun was called in a shell that belongs to a finished job. The variable "
        "SLURM_JOB_ID in this shell still has the number of the finished job.",
        'remedy': "Leave the shell that salloc started with `exit`, or run `unset SLURM_JOB_ID`. "
        "Then request a new job.",
        'source': "Slurm 22.05, seen by this project, 2026-11; Slurm, src/common/slurm_errno.c",
    },
    {
        'name': "srun requests more than the job has",
        'patterns': [
            r"Only allocated (?:\d+) nodes asked for (?:\d+)",
            r"Unable to create step for job \w+: (?P<why>(?:Requested (?:node|partition|topology) "
            "config|Requested nodes|Required node|More processors|Memory (?:required|specification)|Invalid "
            "(?:generic resource|Trackable|node name|feature|GRES)|Insufficient GRES|Duplicate generic|Node "
            "count|Task count|CPU count|Task distribution|Cannot request more threads|RestrictedCoresPerGPU|No "
            r"suitable topology|Job violates|Requested GRES)[^\n]{0,120})",
            r"Step requested GRES \((?P<why>[^)\n]{1,60}\)?)\) not found in the job",
        ],
        'cause': "The srun command requests more nodes, tasks, memory or GPUs than the job has, "
        "or an impossible combination of options. {why}",
        'remedy': "Request the nodes, tasks, memory and GPUs when you submit the job (sbatch "
        "with -N, -n, --mem, --gpus-per-node), or request less with srun.",
        'source': "Slurm 22.05, seen by this project, 2026-11",
    },
    {
        'name': "Slurm cannot set up the network of the job step",
        'patterns': ["Error configuring interconnect"],
        'cause': "Slurm could not give the job step access to the Slingshot network (Slurm "
        "assigns a VNI, a virtual network ID, to each step). Either the srun command has a "
        "forbidden option --network=, the step overlaps with another step on several nodes, or "
        "too many steps have a VNI.",
        'remedy': "Remove --network= from the srun command, and run fewer srun commands at the "
        "same time in the job. To inspect a running job, use `srun --overlap --jobid=JOB -n 1 "
        "--pty bash` on a single node. If only a single node fails, exclude the node with `srun "
        "--exclude=NODE`.",
        'source': "github.com/Lumi-supercomputer/lumi-userguide, pull request 223; "
        "github.com/ornladios/ADIOS2, issue 3439; Slurm, src/plugins/switch/hpe_slingshot",
    },
    {
        'name': "the job step waits for another step",
        'patterns': ["step creation temporarily disabled", "step creation still disabled"],
        'cause': "srun waits, because another step of the same job still uses the requested "
        "cores or memory.",
        'remedy': "Let the first srun command finish before the second srun command starts "
        "(`wait` in the job script), or add --overlap to srun. After a kill, a step may keep its "
        "cores for some seconds. If the first srun command uses all memory of the job, reduce "
        "--mem of the first srun command.",
        'source': "Slurm 22.05, seen by this project, 2026-11; github.com/llnl/smith, issue 688; "
        "github.com/DeiC-HPC/BitBulldozersLab, 2025",
    },
    {
        'name': "a time limit was reached",
        'patterns': [
            "DUE TO TIME LIMIT",
            r"it did not end within [\d.]+ s",
            "PBS: job killed: walltime",
            "TERM_RUNLIMIT",
            "exceeded wallclock limit",
        ],
        'cause': "The run reached a time limit: the limit of the batch job, or the limit of the "
        "command that waits for the run. Either the time limit is too short, or the ranks wait "
        "for each other forever.",
        'remedy': "Run the same program by hand with a longer time limit (-t). If the program "
        "never finishes, find out whether the network is the cause: run the program on a single "
        "node, then on several nodes with another libfabric provider (`export FI_PROVIDER=NAME`; "
        "`osu-explain FI_PROVIDER` shows the module's value). `py-spy dump --pid PID` or `gdb -p "
        "PID` shows where a rank waits.",
        'source': "Slurm 22.05, seen by this project, 2026-11",
    },
    {
        'name': "the node or job has no memory left",
        'patterns': [
            "[Ee]xceeded (?:step|job|virtual) memory limit",
            r"tasks? \S{1,80}: Out Of Memory",
            "oom[-_]kill(?:er| event|:|_process)",
            "OOM Killed",
            r"(?<![\w.])OUT_OF_ME(?:MORY|\+)(?= +\d+:\d|\W*$)",
        ],
        'cause': "The memory of the node, or the job's share of the memory, was used up. The kernel "
        "or Slurm then killed the process with the highest memory use.",
        'remedy': "Request more memory (--mem=0 requests all memory of the node), start fewer "
        "ranks on a node, or give the benchmark a smaller maximum message size with -m. On every "
        "rank, osu_alltoall needs memory for the number of ranks times the message size.",
        'source': "github.com/nextflow-io/nextflow, issue 5932; "
        "github.com/snakemake/snakemake-executor-plugin-slurm, pull request 371",
    },
    {
        'name': "the node does not find the program",
        'patterns': [
            r"execve\(\): (?P<program>\S+)(?<!slurm_script): (?P<why>No such file or directory|Permission "
            "denied)"
        ],
        'cause': "The node cannot start the program {program}: {why}.",
        'remedy': "Load the module of the program in the shell in which you call srun, so that "
        "PATH contains the program. srun starts only files, not shell functions or aliases. "
        "Install the program on a file system that all nodes can read.",
        'source': "Slurm 22.05, seen by this project, 2026-11; "
        "github.com/singularityhub/singularity-hpc, issues 473 and 565",
        'also': [
            (
                "srun or sbatch runs with --export=NONE (or the variable SLURM_EXPORT_ENV or "
                "SBATCH_EXPORT is NONE), so the ranks do not get your PATH",
                "env | grep _EXPORT; srun --export=ALL PROGRAM",
            )
        ],
        'unless': ["the shell does not know the command module"],
    },
    {
        'name': "munge cannot be reached",
        'patterns': [
            "Munge encode failed",
            "cannot find auth plugin for auth/munge",
            "If munged is up, restart with",
            r"munge\.socket\S{0,60}: (?:No such file|Connection refused|Permission denied)",
        ],
        'cause': "Slurm's commands use the authentication service munge, but cannot connect to "
        "munge. Either the command was called inside a container, or the munge daemon munged "
        "does not run on this node.",
        'remedy': "Call srun, sbatch and sinfo outside the container. To call Slurm's commands "
        "inside the container, add --bind /run/munge, bind the host's slurm.conf, and install "
        "the host's version of Slurm in the image.",
        'source': "munge(1); github.com/dun/munge, issues 118 and 124",
        'also': [
            ("munged does not run on this node", "munge -n | unmunge, outside the container"),
            (
                "two versions of munge are installed, and Slurm's commands and the daemon munged "
                "use different folders for the munge socket",
                "munge -h | grep socket; ls -ld /run/munge /var/run/munge (the folder needs "
                "permissions 0755, the socket needs 0777)",
            ),
        ],
    },
    {
        'name': "a node rejects the credentials of another node",
        'patterns': [
            r"(?:slurm\w{0,60}|srun|sbatch|salloc|squeue|sinfo|scontrol|sacct)[^\n]{0,80}: Protocol "
            r"authentication error",
            r"Munge decode failed: (?P<why>[\w ]{1,80})",
            "Application launch failed: Invalid job credential",
            "Job credential expired",
        ],
        'cause': "A node or daemon rejects the Slurm credentials of another node or daemon, "
        "because the munge keys, clocks, user IDs or Slurm versions of the two nodes differ. {why}",
        'remedy': "Exclude the node with `srun --exclude=NODE`, and tell the administrators: "
        "`munge -n | ssh NODE unmunge` checks the munge keys and clocks, and `srun --version` on "
        "each node prints the version of Slurm. After a change of the munge key, administrators "
        "must restart the daemon munged.",
        'source': "github.com/dun/munge, issues 62, 116 and 126; Slurm, src/common/slurm_errno.c",
        'unless': ["munge cannot be reached", "the service of auth/slurm cannot be reached"],
    },
    {
        'name': "the binding names cores that the job step lacks",
        'patterns': [
            "CPU binding outside of job step allocation",
            "Unable to satisfy cpu bind request",
        ],
        'cause': "The option --cpu-bind (or SLURM_CPU_BIND, which an enclosing srun sets) names "
        "cores that do not belong to this job step. Or the option --gpu-bind names GPUs that do "
        "not belong to this job step.",
        'remedy': "If an srun command starts another srun, unset the variables that `env | grep "
        "SLURM_CPU_BIND` prints. A CPU mask for a whole node, such as the masks for LUMI-G, "
        "works only if the job has the whole node: add --exclusive.",
        'source': "srun(1), --cpu-bind; github.com/LLNL/ATS, issue 133",
        'also': [
            ("the job step has fewer cores than the CPU mask", "srun bash -c 'taskset -cp $$'")
        ],
    },
    {
        'name': "a library of Slurm is missing",
        'patterns': [r"(?P<library>libslurm\w{0,60}\.so[.\d]*): cannot open shared object file"],
        'cause': "A Slurm command or plugin needs the library {library} of Slurm, but the loader "
        "does not find {library}. In a container, usually only the command was bound from the "
        "host. Outside a container, Slurm is not installed completely.",
        'remedy': "Call srun or sbatch on the host, not in a container, and let srun or "
        "sbatch start the container. A program inside a container can submit jobs only through "
        "ssh to a login node.",
        'source': "github.com/OpenEuroLLM/oellm-eval, issue 26",
    },
    {
        'name': "Slurm does not accept the request for GPUs",
        'patterns': [
            r"Invalid generic resource \(gres\) specification",
            r"Invalid Trackable RESource \(TRES\) specification",
            "Requested GRES option unsupported by configured SelectType plugin",
        ],
        'cause': "Slurm does not accept the name or the option in the request for GPUs (or for "
        "another generic resource), or the requested partition has no GPUs.",
        'remedy': "`sinfo -o '%P %G'` prints the partitions and the names of their GPUs. "
        "Request, for example, --gres=gpu:mi250:8 or --gpus-per-node=8 in a partition with GPUs. "
        "Remove an empty option --gres=. If the site supports only --gres, remove --gpus. If the "
        "site always allocates whole nodes, use no GPU option.",
        'source': "github.com/3dem/relion, issue 877; github.com/awslabs/awsome-distributed-ai, "
        "issue 196",
        'unless': ["srun requests more than the job has"],
    },
    {
        'name': "two Slurm settings contradict each other",
        'patterns': [
            r"(?<![\w-])(?P<what>[\w-]{1,40}) set by two different environment variables "
            r"(?P<why>[^\n]{1,120})",
            r"(?:SLURM_MEM_PER|--mem)\w{0,60}.{0,80}mutually exclusive",
        ],
        'cause': "Two Slurm settings request different memory, or different numbers of cores per "
        "task. Usually you submitted the job inside another job, and the new job has inherited "
        "the variables of the other job. The variables that set {what}: {why}",
        'remedy': "Run `unset SLURM_MEM_PER_CPU SLURM_MEM_PER_GPU SLURM_MEM_PER_NODE "
        "SLURM_CPUS_PER_TASK SLURM_TRES_PER_TASK SRUN_CPUS_PER_TASK` before you call sbatch or "
        "srun inside a job. Or submit the new job from a login node.",
        'source': "github.com/mehta-lab/recOrder, issue 482; Slurm, src/common/slurm_opt.c",
    },
    {
        'name': "a limit of your account is reached, or no account is given",
        'patterns': [
            "(?i:violates accounting/QOS) policy",
            r"\b(?:QOS|Assoc)(?:Max|Grp|Min)(?!\w{0,60}Minutes)\w{1,60}Limit\b",
        ],
        'cause': "Slurm rejects the job or makes the job wait. Either the job names no account "
        "(project) on a site that requires an account, such as LUMI, or you have reached a limit "
        "of your user or project (number of jobs, time or nodes).",
        'remedy': "Name your account with `sbatch --account=PROJECT` (on LUMI project_46XXXXXXX; "
        "`lumi-workspaces` lists your projects). If the job already names an account, list your "
        "jobs with `squeue --me`, and wait or cancel jobs. `sacctmgr show qos "
        "format=name,maxsubmitpu,maxjobspu,maxwall,maxtrespu` prints the limits. On LUMI, "
        "`lumi-allocations` prints the remaining hours.",
        'source': "github.com/szcf-weiya/techNotes, issue 7; "
        "github.com/jade-hpc-gpu/jade-hpc-gpu.github.io, issue 78",
    },
    {
        'name': "Slurm cannot create the private /tmp of the job",
        'patterns': ["container_[pg]_join(?: failed|: open failed)"],
        'cause': "The Slurm plugin job_container/tmpfs gives every job on this node a private "
        "folder /tmp. Slurm could not create the private folder /tmp, or the folder was deleted.",
        'remedy': "Exclude the node with `srun --exclude=NODE`, and tell the administrators: the "
        "cause may be the disk of the node or the daemon slurmd.",
        'source': "github.com/ArjunaCluster/ArjunaUsers, issue 123",
    },
    {
        'name': "Slurm cannot use cgroups on the node",
        'patterns': ["unable to set taskset", "plugin not compiled with hwloc support"],
        'cause': "Slurm cannot assign cores or memory to the job step with cgroups. Either the "
        "entry of the node in slurm.conf does not match the hardware of the node, or Slurm's "
        "plugin was built without hwloc.",
        'remedy': "Exclude the node with `srun --exclude=NODE`, and tell the administrators. "
        "Administrators can compare the output of `slurmd -C` with the entry of the node in "
        "slurm.conf, and restart slurmd or the node.",
        'source': "github.com/openhpc/ohpc, issue 476; github.com/lyulyul/shine-cluster, issue 29",
    },
    {
        'name': "Slurm does not accept the time limit",
        'patterns': [
            "Requested time limit is invalid",
            r"requested timelimit exceeds max of (?:[^\n]{1,30})",
        ],
        'cause': "The time limit of the job is longer than the partition allows, is missing "
        "although the site requires a time limit, or has a format that Slurm does not accept.",
        'remedy': "`sinfo -o '%P %l'` prints the maximum time limit of each partition. Set the "
        "time limit with -t in minutes, minutes:seconds, hours:minutes:seconds or days-hours.",
        'source': "Slurm, src/common/slurm_errno.c; sbatch(1), --time",
    },
    {
        'name': "nodes that the job needs are not available",
        'patterns': ["ReqNodeNotAvail", "Nodes required for job are DOWN"],
        'cause': "The job waits for nodes that are down, drained, reserved or not in the "
        "requested partition. The option -w of the job may name the unavailable nodes.",
        'remedy': "`sinfo -R` prints why nodes are not available. Remove -w from the command, or "
        "name other nodes with -w. ReqNodeNotAvail often means that nodes are reserved for "
        "maintenance: a job with a shorter time limit (-t) may finish before the maintenance.",
        'source': "Slurm, src/common/slurm_errno.c",
    },
    {
        'name': "the job requests more memory than a node has",
        'patterns': ["Memory specification can not be satisfied"],
        'cause': "The job requests more memory per node than the nodes of the partition have.",
        'remedy': "`sinfo -o '%P %m'` prints the memory per node in MB for each partition. --mem "
        "requests memory per node, --mem-per-cpu requests memory per core, and --mem=0 requests "
        "all memory of the node.",
        'source': "Slurm, src/common/slurm_errno.c; sbatch(1), --mem",
    },
    {
        'name': "the job's output file cannot be written",
        'patterns': [r"job_rc = 4021\b"],
        'cause': "The node could not open the output file or the working folder of the job: the "
        "folder does not exist on the node, or you have no permission to write to the folder. "
        "The job terminated before the first line of the job script. The number 53 in the "
        "message is not a signal.",
        'remedy': "Run `sbatch --output=FILE --chdir=FOLDER`. The working folder and the folder "
        "of the output file must exist on all nodes before the job starts, because Slurm creates "
        "no folders.",
        'source': "Slurm, slurmd/slurmstepd; github.com/SckyzO/slurm_exporter, issue 171",
    },
    {
        'name': "srun terminated the other ranks",
        'patterns': [
            "Job step aborted: Waiting up to",
            "DUE TO TASK FAILURE",
            "srun: (?:Terminating|Force Terminated) (?:job step|StepId|Job)",
            "error: Timed out waiting for job step to complete",
        ],
        'cause': "srun terminated the remaining ranks of the job step, because a rank failed, a "
        "rank finished long before the other ranks, or the job was cancelled.",
        'remedy': "Look for the first error that a rank printed; `sacct -j JOB` prints the exit "
        "codes. With --kill-on-bad-exit=0, srun does not terminate the other ranks after a "
        "failed rank. With --wait=0, srun waits without limit for the other ranks after a "
        "finished rank.",
        'source': "srun(1), --kill-on-bad-exit and --wait",
        'last': True,
        'unless': ["a rank was killed", "the program failed"],
    },
    {
        'name': "parts of Slurm cannot connect to each other",
        'patterns': [
            r"(?:failed|error)[^\n]{0,120}Socket timed out on send/recv",
            "timeout waiting for task launch",
            r"slurm_(?:send_recv|receive|send_node)\w{0,60}: .{0,120}(?:No route to host|Connection "
            "refused|Connection timed out|Connection reset)",
        ],
        'cause': "Slurm's commands, its controller and the compute nodes could not connect to each "
        "other in time: the controller or a node is overloaded or down, a firewall blocks the "
        "connection, a host name resolves to a wrong address, or the munge keys differ.",
        'remedy': "Repeat the command. If srun fails again, call srun on a node of the job (in "
        "sbatch or salloc) instead of on a login node or laptop. If only a single node fails, "
        "exclude the node with `srun --exclude=NODE`. Administrators must open the port range "
        "SrunPortRange of slurm.conf in the firewall.",
        'source': "slurm.conf(5), SrunPortRange; slurm.schedmd.com, Troubleshooting",
        'also': [("the node is down", "sinfo -R")],
    },
    {
        'name': "the Slurm command is not on PATH",
        'patterns': [
            r"\b(?P<command>srun|sbatch|salloc|squeue|sinfo|sacct|scontrol)(?:: | ?: )command not found",
            r"which: no (?P<command>srun|sbatch|salloc|squeue|sacct|scontrol|sinfo) in \(",
        ],
        'cause': "The Slurm command {command} is not on PATH: this machine has no Slurm, the "
        "module that provides Slurm is not loaded, or {command} was called inside a container.",
        'remedy': "Call the Slurm command on a login or compute node of the cluster, outside the "
        "container, and let srun start the container. If the cluster provides Slurm as a module, "
        "run `module load slurm`.",
        'source': "srun(1), manual",
        'unless': ["mpirun does not find srun"],
    },
    {
        'name': "a rule of the site rejects the job",
        'patterns': [
            "cli_filter plugin terminated with error",
            r"error: Parameter (?P<why>--\S{1,60}) (?:is )?no longer acceptable[^\n]{0,80}",
            r"Invalid native specification: (?P<why>[^\n]{1,120})",
            r"(?:sbatch|srun|salloc): error: (?!Batch job|Job sub)(?P<why>[^\n]{1,200})\n[^\n]{0,40}?"
            r"(?:sbatch|srun|salloc): error: (?!task)[^\n]{1,60} failed: Unspecified error",
            r"(?:sbatch|srun|salloc): error: (?:lua|cli_filter(?:/\w+)?|job_submit(?:/\w+)?): "
            r"(?P<why>[^\n]{1,200})",
        ],
        'cause': "A site rule in Slurm (a job_submit or cli_filter plugin), or the library DRMAA "
        "that submits the job, rejects the options of the job. {why}",
        'remedy': "Read the error line before this message: the line names the option that the "
        "site requires or forbids. The documentation of the site lists the options that jobs "
        "need.",
        'source': "Slurm, cli_filter and job_submit plugins; github.com/dask/dask-jobqueue, issue "
        "632",
    },
    {
        'name': "the job script is missing on the node",
        'patterns': [
            r"execve\(\): (?P<file>\S{1,200}slurm_script): (?:No such file or directory|Permission denied)",
            r"mom_priv/jobs/(?P<file>[\w.-]{1,60}): (?:Permission denied|No such file)",
        ],
        'cause': "The node cannot start {file}, its copy of your job script. The folder of the "
        "copy (SlurmdSpoolDir of slurmd, mom_priv/jobs of PBS) is full, was emptied, is mounted "
        "with noexec or denies access to users. Or the node lacks the interpreter in the first "
        "line of your job script.",
        'remedy': "Check the interpreter in the first line of your job script with `head -1 "
        "FILE`. Exclude the node with `srun --exclude=NODE`, and tell the administrators. "
        "Administrators can run `df`, `findmnt -T` and `ls -ld` for SlurmdSpoolDir, then restart "
        "slurmd.",
        'source': "github.com/ArjunaCluster/ArjunaUsers, issue 46; "
        "github.com/galaxyproject/ansible-slurm, issue 37",
    },
    {
        'name': "Slurm finds no configuration",
        'patterns': [
            "fetch_config: DNS SRV lookup failed",
            "resolve_ctls_from_dns_srv",
            "_establish_configuration: failed to load configs",
        ],
        'cause': "This machine has no slurm.conf, so the Slurm command or daemon requested the "
        "configuration from Slurm's controller, but received no configuration. Either no setting "
        "names the controller, the controller is not running, or the controller does not provide "
        "configurations.",
        'remedy': "Start slurmctld first, then slurmd. To name the controller, run `slurmd "
        "--conf-server HOST:6817`; the controller needs SlurmctldParameters=enable_configless. "
        "Or copy slurm.conf to /etc/slurm, or set SLURM_CONF to the path of slurm.conf. In a "
        "container, add --bind /etc/slurm.",
        'source': "slurm.schedmd.com, Configless Slurm; "
        "github.com/stackhpc/ansible-slurm-appliance, issue 443; "
        "github.com/GoogleCloudPlatform/cluster-toolkit, issue 1600",
        'unless': ["the service of auth/slurm cannot be reached"],
    },
    {
        'name': "the service of auth/slurm cannot be reached",
        'patterns': ["failed to connect to any sack sockets"],
        'cause': "Slurm's authentication plugin auth/slurm cannot reach its service: sackd on "
        "login nodes, slurmd on compute nodes, or slurmctld on the node of the controller. "
        "Either the service does not run on this node, or the container does not contain the "
        "socket of the service.",
        'remedy': "If you call Slurm's commands in a container, call the commands on the host "
        "instead, or add --bind /run/slurm. On the host, check the service with `systemctl "
        "status sackd`. All machines must have the same key file /etc/slurm/slurm.key.",
        'source': "slurm.schedmd.com, Authentication plugins, auth/slurm; "
        "github.com/SlinkyProject/slurm-operator, issue 44",
    },
    {
        'name': "the job is held",
        'patterns': ["launch failed requeued held"],
        'cause': "The job is held: the job does not start until somebody releases the job. "
        "Either you or an administrator held the job, or Slurm held the job after a failed start "
        "on a node. After a failed start, usually the node is the cause, not your script.",
        'remedy': "`scontrol show job JOB` prints as BatchHost the node on which the start "
        "failed. Exclude this node with `scontrol update JobId=JOB ExcNodeList=NODE`, then run "
        "`scontrol release JOB`. If the reason is JobHeldAdmin, ask the administrators to "
        "release the job.",
        'source': "squeue(1), JOB REASON CODES; github.com/burrmill/burrmill, issue 15; "
        "github.com/ArjunaCluster/ArjunaUsers, issue 56",
    },
]
