"""Other AD systems consume the rules: one module for each, imported on demand.

``rulescore.backends.jax``, ``rulescore.backends.torch`` and ``rulescore.backends.autograd`` have the same shape:
``to_X`` makes a function of that system from any Python function, and ``from_X`` a function of NumPy arrays with rules
from one of that system. What they share is in `rulescore.backends.host`.
"""
