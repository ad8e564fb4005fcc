"""What something is, and not what it says that it is.

What stands in the place of an array while a function is differentiated answers to ``isinstance`` as that array does, so
that other people's code takes the branch it would take. Ours has to know the one from the other.
"""

from __future__ import annotations

from typing import Any


def is_a(x: Any, kinds: type | tuple[type, ...]) -> bool:
    """Whether something is an instance of a class, or one of several, by its own type."""
    return issubclass(type(x), kinds)
