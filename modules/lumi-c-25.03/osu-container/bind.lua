-- Rendered for reading. An installed module has its own values where this one has @INSTALL@, @HOST@, BYTES and TIME.
-- Which host libraries there are, their releases and the list of programs are those of a stand-in, not of the system: see tests/stand_in/README.md
help([==[

Description
===========
OSU Micro-Benchmarks in a container: the host's MPI and network libraries
replace the image's.


Usage
=====
MPI:        MPICH 3.4.3 of the host over libfabric 1.22.0 of the host, provider
            cxi
srun:       --mpi=cray_shasta, which this module sets (SLURM_MPI_TYPE):
            srun -N2 -n2 osu_bw H H
commands:   osu_allgather osu_alltoall osu_alltoallv osu_barrier osu_bcast
            osu_bibw osu_bw osu_gather osu_get_bw osu_latency osu_multi_lat
            osu_scatter osu_xccl_allreduce osu_xccl_bw osu_xccl_latency
            (mpi4py 4.1.2 ports)
variables:  FI_PROVIDER; what you set yourself wins
            osu-explain prints each with its value, reason and source, and every
            bind
proof:      osu-proof -- srun -N2 -n2 osu_bw H H shows what each rank really
            loaded and used
switch:     export OSU_SCOPE=commands before module load: binds, library paths
            and preloads are for the commands of this module alone, not for
            other containers that are started in the same shell, nor for a
            runtime that is called directly


More information
================
 - Homepage: https://mvapich.cse.ohio-state.edu/benchmarks/
]==])

whatis([==[Description: osu-container on site lumi-c-25.03: the host's MPI and network libraries replace the image's]==])
whatis([==[Keywords: MPI, MPICH, libfabric, container, bind]==])

local root = "@INSTALL@"

conflict("osu-container")
prepend_path("PATH", pathJoin(root, "bin"))
setenv("EBROOTOSUMINCONTAINER", root)
setenv("EBVERSIONOSUMINCONTAINER", "bind")


-- bind on site lumi-c-25.03: the host's MPI and network libraries replace the image's
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
pushenv("SLURM_MPI_TYPE", "cray_shasta")
-- switches (module help says what each does): unload goes by what they were at load
local scope = os.getenv(mode() == "unload" and "OSU_SCOPE_OF_OSU_CONTAINER" or "OSU_SCOPE") or ""
setenv("OSU_SCOPE_OF_OSU_CONTAINER", scope)
-- a default: what you have set yourself wins
local function default(name, value) pushenv(name, os.getenv(name) or value) end
-- the provider of this network or an error, never another one in silence [approach bind; fi_fabric(7), FI_PROVIDER; 2026-11-21; derived]
default("FI_PROVIDER", "cxi")
-- read by osu-proof: what the ranks are held to
setenv("OSU_PROMISE", "approach=bind container=yes libmpi=host libfabric=host pmi=cray_shasta provider=" .. (os.getenv("FI_PROVIDER") or ""))
-- read by osu-container bench: the installation, whose settings.json says what this is
setenv("OSU_MODULE_ROOT", root)
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
    LmodError("The image " .. sif .. " is gone. Get it back with: eb osu-container-bind.eb -r --rebuild")
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
            "eb osu-container-bind.eb -r --rebuild")
    elseif now.modification ~= time then
        LmodMessage("Warning: The image " .. path .. " was written to since it was installed: " .. was ..
            ". Compare its sum: cd " .. word(root) .. " && sha256sum -c " .. "osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0.sif.sha256" ..
            ". If it differs: module unload " .. myModuleName() .. "; " .. "eb osu-container-bind.eb -r --rebuild" ..
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
    compare("/opt/cray/pe/mpich/8.1.32/ofi/gnu/12.3/lib-abi-mpich/libmpi.so.12", "MPICH 3.4.3", BYTES, TIME)
    compare("/opt/cray/libfabric/1.22.0/lib64/libfabric.so.1", "libfabric 1.22.0", BYTES, TIME)
    compare("/usr/lib64/libcxi.so.1", "libcxi.so.1", BYTES, TIME)
    compare("/opt/cray/pe/pmi/6.1.15/lib/libpmi.so.0", "libpmi.so.0", BYTES, TIME)
    compare("/opt/cray/pe/pmi/6.1.15/lib/libpmi2.so.0", "libpmi2.so.0", BYTES, TIME)
end
if changed[1] then
    LmodMessage("Warning: The host has changed since this module was installed: " .. table.concat(changed, "; ") ..
        ". Programs may fail or be slow. Install it again: module unload " ..
        myModuleName() .. "; eb osu-container-bind.eb -r --rebuild")
end
-- read by bin/run-in-container: the runtime, how the names of its variables start, and the variable that srun --mpi=cray_shasta gives a rank
setenv("MPI_CONTAINER_RUNTIME", "singularity")
setenv("MPI_CONTAINER_PREFIX", "SINGULARITY")
setenv("MPI_CONTAINER_PMI", "cray_shasta PALS_APINFO")
-- /var/spool/slurmd: Cray PMI reads where the ranks are from a file that Slurm writes there [singularity-bindings-24.03.eb in github.com/Lumi-supercomputer/LUMI-EasyBuild-contrib fc59dd70; 2026-05-04; measured]
-- /run/cxi: lists of binds that work on LUMI have it: state of the cards for libcxi [singularity-bindings-24.03.eb in github.com/Lumi-supercomputer/LUMI-EasyBuild-contrib fc59dd70; 2026-05-04; measured]
-- /usr/share/libdrm/amdgpu.ids: libdrm of the host's ROCm reads the names of the GPUs there [github.com/DeiC-HPC/BitBulldozersLab, Docker build pipeline for 4 different container approaches on LUMI; 2025-03-07; measured]
-- bound by bin/run-in-container where they exist; else the variables behind | are set: SOURCE:TARGET[|NAME=VALUE...]
setenv("MPI_CONTAINER_FILES", "/var/spool/slurmd:/var/spool/slurmd,/run/cxi:/run/cxi,/usr/share/libdrm/amdgpu.ids:/usr/share/libdrm/amdgpu.ids")
-- CXI_FORK_SAFE: libfabric copies every small message from GPU memory by a slow path where it is set, whatever its value: most probable cause of 21 instead of 2.5 microseconds [libfabric prov/cxi/src/cxip_info.c, cxip_msg.c; 2026-11-21; derived]
-- CXI_FORK_SAFE_HP: libfabric copies every small message from GPU memory by a slow path where it is set, whatever its value: most probable cause of 21 instead of 2.5 microseconds [libfabric prov/cxi/src/cxip_info.c, cxip_msg.c; 2026-11-21; derived]
-- taken away by bin/run-in-container, unless you have set it yourself
local unset = ""
if not os.getenv("CXI_FORK_SAFE") then unset = unset .. "CXI_FORK_SAFE " end
if not os.getenv("CXI_FORK_SAFE_HP") then unset = unset .. "CXI_FORK_SAFE_HP " end
pushenv("MPI_CONTAINER_UNSET", unset)
-- for a runtime that is called directly (bin/run-in-container has the same from call-settings), if OSU_SCOPE!=commands
if scope ~= "commands" then
    -- Cray MPICH 8.1.32 under the soname of the MPICH ABI, for programs linked with any MPICH
    append_path("SINGULARITY_BIND", "/opt/cray/pe/mpich/8.1.32/ofi/gnu/12.3/lib-abi-mpich/libmpi.so.12:/opt/host-mpi/lib/libmpi.so.12", ",")
    -- the host's network library with its cxi provider; the same for all stacks
    append_path("SINGULARITY_BIND", "/opt/cray/libfabric/1.22.0/lib64/libfabric.so.1:/opt/host-mpi/lib/libfabric.so.1", ",")
    -- the host's libfabric reaches the Slingshot card through it
    append_path("SINGULARITY_BIND", "/usr/lib64/libcxi.so.1:/opt/host-mpi/lib/libcxi.so.1", ",")
    -- Cray MPICH finds its ranks through Cray PMI
    append_path("SINGULARITY_BIND", "/opt/cray/pe/pmi/6.1.15/lib/libpmi.so.0:/opt/host-mpi/lib/libpmi.so.0", ",")
    -- the second library of Cray PMI
    append_path("SINGULARITY_BIND", "/opt/cray/pe/pmi/6.1.15/lib/libpmi2.so.0:/opt/host-mpi/lib/libpmi2.so.0", ",")
    -- Cray PMI asks it about the launcher
    append_path("SINGULARITY_BIND", "/opt/cray/pe/lib64/libpals.so.0:/opt/host-mpi/lib/libpals.so.0", ",")
    -- Cray MPICH shares memory between the ranks of a node by it
    append_path("SINGULARITY_BIND", "/usr/lib64/libxpmem.so.0:/opt/host-mpi/lib/libxpmem.so.0", ",")
    -- the image lacks it, libmpi.so.12 needs it
    append_path("SINGULARITY_BIND", "/opt/cray/pe/mpich/8.1.32/ofi/gnu/12.3/lib-abi-mpich/mpich/libucp.so.0:/opt/host-mpi/lib/libucp.so.0", ",")
    append_path("SINGULARITY_BIND", "/opt/cray/pe/mpich/8.1.32/ofi/gnu/12.3/lib-abi-mpich/mpich/libuct.so.0:/opt/host-mpi/lib/libuct.so.0", ",")
    append_path("SINGULARITY_BIND", "/opt/cray/pe/mpich/8.1.32/ofi/gnu/12.3/lib-abi-mpich/mpich/libucs.so.0:/opt/host-mpi/lib/libucs.so.0", ",")
    append_path("SINGULARITY_BIND", "/opt/cray/pe/mpich/8.1.32/ofi/gnu/12.3/lib-abi-mpich/mpich/libucm.so.0:/opt/host-mpi/lib/libucm.so.0", ",")
    -- the users' data and LUMI's software
    append_path("SINGULARITY_BIND", "/pfs:/pfs", ",")
    append_path("SINGULARITY_BIND", "/scratch:/scratch", ",")
    append_path("SINGULARITY_BIND", "/projappl:/projappl", ",")
    append_path("SINGULARITY_BIND", "/project:/project", ",")
    append_path("SINGULARITY_BIND", "/flash:/flash", ",")
    append_path("SINGULARITY_BIND", "/appl:/appl", ",")
    -- the libraries above go in front of the image's own (ld.so(8): LD_LIBRARY_PATH comes before RUNPATH and ld.so.cache)
    prepend_path("SINGULARITYENV_LD_LIBRARY_PATH", "/opt/host-mpi/lib")
    -- the programs can be typed by name in the container
    prepend_path("SINGULARITYENV_PREPEND_PATH", "/opt/osu/bin")
end
