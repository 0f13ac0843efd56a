"""
Settings -> text of a Lua module: a list of statements, with a word behind each line. The reasons
are osu-explain's.

Nothing of EasyBuild's module generator is used, so that EasyBuild 4.9 to 5.4 give the same text.
"""

import re
import textwrap

from osu_container import REPOSITORY, __version__
from osu_container.base.terminal import escape_line
from osu_container.data.approaches import SETTINGS
from osu_container.install.call_settings import format_bind, list_tool_variables
from osu_container.verdict import launching
from osu_container.verdict.injection import NAME, TARGET
from osu_container.verdict.settings import FAMILY

#: What stands for itself in no Lua string: Lua 5.1 reference manual, 2.1. The last are bytes of
#: file names that are none of their encoding (PEP 383)
_NOT_LUA = re.compile('[\0-\x1f"\\\\\x7f\udc80-\udcff]')


def quote_lua(value):
    """Return value (str) as a Lua string literal on one line, whatever it holds."""

    def escaped(found):
        """Return a character (match) as Lua's escape."""
        letter = found.group()
        return '\\' + (
            letter if letter in '"\\' else 'n' if letter == '\n' else '%03d' % (ord(letter) & 0xFF)
        )

    return '"%s"' % _NOT_LUA.sub(escaped, value)


def format_lua_call(function, *arguments):
    """
    Return the call of a function (str) of Lmod with arguments (str), which are never code nor
    another variable.
    """
    return '%s(%s)' % (function, ', '.join(quote_lua(argument) for argument in arguments))


def format_lua_comment(text):
    """
    Return text (str) as a comment, on one line whatever is in it: a line end would begin code.
    """
    return '-- ' + escape_line(' '.join(text.split()))


#: Where the words behind statements begin
_COLUMN = 52


def add_comment(code, text):
    """
    Return code (str) with a word behind it: text (str) up to its first pause, which stands for
    the whole.
    """
    return '%s %s' % (
        code.ljust(_COLUMN),
        format_lua_comment(re.split(r'[;:,](?=\s|$)| \(', text)[0]),
    )


def indent_lines(lines):
    """Return lines (list of str) as the inside of a block."""
    return ['    ' + line for line in lines]


#: Characters in a line of `module help`: a terminal's width, which Lmod leaves as it is
WIDTH = 80
_TEXT_COLUMN = 12
#: The page of this project that the help names
PAGE = 'docs/approaches.md of ' + ', '.join(
    filter(None, ['osu-container ' + __version__, REPOSITORY])
)


def wrap_help_text(text, first='', begin=0, whole=()):
    """
    Return lines (list of str) of at most WIDTH characters; a word that is longer, such as a path,
    has its own line.

    :param text: str; first: str, what stands in front of its first line; begin: int, column of the
        text
    :param whole: strings in text that are commands, to be copied, and stay on one line where they
        fit into one
    """
    for command in whole:
        text = text.replace(command, command.replace(' ', '\0'))
    lines = textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first.ljust(begin),
        subsequent_indent=' ' * begin,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace('\0', ' ') for line in lines]


def format_help(settings, programs_are, example, module, image=None):
    """
    Return the lines (list of str, of WIDTH characters at most) that a user reads in `module help`.

    :param settings: Settings
    :param programs_are: str, what the programs are, such as '7.5 C', '' where nothing says it
    :param example: str, a command to show behind the launcher; module: str, its name without the
        approach
    :param image: str, file name of the SIF, None for a native module
    """
    stack = settings.stack
    run = launching.format_launch_example(stack.launcher, stack.pmi, example)
    rows = [
        (
            'MPI',
            stack.mpi.replace(' of the', ', ' + stack.libfabric.partition(' of')[0] + ' of the')
            if stack.mpi.rpartition(' ')[2] == stack.libfabric_owner
            else '%s, %s' % (stack.mpi, stack.libfabric),
            (),
        )
    ]
    room = WIDTH - _TEXT_COLUMN  # $SIF has the whole of a longer name
    rows += (
        [('image', image if len(image) <= room else image[:32] + '...' + image[35 - room :], ())]
        if image
        else []
    )
    rows += [
        ('run', run, [run]),
        (
            'commands',
            ' '.join(
                settings.programs[:3]
                + ['...'] * (len(settings.programs) > 3)
                + ['(%s)' % re.sub(r'^(?=\d)', 'OSU ', programs_are)] * bool(programs_are)
            ),
            (),
        ),
    ]
    if settings.environment.gpu_map:
        rows.append(('binding', "osu-gpu-bind %s: ranks next to GPU and card" % example, ()))
    if settings.environment.placement_note:
        rows.append(('binding', settings.environment.placement_note, ()))
    rows += [
        ('why', 'osu-explain; ' + PAGE, ()),
        ('proof', 'osu-proof -- ' + run, ['osu-proof -- ' + run]),
    ]
    if settings.environment.setting_variables:
        rows.append(
            (
                'settings',
                'module load osu-settings/NAME: '
                + ' '.join(sorted(settings.environment.setting_variables)),
                (),
            )
        )
    if settings.container.user_path is not None:
        rows.append(('yours', "/user-software; make-squashfs packs it into one file", ()))
    if settings.container.shares_container:
        rows.append(('containers', "one a node for all ranks; OSU_SHARE=0: each its own", ()))
    if settings.container.env_prefix:
        rows.append(('others', "module unload %s before you start other containers" % module, ()))
    return [
        line
        for key, text, whole in rows
        for line in wrap_help_text(
            escape_line(text), key + ':', _TEXT_COLUMN, [escape_line(part) for part in whole]
        )
    ]


def list_keywords(settings):
    """Return the words (list of str) by which `module keyword` finds the module."""
    family = re.match(r'\D*[^\s\d]', settings.stack.mpi).group()  # 'Cray MPICH 8.1.32 of the host'
    return (
        ['MPI', family, 'libfabric']
        + (['container'] if settings.container.env_prefix else [])
        + [settings.approach]
    )


def render_modulefile(settings, names, again, sif=None):
    """
    Return the text of a module, behind what EasyBuild writes of every module: its help, `local
    root` and PATH.

    :param settings: Settings
    :param names: (str, str), of the module: its own, and as EasyBuild writes it in variables
    :param again: str, what to type to install the module again
    :param sif: str, file name of the SIF in the installation, None for a native module
    """
    parts = [render_family_lines(settings)]
    if sif:
        parts.append(render_image_lines(settings, sif, again))
    parts.append(render_check_lines(settings, names[0], again))
    if sif:
        parts.append(render_name_lines(names[1]))
    parts += [
        [
            add_comment(format_lua_call('pushenv', *kind), "ranks find each other through PMI")
            for kind in launching.list_pmi_variables(settings.stack.launcher, settings.stack.pmi)
        ],
        render_default_lines(settings),
        render_tool_lines(settings),
    ]
    if sif:
        parts.append(render_runtime_lines(settings, names[0]))
    return ''.join(line + '\n' for part in parts for line in part)


def render_family_lines(settings):
    """Return the lines (list of str) by which one such module is loaded at a time."""
    lines = [add_comment(format_lua_call('family', FAMILY), "one MPI at a time")]
    if settings.container.env_prefix and settings.load_checks.family != FAMILY:
        lines.append(
            add_comment(
                format_lua_call('family', settings.load_checks.family),
                "as the system's modules that bind",
            )
        )
    if settings.load_checks.conflicts and settings.container.env_prefix:
        lines.append(
            add_comment(
                format_lua_call('conflict', *settings.load_checks.conflicts),
                "each binds for itself",
            )
        )
    return lines


def render_image_lines(settings, sif, again):
    """
    Return the lines that find the image: that of the installation, else one in the site's folders,
    else an error.

    again: str, what to type to install the module again.
    """
    lines, folders = ['local sif = pathJoin(root, %s)' % quote_lua(sif)], []
    for folder in settings.load_checks.image_folders:
        variable, _, rest = (
            folder[1:].partition('}') if folder.startswith('{') else ('', '', folder)
        )
        folders.append(
            ('(os.getenv("%s") or "") .. ' % variable if variable else '') + quote_lua(rest)
        )
    if folders:  # where the user has deleted the installation's copy
        lines += [
            'for _, folder in ipairs({ %s }) do' % ', '.join(folders),
            '    local copy = pathJoin(folder, %s)' % quote_lua(sif),
            '    if not isFile(sif) and isFile(copy) then sif = copy end',
            'end',
        ]
    gone = '"The image " .. sif .. ' + quote_lua(" is gone. Get it back with: " + again)
    if settings.load_checks.site_image:
        gone = quote_lua(
            "The image %s is gone: its owner has removed it. Install the module again with one that is "
            "there: %s" % (settings.load_checks.site_image['path'], again)
        )
    # for isFile() of Lmod a link is a file, whatever it leads to
    return lines + ['if mode() == "load" and not lfs.attributes(sif) then LmodError(%s) end' % gone]


#: A variable that is not set fits: the user has loaded none of the system's modules, or runs a job
#: without them
SHELL_TEXT = """}) do
    local value = os.getenv(name) or ""
    if not ("  " .. fits):find(" " .. value .. " ", 1, true) then table.insert(other, name .. "=" .. value) end
end"""
#: By size only: it costs no subprocess, and a sum would take seconds
SIZE_TEXT = """}) do
    local size = lfs.attributes(file[1], "size")
    if size ~= file[2] then table.insert(other, file[1] .. (size and " has changed" or " is gone")) end
end"""
#: LmodMessage: after LmodWarning `module load` returns 1 (Lmod 8.6.19, tried on 2026-11-23), and a
#: job script ends by `set -e` or `module load X && srun ...`, for what is no error
CHECK_TEXT = """if mode() == "load" and other[1] then
    LmodMessage("Warning: not as at installation: " .. table.concat(other, "; ") .. ". Programs may fail. " .. %s)
end"""


def render_check_lines(settings, name, again):
    """
    Return the lines that warn where image, host libraries or the shell's modules are others than
    at installation.
    """
    shell = [
        '%s = %s' % (entry['name'], quote_lua(' %s ' % ' '.join(entry['fits'])))
        for entry in settings.load_checks.shell_checks
    ]
    rows = (
        [('sif', settings.load_checks.installed_image['size'])]
        if settings.load_checks.installed_image
        else []
    )
    rows += [(quote_lua(one['path']), one['size']) for one in settings.load_checks.watched_files]
    lines = ['for name, fits in pairs({ %s' % ', '.join(shell) + ' ' + SHELL_TEXT] if shell else []
    if rows:
        lines += [
            add_comment('for _, file in ipairs({', "bytes at installation"),
            *indent_lines(['{ %s, %d },' % row for row in rows]),
            SIZE_TEXT,
        ]
    if not lines:
        return []
    advice = quote_lua('Install it again: module unload %s; %s' % (name, again))
    lines.append(CHECK_TEXT % advice)
    return ['local other = {}'] + [line for text in lines for line in text.split('\n')]


def render_name_lines(variable):
    """
    Return the lines that tell where all is, by the names of LUMI's container modules; variable:
    str, name's end.
    """
    return [
        add_comment('setenv("SIF", sif)', "names as in LUMI's container modules"),
        'setenv("SIF%s", sif)' % variable,
        'setenv("CONTAINERROOT", root)',
    ]


#: pushenv keeps what was there before and restores it on unload; setenv in an `if not
#: os.getenv(...)` would see its own value on unload and leave it behind.
DEFAULT_TEXT = 'local function default(name, value) pushenv(name, os.getenv(name) or value) end'


def render_default_lines(settings):
    """Return the lines that set the variables of settings, unless the user has."""
    return ['', add_comment(DEFAULT_TEXT, "your own value wins")] * bool(
        settings.environment.variables
    ) + [
        add_comment(format_lua_call('default', one['name'], one['value']), one['why'])
        for one in settings.environment.variables
    ]


#: The programs of a native module are started directly, so nothing of this project is there that
#: could watch them but srun's own task prolog. Unload goes by what load has set, not by OSU_PROOF:
#: that may be gone by then.
WATCH_TEXT = """local watched = os.getenv(mode() == "unload" and "OSU_PROOF_PROLOG" or "OSU_PROOF") or "0"
if watched ~= "0" then                               -- export OSU_PROOF=1 before module load: srun's tasks are watched
    setenv("OSU_PROOF_PROLOG", os.getenv("SLURM_TASK_PROLOG") or "")
    pushenv("SLURM_TASK_PROLOG", pathJoin(root, "proof", "osu_container", "proof", "task-prolog"))
end"""


def render_tool_lines(settings):
    """
    Return the lines for this project's own commands, and for settings that not everybody wants.
    """
    lines = [add_comment('setenv("OSU_MODULE_ROOT", root)', "osu-container bench")]
    for name, value, what in list_tool_variables(settings):
        lines.append(
            add_comment(format_lua_call('setenv', name, value), what)
            if what
            else format_lua_call('setenv', name, value)
        )
    if settings.environment.setting_variables:
        lines.append(
            add_comment(
                'prepend_path("MODULEPATH", pathJoin(root, "%s"))' % SETTINGS_FOLDER,
                "module load osu-settings/...",
            )
        )
    if settings.environment.placement_note:
        lines.append(
            'if mode() == "load" then %s end'
            % format_lua_call('LmodMessage', "Note: " + settings.environment.placement_note)
        )
    return lines + ([] if settings.container.env_prefix else WATCH_TEXT.split('\n'))


#: Unload must undo what load did, also if the user has changed OSU_SCOPE since. Each module name
#: has a variable of its own, because Lmod loads the new module of a family before it unloads the
#: old one.
SCOPE_TEXT = """local scope = os.getenv(mode() == "unload" and "OSU_SCOPE_OF_%(kept)s" or "OSU_SCOPE") or ""
setenv("OSU_SCOPE_OF_%(kept)s", scope)
if scope ~= "commands" then                          -- for every start of the runtime, unless OSU_SCOPE=commands"""


def render_runtime_lines(settings, name):
    """
    Return the lines that set the runtime's variables, of the module name (str): binds, and the
    file for them.
    """
    variable = settings.container.env_prefix + '_BIND'
    lines = render_bind_lines(settings, variable)
    lines.append(
        add_comment(
            'append_path("%s", pathJoin(root, "%s") .. ":%s", ",")' % (variable, NAME, TARGET),
            "puts them in front",
        )
    )
    here = [path for path, target, _ in settings.container.binds if path == target]
    here += [entry['path'] for entry in settings.container.run_files if '{' not in entry['path']]
    if here:
        lines += [
            add_comment(
                'for _, path in ipairs({ %s }) do' % ', '.join(map(quote_lua, here)),
                "where this node has it",
            ),
            '    if mode() == "unload" or lfs.attributes(path) then append_path("%s", path, ",") end'
            % variable,
            'end',
        ]
    if settings.container.user_path is not None:
        lines += USER_TEXT.replace('BIND', variable).split('\n')
    if settings.container.needs_nvidia:
        lines.append(
            add_comment(
                format_lua_call('pushenv', settings.container.env_prefix + '_NV', '1'),
                "the driver's libraries, as --nv",
            )
        )
    kept = {'kept': re.sub(r'\W', '_', name).upper()}
    return (SCOPE_TEXT % kept).split('\n') + indent_lines(lines) + ['end']


#: What make-squashfs has packed, else the folder, as LUMI's container modules have it
#: [LUMI-SoftwareStack 02f17317, LMOD/SitePackage.lua]. Lmod takes a slash away from the end of what
#: it appends, so the top of the file is . here, which Apptainer 1.4 takes. Unload takes both away:
#: in between make-squashfs may have packed the folder.
USER_TEXT = """local own, gone = pathJoin(root, "user-software"), mode() == "unload" -- your own software
if gone or isFile(own .. ".squashfs") then append_path("BIND", own .. ".squashfs:/user-software:image-src=.", ",") end
if gone or isDir(own) and not isFile(own .. ".squashfs") then append_path("BIND", own .. ":/user-software", ",") end"""


def render_bind_lines(settings, variable):
    """Return the lines that append to a variable (str) what has another place in the container."""
    binds = [
        add_comment('    %s,' % quote_lua(format_bind(path, target)), why)
        for path, target, why in settings.container.binds
        if path != target
    ]
    return (
        ['for _, bind in ipairs({', *binds, '}) do append_path("%s", bind, ",") end' % variable]
        if binds
        else []
    )


#: Folder of an installation with the modules osu-settings, and what stands in front of their names
SETTINGS_FOLDER, SETTINGS_PREFIX = 'settings', 'osu-settings'


def render_settings_modules(settings):
    """
    Return {path below the folder of modules (str): text} of the settings that not everybody
    wants.
    """
    return dict(
        ('%s/%s.lua' % (SETTINGS_PREFIX, name), _render_settings_module(name, variables))
        for name, variables in settings.environment.setting_variables.items()
    )


def _render_settings_module(name, variables):
    """
    Return the text of the settings module name (str), which sets variables (list of dict, as in
    Sets).
    """
    lines = [
        format_lua_call('help', SETTINGS[name]),
        format_lua_call('whatis', 'Description: ' + SETTINGS[name]),
    ]
    lines += [
        add_comment(format_lua_call('pushenv', one['name'], one['value']), one['why'])
        for one in variables
    ]
    return '\n'.join(lines) + '\n'
