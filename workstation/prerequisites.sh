#!/bin/bash
# Installs what a Linux machine lacks for `make demo`: prerequisites.sh [--check] [--tests]
#
# --check only says what is missing (exit 1 if something is); --tests: also what only the tests use.
# Debian and Ubuntu: missing packages by apt-get, as root or by sudo; Apptainer from the distribution where it
# has a fitting package, else unpacked from Debian unstable into .workstation/apptainer, which needs no root.
# Elsewhere: lists what is missing and how to get it; exit 0 if nothing is.
# Bash and coreutils only: Python may not be there yet.
set -euo pipefail
# shellcheck source=workstation/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=workstation/debian.sh
. "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

check_only=0 with_tests=0
for argument in "$@"; do
    case $argument in
        --check) check_only=1 ;;
        --tests) with_tests=1 ;;
        *) die "usage: prerequisites.sh [--check] [--tests], got: $*" ;;
    esac
done
os_release=${OS_RELEASE:-/etc/os-release}
apptainer_prefix=$work/apptainer

# Debian package | Fedora or EPEL package | what must be there (one of: command, /file) | why
needs='
ca-certificates|ca-certificates|/etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/ca-bundle.pem|pip checks whom it downloads from
python3|python3|@python|EasyBuild, the recipes and the tests (3.9 or newer)
python3-venv|python3|@venv|an environment of its own for EasyBuild
lmod|Lmod|@lmod|the module command that EasyBuild writes modules for
gcc|gcc|gcc|compiles the OSU Micro-Benchmarks
g++|gcc-c++|g++|their configure asks for it; brings the C headers
make|make|make|compiles the OSU Micro-Benchmarks
binutils|binutils|readelf|recipes find with it programs that keep to their own libraries
mmdebstrap|mmdebstrap|mmdebstrap debootstrap|makes the base folder of the image
debian-archive-keyring|debian-keyring|@keyring|checks the signature of what the image is made from
squashfs-tools|squashfs-tools|mksquashfs|Apptainer packs the image with it
squashfuse|squashfuse|squashfuse_ll squashfuse|Apptainer mounts the image with it
uidmap|shadow-utils|newuidmap|lets an ordinary user make an image with several user ids in it
slurm-wlm|slurm slurm-slurmctld slurm-slurmd|@slurm|two nodes of a private Slurm
libpmix-dev|pmix-devel|@pmix|has libpmix.so, which the PMIx plugin of Slurm opens: it starts ranks of Open MPI
munge|munge|@munge|the private Slurm signs its messages with it
patchelf|patchelf|@patchelf|lets the private Apptainer use libraries of its own
'

# The same, for the tests only
test_needs='
git|git|git|lets tests make clones, and read what an older state of the project made
pkg-config|pkgconf-pkg-config|pkg-config|says of a loaded module what discover asks it
proot|proot|proot|plays root for an ordinary user who builds an image, as on LUMI
buildah|buildah|buildah|builds an image from its Dockerfile
xz-utils|xz|xz|packs and unpacks what goes to a machine with a GPU
mount|util-linux|mount|lets tests fill a disk and hide folders, each in a mount namespace of its own
chromium|chromium|chromium|opens the report and the documentation as a reader would
musl|musl-libc|/lib/ld-musl-x86_64.so.1 /lib/ld-musl-aarch64.so.1|its loader is what the simulated one is compared with
'
(( with_tests )) && needs+=$test_needs

# --- what is there -------------------------------------------------------------------------------------------

# The package `singularity` of some distributions is a game, so the answer to --version counts.
find_apptainer() {
    local name
    for name in apptainer singularity; do
        if [[ $("$name" --version 2>/dev/null </dev/null) =~ ^(apptainer|singularity)[a-z-]*(\ version)?\ [0-9] ]]; then
            command -v "$name"
            return
        fi
    done
    "$apptainer_prefix/usr/bin/apptainer" --version >/dev/null 2>&1 && echo "$apptainer_prefix/usr/bin/apptainer"
}

have_lmod() {
    [[ -n ${LMOD_PKG:-} && -e $LMOD_PKG/init/bash ]] || [[ -e /usr/share/lmod/lmod/init/bash ]]
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
            @slurm) cluster_reached || { find_command slurmctld && find_command slurmd && find_command srun; } >/dev/null ;;
            # Debian's plugin opens the name without a version, and only in the folder of its own PMIx
            @pmix) cluster_reached || compgen -G '/usr/lib/*/pmix2/lib/libpmix.so' >/dev/null || [[ -e /usr/lib64/libpmix.so ]] ;;
            @munge) cluster_reached || find_command munged >/dev/null ;;
            @patchelf) [[ $private_apptainer == no ]] || find_command patchelf >/dev/null ;;
            /*) [[ -e $what ]] ;;
            *) find_command "$what" >/dev/null ;;
        esac && return
    done
    return 1
}

# Sets missing (Debian packages) and missing_lines (one line each, for people).
# shellcheck disable=SC2086,SC2206  # both are lists of words
find_missing() {
    local package other what why
    missing=() missing_other=() missing_lines=()
    while IFS='|' read -r package other what why; do
        [[ -n $package ]] || continue
        there $what && continue
        missing+=("$package")
        missing_other+=($other)
        missing_lines+=("$(printf '%-22s %s' "$package" "$why")")
    done <<<"$needs"
}

# --- user ids for apptainer build --fakeroot and mmdebstrap ------------------------------------------------------

# True if images can be made with the ids that the caller has now. Root needs a line in /etc/subuid only where it
# lacks CAP_SYS_RESOURCE (bit 24), as in many containers: Apptainer then builds with --fakeroot.
have_subids() {
    local user capabilities
    user=$(id -un)
    if (( EUID == 0 )); then
        capabilities=$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status)
        (( 16#$capabilities >> 24 & 1 )) && return
    fi
    grep -qs "^$user:" /etc/subuid && grep -qs "^$user:" /etc/subgid
}

# First id behind all that are handed out already, at least 100000, as useradd would choose.
next_subid() {
    cat /etc/subuid /etc/subgid 2>/dev/null |
        awk -F: 'BEGIN { next_id = 100000 } $2 + $3 > next_id { next_id = $2 + $3 } END { print next_id }'
}

add_subids() {
    local first range
    first=$(next_subid)
    range=$first-$(( first + 65535 ))
    touch_file() { [[ -e $1 ]] || "${as_root[@]}" touch "$1"; }
    touch_file /etc/subuid
    touch_file /etc/subgid
    "${as_root[@]}" usermod --add-subuids "$range" --add-subgids "$range" "$(id -un)"
    printf 'usermod --del-subuids %s --del-subgids %s %s\n' "$range" "$range" "$(id -un)" >>"$work/undo-as-root.txt"
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
    local packages=("$@")
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${packages[@]}"
}

# Debian starts a service when it installs one. Ours run as the user with their own settings, so a service that came
# with a package that we installed is switched off again; one that was there before is left alone.
switch_off_services() {
    local package services=()
    [[ -d /run/systemd/system ]] || return 0
    for package in "$@"; do
        case $package in
            munge) services+=(munge) ;;
            slurm-wlm) services+=(slurmctld slurmd) ;;
        esac
    done
    (( ${#services[@]} )) || return 0
    "${as_root[@]}" systemctl disable --now "${services[@]}" >>"$work/log/services.log" 2>&1 ||
        warn "could not switch off the services ${services[*]}; see $work/log/services.log"
}

install_on_debian() {
    local how=
    if (( EUID == 0 )); then
        as_root=(env)
    elif command -v sudo >/dev/null; then
        as_root=(sudo)
        how=' (by sudo)'
    else
        as_root=()
    fi

    local need_root=no
    (( ${#missing[@]} == 0 )) && have_subids || need_root=yes
    if [[ $need_root == yes && ${#as_root[@]} == 0 ]]; then
        (( ${#missing[@]} )) && warn "missing packages, to be installed by root: apt-get install --no-install-recommends ${missing[*]}"
        have_subids || warn "$(id -un) has no line in /etc/subuid and /etc/subgid; root adds it with:" \
            "usermod --add-subuids $(next_subid)-$(( $(next_subid) + 65535 )) --add-subgids $(next_subid)-$(( $(next_subid) + 65535 )) $(id -un)"
        die "neither root nor sudo here: have this done, then type the same command again."
    fi

    if (( ${#missing[@]} )) || { [[ $apptainer == '' ]] && (( ${#as_root[@]} )); }; then
        # A fresh machine may have no package lists, and then no package has a version to install.
        (( EUID == 0 )) || say "sudo may ask for your password now: package lists are read, then packages installed"
        "${as_root[@]}" true
        run_logged apt-update "reading the package lists of this machine (apt-get update)$how" "${as_root[@]}" apt-get update
    fi
    if [[ -z $apptainer ]] && (( ${#as_root[@]} )) && distribution_has_apptainer; then
        private_apptainer=no
        find_missing
        missing+=(apptainer)
        missing_lines+=("$(printf '%-22s %s' apptainer 'runs the image')")
    fi

    # Said before anything is changed.
    if (( ${#missing[@]} )); then
        say "these packages will be installed by apt-get$how:"
        printf '    %s\n' "${missing_lines[@]}"
        if [[ -d /run/systemd/system && " ${missing[*]} " =~ \ (munge|slurm-wlm)\  ]]; then
            note "Their system services are switched off again: what needs them runs its own."
        fi
    fi
    have_subids || {
        say "$(id -un) will get a range of user ids in /etc/subuid and /etc/subgid: making an image needs it"
    }
    [[ $private_apptainer == no ]] || {
        say "Apptainer will be unpacked from Debian unstable into $apptainer_prefix (this distribution has no fitting package)"
    }

    mkdir -p "$work/log"
    if (( ${#missing[@]} )); then
        run_logged apt-install "installing ${#missing[@]} packages$how" apt_install "${missing[@]}"
        printf '%s\n' "${missing[@]}" >>"$work/installed-packages.txt"
        switch_off_services "${missing[@]}"
    fi
    have_subids || add_subids
    if [[ $private_apptainer == yes ]]; then
        private_apptainer_or_say
    fi
}

private_apptainer_or_say() {
    local mirror
    # Not local: the trap below runs when this function is gone.
    instead="Install Apptainer 1.1 or newer by hand (on Ubuntu from the PPA of the Apptainer project: \
add-apt-repository ppa:apptainer/ppa; apt-get install apptainer), then type the same command again."
    mirror=$(debian_mirror) ||
        die "no Debian archive among the sources of apt. $instead Or give one: DEBIAN_MIRROR=<address> make demo"
    # Not `run_logged ... || die`: bash would then go on after a failed command inside the step.
    trap 'warn "Apptainer could not be had from Debian unstable. $instead"' EXIT
    run_logged apptainer "getting Apptainer from Debian unstable" make_private_apptainer "$mirror"
    trap - EXIT
    note "Apptainer $(cat "$apptainer_prefix/VERSION")"
}

# --- hints for what no package changes ---------------------------------------------------------------------------

hints() {
    if (( EUID != 0 )) && [[ ! -w /dev/fuse || ! -r /dev/fuse ]]; then
        warn "hint: you may not open /dev/fuse ($(stat -c '%A %U:%G' /dev/fuse 2>/dev/null || echo 'it is not there'))." \
            "Apptainer cannot mount an image without it. As root: modprobe fuse; chmod 666 /dev/fuse"
    fi
    if (( EUID != 0 )) && [[ $(cat /proc/sys/kernel/apparmor_restrict_unprivileged_userns 2>/dev/null) == 1 ]]; then
        warn "hint: AppArmor forbids user namespaces to ordinary users here, which Apptainer needs." \
            "As root: sysctl kernel.apparmor_restrict_unprivileged_userns=0"
    fi
}

# The private Apptainer gets the plain name; the folder is on PATH after `. ./env.sh`.
link_private_apptainer() {
    [[ $apptainer == "$apptainer_prefix"/* ]] || return 0
    mkdir -p "$work/bin"
    ln -sfn "$apptainer" "$work/bin/apptainer"
}

# --- main ----------------------------------------------------------------------------------------------------------

apptainer=$(find_apptainer) || true
private_apptainer=no
[[ -n $apptainer ]] || private_apptainer=yes
# shellcheck source=/dev/null
distribution=$(. "$os_release" 2>/dev/null && echo " ${ID:-} ${ID_LIKE:-} ") || distribution=' unknown '
find_missing

if (( ${#missing[@]} == 0 )) && [[ -n $apptainer ]] && have_subids; then
    say "prerequisites: all there ($("$apptainer" --version 2>/dev/null))"
elif (( check_only )); then
    (( ${#missing_lines[@]} )) && printf 'missing: %s\n' "${missing_lines[@]}"
    [[ -n $apptainer ]] || echo 'missing: apptainer (or singularity)'
    have_subids || echo "missing: a line for $(id -un) in /etc/subuid and /etc/subgid"
    exit 1
elif [[ $distribution =~ \ (debian|ubuntu)\  ]]; then
    install_on_debian
    apptainer=$(find_apptainer) || die "no apptainer runs after it was installed; see $work/log"
    find_missing
    (( ${#missing[@]} == 0 )) || die "still missing after installation: ${missing[*]}; see $work/log/apt-install.log"
else
    {
        echo "This is not Debian or Ubuntu ($os_release:$distribution), so nothing is installed for you. Missing, by Debian's names:"
        (( ${#missing_lines[@]} )) && printf '    %s\n' "${missing_lines[@]}"
        [[ -n $apptainer ]] || printf '    %-22s %s\n' apptainer 'runs the image (or SingularityCE); 1.1 or newer'
        have_subids || echo "    a line for $(id -un) in /etc/subuid and /etc/subgid (usermod --add-subuids, --add-subgids)"
        echo "On Fedora, or RHEL and its kin with EPEL (names not tried by us):"
        [[ -n $apptainer ]] || missing_other+=(apptainer)
        echo "    dnf install ${missing_other[*]}"
        echo "Then type the same command again."
    } >&2
    exit 1
fi
link_private_apptainer
hints
