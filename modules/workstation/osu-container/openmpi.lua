-- Rendered for reading: an installation has its own @INSTALL@, @HOST@ and BYTES, and what its host's libraries need.
help([==[

Description
===========
OSU Micro-Benchmarks in a container: everything is in the image, and its MPI is
Open MPI.


Usage
=====
MPI:        Open MPI 5.0.11, libfabric 2.5.1 of the image
run:        srun -N2 -n2 osu_bw H H
commands:   osu_allgather osu_alltoall osu_alltoallv ...  (mpi4py 4.1.2 ports)
why:        osu-explain; what you set yourself wins over this module
proof:      osu-proof -- srun -N2 -n2 osu_bw H H
settings:   module load osu-settings/NAME: linkx
containers: one a node for all ranks; OSU_SHARE=0: each its own
others:     module unload osu-container before you start other containers


More information
================
 - Homepage: https://mvapich.cse.ohio-state.edu/benchmarks/
]==])

whatis([==[Description: osu-container on site workstation: everything is in the image, and its MPI is Open MPI (MPI, Open MPI, libfabric, container, openmpi)]==])

local root = "@INSTALL@"

conflict("osu-container")
prepend_path("PATH", pathJoin(root, "bin"))
setenv("EBROOTOSUMINCONTAINER", root)
setenv("EBVERSIONOSUMINCONTAINER", "openmpi")

-- openmpi on site workstation: everything is in the image, and its MPI is Open MPI
family("slurm_mpi")                                  -- one MPI at a time
local sif = pathJoin(root, "osu-abi-openmpi-5.0.11-libfabric-2.5.1.sif")
if mode() == "load" and not lfs.attributes(sif) then LmodError("The image " .. sif .. " is gone. Get it back with: eb osu-container-openmpi.eb -r --rebuild") end
local other = {}
for _, file in ipairs({                              -- bytes at installation
    { sif, BYTES },
}) do
    local size = lfs.attributes(file[1], "size")
    if size ~= file[2] then table.insert(other, file[1] .. (size and " has changed" or " is gone")) end
end
if mode() == "load" and other[1] then
    LmodMessage("Warning: not as at installation: " .. table.concat(other, "; ") .. ". Programs may fail. " .. "Install it again: module unload osu-container; eb osu-container-openmpi.eb -r --rebuild")
end
setenv("SIF", sif)                                   -- names as in LUMI's container modules
setenv("SIFOSUMINCONTAINER", sif)
setenv("CONTAINERROOT", root)
setenv("RUNSCRIPTS", pathJoin(root, "runscripts"))
setenv("RUNSCRIPTSOSUMINCONTAINER", pathJoin(root, "runscripts"))
pushenv("SLURM_MPI_TYPE", "pmix")                    -- ranks find each other through PMI

local function default(name, value) pushenv(name, os.getenv(name) or value) end -- your own value wins
default("FI_PROVIDER", "tcp")                        -- the provider of this network or an error
default("OMPI_MCA_mpi_yield_when_idle", "1")         -- waiting ranks of Open MPI give their core away
default("OMPI_MCA_mtl", "ofi")                       -- that network library is libfabric
default("OMPI_MCA_opal_common_ofi_provider_include", "tcp") -- Open MPI leaves out the providers tcp
default("OMPI_MCA_pml", "cm")                        -- messages are matched by the network library
default("PMIX_MCA_gds", "hash")                      -- what ranks tell each other goes by messages
default("PMIX_MCA_psec", "native")                   -- the security domain of Slurm's PMIx
setenv("OSU_MODULE_ROOT", root)                      -- osu-container bench
setenv("OSU_PROMISE", "approach=openmpi container=yes libmpi=image libfabric=image pmi=pmix provider=tcp") -- osu-proof
prepend_path("MODULEPATH", pathJoin(root, "settings")) -- module load osu-settings/...
local scope = os.getenv(mode() == "unload" and "OSU_SCOPE_OF_OSU_CONTAINER" or "OSU_SCOPE") or ""
setenv("OSU_SCOPE_OF_OSU_CONTAINER", scope)
if scope ~= "commands" then                          -- for every start of the runtime, unless OSU_SCOPE=commands
    append_path("APPTAINER_BIND", pathJoin(root, "host-mpi.sh") .. ":/.singularity.d/env/99-host-mpi.sh", ",") -- puts them in front
end
