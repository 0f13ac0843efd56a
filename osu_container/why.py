"""
osu-container why: names cause and remedy of the messages in a job's output.

    osu-container why slurm-123.out        or        srun ... 2>&1 | osu-container why
    osu-container why slurm-*.out          several files: each message once, with the files that have it
    osu-container why --list               all messages that are known
    python3 osu_container/why.py FILE      the same on a node that has nothing but Python

The table MESSAGES, by TOPICS, is all there is to it; Search looks for its patterns. To add a message, add an entry and
its text to tests/test_why.py, where every entry is tried on what a program really printed, then `make modules`, which
writes docs/why.md.

An entry:
    name       str, short and unique
    text       str, what is printed, shortened by ...; users search docs/why.md for it. No |, which ends a table's cell
    patterns   list of what a line may have: a plain text (str), or a pair (plain text, regular expression). The text is
               in all that the expression matches: to look for it first is some ten times faster, and logs are long.
               Matched line by line (re.MULTILINE), without colours. No .* or \\w+ that the next match could begin in:
               .{0,300}. White space that Lmod may turn into the end of a line is \\s+
    cause      str, one or two sentences; {group} is replaced by what the group of that name found
    remedy     str, likewise: what to type or change, the likeliest first
    source     str, where message and remedy are from
    evidence   'measured': seen and cured, by this project or by the source; 'derived': follows from documentation or
               from a program's source code; 'untested': neither
    times      int, optional: it counts from so many lines on (a line that is harmless when it comes once)
    last       True, optional: harmless, or a consequence of something else; named only if nothing else is found
    unless     list of names, optional: not named beside these, which say it more exactly

Python 3.6 and its standard library only: it runs on compute nodes with nothing installed.
"""
import argparse
import json
import os
import re
import sys
import textwrap

try:
    from osu_container.core.writing.terminal import one_line
except ImportError:  # this file was copied to a node by itself
    def one_line(text):
        """Return text (str) with nothing in it that a terminal would take for an order."""
        return ''.join(letter if letter.isprintable() else '?' for letter in text)

DOCS = 'docs/troubleshooting.md'
OURS = 'seen by this project, 2026-11'
WRAPPER = 'easyconfigs/o/osu-container/run-in-container'
ENTRYPOINT = 'container-recipes/entrypoint/osu-entrypoint'
GPU_BIND = 'easyconfigs/o/osu-container/osu-gpu-bind'
PORT = 'easyconfigs/o/osu-native/osu-port'
SLURM = 'Slurm 22.05, seen by this project, 2026-11'
LOADER = 'glibc, ld.so(8); seen by this project, 2026-11'
APPTAINER = 'Apptainer 1.4.5, seen by this project, 2026-11'
LMOD = 'Lmod 8.6 and 8.7, seen by this project, 2026-11'
DEIC = 'github.com/DeiC-HPC/BitBulldozersLab'
AGAIN = "Install the module again: eb osu-container-APPROACH.eb -r --rebuild."
#: Ends the patterns of the loader's message about a version. Some copy it with other quotes, or without the first
NOT_FOUND = r"['\u2019\"`]? not found(?: \(required by (?P<by>[^)\n]{1,300})\))?"

OF_THE_LOADER = [
    {'name': 'libfabric too old',
     'text': "libfabric.so.1: version `FABRIC_1.7' not found (required by .../libmpi.so.12)",
     'patterns': [(" not found", r"(?P<version>FABRIC_[\d.]*\d)" + NOT_FOUND)],
     'cause': "The libfabric that was found is older than the one that {by} was built with: it does not have "
              "{version}.",
     'remedy': "Use pure or opensource, whose libfabric is the image's; or an image whose MPI was built with an "
               "older libfabric (1.7 comes with 1.20, 1.8 with 2.0, 1.9 with 2.5). Is a folder with a libfabric on "
               "your own LD_LIBRARY_PATH? If the host was updated: install the module again.",
     'source': 'libfabric, libfabric.map.in by release; ' + OURS, 'evidence': 'measured'},
    {'name': 'C library too old',
     'text': "libc.so.6: version `GLIBC_2.38' not found (required by /.singularity.d/libs/...)",
     'patterns': [(" not found", r"(?P<version>GLIBC_\w[\w.]{0,40})" + NOT_FOUND)],
     'cause': "{by} needs {version}, and the C library of the image (or, outside of it, of the host) is older. A "
              "library of the host that is put into the container runs with the image's C library.",
     'remedy': "Use an image of a distribution at least as new as the host, or an approach that brings less of the "
               "host in: opensource, or pure. Take --rocm and --nv away if you have added them.",
     'source': 'github.com/apptainer/apptainer, pull request 2606, issues 1621 and 3041', 'evidence': 'measured'},
    {'name': 'C++ library too old',
     'text': "libstdc++.so.6: version `GLIBCXX_3.4.32' not found (required by ...)",
     'patterns': [(" not found", r"(?P<version>GLIBCXX_[\w.]{1,40}|CXXABI_[\w.]{1,40}|GCC_[\d.]+)" + NOT_FOUND)],
     'cause': "{by} needs {version} of the compiler's libraries (libstdc++, libgcc), and those that were found are "
              "older.",
     'remedy': "Use an image with a newer compiler, or an approach that brings less of the host in. If a module of "
               "the host has set LD_LIBRARY_PATH, unload it.",
     'source': 'github.com/apptainer/apptainer, issue 1621', 'evidence': 'derived'},
    {'name': 'library of another version',
     'text': "libjson-c.so.5: version `JSONC_0.14' not found (required by ...)",
     'patterns': [(" not found", r"version [`'](?!FABRIC_|GLIBC|CXXABI_|GCC_)(?P<version>[^\s'`]+)" + NOT_FOUND)],
     'cause': "{by} was built with another release of a library than the one that was found: it lacks {version}.",
     'remedy': "The library is named in front of the message: see what puts it there (osu-explain lists what the "
               "module binds), and use one that fits.",
     'source': LOADER, 'evidence': 'derived'},
    {'name': 'missing library',
     'text': "error while loading shared libraries: libcxi.so.1: cannot open shared object file: ...",
     # not those of the two entries that say more of theirs
     'patterns': [(": cannot open shared object file",
                   r"(?:^|[\s:'(])(?![^\s:'(]{0,300}lib(?:amdhip64|hsa-runtime64|amd_comgr|[nr]ccl-net))"
                   r"(?P<library>[^\s:'(]+): cannot open shared object file")],
     'cause': "{library} is needed and found nowhere: neither in the image nor among what is injected.",
     'remedy': "The modules check this when they are installed, so the host has changed since: " + AGAIN + " If it "
               "is on the host in another folder, add that to library_folders of the site (docs/add-a-site.md).",
     'source': LOADER, 'evidence': 'measured'},
    {'name': 'ROCm of another release',
     'text': "libamdhip64.so.6: cannot open shared object file: No such file or directory",
     'patterns': [(": cannot open shared object file",
                   r"(?P<library>lib(?:amdhip64|hsa-runtime64|amd_comgr)\.so[.\d]*): cannot open shared object file")],
     'cause': "{library} is of ROCm. What needs it was built with another major release of ROCm than the one that is "
              "there, or there is none.",
     'remedy': "Use an image with ROCm of the same major release as the host's MPI: Cray MPICH up to 25.09 wants "
               "ROCm 6, also where the image brings 7. The name without a number is what libfabric itself opens; "
               "some distributions have it in the -dev package only.",
     'source': 'LUMI training, update of January 2026; libfabric, src/hmem_rocr.c', 'evidence': 'derived'},
    {'name': 'preloaded library missing',
     'text': "ERROR: ld.so: object '...' from LD_PRELOAD cannot be preloaded (...): ignored.",
     'patterns': [("' from LD_PRELOAD cannot be preloaded",
                   r"object '(?P<library>[^'\n]+)' from LD_PRELOAD cannot be preloaded")],
     'cause': "LD_PRELOAD names {library}, which is not there or does not fit; the program goes on without it, with "
              "another MPI than was meant.",
     'remedy': "Is it your own LD_PRELOAD? Unset it. If it is the module's (osu-explain LD_PRELOAD), the host has "
               "changed: " + AGAIN,
     'source': LOADER, 'evidence': 'measured'},
    {'name': 'libcxi too old',
     'text': "symbol lookup error: .../libfabric.so.1: undefined symbol: cxil_svc_get_netns",
     'patterns': [("undefined symbol: ", r"undefined symbol: (?P<symbol>cxil?_\w+)")],
     'cause': "libfabric's provider cxi calls {symbol}, which this libcxi does not have: libfabric is newer.",
     'remedy': "opensource: build the image's libcxi and libfabric from releases that belong together (libfabric "
               "2.5.0 wants the libcxi of January 2026). hybrid: the host's libcxi belongs to the host's libfabric; "
               "see which of both comes from the image (srun osu_container/rank-proof FOLDER PROGRAM).",
     'source': 'github.com/ofiwg/libfabric, issues 9835 and 12036', 'evidence': 'derived'},
    {'name': 'undefined symbol',
     'text': "symbol lookup error: ...: undefined symbol: MPIX_...",
     'patterns': [("undefined symbol: ", r"undefined symbol: (?!cxil?_)(?P<symbol>[^\s,]+)")],
     'cause': "A library was found that lacks the function {symbol}: it is another release, or another library of "
              "the same name, than the program was built with.",
     'remedy': "The library that needs it stands in front of the message. See which files are loaded (srun "
               "osu_container/rank-proof FOLDER PROGRAM), and take away the folder or the preload that brings the "
               "wrong one. If the host was updated: install the module again.",
     'source': LOADER, 'evidence': 'measured'},
    {'name': 'image on musl',
     'text': "Error relocating .../libfabric.so.1: ...: symbol not found",
     'patterns': [(": symbol not found", r"Error relocating (?P<where>\S+): \S+: symbol not found"),
                  ("Error loading shared library ", r"Error loading shared library (?P<what>\S+?):")],
     'cause': "{where}{what} is not found or does not fit, says the loader of musl: the image is Alpine or the like, "
              "and libraries of the host are built for glibc.",
     'remedy': "bind and hybrid need an image on glibc (Debian, Ubuntu, openSUSE, Rocky). pure and opensource bring "
               "no MPI of the host in; there the image itself is incomplete.",
     'source': 'musl, ldso/dynlink.c; CSCS documentation, Container Engine, known issues', 'evidence': 'derived'},
    {'name': 'file of another architecture',
     'text': "wrong ELF class / invalid ELF header / Exec format error",
     'patterns': [("wrong ELF class", "(?P<what>wrong ELF class)"),
                  ("invalid ELF header", "(?P<what>invalid ELF header)"),
                  ("Exec format error", "(?P<what>Exec format error)")],
     'cause': "The file is for another kind of processor, or it is no program or library ({what}).",
     'remedy': "Use an image for this architecture (uname -m): LUMI and workstations are x86_64, Alps is aarch64. A "
               "path of the site may lead to a linker script instead of a library.",
     'source': LOADER, 'evidence': 'derived'},
]

OF_THE_NETWORK = [
    {'name': 'no provider',
     'text': "OFI fi_getinfo() failed (ofi_init.c:...:open_fabric:No data available)",
     'patterns': [("No data available", "open_fabric: ?No data available"),
                  ("No data available", "find_provider.{0,200}No data available"),
                  ("getinfo", r"getinfo(?:\(\))? failed"),
                  "no such provider", "fi_getinfo: -61"],
     'cause': "libfabric has no provider that MPI can use: it was told to use one that is not built in or has no "
              "card here (FI_PROVIDER), or MPI asks for more than the provider has.",
     'remedy': "osu-explain FI_PROVIDER says what is asked for; unset yours if you have set it. On one node MPICH "
               "avoids cxi: MPIR_CVAR_SINGLE_HOST_ENABLED must be 0. opensource: does the image's libfabric have the "
               "provider (osu-exec fi_info -l)? hybrid: MPICH may ask for a newer libfabric than the host's. "
               "FI_LOG_LEVEL=info shows what was looked at. MPICH 3.4.3 does not work over cxi.",
     'source': 'MPICH 4.2.3 and 5.0.2, seen by this project, 2026-11; open_fabric: ' + DEIC + ', 2025',
     'evidence': 'measured'},
    {'name': 'provider finds nothing',
     'text': "fi_getinfo: provider usnic returned -61 (No data available)",
     'patterns': [(" returned -61 (No data available)",
                   r"provider (?P<provider>[\w;]+) returned -61 \(No data available\)")],
     'unless': ['no provider'],
     'cause': "The provider {provider} of libfabric has no device here, or not what was asked for. Harmless where "
              "another one is used.",
     'remedy': "If the run failed, see that the provider of this site is there: osu-explain FI_PROVIDER.",
     'source': 'libfabric, src/fabric.c; github.com/ofiwg/libfabric, issue 7324', 'evidence': 'derived', 'last': True},
    {'name': 'no data available',
     'text': "No data available",
     'patterns': [("No data available", r"(?<!-61 \()No data available")],
     'unless': ['no provider', 'provider finds nothing'],
     'cause': "libfabric's answer FI_ENODATA: nothing fits what was asked for, mostly no provider or no card.",
     'remedy': "FI_LOG_LEVEL=info srun ... shows who says so and why. Is the node one with the network's cards?",
     'source': 'libfabric, fi_errno(3)', 'evidence': 'derived', 'last': True},
    {'name': 'libfabric older than asked for',
     'text': "core:core:fi_getinfo():...<warn> Requested version is newer than library",
     'patterns': ["Requested version is newer than library"],
     'cause': "MPI asks libfabric for the interface of a newer release than the one that was loaded.",
     'remedy': "hybrid with MPICH: export MPIR_CVAR_CH4_OFI_MAJOR_VERSION=1 MPIR_CVAR_CH4_OFI_MINOR_VERSION=21 asks "
               "for 1.21. Else an image whose MPI was built with an older libfabric, or opensource.",
     'source': 'libfabric, src/fabric.c, fi_getinfo(); MPI_Init of MPICH 3.4.3 to 5.0.2 with and without the variables',
     'evidence': 'measured'},
    {'name': 'provider asked for by an old name',
     'text': "MPIR_CVAR_OFI_USE_PROVIDER is no longer supported in CH4. Use FI_PROVIDER instead",
     'patterns': ["MPIR_CVAR_OFI_USE_PROVIDER is no longer supported"],
     'cause': "MPICH 4 does not read this variable, so libfabric chooses the provider by itself.",
     'remedy': "export FI_PROVIDER instead; osu-explain FI_PROVIDER says what the module has set.",
     'source': 'MPICH 4.2.3, seen by this project, 2026-11', 'evidence': 'measured', 'last': True},
    {'name': 'no VNI on one node',
     'text': "cxi:domain:cxip_domain():...<warn> ... cxip_gen_auth_key failed: -38:Function not implemented",
     'patterns': [("cxip_gen_auth_key", "cxip_gen_auth_key(?: failed)?:? ?-38"),
                  ("Function not implemented", r"fi_domain\b.{0,200}Function not implemented"),
                  "Libfabric library call (fi_domain)", "Failed to find valid default rgroup and vni",
                  "Couldn't open a fabric access domain. RC: -38"],
     'cause': "The step has no VNI, the key that Slingshot's card asks for: Slurm gives none to a step on one node, "
              "and none to a program that srun did not start.",
     'remedy': "srun --network=single_node_vni ..., which hybrid and opensource ask for (SLURM_NETWORK) unless you "
               "have set SLURM_NETWORK; start the program by srun, and not with --cleanenv, which takes away "
               "SLINGSHOT_VNIS. Without the card: export OSU_SINGLE_NODE=shm before module load.",
     'source': 'github.com/uiuc-hpc/lci, issue 110, 2025; github.com/open-mpi/ompi, issues 12038, 12913 (LUMI) and '
               '13148; github.com/aws/aws-ofi-nccl, issue 801; libfabric, prov/cxi/src/cxip_dom.c',
     'evidence': 'measured'},
    {'name': 'one-node VNI not allowed',
     'text': "Single-node VNI requested by user, but 'single_node_vni=...' not set in SwitchParameters",
     'patterns': ["Single-node VNI requested by user"],
     'cause': "This cluster does not let users ask for a VNI on one node (SwitchParameters of slurm.conf).",
     'remedy': "export OSU_SINGLE_NODE=shm before module load, or export SLURM_NETWORK=no_vni; or ask the "
               "administrators for single_node_vni=user.",
     'source': 'Slurm, plugin switch/hpe_slingshot', 'evidence': 'derived'},
    {'name': 'VNI not found',
     'text': "... error: 0x26c450f0 (err: 5, VNI_NOT_FOUND)",
     'patterns': ["VNI_NOT_FOUND"],
     'cause': "The ranks talk under different VNIs, or one has none: they were not started by one srun. mpirun "
              "inside a job starts its helpers by srun --mpi=none.",
     'remedy': "Start the ranks by one srun, not by mpirun, and without --mpi=none.",
     'source': 'github.com/openpmix/prrte, issue 2004, 2024', 'evidence': 'derived'},
    {'name': 'match entries used up',
     'text': "[Fatal] LE resources not recovered during flow control. FI_CXI_RX_MATCH_MODE=... is required",
     'patterns': ["LE resources not recovered", "FI_CXI_RX_MATCH_MODE=[hybrid|software] is required"],
     'cause': "More messages wait unmatched than the card has entries for; in mode hardware the run ends.",
     'remedy': "export FI_CXI_RX_MATCH_MODE=hybrid (or software) before srun.",
     'source': 'libfabric, prov/cxi, cxip_ux_onload_cb(), and fi_cxi(7)', 'evidence': 'derived'},
    {'name': 'event queue too small',
     'text': "cxi:core:cxip_cq_eq_progress():...<warn> ...: Cassini Event Queue overflow detected.",
     'patterns': ["Cassini Event Queue overflow", "completion queue exhaustion"],
     'cause': "The card reports events faster than the rank reads them, and its queue is full; the run hangs or ends.",
     'remedy': "export FI_CXI_DEFAULT_CQ_SIZE=131072 before srun, larger if it comes back. For OSU with many "
               "messages in flight, a smaller -W (window) tells whether that is it.",
     'source': 'github.com/argonne-lcf/user-guides, pull request 315; github.com/ofiwg/libfabric, issue 9286; Cray '
               "MPICH's own advice", 'evidence': 'derived'},
    {'name': 'portal table entry not found',
     'text': "OFI poll failed (...:Input/output error - PTLTE_NOT_FOUND)",
     'patterns': ["PTLTE_NOT_FOUND"],
     'cause': "A message came to an endpoint that is gone: a rank has ended or was killed, or ran out of resources "
              "of the card. Often the consequence of another error.",
     'remedy': "Look for the first error of any rank. If there is none: export FI_CXI_RX_MATCH_MODE=software.",
     'source': 'github.com/ofiwg/libfabric, issue 10072 (open), 2024', 'evidence': 'untested'},
    {'name': 'message not delivered',
     'text': "OFI poll failed (...:Input/output error - UNDELIVERABLE)",
     'patterns': [("UNDELIVERABLE", r"\bUNDELIVERABLE\b")],
     'cause': "The card gave up on a message: the other node or a link is down, or it had no room to match the "
              "message.",
     'remedy': "export FI_CXI_RX_MATCH_MODE=software before srun (it helped one code and not another). If it is "
               "always the same node: srun --exclude=NODE, and tell the administrators.",
     'source': 'github.com/quokka-astro/quokka, issue 353; github.com/BLAST-WarpX/warpx, issue 4234 and pull request '
               '4235, 2023', 'evidence': 'untested'},
    {'name': 'memory not registered',
     'text': "cxil_map: write error",
     'patterns': ["cxil_map: write error"],
     'cause': "libcxi could not make a buffer known to the card; mostly it is GPU memory, and MPI or libfabric does "
              "not take it for that, or too much is registered already.",
     'remedy': "GPU buffers: is support for them on (osu-explain lists MPICH_GPU_SUPPORT_ENABLED or "
               "MPIR_CVAR_CH4_OFI_ENABLE_HMEM), and is the module for GPU nodes? On CUDA: "
               "FI_CXI_SAFE_DEVMEM_COPY_THRESHOLD=0 (cured it at CSCS, and slows small messages).",
     'source': 'github.com/eth-cscs/cscs-docs, pull request 161, 2025; shs-libcxi, cxil_map()',
     'evidence': 'measured'},
    {'name': 'GTL not linked',
     'text': "MPIDI_CRAY_init: GPU_SUPPORT_ENABLED is requested, but GTL library is not linked",
     'patterns': ["GPU_SUPPORT_ENABLED is requested, but GTL library is not linked"],
     'cause': "MPICH_GPU_SUPPORT_ENABLED=1 is set, and the program has not loaded Cray's GPU transport layer "
              "(libmpi_gtl_hsa.so.0) before MPI started.",
     'remedy': "bind: your own SINGULARITYENV_LD_PRELOAD must not take the place of the module's. native: build with "
               "the module craype-accel-amd-gfx90a loaded. Host memory only: export MPICH_GPU_SUPPORT_ENABLED=0 "
               "before module load.",
     'source': 'github.com/eth-cscs/cscs-docs, cray-mpich.md; github.com/sstsimulator/sst-core, issue 895',
     'evidence': 'measured'},
    {'name': 'DMABUF not usable',
     'text': "DMABUF support: could not open kernel conf file /boot/config-... error",
     'patterns': [("ould not open kernel conf file", r"[Cc]ould not open kernel conf file")],
     'cause': "libfabric or RCCL looks into the kernel's configuration (/boot/config-...) to see whether DMABUF is "
              "there, and the container does not show that file.",
     'remedy': "export FI_HMEM_ROCR_USE_DMABUF=0, or bind the file: export SINGULARITY_BIND=/boot/config-$(uname "
               "-r). The modules do one or the other by themselves.",
     'source': 'libfabric, src/hmem_rocr.c; ' + DEIC + ', containers with CuPy, 2025', 'evidence': 'measured'},
    {'name': 'RCCL without its plugin',
     'text': "NCCL INFO NET/Plugin: Could not find: librccl-net.so. Using internal network plugin.",
     'patterns': [(", using internal implementation",
                   r"No plugin found(?: \([^)\n]*\))?, using internal implementation"),
                  ("Using internal net", "Using internal net(?:work)? plugin"),
                  (": cannot open shared object file", r"lib[nr]ccl-net[\w.-]{0,80}: cannot open shared object file")],
     'cause': "RCCL found no plugin for libfabric, or could not load it, and uses TCP: about 3 GB/s instead of 13.",
     'remedy': "osu-explain NCCL_NET_PLUGIN shows the image's; if there is none, the image lacks librccl-net.so. "
               "NCCL_DEBUG_SUBSYS=INIT,NET says why it was not loaded. OSU_RCCL_STRICT=1 before module load makes it "
               "an error.",
     'source': DEIC + ', 2025', 'evidence': 'measured'},
    {'name': 'RCCL asked for a plugin in vain',
     'text': "NCCL WARN Error: network AWS Libfabric not found.",
     'patterns': [("WARN Error: network ", "WARN Error: network (?P<network>.{1,80}?) not found"),
                  "Failed to initialize any NET plugin"],
     'cause': "RCCL may use nothing else than the network that NCCL_NET names (AWS Libfabric is the plugin for "
              "libfabric), and no plugin gives it.",
     'remedy': "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET says which file was looked for and why it did not load; "
               "osu-explain NCCL_NET_PLUGIN shows the image's. On one node, or to go on over TCP: load the module "
               "without OSU_RCCL_STRICT, and unset NCCL_NET if it is yours.",
     'source': 'NCCL and RCCL, src/net.cc; github.com/eth-cscs/cscs-docs, nccl.md', 'evidence': 'derived'},
    {'name': 'RCCL finds no interface',
     'text': "NCCL WARN Bootstrap : no socket interface found",
     'patterns': [(": no socket interface found", r"Bootstrap ?: no socket interface found")],
     'cause': "No network interface of this node has a name that NCCL_SOCKET_IFNAME gives; RCCL needs one for its "
              "ranks to meet, also where the data go over cxi.",
     'remedy': "ip -brief addr lists them; on LUMI-G they are hsn0,hsn1,hsn2,hsn3, which the modules set. Unset yours "
               "(osu-explain NCCL_SOCKET_IFNAME).",
     'source': 'NCCL, src/bootstrap.cc', 'evidence': 'derived'},
    {'name': 'one GPU for two ranks',
     'text': "NCCL WARN Duplicate GPU detected : rank 0 and rank 1 both on CUDA device ...",
     'patterns': ["Duplicate GPU detected"],
     'cause': "Two ranks of RCCL took the same GPU. osu_xccl_* choose theirs by local rank, so each rank has to see "
              "all GPUs of the node.",
     'remedy': "No --gpus-per-task, --gpu-bind or ROCR_VISIBLE_DEVICES of your own for osu_xccl_*: "
               "--gpus-per-node=8 and osu-gpu-bind, which leaves the GPUs to them.",
     'source': 'EESSI on LUMI, 2026; github.com/horovod/horovod, issue 3929', 'evidence': 'derived'},
    {'name': 'error of one request among several',
     'text': "See the MPI_ERROR field in MPI_Status for the error code",
     'patterns': [("MPI_ERROR field in MPI_Status", r"See the MPI_ERROR field in MPI_Status")],
     'cause': "A message that a rank waited for has failed. Where that begins at some size (8 KiB) with ranks "
              "of one node, MPICH 5 may not read the other rank's memory (CMA): each runs in a user namespace of its "
              "own.",
     'remedy': "Start it by a command of the module (osu-exec PROGRAM): ranks of a node then share a container, or "
               "MPI is told. Two images in one program: OSU_SHARE=0. By hand: apptainer exec --sharens, or export "
               "MPIR_CVAR_CH4_CMA_ENABLE=0, which is slower.",
     'source': 'MPICH 5.0.2 on a workstation, 2026-11-22', 'evidence': 'measured'},
    {'name': 'no memory of another rank',
     'text': "process_vm_readv(...) returned -1: Operation not permitted",
     'patterns': [("process_vm_", r"process_vm_(?:read|write)v\b.{0,300}(?:Operation not permitted|Bad address|"
                                  r"failed \(errno 1\))"),
                  ("Read -1, expected ", r"Read -1, expected \d+, errno ?= ?1\b")],
     'cause': "A rank may not read the memory of another one on its node (CMA): each runs in a container, and so in a "
              "user namespace, of its own.",
     'remedy': "Start it by a command of the module (osu-exec PROGRAM): ranks of a node then share a container, or "
               "MPI is told. Two images in one program: OSU_SHARE=0. By hand: MPICH 5: export "
               "MPIR_CVAR_CH4_CMA_ENABLE=0; Open MPI: export "
               "OMPI_MCA_btl_vader_single_copy_mechanism=none (4), OMPI_MCA_smsc=^cma (5); UCX: export UCX_TLS=^cma. "
               "Or all ranks of a node in one container: apptainer exec --sharens.",
     'source': 'github.com/open-mpi/ompi, pull request 6844; github.com/openucx/ucx, issue 8958; '
               'github.com/apptainer/apptainer, issues 769 and 1227; MPICH 5.0.2, two ranks in a user namespace '
               'each, 2026-11-23', 'evidence': 'measured'},
    {'name': 'no MPI library',
     'text': "RuntimeError: cannot load MPI library",
     'patterns': ["cannot load MPI library"],
     'cause': "mpi4py found no MPI library under the names that it knows.",
     'remedy': "In the container of this project it looks for libmpi.so.12 and libmpi.so.40; is another mpi4py on "
               "PYTHONPATH? MPI4PY_LIBMPI names the library by its path.",
     'source': 'mpi4py 4.1, seen by this project, 2026-11', 'evidence': 'derived'},
]

OF_LONE_RANKS = [
    {'name': 'ranks without PMI',
     'text': "srun started 2 tasks without the PMI of this MPI (... is not set), so each rank would be alone.",
     'patterns': [(" tasks without the PMI of this MPI",
                   r"srun started (?P<tasks>\d+) tasks without the PMI of this MPI")],
     'cause': "srun has another --mpi= than this MPI knows, so each of the {tasks} ranks would be alone.",
     'remedy': "Leave out --mpi=: the module chooses by SLURM_MPI_TYPE. The message names the right one.",
     'source': WRAPPER, 'evidence': 'measured'},
    {'name': 'Open MPI without PMIx',
     'text': "No PMIx server was reachable, but a PMI1/2 was detected. ... 2 singletons will be started.",
     'patterns': ["No PMIx server was reachable",
                  (" singletons will be started", r"(?P<number>\d+) singletons will be started"),
                  "The application appears to have been direct launched",
                  "OMPI was not built with SLURM's PMI support", "Open MPI requires access to a local PMIx server",
                  ("PMIX ERROR: ", "PMIX ERROR: (?:PMIX TEMPORARILY )?UN(?:AVAIL|REACH)"),
                  ("OPAL ERROR: ", r"OPAL ERROR: (?:Unreachable|Not initialized) in file \S*(?:pmix|ext3x)")],
     'unless': ['component of PMIx missing'],
     'cause': "srun has started Open MPI and Open MPI reaches no PMIx: srun has another --mpi=, its Slurm has no PMIx "
              "(as on LUMI), or the container hides the folders in which both meet.",
     'remedy': "srun --mpi=pmix, if srun --mpi=list has it; without --cleanenv. Bind the folders TmpFS and "
               "SlurmdSpoolDir that scontrol show config prints. Where there is no pmix: an image with MPICH.",
     'source': 'Open MPI 5.0.11, seen by this project, 2026-11; github.com/open-mpi/ompi, pull request 3778 and issue '
               '12146; github.com/apptainer/singularity, issue 5203', 'evidence': 'measured'},
    {'name': 'component of PMIx missing',
     'text': "A requested component was not found, or was unable to be opened. ... Framework: psec Component: munge",
     'patterns': [("Framework: ", r"Framework: +(?P<framework>psec|gds|ptl)\b")],
     'cause': "Slurm's PMIx tells the ranks to use a component ({framework}) that the PMIx in the container does not "
              "have; with none left MPI ends.",
     'remedy': "export PMIX_MCA_psec=native PMIX_MCA_gds=hash before srun.",
     'source': 'Open MPI 5.0.11, seen by this project, 2026-11; github.com/eth-cscs/cray-network-stack, osu-ompi',
     'evidence': 'measured'},
    {'name': 'error text lost in PMIx',
     'text': "PMIX ERROR: UNPACK-PAST-END in file .../gds_base_fns.c at line 120",
     'patterns': ["PMIX ERROR: UNPACK-PAST-END", "num local peers"],
     'cause': "A rank of Open MPI ended in MPI_Init, and Slurm's PMIx, of an older release, could not print why. Seen "
              "where Slurm's NodeName is not the name of the machine: Open MPI then finds no peers, and the third rank "
              "of a node ends (num local peers).",
     'remedy': "Start slurmd with PMIX_HOSTNAME=NODENAME in its environment, as workstation/slurm.sh does (make stop, "
               "then make slurm), or give the node its host name. Else run with two ranks on a node to see whether it "
               "is this.",
     'source': 'Open MPI 5.0.11 with PMIx 4.2.2 in Slurm 22.05, seen by this project, 2026-11', 'evidence': 'measured'},
    {'name': 'MPICH without PMI',
     'text': "This singleton init program attempted to access some feature for which process manager support was "
             "required",
     'patterns': ["singleton init program attempted to access", "PMII_singinit: execv failed"],
     'cause': "MPICH did not find the PMI of whoever started it, so each rank is alone.",
     'remedy': "srun --mpi=pmi2 for MPICH of an image; the modules choose it. Where MPICH was built for PMIx: "
               "--mpi=pmix.",
     'source': 'github.com/pmodels/mpich, issue 6924', 'evidence': 'derived'},
    {'name': "Cray's PMI not reached",
     'text': "MPIR_pmi_init(110)...: PMI_Init returned 1",
     'patterns': [(" init failed: ", r"PMI2? init failed: \d"),
                  ("_Init returned ", r"PMI2?_Init returned \d"),
                  "_pmi_mmap_init"],
     'cause': "Cray MPICH finds out about its ranks from a file that Slurm writes for the step below "
              "/var/spool/slurmd, and could not: another --mpi=, or the container does not show the folder.",
     'remedy': "bind: leave out --mpi= (cray_shasta is LUMI's default), and do not take /var/spool/slurmd from the "
               "binds (osu-explain lists them). Start it by srun.",
     'source': 'github.com/flux-framework/flux-coral2, issue 125; Slurm, src/plugins/mpi/cray_shasta/apinfo.h',
     'evidence': 'derived'},
    {'name': 'mpirun in the container',
     'text': "HYDU_create_process (...): execvp error on file srun (No such file or directory)",
     'patterns': ["execvp error on file srun", "No available launching agents were found", "invalid PMI1 init command",
                  "SLURM process starter for OpenMPI was unable", 'unable to locate a usable "srun" command'],
     'cause': "mpirun (mpiexec) was called inside the container: in a job it starts ranks by srun, which the "
              "container does not have. It may then wait for ever.",
     'remedy': "No mpirun: srun in front, and the container behind it, once for each rank (srun osu_bw H H). On one "
               "node without srun: mpiexec -launcher fork (MPICH), or PRTE_MCA_plm=^slurm PRTE_MCA_ras=^slurm mpirun "
               "(Open MPI 5).",
     'source': 'MPICH 4.2.3 and Open MPI 5.0.11, seen by this project, 2026-11; github.com/sylabs/singularity, issue '
               '1695; github.com/hpc/charliecloud, issue 1010', 'evidence': 'measured'},
    {'name': 'every rank alone',
     'text': "rank 0 of 1 (twice or more)",
     'patterns': [("ank", r"ank:? *0 *(?:of|out of|/) *1\b"),
                  ("RANK", r"RANK:? *0 *(?:OF|/) *1\b"),
                  ("rocess 0 of 1", r"rocess 0 of 1\b"),
                  ("ank", r"ank[ :=]+0,? +(?:of +)?[Ss]ize[ :=]+1\b"),
                  "This is a test with 1 processes", "two tables in one output"], 'times': 2,
     'cause': "Several ranks each say that they are rank 0 of 1: they have not found each other, mostly for a wrong "
              "--mpi= of srun.",
     'remedy': "Leave out --mpi=, or name the right one: pmi2 for MPICH in a container, cray_shasta for Cray MPICH, "
               "pmix for Open MPI 5. srun --mpi=list shows what there is. With --cleanenv the variables of PMI do not "
               "reach the container.",
     'source': 'github.com/apptainer/singularity, issues 5131 and 5706; cug26_containers_tutorial, 2026',
     'evidence': 'measured'},
    {'name': 'two tables in one output',
     'text': "two tables in one output. Did every rank run alone (wrong --mpi= for srun)?",
     'patterns': ["two tables in one output"], 'unless': ['every rank alone'],
     'cause': "Each rank has measured itself: they have not found each other.",
     'remedy': "Leave out --mpi=; another cluster may lack the PMI that the site's data name under pmi (srun "
               "--mpi=list).",
     'source': 'osu_container/osu_output.py', 'evidence': 'measured'},
    {'name': 'wrong number of ranks',
     'text': "This test requires exactly two processes",
     'patterns': [("This test requires ",
                   r"This test requires (?P<number>exactly two|at least two|at least \d+|exactly \d+) processes")],
     'unless': ['ranks without PMI', 'Open MPI without PMIx'],
     'cause': "The benchmark wants {number} ranks and has another number: srun started others, or each rank is alone "
              "because of a wrong --mpi=.",
     'remedy': "srun -N2 -n2 ..., and no --mpi=.",
     'source': "mpi4py's ports and the OSU programs; seen by this project, 2026-11", 'evidence': 'measured'},
    {'name': 'question for a key that is not there',
     'text': "_pmi2_kvs_get:key [-NONEXIST-KEY] was not found.",
     'patterns': [("-NONEXIST-KEY", r"-NONEXIST-KEY\b")],
     'cause': "MPICH asks PMI2 for a key that does not exist, on purpose: that makes all ranks wait for each other. "
              "Cray's PMI reports it.",
     'remedy': "Harmless, says MPICH. If the run hangs afterwards the reason is another one.",
     'source': 'github.com/pmodels/mpich, issue 6687', 'evidence': 'derived', 'last': True},
]

OF_THE_CONTAINER = [
    {'name': 'bound file missing',
     'text': "WARNING: skipping mount of ...: no such file or directory",
     'patterns': [(" doesn't exist", r"mount source (?P<path>\S+) doesn't exist"),
                  ("skipping mount of ", r"skipping mount of (?P<other>[^\s:]+)")],
     'cause': "{path}{other} is to be bound into the container and is not there. Apptainer starts no container then; "
              "SingularityCE may only warn, and the program meets another library.",
     'remedy': "Loading the module says which library of the host has changed: " + AGAIN + " If the path is one of "
               "your own SINGULARITY_BIND or APPTAINER_BIND, correct that.",
     'source': APPTAINER + '; github.com/Lumi-supercomputer/LUMI-EasyBuild-contrib, issue 422, 2026',
     'evidence': 'measured'},
    {'name': 'no place for a bind',
     'text': "destination /var/spool/slurmd doesn't exist in container",
     'patterns': [(" doesn't exist", r"destination (?P<path>\S+) doesn't exist")],
     'cause': "{path} is to be bound, and the container has no such folder and cannot make one: an image is being "
              "built, or the runtime has no overlay.",
     'remedy': "Unload the module before singularity build.",
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
     'patterns': [("could not open image ", r"could not open image (?P<path>\S+?): (?P<why>.*)")],
     'cause': "The image {path} is not there, is not readable or is no image ({why}).",
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
                   r'"(?P<program>[^"\n]+)": executable file not found in \$PATH')],
     'cause': "The image has no program {program}.",
     'remedy': "module help lists the benchmarks that the image has; osu-exec ls /opt shows what else is there. "
               "Where the OSU archive could not be had, mpi4py's ports stand in, and they are fewer.",
     'source': APPTAINER, 'evidence': 'measured'},
    {'name': 'no right to mount',
     'text': "fuse: failed to open /dev/fuse: Permission denied",
     'patterns': ["failed to open /dev/fuse", "fuse: device not found"],
     'cause': "The runtime mounts the image through /dev/fuse, and this user may not open it here.",
     'remedy': "As root: modprobe fuse; chmod 666 /dev/fuse. In a container of CI: --privileged or --device "
               "/dev/fuse.",
     'source': OURS, 'evidence': 'measured'},
    {'name': 'no user namespaces',
     'text': "ERROR  : Failed to create user namespace: ...",
     'patterns': [("ailed to create user namespace", "[Ff]ailed to create user namespace"),
                  (" while permitted capability set",
                   "Requesting capability set .{0,200} while permitted capability set")],
     'cause': "The runtime may not do what it needs as this user: make user namespaces, or keep its capabilities.",
     'remedy': "Ubuntu 24.04: sysctl kernel.apparmor_restrict_unprivileged_userns=0, as root. A root without "
               "capabilities: 'root default capabilities = file' in apptainer.conf. LUMI has none on purpose: there "
               "osu-container image build takes SingularityCE and PRoot (module load LUMI PRoot).",
     'source': OURS + '; LUMI training 2026-04, Containers', 'evidence': 'measured'},
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
                   r"unable to copy files from stage .* chown (?P<path>\S+): operation not permitted")],
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
]

OF_LMOD = [
    {'name': 'linked clone gone',
     'text': "ERROR: ... No files found using glob pattern '.../UserRepo/easybuild/easyblocks/*/*.py'",
     'patterns': ["No files found using glob pattern",
                  (".py cannot find its package", r"mpi(?:container|native)\.py cannot find its package"),
                  ("easyblock", r"Failed\s+to\s+obtain\s+class\s+for\s+MPI(?:Container|Native)\s+easyblock"),
                  ("/easyconfigs/", r"Can't\s+find\s+path\s+\S{1,300}/easyconfigs/\S{1,300}/"
                                    r"osu-(?:container|native|mpi4py)\S{0,100}\.eb")],
     'cause': "EasyBuild does not find the easyblocks or easyconfigs of this project: the clone that make lumi linked "
              "was moved or deleted, or nothing names them.",
     'remedy': "On LUMI: make lumi in a clone, which replaces dead links; to be rid of them, then make unlumi, and "
               "load EasyBuild-user again. On a workstation: . ./env.sh.",
     'source': 'EasyBuild 4.9.4, 5.1.2 and 5.4.1, seen by this project, 2026-11; ' + DOCS, 'evidence': 'measured'},
    {'name': 'unknown module',
     'text': 'The following module(s) are unknown: "osu-container/hybrid"',
     'patterns': [("following", r"The\s+following\s+module\(s\)\s+are\s+unknown:\s*(?P<name>.*)")],
     'cause': "Lmod does not find {name}: it is not installed, or its folder is not on MODULEPATH.",
     'remedy': ". ./env.sh in this shell (on LUMI: module load LUMI/25.03 partition/container EasyBuild-user), and "
               "eb osu-container-hybrid.eb -r if it is not installed.",
     'source': OURS, 'evidence': 'measured'},
    {'name': 'module of another stack',
     'text': 'These module(s) or extension(s) exist but cannot be loaded as requested: "..."',
     'patterns': [("requested:", r"exist\s+but\s+cannot\s+be\s+loaded\s+as\s+requested:\s*(?P<name>.*)")],
     'cause': "{name} belongs to a software stack that is not loaded in this shell.",
     'remedy': "module spider NAME says what to load before it; on LUMI: module load LUMI/25.03 partition/G first.",
     'source': LMOD, 'evidence': 'measured'},
    {'name': 'stack of LUMI without support',
     'text': "The LUMI/24.03 stack is currently unsupported as it was never tested with ...",
     'patterns': [("unsupported", r"LUMI/(?P<stack>\d\d\.\d\d)\s+stack\s+is\s+currently\s+unsupported")],
     'cause': "The stack {stack} was made for LUMI as it was before the update of January 2026: its ROCm and the "
              "libfabric of recipes from then are gone.",
     'remedy': "module load LUMI/25.03 (or 25.09), and install for that stack. Nothing else is wrong if the run was "
               "meant so.",
     'source': 'github.com/Lumi-supercomputer/LUMI-EasyBuild-contrib, issue 422, 2026; LUMI training, update of '
               'January 2026', 'evidence': 'derived', 'last': True},
    {'name': 'modules that exclude each other',
     'text': 'Cannot load module "..." because these module(s) are loaded: ...',
     'patterns': [("module(s)",
                   r"Cannot\s+load\s+module\s+\"(?P<name>[^\"]+)\"\s+because\s+these\s+module\(s\)\s+are\s+loaded:"
                   r"\s*(?P<other>.*)")],
     'cause': "{name} and {other} set the same variables, such as SINGULARITY_BIND, and do not go together.",
     'remedy': "module unload the loaded one; what it binds of the users' file systems the modules of this project "
               "bind as well.",
     'source': LMOD, 'evidence': 'measured'},
]

OF_GPUS = [
    {'name': 'osu-gpu-bind without a map',
     'text': "OSU_GPU_MAP is not set: no module of this bundle is loaded, or it is for a site without GPUs.",
     'patterns': ["OSU_GPU_MAP is not set"],
     'cause': "osu-gpu-bind learns from the module which GPU, cores and card belong together, and no module of a "
              "site with GPUs is loaded.",
     'remedy': "Load the module first; on nodes without GPUs leave osu-gpu-bind out.",
     'source': GPU_BIND, 'evidence': 'measured'},
    {'name': 'osu-gpu-bind outside of srun',
     'text': "SLURM_LOCALID is not set: start it by srun, ...",
     'patterns': ["SLURM_LOCALID is not set"],
     'cause': "Which GPU a rank gets depends on its number on the node, and srun gives that number.",
     'remedy': "Put osu-gpu-bind behind srun: srun -N2 -n2 osu-gpu-bind osu_bw D D.",
     'source': GPU_BIND, 'evidence': 'measured'},
    {'name': 'part of the GPUs',
     'text': "the job has 4 of the node's 8 GPUs, and Slurm does not say which",
     'patterns': [(" of the node's ", r"the job has (?P<some>\d+) of the node's (?P<all>\d+) GPUs")],
     'cause': "Slurm gave {some} of {all} GPUs, numbers them anew, and SLURM_STEP_GPUS does not list them.",
     'remedy': "Ask for whole nodes: --gpus-per-node={all}, and --exclusive in partitions that share nodes.",
     'source': GPU_BIND, 'evidence': 'measured'},
    {'name': 'GPUs of another node',
     'text': "the step has the GPUs 8 9, and OSU_GPU_MAP knows 0 1 2 3 4 5 6 7 only.",
     'patterns': [(", and OSU_GPU_MAP knows", r"the step has the GPUs (?P<gpus>[\w ]+), and OSU_GPU_MAP knows")],
     'cause': "Slurm's numbers of the GPUs ({gpus}) are not those of the module's site.",
     'remedy': "Is the module for this system? osu-explain names its site. Else leave osu-gpu-bind out.",
     'source': GPU_BIND, 'evidence': 'measured'},
    {'name': 'cores far from the GPU',
     'text': "local rank 3: belongs on the cores 0xfe000000, and the job has none of them",
     'patterns': [(", and the job has none of them",
                   r"local rank \d+: belongs on the cores (?P<mask>\S+), and the job has none of them")],
     'cause': "The job has other cores of the node than those next to this rank's GPU ({mask}).",
     'remedy': "The program runs, slower. Ask for whole nodes: --exclusive.",
     'source': GPU_BIND, 'evidence': 'measured'},
    {'name': 'unknown option of osu-gpu-bind',
     'text': "unknown option '...'; osu-gpu-bind --help lists them",
     'patterns': [("'; osu-gpu-bind --help", r"unknown option '(?P<option>[^'\n]*)'; osu-gpu-bind --help")],
     'cause': "osu-gpu-bind has no option {option}; the first word that is no option is the command.",
     'remedy': "srun ... osu-gpu-bind osu_bw D D.",
     'source': GPU_BIND, 'evidence': 'measured'},
    {'name': 'osu-explain without its data',
     'text': "osu-explain: cannot read ...: .... Install the module again: eb --rebuild",
     'patterns': [("osu-explain: ", r"osu-explain: (?:cannot read |.{0,300} does not set )")],
     'cause': "osu-explain reads a file beside the installation: it is not there, or it does not name the variable "
              "that was asked for.",
     'remedy': "The message lists the variables that the module sets. If the file cannot be read: " + AGAIN,
     'source': 'easyconfigs/o/osu-container/osu-explain', 'evidence': 'measured'},
    {'name': 'no GPU support',
     'text': "ROCm Support Not Enabled",
     'patterns': ["asks for buffers in GPU memory",
                  ("upport ", "(?:ROCm|ROCM|CUDA|OpenACC) [Ss]upport [Nn]ot [Ee]nabled")],
     'cause': "Buffers in GPU memory (D) were asked of programs that know host memory only.",
     'remedy': "osu_bw H H; or an image or installation with the C programs built for the GPU.",
     'source': PORT + '; OSU Micro-Benchmarks, c/util/osu_util_options.c', 'evidence': 'measured'},
    {'name': 'wrong arguments',
     'text': "osu_bw: error: unrecognized arguments: ...",
     'patterns': [(": error: unrecognized arguments", r"osu_\w{1,40}: error: unrecognized arguments"),
                  "unknown buffer place",
                  ("-m: the port of ", r"-m: the port of \w+ starts at"),
                  (" sends no messages", r"-m: \w+ sends no messages"),
                  "buffer place(s) given", "is not a whole number of",
                  (" is larger than MAX", r"MIN \d+ is larger than MAX")],
     'cause': "The port of the benchmark does not know these arguments; it has fewer than the C program.",
     'remedy': "osu_bw --help lists them: osu_bw -m MAX -i ITERATIONS -x WARMUP H H.",
     'source': PORT, 'evidence': 'measured'},
    {'name': 'buffers of a Python benchmark',
     'text': "--buffer plain: give --buffer numpy or --buffer cupy (GPU memory)",
     'patterns': [(" numpy or ", r": give \S{1,40} numpy or \S{1,40} cupy"),
                  "asks for two kinds of buffers: give one",
                  (": give H H (NumPy) or D D (CuPy", r"buffers [^\n]{1,100}: give H H \(NumPy\) or D D \(CuPy")],
     'cause': "The Python benchmarks have both buffers in arrays of one library, NumPy's or CuPy's.",
     'remedy': "osu_py_bw --buffer numpy or osu_bw H H; osu_py_bw --buffer cupy or osu_bw D D in an image with CuPy.",
     'source': 'container-recipes/mpi4py/osu-python', 'evidence': 'measured'},
    {'name': 'packages of your own',
     'text': "error: externally-managed-environment",
     'patterns': ["externally-managed-environment", "because ensurepip is not",
                  ("Can not perform a '--user' install. User site-packages are ",
                   r"Can not perform a '--user' install\. User site-packages are (?:disabled|not visible)")],
     'cause': "The Python in the container belongs to the image, which is read-only and has no ensurepip; --user would "
              "mix the packages of all your Pythons.",
     'remedy': "A virtual environment: python -m venv --system-site-packages --without-pip env, first on the PATH in "
               "the container; docs/mpi4py.md has the lines.",
     'source': 'PEP 668; docs.python.org, venv; docs/mpi4py.md', 'evidence': 'measured'},
    {'name': 'port not installed rightly',
     'text': "no mpi4py in ...: the installation is incomplete, install it again",
     'patterns': ["no port of that name in",
                  ("installation is incomplete", "no mpi4py in .{0,300}installation is incomplete"),
                  ("the mpi4py in ", "the mpi4py in .{0,300} is for")],
     'cause': "mpi4py's ports of the benchmarks are incomplete, or the system's Python was updated since.",
     'remedy': "eb osu-native.eb -r --rebuild, and for a container build the image again.",
     'source': PORT, 'evidence': 'measured'},
]

OF_SLURM = [
    {'name': 'unknown MPI type',
     'text': "srun: error: Invalid MPI type 'pmix', --mpi=list for acceptable types",
     'patterns': [("Invalid MPI type '", r"Invalid MPI type '(?P<type>[^'\n]+)'"),
                  ("cannot find mpi plugin for mpi/", r"cannot find mpi plugin for mpi/(?P<other>\S+)"),
                  ("Couldn't find the specified plugin name for mpi/",
                   r"Couldn't find the specified plugin name for mpi/(?P<third>\S+)")],
     'cause': "This Slurm has no plugin {type}{other}{third}, which --mpi= or SLURM_MPI_TYPE names.",
     'remedy': "Leave out --mpi=; srun --mpi=list shows what there is. If the module itself asks for it, this is not "
               "the Slurm of its site.",
     'source': SLURM, 'evidence': 'measured'},
    {'name': 'PMIx library missing',
     'text': "mpi/pmix_v4: init: ... can not load PMIx library",
     'patterns': [("can not load PMIx library", r"mpi/pmix\w*: init: .{0,200}can not load PMIx library")],
     'cause': "Slurm's plugin for PMIx does not find libpmix.so.",
     'remedy': "Install it on the nodes (Debian 12: libpmix-dev) and start Slurm again.",
     'source': OURS, 'evidence': 'measured'},
    {'name': 'no controller',
     'text': "Unable to contact slurm controller (connect failure)",
     'patterns': ["Unable to contact slurm controller", "s_p_parse_file: unable to stat",
                  "s_p_parse_file: cannot stat", "Could not establish a configuration source"],
     'cause': "Slurm's controller does not answer, or its slurm.conf is not there.",
     'remedy': "On the workstation: make slurm, then . ./env.sh; on a cluster try again later.",
     'source': SLURM, 'evidence': 'measured'},
    {'name': 'unknown partition',
     'text': "srun: error: invalid partition specified: ...",
     'patterns': [("invalid partition specified: ", r"invalid partition specified: (?P<partition>\S+)"),
                  "Invalid partition name specified"],
     'cause': "There is no partition of this name, or you may not use it.",
     'remedy': "sinfo -s lists them; on LUMI-G: standard-g, small-g, dev-g.",
     'source': SLURM, 'evidence': 'measured'},
    {'name': 'unknown account',
     'text': "Invalid account or account/partition combination specified",
     'patterns': ["Invalid account or account/partition combination"],
     'cause': "The account (project) is missing, misspelt, or has no right to this partition.",
     'remedy': "--account=project_46XXXXXXX, or export SLURM_ACCOUNT; on LUMI lumi-workspaces lists yours.",
     'source': 'Slurm, src/common/slurm_errno.c', 'evidence': 'derived'},
    {'name': 'more than the partition has',
     'text': "Requested node configuration is not available",
     'patterns': ["Requested node configuration is not available", "can not be satisfied",
                  "Requested partition configuration not available now", "Node count specification invalid",
                  "Invalid generic resource (gres) specification", "Invalid node name specified"],
     'unless': ['more than the job has'],
     'cause': "The job asks for more nodes, cores or GPUs than the partition has or gives to one job.",
     'remedy': "Ask for less: sinfo -o '%P %D %c %G' shows what a partition has.",
     'source': SLURM, 'evidence': 'measured'},
    {'name': 'job is over',
     'text': "Unable to create step for job 123: Job/step already completing or completed",
     'patterns': [("Unable to create step for job ",
                   r"Unable to create step for job \d+: (?P<why>Job/step already completing.*|Invalid job id "
                   "specified|Job has expired|Expired or invalid job.*)"),
                  ("Unable to confirm allocation for job ", r"Unable to confirm allocation for job \d+")],
     'cause': "srun was called in a shell of a job that has ended; SLURM_JOB_ID is still set there.",
     'remedy': "exit that shell (salloc), or unset SLURM_JOB_ID and ask for a new job.",
     'source': SLURM + '; Slurm, src/common/slurm_errno.c', 'evidence': 'measured'},
    {'name': 'more than the job has',
     'text': "srun: error: Only allocated 1 nodes asked for 2",
     'patterns': [(" nodes asked for ", r"Only allocated (?P<has>\d+) nodes asked for (?P<wants>\d+)"),
                  ("Unable to create step for job ",
                   r"Unable to create step for job \d+: (?!Job/step|Invalid job id|Job has expired|Expired)"
                   "(?P<why>.*)")],
     'cause': "srun asks for more than the job was given (nodes, tasks, memory or GPUs), or for what does not fit "
              "together. {why}",
     'remedy': "Ask for it when the job is submitted: sbatch -N, -n, --mem, --gpus-per-node; or ask srun for less.",
     'source': SLURM, 'evidence': 'measured'},
    {'name': 'step waits for another',
     'text': "srun: Job ... step creation temporarily disabled, retrying (Requested nodes are busy)",
     'patterns': ["step creation temporarily disabled", "step creation still disabled"],
     'cause': "Another step of the same job still has the cores (or the memory), so srun waits.",
     'remedy': "Let one step end before the next begins (wait), or srun --overlap. A step that was killed may hold "
               "them for some seconds. --mem of the first step can be what is short.",
     'source': SLURM + '; github.com/llnl/smith, issue 688; ' + DEIC + ', 2025', 'evidence': 'measured'},
    {'name': 'time limit',
     'text': "*** STEP ... CANCELLED AT ... DUE TO TIME LIMIT ***",
     'patterns': ["DUE TO TIME LIMIT",
                  ("did not end within ", r"did not end within (?P<seconds>[\d.]+) s")],
     'cause': "The time limit ran out: of Slurm, or of what waits for the run. Either it is too short, or the ranks "
              "wait for each other for ever.",
     'remedy': "Try the same line by hand with a longer -t. If it never ends: RCCL between nodes has hung on LUMI "
               "with NCCL_NET_GDR_LEVEL set (ROCm 7) and without FI_MR_CACHE_MONITOR=userfaultfd: env | grep -E "
               "'^(NCCL|FI)_' shows yours, osu-explain those of the module; OSU_RCCL_ALT_READ=1 before module load is "
               "the next to try. A provider may be the wrong one (osu-explain FI_PROVIDER).",
     'source': SLURM, 'evidence': 'measured'},
    {'name': 'out of memory',
     'text': "Detected 1 oom_kill event in StepId=... Some of the step tasks have been OOM Killed.",
     'patterns': [("emory", "[Oo]ut [Oo]f [Mm]emory"),
                  ("MEMORY", "OUT[ _]OF[ _]MEMORY"),
                  "out-of-memory",
                  ("kill", "oom[-_]kill"),
                  "OOM Killed", "Cannot allocate memory", "hipErrorOutOfMemory"],
     'cause': "The node, or what the job was given of it, had no memory left, of the host or of the GPU.",
     'remedy': "Ask for more (--mem=0 is all of the node), start fewer ranks on a node, or give -m a smaller largest "
               "size; osu_alltoall needs ranks x size on every rank.",
     'source': 'github.com/nextflow-io/nextflow, issue 5932; github.com/snakemake/snakemake-executor-plugin-slurm, '
               'pull request 371', 'evidence': 'derived'},
    {'name': 'node failed',
     'text': "srun: error: Node failure on nid005001",
     'patterns': ["DUE TO NODE FAILURE",
                  ("Node failure on ", r"Node failure on \S+")],
     'cause': "A node of the job has failed.",
     'remedy': "Submit again; --exclude=NODE leaves it out.",
     'source': 'Slurm, src/slurmd/slurmstepd', 'evidence': 'derived'},
    {'name': 'program not found',
     'text': "slurmstepd: error: execve(): osu_bw: No such file or directory",
     'patterns': [("execve(): ",
                   r"execve\(\): (?P<program>\S+): (?P<why>No such file or directory|Permission denied)")],
     'cause': "The node cannot start {program}: {why}.",
     'remedy': "Load the module in the shell that calls srun, so that its bin is on PATH. srun starts files only, no "
               "functions or aliases of a shell. An installation must lie on a file system that the nodes see.",
     'source': SLURM + '; github.com/singularityhub/singularity-hpc, issues 473 and 565', 'evidence': 'measured'},
]

OF_ANY_PROGRAM = [
    {'name': 'segmentation fault',
     'text': "srun: error: ...: task 0: Segmentation fault",
     'patterns': [(" Segmentation fault", r"task \S+ Segmentation fault"),
                  "] Signal: Segmentation fault", "exit signal Segmentation fault", "Process received signal"],
     'cause': "A rank has crashed. With Open MPI in a container: ranks meet in a folder below Slurm's TmpFS, which "
              "the container does not show. Else often two libraries that do not fit each other.",
     'remedy': "Open MPI: the module binds that folder; with a runtime of your own, or where slurm.conf cannot be read "
               "on the node, export APPTAINER_BIND=FOLDER with what scontrol show config shows as TmpFS. Else see what "
               "was loaded: srun osu_container/rank-proof FOLDER PROGRAM.",
     'source': SLURM, 'evidence': 'measured', 'last': True},
    {'name': 'memory damaged',
     'text': "double free or corruption (out)",
     'patterns': ["double free or corruption", "free(): invalid pointer", "malloc(): corrupted"],
     'cause': "A library has damaged the memory of a rank. With LINKx (FI_PROVIDER=lnx): it was told to link a "
              "provider that it cannot link, such as tcp.",
     'remedy': "LINKx: unset OSU_LINKX and load the module again, or let FI_LNX_PROV_LINKS name shm and cxi alone. "
               "Else see what was loaded: srun osu_container/rank-proof FOLDER PROGRAM.",
     'source': 'Open MPI 5.0.11 over libfabric 2.5.1 with lnx over shm+tcp, seen by this project, 2026-11',
     'evidence': 'measured', 'last': True},
    {'name': 'MPI stopped the job',
     'text': "Abort(...): Fatal error in internal_Init: Other MPI error, error stack:",
     'patterns': [("Fatal error in ", r"Fatal error in (?P<call>\w+)"),
                  "MPI_ABORT was invoked", "application called MPI_Abort"], 'last': True,
     'cause': "MPI or the program has ended the job; the lines behind say in which call.",
     'remedy': "Look at the last line of MPI's list: it is the first cause. FI_LOG_LEVEL=warn says more.",
     'source': 'MPICH 4.2.3, seen by this project, 2026-11', 'evidence': 'derived'},
    {'name': 'task killed',
     'text': "srun: error: ...: task 0: Killed",
     'patterns': [(" Killed", r"task \S+ Killed\b"),
                  (" Terminated", r"task \S+ Terminated\b")], 'last': True,
     'cause': "A rank was killed from outside: memory, time, or because another rank had failed.",
     'remedy': "Look for the first error of any rank. If there is none, it was mostly memory: --mem=0, or fewer "
               "ranks.",
     'source': SLURM, 'evidence': 'derived'},
    {'name': 'program failed',
     'text': "srun: error: ...: task 0: Exited with exit code 1",
     'patterns': [(" Exited with exit code ", r"tasks? \S+ Exited with exit code (?P<code>\d+)")], 'last': True,
     'cause': "A rank has ended with exit code {code}; nothing in this text that is known says why.",
     'remedy': "Look at what the program itself has printed. Exit code 127: not found, 126: not executable, 143: "
               "killed because another rank had failed.",
     'source': SLURM, 'evidence': 'measured'},
    {'name': 'output cut off',
     'text': "the table of ... ends at ... bytes, wanted ...: the run was cut off",
     'patterns': ["the run was cut off",
                  ("no number from ", "no number from .{0,200} in .{0,200} line")], 'last': True,
     'cause': "The benchmark has stopped before its last message size, or has printed no numbers at all.",
     'remedy': "The reason is on its other output: look at the .err file beside it.",
     'source': 'osu_container/osu_output.py', 'evidence': 'measured'},
]

#: (heading, entries)
TOPICS = [
    ("The loader", OF_THE_LOADER),
    ("MPI, libfabric, RCCL, the network", OF_THE_NETWORK),
    ("Ranks that do not find each other", OF_LONE_RANKS),
    ("The container", OF_THE_CONTAINER),
    ("Modules", OF_LMOD),
    ("GPUs and the benchmarks", OF_GPUS),
    ("Slurm", OF_SLURM),
    ("How a program ended", OF_ANY_PROGRAM),
]
MESSAGES = [entry for _, entries in TOPICS for entry in entries]

#: escape sequences of terminals: colours and the like, titles, character sets
ESCAPES = re.compile(r'\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[()][0-9A-Za-z])')
#: bytes that are read at once, and searched as one text; a line that is longer is searched in parts
BLOCK = 1 << 20
#: letters that are shown of a line, of what a group found; files that are named with a message, or without one
SHOWN, SHOWN_GROUP, SHOWN_FILES, SHOWN_OTHERS = 240, 200, 6, 20
#: first bytes of compressed files -> what reads them
COMPRESSED = {b'\x1f\x8b': 'zcat', b'\xfd7zXZ': 'xzcat', b'BZh': 'bzcat', b'\x28\xb5\x2f\xfd': 'zstdcat'}


def _searched(entry):
    """Return [(regular expression, compiled; plain text that is in all that it matches)] of an entry (dict)."""
    pairs = [(item, re.escape(item)) if isinstance(item, str) else item for item in entry['patterns']]
    return [(re.compile(expression, re.MULTILINE), text) for text, expression in pairs]


def _groups(parts):
    """Return the names (list of str) of all groups in parts, see _searched()."""
    return sorted({name for part, _ in parts for name in part.groupindex})


#: (entry, names of its groups (list of str), its regular expressions with their texts, see _searched())
PATTERNS = [(entry, _groups(parts), parts) for entry, parts in ((entry, _searched(entry)) for entry in MESSAGES)]


def _printable(text):
    """Return text (str) on one line, with nothing in it that a terminal would take for an order."""
    return one_line(re.sub(r'\s', ' ', text)).strip()


def _line(text, match):
    """Return what is shown (str) of the line in which match (of text) begins; of a long one what is around it."""
    begin = max(text.rfind(end, 0, match.start()) for end in '\n\r') + 1
    ends = [place for place in (text.find(end, match.start()) for end in '\n\r') if place >= 0]
    end = min(ends) if ends else len(text)
    if end - begin > SHOWN:
        begin = max(begin, match.start() - 80)
        end = min(end, begin + SHOWN)
    return _printable(text[begin:end])


def filled(text, names, match):
    """
    Return text (str) with {group} replaced by what match found.

    :param names: list of str, the groups of the whole pattern; one without a match gives nothing, 'by' gives 'it'
    """
    groups = dict.fromkeys(names)
    groups.update(match.groupdict())
    groups = {name: _printable(value or ('it' if name == 'by' else ''))[:SHOWN_GROUP]
              for name, value in groups.items()}
    text = re.sub(r'\{(\w+)\}', lambda group: groups.get(group.group(1), group.group()), text).strip()
    return text[:1].upper() + text[1:] if text[:3] == 'it ' else text


class Search(object):
    """Looks for the messages in a text that comes in parts. What it keeps does not grow with the text."""

    def __init__(self):
        #: lines that have ended (int); whether one is open; whether there was anything but white space
        self.ended, self.open, self.written = 0, False, False
        #: name of an entry -> what found() says of it (dict)
        self.hits = {}

    @property
    def lines(self):
        """Lines that were read (int); the last one counts without an end too."""
        return self.ended + self.open

    def add(self, text):
        """Search the next part (str), which ends where a line does, except the last one."""
        if '\x1b' in text:
            text = ESCAPES.sub('', text)
        if '\0' in text:
            text = text.replace('\0', '')  # what Windows writes as UTF-16 is then readable
        if '\r' in text:
            text = text.replace('\r\n', '\n')
        there = {}  # plain text -> whether it is in text: several patterns have the same
        for entry, names, parts in PATTERNS:
            lines = {}  # where a line with a match begins -> the match
            for part, word in parts:
                if word not in there:
                    there[word] = word in text
                for match in part.finditer(text) if there[word] else ():
                    lines.setdefault(text.rfind('\n', 0, match.start()) + 1, match)
            if not lines:
                continue
            if entry['name'] not in self.hits:
                begin = min(lines)
                match = lines[begin]
                self.hits[entry['name']] = {
                    'name': entry['name'], 'cause': filled(entry['cause'], names, match),
                    'remedy': filled(entry['remedy'], names, match), 'source': entry['source'],
                    'evidence': entry['evidence'], 'line': _line(text, match),
                    'number': self.ended + text.count('\n', 0, begin) + 1, 'times': 0}
            self.hits[entry['name']]['times'] += len(lines)
        self.ended += text.count('\n')
        self.open = not text.endswith('\n') if text else self.open
        self.written = self.written or bool(text.strip())

    def found(self):
        """
        Return what is known about the messages of the text, in the order of their first lines.

        :return: list of dict: name, cause, remedy, source, evidence (str, see MESSAGES), line (str, the first line with
                 the message, shortened), number (int, its number from 1), times (int, lines with it). [] if nothing is
                 known.
        """
        known = [(entry, self.hits[entry['name']]) for entry in MESSAGES if entry['name'] in self.hits]
        known = [(entry, hit) for entry, hit in known if hit['times'] >= entry.get('times', 1)]
        names = {entry['name'] for entry, _ in known}
        known = [(entry, hit) for entry, hit in known if not names & set(entry.get('unless', []))]
        causes = [(entry, hit) for entry, hit in known if not entry.get('last')]
        return sorted((hit for _, hit in causes or known), key=lambda hit: hit['number'])


def explain(text):
    """Return what is known about the messages in text (str), as Search.found() does."""
    search = Search()
    search.add(text)
    return search.found()


def reason(text):
    """Return one line (str) that says why a run with this output (str) failed; None if nothing in it is known."""
    found = explain(text)
    return '; '.join('%s: %s' % (each['name'], each['cause']) for each in found[:2]) or None


def search_in(handle):
    """
    Return the Search of all that a binary file (object with read()) has; BLOCK bytes of it are held at a time.

    Raises OSError if it cannot be read, ValueError if it is compressed.
    """
    search, rest = Search(), b''
    data = handle.read(BLOCK)
    for begin, command in COMPRESSED.items():
        if data.startswith(begin):
            raise ValueError("it is compressed: %s FILE | osu-container why" % command)
    while data:
        end = data.rfind(b'\n') + 1
        if end or len(rest) >= BLOCK:
            search.add((rest + data[:end or None]).decode('utf-8', 'replace'))
            rest = data[end:] if end else b''
        else:
            rest += data
        data = handle.read(BLOCK)
    search.add(rest.decode('utf-8', 'replace'))
    return search


def add_arguments(parser):
    """Add the arguments of `osu-container why`."""
    parser.add_argument('log', nargs='*', default=['-'], metavar='LOG',
                        help="files with the output of jobs, or - for what is piped in (default)")
    parser.add_argument('--list', action='store_true', help="list all messages that are known, and read nothing")
    parser.add_argument('--json', action='store_true', help="the same for programs")
    parser.epilog = "Exit codes: 0 something is known, 1 nothing is, or a file cannot be read, 2 wrong usage."
    parser.set_defaults(function=main, prog='osu-container why', errors=(OSError,),
                        after_interrupt='nothing was changed')


def _search_of(name):
    """Return the Search of a file or, for '-', of what is piped in. Raises OSError, ValueError."""
    if name != '-':
        if os.path.isdir(name):
            raise ValueError("it is a folder: name the files in it, for example %s" % os.path.join(name, '*.out'))
        with open(name, 'rb') as handle:
            return search_in(handle)
    if sys.stdin.isatty():
        sys.stderr.write("osu-container why: paste the output, then type Ctrl-D\n")
    return search_in(sys.stdin.buffer)


def _say(text):
    """Print text (str) as far as the terminal has its letters: Python 3.6 in the locale C has ASCII alone."""
    encoding = sys.stdout.encoding or 'ascii'
    print(text.encode(encoding, 'replace').decode(encoding))


def _fill(words, title, width=100):
    """Return words (str) in lines of a width (int), behind a title (str)."""
    return textwrap.fill(words, width, initial_indent='  %-8s' % title, subsequent_indent=' ' * 10,
                         break_on_hyphens=False, break_long_words=False)


def _advice(each):
    """Return the lines (str) with cause, remedy and source of a message (dict)."""
    return '\n'.join(_fill(words, title) for title, words in (
        ('cause', each['cause']), ('remedy', each['remedy']),
        ('source', '%s; %s' % (each['evidence'], each['source']))))


def listed():
    """Return all messages (list of dict: topic, name, text, cause, remedy, source, evidence), as on docs/why.md."""
    topics = {entry['name']: topic for topic, entries in TOPICS for entry in entries}
    found = []
    for entry, names, parts in PATTERNS:
        matches = [match for match in (part.search(entry['text']) for part, _ in parts) if match]
        match = min(matches, key=lambda match: match.start())
        found.append({'topic': topics[entry['name']], 'name': entry['name'], 'text': entry['text'],
                      'cause': filled(entry['cause'], names, match), 'remedy': filled(entry['remedy'], names, match),
                      'source': entry['source'], 'evidence': entry['evidence']})
    return found


def _print_list(as_json):
    """Print all messages that are known, with cause and remedy."""
    if as_json:
        _say(json.dumps(listed(), indent=1))
        return
    topic = None
    for each in listed():
        if each['topic'] != topic:
            topic = each['topic']
            _say('%s\n%s' % (topic, '-' * len(topic)))
        _say('%s\n    %s\n%s\n' % (each['name'], each['text'], _advice(each)))


def _where(each, several):
    """Return where a message stands (str): its line, and the file where there are several."""
    more = ' (and %d more)' % (each['times'] - 1) if each['times'] > 1 else ''
    return '%sline %d%s' % ('%s ' % each['file'] if several else '', each['number'], more)


def _some(names, number, between):
    """Return so many (int) of names (list of str) in one text, and how many more there are."""
    more = ['and %d more' % (len(names) - number)] if len(names) > number else []
    return between.join([_printable(name) for name in names[:number]] + more)


def _print_found(found, several):
    """Print the messages (list of dict, with file); one that is in several files once, with these."""
    groups = {}
    for each in found:
        groups.setdefault((each['name'], each['cause'], each['remedy']), []).append(each)
    for each, *others in groups.values():
        places = _some([_where(one, several) for one in [each] + others], SHOWN_FILES, '; ')
        _say('%s, %s\n    %s\n%s' % (each['name'], places, each['line'], _advice(each)))


def main(options):
    """Print what is known about the messages in the logs, or all that is known; return the exit code."""
    if options.list:
        _print_list(options.json)
        return 0
    found, empty, unknown, failed = [], [], [], False
    for name in options.log:
        try:
            search = _search_of(name)
        except (OSError, ValueError) as err:
            failed = True
            sys.stdout.flush()
            sys.stderr.write("osu-container why: error: %s: %s\n" % (_printable(name),
                                                                     getattr(err, 'strerror', None) or err))
            continue
        here = [dict(each, file=name) for each in search.found()]
        found += here
        if not here:
            (unknown if search.written else empty).append((name, search.lines))
    several = len(options.log) > 1
    if options.json:
        _say(json.dumps(found, indent=1))
        return 0 if found and not failed else 1
    _print_found(found, several)
    if empty:
        _say("The text is empty: there is nothing to explain." if not several else
             "Empty: %s." % _some([name for name, _ in empty], SHOWN_OTHERS, ', '))
    if unknown and not several:
        _say("None of the %d messages that are known here is in these %d lines.\ndocs/why.md and %s list them; else "
             "keep the text and open an issue." % (len(MESSAGES), unknown[0][1], DOCS))
    elif unknown:
        _say("None of the %d messages that are known here is in: %s."
             % (len(MESSAGES), _some([name for name, _ in unknown], SHOWN_OTHERS, ', ')))
    return 0 if found and not failed else 1


if __name__ == '__main__':
    PARSER = argparse.ArgumentParser(prog='why.py', description="Name cause and remedy of a job's messages.")
    add_arguments(PARSER)
    try:
        CODE = main(PARSER.parse_args())
        sys.stdout.flush()
        sys.exit(CODE)
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
