"""Messages of Slurm."""

from typing import Any, Dict, List

ENTRIES: List[Dict[str, Any]] = [
    {
        'name': "Slurm does not have the requested MPI type",
        'patterns': [
            ("Invalid MPI type '", r"Invalid MPI type '(?P<type>[^'\n]+)'"),
            ("cannot find mpi plugin for mpi/", r"cannot find mpi plugin for mpi/(?P<type>\S+)"),
            (
                "Couldn't find the specified plugin name for mpi/",
                r"Couldn't find the specified plugin name for mpi/(?P<type>\S+)",
            ),
        ],
        'cause': "The option --mpi= or the variable SLURM_MPI_TYPE requests the MPI plugin "
        "{type}, which this Slurm does not have.",
        'remedy': "Remove --mpi= from the srun command; `srun --mpi=list` prints the available "
        "types. If the module sets SLURM_MPI_TYPE to this type, the module was made for another "
        "system.",
        'source': "Slurm 22.05, seen by this project, 2026-11",
    },
    {
        'name': "Slurm does not find the PMIx library",
        'patterns': [
            (
                "can not load PMIx library",
                r"mpi/pmix\w{0,60}: init: .{0,200}can not load PMIx library",
            )
        ],
        'cause': "Slurm's PMIx plugin does not find libpmix.so.",
        'remedy': "Install the library on the nodes (Debian 12: `apt install libpmix-dev`), then "
        "restart slurmd with `systemctl restart slurmd`.",
        'source': "seen by this project, 2026-11",
    },
    {
        'name': "Slurm's controller does not answer",
        'patterns': [
            "Unable to contact slurm controller",
            "s_p_parse_file: unable to stat",
            "s_p_parse_file: cannot stat",
        ],
        'cause': "Slurm's controller does not answer, or slurm.conf does not exist or is not "
        "readable.",
        'remedy': "On the workstation with the Slurm of this project, run `make slurm`, then `. "
        "./env.sh`. On a cluster, try again later.",
        'source': "Slurm 22.05, seen by this project, 2026-11",
        'unless': ["the service of auth/slurm cannot be reached", "Slurm finds no configuration"],
    },
    {
        'name': "the partition does not exist or is not permitted",
        'patterns': [
            ("invalid partition specified: ", r"invalid partition specified: (?:\S+)"),
            "Invalid partition name specified",
            "No partition specified or system default partition",
        ],
        'cause': "No partition has the name that you requested, or you have no permission to use "
        "the partition.",
        'remedy': "`sinfo -s` lists the partitions; the partitions of LUMI-G are standard-g, "
        "small-g and dev-g.",
        'source': "Slurm 22.05, seen by this project, 2026-11",
    },
    {
        'name': "the account is not valid",
        'patterns': ["Invalid account or account/partition combination"],
        'cause': "The Slurm account (the project) is missing, is misspelt, or has no access to "
        "this partition.",
        'remedy': "Add --account=project_46XXXXXXX with the name of your project, or run `export "
        "SLURM_ACCOUNT=project_46XXXXXXX`. On LUMI, `lumi-workspaces` lists your projects.",
        'source': "Slurm, src/common/slurm_errno.c",
    },
    {
        'name': "the job requests more than the partition has",
        'patterns': [
            "Requested node configuration is not available",
            "Node count specification invalid",
            ("PartitionNodeLimit", r"\bPartitionNodeLimit\b"),
            ("BadConstraints", r"\bBadConstraints\b"),
        ],
        'cause': "The job requests more nodes, cores, memory or GPUs than the partition has, or "
        "than a single job may use in the partition.",
        'remedy': "Request less: `sinfo -o '%P %D %c %G'` prints the nodes, cores and GPUs of "
        "each partition.",
        'source': "Slurm 22.05, seen by this project, 2026-11",
        'unless': [
            "srun requests more than the job has",
            "the job requests more memory than a node has",
        ],
    },
    {
        'name': "the job has finished",
        'patterns': [
            (
                "Unable to create step for job ",
                r"Unable to create step for job \d+: (?:Job/step already completing.*|Invalid job id specified|Job "
                "has expired|Expired or invalid job.*)",
            ),
            ("Unable to confirm allocation for job ", r"Unable to confirm allocation for job \d+"),
        ],
        'cause': "srun was called in a shell of a job that has finished. The variable "
        "SLURM_JOB_ID is still set in this shell.",
        'remedy': "Leave the shell of salloc with `exit`, or run `unset SLURM_JOB_ID`, and "
        "request a new job.",
        'source': "Slurm 22.05, seen by this project, 2026-11; Slurm, src/common/slurm_errno.c",
    },
    {
        'name': "srun requests more than the job has",
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
        'name': "Slurm cannot set up the network of the job step",
        'patterns': ["Error configuring interconnect"],
        'cause': "Slurm could not give the job step access to the Slingshot network (a VNI). The "
        "step uses an option --network= that is not allowed, the step overlaps with another step "
        "on several nodes, or too many steps have a VNI.",
        'remedy': "Remove --network= from the srun command, and run fewer srun commands at the "
        "same time in a job. To inspect a running job, use `srun --overlap --jobid=JOB -n 1 --pty "
        "bash` on a single node. If only a single node fails, exclude the node with `srun "
        "--exclude=NODE`.",
        'source': "github.com/Lumi-supercomputer/lumi-userguide, pull request 223; "
        "github.com/ornladios/ADIOS2, issue 3439; Slurm, src/plugins/switch/hpe_slingshot",
    },
    {
        'name': "the job step waits for another step",
        'patterns': ["step creation temporarily disabled", "step creation still disabled"],
        'cause': "Another step of the same job still uses the cores (or the memory), so srun "
        "waits.",
        'remedy': "Let the first step finish before the next step begins (`wait` in the job "
        "script), or add --overlap to srun. A killed step may keep its cores for some seconds. If "
        "the first step uses too much memory, reduce --mem of the first step.",
        'source': "Slurm 22.05, seen by this project, 2026-11; github.com/llnl/smith, issue 688; "
        "github.com/DeiC-HPC/BitBulldozersLab, 2025",
    },
    {
        'name': "a time limit was reached",
        'patterns': [
            "DUE TO TIME LIMIT",
            ("did not end within ", r"it did not end within [\d.]+ s"),
            "PBS: job killed: walltime",
            "TERM_RUNLIMIT",
            "exceeded wallclock limit",
        ],
        'cause': "A time limit was reached: the time limit of the Slurm job, or the time limit of "
        "the command that waits for the run. Either the limit is too short, or the ranks wait for "
        "each other forever.",
        'remedy': "Run the same command by hand with a longer -t. If the command never finishes, "
        "find out whether the network is the cause: run the command on a single node, then on "
        "several nodes with another libfabric provider (`export FI_PROVIDER=NAME`; `osu-explain "
        "FI_PROVIDER` shows the module's value). `py-spy dump --pid PID` or `gdb -p PID` shows "
        "where a rank waits.",
        'source': "Slurm 22.05, seen by this project, 2026-11",
    },
    {
        'name': "the node or job has no memory left",
        'patterns': [
            (": Out Of Memory", r"tasks? \S{1,80}: Out Of Memory"),
            ("kill", "oom[-_]kill(?:er| event|:|_process)"),
            "OOM Killed",
            ("OUT_OF_ME", r"(?<![\w.])OUT_OF_ME(?:MORY|\+)(?= +\d+:\d|\W*$)"),
        ],
        'cause': "The node, or the job's share of the node's memory, had no memory left, and the "
        "kernel killed the process with the highest memory use.",
        'remedy': "Request more memory (--mem=0 requests all memory of the node), start fewer "
        "ranks on a node, or give the benchmark a smaller maximum message size with -m. "
        "osu_alltoall needs on every rank the number of ranks times the message size.",
        'source': "github.com/nextflow-io/nextflow, issue 5932; "
        "github.com/snakemake/snakemake-executor-plugin-slurm, pull request 371",
    },
    {
        'name': "the node does not find the program",
        'patterns': [
            (
                "execve(): ",
                r"execve\(\): (?P<program>\S+)(?<!slurm_script): (?P<why>No such file or directory|Permission "
                "denied)",
            )
        ],
        'cause': "The node cannot start {program} for this reason: {why}.",
        'remedy': "Load the module in the shell that calls srun, so that the program is on PATH. "
        "srun starts only files, not shell functions or aliases. Install the program on a file "
        "system that all nodes see.",
        'source': "Slurm 22.05, seen by this project, 2026-11; "
        "github.com/singularityhub/singularity-hpc, issues 473 and 565",
        'also': [
            (
                "srun or sbatch has --export=NONE (or the variable SLURM_EXPORT_ENV or "
                "SBATCH_EXPORT has the value NONE), so the ranks do not get your PATH",
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
            (
                "munge.socket",
                r"munge\.socket\S{0,60}: (?:No such file|Connection refused|Permission denied)",
            ),
        ],
        'cause': "Slurm's commands authenticate you through munge, but munge cannot be reached: "
        "the command was called inside a container, or the daemon munged does not run on this "
        "node.",
        'remedy': "Call srun, sbatch and sinfo outside the container. To call these commands "
        "inside the container, add --bind /run/munge, bind the host's slurm.conf, and install the "
        "same version of Slurm in the image.",
        'source': "munge(1); github.com/dun/munge, issues 118 and 124",
        'also': [
            ("munged does not run on this node", "munge -n | unmunge, outside the container"),
            (
                "two versions of munge are installed, and the commands look for the socket in "
                "another folder than that of munged",
                "munge -h | grep socket; ls -ld /run/munge /var/run/munge (permissions 0755; of "
                "the socket 0777)",
            ),
        ],
    },
    {
        'name': "a node rejects the credentials of another node",
        'patterns': [
            ("Munge decode failed: ", r"Munge decode failed: (?P<why>[\w ]{1,80})"),
            "Application launch failed: Invalid job credential",
            "Job credential expired",
        ],
        'cause': "A node rejects the credentials of another node, because the munge keys, clocks, "
        "user IDs or Slurm versions of the two nodes differ. {why}",
        'remedy': "Exclude the node with `srun --exclude=NODE`, and tell the administrators: "
        "`munge -n | ssh NODE unmunge` checks the munge keys and clocks, and `srun --version` on "
        "both nodes prints the versions of Slurm. After a change of its key, the daemon munged "
        "must be restarted.",
        'source': "github.com/dun/munge, issues 62, 116 and 126",
    },
    {
        'name': "the binding names cores that the job step lacks",
        'patterns': [
            "CPU binding outside of job step allocation",
            "Unable to satisfy cpu bind request",
        ],
        'cause': "--cpu-bind (or SLURM_CPU_BIND from an enclosing srun) names cores that do not "
        "belong to this job step, or --gpu-bind names GPUs that do not belong to this job step.",
        'remedy': "If an srun command starts another srun, unset the variables that `env | grep "
        "SLURM_CPU_BIND` prints. CPU masks for whole nodes, such as those for LUMI-G, need whole "
        "nodes: add --exclusive.",
        'source': "srun(1), --cpu-bind; github.com/LLNL/ATS, issue 133",
        'also': [("the job step has fewer cores than the mask", "srun bash -c 'taskset -cp $$'")],
    },
    {
        'name': "a Slurm command was called in the container",
        'patterns': [
            (
                ": cannot open shared object file",
                r"(?P<library>libslurm\w{0,60}\.so[.\d]*): cannot open shared object file",
            )
        ],
        'cause': "A Slurm command was called inside a container, but the container does not "
        "contain {library}, which the command needs.",
        'remedy': "Call srun or sbatch on the host, outside the container: srun and sbatch then "
        "start the container. A program inside a container can submit jobs only through ssh to a "
        "login node.",
        'source': "github.com/OpenEuroLLM/oellm-eval, issue 26",
    },
    {
        'name': "Slurm does not accept the request for GPUs",
        'patterns': [
            "Invalid generic resource (gres) specification",
            "Invalid Trackable RESource (TRES) specification",
            "Requested GRES option unsupported by configured SelectType plugin",
        ],
        'cause': "This Slurm does not accept the name or option with which the GPUs (or another "
        "resource) were requested, or the partition has no GPUs.",
        'remedy': "`sinfo -o '%P %G'` prints the partitions and the names of their GPUs: request, "
        "for example, --gres=gpu:mi250:8 or --gpus-per-node=8 in a partition with GPUs. Remove "
        "--gres= if its value is empty. If the site supports only --gres, remove --gpus; if the "
        "site allocates whole nodes, use no GPU option.",
        'source': "github.com/3dem/relion, issue 877; github.com/awslabs/awsome-distributed-ai, "
        "issue 196",
        'unless': ["srun requests more than the job has"],
    },
    {
        'name': "two settings request memory",
        'patterns': [
            ("mutually exclusive", r"(?:SLURM_MEM_PER|--mem)\w{0,60}.{0,80}mutually exclusive")
        ],
        'cause': "Two variables set the memory of the job, and Slurm accepts only one of the two "
        "variables: you submitted the job from within another job, and the new job has inherited "
        "the variables of the other job.",
        'remedy': "Run `unset SLURM_MEM_PER_CPU SLURM_MEM_PER_GPU SLURM_MEM_PER_NODE` before you "
        "call sbatch or srun inside a job, or submit the job from a login node.",
        'source': "github.com/mehta-lab/recOrder, issue 482",
    },
    {
        'name': "two settings request cores per task",
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
        "srun or mpirun, or submit the job from a shell that does not belong to a job.",
        'source': "Slurm, src/common/slurm_opt.c; srun(1), SLURM_CPUS_PER_TASK",
    },
    {
        'name': "a limit of your account is reached, or no account is given",
        'patterns': [
            ("violates accounting/QOS policy", "(?i:violates accounting/QOS) policy"),
            ("Limit", r"\b(?:QOS|Assoc)(?:Max|Grp|Min)(?!\w{0,60}Minutes)\w{1,60}Limit\b"),
        ],
        'cause': "Slurm's accounting rejects the job or makes the job wait. Either the job names "
        "no account (project) although the site requires an account (LUMI does), or you exceed "
        "the number of jobs, the time or the nodes that a user or project may have.",
        'remedy': "Add the account: `sbatch --account=PROJECT` (on LUMI project_46XXXXXXX; "
        "`lumi-workspaces` lists your projects). If the job names an account, list your jobs with "
        "`squeue --me`, and wait or cancel jobs. `sacctmgr show qos "
        "format=name,maxsubmitpu,maxjobspu,maxwall,maxtrespu` prints the limits; on LUMI, "
        "`lumi-allocations` prints the remaining hours.",
        'source': "github.com/szcf-weiya/techNotes, issue 7; "
        "github.com/jade-hpc-gpu/jade-hpc-gpu.github.io, issue 78",
    },
    {
        'name': "Slurm cannot create the private /tmp of the job",
        'patterns': [("container_", "container_[pg]_join(?: failed|: open failed)")],
        'cause': "On this node Slurm gives every job a private folder /tmp (plugin "
        "job_container/tmpfs). Slurm could not create this folder, or the folder was lost.",
        'remedy': "Exclude the node with `srun --exclude=NODE`, and tell the administrators: the "
        "disk of the node or slurmd may be the cause.",
        'source': "github.com/ArjunaCluster/ArjunaUsers, issue 123",
    },
    {
        'name': "a node or Slurm's controller does not answer",
        'patterns': [
            (
                "Socket timed out on send/recv",
                r"(?:failed|error)[^\n]{0,120}Socket timed out on send/recv",
            )
        ],
        'cause': "A node or Slurm's controller did not answer in time. The node is overloaded or "
        "down, a firewall blocks the connection, or the node rejects the credentials of the node "
        "that asks (their munge keys differ).",
        'remedy': "Try again, with fewer srun commands at the same time. If the same node fails "
        "each time, exclude the node with `srun --exclude=NODE`, and tell the administrators: "
        "`munge -n | ssh NODE unmunge` shows whether the munge keys are equal.",
        'source': "github.com/mlr-org/batchtools, issue 201",
    },
    {
        'name': "Slurm cannot use cgroups on the node",
        'patterns': ["unable to set taskset", "plugin not compiled with hwloc support"],
        'cause': "Slurm cannot assign cores or memory to the job step with cgroups: the "
        "description of the node in slurm.conf does not match the node, or Slurm's plugin was "
        "built without hwloc.",
        'remedy': "Exclude the node with `srun --exclude=NODE`, and tell the administrators: they "
        "can compare the output of `slurmd -C` with the line of the node in slurm.conf, and "
        "restart slurmd or the node.",
        'source': "github.com/openhpc/ohpc, issue 476; github.com/lyulyul/shine-cluster, issue 29",
    },
    {
        'name': "Slurm does not accept the time limit",
        'patterns': [
            "Requested time limit is invalid",
            (
                "requested timelimit exceeds max of ",
                r"requested timelimit exceeds max of (?:[^\n]{1,30})",
            ),
        ],
        'cause': "The job requests more time than the partition allows, requests no time although "
        "the site requires a time limit, or gives the time in a format that Slurm does not accept.",
        'remedy': "`sinfo -o '%P %l'` prints the time limit of each partition. The formats of -t "
        "are minutes, minutes:seconds, hours:minutes:seconds and days-hours.",
        'source': "Slurm, src/common/slurm_errno.c; sbatch(1), --time",
    },
    {
        'name': "nodes that the job needs are not available",
        'patterns': ["ReqNodeNotAvail", "Nodes required for job are DOWN"],
        'cause': "Nodes that the job needs (or that you requested with -w) are down, drained, "
        "reserved or not in this partition. The job waits for these nodes.",
        'remedy': "`sinfo -R` prints why nodes are not available. Remove -w, or name other nodes. "
        "ReqNodeNotAvail often means a reservation for maintenance: a job with a shorter time "
        "limit (-t) may finish before the maintenance.",
        'source': "Slurm, src/common/slurm_errno.c",
    },
    {
        'name': "the job requests more memory than a node has",
        'patterns': ["Memory specification can not be satisfied"],
        'cause': "The job requests more memory per node than the nodes of the partition have.",
        'remedy': "`sinfo -o '%P %m'` prints the memory of a node in MB. --mem requests memory "
        "per node, --mem-per-cpu memory per core, and --mem=0 all memory of the node.",
        'source': "Slurm, src/common/slurm_errno.c; sbatch(1), --mem",
    },
    {
        'name': "a Slurm daemon rejects the credentials of another daemon",
        'patterns': [
            (
                "Protocol authentication error",
                r"(?:slurm\w{0,60}|srun|sbatch|salloc|squeue|sinfo|scontrol|sacct)[^\n]{0,80}: Protocol "
                r"authentication error",
            )
        ],
        'cause': "A Slurm daemon rejects the credentials of another Slurm daemon: the munge keys, "
        "clocks or versions of the two nodes differ. Or slurmd on the other node terminated "
        "during the transfer.",
        'remedy': "Exclude the node with `srun --exclude=NODE`, and tell the administrators: they "
        "can run `munge -n | ssh NODE unmunge`, compare `date` on both nodes, and read the logs "
        "of slurmd and slurmctld.",
        'source': "Slurm, src/common/slurm_errno.c; munge(7)",
        'unless': [
            "munge cannot be reached",
            "a node rejects the credentials of another node",
            "the service of auth/slurm cannot be reached",
        ],
    },
    {
        'name': "the job's output file cannot be written",
        'patterns': [("job_rc = 4021", r"job_rc = 4021\b")],
        'cause': "The node could not open the output file or the working folder of the job: the "
        "folder does not exist on the node, or you have no permission to write to the folder. The "
        "job terminated before the first line of its script (the number 53 in the message is not "
        "a signal).",
        'remedy': "Run `sbatch --output=FILE --chdir=FOLDER` with folders that exist already and "
        "are the same on all nodes; Slurm creates no folders.",
        'source': "Slurm, slurmd/slurmstepd; github.com/SckyzO/slurm_exporter, issue 171",
    },
    {
        'name': "srun terminated the other ranks",
        'patterns': [
            "Job step aborted: Waiting up to",
            "DUE TO TASK FAILURE",
            ("srun: ", "srun: (?:Terminating|Force Terminated) (?:job step|StepId|Job)"),
            "error: Timed out waiting for job step to complete",
        ],
        'cause': "srun terminated the other ranks of the job step, because one rank failed or "
        "finished long before the other ranks.",
        'remedy': "The first error of any rank is the cause; `sacct -j JOB` prints the exit "
        "codes. With --kill-on-bad-exit=0, srun does not terminate the other ranks when a rank "
        "fails; with --wait=0, srun waits without limit for the other ranks when a rank has "
        "finished.",
        'source': "srun(1), --kill-on-bad-exit and --wait",
        'last': True,
        'unless': ["a task was killed", "the program failed"],
    },
    {
        'name': "a node and srun cannot connect",
        'patterns': [
            "timeout waiting for task launch",
            (
                "slurm_",
                r"slurm_(?:send_recv|receive|send_node)\w{0,60}: .{0,120}(?:No route to host|Connection "
                "refused|Connection timed out|Connection reset)",
            ),
        ],
        'cause': "The node cannot connect to the srun process that started the ranks, or srun "
        "cannot connect to the node: a firewall blocks the connection, a host name resolves to a "
        "wrong address, or the node is down.",
        'remedy': "Call srun on a node of the job (in sbatch or salloc) instead of on a login "
        "node or laptop. If only a single node fails, exclude the node with `srun "
        "--exclude=NODE`. Administrators must open the ports of SrunPortRange in the firewall.",
        'source': "slurm.conf(5), SrunPortRange; slurm.schedmd.com, Troubleshooting",
        'also': [("the node is down", "sinfo -R")],
    },
    {
        'name': "the job used more memory than requested",
        'patterns': [("memory limit", "[Ee]xceeded (?:step|job|virtual) memory limit")],
        'cause': "The ranks needed more memory on the node than the job had requested. Slurm "
        "killed some ranks, or the node moved memory of the ranks to swap.",
        'remedy': "Request more memory with --mem=0 (all memory of the node) or --mem-per-cpu, or "
        "start fewer ranks on a node. `seff JOB` or `sacct -j JOB -o maxrss,reqmem` prints the "
        "memory that was used.",
        'source': "sbatch(1), --mem; github.com/galaxyproject/galaxy, pull request 2309",
    },
    {
        'name': "the Slurm command is not on PATH",
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
        'cause': "The command {command} is not on PATH: this machine has no Slurm, the module "
        "that provides Slurm is not loaded, or the command was called inside a container.",
        'remedy': "Call the command on a login or compute node of the cluster, outside the "
        "container, and let srun start the container. If Slurm is in a separate folder, run "
        "`module load slurm`.",
        'source': "srun(1), manual",
        'unless': ["mpirun was called in the container"],
    },
    {
        'name': "a rule of the site rejects the job",
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
        "the job (DRMAA), rejects the job because of its options. {why}",
        'remedy': "The line before this message names the requirement of the site. The "
        "documentation of the site lists the options that jobs need.",
        'source': "Slurm, cli_filter and job_submit plugins; github.com/dask/dask-jobqueue, issue "
        "632",
    },
    {
        'name': "the job script is missing on the node",
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
        'cause': "The copy of your job script that slurmd (or PBS) keeps on the node is missing. "
        "SlurmdSpoolDir on the node is full, was emptied, is mounted with noexec or denies access "
        "to users. Or the node lacks the interpreter that the first line of your script names. "
        "{file}",
        'remedy': "Check the interpreter in the first line of your script with `head -1 FILE`. "
        "Exclude the node with `srun --exclude=NODE`, and tell the administrators: they can run "
        "`df`, `findmnt -T` and `ls -ld` for SlurmdSpoolDir, then restart slurmd.",
        'source': "github.com/ArjunaCluster/ArjunaUsers, issue 46; "
        "github.com/galaxyproject/ansible-slurm, issue 37",
    },
    {
        'name': "Slurm finds no configuration",
        'patterns': [
            ("DNS SRV lookup failed", "fetch_config: DNS SRV lookup failed"),
            "resolve_ctls_from_dns_srv",
            "_establish_configuration: failed to load configs",
        ],
        'cause': "This machine has no slurm.conf, so Slurm requests the configuration from the "
        "controller, but receives no configuration. No setting names the controller, the "
        "controller is not running yet, or the controller does not provide configurations.",
        'remedy': "Start slurmctld first, then slurmd. To name the controller, run `slurmd "
        "--conf-server HOST:6817`; the controller needs SlurmctldParameters=enable_configless. Or "
        "copy slurm.conf to /etc/slurm, or set SLURM_CONF. In a container, add --bind /etc/slurm.",
        'source': "slurm.schedmd.com, Configless Slurm; "
        "github.com/stackhpc/ansible-slurm-appliance, issue 443; "
        "github.com/GoogleCloudPlatform/cluster-toolkit, issue 1600",
        'unless': ["the service of auth/slurm cannot be reached"],
    },
    {
        'name': "the service of auth/slurm cannot be reached",
        'patterns': ["failed to connect to any sack sockets"],
        'cause': "This Slurm authenticates you with the plugin auth/slurm, and cannot reach the "
        "service of auth/slurm: sackd on login nodes, slurmd on compute nodes, slurmctld on the "
        "node of the controller. The service does not run on this node, or the socket of the "
        "service is not in this container.",
        'remedy': "In a container, call Slurm's commands on the host instead, or add --bind "
        "/run/slurm. On the host, check `systemctl status sackd`. All machines must have the same "
        "/etc/slurm/slurm.key.",
        'source': "slurm.schedmd.com, Authentication plugins, auth/slurm; "
        "github.com/SlinkyProject/slurm-operator, issue 44",
    },
    {
        'name': "the job is held",
        'patterns': ["launch failed requeued held"],
        'cause': "The job is held and does not start until somebody releases the job. You or an "
        "administrator held the job, or Slurm held the job because its start on a node failed; "
        "after a failed start, usually the node is the cause, not your script.",
        'remedy': "Exclude the node on which the start failed with `scontrol update JobId=JOB "
        "ExcNodeList=NODE` (`scontrol show job JOB` prints this node as BatchHost), then run "
        "`scontrol release JOB`. If the reason is JobHeldAdmin, ask the administrators to release "
        "the job.",
        'source': "squeue(1), JOB REASON CODES; github.com/burrmill/burrmill, issue 15; "
        "github.com/ArjunaCluster/ArjunaUsers, issue 56",
    },
]
