"""Delayed cotangents: work that is done at most once, and only if somebody looks at the result."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from threading import Condition, get_ident
from typing import Any

import numpy as np

from rulescore.tangents.arithmetic import AbstractTangent

_PENDING = object()

_changed = Condition()
"""Of threads that wait for a thunk that another one computes: notified when one has been computed, or has failed."""

_awaited: dict[int, Thunk] = {}
"""By the thread that waits."""


class Thunk(AbstractTangent):
    """A cotangent computed when it is first used.

    A pullback with several cotangents returns the costly ones as thunks, so that those nobody asked for cost
    nothing. Arithmetic, NumPy functions, indexing and array attributes force a thunk; ``conj``, ``T`` and
    `project_to` give another thunk.

    Parameters
    ----------
    compute : callable
        Takes no argument and returns the cotangent. It is called at most once and then dropped, with everything
        it keeps alive; threads that force the thunk meanwhile wait. After an error the next one calls it again.

    Examples
    --------
    >>> import numpy as np
    >>> t = Thunk(lambda: np.arange(3.0))
    >>> t + 1
    array([1., 2., 3.])
    """

    __slots__ = ("_compute", "_masked", "_value")
    is_masked = False
    """Whether it knows more of the cotangent than its value: where it is zero whatever it is multiplied with."""
    _sum_rank = 2
    _product_rank = 2
    _quotient_rank = 2

    def __init__(self, compute: Callable[[], Any]) -> None:
        # A list, from which one thread takes it: that is one step. Then the number of that thread, at the end None.
        self._compute: Any = [compute]
        self._value: Any = _PENDING
        self._masked: Any = None  # where what it computed was a masked cotangent, that

    def force(self) -> Any:
        """Return the value, computed on the first call. Never a thunk.

        Raises
        ------
        RecursionError
            When the value is asked for by what computes it.
        """
        if self._value is _PENDING:
            try:
                compute = self._compute.pop()
            except (AttributeError, IndexError):
                return self._value_of_another_thread()
            self._compute = get_ident()
            try:
                found = compute()
                if issubclass(type(found), Thunk):
                    if found.is_masked:
                        self._masked = found
                    found = found.force()
                self._value = found
                self._compute = None
            except BaseException:
                self._compute = [compute]
                raise
            finally:
                if _awaited:
                    with _changed:
                        _changed.notify_all()
        return self._value

    def opened(self) -> Any:
        """The value, or where its computation gave a masked cotangent, that."""
        value = self.force()
        return value if self._masked is None else self._masked

    def _value_of_another_thread(self) -> Any:
        """Wait until another thread has computed the value; where it failed, compute it."""
        me = get_ident()
        with _changed:
            _awaited[me] = self
            try:
                while self._value is _PENDING and not (type(self._compute) is list and self._compute):
                    if _waits_for(self, me):
                        raise RecursionError("a thunk was forced by what computes it: its value depends on itself")
                    # Not for ever: the other thread may have looked for those that wait before this one was there.
                    _changed.wait(0.01)
            finally:
                del _awaited[me]
        return self.force()

    def __copy__(self) -> Thunk:
        return self  # what is computed once for both

    def __deepcopy__(self, memo: Any) -> Thunk:
        return self.map(copy.deepcopy)

    def __reduce__(self) -> Any:
        return _with_value, (self.force(),)  # how to compute it may be a function that cannot be pickled

    def map(self, function: Callable[[Any], Any]) -> Thunk:
        """A thunk of ``function`` applied to the value."""
        return Thunk(lambda: function(self.force()))

    def __repr__(self) -> str:
        if self._value is _PENDING:
            return f"{type(self).__name__}(pending)"
        return f"{type(self).__name__}({self._value!r})"

    # NumPy's protocols: a thunk among the arguments is forced, and the call made again.
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if any(isinstance(destination, Thunk) for destination in kwargs.get("out", ())):
            raise TypeError(
                f"np.{ufunc.__name__} was asked to write into a thunk, which stands for a value that may not exist "
                "yet: accumulate with rulescore.add, or call unthunk first"
            )
        return getattr(ufunc, method)(*map(unthunk, inputs), **kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return func(*_unthunk_nested(args), **_unthunk_nested(kwargs))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.force(), dtype, copy=copy)

    def __getattr__(self, name: str) -> Any:
        # Protocols are looked up by dunder names; answering those from the value would make a thunk pass for an array.
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.force(), name)

    def __getitem__(self, index: Any) -> Any:
        return self.force()[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.force())

    def __len__(self) -> int:
        return len(self.force())

    def __bool__(self) -> bool:
        return bool(self.force())

    def __float__(self) -> float:
        return float(self.force())

    def __complex__(self) -> complex:
        return complex(self.force())

    def __eq__(self, other: object) -> Any:
        return self.force() == unthunk(other)

    __hash__ = None  # type: ignore[assignment]

    def __neg__(self) -> Any:
        return -self.force()

    def __abs__(self) -> Any:
        return abs(self.force())

    def conj(self) -> Thunk:
        return self.map(lambda value: value.conjugate())

    conjugate = conj

    def transpose(self, *axes: Any) -> Thunk:
        return self.map(lambda value: value.transpose(*axes))

    @property
    def T(self) -> Thunk:
        return self.map(lambda value: value.T)

    def _plus(self, other: Any) -> Any:
        return self.force() + unthunk(other)

    def _minus(self, other: Any) -> Any:
        return self.force() - unthunk(other)

    def _rminus(self, other: Any) -> Any:
        return unthunk(other) - self.force()

    def _times(self, other: Any) -> Any:
        return self.force() * unthunk(other)

    def _rtimes(self, other: Any) -> Any:
        return unthunk(other) * self.force()

    def _matmul(self, other: Any) -> Any:
        return self.force() @ unthunk(other)

    def _rmatmul(self, other: Any) -> Any:
        return unthunk(other) @ self.force()

    def _over(self, other: Any) -> Any:
        return self.force() / unthunk(other)

    def _rover(self, other: Any) -> Any:
        return unthunk(other) / self.force()


class InplaceableThunk(Thunk):
    """A thunk that can also add itself to an accumulator, for less than computing and adding.

    The cotangent of ``x[3]`` is one number in an array of zeros: adding the number in place saves the array.

    Parameters
    ----------
    add_to : callable
        ``add_to(accumulator)`` adds the cotangent to an array in place and returns that array.
    value : callable or Thunk
        Computes the cotangent itself, for whoever has no accumulator.
    """

    __slots__ = ("add_to",)

    def __init__(self, add_to: Callable[[Any], Any], value: Callable[[], Any] | Thunk) -> None:
        super().__init__(value.force if isinstance(value, Thunk) else value)
        self.add_to = add_to


def _with_value(value: Any) -> Thunk:
    """A thunk that has been computed, as it is unpickled."""
    computed = Thunk(lambda: value)
    computed.force()
    return computed


def thunk(compute: Callable[[], Any]) -> Thunk:
    """Delay ``compute``: the function form of `Thunk`, usable as a decorator of the function that computes."""
    return Thunk(compute)


def unthunk(x: Any) -> Any:
    """The value of a thunk, computed now if need be; anything else is returned as it is."""
    return x.force() if issubclass(type(x), Thunk) else x


def _waits_for(thunk: Thunk | None, thread: int) -> bool:
    """Whether a thunk is computed by a thread, or by one that waits for what that computes."""
    while thunk is not None:
        if thunk._compute == thread:
            return True
        thunk = _awaited.get(thunk._compute) if type(thunk._compute) is int else None
    return False


def _unthunk_nested(x: Any) -> Any:
    if type(x) in (tuple, list):
        return type(x)(map(_unthunk_nested, x))
    if isinstance(x, dict):
        return {key: _unthunk_nested(value) for key, value in x.items()}
    return unthunk(x)
