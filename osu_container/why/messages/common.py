"""Sources and sentences that entries of several subjects share."""
DOCS = 'docs/troubleshooting.md'
OURS = 'seen by this project, 2026-11'
WRAPPER = 'easyconfigs/o/osu-container/run-in-container'
ENTRYPOINT = 'container-recipes/entrypoint/osu-entrypoint'
GPU_BIND = 'easyconfigs/o/osu-container/osu-gpu-bind'
PORT = 'easyconfigs/o/osu-native/osu-port'
SLURM = 'Slurm 22.05, seen by this project, 2026-11'
LOADER = 'glibc, ld.so(8); seen by this project, 2026-11'
APPTAINER = 'Apptainer 1.4.5, seen by this project, 2026-11'
LMOD = 'Lmod 8.6 and 8.7, seen by this project, 2026-11'
DEIC = 'github.com/DeiC-HPC/BitBulldozersLab'
AGAIN = "Install the module again: eb osu-container-APPROACH.eb -r --rebuild."
