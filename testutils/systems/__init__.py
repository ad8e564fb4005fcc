"""AD systems under test: somebody's in the place of the rule tables, and the reference AD."""
