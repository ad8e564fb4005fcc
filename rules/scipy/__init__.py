"""Rules for SciPy, one module for each of SciPy's, which is loaded when that one has been imported.

Importing this package imports neither SciPy nor any of its modules.
"""
