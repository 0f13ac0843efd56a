"""
Figures of runs and of references, in one form.

model.py         Case, Series, Dataset: what compare and report work on, wherever the figures come from
files.py         results.jsonl, the file that `osu-container bench` writes (docs/benchmarks.md)
references.py    published figures, and the references that a user or a site added
select.py        what a user types (a run, a module, a reference) -> Dataset
data/            the published figures, as CSV, with their sources
"""
