"""What the runs of the benchmarks gave: reading their output, proving what they loaded, records and tables."""
