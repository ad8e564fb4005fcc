"""Sample inputs for the rules of NumPy; importing this package registers all of them."""

from testutils.samples.numpy import (
    constants,
    diagonals,
    einstein_sums,
    fft,
    indexing,
    joining,
    moments,
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
    "outer_products",
    "products",
    "rearranging",
    "reductions",
    "scans",
    "selection",
    "shape",
    "ufuncs",
]
