/* Stand-in for HPE's PALS, which tells Cray PMI about the launcher.
   It has the name that programs and libraries ask for, and nothing of what the original does. */
const char osu_container_stand_in_pals[] = "stand-in, not the real libpals";
