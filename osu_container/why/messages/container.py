"""The container and its runtime."""

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
        'cause': "{path} should be bound into the container but does not exist. Apptainer then "
        "starts no container; SingularityCE may only warn, and the program loads another library.",
        'remedy': "If your --bind, SINGULARITY_BIND or APPTAINER_BIND names the path, correct it "
        "(ls -l PATH on that node). If a module of ours binds it, the host has changed since: eb "
        "osu-container-APPROACH.eb -r --rebuild.",
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
        'cause': "{path} is to be bound, and the container has no such folder and cannot make "
        "one: an image is being built, or the runtime has no overlay (Singularity 2, "
        "Charliecloud).",
        'remedy': "Unload the module before singularity build. Else make the folder in the image "
        "(mkdir -p in %post; ch-run -w IMAGE -- mkdir -p), or ask the administrators for overlay "
        "in the runtime's configuration.",
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
        'cause': "You have set SINGULARITY_BIND and the module has set APPTAINER_BIND; an "
        "apptainer that is started by hand ignores the first.",
        'remedy': "Use the module's commands (osu_*, osu-exec, osu-shell), which put both "
        "together, or name your folders in APPTAINER_BIND too.",
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
        'cause': "The image {path} does not exist, is not readable or is no image ({why}).",
        'remedy': "module load of its module prints how to restore it. A file that is too small "
        "is the page of a web server: copy the image again and check it (osu-container image "
        "verify FILE).",
        'source': "Apptainer 1.4.5, seen by this project, 2026-11",
    },
    {
        'name': "signature refused",
        'patterns': [
            "while checking container image with ECL",
            ("signature object ", r"signature object \d+ not valid"),
        ],
        'cause': "This system runs only images that somebody it trusts has signed (ecl.toml), or "
        "the signature does not fit the image.",
        'remedy': "Ask the administrators whose signatures they take. If it should fit: copy the "
        "image again.",
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
        'cause': "The image has no program {program}, or not the interpreter or loader that its "
        "first line or its header names.",
        'remedy': "singularity exec IMAGE ls -l PATH; singularity exec IMAGE sh -c 'echo $PATH'. "
        "With our modules: module help lists the benchmarks, osu-exec ls /opt what else is there. "
        "Where the OSU archive could not be had, mpi4py's ports stand in, and they are fewer.",
        'source': "Apptainer 1.4.5, seen by this project, 2026-11",
        'also': [
            (
                "it lies in the image's home folder, which yours hides, or its PATH is set in "
                ".bashrc of the image",
                "apptainer exec --no-home IMAGE PROGRAM",
            )
        ],
    },
    {
        'name': "no right to mount",
        'patterns': ["failed to open /dev/fuse", "fuse: device not found"],
        'cause': "A program that mounts through FUSE (Apptainer, an AppImage) may not open "
        "/dev/fuse as this user.",
        'remedy': "Without it: apptainer exec --unsquash, or MPI_CONTAINER_OPTIONS=--unsquash "
        "with a command of the module, which unpacks the image into $TMPDIR at each start. As "
        "root: modprobe fuse; chmod 666 /dev/fuse. In a container of CI: --privileged or --device "
        "/dev/fuse.",
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
        'cause': "The runtime may not do what it needs as this user: make user namespaces, or "
        "keep its capabilities.",
        'remedy': "Ubuntu 24.04: sysctl kernel.apparmor_restrict_unprivileged_userns=0, as root. "
        "A root without capabilities: 'root default capabilities = file' in apptainer.conf. LUMI "
        "has none on purpose: there osu-container image build takes SingularityCE and PRoot "
        "(module load LUMI PRoot).",
        'source': "github.com/apptainer/apptainer, issues 1038, 1294, 2360 and 2457; seen by this "
        "project, 2026-11; LUMI training 2026-04, Containers",
        'also': [
            (
                "the system has them switched off",
                "sysctl user.max_user_namespaces, which should not be 0",
            ),
            (
                "it is WSL 1 of Windows, which is no Linux kernel",
                "uname -r; wsl --set-version NAME 2",
            ),
            (
                "the runtime was meant to have a setuid part, and was installed without rights "
                "(conda, spack)",
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
        'cause': "SingularityCE gives a folder that %files copies from a stage to root ({path}); "
        "with PRoot nobody is.",
        'remedy': "Pack the folder with tar at the end of that stage, copy the one file, and "
        "unpack it in %post with --no-same-owner, as our definition files do.",
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
        'cause': "A command of the module was called inside the container, which cannot start "
        "another one.",
        'remedy': "Inside, call the program itself (osu_bw is on PATH there); or start the "
        "command from the host.",
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
        'cause': "The wrapper was called outside of an installation, or {path} has lost what was "
        "installed there.",
        'remedy': "module load NAME/APPROACH, e.g. osu-container/hybrid; its commands are then on "
        "PATH. Where they say this: eb osu-container-APPROACH.eb -r --rebuild.",
        'source': "scripts/run-in-container",
    },
    {
        'name': "nothing bound for the entrypoint",
        'patterns': [("there is no ", r"there is no (?:/host/lib|libfabric\.so\.1 in /host/lib)")],
        'cause': "The entrypoint of the image looks for the host's libfabric in /host/lib, where "
        "it does not exist.",
        'remedy': "Bind its folder: module load osu-container/swap does; by hand --bind "
        "FOLDER:/host/lib,/usr:/host/usr, FOLDER from pkg-config --variable=libdir libfabric. A "
        "link counts where its file is bound too.",
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
        'cause': "{by} was built with something newer than {library}: it needs {version}. The "
        "entrypoint has noticed before the program started.",
        'remedy': "FABRIC_...: an image whose MPI was built with a libfabric that is not newer "
        "than the host's, or opensource. GLIBC_...: an image of a distribution at least as new as "
        "the host. OSU_SWAP=0 runs over the image's own libfabric.",
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
        'cause': "The host's libfabric needs {library}, which the entrypoint finds nowhere below "
        "/host.",
        'remedy': "Bind the host's /usr to /host/usr; a library from elsewhere: bind its folder "
        "anywhere and name the place in OSU_SWAP_PATH. With the module: install it again, it "
        "looks for such folders.",
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
        'cause': "{by} calls {symbol}, which neither the host's libraries nor the image's have: "
        "the libraries are of different builds.",
        'remedy': "cxi...: the host's libcxi is older than its libfabric, or another one is in "
        "front. Else another image, or opensource.",
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
        'cause': "The image's MPI has the folder of its libfabric, {library}, built in as "
        "DT_RPATH, which no setting can override.",
        'remedy': "patchelf --set-rpath in the image writes DT_RUNPATH instead; programs of conda "
        "environments are so by default.",
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
        'cause': "{program} has its libraries in itself, so the host's libfabric cannot be given "
        "to it.",
        'remedy': "Start it by apptainer exec or singularity exec, or with OSU_SWAP=0; or link it "
        "with shared libraries.",
        'source': "container-recipes/entrypoint/osu-entrypoint",
    },
    {
        'name': "image without loader of glibc",
        'patterns': ["the image has no loader of glibc"],
        'cause': "The image is Alpine or the like; the host's libraries are built for glibc.",
        'remedy': "Use pure or opensource, or an image on glibc (Debian, Ubuntu, openSUSE, Rocky).",
        'source': "container-recipes/entrypoint/osu-entrypoint",
    },
    {
        'name': "no folder for links",
        'patterns': [
            "no folder for links can be made in",
            "mktemp could not make a folder in",
            "links cannot be made in",
        ],
        'cause': "The entrypoint of the image keeps a handful of links in TMPDIR, /tmp or "
        "/dev/shm, and may write to none of them, or they are full.",
        'remedy': "export TMPDIR=FOLDER with a folder that is bound and may be written to, or "
        "free some space.",
        'source': "container-recipes/entrypoint/osu-entrypoint",
    },
    {
        'name': "RCCL plugin does not load with the host",
        'patterns': ["the plugin of RCCL does not load with it"],
        'cause': "RCCL's plugin in the image was built with a newer libfabric than the host's, so "
        "RCCL falls back to TCP.",
        'remedy': "An image whose plugin was built with a libfabric that is not newer than the "
        "host's, or opensource.",
        'source': "container-recipes/entrypoint/osu-entrypoint",
    },
    {
        'name': "unknown OSU_SWAP",
        'patterns': [(" is unknown", r"OSU_SWAP=(?P<value>\S{0,300}) is unknown")],
        'cause': "The variable OSU_SWAP, which the entrypoint of the image reads, has the value "
        "{value}.",
        'remedy': "export OSU_SWAP=require or OSU_SWAP=0, or unset OSU_SWAP.",
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
        'cause': "The entrypoint of the image could not put the host's libfabric in place: "
        "{reason}",
        'remedy': "The line shows what is wrong; docs/approaches.md, swap, has the requirements "
        "for image and binds. OSU_SWAP=0 runs over the image's own libfabric.",
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
            ("image", r"The\s+image\s+(?P<path>\S+)\s+is\s+gone\. ?Get"),
        ],
        'cause': "The image {path} was deleted after the installation, or you may not read it.",
        'remedy': "module load of its module prints the command that brings it back.",
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
        'cause': "A container module of LUMI does not find its image {path}: neither where it was "
        "installed nor in the central folder, from which old images are removed.",
        'remedy': "Install the module again with eb, or a newer one: LUMI-EasyBuild-containers "
        "has the present recipes.",
        'source': "github.com/Lumi-supercomputer/LUMI-SoftwareStack, LMOD/SitePackage.lua; Lmod "
        "8.6 and 8.7, seen by this project, 2026-11",
    },
    {
        'name': "container runtime gone",
        'patterns': [
            ("the container runtime ", r"the container runtime (?P<path>\S+) is not there")
        ],
        'cause': "{path} was there when the module was installed and does not exist now, or not "
        "on this node.",
        'remedy': "Install the module again: eb osu-container-APPROACH.eb -r --rebuild. A compute "
        "node without a runtime: ask its administrators.",
        'source': "scripts/run-in-container",
    },
    {
        'name': "no command",
        'patterns': ["give the command to run in the container"],
        'cause': "osu-exec was called without a command.",
        'remedy': "osu-exec cat /etc/os-release; osu-shell gives a shell.",
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
        'cause': "The first word behind osu-exec begins with -, so it is an option of {path}, and "
        "nothing marks where the command begins.",
        'remedy': "osu-exec --env A=b -- cat /etc/os-release. Options for all commands: "
        "MPI_CONTAINER_OPTIONS.",
        'source': "scripts/run-in-container",
    },
    {
        'name': "variable set and empty",
        'patterns': [(" is set and empty", r"(?<!\w)(?P<name>\w+) is set and empty\b")],
        'cause': "{name} chooses a file or a folder, and has no value.",
        'remedy': "unset {name}, or give it a value.",
        'source': "scripts/run-in-container",
    },
    {
        'name': "proof without its program",
        'patterns': [("OSU_PROOF is set, and ", r"OSU_PROOF is set, and (?P<path>\S+) is missing")],
        'cause': "OSU_PROOF asks for a record of each rank, and {path}, which writes it, is not "
        "in the installation.",
        'remedy': "Install the module again from a whole clone, or unset OSU_PROOF.",
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
        'cause': "A library of the host, the image or the loaded stack is not what it was when "
        "the module was installed.",
        'remedy': "Load the stack and partition that it was installed for, or install it again: "
        "eb osu-container-APPROACH.eb -r --rebuild.",
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
        'cause': "The number of your account or group ({number}) has no name here: the node does "
        "not reach its directory (LDAP, sssd), or the container's /etc/passwd does not name you.",
        'remedy': "Start it again on another node (srun --exclude=NODE), and tell the "
        "administrators. At thousands of starts at once the directory may be overrun: one "
        "container for all ranks of a node helps. Docker, podman: -v /etc/passwd:/etc/passwd:ro, "
        "or -e USER=me -e HOME=/tmp beside --user, for programs that ask their name.",
        'source': "github.com/apptainer/singularity, issues 5598, 5757 and 4767",
        'also': [
            ("only the container does not know you", "srun id -un, which then prints your name")
        ],
    },
    {
        'name': "no loop device",
        'patterns': ["failed to find loop device", "no loop devices available"],
        'cause': "A runtime with setuid mounts the image by a loop device, and got none: all are "
        "in use (many containers at once), one is broken, or this user (a container of CI) may "
        "not.",
        'remedy': "Fewer containers a node: one for all its ranks, as the module's commands do. "
        "Administrators: 'shared loop devices = yes' and 'max loop devices' in singularity.conf. "
        "Without any: singularity exec --userns.",
        'source': "github.com/apptainer/singularity, issues 4652 and 2049; "
        "github.com/sylabs/singularity, issue 668",
        'also': [
            (
                "the image is cut off (unexpected EOF)",
                "singularity sif list FILE; then copy it again",
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
        'cause': "The runtime mounts the image by squashfuse, which ended: a kernel older than "
        "4.18 does not let users mount FUSE in a namespace, /dev/fuse is closed to them, or the "
        "file is no whole image.",
        'remedy': "apptainer exec --unsquash (or --userns of SingularityCE) unpacks the image "
        "instead. Administrators: apptainer-suid, or a newer kernel.",
        'source': "Apptainer 1.3, its own hint; github.com/apptainer/apptainer, issues 778 and "
        "2324",
        'also': [
            ("/dev/fuse is closed", "ls -l /dev/fuse, which should be crw-rw-rw-"),
            ("the file is broken", "apptainer sif list FILE"),
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
        'cause': "A build as an ordinary user needs fakeroot: numbers of users that the system "
        "lends you (/etc/subuid, newuidmap), or the command fakeroot. Neither works here.",
        'remedy': "apptainer build --ignore-subuid, with fakeroot installed beside apptainer; or "
        "build elsewhere and copy the image. Administrators: apptainer config fakeroot --add "
        "USER, and uidmap installed.",
        'source': "apptainer.org, user guide, Fakeroot; github.com/apptainer/apptainer, issues "
        "1751 and 2190",
        'also': [
            ("your group on this node is not the one of /etc/passwd", "id -g; getent passwd $USER")
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
        "container uses it: that of another rank, or of an earlier run.",
        'remedy': "--overlay FILE:ro for runs of several ranks; or an overlay for each rank "
        "(FILE.$SLURM_PROCID).",
        'source': "github.com/apptainer/singularity, issues 5577 and 6196",
        'also': [("a container was left over", "pgrep -u $USER -a starter")],
    },
    {
        'name': "kernel too old",
        'patterns': ["FATAL: kernel too old"],
        'cause': "The C library of the image wants a newer kernel than this node's; a container "
        "has the host's kernel.",
        'remedy': "An image of an older distribution: uname -r shows the kernel; 2.6.32 runs "
        "Ubuntu 16.04 and CentOS 7.",
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
        'cause': "The overlay {path} cannot be read ({why}): you may not read or write the file, "
        "or it is no overlay.",
        'remedy': "ls -l {path}: it needs your right to read, and to write unless :ro follows its "
        "name. A new one: apptainer overlay create --size 1024 FILE.",
        'source': "github.com/sylabs/singularity, issue 786",
    },
    {
        'name': "runtime older than the image",
        'patterns': [("Unknown image format/type: ", r"Unknown image format/type: (?P<path>\S+)")],
        'cause': "{path} is in a format that this runtime does not know: Singularity 2 reads no "
        "SIF, which came with 3.0.",
        'remedy': "singularity --version; take Apptainer, or Singularity from 3.0 on.",
        'source': "github.com/irlab-sdu/fuzi.mingcha, issue 17; github.com/yihongXU/deepMOT, "
        "issue 37",
        'also': [("the file is broken or no image", "file IMAGE")],
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
        'cause': "There is no file at the path of the image {path}.",
        'remedy': "ls -l IMAGE; a name without a folder is searched in the current folder, which "
        "differs in a job.",
        'source': "Singularity 2; github.com/swords123/IDA-3D, issue 17",
    },
    {
        'name': "host's fakeroot in another image",
        'patterns': [
            "libs/faked: not found",
            ("error while starting the", "error while starting the .faked. daemon"),
        ],
        'cause': "--fakeroot brings the host's command fakeroot into the container, and it does "
        "not run there: the image is Alpine or the like (musl), or its C library is older than "
        "the host's.",
        'remedy': "--ignore-fakeroot-command, or ask the administrators for a range in "
        "/etc/subuid and /etc/subgid, with which fakeroot is not needed. Else install fakeroot in "
        "the image.",
        'source': "github.com/apptainer/apptainer, issue 2932; Apptainer user guide, fakeroot",
        'unless': ["C library too old"],
    },
    {
        'name': "no numbers of users lent",
        'patterns': ["User not listed in /etc/subuid"],
        'cause': "Neither /etc/subuid lists you, nor does it with at least 65536 numbers; only "
        "one user then exists in a container of --fakeroot.",
        'remedy': "Mostly harmless: packages that change owners of files may fail. For the "
        "administrators: singularity config fakeroot --add USER, or usermod --add-subuids "
        "100000-165535 --add-subgids ....",
        'source': "github.com/apptainer/apptainer, issue 692",
        'last': True,
    },
    {
        'name': "registry's limit of pulls",
        'patterns': [
            "toomanyrequests",
            ("pull rate limit", "reached your (?:unauthenticated )?pull rate limit"),
        ],
        'cause': "Docker Hub lets an address fetch only so many images in some hours; all users "
        "of a login node share one.",
        'remedy': "apptainer remote login docker://docker.io (Singularity: remote login; Docker: "
        "docker login) with an account of your own, try again later, or take the image from "
        "another registry (quay.io, ghcr.io).",
        'source': "github.com/antimony-team/antimony, issue 1",
    },
    {
        'name': "fusermount not installed",
        'patterns': [("failed to exec fusermount", "failed to exec fusermount3?")],
        'cause': "Programs that mount through FUSE call fusermount or fusermount3, which is not "
        "on this node.",
        'remedy': "For the administrators: install fuse3 (and fuse for older programs). Apptainer "
        "without it: --unsquash, or apptainer build --sandbox FOLDER IMAGE. An AppImage: "
        "--appimage-extract.",
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
        'cause': "The folder in which you are (with Nextflow the task's), or your home, is not in "
        "the container, and the program starts in another one or not at all: {folder}",
        'remedy': "Bind it: --bind FOLDER (export SINGULARITY_BIND or APPTAINER_BIND), or start "
        "from a folder that is bound, or name one with --pwd. Paths that the program is given "
        "should begin with /. Nextflow: singularity.autoMounts = true, or singularity.runOptions "
        "= '--bind /FOLDER' in nextflow.config, with both ends of a link (realpath FOLDER).",
        'source': "github.com/IDEALLab/EngiBench, issue 155; github.com/apptainer/singularity, "
        "issue 2778",
        'also': [
            (
                "--no-home, --contain or --home takes it away",
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
        'cause': "The image has no folder {path} in which your home folder could be shown, and "
        "the runtime makes none: it is Singularity 2, or overlay and underlay are off.",
        'remedy': "Make the folder when the image is built (mkdir -p), take a newer runtime, or "
        "singularity exec --home $PWD:/home/me.",
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
        'cause': "{program} had ten seconds to mount an image, and the file system below it was "
        "slower: a large overlay is checked first, or the disk is overrun.",
        'remedy': "Try again; put the overlay on a faster disk, make it smaller or --sparse, or "
        "take a folder as overlay.",
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
        'cause': "The kernel could not mount the image ({why}): the file is cut off or damaged, "
        "its squashfs was packed in a way (zstd, lz4) that this kernel or runtime is too old for, "
        "the kernel has no squashfs (modprobe), Singularity 2 runs on a kernel that is too new "
        "for it, or the file is in a place from which nothing can be mounted (a disk of Windows, "
        "encrypted).",
        'remedy': "Compare its size and sha256 with the original and copy it again; singularity "
        "sif list FILE. A newer runtime, or --userns (--unsquash), which unpacks it instead of "
        "mounting.",
        'source': "Apptainer, internal/pkg/runtime; github.com/apptainer/singularity, issues 1357 "
        "and 5626",
        'unless': ["no loop device"],
    },
    {
        'name': "image damaged",
        'patterns': ["Something went wrong trying to read the squashfs"],
        'cause': "The image's file cannot be read to its end: it was cut off when it was copied, "
        "is being replaced, or its file system has an error.",
        'remedy': "sha256sum of the file and of the original; copy or pull it again, to another "
        "file system. If it comes on one node alone: srun --exclude=NODE.",
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
        'cause': "The runtime calls the program {program} of the host, and does not find it on "
        "PATH or in its own configuration.",
        'remedy': "Install it on the node (squashfs-tools, squashfuse, fuse2fs or e2fsprogs, "
        "fuse-overlayfs, uidmap or shadow-utils, fakeroot), and see that /usr/sbin is on PATH; "
        "apptainer.conf names its own path ('binary path').",
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
        'cause': "The registry has no image of that name and tag, or gives it to accounts that "
        "may read it only ({why}).",
        'remedy': "See that the address and tag are right (skopeo inspect docker://NAME:TAG). For "
        "a private one: apptainer registry login (remote login) docker://HOST, or "
        "APPTAINER_DOCKER_USERNAME and ..._PASSWORD.",
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
        'cause': "The registry of images does not answer this node ({why}): compute nodes often "
        "have no way to the internet, a proxy is not set, or it does not trust the certificate.",
        'remedy': "Pull on a login node, and take the file in the job. export https_proxy=... "
        "where the site has a proxy. A registry of your own without TLS: --no-https.",
        'source': "Go, net/http; Apptainer user guide, registries",
        'unless': ["registry's limit of pulls", "download of an image too slow"],
    },
    {
        'name': "right of root asked for",
        'patterns': ["has to be run with superuser privileges"],
        'cause': "The runtime was asked for what only root may do here: a build without fakeroot, "
        "writing into an image, or its setuid part is not installed as root (starter-suid).",
        'remedy': "apptainer build --fakeroot (with /etc/subuid), or build elsewhere; by hand in "
        "a sandbox: apptainer shell --fakeroot --writable FOLDER; ls -l "
        "LIBEXEC/apptainer/bin/starter-suid must belong to root with the letter s. Without "
        "setuid: user namespaces (sysctl user.max_user_namespaces).",
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
        'cause': "This release of the runtime does not know the option or command, or it lacks "
        "its value: {why}",
        'remedy': "apptainer --version, apptainer exec --help. Options of the runtime stand "
        "between exec and the image; those of the program behind its name.",
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
        'cause': "The runtime could not put a layer that can be written on top of the image: the "
        "kernel does not let users do that (before 5.11), the folder below is on Lustre, NFS or "
        "GPFS, or the configuration forbids it.",
        'remedy': "Put the overlay or sandbox on a local disk (/tmp), or take a file as overlay "
        "(apptainer overlay create). Without: --no-overlay, and mkdir the places of binds in the "
        "image. Administrators: fuse-overlayfs, 'enable overlay'.",
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
        'cause': "--writable asks to write into the image itself; a SIF is read-only unless it "
        "carries an overlay.",
        'remedy': "--writable-tmpfs (kept in memory), --overlay FILE, or a sandbox: apptainer "
        "build --sandbox FOLDER IMAGE, then --writable FOLDER.",
        'source': "Apptainer user guide, Persistent overlays",
        'also': [
            (
                "the kernel's module overlay is not loaded, although the SIF carries one",
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
        'cause': "apptainer instance: there is no running one of the name {name} on this node, or "
        "it is there already.",
        'remedy': "apptainer instance list (on this node, as this user); apptainer instance stop "
        "NAME; then start it again.",
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
        'cause': "{file} in the image belongs to root and others may not read or start it, or it "
        "is not marked as a program. In Docker you are root; with this runtime you are yourself.",
        'remedy': "Where the image is made: chmod -R a+rX FOLDER, chmod a+x FILE. Until then: "
        "apptainer exec --fakeroot, or apptainer build --sandbox --fakeroot and chmod there.",
        'source': "execve(2), EACCES; github.com/jhuguetn/cat12-docker, issue 14",
        'also': [
            (
                "a bind of yours lies over it, from a disk mounted noexec",
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
        'cause': "{command} is not on PATH here: its module is not loaded, it is not installed on "
        "this node, or the command was called inside a container.",
        'remedy': "module load apptainer (or singularity); on compute nodes srun which "
        "singularity. Containers do not nest: call it outside.",
        'source': "github.com/ENCODE-DCC/caper, issue 128; "
        "github.com/ComparativeGenomicsToolkit/cactus, issue 1222",
    },
    {
        'name': "container run as another user",
        'patterns': ["no subuid ranges found", "cannot find UID/GID for user", "No subuid"],
        'cause': "The image has files of users whose numbers were not lent to you, or the command "
        "that lends them (newuidmap) may not: /etc/subuid and /etc/subgid do not list you, or "
        "have too few.",
        'remedy': "grep $USER /etc/subuid /etc/subgid (administrators: usermod --add-subuids "
        "100000-165535 --add-subgids 100000-165535 USER; newuidmap setuid root), then podman "
        "system migrate. Podman: ignore_chown_errors=true in storage.conf.",
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
        'cause': "{path} could not be bound at that moment: its file system is mounted on demand "
        "(autofs) and was not yet, it is gone, or a folder above it is closed: to you, or to the "
        "root that a setuid runtime is (NFS with root_squash, rights 750).",
        'remedy': "ls it in front of the command (ls /oak/ > /dev/null), which makes autofs mount "
        "it; namei -l PATH shows where x for others is missing: bind a folder above that, or "
        "apptainer exec --userns. Remove a missing path from --bind, SINGULARITY_BIND and "
        "singularity.conf.",
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
        'cause': "The runtime does not find or take its configuration {file}: its installation "
        "was moved or copied, was started by a name that is no whole path, or the file does not "
        "belong to root.",
        'remedy': "Start it by its whole path (type -a apptainer). An installation cannot be "
        "copied elsewhere: install it there (install-unprivileged.sh may be moved). With a setuid "
        "part: chown root:root the file.",
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
        'cause': "The folder in which you are cannot be entered by the process that starts the "
        "container ({why}): it was deleted, belongs to somebody else (sudo -u), or its server "
        "keeps root out, and --fakeroot is root.",
        'remedy': "cd /tmp (or another folder on a local disk) and start again; bind what you "
        "need. Without --fakeroot it may do where you are. For the administrators: the folders "
        "above need x for others.",
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
        'cause': "Several containers started at once on a node, and two took the same loop "
        "device: older runtimes do not try again.",
        'remedy': "Start it again, or the ranks one after the other (sleep $SLURM_LOCALID); one "
        "container for all ranks of a node. Administrators: Singularity from 3.2.1 on (of today "
        "better), 'max loop devices' in its conf.",
        'source': "github.com/biocorecrg/master_of_pores, issue 6",
    },
    {
        'name': "command fakeroot of the host not usable",
        'patterns': ["No LD_PRELOAD in fakeroot environment", "while getting fakeroot bindpoints"],
        'cause': "Without a range of user numbers (/etc/subuid) a build uses the host's command "
        "fakeroot, and that does not work: PATH is empty, it runs within another fakeroot, or its "
        "daemon was lost.",
        'remedy': "export PATH=/usr/bin:/bin:$PATH; try again; --ignore-fakeroot-command does "
        "without it. Best: a range in /etc/subuid and /etc/subgid (apptainer config fakeroot "
        "--add USER).",
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
        'cause': "The download had begun and did not end in the time that the runtime gives it "
        "(30 minutes).",
        'remedy': "Fetch the file by itself: wget -c URL (or curl -C - -O URL), which continues "
        "where it stopped; then use the file. docker:// images: pull again, the layers that came "
        "are kept in the cache.",
        'source': "github.com/ehw-fit/tf-approximate, issue 2",
    },
    {
        'name': "setuid part of the runtime without its right",
        'patterns': ["No setuid installation found", "Failed to set effective UID to 0"],
        'cause': "apptainer.conf asks for the setuid part (starter-suid), which does not exist, "
        "does not belong to root, has no letter s, or is on a disk that is mounted with nosuid.",
        'remedy': "apptainer exec --userns does without it, where user namespaces are on. "
        "Administrators: package apptainer-suid, or chown root:root and chmod 4755 "
        "LIBEXEC/apptainer/bin/starter-suid; findmnt -T FILE.",
        'source': "Apptainer admin guide, Installation",
    },
    {
        'name': "packages that want more than one user",
        'patterns': ["SetupAPTPartialDirectory"],
        'cause': "A package manager wants to become another user or to give files away, and in "
        "this container only one user exists: it was built without numbers of users (/etc/subuid) "
        "or without fakeroot.",
        'remedy': "apptainer build --fakeroot, with a range in /etc/subuid and /etc/subgid, or "
        "with fakeroot installed on the host. apt: echo 'APT::Sandbox::User \"root\";' > "
        "/etc/apt/apt.conf.d/no-sandbox in %post. Charliecloud: ch-image build --force.",
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
        'cause': "The image's files carry attributes (of SELinux, capabilities: {what}), which an "
        "ordinary user may not set or the disk does not keep.",
        'remedy': "A newer runtime leaves them out (Singularity from 3.5 on, Apptainer). TMPDIR "
        "on another kind of disk; setting 'user xattrs' aside: unsquashfs -no-xattrs. Ask the "
        "image's authors to build it without SELinux.",
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
        'cause': "The image has hard links, and the disk on which it is unpacked does not allow "
        "them (BeeGFS, some network file systems, fs.protected_hardlinks). {path}",
        'remedy': "export APPTAINER_TMPDIR=/tmp/$USER SINGULARITY_TMPDIR=/tmp/$USER (a local "
        "disk; mkdir -p it), and again; or pull elsewhere and copy the SIF.",
        'source': "github.com/apptainer/singularity, issue 3512; "
        "github.com/ComparativeGenomicsToolkit/cactus, issue 408",
    },
    {
        'name': "overlay of another user",
        'patterns': [
            ("setup of overlay upper dir failed", r"setup of overlay upper dir failed[^\n]{0,250}"),
            ("/upper is not writable", r"(?<!\S)\S{1,200}/upper is not writable"),
        ],
        'cause': "The folders upper and work within the overlay belong to root or somebody else: "
        "it was made by an older Singularity or with sudo; without setuid they must be yours.",
        'remedy': "apptainer overlay create --size 1024 NEW.img makes one that is yours; "
        "--overlay FILE:ro to read it; as root: mount it and chown -R USER upper work; "
        "apptainer-suid takes it as it is.",
        'source': "github.com/apptainer/apptainer, issue 757",
    },
    {
        'name': "docker:// forgotten",
        'patterns': [("invalid container ref: ", r"invalid container ref: (?P<name>\S{1,100})")],
        'cause': "A name without docker:// in front is looked for in Sylabs' library "
        "(library://), which does not have it: {name}",
        'remedy': "singularity pull docker://NAME:TAG (Docker Hub), docker://quay.io/NAME:TAG for "
        "others.",
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
        'cause': "The runtime shows {file} of the host in every container, and that file does not "
        "exist: usually it is a link that leads nowhere, as the service of names was not started.",
        'remedy': "ls -lL that file on the node; another node (srun --exclude=NODE), and tell the "
        "administrators (systemctl restart systemd-resolved).",
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
        'cause': "The program has ended, and the runtime could not clear up behind it: something "
        "in the background still uses the container, or its files lie on a network's disk. {path}",
        'remedy': "Harmless for the run: its result counts. Remove what is left: ls -d "
        "/tmp/rootfs-* $TMPDIR/rootfs-*; chmod -R u+w it, rm -rf it. Programs that go on in the "
        "background: wait at the end of the script. APPTAINER_TMPDIR on a local disk.",
        'source': "github.com/apptainer/apptainer, issues 613 and 2104; "
        "github.com/apptainer/singularity, issues 2880 and 4049",
        'last': True,
    },
]
