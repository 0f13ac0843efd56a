"""
The command osu-container check: which approaches will work with an image, told before anything runs.

What it decides by is in easyblocks/generic: core/deciding/verdict.py (rules), core/deciding/trial.py (what would be
loaded), because the easyblock asks the same before it installs. Here is what people see: text, JSON, and the
examination by published results (described.py, published.py). Python 3.6 and its standard library only.
"""
