"""One call under test: what is called, its rules' answers, and the directions in which they are asked."""

MODES = ("frule", "rrule")
"""The modes of differentiation: forward and reverse."""
