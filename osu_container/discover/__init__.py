"""
Survey this system and describe the system as a site, for `osu-container discover`.

All files of this package need only Python 3.6 and its standard library.
"""
