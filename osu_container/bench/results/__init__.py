"""
Figures of runs and of publications, in one form.

model.py         Case, Series, Dataset: what compare and report work on, wherever the figures come from
run_files.py     results.jsonl, the file that `osu-container bench` writes (docs/benchmarks.md)
osu_output.py    a table that a program of OSU printed -> figures
outputs.py       files of such tables, of IMB and of nccl-tests; imported.py: as a run
references.py    published figures; data/: as CSV, with their sources
select.py        what a user types (a run, published figures) -> Dataset
"""
