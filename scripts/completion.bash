# shellcheck shell=bash
# Completion of the command osu-container for bash
#
# The possible words are read from the --help output of the command, so that no list is kept here. If the help offers no
# word, bash completes file names.

# Usage: _osu_container_words PREVIOUS COMMAND...
# Print the options and subcommands in the help of COMMAND, or the possible values of the option PREVIOUS.
_osu_container_words() {
    local help values=''
    help=$(COLUMNS=80 "${@:2}" --help 2>/dev/null)
    [[ $1 != --* ]] || values=$(sed -En "s/^  (-\w, )?$1 \{([^}]*)\}.*/\2/p" <<<"$help")
    if [[ -n $values ]]; then
        tr , '\n' <<<"$values"
    else
        sed -En <<<"$help" -e 's/^  (-\w, )?(--[a-z0-9-]+).*/\2/p' -e 's/^  (-\w) .*, (--[a-z0-9-]+).*/\2/p' \
            -e '/^positional/,/^options/s/^    ([a-z][a-z-]+)( .*|$)/\1/p'
    fi
}

_osu_container() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local called=("${COMP_WORDS[0]}") words at=1
    words=$(_osu_container_words "$before" "${called[@]}")
    # Call --help only for subcommands that the help itself names: later words may be the command of a job.
    while (( at < COMP_CWORD && at < 3 )) && [[ $'\n'$words$'\n' == *$'\n'"${COMP_WORDS[at]}"$'\n'* ]]; do
        called+=("${COMP_WORDS[at]}")
        words=$(_osu_container_words "$before" "${called[@]}")
        (( at += 1 ))
    done
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o bashdefault -o default -F _osu_container osu-container
