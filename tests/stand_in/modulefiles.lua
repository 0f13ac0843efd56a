-- Modules of a stand-in tree. tests/stand_in/tree.py writes each part into a file of its own, with the paths
-- of the tree for @NAME@.

-- ---- PrgEnv
whatis("Description: stand-in for Cray's programming environment; its compilers are gcc and g++ of this machine")
family("PrgEnv")
setenv("PE_ENV", myModuleName():gsub("^PrgEnv%-", ""):upper())
depends_on("craype", "libfabric", "cray-mpich")

-- ---- cray-mpich-abi
whatis("Description: an MPICH that stands in for Cray MPICH")
family("mpi")
-- For programs linked with another MPICH, which ask for libmpi.so.12
prepend_path("LD_LIBRARY_PATH", "@MPICH_DIR@/lib-abi-mpich")
setenv("CRAY_MPICH_VERSION", myModuleVersion())
setenv("CRAY_MPICH_ROOTDIR", "@MPICH_ROOT@")
setenv("CRAY_MPICH_DIR", "@MPICH_DIR@")
setenv("MPICH_DIR", "@MPICH_DIR@")
prepend_path("CRAY_LD_LIBRARY_PATH", "@MPICH_DIR@/lib")

-- ---- cray-mpich
whatis("Description: an MPICH that stands in for Cray MPICH")
family("mpi")
setenv("CRAY_MPICH_VERSION", myModuleVersion())
setenv("CRAY_MPICH_ROOTDIR", "@MPICH_ROOT@")
setenv("CRAY_MPICH_DIR", "@MPICH_DIR@")
setenv("MPICH_DIR", "@MPICH_DIR@")
prepend_path("CRAY_LD_LIBRARY_PATH", "@MPICH_DIR@/lib")

-- ---- craype-accel
whatis("Description: stand-in for the module that makes cc and CC link the GPU transport layer")
local target = myModuleName():gsub("^craype%-accel%-", ""):gsub("-", "_")
setenv("CRAY_ACCEL_TARGET", target)
setenv("PE_MPICH_GTL_DIR_" .. target, "-L@GTL@")
setenv("PE_MPICH_GTL_LIBS_" .. target, "-l@GTL_NAME@")

-- ---- craype
whatis("Description: stand-in for Cray's compiler drivers cc and CC")
prepend_path("PATH", "@TREE@/opt/cray/pe/craype/bin")
-- On LUMI ld.so.conf names these folders, so that programs find their libraries without any variable.
prepend_path("LD_LIBRARY_PATH", "@FOLDERS@")
prepend_path("CRAY_LD_LIBRARY_PATH", "@FOLDERS@")

-- ---- cudatoolkit
whatis("Description: stand-in for CUDA: libraries only, no compiler")
setenv("CUDA_HOME", "@CUDA@")
prepend_path("LD_LIBRARY_PATH", "@CUDA@/lib64")
prepend_path("CRAY_LD_LIBRARY_PATH", "@CUDA@/lib64")

-- ---- empty
whatis("Description: stand-in for a module of the system, of which only the name counts here")

-- ---- libfabric
whatis("Description: stand-in for Cray's libfabric")
prepend_path("LD_LIBRARY_PATH", "@LIBFABRIC@")
prepend_path("CRAY_LD_LIBRARY_PATH", "@LIBFABRIC@")
prepend_path("PKG_CONFIG_PATH", "@LIBFABRIC@/pkgconfig")

-- ---- rocm
whatis("Description: stand-in for ROCm: libraries only, no compiler")
setenv("ROCM_PATH", "@ROCM@")
prepend_path("LD_LIBRARY_PATH", "@ROCM@/lib")
prepend_path("CRAY_LD_LIBRARY_PATH", "@ROCM@/lib")
