"""Hypothesis strategies for property-based tests of derivative rules: numbers and arrays that finite differences can
work with, and what goes with them (tangents, axes, indices, matrices).

Values are finite, of moderate magnitude and never subnormal; everything shrinks to small arrays of simple numbers.
`rule_tester`, the fixture for pytest, accepts strategies in the place of arguments.
"""

from __future__ import annotations

try:
    import hypothesis as _hypothesis  # noqa: F401  # asked for here, so that one place says how to get it
except ModuleNotFoundError as error:
    raise ImportError(
        "rulescore.testing.strategies draws its values with hypothesis, which is not installed: "
        "pip install 'rulescore[hypothesis]'"
    ) from error

from .axes_and_indices import INDEX_KINDS, axes, indices
from .dense_arrays import LAYOUTS, arrays, broadcastable_arrays, matmul_arrays, shapes
from .matrices import invertible_matrices, positive_definite_matrices, symmetric_matrices
from .numbers import complexes, floats
from .primals_with_tangents import tangents, with_tangents

__all__ = [
    "INDEX_KINDS",
    "LAYOUTS",
    "arrays",
    "axes",
    "broadcastable_arrays",
    "complexes",
    "floats",
    "indices",
    "invertible_matrices",
    "matmul_arrays",
    "positive_definite_matrices",
    "shapes",
    "symmetric_matrices",
    "tangents",
    "with_tangents",
]
