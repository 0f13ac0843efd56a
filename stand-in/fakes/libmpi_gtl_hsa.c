/* Stand-in for the GPU transport layer of Cray MPICH, which moves messages from and to the memory of AMD's GPUs.
   It has the name that programs and libraries ask for, and nothing of what the original does. */
const char osu_container_stand_in_mpi_gtl_hsa[] = "stand-in, not the real libmpi_gtl_hsa";
