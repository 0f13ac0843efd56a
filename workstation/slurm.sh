#!/bin/bash
# A private Slurm of two nodes on this machine: slurm.sh start|stop|status
#
# Settings, keys, state, logs and the ids of its processes lie in .workstation/slurm; nothing of an installed Slurm or
# munge is read or changed. Runs as root or as an ordinary user, and serves that user only. It listens on loopback.
# start   does nothing if it runs, or if Slurm's commands reach another cluster: then that one is used
# stop    ends its jobs, then exactly the processes that start recorded
# status  exit 0 if it runs or another cluster is reached, 3 if not
set -euo pipefail
# shellcheck source=workstation/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

folder=$work/slurm
conf=$folder/slurm.conf
# One line a daemon: name, process id, start time (field 22 of /proc/PID/stat). The start time tells a process from
# another one that got its id later, after a crash or a reboot.
pids=$folder/pids
nodes=(node1 node2)
daemons=(munged slurmctld "${nodes[@]/#/slurmd-}")
launched=()

start_time() {
    local stat
    stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
    # The second field is the command in brackets and may hold blanks.
    read -ra stat <<<"${stat##*) }"
    [[ ${stat[0]} != Z ]] && echo "${stat[19]}"
}

# Prints the process id of a daemon that start recorded, if that very process still runs.
running() {
    local name pid began
    [[ -f $pids ]] || return 1
    while read -r name pid began; do
        if [[ $name == "$1" && $(start_time "$pid") == "$began" ]]; then
            echo "$pid"
            return
        fi
    done <"$pids"
    return 1
}

all_running() {
    local daemon
    for daemon in "${daemons[@]}"; do
        running "$daemon" >/dev/null || return 1
    done
}

any_running() {
    local daemon
    for daemon in "${daemons[@]}"; do
        running "$daemon" >/dev/null && return
    done
    return 1
}

# Paths of sockets may have 107 characters, and Slurm makes /sock.pmi2.<job>.<step> and the like in these folders.
# With a long project path they lie in a folder of /tmp.
run_folder() {
    local number
    if (( ${#folder} <= 60 )); then
        echo "$folder/run"
    else
        number=$(printf '%s' "$folder" | cksum | cut -d ' ' -f 1)
        echo "/tmp/osu-slurm-$(id -u)-$number"
    fi
}

# Folder for TmpFS. In /tmp, which Apptainer shows in the container: ranks of Open MPI meet in a folder that Slurm's PMIx
# makes there, and one that they cannot see ends them with a segmentation fault.
tmp_folder() {
    printf '/tmp/osu-slurm-%s-%s-tmp' "$(id -u)" "$(printf '%s' "$folder" | cksum | cut -d ' ' -f 1)"
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

# version_at_least YEAR.MONTH
version_at_least() {
    local have
    have=$("$(find_command slurmctld)" -V | sed 's/^[^0-9]*//')
    [[ $(printf '%s\n' "$1" "$have" | sort -V | head -n 1) == "$1" ]]
}

write_settings() {
    local run=$1 ports host user i
    mapfile -t ports < <(free_ports $(( 1 + ${#nodes[@]} )))
    host=$(uname -n)
    host=${host%%.*}
    user=$(id -un)
    cat >"$conf.new" <<END
# Written by workstation/slurm.sh start. Private to user $user and to this folder.
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
TmpFS=$(tmp_folder)/%n
# A plain process tree. Control groups need root and a systemd that hands them out.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
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
    if version_at_least 23.11; then
        echo 'CgroupPlugin=disabled' >"$folder/cgroup.conf"
    else
        echo 'CgroupPlugin=cgroup/v1' >"$folder/cgroup.conf"
    fi
    mv "$conf.new" "$conf"
}

# launch NAME COMMAND...: starts a daemon in a session of its own and records it. It gets no file that is open here: a
# lock of who calls this script would be held for as long as the daemon runs.
launch() {
    local name=$1 pid began
    shift
    (
        for number in /proc/self/fd/*; do
            number=${number##*/}
            (( number <= 2 )) || exec {number}>&-
        done
        exec setsid "$@"
    ) >>"$folder/log/$name.log" 2>&1 </dev/null &
    pid=$!
    began=$(start_time "$pid") || began=gone
    printf '%s %s %s\n' "$name" "$pid" "$began" >>"$pids"
    launched+=("$name")
}

# fail_with_logs TEXT: names the daemons that do not run, shows the end of their logs, stops the rest.
fail_with_logs() {
    local daemon shown=("${daemons[@]}") dead=()
    for daemon in "${daemons[@]}"; do
        running "$daemon" >/dev/null || dead+=("$daemon")
    done
    (( ${#dead[@]} == 0 )) || shown=("${dead[@]}")
    for daemon in "${shown[@]}"; do
        echo "--- $folder/log/$daemon.log" >&2
        tail -n 12 "$folder/log/$daemon.log" >&2 || true
    done
    launched=()
    stop_daemons
    die "$1${dead[*]:+ Not running any more: ${dead[*]}.} Logs: $folder/log"
}

# wait_for SECONDS COMMAND...: until COMMAND succeeds. Gives up at once when a daemon launched before has ended.
wait_for() {
    local end=$(( SECONDS + $1 )) daemon
    shift
    until "$@" >/dev/null 2>&1; do
        (( SECONDS < end )) || return 1
        for daemon in "${launched[@]}"; do
            running "$daemon" >/dev/null || return 1
        done
        sleep 0.1
    done
}

# end_unrecorded: ends daemons with this slurm.conf that nobody recorded, and says so: a start that was killed leaves one,
# and a clone that was removed without `make stop` all of them; those of the next start would share their state with them.
end_unrecorded() {
    local process words run found=0
    run=$(run_folder)
    for process in /proc/[0-9]*; do
        [[ -O $process ]] || continue
        mapfile -d '' -t words 2>/dev/null <"$process/cmdline" || continue
        [[ ${words[0]-} == *slurm* && " ${words[*]} " == *" -f $conf "* || ${words[0]-} == *munged &&
           " ${words[*]} " == *" --key-file=$run/munge.key "* ]] || continue
        kill -KILL "${process#/proc/}" 2>/dev/null || true
        found=$(( found + 1 ))
    done
    (( found == 0 )) || say "private Slurm: ended $found unrecorded daemons, left by a start that was killed"
}

munge_answers() { [[ -S $run/munge.socket ]] && munge --no-input --socket="$run/munge.socket"; }
controller_answers() { SLURM_CONF=$conf timeout 5 scontrol ping | grep -q ' is UP'; }

# True if all nodes take jobs: idle, or busy with some.
nodes_ready() {
    all_running || return 1
    local states
    states=$(SLURM_CONF=$conf timeout 5 sinfo --noheader --Node --format=%T) || return 1
    [[ $(grep -cxE 'idle|mixed|allocated|completing' <<<"$states") == "${#nodes[@]}" ]]
}

start() {
    local daemon node run name
    if all_running; then
        # A node can be down though its daemon lives, for example after the machine slept.
        if ! nodes_ready; then
            SLURM_CONF=$conf timeout 5 scontrol update NodeName=ALL State=RESUME >/dev/null 2>&1 || true
        fi
        if wait_for 10 nodes_ready; then
            say "private Slurm: already running (SLURM_CONF=$conf)"
            return
        fi
    fi
    if ! any_running && cluster_reached; then
        # env.sh takes this file as the sign of a private Slurm.
        rm -f "$conf"
        say "Slurm's commands reach a cluster already: it is used, no private Slurm is started"
        return
    fi
    for name in munged slurmctld slurmd srun sinfo scontrol; do
        find_command "$name" >/dev/null || die "no $name found. Run workstation/prerequisites.sh first."
    done

    stop_daemons
    end_unrecorded
    run=$(run_folder)
    for name in "$run" "$(tmp_folder)"; do
        [[ ! -e $name && ! -L $name ]] || [[ -O $name && ! -L $name ]] || die "$name is $(stat -c %U "$name")'s, and the" \
            "private Slurm needs a folder of that name for itself. Have it removed (by $(stat -c %U "$name") or root), or move" \
            "this clone: the name follows from its place"
    done
    # State and sockets of a run that crashed would keep its jobs and nodes.
    rm -rf "$run" "$pids" "$folder/log.old" "$(tmp_folder)"
    [[ ! -d $folder/log ]] || mv "$folder/log" "$folder/log.old"
    mkdir -p "$folder/log"
    mkdir -m 700 "$run"
    mkdir -m 700 "$(tmp_folder)"
    mkdir "$run/state"
    for node in "${nodes[@]}"; do
        mkdir -p "$run/$node" "$(tmp_folder)/$node"
    done
    [[ $run == "$folder/run" ]] || ln -sfn "$run" "$folder/run"
    (umask 077 && head -c 128 /dev/urandom >"$run/munge.key")
    write_settings "$run"

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

no_jobs() { [[ -z $(SLURM_CONF=$conf timeout 5 squeue --noheader) ]]; }

# Ends jobs, then the daemons in the reverse order of their start. Says nothing if none runs.
stop_daemons() {
    local i pid
    if all_running && [[ -f $conf ]]; then
        # A running step has a process of its own, which outlives slurmd; ended with its job.
        # The whole cluster is ours, so all of its jobs are.
        SLURM_CONF=$conf timeout 10 scancel --user="$(id -un)" >/dev/null 2>&1 || true
        wait_for 15 no_jobs || warn "jobs did not end within 15 s: $(SLURM_CONF=$conf timeout 5 squeue --noheader --format=%i | paste -sd ' ')"
    fi
    for (( i = ${#daemons[@]} - 1; i >= 0; i-- )); do
        pid=$(running "${daemons[i]}") || continue
        kill "$pid" 2>/dev/null || continue
        if ! wait_for 10 is_gone "${daemons[i]}"; then
            warn "${daemons[i]} ($pid) did not stop within 10 s and is killed"
            kill -KILL "$pid" 2>/dev/null || true
            wait_for 5 is_gone "${daemons[i]}" || die "${daemons[i]} ($pid) cannot be stopped"
        fi
    done
    end_orphan_steps
    rm -f "$pids"
}

is_gone() { ! running "$1"; }

# Ends job steps that a crash of our daemons left behind. A step's process carries our SLURM_CONF from its slurmd.
end_orphan_steps() {
    local process pid
    for process in /proc/[0-9]*; do
        [[ $(cat "$process/comm" 2>/dev/null) == slurmstepd && -O $process ]] || continue
        grep -qzxF "SLURM_CONF=$conf" "$process/environ" 2>/dev/null || continue
        pid=${process#/proc/}
        kill_descendants "$pid"
        kill -KILL "$pid" 2>/dev/null || true
    done
}

kill_descendants() {
    local child children
    read -ra children <<<"$(cat "/proc/$1/task/"*/children 2>/dev/null | tr '\n' ' ')"
    for child in "${children[@]}"; do
        kill_descendants "$child"
        kill -KILL "$child" 2>/dev/null || true
    done
}

stop() {
    local run
    if any_running; then
        stop_daemons
        say "private Slurm: stopped"
    else
        stop_daemons
        say "private Slurm: not running"
    fi
    end_unrecorded
    for run in "$(tmp_folder)" "$(run_folder)"; do  # another user may have such a name
        [[ ! -O $run || -L $run ]] || rm -rf "$run"
    done
    rm -f "$pids"
    [[ ! -L $folder/run ]] || rm -f "$folder/run"
}

status() {
    local daemon pid
    if any_running; then
        for daemon in "${daemons[@]}"; do
            if pid=$(running "$daemon"); then
                echo "$daemon: running, process $pid"
            else
                echo "$daemon: not running"
            fi
        done
        SLURM_CONF=$conf timeout 5 sinfo || true
        nodes_ready
    elif cluster_reached; then
        echo "private Slurm: not running; Slurm's commands reach another cluster"
    else
        echo "private Slurm: not running"
        return 3
    fi
}

[[ $# == 1 && $1 =~ ^(start|stop|status)$ ]] || die "usage: slurm.sh start|stop|status, got: $*"

if [[ $1 == status ]]; then
    status || exit 3
    exit 0
fi
# Two starts at once would make two clusters in one folder.
mkdir -p "$folder"
exec 9>"$folder/lock"
flock -w 120 9 || die "another slurm.sh has worked on $folder for 2 minutes"
"$1"
