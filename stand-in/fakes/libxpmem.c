/* Stand-in for libxpmem, by which the ranks of a node share memory.
   It has the name that programs and libraries ask for, and nothing of what the original does. */
const char osu_container_stand_in_xpmem[] = "stand-in, not the real libxpmem";
