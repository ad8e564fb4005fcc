# ruff: noqa: PT028  # these are not pytest's test functions, so their parameters may have defaults
"""The testers: run every check on one call of a rule and report, or raise.

``check_rule`` reports; ``test_frule``, ``test_rrule``, ``test_rule`` and ``test_scalar`` raise what it reports. How
they go about it is in `testutils.checking`, which comes with the first call: to import a tester costs next to nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, ParamSpec, TypedDict, TypeVar, Unpack

from rulescore import NoTangent, frule, rrule

from .cases import MODES

if TYPE_CHECKING:
    import numpy as np

    from rulescore import RuleConfig

    from .checking import Inconclusive
    from .evidence.finite_differences import FiniteDifferenceMethod
    from .reports.report import Report
    from .samples.sampling import Sample


class CallOptions(TypedDict, total=False):
    """The options of `check_rule` that do not depend on where the derivative comes from."""

    fkwargs: Mapping[str, Any] | None
    rtol: float | None
    atol: float | None
    fdm: FiniteDifferenceMethod | None
    rng: np.random.Generator | int | None
    thorough: bool
    strict: bool | Collection[str]
    skip: Mapping[str, str] | None
    max_evaluations: int | None
    max_bytes: int | None


class CheckOptions(CallOptions, total=False):
    """The options of `check_rule` that its siblings take too."""

    output_tangent: Any
    rrule_f: Callable[..., Any]
    frule_f: Callable[..., Any]
    config: RuleConfig | None
    modes: tuple[str, ...]
    order: int


_P = ParamSpec("_P")
_T = TypeVar("_T")


def _tells_of_fkwargs(tester: Callable[_P, _T]) -> Callable[_P, _T]:
    """Say of a keyword that a tester does not know how one of the function is given."""
    known = frozenset(tester.__kwdefaults__ or ())

    @functools.wraps(tester)
    def told(*args: _P.args, **options: _P.kwargs) -> _T:
        __tracebackhide__ = True
        if unknown := [name for name in options if name not in known]:
            (first, *_) = unknown
            raise TypeError(
                f"{first}= is no option of {tester.__name__}; if it is a keyword argument of the function, write "
                f"fkwargs={{{first!r}: ...}}. The options are {', '.join(sorted(known))}"
            )
        return tester(*args, **options)

    return told


@_tells_of_fkwargs
def check_rule(
    f: Callable[..., Any],
    *args: Any,
    fkwargs: Mapping[str, Any] | None = None,
    output_tangent: Any = None,
    rtol: float | None = None,
    atol: float | None = None,
    fdm: FiniteDifferenceMethod | None = None,
    rng: np.random.Generator | int | None = None,
    rrule_f: Callable[..., Any] = rrule,
    frule_f: Callable[..., Any] = frule,
    config: RuleConfig | None = None,
    modes: tuple[str, ...] = MODES,
    order: int = 1,
    thorough: bool = False,
    strict: bool | Collection[str] = False,
    skip: Mapping[str, str] | None = None,
    max_evaluations: int | None = None,
    max_bytes: int | None = None,
) -> Report:
    """Check the rules of ``f`` for one call against finite differences and against each other.

    Parameters
    ----------
    f : callable
        The function whose rules are checked. An object with numbers in its fields is differentiated too.
    *args
        Its positional arguments: numbers, arrays, containers, anything. One wrapped by `with_tangent` is tested
        along that tangent; ``with_tangent(x, NoTangent())`` is not differentiated, and its cotangent has to be
        ``NoTangent()``. All others get random tangents.
    fkwargs : mapping, optional
        Keyword arguments. Those that the rule takes by position are differentiated as well.
    output_tangent : object, optional
        The cotangent given to the pullback; random by default.
    rtol, atol : float, optional
        How far rule and finite difference may be apart beside the finite difference's own error, relative to the
        magnitude of the terms that were summed, and absolutely. By default the rounding errors of a sum (32 machine
        epsilons of the coarsest precision among arguments and output), and 0: a rule whose own rounding is larger is
        found out by shaking the last digits of its arguments, and needs no tolerance.
    fdm : FiniteDifference, optional
        The method, as made by `central_fdm`.
    rng : numpy.random.Generator or int, optional
        Where random tangents come from. The same ones in every run by default.
    rrule_f, frule_f : callable, optional
        What to test in place of the rule tables: an AD system's function with the signature of `rrule` or `frule`.
    config : RuleConfig, optional
        The AD system that rules of higher-order functions call back into; `TestConfig` by default.
    modes : tuple of str
        ``"frule"``, ``"rrule"`` or both. Both are expected to exist.
    order : {1, 2}
        2 to have the pullback differentiated too, which shows a rule that is right at this point alone.
    thorough : bool
        Whether to check the rules on variants of the arguments too: 0-d, empty, with axes of length 1, float32,
        float16, complex, integer, by keyword. In any case they are checked at a few points that nobody writes down
        (larger, smaller, of the other sign, zero, with equal entries), and what costs no evaluations is varied: the
        memory that arguments and cotangents lie in, and their types.
    strict : bool or collection of str
        Whether a thorough check fails where the rules are wrong for arguments that they do not claim to serve: complex,
        float16, 0-d or empty ones, or such as are given by keyword. A rule claims what its annotations and the sample
        inputs of its function name, or ``strict=("complex",)`` for it; what it does not claim is reported only.
    skip : mapping of str to str, optional
        Variants to be left out, each with the reason: ``{"complex": "weights are real by definition"}``. The names
        are those of `testutils.variants.VARIANTS`, and ``"second order"`` for samples without a second derivative.
    max_evaluations, max_bytes : int, optional
        How often the search for what is wrong may evaluate the function, once the verdict is known, and how much memory
        it may take. The report says where it ended for that reason. By default 100 times for arguments with more than
        8192 numbers, and as often as it takes for others.

    Returns
    -------
    Report
        Its ``verdict`` is ``"pass"``, ``"fail"`` or ``"inconclusive"``. A wrong rule is reported, never raised.

    Raises
    ------
    SampleError
        (A `ValueError`.) When ``f`` itself raises on these arguments, or a tangent does not fit.
    ValueError
        When ``skip`` names no variant, or gives no reason; when ``strict`` names what no rule claims, or stands
        without ``thorough``.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore import pullback_wrt, rrule
    >>> def cube(x): return x**3
    >>> @rrule.register(cube)
    ... def cube_rrule(x):
    ...     return x**3, pullback_wrt(x)(lambda ybar: -3 * x**2 * ybar)
    >>> report = check_rule(cube, np.array([1.0, 2.0]), modes=("rrule",))
    >>> report.verdict
    'fail'
    >>> [(result.name, result.argument) for result in report.failures]
    [('derivative', 'argument 0 (x)')]
    """
    from .checking import report_on

    return report_on(
        f,
        args,
        thorough,
        strict,
        skip,
        fkwargs=fkwargs,
        modes=modes,
        rrule_f=rrule_f,
        frule_f=frule_f,
        config=config,
        output_tangent=output_tangent,
        rtol=rtol,
        atol=atol,
        fdm=fdm,
        order=order,
        rng=rng,
        max_evaluations=max_evaluations,
        max_bytes=max_bytes,
    )


def check_sample(f: Callable[..., Any], sample: Sample, **options: Unpack[CheckOptions]) -> Report:
    """Check the rules of ``f`` on one of its sample inputs.

    Parameters
    ----------
    f : callable
        The function the sample is for.
    sample : Sample
        See `testutils.samples.sampling`. Where it names no modes, those are checked for which ``f`` has a rule.
    **options
        As for `check_rule`; they win over the sample's own.

    Notes
    -----
    The samples of a function share the made-up points among them, unless the check is a thorough one.

    Returns
    -------
    Report
    """
    from .checking import report_on
    from .samples.random_tangents import with_tangent
    from .variants import points_of_sample

    function = f if sample.function is None else sample.function
    registered = tuple(mode for mode, table in (("frule", frule), ("rrule", rrule)) if function in table)
    own = {
        "fkwargs": sample.fkwargs,
        "output_tangent": sample.output_tangent,
        "rtol": sample.rtol,
        "atol": sample.atol,
        "rng": sample.rng(),
        "modes": sample.modes or registered or MODES,
        "skip": sample.skip,
        "of_sample": True,
    }
    args = sample.args
    if sample.constant:
        args = tuple([with_tangent(arg, NoTangent()) for arg in args])
    if not options.get("thorough", False):
        own["points"] = points_of_sample(sample.position, sample.count)
    return report_on(function, args, **{**own, **options})


def test_rule(
    f: Callable[..., Any], *args: Any, inconclusive: Inconclusive = "raise", **options: Unpack[CheckOptions]
) -> Report:
    """Test the frule and the rrule of ``f``; raise if one is wrong.

    Parameters
    ----------
    f, *args, **options
        As for `check_rule`.
    inconclusive : {"raise", "warn"}
        What to do when finite differences cannot decide.

    Returns
    -------
    Report
        When the rules are right.

    Raises
    ------
    RuleTestError
        (An `AssertionError`.) When a rule is wrong; ``error.report`` says how.
    InconclusiveError
        (An `AssertionError`.) When finite differences cannot decide.

    Examples
    --------
    >>> from rulescore import scalar_rule
    >>> def square(x): return x * x
    >>> scalar_rule(square, lambda y, x: 2 * x)
    >>> test_rule(square, 3.0).verdict
    'pass'
    """
    from .checking import settle

    __tracebackhide__ = True
    return settle(check_rule(f, *args, **options), inconclusive)


def test_rrule(
    f: Callable[..., Any], *args: Any, inconclusive: Inconclusive = "raise", **options: Unpack[CheckOptions]
) -> Report:
    """Test the rrule of ``f``; see `test_rule`."""
    from .checking import settle

    __tracebackhide__ = True
    options["modes"] = ("rrule",)
    return settle(check_rule(f, *args, **options), inconclusive)


def test_frule(
    f: Callable[..., Any], *args: Any, inconclusive: Inconclusive = "raise", **options: Unpack[CheckOptions]
) -> Report:
    """Test the frule of ``f``; see `test_rule`."""
    from .checking import settle

    __tracebackhide__ = True
    options["modes"] = ("frule",)
    return settle(check_rule(f, *args, **options), inconclusive)


def test_scalar(
    f: Callable[..., Any],
    z: complex | np.number[Any],
    *,
    inconclusive: Inconclusive = "raise",
    **options: Unpack[CheckOptions],
) -> Report:
    """Test the rules of a function of one number in every direction there is.

    A real number moves by 1; a complex one by 1 and by 1j, and likewise the cotangent of a complex output, which
    shows a missing conjugate or a function that is not holomorphic given to `scalar_rule`. Real tangents of complex
    numbers must mean what they mean as complex ones.

    Parameters
    ----------
    f : callable
    z : float or complex
        Python or NumPy scalar.
    inconclusive, **options
        As for `test_rule`.

    Returns
    -------
    Report

    Raises
    ------
    RuleTestError, InconclusiveError
        As for `test_rule`.
    TypeError
        When ``z`` is no real or complex number; integers have no derivative.

    Examples
    --------
    >>> from rulescore import scalar_rule
    >>> def square(x): return x * x
    >>> scalar_rule(square, lambda y, x: 2 * x)
    >>> test_scalar(square, 1 + 2j).verdict
    'pass'
    """
    from .checking import report_on_scalar, settle

    __tracebackhide__ = True

    return settle(report_on_scalar(f, z, options.pop("modes", MODES), options), inconclusive)


_testers: tuple[Any, ...] = (test_rule, test_rrule, test_frule, test_scalar)
for _tester in _testers:
    _tester.__test__ = False  # or pytest would collect them by their names
