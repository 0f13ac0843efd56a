# shellcheck shell=bash
# Completion of osu-container for bash
#
# What can be typed is what the help of the command says, so that nothing stands twice. Else names of files.

# _osu_container_words BEFORE COMMAND...: options and subcommands in its help, or what the option BEFORE takes
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
    # only what the help itself names is called once more: what stands behind may be a command of a job
    while (( at < COMP_CWORD && at < 3 )) && [[ $'\n'$words$'\n' == *$'\n'"${COMP_WORDS[at]}"$'\n'* ]]; do
        called+=("${COMP_WORDS[at]}")
        words=$(_osu_container_words "$before" "${called[@]}")
        (( at += 1 ))
    done
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o bashdefault -o default -F _osu_container osu-container
