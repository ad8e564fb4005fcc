"""How NumPy's calls reach a trace: those that make new values."""
