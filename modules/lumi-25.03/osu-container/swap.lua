-- Rendered for reading. An installed module has its own values where this one has @INSTALL@, @HOST@, BYTES and TIME.
-- The host is described from public sources: libraries that those below need, and the image lacks, come along in an installation.
help([==[

Description
===========
OSU Micro-Benchmarks in a container: its entrypoint puts the host's network
library in place.


Usage
=====
MPI:        MPICH 4.2.3 of the image over libfabric 1.22.0 of the host, provider
            cxi
srun:       --mpi=pmi2, which this module sets (SLURM_MPI_TYPE):
            srun -N2 -n2 osu_bw D D
commands:   osu_allgather osu_alltoall osu_alltoallv osu_barrier osu_bcast
            osu_bibw osu_bw osu_gather osu_get_bw osu_latency osu_multi_lat
            osu_scatter (mpi4py 4.1.2 ports)
variables:  FI_CXI_DEFAULT_CQ_SIZE FI_CXI_DEFAULT_TX_SIZE
            FI_CXI_DISABLE_HOST_REGISTER FI_CXI_DISABLE_NON_INJECT_MSG_IDC
            FI_CXI_RDZV_EAGER_SIZE FI_CXI_RDZV_GET_MIN FI_CXI_RDZV_PROTO
            FI_CXI_RDZV_THRESHOLD FI_CXI_RX_MATCH_MODE FI_MR_CACHE_MONITOR
            FI_PROVIDER HSA_FORCE_FINE_GRAIN_PCIE MPIR_CVAR_CH4_OFI_ENABLE_HMEM
            MPIR_CVAR_SINGLE_HOST_ENABLED NCCL_CROSS_NIC
            NCCL_IGNORE_CPU_AFFINITY NCCL_NET NCCL_NET_GDR_LEVEL NCCL_NET_PLUGIN
            NCCL_SOCKET_IFNAME OSU_SWAP SLURM_NETWORK; what you set yourself
            wins
            osu-explain prints each with its value, reason and source, and every
            bind
proof:      osu-proof -- srun -N2 -n2 osu_bw D D shows what each rank really
            loaded and used
binding:    srun ... osu-gpu-bind osu_bw D D puts ranks next to their GPU and
            network card
switch:     export OSU_RCCL_ALT_READ=1 before module load: all that HPE sets for
            RCCL and NCCL: rendezvous without the card's offload
            (FI_CXI_RDZV_PROTO and srun --network=disable_rdzv_get go together),
            for every message, and larger queues. For runs of RCCL alone: MPI
            loses its eager messages
switch:     export OSU_RCCL_GDR=1 before module load: NCCL_NET_GDR_LEVEL=PHB, as
            HPE has it: RCCL lets the card read GPU memory up to that distance.
            Runs with ROCm 7 hung with it on LUMI, and were not slower without
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

whatis([==[Description: osu-container on site lumi-25.03: the image's entrypoint puts the host's network library in place of its own]==])
whatis([==[Keywords: MPI, MPICH, libfabric, container, swap]==])

local root = "@INSTALL@"

conflict("osu-container")
prepend_path("PATH", pathJoin(root, "bin"))
setenv("EBROOTOSUMINCONTAINER", root)
setenv("EBVERSIONOSUMINCONTAINER", "swap")


-- swap on site lumi-25.03: the image's entrypoint puts the host's network library in place of its own
-- SLURM_MPI_TYPE, binds and library paths are for one MPI: one such module at a time
family("containerbindings")
-- each of these sets SINGULARITY_BIND for itself
conflict("singularity-bindings", "singularity-userfilesystems", "singularity-slurm-bindings", "singularity-CPEbits", "lumi-aif-singularity-bindings")
-- a module of partition/container is visible in every stack and partition, so that the wrong one is easily loaded; login nodes are partition/L [LUMI-SoftwareStack, modules/LUMIstack/21.01.lua 24795e35 and modules/LUMIpartition/21.01.lua; 2026-07-10; derived]
local function expect(name, fits, says)
    local value = os.getenv(name) or ""
    if mode() == "load" and value ~= "" and not fits[value] then
        LmodMessage("Warning: " .. name .. "=" .. value .. says)
    end
end
expect("LUMI_STACK_VERSION", {["25.03"]=true, ["25.03.dev"]=true}, " is loaded, and this module is made for the stack LUMI/25.03, with its Cray MPICH and ROCm. It goes on with these; programs of the other stack do not get them")
expect("LUMI_STACK_PARTITION", {["G"]=true, ["EAP"]=true, ["L"]=true, ["container"]=true, ["common"]=true, ["system"]=true, ["CrayEnv"]=true}, " is loaded, and this module is made for LUMI's GPU nodes: on other nodes its ranks get settings and libraries for hardware that is not there")
-- MPI ranks find each other through PMI; with another --mpi= each rank is alone
pushenv("SLURM_MPI_TYPE", "pmi2")
-- switches (module help says what each does): unload goes by what they were at load
local rccl_alt_read = os.getenv(mode() == "unload" and "OSU_RCCL_ALT_READ_OF_OSU_CONTAINER" or "OSU_RCCL_ALT_READ") or ""
setenv("OSU_RCCL_ALT_READ_OF_OSU_CONTAINER", rccl_alt_read)
local rccl_gdr = os.getenv(mode() == "unload" and "OSU_RCCL_GDR_OF_OSU_CONTAINER" or "OSU_RCCL_GDR") or ""
setenv("OSU_RCCL_GDR_OF_OSU_CONTAINER", rccl_gdr)
local rccl_strict = os.getenv(mode() == "unload" and "OSU_RCCL_STRICT_OF_OSU_CONTAINER" or "OSU_RCCL_STRICT") or ""
setenv("OSU_RCCL_STRICT_OF_OSU_CONTAINER", rccl_strict)
local scope = os.getenv(mode() == "unload" and "OSU_SCOPE_OF_OSU_CONTAINER" or "OSU_SCOPE") or ""
setenv("OSU_SCOPE_OF_OSU_CONTAINER", scope)
local single_node = os.getenv(mode() == "unload" and "OSU_SINGLE_NODE_OF_OSU_CONTAINER" or "OSU_SINGLE_NODE") or ""
setenv("OSU_SINGLE_NODE_OF_OSU_CONTAINER", single_node)
-- a default: what you have set yourself wins
local function default(name, value) pushenv(name, os.getenv(name) or value) end
-- room for the completions of large jobs [approach swap; HPE, github.com/HewlettPackard/shs-ccl-docs 1617c30, rccl_tuning_guide.md; 2026-11-23; untested] if OSU_RCCL_ALT_READ=1
if rccl_alt_read == "1" then
    default("FI_CXI_DEFAULT_CQ_SIZE", "131072")
end
-- room for what large jobs send before anybody waits for it [approach swap; HPE, github.com/HewlettPackard/shs-ccl-docs 1617c30, rccl_tuning_guide.md; 2026-11-23; untested] if OSU_RCCL_ALT_READ=1
if rccl_alt_read == "1" then
    default("FI_CXI_DEFAULT_TX_SIZE", "2048")
end
-- the provider does not register host memory with ROCm, on which RCCL can wait for ever [approach swap; HPE, github.com/HewlettPackard/shs-ccl-docs 1617c30, rccl_tuning_guide.md; 2026-11-23; untested] if OSU_RCCL_ALT_READ=1
if rccl_alt_read == "1" then
    default("FI_CXI_DISABLE_HOST_REGISTER", "1")
end
-- small messages from GPU memory are not copied through the host: 3 instead of 21 microseconds with Open MPI. MPICH must not inject them either (MPIR_CVAR_CH4_OFI_ENABLE_INJECT, MPIR_CVAR_CH4_OFI_ENABLE_MR_HMEM) [approach swap; fi_cxi(7), libfabric main caf5652c; EESSI on LUMI, 2026-05-21; 2026-11-21; untested]
default("FI_CXI_DISABLE_NON_INJECT_MSG_IDC", "1")
-- nothing is sent before the receiver is ready [approach swap; HPE, github.com/HewlettPackard/shs-ccl-docs 1617c30, rccl_tuning_guide.md; 2026-11-23; untested] if OSU_RCCL_ALT_READ=1
-- bytes that a rendezvous message sends ahead, as Cray MPICH has it with that threshold [approach swap; Cray MPICH sets it (MPICH_ENV_DISPLAY on Crusher); 2026-11-21; untested]
if rccl_alt_read == "1" then
    default("FI_CXI_RDZV_EAGER_SIZE", "0")
else
    default("FI_CXI_RDZV_EAGER_SIZE", "2048")
end
-- none of them by the card's own get, which alt_read replaces [approach swap; HPE, github.com/HewlettPackard/shs-ccl-docs 1617c30, rccl_tuning_guide.md; 2026-11-23; untested] if OSU_RCCL_ALT_READ=1
if rccl_alt_read == "1" then
    default("FI_CXI_RDZV_GET_MIN", "0")
end
-- the rendezvous protocol that needs srun --network=disable_rdzv_get [approach swap; HPE, github.com/HewlettPackard/shs-ccl-docs 1617c30, rccl_tuning_guide.md; 2026-11-23; untested] if OSU_RCCL_ALT_READ=1
if rccl_alt_read == "1" then
    default("FI_CXI_RDZV_PROTO", "alt_read")
end
-- every message goes by rendezvous [approach swap; HPE, github.com/HewlettPackard/shs-ccl-docs 1617c30, rccl_tuning_guide.md; 2026-11-23; untested] if OSU_RCCL_ALT_READ=1
-- messages up to this many bytes go eagerly: takes away the step at 8 to 16 KiB of the old default 2048 [approach swap; Cray MPICH sets it (MPICH_ENV_DISPLAY on Crusher); libfabric 2.4 made it the default; 2026-11-21; untested]
if rccl_alt_read == "1" then
    default("FI_CXI_RDZV_THRESHOLD", "0")
else
    default("FI_CXI_RDZV_THRESHOLD", "16384")
end
-- the provider matches messages where the card has no room for more [approach swap; HPE, github.com/HewlettPackard/shs-ccl-docs 1617c30, rccl_tuning_guide.md; 2026-11-23; untested] if OSU_RCCL_ALT_READ=1
if rccl_alt_read == "1" then
    default("FI_CXI_RX_MATCH_MODE", "hybrid")
end
-- the kernel tells libfabric which memory was given back; with libfabric's own default, memhooks, RCCL and NCCL can hang [approach swap; github.com/Lumi-supercomputer/LUMI-AI-Guide, pull request 118; so do NERSC (podman-hpc 1.2.2, nccl.yaml), CSCS (cscs-docs 1660b1e, nccl_env_vars) and HPE, github.com/HewlettPackard/shs-ccl-docs 1617c30, rccl_tuning_guide.md; 2026-09-15; derived]
default("FI_MR_CACHE_MONITOR", "userfaultfd")
-- the provider of this network or an error, never another one in silence [approach swap; fi_fabric(7), FI_PROVIDER; 2026-11-21; derived] if OSU_SINGLE_NODE!=shm
if single_node ~= "shm" then
    default("FI_PROVIDER", "cxi")
end
-- others than the GPU can read its memory over PCIe [approach swap; HPE, github.com/HewlettPackard/shs-ccl-docs 1617c30, rccl_tuning_guide.md; 2026-11-23; untested] if OSU_RCCL_ALT_READ=1
if rccl_alt_read == "1" then
    default("HSA_FORCE_FINE_GRAIN_PCIE", "1")
end
-- MPICH hands buffers in GPU memory to libfabric instead of copying them; off by default [approach swap; github.com/DeiC-HPC/BitBulldozersLab, Docker build pipeline for 4 different container approaches on LUMI: the published runs with MPICH 4.2.3 reach 24 GB/s with it; wheels from 4.1.3 on have the CVAR; 2025-03-07; measured]
default("MPIR_CVAR_CH4_OFI_ENABLE_HMEM", "1")
-- MPICH avoids cxi when all ranks are on one node, and with FI_PROVIDER=cxi nothing else is left [approach swap; MPICH src/mpid/ch4/netmod/ofi/init_provider.c; wheels from 4.2.3 on have it; 2026-11-21; untested] if OSU_SINGLE_NODE!=shm
if single_node ~= "shm" then
    default("MPIR_CVAR_SINGLE_HOST_ENABLED", "0")
end
-- each of the four cards reaches every card of another node [site lumi-25.03; github.com/HewlettPackard/shs-ccl-docs, ccl_env.sh; 2026-11-21; untested]
default("NCCL_CROSS_NIC", "1")
-- RCCL's threads may use all cores of the rank's node: four times the bandwidth in osu_xccl_bw [site lumi-25.03; github.com/DeiC-HPC/BitBulldozersLab, Docker build pipeline for 4 different container approaches on LUMI; 2025-03-07; measured]
default("NCCL_IGNORE_CPU_AFFINITY", "1")
-- RCCL takes the plugin or ends; it would fall back to TCP without a word. Plugins since 1.12 call themselves Libfabric and take this name too [approach swap; HewlettPackard/shs-ccl-docs, ccl_env.sh; github.com/aws/aws-ofi-nccl, pull request 530; 2026-11-21; untested] if OSU_RCCL_STRICT=1
if rccl_strict == "1" then
    default("NCCL_NET", "AWS Libfabric")
end
-- the card reads GPU memory itself also where RCCL would not choose so. Runs of several nodes with ROCm 7 hung with it on LUMI, and lost nothing without [approach swap; HPE, github.com/HewlettPackard/shs-ccl-docs 1617c30, rccl_tuning_guide.md; against it laifs-container-recipes#30, Lumi-supercomputer/LUMI-AI-Guide pull request 97; 2026-11-23; untested] if OSU_RCCL_GDR=1
if rccl_gdr == "1" then
    default("NCCL_NET_GDR_LEVEL", "PHB")
end
-- by full path: it is found whatever the library path is; without it RCCL uses TCP (3 GB/s published) [approach swap; aws-ofi-nccl README; github.com/DeiC-HPC/BitBulldozersLab, Docker build pipeline for 4 different container approaches on LUMI: the published runs; 2026-11-21; derived]
default("NCCL_NET_PLUGIN", "/opt/rccl-plugin/lib/librccl-net.so")
-- RCCL meets and, without a plugin, sends over these interfaces; other ones are slow or lead nowhere [site lumi-25.03; github.com/Lumi-supercomputer/LUMI-training-materials d64bc58c, 202-Binding.md; 2026-06-17; measured]
default("NCCL_SOCKET_IFNAME", "hsn0,hsn1,hsn2,hsn3")
-- read by the entrypoint of this project's images: where the host's libfabric cannot be taken, an error; HPE's goes on with the image's own [approach swap; container-recipes/README.md; 2026-11-21; derived]
default("OSU_SWAP", "require")
-- a step on one node gets a VNI, without which cxi has no key; and the card leaves rendezvous to the provider, as FI_CXI_RDZV_PROTO=alt_read needs [approach swap; srun(1) of Slurm 24.05, --network; HPE, github.com/HewlettPackard/shs-ccl-docs 1617c30, rccl_tuning_guide.md; 2026-11-23; untested] if OSU_RCCL_ALT_READ=1
-- a step on one node gets a VNI, without which cxi has no key [approach swap; github.com/lumi-ai-factory/laifs-container-recipes, pull request 22: jobs of containers on one node of LUMI need it; Slurm 24.05.8: srun reads SLURM_NETWORK (opt.c), switch/hpe_slingshot the word; 2026-03-31; measured] if OSU_SINGLE_NODE!=shm
if rccl_alt_read == "1" then
    default("SLURM_NETWORK", "single_node_vni,disable_rdzv_get")
elseif single_node ~= "shm" then
    default("SLURM_NETWORK", "single_node_vni")
end
-- read by osu-proof: what the ranks are held to
setenv("OSU_PROMISE", "approach=swap container=yes libmpi=image libfabric=host pmi=pmi2 provider=" .. (os.getenv("FI_PROVIDER") or ""))
-- read by osu-container bench: the installation, whose settings.json says what this is
setenv("OSU_MODULE_ROOT", root)
-- read by osu-gpu-bind: GPU, cores, network card
setenv("OSU_GPU_MAP", "0:0xfe000000000000:cxi0 1:0xfe00000000000000:cxi0 2:0xfe0000:cxi1 3:0xfe000000:cxi1 4:0xfe:cxi2 5:0xfe00:cxi2 6:0xfe00000000:cxi3 7:0xfe0000000000:cxi3")
-- ROCR_VISIBLE_DEVICES: the rank sees the GPU next to its cores and no other [LUMI training 2026-04, 202-Binding.md; 2026-06-17; derived]
-- FI_CXI_DEVICE_NAME: open-source MPICH takes the card next to the cores of the rank, or the first; MPICH_OFI_NIC_POLICY means nothing to it [fi_cxi(7), libfabric main caf5652c; 2026-11-21; derived]
setenv("OSU_GPU_VARIABLES", "ROCR_VISIBLE_DEVICES=gcd FI_CXI_DEVICE_NAME=nic")
local sif = pathJoin(root, "osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0.sif")
-- where the user has deleted the installation's copy the site's own is taken
if not isFile(sif) and isFile((os.getenv("LUMI_CONTAINER_REPOSITORY_ROOT") or "") .. "/easybuild-sif-images/osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0.sif") then
    sif = (os.getenv("LUMI_CONTAINER_REPOSITORY_ROOT") or "") .. "/easybuild-sif-images/osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0.sif"
end
if not isFile(sif) and isFile("/appl/local/containers/easybuild-sif-images/osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0.sif") then
    sif = "/appl/local/containers/easybuild-sif-images/osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0.sif"
end
if not isFile(sif) and isFile("/appl/local/laifs/containers/osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0.sif") then
    sif = "/appl/local/laifs/containers/osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0.sif"
end
if not isFile(sif) and isFile("/appl/local/containers/osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0.sif") then
    sif = "/appl/local/containers/osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0.sif"
end
if mode() == "load" and not isFile(sif) then
    LmodError("The image " .. sif .. " is gone. Get it back with: eb osu-container-swap.eb -r --rebuild")
end
-- an error where the image has another size than the one that was installed, a warning where it has another time stamp: its sum would take seconds
local function word(text)
    return "'" .. text:gsub("'", "'\\''") .. "'"
end
local function intact(bytes, time)
    local path, date = pathJoin(root, "osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0.sif"), "!%Y-%m-%d %H:%M:%S UTC"
    local now = mode() == "load" and lfs.attributes(path)
    if not now then return end
    local was = "it had " .. bytes .. " bytes of " .. os.date(date, time) .. ", and has now " .. now.size ..
        " bytes of " .. os.date(date, now.modification)
    if now.size ~= bytes then
        LmodError("The image " .. path .. " is not the one that was installed: " .. was .. ". Install it again: " ..
            "eb osu-container-swap.eb -r --rebuild")
    elseif now.modification ~= time then
        LmodMessage("Warning: The image " .. path .. " was written to since it was installed: " .. was ..
            ". Compare its sum: cd " .. word(root) .. " && sha256sum -c " .. "osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0.sif.sha256" ..
            ". If it differs: module unload " .. myModuleName() .. "; " .. "eb osu-container-swap.eb -r --rebuild" ..
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
    compare("/opt/cray/libfabric/1.22.0/lib64/libfabric.so.1", "libfabric 1.22.0", BYTES, TIME)
    compare("/usr/lib64/libcxi.so.1", "libcxi.so.1", BYTES, TIME)
end
if changed[1] then
    LmodMessage("Warning: The host has changed since this module was installed: " .. table.concat(changed, "; ") ..
        ". Programs may fail or be slow. Install it again: module unload " ..
        myModuleName() .. "; eb osu-container-swap.eb -r --rebuild")
end
-- read by bin/run-in-container: the runtime, how the names of its variables start, and the variable that srun --mpi=pmi2 gives a rank
setenv("MPI_CONTAINER_RUNTIME", "singularity")
setenv("MPI_CONTAINER_PREFIX", "SINGULARITY")
setenv("MPI_CONTAINER_PMI", "pmi2 PMI_FD")
-- read by bin/run-in-container: programs are started through the image's entrypoint, which puts the host's libraries in place
setenv("MPI_CONTAINER_START", "run")
-- /run/cxi: lists of binds that work on LUMI have it: state of the cards for libcxi [singularity-bindings-24.03.eb in github.com/Lumi-supercomputer/LUMI-EasyBuild-contrib fc59dd70; 2026-05-04; measured]
-- /boot/config-{kernel}: libfabric looks there whether the kernel can share GPU memory with the card (DMABUF) [ofiwg/libfabric src/hmem_rocr.c; 2026-11-21; derived]
-- bound by bin/run-in-container where they exist; else the variables behind | are set: SOURCE:TARGET[|NAME=VALUE...]
setenv("MPI_CONTAINER_FILES", "/run/cxi:/run/cxi,/boot/config-{kernel}:/boot/config-{kernel}|FI_HMEM_ROCR_USE_DMABUF=0")
-- CXI_FORK_SAFE: libfabric copies every small message from GPU memory by a slow path where it is set, whatever its value: most probable cause of 21 instead of 2.5 microseconds [libfabric prov/cxi/src/cxip_info.c, cxip_msg.c; 2026-11-21; derived]
-- CXI_FORK_SAFE_HP: libfabric copies every small message from GPU memory by a slow path where it is set, whatever its value: most probable cause of 21 instead of 2.5 microseconds [libfabric prov/cxi/src/cxip_info.c, cxip_msg.c; 2026-11-21; derived]
-- taken away by bin/run-in-container, unless you have set it yourself
local unset = ""
if not os.getenv("CXI_FORK_SAFE") then unset = unset .. "CXI_FORK_SAFE " end
if not os.getenv("CXI_FORK_SAFE_HP") then unset = unset .. "CXI_FORK_SAFE_HP " end
pushenv("MPI_CONTAINER_UNSET", unset)
-- for a runtime that is called directly (bin/run-in-container has the same from call-settings), if OSU_SCOPE!=commands
if scope ~= "commands" then
    -- the entrypoint of the image takes libfabric from there
    append_path("SINGULARITY_BIND", "/opt/cray/libfabric/1.22.0/lib64:/host/lib", ",")
    -- and libcxi, and what these need, from there
    append_path("SINGULARITY_BIND", "/usr:/host/usr", ",")
    -- the users' data and LUMI's software
    append_path("SINGULARITY_BIND", "/pfs:/pfs", ",")
    append_path("SINGULARITY_BIND", "/scratch:/scratch", ",")
    append_path("SINGULARITY_BIND", "/projappl:/projappl", ",")
    append_path("SINGULARITY_BIND", "/project:/project", ",")
    append_path("SINGULARITY_BIND", "/flash:/flash", ",")
    append_path("SINGULARITY_BIND", "/appl:/appl", ",")
    -- the programs can be typed by name in the container
    prepend_path("SINGULARITYENV_PREPEND_PATH", "/opt/osu/bin")
end
