-- Rendered for reading. An installed module has its own values where this one has @INSTALL@, @HOST@, BYTES and TIME.
-- Which host libraries there are, their releases and the list of programs are those of a stand-in, not of the system: see tests/stand_in/README.md
help([==[

Description
===========
OSU Micro-Benchmarks in a container: everything, the network library included,
is in the image.


Usage
=====
MPI:        MPICH 4.2.3 of the image over libfabric 1.22.0 of the image,
            provider cxi
srun:       --mpi=pmi2, which this module sets (SLURM_MPI_TYPE):
            srun -N2 -n2 osu_bw H H
commands:   osu_allgather osu_alltoall osu_alltoallv osu_barrier osu_bcast
            osu_bibw osu_bw osu_gather osu_get_bw osu_latency osu_multi_lat
            osu_scatter osu_xccl_allreduce osu_xccl_bw osu_xccl_latency
            (mpi4py 4.1.2 ports)
variables:  FI_CXI_RDZV_EAGER_SIZE FI_CXI_RDZV_THRESHOLD FI_PROVIDER
            MPIR_CVAR_ENABLE_GPU MPIR_CVAR_SINGLE_HOST_ENABLED SLURM_NETWORK;
            what you set yourself wins
            osu-explain prints each with its value, reason and source, and every
            bind
proof:      osu-proof -- srun -N2 -n2 osu_bw H H shows what each rank really
            loaded and used
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

whatis([==[Description: osu-container on site lumi-c-25.03: everything, the network library included, is in the image]==])
whatis([==[Keywords: MPI, MPICH, libfabric, container, opensource]==])

local root = "@INSTALL@"

conflict("osu-container")
prepend_path("PATH", pathJoin(root, "bin"))
setenv("EBROOTOSUMINCONTAINER", root)
setenv("EBVERSIONOSUMINCONTAINER", "opensource")


-- opensource on site lumi-c-25.03: everything, the network library included, is in the image
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
expect("LUMI_STACK_PARTITION", {["C"]=true, ["D"]=true, ["L"]=true, ["container"]=true, ["common"]=true, ["system"]=true, ["CrayEnv"]=true}, " is loaded, and this module is made for LUMI's CPU nodes: on other nodes its ranks get settings and libraries for hardware that is not there")
-- MPI ranks find each other through PMI; with another --mpi= each rank is alone
pushenv("SLURM_MPI_TYPE", "pmi2")
-- switches (module help says what each does): unload goes by what they were at load
local scope = os.getenv(mode() == "unload" and "OSU_SCOPE_OF_OSU_CONTAINER" or "OSU_SCOPE") or ""
setenv("OSU_SCOPE_OF_OSU_CONTAINER", scope)
local single_node = os.getenv(mode() == "unload" and "OSU_SINGLE_NODE_OF_OSU_CONTAINER" or "OSU_SINGLE_NODE") or ""
setenv("OSU_SINGLE_NODE_OF_OSU_CONTAINER", single_node)
-- a default: what you have set yourself wins
local function default(name, value) pushenv(name, os.getenv(name) or value) end
-- bytes that a rendezvous message sends ahead, as Cray MPICH has it with that threshold [approach opensource; Cray MPICH sets it (MPICH_ENV_DISPLAY on Crusher); 2026-11-21; untested]
default("FI_CXI_RDZV_EAGER_SIZE", "2048")
-- messages up to this many bytes go eagerly: takes away the step at 8 to 16 KiB of the old default 2048 [approach opensource; Cray MPICH sets it (MPICH_ENV_DISPLAY on Crusher); libfabric 2.4 made it the default; 2026-11-21; untested]
default("FI_CXI_RDZV_THRESHOLD", "16384")
-- the provider of this network or an error, never another one in silence [approach opensource; fi_fabric(7), FI_PROVIDER; 2026-11-21; derived] if OSU_SINGLE_NODE!=shm
if single_node ~= "shm" then
    default("FI_PROVIDER", "cxi")
end
-- the node has no GPU, and MPICH built with HIP or CUDA would look for one and end in a segmentation fault [approach opensource; MPICH 4.0.2 with HIP 5.7.1 and with CUDA 12.4 (images of family debian) on a node without GPU, with and without, seen here; wheels 3.4.3 to 5.0.2 have it; 2026-11-24; derived]
default("MPIR_CVAR_ENABLE_GPU", "0")
-- MPICH avoids cxi when all ranks are on one node, and with FI_PROVIDER=cxi nothing else is left [approach opensource; MPICH src/mpid/ch4/netmod/ofi/init_provider.c; wheels from 4.2.3 on have it; 2026-11-21; untested] if OSU_SINGLE_NODE!=shm
if single_node ~= "shm" then
    default("MPIR_CVAR_SINGLE_HOST_ENABLED", "0")
end
-- a step on one node gets a VNI, without which cxi has no key [approach opensource; github.com/lumi-ai-factory/laifs-container-recipes, pull request 22: jobs of containers on one node of LUMI need it; Slurm 24.05.8: srun reads SLURM_NETWORK (opt.c), switch/hpe_slingshot the word; 2026-03-31; measured] if OSU_SINGLE_NODE!=shm
if single_node ~= "shm" then
    default("SLURM_NETWORK", "single_node_vni")
end
-- read by osu-proof: what the ranks are held to
setenv("OSU_PROMISE", "approach=opensource container=yes libmpi=image libfabric=image pmi=pmi2 provider=" .. (os.getenv("FI_PROVIDER") or ""))
-- read by osu-container bench: the installation, whose settings.json says what this is
setenv("OSU_MODULE_ROOT", root)
local sif = pathJoin(root, "osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0-libcxi.sif")
-- where the user has deleted the installation's copy the site's own is taken
if not isFile(sif) and isFile((os.getenv("LUMI_CONTAINER_REPOSITORY_ROOT") or "") .. "/easybuild-sif-images/osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0-libcxi.sif") then
    sif = (os.getenv("LUMI_CONTAINER_REPOSITORY_ROOT") or "") .. "/easybuild-sif-images/osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0-libcxi.sif"
end
if not isFile(sif) and isFile("/appl/local/containers/easybuild-sif-images/osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0-libcxi.sif") then
    sif = "/appl/local/containers/easybuild-sif-images/osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0-libcxi.sif"
end
if not isFile(sif) and isFile("/appl/local/laifs/containers/osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0-libcxi.sif") then
    sif = "/appl/local/laifs/containers/osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0-libcxi.sif"
end
if not isFile(sif) and isFile("/appl/local/containers/osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0-libcxi.sif") then
    sif = "/appl/local/containers/osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0-libcxi.sif"
end
if mode() == "load" and not isFile(sif) then
    LmodError("The image " .. sif .. " is gone. Get it back with: eb osu-container-opensource.eb -r --rebuild")
end
-- an error where the image has another size than the one that was installed, a warning where it has another time stamp: its sum would take seconds
local function word(text)
    return "'" .. text:gsub("'", "'\\''") .. "'"
end
local function intact(bytes, time)
    local path, date = pathJoin(root, "osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0-libcxi.sif"), "!%Y-%m-%d %H:%M:%S UTC"
    local now = mode() == "load" and lfs.attributes(path)
    if not now then return end
    local was = "it had " .. bytes .. " bytes of " .. os.date(date, time) .. ", and has now " .. now.size ..
        " bytes of " .. os.date(date, now.modification)
    if now.size ~= bytes then
        LmodError("The image " .. path .. " is not the one that was installed: " .. was .. ". Install it again: " ..
            "eb osu-container-opensource.eb -r --rebuild")
    elseif now.modification ~= time then
        LmodMessage("Warning: The image " .. path .. " was written to since it was installed: " .. was ..
            ". Compare its sum: cd " .. word(root) .. " && sha256sum -c " .. "osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0-libcxi.sif.sha256" ..
            ". If it differs: module unload " .. myModuleName() .. "; " .. "eb osu-container-opensource.eb -r --rebuild" ..
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
-- read by bin/run-in-container: the runtime, how the names of its variables start, and the variable that srun --mpi=pmi2 gives a rank
setenv("MPI_CONTAINER_RUNTIME", "singularity")
setenv("MPI_CONTAINER_PREFIX", "SINGULARITY")
setenv("MPI_CONTAINER_PMI", "pmi2 PMI_FD")
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
