"""
osu-container check: predict which approaches work with an image, without running it.

osu_container/verdict holds the rules, because the easyblock applies them too; this package prints
the verdicts and describes hosts and images that cannot be read. Python 3.6 and its standard library
only.
"""
