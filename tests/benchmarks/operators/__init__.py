"""The headline benchmarks: our rules for three operators beside what AD systems make of the same operators.

`workloads` says what is computed, `systems` by whom, `measuring` how long it takes, `report` prints and draws it. The
command is ``python -m tests.benchmarks.operators``. No AD system is imported before its turn.
"""
