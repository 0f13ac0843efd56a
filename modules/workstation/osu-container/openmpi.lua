-- Rendered for reading. An installed module has its own values where this one has @INSTALL@, @HOST@, BYTES and TIME.
help([==[

Description
===========
OSU Micro-Benchmarks in a container: everything is in the image, and its MPI is
Open MPI.


Usage
=====
MPI:        Open MPI 5.0.11 of the image over libfabric 2.5.1 of the image,
            provider tcp
srun:       --mpi=pmix, which this module sets (SLURM_MPI_TYPE):
            srun -N2 -n2 osu_bw H H
commands:   osu_allgather osu_alltoall osu_alltoallv osu_barrier osu_bcast
            osu_bibw osu_bw osu_gather osu_get_bw osu_latency osu_multi_lat
            osu_scatter (mpi4py 4.1.2 ports)
variables:  FI_LNX_PROV_LINKS FI_PROVIDER FI_SHM_USE_XPMEM OMPI_MCA_btl
            OMPI_MCA_mpi_yield_when_idle OMPI_MCA_mtl OMPI_MCA_mtl_ofi_av
            OMPI_MCA_opal_common_ofi_provider_include OMPI_MCA_pml PMIX_MCA_gds
            PMIX_MCA_psec; what you set yourself wins
            osu-explain prints each with its value, reason and source, and every
            bind
proof:      osu-proof -- srun -N2 -n2 osu_bw H H shows what each rank really
            loaded and used
containers: one on each node for all its ranks; export OSU_SHARE=0 gives each
            rank its own
switch:     export OSU_LINKX=1 before module load: LINKx, an experiment: the
            provider lnx takes shared memory within a node and the network's
            provider between nodes. It is known to hang, to be slow or to end
            with an error (github.com/ofiwg/libfabric/issues/10712, 11231,
            11392, 11900, 11987)
switch:     export OSU_SCOPE=commands before module load: binds, library paths
            and preloads are for the commands of this module alone, not for
            other containers that are started in the same shell, nor for a
            runtime that is called directly


More information
================
 - Homepage: https://mvapich.cse.ohio-state.edu/benchmarks/
]==])

whatis([==[Description: osu-container on site workstation: everything is in the image, and its MPI is Open MPI]==])
whatis([==[Keywords: MPI, Open MPI, libfabric, container, openmpi]==])

local root = "@INSTALL@"

conflict("osu-container")
prepend_path("PATH", pathJoin(root, "bin"))
setenv("EBROOTOSUMINCONTAINER", root)
setenv("EBVERSIONOSUMINCONTAINER", "openmpi")


-- openmpi on site workstation: everything is in the image, and its MPI is Open MPI
-- SLURM_MPI_TYPE, binds and library paths are for one MPI: one such module at a time
family("slurm_mpi")
-- MPI ranks find each other through PMI; with another --mpi= each rank is alone
pushenv("SLURM_MPI_TYPE", "pmix")
-- switches (module help says what each does): unload goes by what they were at load
local linkx = os.getenv(mode() == "unload" and "OSU_LINKX_OF_OSU_CONTAINER" or "OSU_LINKX") or ""
setenv("OSU_LINKX_OF_OSU_CONTAINER", linkx)
local scope = os.getenv(mode() == "unload" and "OSU_SCOPE_OF_OSU_CONTAINER" or "OSU_SCOPE") or ""
setenv("OSU_SCOPE_OF_OSU_CONTAINER", scope)
-- a default: what you have set yourself wins
local function default(name, value) pushenv(name, os.getenv(name) or value) end
-- what lnx links: shared memory with each card, | between the cards [approach openmpi; docs.cscs.ch, software/communication/openmpi, LINKx (experimental); fi_lnx(7); 2026-11-21; derived] if OSU_LINKX=1
if linkx == "1" then
    default("FI_LNX_PROV_LINKS", "shm")
end
-- LINKx: libfabric's provider lnx, which links others [approach openmpi; docs.cscs.ch, software/communication/openmpi, LINKx (experimental); 2026-11-21; derived] if OSU_LINKX=1
-- the provider of this network or an error, never another one in silence [approach openmpi; fi_fabric(7), FI_PROVIDER; 2026-11-21; derived]
if linkx == "1" then
    default("FI_PROVIDER", "lnx")
else
    default("FI_PROVIDER", "tcp")
end
-- shared memory copies once, by xpmem, where the node has it [approach openmpi; docs.cscs.ch, software/communication/openmpi, LINKx (experimental); 2026-11-21; derived] if OSU_LINKX=1
if linkx == "1" then
    default("FI_SHM_USE_XPMEM", "1")
end
-- one-sided messages stay off the ways that would go past libfabric, or open the card a second time [approach openmpi; eth-cscs/cray-network-stack cce01706, examples/container/osu-ompi, omb-ompi-cxi.toml; github.com/open-mpi/ompi/issues/13803; 2026-11-21; derived] if OSU_LINKX=1
if linkx == "1" then
    default("OMPI_MCA_btl", "^tcp,ofi,vader,openib")
end
-- waiting ranks of Open MPI give their core away: there are more of them than cores. osu_alltoall with 8 ranks takes 1.7 instead of 65 ms [site workstation; osu_alltoall, 16 bytes, 8 ranks over tcp on 2 cores, Open MPI 5.0.11, 2026-11-21; 2026-11-21; measured]
default("OMPI_MCA_mpi_yield_when_idle", "1")
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
    default("OMPI_MCA_opal_common_ofi_provider_include", "tcp")
end
-- messages are matched by the network library; left to itself Open MPI takes TCP or shared memory of its own where it knows no fast network. OMPI_MCA_pml=ucx takes UCX instead. Not set where UCX drives the cards: Open MPI then takes the better of what the image has [approach openmpi; docs.cscs.ch, software/communication/openmpi; 2026-11-21; derived]
default("OMPI_MCA_pml", "cm")
-- what ranks tell each other goes by messages: Slurm's PMIx may be of another release, whose shared memory this one cannot read [approach openmpi; on a workstation PMIx 4.2.2 of Slurm offers ds21 and ds12, and that of Open MPI 5.0.11 has hash and shmem2 alone; with shmem2 MPI_Init fails, 2026-11-21; 2026-11-21; derived]
default("PMIX_MCA_gds", "hash")
-- the security domain of Slurm's PMIx; otherwise PMIx prints warnings [approach openmpi; docs.cscs.ch, software/communication/openmpi; 2026-11-21; derived]
default("PMIX_MCA_psec", "native")
-- read by osu-proof: what the ranks are held to
setenv("OSU_PROMISE", "approach=openmpi container=yes libmpi=image libfabric=image pmi=pmix provider=" .. (os.getenv("FI_PROVIDER") or ""))
-- read by osu-container bench: the installation, whose settings.json says what this is
setenv("OSU_MODULE_ROOT", root)
local sif = pathJoin(root, "osu-abi-openmpi-5.0.11-libfabric-2.5.1.sif")
if mode() == "load" and not isFile(sif) then
    LmodError("The image " .. sif .. " is gone. Get it back with: eb osu-container-openmpi.eb -r --rebuild")
end
-- an error where the image has another size than the one that was installed, a warning where it has another time stamp: its sum would take seconds
local function word(text)
    return "'" .. text:gsub("'", "'\\''") .. "'"
end
local function intact(bytes, time)
    local path, date = pathJoin(root, "osu-abi-openmpi-5.0.11-libfabric-2.5.1.sif"), "!%Y-%m-%d %H:%M:%S UTC"
    local now = mode() == "load" and lfs.attributes(path)
    if not now then return end
    local was = "it had " .. bytes .. " bytes of " .. os.date(date, time) .. ", and has now " .. now.size ..
        " bytes of " .. os.date(date, now.modification)
    if now.size ~= bytes then
        LmodError("The image " .. path .. " is not the one that was installed: " .. was .. ". Install it again: " ..
            "eb osu-container-openmpi.eb -r --rebuild")
    elseif now.modification ~= time then
        LmodMessage("Warning: The image " .. path .. " was written to since it was installed: " .. was ..
            ". Compare its sum: cd " .. word(root) .. " && sha256sum -c " .. "osu-abi-openmpi-5.0.11-libfabric-2.5.1.sif.sha256" ..
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
-- {tmpfs}/spmix_appdir_{SLURM_JOB_UID}_{SLURM_JOB_ID}.{SLURM_STEP_ID}: ranks of Open MPI meet in this folder, which Slurm's PMIx makes below TmpFS: without it MPI_Init ends with a segmentation fault. /tmp is in the container, another TmpFS is not [steps of Slurm 22.05 with Open MPI 5.0.11 and --no-mount tmp, 2026-11-21; github.com/sarus-suite/sarus-hooks, src/pmix/PMIxHook.cpp, 2025-10-24; 2026-11-21; measured]
-- {tmpfs}/spmix_appdir_{SLURM_JOB_ID}.{SLURM_STEP_ID}: ranks of Open MPI meet in this folder, which Slurm's PMIx makes below TmpFS: without it MPI_Init ends with a segmentation fault. /tmp is in the container, another TmpFS is not [steps of Slurm 22.05 with Open MPI 5.0.11 and --no-mount tmp, 2026-11-21; github.com/sarus-suite/sarus-hooks, src/pmix/PMIxHook.cpp, 2025-10-24; 2026-11-21; measured]
-- {PMIX_SERVER_TMPDIR}: folder of Slurm's PMIx below SlurmdSpoolDir, for shared memory with the ranks; not needed while PMIX_MCA_gds is hash [github.com/sarus-suite/sarus-hooks, src/pmix/PMIxHook.cpp, 2025-10-24; 2026-11-21; derived]
-- bound by bin/run-in-container where they exist; else the variables behind | are set: SOURCE:TARGET[|NAME=VALUE...]
setenv("MPI_CONTAINER_FILES", "{tmpfs}/spmix_appdir_{SLURM_JOB_UID}_{SLURM_JOB_ID}.{SLURM_STEP_ID}:{tmpfs}/spmix_appdir_{SLURM_JOB_UID}_{SLURM_JOB_ID}.{SLURM_STEP_ID},{tmpfs}/spmix_appdir_{SLURM_JOB_ID}.{SLURM_STEP_ID}:{tmpfs}/spmix_appdir_{SLURM_JOB_ID}.{SLURM_STEP_ID},{PMIX_SERVER_TMPDIR}:{PMIX_SERVER_TMPDIR}")
-- for a runtime that is called directly (bin/run-in-container has the same from call-settings), if OSU_SCOPE!=commands
if scope ~= "commands" then
    -- the programs can be typed by name in the container
    prepend_path("APPTAINERENV_PREPEND_PATH", "/opt/osu/bin")
end
