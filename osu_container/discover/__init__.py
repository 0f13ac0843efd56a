"""
Inspect this system and describe it as a site, for the command `osu-container discover`.

All files of this package need only Python 3.6 and its standard library.
"""
