/* Stand-in for the runtime of NVIDIA's CUDA.
   It has the name that programs and libraries ask for, and nothing of what the original does. */
const char osu_container_stand_in_cudart[] = "stand-in, not the real libcudart";
