"""Install an MPI container image or a native build as an Lmod module."""
