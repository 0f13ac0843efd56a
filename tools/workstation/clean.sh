#!/bin/bash
# Removes what `make demo` made: clean.sh [--modules]
#
# Stops the private Slurm, removes .workstation, and says how to remove what the set-up changed outside of it.
# --modules: before that, removes the modules osu-container, osu-mpi4py and osu-native from EasyBuild's folders. Only
# versions installed by this project's easyblocks are removed.
set -euo pipefail
# shellcheck source=tools/workstation/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

eb_folder() { bash "$project/tools/workstation/eb_folder.sh" "$1"; }

# True if an installation was made by our easyblocks, or was interrupted before EasyBuild wrote its record.
is_ours() {
    local record=("$1"/easybuild/*.eb)
    if [[ -e ${record[0]} ]]; then
        grep -qE "^easyblock = ['\"](MPIContainer|MPINative)['\"]" "${record[@]}"
    else
        [[ -e $1/bin/run-in-container || -e $1/libexec/osu-port ]]
    fi
}

remove_modules() {
    local software modules records name installed version file removed=()
    software=$(eb_folder software)
    modules=$(eb_folder modules)
    records=$(eb_folder ebfiles_repo)
    for name in osu-container osu-mpi4py osu-native; do
        for installed in "$software/$name"/*/; do
            installed=${installed%/}
            [[ -d $installed ]] || continue
            if ! is_ours "$installed"; then
                warn "kept $installed: it was not installed by the easyblocks of this project"
                continue
            fi
            version=${installed##*/}
            rm -rf "$installed"
            # The module lies in all/ and, as a link, in the folder of its class; the second glob also finds that.
            rm -f "$modules/$name/$version".* "${modules%/*}"/*/"$name/$version".* "$records/$name/$name-$version".eb
            removed+=("$name/$version")
        done
        for file in "$modules/$name" "${modules%/*}"/*/"$name" "$software/$name" "$records/$name"; do
            [[ -d $file ]] || continue
            # A link to the default version that is gone; then the folder, if nothing else is in it.
            find "$file" -maxdepth 1 -xtype l -delete
            rmdir "$file" 2>/dev/null || true
        done
    done
    say "modules removed from $software: ${removed[*]:-none were there}"
}

if [[ ${1:-} == --modules ]]; then
    remove_modules
elif (( $# )); then
    die "usage: clean.sh [--modules], got: $*"
fi

if [[ ! -d $work ]]; then
    say "nothing to clean: no $work"
    exit 0
fi
"$project/tools/workstation/slurm.sh" stop
if [[ -s $work/installed-packages.txt ]]; then
    say "these packages were installed by the set-up and stay. To remove them, as root:"
    note "apt-get remove --autoremove $(sort -u "$work/installed-packages.txt" | paste -sd ' ')"
fi
if [[ -s $work/undo-as-root.txt ]]; then
    say "this change of the system by the set-up stays. To undo it, as root:"
    sort -u "$work/undo-as-root.txt" | sed 's/^/    /'
fi
rm -rf "$work"
say "removed $work"
[[ -z $(find "$project/sources" -mindepth 1 ! -name README.md -print -quit 2>/dev/null) ]] ||
    note "Downloads and the image stay in $project/sources."
