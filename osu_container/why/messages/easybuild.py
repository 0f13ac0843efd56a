"""EasyBuild."""
from .common import DOCS

ENTRIES = [
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
                                                      r"(?P<needs>[^\s'\")]{1,200})")],
     'cause': "EasyBuild needs {needs}, which is not installed, and was not told to install it.",
     'remedy': "eb FILE.eb --robot (short -r) installs what is needed first. If it is installed: the software stack "
               "that has it is not loaded.",
     'source': 'github.com/easybuilders/easybuild-easyconfigs, issue 10845', 'evidence': 'measured'},
    {'name': 'easyconfig not on the robot path',
     'text': "ERROR: Missing dependencies: ... (no easyconfig file or existing module found)",
     'patterns': [("Irresolvable dependencies", r"Irresolvable dependencies encountered: (?P<first>[^\s,]{1,200})"),
                  ("no easyconfig file or existing module", r"issing dependenc(?:y|ies): (?P<second>[^\s,]{1,200})"
                   r".{0,2000}\(no easyconfig file or existing module found\)")],
     'cause': "EasyBuild finds neither a module nor an easyconfig for {first}{second} on its robot path.",
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
     'unless': ['library not in the image'],
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
                  ("HTTPError", r"HTTPError[^\n]{0,40}(?:403|404|Forbidden|Not Found)"),
                  ("URLError", r"URLError[^\n]{0,80}")],
     'cause': "EasyBuild has not the source file {file}, and its address gave none: it has moved, the node has no way "
              "out, or it must be fetched by hand (a licence).",
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
                  ("andatory ", r"[Mm]andatory (?:easyconfig )?parameters? not (?:provided|found)[^\n]{0,80}"),
                  ("functionality", r"(?:[Dd]eprecated|DEPRECATED)[^\n]{0,40}functionality[^\n]{0,80}")],
     'cause': "EasyBuild does not know an option, a variable EASYBUILD_... or a parameter of the easyconfig: {what}",
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
]
