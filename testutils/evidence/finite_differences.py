"""Finite differences that estimate their own error, for functions of any nested arguments.

The methods and the choice of the step follow FiniteDifferences.jl: coefficients solve a Vandermonde system exactly, and
the step h balances round-off, which grows like h⁻ᵠ, against truncation, which grows like hᵖ⁻ᵠ. What is added is that
every component of the output has its own step and its own error, measured from the samples and checked across steps,
so that a wrong number comes with a large error and not with a small one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from .lines import Line
from .stencils import EPSILON, coefficients_of, extend
from .step_search import StepSearch
from .vector_function import VectorFunction
from .vectorisation import Vector, tangent_entries

_DEFAULT_CONDITION = 10.0
_DEFAULT_FACTOR = 1.0


@dataclass(frozen=True, eq=False)
class Estimate:
    """A derivative found by finite differences, with an estimate of its error.

    Attributes
    ----------
    value : object
        The derivative; its form is described by the function that returns the estimate. NaN where there is none.
    error : object
        Bound of the absolute error of every entry of ``value`` as a flat real vector, infinite where nothing is known.
        It is an estimate: it covers round-off, truncation and the disagreement of different steps.
    evaluations : int
        How often the function was called.
    note : str
        Why the error is large, where that is known.
    """

    value: Any
    error: Any
    evaluations: int = 0
    note: str = ""


@dataclass(frozen=True)
class FiniteDifferenceMethod:
    """f⁽ᵠ⁾(x) ≈ Σⱼ cⱼ f(x + h gⱼ) / hᵠ, with the step h chosen by the method.

    Parameters
    ----------
    grid : tuple of int
        The points gⱼ.
    q : int
        Order of the derivative, less than the number p of points.
    adapt : int
        0: one evaluation at the default step, whose error is an assumption (``condition``). Otherwise the step is
        found from the samples, with up to 4 + 4 ``adapt`` steps tried (seldom more than two on smooth functions).
    max_range : float
        No sample is farther from x than this, in units of the scale of x.
    condition : float
        Assumed amplification of the ∞-norm by differentiation, for the default step.
    factor : float
        Noise of the function in units of machine epsilon, at least. More noise is seen in the samples.
    extended_grid : tuple of int
        Two more points, on which the (p+2)-point method, the p-th derivative and the noise are measured.

    Examples
    --------
    >>> central_fdm(3).coefficients
    (Fraction(-1, 2), Fraction(0, 1), Fraction(1, 2))
    >>> estimate = central_fdm(5)(np.sin, 1.0)
    >>> bool(abs(estimate.value - np.cos(1.0)) < estimate.error < 1e-11)
    True
    """

    grid: tuple[int, ...]
    q: int = 1
    adapt: int = 1
    max_range: float = math.inf
    condition: float = _DEFAULT_CONDITION
    factor: float = _DEFAULT_FACTOR
    extended_grid: tuple[int, ...] = ()
    coefficients: tuple[Fraction, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if len(set(self.grid)) != len(self.grid) or not 1 <= self.q < len(self.grid):
            raise ValueError(
                f"a grid of {len(self.grid)} points {self.grid} was given for a derivative of order {self.q}: "
                "give an order of 1 at least, and more distinct points than that"
            )
        if not self.extended_grid:
            object.__setattr__(self, "extended_grid", extend(self.grid))
        object.__setattr__(self, "coefficients", coefficients_of(self.grid, self.q))

    @property
    def p(self) -> int:
        """The number of points: the order of the derivative that the truncation error is made of."""
        return len(self.grid)

    def __call__(self, phi: Callable[[Any], Any], x: Any = 0.0, *, scale: float = 1.0) -> Estimate:
        """The derivative of ``phi`` at ``x``.

        Parameters
        ----------
        phi : callable
            From a real number to a real number or a one-dimensional array of them. Values that are not finite are
            understood as outside the domain.
        x : float or longdouble
        scale : float
            Over which change of x the function changes; ``max_range`` and the default step are in units of it.

        Returns
        -------
        estimate : Estimate
            Value and error: numbers where ``phi`` returns one, else arrays. In longdouble where ``phi`` returns it.

        Raises
        ------
        TypeError
            When ``phi`` returns complex numbers.
        """
        x = x if isinstance(x, np.longdouble) else float(x)

        def vector_phi(t: Any) -> Vector:
            with np.errstate(all="ignore"):
                y = np.atleast_1d(np.asarray(phi(t)))
            if y.dtype.kind not in "biuf" or y.ndim > 1:
                raise TypeError(
                    f"phi returned an array of dtype {y.dtype} and shape {y.shape}, but finite differences are of real "
                    "numbers and one-dimensional real arrays: use jvp_fd for other functions"
                )
            return y if y.dtype.kind == "f" else y.astype(float)

        with np.errstate(all="ignore"):
            is_scalar = np.ndim(phi(x)) == 0
        rounding = float(np.finfo(type(x)).eps) * abs(float(x))
        value, error, evaluations, note = self._differentiate(
            Line(vector_phi, x, scale=scale, reach=scale, rounding=rounding)
        )
        if is_scalar:
            return Estimate(value[0], float(error[0]), evaluations + 1, note)
        return Estimate(value, error, evaluations + 1, note)

    def _differentiate(self, line: Line) -> tuple[Vector, Vector, int, str]:
        search = StepSearch(self, line)
        if self.adapt == 0:
            value, error = search.unadapted()
        else:
            value, error = search.run()
        return value, error, line.evaluations, search.note


def _spread(g: int, geometric: bool) -> int:
    return 3**g // 3 if geometric else g


def central_fdm(
    p: int,
    q: int = 1,
    *,
    adapt: int = 1,
    max_range: float = math.inf,
    condition: float = _DEFAULT_CONDITION,
    factor: float = _DEFAULT_FACTOR,
    geometric: bool = False,
) -> FiniteDifferenceMethod:
    """The central finite difference method of ``p`` points for the ``q``-th derivative.

    Parameters
    ----------
    p : int
        Number of points; the point in the middle is left out where ``p`` is even.
    q : int
        Order of the derivative.
    adapt, max_range, condition, factor
        See `FiniteDifferenceMethod`.
    geometric : bool
        Points at 1, 3, 9, ... in the place of 1, 2, 3, ...

    Returns
    -------
    method : FiniteDifferenceMethod

    Examples
    --------
    >>> central_fdm(4, 2).grid
    (-2, -1, 1, 2)
    """

    def points(count: int) -> tuple[int, ...]:
        positive = [_spread(g, geometric) for g in range(1, count // 2 + 1)]
        return (*(-g for g in reversed(positive)), *([0] if count % 2 else []), *positive)

    return FiniteDifferenceMethod(points(p), q, adapt, max_range, condition, factor, points(p + 2))


def forward_fdm(
    p: int,
    q: int = 1,
    *,
    adapt: int = 1,
    max_range: float = math.inf,
    condition: float = _DEFAULT_CONDITION,
    factor: float = _DEFAULT_FACTOR,
    geometric: bool = False,
) -> FiniteDifferenceMethod:
    """The finite difference method on ``p`` points from x upwards; see `central_fdm`.

    Examples
    --------
    >>> forward_fdm(3).grid
    (0, 1, 2)
    """

    def points(count: int) -> tuple[int, ...]:
        return tuple(_spread(g, geometric) for g in range(count))

    return FiniteDifferenceMethod(points(p), q, adapt, max_range, condition, factor, points(p + 2))


def backward_fdm(
    p: int,
    q: int = 1,
    *,
    adapt: int = 1,
    max_range: float = math.inf,
    condition: float = _DEFAULT_CONDITION,
    factor: float = _DEFAULT_FACTOR,
    geometric: bool = False,
) -> FiniteDifferenceMethod:
    """The finite difference method on ``p`` points from x downwards; see `central_fdm`.

    Examples
    --------
    >>> backward_fdm(3).grid
    (-2, -1, 0)
    """

    def points(count: int) -> tuple[int, ...]:
        return tuple(-_spread(g, geometric) for g in reversed(range(count)))

    return FiniteDifferenceMethod(points(p), q, adapt, max_range, condition, factor, points(p + 2))


@lru_cache(maxsize=8)
def default_method(epsilon: float = EPSILON) -> FiniteDifferenceMethod:
    """What the functions below use when no method is given, for outputs of this precision.

    Five points and a range of 0.01, as in ChainRulesTestUtils.jl. The noise of lower precision asks for longer steps.
    """
    return central_fdm(5, 1, max_range=1e-2 * min(30.0, max(1.0, epsilon / EPSILON) ** 0.2))


def directional_derivative(
    f: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    fdm: FiniteDifferenceMethod | None = None,
    fkwargs: Mapping[str, Any] | None = None,
) -> Estimate:
    """The derivative of ``f`` along one direction of all its arguments, d f(x + t ẋ)/dt at t = 0.

    Costs about 13 evaluations where the function is smooth, whatever the size of the arguments, and up to 49 where it
    is not. Every evaluation gets copies of all arguments, so a function that writes into them does no harm.

    Steps are in proportion to the arguments: a method's ``max_range`` counts in units of the lower quartile of
    |xⱼ| / |ẋⱼ| (the largest number of the array stands for entries that are 0). Where round-off dominates at such
    steps, they grow up to what the largest arguments, or 1, would give. Arguments of lower precision than float64 are
    evaluated in float64, unless the function raises on it.

    Parameters
    ----------
    f : callable
    primals : sequence
        Its positional arguments; see `testutils.evidence.vectorisation.to_vector`.
    tangents : sequence
        One tangent for each; `NoTangent` or `ZeroTangent` holds the argument fixed.
    fdm : FiniteDifferenceMethod, optional
        Default: ``central_fdm(5, 1, max_range=1e-2)``, with a longer range for outputs of lower precision.
    fkwargs : mapping, optional
        Keyword arguments of ``f``.

    Returns
    -------
    estimate : Estimate
        Value and error are real vectors in the layout of ``to_vector(f(*primals))``; integers, booleans and `None` in
        the output contribute nothing.

    Raises
    ------
    TangentMismatchError
        (A `ValueError`.) When a tangent does not fit its primal.
    ValueError
        When the output changes its structure, shape or realness from one evaluation to another, or the method is not
        one for first derivatives.

    Examples
    --------
    >>> x, y = np.array([1.0, 2.0]), np.ones(2)
    >>> estimate = directional_derivative(np.dot, (x, y), (np.array([1.0, -1.0]), np.ones(2)))
    >>> float(np.round(estimate.value[0], 9)), bool(estimate.error[0] < 1e-10)
    (3.0, True)
    """
    function = VectorFunction(f, primals, fkwargs)
    return derivative_along(function, function.direction(tangents), _first_order(fdm))


def jvp_fd(
    f: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    fdm: FiniteDifferenceMethod | None = None,
    fkwargs: Mapping[str, Any] | None = None,
) -> Estimate:
    """The pushforward J ẋ by finite differences.

    Parameters
    ----------
    f, primals, tangents, fdm, fkwargs
        See `directional_derivative`.

    Returns
    -------
    estimate : Estimate
        The value is the tangent of the output in canonical form, in the precision in which the function was evaluated
        (float64 for float32 arguments); the error is a flat real vector in its layout.

    Examples
    --------
    >>> estimate = jvp_fd(lambda x: (x * x, 2.0), (np.array([1.0, 2.0]),), (np.ones(2),))
    >>> np.round(estimate.value[0], 9), estimate.value[1]
    (array([2., 4.]), 0.0)
    """
    function = VectorFunction(f, primals, fkwargs)
    estimate = derivative_along(function, function.direction(tangents), _first_order(fdm))
    return Estimate(function.output.tangent(estimate.value), estimate.error, estimate.evaluations, estimate.note)


def vjp_fd(
    f: Callable[..., Any],
    cotangent: Any,
    primals: Sequence[Any],
    *,
    fdm: FiniteDifferenceMethod | None = None,
    fkwargs: Mapping[str, Any] | None = None,
) -> Estimate:
    """The pullback Jᵀ ȳ by finite differences: one directional derivative for every entry of every argument.

    Parameters
    ----------
    f : callable
    cotangent : object
        The cotangent ȳ of the output.
    primals, fdm, fkwargs
        See `directional_derivative`.

    Returns
    -------
    estimate : Estimate
        The value is a tuple with one cotangent for each primal, `NoTangent` where it has no derivative. For complex
        arguments it is ∂L/∂Re x + i ∂L/∂Im x of L = Re⟨ȳ, f⟩. The error is a tuple of flat real vectors.

    Examples
    --------
    >>> estimate = vjp_fd(np.multiply, 2.0, (3.0, 5.0))
    >>> [round(xbar, 9) for xbar in estimate.value]
    [10.0, 6.0]
    """
    function = VectorFunction(f, primals, fkwargs)
    weights = tangent_entries(function.output, cotangent)
    jacobian = _jacobian(function, _first_order(fdm))
    with np.errstate(invalid="ignore"):
        # A component that the cotangent ignores may have any derivative, or none.
        used = weights != 0
        value = weights[used] @ jacobian.value[used]
        error = np.abs(weights[used]) @ jacobian.error[used]
    return Estimate(
        tuple(layout.tangent(value[part]) for layout, part in function.arguments),
        tuple(error[part] for _, part in function.arguments),
        jacobian.evaluations,
        jacobian.note,
    )


def jacobian_fd(
    f: Callable[..., Any],
    *primals: Any,
    fdm: FiniteDifferenceMethod | None = None,
    fkwargs: Mapping[str, Any] | None = None,
) -> Estimate:
    """The real Jacobian by finite differences, one directional derivative for each column.

    Parameters
    ----------
    f : callable
    *primals
        Its positional arguments.
    fdm, fkwargs
        See `directional_derivative`.

    Returns
    -------
    estimate : Estimate
        Value and error are matrices, with a row for each entry of ``to_vector(f(*primals))`` and a column for each
        entry of ``to_vector(primals)``.

    Examples
    --------
    >>> np.round(jacobian_fd(np.cumsum, np.array([1.0, 2.0])).value, 9)
    array([[1., 0.],
           [1., 1.]])
    """
    return _jacobian(VectorFunction(f, primals, fkwargs), _first_order(fdm))


def _first_order(fdm: FiniteDifferenceMethod | None) -> FiniteDifferenceMethod | None:
    if fdm is not None and fdm.q != 1:
        raise ValueError(
            f"a method for derivatives of order {fdm.q} was given, but this is a first derivative: "
            "give a method with q=1"
        )
    return fdm


def derivative_along(
    function: VectorFunction, direction: Vector, fdm: FiniteDifferenceMethod | None = None
) -> Estimate:
    """The derivative of a vector function along a direction, as a vector; see `directional_derivative`."""
    before = function.evaluations
    problem = unusable(function, direction)
    if problem is not None:
        return Estimate(problem.value, problem.error, before, problem.note)
    method = fdm or method_for(function)
    value, error, _, note = method._differentiate(function.line(direction))
    return Estimate(value, error, 1 + function.evaluations - before, note)


def unusable(function: VectorFunction, direction: Vector) -> Estimate | None:
    """The estimate where nothing has to be evaluated, since nothing moves, or because what moves is not finite."""
    if not direction.any() or function.y.size == 0:
        return Estimate(np.zeros_like(function.y), np.zeros(function.y.size))
    if not np.isfinite(direction).all() or not np.any(np.isfinite(function.x), where=direction != 0):
        note = "the primals or the tangents are not finite"
        return Estimate(np.full_like(function.y, np.nan), np.full(function.y.size, np.inf), note=note)
    return None


def method_for(function: VectorFunction) -> FiniteDifferenceMethod:
    """The default method for the precision of a function's output."""
    return default_method(float(np.max(function.epsilon)))


def _jacobian(function: VectorFunction, fdm: FiniteDifferenceMethod | None) -> Estimate:
    shape = (function.y.size, function.x.size)
    value, error = np.zeros(shape, function.y.dtype), np.zeros(shape)
    notes = dict[str, None]()
    for column in range(function.x.size):
        unit = np.zeros_like(function.x)
        unit[column] = 1.0
        estimate = derivative_along(function, unit, fdm)
        value[:, column], error[:, column] = estimate.value, estimate.error
        notes.setdefault(estimate.note)
    return Estimate(value, error, function.evaluations, "; ".join(note for note in notes if note))
