"""Define messages of Lmod, Environment Modules and EasyBuild for `osu-container why`."""

from typing import Any, Dict, List

MODULES: List[Dict[str, Any]] = [
    {
        'name': "Lmod does not find the module",
        'patterns': [
            r"The\s+following\s+module\(s\)\s+are\s+unknown:\s*(?P<name>.*)",
            r"The\s+load_any\s+function\s+failed\s+because\s+it\s+could\s+not\s+find\s+any\s+of\s+the\s+followin"
            r"g\s+modules\s*:\s*(?P<name>[^\n]{0,150})",
        ],
        'cause': "Lmod does not find the module {name}: the module is not installed, or "
        "MODULEPATH does not contain the folder of the modulefile.",
        'remedy': "`module spider NAME` prints the available module names and the modules to "
        "load first. `module use FOLDER` adds a folder to MODULEPATH in this shell; repeat the "
        "command in the job script. To install an osu-container module, run `. ./env.sh` in the "
        "clone of osu-container (on LUMI: `module load LUMI/25.03 partition/container "
        "EasyBuild-user`), then `eb osu-container-hybrid.eb -r`.",
        'source': "seen by this project, 2026-11",
        'also': [
            (
                "MODULEPATH in this shell differs from MODULEPATH in your login shell",
                "echo $MODULEPATH in both shells",
            ),
            ("Lmod's cache is out of date", "module --ignore-cache load NAME"),
        ],
    },
    {
        'name': "the module belongs to another software stack",
        'patterns': [r"exist\s+but\s+cannot\s+be\s+loaded\s+as\s+requested:\s*(?P<name>.*)"],
        'cause': "The module {name} belongs to a software stack that is not loaded in this shell.",
        'remedy': "Run `module spider NAME` to see which modules you must load before the module "
        "NAME. On LUMI, run `module load LUMI/25.03 partition/G` first.",
        'source': "Lmod 8.6, 8.7 and 9.2, seen by this project, 2026-11",
    },
    {
        'name': "two modules cannot be loaded together",
        'patterns': [
            r'Cannot\s+load\s+module\s+\"(?P<name>[^\"]+)\"\s+because\s+these\s+module\(s\)\s+are\s+loaded:\s*(?'
            'P<other>.*)'
        ],
        'cause': "The modules {name} and {other} cannot be loaded together, because a modulefile "
        "declares the conflict. Two modules with container images usually declare a conflict if "
        "the two modules set the same variables, for example SINGULARITY_BIND.",
        'remedy': "Run `module unload NAME` for the module that is already loaded. If you unload "
        "singularity-bindings, you lose no bind mounts: osu-container modules also bind the "
        "users' file systems.",
        'source': "Lmod 8.6, 8.7 and 9.2, seen by this project, 2026-11",
    },
    {
        'name': "a module needs another module",
        'patterns': [
            r'Cannot\s+load\s+module\s+\"(?P<module>[^\"]{1,200})\"\s+without\s+these\s+module',
            r"Module '(?P<module>[^'\n]{1,100})' depends on one of the module\(s\)",
            r"following\s+dependent\s+module\(s\)\s+are\s+not\s+currently\s+loaded:\s+(?P<module>[^\n]{1,15"
            "0})",
        ],
        'cause': "A module needs another module that is not loaded, or that is loaded under "
        "another name or version. The module in the message: {module}",
        'remedy': "First load the missing module, with exactly the name and version in the "
        "message. `module spider NAME` prints the order in which to load the modules.",
        'source': "github.com/TACC/Lmod, issue 719",
    },
    {
        'name': "the module conflicts with a loaded module",
        'patterns': [
            r"(?<!\S)(?P<module>\S+) cannot be loaded due to a conflict",
            r"(?<!\S)(?P<module>\S+) conflicts with the currently loaded module\(s\) ?(?P<old>[^\n]{0,100})",
        ],
        'cause': "The module {module} cannot be loaded together with a module that is loaded "
        "already. The two modules have the same name or belong to the same family (compilers, "
        "MPI), or a modulefile declares the conflict. {old}",
        'remedy': "Run `module swap OLD NEW`, or run `module unload NAME` for the loaded module "
        "in the message. `module list` prints the loaded modules. `module purge` unloads all "
        "modules; after `module purge`, load the software stack again.",
        'source': "Environment Modules; github.com/envmodules/modules, issue 352",
    },
    {
        'name': "the shell does not know the command module",
        'patterns': [
            r"(?:line \d+: |sh: (?:\d+: )?|slurm_script: |^)(?:module|ml)(?:: | ?: )(?:command )?not found",
            r"/\S{1,100}/lmod(?:/libexec/lmod|/\S{1,40})?: No such file or directory",
            r"environment: line \d+: /\S{1,100}: No such file",
            r"execve\(\): (?:module|ml): No such file",
        ],
        'cause': "This shell does not know the command `module`. The shell is not a login shell, "
        "the script runs with sh instead of bash, Lmod is not installed, or Lmod is not in the "
        "container.",
        'remedy': "Begin the script with `#!/bin/bash -l`, or run `. /etc/profile.d/lmod.sh` (or "
        "modules.sh, or `source $LMOD_PKG/init/bash`); csh has a separate init file. If the job "
        "inherits the shell function `module` from the login node, and the function fails on the "
        "compute node, submit the job with `sbatch --export=NONE`. Load modules on the host "
        "before you start a container.",
        'source': "Lmod, documentation, FAQ; github.com/access-ci-org/Jetstream_Cluster, issue 18",
    },
    {
        'name': "Environment Modules does not find the module",
        'patterns': [
            r"Unable to locate a modulefile for '?(?P<name>[^'\s]{1,100})",
            r"ERROR:\d+: (?:Unable to locate|Module)(?!\s\S{1,100} (?:conflicts|depends|is "
            r"currently))[^\n]{0,100}",
        ],
        'cause': "Environment Modules does not find the module {name}. The name is misspelt, the "
        "version does not exist, or MODULEPATH does not contain the folder of the modulefile.",
        'remedy': "Search for the module with `module avail 2>&1 | grep -i NAME`, and add the "
        "folder of the modulefile to MODULEPATH with `module use FOLDER`. On clusters with "
        "several software stacks, load a software stack first.",
        'source': "modules.readthedocs.io",
    },
    {
        'name': "MODULEPATH is not set",
        'patterns': [r"MODULEPATH\s+is\s+undefined"],
        'cause': "This shell knows the command `module`, but MODULEPATH is not set. The files in "
        "/etc/profile.d set MODULEPATH in a login shell, and this shell is not a login shell.",
        'remedy': "Begin the script with `#!/bin/bash -l`, and submit the script without "
        "--export=NONE. To set MODULEPATH by hand, run `module use FOLDER`. Lmod's init file "
        "(init/bash) does not set MODULEPATH.",
        'source': "github.com/saforem2/ezpz, pull request 222; Lmod, documentation",
    },
]

EASYBUILD: List[Dict[str, Any]] = [
    {
        'name': "EasyBuild does not find this project's clone",
        'patterns': [
            "No files found using glob pattern",
            r"mpi(?:container|native)\.py cannot find its package",
            r"Failed\s+to\s+obtain\s+class\s+for\s+MPI(?:Container|Native)\s+easyblock",
            r"Can't\s+find\s+path\s+\S{1,300}/easyconfigs/\S{1,300}/osu-(?:container|native"
            r"|mpi4py)\S{0,100}\.eb",
        ],
        'cause': "EasyBuild does not find the easyblocks or easyconfigs of osu-container. Either "
        "the clone of the osu-container repository was moved or deleted after `make lumi` "
        "created links to the clone, or no setting of EasyBuild names the clone.",
        'remedy': "On LUMI, run `make lumi` in a clone of osu-container to replace the dangling "
        "links, then load the module EasyBuild-user again. (`make unlumi` removes the links.) On "
        "a workstation, run `. ./env.sh` in the clone.",
        'source': "EasyBuild 4.9.4, 5.1.2 and 5.4.1, seen by this project, 2026-11; "
        "docs/troubleshooting.md",
    },
    {
        'name': "a dependency is missing, and eb has no --robot",
        'patterns': [r"[Mm]issing modules for dependencies.{0,20}: (?P<needs>[^\s'\x22),]{1,200})"],
        'cause': "EasyBuild needs {needs}, but {needs} is not installed. Without the option "
        "--robot, EasyBuild does not install dependencies.",
        'remedy': "Run `eb FILE.eb --robot` (short: -r): EasyBuild then installs the "
        "dependencies first. If {needs} is installed already, load the software stack that "
        "contains {needs}.",
        'source': "github.com/easybuilders/easybuild-easyconfigs, issue 10845",
    },
    {
        'name': "EasyBuild does not find an easyconfig",
        'patterns': [
            r"No easyconfig for [^\n]{0,400}'name': '(?P<first>[^'\n]{1,60})'[^\n]{0,200} that matches "
            "toolchain",
            r"Irresolvable dependencies encountered: (?P<first>[^\s,]{1,200})",
            r"issing dependenc(?:y|ies): (?P<first>[^\s,]{1,200}).{0,2000}\(no easyconfig file or existing "
            r"module found\)",
        ],
        'cause': "EasyBuild needs {first}, but finds no module {first}, and no easyconfig for "
        "{first} in the folders of its robot path.",
        'remedy': "`eb --show-config` prints robot-paths, the list of folders in which EasyBuild "
        "searches for easyconfigs; a listed folder may contain old easyconfigs. To search "
        "another folder first, run `eb --robot=FOLDER: FILE.eb` (the colon keeps the listed "
        "folders). `eb --search NAME` searches for an easyconfig.",
        'source': "github.com/easybuilders/easybuild-easyconfigs, issue 6560; "
        "easybuild-framework, issue 5278",
    },
    {
        'name': "the checksum of a source file is wrong",
        'patterns': [
            r"hecksum verification for (?:extension source )?(?P<file>\S{1,300})(?! .{0,300}passed) using "
            ".{0,300} failed"
        ],
        'cause': "The checksum of the source file {file} differs from the checksum in the "
        "easyconfig. The download was interrupted, the downloaded file is an error page, or the "
        "authors of the software have replaced the file.",
        'remedy': "Remove the source file and run eb again. If the error appears again, use a "
        "newer easyconfig with the new checksum (`eb --search NAME`). Use --ignore-checksums "
        "only if you know why the checksum differs.",
        'source': "github.com/easybuilders/easybuild, issue 860; easybuild-easyconfigs, issue "
        "15785",
    },
    {
        'name': "EasyBuild's sanity check failed",
        'patterns': [
            r"(?:build failed [^\n]{0,40}|\bEB_\w{1,60}[^\n]{0,40}|easy\w{1,60}[^\n]{0,200}"
            r"|ERROR[^\n]{0,200}): ?Sanity check failed: (?P<what>[^\n]{1,200})"
        ],
        'cause': "EasyBuild built the software, but the sanity check failed: the installation "
        "lacks something that the easyconfig requires. The failed check: {what}",
        'remedy': "Run the command in the message by hand, or search the installation folder for "
        "the files in the message. Usual reasons: the software has the wrong version, the loader "
        "does not find a library, or a command cannot run on this node. `eb --sanity-check-only "
        "FILE.eb` repeats the sanity check.",
        'source': "github.com/easybuilders/easybuild-easyconfigs, issue 8509",
        'unless': [
            "the loader does not find a library",
            "the module conflicts with a loaded module",
            "Lmod does not find the module",
            "a module needs another module",
        ],
    },
    {
        'name': "EasyBuild does not find a source file",
        'patterns': [
            r"[Cc]ouldn't find file (?P<file>\S{1,200}) anywhere",
            "downloading it didn't work either",
        ],
        'cause': "EasyBuild does not find the source file {file}, and could not download the "
        "file. The address of the file has changed, the node has no internet access, or users "
        "must download the file by hand because of its licence.",
        'remedy': "Download the source file on a machine with internet access (`eb FILE.eb "
        "--fetch` on a login node). Or put the source file into the folder sources/n/NAME/ below "
        "the sourcepath that `eb --show-config` prints. A newer easyconfig may contain the new "
        "address of the source file.",
        'source': "docs.easybuild.io, source path",
    },
    {
        'name': "EasyBuild does not find the modules tool",
        'patterns': [r"used by EasyBuild not found in defined '\w+' function"],
        'cause': "EasyBuild does not find the modules tool in its configuration (by default "
        "Lmod). The modules tool is not installed, or this shell has not read the init file of "
        "the modules tool.",
        'remedy': "Run `type module; echo $LMOD_CMD` to check whether this shell knows Lmod, and "
        "run `. /etc/profile.d/lmod.sh` before eb. If the system has Environment Modules instead "
        "of Lmod, run `eb --modules-tool=EnvironmentModules --module-syntax=Tcl`.",
        'source': "docs.easybuild.io, Supported modules tools",
        'unless': ["the shell does not know the command module"],
    },
    {
        'name': "EasyBuild does not know a setting",
        'patterns': [
            r"Found \d+ (?:environment variable|unknown)[^\n]{0,100}EASYBUILD_\w*",
            r"that are prefixed with EASYBUILD but do not match valid option\(s\): "
            r"(?P<names>[^\n'\x22]{1,150})",
        ],
        'cause': "EasyBuild does not know a command-line option, a variable EASYBUILD_* or an "
        "easyconfig parameter: {names}",
        'remedy': "`env | grep EASYBUILD_` prints the EasyBuild variables of this shell, `eb "
        "--help` lists the known options, and `eb -a` lists the known easyconfig parameters. The "
        "easyconfig may be for another major version of EasyBuild (4 or 5): check the installed "
        "version with `eb --version`.",
        'source': "docs.easybuild.io, Configuration",
        'general': True,
    },
    {
        'name': "EasyBuild has no permission to write to a folder",
        'patterns': [
            r"(?:build_log\.py|EasyBuild|build failed|== )[^\n]{0,300}Failed to "
            r"(?:create|write|copy|remove|change|move|symlink|set group|chmod/chown)\b[^\n]{0,600}\[Errno "
            r"(?:1|13|30)\]"
        ],
        'cause': "EasyBuild has no permission to write to one of the folders in its "
        "configuration. The configuration may name a folder of the site instead of your folder. "
        "Or the folder may contain read-only files, or files from another account or an earlier "
        "run of eb.",
        'remedy': "`eb --show-config` prints the folders installpath, buildpath, sourcepath, "
        "repositorypath and tmpdir. Use your own folder with `eb --prefix=FOLDER` (or set the "
        "variable EASYBUILD_PREFIX; on LUMI EBU_USER_PREFIX). Remove the folder of the failed "
        "build below buildpath with `rm -rf FOLDER`, and run eb again.",
        'source': "docs.easybuild.io, Configuration; github.com/easybuilders/easybuild-framework, "
        "issue 4602",
    },
]
