"""A catalogue of the mistakes that people make in derivative rules: each entry of `WRONG` makes one of them."""

from corpora.wrong import algebra, calls, few_entries, memory, numbers, scales, types
from corpora.wrong.entry import WRONG

__all__ = ["WRONG", "algebra", "calls", "few_entries", "memory", "numbers", "scales", "types"]
