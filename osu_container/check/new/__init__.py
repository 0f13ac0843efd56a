"""
The command osu-container new: an easyconfig for anybody's MPI container.

commands.py    which programs of an image use MPI: found in its files, or named
easyconfig.py  the text of the easyconfig, its name, and the commands that follow
cli.py         the command

What it decides by is what `osu-container check` and the easyblock decide by (easyblocks/generic).
Nothing in the image is run. Python 3.6 and its standard library only.
"""
