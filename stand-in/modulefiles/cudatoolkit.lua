whatis("Description: stand-in for CUDA: libraries only, no compiler")
setenv("CUDA_HOME", "@CUDA@")
prepend_path("LD_LIBRARY_PATH", "@CUDA@/lib64")
prepend_path("CRAY_LD_LIBRARY_PATH", "@CUDA@/lib64")
