/* Stand-in for the GPU transport layer of Cray MPICH for NVIDIA's GPUs.
   It has the name that programs and libraries ask for, and nothing of what the original does. */
const char osu_container_stand_in_mpi_gtl_cuda[] = "stand-in, not the real libmpi_gtl_cuda";
