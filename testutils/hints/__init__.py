"""What kind of mistake a wrong rule looks like: known mistakes, each beside what the rule gave."""
