"""The tables of rules: from a call to the rule that serves it."""
