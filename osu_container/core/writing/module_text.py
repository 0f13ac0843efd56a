"""
Settings -> text of a Lua module, written with EasyBuild's own module generator (given, never imported).

What EasyBuild's generator writes differently from one version to the next is avoided (append_paths with delim, values
with $NAME), so that EasyBuild 4.9 to 5.4 give the same text.
"""
import os
import re
import textwrap
from itertools import groupby

from osu_container.core import shell
from osu_container.core.data.approaches import NO_LIBFABRIC, SWITCHES
from osu_container.core.deciding.settings import INJECT_FOLDER
from osu_container.core.deciding.site_choice import switch_of
from osu_container.core.terminal import one_line
from osu_container.core.writing.call_settings import SCRIPTS, promised, run_files

#: What stands for itself in no Lua string: Lua 5.1 reference manual, 2.1. The last are bytes of file names that are
#: none of their encoding (PEP 383)
_NOT_LUA = re.compile('[\0-\x1f"\\\\\x7f\udc80-\udcff]')


def lua_string(value):
    """Return value (str) as a Lua string literal on one line, whatever it holds."""
    def escaped(found):
        """Return a character (match) as Lua's escape."""
        letter = found.group()
        return '\\' + (letter if letter in '"\\' else 'n' if letter == '\n' else '%03d' % (ord(letter) & 0xff))
    return '"%s"' % _NOT_LUA.sub(escaped, value)


def comment(generator, text):
    """Return text (str) as a comment of the module, on one line whatever is in it: a line end would begin code."""
    return generator.comment(' '.join(text.split()))


def setenv(name, value):
    """Return the line that sets the variable name (str) to value (str), which is never code nor another variable."""
    return 'setenv(%s, %s)\n' % (lua_string(name), lua_string(value))


#: Characters in a line of `module help`: a terminal's width, which Lmod leaves as it is
WIDTH = 80
_WORDS_BEGIN = 12


def folded(text, first='', begin=0, whole=()):
    """
    Return lines (list of str) of at most WIDTH characters; a word that is longer, such as a path, has its own line.

    :param text: str; first: str, what stands in front of its first line; begin: int, column of the text
    :param whole: strings in text that are commands, to be copied, and stay on one line where they fit into one
    """
    for command in whole:
        text = text.replace(command, command.replace(' ', '\0'))
    lines = textwrap.wrap(text, WIDTH, initial_indent=first.ljust(begin), subsequent_indent=' ' * begin,
                          break_long_words=False, break_on_hyphens=False)
    return [line.replace('\0', ' ') for line in lines]


def help_lines(settings, programs_are, example):
    """
    Return the lines (list of str, of WIDTH characters at most) that a user reads in `module help`.

    :param settings: Settings
    :param programs_are: str, what the programs are, such as '7.5 C', '' where nothing says it
    :param example: str, a command to show behind srun
    """
    run = 'srun -N2 -n2 ' + example
    names = sorted(set(variable['name'] for variable in settings.sets.variables))
    over = settings.stack.libfabric + (', provider ' + settings.stack.provider if settings.stack.provider else '')
    rows = [('MPI', "%s over %s" % (settings.stack.mpi, over), ()),
            ('srun', "--mpi=%s, which this module sets (SLURM_MPI_TYPE): %s" % (settings.stack.pmi, run), [run]),
            ('commands', ' '.join(settings.programs) + (programs_are and ' (%s)' % programs_are),
             ['(%s)' % programs_are]),
            ('variables', ' '.join(names) + '; what you set yourself wins', ()),
            ('', "osu-explain prints each with its value, reason and source, and every bind", ())]
    if settings.at_load.of_site:
        rows.append(('image', "%s, which the site keeps for all; here is a link to it, and its sha256"
                     % settings.at_load.of_site['path'], ()))
    rows.append(('proof', "osu-proof -- %s shows what each rank really loaded and used" % run, ['osu-proof -- ' + run]))
    if settings.inside.user_path is not None:
        rows.append(('yours', "/user-software in the container; make-squashfs packs it into one file, "
                     "unmake-squashfs unpacks it to add more", ()))
    if settings.inside.share:
        rows.append(('containers', "one on each node for all its ranks; export OSU_SHARE=0 gives each rank its own",
                     ['export OSU_SHARE=0']))
    if settings.sets.gpu_map:
        bound = 'srun ... osu-gpu-bind ' + example
        rows.append(('binding', bound + " puts ranks next to their GPU and network card", [bound]))
    for name in settings.sets.switches:
        for value, effect in sorted(SWITCHES[name].items()):
            switch = 'export %s=%s' % (name, value)
            rows.append(('switch', "%s before module load: %s" % (switch, effect), [switch]))
    return [line for key, text, whole in rows
            for line in folded(one_line(text), key and key + ':', _WORDS_BEGIN, [one_line(part) for part in whole])]


def keywords(settings):
    """Return the words (list of str) by which `module keyword` finds the module."""
    family = re.match(r'\D*[^\s\d]', settings.stack.mpi).group()  # 'Cray MPICH 8.1.32 of the host'
    return ['MPI', family, 'libfabric'] + (['container'] if settings.inside.env_prefix else []) + [settings.approach]


def _local_of(switch):
    """Return the name of the Lua variable that holds a switch (str), e.g. 'rccl_strict' for 'OSU_RCCL_STRICT'."""
    return switch.replace('OSU_', '', 1).lower()


def _condition(when):
    """Return the Lua text of the condition when (str, 'SWITCH=VALUE' or 'SWITCH!=VALUE')."""
    name, value, negative = switch_of(when)
    return '%s %s %s' % (_local_of(name), '~=' if negative else '==', lua_string(value))


#: pushenv keeps what was there before and restores it on unload; setenv in an `if not os.getenv(...)` would see its own
#: value on unload and leave it behind.
DEFAULT_TEXT = 'local function default(name, value) pushenv(name, os.getenv(name) or value) end\n'


def default_lines(entries):
    """
    Return the lines (str) that give a variable its value unless the user has set one.

    :param entries: list of dict, the entries of one variable; the first whose `when` holds counts, without one that
                    holds the variable is left alone
    """
    text, word = '', 'if'
    for entry in entries:
        line = 'default(%s, %s)\n' % (lua_string(entry['name']), lua_string(entry['value']))
        if not entry.get('when'):
            return text + ('else\n    %send\n' % line if text else line)
        text += '%s %s then\n    %s' % (word, _condition(entry['when']), line)
        word = 'elseif'
    return text + 'end\n'


#: Unload must undo what load did, also when the user has changed the switch since. It would be shorter to call
#: pushenv(NAME, false) for what a switch turns off, but that ends in an error in a subshell of Lmod 8.7.32
#: (github.com/TACC/Lmod/issues/745). Each module name has a variable of its own, because Lmod loads the new module of a
#: family before it unloads the old one.
SWITCH_TEXT = """local %(local)s = os.getenv(mode() == "unload" and "%(kept)s" or "%(switch)s") or ""
setenv("%(kept)s", %(local)s)
"""


def switches_text(generator, settings, name):
    """Return the text that reads the switches which the user may have set before loading; name (str): the module's."""
    if not settings.sets.switches:
        return ''
    return generator.comment("switches (module help says what each does): unload goes by what they were at load") + (
        ''.join(SWITCH_TEXT % {'switch': switch, 'local': _local_of(switch), 'kept': _kept(switch, name)}
                for switch in settings.sets.switches))


def _kept(variable, name):
    """Return the name (str) under which a module (name: str) keeps what a variable was at load."""
    return '%s_OF_%s' % (variable, re.sub(r'\W', '_', name).upper())


def refusals_text(generator, settings):
    """Return the text that ends loading where the user has set a switch that this module cannot follow."""
    lines = []
    for entry in settings.sets.refuses:
        name, value, _ = switch_of(entry['when'])
        lines += [generator.comment("a choice that cannot be followed is an error, never another network in silence"),
                  generator.conditional_statement(
                      'mode() == "load" and os.getenv("%s") == "%s"' % (name, value),
                      'LmodError(%s)' % lua_string("%s=%s is set, but %s. What to do: %s" % (
                          name, value, entry['why'], entry['remedy'])))]
    return ''.join(lines)


def reason(fact):
    """Return the comment text (str) for fact (dict, a variable or a file): why, source, date, evidence, origin."""
    parts = [fact.get('origin'), fact['source'], fact.get('date'), fact['evidence']]
    return "%s [%s]" % (fact['why'], '; '.join(part for part in parts if part))


def variables_text(generator, settings):
    """Return the text that sets the variables of settings, each with its reasons above it."""
    lines = []
    if settings.sets.variables:
        lines += [generator.comment("a default: what you have set yourself wins"), DEFAULT_TEXT]
    for _, group in groupby(settings.sets.variables, key=lambda variable: variable['name']):
        entries = list(group)
        lines += [comment(generator, reason(entry) + (' if ' + entry['when'] if entry.get('when') else ''))
                  for entry in entries]
        lines.append(default_lines(entries))
    return ''.join(lines)


def promise_text(generator, settings):
    """Return the text that says to osu-proof what the module promises; the provider is that of FI_PROVIDER now."""
    provider = '' if settings.stack.libfabric_of == NO_LIBFABRIC else ' .. (os.getenv("FI_PROVIDER") or "")'
    return generator.comment("read by osu-proof: what the ranks are held to") + (
        'setenv("OSU_PROMISE", %s%s)\n' % (lua_string(promised(settings)), provider))


#: The programs of a native module are started directly, so nothing of this project is there that could watch them but
#: srun's own task prolog. Unload goes by what load has set, not by OSU_PROOF: that may be gone by then.
WATCH_TEXT = """local watched = os.getenv(mode() == "unload" and "OSU_PROOF_PROLOG" or "OSU_PROOF") or "0"
if watched ~= "0" then
    setenv("OSU_PROOF_PROLOG", os.getenv("SLURM_TASK_PROLOG") or "")
    pushenv("SLURM_TASK_PROLOG", pathJoin(root, "proof", "osu_container", "proof", "task-prolog"))
end
"""


def families_text(generator, settings):
    """Return the text by which one such module is loaded at a time."""
    # a second family would have Lmod say twice which module it replaces
    lines = [generator.comment("SLURM_MPI_TYPE, binds and library paths are for one MPI: one such module at a time"),
             'family("%s")\n' % settings.at_load.family]
    if settings.at_load.conflicts and settings.inside.env_prefix:
        lines += [generator.comment("each of these sets %s_BIND for itself" % settings.inside.env_prefix),
                  'conflict(%s)\n' % ', '.join(lua_string(name) for name in settings.at_load.conflicts)]
    return ''.join(lines)


#: Warnings are LmodMessage: after LmodWarning `module load` returns 1 (Lmod 8.6.19, tried on 2026-11-23), and a job
#: script ends there by `set -e` or `module load X && srun ...`, for what is no error.
#: A variable that is not set fits: the user has loaded none of these modules, or runs a job without them.
EXPECT_TEXT = """local function expect(name, fits, says)
    local value = os.getenv(name) or ""
    if mode() == "load" and value ~= "" and not fits[value] then
        LmodMessage("Warning: " .. name .. "=" .. value .. says)
    end
end
"""


def shell_text(generator, settings):
    """Return the text that warns where the system's modules in the user's shell are not those that this one is for."""
    lines = [comment(generator, reason(entry)) for entry in settings.at_load.shell[:1]] + [EXPECT_TEXT]
    lines += ['expect("%s", {%s}, %s)\n' % (entry['name'], ', '.join('["%s"]=true' % one for one in entry['fits']),
                                            lua_string(' is loaded, and ' + entry['says']))
              for entry in settings.at_load.shell]
    return ''.join(lines) if settings.at_load.shell else ''


def pmi_text(generator, settings):
    """Return the text that sets --mpi= of srun."""
    return (generator.comment("MPI ranks find each other through PMI; with another --mpi= each rank is alone")
            + generator.set_environment('SLURM_MPI_TYPE', {'value': settings.stack.pmi, 'pushenv': True}))


def common_text(generator, settings, name):
    """
    Return the text that container and native modules share: family, --mpi= of srun, variables with defaults.

    :param name: str, of the module
    """
    lines = ["\n", comment(generator, "%s on site %s: %s" % (settings.approach, settings.site, settings.title)),
             families_text(generator, settings), shell_text(generator, settings)]
    lines += [pmi_text(generator, settings), refusals_text(generator, settings),
              switches_text(generator, settings, name), variables_text(generator, settings),
              promise_text(generator, settings),
              generator.comment("read by osu-container bench: the installation, whose settings.json says what this is"),
              generator.set_environment('OSU_MODULE_ROOT', '', relpath=True)]
    if not settings.inside.env_prefix:
        lines += [generator.comment("export OSU_PROOF=1 before module load: every task of srun is watched, as by "
                                    "osu-proof; your own task prolog runs as well"), WATCH_TEXT]
    if settings.sets.gpu_map:
        lines += [generator.comment("read by osu-gpu-bind: GPU, cores, network card"),
                  setenv('OSU_GPU_MAP', ' '.join(
                      '%d:%s:%s' % (gpu['gcd'], gpu['mask'], gpu['nic']) for gpu in settings.sets.gpu_map))]
        lines += [comment(generator, '%s: %s' % (entry['name'], reason(entry)))
                  for entry in settings.sets.rank_variables]
        lines.append(setenv('OSU_GPU_VARIABLES', ' '.join(
            '%s=%s' % (entry['name'], entry['value']) for entry in settings.sets.rank_variables)))
    return ''.join(lines)


#: Compares a file with what it was by size and time stamp; no subprocess, so that loading stays cheap.
COMPARE_TEXT = """local changed = {}
local function compare(path, what, bytes, time)
    local now, date = lfs.attributes(path), "!%Y-%m-%d"
    local was = what .. ", " .. bytes .. " bytes of " .. os.date(date, time)
    if not now then
        table.insert(changed, path .. " is gone (it was " .. was .. ")")
    elseif now.size ~= bytes or now.modification ~= time then
        table.insert(changed, path .. " was " .. was .. ", and is now " .. now.size .. " bytes of " ..
            os.date(date, now.modification))
    end
end
if mode() == "load" then
"""

CHANGED_TEXT = """end
if changed[1] then
    LmodMessage("Warning: The host has changed since this module was installed: " .. table.concat(changed, "; ") ..
        ". Programs may fail or be slow. Install it again: module unload " ..
        myModuleName() .. %s)
end
"""


def watch_text(generator, settings, again):
    """Return the text that warns once per load when one of the watched libraries changed; again (str): what to type."""
    if not settings.at_load.watched:
        return ''
    rows = ['    compare(%s, %s, %d, %d)\n' % (lua_string(library['path']), lua_string(library['what']),
                                              library['size'], library['mtime'])
              for library in settings.at_load.watched]
    return ''.join([generator.comment("a warning where a host library is no longer as it was at installation: path, "
                                      "release, bytes, time stamp"),
                    COMPARE_TEXT] + rows + [CHANGED_TEXT % lua_string('; ' + again)])


#: What the user has put in the place of a deleted image is in another folder, and no matter of this
INTACT_TEXT = """local function word(text)
    return "'" .. text:gsub("'", "'\\\\''") .. "'"
end
local function intact(bytes, time)
    local path, date = pathJoin(root, %(sif)s), "!%%Y-%%m-%%d %%H:%%M:%%S UTC"
    local now = mode() == "load" and lfs.attributes(path)
    if not now then return end
    local was = "it had " .. bytes .. " bytes of " .. os.date(date, time) .. ", and has now " .. now.size ..
        " bytes of " .. os.date(date, now.modification)
    if now.size ~= bytes then
        LmodError("The image " .. path .. " is not the one that was installed: " .. was .. ". Install it again: " ..
            %(again)s)
    elseif now.modification ~= time then
        LmodMessage("Warning: The image " .. path .. " was written to since it was installed: " .. was ..
            ". Compare its sum: cd " .. word(root) .. " && sha256sum -c " .. %(beside)s ..
            ". If it differs: module unload " .. myModuleName() .. "; " .. %(again)s ..
            ". If it fits: touch -d @" .. time .. " " .. word(path))
    end
end
"""


def image_text(generator, settings, sif, again, name):
    """
    Return the text that finds the image: that of the installation, else one in the site's folders, else an error.

    :param name: str, of the module as EasyBuild writes it in variables
    """
    lines = ['local sif = pathJoin(root, %s)\n' % lua_string(sif)]
    if settings.at_load.image_folders:
        lines.append(generator.comment("where the user has deleted the installation's copy the site's own is taken"))
    for folder in settings.at_load.image_folders:
        variable, _, rest = folder[1:].partition('}') if folder.startswith('{') else ('', '', folder)
        path = lua_string(os.path.join(rest, sif))
        if variable:
            path = '(os.getenv("%s") or "") .. %s' % (variable, path)
        lines.append(generator.conditional_statement('not isFile(sif) and isFile(%s)' % path, 'sif = %s' % path))
    found, gone = 'sif', '"The image " .. sif .. %s' % lua_string(" is gone. Get it back with: " + again)
    if settings.at_load.of_site:
        found = lua_string(settings.at_load.of_site['path'])  # for Lmod a link is a file, whatever it leads to
        gone = lua_string("The image %s is gone: its owner has removed it. Install the module again with one that is "
                          "there: %s" % (settings.at_load.of_site['path'], again))
        lines.append(generator.comment("a link to an image that the site keeps for all"))
    lines.append(generator.conditional_statement('mode() == "load" and not isFile(%s)' % found, 'LmodError(%s)' % gone))
    if settings.at_load.image_installed:
        lines += [generator.comment("an error where the image has another size than the one that was installed, a "
                                    "warning where it has another time stamp: its sum would take seconds"),
                  INTACT_TEXT % {'sif': lua_string(sif), 'again': lua_string(again),
                                 'beside': lua_string(shell.path(sif + '.sha256'))},
                  'intact(%(size)d, %(mtime)d)\n' % settings.at_load.image_installed]
    lines += [generator.comment("where the image is, under the names that LUMI's container modules use"),
              'setenv("SIF", sif)\n', 'setenv("SIF%s", sif)\n' % name,
              generator.set_environment('CONTAINERROOT', '', relpath=True),
              generator.set_environment('RUNSCRIPTS', SCRIPTS, relpath=True),
              generator.set_environment('RUNSCRIPTS' + name, SCRIPTS, relpath=True),
              generator.comment("read by bin/run-in-container: the image"), 'setenv("MPI_CONTAINER_IMAGE", sif)\n']
    return ''.join(lines)


def container_text(generator, settings, names, sif, runtime_command, again, wrapped=False):
    """
    Return the text of a container module: the image, the runtime, binds, library path, folders of programs.

    :param names: (str, str), of the module: its own, and as EasyBuild writes it in variables
    :param sif: str, file name of the SIF in the installation
    :param runtime_command: str, command of the container runtime
    :param again: str, what to type to install the module again
    :param wrapped: bool, lumi-container-wrapper made wrappers in the installation
    """
    prefix = settings.inside.env_prefix
    lines = [
        image_text(generator, settings, sif, again, names[1]),
        user_text(generator, settings, names[0]),
        watch_text(generator, settings, again),
        generator.comment("read by bin/run-in-container: the runtime, how the names of its variables start, and the "
                          "variable that srun --mpi=%s gives a rank" % settings.stack.pmi),
        setenv('MPI_CONTAINER_RUNTIME', runtime_command),
        setenv('MPI_CONTAINER_PREFIX', prefix),
        setenv('MPI_CONTAINER_PMI', '%s %s' % (settings.stack.pmi, settings.stack.pmi_variable or '')),
    ]
    if settings.inside.share:
        lines += [generator.comment("read by bin/run-in-container: the ranks of a node run in one container "
                                    "(OSU_SHARE=0: each in its own), else they cannot read each other's memory"),
                  setenv('MPI_CONTAINER_SHARE', '1')]
    if settings.inside.apart:
        lines += [comment(generator, '%s: %s' % (entry['name'], reason(entry))) for entry in settings.inside.apart]
        lines += [generator.comment("set by bin/run-in-container for ranks that have a container of their own"),
                  setenv('MPI_CONTAINER_APART', ' '.join(
                      '%s=%s' % (entry['name'], entry['value']) for entry in settings.inside.apart))]
    if wrapped:
        lines += [generator.comment("made by lumi-container-wrapper; bin/run-in-container ends in them"),
                  generator.set_environment('MPI_CONTAINER_WRAPPERS', os.path.join('wrappers', 'bin'), relpath=True)]
    if settings.inside.through_entrypoint:
        lines += [generator.comment("read by bin/run-in-container: programs are started through the image's "
                                    "entrypoint, which puts the host's libraries in place"),
                  setenv('MPI_CONTAINER_START', 'run')]
    if settings.inside.host_path:
        lines += [generator.comment("read by the entrypoint of this project's images: more folders of the host"),
                  setenv('OSU_SWAP_PATH', ':'.join(settings.inside.host_path))]
    lines += _run_time_text(generator, settings)
    lines += [generator.comment("for a runtime that is called directly (bin/run-in-container has the same from "
                                "call-settings), if OSU_SCOPE!=commands"),
              'if %s then\n' % _condition('OSU_SCOPE!=commands')]
    lines += ['    %s\n' % line for line in ''.join(runtime_text(generator, settings)).splitlines()]
    return ''.join(lines + ['end\n'])


#: Lmod takes a slash away from the end of what it appends, so the top of the file is . here, which Apptainer 1.4 takes.
#: Unload must take away what load has added; in between make-squashfs may have packed the folder. Each module name has
#: a variable of its own, as for SWITCH_TEXT.
USER_TEXT = """local user, user_image = pathJoin(root, "user-software"), pathJoin(root, "user-software.squashfs")
user = isDir(user) and user .. ":/user-software" or ""
if isFile(user_image) then user = user_image .. ":/user-software:image-src=." end
if mode() == "unload" then user = os.getenv("%(kept)s") or "" end
setenv("%(kept)s", user)
"""


def user_text(generator, settings, name):
    """Return the text that finds the user's own software of a module (name: str)."""
    if settings.inside.user_path is None:
        return ''
    return generator.comment("your own software: what make-squashfs has packed, else the folder, as LUMI's container "
                             "modules have it [LUMI-SoftwareStack 02f17317, LMOD/SitePackage.lua]") + (
        USER_TEXT % {'kept': _kept('MPI_CONTAINER_USER_SOFTWARE', name)})


def runtime_text(generator, settings):
    """Return the lines (list of str) that set the runtime's variables: binds, library path, folders of programs."""
    prefix, lines = settings.inside.env_prefix, []
    if settings.inside.nvidia:
        lines += [generator.comment("as --nv: the GPUs' devices, and the libcuda that belongs to the host's driver "
                                    "[apptainer exec --help, --nv]"),
                  generator.set_environment(prefix + '_NV', {'value': '1', 'pushenv': True})]
    for why, binds in groupby(settings.inside.binds, key=lambda bind: bind[2]):
        lines.append(comment(generator, why))
        lines += ['append_path("%s_BIND", %s, ",")\n' % (prefix, lua_string('%s:%s' % bind[:2])) for bind in binds]
    if settings.inside.user_path is not None:
        lines += [generator.comment("your own software"),
                  'if user ~= "" then append_path("%s_BIND", user, ",") end\n' % prefix]
    for folder in reversed(settings.inside.library_path):
        lines += [generator.comment(
            "the libraries above go in front of the image's own (ld.so(8): LD_LIBRARY_PATH comes before RUNPATH and "
            "ld.so.cache)" if folder == INJECT_FOLDER else "of the image; the variable replaces the image's own value"),
            'prepend_path("%sENV_LD_LIBRARY_PATH", %s)\n' % (prefix, lua_string(folder))]
    for path in reversed(settings.inside.preload):
        lines += [generator.comment("loaded before the program, which was not linked with it; in the container only"),
                  'prepend_path("%sENV_LD_PRELOAD", %s)\n' % (prefix, lua_string(path))]
    lines.append(generator.comment("the programs can be typed by name in the container"))
    for folder in reversed((settings.inside.user_path or []) + settings.inside.program_path):
        lines.append('prepend_path("%sENV_PREPEND_PATH", %s)\n' % (prefix, lua_string(folder)))
    return lines


def _run_time_text(generator, settings):
    """Return the lines (list of str) for what bin/run-in-container decides on the node: files, what to take away."""
    lines = []
    if settings.inside.run_files:
        for entry in settings.inside.run_files:
            lines.append(comment(generator, '%s: %s' % (entry['target'], reason(entry))))
        lines.append(generator.comment("bound by bin/run-in-container where they exist; else the variables behind | "
                                       "are set: SOURCE:TARGET[|NAME=VALUE...]"))
        lines.append(setenv('MPI_CONTAINER_FILES', run_files(settings)))
    if settings.sets.unset:
        lines += [comment(generator, '%s: %s' % (entry['name'], reason(entry))) for entry in settings.sets.unset]
        lines += [generator.comment("taken away by bin/run-in-container, unless you have set it yourself"),
                  'local unset = ""\n']
        lines += ['if not os.getenv("%s") then unset = unset .. "%s " end\n' % ((entry['name'],) * 2)
                  for entry in settings.sets.unset]
        lines.append('pushenv("MPI_CONTAINER_UNSET", unset)\n')
    return lines
