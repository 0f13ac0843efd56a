-- Stand-in for LUMI's Lmod functions (LMOD/SitePackage.lua in LUMI-SoftwareStack 02f17317), of which the recipes call
-- one. Written from what it does: the SIF of the installation, else of LUMI's folder of images, which
-- LUMI_CONTAINER_REPOSITORY_ROOT moves; SIF and SIF<NAME>; an error at load where there is none; SINGULARITY_BIND, with
-- user-software as a SquashFS file or a folder where the installation has it.
require("strict")
require("sandbox")
local lfs = require("lfs")

local function mode_of(path)
    local found = lfs.attributes(path)
    return found and found.mode
end

function create_container_vars(sif, name, installdir, bind)
    local root = os.getenv("LUMI_CONTAINER_REPOSITORY_ROOT") or ""
    local path = pathJoin(installdir, sif)
    if mode_of(path) ~= "file" then
        path = pathJoin(root == "" and "/appl/local/containers" or root, "easybuild-sif-images", sif)
    end
    if mode_of(path) == "file" then
        setenv("SIF", path)
        setenv("SIF" .. name:upper():gsub("%-", "MIN"), path)
    elseif mode() == "load" then
        LmodError("ERROR: Cannot locate the singularity container file " .. sif)
    end
    if bind == nil then
        return
    end
    local own = pathJoin(installdir, "user-software")
    if mode_of(own .. ".squashfs") == "file" then
        bind = bind .. "," .. own .. ".squashfs:/user-software:image-src=/"
    elseif mode_of(own) == "directory" then
        bind = bind .. "," .. own .. ":/user-software"
    end
    setenv("SINGULARITY_BIND", bind)
end

sandbox_registration { create_container_vars = create_container_vars }
