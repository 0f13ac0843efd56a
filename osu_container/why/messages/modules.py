"""Lmod and Environment Modules."""
from .common import LMOD, OURS

ENTRIES = [
    {'name': 'unknown module',
     'text': 'The following module(s) are unknown: "osu-container/hybrid"',
     'patterns': [("following", r"The\s+following\s+module\(s\)\s+are\s+unknown:\s*(?P<name>.*)"),
                  ("load_any",
                   r"The\s+load_any\s+function\s+failed\s+because\s+it\s+could\s+not\s+find\s+any\s+of\s+the\s+"
                               r"following\s+modules\s*:\s*(?P<any>[^\n]{0,150})")],
     'cause': "Lmod does not find {name}{any}: it is not installed, or its folder is not on MODULEPATH.",
     'remedy': "module spider NAME (module avail) shows the names that are there and what to load first; module use "
               "FOLDER adds a folder, in the job's script too. Of this project: . ./env.sh in this shell (on LUMI: "
               "module load LUMI/25.03 partition/container EasyBuild-user), and eb osu-container-hybrid.eb -r.",
     'also': [("this shell has another MODULEPATH than your login shell", "echo $MODULEPATH in both"),
              ("Lmod's list is old", "module --ignore-cache load NAME")],
     'source': OURS, 'evidence': 'measured'},
    {'name': 'module of another stack',
     'text': 'These module(s) or extension(s) exist but cannot be loaded as requested: "..."',
     'patterns': [("requested:", r"exist\s+but\s+cannot\s+be\s+loaded\s+as\s+requested:\s*(?P<name>.*)")],
     'cause': "{name} belongs to a software stack that is not loaded in this shell.",
     'remedy': "module spider NAME says what to load before it; on LUMI: module load LUMI/25.03 partition/G first.",
     'source': LMOD, 'evidence': 'measured'},
    {'name': 'stack of LUMI without support',
     'text': "The LUMI/24.03 stack is currently unsupported as it was never tested with ...",
     'patterns': [("unsupported", r"LUMI/(?P<stack>\d\d\.\d\d)\s+stack\s+is\s+currently\s+unsupported")],
     'cause': "The stack {stack} was made for LUMI as it was before the update of January 2026: its ROCm and the "
              "libfabric of recipes from then are gone.",
     'remedy': "module load LUMI/25.03 (or 25.09), and install for that stack. Nothing else is wrong if the run was "
               "meant so.",
     'source': 'github.com/Lumi-supercomputer/LUMI-EasyBuild-contrib, issue 422, 2026; LUMI training, update of '
               'January 2026', 'evidence': 'derived', 'last': True},
    {'name': 'modules that exclude each other',
     'text': 'Cannot load module "..." because these module(s) are loaded: ...',
     'patterns': [("module(s)",
                   r"Cannot\s+load\s+module\s+\"(?P<name>[^\"]+)\"\s+because\s+these\s+module\(s\)\s+are\s+loaded:"
                   r"\s*(?P<other>.*)")],
     'cause': "{name} and {other} set the same variables, such as SINGULARITY_BIND, and do not go together.",
     'remedy': "module unload the loaded one; what it binds of the users' file systems the modules of this project "
               "bind as well.",
     'source': LMOD, 'evidence': 'measured'},
    {'name': 'module needs another one',
     'text': "Cannot load module \"...\" without these module(s) loaded: ...",
     'patterns': [("without", r"Cannot\s+load\s+module\s+\"(?P<module>[^\"]{1,200})\"\s+without\s+these\s+module"),
                  ("cannot be loaded due to missing prereq", r"(?P<other>\S+) cannot be loaded due to missing prereq"),
                  ("least", r"Cannot\s+load\s+module\s+\x22(?P<third>[^\x22]{1,200})\x22\.\s+At\s+least\s+one\s+of\s+"
                           r"these\s+module\(s\)\s+must"),
                  ("depends on one of the module(s)",
                   r"Module '(?P<old>[^'\n]{1,100})' depends on one of the module\(s\)"),
                  ("equirement ", r"Requirement '(?P<needs>[^'\n]{1,100})' is not loaded"),
                  ("dependent", r"following\s+dependent\s+module\(s\)\s+are\s+not\s+currently\s+loaded:\s+"
                                r"(?P<lost>[^\n]{1,150})")],
     'cause': "A module needs another one that is not loaded, or is loaded under another name or version: "
              "{module}{other}{third}{old}{needs}{lost}",
     'remedy': "Load the one that is named first, written exactly as it stands there; module spider NAME says the "
               "order.",
     'source': 'github.com/TACC/Lmod, issue 719', 'evidence': 'measured'},
    {'name': 'module in conflict with a loaded one',
     'text': "ERROR: ... cannot be loaded due to a conflict.",
     'patterns': [("cannot be loaded due to a conflict", r"(?P<module>\S+) cannot be loaded due to a conflict"),
                  ("conflicts with the currently loaded", r"(?P<other>\S+) conflicts with the currently loaded "
                   r"module\(s\) ?(?P<old>[^\n]{0,100})"),
                  ("onflicting ", r"Conflicting '(?P<third>[^'\n]{1,100})' is loaded"),
                  ("only", r"You\s+can\s+only\s+have\s+one\s+(?P<family>\S{1,60})\s+module\s+loaded\s+at\s+a\s+time"),
                  ("swapping", r"Your\s+site\s+prevents\s+the\s+automatic\s+swapping\s+of\s+modules")],
     'cause': "{module}{other}{third} and a loaded module exclude each other: two of one name, of one family "
              "(compilers, MPI), or the file says so. {family}{old}",
     'remedy': "module swap OLD NEW, or module unload the one of the hint first; module list shows what is loaded, "
               "module purge unloads all (then load the stack again).",
     'source': 'Environment Modules; github.com/envmodules/modules, issue 352', 'evidence': 'derived'},
    {'name': "module command not there",
     'text': "bash: module: command not found",
     'patterns': [("not found", r"\b(?P<command>module|ml)(?:: | ?: )(?:command )?not found"),
                  (": No such file or directory", r"/\S{1,100}/lmod(?:/libexec/lmod|/\S{1,40})?: No such file or "
                   "directory"), ("LMOD_CMD", r"LMOD_CMD[^\n]{0,80}(?:not found|not set|No such|undefined)"),
                  ("MODULESHOME", r"MODULESHOME[^\n]{0,80}(?:not found|not set|No such|undefined)"),
                  ("environment: line ", r"environment: line \d+: /\S{1,100}: No such file"),
                  ("modulecmd", r"modulecmd[^\n]{0,40}(?:not found|No such file)"), ("_module_raw", r"\b_module_raw"),
                  ("_moduleraw", r"_moduleraw[^\n]{0,40}not found"),
                  ("module: Command not found", r"\bmodule: Command not found"),
                  ("execve(): m", r"execve\(\): (?P<other>module|ml): No such file"),
                  ("BASH_FUNC_", r"error importing function definition for .?BASH_FUNC_(?:module|ml|_module_raw)"),
                  ("modulecmd.tcl", r"couldn't read file \x22\S{1,200}modulecmd\.tcl\x22"),
                  ("tclsh", r"modulecmd\S{0,10}: \S{0,60}tclsh\S{0,10}: bad interpreter")],
     'cause': "This shell does not know the command module: it was not started as a login shell, the script's shell "
              "is sh, or Lmod is not installed or not in the container.",
     'remedy': "#!/bin/bash -l in the script, or . /etc/profile.d/lmod.sh (modules.sh; source $LMOD_PKG/init/bash); in "
               "csh and from sh: the init file of that shell; sbatch --export=NONE if the login node's function is of "
               "no use. Modules are not for inside of a container: load them before.",
     'source': "Lmod, documentation, FAQ; github.com/access-ci-org/Jetstream_Cluster, issue 18",
     'evidence': 'derived'},
    {'name': "module not found by Environment Modules",
     'text': "ERROR: Unable to locate a modulefile for 'openmpi/4'",
     'patterns': [("Unable to locate a modulefile for ",
                   r"Unable to locate a modulefile for '?(?P<name>[^'\s]{1,100})"),
                  ("ModuleCmd_Load.c", r"ModuleCmd_Load\.c[^\n]{0,100}"),
                  ("ERROR:",
                   r"ERROR:\d+: (?:Unable to locate|Module)(?!\s\S{1,100} (?:conflicts|depends|is currently))[^"
                   r"\n]{0,100}"),
                  ("No module", r"No modules? (?:found|matching|available)(?! for toolchain)[^\n]{0,60}")],
     'cause': "There is no module {name} on MODULEPATH: it is misspelt, of another release, or its folder is not in "
              "use.",
     'remedy': "module avail 2>&1 | grep -i NAME; module use FOLDER adds a folder. On clusters with a stack: load "
               "that first.",
     'source': "modules.readthedocs.io", 'evidence': 'derived'},
    {'name': "module file with a mistake",
     'text': "Lmod has detected the following error: Unable to load module: ... / Syntax error in file",
     'patterns': [("evaluating",
                   r"Unable\s+to\s+load\s+module\s+because\s+of\s+error\s+when\s+evaluating\s+modulefile"),
                  ("Unable", r"Unable\s+to\s+load\s+module:?\s+\S{1,100}"),
                  ("yntax error in file", r"[Ss]yntax error in file:? \S{1,200}"),
                  ("Magic cookie '#%Module' missing", "Magic cookie '#%Module' missing"),
                  ("Module file", r"Module file[^\n]{0,80}magic"),
                  ('invalid command name "', r'invalid command name "(?P<what>(?!tcl::)[^"\n]{1,60})"'),
                  ("Tcl command execution failed", r"ERROR:102: Tcl command execution failed:(?! (?:conflict|prereq"
                   r"|module) |[^\n]{0,80}\$(?:::)?env\() (?P<tcl>[^\n]{0,100})"),
                  ("Infinite", r"Infinite\s+Load\s+Loop\s+detected\s+for\s+module"),
                  ("is not valid; a value is required", r"\w+\(\x22[^\x22\n]{1,80}\x22\) is not valid; a value is "
                   "required"), ("sourcing", r"Error\s+found\s+in\s+sourcing\s+script"),
                  ("strings", r"one\s+or\s+more\s+arguments\s+are\s+not\s+strings"),
                  ("adly formed module-version line", "[Bb]adly formed module-version line"),
                  ("attempt to ", r"attempt to (?:call|index|concatenate)[^\n]{0,60}nil value"),
                  ("Module ERROR: ", r"Module ERROR: (?P<what>[^\n]{1,150})")],
     'unless': ["fault of Lmod itself", "Tcl of another installation"],
     'cause': "The module's file cannot be evaluated: it has a mistake, is empty, or is written for the other system "
              "(Tcl for Environment Modules, Lua for Lmod alone). {what}{tcl}",
     'remedy': "module --raw show NAME prints the file; lmod/lmod --terse. A file in Lua ends in .lua, one in Tcl "
               "begins with #%Module. Install it again where it was generated.",
     'source': "Lmod, documentation; modules.readthedocs.io", 'evidence': 'derived'},
    {'name': "fault of Lmod itself",
     'text': "/usr/share/lmod/lmod/libexec/MasterControl.lua:887: attempt to compare number with nil",
     'patterns': [("libexec/", r"libexec/(?P<file>\w+\.lua):\d+: (?:attempt to|bad argument|stack overflow|variable "
                   r"|\[string )")],
     'cause': "Lmod itself stumbles ({file}) when it reads this module: an older Lmod has a fault, or does not know "
              "what the module's file uses.",
     'remedy': "module --version; a newer Lmod. Until then load what the module needs by hand, without it.",
     'source': "github.com/TACC/Lmod, issue 408", 'evidence': 'measured'},
    {'name': "cache of Lmod",
     'text': "Lmod Warning: your Lmod user cache is out of date",
     'patterns': [("cache", r"(?:spider|[Ss]ystem|user)\s+cache[^\n]{0,100}(?:stale|out of date|old|rebuild|corrupt"
                   "|invalid)"), ("our Lmod ", "[Yy]our Lmod (?:user )?cache"), ("moduleT", r"moduleT[^\n]{0,80}nil"),
                  ("spiderT", r"spiderT[^\n]{0,80}nil"),
                  ("Spider cache fn: ", r"Spider cache fn: [^\n]{1,200} appears broken"), "Spider search timed out"],
     'cause': "Lmod's list of modules is older than what is installed.",
     'remedy': "module --ignore-cache avail; rm -rf ~/.cache/lmod ~/.lmod.d/.cache. Administrators: "
               "update_lmod_system_cache_files.",
     'source': "Lmod, documentation, Spider cache", 'evidence': 'derived', 'general': 1},
    {'name': "module that Lmod changed or left out",
     'text': "Inactive Modules: / The following have been reloaded with a version change",
     'patterns': [("Inactive Modules", "Inactive Modules:?"),
                  ("following have been reloaded with a version change", "following have been reloaded with a version "
                   "change"), ("Failed modules from collection", "Failed modules from collection"),
                  ("One or more modules in your ", r"One or more modules in your \S{1,40} collection have changed"),
                  ("collection", r"(?:User module )?collection:? \x22?\S{1,60}\x22? (?:does not exist|doesn't exist"
                   "|not found)"), ("User-specified collection", "User-specified collection"),
                  ("collection:", r"User\s+module\s+collection:\s+\S{1,80}\s+does\s+not\s+exist"),
                  ("ollection", r"[Cc]ollection \S{1,80} cannot be found"),
                  ("following", r"The\s+following\s+modules\s+were\s+not\s+(?:un)?loaded:"),
                  ("No collection named", "No collection named [^\\n]{1,80} found"),
                  ("MODULEPATH", r"The\s+system\s+MODULEPATH\s+has\s+changed:\s+please\s+rebuild")],
     'cause': "After a change of compiler or stack Lmod found another release of a module, or none; or a saved "
              "collection no longer fits.",
     'remedy': "module list shows what is loaded now. module reset; module load ... anew, then module save.",
     'source': "Lmod, documentation, User guide", 'evidence': 'derived', 'last': True},
    {'name': "Lmod told an error of its own",
     'text': "Lmod has detected the following error: ...",
     'patterns': [("Lmod has detected the following error: ", r"Lmod has detected the following error: +(?P<what>\S[^"
                   r"\n]{0,150})"),
                  ("ERROR: ", "^ *ERROR: (?P<what>(?:Load of requirement|Conflicting|Module|Modulefile|Collection"
                   r"|Load of|Requirement)[^\n]{1,120})"), "LmodError", ("lmod: ", r"\blmod: [^\n]{0,80}error")],
     'unless': ["unknown module", "module of another stack", "modules that exclude each other"],
     'cause': "Lmod did not do what was asked for: {what}",
     'remedy': "module spider NAME says what it needs; module --force purge and the same again in a fresh shell tells "
               "whether something loaded before is in the way.",
     'source': "Lmod, documentation", 'evidence': 'derived', 'general': 2},
    {'name': "module hidden or forbidden",
     'text': "Access to foo/1.0 is denied / is forbidden",
     'patterns': [("Access to ", r"Access to (?:module )?'?(?P<name>\S{1,80}?)'? is (?:denied|forbidden)"),
                  ("module", r"module[^\n]{0,60}(?:is forbidden|access denied|permission denied)[^\n]{0,40}"),
                  ("module", r"You (?:are not|must be)[^\n]{0,40}(?:group|licen[sc]e)[^\n]{0,60}module")],
     'cause': "This module is for some users only (a licence, a group), or was withdrawn.",
     'remedy': "groups shows yours; ask the administrators.",
     'source': "modules.readthedocs.io, module-forbid", 'evidence': 'derived'},
    {'name': "Tcl of another installation",
     'text': "Can't find a usable init.tcl in the following directories: ... / init.c(556):ERROR:161: Cannot "
             "initialize TCL",
     'patterns': [("find a usable init.tcl", r"Can't find a usable init\.tcl[^\n]{0,100}"),
                  ("Cannot initialize TCL", "Cannot initialize TCL"), "Tcl wasn't installed properly",
                  ("tcl::mathfunc", r"invalid command name \x22tcl::mathfunc")],
     'cause': "The command module runs in Tcl, and meets files of another one: a program that was loaded (conda, FSL, "
              "SimNIBS) has put its own libtcl in LD_LIBRARY_PATH or set TCL_LIBRARY.",
     'remedy': "env | grep -i -E 'tcl|LD_LIBRARY_PATH'; unset TCL_LIBRARY; take conda's lib out of LD_LIBRARY_PATH "
               "(set it for the one program that needs it), and load modules before you activate an environment.",
     'source': "github.com/rcgsheffield/sheffield_hpc, issue 564; github.com/envmodules/modules, issues 489, 512, 569",
     'evidence': 'derived'},
    {'name': "module file that asks for a variable that is not set",
     'text': "freesurfer/6.0.0(6):ERROR:102: Tcl command execution failed: set user $::env(USER)",
     'patterns': [("env(", r"Tcl command execution failed: [^\n]{0,80}\$(?:::)?env\((?P<name>\w{1,40})"),
                  ("can't read ",
                   r"can't read \x22(?:::)?env\((?P<other>\w{1,40})\)\x22: no such (?:variable|element)"),
                  ("nil value", r"attempt to concatenate[^\n]{0,60}nil value")],
     'cause': "The module's file uses a variable of the environment that this shell does not have: {name}{other}. "
              "Cron, sbatch --export=NONE and containers start without USER, HOME or those of a stack.",
     'remedy': "export USER=$(id -un) (or the one that is named) before module load; #!/bin/bash -l in the script.",
     'source': "github.com/TIGRLab/admin, issue 1299", 'evidence': 'derived', 'general': 1},
    {'name': "MODULEPATH not set",
     'text': "Lmod Warning: MODULEPATH is undefined.",
     'patterns': [("MODULEPATH", r"MODULEPATH\s+is\s+undefined"),
                  ("MODULEPATH", r"MODULEPATH\s+is\s+not\s+set\s+or\s+not\s+set\s+with\s+valid\s+paths"),
                  (".modulespath", r"Cannot open file '\S{1,200}\.modulespath'"),
                  ("No module path defined", "No module path defined")],
     'cause': "This shell knows the command module, and no folder of modules: the site sets them in the files of a "
              "login shell (/etc/profile.d), which were not read.",
     'remedy': "#!/bin/bash -l as first line of the script (sbatch: also without --export=NONE); by hand: module use "
               "FOLDER. To source Lmod's init file alone is not enough.",
     'source': "github.com/saforem2/ezpz, pull request 222; Lmod, documentation", 'evidence': 'measured'},
    {'name': "module to be swapped not loaded",
     'text': 'Swap failed: "PrgEnv-cray" is not loaded.',
     'patterns': [("Swap failed: ", r"Swap failed: \x22(?P<name>[^\x22\n]{1,100})"),
                  ("is currently not loaded", r"Module '(?P<other>[^'\n]{1,100})' is currently not loaded")],
     'cause': "module swap OLD NEW wants {name}{other} to be loaded, and it is not: the default of the site has "
              "changed, or the script ran after module purge.",
     'remedy': "module load NEW does what is meant; module list shows what is loaded.",
     'source': "Lmod, messageDir/en.lua; modules.readthedocs.io", 'evidence': 'derived'},
    {'name': "modules of the environment in disorder",
     'text': "The module table stored in the environment is corrupt. / The module collection file is corrupt.",
     'patterns': [("corrupt", r"module\s+table\s+stored\s+in\s+the\s+environment\s+is\s+corrupt"),
                  ("corrupt", r"module\s+collection\s+file\s+is\s+corrupt"),
                  ("LMOD_", r"LMOD_\w{1,30}[^\n]{0,60}(?:corrupt|mismatch)")],
     'cause': "What Lmod keeps of loaded modules (variables _ModuleTable..., or a saved collection) cannot be read: "
              "two releases of Lmod met, or a script changed it.",
     'remedy': "clearMT, then load the modules again, or a fresh shell (sbatch --export=NONE). Collection: remove the "
               "file that is named (~/.lmod.d, ~/.config/lmod), and module save anew.",
     'source': "Lmod, messageDir/en.lua", 'evidence': 'derived'},
    {'name': "module that wants its version",
     'text': 'Module "gcc" must be loaded with the version specified, e.g. "module load gcc/12".',
     'patterns': [("specified", r"Module\s+\x22(?P<name>[^\x22\n]{1,100})\x22\s+must\s+be\s+loaded\s+with\s+the\s+"
                                r"version\s+specified"),
                  ("No default version", r"No default version defined for '?(?P<other>[^'\s]{1,100})")],
     'cause': "This site has no default for {name}{other}.",
     'remedy': "module avail NAME, and load it as NAME/VERSION.",
     'source': "Lmod, messageDir/en.lua; modules.readthedocs.io, implicit_default", 'evidence': 'derived'},
    {'name': "module that another one still needs",
     'text': "ERROR: foo/1.0 cannot be unloaded due to a prereq. HINT: Might try \"module unload bar\" first.",
     'patterns': [("cannot be unloaded due to", r"(?P<name>\S{1,100}) cannot be unloaded due to a (?:prereq|conflict)"),
                  ("nload of dependent", r"[Uu]nload of dependent '?(?P<other>[^'\s]{1,100})'? failed")],
     'cause': "A loaded module needs {name}{other}.",
     'remedy': "Unload the one of the hint first; module purge unloads all.",
     'source': "modules.readthedocs.io", 'evidence': 'derived'},
    {'name': "parts of Lua that Lmod misses",
     'text': "lua: .../lmod/libexec/lmod:42: module 'posix' not found:",
     'patterns': [("not found:", r"module '(?P<name>posix|lfs|term|posix\.\w{1,20})' not found:"),
                  ("error loading module '",
                   r"error loading module '(?P<other>posix|lfs|term|\w{1,20}_c|\S{1,20}lfs)\S{0,20}'"),
                  ("Could not find lua", r"Could not find lua\b")],
     'cause': "Lmod runs in Lua and needs its packages {name}{other}, which are missing, of another Lua, or hidden by "
              "LUA_PATH or LUA_CPATH of a module that was loaded.",
     'remedy': "env | grep LUA_; unset LUA_PATH LUA_CPATH and see. Administrators: lua-posix, lua-filesystem and "
               "lua-term for the lua that Lmod was built with.",
     'source': "Lmod, documentation, Installing", 'evidence': 'derived'},
    {'name': "folder of modules with other files",
     'text': 'MODULEPATH directory: "/home/me" has too many non-modulefiles (200).',
     'patterns': [("non-modulefiles", r"MODULEPATH\s+directory:\s+\S{1,200}\s+has\s+too\s+many\s+non-modulefiles")],
     'cause': "A folder was given to module use that holds other files, so that Lmod reads through all of them.",
     'remedy': "module unuse that folder, and keep modules in one of their own.",
     'source': "Lmod, messageDir/en.lua", 'evidence': 'derived', 'last': True},
    {'name': "modules of Spack not written",
     'text': "==> Error: Name clashes exist in module files: / 'core_compilers' key not found in configuration file",
     'patterns': ["Name clashes exist in module files",
     ("core_compilers", r"core_compilers\S{0,3} (?:key not found|must be set)"),
                  ("Could not write module file", r"Could not write module file \[(?P<file>[^\]\n]{1,200})")],
     'cause': "spack module refresh could not write its files: two installed specs would get one name, or lmod is on "
              "and modules.yaml does not say which compilers are there without a module. {file}",
     'remedy': "spack module tcl refresh --delete-tree -y (lmod likewise) writes them anew. Names: hash_length: 7 or "
               "projections in modules.yaml, exclude_implicits: true. Lmod: core_compilers: [gcc@SYSTEM], or enable: "
               "[tcl] alone.",
     'source': "spack.readthedocs.io, Modules; github.com/spack/spack, issues 5721 and 30008", 'evidence': 'measured'},
    {'name': "spack load without its shell functions",
     'text': "==> Error: `spack load` requires Spack's shell support.",
     'patterns': [("requires Spack's shell support", "requires Spack's shell support")],
     'cause': "spack load is a function of the shell, and only the program spack is on PATH here (a script, a "
              "container).",
     'remedy': ". SPACK/share/spack/setup-env.sh before; or eval $(spack load --sh NAME).",
     'source': "spack.readthedocs.io, Shell support", 'evidence': 'derived'},
    {'name': "spec of Spack that fits none or several",
     'text': "==> Error: hdf5 matches multiple packages. / Spec 'hdf5' matches no installed packages.",
     'patterns': [("matches multiple packages", r"(?P<name>\S{1,80}) matches multiple packages"),
                  ("matches no installed packages", r"Spec '?(?P<other>[^'\n]{1,80}?)'? matches no installed packages"),
                  ("does not match any installed", r"(?P<third>\S{1,80}) does not match any installed packages")],
     'cause': "Of what is installed several packages answer to that name, or none does: {name}{other}{third}",
     'remedy': "spack find -lv NAME lists them; spack load /HASH takes one; spack install NAME if there is none. In an "
               "environment: spack env activate FOLDER first.",
     'source': "spack.readthedocs.io, Basic usage", 'evidence': 'derived'},
    {'name': "modules of two toolchains",
     'text': "A different version of the 'intel' module is already loaded (see output of 'ml').",
     'patterns': [("A different version of the '", r"A different version of the '(?P<name>[^'\n]{1,60})' module is "
                   "already loaded")],
     'cause': "This module needs another release of {name} than the one that a module loaded before has brought: both "
              "were built with other releases of a toolchain.",
     'remedy': "module purge, then load modules that end in the same toolchain (2023b, foss-2023b): module spider NAME "
               "lists them.",
     'source': "EasyBuild, documentation, common toolchains; github.com/hpcugent/vsc_user_docs, issue 198",
     'evidence': 'derived'},
    {'name': "start of the modules tool that is refused",
     'text': "/usr/share/Modules/init/bash: line 37: /usr/bin/tclsh: Permission denied",
     'patterns': [("/tclsh", r"(?:Modules|modules|tcl)\S{0,80}:[^\n]{0,40} \S{0,200}/tclsh\S{0,10}: (?P<why>Permission "
                   "denied|No such file or directory|not found)")],
     'cause': "Environment Modules runs in tclsh, which cannot be started here ({why}): a profile of AppArmor or "
              "SELinux forbids it to this program, or the container has the start file of modules and no Tcl.",
     'remedy': "Is it a program that starts shells of its own (less, a service)? MODULES_SET_SHELL_STARTUP=0 before "
               "modules is set up; unset BASH_ENV. In a container: install tcl, or unset BASH_ENV before.",
     'source': "Environment Modules, set_shell_startup; github.com/envmodules/modules, issue 299",
     'evidence': 'measured'},
    {'name': "command or option that module does not know",
     'text': "ERROR: Invalid command 'foo' / Option: \"--foo\" is unknown.",
     'patterns': [("Invalid command '", r"ERROR: Invalid command '(?P<what>[^'\n]{1,60})'"),
                  ("module --help", r"Try 'module --help' for more information"),
                  ('Option: "', r'Option: "(?P<other>[^"\n]{1,60})" is unknown'),
                  ("ml error: ", r"(?<!\w)ml error: (?P<third>[^\n]{1,80})"),
                  ("Unsupported option", r"ERROR: Unsupported option '(?P<fourth>[^'\n]{1,60})'")],
     'cause': "This modules tool does not know {what}{other}{third}{fourth}: Lmod and Environment Modules differ "
              "(module spider is Lmod's), or a name was taken for a command.",
     'remedy': "module --version; module --help. Environment Modules: module avail, module search instead of spider.",
     'source': "Lmod, messageDir/en.lua; modules.readthedocs.io", 'evidence': 'derived'},
    {'name': "no temporary file for modules",
     'text': "ERROR: couldn't create error file for command: no such file or directory",
     'patterns': [(" file for command: ",
                   r"couldn't create (?:error|input|output) file for command: "
                   r"(?P<why>[^\n]{1,60})")],
     'cause': "The command module (Tcl) wants to write a small file in TMPDIR or /tmp and cannot: {why}",
     'remedy': "echo $TMPDIR; df -h /tmp; unset TMPDIR, or export TMPDIR=FOLDER that is there. A full /tmp: another "
               "node, and tell the administrators.",
     'source': "Tcl, generic/tclPipe.c; github.com/envmodules/modules, issue 583", 'evidence': 'derived'},
]
