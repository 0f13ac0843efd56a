"""
The command osu-container check: which approaches will work with an image, told before anything
runs.

What it decides by is in osu_container/verdict: rules/, and trial.py (what would be loaded), because
the easyblock asks the same before it installs. Here is what people see: text, JSON, and the
examination by published results (described.py, examination.py). Python 3.6 and its standard library
only.
"""
