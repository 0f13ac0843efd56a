whatis("Description: stand-in for Cray's programming environment; its compilers are gcc and g++ of this machine")
family("PrgEnv")
setenv("PE_ENV", myModuleName():gsub("^PrgEnv%-", ""):upper())
depends_on("craype", "libfabric", "cray-mpich")
