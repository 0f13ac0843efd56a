# shellcheck shell=bash
# Single packages of another Debian release, unpacked without installing them. Sourced; needs common.sh.

# shellcheck disable=SC2034  # read by who sources this
debian_keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# Address of a Debian archive: $DEBIAN_MIRROR, else the one that this machine's own apt uses.
debian_mirror() {
    if [[ -n ${DEBIAN_MIRROR:-} ]]; then
        echo "$DEBIAN_MIRROR"
        return
    fi
    # shellcheck disable=SC2016  # $(..) is apt's own format
    apt-get indextargets 'Created-By: Packages' 'Origin: Debian' 'Component: main' --format '$(SITE)' |
        grep -v -- '-security' | sort -u | head -n 1 | grep .
}

# private_apt STATE COMMAND...: apt with lists, cache and state in the folder STATE. apt checks Debian's own signature as
# for any package; nothing is installed.
private_apt() {
    local state=$1 command=$2
    shift 2
    "$command" -o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts=- \
        -o Dir::State="$state/state" -o Dir::State::status=/dev/null -o Dir::Cache="$state/cache" \
        -o APT::Sandbox::User="$(id -un)" -o Acquire::Languages=none "$@"
}

# private_apt_lists STATE MIRROR RELEASE: reads the package lists of RELEASE into a fresh folder STATE.
private_apt_lists() {
    local state=$1 mirror=$2 release=$3
    rm -rf "$state"
    mkdir -p "$state"/{state/lists/partial,cache/archives/partial,download}
    echo "deb [signed-by=$debian_keyring] $mirror $release main" >"$state/sources.list"
    private_apt "$state" apt-get update
}
