"""Sample inputs for the rules of SciPy, one module for each of SciPy's; importing this package imports none of them."""
