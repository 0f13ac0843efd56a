-- Rendered for reading. An installed module has its own values where this one has @INSTALL@, @HOST@, BYTES and TIME.
help([==[

Description
===========
OSU Micro-Benchmarks in a container: its entrypoint puts the host's network
library in place.


Usage
=====
MPI:        MPICH 4.2.3 of the image over libfabric 2.5.1 of the host, provider
            tcp
srun:       --mpi=pmi2, which this module sets (SLURM_MPI_TYPE):
            srun -N2 -n2 osu_bw H H
commands:   osu_allgather osu_alltoall osu_alltoallv osu_barrier osu_bcast
            osu_bibw osu_bw osu_gather osu_get_bw osu_latency osu_multi_lat
            osu_scatter (mpi4py 4.1.2 ports)
variables:  FI_PROVIDER MPIR_CVAR_CH4_NETMOD MPIR_CVAR_ENABLE_GPU OSU_SWAP; what
            you set yourself wins
            osu-explain prints each with its value, reason and source, and every
            bind
proof:      osu-proof -- srun -N2 -n2 osu_bw H H shows what each rank really
            loaded and used
containers: one on each node for all its ranks; export OSU_SHARE=0 gives each
            rank its own
switch:     export OSU_SCOPE=commands before module load: binds, library paths
            and preloads are for the commands of this module alone, not for
            other containers that are started in the same shell, nor for a
            runtime that is called directly


More information
================
 - Homepage: https://mvapich.cse.ohio-state.edu/benchmarks/
]==])

whatis([==[Description: osu-container on site workstation: the image's entrypoint puts the host's network library in place of its own]==])
whatis([==[Keywords: MPI, MPICH, libfabric, container, swap]==])

local root = "@INSTALL@"

conflict("osu-container")
prepend_path("PATH", pathJoin(root, "bin"))
setenv("EBROOTOSUMINCONTAINER", root)
setenv("EBVERSIONOSUMINCONTAINER", "swap")


-- swap on site workstation: the image's entrypoint puts the host's network library in place of its own
-- SLURM_MPI_TYPE, binds and library paths are for one MPI: one such module at a time
family("slurm_mpi")
-- MPI ranks find each other through PMI; with another --mpi= each rank is alone
pushenv("SLURM_MPI_TYPE", "pmi2")
-- switches (module help says what each does): unload goes by what they were at load
local scope = os.getenv(mode() == "unload" and "OSU_SCOPE_OF_OSU_CONTAINER" or "OSU_SCOPE") or ""
setenv("OSU_SCOPE_OF_OSU_CONTAINER", scope)
-- a default: what you have set yourself wins
local function default(name, value) pushenv(name, os.getenv(name) or value) end
-- the provider of this network or an error, never another one in silence [approach swap; fi_fabric(7), FI_PROVIDER; 2026-11-21; derived]
default("FI_PROVIDER", "tcp")
-- the MPICH wheels have the netmods ofi and ucx; only ofi is compared here [site workstation; readelf -d libmpi.so.12 of the wheels 4.2.3 and 5.0.2: both need libfabric and libucp; 2026-11-21; measured]
default("MPIR_CVAR_CH4_NETMOD", "ofi")
-- the node has no GPU, and MPICH built with HIP or CUDA would look for one and end in a segmentation fault [approach swap; MPICH 4.0.2 with HIP 5.7.1 and with CUDA 12.4 (images of family debian) on a node without GPU, with and without, seen here; wheels 3.4.3 to 5.0.2 have it; 2026-11-24; derived]
default("MPIR_CVAR_ENABLE_GPU", "0")
-- read by the entrypoint of this project's images: where the host's libfabric cannot be taken, an error; HPE's goes on with the image's own [approach swap; container-recipes/README.md; 2026-11-21; derived]
default("OSU_SWAP", "require")
-- read by osu-proof: what the ranks are held to
setenv("OSU_PROMISE", "approach=swap container=yes libmpi=image libfabric=host pmi=pmi2 provider=" .. (os.getenv("FI_PROVIDER") or ""))
-- read by osu-container bench: the installation, whose settings.json says what this is
setenv("OSU_MODULE_ROOT", root)
local sif = pathJoin(root, "osu-workstation-mpich-4.2.3-libfabric-1.22.0.sif")
if mode() == "load" and not isFile(sif) then
    LmodError("The image " .. sif .. " is gone. Get it back with: eb osu-container-swap.eb -r --rebuild")
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
            "eb osu-container-swap.eb -r --rebuild")
    elseif now.modification ~= time then
        LmodMessage("Warning: The image " .. path .. " was written to since it was installed: " .. was ..
            ". Compare its sum: cd " .. word(root) .. " && sha256sum -c " .. "osu-workstation-mpich-4.2.3-libfabric-1.22.0.sif.sha256" ..
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
    compare("@HOST@/opt/mpich/5.0.2/lib/mpich/libfabric.so.1", "libfabric 2.5.1", BYTES, TIME)
end
if changed[1] then
    LmodMessage("Warning: The host has changed since this module was installed: " .. table.concat(changed, "; ") ..
        ". Programs may fail or be slow. Install it again: module unload " ..
        myModuleName() .. "; eb osu-container-swap.eb -r --rebuild")
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
-- read by bin/run-in-container: programs are started through the image's entrypoint, which puts the host's libraries in place
setenv("MPI_CONTAINER_START", "run")
-- for a runtime that is called directly (bin/run-in-container has the same from call-settings), if OSU_SCOPE!=commands
if scope ~= "commands" then
    -- the entrypoint of the image takes libfabric from there
    append_path("APPTAINER_BIND", "@HOST@/opt/mpich/5.0.2/lib/mpich:/host/lib", ",")
    -- the programs can be typed by name in the container
    prepend_path("APPTAINERENV_PREPEND_PATH", "/opt/osu/bin")
end
