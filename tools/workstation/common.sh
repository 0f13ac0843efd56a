# shellcheck shell=bash
# Paths and messages that the scripts of this folder share. Sourced, never run.

project=$(CDPATH='' cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
# What make demo makes lies in this one folder, so that make clean can remove it.
# shellcheck disable=SC2034  # used by the scripts that source this file
work=$project/.workstation
# Much of it is run: nobody else writes to it, whatever the umask is.
umask o-w

say() { printf '==> %s\n' "$*"; }
note() { printf '    %s\n' "$*"; }
warn() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() { warn "$@"; exit 1; }

# EasyBuild splits lists of paths at colons and commas, Lmod at colons, and slurm.conf has no quoting: # begins a comment
# in it, % stands for a name, \ joins lines. make takes $ for a variable.
case $project in
    *[[:space:],:#%\\\"\$\`]*)
        die "the path of this folder has a space, or one of the characters , : # % \\ \" \$ \` in it: '$project'. Move or clone it to a path without." ;;
esac

# find_command NAME: path of a command. Daemons are in sbin, which an ordinary user's PATH lacks on Debian.
find_command() { PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin command -v "$1" 2>/dev/null; }

# end_step GROUP: ends all processes of a process group. After SIGINT, apt-get first completes a call of dpkg.
end_step() {
    local signal
    for signal in INT TERM KILL; do
        kill "-$signal" -- "-$1" 2>/dev/null || return 0
        for _ in {1..300}; do
            kill -0 -- "-$1" 2>/dev/null || return 0
            sleep 0.1
        done
    done
}

# run_logged LOG TEXT COMMAND...: runs a long step with its output in .workstation/log/LOG.log.
# Shows its last line every 10 s. A failing step shows the end of its log.
run_logged() {
    local log=$work/log/$1.log text=$2 begin=$SECONDS last=$SECONDS rc=0 child line
    shift 2
    mkdir -p "$work/log"
    say "$text"
    set -m # the step and its children become a process group
    "$@" >"$log" 2>&1 </dev/null &
    set +m
    child=$!
    # An interrupted script must not leave its step running.
    trap 'end_step "$child"; exit 129' HUP
    trap 'end_step "$child"; exit 130' INT
    trap 'end_step "$child"; exit 143' TERM
    while kill -0 "$child" 2>/dev/null; do
        sleep 0.2
        if (( SECONDS - last >= 10 )); then
            last=$SECONDS
            line=$(tail -n 1 "$log" | tr -d '\r')
            note "$(( SECONDS - begin )) s: ${line:0:100}"
        fi
    done
    wait "$child" || rc=$?
    trap - HUP INT TERM
    if (( rc != 0 )); then
        tail -n 15 "$log" | sed 's/^/    | /' >&2
        warn "failed (exit $rc): $text. Whole log: $log"
        return "$rc"
    fi
    note "done in $(( SECONDS - begin )) s"
}

# usable_python COMMAND: true for a Python that is new enough and can make virtual environments.
# Debian's python3 without python3-venv has venv but no ensurepip.
usable_python() {
    "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 9))' >/dev/null 2>&1
}

# choose_python: prints the Python of the project's environment: $PYTHON, python3, or a newer one by its name.
choose_python() {
    # Our own comes first on PATH where somebody has activated it; it would be removed before it is made anew.
    local candidate PATH=${PATH//"$work/venv/bin:"/}
    for candidate in ${PYTHON:+"$PYTHON"} python3 /usr/bin/python3 python3.13 python3.12 python3.11 python3.10 python3.9; do
        if usable_python "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
    return 1
}
