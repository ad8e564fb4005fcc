"""Rules for NumPy; importing this package registers all of them."""

from rules.numpy import (
    constants,
    diagonals,
    einstein_sums,
    fft,
    indexing,
    joining,
    moments,
    operators_of_python,
    outer_products,
    products,
    rearranging,
    reductions,
    scans,
    selection,
    shape,
    ufuncs,
)

__all__ = [
    "constants",
    "diagonals",
    "einstein_sums",
    "fft",
    "indexing",
    "joining",
    "moments",
    "operators_of_python",
    "outer_products",
    "products",
    "rearranging",
    "reductions",
    "scans",
    "selection",
    "shape",
    "ufuncs",
]
