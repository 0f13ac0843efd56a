"""podman, enroot and pyxis, Sarus, Charliecloud, the container toolkit of NVIDIA."""

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
        'cause': "The container toolkit of NVIDIA could not bring the GPUs into the container "
        "({why}): the driver is not loaded on this node (or there is no GPU), or the toolkit is "
        "missing or too old.",
        'remedy': "nvidia-smi on the node; where there is no GPU leave out --gpus (enroot: "
        "NVIDIA_VISIBLE_DEVICES=void). Administrators: modprobe nvidia, nvidia-container-toolkit "
        "of today, ldconfig; a newer image needs a newer driver (cuda>=...).",
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
        'cause': "The container or node sees no driver of NVIDIA: it was started without --nv "
        "(Docker, podman: --gpus all), the node has no GPU, or the driver was updated and the "
        "node not started again.",
        'remedy': "srun nvidia-smi -L outside the container shows whether the node has one. "
        "apptainer exec --nv; enroot: NVIDIA_VISIBLE_DEVICES=all; podman: --device "
        "nvidia.com/gpu=all. 'version mismatch': the administrators restart the node.",
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
        'cause': "enroot keeps its state in {folder}, which only a login makes: in a job nobody "
        "has made it, and you may not.",
        'remedy': "Administrators: in enroot.conf ENROOT_RUNTIME_PATH (and ENROOT_CACHE_PATH, "
        "ENROOT_DATA_PATH) to a folder for each user, which a prolog of Slurm makes. For "
        "yourself, without pyxis: export ENROOT_RUNTIME_PATH=/tmp/$USER/enroot.",
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
        'cause': "Rootless podman (and others) need a folder /run/user/NUMBER and a systemd of "
        "the user, which a job, su or cron lacks.",
        'remedy': "export XDG_RUNTIME_DIR=/tmp/run-$UID; mkdir -p -m 700 $XDG_RUNTIME_DIR; podman "
        "--cgroup-manager=cgroupfs; administrators: loginctl enable-linger USER.",
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
        'cause': "The container toolkit of NVIDIA makes the image's list of libraries by the "
        "host's ldconfig, and that failed: the image has none or another C library, /proc or /sys "
        "is not whole (a container within one), or the image's file cannot be written.",
        'remedy': 'In a container within a container start the outer one with all of /proc (--privileged, or '
        'systempaths=unconfined); ldconfig = "@/sbin/ldconfig" in /etc/nvidia-container-runtime/config.toml '
        'must exist on the host; enroot start --rw.',
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
        'cause': "The container toolkit of NVIDIA wants to allow the GPUs in a cgroup, and an "
        "ordinary user may not write there: {why}",
        'remedy': "no-cgroups = true in /etc/nvidia-container-runtime/config.toml "
        "(administrators), or another release of the toolkit; 1.17.7 was one that failed so.",
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
        'cause': "The container toolkit of NVIDIA looks at files of the driver and of the image, "
        "and may not reach {path}: its folder is closed to ordinary users, and some releases of "
        "the toolkit give up there.",
        'remedy': "For the administrators: libnvidia-container-tools of today (dnf or apt "
        "upgrade), which passes such files over; or chmod a+x the folders above that file.",
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
        'cause': "enroot import makes marks of deleted files that only a program with more rights "
        "may make: the package enroot+caps is missing, or the disk (NFS, Lustre, one mounted with "
        "nosuid) does not keep them. {path}",
        'remedy': "Administrators: install enroot+caps on all nodes. ENROOT_TEMP_PATH and "
        "ENROOT_DATA_PATH on a local disk (/tmp, /run, NVMe). Without either: import on another "
        "machine and copy the .sqsh.",
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
        'cause': "enroot starts every container by {program}, and the image has none "
        "(hello-world, distroless, FROM scratch), or it was not unpacked whole.",
        'remedy': "An image with a shell (ubuntu, bash, alpine). Else import it again: enroot "
        "remove NAME, and see that ENROOT_TEMP_PATH and ENROOT_DATA_PATH have room and are on a "
        "local disk.",
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
        'cause': "pyxis keeps images of running steps in {path}, and that folder cannot be made "
        "on the node ({why}).",
        'remedy': "For the administrators: mkdir -p -m 755 /run/pyxis on every node at each start "
        "(systemd-tmpfiles), or runtime_path=FOLDER behind spank_pyxis.so in plugstack.conf, a "
        "folder of local disks.",
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
        'cause': "The option {what} is one of the plugin pyxis, which is not loaded everywhere: "
        "srun's machine and every node need it, and slurmd reads plugstack.conf only when it "
        "starts.",
        'remedy': "srun --help | grep pyxis. Administrators: spank_pyxis.so and the line in "
        "plugstack.conf on login and compute nodes, then restart slurmd. sbatch: the option "
        "belongs to srun or to both releases of pyxis.",
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
        'cause': "There is no image at {path} on this node: it was not pulled or not unpacked "
        "there, or its folder has another name (':' and '+', '/' and '%' stand for each other, "
        "which differs between releases).",
        'remedy': "ls the folder above it; ch-image list; ch-convert NAME FOLDER unpacks. "
        "Nextflow: the folder charliecloud.cacheDir on a disk of all nodes, and releases of the "
        "same time.",
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
        'cause': "enroot cannot bind {path} ({why}): it is not on this node, you (or root, whom "
        "NFS keeps out) may not enter it, or the place in the container cannot be made.",
        'remedy': "srun ls -ld that folder, as the user of the job, not as root. "
        "--container-mounts=SRC:DST wants whole paths; ENROOT_DATA_PATH on a local disk; "
        "--container-writable if the place is missing in the image.",
        'source': "github.com/NVIDIA/enroot, issue 140",
    },
]
