-- Rendered for reading. An installed module has its own values where this one has @INSTALL@, @HOST@, BYTES and TIME.
-- Which host libraries there are, their releases and the list of programs are those of a stand-in, not of the system: see tests/stand_in/README.md
help([==[

Description
===========
OSU Micro-Benchmarks in a container: everything is in the image, and its MPI is
Open MPI.


Usage
=====
MPI:        Open MPI 5.0.11 of the image over libfabric 2.5.1 of the image,
            provider cxi
srun:       --mpi=pmix, which this module sets (SLURM_MPI_TYPE):
            srun -N2 -n2 osu_bw D D
commands:   osu_allgather osu_alltoall osu_alltoallv osu_barrier osu_bcast
            osu_bibw osu_bw osu_gather osu_get_bw osu_latency osu_multi_lat
            osu_scatter osu_xccl_allreduce osu_xccl_bw osu_xccl_latency
            (mpi4py 4.1.2 ports)
variables:  FI_CXI_DEFAULT_CQ_SIZE FI_CXI_DEFAULT_TX_SIZE
            FI_CXI_DISABLE_HOST_REGISTER FI_CXI_RDZV_EAGER_SIZE
            FI_CXI_RDZV_GET_MIN FI_CXI_RDZV_PROTO FI_CXI_RDZV_THRESHOLD
            FI_CXI_RX_MATCH_MODE FI_HMEM_CUDA_USE_GDRCOPY FI_LNX_PROV_LINKS
            FI_MR_CACHE_MONITOR FI_PROVIDER FI_SHM_USE_XPMEM NCCL_CROSS_NIC
            NCCL_NET NCCL_NET_GDR_LEVEL NCCL_PROTO NCCL_SOCKET_IFNAME
            OMPI_MCA_btl OMPI_MCA_mtl OMPI_MCA_mtl_ofi_av
            OMPI_MCA_opal_common_ofi_provider_include OMPI_MCA_pml PMIX_MCA_gds
            PMIX_MCA_psec SLURM_NETWORK; what you set yourself wins
            osu-explain prints each with its value, reason and source, and every
            bind
proof:      osu-proof -- srun -N2 -n2 osu_bw D D shows what each rank really
            loaded and used
containers: one on each node for all its ranks; export OSU_SHARE=0 gives each
            rank its own
binding:    srun ... osu-gpu-bind osu_bw D D puts ranks next to their GPU and
            network card
switch:     export OSU_LINKX=1 before module load: LINKx, an experiment: the
            provider lnx takes shared memory within a node and the network's
            provider between nodes. It is known to hang, to be slow or to end
            with an error (github.com/ofiwg/libfabric/issues/10712, 11231,
            11392, 11900, 11987)
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


More information
================
 - Homepage: https://mvapich.cse.ohio-state.edu/benchmarks/
]==])

whatis([==[Description: osu-container on site alps: everything is in the image, and its MPI is Open MPI]==])
whatis([==[Keywords: MPI, Open MPI, libfabric, container, openmpi]==])

local root = "@INSTALL@"

conflict("osu-container")
prepend_path("PATH", pathJoin(root, "bin"))
setenv("EBROOTOSUMINCONTAINER", root)
setenv("EBVERSIONOSUMINCONTAINER", "openmpi")


-- openmpi on site alps: everything is in the image, and its MPI is Open MPI
-- SLURM_MPI_TYPE, binds and library paths are for one MPI: one such module at a time
family("slurm_mpi")
-- MPI ranks find each other through PMI; with another --mpi= each rank is alone
pushenv("SLURM_MPI_TYPE", "pmix")
-- switches (module help says what each does): unload goes by what they were at load
local linkx = os.getenv(mode() == "unload" and "OSU_LINKX_OF_OSU_CONTAINER" or "OSU_LINKX") or ""
setenv("OSU_LINKX_OF_OSU_CONTAINER", linkx)
local rccl_alt_read = os.getenv(mode() == "unload" and "OSU_RCCL_ALT_READ_OF_OSU_CONTAINER" or "OSU_RCCL_ALT_READ") or ""
setenv("OSU_RCCL_ALT_READ_OF_OSU_CONTAINER", rccl_alt_read)
local rccl_strict = os.getenv(mode() == "unload" and "OSU_RCCL_STRICT_OF_OSU_CONTAINER" or "OSU_RCCL_STRICT") or ""
setenv("OSU_RCCL_STRICT_OF_OSU_CONTAINER", rccl_strict)
local scope = os.getenv(mode() == "unload" and "OSU_SCOPE_OF_OSU_CONTAINER" or "OSU_SCOPE") or ""
setenv("OSU_SCOPE_OF_OSU_CONTAINER", scope)
-- a default: what you have set yourself wins
local function default(name, value) pushenv(name, os.getenv(name) or value) end
-- room for the completions of large jobs [approach openmpi; HPE, github.com/HewlettPackard/shs-ccl-docs 1617c30, rccl_tuning_guide.md; 2026-11-23; untested] if OSU_RCCL_ALT_READ=1
-- room for the completions of large jobs of NCCL [site alps; CSCS documentation, NCCL (github.com/eth-cscs/cscs-docs 1660b1e, docs/software/communication/nccl_env_vars); 2026-11-23; derived]
if rccl_alt_read == "1" then
    default("FI_CXI_DEFAULT_CQ_SIZE", "131072")
else
    default("FI_CXI_DEFAULT_CQ_SIZE", "131072")
end
-- room for what large jobs send before anybody waits for it [approach openmpi; HPE, github.com/HewlettPackard/shs-ccl-docs 1617c30, rccl_tuning_guide.md; 2026-11-23; untested] if OSU_RCCL_ALT_READ=1
-- room for what NCCL sends before anybody waits for it: the most that the provider takes (cxip.h, CXIP_MAX_TX_SIZE); of 32768, as CSCS wrote in 2025, it makes its default [site alps; CSCS, github.com/eth-cscs/alps-extended-images 28a874b, Alps-Images/common/alps-runtime.env; eth-cscs/alps-uenv pull request 316; 2026-11-23; derived]
if rccl_alt_read == "1" then
    default("FI_CXI_DEFAULT_TX_SIZE", "2048")
else
    default("FI_CXI_DEFAULT_TX_SIZE", "16384")
end
-- the provider does not register host memory with CUDA, on which NCCL can wait for ever [approach openmpi; NERSC (podman-hpc 1.2.2, nccl.yaml), CSCS (cscs-docs 1660b1e, nccl_env_vars), HPE (shs-ccl-docs 832182d, nccl_tuning_guide.md); 2026-11-23; derived]
default("FI_CXI_DISABLE_HOST_REGISTER", "1")
-- nothing is sent before the receiver is ready [approach openmpi; HPE, github.com/HewlettPackard/shs-ccl-docs 1617c30, rccl_tuning_guide.md; 2026-11-23; untested] if OSU_RCCL_ALT_READ=1
if rccl_alt_read == "1" then
    default("FI_CXI_RDZV_EAGER_SIZE", "0")
end
-- none of them by the card's own get, which alt_read replaces [approach openmpi; HPE, github.com/HewlettPackard/shs-ccl-docs 1617c30, rccl_tuning_guide.md; 2026-11-23; untested] if OSU_RCCL_ALT_READ=1
if rccl_alt_read == "1" then
    default("FI_CXI_RDZV_GET_MIN", "0")
end
-- the rendezvous protocol that needs srun --network=disable_rdzv_get [approach openmpi; HPE, github.com/HewlettPackard/shs-ccl-docs 1617c30, rccl_tuning_guide.md; 2026-11-23; untested] if OSU_RCCL_ALT_READ=1
if rccl_alt_read == "1" then
    default("FI_CXI_RDZV_PROTO", "alt_read")
end
-- every message goes by rendezvous [approach openmpi; HPE, github.com/HewlettPackard/shs-ccl-docs 1617c30, rccl_tuning_guide.md; 2026-11-23; untested] if OSU_RCCL_ALT_READ=1
if rccl_alt_read == "1" then
    default("FI_CXI_RDZV_THRESHOLD", "0")
end
-- the provider matches messages where the card has no room for more [approach openmpi; HPE, github.com/HewlettPackard/shs-ccl-docs 1617c30, rccl_tuning_guide.md; 2026-11-23; untested] if OSU_RCCL_ALT_READ=1
if rccl_alt_read == "1" then
    default("FI_CXI_RX_MATCH_MODE", "hybrid")
end
-- small copies from GPU memory by the CPU, through GDRCopy, which is in the image [approach openmpi; eth-cscs/cray-network-stack cce01706, examples/container/osu-ompi, omb-ompi-cxi.toml; 2026-11-21; derived]
default("FI_HMEM_CUDA_USE_GDRCOPY", "1")
-- what lnx links: shared memory with each card, | between the cards [approach openmpi; docs.cscs.ch, software/communication/openmpi, LINKx (experimental); fi_lnx(7); 2026-11-21; derived] if OSU_LINKX=1
if linkx == "1" then
    default("FI_LNX_PROV_LINKS", "shm+cxi:cxi0|shm+cxi:cxi1|shm+cxi:cxi2|shm+cxi:cxi3")
end
-- the kernel tells libfabric which memory was given back; with libfabric's own default, memhooks, RCCL and NCCL can hang [approach openmpi; github.com/Lumi-supercomputer/LUMI-AI-Guide, pull request 118; so do NERSC (podman-hpc 1.2.2, nccl.yaml), CSCS (cscs-docs 1660b1e, nccl_env_vars) and HPE, github.com/HewlettPackard/shs-ccl-docs 1617c30, rccl_tuning_guide.md; 2026-09-15; derived]
default("FI_MR_CACHE_MONITOR", "userfaultfd")
-- LINKx: libfabric's provider lnx, which links others [approach openmpi; docs.cscs.ch, software/communication/openmpi, LINKx (experimental); 2026-11-21; derived] if OSU_LINKX=1
-- the provider of this network or an error, never another one in silence [approach openmpi; fi_fabric(7), FI_PROVIDER; 2026-11-21; derived]
if linkx == "1" then
    default("FI_PROVIDER", "lnx")
else
    default("FI_PROVIDER", "cxi")
end
-- shared memory copies once, by xpmem, where the node has it [approach openmpi; docs.cscs.ch, software/communication/openmpi, LINKx (experimental); 2026-11-21; derived] if OSU_LINKX=1
if linkx == "1" then
    default("FI_SHM_USE_XPMEM", "1")
end
-- each of the four cards reaches every card of another node [site alps; CSCS documentation, NCCL (github.com/eth-cscs/cscs-docs 1660b1e, docs/software/communication/nccl_env_vars); 2026-11-23; derived]
default("NCCL_CROSS_NIC", "1")
-- RCCL takes the plugin or ends; it would fall back to TCP without a word. Plugins since 1.12 call themselves Libfabric and take this name too [approach openmpi; HewlettPackard/shs-ccl-docs, ccl_env.sh; github.com/aws/aws-ofi-nccl, pull request 530; 2026-11-21; untested] if OSU_RCCL_STRICT=1
if rccl_strict == "1" then
    default("NCCL_NET", "AWS Libfabric")
end
-- the card reads GPU memory itself [site alps; CSCS documentation, NCCL (github.com/eth-cscs/cscs-docs 1660b1e, docs/software/communication/nccl_env_vars); 2026-11-23; derived]
default("NCCL_NET_GDR_LEVEL", "PHB")
-- the protocol LL128, a default since NCCL 2.27, is slower over Slingshot, and data came out wrong with it between GH200 (NVIDIA/nccl#2001) [site alps; CSCS documentation, NCCL (github.com/eth-cscs/cscs-docs 1660b1e, docs/software/communication/nccl_env_vars); Sigma2, NCCL on Olivia (documentation.sigma2.no); 2026-11-23; derived]
default("NCCL_PROTO", "^LL128")
-- NCCL meets and, without a plugin, sends over the interfaces whose names begin so [site alps; CSCS, github.com/eth-cscs/alps-extended-images 28a874b, Alps-Images/common/alps-runtime.env; 2026-11-23; derived]
default("NCCL_SOCKET_IFNAME", "hsn")
-- one-sided messages stay off the ways that would go past libfabric, or open the card a second time [approach openmpi; eth-cscs/cray-network-stack cce01706, examples/container/osu-ompi, omb-ompi-cxi.toml; github.com/open-mpi/ompi/issues/13803; 2026-11-21; derived] if OSU_LINKX=1
-- one-sided messages stay off the ways that would go past libfabric, or open the card a second time [approach openmpi; eth-cscs/cray-network-stack cce01706, examples/container/osu-ompi, omb-ompi-cxi.toml; github.com/open-mpi/ompi/issues/13803; 2026-11-21; derived]
if linkx == "1" then
    default("OMPI_MCA_btl", "^tcp,ofi,vader,openib")
else
    default("OMPI_MCA_btl", "^tcp,ofi,vader,openib")
end
-- that network library is libfabric [approach openmpi; docs.cscs.ch, software/communication/openmpi; 2026-11-21; derived]
default("OMPI_MCA_mtl", "ofi")
-- lnx has address tables only: with Open MPI's own choice, a map, MPI_Init fails [approach openmpi; docs.cscs.ch, software/communication/openmpi, LINKx (experimental); Open MPI 5.0.11 over libfabric 2.5.1 on a workstation, lnx over shm, 2026-11-21: osu_latency, osu_bw, osu_alltoall with up to 8 ranks; 2026-11-21; derived] if OSU_LINKX=1
if linkx == "1" then
    default("OMPI_MCA_mtl_ofi_av", "table")
end
-- LINKx: libfabric's provider lnx, which links others [approach openmpi; docs.cscs.ch, software/communication/openmpi, LINKx (experimental); 2026-11-21; derived] if OSU_LINKX=1
-- Open MPI leaves out the providers tcp, shm and others unless they are named [approach openmpi; ompi_info --all of 5.0.11, opal_common_ofi_provider_exclude; 2026-11-21; derived]
if linkx == "1" then
    default("OMPI_MCA_opal_common_ofi_provider_include", "lnx")
else
    default("OMPI_MCA_opal_common_ofi_provider_include", "cxi")
end
-- messages are matched by the network library; left to itself Open MPI takes TCP or shared memory of its own where it knows no fast network. OMPI_MCA_pml=ucx takes UCX instead. Not set where UCX drives the cards: Open MPI then takes the better of what the image has [approach openmpi; docs.cscs.ch, software/communication/openmpi; 2026-11-21; derived]
default("OMPI_MCA_pml", "cm")
-- what ranks tell each other goes by messages: Slurm's PMIx may be of another release, whose shared memory this one cannot read [approach openmpi; on a workstation PMIx 4.2.2 of Slurm offers ds21 and ds12, and that of Open MPI 5.0.11 has hash and shmem2 alone; with shmem2 MPI_Init fails, 2026-11-21; 2026-11-21; derived]
default("PMIX_MCA_gds", "hash")
-- the security domain of Slurm's PMIx; otherwise PMIx prints warnings [approach openmpi; docs.cscs.ch, software/communication/openmpi; 2026-11-21; derived]
default("PMIX_MCA_psec", "native")
-- the card leaves rendezvous to the provider, as FI_CXI_RDZV_PROTO=alt_read needs [approach openmpi; srun(1) of Slurm 24.05, --network; HPE, github.com/HewlettPackard/shs-ccl-docs 1617c30, rccl_tuning_guide.md; 2026-11-23; untested] if OSU_RCCL_ALT_READ=1
if rccl_alt_read == "1" then
    default("SLURM_NETWORK", "disable_rdzv_get")
end
-- read by osu-proof: what the ranks are held to
setenv("OSU_PROMISE", "approach=openmpi container=yes libmpi=image libfabric=image pmi=pmix provider=" .. (os.getenv("FI_PROVIDER") or ""))
-- read by osu-container bench: the installation, whose settings.json says what this is
setenv("OSU_MODULE_ROOT", root)
-- read by osu-gpu-bind: GPU, cores, network card
setenv("OSU_GPU_MAP", "0:0xffffffffffffffffff:cxi0 1:0xffffffffffffffffff000000000000000000:cxi1 2:0xffffffffffffffffff000000000000000000000000000000000000:cxi2 3:0xffffffffffffffffff000000000000000000000000000000000000000000000000000000:cxi3")
-- CUDA_VISIBLE_DEVICES: the rank sees the GPU next to its cores and no other [CUDA C++ Programming Guide, CUDA environment variables; 2026-11-21; derived]
-- FI_CXI_DEVICE_NAME: open-source MPICH takes the card next to the cores of the rank, or the first; MPICH_OFI_NIC_POLICY means nothing to it [fi_cxi(7), libfabric main caf5652c; 2026-11-21; derived]
setenv("OSU_GPU_VARIABLES", "CUDA_VISIBLE_DEVICES=gcd FI_CXI_DEVICE_NAME=nic")
local sif = pathJoin(root, "osu-alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi.sif")
if mode() == "load" and not isFile(sif) then
    LmodError("The image " .. sif .. " is gone. Get it back with: eb osu-container-openmpi.eb -r --rebuild")
end
-- an error where the image has another size than the one that was installed, a warning where it has another time stamp: its sum would take seconds
local function word(text)
    return "'" .. text:gsub("'", "'\\''") .. "'"
end
local function intact(bytes, time)
    local path, date = pathJoin(root, "osu-alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi.sif"), "!%Y-%m-%d %H:%M:%S UTC"
    local now = mode() == "load" and lfs.attributes(path)
    if not now then return end
    local was = "it had " .. bytes .. " bytes of " .. os.date(date, time) .. ", and has now " .. now.size ..
        " bytes of " .. os.date(date, now.modification)
    if now.size ~= bytes then
        LmodError("The image " .. path .. " is not the one that was installed: " .. was .. ". Install it again: " ..
            "eb osu-container-openmpi.eb -r --rebuild")
    elseif now.modification ~= time then
        LmodMessage("Warning: The image " .. path .. " was written to since it was installed: " .. was ..
            ". Compare its sum: cd " .. word(root) .. " && sha256sum -c " .. "osu-alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi.sif.sha256" ..
            ". If it differs: module unload " .. myModuleName() .. "; " .. "eb osu-container-openmpi.eb -r --rebuild" ..
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
-- read by bin/run-in-container: the runtime, how the names of its variables start, and the variable that srun --mpi=pmix gives a rank
setenv("MPI_CONTAINER_RUNTIME", "apptainer")
setenv("MPI_CONTAINER_PREFIX", "APPTAINER")
setenv("MPI_CONTAINER_PMI", "pmix PMIX_RANK")
-- read by bin/run-in-container: the ranks of a node run in one container (OSU_SHARE=0: each in its own), else they cannot read each other's memory
setenv("MPI_CONTAINER_SHARE", "1")
-- OMPI_MCA_smsc: Open MPI 5 copies by one of these [docs.open-mpi.org, v5.0.x, The sm BTL: smsc; 2026-11-22; derived]
-- OMPI_MCA_btl_vader_single_copy_mechanism: the same of Open MPI 4 [github.com/open-mpi/ompi/issues/4948; 2026-11-22; derived]
-- UCX_TLS: UCX takes CMA for all it can reach [github.com/openucx/ucx/issues/8958; 2026-11-22; derived]
-- FI_SHM_DISABLE_CMA: libfabric's shared memory takes CMA where it can [fi_shm(7); 2026-11-22; derived]
-- set by bin/run-in-container for ranks that have a container of their own
setenv("MPI_CONTAINER_APART", "OMPI_MCA_smsc=^cma,xpmem,knem OMPI_MCA_btl_vader_single_copy_mechanism=none UCX_TLS=^cma,xpmem,knem FI_SHM_DISABLE_CMA=1")
-- /run/cxi: lists of binds that work on LUMI have it: state of the cards for libcxi [singularity-bindings-24.03.eb in LUMI-EasyBuild-contrib fc59dd70; elsewhere nobody says so, and it is skipped where it is not there; 2026-05-04; untested]
-- {tmpfs}/spmix_appdir_{SLURM_JOB_UID}_{SLURM_JOB_ID}.{SLURM_STEP_ID}: ranks of Open MPI meet in this folder, which Slurm's PMIx makes below TmpFS: without it MPI_Init ends with a segmentation fault. /tmp is in the container, another TmpFS is not [github.com/sarus-suite/sarus-hooks, src/pmix/PMIxHook.cpp, 2025-10-24; steps of Slurm 22.05 on a workstation; 2026-11-21; derived]
-- {tmpfs}/spmix_appdir_{SLURM_JOB_ID}.{SLURM_STEP_ID}: ranks of Open MPI meet in this folder, which Slurm's PMIx makes below TmpFS: without it MPI_Init ends with a segmentation fault. /tmp is in the container, another TmpFS is not [github.com/sarus-suite/sarus-hooks, src/pmix/PMIxHook.cpp, 2025-10-24; steps of Slurm 22.05 on a workstation; 2026-11-21; derived]
-- {PMIX_SERVER_TMPDIR}: folder of Slurm's PMIx below SlurmdSpoolDir, for shared memory with the ranks; not needed while PMIX_MCA_gds is hash [github.com/sarus-suite/sarus-hooks, src/pmix/PMIxHook.cpp, 2025-10-24; steps of Slurm 22.05 on a workstation; 2026-11-21; derived]
-- bound by bin/run-in-container where they exist; else the variables behind | are set: SOURCE:TARGET[|NAME=VALUE...]
setenv("MPI_CONTAINER_FILES", "/run/cxi:/run/cxi,{tmpfs}/spmix_appdir_{SLURM_JOB_UID}_{SLURM_JOB_ID}.{SLURM_STEP_ID}:{tmpfs}/spmix_appdir_{SLURM_JOB_UID}_{SLURM_JOB_ID}.{SLURM_STEP_ID},{tmpfs}/spmix_appdir_{SLURM_JOB_ID}.{SLURM_STEP_ID}:{tmpfs}/spmix_appdir_{SLURM_JOB_ID}.{SLURM_STEP_ID},{PMIX_SERVER_TMPDIR}:{PMIX_SERVER_TMPDIR}")
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
    -- store, the fast file system, and scratch: /ritom on Daint since 2026-09-16 and on Clariden; no page says that Santis has it
    append_path("APPTAINER_BIND", "/capstor:/capstor", ",")
    append_path("APPTAINER_BIND", "/iopsstor:/iopsstor", ",")
    append_path("APPTAINER_BIND", "/ritom:/ritom", ",")
    -- the programs can be typed by name in the container
    prepend_path("APPTAINERENV_PREPEND_PATH", "/opt/osu/bin")
end
