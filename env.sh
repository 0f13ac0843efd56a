# shellcheck shell=bash
# Makes this shell ready: `. ./env.sh` (bash, interactive or not, also under set -eu). Sourcing it twice changes nothing.
#
# PATH                           .workstation/bin in front: eb, osu-container, and apptainer if it is the private one
# module                         Lmod's function, if the shell has none yet
# EASYBUILD_ROBOT_PATHS          easyconfigs/ of this folder, then yours
# EASYBUILD_INCLUDE_EASYBLOCKS   easyblocks/ of this folder and the local file of this machine, then yours
# EASYBUILD_SOURCEPATH           sources/ of this folder, then yours
# MODULEPATH                     where EasyBuild puts modules
# SLURM_CONF                     the private Slurm, if `make demo` made one; with SLURM_JOB_NUM_NODES and SLURM_NTASKS, by
#                                which a plain srun uses both of its nodes
# EASYBUILD_ALLOW_USE_AS_ROOT_AND_ACCEPT_CONSEQUENCES   as root only: EasyBuild refuses root otherwise

if [ -z "${BASH_VERSION:-}" ]; then
    echo "env.sh: needs bash; type 'bash', then '. ./env.sh'" >&2
    # shellcheck disable=SC2317  # reached where return is refused: the file was run, not sourced
    return 1 2>/dev/null || exit 1
fi
if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
    echo "env.sh: running it changes nothing; type '. ${BASH_SOURCE[0]}'" >&2
    exit 1
fi

# A function, so that its variables are local.
_osu_container_env() {
    local project work lmod='' candidate modules
    project=$(CDPATH='' cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
    work=$project/.workstation

    for candidate in ${LMOD_PKG:+"$LMOD_PKG/init/bash"} /usr/share/lmod/lmod/init/bash; do
        [[ -n $lmod || ! -r $candidate ]] || lmod=$candidate
    done
    # All is checked before anything is set.
    if [[ ! -x $work/bin/eb || ! -x $work/venv/bin/eb ]] || [[ -z $lmod && -z ${LMOD_CMD:-} ]]; then
        echo "env.sh: the set-up is missing in $project, run 'make demo' there first" >&2
        return 1
    fi

    # Lmod's command must be there too: a module function of the older Environment Modules cannot read Lua modules.
    if ! declare -F module >/dev/null || [[ -z ${LMOD_CMD:-} ]]; then
        # shellcheck source=/dev/null
        . "$lmod"
    fi

    _osu_container_in_front PATH : "$work/bin"
    _osu_container_in_front EASYBUILD_ROBOT_PATHS : "$project/easyconfigs"
    if [[ -e $work/local/_mpicontainer_local.py ]]; then
        _osu_container_in_front EASYBUILD_INCLUDE_EASYBLOCKS , "$work/local/*.py"
    fi
    _osu_container_in_front EASYBUILD_INCLUDE_EASYBLOCKS , "$project/easyblocks/generic/*.py"
    # As EasyBuild does it: without HOME the home folder is that of the account.
    export EASYBUILD_SOURCEPATH=${EASYBUILD_SOURCEPATH:-${EASYBUILD_PREFIX:-${HOME-$(printf '%s' ~)}/.local/easybuild}/sources}
    _osu_container_in_front EASYBUILD_SOURCEPATH : "$project/sources"

    # An interactive shell also completes the command.
    # shellcheck source=scripts/completion.bash
    [[ $- != *i* ]] || . "$project/scripts/completion.bash"

    modules=$(BASH_ENV='' bash "$project/tools/workstation/eb_folder.sh" modules)
    # Lmod counts how often a folder was added, so it is added once only.
    [[ :${MODULEPATH:-}: == *:"$modules":* ]] || module use "$modules"
    if [[ -e $work/slurm/slurm.conf ]]; then
        export SLURM_CONF=$work/slurm/slurm.conf
        # srun's own defaults for -N and -n: a plain `srun osu_bw H H` is one rank on each of the two nodes. A job has its
        # own, and so may the user.
        if [[ -z ${SLURM_JOB_ID:-} ]]; then
            export SLURM_JOB_NUM_NODES=${SLURM_JOB_NUM_NODES:-2} SLURM_NTASKS=${SLURM_NTASKS:-2}
        fi
    fi
    if (( EUID == 0 )); then
        export EASYBUILD_ALLOW_USE_AS_ROOT_AND_ACCEPT_CONSEQUENCES=1
    fi
}

# _osu_container_in_front VARIABLE SEPARATOR ENTRY: puts ENTRY first in a list and exports it; once, wherever it was.
# Empty entries stay as they are: one in PATH stands for the current folder.
_osu_container_in_front() {
    local rest
    case ${!1:-} in
        '' | "$3") rest='' ;;
        "$3$2"*) rest=$2${!1#*"$2"} ;;
        *) rest=$2${!1}$2 ;;
    esac
    if [[ $rest == *"$2$3$2"* ]]; then
        rest=${rest%%"$2$3$2"*}$2${rest#*"$2$3$2"}
    fi
    [[ ${!1:-} == "$3$2"* ]] || rest=${rest%"$2"}
    export "$1=$3$rest"
}

# Lmod's files need -e and -u off. Both are switched back, whatever happened.
_osu_container_options=$-
set +eu
_osu_container_env
_osu_container_status=$?
unset -f _osu_container_env _osu_container_in_front
[[ $_osu_container_options != *u* ]] || set -u
[[ $_osu_container_options != *e* ]] || set -e
if (( _osu_container_status )); then
    unset _osu_container_options _osu_container_status
    return 1
fi
unset _osu_container_options _osu_container_status
