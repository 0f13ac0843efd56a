"""
osu-container discover: describe this system as a site.

Python 3.6 and its standard library only.
"""
