help([==[

Description
===========
OSU Micro-Benchmarks in a container: everything is in the image, and its MPI is Open MPI.


Usage
=====
MPI:        Open MPI 5.0.11 of the image over libfabric 2.5.1 of the image, provider tcp
srun:       --mpi=pmix, which this module sets (SLURM_MPI_TYPE): srun -N2 -n2 osu_bw H H
commands:   osu_allgather osu_alltoall osu_alltoallv osu_barrier osu_bcast osu_bibw osu_bw osu_gather osu_latency osu_multi_lat osu_scatter (mpi4py 4.1.2 ports)
variables:  FI_PROVIDER OMPI_MCA_mtl OMPI_MCA_opal_common_ofi_provider_include OMPI_MCA_pml PMIX_MCA_gds PMIX_MCA_psec; what you set yourself wins
            osu-explain prints each with its value, reason and source, and every bind
proof:      osu-proof -- srun -N2 -n2 osu_bw H H shows what each rank really loaded and used


More information
================
 - Homepage: https://mvapich.cse.ohio-state.edu/benchmarks/
]==])

whatis([==[Description: osu-container on site workstation: everything is in the image, and its MPI is Open MPI]==])

local root = "@INSTALL@"

conflict("osu-container")
prepend_path("PATH", pathJoin(root, "bin"))
setenv("EBROOTOSUMINCONTAINER", root)
setenv("EBVERSIONOSUMINCONTAINER", "openmpi")


-- openmpi on site workstation: everything is in the image, and its MPI is Open MPI
family("osu_benchmarks")
-- SLURM_MPI_TYPE, binds and library paths are for one MPI: one such module at a time
family("slurm_mpi")
-- MPI ranks find each other through PMI; with another --mpi= each rank is alone
pushenv("SLURM_MPI_TYPE", "pmix")
-- the provider of this network or an error, never another one in silence [approach openmpi; fi_fabric(7), FI_PROVIDER; 2026-11-21; derived]
pushenv("FI_PROVIDER", os.getenv("FI_PROVIDER") or "tcp")
-- that network library is libfabric [approach openmpi; docs.cscs.ch, software/communication/openmpi; 2026-11-21; derived]
pushenv("OMPI_MCA_mtl", os.getenv("OMPI_MCA_mtl") or "ofi")
-- Open MPI leaves out the providers tcp, shm and others unless they are named [approach openmpi; ompi_info --all of 5.0.11, opal_common_ofi_provider_exclude; 2026-11-21; derived]
pushenv("OMPI_MCA_opal_common_ofi_provider_include", os.getenv("OMPI_MCA_opal_common_ofi_provider_include") or "tcp")
-- messages are matched by the network library; left to itself Open MPI takes TCP or shared memory of its own where it knows no fast network [approach openmpi; docs.cscs.ch, software/communication/openmpi; 2026-11-21; derived]
pushenv("OMPI_MCA_pml", os.getenv("OMPI_MCA_pml") or "cm")
-- what ranks tell each other goes by messages: the shared memory for it lies in the spool folder of slurmd, which the container does not show [approach openmpi; PMIX_SERVER_TMPDIR of a step started with srun --mpi=pmix, Slurm 22.05; 2026-11-21; derived]
pushenv("PMIX_MCA_gds", os.getenv("PMIX_MCA_gds") or "hash")
-- the security domain of Slurm's PMIx; otherwise PMIx prints warnings [approach openmpi; docs.cscs.ch, software/communication/openmpi; 2026-11-21; derived]
pushenv("PMIX_MCA_psec", os.getenv("PMIX_MCA_psec") or "native")
-- read by osu-proof: what the ranks are held to
setenv("OSU_PROMISE", "approach=openmpi container=yes libmpi=image libfabric=image pmi=pmix provider=" .. (os.getenv("FI_PROVIDER") or ""))
-- read by osu-container bench: the installation, whose settings.json says what this is
setenv("OSU_MODULE_ROOT", root)
local sif = pathJoin(root, "osu-abi-openmpi-5.0.11-libfabric-2.5.1.sif")
if mode() == "load" and not isFile(sif) then
    LmodError("The image " .. pathJoin(root, "osu-abi-openmpi-5.0.11-libfabric-2.5.1.sif") .. " is gone. Get it back with: eb osu-container-openmpi.eb -r --rebuild")
end
-- where the image is, under the names that LUMI's container modules use
setenv("SIF", sif)
setenv("SIFOSUMINCONTAINER", sif)
setenv("CONTAINERROOT", root)
-- read by bin/run-in-container: the image
setenv("MPI_CONTAINER_IMAGE", sif)
-- read by bin/run-in-container: the runtime, how the names of its variables start, and the variable that srun --mpi=pmix gives a rank
setenv("MPI_CONTAINER_RUNTIME", "apptainer")
setenv("MPI_CONTAINER_PREFIX", "APPTAINER")
setenv("MPI_CONTAINER_PMI", "pmix PMIX_RANK")
-- the programs can be typed by name in the container
prepend_path("APPTAINERENV_PREPEND_PATH", "/opt/osu/bin")
