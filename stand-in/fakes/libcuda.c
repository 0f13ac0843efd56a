/* Stand-in for NVIDIA's driver library.
   It has the name that programs and libraries ask for, and nothing of what the original does. */
const char osu_container_stand_in_cuda[] = "stand-in, not the real libcuda";
