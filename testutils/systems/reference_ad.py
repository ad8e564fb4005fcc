"""The reference AD on sample inputs: second derivatives of every rule, and functions that it looks inside of.

The functions `vjp` and `jvp` are what `rulescore.testing.conformance` takes. `rulescore.ad` is imported when needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from types import BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType
from typing import Any

import numpy as np

from rulescore import frule, rrule
from rulescore.tangents.sparsity import is_sparse

from ..reports.results import CheckResult, CheckVerdict
from ..samples.sampling import SECOND_ORDER, Sample
from ..variants import checked_skip
from .conformance_report import SampleResult
from .conversations import ADSystem, Conversation

CONVERSIONS = frozenset(
    {np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.require, np.fromiter}
)
"""What NumPy hands over only when it is told to with ``like=``."""

_DISPATCHING = (np.ufunc, BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType)
"""What hands its calls to a tracer by itself, beside NumPy's functions of Python, which have an ``_implementation``."""


# ---------------------------------------------------------------- functions, called as a program calls them


def as_a_program(f: Any) -> Callable[..., Any]:
    """The function of a sample (a `FunctionOfPrimals`), called as a program calls it.

    Functions that are not NumPy's are called as primitives, so that it is their rules that are differentiated.
    """
    from rulescore.ad.in_place.tracer import call_and_settle

    def call(*primals: Any) -> Any:
        args, kwargs = f.arguments(*primals)
        if f.function in CONVERSIONS:
            return f.function(*args, **kwargs, like=_tracer_in(args[0]))
        return f(*primals) if _reaches_tracers(f.function) else call_and_settle(f.function, args, kwargs)

    return call


def as_a_primitive(f: Any) -> Callable[..., Any]:
    """The function of a sample, which a list of numbers reaches as a list.

    ``np.sum([x, y])`` makes an array of the list before anybody is asked, which the AD refuses, and tells to write
    ``np.stack``. The rules of ``np.sum`` take lists none the less; calls of a `primitive` reach them.
    """
    from rulescore.ad import TracerConversionError
    from rulescore.ad.in_place.tracer import call_and_settle

    def call(*primals: Any) -> Any:
        try:
            return as_a_program(f)(*primals)
        except TracerConversionError:
            args, kwargs = f.arguments(*primals)
            if f.function not in rrule or not any(map(is_list_of_numbers, args)):
                raise
            return call_and_settle(f.function, args, kwargs)

    return call


def _reaches_tracers(f: Any) -> bool:
    """Whether a call of a function gets to the tracers in it by itself, or has no rule to get to."""
    if f not in rrule and f not in frule:
        return True
    if isinstance(f, BuiltinFunctionType) and f.__module__ == "numpy":  # such as np.arange
        return False
    return isinstance(f, _DISPATCHING) or hasattr(f, "_implementation")


def _tracer_in(x: Any) -> Any:
    from rulescore.ad.tracing.tracers import Tracer
    from rulescore.ad.values.trees import flatten

    return next((leaf for leaf in flatten(x)[0] if isinstance(leaf, Tracer)), None)


def is_list_of_numbers(x: Any) -> bool:
    """Whether it is a list or tuple with something in it that has a derivative."""
    from rulescore.ad.values.trees import flatten
    from rulescore.tangents.spaces import has_tangent_space

    return isinstance(x, (list, tuple)) and any(map(has_tangent_space, flatten(x)[0]))


class Floats:
    """The floats among the primals. A list of arrays may hold integers, which the AD asks one to leave out.

    Attributes
    ----------
    values : list
        The floats and arrays of floats.
    """

    def __init__(self, primals: tuple[Any, ...]) -> None:
        from rulescore.ad.values.trees import flatten
        from rulescore.tangents.spaces import has_tangent_space

        self._leaves, self._structure = flatten(primals)
        self._places = [i for i, leaf in enumerate(self._leaves) if has_tangent_space(leaf)]
        self.values = self.of(primals)

    def of(self, primals: Any) -> list[Any]:
        """What stands in the places of the floats."""
        from rulescore.ad.values.trees import flatten

        leaves = flatten(primals)[0]
        return [leaves[place] for place in self._places]

    def primals(self, values: Iterable[Any]) -> Any:
        """The primals with other floats in them."""
        return self._in(self._leaves, values)

    def cotangents(self, bars: Iterable[Any]) -> Any:
        """Cotangents of the floats in the places of the primals; None elsewhere."""
        return self._in([None] * len(self._leaves), bars)

    def _in(self, leaves: list[Any], values: Iterable[Any]) -> Any:
        from rulescore.ad.values.trees import unflatten

        leaves = list(leaves)
        for place, value in zip(self._places, values, strict=True):
            leaves[place] = value
        return unflatten(self._structure, leaves)


# ---------------------------------------------------------------- as `conformance` asks


def vjp(f: Any, *primals: Any, style: Callable[[Any], Callable[..., Any]] = as_a_primitive) -> Any:
    """Reverse mode of the reference AD, for `rulescore.testing.conformance`."""
    from rulescore.ad import vjp as reverse

    floats = Floats(primals)
    y, pullback = reverse(lambda *values: style(f)(*floats.primals(values)), *floats.values)
    return y, lambda ybar: floats.cotangents(pullback(ybar))


def jvp(f: Any, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
    """Forward mode of the reference AD, for `rulescore.testing.conformance`."""
    from rulescore.ad import jvp as forward

    floats = Floats(primals)
    function = as_a_primitive(f)
    return forward(lambda *values: function(*floats.primals(values)), tuple(floats.values), tuple(floats.of(tangents)))


def vjp_as_a_program(f: Any, *primals: Any) -> Any:
    """Reverse mode where no list reaches a rule that NumPy makes an array of."""
    return vjp(f, *primals, style=as_a_program)


SYSTEM = ADSystem(vjp, jvp, find_twin=None, conjugate=False)
MODES = ("vjp", "jvp")


# ---------------------------------------------------------------- as checks


def is_list_that_numpy_converts(f: Any, sample: Sample, ask: Callable[..., Any] = vjp_as_a_program) -> bool:
    """Whether NumPy makes an array of a list in the sample before the AD is asked, which the AD refuses."""
    if not any(map(is_list_of_numbers, sample.args)):
        return False
    system = ADSystem(ask, None, find_twin=None, conjugate=False)
    found = Conversation(system, f, sample, ("vjp",), None, None).results()
    return any(result.verdict == "unsupported" and "ordinary" in result.message for result in found)


def first_order_results(f: Any, sample: Sample, modes: tuple[str, ...] = MODES) -> list[CheckResult]:
    """Whether the AD, which finds no rule of ``f``, differentiates it rightly by looking inside.

    Parameters
    ----------
    f : callable
        A function that opted out of both tables.
    sample : Sample
        One of its sample inputs.
    modes : tuple of str
        ``"vjp"``, ``"jvp"`` or both.

    Returns
    -------
    list of CheckResult
        One for each mode, or more of a mode in which it is wrong.
    """
    found = Conversation(SYSTEM, f, sample, modes, None, None).results()
    return [check for result in found for check in _as_checks("looked into", result)]


def second_order_results(f: Any, sample: Sample, unsupported: CheckVerdict = "fail") -> list[CheckResult]:
    """Whether the AD's own first derivatives of ``f``, differentiated again, are right in all combinations of modes.

    Parameters
    ----------
    f : callable
        A function with rules.
    sample : Sample
        One of its sample inputs. Its ``skip`` may say why it has no second derivative.
    unsupported : {"fail", "not run"}
        What it counts as when the AD cannot differentiate what a rule does.

    Returns
    -------
    list of CheckResult
        Four, of the modes ``"vjp of vjp"``, ``"jvp of vjp"``, ``"vjp of jvp"`` and ``"jvp of jvp"``.
    """
    reason = checked_skip(sample.skip).get(SECOND_ORDER)
    if reason is None and any(is_sparse(getattr(x, "primal", x)) for x in sample.args):
        reason = "the AD does not trace sparse arrays"
    if reason is None and is_list_that_numpy_converts(f, sample):
        reason = "NumPy makes an array of the list before it asks anybody"
    if reason is not None:
        return [CheckResult(SECOND_ORDER, "not run", f"left out: {reason}")]
    found = Conversation(SYSTEM, f, sample, MODES, None, None).second_order_results()
    return [check for result in found for check in _as_checks(SECOND_ORDER, result, unsupported)]


def _as_checks(name: str, result: SampleResult, unsupported: CheckVerdict = "fail") -> list[CheckResult]:
    """What became of a sample, in the words of the checks of rules."""
    known: dict[str, CheckVerdict] = {"right": "pass", "inconclusive": "inconclusive", "unsupported": unsupported}
    verdict = known.get(result.verdict, "fail")
    problems = [] if result.report is None else [*result.report.failures, *result.report.inconclusive]
    if result.verdict in ("wrong", "inconclusive") and problems:
        return [replace(problem, name=f"{name}: {problem.name}", mode=result.mode) for problem in problems]
    return [CheckResult(name, verdict, result.message, mode=result.mode)]
