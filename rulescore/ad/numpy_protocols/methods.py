"""The methods of arrays, and the attributes that are functions, as calls of NumPy's functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore.ad.numpy_protocols.operators import Operators, set_method


class Methods(Operators):
    """The methods of arrays. Those that write, like ``fill``, are in the storey that knows of writing."""

    __slots__ = ()

    reshape: Callable[..., Any]

    @property
    def T(self) -> Any:
        return self._call(np.transpose, (self,), {})

    @property
    def mT(self) -> Any:
        return self._call(np.matrix_transpose, (self,), {})

    @property
    def real(self) -> Any:
        return self._call(np.real, (self,), {})

    @property
    def imag(self) -> Any:
        return self._call(np.imag, (self,), {})

    def item(self, *args: Any) -> Any:
        """One element, still being differentiated."""
        if not args:
            if self.size != 1:
                raise ValueError("can only convert an array of size 1 to a Python scalar")
            return self.reshape(-1)[0] if self.ndim else self
        index = args[0] if len(args) == 1 else args
        return self[index] if isinstance(index, tuple) else self.reshape(-1)[index]

    def tolist(self) -> Any:
        """Nested lists of elements that are still being differentiated."""
        return [item.tolist() if item.ndim else item for item in self] if self.ndim else self

    def compress(self, condition: Any, axis: int | None = None, out: Any = None) -> Any:
        return np.compress(condition, self, axis=axis, out=out)

    def conjugate(self) -> Any:
        # Unlike the function, the method gives a real array itself.
        return self._call(np.conjugate, (self,), {}) if self.dtype.kind == "c" else self

    conj = conjugate

    def view(self, *args: Any, **kwargs: Any) -> Any:
        """``x.view()``; what would read the memory as something else is refused."""
        what = (*args, *kwargs.values())
        if len(what) > 1 or (what and what[0] is not np.ndarray and np.dtype(what[0]) != self.dtype):
            raise TypeError(
                f"{self._described()} was about to be read as numbers of another type (view), which has no derivative: "
                "write x.astype(dtype) to convert it, x.real and x.imag for the parts of complex numbers"
            )
        return self[...]

    def resize(self, *args: Any, **kwargs: Any) -> None:
        raise TypeError(
            "a value that is being differentiated cannot be resized in place: write x = np.resize(x, shape)"
        )


# Methods with the parameters of the function that they call.
_METHODS_LIKE_FUNCTIONS: dict[str, Any] = {
    **{name: getattr(np, name) for name in ("all", "any", "argmax", "argmin", "argsort", "choose", "clip")},
    **{name: getattr(np, name) for name in ("cumprod", "cumsum", "diagonal", "dot", "max", "mean", "min", "nonzero")},
    **{name: getattr(np, name) for name in ("argpartition", "prod", "ravel", "repeat", "round", "searchsorted")},
    **{name: getattr(np, name) for name in ("squeeze", "std", "sum", "swapaxes", "take", "trace", "var")},
    # Those whose parameters are their own have rules of their own.
    **{name: getattr(np.ndarray, name) for name in ("astype", "copy", "flatten", "reshape", "transpose")},
}


def _method(function: Any) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if len(args) > 1 or "out" in kwargs:  # where something is to be written to
            return self.__array_function__(function, (), (self, *args), kwargs)
        return self._call(function, (self, *args), kwargs)

    return method


for _name, _function in _METHODS_LIKE_FUNCTIONS.items():
    set_method(Methods, _name, _method(_function))
