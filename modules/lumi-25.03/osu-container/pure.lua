-- For reading: an installed module has its own @INSTALL@, @HOST@ and BYTES, and may bind more libraries.
help([==[
OSU Micro-Benchmarks in a container: no library of the host, TCP.

MPI:        MPICH 4.2.3 of the image, libfabric 1.22.0 of the image
image:      osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0.sif
run:        srun -N2 -n2 osu_bw D D
commands:   osu_allgather osu_alltoall osu_alltoallv ... (mpi4py 4.1.2 ports)
binding:    osu-gpu-bind osu_bw D D: binds ranks near GPU and network card
why:        osu-explain; docs/approaches.md of osu-container 1.0.0
proof:      osu-proof -- srun -N2 -n2 osu_bw D D
others:     to start other containers, first run: module unload osu-container
homepage:   https://mvapich.cse.ohio-state.edu/benchmarks/
]==])

whatis([==[Description: osu-container on site lumi-25.03: libraries of the image only; MPI sends over TCP]==])
whatis([==[Keywords: MPI, MPICH, libfabric, container, pure]==])

local root = "@INSTALL@"

conflict("osu-container")
prepend_path("PATH", pathJoin(root, "bin"))
setenv("EBROOTOSUMINCONTAINER", root)
setenv("EBVERSIONOSUMINCONTAINER", "pure")

family("slurm_mpi")                                  -- one MPI at a time
family("containerbindings")                          -- as the system's bind modules
conflict("singularity-bindings", "singularity-userfilesystems", "singularity-slurm-bindings", "singularity-CPEbits",
        "lumi-aif-singularity-bindings")             -- these modules set binds
local image = "osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0.sif"
local sif = pathJoin(root, image)
local folder = os.getenv("LUMI_CONTAINER_REPOSITORY_ROOT") or ""
if not isFile(sif) then sif = pathJoin(folder .. "/easybuild-sif-images", image) end
if not isFile(sif) then sif = pathJoin("/appl/local/containers/easybuild-sif-images", image) end
if not isFile(sif) then sif = pathJoin("/appl/local/laifs/containers", image) end
if not isFile(sif) then sif = pathJoin("/appl/local/containers", image) end
if mode() == "load" and not lfs.attributes(sif) then
    LmodError("The image " .. pathJoin(root, image) .. " is gone. To restore: eb osu-container-pure.eb -r --rebuild")
end
local changes = {}                                   -- differences between the system now and at installation
for name, fits in pairs({ LUMI_STACK_VERSION = "25.03 25.03.dev",
        LUMI_STACK_PARTITION = "G EAP L container common system CrayEnv" }) do
    local value = os.getenv(name) or ""
    if not ("  " .. fits .. " "):find(" " .. value .. " ", 1, true) then table.insert(changes, name .. "=" .. value) end
end
for _, file in ipairs({                              -- sizes in bytes
    { sif, BYTES },
}) do
    local size = lfs.attributes(file[1], "size")
    if size ~= file[2] then table.insert(changes, file[1] .. (size and " has changed" or " is gone")) end
end
if changes[1] and mode() == "load" then
    LmodMessage("Warning: the system has changed since this module was installed: " .. table.concat(changes, "; ") ..
        ". Programs may fail. To reinstall: module unload osu-container; eb osu-container-pure.eb -r --rebuild")
end
setenv("SIF", sif)                                   -- names as in LUMI's container modules
setenv("SIFOSUMINCONTAINER", sif)
setenv("CONTAINERROOT", root)
pushenv("SLURM_MPI_TYPE", "pmi2")                    -- ranks find each other through PMI
local function default(name, value) pushenv(name, os.getenv(name) or value) end -- keeps a value that the user has set
default("FI_PROVIDER", "tcp")                        -- libfabric uses TCP
default("NCCL_CROSS_NIC", "1")                       -- each network card reaches every card of another node
default("NCCL_IGNORE_CPU_AFFINITY", "1")             -- RCCL's threads may use all cores of the node
default("NCCL_NET", "Socket")                        -- RCCL uses TCP
default("NCCL_SOCKET_IFNAME", "hsn0,hsn1,hsn2,hsn3") -- RCCL ranks find each other over these network interfaces
setenv("OSU_MODULE_ROOT", root)                      -- osu-container bench
setenv("OSU_PROMISE", "approach=pure container=yes libmpi=image libfabric=image pmi=pmi2 provider=tcp") -- proof
setenv("OSU_GPU_MAP", "0:0xfe000000000000:cxi0 1:0xfe00000000000000:cxi0 2:0xfe0000:cxi1 3:0xfe000000:cxi1 " ..
        "4:0xfe:cxi2 5:0xfe00:cxi2 6:0xfe00000000:cxi3 7:0xfe0000000000:cxi3") -- osu-gpu-bind
setenv("OSU_GPU_VARIABLES", "ROCR_VISIBLE_DEVICES=gcd") -- osu-gpu-bind
local scope = os.getenv(mode() == "unload" and "OSU_SCOPE_OF_OSU_CONTAINER" or "OSU_SCOPE") or ""
setenv("OSU_SCOPE_OF_OSU_CONTAINER", scope) -- OSU_SCOPE=commands: binds only for commands of this module
local function bind(value) if scope ~= "commands" then append_path("SINGULARITY_BIND", value, ",") end end
bind(pathJoin(root, "host-mpi.sh") .. ":/.singularity.d/env/99-host-mpi.sh") -- sets LD_LIBRARY_PATH
for _, path in ipairs({ "/pfs", "/scratch", "/projappl", "/project", "/flash", "/appl" }) do
    if mode() == "unload" or lfs.attributes(path) then bind(path) end -- skip paths that this node lacks
end
