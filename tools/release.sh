#!/bin/bash
# Makes the files of a release from the last commit and tries them on clean systems; publishes nothing: release.sh
#
# Result: .workstation/release with the source archive, the wheel, SHA256SUMS and release-notes.md. The notes are the part
# of CHANGELOG.md about this version and what each clean system has tried.
# REPOSITORY=https://... is filled in where pages and codemeta.json name the address of the repository.
# RELEASES="bookworm trixie" names the Debian releases that are tried (these are the default; none: RELEASES=).
set -euo pipefail
# shellcheck source=tools/workstation/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/workstation/common.sh"
# shellcheck source=tools/workstation/debian.sh
. "$(dirname "${BASH_SOURCE[0]}")/workstation/debian.sh"

releases=${RELEASES-bookworm trixie}
out=$work/release
python=$work/venv/bin/python
placeholder='<address of this repository>'

(( $# == 0 )) || die "usage: release.sh, got: $*"

# --- what is released: the last commit, and nothing that only lies here

cd "$project"
command -v git >/dev/null || die "no git: a release is made of a commit. Install git"
top=$(git rev-parse --show-toplevel 2>&1) || die "a release is made of a commit, and git says of $project: $top"
[[ $top == "$project" ]] || die "a release is made of a clone of its own, and $project is a folder of the repository $top"
changed=$(git status --porcelain)
[[ -z $changed ]] || die "these files differ from the last commit, which is what would be released. Commit them, or take" \
    "them away (git stash --include-untracked):"$'\n'"$changed"
version=$(sed -n "s/^__version__ = '\(.*\)'$/\1/p" osu_container/__init__.py)
[[ -n $version ]] || die "osu_container/__init__.py has no line __version__ = '...'"
# From the heading of this version to the next heading of a version
changes=$(awk -v heading="## [$version]" 'index($0, "## ") == 1 { inside = index($0, heading) == 1; next } inside' CHANGELOG.md)
[[ -n $changes ]] || die "CHANGELOG.md has no heading '## [$version]' with changes below it, for the release notes of this version"
[[ -x $python ]] || die "no $python. Run tools/workstation/python_env.sh first."
address=${REPOSITORY-$(sed -n "s/^REPOSITORY = '\(.*\)'$/\1/p" osu_container/__init__.py)}
[[ -z $address || $address =~ ^https?://[a-zA-Z0-9./_~:-]+$ ]] || die "REPOSITORY is no address: '$address', wanted https://..."
[[ -n $address ]] || warn "the address of the repository is not known, so pages and codemeta.json keep '$placeholder'." \
    "To fill it in: REPOSITORY=https://... make release"
for release in $releases; do
    # Said before anything is made
    command -v mmdebstrap >/dev/null || die "no mmdebstrap, which makes the clean systems. Run tools/workstation/prerequisites.sh," \
        "or leave them out: RELEASES= make release"
    mirror=$(debian_mirror) || die "no Debian archive among the sources of apt, for a clean Debian $release. Name one:" \
        "DEBIAN_MIRROR=<address> make release. Or leave these out: RELEASES= make release"
done

new=$(mktemp -d "$work/release.XXXXXX")
trap 'rm -rf "$new"' EXIT
name=osu-container-$version

# --- archive and wheel: the same bytes for the same commit

say "release $version of commit $(git rev-parse --short HEAD), $(git show --no-patch --format=%cs HEAD)"
fill_in() {
    local file
    while IFS= read -rd '' file; do
        sed -i -e "/$placeholder.* is a placeholder/d" -e "s|$placeholder|$address|g" "$file"
    done < <(grep -rlZF -- "$placeholder" "$1")
    sed -i "s|^REPOSITORY = .*|REPOSITORY = '$address'|" "$1/osu_container/__init__.py"
    sed -i "s|^# Repository = |Repository = |" "$1/pyproject.toml"
    sed -i "s|^license: |repository-code: $address\n&|" "$1/CITATION.cff"
}
mkdir "$new/packed"
git archive --format=tar --prefix="$name/" HEAD | tar -C "$new/packed" -xpf -
[[ -z $address ]] || fill_in "$new/packed/$name"
tar -C "$new/packed" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git show --no-patch --format=%ct HEAD)" \
    -cf - "$name" | gzip --no-name --best >"$new/$name.tar.gz"
rm -rf "$new/packed"

make_wheel() {
    local sources=$new/sources
    mkdir "$sources"
    # Not from the clone: the wheel is made of what the archive has.
    tar -C "$sources" -xzf "$new/$name.tar.gz"
    # Python writes the time of each file into the wheel.
    SOURCE_DATE_EPOCH=$(git show --no-patch --format=%ct HEAD) "$python" -m pip --disable-pip-version-check wheel \
        --no-deps --wheel-dir "$new" "$sources/$name"
    rm -rf "$sources"
}
run_logged release-wheel "making the wheel" make_wheel
(cd "$new" && sha256sum -- *.tar.gz *.whl >SHA256SUMS)

# --- clean systems

tried=()
# try_on RELEASE: makes a Debian with Python alone, and runs try_release.sh in it. Writes lines "ok: ..." into tried-RELEASE.
try_on() {
    local release=$1 root=$new/root namespaces=(--mount --pid --fork)
    # An ordinary user is root of a user namespace with the ids of /etc/subuid, as for mmdebstrap
    (( EUID == 0 )) || namespaces+=(--map-root-user --map-auto)
    mmdebstrap --variant=minbase --include=ca-certificates,lmod,make,python3,python3-venv,squashfs-tools --format=tar \
        "$release" "$new/root.tar" "$mirror"
    mkdir "$root"
    cp "$new/$name.tar.gz" "$new"/*.whl "$new/SHA256SUMS" "$new/given"
    cp "$project/tools/try_release.sh" "$new/given/"
    # shellcheck disable=SC2016  # expanded inside
    unshare "${namespaces[@]}" bash -euc '
        root=$1 archive=$2 given=$3
        shift 3
        # Nothing of the machine but its way to the registries: names of hosts, certificates, settings of pip and apt
        tar -C "$root" --exclude="./dev/*" -xf "$archive"
        cp /etc/resolv.conf /etc/hosts "$root/etc/"
        apt-config dump | grep -E "^Acquire::(Check-Valid-Until|https?::)" >"$root/etc/apt/apt.conf.d/90machine" || true
        [[ ! -e /etc/pip.conf ]] || cp /etc/pip.conf "$root/etc/"
        find /usr/local/share/ca-certificates -name "*.crt" -exec cp -t "$root/usr/local/share/ca-certificates" {} + 2>/dev/null || true
        mkdir -p "$root/release" "$root/.old"
        cp "$given"/* "$root/release/"
        mount --bind "$root" "$root"
        mount --rbind /dev "$root/dev"
        mount --rbind /sys "$root/sys"
        mount -t tmpfs tmpfs "$root/tmp"
        mount -t proc proc "$root/proc"
        cd "$root"
        pivot_root . .old
        umount -l /.old
        cd /
        rmdir /.old
        code=0
        env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 "${@:2}" \
            bash /release/try_release.sh "$1" </dev/null || code=$?
        exit "$code"
    ' bash "$root" "$new/root.tar" "$new/given" "$version" "${passed[@]}"
    grep '^ok: ' "$work/log/release-$release.log" >"$new/tried-$release"
    # Files of other ids than the own one
    unshare "${namespaces[@]}" rm -rf "$root" "$new/root.tar"
}
# Settings of pip and of a proxy that are in the environment, not in files
mapfile -t passed < <(env | grep -E '^(PIP_[A-Z_]+|[a-zA-Z]+_(proxy|PROXY))=' | grep -v '^PIP_CERT=') || true
mkdir "$new/given"
for release in $releases; do
    run_logged "release-$release" "trying the release on a clean Debian $release" try_on "$release"
    tried+=("$release")
    sed 's/^ok: /    /' "$new/tried-$release"
done

{
    printf '# osu-container %s\n%s\n' "$version" "$changes"
    printf '\n## Files\n\n'
    sed 's/^/    /' "$new/SHA256SUMS"
    # shellcheck disable=SC2016  # Markdown
    printf '\nCheck them in the folder that they are in: `sha256sum -c SHA256SUMS`\n'
    printf '\n## Where this release was tried\n'
    (( ${#tried[@]} )) || printf '\nNowhere: it was made without the clean systems.\n'
    for release in "${tried[@]}"; do
        printf '\nOn a clean Debian %s (x86_64):\n\n' "$release"
        sed 's/^ok: /* /' "$new/tried-$release"
    done
} >"$new/release-notes.md"
rm -rf "$new/given" "$new"/tried-*
rm -rf "$out"
mv "$new" "$out"
chmod 755 "$out"
say "made in $out, published nowhere:"
(cd "$out" && stat --format='    %n, %s bytes' -- *)
