/* Stand-in for Cray PMI, through which the ranks of Cray MPICH find each other.
   It has the name that programs and libraries ask for, and nothing of what the original does. */
const char osu_container_stand_in_pmi[] = "stand-in, not the real libpmi";
