"""EasyBuild."""
from .common import DOCS

ENTRIES = [
    {'name': "modules tool of another age",
     'text': "ERROR: Failed to determine Environment Modules v3 version from option '--version' output: Modules "
             "Release 4.4.1",
     'patterns': [("Failed to determine ", r"Failed to determine (?P<tool>[\w ]{1,40}) version from option")],
     'cause': "EasyBuild was told that the modules tool is {tool}, and another one answers.",
     'remedy': "module --version, then eb --modules-tool=Lmod, or --modules-tool=EnvironmentModules "
               "--module-syntax=Tcl for Environment Modules 4 and 5 (EnvironmentModulesC is 3.2).",
     'source': "EasyBuild, tools/modules.py; github.com/easybuilders/easybuild-framework, issue 3815",
     'evidence': 'measured'},
    {'name': "nothing left to submit",
     'text': "ERROR: cmd \"scontrol release \" exited with exit code 1 and output: too few arguments for "
             "keyword:release",
     'patterns': [("too few arguments for keyword:release", "too few arguments for keyword:release"),
                  ("scontrol release", r'cmd "scontrol release " exited')],
     'cause': "eb --job found everything installed and submitted no job, and released its list of none all the same.",
     'remedy': "Harmless: nothing was left to build. A newer EasyBuild is silent. To build again: --rebuild.",
     'source': "github.com/easybuilders/easybuild-framework, pull request 2834", 'evidence': 'measured'},
    {'name': 'linked clone gone',
     'text': "ERROR: ... No files found using glob pattern '.../UserRepo/easybuild/easyblocks/*/*.py'",
     'patterns': ["No files found using glob pattern",
                  (".py cannot find its package", r"mpi(?:container|native)\.py cannot find its package"),
                  ("easyblock", r"Failed\s+to\s+obtain\s+class\s+for\s+MPI(?:Container|Native)\s+easyblock"),
                  ("/easyconfigs/", r"Can't\s+find\s+path\s+\S{1,300}/easyconfigs/\S{1,300}/"
                                    r"osu-(?:container|native|mpi4py)\S{0,100}\.eb")],
     'cause': "EasyBuild does not find the easyblocks or easyconfigs of this project: the clone that make lumi linked "
              "was moved or deleted, or nothing names them.",
     'remedy': "On LUMI: make lumi in a clone, which replaces dead links; to be rid of them, then make unlumi, and "
               "load EasyBuild-user again. On a workstation: . ./env.sh.",
     'source': 'EasyBuild 4.9.4, 5.1.2 and 5.4.1, seen by this project, 2026-11; ' + DOCS, 'evidence': 'measured'},
    {'name': 'eb without --robot',
     'text': "Missing modules for dependencies (use --robot?): ...",
     'patterns': [("issing modules for dependencies", r"[Mm]issing modules for dependencies.{0,20}: "
                                                      r"(?P<needs>[^\s'\"),]{1,200})")],
     'cause': "EasyBuild needs {needs}, which is not installed, and was not told to install it.",
     'remedy': "eb FILE.eb --robot (short -r) installs what is needed first. If it is installed: the software stack "
               "that has it is not loaded.",
     'source': 'github.com/easybuilders/easybuild-easyconfigs, issue 10845', 'evidence': 'measured'},
    {'name': 'easyconfig not on the robot path',
     'text': "ERROR: Missing dependencies: ... (no easyconfig file or existing module found)",
     'patterns': [("that matches toolchain",
                   r"No easyconfig for [^\n]{0,400}'name': '(?P<dep>[^'\n]"
                                                                    r"{1,60})'[^\n]{0,200} that matches toolchain"),
                  ("when determining module name for",
                   r"Failed to find (?:an )?easyconfig file[^\n]{0,80} when determining "
                   r"module name for: ?(?:\{[^\n]{0,300}'name': '(?P<toolchain>[^'\n]{1,60})', 'version)?"),
                  ("Irresolvable dependencies", r"Irresolvable dependencies encountered: (?P<first>[^\s,]{1,200})"),
                  ("no easyconfig file or existing module", r"issing dependenc(?:y|ies): (?P<second>[^\s,]{1,200})"
                   r".{0,2000}\(no easyconfig file or existing module found\)")],
     'cause': "EasyBuild finds neither a module nor an easyconfig for {first}{second}{dep}{toolchain} on its robot "
              "path.",
     'remedy': "eb --show-config shows robot-paths: an old release of the easyconfigs may stand there. Add a folder in "
               "front: eb --robot=FOLDER: FILE.eb (the colon keeps the others). eb --search NAME looks for it.",
     'source': 'github.com/easybuilders/easybuild-easyconfigs, issue 6560; easybuild-framework, issue 5278',
     'evidence': 'measured'},
    {'name': 'source file of another content',
     'text': "Checksum verification for .../ucx-1.13.1.tar.gz using ... failed",
     'patterns': [("hecksum verification for ", r"hecksum verification for (?:extension source )?(?P<file>\S{1,300})"
                                                r"(?! .{0,300}passed).{0,300} failed")],
     'cause': "{file} is not the file that the easyconfig was written for: the download was cut off or is an error "
              "page, or its authors have replaced it.",
     'remedy': "Remove that file and run eb again. If it comes again: a newer easyconfig (eb --search NAME) has the "
               "new checksum. Do not use --ignore-checksums without knowing why it differs.",
     'source': 'github.com/easybuilders/easybuild, issue 860; easybuild-easyconfigs, issue 15785',
     'evidence': 'measured'},
    {'name': 'EasyBuild\'s check of the result failed',
     'text': "build failed (first 300 chars): Sanity check failed: ...",
     'patterns': [("anity check failed", r"[Ss]anity check failed: (?P<what>[^\n]{1,200})")],
     'unless': ['library not in the image',
     "library not linked by its whole path", "module in conflict with a loaded one",
                "unknown module", "module needs another one"],
     'cause': "The build went through, and the result is not what the easyconfig expects: {what}",
     'remedy': "Run the command that it names by hand, or look for the files: a wrong version, a library that is not "
               "found, or a command that cannot run on this node. eb --sanity-check-only FILE.eb repeats the check.",
     'source': 'github.com/easybuilders/easybuild-easyconfigs, issue 8509', 'evidence': 'derived'},
    {'name': "source file that EasyBuild does not find",
     'text': "Couldn't find file ... anywhere, and downloading it didn't work either",
     'patterns': [("ouldn't find file ", r"[Cc]ouldn't find file (?P<file>\S{1,200}) anywhere"),
                  ("downloading it didn't work either", "downloading it didn't work either"),
                  ("ailed to ", r"[Ff]ailed to (?:download|fetch) (?:https?:|ftp:|source|file|\S{1,100}\.(?:tar|zip"
                   r"|tgz))[^\n]{0,120}"), ("source", r"[Nn]o (?:such )?source(?:s)? (?:file|path)[^\n]{0,60}"),
                  ("Couldn't find ", r"Couldn't find \S{1,100} (?:anywhere|in any)"),
                  ("occurred when trying to download ", r"error occurred when trying to download (?P<url>\S{1,200}) to "
                   r"[^\n]{0,200}"),
                  ("No file found for ", r"No file found for (?:source|patch) (?P<src>\S{1,150})"),
                  ("HTTPError", r"HTTPError[^\n]{0,40}(?:403|404|Forbidden|Not Found)"),
                  ("URLError", r"URLError[^\n]{0,80}")],
     'cause': "EasyBuild has not the source file {file}{url}{src}, and its address gave none: it has moved, the node "
              "has no way out, or it must be fetched by hand (a licence).",
     'remedy': "Fetch it where there is a network (eb FILE.eb --fetch on a login node), or put it into a folder of eb "
               "--show-config, sourcepath: .../sources/n/NAME/. A newer easyconfig may have the new address.",
     'source': "docs.easybuild.io, source path", 'evidence': 'derived'},
    {'name': "easyconfig not there",
     'text': "ERROR: Can't find path /home/me/...eb",
     'patterns': [("Can't find path ", r"Can't find path (?P<file>\S{1,200}\.eb)"),
                  ("o easyconfig file", r"[Nn]o easyconfig files? (?:found|specified)[^\n]{0,80}"),
                  ("One or more files not found: ", r"One or more files not found: (?P<file>[^\n]{1,150})"),
                  ("nable to find ", r"[Uu]nable to find (?:an )?easyconfig[^\n]{0,100}")],
     'unless': ["linked clone gone"],
     'cause': "eb does not find the easyconfig {file}: it is misspelt, of another release, or its folder is not on "
              "the robot path.",
     'remedy': "eb --search NAME lists those that are there; eb --show-config shows robot-paths; a file of your own "
               "needs its path, or --robot=FOLDER:.",
     'source': "docs.easybuild.io, robot search path", 'evidence': 'derived'},
    {'name': "toolchain that EasyBuild does not know",
     'text': "Toolchain foss/2099 ... not found / No module found for toolchain",
     'patterns': [("oolchain ", r"[Tt]oolchain \S{1,60}(?: version)?[^\n]{0,60} (?:not found|not available|unknown"
                   "|does not (?:exist|contain))"),
                  (" found for toolchain", r"No (?:module|version) found for toolchain[^\n]{0,80}"),
                  ("ailed to determine ", r"[Ff]ailed to determine (?:minimal )?toolchain[^\n]{0,100}"),
                  ("o toolchain ", r"[Nn]o toolchain (?:version|found)[^\n]{0,60}"),
                  (" toolchain", r"(?:Unknown|[Ii]nvalid) toolchain[^\n]{0,60}"),
                  ("toolchain", r"toolchain[^\n]{0,80}(?:is )?missing[^\n]{0,60}")],
     'cause': "The compiler and MPI (toolchain) that the easyconfig names are not installed or not known to this "
              "EasyBuild.",
     'remedy': "eb FILE.eb -r installs them; eb --list-toolchains lists what it knows; --try-toolchain=NAME,RELEASE "
               "takes another.",
     'source': "docs.easybuild.io, Common toolchains", 'evidence': 'derived'},
    {'name': "easyblock that EasyBuild does not find",
     'text': "Failed to obtain class for EB_Foo easyblock (not available?)",
     'patterns': [("easyblock", r"Failed\s+to\s+obtain\s+class\s+for\s+(?P<name>\w+)\s+easyblock"),
                  ("easyblock ", r"(?:No|no) (?:software-specific )?easyblock (?P<name>'?\S{1,60}'?) found"),
                  ("No module named ", r"No module named '?easybuild(?:\.\w+){0,4}"),
                  ("ailed to import", r"[Ff]ailed to import[^\n]{0,40}easyblock[^\n]{0,80}")],
     'unless': ["linked clone gone"],
     'cause': "EasyBuild does not find the code (easyblock) that installs this software: {name}. Framework, "
              "easyblocks and easyconfigs are of different releases, or --include-easyblocks is missing.",
     'remedy': "eb --version shows all three; install them of one release (pip install -U easybuild). One of your "
               "own: --include-easyblocks=FOLDER/*.py.",
     'source': "docs.easybuild.io, Including Python modules", 'evidence': 'derived'},
    {'name': "modules tool that EasyBuild does not find",
     'text': "No Lmod / module function not defined ... EASYBUILD_MODULES_TOOL",
     'patterns': [("module", r"(?:[Nn]o|[Cc]ouldn't find|[Ff]ailed to find)[^\n]{0,40}modules? tool[^\n]{0,80}"),
                  ("EasyBuild requires Lmod", r"EasyBuild requires Lmod[^\n]{0,80}"),
                  ("requires ", r"requires (?:a )?(?:version|Lmod)[^\n]{0,60}(?:modules tool|Lmod)"),
                  ("too old", r"[Ll]mod (?:v|version)?[^\n]{0,30}too old"),
                  ("ERROR: Failed to determine", r"ERROR: Failed to determine[^\n]{0,40}(?:modules tool|module "
                   "function)"), ("LMOD_CMD not ", r"LMOD_CMD not (?:found|available|defined)[^\n]{0,60}"),
                  ("lmod command not ", r"lmod command not (?:found|available|defined)[^\n]{0,60}"),
                  ("modulecmd", r"modulecmd(?:\.tcl)? not (?:found|available|defined)[^\n]{0,60}"),
                  (" function", r"'?modules?'? function[^\n]{0,40}not (?:defined|found)[^\n]{0,60}"),
                  ("No Lmod ", "No Lmod (?:found|available)"),
                  ("not found in defined", r"used by EasyBuild not found in defined '\w+' function"),
                  ("version from option", r"Failed to determine \S{1,40} version from option"),
                  ("Failed to check ", r"Failed to check (?:Lmod|EnvironmentModules\w*) version"),
                  ("No modules tool ", "No modules tool (?:found|available)")],
     'unless': ["module command not there"],
     'cause': "EasyBuild does not find the modules tool that it was told to use (Lmod by default), or this shell has "
              "not loaded it.",
     'remedy': "type module; echo $LMOD_CMD. . /etc/profile.d/lmod.sh first; eb --modules-tool=EnvironmentModules "
               "--module-syntax=Tcl for the other one.",
     'source': "docs.easybuild.io, Supported modules tools", 'evidence': 'derived'},
    {'name': "command of a build failed",
     'text': 'ERROR: ... cmd " make -j 8 ..." exited with exit code 2 and output:',
     'patterns': [('" exited with exit code ', r'cmd "(?P<command>[^"\n]{1,150})" exited with exit code (?P<code>\d+)'),
                  ("hell command '", r"[Ss]hell command '(?P<command>[^'\n]{1,100})' failed[^\n]{0,60}"),
                  ("ERROR: Shell command failed!", "ERROR: Shell command failed!"),
                  ("== FAILED: Installation ended unsuccessfully", "== FAILED: Installation ended unsuccessfully[^"
                   r"\n]{0,200}"), (" failed (err: ", r"Build of \S{1,200} failed \(err: (?P<command>[^\n]{1,200})"),
                  ("EasyBuild ", r"EasyBuild (?:crashed|encountered)[^\n]{0,80}")],
     'cause': "A command of the installation failed ({command}); the log that eb names has its output.",
     'remedy': "grep -n -i -m5 -E 'error|undefined|No space' LOG: the first one is the cause. Memory: eb "
               "--parallel=4. Another disk: --buildpath=/tmp/$USER (not /dev/shm if it is small).",
     'source': "docs.easybuild.io, Understanding EasyBuild logs", 'evidence': 'derived', 'general': 2},
    {'name': "extension that EasyBuild could not install",
     'text': "installation of extension numpy failed",
     'patterns': [("failing sanity check for ", r"failing sanity check for (?P<count>\d+ )?extensions?: (?P<what>[^"
                   r"\n]{1,120})"),
                  ("nstallation of extension ", r"[Ii]nstallation of extension (?P<what>\S{1,60}) failed")],
     'unless': ["EasyBuild's check of the result failed"],
     'cause': "An extension (a package of Python, R or Perl) was not installed so that it can be loaded: {what}",
     'remedy': "Load the module and import it by hand: the message that comes is the cause. Packages in ~/.local are "
               "often in the way: export PYTHONNOUSERSITE=1.",
     'source': "docs.easybuild.io, extensions", 'evidence': 'derived', 'general': 1},
    {'name': "lock of another installation",
     'text': "ERROR: ... lock ... already exists, aborting!",
     'patterns': [(" already exists", r"[Ll]ock \S{1,250} already exists[^\n]{0,60}"),
                  (" held by", r"[Ll]ock \S{1,250} held by[^\n]{0,60}"),
                  ("already exists, aborting!", "already exists, aborting!")],
     'cause': "Another eb installs the same software now, or one was killed and has left its lock.",
     'remedy': "If none runs: rm -r the folder that is named (software/.locks), or eb --ignore-locks. Two at once: "
               "--wait-on-lock-limit=3600.",
     'source': "docs.easybuild.io, Locks", 'evidence': 'derived'},
    {'name': "setting of EasyBuild refused",
     'text': "eb: error: no such option: --foo / ERROR: Found one or more unknown ... ",
     'patterns': [("eb: error: ", r"\beb: error: (?P<what>[^\n]{1,120})"),
                  ("EASYBUILD_", r"Found \d+ (?:environment variable|unknown)[^\n]{0,100}EASYBUILD_\w*"),
                  ("Unknown ", r"Unknown (?:configuration )?(?:option|easyconfig parameter|key)[^\n]{0,80}"
                   r"(?:easyconfig|EASYBUILD|parameter)[^\n]{0,60}"),
                  ("unknown ", r"unknown (?:configuration )?(?:option|easyconfig parameter|key)[^\n]{0,80}"
                   r"(?:easyconfig|EASYBUILD|parameter)[^\n]{0,60}"),
                  ("Invalid ", r"Invalid (?:configuration )?(?:option|easyconfig parameter|key)[^\n]{0,80}"
                   r"(?:easyconfig|EASYBUILD|parameter)[^\n]{0,60}"),
                  ("EASYBUILD_", r"EASYBUILD_\w{1,60}\b[^\n]{0,80}(?:not|invalid|unknown|error)[^\n]{0,40}"),
                  ("You may have some typos in your easyconfig file",
                   r"You may have some typos in your easyconfig file:? ?(?P<typo>[^\n]{0,100})"),
                  ("hat are prefixed with EASYBUILD",
                   r"that are prefixed with EASYBUILD but do not match valid option\(s\): "
                   r"(?P<names>[^\n'\x22]{1,150})"),
                  ("Failed to parse configuration options: ", r"Failed to parse configuration options: [^\n]{1,200}"),
                  ("easyconfig parameter: ", r"Unknown easyconfig parameter: (?P<key>\S{1,60})"),
                  ("nknown easyconfig parameter '", r"unknown easyconfig parameter '(?P<key2>[^'\n]{1,60})'"),
                  ("major versions are different",
                   r"Framework \(\S{1,20}\) and EasyBlock \(\S{1,20}\) major versions are different"),
                  ("andatory ", r"[Mm]andatory (?:easyconfig )?parameters? not (?:provided|found)[^\n]{0,80}"),
                  ("functionality",
                   r"ERROR[^\n]{0,60}(?:[Dd]eprecated|DEPRECATED)[^\n]{0,40}functionality[^\n]{0,80}")],
     'cause': "EasyBuild does not know an option, a variable EASYBUILD_... or a parameter of the easyconfig: "
              "{what}{typo}{names}{key}{key2}",
     'remedy': "env | grep EASYBUILD_; eb --help; eb -a lists the parameters of easyconfigs. The easyconfig may be of "
               "another major release (4 or 5): eb --version.",
     'source': "docs.easybuild.io, Configuration", 'evidence': 'derived', 'general': 1},
    {'name': "EasyBuild as root",
     'text': "ERROR: You seem to be running EasyBuild with root privileges which is not wise, so let's end this here.",
     'patterns': [("running EasyBuild with root privileges", "running EasyBuild with root privileges")],
     'cause': "EasyBuild does not run as root.",
     'remedy': "Use an ordinary account (su - USER); in a container useradd first. "
               "--allow-use-as-root-and-accept-consequences exists.",
     'source': "docs.easybuild.io", 'evidence': 'derived'},
    {'name': "optarch of a processor",
     'text': "error: bad value ('...') for '-march=' switch / unrecognized command-line option",
     'patterns': [("bad value (", r"bad value \('?[^)\n]{1,40}'?\) for '?-m(?:arch|tune|cpu)="),
                  ("line option ", r"unrecognized command[- ]line option '?-(?:xHost|x[A-Z]\S{0,20}|march\S{0,20}|fpic"
                   r"\S{0,10})"), ("nknown ", r"[Uu]nknown (?:target CPU|architecture)[^\n]{0,60}")],
     'cause': "The compiler does not know the processor that it is to build for: it is older than the processor, or "
              "the option is of another compiler.",
     'remedy': "eb --optarch=GENERIC, or a newer compiler; on a login node of another kind than the compute nodes "
               "build on the compute nodes.",
     'source': "docs.easybuild.io, Controlling compiler optimization flags", 'evidence': 'derived'},
    {'name': "toolchain of another release",
     'text': "List of toolchain dependency modules and toolchain definition do not match",
     'patterns': ["toolchain dependency modules and toolchain definition do not match"],
     'cause': "The module of the toolchain loads other parts than EasyBuild expects of it: it was installed by "
              "another release of EasyBuild or of the easyconfigs than the one in use.",
     'remedy': "eb --version; take framework, easyblocks and easyconfigs of one release, and install the toolchain "
               "again (eb --rebuild), or the easyconfig of a toolchain of that release (eb --search).",
     'source': "github.com/easybuilders/easybuild-easyconfigs, issue 25120", 'evidence': 'measured'},
    {'name': "development package of the system missing",
     'text': "libtool: error: '/usr/lib64/libmunge.la' is not a valid libtool archive",
     'patterns': [(".la' is not a valid libtool archive", r"'(?P<file>\S{1,150}\.la)' is not a valid libtool archive"),
                  (".la: No such file", r"can't read (?P<file>\S{1,150}\.la): No such file"),
                  (".h: No such file or directory", r"fatal error: (?P<file>\S{1,100}\.h): No such file or directory"),
                  (" was not found in the pkg-config search path", r"Package (?P<file>\S{1,60}) was not found in the "
                   "pkg-config search path"),
                  ("OS dependenc", r"OS dependenc\w+ [^\n]{0,80}(?:not found|missing)[^\n]{0,60}"),
                  ("OS dependenc", r"missing (?:required )?OS dependenc\w+[^\n]{0,100}"),
                  ("One or more OS dependencies were not found", "One or more OS dependencies were not found[^"
                   r"\n]{0,100}")],
     'cause': "A build needs {file} of a development package of the system, which is not installed here.",
     'remedy': "Install the package (munge-devel, libmunge-dev, rdma-core-devel, libibverbs-dev ...), on the machine "
               "that builds or in the image; or leave out what wants it (--without-...).",
     'source': "github.com/easybuilders/easybuild-easyconfigs, pull request 5127", 'evidence': 'measured'},
    {'name': "folder that EasyBuild may not write",
     'text': "ERROR: Failed to create directory /apps/software: [Errno 13] Permission denied: '/apps/software'",
     'patterns': [("[Errno ",
                   r"Failed to (?:create|write|copy|remove|change|move|symlink|set group|chmod/chown)\b[^\n]{0,600}"
                   r"\[Errno (?:1|13|30)\]"),
                  ("Failed to create lock ", r"Failed to create lock \S{1,300}[^\n]{0,200}"),
                  ("permissions/owner operations failed", "permissions/owner operations failed")],
     'unless': ["build on a file system of the network"],
     'cause': "EasyBuild may not write where its settings send it: the site's folder instead of one of yours, files "
              "that an earlier eb or another account left, or files without w that are copied once more.",
     'remedy': "eb --show-config: installpath, buildpath, sourcepath, repositorypath, tmpdir. eb --prefix=FOLDER of "
               "yours (EASYBUILD_PREFIX); on LUMI EBU_USER_PREFIX. rm -rf the folder in buildpath and try again.",
     'source': "docs.easybuild.io, Configuration; github.com/easybuilders/easybuild-framework, issue 4602",
     'evidence': 'derived'},
    {'name': "build on a file system of the network",
     'text': "Failed to copy src ... to dst ...: [Errno 13] Permission denied / Failed to remove directory ... even "
             "after 3 attempts",
     'patterns': [("Failed to copy src ", r"Failed to copy src /\S{1,300} to dst [^\n]{0,300}"),
                  ("even after ", r"Failed to remove directory \S{1,300} even after \d+ attempts")],
     'cause': "Builds move and delete thousands of files, some without the right w, which Lustre and NFS answer in "
              "another way or too late.",
     'remedy': "eb --buildpath=/tmp/$USER (EASYBUILD_BUILDPATH; /dev/shm where there is memory), and remove what is "
               "left in the old one.",
     'source': "github.com/easybuilders/easybuild-easyconfigs, issues 12321 and 17634", 'evidence': 'measured'},
    {'name': "software loaded while it is built",
     'text': "ERROR: Module is already loaded ($EBROOTGCC is set), installation cannot continue.",
     'patterns': [("Module is already loaded (",
                   r"Module is already loaded \(\$?(?P<name>\w{1,60}) is set\)"),
                  ("non-allowed loaded (EasyBuild-generated) modules",
                   r"ound one or more non-allowed loaded \(EasyBuild-generated\) modules"),
                  ("without matching loaded module",
                   r"Found defined \$EBROOT\S{0,3} environment variables without matching "
                   r"loaded module: (?P<other>[^\n]{1,100})")],
     'cause': "Modules that EasyBuild made are loaded in this shell, or left their variables {name}{other}: the build "
              "could take them instead of what its easyconfig names.",
     'remedy': "module purge (keep the stack and EasyBuild itself), env | grep ^EBROOT, then eb again in a fresh "
               "shell. As a warning alone it is harmless; --detect-loaded-modules=purge does it by itself.",
     'source': "docs.easybuild.io, Detecting loaded modules", 'evidence': 'derived', 'general': 1},
    {'name': "patch that does not fit",
     'text': "Couldn't apply patch file ...",
     'patterns': [("ouldn't apply patch file ", r"ouldn't apply patch file (?P<file>\S{1,200})"),
                  ("etermine patch level", r"Can't determine patch level for patch (?P<other>\S{1,200})"),
                  ("hunk", r"\d+ out of \d+ hunks? (?:FAILED|failed)")],
     'cause': "The patch {file}{other} does not fit the sources: it was made for another release "
              "(--try-software-version), or is in them already.",
     'remedy': "The log has patch's own words: grep -n -A3 'FAILED' LOG. Take the patch out of a copy of the "
               "easyconfig, or one for that release.",
     'source': "docs.easybuild.io, Patch files", 'evidence': 'derived'},
    {'name': "easyconfig under another name",
     'text': "Easyconfig filename 'a.eb' does not match with expected filename 'b.eb'",
     'patterns': [("does not match with expected filename",
                   r"Easyconfig filename '[^'\n]{1,100}' does not match "
                   r"with expected filename '(?P<wanted>[^'\n]{1,100})'"),
                  ("ould not find easyconfig for",
                   r"ould not find easyconfig for (?:dependency )?(?P<dep>[^\n]{1,100})")],
     'cause': "--try-... and --robot find easyconfigs by name: NAME-VERSION-TOOLCHAIN-SUFFIX.eb, and there is none of "
              "that name {wanted}{dep}",
     'remedy': "Rename the file as it is expected; eb --search NAME shows those that are there.",
     'source': "docs.easybuild.io, Writing easyconfig files", 'evidence': 'derived'},
    {'name': "EasyBuild older than the easyconfig",
     'text': "EasyBuild-version 4.9 is newer than the currently running one. Aborting!",
     'patterns': [(" is newer than", r"EasyBuild-version (?P<version>\S{1,20}) is newer than"),
                  (" not supported in easyconfig", r"Version '\S{1,20}' not supported in easyconfig")],
     'cause': "The easyconfig is for EasyBuild {version}, and an older one runs.",
     'remedy': "eb --install-latest-eb-release, then module load EasyBuild; or pip install -U easybuild.",
     'source': "docs.easybuild.io, Installation", 'evidence': 'derived'},
    {'name': "Python that EasyBuild does not take",
     'text': "ERROR: No compatible 'python' command found via $PATH (EasyBuild requires Python 3.6+)",
     'patterns': [("No compatible 'python' command found", "No compatible 'python' command found"),
                  ("is not compatible", r"EasyBuild is not compatible (?:\(yet\) )?with Python (?P<version>\S{1,20})"),
                  ("higher is required, found Python", r"or higher is required, found Python (?P<found>\S{1,20})"),
                  ("distutils", r"easybuild[^\n]{0,200}No module named '?distutils")],
     'cause': "eb runs with the first python on PATH that it takes, and finds none: what is there is too old or too "
              "new for this release of EasyBuild, or a loaded module or environment hides the right one.",
     'remedy': "export EB_PYTHON=/usr/bin/python3 (or the one that EasyBuild was installed with); EB_VERBOSE=1 eb "
               "--version says which it tries. conda deactivate.",
     'source': "docs.easybuild.io, Controlling which Python command eb uses", 'evidence': 'derived'},
    {'name': "modules of the system that are not there",
     'text': "Missing modules for dependencies marked as external modules: cray-mpich/8.1",
     'patterns': [("marked as external modules", r"marked as external modules: (?P<name>[^\n]{1,150})"),
                  ("Could not find a PrgEnv-", r"Could not find a PrgEnv-\S{0,20} module")],
     'cause': "The easyconfig takes {name} from the system (Cray's modules), and this machine or stack has no such "
              "release.",
     'remedy': "module avail NAME shows those that are there: an easyconfig for that stack, or the stack that has it "
               "(module load LUMI/25.03 partition/G, cpe/...).",
     'source': "docs.easybuild.io, Using external modules", 'evidence': 'derived'},
    {'name': "checksum not given",
     'text': "Missing checksum for foo-1.0.tar.gz",
     'patterns': [("Missing checksum for ", r"Missing checksum for (?P<file>\S{1,200})"),
                  ("Checksums missing for one or more",
                   r"Checksums missing for one or more sources/patches[^\n]{0,120}")],
     'cause': "EasyBuild was told to want a checksum for every file (--enforce-checksums), and the easyconfig has none "
              "for {file}.",
     'remedy': "eb --inject-checksums FILE.eb writes them into it; or without --enforce-checksums.",
     'source': "docs.easybuild.io, Checksums", 'evidence': 'derived'},
    {'name': "licence that EasyBuild wants accepted",
     'text': "The End User License Agreement (EULA) for CUDA is currently not accepted!",
     'patterns': [("is currently not accepted",
                   r"End User License Ar?gr?eement \(EULA\) for (?P<name>\S{1,60}) is currently not "
                   "accepted"),
                  ("license specifications found", "No viable license specifications found")],
     'cause': "{name} is under a licence that you must have accepted, or whose file (server) EasyBuild must be told.",
     'remedy': "eb --accept-eula-for=NAME (EASYBUILD_ACCEPT_EULA_FOR=CUDA,Intel-oneAPI). A licence file: export "
               "INTEL_LICENSE_FILE or LM_LICENSE_FILE.",
     'source': "docs.easybuild.io, accept-eula-for", 'evidence': 'derived'},
    {'name': "kind of GPU that EasyBuild must be told",
     'text': "List of CUDA compute capabilities must be specified, ...",
     'patterns': ["List of CUDA compute capabilities must be specified",
                  ("compute capabilit", r"(?:[Nn]o|[Ff]ailed to determine) CUDA compute capabilit\w+[^\n]{0,80}")],
     'cause': "Software for GPUs of NVIDIA is built for certain kinds, and EasyBuild was not told which.",
     'remedy': "eb --cuda-compute-capabilities=8.0,9.0 (A100 8.0, H100 and GH200 9.0, V100 7.0; nvidia-smi "
               "--query-gpu=compute_cap --format=csv).",
     'source': "docs.easybuild.io, cuda-compute-capabilities", 'evidence': 'derived'},
    {'name': "question that an installer asked",
     'text': "Failed to answer question raised by interactive command / run_cmd_qa: cmd ... : Max nohits 50 reached",
     'patterns': [("Max nohits", r"Max nohits \S{0,10} ?reached"),
                  ("raised by interactive command", "Failed to answer question raised by interactive command")],
     'cause': "An installer asked something that the easyblock has no answer to (mostly another release of the "
              "software), or was silent for so long.",
     'remedy': "The end of the log shows the question. Try again if the disk was slow; else a newer EasyBuild, or the "
               "release that the easyblock was written for.",
     'source': "docs.easybuild.io, run_shell_cmd with qa_patterns", 'evidence': 'derived'},
    {'name': "kind of archive that EasyBuild does not know",
     'text': "Can't extract file ... with unknown filetype",
     'patterns': [("with unknown filetype", r"Can't extract file (?P<file>\S{1,200}) with unknown filetype"),
                  ("Unpacking source ", r"Unpacking source (?P<other>\S{1,200}) failed")],
     'cause': "EasyBuild cannot unpack {file}{other}: its ending names no kind of archive, or the file is no "
              "whole archive (an error page, cut off).",
     'remedy': "file NAME shows what it is. A page of a web server: remove it and fetch it again. In the easyconfig "
               "extract_cmd says how to unpack, or {'extract_cmd': 'cp %s .'} copies.",
     'source': "docs.easybuild.io, sources", 'evidence': 'derived'},
    {'name': "two releases of one dependency",
     'text': "Multiple versions of GCCcore found in dependencies of toolchain foss: ...",
     'patterns': [("Multiple versions of ", r"Multiple versions of (?P<name>\S{1,60}) found in dependencies"),
                  ("have a matching toolchain version", "Not all dependencies have a matching toolchain version"),
                  ("No version found for subtoolchain", r"No version found for subtoolchain (?P<other>\S{1,60})"),
                  ("No possible mapping from source toolchain", "No possible mapping from source toolchain")],
     'cause': "The easyconfigs do not fit together: parts of two toolchains or generations meet in one "
              "installation, often by --try-toolchain.",
     'remedy': "eb -D FILE.eb shows what each dependency is taken from; one generation for all (2023b), or "
               "--try-update-deps --map-toolchains.",
     'source': "docs.easybuild.io, Manipulating dependencies", 'evidence': 'derived'},
    {'name': "library not linked by its whole path",
     'text': "Sanity check failed: No '(RPATH)' found in 'readelf -d' output for ...",
     'patterns': [("(RPATH)", r"No '\(RPATH\)' found in 'readelf -d' output"),
                  ("not found for ", r"Library (?P<name>\S{1,80}) not found for (?P<by>/\S{1,200})"),
                  ("anned/required shared libraries",
                   r"Check for banned/required shared libraries failed[^\n]{0,100}")],
     'cause': "EasyBuild's check by --rpath found a program or library that does not name its libraries by path: its "
              "build did not use the compiler's wrappers, or a library is not there.",
     'remedy': "Look how it was linked (readelf -d FILE); toolchainopts = {'rpath': False} in the easyconfig, or eb "
               "--disable-rpath, leaves the check out; --filter-rpath-sanity-libs names libraries of the driver.",
     'source': "docs.easybuild.io, RPATH support", 'evidence': 'derived'},
    {'name': "tests of the software failed",
     'text': "An error was raised during test step: ...",
     'patterns': [("rror was raised during test step", r"rror was raised during test step[^\n]{0,150}"),
                  ("failed in test step", r"failed in test step"),
                  ("'test_step' function", r"called from +-> +'test_step' function"),
                  ("oo many failed tests", r"[Tt]oo many failed tests \((?P<count>\d+)\)")],
     'cause': "The software was built, and its own tests failed: mostly a few (limits of processes, shared memory, MPI "
              "without a network on a login node), at times a real fault.",
     'remedy': "The log names the tests. In a job on a compute node they may pass; MPI within them: export "
               "FI_PROVIDER=tcp, OMPI_MCA_btl=self,sm,tcp. eb --ignore-test-failure goes on, --skip-test-step leaves "
               "them out.",
     'source': "docs.easybuild.io, ignore-test-failure", 'evidence': 'derived', 'general': 1},
    {'name': "eb not on PATH",
     'text': "bash: eb: command not found",
     'patterns': [("not found", r"\beb: (?:command )?not found"), ("not found", r"\beb: Command not found")],
     'cause': "EasyBuild is not loaded in this shell.",
     'remedy': "module load EasyBuild (LUMI: module load LUMI/25.03 partition/container EasyBuild-user); of this "
               "project: . ./env.sh; pip install --user easybuild, with ~/.local/bin on PATH.",
     'source': "docs.easybuild.io, Installation", 'evidence': 'derived'},
    {'name': "installation there already",
     'text': "... is already installed (module found), skipping",
     'patterns': [("s already installed (module found)", r"(?P<name>\S{1,100}) is already installed \(module found\)")],
     'cause': "EasyBuild found a module of that name and did nothing.",
     'remedy': "Nothing is wrong. To build it once more: eb FILE.eb --rebuild; --force also where a file exists.",
     'source': "docs.easybuild.io, Rebuilding", 'evidence': 'derived', 'last': True},
    {'name': "backend of jobs for EasyBuild",
     'text': "Can not use --job if no job backend is available.",
     'patterns': [("--job if no job backend", "--job if no job backend is available"),
                  ("an't submit jobs", r"connection to server failed \([^\n]{0,150}can't submit jobs"),
                  ("Cannot load GC3Pie package", "Cannot load GC3Pie package")],
     'cause': "eb --job wants a way to submit jobs, and its default or the one that is set does not work here.",
     'remedy': "eb --job --job-backend=Slurm (EASYBUILD_JOB_BACKEND); with its own options in SBATCH_ACCOUNT and "
               "SBATCH_PARTITION.",
     'source': "docs.easybuild.io, Submitting jobs", 'evidence': 'derived'},
    {'name': "robot without its folder",
     'text': "Argument passed to --robot is not an existing directory: foo",
     'patterns': [("--robot is not an existing directory",
                   r"--robot is not an existing directory: (?P<name>\S{1,200})"),
                  ("Robot search path is empty", "Robot search path is empty")],
     'cause': "--robot (-r) took the word behind it as a folder of easyconfigs: {name}",
     'remedy': "eb FILE.eb -r, with the file in front; --robot=FOLDER: for a folder.",
     'source': "docs.easybuild.io, robot search path", 'evidence': 'derived'},
    {'name': "warning of EasyBuild of what will go",
     'text': "WARNING: Deprecated functionality, will no longer work in EasyBuild v6.0: ...",
     'patterns': [("eprecated functionality, will no longer work",
                   r"(?:^|WARNING:? )Deprecated functionality, will no longer "
                   r"work[^\n]{0,150}")],
     'cause': "EasyBuild still does what was asked for, and its next major release will not.",
     'remedy': "Harmless now; --silence-deprecation-warnings=... silences some.",
     'source': "docs.easybuild.io, Deprecated functionality", 'evidence': 'derived', 'last': True},
]
