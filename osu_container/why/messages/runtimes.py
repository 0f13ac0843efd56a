"""Define messages of further container runtimes, such as podman, for `osu-container why`."""

from typing import Any, Dict, List

ENTRIES: List[Dict[str, Any]] = [
    {
        'name': "the container toolkit finds no GPU driver",
        'patterns': [
            r"nvidia-container-cli: initialization error: (?P<why>[^\n]{1,100})",
            r'could not select device driver "[^"\n]{0,40}" with capabilities',
        ],
        'cause': "The NVIDIA container toolkit could not make the GPUs available in the "
        "container. The NVIDIA driver is not loaded on this node, the node has no GPU, or the "
        "toolkit is missing or too old. {why}",
        'remedy': "Run `nvidia-smi` on the node. If the node has no GPU, start the container "
        "without --gpus (enroot: run `export NVIDIA_VISIBLE_DEVICES=void`). Administrators can "
        "run `modprobe nvidia; ldconfig` and install a current nvidia-container-toolkit. If the "
        "message contains cuda>=, the image needs a newer NVIDIA driver.",
        'source': "github.com/NVIDIA/libnvidia-container, issues 3 and 48; NVIDIA container "
        "toolkit, Troubleshooting",
        'unless': [
            "the container toolkit has no permission to read a file",
            "the program finds no usable GPU",
            "the container toolkit cannot run ldconfig for the image",
            "the container toolkit has no permission to write cgroups",
            "the NVIDIA driver and its libraries have different versions",
            "the container has no access to the GPUs",
        ],
    },
    {
        'name': "no NVIDIA driver is detected",
        'patterns': ["The NVIDIA Driver was not detected"],
        'cause': "The program finds no NVIDIA driver in the container or on the node. The "
        "container was started without --nv (Docker and podman: --gpus all), the node has no GPU, "
        "or the driver was updated and the node was not rebooted.",
        'remedy': "Run `srun nvidia-smi -L` outside the container to list the GPUs of the node. "
        "Start the container with `apptainer exec --nv` (enroot: NVIDIA_VISIBLE_DEVICES=all; "
        "podman: --device nvidia.com/gpu=all). If the program or nvidia-smi prints 'version "
        "mismatch', administrators must reboot the node.",
        'source': "github.com/ComparativeGenomicsToolkit/cactus, issue 1343; NVIDIA, nvidia-smi(1)",
        'also': [("the job has no GPU", "echo $SLURM_GPUS_ON_NODE $CUDA_VISIBLE_DEVICES")],
        'unless': [
            "a library of the NVIDIA driver is missing",
            "the NVIDIA driver and its libraries have different versions",
            "the container has no access to the GPUs",
        ],
    },
    {
        'name': "enroot cannot create its folder",
        'patterns': [
            r"mkdir: cannot create directory \S(?P<folder>/run/enroot[^'’\n]{0,200}).: (?:[^\n]{1,60})"
        ],
        'cause': "enroot keeps its state in the folder {folder}, and cannot create this folder. "
        "On many systems the parent folder exists only while a user is logged in: in a job the "
        "parent folder is missing, and you have no permission to create the parent folder.",
        'remedy': "If you use enroot without pyxis, run `export "
        "ENROOT_RUNTIME_PATH=/tmp/$USER/enroot`. Administrators can set ENROOT_RUNTIME_PATH, "
        "ENROOT_CACHE_PATH and ENROOT_DATA_PATH in enroot.conf to folders that a Slurm prolog "
        "creates for each user.",
        'source': "github.com/NVIDIA/pyxis, issues 12 and 62; enroot, doc/configuration.md",
    },
    {
        'name': "podman finds no systemd session of the user",
        'patterns': [
            r"RunRoot is pointing to a path \(\S{1,200}\) which is not writable",
            r"(?:mkdir|l?stat|open|chown|creating \w+:) /run/user/\d+[^\n]{0,80}(?:: no such file|: permission "
            "denied|not owned|not exist)",
        ],
        'cause': "Rootless container runtimes, such as podman, need a systemd session of the "
        "user and the session's folder /run/user/NUMBER. In a Slurm job, in cron and after su, "
        "the user has no systemd session and no folder /run/user/NUMBER.",
        'remedy': "Run `export XDG_RUNTIME_DIR=/tmp/run-$UID; mkdir -p -m 700 $XDG_RUNTIME_DIR`, "
        "and start the container with `podman --cgroup-manager=cgroupfs`. Administrators can run "
        "`loginctl enable-linger USER`.",
        'source': "podman, troubleshooting",
        'general': True,
    },
    {
        'name': "the container toolkit cannot run ldconfig for the image",
        'patterns': [
            r"nvidia-container-cli: ldcache error: (?:[^\n]{1,120})",
            r"ldconfig(?:\.real)?[^\n]{0,60}failed with error code",
        ],
        'cause': "The NVIDIA container toolkit runs the host's ldconfig to update the library "
        "cache of the image, and ldconfig failed. The image does not contain glibc, the "
        "container is not writable, or /proc or /sys is incomplete because the container runs "
        "inside another container.",
        'remedy': "If you start a container inside a container, start the outer container with a "
        "complete /proc (--privileged, or systempaths=unconfined). In "
        '/etc/nvidia-container-runtime/config.toml, the entry ldconfig = "@/sbin/ldconfig" must '
        "name a file of the host. With enroot, run `enroot start --rw`.",
        'source': "github.com/SlinkyProject/containers, pull request 2",
    },
    {
        'name': "the container toolkit has no permission to write cgroups",
        'patterns': [
            r"failed to add device rules: (?P<why>[^\n]{1,200})",
            r"write error: (?P<why>/sys/fs/cgroup/\S{1,200}): [^\n]{1,60}",
        ],
        'cause': "To give the container access to the GPUs, the NVIDIA container toolkit must "
        "change a cgroup. An ordinary user has no permission to change a cgroup: {why}",
        'remedy': "Administrators can set no-cgroups = true in "
        "/etc/nvidia-container-runtime/config.toml, or install another version of the NVIDIA "
        "container toolkit (version 1.17.7 causes this error).",
        'source': "github.com/NVIDIA/libnvidia-container, issue 313",
    },
    {
        'name': "the container toolkit has no permission to read a file",
        'patterns': [
            r"nvidia-container-cli: [^\n]{0,120}path error: /{0,2}(?P<path>/\S{1,300}?): permission denied",
            r"nvidia-container-cli: [^\n]{0,120}file lookup failed: (?P<path>/\S{1,300}?): permission "
            "denied",
        ],
        'cause': "The NVIDIA container toolkit must read {path}, but ordinary users have no "
        "permission to enter a folder above {path}. Some versions of the toolkit terminate when "
        "a file is not readable, instead of skipping the file.",
        'remedy': "Administrators can install a current libnvidia-container-tools (dnf or apt "
        "upgrade), which skips files without read permission. Or administrators can run `chmod "
        "a+x FOLDER` for each folder above the file that the message names.",
        'source': "github.com/NVIDIA/enroot, issue 231; github.com/NVIDIA/libnvidia-container, "
        "pull request 304",
    },
    {
        'name': "enroot lacks permissions for the import",
        'patterns': [
            r"enroot-\w+: failed to set capabilities: [^\n]{1,60}",
            r"failed to create (?:opaque )?ovlfs whiteout: (?P<path>\S{1,200})[^\n]{0,80}",
        ],
        'cause': "`enroot import` must mark the deleted files of image layers, and only a "
        "program with extra privileges (capabilities) can set these marks. The package "
        "enroot+caps is missing, or the disk (NFS, Lustre, a disk mounted with nosuid) cannot "
        "store the marks. {path}",
        'remedy': "Set ENROOT_TEMP_PATH and ENROOT_DATA_PATH to folders on a local disk (for "
        "example `export ENROOT_TEMP_PATH=/tmp/$USER ENROOT_DATA_PATH=/tmp/$USER/data`). "
        "Administrators can install the package enroot+caps on all nodes. Or import the image on "
        "another machine and copy the .sqsh file.",
        'source': "github.com/NVIDIA/enroot, issues 69 and 141; github.com/NVIDIA/pyxis, issue 87",
    },
    {
        'name': "the image lacks the shell that enroot needs",
        'patterns': [r"enroot-switchroot: failed to execute: (?P<program>\S{1,100}): No such file"],
        'cause': "enroot starts every container with the shell {program}, but the unpacked image "
        "does not contain {program}. Either the image has no shell (hello-world, distroless, "
        "FROM scratch), or enroot did not unpack the image completely.",
        'remedy': "Use an image with a shell (for example ubuntu, bash or alpine). If the image "
        "has a shell, run `enroot remove NAME` and import the image again. ENROOT_TEMP_PATH and "
        "ENROOT_DATA_PATH must name folders on a local disk with enough free space.",
        'source': "github.com/NVIDIA/enroot, issues 177 and 217",
    },
    {
        'name': "pyxis cannot create its folder",
        'patterns': [r"pyxis: couldn't (?:mkdir|chown) (?P<path>\S{1,200}?): (?P<why>[^\n]{1,60})"],
        'cause': "The Slurm plugin pyxis keeps the images of running job steps in the folder "
        "{path}, and cannot create {path} on the node ({why}).",
        'remedy': "Administrators can create the folder of pyxis on every node at each boot with "
        "`mkdir -p -m 755 /run/pyxis` (or with systemd-tmpfiles). Or administrators can add "
        "runtime_path=FOLDER, with a folder on a local disk, after spank_pyxis.so in "
        "plugstack.conf.",
        'source': "github.com/NVIDIA/pyxis, issue 4 and README",
    },
    {
        'name': "the Slurm plugin pyxis is not loaded",
        'patterns': [r'SPANK plugin "pyxis" option "(?P<what>[\w-]{1,40})"'],
        'cause': "The option {what} belongs to the Slurm plugin pyxis. The machine on which you "
        "call srun, or a node of the job, has not loaded pyxis. slurmd reads plugstack.conf, the "
        "list of plugins, only at the start of slurmd.",
        'remedy': "`srun --help | grep pyxis` prints a line if pyxis is loaded. Administrators "
        "must install spank_pyxis.so, add the path of spank_pyxis.so to plugstack.conf on login "
        "and compute nodes, and restart slurmd. Give the option to srun instead of sbatch: "
        "sbatch accepts options of pyxis only if pyxis on all nodes supports sbatch.",
        'source': "github.com/NVIDIA/pyxis, issue 84 and README",
    },
    {
        'name': "the Charliecloud image does not exist on the node",
        'patterns': [
            r"ch-run\[\d+\]: error: can't stat: ?(?P<path>\S{1,300}): No such file",
            r"ch-run\[\d+\]: error: can't stat:(?P<path>/\S{1,300}): No such file",
        ],
        'cause': "The Charliecloud image {path} does not exist on this node. The image was not "
        "pulled or not unpacked on this node, or the image folder has another name (some "
        "versions of Charliecloud write '+' for ':' and '%' for '/' in the name).",
        'remedy': "List the images with `ls FOLDER` and `ch-image list`; `ch-convert NAME "
        "FOLDER` unpacks an image. With Nextflow, set charliecloud.cacheDir to a folder on a "
        "disk that all nodes can read, and use versions of Nextflow and Charliecloud that were "
        "released at about the same time.",
        'source': "github.com/Computomics/MethylScore, issue 1",
    },
    {
        'name': "enroot cannot bind a path",
        'patterns': [
            r"enroot-mount: failed to (?:mount|create (?:file|directory)|open): ?(?P<path>\S{1,300})(?: at "
            r"\S{1,300})?: (?P<why>[^\n]{1,60})"
        ],
        'cause': "enroot cannot bind {path} ({why}). {path} does not exist on this node, you or "
        "root have no permission to enter {path} (NFS denies root access), or enroot cannot "
        "create the target folder in the container.",
        'remedy': "Run `srun ls -ld FOLDER` as the user of the job, not as root, to check that "
        "the folder exists on the node. Use absolute paths in --container-mounts=SRC:DST. Set "
        "ENROOT_DATA_PATH to a folder on a local disk. If the image lacks the target folder DST, "
        "add --container-writable.",
        'source': "github.com/NVIDIA/enroot, issue 140",
    },
]
