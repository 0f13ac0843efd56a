"""Modules and EasyBuild: what loads software, and what installs it."""

from typing import Any, Dict, List

MODULES: List[Dict[str, Any]] = [
    {
        'name': "unknown module",
        'patterns': [
            ("following", r"The\s+following\s+module\(s\)\s+are\s+unknown:\s*(?P<name>.*)"),
            (
                "following",
                r"The\s+load_any\s+function\s+failed\s+because\s+it\s+could\s+not\s+find\s+any\s+of\s+the\s+followin"
                r"g\s+modules\s*:\s*(?P<name>[^\n]{0,150})",
            ),
        ],
        'cause': "Lmod does not find {name}: it is not installed, or its folder is not on "
        "MODULEPATH.",
        'remedy': "module spider NAME (module avail) shows the names that are there and what to "
        "load first; module use FOLDER adds a folder, in the job's script too. Of this project: . "
        "./env.sh in this shell (on LUMI: module load LUMI/25.03 partition/container "
        "EasyBuild-user), and eb osu-container-hybrid.eb -r.",
        'source': "seen by this project, 2026-11",
        'also': [
            ("this shell has another MODULEPATH than your login shell", "echo $MODULEPATH in both"),
            ("Lmod's list is old", "module --ignore-cache load NAME"),
        ],
    },
    {
        'name': "module of another stack",
        'patterns': [
            ("requested:", r"exist\s+but\s+cannot\s+be\s+loaded\s+as\s+requested:\s*(?P<name>.*)")
        ],
        'cause': "{name} belongs to a software stack that is not loaded in this shell.",
        'remedy': "module spider NAME shows what to load before it; on LUMI: module load "
        "LUMI/25.03 partition/G first.",
        'source': "Lmod 8.6, 8.7 and 9.2, seen by this project, 2026-11",
    },
    {
        'name': "modules that exclude each other",
        'patterns': [
            (
                "module(s)",
                r'Cannot\s+load\s+module\s+\"(?P<name>[^\"]+)\"\s+because\s+these\s+module\(s\)\s+are\s+loaded:\s*(?'
                'P<other>.*)',
            )
        ],
        'cause': "{name} and {other} set the same variables, such as SINGULARITY_BIND, and do not "
        "go together.",
        'remedy': "module unload the loaded one; what it binds of the users' file systems the "
        "modules of this project bind as well.",
        'source': "Lmod 8.6, 8.7 and 9.2, seen by this project, 2026-11",
    },
    {
        'name': "module needs another one",
        'patterns': [
            (
                "without",
                r'Cannot\s+load\s+module\s+\"(?P<module>[^\"]{1,200})\"\s+without\s+these\s+module',
            ),
            (
                "' depends on one of the module(s)",
                r"Module '(?P<module>[^'\n]{1,100})' depends on one of the module\(s\)",
            ),
            (
                "dependent",
                r"following\s+dependent\s+module\(s\)\s+are\s+not\s+currently\s+loaded:\s+(?P<module>[^\n]{1,15"
                "0})",
            ),
        ],
        'cause': "A module needs another one that is not loaded, or is loaded under another name "
        "or version: {module}",
        'remedy': "Load the one that is named first, written exactly as in the message; module "
        "spider NAME shows the order.",
        'source': "github.com/TACC/Lmod, issue 719",
    },
    {
        'name': "module in conflict with a loaded one",
        'patterns': [
            (
                "cannot be loaded due to a conflict",
                r"(?<!\S)(?P<module>\S+) cannot be loaded due to a conflict",
            ),
            (
                " conflicts with the currently loaded module(s)",
                r"(?<!\S)(?P<module>\S+) conflicts with the currently loaded module\(s\) ?(?P<old>[^\n]{0,100})",
            ),
        ],
        'cause': "{module} and a loaded module exclude each other: two of one name, of one family "
        "(compilers, MPI), or the file says so. {old}",
        'remedy': "module swap OLD NEW, or module unload the one of the hint first; module list "
        "shows what is loaded, module purge unloads all (then load the stack again).",
        'source': "Environment Modules; github.com/envmodules/modules, issue 352",
    },
    {
        'name': "module command not there",
        'patterns': [
            (
                "not found",
                r"(?:line \d+: |sh: (?:\d+: )?|slurm_script: |^)(?:module|ml)(?:: | ?: )(?:command )?not found",
            ),
            (
                ": No such file or directory",
                r"/\S{1,100}/lmod(?:/libexec/lmod|/\S{1,40})?: No such file or directory",
            ),
            ("environment: line ", r"environment: line \d+: /\S{1,100}: No such file"),
            (": No such file", r"execve\(\): (?:module|ml): No such file"),
        ],
        'cause': "This shell does not know the command module: it was not started as a login "
        "shell, the script's shell is sh, or Lmod is not installed or not in the container.",
        'remedy': "#!/bin/bash -l in the script, or . /etc/profile.d/lmod.sh (modules.sh; source "
        "$LMOD_PKG/init/bash); in csh and from sh: the init file of that shell; sbatch "
        "--export=NONE if the login node's function does not help. Modules are not for inside of a "
        "container: load them before.",
        'source': "Lmod, documentation, FAQ; github.com/access-ci-org/Jetstream_Cluster, issue 18",
    },
    {
        'name': "module not found by Environment Modules",
        'patterns': [
            (
                "Unable to locate a modulefile for ",
                r"Unable to locate a modulefile for '?(?P<name>[^'\s]{1,100})",
            ),
            (
                "ERROR:",
                r"ERROR:\d+: (?:Unable to locate|Module)(?!\s\S{1,100} (?:conflicts|depends|is "
                r"currently))[^\n]{0,100}",
            ),
        ],
        'cause': "There is no module {name} on MODULEPATH: it is misspelt, of another release, or "
        "its folder is not in use.",
        'remedy': "module avail 2>&1 | grep -i NAME; module use FOLDER adds a folder. On clusters "
        "with a stack: load that first.",
        'source': "modules.readthedocs.io",
    },
    {
        'name': "MODULEPATH not set",
        'patterns': [("MODULEPATH", r"MODULEPATH\s+is\s+undefined")],
        'cause': "This shell knows the command module, and no folder of modules: the site sets "
        "them in the files of a login shell (/etc/profile.d), which were not read.",
        'remedy': "#!/bin/bash -l as first line of the script (sbatch: also without "
        "--export=NONE); by hand: module use FOLDER. To source Lmod's init file alone is not "
        "enough.",
        'source': "github.com/saforem2/ezpz, pull request 222; Lmod, documentation",
    },
]

EASYBUILD: List[Dict[str, Any]] = [
    {
        'name': "linked clone gone",
        'patterns': [
            "No files found using glob pattern",
            (".py cannot find its package", r"mpi(?:container|native)\.py cannot find its package"),
            (
                "easyblock",
                r"Failed\s+to\s+obtain\s+class\s+for\s+MPI(?:Container|Native)\s+easyblock",
            ),
            (
                "/easyconfigs/",
                r"Can't\s+find\s+path\s+\S{1,300}/easyconfigs/\S{1,300}/osu-(?:container|native"
                r"|mpi4py)\S{0,100}\.eb",
            ),
        ],
        'cause': "EasyBuild does not find the easyblocks or easyconfigs of this project: the "
        "clone that make lumi linked was moved or deleted, or nothing names them.",
        'remedy': "On LUMI: make lumi in a clone, which replaces dead links; to remove them, then "
        "make unlumi, and load EasyBuild-user again. On a workstation: . ./env.sh.",
        'source': "EasyBuild 4.9.4, 5.1.2 and 5.4.1, seen by this project, 2026-11; "
        "docs/troubleshooting.md",
    },
    {
        'name': "eb without --robot",
        'patterns': [
            (
                "issing modules for dependencies",
                r"[Mm]issing modules for dependencies.{0,20}: (?P<needs>[^\s'\x22),]{1,200})",
            )
        ],
        'cause': "EasyBuild needs {needs}, which is not installed, and may not install it without "
        "--robot.",
        'remedy': "eb FILE.eb --robot (short -r) installs what is needed first. If it is "
        "installed: the software stack that has it is not loaded.",
        'source': "github.com/easybuilders/easybuild-easyconfigs, issue 10845",
    },
    {
        'name': "easyconfig not on the robot path",
        'patterns': [
            (
                "that matches toolchain",
                r"No easyconfig for [^\n]{0,400}'name': '(?P<first>[^'\n]{1,60})'[^\n]{0,200} that matches "
                "toolchain",
            ),
            (
                "Irresolvable dependencies encountered: ",
                r"Irresolvable dependencies encountered: (?P<first>[^\s,]{1,200})",
            ),
            (
                "(no easyconfig file or existing module found)",
                r"issing dependenc(?:y|ies): (?P<first>[^\s,]{1,200}).{0,2000}\(no easyconfig file or existing "
                r"module found\)",
            ),
        ],
        'cause': "EasyBuild finds neither a module nor an easyconfig for {first} on its robot "
        "path.",
        'remedy': "eb --show-config shows robot-paths: an old release of the easyconfigs may "
        "stand there. Add a folder in front: eb --robot=FOLDER: FILE.eb (the colon keeps the "
        "others). eb --search NAME looks for it.",
        'source': "github.com/easybuilders/easybuild-easyconfigs, issue 6560; "
        "easybuild-framework, issue 5278",
    },
    {
        'name': "source file of another content",
        'patterns': [
            (
                "hecksum verification for ",
                r"hecksum verification for (?:extension source )?(?P<file>\S{1,300})(?! .{0,300}passed) using "
                ".{0,300} failed",
            )
        ],
        'cause': "{file} is not the file that the easyconfig was written for: the download was "
        "cut off or is an error page, or its authors have replaced it.",
        'remedy': "Remove that file and run eb again. If it comes again: a newer easyconfig (eb "
        "--search NAME) has the new checksum. Do not use --ignore-checksums without knowing why "
        "it differs.",
        'source': "github.com/easybuilders/easybuild, issue 860; easybuild-easyconfigs, issue "
        "15785",
    },
    {
        'name': "EasyBuild's check of the result failed",
        'patterns': [
            (
                "anity check failed: ",
                r"(?:build failed [^\n]{0,40}|\bEB_\w{1,60}[^\n]{0,40}|easy\w{1,60}[^\n]{0,200}"
                r"|ERROR[^\n]{0,200}): ?Sanity check failed: (?P<what>[^\n]{1,200})",
            )
        ],
        'cause': "The build went through, and the result is not what the easyconfig expects: "
        "{what}",
        'remedy': "Run the command that it names by hand, or look for the files: a wrong version, "
        "a library that is not found, or a command that cannot run on this node. eb "
        "--sanity-check-only FILE.eb repeats the check.",
        'source': "github.com/easybuilders/easybuild-easyconfigs, issue 8509",
        'unless': [
            "library not in the image",
            "module in conflict with a loaded one",
            "unknown module",
            "module needs another one",
        ],
    },
    {
        'name': "source file that EasyBuild does not find",
        'patterns': [
            ("ouldn't find file ", r"[Cc]ouldn't find file (?P<file>\S{1,200}) anywhere"),
            "downloading it didn't work either",
        ],
        'cause': "EasyBuild has not the source file {file}, and its address gave none: it has "
        "moved, the node has no way out, or it must be fetched by hand (a licence).",
        'remedy': "Fetch it where there is a network (eb FILE.eb --fetch on a login node), or put "
        "it into a folder of eb --show-config, sourcepath: .../sources/n/NAME/. A newer "
        "easyconfig may have the new address.",
        'source': "docs.easybuild.io, source path",
    },
    {
        'name': "modules tool that EasyBuild does not find",
        'patterns': [
            (
                "used by EasyBuild not found in defined '",
                r"used by EasyBuild not found in defined '\w+' function",
            )
        ],
        'cause': "EasyBuild does not find the configured modules tool (Lmod by default), or this "
        "shell has not loaded it.",
        'remedy': "type module; echo $LMOD_CMD. . /etc/profile.d/lmod.sh first; eb "
        "--modules-tool=EnvironmentModules --module-syntax=Tcl for the other one.",
        'source': "docs.easybuild.io, Supported modules tools",
        'unless': ["module command not there"],
    },
    {
        'name': "setting of EasyBuild refused",
        'patterns': [
            ("EASYBUILD_", r"Found \d+ (?:environment variable|unknown)[^\n]{0,100}EASYBUILD_\w*"),
            (
                "that are prefixed with EASYBUILD but do not match valid option(s): ",
                r"that are prefixed with EASYBUILD but do not match valid option\(s\): "
                r"(?P<names>[^\n'\x22]{1,150})",
            ),
        ],
        'cause': "EasyBuild does not know an option, a variable EASYBUILD_... or a parameter of "
        "the easyconfig: {names}",
        'remedy': "env | grep EASYBUILD_; eb --help; eb -a lists the parameters of easyconfigs. "
        "The easyconfig may be of another major release (4 or 5): eb --version.",
        'source': "docs.easybuild.io, Configuration",
        'general': True,
    },
    {
        'name': "folder that EasyBuild may not write",
        'patterns': [
            (
                "Failed to ",
                r"(?:build_log\.py|EasyBuild|build failed|== )[^\n]{0,300}Failed to "
                r"(?:create|write|copy|remove|change|move|symlink|set group|chmod/chown)\b[^\n]{0,600}\[Errno "
                r"(?:1|13|30)\]",
            )
        ],
        'cause': "EasyBuild may not write where its settings send it: the site's folder instead "
        "of one of yours, files that an earlier eb or another account left, or files without w "
        "that are copied once more.",
        'remedy': "eb --show-config: installpath, buildpath, sourcepath, repositorypath, tmpdir. "
        "eb --prefix=FOLDER of yours (EASYBUILD_PREFIX); on LUMI EBU_USER_PREFIX. rm -rf the "
        "folder in buildpath and try again.",
        'source': "docs.easybuild.io, Configuration; github.com/easybuilders/easybuild-framework, "
        "issue 4602",
    },
]
