/* Stand-in for HPE's libcxi, through which libfabric's cxi provider drives the Slingshot card.
   It has the name that programs and libraries ask for, and nothing of what the original does. */
const char osu_container_stand_in_cxi[] = "stand-in, not the real libcxi";
