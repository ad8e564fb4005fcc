"""What an array is but for its values: what static rules get where they do not read the values."""

from __future__ import annotations

import math
from typing import Any


class Blueprint:
    """The shape and dtype of an array, without its values.

    Examples
    --------
    >>> import numpy as np
    >>> Blueprint((2, 3), np.dtype(float)).size
    6
    """

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape = shape
        self.dtype = dtype

    def __repr__(self) -> str:
        return f"Blueprint({self.shape}, {self.dtype})"

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)
