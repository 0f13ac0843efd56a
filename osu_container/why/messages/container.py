"""Define messages of Apptainer, Singularity and osu-container for `osu-container why`."""

from typing import Any, Dict, List

ENTRIES: List[Dict[str, Any]] = [
    {
        'name': "a bind mount names a host path that does not exist",
        'patterns': [
            r"mount source (?P<path>\S+) doesn't exist",
            r"skipping mount of (?P<path>[^\s:]+)(?!: permission denied)(?:[:\s]|$)",
        ],
        'cause': "A bind option or variable (--bind, SINGULARITY_BIND, APPTAINER_BIND) names the "
        "host path {path}, but {path} does not exist on the host. Apptainer then starts no "
        "container. SingularityCE may print only a warning and start the container without "
        "{path}, and the program then loads other libraries.",
        'remedy': "Run `ls -l PATH` on the node of the job to check whether the path exists. If "
        "your --bind option, SINGULARITY_BIND or APPTAINER_BIND contains a wrong path, correct "
        "the path. If an osu-container module binds the path, the host has changed since the "
        "installation of the module: install the module again with `eb osu-container-APPROACH.eb "
        "-r --rebuild`.",
        'source': "Apptainer 1.4.5, seen by this project, 2026-11; "
        "github.com/Lumi-supercomputer/LUMI-EasyBuild-contrib, issue 422, 2026",
        'unless': ["the image lacks the target folder of a bind mount"],
    },
    {
        'name': "the image lacks the target folder of a bind mount",
        'patterns': [
            r"while mounting \S{1,300}: destination (?P<path>\S+) doesn't exist",
            r"Target \S{1,200}/mnt/(?:session/)?final(?P<path>/\S{1,300}) doesn't exist",
            r"FAILED to find user volume to: (?P<path>\S+)",
            r"can't create (?P<path>\S{1,300}) destination automatically without overlay",
            r"[Nn]on.exist[ae]nt bind point \([a-z]{1,20}\) in container: "
            r"'?(?P<path>(?!/etc/)[^'\s]{1,300})",
        ],
        'cause': "The container runtime must bind a host path to {path} in the container, but "
        "the image has no {path}, and the container runtime cannot create {path}. Usual reasons: "
        "`singularity build` is running, or the container runtime has no overlay (Singularity 2, "
        "Charliecloud).",
        'remedy': "If the message appears during `singularity build`, unload the container "
        "module before the build. Otherwise create the missing folder in the image: run `mkdir "
        "-p PATH` in %post of the recipe, or for Charliecloud `ch-run -w IMAGE -- mkdir -p "
        "PATH`. Or ask the administrators to enable overlay in the configuration of the "
        "container runtime.",
        'source': "LUMI training 2026-04, Containers",
    },
    {
        'name': "SINGULARITY_BIND and APPTAINER_BIND differ",
        'patterns': [
            r"SINGULARITY_(?:BIND|BINDPATH) and APPTAINER_\w{1,60} have different values, using the latter",
            r"SINGULARITY_(?:BIND|BINDPATH) is set, but APPTAINER_\w{1,60} is preferred",
        ],
        'cause': "You have set SINGULARITY_BIND, and the osu-container module has set "
        "APPTAINER_BIND. The command apptainer reads APPTAINER_BIND and ignores SINGULARITY_BIND.",
        'remedy': "Use the commands of the osu-container module (osu_*, osu-exec, osu-shell): "
        "these commands bind the paths of SINGULARITY_BIND and of APPTAINER_BIND. To start "
        "apptainer by hand, first run `export APPTAINER_BIND=$APPTAINER_BIND,$SINGULARITY_BIND`.",
        'source': "Apptainer 1.4.5, seen by this project, 2026-11",
    },
    {
        'name': "the image cannot be read",
        'patterns': [
            r"FATAL: {2,}(?:[^\n]{1,80}: )?could not open image (?P<path>\S+?): "
            r"(?P<why>(?![^\n]{0,600}: no such file)[^\n]{1,200})",
            r"while extracting (?P<path>\S{1,300}): (?P<why>not a squashfs root filesystem)",
        ],
        'cause': "The image {path} is not readable, or is not a container image ({why}).",
        'remedy': "If an osu-container module uses the image, run `module load NAME` with the "
        "name of the module: the modulefile prints the command that restores the image. A very "
        "small image file may be a web page that was downloaded instead of the image: copy the "
        "image again, and check the new file with `osu-container image verify FILE`.",
        'source': "Apptainer 1.4.5, seen by this project, 2026-11",
    },
    {
        'name': "the runtime refuses the signature of the image",
        'patterns': [
            "while checking container image with ECL",
            r"signature object \d+ not valid",
        ],
        'cause': "This system runs an image only if a trusted key signed the image. The "
        "administrators list the trusted keys in ecl.toml. Either the image has no signature by "
        "a trusted key, or the signature does not match the content of the image.",
        'remedy': "Ask the administrators which signatures the system accepts. If your image has "
        "an accepted signature, the image file is damaged: copy the image again.",
        'source': "github.com/apptainer/apptainer, issue 1805",
    },
    {
        'name': "the container does not contain the program",
        'patterns': [
            r'(?:FATAL: {2,}|OCI runtime[^\n]{0,300}|crun: |runc[^\n]{0,100}: |container process[^\n]{0,100}: '
            ')(?:exec: )?"(?P<program>(?!(?:sqfstar|tar2sqfs|mksquashfs|unsquashfs|crun|runc|newuidmap'
            r'|proot)")[^"\n]+)": executable file not found in \$PATH',
            r'FATAL: {2,}"(?P<program>[^"\n]{1,200})": stat [^\n]{1,200}: no such file or directory',
            r"\.singularity\.d/actions/\w+:(?: line)? \d+: (?:exec: )?(?P<program>[^\s:]{1,200}): not found",
            r'(?:OCI runtime|container process|crun:|runc)[^\n]{0,300}exec: '
            r'"(?P<program>(?![^"\n]{0,100}(?:nvidia-container|squash|fuse|newuidmap'
            r'|newgidmap))[^"\n]{1,200})": stat [^\n]{1,200}: no such file or directory',
            r"FATAL: {2,}exec (?P<program>\S{1,200}) failed: no such file or directory",
            r"FATAL: {2,}stat (?P<program>\S{1,300})(?<!\.sif)(?<!\.img): no such file or directory",
        ],
        'cause': "The container runtime does not find the program {program} in the container: the "
        "program is not installed in the image, is in a host folder that is not bound into the "
        "container, or has another path. Or {program} exists, but the container lacks the file that "
        "starts {program}: the interpreter of a script, or the ELF loader of a binary.",
        'remedy': "A program in a host folder needs the option --bind FOLDER. Search the "
        "container for the program with `singularity exec IMAGE ls -l PATH` and "
        "`singularity exec IMAGE sh -c 'echo $PATH'`. For the image of an osu-container module, "
        "`module help NAME` lists the benchmarks, and `osu-exec ls /opt` shows other programs. "
        "An image that was built without the OSU source archive contains only those OSU "
        "benchmarks that osu-container provides as Python programs (mpi4py).",
        'source': "Apptainer 1.4.5, seen by this project, 2026-11",
        'also': [
            (
                "the program, or the file .bashrc that sets PATH, is in the image's home folder, "
                "and the bind mount of your own home folder hides the image's home folder",
                "apptainer exec --no-home IMAGE PROGRAM",
            )
        ],
    },
    {
        'name': "FUSE is not available",
        'patterns': ["failed to open /dev/fuse", "fuse: device not found"],
        'cause': "A program (for example Apptainer or an AppImage) mounts a file system through "
        "FUSE, but cannot open /dev/fuse: you have no permission, or the kernel or the container "
        "has no /dev/fuse.",
        'remedy': "To start a container without FUSE, run `apptainer exec --unsquash IMAGE "
        "PROGRAM`, or run `export MPI_CONTAINER_OPTIONS=--unsquash` before the commands of an "
        "osu-container module: Apptainer then unpacks the image into $TMPDIR at each start. To "
        "allow FUSE, root runs `modprobe fuse; chmod 666 /dev/fuse`. A CI container needs the "
        "option --privileged or --device /dev/fuse.",
        'source': "seen by this project, 2026-11",
    },
    {
        'name': "the runtime cannot create a user namespace or keep capabilities",
        'patterns': [
            r"(?:ERROR|FATAL)[^\n]{0,200}[Ff]ailed to create user namespace(?!: (?:maximum|No space))",
            "Failed to create container process: Operation not permitted",
            "Failed to create container process: No space left on device",
            r"can't init user\+mount namespaces",
        ],
        'cause': "The container runtime has no permission to create a user namespace for this "
        "user, or no permission to keep the capabilities of root.",
        'remedy': "On Ubuntu 24.04, root runs `sysctl "
        "kernel.apparmor_restrict_unprivileged_userns=0`. If root lacks capabilities in the "
        "container, administrators can set 'root default capabilities = file' in apptainer.conf. "
        "LUMI disables user namespaces on purpose: on LUMI, run `module load LUMI PRoot` before "
        "`osu-container image build`, so that SingularityCE builds the image with PRoot.",
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
                "the container runtime needs a setuid program, but was installed without root "
                "(for example by conda or spack)",
                "ls -l LIBEXEC/apptainer/bin/starter-suid",
            ),
        ],
    },
    {
        'name': "PRoot cannot copy a folder from another build stage",
        'patterns': [
            r"unable to copy files from stage .{1,300} chown (?P<path>\S{1,300}): operation not permitted"
        ],
        'cause': "When %files copies a folder from another build stage, SingularityCE changes "
        "the owner of the copied folder (here {path}) to root. With PRoot, no process has "
        "permission to change the owner of a folder.",
        'remedy': "Pack the folder with tar at the end of the build stage that creates the "
        "folder. Copy the tar archive with %files, and unpack the archive in %post with `tar "
        "--no-same-owner`. The definition files of osu-container are an example.",
        'source': "github.com/sylabs/singularity 40ef481, internal/pkg/build/stage.go; "
        "SingularityCE 4.1.3 with PRoot",
    },
    {
        'name': "a command of the module was called inside the container",
        'patterns': [
            r"already in the container \S{0,300}; containers do not nest",
            "[Ww]rapper called from another container",
        ],
        'cause': "A command of a container module starts a container. The command was called "
        "inside a container, but a container cannot start another container.",
        'remedy': "Inside the container, call the program itself, for example `osu_bw`: the "
        "benchmarks are on PATH inside the container. Or call the command of the module on the "
        "host, outside the container.",
        'source': "scripts/run-in-container; github.com/CSCfi/hpc-container-wrapper",
    },
    {
        'name': "the module of this project is not loaded",
        'patterns': [r"(?<!\S)(?P<path>\S+)/call-settings is missing, so this is no installation"],
        'cause': "The wrapper script run-in-container was called from a folder that is not an "
        "installation of an osu-container module, or files in the installation folder {path} "
        "were deleted.",
        'remedy': "Run `module load NAME/APPROACH` (for example osu-container/hybrid): the "
        "module adds its wrapper commands to PATH. If the wrapper commands of the loaded module "
        "also print the message, install the module again with `eb osu-container-APPROACH.eb -r "
        "--rebuild`.",
        'source': "scripts/run-in-container",
    },
    {
        'name': "the host's libfabric is not bound to /host/lib",
        'patterns': [r"there is no (?:/host/lib|libfabric\.so\.1 in /host/lib)"],
        'cause': "The entrypoint script of the image looks for the host's libfabric in /host/lib "
        "inside the container, but /host/lib contains no libfabric.",
        'remedy': "Run `module load osu-container/swap`: this module binds the folder of the "
        "host's libfabric to /host/lib. Without the module, start the container with `--bind "
        "FOLDER:/host/lib,/usr:/host/usr`; `pkg-config --variable=libdir libfabric` on the host "
        "prints FOLDER. If libfabric.so.1 in FOLDER is a symbolic link to a file in another "
        "folder, also bind the other folder.",
        'source': "container-recipes/entrypoint/osu-entrypoint",
    },
    {
        'name': "a host library needs a newer library than the image has",
        'patterns': [
            r"(?<![^\s:])(?P<by>[^\s:]+) needs (?P<version>[A-Z]\w{0,60}_[\w.]{1,60}), which is not in "
            r"(?P<library>[^\s:]+)"
        ],
        'cause': "{by} was built with a newer version of {library} and needs the symbol version "
        "{version}. Before the program started, the entrypoint script of the image found that "
        "{library} does not contain {version}.",
        'remedy': "For a symbol version that begins with FABRIC_, use an image whose MPI was "
        "built with the host's version of libfabric or an older version, or use approach "
        "opensource of osu-container. For a symbol version that begins with GLIBC_, use an image "
        "of a distribution at least as new as the host's. With `export OSU_SWAP=0` the program "
        "uses the libfabric of the image.",
        'source': "container-recipes/entrypoint/osu-entrypoint",
    },
    {
        'name': "a library that the host's libfabric needs is not bound",
        'patterns': [
            r"(?<!\S)(?P<library>\S+) is neither in the image nor in the folders of the host"
        ],
        'cause': "The host's libfabric needs {library}, but the entrypoint script of the image "
        "finds {library} neither in the image nor below /host.",
        'remedy': "Bind the host's /usr with `--bind /usr:/host/usr`. If {library} is in another "
        "folder of the host, bind the other folder too, and add the folder's path inside the "
        "container to the variable OSU_SWAP_PATH. For an osu-container module, run `eb "
        "osu-container-swap.eb -r --rebuild`: the installation searches the host for the folders "
        "of all needed libraries.",
        'source': "container-recipes/entrypoint/osu-entrypoint",
    },
    {
        'name': "no library contains a function that another library calls",
        'patterns': [
            r"(?<!\S)(?P<by>\S+) needs the function (?P<symbol>\S+), which no "
            r"library has"
        ],
        'cause': "{by} calls the function {symbol}, but no library of the host or the image "
        "contains this function. The libraries come from builds that do not match.",
        'remedy': "If the function's name begins with cxi, the host's libcxi is older than the "
        "host's libfabric, or the loader finds another libcxi before the host's libcxi: check "
        "LD_LIBRARY_PATH. For any other function, use another image, or approach opensource of "
        "osu-container.",
        'source': "container-recipes/entrypoint/osu-entrypoint",
    },
    {
        'name': "DT_RPATH of the image's MPI prevents the swap of libfabric",
        'patterns': [r"(?<!\S)(?P<library>\S+) would be loaded all the same: a DT_RPATH"],
        'cause': "The image's MPI library has a DT_RPATH with the folder of the image's "
        "libfabric, {library}. No environment variable can override a DT_RPATH, so the program "
        "does not load the host's libfabric.",
        'remedy': "In the image, run `patchelf --set-rpath FOLDER LIBRARY` for the MPI library: "
        "patchelf replaces DT_RPATH with DT_RUNPATH. Libraries in conda environments have a "
        "DT_RPATH by default.",
        'source': "container-recipes/entrypoint/osu-entrypoint; ld.so(8)",
    },
    {
        'name': "a static program cannot use the host's libfabric",
        'patterns': [
            r"(?<!\S)(?P<program>\S+) is linked statically: no library can be put before its own"
        ],
        'cause': "The program {program} is statically linked. A statically linked program cannot "
        "load the host's libfabric, so the entrypoint script of the image cannot replace the "
        "program's libfabric.",
        'remedy': "Start the program without the entrypoint script (`apptainer exec` or "
        "`singularity exec`), or run `export OSU_SWAP=0`. To use the host's libfabric, link the "
        "program with shared libraries.",
        'source': "container-recipes/entrypoint/osu-entrypoint",
    },
    {
        'name': "the image does not use glibc",
        'patterns': ["the image has no loader of glibc"],
        'cause': "The image uses another C library than glibc (Alpine, for example, uses musl), "
        "but the host's libraries need glibc.",
        'remedy': "Use approach pure or opensource of osu-container, or an image with glibc "
        "(Debian, Ubuntu, openSUSE, Rocky).",
        'source': "container-recipes/entrypoint/osu-entrypoint",
    },
    {
        'name': "the entrypoint of the image cannot create its links",
        'patterns': [
            "no folder for links can be made in",
            "mktemp could not make a folder in",
            "links cannot be made in",
        ],
        'cause': "The entrypoint script of the image must create a few symbolic links in "
        "$TMPDIR, /tmp or /dev/shm. The script cannot write to any of these three folders, or "
        "the three folders are full.",
        'remedy': "Run `export TMPDIR=FOLDER` with a writable folder that is bound into the "
        "container, or delete files in TMPDIR, /tmp or /dev/shm.",
        'source': "container-recipes/entrypoint/osu-entrypoint",
    },
    {
        'name': "OSU_SWAP has an unknown value",
        'patterns': [r"OSU_SWAP=(?P<value>\S{0,300}) is unknown"],
        'cause': "The variable OSU_SWAP has the value {value}. The entrypoint script of the "
        "image does not know this value of OSU_SWAP.",
        'remedy': "To require the host's libfabric, run `export OSU_SWAP=require`. To use the "
        "image's libfabric, run `export OSU_SWAP=0`. For the default, run `unset OSU_SWAP`.",
        'source': "container-recipes/entrypoint/osu-entrypoint",
    },
    {
        'name': "the entrypoint cannot use the host's libfabric",
        'patterns': [
            r"the libfabric of the host cannot take the place of the image\S{0,300}: (?P<reason>[^\n]{1,600})"
        ],
        'cause': "The entrypoint script of the image could not replace the image's libfabric "
        "with the host's libfabric. The entrypoint script printed this reason: {reason}",
        'remedy': "Fix the reason that the message names; docs/approaches.md, section 'swap', "
        "lists the conditions for the image and the bind mounts. Or run `export OSU_SWAP=0`: the "
        "program then uses the libfabric of the image.",
        'source': "container-recipes/entrypoint/osu-entrypoint",
        'last': True,
    },
    {
        'name': "the image of the module was deleted",
        'patterns': [
            r"the image (?P<path>\S+) is missing or cannot be read",
            r"The\s+image\s+(?P<path>\S+)\s+is\s+gone(?:\. ?(?:Get|To\s)|:\s+\w+\s+owner\s+has)",
        ],
        'cause': "The image {path} existed when the osu-container module was installed. Since "
        "then the image was deleted, or you have no permission to read the image.",
        'remedy': "Run `module load NAME` with the name of the osu-container module: the "
        "modulefile prints the command that restores the image.",
        'source': "scripts/run-in-container",
    },
    {
        'name': "the image of a LUMI container module was deleted",
        'patterns': [r"Cannot\s+locate\s+the\s+singularity\s+container\s+file\s+(?P<path>\S+)"],
        'cause': "A container module of LUMI finds the image {path} neither in the module's "
        "installation folder nor in LUMI's central folder of images. LUMI removes old images "
        "from the central folder.",
        'remedy': "Install the module again with `eb EASYCONFIG`, or install a newer version of "
        "the module: the current easyconfigs are at "
        "github.com/Lumi-supercomputer/LUMI-EasyBuild-containers.",
        'source': "github.com/Lumi-supercomputer/LUMI-SoftwareStack, LMOD/SitePackage.lua; Lmod "
        "8.6 and 8.7, seen by this project, 2026-11",
    },
    {
        'name': "the container runtime does not exist here",
        'patterns': [r"the container runtime (?P<path>\S+) is not there"],
        'cause': "The container runtime {path} existed when the osu-container module was "
        "installed. Since then the container runtime was removed, or this node has no container "
        "runtime.",
        'remedy': "Install the module again with `eb osu-container-APPROACH.eb -r --rebuild`. If "
        "only the compute nodes lack the container runtime, ask the administrators to install the "
        "runtime on the compute nodes.",
        'source': "scripts/run-in-container",
    },
    {
        'name': "osu-exec was called without a command",
        'patterns': ["give the command to run in the container"],
        'cause': "osu-exec runs a command in the container, but osu-exec was called without a "
        "command.",
        'remedy': "Give osu-exec a command, for example `osu-exec cat /etc/os-release`. "
        "`osu-shell` starts a shell in the container.",
        'source': "scripts/run-in-container",
    },
    {
        'name': "the options of osu-exec do not end with --",
        'patterns': [r"put -- between options of (?P<path>\S+) and the command"],
        'cause': "The first argument of osu-exec begins with -, so osu-exec reads the argument "
        "as an option of the container runtime {path}. After options, osu-exec needs the "
        "separator -- before the command.",
        'remedy': "Put -- before the command, for example `osu-exec --env A=b -- cat "
        "/etc/os-release`. To set options for all commands of the osu-container module, run "
        "`export MPI_CONTAINER_OPTIONS='--env A=b'`.",
        'source': "scripts/run-in-container",
    },
    {
        'name': "a variable of the module is set but empty",
        'patterns': [r"(?<!\w)(?P<name>\w+) is set and empty\b"],
        'cause': "The variable {name} must contain the path of a file or folder, but {name} is "
        "set to an empty value.",
        'remedy': "Run `unset {name}`, or give {name} a value.",
        'source': "scripts/run-in-container",
    },
    {
        'name': "the program that OSU_PROOF needs is missing",
        'patterns': [r"OSU_PROOF is set, and (?P<path>\S+) is missing"],
        'cause': "The variable OSU_PROOF requests a record of the libraries that each rank "
        "loads. The program that writes the records, {path}, is missing in the installation "
        "folder of the osu-container module.",
        'remedy': "To run without records, use `unset OSU_PROOF`. To get records, clone the "
        "whole osu-container repository again, and install the module from the new clone with "
        "`eb osu-container-APPROACH.eb -r --rebuild`.",
        'source': "scripts/run-in-container",
    },
    {
        'name': "the host has changed since the module was installed",
        'patterns': [
            r'since\s+this\s+module\s+was\s+installed:\s*[^\s\"]',
            r"host\s+library\s+.{0,300}\s(?:is\s+gone|has\s+changed)\s+since\s+the\s+module\s+was\s+install"
            "ed",
        ],
        'cause': "Since the installation of the osu-container module, a library of the host or "
        "the container image has changed, or this shell has loaded another software stack.",
        'remedy': "Load the software stack and the partition for which the osu-container module "
        "was installed (on LUMI, for example, `module load LUMI partition/G`). Or install the "
        "module again with `eb osu-container-APPROACH.eb -r --rebuild`.",
        'source': "seen by this project, 2026-11",
    },
    {
        'name': "the node or container does not know your account",
        'patterns': [
            "Couldn't determine user account information",
            r"user: (?:unknown|lookup) userid (?P<number>\d+)",
            "unable to look up current user in the passwd file",
            r"whoami: cannot find name for user ID (?P<number>\d+)",
            r"getpwuid\(\): uid not found: (?P<number>\d+)",
        ],
        'cause': "The system finds no name for the numeric ID of your account or group: "
        "{number}. Either the node cannot reach its user directory (LDAP, sssd), or /etc/passwd "
        "in the container has no entry for you.",
        'remedy': "Start the job on another node (`srun --exclude=NODE`), and tell the "
        "administrators. If many containers that start at the same time overload LDAP or sssd, "
        "start a single container per node for all ranks. With Docker or podman, add "
        "`-v /etc/passwd:/etc/passwd:ro`. If Docker or podman runs with --user, and a program "
        "needs the user's name, add `-e USER=me -e HOME=/tmp`.",
        'source': "github.com/apptainer/singularity, issues 5598, 5757 and 4767",
        'also': [
            (
                "the container does not know your account, but the node does",
                "srun id -un, which prints your name if the node knows your account",
            )
        ],
    },
    {
        'name': "no loop device is available for the image",
        'patterns': ["failed to find loop device", "no loop devices available"],
        'cause': "A setuid container runtime mounts the image through a loop device, but no loop "
        "device was available: other containers use all loop devices, a loop device is broken, "
        "or this user (for example in a CI container) has no permission to use loop devices.",
        'remedy': "Start fewer containers on a node: a single container can run all ranks of the "
        "node, as the commands of an osu-container module do. Or use `singularity exec "
        "--userns`, which needs no loop device. Administrators can set 'shared loop devices = "
        "yes' and raise 'max loop devices' in singularity.conf.",
        'source': "github.com/apptainer/singularity, issues 4652 and 2049; "
        "github.com/sylabs/singularity, issue 668",
        'also': [
            (
                "the image file is truncated (unexpected EOF)",
                "singularity sif list FILE; if this command fails, copy the image again",
            )
        ],
        'unless': ["two containers chose the same loop device"],
    },
    {
        'name': "squashfuse cannot mount the image",
        'patterns': [
            r"squashfuse\w{0,8} (?:instance )?exited(?!: fuse: failed to unmount)",
            "A fusermount error may indicate",
            "fusermount3?: mount failed",
        ],
        'cause': "The container runtime mounts the image with the program squashfuse, but "
        "squashfuse terminated. Possible reasons: the kernel is older than 4.18 and does not let "
        "users mount with FUSE in a namespace, users have no permission to open /dev/fuse, or "
        "the image file is incomplete.",
        'remedy': "Run `apptainer exec --unsquash` or, with SingularityCE, `singularity exec "
        "--userns`: the container runtime then unpacks the image instead of mounting the image. "
        "Administrators can install apptainer-suid or a newer kernel.",
        'source': "the message of Apptainer 1.3 contains this hint; "
        "github.com/apptainer/apptainer, issues 778 and 2324",
        'also': [
            (
                "users have no permission to open /dev/fuse",
                "ls -l /dev/fuse, which should print crw-rw-rw-",
            ),
            ("the image file is damaged", "apptainer sif list FILE"),
        ],
        'unless': [
            "FUSE is not available",
            "fusermount is not installed",
            "a loaded library has the wrong version",
            "the image file is damaged or incomplete",
        ],
    },
    {
        'name': "building without root fails, because fakeroot does not work",
        'patterns': [
            "No LD_PRELOAD in fakeroot environment",
            "while getting fakeroot bindpoints",
            "'new[gu]idmap' execution failed",
            "while copying pseudo devices",
        ],
        'cause': "To build an image as an ordinary user, Apptainer needs a range of user IDs for "
        "you in /etc/subuid (applied by the program newuidmap) or the command fakeroot. Here "
        "neither newuidmap nor fakeroot works: a program may be missing, PATH may be empty, or "
        "the build may run inside another fakeroot.",
        'remedy': "Run `export PATH=/usr/bin:/bin:$PATH` and repeat the build. If the build still "
        "fails, install fakeroot on the node and run `apptainer build --ignore-subuid`. Or build "
        "the image on another machine and copy the SIF file. Administrators can install "
        "the package uidmap and run `apptainer config fakeroot --add USER`.",
        'source': "apptainer.org, user guide, Fakeroot; github.com/apptainer/apptainer, issues "
        "1751 and 2190",
        'also': [
            (
                "your group ID on this node differs from your group ID in /etc/passwd",
                "id -g; getent passwd $USER",
            )
        ],
    },
    {
        'name': "another container uses the overlay",
        'patterns': [r"can't open (?P<path>\S+) for (?:reading|writing), currently in use"],
        'cause': "Only a single container can write to the overlay {path} at a time. Another "
        "container (of another rank or of an earlier run) already uses the overlay.",
        'remedy': "If several ranks use the overlay, open the overlay read-only with `--overlay "
        "FILE:ro`, or give each rank a separate overlay (`--overlay FILE.$SLURM_PROCID`).",
        'source': "github.com/apptainer/singularity, issues 5577 and 6196",
        'also': [("a container of an earlier run is still running", "pgrep -u $USER -a starter")],
    },
    {
        'name': "the kernel is too old for the image",
        'patterns': ["FATAL: kernel too old"],
        'cause': "The C library of the image needs a newer kernel than this node has. A container "
        "always uses the host's kernel.",
        'remedy': "Use an image of an older distribution. `uname -r` prints the version of the "
        "node's kernel; kernel 2.6.32, for example, can run images of Ubuntu 16.04 and CentOS 7.",
        'source': "glibc, sysdeps/unix/sysv/linux/dl-sysdep.c; "
        "github.com/trinityrnaseq/trinityrnaseq, issue 989",
    },
    {
        'name': "the overlay cannot be opened",
        'patterns': [
            r"failed to open overlay image (?P<path>\S+?): (?!while locking)(?P<why>[^\n]{1,100})"
        ],
        'cause': "The container runtime cannot open the overlay {path} ({why}): you have no "
        "permission to read or write the overlay file, or the file is not an overlay.",
        'remedy': "Check the permissions of the overlay file with `ls -l {path}`. You need "
        "permission to read and write the overlay file; with `--overlay FILE:ro`, permission to "
        "read is enough. `apptainer overlay create --size 1024 FILE` creates a new overlay.",
        'source': "github.com/sylabs/singularity, issue 786",
    },
    {
        'name': "the runtime is too old for the image format",
        'patterns': [r"Unknown image format/type: (?P<path>\S+)"],
        'cause': "The container runtime does not know the format of the image {path}. "
        "Singularity 2 cannot read SIF images; SIF images need Singularity 3.0 or newer.",
        'remedy': "Check the version of the container runtime with `singularity --version`, and "
        "use Apptainer or Singularity 3.0 or newer.",
        'source': "github.com/irlab-sdu/fuzi.mingcha, issue 17; github.com/yihongXU/deepMOT, "
        "issue 37",
        'also': [("the image file is damaged or not an image", "file IMAGE")],
    },
    {
        'name': "the image file does not exist",
        'patterns': [
            "[Ii]mage path doesn't exists?",
            r"FATAL: {2,}(?:stat|lstat|open) (?P<path>\S{1,300}\.(?:sif|img)): no such file or directory",
            r"FATAL: {2,}(?:[^\n]{1,80}: )?could not open image (?P<path>\S+?): [^\n]{0,600}: no such file",
        ],
        'cause': "The image does not exist at the path in the command. The container runtime "
        "searched for the image at {path}.",
        'remedy': "Check the path of the image with `ls -l IMAGE`, and give the absolute path of "
        "the image. A relative path starts at the current folder, and a job may start in another "
        "folder than your shell. If the path is the path of a program, the command names no "
        "image: write `apptainer exec IMAGE PROGRAM`.",
        'source': "Singularity 2; github.com/swords123/IDA-3D, issue 17",
    },
    {
        'name': "the host's fakeroot does not work in this image",
        'patterns': [
            "libs/faked: not found",
            "error while starting the .faked. daemon",
        ],
        'cause': "The option --fakeroot runs the host's command fakeroot inside the container. "
        "The host's fakeroot does not work in this container, because the image uses musl (for "
        "example Alpine) or has an older C library than the host.",
        'remedy': "Add the option `--ignore-fakeroot-command`, or install fakeroot in the image. "
        "Or ask the administrators to assign a range of user IDs to you in /etc/subuid and "
        "/etc/subgid: --fakeroot then works without the command fakeroot.",
        'source': "github.com/apptainer/apptainer, issue 2932; Apptainer user guide, fakeroot",
        'unless': ["the C library is too old"],
    },
    {
        'name': "Docker Hub's limit of pulls is reached",
        'patterns': [
            "toomanyrequests",
            "reached your (?:unauthenticated )?pull rate limit",
        ],
        'cause': "Docker Hub limits how many images a network address may pull within some "
        "hours. All users of a login node share the network address of the login node.",
        'remedy': "Log in to Docker Hub with your own account: `apptainer remote login "
        "docker://docker.io` (Singularity: `singularity remote login docker://docker.io`; "
        "Docker: `docker login`). Or pull the image later, or pull the image from another "
        "registry (quay.io, ghcr.io).",
        'source': "github.com/antimony-team/antimony, issue 1",
    },
    {
        'name': "fusermount is not installed",
        'patterns': ["failed to exec fusermount3?"],
        'cause': "Programs that mount a file system through FUSE call the program fusermount or "
        "fusermount3. This node has neither fusermount nor fusermount3.",
        'remedy': "Administrators can install the package fuse3 (and the package fuse for older "
        "programs). To start a container without FUSE, run `apptainer exec --unsquash`, or "
        "unpack the image with `apptainer build --sandbox FOLDER IMAGE`. An AppImage unpacks its "
        "content with the option --appimage-extract.",
        'source': "github.com/apptainer/apptainer, issue 778; github.com/hael/SIMPLE, issue 14",
    },
    {
        'name': "the working folder is not in the container",
        'patterns': [
            r"container working directory.{0,40} (?:/\S{1,300}?)?:? ?chdir (?P<folder>\S{1,300}?): ",
            "Z: chdir: No such file or directory",
            r"/bin/bash: (?:line \d+: )?(?P<folder>\S{0,300}\.command\.(?:sh|run|stub)): No such file",
        ],
        'cause': "The current folder (with Nextflow, the folder of the task) or your home folder "
        "does not exist in the container. The program then starts in another folder, or does not "
        "start. The missing folder: {folder}",
        'remedy': "Add the missing folder to the container with `--bind FOLDER` (or with `export "
        "SINGULARITY_BIND=FOLDER` or `export APPTAINER_BIND=FOLDER`). Or start the program in a "
        "bound folder, which --pwd can name, and give the program absolute paths. For Nextflow, "
        "set singularity.autoMounts = true or singularity.runOptions = '--bind /FOLDER' in "
        "nextflow.config. If the folder is a symbolic link, bind the link and the link's target "
        "(`realpath FOLDER` prints the target).",
        'source': "github.com/IDEALLab/EngiBench, issue 155; github.com/apptainer/singularity, "
        "issue 2778",
        'also': [
            (
                "the option --no-home, --contain or --home removes the folder from the container",
                "env | grep -E '^(SINGULARITY|APPTAINER)_'",
            )
        ],
        'unless': ["the home folder cannot be bound"],
    },
    {
        'name': "the home folder cannot be bound",
        'patterns': [
            r"bind point does not exist in container: (?P<path>\S+)",
            r"home directory does not exist within the container: (?P<path>\S+)",
        ],
        'cause': "The container runtime cannot bind your home folder: the image has no folder "
        "{path}, and the container runtime cannot create {path}. Either the container runtime is "
        "Singularity 2, or its features overlay and underlay are disabled.",
        'remedy': "Create the folder with `mkdir -p PATH` in %post when you build the image, use "
        "a newer container runtime, or run `singularity exec --home $PWD:/home/me IMAGE PROGRAM`.",
        'source': "github.com/apptainer/singularity, issue 295; "
        "github.com/assemblerflow/flowcraft, issue 102",
    },
    {
        'name': "mounting the image or overlay takes too long",
        'patterns': [
            r"(?P<program>fuse2fs|fuse-overlayfs|squashfuse\w{0,60}|gocryptfs) failed to mount \S{1,300} in "
            r"(?P<limit>\d+)s"
        ],
        'cause': "The program {program} did not mount the image or overlay file within "
        "{limit} s. Either the disk with the file is overloaded, or the file is a large overlay, "
        "which {program} checks before the mount.",
        'remedy': "Start the container again. If the error remains, put the overlay file on a "
        "faster disk, create a smaller or sparse overlay file (`apptainer overlay create "
        "--sparse --size 1024 FILE`), or use a folder as the overlay.",
        'source': "github.com/apptainer/apptainer, issues 949, 1033 and 1232",
    },
    {
        'name': "the kernel cannot mount the image",
        'patterns': [
            r"failed to mount squashfs filesystem: (?P<why>[^\n]{1,60})",
            r"can't mount image [^\n]{1,200}: (?P<why>[^\n]{1,60})",
            r"kernel reported a bad superblock for (?P<why>[^\n,]{1,60})",
        ],
        'cause': "The kernel could not mount the image ({why}). The image file may be damaged, "
        "or may be compressed with a method (zstd, lz4) that the kernel or the container runtime "
        "does not support. The kernel may have no squashfs (root then runs `modprobe squashfs`), "
        "or may be too new for Singularity 2. A kernel also cannot mount an image from some "
        "disks (a Windows disk, an encrypted disk).",
        'remedy': "Compare the size and the sha256sum of the image file with the original file, "
        "and copy the image again if the values differ. `singularity sif list FILE` also checks "
        "the image file. Use a newer container runtime, or unpack the image at the start with "
        "`singularity exec --userns` (Apptainer: `apptainer exec --unsquash`).",
        'source': "Apptainer, internal/pkg/runtime; github.com/apptainer/singularity, issues 1357 "
        "and 5626",
        'unless': ["no loop device is available for the image"],
    },
    {
        'name': "the image file is damaged or incomplete",
        'patterns': ["Something went wrong trying to read the squashfs"],
        'cause': "The container runtime cannot read the image file to the end. The copy of the "
        "image was interrupted, another process is replacing the image file, or the file system "
        "has an error.",
        'remedy': "Compare the sha256sum of the image file with the sha256sum of the original "
        "file. Copy or pull the image again, to another file system. If the error occurs on a "
        "single node only, exclude the node with `srun --exclude=NODE`.",
        'source': "github.com/apptainer/singularity, issue 5061",
        'unless': [
            "the runtime cannot create a user namespace or keep capabilities",
            "extended attributes of the image's files cannot be unpacked",
        ],
    },
    {
        'name': "a host program that the runtime needs is missing",
        'patterns': [
            r"(?:FATAL|ERROR|WARNING|INFO) ?: {1,4}[^\n]{0,600}\b(?P<program>unsquashfs|mksquashfs"
            r"|squashfuse\w{0,60}|fuse2fs|fuse-overlayfs|gocryptfs|cryptsetup|newuidmap|newgidmap|fakeroot"
            "|debootstrap|nvidia-container-cli|proot|crun|runc|conmon)(?: is)? not found(?!, will not)(?: in "
            r"(?:\$?PATH|path)| on)?",
            r'exec: "/\S{1,100}/(?P<program>nvidia-container-cli|unsquashfs|mksquashfs|squashfuse\w{0,60}'
            r'|fuse2fs|fuse-overlayfs|newuidmap|newgidmap)": stat ',
            r"\[ERROR\] Command not found: (?P<program>squashfuse|mksquashfs|unsquashfs|fuse-overlayfs|parallel"
            r"|jq|nvidia-container-cli)\b",
            r"exec: ['\x22](?P<program>unsquashfs|mksquashfs|squashfuse\w{0,60}|fuse2fs|fuse-overlayfs|newuidmap"
            r"|newgidmap|fakeroot|crun|runc|sqfstar|tar2sqfs|proot|gocryptfs)['\x22]: executable file not "
            "found",
        ],
        'cause': "The container runtime needs the program {program} of the host, but finds "
        "{program} neither on PATH nor in the folders that the configuration of the container "
        "runtime names.",
        'remedy': "Install the package that contains the missing program on the node: "
        "squashfs-tools, squashfuse, fuse2fs, e2fsprogs, fuse-overlayfs, uidmap (also named "
        "shadow-utils) or fakeroot. Make sure that /usr/sbin is on PATH. For Apptainer, the "
        "entry 'binary path' in apptainer.conf lists the folders in which Apptainer searches for "
        "these programs.",
        'source': "Apptainer, internal/pkg/runtime; github.com/nf-core/mag, issue 702",
        'unless': ["building without root fails, because fakeroot does not work"],
    },
    {
        'name': "the registry does not provide the image",
        'patterns': [
            "requested access to the resource is denied",
            r"(?:reading|fetching|checking) manifest [^\n]{1,200}: (?P<why>[^\n]{0,80}\b(?:unknown|unauthorized"
            r"|denied|not found)\b[^\n]{0,60})",
            "image was not found in the library",
        ],
        'cause': "The container registry has no image with this name and tag, or gives the image "
        "only to accounts that have permission. {why}",
        'remedy': "Check the address and the tag of the image with `skopeo inspect "
        "docker://NAME:TAG`. For a private image, log in with `apptainer registry login "
        "docker://HOST` (older releases: `apptainer remote login docker://HOST`), or set "
        "APPTAINER_DOCKER_USERNAME and APPTAINER_DOCKER_PASSWORD.",
        'source': "OCI distribution specification, error codes; Apptainer user guide, registries",
        'unless': [
            "Docker Hub's limit of pulls is reached",
            "the node cannot reach the registry",
            "files of the image have user IDs that are not assigned to you",
        ],
    },
    {
        'name': "the node cannot reach the registry",
        'patterns': [
            r"(?:(?:docker|container|oci) registry|FATAL: {2,}While|/v2/)[^\n]{0,400}dial tcp[^\n]{0,120}: "
            r"(?P<why>[^\n]{1,80})",
            r"Download did not succeed: (?P<why>5\d\d[^\n<]{0,60})",
        ],
        'cause': "This node cannot reach the container registry ({why}). Most likely the node is "
        "a compute node without internet access. Otherwise the node may need the address of a "
        "proxy, or may not trust the certificate of the registry.",
        'remedy': "Pull the image on a login node, and use the image file in the job. If the "
        "site has a proxy, run `export https_proxy=ADDRESS`. If the registry has no TLS, add "
        "--no-https to the pull command.",
        'source': "Go, net/http; Apptainer user guide, registries",
        'unless': [
            "Docker Hub's limit of pulls is reached",
            "the download of the image takes too long",
        ],
    },
    {
        'name': "the requested action needs root",
        'patterns': ["has to be run with superuser privileges"],
        'cause': "The requested action needs root on this node, for example to build an image "
        "without fakeroot or to write into an image. Or the setuid program of the container "
        "runtime (starter-suid) is not installed as root.",
        'remedy': "Run `apptainer build --fakeroot IMAGE RECIPE` (/etc/subuid must contain an "
        "entry for you), or build the image on another machine. To change a sandbox by hand, run "
        "`apptainer shell --fakeroot --writable FOLDER`. In a setuid installation, "
        "LIBEXEC/apptainer/bin/starter-suid must belong to root and have the setuid bit (`ls -l` "
        "shows an s). In an installation without setuid, `sysctl user.max_user_namespaces` must "
        "not print 0.",
        'source': "Apptainer admin guide, Security",
        'general': True,
        'unless': [
            "the runtime cannot create a user namespace or keep capabilities",
            "the runtime cannot create an overlay",
        ],
    },
    {
        'name': "the runtime does not know an option",
        'patterns': [
            r"Error for command .\w{1,20}.: (?P<why>unknown (?:shorthand )?flag: [^\n]{1,60})"
        ],
        'cause': "This version of the container runtime does not know an option or a command, or "
        "an option has no value: {why}",
        'remedy': "`apptainer --version` prints the version of Apptainer, and `apptainer exec "
        "--help` lists the options of Apptainer. Write Apptainer's options between exec and the "
        "image, and write the program's options after the program's name.",
        'source': "Apptainer user guide, Command line",
    },
    {
        'name': "the runtime cannot create an overlay",
        'patterns': [r"failed to mount \S{1,300}/overlay: operation not permitted"],
        'cause': "The container runtime could not mount a writable overlay on top of the image. "
        "Possible reasons: the kernel is older than 5.11 and lets only root mount an overlay; "
        "the overlay is on Lustre, NFS or GPFS, which do not support overlays; or the "
        "configuration of the container runtime forbids overlays.",
        'remedy': "Put the overlay or the sandbox on a local disk (/tmp), or use an overlay file "
        "(`apptainer overlay create --size 1024 FILE`). To start without an overlay, add "
        "--no-overlay and create the target folders of all bind mounts in the image. "
        "Administrators can install fuse-overlayfs and set 'enable overlay' in apptainer.conf.",
        'source': "Apptainer admin guide, Overlay; github.com/apptainer/apptainer, issues 1033 "
        "and 1232",
        'general': True,
        'unless': [
            "another container uses the overlay",
            "the overlay cannot be opened",
            "mounting the image or overlay takes too long",
            "the overlay belongs to another user",
        ],
    },
    {
        'name': "the image cannot be opened for writing",
        'patterns': [
            "no SIF writable overlay partition found",
            r"SIF writable overlay[^\n]{0,60}",
            "WARNING: no overlay partition found",
        ],
        'cause': "The option --writable opens the image for writing. A SIF image is read-only "
        "unless the SIF file contains an overlay.",
        'remedy': "Use --writable-tmpfs instead of --writable (changes stay in memory), or use "
        "`--overlay FILE`. Or unpack the image with `apptainer build --sandbox FOLDER IMAGE` and "
        "start the sandbox with `apptainer exec --writable FOLDER PROGRAM`.",
        'source': "Apptainer user guide, Persistent overlays",
        'also': [
            (
                "the kernel module named overlay is not loaded, although the SIF file contains "
                "an overlay",
                "lsmod | grep overlay; apptainer sif list FILE",
            )
        ],
        'unless': ["the overlay belongs to another user"],
    },
    {
        'name': "the instance does not exist, or exists already",
        'patterns': [r"FATAL: {2,}[^\n]{0,60}\binstance (?P<name>\S{1,60}) already exists"],
        'cause': "Either no container instance with the name {name} runs on this node, or an "
        "instance with the name {name} runs already and prevents a second instance with this "
        "name.",
        'remedy': "List the instances of this account on this node with `apptainer instance "
        "list`. Stop an old instance with `apptainer instance stop NAME`, then start the new "
        "instance.",
        'source': "Apptainer user guide, Running services",
    },
    {
        'name': "you have no permission to start the program",
        'patterns': [r"FATAL: {2,}exec (?P<file>/\S{1,300}) failed: permission denied"],
        'cause': "The file {file}, as the container shows it, is not executable, or only root may "
        "read and execute {file}. Docker starts the program as root; this container runtime "
        "starts the program with your own account.",
        'remedy': "Check the file with `apptainer exec IMAGE ls -l FILE`. For a file of the host, "
        "run `chmod a+x FILE`. For a file of the image, run in the recipe `chmod -R a+rX FOLDER` and `chmod a+x FILE`, "
        "then rebuild the image. Without a rebuild, try `apptainer exec --fakeroot`. Or unpack "
        "the image with `apptainer build --sandbox --fakeroot FOLDER IMAGE` and run the two "
        "chmod commands in the unpacked folder.",
        'source': "execve(2), EACCES; github.com/jhuguetn/cat12-docker, issue 14",
        'also': [
            (
                "a bind mount hides the file, and the bound disk is mounted with noexec on the "
                "host",
                "apptainer exec IMAGE ls -l FILE",
            )
        ],
    },
    {
        'name': "the container runtime is not on PATH",
        'patterns': [
            r"\b(?P<command>apptainer|singularity|podman|podman-hpc|enroot|sarus|shifter|ch-run|docker)(?:(?: "
            "?: )(?:command )?| command )not found",
            r"No such file or directory: ['\x22](?P<command>apptainer|singularity|podman|docker"
            r"|enroot)['\x22]",
            "(?P<command>singularity|apptainer) command has to be available in order to use",
        ],
        'cause': "The command {command} is not on PATH: the module that provides {command} is "
        "not loaded, this node has no {command}, or {command} was called inside a container.",
        'remedy': "Run `module load apptainer` (or singularity). `srun which singularity` shows "
        "whether the compute nodes have the container runtime. Call the container runtime on the "
        "host: a container cannot start another container.",
        'source': "github.com/ENCODE-DCC/caper, issue 128; "
        "github.com/ComparativeGenomicsToolkit/cactus, issue 1222",
    },
    {
        'name': "files of the image have user IDs that are not assigned to you",
        'patterns': ["no subuid ranges found", "cannot find UID/GID for user", "No subuid"],
        'cause': "Some files of the image belong to user IDs that the system has not assigned to "
        "you: /etc/subuid and /etc/subgid do not list you, or assign too few user IDs to you. Or "
        "the program newuidmap, which maps user IDs for a container, is not setuid root.",
        'remedy': "Check your user IDs with `grep $USER /etc/subuid /etc/subgid`. Administrators "
        "can run `usermod --add-subuids 100000-165535 --add-subgids 100000-165535 USER` and make "
        "newuidmap setuid root; then run `podman system migrate`. With ignore_chown_errors=true "
        "in storage.conf, podman needs only your own user ID.",
        'source': "subuid(5); podman, troubleshooting; apptainer user guide, Fakeroot",
        'unless': ["building without root fails, because fakeroot does not work"],
    },
    {
        'name': "a host path cannot be bound",
        'patterns': [
            r"There was an error binding (?:the path )?(?P<path>\S{1,200})",
            r"skipping mount of (?P<path>[^\s:]{1,200}): permission denied",
        ],
        'cause': "The container runtime could not bind the host path {path}. The file system of "
        "{path} is mounted on demand (autofs) and was not mounted yet, {path} was deleted, or a "
        "folder above {path} denies access. A setuid container runtime reads {path} as root, but "
        "NFS with root_squash denies root access to a folder with permissions 750.",
        'remedy': "List the folder before you start the container (for example `ls /oak/ > "
        "/dev/null`), so that autofs mounts the file system. `namei -l PATH` shows which folder "
        "lacks the permission x for others: bind a parent folder with the permission x, or use "
        "`apptainer exec --userns`. Remove a path that does not exist from --bind, "
        "SINGULARITY_BIND and singularity.conf.",
        'source': "github.com/apptainer/singularity, issue 1313",
    },
    {
        'name': "the runtime cannot read its configuration file",
        'patterns': [
            "[Cc]ould(?:n't| not)(?: not)? parse (?:the )?configuration file "
            r"(?P<file>[^\s:]{0,300}(?:apptainer|singularity|charliecloud|sarus|shifter|podman|containers"
            r"|enroot)[^\s:]{0,100})"
        ],
        'cause': "The container runtime does not find its configuration file {file}, or rejects "
        "{file}. The installation of the container runtime was moved or copied, the container "
        "runtime was not started by its absolute path, or {file} does not belong to root.",
        'remedy': "Start the container runtime by its absolute path (`type -a apptainer` prints "
        "the path). A copied installation does not work: install the container runtime again in "
        "the new folder, or use install-unprivileged.sh, which creates an installation that can "
        "be moved. For a setuid container runtime, root runs `chown root:root FILE` with the "
        "configuration file.",
        'source': "github.com/apptainer/apptainer, issue 958; Apptainer admin guide, Security",
    },
    {
        'name': "the runtime cannot enter the current folder",
        'patterns': [
            r"Failed to (?:open|restore|change) current working directory: (?P<why>[^\n]{1,60})",
            "can't determine current working directory",
        ],
        'cause': "The container runtime cannot enter the current folder ({why}). The current "
        "folder was deleted, or belongs to another user (after sudo -u). With --fakeroot the "
        "container runtime acts as root, and the file server of the current folder may deny root "
        "access.",
        'remedy': "Run `cd /tmp` (or change to another folder on a local disk), start the "
        "container again, and bind the folders that your program needs. If you use --fakeroot, "
        "also try a start without --fakeroot. Administrators can run `chmod o+x` for the folders "
        "above the current folder.",
        'source': "github.com/apptainer/apptainer, issue 2769; github.com/apptainer/singularity, "
        "issue 6347",
    },
    {
        'name': "two containers chose the same loop device",
        'patterns': [
            "Failed to set loop flags on loop device",
            r"loop device[^\n]{0,120}(?:transient error|please retry|[Rr]esource temporarily "
            "unavailable|[Dd]evice or resource busy)",
        ],
        'cause': "Several containers started at the same time on a node, and two containers "
        "chose the same loop device. Older container runtimes then fail instead of choosing "
        "another loop device.",
        'remedy': "Start the job again. To avoid the error, start the ranks at different times "
        "(`srun bash -c 'sleep $SLURM_LOCALID; singularity exec IMAGE PROGRAM'`), or use a "
        "single container for all ranks of a node. Administrators can install Singularity 3.2.1 "
        "or newer (a current release is better) and raise 'max loop devices' in singularity.conf.",
        'source': "github.com/biocorecrg/master_of_pores, issue 6",
    },
    {
        'name': "the download of the image takes too long",
        'patterns': [
            r"FATAL: {2,}[^\n]{1,300}Client\.Timeout or context cancellation while reading body"
        ],
        'cause': "The download of the image started, but did not finish within the time limit of "
        "the container runtime (30 minutes).",
        'remedy': "Download the image file with `wget -c URL` or `curl -C - -O URL`, and start "
        "the container from the downloaded file. Both commands continue an interrupted download. "
        "For a docker:// image, pull the image again: the cache keeps the layers that were "
        "downloaded completely.",
        'source': "github.com/ehw-fit/tf-approximate, issue 2",
    },
    {
        'name': "the setuid program of the runtime is missing or not setuid",
        'patterns': ["No setuid installation found", "Failed to set effective UID to 0"],
        'cause': "The settings in apptainer.conf require the setuid program starter-suid. The "
        "program starter-suid does not exist, does not belong to root, has no setuid bit, or is "
        "on a disk that is mounted with nosuid.",
        'remedy': "Use `apptainer exec --userns`, which needs user namespaces instead of a "
        "setuid program. Administrators can install the package apptainer-suid, or run `chown "
        "root:root` and `chmod 4755` on LIBEXEC/apptainer/bin/starter-suid; `findmnt -T FILE` "
        "shows whether the disk with starter-suid is mounted with nosuid.",
        'source': "Apptainer admin guide, Installation",
    },
    {
        'name': "installing packages needs more than one user ID",
        'patterns': ["SetupAPTPartialDirectory"],
        'cause': "A package manager (such as apt) changes its user or the owner of files, but "
        "the container has a single user ID: the build of the image uses neither user IDs from "
        "/etc/subuid nor fakeroot.",
        'remedy': "Run `apptainer build --fakeroot IMAGE RECIPE`. The option --fakeroot needs "
        "either a range of user IDs in /etc/subuid and /etc/subgid, or the command fakeroot on "
        "the host. For apt, put this line in %post: echo 'APT::Sandbox::User \"root\";' > "
        "/etc/apt/apt.conf.d/no-sandbox. For Charliecloud, use `ch-image build --force`.",
        'source': "apt.conf(5); charliecloud, ch-image --force; Apptainer user guide, Fakeroot",
        'unless': ["files of the image have user IDs that are not assigned to you"],
    },
    {
        'name': "extended attributes of the image's files cannot be unpacked",
        'patterns': [
            r"saw forbidden xattr (?P<what>\S{1,60})",
            r"write_xattr: failed to write xattr (?P<what>\S{1,60}) for file (?:\S{1,200})",
            "llistxattr: operation not supported",
        ],
        'cause': "Files of the image have extended attributes (for SELinux or capabilities). An "
        "ordinary user has no permission to set extended attributes, or the file system cannot "
        "store extended attributes. {what}",
        'remedy': "Use a newer container runtime (Apptainer, or Singularity 3.5 or newer), which "
        "ignores extended attributes, or set TMPDIR to a folder on another type of file system. "
        "By hand, `unsquashfs -no-xattrs` unpacks an image without extended attributes. Or ask "
        "the authors of the image to build the image on a machine without SELinux.",
        'source': "github.com/apptainer/singularity, issues 4578, 4593 and 6113",
    },
    {
        'name': "the file system does not allow hard links",
        'patterns': [
            r"unpriv\.link: [^\n]{0,100}operation not permitted",
            r"error extracting layer: link (?P<path>\S{1,300}) \S{1,300}: operation not permitted",
        ],
        'cause': "The image contains hard links, but the file system on which the container "
        "runtime unpacks the image does not allow hard links (BeeGFS, some network file systems, "
        "the setting fs.protected_hardlinks). {path}",
        'remedy': "Unpack the image on a local disk: run `mkdir -p /tmp/$USER; export "
        "APPTAINER_TMPDIR=/tmp/$USER SINGULARITY_TMPDIR=/tmp/$USER`, then start the container "
        "again. Or pull the image on another machine and copy the SIF file.",
        'source': "github.com/apptainer/singularity, issue 3512; "
        "github.com/ComparativeGenomicsToolkit/cactus, issue 408",
    },
    {
        'name': "the overlay belongs to another user",
        'patterns': [
            r"setup of overlay upper dir failed[^\n]{0,250}",
            r"(?<!\S)\S{1,200}/upper is not writable",
        ],
        'cause': "The folders 'upper' and 'work' in the overlay belong to root or to another "
        "user, because an older Singularity or sudo created the overlay. A container runtime "
        "without setuid can use the overlay only if the folders 'upper' and 'work' belong to you.",
        'remedy': "Create a new overlay with `apptainer overlay create --size 1024 NEW.img`, or "
        "open the old overlay read-only with `--overlay FILE:ro`. Root can mount the old overlay "
        "and run `chown -R USER upper work`. A setuid installation of Apptainer (package "
        "apptainer-suid) accepts the old overlay unchanged.",
        'source': "github.com/apptainer/apptainer, issue 757",
    },
    {
        'name': "the image name lacks docker://",
        'patterns': [r"invalid container ref: (?P<name>\S{1,100})"],
        'cause': "If an image name has no docker://, the container runtime looks for the image "
        "in Sylabs' library (library://). Sylabs' library does not contain the image {name}.",
        'remedy': "For an image from Docker Hub, run `singularity pull docker://NAME:TAG`. For an "
        "image from another registry, name the registry, for example `singularity pull "
        "docker://quay.io/NAME:TAG`.",
        'source': "github.com/StaPH-B/docker-builds, issue 891",
        'unless': ["the node cannot reach the registry"],
    },
    {
        'name': "a host file that the runtime always binds is missing",
        'patterns': [
            r"container creation failed: (?:open|stat|lstat) (?P<file>/etc/(?:resolv\.conf|hosts|localtime"
            "|passwd|group|hostname)): no such file"
        ],
        'cause': "The container runtime binds the host file {file} into every container, but "
        "{file} does not exist on this node. Usually {file} is a dangling symbolic link, because "
        "the name service of the node did not start.",
        'remedy': "Check the host file with `ls -lL FILE` on the node. Use another node (`srun "
        "--exclude=NODE`), and tell the administrators, who can run `systemctl restart "
        "systemd-resolved`.",
        'source': "Apptainer admin guide, config resolv_conf; github.com/apptainer/apptainer, "
        "issue 999",
    },
    {
        'name': "the runtime cannot remove its temporary files",
        'patterns': [
            r"failed to delete container image (?:tempDir )?(?P<path>[^\s:]{1,300})",
            r"Could not remove directory (?P<path>\S{0,200}\.singularity-runtime\.[^\s:]{1,100})",
        ],
        'cause': "The program in the container terminated, but the container runtime could not "
        "remove its temporary files. Either a background process still uses the container, or "
        "the temporary files are on a network file system. {path}",
        'remedy': "The result of the run is valid. Find the remaining temporary folders with `ls "
        "-d /tmp/rootfs-* $TMPDIR/rootfs-*`, then remove each temporary folder with `chmod -R "
        "u+w FOLDER; rm -rf FOLDER`. To avoid the message, run `wait` at the end of a script "
        "with background processes, and set APPTAINER_TMPDIR to a folder on a local disk.",
        'source': "github.com/apptainer/apptainer, issues 613 and 2104; "
        "github.com/apptainer/singularity, issues 2880 and 4049",
        'last': True,
    },
]
