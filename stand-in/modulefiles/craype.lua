whatis("Description: stand-in for Cray's compiler drivers cc and CC")
prepend_path("PATH", "@TREE@/opt/cray/pe/craype/bin")
-- On LUMI ld.so.conf names these folders, so that programs find their libraries without any variable.
prepend_path("LD_LIBRARY_PATH", "@FOLDERS@")
prepend_path("CRAY_LD_LIBRARY_PATH", "@FOLDERS@")
