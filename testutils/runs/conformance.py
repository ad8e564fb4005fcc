"""Somebody's AD system, run on the sample inputs of all rules, to learn which functions it differentiates rightly.

What happens with each sample is in `conversations`.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Any

from ..samples.sampling import Sample
from ..systems.conformance_report import ConformanceReport, FunctionResult
from ..systems.conversations import ADSystem, Conversation, combinations_of
from .running import Target, collect_targets


def conformance(
    vjp: Callable[..., Any] | None = None,
    jvp: Callable[..., Any] | None = None,
    *,
    names: str | Iterable[str] = (),
    twin: Callable[[Any], Any] | None = None,
    conjugate: bool = False,
    skip: Iterable[str] | Mapping[str, str] | Callable[[str, Sample], bool] = (),
    order: int = 1,
    seed: int = 0,
    rtol: float | None = None,
    atol: float | None = None,
    on_function: Callable[[FunctionResult], None] = lambda result: None,
) -> ConformanceReport:
    """Run an AD system on the sample inputs of all installed rules, and judge it by finite differences.

    Parameters
    ----------
    vjp : callable, optional
        Reverse mode, as `jax.vjp`: ``vjp(f, *primals)`` returns ``(y, pullback)``, and ``pullback(ybar)`` a tuple of
        one cotangent per primal, None standing for zero.
    jvp : callable, optional
        Forward mode, as `jax.jvp`: ``jvp(f, primals, tangents)`` with two tuples returns ``(y, ydot)``.
    names : str or iterable of str
        Modules or functions, as ``rulescore check`` takes them: ``"numpy"``, ``"np.linalg.inv"``. All by default.
    twin : callable, optional
        From a function, as ``np.sin``, to the system's own. What it raises, or a None, says that there is none. A
        system that traces NumPy itself needs no twins: its arrays are passed to NumPy's functions, and an unbound
        method as ``np.ndarray.round``, which takes no arrays but NumPy's own, is called as a method of theirs.
    conjugate : bool
        Whether the cotangents of complex numbers are the conjugates of ours, as those of JAX and HIPS autograd are.
        Ours are ∂L/∂Re x + i ∂L/∂Im x.
    skip : iterable of str, mapping from str to str, or callable
        Functions to leave out, by name or pattern (``"numpy.fft.*"``), with the reasons where it is a mapping. Or
        ``skip(name, sample)``, which says for each `Sample` of a function whether to leave it out.
    order : int
        2 to have the system's own first derivatives differentiated, in each mode given the derivatives in each: the
        modes of the report are then ``"vjp of vjp"``, ``"jvp of vjp"`` and so on. Finite differences of these first
        derivatives judge, so that they say something about a system that is right at first order.
    seed : int
        Another seed gives other numbers in samples and tangents.
    rtol, atol : float, optional
        As for `check_rule`; by default ``rtol`` is 1e-6, more for samples of lower precision. A system that computes in
        single precision whatever it is given needs 1e-3. At second order, ``atol`` is by default the rounding of the
        first derivative.
    on_function : callable, optional
        Called with each result as it comes, for progress.

    Returns
    -------
    ConformanceReport

    Raises
    ------
    TypeError
        When neither ``vjp`` nor ``jvp`` is given.
    TargetError
        When a name means nothing.
    ValueError
        When ``skip`` names a function that would not have run, or ``order`` is neither 1 nor 2.

    Notes
    -----
    ``f`` is a function of the call's differentiable positional arguments alone (arrays, numbers, and lists, tuples or
    dicts with any); all others and the keywords are fixed in it. A system that looks functions up finds in it
    ``f.function``, ``f.positions`` and ``f.arguments(*primals)``, which returns the whole call; see
    `FunctionOfPrimals`.

    Numbers, shapes and realness are judged; dtypes are not, since systems have their own. No error of the system ends
    the run.

    Examples
    --------
    >>> from rulescore import rrule, unthunk
    >>> def vjp(f, *primals):
    ...     args, kwargs = f.arguments(*primals)
    ...     y, pullback = rrule(f.function, *args, **kwargs)
    ...     return y, lambda ybar: [-unthunk(pullback(ybar)[1 + i]) for i in f.positions]
    >>> report = conformance(vjp, names=["np.sinc", "np.argmax"])
    >>> [(function.name, function.verdict) for function in report.functions]
    [('numpy.sinc', 'wrong'), ('numpy.argmax', 'not differentiable')]
    """
    given = {"vjp": vjp, "jvp": jvp}
    modes = tuple(mode for mode, function in given.items() if function is not None)
    if not modes:
        raise TypeError("conformance(): no AD system was given; give its vjp=, its jvp= or both")
    if order not in (1, 2):
        raise ValueError(f"conformance(order={order!r}): write 1, or 2 for derivatives of derivatives")
    targets = collect_targets([names] if isinstance(names, str) else names, seed)
    chosen = _choice(skip, targets)
    system = ADSystem(vjp, jvp, twin, conjugate)
    results: list[FunctionResult] = []
    for target in targets:
        samples, reason = chosen(target)
        conversations = [Conversation(system, target.function, sample, modes, rtol, atol) for sample in samples]
        answers = [talk.results() if order == 1 else talk.second_order_results() for talk in conversations]
        results.append(FunctionResult(target.name, target.module, tuple(chain.from_iterable(answers)), reason))
        on_function(results[-1])
    return ConformanceReport(tuple(results), modes if order == 1 else combinations_of(modes))


def _choice(skip: Any, targets: list[Target]) -> Callable[[Target], tuple[list[Sample], str]]:
    """From a target to the samples that are run, and why there are none."""
    if callable(skip):

        def with_chosen_samples(target: Target) -> tuple[list[Sample], str]:
            left = [sample for sample in target.samples if not skip(target.name, sample)]
            return left, "all samples skipped" if target.samples and not left else ""

        return with_chosen_samples
    reasons = _reasons_to_skip(skip, targets)
    return lambda target: ([], reasons[target.name]) if target.name in reasons else (target.samples, "")


def _reasons_to_skip(skip: Iterable[str] | Mapping[str, str], targets: list[Target]) -> dict[str, str]:
    patterns = [skip] if isinstance(skip, str) else skip
    given = patterns if isinstance(patterns, Mapping) else dict.fromkeys(patterns, "skipped")
    reasons: dict[str, str] = {}
    for pattern, reason in given.items():
        names = [target.name for target in targets if fnmatch.fnmatchcase(target.name, pattern)]
        if not names:
            raise ValueError(f"skip={pattern!r}: no function of that name would run; names are like 'numpy.linalg.inv'")
        reasons.update(dict.fromkeys(names, reason))
    return reasons
