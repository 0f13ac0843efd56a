/* Stand-in for the HIP runtime of AMD's ROCm.
   It has the name that programs and libraries ask for, and nothing of what the original does. */
const char osu_container_stand_in_amdhip64[] = "stand-in, not the real libamdhip64";
