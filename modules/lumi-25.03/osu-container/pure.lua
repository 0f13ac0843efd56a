-- Rendered for reading. An installed module has its own values where this one has @INSTALL@, @HOST@, BYTES and TIME.
-- The host is described from public sources: libraries that those below need, and the image lacks, come along in an installation.
help([==[

Description
===========
OSU Micro-Benchmarks in a container: no library of the host, TCP.


Usage
=====
MPI:        MPICH 4.2.3 of the image over libfabric 1.22.0 of the image,
            provider tcp
srun:       --mpi=pmi2, which this module sets (SLURM_MPI_TYPE):
            srun -N2 -n2 osu_bw D D
commands:   osu_allgather osu_alltoall osu_alltoallv osu_barrier osu_bcast
            osu_bibw osu_bw osu_gather osu_get_bw osu_latency osu_multi_lat
            osu_scatter (mpi4py 4.1.2 ports)
variables:  FI_PROVIDER NCCL_CROSS_NIC NCCL_IGNORE_CPU_AFFINITY NCCL_NET
            NCCL_SOCKET_IFNAME; what you set yourself wins
            osu-explain prints each with its value, reason and source, and every
            bind
proof:      osu-proof -- srun -N2 -n2 osu_bw D D shows what each rank really
            loaded and used
binding:    srun ... osu-gpu-bind osu_bw D D puts ranks next to their GPU and
            network card
switch:     export OSU_SCOPE=commands before module load: binds, library paths
            and preloads are for the commands of this module alone, not for
            other containers that are started in the same shell, nor for a
            runtime that is called directly


More information
================
 - Homepage: https://mvapich.cse.ohio-state.edu/benchmarks/
]==])

whatis([==[Description: osu-container on site lumi-25.03: no library of the host: TCP with what the image holds]==])
whatis([==[Keywords: MPI, MPICH, libfabric, container, pure]==])

local root = "@INSTALL@"

conflict("osu-container")
prepend_path("PATH", pathJoin(root, "bin"))
setenv("EBROOTOSUMINCONTAINER", root)
setenv("EBVERSIONOSUMINCONTAINER", "pure")


-- pure on site lumi-25.03: no library of the host: TCP with what the image holds
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
local scope = os.getenv(mode() == "unload" and "OSU_SCOPE_OF_OSU_CONTAINER" or "OSU_SCOPE") or ""
setenv("OSU_SCOPE_OF_OSU_CONTAINER", scope)
-- a default: what you have set yourself wins
local function default(name, value) pushenv(name, os.getenv(name) or value) end
-- without the host's libraries TCP is the only network that is everywhere [approach pure; github.com/DeiC-HPC/BitBulldozersLab, Docker build pipeline for 4 different container approaches on LUMI: the published runs of pure reach about 2 GB/s over TCP; 2025-03-07; measured]
default("FI_PROVIDER", "tcp")
-- each of the four cards reaches every card of another node [site lumi-25.03; github.com/HewlettPackard/shs-ccl-docs, ccl_env.sh; 2026-11-21; untested]
default("NCCL_CROSS_NIC", "1")
-- RCCL's threads may use all cores of the rank's node: four times the bandwidth in osu_xccl_bw [site lumi-25.03; github.com/DeiC-HPC/BitBulldozersLab, Docker build pipeline for 4 different container approaches on LUMI; 2025-03-07; measured]
default("NCCL_IGNORE_CPU_AFFINITY", "1")
-- RCCL over TCP as well, also where the image has a plugin [approach pure; NCCL documentation, NCCL_NET; 2026-11-21; derived]
default("NCCL_NET", "Socket")
-- RCCL meets and, without a plugin, sends over these interfaces; other ones are slow or lead nowhere [site lumi-25.03; github.com/Lumi-supercomputer/LUMI-training-materials d64bc58c, 202-Binding.md; 2026-06-17; measured]
default("NCCL_SOCKET_IFNAME", "hsn0,hsn1,hsn2,hsn3")
-- read by osu-proof: what the ranks are held to
setenv("OSU_PROMISE", "approach=pure container=yes libmpi=image libfabric=image pmi=pmi2 provider=" .. (os.getenv("FI_PROVIDER") or ""))
-- read by osu-container bench: the installation, whose settings.json says what this is
setenv("OSU_MODULE_ROOT", root)
-- read by osu-gpu-bind: GPU, cores, network card
setenv("OSU_GPU_MAP", "0:0xfe000000000000:cxi0 1:0xfe00000000000000:cxi0 2:0xfe0000:cxi1 3:0xfe000000:cxi1 4:0xfe:cxi2 5:0xfe00:cxi2 6:0xfe00000000:cxi3 7:0xfe0000000000:cxi3")
-- ROCR_VISIBLE_DEVICES: the rank sees the GPU next to its cores and no other [LUMI training 2026-04, 202-Binding.md; 2026-06-17; derived]
setenv("OSU_GPU_VARIABLES", "ROCR_VISIBLE_DEVICES=gcd")
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
    LmodError("The image " .. sif .. " is gone. Get it back with: eb osu-container-pure.eb -r --rebuild")
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
            "eb osu-container-pure.eb -r --rebuild")
    elseif now.modification ~= time then
        LmodMessage("Warning: The image " .. path .. " was written to since it was installed: " .. was ..
            ". Compare its sum: cd " .. word(root) .. " && sha256sum -c " .. "osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0.sif.sha256" ..
            ". If it differs: module unload " .. myModuleName() .. "; " .. "eb osu-container-pure.eb -r --rebuild" ..
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
