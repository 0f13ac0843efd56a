#!/bin/bash
# Prints a folder of EasyBuild as the user's settings place it: eb_folder.sh modules|software|ebfiles_repo
#
# Read from EASYBUILD_* only: asking eb itself takes a second, too long for a file that every shell sources.
set -eu
home=~ # that of the account where HOME is not set, as for EasyBuild
prefix=${EASYBUILD_PREFIX:-$home/.local/easybuild}
install=${EASYBUILD_INSTALLPATH:-$prefix}
case ${1:-} in
    modules)
        echo "${EASYBUILD_INSTALLPATH_MODULES:-$install/${EASYBUILD_SUBDIR_MODULES:-modules}}/${EASYBUILD_SUFFIX_MODULES_PATH:-all}" ;;
    software)
        echo "${EASYBUILD_INSTALLPATH_SOFTWARE:-$install/${EASYBUILD_SUBDIR_SOFTWARE:-software}}" ;;
    ebfiles_repo)
        # The option may hold a second word, a folder inside the repository.
        repository=${EASYBUILD_REPOSITORYPATH:-$prefix/ebfiles_repo}
        echo "${repository%%,*}" ;;
    *)
        echo "usage: eb_folder.sh modules|software|ebfiles_repo, got: $*" >&2
        exit 2 ;;
esac
