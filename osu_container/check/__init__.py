"""
Predict which approaches work with an image, without running the image.

The package defines the command `osu-container check`. The rules are in osu_container/verdict,
because the easyblock applies the same rules. This package prints the verdicts. If this machine
lacks the files of a host or of an image, the package describes the host or the image. The package
uses only Python 3.6 and its standard library.
"""
