"""What the runs of the benchmarks gave: reading their output, proving what they loaded, records and tables."""

#: Release of all that is in this package; setup.py reads it here
__version__ = '1.0.0'
