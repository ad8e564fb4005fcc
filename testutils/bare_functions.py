"""A derivative that somebody wrote by hand, checked beside its function; nothing is registered."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from rulescore import AbstractZero, NoTangent, is_differentiable, project_to, pullback_wrt, unthunk, zero_tangent

from .cases.arguments import parameter_names, primal_of
from .cases.rule_calls import MisfitError
from .cases.rule_places import PlacedRule, in_own_words
from .reports.names import counted, description_of
from .reports.places import RulePlace
from .reports.results import CheckResult
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
        an argument without a derivative. What it says of an argument that is held constant is not looked at.
    jvp : callable, optional
        ``jvp(tangents, *args)`` returns the tangent of the output, from a tuple with one for each argument. That of an
        argument without a derivative is None.
    jac : callable, optional
        ``jac(*args)`` returns the gradient of a number, or the Jacobian of an array, of the shape ``y.shape +
        x.shape``, with respect to the first argument, as ``jac=`` of `scipy.optimize.minimize`, `least_squares` and
        their kin. The other arguments are held constant, as the report says; give ``vjp`` to have several compared.
        Given alone.
    **options
        ``fkwargs``, keyword arguments, which all of these functions get; and ``rtol``, ``atol``, ``fdm``, ``rng``,
        ``thorough``, ``strict`` and ``skip`` as for `check_rule`.

    Returns
    -------
    Report
        As `check_rule` returns it. In its results ``vjp`` and ``jac`` have the mode ``"rrule"``, ``jvp`` and ``jac``
        the mode ``"frule"``; its text calls them by their names.

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

    One that knows the derivative with respect to the first argument alone:

    >>> from rulescore import NoTangent
    >>> from rulescore.testing import with_tangent
    >>> def f_vjp(ybar, x, a): return 2 * a * x * ybar, None
    >>> check_derivative(f, np.ones(3), with_tangent(2.0, NoTangent()), vjp=f_vjp).verdict
    'pass'
    """
    from .testers import check_rule

    given = {name: g for name, g in (("vjp", vjp), ("jvp", jvp), ("jac", jac)) if g is not None}
    _require_meaning(given, args)
    if jac is not None:
        x, *others = args
        args = (x, *[with_tangent(primal_of(arg), NoTangent()) for arg in others])
        vjp, jvp = _vjp_of(jac), _jvp_of(jac, f)
    labels = _labels(f, len(args))
    places = {
        mode: RulePlace.of_function(mode, given[name], name)
        for mode, names in (("rrule", ("vjp", "jac")), ("frule", ("jvp", "jac")))
        for name in names
        if name in given
    }
    held = [isinstance(arg, PrimalWithTangent) and arg.tangent is NoTangent() for arg in args]
    rules = {
        "rrule": PlacedRule(_rrule_of(vjp, held, labels), places.get("rrule"), "vjp" if jac is None else "jac"),
        "frule": PlacedRule(_frule_of(jvp), places.get("frule"), "jvp" if jac is None else "jac"),
    }
    report = check_rule(
        f,
        *args,
        rrule_f=rules["rrule"],
        frule_f=rules["frule"],
        modes=(*(("frule",) if jvp is not None else ()), *(("rrule",) if vjp is not None else ())),
        **options,
    )
    results = [_titled(result, rules, is_jac=jac is not None) for result in report.results]
    results += _what_was_compared(" and ".join(given), args, held, labels)
    return dataclasses.replace(report, results=tuple(results))


def _require_meaning(given: Mapping[str, Any], args: Sequence[Any]) -> None:
    """Raise where what was given is no derivative, or two that exclude each other."""
    if not given:
        raise TypeError("check_derivative got no derivative: give vjp=, jvp= or jac=")
    if uncallable := [name for name, g in given.items() if not callable(g)]:
        name = uncallable[0]
        raise TypeError(
            f"check_derivative(..., {name}={given[name]!r}): give a function of its own, {_FORMS[name]}; one that "
            "returns value and derivative together can be taken apart, lambda *args: f(*args)[1]"
        )
    if "jac" in given and len(given) > 1:
        raise TypeError("check_derivative got jac= beside vjp= or jvp=: check one after the other")
    if "jac" in given and not args:
        raise TypeError("check_derivative got jac= and no argument: give the one to differentiate, after f")


def _titled(result: CheckResult, rules: Mapping[str, PlacedRule], is_jac: bool) -> CheckResult:
    """A result whose title has the names of the functions that were given."""
    if not result.mode:
        return result
    modes = _MODES_OF_JAC[result.mode] if is_jac else in_own_words(result.mode, rules)
    name = result.name.removeprefix("pullback ").removeprefix("rule ")
    return dataclasses.replace(result, asked=f"{modes}, {in_own_words(name, rules)}")


_MODES_OF_JAC = {
    "rrule": "jac in reverse mode",
    "frule": "jac in forward mode",
    "frule and rrule": "jac in both modes",
}


def _labels(f: Any, count: int) -> list[str]:
    """The arguments as a report names them."""
    names = parameter_names(f)
    return [f"argument {i} ({names[i]})" if i < len(names) else f"argument {i}" for i in range(count)]


def _what_was_compared(
    name: str, args: Sequence[Any], held: Sequence[bool], labels: Sequence[str]
) -> list[CheckResult]:
    """A note about the arguments that could have been compared, and were held constant."""
    have_tangents = [is_differentiable(primal_of(arg)) for arg in args]
    each = list(zip(labels, held, have_tangents, strict=True))
    constant = [label for label, is_held, has_tangent in each if is_held and has_tangent]
    compared = [label for label, is_held, has_tangent in each if has_tangent and not is_held]
    if not constant or not compared:
        return []
    were = "was" if len(constant) == 1 else "were"
    message = f"{name} with respect to {' and '.join(compared)} alone; {' and '.join(constant)} {were} held constant"
    if name == "jac":
        message += ": vjp= and jvp= are compared with respect to all arguments"
    return [CheckResult("what was compared", "pass", message)]


_FORMS = {
    "vjp": "vjp(ybar, *args) -> a cotangent, or a tuple of one for each argument",
    "jvp": "jvp(tangents, *args) -> the tangent of the output",
    "jac": "jac(*args) -> the gradient or Jacobian with respect to the first argument",
}


def _rrule_of(vjp: Any, held: Sequence[bool], labels: Sequence[str]) -> Callable[..., Any]:
    def rrule(f: Any, *args: Any, **kwargs: Any) -> Any:
        def cotangents(ybar: Any) -> Any:
            bars = _one_for_each(vjp(ybar, *args, **kwargs), len(args))
            each = zip(bars, args, labels, held, strict=True)
            moving = tuple([_cotangent(bar, x, label) for bar, x, label, is_held in each if not is_held])
            return moving[0] if len(moving) == 1 else moving

        def pullback(ybar: Any) -> tuple[Any, ...]:
            return tuple(map(unthunk, delayed(ybar)))

        primals = [... if is_held else arg for arg, is_held in zip(args, held, strict=True)]
        delayed = pullback_wrt(*primals)(cotangents)
        return f(*args, **kwargs), pullback

    return rrule


def _one_for_each(found: Any, count: int) -> tuple[Any, ...]:
    """What a vjp returned as a tuple of as many cotangents as there are arguments."""
    bars = found if type(found) is tuple else (found,)
    if len(bars) == count:
        return bars
    what = description_of(found) if isinstance(found, (list, dict)) else counted(len(bars), "cotangent")
    raise MisfitError(
        f"vjp returned {what} for {count} arguments: return a tuple with one for each, None for an argument without a "
        "derivative. One whose derivative is not written, or not to be compared, is held constant by "
        "with_tangent(x, NoTangent()) in its place (from rulescore.testing and rulescore), and has None too"
    )


def _cotangent(bar: Any, x: Any, label: str) -> Any:
    """A cotangent in the tangent space of its argument."""
    if bar is None:
        return NoTangent()
    try:
        return project_to(x)(bar)
    except (TypeError, ValueError) as error:
        raise MisfitError(f"vjp returned what does not fit {label}: {error}") from error


def _frule_of(jvp: Any) -> Callable[..., Any]:
    def frule(tangents: tuple[Any, ...], f: Any, *args: Any, **kwargs: Any) -> Any:
        y = f(*args, **kwargs)
        dargs = list(map(unthunk, tangents[1:]))
        if all(isinstance(dx, AbstractZero) for dx in dargs):
            return y, zero_tangent(y)
        moving = [zero_tangent(x) if isinstance(dx, AbstractZero) else dx for x, dx in zip(args, dargs, strict=True)]
        dy = jvp(tuple([None if dx is NoTangent() else dx for dx in moving]), *args, **kwargs)
        return y, NoTangent() if dy is None else _tangent(dy, y)

    return frule


def _tangent(dy: Any, y: Any) -> Any:
    """A tangent in the tangent space of the output."""
    try:
        return project_to(y)(dy)
    except (TypeError, ValueError) as error:
        shown, wanted = description_of(dy), description_of(y)
        raise MisfitError(f"jvp returned {shown} as the tangent of {wanted}: return one like the output") from error


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
    wanted = of_output + of_argument
    try:
        jacobian = found.toarray() if hasattr(found, "toarray") else np.asarray(found)
    except ValueError:  # arrays of several shapes
        jacobian = np.empty(len(found), dtype=object)
    if jacobian.dtype.kind in "biufc" and jacobian.shape == wanted:
        return jacobian
    is_array = jacobian.dtype.kind in "biufc" and not isinstance(found, tuple)
    what = f"an array of shape {jacobian.shape}" if is_array else description_of(found)
    raise MisfitError(
        f"jac returned {what}: for an output of shape {of_output} and an argument of shape {of_argument} it is "
        f"{wanted}, the derivative with respect to the first argument alone{_for_several(found)}"
    )


def _for_several(found: Any) -> str:
    is_several = isinstance(found, (tuple, list)) and len(found) > 1
    if not is_several:
        return ""
    return "; for gradients with respect to several arguments give vjp=, which returns a tuple: vjp(ybar, *args)"
