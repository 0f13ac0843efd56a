"""
osu-container discover: the facts of this system, as a site. Python 3.6 and its standard library
only.
"""
