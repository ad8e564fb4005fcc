"""Two corpora to measure a tester of derivative rules with: rules that are wrong, and rules that are right.

They were written without looking at what the tester does. `wrong_rules.WRONG` and `right_rules.RIGHT` are dicts from
the name of an entry to the entry; the entries stand in the modules of `wrong` and `right`, and what an entry is stands
in `corpus`. `truth` finds derivatives without any rule, and `test_corpora_are_true.py` proves the entries with it.
"""
