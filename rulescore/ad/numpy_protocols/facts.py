"""What a tracer says of itself without computing: shape, dtype, and what else arrays know."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rulescore.ad.tracing.tracers import Tracer


class Facts(Tracer):
    """The attributes of arrays that are facts about them."""

    __slots__ = ()
    __array__: Callable[..., Any]
    __getitem__: Callable[..., Any]

    @property
    def shape(self) -> tuple[int, ...]:
        return self._value.shape  # type: ignore[no-any-return]

    @property
    def dtype(self) -> Any:
        return self._value.dtype

    @property
    def ndim(self) -> int:
        return self._value.ndim  # type: ignore[no-any-return]

    @property
    def size(self) -> int:
        return self._value.size  # type: ignore[no-any-return]

    @property
    def nbytes(self) -> int:
        return self._value.nbytes  # type: ignore[no-any-return]

    @property
    def itemsize(self) -> int:
        return self._value.itemsize  # type: ignore[no-any-return]

    @property
    def strides(self) -> Any:
        return self._value.strides

    @property
    def flags(self) -> Any:
        value = self._value
        # Those of a view, since setting one of them must not reach the array of somebody else.
        return value.view().flags if type(value) is np.ndarray else value.flags

    @property
    def base(self) -> Any:
        """What this is a view of, or None."""
        return None

    @property
    def device(self) -> Any:
        return self._value.device

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        if device != self.device or stream is not None:
            raise ValueError(f"a value that is being differentiated stays on its device, which is {self.device!r}")
        return self

    def __array_namespace__(self, *, api_version: Any = None) -> Any:
        # Also of other arrays: NumPy's functions are what a tracer answers to.
        return np.empty(0).__array_namespace__(api_version=api_version)

    def __len__(self) -> int:
        return len(self._value)

    def __iter__(self) -> Iterator[Any]:
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    def __contains__(self, x: Any) -> bool:
        return bool(np.any(self == x))

    __hash__ = None  # type: ignore[assignment]

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self.__array__()

    __dlpack_device__ = __dlpack__
