"""A catalogue of the mistakes that people make in derivative rules: each entry of `WRONG` makes one of them."""

from corpora.wrong import (
    algebra,
    calls,
    complex_functions,
    few_entries,
    generalised,
    memory,
    numbers,
    points,
    precision,
    scales,
    structures,
    types,
)
from corpora.wrong.entry import WRONG

__all__ = [
    "WRONG",
    "algebra",
    "calls",
    "complex_functions",
    "few_entries",
    "generalised",
    "memory",
    "numbers",
    "points",
    "precision",
    "scales",
    "structures",
    "types",
]
