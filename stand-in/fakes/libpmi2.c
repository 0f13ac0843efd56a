/* Stand-in for the second library of Cray PMI, with the newer interface.
   It has the name that programs and libraries ask for, and nothing of what the original does. */
const char osu_container_stand_in_pmi2[] = "stand-in, not the real libpmi2";
