"""Random programs over all functions with rules, differentiated in every mode: a search for what nobody has thought of.

``python -m tests.fuzz --help`` tells how the long run is made; ``test_fuzz.py`` runs a little of it.
"""
