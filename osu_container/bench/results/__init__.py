"""
Read the figures of runs and of publications into one form.

model.py         Case, Series, Dataset: the figures as compare and report use them
run_files.py     results.jsonl, the file that `osu-container bench` writes (docs/benchmarks.md)
osu_output.py    parse a table that a program of OSU printed
outputs.py       read files of such tables, of IMB and of nccl-tests; imported.py: as a run
references.py    published figures; data/: their CSVs and sources
select.py        resolve what a user enters (a run, published figures) to a Dataset
ratios.py        compute and format the ratio of two curves
"""
