whatis("Description: stand-in for Cray's libfabric")
prepend_path("LD_LIBRARY_PATH", "@LIBFABRIC@")
prepend_path("CRAY_LD_LIBRARY_PATH", "@LIBFABRIC@")
prepend_path("PKG_CONFIG_PATH", "@LIBFABRIC@/pkgconfig")
