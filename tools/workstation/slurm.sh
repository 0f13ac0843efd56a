#!/bin/bash
# A private Slurm of two nodes on this machine: slurm.sh start|stop
#
# Settings and logs are in .workstation/slurm, keys and state in a folder of /tmp; nothing of an installed Slurm or munge is
# read or changed. Runs as root or as an ordinary user, and serves that user only. It listens on loopback.
# start   does nothing if it runs
# stop    ends its jobs, then its daemons
set -euo pipefail
# shellcheck source=tools/workstation/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

folder=$(readlink -m "$work/slurm")
conf=$folder/slurm.conf
nodes=(node1 node2)
launched=()
# In /tmp, because paths of sockets may have 107 characters, and because Apptainer shows /tmp in the container: ranks of
# Open MPI meet in a folder that Slurm's PMIx makes in TmpFS, and end with a segmentation fault if they cannot see it.
run=/tmp/osu-slurm-$(id -u)-$(cksum <<<"$folder" | cut -d ' ' -f 1)

# find_daemons: prints the process ids of the daemons that were started with our slurm.conf or our key of munge.
find_daemons() {
    local process words word
    for process in /proc/[0-9]*; do
        [[ -O $process ]] || continue
        mapfile -d '' -t words 2>/dev/null <"$process/cmdline" || continue
        [[ ${words[0]-} =~ (munged|slurmctld|slurmd)$ ]] || continue
        for word in "${words[@]#--key-file=}"; do
            if [[ $word == "$conf" || $word == "$run/munge.key" || $word -ef $conf || $word -ef $folder/run/munge.key ]]; then
                echo "${process#/proc/}"
                break
            fi
        done
    done
}

# More for a moment, while slurmd starts a step.
all_running() { (( $(find_daemons | wc -l) >= 2 + ${#nodes[@]} )); }
none_running() { [[ -z $(find_daemons) ]]; }
munge_answers() { [[ -S $run/munge.socket ]] && munge --no-input --socket="$run/munge.socket"; }
controller_answers() { SLURM_CONF=$conf timeout 5 scontrol ping | grep -q ' is UP'; }
no_jobs() { [[ -z $(SLURM_CONF=$conf timeout 5 squeue --noheader) ]]; }

# True if all nodes take jobs: idle, or busy with some.
nodes_ready() {
    local states
    states=$(SLURM_CONF=$conf timeout 5 sinfo --noheader --Node --format=%T) || return 1
    [[ $(grep -cxE 'idle|mixed|allocated|completing' <<<"$states") == "${#nodes[@]}" ]]
}

# wait_for SECONDS COMMAND...: until COMMAND succeeds. Gives up when a daemon that this script launched has exited.
wait_for() {
    local end=$(( SECONDS + $1 )) pid
    shift
    until "$@" >/dev/null 2>&1; do
        (( SECONDS < end )) || return 1
        for pid in "${launched[@]}"; do
            kill -0 "$pid" 2>/dev/null || return 1
        done
        sleep 0.1
    done
}

# Prints COUNT ports of loopback that nobody listens on. Below 32768, so that no outgoing connection takes them.
free_ports() {
    local port count=$1
    for (( port = 20000 + RANDOM % 8000; count > 0; port++ )); do
        if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
            echo "$port"
            count=$(( count - 1 ))
        fi
    done
}

# Writes the program that Slurm runs before each task. It gives each rank of a step its own share of the processors: without
# that, two ranks at times share a core for seconds, and a round trip then takes milliseconds. Processors of one core stay
# together. Ranks outnumbering the processors share them evenly. Slurm's own plugin would bind the ranks of both nodes to
# the same processors.
write_task_prolog() {
    local allowed
    allowed=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status | tr , '\n' |
        while IFS=- read -r first last; do seq "$first" "${last:-$first}"; done)
    cat >"$folder/task_prolog" <<END
#!/bin/bash
# Written by tools/workstation/slurm.sh start: binds the task to its share of the processors.
processors=($(lscpu --parse=CORE,CPU | grep -v '^#' | sort -t , -k 1,1n -k 2,2n | cut -d , -f 2 | grep -xFf <(echo "$allowed") |
        paste -sd ' '))
count=\${#processors[@]}
tasks=\${SLURM_STEP_NUM_TASKS:-1}  # not set for a batch script, which starts the ranks of several steps
begin=\$(( SLURM_PROCID * count / tasks ))
share=\$(( (SLURM_PROCID + 1) * count / tasks - begin ))
IFS=,
exec taskset -cp "\${processors[*]:begin:share > 0 ? share : 1}" "\$SLURM_TASK_PID" >/dev/null 2>&1
END
    chmod +x "$folder/task_prolog"
}

write_settings() {
    local ports host user version i
    mapfile -t ports < <(free_ports $(( 1 + ${#nodes[@]} )))
    host=$(uname -n)
    host=${host%%.*}
    user=$(id -un)
    cat >"$conf.new" <<END
# Written by tools/workstation/slurm.sh start. Private to user $user and to this folder.
ClusterName=workstation
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=${ports[0]}
SlurmUser=$user
SlurmdUser=$user
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
AuthType=auth/munge
AuthInfo=socket=$run/munge.socket
StateSaveLocation=$run/state
SlurmdSpoolDir=$run/%n
SlurmctldPidFile=$run/slurmctld.pid
SlurmdPidFile=$run/%n.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd-%n.log
# Two slurmd on one machine: what tasks of one node put into TmpFS must not meet that of the other.
TmpFS=$run/tmp/%n
# A plain process tree. Control groups need root and a systemd that hands them out.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
TaskProlog=$folder/task_prolog
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
# Modules choose by SLURM_MPI_TYPE. A default here would hide that one does not.
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
KillWait=5
# sbatch --wait asks every 2 seconds then; by itself it asks after 2, 8 and then every 32 (_job_wait in sbatch.c).
MinJobAge=4
# The machine may have fewer processors than the nodes say: many ranks a node is what is tried here, not speed.
SlurmdParameters=config_overrides
$(for i in "${!nodes[@]}"; do
    echo "NodeName=${nodes[i]} NodeHostname=$host NodeAddr=127.0.0.1 Port=${ports[i + 1]} CPUs=16 State=UNKNOWN"
done)
PartitionName=main Nodes=ALL Default=YES DefaultTime=60 MaxTime=1-00:00:00 State=UP
# MPICH names its shared memory after the job, and an aborted job leaves its own in /dev/shm: the ids of another start, or of
# another clone that started at the same time, must not come again.
FirstJobId=$(( (RANDOM << 15 | RANDOM) % 60000000 + 1 ))
END
    # Every slurmd loads a plugin for control groups, though nothing here uses one. Left to itself it stops where none
    # are mounted, and asks systemd for one where version 2 is. "disabled" is known from 23.11 on; before that, the
    # plugin for version 1 does nothing until it is asked.
    version=$("$(find_command slurmctld)" -V | sed 's/^[^0-9]*//')
    if [[ $(printf '%s\n' 23.11 "$version" | sort -V | head -n 1) == 23.11 ]]; then
        echo 'CgroupPlugin=disabled' >"$folder/cgroup.conf"
    else
        echo 'CgroupPlugin=cgroup/v1' >"$folder/cgroup.conf"
    fi
    mv "$conf.new" "$conf"
}

# launch NAME COMMAND...: starts a daemon in a session of its own. It gets no file that is open here: a lock of who calls
# this script would be held for as long as the daemon runs.
launch() {
    local name=$1
    shift
    (
        for number in /proc/self/fd/*; do
            number=${number##*/}
            (( number <= 2 )) || exec {number}>&-
        done
        exec setsid "$@"
    ) >>"$folder/log/$name.log" 2>&1 </dev/null &
    launched+=($!)
}

# fail_with_logs TEXT: shows the end of each log and stops what runs.
fail_with_logs() {
    tail -n 12 "$folder"/log/*.log >&2
    stop_daemons
    die "$1 Logs: $folder/log"
}

start() {
    local node name
    if all_running; then
        # A node can be down though its daemon lives, for example after the machine slept.
        nodes_ready || SLURM_CONF=$conf timeout 5 scontrol update NodeName=ALL State=RESUME >/dev/null 2>&1 || true
        if wait_for 10 nodes_ready; then
            say "private Slurm: already running (SLURM_CONF=$conf)"
            return
        fi
    fi
    for name in munged slurmctld slurmd srun sinfo scontrol; do
        find_command "$name" >/dev/null || die "no $name found. Run tools/workstation/prerequisites.sh first."
    done

    stop_daemons
    # State and sockets of a run that crashed would keep its jobs and nodes.
    rm -rf "$run" "$folder/run" "$folder/log"
    mkdir -p "$folder/log"
    mkdir -m 700 "$run"
    ln -s "$run" "$folder/run"
    mkdir "$run/state" "$run/tmp"
    for node in "${nodes[@]}"; do
        mkdir "$run/$node" "$run/tmp/$node"
    done
    (umask 077 && head -c 128 /dev/urandom >"$run/munge.key")
    write_task_prolog
    write_settings

    say "starting a private Slurm with ${#nodes[@]} nodes, ${nodes[0]} to ${nodes[-1]}"
    # --force: munged refuses folders that a group may write, as home folders under umask 002 are. The key can be read
    # by this user only, and the folder of key and socket opened by this user only.
    launch munged "$(find_command munged)" --foreground --force --num-threads=2 --key-file="$run/munge.key" \
        --socket="$run/munge.socket" --pid-file="$run/munge.pid" --seed-file="$run/munge.seed" \
        --log-file="$folder/log/munged-messages.log"
    wait_for 10 munge_answers || fail_with_logs "munged does not answer."
    export SLURM_CONF=$conf
    launch slurmctld "$(find_command slurmctld)" -D -f "$conf"
    wait_for 20 controller_answers || fail_with_logs "slurmctld does not answer."
    for node in "${nodes[@]}"; do
        # PMIx in Slurm would tell the ranks that they are on the machine of this name, and Slurm that they are on $node:
        # Open MPI finds no peers then, and from the third rank of a node on MPI_Init fails ("num local peers").
        launch "slurmd-$node" env "PMIX_HOSTNAME=$node" "$(find_command slurmd)" -D -f "$conf" -N "$node"
    done
    wait_for 30 nodes_ready ||
        fail_with_logs "the nodes are not ready ($(sinfo --noheader --Node --format='%N %T' 2>&1 | paste -sd ,))."
    note "ready; 'export SLURM_CONF=$conf' or '. ./env.sh' to use it"
}

# stop_daemons: ends jobs, then the daemons. Says nothing if none runs.
stop_daemons() {
    launched=()
    if all_running; then
        # A running step has a process of its own, which outlives slurmd; ended with its job.
        # The whole cluster is ours, so all of its jobs are.
        SLURM_CONF=$conf timeout 10 scancel --user="$(id -un)" >/dev/null 2>&1 || true
        wait_for 15 no_jobs || warn "jobs did not end within 15 s"
    fi
    find_daemons | xargs -r kill 2>/dev/null || true
    wait_for 10 none_running || find_daemons | xargs -r kill -KILL 2>/dev/null || true
}

stop() {
    if none_running; then
        say "private Slurm: not running"
    else
        stop_daemons
        say "private Slurm: stopped"
    fi
    [[ ! -O $run || -L $run ]] || rm -rf "$run"
    rm -rf "$folder/run"
}

[[ $# == 1 && $1 =~ ^(start|stop)$ ]] || die "usage: slurm.sh start|stop, got: $*"
# Two starts at once would make two clusters in one folder.
mkdir -p "$folder"
exec 9>"$folder/lock"
flock -w 120 9 || die "another slurm.sh has worked on $folder for 2 minutes"
"$1"
