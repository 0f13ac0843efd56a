whatis("Description: an MPICH that stands in for Cray MPICH")
family("mpi")
-- For programs linked with another MPICH, which ask for libmpi.so.12
prepend_path("LD_LIBRARY_PATH", "@MPICH_DIR@/lib-abi-mpich")
setenv("CRAY_MPICH_VERSION", myModuleVersion())
setenv("CRAY_MPICH_ROOTDIR", "@MPICH_ROOT@")
setenv("CRAY_MPICH_DIR", "@MPICH_DIR@")
setenv("MPICH_DIR", "@MPICH_DIR@")
prepend_path("CRAY_LD_LIBRARY_PATH", "@MPICH_DIR@/lib")
