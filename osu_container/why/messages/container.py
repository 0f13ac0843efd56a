"""Messages of Apptainer, Singularity, and the modules and images of this project."""

from typing import Any, Dict, List

ENTRIES: List[Dict[str, Any]] = [
    {
        'name': "bound file missing",
        'patterns': [
            (" doesn't exist", r"mount source (?P<path>\S+) doesn't exist"),
            (
                "skipping mount of ",
                r"skipping mount of (?P<path>[^\s:]+)(?!: permission denied)(?:[:\s]|$)",
            ),
        ],
        'cause': "A bind names {path}, but this path does not exist on the host. Apptainer then "
        "starts no container; SingularityCE may only warn, and the program then loads another "
        "library.",
        'remedy': "If your --bind option, SINGULARITY_BIND or APPTAINER_BIND names the path, "
        "correct the name (`ls -l PATH` on that node shows whether the path exists). If a module "
        "of this project binds the path, the host has changed since the installation: install the "
        "module again with `eb osu-container-APPROACH.eb -r --rebuild`.",
        'source': "Apptainer 1.4.5, seen by this project, 2026-11; "
        "github.com/Lumi-supercomputer/LUMI-EasyBuild-contrib, issue 422, 2026",
        'unless': ["no place for a bind"],
    },
    {
        'name': "no place for a bind",
        'patterns': [
            (
                " doesn't exist",
                r"while mounting \S{1,300}: destination (?P<path>\S+) doesn't exist",
            ),
            (
                "doesn't exist",
                r"Target \S{1,200}/mnt/(?:session/)?final(?P<path>/\S{1,300}) doesn't exist",
            ),
            ("FAILED to find user volume to: ", r"FAILED to find user volume to: (?P<path>\S+)"),
            (
                " destination automatically without overlay",
                r"can't create (?P<path>\S{1,300}) destination automatically without overlay",
            ),
            (
                "nt bind point (",
                r"[Nn]on.exist[ae]nt bind point \([a-z]{1,20}\) in container: "
                r"'?(?P<path>(?!/etc/)[^'\s]{1,300})",
            ),
        ],
        'cause': "{path} is to be bound into the container, but the image has no such folder and "
        "the runtime cannot create one. Either an image is being built, or the runtime has no "
        "overlay (Singularity 2, Charliecloud).",
        'remedy': "Unload the module before you run `singularity build`. Otherwise create the "
        "folder in the image (`mkdir -p PATH` in %post, or `ch-run -w IMAGE -- mkdir -p PATH`), "
        "or ask the administrators to enable overlay in the configuration of the runtime.",
        'source': "LUMI training 2026-04, Containers",
    },
    {
        'name': "two sets of binds",
        'patterns': [
            (
                " have different values, using the latter",
                r"SINGULARITY_(?:BIND|BINDPATH) and APPTAINER_\w{1,60} have different values, using the latter",
            ),
            (
                " is set, but APPTAINER_",
                r"SINGULARITY_(?:BIND|BINDPATH) is set, but APPTAINER_\w{1,60} is preferred",
            ),
        ],
        'cause': "You have set SINGULARITY_BIND and the module has set APPTAINER_BIND. If you "
        "start apptainer by hand, apptainer ignores SINGULARITY_BIND.",
        'remedy': "Use the commands of the module (osu_*, osu-exec, osu-shell), which combine "
        "both variables, or add your folders to APPTAINER_BIND as well.",
        'source': "Apptainer 1.4.5, seen by this project, 2026-11",
    },
    {
        'name': "image cannot be read",
        'patterns': [
            (
                "could not open image ",
                r"FATAL: {2,}could not open image (?P<path>\S+?): (?P<why>.*)",
            ),
            (
                ": not a squashfs root filesystem",
                r"while extracting (?P<path>\S{1,300}): (?P<why>not a squashfs root filesystem)",
            ),
        ],
        'cause': "The image {path} does not exist, is not readable, or is not a container image "
        "({why}).",
        'remedy': "Load the module of the image with `module load NAME`: the module prints the "
        "command that restores the image. If the file is very small, a web page was downloaded "
        "instead of the image: copy the image again and check the copy with `osu-container image "
        "verify FILE`.",
        'source': "Apptainer 1.4.5, seen by this project, 2026-11",
    },
    {
        'name': "signature refused",
        'patterns': [
            "while checking container image with ECL",
            ("signature object ", r"signature object \d+ not valid"),
        ],
        'cause': "This system runs only images that are signed by a key that the administrators "
        "trust (ecl.toml), or the signature does not match the image.",
        'remedy': "Ask the administrators which signatures the system accepts. If your image has "
        "one of these signatures, the file is damaged: copy the image again.",
        'source': "github.com/apptainer/apptainer, issue 1805",
    },
    {
        'name': "program not in the image",
        'patterns': [
            (
                '": executable file not found in $PATH',
                r'(?:FATAL: {2,}|OCI runtime[^\n]{0,300}|crun: |runc[^\n]{0,100}: |container process[^\n]{0,100}: '
                ')(?:exec: )?"(?P<program>(?!(?:sqfstar|tar2sqfs|mksquashfs|unsquashfs|crun|runc|newuidmap'
                r'|proot)")[^"\n]+)": executable file not found in \$PATH',
            ),
            (
                ": no such file or directory",
                r'FATAL: {2,}"(?P<program>[^"\n]{1,200})": stat [^\n]{1,200}: no such file or directory',
            ),
            (
                ".singularity.d/actions/",
                r"\.singularity\.d/actions/\w+:(?: line)? \d+: (?:exec: )?(?P<program>[^\s:]{1,200}): not found",
            ),
            (
                ": no such file or directory",
                r'(?:OCI runtime|container process|crun:|runc)[^\n]{0,300}exec: '
                r'"(?P<program>(?![^"\n]{0,100}(?:nvidia-container|squash|fuse|newuidmap'
                r'|newgidmap))[^"\n]{1,200})": stat [^\n]{1,200}: no such file or directory',
            ),
            (
                "failed: no such file or directory",
                r"FATAL: {2,}exec (?P<program>\S{1,200}) failed: no such file or directory",
            ),
        ],
        'cause': "The image does not contain the program {program}. Or the program exists, but "
        "its interpreter (first line) or its loader (ELF header) does not exist.",
        'remedy': "Look for the program with `singularity exec IMAGE ls -l PATH` and `singularity "
        "exec IMAGE sh -c 'echo $PATH'`. In a module of this project, `module help` lists the "
        "benchmarks and `osu-exec ls /opt` shows other programs. An image that was built without "
        "the OSU source archive contains only the mpi4py ports of the OSU benchmarks, which are "
        "fewer.",
        'source': "Apptainer 1.4.5, seen by this project, 2026-11",
        'also': [
            (
                "the program is in the home folder of the image, which your own home folder "
                "hides, or .bashrc of the image sets PATH",
                "apptainer exec --no-home IMAGE PROGRAM",
            )
        ],
    },
    {
        'name': "no right to mount",
        'patterns': ["failed to open /dev/fuse", "fuse: device not found"],
        'cause': "A program that mounts a file system through FUSE (Apptainer, an AppImage) has "
        "no permission to open /dev/fuse.",
        'remedy': "To start without FUSE, run `apptainer exec --unsquash`, or set `export "
        "MPI_CONTAINER_OPTIONS=--unsquash` for the commands of the module; both unpack the image "
        "into $TMPDIR at each start. To allow FUSE, root runs `modprobe fuse; chmod 666 "
        "/dev/fuse`; a CI container needs --privileged or --device /dev/fuse.",
        'source': "seen by this project, 2026-11",
    },
    {
        'name': "no user namespaces",
        'patterns': [
            (
                "ailed to create user namespace",
                r"(?:ERROR|FATAL)[^\n]{0,200}[Ff]ailed to create user namespace(?!: (?:maximum|No space))",
            ),
            "Failed to create container process: Operation not permitted",
            "Failed to create container process: No space left on device",
            "can't init user+mount namespaces",
        ],
        'cause': "The container runtime lacks a permission that it needs as this user: to create "
        "user namespaces, or to keep its capabilities.",
        'remedy': "On Ubuntu 24.04, root runs `sysctl "
        "kernel.apparmor_restrict_unprivileged_userns=0`. If root lacks capabilities, set 'root "
        "default capabilities = file' in apptainer.conf. LUMI disables user namespaces on "
        "purpose: on LUMI, `osu-container image build` uses SingularityCE with PRoot (`module "
        "load LUMI PRoot`).",
        'source': "github.com/apptainer/apptainer, issues 1038, 1294, 2360 and 2457; seen by this "
        "project, 2026-11; LUMI training 2026-04, Containers",
        'also': [
            (
                "user namespaces are disabled on this system",
                "sysctl user.max_user_namespaces, which must not print 0",
            ),
            (
                "the system is WSL 1 of Windows, which has no Linux kernel",
                "uname -r; wsl --set-version NAME 2",
            ),
            (
                "the runtime needs its setuid program, which an installation without root (conda, "
                "spack) cannot set up",
                "ls -l LIBEXEC/apptainer/bin/starter-suid",
            ),
        ],
    },
    {
        'name': "a folder of another stage with PRoot",
        'patterns': [
            (
                "unable to copy files from stage",
                r"unable to copy files from stage .{1,300} chown (?P<path>\S{1,300}): operation not permitted",
            )
        ],
        'cause': "SingularityCE gives the ownership of each folder that %files copies from "
        "another stage to root ({path}). With PRoot, no process has the right to do so.",
        'remedy': "Pack the folder with tar at the end of that stage, copy the single archive, "
        "and unpack the archive in %post with `tar --no-same-owner`, as the definition files of "
        "this project do.",
        'source': "github.com/sylabs/singularity 40ef481, internal/pkg/build/stage.go; "
        "SingularityCE 4.1.3 with PRoot",
    },
    {
        'name': "started inside the container",
        'patterns': [
            (
                "; containers do not nest",
                r"already in the container \S{0,300}; containers do not nest",
            ),
            ("rapper called from another container", "[Ww]rapper called from another container"),
        ],
        'cause': "A command of the module was called inside the container, and a container cannot "
        "start another container.",
        'remedy': "Inside the container, call the program itself (osu_bw is on PATH there), or "
        "start the command of the module on the host.",
        'source': "scripts/run-in-container; github.com/CSCfi/hpc-container-wrapper",
    },
    {
        'name': "module not loaded",
        'patterns': [
            (
                "call-settings is missing, so this is no installation",
                r"(?<!\S)(?P<path>\S+)/call-settings is missing, so this is no installation",
            )
        ],
        'cause': "The wrapper was called from a folder that is not an installation, or files of "
        "the installation {path} were deleted.",
        'remedy': "Load the module with `module load NAME/APPROACH` (for example "
        "osu-container/hybrid), which puts its commands on PATH. If these commands print this "
        "message, install the module again with `eb osu-container-APPROACH.eb -r --rebuild`.",
        'source': "scripts/run-in-container",
    },
    {
        'name': "nothing bound for the entrypoint",
        'patterns': [("there is no ", r"there is no (?:/host/lib|libfabric\.so\.1 in /host/lib)")],
        'cause': "The entrypoint of the image looks for the host's libfabric in /host/lib, but "
        "libfabric does not exist there.",
        'remedy': "`module load osu-container/swap` binds the folder of libfabric. By hand, use "
        "`--bind FOLDER:/host/lib,/usr:/host/usr`; `pkg-config --variable=libdir libfabric` "
        "prints FOLDER. If libfabric.so.1 is a symbolic link, bind the folder of its target as "
        "well.",
        'source': "container-recipes/entrypoint/osu-entrypoint",
    },
    {
        'name': "host library does not fit the image",
        'patterns': [
            (
                ", which is not in ",
                r"(?<![^\s:])(?P<by>[^\s:]+) needs (?P<version>[A-Z]\w{0,60}_[\w.]{1,60}), which is not in "
                r"(?P<library>[^\s:]+)",
            )
        ],
        'cause': "{by} was built with a newer version of {library} and needs the symbol version "
        "{version}. The entrypoint noticed this before the program started.",
        'remedy': "If the version begins with FABRIC_, use an image whose MPI was built with a "
        "libfabric that is not newer than the host's, or use approach opensource. If the version "
        "begins with GLIBC_, use an image of a distribution at least as new as the host's. With "
        "`export OSU_SWAP=0` the program uses the libfabric of the image.",
        'source': "container-recipes/entrypoint/osu-entrypoint",
    },
    {
        'name': "library of the host not bound",
        'patterns': [
            (
                " is neither in the image nor in the folders of the host",
                r"(?<!\S)(?P<library>\S+) is neither in the image nor in the folders of the host",
            )
        ],
        'cause': "The host's libfabric needs {library}, but the entrypoint finds this library "
        "neither in the image nor below /host.",
        'remedy': "Bind /usr of the host to /host/usr. If the library is elsewhere on the host, "
        "bind its folder too and add the path inside the container to OSU_SWAP_PATH. If you use "
        "the module, install the module again: the installation searches for such folders.",
        'source': "container-recipes/entrypoint/osu-entrypoint",
    },
    {
        'name': "function of a library missing",
        'patterns': [
            (
                ", which no library has",
                r"(?<!\S)(?P<by>\S+) needs the function (?P<symbol>\S+), which no "
                r"library has",
            )
        ],
        'cause': "{by} calls the function {symbol}, which no library of the host or the image "
        "contains. The libraries come from different builds.",
        'remedy': "If the name begins with cxi, the host's libcxi is older than its libfabric, or "
        "another libcxi precedes the host's on the library path. Otherwise use another image, or "
        "approach opensource.",
        'source': "container-recipes/entrypoint/osu-entrypoint",
    },
    {
        'name': "swap defeated by DT_RPATH",
        'patterns': [
            (
                " would be loaded all the same: a DT_RPATH",
                r"(?<!\S)(?P<library>\S+) would be loaded all the same: a DT_RPATH",
            )
        ],
        'cause': "The MPI of the image names the folder of its own libfabric, {library}, in "
        "DT_RPATH. No environment variable can override DT_RPATH.",
        'remedy': "In the image, run `patchelf --set-rpath FOLDER LIBRARY`, which writes "
        "DT_RUNPATH instead of DT_RPATH. Libraries in conda environments have a DT_RPATH by "
        "default.",
        'source': "container-recipes/entrypoint/osu-entrypoint; ld.so(8)",
    },
    {
        'name': "static program behind the entrypoint",
        'patterns': [
            (
                " is linked statically: no library can be put before its own",
                r"(?<!\S)(?P<program>\S+) is linked statically: no library can be put before its own",
            )
        ],
        'cause': "{program} is statically linked, so it cannot load the host's libfabric.",
        'remedy': "Start the program with `apptainer exec` or `singularity exec`, or set `export "
        "OSU_SWAP=0`. Or link the program with shared libraries.",
        'source': "container-recipes/entrypoint/osu-entrypoint",
    },
    {
        'name': "image without loader of glibc",
        'patterns': ["the image has no loader of glibc"],
        'cause': "The image does not use glibc (for example Alpine, which uses musl), but the "
        "host's libraries are built for glibc.",
        'remedy': "Use approach pure or opensource, or an image based on glibc (Debian, Ubuntu, "
        "openSUSE, Rocky).",
        'source': "container-recipes/entrypoint/osu-entrypoint",
    },
    {
        'name': "no folder for links",
        'patterns': [
            "no folder for links can be made in",
            "mktemp could not make a folder in",
            "links cannot be made in",
        ],
        'cause': "The entrypoint of the image creates a few symbolic links in TMPDIR, /tmp or "
        "/dev/shm, but it cannot write to any of these folders, or they are full.",
        'remedy': "Run `export TMPDIR=FOLDER` with a writable folder that is bound into the "
        "container, or free some space.",
        'source': "container-recipes/entrypoint/osu-entrypoint",
    },
    {
        'name': "RCCL plugin does not load with the host",
        'patterns': ["the plugin of RCCL does not load with it"],
        'cause': "The RCCL plugin of the image was built with a newer libfabric than the host's, "
        "so RCCL falls back to TCP.",
        'remedy': "Use an image whose RCCL plugin was built with a libfabric that is not newer "
        "than the host's, or use approach opensource.",
        'source': "container-recipes/entrypoint/osu-entrypoint",
    },
    {
        'name': "unknown OSU_SWAP",
        'patterns': [(" is unknown", r"OSU_SWAP=(?P<value>\S{0,300}) is unknown")],
        'cause': "The entrypoint of the image reads the variable OSU_SWAP, and does not know its "
        "value {value}.",
        'remedy': "Run `export OSU_SWAP=require`, `export OSU_SWAP=0` or `unset OSU_SWAP`.",
        'source': "container-recipes/entrypoint/osu-entrypoint",
    },
    {
        'name': "libfabric of the host cannot be taken",
        'patterns': [
            (
                "the libfabric of the ",
                r"the libfabric of the (?:host cannot take the place of the image\S{0,300}|image is used, not the "
                r"host's): (?P<reason>[^\n]{1,600})",
            )
        ],
        'cause': "The entrypoint of the image could not replace the image's libfabric with the "
        "host's. Its reason: {reason}",
        'remedy': "Fix the reason that this line names; the section on swap in docs/approaches.md "
        "lists what the image and the binds must provide. With `export OSU_SWAP=0` the program "
        "uses the libfabric of the image.",
        'source': "container-recipes/entrypoint/osu-entrypoint",
        'last': True,
    },
    {
        'name': "image gone",
        'patterns': [
            (
                " is missing or cannot be read",
                r"the image (?P<path>\S+) is missing or cannot be read",
            ),
            (
                "image",
                r"The\s+image\s+(?P<path>\S+)\s+is\s+gone(?:\. ?(?:Get|To\s)|:\s+\w+\s+owner\s+has)",
            ),
        ],
        'cause': "The image {path} was deleted after the installation, or you have no permission "
        "to read the image.",
        'remedy': "Load the module of the image with `module load NAME`: the module prints the "
        "command that restores the image.",
        'source': "scripts/run-in-container",
    },
    {
        'name': "image of LUMI's module gone",
        'patterns': [
            (
                "singularity",
                r"Cannot\s+locate\s+the\s+singularity\s+container\s+file\s+(?P<path>\S+)",
            )
        ],
        'cause': "A container module of LUMI does not find its image {path}, neither in the "
        "installation nor in LUMI's central folder. LUMI removes old images from the central "
        "folder.",
        'remedy': "Install the module again with `eb EASYCONFIG`, or install a newer version: the "
        "repository LUMI-EasyBuild-containers has the current easyconfigs.",
        'source': "github.com/Lumi-supercomputer/LUMI-SoftwareStack, LMOD/SitePackage.lua; Lmod "
        "8.6 and 8.7, seen by this project, 2026-11",
    },
    {
        'name': "container runtime gone",
        'patterns': [
            ("the container runtime ", r"the container runtime (?P<path>\S+) is not there")
        ],
        'cause': "{path} existed when the module was installed. The container runtime does not "
        "exist now, or does not exist on this node.",
        'remedy': "Install the module again with `eb osu-container-APPROACH.eb -r --rebuild`. If "
        "only the compute nodes lack a container runtime, ask the administrators of the system.",
        'source': "scripts/run-in-container",
    },
    {
        'name': "no command",
        'patterns': ["give the command to run in the container"],
        'cause': "osu-exec was called without a command.",
        'remedy': "Give osu-exec a command, for example `osu-exec cat /etc/os-release`. "
        "`osu-shell` starts a shell in the container.",
        'source': "scripts/run-in-container",
    },
    {
        'name': "options without their end",
        'patterns': [
            (
                "put -- between options of ",
                r"put -- between options of (?P<path>\S+) and the command",
            )
        ],
        'cause': "The first argument of osu-exec begins with -, so osu-exec reads it as an option "
        "of {path}. Then -- must mark where the command begins.",
        'remedy': "Put -- before the command, for example `osu-exec --env A=b -- cat "
        "/etc/os-release`. Options for all commands of the module belong in MPI_CONTAINER_OPTIONS.",
        'source': "scripts/run-in-container",
    },
    {
        'name': "variable set and empty",
        'patterns': [(" is set and empty", r"(?<!\w)(?P<name>\w+) is set and empty\b")],
        'cause': "The variable {name} selects a file or a folder, but its value is empty.",
        'remedy': "Run `unset {name}`, or give {name} a value.",
        'source': "scripts/run-in-container",
    },
    {
        'name': "proof without its program",
        'patterns': [("OSU_PROOF is set, and ", r"OSU_PROOF is set, and (?P<path>\S+) is missing")],
        'cause': "OSU_PROOF requests a record of each rank, but the program {path}, which writes "
        "the records, is not in the installation.",
        'remedy': "Install the module again from a complete clone of the repository, or run "
        "`unset OSU_PROOF`.",
        'source': "scripts/run-in-container",
    },
    {
        'name': "host has changed",
        'patterns': [
            ("was installed:", r'since\s+this\s+module\s+was\s+installed:\s*[^\s\"]'),
            (
                "installed",
                r"host\s+library\s+.{0,300}\s(?:is\s+gone|has\s+changed)\s+since\s+the\s+module\s+was\s+install"
                "ed",
            ),
        ],
        'cause': "A library of the host, the container image or the loaded software stack differs "
        "from its state when the module was installed.",
        'remedy': "Load the software stack and partition for which the module was installed, or "
        "install the module again with `eb osu-container-APPROACH.eb -r --rebuild`.",
        'source': "seen by this project, 2026-11",
    },
    {
        'name': "user unknown on the node",
        'patterns': [
            "Couldn't determine user account information",
            (" userid ", r"user: (?:unknown|lookup) userid (?P<number>\d+)"),
            "unable to look up current user in the passwd file",
            (
                "whoami: cannot find name for user ID ",
                r"whoami: cannot find name for user ID (?P<number>\d+)",
            ),
            ("getpwuid(): uid not found: ", r"getpwuid\(\): uid not found: (?P<number>\d+)"),
        ],
        'cause': "The number of your account or group ({number}) has no name here. Either the "
        "node does not reach its user directory (LDAP, sssd), or /etc/passwd of the container "
        "does not list you.",
        'remedy': "Start the job on another node (`srun --exclude=NODE`), and tell the "
        "administrators. Thousands of simultaneous starts can overload the user directory; one "
        "container for all ranks of a node avoids the overload. With Docker or podman, add `-v "
        "/etc/passwd:/etc/passwd:ro`, or `-e USER=me -e HOME=/tmp` beside --user, for programs "
        "that look up the user's name.",
        'source': "github.com/apptainer/singularity, issues 5598, 5757 and 4767",
        'also': [
            (
                "only the container does not know your account",
                "srun id -un, which then prints your name",
            )
        ],
    },
    {
        'name': "no loop device",
        'patterns': ["failed to find loop device", "no loop devices available"],
        'cause': "A setuid runtime mounts the image through a loop device, and none was "
        "available: many containers use all of them, a loop device is broken, or this user (for "
        "example in a CI container) has no permission to use one.",
        'remedy': "Start fewer containers on a node: one container can serve all ranks, as with "
        "the commands of the module. `singularity exec --userns` needs no loop device. "
        "Administrators can set 'shared loop devices = yes' and raise 'max loop devices' in "
        "singularity.conf.",
        'source': "github.com/apptainer/singularity, issues 4652 and 2049; "
        "github.com/sylabs/singularity, issue 668",
        'also': [
            (
                "the image file is truncated (unexpected EOF)",
                "singularity sif list FILE; then copy the image again",
            )
        ],
        'unless': ["loop device taken by another start"],
    },
    {
        'name': "image not mounted",
        'patterns': [
            ("squashfuse", r"squashfuse\w{0,8} (?:instance )?exited(?!: fuse: failed to unmount)"),
            "A fusermount error may indicate",
            (": mount failed", "fusermount3?: mount failed"),
        ],
        'cause': "The runtime mounts the image with squashfuse, and squashfuse terminated. "
        "Possible reasons: a kernel older than 4.18 does not let users mount FUSE in a namespace, "
        "users cannot open /dev/fuse, or the image file is incomplete.",
        'remedy': "Run `apptainer exec --unsquash` (SingularityCE: `singularity exec --userns`), "
        "which unpacks the image instead of mounting it. Administrators can install "
        "apptainer-suid or a newer kernel.",
        'source': "Apptainer 1.3, its own hint; github.com/apptainer/apptainer, issues 778 and "
        "2324",
        'also': [
            (
                "users have no permission to open /dev/fuse",
                "ls -l /dev/fuse, which should print crw-rw-rw-",
            ),
            ("the image file is damaged", "apptainer sif list FILE"),
        ],
        'unless': [
            "no right to mount",
            "fusermount not installed",
            "library of another version",
            "image damaged",
        ],
    },
    {
        'name': "no fakeroot",
        'patterns': [
            ("idmap' execution failed", "'new[gu]idmap' execution failed"),
            "while copying pseudo devices",
        ],
        'cause': "Building as an ordinary user needs fakeroot: either a range of user IDs that "
        "the system assigns to you (/etc/subuid, newuidmap), or the command fakeroot. Neither "
        "works here.",
        'remedy': "Install fakeroot beside apptainer and run `apptainer build --ignore-subuid`, "
        "or build the image on another machine and copy the SIF file. Administrators can install "
        "uidmap and run `apptainer config fakeroot --add USER`.",
        'source': "apptainer.org, user guide, Fakeroot; github.com/apptainer/apptainer, issues "
        "1751 and 2190",
        'also': [
            (
                "your group on this node differs from your group in /etc/passwd",
                "id -g; getent passwd $USER",
            )
        ],
    },
    {
        'name': "overlay in use",
        'patterns': [
            (
                ", currently in use",
                r"can't open (?P<path>\S+) for (?:reading|writing), currently in use",
            )
        ],
        'cause': "Only one container at a time can write to the overlay {path}, and another "
        "container uses this overlay: the container of another rank or of an earlier run.",
        'remedy': "Open the overlay read-only with `--overlay FILE:ro` if several ranks use it, "
        "or give each rank an overlay of its own (`--overlay FILE.$SLURM_PROCID`).",
        'source': "github.com/apptainer/singularity, issues 5577 and 6196",
        'also': [("a container of an earlier run still exists", "pgrep -u $USER -a starter")],
    },
    {
        'name': "kernel too old",
        'patterns': ["FATAL: kernel too old"],
        'cause': "The C library of the image needs a newer kernel than the kernel of this node. A "
        "container always uses the host's kernel.",
        'remedy': "Use an image of an older distribution. `uname -r` prints the version of the "
        "kernel; kernel 2.6.32 runs Ubuntu 16.04 and CentOS 7.",
        'source': "glibc, sysdeps/unix/sysv/linux/dl-sysdep.c; "
        "github.com/trinityrnaseq/trinityrnaseq, issue 989",
    },
    {
        'name': "overlay cannot be opened",
        'patterns': [
            (
                "failed to open overlay image ",
                r"failed to open overlay image (?P<path>\S+?): (?!while locking)(?P<why>[^\n]{1,100})",
            )
        ],
        'cause': "The overlay {path} cannot be opened ({why}): you have no permission to read or "
        "write the file, or the file is not an overlay.",
        'remedy': "Check the permissions with `ls -l {path}`: you need to read the file, and to "
        "write it unless :ro follows its name. `apptainer overlay create --size 1024 FILE` "
        "creates a new overlay.",
        'source': "github.com/sylabs/singularity, issue 786",
    },
    {
        'name': "runtime older than the image",
        'patterns': [("Unknown image format/type: ", r"Unknown image format/type: (?P<path>\S+)")],
        'cause': "The runtime does not know the format of {path}. Singularity 2 cannot read SIF "
        "files, which need Singularity 3.0 or newer.",
        'remedy': "Check the version with `singularity --version`, and use Apptainer or "
        "Singularity 3.0 or newer.",
        'source': "github.com/irlab-sdu/fuzi.mingcha, issue 17; github.com/yihongXU/deepMOT, "
        "issue 37",
        'also': [("the file is damaged or not an image", "file IMAGE")],
    },
    {
        'name': "image not there",
        'patterns': [
            ("mage path doesn't exist", "[Ii]mage path doesn't exists?"),
            (
                ": no such file or directory",
                r"FATAL: {2,}(?:stat|lstat|open) (?P<path>(?!/proc/|/dev/)\S{1,300}): no such file or directory",
            ),
        ],
        'cause': "The image {path} does not exist.",
        'remedy': "Check the path with `ls -l IMAGE`. A relative path refers to the current "
        "folder, which may be a different folder in a job.",
        'source': "Singularity 2; github.com/swords123/IDA-3D, issue 17",
    },
    {
        'name': "host's fakeroot in another image",
        'patterns': [
            "libs/faked: not found",
            ("error while starting the", "error while starting the .faked. daemon"),
        ],
        'cause': "The option --fakeroot runs the host's command fakeroot inside the container, "
        "where it does not work: the image uses musl (for example Alpine), or its C library is "
        "older than the host's.",
        'remedy': "Add `--ignore-fakeroot-command`, or install fakeroot in the image. Or ask the "
        "administrators for a range in /etc/subuid and /etc/subgid, with which the command "
        "fakeroot is not needed.",
        'source': "github.com/apptainer/apptainer, issue 2932; Apptainer user guide, fakeroot",
        'unless': ["C library too old"],
    },
    {
        'name': "no numbers of users lent",
        'patterns': ["User not listed in /etc/subuid"],
        'cause': "/etc/subuid does not list you, or assigns fewer than 65536 user IDs to you. A "
        "container with --fakeroot then has only one user.",
        'remedy': "This warning is mostly harmless; packages that change the owner of files may "
        "fail to install. Administrators can run `singularity config fakeroot --add USER`, or "
        "`usermod --add-subuids 100000-165535 --add-subgids 100000-165535 USER`.",
        'source': "github.com/apptainer/apptainer, issue 692",
        'last': True,
    },
    {
        'name': "registry's limit of pulls",
        'patterns': [
            "toomanyrequests",
            ("pull rate limit", "reached your (?:unauthenticated )?pull rate limit"),
        ],
        'cause': "Docker Hub limits the number of images that one network address may pull within "
        "some hours. All users of a login node share one address.",
        'remedy': "Log in with your own account: `apptainer remote login docker://docker.io` "
        "(Singularity: `singularity remote login docker://docker.io`; Docker: `docker login`). Or "
        "try again later, or pull the image from another registry (quay.io, ghcr.io).",
        'source': "github.com/antimony-team/antimony, issue 1",
    },
    {
        'name': "fusermount not installed",
        'patterns': [("failed to exec fusermount", "failed to exec fusermount3?")],
        'cause': "Programs that mount a file system through FUSE call fusermount or fusermount3, "
        "and this node has neither.",
        'remedy': "Administrators can install fuse3 (and fuse for older programs). Without FUSE, "
        "use `apptainer exec --unsquash`, or unpack the image with `apptainer build --sandbox "
        "FOLDER IMAGE`. An AppImage unpacks itself with --appimage-extract.",
        'source': "github.com/apptainer/apptainer, issue 778; github.com/hael/SIMPLE, issue 14",
    },
    {
        'name': "working folder not in the container",
        'patterns': [
            (
                "container working directory",
                r"container working directory.{0,40} (?:/\S{1,300}?)?:? ?chdir (?P<folder>\S{1,300}?): ",
            ),
            "Z: chdir: No such file or directory",
            (
                ": No such file",
                r"/bin/bash: (?:line \d+: )?(?P<folder>\S{0,300}\.command\.(?:sh|run|stub)): No such file",
            ),
        ],
        'cause': "The current folder (with Nextflow the folder of the task), or your home folder, "
        "is not in the container. The program starts in another folder or does not start: {folder}",
        'remedy': "Bind the folder with `--bind FOLDER` (or with `export SINGULARITY_BIND=FOLDER` "
        "or `export APPTAINER_BIND=FOLDER`), start in a folder that is bound, or name one with "
        "--pwd. Give the program absolute paths. For Nextflow, set singularity.autoMounts = true "
        "or singularity.runOptions = '--bind /FOLDER' in nextflow.config; for a symbolic link, "
        "bind the link and its target (`realpath FOLDER`).",
        'source': "github.com/IDEALLab/EngiBench, issue 155; github.com/apptainer/singularity, "
        "issue 2778",
        'also': [
            (
                "--no-home, --contain or --home removes the folder from the container",
                "env | grep -E '^(SINGULARITY|APPTAINER)_'",
            )
        ],
        'unless': ["no place for the home folder"],
    },
    {
        'name': "no place for the home folder",
        'patterns': [
            (
                "bind point does not exist in container: ",
                r"bind point does not exist in container: (?P<path>\S+)",
            ),
            (
                "home directory does not exist within the container: ",
                r"home directory does not exist within the container: (?P<path>\S+)",
            ),
        ],
        'cause': "Your home folder cannot be bound, because the image has no folder {path} and "
        "the runtime cannot create one: the runtime is Singularity 2, or overlay and underlay are "
        "disabled.",
        'remedy': "Create the folder when the image is built (`mkdir -p PATH`), use a newer "
        "runtime, or run `singularity exec --home $PWD:/home/me`.",
        'source': "github.com/apptainer/singularity, issue 295; "
        "github.com/assemblerflow/flowcraft, issue 102",
    },
    {
        'name': "overlay not mounted in time",
        'patterns': [
            (
                " failed to mount ",
                r"(?P<program>fuse2fs|fuse-overlayfs|squashfuse\w{0,60}|gocryptfs) failed to mount \S{1,300} in "
                r"\d+s",
            )
        ],
        'cause': "{program} did not mount an image within ten seconds, because the file system of "
        "the image was too slow: a large overlay is checked first, or the disk is overloaded.",
        'remedy': "Try again. Put the overlay on a faster disk, create a smaller or a --sparse "
        "overlay, or use a folder as the overlay.",
        'source': "github.com/apptainer/apptainer, issues 1033 and 1232",
    },
    {
        'name': "image mounted in vain",
        'patterns': [
            (
                "failed to mount squashfs filesystem: ",
                r"failed to mount squashfs filesystem: (?P<why>[^\n]{1,60})",
            ),
            ("can't mount image ", r"can't mount image [^\n]{1,200}: (?P<why>[^\n]{1,60})"),
            (
                "kernel reported a bad superblock for ",
                r"kernel reported a bad superblock for (?P<why>[^\n,]{1,60})",
            ),
        ],
        'cause': "The kernel could not mount the image ({why}). The file may be truncated or "
        "damaged, or compressed with a method (zstd, lz4) that this kernel or runtime does not "
        "support. The kernel may lack squashfs (`modprobe squashfs`) or be too new for "
        "Singularity 2. Or the file is on a file system from which nothing can be mounted (a "
        "Windows disk, an encrypted disk).",
        'remedy': "Compare the size and sha256sum of the image with the original and copy the "
        "image again; `singularity sif list FILE` checks the file. Use a newer runtime, or "
        "`--userns` (Apptainer: --unsquash), which unpacks the image instead of mounting it.",
        'source': "Apptainer, internal/pkg/runtime; github.com/apptainer/singularity, issues 1357 "
        "and 5626",
        'unless': ["no loop device"],
    },
    {
        'name': "image damaged",
        'patterns': ["Something went wrong trying to read the squashfs"],
        'cause': "The image file cannot be read to its end: the copy was interrupted, the file is "
        "being replaced, or its file system has an error.",
        'remedy': "Compare the sha256sum of the file and of the original. Copy or pull the image "
        "again, to another file system. If the error occurs on one node only, leave the node out "
        "with `srun --exclude=NODE`.",
        'source': "github.com/apptainer/singularity, issue 5061",
        'unless': ["no user namespaces", "attributes of files that cannot be unpacked"],
    },
    {
        'name': "program that the runtime needs missing",
        'patterns': [
            (
                " not found",
                r"(?:FATAL|ERROR|WARNING|INFO) ?: {1,4}[^\n]{0,600}\b(?P<program>unsquashfs|mksquashfs"
                r"|squashfuse\w{0,60}|fuse2fs|fuse-overlayfs|gocryptfs|cryptsetup|newuidmap|newgidmap|fakeroot"
                "|debootstrap|nvidia-container-cli|proot|crun|runc|conmon)(?: is)? not found(?!, will not)(?: in "
                r"(?:\$?PATH|path)| on)?",
            ),
            (
                'exec: "/',
                r'exec: "/\S{1,100}/(?P<program>nvidia-container-cli|unsquashfs|mksquashfs|squashfuse\w{0,60}'
                r'|fuse2fs|fuse-overlayfs|newuidmap|newgidmap)": stat ',
            ),
            (
                "[ERROR] Command not found: ",
                r"\[ERROR\] Command not found: (?P<program>squashfuse|mksquashfs|unsquashfs|fuse-overlayfs|parallel"
                r"|jq|nvidia-container-cli)\b",
            ),
            (
                ": executable file not found",
                r"exec: ['\x22](?P<program>unsquashfs|mksquashfs|squashfuse\w{0,60}|fuse2fs|fuse-overlayfs|newuidmap"
                r"|newgidmap|fakeroot|crun|runc|sqfstar|tar2sqfs|proot|gocryptfs)['\x22]: executable file not "
                "found",
            ),
        ],
        'cause': "The runtime calls the program {program} of the host, but does not find this "
        "program on PATH or in the folders of its own configuration.",
        'remedy': "Install the package of the program on the node: squashfs-tools, squashfuse, "
        "fuse2fs or e2fsprogs, fuse-overlayfs, uidmap or shadow-utils, or fakeroot. Make sure "
        "that /usr/sbin is on PATH. The entry 'binary path' in apptainer.conf sets a search path "
        "for such programs.",
        'source': "Apptainer, internal/pkg/runtime; github.com/nf-core/mag, issue 702",
        'unless': ["no fakeroot"],
    },
    {
        'name': "image that the registry does not give",
        'patterns': [
            "requested access to the resource is denied",
            (
                " manifest ",
                r"(?:reading|fetching|checking) manifest [^\n]{1,200}: (?P<why>[^\n]{0,80}\b(?:unknown|unauthorized"
                r"|denied|not found)\b[^\n]{0,60})",
            ),
            "image was not found in the library",
        ],
        'cause': "The registry has no image with this name and tag, or gives the image only to "
        "accounts with permission to read it ({why}).",
        'remedy': "Check the address and the tag with `skopeo inspect docker://NAME:TAG`. For a "
        "private image, log in with `apptainer registry login docker://HOST` (older: `apptainer "
        "remote login docker://HOST`), or set APPTAINER_DOCKER_USERNAME and "
        "APPTAINER_DOCKER_PASSWORD.",
        'source': "OCI distribution specification, error codes; Apptainer user guide, registries",
        'unless': [
            "registry's limit of pulls",
            "registry not reached",
            "container run as another user",
        ],
    },
    {
        'name': "registry not reached",
        'patterns': [
            (
                "dial tcp",
                r"(?:(?:docker|container|oci) registry|FATAL: {2,}While|/v2/)[^\n]{0,400}dial tcp[^\n]{0,120}: "
                r"(?P<why>[^\n]{1,80})",
            ),
            (
                "Download did not succeed: 5",
                r"Download did not succeed: (?P<why>5\d\d[^\n<]{0,60})",
            ),
        ],
        'cause': "This node cannot reach the container registry ({why}). Compute nodes often have "
        "no internet access, a proxy may not be set, or the node does not trust the certificate "
        "of the registry.",
        'remedy': "Pull the image on a login node, and use the file in the job. If the site has a "
        "proxy, run `export https_proxy=ADDRESS`. For a registry without TLS, add --no-https.",
        'source': "Go, net/http; Apptainer user guide, registries",
        'unless': ["registry's limit of pulls", "download of an image too slow"],
    },
    {
        'name': "right of root asked for",
        'patterns': ["has to be run with superuser privileges"],
        'cause': "The runtime was asked for an action that needs root here: a build without "
        "fakeroot, or writing into an image. Or the setuid program of the runtime (starter-suid) "
        "is not installed as root.",
        'remedy': "Run `apptainer build --fakeroot` (this needs an entry in /etc/subuid), or "
        "build on another machine. To change a sandbox by hand, run `apptainer shell --fakeroot "
        "--writable FOLDER`. For a setuid installation, LIBEXEC/apptainer/bin/starter-suid must "
        "belong to root and have the setuid bit (`ls -l` shows an s). Without setuid the runtime "
        "needs user namespaces (`sysctl user.max_user_namespaces`).",
        'source': "Apptainer admin guide, Security",
        'general': True,
        'unless': ["no user namespaces", "overlay not possible"],
    },
    {
        'name': "option that the runtime does not know",
        'patterns': [
            (
                "Error for command",
                r"Error for command .\w{1,20}.: (?P<why>unknown (?:shorthand )?flag: [^\n]{1,60})",
            )
        ],
        'cause': "This version of the runtime does not know the option or command, or the option "
        "lacks a value: {why}",
        'remedy': "Check `apptainer --version` and `apptainer exec --help`. Options of the "
        "runtime belong between exec and the image; options of the program follow the program's "
        "name.",
        'source': "Apptainer user guide, Command line",
    },
    {
        'name': "overlay not possible",
        'patterns': [
            (
                "/overlay: operation not permitted",
                r"failed to mount \S{1,300}/overlay: operation not permitted",
            )
        ],
        'cause': "The runtime could not put a writable layer on top of the image. Kernels before "
        "5.11 do not let users do so, an overlay cannot be on Lustre, NFS or GPFS, or the "
        "configuration of the runtime forbids overlays.",
        'remedy': "Put the overlay or sandbox on a local disk (/tmp), or use a file as the "
        "overlay (`apptainer overlay create --size 1024 FILE`). To avoid an overlay, add "
        "--no-overlay and create the folders of all binds in the image. Administrators can "
        "install fuse-overlayfs and set 'enable overlay' in apptainer.conf.",
        'source': "Apptainer admin guide, Overlay; github.com/apptainer/apptainer, issues 1033 "
        "and 1232",
        'general': True,
        'unless': [
            "overlay in use",
            "overlay cannot be opened",
            "overlay not mounted in time",
            "overlay of another user",
        ],
    },
    {
        'name': "writable image refused",
        'patterns': [
            "no SIF writable overlay partition found",
            ("SIF writable overlay", r"SIF writable overlay[^\n]{0,60}"),
            "WARNING: no overlay partition found",
        ],
        'cause': "The option --writable requests to write into the image itself, but a SIF file "
        "is read-only unless it contains an overlay.",
        'remedy': "Use --writable-tmpfs (changes stay in memory) or --overlay FILE, or unpack the "
        "image with `apptainer build --sandbox FOLDER IMAGE` and use --writable FOLDER.",
        'source': "Apptainer user guide, Persistent overlays",
        'also': [
            (
                "the kernel module overlay is not loaded, although the SIF file contains an "
                "overlay",
                "lsmod | grep overlay; apptainer sif list FILE",
            )
        ],
        'unless': ["overlay of another user"],
    },
    {
        'name': "instance not there or there already",
        'patterns': [
            (
                " already exists",
                r"FATAL: {2,}[^\n]{0,60}\binstance (?P<name>\S{1,60}) already exists",
            )
        ],
        'cause': "No instance with the name {name} runs on this node, or an instance with this "
        "name exists already.",
        'remedy': "Run `apptainer instance list` on this node as this user. Stop an old instance "
        "with `apptainer instance stop NAME`, then start the instance again.",
        'source': "Apptainer user guide, Running services",
    },
    {
        'name': "program of the image that only root may start",
        'patterns': [
            (
                " failed: permission denied",
                r"FATAL: {2,}exec (?P<file>/\S{1,300}) failed: permission denied",
            )
        ],
        'cause': "The file {file} in the image belongs to root and other users cannot read or "
        "execute it, or the file is not executable. In Docker you are root; with this runtime you "
        "keep your own account.",
        'remedy': "In the recipe of the image, run `chmod -R a+rX FOLDER` and `chmod a+x FILE`. "
        "Until the image is rebuilt, use `apptainer exec --fakeroot`, or unpack the image with "
        "`apptainer build --sandbox --fakeroot FOLDER IMAGE` and run chmod there.",
        'source': "execve(2), EACCES; github.com/jhuguetn/cat12-docker, issue 14",
        'also': [
            (
                "a bind from a disk that is mounted with noexec hides the file",
                "apptainer exec IMAGE ls -l FILE",
            )
        ],
    },
    {
        'name': "runtime that is not there",
        'patterns': [
            (
                "not found",
                r"\b(?P<command>apptainer|singularity|podman|podman-hpc|enroot|sarus|shifter|ch-run|docker)(?:(?: "
                "?: )(?:command )?| command )not found",
            ),
            (
                "No such file or directory: ",
                r"No such file or directory: ['\x22](?P<command>apptainer|singularity|podman|docker"
                r"|enroot)['\x22]",
            ),
            (
                " command has to be available in order to use",
                "(?P<command>singularity|apptainer) command has to be available in order to use",
            ),
        ],
        'cause': "The command {command} is not on PATH: its module is not loaded, the runtime is "
        "not installed on this node, or the command was called inside a container.",
        'remedy': "Run `module load apptainer` (or singularity). `srun which singularity` shows "
        "whether the compute nodes have the runtime. Call the command on the host: a container "
        "cannot start another container.",
        'source': "github.com/ENCODE-DCC/caper, issue 128; "
        "github.com/ComparativeGenomicsToolkit/cactus, issue 1222",
    },
    {
        'name': "container run as another user",
        'patterns': ["no subuid ranges found", "cannot find UID/GID for user", "No subuid"],
        'cause': "Some files of the image belong to user IDs that the system has not assigned to "
        "you: /etc/subuid and /etc/subgid do not list you or assign too few IDs. Or newuidmap, "
        "which maps these IDs, lacks its permission.",
        'remedy': "Check your entries with `grep $USER /etc/subuid /etc/subgid`. Administrators "
        "can run `usermod --add-subuids 100000-165535 --add-subgids 100000-165535 USER` and make "
        "newuidmap setuid root; then run `podman system migrate`. For podman, "
        "ignore_chown_errors=true in storage.conf avoids the need.",
        'source': "subuid(5); podman, troubleshooting; apptainer user guide, Fakeroot",
        'unless': ["no fakeroot"],
    },
    {
        'name': "source of a bind not mounted",
        'patterns': [
            (
                "There was an error binding ",
                r"There was an error binding (?:the path )?(?P<path>\S{1,200})",
            ),
            (
                ": permission denied",
                r"skipping mount of (?P<path>[^\s:]{1,200}): permission denied",
            ),
        ],
        'cause': "{path} could not be bound. Its file system is mounted on demand (autofs) and "
        "was not mounted yet, the path was deleted, or a folder above the path denies access. A "
        "setuid runtime accesses the path as root, which NFS with root_squash and permissions 750 "
        "also denies.",
        'remedy': "List the folder before the command (`ls /oak/ > /dev/null`), so that autofs "
        "mounts the file system. `namei -l PATH` shows which folder lacks x for others: bind a "
        "folder above, or use `apptainer exec --userns`. Remove a missing path from --bind, "
        "SINGULARITY_BIND and singularity.conf.",
        'source': "github.com/apptainer/singularity, issue 1313",
    },
    {
        'name': "configuration of the runtime not to be read",
        'patterns': [
            (
                "configuration file ",
                "[Cc]ould(?:n't| not)(?: not)? parse (?:the )?configuration file "
                r"(?P<file>[^\s:]{0,300}(?:apptainer|singularity|charliecloud|sarus|shifter|podman|containers"
                r"|enroot)[^\s:]{0,100})",
            )
        ],
        'cause': "The runtime cannot find or refuses its configuration file {file}. Its "
        "installation was moved or copied, the runtime was not started by its absolute path, or "
        "the file does not belong to root.",
        'remedy': "Start the runtime by its absolute path (`type -a apptainer` prints it). A "
        "copied installation does not work: install the runtime in the new folder, or use "
        "install-unprivileged.sh, whose result can be moved. For a setuid runtime, root runs "
        "`chown root:root FILE`.",
        'source': "github.com/apptainer/apptainer, issue 958; Apptainer admin guide, Security",
    },
    {
        'name': "current folder closed to the runtime",
        'patterns': [
            (
                " current working directory: ",
                r"Failed to (?:open|restore|change) current working directory: (?P<why>[^\n]{1,60})",
            ),
            "can't determine current working directory",
        ],
        'cause': "The process that starts the container cannot enter the current folder ({why}). "
        "The folder was deleted, belongs to another user (sudo -u), or its file server denies "
        "access to root, and --fakeroot acts as root.",
        'remedy': "Run `cd /tmp` (or change to another folder on a local disk), start again, and "
        "bind the folders that you need. Without --fakeroot the current folder may work. "
        "Administrators can give x to others on the folders above.",
        'source': "github.com/apptainer/apptainer, issue 2769; github.com/apptainer/singularity, "
        "issue 6347",
    },
    {
        'name': "loop device taken by another start",
        'patterns': [
            "Failed to set loop flags on loop device",
            (
                "loop device",
                r"loop device[^\n]{0,120}(?:transient error|please retry|[Rr]esource temporarily "
                "unavailable|[Dd]evice or resource busy)",
            ),
        ],
        'cause': "Several containers started at the same time on a node, and two of them chose "
        "the same loop device. Older runtimes do not retry.",
        'remedy': "Start the job again, or start the ranks one after another (`sleep "
        "$SLURM_LOCALID`), or use one container for all ranks of a node. Administrators can "
        "install Singularity 3.2.1 or newer (a current release is better) and raise 'max loop "
        "devices' in its configuration.",
        'source': "github.com/biocorecrg/master_of_pores, issue 6",
    },
    {
        'name': "command fakeroot of the host not usable",
        'patterns': ["No LD_PRELOAD in fakeroot environment", "while getting fakeroot bindpoints"],
        'cause': "Without a range of user IDs in /etc/subuid, a build uses the host's command "
        "fakeroot, which does not work here: PATH is empty, the build runs inside another "
        "fakeroot, or the fakeroot daemon terminated.",
        'remedy': "Run `export PATH=/usr/bin:/bin:$PATH` and try again, or build with "
        "--ignore-fakeroot-command. The best solution is a range in /etc/subuid and /etc/subgid, "
        "which administrators add with `apptainer config fakeroot --add USER`.",
        'source': "github.com/apptainer/apptainer, issue 603; fakeroot(1)",
    },
    {
        'name': "download of an image too slow",
        'patterns': [
            (
                "Client.Timeout or context cancellation while reading body",
                r"FATAL: {2,}[^\n]{1,300}Client\.Timeout or context cancellation while reading body",
            )
        ],
        'cause': "The download of the image started, but did not finish within the time limit of "
        "the runtime (30 minutes).",
        'remedy': "Download the file with `wget -c URL` or `curl -C - -O URL`, which continue an "
        "interrupted download, and use the file. For a docker:// image, pull again: the cache "
        "keeps the layers that were complete.",
        'source': "github.com/ehw-fit/tf-approximate, issue 2",
    },
    {
        'name': "setuid part of the runtime without its right",
        'patterns': ["No setuid installation found", "Failed to set effective UID to 0"],
        'cause': "apptainer.conf requires the setuid program starter-suid. This program does not "
        "exist, does not belong to root, has no setuid bit, or is on a disk that is mounted with "
        "nosuid.",
        'remedy': "Use `apptainer exec --userns`, which needs no setuid program if user "
        "namespaces are enabled. Administrators can install the package apptainer-suid, or run "
        "`chown root:root` and `chmod 4755` on LIBEXEC/apptainer/bin/starter-suid; `findmnt -T "
        "FILE` shows the mount options.",
        'source': "Apptainer admin guide, Installation",
    },
    {
        'name': "packages that want more than one user",
        'patterns': ["SetupAPTPartialDirectory"],
        'cause': "A package manager changes its user or the owner of files, but this container "
        "has only one user: it was built without user IDs from /etc/subuid or without fakeroot.",
        'remedy': "Run `apptainer build --fakeroot`, with a range in /etc/subuid and /etc/subgid "
        "or with fakeroot installed on the host. For apt, put this line in %post: echo "
        "'APT::Sandbox::User \"root\";' > /etc/apt/apt.conf.d/no-sandbox. For Charliecloud, use "
        "`ch-image build --force`.",
        'source': "apt.conf(5); charliecloud, ch-image --force; Apptainer user guide, Fakeroot",
        'unless': ["container run as another user"],
    },
    {
        'name': "attributes of files that cannot be unpacked",
        'patterns': [
            ("saw forbidden xattr ", r"saw forbidden xattr (?P<what>\S{1,60})"),
            (
                "write_xattr: failed to write xattr ",
                r"write_xattr: failed to write xattr (?P<what>\S{1,60}) for file (?:\S{1,200})",
            ),
            "llistxattr: operation not supported",
        ],
        'cause': "The files of the image have extended attributes (SELinux, capabilities: "
        "{what}), which an ordinary user cannot set or the file system does not store.",
        'remedy': "Use a newer runtime (Apptainer, or Singularity 3.5 or newer), which ignores "
        "these attributes, or set TMPDIR to a folder on another type of file system. By hand, "
        "`unsquashfs -no-xattrs` unpacks an image without its attributes. Ask the authors of the "
        "image to build the image without SELinux.",
        'source': "github.com/apptainer/singularity, issues 4578, 4593 and 6113",
    },
    {
        'name': "links between files that the disk refuses",
        'patterns': [
            ("operation not permitted", r"unpriv\.link: [^\n]{0,100}operation not permitted"),
            (
                "error extracting layer: link ",
                r"error extracting layer: link (?P<path>\S{1,300}) \S{1,300}: operation not permitted",
            ),
        ],
        'cause': "The image contains hard links, and the file system on which the image is "
        "unpacked does not allow them (BeeGFS, some network file systems, "
        "fs.protected_hardlinks). {path}",
        'remedy': "Unpack on a local disk: `mkdir -p /tmp/$USER; export "
        "APPTAINER_TMPDIR=/tmp/$USER SINGULARITY_TMPDIR=/tmp/$USER`, then try again. Or pull the "
        "image on another machine and copy the SIF file.",
        'source': "github.com/apptainer/singularity, issue 3512; "
        "github.com/ComparativeGenomicsToolkit/cactus, issue 408",
    },
    {
        'name': "overlay of another user",
        'patterns': [
            ("setup of overlay upper dir failed", r"setup of overlay upper dir failed[^\n]{0,250}"),
            ("/upper is not writable", r"(?<!\S)\S{1,200}/upper is not writable"),
        ],
        'cause': "The folders upper and work in the overlay belong to root or another user, "
        "because an older Singularity or sudo created the overlay. Without setuid these folders "
        "must belong to you.",
        'remedy': "Create an overlay of your own with `apptainer overlay create --size 1024 "
        "NEW.img`, or open the old one read-only with `--overlay FILE:ro`. Root can mount the "
        "overlay and run `chown -R USER upper work`. A setuid installation (package "
        "apptainer-suid) accepts the overlay unchanged.",
        'source': "github.com/apptainer/apptainer, issue 757",
    },
    {
        'name': "docker:// forgotten",
        'patterns': [("invalid container ref: ", r"invalid container ref: (?P<name>\S{1,100})")],
        'cause': "The runtime looks for a name without docker:// in Sylabs' library (library://), "
        "and this library does not have the image: {name}",
        'remedy': "Run `singularity pull docker://NAME:TAG` for an image from Docker Hub, or name "
        "the registry, for example `singularity pull docker://quay.io/NAME:TAG`.",
        'source': "github.com/StaPH-B/docker-builds, issue 891",
        'unless': ["registry not reached"],
    },
    {
        'name': "file of the host that the runtime shows inside",
        'patterns': [
            (
                "container creation failed: ",
                r"container creation failed: (?:open|stat|lstat) (?P<file>/etc/(?:resolv\.conf|hosts|localtime"
                "|passwd|group|hostname)): no such file",
            )
        ],
        'cause': "The runtime binds the host's {file} into every container, and this file does "
        "not exist. Usually the file is a dangling symbolic link, because the name service of the "
        "node did not start.",
        'remedy': "Check with `ls -lL FILE` on the node. Use another node (`srun "
        "--exclude=NODE`), and tell the administrators, who can run `systemctl restart "
        "systemd-resolved`.",
        'source': "Apptainer admin guide, config resolv_conf; github.com/apptainer/apptainer, "
        "issue 999",
    },
    {
        'name': "clean-up of the container incomplete",
        'patterns': [
            (
                "failed to delete container image",
                r"failed to delete container image (?:tempDir )?(?P<path>[^\s:]{1,300})",
            ),
            ("Cleanup error: while", r"Cleanup error: while (?:unmounting|stopping)[^\n]{0,200}"),
            (
                "Could not remove directory",
                r"Could not remove directory (?P<path>\S{0,200}\.singularity-runtime\.[^\s:]{1,100})",
            ),
        ],
        'cause': "The program terminated, but the runtime could not remove its temporary files: a "
        "background process still uses the container, or the files are on a network file system. "
        "{path}",
        'remedy': "The result of the run is valid. Find the remaining files with `ls -d "
        "/tmp/rootfs-* $TMPDIR/rootfs-*`, then run `chmod -R u+w FOLDER; rm -rf FOLDER`. To avoid "
        "this, run `wait` at the end of a script with background processes, and set "
        "APPTAINER_TMPDIR to a local disk.",
        'source': "github.com/apptainer/apptainer, issues 613 and 2104; "
        "github.com/apptainer/singularity, issues 2880 and 4049",
        'last': True,
    },
]
