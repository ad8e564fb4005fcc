"""Cotangents that are zero where a branch was not taken, whatever they are multiplied with on their way."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rulescore.tangents.kinds import is_a
from rulescore.tangents.thunks import Thunk, unthunk

_NO, _YES, _MARKS = range(3)
_followed: contextvars.ContextVar[int] = contextvars.ContextVar("rulescore_followed", default=_NO)


@contextlib.contextmanager
def following_all() -> Iterator[None]:
    """Within it, tangents and cotangents keep a mask although they reach every element, for what becomes of them.

    So do those of the differentiations within it.
    """
    token = _followed.set(_YES)
    try:
        yield
    finally:
        _followed.reset(token)


def of_marks(function: Callable[..., Any], *args: Any) -> Any:
    """``function(*args)`` of what is no cotangent but `Selected.marks` of one, all of whose zeros are strong.

    Masks are followed within.
    """
    token = _followed.set(_MARKS)
    try:
        return function(*args)
    finally:
        _followed.reset(token)


def follows_all() -> bool:
    """Whether masks are followed, in either way."""
    return _followed.get() != _NO


def follows_marks() -> bool:
    """Whether this is within `of_marks`."""
    return _followed.get() == _MARKS


def everywhere(ybar: Any) -> Selected:
    """A cotangent with a mask that has no zeros yet."""
    return Selected(lambda: ybar, np.ones(np.shape(ybar), bool))


def where_not_zero(ybar: Any) -> Selected:
    """A cotangent of whose zeros it is known that they are nothing at all."""
    return Selected(lambda: ybar, np.not_equal(ybar, 0))


def where_reached(xbar: Any, mark: Any, numbers: Any, is_certain: Any) -> Any:
    """A cotangent that is zero where a linear map has made a zero of `Selected.marks`.

    What is no linear map, as a rule that drops cotangents by their size, shows in numbers where there should be none:
    in those of the cotangent, which may be one of an AD system, and of a batch. Where that is differentiated itself,
    the zero may come from a factor that is zero, by which the derivative is none: that is not certain, so numbers stay.
    ``is_certain`` says of which zeros.
    """
    reached = np.not_equal(mark, 0)
    if np.shape(reached) != np.shape(xbar) or (np.all(reached) and not follows_all()):
        return xbar
    if np.any(~reached & np.isfinite(numbers) & np.not_equal(numbers, 0)):
        return xbar
    chosen = np.where(_kept(reached, numbers, is_certain), xbar, 0)
    return Selected(lambda: chosen, reached, is_certain)


def _kept(reached: Any, numbers: Any, is_certain: Any) -> Any:
    """What is not made a zero: what is reached, and what may be, while it is a number."""
    return reached if is_certain is True else reached | (np.isfinite(numbers) & ~np.asarray(is_certain))


def has_mask(ybar: Any) -> bool:
    """Whether a cotangent is masked, or of several outputs that of one."""
    return type(ybar) is Selected or (is_a(ybar, tuple) and any(type(part) is Selected for part in ybar))


def taking_masks_as(inner: Callable[..., Any], pullback: Callable[..., Any]) -> Callable[..., Any]:
    """A pullback that hands cotangents to another one, and so treats masked ones as that does."""
    for name in ("is_elementwise", "keeps_places"):
        if getattr(inner, name, False):
            setattr(pullback, name, True)
    return pullback


_MOST_KEPT = 2**12


def _at_random(shape: tuple[int, ...]) -> Any:
    """Numbers between 1 and 2. Few are not drawn each time, which takes longer than all else about small marks."""
    count = math.prod(shape)
    numbers = _numbers(_MOST_KEPT)[:count] if count <= _MOST_KEPT else np.random.default_rng(0).uniform(1.0, 2.0, count)
    return numbers.reshape(shape)


@functools.cache
def _numbers(count: int) -> Any:
    return np.random.default_rng(0).uniform(1.0, 2.0, count)


class Selected(Thunk):
    """A cotangent that is zero where a condition does not hold, whatever it is multiplied with or divided by.

    AD systems hand it to pullbacks with an attribute ``is_elementwise``, which is true; to others its value.

    The cotangent of ``x`` in ``np.where(x > 0, np.log(x), 0)`` goes through the derivative of the logarithm, which is
    infinite at 0; and that product is 0, as the logarithm is not used there.

    Parameters
    ----------
    compute : callable
        Computes the cotangent.
    condition : array_like of bool
        Where it may differ from zero; it broadcasts with the cotangent to the shape of that.
    is_certain : bool or array of bool, optional
        Whether, or where, derivatives of it are zero there too. Else only what is no number is made a zero.

    Examples
    --------
    >>> import numpy as np
    >>> ybar = Selected(lambda: np.array([0.0, 2.0]), np.array([False, True]))
    >>> unthunk(np.array([np.inf, 3.0]) * ybar)
    array([0., 6.])
    """

    __slots__ = ("condition", "is_certain")
    is_masked = True

    def __init__(self, compute: Callable[[], Any], condition: Any, is_certain: Any = True) -> None:
        super().__init__(compute)
        self.condition = condition
        self.is_certain = is_certain

    def opened(self) -> Any:
        return self

    @property
    def is_reached(self) -> bool:
        """Whether it may differ from zero anywhere."""
        return bool(np.any(self.condition))

    @property
    def is_certain_throughout(self) -> bool:
        """Whether all of its zeros are certain, so that those are that anything makes of them."""
        return bool(np.all(self._doubted == self.condition))

    def restored(self, function: Callable[[Any], Any]) -> Any:
        """The same of ``function(value)``, which keeps the shape and the zeros, as projections do."""
        return Selected(lambda: function(self.force()), self.condition, self.is_certain)

    def summed(self, function: Callable[[Any], Any]) -> Any:
        """The same of ``function(value)``, which adds elements: a sum of nothing but such zeros is one."""
        shape = np.shape(self.force())

        def summed(chosen: Any) -> Any:
            return function(np.broadcast_to(chosen, shape).astype(float)) != 0

        is_certain = self.is_certain if self.is_certain is True else ~summed(self._doubted)
        return Selected(lambda: function(self.force()), summed(self.condition), is_certain)

    @property
    def _doubted(self) -> Any:
        """Where it is reached, or may be."""
        return self.condition if self.is_certain is True else self.condition | ~np.asarray(self.is_certain)

    @property
    def marks(self) -> Any:
        """Numbers that are zero where it is: what a linear map makes of them is zero where the cotangent cannot reach.

        Beside that they are positive and at random, so that no two of them cancel.
        """
        return self._marked(_at_random, self.condition)

    @property
    def nans(self) -> Any:
        """The same of NaN, which is not zero either by a factor that is: where that may be another one close by."""
        return self._marked(lambda shape: np.full(shape, np.nan), self.condition)

    @property
    def apart(self) -> Any:
        """NaN where it is reached, and a number where it is not: what a linear map makes no NaN of, it does not reach.

        Beside an infinite slope marks are NaN though they are zero there, and these are infinite.
        """
        nans = self.nans
        return np.where(np.isnan(nans), nans, 1)

    @property
    def doubts(self) -> Any:
        """The same where its zeros are not certain, too."""
        return self._marked(lambda shape: np.full(shape, np.nan), self._doubted)

    @property
    def marks_of_doubts(self) -> Any:
        """Marks where its zeros are not certain, too."""
        return self._marked(_at_random, self._doubted)

    def _marked(self, numbers: Callable[[tuple[int, ...]], Any], condition: Any) -> Any:
        value = self.force()
        shape, dtype = np.shape(value), getattr(value, "dtype", np.dtype(float))
        marks = numbers(shape).astype(dtype)
        if dtype.kind == "c":
            marks.imag = marks.real
        return np.where(np.broadcast_to(condition, shape), marks, np.zeros((), dtype))

    def joined(self, other: Any) -> Any:
        """The sum with another cotangent, which is zero where both are."""
        total = self.force() + unthunk(other)
        if not isinstance(other, Selected):
            return total
        are_certain = self.is_certain is other.is_certain is True or np.logical_and(self.is_certain, other.is_certain)
        return Selected(lambda: total, self.condition | other.condition, are_certain)

    def written_out(self) -> Any:
        """Its value; of marks such as tell the same, though a factor have made zeros of them."""
        is_plain = follows_marks() and is_a(self.force(), (np.ndarray, np.generic))
        return self.nans if is_plain else self.force()

    def _of(self, value: Any) -> Any:
        """A product or quotient of the cotangent, zero again where the condition does not hold."""
        chosen = np.where(_kept(self.condition, value, self.is_certain), value, 0)
        is_alike = np.shape(chosen) == np.shape(self.force())
        return Selected(lambda: chosen, self.condition, self.is_certain) if is_alike else chosen

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        result = super().__array_ufunc__(ufunc, method, *inputs, **kwargs)
        is_linear = ufunc is np.multiply or ufunc is np.negative or (ufunc is np.divide and inputs[0] is self)
        return self._of(result) if is_linear and method == "__call__" and not kwargs else result

    def __neg__(self) -> Any:
        return self._of(-self.force())

    def _plus(self, other: Any) -> Any:
        return self.joined(other)

    def _times(self, other: Any) -> Any:
        return self._of(self.force() * unthunk(other))

    def _rtimes(self, other: Any) -> Any:
        return self._of(unthunk(other) * self.force())

    def _over(self, other: Any) -> Any:
        return self._of(self.force() / unthunk(other))
