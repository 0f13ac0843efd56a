"""Messages of podman, enroot and pyxis, Sarus, Charliecloud and the NVIDIA toolkit."""

from typing import Any, Dict, List

ENTRIES: List[Dict[str, Any]] = [
    {
        'name': "GPU driver that the container toolkit does not find",
        'patterns': [
            (
                "nvidia-container-cli: initialization error: ",
                r"nvidia-container-cli: initialization error: (?P<why>[^\n]{1,100})",
            ),
            (
                'could not select device driver "',
                r'could not select device driver "[^"\n]{0,40}" with capabilities',
            ),
        ],
        'cause': "The NVIDIA container toolkit could not make the GPUs available in the container "
        "({why}). The driver is not loaded on this node, the node has no GPU, or the toolkit is "
        "missing or too old.",
        'remedy': "Run `nvidia-smi` on the node. If the node has no GPU, remove --gpus (enroot: "
        "`export NVIDIA_VISIBLE_DEVICES=void`). Administrators can run `modprobe nvidia; "
        "ldconfig` and install a current nvidia-container-toolkit. A message with cuda>= means "
        "that the image needs a newer driver.",
        'source': "github.com/NVIDIA/libnvidia-container, issues 3 and 48; NVIDIA container "
        "toolkit, Troubleshooting",
        'unless': [
            "files of the driver that the toolkit may not read",
            "no GPU seen",
            "list of libraries that the toolkit cannot make",
            "cgroups that the toolkit may not write",
            "driver of NVIDIA updated while it ran",
            "GPUs lost by the container",
        ],
    },
    {
        'name': "no driver of NVIDIA detected",
        'patterns': ["The NVIDIA Driver was not detected"],
        'cause': "The container or node sees no NVIDIA driver. The container was started without "
        "--nv (Docker and podman: --gpus all), the node has no GPU, or the driver was updated and "
        "the node was not rebooted.",
        'remedy': "`srun nvidia-smi -L` outside the container shows whether the node has a GPU. "
        "Start the container with `apptainer exec --nv` (enroot: NVIDIA_VISIBLE_DEVICES=all; "
        "podman: --device nvidia.com/gpu=all). After 'version mismatch', administrators must "
        "reboot the node.",
        'source': "github.com/ComparativeGenomicsToolkit/cactus, issue 1343; NVIDIA, nvidia-smi(1)",
        'also': [("the job has no GPU", "echo $SLURM_GPUS_ON_NODE $CUDA_VISIBLE_DEVICES")],
        'unless': [
            "driver of NVIDIA not in the container",
            "driver of NVIDIA updated while it ran",
            "GPUs lost by the container",
        ],
    },
    {
        'name': "folder of enroot that cannot be made",
        'patterns': [
            (
                "mkdir: cannot create directory",
                r"mkdir: cannot create directory \S(?P<folder>/run/enroot[^'’\n]{0,200}).: (?:[^\n]{1,60})",
            )
        ],
        'cause': "enroot keeps its state in {folder}, which the system creates only at a login. "
        "In a job the folder does not exist, and you have no permission to create it.",
        'remedy': "For yourself, without pyxis, run `export "
        "ENROOT_RUNTIME_PATH=/tmp/$USER/enroot`. Administrators can set ENROOT_RUNTIME_PATH, "
        "ENROOT_CACHE_PATH and ENROOT_DATA_PATH in enroot.conf to a folder for each user that a "
        "Slurm prolog creates.",
        'source': "github.com/NVIDIA/pyxis, issues 12 and 62; enroot, doc/configuration.md",
    },
    {
        'name': "session of the user that podman misses",
        'patterns': [
            (
                "RunRoot is pointing to a path (",
                r"RunRoot is pointing to a path \(\S{1,200}\) which is not writable",
            ),
            (
                "/run/user/",
                r"(?:mkdir|l?stat|open|chown|creating \w+:) /run/user/\d+[^\n]{0,80}(?:: no such file|: permission "
                "denied|not owned|not exist)",
            ),
        ],
        'cause': "Rootless podman (and other rootless runtimes) needs a folder /run/user/NUMBER "
        "and a systemd session of the user. Jobs, su and cron create neither.",
        'remedy': "Run `export XDG_RUNTIME_DIR=/tmp/run-$UID; mkdir -p -m 700 $XDG_RUNTIME_DIR`, "
        "and start the container with `podman --cgroup-manager=cgroupfs`. Administrators can run "
        "`loginctl enable-linger USER`.",
        'source': "podman, troubleshooting",
        'general': True,
    },
    {
        'name': "list of libraries that the toolkit cannot make",
        'patterns': [
            (
                "nvidia-container-cli: ldcache error: ",
                r"nvidia-container-cli: ldcache error: (?:[^\n]{1,120})",
            ),
            ("failed with error code", r"ldconfig(?:\.real)?[^\n]{0,60}failed with error code"),
        ],
        'cause': "The NVIDIA container toolkit runs the host's ldconfig to update the library "
        "cache of the image, and ldconfig failed. The image has no C library or another type of C "
        "library, /proc or /sys is incomplete (a container inside a container), or the image is "
        "not writable.",
        'remedy': "For a container inside a container, start the outer one with all of /proc "
        "(--privileged, or systempaths=unconfined). In /etc/nvidia-container-runtime/config.toml, "
        "the file in ldconfig = \"@/sbin/ldconfig\" must exist on the host. With enroot, run "
        "`enroot start --rw`.",
        'source': "github.com/SlinkyProject/containers, pull request 2",
    },
    {
        'name': "cgroups that the toolkit may not write",
        'patterns': [
            ("failed to add device rules: ", r"failed to add device rules: (?P<why>[^\n]{1,200})"),
            (
                "write error: /sys/fs/cgroup/",
                r"write error: (?P<why>/sys/fs/cgroup/\S{1,200}): [^\n]{1,60}",
            ),
        ],
        'cause': "The NVIDIA container toolkit tries to allow the GPUs in a cgroup, which an "
        "ordinary user cannot change: {why}",
        'remedy': "Administrators can set no-cgroups = true in "
        "/etc/nvidia-container-runtime/config.toml, or install another version of the toolkit "
        "(version 1.17.7 fails in this way).",
        'source': "github.com/NVIDIA/libnvidia-container, issue 313",
    },
    {
        'name': "files of the driver that the toolkit may not read",
        'patterns': [
            (
                ": permission denied",
                r"nvidia-container-cli: [^\n]{0,120}path error: /{0,2}(?P<path>/\S{1,300}?): permission denied",
            ),
            (
                "file lookup failed: /",
                r"nvidia-container-cli: [^\n]{0,120}file lookup failed: (?P<path>/\S{1,300}?): permission "
                "denied",
            ),
        ],
        'cause': "The NVIDIA container toolkit reads files of the driver and of the image, and "
        "cannot access {path}: ordinary users cannot enter its folder, and some versions of the "
        "toolkit stop at such a file.",
        'remedy': "Administrators can install a current libnvidia-container-tools (dnf or apt "
        "upgrade), which skips such files, or run `chmod a+x FOLDER` on the folders above the "
        "file.",
        'source': "github.com/NVIDIA/enroot, issue 231; github.com/NVIDIA/libnvidia-container, "
        "pull request 304",
    },
    {
        'name': "rights of enroot missing",
        'patterns': [
            (
                ": failed to set capabilities: ",
                r"enroot-\w+: failed to set capabilities: [^\n]{1,60}",
            ),
            (
                "failed to create ",
                r"failed to create (?:opaque )?ovlfs whiteout: (?P<path>\S{1,200})[^\n]{0,80}",
            ),
        ],
        'cause': "enroot import marks deleted files, which only a program with extra privileges "
        "can do. The package enroot+caps is missing, or the disk (NFS, Lustre, a disk mounted "
        "with nosuid) cannot store the marks. {path}",
        'remedy': "Set ENROOT_TEMP_PATH and ENROOT_DATA_PATH to folders on a local disk (/tmp, "
        "/run, NVMe). Administrators can install enroot+caps on all nodes. Otherwise import the "
        "image on another machine and copy the .sqsh file.",
        'source': "github.com/NVIDIA/enroot, issues 69 and 141; github.com/NVIDIA/pyxis, issue 87",
    },
    {
        'name': "no shell in the image of enroot",
        'patterns': [
            (
                "enroot-switchroot: failed to execute: ",
                r"enroot-switchroot: failed to execute: (?P<program>\S{1,100}): No such file",
            )
        ],
        'cause': "enroot starts every container with {program}, which this image does not contain "
        "(hello-world, distroless, FROM scratch), or the image was not unpacked completely.",
        'remedy': "Use an image with a shell (ubuntu, bash, alpine). If the image has a shell, "
        "run `enroot remove NAME` and import the image again; ENROOT_TEMP_PATH and "
        "ENROOT_DATA_PATH need enough space on a local disk.",
        'source': "github.com/NVIDIA/enroot, issues 177 and 217",
    },
    {
        'name': "folder of pyxis missing",
        'patterns': [
            (
                "pyxis: couldn't ",
                r"pyxis: couldn't (?:mkdir|chown) (?P<path>\S{1,200}?): (?P<why>[^\n]{1,60})",
            )
        ],
        'cause': "pyxis keeps the images of running job steps in {path}, and cannot create this "
        "folder on the node ({why}).",
        'remedy': "Administrators can create the folder on every node at each boot with `mkdir -p "
        "-m 755 /run/pyxis` (systemd-tmpfiles), or add runtime_path=FOLDER with a local folder "
        "after spank_pyxis.so in plugstack.conf.",
        'source': "github.com/NVIDIA/pyxis, issue 4 and README",
    },
    {
        'name': "pyxis not loaded",
        'patterns': [
            (
                'SPANK plugin "pyxis" option "',
                r'SPANK plugin "pyxis" option "(?P<what>[\w-]{1,40})"',
            )
        ],
        'cause': "The option {what} belongs to the Slurm plugin pyxis, which is not loaded "
        "everywhere. The machine with srun and every node need the plugin, and slurmd reads "
        "plugstack.conf only when it starts.",
        'remedy': "`srun --help | grep pyxis` shows whether the plugin is loaded. Administrators "
        "must install spank_pyxis.so and its line in plugstack.conf on login and compute nodes, "
        "then restart slurmd. Give the option to srun; sbatch accepts the option only if pyxis on "
        "all nodes supports sbatch.",
        'source': "github.com/NVIDIA/pyxis, issue 84 and README",
    },
    {
        'name': "image of Charliecloud not there",
        'patterns': [
            (
                "]: error: can't stat:",
                r"ch-run\[\d+\]: error: can't stat: ?(?P<path>\S{1,300}): No such file",
            ),
            (
                "]: error: can't stat:/",
                r"ch-run\[\d+\]: error: can't stat:(?P<path>/\S{1,300}): No such file",
            ),
        ],
        'cause': "The image {path} does not exist on this node: the image was not pulled or not "
        "unpacked there, or its folder has another name (':' and '+', '/' and '%' replace each "
        "other, depending on the version).",
        'remedy': "Check with `ls FOLDER` and `ch-image list`; `ch-convert NAME FOLDER` unpacks "
        "the image. With Nextflow, put the folder charliecloud.cacheDir on a disk that all nodes "
        "see, and use versions of Nextflow and Charliecloud from the same period.",
        'source': "github.com/Computomics/MethylScore, issue 1",
    },
    {
        'name': "mount of enroot refused",
        'patterns': [
            (
                "enroot-mount: failed to ",
                r"enroot-mount: failed to (?:mount|create (?:file|directory)|open): ?(?P<path>\S{1,300})(?: at "
                r"\S{1,300})?: (?P<why>[^\n]{1,60})",
            )
        ],
        'cause': "enroot cannot bind {path} ({why}). The path does not exist on this node, you "
        "(or root, to which NFS denies access) cannot enter it, or the target folder in the "
        "container cannot be created.",
        'remedy': "Run `srun ls -ld FOLDER` as the user of the job, not as root. "
        "--container-mounts=SRC:DST needs absolute paths. Set ENROOT_DATA_PATH to a local disk, "
        "and add --container-writable if the image lacks the target folder.",
        'source': "github.com/NVIDIA/enroot, issue 140",
    },
]
