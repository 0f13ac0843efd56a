"""Every message of osu-container why is tried on what a program really printed; unknown text is called unknown."""
import io
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time

import pytest

try:
    from re import _parser as parser
except ImportError:  # before Python 3.11
    import sre_parse as parser

from osu_container.why import messages, search
from tests.helpers.machine import LMODS, PROJECT, STATE, clean_shell, compile_library, run

SAMPLE = json.loads((PROJECT / 'tests' / 'why' / 'sample.json').read_text())['messages']
#: What programs print according to their source code or documentation: name of the entry, text, source
PRINTED = json.loads((PROJECT / 'tests' / 'why' / 'printed.json').read_text())
NAMES = [entry['name'] for entry in messages.MESSAGES]
WHY = PROJECT / 'osu_container' / 'why'
BASH_COMMANDS = [PROJECT / 'easyconfigs/o/osu-container' / name for name in ('run-in-container', 'osu-gpu-bind')]
PORT = PROJECT / 'easyconfigs/o/osu-native/osu-port'

#: (names that explain() gives, text, where the text is from). Texts that can be had here in a moment are made by the
#: tests further down; 'recorded' is what this project saw on its workstation on 2026-11-21.
QUOTED = [
    (['packages of your own'],
     "error: externally-managed-environment\n\n× This environment is externally managed",
     'recorded, pip 26.3 in an image of osu-mpi4py, Debian 12'),
    (['packages of your own'],
     "The virtual environment was not created successfully because ensurepip is not\navailable.  On Debian/Ubuntu "
     "systems, you need to install the python3-venv\npackage using the following command.",
     'recorded, python3 -m venv in an image of osu-mpi4py, Debian 12'),
    (['error text lost in PMIx'],
     "*** An error occurred in MPI_Init\n"
     "[vm:15019] PMIX ERROR: UNPACK-PAST-END in file ../../../../../src/mca/gds/base/gds_base_fns.c at line 120",
     'recorded, srun -N1 -n3 of Open MPI 5.0.11 where NodeName is not the host name, Slurm 22.05'),
    (['memory damaged', 'segmentation fault'],
     "double free or corruption (out)\n[vm:05796] *** Process received signal ***\n[vm:05796] Signal: Aborted (6)",
     'recorded, osu_latency with FI_PROVIDER=lnx FI_LNX_PROV_LINKS=shm+tcp, libfabric 2.5.1'),
    (['nothing bound for the entrypoint'],
     "osu-entrypoint: node1: the libfabric of the host cannot take the place of the image's: there is no "
     "libfabric.so.1 in /host/lib",
     'recorded, container-recipes/entrypoint/osu-entrypoint'),
    (['nothing bound for the entrypoint'],
     "osu-entrypoint: vm: the libfabric of the image is used, not the host's: there is no /host/lib in the"
     " container",
     'recorded, container-recipes/entrypoint/osu-entrypoint'),
    (['host library does not fit the image'],
     "osu-entrypoint: vm: the libfabric of the host cannot take the place of the image's: "
     "/opt/mpich/lib/libmpi.so.12 needs FABRIC_1.7, which is not in /host/lib/libfabric.so.1: that ends at"
     " FABRIC_1.6",
     'recorded, container-recipes/entrypoint/osu-entrypoint'),
    (['library of the host not bound'],
     "osu-entrypoint: vm: ... libatomic.so.1 is neither in the image nor in the folders of the host; "
     "libefa.so.1 is neither in the image nor in the folders of the host",
     'recorded, container-recipes/entrypoint/osu-entrypoint'),
    (['function of a library missing'],
     "osu-entrypoint: node7: ...: /usr/lib/libmpi.so.12 needs the function fi_version, which no library "
     "has",
     'recorded, container-recipes/entrypoint/osu-entrypoint'),
    (['swap defeated by DT_RPATH'],
     "osu-entrypoint: node7: ...: /opt/conda/lib/libfabric.so.1 would be loaded all the same: a DT_RPATH "
     "in the image comes first",
     'recorded, container-recipes/entrypoint/osu-entrypoint'),
    (['static program behind the entrypoint'],
     "osu-entrypoint: node7: ...: /opt/osu/bin/static is linked statically: no library can be put before "
     "its own",
     'recorded, container-recipes/entrypoint/osu-entrypoint'),
    (['image without loader of glibc'],
     "osu-entrypoint: vm: ...: the image has no loader of glibc (/lib64/ld-linux-*), which the host's "
     "libraries need",
     'recorded, container-recipes/entrypoint/osu-entrypoint'),
    (['no folder for links'],
     "osu-entrypoint: node7: ...: no folder for links can be made in /tmp, /dev/shm or /nowhere",
     'recorded, container-recipes/entrypoint/osu-entrypoint'),
    (['no folder for links'], "osu-entrypoint: node7: ...: mktemp could not make a folder in /tmp",
     'container-recipes/entrypoint/osu-entrypoint'),
    (['no folder for links'], "osu-entrypoint: node7: ...: links cannot be made in /tmp/osu-swap.x",
     'container-recipes/entrypoint/osu-entrypoint'),
    (['RCCL plugin does not load with the host'],
     "osu-entrypoint: node7: WARNING: the plugin of RCCL does not load with it, so RCCL takes TCP; MPI is "
     "not affected",
     'recorded, container-recipes/entrypoint/osu-entrypoint'),
    (['unknown OSU_SWAP'],
     "osu-entrypoint: OSU_SWAP=yes is unknown; known: require, 0, or not set",
     'recorded, container-recipes/entrypoint/osu-entrypoint'),
    (['libfabric of the host cannot be taken'],
     "osu-entrypoint: vm: the libfabric of the host cannot take the place of the image's: something else",
     'recorded, container-recipes/entrypoint/osu-entrypoint'),
    (['libfabric too old'],
     "/usr/bin/osu_bw: /usr/lib/host/libfabric.so.1: version `FABRIC_1.7' not found (required by "
     "/usr/lib/libmpi.so.12)",
     'form of the loader; the releases: libfabric.map.in'),
    (['C library too old'],
     "/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.33' not found (required by /.singularity.d/libs/libnuma.so.1)\n"
     "/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.28' not found (required by /.singularity.d/libs/libdrm.so.1)",
     'github.com/apptainer/apptainer, pull request 2606'),
    (['C library too old'],
     "/opt/OpenRV/lib/libc.so.6: version `GLIBC_ABI_DT_RELR' not found (required by /.singularity.d/libs/libGL.so.1)",
     'github.com/apptainer/apptainer, issue 3041'),
    (['no provider'],
     "Fatal error in PMPI_Init_thread\n"
     "open_fabric(1559)...........: OFI fi_getinfo() failed (ofi_init.c:1559:open_fabric:No data available)",
     'Cray MPICH; the end as in the README of github.com/DeiC-HPC/BitBulldozersLab'),
    (['no provider'],
     "MPIDI_OFI_find_provider(84): \n"
     "find_provider(126).........: OFI call getinfo failed (init_provider.c:126:find_provider:No data available)\n"
     "srun: error: node1: task 0: Exited with exit code 143", 'recorded, MPICH 4.2.3'),
    (['no provider'],
     "MPIDI_OFI_find_provider(84): \n"
     "find_provider(132).........: OFI call getinfo failed (default nic=(n/a): No data available)\n"
     "srun: error: node1: task 0: Exited with exit code 143", 'recorded, MPICH 5.0.2'),
    (['provider finds nothing'],
     "libfabric:518212:core:core:fi_getinfo_():1021<warn> fi_getinfo: provider usnic returned -61 (No data available)",
     'github.com/ofiwg/libfabric, issue 7324'),
    (['no data available'], "fi_endpoint: No data available", 'fi_errno(3), FI_ENODATA'),
    (['libfabric older than asked for'],
     "libfabric:123:1700000000::core:core:fi_getinfo():1317<warn> Requested version is newer than library",
     'libfabric, src/fabric.c'),
    (['no VNI on one node'],
     "libfabric:177842:1747000000::cxi:domain:cxip_domain():1675<warn> gpu001: cxip_gen_auth_key failed: -38:Function "
     "not "
     "implemented", 'libfabric, prov/cxi/src/cxip_dom.c'),
    (['no VNI on one node'],
     "Open MPI failed an OFI Libfabric library call (fi_domain).  This is highly\n"
     "unusual; your job may behave unpredictably (and/or abort) after this.\n"
     "  Location: mtl_ofi_component.c:1007\n  Error: Function not implemented (70368744177702)",
     'github.com/open-mpi/ompi, issue 13148'),
    (['one-node VNI not allowed'],
     "srun: error: Single-node VNI requested by user, but 'single_node_vni=<all|user>' not set in SwitchParameters",
     'Slurm, plugin switch/hpe_slingshot'),
    (['VNI not found'],
     "Request dest_addr: 32 caddr.nic: 0X19D1 caddr.pid: 1 rxc_id: 0  error: 0x26c450f0 (err: 5, VNI_NOT_FOUND)",
     'github.com/openpmix/prrte, issue 2004'),
    (['match entries used up'],
     "libfabric:177010:1728372637::cxi:core:cxip_ux_onload_cb():2659<warn> nid001056: RXC (0x3892:79) PtlTE "
     "375:[Fatal] LE "
     "resources not recovered during flow control. FI_CXI_RX_MATCH_MODE=[hybrid|software] is required",
     'libfabric, prov/cxi'),
    (['portal table entry not found'],
     "MPICH ERROR [Rank 519] [job id 947981.0] [Tue Jun 11 15:11:42 2024] [c1207] - Abort(539602063) (rank 519 in "
     "comm 0): "
     "Fatal error in PMPI_Iprobe: Other MPI error, error stack:\n"
     "MPIDI_OFI_handle_cq_error(1075): OFI poll failed (ofi_events.c:1077:MPIDI_OFI_handle_cq_error:Input/output "
     "error - "
     "PTLTE_NOT_FOUND)", 'github.com/ofiwg/libfabric, issue 10072'),
    (['GTL not linked'],
     "MPICH ERROR [Rank 0] [job id ] [Thu Dec 29 08:08:13 2022] [login31] - Abort(-1) (rank 0 in comm 0): "
     "MPIDI_CRAY_init: "
     "GPU_SUPPORT_ENABLED is requested, but GTL library is not linked\n (Other MPI error)",
     'github.com/sstsimulator/sst-core, issue 895'),
    (['DMABUF not usable'],
     "libfabric:65622:1753693496::core:core:rocr_is_dmabuf_supported():1134<info> DMABUF support: could not open "
     "kernel "
     "conf file /boot/config-5.14.21-150500.55.49_13.0.56-cray_shasta_c error",
     'github.com/DeiC-HPC/BitBulldozersLab, containers with CuPy'),
    (['RCCL without its plugin'],
     "nid005001:1234:1234 [0] NCCL INFO NET/Plugin : No plugin found (librccl-net.so), using internal implementation",
     'RCCL, src/net.cc'),
    (['RCCL without its plugin'], "NCCL INFO NET/Plugin: No plugin found, using internal implementation", 'RCCL'),
    (['file of another architecture'], "./osu_bw: cannot execute binary file: Exec format error", 'bash'),
    (['every rank alone'], "Hello from rank 0 of 1 on node1\nHello from rank 0 of 1 on node2",
     'form of mpi4py.bench helloworld; github.com/apptainer/singularity, issue 5131'),
    (['two tables in one output'], "two tables in one output. Did every rank run alone (wrong --mpi= for srun)?",
     'osu_container/osu_output.py'),
    (['C++ library too old'], "osu_bw: /usr/lib/libstdc++.so.6: version `GLIBCXX_3.4.32' not found (required by ./x)",
     'form of the loader'),
    (['bound file missing'],
     "WARNING: skipping mount of /usr/local/cuda: stat /usr/local/cuda: no such file or directory\n"
     "FATAL:   container creation failed: mount /usr/local/cuda->/usr/local/cuda error: while mounting "
     "/usr/local/cuda: "
     "mount source /usr/local/cuda doesn't exist", 'github.com/apptainer/singularity, issue 5887'),
    (['bound file missing'], "WARNING: skipping mount of /does/not/exist: no such file or directory",
     'github.com/apptainer/singularity, issue 2700'),
    (['no place for a bind'],
     "FATAL: container creation failed: mount hook function failure: mount /var/spool/slurmd->/var/spool/slurmd error: "
     "while mounting /var/spool/slurmd: destination /var/spool/slurmd doesn't exist in container",
     'LUMI training 2026-04'),
    (['no right to mount'], "fuse: device not found, try 'modprobe fuse' first", 'libfuse, lib/mount.c'),
    (['no right to mount'], "fuse: failed to open /dev/fuse: Permission denied", 'libfuse, lib/mount.c'),
    (['no user namespaces'],
     "ERROR  : Failed to create user namespace: user namespace disabled", 'Apptainer, cmd/starter/c/starter.c'),
    (['no user namespaces'],
     "FATAL:   while setting capabilities: Requesting capability set 0x1 while permitted capability set is 0x0",
     'Apptainer, form of its message'),
    (['a build without rights'],
     "FATAL:   --remote, --fakeroot, or the proot command are required to build this source as a non-root user",
     'github.com/sylabs/singularity 4.x, cmd/internal/cli/build_linux.go, as users quote it'),
    (['a folder of another stage with PRoot'],
     "FATAL:   While performing build: unable to copy files from stage to container fs: while copying "
     "[/tmp/build-temp-1/rootfs/opt/mpich] to /tmp/build-temp-2/rootfs/opt/mpich: chown "
     "/tmp/build-temp-2/rootfs/opt/mpich: operation not permitted", 'SingularityCE 4.1.3, form of its message'),
    (['two sets of binds'],
     "WARNING: SINGULARITY_BIND and APPTAINER_BIND have different values, using the latter", 'recorded, Apptainer '
                                                                                             '1.4.5'),
    (['two sets of binds'], "INFO:    Environment variable SINGULARITY_BIND is set, but APPTAINER_BIND is preferred",
     'Apptainer; form as recorded for SINGULARITYENV_'),
    (['older names of variables'],
     "INFO:    Environment variable SINGULARITYENV_B is set, but APPTAINERENV_B is preferred", 'recorded'),
    (['older names of variables'],
     "WARNING: Skipping environment variable [SINGULARITYENV_A=1], A is already overridden with different value [2]",
     'recorded'),
    (['image gone'], "Lmod has detected the following error: The image /p/x.sif is gone. Get it back with: cp a b",
     'osu_container/core/writing/module_text.py'),
    (['host has changed'], "The host has changed since this module was installed: /opt/x/libmpi.so.12 is another file",
     'osu_container/core/writing/module_text.py'),
    (['PMIx library missing'],
     "slurmstepd: error: mpi/pmix_v4: init: (null) [0]: mpi_pmix.c:197: pmi/pmix: can not load PMIx library",
     'Slurm, src/plugins/mpi/pmix'),
    (['no controller'], "slurm_load_partitions: Unable to contact slurm controller (connect failure)", 'Slurm'),
    (['unknown account'],
     "sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified", 'Slurm'),
    (['more than the job has'], "srun: error: Only allocated 1 nodes asked for 2", 'recorded, Slurm 22.05'),
    (['time limit'],
     "slurmstepd-node1: error: *** STEP 29.0 ON node1 CANCELLED AT 2026-11-21T13:39:27 DUE TO TIME LIMIT ***\n"
     "srun: Job step aborted: Waiting up to 7 seconds for job step to finish.\n"
     "srun: error: node1: task 0: Terminated", 'recorded, Slurm 22.05'),
    (['time limit'], "osu_bw did not end within 120 s", 'osu_container/demo.py'),
    (['out of memory'],
     "slurmstepd: error: Detected 2 oom_kill events in StepId=JOBID.13. Some of the step tasks have been OOM Killed.\n"
     "srun: error: NODE: task 0: Out Of Memory", 'github.com/snakemake/snakemake-executor-plugin-slurm, pull request '
                                                 '371'),
    (['out of memory'],
     "slurmstepd: error: Detected 1 oom-kill event(s) in step 3495064.0 cgroup. Some of your processes may have been "
     "killed by the cgroup out-of-memory handler.", 'github.com/hafs-community/HAFS, issue 101'),
    (['node failed'],
     "srun: error: Node failure on nid005001\n"
     "slurmstepd: error: *** JOB 1 ON nid005001 CANCELLED AT 2026-01-01T00:00:00 DUE TO NODE FAILURE, SEE SLURMCTLD "
     "LOG "
     "FOR DETAILS ***", 'Slurm, src/slurmd/slurmstepd'),
    (['MPI stopped the job'],
     "Abort(673834383): Fatal error in internal_Init: Other MPI error, error stack:\n"
     "internal_Init(49162).......: MPI_Init(argc=(nil), argv=(nil)) failed", 'recorded, MPICH 4.2.3, its first two '
                                                                             'lines'),
    (['output cut off'], "run: the table of osu_bw ends at 1024 bytes, wanted 4194304: the run was cut off",
     'osu_container/osu_output.py'),
    (['unknown module'],
     'Lmod has detected the following error:  The following module(s) are unknown: "osu-container/hybrid"', 'Lmod'),
    (['no MPI library'],
     "RuntimeError: cannot load MPI library\n  /opt/cray/lib/libmpi.so.12: cannot open shared object file",
     'mpi4py, form as its MPI.pyx prints it'),
    (['container runtime gone'],
     "osu_bw: the container runtime /opt/bin/apptainer is not there. It was when the module was installed; install it "
     "again.",
     'recorded'),
    (['no GPU support'], "ROCm Support Not Enabled\nPlease recompile benchmark with ROCm support",
     'OSU Micro-Benchmarks, c/util/osu_util_options.c'),
    # as the documents write them that the issue of this command names
    (['libfabric too old'], "FABRIC_1.7' not found", 'the message as people quote it, without its beginning'),
    (['libfabric too old'], "version 'FABRIC_1.7' not found", 'README of github.com/DeiC-HPC/BitBulldozersLab, 2025'),
    (['libfabric too old', 'RCCL without its plugin'],
     "NET/Plugin : Plugin load (librccl-net.so) returned 2 : /lib/libfabric.so.1: version `FABRIC_1.7' not found "
     "(required by /opt/aws-ofi-rccl/librccl-net.so)\nNET/Plugin : No plugin found, using internal implementation",
     'github.com/aws-samples/awsome-distributed-training, issue 292'),
    (['C library too old'], "GLIBC_2.34 not found", 'the message as people quote it'),
    (['C++ library too old'], "GLIBCXX_3.4.30 not found", 'github.com/apptainer/apptainer, issue 1621'),
    (['no provider'], "(open_fabric:No data available)", 'README of github.com/DeiC-HPC/BitBulldozersLab, 2025'),
    (['no provider'], "fi_getinfo: -61 (No data available)", 'fi_info -p cxi without the provider, libfabric'),
    (['no VNI on one node'], "cxip_gen_auth_key -38", 'the message as people quote it'),
    (['no VNI on one node'], "  Location: mtl_ofi_component.c:1007\n  fi_domain: Function not implemented (38)",
     'github.com/open-mpi/ompi, issue 12913, shortened'),
    (['no VNI on one node'],
     "*** FATAL ERROR (proc 0): in gasnetc_ofi_init() at gasnet_ofi.c:946: fi_domain failed: -38(Function not "
     "implemented)", 'github.com/StanfordLegion/gasnet, issue 22'),
    (['no VNI on one node'],
     "libfabric:507357:1741146011::cxi:fabric:cxip_nic_get_rgroup_vni():253<warn> : Failed to find valid default "
     "rgroup and vni for cxi0", 'github.com/aws/aws-ofi-nccl, issue 801'),
    (['no VNI on one node'],
     "NCCL WARN NET/OFI Couldn't open a fabric access domain. RC: -38, ERROR: Function not implemented",
     'github.com/aws/aws-ofi-nccl, issue 801'),
    (['bound file missing'], "WARNING: skipping mount of /opt/rocm-6.0.3",
     'github.com/Lumi-supercomputer/LUMI-EasyBuild-contrib, issue 422'),
    (['step waits for another'],
     "srun: Job 9813899 step creation temporarily disabled, retrying (Requested nodes are busy)",
     'README of github.com/DeiC-HPC/BitBulldozersLab, 2025'),
    (['every rank alone'], "rank 0 of 1\nrank 0 of 1", 'the CUG 2026 tutorial on containers, cotainr'),
    (['every rank alone'], "exp-9-17: rank 0 / 1 OK\nexp-9-17: rank 0 / 1 OK", 'form of pmodels/mpich, issue 6924'),
    (['every rank alone'], "I am rank 0, size 1\nI am rank 0, size 1", 'form of many test programs'),
    (['every rank alone'], "# OSU MPI Hello World Test v7.5\nThis is a test with 1 processes\n"
     "# OSU MPI Hello World Test v7.5\nThis is a test with 1 processes", 'OSU Micro-Benchmarks, osu_hello.c'),
    # the loader and ROCm
    (['ROCm of another release'],
     "osu_bw: error while loading shared libraries: libamdhip64.so.6: cannot open shared object file: No such file or "
     "directory", 'form of the loader'),
    (['libcxi too old'], "symbol lookup error: /opt/libfabric/lib/libfabric.so.1: undefined symbol: cxil_svc_get_netns",
     'form of the loader; the function: github.com/ofiwg/libfabric, issue 12036'),
    (['image on musl'],
     "Error relocating /opt/cray/libfabric/1.22.0/lib64/libfabric.so.1: __strdup: symbol not found",
     'musl, ldso/dynlink.c'),
    (['image on musl'],
     "Error loading shared library libatomic.so.1: No such file or directory (needed by /opt/x/libmpi.so.12)",
     'musl, ldso/dynlink.c'),
    # Slingshot
    (['event queue too small'],
     "libfabric:16642:1701636928::cxi:core:cxip_cq_eq_progress():531<warn> x4204c1s3b0n0: Cassini Event Queue overflow "
     "detected.", 'github.com/argonne-lcf/user-guides, pull request 315'),
    (['event queue too small'],
     "PE 0: MPICH WARNING: OFI is failing to make progress on posting a receive. MPICH suspects a hang due to "
     "completion queue exhaustion.", 'github.com/ofiwg/libfabric, issue 9286'),
    (['message not delivered'],
     "MPIDI_OFI_handle_cq_error(1062): OFI poll failed (ofi_events.c:1064:MPIDI_OFI_handle_cq_error:Input/output error "
     "- UNDELIVERABLE)", 'github.com/BLAST-WarpX/warpx, issue 4234'),
    (['message not delivered'], "OFI poll failed -- UNDELIVERABLE", 'github.com/quokka-astro/quokka, issue 353'),
    (['memory not registered'], "cxil_map: write error\nMPIDI_OFI_send_normal: Invalid argument", 'shs-libcxi'),
    (['no memory of another rank'],
     "[lxbk1012:3549626:0:3549626]      cma_ep.c:84   process_vm_readv(pid=3549634 {0x24ed520,12480}-->"
     "{0x1bd42a0,12480}) returned -1: Operation not permitted", 'github.com/openucx/ucx, issue 8958'),
    (['error of one request among several'],
     "mpi4py.MPI.Exception: See the MPI_ERROR field in MPI_Status for the error code",
     'MPICH 5.0.2 as an ordinary user, OSU_SHARE=0, 2026-11-22'),
    (['no memory of another rank'],
     "Abort(270741519) on node 1 (rank 1 in comm 0): Fatal error in internal_Wait: Other MPI error, error stack:\n"
     "MPIDI_CMA_copy_data(68): \ncopy_iovs(224).........: process_vm_readv failed (errno 1)",
     'MPICH 5.0.2 as an ordinary user, two ranks in a user namespace each, 2026-11-23'),
    (['no memory of another rank'], "Read -1, expected 65536, errno =1", 'github.com/open-mpi/ompi, issue 4948'),
    # RCCL
    (['RCCL without its plugin'],
     "corona:927:927 [0] NCCL INFO NET/Plugin: Could not find: librccl-net.so. Using internal net plugin.",
     'RCCL of ROCm 6.4'),
    (['RCCL without its plugin'],
     "NCCL INFO NET/Plugin: Plugin load (libnccl-net.so) returned 2 : libnccl-net.so: cannot open shared object file: "
     "No such file or directory", 'github.com/NVIDIA/nccl-tests, issue 188'),
    (['RCCL without its plugin', 'RCCL asked for a plugin in vain'],
     "nid006365:180142:180163 [0] NCCL INFO NET/Plugin: Could not find: ofi libnccl-net-ofi.so. Using internal network "
     "plugin.\nnid006365:180142:180163 [0] net.cc:626 NCCL WARN Error: network AWS Libfabric not found.",
     'github.com/eth-cscs/cscs-docs, nccl.md'),
    (['RCCL asked for a plugin in vain'], "Last error: Failed to initialize any NET plugin", 'NCCL, src/plugin/net.cc'),
    (['RCCL finds no interface'], "NCCL WARN Bootstrap : no socket interface found", 'NCCL, src/bootstrap.cc'),
    (['one GPU for two ranks'],
     "smc-gpu-03:29880:30398 [0] init.cc:497 NCCL WARN Duplicate GPU detected : rank 2 and rank 0 both on CUDA device "
     "1000", 'github.com/horovod/horovod, issue 3929'),
    # PMI
    (['Open MPI without PMIx'],
     "[nid200247:2144171] OPAL ERROR: Unreachable in file ext3x_client.c at line 111\nThe application appears to have "
     "been direct launched using \"srun\",\nbut OMPI was not built with SLURM's PMI support and therefore cannot\n"
     "execute.", 'github.com/open-mpi/ompi, issue 12146'),
    (['PMIx of two releases'],
     "[lxbk0553:30428] PMIX ERROR: PMIX TEMPORARILY UNAVAILABLE in file ptl_tcp.c at line 685",
     'github.com/apptainer/singularity, issue 3678'),
    (['MPICH without PMI'],
     "PMII_singinit: execv failed: No such file or directory\n[unset]:   This singleton init program attempted to "
     "access some feature", 'github.com/pmodels/mpich, issue 6924'),
    (["Cray's PMI not reached"],
     "Fri Feb  9 07:12:51 2024: [PE_12]:_pmi_mmap_init:Failed to setup PMI mmap.\n"
     "3: MPIR_pmi_init(110)...: PMI_Init returned 1", 'github.com/flux-framework/flux-coral2, issue 125'),
    (["Cray's PMI not reached"], "MPID_Init(611).......:  PMI2 init failed: 1", 'github.com/llnl/LaunchMON, issue 35'),
    (['mpirun in the container'],
     'The SLURM process starter for OpenMPI was unable to locate a\nusable "srun" command in its path. Please check '
     'your path\nand try again.', 'github.com/sylabs/singularity, issue 1695'),
    (['mpirun in the container'], "slurmstepd: error: mpi/pmi2: invalid PMI1 init command: `error'",
     'github.com/vsoch/vsoch.github.io, issue 21'),
    (['question for a key that is not there'],
     "PMI2_KVS_Get:_pmi2_kvs_get failed\n_pmi2_kvs_get:key [-NONEXIST-KEY] was not found.",
     'github.com/pmodels/mpich, issue 6687'),
    # other containers and modules
    (['image without a signature'],
     "WARNING: integrity: signature not found for object group 1\n"
     "WARNING: Bootstrap image could not be verified, but build will continue.",
     'the CUG 2026 tutorial on containers; github.com/apptainer/apptainer, issue 1490'),
    (['signature refused'],
     "FATAL:   while checking container image with ECL: image signature not valid: integrity: signature object 5 not "
     "valid: openpgp: signature made by unknown entity", 'github.com/apptainer/apptainer, issue 1805'),
    (['started inside the container'],
     "[ ERROR ] wrapper called from another container. Is /a.sif, should be /b.sif",
     'github.com/CSCfi/hpc-container-wrapper, common.sh'),
    (["image of LUMI's module gone"],
     "Lmod has detected the following error: ERROR: Cannot locate the singularity container file /x.sif. One potential "
     "cause is that it may have been removed from the system.", 'LUMI-SoftwareStack, LMOD/SitePackage.lua'),
    (['stack of LUMI without support'],
     "LUMI/24.03:\nThe LUMI/24.03 stack is currently unsupported as it was never tested with\nthe version of ROCm that "
     "is now on the system", 'github.com/Lumi-supercomputer/LUMI-EasyBuild-contrib, issue 422'),
    (['no place for a bind'], "FATAL: destination /var/spool/slurmd doesn't exist", 'LUMI training 2026-04, shortened'),
    (['libfabric not exchanged'], "libfabric not found within /host.", 'github.com/determined-ai/environments'),
    (['libfabric not exchanged'], "no suitable mounts available.", 'github.com/crickett-hpe/hpc-ai-envs, pull request '
                                                                   '13'),
    (['Sarus finds no MPI'],
     "[ERROR] No MPI libraries found in the container. Hint: run 'ldconfig' inside the container to configure the "
     "dynamic linker", 'github.com/eth-cscs/sarus, MPI hook'),
    (['Sarus refuses the MPI'],
     "Failed to activate MPI support. Host's MPI library /lib/libmpi.so.12 is not ABI compatible with container's MPI "
     "library /usr/lib/libmpi.so.40.", 'form as the tests of github.com/eth-cscs/sarus look for it'),
    (['linked clone gone'],
     "ERROR: Failed to parse configuration options: No files found using glob pattern "
     "'/project/project_462000000/EasyBuild/UserRepo/easybuild/easyblocks/*/*.py'",
     'recorded, EasyBuild 4.9.4, 5.1.2 and 5.4.1 after the linked clone was moved'),
    (['linked clone gone'],
     "ERROR: Failed to process easyconfig /home/u/EasyBuild/ebfiles_repo/container/osu-container/osu-container-hybrid"
     ".eb: Failed to obtain class for MPIContainer easyblock (not available?): No module named "
     "'easybuild.easyblocks.generic.mpicontainer'", 'recorded, the same with an easyblock of the user'),
    (['linked clone gone'],
     "ERROR: Can't find path /home/u/EasyBuild/UserRepo/easybuild/easyconfigs/o/osu-container/osu-container-bind.eb",
     'recorded, the same with an easyblock of the user'),
    (['linked clone gone'],
     "ERROR: Failed to parse configuration options: Failed to import easyblock easybuild.easyblocks.generic."
     "mpicontainer from /tmp/eb-x/included-easyblocks-y/easybuild/easyblocks/generic: /home/u/generic/mpicontainer.py "
     "cannot find its package: No module named 'osu_container', looked for in /home/u and on Python's path.",
     'recorded, EasyBuild 4.9.4, 5.1.2 and 5.4.1 with a copy of the easyblock'),
    (['unknown MPI type'],
     "srun: error: Couldn't find the specified plugin name for mpi/pmix looking at all files\n"
     "srun: error: cannot find mpi plugin for mpi/pmix", 'Slurm, src/interfaces'),
    (['job is over'], "srun: error: Unable to create step for job 18: Job/step already completing or completed",
     'Slurm, src/common/slurm_errno.c'),
]
#: Names that the tests with real programs make. Together with QUOTED they must be all.
MADE = {
    'options without their end',
    'libfabric too old', 'C library too old', 'library of another version', 'missing library', 'undefined symbol',
    'preloaded library missing', 'file of another architecture',
    'unknown MPI type', 'unknown partition', 'more than the partition has', 'more than the job has',
    'program not found', 'program failed', 'segmentation fault', 'task killed', 'step waits for another',
    'no controller',
    'ranks without PMI', 'no provider', 'program not in the image', 'image cannot be read', 'bound file missing',
    'two sets of binds', 'no GPU support', 'wrong number of ranks', 'every rank alone', 'wrong arguments',
    'started inside the container', 'module not loaded', 'image gone', 'container runtime gone', 'no command',
    'osu-gpu-bind without a map', 'osu-gpu-bind outside of srun', 'part of the GPUs', 'GPUs of another node',
    'cores far from the GPU', 'unknown option of osu-gpu-bind', 'osu-explain without its data',
    'port not installed rightly', 'buffers of a Python benchmark',
    'no GPU for the ports', 'GPU driver too old', 'MPI without GPU support',
    'fewer GPUs than ranks', 'not enough GPU memory', 'wrong data',
    'proof without its program', 'Open MPI without PMIx', 'component of PMIx missing', 'mpirun in the container',
    'image without a signature', "image of LUMI's module gone", 'unknown module', 'module of another stack',
    'modules that exclude each other', 'host has changed', 'job is over', 'provider asked for by an old name',
}


def names(text):
    return [each['name'] for each in search.explain(text)]


# ---- the table

def test_names_are_unique_and_every_message_is_tried_on_a_text():
    assert len(set(NAMES)) == len(NAMES)
    tried = MADE | {name for wanted, _, _ in QUOTED for name in wanted} | {one['right'] for one in SAMPLE}
    tried |= {one['name'] for one in PRINTED}
    assert set(NAMES) == tried


def test_entries_say_cause_remedy_source_and_how_sure():
    for entry in messages.MESSAGES:
        name = entry['name']
        assert set(entry) - {'times', 'last', 'general', 'unless', 'also'} == {'name', 'text', 'patterns', 'cause',
         'remedy',
                                                                    'source', 'evidence'}, name
        _, groups, parts = next(one for one in search.PATTERNS if one[0] is entry)
        assert any(part.search(entry['text']) for part, _ in parts), f'{name}: no pattern finds the text'
        assert not re.search(r'[|\n]', entry['text']), name
        assert entry['evidence'] in {'measured', 'derived', 'untested'}, name
        assert min(len(entry[key]) for key in ('cause', 'remedy', 'source')) > 10, name
        assert set(entry.get('unless', [])) <= set(NAMES), name
        for also in entry.get('also', []):
            cause, command = also
            assert min(len(cause), len(command)) > 6 and not re.search(r'\s$|[^.]\.$', cause + command), (name, also)
        assert set(re.findall(r'\{(\w+)\}', entry['cause'] + entry['remedy'])) <= set(groups), name
        for path in re.findall(r'(?<![\w/-])(?:docs|easyconfigs|osu_container)/[\w./-]*\w',
                               entry['source'] + ' ' + entry['remedy']):
            assert (PROJECT / path).exists(), (name, path)


#: What srun, mpirun, colours and other systems do to a line
FORMS = ('0: {}', ' 12: {}', 'nid001234: {}', 'srun: error: {}', '[1,0]<stderr>:{}', '{}\r', '{}   ',
         '\x1b[1;31m{}\x1b[0m\x1b[K', '\x1b]0;title\x07\x1b(B{}')


@pytest.mark.parametrize('wanted, text, source', QUOTED, ids=[f'{item[0][0]}-{n}' for n, item in enumerate(QUOTED)])
def test_quoted_messages_are_known_whatever_stands_around_them(wanted, text, source):
    assert source
    found = search.explain('# OSU MPI Bandwidth Test v7.5\n1    2.0\n' + text + '\n')
    assert [each['name'] for each in found] == wanted
    assert found[0]['line'] in text and found[0]['number'] >= 3
    for each in found:
        assert not re.search(r'\{\w+\}|  ', each['cause'] + each['remedy']), each
        assert each['cause'][:1] != ' ' and each['source']
    for form in FORMS:
        assert names('\n'.join(form.format(line) for line in text.splitlines())) == wanted, form


@pytest.mark.parametrize('one', PRINTED, ids=[f'{one["name"]}-{n}' for n, one in enumerate(PRINTED)])
def test_what_programs_print_by_their_source_code_is_known_whatever_stands_around_it(one):
    for form in FORMS:
        found = search.explain('\n'.join(form.format(line) for line in one['text'].splitlines()) + '\n')
        assert found and found[0]['name'] == one['name'] and one['source'], form
        assert not re.search(r'\{\w+\}', found[0]['cause'] + found[0]['remedy'])


@pytest.mark.parametrize('text', [
    '', '# OSU MPI Bandwidth Test v7.5\n# Size      Bandwidth (MB/s)\n1         0.19\n4194304   5918.0\n',
    'rank 0 of 2\nrank 1 of 2\n', 'all is well: version 1.7 was found\n', '\0\1\2 \x1b[0m binary \udcff'])
def test_what_is_no_message_is_called_unknown(text):
    assert search.explain(text) == []


@pytest.mark.parametrize('line', ['1024      123.45', 'a' * 5000, '/a/path/' * 400 + ': no', '"' * 5000,
                                  'x: (1): ' * 400], ids=['numbers', 'letters', 'paths', 'quotes', 'labels'])
def test_long_logs_are_read_in_one_go(line):
    """A pattern that tries again from every letter would take minutes, and is stopped after one."""
    text = (line + '\n') * (1_000_000 // len(line)) + 'x: undefined symbol: f7\n'
    code = 'import sys; sys.path.insert(0, sys.argv[1]); from osu_container.why import search; ' \
           "print([each['name'] for each in search.explain(sys.stdin.read())])"
    done = run([sys.executable, '-c', code, PROJECT], input=text, timeout=60)
    assert done.stdout == "['undefined symbol']\n", done.stderr


@pytest.mark.parametrize('encoding', ['utf-16', 'utf-16-le', 'utf-16-be', 'utf-8-sig', 'latin-1'])
def test_what_windows_writes_is_read(encoding):
    text = "fine\n./m: libfabric.so.1: version `FABRIC_1.7' not found (required by ./m)\n"
    found = search.search_in(io.BytesIO(text.encode(encoding))).found()
    assert [(each['name'], each['number']) for each in found] == [('libfabric too old', 2)]
    assert found[0]['line'].startswith('./m: libfabric')


def test_what_is_shown_of_a_line_cannot_do_anything_to_the_terminal():
    found = search.explain('\x07\x1bc x: \x9b31m undefined symbol: f\x08\x1b7\u202e, more\n')
    assert [each['name'] for each in found] == ['undefined symbol']
    assert all(letter.isprintable() for each in found for letter in each['line'] + each['cause'] + each['remedy'])


def test_of_a_long_line_the_part_with_the_message_is_shown():
    text = 'a' * 5000 + ' x: undefined symbol: f7 ' + 'b' * 5000
    found, = search.explain(text)
    assert len(found['line']) <= search.SHOWN and 'undefined symbol: f7' in found['line']
    found, = search.explain('progress 1 %\rprogress 2 %\rx: undefined symbol: f7\rprogress 3 %\n')
    assert found['line'] == 'x: undefined symbol: f7'
    found, = search.explain('x: undefined symbol: ' + 'f' * 5000)
    assert len(found['cause']) < 500


# ---- an expression is looked for only where its plain text is

def plain_texts(parsed):
    """Return texts (list of str) that are in all that a regular expression matches, as Python itself parses it."""
    found = ['']
    for kind, value in parsed:
        kind = str(kind)
        if kind == 'LITERAL':
            found[-1] += chr(value)
        elif kind == 'SUBPATTERN' or kind in ('MAX_REPEAT', 'MIN_REPEAT') and value[0] > 0:
            first, *others = plain_texts(value[-1])
            found[-1] += first
            found += others if kind == 'SUBPATTERN' else [*others, '']
        elif kind not in ('AT', 'ASSERT', 'ASSERT_NOT'):  # those take no letter
            found.append('')
    return found


@pytest.mark.parametrize('expression, texts', [
    ('abc', ['abc']), ('ab.c', ['ab', 'c']), (r'a\|b\.c', ['a|b.c']), ('x(?:yy|zz)w', ['x', 'w']),
    (r'(?P<version>FABRIC_[\d.]*\d) no', ['FABRIC_', '', ' no']), (r'(?<!-61 \()No data', ['No data']),
    (r'(?!wxyz)abc', ['abc']), ('abcd?e', ['abc', 'e']), ('abcd+e', ['abcd', 'e']), ('(?:wxyz)?abc', ['', 'abc']),
    ('[]wxyz]abc[^]wxyz]', ['', 'abc', '']), (r'abc\w+\bdefg', ['abc', '', 'defg']),
])
def test_the_plain_texts_of_an_expression_are_known(expression, texts):
    assert plain_texts(parser.parse(expression)) == texts


def test_the_plain_text_of_every_expression_is_in_all_that_it_matches():
    for entry, _, parts in search.PATTERNS:
        for part, text in parts:
            assert any(text in one for one in plain_texts(parser.parse(part.pattern))), (entry['name'], text)
            assert len(text) >= 3, f"{entry['name']}: it would be looked for everywhere, which takes long"


def test_no_pattern_takes_long_where_its_beginning_comes_again_and_again():
    """
    Every needle and every known text, hundreds of times in one line.

    A bad pattern costs the square of the length: sixteen times as much for a line that is four times as long. Those
    that cost more than the others are tried so.
    """
    words = {word for _, _, parts in search.PATTERNS for _, word in parts}
    words |= {entry['text'][:end] for entry in messages.MESSAGES for end in (len(entry['text']) // 2, None)}
    words |= {re.match(r'(?:\w|[ /:`\'"-])*', part.pattern).group()
              for _, _, parts in search.PATTERNS for part, _ in parts} - {''}

    def cost(word, length):
        begin = time.process_time()
        search.explain(word * (length // len(word)))
        return time.process_time() - begin
    costs = {word: cost(word, 10_000) for word in sorted(words)}
    usual = statistics.median(costs.values())
    for word in (word for word, seconds in costs.items() if seconds > 3 * usual):
        assert min(cost(word, 40_000) for _ in range(3)) < 8 * max(cost(word, 10_000) for _ in range(3)), word


def test_one_rank_that_is_alone_is_no_error():
    assert names('Hello from rank 0 of 1\n') == []


def test_a_consequence_is_named_only_where_nothing_else_is_known():
    failed = 'srun: error: node1: task 0: Exited with exit code 1'
    assert names(failed) == ['program failed']
    assert names(failed + "\n./m: undefined symbol: f7\n") == ['undefined symbol']


def test_causes_come_in_the_order_of_their_lines():
    text = ("a: undefined symbol: f7\n./b: error while loading shared libraries: libx.so.1: "
            "cannot open shared object file")
    assert names(text) == ['undefined symbol', 'library not in the image']
    assert names('\n'.join(reversed(text.splitlines()))) == ['library not in the image', 'undefined symbol']


# ---- our own messages, read from the programs that print them

@pytest.mark.parametrize('path', BASH_COMMANDS, ids=lambda path: path.name)
def test_every_message_of_the_wrapper_and_of_the_binding_is_known(path):
    texts = re.findall(r'fail "(.+)"', path.read_text())
    assert len(texts) >= 5
    for message in texts:
        text = re.sub(r'\$\{#lines\[@\]\}|\$SLURM_LOCALID|\$SLURM_GPUS_ON_NODE|\$SLURM_STEP_NUM_TASKS', '4', message)
        text = re.sub(r'\$\{[^}]*\}|\$\w+', 'X', text)
        found = names(f'osu_bw: {text}')
        assert len(found) == 1 and found[0] in MADE, message


@pytest.mark.parametrize('arguments, wanted', [
    (['osu_bw', 'D', 'D'], 'no GPU for the ports'), (['osu_bw', 'X', 'H'], 'wrong arguments'),
    (['osu_xccl_bw', 'H', 'H'], 'wrong arguments'), (['osu_bw', 'D'], 'wrong arguments'),
    (['osu_bw', '-m', '8:1'], 'wrong arguments'), (['osu_bw', '-m', '2:8'], 'wrong arguments'),
    (['osu_bw', '-i', '0'], 'wrong arguments'), (['osu_bw', '-d', 'x'], 'wrong arguments'),
    (['osu_nonesuch'], 'port not installed rightly'),
    (['osu_bw'], 'port not installed rightly'), (['no mpi4py'], 'port not installed rightly')])
def test_every_message_of_the_ports_is_known(tmp_path, arguments, wanted):
    """The real port, called wrongly or with an mpi4py that fits no Python; it starts no MPI for that."""
    (tmp_path / 'libexec' / 'ports').mkdir(parents=True)
    (tmp_path / 'libexec' / 'ports' / 'osu_bw.py').write_text('def osu_bw(): pass\n')
    (tmp_path / 'libexec' / 'osu-port').write_bytes(PORT.read_bytes())
    (tmp_path / 'lib' / 'python' / 'mpi4py').mkdir(parents=True)
    (tmp_path / 'lib' / 'python' / 'mpi4py' / '__init__.py').write_text("__version__ = '0'\n")
    if arguments == ['no mpi4py']:
        (tmp_path / 'lib' / 'python' / 'mpi4py').rename(tmp_path / 'elsewhere')
        arguments = ['osu_bw']
    command = tmp_path / arguments[0]
    command.symlink_to(tmp_path / 'libexec' / 'osu-port')
    done = run([sys.executable, command, *arguments[1:]])
    assert done.returncode != 0 and names(done.stderr) == [wanted], done.stderr


@pytest.mark.parametrize('arguments', [['--buffer', 'plain'], ['--buffer', 'numpy', 'D', 'D'], ['H', 'D']])
def test_every_message_of_the_python_benchmarks_about_buffers_is_known(tmp_path, arguments):
    command = tmp_path / 'osu_py_bw'
    command.symlink_to(PROJECT / 'container-recipes/mpi4py/osu-python')
    done = run([sys.executable, command, *arguments])
    assert done.returncode == 2 and names(done.stderr) == ['buffers of a Python benchmark'], done.stderr


def test_osu_explain_without_its_data_is_known(tmp_path):
    (tmp_path / 'bin').mkdir()
    command = tmp_path / 'bin' / 'osu-explain'
    command.write_bytes((PROJECT / 'easyconfigs/o/osu-container/osu-explain').read_bytes())
    done = run([sys.executable, command])
    assert done.returncode != 0 and names(done.stderr) == ['osu-explain without its data'], done.stderr


#: What people meet when they load a module or run a program, X for what varies
MET = [
    "The following module(s) are unknown: X", "The image X is gone. Get it back with: X",
    "The host has changed since this module was installed: X",
    'Cannot load module "X" because these module(s) are loaded: X', "'X' asks for buffers in GPU memory. X",
    "X asks for buffers in GPU memory, and this image has no CuPy: use H H (--buffer numpy), or an image with cupy in "
    "its name",
    "The virtual environment was not created successfully because ensurepip is not available.",
    "error: externally-managed-environment",
    "ERROR: Can not perform a '--user' install. User site-packages are disabled for this Python.",
    "version `FABRIC_1.7' not found (required by X/libmpi.so.12)",
    "X: the libfabric of the host cannot take the place of the imageX: X",
    "the libfabric of the image is used, not the host's: X", "there is no /host/lib in the container",
    "there is no libfabric.so.1 in /host/lib", "X is a link to X, which is not in the container",
    "WARNING: skipping mount of X: X no such file or directory",
    "FATAL: container creation failed: X mount source X doesn't exist",
    "destination /var/spool/slurmd doesn't exist in container", "cxip_gen_auth_key failed: -38",
    "fi_domain X Function not implemented", "Single-node VNI requested by user, but X not set",
    "open_fabric: No data available", "OFI fi_getinfo() failed X",
    "GPU_SUPPORT_ENABLED is requested, but GTL library is not linked", "No plugin found, using internal implementation"]


@pytest.mark.parametrize('message', MET)
def test_what_people_meet_when_loading_and_running_is_known(message):
    assert search.explain(f'srun: {message}\n')


# ---- the loader, really

@pytest.fixture
def loader(tmp_path):
    """Function (version of the library when linked, when run) that runs a program and returns what the loader says."""
    def call(soname, linked, found, symbol='f7', **environment):
        folders = {}
        for name, version in (('linked', linked), ('found', found)):
            script = version and f'{version} {{ global: f7; }};\n'
            folders[name] = tmp_path / name
            source = 'int f7(void) { return 7; }\n' if name == 'linked' or symbol == 'f7' else 'int other;\n'
            if version is not False:
                compile_library(folders[name] / soname, version_script=script, source=source)
        (tmp_path / 'main.c').write_text('int f7(void);\nint main(void) { return f7() - 7; }\n')
        done = run(['gcc', '-o', tmp_path / 'main', tmp_path / 'main.c', folders['linked'] / soname, '-lc'])
        assert done.returncode == 0, done.stderr
        done = run([tmp_path / 'main'], env={'LD_LIBRARY_PATH': str(folders['found']), 'LC_ALL': 'C', **environment})
        assert done.returncode != 0
        return done.stderr
    return call


@pytest.mark.parametrize('soname, linked, found, symbol, wanted, word', [
    ('libfabric.so.1', 'FABRIC_1.7', 'FABRIC_1.6', 'f7', 'libfabric too old', 'FABRIC_1.7'),
    ('libgrape.so.1', 'GRAPE_2', 'GRAPE_1', 'f7', 'library of another version', 'GRAPE_2'),
    ('libstdc++.so.6', 'GLIBCXX_3.4.99', 'GLIBCXX_3.4.1', 'f7', 'C++ library too old', 'GLIBCXX_3.4.99'),
    ('libfabric.so.1', 'FABRIC_1.7', False, 'f7', 'missing library', 'libfabric.so.1'),
    ('libplain.so.1', None, None, 'other', 'undefined symbol', 'f7'),
])
def test_what_the_loader_says_is_known(loader, soname, linked, found, symbol, wanted, word):
    text = loader(soname, linked, found, symbol)
    each, = search.explain(text)
    assert each['name'] == wanted and word in each['cause'], text


def test_a_c_library_that_is_too_old_is_known(tmp_path):
    """A library that says it needs GLIBC_2.99 of libc.so.6, met by the real one."""
    newer = compile_library(tmp_path / 'newer' / 'libc.so.6', version_script='GLIBC_2.99 { global: f7; };\n',
                            source='int f7(void) { return 7; }\n')
    needs = compile_library(tmp_path / 'libneeds.so', needed=[newer],
                            source='int f7(void);\nint needs(void) { return f7(); }\n')
    done = run([sys.executable, '-c', f'import ctypes; ctypes.CDLL({str(needs)!r})'])
    each, = search.explain(done.stderr)
    assert each['name'] == 'C library too old' and 'GLIBC_2.99' in each['cause'], done.stderr


def test_a_preloaded_library_that_is_gone_and_a_file_that_is_none_are_known(tmp_path):
    done = run(['/bin/true'], env={'LD_PRELOAD': str(tmp_path / 'libmpi.so.12')})
    assert names(done.stderr) == ['preloaded library missing'], done.stderr
    (tmp_path / 'libtext.so').write_text('GROUP ( libmpi.so.12 ) padding so that it is longer than an ELF header is, '
                                         'yes\n')
    done = run([sys.executable, '-c', f'import ctypes; ctypes.CDLL({str(tmp_path / "libtext.so")!r})'])
    assert names(done.stderr) == ['file of another architecture'], done.stderr


# ---- Lmod, really: it breaks its messages into lines of 80 letters

@pytest.fixture
def lmod(tmp_path):
    """Function (script, name of LMODS) that runs bash with modules of all kinds of trouble; what it says."""
    for name, text in {
            'image.lua': "LmodError('ERROR: Cannot locate the singularity container file ' .. '/project/' .. "
                         "string.rep('long/', 30) .. 'x.sif. One potential cause is that it may have been removed from "
                         "the system.')",
            'ours.lua': "LmodError('The image /project/' .. string.rep('long/', 30) .. 'x.sif is gone. Get it back "
                        "with: cp a b')",
            'host.lua': "LmodMessage('osu-container/hybrid: The host has changed since this module was installed: "
                        "/opt/cray/libfabric/1.22.0/lib64/libfabric.so.1 is another file')",
            'one.lua': "conflict('other')", 'other.lua': "setenv('OTHER', '1')",
            'stack.lua': f"prepend_path('MODULEPATH', '{tmp_path}/inner')"}.items():
        (tmp_path / 'modules').mkdir(exist_ok=True)
        (tmp_path / 'modules' / name).write_text(text + '\n')
    (tmp_path / 'inner').mkdir()
    (tmp_path / 'inner' / 'within.lua').write_text("setenv('WITHIN', '1')\n")

    def call(script, version):
        done = clean_shell(script, version, MODULEPATH=str(tmp_path / 'modules'), HOME=str(tmp_path))
        return done.stdout + done.stderr
    return call


@pytest.mark.parametrize('version', LMODS)
@pytest.mark.parametrize('script, wanted, word', [
    ('module load nonesuch/1', 'unknown module', 'nonesuch/1'),
    ('module load image', "image of LUMI's module gone", '/long/x.sif'),
    ('module load ours', 'image gone', '/long/x.sif'),
    ('module load host', 'host has changed', 'library'),
    ('module load other one', 'modules that exclude each other', 'other'),
    ('module spider within >/dev/null 2>&1; module load within', 'module of another stack', 'within'),
])
def test_what_lmod_says_is_known(lmod, version, script, wanted, word):
    text = lmod(script, version)
    found = search.explain(text)
    assert [each['name'] for each in found] == [wanted], text
    assert word in found[0]['cause'] + found[0]['remedy'], found


# ---- the command

def command(*arguments, **kwargs):
    return run([PROJECT / 'bin' / 'osu-container', 'why', *arguments], **kwargs)


def test_the_command_reads_a_file_and_a_pipe_and_says_cause_remedy_and_source(tmp_path):
    text = "fine\n./m: old/libfabric.so.1: version `FABRIC_1.7' not found (required by ./m)\n"
    log = tmp_path / 'job.out'
    log.write_text(text)
    done = command(log)
    assert done.returncode == 0, done.stderr
    for part in ('libfabric too old, line 2', 'cause', 'remedy', 'opensource', 'measured; libfabric'):
        assert part in done.stdout
    assert command('-', input=text).stdout == command(input=text).stdout == done.stdout
    found = json.loads(command('--json', log).stdout)
    assert found == [dict(each, file=str(log)) for each in search.explain(text)]


@pytest.mark.parametrize('text, said', [('nothing that is known\n', 'None of the'), ('', 'empty')])
def test_the_command_says_when_it_knows_nothing(text, said):
    done = command(input=text)
    assert done.returncode == 1 and said in done.stdout


@pytest.fixture
def logs(tmp_path):
    """Names (list of str) of seven logs with one trouble, one with another, one with none known and an empty one."""
    old = "./m: libfabric.so.1: version `FABRIC_1.7' not found (required by ./m)\n"
    texts = [old, 'fine\n' + 2 * old] + 5 * [old] + ['x: undefined symbol: f7\n', 'fine\n', '']
    for number, text in enumerate(texts):
        (tmp_path / f'slurm-{number}.out').write_text(text)
    return [f'slurm-{number}.out' for number in range(len(texts))]


def test_of_several_files_each_message_is_named_once_with_the_files_that_have_it(logs, tmp_path):
    done = command(*logs, cwd=tmp_path)
    assert done.returncode == 0 and done.stderr == ''
    assert done.stdout.count('libfabric too old') == done.stdout.count('undefined symbol, ') == 1
    assert done.stdout.startswith('libfabric too old, slurm-0.out line 1; slurm-1.out line 2 (and 1 more); '
                                  'slurm-2.out line 1; slurm-3.out line 1; slurm-4.out line 1; slurm-5.out line 1; '
                                  'and 1 more\n')
    assert 'Empty: slurm-9.out.\n' in done.stdout and 'is in: slurm-8.out.\n' in done.stdout
    found = json.loads(command('--json', *logs, cwd=tmp_path).stdout)
    assert [each['file'] for each in found] == logs[:8]


def test_several_files_with_nothing_known_are_one_answer(logs, tmp_path):
    done = command(*logs[8:], cwd=tmp_path)
    assert done.returncode == 1 and 'Empty: slurm-9.out.' in done.stdout and 'is in: slurm-8.out.' in done.stdout
    assert command('--json', *logs[8:], cwd=tmp_path).stdout == '[]\n'


@pytest.mark.parametrize('program', [[PROJECT / 'bin' / 'osu-container', 'why'], [sys.executable, WHY]])
@pytest.mark.parametrize('name, said', [
    ('none', 'none: No such file or directory'), ('folder', 'folder: it is a folder: name the files in it, for example '
                                                            'folder/*.out'),
    ('slurm-0.out/x', 'slurm-0.out/x: Not a directory'), ('log.gz', 'log.gz: it is compressed: zcat FILE'),
    ('a\nb', 'a b: No such file')])
def test_what_cannot_be_read_is_said_and_the_other_files_are_read(logs, tmp_path, program, name, said):
    import gzip
    (tmp_path / 'folder').mkdir()
    with gzip.open(tmp_path / 'log.gz', 'wb') as handle:
        handle.write(b'x: undefined symbol: f7\n')
    done = run([*program, name, logs[7]], cwd=tmp_path)
    assert done.returncode == 1 and 'undefined symbol, slurm-7.out line 1' in done.stdout
    assert done.stderr.startswith(f'osu-container why: error: {said}') and done.stderr.count('\n') == 1


def test_a_file_that_opens_and_cannot_be_read_is_an_error():
    done = command('/proc/self/mem')  # for root too
    assert done.returncode == 1 and done.stderr == 'osu-container why: error: /proc/self/mem: Input/output error. ' \
        "Name the file with a job's output\n"


def test_the_list_has_every_message_and_is_what_the_page_shows():
    done = command('--list')
    assert done.returncode == 0
    listed = json.loads(command('--list', '--json').stdout)
    assert [each['name'] for each in listed] == NAMES
    for each in listed:
        assert f"\n{each['name']}\n    {each['text']}\n" in '\n' + done.stdout
        assert not re.search(r'\{\w+\}', each['cause'] + each['remedy'])
    assert not re.search(r'^ {2}\S.{100}', done.stdout, re.M)


def test_a_reader_that_has_seen_enough_is_no_error(tmp_path):
    for program in (f'{PROJECT}/bin/osu-container why', f'{sys.executable} {WHY}'):
        done = run(['bash', '-c', f'{program} --list | head -n 1'], cwd=tmp_path)
        assert done.stdout == 'The loader\n' and done.stderr == ''


def test_letters_that_the_terminal_does_not_have_are_no_error(tmp_path):
    (tmp_path / 'log').write_bytes('\u201e\u00e4\u201c x: undefined symbol: f7\n'.encode())
    for locale in ('C', 'POSIX', 'C.UTF-8'):
        done = run([sys.executable, WHY, tmp_path / 'log'], env={'PATH': '/usr/bin:/bin', 'LC_ALL': locale,
                                                                 'PYTHONIOENCODING': 'ascii:strict'})
        assert done.returncode == 0 and 'x: undefined symbol: f7' in done.stdout, done.stderr


# ---- long logs

class Endless(io.RawIOBase):
    """A binary file of so many copies of a part; it notes how much of it is asked for at once."""

    def __init__(self, part, copies):
        self.part, self.copies, self.most = part, copies, 0

    def read(self, size=-1):
        self.most = max(self.most, size if size >= 0 else 1 << 60)
        if not self.copies:
            return b''
        self.copies -= 1
        return self.part[:size]


def test_of_a_long_log_a_part_is_held_at_a_time():
    """16 MB, of which the peak of what is held (as Python counts it) is a few of the blocks."""
    import tracemalloc
    part = b'libfabric:1:2::cxi:core:cxip():1<info> nid1: nothing to be seen here\n' * (search.BLOCK // 70)
    log = Endless(part, 16)
    tracemalloc.start()
    done = search.search_in(log)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert done.found() == [] and done.lines == 16 * part.count(b'\n')
    assert log.most == search.BLOCK and peak < 12 * search.BLOCK


@pytest.mark.parametrize('end', [b'\n', b'\r\n', b''])
@pytest.mark.parametrize('block', [1, 7, 40, 41, 1000])
def test_where_a_log_is_cut_into_parts_makes_no_difference(monkeypatch, block, end):
    text = b"a\r\nx: undefined symbol: f7\n\nb \xc3\xa4\nsrun: error: n: task 0: Exited with exit code 1\n" \
           b"y: undefined symbol: f8" + end
    wanted = search.search_in(io.BytesIO(text))
    monkeypatch.setattr(search, 'BLOCK', block)
    found = search.search_in(io.BytesIO(text))
    if block >= 41:  # the longest line; a longer one is searched in parts
        assert found.found() == wanted.found() and wanted.found()[0]['times'] == 2
    assert found.lines == wanted.lines == 6


def test_a_line_without_an_end_is_read_in_parts():
    log = Endless(b'progress 12 %\r' * (search.BLOCK // 14), 6)
    done = search.search_in(log)
    assert done.found() == [] and done.lines == 1


def test_binary_junk_is_unknown_text():
    import random
    junk = random.Random(6).getrandbits(8 * 50_000).to_bytes(50_000, 'big')
    done = run([sys.executable, WHY], input=junk.decode('latin-1'), env={**os.environ, 'LC_ALL': 'C.UTF-8'})
    assert done.returncode == 1 and 'None of the' in done.stdout and done.stderr == ''
    found = search.search_in(io.BytesIO(junk + b'\nx: undefined symbol: f7\n' + junk)).found()
    assert [each['name'] for each in found] == ['undefined symbol']


def test_text_in_another_encoding_is_read(tmp_path):
    (tmp_path / 'log').write_bytes(b'\xff\xfe caf\xe9\nx: undefined symbol: f7\n')
    done = run([sys.executable, WHY, tmp_path / 'log'])
    assert done.returncode == 0 and 'undefined symbol' in done.stdout


@pytest.mark.parametrize('python', [path for path in map(shutil.which, ('/usr/bin/python3', 'python3.6'))
                                    if path and run([path, '--version']).returncode == 0])
def test_it_runs_with_the_python_of_the_system_alone(tmp_path, python):
    done = run([python, '-I', WHY, '-'], input='x: undefined symbol: f7\n', cwd=tmp_path)
    assert done.returncode == 0 and 'undefined symbol, line 1' in done.stdout, done.stderr
    assert run([python, PROJECT / 'bin' / 'osu-container', 'why', '--list']).returncode == 0


def test_it_needs_no_newer_python_than_3_6():
    import ast
    for path in WHY.rglob('*.py'):
        ast.parse(path.read_text(), feature_version=(3, 6))
        imported = set(re.findall(r'^(?:import|from) ([\w.]+)', path.read_text(), re.M))
        assert imported <= {'argparse', 'importlib', 'json', 'os', 're', 'shutil', 'sys', 'textwrap', '.messages',
                            '.search', '.clues', '.common', '.'}


def test_a_copy_of_the_folder_is_enough(tmp_path):
    shutil.copytree(WHY, tmp_path / 'copy', ignore=shutil.ignore_patterns('__pycache__'))
    done = run([sys.executable, '-I', tmp_path / 'copy', '-'], input='x: undefined symbol: f7\n', cwd=tmp_path)
    assert done.returncode == 0 and 'undefined symbol, line 1' in done.stdout, done.stderr


# ---- Slurm and the container, really

@pytest.fixture(scope='module')
def slurm():
    """Function (script) that runs bash with the private Slurm and returns its output and errors as one text."""
    started = run([PROJECT / 'workstation' / 'slurm.sh', 'start'])
    assert started.returncode == 0, started.stdout + started.stderr

    def call(script, **variables):
        environment = {'PATH': f"{STATE / 'bin'}:/usr/bin:/bin:/usr/sbin:/sbin", 'HOME': os.environ['HOME'],
                       'SLURM_CONF': str(STATE / 'slurm' / 'slurm.conf'), 'LC_ALL': 'C.UTF-8', **variables}
        return run(['bash', '--norc', '-c', script], env=environment, stderr=subprocess.STDOUT, timeout=120).stdout
    return call


@pytest.mark.slurm
@pytest.mark.parametrize('script, wanted', [
    ('srun --mpi=nonesuch true', 'unknown MPI type'),
    ('srun -p nonesuch -N1 -n1 true', 'unknown partition'),
    ('srun -N1 -n1 --mem=900000G true', 'memory that a node does not have'),
    ('srun -N1 -n1 -w nonesuch true', 'more than the partition has'),
    ('srun -N1 -n1 --gpus=1 true', 'GPUs asked for in a way that Slurm refuses'),
    ('salloc -Q -N1 -n1 srun -n40 true', 'more than the job has'),
    ('salloc -Q -N1 -n1 srun -N2 -n2 true', 'more than the job has'),
    ('srun -N1 -n1 osu_nonesuch', 'program not found'),
    ("srun -N1 -n1 sh -c 'exit 7'", 'program failed'),
    ("srun -N1 -n1 sh -c 'kill -SEGV $$'", 'segmentation fault'),
    ("srun -N1 -n1 sh -c 'kill -KILL $$'", 'task killed'),
    ("salloc -Q -N1 -n1 sh -c 'srun -n1 --exact sleep 3 & sleep 1; srun -n1 --exact true; wait'",
     'step waits for another'),
    ('SLURM_CONF=/nonesuch timeout 3 srun true', 'no controller'),
    ('SLURM_JOB_ID=99999999 srun true', 'job is over'),
    ('salloc -Q -N1 -n1 -w node1 srun -w node2 -N1 -n1 true', 'more than the job has'),
    ('salloc -Q -N1 -n1 srun --gres=gpu:1 true', 'GPUs asked for in a way that Slurm refuses'),
])
def test_what_slurm_says_is_known(slurm, script, wanted):
    text = slurm(script)
    assert names(text) == [wanted], text


@pytest.fixture(scope='module')
def modules(slurm, tmp_path_factory):
    """Function (script) as slurm's, with osu-container/pure and openmpi in a folder of the tests."""
    folder = tmp_path_factory.mktemp('installed')
    ready = f'export EASYBUILD_PREFIX={folder}; . {PROJECT}/env.sh; '
    text = slurm(ready + 'eb osu-container-pure.eb osu-container-openmpi.eb -r && echo installed')
    assert text.rstrip().endswith('installed'), text[-3000:]
    return lambda script, **variables: slurm(ready + script, **variables)


@pytest.mark.apptainer
@pytest.mark.slurm
@pytest.mark.parametrize('script, wanted', [
    ('module load osu-container/pure; srun --mpi=none -N2 -n2 osu_bw H H', 'ranks without PMI'),
    ('module load osu-container/pure; FI_PROVIDER=nonesuch srun -N2 -n2 osu_latency H H', 'no provider'),
    ('module load osu-container/pure; srun -N1 -n1 osu-exec nonesuch', 'program not in the image'),
    ('module load osu-container/pure; srun -N2 -n2 osu_bw D D', 'no GPU for the ports'),
    ('module load osu-container/pure; srun -N2 -n3 osu_bw H H', 'wrong number of ranks'),
    # by its path in the image, which the module's own command would refuse
    ('module load osu-container/pure; srun --mpi=none -N2 -n2 apptainer exec "$SIF" /opt/osu/bin/osu_bw H H',
     'wrong number of ranks'),
    ('module load osu-container/pure; srun --mpi=none -N2 -n2 apptainer exec "$SIF" /usr/bin/python3 -I -c "import sys;'
     " sys.path.insert(0, '/opt/osu/lib/python'); from mpi4py import MPI; "
     "print('rank', MPI.COMM_WORLD.rank, 'of', MPI.COMM_WORLD.size)\"", 'every rank alone'),
    ('module load osu-container/pure; osu-exec "$CONTAINERROOT/bin/osu_bw" H H', 'started inside the container'),
    ('module load osu-container/pure; APPTAINER_BIND=/nonesuch osu-exec true', 'bound file missing'),
    ('module load osu-container/pure; SINGULARITY_BIND=/tmp APPTAINER_BIND=/usr:/mnt apptainer exec $SIF true',
     'two sets of binds'),
    ('apptainer exec /nonesuch.sif true', 'image cannot be read'),
    ('head -c 4096 /dev/zero >$HOME/x.sif; apptainer exec $HOME/x.sif true', 'image cannot be read'),
    ('module load osu-container/pure; MPIR_CVAR_OFI_USE_PROVIDER=tcp srun -N2 -n2 osu_latency -m 4 -i 10 H H',
     'provider asked for by an old name'),
    # the sum of the image is checked, its signature is not there: apptainer verify says so
    ('module load osu-container/pure; apptainer verify "$SIF" 2>&1', 'image without a signature'),
    ('module load osu-container/pure; salloc -Q -N1 -n2 osu-exec timeout -s KILL 5 /opt/mpich/bin/mpiexec -n 2 true',
     'mpirun in the container'),
    ('module load osu-container/openmpi; salloc -Q -N1 -n2 osu-exec timeout -s KILL 9 /opt/openmpi/bin/mpirun '
     '--allow-run-as-root -n 2 true', 'mpirun in the container'),
    # by its path in the image: the module's own command would not start it so
    ('module load osu-container/openmpi; srun --mpi=pmi2 -N2 -n2 apptainer exec "$SIF" /opt/osu/bin/osu_bw H H',
     'Open MPI without PMIx'),
    ('module load osu-container/openmpi; PMIX_MCA_psec=munge srun -N2 -n2 osu_bw H H', 'component of PMIx missing'),
])
def test_what_runs_say_is_known(modules, script, wanted, tmp_path):
    text = modules(script, HOME=str(tmp_path))
    assert names(text) == [wanted], text
