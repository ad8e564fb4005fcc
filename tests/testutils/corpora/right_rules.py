"""Rules that are right to rounding, at points where a finite difference has a hard time: the entries of `RIGHT`.

At a kink a rule returns the member of the generalised derivative that the project's conventions name. Formulas are
chosen for their numerics: a right rule has no cancellation that the function itself does not have.
"""

from corpora.right import (
    complex_functions,
    complex_numbers,
    containers,
    elementwise,
    generalised,
    kinks,
    linear_algebra,
    points,
    precision,
    reductions,
    structures,
)
from corpora.right.entry import RIGHT

__all__ = [
    "RIGHT",
    "complex_functions",
    "complex_numbers",
    "containers",
    "elementwise",
    "generalised",
    "kinks",
    "linear_algebra",
    "points",
    "precision",
    "reductions",
    "structures",
]
