"""
Read the results of runs and of publications, and represent all results in the same form.

model.py         define the classes Case, Series and Dataset for the commands compare and report
run_files.py     read and write results.jsonl of `osu-container bench` (docs/benchmarks.md)
osu_output.py    parse a table that an OSU program printed
outputs.py       read files with tables of OSU programs, of IMB and of nccl-tests
imported.py      turn files with program output into a run
references.py    read the published results, whose CSV files and sources are in data/
select.py        find the Dataset whose name a user enters (a run or published results)
"""
