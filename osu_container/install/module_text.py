"""
Write the settings of a module as Lua statements, each with a short comment.

The command osu-explain prints the complete reason of each setting. This module does not use
EasyBuild's module generator, because the output of the generator differs between
EasyBuild 4.9 and 5.4.
"""

import re
import textwrap
from typing import Any, Dict, Iterable, List, Match, Optional, Tuple

from osu_container import REPOSITORY, __version__
from osu_container.base.terminal import escape_line
from osu_container.data.approaches import SETTINGS
from osu_container.install.call_settings import format_bind, list_tool_variables
from osu_container.verdict import launching
from osu_container.verdict.injection import FOLDER, NAME, TARGET
from osu_container.verdict.settings import FAMILY, Settings

#: Characters that a Lua string must escape: Lua 5.1 reference manual, 2.1. The last range has bytes
#: of file names that are invalid in their encoding (PEP 383).
_NOT_LUA = re.compile('[\0-\x1f"\\\\\x7f\udc80-\udcff]')


def quote_lua(value: str) -> str:
    """Return `value` as a Lua string literal on one line."""

    def escaped(match: Match[str]) -> str:
        letter = match.group()
        return '\\' + (
            letter if letter in '"\\' else 'n' if letter == '\n' else '%03d' % (ord(letter) & 0xFF)
        )

    return '"%s"' % _NOT_LUA.sub(escaped, value)


#: Options of textwrap that keep paths and commands whole, so that users can copy them
_WHOLE_WORDS: Dict[str, Any] = {'break_long_words': False, 'break_on_hyphens': False}
#: Longest line of a modulefile. Only a line with a longer word, such as a path, is longer
LINE_WIDTH = 120
#: Longest part of a string, which leaves room for a function and a variable on the same line
_PART_WIDTH = 92


def wrap_code(code: str, indent: str = '') -> str:
    """
    Return Lua code with line breaks at blanks, so that lines fit into LINE_WIDTH.

    The character '\\0' is never the place of a line break. In the result a blank replaces each
    '\\0'.
    """
    lines = textwrap.wrap(
        code,
        LINE_WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + '        ',
        **_WHOLE_WORDS,
    )
    return '\n'.join(lines).replace('\0', ' ')


def protect_string(value: str) -> str:
    """
    Return `value` as a Lua string in which '\\0' replaces each blank, for wrap_code().

    A long text becomes several strings, which Lua concatenates.
    """
    parts = textwrap.wrap(quote_lua(value), _PART_WIDTH, drop_whitespace=False, **_WHOLE_WORDS)
    return '" .. "'.join(part.replace(' ', '\0') for part in parts)


def format_lua_call(function: str, *arguments: str) -> str:
    """Return a Lua call of `function`, a function of Lmod, with `arguments` as strings."""
    return wrap_code('%s(%s)' % (function, ', '.join(map(protect_string, arguments))))


def format_lua_comment(text: str) -> str:
    """
    Return `text` as a Lua comment on one line.

    The function escapes line breaks, because Lua would execute the text after a line break.
    """
    return '-- ' + escape_line(' '.join(text.split()))


#: Column of the comments after statements
_COLUMN = 52


def add_comment(code: str, text: str) -> str:
    """
    Return `code` with a Lua comment: the beginning of `text` up to a punctuation mark.

    The comment is at the end of the last line of `code`. If the last line would be too long, the
    comment is on a separate line above `code`.
    """
    comment = format_lua_comment(re.split(r'[.;:,](?=\s|$)| \(', text)[0])
    last_line = code.rpartition('\n')[2]
    padding = ' ' * max(1, _COLUMN + 1 - len(last_line))
    fits = len(last_line + padding + comment) <= LINE_WIDTH
    return code + padding + comment if fits else comment + '\n' + code


#: Characters per line of `module help`: the width of a terminal, because Lmod does not wrap
WIDTH = 80
_TEXT_COLUMN = 12
#: The page that the help refers to
PAGE = 'docs/approaches.md of ' + ', '.join(
    filter(None, ['osu-container ' + __version__, REPOSITORY])
)


def wrap_help_text(
    text: str, first: str = '', begin: int = 0, whole: Iterable[str] = ()
) -> List[str]:
    """
    Return `text` as lines of at most WIDTH characters.

    A word that is longer than WIDTH, such as a path, gets a separate line. first: text before
    `text` on the first line. begin: column at which `text` begins on each line. whole: commands in
    `text`. Each command stays on one line if the line is long enough, so that users can copy the
    command.
    """
    for command in whole:
        text = text.replace(command, command.replace(' ', '\0'))
    lines = textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first.ljust(begin),
        subsequent_indent=' ' * begin,
        **_WHOLE_WORDS,
    )
    return [line.replace('\0', ' ') for line in lines]


def format_help(
    settings: Settings,
    programs_are: str,
    example: str,
    module: str,
    image: Optional[str] = None,
) -> List[str]:
    """
    Return the lines that `module help` prints.

    programs_are: description of the programs, such as '7.5 C', '' if unknown. example: command that
    the help shows after srun. module: name of the module without the approach. image: file name of
    the SIF, None for a native module.
    """
    stack = settings.stack
    run = launching.format_launch_example(stack.launcher, stack.pmi, example)
    environment, container = settings.environment, settings.container
    width = WIDTH - _TEXT_COLUMN
    rows: List[Tuple[str, str]] = [('MPI', '%s, %s' % (stack.mpi, stack.libfabric))]
    if image:  # $SIF has the full name.
        short = image[:32] + '...' + image[35 - width :]
        rows.append(('image', image if len(image) <= width else short))
    programs = settings.programs[:3] + ['...'] * (len(settings.programs) > 3)
    if programs_are:
        programs.append('(%s)' % re.sub(r'^(?=\d)', 'OSU ', programs_are))
    rows += [('run', run), ('commands', ' '.join(programs))]
    if environment.gpu_map:
        rows.append(('binding', 'osu-gpu-bind %s: binds ranks near GPU and network card' % example))
    if environment.placement_note:
        rows.append(('binding', environment.placement_note))
    rows += [('why', 'osu-explain; ' + PAGE), ('proof', 'osu-proof -- ' + run)]
    if environment.setting_variables:
        names = ' '.join(sorted(environment.setting_variables))
        rows.append(('settings', 'module load osu-settings/NAME: ' + names))
    if container.user_path is not None:
        rows.append(('yours', '/user-software; make-squashfs packs /user-software into one file'))
    if container.shares_container:
        rows.append(('containers', 'all ranks of a node share a container, unless OSU_SHARE=0'))
    if container.env_prefix:
        rows.append(('others', 'to start other containers, first run: module unload %s' % module))
    whole = ['osu-proof -- ' + escape_line(run), escape_line(run)]
    return [
        line
        for key, text in rows
        for line in wrap_help_text(escape_line(text), key + ':', _TEXT_COLUMN, whole)
    ]


def list_keywords(settings: Settings) -> List[str]:
    """Return the keywords with which `module keyword` finds the module."""
    # 'Cray MPICH' of 'Cray MPICH 8.1.32 of the host'
    family = re.findall(r'\D*[^\s\d]', settings.stack.mpi)[0]
    return (
        ['MPI', family, 'libfabric']
        + (['container'] if settings.container.env_prefix else [])
        + [settings.approach]
    )


def render_modulefile(
    settings: Settings, names: Tuple[str, str], reinstall_command: str, sif: Optional[str] = None
) -> str:
    """
    Return the modulefile lines that follow the lines that EasyBuild writes.

    EasyBuild writes the help, `local root` and PATH. names: the name of the module, and the form of
    the name that EasyBuild uses in names of variables. reinstall_command: eb command for messages.
    sif: file name of the image in the installation, None for a native module.
    """
    lines = render_family_lines(settings)
    if sif:
        lines += render_image_lines(settings, sif, reinstall_command)
    lines += render_check_lines(settings, names[0], reinstall_command)
    if sif:
        lines.append(NAMES_TEXT % names[1])
    for variable in launching.list_pmi_variables(settings.stack.launcher, settings.stack.pmi):
        call = format_lua_call('pushenv', *variable)
        lines.append(add_comment(call, "ranks find each other through PMI"))
    lines += render_default_lines(settings) + render_tool_lines(settings)
    if sif:
        lines += render_runtime_lines(settings, names[0])
    return ''.join(line + '\n' for line in lines)


def render_family_lines(settings: Settings) -> List[str]:
    """Return the modulefile lines that prevent users from loading two MPI modules at a time."""
    lines = [add_comment(format_lua_call('family', FAMILY), "one MPI at a time")]
    checks = settings.load_checks
    if settings.container.env_prefix and checks.family != FAMILY:
        call = format_lua_call('family', checks.family)
        lines.append(add_comment(call, "as the system's bind modules"))
    if settings.container.env_prefix and checks.conflicts:
        call = format_lua_call('conflict', *checks.conflicts)
        lines.append(add_comment(call, "these modules set binds, too"))
    return lines


def render_image_lines(settings: Settings, sif: str, reinstall_command: str) -> List[str]:
    """
    Return the modulefile lines that set the variable `sif` to the path of the image.

    Lmod searches for the image in the installation, then in the site's image folders. If Lmod does not
    find the image, `module load` fails.
    """
    lines = ['local image = ' + quote_lua(sif), 'local sif = pathJoin(root, image)']
    for folder in settings.load_checks.image_folders:  # The user may have deleted the copy.
        path = quote_lua(folder)
        if folder.startswith('{'):
            variable, _, rest = folder[1:].partition('}')
            lines.append('local folder = os.getenv("%s") or ""' % variable)
            path = 'folder .. ' + quote_lua(rest)
        lines.append('if not isFile(sif) then sif = pathJoin(%s, image) end' % path)
    message = '"The\0image\0" .. pathJoin(root, image) .. ' + protect_string(
        " is gone. To restore: " + reinstall_command
    )
    if settings.load_checks.site_image:
        message = protect_string(
            "The image %s is gone: the owner has removed the file. Install the module with another "
            "image: %s" % (settings.load_checks.site_image['path'], reinstall_command)
        )
    # isFile() of Lmod is true for a broken link as well.
    return [
        *lines,
        'if mode() == "load" and not lfs.attributes(sif) then',
        wrap_code('LmodError(%s)' % message, '    '),
        'end',
    ]


#: Checks the loaded software stack. A variable that is not set passes the check: the user has loaded
#: no module of the system, or runs a job without these modules.
VARIABLE_TEXT = """
    local value = os.getenv(name) or ""
    if not ("  " .. fits .. " "):find(" " .. value .. " ", 1, true) then table.insert(changes, name .. "=" .. value) end
end"""
#: Compares only sizes, because a checksum would need a subprocess and seconds
SIZE_TEXT = """}) do
    local size = lfs.attributes(file[1], "size")
    if size ~= file[2] then table.insert(changes, file[1] .. (size and " has changed" or " is gone")) end
end"""
#: LmodMessage, because after LmodWarning `module load` returns 1 (Lmod 8.6.19, tried on 2026-11-23):
#: a job script with `set -e` or `module load X && srun ...` would stop, although there is no error.
CHECK_TEXT = """if changes[1] and mode() == "load" then
    LmodMessage("Warning: the system has changed since this module was installed: " .. table.concat(changes, "; ") ..
        %s)
end"""


def render_check_lines(settings: Settings, name: str, reinstall_command: str) -> List[str]:
    """
    Return the modulefile lines that print a warning if the system has changed.

    At load time, the lines compare the size of the image, the sizes of host libraries and the
    user's loaded modules with the values at installation. The result is empty if there is nothing
    to compare.
    """
    checks = settings.load_checks
    shell = [
        '%s\0=\0%s' % (entry['name'], protect_string(' '.join(entry['fits'])))
        for entry in checks.shell_checks
    ]
    rows = [('sif', checks.installed_image['size'])] if checks.installed_image else []
    rows += [(quote_lua(watched['path']), watched['size']) for watched in checks.watched_files]
    if not shell and not rows:
        return []
    lines = [
        add_comment('local changes = {}', "differences between the system now and at installation")
    ]
    if shell:
        loop = 'for name, fits in pairs({ %s }) do' % ', '.join(shell)
        lines.append(wrap_code(loop) + VARIABLE_TEXT)
    if rows:
        lines += [
            add_comment('for _, file in ipairs({', "sizes in bytes"),
            *['    { %s, %d },' % row for row in rows],
            SIZE_TEXT,
        ]
    advice = '. Programs may fail. To reinstall: module unload %s; %s' % (
        name,
        reinstall_command,
    )
    return lines + [CHECK_TEXT % quote_lua(advice)]


#: Sets the variables of LUMI's container modules; the second name ends with the name of the module.
NAMES_TEXT = """setenv("SIF", sif)                                   -- names as in LUMI's container modules
setenv("SIF%s", sif)
setenv("CONTAINERROOT", root)"""


#: pushenv restores the earlier value on unload. setenv in an `if not os.getenv(...)` would see its
#: own value on unload and keep it.
DEFAULT_TEXT = 'local function default(name, value) pushenv(name, os.getenv(name) or value) end'


def render_default_lines(settings: Settings) -> List[str]:
    """Return the modulefile lines that set variables, but keep values that the user has set."""
    lines = [add_comment(DEFAULT_TEXT, "keeps a value that the user has set")]
    for entry in settings.environment.variables:
        call = format_lua_call('default', entry['name'], entry['value'])
        lines.append(add_comment(call, entry['why']))
    return lines if lines[1:] else []


#: The programs of a native module are started directly, so only srun's task prolog can watch them.
#: Unload evaluates the variable that load has set, because OSU_PROOF may be unset by then.
WATCH_TEXT = """local watched = os.getenv(mode() == "unload" and "OSU_PROOF_PROLOG" or "OSU_PROOF") or "0"
if watched ~= "0" then                               -- export OSU_PROOF=1 before module load: srun's tasks are watched
    setenv("OSU_PROOF_PROLOG", os.getenv("SLURM_TASK_PROLOG") or "")
    pushenv("SLURM_TASK_PROLOG", pathJoin(root, "proof", "osu_container", "proof", "task-prolog"))
end"""


def render_tool_lines(settings: Settings) -> List[str]:
    """
    Return the modulefile lines that set the variables of this project's commands.

    The lines also add the settings modules to MODULEPATH, and print a note on where ranks run.
    """
    lines = [add_comment('setenv("OSU_MODULE_ROOT", root)', "osu-container bench")]
    for name, value, comment in list_tool_variables(settings):
        lines.append(add_comment(format_lua_call('setenv', name, value), comment))
    if settings.environment.setting_variables:
        lines.append(
            add_comment(
                'prepend_path("MODULEPATH", pathJoin(root, "%s"))' % SETTINGS_FOLDER,
                "module load osu-settings/NAME",
            )
        )
    if settings.environment.placement_note:
        lines.append(
            'if mode() == "load" then LmodMessage(%s) end'
            % quote_lua("Note: " + settings.environment.placement_note)
        )
    return lines + ([] if settings.container.env_prefix else WATCH_TEXT.split('\n'))


#: Unload must undo what load did, also if the user has changed OSU_SCOPE in between. Each module
#: name has its own variable, because Lmod loads the new module of a family before it unloads the old
#: one.
SCOPE_TEXT = """local scope = os.getenv(mode() == "unload" and "OSU_SCOPE_OF_%(kept)s" or "OSU_SCOPE") or ""
setenv("OSU_SCOPE_OF_%(kept)s", scope) -- OSU_SCOPE=commands: binds only for commands of this module
local function bind(value) if scope ~= "commands" then append_path("%(variable)s", value, ",") end end"""
#: Binds a host library, by default under its own name.
INJECT_TEXT = (
    'local function inject(path, name) bind(path .. ":%s/" .. (name or path:match("[^/]+$"))) end'
    % FOLDER
)


def render_runtime_lines(settings: Settings, name: str) -> List[str]:
    """
    Return the modulefile lines that set variables of the container runtime.

    The variables contain, for example, the bind mounts of containers. name: name of the module.
    """
    container = settings.container
    prefix = container.env_prefix or ''
    names = {'kept': re.sub(r'\W', '_', name).upper(), 'variable': prefix + '_BIND'}
    lines = [SCOPE_TEXT % names, *render_bind_lines(settings)]
    lines.append(
        add_comment(
            'bind(pathJoin(root, "%s") .. ":%s")' % (NAME, TARGET),
            "sets LD_LIBRARY_PATH" + " and LD_PRELOAD" * bool(container.preload),
        )
    )
    paths = [path for path, target, _ in container.binds if path == target]
    paths += [entry['path'] for entry in container.run_files if '{' not in entry['path']]
    if paths:
        lines += [
            wrap_code('for _, path in ipairs({ %s }) do' % ', '.join(map(protect_string, paths))),
            '    if mode() == "unload" or lfs.attributes(path) then bind(path) end -- skip paths that this node lacks',
            'end',
        ]
    if container.user_path is not None:
        lines.append(USER_TEXT)
    if container.needs_nvidia:
        lines.append(
            add_comment(
                'if scope ~= "commands" then pushenv("%s_NV", "1") end' % prefix,
                "the driver's libraries, as --nv",
            )
        )
    return lines


#: Binds the file of make-squashfs, else the folder, like LUMI's container modules
#: [LUMI-SoftwareStack 02f17317, LMOD/SitePackage.lua]. Lmod removes a slash at the end of what it
#: appends, so image-src is `.`, which Apptainer 1.4 accepts. Unload removes both binds, because
#: make-squashfs may have packed the folder in between.
USER_TEXT = """local own, gone = pathJoin(root, "user-software"), mode() == "unload" -- your own software
if gone or isFile(own .. ".squashfs") then bind(own .. ".squashfs:/user-software:image-src=.") end
if gone or isDir(own) and not isFile(own .. ".squashfs") then bind(own .. ":/user-software") end"""


def render_bind_lines(settings: Settings) -> List[str]:
    """Return the modulefile lines that bind host files to other paths in the container."""
    lines, last_reason = [], ''
    for path, target, why in settings.container.binds:
        folder, _, name = target.rpartition('/')
        if path == target:
            continue
        if folder == FOLDER:
            same_name = path.rpartition('/')[2] == name
            code = format_lua_call('inject', *[path, name][: 2 - same_name])
        else:
            code = format_lua_call('bind', format_bind(path, target))
        lines.append(code if why == last_reason else add_comment(code, why))
        last_reason = why
    return [INJECT_TEXT] * any('inject(' in line for line in lines) + lines


#: Folder of an installation with the settings modules, and the prefix of their names
SETTINGS_FOLDER, SETTINGS_PREFIX = 'settings', 'osu-settings'


def render_settings_modules(settings: Settings) -> Dict[str, str]:
    """
    Return {path: text} of the settings modules, which set optional variables.

    The paths are relative to the folder of the settings modules.
    """
    return {
        '%s/%s.lua' % (SETTINGS_PREFIX, name): _render_settings_module(name, variables)
        for name, variables in settings.environment.setting_variables.items()
    }


def _render_settings_module(name: str, variables: List[Dict[str, Any]]) -> str:
    """Return the modulefile of the settings module `name`, which sets `variables`."""
    lines = [
        format_lua_call('help', SETTINGS[name]),
        format_lua_call('whatis', 'Description: ' + SETTINGS[name]),
    ]
    lines += [
        add_comment(format_lua_call('pushenv', entry['name'], entry['value']), entry['why'])
        for entry in variables
    ]
    return '\n'.join(lines) + '\n'
