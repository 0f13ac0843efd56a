"""
osu-container why: names cause and remedy of the messages in a job's output.

    osu-container why slurm-123.out        or        srun ... 2>&1 | osu-container why
    python3 osu_container/why.py FILE      the same on a node that has nothing but Python

The table MESSAGES is all there is to it; explain() looks for its patterns. To add a message, add an entry and
its text to tests/test_why.py, where every entry is tried on what a program really printed.

An entry:
    name       str, short and unique
    pattern    str, regular expression; matched line by line (re.MULTILINE), without colours. Logs are long: it begins
               with something that is rare, not with .* or \\w+
    cause      str, one or two sentences; {group} is replaced by what the pattern's group of that name found
    remedy     str, likewise: what to type or change, the likeliest first
    source     str, where message and remedy are from
    evidence   'measured': seen and cured, by this project or by the source; 'derived': follows from documentation or
               from a program's source code; 'untested': neither
    times      int, optional: it counts from so many lines on (a line that is harmless when it comes once)
    last       True, optional: a consequence of something else; named only if nothing else is found
    unless     list of names, optional: not named beside these, which say it more exactly

Python 3.6 and its standard library only: it runs on compute nodes with nothing installed.
"""
import argparse
import json
import re
import sys
import textwrap

DOCS = 'docs/troubleshooting.md'
WRAPPER = 'easyconfigs/o/osu-container/run-in-container'
GPU_BIND = 'easyconfigs/o/osu-container/osu-gpu-bind'
PORT = 'easyconfigs/o/osu-native/osu-port'
SLURM = 'Slurm 22.05, seen by this project, 2026-11'
LOADER = 'glibc, ld.so(8); seen by this project, 2026-11'
APPTAINER = 'Apptainer 1.4.5, seen by this project, 2026-11'
AGAIN = "Install the module again: eb osu-container-APPROACH.eb -r --rebuild."

MESSAGES = [
    # ---- the loader
    {'name': 'libfabric too old',
     'pattern': r"version `(?P<version>FABRIC_[\d.]+)' not found(?: \(required by (?P<by>[^)]+)\))?",
     'cause': "The libfabric that was found is older than the one that {by} was built with: it does not have "
              "{version}.",
     'remedy': "Use pure or opensource, whose libfabric is the image's; or an image whose MPI was built with an "
               "older libfabric (1.7 comes with 1.20, 1.8 with 2.0, 1.9 with 2.5). Is a folder with a libfabric on "
               "your own LD_LIBRARY_PATH? If the host was updated: install the module again.",
     'source': 'libfabric, libfabric.map.in by release; ' + DOCS, 'evidence': 'measured'},
    {'name': 'C library too old',
     'pattern': r"version `(?P<version>GLIBC_\w[\w.]*)' not found(?: \(required by (?P<by>[^)]+)\))?",
     'cause': "{by} needs {version}, and the C library of the image (or, outside of it, of the host) is older. A "
              "library of the host that is put into the container runs with the image's C library.",
     'remedy': "Use an image of a distribution at least as new as the host, or an approach that brings less of the "
               "host in: opensource, or pure. Take --rocm and --nv away if you have added them.",
     'source': 'github.com/apptainer/apptainer, pull request 2606, issues 1621 and 3041', 'evidence': 'measured'},
    {'name': 'C++ library too old',
     'pattern': r"version `(?P<version>(?:GLIBCXX|CXXABI|GCC)_[\w.]+)' not found(?: \(required by (?P<by>[^)]+)\))?",
     'cause': "{by} needs {version} of the compiler's libraries (libstdc++, libgcc), and those that were found are "
              "older.",
     'remedy': "Use an image with a newer compiler, or an approach that brings less of the host in. If a module of "
               "the host has set LD_LIBRARY_PATH, unload it.",
     'source': 'github.com/apptainer/apptainer, issue 1621', 'evidence': 'derived'},
    {'name': 'library of another version',
     'pattern': r"version `(?!FABRIC_|GLIBC|CXXABI_|GCC_)(?P<version>\S+)' not found"
                r"(?: \(required by (?P<by>[^)]+)\))?",
     'cause': "{by} was built with another release of a library than the one that was found: it lacks {version}.",
     'remedy': "The library is named in front of the message: see what puts it there (osu-explain lists what the "
               "module binds), and use one that fits.",
     'source': LOADER, 'evidence': 'derived'},
    {'name': 'missing library',
     'pattern': r"(?:^|[\s:'(])(?P<library>[^\s:'(]+): cannot open shared object file",
     'cause': "{library} is needed and found nowhere: neither in the image nor among what is injected.",
     'remedy': "The modules check this when they are installed, so the host has changed since: " + AGAIN + " If it "
               "is on the host in another folder, add that to library_folders of the site (docs/add-a-site.md).",
     'source': LOADER, 'evidence': 'measured'},
    {'name': 'preloaded library missing',
     'pattern': r"object '(?P<library>[^']+)' from LD_PRELOAD cannot be preloaded",
     'cause': "LD_PRELOAD names {library}, which is not there or does not fit; the program goes on without it, with "
              "another MPI than was meant.",
     'remedy': "Is it your own LD_PRELOAD? Unset it. If it is the module's (osu-explain LD_PRELOAD), the host has "
               "changed: " + AGAIN,
     'source': LOADER, 'evidence': 'measured'},
    {'name': 'undefined symbol',
     'pattern': r"undefined symbol: (?P<symbol>[^\s,]+)",
     'cause': "A library was found that lacks the function {symbol}: it is another release, or another library of "
              "the same name, than the program was built with.",
     'remedy': "The library that needs it stands in front of the message. See which files are loaded (srun "
               "osu_container/rank-proof FOLDER PROGRAM), and take away the folder or the preload that brings the "
               "wrong one. If the host was updated: install the module again.",
     'source': LOADER, 'evidence': 'measured'},
    {'name': 'file of another architecture',
     'pattern': r"(?P<what>wrong ELF class|invalid ELF header|Exec format error)",
     'cause': "The file is for another kind of processor, or it is no program or library ({what}).",
     'remedy': "Use an image for this architecture (uname -m): LUMI and workstations are x86_64, Alps is aarch64. A "
               "path of the site may lead to a linker script instead of a library.",
     'source': LOADER, 'evidence': 'derived'},

    # ---- MPI, libfabric, the network
    {'name': 'no provider',
     'pattern': r"open_fabric: ?No data available|find_provider.*No data available|getinfo(?:\(\))? failed|"
                r"no such provider|fi_getinfo: -61",
     'cause': "libfabric has no provider that MPI can use: it was told to use one that is not built in or has no "
              "card here (FI_PROVIDER), or MPI asks for more than the provider has.",
     'remedy': "osu-explain FI_PROVIDER says what is asked for; unset yours if you have set it. opensource: does the "
               "image's libfabric have the provider (osu-exec fi_info -l)? hybrid: MPICH may ask for a newer "
               "libfabric than the host's. FI_LOG_LEVEL=info shows what was looked at. MPICH 3.4.3 does not work "
               "over cxi.",
     'source': 'MPICH 4.2.3 and 5.0.2, seen by this project, 2026-11; open_fabric: '
               'github.com/DeiC-HPC/BitBulldozersLab, 2025; ' + DOCS, 'evidence': 'measured'},
    {'name': 'provider finds nothing',
     'pattern': r"provider (?P<provider>[\w;]+) returned -61 \(No data available\)",
     'unless': ['no provider'],
     'cause': "The provider {provider} of libfabric has no device here, or not what was asked for. Harmless where "
              "another one is used.",
     'remedy': "If the run failed, see that the provider of this site is there: osu-explain FI_PROVIDER.",
     'source': 'libfabric, src/fabric.c; github.com/ofiwg/libfabric, issue 7324', 'evidence': 'derived', 'last': True},
    {'name': 'no data available',
     'pattern': r"(?<!-61 \()No data available", 'unless': ['no provider', 'provider finds nothing'],
     'cause': "libfabric's answer FI_ENODATA: nothing fits what was asked for, mostly no provider or no card.",
     'remedy': "FI_LOG_LEVEL=info srun ... shows who says so and why. Is the node one with the network's cards?",
     'source': 'libfabric, fi_errno(3)', 'evidence': 'derived', 'last': True},
    {'name': 'libfabric older than asked for',
     'pattern': r"Requested version is newer than library",
     'cause': "MPI asks libfabric for the interface of a newer release than the one that was loaded.",
     'remedy': "hybrid with MPICH: export MPIR_CVAR_CH4_OFI_MAJOR_VERSION=1 MPIR_CVAR_CH4_OFI_MINOR_VERSION=22 asks "
               "for 1.22 (untested). Else an image whose MPI was built with an older libfabric, or opensource.",
     'source': 'libfabric, src/fabric.c, fi_getinfo()', 'evidence': 'derived'},
    {'name': 'no VNI on one node',
     'pattern': r"cxip_gen_auth_key failed: ?-38|fi_domain\b.*Function not implemented|"
                r"Libfabric library call \(fi_domain\)",
     'cause': "The step has no VNI, the key that Slingshot's card asks for: Slurm gives none to a step on one node, "
              "and none to a program that srun did not start.",
     'remedy': "srun --network=single_node_vni ..., which hybrid and opensource ask for (SLURM_NETWORK) unless you "
               "have set SLURM_NETWORK; start the program by srun. Without the card: export OSU_SINGLE_NODE=shm "
               "before module load.",
     'source': 'github.com/uiuc-hpc/lci, issue 110, 2025; github.com/open-mpi/ompi, issue 13148; libfabric, '
               'prov/cxi/src/cxip_dom.c', 'evidence': 'measured'},
    {'name': 'one-node VNI not allowed',
     'pattern': r"Single-node VNI requested by user",
     'cause': "This cluster does not let users ask for a VNI on one node (SwitchParameters of slurm.conf).",
     'remedy': "export OSU_SINGLE_NODE=shm before module load, or export SLURM_NETWORK=no_vni; or ask the "
               "administrators for single_node_vni=user.",
     'source': 'Slurm, plugin switch/hpe_slingshot', 'evidence': 'derived'},
    {'name': 'VNI not found',
     'pattern': r"VNI_NOT_FOUND",
     'cause': "The ranks talk under different VNIs, or one has none: they were not started by one srun. mpirun "
              "inside a job starts its helpers by srun --mpi=none.",
     'remedy': "Start the ranks by one srun, not by mpirun, and without --mpi=none.",
     'source': 'github.com/openpmix/prrte, issue 2004, 2024', 'evidence': 'measured'},
    {'name': 'match entries used up',
     'pattern': r"LE resources not recovered|FI_CXI_RX_MATCH_MODE=\[hybrid\|software\] is required",
     'cause': "More messages wait unmatched than the card has entries for; in mode hardware the run ends.",
     'remedy': "export FI_CXI_RX_MATCH_MODE=hybrid (or software) before srun.",
     'source': 'libfabric, prov/cxi, cxip_ux_onload_cb(), and fi_cxi(7)', 'evidence': 'derived'},
    {'name': 'portal table entry not found',
     'pattern': r"PTLTE_NOT_FOUND",
     'cause': "A message came to an endpoint that is gone: a rank has ended or was killed, or ran out of resources "
              "of the card. Often the consequence of another error.",
     'remedy': "Look for the first error of any rank. If there is none: export FI_CXI_RX_MATCH_MODE=software.",
     'source': 'github.com/ofiwg/libfabric, issue 10072 (open), 2024', 'evidence': 'untested'},
    {'name': 'GTL not linked',
     'pattern': r"GPU_SUPPORT_ENABLED is requested, but GTL library is not linked",
     'cause': "MPICH_GPU_SUPPORT_ENABLED=1 is set, and the program has not loaded Cray's GPU transport layer "
              "(libmpi_gtl_hsa.so.0) before MPI started.",
     'remedy': "bind: your own SINGULARITYENV_LD_PRELOAD must not take the place of the module's. native: build with "
               "the module craype-accel-amd-gfx90a loaded. Host memory only: export MPICH_GPU_SUPPORT_ENABLED=0 "
               "before module load.",
     'source': 'github.com/eth-cscs/cscs-docs, cray-mpich.md; github.com/sstsimulator/sst-core, issue 895',
     'evidence': 'measured'},
    {'name': 'DMABUF not usable',
     'pattern': r"[Cc]ould not open kernel conf file",
     'cause': "libfabric or RCCL looks into the kernel's configuration (/boot/config-...) to see whether DMABUF is "
              "there, and the container does not show that file.",
     'remedy': "export FI_HMEM_ROCR_USE_DMABUF=0, or bind the file: export SINGULARITY_BIND=/boot/config-$(uname "
               "-r). The modules do one or the other by themselves.",
     'source': 'libfabric, src/hmem_rocr.c; github.com/DeiC-HPC/BitBulldozersLab, containers with CuPy, 2025',
     'evidence': 'measured'},
    {'name': 'RCCL without its plugin',
     'pattern': r"No plugin found(?: \([^)]*\))?, using internal implementation",
     'cause': "RCCL found no plugin for libfabric, or could not load it, and uses TCP: about 3 GB/s instead of 13.",
     'remedy': "osu-explain NCCL_NET_PLUGIN shows the image's; if there is none, the image lacks librccl-net.so. "
               "NCCL_DEBUG_SUBSYS=INIT,NET says why it was not loaded. OSU_RCCL_STRICT=1 before module load makes it "
               "an error.",
     'source': 'github.com/DeiC-HPC/BitBulldozersLab, 2025; ' + DOCS, 'evidence': 'measured'},
    {'name': 'no MPI library',
     'pattern': r"cannot load MPI library",
     'cause': "mpi4py found no MPI library under the names that it knows.",
     'remedy': "In the container of this project it looks for libmpi.so.12 and libmpi.so.40; is another mpi4py on "
               "PYTHONPATH? MPI4PY_LIBMPI names the library by its path.",
     'source': 'mpi4py 4.1, seen by this project, 2026-11', 'evidence': 'derived'},

    # ---- ranks that are alone
    {'name': 'ranks without PMI',
     'pattern': r"srun started (?P<tasks>\d+) tasks without the PMI of this MPI",
     'cause': "srun has another --mpi= than this MPI knows, so each of the {tasks} ranks would be alone.",
     'remedy': "Leave out --mpi=: the module chooses by SLURM_MPI_TYPE. The message names the right one.",
     'source': WRAPPER, 'evidence': 'measured'},
    {'name': 'every rank alone',
     'pattern': r"(?i:\brank:? *0 *(?:of|out of|/) *1\b)|(?i:process 0 of 1\b)|two tables in one output", 'times': 2,
     'cause': "Several ranks each say that they are rank 0 of 1: they have not found each other, mostly for a wrong "
              "--mpi= of srun.",
     'remedy': "Leave out --mpi=, or name the right one: pmi2 for MPICH in a container, cray_shasta for Cray MPICH, "
               "pmix for Open MPI 5. srun --mpi=list shows what there is.",
     'source': 'github.com/apptainer/singularity, issues 5131 and 5706; cug26_containers_tutorial, 2026',
     'evidence': 'measured'},
    {'name': 'two tables in one output',
     'pattern': r"two tables in one output", 'unless': ['every rank alone'],
     'cause': "Each rank has measured itself: they have not found each other.",
     'remedy': "Leave out --mpi=; another cluster may lack the PMI that the site's data name under pmi (srun "
               "--mpi=list).",
     'source': 'osu_container/osu_output.py', 'evidence': 'measured'},
    {'name': 'wrong number of ranks',
     'pattern': r"This test requires (?P<number>exactly two|at least two|at least \d+|exactly \d+) processes",
     'unless': ['ranks without PMI'],
     'cause': "The benchmark wants {number} ranks and has another number: srun started others, or each rank is alone "
              "because of a wrong --mpi=.",
     'remedy': "srun -N2 -n2 ..., and no --mpi=.",
     'source': "mpi4py's ports and the OSU programs; seen by this project, 2026-11", 'evidence': 'measured'},

    # ---- the container runtime
    {'name': 'bound file missing',
     'pattern': r"mount source (?P<path>\S+) doesn't exist|skipping mount of (?P<other>\S+?):? ",
     'cause': "{path}{other} is to be bound into the container and is not there. Apptainer starts no container then; "
              "SingularityCE may only warn, and the program meets another library.",
     'remedy': "Loading the module says which library of the host has changed: " + AGAIN + " If the path is one of "
               "your own SINGULARITY_BIND or APPTAINER_BIND, correct that.",
     'source': APPTAINER + '; github.com/Lumi-supercomputer/LUMI-EasyBuild-contrib, issue 422, 2026',
     'evidence': 'measured'},
    {'name': 'no place for a bind',
     'pattern': r"destination (?P<path>\S+) doesn't exist in container",
     'cause': "{path} is to be bound, and the container has no such folder and cannot make one: an image is being "
              "built, or the runtime has no overlay.",
     'remedy': "Unload the module before singularity build.",
     'source': 'LUMI training 2026-04, Containers', 'evidence': 'measured'},
    {'name': 'two sets of binds',
     'pattern': r"SINGULARITY_(?P<name>BIND|BINDPATH) and APPTAINER_\w+ have different values, using the latter|"
                r"SINGULARITY_(?:BIND|BINDPATH) is set, but APPTAINER_\w+ is preferred",
     'cause': "You have set SINGULARITY_BIND and the module has set APPTAINER_BIND; an apptainer that is started by "
              "hand ignores the first.",
     'remedy': "Use the module's commands (osu_*, osu-exec, osu-shell), which put both together, or name your "
               "folders in APPTAINER_BIND too.",
     'source': APPTAINER, 'evidence': 'measured'},
    {'name': 'older names of variables',
     'pattern': r"Environment variable (?P<name>SINGULARITY\w+) is set, but APPTAINER\w+ is preferred|"
                r"Skipping environment variable \[(?P<other>SINGULARITYENV_\w+)",
     'cause': "{name}{other} has the older name. Apptainer still takes it, unless the newer one has another value.",
     'remedy': "Harmless where only one is set. Else unset the older.",
     'source': APPTAINER, 'evidence': 'measured', 'last': True},
    {'name': 'image cannot be read',
     'pattern': r"could not open image (?P<path>\S+?): (?P<why>.*)",
     'cause': "The image {path} is not there, is not readable or is no image ({why}).",
     'remedy': "module load of its module says how to get it back. A file that is too small is the page of a web "
               "server: copy the image again and check it (osu-container image verify FILE).",
     'source': APPTAINER, 'evidence': 'measured'},
    {'name': 'program not in the image',
     'pattern': r'"(?P<program>[^"\n]+)": executable file not found in \$PATH',
     'cause': "The image has no program {program}.",
     'remedy': "module help lists the benchmarks that the image has; osu-exec ls /opt shows what else is there. "
               "Where the OSU archive could not be had, mpi4py's ports stand in, and they are fewer.",
     'source': APPTAINER, 'evidence': 'measured'},
    {'name': 'no right to mount',
     'pattern': r"failed to open /dev/fuse|fuse: device not found",
     'cause': "The runtime mounts the image through /dev/fuse, and this user may not open it here.",
     'remedy': "As root: modprobe fuse; chmod 666 /dev/fuse. In a container of CI: --privileged or --device "
               "/dev/fuse.",
     'source': DOCS, 'evidence': 'measured'},
    {'name': 'no user namespaces',
     'pattern': r"(?i:failed to create user namespace)|Requesting capability set .* while permitted capability set",
     'cause': "The runtime may not do what it needs as this user: make user namespaces, or keep its capabilities.",
     'remedy': "Ubuntu 24.04: sysctl kernel.apparmor_restrict_unprivileged_userns=0, as root. A root without "
               "capabilities: 'root default capabilities = file' in apptainer.conf.",
     'source': DOCS, 'evidence': 'measured'},
    {'name': 'started inside the container',
     'pattern': r"already in the container|containers do not nest",
     'cause': "A command of the module was called inside the container, which cannot start another one.",
     'remedy': "Inside, call the program itself (osu_bw is on PATH there); or start the command from the host.",
     'source': WRAPPER, 'evidence': 'measured'},
    {'name': 'module not loaded',
     'pattern': r"\b(?P<name>\w+(?: or \w+)?) is not set\. Load the module first",
     'cause': "A command of the installation was called by its path, without the module that sets {name}.",
     'remedy': "module load osu-container/APPROACH; its commands are then on PATH.",
     'source': WRAPPER, 'evidence': 'measured'},
    {'name': 'image gone',
     'pattern': r"the image (?P<path>\S+) is missing or cannot be read|The image (?P<other>\S+) is gone",
     'cause': "The image {path}{other} was deleted after the installation, or you may not read it.",
     'remedy': "module load of its module prints the command that brings it back.",
     'source': WRAPPER, 'evidence': 'measured'},
    {'name': 'container runtime gone',
     'pattern': r"the container runtime (?P<path>\S+) is not there",
     'cause': "{path} was there when the module was installed and is not there now, or not on this node.",
     'remedy': AGAIN + " A compute node without a runtime: ask its administrators.",
     'source': WRAPPER, 'evidence': 'measured'},
    {'name': 'no command',
     'pattern': r"give the command to run in the container",
     'cause': "osu-exec was called without a command.",
     'remedy': "osu-exec cat /etc/os-release; osu-shell gives a shell.",
     'source': WRAPPER, 'evidence': 'measured'},
    {'name': 'host has changed',
     'pattern': r"The host has changed since this module was installed|"
                r"host library .* (?:is gone|has changed) since the module was installed",
     'cause': "A library of the host is another file than when the module was installed; nothing has compared it "
              "with the image.",
     'remedy': AGAIN,
     'source': DOCS, 'evidence': 'measured'},
    {'name': 'unknown module',
     'pattern': r"The following module\(s\) are unknown: (?P<name>.*)",
     'cause': "Lmod does not find {name}: it is not installed, or its folder is not on MODULEPATH.",
     'remedy': ". ./env.sh in this shell (on LUMI: module load LUMI/25.03 partition/container EasyBuild-user), and "
               "eb osu-container-hybrid.eb -r if it is not installed.",
     'source': DOCS, 'evidence': 'measured'},

    # ---- GPUs
    {'name': 'osu-gpu-bind without a map',
     'pattern': r"OSU_GPU_MAP is not set",
     'cause': "osu-gpu-bind learns from the module which GPU, cores and card belong together, and no module of a "
              "site with GPUs is loaded.",
     'remedy': "Load the module first; on nodes without GPUs leave osu-gpu-bind out.",
     'source': GPU_BIND, 'evidence': 'measured'},
    {'name': 'osu-gpu-bind outside of srun',
     'pattern': r"SLURM_LOCALID is not set",
     'cause': "Which GPU a rank gets depends on its number on the node, and srun gives that number.",
     'remedy': "Put osu-gpu-bind behind srun: srun -N2 -n2 osu-gpu-bind osu_bw D D.",
     'source': GPU_BIND, 'evidence': 'measured'},
    {'name': 'more ranks than GPUs',
     'pattern': r"local rank \d+, but the node has (?P<gpus>\d+) GPUs",
     'cause': "There are more ranks on the node than its {gpus} GPUs.",
     'remedy': "srun --ntasks-per-node={gpus} or fewer, or leave osu-gpu-bind out.",
     'source': GPU_BIND, 'evidence': 'measured'},
    {'name': 'part of the GPUs',
     'pattern': r"the job has (?P<some>\d+) of the node's (?P<all>\d+) GPUs",
     'cause': "Slurm gave {some} of {all} GPUs and numbers them anew, so the map of the node does not fit.",
     'remedy': "Ask for whole nodes: --gpus-per-node={all}, and --exclusive in partitions that share nodes.",
     'source': GPU_BIND, 'evidence': 'measured'},
    {'name': 'cores far from the GPU',
     'pattern': r"local rank \d+ belongs on the cores (?P<mask>\S+), and the job has none of them",
     'cause': "The job has other cores of the node than those next to this rank's GPU ({mask}).",
     'remedy': "Ask for whole nodes (--exclusive), or leave osu-gpu-bind out.",
     'source': GPU_BIND, 'evidence': 'measured'},
    {'name': 'unknown option of osu-gpu-bind',
     'pattern': r"unknown option '(?P<option>[^']*)'; osu-gpu-bind --help",
     'cause': "osu-gpu-bind has no option {option}; the first word that is no option is the command.",
     'remedy': "srun ... osu-gpu-bind osu_bw D D.",
     'source': GPU_BIND, 'evidence': 'measured'},
    {'name': 'osu-explain without its data',
     'pattern': r"osu-explain: (?:cannot read .*|.* does not set )",
     'cause': "osu-explain reads a file beside the installation: it is not there, or it does not name the variable "
              "that was asked for.",
     'remedy': "The message lists the variables that the module sets. If the file cannot be read: " + AGAIN,
     'source': 'easyconfigs/o/osu-container/osu-explain', 'evidence': 'measured'},
    {'name': 'no GPU support',
     'pattern': r"asks for buffers in GPU memory|(?i:(?:ROCm|CUDA|OpenACC) support not enabled)",
     'cause': "Buffers in GPU memory (D) were asked of programs that know host memory only.",
     'remedy': "osu_bw H H; or an image or installation with the C programs built for the GPU.",
     'source': PORT + '; OSU Micro-Benchmarks, c/util/osu_util_options.c', 'evidence': 'measured'},
    {'name': 'wrong arguments',
     'pattern': r"osu_\w+: error: unrecognized arguments|unknown buffer place|-m: the port of \w+ starts at|"
                r"-m: \w+ sends no messages|buffer place\(s\) given|is not a whole number of|"
                r"MIN \d+ is larger than MAX",
     'cause': "The port of the benchmark does not know these arguments; it has fewer than the C program.",
     'remedy': "osu_bw --help lists them: osu_bw -m MAX -i ITERATIONS -x WARMUP H H.",
     'source': PORT, 'evidence': 'measured'},
    {'name': 'port not installed rightly',
     'pattern': r"no port of that name in|no mpi4py in .*installation is incomplete|the mpi4py in .* is for",
     'cause': "mpi4py's ports of the benchmarks are incomplete, or the system's Python was updated since.",
     'remedy': "eb osu-native.eb -r --rebuild, and for a container build the image again.",
     'source': PORT, 'evidence': 'measured'},

    # ---- Slurm
    {'name': 'unknown MPI type',
     'pattern': r"Invalid MPI type '(?P<type>[^']+)'|cannot find mpi plugin for mpi/(?P<other>\S+)",
     'cause': "This Slurm has no plugin {type}{other}, which --mpi= or SLURM_MPI_TYPE names.",
     'remedy': "Leave out --mpi=; srun --mpi=list shows what there is. If the module itself asks for it, this is not "
               "the Slurm of its site.",
     'source': SLURM, 'evidence': 'measured'},
    {'name': 'PMIx library missing',
     'pattern': r"mpi/pmix\w*: init: .*can not load PMIx library",
     'cause': "Slurm's plugin for PMIx does not find libpmix.so.",
     'remedy': "Install it on the nodes (Debian 12: libpmix-dev) and start Slurm again.",
     'source': DOCS, 'evidence': 'measured'},
    {'name': 'no controller',
     'pattern': r"Unable to contact slurm controller|s_p_parse_file: (?:unable|cannot) (?:to )?stat|"
                r"Could not establish a configuration source",
     'cause': "Slurm's controller does not answer, or its slurm.conf is not there.",
     'remedy': "On the workstation: make slurm, then . ./env.sh; on a cluster try again later.",
     'source': SLURM, 'evidence': 'measured'},
    {'name': 'unknown partition',
     'pattern': r"invalid partition specified: (?P<partition>\S+)|Invalid partition name specified",
     'cause': "There is no partition of this name, or you may not use it.",
     'remedy': "sinfo -s lists them; on LUMI-G: standard-g, small-g, dev-g.",
     'source': SLURM, 'evidence': 'measured'},
    {'name': 'unknown account',
     'pattern': r"Invalid account or account/partition combination",
     'cause': "The account (project) is missing, misspelt, or has no right to this partition.",
     'remedy': "--account=project_46XXXXXXX, or export SLURM_ACCOUNT; on LUMI lumi-workspaces lists yours.",
     'source': 'Slurm, src/common/slurm_errno.c', 'evidence': 'derived'},
    {'name': 'more than the partition has',
     'pattern': r"Requested node configuration is not available|can not be satisfied|"
                r"Requested partition configuration not available now|Node count specification invalid|"
                r"Invalid generic resource \(gres\) specification|Invalid node name specified",
     'cause': "The job asks for more nodes, cores or GPUs than the partition has or gives to one job.",
     'remedy': "Ask for less: sinfo -o '%P %D %c %G' shows what a partition has.",
     'source': SLURM, 'evidence': 'measured'},
    {'name': 'more than the job has',
     'pattern': r"Only allocated (?P<has>\d+) nodes asked for (?P<wants>\d+)|Unable to create step for job \d+: .*",
     'cause': "srun asks for more than the job was given (nodes, tasks, memory or GPUs).",
     'remedy': "Ask for it when the job is submitted: sbatch -N, -n, --mem, --gpus-per-node; or ask srun for less.",
     'source': SLURM, 'evidence': 'measured'},
    {'name': 'step waits for another',
     'pattern': r"step creation (?:temporarily|still) disabled",
     'cause': "Another step of the same job still has the cores (or the memory), so srun waits.",
     'remedy': "Let one step end before the next begins (wait), or srun --overlap. A step that was killed may hold "
               "them for some seconds. --mem of the first step can be what is short.",
     'source': SLURM + '; github.com/llnl/smith, issue 688', 'evidence': 'measured'},
    {'name': 'time limit',
     'pattern': r"DUE TO TIME LIMIT|did not end within (?P<seconds>[\d.]+) s",
     'cause': "The time limit ran out: of Slurm, or of what waits for the run. Either it is too short, or the ranks "
              "wait for each other for ever.",
     'remedy': "Try the same line by hand with a longer -t. If it never ends: RCCL between nodes with ROCm 7 hangs "
               "without NCCL_NET_GDR_LEVEL=0; a provider may be the wrong one (osu-explain FI_PROVIDER).",
     'source': SLURM, 'evidence': 'measured'},
    {'name': 'out of memory',
     'pattern': r"[Oo][Uu][Tt][ -][Oo][Ff][ -][Mm][Ee][Mm][Oo][Rr][Yy]|oom[-_]kill|OOM Killed|Cannot allocate memory|"
                r"hipErrorOutOfMemory",
     'cause': "The node, or what the job was given of it, had no memory left, of the host or of the GPU.",
     'remedy': "Ask for more (--mem=0 is all of the node), start fewer ranks on a node, or give -m a smaller largest "
               "size; osu_alltoall needs ranks x size on every rank.",
     'source': 'github.com/nextflow-io/nextflow, issue 5932; github.com/snakemake/snakemake-executor-plugin-slurm, '
               'pull request 371', 'evidence': 'derived'},
    {'name': 'node failed',
     'pattern': r"DUE TO NODE FAILURE|Node failure on \S+",
     'cause': "A node of the job has failed.",
     'remedy': "Submit again; --exclude=NODE leaves it out.",
     'source': 'Slurm, src/slurmd/slurmstepd', 'evidence': 'derived'},
    {'name': 'program not found',
     'pattern': r"execve\(\): (?P<program>\S+): (?P<why>No such file or directory|Permission denied)",
     'cause': "The node cannot start {program}: {why}.",
     'remedy': "Load the module in the shell that calls srun, so that its bin is on PATH. An installation must lie "
               "on a file system that the nodes see.",
     'source': SLURM, 'evidence': 'measured'},
    {'name': 'segmentation fault',
     'pattern': r"task \S+ Segmentation fault|\[\S+:\d+\] Signal: Segmentation fault|exit signal Segmentation fault|"
                r"Process received signal",
     'cause': "A rank has crashed. With Open MPI in a container: ranks meet in a folder below Slurm's TmpFS, which "
              "the container does not show. Else often two libraries that do not fit each other.",
     'remedy': "Open MPI: export APPTAINER_BIND=FOLDER with the folder that scontrol show config | grep TmpFS shows. "
               "Else see what was loaded: srun osu_container/rank-proof FOLDER PROGRAM.",
     'source': SLURM + '; ' + DOCS, 'evidence': 'measured', 'last': True},
    {'name': 'MPI stopped the job',
     'pattern': r"Fatal error in (?P<call>\w+)|MPI_ABORT was invoked|application called MPI_Abort", 'last': True,
     'cause': "MPI or the program has ended the job; the lines behind say in which call.",
     'remedy': "Look at the last line of MPI's list: it is the first cause. FI_LOG_LEVEL=warn says more.",
     'source': 'MPICH 4.2.3, seen by this project, 2026-11', 'evidence': 'derived'},
    {'name': 'task killed',
     'pattern': r"task \S+ (?:Killed|Terminated)\b", 'last': True,
     'cause': "A rank was killed from outside: memory, time, or because another rank had failed.",
     'remedy': "Look for the first error of any rank. If there is none, it was mostly memory: --mem=0, or fewer "
               "ranks.",
     'source': SLURM, 'evidence': 'derived'},
    {'name': 'program failed',
     'pattern': r"tasks? \S+ Exited with exit code (?P<code>\d+)", 'last': True,
     'cause': "A rank has ended with exit code {code}; nothing in this text that is known says why.",
     'remedy': "Look at what the program itself has printed. Exit code 127: not found, 126: not executable, 143: "
               "killed because another rank had failed.",
     'source': SLURM, 'evidence': 'measured'},
    {'name': 'output cut off',
     'pattern': r"the run was cut off|no number from .* in .* line", 'last': True,
     'cause': "The benchmark has stopped before its last message size, or has printed no numbers at all.",
     'remedy': "The reason is on its other output: look at the .err file beside it.",
     'source': 'osu_container/osu_output.py', 'evidence': 'measured'},
]

#: escape sequences of colours, which Apptainer and Lmod write to terminals
COLOURS = re.compile(r'\x1b\[[0-9;]*m')
PATTERNS = [(entry, re.compile(entry['pattern'], re.MULTILINE)) for entry in MESSAGES]


def _filled(text, match):
    """Return text (str) with {group} replaced by what match found; 'it' where the group of who needs it is empty."""
    groups = {name: value or ('it' if name == 'by' else '') for name, value in match.groupdict().items()}
    for name, value in groups.items():
        text = text.replace('{%s}' % name, value)
    return text[:1].upper() + text[1:] if text[:3] == 'it ' else text


def explain(text):
    """
    Return what is known about the messages in text (str), in the order of their first lines.

    :return: list of dict: name, cause, remedy, source, evidence (str, see MESSAGES), line (str, the first line with the
             message), number (int, its number from 1), times (int, lines with it). [] if nothing is known.
    """
    text = COLOURS.sub('', text).replace('\r\n', '\n')
    found = []
    for entry, pattern in PATTERNS:
        first, lines = None, set()
        for match in pattern.finditer(text):
            first = first or match
            lines.add(text.rfind('\n', 0, match.start()))
        if len(lines) < entry.get('times', 1):
            continue
        begin = text.rfind('\n', 0, first.start()) + 1
        end = text.find('\n', first.end())
        found.append({'name': entry['name'], 'cause': _filled(entry['cause'], first),
                      'remedy': _filled(entry['remedy'], first), 'source': entry['source'],
                      'evidence': entry['evidence'], 'line': text[begin:end if end >= 0 else len(text)].strip(),
                      'number': text.count('\n', 0, begin) + 1, 'times': len(lines)})
    names = {each['name'] for each in found}
    rules = {entry['name']: entry for entry in MESSAGES}
    found = [each for each in found if not names & set(rules[each['name']].get('unless', []))]
    causes = [each for each in found if not rules[each['name']].get('last')]
    return sorted(causes or found, key=lambda each: each['number'])


def reason(text):
    """Return one line (str) that says why a run with this output (str) failed; None if nothing in it is known."""
    found = explain(text)
    return '; '.join('%s: %s' % (each['name'], each['cause']) for each in found[:2]) or None


def add_arguments(parser):
    """Add the arguments of `osu-container why`."""
    parser.add_argument('log', nargs='?', default='-', metavar='LOG',
                        help="file with the output of a job, or - for what is piped in (default)")
    parser.add_argument('--json', action='store_true', help="the same for programs")
    parser.epilog = "Exit codes: 0 something is known, 1 nothing is (or the file cannot be read), 2 wrong usage."
    parser.set_defaults(function=main, prog='osu-container why', errors=(OSError,),
                        after_interrupt='nothing was changed')


def _read(name):
    """Return the text (str) of a file or, for '-', of what is piped in. Raises OSError."""
    if name != '-':
        with open(name, encoding='utf-8', errors='replace') as handle:
            return handle.read()
    if sys.stdin.isatty():
        sys.stderr.write("osu-container why: paste the output, then type Ctrl-D\n")
    return sys.stdin.buffer.read().decode('utf-8', 'replace')


def main(options):
    """Print what is known about the messages in a log; return the exit code. Raises OSError."""
    text = _read(options.log)
    found = explain(text)
    if options.json:
        print(json.dumps(found, indent=1))
    elif not text.strip():
        print("The text is empty: there is nothing to explain.")
    elif not found:
        print("None of the %d messages that are known here is in these %d lines.\n%s lists more, of set-up and "
              "installation; else keep the text and open an issue." % (len(MESSAGES), len(text.splitlines()), DOCS))
    else:
        for each in found:
            more = ' (and %d more)' % (each['times'] - 1) if each['times'] > 1 else ''
            print('%s, line %d%s\n    %s' % (each['name'], each['number'], more, each['line'][:240]))
            for title, words in (('cause', each['cause']), ('remedy', each['remedy']),
                                 ('source', '%s; %s' % (each['evidence'], each['source']))):
                print(textwrap.fill(words, 100, initial_indent='  %-8s' % title, subsequent_indent=' ' * 10,
                                    break_on_hyphens=False, break_long_words=False))
    return 0 if found else 1


if __name__ == '__main__':
    PARSER = argparse.ArgumentParser(prog='why.py', description="Name cause and remedy of a job's messages.")
    add_arguments(PARSER)
    try:
        sys.exit(main(PARSER.parse_args()))
    except OSError as err:
        sys.exit('why.py: error: %s' % err)
