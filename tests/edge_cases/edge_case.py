"""What a case of the edge-case table is, and what `rulescore.ad` answers to it."""

from __future__ import annotations

import dataclasses
import functools
import warnings
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import optree

from rulescore.ad import grad, jvp, vjp

SECOND_ORDER = {
    "grad of grad": lambda f, x, dx: grad(lambda x: np.sum(grad(f)(x)))(x),
    "grad of jvp": lambda f, x, dx: grad(lambda x: jvp(f, (x,), (dx,))[1])(x),
    "jvp of grad": lambda f, x, dx: jvp(grad(f), (x,), (dx,))[1],
    "jvp of jvp": lambda f, x, dx: jvp(lambda x: jvp(f, (x,), (dx,))[1], (x,), (dx,))[1],
}


@dataclasses.dataclass(frozen=True)
class Case:
    """A row of the table with its right answer, which does not come from our own code.

    Attributes
    ----------
    name : str
        The row's name in the table.
    f : callable
        The function, in plain NumPy and SciPy.
    args : tuple
        What it is differentiated at.
    gradient
        The right cotangent where that of the output is one everywhere: of the argument, or a tuple, one per argument.
    tangent
        The right tangent of the output where that of the argument is one everywhere: a tuple if there are several
        arguments, each of which moves alone. By default the sum of the gradient, which it is for a real number.
    second
        In the place of both, for a second derivative: the sum of the columns of the Hessian.
    also : tuple
        Other right gradients: members of the generalised derivative that this project does not choose.
    also_tangents : tuple
        Other right tangents, where those are not the sums of other right gradients.
    raises : tuple
        The type of the error that is the right answer, and a pattern of what it says.
    rtol, atol : float
        How far the answer may be off. No wider than the rounding errors of the case.
    why : str
        Where the right answer comes from, wherever somebody disagrees.
    dtype : str
        Where the case is about the type of the gradient: its dtype. Its shape is that of the argument in every case.
    with_grad : bool
        Whether the case is about `grad` itself, which is then asked instead of `vjp`.
    """

    name: str
    f: Callable[..., Any]
    args: tuple[Any, ...]
    _: dataclasses.KW_ONLY
    gradient: Any = None
    tangent: Any = None
    second: Any = None
    also: tuple[Any, ...] = ()
    also_tangents: tuple[Any, ...] = ()
    raises: tuple[type[Exception], str] | None = None
    rtol: float = 1e-12
    atol: float = 1e-15
    why: str = ""
    dtype: str = ""
    with_grad: bool = False

    def __post_init__(self) -> None:
        assert (self.gradient is not None) + (self.second is not None) + (self.raises is not None) == 1, self.name

    @property
    def is_of_one_argument(self) -> bool:
        return len(self.args) == 1

    def gradients(self, answer: Any = None) -> tuple[Any, ...]:
        """The right cotangents, one per argument."""
        answer = self.gradient if answer is None else answer
        return (answer,) if self.is_of_one_argument else answer

    def tangents(self, answer: Any = None) -> tuple[Any, ...]:
        """The right tangents of the output, one per argument that moves."""
        if self.tangent is not None and answer is None:
            return (self.tangent,) if self.is_of_one_argument else self.tangent
        return tuple(
            sum(np.sum(part) for part in leaves_as_in(x, bar))
            for x, bar in zip(self.args, self.gradients(answer), strict=True)
        )


def case(name: str, f: Callable[..., Any], *args: Any, **answer: Any) -> Case:
    """A `Case`, with lists in the place of arrays: ``case("max([1,3])", np.max, [1.0, 3.0], gradient=[0, 1])``."""
    return Case(name, f, tuple(np.asarray(arg) if type(arg) is list else arg for arg in args), **answer)


def leaves_as_in(x: Any, answer: Any) -> list[Any]:
    """The numbers and arrays of an answer that has the form of the argument ``x``."""
    return optree.tree_structure(x).flatten_up_to(answer)  # type: ignore[no-any-return]


# ---------------------------------------------------------------- what we answer


def ones(x: Any) -> Any:
    """One in every direction in which ``x`` can move."""
    return optree.tree_map(lambda leaf: np.ones_like(leaf, dtype=_floating(leaf))[()], x)


def _floating(x: Any) -> np.dtype[Any]:
    dtype = np.asarray(x).dtype
    return dtype if dtype.kind in "fc" else np.dtype(float)


def copies(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments as new arrays, since some cases write to theirs."""
    return optree.tree_map(lambda x: x.copy() if isinstance(x, np.ndarray) else x, args)  # type: ignore[no-any-return]


def without_warnings(function: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy warns of most of the places that the table is about."""

    @functools.wraps(function)
    def quiet(*args: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            return function(*args)

    return quiet


@without_warnings
def reverse(case: Case) -> tuple[Any, tuple[Any, ...]]:
    """The value, and a cotangent for each argument."""
    args = copies(case.args)
    if case.with_grad:
        bars = grad(case.f, tuple(range(len(args))))(*args)
        return None, bars
    y, pullback = vjp(case.f, *args)
    return y, pullback(ones(y))


@without_warnings
def forward(case: Case) -> tuple[Any, tuple[Any, ...]]:
    """The value, and a tangent of the output for each argument, while the others are constants."""
    dys = []
    for moving in range(len(case.args)):
        args = copies(case.args)
        before, x, after = args[:moving], args[moving], args[moving + 1 :]
        y, dy = jvp(lambda x, before=before, after=after: case.f(*before, x, *after), (x,), (ones(x),))
        dys.append(dy)
    return y, tuple(dys)


@without_warnings
def second(case: Case, mode: str) -> tuple[Any, Any]:
    """The sum of the columns of the Hessian, or of all its elements where the mode gives that, and the right one."""
    (x,) = case.args
    found = SECOND_ORDER[mode](case.f, x, ones(x))
    return found, case.second if np.shape(found) == np.shape(case.second) else np.sum(case.second)


def assert_right(found: Any, wanted: Any, case: Case) -> None:
    """The numbers are the wanted ones, up to what the case allows."""
    wanted = np.broadcast_to(wanted, np.shape(found))
    if np.iscomplexobj(wanted) and np.any(np.isinf(wanted)):
        # A complex number is infinite where one of its parts is, whatever the other one.
        np.testing.assert_array_equal(np.isinf(found), np.isinf(wanted))
        return
    # Part by part, since 1 + NaN i and NaN + NaN i count as equal otherwise.
    for part in (np.real, np.imag):
        np.testing.assert_allclose(part(found), part(wanted), rtol=case.rtol, atol=case.atol)


# ---------------------------------------------------------------- independent truth


def slope(f: Callable[..., Any], *at: float, argument: int = 0) -> float:
    """∂f/∂argument of a function of mpmath, by a finite difference in 520 digits."""
    with mp.workdps(520):
        x = mp.mpf(at[argument])
        step = mp.mpf(10) ** -60 * (abs(x) if x else 1)
        above, below = (
            f(*map(mp.mpf, at[:argument]), t, *map(mp.mpf, at[argument + 1 :])) for t in (x + step, x - step)
        )
        return float((above - below) / (2 * step))
