-- Rendered for reading. An installed module has its own values where this one has @INSTALL@, @HOST@, BYTES and TIME.
-- Which host libraries there are, their releases and the list of programs are those of a stand-in, not of the system: see tests/stand_in/README.md
help([==[

Description
===========
OSU Micro-Benchmarks in a container: the image's MPI over the host's network
library.


Usage
=====
MPI:        MPICH 4.2.3 of the image over libfabric 1.22.0 of the host, provider
            cxi
srun:       --mpi=pmi2, which this module sets (SLURM_MPI_TYPE):
            srun -N2 -n2 osu_bw H H
commands:   osu_allgather osu_alltoall osu_alltoallv osu_barrier osu_bcast
            osu_bibw osu_bw osu_gather osu_get_bw osu_latency osu_multi_lat
            osu_scatter osu_xccl_allreduce osu_xccl_bw osu_xccl_latency
            (mpi4py 4.1.2 ports)
variables:  FI_CXI_DEFAULT_CQ_SIZE FI_CXI_DEFAULT_TX_SIZE
            FI_CXI_DISABLE_HOST_REGISTER FI_CXI_DISABLE_NON_INJECT_MSG_IDC
            FI_CXI_RDZV_EAGER_SIZE FI_CXI_RDZV_GET_MIN FI_CXI_RDZV_PROTO
            FI_CXI_RDZV_THRESHOLD FI_CXI_RX_MATCH_MODE FI_MR_CACHE_MONITOR
            FI_PROVIDER MPIR_CVAR_CH4_OFI_ENABLE_HMEM
            MPIR_CVAR_SINGLE_HOST_ENABLED NCCL_CROSS_NIC NCCL_NET
            NCCL_NET_GDR_LEVEL NCCL_SOCKET_IFNAME SLURM_NETWORK; what you set
            yourself wins
            osu-explain prints each with its value, reason and source, and every
            bind
proof:      osu-proof -- srun -N2 -n2 osu_bw H H shows what each rank really
            loaded and used
containers: one on each node for all its ranks; export OSU_SHARE=0 gives each
            rank its own
binding:    srun ... osu-gpu-bind osu_bw H H puts ranks next to their GPU and
            network card
switch:     export OSU_RCCL_ALT_READ=1 before module load: all that HPE sets for
            RCCL and NCCL: rendezvous without the card's offload
            (FI_CXI_RDZV_PROTO and srun --network=disable_rdzv_get go together),
            for every message, and larger queues. For runs of RCCL alone: MPI
            loses its eager messages
switch:     export OSU_RCCL_STRICT=1 before module load: a missing RCCL plugin
            is an error instead of TCP; not for jobs on one node
switch:     export OSU_SCOPE=commands before module load: binds, library paths
            and preloads are for the commands of this module alone, not for
            other containers that are started in the same shell, nor for a
            runtime that is called directly
switch:     export OSU_SINGLE_NODE=shm before module load: for jobs on one node:
            stay off cxi, ranks meet in shared memory (untested on LUMI)


More information
================
 - Homepage: https://mvapich.cse.ohio-state.edu/benchmarks/
]==])

whatis([==[Description: osu-container on site perlmutter: the image's MPI over the host's network library]==])
whatis([==[Keywords: MPI, MPICH, libfabric, container, hybrid]==])

local root = "@INSTALL@"

conflict("osu-container")
prepend_path("PATH", pathJoin(root, "bin"))
setenv("EBROOTOSUMINCONTAINER", root)
setenv("EBVERSIONOSUMINCONTAINER", "hybrid")


-- hybrid on site perlmutter: the image's MPI over the host's network library
-- SLURM_MPI_TYPE, binds and library paths are for one MPI: one such module at a time
family("slurm_mpi")
-- MPI ranks find each other through PMI; with another --mpi= each rank is alone
pushenv("SLURM_MPI_TYPE", "pmi2")
-- switches (module help says what each does): unload goes by what they were at load
local rccl_alt_read = os.getenv(mode() == "unload" and "OSU_RCCL_ALT_READ_OF_OSU_CONTAINER" or "OSU_RCCL_ALT_READ") or ""
setenv("OSU_RCCL_ALT_READ_OF_OSU_CONTAINER", rccl_alt_read)
local rccl_strict = os.getenv(mode() == "unload" and "OSU_RCCL_STRICT_OF_OSU_CONTAINER" or "OSU_RCCL_STRICT") or ""
setenv("OSU_RCCL_STRICT_OF_OSU_CONTAINER", rccl_strict)
local scope = os.getenv(mode() == "unload" and "OSU_SCOPE_OF_OSU_CONTAINER" or "OSU_SCOPE") or ""
setenv("OSU_SCOPE_OF_OSU_CONTAINER", scope)
local single_node = os.getenv(mode() == "unload" and "OSU_SINGLE_NODE_OF_OSU_CONTAINER" or "OSU_SINGLE_NODE") or ""
setenv("OSU_SINGLE_NODE_OF_OSU_CONTAINER", single_node)
-- a default: what you have set yourself wins
local function default(name, value) pushenv(name, os.getenv(name) or value) end
-- room for the completions of large jobs [approach hybrid; HPE, github.com/HewlettPackard/shs-ccl-docs 1617c30, rccl_tuning_guide.md; 2026-11-23; untested] if OSU_RCCL_ALT_READ=1
if rccl_alt_read == "1" then
    default("FI_CXI_DEFAULT_CQ_SIZE", "131072")
end
-- room for what large jobs send before anybody waits for it [approach hybrid; HPE, github.com/HewlettPackard/shs-ccl-docs 1617c30, rccl_tuning_guide.md; 2026-11-23; untested] if OSU_RCCL_ALT_READ=1
if rccl_alt_read == "1" then
    default("FI_CXI_DEFAULT_TX_SIZE", "2048")
end
-- the provider does not register host memory with CUDA, on which NCCL can wait for ever [approach hybrid; NERSC (podman-hpc 1.2.2, nccl.yaml), CSCS (cscs-docs 1660b1e, nccl_env_vars), HPE (shs-ccl-docs 832182d, nccl_tuning_guide.md); 2026-11-23; derived]
default("FI_CXI_DISABLE_HOST_REGISTER", "1")
-- small messages from GPU memory are not copied through the host: 3 instead of 21 microseconds with Open MPI. MPICH must not inject them either (MPIR_CVAR_CH4_OFI_ENABLE_INJECT, MPIR_CVAR_CH4_OFI_ENABLE_MR_HMEM) [approach hybrid; fi_cxi(7), libfabric main caf5652c; EESSI on LUMI, 2026-05-21; 2026-11-21; untested]
default("FI_CXI_DISABLE_NON_INJECT_MSG_IDC", "1")
-- nothing is sent before the receiver is ready [approach hybrid; HPE, github.com/HewlettPackard/shs-ccl-docs 1617c30, rccl_tuning_guide.md; 2026-11-23; untested] if OSU_RCCL_ALT_READ=1
-- bytes that a rendezvous message sends ahead, as Cray MPICH has it with that threshold [approach hybrid; Cray MPICH sets it (MPICH_ENV_DISPLAY on Crusher); 2026-11-21; untested]
if rccl_alt_read == "1" then
    default("FI_CXI_RDZV_EAGER_SIZE", "0")
else
    default("FI_CXI_RDZV_EAGER_SIZE", "2048")
end
-- none of them by the card's own get, which alt_read replaces [approach hybrid; HPE, github.com/HewlettPackard/shs-ccl-docs 1617c30, rccl_tuning_guide.md; 2026-11-23; untested] if OSU_RCCL_ALT_READ=1
if rccl_alt_read == "1" then
    default("FI_CXI_RDZV_GET_MIN", "0")
end
-- the rendezvous protocol that needs srun --network=disable_rdzv_get [approach hybrid; HPE, github.com/HewlettPackard/shs-ccl-docs 1617c30, rccl_tuning_guide.md; 2026-11-23; untested] if OSU_RCCL_ALT_READ=1
if rccl_alt_read == "1" then
    default("FI_CXI_RDZV_PROTO", "alt_read")
end
-- every message goes by rendezvous [approach hybrid; HPE, github.com/HewlettPackard/shs-ccl-docs 1617c30, rccl_tuning_guide.md; 2026-11-23; untested] if OSU_RCCL_ALT_READ=1
-- messages up to this many bytes go eagerly: takes away the step at 8 to 16 KiB of the old default 2048 [approach hybrid; Cray MPICH sets it (MPICH_ENV_DISPLAY on Crusher); libfabric 2.4 made it the default; 2026-11-21; untested]
if rccl_alt_read == "1" then
    default("FI_CXI_RDZV_THRESHOLD", "0")
else
    default("FI_CXI_RDZV_THRESHOLD", "16384")
end
-- the provider matches messages where the card has no room for more [approach hybrid; HPE, github.com/HewlettPackard/shs-ccl-docs 1617c30, rccl_tuning_guide.md; 2026-11-23; untested] if OSU_RCCL_ALT_READ=1
if rccl_alt_read == "1" then
    default("FI_CXI_RX_MATCH_MODE", "hybrid")
end
-- the kernel tells libfabric which memory was given back; with libfabric's own default, memhooks, RCCL and NCCL can hang [approach hybrid; github.com/Lumi-supercomputer/LUMI-AI-Guide, pull request 118; so do NERSC (podman-hpc 1.2.2, nccl.yaml), CSCS (cscs-docs 1660b1e, nccl_env_vars) and HPE, github.com/HewlettPackard/shs-ccl-docs 1617c30, rccl_tuning_guide.md; 2026-09-15; derived]
default("FI_MR_CACHE_MONITOR", "userfaultfd")
-- the provider of this network or an error, never another one in silence [approach hybrid; fi_fabric(7), FI_PROVIDER; 2026-11-21; derived] if OSU_SINGLE_NODE!=shm
if single_node ~= "shm" then
    default("FI_PROVIDER", "cxi")
end
-- MPICH hands buffers in GPU memory to libfabric instead of copying them; off by default [approach hybrid; github.com/DeiC-HPC/BitBulldozersLab, Docker build pipeline for 4 different container approaches on LUMI: the published runs with MPICH 4.2.3 reach 24 GB/s with it; wheels from 4.1.3 on have the CVAR; 2025-03-07; measured]
default("MPIR_CVAR_CH4_OFI_ENABLE_HMEM", "1")
-- MPICH avoids cxi when all ranks are on one node, and with FI_PROVIDER=cxi nothing else is left [approach hybrid; MPICH src/mpid/ch4/netmod/ofi/init_provider.c; wheels from 4.2.3 on have it; 2026-11-21; untested] if OSU_SINGLE_NODE!=shm
if single_node ~= "shm" then
    default("MPIR_CVAR_SINGLE_HOST_ENABLED", "0")
end
-- each of the four cards reaches every card of another node [site perlmutter; podman-hpc 1.2.2 (PyPI; github.com/NERSC/podman-hpc 01b02d6), etc/podman_hpc/modules.d/nccl.yaml; 2026-06-02; measured]
default("NCCL_CROSS_NIC", "1")
-- RCCL takes the plugin or ends; it would fall back to TCP without a word. Plugins since 1.12 call themselves Libfabric and take this name too [approach hybrid; HewlettPackard/shs-ccl-docs, ccl_env.sh; github.com/aws/aws-ofi-nccl, pull request 530; 2026-11-21; untested] if OSU_RCCL_STRICT=1
if rccl_strict == "1" then
    default("NCCL_NET", "AWS Libfabric")
end
-- the card reads GPU memory itself [site perlmutter; podman-hpc 1.2.2 (PyPI; github.com/NERSC/podman-hpc 01b02d6), etc/podman_hpc/modules.d/nccl.yaml; 2026-06-02; measured]
default("NCCL_NET_GDR_LEVEL", "PHB")
-- NCCL meets and, without a plugin, sends over the interfaces whose names begin so [site perlmutter; podman-hpc 1.2.2 (PyPI; github.com/NERSC/podman-hpc 01b02d6), etc/podman_hpc/modules.d/nccl.yaml; 2026-06-02; measured]
default("NCCL_SOCKET_IFNAME", "hsn")
-- a step on one node gets a VNI, without which cxi has no key; and the card leaves rendezvous to the provider, as FI_CXI_RDZV_PROTO=alt_read needs [approach hybrid; srun(1) of Slurm 24.05, --network; HPE, github.com/HewlettPackard/shs-ccl-docs 1617c30, rccl_tuning_guide.md; 2026-11-23; untested] if OSU_RCCL_ALT_READ=1
-- a step on one node gets a VNI, without which cxi has no key [approach hybrid; github.com/lumi-ai-factory/laifs-container-recipes, pull request 22: jobs of containers on one node of LUMI need it; Slurm 24.05.8: srun reads SLURM_NETWORK (opt.c), switch/hpe_slingshot the word; 2026-03-31; measured] if OSU_SINGLE_NODE!=shm
if rccl_alt_read == "1" then
    default("SLURM_NETWORK", "single_node_vni,disable_rdzv_get")
elseif single_node ~= "shm" then
    default("SLURM_NETWORK", "single_node_vni")
end
-- read by osu-proof: what the ranks are held to
setenv("OSU_PROMISE", "approach=hybrid container=yes libmpi=image libfabric=host pmi=pmi2 provider=" .. (os.getenv("FI_PROVIDER") or ""))
-- read by osu-container bench: the installation, whose settings.json says what this is
setenv("OSU_MODULE_ROOT", root)
-- read by osu-gpu-bind: GPU, cores, network card
setenv("OSU_GPU_MAP", "0:0xffff000000000000:cxi0 1:0xffff00000000:cxi1 2:0xffff0000:cxi2 3:0xffff:cxi3")
-- CUDA_VISIBLE_DEVICES: the rank sees the GPU next to its cores and no other [CUDA C++ Programming Guide, CUDA environment variables; 2026-11-21; derived]
-- FI_CXI_DEVICE_NAME: open-source MPICH takes the card next to the cores of the rank, or the first; MPICH_OFI_NIC_POLICY means nothing to it [fi_cxi(7), libfabric main caf5652c; 2026-11-21; derived]
setenv("OSU_GPU_VARIABLES", "CUDA_VISIBLE_DEVICES=gcd FI_CXI_DEVICE_NAME=nic")
local sif = pathJoin(root, "osu-workstation-mpich-4.2.3-libfabric-1.22.0.sif")
if mode() == "load" and not isFile(sif) then
    LmodError("The image " .. sif .. " is gone. Get it back with: eb osu-container-hybrid.eb -r --rebuild")
end
-- an error where the image has another size than the one that was installed, a warning where it has another time stamp: its sum would take seconds
local function word(text)
    return "'" .. text:gsub("'", "'\\''") .. "'"
end
local function intact(bytes, time)
    local path, date = pathJoin(root, "osu-workstation-mpich-4.2.3-libfabric-1.22.0.sif"), "!%Y-%m-%d %H:%M:%S UTC"
    local now = mode() == "load" and lfs.attributes(path)
    if not now then return end
    local was = "it had " .. bytes .. " bytes of " .. os.date(date, time) .. ", and has now " .. now.size ..
        " bytes of " .. os.date(date, now.modification)
    if now.size ~= bytes then
        LmodError("The image " .. path .. " is not the one that was installed: " .. was .. ". Install it again: " ..
            "eb osu-container-hybrid.eb -r --rebuild")
    elseif now.modification ~= time then
        LmodMessage("Warning: The image " .. path .. " was written to since it was installed: " .. was ..
            ". Compare its sum: cd " .. word(root) .. " && sha256sum -c " .. "osu-workstation-mpich-4.2.3-libfabric-1.22.0.sif.sha256" ..
            ". If it differs: module unload " .. myModuleName() .. "; " .. "eb osu-container-hybrid.eb -r --rebuild" ..
            ". If it fits: touch -d @" .. time .. " " .. word(path))
    end
end
intact(BYTES, TIME)
-- where the image is, under the names that LUMI's container modules use
setenv("SIF", sif)
setenv("SIFOSUMINCONTAINER", sif)
setenv("CONTAINERROOT", root)
setenv("RUNSCRIPTS", pathJoin(root, "runscripts"))
setenv("RUNSCRIPTSOSUMINCONTAINER", pathJoin(root, "runscripts"))
-- read by bin/run-in-container: the image
setenv("MPI_CONTAINER_IMAGE", sif)
-- a warning where a host library is no longer as it was at installation: path, release, bytes, time stamp
local changed = {}
local function compare(path, what, bytes, time)
    local now, date = lfs.attributes(path), "!%Y-%m-%d"
    local was = what .. ", " .. bytes .. " bytes of " .. os.date(date, time)
    if not now then
        table.insert(changed, path .. " is gone (it was " .. was .. ")")
    elseif now.size ~= bytes or now.modification ~= time then
        table.insert(changed, path .. " was " .. was .. ", and is now " .. now.size .. " bytes of " ..
            os.date(date, now.modification))
    end
end
if mode() == "load" then
    compare("/opt/cray/libfabric/2.3.1/lib64/libfabric.so.1", "libfabric 1.22.0", BYTES, TIME)
    compare("/usr/lib64/libcxi.so.1", "libcxi.so.1", BYTES, TIME)
end
if changed[1] then
    LmodMessage("Warning: The host has changed since this module was installed: " .. table.concat(changed, "; ") ..
        ". Programs may fail or be slow. Install it again: module unload " ..
        myModuleName() .. "; eb osu-container-hybrid.eb -r --rebuild")
end
-- read by bin/run-in-container: the runtime, how the names of its variables start, and the variable that srun --mpi=pmi2 gives a rank
setenv("MPI_CONTAINER_RUNTIME", "apptainer")
setenv("MPI_CONTAINER_PREFIX", "APPTAINER")
setenv("MPI_CONTAINER_PMI", "pmi2 PMI_FD")
-- read by bin/run-in-container: the ranks of a node run in one container (OSU_SHARE=0: each in its own), else they cannot read each other's memory
setenv("MPI_CONTAINER_SHARE", "1")
-- MPIR_CVAR_CH4_CMA_ENABLE: MPICH 5 copies larger messages between ranks of a node by CMA [MPICH 5.0.2 as an ordinary user, two ranks on one node, a bandwidth test: an error from 8 KiB on, none with it, 2026-11-22; 4.2.3 and 4.3.2 do not; 2026-11-22; measured]
-- MPICH_SMP_SINGLE_COPY_MODE: Cray MPICH copies by XPMEM or CMA [intro_mpi(3) of Cray MPICH 8.1; NCAR's scripts for Apptainer and Charliecloud on Derecho set it; 2026-11-23; derived]
-- UCX_TLS: UCX takes CMA for all it can reach [github.com/openucx/ucx/issues/8958; 2026-11-22; derived]
-- FI_SHM_DISABLE_CMA: libfabric's shared memory takes CMA where it can [fi_shm(7); 2026-11-22; derived]
-- set by bin/run-in-container for ranks that have a container of their own
setenv("MPI_CONTAINER_APART", "MPIR_CVAR_CH4_CMA_ENABLE=0 MPICH_SMP_SINGLE_COPY_MODE=NONE UCX_TLS=^cma,xpmem,knem FI_SHM_DISABLE_CMA=1")
-- /run/cxi: lists of binds that work on LUMI have it: state of the cards for libcxi [singularity-bindings-24.03.eb in LUMI-EasyBuild-contrib fc59dd70; elsewhere nobody says so, and it is skipped where it is not there; 2026-05-04; untested]
-- bound by bin/run-in-container where they exist; else the variables behind | are set: SOURCE:TARGET[|NAME=VALUE...]
setenv("MPI_CONTAINER_FILES", "/run/cxi:/run/cxi")
-- CXI_FORK_SAFE: libfabric copies every small message from GPU memory by a slow path where it is set, whatever its value: most probable cause of 21 instead of 2.5 microseconds [libfabric prov/cxi/src/cxip_info.c, cxip_msg.c; 2026-11-21; derived]
-- CXI_FORK_SAFE_HP: libfabric copies every small message from GPU memory by a slow path where it is set, whatever its value: most probable cause of 21 instead of 2.5 microseconds [libfabric prov/cxi/src/cxip_info.c, cxip_msg.c; 2026-11-21; derived]
-- taken away by bin/run-in-container, unless you have set it yourself
local unset = ""
if not os.getenv("CXI_FORK_SAFE") then unset = unset .. "CXI_FORK_SAFE " end
if not os.getenv("CXI_FORK_SAFE_HP") then unset = unset .. "CXI_FORK_SAFE_HP " end
pushenv("MPI_CONTAINER_UNSET", unset)
-- for a runtime that is called directly (bin/run-in-container has the same from call-settings), if OSU_SCOPE!=commands
if scope ~= "commands" then
    -- as --nv: the GPUs' devices, and the libcuda that belongs to the host's driver [apptainer exec --help, --nv]
    pushenv("APPTAINER_NV", "1")
    -- the host's network library with its cxi provider; 1.22.0 is no longer there
    append_path("APPTAINER_BIND", "/opt/cray/libfabric/2.3.1/lib64/libfabric.so.1:/opt/host-mpi/lib/libfabric.so.1", ",")
    -- the host's libfabric reaches the Slingshot card through it
    append_path("APPTAINER_BIND", "/usr/lib64/libcxi.so.1:/opt/host-mpi/lib/libcxi.so.1", ",")
    -- scratch, the community file system, home and common software
    append_path("APPTAINER_BIND", "/global:/global", ",")
    append_path("APPTAINER_BIND", "/pscratch:/pscratch", ",")
    -- the libraries above go in front of the image's own (ld.so(8): LD_LIBRARY_PATH comes before RUNPATH and ld.so.cache)
    prepend_path("APPTAINERENV_LD_LIBRARY_PATH", "/opt/host-mpi/lib")
    -- the programs can be typed by name in the container
    prepend_path("APPTAINERENV_PREPEND_PATH", "/opt/osu/bin")
end
