-- Rendered for reading: an installation has its own @INSTALL@, @HOST@ and BYTES, and what its host's libraries need.
help([==[

Description
===========
OSU Micro-Benchmarks in a container: everything, the network library included,
is in the image.


Usage
=====
MPI:        MPICH 4.2.3, libfabric 1.22.0 of the image
run:        srun -N2 -n2 osu_bw H H
commands:   osu_allgather osu_alltoall osu_alltoallv ...  (mpi4py 4.1.2 ports)
why:        osu-explain; what you set yourself wins over this module
proof:      osu-proof -- srun -N2 -n2 osu_bw H H
containers: one a node for all ranks; OSU_SHARE=0: each its own
others:     module unload osu-container before you start other containers


More information
================
 - Homepage: https://mvapich.cse.ohio-state.edu/benchmarks/
]==])

whatis([==[Description: osu-container on site workstation: everything, the network library included, is in the image (MPI, MPICH, libfabric, container, opensource)]==])

local root = "@INSTALL@"

conflict("osu-container")
prepend_path("PATH", pathJoin(root, "bin"))
setenv("EBROOTOSUMINCONTAINER", root)
setenv("EBVERSIONOSUMINCONTAINER", "opensource")

-- opensource on site workstation: everything, the network library included, is in the image
family("slurm_mpi")                                  -- one MPI at a time
local sif = pathJoin(root, "osu-workstation-mpich-4.2.3-libfabric-1.22.0.sif")
if mode() == "load" and not lfs.attributes(sif) then LmodError("The image " .. sif .. " is gone. Get it back with: eb osu-container-opensource.eb -r --rebuild") end
local other = {}
for _, file in ipairs({                              -- bytes at installation
    { sif, BYTES },
}) do
    local size = lfs.attributes(file[1], "size")
    if size ~= file[2] then table.insert(other, file[1] .. (size and " has changed" or " is gone")) end
end
if mode() == "load" and other[1] then
    LmodMessage("Warning: not as at installation: " .. table.concat(other, "; ") .. ". Programs may fail. " .. "Install it again: module unload osu-container; eb osu-container-opensource.eb -r --rebuild")
end
setenv("SIF", sif)                                   -- names as in LUMI's container modules
setenv("SIFOSUMINCONTAINER", sif)
setenv("CONTAINERROOT", root)
setenv("RUNSCRIPTS", pathJoin(root, "runscripts"))
setenv("RUNSCRIPTSOSUMINCONTAINER", pathJoin(root, "runscripts"))
pushenv("SLURM_MPI_TYPE", "pmi2")                    -- ranks find each other through PMI

local function default(name, value) pushenv(name, os.getenv(name) or value) end -- your own value wins
default("FI_PROVIDER", "tcp")                        -- the provider of this network or an error
default("MPIR_CVAR_CH4_NETMOD", "ofi")               -- the MPICH wheels have the netmods ofi and ucx
default("MPIR_CVAR_ENABLE_GPU", "0")                 -- the node has no GPU
setenv("OSU_MODULE_ROOT", root)                      -- osu-container bench
setenv("OSU_PROMISE", "approach=opensource container=yes libmpi=image libfabric=image pmi=pmi2 provider=tcp") -- osu-proof
local scope = os.getenv(mode() == "unload" and "OSU_SCOPE_OF_OSU_CONTAINER" or "OSU_SCOPE") or ""
setenv("OSU_SCOPE_OF_OSU_CONTAINER", scope)
if scope ~= "commands" then                          -- for every start of the runtime, unless OSU_SCOPE=commands
    append_path("APPTAINER_BIND", pathJoin(root, "host-mpi.sh") .. ":/.singularity.d/env/99-host-mpi.sh", ",") -- puts them in front
end
