"""The two zeros: ``ZeroTangent`` (a derivative exists and is zero) and ``NoTangent`` (none exists)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from rulescore.tangents.arithmetic import AbstractTangent


class AbstractZero(AbstractTangent):
    """What ``ZeroTangent`` and ``NoTangent`` share: a strong zero that fits every shape and type.

    A strong zero stays zero whatever it meets, NaN and infinity included, and costs nothing. The methods of an
    array that keep a zero a zero (``reshape``, ``sum``, ``T``, ``conj``, indexing) return it unchanged.
    """

    # There is no `__array__`: scipy.sparse leaves an operator to us only where NumPy sees one object in us. NumPy's own
    # functions take us for the number 0.0, which broadcasts: `np.where(mask, dx, ZeroTangent())`.

    __slots__ = ()
    _instance: ClassVar[Any]

    def __new__(cls) -> Self:
        return cls._instance  # type: ignore[no-any-return]

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return type(self), ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __bool__(self) -> bool:
        return False

    def __float__(self) -> float:
        return 0.0

    def __complex__(self) -> complex:
        return 0j

    def __abs__(self) -> Self:
        return self

    def __neg__(self) -> Self:
        return self

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if args and ((args[0] is self and func in _LINEAR) or (func in _MULTILINEAR and any(x is self for x in args))):
            return self
        return func(*_as_numbers(args), **_as_numbers(kwargs))

    def __getitem__(self, index: Any) -> Self:
        return self

    # With `__getitem__` alone, unpacking a zero would never end.
    __iter__ = None

    def _times(self, other: Any) -> Any:
        return self

    def _over(self, other: Any) -> Any:
        return self

    def _rover(self, other: Any) -> Any:
        if isinstance(other, AbstractZero):
            return other
        raise ZeroDivisionError(f"a tangent was divided by {self!r}; tangents can be divided by scalars only")

    def __getattr__(self, name: str) -> Self:
        # The fields of a structural tangent that is zero are zero; but it is no array, and has no shape or dtype.
        if name.startswith("_") or hasattr(np.ndarray, name):
            raise AttributeError(f"{self!r} has no attribute {name!r}: it is the zero of every shape and type")
        return self

    @property
    def T(self) -> Self:
        return self

    @property
    def mT(self) -> Self:
        return self

    @property
    def real(self) -> Self:
        return self

    @property
    def imag(self) -> Self:
        return self

    def _absorb(self, *args: Any, **kwargs: Any) -> Self:
        return self

    conj = conjugate = transpose = reshape = ravel = flatten = copy = astype = swapaxes = squeeze = _absorb
    sum = mean = cumsum = trace = diagonal = take = repeat = dot = _absorb


class ZeroTangent(AbstractZero):
    """The additive identity of every tangent space: the derivative exists and is zero.

    Examples
    --------
    >>> import numpy as np
    >>> np.ones(2) + ZeroTangent()
    array([1., 1.])
    >>> ZeroTangent() * np.nan
    ZeroTangent()
    """

    __slots__ = ()
    _sum_rank = 3
    _product_rank = 5
    _quotient_rank = 5

    def _plus(self, other: Any) -> Any:
        return other

    def _minus(self, other: Any) -> Any:
        return -other

    def _rminus(self, other: Any) -> Any:
        return other


class NoTangent(AbstractZero):
    """There is no derivative: the primal is an index, a string, a function, or an integer.

    Examples
    --------
    >>> NoTangent() + ZeroTangent()
    NoTangent()
    >>> NoTangent() * ZeroTangent()
    ZeroTangent()
    """

    __slots__ = ()
    _sum_rank = 4
    _product_rank = 4
    _quotient_rank = 3

    def _plus(self, other: Any) -> Any:
        return self if isinstance(other, AbstractZero) else other

    def _minus(self, other: Any) -> Any:
        return self if isinstance(other, AbstractZero) else -other

    def _rminus(self, other: Any) -> Any:
        return self if isinstance(other, AbstractZero) else other


def apply_linear(f: Callable[..., Any], *tangents: Any) -> Any:
    """Apply a linear function to tangents or cotangents: ``f(dx)``, and of nothing but zeros a zero.

    Parameters
    ----------
    f : callable
        A function that is linear in all its arguments together.
    *tangents : object
        What it is called with.

    Returns
    -------
    object
        What ``f`` returns; without a call of it the first zero, where all are.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore import ZeroTangent, apply_linear
    >>> apply_linear(np.fft.ifft, np.ones(2))
    array([1.+0.j, 0.+0.j])
    >>> np.ones(2) + apply_linear(np.fft.ifft, ZeroTangent())
    array([1., 1.])
    """
    for dx in tangents:
        if not isinstance(dx, AbstractZero):
            return f(*tangents)
    return tangents[0]


def _as_numbers(x: Any) -> Any:
    if type(x) in (tuple, list):
        return type(x)(map(_as_numbers, x))
    if isinstance(x, dict):
        return {key: _as_numbers(value) for key, value in x.items()}
    return 0.0 if isinstance(x, AbstractZero) else x


# NumPy's functions that are linear in their first argument, and those that are so in each.
_LINEAR = {
    *(np.transpose, np.swapaxes, np.moveaxis, np.reshape, np.ravel, np.squeeze, np.expand_dims, np.broadcast_to),
    *(np.copy, np.real, np.imag, np.sum, np.mean, np.cumsum, np.diff, np.trace, np.diagonal, np.diag),
    *(np.tril, np.triu, np.flip, np.roll, np.take, np.take_along_axis, np.repeat, np.tile),
}
_MULTILINEAR = {np.dot, np.inner, np.outer, np.vdot, np.tensordot, np.kron, np.cross, np.einsum}

ZeroTangent._instance = object.__new__(ZeroTangent)
NoTangent._instance = object.__new__(NoTangent)
