whatis("Description: stand-in for ROCm: libraries only, no compiler")
setenv("ROCM_PATH", "@ROCM@")
prepend_path("LD_LIBRARY_PATH", "@ROCM@/lib")
prepend_path("CRAY_LD_LIBRARY_PATH", "@ROCM@/lib")
