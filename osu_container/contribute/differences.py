"""
In what a contributed module differs from this project's own of the same approach, and why. Anything else is a fault.

A test installs both and compares every variable after `module load`, and what a command hands to the runtime. The
README of a contribution prints this list.
"""

#: (regular expressions of names of variables, why they are not the same)
VARIABLES = [
    (['EBROOT.*', 'EBVERSION.*', 'EBDEVEL.*', r'SIF\w*', 'CONTAINERROOT', 'LOADEDMODULES', '_LMFILES_', 'PATH',
      r'LMOD_\w*', r'_ModuleTable\w*', r'__LMOD\w*'], 'name and folder of another installation'),
    (['CMAKE_PREFIX_PATH', 'XDG_DATA_DIRS'], "EasyBuild's generic easyblocks add the installation to them; a folder of "
                                             'commands is for neither'),
    ([r'RUNSCRIPTS\w*'], "LUMI's modules name a folder of scripts; this project's have none"),
    ([r'MPI_CONTAINER_\w+'], "read by this project's bin/run-in-container alone; bin/osu-run of the recipe has the "
                             'same in it'),
    (['OSU_PROMISE', 'OSU_MODULE_ROOT'], 'read by osu-proof and osu-container bench, which a recipe by itself has not'),
    (['OSU_GPU_MAP', 'OSU_GPU_VARIABLES'], 'read by osu-gpu-bind, which a recipe by itself has not: LUMI\'s '
                                           'documentation has scripts that bind ranks to GPUs and network cards'),
    ([r'OSU_\w+_OF_\w+'], "the project's switches: a contributed module has none"),
    ([r'SINGULARITY\w*'], 'a contributed module binds folders of the system, and links name the libraries in them; '
                          'the user\'s own binds are gone, as create_container_vars sets the variable'),
    (['OSU_PROOF_PROLOG'], 'a switch of this project\'s native module'),
]
#: Of the native build alone
NATIVE = [
    (['NCCL_NET_PLUGIN', 'EBROOTAWSMIN.*'], "RCCL's plugin is LUMI-EasyBuild-contrib's, which RCCL finds on the "
                                            'library path'),
]
#: What shows in no variable of a fresh shell
OTHERWISE = [
    'variables that nobody has shown to do good on LUMI (*untested*) are in no contributed module',
    'the commands of this project pass `--quiet` to the runtime, and share one container on a node',
]


def listed():
    """Return the differences as a Markdown list (str)."""
    lines = [f"{', '.join(f'`{name}`' for name in names)}: {why}" for names, why in VARIABLES + NATIVE]
    return '\n'.join(f'-   {line}.' for line in lines + OTHERWISE)
