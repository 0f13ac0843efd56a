"""Lmod and Environment Modules."""

ENTRIES = [
    {'name': "unknown module",
     'patterns': [("following", r"The\s+following\s+module\(s\)\s+are\s+unknown:\s*(?P<name>.*)"),
                  ("following",
                   r"The\s+load_any\s+function\s+failed\s+because\s+it\s+could\s+not\s+find\s+any\s+of\s+the\s+fol"
                   r"lowing\s+modules\s*:\s*(?P<name>[^\n]{0,150})")],
     'cause': "Lmod does not find {name}: it is not installed, or its folder is not on MODULEPATH.",
     'remedy': "module spider NAME (module avail) shows the names that are there and what to load first; module use "
               "FOLDER adds a folder, in the job's script too. Of this project: . ./env.sh in this shell (on LUMI: "
               "module load LUMI/25.03 partition/container EasyBuild-user), and eb osu-container-hybrid.eb -r.",
     'source': "seen by this project, 2026-11",
     'also': [("this shell has another MODULEPATH than your login shell", "echo $MODULEPATH in both"),
              ("Lmod's list is old", "module --ignore-cache load NAME")]},
    {'name': "module of another stack",
     'patterns': [("requested:", r"exist\s+but\s+cannot\s+be\s+loaded\s+as\s+requested:\s*(?P<name>.*)")],
     'cause': "{name} belongs to a software stack that is not loaded in this shell.",
     'remedy': "module spider NAME says what to load before it; on LUMI: module load LUMI/25.03 partition/G first.",
     'source': "Lmod 8.6 and 8.7, seen by this project, 2026-11"},
    {'name': "modules that exclude each other",
     'patterns': [("module(s)",
                   r'Cannot\s+load\s+module\s+\"(?P<name>[^\"]+)\"\s+because\s+these\s+module'
                   r"\(s\)\s+are\s+loaded:\s*(?P<other>.*)")],
     'cause': "{name} and {other} set the same variables, such as SINGULARITY_BIND, and do not go together.",
     'remedy': "module unload the loaded one; what it binds of the users' file systems the modules of this project "
               "bind as well.",
     'source': "Lmod 8.6 and 8.7, seen by this project, 2026-11"},
    {'name': "module needs another one",
     'patterns': [("without", r'Cannot\s+load\s+module\s+\"(?P<module>[^\"]{1,200})\"\s+without\s+these\s+module'),
                  ("' depends on one of the module(s)",
                   r"Module '(?P<module>[^'\n]{1,100})' depends on one of the module\(s\)"),
                  ("dependent",
                   r"following\s+dependent\s+module\(s\)\s+are\s+not\s+currently\s+loaded:\s+(?P<module>"
                   r"[^\n]{1,150})")],
     'cause': "A module needs another one that is not loaded, or is loaded under another name or version: {module}",
     'remedy': "Load the one that is named first, written exactly as it stands there; module spider NAME says the "
               "order.",
     'source': "github.com/TACC/Lmod, issue 719"},
    {'name': "module in conflict with a loaded one",
     'patterns': [("cannot be loaded due to a conflict", r"(?P<module>\S+) cannot be loaded due to a conflict"),
                  (" conflicts with the currently loaded module(s)",
                   r"(?P<module>\S+) conflicts with the currently loaded module\(s\) ?(?P<old>[^\n]{0,100})")],
     'cause': "{module} and a loaded module exclude each other: two of one name, of one family (compilers, MPI), or "
              "the file says so. {old}",
     'remedy': "module swap OLD NEW, or module unload the one of the hint first; module list shows what is loaded, "
               "module purge unloads all (then load the stack again).",
     'source': "Environment Modules; github.com/envmodules/modules, issue 352"},
    {'name': "module command not there",
     'patterns': [("not found", r"\b(?:module|ml)(?:: | ?: )(?:command )?not found"),
                  (": No such file or directory",
                   r"/\S{1,100}/lmod(?:/libexec/lmod|/\S{1,40})?: No such file or directory"),
                  ("environment: line ", r"environment: line \d+: /\S{1,100}: No such file"),
                  (": No such file", r"execve\(\): (?:module|ml): No such file")],
     'cause': "This shell does not know the command module: it was not started as a login shell, the script's shell "
              "is sh, or Lmod is not installed or not in the container.",
     'remedy': "#!/bin/bash -l in the script, or . /etc/profile.d/lmod.sh (modules.sh; source $LMOD_PKG/init/bash); "
               "in csh and from sh: the init file of that shell; sbatch --export=NONE if the login node's function "
               "is of no use. Modules are not for inside of a container: load them before.",
     'source': "Lmod, documentation, FAQ; github.com/access-ci-org/Jetstream_Cluster, issue 18"},
    {'name': "module not found by Environment Modules",
     'patterns': [("Unable to locate a modulefile for ",
                   r"Unable to locate a modulefile for '?(?P<name>[^'\s]{1,100})"),
                  ("ModuleCmd_Load.c", r"ModuleCmd_Load\.c[^\n]{0,100}"),
                  ("ERROR:",
                   r"ERROR:\d+: (?:Unable to locate|Module)(?!\s\S{1,100} (?:conflicts|depends|is "
                   r"currently))[^\n]{0,100}")],
     'cause': "There is no module {name} on MODULEPATH: it is misspelt, of another release, or its folder is not in "
              "use.",
     'remedy': "module avail 2>&1 | grep -i NAME; module use FOLDER adds a folder. On clusters with a stack: load "
               "that first.",
     'source': "modules.readthedocs.io"},
    {'name': "MODULEPATH not set",
     'patterns': [("MODULEPATH", r"MODULEPATH\s+is\s+undefined")],
     'cause': "This shell knows the command module, and no folder of modules: the site sets them in the files of a "
              "login shell (/etc/profile.d), which were not read.",
     'remedy': "#!/bin/bash -l as first line of the script (sbatch: also without --export=NONE); by hand: module "
               "use FOLDER. To source Lmod's init file alone is not enough.",
     'source': "github.com/saforem2/ezpz, pull request 222; Lmod, documentation"},
    {'name': "module that another one still needs",
     'patterns': [(" cannot be unloaded due to a ",
                   r"(?P<name>\S{1,100}) cannot be unloaded due to a (?:prereq|conflict)")],
     'cause': "A loaded module needs {name}.",
     'remedy': "Unload the one of the hint first; module purge unloads all.",
     'source': "modules.readthedocs.io"},
]
