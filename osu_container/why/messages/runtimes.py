"""podman, enroot and pyxis, Sarus, Charliecloud, the container toolkit of NVIDIA."""

ENTRIES = [
    {'name': "GPU driver that the container toolkit does not find",
     'text': "nvidia-container-cli: initialization error: nvml error: driver not loaded",
     'patterns': [("nvidia-container-cli: initialization error: ", "nvidia-container-cli: initialization error: "
                   r"(?P<why>[^\n]{1,100})"),
                  ('could not select device driver "', r'could not select device driver "[^"\n]{0,40}" with '
                   "capabilities"),
                  ("nvidia-container-runtime", r"nvidia-container-runtime[^\n]{0,80}(?:error|fail|not)[^\n]{0,60}"),
                  ("nvidia-container-cli.real: initialization error: ", r"nvidia-container-cli\.real: initialization "
                   r"error: (?P<other>[^\n]{1,100})")],
     'unless': ["image that wants a newer driver", "files of the driver that the toolkit may not read",
                "mount that the toolkit may not make", "capabilities that the toolkit does not get",
                "no GPU seen",
                "list of libraries that the toolkit cannot make",
                "cgroups that the toolkit may not write",
                "driver of NVIDIA updated while it ran", "GPUs lost by the container"],
     'cause': "The container toolkit of NVIDIA could not bring the GPUs into the container ({why}{other}): the driver "
              "is not loaded on this node (or there is no GPU), or the toolkit is missing or too old.",
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
     'unless': ["driver of NVIDIA not in the container", "driver of NVIDIA updated while it ran",
                "GPUs lost by the container"],
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
    {'name': "folder of enroot that cannot be made",
     'text': "mkdir: cannot create directory '/run/enroot': Permission denied",
     'patterns': [("mkdir: cannot create directory", r"mkdir: cannot create directory \S(?P<folder>/run/(?:enroot|user/"
                   r"\d+)[^'’\n]{0,200}).: (?P<why>[^\n]{1,60})")],
     'cause': "enroot keeps its state in {folder}, which only a login makes: in a job nobody has made it, and you may "
              "not.",
     'remedy': "Administrators: in enroot.conf ENROOT_RUNTIME_PATH (and ENROOT_CACHE_PATH, ENROOT_DATA_PATH) to a "
               "folder for each user, which a prolog of Slurm makes. For yourself, without pyxis: export "
               "ENROOT_RUNTIME_PATH=/tmp/$USER/enroot.",
     'source': "github.com/NVIDIA/pyxis, issues 12 and 62; enroot, doc/configuration.md", 'evidence': 'measured'},
    {'name': "image that enroot cannot import",
     'text': "[ERROR] URL https://... returned error code: 401 Unauthorized",
     'patterns': [("pyxis: ", "pyxis: (?:failed to import docker image|couldn't (?:import|pull)[^"
                   r"\n]{0,60})"),
                  (" returned error code: ", r"\[ERROR\] (?:URL )?https?://[^\n]{1,200} returned error code: "
                   r"(?P<why>[^\n]{1,60})"),
                  ("[ERROR] Could not process JSON input", r"\[ERROR\] Could not process JSON input"),
                  ("[ERROR] Invalid image reference: ", r"\[ERROR\] Invalid image reference: (?P<what>[^\n]{1,100})"),
                  (" returned error code: ", r"URL [^\n]{1,200} returned error code: (?P<why>\d+[^\n]{0,40})"),
                  ("[ERROR] ", r"\[ERROR\] (?:No such file or directory|File already exists): "
                   r"(?P<what>[^\n]{1,150})")],
     'unless': ["registry's limit of pulls", "folder of enroot that cannot be made"],
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
                "GPU driver that the container toolkit does not find", "container toolkit of NVIDIA failed"],
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
                  ("setxattr ", r"l?setxattr [^\n]{0,150}(?:not supported|not permitted)"),
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
                                                                                                  "manager is set to "
                                                                                                  "systemd but there "
                                                                                                  "is no systemd user "
                                                                                                  "session"),
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
     'unless': ["no place for a bind", "Sarus finds no MPI", "Sarus refuses the MPI",
                "image that Shifter does not have"],
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
                  ("write error: /sys/fs/cgroup", r"write error: (?P<where>/sys/fs/cgroup/\S{1,200}): [^\n]{1,60}"),
                  ("failed to get device cgroup", r"failed to get device cgroup[^\n]{0,120}")],
     'cause': "The container toolkit of NVIDIA wants to allow the GPUs in a cgroup, and an ordinary user may not "
              "write there: {why}{where}",
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
    {'name': "files of the driver that the toolkit may not read",
     'text': "nvidia-container-cli: detection error: path error: ///var/run/nvidia-fabricmanager/socket: permission "
             "denied",
     'patterns': [("path error: ", r"path error: /{0,2}(?P<path>/\S{1,300}?): permission denied"),
                  ("file lookup failed: ", r"file lookup failed: (?P<file>/\S{1,300}?): permission denied")],
     'cause': "The container toolkit of NVIDIA looks at files of the driver and of the image, and may not reach "
              "{path}{file}: its folder is closed to ordinary users, and some releases of the toolkit give up there.",
     'remedy': "For the administrators: libnvidia-container-tools of today (dnf or apt upgrade), which passes such "
               "files over; or chmod a+x the folders above that file.",
     'source': "github.com/NVIDIA/enroot, issue 231; github.com/NVIDIA/libnvidia-container, pull request 304",
     'evidence': 'measured'},
    {'name': "mount that the toolkit may not make",
     'text': "nvidia-container-cli: mount error: mount operation failed: ...: operation not permitted",
     'patterns': [("mount operation failed: ",
                   r"mount operation failed: (?P<path>\S{1,300}?): operation not permitted"),
                  ("file creation failed: ", r"file creation failed: (?P<file>\S{1,300}?): (?:read-only file system|"
                   "operation not permitted|permission denied)")],
     'cause': "The container toolkit of NVIDIA may not mount a file of the driver ({path}{file}) as this user: within "
              "another container (Kubernetes, Slinky), or where the file lies on a disk that is mounted with other "
              "rights than the container's.",
     'remedy': "In a pod: run slurmd privileged, or nvidia-container-toolkit of today, and --no-persistenced in "
               "enroot's 98-nvidia.sh if it is that socket. Singularity: --nv without --nvccli. Else ENROOT_DATA_PATH "
               "and ENROOT_RUNTIME_PATH on a disk without nosuid, nodev, noexec (findmnt -T FOLDER).",
     'source': "github.com/NVIDIA/enroot, issues 111 and 265; mount(2)", 'evidence': 'derived'},
    {'name': "capabilities that the toolkit does not get",
     'text': "nvidia-container-cli: permission error: capability change failed: operation not permitted",
     'patterns': ["capability change failed",
                  ("open failed: /proc/", r"open failed: /proc/\S{1,60}: permission denied")],
     'cause': "SELinux, AppArmor or a container around it takes from the toolkit of NVIDIA the rights that it needs.",
     'remedy': "getenforce; aa-status. For the administrators: setenforce 0 (or the profile unprivileged_userns in "
               "complain mode) to see, then a policy for it; Ubuntu: sysctl "
               "kernel.apparmor_restrict_unprivileged_userns=0.",
     'source': "github.com/NVIDIA/enroot, issues 88 and 238", 'evidence': 'measured'},
    {'name': "container toolkit of NVIDIA failed",
     'text': "nvidia-container-cli: detection error: ...",
     'patterns': [("nvidia-container-cli", r"nvidia-container-cli(?:\.real)?: (?!initialization error|requirement error"
                   r"|ldcache error)(?P<why>\w+ error: [^\n]{1,150})"),
                  ("nvidia-container-cli", r"nvidia-container-cli\S{0,3} (?P<other>(?!\w+ error: |exited)[^\n]{1,120}"
                   r"(?:error|failed)[^\n]{0,80})"),
                  ("error executing hook ", r"error executing hook `(?P<hook>[^`\n]{0,100}nvidia[^`\n]{0,60})"),
                  ("error running ", r"error running (?:prestart )?hook[^\n]{0,250}nvidia"),
                  ("98-nvidia.sh exited with return code ", r"98-nvidia\.sh exited with return code \d+")],
     'unless': ["list of libraries that the toolkit cannot make", "cgroups that the toolkit may not write",
                "files of the driver that the toolkit may not read", "mount that the toolkit may not make",
                "capabilities that the toolkit does not get", "image that wants a newer driver"],
     'cause': "The container toolkit of NVIDIA could not bring the GPUs into the container: {why}{other}{hook}",
     'remedy': "nvidia-smi on the node itself, then nvidia-container-cli -k -d /dev/tty info, which says where it "
               "stops; 'device error: unknown device id' is a GPU in NVIDIA_VISIBLE_DEVICES that the job does not "
               "have. Administrators: driver and nvidia-container-toolkit of today.",
     'source': "NVIDIA container toolkit, Troubleshooting", 'evidence': 'derived', 'general': 1},
    {'name': "runtime of NVIDIA not known to Docker",
     'text': "docker: Error response from daemon: unknown or invalid runtime name: nvidia.",
     'patterns': [("nvidia", r"[Uu]nknown (?:or invalid )?runtime (?:name|specified)[: ]{1,2}nvidia"),
                  ("nvidia-container-runtime: no such file", r"fork/exec \S{0,200}/nvidia-container-runtime: no such "
                                                             r"file")],
     'cause': "Docker was not told of the container toolkit of NVIDIA, or it is not installed.",
     'remedy': "nvidia-ctk runtime configure --runtime=docker, then systemctl restart docker (administrators; "
               "nvidia-container-toolkit must be installed). Or --gpus all instead of --runtime=nvidia.",
     'source': "NVIDIA container toolkit, Installation", 'evidence': 'derived'},
    {'name': "rights of enroot missing",
     'text': "enroot-aufs2ovlfs: failed to set capabilities: Operation not permitted",
     'patterns': [("failed to set capabilities: ", r"enroot-\w+: failed to set capabilities: [^\n]{1,60}"),
                  ("ovlfs whiteout: ", r"failed to create (?:opaque )?ovlfs whiteout: (?P<path>\S{1,200})[^\n]{0,80}")],
     'cause': "enroot import makes marks of deleted files that only a program with more rights may make: the package "
              "enroot+caps is missing, or the disk (NFS, Lustre, one mounted with nosuid) does not keep them. {path}",
     'remedy': "Administrators: install enroot+caps on all nodes. ENROOT_TEMP_PATH and ENROOT_DATA_PATH on a local "
               "disk (/tmp, /run, NVMe). Without either: import on another machine and copy the .sqsh.",
     'source': "github.com/NVIDIA/enroot, issues 69 and 141; github.com/NVIDIA/pyxis, issue "
               "87", 'evidence': 'measured'},
    {'name': "no shell in the image of enroot",
     'text': "enroot-switchroot: failed to execute: /bin/sh: No such file or directory",
     'patterns': [("enroot-switchroot: failed to execute: ", r"enroot-switchroot: failed to execute: "
                                                             r"(?P<program>\S{1,100})"
                   ": No such file")],
     'cause': "enroot starts every container by {program}, and the image has none (hello-world, distroless, FROM "
              "scratch), or it was not unpacked whole.",
     'remedy': "An image with a shell (ubuntu, bash, alpine). Else import it again: enroot remove NAME, and see that "
               "ENROOT_TEMP_PATH and ENROOT_DATA_PATH have room and are on a local disk.",
     'source': "github.com/NVIDIA/enroot, issues 177 and 217", 'evidence': 'measured'},
    {'name': "container of enroot that may not be entered",
     'text': "enroot-switchroot: failed to execute: /bin/sh: Permission denied",
     'patterns': [("enroot-switchroot: failed to execute: ", r"enroot-switchroot: failed to execute: "
                                                             r"(?P<program>\S{1,100})"
                   ": Permission denied"),
                  ("enroot-switchroot: failed to switch root", r"enroot-switchroot: failed to switch root[^\n]{0,200}"
                   "Permission denied")],
     'cause': "The folder in which enroot keeps containers lies on a disk that starts no programs (noexec, as /run and "
              "/tmp often are), or in a folder that you may not pass.",
     'remedy': "findmnt -no OPTIONS -T FOLDER of ENROOT_DATA_PATH and ENROOT_RUNTIME_PATH (XDG_DATA_HOME, "
               "XDG_RUNTIME_DIR): another disk, without noexec; namei -l FOLDER shows where x is missing.",
     'source': "github.com/NVIDIA/enroot, issues 63 and 156; execve(2)", 'evidence': 'derived'},
    {'name': "squashfs of a kind that is not read here",
     'text': "[WARN] Squashfs image uses lzo compression, this version supports only xz, zlib, lz4, zstd.",
     'patterns': [("this version supports only ", r"uses (?P<what>\w+) compression, this version supports only "
                   r"(?P<known>[^\n]{1,60})"),
                  (" detected, only version", r"Squashfs version (?P<what>[\d.]{1,8}) detected, only version"),
                  ("Filesystem uses ", r"Filesystem uses (?P<other>\w+) compression[^\n]{0,40}(?:unsupported|not "
                                       r"supported)")],
     'cause': "The image was packed by {what}{other}, and the squashfuse of this node does not know that.",
     'remedy': "Pack it anew: ENROOT_SQUASH_OPTIONS='-comp zstd' (or -comp gzip) enroot import ...; "
               "unsquashfs and mksquashfs -comp gzip with a file that you have.",
     'source': "squashfuse, ll_main.c; github.com/NVIDIA/enroot, issue 141", 'evidence': 'derived'},
    {'name': "output of enroot not to be made",
     'text': "Could not create destination file: No such file or directory",
     'patterns': [("Could not create destination file: ", r"Could not create destination file: (?P<why>[^\n]{1,60})")],
     'cause': "mksquashfs, which enroot import calls in namespaces of its own, cannot make the file there ({why}): NFS "
              "and Lustre that keep root out refuse it, or the folder is missing.",
     'remedy': "enroot import --output /tmp/NAME.sqsh docker://..., then mv it to where it belongs.",
     'source': "github.com/NVIDIA/enroot, issue 10", 'evidence': 'measured'},
    {'name': "folder of pyxis missing",
     'text': "pyxis: couldn't mkdir /run/pyxis/100005: No such file or directory",
     'patterns': [("pyxis: couldn't ", r"pyxis: couldn't (?:mkdir|chown) (?P<path>\S{1,200}?): "
                                             r"(?P<why>[^\n]{1,60})"),
                  ("pyxis: couldn't create squashfs", r"pyxis: couldn't create squashfs[^\n]{0,100}")],
     'cause': "pyxis keeps images of running steps in {path}, and that folder cannot be made on the node ({why}).",
     'remedy': "For the administrators: mkdir -p -m 755 /run/pyxis on every node at each start (systemd-tmpfiles), or "
               "runtime_path=FOLDER behind spank_pyxis.so in plugstack.conf, a folder of local disks.",
     'source': "github.com/NVIDIA/pyxis, issue 4 and README", 'evidence': 'measured'},
    {'name': "kernel without filters for pyxis",
     'text': "pyxis: seccomp filter failed: Function not implemented",
     'patterns': [("seccomp filter failed", r"seccomp filter failed[^\n]{0,80}")],
     'cause': "pyxis filters system calls (--container-remap-root), and the kernel of the node has no seccomp, or a "
              "program between forbids it.",
     'remedy': "srun --no-container-remap-root; grep SECCOMP_FILTER /boot/config-$(uname -r).",
     'source': "github.com/NVIDIA/pyxis, issue 42; seccomp(2)", 'evidence': 'derived'},
    {'name': "pyxis not loaded",
     'text': 'error: Warning: SPANK plugin "pyxis" option "container-image" not found',
     'patterns': [('SPANK plugin "pyxis" option', r'SPANK plugin "pyxis" option "(?P<what>[\w-]{1,40})"'),
                  ("--container-", r"(?:unrecognized|unknown|invalid) option:? "
                                   r"['\x22]?(?P<other>--container-[\w-]{1,30})")],
     'cause': "The option {what}{other} is one of the plugin pyxis, which is not loaded everywhere: srun's machine and "
              "every node need it, and slurmd reads plugstack.conf only when it starts.",
     'remedy': "srun --help | grep pyxis. Administrators: spank_pyxis.so and the line in plugstack.conf on login and "
               "compute nodes, then restart slurmd. sbatch: the option belongs to srun or to both releases of pyxis.",
     'source': "github.com/NVIDIA/pyxis, issue 84 and README", 'evidence': 'derived'},
    {'name': "prolog of tasks not in the container",
     'text': "error: run_command: slurm task_prolog can not be executed (...) No such file or directory",
     'patterns': [("task_prolog can not be executed", r"task_prolog can not be executed \((?P<path>[^)\n]{1,200})\)"),
                  ("Could not run slurm task_prolog",
                   r"Could not run slurm task_prolog \[(?P<other>[^\]\n]{1,200})\]")],
     'cause': "Slurm starts its task prolog {path}{other} within the container, and it is not there.",
     'remedy': "srun --container-mounts=FILE:FILE,... with that file and what it calls; administrators: a mount for "
               "all in /etc/enroot/mounts.d.",
     'source': "github.com/NVIDIA/pyxis, issues 84, 122 and 135", 'evidence': 'derived'},
    {'name': "several starts of Charliecloud in one image",
     'text': "ch-run[15383]: error: can't mkdir: ...: File exists",
     'patterns': [("can't mkdir: ", r"ch-run\[\d+\]: error: can't mkdir: (?P<path>\S{1,300}): File exists")],
     'cause': "Several ch-run make the place for a bind ({path}) in the same image at the same moment, and one comes "
              "too late.",
     'remedy': "Start it again (Nextflow: errorStrategy 'retry'); mkdir -p the folder in the image before; or bind a "
               "folder that is there (/mnt/0).",
     'source': "github.com/nextflow-io/nextflow, issue 3964", 'evidence': 'derived'},
    {'name': "container of that name there already",
     'text': 'Error response from daemon: Conflict. The container name "/x" is already in use by container ...',
     'patterns': [(" is already in use by", r'container name "?/?(?P<name>[^"\s]{1,100})"? is already in use by')],
     'cause': "There is a container of the name {name}, running or ended.",
     'remedy': "docker rm -f NAME (podman rm -f NAME), or another --name; --rm removes it at its end.",
     'source': "docs.docker.com, docker run", 'evidence': 'derived'},
    {'name': "port of the host taken",
     'text': "Bind for 0.0.0.0:8888 failed: port is already allocated",
     'patterns': [("failed: port is already allocated", r"Bind for (?P<port>\S{1,60}) failed: port is already "
                                                        r"allocated")],
     'cause': "Another program or container of this node listens on {port} already.",
     'remedy': "ss -ltnp shows which; -p 8889:8888 takes another port of the host.",
     'source': "docs.docker.com, Networking", 'evidence': 'derived'},
    {'name': "name of an image misspelt",
     'text': "docker: invalid reference format: repository name must be lowercase.",
     'patterns': [("nvalid reference format", r"[Ii]nvalid reference format(?P<why>[^\n]{0,60})"),
                  ("did not resolve", r"short-name \x22(?P<name>[^\x22\n]{1,100})\x22 did not resolve"),
                  ("short-name resolution enforced", "short-name resolution enforced but cannot prompt")],
     'cause': "What stands where the image should be is no name of one, or names no registry {name}{why}: capital "
              "letters, a blank, an empty variable, an option behind the image; podman wants the registry too.",
     'remedy': "echo the whole command. Names are REGISTRY/NAME:TAG in small letters: docker.io/library/ubuntu:22.04; "
               "put paths with blanks into quotes (-v \"$PWD\":/data).",
     'source': "docs.docker.com, Image references; containers-registries.conf(5)", 'evidence': 'derived'},
    {'name': "folder of the host for a bind not there",
     'text': "invalid mount config for type \"bind\": bind source path does not exist: /data",
     'patterns': [("bind source path does not exist", r"bind source path does not exist:? (?P<path>\S{1,300})"),
                  ("Error: statfs ", r"Error: statfs (?P<other>\S{1,300}): no such file or directory")],
     'cause': "{path}{other} is to be bound into the container and is not on this machine (nor, with Docker Desktop or "
              "a remote daemon, on that one).",
     'remedy': "mkdir -p it, or correct -v; ls it on the node where the container starts.",
     'source': "docs.docker.com, Bind mounts; podman-run(1)", 'evidence': 'derived'},
    {'name': "podman of another session",
     'text': "Error: cannot re-exec process to join the existing user namespace",
     'patterns': [("cannot re-exec process", r"cannot re-exec process(?P<why>[^\n]{0,80})"),
                  ("nvalid internal status", r"invalid internal status, try resetting the pause process"),
                  ("pause.pid", r"pause\.pid[^\n]{0,100}(?:no such|permission|invalid)")],
     'unless': ["no user namespaces"],
     'cause': "podman joins the namespace of its earlier commands, and that is gone: the settings of /etc/subuid were "
              "changed, its process was killed, or the node is another than then.",
     'remedy': "podman system migrate; else rm -rf /run/user/$UID/libpod /tmp/podman-run-$UID (XDG_RUNTIME_DIR), and "
               "again. Several nodes need a runroot of their own each (storage.conf, /tmp).",
     'source': "podman, troubleshooting", 'evidence': 'derived'},
    {'name': "program of the container not executable",
     'text': 'exec: "/entrypoint.sh": permission denied: unknown',
     'patterns': [(": permission denied", r'exec: "(?P<program>[^"\n]{1,200})": permission denied'),
                  ("exec user process caused", r"exec user process caused:? .?permission denied"),
                  (".singularity.d/actions/", r"\.singularity\.d/actions/\w{1,10}:(?: line)? \d+: [^\n]{0,80}exec: "
                   r"(?P<other>[^\s:]{1,200}): Permission denied")],
     'cause': "{program}{other} in the container may not be executed: it has no right x, lies on a disk that starts no "
              "programs (noexec), or is a folder.",
     'remedy': "chmod +x it (RUN chmod +x in the recipe), or start it by its interpreter: bash FILE; python FILE. For "
               "podman in a job: graphroot on a disk without noexec.",
     'source': "execve(2); docs.docker.com", 'evidence': 'derived'},
    {'name': "storage of Charliecloud in use",
     'text': "error: storage directory is already in use",
     'patterns': ["storage directory is already in use", "concurrent instances of ch-image cannot share"],
     'cause': "Another ch-image works in the same storage folder: it takes one at a time (Nextflow pulls several "
              "images at once).",
     'remedy': "Pull the images one after the other before; or a folder each (ch-image -s FOLDER, CH_IMAGE_STORAGE).",
     'source': "github.com/nextflow-io/nextflow, issue 3566", 'evidence': 'measured'},
    {'name': "image of Charliecloud not there",
     'text': "ch-run[4]: error: can't stat: /var/tmp/img: No such file or directory",
     'patterns': [("can't stat:", r"ch-run\[\d+\]: error: can't stat: ?(?P<path>\S{1,300}): No such file"),
                  ("can't stat:/", r"ch-run\[\d+\]: error: can't stat:(?P<other>/\S{1,300}): No such file")],
     'cause': "There is no image at {path}{other} on this node: it was not pulled or not unpacked there, or its folder "
              "has another name (':' and '+', '/' and '%' stand for each other, which differs between releases).",
     'remedy': "ls the folder above it; ch-image list; ch-convert NAME FOLDER unpacks. Nextflow: the folder "
               "charliecloud.cacheDir on a disk of all nodes, and releases of the same time.",
     'source': "github.com/Computomics/MethylScore, issue 1", 'evidence': 'measured'},
    {'name': "image that Shifter does not have",
     'text': "FAILED to find requested image",
     'patterns': [("FAILED to find requested image", "FAILED to find requested image"),
                  ("mage gateway", r"(?:failed|FAILED|unable|error)[^\n]{0,60}[Ii]mage gateway")],
     'cause': "Shifter's gateway does not have the image for you: it was not pulled, its pull failed or goes on, it is "
              "private, or the gateway does not answer.",
     'remedy': "shifterimg images | grep NAME (status READY); shifterimg -v pull docker:NAME:TAG, with TAG; "
               "--image=docker:NAME:TAG exactly so. A private one: shifterimg login, and pull with --user.",
     'source': "docs.nersc.gov, Shifter; github.com/NERSC/shifter, issue 249", 'evidence': 'derived'},
    {'name': "mount of enroot refused",
     'text': "enroot-mount: failed to mount: /home/me/data at /tmp/enroot-data/user-0/x/data: Permission denied",
     'patterns': [("enroot-mount: failed to ", r"enroot-mount: failed to (?:mount|create (?:file|directory)|open): ?"
                   r"(?P<path>\S{1,300})(?: at \S{1,300})?: (?P<why>[^\n]{1,60})")],
     'cause': "enroot cannot bind {path} ({why}): it is not on this node, you (or root, whom NFS keeps out) may not "
              "enter it, or the place in the container cannot be made.",
     'remedy': "srun ls -ld that folder, as the user of the job, not as root. --container-mounts=SRC:DST wants whole "
               "paths; ENROOT_DATA_PATH on a local disk; --container-writable if the place is missing in the image.",
     'source': "github.com/NVIDIA/enroot, issue 140", 'evidence': 'measured'},
    {'name': "cgroups of the node not set up for Docker",
     'text': "applying cgroup configuration for process caused ... no such file or directory",
     'patterns': [("applying cgroup configuration for process caused",
                   r"applying cgroup configuration for process caused"
                   r"[^\n]{0,250}"),
                  ("annot find cgroup mount destination", "[Cc]annot find cgroup mount destination")],
     'cause': "Docker does not find its cgroup on this node: its folder is gone, or the node's cgroups are of another "
              "release (v1, v2) than Docker expects.",
     'remedy': "Another node (srun --exclude=NODE), and tell the administrators: systemctl restart docker; Docker from "
               "20.10 on for cgroups v2 (stat -fc %T /sys/fs/cgroup).",
     'source': "github.com/jade-hpc-gpu/jade-hpc-gpu.github.io, issue 22", 'evidence': 'measured'},
    {'name': "file that pyxis takes for a name",
     'text': "pyxis: importing docker image: hello-world.sqsh",
     'patterns': [(" image: ", r"pyxis: importing docker image: "
                               r"(?P<file>(?![./])[^\s#]{1,200}\.(?:sqsh|sqfs|squashfs|sif))")],
     'cause': "{file} has no / in front, so pyxis asks a registry for an image of that name instead of opening the "
              "file.",
     'remedy': "srun --container-image=./FILE.sqsh, or its whole path.",
     'source': "github.com/NVIDIA/pyxis, issue 127", 'evidence': 'measured'},
]
