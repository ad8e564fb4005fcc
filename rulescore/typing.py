"""What the arguments of a rule are, in words: aliases for the annotations of rules.

To a type checker and to dispatch all of them are any object: what is an array here may be a list, an array of Dask's or
something that an AD system traces, and an axis is often ``np.int64(0)``. A rule that is for one class alone says so by
that class.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeAlias

Array: TypeAlias = Annotated[Any, "numbers of any shape: an array of any library, nested lists, or one number"]
Arrays: TypeAlias = Annotated[
    Any, "several arrays: a list or tuple of them, or one array with them along its first axis"
]
Number: TypeAlias = Annotated[Any, "one number, with a derivative where it is no whole one"]
Count: TypeAlias = Annotated[Any, "a whole number, or several: how many, of which degree; they stay whole"]
Flag: TypeAlias = Annotated[Any, "true or false"]
Choice: TypeAlias = Annotated[Any, "one of a few words or settings"]
Axis: TypeAlias = Annotated[Any, "the number of an axis, from the end where negative; a tuple of them; or None for all"]
Shape: TypeAlias = Annotated[Any, "lengths of axes: a tuple, or one number"]
Index: TypeAlias = Annotated[Any, "what may stand in x[...], or whole numbers that say where"]
DType: TypeAlias = Annotated[Any, "a dtype, or what NumPy reads as one; None for that of the arguments"]
Function: TypeAlias = Annotated[Any, "something that can be called"]
Sparse: TypeAlias = Annotated[Any, "a matrix or array of scipy.sparse"]
Struct: TypeAlias = Annotated[Any, "an object with fields, such as an interpolant"]
Mask: TypeAlias = Annotated[Any, "which elements count: an array of booleans"]

Tangents: TypeAlias = tuple[Any, ...]
"""The tangents that a forward rule gets: the function's own, and one for each positional argument."""

Needs: TypeAlias = tuple[bool, ...] | None
"""Which cotangents will be asked for, of the positional arguments; None where nobody knows."""

Pullback: TypeAlias = Callable[[Any], tuple[Any, ...]]
"""From the cotangent of the output to that of the function, and one for each positional argument."""

OutputAndPullback: TypeAlias = tuple[Any, Pullback]
"""What a reverse rule returns."""

OutputAndTangent: TypeAlias = tuple[Any, Any]
"""What a forward rule returns."""
