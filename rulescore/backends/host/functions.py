"""Functions from NumPy arrays to NumPy arrays whose derivatives are such functions again.

An AD system that is to call a Python function wants something simple: arrays in, arrays out, and for every derivative a
function of the same kind. A `Pushforward` and a `Pullback` take the tangents or cotangents as further arrays; and since
these are functions of the kind too, there is a derivative of every order. What the first function is, a call, is in
`calls`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from rulescore import ad
from rulescore.tangents.not_implemented import NotImplementedTangent
from rulescore.tangents.thunks import unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent

Arrays = Sequence[Any]
Spec = tuple[tuple[int, ...], Any]
"""Shape and dtype of an array."""
Needs = tuple[bool, ...]
"""For each array of a function, whether it is differentiated with respect to it."""

_Made = TypeVar("_Made")
_NO_TANGENT = NoTangent()


class HostFunction:
    """A function from a tuple of arrays to a tuple of arrays.

    Attributes
    ----------
    fixed : int or None
        The function is linear in all arrays after so many; None where it is not linear.
    maps : bool
        Whether it is applied to each item along a first axis.
    simple_rules : dict
        By what is needed: the rrule as a function of the arrays, where it has answered with a simple result before.
    returns_one_array : bool
        Whether that is what the function has returned last.
    """

    fixed: int | None = None
    maps = False
    returns_one_array = False

    def __init__(self) -> None:
        self._kept: dict[Any, Any] = {}
        self.simple_rules: dict[Needs, Callable[..., Any]] = {}

    @property
    def name(self) -> str:
        """What messages call the function."""
        raise NotImplementedError

    def __call__(self, arrays: Arrays) -> tuple[Any, ...]:
        """The value, of NumPy arrays."""
        return self.traceable(*arrays)

    def traceable(self, *arrays: Any) -> tuple[Any, ...]:
        """The value, also of arrays that the reference AD differentiates."""
        raise NotImplementedError

    def vjp(self, arrays: Arrays, needs: Needs) -> tuple[tuple[Any, ...], Callable[[Arrays], Sequence[Any]]]:
        """The value; and from a cotangent for each output that has one, those of the arrays in ``needs``."""
        of_chosen, chosen = of_some(self.traceable, arrays, needs, self.name)
        outputs, pull = ad.vjp(of_chosen, *chosen)
        have_one = list(map(is_differentiable, outputs))  # and not they: who gets them looks at who else has them

        def pull_back(ybars: Arrays) -> list[Any]:
            return list(pull(for_every_output(ybars, have_one)))

        return outputs, pull_back

    def jvp(self, arrays: Arrays, needs: Needs, tangents: Arrays) -> tuple[tuple[Any, ...], list[Any]]:
        """The value, and the tangents of the outputs that have one, from those of the arrays in ``needs``."""
        of_chosen, chosen = of_some(self.traceable, arrays, needs, self.name)
        outputs, dys = ad.jvp(of_chosen, tuple(chosen), tuple(tangents))
        return outputs, [dense(dy, y) for y, dy in zip(outputs, dys, strict=True) if is_differentiable(y)]

    def results(self, specs: Sequence[Spec], values: Arrays | None = None) -> tuple[Spec, ...]:
        """Shapes and dtypes of the outputs, from those of the arrays, and from their values where they are known."""
        raise NotImplementedError

    def pushforward(self, needs: Needs) -> HostFunction:
        """The derivative as a function of the arrays, and of tangents of those in ``needs``."""
        return self.keep(("pushforward", needs), lambda: Pushforward(self, needs))

    def pullback(self, needs: Needs, conjugate: bool = False) -> HostFunction:
        """The derivative as a function of the arrays, and of cotangents of the outputs that have one."""
        return self.keep(("pullback", needs, conjugate), lambda: Pullback(self, needs, conjugate))

    def transposed(self, conjugate: bool = False) -> HostFunction:
        """A linear function with the cotangent of its output in the place of its linear arrays."""
        raise TypeError(f"{self.name} is not linear and cannot be transposed")

    def batched(self) -> HostFunction:
        """The function applied to each item along the first axis of all arrays."""
        return self.keep("batched", lambda: Batched(self))

    def keep(self, key: Any, make: Callable[[], _Made]) -> _Made:
        """What was made of this function, for as long as there is the function; ``make`` makes it where there is none.

        One object for each derivative: systems compile for it, and compare by identity.
        """
        found: _Made | None = self._kept.get(key)
        if found is None:
            found = self._kept.setdefault(key, make())
        return found


def is_differentiable(y: Any) -> bool:
    """Whether an array, or what stands for one, is of real or complex numbers."""
    return y.dtype.kind in "fc" if hasattr(y, "dtype") else isinstance(y, (float, complex))


def of_some(
    f: Callable[..., Any], arrays: Arrays, needs: Sequence[bool], name: str = "a function of some arrays"
) -> tuple[Callable[..., Any], list[Any]]:
    """A function of those arrays that it is differentiated with respect to, and these; the others are constants."""

    def of_chosen(*chosen: Any) -> Any:
        given = iter(chosen)
        return f(*[next(given) if need else x for x, need in zip(arrays, needs, strict=True)])

    of_chosen.__name__ = of_chosen.__qualname__ = name
    return of_chosen, those_needed(arrays, needs)


def those_needed(arrays: Arrays, needs: Sequence[bool]) -> list[Any]:
    return [x for x, need in zip(arrays, needs, strict=True) if need]


def for_every_output(ybars: Arrays, have_one: Sequence[bool]) -> tuple[Any, ...]:
    """Cotangents, with `NoTangent` in the place of those that do not exist."""
    given = iter(ybars)
    return tuple([next(given) if has_one else _NO_TANGENT for has_one in have_one])


def dense(dx: Any, x: Any) -> Any:
    """A tangent as an array."""
    if type(dx) is np.ndarray:  # the most frequent case
        return dx
    dx = unthunk(dx)
    if isinstance(dx, NotImplementedTangent):
        dx.fail()
    return np.zeros_like(x) if isinstance(dx, AbstractZero) else dx


# ---------------------------------------------------------------- derivatives


class Pushforward(HostFunction):
    """ẏ of the arrays and of the tangents of some of them."""

    def __init__(self, function: HostFunction, needs: Needs) -> None:
        super().__init__()
        self.function, self.needs = function, needs
        self.fixed, self.maps = len(needs), function.maps

    @property
    def name(self) -> str:
        return f"the pushforward of {self.function.name}"

    def __call__(self, arrays: Arrays) -> tuple[Any, ...]:
        count = len(self.needs)
        return tuple(self.function.jvp(arrays[:count], self.needs, arrays[count:])[1])

    def traceable(self, *arrays: Any) -> tuple[Any, ...]:
        count = len(self.needs)
        return tuple(HostFunction.jvp(self.function, arrays[:count], self.needs, arrays[count:])[1])

    def results(self, specs: Sequence[Spec], values: Arrays | None = None) -> tuple[Spec, ...]:
        count = len(self.needs)
        found = self.function.results(specs[:count], values and values[:count])
        return tuple([spec for spec in found if np.dtype(spec[1]).kind in "fc"])

    def transposed(self, conjugate: bool = False) -> HostFunction:
        return self.function.pullback(self.needs, conjugate)

    def batched(self) -> HostFunction:
        return self.function.batched().pushforward(self.needs)


class Pullback(HostFunction):
    """The cotangents of some arrays, of the arrays and of the cotangents of the outputs.

    With ``conjugate`` all cotangents are the conjugates of ours, as in JAX and HIPS autograd.
    """

    def __init__(self, function: HostFunction, needs: Needs, conjugate: bool) -> None:
        super().__init__()
        self.function, self.needs, self.conjugate = function, needs, conjugate
        self.fixed, self.maps = len(needs), function.maps

    @property
    def name(self) -> str:
        return f"the pullback of {self.function.name}"

    def __call__(self, arrays: Arrays) -> tuple[Any, ...]:
        return self._pulled(self.function.vjp, arrays)

    def traceable(self, *arrays: Any) -> tuple[Any, ...]:
        def vjp(arrays: Arrays, needs: Needs) -> Any:
            return HostFunction.vjp(self.function, arrays, needs)

        return self._pulled(vjp, arrays)

    def _pulled(self, vjp: Callable[..., Any], arrays: Arrays) -> tuple[Any, ...]:
        count = len(self.needs)
        _, pull = vjp(arrays[:count], self.needs)
        if not self.conjugate:
            return tuple(pull(arrays[count:]))
        return tuple([conjugate(xbar) for xbar in pull([conjugate(ybar) for ybar in arrays[count:]])])

    def results(self, specs: Sequence[Spec], values: Arrays | None = None) -> tuple[Spec, ...]:
        return tuple(those_needed(specs[: len(self.needs)], self.needs))

    def transposed(self, conjugate: bool = False) -> HostFunction:
        return self.function.pushforward(self.needs)

    def batched(self) -> HostFunction:
        return self.function.batched().pullback(self.needs, self.conjugate)


def conjugate(x: Any) -> Any:
    return np.conjugate(x) if np.iscomplexobj(x) else x


class Batched(HostFunction):
    """A function applied to each item along the first axis of all arrays, one after the other."""

    maps = True

    def __init__(self, function: HostFunction) -> None:
        super().__init__()
        self.function = function

    @property
    def name(self) -> str:
        return self.function.name

    def __call__(self, arrays: Arrays) -> tuple[Any, ...]:
        return _stacked([self.function(item) for item in _items(arrays)])

    def traceable(self, *arrays: Any) -> tuple[Any, ...]:
        return _stacked([self.function.traceable(*item) for item in _items(arrays)])

    def results(self, specs: Sequence[Spec], values: Arrays | None = None) -> tuple[Spec, ...]:
        size = specs[0][0][0]
        first = None if not values or not size else [x[0] for x in values]
        found = self.function.results([(shape[1:], dtype) for shape, dtype in specs], first)
        return tuple([((size, *shape), dtype) for shape, dtype in found])

    # Items have nothing to do with each other, so that a derivative is that of each. These are called directly; as
    # functions of the tangents they are `Pushforward` and `Pullback` of this one.

    def vjp(self, arrays: Arrays, needs: Needs) -> tuple[tuple[Any, ...], Callable[[Arrays], Sequence[Any]]]:
        both = [self.function.vjp(item, needs) for item in _items(arrays)]

        def pull_back(ybars: Arrays) -> list[Any]:
            return list(_stacked([pull(item) for (_, pull), item in zip(both, _items(ybars), strict=True)]))

        return _stacked([outputs for outputs, _ in both]), pull_back

    def jvp(self, arrays: Arrays, needs: Needs, tangents: Arrays) -> tuple[tuple[Any, ...], list[Any]]:
        both = [self.function.jvp(item, needs, dx) for item, dx in zip(_items(arrays), _items(tangents), strict=True)]
        return _stacked([outputs for outputs, _ in both]), list(_stacked([dys for _, dys in both]))


def _items(arrays: Arrays) -> Iterator[tuple[Any, ...]]:
    return zip(*arrays, strict=True)


def _stacked(results: list[Any]) -> tuple[Any, ...]:
    return tuple([np.stack(parts) for parts in zip(*results, strict=True)])
