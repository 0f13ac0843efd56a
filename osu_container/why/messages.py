"""
The messages that osu-container why knows, by topics: all there is to it, and data only. search.py looks for them.

To add a message, add an entry and its text to tests/why/test_why.py, where every entry is tried on what a program
really printed, or to tests/why/sample.json, then `make modules`, which writes docs/why.md.

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
    also       list of pairs (str, str), optional: what else it may be, and the one command that tells
    times      int, optional: it counts from so many lines on (a line that is harmless when it comes once)
    last       True, optional: harmless, or a consequence of something else; named only if nothing else is found
    unless     list of names, optional: not named beside these, which say it more exactly
"""
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
#: Libraries of a host's network, which the modules inject
HOST_NAMES = (r"cxi|fabric|pmi2?|pmix|palsd?|xpmem|dsmml|mpi_gtl\w*|json-c|curl|lustreapi|nl-\w+|rdmacm|ibverbs|efa|"
              r"psm\w*|uc[mpst]|sci_\w+")
OF_THE_HOST = r"lib(?:" + HOST_NAMES + r")\.so"
#: The same, and those that entries of their own explain
EXPLAINED = (r"lib(?:" + HOST_NAMES + r"|mpi\w*|amdhip64|hsa-runtime64|amd_comgr|[nr]ccl-net[\w-]*|cuda|nvidia-[\w-]+|"
             r"slurm\w*)\.so")
#: Behind it Open MPI says that it goes on without the library
NOT_IGNORED = r"(?![^\n]{0,80}\(ignored\))"
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
     'patterns': [(": cannot open shared object file",
                   r"(?:^|[\s:'(])(?P<library>[^\s:'(]{0,300}" + OF_THE_HOST + r"[^\s:'(]{0,80}): cannot open shared "
                   "object file" + NOT_IGNORED)],
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
    {'name': 'library not in the image',
     'text': "error while loading shared libraries: libgfortran.so.5: cannot open shared object file: ...",
     'patterns': [(": cannot open shared object file",
                   r"(?:^|[\s:'(])(?![^\s:'(]{0,300}" + EXPLAINED + r")(?P<library>[^\s:'(]+): cannot open shared "
                   "object file" + NOT_IGNORED),
                  (" failed: a shared library is likely missing in the image",
                   r"exec (?P<program>\S+) failed: a shared library is likely missing in the image")],
     'cause': "{library}{program}: a library is needed that is in no folder which the loader searches. The image lacks "
              "it; where no container runs, the module that brings it is not loaded.",
     'remedy': "Install its package in the image: libgfortran.so.5 is libgfortran5 in Debian and openSUSE, libgfortran "
               "in Rocky. If it is there, in a folder of its own (conda, /opt): put that into LD_LIBRARY_PATH in the "
               "container.",
     'also': [("the library is there and what it needs itself is not", "osu-exec ldd FILE"),
              ("it is the host's, and the host has changed since the module was installed", "osu-explain")],
     'source': LOADER + '; github.com/sylabs/singularity, issue 668; github.com/open-mpi/ompi, issue 6352',
     'evidence': 'derived'},
    {'name': 'MPI of another kind',
     'text': "libmpi_mpifh.so.40: cannot open shared object file: No such file or directory",
     'patterns': [(": cannot open shared object file",
                   r"(?P<library>libmpi(?!_gtl)\w*\.so[.\d]*): cannot open shared object file" + NOT_IGNORED)],
     'unless': ['no MPI library'],
     'cause': "The program was built with another MPI than the one that is here, which has no {library}. libmpi.so.12 "
              "is MPICH, Intel MPI, Cray MPICH or MVAPICH, libmpi.so.40 Open MPI; libmpi_mpifh and libmpi_usempif08 "
              "are Open MPI's for Fortran.",
     'remedy': "Take the MPI that it was built with, or build it with this one. bind and hybrid need an image on "
               "libmpi.so.12. Open MPI has its Fortran libraries only where it was built with a Fortran compiler.",
     'also': [("it is there, in a folder that the loader does not search",
               "osu-exec find / -name 'libmpi*.so*' -not -path '/proc/*'")],
     'source': LOADER + '; github.com/OpenRadioss/OpenRadioss, issue 1876; github.com/wi4mpi/wi4mpi, issue 23',
     'evidence': 'derived'},
    {'name': 'driver of NVIDIA not in the container',
     'text': "libcuda.so.1: cannot open shared object file: No such file or directory",
     'patterns': [(": cannot open shared object file",
                   r"(?P<library>lib(?:cuda|nvidia-[\w-]+)\.so[.\d]*): cannot open shared object file"),
                  ("NVIDIA-SMI couldn't find ", r"NVIDIA-SMI couldn't find (?P<other>[\w.-]+) library"),
                  ("Could not find any nv", r"Could not find any (?P<these>nv files)"),
                  ("Could not find any NVIDIA libraries", r"Could not find any (?P<all>NVIDIA libraries)")],
     'cause': "{library}{other}{these}{all} not found: that is the driver of NVIDIA's GPUs, which is on nodes with "
              "such a GPU, and comes into a container by --nv only.",
     'remedy': "singularity exec --nv, apptainer exec --nv; for a command of the module: export "
               "MPI_CONTAINER_OPTIONS=--nv.",
     'also': [("this node has no GPU", "srun nvidia-smi -L")],
     'source': 'docs.sylabs.io, SingularityCE, GPU support; github.com/apptainer/singularity, issue 5337; '
               'github.com/apache/mxnet, issue 6787', 'evidence': 'derived'},
    {'name': 'component of Open MPI left out',
     'text': "mca_base_component_repository_open: unable to open mca_btl_usnic: libfabric.so.1: ... (ignored)",
     'patterns': [("mca_base_component_repository_open: unable to open ",
                   r"mca_base_component_repository_open: unable to open (?P<component>\w+)")],
     'cause': "Open MPI leaves out its component {component}, whose library is not here.",
     'remedy': "Harmless, unless the run should use just that network: then install the library in the image.",
     'source': 'github.com/PrincetonUniversity/hpc_beginning_workshop, pull request 7', 'evidence': 'derived',
     'last': True},
    {'name': 'linker of conda',
     'text': "ld: warning: libcxi.so.1, needed by .../libfabric.so.1, not found (try using -rpath or -rpath-link)",
     'patterns': [("needed by ", r"\bld: warning: (?P<library>[^\s,]+), needed by (?P<by>[^\s,]+), not found"),
                  (": undefined reference to ", r"\bld: (?P<in>\S+): undefined reference to ")],
     'cause': "The linker does not find what {by}{in} itself needs. The one of conda (compiler_compat) does not search "
              "the folders of the host.",
     'remedy': "conda deactivate before building, or PATH with /usr/bin in front; else -Wl,-rpath-link,FOLDER.",
     'also': [("the library is of another release than its headers", "ldd LIBRARY")],
     'source': 'github.com/MPAS-Dev/compass, issue 759; ld(1), -rpath-link', 'evidence': 'derived'},
]

OF_THE_NETWORK = [
    {'name': 'no provider',
     'text': "OFI fi_getinfo() failed (ofi_init.c:...:open_fabric:No data available)",
     'patterns': [("No data available", "open_fabric: ?No data available"),
                  ("No data available", "find_provider.{0,200}No data available"),
                  ("getinfo", r"getinfo(?:\(\))?(?: call)? fail(?:ed|ure)"), "OFI addrinfo() failed",
                  "OFI fi_fabric failed", "Couldn't find any optimal provider", "no such provider", "fi_getinfo: -61"],
     'cause': "libfabric has no provider that MPI can use: it was told to use one that is not built in or has no "
              "card here (FI_PROVIDER), or MPI asks for more than the provider has.",
     'remedy': "osu-explain FI_PROVIDER says what is asked for; unset yours if you have set it. On one node MPICH "
               "avoids cxi: MPIR_CVAR_SINGLE_HOST_ENABLED must be 0. opensource: does the image's libfabric have the "
               "provider (osu-exec fi_info -l)? hybrid: MPICH may ask for a newer libfabric than the host's. "
               "FI_LOG_LEVEL=info shows what was looked at. MPICH 3.4.3 does not work over cxi.",
     'also': [("the container does not show the card", "osu-exec ls /dev/cxi0 /dev/infiniband"),
              ("libfabric itself is of another release", "FI_LOG_LEVEL=info osu-exec fi_info")],
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
                  "Couldn't open a fabric access domain. RC: -38", "OFI fi_open domain failed"],
     'cause': "The step has no VNI, the key that Slingshot's card asks for: Slurm gives none to a step on one node, "
              "and none to a program that srun did not start.",
     'remedy': "srun --network=single_node_vni ..., which hybrid and opensource ask for (SLURM_NETWORK) unless you "
               "have set SLURM_NETWORK; start the program by srun, and not with --cleanenv, which takes away "
               "SLINGSHOT_VNIS. Without the card: export OSU_SINGLE_NODE=shm before module load.",
     'also': [("the card is not Slingshot's, and the container does not show it or may not lock memory",
               "FI_LOG_LEVEL=warn srun ... says which, in the line of its provider")],
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
     'patterns': [("process_vm_", r"process_vm_(?:read|write)v\b.{0,300}(?:Operation not permitted|"
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
    {'name': 'PSM3 opens no card',
     'text': "rank0: PSM3 can't open nic unit: 0 (err=23)",
     'patterns': ["PSM3 can't open nic unit"],
     'cause': "libfabric's provider psm3 is made for Intel's RDMA cards. Here it took an Ethernet interface, and "
              "cannot open it: a container, a virtual machine, a login node. MPI then ends, or waits for ever.",
     'remedy': "export PSM3_DEVICES=self,shm (ranks of one node), or FI_PROVIDER=^psm3, with tcp between nodes.",
     'source': 'github.com/easybuilders/easybuild-easyconfigs, issue 18925; github.com/mpi4py/shmem4py, pull request '
               '28',
     'evidence': 'measured'},
    {'name': 'PSM2 opens no card',
     'text': "PSM2 can't open hfi unit: -1 (err=23)",
     'patterns': ["PSM2 can't open hfi unit", "PSM2 was unable to open an endpoint"],
     'cause': "The Omni-Path card has no free context for this rank, or the container does not show it.",
     'remedy': "Fewer ranks on the node, or a node of your own (--exclusive): another job may have the contexts. In a "
               "container: bind /dev/hfi1_0.",
     'also': [("the link is down", "opainfo"), ("there is no such card here", "ls /dev/hfi1*; then FI_PROVIDER=tcp")],
     'source': 'github.com/intel/opa-psm2, README; github.com/open-mpi/ompi, issue 10601', 'evidence': 'derived'},
    {'name': 'no endpoint on the card',
     'text': "create_vni_context(982)..: OFI endpoint open failed (ofi_init.c:982:...)",
     'patterns': ["OFI endpoint open failed", "Libfabric library call (fi_endpoint)"],
     'unless': ['PSM3 opens no card', 'PSM2 opens no card', 'limit of locked memory'],
     'cause': "libfabric has chosen a provider, and this provider cannot open its card for this rank.",
     'remedy': "FI_LOG_LEVEL=warn srun ... shows which provider and why; FI_PROVIDER takes another one. Start the rank "
               "by srun: on Cray's networks only that gives it the right to the card.",
     'also': [("it is psm3 on plain Ethernet", "PSM3_DEVICES=self,shm srun ..."),
              ("memory may not be locked", "srun bash -c 'ulimit -l', which should print unlimited")],
     'source': 'MPICH, src/mpid/ch4/netmod/ofi/ofi_init.c; github.com/LLNL/sundials, issue 316', 'evidence': 'derived'},
    {'name': 'limit of locked memory',
     'text': "UCX ERROR mlx5_0: ibv_create_cq() failed: Cannot allocate memory",
     'patterns': ["set max locked memory", "Failure to post internal receive buffers",
                  ("ibv_", r"\bibv_(?:create_(?:cq|qp|srq)|reg_mr|alloc_pd)\w*(?:\(\))? failed"),
                  ("Couldn't enable endpoint", "Couldn't enable endpoint. RC: -12")],
     'cause': "The card needs memory that is locked, and this process may lock too little (ulimit -l). The memory of "
              "the node is not what is short.",
     'remedy': "srun bash -c 'ulimit -l' should print unlimited. Slurm takes it from slurmd (LimitMEMLOCK) or from "
               "your login shell (PropagateResourceLimits): ask the administrators. Docker, podman: --ulimit "
               "memlock=-1:-1.",
     'also': [("the card has no room for so many connections", "the same line with two ranks a node")],
     'source': 'github.com/openucx/ucx, issue 8746; github.com/awslabs/awsome-distributed-ai, issue 647; '
               'github.com/NVIDIA/cudf-spark, pull request 7632', 'evidence': 'derived'},
    {'name': 'queue pairs of the card used up',
     'text': "UCX ERROR mlx5dv_devx_obj_create(QP) failed, syndrome 0: Cannot allocate memory",
     'patterns': [("mlx5dv_devx_obj_create(", r"mlx5dv_devx_obj_create\((?P<what>\w+)\) failed")],
     'cause': "The InfiniBand card has no room for another connection ({what}): every rank opens one to every other "
              "(transport rc).",
     'remedy': "export UCX_TLS=self,sm,ud_x (or dc_x), which do with few; or fewer ranks on a node.",
     'also': [("the driver of the card is at fault", "UCX_IB_MLX5_DEVX=n srun ...")],
     'source': 'github.com/openucx/ucx, issues 7978 and 5351; UCX, documentation, FAQ', 'evidence': 'derived'},
    {'name': 'openib not used',
     'text': "WARNING: There was an error initializing an OpenFabrics device.",
     'patterns': ["error initializing an OpenFabrics device", "Module: OpenFabrics (openib)"],
     'cause': "Open MPI 4 warns that its old component openib cannot use the card; UCX is meant to.",
     'remedy': "export OMPI_MCA_btl=^openib silences it. Harmless where the run is fast.",
     'also': [("the run goes over TCP, where it is slow", "OMPI_MCA_pml=ucx srun ... ends if UCX finds no card")],
     'source': 'github.com/open-mpi/ompi, issues 10693 and 7461; github.com/shankar1729/jdftx, issue 270',
     'evidence': 'derived', 'last': True},
    {'name': 'component of Open MPI missing',
     'text': "A requested component was not found, or was unable to be opened. ... Framework: btl Component: openib",
     'patterns': [("Framework: ", r"Framework: +(?P<framework>btl|pml|mtl|coll|osc|smsc|plm|ras)\b")],
     'unless': ['Open MPI finds no transport'],
     'cause': "Something asks Open MPI for a component of its framework {framework} that it does not have: mostly a "
              "module of the host sets OMPI_MCA_..., for another Open MPI than the image's.",
     'remedy': "env | grep OMPI_MCA_ shows it; unset it, or start the container without that module.",
     'also': [("a file of the image or of yours asks for it",
               "osu-exec cat ~/.openmpi/mca-params.conf")],
     'source': 'github.com/glotzerlab/software, issue 120', 'evidence': 'derived'},
    {'name': 'Open MPI finds no transport',
     'text': "No components were able to be opened in the pml framework.",
     'patterns': ["were able to be opened in the pml framework", "MPI processes are unable to reach each other",
                  ("PML ", r"PML \w+ cannot be selected")],
     'cause': "Open MPI has no way to send messages: what was asked for (OMPI_MCA_pml, OMPI_MCA_btl, --mca) does not "
              "work here, mostly UCX without a card that it can use.",
     'remedy': "env | grep OMPI_MCA_, and unset what asks for one. OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,sm,tcp (vader "
               "for sm in Open MPI 4) goes over TCP.",
     'also': [("the container does not show the card", "osu-exec ls /dev/infiniband /dev/cxi0"),
              ("UCX in the image was built without it", "osu-exec ucx_info -d")],
     'source': 'github.com/openucx/ucx, issue 5284; github.com/open-mpi/ompi, issue 9838; github.com/hpc/charliecloud, '
               'pull request 166', 'evidence': 'derived'},
    {'name': 'wrong interface for TCP',
     'text': "WARNING: Open MPI failed to TCP connect to a peer MPI process.",
     'patterns': ["failed to TCP connect to a peer MPI process"],
     'cause': "Open MPI tries an address of the other node that cannot be reached from here: of docker0, virbr0, or "
              "169.254.x.x. Or a firewall stands between.",
     'remedy': "ip -brief addr shows the interfaces; export OMPI_MCA_btl_tcp_if_include=NAME (or 10.0.0.0/8), and "
               "OMPI_MCA_oob_tcp_if_include likewise.",
     'also': [("a firewall is between the nodes", "nc -z NODE PORT, with the port of the message")],
     'source': 'github.com/open-mpi/ompi, issue 6377', 'evidence': 'derived'},
    {'name': 'UCX finds no transport',
     'text': "UCX WARN transport 'ud' is not available, please use one or more of: ...",
     'patterns': [("transport '", r"transport '(?P<transport>\w+)' is not available"), "no usable transports/devices"],
     'cause': "UCX_TLS or UCX_NET_DEVICES names what this UCX does not have here: it was built without InfiniBand, or "
              "the container does not show the card.",
     'remedy': "env | grep UCX_, and unset what you do not need.",
     'also': [("the container does not show the card", "osu-exec ls /dev/infiniband"),
              ("the image's UCX was built without rdma-core", "osu-exec ucx_info -d")],
     'source': 'github.com/openucx/ucx, issues 8808 and 9610', 'evidence': 'derived'},
    {'name': 'GPU buffer in an MPI without GPU support',
     'text': "process_vm_readv: Bad address",
     'patterns': [("process_vm_", r"process_vm_(?:read|write)v\b.{0,300}Bad address"),
                  ("Read -1, expected ", r"Read -1, expected \d+, errno ?= ?14\b"),
                  "invalid permissions for mapped object"],
     'cause': "MPI was given a buffer in GPU memory and takes it for host memory: its support for GPUs is off, or it "
              "was built without.",
     'remedy': "Cray MPICH: MPICH_GPU_SUPPORT_ENABLED=1 and the GTL library (module craype-accel-...); MPICH: "
               "MPIR_CVAR_ENABLE_GPU=1; Open MPI: a build with CUDA or ROCm. osu_bw H H tells whether host memory "
               "works.",
     'also': [("the GPU's memory was allocated by another runtime than MPI knows", "ldd PROGRAM shows which it loads")],
     'source': 'process_vm_readv(2), EFAULT; github.com/spectral-compute/scale-validation, issue 66',
     'evidence': 'derived'},
    {'name': 'GPU memory not shared between ranks',
     'text': "The call to cuIpcGetMemHandle failed. This means the GPU RDMA protocol cannot be used.",
     'patterns': [("IpcGetMemHandle failed", r"(?:cu|cuda|hip)IpcGetMemHandle failed"),
                  ("IpcOpenMemHandle failed", r"(?:cu|cuda|hip)IpcOpenMemHandle failed"),
                  "failed to open ipc mem handle"],
     'cause': "Ranks of one node cannot show each other their GPU memory (IPC): it comes from a pool of the program, "
              "each rank sees only its own GPU, or each runs in namespaces of its own.",
     'remedy': "Let each rank see all GPUs of the node (--gpus-per-node, no --gpu-bind); allocate by cudaMalloc or "
               "hipMalloc (Julia: JULIA_CUDA_MEMORY_POOL=none).",
     'also': [("the container is the reason", "the same with apptainer exec --sharens, or UCX_TLS=^cuda_ipc,rocm_ipc")],
     'source': 'github.com/JuliaGPU/CUDA.jl, issue 1398; github.com/openucx/ucx, issue 3192', 'evidence': 'derived'},
    {'name': "RCCL's wish about the kernel",
     'text': "NCCL WARN Missing \"iommu=pt\" from kernel command line which can lead to system instablity or hang!",
     'patterns': [("NCCL WARN Missing ", r"NCCL WARN Missing \"[^\"\n]{1,80}\" from (?:kernel|environment)")],
     'cause': "RCCL recommends a setting of the kernel or of the environment that it does not see.",
     'remedy': "Harmless where runs go well: kernels of Cray systems pass the IOMMU through by their configuration.",
     'source': 'github.com/ROCm/rocm-systems, pull request 7916', 'evidence': 'derived', 'last': True},
    {'name': 'NCCL stopped',
     'text': "ncclSystemError: System call (socket, malloc, munmap, etc) failed.",
     'patterns': ["ncclSystemError", "ncclInternalError", "ncclUnhandledCudaError", ("NCCL error", r"NCCL error\b")],
     'cause': "NCCL or RCCL has ended; this line is the last of its messages and does not say why.",
     'remedy': "NCCL_DEBUG=WARN srun ... prints the first one, and osu-container why explains that. Over TCP "
               "(NCCL_IB_DISABLE=1, NCCL_NET=Socket) it tells whether the network is at fault.",
     'source': 'NCCL, documentation, Errors', 'evidence': 'derived', 'last': True},
    {'name': 'plugin cannot register memory',
     'text': "NCCL WARN NET/OFI Unable to register memory (type = 2) for device 4. RC: -22, Error: Invalid argument",
     'patterns': ["NET/OFI Unable to register memory"],
     'cause': "The plugin of NCCL or RCCL cannot make GPU memory known to the network: libfabric does not take it for "
              "GPU memory, or its provider is too old for this NCCL.",
     'remedy': "EFA: export FI_EFA_SET_CUDA_SYNC_MEMOPS=0, or the installer 1.29.1 or newer. cxi: a libfabric built "
               "with ROCm or CUDA (opensource), and DMABUF (see that message). NCCL_NET_GDR_LEVEL=LOC avoids it, "
               "slower.",
     'source': 'github.com/awslabs/awsome-distributed-ai, issue 203', 'evidence': 'derived'},
    {'name': 'xpmem not usable',
     'text': "WARNING: Could not generate an xpmem segment id for this process' address space.",
     'patterns': ["Could not generate an xpmem segment id", "xpmem-make-failed"],
     'cause': "MPI was built with xpmem, and /dev/xpmem is not here or may not be opened. It then copies in another "
              "way.",
     'remedy': "Harmless, slower between ranks of a node. Bind /dev/xpmem, or silence it: OMPI_MCA_smsc=^xpmem (Open "
               "MPI 5), OMPI_MCA_btl_vader_single_copy_mechanism=cma (4).",
     'source': 'Open MPI, help-btl-vader.txt; github.com/hpc/xpmem, issue 46', 'evidence': 'derived', 'last': True},
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
                  (" returned ", r"\bPMI2?_\w{1,40} returned -?\d"),
                  "_pmi_mmap_init", "_mpidi_cray_pmi_receive"],
     'cause': "Cray MPICH finds out about its ranks from a file that Slurm writes for the step below "
              "/var/spool/slurmd, and could not: another --mpi=, or the container does not show the folder.",
     'remedy': "bind: leave out --mpi= (cray_shasta is LUMI's default), and do not take /var/spool/slurmd from the "
               "binds (osu-explain lists them). Start it by srun.",
     'also': [("MPI has loaded another library of PMI than Cray's", "osu-exec ldd PROGRAM, line libpmi")],
     'source': 'github.com/flux-framework/flux-coral2, issue 125; Slurm, src/plugins/mpi/cray_shasta/apinfo.h',
     'evidence': 'derived'},
    {'name': 'mpirun in the container',
     'text': "HYDU_create_process (...): execvp error on file srun (No such file or directory)",
     'patterns': ["execvp error on file srun", "No available launching agents were found", "invalid PMI1 init command",
                  "SLURM process starter for OpenMPI was unable", 'unable to locate a usable "srun" command',
                  ("HYDU_parse_hostfile", r"HYDU_parse_hostfile .{0,200}: unable to open host file"),
                  "unable to launch bstrap proxy"],
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
    {'name': 'shared memory of PMIx not usable',
     'text': "PMIX ERROR: NO-PERMISSIONS in file .../dstore/dstore_base.c at line 237",
     'patterns': [("PMIX ERROR: ", r"PMIX ERROR: [\w -]{1,60} in file \S{0,300}dstore")],
     'cause': "PMIx hands out what ranks know of each other by files in shared memory (dstore), and a rank in the "
              "container may not open or change them. The run may go on.",
     'remedy': "export PMIX_MCA_gds=hash before srun or mpirun, which does without them.",
     'also': [("/tmp or /dev/shm is full", "df -h /tmp /dev/shm")],
     'source': 'github.com/apptainer/singularity, issue 5195; github.com/openpmix/openpmix, issue 1819',
     'evidence': 'derived'},
    {'name': 'two kinds of PMI',
     'text': "Auto-detection of PMI version failed. Found both env vars PMI_SIZE and PMIX_NAMESPACE.",
     'patterns': ["Auto-detection of PMI version failed"],
     'cause': "MPICH sees two starters at once: mpiexec (PMI) in a step that srun has started with PMIx.",
     'remedy': "Use one of them: srun --mpi=pmi2 PROGRAM without mpiexec; or in front of mpiexec unset what env | grep "
               "PMIX_ shows.",
     'source': 'github.com/pmodels/mpich, issue 7957', 'evidence': 'derived'},
    {'name': 'helpers of mpirun not reached',
     'text': "HYDU_sock_connect (...): unable to get host address for node1",
     'patterns': [("HYDU_sock_connect ", r"HYDU_sock_connect \(.{0,300}\): unable to (?:connect|get host)"),
                  (" was unable to reliably start", r"(?:ORTE|PRTE) was unable to reliably start"),
                  ("daemon has unexpectedly failed", r"An? (?:ORTE |PRTE )?daemon has unexpectedly failed")],
     'unless': ['mpirun in the container'],
     'cause': "mpirun starts a helper on every node, and a helper did not start or cannot call back: the name of a "
              "node leads nowhere, a firewall, no ssh, or Open MPI is not at the same place there.",
     'remedy': "Start the ranks by srun, which needs no helpers. Else: mpirun with its full path (or --prefix), and "
               "OMPI_MCA_oob_tcp_if_include=NAME of the interface that nodes share.",
     'also': [("the name of the node is not known there", "srun getent hosts NODE"),
              ("ssh asks for a password", "ssh NODE true")],
     'source': 'Hydra, tools; Open MPI, help-errmgr-base.txt; github.com/open-mpi/ompi, issue 8213',
     'evidence': 'derived'},
    {'name': 'not enough slots',
     'text': "There are not enough slots available in the system to satisfy the 8 slots that were requested",
     'patterns': ["There are not enough slots available"],
     'cause': "mpirun of Open MPI counts the cores that it may use, or what Slurm gave, and there are fewer than the "
              "ranks that were asked for.",
     'remedy': "Fewer ranks, or more tasks for the job (sbatch -n). In the container mpirun does not see Slurm: srun "
               "in front instead of mpirun. --oversubscribe starts them all the same (tests only).",
     'source': "Open MPI's own text; github.com/h5py/h5py, issue 2627", 'evidence': 'derived'},
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
     'patterns': [(" doesn't exist", r"destination (?P<path>\S+) doesn't exist"),
                  ("FAILED to find user volume ", r"FAILED to find user volume to: (?P<other>\S+)")],
     'cause': "{path}{other} is to be bound, and the container has no such folder and cannot make one: an image is "
              "being built, or the runtime has no overlay.",
     'remedy': "Unload the module before singularity build. Else make the folder in the image (mkdir -p in %post), or "
               "ask the administrators for overlay in the runtime's configuration.",
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
     'patterns': [("could not open image ", r"could not open image (?P<path>\S+?): (?P<why>.*)"),
                  ("while extracting ",
                   r"while extracting (?P<file>\S{1,300}): (?P<reason>not a squashfs root filesystem)")],
     'cause': "The image {path}{file} is not there, is not readable or is no image ({why}{reason}).",
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
                  "Failed to create container process: Operation not permitted",
                  "Failed to create container process: No space left on device",
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
    {'name': 'user unknown on the node',
     'text': "FATAL:   Couldn't determine user account information: user: unknown userid 606",
     'patterns': ["Couldn't determine user account information",
                  ("user: ", r"user: (?:unknown|lookup) userid (?P<number>\d+)"),
                  "unable to look up current user in the passwd file",
                  ("cannot find name for user ID ", r"cannot find name for user ID (?P<other>\d+)")],
     'cause': "The number of your account ({number}{other}) has no name here: the node does not reach its directory "
              "(LDAP, sssd), or the container's /etc/passwd does not name you.",
     'remedy': "Start it again on another node (srun --exclude=NODE), and tell the administrators. At thousands of "
               "starts at once the directory may be overrun: one container for all ranks of a node helps.",
     'also': [("only the container does not know you", "srun id -un, which then prints your name")],
     'source': 'github.com/apptainer/singularity, issues 5598, 5757 and 4767', 'evidence': 'derived'},
    {'name': 'no loop device',
     'text': "failed to find loop device: could not attach image file to loop device: no loop devices available",
     'patterns': ["failed to find loop device", "no loop devices available"],
     'cause': "A runtime with setuid mounts the image by a loop device, and got none: all are in use (many containers "
              "at once), one is broken, or this user (a container of CI) may not.",
     'remedy': "Fewer containers a node: one for all its ranks, as the module's commands do. Administrators: 'shared "
               "loop devices = yes' and 'max loop devices' in singularity.conf. Without any: singularity exec "
               "--userns.",
     'also': [("the image is cut off (unexpected EOF)", "singularity sif list FILE; then copy it again")],
     'source': 'github.com/apptainer/singularity, issues 4652 and 2049; github.com/sylabs/singularity, issue 668',
     'evidence': 'derived'},
    {'name': 'image not mounted',
     'text': "squashfuse_ll exited with status 255: ...",
     'patterns': [("squashfuse", r"squashfuse\w* (?:instance )?exited"), "A fusermount error may indicate",
                  ("fusermount", r"fusermount3?: mount failed")],
     'unless': ['no right to mount'],
     'cause': "The runtime mounts the image by squashfuse, which ended: a kernel older than 4.18 does not let users "
              "mount FUSE in a namespace, /dev/fuse is closed to them, or the file is no whole image.",
     'remedy': "apptainer exec --unsquash (or --userns of SingularityCE) unpacks the image instead. Administrators: "
               "apptainer-suid, or a newer kernel.",
     'also': [("/dev/fuse is closed", "ls -l /dev/fuse, which should be crw-rw-rw-"),
              ("the file is broken", "apptainer sif list FILE")],
     'source': 'Apptainer 1.3, its own hint; github.com/apptainer/apptainer, issues 778 and 2324',
     'evidence': 'derived'},
    {'name': 'no fakeroot',
     'text': "ERROR : 'newgidmap' execution failed. Check that 'newgidmap' is setuid root",
     'patterns': [("idmap' execution failed", r"'new[gu]idmap' execution failed"),
                  "while copying pseudo devices", "could not use fakeroot"],
     'cause': "A build as an ordinary user needs fakeroot: numbers of users that the system lends you (/etc/subuid, "
              "newuidmap), or the command fakeroot. Neither works here.",
     'remedy': "apptainer build --ignore-subuid, with fakeroot installed beside apptainer; or build elsewhere and copy "
               "the image. Administrators: apptainer config fakeroot --add USER, and uidmap installed.",
     'also': [("your group on this node is not the one of /etc/passwd", "id -g; getent passwd $USER")],
     'source': 'apptainer.org, user guide, Fakeroot; github.com/apptainer/apptainer, issues 1751 and 2190',
     'evidence': 'derived'},
    {'name': 'overlay in use',
     'text': "can't open overlay.img for writing, currently in use by another process",
     'patterns': [("currently in use", r"can't open (?P<path>\S+) for (?:reading|writing), currently in use")],
     'cause': "Only one container at a time can write to the overlay {path}, and another one has it: another rank, or "
              "one that was left over.",
     'remedy': "--overlay FILE:ro for runs of several ranks; or an overlay for each rank (FILE.$SLURM_PROCID).",
     'also': [("a container was left over", "pgrep -u $USER -a starter")],
     'source': 'github.com/apptainer/singularity, issues 5577 and 6196', 'evidence': 'derived'},
    {'name': 'image is read-only',
     'text': "cp: cannot create regular file '...': Read-only file system",
     'patterns': ["Read-only file system", "read-only file system"],
     'cause': "The program writes to a folder of the image, and an image is read-only.",
     'remedy': "Let it write to a folder that is bound (your project, $TMPDIR), or give it one in that place: --bind "
               "FOLDER:/path. --writable-tmpfs keeps a few MB in memory.",
     'also': [("it is a file system of the host that compute nodes may only read", "findmnt -T FOLDER")],
     'source': 'docs.sylabs.io, SingularityCE, Persistent overlays; github.com/apptainer/singularity, issue 2331',
     'evidence': 'derived', 'last': True},
    {'name': 'kernel too old',
     'text': "FATAL: kernel too old",
     'patterns': ["FATAL: kernel too old"],
     'cause': "The C library of the image wants a newer kernel than this node's; a container has the host's kernel.",
     'remedy': "An image of an older distribution: uname -r shows the kernel; 2.6.32 runs Ubuntu 16.04 and CentOS 7.",
     'source': 'glibc, sysdeps/unix/sysv/linux/dl-sysdep.c; github.com/trinityrnaseq/trinityrnaseq, issue 989',
     'evidence': 'derived'},
    {'name': 'stale file handle',
     'text': "stale NFS file handle",
     'patterns': [("tale ", r"[Ss]tale (?:NFS )?file handle")],
     'cause': "A file on the network was deleted or replaced while it was in use, or the node has lost the file "
              "system.",
     'remedy': "Start it again. Do not replace an image or an installation that runs. If it stays: --exclude=NODE, and "
               "tell the administrators.",
     'source': 'open(2), ESTALE; github.com/apptainer/singularity, issue 4879', 'evidence': 'derived'},
    {'name': 'locale not in the image',
     'text': "warning: setlocale: LC_ALL: cannot change locale (en_US.UTF-8)",
     'patterns': [("setlocale: ", r"setlocale: LC_\w+: cannot change locale")],
     'cause': "Your language setting came into the container, and the image does not have it.",
     'remedy': "Harmless. export LC_ALL=C.UTF-8 silences it.",
     'source': 'github.com/apptainer/singularity, issue 11', 'evidence': 'derived', 'last': True},
    {'name': 'no space left',
     'text': "FATAL:   While performing build: ...: no space left on device",
     'patterns': [("o space left on device", r"[Nn]o space left on device")],
     'unless': ['no user namespaces', 'shared memory full'],
     'cause': "A disk is full: of a build mostly /tmp, which on many systems is memory; else your quota.",
     'remedy': "export APPTAINER_TMPDIR=FOLDER SINGULARITY_TMPDIR=FOLDER (and ..._CACHEDIR) with a folder on a large "
               "disk.",
     'also': [("it is your quota", "lfs quota -hu $USER FOLDER, on LUMI lumi-workspaces"),
              ("it is shared memory", "df -h /dev/shm /tmp")],
     'source': 'github.com/apptainer/apptainer, issue 1380', 'evidence': 'derived'},
    {'name': 'runtime not set up',
     'text': "hook function for tag sessiondir returns error: failed to create .../mnt/session/rootfs directory",
     'patterns': ["hook function for tag sessiondir"],
     'cause': "The runtime keeps its session in a folder of its installation, and may not write there: it lies on a "
              "network file system.",
     'remedy': "For the administrators: build it with --localstatedir=/var/lib, a folder on each node's own disk.",
     'source': 'docs.sylabs.io, SingularityCE, Admin guide, Installation; github.com/apptainer/singularity, issue 2351',
     'evidence': 'derived'},
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
    {'name': 'no GPU for the ports',
     'text': "osu_bw: error: D D wants GPU memory: No GPU library is found: neither ...",
     'patterns': ["No GPU library is found: neither",
                  (" finds no GPU", r"wants GPU memory: \S{1,60} finds no GPU"),
                  (" gives error 100 (", r"wants GPU memory: \w{1,60} of \S{1,60} gives error 100 \("),
                  (" is not found. Runtime: none", r"wants GPU memory: [^\n]{1,200} is not found\. Runtime: none")],
     'cause': "Buffers in GPU memory (D) were asked for where no GPU, no driver or no GPU library is to be seen, or "
              "where a variable hides the GPU.",
     'remedy': "The message names runtime, driver and device files. Ask the job for GPUs, bring the driver into the "
               "container (--nv, --rocm: the modules do it), unset a wrong ROCR_, HIP_ or CUDA_VISIBLE_DEVICES; or "
               "osu_bw H H.",
     'source': PORT, 'evidence': 'measured'},
    {'name': 'GPU driver too old',
     'text': "The driver is older than the runtime: ...",
     'patterns': ["The driver is older than the runtime"],
     'cause': "The GPU runtime of the image or module is too new for the driver of this machine.",
     'remedy': "Take an image or a module with an older ROCm or CUDA; the message names both versions.",
     'source': PORT + '; docs.nvidia.com, CUDA Compatibility', 'evidence': 'derived'},
    {'name': 'GPUs of two vendors',
     'text': "GPUs of two vendors are here: ...",
     'patterns': ["GPUs of two vendors are here"],
     'cause': "The libraries of two vendors both say that they have a GPU.",
     'remedy': "osu_bw -d cuda D D, or osu_bw -d rocm D D.",
     'source': PORT, 'evidence': 'measured'},
    {'name': 'MPI without GPU support',
     'text': "D D wants GPU memory, and this MPI does not take it: MPICH Version: 4.2.3, ...",
     'patterns': ["wants GPU memory, and this MPI does not take it"],
     'cause': "The MPI was built without support for this GPU, or the support is not switched on.",
     'remedy': "Intel MPI: export I_MPI_OFFLOAD=1. Cray MPICH: export MPICH_GPU_SUPPORT_ENABLED=1. Others: an image "
               "or a module whose MPI is built with ROCm or CUDA; osu_bw H H works.",
     'source': PORT + '; MPIX_Query_cuda_support of MPICH, Open MPI and Intel MPI', 'evidence': 'measured'},
    {'name': 'fewer GPUs than ranks',
     'text': "D D: fewer GPUs than ranks: on node1 2 ranks have GPU 0000:c1:00.0",
     'patterns': [": fewer GPUs than ranks: on"],
     'cause': "Several ranks of a node have the same GPU.",
     'remedy': "Ask for as many GPUs as ranks (srun --gpus-per-node=8 osu-gpu-bind), or osu_bw -s D D.",
     'source': PORT, 'evidence': 'measured'},
    {'name': 'not enough GPU memory',
     'text': "8388608 bytes of GPU memory cannot be had: ...",
     'patterns': ["bytes of GPU memory cannot be had"],
     'cause': "The GPU has less memory free than the buffers need.",
     'remedy': "Smaller messages (-m), or a GPU that nobody else uses.",
     'source': PORT, 'evidence': 'measured'},
    {'name': 'NCCL or RCCL of the ports',
     'text': "ncclCommInitRank of NCCL gives error 5 (invalid usage); NCCL_DEBUG=WARN says more.",
     'patterns': ["NCCL_DEBUG=WARN says more"],
     'cause': "NCCL or RCCL cannot work with these GPUs; two ranks on one GPU are invalid usage.",
     'remedy': "NCCL_DEBUG=WARN names what it misses. Give every rank a GPU of its own.",
     'source': PORT, 'evidence': 'derived'},
    {'name': 'wrong data',
     'text': "osu_bw: error: the data that arrived is wrong at 4096 bytes",
     'patterns': ["the data that arrived is wrong at"],
     'cause': "With -c the benchmark compares what arrived: these sizes had other bytes than were sent.",
     'remedy': "Do not trust this MPI, driver or card: repeat it with H H and with another provider, and report it.",
     'source': PORT, 'evidence': 'measured'},
    {'name': 'wrong arguments',
     'text': "osu_bw: error: unrecognized arguments: ...",
     'patterns': [(": error: unrecognized arguments", r"osu_\w{1,40}: error: unrecognized arguments"),
                  "unknown buffer place",
                  ("-m: the port of ", r"-m: the port of \w+ starts at"),
                  (" sends no messages", r"-m: \w+ sends no messages"),
                  "buffer place(s) given", "is not a whole number of",
                  " is a collective, whose ranks all have",
                  "RCCL and NCCL send from GPU memory only",
                  (" has no buffers", r"osu_\w{1,40} has no buffers"),
                  (" sends no data", r"-c: osu_\w{1,40} sends no data"),
                  "argument -d/--accelerator: invalid choice",
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
    {'name': 'CUDA newer than the driver',
     'text': "CUDA driver version is insufficient for CUDA runtime version",
     'patterns': ["CUDA driver version is insufficient"],
     'cause': "The program's CUDA is newer than the driver that it sees; in a container without --nv it sees none.",
     'remedy': "singularity exec --nv, apptainer exec --nv (export MPI_CONTAINER_OPTIONS=--nv). Else an image with an "
               "older CUDA: nvidia-smi shows what the driver takes.",
     'source': 'github.com/rickstaa/panda-autograsp, issue 150; NVIDIA, CUDA Compatibility', 'evidence': 'derived'},
    {'name': 'no GPU seen',
     'text': "no ROCm-capable device is detected / no CUDA-capable device is detected",
     'patterns': [("-capable device is ", r"(?i:no) (?:CUDA|cuda|ROCm)-capable device is (?:detected|found)"),
                  ("Unable to open /dev/kfd", r"Unable to open /dev/kfd(?: read-write: (?P<why>.{1,60}))?")],
     'cause': "The program sees no GPU: the step has none, the container does not show it, or you may not open it. "
              "{why}",
     'remedy': "srun --gpus-per-node=8 (or --gpus=1). NVIDIA: --nv; AMD: --rocm, or with --containall "
               "--bind=/dev/kfd,/dev/dri.",
     'also': [("the job has none", "srun bash -c 'echo $SLURM_GPUS_ON_NODE $ROCR_VISIBLE_DEVICES'"),
              ("you may not open it", "srun ls -l /dev/kfd /dev/nvidia0")],
     'source': 'github.com/ROCm/ROCm, issue 1798; docs.sylabs.io, SingularityCE, GPU support',
     'evidence': 'derived'},
    {'name': 'code for another GPU',
     'text': "hipErrorNoBinaryForGpu: Unable to find code object for all current devices!",
     'patterns': ["hipErrorNoBinaryForGpu", "HIP error: invalid device function",
                  "no kernel image is available for execution on the device"],
     'cause': "The program was compiled for other GPUs than the one of this node.",
     'remedy': "Build it for this one: gfx90a is MI250X (LUMI-G, Frontier), gfx942 MI300A, sm_90 H100 and GH200. "
               "rocminfo | grep gfx and nvidia-smi name it.",
     'also': [("it is a library in the image", "AMD_LOG_LEVEL=1 PROGRAM names the file")],
     'source': 'HIP, documentation, hipError_t; github.com/ROCm/MIVisionX, issue 778', 'evidence': 'derived'},
    {'name': 'GPU memory access fault',
     'text': "Memory access fault by GPU node-4 (Agent handle: ...) on address 0x... Reason: Unknown.",
     'patterns': ["Memory access fault by GPU node-"],
     'cause': "A kernel or MPI has touched an address that is not the GPU's: a fault of the program, or MPI handles "
              "GPU buffers and does not know them (two ROCm releases in one process, memory that was freed).",
     'remedy': "osu_bw H H, then D D: where D D alone fails it is MPI. See that image and host have ROCm of one "
               "release (osu-explain), and try FI_MR_CACHE_MONITOR=memhooks or MPICH_GPU_SUPPORT_ENABLED=0.",
     'also': [("it is the program itself", "AMD_SERIALIZE_KERNEL=3 HSA_ENABLE_SDMA=0 PROGRAM on one GPU")],
     'source': 'ROCR-Runtime; github.com/ComputationalRadiationPhysics/picongpu, pull request 5462',
     'evidence': 'untested'},
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
     'unless': ['PSM3 opens no card', 'no endpoint on the card', 'limit of locked memory',
                'queue pairs of the card used up'],
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
    {'name': 'munge not reached',
     'text': "srun: error: Munge encode failed: Failed to access \"/run/munge/munge.socket.2\": ...",
     'patterns': ["Munge encode failed", "cannot find auth plugin for auth/munge",
                  ("munge.socket", r"munge\.socket\S*: (?:No such file|Connection refused)")],
     'cause': "Slurm's commands prove who you are by munge, and do not reach it: they were called inside a container, "
              "or munged does not run on this node.",
     'remedy': "Call srun, sbatch and sinfo outside of the container. In it they need --bind /run/munge, the host's "
               "slurm.conf and a Slurm of the same release.",
     'also': [("munged does not run here", "munge -n | unmunge, outside of the container")],
     'source': 'munge(1); github.com/dun/munge, issues 118 and 124', 'evidence': 'derived'},
    {'name': 'credential refused',
     'text': "error: Munge decode failed: Invalid credential",
     'patterns': [("Munge decode failed", r"Munge decode failed: (?P<why>[\w ]{1,80})"),
                  "Application launch failed: Invalid job credential"],
     'cause': "A node does not believe another one: their keys of munge, clocks, account numbers or releases of Slurm "
              "differ. {why}",
     'remedy': "A matter of the administrators: munge -n | ssh NODE unmunge shows key and clock, srun --version on "
               "both the release. munged reads its key only when it starts. For you: srun --exclude=NODE.",
     'source': 'github.com/dun/munge, issues 62, 116 and 126', 'evidence': 'derived'},
    {'name': 'binding outside of the step',
     'text': "srun: error: CPU binding outside of job step allocation, allocated CPUs are: 0x34000004.",
     'patterns': ["CPU binding outside of job step allocation", "Unable to satisfy cpu bind request",
                  "Unable to layout tasks on given cpus"],
     'cause': "--cpu-bind (or SLURM_CPU_BIND of an srun around this one) names cores that this step does not have.",
     'remedy': "unset what env | grep SLURM_CPU_BIND shows, when one srun starts another. Masks such as those for "
               "LUMI-G need whole nodes: --exclusive.",
     'also': [("the step has fewer cores than the mask", "srun bash -c 'taskset -cp $$'")],
     'source': 'srun(1), --cpu-bind; github.com/LLNL/ATS, issue 133', 'evidence': 'derived'},
    {'name': 'Slurm command in the container',
     'text': "sbatch: error while loading shared libraries: libslurmfull.so: cannot open shared object file: ...",
     'patterns': [(": cannot open shared object file",
                   r"(?P<library>libslurm\w*\.so[.\d]*): cannot open shared object file")],
     'cause': "A command of Slurm was called inside a container, which has not {library}.",
     'remedy': "Call it outside: srun and sbatch start containers, not the other way round. A program that must submit "
               "from inside can do so by ssh to the login node.",
     'source': 'github.com/OpenEuroLLM/oellm-eval, issue 26', 'evidence': 'derived'},
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
    {'name': 'instruction of another processor',
     'text': "Illegal instruction (core dumped)",
     'patterns': ["Illegal instruction"],
     'cause': "The program was compiled for a newer processor than this node's (AVX-512, for example): where the "
              "image was built, -march=native took that machine's.",
     'remedy': "Build with -march=x86-64-v3 (LUMI, most systems) or the node's own, e.g. -march=znver3.",
     'also': [("another library is at fault", "gdb -batch -ex run -ex 'x/i $pc' PROGRAM names the instruction"),
              ("the node is older than you think", "srun lscpu")],
     'source': 'signal(7), SIGILL; github.com/lpereira/lwan, issue 346', 'evidence': 'derived'},
    {'name': 'shared memory full',
     'text': "KILLED BY SIGNAL: 7 (Bus error)",
     'patterns': [("us error", r"(?:Signal: |\(|task \S{1,40} |signal )[Bb]us error"),
                  ("shmget(", r"shmget\(.{0,200} failed"),
                  "mmap: an error occurred while determining whether or not"],
     'cause': "A rank touched shared memory that is not there: /dev/shm (or the folder of Open MPI's session) is "
              "full, or smaller than the ranks need. Containers of Docker have 64 MB.",
     'remedy': "df -h /dev/shm in the container, and remove what earlier runs have left there. Docker: --shm-size=2g "
               "or --ipc=host. Apptainer shows the host's, unless --contain is given.",
     'also': [("a file that was mapped was cut off: a disk is full", "df -h . /tmp")],
     'source': 'mmap(2), SIGBUS; github.com/GlobalArrays/ga, issues 160 and 254', 'evidence': 'derived'},
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
