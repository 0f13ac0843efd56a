"""The stand-in: folders with the paths of a system, filled with real MPI and libfabric (stand-in/README.md)."""
