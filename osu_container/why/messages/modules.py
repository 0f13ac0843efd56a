"""Lmod and Environment Modules."""
from .common import LMOD, OURS

ENTRIES = [
    {'name': 'unknown module',
     'text': 'The following module(s) are unknown: "osu-container/hybrid"',
     'patterns': [("following", r"The\s+following\s+module\(s\)\s+are\s+unknown:\s*(?P<name>.*)")],
     'cause': "Lmod does not find {name}: it is not installed, or its folder is not on MODULEPATH.",
     'remedy': ". ./env.sh in this shell (on LUMI: module load LUMI/25.03 partition/container EasyBuild-user), and "
               "eb osu-container-hybrid.eb -r if it is not installed.",
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
                  ("cannot be loaded due to missing prereq", r"(?P<other>\S+) cannot be loaded due to missing prereq")],
     'cause': "{module}{other} needs a module that is not loaded, or is loaded under another name or version.",
     'remedy': "Load the one that is named first, written exactly as it stands there; module spider NAME says the "
               "order.",
     'source': 'github.com/TACC/Lmod, issue 719', 'evidence': 'measured'},
    {'name': 'module in conflict with a loaded one',
     'text': "ERROR: ... cannot be loaded due to a conflict.",
     'patterns': [("cannot be loaded due to a conflict", r"(?P<module>\S+) cannot be loaded due to a conflict"),
                  ("conflicts with the currently loaded", r"(?P<other>\S+) conflicts with the currently loaded")],
     'cause': "{module}{other} and a loaded module exclude each other.",
     'remedy': "module unload the one of the hint, or module swap; module list shows what is loaded.",
     'source': 'Environment Modules; github.com/envmodules/modules, issue 352', 'evidence': 'derived'},
    {'name': "module command not there",
     'text': "bash: module: command not found",
     'patterns': [("not found", r"\b(?P<command>module|ml)(?:: | ?: )(?:command )?not found"),
                  (": No such file or directory", r"/\S{1,100}/lmod(?:/libexec/lmod|/\S{1,40})?: No such file or "
                   "directory"), ("LMOD_CMD", r"LMOD_CMD[^\n]{0,80}(?:not found|not set|No such|undefined)"),
                  ("MODULESHOME", r"MODULESHOME[^\n]{0,80}(?:not found|not set|No such|undefined)"),
                  ("environment: line ", r"environment: line \d+: /\S{1,100}: No such file"),
                  ("modulecmd", r"modulecmd[^\n]{0,40}(?:not found|No such file)"), ("_module_raw", r"\b_module_raw"),
                  ("_moduleraw", r"_moduleraw[^\n]{0,40}not found")],
     'cause': "This shell does not know the command module: it was not started as a login shell, the script's shell "
              "is sh, or Lmod is not installed or not in the container.",
     'remedy': "#!/bin/bash -l in the script, or . /etc/profile.d/lmod.sh (modules.sh; source $LMOD_PKG/init/bash). "
               "Modules are not for inside of a container: load them before.",
     'source': "Lmod, documentation, FAQ; github.com/access-ci-org/Jetstream_Cluster, issue 18",
     'evidence': 'derived'},
    {'name': "module not found by Environment Modules",
     'text': "ERROR: Unable to locate a modulefile for 'openmpi/4'",
     'patterns': [("Unable to locate a modulefile for ",
                   r"Unable to locate a modulefile for '?(?P<name>[^'\s]{1,100})"),
                  ("ModuleCmd_Load.c", r"ModuleCmd_Load\.c[^\n]{0,100}"),
                  ("ERROR:", r"ERROR:\d+: (?:Unable to locate|Module)[^\n]{0,100}"),
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
                  ('invalid command name "', r'invalid command name "(?P<what>[^"\n]{1,60})"'),
                  ("attempt to ", r"attempt to (?:call|index|concatenate)[^\n]{0,60}nil value"),
                  ("Module ERROR: ", r"Module ERROR: (?P<what>[^\n]{1,150})")],
     'unless': ["fault of Lmod itself"],
     'cause': "The module's file cannot be evaluated: it has a mistake, is empty, or is written for the other system "
              "(Tcl for Environment Modules, Lua for Lmod alone). {what}",
     'remedy': "module --raw show NAME prints the file; lmod/lmod --terse. A file in Lua ends in .lua, one in Tcl "
               "begins with #%Module. Install it again where it was generated.",
     'source': "Lmod, documentation; modules.readthedocs.io", 'evidence': 'derived'},
    {'name': "fault of Lmod itself",
     'text': "/usr/share/lmod/lmod/libexec/MasterControl.lua:887: attempt to compare number with nil",
     'patterns': [("libexec/", r"libexec/(?P<file>\w+\.lua):\d+: (?:attempt to|bad argument|stack overflow)")],
     'cause': "Lmod itself stumbles ({file}) when it reads this module: an older Lmod has a fault, or does not know "
              "what the module's file uses.",
     'remedy': "module --version; a newer Lmod. Until then load what the module needs by hand, without it.",
     'source': "github.com/TACC/Lmod, issue 408", 'evidence': 'measured'},
    {'name': "cache of Lmod",
     'text': "Lmod Warning: your Lmod user cache is out of date",
     'patterns': [("cache", r"(?:spider|[Ss]ystem|user)\s+cache[^\n]{0,100}(?:stale|out of date|old|rebuild|corrupt"
                   "|invalid)"), ("our Lmod ", "[Yy]our Lmod (?:user )?cache"), ("moduleT", r"moduleT[^\n]{0,80}nil"),
                  ("spiderT", r"spiderT[^\n]{0,80}nil")],
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
                   "|not found)"), ("User-specified collection", "User-specified collection")],
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
]
