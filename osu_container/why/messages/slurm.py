"""Slurm."""

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
        'cause': "This Slurm has no plugin {type}, which --mpi= or SLURM_MPI_TYPE names.",
        'remedy': "Leave out --mpi=; srun --mpi=list shows what there is. If the module itself "
        "asks for it, this is not the Slurm of its site.",
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
        'cause': "Slurm's plugin for PMIx does not find libpmix.so.",
        'remedy': "Install it on the nodes (Debian 12: libpmix-dev) and start Slurm again.",
        'source': "seen by this project, 2026-11",
    },
    {
        'name': "no controller",
        'patterns': [
            "Unable to contact slurm controller",
            "s_p_parse_file: unable to stat",
            "s_p_parse_file: cannot stat",
        ],
        'cause': "Slurm's controller does not answer, or its slurm.conf does not exist or is not "
        "readable.",
        'remedy': "On the workstation: make slurm, then . ./env.sh; on a cluster try again later.",
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
        'cause': "There is no partition of this name, or you may not use it.",
        'remedy': "sinfo -s lists them; on LUMI-G: standard-g, small-g, dev-g.",
        'source': "Slurm 22.05, seen by this project, 2026-11",
    },
    {
        'name': "unknown account",
        'patterns': ["Invalid account or account/partition combination"],
        'cause': "The account (project) is missing, misspelt, or has no right to this partition.",
        'remedy': "--account=project_46XXXXXXX, or export SLURM_ACCOUNT; on LUMI lumi-workspaces "
        "lists yours.",
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
        'cause': "The job asks for more nodes, cores, memory or GPUs than the partition has or "
        "gives to one job.",
        'remedy': "Ask for less: sinfo -o '%P %D %c %G' shows what a partition has.",
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
        'cause': "srun was called in a shell of a job that has ended; SLURM_JOB_ID is still set "
        "there.",
        'remedy': "exit that shell (salloc), or unset SLURM_JOB_ID and ask for a new job.",
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
        'cause': "srun asks for more than the job was given (nodes, tasks, memory or GPUs), or "
        "for what does not fit together. {why}",
        'remedy': "Ask for it when the job is submitted: sbatch -N, -n, --mem, --gpus-per-node; "
        "or ask srun for less.",
        'source': "Slurm 22.05, seen by this project, 2026-11",
    },
    {
        'name': "network of the step not set up",
        'patterns': ["Error configuring interconnect"],
        'cause': "Slurm could not give the step its part of the Slingshot network (VNI): the step "
        "asks for it by --network= in a way that is not allowed, overlaps another step on several "
        "nodes, or too many steps have one.",
        'remedy': "To look into a job that runs: srun --overlap --jobid=JOB -n 1 --pty bash, on "
        "one node. Leave out --network=; fewer srun at once in a job. srun --exclude=NODE if it "
        "is one node alone.",
        'source': "github.com/Lumi-supercomputer/lumi-userguide, pull request 223; "
        "github.com/ornladios/ADIOS2, issue 3439; Slurm, src/plugins/switch/hpe_slingshot",
    },
    {
        'name': "step waits for another",
        'patterns': ["step creation temporarily disabled", "step creation still disabled"],
        'cause': "Another step of the same job still has the cores (or the memory), so srun waits.",
        'remedy': "Let one step end before the next begins (wait), or srun --overlap. A step that "
        "was killed may hold them for some seconds. --mem of the first step can be what is short.",
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
        'cause': "The time limit ran out: of Slurm, or of what waits for the run. Either it is "
        "too short, or the ranks wait for each other forever.",
        'remedy': "Try the same line by hand with a longer -t. If it never ends: the same on one "
        "node, then with another provider (FI_PROVIDER; osu-explain shows the module's), shows "
        "whether the network is the cause; py-spy dump or gdb -p PID shows where a rank waits.",
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
        'cause': "The node, or what the job was given of it, had no memory left, and the kernel "
        "ended what used most.",
        'remedy': "Ask for more (--mem=0 is all of the node), start fewer ranks on a node, or "
        "give -m a smaller largest size; osu_alltoall needs ranks x size on every rank.",
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
        'remedy': "Load the module in the shell that calls srun, so that its bin is on PATH. srun "
        "starts files only, no functions or aliases of a shell. An installation must lie on a "
        "file system that the nodes see.",
        'source': "Slurm 22.05, seen by this project, 2026-11; "
        "github.com/singularityhub/singularity-hpc, issues 473 and 565",
        'also': [
            (
                "srun or sbatch has --export=NONE (or SLURM_EXPORT_ENV, SBATCH_EXPORT says so), "
                "and the ranks do not get your PATH",
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
        'cause': "Slurm's commands prove who you are by munge, and do not reach it: they were "
        "called inside a container, or munged does not run on this node.",
        'remedy': "Call srun, sbatch and sinfo outside of the container. In it they need --bind "
        "/run/munge, the host's slurm.conf and a Slurm of the same release.",
        'source': "munge(1); github.com/dun/munge, issues 118 and 124",
        'also': [
            ("munged does not run here", "munge -n | unmunge, outside of the container"),
            (
                "munge was installed twice, and looks for its socket in another folder",
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
        'cause': "A node rejects the credentials of another node: their munge keys, clocks, "
        "account numbers or releases of Slurm differ. {why}",
        'remedy': "Ask the administrators: munge -n | ssh NODE unmunge shows key and clock, srun "
        "--version on both the release. munged reads its key only when it starts. For you: srun "
        "--exclude=NODE.",
        'source': "github.com/dun/munge, issues 62, 116 and 126",
    },
    {
        'name': "binding outside of the step",
        'patterns': [
            "CPU binding outside of job step allocation",
            "Unable to satisfy cpu bind request",
        ],
        'cause': "--cpu-bind (or SLURM_CPU_BIND of an srun around this one) names cores that this "
        "step does not have, or --gpu-bind GPUs.",
        'remedy': "unset what env | grep SLURM_CPU_BIND shows, when one srun starts another. "
        "Masks such as those for LUMI-G need whole nodes: --exclusive.",
        'source': "srun(1), --cpu-bind; github.com/LLNL/ATS, issue 133",
        'also': [("the step has fewer cores than the mask", "srun bash -c 'taskset -cp $$'")],
    },
    {
        'name': "Slurm command in the container",
        'patterns': [
            (
                ": cannot open shared object file",
                r"(?P<library>libslurm\w{0,60}\.so[.\d]*): cannot open shared object file",
            )
        ],
        'cause': "A command of Slurm was called inside a container, which has not {library}.",
        'remedy': "Call it outside: srun and sbatch start containers, not the other way round. A "
        "program that must submit from inside can do so by ssh to the login node.",
        'source': "github.com/OpenEuroLLM/oellm-eval, issue 26",
    },
    {
        'name': "GPUs asked for in a way that Slurm refuses",
        'patterns': [
            "Invalid generic resource (gres) specification",
            "Invalid Trackable RESource (TRES) specification",
            "Requested GRES option unsupported by configured SelectType plugin",
        ],
        'cause': "This Slurm does not know the GPUs (or other resource) by the name or option "
        "that was used, or the partition has none.",
        'remedy': "sinfo -o '%P %G' shows the names: --gres=gpu:mi250:8 or --gpus-per-node=8 "
        "where there are some. Leave out an empty --gres=, and --gpus where only --gres is "
        "supported (or no option, where nodes are whole).",
        'source': "github.com/3dem/relion, issue 877; github.com/awslabs/awsome-distributed-ai, "
        "issue 196",
        'unless': ["more than the job has"],
    },
    {
        'name': "memory asked for in two ways",
        'patterns': [
            ("mutually exclusive", r"(?:SLURM_MEM_PER|--mem)\w{0,60}.{0,80}mutually exclusive")
        ],
        'cause': "Two variables ask for memory, of which Slurm takes one: a job was submitted "
        "from within another one, and has inherited its variables.",
        'remedy': "unset SLURM_MEM_PER_CPU SLURM_MEM_PER_GPU SLURM_MEM_PER_NODE before the inner "
        "sbatch or srun, or submit from the login node.",
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
        'cause': "Two variables of Slurm say how many cores a task has, and differ: srun was "
        "called within another job or step (salloc, an interactive shell), or --cpus-per-task was "
        "given again. {what} {why}",
        'remedy': "unset SLURM_CPUS_PER_TASK SLURM_TRES_PER_TASK (and SRUN_CPUS_PER_TASK) before "
        "srun or mpirun; or submit from a shell that is in no job.",
        'source': "Slurm, src/common/slurm_opt.c; srun(1), SLURM_CPUS_PER_TASK",
    },
    {
        'name': "limit of your account",
        'patterns': [
            ("violates accounting/QOS policy", "(?i:violates accounting/QOS) policy"),
            ("Limit", r"\b(?:QOS|Assoc)(?:Max|Grp|Min)(?!\w{0,60}Minutes)\w{1,60}Limit\b"),
        ],
        'cause': "Slurm's accounting refuses the job or lets it wait: no account (project) is "
        "named where the site wants one (LUMI), or you have more jobs, or ask for more time or "
        "nodes, than one user or project may.",
        'remedy': "sbatch --account=PROJECT (on LUMI project_46XXXXXXX; lumi-workspaces lists "
        "yours). If one is named: squeue --me, and wait or cancel some; sacctmgr show qos "
        "format=name,maxsubmitpu,maxjobspu,maxwall,maxtrespu shows the limits; on LUMI "
        "lumi-allocations whether hours are left.",
        'source': "github.com/szcf-weiya/techNotes, issue 7; "
        "github.com/jade-hpc-gpu/jade-hpc-gpu.github.io, issue 78",
    },
    {
        'name': "folder of the job not made by Slurm",
        'patterns': [("container_", "container_[pg]_join(?: failed|: open failed)")],
        'cause': "Slurm gives every job a /tmp of its own on this node (job_container/tmpfs), and "
        "has not made it or lost it.",
        'remedy': "Ask the administrators: the disk of the node or slurmd. For you: srun "
        "--exclude=NODE.",
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
        'cause': "A node or the controller of Slurm did not answer in time: it is overrun or "
        "down, a firewall blocks the connection, or it rejects the sender's credentials (munge "
        "keys differ).",
        'remedy': "Try again, and fewer srun at once. If it is always one node: srun "
        "--exclude=NODE, and tell the administrators: munge -n | ssh NODE unmunge shows whether "
        "the keys are the same.",
        'source': "github.com/mlr-org/batchtools, issue 201",
    },
    {
        'name': "Slurm's cgroups on the node",
        'patterns': ["unable to set taskset", "plugin not compiled with hwloc support"],
        'cause': "Slurm cannot give the step its cores or memory by cgroups: its description of "
        "the node (slurm.conf) is not what the node has, or its plugin was built without hwloc.",
        'remedy': "Ask the administrators: slurmd -C against the line of the node in slurm.conf; "
        "restart of slurmd or the node. For you: srun --exclude=NODE.",
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
        'cause': "The job asks for more time than the partition allows, for none where one is "
        "wanted, or in a form that Slurm does not read.",
        'remedy': "sinfo -o '%P %l' shows the limits. -t is minutes, minutes:seconds, "
        "hours:minutes:seconds or days-hours.",
        'source': "Slurm, src/common/slurm_errno.c; sbatch(1), --time",
    },
    {
        'name': "nodes not to be had now",
        'patterns': ["ReqNodeNotAvail", "Nodes required for job are DOWN"],
        'cause': "Nodes that the job needs (or names with -w) are down, drained, reserved or not "
        "in this partition; it waits for them.",
        'remedy': "sinfo -R shows why nodes are out; leave out -w, or take others. "
        "ReqNodeNotAvail is often a reservation for maintenance that a shorter -t would fit "
        "before.",
        'source': "Slurm, src/common/slurm_errno.c",
    },
    {
        'name': "memory that a node does not have",
        'patterns': ["Memory specification can not be satisfied"],
        'cause': "The job asks for more memory on a node than the nodes of the partition have.",
        'remedy': "sinfo -o '%P %m' shows megabytes a node; --mem is for the node, --mem-per-cpu "
        "for each core. --mem=0 is all there is.",
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
        "or releases differ, or slurmd there terminated during the transfer.",
        'remedy': "Ask the administrators: munge -n | ssh NODE unmunge, date on both, and the log "
        "of slurmd and slurmctld. For you: srun --exclude=NODE.",
        'source': "Slurm, src/common/slurm_errno.c; munge(7)",
        'unless': ["munge not reached", "credential refused", "socket of Slurm's own keys"],
    },
    {
        'name': "output file of the job that cannot be written",
        'patterns': [("job_rc = 4021", r"job_rc = 4021\b")],
        'cause': "The node could not open the file for the job's output, or the job's folder: it "
        "does not exist on the node, or you may not write there. The job ended before its first "
        "line (53 is no signal here).",
        'remedy': "sbatch --output=FILE --chdir=FOLDER with places that exist before and are the "
        "same on the nodes; Slurm makes no folders.",
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
        'cause': "srun ended the other ranks, because one has failed or has terminated long "
        "before the others.",
        'remedy': "The first error of any rank is the cause; sacct -j JOB shows the exit codes. "
        "--kill-on-bad-exit=0 lets the others go on, --wait=0 waits forever.",
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
        'cause': "The node cannot call back the srun that started the ranks, or srun does not "
        "reach the node: a firewall between them, a name that leads to the wrong address, or a "
        "node that is down.",
        'remedy': "Call srun on a node of the job (sbatch, salloc) instead of a login node or "
        "laptop; administrators: open the ports of SrunPortRange. srun --exclude=NODE if it is "
        "one node.",
        'source': "slurm.conf(5), SrunPortRange; slurm.schedmd.com, Troubleshooting",
        'also': [("the node is down", "sinfo -R")],
    },
    {
        'name': "memory beyond the request",
        'patterns': [("memory limit", "[Ee]xceeded (?:step|job|virtual) memory limit")],
        'cause': "The ranks needed more memory than the job had asked for on that node; Slurm "
        "ended some of them, or they were swapped out.",
        'remedy': "Ask for more: --mem=0 (all of the node), --mem-per-cpu; or fewer ranks a node. "
        "seff JOB or sacct -j JOB -o maxrss,reqmem shows what was used.",
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
        'cause': "{command} is not on PATH: this machine has no Slurm, its module is not loaded, "
        "or the command was called inside a container.",
        'remedy': "Call it on a login or compute node of the cluster, outside of the container: "
        "srun starts containers, not the other way round. If Slurm is in its own folder: module "
        "load slurm.",
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
        'cause': "A rule of this cluster (job_submit, cli_filter), or the library that hands the "
        "job in (DRMAA), refuses it as it was asked for. {why}",
        'remedy': "The line above shows what the site wants; its documentation has the options "
        "that jobs need there.",
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
        'cause': "The copy of your script that slurmd (or PBS) keeps on the node is missing: its "
        "SlurmdSpoolDir is full, was cleaned, is on a file system mounted noexec or is closed to "
        "users. {file}",
        'remedy': "srun --exclude=NODE, and tell the administrators: df, findmnt -T and ls -ld of "
        "SlurmdSpoolDir there, then restart slurmd. The other reason: the interpreter in the "
        "first line of your script is not on the node (head -1 FILE).",
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
        'cause': "There is no slurm.conf here, so Slurm asks the controller for it, and does not "
        "get it: no controller is named, it is not up yet, or it gives none.",
        'remedy': "Start slurmctld first, then slurmd again. Name the controller: slurmd "
        "--conf-server HOST:6817, with SlurmctldParameters=enable_configless there; or a copy of "
        "slurm.conf in /etc/slurm, or SLURM_CONF. In a container: --bind /etc/slurm.",
        'source': "slurm.schedmd.com, Configless Slurm; "
        "github.com/stackhpc/ansible-slurm-appliance, issue 443; "
        "github.com/GoogleCloudPlatform/cluster-toolkit, issue 1600",
        'unless': ["socket of Slurm's own keys"],
    },
    {
        'name': "socket of Slurm's own keys",
        'patterns': ["failed to connect to any sack sockets"],
        'cause': "This Slurm proves who you are by auth/slurm, and the service that does it "
        "(sackd on login nodes, slurmd and slurmctld on theirs) does not run here, or its socket "
        "is not in this container.",
        'remedy': "Outside of a container: systemctl status sackd; /etc/slurm/slurm.key must be "
        "the same on all machines. In one: call Slurm's commands outside, or --bind /run/slurm.",
        'source': "slurm.schedmd.com, Authentication plugins, auth/slurm; "
        "github.com/SlinkyProject/slurm-operator, issue 44",
    },
    {
        'name': "job held",
        'patterns': ["launch failed requeued held"],
        'cause': "The job is held and does not start by itself: by you, by an administrator, or "
        "because its start on a node failed (the node, not your script, is usually at fault).",
        'remedy': "scontrol release JOB, with scontrol update JobId=JOB ExcNodeList=NODE before "
        "(scontrol show job JOB names the node as BatchHost). JobHeldAdmin: ask the "
        "administrators.",
        'source': "squeue(1), JOB REASON CODES; github.com/burrmill/burrmill, issue 15; "
        "github.com/ArjunaCluster/ArjunaUsers, issue 56",
    },
]
