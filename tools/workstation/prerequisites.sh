#!/bin/bash
# Installs what a Linux machine lacks for `make demo`: prerequisites.sh [--check] [--tests|--fast]
#
# First it looks at all that can stop the set-up, and changes nothing if something does. --check only says what is missing
# or in the way (exit 1 if something is). --tests: also what the tests use; --fast: what those use that need neither
# container nor Slurm. For tests an ordinary user without sudo goes on without the rest, and is told.
# Debian and Ubuntu: missing packages by apt-get, as root or by sudo; Apptainer from the distribution where it
# has a fitting package, else unpacked from Debian unstable into .workstation/apptainer, which needs no root.
# Elsewhere: lists what is missing and how to get it; exit 0 if nothing is.
# Bash and coreutils only: Python may not be there yet.
set -euo pipefail
# shellcheck source=tools/workstation/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=tools/workstation/debian.sh
. "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

check_only=0 kinds='b d' must='b d'
for argument in "$@"; do
    case $argument in
        --check) check_only=1 ;;
        --tests) kinds='b f d t' must='b f' ;;
        --fast) kinds='b f' must='b f' ;;
        *) die "usage: prerequisites.sh [--check] [--tests|--fast], got: $*" ;;
    esac
done
os_release=${OS_RELEASE:-/etc/os-release}
apptainer_prefix=$work/apptainer

containers() { [[ $kinds == *d* ]]; }

# Kind | Debian package | what must be there (one of: command, /file) | why
# b: for all; d: for the demo, and tests with containers and Slurm; f: for the fast tests; t: for single other tests
needs='
b|ca-certificates|/etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/ca-bundle.pem|pip checks whom it downloads from
b|python3|@python|EasyBuild, the recipes and the tests (3.9 or newer)
b|python3-venv|@venv|an environment of its own for EasyBuild
b|lmod|@lmod|the module command that EasyBuild writes modules for
b|make|make|compiles the OSU Micro-Benchmarks
b|debian-archive-keyring|@keyring|checks the signature of what the image is made from
b|squashfs-tools|mksquashfs|Apptainer packs the image with it
d|gcc|@ports gcc|compiles the OSU Micro-Benchmarks
d|g++|@ports g++|configure of the OSU Micro-Benchmarks asks for it; brings the C headers
d|mmdebstrap|mmdebstrap debootstrap|makes the base folder of the image
d|squashfuse|squashfuse_ll squashfuse|Apptainer mounts the image with it
d|uidmap|newuidmap|lets an ordinary user make an image with several user ids in it
d|slurm-wlm|@slurm|two nodes of a private Slurm
d|libpmix-dev|@pmix|has libpmix.so, which the PMIx plugin of Slurm opens: it starts ranks of Open MPI
d|munge|munged|the private Slurm signs its messages with it
d|patchelf|@patchelf|lets the private Apptainer use libraries of its own
f|gcc|gcc|compiles the small libraries that tests read
f|g++|g++|brings the C headers
f|binutils|readelf|says what tests compare with
f|git|git|lets tests make clones, and read what an older state of the project made
t|pkg-config|pkg-config|says of a loaded module what discover asks it
f|mount|mount|lets tests fill a disk and hide folders, each in a mount namespace of its own
t|chromium|chromium|opens the report and the documentation as a reader would
t|musl|/lib/ld-musl-x86_64.so.1 /lib/ld-musl-aarch64.so.1|its loader is what the simulated one is compared with
'

# --- what is there -------------------------------------------------------------------------------------------

find_apptainer() {
    local command
    for command in apptainer "$apptainer_prefix/usr/bin/apptainer"; do
        if "$command" --version >/dev/null 2>&1; then
            command -v "$command"
            return
        fi
    done
    return 1
}

have_lmod() {
    [[ -n ${LMOD_PKG:-} && -e $LMOD_PKG/init/bash ]] || [[ -e /usr/share/lmod/lmod/init/bash ]]
}

# True if the OSU archive is here or its server is known, so that C programs are compiled. Else ports in Python stand in.
c_programs() {
    [[ -n ${EASYBUILD_SOURCEPATH:-}${https_proxy:-}${HTTPS_PROXY:-} ]] || compgen -G "$project/sources/osu-micro-*.tar.gz" >/dev/null ||
        timeout 5 getent hosts mvapich.cse.ohio-state.edu >/dev/null 2>&1
}

# there WHAT...: true if one of the commands, /files or @checks is there.
there() {
    local what
    for what in "$@"; do
        case $what in
            @python) choose_python >/dev/null || python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null ;;
            @venv) choose_python >/dev/null ;;
            @lmod) have_lmod ;;
            @keyring) [[ -e $debian_keyring ]] ;;
            @ports) ! c_programs ;;
            @slurm) { find_command slurmctld && find_command slurmd && find_command srun; } >/dev/null ;;
            # Debian's plugin opens the name without a version, and only in the folder of its own PMIx
            @pmix) compgen -G '/usr/lib/*/pmix2/lib/libpmix.so' >/dev/null || [[ -e /usr/lib64/libpmix.so ]] ;;
            @patchelf) [[ $private_apptainer == no ]] || find_command patchelf >/dev/null ;;
            /*) [[ -e $what ]] ;;
            *) find_command "$what" >/dev/null ;;
        esac && return
    done
    return 1
}

# find_missing KINDS: sets missing (Debian packages) and missing_lines (one line each, for people).
find_missing() {
    local kind package what why
    missing=() missing_lines=()
    while IFS='|' read -r kind package what why; do
        [[ -n $kind && " $1 " == *" $kind "* ]] || continue
        # shellcheck disable=SC2086  # a list of words
        [[ " ${missing[*]} " == *" $package "* ]] || there $what && continue
        missing+=("$package")
        missing_lines+=("$(printf '%-22s %s' "$package" "$why")")
    done <<<"$needs"
}

# --- user ids for apptainer build --fakeroot and mmdebstrap ------------------------------------------------------

# True if images can be made with the ids that the caller has now. Root needs a line in /etc/subuid only where it
# lacks CAP_SYS_RESOURCE (bit 24), as in many containers: Apptainer then builds with --fakeroot.
have_subids() {
    local user capabilities
    containers || return 0
    user=$(id -un)
    if (( EUID == 0 )); then
        capabilities=$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status)
        (( 16#$capabilities >> 24 & 1 )) && return
    fi
    grep -qs "^$user:" /etc/subuid && grep -qs "^$user:" /etc/subgid
}

# Ids behind all that are handed out already, at least 100000, as useradd would choose.
subids() {
    cat /etc/subuid /etc/subgid 2>/dev/null |
        awk -F: 'BEGIN { first = 100000 } $2 + $3 > first { first = $2 + $3 } END { print first "-" first + 65535 }'
}

add_subids() {
    local range
    range=$(subids)
    "${as_root[@]}" touch /etc/subuid /etc/subgid
    "${as_root[@]}" usermod --add-subuids "$range" --add-subgids "$range" "$(id -un)"
    printf 'usermod --del-subuids %s --del-subgids %s %s\n' "$range" "$range" "$(id -un)" >>"$work/undo-as-root.txt"
}

# --- what no package changes: one line each, with its remedy ---------------------------------------------------------

obstacles() {
    local as_user=(--user --map-root-user)
    [[ $(uname -m) == x86_64 ]] || echo "the image and the wheel of MPICH are for x86_64, this machine is $(uname -m)"
    (( EUID )) || as_user=()
    ! command -v unshare >/dev/null || unshare "${as_user[@]}" --mount true 2>/dev/null ||
        echo "this system allows no namespace, which a container runs in. On a machine: have root type sysctl" \
            "user.max_user_namespaces=10000, on Ubuntu also kernel.apparmor_restrict_unprivileged_userns=0; if it is a container" \
            "itself, start it with --privileged"
    # A setuid program mounts by the kernel
    if (( EUID != 0 )) && ! (exec 3<>/dev/fuse) 2>/dev/null && ! compgen -G '/usr/libexec/apptainer/bin/starter-suid' >/dev/null; then
        echo "you may not open /dev/fuse, by which Apptainer mounts an image: have root type modprobe fuse; chmod 666 /dev/fuse"
    fi
    (( ${#as_root[@]} )) || have_subids || echo "$(id -un) has no line in /etc/subuid and /etc/subgid, from which an image gets" \
        "its user ids: have root type usermod --add-subuids $(subids) --add-subgids $(subids) $(id -un)"
}

# --- Debian and Ubuntu -----------------------------------------------------------------------------------------------

# True if apt would install an apptainer package without exchanging the C library of the machine
# (Debian 12 with unstable among its sources would).
distribution_has_apptainer() {
    local plan
    plan=$(LC_ALL=C apt-get -s install --no-install-recommends apptainer 2>/dev/null) || return 1
    ! grep -q '^Inst libc6 ' <<<"$plan"
}

# Unpacks Apptainer and the libraries that it asks for into .workstation/apptainer.
make_private_apptainer() {
    local mirror=$1 state=$work/apt new=$apptainer_prefix.new packages package loader libraries program
    rm -rf "$new"
    mkdir -p "$new"
    private_apt_lists "$state" "$mirror" unstable
    # The host's libraries are too old for it (it needs glibc 2.38), so it gets all that it names, from the same place.
    packages=$(private_apt "$state" apt-cache show --no-all-versions apptainer | sed -n 's/^Depends: //p' |
        tr ',' '\n' | awk '$1 ~ /^lib/ { print $1 }')
    [[ -n $packages ]] || { echo "apptainer is not among the packages of $mirror unstable"; return 1; }
    # shellcheck disable=SC2086  # a list of words
    (cd "$state/download" && private_apt "$state" apt-get download apptainer $packages)
    for package in "$state/download"/*.deb; do
        dpkg -x "$package" "$new"
    done

    loader=$(find "$new/usr/lib" -name 'ld-linux-*.so.*' | head -n 1)
    libraries=$apptainer_prefix${loader#"$new"}
    libraries=${libraries%/*}
    # DT_RPATH, not RUNPATH: it must also reach what libsqlite3 and libseccomp ask for.
    for program in usr/bin/apptainer "${loader#"$new/"}"; do
        [[ $program == usr/bin/* ]] || program=${program%/*}/apptainer/bin/starter
        patchelf --set-interpreter "$libraries/${loader##*/}" --force-rpath --set-rpath "$libraries" "$new/$program"
    done
    # Its programs look for etc and var beside the folder above bin: /usr and /usr/lib/<machine> in this layout.
    ln -s ../etc "$new/usr/etc"
    ln -s ../var "$new/usr/var"
    ln -s ../../etc "$new/usr/lib/etc"
    ln -s ../../var "$new/usr/lib/var"
    mkdir -p "$new/var/lib/apptainer/mnt/session"
    # A root without all capabilities (in a container) cannot hand them all to the program.
    sed -i 's/^root default capabilities = .*/root default capabilities = file/' "$new/etc/apptainer/apptainer.conf"
    dpkg-deb -f "$(find "$state/download" -name 'apptainer_*.deb')" Version >"$new/VERSION"

    rm -rf "$apptainer_prefix"
    mv "$new" "$apptainer_prefix"
    rm -rf "$state"
    "$apptainer_prefix/usr/bin/apptainer" --version
}

apt_install() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
}

# Debian starts a service when it installs one. Ours run as the user with their own settings, so a service that came
# with a package that we installed is switched off again; one that was there before is left alone.
switch_off_services() {
    local services=()
    [[ -d /run/systemd/system ]] || return 0
    [[ " $* " != *' munge '* ]] || services+=(munge)
    [[ " $* " != *' slurm-wlm '* ]] || services+=(slurmctld slurmd)
    (( ${#services[@]} == 0 )) || "${as_root[@]}" systemctl disable --now "${services[@]}" >>"$work/log/services.log" 2>&1 ||
        warn "could not switch off the services ${services[*]}; see $work/log/services.log"
}

install_on_debian() {
    if (( ${#as_root[@]} )); then
        "${as_root[@]}" true # asks for the password of sudo: the next commands write into logs
        # A fresh machine may have no package lists, and then no package has a version to install.
        run_logged apt-update "reading the package lists of this machine (apt-get update)" "${as_root[@]}" apt-get update
        if [[ $private_apptainer == yes ]] && distribution_has_apptainer; then
            private_apptainer=no
            find_missing "$kinds"
            missing+=(apptainer)
            missing_lines+=("$(printf '%-22s %s' apptainer 'runs the image')")
        fi
    fi

    # Said before anything is changed.
    if (( ${#missing[@]} )); then
        say "these packages will be installed by apt-get, without services of munge and Slurm:"
        printf '    %s\n' "${missing_lines[@]}"
    fi
    have_subids ||
        say "$(id -un) will get a range of user ids in /etc/subuid and /etc/subgid: making an image needs it"
    [[ $private_apptainer == no ]] ||
        say "Apptainer will be unpacked from Debian unstable into $apptainer_prefix (this distribution has no fitting package)"

    mkdir -p "$work/log"
    if (( ${#missing[@]} )); then
        run_logged apt-install "installing ${#missing[@]} packages" apt_install "${missing[@]}"
        printf '%s\n' "${missing[@]}" >>"$work/installed-packages.txt"
        switch_off_services "${missing[@]}"
    fi
    have_subids || add_subids
    if [[ $private_apptainer == yes ]]; then
        local mirror
        mirror=$(debian_mirror) || die "no Debian archive among the sources of apt, which Apptainer comes from. Name one" \
            "(export DEBIAN_MIRROR=<address of a Debian archive>), or install Apptainer 1.1 or newer by hand (on Ubuntu:" \
            "add-apt-repository ppa:apptainer/ppa; apt-get install apptainer); then type the same command again"
        run_logged apptainer "getting Apptainer from Debian unstable" make_private_apptainer "$mirror"
    fi
}

# --- main ----------------------------------------------------------------------------------------------------------

# look KINDS: sets kinds and what is missing of them.
look() {
    kinds=$1 private_apptainer=no in_the_way=()
    ! containers || [[ -n $apptainer ]] || private_apptainer=yes
    find_missing "$kinds"
    ! containers || mapfile -t in_the_way < <(obstacles)
}

ready() { (( ${#missing[@]} + ${#in_the_way[@]} == 0 )) && [[ $private_apptainer == no ]] && have_subids; }

# True if all is there or can be had. Without root that is Apptainer alone, from a Debian archive.
possible() {
    (( ${#in_the_way[@]} == 0 )) || return
    ready || [[ $can_install == yes ]] || { (( ${#missing[@]} == 0 )) && have_subids && debian_mirror >/dev/null 2>&1; }
}

# Says what is missing, and what is in the way, one line each.
say_missing() {
    (( ${#missing_lines[@]} == 0 )) || printf 'missing: %s\n' "${missing_lines[@]}"
    [[ $private_apptainer == no ]] || echo 'missing: apptainer, 1.1 or newer'
    have_subids || (( ${#in_the_way[@]} )) || echo "missing: a line for $(id -un) in /etc/subuid and /etc/subgid"
    (( ${#in_the_way[@]} == 0 )) || printf 'in the way: %s\n' "${in_the_way[@]}"
}

as_root=()
if (( EUID == 0 )); then
    as_root=(env)
elif command -v sudo >/dev/null; then
    as_root=(sudo)
fi
# shellcheck source=/dev/null
distribution=$(. "$os_release" 2>/dev/null && echo " ${ID:-} ${ID_LIKE:-} ") || distribution=' unknown '
can_install=no
[[ ! $distribution =~ \ (debian|ubuntu)\  ]] || (( ${#as_root[@]} == 0 )) || can_install=yes
apptainer=$(find_apptainer) || true
look "$kinds"

if (( check_only )); then
    ready || { say_missing; exit 1; }
fi
# Tests go on without what only root can change: single tools, or all that containers and Slurm need.
if ! possible && [[ $kinds != "$must" ]]; then
    lacking=$(say_missing) named=${missing[*]}
    look 'b f d'
    possible || look "$must"
    say "tests that need what is missing here are left out:"
    { grep -vxF -e "$(say_missing)" <<<"$lacking" || true; } | sed 's|^|    |'
    [[ -z $named ]] || note "To have them, as root: apt-get install --no-install-recommends $named"
fi
if (( ${#in_the_way[@]} )); then
    say_missing >&2
    die "nothing was changed: have this done, then type the same command again"
elif ! ready && [[ $can_install == no ]] && (( ${#missing[@]} )); then
    say_missing >&2
    if [[ $distribution =~ \ (debian|ubuntu)\  ]]; then
        die "neither root nor sudo here. Have root type: apt-get install --no-install-recommends ${missing[*]}; then type" \
            "the same command again"
    fi
    die "this is not Debian or Ubuntu ($os_release:$distribution), so nothing is installed for you. Install what is missing" \
        "(the names are Debian's), then type the same command again"
elif ! ready; then
    install_on_debian
    find_missing "$kinds"
    (( ${#missing[@]} == 0 )) || die "still missing after installation: ${missing[*]}; see $work/log/apt-install.log"
fi
if containers; then
    apptainer=$(find_apptainer) || die "no apptainer runs after it was installed; see $work/log"
    if [[ $apptainer == "$apptainer_prefix"/* ]]; then
        # The private Apptainer gets the plain name; the folder is on PATH after `. ./env.sh`.
        mkdir -p "$work/bin"
        ln -sfn "$apptainer" "$work/bin/apptainer"
    fi
fi
say "prerequisites: all there$(! containers || echo " ($("$apptainer" --version 2>/dev/null))")"
