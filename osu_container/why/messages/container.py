"""The container and its runtime."""
from .common import AGAIN, APPTAINER, ENTRYPOINT, LMOD, OURS, WRAPPER

ENTRIES = [
    {'name': 'bound file missing',
     'text': "WARNING: skipping mount of ...: no such file or directory",
     'patterns': [(" doesn't exist", r"mount source (?P<path>\S+) doesn't exist"),
                  ("skipping mount of ", r"skipping mount of (?P<other>[^\s:]+)(?!: permission denied)(?:[:\s]|$)")],
     'unless': ['no place for a bind'],
     'cause': "{path}{other} is to be bound into the container and is not there. Apptainer starts no container then; "
              "SingularityCE may only warn, and the program meets another library.",
     'remedy': "Loading the module says which library of the host has changed: " + AGAIN + " If the path is one of "
               "your own SINGULARITY_BIND or APPTAINER_BIND, correct that.",
     'source': APPTAINER + '; github.com/Lumi-supercomputer/LUMI-EasyBuild-contrib, issue 422, 2026',
     'evidence': 'measured'},
    {'name': 'no place for a bind',
     'text': "destination /var/spool/slurmd doesn't exist in container",
     'patterns': [(" doesn't exist", r"destination (?P<path>\S+) doesn't exist"),
                  ("doesn't exist", r"Target \S{1,200}/mnt/(?:session/)?final(?P<other>/\S+) doesn't exist"),
                  ("/mnt/final/", r"Failed to get real path of \S{1,200}/mnt/final(?P<other>/\S{1,300}): No such "
                   "file"), ("FAILED to find user volume ", r"FAILED to find user volume to: (?P<other>\S+)"),
                  (" destination automatically without overlay", r"can't create (?P<where>\S{1,300}) destination "
                   "automatically without overlay"),
                  ("bind point (", r"[Nn]on.exist[ae]nt bind point \([a-z]{1,20}\) in container: "
                                   r"'?(?P<point>(?!/etc/)[^'\s]{1,300})")],
     'cause': "{path}{other}{point}{where} is to be bound, and the container has no such folder and cannot make one: "
              "an image is being built, or the runtime has no overlay (Singularity 2, Charliecloud).",
     'remedy': "Unload the module before singularity build. Else make the folder in the image (mkdir -p in %post; "
               "ch-run -w IMAGE -- mkdir -p), or ask the administrators for overlay in the runtime's configuration.",
     'source': 'LUMI training 2026-04, Containers', 'evidence': 'measured'},
    {'name': 'two sets of binds',
     'text': "WARNING: SINGULARITY_BIND and APPTAINER_BIND have different values, using the latter",
     'patterns': [(" have different values, using the latter",
                   r"SINGULARITY_(?P<name>BIND|BINDPATH) and APPTAINER_\w+ have different values, using the latter"),
                  (" is set, but APPTAINER_", r"SINGULARITY_(?:BIND|BINDPATH) is set, but APPTAINER_\w+ is preferred")],
     'cause': "You have set SINGULARITY_BIND and the module has set APPTAINER_BIND; an apptainer that is started by "
              "hand ignores the first.",
     'remedy': "Use the module's commands (osu_*, osu-exec, osu-shell), which put both together, or name your "
               "folders in APPTAINER_BIND too.",
     'source': APPTAINER, 'evidence': 'measured'},
    {'name': 'older names of variables',
     'text': "INFO:    Environment variable SINGULARITYENV_X is set, but APPTAINERENV_X is preferred",
     'patterns': [(" is set, but APPTAINER",
                   r"Environment variable (?P<name>SINGULARITY\w+) is set, but APPTAINER\w+ is preferred"),
                  ("Skipping environment variable [",
                   r"Skipping environment variable \[(?P<other>SINGULARITYENV_\w+)")],
     'cause': "{name}{other} has the older name. Apptainer still takes it, unless the newer one has another value.",
     'remedy': "Harmless where only one is set. Else unset the older.",
     'source': APPTAINER, 'evidence': 'measured', 'last': True},
    {'name': 'image cannot be read',
     'text': "FATAL:   could not open image .../x.sif: ...",
     'patterns': [("could not open image ", r"could not open image (?P<path>\S+?): (?P<why>.*)"),
                  ("while extracting ",
                   r"while extracting (?P<file>\S{1,300}): (?P<reason>not a squashfs root filesystem)")],
     'cause': "The image {path}{file} is not there, is not readable or is no image ({why}{reason}).",
     'remedy': "module load of its module says how to get it back. A file that is too small is the page of a web "
               "server: copy the image again and check it (osu-container image verify FILE).",
     'source': APPTAINER, 'evidence': 'measured'},
    {'name': 'image without a signature',
     'text': "integrity: signature not found for object group 1",
     'patterns': ["integrity: signature not found", "image could not be verified, but build will continue"],
     'cause': "The image is not signed, so its signature cannot be checked. Building from it and running it go on; "
              "apptainer verify ends with an error.",
     'remedy': "Harmless in a run. To check what you have: osu-container image verify FILE compares the file with its "
               "sha256; apptainer sign signs one of your own.",
     'source': APPTAINER + '; github.com/apptainer/apptainer, issue 1490', 'evidence': 'measured', 'last': True},
    {'name': 'signature refused',
     'text': "FATAL:   while checking container image with ECL: image signature not valid: ...",
     'patterns': ["while checking container image with ECL",
                  ("signature object ", r"signature object \d+ not valid")],
     'cause': "This system runs only images that somebody it trusts has signed (ecl.toml), or the signature does not "
              "fit the image.",
     'remedy': "Ask the administrators whose signatures they take. If it should fit: copy the image again.",
     'source': 'github.com/apptainer/apptainer, issue 1805', 'evidence': 'derived'},
    {'name': 'program not in the image',
     'text': 'FATAL:   "osu_bw": executable file not found in $PATH',
     'patterns': [('": executable file not found in $PATH',
                   r'"(?P<program>(?!(?:sqfstar|tar2sqfs|mksquashfs|unsquashfs|crun|runc|newuidmap|proot)")[^"\n]+)": '
                   r'executable file not found in \$PATH'),
                  (": no such file or directory", r'FATAL: +"(?P<third>[^"\n]{1,200})": stat [^\n]{1,200}: no such '
                                                  r'file or '
                   r"directory"),
                  (".singularity.d/actions/", r"\.singularity\.d/actions/\w+:(?: line)? \d+: (?:exec: )?"
                                              r"(?P<action>[^\s:]{1,200}): not found"),
                  ("can't execve(2): ", r"can't execve\(2\): (?P<other>[^\s:]{1,200}): No such file"),
                  ("exec: ", r'exec: "(?P<third>(?![^"\n]{0,100}(?:nvidia-container|squash|fuse|newuidmap|newgidmap))'
                   r'[^"\n]{1,200})": stat [^\n]{1,200}: no such file or directory'),
                  ("failed: no such file or directory",
                   r"FATAL: +exec (?P<script>\S{1,200}) failed: no such file or directory")],
     'cause': "The image has no program {program}{action}{other}{third}{script}, or not the interpreter or loader that "
              "its first line or its header names.",
     'remedy': "singularity exec IMAGE ls -l PATH; singularity exec IMAGE sh -c 'echo $PATH'. Of ours: module help "
               "lists the benchmarks, osu-exec ls /opt what else is there. Where the OSU archive could not be had, "
               "mpi4py's ports stand in, and they are fewer.",
     'also': [("it lies in the image's home folder, which yours hides, or its PATH is set in .bashrc of the image",
               "apptainer exec --no-home IMAGE PROGRAM")],
     'source': APPTAINER, 'evidence': 'measured'},
    {'name': 'no right to mount',
     'text': "fuse: failed to open /dev/fuse: Permission denied",
     'patterns': ["failed to open /dev/fuse", "fuse: device not found"],
     'cause': "The runtime mounts the image through /dev/fuse, and this user may not open it here.",
     'remedy': "Without it: apptainer exec --unsquash, or MPI_CONTAINER_OPTIONS=--unsquash with a command of the "
               "module, which unpacks the image into $TMPDIR at each start. As root: modprobe fuse; chmod 666 "
               "/dev/fuse. In a container of CI: --privileged or --device /dev/fuse.",
     'source': OURS, 'evidence': 'measured'},
    {'name': 'no user namespaces',
     'text': "ERROR  : Failed to create user namespace: ...",
     'patterns': [("ailed to create user namespace", "[Ff]ailed to create user namespace"),
                  "Failed to create container process: Operation not permitted",
                  ("Failed invoking the ", r"Failed invoking the NEW\w+ namespace runtime"),
                  "Failed to create container process: No space left on device",
                  "Failed to create container process: Invalid argument",
                  ("ailed to create mount namespace", "[Ff]ailed to create mount namespace"),
                  "Unprivileged user namespaces may not be enabled", "requires unprivileged user namespaces",
                  "Could not write info to setgroups", "Failed to unshare root file system",
                  ("Failed to ", r"Failed to (?:drop cap \d|set securebits|set effective (?:GID|UID to (?!0\b))|set "
                                 r"filesystem uid"
                   r"|set additional groups|set process capabilities|set all (?:user|group) ID|set mount propagation"
                   r"|propagate as SHARED)"),
                  ("Failed to enter in ", r"Failed to enter in (?:user|mount|shared mount|pid|ipc|network) namespace"),
                  " namespace requires privileges, check ", "not allowed to create user namespace",
                  ("can't init user+mount namespaces", r"can't init user\+mount namespaces"),
                  ("cannot clone: ", r"cannot clone: (?:Operation not permitted|No space left|Invalid argument)"),
                  (" while permitted capability set",
                   "Requesting capability set .{0,200} while permitted capability set")],
     'cause': "The runtime may not do what it needs as this user: make user namespaces, or keep its capabilities.",
     'remedy': "Ubuntu 24.04: sysctl kernel.apparmor_restrict_unprivileged_userns=0, as root. A root without "
               "capabilities: 'root default capabilities = file' in apptainer.conf. LUMI has none on purpose: there "
               "osu-container image build takes SingularityCE and PRoot (module load LUMI PRoot).",
     'also': [("the system has them switched off", "sysctl user.max_user_namespaces, which should not be 0"),
              ("it is WSL 1 of Windows, which is no Linux kernel", "uname -r; wsl --set-version NAME 2"),
              ("the runtime was meant to have a setuid part, and was installed without rights (conda, spack)",
               "ls -l LIBEXEC/apptainer/bin/starter-suid")],
     'source': 'github.com/apptainer/apptainer, issues 1038, 1294, 2360 and 2457; ' + OURS
               + '; LUMI training 2026-04, Containers', 'evidence': 'measured'},
    {'name': 'a build without rights',
     'text': "FATAL:   --remote, --fakeroot, or the proot command are required to build this source as a non-root user",
     'patterns': ["or the proot command are required to build"],
     'cause': "SingularityCE builds a definition file for an ordinary user only with PRoot, and proot is not on PATH.",
     'remedy': "On LUMI: module load LUMI PRoot. Else put the program of https://proot.gitlab.io/proot/bin/proot into "
               "a folder of PATH.",
     'source': 'docs.sylabs.io, SingularityCE 4.1, Unprivileged proot builds; LUMI training 2026-04, Containers',
     'evidence': 'derived'},
    {'name': 'a folder of another stage with PRoot',
     'text': "FATAL:   While performing build: unable to copy files from stage to container fs: while copying [...] to "
             "...: chown ...: operation not permitted",
     'patterns': [("unable to copy files from stage",
                   r"unable to copy files from stage .{1,300} chown (?P<path>\S{1,300}): operation not permitted")],
     'cause': "SingularityCE gives a folder that %files copies from a stage to root ({path}); with PRoot nobody is.",
     'remedy': "Pack the folder with tar at the end of that stage, copy the one file, and unpack it in %post with "
               "--no-same-owner, as our definition files do.",
     'source': 'github.com/sylabs/singularity 40ef481, internal/pkg/build/stage.go; SingularityCE 4.1.3 with PRoot',
     'evidence': 'measured'},
    {'name': 'started inside the container',
     'text': "already in the container ...; containers do not nest.",
     'patterns': ["already in the container", "containers do not nest",
                  ("rapper called from another container", "[Ww]rapper called from another container")],
     'cause': "A command of the module was called inside the container, which cannot start another one.",
     'remedy': "Inside, call the program itself (osu_bw is on PATH there); or start the command from the host.",
     'source': WRAPPER + '; github.com/CSCfi/hpc-container-wrapper', 'evidence': 'measured'},
    {'name': 'module not loaded',
     'text': "MPI_CONTAINER_RUNTIME is not set. Load the module of this command first: module load NAME",
     'patterns': [(" is not set. Load the module of this command first",
                   r"\b(?P<name>\w+(?: or \w+)?) is not set\. Load the module of this command first")],
     'cause': "A command of the installation was called by its path, without the module that sets {name}.",
     'remedy': "module load NAME/APPROACH, e.g. osu-container/hybrid; its commands are then on PATH.",
     'source': WRAPPER, 'evidence': 'measured'},
    {'name': 'nothing bound for the entrypoint',
     'text': "there is no libfabric.so.1 in /host/lib",
     'patterns': [("there is no ", r"there is no (?:/host/lib|libfabric\.so\.1 in /host/lib)"),
                  (", which is not in the container", r"\S+ is a link to \S+, which is not in the container")],
     'cause': "The entrypoint of the image looks for the host's libfabric in /host/lib, and it is not there.",
     'remedy': "Bind its folder: module load osu-container/swap does; by hand --bind FOLDER:/host/lib,/usr:/host/usr, "
               "FOLDER from pkg-config --variable=libdir libfabric. A link counts where its file is bound too.",
     'source': ENTRYPOINT, 'evidence': 'measured'},
    {'name': 'host library does not fit the image',
     'text': "/opt/mpich/lib/libmpi.so.12 needs FABRIC_1.7, which is not in /host/lib/libfabric.so.1: ...",
     'patterns': [(", which is not in ",
                   r"(?P<by>[^\s:]+) needs (?P<version>\S+), which is not in (?P<library>[^\s:]+)")],
     'cause': "{by} was built with something newer than {library}: it needs {version}. The entrypoint has noticed "
              "before the program started.",
     'remedy': "FABRIC_...: an image whose MPI was built with a libfabric that is not newer than the host's, or "
               "opensource. GLIBC_...: an image of a distribution at least as new as the host. OSU_SWAP=0 runs over "
               "the image's own libfabric.",
     'source': ENTRYPOINT, 'evidence': 'measured'},
    {'name': 'library of the host not bound',
     'text': "libatomic.so.1 is neither in the image nor in the folders of the host",
     'patterns': [(" is neither in the image nor in the folders of the host",
                   r"(?P<library>\S+) is neither in the image nor in the folders of the host")],
     'cause': "The host's libfabric needs {library}, which the entrypoint finds nowhere below /host.",
     'remedy': "Bind the host's /usr to /host/usr; a library from elsewhere: bind its folder anywhere and name the "
               "place in OSU_SWAP_PATH. With the module: install it again, it looks for such folders.",
     'source': ENTRYPOINT, 'evidence': 'measured'},
    {'name': 'function of a library missing',
     'text': "/usr/lib/libmpi.so.12 needs the function fi_dupinfo, which no library has",
     'patterns': [(", which no library has", r"(?P<by>\S+) needs the function (?P<symbol>\S+), which no library has")],
     'cause': "{by} calls {symbol}, which neither the host's libraries nor the image's have: they are of two builds.",
     'remedy': "cxi...: the host's libcxi is older than its libfabric, or another one is in front. Else another image, "
               "or opensource.",
     'source': ENTRYPOINT, 'evidence': 'measured'},
    {'name': 'swap defeated by DT_RPATH',
     'text': "/opt/conda/lib/libfabric.so.1 would be loaded all the same: a DT_RPATH in the image comes first",
     'patterns': [(" would be loaded all the same: a DT_RPATH",
                   r"(?P<library>\S+) would be loaded all the same: a DT_RPATH")],
     'cause': "The image's MPI has the folder of its own libfabric, {library}, written into it; nothing can be put "
              "before that.",
     'remedy': "patchelf --set-rpath in the image writes DT_RUNPATH instead; programs of conda environments are so by "
               "default.",
     'source': ENTRYPOINT + '; ld.so(8)', 'evidence': 'measured'},
    {'name': 'static program behind the entrypoint',
     'text': "/opt/app/bin/app is linked statically: no library can be put before its own",
     'patterns': [(" is linked statically: no library can be put before its own",
                   r"(?P<program>\S+) is linked statically: no library can be put before its own")],
     'cause': "{program} has its libraries in itself, so the host's libfabric cannot be given to it.",
     'remedy': "Start it by apptainer exec or singularity exec, or with OSU_SWAP=0; or link it with shared libraries.",
     'source': ENTRYPOINT, 'evidence': 'measured'},
    {'name': 'image without loader of glibc',
     'text': "the image has no loader of glibc (/lib64/ld-linux-*), which the host's libraries need",
     'patterns': ["the image has no loader of glibc"],
     'cause': "The image is Alpine or the like; the host's libraries are built for glibc.",
     'remedy': "Use pure or opensource, or an image on glibc (Debian, Ubuntu, openSUSE, Rocky).",
     'source': ENTRYPOINT, 'evidence': 'derived'},
    {'name': 'no folder for links',
     'text': "no folder for links can be made in /tmp, /dev/shm",
     'patterns': ["no folder for links can be made in", "mktemp could not make a folder in", "links cannot be made in"],
     'cause': "The entrypoint of the image keeps a handful of links in TMPDIR, /tmp or /dev/shm, and may write to none "
              "of them, or they are full.",
     'remedy': "export TMPDIR=FOLDER with a folder that is bound and may be written to, or free some space.",
     'source': ENTRYPOINT, 'evidence': 'measured'},
    {'name': 'RCCL plugin does not load with the host',
     'text': "WARNING: the plugin of RCCL does not load with it, so RCCL takes TCP; MPI is not affected: ...",
     'patterns': ["the plugin of RCCL does not load with it"],
     'cause': "RCCL's plugin in the image was built with a newer libfabric than the host's, so RCCL falls back to TCP.",
     'remedy': "An image whose plugin was built with a libfabric that is not newer than the host's, or opensource.",
     'source': ENTRYPOINT, 'evidence': 'measured'},
    {'name': 'unknown OSU_SWAP',
     'text': "OSU_SWAP=yes is unknown; known: require, 0, or not set",
     'patterns': [(" is unknown", r"OSU_SWAP=(?P<value>\S*) is unknown")],
     'cause': "The variable OSU_SWAP, which the entrypoint of the image reads, has the value {value}.",
     'remedy': "export OSU_SWAP=require or OSU_SWAP=0, or unset OSU_SWAP.",
     'source': ENTRYPOINT, 'evidence': 'measured'},
    {'name': 'libfabric of the host cannot be taken',
     'text': "the libfabric of the host cannot take the place of the image's: ...",
     'patterns': [("the libfabric of the ",
                   r"the libfabric of the (?:host cannot take the place of the image\S*|"
                   r"image is used, not the host's): (?P<reason>[^\n]{1,600})")],
     'cause': "The entrypoint of the image could not put the host's libfabric in place: {reason}",
     'remedy': "The line says what is wrong; docs/approaches.md, swap, has what an image and the binds must be like. "
               "OSU_SWAP=0 runs over the image's own libfabric.",
     'source': ENTRYPOINT, 'evidence': 'measured', 'last': True},
    {'name': 'image gone',
     'text': "The image ... is gone. Get it back with: ...",
     'patterns': [(" is missing or cannot be read", r"the image (?P<path>\S+) is missing or cannot be read"),
                  ("image", r"The\s+image\s+(?P<other>\S+)\s+is\s+gone\. ?Get")],
     'cause': "The image {path}{other} was deleted after the installation, or you may not read it.",
     'remedy': "module load of its module prints the command that brings it back.",
     'source': WRAPPER, 'evidence': 'measured'},
    {'name': "image of LUMI's module gone",
     'text': "ERROR: Cannot locate the singularity container file ...",
     'patterns': [("singularity", r"Cannot\s+locate\s+the\s+singularity\s+container\s+file\s+(?P<path>\S+)")],
     'cause': "A container module of LUMI does not find its image {path}: neither where it was installed nor in the "
              "central folder, from which old images are removed.",
     'remedy': "Install the module again with eb, or a newer one: LUMI-EasyBuild-containers has the present recipes.",
     'source': 'github.com/Lumi-supercomputer/LUMI-SoftwareStack, LMOD/SitePackage.lua; ' + LMOD,
     'evidence': 'derived'},
    {'name': 'container runtime gone',
     'text': "the container runtime ... is not there.",
     'patterns': [("the container runtime ", r"the container runtime (?P<path>\S+) is not there")],
     'cause': "{path} was there when the module was installed and is not there now, or not on this node.",
     'remedy': AGAIN + " A compute node without a runtime: ask its administrators.",
     'source': WRAPPER, 'evidence': 'measured'},
    {'name': 'no command',
     'text': "give the command to run in the container, e.g.: ...",
     'patterns': ["give the command to run in the container"],
     'cause': "osu-exec was called without a command.",
     'remedy': "osu-exec cat /etc/os-release; osu-shell gives a shell.",
     'source': WRAPPER, 'evidence': 'measured'},
    {'name': 'options without their end',
     'text': "put -- between options of ... and the command, e.g.: ...",
     'patterns': [("put -- between options of ", r"put -- between options of (?P<path>\S+) and the command")],
     'cause': "The first word behind osu-exec begins with -, so it is an option of {path}, and nothing says where the "
              "command begins.",
     'remedy': "osu-exec --env A=b -- cat /etc/os-release. Options for all commands: MPI_CONTAINER_OPTIONS.",
     'source': WRAPPER, 'evidence': 'measured'},
    {'name': 'proof without its program',
     'text': "OSU_PROOF is set, and ... is missing.",
     'patterns': [("OSU_PROOF is set, and ", r"OSU_PROOF is set, and (?P<path>\S+) is missing")],
     'cause': "OSU_PROOF asks for a record of each rank, and {path}, which writes it, is not in the installation.",
     'remedy': "Install the module again from a whole clone, or unset OSU_PROOF.",
     'source': WRAPPER, 'evidence': 'derived'},
    {'name': 'host has changed',
     'text': "The host has changed since this module was installed: ...",
     'patterns': [("installed", r"The\s+host\s+has\s+changed\s+since\s+this\s+module\s+was\s+installed"),
                  ("installed",
                   r"host\s+library\s+.{0,300}\s(?:is\s+gone|has\s+changed)\s+since\s+the\s+module\s+was\s+installed")],
     'cause': "A library of the host is another file than when the module was installed; nothing has compared it "
              "with the image.",
     'remedy': AGAIN,
     'source': OURS, 'evidence': 'measured'},
    {'name': 'libfabric not exchanged',
     'text': "libfabric not found within /host.",
     'patterns': [("libfabric not found within ", r"libfabric not found within (?P<folder>\S+?)\.?(?:\s|$)"),
                  "no suitable mounts available"],
     'cause': "An image of HPE or Determined AI exchanges its libfabric for the host's when it starts, found none "
              "where it looks, and goes on with its own: without cxi that is TCP.",
     'remedy': "--bind /opt/cray/libfabric/1.22.0/lib64:/host/lib,/usr:/host/usr, with the release that ls "
               "/opt/cray/libfabric shows.",
     'source': 'github.com/determined-ai/environments, github.com/crickett-hpe/hpc-ai-envs: the entry point',
     'evidence': 'derived'},
    {'name': 'Sarus finds no MPI',
     'text': "No MPI libraries found in the container.",
     'patterns': ["No MPI libraries found in the container"],
     'cause': "Sarus looks for the image's MPI by its ldconfig, and finds none.",
     'remedy': "In the recipe: the folder of libmpi.so into a file in /etc/ld.so.conf.d, and ldconfig; ldconfig -p "
               "shows it. The modules of this project want the same of an image.",
     'source': 'github.com/eth-cscs/sarus, MPI hook', 'evidence': 'derived'},
    {'name': 'Sarus refuses the MPI',
     'text': "... is not ABI compatible with container's MPI library ...",
     'patterns': [("compatible with ",
                   r"not [\w ]{0,40}ABI[ -]compatible with (?:the )?container(?:'s|) (?:MPI )?library")],
     'cause': "The host's MPI has another number in its file name than the image's, so they do not stand in for each "
              "other; what is compared is the name alone.",
     'remedy': "An image with an MPI of the same family and number: libmpi.so.12 is MPICH, Intel MPI, Cray MPICH and "
               "MVAPICH, libmpi.so.40 is Open MPI.",
     'source': 'github.com/eth-cscs/sarus, src/hooks/mpi/AbiChecker.cpp', 'evidence': 'derived'},
    {'name': 'user unknown on the node',
     'text': "FATAL:   Couldn't determine user account information: user: unknown userid 606",
     'patterns': ["Couldn't determine user account information",
                  ("user: ", r"user: (?:unknown|lookup) userid (?P<number>\d+)"),
                  "unable to look up current user in the passwd file",
                  "Home directory is not owned by calling user",
                  ("failed to retrieve group information", r"failed to retrieve group information for (?P<group>\d+)"),
                  ("cannot find name for user ID ", r"cannot find name for user ID (?P<other>\d+)"),
                  ("uid not found", r"getpwuid\(\): uid not found: (?P<uid>\d+)"), "I have no name!@",
                  ("Cannot find User", r"Cannot find User '(?P<uid>\d+)' in passwd file")],
     'cause': "The number of your account or group ({number}{other}{group}{uid}) has no name here: the node does not "
              "reach its directory (LDAP, sssd), or the container's /etc/passwd does not name you.",
     'remedy': "Start it again on another node (srun --exclude=NODE), and tell the administrators. At thousands of "
               "starts at once the directory may be overrun: one container for all ranks of a node helps. Docker, "
               "podman: -v /etc/passwd:/etc/passwd:ro, or -e USER=me -e HOME=/tmp beside --user, for programs that ask "
               "their name.",
     'also': [("only the container does not know you", "srun id -un, which then prints your name")],
     'source': 'github.com/apptainer/singularity, issues 5598, 5757 and 4767', 'evidence': 'derived'},
    {'name': 'no loop device',
     'text': "failed to find loop device: could not attach image file to loop device: no loop devices available",
     'patterns': ["failed to find loop device", "no loop devices available"],
     'unless': ["loop device taken by another start"],
     'cause': "A runtime with setuid mounts the image by a loop device, and got none: all are in use (many containers "
              "at once), one is broken, or this user (a container of CI) may not.",
     'remedy': "Fewer containers a node: one for all its ranks, as the module's commands do. Administrators: 'shared "
               "loop devices = yes' and 'max loop devices' in singularity.conf. Without any: singularity exec "
               "--userns.",
     'also': [("the image is cut off (unexpected EOF)", "singularity sif list FILE; then copy it again")],
     'source': 'github.com/apptainer/singularity, issues 4652 and 2049; github.com/sylabs/singularity, issue 668',
     'evidence': 'derived'},
    {'name': 'image not mounted',
     'text': "squashfuse_ll exited with status 255: ...",
     'patterns': [("squashfuse", r"squashfuse\w{0,8} (?:instance )?exited(?!: fuse: failed to unmount)"), "A "
                                                                                                          "fusermount "
                                                                                                      "error may "
                                                                                                      "indicate",
                  ("fusermount", r"fusermount3?: mount failed")],
     'unless': ['no right to mount', 'fusermount not installed', 'library of another version', 'image damaged'],
     'cause': "The runtime mounts the image by squashfuse, which ended: a kernel older than 4.18 does not let users "
              "mount FUSE in a namespace, /dev/fuse is closed to them, or the file is no whole image.",
     'remedy': "apptainer exec --unsquash (or --userns of SingularityCE) unpacks the image instead. Administrators: "
               "apptainer-suid, or a newer kernel.",
     'also': [("/dev/fuse is closed", "ls -l /dev/fuse, which should be crw-rw-rw-"),
              ("the file is broken", "apptainer sif list FILE")],
     'source': 'Apptainer 1.3, its own hint; github.com/apptainer/apptainer, issues 778 and 2324',
     'evidence': 'derived'},
    {'name': 'no fakeroot',
     'text': "ERROR : 'newgidmap' execution failed. Check that 'newgidmap' is setuid root",
     'patterns': [("idmap' execution failed", r"'new[gu]idmap' execution failed"),
                  "while copying pseudo devices", "could not use fakeroot", "annot start any kind of fake root"],
     'cause': "A build as an ordinary user needs fakeroot: numbers of users that the system lends you (/etc/subuid, "
              "newuidmap), or the command fakeroot. Neither works here.",
     'remedy': "apptainer build --ignore-subuid, with fakeroot installed beside apptainer; or build elsewhere and copy "
               "the image. Administrators: apptainer config fakeroot --add USER, and uidmap installed.",
     'also': [("your group on this node is not the one of /etc/passwd", "id -g; getent passwd $USER")],
     'source': 'apptainer.org, user guide, Fakeroot; github.com/apptainer/apptainer, issues 1751 and 2190',
     'evidence': 'derived'},
    {'name': 'overlay in use',
     'text': "can't open overlay.img for writing, currently in use by another process",
     'patterns': [("currently in use", r"can't open (?P<path>\S+) for (?:reading|writing), currently in use")],
     'cause': "Only one container at a time can write to the overlay {path}, and another one has it: another rank, or "
              "one that was left over.",
     'remedy': "--overlay FILE:ro for runs of several ranks; or an overlay for each rank (FILE.$SLURM_PROCID).",
     'also': [("a container was left over", "pgrep -u $USER -a starter")],
     'source': 'github.com/apptainer/singularity, issues 5577 and 6196', 'evidence': 'derived'},
    {'name': 'image is read-only',
     'text': "cp: cannot create regular file '...': Read-only file system",
     'patterns': ["Read-only file system", "read-only file system"],
     'cause': "The program writes to a folder of the image, and an image is read-only; a folder of the host that was "
              "not bound (/scratch, /project, your home) is the image's too.",
     'remedy': "Let it write to a folder that is bound (your project, $TMPDIR), or give it one in that place: --bind "
               "FOLDER:/path. --writable-tmpfs keeps a few MB in memory.",
     'also': [("it is a file system of the host that compute nodes may only read", "findmnt -T FOLDER")],
     'source': 'docs.sylabs.io, SingularityCE, Persistent overlays; github.com/apptainer/singularity, issue 2331',
     'evidence': 'derived', 'last': True},
    {'name': 'kernel too old',
     'text': "FATAL: kernel too old",
     'patterns': ["FATAL: kernel too old"],
     'cause': "The C library of the image wants a newer kernel than this node's; a container has the host's kernel.",
     'remedy': "An image of an older distribution: uname -r shows the kernel; 2.6.32 runs Ubuntu 16.04 and CentOS 7.",
     'source': 'glibc, sysdeps/unix/sysv/linux/dl-sysdep.c; github.com/trinityrnaseq/trinityrnaseq, issue 989',
     'evidence': 'derived'},
    {'name': 'stale file handle',
     'text': "stale NFS file handle",
     'patterns': [("tale ", r"[Ss]tale (?:NFS )?file handle")],
     'unless': ["overlay used over another image before"],
     'cause': "A file on the network was deleted or replaced while it was in use, or the node has lost the file "
              "system.",
     'remedy': "Start it again. Do not replace an image or an installation that runs. If it stays: --exclude=NODE, and "
               "tell the administrators.",
     'source': 'open(2), ESTALE; github.com/apptainer/singularity, issue 4879', 'evidence': 'derived'},
    {'name': 'locale not in the image',
     'text': "warning: setlocale: LC_ALL: cannot change locale (en_US.UTF-8)",
     'patterns': [("setlocale: ", r"setlocale: LC_\w+: cannot change locale"),
                  "perl: warning: Setting locale failed"],
     'cause': "Your language setting came into the container, and the image does not have it.",
     'remedy': "Harmless. export LC_ALL=C.UTF-8 silences it.",
     'source': 'github.com/apptainer/singularity, issue 11', 'evidence': 'derived', 'last': True},
    {'name': 'no space left',
     'text': "FATAL:   While performing build: ...: no space left on device",
     'patterns': [("o space left on device", r"[Nn]o space left on device")],
     'unless': ['no user namespaces', 'shared memory full', 'limit of System V shared memory',
                "Slurm's cgroups on the node"],
     'cause': "A disk is full: of a build mostly /tmp, which on many systems is memory; else your quota.",
     'remedy': "export APPTAINER_TMPDIR=FOLDER SINGULARITY_TMPDIR=FOLDER (and ..._CACHEDIR) with a folder on a large "
               "disk.",
     'also': [("it is your quota", "lfs quota -hu $USER FOLDER, on LUMI lumi-workspaces"),
              ("in a container of --contain or --writable-tmpfs /tmp has 64 MB: --workdir FOLDER or --bind FOLDER:/tmp",
               "apptainer exec ... df -h /tmp"),
              ("it is shared memory", "df -h /dev/shm /tmp")],
     'source': 'github.com/apptainer/apptainer, issue 1380', 'evidence': 'derived'},
    {'name': 'runtime not set up',
     'text': "hook function for tag sessiondir returns error: failed to create .../mnt/session/rootfs directory",
     'patterns': ["hook function for tag sessiondir",
                  ("failed to resolve session directory ", r"failed to resolve session directory "
                                                           r"(?P<path>[^\s:]{1,300})"),
                  ("ould not change to working directory: ", r"ould not change to working directory: "
                                                             r"(?P<other>\S{1,300}"
                   r"/var/singularity/mnt/\S{1,60})")],
     'cause': "The runtime keeps its session in a folder of its installation {path}{other}, which is not there on this "
              "node, or may not be used: it lies on a network file system, or a setuid part lacks its letter s.",
     'remedy': "srun ls -ld that folder on the node of the job. For the administrators: mkdir -p it there, or build "
               "with --localstatedir=/var/lib, a folder on each node's own disk. A container within a container: bind "
               "it.",
     'source': 'docs.sylabs.io, SingularityCE, Admin guide, Installation; github.com/apptainer/singularity, issue '
               '2351; github.com/molgenis/vip, issue 745',
     'evidence': 'derived'},
    {'name': 'overlay cannot be opened',
     'text': "while loading overlay images: failed to open overlay image ...: image format not recognized",
     'patterns': [("failed to open overlay image ", r"failed to open overlay image (?P<path>\S+?): (?!while locking)"
                                                    r"(?P<why>[^\n]{1,100})")],
     'cause': "The overlay {path} cannot be read ({why}): you may not read or write the file, or it is no overlay.",
     'remedy': "ls -l {path}: it needs your right to read, and to write unless :ro stands behind its name. A new one: "
               "apptainer overlay create --size 1024 FILE.",
     'source': 'github.com/sylabs/singularity, issue 786', 'evidence': 'measured'},
    {'name': 'runtime older than the image',
     'text': "ERROR : Unknown image format/type: image.sif",
     'patterns': [("Unknown image format/type", r"Unknown image format/type: (?P<path>\S+)")],
     'cause': "{path} is in a format that this runtime does not know: Singularity 2 reads no SIF, which came with 3.0.",
     'remedy': "singularity --version; take Apptainer, or Singularity from 3.0 on.",
     'also': [("the file is broken or no image", "file IMAGE")],
     'source': 'github.com/irlab-sdu/fuzi.mingcha, issue 17; github.com/yihongXU/deepMOT, issue 37',
     'evidence': 'derived'},
    {'name': 'image not there',
     'text': "ERROR : Image path doesn't exists",
     'patterns': [("mage path doesn't exist", r"[Ii]mage path doesn't exists?"),
                  ("FATAL: ", r"FATAL: +(?:stat|lstat|open) (?P<path>(?!/proc/|/dev/)\S{1,300}): no such file or "
                   "directory"),
                  ("FATAL: ", r"FATAL: +image (?P<other>\S{1,300}) (?:is missing|does not exist|not found)")],
     'cause': "There is no file at the path of the image {path}{other}.",
     'remedy': "ls it; a name without a folder is looked for in the current one, which differs in a job.",
     'source': 'Singularity 2; github.com/swords123/IDA-3D, issue 17', 'evidence': 'measured'},
    {'name': "host's fakeroot in another image",
     'text': "fakeroot: error while starting the `faked' daemon.",
     'patterns': [("faked", r"libs/faked: not found"),
                  ("error while starting the", r"error while starting the .faked. daemon")],
     'unless': ['C library too old'],
     'cause': "--fakeroot brings the host's command fakeroot into the container, and it does not run there: the image "
              "is Alpine or the like (musl), or its C library is older than the host's.",
     'remedy': "--ignore-fakeroot-command, or ask the administrators for a range in /etc/subuid and /etc/subgid, with "
               "which fakeroot is not needed. Else install fakeroot in the image.",
     'source': 'github.com/apptainer/apptainer, issue 2932; Apptainer user guide, fakeroot', 'evidence': 'derived'},
    {'name': 'no numbers of users lent',
     'text': "INFO: User not listed in /etc/subuid, trying root-mapped namespace",
     'patterns': ["User not listed in /etc/subuid",
                  ("entry found in /etc/sub", r"no (?:mapping )?entry found in /etc/sub[ug]id")],
     'last': True,
     'cause': "Neither /etc/subuid lists you, nor does it with at least 65536 numbers; only one user then exists in a "
              "container of --fakeroot.",
     'remedy': "Mostly harmless: packages that change owners of files may fail. For the administrators: "
               "singularity config fakeroot --add USER, or usermod --add-subuids 100000-165535 --add-subgids ....",
     'source': 'github.com/apptainer/apptainer, issue 692', 'evidence': 'measured'},
    {'name': "registry's limit of pulls",
     'text': "toomanyrequests: You have reached your unauthenticated pull rate limit.",
     'patterns': ["toomanyrequests", ("pull rate limit", r"reached your (?:unauthenticated )?pull rate limit")],
     'cause': "Docker Hub lets an address fetch only so many images in some hours; all users of a login node share "
              "one.",
     'remedy': "apptainer remote login docker://docker.io (Singularity: remote login; Docker: docker login) with an "
               "account of your own, try again later, or take the image from another registry (quay.io, ghcr.io).",
     'source': 'github.com/antimony-team/antimony, issue 1', 'evidence': 'measured'},
    {'name': 'fusermount not installed',
     'text': "fuse: failed to exec fusermount: No such file or directory",
     'patterns': [("failed to exec fusermount", r"failed to exec fusermount3?")],
     'cause': "What mounts through FUSE calls the command fusermount or fusermount3, and it is not on this node.",
     'remedy': "For the administrators: install fuse3 (and fuse for older programs). Apptainer without it: "
               "--unsquash, or apptainer build --sandbox FOLDER IMAGE. An AppImage: --appimage-extract.",
     'source': 'github.com/apptainer/apptainer, issue 778; github.com/hael/SIMPLE, issue 14', 'evidence': 'measured'},
    {'name': 'working folder not in the container',
     'text': "WARNING: Could not set container working directory ...: chdir ...: no such file or directory",
     'patterns': [("container working directory", r"container working directory.{0,40} (?P<path>/\S+?)?:? ?chdir "
                                                  r"(?P<folder>\S+?): "),
                  ("Not mounting current directory", r"Not mounting current directory: (?P<why>[^\n]{1,80})"),
                  ("ould not chdir to home", r"ould not chdir to home(?: directory)?: (?P<home>\S+)"),
                  ("Z: chdir: No such file", "Z: chdir: No such file or directory"),
                  ("chdir to cwd (", r"chdir to cwd \(['\x22]?(?P<place>[^'\x22)\n]{1,200})[^\n]{0,60}: (?:no such "
                                     r"file|"
                   "permission denied)"),
                  ("/bin/bash: line ", r"/bin/bash: line \d+: cd: (?P<task>/\S{1,300}): No such file or directory"),
                  (".command.", r"/bin/bash: (?:line \d+: )?(?P<task>\S{0,300}\.command\.(?:sh|run|stub)): No such "
                   "file")],
     'unless': ['no place for the home folder'],
     'cause': "The folder in which you are (with Nextflow the task's), or your home, is not in the container, and the "
              "program starts in another one or not at all: {folder}{home}{why}{place}{task}",
     'remedy': "Bind it: --bind FOLDER (export SINGULARITY_BIND or APPTAINER_BIND), or start from a folder that is "
               "bound, or name one with --pwd. Paths that the program is given should begin with /. Nextflow: "
               "singularity.autoMounts = true, or singularity.runOptions = '--bind /FOLDER' in nextflow.config, with "
               "both ends of a link (realpath FOLDER).",
     'also': [("--no-home, --contain or --home takes it away", "env | grep -E '^(SINGULARITY|APPTAINER)_'")],
     'source': 'github.com/IDEALLab/EngiBench, issue 155; github.com/apptainer/singularity, issue 2778',
     'evidence': 'derived'},
    {'name': 'no place for the home folder',
     'text': "WARNING: Not mounting home directory: bind point does not exist in container: /N",
     'patterns': [("bind point does not exist", r"bind point does not exist in container: (?P<path>\S+)"),
                  ("home directory does not exist within", r"home directory does not exist within the container: "
                                                           r"(?P<base>\S+)")],
     'cause': "The image has no folder {path}{base} in which your home folder could be shown, and the runtime makes "
              "none: it is Singularity 2, or overlay and underlay are off.",
     'remedy': "Make the folder when the image is built (mkdir -p), take a newer runtime, or singularity exec --home "
               "$PWD:/home/me.",
     'source': 'github.com/apptainer/singularity, issue 295; github.com/assemblerflow/flowcraft, issue 102',
     'evidence': 'measured'},
    {'name': 'overlay not mounted in time',
     'text': "mount hook function failure: fuse2fs failed to mount ... in 10s",
     'patterns': [(" failed to mount ", r"(?P<program>fuse2fs|fuse-overlayfs|squashfuse\w*|gocryptfs) failed to mount "
                                        r"\S{1,300} in \d+s")],
     'cause': "{program} had ten seconds to mount an image, and the file system below it was slower: a large overlay "
              "is checked first, or the disk is overrun.",
     'remedy': "Try again; put the overlay on a faster disk, make it smaller or --sparse, or take a folder as overlay.",
     'source': 'github.com/apptainer/apptainer, issues 1033 and 1232', 'evidence': 'derived'},
    {'name': "image mounted in vain",
     'text': "FATAL: container creation failed: mount ... error: can't mount image /proc/self/fd/3: failed to mount "
             "squashfs filesystem: invalid argument",
     'patterns': [("failed to mount squashfs filesystem: ", "failed to mount squashfs filesystem: (?P<why>[^"
                   r"\n]{1,60})"),
                  ("Failed to mount squashfs image",
                   r"Failed to mount squashfs image[^\n]{0,60}: (?P<why>[^\n]{1,60})"),
                  ("can't mount image ", r"can't mount image [^\n]{1,200}: (?P<why>[^\n]{1,60})"),
                  ("Failed to mount ", r"Failed to mount (?:ext3|image)[^\n]{0,60}: (?P<why>[^\n]{1,60})"),
                  ("kernel reported a bad superblock", r"kernel reported a bad superblock for (?P<why>[^\n,]{1,60})"),
                  ("squashfs", r"squashfs[^\n]{0,60}(?:not supported|unknown filesystem|no such device)"),
                  "no apparent support for squashfs"],
     'unless': ["no loop device"],
     'cause': "The kernel could not mount the image ({why}): the file is cut off or damaged, its squashfs was packed "
              "in a way (zstd, lz4) that this kernel or runtime is too old for, the kernel has no squashfs (modprobe), "
              "Singularity 2 runs on a kernel that is too new for it, or the file lies where nothing can be mounted "
              "from (a disk of Windows, encrypted).",
     'remedy': "Compare its size and sha256 with the original and copy it again; singularity sif list FILE. A newer "
               "runtime, or --userns (--unsquash), which unpacks it instead of mounting.",
     'source': "Apptainer, internal/pkg/runtime; github.com/apptainer/singularity, issues 1357 and 5626",
     'evidence': 'derived'},
    {'name': "image damaged",
     'text': "libtinfo.so.6: cannot read file data: Input/output error",
     'patterns': [("SQUASHFS error: ", r"SQUASHFS error: [^\n]{1,150}"),
                  ("cannot read file data: Input/output error", "cannot read file data: Input/output error"),
                  ("zlib", r"zlib\b[^\n]{0,60}(?:decompress|inflate|uncompress)[^\n]{0,60}(?:fail|error)"),
                  ("decompress", r"xz\b[^\n]{0,60}decompress[^\n]{0,60}(?:fail|error)"),
                  ("inflate", r"xz\b[^\n]{0,60}inflate[^\n]{0,60}(?:fail|error)"),
                  ("uncompress", r"xz\b[^\n]{0,60}uncompress[^\n]{0,60}(?:fail|error)"),
                  ("decompress", r"lz4\b[^\n]{0,60}decompress[^\n]{0,60}(?:fail|error)"),
                  ("inflate", r"lz4\b[^\n]{0,60}inflate[^\n]{0,60}(?:fail|error)"),
                  ("uncompress", r"lz4\b[^\n]{0,60}uncompress[^\n]{0,60}(?:fail|error)"),
                  ("zstd", r"zstd\b[^\n]{0,60}(?:decompress|inflate|uncompress)[^\n]{0,60}(?:fail|error)"),
                  ("gzip", r"gzip\b[^\n]{0,60}(?:decompress|inflate|uncompress)[^\n]{0,60}(?:fail|error)"),
                  ("unexpected EOF", r"image[^\n]{0,80}unexpected EOF"),
                  ("while ", r"while (?:loading|reading) image[^\n]{0,80}EOF"), ("invalid SIF", "invalid SIF"),
                  ("bad SIF", "bad SIF"), ("SIF header", r"SIF header[^\n]{0,60}(?:invalid|error|corrupt|not)"),
                  ("SIF image", r"SIF image[^\n]{0,60}(?:invalid|error|corrupt|not)"),
                  ("SIF magic", r"SIF magic[^\n]{0,60}(?:invalid|error|corrupt|not)"),
                  (" not found", r"(?:descriptor|object)[^\n]{0,40} not found[^\n]{0,30}SIF"),
                  ("no primary partition found", "no primary partition found"),
                  ("unsquashfs: FATAL", "unsquashfs: FATAL"), ("read_block: failed", "read_block: failed"),
                  ("FATAL ERROR:", "FATAL ERROR: ?(?:aborting|Failed to read)"),
                  ("root filesystem extraction failed: ", "root filesystem extraction failed: (?P<why>(?!could not "
                   r"extract squashfs data, unsquashfs not found|command error: while getting library"
                   r"|extract command failed: \w+ *:? *container creation failed)[^\n]{1,120})"),
                  "Something went wrong trying to read the squashfs", "doesn't look like a squashfs image"],
     'unless': ["no user namespaces", "quota used up", "no space left", "attributes of files that cannot be unpacked",
                "packing of an image out of memory"],
     'cause': "The image's file cannot be read to its end: it was cut off when it was copied, is being replaced, or "
              "its file system has an error. {why}",
     'remedy': "sha256sum of the file and of the original; copy or pull it again, to another file system. If it comes "
               "on one node alone: srun --exclude=NODE.",
     'source': "github.com/apptainer/singularity, issue 5061", 'evidence': 'derived'},
    {'name': "program that the runtime needs missing",
     'text': "FATAL: ... could not extract squashfs data, unsquashfs not found",
     'patterns': [(" not found", r"(?P<program>unsquashfs|mksquashfs|squashfuse\w*|fuse2fs|fuse-overlayfs|gocryptfs"
                   "|cryptsetup|newuidmap|newgidmap|fakeroot|debootstrap|yum|dnf|zypper|pacman|mkfs.ext3|ldconfig"
                   r"|nvidia-container-cli|proot|crun|runc|conmon|go)(?: is)? not found(?!, will not)(?: in (?:\$?PATH"
                   "|path)| on)?"),
                  (" is not installed on your system", r"(?P<program>new[ug]idmap|\w{1,30}) is not installed on your "
                   "system"),
                  ("could", r"could[^\n]{0,40}(?:find|locate) (?P<program>unsquashfs|mksquashfs|squashfuse\w*|fuse2fs"
                   "|fuse-overlayfs|newuidmap|newgidmap|fakeroot|debootstrap|nvidia-container-cli|crun|runc|conmon"
                   r"|starter)\b"),
                  ("unable", r"unable[^\n]{0,40}(?:find|locate) (?P<program>unsquashfs|mksquashfs|squashfuse\w*"
                   "|fuse2fs|fuse-overlayfs|newuidmap|newgidmap|fakeroot|debootstrap|nvidia-container-cli|crun|runc"
                   r"|conmon|starter)\b"),
                  ("failed", r"failed[^\n]{0,40}(?:find|locate) (?P<program>unsquashfs|mksquashfs|squashfuse\w*"
                   "|fuse2fs|fuse-overlayfs|newuidmap|newgidmap|fakeroot|debootstrap|nvidia-container-cli|crun|runc"
                   r"|conmon|starter)\b"),
                  ("fork/exec /", r"fork/exec /\S{1,200}/(?P<program>(?!nvidia-container-runtime)[\w.-]{1,40}): no "
                                  r"such "
                   "file"),
                  ("exec: ", r'exec: "/\S{1,100}/(?P<program>nvidia-container-cli|unsquashfs|mksquashfs|squashfuse\w*'
                   r'|fuse2fs|fuse-overlayfs|newuidmap|newgidmap)": stat '),
                  ("[ERROR] Command not found: ", r"\[ERROR\] Command not found: (?P<program>\S{1,60})"),
                  (": executable file not found", r"exec: ['\x22](?P<program>unsquashfs|mksquashfs|squashfuse\w*"
                   r"|fuse2fs|fuse-overlayfs|newuidmap|newgidmap|fakeroot|crun|runc|sqfstar|tar2sqfs|proot"
                   r"|gocryptfs)['\x22]: executable file not "
                   "found")],
     'unless': ["no fakeroot", "a build without rights"],
     'cause': "The runtime calls the program {program} of the host, and does not find it on PATH or in its own "
              "configuration.",
     'remedy': "Install it on the node (squashfs-tools, squashfuse, fuse2fs or e2fsprogs, fuse-overlayfs, uidmap or "
               "shadow-utils, fakeroot), and see that /usr/sbin is on PATH; apptainer.conf names its own path "
               "('binary path').",
     'source': "Apptainer, internal/pkg/runtime; github.com/nf-core/mag, issue 702", 'evidence': 'derived'},
    {'name': "image that the registry does not give",
     'text': "FATAL: While making image from oci registry: ... unauthorized / manifest unknown / not found",
     'patterns': [("manifest unknown", "manifest unknown"),
                  ("requested access to the resource is denied", "requested access to the resource is denied"),
                  ("unauthorized: ", r"unauthorized: (?P<why>[^\n]{1,80})"),
                  (" manifest ", r"(?:reading|fetching|checking) manifest [^\n]{1,200}: (?P<why>[^\n]{1,100})"),
                  ("conveyor failed to get: ", r"conveyor failed to get: (?P<why>[^\n]{1,150})"),
                  ("pull", r"(?:[Ee]rror|[Ff]ailed|[Uu]nable)[^\n]{0,40}pull(?:ing)?[^\n]{0,120}(?:denied|unauthorized"
                   "|not found|401|403|404)"), ("repository ", r"repository [^\n]{1,120}(?:not found|does not exist)"),
                  ("status", r"status[^\n]{0,10}(?:401|403|404)[^\n]{0,60}(?:pull|manifest|registry|library)"),
                  ("code", r"code[^\n]{0,10}(?:401|403|404)[^\n]{0,60}(?:pull|manifest|registry|library)"),
                  ("failed to get checksum for", r"failed to get checksum for[^\n]{0,200}"),
                  ("nable to ", r"[Uu]nable to (?:download|retrieve|get)[^\n]{0,40}(?:image|manifest)"),
                  ("Download did not succeed: 4", r"Download did not succeed: (?P<why>4\d\d[^\n<]{0,60})"),
                  ("was not found in the library", r"image was not found in the library"),
                  ("does not exist in the library", r"(?P<why>[^\s(]{1,200} \(\w+\)) does not exist in the library")],
     'unless': ["registry's limit of pulls", "registry not reached", "image of another processor", "quota used up",
                "no space left", "no Apptainer image in the registry", "container run as another user",
                "runtime too old for the registry", "cache of images damaged",
                "Singularity Hub closed"],
     'cause': "The registry has no image of that name and tag, or gives it to accounts that may read it only ({why}).",
     'remedy': "See that the address and tag are right (skopeo inspect docker://NAME:TAG). For a private one: "
               "apptainer registry login (remote login) docker://HOST, or APPTAINER_DOCKER_USERNAME and ..._PASSWORD.",
     'source': "OCI distribution specification, error codes; Apptainer user guide, registries", 'evidence': 'derived'},
    {'name': "registry not reached",
     'text': 'FATAL: ... Get "https://registry-1.docker.io/v2/": dial tcp: lookup ...: no such host',
     'patterns': [("dial tcp", r"dial tcp[^\n]{0,120}: (?P<why>[^\n]{1,80})"),
                  ("Get ", r'Get "?https?://[^\n]{1,200}: (?P<why>(?:net/http|context deadline|x509|tls|proxyconnect'
                   r"|EOF|dial|read)[^\n]{0,120})"), ("x509: certificate", r"x509: certificate[^\n]{1,100}"),
                  ("TLS handshake", r"TLS handshake[^\n]{0,60}"), ("Client.Timeout", r"Client\.Timeout[^\n]{0,60}"),
                  ("context deadline exceeded", r"context deadline exceeded[^\n]{0,60}"),
                  ("http: server gave HTTP response to HTTPS client",
                   "http: server gave HTTP response to HTTPS client"),
                  ("Download did not succeed: 5", r"Download did not succeed: (?P<why>5\d\d[^\n<]{0,60})"),
                  ("pinging container registry ", r"pinging container registry [^\n]{1,200}")],
     'unless': ["registry's limit of pulls", "download of an image too slow"],
     'cause': "The registry of images does not answer this node ({why}): compute nodes often have no way to the "
              "internet, a proxy is not set, or it does not trust the certificate.",
     'remedy': "Pull on a login node, and take the file in the job. export https_proxy=... where the site has a "
               "proxy. A registry of your own without TLS: --no-https.",
     'source': "Go, net/http; Apptainer user guide, registries", 'evidence': 'derived'},
    {'name': "remote library not set",
     'text': "FATAL: Unable to get library client configuration: remote has no library client",
     'patterns': ["remote has no library client", ("no remote ", r"no remote (?:endpoint|client)[^\n]{0,60}"),
                  ("no library ", r"no library (?:endpoint|client)[^\n]{0,60}"),
                  ("nable to ", "[Uu]nable to (?:submit build job|get (?:library|keyserver|builder) client)[^"
                   r"\n]{0,80}"), ("no authentication token, log in with", "no authentication token, log in with"),
                  ("library://", r"library://[^\n]{1,120}(?:not found|no image|does not exist)")],
     'cause': "library:// or --remote names a service for images that Apptainer has none of by default, or you are "
              "not logged in there.",
     'remedy': "apptainer remote add --no-login SylabsCloud cloud.sycloud.io; apptainer remote use SylabsCloud; or "
               "take the image as docker://.",
     'source': "Apptainer user guide, Remote endpoints", 'evidence': 'derived'},
    {'name': "image of another processor",
     'text': "FATAL: ... image ... architecture amd64 ... host arm64 / no matching manifest for linux/amd64",
     'patterns': [("no matching manifest", r"no matching manifest[^\n]{0,80}(?:linux/|platform|architecture|arch)[^"
                   r"\n]{0,60}"),
                  ("no child with platform", r"no child with platform[^\n]{0,80}(?:linux/|platform|architecture"
                   r"|arch)[^\n]{0,60}"),
                  ("no image found", r"no image found[^\n]{0,80}(?:linux/|platform|architecture|arch)[^\n]{0,60}"),
                  ("architecture", r"(?:image|container)[^\n]{0,60}architecture[^\n]{0,40}(?:not|could not|differ"
                   r"|mismatch)[^\n]{0,60}"),
                  ("image targets '", r"image targets '(?P<arch>\w+)', cannot run on '(?P<host>\w+)'"),
                  (") does not match", r"platform \(linux/\w+\) does not match"),
                  ("no image satisfies requested platform", "no image satisfies requested platform"),
                  ("exec format error", r"exec[^\n]{0,200}exec format error"),
                  ("exec format error", r"exec user process caused:? ?.?exec format error")],
     'unless': ["file of another architecture"],
     'cause': "The image is for another kind of processor than this node, or a script in it lacks its first line "
              "(#!/bin/bash). {arch} {host}",
     'remedy': "uname -m; pull with --arch amd64 or arm64 (docker --platform), or build it on such a node.",
     'source': "Apptainer user guide, --arch", 'evidence': 'derived'},
    {'name': "definition file with a mistake",
     'text': "FATAL: ... While parsing definition: ... invalid section(s) specified",
     'patterns': [("while parsing definition", r"while parsing definition[^\n]{0,200}"),
                  ("invalid section(s) specified", r"invalid section\(s\) specified[^\n]{0,60}"),
                  ("nable to ", r"[Uu]nable to (?:build from|parse)[^\n]{0,150}definition[^\n]{0,60}"),
                  ("header key/val set", "header key/val set"),
                  ("missing ", "missing (?:bootstrap|from) (?:header|keyword)"),
                  ("no bootstrap specification", "no bootstrap specification"),
                  ("nvalid build source ", r"[Ii]nvalid build source (?P<what>[^\n]{1,80})"),
                  ("agent", "(?:unknown|invalid) (?:bootstrap )?agent")],
     'cause': "The definition file (recipe) cannot be read: a section or header that the runtime does not know, a "
              "missing Bootstrap: or From:, or the file is not there.",
     'remedy': "The first lines must be Bootstrap: docker and From: NAME:TAG; sections begin with % at the first "
               "letter of a line.",
     'source': "Apptainer user guide, Definition files", 'evidence': 'derived'},
    {'name': "step of a build failed",
     'text': "FATAL: While performing build: while running engine: exit status 1",
     'patterns': [("While performing build: while running engine: exit status ", "While performing build: while "
                   r"running engine: exit status (?P<code>\d+)"),
                  ("failed to execute ", r"failed to execute %?(?P<section>post|setup|test|files|pre)\b[^\n]{0,100}"),
                  ("while running ", r"while running %?(?P<section>post|setup|test|files|pre)\b[^\n]{0,100}"),
                  ("While performing build: ", r"While performing build: (?!packer failed|conveyor failed)"
                   r"(?P<why>[^\n]{1,200})")],
     'cause': "A command of the definition file failed (%post, %files) ({why}{code}); what it printed before says why.",
     'remedy': "Look at the lines above it. Often: no network for packages, a proxy, --fakeroot without its numbers "
               "of users, a disk in /tmp that is full (APPTAINER_TMPDIR).",
     'source': "Apptainer user guide, Definition files", 'evidence': 'derived', 'general': 1},
    {'name': "right of root asked for",
     'text': "FATAL: ... requires root / you must be the root user",
     'patterns': [("You must be the root user", r"You must be the root user[^\n]{0,60}"),
                  "has to be run with superuser privileges", "You need to be root to perform this command",
                  ("are you root?", r"Unable to (?:acquire|lock)[^\n]{0,120}are you root\?"),
                  ("--fakeroot", r"--fakeroot[^\n]{0,60}(?:requires? root|only (?:for|by) root|must be root|root "
                   r"privileges)[^\n]{0,40}"),
                  ("--writable", r"--writable[^\n]{0,60}(?:requires? root|only (?:for|by) root|must be root|root "
                   r"privileges)[^\n]{0,40}"),
                  ("build", r"build[^\n]{0,60}(?:requires? root|only (?:for|by) root|must be root|root privileges)[^"
                   r"\n]{0,40}"),
                  ("--security", r"--security[^\n]{0,60}(?:requires? root|only (?:for|by) root|must be root|root "
                   r"privileges)[^\n]{0,40}"),
                  ("--keep-privs", r"--keep-privs[^\n]{0,60}(?:requires? root|only (?:for|by) root|must be root|root "
                   r"privileges)[^\n]{0,40}"),
                  ("--add-caps", r"--add-caps[^\n]{0,60}(?:requires? root|only (?:for|by) root|must be root|root "
                   r"privileges)[^\n]{0,40}"),
                  ("--allow-setuid", r"--allow-setuid[^\n]{0,60}(?:requires? root|only (?:for|by) root|must be root"
                   r"|root privileges)[^\n]{0,40}"),
                  ("root", "(?:needs|requires?) (?:to be run as |to run as )?root(?: privileges?)?(?:$|[ .,:])"),
                  (" root", "not (?:owned by|setuid) root"), ("is not ", "is not (?:owned by root|setuid)"),
                  ("setuid root", "setuid root"),
                  ("peration not permitted", r"[Oo]peration not permitted[^\n]{0,40}(?:mount|chroot|mknod|setns"
                   "|unshare)"),
                  ("peration not permitted", r"(?:mount|chroot|mknod|setns|unshare|pivot_root)[^\n]{0,80}"
                   "(?:[Oo]peration not permitted)")],
     'unless': ["no user namespaces", "overlay not possible"],
     'cause': "The runtime was asked for what only root may do here: a build without fakeroot, writing into an image, "
              "or its setuid part is not installed as root (starter-suid).",
     'remedy': "apptainer build --fakeroot (with /etc/subuid), or build elsewhere; by hand in a sandbox: apptainer "
               "shell --fakeroot --writable FOLDER; ls -l LIBEXEC/apptainer/bin/starter-suid must belong to root with "
               "the letter s. Without setuid: user namespaces (sysctl user.max_user_namespaces).",
     'source': "Apptainer admin guide, Security", 'evidence': 'derived', 'general': 1},
    {'name': "option that the runtime does not know",
     'text': 'Error for command "exec": unknown flag: --sharens',
     'patterns': [('Error for command "', r'Error for command "(?P<command>\w+)": (?P<why>unknown (?:shorthand '
                   r")?flag: [^\n]{1,60}|[^\n]{1,100})"),
                  ("flag: ", r"(?:unknown|unrecognized) (?:shorthand )?flag: (?P<why>[^\n]{1,60})"),
                  ("flag needs an argument: ", r"flag needs an argument: (?P<why>[^\n]{1,40})"),
                  ('unknown command "', r'unknown command "(?P<why>[^"\n]{1,40})" for "(?:singularity|apptainer|podman'
                   r"|podman-hpc|enroot|docker|ch-\w+)")],
     'cause': "This release of the runtime does not know the option or command, or it lacks its value: {why}",
     'remedy': "apptainer --version, apptainer exec --help. Options of the runtime stand between exec and the image; "
               "those of the program behind its name.",
     'source': "Apptainer user guide, Command line", 'evidence': 'derived'},
    {'name': "bind that is misspelt",
     'text': "FATAL: ... while parsing bind path: ... is not a valid bind option / destination must be an absolute "
             "path",
     'patterns': [("while parsing bind path", r"while parsing bind path[^\n]{0,200}"),
                  ("is not a valid bind option", "is not a valid bind option"),
                  ("invalid bind ", "invalid bind (?:option|spec|path)"),
                  ("bind option ", r"bind option \S{1,30} (?:is )?not"),
                  ("destination ", "destination (?:path )?(?:must|should) be (?:an )?absolute"),
                  ("to mount list: ", r"unable to (?:add|bind)[^\n]{0,80}to mount list: (?P<why>[^\n]{1,150})"),
                  ("while bind", r"while (?:binding|bind mounting)[^\n]{0,150}: (?P<why>[^\n]{1,80})")],
     'unless': ["bound file missing", "no place for a bind"],
     'cause': "A bind cannot be read or made: --bind is SOURCE:PLACE:ro with whole paths, separated by commas; "
              "SINGULARITY_BIND and APPTAINER_BIND likewise. {why}",
     'remedy': "env | grep -E '(SINGULARITY|APPTAINER)_BIND'; a name with a comma or colon in it needs --mount "
               "type=bind,source=...,destination=....",
     'source': "Apptainer user guide, Bind paths", 'evidence': 'derived'},
    {'name': "bind that was forbidden",
     'text': "WARNING: user bind control is disabled by system administrator / Ignoring user bind request",
     'patterns': [("user bind control ", "user bind control (?:is )?disabled"),
                  ("bind request", "[Ii]gnoring (?:user )?bind request"),
                  ("configuration disallows users from running ",
                   r"configuration disallows users from running (?P<kind>[\w -]{1,60})"),
                  ("bind", r"bind[^\n]{0,60}(?:disabled|not (?:allowed|permitted)) by (?:system )?(?:admin|config)[^"
                   r"\n]{0,40}"), ("system administrator", "(?:by|in) (?:your )?system administrator"),
                  ("disabled by ", "disabled by (?:your )?(?:configuration|administrator)"),
                  ("not allowed by configuration", "not allowed by configuration"),
                  ("container", r"container[^\n]{0,60}(?:not (?:owned|in an allowed path)|is not permitted|running "
                   r"\S{1,20} containers? is not)"),
                  ("image", r"image[^\n]{0,60}(?:not (?:owned|in an allowed path)|is not permitted|running \S{1,20} "
                   "containers? is not)")],
     'cause': "The administrators have forbidden this in the runtime's configuration (singularity.conf, "
              "apptainer.conf): binds of users, kinds of images, overlays or owners of images.",
     'remedy': "Ask them; grep -v '^#' /etc/apptainer/apptainer.conf (or singularity.conf) shows it: user bind "
               "control, allow container ..., limit container paths.",
     'source': "Apptainer admin guide, Configuration files", 'evidence': 'derived'},
    {'name': "overlay not possible",
     'text': "FATAL: ... failed to mount overlay filesystem: ... operation not permitted / no upperdir ...",
     'patterns': [(" overlay", r"(?:failed|while|[Uu]nable)[^\n]{0,60}mount(?:ing)?[^\n]{0,20} overlay[^\n]{0,150}"),
                  ("overlay", r"overlay[^\n]{0,80}(?:not supported|unsupported|disabled|is not (?:permitted|allowed"
                   r"|possible)|cannot be used)[^\n]{0,60}"),
                  ("overlayfs", r"overlayfs[^\n]{0,60}(?:failed|error|not supported|missing)"),
                  ("/overlay: operation not permitted", r"failed to mount \S{1,300}/overlay: operation not permitted"),
                  ("fuse-overlayfs", r"(?<!final: )fuse-overlayfs[^\n]{0,100}(?:fail|error|exit|cannot|No such)"),
                  ("lowerdir", r"lowerdir[^\n]{0,120}(?:failed|error|invalid)")],
     'unless': ["overlay in use", "overlay cannot be opened", "overlay not mounted in time",
                "overlay of another user"],
     'cause': "The runtime could not put a layer that can be written on top of the image: the kernel does not let "
              "users do that (before 5.11), the folder below is on Lustre, NFS or GPFS, or the configuration forbids "
              "it.",
     'remedy': "Put the overlay or sandbox on a local disk (/tmp), or take a file as overlay (apptainer overlay "
               "create). Without: --no-overlay, and mkdir the places of binds in the image. Administrators: "
               "fuse-overlayfs, 'enable overlay'.",
     'source': "Apptainer admin guide, Overlay; github.com/apptainer/apptainer, issues 1033 and 1232",
     'evidence': 'derived', 'general': 1},
    {'name': "writable image refused",
     'text': "FATAL: ... --writable ... / no SIF writable overlay partition found",
     'patterns': ["no SIF writable overlay partition found",
                  ("SIF writable overlay", r"SIF writable overlay[^\n]{0,60}"), "WARNING: no overlay partition found",
                  ("--writable", r"--writable[^\n]{0,80}(?:not (?:a|allowed|supported|permitted)|can't be|cannot be"
                   r"|requires)[^\n]{0,60}"),
                  ("writable",
                   r"(?<!is not )writable[^\n]{0,80}(?:not (?:a|allowed|supported|permitted)|can't be|cannot be"
                   r"|requires)[^\n]{0,60}"), ("image", r"image[^\n]{0,60} is (?:not writable|read-only|locked)")],
     'unless': ["overlay of another user"],
     'also': [("the kernel's module overlay is not loaded, although the SIF carries one",
               "lsmod | grep overlay; apptainer sif list FILE")],
     'cause': "--writable asks to write into the image itself; a SIF is read-only unless it carries an overlay.",
     'remedy': "--writable-tmpfs (kept in memory), --overlay FILE, or a sandbox: apptainer build --sandbox FOLDER "
               "IMAGE, then --writable FOLDER.",
     'source': "Apptainer user guide, Persistent overlays", 'evidence': 'derived'},
    {'name': "instance not there or there already",
     'text': "FATAL: no instance found with name web",
     'patterns': [("no instance found with name ", r"(?<!cleanup failed: )no instance found with name "
                   r"(?P<name>\S{1,60})"),
                  (" already exists", r"instance (?P<name>\S{1,60}) already exists"),
                  ("container with name", r"container with name[^\n]{0,60}already exists")],
     'cause': "apptainer instance: there is no running one of the name {name} on this node, or it is there already.",
     'remedy': "apptainer instance list (on this node, as this user); apptainer instance stop NAME; then start it "
               "again.",
     'source': "Apptainer user guide, Running services", 'evidence': 'derived'},
    {'name': "program of the image that only root may start",
     'text': "FATAL: exec /opt/app/run.sh failed: permission denied",
     'patterns': [(" failed: permission denied", r"FATAL: +exec (?P<file>/\S{1,300}) failed: permission denied")],
     'cause': "{file} in the image belongs to root and others may not read or start it, or it is not marked as a "
              "program. In Docker you are root; with this runtime you are yourself.",
     'remedy': "Where the image is made: chmod -R a+rX FOLDER, chmod a+x FILE. Until then: apptainer exec --fakeroot, "
               "or apptainer build --sandbox --fakeroot and chmod there.",
     'also': [("a bind of yours lies over it, from a disk mounted noexec", "apptainer exec IMAGE ls -l FILE")],
     'source': "execve(2), EACCES; github.com/jhuguetn/cat12-docker, issue 14", 'evidence': 'measured'},
    {'name': "session of the runtime refused",
     'text': "FATAL: container creation failed: ...",
     'patterns': [("container creation failed: ", r"container creation failed: (?P<why>[^\n]{1,250})"),
                  ("FATAL: ", r"FATAL: +(?P<why>(?!kernel too old|Error inserting nvidia|Module nvidia)[^\n]{1,250})"),
                  ("ABORT ", r"^ABORT +: (?P<why>[^\n]{1,100})"),
                  ("ERROR ", r"^(?:\S{1,40}: )?ERROR +(?:\[[^\]]{1,30}\] +)?: (?P<why>[^\n]{1,200})")],
     'cause': "The runtime started no container: {why}",
     'remedy': "The last part of the line is the reason; lines of WARNING and ERROR before it say more, and apptainer "
               "--debug exec ... most. /bin/true in the same image, without binds and --nv, tells whether it is the "
               "image.",
     'source': "Apptainer user guide, Troubleshooting", 'evidence': 'derived', 'general': 2},
    {'name': "runtime that is not there",
     'text': "bash: apptainer: command not found",
     'patterns': [("not found", r"\b(?P<command>apptainer|singularity|podman|podman-hpc|enroot|sarus|shifter|ch-run"
                   "|docker)(?:(?: ?: )(?:command )?| command )not found"),
                  ("No such file or directory: ", r"No such file or directory: ['\x22](?P<command>apptainer"
                   r"|singularity|podman|docker|enroot)['\x22]"),
                  ("exec: ", r"exec: ['\x22](?P<command>apptainer|singularity|podman|docker|enroot)['\x22]"),
                  (" command has to be available in order to use", r"(?P<command>[\w-]{1,30}) command has to be "
                   "available in order to use"),
                  ("Cannot run program ", r"Cannot run program "
                                          r"\x22(?P<command>apptainer|singularity|podman|docker|shifter"
                   r"|sarus|ch-run|charliecloud)\x22")],
     'cause': "{command} is not on PATH here: its module is not loaded, it is not installed on this node, or the "
              "command was called inside a container.",
     'remedy': "module load apptainer (or singularity); on compute nodes srun which singularity. Containers do not "
               "nest: call it outside.",
     'source': "github.com/ENCODE-DCC/caper, issue 128; github.com/ComparativeGenomicsToolkit/cactus, issue 1222",
     'evidence': 'measured'},
    {'name': "container run as another user",
     'text': "FATAL: ... setgroups / could not set ... user namespace mapping / newuidmap: write to uid_map failed",
     'patterns': [("idmap: ", r"new[ug]idmap: (?P<why>[^\n]{1,120})"), ("write to ", "write to [ug]id_map failed"),
                  ("could not ", r"could not (?:set|write)[^\n]{0,40}(?:[ug]id_map|mapping)[^\n]{0,60}"),
                  ("there might not be enough IDs", r"there might not be enough IDs[^\n]{0,100}"),
                  ("insufficient ", r"insufficient [UuGg][IiDd]+s available[^\n]{0,100}"),
                  ("potentially insufficient UIDs", r"potentially insufficient UIDs[^\n]{0,100}"),
                  ("lchown ", r"lchown [^\n]{1,150}: (?:invalid argument|operation not permitted)"),
                  ("no subuid ranges found", "no subuid ranges found"),
                  ("cannot find UID/GID for user", "cannot find UID/GID for user"), ("No subuid", "No subuid")],
     'unless': ["no fakeroot"],
     'cause': "The image has files of users whose numbers were not lent to you, or the command that lends them "
              "(newuidmap) may not: /etc/subuid and /etc/subgid do not list you, or have too few. {why}",
     'remedy': "grep $USER /etc/subuid /etc/subgid (administrators: usermod --add-subuids 100000-165535 --add-subgids "
               "100000-165535 USER; newuidmap setuid root), then podman system migrate. Podman: "
               "ignore_chown_errors=true in storage.conf.",
     'source': "subuid(5); podman, troubleshooting; apptainer user guide, Fakeroot", 'evidence': 'derived'},
    {'name': "warning of the runtime without harm",
     'text': "WARNING: underlay of /etc/localtime required more than 50 (74) bind mounts",
     'patterns': [(" required more than ", r"underlay of [^\n]{1,100} required more than \d+"),
                  (" file doesn't exist in container", "WARNING: +(?:passwd|group|resolv.conf|hosts?) file doesn't "
                   "exist in container"),
                  ("WARNING: ", "WARNING: +(?:Cache disabled|Skipping mount|DT_RPATH|Overriding|The sessiondir"
                   r"|Environment variable \S{1,40} already)[^\n]{0,100}"), ("warn rootless{", r"warn rootless\{"),
                  ("will not be able to mount", r"\w+ not found, will not be able to mount"),
                  "Instance stats will not be available",
                  ("is not a shared mount", r"\x22/\x22 is not a shared mount"),
                  "Network file system detected as backing store",
                  ("Could not lookup the current user", "WARNING: +Could not lookup the current user")],
     'cause': "The runtime says what it does differently; the program mostly runs all the same.",
     'remedy': "Harmless. Look for an error behind it.",
     'source': "Apptainer, internal/pkg/runtime", 'evidence': 'derived', 'last': True},
    {'name': "source of a bind not mounted",
     'text': "ERROR : There was an error binding the path /oak: No such file or directory",
     'patterns': [("There was an error binding ", r"There was an error binding (?:the path )?(?P<path>\S{1,200})"),
                  ("skipping mount of ", r"skipping mount of (?P<path>[^\s:]{1,200}): permission denied"),
                  ("Can't stat ", r"Can't stat (?P<path>\S{1,200}) directory: ")],
     'cause': "{path} could not be bound at that moment: its file system is mounted on demand (autofs) and was not "
              "yet, it is gone, or a folder above it is closed: to you, or to the root that a setuid runtime is (NFS "
              "with root_squash, rights 750).",
     'remedy': "ls it in front of the command (ls /oak/ > /dev/null), which makes autofs mount it; namei -l PATH shows "
               "where x for others is missing: bind a folder above that, or apptainer exec --userns. A path that is "
               "not there: take it out of --bind, SINGULARITY_BIND and singularity.conf.",
     'source': "github.com/apptainer/singularity, issue 1313", 'evidence': 'derived'},
    {'name': "bound twice",
     'text': "WARNING: While bind mounting '/local_data:/local_data/': destination is already in the mount point list",
     'patterns': ["is already in the mount point list"],
     'cause': "The same place is bound twice: by singularity.conf or a variable (SINGULARITY_BIND, APPTAINER_BIND) "
              "and by --bind, or as home, current folder or /tmp besides.",
     'remedy': "Harmless as a warning. As an error (FATAL): leave out the second --bind, or SINGULARITY_BIND; env | "
               "grep -E '_BIND' and mount home in singularity.conf show the first.",
     'source': "github.com/apptainer/singularity, issue 6165; github.com/nf-core/rnaseq, issue 383",
     'evidence': 'derived'},
    {'name': "configuration of the runtime not to be read",
     'text': "FATAL: While initializing: couldn't parse configuration file etc/apptainer/apptainer.conf: ... no such "
             "file",
     'patterns': [("configuration file ", r"[Cc]ould(?:n't| not)(?: not)? parse (?:the )?configuration file "
                   r"(?P<file>[^\s:]{1,300})"),
                  (".conf", r"[Uu]nable to parse (?P<other>\S{0,300}(?:singularity|apptainer)\.conf)"),
                  (" must be owned by root", r"(?P<owned>\S{1,300}\.(?:conf|toml|json)) must be owned by root")],
     'cause': "The runtime does not find or take its configuration {file}{other}{owned}: its installation was moved or "
              "copied, was started by a name that is no whole path, or the file does not belong to root.",
     'remedy': "Start it by its whole path (type -a apptainer). An installation cannot be copied elsewhere: install it "
               "there (install-unprivileged.sh may be moved). With a setuid part: chown root:root the file.",
     'source': "github.com/apptainer/apptainer, issue 958; Apptainer admin guide, Security", 'evidence': 'derived'},
    {'name': "current folder closed to the runtime",
     'text': "ERROR : Failed to restore current working directory: Permission denied",
     'patterns': [(" current working directory: ", r"Failed to (?:open|restore|change) current working directory: "
                   r"(?P<why>[^\n]{1,60})"),
                  ("can't determine current working directory", "can't determine current working directory"),
                  ("ould not get current working directory", "ould not get current working directory"),
                  ("can't enter in current working directory", "can't enter in current working directory")],
     'cause': "The folder in which you are cannot be entered by the process that starts the container ({why}): it was "
              "deleted, belongs to somebody else (sudo -u), or its server keeps root out, and --fakeroot is root.",
     'remedy': "cd /tmp (or another folder on a local disk) and start again; bind what you need. Without --fakeroot it "
               "may do where you are. For the administrators: the folders above need x for others.",
     'source': "github.com/apptainer/apptainer, issue 2769; github.com/apptainer/singularity, issue 6347",
     'evidence': 'derived'},
    {'name': "loop device taken by another start",
     'text': "ERROR : Failed to set loop flags on loop device: Resource temporarily unavailable",
     'patterns': ["Failed to set loop flags on loop device",
                  ("loop device", r"loop device[^\n]{0,120}(?:transient error|please retry|[Rr]esource temporarily "
                   "unavailable|[Dd]evice or resource busy)")],
     'cause': "Several containers started at once on a node, and two took the same loop device: older runtimes do not "
              "try again.",
     'remedy': "Start it again, or the ranks one after the other (sleep $SLURM_LOCALID); one container for all ranks "
               "of a node. Administrators: Singularity from 3.2.1 on (of today better), 'max loop devices' in its "
               "conf.",
     'source': "github.com/biocorecrg/master_of_pores, issue 6", 'evidence': 'measured'},
    {'name': "command fakeroot of the host not usable",
     'text': "FATAL: ... while getting fakeroot bindpoints: No LD_PRELOAD in fakeroot environment",
     'patterns': ["No LD_PRELOAD in fakeroot environment", "while getting fakeroot bindpoints",
                  "nested operation not yet supported",
                  ("semop(", r"semop\(\d+\): encountered an error: Invalid argument")],
     'cause': "Without a range of user numbers (/etc/subuid) a build uses the host's command fakeroot, and that does "
              "not work: PATH is empty, it runs within another fakeroot, or its daemon was lost.",
     'remedy': "export PATH=/usr/bin:/bin:$PATH; try again; --ignore-fakeroot-command does without it. Best: a range "
               "in /etc/subuid and /etc/subgid (apptainer config fakeroot --add USER).",
     'source': "github.com/apptainer/apptainer, issue 603; fakeroot(1)", 'evidence': 'derived'},
    {'name': "download of an image too slow",
     'text': "FATAL: While pulling from image from http(s): context deadline exceeded (Client.Timeout or context "
             "cancellation while reading body)",
     'patterns': [("while reading body", r"Client\.Timeout or context cancellation while reading body")],
     'cause': "The download had begun and did not end in the time that the runtime gives it (30 minutes).",
     'remedy': "Fetch the file by itself: wget -c URL (or curl -C - -O URL), which goes on where it stopped; then use "
               "the file. docker:// images: pull again, the layers that came are kept in the cache.",
     'source': "github.com/ehw-fit/tf-approximate, issue 2", 'evidence': 'measured'},
    {'name': "pull stopped by Nextflow",
     'text': "status : 143",
     'patterns': [("status : 143", r"\bstatus : 143\b")],
     'cause': "Nextflow ended the pull after singularity.pullTimeout (20 minutes): making a SIF of a large image on a "
              "slow disk takes longer.",
     'remedy': "singularity.pullTimeout = '2h' (or apptainer.pullTimeout) in nextflow.config; or pull it by hand "
               "before, with APPTAINER_TMPDIR on a fast disk, into NXF_SINGULARITY_CACHEDIR.",
     'source': "github.com/nextflow-io/nextflow, issue 4823", 'evidence': 'measured'},
    {'name': "no Apptainer image in the registry",
     'text': "FATAL: ... oras://...: ORAS SIF image should have a single layer, found 14",
     'patterns': ["ORAS SIF image should have a single layer",
                  ("layer mediatype", r"invalid layer mediatype[^\n]{0,80}")],
     'cause': "oras:// fetches an image that was pushed as a SIF; under this name lies an image of Docker.",
     'remedy': "Take docker:// instead of oras:// in front of the same name.",
     'source': "github.com/nextflow-io/nextflow, issue 5367", 'evidence': 'derived'},
    {'name': "Singularity 2 that wants to write to its image",
     'text': "ERROR : Unable to open squashfs image in read-write mode: Read-only file system",
     'patterns': [("nable to open squashfs image in read-write mode", "[Uu]nable to open squashfs image in read-write "
                   "mode")],
     'cause': "Singularity 2.4 cannot open this image (an error of that release when root starts it, or --writable "
              "was given): a squashfs is read-only.",
     'remedy': "Without sudo and -w; better a newer runtime (Apptainer, Singularity from 3.6 on), with which it went.",
     'source': "github.com/OpenChemistry/stempy, issue 165", 'evidence': 'measured'},
    {'name': "unsquashfs that cannot run for itself",
     'text': "root filesystem extraction failed: command error: while getting library dependencies: exit status 127",
     'patterns': ["while getting library dependencies"],
     'cause': "The runtime unpacks an image by the host's unsquashfs within a container of its own, and asks the "
              "loader which libraries that needs: this failed. unsquashfs is of another system (conda, spack, Nix, "
              "modules), or a library of it is missing.",
     'remedy': "type -a unsquashfs; ldd $(command -v unsquashfs). Put the system's first "
               "(PATH=/usr/sbin:/usr/bin:$PATH), or install squashfs-tools from the system's packages.",
     'source': "github.com/apptainer/apptainer, internal/pkg/image/unpacker/squashfs.go; "
               "github.com/apptainer/singularity, "
               "issue 5711", 'evidence': 'derived'},
    {'name': "image file there already",
     'text': 'FATAL: Image file already exists: "x.sif" - will not overwrite',
     'patterns': [("will not overwrite", r"mage file already exists: \x22?(?P<file>[^\x22\n]{1,300}?)\x22? - will not "
                   "overwrite"),
                  ("uild target ", r"[Bb]uild target '?(?P<other>[^'\n]{1,300}?)'? already exists(?! and will be)")],
     'cause': "There is a file {file}{other} already.",
     'remedy': "Use it; or apptainer pull --force (build --force), or another name.",
     'source': "Apptainer user guide, pull", 'evidence': 'derived'},
    {'name': "folder of the runtime for images not writable",
     'text': "FATAL: Failed to create an image cache handle: ... couldn't create cache directory ...: permission "
             "denied",
     'patterns': [("Failed to create an image cache handle", r"Failed to create an image cache "
                                                             r"handle(?P<why>[^\n]{0,250})"),
                  ("failed initializing caching directory", "failed initializing caching directory"),
                  ("could not open temporary file for copy", r"could not open temporary file for copy(?P<other>[^"
                   r"\n]{0,250})")],
     'unless': ["quota used up", "no space left"],
     'cause': "The runtime may not write where it keeps images (in your home), or where the image is to go{why}{other}",
     'remedy': "export APPTAINER_CACHEDIR=FOLDER SINGULARITY_CACHEDIR=FOLDER with a folder of yours on a large disk "
               "(in jobs, with a home that is not there, too); cd to a folder that you may write; --disable-cache.",
     'source': "Apptainer user guide, Cache folders; github.com/ratt-ru/Stimela-classic, issue 694",
     'evidence': 'derived'},
    {'name': "packing of an image out of memory",
     'text': "while creating squashfs: create command failed: signal: killed",
     'patterns': [("create command failed: signal: killed", "create command failed: signal: killed"),
                  ("create command failed", r"create command failed[^\n]{0,200}(?:create thread|[Oo]ut of memory"
                   "|Resource temporarily)"),
                  ("mksquashfs", r"mksquashfs[^\n]{0,120}(?:signal: killed|Killed|[Oo]ut of memory)")],
     'cause': "mksquashfs, which packs the image, was ended: it starts a thread for each core and takes a quarter of "
              "the memory, more than this login node, job or container may have.",
     'remedy': "apptainer build --mksquashfs-args '-processors 2 -mem 1G' ...; or build in a job with more memory. "
               "Administrators: 'mksquashfs procs' and 'mksquashfs mem' in apptainer.conf.",
     'source': "Apptainer user guide, build; mksquashfs(1)", 'evidence': 'derived'},
    {'name': "Singularity Hub closed",
     'text': "FATAL: While pulling shub image: failed to get manifest for: shub://...",
     'patterns': ["While pulling shub image", ("failed to get manifest for", r"failed to get manifest for:? "
                                                                             r"shub://\S{1,200}"),
                  ("ingularity ", r"(?:response|manifest|error)[^\n]{0,60}[Ss]ingularity [Hh]ub")],
     'cause': "shub:// is Singularity Hub, which has taken no new images since April 2021; what is left is an archive, "
              "and much is gone.",
     'remedy': "Take the image from docker:// (its authors mostly have one), or build it from its definition file.",
     'source': "singularityhub.github.io, 2021", 'evidence': 'derived'},
    {'name': "limits that the runtime may not set",
     'text': "FATAL: ... while applying cgroups config: rootless cgroups require a D-Bus session",
     'patterns': [("rootless cgroups require", "rootless cgroups requires? a D-Bus session"),
                  ("while applying cgroups config", r"while applying cgroups config[^\n]{0,200}"),
                  ("annot use cgroups - ", r"annot use cgroups - [^\n]{1,150}"),
                  ("memory.max", r"opening file .?memory\.max.? for writing[^\n]{0,80}"),
                  ("cgroup", r"cgroup controllers?[^\n]{0,60}(?:not available|not found|missing)")],
     'cause': "Limits of memory or processors (--memory, --cpus, --apply-cgroups) were asked for, and an ordinary user "
              "may not set them here: no systemd of your own (a job, su), or the cgroups were not handed on.",
     'remedy': "Leave the limits out: Slurm sets its own. Else export XDG_RUNTIME_DIR=/run/user/$UID; administrators: "
               "loginctl enable-linger USER, and Delegate=cpu cpuset io memory pids for user@.service.",
     'source': "Apptainer user guide, Limiting container resources; podman, troubleshooting", 'evidence': 'derived'},
    {'name': "setuid part of the runtime without its right",
     'text': "FATAL: while executing starter: .../starter-suid doesn't have setuid bit set",
     'patterns': [("starter-suid", r"starter-suid[^\n]{0,100}(?:setuid bit|not found|No such|not owned|no "
                                   r"such|permission)"),
                  "No setuid installation found", "Failed to set effective UID to 0", ("setuid bit set", "doesn't "
                                                                                                         "have "
                                                                                                         "setuid bit "
                                                                                                         "set")],
     'cause': "apptainer.conf asks for the setuid part (starter-suid), and it is not there, does not belong to root, "
              "has no letter s, or lies on a disk that is mounted with nosuid.",
     'remedy': "apptainer exec --userns does without it, where user namespaces are on. Administrators: package "
               "apptainer-suid, or chown root:root and chmod 4755 LIBEXEC/apptainer/bin/starter-suid; findmnt -T FILE.",
     'source': "Apptainer admin guide, Installation", 'evidence': 'derived'},
    {'name': "GPU libraries of the host not found",
     'text': "WARNING: Could not find any rocm files on this host!",
     'patterns': [("Could not find any rocm", r"Could not find any rocm (?P<what>\w+)"),
                  ("Could not find any nv ", r"Could not find any nv (?P<other>libraries|binaries)")],
     'cause': "--rocm or --nv found nothing of the driver on this node: it has no GPU of that kind (a login node), or "
              "its libraries are not in ldconfig's list and its programs not on PATH.",
     'remedy': "srun rocminfo (nvidia-smi -L) on a node with GPUs; ldconfig -p | grep -E 'libcuda|libamdhip64'. "
               "Administrators: /opt/rocm/lib into /etc/ld.so.conf.d, and ldconfig. By hand: --bind /opt/rocm.",
     'source': "Apptainer user guide, GPU support", 'evidence': 'derived', 'last': True},
    {'name': "packages that want more than one user",
     'text': "E: setgroups 65534 failed - setgroups (1: Operation not permitted)",
     'patterns': [("SetupAPTPartialDirectory", "SetupAPTPartialDirectory"), "couldn't be accessed by user '_apt'",
                  ("setgroups ", r"setgroups \d+ failed"), ("sete", r"sete[gu]id \d+ failed"),
                  ("annot change ownership to uid ", r"annot change ownership to uid \d+"),
                  ("failure while writing changes to /etc/", r"(?:groupadd|useradd|usermod): failure while writing "
                   "changes to /etc/"),
                  ("cap_set_file failed", r"(?:cpio|rpm|unpacking)[^\n]{0,100}cap_set_file failed"),
                  ("peration not permitted", r"dpkg[^\n]{0,200}(?:chown|chgrp|setting ownership|set[gu]id)[^\n]{0,80}"
                   "peration not permitted"),
                  ("peration not permitted", r"(?:cpio|rpm)[^\n]{0,40}: chown[^\n]{0,60}peration not permitted")],
     'unless': ["container run as another user"],
     'cause': "A package manager wants to become another user or to give files away, and in this container only one "
              "user exists: it was built without numbers of users (/etc/subuid) or without fakeroot.",
     'remedy': "apptainer build --fakeroot, with a range in /etc/subuid and /etc/subgid, or with fakeroot installed on "
               "the host. apt: echo 'APT::Sandbox::User \"root\";' > /etc/apt/apt.conf.d/no-sandbox in %post. "
               "Charliecloud: ch-image build --force.",
     'source': "apt.conf(5); charliecloud, ch-image --force; Apptainer user guide, Fakeroot", 'evidence': 'derived'},
    {'name': "unpacking of an image failed",
     'text': "FATAL: While performing build: packer failed to pack: while unpacking tmpfs: ...",
     'patterns': [("packer failed to pack: ", r"packer failed to pack: (?P<why>[^\n]{1,250})"),
                  ("unpack ", r"unpack (?:layer|entry): (?!sha256:\w+$)(?P<other>[^\n]{1,250})")],
     'cause': "The layers of an image are unpacked and packed in TMPDIR, and that failed: {why}{other}",
     'remedy': "export APPTAINER_TMPDIR=FOLDER SINGULARITY_TMPDIR=FOLDER with room on a local disk: NFS, Lustre, "
               "BeeGFS and GPFS lack links, attributes or owners that images have. apptainer cache clean if a layer is "
               "damaged.",
     'source': "Apptainer user guide, Build environment", 'evidence': 'derived', 'general': 1},
    {'name': "attributes of files that cannot be unpacked",
     'text': "FATAL: ... restore xattr metadata: saw forbidden xattr \"security.selinux\"",
     'patterns': [("forbidden xattr", r"saw forbidden xattr (?P<what>\S{1,60})"),
                  ("rite_xattr: ",
                   r"write_xattr: failed to write xattr (?P<other>\S{1,60}) for file (?P<file>\S{1,200})"),
                  ("llistxattr: ", r"llistxattr: operation not supported"),
                  ("restore xattr metadata", r"restore xattr metadata: (?!saw forbidden)[^\n]{1,150}")],
     'cause': "The image's files carry attributes (of SELinux, capabilities: {what}{other}), which an ordinary user "
              "may not set or the disk does not keep.",
     'remedy': "A newer runtime leaves them out (Singularity from 3.5 on, Apptainer). TMPDIR on another kind of disk; "
               "setting 'user xattrs' aside: unsquashfs -no-xattrs. Ask the image's authors to build it without "
               "SELinux.",
     'source': "github.com/apptainer/singularity, issues 4578, 4593 and 6113", 'evidence': 'derived'},
    {'name': "links between files that the disk refuses",
     'text': "FATAL: ... unpack entry: ...: link: unpriv.link: ... operation not permitted",
     'patterns': [("unpriv.link", r"unpriv\.link: [^\n]{0,100}operation not permitted"),
                  ("error extracting layer: link ",
                   r"error extracting layer: link (?P<path>\S{1,300}) \S{1,300}: operation "
                   "not permitted")],
     'cause': "The image has hard links, and the disk on which it is unpacked does not allow them (BeeGFS, some "
              "network file systems, fs.protected_hardlinks). {path}",
     'remedy': "export APPTAINER_TMPDIR=/tmp/$USER SINGULARITY_TMPDIR=/tmp/$USER (a local disk; mkdir -p it), and "
               "again; or pull elsewhere and copy the SIF.",
     'source': "github.com/apptainer/singularity, issue 3512; github.com/ComparativeGenomicsToolkit/cactus, issue 408",
     'evidence': 'derived'},
    {'name': "overlay of another user",
     'text': "hook function for tag prelayer returns error: setup of overlay upper dir failed: ... is not writable: "
             "permission denied",
     'patterns': [("setup of overlay upper dir failed", r"setup of overlay upper dir failed[^\n]{0,250}"),
                  ("upper is not writable", r"\S{1,200}/upper is not writable")],
     'cause': "The folders upper and work within the overlay belong to root or somebody else: it was made by an older "
              "Singularity or with sudo; without setuid they must be yours.",
     'remedy': "apptainer overlay create --size 1024 NEW.img makes one that is yours; --overlay FILE:ro to read it; as "
               "root: mount it and chown -R USER upper work; apptainer-suid takes it as it is.",
     'source': "github.com/apptainer/apptainer, issue 757", 'evidence': 'derived'},
    {'name': "docker:// forgotten",
     'text': "FATAL: While pulling library image: ... invalid container ref: staphb/nanoplot (400 Bad Request)",
     'patterns': [("invalid container ref", r"invalid container ref: (?P<name>\S{1,100})"),
                  ("While pulling library image: ",
                   r"While pulling library image: (?!image [^\n]{1,200} does not exist)"
                   r"(?P<why>[^\n]{1,200})")],
     'unless': ["registry not reached", "quota used up", "no space left"],
     'cause': "A name without docker:// in front is looked for in Sylabs' library (library://), which does not have "
              "it: {name}{why}",
     'remedy': "singularity pull docker://NAME:TAG (Docker Hub), docker://quay.io/NAME:TAG for others.",
     'source': "github.com/StaPH-B/docker-builds, issue 891", 'evidence': 'measured'},
    {'name': "script that Python does not find",
     'text': "python3: can't open file 'wrapper_docker.py': [Errno 2] No such file or directory",
     'patterns': [("can't open file '", r"python[\d.]{0,5}: can't open file '(?P<file>(?!/)[^'\n]{1,100})'"),
                  ("can't open file '", r"python[\d.]{0,5}: can't open file '(?P<path>/[^'\n]{1,200})': \[Errno 2\]")],
     'cause': "The file {file}{path} is not where Python looks: a name without a folder counts from where the job was "
              "submitted, in a container from your folder and not the image's (WORKDIR of Docker); and what is not "
              "bound is not there.",
     'remedy': "ls it in the same way (in the container). cd to its folder in the script, or give its whole path; "
               "apptainer --pwd FOLDER (newer: --cwd) starts in the image's folder; --bind FOLDER for one of yours; a "
               "link in the path: bind where it leads to as well (realpath FILE).",
     'source': "github.com/zamboni-lab/SLAW, issue 5; github.com/patrickbryant1/MoLPC, issue 14", 'evidence': 'derived',
     'general': 1},
    {'name': "cache of images damaged",
     'text': "FATAL: ... conveyor failed to get: no descriptor found for reference \"880fcb44...\"",
     'patterns': [("no descriptor found for reference", r"no descriptor found for reference \x22?(?P<what>\w{1,16})"),
                  ("cached file hash", r"cached file hash\(\S{1,80}\) and expected hash\(\S{1,80}\) does not match"),
                  ("/cache/blob", r"initializing source oci:\S{1,200}/cache/blob[^\n]{0,250}")],
     'cause': "What the runtime keeps of images fetched before is not whole: several pulls ran at once with one cache "
              "(Nextflow, many jobs), or one was killed.",
     'remedy': "singularity cache clean (apptainer cache clean), and pull once more, one image at a time; or a cache "
               "for each job: export APPTAINER_CACHEDIR=$TMPDIR SINGULARITY_CACHEDIR=$TMPDIR.",
     'source': "github.com/nf-core/rnafusion, issue 89; Apptainer user guide, Cache folders", 'evidence': 'derived'},
    {'name': "runtime too old for the registry",
     'text': "FATAL: ... conveyor failed to get: get did not succeed: 500 architecture not specified",
     'patterns': ["architecture not specified",
                  ("get did not succeed", r"get did not succeed: 500"),
                  ("anifest ", r"(?:[Uu]nsupported|unknown) manifest (?:MIME|media ?)type[^\n]{0,100}"),
                  ("nsupported schema version", r"[Uu]nsupported schema version[^\n]{0,60}"),
                  ("nvalid mixed OCI image", "nvalid mixed OCI image with Docker")],
     'cause': "The registry answers in a newer way than this release of the runtime understands.",
     'remedy': "singularity --version; a newer one (Apptainer; SingularityCE) with module avail. Or pull on another "
               "machine, and copy the SIF.",
     'source': "github.com/bdusell/singularity-tutorial, issue 3", 'evidence': 'measured'},
    {'name': "image replaced while it is opened",
     'text': "FATAL: resolved path /containers/a.simg doesn't match with opened path /containers/a.simg (deleted)",
     'patterns': [("doesn't match with opened path",
                   r"resolved path (?P<path>\S{1,300}) doesn't match with opened path")],
     'cause': "{path} was deleted or replaced while the runtime opened it, or the disk shows it under two paths "
              "(automount, several mounts of one server).",
     'remedy': "Start again; do not rebuild or pull an image that runs. If it stays: take the whole path that realpath "
               "FILE gives, or a copy on another disk; a newer runtime checks it in another way.",
     'source': "github.com/SciLifeLab/Sarek, issue 780; Singularity 3, internal/pkg/image", 'evidence': 'derived'},
    {'name': "modprobe of NVIDIA without a GPU",
     'text': "FATAL: Error inserting nvidia (/lib/modules/...): No such device",
     'patterns': [("FATAL: ", r"FATAL: (?:Error inserting|Module) nvidia\w{0,10}\b[^\n]{0,150}"),
                  ("modprobe: FATAL: Module ", r"modprobe: FATAL: Module nvidia\S{0,20} not found")],
     'cause': "--nv (or a tool of NVIDIA) tried to load the driver on a node that has no GPU of NVIDIA, or not its "
              "driver.",
     'remedy': "Harmless for a program that needs none: leave out --nv. Else a node with GPUs (--gpus, --gres); "
               "nvidia-smi.",
     'source': "modprobe(8); github.com/bactopia/bactopia, issue 186", 'evidence': 'derived', 'last': True},
    {'name': "function which of the host in the container",
     'text': "Illegal option --",
     'patterns': [("Illegal option --", r"Illegal option --\s*$"),
                  ("BASH_FUNC_which", r"error importing function definition for .?BASH_FUNC_which")],
     'cause': "Red Hat's shell makes which a function with options of its own and hands it on; it came into the "
              "container, whose which (Debian's) does not know them.",
     'remedy': "Mostly harmless. unset -f which before the start, or apptainer exec --cleanenv (singularity exec -e).",
     'source': "bash(1), exported functions; github.com/josuebarrera/GenEra, issue "
               "23", 'evidence': 'derived', 'last': True},
    {'name': "container killed",
     'text': "slurm_script: line 31: 6521 Killed singularity exec --nv ...",
     'patterns': [(" Killed ",
                   r"line \d+: +\d+ Killed +(?:\w{1,40}=\S{0,200} +)*(?P<command>singularity|apptainer|podman"
                   r"(?:-hpc)?|docker|enroot|ch-run|shifter|sarus)\b")],
     'cause': "The kernel ended the container ({command}): mostly the job's memory was used up, as a container's "
              "memory counts as the job's.",
     'remedy': "sacct -j JOB -o State,MaxRSS,ReqMem; more with --mem or --mem-per-cpu (sbatch). On a login node its "
               "limits: start it in a job.",
     'also': [("a limit of the node's own", "dmesg -T | grep -i oom")],
     'source': "signal(7); github.com/jade-hpc-gpu/jade-hpc-gpu.github.io, issue 136", 'evidence': 'derived',
     'general': 1},
    {'name': "encrypted image without its key",
     'text': "FATAL: Unable to use container encryption. Must supply encryption material ...",
     'patterns': ["Unable to use container encryption", "Failed to load key material",
                  ("ould not decrypt LUKS key", r"ould not decrypt LUKS key[^\n]{0,100}")],
     'cause': "The image is encrypted, and its key was not given, is another one, or encrypted images are not allowed "
              "here.",
     'remedy': "apptainer run --pem-path=KEY.pem FILE, or --passphrase (APPTAINER_ENCRYPTION_PEM_PATH); cryptsetup and "
               "the setuid part must be installed on the node.",
     'source': "Apptainer user guide, Encrypted containers", 'evidence': 'derived'},
    {'name': "overlay used over another image before",
     'text': "can't mount overlay filesystem to .../mnt/session/final: stale NFS file handle",
     'patterns': [("can't mount overlay filesystem", r"can't mount overlay filesystem[^\n]{0,300}[Ss]tale (?:NFS "
                                                     r")?file "
                   "handle")],
     'cause': "The kernel remembers over which image an overlay was used first (where overlayfs has its index on by "
              "default), and refuses it over another one, or over the same one at another place.",
     'remedy': "A new overlay for this image (apptainer overlay create), and copy from the old one. As root: modprobe "
               "overlay index=off (options overlay index=off in /etc/modprobe.d).",
     'source': "Linux, Documentation/filesystems/overlayfs, index; github.com/apptainer/singularity, issue 4539",
     'evidence': 'derived'},
    {'name': "helper process of the runtime ended",
     'text': "container creation failed: while getting /proc/self/ns/user file descriptor: ...: read unix @->@: read: "
             "connection reset by peer",
     'patterns': [("read unix @->@", "read unix @->@: (?P<why>[^\\n]{1,60})"),
                  ("rpc server ", r"rpc server (?P<other>interrupted by signal[^\n]{0,40}|exited with[^\n]{0,40})")],
     'unless': ["no user namespaces"],
     'cause': "The process of the runtime that makes the mounts ended while the container was made {other}: it "
              "crashed, was killed for memory, or may not live in a namespace of processes (--pid, --containall).",
     'remedy': "Once more without --pid and --containall (-C), and with more memory; apptainer --debug exec ... names "
               "the signal. Else another release of the runtime: module avail apptainer singularity.",
     'also': [("a limit of memory or of processes", "ulimit -v; ulimit -u; sacct -j JOB -o state,maxrss")],
     'source': "Apptainer, cmd/starter/c/starter.c; github.com/apptainer/apptainer, issues 2403 and 2244",
     'evidence': 'derived'},
    {'name': "open files of the caller that confuse the starter",
     'text': "ERROR  : Failed to get file information for file descriptor 11: Bad file descriptor",
     'patterns': [("Failed to get file information for file descriptor",
                   r"Failed to get file information for file descriptor (?P<number>\d+)")],
     'cause': "The runtime starts in several steps that hand open files on, and one of them (number {number}) was "
              "closed in between: it comes and goes, by a race, or with the files of the program that called it "
              "(RStudio).",
     'remedy': "Start it again, in a loop with a pause if need be (for i in 1 2 3; do apptainer exec ... && break; "
               "sleep 10; done); from a terminal or srun instead of RStudio. A newer release of the runtime.",
     'source': "Apptainer, cmd/starter/c/starter.c; github.com/apptainer/apptainer, issues 1947 and 2166",
     'evidence': 'derived'},
    {'name': "file of the host that the runtime shows inside",
     'text': "container creation failed: open /etc/resolv.conf: no such file or directory",
     'patterns': [("container creation failed: ", r"container creation failed: (?:open|stat|lstat) (?P<file>/etc/"
                   r"(?:resolv\.conf|hosts|localtime|passwd|group|hostname)): no such file")],
     'cause': "The runtime shows {file} of the host in every container, and it is not there: mostly it is a link that "
              "leads nowhere, as the service of names was not started.",
     'remedy': "ls -lL that file on the node; another node (srun --exclude=NODE), and tell the administrators "
               "(systemctl restart systemd-resolved).",
     'source': "Apptainer admin guide, config resolv_conf; github.com/apptainer/apptainer, issue 999",
     'evidence': 'derived'},
    {'name': "shared namespace whose first container ended",
     'text': "FATAL: first process with --sharens has already exited, could not execute process (pid 77)",
     'patterns': [("first process with --sharens", "first process with --sharens has already exited")],
     'cause': "With --sharens the first process of a node makes the container, and the others join it: it had ended, "
              "or could not start, before they came.",
     'remedy': "Look for the error of the first one; without --sharens each rank starts its own. The first rank must "
               "run as long as the others.",
     'source': "github.com/apptainer/apptainer, issue 1906", 'evidence': 'derived'},
    {'name': "cache of a Python package not to be written",
     'text': "RuntimeError: cannot cache function 'rdist': no locator available for file '...'",
     'patterns': [("no locator available for file", r"cannot cache function (?P<name>\S{1,60}): no locator available "
                                                    r"for "
                   "file"), ("no locator available for file ", r"no locator available for file (?P<file>\S{1,200})")],
     'cause': "Numba keeps what it compiles beside the package, which is read-only in an image, or below your home, "
              "which is not there or closed in the container. {file}",
     'remedy': "export NUMBA_CACHE_DIR=/tmp/$USER/numba (in Nextflow: env { NUMBA_CACHE_DIR = '/tmp' }); likewise "
               "MPLCONFIGDIR for Matplotlib and XDG_CACHE_HOME for others.",
     'source': "numba.readthedocs.io, NUMBA_CACHE_DIR; github.com/haniffalab/webatlas-pipeline, issue 135",
     'evidence': 'measured'},
    {'name': "folder of settings of a Python package not to be written",
     'text': "Matplotlib created a temporary cache directory at /tmp/matplotlib-x because the default path (...) is "
             "not a writable directory",
     'patterns': [("Matplotlib ", r"Matplotlib (?:created a temporary (?:config/)?cache directory|requires access to a "
                   "writable cache directory)"),
                  ("mkdir -p failed for path ", r"mkdir -p failed for path (?P<path>\S{1,200}):")],
     'cause': "Matplotlib keeps its list of fonts below your home, which is not there or closed in the container.",
     'remedy': "Harmless, only slow. export MPLCONFIGDIR=/tmp/$USER/matplotlib; --bind your home if it should be "
               "there.",
     'source': "matplotlib.org, MPLCONFIGDIR; github.com/nf-core/scdownstream, issue 49", 'evidence': 'derived',
     'last': True},
    {'name': "folder for temporary files not in the container",
     'text': "mktemp: failed to create file via template '/scratch/4711/tmp.XXXXXXXXXX': No such file or directory",
     'patterns': [("mktemp: ", r"mktemp: failed to create (?:file|directory) via template "
                               r".{0,4}?(?P<path>/[^\s'’`]{1,300}"
                   r")[^\n]{0,4}: (?P<why>[^\n]{1,60})"),
                  ("mktemp: ", r"mktemp: failed to create (?:file|directory) via template "
                               r".(?P<here>[^/\s][^\s'’]{0,100})"
                   r".: (?P<why>[^\n]{1,60})"),
                  ("mktemp: (null): ", r"mktemp: \(null\): (?P<why>[^\n]{1,60})"),
                  ("Error in tempfile() using template", r"Error in tempfile\(\) using template (?P<path>/\S{1,300}): "
                   r"(?P<why>[^\n]{1,100})"), "temp_directory_path: No such file",
                  ("cannot create 'R_TempDir'", "cannot create 'R_TempDir'"),
                  ("No usable temporary directory", "No usable temporary directory (?:name )?found"),
                  ("annot create temp file for here", r"annot create temp file for here-?document: (?P<why>(?!No space)"
                   r"[^\n]{1,60})"),
                  ("cannot create temporary file in '", r"cannot create temporary file in '(?P<path>[^'\n]{1,200})': "
                   r"(?P<why>(?!No space)[^\n]{1,60})"),
                  ("tempfile", r"(?:cannot|could not|[Ff]ailed to|unable to) (?:create|open) (?:a "
                                r")?tempfile[^\n]{0,100}"),
                  ("java.io.tmpdir", r"java\.io\.tmpdir[^\n]{0,100}(?:not exist|not writable|No such)")],
     'unless': ["no space left", "quota used up"],
     'cause': "The program wants to write a temporary file and cannot {path}{here} {why}: TMPDIR came from the job "
              "(/scratch/JOB, /local) and that folder is not in the container, or /tmp is closed or full.",
     'remedy': "unset TMPDIR TMP TEMP before the start, or --env TMPDIR=/tmp; or --bind $TMPDIR (Nextflow: "
               "singularity.runOptions = '--bind $TMPDIR'). If /tmp itself is closed: --bind FOLDER:/tmp, with a "
               "folder of yours.",
     'also': [("it is full", "apptainer exec IMAGE sh -c 'echo $TMPDIR; df -h /tmp $TMPDIR; ls -ld /tmp'")],
     'source': "mktemp(1); github.com/nextgenusfs/funannotate, issue 778; github.com/IntGenomicsLab/lrsomatic, issue "
               "73",
     'evidence': 'measured'},
    {'name': "program that a task of Nextflow does not find",
     'text': ".command.sh: line 3: check_samplesheet.py: command not found",
     'patterns': [(": command not found", r"\.command\.(?:sh|run|stub): line \d+: (?P<command>\S{1,100}): command not "
                   "found")],
     'cause': "The task of Nextflow does not find {command}. A script of the pipeline itself (its folder bin, below "
              "~/.nextflow/assets) is not seen where that folder is not in the container; a program of the image where "
              "your home hides its home; and without a profile of containers nothing of both is there.",
     'remedy': "-profile singularity (docker, conda); singularity.autoMounts = true; singularity.runOptions = '--bind "
               "/FOLDER', with the folder of the pipeline, or '--no-home' (--no-mount home) for a program below /home "
               "in the image. export NXF_ASSETS=FOLDER puts pipelines on a disk that is bound.",
     'also': [("it is not executable, or not in the image", "bash -x .command.run in the task's folder (Work dir)")],
     'source': "github.com/nextflow-io/nextflow, issue 2324; github.com/epi2me-labs/wf-human-variation, issue 108",
     'evidence': 'derived', 'general': 1},
    {'name': "Python packages of your home in the container",
     'text': "ImportError: /home/me/.local/lib/python3.8/site-packages/numpy/core/_multiarray_umath.so: ...",
     # the traceback goes through packages of the home, and its end, some lines on, is that one of them does not load
     'patterns': [("/.local/lib/python", r"/\.local/lib/python[\d.]{1,5}/site-packages/[^\n]{1,300}"
                   r"(?:\n[^\n]{0,400}){1,14}?\n(?:ImportError: (?:lib|/|$|numpy)|IMPORTANT: PLEASE READ|RuntimeError: "
                   r"module compiled against)"),
                  ("/.local/lib/python", r"ImportError: /\S{1,200}/\.local/lib/python[\d.]{1,5}/site-packages/(?P<file>"
                   r"\S{1,200}): (?!undefined symbol: MPI)"),
                  ("VersionConflict: (", r"VersionConflict: \((?P<package>[^\s(]{1,60} [^\s(]{1,40}) "
                                         r"\((?P<where>/[^)\n]{1,200})"
                   r"\), Requirement")],
     'cause': "Python takes packages from your home (~/.local, PYTHONPATH, an environment of your own {where}), and "
              "these were built for another Python, NumPy or system than the one that runs: a container shows your "
              "home. {package}{file}",
     'remedy': "export PYTHONNOUSERSITE=1 and unset PYTHONPATH before the start (apptainer exec --env "
               "PYTHONNOUSERSITE=1, or --cleanenv --no-home). What you need from there: an environment made within the "
               "container.",
     'also': [("the package in your home is broken for every Python", "pip uninstall NAME; pip list --user")],
     'source': "docs.python.org, PYTHONNOUSERSITE; github.com/MultiQC/MultiQC, issue 1221; "
               "github.com/nf-core/rnaseq, issue "
               "383", 'evidence': 'measured'},
    {'name': "display not there",
     'text': "_tkinter.TclError: no display name and no $DISPLAY environment variable",
     'patterns': [("display", r"(?:couldn't|could not|[Cc]annot|can't|[Uu]nable to|[Ff]ailed to) (?:connect to|open) "
                              r"(?:X )?"
                   r"display\b[^\n]{0,60}"), "no display name and no $DISPLAY",
                  ("platform plugin ", r"Could not (?:load|find) the Qt platform plugin \x22(?P<plugin>\w{1,20})"),
                  "no Qt platform plugin could be initialized", "no authorization protocol specified",
                  ("DISPLAY", r"\$?DISPLAY (?:is not set|variable not set|environment variable (?:is )?(?:not "
                              r"set|missing))"),
                  "Cannot load backend 'TkAgg'", "Cannot load backend 'Qt5Agg'",
                  "java.awt.HeadlessException", "AWTError: Can't connect to X11"],
     'cause': "The program wants to open a window, and a job or container has no display.",
     'remedy': "export MPLBACKEND=Agg (Matplotlib), QT_QPA_PLATFORM=offscreen (Qt), java -Djava.awt.headless=true; "
               "xvfb-run -a PROGRAM gives a display that nobody sees. To see it: ssh -X, srun --x11, and in the "
               "container --bind $HOME/.Xauthority.",
     'also': [("plugin xcb: a library of X is missing in the image", "QT_DEBUG_PLUGINS=1 PROGRAM 2>&1 | grep -i "
                                                                     "'cannot load'")],
     'source': "matplotlib.org, Backends; doc.qt.io, QPA; github.com/datalad/datalad-container, issue 272",
     'evidence': 'derived'},
    {'name': "clean-up of the container incomplete",
     'text': "ERROR:   failed to delete container image /tmp/rootfs-333535743: permission denied",
     'patterns': [("failed to delete container image", r"failed to delete container image (?:tempDir "
                                                       r")?(?P<path>[^\s:]{1,300})"),
                  ("Cleanup error: while", r"Cleanup error: while (?:unmounting|stopping)[^\n]{0,200}"),
                  ("Could not remove directory", r"Could not remove directory "
                                                 r"(?P<path>\S{0,200}\.singularity-runtime\.[^\s:]{1,100})"),
                  ("container cleanup failed", r"container cleanup failed: [^\n]{1,150}")],
     'cause': "The program has ended, and the runtime could not clear up behind it: something in the background still "
              "uses the container, or its files lie on a network's disk. {path}",
     'remedy': "Harmless for the run: its result counts. Remove what is left: ls -d /tmp/rootfs-* $TMPDIR/rootfs-*; "
               "chmod -R u+w it, rm -rf it. Programs that go on in the background: wait at the end of the script. "
               "APPTAINER_TMPDIR on a local disk.",
     'source': "github.com/apptainer/apptainer, issues 613 and 2104; github.com/apptainer/singularity, issues 2880 "
               "and 4049",
     'evidence': 'derived', 'last': True},
    {'name': "network of the container not set up",
     'text': "FATAL: container creation failed: plugin type=\"bridge\" failed (add): ...",
     'patterns': [("plugin type=", r"plugin type=\x22(?P<kind>[\w-]{1,30})\x22 (?P<how>[^\n]{1,200})"),
                  ("CNI ", r"CNI (?:configuration|network|plugin)[^\n]{0,100}(?:not found|fail|error|missing|denied)"),
                  ("failed to find plugin ", r"failed to find plugin \x22(?P<plugin>[\w-]{1,30})\x22 in path")],
     'unless': ["daemon of Docker not reached"],
     'cause': "--net gives the container a network of its own, and its plugin (CNI) failed: {kind}{plugin} {how}",
     'remedy': "Without --net the container has the node's network, which MPI and jobs want. Else: --fakeroot --net, "
               "--network none; administrators: etc/apptainer/network/*.conflist, libexec/apptainer/cni, and the "
               "addresses that are left in /var/lib/cni/networks.",
     'source': "Apptainer user guide, Network virtualization; github.com/singularityhub/singularity-compose, issue 60",
     'evidence': 'derived'},
    {'name': "package of Perl or R not there",
     'text': "Can't locate XML/Simple.pm in @INC (you may need to install the XML::Simple module) (@INC contains: ...)",
     'patterns': [(" in @INC", r"Can't locate (?P<perl>\S{1,100}) in @INC"),
                  ("there is no package called", r"there is no package called .(?P<r>[\w.]{1,60})"),
                  ("Can't load '", r"Can't load '\S{1,300}/auto/(?P<perl>\S{1,200})' for module \S{1,60}: "),
                  ("was installed before R", r"was installed before R \d[\d.]{0,5}: please re-install it"),
                  ("loadable library and perl binaries are mismatched", "loadable library and perl binaries are "
                                                                        "mismatched")],
     'unless': ["library of another version", "C library too old", "C++ library too old"],
     'cause': "The Perl or R that runs has no package {perl}{r}, or one that was made for another release: another "
              "perl or R comes first on PATH (conda, a module, the host's in a container), or PERL5LIB, R_LIBS or your "
              "home (~/R, ~/perl5) lead to packages of another one.",
     'remedy': "type -a perl R Rscript; unset PERL5LIB PERL_LOCAL_LIB_ROOT R_LIBS R_LIBS_USER (apptainer exec "
               "--cleanenv --no-home). If it is not there at all: conda install perl-NAME or r-NAME, cpanm NAME, "
               "install.packages('NAME') in the same environment.",
     'source': "perlrun(1), PERL5LIB; github.com/bioconda/bioconda-recipes, issues 25708 and 17503",
     'evidence': 'derived'},
    {'name': "files of the image that its maker may not read",
     'text': "FATAL: While performing build: sandbox assemble failed: exit status 1: mv: cannot access '...': "
             "Permission denied",
     'patterns': [("andbox ", r"[Ss]andbox [Aa]ssemble [Ff]ailed[^\n]{0,250}[Pp]ermission denied")],
     'cause': "Folders of the image lack the rights of their owner, so that they cannot be moved from TMPDIR to the "
              "sandbox.",
     'remedy': "apptainer build --fix-perms --sandbox FOLDER ...; or APPTAINER_TMPDIR on the same disk as FOLDER; or "
               "build a SIF first, and the sandbox from it.",
     'source': "Apptainer user guide, build, --fix-perms; github.com/apptainer/singularity, issues 3892 and 4524",
     'evidence': 'measured'},
    {'name': "language that a C++ program wants",
     'text': "terminate called after throwing an instance of 'std::runtime_error' what(): "
             "locale::facet::_S_create_c_locale name not valid",
     'patterns': ["locale::facet::_S_create_c_locale name not valid", "collate_byname<char>::collate_byname failed "
                                                                      "to construct",
                  ("unsupported locale setting", r"locale\.Error: unsupported locale setting")],
     'cause': "Your language setting (LANG, LC_ALL) came into the container or to the node, which does not have it, "
              "and this program ends instead of warning.",
     'remedy': "export LC_ALL=C (or C.UTF-8); unset LANGUAGE; apptainer exec --env LC_ALL=C. In the image: apt install "
               "locales; locale-gen en_US.UTF-8 (dnf install glibc-langpack-en).",
     'also': [("the program itself asks for en_US, whatever is set", "locale -a, which lists what is there")],
     'source': "setlocale(3); github.com/TileDB-Inc/TileDB-VCF, issue 376; github.com/bh107/bohrium, issue 409",
     'evidence': 'measured'},
    {'name': "certificates that a program does not find",
     'text': "curl: (77) error setting certificate verify locations: CAfile: /etc/ssl/certs/ca-certificates.crt "
             "CApath: none",
     'patterns': ["error setting certificate verify locations", "unable to get local issuer certificate",
                  "CERTIFICATE_VERIFY_FAILED", "self signed certificate in certificate chain",
                  "self-signed certificate in certificate chain",
                  "find a suitable TLS CA certificate",
                  "server certificate verification failed"],
     'unless': ["registry not reached", "source file that EasyBuild does not find"],
     'cause': "The program cannot check the server's certificate: the list of authorities is not in the image (Debian "
              "and Red Hat have it at different places), a variable of the host leads to one that is not there, or a "
              "proxy of the site signs with its own.",
     'remedy': "In the image: apt install ca-certificates. For now: --bind /etc/pki,/etc/ssl of the host, and export "
               "SSL_CERT_FILE=FILE CURL_CA_BUNDLE=FILE REQUESTS_CA_BUNDLE=FILE with a file that is there; unset them "
               "if they lead nowhere (env | grep -i -E 'ssl|ca_bundle').",
     'source': "curl(1), --cacert; SSL_CTX_load_verify_locations(3); github.com/moparisthebest/static-curl, issue 5",
     'evidence': 'derived'},
    {'name': "Java that gets no memory",
     'text': "Error occurred during initialization of VM / Could not reserve enough space for 50331648KB object heap",
     'patterns': [("Could not reserve enough space for ", r"Could not reserve enough space for "
                                                          r"(?:(?P<size>\d+[KMG]B) )?object heap"),
                  ("Could not allocate metaspace", r"Could not allocate metaspace(?:: (?P<bytes>\d+ bytes))?"),
                  ("insufficient memory for the Java Runtime Environment", "insufficient memory for the Java Runtime "
                                                                           "Environment"),
                  "Could not reserve enough space for code cache",
                  ("pthread_create failed (EAGAIN)", r"Failed to start thread [^\n]{1,60}pthread_create failed "
                                                     r"\(EAGAIN\)")],
     'cause': "Java reserves all of its heap (-Xmx, -Xms) when it starts, and some more, and the job or a limit "
              "(ulimit -v, h_vmem, ulimit -u for threads) does not allow it. {size}{bytes}",
     'remedy': "Ask for more than the heap (-Xmx plus 2 to 4 GB), or a smaller heap: export _JAVA_OPTIONS='-Xmx4g "
               "-XX:ParallelGCThreads=2' (Nextflow itself: NXF_OPTS='-Xms500m -Xmx4g'). srun bash -c 'ulimit -v; "
               "ulimit -u'.",
     'source': "java(1), -Xmx; github.com/nf-core/sarek, issue 1332; github.com/riboviz/riboviz, issue 375",
     'evidence': 'measured'},
]
