"""A derivative that somebody wrote by hand, checked beside its function; nothing is registered."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from rulescore import AbstractZero, NoTangent, project_to, pullback_wrt, unthunk, zero_tangent

from .cases.arguments import primal_of
from .cases.rule_places import PlacedRule
from .reports.names import counted
from .reports.places import RulePlace
from .samples.random_tangents import PrimalWithTangent, with_tangent

if TYPE_CHECKING:
    from .reports.report import Report
    from .testers import CallOptions


def check_derivative(
    f: Callable[..., Any],
    *args: Any,
    vjp: Callable[..., Any] | None = None,
    jvp: Callable[..., Any] | None = None,
    jac: Callable[..., Any] | None = None,
    **options: Unpack[CallOptions],
) -> Report:
    """Check a function's derivative that is a plain function itself, and is registered nowhere.

    Parameters
    ----------
    f : callable
        The function.
    *args
        Its positional arguments, as for `check_rule`: one wrapped as ``with_tangent(x, NoTangent())`` is held constant.
    vjp : callable, optional
        ``vjp(ybar, *args)`` returns the cotangent of the one argument, or a tuple with one for each; None is that of
        an argument without a derivative.
    jvp : callable, optional
        ``jvp(tangents, *args)`` returns the tangent of the output, from a tuple with one for each argument. That of an
        argument without a derivative is None.
    jac : callable, optional
        ``jac(*args)`` returns the gradient of a number, or the Jacobian of an array, of the shape ``y.shape +
        x.shape``, with respect to the first argument, as ``jac=`` of `scipy.optimize.minimize`, `least_squares` and
        their kin. The other arguments are held constant. Given alone.
    **options
        ``fkwargs``, keyword arguments, which all of these functions get; and ``rtol``, ``atol``, ``fdm``, ``rng``,
        ``thorough``, ``strict`` and ``skip`` as for `check_rule`.

    Returns
    -------
    Report
        As `check_rule` returns it. In it ``vjp`` and ``jac`` are the rrule, ``jvp`` and ``jac`` the frule.

    Raises
    ------
    TypeError
        When no derivative is given, one that is no function, or ``jac`` beside another one.
    SampleError
        (A `ValueError`.) When ``f`` itself raises on these arguments.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore.testing import check_derivative
    >>> def f(x, a): return np.sum(a * x**2)
    >>> def gradient(x, a): return 2 * x
    >>> check_derivative(f, np.ones(3), 2.0, jac=gradient).verdict
    'fail'
    >>> def f_vjp(ybar, x, a): return 2 * a * x * ybar, np.sum(x**2) * ybar
    >>> check_derivative(f, np.ones(3), 2.0, vjp=f_vjp).verdict
    'pass'
    """
    from .testers import check_rule

    given = {name: g for name, g in (("vjp", vjp), ("jvp", jvp), ("jac", jac)) if g is not None}
    if not given:
        raise TypeError("check_derivative got no derivative: give vjp=, jvp= or jac=")
    if uncallable := [name for name, g in given.items() if not callable(g)]:
        name = uncallable[0]
        raise TypeError(
            f"check_derivative(..., {name}={given[name]!r}): give a function of its own, {_FORMS[name]}; one that "
            "returns value and derivative together can be taken apart, lambda *args: f(*args)[1]"
        )
    if jac is not None:
        if len(given) > 1:
            raise TypeError("check_derivative got jac= beside vjp= or jvp=: check one after the other")
        if not args:
            raise TypeError("check_derivative got jac= and no argument: give the one to differentiate, after f")
        x, *others = args
        args = (x, *[with_tangent(primal_of(arg), NoTangent()) for arg in others])
        vjp, jvp = _vjp_of(jac), _jvp_of(jac, f)
    places = {
        mode: RulePlace.of_function(mode, given[name], name)
        for mode, names in (("rrule", ("vjp", "jac")), ("frule", ("jvp", "jac")))
        for name in names
        if name in given
    }
    held = [isinstance(arg, PrimalWithTangent) and arg.tangent is NoTangent() for arg in args]
    return check_rule(
        f,
        *args,
        rrule_f=PlacedRule(_rrule_of(vjp, held), places.get("rrule")),
        frule_f=PlacedRule(_frule_of(jvp), places.get("frule")),
        modes=(*(("frule",) if jvp is not None else ()), *(("rrule",) if vjp is not None else ())),
        **options,
    )


_FORMS = {
    "vjp": "vjp(ybar, *args) -> a cotangent, or a tuple of one for each argument",
    "jvp": "jvp(tangents, *args) -> the tangent of the output",
    "jac": "jac(*args) -> the gradient or Jacobian with respect to the first argument",
}


def _rrule_of(vjp: Any, held: list[bool]) -> Callable[..., Any]:
    def rrule(f: Any, *args: Any, **kwargs: Any) -> Any:
        def cotangents(ybar: Any) -> Any:
            found = vjp(ybar, *args, **kwargs)
            bars = found if type(found) is tuple else (found,)
            if len(bars) != len(args):
                raise TypeError(f"vjp returned {counted(len(bars), 'cotangent')} for {len(args)} arguments")
            pairs = zip(bars, held, strict=True)
            moving = tuple([NoTangent() if bar is None else bar for bar, is_held in pairs if not is_held])
            return moving[0] if len(moving) == 1 else moving

        primals = [... if is_held else arg for arg, is_held in zip(args, held, strict=True)]
        return f(*args, **kwargs), pullback_wrt(*primals)(cotangents)

    return rrule


def _frule_of(jvp: Any) -> Callable[..., Any]:
    def frule(tangents: tuple[Any, ...], f: Any, *args: Any, **kwargs: Any) -> Any:
        y = f(*args, **kwargs)
        dargs = list(map(unthunk, tangents[1:]))
        if all(isinstance(dx, AbstractZero) for dx in dargs):
            return y, zero_tangent(y)
        moving = [zero_tangent(x) if isinstance(dx, AbstractZero) else dx for x, dx in zip(args, dargs, strict=True)]
        dy = jvp(tuple([None if dx is NoTangent() else dx for dx in moving]), *args, **kwargs)
        return y, NoTangent() if dy is None else project_to(y)(dy)

    return frule


def _vjp_of(jac: Any) -> Callable[..., Any]:
    def vjp(ybar: Any, x: Any, *others: Any, **kwargs: Any) -> Any:
        jacobian = _jacobian(jac(x, *others, **kwargs), np.shape(ybar), np.shape(x))
        return np.tensordot(ybar, jacobian, np.ndim(ybar)), *[None] * len(others)

    return vjp


def _jvp_of(jac: Any, f: Any) -> Callable[..., Any]:
    def jvp(tangents: Any, x: Any, *others: Any, **kwargs: Any) -> Any:
        shape = np.shape(f(x, *others, **kwargs))
        return np.tensordot(_jacobian(jac(x, *others, **kwargs), shape, np.shape(x)), tangents[0], np.ndim(x))

    return jvp


def _jacobian(found: Any, of_output: tuple[int, ...], of_argument: tuple[int, ...]) -> Any:
    """A Jacobian as an array; SciPy's solvers take sparse ones too."""
    jacobian = found.toarray() if hasattr(found, "toarray") else np.asarray(found)
    if jacobian.shape != of_output + of_argument:
        raise ValueError(
            f"jac returned an array of shape {jacobian.shape}: for an output of shape {of_output} and an argument of "
            f"shape {of_argument} it is {of_output + of_argument}"
        )
    return jacobian
