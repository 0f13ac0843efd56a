"""podman, enroot and pyxis, Sarus, Charliecloud, the container toolkit of NVIDIA."""

ENTRIES = [
    {'name': "GPU driver that the container toolkit does not find",
     'text': "nvidia-container-cli: initialization error: nvml error: driver not loaded",
     'patterns': [("nvidia-container-cli: initialization error: ", "nvidia-container-cli: initialization error: "
                   r"(?P<why>[^\n]{1,100})"),
                  ("nvidia-container-cli: ", "nvidia-container-cli: (?:detection|device|mount|container) error: "
                   r"(?P<why>[^\n]{1,150})"),
                  ("nvidia-container-cli", r"nvidia-container-cli\S{0,3} (?P<why>[^\n]{1,120}(?:error|failed)[^"
                   r"\n]{0,80})"),
                  ('could not select device driver "', r'could not select device driver "[^"\n]{0,40}" with '
                   "capabilities"),
                  ("nvidia-container-runtime", r"nvidia-container-runtime[^\n]{0,80}(?:error|fail|not)[^\n]{0,60}"),
                  ("hooks.d/98-nvidia.sh exited with return code ", r"hooks\.d/98-nvidia\.sh exited with return code "
                   r"\d+"), ("Auto-detected mode as '", r"Auto-detected mode as '\w+'[^\n]{0,200}")],
     'unless': ["image that wants a newer driver",
                "no GPU seen",
                "list of libraries that the toolkit cannot make",
                "cgroups that the toolkit may not write"],
     'cause': "The container toolkit of NVIDIA could not bring the GPUs into the container ({why}): the driver is not "
              "loaded on this node (or there is no GPU), or the toolkit is missing or too old.",
     'remedy': "nvidia-smi on the node; where there is no GPU leave out --gpus (enroot: NVIDIA_VISIBLE_DEVICES=void). "
               "Administrators: modprobe nvidia, nvidia-container-toolkit of today, ldconfig; a newer image needs a "
               "newer driver (cuda>=...).",
     'source': "github.com/NVIDIA/libnvidia-container, issues 3 and 48; NVIDIA container toolkit, Troubleshooting",
     'evidence': 'measured'},
    {'name': "image that wants a newer driver",
     'text': "nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.4",
     'patterns': [("unsatisfied condition: ", r"unsatisfied condition: (?P<what>[^\n]{1,60})")],
     'cause': "The image asks for {what}, and the driver of this node does not offer that.",
     'remedy': "nvidia-smi shows what the driver takes: an image with an older CUDA. On data-centre GPUs the "
               "compatibility package may do: NVIDIA_DISABLE_REQUIRE=1 tries all the same.",
     'source': "NVIDIA container toolkit, NVIDIA_REQUIRE_*", 'evidence': 'derived'},
    {'name': "no driver of NVIDIA detected",
     'text': "WARNING: The NVIDIA Driver was not detected.  GPU functionality will not be available.",
     'patterns': ["The NVIDIA Driver was not detected",
                  ("Failed to detect NVIDIA driver version", "Failed to detect NVIDIA driver version"),
                  "No NVIDIA (?:GPU|driver) detected",
                  ("NVIDIA-SMI has failed because it couldn't communicate", "NVIDIA-SMI has failed because it "
                   "couldn't communicate"),
                  ("Failed to initialize NVML: ", r"Failed to initialize NVML: (?P<why>[^\n]{1,60})"),
                  ("nvidia-smi: command not found", "nvidia-smi: command not found"),
                  ("NVML: Driver Not Loaded", "NVML: Driver Not Loaded"),
                  ("Driver/library version mismatch", "Driver/library version mismatch")],
     'unless': ["driver of NVIDIA not in the container"],
     'cause': "The container or node sees no driver of NVIDIA: it was started without --nv (Docker, podman: --gpus "
              "all), the node has no GPU, or the driver was updated and the node not started again. {why}",
     'remedy': "srun nvidia-smi -L outside of the container tells whether the node has one. apptainer exec --nv; "
               "enroot: NVIDIA_VISIBLE_DEVICES=all; podman: --device nvidia.com/gpu=all. 'version mismatch': the "
               "administrators restart the node.",
     'also': [("the job has no GPU",
               "echo $SLURM_GPUS_ON_NODE $CUDA_VISIBLE_DEVICES")],
     'source': "github.com/ComparativeGenomicsToolkit/cactus, issue 1343; NVIDIA, nvidia-smi(1)",
     'evidence': 'derived'},
    {'name': "devices of CDI not known",
     'text': "Error: unresolvable CDI devices nvidia.com/gpu=all",
     'patterns': [("unresolvable CDI device", r"unresolvable CDI devices? (?P<device>\S{1,60})"),
                  ("not found", r"CDI[^\n]{0,80}not found"), ("failed", r"CDI[^\n]{0,80}failed"),
                  ("error", r"CDI[^\n]{0,80}error"), ("unresolvable", r"CDI[^\n]{0,80}unresolvable")],
     'cause': "podman or Docker is to show a GPU by CDI ({device}), and no file in /etc/cdi or /var/run/cdi describes "
              "it.",
     'remedy': "nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml (administrators; again after each update of the "
               "driver); nvidia-ctk cdi list shows the names.",
     'source': "NVIDIA container toolkit, CDI", 'evidence': 'derived'},
    {'name': "image that enroot cannot import",
     'text': "[ERROR] URL https://... returned error code: 401 Unauthorized",
     'patterns': [("pyxis: ", "pyxis: (?:failed to import docker image|couldn't (?:import|pull|start container)[^"
                   r"\n]{0,60})"),
                  (" returned error code: ", r"\[ERROR\] (?:URL )?https?://[^\n]{1,200} returned error code: "
                   r"(?P<why>[^\n]{1,60})"),
                  ("[ERROR] Could not process JSON input", r"\[ERROR\] Could not process JSON input"),
                  ("[ERROR] Invalid image reference: ", r"\[ERROR\] Invalid image reference: (?P<what>[^\n]{1,100})"),
                  (" returned error code: ", r"URL [^\n]{1,200} returned error code: (?P<why>\d+[^\n]{0,40})"),
                  ("[ERROR] ", r"\[ERROR\] (?:No such file or directory|File already exists|Command not found): "
                   r"(?P<what>[^\n]{1,150})")],
     'unless': ["registry's limit of pulls"],
     'cause': "enroot (or pyxis) could not fetch or unpack the image: {why}{what}",
     'remedy': "Names of other registries than Docker Hub need a #: nvcr.io#nvidia/pytorch:24.09-py3. Accounts go "
               "into ~/.config/enroot/.credentials. ENROOT_CACHE_PATH, ENROOT_DATA_PATH and ENROOT_TEMP_PATH must be "
               "on a disk with room.",
     'source': "github.com/NVIDIA/enroot, documentation, import; github.com/NVIDIA/pyxis, wiki",
     'evidence': 'derived'},
    {'name': "pyxis started no container",
     'text': "slurmstepd: error: pyxis: container start failed with error code: 1",
     'patterns': [("pyxis: ", r"pyxis: (?:container start failed|couldn't execute enroot command|child (?:\d+ )?"
                   r"(?:failed|terminated)|failed to (?:create|start|configure)[^\n]{0,60}|couldn't (?:join|get|chdir"
                   r"|read|mount|cleanup)[^\n]{0,60})[^\n]{0,80}"),
                  ("spank_pyxis.so: ", r"spank_pyxis\.so: [^\n]{1,100}"),
                  ("enroot-", "enroot-(?:nsenter|mount|switchroot|aufs2ovlfs|mksquashovlfs): (?!command not found)[^"
                   r"\n]{0,150}"),
                  ("enroot: ", r"enroot: [^\n]{0,60}(?:unbound variable|[Ee]rror|failed|[Pp]ermission denied)")],
     'unless': ["container of enroot not there",
                "image that enroot cannot import",
                "GPU driver that the container toolkit does not find"],
     'cause': "The plugin pyxis could not start the container by enroot; the lines below, 'printing enroot log file', "
              "say why: folders of enroot that you may not write, no user namespaces, a disk that is full.",
     'remedy': "enroot start -rw NAME on the node by hand; the folders ENROOT_RUNTIME_PATH, ENROOT_DATA_PATH, "
               "ENROOT_CACHE_PATH (enroot.conf) must exist for you; sysctl user.max_user_namespaces; "
               "ENROOT_SLURM_HOOK off if pmix is missing.",
     'source': "github.com/NVIDIA/pyxis, README; github.com/awslabs/awsome-distributed-ai, issue 141",
     'evidence': 'derived', 'general': 1},
    {'name': "storage of podman not usable",
     'text': "Error: ... overlay is not supported over nfs / kernel does not support overlay fs",
     'patterns': [("overlay", r"overlay[^\n]{0,80}(?:is not supported (?:over|on)|not supported[^\n]{0,20}(?:file "
                   r"?system|nfs|lustre|fuseblk)|backing file system)[^\n]{0,80}"),
                  ("graph driver", r"graph driver[^\n]{0,80}(?:is not supported (?:over|on)|not supported[^\n]{0,20}"
                   r"(?:file ?system|nfs|lustre|fuseblk)|backing file system)[^\n]{0,80}"),
                  ("storage driver", r"storage driver[^\n]{0,80}(?:is not supported (?:over|on)|not supported[^"
                   r"\n]{0,20}(?:file ?system|nfs|lustre|fuseblk)|backing file system)[^\n]{0,80}"),
                  ("graphroot", r"graphroot[^\n]{0,80}(?:is not supported (?:over|on)|not supported[^\n]{0,20}(?:file "
                   r"?system|nfs|lustre|fuseblk)|backing file system)[^\n]{0,80}"),
                  ("storage", r"storage[^\n]{0,80}(?:is not supported (?:over|on)|not supported[^\n]{0,20}(?:file "
                   r"?system|nfs|lustre|fuseblk)|backing file system)[^\n]{0,80}"),
                  ("kernel does not support overlay fs", "kernel does not support overlay fs"),
                  ("configure storage: ", r"configure storage: (?P<why>[^\n]{1,150})"),
                  ("database ", r"database (?:graph driver|static dir|configuration)[^\n]{0,100}(?:mismatch|does not "
                   "match)"), ("layer not known", "layer not known"), ("readlink ", r"readlink [^\n]{0,150}overlay"),
                  ("error creating ", r"error creating (?:lib)?pod[^\n]{0,30}runtime"),
                  ("User-selected graph driver ", r'User-selected graph driver "?(?P<driver>\w+)"? overwritten')],
     'unless': ["container run as another user"],
     'cause': "podman keeps images in ~/.local/share/containers, and cannot on this file system (home on NFS, Lustre, "
              "GPFS), or its store is of another setting or release. {why}",
     'remedy': "graphroot in ~/.config/containers/storage.conf on a local disk (/tmp/$USER), with driver overlay and "
               "mount_program /usr/bin/fuse-overlayfs; podman system reset empties a store that is broken.",
     'source': "podman, storage.conf(5), rootless tutorial", 'evidence': 'derived'},
    {'name': "session of the user that podman misses",
     'text': "ERRO[0000] ... XDG_RUNTIME_DIR ... /run/user/1000 ... not exist / cgroups: ... systemd ... dbus",
     'patterns': [("XDG_RUNTIME_DIR", r"XDG_RUNTIME_DIR[^\n]{0,60}(?:not|invalid|No such|missing|unset|error)[^"
                   r"\n]{0,80}"), ("Failed to get rootless runtime dir", "Failed to get rootless runtime dir"),
                  ("RunRoot is pointing to a path (", r"RunRoot is pointing to a path \(\S{1,200}\) which is not "
                   "writable"), ("creating ", r"creating (?:events|runtime) (?:dirs|static files): [^\n]{1,120}"),
                  ("/run/user/", r"/run/user/\d+[^\n]{0,80}(?:no such file|not exist|[Pp]ermission denied|not owned"
                   "|No such file)"),
                  ("The cgroupv2 manager is set to systemd but there is no systemd user session", "The cgroupv2 "
                   "manager is set to systemd but there is no systemd user session"),
                  ("sd-bus call", r"sd-bus call[^\n]{0,150}"),
                  (" connect to", r"(?:could not|cannot|[Ff]ailed to) connect to[^\n]{0,20} (?:bus|dbus|user scope "
                   r"bus)[^\n]{0,100}"), ("Failed to add ", r"Failed to add (?:pause process|conmon)[^\n]{0,80}")],
     'cause': "Rootless podman (and others) want a folder /run/user/NUMBER and a systemd of your own, which a job, su "
              "or cron has not.",
     'remedy': "export XDG_RUNTIME_DIR=/tmp/run-$UID; mkdir -p -m 700 $XDG_RUNTIME_DIR; podman "
               "--cgroup-manager=cgroupfs; administrators: loginctl enable-linger USER.",
     'source': "podman, troubleshooting", 'evidence': 'derived', 'general': 1},
    {'name': "runtime of OCI refused",
     'text': "Error: OCI runtime error: crun: ... / OCI runtime create failed: runc create failed: ...",
     'patterns': [("OCI runtime ", r"OCI runtime (?:create failed|exec failed|error|attempted[^\n]{0,40}|command[^"
                   r"\n]{0,40}|permission denied)[^\n]{0,5}:? ?(?P<why>[^\n]{0,200})"),
                  ("crun: ", r"\bcrun: (?P<why>[^\n]{1,200})"), ("runc: ", r"\brunc: (?P<why>[^\n]{1,200})"),
                  ("failed to create ", r"failed to create (?:shim|task)[^\n]{0,40}: (?P<why>[^\n]{1,150})"),
                  ("Error response from daemon: ", r"Error response from daemon: (?P<why>[^\n]{1,200})")],
     'unless': ["registry's limit of pulls", "program not in the image"],
     'cause': "The low-level runtime (runc, crun) of Docker or podman did not start the container: {why}",
     'remedy': "The last part of the line is the reason: 'not found' is a program that the image does not have, "
               "'permission denied' or 'not permitted' a right (SELinux, user namespaces, cgroups), 'no such device' "
               "a --device that the host has not.",
     'source': "github.com/opencontainers/runc; github.com/containers/crun", 'evidence': 'derived', 'general': 2},
    {'name': "daemon of Docker not reached",
     'text': "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
     'patterns': ["Cannot connect to the Docker daemon",
                  ("permission denied while trying to connect to the Docker daemon", "permission denied while trying "
                   "to connect to the Docker daemon"),
                  ("docker.sock", r"docker\.sock[^\n]{0,60}(?:permission denied|no such file|connection refused)"),
                  ("cannot connect to Podman", "cannot connect to Podman"),
                  ("unable to connect to Podman", "unable to connect to Podman")],
     'cause': "Docker's daemon does not run here, or you may not use it; on clusters it is not allowed.",
     'remedy': "On a workstation: systemctl start docker, and your account in the group docker (log in again). On a "
               "cluster: Apptainer reads the same images (apptainer exec docker://NAME).",
     'source': "docs.docker.com, Linux post-installation steps", 'evidence': 'derived'},
    {'name': "Charliecloud started no container",
     'text': "ch-run[77]: error: ...",
     'patterns': [("ch-run[", r"ch-(?P<program>run)\[\d+\]: (?:error|fatal): (?P<why>[^\n]{1,150})"),
                  ("ch-image[", r"ch-(?P<program>image)\[\d+\]: (?:error|fatal): (?P<why>[^\n]{1,150})"),
                  ("ch-convert[", r"ch-(?P<program>convert)\[\d+\]: (?:error|fatal): (?P<why>[^\n]{1,150})"),
                  ("ch-fromhost[", r"ch-(?P<program>fromhost)\[\d+\]: (?:error|fatal): (?P<why>[^\n]{1,150})"),
                  ("ch-checkns[", r"ch-(?P<program>checkns)\[\d+\]: (?:error|fatal): (?P<why>[^\n]{1,150})"),
                  (": error: ", r"ch-image[^\n]{0,30}: error: (?P<why>[^\n]{1,150})"),
                  ("error: can't ", r"^error: (?P<why>can't (?:mount|init|open|bind|exec|unshare)[^\n]{1,120})")],
     'unless': ["no user namespaces"],
     'cause': "Charliecloud's ch-{program} failed: {why}",
     'remedy': "'can't unshare' or 'init user+mount namespaces': sysctl user.max_user_namespaces; 'no such file' of a "
               "bind: mkdir the place in the image (ch-run -w); 'can't execve': the program is not in the image.",
     'source': "hpc.github.io/charliecloud, FAQ", 'evidence': 'derived', 'general': 1},
    {'name': "Shifter or Sarus refused",
     'text': "[ERROR] ... sarus / shifter: ... Image is not available / FAILED to ...",
     'patterns': [("shifter: ", r"shifter: (?P<why>[^\n]{1,120})"),
                  ("FAILED to ", r"FAILED to (?P<why>(?:setup|lookup|mount|find|obtain|generate|open|pull)[^\n]{1,120}"
                   r"(?:image|udiRoot|site|user|config)[^\n]{0,60})"),
                  ("ERROR: ", r"ERROR: (?P<why>(?:setup|lookup|mount|find|obtain|generate|open|pull)[^\n]{1,120}"
                   r"(?:image|udiRoot|site|user|config)[^\n]{0,60})"),
                  ("[sarus", r"\[sarus\S{0,20}\][^\n]{0,20}\[\w+\] (?P<why>[^\n]{1,150})"),
                  (" is not available", r"Image \S{1,150} is not available"),
                  ("Specified image ", r"Specified image \S{1,150} is not available")],
     'unless': ["no place for a bind", "Sarus finds no MPI", "Sarus refuses the MPI"],
     'cause': "Shifter or Sarus did not start the container: {why}",
     'remedy': "shifterimg images or sarus images lists what is there; pull first (shifterimg pull, sarus pull), with "
               "the whole name and tag. A folder that is bound must exist on the node.",
     'source': "docs of Shifter and Sarus", 'evidence': 'derived', 'general': 1},
    {'name': "Charliecloud of another release",
     'text': "ch-run[62783]: --set-env: can't open: -w: No such file or directory",
     'patterns': [(": can't ", r"ch-\w+\[\d+\]: (?P<option>--?[\w-]{1,30}): can't (?:open|read|parse)[^\n]{0,80}")],
     'cause': "The option {option} is read in another way than its caller meant: with release 0.32 Charliecloud "
              "changed options, and Nextflow or a script is made for the other.",
     'remedy': "ch-run --version; a Nextflow and a Charliecloud of the same time, or the option in its new form "
               "(ch-run --help).",
     'source': "github.com/Gregor-Mendel-Institute/aradeepopsis, issue 65", 'evidence': 'measured'},
    {'name': "list of libraries that the toolkit cannot make",
     'text': "nvidia-container-cli: ldcache error: process /usr/sbin/ldconfig.real failed with error code: 1",
     'patterns': [("nvidia-container-cli: ldcache error: ", "nvidia-container-cli: ldcache error: (?P<why>[^"
                   r"\n]{1,120})"),
                  ("failed with error code", r"ldconfig(?:\.real)?[^\n]{0,60}failed with error code")],
     'cause': "The container toolkit of NVIDIA makes the image's list of libraries by the host's ldconfig, and that "
              "failed: the image has none or another C library, /proc or /sys is not whole (a container within one), "
              "or the image's file cannot be written.",
     'remedy': "In a container within a container start the outer one with all of /proc (--privileged, or "
               'systempaths=unconfined); ldconfig = "@/sbin/ldconfig" in /etc/nvidia-container-runtime/config.toml '
               "must exist on the host; enroot start --rw.",
     'source': "github.com/SlinkyProject/containers, pull request 2", 'evidence': 'measured'},
    {'name': "cgroups that the toolkit may not write",
     'text': "nvidia-container-cli: mount error: failed to add device rules: open /sys/fs/cgroup/.../devices.allow: "
             "permission denied",
     'patterns': [("failed to add device rules: ", r"failed to add device rules: (?P<why>[^\n]{1,200})"),
                  ("failed to get device cgroup", r"failed to get device cgroup[^\n]{0,120}")],
     'cause': "The container toolkit of NVIDIA wants to allow the GPUs in a cgroup, and an ordinary user may not "
              "write there: {why}",
     'remedy': "no-cgroups = true in /etc/nvidia-container-runtime/config.toml (administrators), or another release "
               "of the toolkit; 1.17.7 was one that failed so.",
     'source': "github.com/NVIDIA/libnvidia-container, issue 313", 'evidence': 'derived'},
    {'name': "container of enroot not there",
     'text': 'pyxis: error: a container with name "..." does not exist, and --container-image is not set',
     'patterns': [('a container with name "', r'a container with name "(?P<name>[^"\n]{1,100})" does not exist'),
                  ("No such ", r"No such (?:container|file or directory): (?P<name>pyxis_[^\n]{1,80})")],
     'cause': "pyxis finds no container {name} of yours on this node: containers live on the node's own disk "
              "(ENROOT_DATA_PATH), pyxis puts pyxis_ and the job's number before names, and none was made in this job.",
     'remedy': "srun --container-image=FILE.sqsh (the file that enroot import made) --container-name=NAME makes it on "
               "every node of the job; enroot list on the node shows what is there.",
     'source': "github.com/NVIDIA/pyxis, README; github.com/NVIDIA/enroot, issue 249", 'evidence': 'derived'},
]
