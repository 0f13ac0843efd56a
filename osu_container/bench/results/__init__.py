"""
Read the figures of runs and of publications into one form.

model.py         define Case, Series, Dataset: the figures as compare and report use them
run_files.py     read and write results.jsonl of `osu-container bench` (docs/benchmarks.md)
osu_output.py    parse a table that an OSU program printed
outputs.py       read files with tables of OSU programs, of IMB and of nccl-tests
imported.py      turn such files into a run
references.py    read the published figures; data/ has their CSV files and sources
select.py        resolve what a user enters (a run, published figures) to a Dataset
ratios.py        compute and format the ratio of two curves
"""
